# SPDX-License-Identifier: BSD-3-Clause
"""What a list of operations makes of a packet, by the contract, with checksums summed anew."""

import struct

WINDOW = 256  # bytes in which headers are changed
EXTENSIONS, EXTENSION_BYTES = 8, 128
EDGES = 3
TAGS = (0x8100, 0x88A8, 0x9100)
TCP, UDP, ICMP6 = 6, 17, 58
ROUTING, FRAGMENT, AH = 43, 44, 51
L4_SIZE = {TCP: 20, UDP: 8, ICMP6: 4}
L4_SUM = {TCP: 16, UDP: 6, ICMP6: 2}
OTHER, LATER, DEEP = "other", "later", "deep"

# As in the header.
OPS = ("output", "dst_mac", "src_mac", "push_vlan", "pop_vlan", "vlan_tci", "ip4_src", "ip4_dst",
       "ip6_src", "ip6_dst", "tos", "ttl", "dec_ttl", "l4_src", "l4_dst", "mark", "decap", "encap",
       "own")


class Drop(Exception):
    """Its reason."""


def total(data):
    """The sum of 16-bit words, modulo 2^16 - 1."""
    data = bytes(data) + b"\0" * (len(data) % 2)
    return sum(struct.unpack(f"!{len(data) // 2}H", data)) % 0xFFFF


def encoded(op):
    """An operation as hy-test-flow-apply reads it: a type, and the union's bytes."""
    name, *args = op
    value = {
        "output": lambda edge: struct.pack("=H", edge),
        "push_vlan": lambda tpid, tci: struct.pack("!HH", tpid, tci),
        "vlan_tci": lambda tci, mask: struct.pack("!HHH", 0, tci, mask),
        "tos": lambda tos, mask: bytes((tos, mask)),
        "ttl": lambda ttl: bytes((ttl,)),
        "l4_src": lambda port: struct.pack("!H", port),
        "l4_dst": lambda port: struct.pack("!H", port),
        "mark": lambda mark: struct.pack("=L", mark),
        "encap": lambda t: t["dst_mac"] + t["src_mac"] + bytes(
            (len(t["src"]) == 16, t["tos"], t["ttl"])) + t["vni"] + t["src"].ljust(16, b"\0")
        + t["dst"].ljust(16, b"\0") + struct.pack("!H", t["port"]),
    }.get(name, lambda *rest: b"".join(rest))(*args)
    return bytes((OPS.index(name),)) + value.ljust(52, b"\0")


