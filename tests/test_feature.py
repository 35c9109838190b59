# SPDX-License-Identifier: BSD-3-Clause
"""l3fwd-graph --feature: packets of some ports are filtered before they are routed, and features
come and go while packets flow."""

import random
from ipaddress import IPv6Address, IPv6Network

import pytest

import frames
import frames6
import l3fwd
import oracle
import pcapfile
from l3fwd import SILENT
from live import Live, await_work
from test_policy import packets, rules
from test_routes_live import HOME, replay, to_nowhere

ROUTES = [oracle.route("0.0.0.0/0", 1, "02:00:00:00:00:01")]
# What pkt_cls finds, before the arc.
EARLY = oracle.REASONS[:oracle.REASONS.index("no_route")] + oracle.REASONS6


def split(records, matches, macs, routes=ROUTES):
    """What becomes of frames if those that match and get as far as the arc are filtered."""
    before = oracle.forward(records, routes, macs).verdicts
    passed = [frame for frame, verdict in zip(records, before, strict=True)
              if verdict in EARLY or not matches(frame)]
    return oracle.forward(passed, routes, macs), len(records) - len(passed)


def assert_filtered(run, records, matches):
    """Asserts what a run did whose port 0 had a filter and whose port 1 had the same frames."""
    filtered, n = split(records, matches, run.macs)
    whole = oracle.forward(records, ROUTES, run.macs)
    assert run.stats["drops"]["filtered"] == n, run
    assert run.stats["drops"]["no_list"] == 0
    for reason in oracle.REASONS:
        assert run.stats["drops"][reason] == filtered.drops[reason] + whole.drops[reason], reason
    assert sorted(run.sent(1)) == sorted(filtered.out[1] + whole.out[1])
    return n


def test_packets_that_match_are_dropped_on_their_port_only(rig, captures):
    """Real captures on two ports; UDP is filtered on one of them, TCP on one that is silent."""
    records = [frame for path in captures for frame in pcapfile.read(path)]
    run = rig.forward([[records], [records], SILENT], rig.routes(ROUTES),
                      "--feature=ip4_filter@0:proto=17", "--feature=ip4_filter@2:proto=6")
    assert assert_filtered(run, records, lambda frame: frame[23] == 17) > 300


def test_one_filter_of_several_is_enough(rig):
    """Frames that visit the rules of forwarding; those that are wrong are dropped as such."""
    records = [frame.data for frame in frames.generate(7)]
    run = rig.forward([[records], [records], SILENT], rig.routes(ROUTES),
                      "--feature=ip4_filter@0:dst=128.0.0.0/1,proto=17",
                      "--feature=ip4_filter@0:src=0.0.0.0/2")
    assert assert_filtered(run, records, lambda frame: (
        frame[30] >= 128 and frame[23] == 17) or frame[26] < 64) > 300


def test_each_family_has_filters_of_its_own(rig):
    """Both families in the same bursts, each with several filters, or none."""
    records = [f.data for f in frames.generate(7)] + [f.data for f in frames6.generate(7)]
    random.Random(7).shuffle(records)
    network, source = IPv6Network("2001:db8::/32"), IPv6Address("2001:db8::5")
    filtered = {4: 0, 6: 0}

    def of_ip6(frame):
        return (IPv6Address(frame[38:54]) in network and frame[20] == 17) or \
            IPv6Address(frame[22:38]) == source

    def matches(frame):
        ip6 = frame[12:14] == b"\x86\xdd"
        hit = of_ip6(frame) if ip6 else frame[30] >= 128
        filtered[6 if ip6 else 4] += hit
        return hit

    run = rig.forward([[records], SILENT, SILENT], rig.routes(frames6.BOTH),
                      f"--feature=ip6_filter@0:dst={network},proto=17",
                      f"--feature=ip6_filter@0:src={source}", "--feature=ip6_filter@1:proto=58",
                      "--feature=ip4_filter@0:dst=128.0.0.0/1")
    expected, n = split(records, matches, run.macs, frames6.BOTH)
    assert min(filtered.values()) > 300 and sum(filtered.values()) == n, filtered
    assert run.stats["drops"]["filtered"] == n, run
    for reason, drops in expected.drops.items():
        assert run.stats["drops"][reason] == drops, reason
    assert sum(map(len, expected.out.values())) > 5000
    for port, out in expected.out.items():
        assert sorted(run.sent(port)) == sorted(out), port
    objs = {node["name"]: node["objs"] for node in run.stats["nodes"]}
    for arc in ("ip4", "ip6"):
        assert objs[f"{arc}_input"] == objs[f"{arc}_filter"] > objs[f"{arc}_lookup"] > 1000
    picked = run.stdout.partition("The HAL picked")[2].partition("\n\n")[0]
    assert [line.split() for line in picked.splitlines()[-2:]] == [
        ["ip4_filter", "feature", "port", "0"], ["ip6_filter", "feature", "port", "0,1"]], picked


def test_the_arc_is_in_the_graph_while_a_feature_is_enabled(rig):
    sent = packets(["10.1.2.3"], 100)
    without = rig.forward([[sent], SILENT], rig.routes(ROUTES))
    names = {node["name"] for node in without.stats["nodes"]}
    run = rig.forward([[sent], SILENT], rig.routes(ROUTES), "--feature=ip4_filter@1:proto=17")
    assert {node["name"] for node in run.stats["nodes"]} == names | {"ip4_input", "ip4_filter"}
    picked = run.stdout.partition("The HAL picked")[2].partition("\n\n")[0]
    assert picked.splitlines()[-1].split() == ["ip4_filter", "feature", "port", "1"], picked
    assert "ip4_filter" not in without.stdout.partition("\n\n")[0]
    assert run.sent(1) == without.sent(1) and len(run.sent(1)) == 100


