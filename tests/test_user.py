# SPDX-License-Identifier: BSD-3-Clause
"""--user: what the program may do once its ports are open, and what it then cannot do any more."""

import os
import pwd
import re
import shutil
import tempfile
from pathlib import Path

import pytest

import frames
import l3fwd
import pcapfile
import test_plugin
from l3fwd import SILENT
from live import Live, await_work, until
from test_events import RESET, Events
from test_routes_live import AIMS, packets, replay, route, to_nowhere

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
NOBODY = pwd.getpwnam("nobody")
NOTE = f" (as user {NOBODY.pw_uid} of --user)"
folder = test_plugin.folder
FIELDS = ("Uid", "Gid", "Groups", "CapPrm", "CapEff", "NoNewPrivs")


@pytest.fixture
def open_rig(request):
    """A rig whose folder everybody can look into; pytest's own are its user's alone."""
    used = l3fwd.Rig(tempfile.mkdtemp(prefix="hy-user-"))
    used.folder.chmod(0o755)
    yield used
    used.clean_up()
    if not getattr(request.node, "failed", True):
        shutil.rmtree(used.folder)


def rights(process):
    """What the kernel says of each thread of a process."""
    found = []
    for task in Path(f"/proc/{process.pid}/task").iterdir():
        try:
            text = (task / "status").read_text(encoding="ascii")
        except (FileNotFoundError, ProcessLookupError):
            continue  # one of telemetry's, which come and go
        fields = dict(line.split(":", 1) for line in text.splitlines())
        found.append(tuple(fields[field].split() for field in FIELDS))
    return found


def two_to_nowhere(_port):
    """A transmit queue for each worker."""
    return ["/dev/null"] * 2


def start(rig, user, *app):
    """A run with packets for ever."""
    routes = [route(f"{address}/24", ports[0], 1) for address, ports in AIMS.items()]
    live = Live(rig, routes, [*l3fwd.options(4, [(0, 0, 1), (1, 0, 2)]), f"--user={user}", *app],
                replay(rig, 4, {0: packets(AIMS), 1: packets(AIMS)}, two_to_nowhere, (0, 1)),
                workers=2, telemetry=True)
    until(lambda: rights(live.process)[0][0] != ["0"] * 4, "other rights", live.process)
    return live, routes


def sent(live):
    """Packets that the port of most destinations has sent."""
    return live.ask("/ethdev/stats,1")["opackets"]


@needs_root
@pytest.mark.parametrize("user", ["nobody", f"{NOBODY.pw_uid}:{NOBODY.pw_gid}", "12345:54321"])
def test_no_thread_has_rights_left_and_packets_flow(open_rig, user):
    live, _ = start(open_rig, user)
    uid, gid = (NOBODY.pw_uid, NOBODY.pw_gid) if user != "12345:54321" else (12345, 54321)
    none = ([str(uid)] * 4, [str(gid)] * 4, [], ["0" * 16], ["0" * 16], ["1"])
    # A thread of telemetry's that glibc found ending keeps its rights, and ends.
    until(lambda: set(map(str, rights(live.process))) == {str(none)}, "no rights", live.process)
    # The main one, two workers, EAL's for interrupts and telemetry.
    assert len(rights(live.process)) >= 4
    before = sent(live)
    until(lambda: sent(live) > before, "packets", live.process)
    run = live.stop()
    assert run.code == 0, run


@needs_root
def test_list_of_threads_that_breaks_off_is_no_proof(open_rig):
    """Threads that were not in it kept what rights they had, for all that was known."""
    calls = open_rig.folder / "calls"
    open_rig.env = l3fwd.NO_LEAK_CHECK

    def run(*fault):
        under = ["strace", "-f", "-qq", "-o", calls, "-e", "trace=getdents64,setresuid", *fault]
        return open_rig.finish(open_rig.start(
            [*l3fwd.options(1, [(0, 0, 1)]), "--user=nobody", "--until-idle=50"],
            open_rig.vdevs([SILENT]), under=under))

    if l3fwd.UNDER or shutil.which("strace") is None:
        pytest.skip("needs strace, and no emulator")
    assert run().code == 0
    lines = [line.split() for line in calls.read_text().partition(" setresuid(")[0].splitlines()]
    before = sum(line[0] == lines[0][0] and "getdents64(" in line[1] for line in lines)
    for nth in (1, 2):  # reads the threads, then the end of the folder
        failed = run("-e", f"inject=getdents64:error=EIO:when={before + nth}")
        assert calls.read_text().count("(INJECTED)") == 1
        assert failed.code == 1, failed
        assert "l3fwd-graph: --user: /proc/self/task: Input/output error\n" in failed.stderr, failed


