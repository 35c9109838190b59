# SPDX-License-Identifier: BSD-3-Clause
"""Frames of vswitch_oracle.py's packets, and what leaves vswitch-graph by the brute force of its rules and the
oracle of operations."""

import collections
import re
import struct

import apply_oracle
import vswitch_oracle as oracle

PORTS = 4
FIRST = 11  # the oracle's number of port 0
TUNNEL = "{},uplink=1,local=10.0.0.1,remote={},dst-mac=02:00:00:00:00:02,src-mac=02:00:00:00:00:01"
# The switch of hy-test-vswitch-ask, but for names, and without a bridge.
OPTIONS = ["-p", "f", "--config", ",".join(f"({port},0,1)" for port in range(PORTS)), "--no-flood=3",
           f"--tunnel={TUNNEL.format('vx5,port=5', '10.0.0.2')}", f"--tunnel={TUNNEL.format('vx6,port=6', 'flow')}"]


def ip4(packet, payload):
    part = {0: 0, 1: 0x2000, 3: 0x0008}[packet["frag"]]
    head = struct.pack("!BBHHHBBHLL", 0x45, packet["nw_tos"], 20 + len(payload), 1, part, packet["nw_ttl"],
                       packet["nw_proto"], 0, packet["nw_src"], packet["nw_dst"])
    check = 0xFFFF - (apply_oracle.total(head) or 0xFFFF)
    return head[:10] + struct.pack("!H", check) + head[12:] + payload


def ip6(packet, payload):
    proto = packet["nw_proto"]
    if packet["frag"]:
        part = {1: 1, 3: 8}[packet["frag"]]
        payload, proto = struct.pack("!BBHL", proto, 0, part, 7) + payload, 44
    return struct.pack("!LHBB", 6 << 28 | packet["nw_tos"] << 20, len(payload), proto, packet["nw_ttl"]) + \
        packet["ipv6_src"].to_bytes(16, "big") + packet["ipv6_dst"].to_bytes(16, "big") + payload


def carried(random, packet):
    """What IP carries."""
    size, proto = random.randrange(40), packet["nw_proto"]
    if packet["cut"]:
        return b"\x05"
    if packet["frag"]:
        return bytes(32)
    if proto == oracle.TCP:
        return struct.pack("!HHLLBBHHH", packet["tp_src"], packet["tp_dst"], 1, 2, 0x50, packet["tcp_flags"], 9,
                           0xABCD, 0) + bytes(size)
    if proto == oracle.UDP:
        return struct.pack("!HHHH", packet["tp_src"], packet["tp_dst"], 8 + size, random.choice((0, 0x1234))) + \
            bytes(size)
    if proto == oracle.SCTP:
        return struct.pack("!HHLL", packet["tp_src"], packet["tp_dst"], 1, 2) + bytes(size)
    return bytes((packet["tp_src"] & 255, packet["tp_dst"] & 255)) + bytes(6 + size)


def frame_of(random, packet):
    """The frame, with its tags and its tunnel. Makes what the frame cannot have 0 in the packet."""
    packet["unread"] = False
    if packet["cut"] or packet["frag"]:
        packet |= {"tp_src": 0, "tp_dst": 0, "tcp_flags": 0}
    head = packet["dl_dst"].to_bytes(6, "big") + packet["dl_src"].to_bytes(6, "big")
    for i, tag in enumerate(packet["vlans"]):
        outer = len(packet["vlans"]) == 2 and i == 0
        head += struct.pack("!HH", 0x88A8 if outer else 0x8100, tag & ~0x1000)
    head += struct.pack("!H", packet["dl_type"])
    if packet["dl_type"] == oracle.ARP:
        inside = struct.pack("!HHBBH6sL6sL", 1, oracle.IP, 6, 4, packet["nw_proto"], bytes(6), packet["nw_src"],
                             bytes(6), packet["nw_dst"])
    elif not packet["sound"]:
        inside = b"" if packet["dl_type"] in (oracle.IP, oracle.IP6) else bytes(46)
    else:
        inside = (ip4 if packet["dl_type"] == oracle.IP else ip6)(packet, carried(random, packet))
    frame = head + inside
    if packet["tunnelled"]:
        outer = {"nw_tos": 0, "nw_ttl": 9, "nw_proto": oracle.UDP, "nw_src": packet["tun_src"],
                 "nw_dst": packet["tun_dst"], "frag": 0}
        vxlan = struct.pack("!HHHHLL", 50000, 4789, 16 + len(frame), 0, 8 << 24, packet["tun_id"] << 8) + frame
        frame = bytes(12) + b"\x08\x00" + ip4(outer, vxlan)
    return frame


