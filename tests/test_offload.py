# SPDX-License-Identifier: BSD-3-Clause
"""l3fwd-graph --offload: rules in the flow engine of a port give packets the classes that software
gives them, whatever the engine holds, and a port that lies, restarts or goes takes nothing with it.

The engines are simulators behind net_pcap ports: what they refuse is what those drivers refuse."""

import collections
import math
import random
import re

import pytest

import l3fwd
import oracle
import pcapfile
import test_events
import test_plugin
from l3fwd import SILENT, options
from live import Live, ask, await_ticks, until
from test_policy import packet_for, replay, rules

PROFILES = ("generic", "cnxk", "mlx5", "ice", "i40e", "iavf")
ROUTES = [oracle.route("0.0.0.0/0", 1, "02:00:00:00:00:01")]
QUICK = ",settle_us=2000,sample_every=16"
folder = test_plugin.folder
PROTOCOLS = {6: "tcp", 17: "udp", 132: "sctp"}


def exact(rng):
    """What a rule for one flow asks for."""
    return {"src": f"10.0.0.{rng.randrange(8)}", "dst": f"10.1.0.{rng.randrange(8)}",
            "proto": "17", "sport": rng.choice(("53-53", "80-80", "443-443")),
            "dport": rng.choice(("53-53", "80-80", "443-443"))}


def loose(rng):
    """What a rule for networks and ranges asks for."""
    rule = {"src": f"10.0.0.{rng.randrange(2) * 4}/30", "dst": f"10.1.0.{rng.randrange(2) * 4}/30",
            "proto": "17", "sport": "53-80", "dport": "0-443"}
    return {word: rule[word] for word in rng.sample(sorted(rule), rng.randint(2, 4))
            } | {"proto": "17"}


def policy(rng, n):
    """n rules, each of a class of its own, so that hits by class are hits by rule."""
    made = [exact(rng) if rng.random() < 0.6 else loose(rng) for _ in range(n)]
    lines = [f"rule {i} class {i + 1} precedence {i} "
             + " ".join(f"{word} {value}" for word, value in rule.items())
             for i, rule in enumerate(made)]
    return made, lines


def offload_of(run, port=0):
    """How the offload of a port stood at the end."""
    found = [o for o in run.stats["offloads"] if o["port"] == port]
    assert len(found) == 1, run
    return found[0]


def assert_counted(run, received):
    """Every packet was classified once, by hardware or by software."""
    node = next(n for n in run.stats["nodes"] if n["name"] == "flow_cls-0")
    counters, stood = node["counters"], offload_of(run)
    assert node["variant"] == "mark", run
    assert sum(stood[of] for of in ("marked", "unmarked", "stale", "fragments")) == received, run
    assert counters["hw_hits"] == stood["marked"], run
    assert counters["hw_hits"] + counters["sw_hits"] + counters["sw_misses"] == received, run
    assert counters["mismatches"] == stood["mismatches"] == 0, run
    assert stood["sampled"] > 0 and stood["state"] == "up", run
    refused = sum(reason["rules"] for reason in stood["refused"])
    assert refused == stood["sw_rules"], run


def compare(rig, lines, sent, how):
    """Runs with and without an offload, and asserts the same classes, hits and frames."""
    option, routes = rules(rig, *lines), rig.routes(ROUTES)
    without = rig.forward([[sent], SILENT], routes, option)
    expected = without.stats["classes"], without.stats["drops"], without.sent(1)
    assert without.stats["offloads"] == []
    run = rig.forward([[sent], SILENT], routes, option, f"--offload={how}")
    assert run.stats["classes"] == expected[0], run
    assert run.stats["drops"] == expected[1], run
    l3fwd.assert_same_frames(expected[2], run.sent(1), "port 1")
    assert_counted(run, run.stats["ports"][0]["rx"])
    return run


@pytest.mark.parametrize("profile", PROFILES)
def test_classes_and_hits_are_those_without_an_offload(rig, profile):
    rng = random.Random(9)
    made, lines = policy(rng, 60)
    sent = [packet_for(rng.choice(made), rng) for _ in range(4000)]
    run = compare(rig, lines, sent, f"sim:{profile}{QUICK}")
    stood = offload_of(run)
    assert stood["hw_rules"] > 0 and stood["marked"] > 40, run
    assert stood["hw_rules"] + stood["sw_rules"] == 60, run
    assert sum(run.stats["classes"].values()) > 3000 and len(run.stats["classes"]) > 10, run
    assert f"  rules: {stood['hw_rules']} in hardware, {stood['sw_rules']} in" in run.stdout, run


@pytest.mark.parametrize("profile", PROFILES)
def test_full_table_changes_no_class_and_says_so(rig, profile):
    rng = random.Random(3)
    flows = {tuple(sorted(exact(rng).items())) for _ in range(60)}
    made = [dict(flow) for flow in sorted(flows)]
    lines = [f"rule {i} class {i + 1} " + " ".join(f"{w} {v}" for w, v in rule.items())
             for i, rule in enumerate(made)]
    sent = [packet_for(rng.choice(made), rng) for _ in range(3000)]
    run = compare(rig, lines, sent, f"sim:{profile}{QUICK},table_size=8")
    stood = offload_of(run)
    assert 0 < stood["hw_rules"] <= 8 and stood["full"], run
    assert "the port has no room" in [reason["reason"] for reason in stood["refused"]], run
    assert 0 < stood["marked"] < 3000, run


