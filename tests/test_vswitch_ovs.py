# SPDX-License-Identifier: BSD-3-Clause
"""Rules of a switch beside Open vSwitch itself: what leaves each port of a frame, as bytes, and what each
rule counts.

Both are given the same random files and frames. What Open vSwitch would do is what ofproto/trace says, as
edits of the frame; what it does is what its dummy ports capture. HALYARD_OVS_PACKETS=N compares at least N
frames, as `make proof` does.
"""

import collections
import os
import random
import re
import struct
import subprocess

import pytest

import apply_oracle
import l3fwd
import ovs
import vswitch_oracle as oracle

PROGRAM = l3fwd.BUILD / "app" / "test" / "hy-test-vswitch-ask"
PACKETS = int(os.environ.get("HALYARD_OVS_PACKETS", "12000"))
PER_FILE = 400
IP, IP6, ARP = oracle.IP, oracle.IP6, oracle.ARP
TCP, UDP, SCTP, ICMP, ICMP6 = oracle.TCP, oracle.UDP, oracle.SCTP, oracle.ICMP, oracle.ICMP6
SERIAL = 3  # bytes at a frame's end that number it

# What only one of the two has, or does otherwise on purpose: see doc/vswitch.rst.
OURS_ONLY = re.compile(r"\b(normal|vx\d|tun_src|tun_dst|in_port=[56])\b", re.I)
# In some files nothing writes ports. These get fragments, SCTP and ICMP, too, of which only Open vSwitch writes them.
PORT_WRITES = re.compile(r"\bmod_tp_|->(tcp|udp|sctp)_")


# Frames.

def checked(proto, addresses, data):
    """A header of a transport, with its checksum."""
    at = {TCP: 16, UDP: 6, ICMP: 2, ICMP6: 2}.get(proto)
    if at is None or len(data) < at + 2:
        return data
    pseudo = b"" if proto == ICMP else addresses + struct.pack("!LL", len(data), proto)
    value = 0xFFFF - (apply_oracle.total(pseudo + data) or 0xFFFF)
    return data[:at] + struct.pack("!H", value or 0xFFFF) + data[at + 2:]


def transport(packet, serial):
    proto = packet["nw_proto"]
    ports = struct.pack("!HH", packet["tp_src"], packet["tp_dst"])
    data = {TCP: ports + bytes(8) + bytes((0x50, packet["tcp_flags"])) + bytes(6),
            UDP: ports + struct.pack("!HH", 8 + 8 + len(serial), 0),
            SCTP: ports + bytes(8),
            ICMP: bytes((packet["tp_src"] & 255, packet["tp_dst"] & 255)) + bytes(6),
            ICMP6: bytes((packet["tp_src"] & 255, packet["tp_dst"] & 255)) + bytes(22)}.get(proto, bytes(8))
    if packet["cut"]:  # before the ports: behind them, we read them and Open vSwitch does not
        return serial[-SERIAL:] if proto in (TCP, UDP, SCTP) else serial
    return data + bytes(8) + serial


def frame_of(packet, serial):
    """The frame of a packet of vswitch_oracle.py."""
    serial = struct.pack("!L", serial)
    kind = packet["dl_type"]
    head = packet["dl_dst"].to_bytes(6, "big") + packet["dl_src"].to_bytes(6, "big")
    for i, tag in enumerate(packet["vlans"]):
        inner = i + 1 == len(packet["vlans"])
        head += struct.pack("!HH", 0x8100 if inner else 0x88A8, tag & 0xEFFF)
    head += struct.pack("!H", kind)
    if kind == ARP:
        return head + struct.pack("!HHBBH", 1, 0x0800, 6, 4, packet["nw_proto"]) + packet["dl_src"].to_bytes(6, "big") \
            + packet["nw_src"].to_bytes(4, "big") + bytes(6) + packet["nw_dst"].to_bytes(4, "big") + bytes(14) + serial
    if kind not in (IP, IP6):
        return head + bytes(40) + serial
    if not packet["sound"]:
        return head + b"\x41" + bytes(41) + serial  # neither a length nor a version that is one
    four, frag = kind == IP, packet["frag"]
    names = ("nw_src", "nw_dst") if four else ("ipv6_src", "ipv6_dst")
    addresses = b"".join(packet[name].to_bytes(4 if four else 16, "big") for name in names)
    # A first fragment's ports are there; the checksum is that of more than its bytes. A later one is too short for
    # a TCP header, as Open vSwitch would write the checksum of one with an IPv4 address.
    data = transport(packet, serial) if frag != 3 else bytes(12) + serial
    data = checked(packet["nw_proto"], addresses, data) if not frag else data
    if four:
        part = {0: 0, 1: 0x2000, 3: 0x0010}[frag]
        ip = struct.pack("!BBHHHBBH", 0x45, packet["nw_tos"], 20 + len(data), 7, part, packet["nw_ttl"],
                         packet["nw_proto"], 0) + addresses
        check = 0xFFFF - (apply_oracle.total(ip) or 0xFFFF)
        return head + ip[:10] + struct.pack("!H", check) + ip[12:] + data
    proto = packet["nw_proto"]
    if frag:
        data = struct.pack("!BBHL", proto, 0, {1: 1, 3: 0x0010}[frag], 9) + data
        proto = 44
    return head + struct.pack("!LHBB", 6 << 28 | packet["nw_tos"] << 20, len(data), proto,
                              packet["nw_ttl"]) + addresses + data


