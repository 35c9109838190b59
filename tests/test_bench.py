# SPDX-License-Identifier: BSD-3-Clause
"""hy-bench: its figures are what its rounds say, it measures all that this machine can run and says
why it leaves out the rest, its command line refuses what it cannot do, and its plots are well-formed.
Nothing here depends on how fast anything is."""

import collections
import itertools
import json
import mmap
import os
import re
import resource
import signal
import statistics
import subprocess
import time
import xml.etree.ElementTree
from pathlib import Path

import pytest

import l3fwd
import upstream

BENCH = l3fwd.BUILD / "app" / "bench" / "hy-bench"
PLOT = l3fwd.ROOT / "tools" / "bench-plot.py"
NAMES = "arc classify dispatch enqueue idle l3fwd lookup offload routes walk"
CLOSE = 1e-4  # figures are written with six digits


def bench(*arguments, timeout=l3fwd.TIMEOUT, **popen):
    """Runs hy-bench to its end."""
    if not os.access(BENCH, os.X_OK):
        pytest.fail(f"{BENCH} is not there: build first, or set HALYARD_BUILD", pytrace=False)
    return subprocess.run([BENCH, *map(str, arguments)], capture_output=True, text=True,
                          check=False, timeout=timeout, stdin=subprocess.DEVNULL, **popen)


