# SPDX-License-Identifier: BSD-3-Clause
"""What rules of a switch say of a packet, by brute force, as ovs-fields(7) and ovs-actions(7) describe it;
and random rules and packets.

A packet is a dict of fields by ovs-fields(7)'s names; "vlans" is a list of tags, the outer first, each with
0x1000; "sound": there is a whole IP header, "cut": what it carries is cut. A rule has matches as (field,
value, mask), and actions as tuples. The switch is that of hy-test-vswitch-ask.
"""

import ipaddress
import struct

IP, IP6, ARP = 0x0800, 0x86DD, 0x0806
TCP, UDP, SCTP, ICMP, ICMP6 = 6, 17, 132, 1, 58
PORTS = {1: 21, 2: 22, 3: 23, 4: 24}
NO_FLOOD, NORMAL = 3, 9
TUNNELS = {5: "10.0.0.2", 6: None}
LOCAL = "10.0.0.1"
MOST_OPS, DEPTH, RESUBMITS = 64, 64, 4096
DONE, NO_INPUT, TOO_DEEP, TOO_MANY, TOO_LONG = range(5)
OPS = {"dl_src": "src_mac", "dl_dst": "dst_mac", "nw_src": "ip4_src", "nw_dst": "ip4_dst",
       "ipv6_src": "ip6_src", "ipv6_dst": "ip6_dst", "nw_ttl": "ttl", "tp_src": "l4_src",
       "tp_dst": "l4_dst"}
WIDTHS = {"dl_src": 48, "dl_dst": 48, "nw_src": 32, "nw_dst": 32, "ipv6_src": 128, "ipv6_dst": 128,
          "nw_ttl": 8, "tp_src": 16, "tp_dst": 16}


class Stop(Exception):
    """A bound was passed; the argument is the outcome."""


class Run:
    """One packet on its way."""

    def __init__(self, tables, packet):
        self.tables, self.packet = tables, dict(packet, vlans=list(packet["vlans"]))
        self.ops, self.met, self.mark, self.wrapped, self.depth = [], [], 0, False, 0
        self.resubmits, self.sent, self.lent = 0, False, False

    def op(self, text):
        for one in (["decap"] if self.wrapped else []) + [text]:
            if len(self.ops) == MOST_OPS:
                raise Stop(TOO_LONG)
            self.ops.append(one)
        self.wrapped = False

    def table(self, number, port):
        """Does what a table says."""
        packet = dict(self.packet, in_port=port)
        packet["vlan_tci"] = packet["vlans"][0] if packet["vlans"] else 0
        for rule in self.tables.get(number, ()):
            if all(packet[field] & mask == value for field, value, mask in rule["match"]):
                break
        else:
            return
        self.met.append(rule["cookie"])
        for action in rule["actions"]:
            if getattr(self, action[0])(rule, *action[1:]) is False:
                break

    def resubmit(self, rule, port, table):
        if self.depth >= DEPTH:
            raise Stop(TOO_DEEP)
        if self.resubmits == RESUBMITS:
            raise Stop(TOO_MANY)
        self.resubmits += 1
        deeper = table <= rule["table"]
        self.depth += deeper
        self.table(table, self.packet["in_port"] if port is None else port)
        self.depth -= deeper

    def goto(self, rule, table):
        self.resubmit(rule, None, table)

    def output(self, _rule, port):
        source = self.packet["in_port"]
        if port == "in_port":
            self.send(source)
        elif port == "normal":
            self.out(NORMAL)
        elif port in ("all", "flood"):
            for number in sorted([*PORTS, *TUNNELS]):
                if number != source and (port == "all" or number != NO_FLOOD):
                    self.send(number)
        elif port != source and (port in PORTS or port in TUNNELS):
            self.send(port)

    def out(self, edge):
        """The bridge writes to packets, which therefore no copy shares."""
        if self.lent or edge == NORMAL and self.sent:
            self.op("own")
        self.op(f"out:{edge}")
        self.sent, self.lent = True, edge == NORMAL

    def send(self, port):
        if port in PORTS:
            self.out(PORTS[port])
            return
        remote = int(ipaddress.ip_address(TUNNELS[port])) if TUNNELS[port] else self.packet["tun_dst"]
        if remote:
            local = int(ipaddress.ip_address(LOCAL))
            self.op(f"encap:020000000002/020000000001/{self.packet['tun_id']:06x}/{local:08x}/"
                    f"{remote:08x}/4789/0/64")
            self.out(PORTS[1])
            self.wrapped = True

    def is_ip(self):
        return self.packet["dl_type"] in (IP, IP6) and self.packet["sound"]

    def has(self, field, proto):
        """Whether the packet has a field that can be written; proto: one that it must carry."""
        if field in ("nw_src", "nw_dst"):
            return self.is_ip() and self.packet["dl_type"] == IP
        if field in ("ipv6_src", "ipv6_dst"):
            return self.is_ip() and self.packet["dl_type"] == IP6
        if field in ("tp_src", "tp_dst"):
            return (self.is_ip() and self.packet["nw_proto"] in ((proto,) if proto else (TCP, UDP)) and
                    not self.packet["frag"] and not self.packet["cut"])
        return self.is_ip() if field in ("nw_ttl", "nw_tos") else True

    def set(self, _rule, field, value, mask, proto=None):
        packet = self.packet
        if field == "pkt_mark":
            self.mark = self.mark & ~mask | value
            self.op(f"mark:{self.mark:08x}")
        elif field == "vlan":
            if packet["vlans"]:
                packet["vlans"][0] = packet["vlans"][0] & ~mask | value
                self.op(f"tci:{value & 0xEFFF:04x}/{mask & 0xEFFF:04x}")
        elif field in ("tun_id", "tun_dst"):
            packet[field] = packet[field] & ~mask | value
        elif self.has(field, proto):
            packet[field] = packet[field] & ~mask | value
            if field == "nw_tos":
                self.op(f"tos:{value:02x}{mask:02x}")
            else:
                self.op(f"{OPS[field]}:{packet[field]:0{WIDTHS[field] // 4}x}")

    def mod_vlan(self, rule, value, mask):
        if self.packet["vlans"]:
            self.set(rule, "vlan", value | 0x1000, mask | 0x1000)
        else:
            self.push(rule, 0x8100, value)

    def push(self, _rule, ether_type, tci=0):
        self.op(f"push:{ether_type:04x}{tci:04x}")
        self.packet["vlans"].insert(0, tci | 0x1000)

    def pop(self, _rule):
        if self.packet["vlans"]:
            self.op("pop")
            del self.packet["vlans"][0]

    def dec_ttl(self, _rule):
        if not self.is_ip():
            return None
        if self.packet["nw_ttl"] < 2:
            return False
        self.packet["nw_ttl"] -= 1
        self.op("dec_ttl")
        return None


