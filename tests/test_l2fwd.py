# SPDX-License-Identifier: BSD-3-Clause
"""l2fwd-graph as DPDK's l2fwd: pairs of ports, MAC addresses, ports of each lcore, periods; and every
bad value with its message."""

import json
import random
import re
import signal

import pytest

import l3fwd
import live
from l3fwd import SILENT
from test_cli import assert_refused
from test_closed_files import closing

COUNT = 300


@pytest.fixture(name="rig")
def l2_rig(rig):
    """A rig that runs l2fwd-graph."""
    rig.program = l3fwd.L2FWD
    return rig


def frames_of(port, count=COUNT):
    """Frames of any type and length, no two alike, that name the port they come from."""
    rng = random.Random(port)
    return [bytes([2, 0x5E, port, 0, i >> 8, i & 255]) + rng.randbytes(rng.randint(8, 1508))
            for i in range(count)]


def mask(ports):
    """The option for the first ports."""
    return ["-p", format((1 << ports) - 1, "x")]


def forward(rig, ports, *app, workers=1, eal=()):
    """Forwards all that arrives on these ports."""
    return rig.run([*mask(len(ports)), *rig.until_idle(), *app],
                   [*rig.vdevs(ports, tx_queues=workers), *eal], workers)


def updated(run, port, frames):
    """What leaves by a port: as from its own address, to one with its number."""
    return [bytes([2, 0, 0, 0, 0, port]) + run.macs[port] + frame[12:] for frame in frames]


def assert_peers(run, peers, sent):
    """Asserts that each port's frames left by its peer, as sent() says. Returns how many."""
    assert run.stats["peers"] == {str(port): peer for port, peer in peers.items()}, run
    assert {p["port"] for p in run.stats["ports"]} == set(peers), run
    compared = sum(l3fwd.assert_same_frames(sent(peer, frames_of(port)), run.sent(peer),
                                            f"port {port} to {peer}")
                   for port, peer in peers.items())
    assert run.stats["totals"] == {"rx": compared, "copied": 0, "tx": compared, "dropped": 0}, run
    return compared


def test_adjacent_ports_are_paired_and_addresses_updated(rig):
    run = forward(rig, [[frames_of(p)] for p in range(4)])
    assert assert_peers(run, {0: 1, 1: 0, 2: 3, 3: 2},
                        lambda port, frames: updated(run, port, frames)) == 4 * COUNT
    assert run.stats["mac_updating"] is True and "MAC addresses are updated.\n" in run.stdout, run
    assert "port 2 to port 3, queue 0 on lcore 1\n" in run.stdout, run


def test_last_port_of_an_odd_number_sends_its_own_frames(rig):
    run = forward(rig, [[frames_of(p)] for p in range(3)])
    assert assert_peers(run, {0: 1, 1: 0, 2: 2},
                        lambda port, frames: updated(run, port, frames)) == 3 * COUNT


def test_ports_are_paired_in_the_order_of_the_mask(rig):
    run = rig.run(["-p", "0xd", *rig.until_idle()], rig.vdevs([[frames_of(p)] for p in range(4)]))
    assert assert_peers(run, {0: 2, 2: 0, 3: 3},
                        lambda port, frames: updated(run, port, frames)) == 3 * COUNT
    assert run.sent(1) == []


@pytest.mark.parametrize("app, kept", [
    (["--no-mac-updating"], True),
    (["--mac-updating"], False),
    (["--no-mac-updating", "--mac-updating"], False),
    (["--mac-updating", "--no-mac-updating"], True),
], ids=lambda v: "+".join(v) if isinstance(v, list) else None)
def test_the_last_option_says_whether_addresses_are_updated(rig, app, kept):
    run = forward(rig, [[frames_of(0)], [frames_of(1)]], *app)
    sent = (lambda _port, frames: frames) if kept else (
        lambda port, frames: updated(run, port, frames))
    assert assert_peers(run, {0: 1, 1: 0}, sent) == 2 * COUNT
    assert run.stats["mac_updating"] is not kept, run
    assert f"MAC addresses are {'kept' if kept else 'updated'}.\n" in run.stdout, run


@pytest.mark.parametrize("app", [[], ["--no-mac-updating"]], ids=["updated", "kept"])
def test_frame_without_a_header_is_dropped_and_counted(rig, app):
    frames = [bytes(range(n)) for n in (1, 6, 12, 13, 14, 15, 60)]
    run = forward(rig, [[frames], SILENT], *app)
    assert run.stats["totals"] == {"rx": 7, "copied": 0, "tx": 3, "dropped": 4}, run
    assert run.stats["drops"]["truncated"] == 4, run
    assert run.sent(1) == (frames[4:] if app else updated(run, 1, frames[4:]))


