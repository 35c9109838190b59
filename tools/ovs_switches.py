# SPDX-License-Identifier: BSD-3-Clause
"""The switches of bench-ovs.py, the ports between which they forward, and the rules that they follow."""

import mmap
import os
import re
import struct
import subprocess
import time
from pathlib import Path

SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
MODES = {"emc": {}, "emc+smc": {"smc-enable": "true"}, "no_cache": {"emc-insert-inv-prob": "0"}}
OURS = "halyard"
PORTS = 4  # of which the first gives packets
SEED = 7
TIMEOUT = 120  # seconds, of a run
SHARE_OFF = 0.01
MASK = (1 << 64) - 1
RULES = "\n".join(["table=0,priority=1,in_port=1 actions=resubmit(,1)",
                   "table=1,priority=10,ip,nw_dst=10.0.0.0/8 actions=output:2",
                   "table=1,priority=20,ip,nw_dst=10.1.0.0/16 actions=output:3"]
                  + [f"table=1,priority=30,ip,nw_dst=10.2.{n}.0/24 actions=output:4" for n in (1, 3)]
                  + ["table=1,priority=40,udp,nw_dst=10.3.0.0/16,tp_dst=1003 actions=output:3", ""])


class Failure(Exception):
    """A run that gave no figure; the text says why."""


def mixed(number):
    """A flow's hash, as app/replay/replay.c has it (splitmix64)."""
    x = (number + SEED * 0x9e3779b97f4a7c15) & MASK
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9 & MASK
    x = (x ^ x >> 27) * 0x94d049bb133111eb & MASK
    return x ^ x >> 31


def port_of(value):
    """The port to which RULES send a packet of a flow with that hash."""
    second, third, tp_dst = value >> 36 & 3, value >> 38 & 3, 1000 + (value >> 48 & 7)
    if second == 1 or (second == 3 and tp_dst == 1003):
        return 3
    return 4 if second == 2 and third in (1, 3) else 2


def expected(flows, packets, skipped=0):
    """How many of the packets after the first ones each port gets: [port 1, 2, ...]."""
    counts, chance = [0] * PORTS, SEED
    for number in range(skipped + packets):
        chance = (chance * 6364136223846793005 + 1442695040888963407) & MASK
        if number < skipped:
            continue
        counts[port_of(mixed((chance >> 32) * flows >> 32)) - 1] += 1
    return counts


def check_shares(got, want, what):
    """Raises Failure if ports did not get the shares of packets that they should have had."""
    for port, (n, m) in enumerate(zip(got, want), 1):
        if abs(n / max(sum(got), 1) - m / sum(want)) > SHARE_OFF:
            raise Failure(f"{what}: port {port} sent {n} of {sum(got)} packets; by the rules it is "
                          f"{m} of {sum(want)}")


def parse_perf(text):
    """Shares of packets by how Open vSwitch found their megaflow, of dpif-netdev/pmd-perf-show."""
    found = re.findall(r"^ *- (EMC|SMC|Megaflow) hits: +(\d+)", text, re.MULTILINE)
    found += [("Upcalls", n) for n in re.findall(r"^ *- Upcalls: +(\d+)", text, re.MULTILINE)]
    total = sum(int(n) for _, n in found)
    if total == 0:
        raise Failure("pmd-perf-show counts no packets")
    sums = {}
    for name, n in found:
        sums[name.lower()] = sums.get(name.lower(), 0) + int(n) / total
    return sums


def parse_megaflows(text):
    """The number of megaflows that dpctl/show tells."""
    found = re.search(r"^ *flows: (\d+)", text, re.MULTILINE)
    if found is None:
        raise Failure("dpctl/show tells no number of flows")
    return int(found[1])


def run(command, env=None):
    """What a short command prints; Failure if it fails."""
    try:
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=30,
                              stdin=subprocess.DEVNULL)
    except (OSError, subprocess.TimeoutExpired) as wrong:
        raise Failure(f"{command[0]}: {wrong}") from wrong
    if done.returncode != 0:
        raise Failure(f"{command[0]}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


class Ports:
    """The meters of all ports of a run; see struct meter of app/replay/replay.c."""

    def __init__(self, folder, flows):
        self.names = [f"{folder}/port{n}" for n in range(PORTS)]
        self.vdevs = [f"--vdev=net_replay{n},file={name},flows={0 if n else flows},seed={SEED}"
                      for n, name in enumerate(self.names)]
        self.maps = []
        for name in self.names:
            with open(name, "w+b") as file:
                file.truncate(192)
                self.maps.append(mmap.mmap(file.fileno(), 192))

    def limit(self, packets):
        """The port gives as many packets in all."""
        struct.pack_into("=Q", self.maps[0], 0, packets)

    def give(self, packets, alive):
        """Gives more packets, and waits until they were taken."""
        end = self.given() + packets
        self.limit(end)
        while self.given() < end:
            alive()
            time.sleep(0.001)

    def given(self):
        """Packets that were given."""
        return struct.unpack_from("=Q", self.maps[0], 64)[0]

    def sent(self):
        """Packets that each port has sent."""
        return [struct.unpack_from("=Q", port, 128)[0] for port in self.maps]

    def lost(self, alive, patience):
        """Waits until all that were given were sent, or none was for some seconds; returns how many are lacking."""
        before, since = None, time.monotonic()
        while sum(self.sent()) != self.given() and time.monotonic() < since + patience:
            if self.sent() != before:
                before, since = self.sent(), time.monotonic()
            alive()
            time.sleep(0.02)
        return self.given() - sum(self.sent())


class Switch:
    """A switch that runs in a folder; ends with it."""

    def __init__(self, setup, folder):
        self.setup, self.folder, self.children = setup, folder, []
        self.end = time.monotonic() + TIMEOUT

    def spawn(self, command, env=None):
        """Starts a process."""
        name = f"{self.folder}/{os.path.basename(command[0])}.out"
        with open(name, "w", encoding="utf-8") as log:
            try:
                child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env)
            except OSError as wrong:
                raise Failure(f"{command[0]}: {wrong}") from wrong
        self.children.append((child, name))

    def alive(self):
        """Raises Failure if a process has ended, or took too long."""
        for child, name in self.children:
            if child.poll() is not None:
                text = Path(name).read_text(encoding="utf-8", errors="replace").strip()
                wrong = [line for line in text.splitlines() if re.search("ERR|EMER|rror|annot", line)]
                raise Failure(f"{child.args[0]} ended with code {child.returncode}: "
                              + (" / ".join(wrong[-3:]) or text[-300:]))
        if time.monotonic() > self.end:
            raise Failure(f"it took more than {TIMEOUT} s")

    def wait(self, condition):
        """Waits until a condition is met."""
        while not condition():
            self.alive()
            time.sleep(0.05)

    def stop(self):
        """Ends all processes, the last first."""
        for child, _ in reversed(self.children):
            child.terminate()
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
        self.children = []

    def cpu_time(self):
        """Seconds for which each thread of the switch, the last process, has had a CPU."""
        times = {}
        for task in Path(f"/proc/{self.children[-1][0].pid}/task").iterdir():
            times[task.name] = int((task / "schedstat").read_text().split()[0]) / 1e9
        return times

    def measured(self):
        """Called when the measured interval begins."""

    def details(self):
        """More figures of the interval that was measured."""
        return {}


