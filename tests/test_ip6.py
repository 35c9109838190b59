# SPDX-License-Identifier: BSD-3-Clause
"""IPv6, end to end: what l3fwd-graph sends and drops is what the oracle says, byte for byte and in
order, beside IPv4 and without it, for real captures, generated frames, and a real table."""

import functools
import lzma
import os
import random
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path

import pytest

import frames
import frames6
import l3fwd
import oracle
import pcapfile
from l3fwd import SILENT, candidates
from live import Live
from test_forward import routes_for
from test_routes_live import ASTRAY, difference, dump, mac, replay, to_nowhere

SEED = 6
COUNT = 20000


@functools.cache
def generated(max_pkt_len):
    return frames6.generate(SEED, max_pkt_len)


@functools.cache
def mixed(max_pkt_len):
    """Both families at random: runs of one, and single frames of the other."""
    rng = random.Random(SEED)
    pools = [list(generated(max_pkt_len)), list(frames.generate(SEED, max_pkt_len))]
    made = []
    while all(pools):
        kind = rng.randrange(4)
        for _ in range(rng.randrange(1, 200)):
            pool = pools[kind if kind < 2 else rng.randrange(2)]
            if pool:
                made.append(pool.pop())
    return made + pools[0] + pools[1]


def check(rig, records, routes, *options, max_pkt_len=1518):
    """Forwards and compares."""
    run = rig.forward([[records], SILENT, SILENT], *options, f"--max-pkt-len={max_pkt_len}",
                      rig.routes(routes))
    expected = oracle.forward(records, routes, run.macs, max_pkt_len)
    assert run.assert_agrees(expected) == len(records)
    return run, expected


def runnable(family):
    """The variants of a family that this machine can run."""
    return [c["variant"] for c in candidates(family) if c["fate"] in ("chosen", "outscored")]


def test_generator_knows_what_it_makes():
    made = generated(1518)
    assert len(made) >= COUNT
    macs = {port: bytes([2, 0, 0, 0, 9, port]) for port in range(frames6.PORTS)}
    result = oracle.forward([f.data for f in made], frames6.BOTH, macs)
    for frame, what in zip(made, result.verdicts):
        assert frame.expect == (None if isinstance(what, oracle.Forwarded) else what), frame
    unseen = [r for r, n in result.drops.items() if n == 0]
    assert unseen == ["vlan_unknown", "bad_checksum", "tx_full"]
    seen = frames.groups(made)
    faults = list(frames6.FAULTS)
    adjacent = set(zip(faults, faults[1:])) - {("jumbogram", "beyond_frame")}
    assert adjacent <= set(frames6.PAIRS)
    assert all(seen[f"pair/{a}+{b}"] == 100 for a, b in frames6.PAIRS)
    assert seen["chain/hop_by_hop"] > 1000 and seen["chain/other"] > 1000


@pytest.mark.parametrize("address, martian", [
    ("::", True), ("::1", True), ("::2", False), ("0:0:0:1::", False), ("::1:0:0:1", False),
    ("fe7f:ffff::", False), ("fe80::", True), ("febf::1", True), ("fec0::", False),
    ("feff::", False), ("ff00::", True), ("ffff::", True), ("fc00::1", False),
])
def test_oracle_knows_martians(address, martian):
    assert oracle.is_martian6(int(IPv6Address(address))) is martian


def test_oracle_forwards_a_packet_worked_out_by_hand():
    macs = {0: bytes.fromhex("020000000900"), 1: bytes.fromhex("020000000901")}
    routes = [oracle.route("2001:db8::/32", 1, "02:00:00:00:00:aa")]
    packet = bytes.fromhex("600000000004 11 40 20010db8000000000000000000000001"
                           "20010db8000000000000000000000002 01020304")
    frame = bytes.fromhex("020000000001 020000000002 86dd") + packet
    sent = bytes.fromhex("0200000000aa 020000000901 86dd") + packet[:7] + b"\x3f" + packet[8:]
    assert oracle.verdict(frame, oracle.Table(routes), macs, 1518) == oracle.Forwarded(1, sent)
    assert oracle.verdict(frame, oracle.Table([]), macs, 1518) == "not_ip4"


