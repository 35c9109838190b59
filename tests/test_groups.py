# SPDX-License-Identifier: BSD-3-Clause
"""Groups of next hops, of both families: each flow goes to one member, all fragments of a datagram
together, shares follow weights, and flows stay when members and links come and go while packets flow.
What belongs to a flow, and what a frame becomes, is said here and by the oracle, not by the program's
hash."""

import collections
import os
import random
import re
import signal
import socket
import struct
from typing import Callable, NamedTuple

import pytest

import l3fwd
import oracle
from l3fwd import SILENT
from live import Live, Sink
from test_links import TAP, ip
from test_routes_live import dump
from test_tap import await_up, listen, received
from test_trace import ways

PORTS = 4  # frames come by port 0
# Members with their weights; two share a port, and two a MAC address.
MEMBERS = {(1, "02:00:00:00:01:01"): 1, (1, "02:00:00:00:01:02"): 2, (2, "02:00:00:00:01:01"): 3,
           (3, "02:00:00:00:03:01"): 2}
NET = "10.0.0.0/8"
NET6 = "2001:db8::/32"
FLOWS = 24000
PORTED = (6, 17, 132)  # TCP, UDP, SCTP
VARIANTS = {  # of rewriting nodes, and the chain in one piece or not
    "picked": [],
    "apart": ["--deny=ip4_forward"],
    "dispatch": ["--mode=dispatch", "--pin=ip6_rewrite=1"],
    "scalar": ["--node=pkt_cls=scalar", "--node=ip4_lookup=scalar", "--node=ip4_rewrite=scalar",
               "--node=ip6_lookup=scalar", "--node=ip6_rewrite=scalar"],
}


def member(port, mac, weight=1):
    """A member, as a line has it."""
    return f"port {port} mac {mac}" + (f" weight {weight}" if weight != 1 else "")


def line(members, prefix=NET):
    """A line of a route file."""
    return f"{prefix} group {', '.join(member(*of, weight) for of, weight in members.items())}\n"


def frame(src, dst, proto, payload, part=0, ident=0, options=b"", padding=b""):
    """An IPv4 packet over Ethernet."""
    head = struct.pack(">BBHHHBBH4s4s", 0x45 + len(options) // 4, 0,
                       20 + len(options) + len(payload), ident, part, 64, proto, 0,
                       src.to_bytes(4, "big"), dst.to_bytes(4, "big")) + options
    total = oracle.checksum(head)
    head = head[:10] + struct.pack(">H", total) + head[12:]
    return bytes(12) + b"\x08\x00" + head + payload + padding


def ports(rng):
    """Source and destination port, in bytes."""
    return struct.pack(">HH", rng.randrange(65536), rng.randrange(65536))


def flow(rng, kind, n):
    """Several frames of one flow: TTL aside, what differs is none of it."""
    src, dst = rng.randrange(1 << 24, 1 << 31), (10 << 24) + rng.randrange(1 << 24)
    proto = rng.choice(PORTED)
    both = ports(rng)
    rest = lambda: rng.randbytes(rng.randrange(16, 40))  # noqa: E731
    if kind == "ports":
        return [frame(src, dst, proto, both + rest(), rng.choice((0, 0x4000)), i) for i in range(n)]
    if kind == "options":
        return [frame(src, dst, proto, both + rest(), 0, i, b"\1" * 4 * rng.randrange(1, 11))
                for i in range(n)]
    if kind == "fragments":  # the first has ports; later ones have anything there
        return [frame(src, dst, proto, both + rest(), 0x2000, n)] + [
            frame(src, dst, proto, rng.randbytes(24), 0x2000 * (i < n - 1) | 3 * i, n)
            for i in range(1, n)]
    if kind == "portless":
        return [frame(src, dst, rng.choice((1,)), rest()) for _ in range(n)]
    # "short": its datagram ends before its ports; what follows is padding.
    return [frame(src, dst, proto, b"", padding=rng.randbytes(26)) for _ in range(n)]


