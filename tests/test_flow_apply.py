# SPDX-License-Identifier: BSD-3-Clause
"""flow_apply: each operation, and lists of them, on captures and generated packets, cut and segmented
at every byte, and shared. The bytes that leave are held against an oracle, and that against scapy."""

import collections
import os
import random
import struct
import subprocess

import pytest
from scapy.layers.inet import ICMP, IP, TCP, UDP, IPOption_RR
from scapy.layers.inet6 import (ICMPv6EchoRequest, ICMPv6ND_NS, IPv6, IPv6ExtHdrDestOpt,
                                IPv6ExtHdrFragment, IPv6ExtHdrHopByHop, IPv6ExtHdrRouting, PadN)
from scapy.layers.l2 import ARP, Dot1AD, Dot1Q, Ether
from scapy.layers.vxlan import VXLAN
from scapy.packet import Raw, bind_layers

import apply_oracle
import l3fwd
import pcapfile

PROGRAM = l3fwd.BUILD / "app" / "test" / "hy-test-flow-apply"
SHARES = NOT, BUFFER, CLONE, LAST, STARVE = range(5)
NO_LIST = 1 << 20
REASONS = ("no_list", "no_output", "no_edge", "no_header", "no_room", "too_long", "ttl_expired")
EDGES = apply_oracle.EDGES
HEADROOM = 128

TUNNELS = [
    {"dst_mac": bytes.fromhex("02aa00000001"), "src_mac": bytes.fromhex("02aa00000002"), "tos": 0,
     "ttl": 64, "vni": bytes.fromhex("012345"), "src": bytes((10, 9, 0, 1)),
     "dst": bytes((10, 9, 0, 2)), "port": 4789},
    {"dst_mac": bytes.fromhex("02aa00000003"), "src_mac": bytes.fromhex("02aa00000004"),
     "tos": 0xBA, "ttl": 1, "vni": bytes.fromhex("ffffff"), "src": bytes.fromhex("20010db8" + "00" * 11 + "01"),
     "dst": bytes.fromhex("20010db8" + "00" * 11 + "02"), "port": 4789},
]


ETHER = Ether(dst="02:00:00:00:00:01", src="02:00:00:00:00:02")  # else scapy asks by ARP
bind_layers(Ether, Dot1Q, type=0x9100)


def wrapped():
    """Headers below the transport's, by name."""
    ether = ETHER
    ip4, ip6 = IP(src="10.0.0.1", dst="192.168.3.4", id=77), IPv6(src="2001:db8::1", dst="fe80::2")
    pad = PadN(optdata=b"\1" * 2)
    options = IPv6ExtHdrHopByHop(options=[pad]) / IPv6ExtHdrDestOpt(options=[pad])
    return {
        "ip4": ether / ip4, "vlan": ether / Dot1Q(vlan=5, prio=3) / ip4,
        "qinq": ether / Dot1AD(vlan=100) / Dot1Q(vlan=7) / ip4,
        "old_qinq": Ether(dst=ether.dst, src=ether.src, type=0x9100) / Dot1Q(vlan=8)
        / Dot1Q(vlan=9) / ip4,
        "options": ether / IP(src="10.0.0.9", dst="10.1.1.1", options=[IPOption_RR()] * 2, tos=47),
        "ip6": ether / ip6,
        "vlan6": ether / Dot1Q(vlan=9) / IPv6(src="::1", dst="ff02::1", tc=0xB8),
        "options6": ether / ip6 / options,
        "routed": ether / ip6 / IPv6ExtHdrRouting(addresses=["2001:db8::9"], segleft=1),
        "arrived": ether / ip6 / IPv6ExtHdrRouting(addresses=["2001:db8::9"], segleft=0),
        "atomic": ether / ip6 / IPv6ExtHdrFragment(offset=0, m=0, id=5),
    }


