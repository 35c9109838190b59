# SPDX-License-Identifier: BSD-3-Clause
"""Makes rule files of all fields, and frames that rules ask for or just miss, from a seed."""

import ipaddress
import random

import acl_oracle as acl
import frames

PROTOCOLS = (acl.TCP, acl.TCP, acl.UDP, acl.UDP, acl.ICMP, acl.ICMP6, acl.SCTP, 50, 59, 255)
PORTS = (0, 22, 53, 80, 443, 1023, 1024, 4789, 8080, 65535)


def _networks(bits, count=12):
    """A few addresses that share prefixes of many lengths."""
    rng = random.Random(bits)
    base = 0x0A010203 if bits == 32 else 0x20010DB8_00010002_00000000_00000003
    return [base ^ rng.randrange(1 << rng.randrange(bits + 1)) for _ in range(count)]


ADDRESSES = {4: _networks(32), 6: _networks(128)}
MACS = [0x020000000001, 0x020000000002, 0x0200000000FF, 0x01005E000001, 0xFFFFFFFFFFFF]
TYPES = [0x0806, 0x8847, 0x88CC, 0x0600]


# Kinds of lists: the IP version of a rule, or 2 for a rule of layer 2.
KINDS = {"mixed": (4, 4, 4, 6, 6, 6, 2), "ip4": (4,), "ip6": (6,), "many": (4, 4, 6, 2),
         "wide": (4, 6, 2)}


class RuleMaker:
    """Random rules, as lines of a rule file; with records, for addresses and ports in these."""

    def __init__(self, rng, kind="mixed", records=()):
        self.rng, self.versions = rng, KINDS[kind]
        self.most = 1 if kind == "wide" else 99  # fields of a rule
        self.addresses, self.ports = ADDRESSES, PORTS
        if records:
            packets = [acl.parse(frame).fields for frame in rng.sample(records, 400)]
            self.addresses = {family: [p[name] for p in packets if p.get("ip") == family
                                       for name in ("src", "dst")] for family in (4, 6)}
            self.ports = [p[name] for p in packets for name in ("sport", "dport") if name in p]

    def chance(self, share):
        """True with this probability."""
        return self.rng.random() < share

    def prefix(self, family):
        """An IP prefix as text."""
        bits = 32 if family == 4 else 128
        size = self.rng.choice((8, 16, 24, 31, bits, self.rng.randint(1, bits),
                                self.rng.choice((33, 64, 65, 96, 127)) if family == 6 else 20))
        address = self.rng.choice(self.addresses[family]) >> (bits - size) << (bits - size)
        return f"{ipaddress.ip_address(address.to_bytes(bits // 8, 'big'))}/{size}"

    def span(self, highest, few):
        """A range as text: one value, up to an end, or any."""
        low, high = sorted((self.rng.choice(few), self.rng.randint(0, highest)))
        return self.rng.choice((f"{self.rng.choice(few)}", f"{low}-{high}", f"0-{high}",
                                f"{low}-{highest}"))

    def mac(self):
        """A MAC address, often with a mask."""
        mask = self.rng.choice(((1 << 48) - 1, 0xFFFFFF000000, 0x010000000000,
                                self.rng.randint(1, (1 << 48) - 1)))
        value = self.rng.choice(MACS) & mask
        return "/".join(part.to_bytes(6, "big").hex(":") for part in (value, mask))

    def flags(self):
        """TCP flags as text."""
        mask = self.rng.randint(1, 255)
        value = mask & self.rng.choice((acl.SYN, acl.SYN | acl.ACK, self.rng.randrange(256)))
        return "/".join("".join(c for c, bit in acl.FLAGS.items() if part & bit)
                        for part in (value, mask))

    def ip_fields(self, six):
        """Fields of a rule for IP packets."""
        family = 6 if six else 4
        made = {}
        for name in ("src", "dst"):
            if self.chance(0.4):
                made[name] = self.prefix(family)
        if self.chance(0.2):
            made["dscp"] = str(self.rng.choice((0, 46, self.rng.randrange(64))))
        kind = self.rng.choice(("none", "none", "proto", "ports", "ports", "tcp", "icmp",
                                "fragment", "both", "tunnel"))
        if kind == "proto":
            made["proto"] = str(self.rng.choice(PROTOCOLS))
        if kind in ("ports", "both"):
            if self.chance(0.7):
                made["proto"] = self.rng.choice(("tcp", "udp", "sctp"))
            for name in self.rng.choice((["sport"], ["dport"], ["sport", "dport"])):
                made[name] = self.span(65535, self.ports)
        if kind == "tcp":
            made.update(self.rng.choice(({"flags": self.flags()}, {"established": None},
                                         {"proto": "tcp", "flags": self.flags()},
                                         {"established": None, "flags": "S/SF"})))
        if kind == "icmp":
            made["icmp"] = self.span(255, (0, 3, 8, 128, 135))
            if self.chance(0.5):
                made["code"] = self.span(255, (0, 1, 4))
        if kind == "fragment":
            kinds = self.rng.sample(["none", "first", "later"] + ["unknown"] * six,
                                    self.rng.randint(1, 2))
            made["fragment"] = ",".join(kinds)
        if kind == "tunnel" and not six:
            made["tunnel"] = str(self.rng.choice((0, 5000, (1 << 24) - 1)))
        return made

    def fields(self):
        """The fields of one rule."""
        made = {}
        kind = self.rng.choice(self.versions)
        if self.chance(0.15):
            made["vlan"] = str(self.rng.choice((1, 7, 4094)))
        for name in ("smac", "dmac"):
            if self.chance(0.5 if kind == 2 else 0.1):
                made[name] = self.mac()
        if kind == 2:
            if self.chance(0.6):
                made["type"] = hex(self.rng.choice(TYPES + [acl.IPV4, acl.IPV6]))
            return made or {"type": "0x0806"}
        made.update(self.ip_fields(kind == 6))
        names = self.rng.sample(list(made), min(len(made), self.most))
        made = {name: made[name] for name in names}
        if kind == 6 and self.chance(0.5):
            made["ip6"] = None
        elif kind == 6 or self.chance(0.1):
            made["type"] = "0x86dd" if kind == 6 else "0x0800"
        return made

    def line(self, ident, actions):
        """One rule."""
        words = [f"rule {ident}", self.rng.choice(actions)]
        broad, fields = True, {}
        while broad and (not fields or self.most > 1 and self.chance(0.8)):
            fields = self.fields()
            broad = len(set(fields) - {"type", "ip6"}) < 2  # few, which come late: others are found
        words.append(f"precedence {self.rng.randrange(8) + 8 * broad}")
        if self.chance(0.2) and "deny" in actions:
            words.append("log")
        pairs = [name if value is None else f"{name} {value}" for name, value in fields.items()]
        self.rng.shuffle(pairs)
        return " ".join(words + pairs)

    def file(self, count, actions=("permit", "deny", "count", "class 7"), lines=()):
        """A rule file."""
        made = [*lines, *(self.line(ident, actions) for ident in range(1, count + 1))]
        self.rng.shuffle(made)
        return "\n".join(made) + "\n"