def input_of(packet):
    """The port that a packet came from, or None."""
    if packet["tunnelled"]:
        if packet["tun_dst"] != int(ipaddress.ip_address(LOCAL)):
            return None
        return 5 if packet["tun_src"] == int(ipaddress.ip_address(TUNNELS[5])) else 6
    return packet["port"] - 10 if 11 <= packet["port"] <= 14 else None


def tables_of(rules):
    """Rules by table, the first that counts first."""
    tables = {}
    for rule in sorted(rules, key=lambda rule: -rule["priority"]):  # stable: the older first
        tables.setdefault(rule["table"], []).append(rule)
    return tables


def translate(tables, packet):
    """Outcome, cookies of the rules met, operations."""
    port = input_of(packet)
    if port is None:
        return NO_INPUT, [], []
    run = Run(tables, dict(packet, in_port=port))
    if packet["dl_type"] == IP6 and packet["frag"] == 3:
        run.packet["nw_proto"] = 44
    outcome = DONE
    try:
        if packet["tunnelled"]:
            run.op("decap")
        run.table(0, port)
    except Stop as stop:
        outcome = stop.args[0]
        run.ops = []
    while run.ops and not run.ops[-1].startswith("out:"):
        run.ops.pop()
    return outcome, run.met, run.ops


# A packet's key, as hy_flows_key.h lays it out.
KEY = struct.Struct("=H 2s BBBB 2s2sB3s 4s4s 6s2s 6s2s 4s4s 16s16s 16s16s")


def key_of(packet):
    def number(field, size):
        return packet[field].to_bytes(size, "big")

    def tag(i):
        return (packet["vlans"][i] if i < len(packet["vlans"]) else 0).to_bytes(2, "big")

    kind = {0: 0, 1: 1, 3: 2}[packet["frag"]] | (8 if packet["cut"] else 0) | \
        (16 if packet["tunnelled"] else 0) | (32 if packet["sound"] else 0)
    if packet["frag"] == 3 and packet["unread"]:
        kind = kind & ~2 | 4
    return KEY.pack(packet["port"], number("dl_type", 2), packet["nw_proto"], kind, packet["nw_tos"],
                    packet["nw_ttl"], number("tp_src", 2), number("tp_dst", 2), packet["tcp_flags"],
                    number("tun_id", 3), number("nw_src", 4), number("nw_dst", 4), number("dl_dst", 6),
                    tag(0), number("dl_src", 6), tag(1), number("tun_src", 4), number("tun_dst", 4),
                    number("ipv6_src", 16), number("ipv6_dst", 16), bytes(16), bytes(16))


