# SPDX-License-Identifier: BSD-3-Clause
"""What l3fwd-graph must do with a frame, worked out a second time from the RFCs.

Written to be checked by eye against RFC 791 (header), RFC 1071 (checksum), RFC 1812 section 5 (what
a router verifies and changes), RFC 8200 section 3 (IPv6's header) and RFC 4291 section 2 (addresses
that are not forwarded), and to share no method with the C code: the checksum of a
forwarded packet is computed from nothing instead of updated, and the longest prefix is found by
trying every length.
"""

from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import NamedTuple, Union

ETHER = 14
IPV4_MIN = 20
CRC = 4
IPV6_HEADER = 40
ETHERTYPE_IPV4 = 0x0800
ETHERTYPE_IPV6 = 0x86DD
HOP_BY_HOP = 0
ETHERTYPES_VLAN = (0x8100, 0x88A8, 0x9100)

# Every reason for which l3fwd-graph drops a frame. The oracle never says tx_full: that depends on
# the speed of a port, not on the frame.
REASONS = (
    "truncated",
    "l2_not_unicast",
    "vlan_unknown",
    "not_ip4",
    "bad_header",
    "bad_checksum",
    "martian_dst",
    "no_route",
    "ttl_expired",
    "mtu_exceeded",
    "tx_full",
)

# Reasons that only tables with an IPv6 prefix know.
REASONS6 = ("martian_src",)


class Route(NamedTuple):
    """A prefix and where it leads."""

    prefix: Union[IPv4Network, IPv6Network]
    port: int
    mac: bytes

    def line(self):
        """The route as a line of l3fwd-graph's route file."""
        return f"{self.prefix} port {self.port} mac {self.mac.hex(':')}"


class Forwarded(NamedTuple):
    """The verdict on a frame that leaves."""

    port: int
    frame: bytes


class Result(NamedTuple):
    """The verdict on many frames."""

    out: dict  # port: its frames, in order
    drops: dict  # reason: count, for every reason of the families that are forwarded
    verdicts: list  # a reason or a Forwarded for each frame, in order


def route(prefix, port, mac):
    """A Route from text."""
    return Route(ip_network(prefix), port, bytes.fromhex(mac.replace(":", "")))


def default_routes(ports):
    """The routes of l3fwd-graph without a route file: 198.18.N.0/24 to port N, up to port 7."""
    return [route(f"198.18.{n}.0/24", n, f"02:00:00:00:00:{n:02x}") for n in ports if n < 8]


def ones_complement_sum(data):
    """RFC 1071: the sum of the 16-bit words, carries added back in."""
    total = sum(int.from_bytes(data[i : i + 2], "big") for i in range(0, len(data), 2))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def checksum(header):
    """The checksum that belongs into a header, whatever its checksum field holds."""
    return 0xFFFF ^ ones_complement_sum(header[:10] + header[12:])


def is_martian(address):
    """An address that is no destination to forward to (RFC 1812 5.3.7)."""
    return address >> 28 in (0xE, 0xF) or address >> 24 in (0, 127)


MARTIANS6 = [IPv6Network(n) for n in ("::/128", "::1/128", "fe80::/10", "ff00::/8")]


def is_martian6(address):
    """An address from and to which no router forwards (RFC 4291 2.5.2, 2.5.3, 2.5.6), or a group
    of hosts (2.7)."""
    return any(
        address >> (128 - n.prefixlen) == int(n.network_address) >> (128 - n.prefixlen)
        for n in MARTIANS6
    )


class Table:
    """Longest prefix match by trying the lengths from the longest down, for each family."""

    def __init__(self, routes):
        self.by_length = {4: {}, 6: {}}
        for r in routes:
            table = self.by_length[r.prefix.version].setdefault(r.prefix.prefixlen, {})
            table[int(r.prefix.network_address)] = r
        self.lengths = {v: sorted(of, reverse=True) for v, of in self.by_length.items()}

    def lookup(self, address, version=4):
        """The route for an address (an int), or None."""
        bits = {4: 32, 6: 128}[version]
        for length in self.lengths[version]:
            found = self.by_length[version][length].get(
                address >> (bits - length) << (bits - length)
            )
            if found:
                return found
        return None

    def has_ip6(self):
        """Whether IPv6 is forwarded at all."""
        return bool(self.by_length[6])


