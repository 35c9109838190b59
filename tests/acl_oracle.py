# SPDX-License-Identifier: BSD-3-Clause
"""What an access list says of a frame, worked out a second time: a reader of rule files, a parser
of frames, and the first rule that matches, found by trying them all.

Written from the format's description and the RFCs (791 IPv4, 8200 IPv6, 4302 AH, 6946 atomic
fragments, 7348 VXLAN, 9293 TCP), and to share no method with the C code: a frame is a dictionary of
the fields that it has, a rule a list of tests, and each test is a range or some bits of one field.
"""

import ipaddress
from typing import NamedTuple

VLAN_TYPES = (0x8100, 0x88A8, 0x9100)
IPV4, IPV6 = 0x0800, 0x86DD
ICMP, TCP, UDP, ICMP6, SCTP = 1, 6, 17, 58, 132
HOP_BY_HOP, ROUTING, FRAGMENT, AH, DESTINATION = 0, 43, 44, 51, 60
EXTENSIONS = (HOP_BY_HOP, ROUTING, FRAGMENT, AH, DESTINATION)
MOST_EXTENSIONS, MOST_EXTENSION_BYTES = 8, 128
# The shortest header of each protocol whose fields rules can match. A shorter one still has those
# fields that are there.
SHORTEST = {TCP: 20, SCTP: 12, UDP: 8, ICMP: 8, ICMP6: 4}
VXLAN_PORT = 4789
FIN, SYN, RST, PSH, ACK, URG, ECE, CWR = (1 << bit for bit in range(8))
FLAGS = dict(zip("FSRPAUEC", (FIN, SYN, RST, PSH, ACK, URG, ECE, CWR)))
PROTOCOLS = {"icmp": ICMP, "tcp": TCP, "udp": UDP, "sctp": SCTP, "icmp6": ICMP6}
NONE, FIRST, LATER, UNKNOWN = 1, 2, 4, 8
FRAGMENTS = {"none": NONE, "first": FIRST, "later": LATER, "unknown": UNKNOWN}
# Fields that only an IP packet has: a rule with one is of IPv4 unless it says that it is of IPv6.
IP_FIELDS = {"src", "dst", "proto", "dscp", "sport", "dport", "tunnel", "flags", "icmp", "code",
             "fragment"}


def number(data, at, size):
    """A big-endian number in some bytes."""
    return int.from_bytes(data[at : at + size], "big")


