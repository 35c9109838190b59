# SPDX-License-Identifier: BSD-3-Clause
"""l3fwd-graph --policy: packets get the class of the first rule that they match, classes can be
dropped, SIGHUP has the file read again, and a file with a fault is refused by its line and field."""

import ipaddress
import lzma
import os
import random
import re
import signal
from pathlib import Path

import pytest

import frames
import frames6
import l3fwd
import oracle
from l3fwd import SILENT, options
from live import Live, await_work

VARIANTS = ("linear", "acl")
ROUTES = [oracle.route("0.0.0.0/0", 1, "02:00:00:00:00:01")]


def rules(rig, *lines):
    """The option that gives l3fwd-graph these rules."""
    return f"--policy={rig.write('policy', ''.join(line + chr(10) for line in lines))}"


def packets(addresses, each=8):
    """Good packets to some addresses, in turn."""
    streams = [frames.traffic(address, each) for address in addresses]
    return [frame for group in zip(*streams, strict=True) for frame in group]


@pytest.mark.parametrize("cls", VARIANTS)
def test_packets_are_counted_by_class_and_dropped_by_class(rig, cls):
    sent = packets(["10.0.0.1", "10.0.0.2", "10.1.0.1", "192.0.2.1"], 100)
    run = rig.forward([[sent], SILENT], rig.routes(ROUTES), f"--node=flow_cls={cls}",
                      "--drop-class=7", "--drop-class=9",
                      rules(rig, "rule 1 class 7 dst 10.0.0.2 # before the network around it",
                            "rule 2 class 65535 precedence 1 dst 10.0.0.0/8",
                            "rule 3 class 9 precedence 2 dst 10.1.0.0/16"))
    assert run.stats["classes"] == {"7": 100, "65535": 200}, run
    assert run.stats["drops"]["denied"] == 100, run
    assert len(run.sent(1)) == 300
    node = next(n for n in run.stats["nodes"] if n["name"] == "flow_cls-0")
    assert node["variant"] == cls and node["family"] == "flow_cls"
    assert (node["counters"]["sw_hits"], node["counters"]["sw_misses"]) == (300, 100)


def test_packets_without_a_class_can_be_dropped(rig):
    sent = packets(["10.0.0.1", "192.0.2.1"], 50)
    run = rig.forward([[sent], SILENT], rig.routes(ROUTES), "--drop-class=0",
                      rules(rig, "rule 1 class 1 dst 10.0.0.0/8"))
    assert run.stats["classes"] == {"1": 50} and run.stats["drops"]["denied"] == 50, run
    assert len(run.sent(1)) == 50


def test_frames_that_are_no_ip_reach_the_checks_behind_with_a_policy_too(rig):
    """All the frames that visit the rules of forwarding: with a policy that denies nothing they
    go where they go without one."""
    made = [frame.data for frame in frames.generate(11)]
    routes = rig.routes(frames.ROUTES)
    ports = [[made], *[SILENT] * (frames.PORTS - 1)]
    without = rig.forward(ports, routes)
    expected = [without.sent(p) for p in range(frames.PORTS)], without.stats["drops"]
    run = rig.forward(ports, routes, rules(rig, "rule 1 class 1 proto udp", "rule 2 class 2"))
    drops = dict(run.stats["drops"])
    assert drops.pop("denied") == 0
    assert ([run.sent(p) for p in range(frames.PORTS)], drops) == expected
    assert sum(run.stats["classes"].values()) == len(made) > 1000


