# SPDX-License-Identifier: BSD-3-Clause
"""hy-bench acl: lists in the forwarding graph, and rules replaced under load. Nothing here depends on
how fast anything is."""

import os
import re
import subprocess

import pytest

from benchrun import PLAIN, bench, lcores, measure, ratios

pytestmark = pytest.mark.slow
RULES = "rule 1 permit src 10.0.0.0/9 dst 192.0.2.0/24\nrule 2 deny dst 198.51.100.0/24 proto udp\n"


@pytest.mark.parametrize("size", ["4", "100", "1k", "file"])
def test_a_list_drops_what_it_denies_wherever_it_is_bound(tmp_path, size):
    """Figures come only from laps in which all denied packets, and no others, were dropped."""
    rules = tmp_path / "rules"
    rules.write_text(RULES)
    figures, printed = measure(tmp_path, "acl", "--work", f"l3fwd_{size}_*", "--rules", rules)
    works = [f"l3fwd_{size}_permit{share}" for share in (100, 50, 0)]
    assert [(row["work"], row["contender"]) for row in figures["rows"]] == [
        (work, contender) for work in works for contender in ("none", "in", "out")]
    assert all(set(ratios(figures, work)) == {"in", "out"} for work in works)
    shares = re.findall(r"permit(\d+): of (\d+) packets, (\d+) are permitted", printed)
    assert [int(share) for share, _, _ in shares] == [100, 50, 0]
    for share, packets, permitted in shares:
        assert int(packets) == 4096
        assert abs(int(permitted) / 4096 - int(share) / 100) < (0.02 if share == "50" else 1e-9)


def test_rules_of_other_fields_are_left_out_of_the_graph(tmp_path):
    rules = tmp_path / "rules"
    rules.write_text("rule 1 deny src 2001:db8::/32\n")
    figures, _ = measure(tmp_path, "acl", "--work", "l3fwd_file_permit0", "--rules", rules)
    assert figures["rows"] == []
    assert [o["reason"] for o in figures["skipped"]] == ["rules of other fields than IPv4's 5-tuple"]


def expect_reloads(printed):
    """Checks that a work says how many reloads packets saw, and that these told the sets apart."""
    found = re.search(r"reload: (\d+) reloads of 10000 rules, .* among (\d+) packets; of these, (\d+)",
                      printed)
    assert found is not None, printed
    reloads, packets, telling = map(int, found.groups())
    assert reloads >= 15 and telling > packets / 4 and packets >= 2 * 15 * 4096


def test_all_rules_are_replaced_under_load(tmp_path):
    """Figures come only if no packet was lost and each had the verdict of the rules before a reload
    or after it, in that order."""
    if len(os.sched_getaffinity(0)) < 2:
        pytest.skip("it takes two CPUs")
    figures, printed = measure(tmp_path, "acl", "--work", "fw_10k_reload", eal=[*PLAIN, *lcores()],
                               timeout=600)
    assert [row["contender"] for row in figures["rows"]] == ["quiet", "building"]
    expect_reloads(printed)


def test_reload_is_skipped_on_one_lcore(tmp_path):
    figures, _ = measure(tmp_path, "acl", "--work", "fw_10k_reload", eal=[*PLAIN, *lcores(1)])
    assert figures["rows"] == []
    assert [o["reason"] for o in figures["skipped"]] == ["it takes two lcores, and there is one"]


def test_reload_ends_when_a_real_time_worker_has_the_builders_cpu():
    """It once never did: the thread that replaces the rules got no time beside one that forwards."""
    cpu = min(os.sched_getaffinity(0))

    def real_time():
        os.sched_setaffinity(0, {cpu})
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))

    try:
        done = bench(*PLAIN, "--lcores", f"0@{cpu},1@{cpu}", "--", "acl", "--quick", "--work",
                     "fw_10k_reload", timeout=300, preexec_fn=real_time)
    except subprocess.SubprocessError:  # of real_time()
        pytest.skip("SCHED_FIFO is not permitted")
    assert done.returncode == 0, done.stderr
    expect_reloads(done.stdout)
