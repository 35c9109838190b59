# SPDX-License-Identifier: BSD-3-Clause
"""Readers that stop reading, and disks that stop writing: neither holds up what controls the program."""

import array
import contextlib
import fcntl
import os
import select
import signal
import sys
import termios
import time
from pathlib import Path

import pytest

import live
import oracle
import pcapfile
import silent_syslog
import stalling
from frames import traffic
from l3fwd import NO_LEAK_CHECK, SILENT, options

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
    assert os.read(reader, 1 << 16).startswith(b"l3fwd-graph: SIGUSR1 writes routes")
    os.close(writer)
    process.send_signal(signal.SIGTERM)
    live.until(lambda: process.poll() is not None, "the end")
    assert process.returncode == 1  # a line was lost
    assert b"standard error: its reader took nothing" in os.read(reader, 1 << 16)
    os.close(reader)


def test_signals_do_not_shorten_the_wait_for_a_reader(rig):
    """Each counted as a tenth of a second: after ten of them a line was lost."""
    reader, writer = os.pipe()
    process = rig.start([*options(1, [(0, 0, 1)]), rig.routes(ROUTES)], rig.vdevs([SILENT]),
                        stderr=writer)
    live.until(lambda: live.workers(process), "a worker", process)
    live.await_ticks(process)
    os.set_blocking(reader, False)
    waited = 0
    for _ in range(5):
        fill(writer)
        process.send_signal(signal.SIGUSR1)  # answered by a line on standard error
        began = time.monotonic()
        while time.monotonic() < began + 0.5:
            process.send_signal(signal.SIGUSR1)
            time.sleep(0.005)
        while select.select([reader], [], [], 0)[0]:
            os.read(reader, 1 << 16)
        waited += time.monotonic() < began + 0.9  # else it may have been lost for good reason
        if time.monotonic() >= began + 0.9:
            break
        live.await_ticks(process)
    process.send_signal(signal.SIGTERM)
    live.until(lambda: process.poll() is not None, "the end")
    os.close(writer)
    os.close(reader)
    if waited < 5:
        pytest.skip("the machine was too slow to keep the reader's time")
    assert process.returncode == 0


def test_terminal_that_is_not_read_holds_up_nobody(rig):
    """A terminal that has room for a part of a line only has write() wait for the rest: the control
    thread read no routes and looked after no port until a signal came."""
    folder = rig.folder / "/".join(["d" * 200] * 8)  # named in the line that a dump has
    folder.mkdir(parents=True)
    reader, terminal = os.openpty()
    with open(rig.folder / "stderr", "wb") as err:
        process = rig.start([*options(1, [(0, 0, 1)]), rig.routes(ROUTES),
                             f"--dump-routes={folder}/routes"], rig.vdevs([SILENT]),
                            stdout=terminal, stderr=err)
    live.until(lambda: live.workers(process), "a worker", process)
    for _ in range(60):
        live.await_ticks(process, 20)
        process.send_signal(signal.SIGUSR1)
    live.await_ticks(process, 300)
    assert not select.select([], [terminal], [], 0)[1], "the terminal still has room"
    process.send_signal(signal.SIGTERM)
    live.until(lambda: process.poll() is not None, "the end")
    assert process.returncode == 1
    assert "standard output: its reader took nothing" in (rig.folder / "stderr").read_text()
    os.close(terminal)
    os.close(reader)


def need_fuse():
    if os.geteuid() != 0 or not os.path.exists("/dev/fuse"):
        pytest.skip("only root can mount a file system, and needs /dev/fuse for this one")


class Stalling(live.Live):
    """A run with files on a disk that can be made to stall."""

    def __init__(self, rig, *app, **how):
        need_fuse()
        self.disk, self.stall = rig.folder / "disk", rig.folder / "stall"
        self.disk.mkdir()
        # LeakSanitizer stops all threads at the end, and waits for one that waits for the disk.
        rig.env = {"ASAN_OPTIONS": f"detect_leaks=0:{os.environ.get('ASAN_OPTIONS', '')}"}
        vdevs = rig.vdevs([[pcapfile.write(rig.folder / "in.pcap", traffic("198.18.1.1"))]],
                          more=",infinite_rx=1")
        super().__init__(rig, ROUTES, [*options(1, [(0, 0, 1)]),
                                       *(word.format(self.disk) for word in app)], vdevs,
                         telemetry=True, under=[sys.executable, stalling.__file__, str(self.disk),
                                                str(self.stall)], **how)
        live.await_work(self.process)

    def file(self, name):
        """A file of the disk, which only the program has mounted."""
        return Path(f"/proc/{self.process.pid}/root{self.disk}") / name

    def assert_alive(self):
        for mac in "78":
            changed = [ROUTES[0]._replace(mac=bytes.fromhex(f"02000000000{mac}"))]
            assert self.reload(changed) == (0, 1, 0, 0)


