# SPDX-License-Identifier: BSD-3-Clause
"""What hy-bench writes, also when it is stopped or a disk is full; its command line, which refuses what
it cannot do; and its plots, which are well-formed."""

import contextlib
import json
import re
import resource
import signal
import subprocess
import time
import xml.etree.ElementTree
from pathlib import Path

import pytest

import l3fwd
from benchrun import BENCH, PLAIN, bench, check, measure

PLOT = l3fwd.ROOT / "tools" / "bench-plot.py"
NAMES = "acl arc classify dispatch enqueue flows idle l2 l3fwd lookup offload routes walk"


def await_results(path):
    """Until a first work's figures are there. An empty file is how hy-bench tries whether it may
    write: it removes that again."""
    end = time.monotonic() + l3fwd.TIMEOUT
    while time.monotonic() < end:
        with contextlib.suppress(FileNotFoundError):
            if path.stat().st_size > 0:
                return
        time.sleep(0.01)


@pytest.mark.parametrize("signum", [signal.SIGINT, signal.SIGTERM])
def test_signal_loses_no_work_that_is_done(tmp_path, signum):
    path = tmp_path / "figures.json"
    with subprocess.Popen([BENCH, *PLAIN, "--", "walk", "--work", "mix*", "--json", path],
                          stdout=subprocess.PIPE, text=True, stderr=subprocess.PIPE) as running:
        await_results(path)
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
        await_results(path)
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
    page = (l3fwd.ROOT / "doc/benchmarks.rst").read_text().partition("\nAgainst Open vSwitch\n")[0]
    documented = set(re.findall(r"``(--[a-z]+)", page))
    helped = bench("walk", "--help")
    assert helped.returncode == 0, helped.stderr
    offered = set(re.findall(r"^  (--[a-z]+)", helped.stdout, re.MULTILINE))
    common = {"--help", "--version"}  # as in every program
    assert offered - common == {"--work", "--rounds", "--quick", "--calibrate", "--json",
                                "--prefixes", "--rules", "--full", "--contender"}
    assert common < offered
    # And two options of bench-pairs.py, and one of EAL's.
    assert documented == offered - common | {"--pairs", "--by", "--force"}
