# SPDX-License-Identifier: BSD-3-Clause
"""Sharing graphs beside users and programs that mean harm: links and folders of other users, files
that are not ours, and a sharer whose memory goes away under its readers."""

import fcntl
import os
import shutil
import signal
import struct
import subprocess
import tempfile
import threading
from pathlib import Path

import pytest

import frames
import l3fwd
import live
from test_share import HY_GRAPH, HY_SHARE, KINDS, Primary

ME, OTHER, THIRD = 0, 65534, 65533
ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as several users")
READS = 150
TRUNCATIONS = 1000


def trap_link(base, precious):
    """The folder is another user's link to a folder of the victim's."""
    (base / "dpdk" / "rte").mkdir(parents=True)
    return link(base / "dpdk" / "rte" / "halyard", precious)


def trap_link_above(base, precious):
    """So is the folder above."""
    (precious / "halyard").mkdir()
    for file in list(precious.glob("graph-*")):
        shutil.copy(file, precious / "halyard")
    (base / "dpdk").mkdir()
    return link(base / "dpdk" / "rte", precious)


def link(path, to):
    """A link that another user made."""
    path.symlink_to(to)
    os.lchown(path, OTHER, OTHER)
    return "a link"


def trap_owner(base, precious):
    """The folder is another user's."""
    folder = base / "dpdk" / "rte" / "halyard"
    folder.mkdir(parents=True)
    shutil.copy(precious / "graph-old", folder)
    os.chown(folder, OTHER, OTHER)
    return "a folder of another user's"


def trap_owner_above(base, precious):
    """The folder above is."""
    folder = base / "dpdk" / "rte" / "halyard"
    folder.mkdir(parents=True)
    shutil.copy(precious / "graph-old", folder)
    os.chown(folder.parent, OTHER, OTHER)
    return "a folder of another user's"


def trap_mode(base, precious):
    """Others can write in the folder."""
    folder = base / "dpdk" / "rte" / "halyard"
    folder.mkdir(parents=True)
    shutil.copy(precious / "graph-old", folder)
    folder.chmod(0o770)
    return "other users can write"


def trap_file(base, precious):
    """In a good folder lies what is no description."""
    folder = base / "dpdk" / "rte" / "halyard"
    folder.mkdir(parents=True, mode=0o700)
    shutil.copy(precious / "graph-notes", folder)
    return "no description that Halyard left"


def trap_hard_link(base, precious):
    """Or what has another name elsewhere."""
    folder = base / "dpdk" / "rte" / "halyard"
    folder.mkdir(parents=True, mode=0o700)
    (folder / "graph-old").hardlink_to(precious / "graph-old")
    return "no description that Halyard left"


TRAPS = [trap_link, trap_link_above, trap_owner, trap_owner_above, trap_mode, trap_file,
         trap_hard_link]


def tree(folder):
    """All files of a folder, with what is in them."""
    return {path: path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


@ROOT_ONLY
@pytest.mark.parametrize("trap", TRAPS, ids=lambda trap: trap.__name__)
def test_a_folder_that_others_can_lead_astray_is_not_shared_in(rig, tmp_path, trap):
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "graph-notes").write_text("of years of work\n")
    (precious / "graph-old").write_bytes(b"hy share" + bytes(100))  # as a description begins
    why = trap(rig.folder, precious)
    before = tree(precious) | tree(rig.folder / "dpdk")
    run = rig.forward([[frames.traffic("198.18.0.1")]])
    assert run.stats["totals"]["tx"] == 100, run
    assert f"share: {rig.folder}/dpdk/rte" in run.stderr and why in run.stderr, run
    after = tree(precious) | tree(rig.folder / "dpdk")
    assert {path: after.get(path) for path in before} == before, run
    assert len(before) >= 2


def test_a_folder_that_cannot_be_opened_is_reported(rig):
    folder = rig.folder / "dpdk" / "rte" / "halyard"
    folder.parent.mkdir(parents=True, mode=0o700)
    folder.write_text("no folder\n")
    run = rig.forward([[frames.traffic("198.18.0.1")]])
    assert run.stats["totals"]["tx"] == 100, run
    assert f"share: {folder}: Not a directory" in run.stderr, run


@ROOT_ONLY
def test_a_link_of_roots_on_the_way_is_followed(rig, tmp_path):
    """As /var/run is one."""
    (tmp_path / "real").mkdir()
    (rig.folder / "dpdk").symlink_to(tmp_path / "real")
    program = live.Live(rig, "198.18.0.0/24 port 0 mac 02:00:00:00:00:01\n",
                        l3fwd.options(1, [(0, 0, 1)]), rig.vdevs([[frames.traffic("198.18.0.1")]]))
    folder = tmp_path / "real" / "rte" / "halyard"
    shown = subprocess.run([*l3fwd.UNDER, HY_GRAPH, "list", f"--folder={folder}"],
                           capture_output=True, text=True, check=False)
    program.stop()
    assert shown.stdout == "worker-1\n", shown


