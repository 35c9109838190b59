# SPDX-License-Identifier: BSD-3-Clause
"""The oracle of access lists, on its own: against packets that scapy makes and takes apart, and
against answers worked out by hand."""

import random
from collections import Counter

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP
from scapy.layers.inet6 import (ICMPv6EchoRequest, IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment,
                                IPv6ExtHdrHopByHop, IPv6ExtHdrRouting, PadN)
from scapy.layers.ipsec import AH
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether
from scapy.layers.sctp import SCTP
from scapy.layers.vxlan import VXLAN
from scapy.packet import Raw

import acl_frames
import acl_oracle as acl

ETHER = Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02")
IP4 = IP(src="10.1.2.3", dst="192.0.2.9", tos=46 << 2 | 1)
IP6 = IPv6(src="2001:db8::5", dst="fe80::1", tc=10 << 2)
DST6 = 0xFE800000000000000000000000000001
LONG = IPv6ExtHdrDestOpt(options=[PadN(optdata=bytes(60))])  # 64 bytes

# Packets, and fields that they have; None: that they lack. "truncated" is the whole packet's.
MADE = {
    "arp": (ETHER / ARP(), dict(dmac=0x020000000001, smac=0x020000000002, type=0x806, ip=None,
                                vlan=None, fragment=None)),
    "tag": (ETHER / Dot1Q(vlan=7, prio=5) / IP4 / UDP(sport=5, dport=6),
            dict(vlan=7, type=0x800, sport=5, dport=6, proto=17, dscp=46, src=0x0A010203,
                 dst=0xC0000209, fragment=acl.NONE, ip=4)),
    "two_tags": (ETHER / Dot1AD(vlan=3) / Dot1Q(vlan=4) / IP4 / TCP(flags="SA", dport=80),
                 dict(vlan=3, type=0x800, flags=0x12, dport=80)),
    "three_tags": (ETHER / Dot1AD(vlan=3) / Dot1Q(vlan=4) / Dot1Q(vlan=5) / IP4,
                   dict(vlan=3, type=0x8100, ip=None)),
    "options": (ETHER / IP(bytes(IP(ihl=15, src="10.0.0.1", proto=6))[:20] + bytes(40)) /
                TCP(flags="FPU", sport=1), dict(flags=0x29, sport=1, src=0x0A000001)),
    "flags": (ETHER / IP4 / TCP(flags="CE"), dict(flags=0xC0)),
    "sctp": (ETHER / IP4 / SCTP(sport=9, dport=10), dict(proto=132, sport=9, dport=10, flags=None)),
    "icmp": (ETHER / IP4 / ICMP(type=3, code=4), dict(icmp=3, code=4, sport=None)),
    "icmp6_in_ip4": (ETHER / IP(proto=58) / ICMPv6EchoRequest(), dict(proto=58, icmp=None)),
    "first": (ETHER / IP(flags="MF") / UDP(), dict(fragment=acl.FIRST, proto=17, sport=None)),
    "later": (ETHER / IP(frag=3, proto=6) / Raw(bytes(40)), dict(fragment=acl.LATER, flags=None)),
    "vxlan": (ETHER / IP4 / UDP(dport=4789) / VXLAN(vni=5000, flags="Instance") / ETHER,
              dict(tunnel=5000, type=0x800)),
    "vxlan_of_nobody": (ETHER / IP4 / UDP(dport=4789) / VXLAN(vni=5000, flags=0), dict(tunnel=None)),
    "ip6": (ETHER / IP6 / TCP(sport=7, flags="R"),
            dict(ip=6, type=0x86DD, sport=7, flags=4, dscp=10, fragment=acl.NONE, dst=DST6,
                 src=0x20010DB8000000000000000000000005)),
    "vxlan_in_ip6": (ETHER / IP6 / UDP(dport=4789) / VXLAN(vni=7, flags="Instance"),
                     dict(dport=4789, tunnel=None)),
    "icmp6": (ETHER / IP6 / ICMPv6EchoRequest(), dict(proto=58, icmp=128, code=0)),
    "icmp_in_ip6": (ETHER / IPv6(nh=1) / ICMP(type=8), dict(proto=1, icmp=None)),
    "chain": (ETHER / IP6 / IPv6ExtHdrHopByHop() / IPv6ExtHdrRouting(addresses=["::1"]) /
              AH(icv=bytes(12)) / IPv6ExtHdrDestOpt() / UDP(dport=53),
              dict(proto=17, dport=53, fragment=acl.NONE)),
    "atomic": (ETHER / IP6 / IPv6ExtHdrFragment(m=0, offset=0) / UDP(dport=53),
               dict(fragment=acl.NONE, proto=17, dport=53)),
    "first6": (ETHER / IP6 / IPv6ExtHdrFragment(m=1) / UDP(dport=53),
               dict(fragment=acl.FIRST, proto=17, dport=None)),
    "first6_chain": (ETHER / IP6 / IPv6ExtHdrFragment(m=1) / IPv6ExtHdrDestOpt() / UDP(),
                     dict(fragment=acl.FIRST, proto=17)),
    "later6": (ETHER / IP6 / IPv6ExtHdrFragment(offset=9, nh=17) / Raw(bytes(30)),
               dict(fragment=acl.LATER, proto=17, sport=None)),
    "later6_chain": (ETHER / IP6 / IPv6ExtHdrFragment(offset=9, nh=60) / Raw(bytes(30)),
                     dict(fragment=acl.LATER, proto=None)),
    "later6_behind": (ETHER / IP6 / IPv6ExtHdrHopByHop() / IPv6ExtHdrFragment(offset=9, nh=6) /
                      Raw(bytes(30)), dict(fragment=acl.LATER, proto=6)),
    "128_bytes": (ETHER / IP6 / LONG / LONG / UDP(dport=1), dict(dport=1, fragment=acl.NONE)),
    "136_bytes": (ETHER / IP6 / LONG / LONG / IPv6ExtHdrDestOpt() / UDP(dport=1),
                  dict(dport=None, proto=None, fragment=acl.UNKNOWN, dst=DST6)),
}