@pytest.mark.parametrize("mode", [[], ["--mode=dispatch", "--pin=ip4_lookup=1+2"]],
                         ids=["poll", "dispatch"])
def test_features_come_and_go_while_packets_flow(rig, mode):
    """Every packet is filtered or sent, and none is lost in between."""
    live = Live(rig, HOME, [*l3fwd.options(3, [(0, 0, 1), (1, 0, 2)]), *mode,
                            "--feature=ip4_filter@0:dst=10.1.2.0/24",
                            "--feature=ip6_filter@1:proto=17"],
                replay(rig, 3, {p: packets(["10.1.2.3"]) for p in (0, 1)}, to_both, (0, 1)),
                workers=2, telemetry=True)
    told = {"feature": "ip4_filter", "port": 0, "enabled": 1}
    assert live.ask("/l3fwd/feature,ip4_filter,0") == told
    assert live.ask("/l3fwd/feature,ip4_filter,1") == {**told, "port": 1, "enabled": 0}
    for n in range(40):
        to = ("off", "on")[n % 2]
        answer = live.ask(f"/l3fwd/feature,ip4_filter,0,{to}")
        assert answer == {**told, "enabled": n % 2}
        assert live.ask(f"/l3fwd/feature,ip6_filter,1,{to}") == {
            "feature": "ip6_filter", "port": 1, "enabled": n % 2}
        if n < 4:
            await_work(live.process, 0.02)
    for wrong, error in (("", "FEATURE,PORT is required, followed by ,on or ,off to change it"),
                         (",ip4_filter", "no such port"),
                         (",ip4_filter,9,on", "no such port"),
                         (",ip4_filter,99,on", "no such port"),
                         (",ip4_filter,0,maybe", "on and off are accepted"),
                         (",ip4_filter,0,on,on", "on and off are accepted"),
                         (",ip4_filte,0", "no such feature"),
                         (",ip4_filte,0,on", "no such feature")):
        assert live.ask(f"/l3fwd/feature{wrong}") == {"error": error}, wrong
    run = live.stop()
    drops = {reason: n for reason, n in run.stats["drops"].items() if n > 0}
    under_way = drops.pop("under_way", 0)  # in rings, where workers stopped
    assert set(drops) == {"filtered"} and (mode or not under_way), drops
    rx = [port["rx"] for port in run.stats["ports"]]
    assert 0 < drops["filtered"] < rx[0], (drops, rx)
    assert run.stats["totals"]["tx"] == rx[0] + rx[1] - drops["filtered"] - under_way


def to_both(_port):
    """A transmit queue for each worker, to nowhere."""
    return to_nowhere(_port) * 2


BAD = {
    "ip4_filter": "'ip4_filter' is not NODE@PORT:FILTER, as in ip4_filter@0:dst=192.0.2.0/24",
    "ip6_filter@0": "'ip6_filter@0' is not NODE@PORT:FILTER",
    "ip4_filte@0:proto=1": "'ip4_filte@0:proto=1' is not NODE@PORT:FILTER",
    "ip4_filter10@0:proto=1": "is not NODE@PORT:FILTER",
    "ip4_filter@0:dst=2001:db8::/32": "no packet of ip4_filter has such an address",
    "ip6_filter@0:proto=1,src=10.0.0.0/8": "no packet of ip6_filter has such an address",
    "ip6_filter@0:src=2001:db8::1/32": "--feature: 2001:db8::1/32 has bits set beyond its length",
    "ip6_filter@0:src=2001:db8::/129": "--feature: '129' is not a number from 0 to 128",
    "ip6_filter@0:src=2001:db8:1": "'2001:db8:1' is not an IPv4 address, A.B.C.D, or an IPv6 address",
    "ip4_filter@x:proto=1": "--feature: port: 'x' is not a number",
    "ip4_filter@32:proto=1": "--feature: port: '32' is not a number from 0 to 31",
    "ip4_filter@9:proto=1": "--feature: port 9 is not one of -p",
    "ip4_filter@0:proto=256": "--feature: '256' is not a number from 0 to 255",
    "ip4_filter@0:dst=10.0.0.1/8": "--feature: 10.0.0.1/8 has bits set beyond its length",
    "ip4_filter@0:port=1": "--feature: 'port=1' is not src=PREFIX, dst=PREFIX or proto=NUMBER",
    "ip4_filter@0:": "--feature: '' is not src=PREFIX",
}


@pytest.mark.parametrize("value", BAD)
def test_bad_value_is_refused(rig, value):
    run = rig.forward([SILENT, SILENT], f"--feature={value}")
    assert run.code > 0 and BAD[value] in run.stderr, run


def test_features_and_steering_are_refused_together(rig):
    run = rig.forward([SILENT, SILENT], rules(rig, "rule 1 class 7"),
                      "--steer=7=1,02:00:00:00:00:77", "--feature=ip4_filter@0:proto=1")
    assert run.code > 0
    assert "--feature: cannot be combined with --steer: steered packets" in run.stderr, run