def test_dump_to_a_disk_that_stalls_holds_up_nobody(rig):
    """SIGUSR1 had the control thread wait for the disk."""
    running = Stalling(rig, "--dump-routes={}/routes")
    told = "routes: written to "
    running.process.send_signal(signal.SIGUSR1)
    running.wait(lambda: running.stdout().count(told) == 1, "a dump")
    before = running.file("routes").read_bytes()
    assert before.startswith(b"# 1 routes\n") and before.endswith(b"00:01\n")
    running.stall.touch()
    for _ in range(3):
        running.process.send_signal(signal.SIGUSR1)
        running.assert_alive()
    assert running.stdout().count(told) == 1
    running.stall.unlink()
    running.wait(lambda: running.stdout().count(told) >= 3, "the dumps")
    assert running.file("routes").read_bytes().endswith(b"00:08\n")
    run = running.stop()
    assert run.code == 0, run


@pytest.mark.parametrize("stream", ["output", "error"])
def test_standard_stream_on_a_disk_that_stalls_holds_up_nobody(rig, stream):
    """poll() says that a file has room: write() then had the control thread wait for the disk."""
    need_fuse()
    disk, stall, other = (rig.folder / name for name in ("disk", "stall", "other"))
    disk.mkdir()
    rig.env = NO_LEAK_CHECK
    redirect = {"output": '> "$disk/log"', "error": '2> "$disk/log"'}[stream]
    with open(other, "wb") as out:
        process = rig.start([*options(1, [(0, 0, 1)]), rig.routes(ROUTES)], rig.vdevs([SILENT]),
                            stdout=out, stderr=out,
                            under=[sys.executable, stalling.__file__, str(disk), str(stall), "sh",
                                   "-c", f'disk=$1; shift; exec "$@" {redirect}', "sh", str(disk)])
    live.until(lambda: live.workers(process), "a worker", process)
    live.await_ticks(process)
    stall.touch()
    for _ in range(5):
        process.send_signal(signal.SIGUSR1)  # answered by a line on standard error
        process.send_signal(signal.SIGHUP)  # and by one on standard output
        live.await_ticks(process, 50)
    process.send_signal(signal.SIGTERM)
    live.until(lambda: process.poll() is not None, "the end")
    assert process.returncode == 1
    said = {"output": "l3fwd-graph: standard output: the file took nothing, and output was lost\n",
            "error": "\ntotal   rx "}[stream]
    assert said in other.read_text()


def waits_for_disk(process):
    """Whether a thread of a process waits for a file system in user space to answer."""
    for wchan in Path(f"/proc/{process.pid}/task").glob("*/wchan"):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it has ended
            if wchan.read_text() == "request_wait_answer":
                return True
    return False


def test_stop_of_a_start_whose_output_stalls_does_not_first_become_the_user(rig):
    """glibc waits for each thread to change its user, and the one that prints waited for the disk.
    The routes are many so that the disk stalls before anything is printed."""
    need_fuse()
    disk, stall, other = (rig.folder / name for name in ("disk", "stall", "other"))
    disk.mkdir()
    rig.env = NO_LEAK_CHECK
    routes = rig.routes([oracle.route(f"10.{i >> 8}.{i & 255}.0/24", 0, "02:00:00:00:00:01")
                         for i in range(30000)])
    with open(other, "wb") as err:
        process = rig.start([*options(1, [(0, 0, 1)]), routes, "--user=nobody"],
                            rig.vdevs([SILENT]),
                            stdout=err, stderr=err,
                            under=[sys.executable, stalling.__file__, str(disk), str(stall), "sh",
                                   "-c", 'disk=$1; shift; exec "$@" > "$disk/log"', "sh",
                                   str(disk)])
    try:
        live.until(lambda: "EAL: " in other.read_text(), "the start of EAL", process)
        stall.touch()
        live.until(lambda: waits_for_disk(process), "what is printed first", process)
        process.send_signal(signal.SIGTERM)
        live.until(lambda: process.poll() is not None, "the end")
    finally:
        stall.unlink()
    said = other.read_text()
    assert process.returncode == 1 and "\nl3fwd-graph: stopped while it started\n" in said
    assert "l3fwd-graph: standard output: the file took nothing, and output was lost\n" in said