def tower(count):
    """A packet with so many extension headers."""
    packet = ETHER / IP6
    for _ in range(count):
        packet /= IPv6ExtHdrDestOpt()
    return packet / UDP(dport=1)


MADE["eight"] = (tower(8), dict(dport=1, proto=17, fragment=acl.NONE))
MADE["nine"] = (tower(9), dict(dport=None, proto=None, fragment=acl.UNKNOWN, ip=6))
MADE = {name: (bytes(packet), fields) for name, (packet, fields) in MADE.items()}


@pytest.mark.parametrize("name", MADE)
def test_packets_of_scapy_have_their_fields(name):
    frame, fields = MADE[name]
    parsed = acl.parse(frame)
    assert {field: parsed.fields.get(field) for field in fields} == fields, parsed
    assert not parsed.truncated, parsed


# The bytes that each header needs, for fields to be there: a frame's length, and what it then has.
CUTS = {
    "tag": {13: ("dmac", False), 14: ("dmac", True), 17: ("vlan", False), 18: ("vlan", True),
            37: ("src", False), 38: ("src", True), 41: ("sport", False), 42: ("sport", True)},
    "flags": {47: ("flags", False), 48: ("flags", True)},
    "icmp": {35: ("icmp", False), 36: ("code", True)},
    "vxlan": {49: ("tunnel", False), 50: ("tunnel", True)},
    "ip6": {53: ("ip", False), 54: ("ip", True), 57: ("dport", False), 58: ("dport", True)},
    "icmp6": {55: ("icmp", False), 56: ("icmp", True)},
}


@pytest.mark.parametrize("name", CUTS)
def test_fields_are_there_when_their_bytes_are(name):
    for length, (field, there) in CUTS[name].items():
        parsed = acl.parse(MADE[name][0][:length])
        assert (field in parsed.fields) == there, (length, parsed)


