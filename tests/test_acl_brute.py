# SPDX-License-Identifier: BSD-3-Clause
"""First matches by each engine and each method of rte_acl, beside those of a search of all rules that
shares no code with them (app/test/policy/brute.h): generated sets of each kind, and real rules.

HALYARD_ACL_PACKETS=N compares at least N packets of each set, as `make proof` does.
"""

import lzma
import os
import subprocess
from collections import Counter

import pytest

import l3fwd

PROGRAM = l3fwd.BUILD / "app" / "test" / "hy-test-brute"
HY_POLICY = l3fwd.BUILD / "app" / "hy-policy" / "hy-policy"
DATA = os.environ.get("HALYARD_DATA")
PACKETS = int(os.environ.get("HALYARD_ACL_PACKETS", "20000"))
SLOW = 16  # one burst in so many is seen by the ways that try all rules, if there are many
WAYS = {"scan", "compiled", "linear", "tuple", "rte_acl_scalar"}  # and a vector one, of x86 or Arm
VECTORS = {"rte_acl_sse", "rte_acl_avx2", "rte_acl_neon"}


def run(program, *args):
    """What a program prints."""
    done = subprocess.run([*l3fwd.UNDER, program, *map(str, args)], capture_output=True, text=True,
                          check=False, timeout=max(1200, PACKETS / 200))
    assert done.returncode == 0, done.stderr
    assert not l3fwd.has_sanitizer_report(done.stderr), done.stderr
    return done.stdout


def generated(kind, rules, family):
    """Rules as text. Mixed: of each family in turn, each in its own order."""
    sets = [[line.split()[2:] for line in run(HY_POLICY, "generate", "--kind", kind, "--rules", rules,
                                              "--seed", 1, *option).splitlines()
             if line.startswith("rule")]
            for option in {"ip4": [()], "ip6": [("--ip6",)], "mixed": [(), ("--ip6",)]}[family]]
    lines = [sets[i % len(sets)][i] for i in range(rules)]
    return "".join(f"rule {i + 1} {' '.join(line)}\n" for i, line in enumerate(lines))


def compare(folder, text, seed):
    """Compares packets; returns how many by way, by outcome and by kind."""
    rules = folder / "rules"
    rules.write_text(text)
    found = {"way": Counter(), "outcome": Counter(), "kind": Counter(), "rules": Counter()}
    for line in run(PROGRAM, rules, PACKETS, seed, 1024).splitlines():
        name, *words = line.split()
        found[name][words[0] if len(words) > 1 else ""] = int(words[-1])
    print(f"{found['rules']['']} rules: {dict(found['way'])}, {dict(found['outcome'])}")
    return found


def expect(found, rules, kinds):
    """Asserts that all was compared, and that each outcome and each kind of packet came."""
    assert found["rules"][""] == rules
    assert set(found["way"]) >= WAYS and set(found["way"]) & VECTORS
    for way, packets in found["way"].items():
        slow = rules > 1000 and way in ("scan", "linear")
        assert packets >= (PACKETS // SLOW * 0.8 if slow else PACKETS), found
    assert sum(found["outcome"].values()) == found["way"]["compiled"]
    assert min(found["outcome"][name] for name in ("permit", "deny", "none")) > PACKETS / 100, found
    assert min(found["kind"][name] for name in kinds) > PACKETS / 1000, found


KINDS = {"plain", "tag", "options", "first", "later", "no_ports", "cut"}


@pytest.mark.parametrize("family", ["ip4", "ip6", "mixed"])
@pytest.mark.parametrize("rules", [100, 1000, 10000])
@pytest.mark.parametrize("kind", ["acl", "fw", "ipc"])
def test_every_engine_finds_what_a_search_of_all_rules_finds(tmp_path, kind, rules, family):
    found = compare(tmp_path, generated(kind, rules, family), 1 + rules)
    expect(found, rules, KINDS | ({"atomic"} if family != "ip4" else set()))


@pytest.mark.skipif(not DATA, reason="HALYARD_DATA has the rules")
def test_every_engine_finds_it_in_real_rules(tmp_path):
    """The rules permit; for the outcome "deny", every second one denies."""
    real = tmp_path / "classbench"
    with lzma.open(os.path.join(DATA, "rules", "acl1_941.rules.xz")) as packed:
        real.write_bytes(packed.read())
    text = run(HY_POLICY, "convert", "--format", "classbench", "--to", "halyard", real)
    lines = [line for line in text.splitlines() if line.startswith("rule")]
    lines = [line.replace("permit", "deny") if i % 2 else line for i, line in enumerate(lines)]
    expect(compare(tmp_path, "\n".join(lines) + "\n", 941), 941, KINDS)