class Packet:
    """A packet while a list is done."""

    def __init__(self, frame):
        self.frame = bytearray(frame)
        self.mark = None
        self.free = set()  # bytes that are not foretold, counted from the end

    def need(self, size):
        if size > min(len(self.frame), WINDOW):
            raise Drop("no_header")

    def word(self, at):
        return self.frame[at] << 8 | self.frame[at + 1]

    def put(self, at, data):
        self.frame[at : at + len(data)] = data
        self.free -= {len(self.frame) - at - i for i in range(len(data))}

    def ip(self):
        """The version and the place of an IP header that is whole."""
        at = 14
        self.need(at)
        while self.word(at - 2) in TAGS:
            at += 4
            self.need(at)
        self.need(at + 1)
        version = self.frame[at] >> 4
        if (self.word(at - 2), version) not in ((0x0800, 4), (0x86DD, 6)):
            raise Drop("no_header")
        size = (self.frame[at] & 15) * 4 if version == 4 else 40
        if size < 20:
            raise Drop("no_header")
        self.need(at + size)
        return version, at

    def carried(self):
        """What IP carries: protocol or a word, the place, whether it is a first fragment, and
        whether the destination is a hop on the way."""
        version, ip = self.ip()
        if version == 4:
            part = self.word(ip + 6)
            if part & 0x1FFF:
                return LATER, 0, False, False
            at = ip + (self.frame[ip] & 15) * 4
            return *self.whole(version, self.frame[ip + 9], at), bool(part & 0x2000), False
        at, nxt, walked, parted, routed = ip + 40, self.frame[ip + 6], 0, False, False
        while nxt in (0, ROUTING, FRAGMENT, AH, 60):
            if walked == EXTENSIONS:
                return DEEP, 0, parted, routed
            if at + 8 > min(len(self.frame), WINDOW):
                return self.cut(), 0, parted, routed
            units = self.frame[at + 1]
            size = 8 if nxt == FRAGMENT else (units + 2) * 4 if nxt == AH else (units + 1) * 8
            if at + size > ip + 40 + EXTENSION_BYTES:
                return DEEP, 0, parted, routed
            if at + size > min(len(self.frame), WINDOW):
                return self.cut(), 0, parted, routed
            if nxt == ROUTING and self.frame[at + 3]:
                routed = True
            if nxt == FRAGMENT:
                if self.word(at + 2) & 0xFFF8:
                    return LATER, 0, parted, routed
                parted = parted or bool(self.word(at + 2) & 1)
            nxt, at, walked = self.frame[at], at + size, walked + 1
        return *self.whole(version, nxt, at), parted, routed

    def cut(self):
        return DEEP if len(self.frame) > WINDOW else OTHER

    def whole(self, version, proto, at):
        if proto not in L4_SIZE or (proto == ICMP6 and version == 4):
            return OTHER, 0
        if at + L4_SIZE[proto] > min(len(self.frame), WINDOW):
            return self.cut(), 0
        return proto, at

    def resum(self, at, before, after):
        """Gives a checksum that covers a sum another one, as wrong as it was."""
        wrong = ((self.word(at) ^ 0xFFFF) - before) % 0xFFFF
        self.frame[at : at + 2] = struct.pack("!H", 0xFFFF - ((after + wrong) % 0xFFFF or 0xFFFF))

    def ip_sum(self, ip):
        size = (self.frame[ip] & 15) * 4
        return total(self.frame[ip : ip + 10] + self.frame[ip + 12 : ip + size])

    def change_ip4(self, ip, at, data):
        before = self.ip_sum(ip)
        self.put(at, data)
        self.resum(ip + 10, before, self.ip_sum(ip))

    def change_covered(self, proto, place, at, data, size):
        """Writes what the checksum of TCP, UDP or ICMPv6 covers; the addresses have a size."""
        def covered():
            addresses = self.frame[at : at + size] if at < place else b""
            rest = self.frame[place:]
            rest[L4_SUM[proto] : L4_SUM[proto] + 2] = b"\0\0"
            return total(addresses) + total(rest)

        sum_at = place + L4_SUM[proto]
        before = covered()
        self.put(at, data)
        if proto == UDP and self.word(sum_at) == 0:
            return
        self.resum(sum_at, before, covered())
        if proto == UDP and self.word(sum_at) == 0:
            self.frame[sum_at : sum_at + 2] = b"\xff\xff"


def address(packet, version, offset, data):
    found, ip = packet.ip()
    if found != version:
        raise Drop("no_header")
    proto, place, _, routed = packet.carried()
    if proto == DEEP:
        raise Drop("no_header")
    at = ip + offset
    was = bytes(packet.frame[at : at + len(data)])
    if version == 4:
        packet.change_ip4(ip, at, data)
    if proto in L4_SIZE and not (routed and offset == 24):
        packet.frame[at : at + len(data)] = was
        packet.change_covered(proto, place, at, data, len(data))
    else:
        packet.put(at, data)


def port(packet, offset, value):
    packet.ip()
    proto, place, _, _ = packet.carried()
    if proto == LATER:
        return
    if proto not in (TCP, UDP):
        raise Drop("no_header")
    packet.change_covered(proto, place, place + offset, struct.pack("!H", value), 0)


def mac(packet, at, data):
    packet.need(14)
    packet.put(at, data)


def push_vlan(packet, tpid, tci):
    packet.need(14)
    packet.frame[12:12] = struct.pack("!HH", tpid, tci)


def tagged(packet):
    packet.need(18)
    if packet.word(12) not in TAGS:
        raise Drop("no_header")


def pop_vlan(packet):
    tagged(packet)
    del packet.frame[12:16]


def vlan_tci(packet, tci, mask):
    tagged(packet)
    packet.put(14, struct.pack("!H", packet.word(14) & ~mask & 0xFFFF | tci & mask))


def tos(packet, value, mask):
    version, ip = packet.ip()
    if version == 4:
        packet.change_ip4(ip, ip + 1, bytes((packet.frame[ip + 1] & ~mask & 255 | value & mask,)))
        return
    word = packet.word(ip)
    word = word & ~(mask << 4) & 0xFFFF | (value & mask) << 4
    packet.put(ip, struct.pack("!H", word))