# Values of few kinds, so that rules match now and then.
def address(random):
    return random.choice((0x0A000001, 0x0A000002, 0x0A000102, 0x0B000001, 0xC0A80001))


def address6(random):
    return 0x20010DB8 << 96 | random.choice((1, 2, 3, 1 << 64 | 1, 1 << 80))


def mac(random):
    return random.choice((0x020000000001, 0x020000000002, 0x01005E000001, 0xFFFFFFFFFFFF))


def random_packet(random):
    packet = dict.fromkeys(("nw_proto", "nw_tos", "nw_ttl", "nw_src", "nw_dst", "ipv6_src", "ipv6_dst",
                            "tp_src", "tp_dst", "tcp_flags", "tun_id", "tun_src", "tun_dst", "frag"), 0)
    packet |= {"sound": False, "cut": False, "unread": random.random() < 0.3, "dl_src": mac(random),
               "dl_dst": mac(random), "port": random.choice((11, 12, 13, 14, 11, 12, 15)),
               "vlans": [random.choice((1, 2, 7, 0x2001, 0xE007)) | 0x1000
                         for _ in range(random.choice((0, 0, 1, 1, 2)))]}
    packet["tunnelled"] = random.random() < 0.25
    if packet["tunnelled"]:
        packet |= {"tun_id": random.choice((0, 1, 5, 7, 0xFFFFFF)), "tun_src": address(random),
                   "tun_dst": random.choice((0x0A000001, 0x0A000001, 0x0A000001, 0x0A000009))}
    packet["dl_type"] = random.choice((IP, IP, IP, IP6, IP6, ARP, 0x88CC))
    if packet["dl_type"] == ARP:
        packet |= {"nw_proto": random.choice((1, 2)), "nw_src": address(random),
                   "nw_dst": address(random)}
    if packet["dl_type"] not in (IP, IP6) or random.random() < 0.03:
        return packet
    four = packet["dl_type"] == IP
    packet |= {"sound": True, "nw_tos": random.choice((0, 1, 0x20, 0x23, 0xB8)),
               "nw_ttl": random.choice((0, 1, 2, 3, 64, 65, 255)), "frag": random.choice((0, 0, 0, 0, 1, 3)),
               "nw_proto": random.choice((TCP, TCP, UDP, UDP, SCTP, ICMP if four else ICMP6, 47))}
    if four:
        packet |= {"nw_src": address(random), "nw_dst": address(random)}
    else:
        packet |= {"ipv6_src": address6(random), "ipv6_dst": address6(random)}
    if packet["frag"]:
        return packet
    packet["cut"] = random.random() < 0.05
    if packet["nw_proto"] in (TCP, UDP, SCTP):
        packet |= {"tp_src": random.choice((0, 53, 80, 443, 1024)), "tp_dst": random.choice((53, 80, 4789))}
    if packet["nw_proto"] == TCP:
        packet["tcp_flags"] = random.choice((2, 0x12, 0x10, 4, 0))
    if packet["nw_proto"] in (ICMP, ICMP6):
        packet |= {"tp_src": random.choice((8, 0, 135)), "tp_dst": random.choice((0, 1))}
    return packet


def number_text(random, value):
    return random.choice((str(value), hex(value)))


def masked(random, name, field, value, width, write):
    """A match with or without a mask: text and triple."""
    full = (1 << width) - 1
    if random.random() < 0.5:
        return f"{name}={write(value)}", (field, value, full)
    mask = full ^ full >> random.randrange(1, width + 1) if random.random() < 0.6 \
        else random.getrandbits(width) | 1
    return f"{name}={write(value)}/{write(mask)}", (field, value & mask, mask)


def write_ip(value):
    return str(ipaddress.IPv4Address(value))


def write_ip6(value):
    return str(ipaddress.IPv6Address(value))


def write_mac(value):
    return ":".join(f"{byte:02x}" for byte in value.to_bytes(6, "big"))


