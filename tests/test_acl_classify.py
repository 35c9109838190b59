# SPDX-License-Identifier: BSD-3-Clause
"""Fields of frames and first matches, by each way to classify, beside those of acl_oracle.py: both
programs see the same rule files and captures, and must print the same.

HALYARD_ACL_FRAMES=N compares at least N frames of each kind of list, as `make proof` does.
"""

import os
import random
import subprocess
from collections import Counter

import pytest

import acl_frames
import acl_oracle as acl
import l3fwd
import pcapfile

PROGRAM = l3fwd.BUILD / "app" / "test" / "hy-test-classify"
WAYS = {"linear", "compiled", "rte_acl", "tuple"}  # at least these; some lists rte_acl cannot take
FRAMES = int(os.environ.get("HALYARD_ACL_FRAMES", "40000"))
CHUNK = 5000  # frames in a list of their own
RULES = 40
FIELDS = {"type", "smac", "dmac", "vlan", "src", "dst", "proto", "dscp", "sport", "dport", "flags",
          "established", "icmp", "code", "fragment", "tunnel", "ip"}


def classify(folder, text, frames):
    """What hy-test-classify prints."""
    rules = folder / "rules"
    rules.write_text(text)
    capture = pcapfile.write(folder / "frames.pcap", frames)
    done = subprocess.run([*l3fwd.UNDER, l3fwd.binary(PROGRAM), rules, capture], text=True,
                          capture_output=True, check=False, timeout=600)
    assert done.returncode == 0, f"{done.stderr}\n{text}"
    assert not l3fwd.has_sanitizer_report(done.stderr), done.stderr
    return done.stdout.splitlines()


class Tally:
    """What was compared: frames, outcomes, and for each field of a rule how often it was the only
    one that a packet missed, and how often it was in a rule that matched."""

    def __init__(self):
        self.frames, self.outcomes, self.ways = 0, Counter(), Counter()
        self.hits, self.misses = Counter(), Counter()

    def note(self, aim, packet, rule):
        """A packet that was made for a rule, and the rule that it matches."""
        self.frames += 1
        self.outcomes[rule.action if rule else "none"] += 1
        self.outcomes["truncated"] += packet.truncated
        self.outcomes[f"fragment {packet.fields.get('fragment')}"] += 1
        self.hits.update({test.name for test in rule.tests} if rule else ())
        if aim and rule is not aim:
            fails = {test.name for test in aim.tests if not test.holds(packet.fields.get(test.field))}
            self.misses.update(fails if len(fails) == 1 else ())


def compare(folder, text, aimed, tally):
    """Asserts that the program sees in frames what the oracle sees, and that they match the same
    rules. aimed: frames, each behind the rule that it was made for, or None."""
    rules = acl.read(text)
    lines = classify(folder, text, [frame for _, frame in aimed])
    ways = lines[0].split()[1:]
    tally.ways.update(ways)
    head = [lines[0], f"default {rules.default} truncated {rules.truncated or 'permit'}"]
    head += [f"rule {r.id} {r.precedence} {r.action} {r.argument}{' log' * r.log}" for r in rules.rules]
    assert lines[: len(head)] == head
    lines = lines[len(head) :]
    assert len(lines) == len(aimed)
    for line, (aim, frame) in zip(lines, aimed):
        packet = acl.parse(frame)
        rule = rules.first(packet)
        found = str(rule.id) if rule else "-"
        expected = f"{f'{found} ' * len(ways)} {acl.describe(packet)}"
        assert line.split() == expected.split(), (
            f"{frame.hex()}\nprinted  {line}\nexpected {expected}\n{rule}\n{text}")
        tally.note(aim, packet, rule)


SETTINGS = ["default deny", "truncated deny", "default permit", "# nothing"]


def aimed_frames(rng, rules, count):
    """Frames, three of four of them made for a rule or just beside it."""
    made = []
    for i in range(count):
        aim = rng.choice(rules) if rules and i % 4 else None
        made.append((aim, acl_frames.for_rule(rng, aim) if aim else acl_frames.anything(rng)))
    return made


