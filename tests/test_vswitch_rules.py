# SPDX-License-Identifier: BSD-3-Clause
"""Rules of a switch: what they say of packets, beside the brute force of vswitch_oracle.py; what packets
that are the same in a mask get; and the text of rules beside ovs-ofctl."""

import collections
import random
import re
import shutil
import subprocess

import pytest

import l3fwd
import vswitch_oracle as oracle

PROGRAM = l3fwd.BUILD / "app" / "test" / "hy-test-vswitch-ask"
PARTS, FILES, PACKETS = 2, 60, 900
NEEDED = shutil.which("ovs-ofctl")


def ask(path, keys):
    """What the program says of each key: outcome, cookies, mask, operations."""
    done = subprocess.run([PROGRAM, path], input=b"".join(keys), stdout=subprocess.PIPE, check=True)
    lines = done.stdout.decode().splitlines()
    assert len(lines) == len(keys)
    answers = []
    for line in lines:
        head, tail = line.split(" ;")
        outcome, _, cookies = head.partition(" ")
        mask, *ops = tail.split(" ")
        answers.append((int(outcome), [int(cookie) for cookie in cookies.split(",") if cookie],
                        int.from_bytes(bytes.fromhex(mask), "big"), ops))
    return answers


def outside(chance, key, mask):
    """A key that differs in bits that the mask has not."""
    number = int.from_bytes(key, "big")
    bits = chance.getrandbits(8 * len(key)) & (chance.getrandbits(8 * len(key)) if chance.random() < 0.5 else -1)
    return (number ^ bits & ~mask & (1 << 8 * len(key)) - 1).to_bytes(len(key), "big")


def inside(chance, key, mask):
    """A key that differs in one bit of the mask."""
    bit = chance.choice([i for i in range(8 * len(key)) if mask >> i & 1])
    return (int.from_bytes(key, "big") ^ 1 << bit).to_bytes(len(key), "big")


@pytest.mark.parametrize("part", range(PARTS))
def test_rules_say_what_brute_force_says(tmp_path, part):
    chance = random.Random(part)
    seen, compared, differ, bits = collections.Counter(), 0, 0, 0
    for _ in range(FILES):
        rules, lines = oracle.random_rules(chance, 60)
        path = tmp_path / "rules"
        path.write_text("# random\n\n" + "\n".join(lines) + "\n")
        tables = oracle.tables_of(rules)
        packets = [oracle.random_packet(chance) for _ in range(PACKETS)]
        keys = [oracle.key_of(packet) for packet in packets]
        answers = ask(path, keys)
        for packet, (outcome, cookies, mask, ops) in zip(packets, answers):
            want = oracle.translate(tables, packet)
            assert (outcome, cookies, ops) == want, (packet, "\n".join(lines))
            seen[outcome, bool(ops), "decap" in ops] += 1
            seen[len(cookies) > 1] += 1
            for op in ops:
                seen[op.split(":")[0]] += 1
            bits += bin(mask).count("1")
        compared += len(packets)
        same = ask(path, [outside(chance, key, answer[2]) for key, answer in zip(keys, answers)])
        for key, one, other in zip(keys, answers, same):
            assert (one[0], one[1], one[3]) == (other[0], other[1], other[3]), (key.hex(), "\n".join(lines))
        compared += len(packets)
        some = list(zip(keys, answers))[::8]
        other = ask(path, [inside(chance, key, answer[2]) for key, answer in some])
        differ += sum((a[0], a[1], a[3]) != (b[0], b[1], b[3]) for (_, a), b in zip(some, other))
    assert compared == FILES * PACKETS * 2 > 100000
    assert differ > compared // 400
    assert bits < compared // 2 * 200, bits  # whole masks of all rules would be more
    for outcome in ((oracle.DONE, True, False), (oracle.DONE, False, False), (oracle.DONE, True, True),
                    (oracle.NO_INPUT, False, False)):
        assert seen[outcome] > compared // 100, seen
    assert seen[True] > compared // 20
    for op in ("out", "src_mac", "dst_mac", "push", "pop", "tci", "ip4_src", "ip4_dst", "tos", "ttl",
               "dec_ttl", "l4_src", "l4_dst", "mark", "decap", "encap", "own"):
        assert seen[op] > 0, (op, seen)


