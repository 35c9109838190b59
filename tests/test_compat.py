# SPDX-License-Identifier: BSD-3-Clause
"""rte_graph's API: DPDK's own tests, each release's with that release, and nodes of 22.11,
unmodified, on Halyard's core. They are compiled against the installed library as a user would, and
linked without librte_graph."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import frames
import l3fwd
import oracle
import pcapfile
import test_install
import upstream
from test_capture import packets
from test_install import pkg_config, run

OURS = Path(__file__).parent / "compat"
NODES = ["ethdev_ctrl", "ethdev_rx", "ethdev_tx", "ip4_lookup", "ip4_rewrite", "log", "null",
         "pkt_cls", "pkt_drop"]
# One core of a graph's worker, and one that sleeps while it runs.
EAL = ["--no-huge", "-m", "256", "--no-pci", "--no-shconf", "--no-telemetry"]

# What each release's tests consist of, in the order in which they run.
GRAPH_22_11 = ["test_update_edges", "test_lookup_functions", "test_create_graph",
               "test_graph_lookup_functions", "test_graph_walk", "test_print_stats"]
GRAPH_24_11 = [*GRAPH_22_11[:3], "test_graph_clone", "test_graph_id_collisions",
               "test_graph_model_mcore_dispatch_node_lcore_affinity_set",
               "test_graph_model_mcore_dispatch_core_bind_unbind",
               "test_graph_worker_model_set_get", *GRAPH_22_11[3:]]
ARC = [f"test_graph_feature_arc_{what}" for what in
       ("create", "features_add", "feature_enable", "feature_disable", "destroy")]
ARC_NODES = {f"arc{name}_node" for name in
             ("_source1", "_input_static", "_output_static", "_pkt_free_static", "_dummy1_static",
              "_dummy2_static", "1_feature1", "1_feature2", "2_feature1", "2_feature2",
              "2_feature3")}
PERF = ["graph_hr_4s_1n_1src_1snk", "graph_hr_4s_1n_1src_1snk_brst_one", "graph_hr_4s_1n_2src_1snk",
        "graph_hr_4s_1n_1src_2snk", "graph_tree_4s_4n_1src_4snk",
        "graph_reverse_tree_3s_4n_1src_1snk", "graph_parallel_tree_5s_4n_4src_4snk"]
WITH_ARC = {"graph_autotest": GRAPH_24_11, "graph_feature_arc_autotest": ARC,
            "graph_perf_autotest": PERF}
CASES = {
    "22.11": {"graph_autotest": GRAPH_22_11, "graph_perf_autotest": PERF},
    "24.11": {"graph_autotest": GRAPH_24_11, "graph_perf_autotest": PERF},
    "25.11": WITH_ARC,
    "26.07": WITH_ARC,
    "26.11": WITH_ARC,
}
FILES = {"graph_autotest": "test_graph.c", "graph_feature_arc_autotest": "test_graph_feature_arc.c",
         "graph_perf_autotest": "test_graph_perf.c"}

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("compat")]
installed = test_install.installed


def compile_and_link(installed, program, sources, *flags, sanitize=True):
    """Builds a program with DPDK's include folders behind ours, and without DPDK's graph
    libraries. Warnings in our headers are errors; DPDK's sources are compiled as they are there."""
    compat = run("pkg-config", "--variable=compat", installed / "halyard.pc").strip()
    libraries = subprocess.run(["pkg-config", "--libs", "libdpdk"], capture_output=True, text=True,
                               check=True).stdout.split()
    libraries = [w for w in libraries if w not in ("-lrte_graph", "-lrte_node")]
    compiler = os.environ.get("CC", "cc")
    objects = [program.parent / f"{source.stem}.o" for source in sources]
    for source, target in zip(sources, objects):
        run(compiler, "-std=gnu11", "-O2", "-Wall", "-Werror", "-Wno-unused",
            "-fno-strict-aliasing", "-DALLOW_EXPERIMENTAL_API",
            *(test_install.sanitizer() if sanitize else []), f"-I{compat}",
            *pkg_config(installed, "--cflags"), *flags, "-c", source, "-o", target)
    run(compiler, *test_install.sanitizer(), *objects, "-o", program,
        *pkg_config(installed, "--libs"), *libraries)
    return program


