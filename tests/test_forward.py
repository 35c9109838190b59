# SPDX-License-Identifier: BSD-3-Clause
"""Forwarding, end to end: what l3fwd-graph sends and drops is what the oracle says, byte for byte
and in order, for real captures and for generated frames, with each variant of ip4_lookup, and for
generated frames with each of pkt_cls."""

import functools
import lzma
import os
import random
import tempfile
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

import pytest

import frames
import oracle
import pcapfile
from l3fwd import SILENT, UNDER, explain, lookup_candidates, selection

PORTS = frames.PORTS
SEED = 4


@functools.cache
def generated(max_pkt_len):
    return frames.generate(SEED, max_pkt_len)


def routes_for(records):
    """Routes for the destinations of a capture. Of every three, one is missed; prefixes of many
    lengths cover the others and lead to all ports, some with a longer one inside. Martians are
    covered too: they must be dropped all the same."""
    found = sorted({r[30:34] for r in records if len(r) >= 34 and r[12:14] == b"\x08\x00"})
    martians = [IPv4Address(a) for a in found if oracle.is_martian(int.from_bytes(a, "big"))]
    others = [IPv4Address(a) for a in found if IPv4Address(a) not in martians]
    misses = others[1::3]
    routes = {}

    def cover(address, length):
        """Routes the largest prefix around an address that is no larger than asked and has no
        destination in it that is to be missed."""
        prefix = IPv4Network((address, length), strict=False)
        while any(miss in prefix for miss in misses):
            length += 1
            prefix = IPv4Network((address, length), strict=False)
        n = len(routes)
        mac = bytes([2, 0, 0, 1, 0, n % 256])
        routes.setdefault(prefix, oracle.Route(prefix, (int(address) + n) % PORTS, mac))

    for i, address in enumerate(a for a in others if a not in misses):
        cover(address, (8, 24, 31, 16, 32, 12, 23)[i % 7])
        if i % 2:
            cover(address, (32, 25, 32, 17)[i % 4])
    for address in martians:
        cover(address, 32)
    return list(routes.values())


def check(rig, variant, ports, records, routes, max_pkt_len=1518, family="ip4_lookup"):
    """Forwards and compares, with a variant or, without one, as the HAL selects. Returns what the
    program counted and what the oracle says."""
    chosen = [f"--node={family}={variant}"] if variant else []
    run = rig.forward(ports, *chosen, f"--max-pkt-len={max_pkt_len}", rig.routes(routes))
    expected = oracle.forward(records, routes, run.macs, max_pkt_len)
    compared = run.assert_agrees(expected)
    assert compared == len(records), f"{compared} of {len(records)} frames compared"
    assert variant in (None, run.node(family)["variant"]), run
    return run, expected


def test_capture_is_forwarded_as_the_oracle_says(rig, capture):
    records = pcapfile.read(capture)
    check(rig, None, [[capture], SILENT, SILENT], records, routes_for(records))


def test_captures_in_a_row_are_forwarded_as_the_oracle_says(rig, captures, variant):
    """Each variant gets all of them at once, where bursts are of frames of several."""
    records = [record for path in captures for record in pcapfile.read(path)]
    assert len(records) > 10 * len(captures)
    check(rig, variant, [[records], SILENT, SILENT], records, routes_for(records))


@pytest.mark.parametrize("max_pkt_len", [1518, 9600])
def test_generated_frames_are_forwarded_as_the_oracle_says(rig, variant, max_pkt_len):
    made = generated(max_pkt_len)
    assert len(made) >= 20000
    records = [frame.data for frame in made]
    run, expected = check(rig, variant, [[records], SILENT, SILENT], records, frames.ROUTES,
                          max_pkt_len)
    for frame, what in zip(made, expected.verdicts):
        assert frame.expect == (None if isinstance(what, oracle.Forwarded) else what), frame
    unseen = [reason for reason in oracle.REASONS if run.stats["drops"][reason] == 0]
    assert unseen == ["tx_full"], run


@functools.cache
def fusions():
    """The fusions of forwarding that run on this machine: it can run each variant of their chains."""
    with tempfile.TemporaryDirectory() as folder:
        explained = explain(folder)
    fits = {f"{s['family']}/{c['variant']}" for s in explained["selections"]
            for c in s["candidates"] if c["fate"] in ("chosen", "outscored")}
    return [f for f in explained["fusions"]
            if f["fusion"] != "l2_forward" and set(f["chain"]) <= fits]


@pytest.mark.parametrize("way", ["fused", "apart"])
def test_generated_frames_are_forwarded_alike_fused_and_apart(rig, way):
    records = [frame.data for frame in generated(9600)]
    assert "scalar" in [fusion["variant"] for fusion in fusions()]
    for fusion in fusions():
        chain = [f"--node={of.replace('/', '=')}" for of in fusion["chain"]]
        deny = [f"--deny={fusion['fusion']}"] if way == "apart" else []
        run = rig.forward([[records], SILENT, SILENT], *chain, *deny, "--max-pkt-len=9600",
                          rig.routes(frames.ROUTES))
        expected = oracle.forward(records, frames.ROUTES, run.macs, 9600)
        assert run.assert_agrees(expected) == len(records)
        said = f"  {fusion['fusion']:<16} {fusion['variant']:<10} fuses "
        assert (said in run.stdout) == (way == "fused"), run


def test_generated_frames_are_classified_as_the_oracle_says(rig, classifier):
    records = [frame.data for frame in generated(9600)]
    run, _ = check(rig, classifier, [[records], SILENT, SILENT], records, frames.ROUTES, 9600,
                   "pkt_cls")
    assert run.stats["drops"]["bad_checksum"] > 0, run


