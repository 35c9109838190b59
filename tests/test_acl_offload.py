# SPDX-License-Identifier: BSD-3-Clause
"""l3fwd-graph --acl-offload: what access lists deny is dropped by the flow engine of a port where that
is sure to be right, counted once, and the frames that leave are those that leave without it.

The engines are simulators behind net_pcap ports: what they refuse is what those drivers refuse."""

import random

import pytest

import l3fwd
import oracle
from l3fwd import SILENT, options
from live import Live
from test_acl import acl, ip4
from test_policy import replay

ROUTES = [oracle.route("0.0.0.0/0", 1, "02:00:00:00:00:01")]
QUICK = ",settle_us=2000"
# Drivers that drop and count; those that do not count; and one of which nothing is known.
DROPS, OTHERS = ("mlx5", "cnxk", "ice"), ("i40e", "iavf", "generic")
# By whole flows of TCP, which each of these drivers matches; 4 and 5 by what none does.
LIST = ["rule 1 permit src 192.0.2.7 dst 10.0.0.1 proto tcp sport 1000 dport 22",
        "rule 2 deny src 192.0.2.7 dst 10.0.0.2 proto tcp sport 1000 dport 22",
        "rule 3 deny src 192.0.2.7 dst 10.0.0.3",
        "rule 4 deny log src 192.0.2.7 dst 10.0.0.4",
        "rule 5 deny proto udp dport 50-60"]


def frames(rig, n=400):
    """Frames for the rules of LIST and for none, for the address of the port."""
    rng = random.Random(7)
    kinds = [{"proto": 6, "dport": 22, "dst": (10, 0, 0, k)} for k in range(1, 6)]
    kinds += [{"dport": 53, "dst": (10, 0, 0, k)} for k in range(1, 6)]
    sent = [ip4(0, **rng.choice(kinds)) for _ in range(n)]
    return sent


def rules(run):
    """The packets of each rule of the list."""
    return {r["rule"]: r["packets"] for r in run.stats["acl"]["edge"]["rules"]}


def offload_of(run):
    """How the offload of port 0 stood at the end, and why rules are in software."""
    found, = run.stats["acl_offloads"]
    assert found["port"] == 0 and found["list"] == "edge", run
    return found["offload"], {r["rule"]: r["why_not"] for r in found["rules"]}


@pytest.mark.parametrize("profile", DROPS + OTHERS)
def test_frames_and_counts_are_those_without_an_offload(rig, profile):
    sent = frames(rig)
    words = rig.routes(ROUTES), acl(rig, "edge", *LIST), "--acl=in:0=edge"
    without = rig.forward([[sent], SILENT], *words)
    assert without.stats["acl_offloads"] == []
    run = rig.forward([[sent], SILENT], *words, f"--acl-offload=sim:{profile}{QUICK}")
    l3fwd.assert_same_frames(without.sent(1), run.sent(1), "port 1")
    stood, why = offload_of(run)
    denied = without.stats["drops"]["acl_denied"]
    assert rules(run) == rules(without) and min(rules(run).values()) > 10, run
    assert run.stats["acl"]["edge"]["hardware"] == stood["dropped"], run
    assert run.stats["drops"]["acl_denied"] + stood["dropped"] == denied > 100, run
    assert why[4] and why[5] and why[1] if profile in OTHERS else why[4] and why[5], run
    assert stood["leaked"] == stood["mismatches"] == 0 and stood["state"] == "up", run
    if profile in OTHERS:
        assert stood["dropped"] == stood["hw_rules"] == 0 and why[2] and why[3], run
        return
    assert stood["dropped"] > 20, run
    assert (why[2] is None) == (profile in ("mlx5", "ice")), run
    assert (why[3] is None) == (profile in ("mlx5", "cnxk")), run
    hardware = sum(rules(run)[number] for number, reason in why.items()
                   if reason is None and number != 1)
    assert stood["dropped"] == hardware, run
    table = run.stdout.partition("\naccess list")[2].splitlines()
    assert table[1].split()[-1] == str(stood["dropped"]), run


