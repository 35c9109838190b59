# SPDX-License-Identifier: BSD-3-Clause
"""Runs l3fwd-graph, l2fwd-graph or vswitch-graph over captures, behind net_pcap or simulated NICs, and reads back what it did."""

import functools
import json
import os
import shlex
import subprocess
import tempfile
from pathlib import Path

import pytest

import oracle
import pcapfile

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / os.environ.get("HALYARD_BUILD", "build")
L3FWD = BUILD / "examples" / "l3fwd-graph" / "l3fwd-graph"
L2FWD = BUILD / "examples" / "l2fwd-graph" / "l2fwd-graph"
VSWITCH = BUILD / "examples" / "vswitch-graph" / "vswitch-graph"
SIMNIC = BUILD / "app" / "sim" / "halyard-simnic.so"
# What programs of another CPU are run by, as in "qemu-aarch64-static -cpu max -L SYSROOT".
UNDER = shlex.split(os.environ.get("HALYARD_UNDER", ""))
# AddressSanitizer looks for leaks as a debugger, which strace is, too; and it waits for every thread,
# even for one that a stalled disk holds.
NO_LEAK_CHECK = {"ASAN_OPTIONS": f"detect_leaks=0:{os.environ.get('ASAN_OPTIONS', '')}"}

TIMEOUT = 120  # seconds; a run takes one, a run under a sanitizer on a busy machine a few
IDLE_MS = 100

SILENT = [[]]  # a port with one receive queue, on which nothing arrives


def binary(program=L3FWD):
    """A program's path. A build that is missing is a failure and not a reason to skip."""
    if not os.access(program, os.X_OK):
        pytest.fail(f"{program} is not there: build first, or set HALYARD_BUILD", pytrace=False)
    return str(program)


def _lcores(workers):
    """EAL's --lcores: main lcore 0, workers 1 and up. Workers poll, so that what runs beside us
    under xdist starts at another CPU; main sleeps while they do and shares the first one's."""
    cpus = sorted(os.sched_getaffinity(0))
    first = int("0" + os.environ.get("PYTEST_XDIST_WORKER", "").removeprefix("gw"))
    lcores = {0: first, **{worker: first + worker - 1 for worker in range(1, workers + 1)}}
    return ",".join(f"{lcore}@({cpus[n % len(cpus)]})" for lcore, n in lcores.items())


def has_sanitizer_report(stderr):
    """Whether AddressSanitizer or UBSan found something: the latter leaves the exit code alone."""
    return "Sanitizer: " in stderr or ": runtime error: " in stderr


