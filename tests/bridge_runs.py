# SPDX-License-Identifier: BSD-3-Clause
"""Runs of l2fwd-graph as a bridge, compared with the model of bridge_oracle.py."""

import concurrent.futures
import fcntl
import os
import re
import signal
import struct
import time
from collections import Counter, defaultdict

import bridge_oracle
import l3fwd
import live
from bridge_frames import station

# Longer than the program's default: frames of captures, with tags.
LONG = "--max-pkt-len=9600"
# Frames of which a test needs a number, and nothing else happens.
JUNK = bridge_oracle.RESERVED + b"\x0e" + station(0) + b"\x88\xcc" + bytes(46)


def options(rig, text, ports):
    """The program's options for a bridge."""
    return ["-p", format((1 << ports) - 1, "x"), "--bridge", rig.write("bridge", text), "-T", "0",
            LONG]


def forward(rig, text, arrivals, *app, workers=1):
    """Bridges what arrives at ports, in the program's run of this test."""
    rig.program = l3fwd.L2FWD
    return rig.run([*options(rig, text, len(arrivals)), *rig.until_idle(), *app],
                   rig.vdevs([[frames] for frames in arrivals], tx_queues=workers), workers)


class Expected:
    """What becomes of frames that arrive at ports, if nothing is learned."""

    def __init__(self, text, arrivals):
        self.setup = bridge_oracle.parse(text)
        assert not any(port.learn for port in self.setup.ports.values())
        bridge = bridge_oracle.Bridge(self.setup)
        self.drops, self.changes = Counter(), Counter()
        self.frames = self.flooded = self.copied = 0
        # By port out, and by port in and whether flooded: frames keep their order.
        self.out = {port: defaultdict(list) for port in self.setup.ports}
        for port, frames in enumerate(arrivals):
            for frame in frames:
                self._add(port, bridge.receive(port, frame))

    def _add(self, port, outcome):
        self.frames += 1
        self.changes.update(outcome.changes)
        self.flooded += outcome.flooded
        self.copied += max(0, len(outcome.out) - 1)
        if outcome.node:
            self.drops[outcome.node, outcome.reason] += 1
        if outcome.reason == bridge_oracle.LOCAL:  # there is no router
            self.drops["l2_local", "no_router"] += 1
        for to, data in outcome.out.items():
            self.out[to][port, outcome.flooded].append(data)


def drops_of(run):
    """By node and reason, how many frames were dropped."""
    return Counter({(node["family"] or node["name"], reason): n for node in run.stats["nodes"]
                    for reason, n in node["drops"].items() if n > 0})


def assert_drops(run, right):
    """Asserts that frames were dropped for these reasons, and for no others."""
    got = drops_of(run)
    assert got == right, f"{dict(got - right)} instead of {dict(right - got)}\n{run}"


def assert_balance(run, arrivals):
    """Asserts that all frames are accounted for; what holds for every run, run.stats asserts."""
    assert run.stats["totals"]["rx"] == sum(map(len, arrivals)), run
    (flood,) = [node for node in run.stats["nodes"] if node["name"] == "l2_flood"]
    assert flood["counters"]["lost"] == 0, run
    assert run.stats["totals"]["copied"] == flood["counters"]["copies"], run


def assert_exact(run, expected, arrivals, queues=1):
    """Asserts that frames, the order in each flow, and drops are the model's. Returns how many
    frames that left were compared."""
    assert_balance(run, arrivals)
    assert_drops(run, expected.drops)
    assert run.stats["totals"]["copied"] == expected.copied, run
    assert run.node("l2_learn")["counters"]["unknown"] == 0, run
    assert run.node("l2_lookup")["edges"]["l2_flood"] == expected.flooded + sum(
        expected.drops[key] for key in expected.drops if key[0] == "l2_flood"), run
    return sum(assert_port(flows, [f for q in range(queues) for f in run.sent(port, q)], port)
               for port, flows in expected.out.items())


def assert_port(flows, frames, port):
    """Asserts the same of one port."""
    origin = defaultdict(list)
    for flow, made in flows.items():
        for frame in made:
            origin[frame].append(flow)
    got = defaultdict(list)
    for frame in frames:
        assert origin[frame], f"port {port} sent what the model does not: {frame[:64].hex(' ')}"
        got[origin[frame].pop(0)].append(frame)
    return sum(l3fwd.assert_same_frames(made, got[flow], f"port {flow[0]} to {port}")
               for flow, made in flows.items())