class Frame:
    """A frame before it is put together: the fields that were wished, the others random."""

    def __init__(self, rng, wish):
        self.rng, self.wish = rng, wish
        self.kind = wish.get("type")
        six = wish.get("ip") or {acl.IPV4: 4, acl.IPV6: 6}.get(self.kind)
        if self.kind is None:
            self.kind = acl.IPV6 if (six or rng.choice((4, 6))) == 6 else acl.IPV4

    def get(self, name, *others):
        """What was wished for a field, or one of others."""
        return self.wish[name] if name in self.wish else self.rng.choice(others)

    def ethernet(self):
        """Addresses, tags and the type."""
        rng = self.rng
        macs = b"".join(self.get(name, *MACS, rng.randrange(1 << 48)).to_bytes(6, "big")
                        for name in ("dmac", "smac"))
        tags = rng.choice((0, 0, 0, 0, 1, 2, 3))
        if "vlan" in self.wish:
            tags = max(tags, 1)
        for tag in range(tags):
            vlan = self.get("vlan", 0, 1, 7, 4094) if tag == 0 else rng.randrange(4096)
            macs += rng.choice(acl.VLAN_TYPES).to_bytes(2, "big")
            macs += (rng.randrange(16) << 12 | vlan).to_bytes(2, "big")
        return macs + self.kind.to_bytes(2, "big")

    def proto(self, six):
        """The protocol that the other wishes need."""
        wish = self.wish
        if "proto" in wish:
            return wish["proto"]
        if "flags" in wish:
            return acl.TCP
        if "icmp" in wish or "code" in wish:
            return acl.ICMP6 if six else acl.ICMP
        if "tunnel" in wish:
            return acl.UDP
        if "sport" in wish or "dport" in wish:
            return self.rng.choice((acl.TCP, acl.UDP, acl.SCTP))
        return self.rng.choice((*PROTOCOLS, self.rng.randrange(256)))

    def payload(self, proto):
        """What the packet carries."""
        rng = self.rng
        if proto in (acl.ICMP, acl.ICMP6):
            head = bytes([self.get("icmp", 0, 3, 8, 128, 135, rng.randrange(256)),
                          self.get("code", 0, 1, 4, rng.randrange(256))])
            return head + rng.randbytes(rng.choice((6, 6, 20)))
        port = self.get("dport", *PORTS, rng.randrange(65536))
        if "tunnel" in self.wish and "dport" not in self.wish:
            port = acl.VXLAN_PORT
        data = self.get("sport", *PORTS, rng.randrange(65536)).to_bytes(2, "big")
        data += port.to_bytes(2, "big")
        if proto == acl.TCP:
            flags = self.get("flags", acl.SYN, acl.ACK, acl.SYN | acl.ACK, rng.randrange(256))
            return data + rng.randbytes(8) + bytes([rng.choice((0x50, 0x50, 0xF0, 0)), flags]) + \
                rng.randbytes(6 + rng.choice((0, 0, 12)))
        data += rng.randbytes(4)
        if proto == acl.UDP:
            vni = self.get("tunnel", 0, 5000, (1 << 24) - 1).to_bytes(3, "big")
            data += bytes([rng.choice((8, 8, 8, 0xFF, 0, 0xF7)), 0, 0, 0]) + vni + rng.randbytes(1)
        return data + rng.randbytes(rng.choice((0, 4, 30)))

    def ip4(self, proto, payload):
        """An IPv4 packet around a payload."""
        rng = self.rng
        size = rng.choice((5, 5, 5, 6, 10, 15))
        kind = self.get("fragment", *(acl.NONE,) * 12, acl.FIRST, acl.LATER)
        offset = {acl.FIRST: 0x2000, acl.LATER: rng.choice((1, 0x1FFF, 0x2001, 0x3FFF, 100))}
        word = offset.get(kind, rng.choice((0, 0x4000, 0x8000)))
        head = bytes([0x40 | size, self.get("dscp", 0, 46, 63) << 2 | rng.randrange(4)])
        head += (size * 4 + len(payload)).to_bytes(2, "big") + rng.randbytes(2)
        head += word.to_bytes(2, "big") + bytes([rng.randint(2, 255), proto, 0, 0])
        for name in ("src", "dst"):
            head += self.get(name, *ADDRESSES[4], rng.randrange(1 << 32)).to_bytes(4, "big")
        head += rng.randbytes(size * 4 - 20)
        total = frames.oracle.checksum(head).to_bytes(2, "big")
        return head[:10] + total + head[12:] + payload

    def extension(self, kind, following):
        """One extension header; sizes differ, so that long chains end around each bound."""
        rng = self.rng
        if kind == acl.FRAGMENT:  # of a whole packet (RFC 6946)
            reserved = rng.choice((0, 2, 6))
            return bytes([following, rng.randrange(256), 0, reserved]) + rng.randbytes(4)
        units = rng.choice((0, 0, 0, 1, 2, 14, rng.randrange(16)))
        if kind == acl.AH:
            return bytes([following, units + 1]) + rng.randbytes((units + 3) * 4 - 2)
        return bytes([following, units]) + rng.randbytes((units + 1) * 8 - 2)

    def chain(self, proto):
        """IPv6's extension headers: (first protocol, bytes)."""
        rng = self.rng
        count = rng.choice((0, 0, 0, 0, 0, 1, 1, 2, 3, 7, 8, 9))
        kind = self.get("fragment", *(acl.NONE,) * 12, acl.FIRST, acl.LATER, acl.UNKNOWN)
        if kind == acl.UNKNOWN:
            count = rng.choice((8, 9, 10))
        kinds = [rng.choice((*acl.EXTENSIONS, acl.ROUTING, 135, 139, 140)
                            if rng.random() < 0.1 else acl.EXTENSIONS) for _ in range(count)]
        if kind in (acl.FIRST, acl.LATER):
            kinds.insert(rng.randrange(min(len(kinds), 6) + 1), -kind)
        data, following = b"", proto
        for this in reversed(kinds):
            if this < 0:
                offset = {acl.FIRST: 1, acl.LATER: rng.randint(1, 8191) << 3 | rng.randrange(8)}
                part = bytes([following, 0]) + offset[-this].to_bytes(2, "big") + rng.randbytes(4)
                this = acl.FRAGMENT
            else:
                part = self.extension(this, following)
            data, following = part + data, this
        return following, data

    def ip6(self, proto, payload):
        """An IPv6 packet around a payload."""
        rng = self.rng
        following, chain = self.chain(proto)
        dscp = self.get("dscp", 0, 46, 63)
        head = (6 << 28 | dscp << 22 | rng.randrange(1 << 22)).to_bytes(4, "big")
        head += (len(chain) + len(payload)).to_bytes(2, "big")
        head += bytes([following, rng.randint(2, 255)])
        for name in ("src", "dst"):
            head += self.get(name, *ADDRESSES[6], rng.randrange(1 << 128)).to_bytes(16, "big")
        return head + chain + payload

    def bytes(self):
        """The frame."""
        front = self.ethernet()
        if self.kind not in (acl.IPV4, acl.IPV6):
            return front + self.rng.randbytes(self.rng.choice((0, 20, 46)))
        six = self.kind == acl.IPV6
        proto = self.proto(six)
        payload = self.payload(proto)
        return front + (self.ip6 if six else self.ip4)(proto, payload)


