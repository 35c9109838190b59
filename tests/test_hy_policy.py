# SPDX-License-Identifier: BSD-3-Clause
"""hy-policy, as a program: its answers compared with those of a brute force over small worlds, and
what it does with bad input."""

import itertools
import lzma
import os
import random
import re
import subprocess

import pytest

import l3fwd

HY_POLICY = l3fwd.BUILD / "app" / "hy-policy" / "hy-policy"
DATA = os.environ.get("HALYARD_DATA")

# The world: every combination of these is a packet, and rules have nothing finer.
SOURCES = ["10.0.0.0", "10.0.0.1", "10.0.0.2", "10.0.0.3", "192.0.2.1", "198.51.100.9"]
PREFIXES = [None, "10.0.0.0/30", "10.0.0.0/31", "10.0.0.2/31", "10.0.0.1/32", "192.0.2.1/32"]
PORTS = [0, 79, 80, 81, 65535]
RANGES = [None, (80, 80), (0, 79), (80, 65535), (79, 81), (81, 65535)]
FLAGS = ["S", "A", "SA", "none"]
CHECKS = [None, "S/SA", "S/S", "A/A", "/SA"]


def run(*args, cwd=None):
    return subprocess.run([*l3fwd.UNDER, HY_POLICY, *args], capture_output=True, text=True, check=False,
                          timeout=l3fwd.TIMEOUT, cwd=cwd, stdin=subprocess.DEVNULL)


def packets():
    """Source, protocol, destination port, flags. Without a port or flags: fragments, or cut."""
    for source in SOURCES:
        for port, flags in itertools.product(PORTS, [*FLAGS, None]):
            yield source, "tcp", port, flags
        for proto, port in itertools.product(("udp", "sctp"), PORTS):
            yield source, proto, port, None
        for proto in ("tcp", "udp", "sctp", "icmp", "47"):
            yield source, proto, None, None
    yield None, None, None, None  # IPv4 by its ether type only


PACKETS = list(packets())


def number(address):
    return int.from_bytes(bytes(int(part) for part in address.split(".")), "big")


def matches(rule, packet):
    source, proto, port, flags = packet
    if rule["src"]:
        if source is None:
            return False
        address, length = rule["src"].split("/")
        if (number(address) ^ number(source)) >> (32 - int(length)):
            return False
    if rule["proto"] and rule["proto"] != proto:
        return False
    if rule["dport"] and (port is None or not rule["dport"][0] <= port <= rule["dport"][1]):
        return False
    if rule["flags"]:
        if flags is None:
            return False
        want, mask = (set(part) for part in rule["flags"].split("/"))
        return set(flags.replace("none", "")) & mask == want
    return True


def random_rule(rng, rule_id):
    proto = rng.choice([None, "tcp", "tcp", "udp", "icmp"])
    return {"id": rule_id, "action": rng.choice(["permit", "deny", "class 7"]),
            "src": rng.choice(PREFIXES), "proto": proto,
            "dport": rng.choice(RANGES) if proto != "icmp" else None,
            "flags": rng.choice(CHECKS) if proto in ("tcp", None) and rng.random() < 0.4 else None}


def text_of(rule):
    words = [f"rule {rule['id']} {rule['action']}"]
    if rule["src"]:
        words.append("src " + rule["src"])
    if rule["proto"]:
        words.append("proto " + rule["proto"])
    if rule["dport"]:
        words.append("dport {}-{}".format(*rule["dport"]))
    if rule["flags"]:
        words.append("flags " + rule["flags"])
    if len(words) == 1:
        words.append("type 0x0800")
    return " ".join(words)


def write(path, rules, default="permit"):
    path.write_text("".join(text + "\n" for text in [f"default {default}", *map(text_of, rules)]))
    return path


def first(rules, packet):
    """The id of the first rule that matches, or None."""
    return next((rule["id"] for rule in rules if matches(rule, packet)), None)


def packet_words(packet):
    source, proto, port, flags = packet
    if source is None:
        return "type 0x0800 truncated"
    words = f"in 0 src {source} dst 10.9.9.9 proto {proto}"
    if port is not None:
        words += f" sport 5 dport {port}"
    if flags:
        words += f" flags {flags}"
    if proto == "icmp":
        return words + " icmp 8 code 0"
    if proto == "47" or flags or (proto in ("udp", "sctp") and port is not None):
        return words
    return words + (" fragment first" if port is None else " truncated")