def environment(installed, program):
    libdir = pkg_config(installed, "--variable=libdir")[0]
    loaded = run("ldd", program, LD_LIBRARY_PATH=libdir)
    assert f"{libdir}/libhalyard.so" in loaded
    assert "librte_graph" not in loaded and "librte_node" not in loaded, loaded
    return {"LD_LIBRARY_PATH": libdir, "RUNTIME_DIRECTORY": str(program.parent)}


def headers_of_tests():
    """Flags for what DPDK's tests include of its sources: behind all that is installed."""
    source = upstream.source("app/test/test_graph.c")
    return [f"-I{source / 'app' / 'test'}", "-idirafter", source / "lib" / "eal" / "include",
            "-idirafter", source / "lib" / "eal" / "linux" / "include"]


def cases():
    """The cases that this DPDK's tests have."""
    known = CASES.get(upstream.version())
    if known is None:
        pytest.fail(f"which cases the tests of DPDK {upstream.version()} have is not written down "
                    f"in {__file__}", pytrace=False)
    return known


@pytest.fixture(scope="module")
def autotests(installed, tmp_path_factory):
    """The program with DPDK's tests. test_graph_perf.c writes past the end of an array of its own,
    for which a sanitizer would end it."""
    tests = upstream.source("app/test/test_graph.c") / "app" / "test"
    assert {path.name for path in tests.glob("test_graph*.c")} == {FILES[test] for test in cases()}
    return compile_and_link(
        installed, tmp_path_factory.mktemp("autotests") / "autotests",
        [*(tests / FILES[test] for test in cases()), OURS / "main.c"],
        *headers_of_tests(), sanitize=False)


@pytest.mark.parametrize("test", FILES)
def test_autotest_of_dpdk_passes(installed, autotests, test):
    if test not in cases():
        pytest.skip(f"DPDK {upstream.version()} has no {FILES[test]}")
    cpu = min(os.sched_getaffinity(0))
    printed = run(autotests, *EAL, "--lcores", f"0@{cpu},1@{cpu}", "--", test,
                  **environment(installed, autotests))
    assert re.findall(r"(?m)^case (\w+): (\w+)$", printed) == [
        (case, "passed") for case in cases()[test]], printed
    assert f"test {test}: ok" in printed, printed
    if test == "graph_perf_autotest":
        rows = re.findall(r"(?m)^\|(test_graph_perf_\S+) +\| +(\d+)\| +(\d+)\|", printed)
        assert len(rows) == 80, printed
        assert all(int(calls) > 0 and int(objs) > 0 for _, calls, objs in rows), printed


def test_node_list_dump_names_all_nodes(installed, autotests):
    printed = run(autotests, *EAL, "--", "node_list_dump", **environment(installed, autotests))
    names = re.findall(r"(?m)^node <(\w+)>$", printed)
    want = {"test_node_source1", "test_node00", "test_graph_perf_source",
            "test_graph_perf_source_one", "test_graph_perf_worker", "test_graph_perf_sink"}
    if "graph_feature_arc_autotest" in cases():
        want |= ARC_NODES
    assert sorted(names) == sorted(want)


def test_program_that_measures_the_cost_knows_all_graphs(installed, tmp_path):
    program = compile_and_link(installed, tmp_path / "cost", [OURS / "cost.c"],
                               *headers_of_tests(), sanitize=False)
    printed = run(program, *EAL, "-l", min(os.sched_getaffinity(0)), "--", 3,
                  **environment(installed, program))
    costs = re.findall(r"(?m)^graph_\w+ ([\d.]+)$", printed)
    assert len(costs) == len(PERF), printed
    assert all(float(cycles) > 0 for cycles in costs), printed


@pytest.fixture(scope="module")
def forward(installed, tmp_path_factory):
    """The program that forwards through all nodes of DPDK 22.11's lib/node."""
    nodes = upstream.source("lib/node/pkt_drop.c") / "lib" / "node"
    assert {path.stem for path in nodes.glob("*.c")} == set(NODES)
    return compile_and_link(installed, tmp_path_factory.mktemp("forward") / "forward",
                            [OURS / "forward.c", *nodes.glob("*.c")], f"-I{nodes}")