class Users:
    """A program of another user's that shares its graph, and readers of several users."""

    def __init__(self):
        # Under /tmp itself: pytest's own folders are root's alone.
        self.folder = Path(tempfile.mkdtemp(prefix="hy-users-"))
        self.folder.chmod(0o755)
        home = self.folder / "home"
        home.mkdir(mode=0o755)
        os.chown(home, OTHER, OTHER)
        self.shared = home / "shared"
        self.out = open(self.folder / "out", "w", encoding="utf-8")
        self.err = open(self.folder / "err", "w", encoding="utf-8")
        self.process = subprocess.Popen(
            [*l3fwd.UNDER, HY_SHARE, "primary", self.shared, *KINDS["small"], "--no-pci",
             "--no-telemetry"], stdout=self.out, stderr=self.err, user=OTHER, group=OTHER,
            extra_groups=[], env=dict(os.environ, RUNTIME_DIRECTORY=str(home)))
        live.until(lambda: "\n" in (self.folder / "out").read_text(), "changes")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(live.WAIT)
        self.out.close()
        self.err.close()
        shutil.rmtree(self.folder)

    def list(self, user):
        """What hy-graph of a user lists."""
        return subprocess.run([*l3fwd.UNDER, HY_GRAPH, "list", f"--folder={self.shared}"],
                              user=user, group=user, extra_groups=[], capture_output=True,
                              text=True, check=False)


def reachable():
    """Whether other users can run what was built."""
    path = HY_GRAPH.resolve()
    return all(folder.stat().st_mode & 1 for folder in path.parents)


@ROOT_ONLY
@pytest.mark.skipif(not reachable(), reason="the build's folder is closed to other users")
def test_only_its_user_and_root_read_a_program():
    with Users() as users:
        done = users.list(OTHER)
        assert done.stdout == "g\n", done
        assert users.list(ME).stdout == "g\n"
        os.chmod(users.shared, 0o755)
        refused = users.list(THIRD)
        assert refused.returncode == 1 and refused.stdout == "", refused
        assert f"share: {users.shared}: a folder of another user's" in refused.stderr, refused
        # What another user put there is not read, by root either.
        os.chmod(users.shared, 0o757)
        for user in (OTHER, ME):
            refused = users.list(user)
            assert refused.returncode == 1, refused
            assert "other users can write in this folder" in refused.stderr, refused
        os.chmod(users.shared, 0o700)
        os.chmod(users.shared / "lock", 0o644)
        os.chown(users.shared / "lock", THIRD, THIRD)
        refused = users.list(OTHER)
        assert refused.returncode == 1, refused
        assert "not a regular file of the folder's owner" in refused.stderr, refused


INSIDE = """
mount -t tmpfs -o mode=1777 none /tmp && mount -t tmpfs -o mode=755 none /run || exit 77
mkdir -p /run/user
%s
exec setpriv --reuid=%d --regid=%d --clear-groups env -u XDG_RUNTIME_DIR -u RUNTIME_DIRECTORY "$@"
"""


def alone(before, *words):
    """A command as another user, in a mount namespace with nothing in /tmp and /run."""
    script = INSIDE % (before, OTHER, OTHER)
    return ["unshare", "-m", "sh", "-c", script, "sh", *map(str, words)]


def router(*more):
    """l3fwd-graph on a port where nothing arrives."""
    return [*l3fwd.UNDER, l3fwd.binary(), "--no-huge", "--no-pci", "--no-shconf", "-m", "128",
            "--no-telemetry", "--lcores", "0@0,1@0", "--file-prefix=hy",
            "--vdev=net_null0,no-rx=1", "--", "-p", "1", "--config=(0,0,1)", *more]


@ROOT_ONLY
@pytest.mark.skipif(not reachable(), reason="the build's folder is closed to other users")
def test_without_a_folder_of_the_users_own_nothing_is_shared_in_tmp():
    for words in (router("--until-idle=1"), [*l3fwd.UNDER, HY_GRAPH, "list"]):
        done = subprocess.run(alone("", *words), capture_output=True, text=True, check=False,
                              timeout=l3fwd.TIMEOUT)
        if done.returncode == 77:
            pytest.skip(f"no mount namespace: {done.stderr}")
        assert f"share: no folder that only user {OTHER} can make: /run/user/{OTHER} is not " \
               "there, and XDG_RUNTIME_DIR is not set" in done.stderr, done
        assert done.returncode == (0 if l3fwd.binary() in words else 1), done


