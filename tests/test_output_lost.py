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
from l3fwd import BUILD, NO_LEAK_CHECK, UNDER
from test_share import KINDS, Primary
from test_terminal import EVIL, assert_harmless

pytestmark = pytest.mark.slow

HY_HAL = BUILD / "app" / "hy-hal" / "hy-hal"
HY_GRAPH = test_share_hostile.HY_GRAPH
SELFTEST = [HY_HAL, "selftest", "--family=pkt_drop"]  # which takes least
REPORT = [HY_HAL, "report", "--quick", "--family=pkt_drop"]


def run(command, stdout=subprocess.PIPE, under=()):
    """Runs a command to its end."""
    return subprocess.run([*under, *UNDER, *map(str, command)], stdout=stdout,
                          stderr=subprocess.PIPE, text=True, errors="backslashreplace",
                          check=False, timeout=3 * l3fwd.TIMEOUT,
                          env=dict(os.environ, **NO_LEAK_CHECK))


def failing(call, error, path, when="1+", of=None):
    """The beginning of a command that runs the rest with a system call that fails on a file, or on
    another one. The calls are noted beside the first."""
    if UNDER or shutil.which("strace") is None:
        pytest.skip("needs strace, and no emulator")
    return ["strace", "-f", "-qq", "-o", path.with_name("calls"), "-P", of or path,
            "-e", f"trace={call}", "-e",
            f"inject={call}:error={errno.errorcode[error]}:when={when}"]


def taking_nothing(call, path):
    """Likewise: a file to which each write is of no bytes."""
    *begin, _ = failing(call, errno.EIO, path)
    return [*begin, f"inject={call}:retval=0:when=1+"]


def injected(path):
    """How many calls have failed so."""
    return path.with_name("calls").read_text().count("(INJECTED)")


@pytest.mark.parametrize("command", [[*SELFTEST], [*SELFTEST, "--json"], [HY_HAL, "inventory"],
                                     [*REPORT, "/dev/null"]],
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


@pytest.mark.parametrize("app", [[], ["--json=-"]], ids=["tables", "json"])
def test_standard_output_of_l3fwd_graph_that_fails_when_it_is_closed_is_reported(rig, app):
    """Unlike the tools, it ended with 0."""
    path = rig.folder / "out"
    with open(path, "w", encoding="ascii") as out:
        process = rig.start([*l3fwd.options(1, [(0, 0, 1)]), "--until-idle=100", *app],
                            rig.vdevs([l3fwd.SILENT]), stdout=out,
                            under=failing("close", errno.EDQUOT, path))
        done = rig.finish(process)
    assert injected(path) == 1
    assert done.code == 1, done
    assert "l3fwd-graph: standard output: Disk quota exceeded\n" in done.stderr, done


@pytest.mark.parametrize("words", [["--help"], ["--version"], ["--", "--help"]], ids=" ".join)
@pytest.mark.parametrize("program", ["l3fwd-graph", "reflect"])
def test_help_that_nobody_can_read_fails(program, words):
    """EAL answers the first, and ends the program with 0."""
    with open("/dev/full", "w", encoding="ascii") as full:
        done = run([BUILD / "examples" / program / program, *words], full)
    assert done.returncode == 1, done
    assert done.stderr.count(f"{program}: standard output: No space left on device\n") == 1, done


@pytest.mark.parametrize("tool, command", [(HY_HAL, "inventory"),
                                           (BUILD / "app" / "bench" / "hy-bench", "walk")],
                         ids=["hy-hal", "hy-bench"])
def test_help_of_eal_that_nobody_can_read_fails(tool, command):
    if not tool.exists():
        pytest.skip(f"{tool} is not built")
    with open("/dev/full", "w", encoding="ascii") as full:
        done = run([tool, "--no-huge", "--help", "--", command], full)
    assert done.returncode == 1, done
    assert f"{tool.name}: standard output: No space left on device\n" in done.stderr, done


def test_report_that_fails_when_it_is_closed_is_reported(tmp_path):
    path = tmp_path / "report"
    done = run([*REPORT, path], under=failing("close", errno.EDQUOT, path))
    assert injected(path) > 1  # the first only tried whether it can be written
    assert done.returncode == 1 and not path.exists(), done
    assert f"hy-hal: report: {path}: Disk quota exceeded\n" in done.stderr, done


def test_name_of_a_report_does_not_reach_the_terminal(tmp_path):
    path = tmp_path / f"report{EVIL}"
    done = run([*REPORT, path])
    assert done.returncode == 0 and path.stat().st_size > 0, done
    assert_harmless(done.stdout)


def test_report_to_a_file_that_takes_nothing_fails(tmp_path):
    """It was written to for ever."""
    path = tmp_path / "report"
    done = run([*REPORT, path],
               under=taking_nothing("write", path))
    assert injected(path) == 1
    assert done.returncode == 1 and not path.exists(), done
    assert f"hy-hal: report: {path}: Input/output error\n" in done.stderr, done


@pytest.mark.parametrize("call, option, value", [
    ("pwrite64", "--json", "{}"), ("pwrite64", "--dump-routes", "{}"),
    ("write", "--capture", "{},at=pkt_cls")])
def test_output_to_a_file_that_takes_nothing_fails(rig, call, option, value):
    """It was given up as one that stalls, and a thread went on writing."""
    path = rig.write("output", "")
    rig.env = NO_LEAK_CHECK
    done = rig.finish(rig.start(
        [*l3fwd.options(1, [(0, 0, 1)]), "--until-idle=50", f"{option}={value.format(path)}"],
        rig.vdevs([l3fwd.SILENT]), under=taking_nothing(call, path)))
    assert injected(path) == 1
    assert done.code == 1, done
    assert f"l3fwd-graph: {option}: {path}: Input/output error\n" in done.stderr, done