def forwarded(frame, port):
    """What lib/node makes of a good packet: new MAC addresses, one hop less to live."""
    macs = bytes([2, 0, 0, 0, 0, port, 2, 0, 0, 0, 1, port])
    header = bytearray(frame[14 : 14 + 4 * (frame[14] & 15)])
    header[8] -= 1
    header[10:12] = oracle.checksum(header).to_bytes(2, "big")
    return macs + frame[12:14] + bytes(header) + frame[14 + len(header) :]


def traffic(address, count):
    """Packets whose checksum updates without a carry, which lib/node forgets in a burst's tail."""
    made = [f for f in frames.traffic(address, 2 * count) if f[24] < 0xFE]
    return made[:count]


# Odd numbers, so that bursts have tails; more than a burst; packets of both ports mixed.
COUNTS = {"10.0.0.7": 333, "10.0.1.200": 478, "10.9.9.9": 77}


def test_nodes_of_dpdk_forward_packets(installed, forward, tmp_path):
    by_address = {address: traffic(address, count) for address, count in COUNTS.items()}
    assert {address: len(made) for address, made in by_address.items()} == COUNTS
    mixed = [f for made in by_address.values() for f in made]
    frames.random.Random(1).shuffle(mixed)
    inputs = [mixed[::2], mixed[1::2]]
    ports = [upstream.pcap_port(p, tmp_path, received) for p, received in enumerate(inputs)]
    printed = run(forward, *EAL, "-l", min(os.sched_getaffinity(0)), *[vdev for vdev, _ in ports],
                  "--", len(mixed), **environment(installed, forward))
    for port, (_, sent) in enumerate(ports):
        want = sorted(forwarded(f, port) for f in by_address[list(COUNTS)[port]])
        l3fwd.assert_same_frames(want, sorted(pcapfile.read(sent)), f"port {port}")
    counts = dict(re.findall(r"(?m)^(\S+) (\d+)$", printed))
    assert {name: int(n) for name, n in counts.items()} == {
        "ethdev_rx-0-0": len(inputs[0]), "ethdev_rx-1-0": len(inputs[1]), "pkt_cls": len(mixed),
        "ip4_lookup": len(mixed), "ip4_rewrite": 333 + 478, "ethdev_tx-0": 333,
        "ethdev_tx-1": 478, "pkt_drop": 77}, printed
    assert "mbufs in use: 0" in printed, printed


@pytest.mark.skipif(shutil.which("tshark") is None,
                    reason="tshark is not installed; tools/setup test does it")
def test_a_graph_of_rte_graph_is_captured_for_tshark(installed, tmp_path):
    program = compile_and_link(installed, tmp_path / "capture", [OURS / "capture.c"])
    path = tmp_path / "some.pcapng"
    printed = run(program, *EAL, "-l", min(os.sched_getaffinity(0)), "--", path, 150,
                  **environment(installed, program))
    assert "packets: 100, in use: 0" in printed, printed
    walks = [range(0, 32), range(32, 64), range(64, 96)]
    want = [(f"rte.{node}", bytes([i]) * (60 + i))
            for walk in walks for node in ("hop", "end") for i in walk][:150]
    assert len(want) == 150
    assert [(p["frame.comment"], p["data"]) for p in packets(path)] == want


def symbols(*command):
    """Global symbols that nm finds defined."""
    return {line.split()[-1] for line in run("nm", *command).splitlines()
            if len(line.split()) == 3 and line.split()[1].isupper()}


def test_no_library_of_ours_defines_a_symbol_of_dpdk(installed):
    libdir = pkg_config(installed, "--variable=libdir")[0]
    shared = symbols("-D", "--defined-only", f"{libdir}/libhalyard.so")
    static = symbols("--defined-only", f"{libdir}/libhalyard.a")
    assert {"hy_compat_graph_create", "hy_compat_node_register"} <= shared & static
    for found in (shared, static):
        assert not [name for name in found if re.match(r"_*rte_", name)]


def test_headers_refuse_to_be_included_behind_those_of_dpdk(installed, tmp_path):
    compat = run("pkg-config", "--variable=compat", installed / "halyard.pc").strip()
    program = tmp_path / "late.c"
    program.write_text(f'#include <rte_graph.h>\n#include "{compat}/rte_graph.h"\n')
    done = subprocess.run([os.environ.get("CC", "cc"), "-fsyntax-only",
                           *pkg_config(installed, "--cflags"), program],
                          capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "must come after halyard/compat" in done.stderr, done.stderr
