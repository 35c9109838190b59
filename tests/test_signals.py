# SPDX-License-Identifier: BSD-3-Clause
"""Signals: none that asks for something else than a core dump ends the program without its reports."""

import signal
import sys

import pytest

import frames
import l3fwd
import live

ROUTES = "198.18.0.0/24 port 0 mac 02:00:00:00:00:01\n"
FAULTS = {signal.SIGILL, signal.SIGTRAP, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE,
          signal.SIGSEGV, signal.SIGSYS}
UNSTOPPABLE = {signal.SIGKILL, signal.SIGSTOP}
STOPS = {signal.SIGINT, signal.SIGTERM, signal.SIGQUIT, signal.SIGXCPU}
# Of files that would grow too large: outputs answer for that one.
OTHERS = signal.valid_signals() - FAULTS - UNSTOPPABLE - STOPS - {
    signal.SIGXFSZ, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU}


@pytest.fixture
def program(rig):
    """One that has forwarded 100 packets."""
    running = live.Live(rig, ROUTES, l3fwd.options(1, [(0, 0, 1)]),
                        rig.vdevs([[frames.traffic("198.18.0.1")]]))
    live.await_work(running.process, 0.05)
    return running


def test_signals_that_ask_for_nothing_change_nothing(program):
    assert len(OTHERS) > 40
    for sig in sorted(OTHERS):
        program.process.send_signal(sig)
        live.await_ticks(program.process, 2)
        assert program.process.poll() is None, sig
    assert program.stop().stats["totals"] == {"rx": 100, "copied": 0, "tx": 100, "dropped": 0}


@pytest.mark.parametrize("sig", sorted(STOPS), ids=lambda sig: sig.name)
def test_signals_that_stop_leave_all_reports(program, sig):
    program.process.send_signal(sig)
    run = program.rig.finish(program.process)
    assert run.stats["totals"] == {"rx": 100, "copied": 0, "tx": 100, "dropped": 0}, program.stdout()
    assert "total   rx 100 = tx 100" in program.stdout()


BLOCKING = """
import os, signal, sys
signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
os.execvp(sys.argv[1], sys.argv[1:])
"""


def test_signals_that_the_parent_had_blocked_still_work(rig):
    """The mask is inherited: the program was deaf to SIGTERM."""
    running = live.Live(rig, ROUTES, l3fwd.options(1, [(0, 0, 1)]),
                        rig.vdevs([[frames.traffic("198.18.0.1")]]),
                        under=[sys.executable, "-c", BLOCKING])
    live.await_work(running.process, 0.05)
    blocked = {int(live.status(running.process, field), 16) for field in ("SigBlk", "SigPnd")}
    assert running.reload() == (0, 0, 0, 1)
    assert running.stop().stats["totals"]["rx"] == 100
    assert blocked == {0}
