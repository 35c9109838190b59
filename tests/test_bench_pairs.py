# SPDX-License-Identifier: BSD-3-Clause
"""tools/bench-pairs.py: its intervals are those of the literature, its sources those of git, its runs
alternate, and what one revision lacks is said. Runs hy-bench itself, and compares no speed."""

import importlib.util
import itertools
import json
import math
import os
import random
import subprocess

import pytest

import l3fwd

TOOL = l3fwd.ROOT / "tools" / "bench-pairs.py"
BENCH = l3fwd.BUILD / "app" / "bench" / "hy-bench"
SPEC = importlib.util.spec_from_file_location("bench_pairs", TOOL)
pairs = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(pairs)


def test_critical_values_are_those_of_the_tables():
    """Of Wilcoxon's signed-rank test, two-sided, 5 %."""
    table = {5: -1, 6: 0, 7: 2, 8: 3, 9: 5, 10: 8, 12: 13, 15: 25, 16: 29, 20: 52, 25: 89}
    assert {n: pairs.wilcoxon_rank(n) for n in table} == table


def test_critical_values_are_those_of_all_signs():
    for n in range(6, 12):
        sums = [sum(rank for rank, sign in zip(range(1, n + 1), signs) if sign)
                for signs in itertools.product([0, 1], repeat=n)]
        k = pairs.wilcoxon_rank(n)
        assert 2 * sum(s <= k for s in sums) <= 0.05 * 2 ** n < 2 * sum(s <= k + 1 for s in sums)


def test_interval_holds_the_true_ratio_as_often_as_it_says():
    """Also where runs are disturbed, and those that come first are slower."""
    source = random.Random(1)
    held = wide = 0
    for _ in range(1000):
        ratios = [1.02 * math.exp(source.gauss(0.01 if n % 2 else -0.01, 0.02)
                                  + (source.random() < 0.1) * source.gauss(0, 0.5))
                  for n in range(pairs.PAIRS)]
        estimate, low, high = pairs.paired_ratio(ratios)
        assert low <= estimate <= high
        held += low <= 1.02 <= high
        wide += high / low > 1.1
    assert 930 <= held <= 990
    assert wide < 250


def test_exact_ratio_is_found():
    assert pairs.paired_ratio([2.0] * 6) == pytest.approx((2, 2, 2))
    estimate, low, high = pairs.paired_ratio([0.5, 2.0])
    assert (estimate, low, high) == (pytest.approx(1), None, None)


@pytest.fixture(name="repository")
def make_repository(tmp_path, monkeypatch):
    """A git repository with one commit, a change, a new file and one that is ignored."""
    root = tmp_path / "repository"
    root.mkdir()

    def git(*arguments):
        subprocess.run(["git", "-C", root, "-c", "user.name=A", "-c", "user.email=a@example.net",
                        *arguments], check=True, capture_output=True)

    git("init", "-q")
    (root / "a").write_text("old")
    (root / "gone").write_text("gone")
    (root / "tool").write_text("#!/bin/sh\n")
    (root / "tool").chmod(0o755)
    (root / ".gitignore").write_text("*.o\n")
    git("add", ".")
    git("commit", "-qm", "first")
    (root / "a").write_text("new")
    (root / "b").write_text("b")
    (root / "c.o").write_text("c")
    (root / "gone").unlink()
    monkeypatch.setattr(pairs, "ROOT", root)
    return root


