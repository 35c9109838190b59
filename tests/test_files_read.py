# SPDX-License-Identifier: BSD-3-Clause
"""Files that l3fwd-graph reads: whatever is in their place, it neither waits for that, nor grows,
nor passes on to a terminal what is in it."""

import os
import signal
import socket
import time
from contextlib import contextmanager

import pytest

import live
import oracle
import pcapfile
import test_install
from frames import traffic
from l3fwd import SILENT, options

READ = {
    "--routes": "198.18.0.0/24 port 0 mac 02:00:00:00:00:01\n",
    "--policy": "rule 1 class 7 proto udp\n",
    "--cap-file": "port0.rx_mark=no\n",
}
ESCAPES = "\x1b]0;owned\x07\x1b[2J\x9b31m\x7f\x08"


@contextmanager
def placed(path, kind):
    """Puts something that is no regular file in a path."""
    if kind == "FIFO":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    elif kind == "sparse":
        with open(path, "wb") as file:
            file.truncate(40 << 30)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as sock:
            sock.bind(str(path))
    else:
        path.symlink_to(kind)
    yield path


KINDS = {
    "/dev/zero": "is not a regular file",
    "/dev/tty": "is not a regular file",
    "FIFO": "is not a regular file",
    "socket": "is not a regular file",
    "directory": "Is a directory",
    "sparse": "more than",
}