def frame6(src, dst, proto, payload, label=0, padding=b""):
    """An IPv6 packet over Ethernet."""
    head = struct.pack(">IHBB", 6 << 28 | label, len(payload), proto, 64)
    return (bytes(12) + b"\x86\xdd" + head + src.to_bytes(16, "big") + dst.to_bytes(16, "big") +
            payload + padding)


def flow6(rng, kind, n):
    """As flow(). The flow label is part of a flow without ports, and of no other."""
    src = rng.randrange(0x2400 << 112, 0x2800 << 112)
    dst = (0x20010db8 << 96) + rng.randrange(1 << 96)
    proto = rng.choice(PORTED)
    both, label = ports(rng), rng.randrange(1 << 20)
    rest = lambda: rng.randbytes(rng.randrange(16, 40))  # noqa: E731
    any_label = lambda: rng.randrange(1 << 20)  # noqa: E731
    if kind == "ports":
        return [frame6(src, dst, proto, both + rest(), any_label()) for _ in range(n)]
    if kind == "options":  # hop-by-hop options or a routing header, which nobody looks behind
        first = rng.choice((0, 43))
        return [frame6(src, dst, first, bytes([proto, 0]) + rng.randbytes(6) + rest(), label)
                for _ in range(n)]
    if kind == "fragments":  # of which only the first has ports
        part = lambda i: struct.pack(">BBHI", proto, 0, 8 * i | (i < n - 1), n)  # noqa: E731
        return [frame6(src, dst, 44, part(i) + (both if i == 0 else b"") + rng.randbytes(24),
                       any_label()) for i in range(n)]
    if kind == "portless":
        proto = rng.choice((50, 58, 59))
        return [frame6(src, dst, proto, rest(), label) for _ in range(n)]
    return [frame6(src, dst, proto, both[:rng.randrange(4)], label, rng.randbytes(26))
            for _ in range(n)]


KINDS = ("ports", "options", "fragments", "portless", "short")


class Family(NamedTuple):
    """What differs between families."""

    net: str
    same: Callable  # the part of a frame that leaves as it came
    flow: Callable


FAMILIES = {"ip4": Family(NET, lambda f: f[26:], flow),
            "ip6": Family(NET6, lambda f: f[14:21] + f[22:], flow6)}


def traffic(seed, family):
    """Frames in random order, and the flow of each. Few have several frames."""
    rng = random.Random(seed)
    made = []
    for number in range(FLOWS):
        kind = KINDS[number % 50] if number % 50 < len(KINDS) else "ports"
        many = rng.randrange(3, 6) if number % 50 < len(KINDS) else 1
        made += [(number, f) for f in family.flow(rng, kind, many)]
    rng.shuffle(made)
    return made


def takers(run, made, family):
    """The member that each frame went to. Fails unless each went to one, and as the oracle wants."""
    by_content = collections.defaultdict(list)
    for index, (_, data) in enumerate(made):
        by_content[family.same(data)].append(index)
    found = {}
    for port in range(1, PORTS):
        table = {mac: oracle.Table([oracle.route(family.net, p, mac)])
                 for p, mac in MEMBERS if p == port}
        for got in run.sent(port):
            index = by_content[family.same(got)].pop()
            mac = got[:6].hex(":")
            assert (port, mac) in MEMBERS, f"port {port} sent to {mac}"
            want = oracle.verdict(made[index][1], table[mac], run.macs, 1518)
            assert want.frame == got, f"{want.frame.hex()}\n{got.hex()}"
            found[index] = (port, mac)
    assert len(found) == len(made), str(run)
    return [found[i] for i in range(len(made))]


@pytest.fixture(scope="module", params=FAMILIES, name="family")
def family_of(request):
    """A family."""
    return FAMILIES[request.param]


@pytest.fixture(scope="module")
def made(family):
    """The traffic."""
    return traffic(18, family)