def read_packet(words):
    """A printed example as one of the world's packets; the printed one may lie between them."""
    value = dict(re.findall(r"(src|proto|dport|flags) (\S+)", words))
    return (value["src"], value["proto"], int(value["dport"]) if "dport" in value else None,
            value.get("flags"))


def test_test_names_the_rule_that_decides_and_the_next(tmp_path):
    rng = random.Random(1)
    seen = {"rule": 0, "default": 0, "next": 0}
    for _ in range(12):
        rules = [random_rule(rng, i + 1) for i in range(8)]
        path = write(tmp_path / "rules", rules, rng.choice(["permit", "deny"]))
        for packet in rng.sample(PACKETS, 6):
            hits = [rule["id"] for rule in rules if matches(rule, packet)]
            done = run("test", path, packet_words(packet))
            assert done.returncode == 0, done
            assert len(done.stdout.splitlines()) == 1, (done.stdout, packet)
            if not hits:
                assert ": the default (" in done.stdout, (done.stdout, packet)
                seen["default"] += 1
                continue
            seen["rule"] += 1
            line, rule_id = re.search(r"rules:(\d+): rule (\d+) \(.*\) decides;", done.stdout).groups()
            assert (int(rule_id), int(line)) == (hits[0], hits[0] + 1), (done.stdout, packet)
            later = re.search(r"next is (?:rule (\d+) |the default)", done.stdout)[1]
            assert (int(later) if later else None) == (hits[1:] or [None])[0], (done.stdout, packet)
            seen["next"] += later is not None
    assert min(seen.values()) > 5, seen


def test_check_finds_what_a_brute_force_finds(tmp_path):
    rng = random.Random(2)
    seen = dict.fromkeys(("good", "redundant", "contradicted", "shadowed"), 0)
    for _ in range(250):
        rules = [random_rule(rng, i + 1) for i in range(rng.randint(2, 12))]
        done = run("check", write(tmp_path / "rules", rules))
        found = {int(rule_id): (kind, {int(n) for n in re.findall(r"rule (\d+) \(line", others)})
                 for rule_id, kind, others in re.findall(
                     r"rule (\d+) \([^)]*\) is (\w+): all its packets first match (.*)", done.stdout)}
        action = {rule["id"]: rule["action"] for rule in rules}
        deciders = {rule["id"]: {first(rules, packet) for packet in PACKETS if matches(rule, packet)}
                    for rule in rules}
        for rule in rules:
            by = deciders[rule["id"]]
            assert (rule["id"] in found) == (rule["id"] not in by), (done.stdout, rule, by)
            if rule["id"] in by:
                seen["good"] += 1
                continue
            kind, others = found[rule["id"]]
            same = {action[other] == rule["action"] for other in by}
            assert others == by, (done.stdout, rule, by)
            assert kind == ("redundant" if same == {True} else
                            "contradicted" if same == {False} else "shadowed"), (done.stdout, rule)
            seen[kind] += 1
        assert done.returncode == (1 if found else 0), done
    assert min(seen.values()) > 5, seen


def test_diff_shows_a_packet_for_each_rule_that_matters(tmp_path):
    rng = random.Random(3)
    seen = {"felt": 0, "read": 0, "unfelt": 0, "+": 0, "-": 0, "~": 0}
    for _ in range(40):
        old = [random_rule(rng, i + 1) for i in range(8)]
        new = [dict(rule) for rule in old]
        change = rng.choice("+-~")
        at = rng.randrange(8)
        if change == "-":
            del new[at]
        elif change == "~":
            new[at] = random_rule(rng, at + 1)
        else:
            new.append(random_rule(rng, 9))
        if old == new:
            continue
        done = run("diff", write(tmp_path / "old", old), write(tmp_path / "new", new))
        assert done.returncode == 1, done
        assert re.search(rf"(?m)^\{change} ", done.stdout), done.stdout
        fate = [{rule["id"]: rule["action"] for rule in rules} for rules in (old, new)]
        felt = [packet for packet in PACKETS if fate[0].get(first(old, packet), "permit") !=
                fate[1].get(first(new, packet), "permit")]
        example = re.search(r"(?m)^    (src .*): (.*) becomes (.*)$", done.stdout)
        seen[change] += 1
        assert bool(felt) == ("becomes" in done.stdout), (done.stdout, felt[:1])
        if not felt:
            assert "no packet is treated differently" in done.stdout, done.stdout
            seen["unfelt"] += 1
            continue
        seen["felt"] += 1
        if not example:  # of IPv4 by its ether type only
            assert "type 0x0800 truncated: " in done.stdout, done.stdout
            continue
        seen["read"] += 1
        packet = read_packet(example[1])
        for rules, shown in ((old, example[2]), (new, example[3])):
            decider = re.match(r"rule (\d+) |the default", shown)[1]
            assert (int(decider) if decider else None) == first(rules, packet), (done.stdout, packet)
    assert min(seen.values()) > 2, seen
    same = write(tmp_path / "old", old)
    assert run("diff", same, same).returncode == 0