@needs_root
def test_what_needs_rights_is_refused_for_that_reason(open_rig):
    """The route file is read as that user, captures are written as that user; what was opened
    before goes on."""
    live, routes = start(open_rig, "nobody", f"--export-json={open_rig.folder}/graph.json")
    assert live.reload([*routes, route("203.0.113.0/24", 2, 2)]) == (1, 0, 0, len(routes))
    live.path.chmod(0o600)
    assert live.reload_bad().endswith(f"{live.path}: Permission denied{NOTE}")
    live.path.chmod(0o644)
    assert live.reload_bad(b"nonsense\n").endswith("is not ADDRESS/LENGTH")
    assert live.reload(routes) == (0, 0, 1, len(routes))
    file = open_rig.folder / "packets.pcapng"
    refused = live.ask(f"/l3fwd/capture_start,{file},at=ip4_lookup")
    assert NOTE in str(refused), refused
    assert not file.exists()
    open_rig.folder.chmod(0o777)
    started = live.ask(f"/l3fwd/capture_start,{file},at=ip4_lookup,max=10")
    assert "error" not in started, started
    assert file.stat().st_uid == NOBODY.pw_uid
    run = live.stop()
    assert run.code == 0, run
    assert (open_rig.folder / "graph.json").stat().st_uid == 0
    assert (open_rig.folder / "graph.json").stat().st_size > 0


@needs_root
def test_a_capture_of_the_command_line_is_that_users(open_rig):
    run = open_rig.forward([SILENT], "--user=nobody",
                           f"--capture={open_rig.folder}/c.pcapng,at=ip4_lookup")
    assert run.code == 1, run
    assert "Permission denied" in run.stderr and NOTE in run.stderr, run


@needs_root
@pytest.mark.parametrize("user", ["root", "0:0", "0:5", "5:0", "no-such-user", "", "1000", "7:",
                                  ":7", "4294967295:1", "1:4294967296", "-1:1", "nobody:nobody"])
def test_who_is_nobody_to_become_is_refused(open_rig, user):
    run = open_rig.run([*l3fwd.options(1, [(0, 0, 1)]), f"--user={user}"],
                       open_rig.vdevs([SILENT]))
    assert run.code == 1, run
    assert re.search(rf"^l3fwd-graph: --user: '{user}' is ", run.stderr, re.M), run


@needs_root
def test_others_than_root_cannot_become_somebody(open_rig):
    """As nobody, with its own folder for what EAL keeps."""
    open_rig.folder.chmod(0o777)
    process = open_rig.start([*l3fwd.options(1, [(0, 0, 1)]), "--user=12345:54321"],
                             open_rig.vdevs([SILENT]),
                             under=["setpriv", f"--reuid={NOBODY.pw_uid}",
                                    f"--regid={NOBODY.pw_gid}", "--clear-groups"])
    run = open_rig.finish(process)
    assert run.code == 1, run
    assert "--user: '12345:54321': only root can become another user" in run.stderr, run


@needs_root
@pytest.mark.parametrize("mode, works", [(0o644, True), (0o600, False)], ids=["read", "protected"])
def test_port_that_is_reset_needs_no_rights_that_are_gone(open_rig, folder, monkeypatch, mode,
                                                          works):
    """net_pcap opens its file again, which then takes that user's rights; the other port, of net_null,
    needs none."""
    path = pcapfile.write(open_rig.folder / "in.pcap", frames.traffic("10.0.0.1"))
    path.chmod(mode)
    ports = [*open_rig.vdevs([[path]], tx_queues=0), "--vdev", "net_null1", "--vdev", "net_null2"]
    running = Events(open_rig, folder, monkeypatch, "--user=nobody", ports=ports)
    running.event(1, RESET, "port 1 is up again")
    running.event(0, RESET, f"port 0 is {'up again' if works else 'down'}")
    running.event(1, RESET, "port 1 is up again")
    run = running.finish()
    assert [port["state"] for port in run.stats["ports"]] == [
        "up" if works else "down", "up", "up"], run
    assert run.stats["ports"][1]["resets"] == 2, run
    why = r"port 0 \(net_pcap0\): .*; it was set up without the rights that --user gave up$"
    assert bool(re.search(why, run.stderr, re.M)) != works, run


def test_without_the_option_nothing_is_given_up_but_new_rights(rig):
    """No program that this one might execute gains rights."""
    routes = [route("10.0.0.0/8", 1, 1)]
    live = Live(rig, routes, l3fwd.options(4, [(0, 0, 1)]),
                replay(rig, 4, {0: packets(AIMS)}, to_nowhere))
    threads = rights(live.process)
    assert len(threads) >= 3
    assert {tuple(thread[0]) for thread in threads} == {(str(os.geteuid()),) * 4}
    assert {tuple(thread[5]) for thread in threads} == {("1",)}
    await_work(live.process)  # some packets, which stop() wants to see
    assert live.stop().code == 0
