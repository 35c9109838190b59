# SPDX-License-Identifier: BSD-3-Clause
"""tools/check: what becomes of each target, where some fail and where time is short."""

import os
import re
import subprocess

import pytest

import l3fwd

MAKEFILE = """
good bad last:
	@echo "made $@"; test $@ != bad
slow:
	@sleep 1.1; echo "made $@"
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
    assert re.search(r"^check: slow INTERRUPTED in 1 s$", done.stdout, re.MULTILINE), done
    assert "*** NOT CHECKED, for lack of time: slow good last ***\n" in done.stdout
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