def test_explain_says_of_each_rule_whether_it_is_in_hardware(rig):
    run = rig.run([*options(1, [(0, 0, 1)]), "--explain", acl(rig, "edge", *LIST),
                   "--acl=in:0=edge", f"--acl-offload=sim:mlx5{QUICK}"], rig.vdevs([SILENT]))
    assert run.code == 0, run
    told = run.stdout.partition("  rules of access list edge:\n")[2].splitlines()[:5]
    assert told[1:3] == ["    2 deny: in hardware", "    3 deny: in hardware"], run
    assert told[3] == "    4 deny: in software: its packets are logged", run
    assert told[4] == "    5 deny: in software: a range of ports", run
    assert "  packets: 0 dropped in hardware by 2 rules\n" in run.stdout, run


def test_a_port_that_leaks_is_demoted_and_software_denies(rig):
    live = Live(rig, ROUTES, [*options(2, [(0, 0, 1)]), acl(rig, "edge", *LIST),
                              "--acl=in:0=edge", "--acl-offload=sim:mlx5,settle_us=2000,leak_every=1"],
                replay(rig, frames(rig)), telemetry=True)
    live.wait(lambda: "software classifies now" in live.stderr(), "a demotion")
    run = live.stop()
    stood, why = offload_of(run)
    assert (stood["state"], stood["hw_rules"]) == ("demoted", 0) and stood["leaked"] >= 32, run
    assert "rules drop packets in hardware, but of their packets" in stood["demoted"], run
    assert why[2] == why[3] == "packets that the port should drop arrive", run
    assert run.stats["drops"]["acl_denied"] > 0, run


def test_a_list_is_dropped_in_hardware_only_where_it_is_bound(rig):
    """Bound and unbound while packets flow: what the port drops follows."""
    live = Live(rig, ROUTES, [*options(2, [(0, 0, 1)]), acl(rig, "edge", "rule 1 deny"),
                              acl(rig, "other", "rule 1 permit"),
                              "--acl=in:0=edge", f"--acl-offload=sim:mlx5{QUICK}"],
                replay(rig, frames(rig)), telemetry=True)
    tx = lambda: int(live.ask("/halyard/acl/stats,other").get("permitted", 0))
    live.wait(lambda: live.ask("/halyard/acl/stats,edge")["hardware"] > 1000, "drops in hardware")
    assert tx() == 0
    live.ask("/halyard/acl/bind,in:0=other")
    live.wait(lambda: tx() > 1000, "permitted packets")
    before = live.ask("/halyard/acl/stats,edge")["hardware"]
    live.ask("/halyard/acl/bind,in:0=edge")
    live.wait(lambda: live.ask("/halyard/acl/stats,edge")["hardware"] > before + 1000, "more drops")
    live.ask("/halyard/acl/unbind,in:0")
    after = live.ask("/halyard/acl/stats,edge")
    run = live.stop()
    assert run.stats["acl_offloads"] == [], run
    assert run.stats["acl"]["edge"]["hardware"] == after["hardware"], run
    assert run.stats["totals"]["tx"] > 1000, run


@pytest.mark.parametrize("given, message", {
    ("--acl-offload=sim",): "--acl-offload: 'sim' is not rte_flow, sim:generic, sim:cnxk,",
    ("--acl-offload=sim:mlx5,leak_every=0",): "--acl-offload: leak_every: '0' is not a number",
    ("--acl-offload=sim:mlx5", "--offload=sim:mlx5"): "a port holds rules of one kind",
}.items())
def test_bad_arguments_are_refused_with_what_is_accepted(rig, given, message):
    policy = rig.write("policy", "rule 1 class 1\n")
    run = rig.forward([SILENT, SILENT], rig.routes(ROUTES), acl(rig, "edge", "rule 1 deny"),
                      f"--policy={policy}", *given)
    assert run.code > 0 and message in run.stderr, run


def test_it_needs_a_list(rig):
    run = rig.forward([SILENT, SILENT], rig.routes(ROUTES), "--acl-offload=sim:mlx5")
    assert run.code > 0 and "--acl-offload: requires --acl-list" in run.stderr, run