def damaged(rng, frame):
    """A frame as it is, cut anywhere, or with a byte changed."""
    how = rng.random()
    if how < 0.08:
        return frame[: rng.randrange(len(frame) + 1)]
    if how < 0.12 and frame:
        at = rng.randrange(min(len(frame), 80))
        return frame[:at] + bytes([rng.randrange(256)]) + frame[at + 1 :]
    return frame


def _value(rng, test, width):
    """A value that passes a test."""
    if test.shape == acl.RANGE:
        return rng.choice((test.a, test.b, rng.randint(test.a, test.b)))
    if test.shape == acl.BITS:
        free = ((1 << width) - 1) & ~test.b
        return test.a | rng.choice((0, free, rng.randrange(1 << width) & free))
    return rng.choice([bit for bit in (1 << n for n in range(8)) if bit & test.a])


WIDTHS = {"smac": 48, "dmac": 48, "type": 16, "vlan": 12, "proto": 8, "dscp": 6, "sport": 16,
          "dport": 16, "tunnel": 24, "flags": 8, "icmp": 8, "code": 8, "fragment": 4, "ip": 3}


def width(field, wish):
    """Bits of a field."""
    return WIDTHS.get(field) or (128 if wish.get("ip") == 6 else 32)


def wish_for(rng, rule):
    """Fields with which a frame matches a rule."""
    wish = {}
    for test in rule.tests:
        bits = width(test.field, wish)
        if test.field in wish and test.shape == acl.SOME:
            if not test.holds(wish[test.field]):
                wish[test.field] |= acl.ACK
        else:
            wish[test.field] = _value(rng, test, bits)
    return wish


