# SPDX-License-Identifier: BSD-3-Clause
"""Makes frames that visit every rule of IPv4 forwarding, from a seed: same seed, same frames.

Each frame is labelled "group/detail" and says what should become of it (a drop reason, or None
for forwarded), known from how it was made and not from the oracle; test_oracle.py compares the two.
"""

import itertools
import random
import struct
from collections import Counter
from typing import NamedTuple

import oracle

# IPv6, ARP, MPLS, PPPoE, 802.3 lengths, and what a sloppy compare takes for 0x0800.
_OTHER_ETHERTYPES = (0x86DD, 0x0806, 0x8847, 0x8864, 0x05DC, 0x0000, 0x0008, 0x0801, 0x0900, 0xFFFF)

# Nested prefixes, and the addresses beside them that none covers.
_PREFIXES = (
    "10.0.0.0/8 10.1.0.0/16 10.1.2.0/24 10.1.2.128/25 10.1.2.3/32 10.1.2.4/31 172.16.0.0/12 "
    "192.0.2.0/30 198.51.100.0/24 1.0.0.0/32 126.255.255.255/32 128.0.0.0/32 223.255.255.255/32 "
    "223.0.0.0/9"
).split()
_UNROUTED = (
    "9.255.255.255 11.0.0.0 1.0.0.1 126.255.255.254 128.0.0.1 172.15.255.255 172.32.0.0 "
    "192.0.1.255 192.0.2.4 198.51.99.255 198.51.101.0 203.0.113.9 223.128.0.0 222.255.255.255"
).split()
# Prefixes in space that is never forwarded to, so that a martian frame shows which rule dropped
# it: that for martians, or the one for a missing route.
_MARTIAN_PREFIXES = "0.0.0.0/9 127.0.0.0/9 224.0.0.0/5 240.0.0.0/5".split()
_MARTIANS_ROUTED = (
    "0.0.0.0 0.127.255.255 127.0.0.0 127.0.0.1 224.0.0.0 224.0.0.251 231.255.255.255 240.0.0.0 "
    "247.255.255.255"
).split()
_MARTIANS_UNROUTED = (
    "0.128.0.0 0.255.255.255 127.128.0.1 127.255.255.255 232.0.0.0 239.255.255.255 248.0.0.0 "
    "255.255.255.254 255.255.255.255"
).split()

PORTS = 3  # that ROUTES lead to
ROUTES = [
    oracle.route(prefix, i % PORTS, f"02:00:5e:00:01:{i:02x}")
    for i, prefix in enumerate(_PREFIXES + _MARTIAN_PREFIXES)
]
_FORWARDING, _MARTIAN = ROUTES[: len(_PREFIXES)], ROUTES[len(_PREFIXES) :]


class Frame(NamedTuple):
    """A frame, what it is an example of, and the reason that must drop it (None: forwarded)."""

    label: str
    expect: str
    data: bytes


def _address(text):
    return int.from_bytes(bytes(map(int, text.split("."))), "big")