def random_ip_match(random, kind, make, write, width):
    """Of an address: a prefix by its length, too."""
    value = make(random)
    name, field = kind
    if random.random() < 0.3:
        length = random.randrange(1, width + 1)
        mask = (1 << width) - (1 << width - length)
        return f"{name}={write(value)}/{length}", (field, value & mask, mask)
    return masked(random, name, field, value, width, write)


FLAGS = ("fin", "syn", "rst", "psh", "ack", "urg", "ece", "cwr")


def random_flags(random):
    value = random.choice((2, 0x12, 0x10, 4, 1))
    way = random.randrange(3)
    if way == 0:
        mask = value | random.choice((2, 0x10, 0x12, 0))
        text = "".join(("+" if value >> bit & 1 else "-") + FLAGS[bit] for bit in range(8) if mask >> bit & 1)
        return f"tcp_flags={text}", ("tcp_flags", value, mask)
    if way == 1:
        text = "|".join(FLAGS[bit] for bit in range(8) if value >> bit & 1)
        return f"tcp_flags={text}", ("tcp_flags", value, 0xFF)
    return masked(random, "tcp_flags", "tcp_flags", value, 8, lambda n: number_text(random, n))


def fragment_match(random):
    word, value, mask = random.choice((("no", 0, 3), ("yes", 1, 1), ("first", 1, 3), ("later", 3, 3),
                                       ("not_later", 0, 2)))
    return f"{random.choice(('nw_frag', 'ip_frag'))}={word}", ("frag", value, mask)


def vlan_match(random):
    vid, pcp = random.choice((1, 2, 7)), random.choice((0, 1, 7))
    return random.choice((
        [(f"dl_vlan={vid}", ("vlan_tci", 0x1000 | vid, 0x1FFF))],
        [("dl_vlan=0xffff", ("vlan_tci", 0, 0xFFFF))],
        [(f"dl_vlan_pcp={pcp}", ("vlan_tci", 0x1000 | pcp << 13, 0xF000))],
        [(f"dl_vlan={vid}", ("vlan_tci", 0x1000 | vid, 0x1FFF)),
         (f"vlan_pcp={pcp}", ("vlan_tci", pcp << 13, 0xE000))],
        [("vlan_tci=0x1000/0x1000", ("vlan_tci", 0x1000, 0x1000))],
        [(f"vlan_tci={0x1000 | vid:#x}/0x1fff", ("vlan_tci", 0x1000 | vid, 0x1FFF))],
        [(f"vlan_vid={0x1000 | vid:#x}", ("vlan_tci", 0x1000 | vid, 0x1FFF))]))


PROTOS = {IP: {"ip": None, "icmp": ICMP, "tcp": TCP, "udp": UDP, "sctp": SCTP},
          IP6: {"ipv6": None, "icmp6": ICMP6, "tcp6": TCP, "udp6": UDP, "sctp6": SCTP},
          ARP: {"arp": None}}


def any_number(random):
    return lambda value: number_text(random, value)


def link_matches(random):
    some = []
    if random.random() < 0.3:
        port = random.randrange(1, 7)
        some.append((f"in_port={random.choice((str(port), f'eth{port}' if port < 5 else f'vx{port}'))}",
                     ("in_port", port, 0xFFFF)))
    for name, alias in (("dl_src", "eth_src"), ("dl_dst", "eth_dst")):
        if random.random() < 0.15:
            some.append(masked(random, random.choice((name, alias)), name, mac(random), 48, write_mac))
    if random.random() < 0.2:
        some += vlan_match(random)
    if random.random() < 0.1:
        some.append(masked(random, "tun_id", "tun_id", random.choice((0, 1, 5, 7)), 24, any_number(random)))
    if random.random() < 0.05:
        some.append(masked(random, "tun_src", "tun_src", address(random), 32, write_ip))
    return some


def transport_matches(random, proto):
    some = []
    if proto in (TCP, UDP, SCTP):
        own = {TCP: "tcp", UDP: "udp", SCTP: "sctp"}[proto]
        for side, value in (("src", random.choice((53, 80))), ("dst", random.choice((53, 80, 4789)))):
            if random.random() < 0.4:
                some.append(masked(random, random.choice(("tp_", own + "_")) + side, "tp_" + side, value, 16,
                                   any_number(random)))
    if proto == TCP and random.random() < 0.3:
        some.append(random_flags(random))
    if proto in (ICMP, ICMP6):
        prefix = random.choice(("icmp", "icmpv6" if proto == ICMP6 else "icmp"))
        some.append((f"{prefix}_type=8", ("tp_src", 8, 0xFFFF)))
        some.append((f"{prefix}_code=0", ("tp_dst", 0, 0xFFFF)))
    return some