class Reader:
    """The fields of one frame: a dictionary in .fields, and .truncated."""

    def __init__(self, frame):
        self.frame, self.fields, self.truncated = frame, {}, False
        if self.lacks(0, 14):
            return
        self.fields["dmac"], self.fields["smac"] = number(frame, 0, 6), number(frame, 6, 6)
        at = self.ethernet()
        kind = self.fields.get("type")
        if kind == IPV4:
            self.ip4(at)
        elif kind == IPV6:
            self.ip6(at)

    def lacks(self, at, size):
        """Whether the frame ends before size bytes from here; then it is truncated."""
        if at + size > len(self.frame):
            self.truncated = True
            return True
        return False

    def ethernet(self):
        """Tags and the ether type after them. Returns where that header starts."""
        at, kind = 14, number(self.frame, 12, 2)
        for tag in range(2):
            if kind not in VLAN_TYPES:
                break
            if self.lacks(at, 4):
                return None
            if tag == 0:
                self.fields["vlan"] = number(self.frame, at, 2) & 0xFFF
            kind = number(self.frame, at + 2, 2)
            at += 4
        self.fields["type"] = kind
        return at

    def ip4(self, at):
        """An IPv4 packet (RFC 791 3.1)."""
        if self.lacks(at, 20):
            return
        ip = self.frame[at:]
        size = (ip[0] & 0xF) * 4
        if ip[0] >> 4 != 4 or size < 20:
            self.truncated = True
            return
        if self.lacks(at, size):
            return
        more, offset = number(ip, 6, 2) & 0x2000, number(ip, 6, 2) & 0x1FFF
        kind = LATER if offset else FIRST if more else NONE
        self.fields.update(ip=4, dscp=ip[1] >> 2, proto=ip[9], src=number(ip, 12, 4),
                           dst=number(ip, 16, 4), fragment=kind)
        if kind == NONE:
            self.transport(at + size, ICMP)

    def ip6(self, at):
        """An IPv6 packet (RFC 8200 section 3)."""
        if self.lacks(at, 40):
            return
        ip = self.frame[at:]
        if ip[0] >> 4 != 6:
            self.truncated = True
            return
        self.fields.update(ip=6, dscp=number(ip, 0, 2) >> 6 & 0x3F, src=number(ip, 8, 16),
                           dst=number(ip, 24, 16))
        proto, at, kind = self.extensions(ip[6], at + 40)
        self.fields["fragment"] = kind
        if kind == UNKNOWN:
            return
        if proto is not None:
            self.fields["proto"] = proto
        if kind == NONE:
            self.transport(at, ICMP6)

    def extensions(self, proto, at):
        """Walks the headers between IPv6's and what it carries. Returns the protocol, where it
        starts, and which fragment this is."""
        start, kind = at, NONE
        for _ in range(MOST_EXTENSIONS):
            if proto not in EXTENSIONS:
                return proto, at, kind
            if self.lacks(at, 8):
                return None, at, UNKNOWN
            following, length = self.frame[at], self.frame[at + 1]
            size = {FRAGMENT: 8, AH: (length + 2) * 4}.get(proto, (length + 1) * 8)
            if self.lacks(at, size) or at + size - start > MOST_EXTENSION_BYTES:
                return None, at, UNKNOWN
            if proto == FRAGMENT:
                offset, more = number(self.frame, at + 2, 2) >> 3, self.frame[at + 3] & 1
                if offset:
                    return None if following in EXTENSIONS else following, at, LATER
                kind = FIRST if more else kind
            proto, at = following, at + size
        return (None, at, UNKNOWN) if proto in EXTENSIONS else (proto, at, kind)

    def has(self, at, size):
        """Whether so many bytes are there."""
        return at + size <= len(self.frame)

    def transport(self, at, icmp):
        """What a packet that is no fragment carries."""
        proto = self.fields["proto"]
        if proto not in (TCP, SCTP, UDP, icmp):
            return
        self.lacks(at, SHORTEST[proto])
        if proto == icmp:
            if self.has(at, 2):
                self.fields.update(icmp=self.frame[at], code=self.frame[at + 1])
        elif self.has(at, 4):
            self.fields.update(sport=number(self.frame, at, 2), dport=number(self.frame, at + 2, 2))
        if proto == TCP and self.has(at, 14):
            self.fields["flags"] = self.frame[at + 13]
        if proto == UDP and self.has(at, 16):
            self.vxlan(at + 8)

    def vxlan(self, at):
        """VXLAN's header (RFC 7348 section 5), of which only IPv4's is read."""
        if self.fields["ip"] == 4 and self.fields["dport"] == VXLAN_PORT and self.frame[at] & 0x08:
            self.fields["tunnel"] = number(self.frame, at + 4, 3)


class Packet(NamedTuple):
    """What rules can see of a frame."""

    fields: dict
    truncated: bool


def parse(frame):
    """The packet in a frame."""
    reader = Reader(frame)
    return Packet(reader.fields, reader.truncated)


# A test of one field: RANGE from a to b; BITS of b as in a; SOME of the bits of a.
RANGE, BITS, SOME = range(3)


class Test(NamedTuple):
    """One condition of a rule."""

    name: str  # of the rule's field
    field: str  # of the packet's
    shape: int
    a: int
    b: int

    def holds(self, value):
        """Whether a value of the packet fulfils it; a field that the packet lacks never does."""
        if value is None:
            return False
        if self.shape == RANGE:
            return self.a <= value <= self.b
        return value & self.b == self.a if self.shape == BITS else value & self.a != 0


class Rule(NamedTuple):
    """A rule: the packets that pass all its tests do what its action says."""

    id: int
    precedence: int
    action: str  # class, permit, deny, count, port
    argument: int  # of class and port
    log: bool
    tests: tuple

    def matches(self, fields):
        """Whether a packet matches."""
        for test in self.tests:
            value = fields.get(test.field)
            if value is None or not test.holds(value):
                return False
        return True


class BadLine(Exception):
    """A line that is no rule."""


def _int(text, low, high):
    try:
        value = int(text, 16) if text.startswith("0x") else int(text)
    except ValueError as bad:
        raise BadLine(text) from bad
    if not low <= value <= high:
        raise BadLine(f"{text} is not from {low} to {high}")
    return value


def _range(text, high):
    first, _, last = text.partition("-")
    pair = _int(first, 0, high), _int(last or first, 0, high)
    if pair[0] > pair[1]:
        raise BadLine(text)
    return RANGE, *pair


def _one(text, low, high):
    value = _int(text, low, high)
    return RANGE, value, value


def _mac(text):
    address, _, mask = text.partition("/")
    return BITS, *(int(part.replace(":", ""), 16) for part in (address, mask or "ff" * 6))


def _flags(text):
    value, mask = (sum(FLAGS[c] for c in part) for part in text.split("/"))
    return BITS, value, mask