@pytest.mark.parametrize("max_pkt_len", [1518, 9600])
def test_generated_frames_are_forwarded_by_each_lookup(rig, max_pkt_len):
    records = [f.data for f in generated(max_pkt_len)]
    variants = runnable("ip6_lookup")
    assert "scalar" in variants and len(variants) > 1
    for variant in variants:
        run, expected = check(rig, records, frames6.BOTH, f"--node=ip6_lookup={variant}",
                              max_pkt_len=max_pkt_len)
        assert run.node("ip6_lookup")["variant"] == variant, run
        unseen = [r for r in expected.drops if run.stats["drops"][r] == 0]
        assert unseen == ["vlan_unknown", "bad_checksum", "tx_full"], run


def test_hop_by_hop_options_are_counted_and_not_processed(rig):
    records = [f.data for f in generated(1518)]
    run, expected = check(rig, records, frames6.BOTH)
    reached = ("no_route", "ttl_expired", "mtu_exceeded")
    wanted = sum(f.data[20] == 0 and f.data[12:14] == b"\x86\xdd" and
                 (isinstance(what, oracle.Forwarded) or what in reached)
                 for f, what in zip(generated(1518), expected.verdicts) if len(f.data) > 20)
    counted = run.node("ip6_lookup")["counters"]
    assert counted == {"hop_by_hop": wanted} and wanted > 1000


def test_both_families_are_parted_by_each_classifier(rig):
    records = [f.data for f in mixed(9600)]
    assert len(records) > 2 * COUNT
    for variant in runnable("pkt_cls"):
        run, expected = check(rig, records, frames6.BOTH, f"--node=pkt_cls={variant}",
                              max_pkt_len=9600)
        unseen = [r for r in expected.drops if run.stats["drops"][r] == 0]
        assert unseen == ["tx_full"], run


def test_without_an_ip6_prefix_frames_are_not_ip4(rig):
    records = [f.data for f in mixed(1518)]
    run, expected = check(rig, records, frames.ROUTES)
    assert expected.drops["not_ip4"] > COUNT / 2 and run.stats["drops"]["martian_src"] == 0
    assert run.node("ip6_lookup")["objs"] == 0


@pytest.mark.parametrize("options, eal", [
    (["--mode=dispatch", "--pin=ip6_lookup=1"], []),
    (["--mode=eventdev"], ["--vdev=event_sw0"]),
], ids=["dispatch", "eventdev"])
def test_other_modes_forward_both_families(rig, options, eal):
    records = [f.data for f in mixed(1518)][:4000]
    run = rig.forward([[records], SILENT, SILENT], *options, rig.routes(frames6.BOTH), eal=eal)
    expected = oracle.forward(records, frames6.BOTH, run.macs)
    for port, sent in expected.out.items():
        assert sorted(run.sent(port)) == sorted(sent), run
    assert {r: run.stats["drops"][r] for r in expected.drops} == expected.drops, run


def both_routes(records):
    """Routes for the destinations of a capture, of both families; one in three IPv6 addresses is
    missed."""
    found = sorted({r[38:54] for r in records if len(r) >= 54 and r[12:14] == b"\x86\xdd"})
    routes = {}
    for i, address in enumerate(found):
        length = (128, 0, 64, 48, 0, 127)[i % 6]
        if length:
            prefix = IPv6Network((address, length), strict=False)
            routes.setdefault(prefix, oracle.Route(prefix, i % 3, bytes([2, 0, 0, 6, 0, i % 256])))
    prefix = IPv6Network("2001:db8:dead::/48")
    routes.setdefault(prefix, oracle.Route(prefix, 0, bytes([2, 0, 0, 6, 1, 0])))
    return routes_for(records) + list(routes.values())