def transports():
    return {"udp": UDP(sport=1000, dport=53) / Raw(b"question"),
            "unsummed": UDP(sport=1000, dport=54, chksum=0) / Raw(b"odd"),
            "tcp": TCP(sport=40000, dport=80, flags="S", options=[("MSS", 1400)]) / Raw(b"GET"),
            "long": TCP(sport=1, dport=2) / Raw(bytes(range(256)) * 3)}


def sound():
    """Packets whose checksums are right, by name."""
    made = {f"{below}-{above}": bytes(header / carried)
            for below, header in wrapped().items() for above, carried in transports().items()}
    made |= {"icmp": bytes(wrapped()["ip4"] / ICMP(id=3) / Raw(b"ping")),
             "icmp6": bytes(wrapped()["ip6"] / ICMPv6EchoRequest(id=4, data=b"ping6")),
             "solicit": bytes(wrapped()["options6"] / ICMPv6ND_NS(tgt="fe80::2"))}
    inside = Ether(made["vlan-tcp"])
    for name in ("ip4", "ip6", "vlan"):
        made[f"vxlan-{name}"] = bytes(wrapped()[name] / UDP(sport=50000, dport=4789, chksum=0)
                                      / VXLAN(vni=0x123, flags=8) / inside)
    return made


def fragments(frame, at):
    """The first fragment of an IPv4 packet, and a later one."""
    first, later = IP(frame[at:]), IP(frame[at:])
    first.flags, first.chksum = "MF", None
    later.frag, later.chksum = 100, None
    return frame[:at] + bytes(first), frame[:at] + bytes(later)


def odd():
    """Packets that are fragments, malformed, or of another kind, by name."""
    good, ip6 = sound(), wrapped()["ip6"]
    first, later = fragments(good["ip4-udp"], 14)
    tagged_first, tagged_later = fragments(good["qinq-tcp"], 22)
    tunnel = bytearray(good["vxlan-ip4"])
    pad = IPv6ExtHdrDestOpt(options=[PadN(optdata=b"\0" * 4)])
    many = ip6
    for _ in range(9):
        many = many / pad
    made = {
        "first": first, "later": later, "tagged_first": tagged_first, "tagged_later": tagged_later,
        "first6": bytes(ip6 / IPv6ExtHdrFragment(m=1) / UDP(sport=5, dport=6) / Raw(b"part")),
        "later6": bytes(ip6 / IPv6ExtHdrFragment(offset=9, m=1) / Raw(b"p" * 40)),
        "many": bytes(many / UDP(sport=1, dport=2)),
        "wide": bytes(ip6 / IPv6ExtHdrDestOpt(options=[PadN(optdata=b"\0" * 132)]) / UDP(dport=3)),
        "authentic": bytes(ETHER / IPv6(nh=51) / Raw(b"\6\4" + bytes(22)) / TCP(sport=4, dport=5)),
        "sctp": good["ip4-udp"][:23] + b"\x84" + good["ip4-udp"][24:],
        "arp": bytes(ETHER / ARP(pdst="10.0.0.1")), "raw": bytes(range(200)),
        "version": good["ip4-udp"][:14] + b"\x65" + good["ip4-udp"][15:],
        "ihl": good["ip4-udp"][:14] + b"\x44" + good["ip4-udp"][15:],
        "as6": good["ip4-udp"][:12] + b"\x86\xdd" + good["ip4-udp"][14:],
        "no_vni": bytes(tunnel[:42]) + b"\0" + bytes(tunnel[43:]),
        "other_port": bytes(tunnel[:36]) + b"\x12\xb6" + bytes(tunnel[38:]),
        "tunnel_part": fragments(bytes(tunnel), 14)[0],
        "tags": good["ip4-udp"][:12] + b"\x81\x00\x00\x01" * 63 + good["ip4-udp"][12:],
    }
    for ttl in (0, 1, 2):
        made[f"ttl{ttl}"] = bytes(ETHER / IP(ttl=ttl, dst="10.0.0.1") / UDP())
        made[f"hops{ttl}"] = bytes(ETHER / IPv6(hlim=ttl) / UDP())
    return made