@pytest.mark.parametrize("portmap, peers", [
    ("(0,3),(1,2)", {0: 3, 3: 0, 1: 2, 2: 1}),
    (" ( 3 , 0x0 ) , (2,1)", {0: 3, 3: 0, 1: 2, 2: 1}),
    ("(1,3)", {1: 3, 3: 1}),
    ("(2,2),(0,1)", {2: 2, 0: 1, 1: 0}),
])
def test_portmap_pairs_ports_and_leaves_others_out(rig, portmap, peers):
    run = forward(rig, [[frames_of(p)] for p in range(4)], f"--portmap={portmap}")
    assert assert_peers(run, peers,
                        lambda port, frames: updated(run, port, frames)) == len(peers) * COUNT
    for port in set(range(4)) - set(peers):
        assert run.sent(port) == []


def test_the_last_portmap_counts(rig):
    run = forward(rig, [[frames_of(p)] for p in range(3)], "--portmap=(0,2)", "--portmap=(0,1)")
    assert assert_peers(run, {0: 1, 1: 0},
                        lambda port, frames: updated(run, port, frames)) == 2 * COUNT


PLACES = {
    ("-q", "1"): {0: 1, 1: 2, 2: 3},
    ("-q", "2"): {0: 1, 1: 1, 2: 2},
    ("-q3",): {0: 1, 1: 1, 2: 1},
    ("-q", "15"): {0: 1, 1: 1, 2: 1},
    ("-q", "1", "--portmap=(1,2)"): {1: 1, 2: 2},
    (): {0: 1, 1: 2, 2: 3},
    ("--config=(0,0,2),(1,0,1),(2,0,2)",): {0: 2, 1: 1, 2: 2},
}


@pytest.mark.parametrize("app", PLACES, ids=lambda app: " ".join(app) or "default")
def test_workers_poll_so_many_ports(rig, app):
    """Transmit queues show the worker: each has its own."""
    places = PLACES[app]
    run = forward(rig, [[frames_of(p)] for p in range(3)], *app, workers=3)
    lcores = sorted(set(places.values()))
    assert [worker["lcore"] for worker in run.stats["workers"]] == lcores, run
    compared = 0
    for port, lcore in places.items():
        peer = run.stats["peers"][str(port)]
        assert f"port {port} to port {peer}, queue 0 on lcore {lcore}\n" in run.stdout, run
        compared += l3fwd.assert_same_frames(
            updated(run, peer, frames_of(port)), run.sent(peer, lcores.index(lcore)), port)
    assert compared == len(places) * COUNT == run.stats["totals"]["tx"], run


def test_several_queues_of_a_port_go_to_its_peer(rig):
    queues = [frames_of(0), frames_of(2)]
    run = rig.run([*mask(2), "--config=(0,0,1),(0,1,2),(1,0,1)", *rig.until_idle()],
                  rig.vdevs([queues, SILENT], tx_queues=2), workers=2)
    assert "port 0 to port 1, queue 0 on lcore 1, queue 1 on lcore 2\n" in run.stdout, run
    for q, frames in enumerate(queues):
        l3fwd.assert_same_frames(updated(run, 1, frames), run.sent(1, q), f"queue {q}")
    assert run.stats["totals"]["tx"] == 2 * COUNT, run


@pytest.mark.parametrize("device", ["event_sw0", "event_dsw0"])
def test_frames_come_by_an_event_device(rig, device):
    run = forward(rig, [[frames_of(p)] for p in range(3)], "--mode=eventdev",
                  eal=["--vdev", device])
    assert assert_peers(run, {0: 1, 1: 0, 2: 2},
                        lambda port, frames: updated(run, port, frames)) == 3 * COUNT
    assert "port 1 to port 0\n" in run.stdout, run


def test_nodes_are_pinned_to_another_worker(rig):
    run = rig.run([*mask(2), "--mode=dispatch", "--config=(0,0,1),(1,0,1)", "--pin=l2_patch-*=2",
                   *rig.until_idle()],
                  rig.vdevs([[frames_of(0)], [frames_of(1)]], tx_queues=2), workers=2)
    assert run.stats["totals"]["tx"] == 2 * COUNT, run
    for port in (0, 1):
        frames = updated(run, port, frames_of(1 - port))
        l3fwd.assert_same_frames(frames, run.sent(port, 1), f"port {port}")
    assert run.stats["dispatch"]["l2_patch-0"]["packets"] == COUNT, run


