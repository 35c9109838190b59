# SPDX-License-Identifier: BSD-3-Clause
"""hy-bench: its figures are what its rounds say, and contenders are compared for what they do. Nothing
here depends on how fast anything is."""

import json
import os
import re
import subprocess

import pytest

import l3fwd
import upstream
from benchrun import CLOSE, PLAIN, bench, lcores, measure, medians, ratios

pytestmark = pytest.mark.slow


def test_walk_without_a_choice_has_one_way_of_librte_graph(tmp_path):
    figures, printed = measure(tmp_path, "walk", "--work", "home_run_32")
    got = medians(figures, "home_run_32")
    assert list(got) == ["librte_graph", "librte_graph_nostats", "halyard", "halyard_k1",
                         "work_only"]
    assert len(figures["rows"]) == 5
    assert {len(row["rounds"]) for row in figures["rows"]} == {20}  # twice five, and 15 at least
    assert {row["unit"] for row in figures["rows"]} == {"cycles/object"}
    assert ratios(figures, "home_run_32") == {
        "librte_graph": pytest.approx(got["librte_graph"] / got["halyard"], rel=CLOSE)}
    for line in (figures["machine"]["cpu"], figures["machine"]["compiler"], "home_run_32"):
        assert line in printed


def test_walk_with_a_choice_is_compared_with_the_better_way(tmp_path):
    figures, _ = measure(tmp_path, "walk", "--work", "mix4_64", "--rounds", "17")
    got = medians(figures, "mix4_64")
    assert list(got) == ["librte_graph_x4", "librte_graph_next", "nostats_x4", "nostats_next",
                         "halyard", "halyard_k1", "work_only"]
    assert {len(row["rounds"]) for row in figures["rows"]} == {28}  # twice seven
    best = min(got["librte_graph_x4"], got["librte_graph_next"])
    assert ratios(figures, "mix4_64") == {
        "librte_graph": pytest.approx(best / got["halyard"], rel=CLOSE)}


def test_all_kinds_of_walks_pass_their_checks(tmp_path):
    """hy-bench fails if a sink of any contender did not see what it must."""
    works = {"one_edge_1", "mix16_1", "mix64_256", "split_1_2_4_8", "pass_assign_8",
             "pass_memcpy8_8", "pass_memcpy1_32", "pass_swap_8", "batches_4_assign_256", "idle",
             "single", "tree", "reverse_tree", "parallel_tree", "home_run_2_sources",
             "home_run_2_sinks", "diamond_0_1_2_4_3x100"}
    seen = {}
    for work in sorted(works):
        figures, _ = measure(tmp_path, "walk", "--work", work)
        seen[work] = {row["unit"] for row in figures["rows"]}
    assert seen == {work: {"cycles/walk" if work in ("idle", "single") else "cycles/object"}
                    for work in works}


def test_loss_is_shown_for_each_doubling_of_the_batches(tmp_path):
    figures, printed = measure(tmp_path, "walk", "--work", "batches_*_memcpy8_256")
    works = [f"batches_{n}_memcpy8_256" for n in (1, 2, 4)]
    got = [medians(figures, work) for work in works]
    contenders = ["librte_graph", "librte_graph_nostats", "halyard", "halyard_k1", "plain"]
    assert [list(figures_of) for figures_of in got] == [contenders] * 3
    shown = re.findall(r"^lost from (\S+) to (\S+):(.*)", printed, re.MULTILINE)
    assert [(base, to) for base, to, _ in shown] == [(works[0], works[1]), (works[1], works[2])]
    for (_, _, losses), base, to in zip(shown, got, got[1:]):
        assert [word for word in losses.split() if "%" not in word] == contenders
        for loss, contender in re.findall(r"(-?[\d.]+)% (\S+)", losses):
            want = 100 * (1 - base[contender] / to[contender])
            assert float(loss) == pytest.approx(want, abs=0.1)


def test_lowest_tenth_is_shown_below_the_median(tmp_path):
    figures, printed = measure(tmp_path, "walk", "--work", "pass_memcpy64_*")
    shown = re.findall(r"^(pass_\S+) .*%((?:  +[\d.]+)+)  [\d.]+x .*\n +lowest tenth((?:  +[\d.]+)+)$",
                       printed, re.MULTILINE)
    assert [work for work, _, _ in shown] == [f"pass_memcpy64_{n}" for n in (64, 128, 256)]
    for work, upper, lower in shown:
        rows = [row for row in figures["rows"] if row["work"] == work]
        for printed_figures, key in ((upper, "median"), (lower, "p10")):
            assert [float(word) for word in printed_figures.split()] == pytest.approx(
                [row[key] for row in rows], abs=0.011)


