# SPDX-License-Identifier: BSD-3-Clause
"""Simulated devices: whether they were built, and whether their rules are all tested."""

import re
import subprocess
from pathlib import Path

import pytest

import l3fwd

ROOT = Path(__file__).parent.parent


def test_simulated_devices_are_built_where_their_headers_are():
    """test_c_units.py runs hy-test-sim and hy-test-five if they are there; this says why not."""
    found = subprocess.run([ROOT / "tools" / "dpdk-headers", "--cached"], capture_output=True,
                           text=True, check=False)
    if found.returncode != 0:
        pytest.skip(found.stderr.strip())
    for built in "app/sim/halyard-simnic.so", "app/test/hy-test-sim", "app/test/hy-test-five":
        assert (l3fwd.BUILD / built).exists(), "the build folder was set up before the headers came"


def strings(text):
    """C string literals, adjacent ones as one."""
    return ["".join(re.findall(r'"((?:[^"\\]|\\.)*)"', run))
            for run in re.findall(r'(?:"(?:[^"\\]|\\.)*"\s*)+', text)]


def shared_functions():
    """Names and texts of sim_fdir.c's functions; what is static comes with the next one."""
    text = (ROOT / "app" / "sim" / "flow" / "sim_fdir.c").read_text()
    found = re.findall(r"^(hy_sim_fdir_\w+)\(", text, re.M)
    ends = [text.index("\n}\n", text.index(f"\n{name}(")) for name in found]
    assert len(found) >= 5 and ends == sorted(ends)
    return zip(found, (text[a:b] for a, b in zip([0] + ends, ends)))


@pytest.mark.parametrize("profile", ["cnxk", "generic", "i40e", "iavf", "ice", "mlx5"])
def test_each_refusal_of_a_profile_is_fed_a_flow(profile):
    """A refusal of sim_PROFILE.c, or of what it calls in sim_fdir.c, has its flows in sim_rules.c,
    and every other way round."""
    source = (ROOT / "app" / "sim" / "flow" / f"sim_{profile}.c").read_text()
    source += "".join(body for name, body in shared_functions() if re.search(rf"{name}\b", source))
    # What only a creation meets, and other profiles of the file: test_driver_oracle.py feeds those.
    source = re.sub(r"(?ms)^(admit|judge_guest)\(.*?^}", "", source)
    calls = re.findall(r"(?:hy_sim_bad_\w+|hy_sim_refuse|unmapped)\((.*?)\);", source, re.S)
    refusals = {text for call in calls for text in strings(call)}
    rules = (ROOT / "app" / "test" / "flow" / "sim_rules.c").read_text()
    fed = {strings(rule)[0] for rule in
           re.findall(r'\{ "%s",\s*"[^"]*",(.*?)\},\n' % profile, rules, re.S)}
    shared = {"no such queue", "RSS over no queue"}  # hy_sim_check_queues()
    assert len(refusals) >= 7
    assert refusals - fed == set()
    assert fed - refusals <= shared
    assert "no such queue" in fed
