# SPDX-License-Identifier: BSD-3-Clause
"""l2fwd-graph --bridge: frames, tags and counts seen from outside; reloads, telemetry and refusals. What
a bridge makes of any frame is for the model that test_l2_model.py compares with."""

import random
import re
import signal

import pytest

import l3fwd
import live
from l3fwd import SILENT
from test_cli import assert_refused
from test_closed_files import closing
from test_files_read import KINDS, placed
from test_l2fwd import mask

BROADCAST = b"\xff" * 6
BRIDGE = """# Three ports of two VLANs
port 0 access 10
port 1 trunk 10,20 native 20
port 2 trunk 10-20
static 02:00:00:00:00:fe vlan 10 local
"""


@pytest.fixture(name="rig")
def l2_rig(rig):
    """A rig that runs l2fwd-graph."""
    rig.program = l3fwd.L2FWD
    return rig


def mac(n):
    """A station's address."""
    return bytes([2, 0, 0, 0, n >> 8, n & 255])


def frame(dst, src, vid=None, kind=0x8100, size=60):
    """A frame between stations, given by number or address."""
    tag = b"" if vid is None else kind.to_bytes(2, "big") + vid.to_bytes(2, "big")
    dst, src = (mac(a) if isinstance(a, int) else a for a in (dst, src))
    rng = random.Random(dst + src)
    return dst + src + tag + b"\x88\xb5" + rng.randbytes(size - 14)


def tagged(data, vid, kind=0x8100):
    """A frame with a tag added."""
    return data[:12] + kind.to_bytes(2, "big") + vid.to_bytes(2, "big") + data[12:]


def bridge(rig, ports, text=BRIDGE, *app, workers=1, eal=()):
    """Forwards all that arrives on these ports, through the bridge of a file."""
    path = rig.write("bridge", text)
    return rig.run([*mask(len(ports)), f"--bridge={path}", *rig.until_idle(), *app],
                   [*rig.vdevs(ports, tx_queues=workers), *eal], workers)


def test_broadcasts_leave_by_all_other_ports_with_their_tags(rig):
    frames = [frame(BROADCAST, n) for n in range(1, 101)]
    run = bridge(rig, [[frames], SILENT, SILENT])
    assert run.stats["totals"] == {"rx": 100, "copied": 100, "tx": 200, "dropped": 0}, run
    wanted = [tagged(f, 10) for f in frames]
    assert l3fwd.assert_same_frames(wanted, run.sent(1), "trunk with a native VLAN") == 100
    assert l3fwd.assert_same_frames(wanted, run.sent(2), "trunk") == 100
    assert run.sent(0) == []
    told = run.stats["bridge"]
    assert (told["learned"], told["entries"], told["static"], told["flooded"]) == (100, 101, 1, 100)
    assert re.search(r"^total   rx 100 \+ copied 100 = tx 200 \+ dropped 0$", run.stdout, re.M), run
    assert "bridge: 101 of 65536 entries, 1 of them static" in run.stdout, run
    assert {node["family"] for node in run.stats["nodes"]} == {
        "ethdev_rx", "l2_input", "l2_learn", "l2_lookup", "l2_output", "ethdev_tx",
        "", "pkt_drop"}, run


def test_frames_go_to_static_entries_and_keep_or_lose_their_tags(rig):
    text = BRIDGE + "".join(f"static {mac(n).hex(':')} vlan {vid} port {port}\n"
                            for n, vid, port in ((1, 10, 0), (2, 20, 1), (3, 20, 2), (4, 10, 2)))
    native, pair = frame(3, 2), frame(2, 3, 20)
    run = bridge(rig, [[[frame(4, 1), frame(0xfe, 1)]], [[native]], [[pair, frame(1, 4, 10)]]],
                 text)
    assert run.sent(0) == [frame(1, 4)] and run.sent(1) == [frame(2, 3)], run
    assert sorted(run.sent(2)) == sorted([tagged(frame(4, 1), 10), tagged(native, 20)]), run
    assert run.stats["totals"] == {"rx": 5, "copied": 0, "tx": 4, "dropped": 1}, run
    assert run.stats["drops"]["no_router"] == 1, run


def test_service_tags_are_added_outside_of_customer_tags(rig):
    text = "tag 0x88A8\nport 0 access 100\nport 1 trunk 100\n"
    frames = [frame(BROADCAST, 1), frame(BROADCAST, 2, 7)]
    back = [frame(BROADCAST, 3, 100, 0x88a8), tagged(frame(BROADCAST, 4, 7), 100, 0x88a8),
            frame(BROADCAST, 5, 100)]
    run = bridge(rig, [[frames], [back]], text)
    assert run.sent(1) == [tagged(f, 100, 0x88a8) for f in frames], run
    assert run.sent(0) == [frame(BROADCAST, 3), frame(BROADCAST, 4, 7)], run
    assert run.stats["drops"]["not_admitted"] == 1 == run.stats["totals"]["dropped"], run


