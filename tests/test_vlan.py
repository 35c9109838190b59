# SPDX-License-Identifier: BSD-3-Clause
"""VLAN interfaces: tags are checked, popped and pushed as an oracle says, which shares nothing with
the C code, for each kind of tag, from and to each kind of interface."""

import functools
import json
import os
import random
import shutil
import struct
from collections import Counter, defaultdict
from pathlib import Path

import pytest

import frames
import l3fwd
import oracle
import pcapfile
import test_capture
from l3fwd import SILENT
from live import Live, await_work
from test_routes_live import replay, to_nowhere
from test_forward import routes_for

STACKED = "vlan_stacked"
VLANS = ("0:1", "0:100", "0:4094", "1:100", "2:7")
# Prefixes of frames.ROUTES lead to all of these by turns.
INTERFACES = ("0", "0.1", "0.100", "0.4094", "1", "1.100", "2", "2.7")
ROUTES = [r._replace(port=INTERFACES[i % len(INTERFACES)]) for i, r in enumerate(frames.ROUTES)]


def options(vlans=VLANS):
    return [f"--vlan={vlan}" for vlan in vlans]


def untag(frame, port, vlans):
    """The interface that a frame came to, and the frame without its tag; or a reason."""
    if len(frame) < 18:
        return str(port), frame
    outer, tci, inner = struct.unpack_from("!HHH", frame, 12)
    if outer not in oracle.ETHERTYPES_VLAN:
        return str(port), frame
    if inner in oracle.ETHERTYPES_VLAN:
        return STACKED, None
    vid = tci % 4096
    if outer != 0x8100 or (vid != 0 and f"{port}:{vid}" not in vlans):
        return str(port), frame  # for pkt_cls, which refuses tags
    return f"{port}.{vid}" if vid else str(port), frame[:12] + frame[16:]


def tag(frame, interface):
    port, _, vid = interface.partition(".")
    if vid:
        frame = frame[:12] + struct.pack("!HH", 0x8100, int(vid)) + frame[12:]
    return int(port), frame


class Expected:
    """What becomes of frames that come to a port."""

    def __init__(self, records, routes, macs, vlans=VLANS, port=0):
        table = oracle.Table(routes)
        interfaces = {r.port: macs[int(str(r.port).split(".")[0])] for r in routes}
        self.drops, self.rx, self.tx = Counter(), Counter(), Counter()
        self.out = defaultdict(list)  # (interface in, port out, interface out): frames, in order
        for record in records:
            origin, frame = untag(record, port, vlans)
            if origin == STACKED:
                self.drops[STACKED] += 1
                continue
            self.rx[origin] += 1
            what = oracle.verdict(frame, table, interfaces, 1518)
            if isinstance(what, oracle.Forwarded):
                self.tx[what.port] += 1
                to, sent = tag(what.frame, what.port)
                self.out[origin, to, what.port].append(sent)
            else:
                self.drops[what] += 1


def assert_forwarded(run, expected, queues=1):
    """Frames from an interface to another keep their order; those of different ones may be
    exchanged. Returns how many frames that accounts for."""
    compared = 0
    ports = {to for _, to, _ in expected.out}
    for port in ports:
        origin = defaultdict(list)
        for (came, to, left), made in expected.out.items():
            if to == port:
                for frame in made:
                    origin[frame].append((came, left))
        got = defaultdict(list)
        for frame in [f for q in range(queues) for f in run.sent(port, q)]:
            assert origin[frame], f"port {port} sent what the oracle does not: {frame[:64].hex()}"
            got[origin[frame].pop(0)].append(frame)
        for (came, to, left), made in expected.out.items():
            if to == port:
                compared += l3fwd.assert_same_frames(made, got[came, left], f"{came} to {left}")
    drops = Counter({k: v for k, v in run.stats["drops"].items() if v > 0})
    assert drops == expected.drops, run
    return compared + drops.total()


