# SPDX-License-Identifier: BSD-3-Clause
"""Readers that stop reading, and disks that stop writing: neither holds up what controls the program."""

import array
import fcntl
import os
import select
import signal
import termios

import pytest

import live
import oracle
import pcapfile
from frames import traffic
from l3fwd import SILENT, options

ROUTES = [oracle.route("198.18.1.0/24", 0, "02:00:00:00:00:01")]


def pipe_room(fd):
    """Bytes that a pipe still takes."""
    waiting = array.array("i", [0])
    fcntl.ioctl(fd, termios.FIONREAD, waiting)
    return fcntl.fcntl(fd, fcntl.F_GETPIPE_SZ) - waiting[0]


def test_standard_output_whose_reader_stops_holds_up_nobody(rig):
    """A pipe is full after 64 KiB. The table is written each second, and each reload has a line."""
    running = rig.start([*options(1, [(0, 0, 1)]), "--stats=1", rig.routes(ROUTES)],
                        rig.vdevs([SILENT]), under=["sh", "-c", 'exec "$@"', "sh"])
    live.until(lambda: live.workers(running), "a worker", running)
    room = [pipe_room(running.stdout.fileno())]
    while len(room) < 20 or room[-1] < room[-20]:  # the last of these would wait
        running.send_signal(signal.SIGHUP)
        live.await_ticks(running, 3)
        room.append(pipe_room(running.stdout.fileno()))
    assert room[-1] < 1 << 13 < room[0], "the pipe is not full"
    running.send_signal(signal.SIGTERM)
    live.until(lambda: running.poll() is not None, "the end")
    run = rig.finish(running)
    assert run.code == 1, run
    assert "standard output: its reader took nothing, and output was lost" in run.stderr, run


def fill(fd):
    """Leaves no room in a pipe."""
    os.set_blocking(fd, False)
    for size in (4096, 1):
        try:
            while True:
                os.write(fd, b"x" * size)
        except BlockingIOError:
            pass
    os.set_blocking(fd, True)
    assert not select.select([], [fd], [], 0)[1]


@pytest.mark.parametrize("app", [["--stats=1"], ["--stats=1", "--json=-"]], ids=" ".join)
@pytest.mark.parametrize("shared", [False, True], ids=["own", "with_stdout"])
def test_standard_error_whose_reader_stops_holds_up_nobody(rig, shared, app):
    """Messages go there, and with --json=- all that is for people: one that waited for its reader was
    deaf to signals. Often both streams are one pipe, as with 2>&1 | less."""
    reader, writer = os.pipe()
    out = open(os.dup(writer), "wb") if shared else open(rig.folder / "out", "wb")
    vdevs = rig.vdevs([[pcapfile.write(rig.folder / "in.pcap", traffic("198.18.1.1"))]],
                      more=",infinite_rx=1")
    with out:
        process = rig.start([*options(1, [(0, 0, 1)]), rig.routes(ROUTES), *app], vdevs,
                            stdout=out, stderr=writer)
    live.until(lambda: live.workers(process), "a worker", process)
    live.await_work(process)
    fill(writer)
    for _ in range(3):
        process.send_signal(signal.SIGUSR1)  # answered by a line on standard error
        live.await_ticks(process, 300)
    process.send_signal(signal.SIGTERM)
    live.until(lambda: process.poll() is not None, "the end")
    assert process.returncode == 1
    os.close(writer)
    os.close(reader)


def test_standard_error_whose_reader_goes_on_gets_the_next_lines(rig):
    reader, writer = os.pipe()
    process = rig.start([*options(1, [(0, 0, 1)]), rig.routes(ROUTES)], rig.vdevs([SILENT]),
                        stderr=writer)
    live.until(lambda: live.workers(process), "a worker", process)
    live.await_ticks(process)
    fill(writer)
    process.send_signal(signal.SIGUSR1)
    live.await_ticks(process, 300)
    while select.select([reader], [], [], 0)[0]:
        os.read(reader, 1 << 16)
    process.send_signal(signal.SIGUSR1)
    live.until(lambda: select.select([reader], [], [], 0)[0], "a line", process)
    assert os.read(reader, 1 << 16).startswith(b"l3fwd-graph: SIGUSR1 has routes written")
    os.close(writer)
    process.send_signal(signal.SIGTERM)
    live.until(lambda: process.poll() is not None, "the end")
    assert process.returncode == 1  # a line was lost
    assert b"standard error: its reader took nothing" in os.read(reader, 1 << 16)
    os.close(reader)