def rules_for(sent, n):
    """A rule for each of the flows that have most packets, and two for the rest."""
    flows = collections.Counter(
        (frame[26:30], frame[30:34], frame[23], frame[34:38]) for frame in sent
        if len(frame) >= 38 and frame[12:15] == b"\x08\x00\x45" and frame[23] in PROTOCOLS
        and frame[20] & 0x3f == 0 and frame[21] == 0)
    lines = [f"rule {i} class {i + 1} src {'.'.join(map(str, src))} dst {'.'.join(map(str, dst))} "
             f"proto {PROTOCOLS[proto]} sport {int.from_bytes(ports[:2], 'big')} "
             f"dport {int.from_bytes(ports[2:], 'big')}"
             for i, ((src, dst, proto, ports), _) in enumerate(flows.most_common(n))]
    return lines + ["rule 1000 class 1001 precedence 1 proto udp",
                    "rule 1001 class 1002 precedence 2"]


def test_real_captures_are_classified_as_without_an_offload(rig, captures):
    """All captures in one."""
    sent = [frame for path in captures for frame in pcapfile.read(path) if len(frame) <= 1514]
    lines = rules_for(sent, 200)
    for profile in PROFILES[1:]:
        run = compare(rig, lines, sent, f"sim:{profile}{QUICK}")
        assert run.stats["totals"]["rx"] > 1000 and offload_of(run)["marked"] > 500, run


def test_lying_port_is_caught_and_software_selected_while_packets_flow(rig):
    rng = random.Random(1)
    made, lines = policy(rng, 40)
    live = Live(rig, ROUTES, [*options(2, [(0, 0, 1)]), rules(rig, *lines),
                              "--offload=sim:cnxk,settle_us=2000,sample_every=64,lie_every=100"],
                replay(rig, [packet_for(rng.choice(made), rng) for _ in range(400)]),
                telemetry=True)
    live.wait(lambda: "marks were found wrong" in live.stderr(), "a demotion")
    await_ticks(live.process)  # the next selection
    asked = live.ask("/halyard/offload,0")
    assert (asked["state"], asked["hw_rules"]) == ("demoted", 0), asked
    run = live.stop()
    node = next(n for n in run.stats["nodes"] if n["name"] == "flow_cls-0")
    stood = offload_of(run)
    assert (node["variant"], stood["state"], stood["hw_rules"]) == ("acl", "demoted", 0), run
    assert stood["mismatches"] >= 8 and node["counters"]["sw_hits"] > 0, run
    told = [line for line in live.stderr().splitlines() if "; software finds " in line]
    assert len(told) == 8 and all(" port 0: mark 0x" in line for line in told), live.stderr()
    assert run.stats["totals"]["dropped"] == run.stats["drops"]["martian_dst"], run.stats["drops"]


@pytest.mark.parametrize("fault, why", {
    "no_marks=1": "came with a mark",
    "mark_until=50": "came with a mark",
    "port_add=3": "packets that it received say that they came by port 3",
}.items())
def test_port_whose_marks_do_not_arrive_is_demoted_and_says_why(rig, fault, why):
    made, lines = policy(random.Random(1), 40)
    rng = random.Random(2)
    live = Live(rig, ROUTES, [*options(2, [(0, 0, 1)]), rules(rig, *lines),
                              f"--offload=sim:mlx5,settle_us=2000,{fault}"],
                replay(rig, [packet_for(rng.choice(made), rng) for _ in range(400)]),
                telemetry=True)
    live.wait(lambda: "software classifies now" in live.stderr(), "a demotion")
    await_ticks(live.process)  # the next selection
    assert why in live.stderr(), live.stderr()
    asked = live.ask("/halyard/offload,0")
    assert (asked["state"], asked["hw_rules"]) == ("demoted", 0) and why in asked["demoted"], asked
    run = live.stop()
    node = next(n for n in run.stats["nodes"] if n["name"] == "flow_cls-0")
    stood = offload_of(run)
    assert (node["variant"], stood["state"]) == ("acl", "demoted"), run
    assert why in stood["demoted"] and why in run.stdout, run
    assert (stood["foreign"] >= 8) == fault.startswith("port"), stood
    assert (stood["missing"] >= 32) == ("mark" in fault), stood