def operation(rng, name):
    """An operation with arguments, often such that checksums meet 0 and 0xffff."""
    word = rng.choice((0, 0xFFFF, rng.randrange(65536)))
    args = {
        "output": (rng.randrange(EDGES),), "push_vlan": (rng.choice(apply_oracle.TAGS), word),
        "pop_vlan": (), "vlan_tci": (word, rng.choice((0x0FFF, 0xE000, 0xFFFF, 0))),
        "tos": (word & 255, rng.choice((0xFC, 0x03, 0xFF))), "ttl": (word & 255,),
        "dec_ttl": (), "l4_src": (word,), "l4_dst": (rng.choice((word, 4789)),),
        "mark": (rng.getrandbits(32),), "decap": (), "own": (), "encap": (rng.choice(TUNNELS),),
    }.get(name)
    if args is None:
        size = {"dst_mac": 6, "src_mac": 6, "ip4_src": 4, "ip4_dst": 4}.get(name, 16)
        args = (rng.choice((bytes(size), b"\xff" * size, rng.randbytes(size))),)
    return name, *args


EDITS = [name for name in apply_oracle.OPS if name != "output"]


def edit(rng, other, names):
    """An operation that packets of one version of IP probably have the headers for."""
    rare = {"pop_vlan": "push_vlan", "vlan_tci": "push_vlan", "decap": "encap"}
    while True:
        name = rng.choice(EDITS)
        fits = rare.get(name, name) in (name, *names) or rng.random() < 0.1
        if fits and not name.startswith(other):
            return name


def any_list(rng):
    """What a router does; or operations, few or many, with outputs between."""
    if rng.random() < 0.1:
        names = rng.choice((("dec_ttl", "dst_mac", "src_mac"), ("src_mac", "dst_mac", "dec_ttl")))
        return [operation(rng, name) for name in (*names, "output")]
    other, names = rng.choice(("ip4", "ip6")), []
    for _ in range(rng.choice((1, 2, 3, 5, 8, 20))):
        names.append(edit(rng, other, names) if rng.random() < 0.7 else "output")
    ops = [operation(rng, name) for name in names]
    if rng.random() < 0.03:
        ops.append(("output", EDGES + rng.randrange(60000)))
    return ops + [operation(rng, "output")] * (rng.random() < 0.8)


class Case(collections.namedtuple("Case", "ops frame first size headroom share",
                                  defaults=(0, 0, HEADROOM, NOT))):
    """A packet, how it lies in buffers, and the list; without operations, the list does not exist."""

    def written(self, number):
        return struct.pack("=LLHHHB", number, len(self.frame), self.first, self.size, self.headroom,
                           self.share) + self.frame


def run(folder, cases):
    """What the program printed, and what left, by packet and edge: bytes and mark."""
    numbers, lists = {}, []
    for case in cases:
        key = None if case.ops is None else b"".join(map(apply_oracle.encoded, case.ops))
        if key is not None and key not in numbers:
            numbers[key] = len(lists)
            lists.append(struct.pack("=L", len(case.ops)) + key)
    with open(folder / "in", "wb") as file:
        file.write(struct.pack("=L", len(lists)) + b"".join(lists))
        for case in cases:
            key = None if case.ops is None else b"".join(map(apply_oracle.encoded, case.ops))
            file.write(case.written(NO_LIST if key is None else numbers[key]))
    done = subprocess.run(
        [*l3fwd.UNDER, PROGRAM, "--no-huge", "-m", "512", "--no-pci", "--no-telemetry",
         "--log-level=warning", f"--file-prefix=apply-{os.getpid()}", "-l", "0", "--",
         folder / "in", folder / "out"], capture_output=True, text=True, timeout=l3fwd.TIMEOUT,
        check=False)
    assert done.returncode == 0, done
    said = {name: int(value) for name, value in map(str.split, done.stdout.splitlines())}
    left = collections.defaultdict(list)
    data, at, record = (folder / "out").read_bytes(), 0, struct.Struct("=LBBLL")
    while at < len(data):
        index, edge, marked, mark, size = record.unpack_from(data, at)
        at += record.size
        left[index, edge].append((data[at : at + size], mark if marked else None))
        at += size
    assert said["miscounted"] == said["touched"] == said["in_use"] == 0, said
    return said, left


