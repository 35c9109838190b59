# SPDX-License-Identifier: BSD-3-Clause
"""hy-bench acl: lists in the forwarding graph. Nothing here depends on how fast anything is."""

import re

import pytest

from benchrun import measure, ratios

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
