# SPDX-License-Identifier: BSD-3-Clause
"""The fuzz targets: inputs replayed in the build under test, whatever its compiler and sanitizers,
and a short run of libFuzzer where clang has it."""

import os
import re
import shutil
import subprocess

import pytest

import l3fwd

SECONDS = 5
INPUTS = 400
REPLAY = l3fwd.BUILD / "app/fuzz/hy-replay"
TARGETS = ("bridge", "captures", "graph", "options", "overrides", "plugin", "policy", "routes",
           "share", "vswitch")


def replay(*args):
    return subprocess.run([REPLAY, *args], capture_output=True, text=True, timeout=600, check=False)


def counts(target, text):
    """How many inputs a target accepted and refused."""
    found = re.search(rf"(?m)^{target}: (\d+) inputs accepted, (\d+) refused", text)
    assert found, text[-4000:]
    return int(found.group(1)), int(found.group(2))


def test_replayed_inputs_find_no_fault():
    """The program ends at the first fault; each input is named before it is run."""
    done = replay("graph", "--random", str(INPUTS), "20240229")
    assert done.returncode == 0, done.stdout[-200:] + done.stderr
    assert len(re.findall(r"(?m)^input \d+ of seed: \d+ bytes$", done.stdout)) == INPUTS
    assert sum(counts("graph", done.stderr)) == INPUTS
    assert not l3fwd.has_sanitizer_report(done.stderr), done.stderr


@pytest.mark.parametrize("target", TARGETS)
def test_kept_inputs_find_no_fault(tmp_path, target):
    """What found a fault once, what fuzzing starts from, and the same cut off halfway."""
    done = replay(target, "--seeds", tmp_path)
    assert done.returncode == 0, done.stderr
    seeds = sorted(tmp_path.iterdir())
    assert len(seeds) >= 3
    for seed in seeds:
        whole = seed.read_bytes()
        (tmp_path / f"cut-{seed.name}").write_bytes(whole[:len(whole) // 2])
    inputs = [*sorted(tmp_path.iterdir()), *sorted(l3fwd.ROOT.glob(f"app/fuzz/kept/{target}/*"))]
    done = replay(target, *inputs)
    assert done.returncode == 0, done.stdout[-200:] + done.stderr
    accepted, refused = counts(target, done.stderr)
    assert accepted >= 3 and refused >= 1
    assert accepted + refused == len(inputs)
    assert not l3fwd.has_sanitizer_report(done.stderr), done.stderr


def test_replaying_says_what_it_wants_and_what_it_cannot_read(tmp_path):
    usage = replay()
    assert usage.returncode == 2
    assert "usage:" in usage.stderr
    unknown = replay("nothing", "file")
    assert unknown.returncode == 2
    assert unknown.stderr == f"'nothing' is not a fuzz target; there are: {' '.join(TARGETS)}\n"
    (tmp_path / "input").write_bytes(bytes(range(256)))
    done = replay("graph", tmp_path / "none", tmp_path / "input")
    assert done.returncode == 1
    assert f"{tmp_path}/none: No such file or directory" in done.stderr
    assert done.stdout == f"{tmp_path}/input: 256 bytes\n"


def no_libfuzzer(folder):
    """Why libFuzzer cannot be used here, or None."""
    if shutil.which("clang") is None:
        return "there is no clang"
    source = folder / "target.c"
    source.write_text("int LLVMFuzzerTestOneInput(const char *d, unsigned long n)"
                      "{ (void)d; (void)n; return 0; }\n")
    built = subprocess.run(["clang", "-fsanitize=fuzzer,address", source, "-o", folder / "target"],
                           capture_output=True, text=True, timeout=60, check=False)
    return None if built.returncode == 0 else f"clang has no libFuzzer: {built.stderr}"


ENDS = """#!/bin/sh
echo "#2 INITED cov: 12 ft: 12"
echo "$1: 5 inputs accepted, 6 refused"
echo "stat::number_of_executed_units: 77"
"""


def test_lines_of_targets_that_end_together_are_whole(tmp_path):
    """Their halves were printed one by one, and those of another target came between."""
    for name in ("hy-fuzz", "hy-replay"):
        program = tmp_path / "app/fuzz" / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(ENDS)
        program.chmod(0o755)
    for _ in range(10):
        done = subprocess.run([l3fwd.ROOT / "tools/fuzz", tmp_path, "1"], capture_output=True,
                              text=True, timeout=60, check=True)
        assert sorted(done.stdout.splitlines()) == [
            f"{target}: 5 inputs accepted, 6 refused; 77 runs, 12 edges" for target in TARGETS]


@pytest.mark.slow
def test_libfuzzer_finds_no_fault_in_a_short_run(tmp_path):
    """Of all targets, two at a time or as many as there are CPUs, in build-fuzz/."""
    why_not = no_libfuzzer(tmp_path)
    if why_not:
        pytest.skip(why_not)
    env = {**os.environ, "HALYARD_SETUP": "no"}
    done = subprocess.run(["make", "fuzz", f"TIME={SECONDS}"], cwd=l3fwd.ROOT, env=env,
                          capture_output=True, text=True, timeout=1800, check=False)
    assert done.returncode == 0, done.stdout + done.stderr[-8000:]
    runs = dict(re.findall(r"(?m)^(\w+): .*; (\d+) runs, \d+ edges$", done.stdout))
    assert sorted(runs) == sorted(TARGETS), done.stdout
    for target in TARGETS:
        accepted, refused = counts(target, done.stdout)
        assert accepted > 0 and refused > 0
        assert int(runs[target]) > 60, done.stdout