BAD = {
    "field": ("rule 1 class x", "3: class: "),
    "keyword": ("rule 1 class 1 mpls 1", "3: mpls: unknown"),
    "action": ("rule 1 deny", "3: action: only rules of access lists have it"),
    "log": ("rule 1 class 1 log", "3: log: only rules of access lists have it"),
    "default": ("default deny", "3: default: only access lists have it"),
    "twice": ("rule 5 class 1", "3: rule: 5 is on line 1 already"),
    "contradiction": ("rule 1 class 1 proto icmp sport 1", "3: proto: 1 has no ports"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_line_is_refused_by_file_line_and_field(rig, what):
    line, message = BAD[what]
    option = rules(rig, "rule 5 class 1", "", line)
    run = rig.forward([SILENT, SILENT], rig.routes(ROUTES), option)
    assert run.code > 0, run
    assert f"--policy: {rig.folder / 'policy'}:{message}" in run.stderr, run


@pytest.mark.parametrize("given, message", {
    "--drop-class=1": "--drop-class: requires --policy or --acl-list: its",
    "--max-rules=16384": "--max-rules: requires --policy or --acl-list: its",
    "--drop-class=65536": "--drop-class: '65536' is not a number from 0 to 65535",
    "--policy=/nowhere": "--policy: /nowhere: No such file or directory",
}.items())
def test_options_are_refused_with_what_is_accepted(rig, given, message):
    run = rig.forward([SILENT, SILENT], rig.routes(ROUTES), given)
    assert run.code > 0 and message in run.stderr, run


def test_explain_tells_why_the_variant(rig):
    option = rules(rig, "rule 1 class 1")
    for more, chosen in ([], "acl"), (["--max-rules=11"], "linear"):
        explained = l3fwd.explain(rig.folder, option, *more)
        found = [s for s in explained["selections"] if s["family"] == "flow_cls"]
        assert [s["variant"] for s in found] == [chosen], found


def replay(rig, records):
    """EAL's options for a port that brings the same records over and over, and one that takes."""
    eal = []
    for p, source in enumerate((records, [])):
        path = l3fwd.pcapfile.write(rig.folder / f"in{p}.pcap", source)
        endless = ",infinite_rx=1" if source else ""
        eal += ["--vdev", f"net_pcap{p},rx_pcap={path},tx_pcap=/dev/null{endless}"]
    return eal


def test_reload_changes_classes_while_packets_flow_and_a_bad_file_changes_nothing(rig):
    path = rig.write("policy", "rule 1 class 1 dst 10.0.0.0/8\n")
    live = Live(rig, ROUTES, [*options(2, [(0, 0, 1)]), f"--policy={path}"],
                replay(rig, packets(["10.0.0.1"])))
    await_work(live.process)  # some packets by the first rules
    path.write_text("rule 1 class 2 dst 10.0.0.0/8\nrule 2 class 3 dst 192.0.2.0/24\n")
    live.process.send_signal(signal.SIGHUP)
    live.wait(lambda: "policy: 2 rules, in " in live.stdout(), "the second rules")
    await_work(live.process)
    path.write_text("rule 1 class 4 dst 10.0.0.0/8\nrule 2\n")
    live.process.send_signal(signal.SIGHUP)
    live.wait(lambda: f"policy unchanged: {path}:2: action: missing" in live.stderr(), "a refusal")
    run = live.stop()
    classes = run.stats["classes"]
    assert set(classes) == {"1", "2"}, run
    assert sum(classes.values()) == run.stats["totals"]["rx"] > 0, run
    assert run.stats["totals"]["dropped"] == 0, run


def uncompilable():
    """Rules that no engine has room for in a MiB."""
    draw = random.Random(6)
    fields = [lambda: f"src {draw.randint(1, 223)}.{draw.randint(0, 255)}.0.0/16",
              lambda: f"dst {draw.randint(1, 223)}.{draw.randint(0, 255)}.0.0/16",
              lambda: "sport {}-{}".format(*sorted(draw.choices(range(65536), k=2))),
              lambda: "dport {}-{}".format(*sorted(draw.choices(range(65536), k=2))),
              lambda: f"proto {draw.choice((6, 17))}", lambda: f"dscp {draw.randrange(64)}",
              lambda: f"vlan {draw.randint(1, 4000)}"]
    lines = [f"rule {number} class 2 " + " ".join(
        field() for field in fields if draw.random() < .5) for number in range(30000)]
    return "\n".join(lines) + "\n"


def test_reload_whose_policy_does_not_compile_takes_its_routes_back(rig):
    """The routes are in the tables by then, and go again: both files change, or neither."""
    path = rig.write("policy", "rule 1 class 1 dst 10.0.0.0/8\n")
    live = Live(rig, ROUTES, [*options(2, [(0, 0, 1)]), f"--policy={path}", "--max-rules=30000",
                              "--max-rules-mib=1", "--max-routes=100"],
                replay(rig, packets(["10.0.0.1"])), telemetry=True)
    await_work(live.process)
    before = live.ask("/l3fwd/routes")
    path.write_text(uncompilable())
    live.write([*ROUTES, oracle.route("192.0.2.0/24", 1, "02:00:00:00:00:09")])
    live.process.send_signal(signal.SIGHUP)
    live.wait(lambda: "policy unchanged: no engine takes so many rules" in live.stderr(), "a refusal")
    live.wait(lambda: "routes unchanged: the reload of policy failed" in live.stderr(), "both")
    assert live.ask("/l3fwd/routes") == before
    assert live.ask("/l3fwd/route,192.0.2.1")["prefix"] == "0.0.0.0/0"
    path.write_text("rule 1 class 3 dst 10.0.0.0/8\n")
    live.process.send_signal(signal.SIGHUP)
    live.wait(lambda: "policy: 1 rules, in " in live.stdout(), "both files")
    assert live.ask("/l3fwd/route,192.0.2.1")["prefix"] == "192.0.2.0/24"
    await_work(live.process)
    run = live.stop()
    assert run.code == 0 and set(run.stats["classes"]) == {"1", "3"}, run


def classbench(line, number):
    """A rule of ClassBench's as a line of a policy."""
    found = re.match(r"@(\S+)\s+(\S+)\s+(\d+) : (\d+)\s+(\d+) : (\d+)\s+0x(\w+)/0x(\w+)", line)
    src, dst, sp0, sp1, dp0, dp1, proto, mask = found.groups()
    words = [f"rule {number} class {number + 1}"]
    words += [f"src {src}"] if not src.endswith("/0") else []
    words += [f"dst {dst}"] if not dst.endswith("/0") else []
    words += [f"sport {sp0}-{sp1}"] if (sp0, sp1) != ("0", "65535") else []
    words += [f"dport {dp0}-{dp1}"] if (dp0, dp1) != ("0", "65535") else []
    words += [f"proto {int(proto, 16)}"] if mask == "FF" else []
    return " ".join(words)


def test_real_rules_classify_as_their_lines_say(rig):
    """One packet for each address of the real rules, against a reading of the file in Python."""
    if not os.environ.get("HALYARD_DATA"):
        pytest.skip("HALYARD_DATA is not set: no real rules")
    path = Path(os.environ["HALYARD_DATA"]) / "rules" / "acl1_941.rules.xz"
    with lzma.open(path, "rt") as file:
        lines = [classbench(line, n) for n, line in enumerate(file)]
    assert len(lines) == 941
    rng = random.Random(941)
    sent, expected = [], {}
    for _ in range(3000):
        rule = dict(re.findall(r"(\w+) (\S+)", rng.choice(lines)))
        frame = packet_for(rule, rng)
        found = first_match(lines, frame)
        expected[found] = expected.get(found, 0) + 1
        sent.append(frame)
    expected.pop(None, None)
    run = rig.forward([[sent], SILENT], rig.routes(ROUTES), rules(rig, *lines))
    assert run.stats["classes"] == expected, run
    assert len(expected) > 300


def packet_for(rule, rng):
    """A frame that a rule asks for, but for its protocol if that is none of ports."""
    def address(prefix):
        net = ipaddress.IPv4Network(prefix)
        return net[rng.randrange(net.num_addresses)].packed

    def port(words):
        low, high = map(int, words.split("-"))
        return rng.randint(low, high).to_bytes(2, "big")

    header = bytearray(20)
    header[0], header[8], header[9] = 0x45, 64, int(rule.get("proto", rng.choice((6, 17))))
    header[2:4] = (20 + 20).to_bytes(2, "big")
    header[12:16] = address(rule.get("src", "0.0.0.0/0"))
    header[16:20] = address(rule.get("dst", "0.0.0.0/0"))
    header[10:12] = oracle.checksum(bytes(header)).to_bytes(2, "big")
    ports = port(rule.get("sport", "0-65535")) + port(rule.get("dport", "0-65535"))
    return bytes([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]) + bytes(header) + ports + bytes(16)


PARSED = {}


def first_match(lines, frame):
    """The class of the first rule, read anew from its line."""
    src, dst = (int.from_bytes(frame[at:at + 4], "big") for at in (26, 30))
    ports = [int.from_bytes(frame[at:at + 2], "big") for at in (34, 36)]
    proto = frame[23]
    for line in lines:
        if line not in PARSED:
            rule = dict(re.findall(r"(\w+) (\S+)", line))
            nets = [ipaddress.IPv4Network(rule.get(k, "0.0.0.0/0")) for k in ("src", "dst")]
            ranges = [rule[k].split("-") if k in rule else None for k in ("sport", "dport")]
            PARSED[line] = (rule, [(int(n.network_address), int(n.netmask)) for n in nets],
                            [r and (int(r[0]), int(r[1])) for r in ranges])
        rule, nets, ranges = PARSED[line]
        if any(value & mask != net for value, (net, mask) in zip((src, dst), nets)):
            continue
        if "proto" in rule and int(rule["proto"]) != proto:
            continue
        if any(r and (proto not in (6, 17, 132) or not r[0] <= p <= r[1])
               for p, r in zip(ports, ranges)):
            continue
        return rule["class"]
    return None


@pytest.mark.parametrize("offload", [(), ("--offload=sim:generic",)], ids=["software", "marks"])
@pytest.mark.parametrize("rule, matches", [("type 0x86dd", True), ("", True), ("vlan 5", False),
                                           ("proto udp", False), ("proto 17 dport 7", False),
                                           ("dscp 0", False), ("dst 32.1.13.184", False),
                                           ("ip6 proto udp dport 7", True), ("ip6", True),
                                           ("dst 2001:db8::/64", True), ("proto icmp6", False),
                                           ("dst 2001:db8:1::/48", False),
                                           ("type 0x86dd dscp 0 fragment none", True),
                                           ("ip6 fragment first,later,unknown", False)])
def test_ip6_packets_have_a_class_only_by_rules_that_are_not_for_ip4(rig, rule, matches, offload):
    made = []
    for i in range(200):
        spec = frames6.Spec(random.Random(i))
        spec.destination = int(ipaddress.ip_address("2001:db8::5"))
        spec.next, spec.class_and_label, spec.payload = 17, 0, bytes((0, 7) * 4)
        made.append(spec.frame())
    routes = [oracle.route("2001:db8::/32", 1, "02:00:00:00:00:01")]
    run = rig.forward([[made], SILENT], rig.routes(routes), rules(rig, f"rule 1 class 7 {rule}"),
                      "--drop-class=7", *offload)
    dropped = 200 if matches else 0
    assert run.stats["classes"].get("7", 0) == run.stats["drops"]["denied"] == dropped, run
    assert len(run.sent(1)) == 200 - dropped


def test_reload_that_is_taken_back_leaves_groups_and_ip6_as_they_were(rig):
    """Routes of all kinds change again and again, with a policy that does not compile."""
    def text(n):
        hop = f"port 1 mac 02:00:00:00:01:{n:02x}"
        return (f"10.0.0.0/8 group port 1 mac 02:00:00:00:00:01, {hop} weight 3\n"
                f"2001:db8::/32 {hop}\n" + f"2001:db8:{n:x}::/48 port 1 mac 02:00:00:00:00:01\n")

    path = rig.write("policy", "rule 1 class 1 dst 10.0.0.0/8\n")
    live = Live(rig, text(1), [*options(2, [(0, 0, 1)]), f"--policy={path}", "--max-rules=30000",
                               "--max-rules-mib=1", "--max-next-hops=6",
                               f"--dump-routes={rig.folder}/dump"],
                replay(rig, packets(["10.0.0.1"])), telemetry=True)
    asked = ("/l3fwd/routes", "/l3fwd/group,2", "/l3fwd/route,2001:db8:1::1",
             "/l3fwd/route,2001:db8:2::1", "/l3fwd/route,10.0.0.1")
    before = [live.ask(command) for command in asked]
    assert None not in before and before[0]["groups"] == 1
    path.write_text(uncompilable())
    for n in range(2, 6):
        live.write(text(n))
        live.hup()
        live.wait(lambda n=n: live.stderr().count("routes unchanged: the reload") == n - 1, "both")
        live.wait(lambda: [live.ask(command) for command in asked] == before, "the sweep")
    path.write_text("rule 1 class 3 dst 10.0.0.0/8\n")
    assert live.reload() == (1, 2, 1, 0)
    live.wait(lambda: live.ask("/l3fwd/routes") == before[0], "the sweep")
    assert live.ask("/l3fwd/route,2001:db8:2::1")["mac"] == "02:00:00:00:01:05"
    run = live.stop()
    assert run.stats["totals"]["dropped"] == 0, run