def ttl(packet, value):
    version, ip = packet.ip()
    if version == 4:
        packet.change_ip4(ip, ip + 8, bytes((value,)))
    else:
        packet.put(ip + 7, bytes((value,)))


def dec_ttl(packet):
    version, ip = packet.ip()
    was = packet.frame[ip + (8 if version == 4 else 7)]
    if was <= 1:
        raise Drop("ttl_expired")
    ttl(packet, was - 1)


def set_mark(packet, value):
    packet.mark = value


def decap(packet):
    packet.ip()
    proto, place, parted, _ = packet.carried()
    if proto != UDP or parted:
        raise Drop("no_header")
    packet.need(place + 16 + 14)
    if packet.word(place + 2) != 4789 or not packet.frame[place + 8] & 8:
        raise Drop("no_header")
    del packet.frame[: place + 16]
    packet.free = {n for n in packet.free if n <= len(packet.frame)}


def encap(packet, tunnel):
    packet.need(14)
    size = len(packet.frame) + 16
    is_ip6 = len(tunnel["src"]) == 16
    if size + (0 if is_ip6 else 20) > 0xFFFF:
        raise Drop("too_long")
    head = tunnel["dst_mac"] + tunnel["src_mac"]
    if is_ip6:
        head += struct.pack("!HLHBB", 0x86DD, 6 << 28 | tunnel["tos"] << 20, size, UDP,
                            tunnel["ttl"])
    else:
        ip = struct.pack("!BBHHHBB", 0x45, tunnel["tos"], size + 20, 0, 0x4000, tunnel["ttl"], UDP)
        check = 0xFFFF - (total(ip + tunnel["src"] + tunnel["dst"]) or 0xFFFF)
        head += b"\x08\x00" + ip + struct.pack("!H", check)
    head += tunnel["src"] + tunnel["dst"] + struct.pack("!HHHH", 0, tunnel["port"], size, 0)
    packet.frame[:0] = head + b"\x08\0\0\0" + tunnel["vni"] + b"\0"
    packet.free |= {size, size - 1}


EDITS = {
    "dst_mac": lambda packet, data: mac(packet, 0, data),
    "src_mac": lambda packet, data: mac(packet, 6, data),
    "push_vlan": push_vlan, "pop_vlan": pop_vlan, "vlan_tci": vlan_tci,
    "ip4_src": lambda packet, data: address(packet, 4, 12, data),
    "ip4_dst": lambda packet, data: address(packet, 4, 16, data),
    "ip6_src": lambda packet, data: address(packet, 6, 8, data),
    "ip6_dst": lambda packet, data: address(packet, 6, 24, data),
    "tos": tos, "ttl": ttl, "dec_ttl": dec_ttl,
    "l4_src": lambda packet, value: port(packet, 0, value),
    "l4_dst": lambda packet, value: port(packet, 2, value),
    "mark": set_mark, "decap": decap, "encap": encap, "own": lambda packet: None,
}


class Left:
    """A packet that left."""

    def __init__(self, packet):
        self.frame, self.mark = bytes(packet.frame), packet.mark
        self.free = sorted(len(self.frame) - n for n in packet.free)


def apply(ops, frame, starved=False):
    """What leaves by each edge, EDGES being the drop's; why the packet was dropped, or None; how
    many copies were made; which operations were begun. A packet that is starved can be copied
    nowhere."""
    ops = ops[: max((i + 1 for i, op in enumerate(ops) if op[0] == "output"), default=0)]
    left, copies, done, why = {edge: [] for edge in range(EDGES + 1)}, 0, [], None
    packet = Packet(frame)
    if not ops:
        left[EDGES].append(Left(packet))
        return left, "no_output", 0, done
    for i, (name, *args) in enumerate(ops):
        done.append(name)
        if name == "output":
            left[min(args[0], EDGES)].append(Left(packet))
            copies += i + 1 < len(ops)
            continue
        try:
            if starved and (name in ("mark", "own") or len(packet.frame) >= 18):
                raise Drop("no_room")
            EDITS[name](packet, *args)
        except Drop as drop:
            why = str(drop)
            left[EDGES].append(Left(packet))
            break
    return left, why, copies, done