@pytest.mark.parametrize("old,new", itertools.product(("permit", "deny"), repeat=2))
def test_diff_of_denied_truncated_packets_is_no_difference_of_rules(tmp_path, old, new):
    """Only of truncated UDP these two rules differ."""
    (tmp_path / "old").write_text(f"truncated {old}\nrule 1 deny proto udp fragment none\n")
    (tmp_path / "new").write_text(f"truncated {new}\nrule 1 deny proto udp sport 0-65535\n")
    done = run("diff", tmp_path / "old", tmp_path / "new")
    felt = "proto udp truncated: rule 1 (line 2, deny) becomes the default (permit)" in done.stdout
    assert felt == ("deny" not in (old, new)), done.stdout
    assert felt != ("no packet is treated differently" in done.stdout), done.stdout
    assert (f"~ truncated {old} becomes truncated {new}" in done.stdout) == (old != new), done.stdout


@pytest.mark.parametrize("to", ["classbench", "l3fwd-acl", "halyard"])
@pytest.mark.parametrize("ip6", [(), ("--ip6",)], ids=["IPv4", "IPv6"])
def test_converted_rules_are_the_same(tmp_path, to, ip6):
    made = run("generate", "--kind", "ipc", "--rules", "500", "--seed", "4", *ip6)
    assert made.returncode == 0 and made.stdout.count("\nrule ") == 500, made.stderr
    (tmp_path / "a").write_text(made.stdout.replace(" deny ", " permit ") if to == "classbench"
                                else made.stdout)
    done = run("convert", tmp_path / "a", "--to", to, *(("--port", "1") if to == "l3fwd-acl" else ()))
    assert done.returncode == 0, done.stderr
    (tmp_path / "b").write_text(done.stdout)
    again = run("diff", tmp_path / "a", tmp_path / "b")
    assert again.returncode == 0, again.stdout[-500:]
    assert again.stdout == "0 added, 0 removed, 0 changed; 0 of them change what happens to " \
                           "packets, 0 undecided\n"


@pytest.mark.parametrize("line,to,why", [
    ("rule 1 permit vlan 5", "classbench", "vlan: classbench has no such field"),
    ("rule 1 deny src 10.0.0.0/8", "classbench",
     "action: classbench has none, and is read as permit; --no-actions leaves it out"),
    ("rule 1 permit src 10.0.0.0/8", "l3fwd-acl",
     "permit: l3fwd-acl's routes name a port; --port gives one"),
    ("rule 1 class 7 src 10.0.0.0/8", "l3fwd-acl", "class: l3fwd-acl denies, or routes to a port"),
    ("rule 1 deny log src 10.0.0.0/8", "l3fwd-acl", "log: l3fwd-acl has no such word"),
    ("rule 1 deny proto tcp flags S/SA", "l3fwd-acl", "flags: l3fwd-acl has no such field"),
    ("rule 1 deny", "l3fwd-acl", "type: l3fwd-acl has rules for IP only; this one is for all packets"),
    ("rule 1 deny dport 80", "l3fwd-acl",
     "proto: l3fwd-acl has ports and flags of one protocol only; this rule has no protocol"),
])
def test_convert_refuses_by_name_what_cannot_be_said(tmp_path, line, to, why):
    (tmp_path / "rules").write_text(line + "\n")
    done = run("convert", "rules", "--to", to, cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"rules:1: {why}\n")


@pytest.mark.parametrize("action", ["deny precedence 5", "deny" + 200 * " " + "src 10.0.0.0/8"])
def test_an_action_that_says_more_is_refused_whole(tmp_path, action):
    (tmp_path / "rules").write_text("@10.0.0.0/8 0.0.0.0/0 0 : 65535 0 : 65535 0x06/0xFF 0x0/0x0\n")
    done = run("convert", tmp_path / "rules", "--to", "halyard", "--action", action)
    assert (done.returncode, done.stdout) == (2, ""), done
    assert done.stderr.startswith(f"hy-policy: --action '{action}' is not permit, deny, "), done.stderr