class Seen:
    """What was compared."""

    def __init__(self):
        self.packets, self.drops, self.done = 0, collections.Counter(), collections.Counter()
        self.copies, self.ports = 0, {}

    def compare(self, case, index, left):
        """Holds what left of a packet against the oracle."""
        if case.ops is None:
            due = {EDGES: [apply_oracle.Left(apply_oracle.Packet(case.frame))]}
            why, copies, done = "no_list", 0, []
        else:
            due, why, copies, done = apply_oracle.apply(case.ops, case.frame, case.share == STARVE)
        for edge in range(EDGES + 1):
            here, wanted = left.get((index, edge), []), due.get(edge, [])
            assert len(here) == len(wanted), (case, edge, here, why)
            for (frame, mark), want in zip(here, wanted):
                if want.free:
                    frame = self.tunnelled(frame, want)
                assert frame == want.frame, (case, edge, frame.hex(), want.frame.hex())
                assert mark == want.mark, (case, edge)
                self.packets += 1
        begun = (case.ops or [])[: len(done)]
        self.drops["no_edge"] += sum(op[0] == "output" and op[1] >= EDGES for op in begun)
        if why is not None:
            self.drops[why] += 1
        self.done.update(done if why is None else done[:-1])
        self.copies += copies

    def tunnelled(self, frame, want):
        """A packet without the source ports of its tunnels, which are those of their flows."""
        frame = bytearray(frame)
        for at in want.free[::2]:
            port = int.from_bytes(frame[at : at + 2], "big")
            assert port >= 49152, port
            assert self.ports.setdefault(bytes(frame[at + 16 :]), port) == port
            frame[at : at + 2] = b"\0\0"
        return bytes(frame)


def check(folder, cases):
    """Runs packets and compares all that leaves: as many as came, and copies."""
    said, left = run(folder, cases)
    seen = Seen()
    for index, case in enumerate(cases):
        seen.compare(case, index, left)
    assert seen.packets == sum(map(len, left.values())) == len(cases) + seen.copies
    assert seen.copies == said["copies"], (seen.copies, said)
    assert {name: said[name] for name in REASONS} == {name: seen.drops[name] for name in REASONS}
    assert said["stream_full"] == 0, said
    return said, seen


def alone(rng, name):
    return [operation(rng, name), ("output", rng.randrange(EDGES))]


@pytest.fixture(scope="module")
def packets():
    return {**sound(), **odd()}


def test_each_operation_does_the_same_to_packets_cut_at_every_byte(tmp_path, packets):
    rng = random.Random(22)
    lists = [alone(rng, name) for name in EDITS]
    lists.append([operation(rng, name) for name in ("dec_ttl", "src_mac", "dst_mac", "output")])
    cases = [Case(ops, frame[:size]) for ops in lists
             for frame in packets.values() for size in range(min(len(frame), 290))]
    _, seen = check(tmp_path, cases)
    assert seen.packets == len(cases) > 90_000
    assert all(seen.done[name] > 100 for name in apply_oracle.OPS), seen.done
    assert seen.drops["no_header"] > 10_000 and seen.drops["ttl_expired"] > 20, seen.drops


def test_each_operation_does_the_same_to_packets_in_segments(tmp_path, packets):
    """Cut in two at every byte, and in pieces."""
    rng = random.Random(23)
    cases = []
    for name in EDITS:
        for frame in packets.values():
            ops = alone(rng, name)
            cases += [Case(ops, frame, first=cut) for cut in range(1, min(len(frame), 260))]
            cases += [Case(ops, frame, first=size, size=size) for size in (1, 2, 3, 7, 40)]
    said, seen = check(tmp_path, cases)
    assert seen.packets == len(cases) > 60_000
    assert said["heads"] > 10_000, said
    assert all(seen.done[name] > 100 for name in apply_oracle.OPS), seen.done