def verdict6(frame, table, port_macs, max_pkt_len):
    """What becomes of a frame of ether type 0x86dd, if there is an IPv6 route."""
    packet = frame[ETHER:]
    if len(packet) < IPV6_HEADER:
        return "truncated"
    payload_length = int.from_bytes(packet[4:6], "big")
    if packet[0] >> 4 != 6:
        return "bad_header"
    if payload_length == 0 and packet[6] == HOP_BY_HOP:  # a jumbogram (RFC 2675)
        return "bad_header"
    if IPV6_HEADER + payload_length > len(packet):
        return "truncated"
    source = int.from_bytes(packet[8:24], "big")
    destination = int.from_bytes(packet[24:40], "big")
    if is_martian6(destination):
        return "martian_dst"
    if is_martian6(source):
        return "martian_src"
    found = table.lookup(destination, 6)
    if found is None:
        return "no_route"
    hop_limit = packet[7]
    if hop_limit <= 1:
        return "ttl_expired"
    if len(frame) > max_pkt_len - CRC:
        return "mtu_exceeded"
    ethernet = found.mac + port_macs[found.port] + frame[12:14]
    return Forwarded(found.port, ethernet + packet[:7] + bytes([hop_limit - 1]) + packet[8:])


def verdict(frame, table, port_macs, max_pkt_len):
    """What becomes of one frame: the first reason that applies, or Forwarded."""
    if len(frame) < ETHER:
        return "truncated"
    if frame[0] & 1:  # the group bit: broadcast and multicast
        return "l2_not_unicast"
    ethertype = int.from_bytes(frame[12:14], "big")
    if ethertype in ETHERTYPES_VLAN:
        return "vlan_unknown"
    if ethertype == ETHERTYPE_IPV6 and table.has_ip6():
        return verdict6(frame, table, port_macs, max_pkt_len)
    if ethertype != ETHERTYPE_IPV4:
        return "not_ip4"

    packet = frame[ETHER:]
    if len(packet) < IPV4_MIN:
        return "truncated"
    version, header_length = packet[0] >> 4, (packet[0] & 0xF) * 4
    total_length = int.from_bytes(packet[2:4], "big")
    if version != 4 or header_length < IPV4_MIN:
        return "bad_header"
    if header_length > len(packet) or total_length > len(packet):
        return "truncated"
    if total_length < header_length:
        return "bad_header"
    header = packet[:header_length]
    if ones_complement_sum(header) != 0xFFFF:
        return "bad_checksum"

    destination = int.from_bytes(header[16:20], "big")
    if is_martian(destination):
        return "martian_dst"
    found = table.lookup(destination)
    if found is None:
        return "no_route"
    ttl = header[8]
    if ttl <= 1:
        return "ttl_expired"
    if len(frame) > max_pkt_len - CRC:
        return "mtu_exceeded"

    header = header[:8] + bytes([ttl - 1]) + header[9:]
    header = header[:10] + checksum(header).to_bytes(2, "big") + header[12:]
    ethernet = found.mac + port_macs[found.port] + frame[12:14]
    return Forwarded(found.port, ethernet + header + packet[header_length:])


def forward(frames, routes, port_macs, max_pkt_len=1518):
    """Verdicts on all frames. port_macs maps each port to its own MAC address."""
    table = Table(routes)
    reasons = REASONS + (REASONS6 if table.has_ip6() else ())
    result = Result({port: [] for port in port_macs}, dict.fromkeys(reasons, 0), [])
    for frame in frames:
        what = verdict(frame, table, port_macs, max_pkt_len)
        result.verdicts.append(what)
        if isinstance(what, Forwarded):
            result.out[what.port].append(what.frame)
        else:
            result.drops[what] += 1
    return result