def test_join_of_a_diamond_is_called_once_a_burst(tmp_path):
    figures, _ = measure(tmp_path, "walk", "--work", "diamond_*_calls")
    ours = {row["work"]: set(row["rounds"]) for row in figures["rows"]
            if row["contender"] == "halyard"}
    assert ours == {"diamond_0_1_256_calls": {1}, "diamond_1_8_256_calls": {1},
                    "diamond_0_1_2_4_256_calls": {1}, "diamond_0_1_2_4_3x100_calls": {2}}
    assert {row["unit"] for row in figures["rows"]} == {"calls/walk"}


def test_arcs_are_measured_and_checked(tmp_path):
    """hy-bench fails if a feature was not told of the very objects that it is enabled for."""
    figures, _ = measure(tmp_path, "arc")
    for work in ("arc_64", "arc_256"):
        got = medians(figures, work)
        assert list(got) == ["disabled", "none", "question", "others", "half", "all"]
        assert ratios(figures, work) == {
            name: pytest.approx(got[name] / got["disabled"], rel=CLOSE)
            for name in list(got)[1:]}
    assert {row["unit"] for row in figures["rows"]} == {"cycles/object"}


def test_growth_is_compared_with_n_log_n(tmp_path):
    figures, _ = measure(tmp_path, "walk", "--work", "create_destroy_100*")
    hundred, thousand = (medians(figures, f"create_destroy_{n}") for n in (100, 1000))
    assert set(hundred) == {"halyard", "halyard_by_source", "librte_graph"}
    assert set(medians(figures, "create_destroy_10000")) == {"halyard", "halyard_by_source"}
    assert {row["unit"] for row in figures["rows"]} == {"us"}
    # 1,000 log 1,000 is 15 times 100 log 100.
    assert ratios(figures, "create_destroy_1000") == {
        "librte_graph": pytest.approx(thousand["librte_graph"] / thousand["halyard"], rel=CLOSE),
        "n_log_n": pytest.approx(15 * hundred["halyard"] / thousand["halyard"], rel=CLOSE)}


def at_least(version, least):
    """Whether "DPDK 25.11.2" is as new as (23, 7)."""
    return tuple(map(int, re.findall(r"\d+", version)[:2])) >= least


@pytest.mark.parametrize("work", ["handover_64", "skew_64"])
def test_dispatch_hands_over_what_it_is_compared_by(tmp_path, work):
    """hy-bench fails if an object of any contender is lost, out of order, or seen by a lcore that
    it is not pinned to."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("one CPU: lcores that hand over need two")
    figures, printed = measure(tmp_path, "dispatch", "--work", work)
    got = medians(figures, work)
    peers = {"run_to_completion": "halyard_rtc"}
    if at_least(figures["machine"]["dpdk"], (23, 7)):
        assert list(got) == ["librte_mcore", "librte_paced", "librte_rtc", "halyard_rtc", "halyard"]
        peers["librte_mcore"] = "librte_paced"
    else:
        assert list(got) == ["librte_rtc", "halyard_rtc", "halyard"]
        assert [(s["work"], s["contender"]) for s in figures["skipped"]] == [
            (work, "librte_mcore"), (work, "librte_paced")]
        assert re.search(r"skipped: librte_mcore: DPDK \S+ has no such model", printed)
    assert {row["unit"] for row in figures["rows"]} == {"cycles/object"}
    assert ratios(figures, work) == {peer: pytest.approx(got[of] / got["halyard"], rel=CLOSE)
                                     for peer, of in peers.items()}


def one_cpu():
    """For a child process: has it run on one CPU."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def test_dispatch_is_skipped_on_one_cpu(tmp_path):
    figures, printed = measure(tmp_path, "dispatch", preexec_fn=one_cpu)
    assert figures["rows"] == []
    assert figures["skipped"] == [{"work": "*", "contender": None,
                                   "reason": "2 lcores are needed, there is one"}]
    assert "skipped: 2 lcores are needed, there is one" in printed


def test_two_lcores_works_are_skipped_on_one_cpu_and_others_measured(tmp_path):
    figures, _ = measure(tmp_path, "l3fwd", "--work", "[ot]*_[fsh]*", preexec_fn=one_cpu)
    assert list(medians(figures, "one_flow")) == forwarders(figures)
    assert [(s["work"], s["contender"]) for s in figures["skipped"]][-2:] == [
        ("two_lcores_static", None), ("two_lcores_halyard", None)]