def balanced(rows):
    """Checks that contenders for one work stood equally often at each place, and after each other
    one. Those that ride with the one before them stand where that stands."""
    orders = list(zip(*(row["places"] for row in rows)))
    places = len(set(orders[0]))
    at = collections.Counter((n, place) for order in orders for n, place in enumerate(order))
    assert set(at.values()) == {len(orders) // places}, rows[0]["work"]
    assert len(at) == len(rows) * places
    after = collections.Counter(
        (a, b) for order in orders for a, b in itertools.permutations(range(len(order)), 2)
        if order[a] + 1 == order[b])
    assert len(set(after.values())) <= 1, rows[0]["work"]


def check(figures, name, calibrated=False):
    """Checks what holds for every file of figures."""
    assert list(figures) == ["bench", "complete", "machine", *["calibration"] * calibrated, "rows",
                             "ratios", "skipped", "wrong"]
    assert figures["bench"] == name
    assert set(figures["machine"]) == {
        "cpu", "tsc_hz", "addition", "addition_p10", "simd_bits", "memory", "compiler", "flags",
        "dpdk", "dpdk_library", "dpdk_build", "librte_graph_stats"}
    assert 0 < figures["machine"]["addition_p10"] <= figures["machine"]["addition"]
    for row in figures["rows"]:
        assert list(row) == ["work", "contender", "unit", "median", "p10", "min", "max", "rounds",
                             "places"]
        assert row["median"] == statistics.median_low(row["rounds"]), row
        assert row["min"] == min(row["rounds"]) > 0, row
        assert row["p10"] == sorted(row["rounds"])[(len(row["rounds"]) - 1) // 10], row
        assert row["max"] == max(row["rounds"]), row
    for _, rows in itertools.groupby(figures["rows"], lambda row: row["work"]):
        balanced(list(rows))
    for ratio in figures["ratios"]:
        assert list(ratio) == ["work", "against", "ratio"]
    for omission in figures["skipped"] + figures["wrong"]:
        assert list(omission) == ["work", "contender", "reason"]
        assert omission["reason"]


def measure(folder, name, *arguments, eal=(), **popen):
    """The JSON of a quick run, checked for what holds for every one; and what was printed."""
    path = folder / "figures.json"
    done = bench(*eal, *["--"] * bool(eal), name, "--quick", "--json", path, *arguments, **popen)
    assert done.returncode == 0, f"{arguments}\n{done.stdout}\n{done.stderr}"
    figures = json.loads(path.read_text())
    check(figures, name, "--calibrate" in arguments)
    assert figures["complete"] is True
    assert figures["wrong"] == []
    assert not path.with_name("figures.json.part").exists()
    for omission in figures["skipped"]:
        assert f"skipped: {(omission['contender'] or '')}" in done.stdout
        assert omission["reason"] in done.stdout
    return figures, done.stdout


def medians(figures, work):
    """Contender → median of a work."""
    return {row["contender"]: row["median"] for row in figures["rows"] if row["work"] == work}


def ratios(figures, work):
    """Peer → ratio of a work."""
    return {ratio["against"]: ratio["ratio"] for ratio in figures["ratios"]
            if ratio["work"] == work}


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
    works = {"one_edge_1", "mix16_1", "split_1_2_4_8", "move_assign_8", "move_memcpy_8",
             "move_swap_8", "idle", "single", "tree", "reverse_tree", "parallel_tree",
             "home_run_2_sources", "home_run_2_sinks", "diamond_0_1_2_4_3x100"}
    seen = {}
    for work in sorted(works):
        figures, _ = measure(tmp_path, "walk", "--work", work)
        seen[work] = {row["unit"] for row in figures["rows"]}
    assert seen == {work: {"cycles/walk" if work in ("idle", "single") else "cycles/object"}
                    for work in works}


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
    assert list(medians(figures, "one_flow")) == L3FWD
    assert [(s["work"], s["contender"]) for s in figures["skipped"]] == [
        ("two_lcores_static", None), ("two_lcores_halyard", None)]


L3FWD = ["rxtx", "static", "static_checked", "librte_node", "librte_typed", "halyard"]


@pytest.mark.parametrize("work", ["one_flow", "dst64k_miss", "burst1", "dst256_8_p8",
                                  "closed_loop"])
def test_l3fwd_compares_contenders_that_forward_right(tmp_path, work):
    """hy-bench fails if a packet of any contender is wrong, or is missing."""
    figures, printed = measure(tmp_path, "l3fwd", "--work", work)
    got = medians(figures, work)
    assert list(got) == L3FWD
    assert {row["unit"] for row in figures["rows"]} == {"cycles/packet"}
    assert ratios(figures, work) == {
        peer: pytest.approx(got[peer] / got["halyard"], rel=CLOSE)
        for peer in ("static", "static_checked", "librte_node")}
    if figures["machine"]["memory"] == "no hugepages":
        assert "THERE ARE NO HUGEPAGES" in printed


def test_l3fwd_takes_prefixes_that_librte_node_has_no_room_for(tmp_path):
    """More than its 1,024 routes, of all lengths, some of them within others."""
    lines = [f"10.{i // 256}.{i % 256}.0/24" for i in range(1500)]
    lines += ["6.0.0.0/7", "10.0.0.0/8", "10.1.0.0/16", "10.2.3.4/32", "192.0.2.128/25"]
    prefixes = tmp_path / "prefixes"
    prefixes.write_text("\n".join(lines) + "\n")
    figures, _ = measure(tmp_path, "l3fwd", "--work", "table172k", "--prefixes", prefixes)
    assert list(medians(figures, "table172k")) == L3FWD


def test_l3fwd_leaves_out_prefixes_that_nothing_is_forwarded_to(tmp_path):
    prefixes = tmp_path / "prefixes"
    prefixes.write_text("10.0.0.0/8\n126.0.0.0/7\n0.0.0.0/8\n127.0.0.0/24\n224.0.0.0/8\n")
    figures, _ = measure(tmp_path, "l3fwd", "--work", "table172k", "--prefixes", prefixes)
    assert list(medians(figures, "table172k")) == L3FWD
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
        f"burst_{n}" for n in (8, 16, 32, 64, 128, 256)]
    variants = list(medians(figures, "dst256_8_variants"))
    assert variants[0] == "selected"
    assert len(variants) == len(set(variants))
    assert all(re.fullmatch(r"(pkt_cls|ip4_lookup|ip4_rewrite)=\w+", v) for v in variants[1:])
    # What is not selected runs too; the scalar lookup runs everywhere.
    assert len(os.sched_getaffinity(0)) < 2 or medians(figures, "two_lcores_static")
    assert "by_hand" not in printed


def test_contender_is_dpdks_own_l3fwd(tmp_path):
    """The static loop is a copy of what DPDK's l3fwd does; that one, unmodified, beside it."""
    source = upstream.source("examples/l3fwd") / "examples"
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libdpdk"], capture_output=True,
                           text=True, check=True).stdout.split()
    contender = tmp_path / "l3fwd.so"
    done = subprocess.run(
        [os.environ.get("CC", "cc"), "-std=gnu11", "-O3", "-w", "-fPIC", "-shared", "-D_GNU_SOURCE",
         "-DALLOW_EXPERIMENTAL_API", f"-I{source / 'l3fwd'}", f"-I{source / 'common'}",
         f"-I{l3fwd.ROOT / 'app' / 'bench'}", l3fwd.ROOT / "tests" / "contender" / "l3fwd.c",
         "-o", contender, *flags], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
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
    flags = subprocess.run(["pkg-config", "--cflags", "libdpdk"], capture_output=True, text=True,
                           check=True).stdout.split()
    contender = tmp_path / "none.so"
    subprocess.run(["cc", "-w", "-fPIC", "-shared", f"-I{l3fwd.ROOT / 'app' / 'bench'}", *flags,
                    tmp_path / "none.c", "-o", contender], check=True)
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
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "libdpdk"], capture_output=True,
                           text=True, check=True).stdout.split()
    contender = tmp_path / "lossy.so"
    subprocess.run(["cc", "-w", "-fPIC", "-shared", "-DALLOW_EXPERIMENTAL_API",
                    f"-I{l3fwd.ROOT / 'app' / 'bench'}", tmp_path / "lossy.c", "-o", contender,
                    *flags], check=True)
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
    lcores = calibration["alone"] + calibration.get("together", [])
    assert len(calibration["alone"]) == min(2, len(os.sched_getaffinity(0)))
    for lcore in lcores:
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


