# SPDX-License-Identifier: BSD-3-Clause
"""Runs hy-bench, and checks what holds for every file of its figures."""

import collections
import itertools
import json
import os
import statistics
import subprocess

import pytest

import l3fwd

BENCH = l3fwd.BUILD / "app" / "bench" / "hy-bench"
CLOSE = 1e-4  # figures are written with six digits
PLAIN = ["--no-huge", "-m", "1024", "--no-pci", "--no-shconf", "--no-telemetry"]


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
        assert list(ratio) == ["work", "contender", "against", "ratio"]
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


def lcores(most=2):
    """EAL's option for so many lcores, if there are as many CPUs, that may run on every CPU."""
    cpus = sorted(os.sched_getaffinity(0))
    where = f"@({','.join(map(str, cpus))})"
    return ["--lcores", ",".join(f"{n}{where}" for n in range(min(most, len(cpus))))]