class Run:
    """A run of l3fwd-graph that has ended."""

    def __init__(self, rig, process, code, stdout, stderr):
        self.folder, self.evidence, self.program = rig.folder, rig.evidence, rig.program
        self.command, self.pid = process.command, process.pid
        self.code, self.stdout, self.stderr = code, stdout, stderr

    def __str__(self):
        return (f"{' '.join(self.command)}\nexit code {self.code}\n--- stdout\n{self.stdout}"
                f"\n--- stderr\n{self.stderr}")

    @functools.cached_property
    def stats(self):
        """What --json wrote, after a clean end; checks what holds for every run."""
        assert self.code == 0, self
        stats = json.loads((self.folder / "stats.json").read_text())
        totals = stats["totals"]
        assert stats["mbufs"]["in_use"] == 0, self
        assert totals["rx"] + totals["copied"] == totals["tx"] + totals["dropped"], self
        assert totals["rx"] == sum(port["rx"] for port in stats["ports"]), self
        assert totals["tx"] == sum(port["tx"] for port in stats["ports"]), self
        assert totals["dropped"] == sum(stats["drops"].values()), self
        assert self.program != L3FWD or set(stats["drops"]) >= set(oracle.REASONS), self
        if self.evidence and len({port["driver"] for port in stats["ports"]}) == 1:
            name = "-".join([self.folder.parent.name, self.folder.name, str(self.pid)])
            (self.evidence / f"{name}.json").write_text(json.dumps(stats))
        return stats

    @property
    def macs(self):
        """The MAC address of each port."""
        return {port["port"]: bytes.fromhex(port["mac"].replace(":", ""))
                for port in self.stats["ports"]}

    def node(self, family):
        """The statistics of the one node of a family."""
        found = [node for node in self.stats["nodes"] if node["family"] == family]
        assert len(found) == 1, f"{len(found)} nodes of family {family}\n{self}"
        return found[0]

    def sent(self, port, queue=0):
        """The frames that left through a queue of a port."""
        return pcapfile.read(self.folder / f"out{port}.{queue}.pcap")

    def wrote_packets(self):
        """The output captures that hold any. A port opens its file before a program can refuse
        its command line, so that the file may be there, without packets."""
        return [path.name for path in self.folder.glob("out*.pcap")
                if path.stat().st_size > 0 and pcapfile.read(path)]

    def assert_agrees(self, expected):
        """Asserts that frames, their order in each family and drops are the oracle's. For runs of
        one worker. Returns how many frames that accounts for."""
        sent = sum(assert_same_frames(by_family(frames), by_family(self.sent(port)),
                                      f"port {port}")
                   for port, frames in expected.out.items())
        drops = {reason: self.stats["drops"][reason] for reason in expected.drops}
        assert drops == expected.drops, f"{drops}\ninstead of\n{expected.drops}\n{self}"
        assert self.stats["totals"]["rx"] == len(expected.verdicts), self
        return sent + sum(drops.values())


def by_family(frames):
    """Frames, those of IPv6 behind the others: each family has nodes of its own."""
    return sorted(frames, key=lambda frame: frame[12:14] == b"\x86\xdd")


def assert_same_frames(expected, got, where):
    """Asserts equality of two lists of frames, and shows the first difference only: pytest would
    compare megabytes line by line. Returns how many there are."""
    for i, (want, have) in enumerate(zip(expected, got)):
        assert want == have, (f"{where}: frame {i} of {len(expected)} differs\n"
                              f"expected {len(want)} bytes {want[:80].hex(' ')}\n"
                              f"sent     {len(have)} bytes {have[:80].hex(' ')}")
    assert len(got) == len(expected), f"{where}: {len(got)} frames instead of {len(expected)}"
    return len(expected)


