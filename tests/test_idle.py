# SPDX-License-Identifier: BSD-3-Clause
"""Workers that rest (--idle) and receive budgets (--rx-budget): nothing is lost, and what they save
or hold back shows in the counters."""

import os
import signal
import time

import pytest

import frames
import l3fwd
import live
import oracle
import test_tap
from l3fwd import SILENT

USEC = 20000  # of the longest sleep
BURST = 400  # frames at once, after a silence; the interface's queue holds 500


def worker(run):
    """What the only worker did."""
    (only,) = run.stats["workers"]
    return only


class Taps:
    """A run between two kernel interfaces; routes lead all to the second one."""

    def __init__(self, rig, *app):
        self.rig = rig
        self.routes = [r._replace(port=1) for r in frames.ROUTES]
        names = [f"hyi{os.getpid()}-{n}" for n in (0, 1)]
        taps = [word for n in (0, 1) for word in ("--vdev", f"net_tap{n},iface={names[n]}")]
        with open(rig.folder / "stdout", "w", encoding="utf-8") as out:
            self.process = rig.start(["-p", "0x3", "-P", "--config=(0,0,1),(1,0,1)",
                                      rig.routes(self.routes), *app,
                                      f"--json={rig.folder}/stats.json"], taps, stdout=out)
        test_tap.await_up(self.process, names)
        live.until(lambda: "HAL picked" in self.stdout(), "the start", self.process)
        time.sleep(1)  # until the kernel has said what it says of interfaces that are up
        self.into, self.out = map(test_tap.listen, names)

    def stdout(self):
        """What it has printed so far."""
        return (self.rig.folder / "stdout").read_text()

    def send(self, *records):
        """Sends frames, each of which leaves through the other port."""
        for record in records:
            self.into.send(record)

    def exchange(self, *records):
        """Sends frames, and returns what came of them."""
        self.send(*records)
        return test_tap.received(self.out, len(records), grace=0.001)

    def cpu_time(self):
        """Seconds of CPU time that the only worker has had."""
        ((_, seconds),) = live.workers(self.process)
        return seconds

    def is_asleep(self):
        """Whether the worker sleeps."""
        ((state, _),) = live.workers(self.process)
        return state == "S"

    def stop(self):
        """Ends it by a signal. Returns its run."""
        self.process.send_signal(signal.SIGTERM)
        run = self.rig.finish(self.process)
        run.stdout = self.stdout()
        self.into.close()
        self.out.close()
        return run


def forwardable():
    """Frames that leave through a port, each of them only once."""
    made = [f.data for f in frames.generate(23)
            if 15 <= len(f.data) <= 1514 and f.data[12:14] != test_tap.NOISE]
    made = list(dict.fromkeys(made))
    routes = [r._replace(port=1) for r in frames.ROUTES]
    verdicts = oracle.forward(made, routes, {0: bytes(6), 1: bytes(6)}).verdicts
    good = [frame for frame, verdict in zip(made, verdicts, strict=True)
            if isinstance(verdict, oracle.Forwarded)]
    assert len(good) > 2 * BURST
    return good


needs_tap = pytest.mark.skipif(test_tap.tap_refusal() is not None,
                               reason=str(test_tap.tap_refusal()))


@needs_tap
def test_sparse_packets_wake_a_sleeping_worker_and_none_is_lost(rig):
    records = forwardable()
    taps = Taps(rig, f"--idle=interrupt:{USEC}")
    sparse, burst, last = records[:100], records[100 : 100 + BURST], records[100 + BURST :][:20]
    began, cpu, got = time.monotonic(), taps.cpu_time(), []
    for record in sparse:
        time.sleep(0.03)
        live.until(taps.is_asleep, "a sleep", taps.process)
        got += taps.exchange(record)
    cpu = (taps.cpu_time() - cpu) / (time.monotonic() - began)
    time.sleep(0.3)
    got += taps.exchange(*burst)  # at once, after a silence
    time.sleep(0.3)
    for record in last:
        time.sleep(0.03)
        got += taps.exchange(record)
    run = taps.stop()

    expected = oracle.forward(sparse + burst + last, taps.routes, run.macs)
    assert len(expected.out[1]) == 100 + BURST + 20
    l3fwd.assert_same_frames(expected.out[1], got, "port 1")
    rest = worker(run)
    assert rest["waits"] >= 100 and rest["wakeups"] >= 100, rest
    assert rest["wakeups"] <= rest["waits"], rest
    assert rest["waited_us"] > 1_500_000, rest
    # Awake it polls 256 times and pauses 32 times before it sleeps, with two walks for each sleep.
    # net_tap shows a packet once a signal has reached the main thread, which takes long on a busy
    # machine: until then each sleep ends at once, so that there may be more of them than packets.
    busy = rest["walks"] - rest["idle_walks"]
    awake = rest["wakeups"] + rest["called_off"] + busy + 1
    assert 0 < busy < rest["walks"], rest
    assert rest["idle_walks"] <= 288 * awake + 2 * rest["waits"], rest
    # A worker that polls makes twenty million walks in a second.
    assert rest["walks"] < 5_000_000, rest
    assert cpu < 0.5, f"{cpu:.0%} of a CPU for a packet each 30 ms\n{run}"
    assert "wake-ups" in run.stdout and str(rest["wakeups"]) in run.stdout, run