def operations(texts):
    """vswitch_oracle's operations as apply_oracle has them; edges are ports, PORTS being none."""
    ops = []
    for text in texts:
        name, _, value = text.partition(":")
        if name == "out":
            ops.append(("output", min(int(value) - 21, PORTS) if int(value) > 20 else PORTS))
        elif name == "encap":
            dst, src, vni, local, remote, port, tos, ttl = value.split("/")
            ops.append(("encap", {"dst_mac": bytes.fromhex(dst), "src_mac": bytes.fromhex(src),
                                  "vni": bytes.fromhex(vni), "src": bytes.fromhex(local),
                                  "dst": bytes.fromhex(remote), "port": int(port), "tos": int(tos), "ttl": int(ttl)}))
        elif name == "push":
            ops.append(("push_vlan", int(value[:4], 16), int(value[4:], 16)))
        elif name == "tci":
            ops.append(("vlan_tci", *(int(part, 16) for part in value.split("/"))))
        elif name == "tos":
            ops.append(("tos", int(value[:2], 16), int(value[2:], 16)))
        elif name in ("ttl", "l4_src", "l4_dst", "mark"):
            ops.append((name, int(value, 16)))
        elif name in ("pop", "decap", "own", "dec_ttl"):
            ops.append(("pop_vlan" if name == "pop" else name,))
        else:
            ops.append((name, bytes.fromhex(value)))
    return ops


def blank(left):
    """A frame without the bytes that are not foretold."""
    frame = bytearray(left.frame)
    for at in left.free:
        frame[at] = 0
    return bytes(frame)


def is_ours(frame):
    """Whether a frame is in a tunnel of the switch: no other packet has this identification and fragment word."""
    return frame[12:14] == b"\x08\x00" and frame[18:22] == b"\0\0\x40\0" and frame[36:38] == b"\x12\xb5"


class Expected:
    """What leaves, and what rules count."""

    def __init__(self, rules):
        self.tables = oracle.tables_of(rules)
        self.out = [[] for _ in range(PORTS)]
        self.drops, self.rules, self.done = collections.Counter(), {}, collections.Counter()
        self.copies = 0

    def add(self, packet, frame):
        _, met, texts = oracle.translate(self.tables, packet)
        left, why, copies, done = apply_oracle.apply(operations(texts), frame)
        self.copies += copies
        self.done.update(done)
        for port in range(PORTS):
            self.out[port] += [blank(one) for one in left[port]]
        self.drops[why if why is not None else "no_edge"] += bool(left[PORTS]) and 1
        self.drops["no_edge"] += max(len(left[PORTS]) - 1, 0)
        for cookie in met:
            packets, size = self.rules.get(cookie, (0, 0))
            self.rules[cookie] = packets + 1, size + len(frame)


def counts_of(dump):
    """Packets and bytes by cookie, of the rules that have any."""
    found = {int(cookie, 0): (int(packets), int(size)) for packets, size, cookie in
             re.findall(r"n_packets=(\d+),n_bytes=(\d+),.*?cookie=(\w+)", dump)}
    return {cookie: pair for cookie, pair in found.items() if pair[0]}