def test_syslog_that_takes_nothing_holds_up_nobody(rig):
    """DPDK's log goes there, too: once the daemon's queue was full, the program was deaf to SIGTERM."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount another /dev")
    dev = rig.folder / "dev"
    dev.mkdir()
    process = rig.start(options(1, [(0, 0, 1)]), [*rig.vdevs([SILENT]), "--log-level=lib.eal:debug"],
                        under=[sys.executable, silent_syslog.__file__, str(dev)])
    live.until(lambda: live.workers(process), "a worker", process)
    process.send_signal(signal.SIGTERM)
    run = rig.finish(process)
    queue = int(Path("/proc/sys/net/unix/max_dgram_qlen").read_text())
    assert run.code == 0 and run.stderr.count("\nEAL: ") > queue + 1, run


OUTPUTS = {
    "--json": "--json: {}/output: the file takes nothing",
    "--export-dot": "--export-dot: {}/output: the file takes nothing",
    "--export-json": "--export-json: {}/output: the file takes nothing",
    "--dump-routes": "--dump-routes: {}/output: the file takes nothing",
    "--capture": "--capture: {}/output: the file accepts no packets",
}


@pytest.mark.parametrize("output", OUTPUTS)
def test_output_on_a_disk_that_stalls_is_given_up_at_the_end(rig, output):
    app = {"--json": [], "--capture": ["--capture={}/output,at=pkt_cls"]}
    running = Stalling(rig, *app.get(output, [f"{output}={{}}/output"]),
                       json_path=rig.folder / "disk" / "output" if output == "--json" else None)
    running.stall.touch()
    live.await_ticks(running.process)
    running.process.send_signal(signal.SIGTERM)
    live.until(lambda: running.process.poll() is not None, "the end")
    assert running.process.returncode == 1, running.stderr()
    assert f"l3fwd-graph: {OUTPUTS[output].format(running.disk)}\n" in running.stderr()
    assert "\ntotal   rx " in running.stdout()


@pytest.mark.parametrize("output", OUTPUTS)
def test_output_on_a_disk_that_stalls_when_it_is_closed_is_given_up(rig, output):
    """A file on a server is written when it is closed: the main thread did, deaf to signals."""
    app = {"--json": [], "--capture": ["--capture={}/output,at=pkt_cls,max=1000000000"]}
    running = Stalling(rig, *app.get(output, [f"{output}={{}}/output"]),
                       json_path=rig.folder / "disk" / "output" if output == "--json" else None)
    running.stall.with_name("stall.written").touch()
    live.await_ticks(running.process)
    running.process.send_signal(signal.SIGTERM)
    live.until(lambda: running.process.poll() is not None, "the end")
    assert running.stall.exists(), "nothing was written"
    assert running.process.returncode == 1, running.stderr()
    assert f"l3fwd-graph: {OUTPUTS[output].format(running.disk)}\n" in running.stderr()


def test_capture_on_a_disk_that_stalls_is_refused_in_time(rig):
    """Whoever asked for it was never answered."""
    running = Stalling(rig)
    running.stall.touch()
    path = running.disk / "capture"
    assert running.ask(f"/l3fwd/capture_start,{path},at=pkt_cls") == {
        "error": f"{path}: opening it takes too long"}
    running.assert_alive()
    assert running.ask("/l3fwd/capture_start,/dev/null,at=pkt_cls") == {
        "error": "a capture is running; stop it first"}
    running.stall.unlink()
    running.wait(lambda: running.ask("/l3fwd/capture")["running"] == 0, "the end of the capture")
    # The one packet may be in the file before this is answered.
    assert "error" not in running.ask(f"/l3fwd/capture_start,{path},at=pkt_cls,max=1")
    assert running.stop().code == 0


def policy(classes):
    """A policy of so many rules."""
    return "".join(f"rule {i} class {i} dst 198.18.{i}.0/24\n" for i in range(1, classes + 1))


STALLED = "its file system does not answer"


class StallingInput:
    """A run that reads a file from a disk that can be made to stall."""

    def __init__(self, rig, option, content, stalled=False, more=""):
        need_fuse()
        rig.env = {"ASAN_OPTIONS": f"detect_leaks=0:{os.environ.get('ASAN_OPTIONS', '')}"}
        disk, self.stall, source = rig.folder / "disk", rig.folder / "stall", rig.folder / "source"
        disk.mkdir()
        source.write_text(content)
        self.path = disk / "input"
        script = f"cp {source} {self.path}; {f'touch {self.stall}; ' if stalled else ''}exec \"$@\""
        self.out, self.err = rig.folder / "stdout", rig.folder / "stderr"
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            self.process = rig.start(
                [*options(1, [(0, 0, 1)]), f"{option}={self.path}{more}"], rig.vdevs([SILENT]),
                stdout=out, stderr=err,
                under=[sys.executable, stalling.__file__, str(disk), str(self.stall), "sh", "-c",
                       script, "sh"])

    def end(self):
        """SIGTERM ends it at once, whatever the disk does."""
        self.process.send_signal(signal.SIGTERM)
        live.until(lambda: self.process.poll() is not None, "the end")
        assert self.process.returncode == 0, self.err.read_text()
        return self.err.read_text()


INPUTS = {"--routes": ("routes", ROUTES[0].line() + "\n", "routes: 0 added, 0 replaced"),
          "--policy": ("policy", policy(3), "policy: 3 rules")}


@pytest.mark.parametrize("option", INPUTS)
def test_reload_from_a_disk_that_stalls_holds_up_nobody(rig, option):
    """SIGHUP had the control thread wait for the disk: it was deaf to SIGTERM."""
    name, content, reloaded = INPUTS[option]
    running = StallingInput(rig, option, content)
    process = running.process
    live.until(lambda: live.workers(process), "a worker", process)
    live.await_ticks(process, 20)
    for rounds in (1, 2):
        running.stall.touch()
        process.send_signal(signal.SIGHUP)
        live.until(lambda: running.err.read_text().count(STALLED) == rounds, "the refusal", process)
        assert f"{name} unchanged: " in running.err.read_text()
        live.await_ticks(process, 20)
        running.stall.unlink()
        process.send_signal(signal.SIGHUP)
        live.until(lambda: running.out.read_text().count(reloaded) == rounds, "a reload", process)
    running.stall.touch()
    process.send_signal(signal.SIGHUP)
    live.until(lambda: "hy-file-read" in live.threads(process), "the reader", process)
    assert "stopped while it was read" in running.end()


@pytest.mark.parametrize("option", INPUTS)
def test_start_from_a_disk_that_stalls_can_be_stopped(rig, option):
    running = StallingInput(rig, option, INPUTS[option][1], stalled=True)
    live.until(lambda: "hy-file-read" in live.threads(running.process), "the reader",
               running.process)
    assert "stopped while it was read" in running.end()


@pytest.mark.parametrize("option, thread, said", [
    ("--json", "hy-file-open", "stopped while it was opened"),
    ("--dump-routes", "hy-file-open", "stopped while it was opened"),
    ("--export-dot", "hy-file-open", "stopped while it was opened"),
    ("--export-json", "hy-file-open", "stopped while it was opened"),
    ("--pack", "hy-file-read", "stopped while it was read"),
    ("--cap-file", "hy-file-read", "stopped while it was read"),  # with exit status 1
])
def test_start_with_a_file_on_a_disk_that_stalls_can_be_stopped(rig, option, thread, said):
    """The main thread opened reports, and the dynamic linker packs: deaf to SIGTERM."""
    running = StallingInput(rig, option, "", stalled=True)
    live.until(lambda: thread in live.threads(running.process), "the thread", running.process)
    assert f"l3fwd-graph: {option}: {running.path}: {said}\n" in running.end()


def test_start_with_a_capture_on_a_disk_that_stalls_can_be_stopped(rig):
    """Its file is opened by the thread that writes it."""
    running = StallingInput(rig, "--capture", "", stalled=True, more=",at=pkt_cls")
    process = running.process
    live.until(lambda: "hy-capture" in live.threads(process), "the thread", process)
    process.send_signal(signal.SIGTERM)
    live.until(lambda: process.poll() is not None, "the end")
    assert process.returncode in (0, 1), running.err.read_text()  # 1: the capture is lost
    running.stall.unlink()


def test_stop_while_files_are_emptied_leaves_whole_reports(rig):
    """What had been in files was lost, nothing was written instead, and the exit status was 0: on a
    busy machine, too. The disk stalls when the capture has its first bytes, before the picture."""
    need_fuse()
    disk, stall = rig.folder / "disk", rig.folder / "stall"
    disk.mkdir()
    stall.with_name("stall.written").touch()
    rig.env = NO_LEAK_CHECK
    report = rig.write("stats.json", "precious")
    process = rig.start([*options(1, [(0, 0, 1)]), f"--capture={disk}/capture,at=ip4_lookup",
                         f"--export-dot={disk}/picture", f"--json={report}"], rig.vdevs([SILENT]),
                        under=[sys.executable, stalling.__file__, str(disk), str(stall)])
    live.until(lambda: "hy-file-empty" in live.threads(process), "the thread", process)
    process.send_signal(signal.SIGTERM)
    time.sleep(0.5)
    stall.unlink()
    run = rig.finish(process)
    assert run.code == 0 and "stopped while it" not in run.stderr, run
    assert "none leaked" in run.stdout and run.stats["totals"]["rx"] == 0, run
