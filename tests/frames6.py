# SPDX-License-Identifier: BSD-3-Clause
"""Makes IPv6 frames that visit every rule of forwarding, from a seed: same seed, same frames. As in
frames.py, each says what should become of it, known from how it was made."""

import itertools
import random
from ipaddress import IPv6Address

import frames
import oracle

PORTS = frames.PORTS
_PREFIXES = (
    "2001:db8::/32 2001:db8:1::/48 2001:db8:1:2::/64 2001:db8:1:2:8000::/65 2001:db8:1:2::3/128 "
    "2001:db8:1:2::4/127 2001:db8:ffff:ffff::/64 2400::/12 2a00:1000::/21 2a00:1234:5678:9a00::/57 "
    "3fff:ffff:ffff:ffff:ffff:ffff:ffff:fff0/124 fc00::/7 fec0::/10 64:ff9b::/96 ::2/127"
).split()
# In space that is never forwarded to, so that it shows which rule dropped a frame.
_MARTIAN_PREFIXES = "ff00::/9 fe80::/11 ::/127".split()
_UNROUTED = (
    "2001:db7:ffff::1 2001:db9:: 2410::1 23ff:ffff::9 2a00:1800:: 3fff:ffff:ffff:ffff:ffff:ffff:ffff:ffef "
    "fe00::1 fbff::1 64:ff9b::1:0:0 ::4 4000::1 8000::"
).split()
_MARTIANS = (
    ":: ::1 ff00:: ff02::1 ff7f:ffff:: ff80::1 ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff fe80:: fe80::1 "
    "fe9f:ffff::1 fea0::1 febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff"
).split()
# Beside martians: forwarded from, and to if they have a route.
_NEARLY = "::2 ::3 fe7f:ffff::1 fec0:: feff::1 fc00::1 0:0:0:1:: 0:1:: ::ffff:192.0.2.1".split()

ROUTES = [
    oracle.route(prefix, i % PORTS, f"02:00:5e:00:06:{i:02x}")
    for i, prefix in enumerate(_PREFIXES + _MARTIAN_PREFIXES)
]
_FORWARDING = ROUTES[: len(_PREFIXES)]
BOTH = frames.ROUTES + ROUTES


def routed(rng):
    """An address that some route covers and that is no martian."""
    prefix = rng.choice(_FORWARDING).prefix
    return int(prefix.network_address) + rng.randrange(prefix.num_addresses)


def _packed(text):
    return int(IPv6Address(text))


class Spec:
    """An Ethernet frame with an IPv6 packet before it is put together. Sound as it is born."""

    def __init__(self, rng):
        self.rng = rng
        self.mac = bytearray(rng.randbytes(12))
        self.mac[0] &= 0xFE
        self.ethertype = oracle.ETHERTYPE_IPV6
        self.version = 6
        self.class_and_label = rng.randrange(1 << 28)
        self.length = None
        self.next = rng.choice((6, 17, 58, 59, 50))
        self.hops = rng.randint(2, 255)
        self.source = rng.choice((_packed("2001:db8::5"), int(IPv6Address(rng.randbytes(16))),
                                  _packed(rng.choice(_NEARLY))))
        while oracle.is_martian6(self.source):
            self.source = rng.randrange(1 << 128)
        self.destination = routed(rng)
        self.payload = rng.randbytes(rng.choice((0, 1, 8, rng.randrange(100), rng.randrange(1000))))
        self.padding = rng.randbytes(rng.choice((0, 0, 0, rng.randrange(40))))
        self.cut = None

    def frame(self):
        """The frame's bytes."""
        length = len(self.payload) if self.length is None else self.length
        header = (self.version << 28 | self.class_and_label).to_bytes(4, "big")
        header += length.to_bytes(2, "big") + bytes([self.next, self.hops])
        header += self.source.to_bytes(16, "big") + self.destination.to_bytes(16, "big")
        data = bytes(self.mac) + self.ethertype.to_bytes(2, "big") + header + self.payload
        return (data + self.padding)[: self.cut]

    def fit(self, length):
        """Sizes the payload such that the frame has a given length."""
        self.padding = b""
        self.payload = self.rng.randbytes(length - 54)


# The faults, in the order in which the rules look for them, as in frames.py.


def _group_mac(spec, _other, _limit):
    spec.mac[0] |= 1


def _other_ethertype(spec, _other, _limit):
    spec.ethertype = spec.rng.choice((0x0806, 0x86DC, 0xDD86, 0x86DE, 0x8847))


def _short_ip(spec, other, _limit):
    spec.cut = spec.rng.randrange(15 if other == "bad_version" else 14, 54)


def _bad_version(spec, _other, _limit):
    spec.version = spec.rng.choice([v for v in range(16) if v != 6])