def test_capture_is_forwarded_with_both_families_routed(rig, capture):
    records = pcapfile.read(capture)
    check(rig, records, both_routes(records))


def real_prefixes():
    data = os.environ.get("HALYARD_DATA")
    if not data:
        pytest.skip("HALYARD_DATA is not set")
    with lzma.open(Path(data) / "routes" / "ipv6.cidr.xz", "rt") as lines:
        return [line.strip() for line in lines]


def test_a_real_table_forwards(rig):
    rng = random.Random(SEED)
    prefixes = real_prefixes()
    assert len(prefixes) > 70000
    routes = [oracle.Route(IPv6Network(p), i % 3, bytes([2, 0, 0, 7, i >> 8 & 1, i & 255]))
              for i, p in enumerate(prefixes)]
    records = []
    for i in range(COUNT):
        spec = frames6.Spec(rng)
        within = rng.choice(routes).prefix
        spec.destination = int(within.network_address) + rng.randrange(within.num_addresses)
        if i % 4 == 0:
            spec.destination ^= 1 << rng.randrange(60, 120)
        spec.payload = b""
        records.append(spec.frame())
    run, expected = check(rig, records, routes)
    assert run.stats["totals"]["tx"] > COUNT / 2 and 0 < expected.drops["no_route"] < COUNT / 4


BAD_LINES = {
    "2001:db8:: port 0 mac 02:00:00:00:00:01": "'2001:db8::' is not ADDRESS/LENGTH",
    "2001:db8:/32 port 0 mac 02:00:00:00:00:01": "'2001:db8:' is not an IPv6 address",
    "2001:db8::1::/32 port 0 mac 02:00:00:00:00:01": "is not an IPv6 address",
    "2001:db8::%eth0/32 port 0 mac 02:00:00:00:00:01": "is not an IPv6 address",
    "2001:db8::/129 port 0 mac 02:00:00:00:00:01": "length '129' is not a number from 0 to 128",
    "2001:db8::/ port 0 mac 02:00:00:00:00:01": "length '' is not a number from 0 to 128",
    "2001:db8::/32 port 0 mac 02:00:00:00:00:01": None,
    "2001:db9::/31 port 0 mac 02:00:00:00:00:01": "2001:db9::/31 has bits set beyond its length",
    "::1/0 port 0 mac 02:00:00:00:00:01": "::1/0 has bits set beyond its length",
    "2001:db8::/32 port 9 mac 02:00:00:00:00:01": "port: 9 is not in use",
}


@pytest.mark.parametrize("line", BAD_LINES)
def test_bad_lines_are_refused_by_line_and_field(rig, line):
    path = rig.write("bad", f"10.0.0.0/8 port 0 mac 02:00:00:00:00:01\n{line}\n")
    run = rig.run([*l3fwd.options(1, [(0, 0, 1)]), "--explain", f"--routes={path}"],
                  rig.vdevs([SILENT]))
    if BAD_LINES[line] is None:
        assert run.code == 0, run
    else:
        assert run.code != 0 and f"{path}:2: " in run.stderr and BAD_LINES[line] in run.stderr, run


def test_a_prefix_that_occurs_twice_is_refused_in_any_spelling(rig):
    path = rig.write("bad", "2001:db8::/32 port 0 mac 02:00:00:00:00:01\n"
                            "2001:0db8:0::/32 port 0 mac 02:00:00:00:00:01\n")
    run = rig.run([*l3fwd.options(1, [(0, 0, 1)]), "--explain", f"--routes={path}"],
                  rig.vdevs([SILENT]))
    assert run.code != 0 and f"{path}:2: prefix: is a duplicate of line 1" in run.stderr, run


# Destinations, and the ports that some version of the file leads them to.
AIMS = {"2001:db8:1:2::3": (1, 2), "2a00:1234:5678:9abc::1": (2, 3), "2400:cb00::5": (3, 1)}