# Length from which a packet is no longer truncated: that of its last header that rules know.
WHOLE = {"arp": 14, "tag": 14 + 4 + 20 + 8, "flags": 54, "sctp": 46, "icmp": 42, "ip6": 74,
         "icmp6": 58, "first": 34, "later": 34, "first6": 62, "later6": 62, "vxlan": 42,
         "three_tags": 22, "nine": 14 + 40 + 64, "icmp6_in_ip4": 34}


@pytest.mark.parametrize("name", WHOLE)
def test_packet_is_truncated_below_the_length_of_its_headers(name):
    frame = MADE[name][0]
    truncated = [acl.parse(frame[:length]).truncated for length in range(len(frame) + 1)]
    assert truncated == [length < WHOLE[name] for length in range(len(frame) + 1)]


@pytest.mark.parametrize("at, value", [(14, 0x65), (14, 0x35), (14, 0x44)])
def test_malformed_header_counts_as_truncated(at, value):
    frame = bytearray(MADE["icmp"][0])
    frame[at] = value
    parsed = acl.parse(bytes(frame))
    assert parsed.truncated and set(parsed.fields) == {"dmac", "smac", "type"}


def scapy_says(frame):
    """The fields that scapy's layers show, of a whole packet."""
    packet = Ether(frame)
    says = {name: int(mac.replace(":", ""), 16)
            for name, mac in (("dmac", packet.dst), ("smac", packet.src))}
    ip = packet.payload
    while isinstance(ip, Dot1Q):
        ip = ip.payload
    if isinstance(ip, IP):
        says.update(proto=ip.proto, dscp=ip.tos >> 2, src=int.from_bytes(ip_bytes(ip.src), "big"),
                    dst=int.from_bytes(ip_bytes(ip.dst), "big"))
        whole = not ip.frag and not ip.flags & 1
    elif isinstance(ip, IPv6):
        says.update(dscp=ip.tc >> 2)
        whole = True
    else:
        return says
    for layer in (TCP, UDP, SCTP):
        if whole and isinstance(ip.payload, layer):
            says.update(sport=ip.payload.sport, dport=ip.payload.dport)
            if layer is TCP:
                says["flags"] = int(ip.payload.flags) & 0xFF
    return says


def ip_bytes(text):
    return bytes(map(int, text.split(".")))


def test_generated_frames_read_as_scapy_reads_them():
    """But for what follows extension headers: it knows no bound for these."""
    rng = random.Random(3)
    seen = Counter()
    for _ in range(1500):
        wish = {"fragment": acl.NONE} if rng.random() < 0.7 else {}
        frame = acl_frames.Frame(rng, wish).bytes()
        fields = acl.parse(frame).fields
        if fields["type"] in acl.VLAN_TYPES or fields.get("fragment") not in (acl.NONE, None):
            continue
        if b"\x91\x00" in frame[12:22]:
            continue  # a tag that scapy does not know
        for field, value in scapy_says(frame).items():
            assert fields[field] == value, (field, frame.hex())
            seen[field] += 1
    assert min(seen.values()) > 100 and set(seen) >= {"flags", "sport", "proto", "dscp", "smac"}, seen