def endless(rig, *app, **how):
    """Starts a run whose input never ends, and whose output goes nowhere."""
    return rig.start([*mask(1), f"--json={rig.folder}/stats.json", *app],
                     rig.vdevs([[frames_of(0, 10)]], tx_queues=0, more=",infinite_rx=1"), **how)


def tables(run):
    """How many tables of nodes were printed."""
    return len(re.findall(r"^l2_patch-0 ", run.stdout, re.M))


@pytest.mark.parametrize("app, least, most", [
    (["-T", "1"], 3, 9), (["-T1"], 3, 9), (["--stats=1"], 3, 9),
    (["-T", "0"], 1, 1), (["-T", "86400"], 1, 1), ([], 1, 1)])
def test_tables_are_printed_every_period_and_at_the_end(rig, app, least, most):
    run = rig.finish(endless(rig, "--duration=4", *app))
    assert run.stats["totals"]["rx"] > 0, run
    assert least <= tables(run) <= most, run


@pytest.mark.slow
def test_without_t_a_table_is_printed_after_ten_seconds(rig):
    run = rig.run([*mask(2), "--duration=13", f"--json={rig.folder}/stats.json"],
                  rig.vdevs([[frames_of(0, 10)], SILENT]))
    assert run.code == 0 and tables(run) == 2, run


@pytest.mark.parametrize("eal", [
    ["--vdev", "net_ring0", "--vdev", "net_ring1"],
    ["--vdev", "net_null0", "--vdev", "net_null1"],
], ids=["net_ring", "net_null"])
def test_what_came_in_went_out_or_was_dropped(rig, eal):
    """net_ring gives back what it is given: nothing. net_null gives frames for ever."""
    run = rig.run([*mask(2), "-P", "-q", "2", "--duration=1", f"--json={rig.folder}/stats.json"],
                  eal)
    assert run.stats["totals"]["rx"] == run.stats["totals"]["tx"] + run.stats["totals"]["dropped"]
    assert (run.stats["totals"]["rx"] > 10000) == ("net_null0" in eal[1]), run


BAD = {
    "mask missing": ("", ["-p", "is required"]),
    "mask of a missing port": ("-p 7", ["-p", "port 2", "2 ports are available"]),
    "mask is no number": ("-p x", ["-p", "'x'", "hexadecimal"]),
    "q of 0": ("-p 3 -q 0", ["-q", "'0'", "1 to 15"]),
    "q of 16": ("-p 3 -q 16", ["-q", "'16'", "1 to 15"]),
    "q is no number": ("-p 3 -q x", ["-q", "'x'", "1 to 15"]),
    "q beside config": ("-p 3 -q 1 --config=(0,0,1)", ["-q", "--config"]),
    "q of an event device": ("-p 3 -q 1 --mode=eventdev", ["-q", "--mode=eventdev"]),
    "q of too few lcores": ("-p 3 -q 1", ["-q", "2 ports, 1 on each lcore, need 2 workers",
                                          "names 1"]),
    "period is no number": ("-p 3 -T x", ["-T", "'x'", "0 to 86400"]),
    "period negative": ("-p 3 -T -1", ["-T", "'-1'", "0 to 86400"]),
    "period too long": ("-p 3 -T 86401", ["-T", "'86401'", "0 to 86400"]),
    "period twice": ("-p 3 -T 1 --stats=1", ["-T", "--stats"]),
    "portmap empty": ("-p 3 --portmap=", ["--portmap", "(port,port)"]),
    "portmap without parentheses": ("-p 3 --portmap=0,1", ["--portmap", "'0,1'", "(port,port)"]),
    "portmap of one field": ("-p 3 --portmap=(0)", ["--portmap", "(port,port)"]),
    "portmap of three fields": ("-p 3 --portmap=(0,1,1)", ["--portmap", "(port,port)"]),
    "portmap not closed": ("-p 3 --portmap=(0,1", ["--portmap", "(port,port)"]),
    "portmap is no number": ("-p 3 --portmap=(0,x)", ["--portmap", "(port,port)"]),
    "portmap negative": ("-p 3 --portmap=(0,-1)", ["--portmap", "(port,port)"]),
    "portmap too large": ("-p 3 --portmap=(0,65536)", ["--portmap", "(port,port)"]),
    "portmap with junk": ("-p 3 --portmap=(0,1)x", ["--portmap", "(port,port)"]),
    "portmap ends with a comma": ("-p 3 --portmap=(0,1),", ["--portmap", "(port,port)"]),
    "portmap of a port not enabled": ("-p 1 --portmap=(0,1)", ["--portmap",
                                                               "port 1 is not one of -p"]),
    "portmap of an absent port": ("-p 3 --portmap=(0,64)", ["--portmap",
                                                            "port 64 is not one of -p"]),
    "portmap of a port twice": ("-p 3 --portmap=(0,1),(1,1)", ["--portmap",
                                                               "port 1 is in two pairs"]),
    "portmap of a pair twice": ("-p 3 --portmap=(0,1),(0,1)", ["--portmap",
                                                               "port 0 is in two pairs"]),
    "portmap of too many pairs": ("-p 3 --portmap=" + ",".join(["(0,0)"] * 33),
                                  ["--portmap", "more than 32 pairs"]),
    "config of a port left out": ("-p 3 --portmap=(0,0) --config=(0,0,1),(1,0,1)",
                                  ["--config", "port 1 is in no pair of --portmap"]),
    "mac-updating with a value": ("-p 3 --mac-updating=no", ["mac-updating"]),
    "an option of l3fwd-graph": ("-p 3 --routes=/dev/null", ["--routes"]),
    "a word that is no option": ("-p 3 onward", ["onward"]),
}


