# SPDX-License-Identifier: BSD-3-Clause
"""hy-bench: its figures are what its rounds say, its command line refuses what it cannot do, and
its plots are well-formed. Nothing here depends on how fast anything is."""

import json
import os
import re
import statistics
import subprocess
import xml.etree.ElementTree

import pytest

import l3fwd

BENCH = l3fwd.BUILD / "app" / "bench" / "hy-bench"
PLOT = l3fwd.ROOT / "tools" / "bench-plot.py"
QUICK_ROUNDS = 15
CLOSE = 1e-4  # figures are written with six digits


def bench(*arguments):
    """Runs hy-bench to its end."""
    if not os.access(BENCH, os.X_OK):
        pytest.fail(f"{BENCH} is not there: build first, or set HALYARD_BUILD", pytrace=False)
    return subprocess.run([BENCH, *map(str, arguments)], capture_output=True, text=True,
                          check=False, timeout=l3fwd.TIMEOUT, stdin=subprocess.DEVNULL)


def measure(folder, name, *arguments):
    """The JSON of a quick run, checked for what holds for every one; and what was printed."""
    path = folder / "figures.json"
    done = bench(name, "--quick", "--json", path, *arguments)
    assert done.returncode == 0, f"{arguments}\n{done.stdout}\n{done.stderr}"
    figures = json.loads(path.read_text())
    assert list(figures) == ["bench", "machine", "rows", "ratios"]
    assert figures["bench"] == name
    assert set(figures["machine"]) == {"cpu", "tsc_hz", "simd_bits", "memory", "compiler", "flags",
                                       "dpdk", "librte_graph_stats"}
    for row in figures["rows"]:
        assert list(row) == ["work", "contender", "unit", "median", "min", "max", "rounds"]
        assert row["median"] == statistics.median_low(row["rounds"]), row
        assert row["min"] == min(row["rounds"]) > 0, row
        assert row["max"] == max(row["rounds"]), row
    for ratio in figures["ratios"]:
        assert list(ratio) == ["work", "against", "ratio"]
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
    assert {len(row["rounds"]) for row in figures["rows"]} == {QUICK_ROUNDS}
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
    assert {len(row["rounds"]) for row in figures["rows"]} == {17}
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


def test_l3fwd_compares_contenders_that_forward_right(tmp_path):
    figures, _ = measure(tmp_path, "l3fwd", "--work", "dst256_8")
    got = medians(figures, "dst256_8")
    assert list(got) == ["rxtx", "static", "static_checked", "librte_node", "halyard"]
    assert {row["unit"] for row in figures["rows"]} == {"cycles/packet"}
    assert ratios(figures, "dst256_8") == {
        peer: pytest.approx(got[peer] / got["halyard"], rel=CLOSE)
        for peer in ("static", "static_checked", "librte_node")}


@pytest.mark.parametrize("arguments, message", [
    ([], "which benchmark? there are: enqueue idle l3fwd lookup walk"),
    (["run"], "'run' is no benchmark; there are: enqueue idle l3fwd lookup walk"),
    (["walk", "lookup"], "one benchmark at a time, not 'lookup' too"),
    (["walk", "--rounds", "14"], "--rounds 14: a number from 15 to 255 is wanted"),
    (["walk", "--rounds", "256"], "--rounds 256: a number from 15 to 255 is wanted"),
    (["walk", "--rounds", "20x"], "--rounds 20x: a number from 15 to 255 is wanted"),
    (["walk", "--work", "no_such"], "no work is named 'no_such'"),
    (["walk", "--json", "/nonexistent/f"], "--json /nonexistent/f: No such file or directory"),
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
    assert offered == documented == {"--work", "--rounds", "--quick", "--json"}
