# SPDX-License-Identifier: BSD-3-Clause
"""The vendors' own flow code, which runs without hardware, held against what Halyard makes of rules:
doc/driver-oracle.rst."""

import functools
import json
import re
import subprocess
from pathlib import Path

import pytest

import l3fwd

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "tests" / "driver_oracle"
DRIVERS = sorted(path.stem[len("fix_"):] for path in FOLDER.glob("fix_*.c"))
PROFILES = [(driver, name) for driver in DRIVERS for name in re.findall(
    r'\.name = "([\w-]+)"', (FOLDER / f"fix_{driver}.c").read_text().split("profiles[] = {")[1])]


def program(driver):
    """The program of a driver; a test is skipped where it was not built, with the reason."""
    path = l3fwd.BUILD / "tests" / "driver_oracle" / f"hy-oracle-{driver}"
    if not path.exists():
        log = (l3fwd.BUILD / "meson-logs" / "meson-log.txt").read_text()
        said = re.findall(rf"Message: ((?:hy-oracle-{driver}|tests/driver_oracle) is not built.*)",
                          log)
        pytest.skip(said[-1] if said else f"{path} was not built")
    return path


@functools.cache
def ask(driver, profile, command, rules=""):
    """What a program printed."""
    done = subprocess.run([program(driver), f"--profile={profile}", command], input=rules,
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return json.loads(done.stdout)


@pytest.fixture(params=PROFILES, ids=lambda pair: "-".join(pair))
def oracle(request):
    """Asks a driver under a profile: oracle(command, rules). Nothing is believed of a fixture that
    does not take a good rule and refuse a bad one."""
    driver, profile = request.param
    controls = ask(driver, profile, "controls")
    assert set(controls["good"].values()) == {0}, controls
    assert controls["bad"]["validate"] < 0, controls
    assert controls["bad"]["create"] < 0 or not controls["creates"], controls
    return functools.partial(ask, driver, profile)


def test_controls(oracle):
    """The fixture takes the good rule and refuses the bad one, which it checks itself."""
    assert oracle("controls")["dpdk"].startswith("DPDK ")


def test_every_shape_is_asked(oracle):
    """All shapes of rules that a policy can have are lowered or not, and the driver says what it
    thinks of those that are."""
    said = oracle("shapes")
    assert said["asked"] == 1401
    assert said["lowered"] + said["unlowered"] == said["asked"]
    assert 0 < said["taken"] <= said["lowered"]


def test_random_rules_are_taken_and_refused(oracle):
    """Both outcomes occur often enough to tell something."""
    said = oracle("random")
    assert said["asked"] == said["taken"] + said["refused"] == 40000
    assert said["taken"] > 1000 and said["refused"] > 1000