def limited():
    """Lest a fault takes the machine's memory. AddressSanitizer's shadow alone is larger."""
    return [] if test_install.sanitizer() else ["prlimit", "--data=4000000000"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("option", READ)
def test_input_that_is_no_regular_file_is_refused(rig, option, kind):
    with placed(rig.folder / "input", kind) as path:
        process = rig.start([*options(1, [(0, 0, 1)]), "--until-idle=100", f"{option}={path}"],
                            rig.vdevs([SILENT]), under=limited())
        run = rig.finish(process)
    assert run.code == 1, run
    assert f"l3fwd-graph: {option}: {path}: {KINDS[kind]}" in run.stderr, run


@pytest.mark.parametrize("kind", KINDS)
def test_reload_of_what_is_no_regular_file_is_refused_and_all_goes_on(rig, kind):
    vdevs = rig.vdevs([[pcapfile.write(rig.folder / "in.pcap", traffic("198.18.0.1"))]],
                      more=",infinite_rx=1")
    policy = rig.write("policy", READ["--policy"])
    running = live.Live(rig, READ["--routes"], [*options(1, [(0, 0, 1)]), f"--policy={policy}"],
                        vdevs, under=limited())
    for path, said in ((running.path, "routes"), (policy, "policy")):
        path.unlink()
        with placed(path, kind):
            running.hup()
            running.wait(lambda said=said, path=path: [
                line for line in running.stderr().splitlines()
                if line.startswith(f"l3fwd-graph: {said} unchanged: ") and
                f"{path}: {KINDS[kind]}" in line], f"a refusal of {said}")
        path.rmdir() if kind == "directory" else path.unlink()
        path.write_text(READ[f"--{said}"])
    # One transaction: neither changes when the other is refused.
    said = running.stderr()
    assert "l3fwd-graph: policy unchanged: the reload of routes failed\n" in said
    assert "l3fwd-graph: routes unchanged: the reload of policy failed\n" in said
    assert not running.changes()
    assert running.reload([oracle.route("198.18.0.0/16", 0, "02:00:00:00:00:02")]) == (1, 0, 1, 0)
    assert running.stop().code == 0


@pytest.mark.parametrize("option", READ)
def test_line_that_is_too_long_is_refused_by_file_and_line(rig, option):
    good = READ[option].rstrip()
    path = rig.write("input", f"{good}#{'x' * (4093 - len(good))}\n{'#' * 4095}\n")
    run = rig.run([*options(1, [(0, 0, 1)]), "--until-idle=100", f"{option}={path}"],
                  rig.vdevs([SILENT]))
    assert run.code == 1, run
    assert f"{path}:2: " in run.stderr and "longer than 4094 bytes" in run.stderr, run
    path.write_text(f"{good}#{'x' * (4093 - len(good))}\n{'#' * 4094}\n")
    run = rig.run([*options(1, [(0, 0, 1)]), "--until-idle=100", f"{option}={path}"],
                  rig.vdevs([SILENT]))
    assert run.code == 0, run


BAD = {
    "--routes": ["{} port 0 mac 02:00:00:00:00:01", "198.18.0.0/{} port 0 mac 02:00:00:00:00:01",
                 "198.18.0.0/24 {} 0 mac 02:00:00:00:00:01",
                 "198.18.0.0/24 port {} mac 02:00:00:00:00:01",
                 "198.18.0.0/24 port 0 mac {}",
                 "198.18.0.0/24 port 0 mac 02:00:00:00:00:01 {}"],
    "--policy": ["{} 1", "rule {} class 1", "rule 1 class {}", "rule 1 class 2 {} 7",
                 "rule 1 class 2 src {}", "rule 1 class 2 dport {}", "rule 1 class 2 {}"],
    "--cap-file": ["{}", "{}.rx_mark=no", "port0.{}=no", "port0.rx_mark={}",
                   "port0.rx_mark=yes:{}"],
}


@pytest.mark.parametrize("option, line", [(o, line) for o, lines in BAD.items() for line in lines])
def test_control_characters_of_a_bad_file_do_not_reach_the_terminal(rig, option, line):
    path = rig.write("input" + "\x1b[31m", line.format("q" + ESCAPES + "ü"))
    run = rig.run([*options(1, [(0, 0, 1)]), "--until-idle=100", f"{option}={path}"],
                  rig.vdevs([SILENT]))
    assert run.code == 1, run
    assert "input?[31m" in run.stderr and "q?]0;owned??[2J" in run.stderr, run
    assert not [c for c in run.stderr if not c.isprintable() and c != "\n"], repr(run.stderr)


def test_stop_while_a_large_file_is_read_is_a_clean_end(rig):
    """The condition to stop is looked at between lines, and not only between files."""
    path = rig.folder / "many"
    with open(path, "w", encoding="ascii") as file:
        for i in range(0, 250):
            file.write("".join(f"10.{i}.{j >> 8}.{j & 255}/32 port 0 mac 02:00:00:00:00:01\n"
                               for j in range(1 << 14)))
    assert path.stat().st_size < 256 << 20
    process = rig.start([*options(1, [(0, 0, 1)]), f"--routes={path}"], rig.vdevs([SILENT]))
    live.await_handlers(process, signal.SIGTERM)
    before = int(live.status(process, "RssAnon").split()[0])
    live.until(lambda: int(live.status(process, "RssAnon").split()[0]) >
               before + (path.stat().st_size >> 10) // 2, "half of the file", process)
    process.send_signal(signal.SIGTERM)
    run = rig.finish(process)
    assert run.code == 0 and f"{path}: stopped while it was read" in run.stderr, run


def test_file_that_changes_while_it_is_read_is_not_used(rig):
    """A file that is appended to without a break: some reload must notice; none uses half a file,
    which would have a line that is cut."""
    vdevs = rig.vdevs([[pcapfile.write(rig.folder / "in.pcap", traffic("198.18.0.1"))]],
                      more=",infinite_rx=1")
    running = live.Live(rig, READ["--routes"], options(1, [(0, 0, 1)]), vdevs)
    pid = os.fork()
    if pid == 0:
        with open(running.path, "ab", buffering=0) as file:
            file.write(b"# " + b"x" * 900 + b"\n" + (b"#" * 999 + b"\n") * 20000)
            while True:
                file.write(b"# half a line")
                file.write(b" and the rest\n")
    try:
        deadline = time.monotonic() + live.WAIT
        while not [text for text in running.refusals() if "changed while it was read" in text]:
            assert time.monotonic() < deadline, running.refusals()
            seen = len(running.refusals()) + len(running.changes())
            running.hup()
            running.wait(lambda seen=seen: len(running.refusals()) + len(running.changes()) > seen,
                         "a reload")
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    assert running.reload([oracle.route("198.18.0.0/16", 0, "02:00:00:00:00:02")])[0] == 1
    assert running.stop().code == 0

