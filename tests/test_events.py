# SPDX-License-Identifier: BSD-3-Clause
"""Ports that are reset or removed while packets flow: the program goes on, and accounts for all.

The events are raised inside the program, by a plugin, through ethdev's own callbacks."""

import os
import shutil

import pytest

import frames
import l3fwd
import oracle
import pcapfile
import test_plugin
from live import await_work, until

PLUGIN = l3fwd.BUILD / "app" / "test" / "hy-test-plugin-events.so"
folder = test_plugin.folder
RESET, REMOVED = 3, 6  # RTE_ETH_EVENT_INTR_RESET, _RMV
RECOVERING, RECOVERED = 12, 13  # RTE_ETH_EVENT_ERR_RECOVERING, _RECOVERY_SUCCESS
ROUTES = [oracle.route(f"{half}.0.0.0/1", port, "02:00:00:00:00:01")
          for half, port in ((0, 1), (128, 2))]


class Events:
    """A running l3fwd-graph: port 0 receives without end, ports 1 and 2 send. Or the ports are
    others, of EAL's options `ports`, with that config."""

    def __init__(self, rig, folder, monkeypatch, *more, eal=(), ports=(),
                 config="(0,0,1),(1,0,1)", **how):
        if not PLUGIN.exists():
            pytest.skip("the plugin was not built")
        self.rig = rig
        plugin = folder / "events.so"
        shutil.copy(PLUGIN, plugin)
        plugin.chmod(0o755)
        fifo = rig.folder / "fifo"
        os.mkfifo(fifo)
        monkeypatch.setenv("HY_TEST_EVENTS", str(fifo))
        records = [f.data for f in frames.generate(6) if len(f.data) < 1500][:500]
        ports = ports or [*rig.vdevs([[records]], tx_queues=0, more=",infinite_rx=1"),
                          "--vdev", "net_null1", "--vdev", "net_null2"]
        self.out = rig.folder / "stdout"
        with open(self.out, "w", encoding="utf-8") as out:
            self.process = rig.start(
                ["-p", "0x7", f"--config={config}", rig.routes(ROUTES),
                 f"--pack={plugin}", f"--json={rig.folder}/stats.json", "--duration=60", *more],
                [*ports, *eal], stdout=out, **how)
        try:
            until(lambda: "HAL picked" in self.text(), "the start", self.process)
        except AssertionError as error:
            raise AssertionError(self.process.communicate()) from error
        self.commands = open(fifo, "w", encoding="ascii", buffering=1)

    def text(self):
        return self.out.read_text()

    def event(self, port, event, expected):
        before = self.text().count(expected)
        print(port, event, file=self.commands)
        until(lambda: self.text().count(expected) > before, expected, self.process)

    def finish(self):
        await_work(self.process)
        self.commands.close()
        self.process.terminate()
        run = self.rig.finish(self.process)
        assert run.code == 0, (run, self.text())
        return run


@pytest.fixture
def events(rig, folder, monkeypatch):
    return Events(rig, folder, monkeypatch)


def test_port_that_is_reset_again_and_again_is_used_again(events):
    for _ in range(5):
        events.event(1, RESET, "port 1 is up again")
    run = events.finish()
    port = run.stats["ports"][1]
    assert (port["state"], port["resets"]) == ("up", 5), run
    assert run.stats["ports"][0]["resets"] == 0, run
    assert events.text().count("port 1 is down: it asks for a reset") == 5, events.text()
    totals = run.stats["totals"]
    assert totals["rx"] == totals["tx"] + totals["dropped"] and totals["rx"] > 10000, run
    assert port["tx"] > 0 and run.stats["ports"][2]["tx"] > 0, run
    variants = {n["name"]: n["variant"] for n in run.stats["nodes"]}
    assert (variants["ethdev_tx-1"], variants["ethdev_rx-1-0"]) == ("own_queue", "poll"), run


def test_port_that_asks_for_a_reset_before_workers_run_is_reset(rig, folder, monkeypatch):
    """It asks once: a program that did not listen yet would never know."""
    monkeypatch.setenv("HY_TEST_EVENTS_EARLY", f"1 {RESET}")
    events = Events(rig, folder, monkeypatch)
    until(lambda: "port 1 is up again" in events.text(), "the reset", events.process)
    run = events.finish()
    assert [(p["state"], p["resets"]) for p in run.stats["ports"]] == [
        ("up", 0), ("up", 1), ("up", 0)], run


def assert_stays_down(events):
    """Asserts that port 0, which net_pcap cannot set up again with infinite_rx, stays out, that
    this is told, and that the others go on."""
    events.event(0, RESET, "port 0 is down: it asks for a reset")
    events.event(1, RESET, "port 1 is up again")
    run = events.finish()
    assert [port["state"] for port in run.stats["ports"]] == ["down", "up", "up"], run
    assert [port["link"] for port in run.stats["ports"]] == ["unknown", "up", "up"], run
    assert "port 0 (net_pcap0): queues cannot be set up: No such file" in run.stderr, run
    assert "port 0 stays down: its reset failed: Input/output error" in run.stderr, run
    totals = run.stats["totals"]
    assert totals["rx"] == totals["tx"] + totals["dropped"] > 0, run


