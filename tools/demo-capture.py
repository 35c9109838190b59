#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the demo's capture: ordinary traffic of a router's port, with some malformed packets."""

import argparse
import os
import random
import stat
import struct
import sys

from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_RR, fragment
from scapy.layers.inet6 import ICMPv6EchoRequest, ICMPv6ND_NS, IPv6
from scapy.layers.l2 import ARP, Dot1Q, Ether
from scapy.error import Scapy_Exception
from scapy.packet import Raw
from scapy.utils import RawPcapReader

ETHERNET = 1  # DLT_EN10MB
GZIP = b"\x1f\x8b"
ROUTER = "02:70:63:61:70:00"  # the MAC of port net_pcap0
BROADCAST = "ff:ff:ff:ff:ff:ff"
WEB = [f"198.18.1.{host}" for host in range(10, 18)]
RESOLVER = "198.18.1.53"
MEDIA = [f"198.18.2.{host}" for host in range(20, 24)]
RNG = random.Random(2544)


def client():
    """A neighbour behind the receiving port: (Ethernet header, IPv4 address)."""
    host = RNG.randrange(2, 60)
    return Ether(src=f"02:00:0a:00:00:{host:02x}", dst=ROUTER), f"10.0.0.{host}"


def payload(length):
    return Raw(RNG.randbytes(length))


def tcp_flow():
    """The client's half of one web request."""
    eth, src = client()
    dst, sport, seq = RNG.choice(WEB), RNG.randrange(32768, 61000), RNG.getrandbits(31)
    ttl = RNG.choice([64, 64, 64, 128, 255, 2])

    def segment(flags, ack, seq, data=b""):
        ip = IP(src=src, dst=dst, ttl=ttl, id=RNG.getrandbits(16), flags="DF")
        options = [("MSS", 1460), ("SAckOK", ""), ("WScale", 7)] if flags == "S" else []
        tcp = TCP(sport=sport, dport=443, flags=flags, seq=seq, ack=ack, options=options)
        return eth / ip / tcp / Raw(data) if data else eth / ip / tcp

    request = RNG.randbytes(RNG.randrange(90, 600))
    end = seq + 1 + len(request)
    yield segment("S", 0, seq)
    yield segment("A", 1, seq + 1)
    yield segment("PA", 1, seq + 1, request)
    for n in range(1, RNG.randrange(3, 9)):
        yield segment("A", 1 + n * 1448, end)
    yield segment("FA", 12000, end)


def media_stream():
    """Forty frames of voice."""
    eth, src = client()
    ip = IP(src=src, dst=RNG.choice(MEDIA), tos=0xB8)
    udp = UDP(sport=RNG.randrange(16384, 32768) & ~1, dport=5004)
    return [eth / ip / udp / payload(172) for _ in range(40)]


def dns_queries():
    frames = []
    for _ in range(30):
        eth, src = client()
        udp = UDP(sport=RNG.randrange(1024, 65535), dport=53)
        frames.append(eth / IP(src=src, dst=RESOLVER) / udp / payload(RNG.randrange(29, 60)))
    return frames


def pings():
    eth, src = client()
    ip = IP(src=src, dst="198.18.2.1")
    return [eth / ip / ICMP(id=7, seq=n) / payload(size) for n, size in
            enumerate([0, 56, 56, 56, 120, 1000, 1472])]


def rare_but_right():
    """IP options, fragments, padding, a route more specific than another."""
    eth, src = client()
    recorded = IP(src=src, dst=WEB[0], options=[IPOption_RR(routers=["0.0.0.0"] * 3)])
    large = IP(src=src, dst=MEDIA[0], id=77) / UDP(sport=9, dport=9) / payload(4000)
    return ([eth / recorded / ICMP(), eth / recorded / UDP(dport=9) / payload(18)]
            + [eth / part for part in fragment(large, 1480)]
            + [eth / IP(src=src, dst=WEB[1]) / UDP(dport=9) / payload(2) / Raw(bytes(16))]
            + [eth / IP(src=src, dst=f"198.18.1.{200 + n}") / UDP(dport=123) / payload(48)
               for n in range(6)])


def not_for_us():
    """What a router drops, once for each reason that the demo can show."""
    eth, src = client()
    everyone = Ether(src=eth.src, dst=BROADCAST)
    web = IP(src=src, dst=WEB[2])
    datagram = UDP(sport=40000, dport=9) / payload(32)
    truncated = bytes(eth / web / datagram)[:30]
    return (
        [everyone / ARP(psrc=src, pdst=f"10.0.0.{n}") for n in range(61, 71)]
        + [eth / ARP(op=2, psrc=src, pdst="10.0.0.1")]
        + [everyone / IP(src="0.0.0.0", dst="255.255.255.255") / UDP(sport=68, dport=67)
           / payload(300)] * 3
        + [Ether(src=eth.src, dst="33:33:ff:00:00:01") / IPv6(dst="ff02::1:ff00:1")
           / ICMPv6ND_NS(tgt="fe80::1")] * 4
        + [eth / IPv6(src="2001:db8::2", dst="2001:db8:1::1") / ICMPv6EchoRequest(seq=n)
           for n in range(8)]
        + [eth / Dot1Q(vlan=100) / web / datagram] * 5
        + [eth / IP(src=src, dst=WEB[2], chksum=0x1BAD) / datagram] * 3
        + [eth / IP(src=src, dst=MEDIA[1], ttl=1) / UDP(sport=40000 + n, dport=33434 + n)
           for n in range(6)]
        + [eth / IP(src=src, dst=f"203.0.113.{n}") / TCP(dport=80, flags="S")
           for n in range(1, 13)]
        + [eth / IP(src=src, dst=dst) / datagram for dst in ("127.0.0.1", "240.0.0.1")]
        + [eth / IP(src=src, dst=WEB[3], version=6) / datagram]
        + [eth / web / UDP(dport=9) / payload(1600)] * 2
        + [Raw(truncated), Raw(truncated[:10])]
    )