def test_tree_is_taken_as_it_is_and_base_as_it_was(repository, tmp_path):
    tree, base = pairs.tree_files(), pairs.revision_files("HEAD")
    assert {name: content for name, (content, _) in tree.items()} == {
        "a": b"new", "b": b"b", "tool": b"#!/bin/sh\n", ".gitignore": b"*.o\n"}
    assert {name: content for name, (content, _) in base.items()} == {
        "a": b"old", "gone": b"gone", "tool": b"#!/bin/sh\n", ".gitignore": b"*.o\n"}
    assert tree["tool"][1] == base["tool"][1] == 0o755
    folder = tmp_path / "src"
    folder.mkdir()
    pairs.put_sources(folder, base)
    before = (folder / "tool").stat().st_mtime_ns
    pairs.put_sources(folder, tree)
    assert {path.name for path in folder.iterdir()} == set(tree)
    assert (folder / "a").read_text() == "new"
    assert (folder / "tool").stat().st_mtime_ns == before
    listed = subprocess.run(["git", "-C", repository, "worktree", "list"], check=True,
                            capture_output=True, text=True).stdout
    assert len(listed.splitlines()) == 1


def compare(tmp_path, arguments, sides=None):
    """A benchmark whose sides run the same hy-bench, or what they are given; and the order of runs."""
    if not os.access(BENCH, os.X_OK):
        pytest.fail(f"{BENCH} is not there: build first, or set HALYARD_BUILD", pytrace=False)
    log = tmp_path / "log"
    programs = {}
    for side in (pairs.BASE, pairs.TREE):
        programs[side] = tmp_path / f"run-{side}"
        command = (sides or {}).get(side, f'exec {BENCH} "$@"')
        programs[side].write_text(f"#!/bin/sh\necho {side} >>{log}\n{command}\n")
        programs[side].chmod(0o755)
    benchmark = pairs.Benchmark(arguments[0], programs, ["--quick", *arguments[1:]], tmp_path)
    return benchmark, log


def test_runs_alternate_and_every_row_has_a_ratio(tmp_path, capsys):
    benchmark, log = compare(tmp_path, ["idle"])
    (measured,) = pairs.measure([benchmark], 6)
    assert log.read_text().split() == [
        side for number in [0, *range(6)]
        for side in (("base", "tree") if number % 2 == 0 else ("tree", "base"))]
    result = pairs.report(measured, True)
    printed = capsys.readouterr().out
    assert "6 pairs of runs of 1 benchmarks: some " in printed
    assert [(row["work"], row["contender"]) for row in result["rows"]] == [
        (f"walk of {n} objects", who) for n in (64, 1, 0) for who in ("step", "walk")]
    for row in result["rows"]:
        assert len(row["ratios"]) == row["pairs"] == 6
        assert row["low"] <= row["ratio"] <= row["high"]
        assert f"{row['low']:.3f} to {row['high']:.3f}" in printed
    assert (result["skipped"], result["broken"]) == ([], None)


def test_short_form_has_a_line_for_the_benchmark_and_its_slowest_rows(capsys):
    """All of the short form's rows are rows of the long one."""
    measured = pairs.Benchmark("walk", {}, [], None)
    for n in range(6):
        base = {(f"w{work}", "halyard"): 100.0 + n for work in range(9)}
        measured.figures[pairs.BASE].append(base)
        measured.figures[pairs.TREE].append({
            key: figure * (1 + (int(key[0][1:]) - 2) / 100) for key, figure in base.items()})
    measured.skipped[pairs.BASE] = {("gone", None): "there is no memory"}
    for figures in measured.figures[pairs.TREE]:
        figures["gone", "halyard"] = 1.0
    long_result = pairs.report(measured, True)
    long_lines = capsys.readouterr().out.splitlines()
    assert pairs.report(measured, False) == long_result
    first, *rows = capsys.readouterr().out.splitlines()
    assert first.split() == ("walk 9 rows 1.020 is their median; 6 slower, 2 faster; 1 skipped: "
                             "base: there is no memory").split()
    assert [row.split()[0] for row in rows] == ["w8", "w7", "w6"]
    assert set(rows) < set(long_lines)
    assert len(long_lines) == 2 + 9 + 1


