# SPDX-License-Identifier: BSD-3-Clause
"""What l3fwd-graph must do with a frame, worked out a second time from the RFCs.

Written to be checked by eye against RFC 791 (header), RFC 1071 (checksum) and RFC 1812 section
5 (what a router verifies and changes), and to share no method with the C code: the checksum of a
forwarded packet is computed from nothing instead of updated, and the longest prefix is found by
trying every length.
"""

from ipaddress import IPv4Network
from typing import NamedTuple

ETHER = 14
IPV4_MIN = 20
CRC = 4
ETHERTYPE_IPV4 = 0x0800
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


class Route(NamedTuple):
    """A prefix and where it leads."""

    prefix: IPv4Network
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
    drops: dict  # reason: count, for every reason
    verdicts: list  # a reason or a Forwarded for each frame, in order


def route(prefix, port, mac):
    """A Route from text."""
    return Route(IPv4Network(prefix), port, bytes.fromhex(mac.replace(":", "")))


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


class Table:
    """Longest prefix match by trying the lengths from 32 down."""

    def __init__(self, routes):
        self.by_length = {}
        for r in routes:
            table = self.by_length.setdefault(r.prefix.prefixlen, {})
            table[int(r.prefix.network_address)] = r
        self.lengths = sorted(self.by_length, reverse=True)

    def lookup(self, address):
        """The route for an address (an int), or None."""
        for length in self.lengths:
            found = self.by_length[length].get(address >> (32 - length) << (32 - length))
            if found:
                return found
        return None


def verdict(frame, table, port_macs, max_pkt_len):
    """What becomes of one frame: the first reason that applies, or Forwarded."""
    if len(frame) < ETHER:
        return "truncated"
    if frame[0] & 1:  # the group bit: broadcast and multicast
        return "l2_not_unicast"
    ethertype = int.from_bytes(frame[12:14], "big")
    if ethertype in ETHERTYPES_VLAN:
        return "vlan_unknown"
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
    result = Result({port: [] for port in port_macs}, dict.fromkeys(REASONS, 0), [])
    for frame in frames:
        what = verdict(frame, table, port_macs, max_pkt_len)
        result.verdicts.append(what)
        if isinstance(what, Forwarded):
            result.out[what.port].append(what.frame)
        else:
            result.drops[what] += 1
    return result