@ROOT_ONLY
@pytest.mark.skipif(not reachable(), reason="the build's folder is closed to other users")
def test_without_xdg_runtime_dir_the_users_own_folder_is_found(tmp_path):
    make = f"mkdir -m 700 /run/user/{OTHER} && chown {OTHER}:{OTHER} /run/user/{OTHER}"
    with open(tmp_path / "out", "w", encoding="utf-8") as out:
        program = subprocess.Popen(alone(make, *router()), stdout=out, stderr=subprocess.STDOUT)
    try:
        if program.poll() == 77:
            pytest.skip("no mount namespace")
        live.until(lambda: "HAL picked" in (tmp_path / "out").read_text(), "the start", program)
        as_user = ["nsenter", "-t", str(program.pid), "-m", "setpriv", f"--reuid={OTHER}",
                   f"--regid={OTHER}", "--clear-groups", "env", "-u", "RUNTIME_DIRECTORY"]
        for env in (["-u", "XDG_RUNTIME_DIR"], [f"XDG_RUNTIME_DIR=/run/user/{OTHER}"]):
            done = subprocess.run([*as_user, *env, *l3fwd.UNDER, HY_GRAPH, "list",
                                   "--file-prefix=hy"], capture_output=True, text=True, check=False)
            assert done.stdout == "worker-1\n", done
    finally:
        program.send_signal(signal.SIGTERM)
        assert program.wait(live.WAIT) == 0, (tmp_path / "out").read_text()


