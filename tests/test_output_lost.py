# SPDX-License-Identifier: BSD-3-Clause
"""Output of the tools that does not arrive: each says why, and fails. Faults of system calls, which
come for a moment or when a file is closed, are strace's."""

import errno
import os
import shutil
import subprocess

import pytest

import l3fwd
import test_share_hostile
from l3fwd import BUILD, UNDER
from test_share import KINDS, Primary
from test_terminal import EVIL, assert_harmless

pytestmark = pytest.mark.slow

HY_HAL = BUILD / "app" / "hy-hal" / "hy-hal"
HY_GRAPH = test_share_hostile.HY_GRAPH
SELFTEST = [HY_HAL, "selftest", "--family=pkt_cls"]


def run(command, stdout=subprocess.PIPE, under=()):
    """Runs a command to its end."""
    asan = f"detect_leaks=0:{os.environ.get('ASAN_OPTIONS', '')}"  # strace is a debugger, too
    return subprocess.run([*under, *UNDER, *map(str, command)], stdout=stdout,
                          stderr=subprocess.PIPE, text=True, errors="backslashreplace",
                          check=False, timeout=l3fwd.TIMEOUT, env=dict(os.environ, ASAN_OPTIONS=asan))


def failing(call, error, path, when="1+"):
    """The beginning of a command that runs the rest with a system call that fails on a file."""
    if UNDER or shutil.which("strace") is None:
        pytest.skip("needs strace, and no emulator")
    return ["strace", "-f", "-qq", "-o", path.with_name("calls"), "-P", path, "-e", f"trace={call}",
            "-e", f"inject={call}:error={errno.errorcode[error]}:when={when}"]


def injected(path):
    """How many calls have failed so."""
    return path.with_name("calls").read_text().count("(INJECTED)")


@pytest.mark.parametrize("command", [[*SELFTEST], [*SELFTEST, "--json"], [HY_HAL, "inventory"],
                                     [HY_HAL, "report", "--quick", "/dev/null"]],
                         ids=lambda command: "-".join(map(str, command[1:])).replace("/", "_"))
def test_full_standard_output_of_hy_hal_fails(command):
    """selftest and report ended with 0."""
    with open("/dev/full", "w", encoding="ascii") as full:
        done = run(command, full)
    assert done.returncode == 1, done
    assert done.stderr.count("hy-hal: standard output: No space left on device\n") == 1, done


@pytest.mark.parametrize("command", ["stats", "json", "dot", "list"])
def test_full_standard_output_of_hy_graph_is_named_once(tmp_path, command):
    """json and dot failed without a word."""
    with Primary(tmp_path, KINDS["small"]) as primary:
        with open("/dev/full", "w", encoding="ascii") as full:
            done = run([HY_GRAPH, command, f"--folder={primary.shared}"], full)
        primary.stop()
    assert done.returncode == 1, done
    assert done.stderr == "hy-graph: standard output: No space left on device\n", done


def test_reason_is_that_of_the_write_that_failed(tmp_path):
    """A disk that was full for a moment: the reason was what any call since had failed with."""
    path = tmp_path / "out"
    with open(path, "w", encoding="ascii") as out:
        done = run(SELFTEST, out, failing("write", errno.ENOSPC, path, "1"))
    assert injected(path) == 1 and path.stat().st_size > 0
    assert done.returncode == 1, done
    assert "hy-hal: standard output: No space left on device\n" in done.stderr, done


@pytest.mark.parametrize("command", [[HY_HAL, "packs"], [BUILD / "app/hy-graph/hy-graph", "--help"]],
                         ids=["hy-hal", "hy-graph"])
def test_standard_output_that_fails_when_it_is_closed_is_reported(tmp_path, command):
    """A server with a quota says so when a file is closed."""
    path = tmp_path / "out"
    with open(path, "w", encoding="ascii") as out:
        done = run(command, out, failing("close", errno.EDQUOT, path))
    assert injected(path) > 0
    assert done.returncode == 1, done
    assert f"{command[0].name}: standard output: Disk quota exceeded\n" in done.stderr, done


def test_report_that_fails_when_it_is_closed_is_reported(tmp_path):
    path = tmp_path / "report"
    done = run([HY_HAL, "report", "--quick", path], under=failing("close", errno.EDQUOT, path))
    assert injected(path) > 1  # the first only tried whether it can be written
    assert done.returncode == 1 and not path.exists(), done
    assert f"hy-hal: report: {path}: Disk quota exceeded\n" in done.stderr, done


def test_name_of_a_report_does_not_reach_the_terminal(tmp_path):
    path = tmp_path / f"report{EVIL}"
    done = run([HY_HAL, "report", "--quick", path])
    assert done.returncode == 0 and path.stat().st_size > 0, done
    assert_harmless(done.stdout)