def test_frames_that_must_not_enter_are_dropped_by_reason(rig):
    frames = {
        "truncated": frame(1, 2)[:13], "reserved_dst": frame(bytes.fromhex("0180c2000000"), 2),
        "bad_src": frame(1, BROADCAST), "vlan_invalid": frame(1, 2, 4095),
        "not_admitted": frame(1, 2), "vlan_filtered": frame(1, 2, 30),
        "nowhere": frame(BROADCAST, 2, 11),
    }
    run = bridge(rig, [SILENT, SILENT, [list(frames.values())]])
    assert {r: n for r, n in run.stats["drops"].items() if n > 0} == dict.fromkeys(frames, 1), run
    assert run.stats["totals"] == {"rx": 7, "copied": 0, "tx": 0, "dropped": 7}, run


def test_two_workers_flood_and_every_frame_is_accounted_for(rig):
    frames = [[frame(BROADCAST, 1024 * p + n) for n in range(500)] for p in range(1, 4)]
    text = "port 0 access 1\nport 1 access 1\nport 2 access 1\n"
    run = bridge(rig, [[f] for f in frames], text, "-q", "2", workers=2)
    assert run.stats["totals"] == {"rx": 1500, "copied": 1500, "tx": 3000, "dropped": 0}, run
    for port in range(3):
        sent = run.sent(port, 0) + run.sent(port, 1)
        assert sorted(sent) == sorted(frames[port - 1] + frames[port - 2]), port
    assert run.stats["bridge"]["learned"] + run.stats["bridge"]["refused"] + sum(
        node["counters"].get("ring_full", 0) for node in run.stats["nodes"]) == 1500, run


@pytest.mark.parametrize("workers, config", [
    (1, "(0,0,1),(1,0,1)"), (2, "(0,0,1),(0,1,2),(1,0,1)")], ids=["one", "two"])
def test_storm_limit_is_a_ports_whichever_workers_receive_its_frames(rig, workers, config):
    """A tenth of a second's frames pass at once, and few after that: one worker alone gets there,
    and two that were not divided among would pass twice as many."""
    text = "port 0 access 1 storm broadcast 10000\nport 1 access 1\n"
    queues = [[frame(BROADCAST, n % 500) for n in range(1500)] for q in range(workers)]
    run = bridge(rig, [queues, SILENT], text, f"--config={config}", workers=workers)
    passed, dropped = run.stats["totals"]["tx"], run.stats["drops"]["storm_broadcast"]
    assert passed + dropped == 1500 * workers, run
    assert 1000 <= passed < 1500, run


class Live(live.Live):
    """A running l2fwd-graph."""

    WHAT = "bridge"
    CHANGED = re.compile(r"^bridge: (\d+) of (\d+) ports changed, (\d+) static entries added, "
                         r"(\d+) deleted, in (\d+) ms$", re.M)
    UNCHANGED = re.compile(r"^l2fwd-graph: bridge unchanged: (.*)$", re.M)


def running(rig, text=BRIDGE, *app, **how):
    """Broadcasts of two stations for ever, from port 0."""
    frames = [frame(BROADCAST, 1), frame(BROADCAST, 2)]
    eal = [*rig.vdevs([[frames]], tx_queues=0, more=",infinite_rx=1"),
           "--vdev", "net_null1", "--vdev", "net_null2,no-rx=1"]
    return Live(rig, text, [*mask(3), "--config=(0,0,1),(2,0,1)", *app], eal, **how)


def sent(run):
    """Frames that left, by port."""
    return [port["tx"] for port in run.stats["ports"]]


def test_reload_changes_ports_and_static_entries(rig):
    run = running(rig)
    live.await_work(run.process)
    changed = BRIDGE.replace("port 2 trunk 10-20", "port 2 trunk 20") + (
        f"static {mac(9).hex(':')} vlan 20 port 1\n")
    assert run.reload(changed) == (1, 3, 1, 0)
    assert run.reload() == (0, 3, 0, 0)
    assert run.reload(BRIDGE) == (1, 3, 0, 1)
    _, one, two = sent(run.stop())
    assert one > two > 0


BAD_FILES = {
    "a port that is not there": ("port 3 access 1\n", 6, "3"),
    "a port twice": ("port 1 access 1\n", 6, "duplicate of line 3"),
    "a VLAN too high": ("static 02:00:00:00:00:01 vlan 4095 port 0\n", 6, "4095"),
    "no statement": ("spanning-tree on\n", 6, "spanning-tree"),
}


@pytest.mark.parametrize("case", BAD_FILES, ids=lambda name: name.replace(" ", "-"))
def test_bad_file_is_refused_by_line(rig, case):
    more, line, named = BAD_FILES[case]
    run = bridge(rig, [[[frame(1, 2)]], SILENT, SILENT], BRIDGE + more)
    assert_refused(run, [f"l2fwd-graph: --bridge: {rig.folder}/bridge:{line}: ", named])


def test_file_that_leaves_a_port_out_is_refused(rig):
    run = bridge(rig, [SILENT, SILENT, SILENT, SILENT])
    assert_refused(run, ["--bridge", "port 3"])