def test_default_route_takes_what_no_other_does(rig, variant):
    records = [frame.data for frame in generated(1518)]
    routes = [*frames.ROUTES, oracle.route("0.0.0.0/0", 2, "02:00:5e:00:02:00")]
    _, expected = check(rig, variant, [[records], SILENT, SILENT], records, routes)
    assert expected.drops["no_route"] == 0 and expected.drops["martian_dst"] > 0


def test_real_routing_table_is_looked_up_as_the_oracle_does(rig, variant):
    """All the prefixes of HALYARD_DATA, longer ones inside of some, and 200 next hops; half of the
    addresses are at the edges of prefixes, the others anywhere."""
    if not os.environ.get("HALYARD_DATA"):
        pytest.skip("HALYARD_DATA is not set: no real prefixes")
    routes = real_routes()
    rng = random.Random(SEED)
    records = []
    for i in range(20000):
        spec = frames.Spec(rng)
        spec.payload = i.to_bytes(4, "big")
        prefix = rng.choice(routes).prefix
        edge = int(prefix.network_address) + rng.choice((-1, 0, prefix.num_addresses - 1,
                                                         prefix.num_addresses))
        spec.destination = edge % (1 << 32) if i % 2 else rng.randrange(1 << 32)
        records.append(spec.frame())
    _, expected = check(rig, variant, [[records], SILENT, SILENT], records, routes)
    sent = {port: len(out) for port, out in expected.out.items()}
    assert min(sent.values()) > 1000 and expected.drops["no_route"] > 100, (sent, expected.drops)


@functools.cache
def real_routes():
    """The routes of that test."""
    with lzma.open(Path(os.environ["HALYARD_DATA"]) / "routes" / "ipv4.cidr.xz", "rt") as file:
        prefixes = [IPv4Network(line.strip()) for line in file]
    assert len(prefixes) >= 100_000
    longer = [IPv4Network((p[-1], 24), strict=False) for p in prefixes[::40] if p.prefixlen < 24]
    longer += [IPv4Network((p[1], 32)) for p in prefixes[::400] if p.prefixlen < 31]
    return [oracle.Route(prefix, i % PORTS, bytes([2, 0, 0, 0, 1, i % 200]))
            for i, prefix in enumerate(prefixes + longer)]


def test_captures_hit_and_miss_on_every_port(captures):
    """The captures are worth running: there are many, and the routes made for them spread."""
    assert len(captures) >= 100, f"HALYARD_DATA holds only {len(captures)} captures"
    macs = {port: bytes(6) for port in range(PORTS)}
    sent = dict.fromkeys(macs, 0)
    dropped = dict.fromkeys(oracle.REASONS, 0)
    total = 0
    for path in captures:
        records = pcapfile.read(path)
        result = oracle.forward(records, routes_for(records), macs)
        total += len(records)
        for port, out in result.out.items():
            sent[port] += len(out)
        for reason, n in result.drops.items():
            dropped[reason] += n
    assert sum(sent.values()) + sum(dropped.values()) == total >= 1000
    assert min(sent.values()) >= 100, sent
    assert dropped["no_route"] >= 100, dropped
    absent = {reason for reason, n in dropped.items() if n == 0}
    assert absent <= {"ttl_expired", "tx_full"}, dropped


def test_lookup_has_a_variant_for_each_instruction_set():
    variants = {c["variant"]: c["fate"] for c in lookup_candidates()}
    assert "scalar" in variants
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        flags = set(next((line for line in file if line.startswith("flags")), "").split())
    if not flags or UNDER:
        pytest.skip("not on an x86 CPU")
    assert {"avx2", "avx512"} <= set(variants)
    for variant, flag in (("avx2", "avx2"), ("avx512", "avx512f")):
        if flag not in flags:
            assert variants[variant] == "needs_unmet", variants
    if {"avx512f", "avx512bw", "avx512dq", "avx512vl"} <= flags:
        assert variants["avx512"] in ("chosen", "outscored"), variants


def test_forced_variant_is_the_chosen_one(tmp_path, variant):
    found = selection(explain(tmp_path, f"--node=ip4_lookup={variant}"), "ip4_lookup")
    assert (found["variant"], found["forced"]) == (variant, True)
    fates = {c["variant"]: c["fate"] for c in found["candidates"]}
    assert [v for v, fate in fates.items() if fate == "chosen"] == [variant]


def test_what_a_full_port_refuses_is_dropped_as_tx_full(rig):
    """A net_ring device sends to itself. More goes into its ring than the worker takes out, so
    that it fills up; what it took comes back until its TTL is spent."""
    plain = [f.data for f in generated(1518) if f.label == "plain/packet"][:1000]
    loop = [_with_ttl(frame, 64) for frame in plain] * 20
    assert len(loop) == 20000
    everywhere = [oracle.route(f"{half}.0.0.0/1", 1, "02:00:00:00:00:01") for half in (0, 128)]
    run = rig.run(
        ["-p", "0x3", "--config=(0,0,1),(1,0,1)", rig.routes(everywhere), *rig.until_idle()],
        [*rig.vdevs([[loop]]), "--vdev", "net_ring0"],
    )
    drops = run.stats["drops"]
    source, ring = sorted(run.stats["ports"], key=lambda port: port["port"])
    assert source["rx"] == len(loop), run
    assert ring["rx"] == ring["tx"] > 0, run
    assert drops["tx_full"] > 0, run
    assert drops["tx_full"] + drops["ttl_expired"] == len(loop) == sum(drops.values()), run


def _with_ttl(frame, ttl):
    header = frame[14 : 14 + (frame[14] & 15) * 4]
    header = header[:8] + bytes([ttl]) + header[9:]
    right = oracle.checksum(header).to_bytes(2, "big")
    return frame[:14] + header[:10] + right + header[12:] + frame[14 + len(header) :]