def names(pattern):
    """All that a pattern like "mix{2,4}_{8,1}" stands for."""
    parts = re.split(r"\{([^}]*)\}", pattern)
    choices = [[part] if n % 2 == 0 else part.split(",") for n, part in enumerate(parts)]
    return ["".join(chosen) for chosen in itertools.product(*choices)]


# Each benchmark's works, and the contenders for them: all that a run must have, on any machine.
EXPECTED = {
    "arc": {"arc_{64,256}": "disabled none question others half all"},
    "classify": {"r{4,10,20,40,100,1k,10k}": "linear acl"},
    "dispatch": {"handover_{256,64,32,8}": "librte_mcore librte_paced librte_rtc halyard_rtc halyard",
                 "{chain4,even,skew}_64": "librte_mcore librte_paced librte_rtc halyard_rtc halyard"},
    "enqueue": {"{one_edge,mix2,mix2_90_10,mix2_99_1,mix4,mix8,mix16}_{256,64,8}{,_lane}":
                "scalar avx2 avx512"},
    "idle": {"walk of {64,1,0} objects": "step walk"},
    "l3fwd": {
        "{one_flow,dst256_8,dst64k_8,dst64k_miss,table172k,burst8,burst1,dst256_8_p1,dst256_8_p8,"
        "closed_loop}": "rxtx static static_checked librte_node librte_typed halyard",
        "{dst256_8,dst64k_8,table172k}_{librte_node,halyard}":
            "ethdev_rx pkt_cls ip4_lookup ip4_rewrite ethdev_tx",
        "{dst256_8,dst64k_8,table172k}_variants": "selected ip4_lookup=scalar pkt_cls=scalar",
        "{dst256_8,dst64k_8,table172k}_by_hand": "by_hand halyard",
        "{dst256_8,dst64k_8,table172k}_bursts":
            "burst_8 burst_16 burst_32 burst_64 burst_128 burst_256",
        "two_lcores_{static,librte_node,halyard}":
            "one_lcore two_lcores first_of_two second_of_two"},
    "lookup": {"{r8,r1k,r10k,all}_{one,256,64k,each}":
               "rte_lpm_lookupx4 scalar x4 fib avx2 avx512 fib_avx512"},
    "offload": {"offload_1000{,_forged}": "no_policy acl mark"},
    "routes": {"{load,change}_lpm": "rte_lpm halyard", "change_lpm_live": "rte_lpm halyard",
               "{load,change}_fib": "rte_fib halyard", "change_fib_live": "rte_fib halyard"},
    "walk": {
        "create_destroy_{10,100,1000}": "halyard halyard_by_source librte_graph",
        "create_destroy_10000": "halyard halyard_by_source",
        "{home_run_256,home_run_64,home_run_32,home_run_8,home_run_1,home_run_2_sources,"
        "parallel_tree,idle,single}":
            "librte_graph librte_graph_nostats halyard halyard_k1 work_only",
        "chain{1,2,4,8,16}_{256,32}":
            "librte_graph librte_graph_nostats halyard halyard_k1 work_only",
        "{home_run_2_sinks,tree,reverse_tree,diamond_0_1_256,diamond_1_8_256,diamond_0_1_2_4_256,"
        "diamond_0_1_2_4_3x100}": "librte_graph_x4 librte_graph_next nostats_x4 nostats_next "
                                  "halyard halyard_k1 work_only",
        "{one_edge,mix2,mix2_90_10,mix2_99_1,mix4,mix8,mix16}_{256,64,32,8,1}":
            "librte_graph_x4 librte_graph_next nostats_x4 nostats_next halyard halyard_k1 work_only",
        "diamond_{0_1_256,1_8_256,0_1_2_4_256,0_1_2_4_3x100}_calls": "librte_graph halyard",
        "move_{swap,memcpy,assign}_{8,32,64,128,256}":
            "librte_graph librte_graph_nostats halyard halyard_k1 plain",
        "split_1_2_4_{8,32,64,128,256}": "librte_graph_x4 librte_graph_next nostats_x4 "
                                         "nostats_next halyard halyard_k1 plain"},
}
# Reasons for which a contender may be missing on a machine that has room for all.
MAY_SKIP = re.compile(r"the CPU lacks its instructions$|it needs vectors of \d+ bits, \d+ are allowed$|"
                      r"DPDK \S+ has no such model; DPDK 23\.07 and later have$|"
                      r"it takes two lcores, and there is one$|2 lcores are needed, there is one$|"
                      r"the table of \d+ routes: Operation not supported$")