class OpenVSwitch(Switch):
    """Open vSwitch in a mode."""

    def __init__(self, setup, folder, mode):
        super().__init__(setup, folder)
        self.mode, self.bridge = mode, f"hyb{os.getpid()}"
        self.env = dict(os.environ, **{f"OVS_{name}": folder for name in (
            "RUNDIR", "LOGDIR", "DBDIR", "SYSCONFDIR")})

    def appctl(self, *command):
        """What the switch says."""
        return run(["ovs-appctl", "-T", "20", "-t", f"{self.folder}/vs.ctl", *command], self.env)

    def vsctl(self, *command):
        """Sets what the database has."""
        return run(["ovs-vsctl", "--timeout=25", f"--db=unix:{self.folder}/db", *command], self.env)

    def start(self, ports):
        """Starts it with the rules."""
        run(["ovsdb-tool", "create", f"{self.folder}/conf.db", SCHEMA], self.env)
        self.spawn(["ovsdb-server", f"{self.folder}/conf.db", "--no-chdir", f"--remote=punix:{self.folder}/db",
                    f"--unixctl={self.folder}/db.ctl"], self.env)
        self.wait(lambda: os.path.exists(f"{self.folder}/db"))
        extra = ["--no-pci", "--no-telemetry", "-d", self.setup.driver, *self.setup.memory,
                 *(["--legacy-mem"] if "--no-huge" in self.setup.memory else []), *ports.vdevs]
        options = {"dpdk-init": "true", "dpdk-lcore-mask": hex(1 << self.setup.cpus[0]),
                   "pmd-cpu-mask": hex(1 << self.setup.cpus[1]), "dpdk-extra": " ".join(extra),
                   **MODES[self.mode]}
        self.vsctl("--no-wait", "init")
        self.vsctl("--no-wait", "set", "Open_vSwitch", ".",
                   *(f'other_config:{key}="{value}"' for key, value in options.items()))
        self.spawn([self.setup.vswitchd, f"unix:{self.folder}/db", "--no-chdir", f"--unixctl={self.folder}/vs.ctl",
                    f"--pidfile={self.folder}/vs.pid"], self.env)
        self.wait(lambda: "true" in self.vsctl("--no-wait", "get", "Open_vSwitch", ".", "dpdk_initialized"))
        self.vsctl("add-br", self.bridge, "--", "set", "bridge", self.bridge, "datapath_type=netdev",
                   "fail-mode=secure")
        for n in range(PORTS):
            self.vsctl("add-port", self.bridge, f"p{n}", "--", "set", "Interface", f"p{n}", "type=dpdk",
                       f"options:dpdk-devargs=net_replay{n}", f"ofport_request={n + 1}")
            said = self.vsctl("get", "Interface", f"p{n}", "ofport", "error").split("\n")
            if said[0] != str(n + 1):
                raise Failure(f"port {n + 1} cannot be added: {said[1]}")
        run(["ovs-ofctl", "add-flows", self.bridge, self.setup.rules], self.env)

    def stop(self):
        super().stop()
        if os.path.exists(f"/sys/class/net/{self.bridge}"):  # the bridge's own port, which outlives it
            run(["ip", "link", "delete", self.bridge])

    def measured(self):
        self.appctl("dpif-netdev/pmd-stats-clear")

    def details(self):
        return {"found": parse_perf(self.appctl("dpif-netdev/pmd-perf-show", "-nh")),
                "megaflows": parse_megaflows(self.appctl("dpctl/show"))}


class Ours(Switch):
    """vswitch-graph."""

    def start(self, ports):
        """Starts it with the rules."""
        cpus = self.setup.cpus
        memory = self.setup.memory if "--no-huge" in self.setup.memory else ["--in-memory", *self.setup.memory]
        self.spawn([str(self.setup.ours), *memory, "--no-pci", "--no-telemetry", "--no-shconf", "--lcores",
                    f"0@{cpus[0]},1@{cpus[1]}", "-d", self.setup.driver, *ports.vdevs, "--",
                    "-p", hex((1 << PORTS) - 1), "--flows", self.setup.rules, "--cache", "auto"],
                   dict(os.environ, RUNTIME_DIRECTORY=self.folder))
