# SPDX-License-Identifier: BSD-3-Clause
"""--trace prints of each packet the way that the oracle says: the nodes, what each made of it, and
the reason if it was dropped."""

import functools
import random
import re
from collections import Counter
from ipaddress import IPv4Address, IPv4Network, IPv6Address
from socket import AF_INET6, inet_ntop

import pytest

import frames
import frames6
import oracle
import pcapfile
from l3fwd import SILENT
from test_forward import SEED, routes_for

MOST = 1000  # packets that --trace follows

# The node that drops for a reason, as its place in the chain.
CHAIN = ["ethdev_rx-0-0", "pkt_cls", "ip4_lookup", "ip4_rewrite"]
DROPPER = {"no_route": 2, "ttl_expired": 3, "mtu_exceeded": 3}

LINE = re.compile(r"  (\S+) +(\d+) of (\d+) +(\d+\.\d) us  (.*)")


def ways(run):
    """What --trace printed: a list of (node, words, reason or None) for each packet, by worker."""
    found = {}
    for line in run.stdout.splitlines():
        head = re.fullmatch(r"packet (\d+) of (worker-\d+)", line)
        if head:
            way = found.setdefault(head[2], [])
            assert int(head[1]) == len(way) + 1, run
            way.append([])
            since = 0.0
        step = LINE.fullmatch(line)
        if step:
            node, index, burst, time, text = step.groups()
            assert 1 <= int(index) <= int(burst) <= 256 and float(time) >= since, line
            since = float(time)
            words, _, reason = text.partition("dropped: ")
            way[-1].append((node, words.rstrip(), reason or None))
    return found


def counts(run, worker="worker-1"):
    """The figures of the line that ends a worker's trace."""
    (line,) = re.findall(rf"(?m)^{worker}: (\d+) packets traced, (\d+) records, (\d+) lost$",
                         run.stdout)
    return tuple(map(int, line))


def words(frame):
    """A frame in the words of a trace."""
    if len(frame) < 14:
        return f"{len(frame)} B"
    text = f"{len(frame)} B to {frame[:6].hex(':').upper()}"
    if frame[12:14] == b"\x86\xdd" and len(frame) >= 54:
        source, destination = (inet_ntop(AF_INET6, frame[at:at + 16]) for at in (22, 38))
        rest = f"{source} > {destination} proto {frame[20]} ttl {frame[21]}"
        return f"{text}, {rest}" if len(f"{text}, {rest}") < 128 else f"{len(frame)} B, {rest}"
    if frame[12:14] != b"\x08\x00" or len(frame) < 34:
        return text + f", type 0x{frame[12:14].hex()}"
    source, destination = IPv4Address(frame[26:30]), IPv4Address(frame[30:34])
    return text + f", {source} > {destination} proto {frame[23]} ttl {frame[22]}"


def expected_way(frame, verdict):
    """The way of one frame that port 0 receives. The id of the next hop is not known here."""
    reason = None if isinstance(verdict, oracle.Forwarded) else verdict
    last = DROPPER.get(reason, 1) if reason else 3
    way = [(node, words(frame), None) for node in CHAIN[: last + 1]]
    if last >= 2:
        way[2] = (CHAIN[2], str(IPv4Address(frame[30:34])), None)
    if last == 3:
        way[3] = (CHAIN[3], None, None)
    if reason:
        way[last] = (*way[last][:2], reason)
        way.append(("pkt_drop", words(frame), None))
    else:
        way[3] = (CHAIN[3], f"port {verdict.port}, {verdict.frame[:6].hex(':').upper()}", None)
        way.append((f"ethdev_tx-{verdict.port}", words(verdict.frame), None))
    return way


def without_id(step):
    """A step of ip4_rewrite without the next hop's id; a dropped packet's next hop is left out."""
    node, text, reason = step
    if node == CHAIN[3]:
        assert re.match(r"next hop \d+, port \d+, ", text), step
        text = None if reason else re.sub(r"^next hop \d+, ", "", text)
    return node, text, reason


def check(rig, records, routes, *app):
    """Traces the first packets of a capture. Returns how many ways were compared, by verdict."""
    run = rig.forward([[records], SILENT, SILENT], f"--trace={MOST}", rig.routes(routes), *app)
    expected = oracle.forward(records, routes, run.macs)
    traced = ways(run).get("worker-1", [])
    assert len(traced) == min(len(records), MOST), run
    seen = Counter()
    for i, (way, frame, verdict) in enumerate(zip(traced, records, expected.verdicts)):
        want = expected_way(frame, verdict)
        have = [without_id(step) for step in way]
        assert have == want, f"packet {i + 1}: {frame[:40].hex(' ')}\n{have}\ninstead of\n{want}"
        seen["sent" if isinstance(verdict, oracle.Forwarded) else verdict] += 1
    assert counts(run) == (len(traced), sum(map(len, traced)), 0), run
    return seen


