# SPDX-License-Identifier: BSD-3-Clause
"""A run of l3fwd-graph whose routes change, and the frames that leave it meanwhile."""

import collections
import contextlib
import json
import os
import re
import signal
import socket
import struct
import threading
import time
from pathlib import Path

import l3fwd
from pcapfile import PcapError

WAIT = 60  # seconds for what takes milliseconds on a machine with nothing else to do

CHANGED = re.compile(r"^routes: (\d+) added, (\d+) replaced, (\d+) deleted, (\d+) unchanged, "
                     r"in (\d+) ms$", re.M)
UNCHANGED = re.compile(r"^l3fwd-graph: routes unchanged: (.*)$", re.M)


def until(condition, what, process=None):
    """Waits until a condition holds; returns what it returned."""
    deadline = time.monotonic() + WAIT
    while not (found := condition()):
        code = None if process is None else process.poll()
        assert code is None, f"ended with {code} while waiting for {what}"
        assert time.monotonic() < deadline, f"waited {WAIT} s in vain for {what}"
        time.sleep(0.001)
    return found


def status(process, key):
    """A field of a process's status; of its main thread's, where threads differ."""
    with open(f"/proc/{process.pid}/status", encoding="ascii") as file:
        return dict(line.rstrip("\n").split(":\t", 1) for line in file)[key]


def await_handlers(process, *signals):
    """Waits until a process has taken over signals, which would have ended it before."""
    mask = sum(1 << (sig - 1) for sig in signals)
    until(lambda: int(status(process, "SigCgt"), 16) & mask == mask, "handlers", process)