def formatted(lines):
    """What the program makes of each line: its text, or "- " and why it is refused."""
    done = subprocess.run([PROGRAM], input="\n".join(lines) + "\n", text=True, stdout=subprocess.PIPE, check=True)
    return done.stdout.splitlines()


def ofctl(line):
    """What ovs-ofctl makes of a rule, in the one protocol that has most; None: it cannot say it in that."""
    done = subprocess.run(["ovs-ofctl", "-O", "OpenFlow15", "parse-flow", line], text=True, capture_output=True,
                          check=False)
    # Of values with bits outside their mask it makes messages that it refuses; some masks of IPv6 it cannot read.
    if re.search("no usable protocol|MATCH_INCONSISTENT|decode error|invalid IPv6 address",
                 done.stderr + done.stdout):
        return None
    assert done.returncode == 0, (line, done.stderr)
    return done.stdout.partition("ADD ")[2].strip()


@pytest.mark.skipif(not NEEDED, reason="needs ovs-ofctl, of Debian's openvswitch-common")
def test_ofctl_reads_rules_as_we_do():
    """Random rules are the same to ovs-ofctl as their text in our fixed order; and their matches are what it
    prints, too."""
    chance, compared, matches = random.Random(7), 0, 0
    names = {f"eth{n}": str(n) for n in range(1, 5)} | {"vx5": "5", "vx6": "6"}
    for _ in range(12):
        _, lines = oracle.random_rules(chance, 60)
        for line, mine in zip(lines, formatted(lines)):
            for name, number in names.items():
                line = re.sub(rf"\b{name}\b", number, line)
            table = re.match(r"table=(\d+)", mine).group(1)  # which "resubmit:3" leaves unsaid
            theirs = ofctl(line.replace("resubmit:3", f"resubmit(3,{table})"))
            if theirs is None:
                continue
            assert ofctl(mine) == theirs, (line, mine)
            match = [word for word in mine.partition(" actions=")[0].split(",")
                     if not word.startswith(("table=", "cookie="))]
            words = [word for word in theirs.partition(" actions=")[0].split(" ")
                     if word and not word.startswith(("table:", "cookie:"))]
            # How it writes 0, and what its protocol makes of no tag.
            texts = [re.sub(r"\b0x0\b", "0", text.replace("vlan_tci=0x0000/0x1fff", "vlan_tci=0x0000"))
                     for text in (",".join(match), " ".join(words))]
            assert texts[0] == texts[1], (mine, theirs)
            compared, matches = compared + 1, matches + len(match)
    assert compared > 150 and matches > 400


REFUSED = ["in_port=foo actions=1", "priority=65536 actions=1", "idle_timeout=65536 actions=1", "foo=3 actions=1",
           "tcp", "dl_vlan=5/7 actions=1", "ip,nw_tos=256 actions=1",
           "tcp,tcp_flags=+foo actions=1", "ip,nw_src=1.2.3 actions=1", "ip,nw_frag=maybe actions=1",
           "actions=drop,1", "actions=goto_table:2,1", "actions=set_field:5->tcp_src", "actions=resubmit(,)",
           "actions=set_field:1.2.3.4->ip_src", "actions=mod_vlan_pcp:8", "actions=foo", "actions=output:foo",
           "actions=set_field:5", "dl_src=1:2:3:4:5 actions=1", "table=3 actions=goto_table:3"]


@pytest.mark.skipif(not NEEDED, reason="needs ovs-ofctl, of Debian's openvswitch-common")
def test_what_ofctl_refuses_is_refused():
    for line in REFUSED:
        theirs = subprocess.run(["ovs-ofctl", "-O", "OpenFlow15", "parse-flow", line], capture_output=True, check=False)
        assert theirs.returncode != 0, line
    assert [line for line, ours in zip(REFUSED, formatted(REFUSED)) if not ours.startswith("- ")] == []
