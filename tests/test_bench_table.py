# SPDX-License-Identifier: BSD-3-Clause
"""`make bench` prints a table of one screen: works out of those that -v prints, and what a reader must
know of the run. The files keep everything."""

import importlib.util
import json
import os
import re
import subprocess

import pytest

import l3fwd
from benchrun import BENCH

CENT = 0.011  # both round to two decimals
SIX_DIGITS = 1e-5  # one of them the figure, the other so much of it
SCREEN = 45  # lines, with the four that tools/bench-idle.py prints
NAMES = "acl arc classify dispatch enqueue flows idle l2 l3fwd lookup offload routes walk".split()
SPEC = importlib.util.spec_from_file_location("bench_table", l3fwd.ROOT / "tools" / "bench-table.py")
table = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(table)


def run(build, benches, *options):
    """Runs tools/bench on the programs of the build, with files of its own."""
    if not os.access(BENCH, os.X_OK):
        pytest.fail(f"{BENCH} is not there: build first, or set HALYARD_BUILD", pytrace=False)
    if not (build / "app").exists():
        (build / "app").symlink_to((l3fwd.BUILD / "app").resolve())
    environment = {**os.environ, "BENCH": " ".join(benches), "BASE": "", "DPDK": ""}
    return subprocess.run([l3fwd.ROOT / "tools" / "bench", build, "--quick", *options],
                          capture_output=True, text=True, check=False, env=environment,
                          timeout=1200)


@pytest.mark.slow
def test_table_of_all_benchmarks_fits_a_screen_and_is_a_part_of_the_details(tmp_path):
    done = run(tmp_path, NAMES)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    lines = done.stdout.splitlines()
    assert len(lines) + 4 <= SCREEN, done.stdout
    assert max(map(len, lines)) <= 140
    shown = {name: 0 for name in NAMES}
    for name in NAMES:
        data = json.loads((tmp_path / f"bench-{name}.json").read_text())
        details = (tmp_path / f"bench-{name}.txt").read_text()
        works = {row["work"]: row for row in data["rows"]}
        for line in lines:
            if not line.startswith(f"{name:<9}") or " nothing measured" in line:
                continue
            (work,) = [work for work in works if line[9:32].rstrip() == work]
            (detail,) = re.findall(rf"^{re.escape(work)} +\S+/?\S* +[\d.]+%.*", details, re.MULTILINE)
            ours, ratios = line[32:].split()[0], line.split("%")[1].split()[1:]
            medians = [float(word) for word in detail.split() if re.fullmatch(r"[\d.]+", word)]
            assert pytest.approx(float(ours), abs=CENT, rel=SIX_DIGITS) in medians
            for pair in zip(ratios[::2], ratios[1::2]):
                assert " ".join(pair) in details
            assert ratios
            shown[name] += 1
        if not data["rows"]:
            assert f"{name:<9}nothing measured: " in done.stdout
            shown[name] += 1
            continue
        if data["skipped"]:
            assert re.search(rf"\nSkipped, .*: (.*, )?{name} {len(data['skipped'])}[,\n]", done.stdout)
        lowest = min((ratio["ratio"], ratio["work"]) for ratio in data["ratios"])[1]
        assert f"\n{name:<9}{lowest} " in done.stdout
    assert min(shown.values()) > 0, shown
    machine = json.loads((tmp_path / "bench-arc.json").read_text())["machine"]
    for what in ("cpu", "compiler", "flags", "dpdk", "dpdk_library", "dpdk_build"):
        assert machine[what] in done.stdout, what
    assert ("NO HUGEPAGES" in done.stdout) == (machine["memory"] == "no hugepages")


@pytest.mark.slow
def test_details_are_what_hy_bench_prints(tmp_path):
    done = run(tmp_path, ["idle", "arc"], "-v")
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    for name in ("idle", "arc"):
        assert (tmp_path / f"bench-{name}.txt").read_text() in done.stdout
    assert done.stdout.count("cycles/") == 3 + 2  # every work
    assert "core GHz" not in done.stdout


@pytest.mark.slow
def test_benchmark_that_fails_is_named_and_leaves_no_table_of_before(tmp_path):
    (tmp_path / "bench-idle.json").write_text("an older run's")
    done = run(tmp_path, ["idle", "arc"], "--work", "arc*")
    assert (done.returncode, done.stderr.splitlines()[-1]) == (1, "failed: idle")
    assert "no work is named 'arc*'" in done.stderr
    assert "\narc      arc_64 " in done.stdout
    assert json.loads((tmp_path / "bench-idle.json").read_text())["rows"] == []


