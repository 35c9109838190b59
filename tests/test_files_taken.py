# SPDX-License-Identifier: BSD-3-Clause
"""Files that somebody uses already are not written over: another option, standard output, a port, or
another program."""

import errno
import itertools
import os
import shutil
import signal
from pathlib import Path

import pytest

import l3fwd
import live
import pcapfile
from frames import traffic
from l3fwd import NO_LEAK_CHECK, options
from test_files_written import ROUTES, WRITTEN, option_of, run_with
from test_output_lost import failing, injected

MINE = "this program has it open already, as another file of its own or a port's"
OTHERS = "another program writes to it"
LINKED = "has other names, too (hard links)"


def assert_refused(run, output, path, why):
    assert run.code == 1, run
    assert f"l3fwd-graph: {option_of(output)}: {path}: {why}\n" in run.stderr, run


@pytest.mark.parametrize("link", [False, True], ids=["name", "hard_link"])
@pytest.mark.parametrize("outputs", itertools.combinations(WRITTEN, 2),
                         ids=lambda two: "_".join(map(option_of, two)))
def test_no_two_outputs_are_one_file(rig, outputs, link):
    first = rig.write("output", "precious")
    second = rig.folder / "second" if link else first
    if link:
        os.link(first, second)
    run = run_with(rig, outputs[0].format(first), outputs[1].format(second))
    order = [option_of(output) for output in WRITTEN]  # not that of opening
    said = [name for name in order if f"l3fwd-graph: {name}: " in run.stderr]
    assert run.code == 1 and len(said) == 1 and said[0] in map(option_of, outputs), run
    assert f": {LINKED if link else MINE}\n" in run.stderr, run
    assert first.read_text() == "precious"


@pytest.mark.parametrize("fd", ["stdout", "stderr"])
@pytest.mark.parametrize("output", WRITTEN, ids=option_of)
def test_file_of_a_standard_stream_is_no_output(rig, output, fd):
    """Each wrote over what the other had written."""
    path = rig.folder / "output"
    vdevs = rig.vdevs([[traffic("198.18.1.1")], l3fwd.SILENT])
    with open(path, "wb") as file:
        run = rig.finish(rig.start([*options(2, [(0, 0, 1), (1, 0, 1)]), "--until-idle=100",
                                    output.format(path)], vdevs, **{fd: file}))
    said = path.read_text() if fd == "stderr" else run.stderr
    assert run.code == 1 and f"l3fwd-graph: {option_of(output)}: {path}: {MINE}\n" in said, run


@pytest.mark.parametrize("output", WRITTEN, ids=option_of)
def test_capture_that_a_port_reads_is_no_output(rig, output):
    """It was emptied while packets were read from it."""
    path = pcapfile.write(rig.folder / "in.pcap", traffic("198.18.1.1"))
    before = path.read_bytes()
    run = run_with(rig, output.format(path), records=path)
    assert_refused(run, output, path, MINE)
    assert path.read_bytes() == before


@pytest.mark.parametrize("output", WRITTEN, ids=option_of)
def test_capture_that_a_port_reads_is_no_output_when_too_many_files_are_open(rig, output):
    """What is open could not be listed, and was taken for nothing."""
    path = pcapfile.write(rig.folder / "in.pcap", traffic("198.18.1.1"))
    before = path.read_bytes()
    rig.env = NO_LEAK_CHECK
    run = run_with(rig, output.format(path), records=path,
                   under=failing("openat", errno.EMFILE, path, of="/proc/self/fd"))
    assert injected(path) == 1
    assert_refused(run, output, path, "Too many open files")
    assert path.read_bytes() == before


@pytest.mark.parametrize("output", WRITTEN, ids=option_of)
def test_library_that_is_mapped_is_no_output(rig, output):
    """It was emptied under the program, which died of SIGBUS."""
    rig.simulate("net_pcap")  # preloads the simulator, which is not used
    path = Path(shutil.copy(l3fwd.SIMNIC, rig.folder / "library.so"))
    rig.env["LD_PRELOAD"] = str(path)
    before = path.read_bytes()
    run = run_with(rig, output.format(path))
    assert_refused(run, output, path, "is the file of a loaded library, which is read")
    assert path.read_bytes() == before


def test_file_with_the_name_of_the_vdso_is_written(rig, monkeypatch):
    """The kernel's library has a name without a file. One of that name was taken for it."""
    path = rig.write("linux-vdso.so.1", "old")
    monkeypatch.chdir(rig.folder)
    run = run_with(rig, f"--json={path.name}")
    assert run.code == 0, run
    assert path.read_text().startswith("{")


@pytest.mark.parametrize("output", WRITTEN, ids=option_of)
def test_file_that_another_program_writes_is_no_output(rig, tmp_path_factory, output):
    """Two programs with the same configuration: both said that all was well. The second may have the
    file once the first has been killed."""
    path = rig.folder / "output"
    records = pcapfile.write(rig.folder / "in.pcap", traffic("198.18.1.1"))
    first = rig.start([*options(1, [(0, 0, 1)]), rig.routes([ROUTES[0]._replace(port=0)]),
                       output.format(path)], rig.vdevs([[records]], more=",infinite_rx=1"))
    live.until(lambda: live.workers(first), "a worker", first)
    live.await_work(first)
    other = l3fwd.Rig(tmp_path_factory.mktemp("other"))
    assert_refused(run_with(other, output.format(path)), output, path, OTHERS)
    first.send_signal(signal.SIGKILL)
    first.wait()
    run = run_with(other, output.format(path))
    assert run.code == 0, run
    assert path.stat().st_size > 0