# What a frame becomes.

PLACES = {"dst_mac": 0, "src_mac": 6, "ip4_src": 12, "ip4_dst": 16, "ip6_src": 8, "ip6_dst": 24,
          "l4_src": 0, "l4_dst": 2}


def merged(packet, name, value, mask):
    """An edit's value with the bits that a frame has outside a mask."""
    at = PLACES[name] + (packet.ip()[1] if name.startswith("ip") else packet.carried()[1] if name.startswith("l4")
                         else 0)
    was = packet.frame[at:at + len(value)]
    return bytes(old & ~bit & 255 | new & bit for old, new, bit in zip(was, value, mask))


def edit(packet, name, *args):
    if name != "masked":
        apply_oracle.EDITS[name](packet, *args)
        return
    value = merged(packet, *args)
    apply_oracle.EDITS[args[0]](packet, int.from_bytes(value, "big") if args[0].startswith("l4") else value)


def done(ops, frame, forgiving=False):
    """What leaves, by port: frames with their marks, in their order. An edit of what a frame has not
    ends a list of ours, and is left out of one of Open vSwitch's."""
    left, packet = collections.defaultdict(list), apply_oracle.Packet(frame)
    for name, *args in ops:
        if name == "output":
            left[args[0]].append((bytes(packet.frame), packet.mark or 0))
            continue
        try:
            edit(packet, name, *args)
        except apply_oracle.Drop:
            if not forgiving:
                break
    return dict(left)


def our_op(text):
    """An operation as the program prints it."""
    name, _, value = text.partition(":")
    if name == "out":
        return "output", int(value) - 20
    if name in ("pop", "push"):
        return ("pop_vlan",) if name == "pop" else ("push_vlan", int(value[:4], 16), int(value[4:], 16))
    if name == "tci":
        return "vlan_tci", *(int(part, 16) for part in value.split("/"))
    if name == "tos":
        return "tos", *bytes.fromhex(value)
    if name in ("ttl", "l4_src", "l4_dst", "mark"):
        return name, int(value, 16)
    return name, *([bytes.fromhex(value)] if value else [])


def ask(path, packets):
    """What the program says of each (port, frame): cookies and operations; and its rules with their counts."""
    data = b"".join(struct.pack("=HH", port, len(frame)) + frame for port, frame in packets)
    ran = subprocess.run([*l3fwd.UNDER, PROGRAM, path, "frames"], input=data, stdout=subprocess.PIPE, check=True)
    lines, answers = ran.stdout.decode().splitlines(), []
    for line in lines[:len(packets)]:
        head, tail = line.split(" ;")
        outcome, _, cookies = head.partition(" ")
        answers.append((int(outcome), cookies, [our_op(text) for text in tail.split(" ")[1:]]))
    return answers, "\n".join(lines[len(packets):])


FIELDS = {("eth", "src"): "src_mac", ("eth", "dst"): "dst_mac", ("ipv4", "src"): "ip4_src",
          ("ipv4", "dst"): "ip4_dst", ("ipv6", "src"): "ip6_src", ("ipv6", "dst"): "ip6_dst"}
MAC_BITS, IP4_BITS, IP6_BITS = "ff" * 6, "255.255.255.255", ":".join(["ffff"] * 8)
ALL_BITS = {"src_mac": MAC_BITS, "dst_mac": MAC_BITS, "ip4_src": IP4_BITS, "ip4_dst": IP4_BITS,
            "ip6_src": IP6_BITS, "ip6_dst": IP6_BITS}


def number(text):
    return int(text, 0)


