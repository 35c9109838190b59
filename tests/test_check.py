# SPDX-License-Identifier: BSD-3-Clause
"""tools/check: what becomes of each target, where some fail and where time is short."""

import os
import pathlib
import re
import subprocess

import pytest

import l3fwd

MAKEFILE = """
good bad last:
	@echo "made $@"; test $@ != bad
slow:
	@sleep 9; echo "made $@"
fails:
	@echo "== 1 failed, 2 passed in 1 s =="; sleep 9
leaves:
	@sleep 99 & echo $$! >left; sleep 9
killed:
	@kill -9 $$PPID
"""


@pytest.fixture
def check(tmp_path):
    (tmp_path / "GNUmakefile").write_text(MAKEFILE)

    def run(*arguments):
        done = subprocess.run([l3fwd.ROOT / "tools" / "check", *arguments], cwd=tmp_path, text=True,
                              capture_output=True, check=False, timeout=60,
                              env={**os.environ, "MAKEFLAGS": ""})
        made = [line[5:] for line in done.stdout.splitlines() if line.startswith("made ")]
        return done, made
    return run


def test_all_targets_are_made_in_order(check):
    done, made = check("none", "last", "good")
    assert (done.returncode, made) == (0, ["last", "good"]), done
    assert re.search(r"^check: last passed in \d+ s$", done.stdout, re.MULTILINE), done
    assert "NOT CHECKED" not in done.stdout


def test_others_are_made_after_one_that_fails(check):
    done, made = check("none", "good", "bad", "last")
    assert (done.returncode, made) == (1, ["good", "bad", "last"]), done
    assert re.search(r"^check: bad FAILED in \d+ s$", done.stdout, re.MULTILINE), done
    assert "check: failed: bad\n" in done.stderr


def test_a_target_is_interrupted_and_none_begins_when_the_time_is_over(check):
    done, made = check("1", "good", "slow", "good", "last")
    assert (done.returncode, made) == (0, ["good"]), done
    assert re.search(r"^check: slow INTERRUPTED in [12] s$", done.stdout, re.MULTILINE), done
    assert "*** NOT CHECKED, for lack of time: slow good last ***\n" in done.stdout


def test_failures_of_an_interrupted_target_count(check):
    done, made = check("1", "fails", "good")
    assert (done.returncode, made) == (1, []), done
    assert "1 failed, 2 passed" in done.stdout and "check: failed: fails\n" in done.stderr
    assert "*** NOT CHECKED, for lack of time: good ***\n" in done.stdout


def test_nothing_goes_on_after_an_interrupted_target(check, tmp_path):
    done, _ = check("1", "leaves")
    assert "*** NOT CHECKED, for lack of time: leaves ***\n" in done.stdout
    state = pathlib.Path("/proc", (tmp_path / "left").read_text().strip(), "stat")
    assert not state.exists() or state.read_text().split()[2] == "Z"


@pytest.mark.parametrize("limit", ["none", "30"])
def test_a_target_that_was_killed_has_failed(check, limit):
    done, made = check(limit, "killed", "good")
    assert (done.returncode, made) == (1, ["good"]), done
    assert "check: failed: killed\n" in done.stderr and "NOT CHECKED" not in done.stdout


def test_none_begins_when_the_time_was_over_before(check):
    for over in ("0", "-5"):
        done, made = check(over, "good")
        assert (done.returncode, made) == (0, []), done
        assert "*** NOT CHECKED, for lack of time: good ***\n" in done.stdout


@pytest.mark.parametrize("limit", ["", "20m", "good"])
def test_limit_that_is_none_is_refused(check, limit):
    """An empty one was forgotten, and the first target was taken for it."""
    done, made = check(limit, "bad", "good")
    assert (done.returncode, made) == (2, []), done
    assert f"'{limit}' is no number of seconds" in done.stderr