def version(rng):
    """A file. The longest prefix that covers a destination leads to one of its ports; shorter ones
    lead astray."""
    found = {}
    for address, ports in AIMS.items():
        lengths = sorted(rng.sample(range(13, 129), 5)) + [0]
        for length in lengths:
            prefix = IPv6Network((address, length), strict=False)
            port = rng.choice(ports) if length == lengths[-2] else ASTRAY
            found[prefix] = oracle.Route(prefix, port, mac(rng.randrange(8)))
    for i in range(300):
        prefix = IPv6Network(((0x3FFE << 112) + (rng.randrange(1 << 20) << 60), 68))
        found[prefix] = oracle.Route(prefix, ASTRAY, mac(i))
    return list(found.values())


def packets(addresses):
    """Good packets to some addresses, in turn."""
    made = []
    for i in range(16):
        for address in addresses:
            spec = frames6.Spec(random.Random(i))
            spec.destination, spec.payload = int(IPv6Address(address)), bytes(8)
            made.append(spec.frame())
    return made


def test_packets_follow_every_reload_and_none_goes_astray(rig):
    """At full speed, by the counters, with both families in the file."""
    rng = random.Random(9)
    old = version(rng)
    live = Live(rig, old, l3fwd.options(4, [(0, 0, 1)]),
                replay(rig, 4, {0: packets(AIMS)}, to_nowhere))
    for _ in range(100):
        new = version(rng) + [oracle.route("10.0.0.0/8", ASTRAY, "02:00:00:00:00:01")]
        assert live.reload(new) == difference(old, new)
        old = new
    run = live.stop()
    sent = {port["port"]: port["tx"] for port in run.stats["ports"]}
    assert sent.pop(ASTRAY) == 0 and min(sent.values()) > 0, run
    assert run.stats["totals"]["dropped"] == 0, run


def test_the_first_prefix_turns_ip6_on_and_the_last_turns_it_off(rig):
    four = [oracle.route("10.0.0.0/8", 1, "02:00:00:00:00:01")]
    six = [oracle.route("2001:db8::/32", 1, "02:00:00:00:00:01")]
    live = Live(rig, four, [*l3fwd.options(2, [(0, 0, 1)]), f"--dump-routes={rig.folder}/dump"],
                replay(rig, 2, {0: packets(["2001:db8::5"])}, to_nowhere), telemetry=True)

    def sent():
        return live.ask("/ethdev/stats,1")["opackets"]

    assert live.ask("/l3fwd/routes")["ip6_routes"] == 0 and sent() == 0
    for _ in range(5):
        assert live.reload(four + six) == (1, 0, 0, 1)
        live.wait(lambda before=sent(): sent() > before + 1000, "IPv6 packets")
        assert live.ask("/l3fwd/routes")["ip6_routes"] == 1
        found = live.ask("/l3fwd/route,2001:db8::5")
        assert (found["prefix"], found["port"]) == ("2001:db8::/32", 1)
        assert live.ask("/l3fwd/route,2001:db9::5")["prefix"] == "none"
        assert dump(live) == "# 2 routes\n" + "".join(r.line() + "\n" for r in four + six)
        bad = "".join(r.line() + "\n" for r in four) + "2001:db8::/129 port 1 mac x\n"
        assert "length '129'" in live.reload_bad(bad)
        live.wait(lambda before=sent(): sent() > before + 1000, "IPv6 packets")
        assert live.reload(four) == (0, 0, 1, 1)
        live.wait(lambda: sent() == sent(), "the end of IPv6 packets")
    run = live.stop()
    assert run.stats["drops"]["not_ip4"] > 0 and run.stats["totals"]["tx"] > 5000, run
    others = {r: n for r, n in run.stats["drops"].items() if n > 0 and r != "not_ip4"}
    assert set(others) <= {"no_route"}, run  # of bursts that were checked when it went off