def just_beside(rng, test, bits):
    """A value that just misses a test, or None if all values pass it."""
    if test.shape == acl.RANGE:
        beside = [v for v in (test.a - 1, test.b + 1) if 0 <= v < 1 << bits]
    elif test.shape == acl.BITS:
        ones = [1 << n for n in range(bits) if test.b >> n & 1]
        beside = [test.a ^ bit for bit in (ones[0], ones[-1], rng.choice(ones))]
    else:
        beside = [1 << n for n in range(bits) if not test.a >> n & 1]
    return rng.choice(beside) if beside else None


def edges(test, bits):
    """The values around the ends of a test: lo-1, lo, hi, hi+1, and each bit of a mask."""
    if test.shape == acl.RANGE:
        return [v for v in {test.a - 1, test.a, test.b, test.b + 1} if 0 <= v < 1 << bits]
    if test.shape == acl.BITS:
        return [test.a, test.a | ~test.b & (1 << bits) - 1, *(test.a ^ 1 << n for n in range(bits))]
    return [1 << n for n in range(bits)]


def at_edges(rng, rule):
    """For each field of a rule, a frame at each of its edges that matches in all other fields."""
    for test in rule.tests:
        if test.field in ("ip", "type"):
            continue
        version = next((t.a for t in rule.tests if t.field == "ip"), 4)
        for value in edges(test, width(test.field, {"ip": version})):
            yield Frame(rng, {**wish_for(rng, rule), test.field: value}).bytes()


def for_rule(rng, rule):
    """A frame that a rule asks for; of each two, one that just misses one of its fields."""
    wish = wish_for(rng, rule)
    tests = [test for test in rule.tests if test.field not in ("ip", "type")]
    if tests and rng.random() < 0.5:
        test = rng.choice(tests)
        value = just_beside(rng, test, width(test.field, wish))
        if value is not None:
            wish[test.field] = value
    elif rng.random() < 0.04 and wish.get("ip"):
        wish["ip"] = 10 - wish["ip"]
        wish.pop("type", None)
        wish = {name: value for name, value in wish.items() if name not in ("src", "dst")}
    return damaged(rng, Frame(rng, wish).bytes())


def anything(rng):
    """A frame that no rule has asked for."""
    kind = rng.random()
    if kind < 0.05:
        return rng.randbytes(rng.randrange(100))
    wish = {"type": rng.choice(TYPES)} if kind < 0.1 else {}
    return damaged(rng, Frame(rng, wish).bytes())
