# SPDX-License-Identifier: BSD-3-Clause
"""Files that l3fwd-graph writes: which it opens, how, and what it says of those that do not take
all. Disks are full in mount namespaces of their own."""

import json
import os
import shutil
import signal
import socket
import stat
import struct
import subprocess

import pytest

import live
import oracle
import pcapfile
from frames import traffic
from l3fwd import SILENT, options

ROUTES = [oracle.route("198.18.1.0/24", 1, "02:00:00:00:00:01")]
WRITTEN = ["--json={}", "--export-dot={}", "--export-json={}", "--dump-routes={}",
           "--capture={},at=pkt_cls"]
NOT_REGULAR = "is not a regular file"
NOBODY = 65534


def option_of(output):
    """The option's name."""
    return output.split("=")[0]


def run_with(rig, *app, records=None, under=()):
    """Forwards some packets, with more options."""
    vdevs = rig.vdevs([[records or traffic("198.18.1.1")], SILENT])
    process = rig.start([*options(2, [(0, 0, 1), (1, 0, 1)]), rig.routes(ROUTES),
                         "--until-idle=100", *app], vdevs, under=under)
    return rig.finish(process)


def place(path, kind):
    """Puts something in a path; returns what it must still be after a refusal."""
    precious = path.with_name("precious")
    precious.write_text("precious")
    if kind == "symlink":
        path.symlink_to(precious)
    elif kind == "dangling":
        path.symlink_to(path.with_name("absent"))
    elif kind == "hard link":
        path.hardlink_to(precious)
    elif kind.startswith("FIFO"):
        os.mkfifo(path)
    elif kind == "socket":
        with socket.socket(socket.AF_UNIX) as sock:
            sock.bind(str(path))
    elif kind == "directory":
        path.mkdir()
    elif kind == "foreign":
        if os.geteuid() != 0:
            pytest.skip("only root can make files of others")
        path.write_text("precious")
        os.chown(path, NOBODY, NOBODY)
    else:
        return kind
    return str(path)


KINDS = {
    "symlink": "is a symbolic link, which is not followed",
    "dangling": "is a symbolic link, which is not followed",
    "hard link": "has other names, too (hard links)",
    "FIFO": NOT_REGULAR,
    "FIFO that is read": NOT_REGULAR,
    "socket": NOT_REGULAR,
    "directory": NOT_REGULAR,
    "foreign": "belongs to another user",
    "/dev/full": NOT_REGULAR,
    "/dev/stdout": "is a symbolic link, which is not followed",
}


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.replace(" ", "_"))
@pytest.mark.parametrize("output", WRITTEN, ids=option_of)
def test_output_that_is_no_regular_file_of_ours_is_refused(rig, output, kind):
    path = place(rig.folder / "output", kind)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK) if kind == "FIFO that is read" else None
    run = run_with(rig, output.format(path))
    assert run.code == 1, run
    assert f"l3fwd-graph: {option_of(output)}: {path}: {KINDS[kind]}" in run.stderr, run
    assert (rig.folder / "precious").read_text() == "precious"
    assert not (rig.folder / "absent").exists()
    if kind == "foreign":
        assert (rig.folder / "output").read_text() == "precious"
    if reader is not None:
        os.close(reader)


@pytest.mark.parametrize("output", WRITTEN, ids=option_of)
def test_new_file_is_for_its_owner_alone_and_an_old_one_keeps_its_mode(rig, output):
    path = rig.folder / "output"
    for umask, mode in (("0777", 0o600), ("0", 0o600), ("0", 0o644)):
        if mode == 0o600:
            path.unlink(missing_ok=True)
        run = run_with(rig, output.format(path),
                       under=["sh", "-c", f'umask {umask}; exec "$@"', "sh"])
        assert run.code == 0, run
        assert stat.S_IMODE(path.stat().st_mode) == mode
        size = path.stat().st_size
        assert size > 0
        path.chmod(0o644)
        path.write_bytes(path.read_bytes() + b"x" * 100000)
    assert run_with(rig, output.format(path)).code == 0
    assert size // 2 < path.stat().st_size < 2 * size, "old content is removed"