def test_time_to_a_demotion_is_the_books_formula():
    """The table of doc/offload.rst, and the bound for 95 of 100 cases."""
    text = (l3fwd.ROOT / "doc" / "offload.rst").read_text()
    table = text[text.index("Mean seconds to a demotion"):]
    rows = re.findall(r"\* - 1 in (\d+)\n +- (\d+)\n +- ([\d.]+)\n +- ([\d.]+)\n", table)
    assert len(rows) == 6, table
    for wrong, rate, default, every in rows:
        for (k, s), said in (((8, 1024), default), ((1, 1), every)):
            assert float(said) == pytest.approx(k * s * int(wrong) / int(rate), rel=1e-9), rows
    defaults = (l3fwd.ROOT / "hal" / "flow" / "offload.c").read_text()
    assert "sample_every == 0 ? 1024" in defaults and "demote_after == 0 ? 8" in defaults
    # Fewer than 8 mismatches in 1.65 T, of which 8 come in T in the mean.
    mean = 8 * 1.65
    late = sum(math.exp(-mean) * mean ** n / math.factorial(n) for n in range(8))
    assert 0.04 < late < 0.05, late


def test_port_without_a_flow_engine_goes_without_and_says_why(rig):
    run = rig.forward([SILENT, SILENT], rig.routes(ROUTES), rules(rig, "rule 1 class 1"),
                      "--offload=rte_flow")
    assert [o["state"] for o in run.stats["offloads"]] == ["refused", "refused"], run
    assert "rte_flow takes no rule that marks" in run.stats["offloads"][0]["reason"], run
    assert "port 0 is not offloaded to: rte_flow takes no rule" in run.stderr, run
    assert "port 1: no offload: rte_flow takes no rule that marks" in run.stdout, run
    assert {n["variant"] for n in run.stats["nodes"] if n["family"] == "flow_cls"} == {"acl"}, run


def test_explain_tells_what_the_engine_takes_and_what_it_refused(rig):
    words = [rules(rig, "rule 1 class 1 proto udp dport 1-9", "rule 2 class 2 dst 10.0.0.1"),
             f"--offload=sim:mlx5{QUICK}"]
    found = l3fwd.selection(l3fwd.explain(rig.folder, *words), "flow_cls")
    assert found["variant"] == "mark", found
    run = rig.run([*options(1, [(0, 0, 1)]), "--explain", *words], rig.vdevs([SILENT]))
    assert run.code == 0, run
    assert "rules: 1 in hardware, 1 in software" in run.stdout, run
    assert "simulator took rules with marks up to " in run.stdout, run


@pytest.mark.parametrize("given, message", {
    "--offload=sim": "'sim' is not rte_flow, sim:generic, sim:cnxk, sim:mlx5, sim:ice, sim:i40e "
                     "or sim:iavf",
    "--offload=sim:e1000": "'sim:e1000' is not rte_flow, sim:generic, sim:cnxk,",
    "--offload=": "'' is not rte_flow, sim:generic,",
    "--offload=sim:ice,size=3": "'size' is not a setting with its value: table_size, mark_max",
    "--offload=sim:ice,table_size": "'table_size' is not a setting with its value: table_size,",
    "--offload=sim:ice,table_size=0": "table_size: '0' is not a number from 1 to 1048576",
    "--offload=sim:ice,table_size=9,table_size=9": "table_size is given twice",
    "--offload=rte_flow,table_size=9": "table_size is of simulators; max_rules, sample_every,",
    "--offload=sim:cnxk,mark_max=65536": "mark_max: 65536 is more than cnxk has; 1 to 65533 are "
                                         "accepted\n",
    "--offload=sim:mlx5,mark_max=16777200": "mark_max: 16777200 is more than mlx5 has; 1 to "
                                            "16777199 are accepted\n",
}.items())
def test_bad_arguments_are_refused_with_what_is_accepted(rig, given, message):
    run = rig.forward([SILENT, SILENT], rig.routes(ROUTES), rules(rig, "rule 1 class 1"), given)
    assert run.code > 0 and f"l3fwd-graph: --offload: {message}" in run.stderr, run
    assert not run.wrote_packets()


def test_offload_without_a_policy_is_refused(rig):
    run = rig.forward([SILENT, SILENT], rig.routes(ROUTES), "--offload=rte_flow")
    assert run.code > 0, run
    assert "--offload: requires --policy: its rules give classes" in run.stderr, run


@pytest.fixture
def events(rig, folder, monkeypatch):
    return test_events.Events(rig, folder, monkeypatch, f"--offload=sim:cnxk{QUICK}",
                              rules(rig, "rule 1 class 1 proto udp", "rule 2 class 2 proto tcp"),
                              telemetry=True)


def test_port_that_is_reset_gets_its_rules_back_and_one_that_goes_loses_them(events):
    for _ in range(3):
        events.event(1, test_events.RESET, "port 1 is up again")
        until(lambda: ask(events.rig.folder, "/halyard/offload,1")["hw_rules"] == 2, "the rules",
              events.process)
    events.event(2, test_events.REMOVED, "port 2 is gone: it was removed")
    run = events.finish()
    stood = [offload_of(run, port) for port in range(3)]
    assert [o["state"] for o in stood] == ["up", "up", "gone"], run
    assert [o["hw_rules"] for o in stood] == [2, 2, 0], run
    assert [o["lost"] for o in stood] == [0, 6, 2], run
    assert stood[0]["marked"] > 0, run
    totals = run.stats["totals"]
    assert totals["rx"] == totals["tx"] + totals["dropped"] > 0, run