def any_case(rng, ops, frame):
    share = rng.choice((NOT, NOT, NOT, BUFFER, CLONE, LAST, STARVE))
    if share == STARVE and (14 <= len(frame) < 18 or rng.random() < 0.9):
        share = BUFFER
    headroom = rng.choice((HEADROOM, HEADROOM, rng.randrange(HEADROOM + 1)))
    first, size = rng.choice(((0, 0), (0, 0), (rng.randrange(1, 300), 0),
                              (rng.randrange(1, 90),) * 2))
    return Case(ops, frame, first, size, headroom, share)


def test_lists_do_what_they_say_to_packets_in_any_buffers(tmp_path, packets):
    rng = random.Random(24)
    frames = list(packets.values())
    lists = [any_list(rng) for _ in range(8000)]
    cases = [any_case(rng, rng.choice(lists), rng.choice(frames)) for _ in range(60_000)]
    for size in (65535 - 36, 65535 - 35, 65535 - 16, 65535 - 15):
        cases += [Case([("encap", tunnel), ("output", 0)], rng.randbytes(size))
                  for tunnel in TUNNELS]
    cases += [Case(None, frame) for frame in frames]
    _, seen = check(tmp_path, cases)
    assert seen.packets > 80_000, seen.packets
    assert all(seen.drops[why] > 20 for why in REASONS if why != "too_long"), seen.drops
    assert seen.drops["too_long"] == 4, seen.drops
    assert all(seen.done[name] > 1000 for name in apply_oracle.OPS), seen.done
    assert seen.copies > 20_000 and len(set(seen.ports.values())) > 1000


def test_udp_checksum_that_would_be_zero_is_all_ones(tmp_path, packets):
    """0 stands for no checksum (RFC 768)."""
    cases, sums = [], []
    for name in (name for name in packets if name.endswith("-udp")):
        packet = apply_oracle.Packet(packets[name])
        at = packet.carried()[1]
        port = (packet.word(at) + packet.word(at + 6)) % 0xFFFF
        cases.append(Case([("l4_src", port), ("output", 0)], packets[name]))
        sums.append(at + 6)
    check(tmp_path, cases)
    _, left = run(tmp_path, cases)
    assert len(cases) == len(wrapped())
    for index, at in enumerate(sums):
        assert left[index, 0][0][0][at : at + 2] == b"\xff\xff", cases[index]


def test_captured_packets_are_changed_as_lists_say(tmp_path, captures):
    rng = random.Random(25)
    frames = []
    for path in captures:
        try:
            frames += pcapfile.read(path)[:3000]
        except pcapfile.PcapError:
            continue  # another link type
    assert len(frames) > 1000
    rng.shuffle(frames)
    lists = [any_list(rng) for _ in range(3000)]
    cases = [any_case(rng, rng.choice(lists), frame) for frame in frames[:30_000]]
    _, seen = check(tmp_path, cases)
    assert seen.packets >= len(cases) > 1000
    assert all(seen.done[name] > 20 for name in apply_oracle.OPS if name != "decap"), seen.done


def test_captured_packets_come_out_of_tunnels_as_they_went_in(tmp_path, captures):
    """As two switches do: the packets leave the first as VXLAN, and the second as they were."""
    frames = []
    for path in captures:
        try:
            frames += [frame for frame in pcapfile.read(path)[:1500] if len(frame) >= 14]
        except pcapfile.PcapError:
            continue
    for tunnel in TUNNELS:
        _, left = run(tmp_path, [Case([("encap", tunnel), ("output", 1)], frame)
                                 for frame in frames])
        between = [left[index, 1][0][0] for index in range(len(frames))]
        assert all(packet != frame for packet, frame in zip(between, frames))
        _, left = run(tmp_path, [Case([("decap",), ("output", 2)], frame, first=61, size=700)
                                 for frame in between])
        assert [left[index, 2][0][0] for index in range(len(frames))] == frames