@pytest.mark.parametrize("output", WRITTEN, ids=option_of)
def test_output_may_be_dev_null(rig, output):
    run = run_with(rig, output.format("/dev/null"))
    assert run.code == 0, run


def on_small_disk(folder, size, kept):
    """The beginning of a command that runs the rest with a folder on a disk with room for some bytes,
    a multiple of pages, and then copies what is there."""
    if subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode:
        pytest.skip("no right to make mount namespaces")
    folder.mkdir()
    kept.mkdir()
    script = (f"mount -t tmpfs -o size={size + 4096} none {folder} || exit 99; "
              f"head -c 4096 /dev/zero >{folder}/filler; \"$@\"; rc=$?; "
              f"cp {folder}/* {kept}; exit $rc")
    return ["unshare", "-m", "sh", "-c", script, "sh"]


def under_limit(folder, size, kept):
    """The beginning of a command that runs the rest with a limit on the size of files."""
    if shutil.which("prlimit") is None:
        pytest.skip("prlimit is not installed")
    folder.mkdir()
    kept.symlink_to(folder)
    return ["prlimit", f"--fsize={size}"]


SHORT = {
    "full": (on_small_disk, "No space left on device"),
    "limited": (under_limit, "File too large"),
}
MANY = [f"198.{18 + (i >> 8)}.{i & 255}.0/24" for i in range(512)]


@pytest.mark.parametrize("how", SHORT)
@pytest.mark.parametrize("output", WRITTEN[:4], ids=option_of)
def test_output_without_room_is_reported_and_fails(rig, output, how):
    """SIGXFSZ would have killed it, and a full disk been an Input/output error, or nothing."""
    limit, said = SHORT[how]
    size = 0 if how == "full" else 300
    under = limit(rig.folder / "disk", size, rig.folder / "kept")
    routes = [oracle.route(prefix, 1, "02:00:00:00:00:01") for prefix in MANY]
    vdevs = rig.vdevs([[traffic("198.18.1.1", 3)], SILENT], tx_queues=0)
    path = rig.folder / "disk" / "output"
    run = rig.finish(rig.start(
        [*options(2, [(0, 0, 1), (1, 0, 1)]), rig.routes(routes), "--until-idle=100",
         output.format(path)], vdevs, under=under))
    assert run.code == 1, run
    assert f"l3fwd-graph: {option_of(output)}: {path}: {said}" in run.stderr, run
    assert (rig.folder / "kept" / "output").stat().st_size == size


def blocks(path):
    """The types of the blocks of a pcapng file, which must be whole."""
    data, at, types = path.read_bytes(), 0, []
    while at < len(data):
        kind, size = struct.unpack_from("=II", data, at)
        assert struct.unpack_from("=I", data, at + size - 4)[0] == size, f"at {at} of {len(data)}"
        types.append(kind)
        at += size
    assert at == len(data)
    return types


PACKET = 6


def told(run):
    """Packets in the file and lost, as the program says."""
    (line,) = [line for line in run.stdout.splitlines() if line.startswith("capture: ")]
    words = line.rsplit(": ", 1)[1].replace(",", "").split()
    assert words[1:4:2] == ["packets", "lost"], line
    return int(words[0]), int(words[2])


