# SPDX-License-Identifier: BSD-3-Clause
"""hy-bench measures all that this machine can run, and says why it leaves out the rest."""

import itertools
import mmap
import os
import re
from pathlib import Path

import pytest

from benchrun import PLAIN, lcores, measure, medians

pytestmark = pytest.mark.slow


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
    "flows": {works: "gen none emc8k dfc dfc_number emc16k_dfc smc emc8k_smc lines auto" for works in (
        "leaf_{8,100,1k,2k,5k,10k,20k,50k,100k,500k,1M}", "masks_{4,16,64}",
        "pirate_0M")} | {
            "change_100k": "still changing", "install": "add delete", "first_packet": "median 99th",
            "apply": "gen output route push_vlan vxlan",
            "rules_10k_{1,1k,10k}": "still changing", "sweep_1Mi": "megaflows dfc_number"} | {
            works: "gen static none emc8k dfc dfc_number emc16k_dfc smc emc8k_smc lines frames auto"
            for works in ("loop_{8,10k,1M}", "loop_{10k_k16,10k_zipf,new_mall,10k_vxlan}")},
    "idle": {"walk of {64,1,0} objects": "step walk"},
    "l2": {"leaf_{64,1k,16k,65k,1M}": "rte_hash_14 rte_hash_8 rte_hash_bulk scalar avx2 avx512",
           "learn_1M": "rte_hash table",
           "steps_{64,1k,16k,65k,1M}": "alloc_single alloc_burst stack hash_14 hash_8 hash_bulk ours",
           "controls_1k": "none_single none_burst alloc_single alloc_burst stack no_lookup "
                          "hints_swapped no_bswap",
           "compilers_1k": "gcc_O2 gcc_O3 clang_O2 clang_O3 "
                           "ours_gcc_O2 ours_gcc_O3 ours_clang_O2 ours_clang_O3",
           "kernel_port_1k": "none_single none_burst alloc_single alloc_burst stack ours",
           "bridge_all_in": "l2fwd by_hand apart no_learning halyard",
           "bridge_{trunk,access_to_trunk}": "l2fwd apart no_learning halyard",
           "bridge_all_in_nodes":
               "ethdev_rx l2_input l2_learn l2_lookup l2_output ethdev_tx"},
    "l3fwd": {
        "{one_flow,dst256_8,dst64k_8,dst64k_miss,table172k,burst8,burst1,dst256_8_p1,dst256_8_p8,"
        "closed_loop}": "rxtx static static_checked librte_pipeline librte_node librte_typed halyard",
        "{ip6_one_flow,ip6_dst256_8,ip6_dst64k_8,ip6_table73k,mix46}":
            "rxtx static static_checked librte_node librte_typed halyard halyard_apart",
        "{ecmp8,ecmp8_p2}": "single group single_apart group_apart",
        "{dst256_8,dst64k_8,table172k}_{librte_node,halyard}":
            "ethdev_rx pkt_cls ip4_lookup ip4_rewrite ethdev_tx",
        "{dst256_8,dst64k_8,table172k}_variants": "selected ip4_lookup=scalar pkt_cls=scalar",
        "{dst256_8,dst64k_8,table172k}_by_hand": "by_hand halyard",
        "{dst256_8,dst64k_8,table172k}_bursts":
            "burst_1 burst_8 burst_16 burst_32 burst_64 burst_128 burst_256 static_1 static_8 "
            "static_16 static_32 static_64 static_128 static_256",
        "two_lcores_{static,librte_node,halyard}":
            "one_lcore two_lcores first_of_two second_of_two"},
    "lookup": {"{r8,r1k,r10k,all}_{one,256,64k,each}":
               "rte_lpm_lookupx4 scalar x4 fib avx2 avx512 fib_avx512",
               "{ip6_r8,ip6_all}_{256,64k,each}": "rte_lpm6 rte_fib6 rte_fib6_avx512 scalar batch"},
    "offload": {"offload_1000{,_forged}": "no_policy acl mark"},
    "routes": {"{load,change}_lpm": "rte_lpm halyard", "change_lpm_live": "rte_lpm halyard",
               "{load,change}_fib": "rte_fib halyard", "change_fib_live": "rte_fib halyard",
               "{load,change}_ip6": "rte_lpm6 rte_fib6 halyard", "parts_ip6": "prepare exchange"},
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
        "mix64_256":
            "librte_graph_x4 librte_graph_next nostats_x4 nostats_next halyard halyard_k1 work_only",
        "diamond_{0_1_256,1_8_256,0_1_2_4_256,0_1_2_4_3x100}_calls": "librte_graph halyard",
        **{works: "librte_graph librte_graph_nostats halyard halyard_k1 plain" for works in (
            "pass_{swap,assign,memcpy8}_{8,32,64,128,256}", "pass_memcpy{1,2,4,16,32}_{32,64,128,256}",
            "pass_memcpy64_{64,128,256}", "pass_memcpy128_{128,256}", "pass_memcpy256_256",
            "batches_{1,2,4}_{assign,memcpy8}_256")},
        "split_1_2_4_{8,32,64,128,256}": "librte_graph_x4 librte_graph_next nostats_x4 "
                                         "nostats_next halyard halyard_k1 plain"},
}
# Reasons for which a contender may be missing on a machine that has room for all.
MAY_SKIP = re.compile(r"the CPU lacks its instructions$|it needs vectors of \d+ bits, \d+ are allowed$|"
                      r"DPDK was built without librte_pipeline$|"
                      r"DPDK \S+ has no (such model|IPv6 nodes); DPDK 23\.07 and later have$|"
                      r"there is no librte_node$|"
                      r"it takes two lcores, and there is one$|2 lcores are needed, there is one$|"
                      r"the table of \d+ routes: Operation not supported$|"
                      r"an rte_lpm6 of 1048576 keys takes \d+ MB$|"
                      r"hy-bench was built where there is no second compiler$|"
                      r"a network namespace: Operation not permitted$|"
                      r"a TAP device: (Operation not permitted|No such (file or directory|device))$|"
                      r"net_af_packet: ")


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