L3FWD = ["rxtx", "static", "static_checked", "librte_pipeline", "librte_node", "librte_typed",
         "halyard"]


def forwarders(figures):
    """Contenders of l3fwd. DPDK may have been built without librte_pipeline."""
    reasons = {omission["contender"]: omission["reason"] for omission in figures["skipped"]}
    none = reasons.get("librte_pipeline") == "DPDK was built without librte_pipeline"
    return [contender for contender in L3FWD if contender != "librte_pipeline" or not none]


@pytest.mark.parametrize("work", ["one_flow", "dst64k_miss", "burst1", "dst256_8_p8",
                                  "closed_loop"])
def test_l3fwd_compares_contenders_that_forward_right(tmp_path, work):
    """hy-bench fails if a packet of any contender is wrong, or is missing."""
    figures, printed = measure(tmp_path, "l3fwd", "--work", work)
    got = medians(figures, work)
    assert list(got) == forwarders(figures)
    assert {row["unit"] for row in figures["rows"]} == {"cycles/packet"}
    assert ratios(figures, work) == {
        peer: pytest.approx(got[peer] / got["halyard"], rel=CLOSE)
        for peer in forwarders(figures)[1:-1]}
    if figures["machine"]["memory"] == "no hugepages":
        assert "THERE ARE NO HUGEPAGES" in printed


@pytest.mark.parametrize("work", ["ip6_one_flow", "ip6_table73k", "mix46"])
def test_l3fwd_forwards_ip6_and_both_families(tmp_path, work):
    """librte_node has nodes for IPv6 since DPDK 23.07."""
    figures, _ = measure(tmp_path, "l3fwd", "--work", work)
    has_nodes = at_least(figures["machine"]["dpdk"], (23, 7))
    librte = ["librte_node", "librte_typed"]
    got = medians(figures, work)
    assert list(got) == ["rxtx", "static", "static_checked", *librte * has_nodes, "halyard",
                         "halyard_apart"]
    assert [s["contender"] for s in figures["skipped"]] == librte * (not has_nodes)
    assert ratios(figures, work) == {peer: pytest.approx(got[peer] / got["halyard"], rel=CLOSE)
                                     for peer in list(got)[1:-2]}


def test_file_of_prefixes_may_have_both_families(tmp_path):
    """A family of which it has none is made up."""
    prefixes = tmp_path / "prefixes"
    prefixes.write_text("11.0.0.0/8\n" + "".join(f"2001:db8:{i:x}::/48\n" for i in range(300)))
    for work in ("table172k", "ip6_table73k"):
        figures, _ = measure(tmp_path, "l3fwd", "--work", work, "--prefixes", prefixes)
        assert "halyard" in medians(figures, work)
    figures, _ = measure(tmp_path, "routes", "--work", "load_ip6", "--prefixes", prefixes)
    assert set(medians(figures, "load_ip6")) == {"rte_lpm6", "rte_fib6", "halyard"}
    for wrong in ("2001:db8::1/32", "2001:db8::/129", "::/0", "2001:db8::"):
        prefixes.write_text(f"10.0.0.0/8\n{wrong}\n")
        done = bench("lookup", "--quick", "--work", "ip6_all_256", "--prefixes", prefixes)
        assert (done.returncode, ":2: is not A.B.C.D/1 to /32, or A:B::/1" in done.stderr) == (
            1, True), done.stderr


def test_skipped_peer_leaves_the_other_contenders(tmp_path):
    """Room for two tables of rte_lpm, and not for three."""
    figures, printed = measure(
        tmp_path, "l3fwd", "--work", "one_flow",
        eal=["--no-huge", "-m", "140", *PLAIN[3:], *lcores(), "--log-level=critical"])
    got = list(medians(figures, "one_flow"))
    assert got[:3] == ["rxtx", "static", "static_checked"]
    assert "halyard" not in got or "librte_node" not in got
    assert [s["contender"] for s in figures["skipped"]] == [c for c in L3FWD if c not in got]
    assert "one_flow                skipped: " in printed


def test_l3fwd_takes_prefixes_that_librte_node_has_no_room_for(tmp_path):
    """More than its 1,024 routes, of all lengths, some of them within others."""
    lines = [f"10.{i // 256}.{i % 256}.0/24" for i in range(1500)]
    lines += ["6.0.0.0/7", "10.0.0.0/8", "10.1.0.0/16", "10.2.3.4/32", "192.0.2.128/25"]
    prefixes = tmp_path / "prefixes"
    prefixes.write_text("\n".join(lines) + "\n")
    figures, _ = measure(tmp_path, "l3fwd", "--work", "table172k", "--prefixes", prefixes)
    assert list(medians(figures, "table172k")) == forwarders(figures)