@pytest.mark.parametrize("how", SHORT)
def test_capture_without_room_ends_with_a_whole_packet_and_tells_how_many(rig, how):
    limit, said = SHORT[how]
    under = limit(rig.folder / "disk", 1 << 20, rig.folder / "kept")
    records = [bytes(frame) + bytes(1400) for frame in traffic("198.18.1.1", 2000)]
    path = rig.folder / "disk" / "output"
    vdevs = rig.vdevs([[records], SILENT], tx_queues=0)
    run = rig.finish(rig.start(
        [*options(2, [(0, 0, 1), (1, 0, 1)]), rig.routes(ROUTES), "--until-idle=100",
         f"--capture={path},at=ethdev_rx-0-0,ring=33554432"], vdevs, under=under))
    assert run.code == 1, run
    assert f"l3fwd-graph: --capture: {path}: {said}" in run.stderr, run
    packets, lost = told(run)
    found = blocks(rig.folder / "kept" / "output")
    assert packets == found.count(PACKET) > 100, run
    assert lost > 0 and packets + lost <= len(records), run


@pytest.mark.parametrize("app", [["--duration=1"], ["--explain"], ["--explain=json"],
                                 ["--until-idle=100", "--json=-"], ["--trace=3", "--duration=1"]],
                         ids=" ".join)
def test_standard_output_that_is_full_fails(rig, app):
    with open("/dev/full", "w", encoding="ascii") as full:
        process = rig.start([*options(1, [(0, 0, 1)]), *app], rig.vdevs([SILENT]), stdout=full)
        run = rig.finish(process)
    assert run.code == 1 and "standard output: No space left on device" in run.stderr, run


def endless(rig, *app, **how):
    """A run that receives packets until it is stopped, with telemetry."""
    vdevs = rig.vdevs([[pcapfile.write(rig.folder / "in.pcap", traffic("198.18.1.1"))]],
                      more=",infinite_rx=1")
    routes = [oracle.route("198.18.1.0/24", 0, "02:00:00:00:00:01")]
    return live.Live(rig, routes, [*options(1, [(0, 0, 1)]), *app], vdevs, telemetry=True, **how)


def assert_alive(running):
    """The control thread reads routes again."""
    for mac in "78":
        assert running.reload([oracle.route("198.18.1.0/24", 0, f"02:00:00:00:00:0{mac}")])[1] == 1


def test_dump_of_routes_to_a_file_that_was_removed_is_reported(rig):
    """It was called written, and nobody could find it."""
    dump = rig.folder / "dump"
    running = endless(rig, f"--dump-routes={dump}")
    running.process.send_signal(signal.SIGUSR1)
    running.wait(lambda: running.stdout().count("routes: written to") == 1, "a dump")
    dump.unlink()
    running.process.send_signal(signal.SIGUSR1)
    said = f"l3fwd-graph: --dump-routes: {dump}: No such file or directory"
    running.wait(lambda: said in running.stderr(), "the reason")
    running.process.send_signal(signal.SIGTERM)
    run = rig.finish(running.process)
    assert run.code == 1 and not dump.exists(), run
    assert running.stdout().count("routes: written to") == 1


@pytest.mark.parametrize("output", ["--dump-routes", "--export-dot", "--json"])
def test_file_that_was_renamed_is_not_overwritten_by_its_old_name(rig, output):
    """A dump was called written to its name, where there was no file, and took the place of the one
    that had been put aside."""
    path, aside = rig.folder / "output", rig.folder / "aside"
    where = {"json_path": path} if output == "--json" else {}
    running = endless(rig, *([] if where else [f"{output}={path}"]), **where)
    if output == "--dump-routes":
        running.process.send_signal(signal.SIGUSR1)
        running.wait(lambda: running.stdout().count("routes: written to") == 1, "a dump")
    running.wait(path.exists, "the file")
    before = path.read_bytes()
    path.rename(aside)
    assert_alive(running)  # the routes are others now
    said = f"l3fwd-graph: {output}: {path}: No such file or directory"
    if output == "--dump-routes":
        running.process.send_signal(signal.SIGUSR1)
        running.wait(lambda: said in running.stderr(), "the reason")
    running.process.send_signal(signal.SIGTERM)
    run = rig.finish(running.process)
    assert run.code == 1 and said in running.stderr(), running.stderr()
    assert not path.exists() and aside.read_bytes() == before
    assert len(before) == 0 or running.stdout().count("routes: written to") == 1


def unlinked(path):
    path.unlink()