def check_flows(made, went):
    """One member for each flow; counts flows of several frames."""
    of = {}
    several = 0
    for (number, _), to in zip(made, went, strict=True):
        several += number in of
        assert of.setdefault(number, to) == to, f"flow {number} went to {of[number]} and {to}"
    assert several > FLOWS / 50 * len(KINDS)
    return of


def check_shares(of, members, most):
    """Shares of the flows by weight, but for a relative error."""
    got = collections.Counter(of.values())
    total = sum(members.values())
    assert set(got) == set(members)
    for which, weight in members.items():
        due = len(of) * weight / total
        assert abs(got[which] - due) < most * due, f"{which}: {got[which]} flows, due {due:.0f}"


def run_group(rig, made, family, *more):
    """Forwards the traffic."""
    path = rig.write("routes", line(MEMBERS, family.net))
    return rig.forward([[[f for _, f in made]], *[SILENT] * (PORTS - 1)], f"--routes={path}", *more)


def test_each_flow_goes_to_one_member_by_weight_in_every_variant(rig_of, made, family):
    went = {}
    for name, more in VARIANTS.items():
        run = run_group(rig_of(name), made, family, *more)
        went[name] = takers(run, made, family)
        check_shares(check_flows(made, went[name]), MEMBERS, 0.06)
    assert all(members == went["picked"] for members in went.values())


def test_another_seed_spreads_flows_in_another_way(rig_of, made, family):
    first = takers(run_group(rig_of("0"), made, family), made, family)
    other = takers(run_group(rig_of("1"), made, family, "--group-seed=1"), made, family)
    check_shares(check_flows(made, other), MEMBERS, 0.06)
    same = sum(a == b for a, b in zip(first, other, strict=True)) / len(made)
    by_chance = sum((w / 8) ** 2 for w in MEMBERS.values())
    assert abs(same - by_chance) < 0.02


def test_the_flow_label_decides_without_ports_and_not_with_them_or_in_fragments(rig):
    """All packets have the same addresses."""
    rng = random.Random(6438)
    src, dst = 0x2400 << 112, (0x20010db8 << 96) + 1
    payload = {50: bytes(8), 58: bytes(8), 0: bytes([17, 0, 1, 4, 0, 0, 0, 0]) + bytes(8), 6: b"abc",
               17: b"abcdabcd", 132: b"abcdabcd", 44: bytes([17, 0, 0, 1]) + bytes(8)}
    records = [(proto, frame6(src, dst, proto, payload[proto], label)) for proto in payload
               for label in range(2000)]
    rng.shuffle(records)
    went = takers(run_group(rig, records, FAMILIES["ip6"]), records, FAMILIES["ip6"])
    by_proto = collections.defaultdict(collections.Counter)
    for (proto, _), to in zip(records, went, strict=True):
        by_proto[proto][to] += 1
    for proto, got in by_proto.items():
        assert got.total() == 2000
        if proto in (17, 132, 44):
            assert len(got) == 1, (proto, got)
        else:
            assert all(abs(got[of] - 250 * weight) < 60 * weight
                       for of, weight in MEMBERS.items()), (proto, got)


def test_a_trace_names_the_group_and_its_member(rig, made, family):
    made = [(number, data) for number, data in made if len(data) > 60][:40]
    run = run_group(rig, made, family, "--trace=40", "--deny=ip4_forward")
    went = takers(run, made, family)
    (traced,) = ways(run).values()
    assert len(traced) == len(set(went)) * 10 == 40
    for way, (port, mac) in zip(traced, went, strict=True):
        (text,) = [text for node, text, _ in way if node.endswith("_rewrite")]
        assert re.fullmatch(rf"group 4, next hop [0-3], port {port}, {mac.upper()}", text), text