def assert_all_happened(tally, least=20):
    """Asserts that each field let rules match and kept one from it, and that each outcome came."""
    assert set(tally.hits) >= FIELDS and set(tally.misses) >= FIELDS - {"type", "ip"}, \
        (FIELDS - set(tally.hits), FIELDS - set(tally.misses))
    assert min(tally.hits[field] for field in FIELDS) >= least, tally.hits
    assert min(tally.misses[field] for field in FIELDS - {"type", "ip"}) >= least, tally.misses
    wanted = ["permit", "deny", "count", "class", "port", "none", "truncated"]
    wanted += [f"fragment {kind}" for kind in (None, 1, 2, 4, 8)]
    assert min(tally.outcomes[name] for name in wanted) >= least, tally.outcomes


ACTIONS = ("permit", "deny", "count", "class 7", "port 1")


@pytest.mark.parametrize("kind", ["mixed", "ip4", "ip6", "many", "wide"])
def test_random_lists_see_and_match_what_the_oracle_does(tmp_path, kind):
    """Mixed lists; lists of one family alone; lists of many rules, and of rules with few fields."""
    rng = random.Random(f"{kind}{FRAMES}")
    tally = Tally()
    while tally.frames < FRAMES:
        count = {"many": 300}.get(kind, RULES)
        text = acl_frames.RuleMaker(rng, kind).file(count, ACTIONS, rng.sample(SETTINGS[1:], 2))
        frames = aimed_frames(rng, acl.read(text).rules, CHUNK)
        compare(tmp_path, text, frames, tally)
    assert tally.frames >= FRAMES and sum(tally.hits.values()) > FRAMES / 2, tally.hits
    assert set(tally.ways) >= WAYS, tally.ways
    assert kind == "many" or tally.outcomes["none"] > 100, tally.outcomes
    if kind == "mixed":
        assert_all_happened(tally)


def test_frames_cut_at_every_byte_have_the_fields_that_are_there(tmp_path):
    """Of every kind: tags, options, fragments, chains of extension headers, all protocols."""
    rng = random.Random(5)
    text = acl_frames.RuleMaker(rng, "mixed").file(RULES, ACTIONS)
    rules = acl.read(text).rules
    tally = Tally()
    whole = [acl_frames.Frame(rng, acl_frames.wish_for(rng, rules[i % RULES])).bytes()
             for i in range(200)]
    cut = [(None, frame[:length]) for frame in whole for length in range(len(frame) + 1)]
    compare(tmp_path, text, cut, tally)
    assert tally.frames > 15000 and tally.outcomes["truncated"] > tally.frames / 4
    assert min(tally.outcomes[f"fragment {kind}"] for kind in (1, 2, 4, 8)) > 100, tally.outcomes


def test_every_edge_of_every_field_of_a_rule_is_on_its_side(tmp_path):
    """For each field of a rule, the values at the ends of its range and just beyond, or one for each
    bit of its mask. Lists are short, so that few rules hide others."""
    rng = random.Random(6)
    tally = Tally()
    for kind in ("mixed", "ip4", "ip6") * 9:
        text = acl_frames.RuleMaker(rng, kind).file(8, ACTIONS)
        compare(tmp_path, text, [(rule, frame) for rule in acl.read(text).rules
                                 for frame in acl_frames.at_edges(rng, rule)], tally)
    assert tally.frames > 5000
    assert min(tally.misses[field] for field in FIELDS - {"type", "ip", "code"}) > 30, tally.misses
    assert tally.misses["code"] > 0


def test_captures_are_seen_and_matched_as_the_oracle_does(tmp_path, captures):
    """All real captures, with lists for their own addresses and ports."""
    records = [frame for path in captures for frame in pcapfile.read(path)]
    tally = Tally()
    for seed in range(4):
        rng = random.Random(seed)
        text = acl_frames.RuleMaker(rng, "mixed", records).file(60, ACTIONS)
        compare(tmp_path, text, [(None, frame) for frame in records], tally)
    assert tally.frames == 4 * len(records) > 5000
    assert min(tally.outcomes[name] for name in ("permit", "deny", "none", "fragment 2",
                                                      "fragment 4")) > 100, tally.outcomes
