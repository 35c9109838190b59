# SPDX-License-Identifier: BSD-3-Clause
"""The tables of `hy-bench l2`, which show what a generated switch gains step by step, agree with its
figures. Works that lack a right are skipped."""

import os
import re
import shutil
import subprocess

import pytest

from benchrun import BENCH, PLAIN, lcores, measure, medians

pytestmark = pytest.mark.slow

WIRE_BYTES = 84  # of a frame of 64 bytes, with preamble and gap
ROW = re.compile(r"^  (\S+) +([\d.]+) +([\d.]+) +([\d.]+)(?: +([+-][\d.]+%))?(?: {2,}(\S.*))?$")
# Contender → what it is a step from.
STEPS = {"alloc_burst": "alloc_single", "stack": "alloc_burst", "hash_14": "stack",
         "hash_8": "hash_14", "hash_bulk": "hash_8", "ours": "hash_bulk"}
CONTROLS = {"none_burst": "none_single", "alloc_burst": "alloc_single", "stack": "alloc_burst",
            "no_lookup": "stack", "hints_swapped": "stack", "no_bswap": "stack"}


def table(printed, work):
    """The rows below a work's medians: contender → clocks, Mpps, Gb/s, step, the report's step."""
    lines = printed.split(f"\n{work} ", 3)[-1].splitlines()
    assert lines[0].split() == "clocks Mpps Gb/s step the report's step".split()
    rows = {}
    for line in lines[1:]:
        row = ROW.match(line)
        if row is None:
            break
        rows[row[1]] = row.groups()[1:]
    return rows


@pytest.mark.parametrize("work, steps", [("steps_64", STEPS), ("controls_1k", CONTROLS)])
def test_table_of_steps_agrees_with_the_medians(tmp_path, work, steps):
    figures, printed = measure(tmp_path, "l2", "--work", work, eal=[*PLAIN, *lcores()])
    median, rows = medians(figures, work), table(printed, work)
    assert list(rows) == list(median)
    assert set(steps) < set(rows)
    for name, (clocks, mpps, gbits, step, _) in rows.items():
        rate = figures["machine"]["tsc_hz"] / median[name] / 1e6
        assert float(clocks) == pytest.approx(median[name], abs=0.06, rel=1e-3)
        assert float(mpps) == pytest.approx(rate, abs=0.006, rel=1e-3)
        assert float(gbits) == pytest.approx(rate * WIRE_BYTES * 8 / 1e3, abs=0.006, rel=1e-3)
        if name not in steps:
            assert step is None
            continue
        gain = 100 * (median[steps[name]] / median[name] - 1)
        assert float(step.rstrip("%")) == pytest.approx(gain, abs=0.06, rel=1e-3)
    assert rows["alloc_burst"][4] == "+40.5% (5.2 Gb/s)"
    assert rows["stack"][4] == "+71.2% (8.9 Gb/s)"


@pytest.mark.parametrize("right, reason", [("sys_admin", "a network namespace"),
                                           ("net_admin", "a TAP device"),
                                           ("net_raw", "net_af_packet")])
def test_port_of_the_kernel_is_skipped_without_rights(right, reason):
    """Without the rights of root, the first of them is missing."""
    root = os.geteuid() == 0
    if root and shutil.which("setpriv") is None:
        pytest.skip("setpriv, which takes rights away, is not installed")
    take = ["setpriv", f"--bounding-set=-{right}", "--inh-caps=-all"] if root else []
    done = subprocess.run([*take, BENCH, *PLAIN, "--", "l2", "--quick", "--work", "kernel_port_1k"],
                          capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    why = reason if root else "a network namespace"
    assert f"kernel_port_1k          skipped: {why}: Operation not permitted" in done.stdout