# Rules, and the packets of MADE that they match, all others not.
MATCH = {
    "rule 1 permit": set(MADE),
    "rule 1 permit type 0x0806": {"arp"},
    "rule 1 permit type 0x86dd": {n for n, (frame, _) in MADE.items()
                                  if frame[12:14] == b"\x86\xdd"},
    "rule 1 permit vlan 3": {"two_tags", "three_tags"},
    "rule 1 permit smac 02:00:00:00:00:02 dmac 02:00:00:00:00:00/ff:ff:ff:ff:ff:fe": set(MADE),
    "rule 1 permit smac 02:00:00:00:00:03": set(),
    "rule 1 permit proto tcp": {"two_tags", "options", "flags", "later"},
    "rule 1 permit proto tcp ip6": {"ip6", "later6_behind"},
    "rule 1 permit proto tcp type 0x86dd": {"ip6", "later6_behind"},
    "rule 1 permit src 10.1.2.0/24 dst 192.0.2.9 proto icmp": {"icmp"},
    "rule 1 permit dst fe80::/10 dscp 10 proto tcp": {"ip6", "later6_behind"},
    "rule 1 permit dscp 46 proto 17": {"tag", "vxlan", "vxlan_of_nobody"},
    "rule 1 permit dport 1-80 proto tcp": {"two_tags", "options", "flags"},
    "rule 1 permit dport 53": set(),
    "rule 1 permit dport 53 ip6": {"chain", "atomic"},
    "rule 1 permit established": {"two_tags"},
    "rule 1 permit established ip6": {"ip6"},
    "rule 1 permit flags SA/SARF": {"two_tags"},
    "rule 1 permit flags C/CS": {"flags"},
    "rule 1 permit icmp 0-3": {"icmp"},
    "rule 1 permit icmp 3 code 0-3": set(),
    "rule 1 permit icmp 128 proto icmp6": {"icmp6"},
    "rule 1 permit fragment first": {"first"},
    "rule 1 permit fragment later,first": {"later", "first"},
    "rule 1 permit fragment later,first ip6": {n for n in MADE if n.startswith(("first6", "later6"))},
    "rule 1 permit fragment unknown ip6": {"136_bytes", "nine"},
    "rule 1 permit tunnel 5000": {"vxlan"},
}


@pytest.mark.parametrize("line", MATCH)
def test_rule_matches_these_packets_and_no_others(line):
    rule = acl.read_rule(line)
    found = {name for name, (frame, _) in MADE.items() if rule.matches(acl.parse(frame).fields)}
    assert found == MATCH[line]


LIST = """# a list
default deny
truncated deny
rule 9 count precedence 1 proto udp # counted only
rule 4 port 2 precedence 1 vlan 7
rule 2 class 7 precedence 2 proto tcp log
rule 3 permit type 0x0806
"""


@pytest.mark.parametrize("name, verdict, ident", [
    ("arp", ("permit", 0), 3), ("tag", ("port", 2), 4), ("flags", ("class", 7), 2),
    ("vxlan", ("deny", 0), 9), ("icmp", ("deny", 0), None)])
def test_first_rule_decides_by_precedence_and_id(name, verdict, ident):
    found, rule = acl.read(LIST).verdict(acl.parse(MADE[name][0]))
    assert (found, rule and rule.id) == (verdict, ident)


def test_truncated_packets_are_denied_before_any_rule_or_are_as_others():
    cut = acl.parse(MADE["flags"][0][:40])
    assert acl.read(LIST).verdict(cut) == (("deny", 0), None)
    (verdict, _), rule = acl.read(LIST.replace("truncated deny", "")).verdict(cut)
    assert verdict == "class" and rule.id == 2 and rule.log


@pytest.mark.parametrize("line", ["rule 1 permit deny", "rule 1 permit proto tcp proto udp",
                                  "rule 1 permit nothing 1", "rule 1 permit dport 9-8",
                                  "rule 1 permit vlan 4095", "rule 1 permit dscp 64"])
def test_bad_lines_are_refused(line):
    with pytest.raises(acl.BadLine):
        acl.read_rule(line)


def test_frames_for_a_rule_match_it_or_just_miss_it():
    """Of those that are not damaged, half and half, and each field of rules is missed alone."""
    rng = random.Random(8)
    rules = acl.read(acl_frames.RuleMaker(rng).file(300)).rules
    outcomes, missed = Counter(), Counter()
    for rule in rules * 20:
        fields = acl.parse(acl_frames.for_rule(rng, rule)).fields
        fails = [test.name for test in rule.tests if not test.holds(fields.get(test.field))]
        outcomes[min(len(fails), 2)] += 1
        missed.update(fails if len(fails) == 1 else [])
    assert min(outcomes.values()) > 1500, outcomes
    assert set(missed) >= {"smac", "dmac", "vlan", "src", "dst", "proto", "dscp", "sport", "dport",
                           "flags", "established", "icmp", "code", "fragment", "tunnel"}, missed