@pytest.fixture
def rig_of(tmp_path):
    """Rigs in folders of their own."""
    rigs = []

    def make(name):
        folder = tmp_path / name
        folder.mkdir()
        rigs.append(l3fwd.Rig(folder))
        return rigs[-1]

    yield make
    for rig in rigs:
        rig.clean_up()


# Live: a flow for each destination.

AIMS = 400


def aims(ip6, count):
    """A packet of each flow; the last word of its destination says which."""
    rng = random.Random(7)
    if ip6:
        return [frame6(0x2400 << 112, (0x20010db8 << 96) + (10 << 24) + i, 17,
                       ports(rng) + bytes(22)) for i in range(count)]
    return [frame(0xC0000201, (10 << 24) + i, 17, ports(rng) + bytes(22)) for i in range(count)]


class Flows:
    """A run with flows that arrive over and over, and the members that they take."""

    def __init__(self, rig, routes, *more, ip6=False):
        self.sink = Sink(rig.folder, PORTS, at=50 if ip6 else 30)
        records = aims(ip6, AIMS)
        path = l3fwd.pcapfile.write(rig.folder / "in.pcap", records)
        none = l3fwd.pcapfile.write(rig.folder / "none.pcap", [])
        eal = []
        for port in range(PORTS):
            source = f"rx_pcap={path},infinite_rx=1" if port == 0 else f"rx_pcap={none}"
            eal += ["--vdev", f"net_pcap{port},{source},tx_pcap={rig.folder}/out{port}.0.pcap"]
        self.live = Live(rig, routes, [*l3fwd.options(PORTS, [(p, 0, 1) for p in range(PORTS)]),
                                       f"--dump-routes={rig.folder}/dump", *more], eal,
                         telemetry=True)

    def now(self):
        """The member of each flow, once all that was on its way before has arrived: a flow has one
        then. Fails if it has two."""
        self.settle()
        before = +self.sink.seen
        goal = {(10 << 24) + i for i in range(AIMS)}

        def fresh():
            found = collections.defaultdict(set)
            for (dst, port, mac), n in list(self.sink.seen.items()):
                if n > before[dst, port, mac] + 1:
                    found[dst].add((port, mac.hex(":")))
            return found if set(found) == goal else None

        found = self.live.wait(fresh, "all flows")
        assert all(len(members) == 1 for members in found.values()), found
        return {dst: next(iter(members)) for dst, members in found.items()}

    def settle(self):
        """Waits until the pipes, and what the program has buffered, bring new frames only."""
        for _ in range(2):
            start = sum(self.sink.seen.values())
            self.live.wait(lambda start=start: sum(self.sink.seen.values()) > start + 40000,
                           "40000 frames")

    def stop(self):
        """Ends it; none may have been dropped."""
        run = self.live.stop()
        self.sink.end()
        assert sum(run.stats["drops"].values()) == 0, run
        return run


def moved(before, after):
    """The flows that went elsewhere."""
    return {dst for dst in before if before[dst] != after[dst]}


@pytest.mark.parametrize("net, other", [(NET, "11.0.0.0/8"), (NET6, "2001:db9::/32")],
                         ids=FAMILIES)
