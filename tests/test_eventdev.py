# SPDX-License-Identifier: BSD-3-Clause
"""--mode=eventdev: packets come by an event device, to one worker or two. What is sent and dropped
is what the oracle says, each flow in order, whichever device deals the packets out."""

import functools
import heapq
import random
from collections import Counter, defaultdict
from ipaddress import IPv4Address

import pytest

import frames
import l3fwd
import oracle
import pcapfile
import test_events
from l3fwd import SILENT
from test_forward import routes_for

folder = test_events.folder
DEVICES = ("event_sw0", "event_dsw0")


def forward(rig, device, workers, ports, *app, eal=()):
    """Forwards all that arrives, by way of an event device."""
    return rig.forward(ports, "--mode=eventdev", *app, tx_queues=workers, workers=workers,
                       eal=["--vdev", device, *eal])


def flow(frame):
    """What packets of one flow have in common for the rx adapter: source and destination."""
    return frame[26:34]


def busy(run, workers):
    """How many frames each worker has sent: each has transmit queues of its own."""
    ports = range(len(run.stats["ports"]))
    return [sum(len(run.sent(port, worker)) for port in ports) for worker in range(workers)]


def by_flow(sent):
    flows = defaultdict(list)
    for frame in sent:
        flows[flow(frame)].append(frame)
    return flows


def sent_in_time(run, port, queues):
    """The frames that left through all queues of a port, in the order of their times."""
    files = (pcapfile.read_timed(run.folder / f"out{port}.{q}.pcap") for q in range(queues))
    return [frame for _, frame in heapq.merge(*files, key=lambda timed: timed[0])]


def assert_flows(run, expected, queues):
    """Asserts that each flow's frames are the oracle's, in order, and so are the drops. Returns
    how many frames that accounts for."""
    compared = 0
    for port, wanted in expected.out.items():
        want, got = by_flow(wanted), by_flow(sent_in_time(run, port, queues))
        assert want.keys() == got.keys(), f"port {port}: other flows"
        for key, sequence in want.items():
            where = f"port {port}, flow {key.hex()}"
            compared += l3fwd.assert_same_frames(sequence, got[key], where)
    drops = {reason: run.stats["drops"][reason] for reason in oracle.REASONS}
    assert drops == expected.drops, run
    assert run.stats["drops"]["port_unknown"] == 0, run
    assert run.stats["event"]["freed"] == 0, run
    return compared + sum(drops.values())


@functools.cache
def joined(paths):
    """The frames of captures one after another, four times over, and routes for them."""
    records = 4 * [frame for path in paths for frame in pcapfile.read(path)]
    return records, routes_for(records)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("device", DEVICES)
def test_captures_are_forwarded_as_the_oracle_says(rig, captures, device, workers):
    records, routes = joined(tuple(captures))
    run = forward(rig, device, workers, [[records], SILENT, SILENT], rig.routes(routes))
    expected = oracle.forward(records, routes, run.macs)
    assert assert_flows(run, expected, workers) == len(records) >= 15000
    if workers == 1:
        assert run.assert_agrees(expected) == len(records)
    assert min(busy(run, workers)) > 0, f"a worker had nothing to do: {busy(run, workers)}"
    node = run.node("event_rx")
    assert (node["variant"], node["target"]) == ("single", "event device 0"), node
    assert node["counters"] == {"foreign_events": 0}, node


def long_flows(first, count, length):
    """Flows whose packets come in turn, numbered; the flows too, from the first on."""
    made = []
    for i in range(count * length):
        spec = frames.Spec(random.Random(first + i % count))
        spec.destination = int(IPv4Address("198.18.1.1")) + i % count
        spec.payload = (i // count).to_bytes(4, "big")
        made.append(spec.frame())
    return made


@pytest.mark.parametrize("sched", ["atomic", "parallel"])
@pytest.mark.parametrize("device", DEVICES)
def test_two_ports_packets_reach_two_workers_and_atomic_flows_stay_in_order(rig, device, sched):
    """Long flows: where a worker gave one up too early, the other would overtake."""
    inputs = [long_flows(0, 16, 1500), long_flows(16, 9, 2000)]
    run = forward(rig, device, 2, [[inputs[0]], [inputs[1]]], f"--eventq-sched={sched}")
    made = inputs[0] + inputs[1]
    expected = oracle.forward(made, oracle.default_routes(range(2)), run.macs)
    assert [port["rx"] for port in run.stats["ports"]] == [24000, 18000], run
    assert min(busy(run, 2)) > 0, f"a worker had nothing to do: {busy(run, 2)}"
    if sched == "atomic":
        assert assert_flows(run, expected, 2) == len(made)
    else:
        sent = Counter(frame for q in range(2) for frame in run.sent(1, q))
        assert sent == Counter(expected.out[1]) and sent.total() == len(made)
    assert run.stats["event"] == {"device": 0, "sched": sched, "freed": 0}, run