@needs_tap
@pytest.mark.parametrize("idle", ["poll", "pause", "interrupt"])
def test_frames_are_the_same_however_a_worker_rests(rig, idle):
    records = forwardable()[:300]
    taps = Taps(rig, f"--idle={idle}")
    for i in range(0, len(records), 10):
        taps.send(*records[i : i + 10])
        time.sleep(0.002 * (i // 10 % 5))
    got = test_tap.received(taps.out, len(records))
    if idle == "interrupt":
        live.until(taps.is_asleep, "a sleep", taps.process)
    else:
        live.await_work(taps.process)
    run = taps.stop()
    expected = oracle.forward(records, taps.routes, run.macs)
    assert l3fwd.assert_same_frames(expected.out[1], got, "port 1") == 300
    rest = worker(run)
    assert (rest["pauses"] > 0) == (idle != "poll"), rest
    assert (rest["waits"] > 0) == (idle == "interrupt"), rest
    assert ("wake-ups" in run.stdout) == (idle != "poll"), run


@needs_tap
def test_a_sleeping_worker_stops_when_its_time_is_up(rig):
    """The longest sleep bounds how long a stop takes: it is no receive interrupt."""
    taps = Taps(rig, "--idle=interrupt:400000")
    time.sleep(1)
    began = time.monotonic()
    taps.process.send_signal(signal.SIGTERM)
    run = rig.finish(taps.process)
    took = time.monotonic() - began
    rest = worker(run)
    assert rest["waits"] >= 2 and rest["waited_us"] > 500_000, rest
    assert took < 10, f"{took} s"


def test_ports_without_interrupts_are_paused_for_and_lose_nothing(rig):
    records = forwardable()[:1000]
    routes = [r._replace(port=1) for r in frames.ROUTES]
    run = rig.forward([[records], SILENT], "--idle=interrupt", rig.routes(routes))
    assert run.assert_agrees(oracle.forward(records, routes, run.macs)) == 1000
    rest = worker(run)
    assert rest["waits"] == 0 and rest["pauses"] > 0, rest
    assert "lcore 1 pauses instead of sleeping" in run.stderr, run


def test_polling_workers_count_walks_without_packets_and_never_pause(rig):
    run = rig.forward([[forwardable()[:100]], SILENT])
    rest = worker(run)
    assert 0 < rest["idle_walks"] < rest["walks"], rest
    assert [rest[k] for k in ("pauses", "waits", "wakeups", "called_off", "waited_us")] == [0] * 5
    assert rest["lcore"] == 1, rest


def endless(rig, ports, *app):
    """A run of two seconds whose inputs never end; its output goes nowhere."""
    records = [f for f in forwardable() if len(f) < 2000][:500]
    routes = [r._replace(port=0) for r in frames.ROUTES]
    config = [(port, 0, 1) for port in range(ports)]
    return rig.run([*l3fwd.options(ports, config), rig.routes(routes), "--duration=2", *app,
                    f"--json={rig.folder}/stats.json"],
                   rig.vdevs([[records]] * ports, tx_queues=0, more=",infinite_rx=1"))


@pytest.mark.parametrize("options, first, second", [
    ([], 64, 64),
    (["--rx-budget=0=8"], 8, 64),
    (["--rx-budget=0=1", "--rx-budget=1=32"], 1, 32),
    (["--burst=100", "--rx-budget=1=100", "--rx-budget=0=25"], 25, 100),
], ids=["none", "one", "both", "with-burst"])
def test_budgets_divide_the_worker_between_ports_that_are_both_busy(rig, options, first, second):
    run = endless(rig, 2, *options)
    sources = {node["name"]: node for node in run.stats["nodes"] if node["family"] == "ethdev_rx"}
    shares = {"ethdev_rx-0-0": first, "ethdev_rx-1-0": second}
    assert {name: node["budget"] for name, node in sources.items()} == shares
    for name, budget in shares.items():
        node = sources[name]
        # Every call brought as many as it may, but for a capture that begins anew.
        assert 0.9 * budget * node["calls"] <= node["objs"] <= budget * node["calls"], node
    others = [node for node in run.stats["nodes"] if node["family"] != "ethdev_rx"]
    assert others and not any(node["budget"] for node in others)