def test_bad_reload_is_refused_and_all_goes_on(rig):
    run = running(rig)
    for more, line, named in BAD_FILES.values():
        why = run.reload_bad(BRIDGE + more)
        assert f"{rig.folder}/bridge:{line}: " in why and named in why, why
    assert "entries" in run.reload_bad("entries 7\n" + BRIDGE)
    assert run.reload(BRIDGE) == (0, 3, 0, 0)
    assert min(sent(run.stop())[1:]) > 0


def test_sighup_without_a_bridge_says_what_it_needs(rig):
    process = rig.start([*mask(1), f"--json={rig.folder}/stats.json"],
                        rig.vdevs([[[frame(1, 2)]]], tx_queues=0, more=",infinite_rx=1"))
    live.await_handlers(process, signal.SIGHUP)
    live.until(lambda: live.workers(process), "a worker", process)
    live.await_work(process)
    process.send_signal(signal.SIGHUP)
    live.await_ticks(process)
    process.send_signal(signal.SIGTERM)
    run = rig.finish(process)
    assert "l2fwd-graph: nothing changed: SIGHUP reads a file again, which requires --bridge\n" in (
        run.stderr), run
    assert run.stats["totals"]["rx"] > 0


def test_telemetry_shows_and_changes_the_bridge(rig):
    run = running(rig, telemetry=True)
    run.wait(lambda: run.ask("/halyard/l2/stats").get("entries") == 3, "two learned entries")
    assert [p["state"] for p in run.ask("/halyard/l2/ports").values()] == ["forwarding"] * 3
    assert "error" not in run.ask(f"/halyard/l2/add,{mac(9).hex(':')} vlan 20 port 1")
    assert run.ask("/halyard/l2/stats")["entries"] == 4
    assert "error" in run.ask("/halyard/l2/add,nothing")
    assert "error" not in run.ask("/halyard/l2/state,0 blocking")
    run.wait(lambda: run.ask("/halyard/l2/stats").get("entries") == 2, "a flush")
    assert [p["state"] for p in run.ask("/halyard/l2/ports").values()] == [
        "blocking", "forwarding", "forwarding"]
    live.await_work(run.process)
    ended = run.stop()
    assert ended.stats["drops"]["port_blocked"] > 0, ended


def test_telemetry_without_a_bridge_says_so(rig):
    process = rig.start([*mask(1), f"--json={rig.folder}/stats.json"],
                        rig.vdevs([[[frame(1, 2)]]], tx_queues=0, more=",infinite_rx=1"),
                        telemetry=True)

    def answers():
        try:
            return "error" not in live.ask(rig.folder, "/halyard/graph")
        except (StopIteration, ConnectionRefusedError):  # no socket, or nobody listens yet
            return False

    live.until(answers, "workers", process)
    assert "error" in live.ask(rig.folder, "/halyard/l2/stats")
    process.send_signal(signal.SIGTERM)
    assert rig.finish(process).stats["totals"]["rx"] > 0


@pytest.mark.slow
def test_entries_that_are_not_used_are_deleted_in_time(rig):
    path = rig.write("bridge", "age 1\nport 0 access 10\nport 1 access 10\n")
    frames = [frame(BROADCAST, n) for n in range(1, 51)]
    run = rig.run([*mask(2), f"--bridge={path}", "--duration=13",
                   f"--json={rig.folder}/stats.json"], rig.vdevs([[frames], SILENT]))
    told = run.stats["bridge"]
    assert (told["learned"], told["aged"], told["entries"]) == (50, 50, 0), run


@pytest.mark.parametrize("kind", KINDS)
def test_file_that_is_no_regular_file_is_refused(rig, kind):
    with placed(rig.folder / "input", kind) as path:
        run = rig.run([*mask(1), f"--bridge={path}", "--until-idle=100"], rig.vdevs([SILENT]))
    assert run.code == 1 and f"l2fwd-graph: --bridge: {path}: {KINDS[kind]}" in run.stderr, run


@pytest.mark.parametrize("output", ["--json=%s", "--export-dot=%s", "--capture=%s,at=l2_input"])
def test_no_output_is_written_over_the_file(rig, output):
    path = rig.write("bridge", "port 0 access 1\n")
    run = rig.run([*mask(1), f"--bridge={path}", "--until-idle=100", output % path],
                  rig.vdevs([[[frame(1, 2)]]]))
    assert_refused(run, [f"{output.split('=')[0]}: {path}: is the file of --bridge, which"])
    assert path.read_text() == "port 0 access 1\n"


def test_closed_standard_files_are_null(rig):
    run = running(rig, under=closing((0,)))
    live.await_work(run.process)
    assert min(sent(run.stop())[1:]) > 0


ALONE = {
    "--portmap=(0,1)": "--portmap", "--mac-updating": "--mac-updating",
    "--no-mac-updating": "--no-mac-updating", "--mode=eventdev": "--mode=eventdev",
    "--mode=dispatch --pin=l2_output=1": "--mode=dispatch",
}


@pytest.mark.parametrize("words", ALONE)
def test_options_of_pairs_and_of_other_modes_are_refused(rig, words):
    run = bridge(rig, [[[frame(1, 2)]], SILENT, SILENT], BRIDGE, *words.split())
    assert_refused(run, ["--bridge", ALONE[words], "cannot be combined"])