def test_flows_stay_when_members_of_a_route_change(rig, net, other):
    flows = Flows(rig, line(MEMBERS, net), ip6=net == NET6)
    live = flows.live
    first = flows.now()
    assert set(first.values()) == set(MEMBERS)
    gone = (2, "02:00:00:00:01:01")
    fewer = {of: w for of, w in MEMBERS.items() if of != gone}
    assert live.reload(line(fewer, net)) == (0, 1, 0, 0)
    second = flows.now()
    assert moved(first, second) == {dst for dst, of in first.items() if of == gone}
    assert set(second.values()) == set(fewer)

    # Back again, among others and in another order: it takes no more than its share.
    again = dict(reversed(MEMBERS.items()))
    assert live.reload(line(again, net)) == (0, 1, 0, 0)
    third = flows.now()
    assert {third[dst] for dst in moved(second, third)} == {gone}
    assert len(moved(second, third)) < AIMS * 3 / 8 * 1.25
    assert live.reload(line(MEMBERS, net)) == (0, 0, 0, 1)  # the same members

    # A file that is refused changes nothing; nor does another route to the same group.
    assert "weight" in live.reload_bad(line({(1, "02:00:00:00:01:01"): 0}, net))
    assert live.reload(line(MEMBERS, net) + line(MEMBERS, other)) == (1, 0, 0, 1)
    assert flows.now() == third
    assert (live.ask("/l3fwd/routes")["groups"], live.ask("/l3fwd/routes")["next_hops"]) == (1, 4)

    # To one of its members, and back: that one keeps its flows.
    one = (3, "02:00:00:00:03:01")
    assert live.reload(f"{net} {member(*one)}\n") == (0, 1, 1, 0)
    assert set(flows.now().values()) == {one}
    live.wait(lambda: live.ask("/l3fwd/routes")["groups"] == 0, "the sweep")
    assert live.reload(line(MEMBERS, net)) == (0, 1, 0, 0)
    last = flows.now()
    assert set(last.values()) == set(MEMBERS)
    flows.stop()


def test_families_share_a_group_that_stays_with_the_last_route(rig):
    both = line(MEMBERS) + line(MEMBERS, NET6)
    flows = Flows(rig, both, ip6=True)
    live = flows.live
    first = flows.now()

    def groups():
        return {group: (told["routes"], told["ip6_routes"]) for group in live.ask("/l3fwd/group")
                for told in [live.ask(f"/l3fwd/group,{group}")]}

    (group,) = groups()
    assert groups() == {group: (1, 1)}
    assert live.reload(line(MEMBERS, NET6)) == (0, 0, 1, 1)  # a sweep while IPv6 has it
    live.wait(lambda: groups() == {group: (0, 1)}, "the sweep")
    assert flows.now() == first
    assert live.reload(both) == (1, 0, 0, 1)
    assert live.reload(line(MEMBERS)) == (0, 0, 1, 1)
    live.wait(lambda: live.ask("/l3fwd/routes")["ip6_routes"] == 0, "the change")
    assert live.reload(f"{NET} {member(1, '02:00:00:00:01:01')}\n")[2] == 0
    live.wait(lambda: not groups(), "the sweep")
    live.process.send_signal(signal.SIGTERM)
    run = rig.finish(live.process)
    flows.sink.end()
    assert run.code == 0


def test_a_reload_without_room_for_a_group_of_ip6_changes_nothing(rig):
    """The groups of IPv4, which come first, find ids; the table is full at the second of IPv6."""
    flows = Flows(rig, line(MEMBERS) + line(MEMBERS, NET6), "--max-next-hops=8", ip6=True)
    live = flows.live
    first = flows.now()
    start = live.ask("/l3fwd/routes")
    assert (start["next_hops"], start["groups"]) == (4, 1)
    ones = [dict([of]) for of in MEMBERS.items()]
    for _ in range(3):
        assert "--max-next-hops 8 is too few" in live.reload_bad(
            line(ones[0]) + line(MEMBERS, NET6) +
            "".join(line({**ones[i], **ones[3]}, f"2001:db8:{i}::/48") for i in range(3)))
        live.wait(lambda: live.ask("/l3fwd/routes") == start, "the sweep")
        assert dump(live).count("group") == 2
        assert flows.now() == first
    assert live.reload(line(ones[0]) + line(MEMBERS, NET6)) == (0, 1, 0, 1)
    assert flows.now() == first
    flows.stop()