def figures(**changes):
    """Figures of a run of two works, one of them of no interest."""
    machine = {"cpu": "C", "tsc_hz": 2e9, "addition": 0.5, "addition_p10": 0.5, "simd_bits": 256,
               "memory": "hugepages", "compiler": "gcc", "flags": "-O3", "dpdk": "D",
               "dpdk_library": "L", "dpdk_build": "B"}
    rows = [{"work": work, "contender": who, "unit": "us", "median": median, "p10": 1.0}
            for work in ("first", "last") for who, median in (("a", 2.0), ("b", 1.0), ("ours", 4.0))]
    ratios = [{"work": row["work"], "contender": "ours", "against": row["contender"],
               "ratio": row["median"] / 4} for row in rows if row["contender"] != "ours"]
    return {"bench": "new", "complete": True, "machine": machine, "rows": rows, "ratios": ratios,
            "skipped": [], "wrong": []} | changes


def test_line_shows_ours_noise_and_peers():
    data = figures()
    assert table.choose(data) == ["first", "last"]
    assert table.line_of(data, "last").split() == (
        "new last 4.00 us 300.0% 4.00 0.50x a 0.25x b").split()


def test_of_many_peers_the_closest_are_shown():
    data = figures(ratios=[{"work": "first", "contender": "ours", "against": f"p{n}", "ratio": n}
                           for n in (5, 1, 4, 2, 3)])
    assert table.line_of(data, "first").endswith("1.00x p1  2.00x p2  3.00x p3")


def test_work_with_the_lowest_ratio_is_always_shown():
    ratios = [{"work": f"w{n}", "contender": "ours", "against": "p", "ratio": 9.0 - n}
              for n in range(8)]
    assert table.choose(figures(ratios=ratios)) == ["w0", "w1", "w2", "w7"]
    names = ["idle", "home_run_256", "w1", "chain4_256"]
    ratios = [dict(ratio, work=name) for ratio, name in zip(ratios, names)]
    ratios[2]["ratio"] = 0.5
    assert table.choose(figures(bench="walk", ratios=ratios)) == ["home_run_256", "w1", "chain4_256"]


def test_what_spoils_a_run_is_said():
    omission = {"work": "w", "contender": None, "reason": "no memory"}
    data = figures(complete=False, calibration={"trusted": False},
                   skipped=[omission, omission | {"reason": "no lcore"}],
                   wrong=[omission | {"contender": "a"}])
    assert list(table.remarks(data)) == [
        "THIS RUN IS NOT TO BE TRUSTED: the lcores are not steady", "stopped before its end",
        "1 wrong, a in w first"]
    assert list(table.remarks(data | {"rows": []}))[2] == "nothing measured: no memory"
    assert not list(table.remarks(figures()))


def test_skipped_is_one_line_for_all():
    omission = {"work": "w", "contender": None, "reason": "no memory"}
    some = figures(skipped=[omission] * 2)
    assert table.skipped([some, figures(bench="none"), some | {"bench": "other"}]) == \
        "Skipped, the reasons are in the files: new 2, other 2"
    assert table.skipped([figures()]) == ""


def test_tables_fit_a_screen_whatever_is_slowest():
    runs = re.search(r"for bench in \$\{BENCH:-([^}]*)\}", (l3fwd.ROOT / "tools" / "bench").read_text())
    assert runs.group(1).split() == NAMES == list(table.SHOWN)
    works = sum(map(len, table.SHOWN.values())) + len(NAMES)  # and the lowest of each
    heading = len(table.heading(figures()["machine"])) + 3  # what medians are, an empty line, columns
    assert heading + works + 2 + 4 <= SCREEN  # what was skipped, where the files are; bench-idle.py


def test_heading_is_printed_again_where_it_differs(capsys):
    machine = figures()["machine"]
    table.print_heading(machine, None)
    assert "hugepages\nMedians" in capsys.readouterr().out
    table.print_heading(machine, machine)
    assert capsys.readouterr().out == ""
    table.print_heading(dict(machine, memory="no hugepages", addition=0.9), machine)
    assert capsys.readouterr().out == \
        "THERE ARE NO HUGEPAGES: misses of the TLB are in all figures\n"