def test_l3fwd_leaves_out_prefixes_that_nothing_is_forwarded_to(tmp_path):
    prefixes = tmp_path / "prefixes"
    prefixes.write_text("10.0.0.0/8\n126.0.0.0/7\n0.0.0.0/8\n127.0.0.0/24\n224.0.0.0/8\n")
    figures, _ = measure(tmp_path, "l3fwd", "--work", "table172k", "--prefixes", prefixes)
    assert list(medians(figures, "table172k")) == forwarders(figures)
    prefixes.write_text("126.0.0.0/7\n224.0.0.0/8\n")
    done = bench("l3fwd", "--quick", "--work", "table172k", "--prefixes", prefixes)
    assert (done.returncode, "none of them are forwarded" in done.stderr) == (1, True), done.stderr


def test_l3fwd_shows_nodes_variants_bursts_and_lcores(tmp_path):
    figures, printed = measure(tmp_path, "l3fwd", "--work", "*[8s]_[lhvs]*")
    figures["rows"] += measure(tmp_path, "l3fwd", "--work", "dst256_8_bursts")[0]["rows"]
    nodes = {"ethdev_rx", "pkt_cls", "ip4_lookup", "ip4_rewrite", "ethdev_tx"}
    assert set(medians(figures, "dst256_8_librte_node")) == nodes
    assert set(medians(figures, "dst256_8_halyard")) == nodes
    assert list(medians(figures, "dst256_8_bursts")) == [
        f"{who}_{n}" for who in ("burst", "static") for n in (1, 8, 16, 32, 64, 128, 256)]
    variants = list(medians(figures, "dst256_8_variants"))
    assert variants[0] == "selected"
    assert len(variants) == len(set(variants))
    assert all(re.fullmatch(r"(pkt_cls|ip4_lookup|ip4_rewrite)=\w+", v) for v in variants[1:])
    # What is not selected runs too; the scalar lookup runs everywhere.
    assert len(os.sched_getaffinity(0)) < 2 or medians(figures, "two_lcores_static")
    assert "by_hand" not in printed