@pytest.mark.parametrize("bits", [128, 256])
@pytest.mark.parametrize("name, works", [("classify", "r10"), ("enqueue", "mix4*"),
                                         ("l2", "leaf_1k"),
                                         ("l3fwd", "table172k*"), ("lookup", "r10k_*"),
                                         ("lookup", "ip6_r8_*"),
                                         ("walk", "mix4*")])
def test_benchmark_that_chooses_by_width_ends_with_narrow_vectors(tmp_path, name, works, bits):
    figures, _ = measure(tmp_path, name, "--work", works, timeout=1200,
                         eal=[*PLAIN, *lcores(), f"--force-max-simd-bitwidth={bits}"])
    assert figures["machine"]["simd_bits"] == bits
    contenders = {row["contender"] for row in figures["rows"]}
    too_wide = {"avx512", "fib_avx512", "ip4_lookup=avx512", "ip4_lookup=fib_avx512",
                "rte_fib6_avx512"}
    if bits < 256:
        too_wide |= {"avx2", "ip4_lookup=avx2"}
    assert contenders & too_wide == set()
    assert contenders


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_benchmark_without_memory_skips_what_has_no_room(tmp_path, name):
    """A table of rte_lpm takes 64 MB. What takes less is measured all the same."""
    works = {"l3fwd": "one_flow", "walk": "mix4_*", "enqueue": "mix4_*", "lookup": "r8_*",
             "classify": "r1?", "dispatch": "even*", "flows": "l*_8",
             "routes": "*_lpm"}
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
    if name == "l2":
        assert {s["work"] for s in figures["skipped"] if s["contender"] == "scalar"} == {"leaf_1M"}
    if name in ("arc", "classify", "enqueue", "idle", "walk"):
        assert figures["rows"]
        reasons = {omission["reason"] for omission in figures["skipped"]}
        assert reasons <= {"the CPU lacks its instructions"}


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