def address(name, text):
    """Bytes of a MAC or IP address."""
    if name.endswith("mac"):
        return bytes.fromhex(text.replace(":", ""))
    return oracle.ipaddress.ip_address(text).packed


def their_set(kind, fields):
    """What set(KIND(FIELDS)) writes."""
    ops = []
    for field in ovs.split(fields):
        name, _, value = field.partition("=")
        if kind == "skb_mark":
            ops.append(("mark", number(field.partition("/")[0])))
            continue
        value, _, mask = value.partition("/")
        if (kind, name) in FIELDS:
            name = FIELDS[kind, name]
            ops.append(("masked", name, address(name, value), address(name, mask or ALL_BITS[name])))
        elif name in ("tos", "tclass"):
            ops.append(("tos", number(value), number(mask) if mask else 255))
        elif name in ("ttl", "hlimit"):
            assert not mask or number(mask) == 255, field
            ops.append(("ttl", number(value)))
        elif kind in ("tcp", "udp") and name in ("src", "dst"):
            ops.append(("masked", "l4_" + name, struct.pack("!H", number(value)),
                        struct.pack("!H", number(mask) if mask else 0xFFFF)))
        elif name not in ("proto", "frag", "label"):
            pytest.fail(f"no meaning is known of {kind} {field}", pytrace=False)
    return ops


def their_ops(text):
    """The datapath's actions as operations. The bridge's own port and the controller have no like here."""
    ops = []
    for word in ovs.split(text):
        name, _, rest = word.partition("(")
        rest = rest.removesuffix(")")
        if word.isdigit():
            ops += [("output", int(word))] if int(word) in ovs.PORTS else []
        elif name == "set":
            kind, _, fields = rest.partition("(")
            ops += their_set(kind, fields.removesuffix(")"))
        elif name == "push_vlan":
            tag = dict(field.split("=") for field in rest.split(","))
            ops.append(("push_vlan", number(tag.get("tpid", "0x8100")),
                        number(tag["vid"]) | number(tag["pcp"]) << 13))
        elif name == "pop_vlan":
            ops.append(("pop_vlan",))
        else:
            assert name in ("drop", "userspace"), word
    return ops


# Files, and what of them was met.

# What random rules have seldom, or packets meet seldom; four of these a file.
RARE = ("ip,nw_ttl=64 actions=mod_nw_ecn:1", "ip,nw_ecn=3 actions=mod_nw_ttl:9", "ipv6,nw_tos=32 actions=mod_nw_tos:8",
        "icmp,icmp_type=8 actions=mod_nw_src:10.0.0.9", "icmp6,icmp_type=8 actions=mod_dl_src:02:00:00:00:00:09",
        "ip,nw_frag=first actions=dec_ttl", "ip,ip_frag=later actions=strip_vlan", "udp6,tp_src=53 actions=dec_ttl",
        "arp,arp_spa=10.0.0.0/8,arp_op=1 actions=set_tunnel:7", "tcp,tcp_flags=+syn actions=mod_nw_dst:10.0.0.9",
        "udp,tp_dst=53 actions=mod_tp_dst:80", "tcp6,tp_dst=80 actions=mod_tp_src:0x400", "dl_vlan_pcp=7 actions=pop_vlan",
        "sctp,tp_dst=80 actions=mod_vlan_pcp:3", "tun_id=0,dl_vlan=2 actions=set_tunnel:5", "in_port=4 actions=ALL",
        "ipv6 actions=set_field:2001:db8::9->ipv6_dst", "tcp6 actions=set_field:2001:db8::/64->ipv6_src")


def random_file(chance, folder):
    """Rules that both read the same: without what one of them has not, and no two of a priority in a table."""
    _, lines = oracle.random_rules(chance, 60)
    no_writes = chance.random() < 0.5
    lines = [line for line in lines if not OURS_ONLY.search(line) and not (no_writes and PORT_WRITES.search(line))]
    priorities = chance.sample(range(60000), len(lines))
    lines = [f"priority={priority}," + re.sub(r"( , |, |,)priority=\d+", "", line)
             for priority, line in zip(priorities, lines)]
    # What many tables end with, so that more than one rule counts most frames.
    lines += [f"table={table},priority=0,cookie={1000 + table} actions="
              + chance.choice(("flood", "all", "in_port", "2", f"4,resubmit(,{table + 1})", "drop"))
              for table in range(4) if chance.random() < 0.6]
    rare = [line for line in RARE if not (no_writes and PORT_WRITES.search(line))]
    lines += [f"priority={65000 + i},cookie={2000 + i},{line},resubmit(,{chance.randrange(1, 3)})"
              for i, line in enumerate(chance.sample(rare, 4))]
    path = folder / "rules"
    path.write_text("\n".join(lines) + "\n")
    return path, no_writes


