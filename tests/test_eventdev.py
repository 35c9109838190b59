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
    inputs = [long_flows(0, 16, 500), long_flows(16, 9, 700)]
    run = forward(rig, device, 2, [[inputs[0]], [inputs[1]]], f"--eventq-sched={sched}")
    made = inputs[0] + inputs[1]
    expected = oracle.forward(made, oracle.default_routes(range(2)), run.macs)
    assert [port["rx"] for port in run.stats["ports"]] == [8000, 6300], run
    assert min(busy(run, 2)) > 0, f"a worker had nothing to do: {busy(run, 2)}"
    if sched == "atomic":
        assert assert_flows(run, expected, 2) == len(made)
    else:
        sent = Counter(frame for q in range(2) for frame in run.sent(1, q))
        assert sent == Counter(expected.out[1]) and sent.total() == len(made)
    assert run.stats["event"] == {"device": 0, "sched": sched, "freed": 0}, run


@pytest.mark.parametrize("device", DEVICES)
def test_packets_follow_the_event_device_to_two_workers(rig, device):
    """Also under ThreadSanitizer: so few that no packet buffer comes to another worker but by the
    device."""
    records = long_flows(0, 40, 100)
    run = forward(rig, device, 2, [[records], SILENT])
    expected = oracle.forward(records, oracle.default_routes(range(2)), run.macs)
    assert assert_flows(run, expected, 2) == len(records) == 4000
    assert min(busy(run, 2)) > 0, f"a worker had nothing to do: {busy(run, 2)}"


def plain(count):
    """Good packets of many flows, for port 1's default route."""
    return frames.traffic("198.18.1.1", count)


@pytest.mark.parametrize("device", DEVICES)
def test_device_is_emptied_when_traffic_goes_on(rig, device):
    """It stops in the midst of it: packets in the device are freed and told, and none leaks."""
    run = rig.run([*l3fwd.options(2, [(0, 0, 1)]), "--mode=eventdev", "--duration=1",
                   f"--json={rig.folder}/stats.json"],
                  [*rig.vdevs([[plain(500)]], tx_queues=2, more=",infinite_rx=1"),
                   "--vdev", "net_null1", "--vdev", device], workers=2)
    assert run.stats["totals"]["rx"] > 10000, run
    freed = run.stats["event"]["freed"]
    assert (f"{freed} packets were still in the event device" in run.stdout) == (freed > 0), run


@pytest.mark.parametrize("device", DEVICES)
def test_classes_are_those_of_poll_mode(rig, device):
    policy = rig.write("policy", "rule 1 class 7 proto udp\nrule 2 class 9 proto tcp\n")
    records = [f.data for f in frames.generate(8)]
    app = [f"--policy={policy}", "--drop-class=9", rig.routes(frames.ROUTES)]
    polled = rig.forward([[records], SILENT, SILENT], *app).stats
    stats = forward(rig, device, 2, [[records], SILENT, SILENT], *app).stats
    assert stats["classes"] == polled["classes"] and len(stats["classes"]) >= 2
    assert stats["drops"] == {**polled["drops"], "port_unknown": 0}
    assert stats["drops"]["denied"] > 0 and polled["event"] is None
    assert stats["totals"] == polled["totals"] and stats["totals"]["rx"] == len(records)
    fed = {n["name"]: n["edges"] for n in stats["nodes"]}["event_rx"]
    assert fed == {"flow_cls-0": len(records), "flow_cls-1": 0, "flow_cls-2": 0}


def test_marks_come_with_packets_by_the_device(rig):
    """The simulator marks what the adapter receives; rules and classes are those of software."""
    policy = rig.write("policy", "rule 1 class 7 proto udp\nrule 2 class 9 proto tcp\n")
    records = [f.data for f in frames.generate(8)]
    app = [f"--policy={policy}", rig.routes(frames.ROUTES)]
    software = rig.forward([[records], SILENT, SILENT], *app).stats
    stats = forward(rig, "event_sw0", 2, [[records], SILENT, SILENT], *app,
                    "--offload=sim:cnxk,sample_every=1").stats
    assert stats["classes"] == software["classes"] and stats["drops"]["no_route"] > 0
    port = stats["offloads"][0]
    assert (port["hw_rules"], port["mismatches"]) == (2, 0), port
    assert 50 < port["marked"] <= stats["classes"]["7"] + stats["classes"]["9"], port


@pytest.mark.parametrize("device", DEVICES)
def test_service_lcore_runs_what_the_workers_need_not(rig, device):
    """Nobody counts what it does: it is only given the time to do it."""
    records = plain(3000)
    run = forward(rig, device, 2, [[records], SILENT], "--until-idle=3000", eal=["-S", "2"])
    assert run.stats["totals"] == {"rx": 3000, "copied": 0, "tx": 3000, "dropped": 0}
    assert len(run.stats["workers"]) == 1 and len(run.sent(1)) == 3000, run