# ---- The oracle against scapy

SUMS = {IP: "chksum", TCP: "chksum", UDP: "chksum", ICMPv6EchoRequest: "cksum",
        ICMPv6ND_NS: "cksum"}


def resummed(packet):
    """A packet with its checksums computed by scapy, except those of UDP that are 0."""
    layer = packet
    while layer and not isinstance(layer, VXLAN):
        name = SUMS.get(type(layer))
        if name and not (isinstance(layer, UDP) and layer.chksum == 0):
            layer.delfieldval(name)
        layer = layer.payload
    return bytes(packet)


def address(text):
    return IPv6(src=text).build()[8:24] if ":" in text else IP(src=text).build()[12:16]


def by_scapy(frame):
    """Operations that scapy can do to a packet, and what they make of it."""
    def changed(layer, **fields):
        packet = Ether(frame)
        for field, value in fields.items():
            setattr(packet[layer], field, value)
        return resummed(packet)

    yield ("dst_mac", b"\2\1\2\3\4\5"), changed(Ether, dst="02:01:02:03:04:05")
    yield ("src_mac", b"\2\1\2\3\4\5"), changed(Ether, src="02:01:02:03:04:05")
    packet = Ether(frame)
    outer = IP if IP in packet and (VXLAN not in packet or VXLAN in packet[IP]) else IPv6
    for ip, texts in ((IP, ("0.0.0.0", "255.255.255.255", "172.16.5.6")),
                      (IPv6, ("::", "2001:db8:7::77"))):
        for text in texts if ip is outer else ():
            names = ("ip4_src", "ip4_dst") if ip is IP else ("ip6_src", "ip6_dst")
            yield (names[0], address(text)), changed(ip, src=text)
            yield (names[1], address(text)), changed(ip, dst=text)
    if outer is IP:
        yield ("tos", 0xB8, 0xFC), changed(IP, tos=0xB8 | packet[IP].tos & 3)
        yield ("dec_ttl",), changed(IP, ttl=packet[IP].ttl - 1)
    else:
        yield ("tos", 0x03, 0x03), changed(IPv6, tc=packet[IPv6].tc | 3)
        yield ("ttl", 9), changed(IPv6, hlim=9)
    for transport in (TCP, UDP):
        if transport in packet and VXLAN not in packet:
            for port in (0, 7, 65535):
                yield ("l4_src", port), changed(transport, sport=port)
                yield ("l4_dst", port), changed(transport, dport=port)
    if VXLAN in packet:
        yield ("decap",), bytes(packet[VXLAN].payload)


def test_oracle_agrees_with_scapy():
    compared = collections.Counter()
    for name, frame in sound().items():
        assert resummed(Ether(frame)) == frame, name
        for op, wanted in by_scapy(frame):
            left, why, _, _ = apply_oracle.apply([op, ("output", 0)], frame)
            assert why is None and left[0][0].frame == wanted, (name, op, left[0], wanted.hex())
            compared[op[0]] += 1
    assert sum(compared.values()) > 400 and len(compared) == 12, compared


def test_oracle_builds_tunnels_as_scapy_does():
    for tunnel, ip in zip(TUNNELS, (
            IP(src="10.9.0.1", dst="10.9.0.2", id=0, flags="DF", ttl=64, tos=0),
            IPv6(src="2001:db8::1", dst="2001:db8::2", hlim=1, tc=0xBA))):
        for name, frame in sound().items():
            vni = int.from_bytes(tunnel["vni"], "big")
            ether = Ether(dst=tunnel["dst_mac"].hex(":"), src=tunnel["src_mac"].hex(":"))
            packet = ether / ip / UDP(sport=0, dport=4789, chksum=0) / VXLAN(
                flags=8, vni=vni) / Ether(frame)
            left = apply_oracle.apply([("encap", tunnel), ("output", 2)], frame)[0]
            assert left[2][0].frame == bytes(packet), name