class Spec:
    """An Ethernet frame with an IPv4 packet before it is put together. Sound as it is born; a
    field that is None gets its right value."""

    def __init__(self, rng):
        self.rng = rng
        self.mac = bytearray(rng.randbytes(12))
        self.mac[0] &= 0xFE
        self.tag = b""
        self.ethertype = oracle.ETHERTYPE_IPV4
        self.version = 4
        self.ihl = rng.choice((5, 5, 5, rng.randint(6, 15)))
        self.options = None
        self.tos, self.protocol = rng.randbytes(2)
        self.total = None
        self.id, self.fragment = rng.randrange(65536), rng.choice((0, 0x4000, 0x2000, 0x00B9))
        self.ttl = rng.randint(2, 255)
        self.checksum = None
        self.checksum_error = 0
        self.source = rng.randrange(1 << 32)
        self.destination = routed(rng)
        self.payload = rng.randbytes(rng.choice((0, 1, 8, rng.randrange(100), rng.randrange(1000))))
        self.padding = b""
        self.cut = None  # length to cut the frame to

    def header(self):
        """The IPv4 header, with the options that its IHL had room for when first called."""
        if self.options is None:
            self.options = self.rng.randbytes(max(self.ihl - 5, 0) * 4)
        total = 20 + len(self.options) + len(self.payload) if self.total is None else self.total
        fields = (self.version << 4 | self.ihl, self.tos, total, self.id, self.fragment, self.ttl,
                  self.protocol, 0, self.source, self.destination)
        header = struct.pack("!BBHHHBBHII", *fields) + self.options
        right = oracle.checksum(header) if self.checksum is None else self.checksum
        return header[:10] + (right ^ self.checksum_error).to_bytes(2, "big") + header[12:]

    def frame(self):
        """The frame's bytes."""
        ethertype = self.ethertype.to_bytes(2, "big")
        data = bytes(self.mac) + self.tag + ethertype + self.header() + self.payload + self.padding
        return data[: self.cut]

    def aim(self, checksum):
        """Chooses the identification such that the header's checksum is the one given."""
        self.id, self.checksum = 0, None
        self.id = (oracle.checksum(self.header()) - checksum) % 0xFFFF
        self.checksum = checksum  # said outright for 0xffff, which reads as 0 but is not computed

    def fit(self, length):
        """Sizes the payload such that the frame has a given length, if it can be that short."""
        room = length - oracle.ETHER - self.ihl * 4
        self.payload = self.rng.randbytes(max(room, 0))
        self.cut = length


def routed(rng):
    """An address that some route of ROUTES covers and that is no martian."""
    prefix = rng.choice(_FORWARDING).prefix
    return int(prefix.network_address) + rng.randrange(prefix.num_addresses)


# The faults, in the order in which the rules look for them. Each takes a Spec, the fault that it
# shares the frame with (or None), and the longest frame that is forwarded. A fault that shortens
# the frame leaves in place the bytes that the other one is in.


def _short_ethernet(spec, other, _limit):
    spec.cut = spec.rng.randrange(1 if other == "group_mac" else 0, 14)


def _group_mac(spec, _other, _limit):
    spec.mac[0] |= 1
    if spec.rng.random() < 0.3:
        spec.mac[:6] = b"\xff" * 6


def _vlan(spec, _other, _limit):
    tpid = spec.rng.choice(oracle.ETHERTYPES_VLAN)
    if spec.rng.random() < 0.5:
        spec.tag = struct.pack("!HH", tpid, spec.rng.randrange(65536))
    else:
        # No tag behind the type: to a program that overlooks it, this is the IPv4 header and
        # whatever else is wrong with that.
        spec.ethertype = tpid


def _other_ethertype(spec, _other, _limit):
    spec.ethertype = spec.rng.choice(_OTHER_ETHERTYPES)


def _short_ip(spec, other, _limit):
    seen = {"bad_version": 15, "beyond_frame": 18, "total_below_header": 18, "ttl_spent": 23}
    spec.cut = spec.rng.randrange(seen.get(other, 14), 34)


def _bad_version(spec, other, _limit):
    if spec.rng.random() < 0.5:
        spec.version = spec.rng.choice((0, 3, 5, 6, 15))
    else:
        spec.header()  # settles the options: only the IHL lies
        spec.ihl = spec.rng.randint(0, 4)
        if other == "total_below_header":
            spec.ihl = max(spec.ihl, 1)
            spec.total = spec.rng.randrange(spec.ihl * 4)


def _beyond_frame(spec, other, _limit):
    how = spec.rng.randrange(3)
    if other == "total_below_header" or (how == 0 and other != "too_big"):
        spec.ihl, spec.options = spec.rng.randint(6, 15), None
        spec.cut = spec.rng.randrange(34, 14 + spec.ihl * 4)
        if other == "total_below_header":
            spec.total = spec.rng.randrange(spec.ihl * 4)
    elif how == 1 and other != "too_big":
        spec.payload += b"\x00"
        whole = 14 + len(spec.header()) + len(spec.payload)
        spec.cut = whole - spec.rng.randint(1, len(spec.payload))
    else:
        there = len(spec.header()) + len(spec.payload) + len(spec.padding)
        spec.total = spec.rng.choice((there + 1, spec.rng.randint(there + 1, 65535), 65535))