@functools.cache
def mixed():
    """Frames for every verdict, a thousand and some."""
    made = [frame.data for frame in frames.generate(SEED, 1518)]
    return made[:: len(made) // 1100]


@pytest.mark.parametrize("burst", [1, 64, 256])
def test_generated_frames_go_the_way_that_the_oracle_says(rig, burst):
    assert len(mixed()) > MOST
    seen = check(rig, mixed(), frames.ROUTES, f"--burst={burst}")
    assert sum(seen.values()) == MOST
    assert set(seen) == {"sent", *oracle.REASONS} - {"tx_full"}, seen


def test_real_packets_go_the_way_that_the_oracle_says(tmp_path, rig, captures):
    seen = Counter()
    for path in captures[::25]:
        records = pcapfile.read(path)
        seen += check(rig, records, routes_for(records))
    assert len(captures[::25]) >= 4 and sum(seen.values()) >= 50, seen
    assert len(seen) >= 3, seen


def test_a_filter_chooses_packets(rig):
    network = IPv4Network("198.18.1.0/26")
    near, far = frames.traffic("198.18.1.63", 60), frames.traffic("198.18.1.64", 60)
    records = [frame for pair in zip(far, near) for frame in pair]
    proto, source = near[1][23], IPv4Address(near[2][26:30])
    filters = {
        f"dst={network}": lambda frame: frame in near,
        f"dst={network},proto={proto}": lambda frame: frame in near and frame[23] == proto,
        f"proto={proto}": lambda frame: frame[23] == proto,
        f"src={source}": lambda frame: IPv4Address(frame[26:30]) == source,
        f"src={source}/32,dst=0.0.0.0/0": lambda frame: IPv4Address(frame[26:30]) == source,
        f"src={source},dst=198.18.1.64,proto=255": lambda frame: False,
    }
    for text, chosen in filters.items():
        run = rig.forward([[records], SILENT], f"--trace=9:{text}")
        expected = [words(frame) for frame in records if chosen(frame)][:9]
        assert (text.endswith("255") or expected) and len(expected) < len(records)
        assert [way[0][1] for way in ways(run).get("worker-1", [])] == expected, run


def test_a_filter_chooses_packets_of_either_family(rig):
    """Also where IPv6 has no routes: a trace begins where packets come in."""
    records = [f.data for f in frames6.generate(3)[:300] if len(f.data) >= 54]
    records += frames.traffic("198.18.1.63", 60)
    random.Random(3).shuffle(records)
    tall = [frame for frame in records if frame[12:14] == b"\x86\xdd"]
    source = IPv6Address(tall[5][22:38])
    filters = {
        f"src={source}": lambda frame: frame in tall and IPv6Address(frame[22:38]) == source,
        "dst=2001:db8::/32": lambda frame: frame in tall and frame[38:42] == b"\x20\x01\x0d\xb8",
        "src=::/0": lambda frame: frame in tall,
        "src=0.0.0.0/0": lambda frame: frame[12:14] == b"\x08\x00",
        "proto=17": lambda frame: frame[20 if frame in tall else 23] == 17,
    }
    for text, chosen in filters.items():
        run = rig.forward([[records], SILENT], f"--trace=1000:{text}")
        expected = [words(frame) for frame in records if chosen(frame)]
        assert 0 < len(expected) < len(records)
        assert [way[0][1] for way in ways(run)["worker-1"]][:256] == expected[:256], (text, run)


def test_packets_that_pass_while_as_many_as_can_be_are_followed_are_counted(rig):
    """A walk has 256 packets of each of two ports, and 256 are followed at a time."""
    records = frames.traffic("198.18.1.1", 300)
    run = rig.forward([[records], [records]], "--trace=1000", "--burst=256")
    followed = counts(run)[0]
    (passed,) = re.findall(r"(?m)^worker-1: (\d+) more matched while 256 were followed", run.stdout)
    assert (followed, int(passed)) == (2 * len(records) - 256, 256), run


def test_each_worker_follows_packets_of_its_own(rig):
    records = frames.traffic("198.18.1.1", 40)
    run = rig.forward([[records], [records]], "--trace=5", config=[(0, 0, 1), (1, 0, 2)],
                      tx_queues=2, workers=2)
    found = ways(run)
    assert sorted(found) == ["worker-1", "worker-2"], run
    for worker, port in (("worker-1", 0), ("worker-2", 1)):
        assert counts(run, worker)[0] == 5
        assert [way[0][:2] for way in found[worker]] == \
               [(f"ethdev_rx-{port}-0", words(frame)) for frame in records[:5]], run