PLAIN = ["--no-huge", "-m", "1024", "--no-pci", "--no-shconf", "--no-telemetry"]


def expect_all(figures, bench_name):
    """Checks that each work has each of its contenders, or says why not for an accepted reason."""
    got = {(row["work"], row["contender"]) for row in figures["rows"]}
    skipped = {(omission["work"], omission["contender"]) for omission in figures["skipped"]}
    unlisted = [o for o in figures["skipped"] if not MAY_SKIP.match(o["reason"])]
    assert unlisted == []
    want = {(work, contender.replace("no_policy", "no policy"))
            for pattern, contenders in EXPECTED[bench_name].items() for work in names(pattern)
            for contender in contenders.split()}
    missing = sorted((w, c) for w, c in want - got
                     if not {(w, c), (w, None), ("*", None)} & skipped)
    # The works of variants have those of this CPU besides.
    more = sorted((w, c) for w, c in got - want if not (w.endswith("_variants") and "=" in c))
    assert (missing, more) == ([], [])
    return len(want & got)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_every_benchmark_has_every_row_without_hugepages(tmp_path, name):
    figures, _ = measure(tmp_path, name, eal=[*PLAIN, *lcores()], timeout=1200)
    assert figures["machine"]["memory"] == "no hugepages"
    assert expect_all(figures, name) > 0


def lcores(most=2):
    """EAL's option for so many lcores, if there are as many CPUs, that may run on every CPU."""
    cpus = sorted(os.sched_getaffinity(0))
    where = f"@({','.join(map(str, cpus))})"
    return ["--lcores", ",".join(f"{n}{where}" for n in range(min(most, len(cpus))))]


@pytest.mark.parametrize("bits", [128, 256])
@pytest.mark.parametrize("name, works", [("classify", "r10"), ("enqueue", "mix4*"),
                                         ("l3fwd", "table172k*"), ("lookup", "r10k_*"),
                                         ("walk", "mix4*")])
def test_benchmark_that_chooses_by_width_ends_with_narrow_vectors(tmp_path, name, works, bits):
    figures, _ = measure(tmp_path, name, "--work", works, timeout=1200,
                         eal=[*PLAIN, *lcores(), f"--force-max-simd-bitwidth={bits}"])
    assert figures["machine"]["simd_bits"] == bits
    contenders = {row["contender"] for row in figures["rows"]}
    too_wide = {"avx512", "fib_avx512", "ip4_lookup=avx512", "ip4_lookup=fib_avx512"}
    if bits < 256:
        too_wide |= {"avx2", "ip4_lookup=avx2"}
    assert contenders & too_wide == set()
    assert contenders


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_benchmark_without_memory_skips_what_has_no_room(tmp_path, name):
    """A table of rte_lpm takes 64 MB. What takes less is measured all the same."""
    works = {"l3fwd": "one_flow", "walk": "mix4_*", "enqueue": "mix4_*", "lookup": "r8_*",
             "classify": "r1?", "dispatch": "even*", "routes": "*_lpm"}
    figures, _ = measure(tmp_path, name, "--work", works.get(name, "*"),
                         eal=["--no-huge", "-m", "48", *PLAIN[3:], *lcores(),
                              "--log-level=critical"])
    tables = {"l3fwd": "static", "offload": "acl", "routes": "rte_lpm"}
    skipped = {omission["contender"] for omission in figures["skipped"]}
    if name in tables:
        assert tables[name] in skipped
    if name == "l3fwd":
        assert list(medians(figures, "one_flow")) == ["rxtx"]
    if name == "lookup":
        assert {s["work"] for s in figures["skipped"]} == set(names("r8_{one,256,64k,each}"))
    if name in ("arc", "classify", "enqueue", "idle", "walk"):
        assert figures["rows"]
        assert figures["skipped"] == []