@pytest.mark.parametrize("case", BAD, ids=lambda name: name.replace(" ", "-"))
def test_bad_command_line_is_refused(rig, case):
    words, named = BAD[case]
    run = rig.run([*words.split(), "--until-idle=100"], rig.vdevs([[frames_of(0)], SILENT]))
    assert_refused(run, named)


def test_help_names_every_option(rig):
    run = rig.run(["--help"], rig.vdevs([SILENT]))
    assert run.code == 0, run
    for option in ("usage: l2fwd-graph", "-p MASK", "-P", "-q NQ", "-T PERIOD", "--portmap",
                   "--mac-updating", "--no-mac-updating", "--config", "--mode", "--pin", "--node",
                   "--explain", "--user", "--json", "--capture", "--version"):
        assert option in run.stdout, f"{option}\n{run}"


def test_explain_tells_of_the_nodes(rig):
    run = rig.run([*mask(2), "--explain=json"], rig.vdevs([SILENT, SILENT]))
    assert run.code == 0, run
    chosen = [(s["target"], s["variant"]) for s in json.loads(run.stdout)["selections"]
              if s["family"] == "l2_patch"]
    assert chosen == [("port 0", "scalar"), ("port 1", "scalar")], run


def test_graph_has_no_other_nodes(rig):
    run = forward(rig, [[frames_of(0)], [frames_of(1)]])
    assert {node["family"] for node in run.stats["nodes"]} == {"ethdev_rx", "l2_patch", "ethdev_tx",
                                                              "pkt_drop"}, run


def test_closed_standard_files_are_null(rig):
    process = endless(rig, "-T1", under=closing((0, 1, 2)))
    live.until(lambda: live.workers(process), "a worker", process)
    live.await_work(process)
    process.send_signal(signal.SIGTERM)
    run = rig.finish(process)
    assert run.stats["totals"]["rx"] > 0, run


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM], ids=lambda s: s.name)
def test_signal_stops_cleanly(rig, sig):
    process = endless(rig)
    live.until(lambda: live.workers(process), "a worker", process)
    live.await_work(process)
    process.send_signal(sig)
    run = rig.finish(process)
    assert run.stats["totals"]["rx"] > 0, run


def test_own_options_are_in_the_book_and_in_the_help(rig):
    usage = rig.run(["--help"], rig.vdevs([SILENT])).stdout
    own = usage.partition("\nForwarding:\n")[2].partition("\n\n")[0]
    page = (l3fwd.ROOT / "doc" / "l2fwd-graph.rst").read_text()
    in_help = re.findall(r"(?m)^  (--?[A-Za-z][A-Za-z-]*\S*(?: [A-Z]\S*)?)", own)
    in_book = re.findall(r"(?m)^\.\. option:: +(.*)$", page)
    assert in_help == in_book and len(in_book) == 6


def test_drop_reasons_are_in_the_book(rig):
    bridge = rig.write("bridge", "port 0 access 1\n")
    section = (l3fwd.ROOT / "doc" / "l2fwd-graph.rst").read_text().partition("\nDrops\n")[2]
    rows = section.partition("``tx_full``")[0]
    named = {reason for row in re.findall(r"(?m)^   \* - (.*)$", rows)
             for reason in re.findall(r"``(\w+)``", row)}
    dropped = set()
    for app in ([], [f"--bridge={bridge}"]):
        dropped |= set(forward(rig, [SILENT], *app).stats["drops"])
    assert dropped - named == {"port_down", "tx_full"} and named <= dropped