def network_matches(random):
    """Also which type and protocol they ask for."""
    kind = random.choice((IP, IP, IP6, ARP))
    word, proto = random.choice(list(PROTOS[kind].items()))
    some = [(word, ("dl_type", kind, 0xFFFF))]
    if proto is not None:
        some.append(("", ("nw_proto", proto, 0xFF)))
    elif random.random() < 0.1 and kind != ARP:
        proto = TCP
        some.append((f"{random.choice(('nw_proto', 'ip_proto'))}=6", ("nw_proto", 6, 0xFF)))
    names = {IP: (("nw_src", "ip_src"), ("nw_dst", "ip_dst")), ARP: (("arp_spa", "nw_src"), ("arp_tpa", "nw_dst")),
             IP6: (("ipv6_src",), ("ipv6_dst",))}[kind]
    for aliases, field in zip(names, ("ipv6_src", "ipv6_dst") if kind == IP6 else ("nw_src", "nw_dst")):
        if random.random() < 0.4:
            make, write, width = (address6, write_ip6, 128) if kind == IP6 else (address, write_ip, 32)
            some.append(random_ip_match(random, (random.choice(aliases), field), make, write, width))
    if kind == ARP:
        if random.random() < 0.4:
            some.append(("arp_op=1", ("nw_proto", 1, 0xFF)))
        return some, kind, proto
    if random.random() < 0.1:
        some.append(random.choice((("nw_tos=32", ("nw_tos", 32, 0xFC)), ("ip_dscp=8", ("nw_tos", 32, 0xFC)),
                                   ("nw_ecn=3", ("nw_tos", 3, 3)))))
    if random.random() < 0.1:
        some.append(("nw_ttl=64", ("nw_ttl", 64, 0xFF)))
    if random.random() < 0.15:
        some.append(fragment_match(random))
    return some + transport_matches(random, proto), kind, proto


def random_match(random):
    """Texts and triples of a match, type and protocol that it asks for."""
    some, kind, proto = (network_matches(random) if random.random() < 0.75 else ([], None, None))
    some += link_matches(random)
    return [text for text, _ in some if text], [triple for _, triple in some], kind, proto


def set_texts(random, kind, proto, tagged):
    """Writes that a rule may have: text and action."""
    some = []
    for name, field in (("mod_dl_src", "dl_src"), ("mod_dl_dst", "dl_dst")):
        value = mac(random)
        some.append((f"{name}:{write_mac(value)}", ("set", field, value, (1 << 48) - 1)))
        mask = random.getrandbits(48) | 1
        some.append((f"set_field:{write_mac(value & mask)}/{write_mac(mask)}->{field.replace('dl', 'eth')}",
                     ("set", field, value & mask, mask)))
    value = address(random)
    some += [(f"mod_nw_src:{write_ip(value)}", ("set", "nw_src", value, 0xFFFFFFFF)),
             (f"mod_nw_dst:{write_ip(value)}", ("set", "nw_dst", value, 0xFFFFFFFF)),
             ("mod_nw_tos:32", ("set", "nw_tos", 32, 0xFC)), ("mod_nw_ecn:2", ("set", "nw_tos", 2, 3)),
             (f"mod_nw_ttl:{value & 3}", ("set", "nw_ttl", value & 3, 0xFF)),
             ("mod_tp_src:1024", ("set", "tp_src", 1024, 0xFFFF)),
             ("mod_tp_dst:0x50", ("set", "tp_dst", 80, 0xFFFF)),
             ("mod_vlan_vid:7", ("mod_vlan", 7, 0xFFF)), ("mod_vlan_pcp:1", ("mod_vlan", 0x2000, 0xE000)),
             ("set_tunnel:5", ("set", "tun_id", 5, 0xFFFFFF)),
             ("set_field:1/0x3->tun_id", ("set", "tun_id", 1, 3)),
             (f"set_field:{write_ip(value)}->tun_dst", ("set", "tun_dst", value, 0xFFFFFFFF)),
             ("set_field:0x12/0xff->pkt_mark", ("set", "pkt_mark", 0x12, 0xFF)),
             ("set_field:0x3400->pkt_mark", ("set", "pkt_mark", 0x3400, 0xFFFFFFFF))]
    if kind == IP:
        some += [(f"set_field:{write_ip(value & 0xFFFF00FF)}/255.255.0.255->ip_src",
                  ("set", "nw_src", value & 0xFFFF00FF, 0xFFFF00FF))]
    if kind == IP6:
        value = address6(random)
        some += [(f"set_field:{write_ip6(value)}->ipv6_dst", ("set", "ipv6_dst", value, (1 << 128) - 1)),
                 (f"set_field:{write_ip6(value >> 64 << 64)}/64->ipv6_src",
                  ("set", "ipv6_src", value >> 64 << 64, (1 << 64) - 1 << 64))]
    if kind in (IP, IP6):
        some += [("set_field:8->ip_dscp", ("set", "nw_tos", 32, 0xFC))]
    if kind in (IP, IP6) and proto == TCP:
        some += [("set_field:80/0xf0->tcp_src", ("set", "tp_src", 80 & 0xF0, 0xF0, TCP))]
    if kind in (IP, IP6) and proto == UDP:
        some += [("set_field:53->udp_dst", ("set", "tp_dst", 53, 0xFFFF, UDP))]
    if tagged:
        some += [("set_field:0x1002->vlan_vid", ("set", "vlan", 0x1002, 0x1FFF)),
                 ("set_field:7->vlan_pcp", ("set", "vlan", 0xE000, 0xE000))]
    return some