def _prefix(text):
    net = ipaddress.ip_network(text)
    return BITS, int(net.network_address), int(net.netmask)


_VALUES = {
    "type": lambda t: _one(t, 0x600, 0xFFFF),
    "vlan": lambda t: _one(t, 1, 4094),
    "smac": _mac,
    "dmac": _mac,
    "src": _prefix,
    "dst": _prefix,
    "proto": lambda t: _one(str(PROTOCOLS.get(t, t)), 0, 255),
    "dscp": lambda t: _one(t, 0, 63),
    "sport": lambda t: _range(t, 65535),
    "dport": lambda t: _range(t, 65535),
    "tunnel": lambda t: _one(t, 0, (1 << 24) - 1),
    "flags": _flags,
    "icmp": lambda t: _range(t, 255),
    "code": lambda t: _range(t, 255),
    "fragment": lambda t: (SOME, sum(FRAGMENTS[kind] for kind in set(t.split(","))), 0),
}


def _family(given):
    """The test of IPv4 or IPv6 that a rule's other fields imply, in a list; or none."""
    six = "ip6" in given or given.get("proto") == "icmp6" or \
        any(":" in given.get(name, "") for name in ("src", "dst"))
    inner = IP_FIELDS & set(given) or "established" in given
    if six or (inner and int(given.get("type", "0"), 16) == IPV6):
        return [Test("ip", "ip", RANGE, 6, 6)]
    return [Test("ip", "ip", RANGE, 4, 4)] if inner else []


def read_rule(line):
    """A line "rule ID ACTION ..." as a Rule."""
    words = line.split()
    given, action, argument = {}, None, 0
    while words:
        word = words.pop(0)
        if word in given or (word in ("permit", "deny", "count", "class", "port") and action):
            raise BadLine(f"{word}: given twice")
        if word in ("permit", "deny", "count"):
            action = word
        elif word in ("class", "port"):
            action, argument = word, _int(words.pop(0), 0, 65535)
        elif word in ("log", "established", "ip6"):
            given[word] = ""
        elif word in _VALUES or word in ("rule", "precedence"):
            given[word] = words.pop(0)
        else:
            raise BadLine(f"{word}: unknown")
    tests = _family(given)
    tests += [Test(name, name, *_VALUES[name](value)) for name, value in given.items()
              if name in _VALUES]
    if "established" in given:
        tests.append(Test("established", "flags", SOME, ACK | RST, 0))
    return Rule(_int(given["rule"], 0, 2**32 - 1), _int(given.get("precedence", "0"), 0, 2**32 - 1),
                action, argument, "log" in given, tuple(tests))


class List(NamedTuple):
    """A rule file: its rules in the order in which they are tried, and what happens beside them."""

    rules: list
    default: str = "permit"
    truncated: str = None  # None: by what the frame has

    def first(self, packet):
        """The first rule that matches, or None."""
        for rule in self.rules:
            if rule.matches(packet.fields):
                return rule
        return None

    def verdict(self, packet):
        """What becomes of a packet: (action, argument), action one of permit, deny and port, or
        class, which also permits; and the rule to count it, or None."""
        if packet.truncated and self.truncated == "deny":
            return ("deny", 0), None
        rule = self.first(packet)
        if rule is None or rule.action == "count":
            return (self.default, 0), rule
        return (rule.action, rule.argument), rule


def read(text):
    """A rule file as a List."""
    rules, lines = [], {"default": "permit", "truncated": None}
    for line in text.splitlines():
        line = line.partition("#")[0].strip()
        if line.startswith(("default ", "truncated ")):
            name, value = line.split()
            lines[name] = value
        elif line:
            rules.append(read_rule(line))
    rules.sort(key=lambda rule: (rule.precedence, rule.id))
    return List(rules, **lines)


# How hy-test-classify writes a key, field by field.
_DECIMAL = ("vlan", "proto", "dscp", "sport", "dport", "icmp", "code", "tunnel", "fragment")
_HEX = {"dmac": 12, "smac": 12, "type": 4, "flags": 2}


def describe(packet):
    """A packet's fields in one line."""
    fields = packet.fields
    words = [f"{name}={fields[name]:0{digits}x}" for name, digits in _HEX.items() if name in fields]
    if "ip" in fields:
        digits = 8 if fields["ip"] == 4 else 32
        words += [f"ip={fields['ip']}", f"src={fields['src']:0{digits}x}",
                  f"dst={fields['dst']:0{digits}x}"]
    words += [f"{name}={fields[name]}" for name in _DECIMAL if name in fields]
    return " ".join(words + ["truncated"] * packet.truncated)