def test_port_that_its_driver_does_not_set_up_again_stays_down(events):
    assert_stays_down(events)


def test_reset_that_fails_again_is_reported_again(events):
    events.event(0, RESET, "port 0 is down: it asks for a reset")
    events.event(1, RESET, "port 1 is up again")
    print(0, RESET, file=events.commands)
    events.event(1, RESET, "port 1 is up again")
    run = events.finish()
    assert run.stderr.count("port 0 stays down: its reset failed: Input/output error") == 2, run
    assert run.stats["ports"][1]["resets"] == 2, run


def simulated(rig, settings):
    """EAL's options: port 0 receives without end, ports 1 and 2 are simulated NICs, port 1 with settings;
    what each sends is recorded."""
    usual = rig.drivers
    rig.simulate("sim_nic")
    rig.drivers = usual  # of the others
    records = [f.data for f in frames.generate(6) if len(f.data) < 1500][:500]
    sent = [rig.folder / f"sent{port}.pcap" for port in (1, 2)]
    # A NIC has as many queues as captures; each worker sends on its own.
    return sent, [*rig.vdevs([[records]], tx_queues=0, more=",infinite_rx=1"),
                  "--vdev", f"sim_nic1,tx_pcap={sent[0]},{settings}",
                  "--vdev", f"sim_nic2,tx_pcap={sent[1]}"]


def test_reset_that_has_to_wait_is_tried_again(rig, folder, monkeypatch):
    """As virtual functions answer while their host's side is not done."""
    _, ports = simulated(rig, "reset_waits=2")
    events = Events(rig, folder, monkeypatch, ports=ports)
    events.event(1, RESET, "port 1 is up again")
    run = events.finish()
    assert run.stderr.count("port 1 stays down: its reset has to wait, and is tried every second") == 1
    assert (run.stats["ports"][1]["state"], run.stats["ports"][1]["resets"]) == ("up", 1), run


def test_reset_keeps_the_address_that_frames_are_sent_from(rig, folder, monkeypatch):
    """Though the driver has made up another one."""
    (sent, _), ports = simulated(rig, "vf=1")
    events = Events(rig, folder, monkeypatch, ports=ports)
    before = events.text()
    events.event(1, RESET, "port 1 is up again")
    run = events.finish()
    port = run.stats["ports"][1]
    assert port["resets"] == 1 and port["tx"] > 1000, (run, before)
    sources = {frame[6:12].hex(":") for frame in pcapfile.read(sent)}
    assert sources == {port["mac"].lower()}, run
    assert "Interface MAC" not in run.stderr and "another MAC" not in run.stderr, run


def test_drivers_are_asked_to_tell_of_removals(rig, folder, monkeypatch):
    """mlx5 and others raise the event only then, as the plugin does for simulated NICs."""
    _, ports = simulated(rig, "vf=0")
    events = Events(rig, folder, monkeypatch, ports=ports)
    events.event(1, REMOVED, "port 1 is gone: it was removed")
    run = events.finish()
    assert [port["state"] for port in run.stats["ports"]] == ["up", "gone", "up"], run


def test_port_that_is_removed_is_dropped_for_and_the_others_go_on(events):
    events.event(1, REMOVED, "port 1 is gone: it was removed")
    events.event(2, RESET, "port 2 is up again")
    run = events.finish()
    ports = run.stats["ports"]
    assert [port["state"] for port in ports] == ["up", "gone", "up"], run
    assert run.stats["drops"]["port_down"] > 0, run
    totals = run.stats["totals"]
    assert totals["rx"] == totals["tx"] + totals["dropped"], run
    assert ports[2]["tx"] > 0, run
    variants = {n["name"]: n["variant"] for n in run.stats["nodes"]}
    assert (variants["ethdev_tx-1"], variants["ethdev_rx-1-0"]) == ("parked", "parked"), run
    assert "gone" in events.text().splitlines()[-4], events.text()
    assert [port["link"] for port in ports] == ["up", "unknown", "up"], run


def test_receiving_port_that_is_removed_leaves_the_program_running(events):
    events.event(0, REMOVED, "port 0 is gone: it was removed")
    assert events.process.poll() is None
    events.event(1, RESET, "port 1 is up again")
    run = events.finish()
    assert [port["state"] for port in run.stats["ports"]] == ["gone", "up", "up"], run
    totals = run.stats["totals"]
    assert totals["rx"] == totals["tx"] + totals["dropped"] > 0, run
