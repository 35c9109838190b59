# SPDX-License-Identifier: BSD-3-Clause
"""--capture writes the packets that the oracle says, where they come by, for tshark to read; and
forwarding goes on as without."""

import shutil
import subprocess
from collections import Counter
from decimal import Decimal
from time import time

import pytest

import frames
import live
import oracle
import pcapfile
from l3fwd import SILENT, assert_same_frames, options
from test_forward import routes_for
from test_trace import CHAIN, DROPPER, mixed

pytestmark = pytest.mark.skipif(shutil.which("tshark") is None,
                                reason="tshark is not installed; tools/setup test does it")

FIELDS = ["frame.interface_name", "frame.packet_flags_direction", "frame.comment", "frame.cap_len",
          "frame.len", "frame.time_epoch"]
ROUTES = [oracle.route(f"198.18.{port}.0/24", port, f"02:00:5e:00:02:{port:02x}")
          for port in range(3)]
RING = "ring=33554432"  # more than a test makes: how soon it is written is up to the machine
IN, OUT, ANY = "0x00000001", "0x00000002", ""


def tshark(path, *args):
    """What tshark prints of a file; it must find nothing wrong with it."""
    done = subprocess.run(["tshark", "-n", "-r", path, *args], capture_output=True, text=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    complaints = [line for line in done.stderr.splitlines()
                  if line and not line.startswith("Running as user")]
    assert not complaints, complaints
    return done.stdout


def packets(path):
    """The packets of a file: a dictionary of FIELDS each, with their bytes."""
    plain = path.with_suffix(".pcap")
    tshark(path, "-F", "pcap", "-w", str(plain))
    lines = tshark(path, "-T", "fields", *[word for name in FIELDS for word in ("-e", name)])
    found = [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in lines.splitlines()]
    for packet, data in zip(found, pcapfile.read(plain), strict=True):
        packet["data"] = data
    return found


def said(run):
    """Packets in the file, lost, unsure, and points missing, as the program says."""
    (line,) = [line for line in run.stdout.splitlines() if line.startswith("capture: ")]
    words = line.rsplit(": ", 1)[1].replace(",", "").split()
    assert words[1::2] == ["packets", "lost", "unsure", "missing"], line
    return tuple(map(int, words[::2]))


def take(rig, records, routes, where, *app):
    """Forwards the records of port 0 with a capture. Returns the packets of each point by its
    name, and what the oracle says of all. What is forwarded must be what it says, too."""
    path = rig.folder / "capture.pcapng"
    at = "".join(f",at={point}" for point in where)
    run = rig.forward([[records], SILENT, SILENT], f"--capture={path},{RING}{at}",
                      rig.routes(routes), *app)
    assert run.code == 0, run
    expected = oracle.forward(records, routes, run.macs)
    run.assert_agrees(expected)
    found = packets(path)
    assert said(run) == (len(found), 0, 0, 0), run
    points = {f"worker-1 {point}": [] for point in where}
    for packet in found:
        points[packet["frame.comment"]].append(packet)
    return {point.removeprefix("worker-1 "): of for point, of in points.items()}, expected


def check_drops(rig, records, routes):
    """Captures at all reasons, and what is received and sent. Returns how many packets were
    compared, by point."""
    reasons = {reason: f"{CHAIN[DROPPER.get(reason, 1)]}:{reason}" for reason in oracle.REASONS
               if reason != "tx_full"}
    where = ["ethdev_rx-0-0", *(f"ethdev_tx-{port}" for port in range(3)), *reasons.values()]
    points, expected = take(rig, records, routes, where)
    seen = Counter()

    def compare(point, want, direction, port):
        have = points[point]
        assert_same_frames(want, [packet["data"] for packet in have], point)
        for packet, frame in zip(have, want):
            assert packet["frame.packet_flags_direction"] == direction, packet
            assert packet["frame.interface_name"] == f"net_pcap{port}", packet
            assert packet["frame.cap_len"] == packet["frame.len"] == str(len(frame)), packet
        seen[point] = len(want)

    compare("ethdev_rx-0-0", records, IN, 0)
    for port in range(3):
        compare(f"ethdev_tx-{port}", expected.out.get(port, []), OUT, port)
    for reason, point in reasons.items():
        compare(point, [frame for frame, verdict in zip(records, expected.verdicts)
                        if verdict == reason], ANY, 0)
    assert sum(seen.values()) == 2 * len(records)
    return seen


def test_every_reason_has_the_packets_that_the_oracle_says(rig):
    seen = check_drops(rig, mixed(), frames.ROUTES)
    assert len(seen) == 4 + len(oracle.REASONS) - 1 and min(seen.values()) > 0, seen


def test_real_packets_are_captured_where_the_oracle_says(rig, captures):
    records = [frame for path in captures for frame in pcapfile.read(path)[:20]]
    seen = check_drops(rig, records, routes_for(records))
    assert sum(seen.values()) >= 1000 and len(+seen) >= 9, seen


def test_an_edge_has_what_took_it_as_it_left(rig):
    records = frames.traffic("198.18.1.1", 100) + frames.traffic("198.18.2.1", 30)
    points, expected = take(rig, records, ROUTES,
                            ["ip4_rewrite/ethdev_tx-1", "ip4_rewrite/ethdev_tx-2", "ip4_rewrite"])
    for port in (1, 2):
        of = points[f"ip4_rewrite/ethdev_tx-{port}"]
        assert_same_frames(expected.out.get(port, []), [packet["data"] for packet in of], port)
        assert {packet["frame.interface_name"] for packet in of} == {f"net_pcap{port}"}
    assert expected.out[1] and expected.out[2]
    forwarded = [frame for frame, verdict in zip(records, expected.verdicts)
                 if isinstance(verdict, oracle.Forwarded)]
    assert_same_frames(forwarded, [packet["data"] for packet in points["ip4_rewrite"]], "rewrite")


def test_times_are_those_of_the_run(rig):
    before = time()
    points, _ = take(rig, frames.traffic("198.18.1.1", 200), ROUTES, ["ethdev_rx-0-0"])
    times = [Decimal(packet["frame.time_epoch"]) for packet in points["ethdev_rx-0-0"]]
    assert len(times) == 200 and times == sorted(times)
    assert before - 1 < times[0] and times[-1] < time() + 1
    assert any(stamp * 10**6 % 1 != 0 for stamp in times)  # nanoseconds


def test_a_filter_a_length_and_a_number_bound_it(rig):
    near, far = frames.traffic("198.18.1.63", 60), frames.traffic("198.18.1.64", 60)
    records = [frame for pair in zip(far, near) for frame in pair]
    points, _ = take(rig, records, ROUTES, ["pkt_cls"])
    assert len(points["pkt_cls"]) == 120
    path = rig.folder / "capture.pcapng"
    run = rig.forward([[records], SILENT, SILENT], rig.routes(ROUTES),
                      f"--capture={path},dst=198.18.1.0/26,max=25,at=pkt_cls,snaplen=33")
    found = packets(path)
    assert said(run) == (25, 0, 0, 0), run
    assert [packet["data"] for packet in found] == [frame[:33] for frame in near[:25]]
    assert [int(packet["frame.len"]) for packet in found] == [len(frame) for frame in near[:25]]
    assert run.stats["totals"]["rx"] == 120


def test_what_finds_no_room_is_counted_and_forwarded_all_the_same(rig):
    """A burst of frames that are longer than the ring: it takes two, and more if it is read
    meanwhile."""
    records = [frame[:34] + bytes(1400) for frame in frames.traffic("198.18.1.1", 64)]
    path = rig.folder / "capture.pcapng"
    run = rig.forward([[records], SILENT, SILENT], rig.routes(ROUTES),
                      f"--capture={path},at=ethdev_rx-0-0,ring=4096")
    found = [packet["data"] for packet in packets(path)]
    assert said(run) == (len(found), 64 - len(found), 0, 0), run
    assert found[:2] == records[:2] and len(set(records)) == 64
    left = iter(records)
    assert all(frame in left for frame in found)  # in their order
    run.assert_agrees(oracle.forward(records, ROUTES, run.macs))


def test_workers_capture_into_one_file(rig):
    records = frames.traffic("198.18.1.1", 40)
    path = rig.folder / "capture.pcapng"

    def forward(*more):
        words = [f"--capture={path}", "at=ethdev_rx-0-0", "at=ethdev_rx-1-0", "at=pkt_cls", *more]
        return rig.forward([[records], [records]], ",".join(words),
                           config=[(0, 0, 1), (1, 0, 2)], tx_queues=2, workers=2)

    run = forward("max=70")  # each worker would have 80
    assert said(run) == (len(packets(path)), 0, 0, 0) == (70, 0, 0, 0), run
    run = forward()
    found = Counter(packet["frame.comment"] for packet in packets(path))
    assert found == {"worker-1 ethdev_rx-0-0": 40, "worker-2 ethdev_rx-1-0": 40,
                     "worker-1 pkt_cls": 40, "worker-2 pkt_cls": 40}
    assert said(run) == (160, 0, 0, 0), run


def test_a_drop_reason_can_stand_behind_either_sign(rig):
    """! was the only one once; interactive shells expand it."""
    records = frames.traffic("203.0.113.9", 7)
    found = []
    for sign in ":!":
        path = rig.folder / "capture.pcapng"
        run = rig.forward([[records]], f"--capture={path},at=ip4_lookup{sign}no_route")
        assert said(run) == (7, 0, 0, 0), run
        found.append({packet["frame.comment"] for packet in packets(path)})
    assert found == [{"worker-1 ip4_lookup:no_route"}] * 2


@pytest.mark.parametrize("value, complaint", [
    ("", "does not begin with the name of a file"),
    ("-,at=pkt_cls", "does not begin with the name of a file"),
    ("F", "does not say where"),
    ("F,max=3", "does not say where"),
    ("F,at=pkt_cls:", "is not at=NODE, at=NODE/TARGET or at=NODE:REASON"),
    ("F,at=", "is not at=NODE, at=NODE/TARGET or at=NODE:REASON"),
    ("F,at=pkt_cls,port=3", "'port=3' is not accepted; at=NODE"),
    ("F,at=pkt_cls,max=0", "capture: max: '0' is not a number from 1 to 4294967295"),
    ("F,at=pkt_cls,snaplen=65536", "capture: snaplen: '65536' is not a number from 1 to 65535"),
    ("F,at=pkt_cls,ring=4095", "capture: ring: '4095' is not a number from 4096 to 1073741824"),
    ("F,at=pkt_cls,dst=1.2.3", "'1.2.3' is not an IPv4 address"),
    ("F,at=nowhere", "no worker has a node 'nowhere'"),
    ("F,at=pkt_cls/nowhere", "a node has no such edge or drop reason"),
    ("F,at=pkt_cls:no_route", "a node has no such edge or drop reason"),
    ("/dev/full,at=pkt_cls", "/dev/full: is not a regular file"),
    ("nowhere/F,at=pkt_cls", "nowhere/F: No such file or directory"),
    ("ROUTES,at=pkt_cls", "is the file of --routes, which is read"),
    ("F" + ",at=pkt_cls" * 17, "more than 16 points"),
])
def test_what_is_wrong_is_refused(rig, value, complaint):
    routes = rig.routes(ROUTES).removeprefix("--routes=")
    value = value.replace("ROUTES", routes)
    if value.startswith("F"):
        value = f"{rig.folder}/{value}"
    run = rig.forward([SILENT, SILENT, SILENT], f"--routes={routes}", f"--capture={value}")
    assert run.code == 1 and "l3fwd-graph: --capture: " in run.stderr, run
    assert complaint in run.stderr, run
    assert not list(rig.folder.glob("F*")) and (rig.folder / "routes").stat().st_size > 0


def test_telemetry_starts_and_stops_captures_while_packets_flow(rig):
    records = frames.traffic("198.18.1.1", 64)
    vdevs = rig.vdevs([[pcapfile.write(rig.folder / "in.pcap", records)]], more=",infinite_rx=1")
    running = live.Live(rig, ROUTES[:1], options(1, [(0, 0, 1)]), vdevs, telemetry=True)
    first, second = rig.folder / "first.pcapng", rig.folder / "second.pcapng"
    start = "/l3fwd/capture_start"
    assert running.ask("/l3fwd/capture") == {"running": 0, "packets": 0, "lost": 0, "unsure": 0,
                                             "missing": 0}
    assert running.ask("/l3fwd/capture_stop") == {"error": "no capture is running"}
    assert "a parameter is required" in running.ask(start)["error"]
    assert "'x' is not accepted" in running.ask(f"{start},{first},x")["error"]
    assert running.ask(f"{start},{first},at=pkt_cls,snaplen=0") == {
        "error": "snaplen: '0' is not a number from 1 to 65535"}
    assert running.ask(f"{start},{first},at=nowhere") == {"error": "no worker has a node 'nowhere'"}
    # As far as DPDK has room for one string, and the rest besides.
    long = "x" * 400
    answer = running.ask(f"{start},{first},{long},and,more")
    parts = [answer["error"], *answer["more"]]
    assert "".join(parts[1:]).startswith("x") and max(map(len, parts)) <= 127
    assert "".join(parts).replace(" ", "") == (
        f"'{long}' is not accepted; at=NODE, at=NODE/TARGET, at=NODE:REASON, src=PREFIX, "
        "dst=PREFIX, proto=NUMBER, max=N, snaplen=N, ring=BYTES and fifo are").replace(" ", "")
    assert parts[-1].endswith("fifo are") and len(parts) >= 5, parts
    assert not first.exists()

    # It may have them all before the answer is made.
    assert running.ask(f"{start},{first},at=ethdev_rx-0-0,max=5000")["packets"] <= 5000
    running.wait(lambda: not running.ask("/l3fwd/capture")["running"], "enough packets")
    assert running.ask("/l3fwd/capture")["packets"] == 5000

    assert running.ask(f"{start},{second},at=pkt_cls,at=ethdev_rx-0-0")["running"] == 1
    assert "is running" in running.ask(f"{start},{first},at=pkt_cls")["error"]
    running.wait(lambda: running.ask("/l3fwd/capture")["packets"] > 1000, "packets")
    stopped = running.ask("/l3fwd/capture_stop")
    assert stopped["running"] == 0
    sizes = [path.stat().st_size for path in (first, second)]
    run = running.stop()
    assert [path.stat().st_size for path in (first, second)] == sizes
    assert run.code == 0, run

    found = packets(first)
    assert len(found) == 5000
    assert all(packet["data"] == records[i % 64] for i, packet in enumerate(found))
    text = [line for line in run.stdout.splitlines() if line.startswith(f"capture: {second}")]
    assert text == [f"capture: {second}: {stopped['packets']} packets, {stopped['lost']} lost, "
                    "0 unsure, 0 missing"], run


def test_point_that_a_change_takes_away_is_told_as_missing(rig):
    """A feature that is disabled takes its node out of the graph, and brings it back."""
    records = frames.traffic("198.18.1.1", 64)
    vdevs = rig.vdevs([[pcapfile.write(rig.folder / "in.pcap", records)]], more=",infinite_rx=1")
    running = live.Live(rig, ROUTES[:1], [*options(1, [(0, 0, 1)]),
                                          "--feature=ip4_filter@0:proto=47"], vdevs, telemetry=True)
    path = rig.folder / "capture.pcapng"

    def missing():
        return running.ask("/l3fwd/capture")["missing"]

    started = running.ask(f"/l3fwd/capture_start,{path},at=pkt_cls,at=ip4_filter")
    assert (started.get("running"), started.get("missing")) == (1, 0), started
    for turn in ("off", "on", "off"):
        running.ask(f"/l3fwd/feature,ip4_filter,0,{turn}")
        running.wait(lambda turn=turn: missing() == (turn == "off"), f"a feature {turn}")
    assert running.ask("/l3fwd/capture_stop")["missing"] == 1
    run = running.stop()
    assert run.code == 0 and said(run)[3] == 1, run
    assert said(run)[0] == len(packets(path)) > 0, run