class Rig:
    """A folder in which to run l3fwd-graph, with captures for its ports. Those are of net_pcap, or
    of another driver that takes the same arguments."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.program = L3FWD
        self.drivers = ["net_pcap"]
        self.env = {}
        self.evidence = None  # where runs on simulated NICs leave what they did, if anywhere
        self.processes = []

    def write(self, name, content):
        """Writes a text file; returns its path."""
        path = self.folder / name
        path.write_text(content)
        return path

    def routes(self, routes):
        """The option that gives l3fwd-graph these routes."""
        path = self.write("routes", "".join(r.line() + "\n" for r in routes))
        return f"--routes={path}"

    def simulate(self, *nics):
        """Has ports be simulated NICs from now on: "sim_cn10k", for one (see app/sim/simnic.h). Of
        several, each port has the next."""
        self.drivers = nics
        # A sanitizer's runtime is then not the first library.
        asan = f"verify_asan_link_order=0:{os.environ.get('ASAN_OPTIONS', '')}"
        self.env = {"LD_PRELOAD": str(SIMNIC), "ASAN_OPTIONS": asan}
        if os.environ.get("HALYARD_EVIDENCE"):
            self.evidence = Path(os.environ["HALYARD_EVIDENCE"]).resolve() / nics[0]
            self.evidence.mkdir(parents=True, exist_ok=True)
            self.env["GCOV_PREFIX"] = str(self.evidence)

    def vdevs(self, ports, tx_queues=1, more=""):
        """EAL's options for the ports. A port is a list of its receive queues, a queue the
        path of a capture or a list of frames; queue Q of port P sends to outP.Q.pcap."""
        options = []
        for p, queues in enumerate(ports):
            driver = self.drivers[p % len(self.drivers)]
            # Newer net_iavf resets its ports by itself, and then they get no rules.
            args = [f"{driver}{p}", *(["auto_reset=0"] if driver == "sim_iavf" else [])]
            for q, queue in enumerate(queues):
                path = queue
                if isinstance(queue, list):
                    path = pcapfile.write(self.folder / f"in{p}.{q}.pcap", queue)
                args.append(f"rx_pcap={path}")
            args += [f"tx_pcap={self.folder}/out{p}.{q}.pcap" for q in range(tx_queues)]
            options += ["--vdev", ",".join(args) + more]
        return options

    def start(self, app, eal=(), workers=1, stdout=subprocess.PIPE, *, stderr=subprocess.PIPE,
              telemetry=False, under=()):
        """Starts the program with EAL options and its own, under another command if one is given;
        returns the process."""
        command = [*under, *UNDER, binary(self.program), "--no-huge", "--no-pci", "--no-shconf",
                   *([] if "-m" in eal else ["-m", "256"]),  # EAL takes no option twice
                   *([] if telemetry else ["--no-telemetry"]),
                   "--lcores", _lcores(workers), *eal, "--", *map(str, app)]
        # Where EAL keeps files: one folder a run, so that runs neither meet nor leave any behind.
        env = dict(os.environ, RUNTIME_DIRECTORY=str(self.folder), **self.env)
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=stdout,
                                   stderr=stderr, text=True, env=env)
        process.command = command
        self.processes.append(process)
        return process

    def clean_up(self):
        """Ends what a test that failed has left running."""
        for process in self.processes:
            if process.poll() is None:
                process.kill()
                process.communicate()

    def finish(self, process):
        """Waits for a process from start() to end."""
        try:
            stdout, stderr = process.communicate(timeout=TIMEOUT)
        except subprocess.TimeoutExpired:
            process.kill()
            stdout, stderr = process.communicate()
            pytest.fail(f"did not end within {TIMEOUT} s: "
                        f"{Run(self, process, 'none', stdout, stderr)}", pytrace=False)
        run = Run(self, process, process.returncode, stdout or "", stderr or "")
        assert not has_sanitizer_report(run.stderr), run
        return run

    def run(self, app, eal=(), workers=1):
        """Runs l3fwd-graph with EAL options and its own to its end."""
        return self.finish(self.start(app, eal, workers))

    def forward(self, ports, *app, config=None, tx_queues=1, workers=1, eal=()):
        """Forwards all that arrives on some ports, then ends. Without a config, worker 1 polls
        queue 0 of every port."""
        config = config or [(port, 0, 1) for port in range(len(ports))]
        return self.run([*options(len(ports), config), *self.until_idle(), *app],
                        [*self.vdevs(ports, tx_queues), *eal], workers)

    def until_idle(self):
        """Options to end when all has arrived, and to leave statistics."""
        return [f"--until-idle={IDLE_MS}", f"--json={self.folder}/stats.json"]


def options(ports, config):
    """The options that l3fwd-graph does not run without."""
    triples = ",".join("(%d,%d,%d)" % triple for triple in config)
    return ["-p", hex((1 << ports) - 1), f"--config={triples}"]


def explain(folder, *app, eal=()):
    """What --explain=json prints for one port."""
    rig = Rig(folder)
    run = rig.run([*options(1, [(0, 0, 1)]), "--explain=json", *app], [*rig.vdevs([SILENT]), *eal])
    assert run.code == 0, run
    return json.loads(run.stdout)


def selection(explained, family):
    """The one selection for a family, from explain()."""
    found = [s for s in explained["selections"] if s["family"] == family]
    assert len(found) == 1, f"{len(found)} selections for {family}: {explained}"
    return found[0]


@functools.cache
def candidates(family):
    """The variants of a family, as the program itself lists them."""
    with tempfile.TemporaryDirectory() as folder:
        return selection(explain(folder), family)["candidates"]


def lookup_candidates():
    """Those of ip4_lookup."""
    return candidates("ip4_lookup")