def build_contender(tmp_path, source, *options):
    """Compiles a contender of hy-bench l3fwd from a file."""
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libdpdk"], capture_output=True,
                           text=True, check=True).stdout.split()
    root = l3fwd.ROOT
    folders = [root, root / "app" / "bench", root / "hal", root / "drivers" / "nodes" / "generic",
               *root.glob("lib/*")]
    contender = tmp_path / f"{source.stem}.so"
    done = subprocess.run(
        [os.environ.get("CC", "cc"), "-w", "-fPIC", "-shared", "-DALLOW_EXPERIMENTAL_API", *options,
         *(f"-I{folder}" for folder in folders), source, "-o", contender, *flags],
        capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return contender


def test_contender_is_dpdks_own_l3fwd(tmp_path):
    """The static loop is a copy of what DPDK's l3fwd does; that one, unmodified, beside it."""
    source = upstream.source("examples/l3fwd") / "examples"
    contender = build_contender(tmp_path, l3fwd.ROOT / "tests" / "contender" / "l3fwd.c",
                                "-std=gnu11", "-O3", "-D_GNU_SOURCE", f"-I{source / 'l3fwd'}",
                                f"-I{source / 'common'}")
    figures, _ = measure(tmp_path, "l3fwd", "--work", "hop_per_port_p*", "--contender", contender)
    works = {row["work"] for row in figures["rows"]}
    assert works == {"hop_per_port_p1", "hop_per_port_p2", "hop_per_port_p8"}
    for work in works:
        assert list(medians(figures, work)) == ["l3fwd", "static"]
        assert list(ratios(figures, work)) == ["l3fwd"]


@pytest.mark.parametrize("body, message", [
    ("", "it has no l3fwd_contender()"),
    ("""struct l3fwd_way l3fwd_contender(const struct l3fwd_rig *rig, const struct l3fwd_table *t);
        struct l3fwd_way l3fwd_contender(const struct l3fwd_rig *rig, const struct l3fwd_table *t)
        { (void)rig; (void)t; return (struct l3fwd_way){ .name = "none" }; }""",
     "it could not be created"),
])
def test_contender_that_is_none_is_refused(tmp_path, body, message):
    (tmp_path / "none.c").write_text(f'#include "l3fwd.h"\n{body}\n')
    contender = build_contender(tmp_path, tmp_path / "none.c")
    done = bench("l3fwd", "--work", "hop_per_port_p1", "--contender", contender)
    assert (done.returncode, f"--contender {contender}: {message}" in done.stderr) == (1, True), \
        done.stderr


def test_contender_that_loses_packets_fails(tmp_path):
    """All that it receives it frees, and counts as dropped, though there are routes."""
    (tmp_path / "lossy.c").write_text("""
#include <stdlib.h>
#include <rte_ethdev.h>
#include "l3fwd.h"
static uint64_t drops;
static void run(void *arg, uint64_t turns)
{
    const struct l3fwd_rig *rig = arg;
    struct rte_mbuf *m;
    (void)turns;
    for (unsigned int p = 0; p < rig->nb_ports; p++)
        while (rte_eth_rx_burst(rig->port[USERS_ALL][p], 0, &m, 1) == 1) {
            drops++;
            rte_pktmbuf_free(m);
        }
}
static uint64_t dropped(void *arg) { (void)arg; return drops; }
static void destroy(void *arg) { (void)arg; }
struct l3fwd_way l3fwd_contender(const struct l3fwd_rig *rig, const struct l3fwd_table *table);
struct l3fwd_way l3fwd_contender(const struct l3fwd_rig *rig, const struct l3fwd_table *table)
{
    (void)table;
    return (struct l3fwd_way){ .name = "lossy", .users = USERS_ALL, .rewrites = true, .burst = 1,
        .run = run, .drops = dropped, .destroy = destroy, .arg = (void *)(uintptr_t)rig };
}
""")
    contender = build_contender(tmp_path, tmp_path / "lossy.c")
    json_path = tmp_path / "figures.json"
    done = bench("l3fwd", "--quick", "--work", "hop_per_port_p1", "--contender", contender,
                 "--json", json_path)
    assert done.returncode == 1, done.stdout
    assert "lossy: of 4096 packets 0 were sent, not 4096, and 4096 dropped" in done.stderr
    assert "hop_per_port_p1: lossy is wrong" in done.stderr
    figures = json.loads(json_path.read_text())
    assert (figures["complete"], figures["rows"]) == (True, [])
    assert figures["wrong"] == [{"work": "hop_per_port_p1", "contender": "lossy",
                                 "reason": "its results are wrong"}]


@pytest.mark.parametrize("prefixes", [
    None, "8.0.0.0/6\n10.0.7.0/24\n192.0.2.0/24\n192.0.2.128/25\n"])
def test_routes_come_and_go_as_in_the_libraries(tmp_path, prefixes):
    """hy-bench fails if a lookup does not find what was changed, also below other routes."""
    given = []
    if prefixes is not None:
        (tmp_path / "prefixes").write_text(prefixes)
        given = ["--prefixes", tmp_path / "prefixes"]
    figures, _ = measure(tmp_path, "routes", *given)
    for work in ("load_lpm", "load_fib", "change_lpm", "change_lpm_live", "change_fib",
                 "change_fib_live"):
        library = "rte_lpm" if "lpm" in work else "rte_fib"
        got = medians(figures, work)
        assert list(got) == [library, "halyard"]
        assert ratios(figures, work) == {
            library: pytest.approx(got[library] / got["halyard"], rel=CLOSE)}


def test_calibration_says_what_its_figures_say(tmp_path):
    figures, printed = measure(tmp_path, "idle", "--calibrate")
    calibration = figures["calibration"]
    measured = calibration["alone"] + calibration.get("together", [])
    assert len(calibration["alone"]) == min(2, len(os.sched_getaffinity(0)))
    for lcore in measured:
        assert set(lcore) == {"addition", "addition_spread", "l2_load", "l2_load_spread", "lost"}
        assert 0 < lcore["addition"] < lcore["l2_load"]
        assert 0 <= lcore["lost"] < 1
    steady = all(lcore[figure] <= 0.1 for lcore in calibration["alone"]
                 for figure in ("addition_spread", "l2_load_spread", "lost"))
    assert calibration["trusted"] == steady
    assert ("NOT TO BE TRUSTED" in printed) == (not steady)
    slower = [pair for pair in zip(calibration["alone"], calibration.get("together", []))
              for what in ("addition", "l2_load") if pair[1][what] > 1.1 * pair[0][what]]
    shared = any(lcore["lost"] > 0.1 for lcore in calibration.get("together", []))
    assert calibration["two_cores"] == ("together" in calibration and not slower and not shared)