def _total_below_header(spec, _other, _limit):
    spec.total = spec.rng.choice((0, spec.ihl * 4 - 1, spec.rng.randrange(spec.ihl * 4)))


def _bad_checksum(spec, _other, _limit):
    # Not 0xffff, which only writes a checksum of 0 in its other form.
    spec.checksum_error = spec.rng.choice((1, 0x0100, 0x8000, spec.rng.randint(1, 0xFFFE)))


def _martian(spec, other, _limit):
    some = _MARTIANS_UNROUTED + (_MARTIANS_ROUTED if other != "no_route" else [])
    spec.destination = _address(spec.rng.choice(some))


def _no_route(spec, other, _limit):
    if other != "martian":
        spec.destination = _address(spec.rng.choice(_UNROUTED))


def _ttl_spent(spec, _other, _limit):
    spec.ttl = spec.rng.randint(0, 1)


def _too_big(spec, _other, limit):
    more = limit + spec.rng.choice((1, 2, spec.rng.randint(1, 600))) - 14 - len(spec.header())
    if spec.rng.random() < 0.5:
        spec.payload = spec.rng.randbytes(more)
    else:
        spec.padding = spec.rng.randbytes(more - len(spec.payload))


FAULTS = {
    "short_ethernet": ("truncated", _short_ethernet),
    "group_mac": ("l2_not_unicast", _group_mac),
    "vlan": ("vlan_unknown", _vlan),
    "other_ethertype": ("not_ip4", _other_ethertype),
    "short_ip": ("truncated", _short_ip),
    "bad_version": ("bad_header", _bad_version),
    "beyond_frame": ("truncated", _beyond_frame),
    "total_below_header": ("bad_header", _total_below_header),
    "bad_checksum": ("bad_checksum", _bad_checksum),
    "martian": ("martian_dst", _martian),
    "no_route": ("no_route", _no_route),
    "ttl_spent": ("ttl_expired", _ttl_spent),
    "too_big": ("mtu_exceeded", _too_big),
}
# The second fault would lie in bytes that the first one cuts off.
_IMPOSSIBLE = {("short_ethernet", name) for name in list(FAULTS)[2:]} | {
    ("short_ip", name) for name in ("bad_checksum", "martian", "no_route", "too_big")
}
PAIRS = [pair for pair in itertools.combinations(FAULTS, 2) if pair not in _IMPOSSIBLE]


def _faulty(rng, limit):
    """One fault a frame, then two. No two groups are of one size, so that no two wrong answers
    can cancel out in a count of drops by reason."""
    groups = [(name,) for name in FAULTS] + PAIRS
    for size, names in enumerate(groups, start=80):
        for _ in range(size):
            spec = Spec(rng)
            # The last first: the first one may then overrule it, and cuts what is final.
            for name in reversed(names):
                other = names[1 - names.index(name)] if len(names) == 2 else None
                FAULTS[name][1](spec, other, limit)
            kind = "fault" if len(names) == 1 else "pair"
            yield Frame(f"{kind}/{'+'.join(names)}", FAULTS[names[0]][0], spec.frame())


def _lengths(rng, limit):
    """A frame of every length to beyond the limit for short ones, then around every power of two
    and every multiple of an mbuf's room."""
    sizes = set(range(1600)) if limit < 1600 else set(range(200))
    for step in (2048, limit):
        for middle in range(step, limit + step + 1, step):
            sizes.update(range(middle - 3, middle + 4))
    for size in sorted(sizes):
        spec = Spec(rng)
        spec.ihl = 5
        spec.fit(size)
        expect = "truncated" if size < 34 else "mtu_exceeded" if size > limit else None
        yield Frame(f"length/{size}", expect, spec.frame())