PCAP_MAGICS = {struct.pack(order + "I", magic): order for order in "<>"
               for magic in (0xA1B2C3D4, 0xA1B23C4D)}
PCAPNG_ORDERS = {struct.pack(order + "I", 0x1A2B3C4D): order for order in "<>"}
PCAPNG_PACKETS = (2, 3, 6)  # types of blocks


def pcap_records(file):
    """The sizes of what follows each header of a record of a pcap file, and that each is a packet."""
    order = PCAP_MAGICS[file.read(4)]
    file.seek(24)
    while head := file.read(16):
        yield (struct.unpack(order + "8xI4x", head)[0] if len(head) == 16 else 0xFFFFFFFF), True


def pcapng_blocks(file):
    """The sizes of what follows each header of a block of a pcapng file, and whether each is a
    packet."""
    order = "<"
    while head := file.read(12):
        if head[:4] == b"\n\r\r\n":
            order = PCAPNG_ORDERS.get(head[8:], order)
        if len(head) < 12:
            yield 0xFFFFFFFF, True
            return
        kind, size = struct.unpack(order + "II", head[:8])
        yield max(size, 12) - 12, kind in PCAPNG_PACKETS


def cut_after(path):
    """How many packets precede the one inside which a capture ends; None if there is no such one."""
    whole, size = 0, os.path.getsize(path)
    with open(path, "rb") as file:
        magic = file.read(4)
        file.seek(0)
        for body, is_packet in pcap_records(file) if magic in PCAP_MAGICS else pcapng_blocks(file):
            if file.tell() + body > size:
                return whole
            file.seek(body, os.SEEK_CUR)
            whole += is_packet
    return None


def check_end(path):
    """Says on standard error if a capture ends inside a packet: libpcap hands the whole ones out
    before it notices. Ends the program if there are none."""
    whole = cut_after(path)
    if whole == 0:
        sys.exit(f"{printable(path)}: is cut inside its first packet")
    if whole is not None:
        print(f"{printable(path)}: is cut inside packet {whole + 1}; the {whole} before it are "
              "forwarded", file=sys.stderr)


def check_whole(paths):
    """Ends the program, saying so, if a pcap file has lost its end."""
    for path in paths:
        if os.path.getsize(path) < 24 or cut_after(path) is not None:
            sys.exit(f"{printable(path)}: is not whole; is the disk full?")


def printable(path):
    """A path for a terminal."""
    return "".join(c if c.isprintable() else "?" for c in path)


def check(path):
    """Ends the program, saying why, if a file is no capture of Ethernet frames."""
    try:
        if not stat.S_ISREG(os.stat(path).st_mode):
            sys.exit(f"{printable(path)}: is not a regular file")
        with open(path, "rb") as file:
            if file.read(len(GZIP)) == GZIP:  # scapy would unpack it, and libpcap does not
                sys.exit(f"{printable(path)}: is compressed; gunzip it first")
        capture = RawPcapReader(path)
        first = next(capture, None)
    except (OSError, Scapy_Exception, EOFError, struct.error) as error:
        sys.exit(f"{printable(path)}: {printable(getattr(error, 'strerror', None) or str(error))}")
    # pcap has one link type a file, pcapng one a packet.
    linktype = getattr(capture, "linktype", None) or (first and first[1].linktype)
    if linktype not in (None, ETHERNET):
        sys.exit(f"{printable(path)}: link type {linktype} is not Ethernet; capture on one Ethernet "
                 "interface, not on \"any\"")
    check_end(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("file", nargs="?", help="where to write it")
    what.add_argument("--check", metavar="FILE", help="fail unless it is a capture of Ethernet frames; report "
                      "a truncated one on standard error")
    what.add_argument("--whole", metavar="FILE", nargs="+", help="fail unless each pcap file ends with a "
                      "whole packet")
    what.add_argument("--printable", metavar="NAME", help="print a name without control characters")
    args = parser.parse_args()
    try:
        if args.check is not None:
            check(args.check)
        elif args.whole is not None:
            check_whole(args.whole)
        elif args.printable is not None:
            print(printable(args.printable))
        else:
            write(args.file)
    except OSError as error:
        sys.exit(f"{printable(str(error.filename or args.file))}: {error.strerror}")


def write(path):
    """Writes the demo's capture."""
    flows = [list(tcp_flow()) for _ in range(40)]
    flows += [media_stream() for _ in range(4)]
    flows += [dns_queries(), pings(), rare_but_right(), not_for_us()]
    usec = 1_790_000_000 * 1_000_000
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, ETHERNET))
        # Flows overlap, as they do on a wire; each keeps its own order.
        while flows:
            flow = RNG.choice(flows)
            frame = bytes(flow.pop(0))
            usec += int(RNG.expovariate(0.002))
            out.write(struct.pack("<IIII", *divmod(usec, 1000000), len(frame), len(frame)) + frame)
            flows = [flow for flow in flows if flow]


if __name__ == "__main__":
    main()