class Live:
    """A bridge that takes frames from pipes: a round ends when it has taken all. Its worker then
    waits for more in the driver of port 0, so nothing happens until the next round."""

    BURST = 32
    PIPE = 1 << 20

    def __init__(self, rig, text):
        self.rig, self.setup = rig, bridge_oracle.parse(text)
        self.model = bridge_oracle.Bridge(self.setup)
        self.ports = len(self.setup.ports)
        self.sent, self.rounds = 0, []
        rig.program = l3fwd.L2FWD
        paths = [rig.folder / f"in{port}.pipe" for port in range(self.ports)]
        for path in paths:
            os.mkfifo(path)
        with open(rig.folder / "stdout", "w", encoding="utf-8") as out, \
                open(rig.folder / "stderr", "w", encoding="utf-8") as err:
            self.process = rig.start(
                [*options(rig, text, self.ports), f"--burst={self.BURST}",
                 f"--json={rig.folder / 'stats.json'}"], rig.vdevs([[path] for path in paths]),
                stdout=out, stderr=err, telemetry=True)
        self.pipes = [self._open(path) for path in paths]
        live.until(lambda: "HAL picked" in (rig.folder / "stdout").read_text(), "the start",
                   self.process)
        live.until(lambda: "error" not in self.ask("/halyard/graph"), "the workers", self.process)

    def _open(self, path):
        """Opens a pipe, which the program reads, and writes the header of a capture."""
        def try_open():
            try:
                return os.open(path, os.O_WRONLY | os.O_NONBLOCK)
            except OSError:
                return None

        pipe = live.until(try_open, f"a reader of {path}", self.process)
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, self.PIPE)
        os.write(pipe, struct.pack("=IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        return pipe

    def ask(self, command):
        """What telemetry answers."""
        return live.ask(self.rig.folder, command)

    def order(self, good, command):
        """Gives a command, which must succeed."""
        answer = self.ask(command)
        assert ("error" not in answer) == good, (command, answer)
        return answer

    def order_awake(self, command):
        """Gives a command that waits until the worker has seen it: it takes junk meanwhile."""
        with concurrent.futures.ThreadPoolExecutor(1) as one:
            answer = one.submit(self.order, True, command)
            while not answer.done():
                self._write([[JUNK] * self.BURST] * self.ports)
                time.sleep(0.01)
            return answer.result()

    def dump(self):
        """The forwarding table, as the model has it."""
        found, cursor = {}, 0
        while cursor is not None:
            answer = self.order(True, f"/halyard/l2/dump,cursor {cursor}")
            cursor = answer.pop("next", None)
            for entry in answer.values():
                key = bytes.fromhex(entry["mac"].replace(":", "")), entry["vlan"]
                assert key not in found, entry
                found[key] = entry["port"], entry.get("static") == 1
        return found

    def _ends(self):
        """How many frames have come to an end: they left, or were dropped."""
        nodes = self.ask("/halyard/nodes").values()
        return sum(node["packets"] for node in nodes
                   if re.match("ethdev_tx|pkt_drop", node["node"]))

    def _write(self, padded):
        """Has all ports take frames, as many bursts each."""
        outcomes = [[] for _ in padded]
        for at in range(0, len(padded[0]), self.BURST):
            for port, frames in enumerate(padded):
                outcomes[port] += [self.model.receive(port, frame)
                                   for frame in frames[at:at + self.BURST]]
        for pipe, frames in zip(self.pipes, padded):
            data = b"".join(struct.pack("=IIII", 0, 0, len(f), len(f)) + f for f in frames)
            assert len(data) < self.PIPE and os.write(pipe, data) == len(data)
        self.rounds.append(outcomes)
        self.sent += sum(max(1, len(o.out)) for of_port in outcomes for o in of_port)

    def round(self, arrivals):
        """Has all ports take frames, and waits for what comes of them. The model learns in the
        order in which the worker takes bursts."""
        count = max(-(-len(frames) // self.BURST) for frames in arrivals) * self.BURST
        self._write([frames + [JUNK] * (count - len(frames)) for frames in arrivals])
        live.until(lambda: self._ends() == self.sent, f"{self.sent} frames, {self._ends()}",
                   self.process)

    def await_table(self):
        """Waits until the table is the model's: learning takes a while."""
        try:
            live.until(lambda: self.dump() == self.model.dump(), "the table", self.process)
        except AssertionError as error:
            got, right = self.dump().items(), self.model.dump().items()
            said = f"{error}: it has {got - right} instead of {right - got}"
            raise AssertionError(said) from None

    def stop(self):
        """Ends it. Returns its run, with what it has printed."""
        for pipe in self.pipes:
            os.close(pipe)
        self.process.send_signal(signal.SIGTERM)
        run = self.rig.finish(self.process)
        run.stdout = (self.rig.folder / "stdout").read_text()
        run.stderr = (self.rig.folder / "stderr").read_text()
        return run

    def assert_rounds(self, run):
        """Asserts that frames, the order of each flow, and drops were the model's in all rounds.
        Returns how many frames that left were compared."""
        drops = Counter((o.node, o.reason) for outcomes in self.rounds for of_port in outcomes
                        for o in of_port if o.node)
        assert_drops(run, drops)
        out = {port: defaultdict(list) for port in self.setup.ports}
        for number, outcomes in enumerate(self.rounds):
            for port, of_port in enumerate(outcomes):
                for outcome in of_port:
                    for to, data in outcome.out.items():
                        out[to][port, number, outcome.flooded].append(data)
        return sum(assert_port(flows, run.sent(port), port) for port, flows in out.items())