HUGE = Path("/sys/kernel/mm/hugepages/hugepages-2048kB")
PAGES = 512
MAP_HUGETLB = 0x40000


@pytest.fixture(name="hugepages", scope="module")
def allow_hugepages():
    """Lets the kernel make 1 GB of hugepages on request. None of them is free
    meanwhile, so that nothing changes for other programs."""
    allowed = HUGE / "nr_overcommit_hugepages"
    if not os.access(allowed, os.W_OK) or os.geteuid() != 0:
        pytest.skip("hugepages of 2 MB can be had by root only, where the kernel has them")
    before = allowed.read_text()
    try:
        allowed.write_text(str(int(before) + PAGES))
        with mmap.mmap(-1, PAGES << 21, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_HUGETLB):
            pass
        yield
    except OSError as wrong:
        pytest.skip(f"the kernel makes no {PAGES} hugepages: {wrong}")
    finally:
        allowed.write_text(before)


@pytest.mark.parametrize("name", sorted(EXPECTED))
@pytest.mark.xdist_group("hugepages")
@pytest.mark.usefixtures("hugepages")
def test_every_benchmark_has_every_row_with_hugepages(tmp_path, name):
    """EAL maps hugepages without a mount in --in-memory mode."""
    figures, _ = measure(tmp_path, name, timeout=1200, eal=[
        "--in-memory", "-m", "512", "--no-pci", "--no-telemetry", *lcores()])
    assert figures["machine"]["memory"] == "hugepages"
    assert expect_all(figures, name) > 0


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_signal_loses_no_work_that_is_done(tmp_path, signum):
    path = tmp_path / "figures.json"
    with subprocess.Popen([BENCH, *PLAIN, "--", "walk", "--work", "mix*", "--json", path],
                          stdout=subprocess.PIPE, text=True, stderr=subprocess.PIPE) as running:
        end = time.monotonic() + l3fwd.TIMEOUT
        while not path.exists() and time.monotonic() < end:
            time.sleep(0.05)
        so_far = json.loads(path.read_text())
        running.send_signal(signum)
        said = running.communicate(timeout=l3fwd.TIMEOUT)[1]
    assert (running.returncode, f"stopped by signal {int(signum)}" in said) == (128 + signum, True)
    check(so_far, "walk")
    assert (so_far["complete"], len(so_far["rows"]) > 0) == (False, True)
    figures = json.loads(path.read_text())
    check(figures, "walk")
    assert figures["complete"] is False
    assert figures["rows"][:len(so_far["rows"])] == so_far["rows"]
    assert len({row["work"] for row in figures["rows"]}) < 30


def test_killed_run_leaves_the_works_that_were_done(tmp_path):
    path = tmp_path / "figures.json"
    with subprocess.Popen([BENCH, *PLAIN, "--", "idle", "--rounds", "63", "--json", path],
                          stdout=subprocess.DEVNULL) as running:
        end = time.monotonic() + l3fwd.TIMEOUT
        while not path.exists() and time.monotonic() < end:
            time.sleep(0.01)
        running.kill()
    check(json.loads(path.read_text()), "idle")