def _jumbogram(spec, _other, _limit):
    spec.length, spec.next = 0, oracle.HOP_BY_HOP


def _beyond_frame(spec, other, _limit):
    if other == "jumbogram":  # which has no length: the frame ends inside the header
        spec.cut = 53
        return
    spec.padding = b""
    spec.length = len(spec.payload) + spec.rng.choice((1, 2, 1000))
    if other == "too_big":
        spec.length = 0xFFFF


def _martian_dst(spec, _other, _limit):
    spec.destination = _packed(spec.rng.choice(_MARTIANS))


def _martian_src(spec, _other, _limit):
    spec.source = _packed(spec.rng.choice(_MARTIANS))


def _no_route(spec, other, _limit):
    if other != "martian_dst":
        spec.destination = _packed(spec.rng.choice(_UNROUTED))


def _hops_spent(spec, _other, _limit):
    spec.hops = spec.rng.choice((0, 1))


def _too_big(spec, _other, limit):
    spec.fit(limit + spec.rng.choice((1, 2, 100)))


FAULTS = {
    "group_mac": ("l2_not_unicast", _group_mac),
    "other_ethertype": ("not_ip4", _other_ethertype),
    "short_ip": ("truncated", _short_ip),
    "bad_version": ("bad_header", _bad_version),
    "jumbogram": ("bad_header", _jumbogram),
    "beyond_frame": ("truncated", _beyond_frame),
    "martian_dst": ("martian_dst", _martian_dst),
    "martian_src": ("martian_src", _martian_src),
    "no_route": ("no_route", _no_route),
    "hops_spent": ("ttl_expired", _hops_spent),
    "too_big": ("mtu_exceeded", _too_big),
}
# A frame cut inside its header is not too long as well, nor has it a length that is too great.
_IMPOSSIBLE = {("short_ip", "too_big"), ("jumbogram", "beyond_frame"),
               ("jumbogram", "too_big")}
PAIRS = [p for p in itertools.combinations(FAULTS, 2) if p not in _IMPOSSIBLE]


def _faulty(rng, names, limit):
    spec = Spec(rng)
    order = sorted(names, key=lambda n: n != "too_big")  # the payload's size first
    for name in order:
        others = [n for n in names if n != name]
        FAULTS[name][1](spec, others[0] if others else None, limit)
    return spec.frame()


def _chain(rng, spec):
    """Extension headers before the payload, which no router but the last looks at (RFC 7045)."""
    kinds = [rng.choice((43, 44, 60, 51, 135)) for _ in range(rng.randrange(1, 5))]
    if rng.random() < 0.5:
        kinds.insert(0, oracle.HOP_BY_HOP)
    data = b""
    for kind, after in zip(kinds, kinds[1:] + [spec.next]):
        data += bytes([after, 0]) + rng.randbytes(6)
    spec.next = kinds[0]
    spec.payload = data + spec.payload
    return "hop_by_hop" if kinds[0] == oracle.HOP_BY_HOP else "other"


def generate(seed, max_pkt_len=1518, plain=11000):
    """Frames, shuffled: at least 100 of each fault, 100 of each pair of faults that a frame can
    have, chains of extension headers, limits of fields, and sound ones."""
    rng = random.Random(seed)
    limit = max_pkt_len - oracle.CRC
    made = []
    for name, (reason, _) in FAULTS.items():
        made += [frames.Frame(f"fault/{name}", reason, _faulty(rng, [name], limit))
                 for _ in range(100)]
    for pair in PAIRS:
        made += [frames.Frame(f"pair/{'+'.join(pair)}", FAULTS[pair[0]][0],
                              _faulty(rng, pair, limit)) for _ in range(100)]
    for _ in range(3000):
        spec = Spec(rng)
        made.append(frames.Frame(f"chain/{_chain(rng, spec)}", None, spec.frame()))
    for hops in range(256):
        spec = Spec(rng)
        spec.hops = hops
        made.append(frames.Frame(f"hops/{hops}", None if hops > 1 else "ttl_expired",
                                 spec.frame()))
    for route in _FORWARDING:  # both ends of each prefix
        for at in (0, -1):
            spec = Spec(rng)
            spec.destination = int(route.prefix[at])
            made.append(frames.Frame(f"prefix/{route.prefix}", None, spec.frame()))
    for size, reason in ((54, None), (limit, None), (limit + 1, "mtu_exceeded")):
        spec = Spec(rng)
        spec.fit(size)
        made.append(frames.Frame(f"length/{size}", reason, spec.frame()))
    made += [frames.Frame("plain/packet", None, Spec(rng).frame()) for _ in range(plain)]
    rng.shuffle(made)
    return made
