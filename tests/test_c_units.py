# SPDX-License-Identifier: BSD-3-Clause
"""The C unit tests: each test of each test program of the build is one test here. A program runs
once, with all of its tests that pytest was asked for, and its output is then looked up test by
test."""

import functools
import json
import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

import l3fwd
import test_install

SLOW = ("hy-test-conform", "hy-test-five")
# All variants beside their references. Without sanitizers, test_selftest has hy-hal do the same.
REPEATED = "every_variant_does_as_its_reference"
TIMEOUT = 1800  # hy-test-conform took more than half of it under ASan on a slow machine

# cmocka's TAP: "ok 1 - name", "not ok 2 - name" and its reasons in lines that start with #,
# "not ok 3 # SKIP name", "not ok 4 - name Could not run test: ..." for a failed fixture.
RESULT = re.compile(r"^(ok|not ok) \d+ (?:- |# (SKIP) )(.*)$")


class Result(NamedTuple):
    """What a program said of one of its tests."""

    verdict: str  # "ok", "not ok" or "SKIP"
    text: str  # what it printed since the test before, and the reasons for a failure


def programs():
    """The test programs, hy-test-*, that meson knows of: the folder has their helpers too. None
    at all is a failure."""
    listing = l3fwd.BUILD / "meson-info" / "intro-tests.json"
    tests = json.loads(listing.read_text()) if listing.exists() else []
    found = sorted({Path(test["cmd"][0]) for test in tests if test["name"].startswith("hy-test-")})
    missing = [path for path in found if not os.access(path, os.X_OK)]
    if missing or not found:
        pytest.fail(f"test programs of {l3fwd.BUILD}: {found}, missing: {missing}; "
                    "build first, or set HALYARD_BUILD", pytrace=False)
    return found


def names(program):
    """The names of a program's tests. A program without any is a failure."""
    listed = subprocess.run([*l3fwd.UNDER, program, "--list"], capture_output=True, text=True,
                            timeout=TIMEOUT, check=False)
    found = listed.stdout.split("\n")[:-1]
    if listed.returncode != 0 or not found or "" in found or len(set(found)) != len(found):
        pytest.fail(f"{program} --list gave exit code {listed.returncode} and no list of distinct "
                    f"names:\n{listed.stdout}{listed.stderr}", pytrace=False)
    return found


def parse(output, listed):
    """The results in a program's output, by test name."""
    results = {}
    current = None
    before = []  # lines since the last result
    for line in output.splitlines():
        match = RESULT.match(line)
        if match:
            verdict, skip, rest = match.groups()
            fitting = [name for name in listed if rest == name or rest.startswith(name + " ")]
            current = max(fitting, key=len, default=rest)
            results[current] = Result(skip or verdict, "\n".join([*before, line]))
            before = []
        elif line.startswith("#") and current in results and not before:
            results[current] = results[current]._replace(text=f"{results[current].text}\n{line}")
        else:
            before.append(line)
    return results


class Ended(NamedTuple):
    """A program's run."""

    code: int
    results: dict
    output: str


def chosen_names(program):
    """Those that this build's pytest runs."""
    return [name for name in names(program) if name != REPEATED or test_install.sanitizer()]


def wanted(session, program):
    """The names of a program's tests that this session has; all that it may have, if it has none."""
    mine = [item.callspec.params for item in session.items if item.name.startswith("test_c[")]
    chosen = [params["c_test"] for params in mine if params["program"] == program]
    return tuple(chosen or chosen_names(program))


@functools.cache
def run(program, chosen):
    """Runs tests of a program."""
    env = dict(os.environ, CMOCKA_MESSAGE_OUTPUT="TAP")
    try:
        done = subprocess.run([*l3fwd.UNDER, program, *chosen], capture_output=True, text=True,
                              errors="replace", timeout=TIMEOUT, check=False, env=env,
                              stdin=subprocess.DEVNULL)
        code, stdout, stderr = done.returncode, done.stdout, done.stderr
    except subprocess.TimeoutExpired as late:
        code, stdout, stderr = None, (late.stdout or b"").decode(), (late.stderr or b"").decode()
    output = f"--- stdout\n{stdout}\n--- stderr\n{stderr}"
    return Ended(code, parse(stdout, names(program)), output)


def marks(program):
    """Tests of one program run in one xdist worker."""
    slow = [pytest.mark.slow] if program.name in SLOW else []
    return [pytest.mark.xdist_group(program.name), *slow]


def pytest_generate_tests(metafunc):
    """One test for each test of each program; a program's tests run in one xdist worker."""
    if "c_test" in metafunc.fixturenames:
        metafunc.parametrize("program, c_test", [
            pytest.param(program, name, id=f"{program.name}-{name}", marks=marks(program))
            for program in programs() for name in chosen_names(program)
        ])
    elif "program" in metafunc.fixturenames:
        metafunc.parametrize("program", [
            pytest.param(program, id=program.name, marks=marks(program))
            for program in programs()
        ])


def test_c(request, program, c_test):
    ended = run(program, wanted(request.session, program))
    result = ended.results.get(c_test)
    if result is None:
        pytest.fail(f"{program.name} ended with code {ended.code} and no word of this test\n"
                    f"{ended.output}", pytrace=False)
    if result.verdict == "SKIP":
        pytest.skip(result.text)
    if result.verdict != "ok":
        pytest.fail(result.text, pytrace=False)


def test_program_runs_what_it_is_asked_for_and_says_so(request, program):
    """Exit code 0 with every test passed, and another one otherwise; no test but those; no
    sanitizer's report."""
    chosen = wanted(request.session, program)
    ended = run(program, chosen)
    assert set(ended.results) == set(chosen), ended.output
    failed = [name for name, result in ended.results.items() if result.verdict == "not ok"]
    assert (ended.code == 0) == (not failed), (
        f"exit code {ended.code}, failed: {failed}\n{ended.output}"
    )
    assert not l3fwd.has_sanitizer_report(ended.output), ended.output


OUTPUT = """1..5
ok 1 - first
some words
not ok 2 - second
# 0x1 != 0x2
# file.c:8: error: Failure!
not ok 3 # SKIP third
not ok 4 - first again Could not run test: Test setup failed
# not ok - group
"""


def test_output_is_read_as_cmocka_means_it():
    listed = ["first", "second", "third", "first again", "never ran"]
    results = parse(OUTPUT, listed)
    assert {name: result.verdict for name, result in results.items()} == {
        "first": "ok", "second": "not ok", "third": "SKIP", "first again": "not ok",
    }
    assert results["second"].text == ("some words\nnot ok 2 - second\n# 0x1 != 0x2\n"
                                      "# file.c:8: error: Failure!")