def test_worker_that_cannot_sleep_pauses_and_says_so(rig):
    run = forward(rig, "event_sw0", 1, [[plain(100)], SILENT], "--idle=interrupt")
    assert "pauses instead of sleeping: an event device wakes nobody" in run.stderr, run
    (worker,) = run.stats["workers"]
    assert worker["waits"] == 0 < worker["pauses"] and run.stats["totals"]["tx"] == 100, run


def test_explain_tells_of_the_device(rig):
    def explained(*app):
        found = l3fwd.explain(rig.folder, *app, eal=["--vdev", "event_dsw0"])
        return l3fwd.selection(found, "event_rx")

    chosen = explained("--mode=eventdev")
    assert (chosen["variant"], chosen["target"]) == ("single", "event device 0"), chosen
    assert explained()["variant"] == "single"


REFUSED = {
    "no device": ([], ["--mode=eventdev"], "none was found; EAL's --vdev=event_sw0"),
    "which device": (["event_sw0", "event_dsw0"], ["--mode=eventdev"],
                     "--event-device: is required: there are 2 event devices"),
    "other device": (["event_sw0"], ["--mode=eventdev", "--event-device=3"],
                     "there is no event device 3; there are 1"),
    "mode": (["event_sw0"], ["--mode=event"], "--mode: 'event' is not poll, eventdev or dispatch"),
    "type": (["event_sw0"], ["--mode=eventdev", "--eventq-sched=fair"],
             "'fair' is not atomic, ordered or parallel"),
    "ordered": (["event_sw0"], ["--mode=eventdev", "--eventq-sched=ordered"],
                "event device 0 does not send packets of port 0: use atomic"),
    "poll": (["event_sw0"], ["--eventq-sched=atomic"], "--eventq-sched: requires --mode=eventdev"),
    "vectors": (["event_sw0"], ["--mode=eventdev", "--event-vector-size=8"],
                "--event-vector-size: requires --event-vector"),
    "size": (["event_sw0"], ["--mode=eventdev", "--event-vector", "--event-vector-size=0"],
             "'0' is not a number from 1 to 256"),
    "budget": (["event_sw0"], ["--mode=eventdev", "--rx-budget=0=8"],
               "--rx-budget: cannot be combined with --mode=eventdev: an event device"),
}


@pytest.mark.parametrize("what", REFUSED, ids=lambda what: what.replace(" ", "-"))
def test_what_cannot_be_is_refused_in_words(rig, what):
    devices, app, words = REFUSED[what]
    eal = [option for device in devices for option in ("--vdev", device)]
    run = rig.forward([[plain(1)], SILENT], *app, eal=eal)
    assert run.code == 1 and words in run.stderr, run
    assert run.wrote_packets() == []


def test_vectors_are_not_taken_from_adapters_in_software(rig):
    """The HAL falls to single events, as none is left that takes vectors."""
    run = forward(rig, "event_sw0", 1, [[plain(200)], SILENT], "--event-vector")
    assert run.node("event_rx")["variant"] == "single"
    assert run.stats["totals"] == {"rx": 200, "copied": 0, "tx": 200, "dropped": 0}


@pytest.fixture(params=DEVICES)
def events(request, rig, folder, monkeypatch):
    return test_events.Events(rig, folder, monkeypatch, "--mode=eventdev",
                              eal=["--vdev", request.param])


def test_port_that_is_reset_leaves_the_device_and_comes_back(events):
    """net_null receives without end, as does the port that is left alone."""
    for _ in range(3):
        events.event(1, test_events.RESET, "port 1 is up again")
    seen = events.text()
    run = events.finish()
    ports = run.stats["ports"]
    assert [(p["state"], p["resets"]) for p in ports] == [("up", 0), ("up", 3), ("up", 0)], seen
    assert min(ports[0]["rx"], ports[1]["rx"], ports[1]["tx"], ports[2]["tx"]) > 1000, run
    assert "cannot be" not in run.stderr, run


def test_port_that_its_driver_does_not_set_up_again_stays_out(events):
    """As with polling: net_pcap cannot, with infinite_rx."""
    test_events.assert_stays_down(events)
    assert "Packets come by event device 0, atomic.\n" in events.text()


def test_port_that_is_removed_leaves_the_device_and_others_stay(events):
    events.event(0, test_events.REMOVED, "port 0 is gone: it was removed")
    events.event(1, test_events.RESET, "port 1 is up again")
    run = events.finish()
    assert [port["state"] for port in run.stats["ports"]] == ["gone", "up", "up"], run
    assert "cannot be" not in run.stderr and "not ready port" not in run.stderr, run


def test_workers_without_transmit_queues_are_told_how_to_be_fewer(rig):
    """--config does not say who works, so that it is no remedy."""
    run = rig.run([*l3fwd.options(1, [(0, 0, 1)]), "--mode=eventdev", "--until-idle=100"],
                  [*rig.vdevs([SILENT]), "--vdev", DEVICES[0]], workers=2)
    assert run.code == 1, run
    assert "2 transmit queues are needed, one for each worker; the port has 1 " in run.stderr, run
    assert "; give EAL fewer lcores, all of which take events\n" in run.stderr, run
    assert "--config" not in run.stderr, run