def random_frames(chance, no_writes, count):
    """(Port, frame) of packets."""
    some = []
    while len(some) < count:
        packet = oracle.random_packet(chance)
        proto, is_ip = packet["nw_proto"], packet["dl_type"] in (IP, IP6)
        if packet["tunnelled"] or packet["port"] > 14 or is_ip and not packet["sound"] or \
                is_ip and not no_writes and (proto in (SCTP, ICMP, ICMP6) or packet["frag"]) or \
                is_ip and proto == UDP and packet["tp_dst"] == 4789:
            continue
        some.append((packet["port"] - 10, frame_of(packet, len(some))))
    return some


WORDS = ("in_port", "dl_src", "dl_dst", "dl_vlan", "vlan_tci", "dl_vlan_pcp", "nw_src", "nw_dst", "ipv6_src",
         "ipv6_dst", "arp_spa", "arp_op", "nw_tos", "nw_ttl", "nw_ecn", "nw_frag", "ip_frag", "tp_src", "tcp_flags",
         "icmp_type", "tun_id", "ip", "ipv6", "arp", "tcp", "udp", "sctp", "icmp", "icmp6", "tcp6", "udp6",
         "mod_dl_src", "mod_nw_src", "mod_nw_dst", "mod_nw_tos", "mod_nw_ecn", "mod_nw_ttl", "mod_tp_src",
         "mod_tp_dst", "mod_vlan_vid", "mod_vlan_pcp", "set_tunnel", "set_field", "dec_ttl", "pop_vlan",
         "strip_vlan", "push_vlan", "resubmit", "goto_table", "output", "in_port", "flood", "ALL", "drop")


def counts(text):
    """Packets and bytes of each rule, by its cookie."""
    found = {}
    for line in text.splitlines():
        words = dict(re.findall(r"\b(cookie|n_packets|n_bytes)=(\w+)", line))
        if words:
            found[int(words["cookie"], 0)] = int(words["n_packets"]), int(words["n_bytes"])
    return found


def tags(frame):
    return sum(frame[at:at + 2] in (b"\x81\x00", b"\x88\xa8") for at in (12, 16))


def prepare(chance, folder, bridge, seen):
    """A file that both have loaded, frames, and what the program says. Frames that could get a third tag are
    left out, as Open vSwitch loses the innermost then, and those beyond bounds."""
    path, no_writes = random_file(chance, folder)
    packets = random_frames(chance, no_writes, PER_FILE)
    kept, refused = bridge.load(path)
    pushes = {int(re.search(r"cookie=(\w+)", line).group(1), 0): len(re.findall("push_vlan|mod_vlan", line))
              for line in path.read_text().splitlines()}
    answers, _ = ask(path, packets)
    few = []
    for sent, (outcome, cookies, _) in zip(packets, answers):
        most = tags(sent[1]) + sum(pushes[int(cookie)] for cookie in cookies.split(",") if cookie)
        if outcome == oracle.DONE and most <= 2:
            few.append(sent)
    seen.update({"kept": kept, "refused": refused, "left out": len(packets) - len(few)})
    answers, rules = ask(path, few)
    assert len(counts(rules)) == kept
    seen.rules(path, answers)
    seen.answers(answers)
    return path, few, answers, rules


class Seen(collections.Counter):
    """What the rules had that frames met, and what became of frames."""

    def rules(self, path, answers):
        met = {int(cookie) for _, cookies, _ in answers for cookie in cookies.split(",") if cookie}
        for line in path.read_text().splitlines():
            if int(re.search(r"cookie=(\w+)", line).group(1), 0) in met:
                self.update(set(re.findall(r"[A-Za-z]\w*", line)))

    def answers(self, answers):
        for _, cookies, ops in answers:
            self["frames"] += 1
            self["several rules"] += "," in cookies
            self["sent"] += any(op[0] == "output" for op in ops)
            self.update({"op " + op[0] for op in ops})

    def check(self, least):
        assert self["frames"] >= least
        assert self["refused"] < self["kept"] // 4 and self["left out"] < self["frames"] // 2, self
        for kind in ("several rules", "sent"):
            assert self["frames"] // 10 < self[kind] < self["frames"], self
        missing = [word for word in WORDS if not self[word]]
        assert not missing, missing
        # "own" is of packets that the bridge has had; "decap" and "encap" of tunnels.
        assert [op for op in apply_oracle.OPS
                if not self["op " + op] and op not in ("own", "decap", "encap")] == []


