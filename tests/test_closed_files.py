# SPDX-License-Identifier: BSD-3-Clause
"""Programs started without standard input, output or error: no other file takes their place."""

import json
import os
import signal
import subprocess

import pytest

import l3fwd
import live
import oracle
from frames import traffic
from l3fwd import BUILD, UNDER, options

CLOSED = [(0,), (1,), (2,), (1, 2), (0, 1, 2)]


def closing(fds):
    """The beginning of a command that closes some file descriptors and then runs the rest."""
    which = " ".join(f"{fd}{'<' if fd == 0 else '>'}&-" for fd in fds)
    return ["sh", "-c", f'exec "$@" {which}', "sh"]


def name(fds):
    return "_".join(map(str, fds))


@pytest.mark.parametrize("fds", CLOSED, ids=name)
def test_closed_standard_files_are_null_and_reports_hit_no_other_file(rig, fds):
    """EAL's files would get the numbers, and reports be written over them."""
    vdevs = rig.vdevs([[traffic("198.18.1.1")]], more=",infinite_rx=1")
    process = rig.start([*options(1, [(0, 0, 1)]), "--stats=1", f"--json={rig.folder}/stats.json"],
                        vdevs, under=closing(fds))
    live.until(lambda: live.workers(process), "a worker", process)
    live.await_work(process)
    found = {fd: os.readlink(f"/proc/{process.pid}/fd/{fd}") for fd in (0, 1, 2)}
    process.send_signal(signal.SIGTERM)
    run = rig.finish(process)
    assert {found[fd] for fd in fds} == {"/dev/null"}, found
    assert run.stats["totals"]["rx"] > 0, run


@pytest.mark.parametrize("fds", CLOSED, ids=name)
def test_hy_hal_runs_with_closed_standard_files(fds):
    done = subprocess.run([*closing(fds), *UNDER, BUILD / "app/hy-hal/hy-hal", "packs"],
                          timeout=l3fwd.TIMEOUT, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done
    assert ("generic" in done.stdout) == (1 not in fds), done


@pytest.mark.parametrize("fds", CLOSED, ids=name)
def test_hy_graph_runs_with_closed_standard_files(rig, fds):
    shared = live.Live(rig, [oracle.route("198.18.1.0/24", 0, "02:00:00:00:00:01")],
                       options(1, [(0, 0, 1)]), rig.vdevs([[traffic("198.18.1.1")]]))
    done = subprocess.run([*closing(fds), *UNDER, BUILD / "app/hy-graph/hy-graph", "list",
                           f"--folder={rig.folder}/dpdk/rte/halyard"],
                          timeout=l3fwd.TIMEOUT, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done
    assert done.stdout == ("" if 1 in fds else "worker-1\n"), done
    assert shared.stop().code == 0


@pytest.mark.parametrize("fds", CLOSED, ids=name)
def test_hy_bench_writes_its_report_not_into_its_file(fds, tmp_path):
    binary = BUILD / "app/bench/hy-bench"
    if not binary.exists():
        pytest.skip("hy-bench is not built")
    done = subprocess.run([*closing(fds), *UNDER, binary, "enqueue", "--quick", "--work=mix4_8_lane",
                           f"--json={tmp_path}/out.json"],
                          timeout=l3fwd.TIMEOUT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done
    assert json.loads((tmp_path / "out.json").read_text())["bench"] == "enqueue"