def assert_counted(run, expected, vlans=VLANS):
    """The interfaces' own counters."""
    names = [vlan.replace(":", ".") for vlan in vlans]
    assert [f"{v['port']}.{v['vid']}" for v in run.stats["vlans"]] == names
    for name, counted in zip(names, run.stats["vlans"]):
        assert (counted["rx"], counted["tx"]) == (expected.rx[name], expected.tx[name]), (name, run)
        assert f"VLAN {name}  rx {counted['rx']}  tx {counted['tx']}\n" in run.stdout


@functools.cache
def tagged():
    """Generated frames, with tags of all kinds and without."""
    rng = random.Random(18)
    made = []
    for frame in (f.data for f in frames.generate(5)):
        priority = rng.randrange(16) << 12
        vid = rng.choice((0, 1, 2, 99, 100, 4093, 4094, 4095, rng.randrange(4096)))
        how = rng.randrange(16)
        if how < 5 or len(frame) < 12:
            made.append(frame)
            continue
        outer = 0x8100 if how < 14 else rng.choice(oracle.ETHERTYPES_VLAN)
        inner = b""
        if how == 15 or (how == 14 and rng.randrange(2)):
            inner = struct.pack("!HH", rng.choice(oracle.ETHERTYPES_VLAN), rng.randrange(65536))
        frame = frame[:12] + struct.pack("!HH", outer, priority | vid) + inner + frame[12:]
        made.append(frame[: rng.choice((None, None, None, 15, 16, 17, 18, 19))])
    return made


@pytest.mark.parametrize("more", [[], ["--deny=ip4_forward"]], ids=["fused", "apart"])
def test_generated_frames_with_tags_go_as_the_oracle_says(rig, more):
    records = tagged()
    run = rig.forward([[records], SILENT, SILENT], *options(), rig.routes(ROUTES), *more)
    expected = Expected(records, ROUTES, run.macs)
    assert assert_forwarded(run, expected) == len(records) >= 20000
    assert_counted(run, expected)
    missing = {*oracle.REASONS, STACKED} - {*expected.drops}
    assert missing == {"tx_full"}, missing
    assert set(expected.rx) == {"0", "0.1", "0.100", "0.4094"} and set(expected.tx) == {*INTERFACES}


def test_without_vlans_tags_stay_unknown(rig):
    records = tagged()
    run = rig.forward([[records], SILENT, SILENT], rig.routes(frames.ROUTES))
    expected = oracle.forward(records, frames.ROUTES, run.macs)
    assert run.assert_agrees(expected) == len(records)
    assert run.stats["vlans"] == [] and STACKED not in run.stats["drops"]
    assert run.stats["drops"]["vlan_unknown"] > 5000
    assert not [n for n in run.stats["nodes"] if n["name"].startswith("vlan")]


def good(vid, count):
    """Frames of a VLAN to 198.18.1.0/24."""
    name = f"0.{vid}" if vid else "0"
    return [tag(f, name)[1] for f in frames.traffic("198.18.1.1", count)]


def some_of_each(count=400):
    """As many without a tag, of two VLANs, and of one without an interface."""
    records = good(0, count) + good(100, count) + good(1, count) + good(5, count)
    random.Random(1).shuffle(records)
    return records


LINES = ("198.18.1.0/25 port 1.100 mac 02:00:00:00:00:01\n"
         "198.18.1.128/25 port 0 mac 02:00:00:00:00:02\n")
PAIR = [oracle.route("198.18.1.0/25", "1.100", "02:00:00:00:00:01"),
        oracle.route("198.18.1.128/25", "0", "02:00:00:00:00:02")]