@pytest.fixture(scope="module", name="bridge")
def bridge_of_ovs():
    with ovs.switch() as bridge:
        yield bridge


def test_edits_are_those_of_ovs(tmp_path, bridge):
    seen, number_of_file = Seen(), 0
    while seen["frames"] < PACKETS:
        chance = random.Random(f"trace {number_of_file}")
        number_of_file += 1
        path, packets, answers, _ = prepare(chance, tmp_path, bridge, seen)
        for (port, frame), (_, cookies, ops), text in zip(packets, answers, bridge.trace(packets)):
            ours, theirs = done(ops, frame), done(their_ops(text), frame, forgiving=True)
            if ours != theirs:
                pytest.fail(f"{ours}\nby {cookies} {ops}, but Open vSwitch: {theirs}\n{text}\n"
                            f"{bridge.explain(port, frame)}\n{path.read_text()}", pytrace=False)
    seen.check(PACKETS)


def grouped(left):
    """Frames that left, by their numbers and ports: those of a port in their order."""
    by = collections.defaultdict(list)
    for port, frame in left:
        by[frame[-SERIAL:], port].append(frame)
    return dict(by)


def compare(bridge, path, packets, answers, rules):
    """Sends frames through Open vSwitch and compares what leaves and what each rule counts with what the program
    said. Returns how many leave."""
    due = [(port, frame) for (_, frame), (_, _, ops) in zip(packets, answers)
           for port, frames in done(ops, frame).items() for frame, _ in frames]
    ours, theirs = grouped(due), grouped(bridge.send(packets))
    for (serial, port) in sorted({*ours, *theirs}):
        here, there = ours.get((serial, port), []), theirs.get((serial, port), [])
        if here != there:
            (source, frame), answer = next(pair for pair in zip(packets, answers) if pair[0][1][-SERIAL:] == serial)
            pytest.fail(f"{frame.hex()} to {port}: {[f.hex() for f in here]}\nby {answer}, "
                        f"but Open vSwitch: {[f.hex() for f in there]}\n{bridge.explain(source, frame)}\n"
                        f"{path.read_text()}", pytrace=False)
    mine, other = counts(rules), counts(bridge.dump())
    assert mine == other, (path.read_text(), mine, other)
    return len(due)


def tagged(serial, *vlans):
    """A frame of its own source, with tags of priority 7."""
    head = bytes(6) + struct.pack("!HL", 0x200, serial)
    for vlan in vlans:
        head += struct.pack("!HH", 0x8100, 7 << 13 | vlan)
    return head + b"\x88\xb5" + bytes(40) + struct.pack("!L", serial)


def test_ovs_forgets_frames_and_rules(tmp_path, bridge):
    """What leaves depends neither on frames before, whose megaflows every second frame would hit, nor on rules
    before. All come through one port, whose queue does not overflow."""
    path = tmp_path / "rules"
    packets = [(4, tagged(serial, 1, *[2] * (serial % 2))) for serial in range(10 * ovs.QUEUE)]
    for port in (1, 2):
        path.write_text("cookie=1,in_port=4,dl_vlan_pcp=7 actions=strip_vlan,resubmit(,1)\n"
                        "cookie=2,table=1,priority=0 actions=drop\n"
                        f"cookie=3,table=1,priority=1,dl_vlan=2 actions=output:{port}\n")
        answers, rules = ask(path, packets)
        assert [count for _, (count, _) in sorted(counts(rules).items())] == [1000, 500, 500]
        bridge.load(path)
        assert "flows: 0\n" in bridge.control.ask([("dpctl/show",)])[0]
        assert compare(bridge, path, packets, answers, rules) == len(packets) // 2


@pytest.mark.skipif("HALYARD_OVS_PACKETS" not in os.environ, reason="for `make proof`: needs HALYARD_OVS_PACKETS")
def test_frames_and_counts_are_those_of_ovs(tmp_path, bridge):
    seen, number_of_file, left_in_all = Seen(), 0, 0
    while seen["frames"] < PACKETS:
        chance = random.Random(f"send {number_of_file}")
        number_of_file += 1
        path, packets, answers, rules = prepare(chance, tmp_path, bridge, seen)
        left_in_all += compare(bridge, path, packets, answers, rules)
        seen["counted"] += sum(packets for packets, _ in counts(rules).values())
    seen.check(PACKETS)
    assert left_in_all > PACKETS // 2 and seen["counted"] > PACKETS // 2