def threads(process):
    """The names of the threads of a process; of those that end meanwhile, maybe."""
    names = set()
    for task in os.scandir(f"/proc/{process.pid}/task"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            names.add(Path(task.path, "comm").read_text(encoding="ascii").strip())
    return names


def workers(process):
    """The state and the seconds of CPU time of each worker thread of a running l3fwd-graph."""
    found = []
    for task in os.scandir(f"/proc/{process.pid}/task"):
        try:
            with open(f"{task.path}/stat", encoding="ascii") as file:
                name, _, rest = file.read().partition("(")[2].rpartition(") ")
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended: one of telemetry's, which come and go
        if "worker" in name:
            state, *numbers = rest.split()
            ticks = sum(map(int, numbers[10:12]))
            found.append((state, ticks / os.sysconf("SC_CLK_TCK")))
    return found


def await_work(process, seconds=0.1):
    """Waits until each worker has had so much more CPU time: how far they get in a time is up to
    the machine's load."""
    before = [time for _, time in until(lambda: workers(process), "workers", process)]
    until(lambda: all(now - then >= seconds for (_, now), then
                      in zip(workers(process), before, strict=True)), "work", process)


def await_ticks(process, ticks=100):
    """Waits until the main thread has seen to its duties so many times more; it sleeps between."""
    before = int(status(process, "voluntary_ctxt_switches"))
    until(lambda: int(status(process, "voluntary_ctxt_switches")) >= before + ticks, "the main "
          "thread", process)


def ask(folder, command):
    """What telemetry of the run in a folder answers to a command."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
        sock.settimeout(WAIT)
        sock.connect(str(next(folder.glob("**/dpdk_telemetry.v2"))))
        sock.recv(16384)  # who it is
        sock.send(command.encode())
        return json.loads(sock.recv(16384))[command.split(",")[0]]


class Live:
    """A running l3fwd-graph, with what it prints in files."""

    WHAT = "routes"  # it reads again
    CHANGED, UNCHANGED = CHANGED, UNCHANGED

    def __init__(self, rig, routes, app, eal, *, json_path=None, **how):
        self.rig = rig
        self.path = rig.folder / self.WHAT
        self.write(routes)
        with open(rig.folder / "stdout", "w", encoding="utf-8") as out, \
                open(rig.folder / "stderr", "w", encoding="utf-8") as err:
            self.process = rig.start([*app, f"--{self.WHAT}={self.path}",
                                      f"--json={json_path or rig.folder / 'stats.json'}"], eal,
                                     stdout=out, stderr=err, **how)
        self.wait(lambda: "HAL picked" in self.stdout(), "the start")
        if how.get("telemetry"):
            self.wait(lambda: "error" not in self.ask("/halyard/graph"), "the workers")

    def stdout(self):
        """What it has printed so far."""
        return (self.rig.folder / "stdout").read_text()

    def stderr(self):
        """What it has complained of so far."""
        return (self.rig.folder / "stderr").read_text()

    def wait(self, condition, what):
        """Waits until a condition holds, or the program has ended, which is a failure."""
        try:
            return until(condition, what, self.process)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.stdout()}\n{self.stderr()}") from None

    def write(self, routes):
        """Puts another route file in the place of the one that there is, in one step. Text or
        bytes go in as they are."""
        if not isinstance(routes, (str, bytes)):
            routes = "".join(r.line() + "\n" for r in routes)
        new = self.path.with_name(f"{self.WHAT}.new")
        new.write_bytes(routes.encode() if isinstance(routes, str) else routes)
        new.rename(self.path)

    def changes(self):
        """What the reloads that succeeded say: added, replaced, deleted, unchanged, ms."""
        return [tuple(map(int, found)) for found in self.CHANGED.findall(self.stdout())]

    def refusals(self):
        """What the reloads that failed say."""
        return self.UNCHANGED.findall(self.stderr())

    def hup(self):
        """Has the file read again."""
        self.process.send_signal(signal.SIGHUP)

    def reload(self, routes=None):
        """Has a file read that is good. Returns how many routes were added, replaced, deleted, and
        how many were unchanged."""
        if routes is not None:
            self.write(routes)
        before, bad = len(self.changes()), len(self.refusals())
        self.hup()
        self.wait(lambda: len(self.changes()) > before or len(self.refusals()) > bad, "a reload")
        assert len(self.refusals()) == bad, self.refusals()[-1]
        return self.changes()[-1][:4]

    def reload_bad(self, routes=None):
        """Has a file read that is bad. Returns the complaint."""
        if routes is not None:
            self.write(routes)
        before, good = len(self.refusals()), len(self.changes())
        self.hup()
        self.wait(lambda: len(self.refusals()) > before or len(self.changes()) > good, "a refusal")
        assert len(self.changes()) == good, self.changes()[-1]
        return self.refusals()[-1]

    def stop(self):
        """Ends it by a signal; returns its run, whose balance has been checked."""
        self.process.send_signal(signal.SIGTERM)
        run = self.rig.finish(self.process)
        run.stdout, run.stderr = self.stdout(), self.stderr()
        assert not l3fwd.has_sanitizer_report(run.stderr), run
        assert run.stats["totals"]["rx"] > 0, run
        return run

    def ask(self, command):
        """What telemetry answers to a command."""
        return ask(self.rig.folder, command)


class Sink:
    """Pipes that ports write their frames to, and how often each (destination, port, MAC address)
    was seen; at: the offset of the four bytes that count of destinations. As a pipe has little room,
    frames come no faster than they are counted."""

    def __init__(self, folder, ports, queues=1, at=30):
        self.at = at
        self.seen = collections.Counter()
        self.threads = []
        self.errors = []
        for port in range(ports):
            for queue in range(queues):
                path = folder / f"out{port}.{queue}.pcap"
                os.mkfifo(path)
                thread = threading.Thread(target=self._run, args=(path, port), daemon=True)
                thread.start()
                self.threads.append(thread)

    def _run(self, path, port):
        try:
            with open(path, "rb") as pipe:
                self._count(pipe, port)
        except (OSError, PcapError, struct.error) as error:
            self.errors.append(error)

    def _count(self, pipe, port):
        record = struct.Struct("=IIII")
        if len(pipe.read(24)) < 24:
            return
        while head := pipe.read(record.size):
            frame = pipe.read(record.unpack(head)[2])
            self.seen[int.from_bytes(frame[self.at:self.at + 4], "big"), port, frame[:6]] += 1

    def more(self, key, live, n=500):
        """Waits until so many more frames of a kind were seen."""
        goal = self.seen[key] + n
        live.wait(lambda: self.seen[key] >= goal, f"{n} frames of {key}")

    def end(self):
        """What was seen in all, once the program has ended."""
        for thread in self.threads:
            thread.join(WAIT)
            assert not thread.is_alive(), "a pipe has no end"
        assert not self.errors, self.errors
        return +self.seen