@pytest.mark.parametrize("mode", ["poll", "dispatch", "eventdev"])
def test_vlans_of_two_workers(rig, mode):
    records = some_of_each()
    app = {"poll": [], "dispatch": ["--mode=dispatch", "--pin=ip4_lookup=2", "--pin=vlan_p*=1"],
           "eventdev": ["--mode=eventdev"]}[mode]
    eal = ["--vdev", "event_sw0"] if mode == "eventdev" else []
    run = rig.forward([[records], SILENT], *app, *options(VLANS[:4]), "--vlan=1:200",
                      f"--routes={rig.write('routes', LINES)}", config=[(0, 0, 1), (1, 0, 2)],
                      tx_queues=2, workers=2, eal=eal)
    expected = Expected(records, PAIR, run.macs)
    sent = Counter(f for p in range(2) for q in range(2) for f in run.sent(p, q))
    assert sent == Counter(f for made in expected.out.values() for f in made)
    assert sent.total() == 1200 and run.stats["drops"]["vlan_unknown"] == 400
    assert {(v["port"], v["vid"]): (v["rx"], v["tx"]) for v in run.stats["vlans"]} == {
        (0, 1): (400, 0), (0, 100): (400, 0), (0, 4094): (0, 0),
        (1, 100): (0, expected.tx["1.100"]), (1, 200): (0, 0)}


@pytest.mark.parametrize("offload", [[], ["--offload=sim:generic"]], ids=["software", "marks"])
def test_rules_see_tags_and_routes_do_not(rig, offload):
    """A class by VLAN is dropped before interfaces are; others are counted, and routed."""
    records = some_of_each()
    policy = rig.write("policy", "rule 1 class 7 vlan 100\nrule 2 class 8 dst 198.18.1.0/24\n")
    run = rig.forward([[records], SILENT], *options(VLANS[:4]), f"--policy={policy}", *offload,
                      f"--routes={rig.write('routes', LINES)}", "--drop-class=7")
    assert (run.stats["classes"]["7"], run.stats["classes"]["8"]) == (400, 1200), run
    assert run.stats["drops"]["denied"] == run.stats["drops"]["vlan_unknown"] == 400
    assert {v["vid"]: v["rx"] for v in run.stats["vlans"] if v["port"] == 0} == {
        1: 400, 100: 0, 4094: 0}
    assert len(run.sent(0)) + len(run.sent(1)) == 800


def test_what_a_full_port_refuses_has_got_its_tag(rig):
    """More goes to a net_ring device at a time than it takes."""
    loop = good(0, 200) * 50
    routes = [oracle.route("198.18.1.0/24", "1.7", "02:00:00:00:00:01")]
    run = rig.run(["-p", "0x3", "--config=(0,0,1),(1,0,1)", "--vlan=1:7", rig.routes(routes),
                   *rig.until_idle()], [*rig.vdevs([[loop]]), "--vdev", "net_ring0"])
    drops, (vlan,) = run.stats["drops"], run.stats["vlans"]
    port = next(p for p in run.stats["ports"] if p["port"] == 1)
    assert drops["tx_full"] > 0 and vlan["tx"] == port["tx"] + drops["tx_full"], run
    assert vlan["rx"] == port["rx"] == port["tx"] > 0, run


def test_features_see_packets_without_tags(rig):
    run = rig.forward([[some_of_each()], SILENT], *options(VLANS[:4]),
                      f"--routes={rig.write('routes', LINES)}",
                      "--feature=ip4_filter@0:dst=198.18.1.0/24")
    assert run.stats["drops"]["filtered"] == 1200, run
    assert run.stats["drops"]["vlan_unknown"] == 400, run


@pytest.mark.skipif(shutil.which("tshark") is None,
                    reason="tshark is not installed; tools/setup test does it")