def replaced(path):
    other = path.with_name("other")
    other.write_text("another's")
    other.rename(path)


def truncated(path):
    os.truncate(path, 0)


LOST = {unlinked: "it was removed or replaced", replaced: "it was removed or replaced",
        truncated: "another program changed it"}


@pytest.mark.parametrize("change", LOST, ids=lambda change: change.__name__)
def test_capture_whose_file_changes_meanwhile_is_reported_lost(rig, change):
    """Its packets were counted as captured, the program ended with 0, and nobody could read them."""
    path = rig.folder / "capture"
    running = endless(rig, f"--capture={path},at=pkt_cls")
    running.wait(lambda: path.exists() and path.stat().st_size > 1 << 16, "packets")
    change(path)
    live.await_work(running.process)
    running.process.send_signal(signal.SIGTERM)
    run = rig.finish(running.process)
    run.stdout, run.stderr = running.stdout(), running.stderr()
    assert run.code == 1, run
    said = f"l3fwd-graph: --capture: {path}: {LOST[change]} while packets were written to it\n"
    assert said in run.stderr, run
    packets, lost = told(run)
    assert packets == 0 and lost > 0, run


def test_capture_to_a_fifo_holds_up_nobody(rig):
    running = endless(rig)
    fifo = rig.folder / "fifo"
    os.mkfifo(fifo)
    assert running.ask(f"/l3fwd/capture_start,{fifo},at=pkt_cls") == {
        "error": f"{fifo}: is not a regular file"}
    assert running.ask(f"/l3fwd/capture_start,{fifo},at=pkt_cls,fifo") == {
        "error": f"{fifo}: no program reads from this FIFO"}
    plain = rig.write("plain", "precious")
    assert running.ask(f"/l3fwd/capture_start,{plain},at=pkt_cls,fifo") == {
        "error": f"{plain}: is not a FIFO"}
    assert plain.read_text() == "precious"
    assert_alive(running)
    assert running.stop().code == 0


def test_capture_to_a_fifo_that_is_read_is_whole(rig):
    running = endless(rig)
    fifo, copy = rig.folder / "fifo", rig.folder / "copy"
    os.mkfifo(fifo)
    with open(copy, "wb") as out:
        reader = subprocess.Popen(["cat", str(fifo)], stdout=out)
        running.wait(lambda: "error" not in running.ask(
            f"/l3fwd/capture_start,{fifo},at=pkt_cls,max=20000,fifo"), "a reader")
        running.wait(lambda: not running.ask("/l3fwd/capture")["running"], "packets")
        assert reader.wait(live.WAIT) == 0
    assert blocks(copy).count(PACKET) == 20000
    assert running.stop().code == 0


def test_capture_to_a_fifo_whose_reader_stops_counts_what_is_lost(rig):
    running = endless(rig)
    fifo = rig.folder / "fifo"
    os.mkfifo(fifo)
    reader = os.open(fifo, os.O_RDONLY | os.O_NONBLOCK)
    assert running.ask(f"/l3fwd/capture_start,{fifo},at=pkt_cls,fifo")["running"] == 1
    running.wait(lambda: running.ask("/l3fwd/capture")["lost"] > 1000, "losses")
    assert_alive(running)
    assert running.ask("/l3fwd/capture")["running"] == 1
    running.process.send_signal(signal.SIGTERM)
    run = rig.finish(running.process)
    run.stdout, run.stderr = running.stdout(), running.stderr()
    assert run.code == 1, run
    assert f"{fifo}: nothing reads from this FIFO any more" in run.stderr, run
    packets, lost = told(run)
    data = b"".join(iter(lambda: os.read(reader, 1 << 16), b""))
    os.close(reader)
    assert packets > 0 and lost > 1000 and len(data) <= 1 << 16
    totals = json.loads((rig.folder / "stats.json").read_text())["totals"]
    assert packets + lost == totals["rx"] or packets + lost < totals["rx"], run