def test_real_rules_are_read_and_checked(tmp_path):
    if not DATA:
        pytest.skip("HALYARD_DATA is not set")
    with lzma.open(f"{DATA}/rules/acl1_941.rules.xz") as packed:
        (tmp_path / "rules").write_bytes(packed.read())
    done = run("check", tmp_path / "rules", "--format", "classbench")
    assert done.returncode in (0, 1) and done.stderr == "", done
    assert re.search(r"(?m)^941 rules: .* 0 undecided$", done.stdout), done.stdout[-300:]
    done = run("convert", tmp_path / "rules", "--to", "halyard", "--format", "classbench",
               "--action", "class 9")
    assert done.returncode == 0 and len(re.findall(r"(?m)^rule \d+ class 9 ", done.stdout)) == 941


def test_ten_thousand_rules_are_checked_in_seconds(tmp_path):
    (tmp_path / "rules").write_text(run("generate", "--kind", "acl", "--rules", "10000").stdout)
    done = run("check", tmp_path / "rules")
    assert re.search(r"(?m)^10000 rules: .* 0 undecided$", done.stdout), done.stdout[-300:]


BAD = {
    "missing": (("check", "no-such"), "hy-policy: no-such: "),
    "folder": (("check", "."), "hy-policy: .: "),
    "FIFO": (("check", "fifo"), "hy-policy: fifo: "),
    "binary": (("check", "binary"), "hy-policy: binary:1: "),
    "bad rule": (("test", "bad", "proto tcp"), "hy-policy: bad:1: src: '300.0.0.1/8' is not "),
    "bad packet": (("test", "good", "proto tcp icmp 3"), "hy-policy: packet: proto: 6 has no type"),
    "no packet": (("test", "good", "ip6 proto 44"), "hy-policy: packet: there is no such packet"),
    "no command": ((), "hy-policy: a command is required: check, test, diff, convert, generate"),
    "two formats": (("check", "tabs"), "hy-policy: tabs:1: line: denies if the file is l3fwd-acl's, "),
    "no format": (("convert", "good"), "hy-policy: convert needs --to"),
    "format": (("convert", "good", "--to", "x"), "hy-policy: --to 'x' is not halyard, "),
    "option": (("check", "good", "--seed", "1"), "hy-policy: check does not take --seed"),
    "words": (("check", "good", "more"), "hy-policy: check takes FILE"),
    "rules": (("generate", "--kind", "fw", "--rules", "0"), "hy-policy: --rules '0' is not a number "),
    "kind": (("generate", "--kind", "x", "--rules", "1"), "hy-policy: --kind 'x' is not acl, fw or ipc"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_trouble_and_says_why(tmp_path, case):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "binary").write_bytes(bytes(range(256)) * 4)
    (tmp_path / "bad").write_text("rule 1 deny src 300.0.0.1/8\n")
    (tmp_path / "tabs").write_text("@10.0.0.0/8\t0.0.0.0/0\t0 : 65535\t0 : 65535\t0/0\n")
    (tmp_path / "good").write_text("")
    args, why = BAD[case]
    done = run(*args, cwd=tmp_path)
    assert done.returncode == 2 and done.stdout == "", done
    assert done.stderr.startswith(why), done.stderr


def test_an_empty_file_is_a_list_without_rules(tmp_path):
    (tmp_path / "empty").write_text("")
    done = run("check", tmp_path / "empty")
    assert done.returncode == 0 and done.stdout.startswith("0 rules: "), done
    assert run("test", tmp_path / "empty", "proto tcp").stdout.endswith(
        "empty: the default (permit) decides\n")


def test_output_that_is_lost_is_trouble(tmp_path):
    (tmp_path / "rules").write_text("rule 1 deny\n")
    with open("/dev/full", "wb") as full:
        done = subprocess.run([*l3fwd.UNDER, HY_POLICY, "check", tmp_path / "rules"], stdout=full,
                              stderr=subprocess.PIPE, text=True, check=False, timeout=l3fwd.TIMEOUT)
    assert done.returncode == 2, done
    assert done.stderr == "hy-policy: standard output: No space left on device\n"