def _header_ends(rng, _limit):
    """Frames that end around the end of their header, total lengths that end around the frame's."""
    for ihl in range(5, 16):
        for behind in (-2, -1, 0, 1, 2):
            spec = Spec(rng)
            spec.ihl = ihl
            spec.fit(14 + ihl * 4 + behind)
            yield Frame(f"header_end/{behind}", "truncated" if behind < 0 else None, spec.frame())
        for delta in (-2, -1, 0, 1, 2):
            spec = Spec(rng)
            spec.ihl = ihl
            spec.payload = rng.randbytes(rng.randint(2, 50))
            spec.total = ihl * 4 + len(spec.payload) + delta
            yield Frame(f"total_length/{delta}", "truncated" if delta > 0 else None, spec.frame())
        for below in (0, 1, 2):
            spec = Spec(rng)
            spec.ihl = ihl
            spec.total = ihl * 4 - below
            yield Frame(f"total_header/{-below}", "bad_header" if below else None, spec.frame())


# 0xfeff updates to 0 and not to 0xffff (RFC 1624 section 3); 0 and 0xffff both write a zero.
_CHECKSUM_EDGES = [0xFEFF, 0xFFFF, 0x0000]


def _checksums(rng, _limit):
    """Every checksum whose update for a smaller TTL carries, and as many that do not. The classic
    mistakes are at fe00 to ffff; carries of a little-endian update at xxff."""
    aims = [*range(0xFE00, 0x10000), *range(0x00FF, 0x10000, 0x0100), *range(0x0200)]
    for checksum in aims * 2 + _CHECKSUM_EDGES * 20:
        spec = Spec(rng)
        spec.aim(checksum)
        detail = "carry" if checksum >= 0xFF00 else "plain"
        if checksum in _CHECKSUM_EDGES:
            detail = f"{checksum:04x}"
        yield Frame(f"checksum/{detail}", None, spec.frame())


def _fields(rng, _limit):
    """Options of every length, every TTL, padding behind the packet, the edges of every prefix."""
    for ihl in list(range(6, 16)) * 40:
        spec = Spec(rng)
        spec.ihl = ihl
        yield Frame(f"options/{ihl}", None, spec.frame())
    for ttl in [0, 1, 2, 255] * 60 + list(range(256)):
        spec = Spec(rng)
        spec.ttl = ttl
        yield Frame(f"ttl/{ttl}", "ttl_expired" if ttl < 2 else None, spec.frame())
    for size in list(range(1, 47)) * 10:
        spec = Spec(rng)
        spec.padding = rng.randbytes(size)
        yield Frame(f"padding/{size}", None, spec.frame())
    for r in ROUTES * 8:
        for address in (r.prefix[0], r.prefix[-1]):
            spec = Spec(rng)
            spec.destination = int(address)
            expect = "martian_dst" if r in _MARTIAN else None
            yield Frame(f"prefix/{r.prefix}", expect, spec.frame())


def _chained(rng, limit):
    """Long packets, over several mbufs once the limit allows it, with options and padding."""
    for _ in range(300):
        spec = Spec(rng)
        spec.fit(rng.randint(max(limit - 8000, 700), limit))
        if rng.random() < 0.3:
            spec.total = rng.randint(spec.ihl * 4, 200)
        yield Frame("long/packet", None, spec.frame())


def generate(seed, max_pkt_len=1518, count=24000):
    """`count` frames in random order: every group, then ordinary frames."""
    rng = random.Random(seed)
    limit = max_pkt_len - oracle.CRC
    groups = (_faulty, _lengths, _header_ends, _checksums, _fields, _chained)
    made = [frame for group in groups for frame in group(rng, limit)]
    if len(made) > count:
        raise ValueError(f"the groups alone are {len(made)} frames, more than {count}")
    made += [Frame("plain/packet", None, Spec(rng).frame()) for _ in range(count - len(made))]
    rng.shuffle(made)
    return made


def traffic(address, count=100):
    """Good packets to one address, each different from the others."""
    made = []
    for i in range(count):
        spec = Spec(random.Random(i))
        spec.destination, spec.payload = _address(address), i.to_bytes(4, "big")
        made.append(spec.frame())
    return made


def groups(made):
    """How many frames each label has."""
    return Counter(frame.label for frame in made)