class Hostile:
    """Shares what another program shares, out of a copy of its memory that comes and goes."""

    def __init__(self, primary, folder):
        self.folder = folder
        folder.mkdir(mode=0o700)
        description = (primary.shared / "graph-g").read_bytes()
        pid = primary.process.pid
        os.kill(pid, signal.SIGSTOP)  # else its memory changes while it is copied
        description = (primary.shared / "graph-g").read_bytes()
        source, place = self.memory_of(pid, description)
        self.memory = os.open(folder / "memory", os.O_RDWR | os.O_CREAT, 0o600)
        size = os.stat(source).st_size
        os.truncate(self.memory, size)
        self.parts = []  # of the memory that the description names
        with open(source, "rb") as memory:
            at = description.find(place)
            while at >= 0:
                length, fd, offset = struct.unpack_from("=QQQ", description, at - 24)
                memory.seek(offset)
                self.parts.append((offset, memory.read(length)))
                at = description.find(place, at + 1)
        mine = os.fstat(self.memory)
        for offset, part in self.parts:
            description = description.replace(
                struct.pack("=QQQ", len(part), fd, offset) + place,
                struct.pack("=QQQQQ", len(part), self.memory, offset, mine.st_dev, mine.st_ino))
        description = description.replace(b"g\0" + struct.pack("=Q", pid),
                                          b"g\0" + struct.pack("=Q", os.getpid()), 1)
        assert len(self.parts) in (2, 3), "the graph, its image, perhaps the next one"
        (folder / "graph-g").write_bytes(description)
        self.lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.fcntl(self.lock, 37,  # F_OFD_SETLK
                    struct.pack("=hhiqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0, 0))
        self.size, self.ended, self.truncated = size, False, 0
        self.fill()

    @staticmethod
    def memory_of(pid, description):
        """The file of a program's memory, and how a description names it."""
        for path in Path(f"/proc/{pid}/fd").iterdir():
            try:
                found = path.stat()
            except OSError:
                continue
            place = struct.pack("=QQ", found.st_dev, found.st_ino)
            if place in description:
                return path, place
        raise AssertionError("the description names no file that the program has open")

    def fill(self):
        """Has the memory be what it was."""
        os.truncate(self.memory, self.size)
        for offset, part in self.parts:
            os.pwrite(self.memory, part, offset)

    def run(self):
        """Takes it away and gives it back."""
        while not self.ended:
            os.truncate(self.memory, 0)
            self.truncated += 1
            self.fill()

    def close(self):
        os.close(self.lock)
        os.close(self.memory)


def test_a_sharer_that_truncates_its_memory_kills_no_reader(tmp_path):
    with Primary(tmp_path, KINDS["small"]) as primary:
        hostile = Hostile(primary, tmp_path / "hostile")
        thread = threading.Thread(target=hostile.run)
        codes = []
        try:
            command = [*l3fwd.UNDER, HY_GRAPH, "stats", f"--folder={hostile.folder}"]
            assert subprocess.run(command, capture_output=True, check=False).returncode == 0
            thread.start()
            while len(codes) < READS or hostile.truncated < TRUNCATIONS:
                codes.append(subprocess.run(command, capture_output=True, check=False,
                                            timeout=l3fwd.TIMEOUT).returncode)
                assert codes[-1] in (0, 1), f"read {len(codes)}: {codes[-1]}"
            os.truncate(hostile.memory, 0)
        finally:
            hostile.ended = True
            if thread.ident is not None:
                thread.join()
        os.truncate(hostile.memory, 0)
        gone = subprocess.run(command, capture_output=True, text=True, check=False)
        hostile.close()
        assert gone.returncode == 1 and "it changed each of" in gone.stderr, gone
        assert 0 in codes
        os.kill(primary.process.pid, signal.SIGCONT)
        primary.changes(2)  # it may have been stopped within the first one
        primary.stop()


def test_a_sharer_that_leases_its_memory_holds_up_no_reader(tmp_path):
    """Whoever opened it waited until the kernel broke the lease, for 45 s each time."""
    patience = int(Path("/proc/sys/fs/lease-break-time").read_text())
    assert patience > 20
    with Primary(tmp_path, KINDS["small"]) as primary:
        hostile = Hostile(primary, tmp_path / "hostile")
        command = [*l3fwd.UNDER, HY_GRAPH, "stats", f"--folder={hostile.folder}"]
        assert subprocess.run(command, capture_output=True, check=False).returncode == 0
        before = signal.signal(signal.SIGIO, signal.SIG_IGN)  # which asks to give it back
        try:
            fcntl.fcntl(hostile.memory, fcntl.F_SETLEASE, fcntl.F_WRLCK)
            done = subprocess.run(command, capture_output=True, text=True, check=False,
                                  timeout=patience - 5)
        except OSError as error:
            pytest.skip(f"no leases on this file system: {error}")
        finally:
            hostile.close()
            signal.signal(signal.SIGIO, before)
            os.kill(primary.process.pid, signal.SIGCONT)
        assert done.returncode == 1 and "it changed each of" in done.stderr, done
        primary.changes(2)
        primary.stop()


@pytest.mark.skipif(shutil.which("prlimit") is None, reason="prlimit is not installed")
def test_reader_with_too_few_files_says_so(tmp_path):
    """It blamed the memory."""
    with Primary(tmp_path, KINDS["small"]) as primary:
        refused = []
        for most in range(4, 64):
            done = subprocess.run(["prlimit", f"--nofile={most}", *l3fwd.UNDER, HY_GRAPH, "stats",
                                   f"--folder={primary.shared}"], capture_output=True, text=True,
                                  check=False, timeout=l3fwd.TIMEOUT)
            if done.returncode == 0:
                break
            if "loading shared libraries" not in done.stderr:
                refused.append(done.stderr)
        assert done.returncode == 0, done
        assert len(refused) >= 2
        assert not [text for text in refused if "oo many open files" not in text], refused
        primary.changes(2)
        primary.stop()


def damaged(folder, size):
    """A folder with a description of zeros, and the lock of a program that shares there."""
    folder.mkdir(mode=0o700)
    lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.fcntl(lock, 37,  # F_OFD_SETLK
                struct.pack("=hhiqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0, 0))
    (folder / "graph-g").touch(mode=0o600)
    os.truncate(folder / "graph-g", size)
    return lock


@pytest.mark.parametrize("size, looks", [(1 << 10, 200), (16 << 20, 4), (64 << 20, 1)])
def test_reader_looks_less_often_at_a_large_description(tmp_path, size, looks):
    """To parse one of 64 MiB 200 times held it up for minutes."""
    if l3fwd.UNDER or shutil.which("strace") is None:
        pytest.skip("needs strace, and no emulator")
    lock = damaged(tmp_path / "hostile", size)
    calls = tmp_path / "calls"
    done = subprocess.run(["strace", "-qq", "-o", calls, "-e", "trace=openat", HY_GRAPH, "stats",
                           f"--folder={tmp_path / 'hostile'}"], capture_output=True, text=True,
                          check=False, env=dict(os.environ, **l3fwd.NO_LEAK_CHECK))
    os.close(lock)
    assert done.returncode == 1 and "what it shares is damaged" in done.stderr, done
    assert calls.read_text().count('"graph-g"') == looks


@pytest.mark.parametrize("size", [(64 << 20) + 1, 1 << 30, (1 << 30) + 1])
def test_reader_is_not_made_to_read_a_large_description(tmp_path, size):
    """One of 1 GiB was read 200 times; a larger one was said to change all the time."""
    folder = tmp_path / "hostile"
    lock = damaged(folder, size)
    with open(tmp_path / "err", "w", encoding="utf-8") as err:
        reader = subprocess.Popen([*l3fwd.UNDER, HY_GRAPH, "stats", f"--folder={folder}"], stderr=err)
        _, status, usage = os.wait4(reader.pid, 0)
    reader.returncode = os.waitstatus_to_exitcode(status)
    os.close(lock)
    assert reader.returncode == 1
    assert "what it shares is damaged" in (tmp_path / "err").read_text()
    assert usage.ru_maxrss < 512 << 10, "KiB"
