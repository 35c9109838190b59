# SPDX-License-Identifier: BSD-3-Clause
"""Programs that run out of memory say so, wherever it is."""

import json
import os
import subprocess

import pytest

import l3fwd
import test_install
from frames import traffic
from l3fwd import BUILD
from test_share import HY_GRAPH, KINDS, Primary

SHORT = BUILD / "app" / "test" / "hy-test-short-memory.so"
MEMORY = ("out of memory", "not enough memory", "Cannot allocate memory")
MOST = 400  # allocations


@pytest.fixture(autouse=True)
def _plain():
    if l3fwd.UNDER or test_install.sanitizer():
        pytest.skip("needs the C library's own allocation functions, and no emulator")


def run(allocations, *words):
    """Runs a program that has so many allocations left."""
    env = dict(os.environ, LD_PRELOAD=str(SHORT), HALYARD_ALLOCATIONS=str(allocations))
    return subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False,
                          timeout=l3fwd.TIMEOUT, stdin=subprocess.DEVNULL, env=env)


def sweep(*words):
    """Gives a program ever more memory until it succeeds. Returns how often it did not."""
    for n in range(MOST):
        done = run(n, *words)
        if done.returncode == 0:
            return n
        assert done.returncode == 1, (n, done)
        assert any(text in done.stderr for text in MEMORY), (n, done)
    raise AssertionError(f"{words} needs more than {MOST} allocations")


@pytest.mark.parametrize("program", ["examples/l3fwd-graph/l3fwd-graph",
                                     "examples/vswitch-graph/vswitch-graph",
                                     "examples/reflect/reflect"])
def test_program_without_memory_for_its_begin_says_so(program):
    """It ended with 1 and without a word."""
    assert sweep(BUILD / program, "--", "--help") > 2


@pytest.mark.parametrize("command", ["app/hy-hal/hy-hal", "app/hy-graph/hy-graph"])
def test_tool_without_memory_for_its_streams_says_so(command):
    for n in range(2):
        done = run(n, BUILD / command, "--version")
        assert done.returncode == 1, done
        name = command.rsplit("/", 1)[1]
        assert done.stderr == (f"{name}: standard input, output and error: "
                               "Cannot allocate memory\n"), done


@pytest.mark.parametrize("command", ["stats", "json", "dot", "list", "trace"])
def test_hy_graph_without_memory_says_so(tmp_path, command):
    """json, dot, trace and stats ended with 1 and without a word."""
    with Primary(tmp_path, KINDS["small"]) as primary:
        assert sweep(HY_GRAPH, command, f"--folder={primary.shared}") > 2
        primary.stop()


def test_report_that_lacks_a_part_is_no_success(rig):
    """The program's own part was left out of the table or the JSON file, and it ended with 0."""
    rules = rig.write("rules", "rule 1 class 5 precedence 1 dst 198.18.0.0/16\n")
    failed, keys = 0, []
    for n in range(1, 13):
        rig.env = {"LD_PRELOAD": str(SHORT), "HALYARD_TEXT": str(n)}
        done = rig.forward([[traffic("198.18.1.1")], l3fwd.SILENT], f"--policy={rules}")
        if done.code == 0:
            keys.append(set(json.loads((rig.folder / "stats.json").read_text())))
            assert "\nclass  " in done.stdout, (n, str(done))
        else:
            assert any(text in done.stderr for text in MEMORY), (n, str(done))
            failed += 1
    assert failed >= 4 and len(keys) >= 2, failed
    assert all("classes" in each and each == keys[-1] for each in keys), keys


def test_too_little_memory_for_rules_is_blamed_on_no_option(rig):
    """--flows was blamed, whose file was good."""
    rig.program = BUILD / "examples" / "vswitch-graph" / "vswitch-graph"
    rules = rig.write("flows", "".join(f"ip,nw_dst=10.{n >> 16}.{n >> 8 & 255}.{n & 255} actions=drop\n"
                                       for n in range(200000)))
    command = ["-p", "1", "--config", "(0,0,1)", "--dry-run", f"--flows={rules}"]
    ran = 0
    for megabytes in range(512, 128, -16):
        done = rig.finish(rig.start(command, ["-m", "128", *rig.vdevs([l3fwd.SILENT])],
                                    under=["prlimit", f"--as={megabytes << 20}"]))
        if done.code != 0:
            break
        ran += 1
    assert ran > 0 and done.code == 1, done
    assert done.stderr.splitlines()[-1] == "vswitch-graph: the switch's ports and rules: out of memory", done