def test_traces_and_captures_find_tagged_packets_by_address(rig):
    """They find them at all nodes, and as they are there: with a tag, or without."""
    wanted, path = good(100, 20), rig.folder / "capture.pcapng"
    records = wanted + [tag(f, "0.100")[1] for f in frames.traffic("198.18.2.1", 30)]
    points = ("vlan_input-0", "vlan_pop-0.100", "pkt_cls", "vlan_push-1.100/ethdev_tx-1")
    run = rig.forward([[records], SILENT], *options(VLANS[:4]),
                      f"--routes={rig.write('routes', LINES)}", "--trace=9:dst=198.18.1.0/24",
                      f"--capture={path},{''.join(f'at={p},' for p in points)}dst=198.18.1.0/24")
    assert "worker-1: 9 packets traced, 72 records, 0 lost" in run.stdout, run
    got = defaultdict(list)
    for packet in test_capture.packets(path):
        got[packet["frame.comment"].removeprefix("worker-1 ")].append(packet["data"])
    assert got["vlan_input-0"] == got["vlan_pop-0.100"] == wanted
    assert got["pkt_cls"] == [untag(f, 0, VLANS)[1] for f in wanted]
    assert got["vlan_push-1.100/ethdev_tx-1"] == run.sent(1) and len(run.sent(1)) == 20


def test_routes_to_vlans_are_written_as_they_are_read(rig):
    dump = rig.folder / "dump"
    rig.forward([SILENT, SILENT], *options(VLANS[:4]), f"--routes={rig.write('routes', LINES)}",
                f"--dump-routes={dump}")
    assert dump.read_text() == "# 2 routes\n" + LINES


def test_routes_move_to_and_from_vlans_while_packets_flow(rig):
    """Each reload changes one of two routes' interface. Each frame goes as before or as after."""
    def version(n):
        return [oracle.route("198.18.1.0/24", ("0.1", "0", "0.100")[n % 3], "02:00:00:00:00:01")]

    records = good(0, 30) + good(100, 30) + good(1, 30)
    live = Live(rig, version(0), [*l3fwd.options(1, [(0, 0, 1)]), *options(VLANS[:3])],
                replay(rig, 1, {0: records}, to_nowhere), telemetry=True)
    for n in range(1, 31):
        assert live.reload(version(n)) == (0, 1, 0, 0)
        told = live.ask("/l3fwd/route,198.18.1.1")
        assert (told["port"], told.get("vlan")) == ((0, 1), (0, None), (0, 100))[n % 3]
        await_work(live.process, 0.01)
    live.stop()
    stats = json.loads((rig.folder / "stats.json").read_text())
    sent = {(v["port"], v["vid"]): v["tx"] for v in stats["vlans"]}
    assert sent.pop((0, 4094)) == 0 and sorted(sent) == [(0, 1), (0, 100)]
    assert min(*sent.values(), stats["totals"]["tx"] - sum(sent.values())) > 1000, stats
    assert stats["totals"]["dropped"] == 0 and stats["mbufs"]["in_use"] == 0


@pytest.mark.parametrize("app, said", [
    (["--vlan=0"], "--vlan: port: '0' is not PORT:VID, as in 0:100"),
    (["--vlan=0:"], "--vlan: VID: '' is not a number from 1 to 4094"),
    (["--vlan=0:0"], "--vlan: VID: '0' is not a number from 1 to 4094"),
    (["--vlan=0:4095"], "--vlan: VID: '4095' is not a number from 1 to 4094"),
    (["--vlan=0:1", "--vlan=0:01"], "--vlan: 0:1 is given twice"),
    (["--vlan=3:1"], "--vlan: port 3 is not one of -p"),
    (["--vlan=0:1", "--policy=p", "--steer=1=0,02:00:00:00:00:01"],
     "--vlan: cannot be combined with --steer: steered packets bypass the nodes that remove tags"),
])
def test_refused_options(rig, app, said):
    rig.write("p", "")
    run = rig.run([*l3fwd.options(1, [(0, 0, 1)]), *app], rig.vdevs([SILENT]))
    assert run.code != 0 and said in run.stderr, run


