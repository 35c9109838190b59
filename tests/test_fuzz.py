# SPDX-License-Identifier: BSD-3-Clause
"""The fuzz target of the graph core: inputs replayed in the build under test, whatever its compiler
and sanitizers, and a short run of libFuzzer where clang has it."""

import os
import re
import shutil
import subprocess

import pytest

import l3fwd

SECONDS = 10
INPUTS = 400


def test_replayed_inputs_find_no_fault():
    """The program ends at the first fault; each input is named before it is run."""
    replay = l3fwd.BUILD / "app/fuzz/hy-replay-graph"
    done = subprocess.run([replay, "--random", str(INPUTS), "20240229"], capture_output=True,
                          text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout[-200:] + done.stderr
    assert len(re.findall(r"(?m)^input \d+ of seed: \d+ bytes$", done.stdout)) == INPUTS
    assert not l3fwd.has_sanitizer_report(done.stderr), done.stderr


def test_replaying_says_what_it_wants_and_what_it_cannot_read(tmp_path):
    replay = l3fwd.BUILD / "app/fuzz/hy-replay-graph"
    usage = subprocess.run([replay], capture_output=True, text=True, timeout=60, check=False)
    assert usage.returncode == 2
    assert "usage:" in usage.stderr
    (tmp_path / "input").write_bytes(bytes(range(256)))
    done = subprocess.run([replay, tmp_path / "none", tmp_path / "input"], capture_output=True,
                          text=True, timeout=600, check=False)
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


def test_libfuzzer_finds_no_fault_in_a_short_run(tmp_path):
    why_not = no_libfuzzer(tmp_path)
    if why_not:
        pytest.skip(why_not)
    build = tmp_path / "build"
    env = {**os.environ, "CC": "clang"}
    for command in (["meson", "setup", build, l3fwd.ROOT, "-Dfuzz=true", "-Dbench=false",
                     "-Db_sanitize=address,undefined", "-Db_lundef=false"],
                    ["ninja", "-C", build, "app/fuzz/hy-fuzz-graph"]):
        done = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False,
                              env=env)
        assert done.returncode == 0, done.stdout + done.stderr
    done = subprocess.run([l3fwd.ROOT / "tools/fuzz", build, str(SECONDS)], capture_output=True,
                          text=True, timeout=300, check=False, env=env)
    assert done.returncode == 0, done.stderr[-4000:]
    runs = re.search(r"stat::number_of_executed_units: (\d+)", done.stderr)
    assert int(runs.group(1)) > 60, done.stderr[-4000:]
    assert list(build.glob("crash-*")) == []
    shutil.rmtree(tmp_path)