def limit_file_size():
    """For a child process: its files have room for one or two of three works."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (2700, 2700))


def test_json_file_without_room_keeps_the_works_before(tmp_path):
    path = tmp_path / "figures.json"
    done = bench(*PLAIN, "--", "idle", "--quick", "--json", path, preexec_fn=limit_file_size)
    assert (done.returncode, f"--json {path}: File too large" in done.stderr) == (1, True), done
    figures = json.loads(path.read_text())
    check(figures, "idle")
    assert figures["complete"] is False
    assert {row["work"] for row in figures["rows"]} in (
        {"walk of 64 objects"}, {"walk of 64 objects", "walk of 1 objects"})
    assert done.stdout.count("cycles/walk") == 3  # all works were measured, and printed
    assert not path.with_name("figures.json.part").exists()


def test_heading_tells_what_figures_depend_on(tmp_path):
    figures, printed = measure(tmp_path, "idle")
    machine = figures["machine"]
    for what in ("cpu", "memory", "compiler", "dpdk", "dpdk_library", "dpdk_build"):
        assert machine[what] in printed, what
    assert re.search(r"core clock \d\.\d\d GHz: an addition takes \d\.\d+ TSC cycles", printed)
    assert re.search(r"^work +unit +noise ", printed, re.MULTILINE)
    assert Path(machine["dpdk_library"]).name.startswith("librte_graph.so")


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


@pytest.mark.parametrize("arguments, message", [
    ([], f"which benchmark? there are: {NAMES}"),
    (["run"], f"'run' is no benchmark; there are: {NAMES}"),
    (["walk", "lookup"], "one benchmark at a time, not 'lookup' too"),
    (["walk", "--rounds", "14"], "--rounds 14: a number from 15 to 255 is wanted"),
    (["walk", "--rounds", "256"], "--rounds 256: a number from 15 to 255 is wanted"),
    (["walk", "--rounds", "20x"], "--rounds 20x: a number from 15 to 255 is wanted"),
    (["walk", "--work", "no_such"], "no work is named 'no_such'"),
    (["walk", "--json", "/nonexistent/f"], "--json /nonexistent/f: No such file or directory"),
    (["l3fwd", "--prefixes", "/nonexistent"],
     "--prefixes /nonexistent: No such file or directory"),
    (["l3fwd", "--contender", "/nonexistent.so"], "--contender /nonexistent.so: "),
    (["walk", "--json"], "option '--json' requires an argument"),
    (["walk", "--fast"], "unrecognized option '--fast'"),
])
def test_bad_arguments_are_refused(arguments, message):
    done = bench(*arguments)
    assert (done.returncode, message in done.stderr) == (1, True), \
        f"exit code {done.returncode}, and not '{message}':\n{done.stdout}\n{done.stderr}"


def test_eal_options_come_before_two_dashes(tmp_path):
    path = tmp_path / "figures.json"
    done = bench("--no-huge", "-m", "64", "--no-pci", "--no-shconf", "--no-telemetry",
                 "--force-max-simd-bitwidth=128", "--", "walk", "--quick", "--work", "idle",
                 "--json", path)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    assert json.loads(path.read_text())["machine"]["simd_bits"] == 128


def plot(source, target):
    """Runs the plotter."""
    return subprocess.run([PLOT, source, target], capture_output=True, text=True, check=False,
                          timeout=l3fwd.TIMEOUT)


def test_plot_is_an_svg_with_every_work_and_peer(tmp_path):
    pytest.importorskip("matplotlib")
    figures, _ = measure(tmp_path, "walk", "--work", "home_run_[368]*")
    done = plot(tmp_path / "figures.json", tmp_path / "plot.svg")
    assert done.returncode == 0, done.stderr
    root = xml.etree.ElementTree.parse(tmp_path / "plot.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    texts = {"".join(text.itertext()).strip() for text in root.iter(
        "{http://www.w3.org/2000/svg}text")}
    wanted = {"home_run_64", "home_run_32", "home_run_8", "target", "against librte_graph",
              "hy-bench walk"}
    assert wanted - texts == set(), sorted(texts)
    assert {row["work"] for row in figures["rows"]} == {"home_run_64", "home_run_32", "home_run_8"}


@pytest.mark.parametrize("content, message", [
    ("{}", "no figures of hy-bench: it lacks bench, machine, rows, ratios"),
    ("not JSON", "Expecting value"),
])
def test_plot_of_something_else_is_refused(tmp_path, content, message):
    pytest.importorskip("matplotlib")
    (tmp_path / "in.json").write_text(content)
    done = plot(tmp_path / "in.json", tmp_path / "out.svg")
    assert (done.returncode, message in done.stderr) == (1, True), done.stderr
    assert not (tmp_path / "out.svg").exists()


def test_book_documents_every_option():
    documented = set(re.findall(r"``(--[a-z]+)", (l3fwd.ROOT / "doc/benchmarks.rst").read_text()))
    helped = bench("walk", "--help")
    assert helped.returncode == 0, helped.stderr
    offered = set(re.findall(r"^  (--[a-z]+)", helped.stdout, re.MULTILINE))
    common = {"--help", "--version"}  # as in every program
    assert offered - common == {"--work", "--rounds", "--quick", "--calibrate", "--json",
                                "--prefixes", "--contender"}
    assert common < offered
    # And an option of bench-pairs.py, and one of EAL's.
    assert documented == offered - common | {"--pairs", "--force"}