@pytest.mark.parametrize("port, said", [
    ("0.5", "port: 0.5 is no VLAN interface; of this port there are 0.1, 0.100"),
    ("1.5", "port: 1.5 is no VLAN interface; of this port there are none"),
    ("1.", "port: VLAN '' is not a number from 1 to 4094"),
    ("0.4095", "port: VLAN '4095' is not a number from 1 to 4094"),
    ("0.1.1", "port: VLAN '1.1' is not a number from 1 to 4094"),
    ("2.1", "port: 2 is not in use; in use are 0, 1"),
    (".1", "port: '' is not a port number"),
])
def test_refused_routes(rig, port, said):
    path = rig.write("routes", f"# first\n10.0.0.0/8 port {port} mac 02:00:00:00:00:01\n")
    ports = l3fwd.options(2, [(0, 0, 1), (1, 0, 1)])
    run = rig.run([*ports, *options(VLANS[:2]), f"--routes={path}"], rig.vdevs([SILENT, SILENT]))
    assert run.code != 0 and f"{path}:2: {said}" in run.stderr, run


def test_captured_frames_with_tags_go_as_the_oracle_says(rig):
    """Frames of all captures, those that have no tag with tags of all kinds by turns."""
    folder = os.environ.get("HALYARD_DATA")
    if not folder:
        pytest.skip("HALYARD_DATA is not set: no captures")
    records = []
    for path in sorted(Path(folder, "pcap").glob("*.pcap")):
        records += pcapfile.read(path)[:300]
    records = [f for f in records if len(f) <= 1510]
    assert len(records) > 3500
    vids = (None, 0, 1, 100, 4094, 5)
    there = [f if vids[i % 6] is None else f[:12] + struct.pack("!HH", 0x8100, vids[i % 6]) + f[12:]
             for i, f in enumerate(records)]
    routes = [r._replace(port=INTERFACES[i % len(INTERFACES)])
              for i, r in enumerate(routes_for(records))]
    run = rig.forward([[there], SILENT, SILENT], *options(), rig.routes(routes))
    expected = Expected(there, routes, run.macs)
    assert assert_forwarded(run, expected) == len(there)
    assert_counted(run, expected)
    assert expected.drops["vlan_unknown"] > 500 and expected.drops[STACKED] > 50
    assert min(expected.tx[name] for name in INTERFACES) > 50, expected.tx


def test_groups_have_members_behind_vlans(rig):
    """Half of the flows each, with and without a tag; the group is written as it was read."""
    line = ("198.18.1.0/24 group port 0.100 mac 02:00:00:00:00:01 weight 2, "
            "port 0 mac 02:00:00:00:00:02, port 1.100 mac 02:00:00:00:00:03\n")
    records = []
    for i, f in enumerate(good(1, 2000)):
        end = 18 + 4 * (f[18] & 15)
        header = f[18:30] + struct.pack("!I", i * 2654435761 % 2**32) + f[34:end]
        header = header[:10] + struct.pack("!H", oracle.checksum(header)) + header[12:]
        records.append(f[:18] + header + f[end:])
    dump = rig.folder / "dump"
    run = rig.forward([[records], SILENT], *options(VLANS[:4]), f"--dump-routes={dump}",
                      f"--routes={rig.write('routes', line)}")
    tagged_out = [f for f in run.sent(0) if f[12:14] == b"\x81\x00"]
    shares = [len(tagged_out), len(run.sent(0)) - len(tagged_out), len(run.sent(1))]
    assert sum(shares) == 2000 and 850 < shares[0] < 1150, (shares, run)
    assert 400 < shares[1] < 600 and 400 < shares[2] < 600, shares
    assert {(v["port"], v["vid"]): v["tx"] for v in run.stats["vlans"]} == {
        (0, 1): 0, (0, 100): shares[0], (0, 4094): 0, (1, 100): shares[2]}
    assert sorted(dump.read_text().splitlines()[1].split("group")[1].split(",")) == \
        sorted(line.strip().split("group")[1].split(","))