@pytest.mark.parametrize("net, address", [(NET, "10.1.2.3"), (NET6, "2001:db8:1::2")], ids=FAMILIES)
def test_telemetry_and_dumps_tell_of_groups(rig, net, address):
    flows = Flows(rig, line(MEMBERS, net), ip6=net == NET6)
    (group,) = flows.live.ask("/l3fwd/group")
    assert flows.live.ask(f"/l3fwd/route,{address}")["group"] == group
    told = flows.live.ask(f"/l3fwd/group,{group}")
    assert (told["routes"], told["ip6_routes"]) == ((1, 0) if net == NET else (0, 1))
    assert dump(flows.live) == "# 1 routes\n" + line(dict(sorted(MEMBERS.items())), net)
    assert list(zip(told["port"], told["mac"], told["weight"], strict=True)) == [
        (port, mac.upper(), weight) for (port, mac), weight in sorted(MEMBERS.items())]
    assert sum(told["buckets"]) == told["nb_buckets"] and told["up"] == [1] * 4
    for buckets, weight in zip(told["buckets"], told["weight"], strict=True):
        assert abs(buckets - told["nb_buckets"] * weight / 8) < 1
    assert flows.live.ask("/l3fwd/group,9999") is None
    flows.stop()


class Taps:
    """A run between an interface of the kernel and two more, to which a group leads; maybe to VLANs of
    these."""

    def __init__(self, rig, net, vlan):
        self.names = [f"hg{os.getpid()}-{n}" for n in range(3)]
        taps = [w for n in range(3) for w in ("--vdev", f"net_tap{n},iface={self.names[n]}")]
        self.macs = {1: "02:00:00:00:00:01", 2: "02:00:00:00:00:02"}
        members = {(f"{p}.{vlan}" if vlan else p, mac): 1 for p, mac in self.macs.items()}
        vlans = [f"--vlan={p}:{vlan}" for p in self.macs if vlan]
        self.live = Live(rig, line(members, net),
                         ["-P", *l3fwd.options(3, [(p, 0, 1) for p in range(3)]), *vlans], taps,
                         telemetry=True)
        await_up(self.live.process, self.names)
        self.into = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        self.into.bind((self.names[0], 0))
        self.records = aims(net == NET6, 60)

    def up(self, want):
        """Waits until telemetry tells of these links, and how many buckets each has."""
        (group,) = self.live.ask("/l3fwd/group")
        self.live.wait(lambda: self.live.ask(f"/l3fwd/group,{group}")["up"] == want, "links")
        return self.live.ask(f"/l3fwd/group,{group}")["buckets"]

    def went(self, ends):
        """The port by which each flow leaves, of those that are listened at."""
        with listen(self.names[1]) as one, listen(self.names[2]) as two:
            for record in self.records:
                self.into.send(record)
            got = {}
            for port, sock in ((1, one), (2, two)):
                if port in ends:
                    for data in received(sock, 1, 0.5, noise=None):  # the kernel takes tags off
                        if data[:6].hex(":") == self.macs[port]:
                            got[data[22:54]] = port
        assert len(got) == len(self.records)
        return got


@TAP
@pytest.mark.parametrize("net, vlan", [(NET, None), (NET, 100), (NET6, None), (NET6, 100)],
                         ids=["ip4", "ip4-vlan", "ip6", "ip6-vlan"])
def test_members_leave_and_return_with_their_link(rig, net, vlan):
    taps = Taps(rig, net, vlan)
    whole = taps.up([1, 1])
    first = taps.went({1, 2})
    assert set(first.values()) == {1, 2}
    for port in (1, 2, 1):
        other = 3 - port
        ip("link", "set", taps.names[port], "down")
        left = taps.up([int(port != 1), int(port != 2)])
        assert (left[port - 1], left[other - 1]) == (0, sum(whole))
        assert set(taps.went({other}).values()) == {other}
        ip("link", "set", taps.names[port], "up")
        assert taps.up([1, 1]) == whole
        assert taps.went({1, 2}) == first  # each has the flows that it had
    taps.into.close()
    taps.live.process.send_signal(signal.SIGTERM)
    run = rig.finish(taps.live.process)
    assert run.code == 0