def output_texts(random):
    port = random.randrange(1, 8)
    return [(f"output:{port}", ("output", port)), (f"{port}", ("output", port)),
            ("eth2", ("output", 2)), ("output:vx6", ("output", 6)), ("in_port", ("output", "in_port")),
            ("normal", ("output", "normal")), ("flood", ("output", "flood")), ("ALL", ("output", "all"))]


def random_actions(random, table, triples, kind, proto):
    """Texts and actions; none: dropped."""
    texts, actions = [], []
    tagged = any(field == "vlan_tci" and value & mask & 0x1000 for field, value, mask in triples)
    for _ in range(random.choice((0, 1, 1, 2, 3, 5))):
        other = random.randrange(0, 4)
        text, action = random.choice(random.choice((
            *[set_texts(random, kind, proto, tagged)] * 3, output_texts(random), output_texts(random),
            [("dec_ttl", ("dec_ttl",))],
            [("pop_vlan", ("pop",)), ("strip_vlan", ("pop",)), ("push_vlan:0x8100", ("push", 0x8100)),
             ("push_vlan:0x88a8", ("push", 0x88A8))],
            [(f"resubmit(,{other})", ("resubmit", None, other)), (f"resubmit(2,{other})", ("resubmit", 2, other)),
             ("resubmit:3", ("resubmit", 3, table))] if random.random() < 0.3 or other > table
            else [("dec_ttl", ("dec_ttl",))])))
        tagged = action[0] in ("push", "mod_vlan") or (tagged and action[0] != "pop")
        texts.append(text)
        actions.append(action)
    if random.random() < 0.5:
        text, action = random.choice(output_texts(random))
        texts.append(text)
        actions.append(action)
    if table < 3 and random.random() < 0.4:
        other = random.randrange(table + 1, 4)
        texts.append(f"goto_table:{other}")
        actions.append(("goto", other))
    return texts or ["drop"], actions


def random_rules(random, most):
    """Rules and the text of their file. No two are the same."""
    rules, lines, seen = [], [], set()
    for cookie in range(1, random.randrange(2, most)):
        texts, triples, kind, proto = random_match(random)
        rule = {"table": random.choice((0, 0, 1, 2, 3)), "priority": random.choice((0, 1, 10, 32768, 65535)),
                "cookie": cookie, "match": triples}
        bits = {}
        for field, value, mask in triples:
            old = bits.get(field, (0, 0))
            bits[field] = old[0] | value, old[1] | mask
        same = rule["table"], rule["priority"], tuple(sorted(
            (field, *pair) for field, pair in bits.items() if pair[1]))
        if same in seen:
            continue
        seen.add(same)
        words, rule["actions"] = random_actions(random, rule["table"], triples, kind, proto)
        random.shuffle(texts)
        head = [f"cookie={cookie:#x}"] + ([f"table={rule['table']}"] if rule["table"] else []) + \
            ([] if rule["priority"] == 32768 else [f"priority={rule['priority']}"])
        comma = random.choice((",", ", ", " , "))
        lines.append(comma.join(head + texts) + random.choice((",", " ")) + "actions=" + ",".join(words))
        rules.append(rule)
    return rules, lines