def test_rows_that_one_revision_lacks_are_said_and_others_compared(tmp_path, capsys):
    base = f'exec {BENCH} "$@" --work "walk of [01] *"'
    benchmark, _ = compare(tmp_path, ["idle"], {pairs.BASE: base})
    (measured,) = pairs.measure([benchmark], 2)
    result = pairs.report(measured, True)
    assert {row["work"] for row in result["rows"]} == {"walk of 1 objects", "walk of 0 objects"}
    assert result["skipped"] == [
        {"work": "walk of 64 objects", "contender": who, "side": "base",
         "reason": "it has no such row"} for who in ("step", "walk")]
    assert "skipped: base: it has no such row" in capsys.readouterr().out


def test_benchmark_that_one_revision_lacks_is_said(tmp_path, capsys):
    base = f'shift; exec {BENCH} nothing "$@"'
    benchmark, _ = compare(tmp_path, ["idle"], {pairs.BASE: base})
    (measured,) = pairs.measure([benchmark], 2)
    result = pairs.report(measured, True)
    assert result["rows"] == []
    assert "'nothing' is no benchmark" in result["broken"]
    assert "idle ended after 0 pairs: base: " in capsys.readouterr().out


def test_pairs_before_a_failure_count(tmp_path, capsys):
    """The tree's program fails at its fourth run; the first one warms up."""
    tree = f'[ $(grep -c tree {tmp_path}/log) -lt 4 ] || {{ echo it broke >&2; exit 3; }}; ' \
           f'exec {BENCH} "$@"'
    benchmark, _ = compare(tmp_path, ["idle"], {pairs.TREE: tree})
    (measured,) = pairs.measure([benchmark], 6)
    result = pairs.report(measured, True)
    assert {row["pairs"] for row in result["rows"]} == {2}
    assert result["broken"] == "tree: it broke"
    assert "idle ended after 2 pairs: tree: it broke" in capsys.readouterr().out


def test_drift_of_the_machine_is_divided_out():
    """Each run is slowed by another factor, which all of its contenders feel; ours is 2 % slower."""
    measured = pairs.Benchmark("walk", {}, [], None, "static")
    for n in range(6):
        for side, ours in ((pairs.BASE, 100.0), (pairs.TREE, 102.0)):
            slow = 1 + n / 10 if side == pairs.BASE else 1.7 - n / 10
            measured.figures[side].append({("w", "halyard"): ours * slow, ("w", "static"): 50 * slow,
                                           ("alone", "halyard"): ours})
    both, lacking = measured.rows()
    assert [(row["contender"], row["low"], row["high"]) for row in both] == [
        ("halyard", pytest.approx(1.02), pytest.approx(1.02)),
        ("static", pytest.approx(1), pytest.approx(1))]
    assert [(row["work"], row["reason"]) for row in lacking] == [
        ("alone", "it has no such row, or none of static")]


def test_contender_that_is_wrong_ends_a_benchmark(tmp_path):
    """Figures count only where the output of both was right."""
    wrong = {"rows": [], "skipped": [], "wrong": [{"work": "w", "contender": "c", "reason": "r"}]}
    (tmp_path / "wrong").write_text(json.dumps(wrong))
    base = f'for path; do :; done; cp {tmp_path}/wrong "$path"; echo c is wrong >&2; exit 1'
    benchmark, _ = compare(tmp_path, ["idle"], {pairs.BASE: base})
    benchmark.pair(0)
    assert benchmark.broken == "base: c is wrong"


@pytest.mark.parametrize("arguments, message", [
    (["no-such-revision"], "no-such-revision"),
    (["HEAD", "nothing"], "'nothing' is no benchmark; there are acl"),
    (["HEAD", "--pairs", "15"], "--pairs is an even number"),
    ([], "the following arguments are required: base"),
])
def test_bad_arguments_are_refused(arguments, message, tmp_path):
    done = subprocess.run([TOOL, *arguments, "--folder", tmp_path], capture_output=True, text=True,
                          check=False, timeout=l3fwd.TIMEOUT)
    assert (done.returncode != 0, message in done.stderr) == (True, True), done.stderr
