# SPDX-License-Identifier: BSD-3-Clause
"""--mode=dispatch: nodes pinned to workers, which hand packets over. What is sent and dropped is
what the oracle says, each flow in order, wherever nodes run."""

import functools
import json
import re
import signal
import sys
import time
from collections import defaultdict

import pytest

import frames
import l3fwd
import oracle
import pcapfile
import test_feature
import test_share
from l3fwd import SILENT
from live import Live, Sink, until
from test_eventdev import busy, plain, sent_in_time
from test_forward import routes_for
from test_routes_live import mac, replay, route

# Pins, for two receiving workers, 1 and 2, or one; the workers that there are; and those that send.
PINS = {
    "one node away": (["ip4_lookup=2"], 2, [2]),
    "a chain away": (["ip4_*=2", "pkt_cls=1"], 2, [2]),
    "there and back": (["ip4_lookup=2", "ip4_rewrite=1"], 2, [1]),
    "round and round": (
        ["pkt_cls=2", "ip4_lookup=3", "ip4_rewrite=1", "ethdev_tx-*=2"], 3, [2]),
    "flows over two workers": (["pkt_cls=2+3"], 3, [2, 3]),
    "flows over all workers and together again": (["ip4_lookup=1+2+3", "ethdev_tx-*=3"], 3, [3]),
    "the first pin counts": (["ip4_lookup=2", "ip4_*=1", "ethdev_tx-?=2"], 2, [2]),
}


def forward(rig, pins, workers, ports, *app, **how):
    """Forwards all that arrives, with nodes pinned."""
    return rig.forward(ports, "--mode=dispatch", *[f"--pin={pin}" for pin in pins], *app,
                       tx_queues=workers, workers=workers, **how)


def flow(frame):
    """What packets of one flow have in common: addresses, protocol, and ports if it has any and is
    no fragment."""
    whole = frame[20] & 0x3f == 0 == frame[21] and frame[23] in (6, 17, 132)
    ports = frame[14 + 4 * (frame[14] & 15):][:4]
    return frame[26:34], frame[23], ports if whole and len(ports) == 4 else b""


def by_flow(sent):
    """The frames of each flow, in order."""
    flows = defaultdict(list)
    for frame in sent:
        flows[flow(frame)].append(frame)
    return flows


def assert_flows(run, expected, queues, filtered=0):
    """Asserts that each flow's frames are the oracle's, in order, and so are the drops, but for
    those that a feature filters. Returns how many frames that accounts for."""
    compared = 0
    for port, wanted in expected.out.items():
        want, got = by_flow(wanted), by_flow(sent_in_time(run, port, queues))
        assert want.keys() == got.keys(), f"port {port}: other flows"
        for key, sequence in want.items():
            where = f"port {port}, flow {key}"
            compared += l3fwd.assert_same_frames(sequence, got[key], where)
    drops = {reason: run.stats["drops"][reason] for reason in oracle.REASONS}
    assert drops == expected.drops, run
    assert run.stats["drops"].get("filtered", 0) == filtered, run
    assert run.stats["totals"]["dropped"] == sum(expected.drops.values()) + filtered, run
    return compared + sum(drops.values()) + filtered


@functools.cache
def joined(paths):
    """The frames of captures one after another, and routes for them."""
    records = [frame for path in paths for frame in pcapfile.read(path)]
    return records, routes_for(records)


def handed_over(run):
    """Node → packets that came to it from other workers."""
    return {node: way["packets"] for node, way in run.stats["dispatch"].items()}


@pytest.mark.parametrize("layout", PINS, ids=lambda name: name.replace(" ", "-"))
def test_captures_are_forwarded_as_the_oracle_says(rig, captures, layout):
    pins, workers, senders = PINS[layout]
    records, routes = joined(tuple(captures))
    run = forward(rig, pins, workers, [[records], SILENT, SILENT], rig.routes(routes))
    expected = oracle.forward(records, routes, run.macs)
    assert assert_flows(run, expected, workers) == len(records) >= 3000
    sent = busy(run, workers)
    assert [w + 1 for w in range(workers) if sent[w] > 0] == senders, f"{layout}: {sent}"


@pytest.mark.parametrize("layout", ["one node away", "round and round",
                                    "flows over all workers and together again"])
def test_features_filter_where_packets_are_looked_up(rig, captures, layout):
    """Each packet passes the filter once, though it comes to ip4_lookup by a ring, or by none."""
    pins, workers, _ = PINS[layout]
    records, _ = joined(tuple(captures))
    run = forward(rig, pins, workers, [[records], SILENT, SILENT], rig.routes(test_feature.ROUTES),
                  "--feature=ip4_filter@0:proto=17", "--feature=ip4_filter@2:proto=6")
    expected, n = test_feature.split(records, lambda frame: frame[23] == 17, run.macs)
    assert n > 300
    assert assert_flows(run, expected, workers, n) == len(records)
    objs = {node["name"]: node["objs"] for node in run.stats["nodes"]}
    assert objs["ip4_input"] == objs["ip4_filter"] == objs["ip4_lookup"] + n > 1000, run


@pytest.mark.parametrize("layout", PINS, ids=lambda name: name.replace(" ", "-"))
def test_generated_frames_are_sent_as_with_poll(rig, layout):
    """And in the same order, where one worker sends what one worker received."""
    pins, workers, senders = PINS[layout]
    records = [f.data for f in frames.generate(17)]
    ports, routes = [[records], SILENT, SILENT], rig.routes(frames.ROUTES)
    polled = rig.forward(ports, routes, tx_queues=workers).stats
    run = forward(rig, pins, workers, ports, routes)
    expected = oracle.forward(records, frames.ROUTES, run.macs)
    if any("+" in pin for pin in pins):
        assert assert_flows(run, expected, workers) == len(records)
    else:
        (sender,) = senders
        for port, wanted in expected.out.items():
            l3fwd.assert_same_frames(wanted, run.sent(port, sender - 1), f"port {port}")
    assert run.stats["drops"] == {**polled["drops"], "ring_full": 0}, run
    assert run.stats["totals"] == polled["totals"], run
    assert polled["dispatch"] is None and run.stats["totals"]["rx"] == len(records)


def test_two_receiving_workers_hand_over_to_each_other(rig):
    """Each polls a port, and looks up what the other has received."""
    inputs = [frames.traffic(f"198.18.{port}.1", 3000) for port in (2, 3)]
    run = forward(rig, ["ip4_lookup=1+2", "ip4_rewrite=2", "ethdev_tx-2=1"], 2,
                  [[inputs[0]], [inputs[1]], SILENT, SILENT],
                  config=[(0, 0, 1), (1, 0, 2), (2, 0, 1), (3, 0, 2)])
    results = [oracle.forward(records, oracle.default_routes(range(4)), run.macs)
               for records in inputs]
    for port, result in zip((2, 3), results):
        want, got = by_flow(result.out[port]), by_flow(sent_in_time(run, port, 2))
        assert want == got and sum(map(len, got.values())) == 3000, f"port {port}"
    assert run.stats["totals"] == {"rx": 6000, "copied": 0, "tx": 6000, "dropped": 0}
    ways = handed_over(run)
    assert ways["ethdev_tx-2"] == 3000 and 0 < ways["ip4_lookup"] <= 6000, ways


def test_what_was_handed_over_is_told(rig):
    run = forward(rig, ["ip4_*=2"], 2, [[plain(3000)], SILENT])
    way = run.stats["dispatch"]["ip4_lookup"]
    assert list(run.stats["dispatch"]) == ["ip4_lookup"], run
    assert list(way) == ["packets", "held_back"]
    assert way["packets"] == 3000 == run.node("ip4_lookup")["objs"], way
    lines = [line.split() for line in run.stdout.splitlines()]
    assert ["ip4_lookup", *(str(way[key]) for key in way)] in lines, run
    assert [worker["lcore"] for worker in run.stats["workers"]] == [1, 2]


def test_long_names_keep_to_their_column(rig):
    run = forward(rig, ["ip4_*=2"], 2, [[plain(10)], SILENT])
    lines = run.stdout.splitlines()
    (head,) = (i for i, line in enumerate(lines) if line.startswith("node "))
    table = lines[head:lines.index("", head)]
    assert len(table) == 1 + len(run.stats["nodes"]) == 13, run
    assert any(line.startswith("worker-out-ip4_lookup ") for line in table), run
    at = table[0].index("variant")
    assert {(line[at - 1], line[at] == " ") for line in table} == {(" ", False)}, run
    assert len({len(line) for line in table}) == 1, run


def test_overload_holds_the_source_back_and_stopping_in_the_midst_loses_nothing_uncounted(rig):
    """A port that never ends is polled by a worker that does nothing else: the other one cannot
    keep up, however they get on."""
    process = rig.start(
        [*l3fwd.options(2, [(0, 0, 1)]), "--mode=dispatch", "--pin=pkt_cls=2", "--stats=1",
         f"--json={rig.folder}/stats.json"],
        [*rig.vdevs([[plain(500)]], tx_queues=2, more=",infinite_rx=1"), "--vdev", "net_null1"],
        workers=2)
    held = 0

    def held_back():
        nonlocal held
        line = process.stdout.readline().split()
        if line[:1] == ["pkt_cls"] and len(line) == 3:
            held = int(line[2])
        return held > 0

    until(held_back, "a source that is held back", process)
    process.send_signal(signal.SIGTERM)
    run = rig.finish(process)
    stats = run.stats
    counters = {node["name"]: node["counters"] for node in stats["nodes"]}["worker-out-pkt_cls"]
    assert stats["dispatch"]["pkt_cls"]["held_back"] == counters["held_back"] >= held > 0, run
    under_way = stats["drops"].get("under_way", 0)
    assert stats["totals"]["rx"] == stats["dispatch"]["pkt_cls"]["packets"] > 0, run
    assert run.node("pkt_cls")["objs"] + under_way == stats["totals"]["rx"], run
    assert stats["drops"].get("ring_full", 0) == 0, run


def test_hy_graph_shows_each_worker_and_what_holds_it_back(rig):
    """Port 1 never ends, and fills a ring."""
    records = plain(640)
    live = Live(rig, [route("198.18.0.0/24", 1, 1)],
                [*l3fwd.options(2, [(0, 0, 1), (1, 0, 1)]), "--mode=dispatch", "--pin=pkt_cls=2"],
                replay(rig, 2, {1: records}, lambda p: ["/dev/null"] * 2, (1,)), workers=2)
    folder = rig.folder / "dpdk" / "rte" / "halyard"

    def nodes():
        shown = json.loads(test_share.graph("json", folder))
        return {(graph["graph"], node["name"]): node for graph in shown for node in graph["nodes"]}

    def held(node):
        return {counter["name"]: counter["value"] for counter in node["counters"]}["held_back"]

    way = ("worker-0", "worker-out-pkt_cls"), ("worker-1", "worker-in-pkt_cls")
    live.wait(lambda: nodes()[way[1]]["objs"] > 0, "packets that were handed over")
    live.wait(lambda: held(nodes()[way[0]]) > 0, "a full ring")
    seen, table = nodes(), test_share.graph("stats", folder)
    dot = test_share.graph("dot", folder, "--graph=worker-0")
    names = test_share.graph("list", folder).split()
    run = live.stop()
    assert names == ["worker-0", "worker-1"]
    assert {name for graph, name in seen if graph == "worker-0"} == {
        "ethdev_rx-0-0", "ethdev_rx-1-0", "worker-out-pkt_cls", "pkt_drop"}
    assert {name for graph, name in seen if graph == "worker-1"} >= {
        "worker-in-pkt_cls", "pkt_cls", "ip4_lookup", "ip4_rewrite", "ethdev_tx-1"}
    sent, taken = (seen[node]["objs"] for node in way)
    way = run.stats["dispatch"]["pkt_cls"]
    assert 0 < sent <= way["packets"] and 0 < taken <= way["packets"]
    assert 0 < held(seen["worker-0", "worker-out-pkt_cls"]) <= way["held_back"]
    assert re.search(r"(?m)^    counter +held_back +\d+ ", table), table
    assert '"worker-out-pkt_cls" [shape=' in dot and "worker-in-pkt_cls" not in dot


class SlowSink(Sink):
    """Takes frames more slowly than they come, and counts those whose MAC address is older than
    that of a frame before."""
    overtaken = 0

    def _count(self, pipe, port):
        newest, n = b"", 0
        pipe.read(24)
        while head := pipe.read(16):
            mac = pipe.read(int.from_bytes(head[8:12], sys.byteorder))[:6]
            self.overtaken += mac < newest
            newest, n = max(mac, newest), n + 1
            self.seen[port, mac] += 1
            if n % 64 == 0:
                time.sleep(0.002)


def test_next_hop_of_packets_in_rings_is_not_used_anew(rig):
    """Packets lie in full rings after their route was looked up. What they were led to must be
    there until they are through, though no route leads there any more."""
    reloads, workers = 20, 2
    sink = SlowSink(rig.folder, 2, workers)
    live = Live(rig, [route("198.18.0.0/24", 1, 0)],
                [*l3fwd.options(2, [(0, 0, 1)]), "--mode=dispatch", "--pin=ip4_rewrite=2"],
                replay(rig, 2, {0: frames.traffic("198.18.0.1", 64)},
                       lambda p: [rig.folder / f"out{p}.{q}.pcap" for q in range(workers)]),
                workers=workers)
    sink.more((1, mac(0)), live)
    for turn in range(1, reloads + 1):
        assert live.reload([route("198.18.0.0/24", 1, turn)]) == (0, 1, 0, 0)
    sink.more((1, mac(reloads)), live, 1)
    run = live.stop()
    seen = sink.end()
    assert sink.overtaken == 0, seen
    assert set(seen) <= {(1, mac(turn)) for turn in range(reloads + 1)}
    assert seen.total() == run.stats["totals"]["tx"] > 1000, run
    assert run.stats["totals"]["dropped"] == run.stats["drops"].get("under_way", 0), run
    assert run.stats["dispatch"]["ip4_rewrite"]["held_back"] > 0, run


def test_worker_that_others_hand_packets_to_pauses_instead_of_sleeping(rig):
    run = forward(rig, ["ip4_lookup=2"], 2, [[plain(100)], SILENT], "--idle=interrupt")
    said = [line for line in run.stderr.splitlines() if "pauses instead of sleeping" in line]
    assert [line.split("worker on ")[1] for line in said] == [
        "lcore 1 pauses instead of sleeping: a port that it polls has no receive interrupts",
        "lcore 2 pauses instead of sleeping: another worker that hands packets over wakes nobody"]
    assert run.stats["workers"][1]["waits"] == 0 and run.stats["totals"]["tx"] == 100, run


def test_classes_and_their_counts_are_those_of_poll_mode(rig):
    """The class is a lane, which goes along."""
    policy = rig.write("policy", "rule 1 class 7 proto udp\nrule 2 class 9 proto tcp\n")
    records = [f.data for f in frames.generate(8)]
    app = [f"--policy={policy}", "--drop-class=9", rig.routes(frames.ROUTES)]
    polled = rig.forward([[records], SILENT, SILENT], *app).stats
    stats = forward(rig, ["flow_cls-0=2", "pkt_cls=3", "ip4_*=1"], 3, [[records], SILENT, SILENT],
                    *app).stats
    assert stats["classes"] == polled["classes"] and len(stats["classes"]) >= 2
    assert stats["drops"] == {**polled["drops"], "ring_full": 0}
    assert stats["drops"]["denied"] > 0
    assert stats["totals"] == polled["totals"] and stats["totals"]["rx"] == len(records)


def test_graph_of_a_worker_is_drawn_as_it_is_spread(rig):
    path = rig.folder / "graph.json"
    run = rig.run([*l3fwd.options(2, [(0, 0, 1)]), "--mode=dispatch", "--pin=ip4_lookup=2",
                   "--dry-run", f"--export-json={path}"],
                  rig.vdevs([[plain(1)], SILENT], tx_queues=2), workers=2)
    assert run.code == 0, run
    names = {node["name"] for node in json.loads(path.read_text())["nodes"]}
    assert "worker-out-ip4_lookup" in names and "ip4_lookup" not in names, names


REFUSED = {
    "no pin": ([], "--mode: dispatch requires --pin"),
    "no lcore": (["--pin=ip4_lookup"], "--pin: 'ip4_lookup' is not PATTERN=LCORE[+LCORE...]"),
    "no pattern": (["--pin==2"], "--pin: '=2' is not PATTERN=LCORE[+LCORE...]"),
    "empty lcore": (["--pin=ip4_lookup="], "is not PATTERN=LCORE[+LCORE...]"),
    "lcore of letters": (["--pin=ip4_lookup=two"], "is not PATTERN=LCORE[+LCORE...]"),
    "lcores with junk": (["--pin=ip4_lookup=2+"], "is not PATTERN=LCORE[+LCORE...]"),
    "lcores with commas": (["--pin=ip4_lookup=1,2"], "is not PATTERN=LCORE[+LCORE...]"),
    "lcore of no program": (["--pin=ip4_lookup=99999"], "is not PATTERN=LCORE[+LCORE...]"),
    "lcore twice": (["--pin=ip4_lookup=2+1+2"], "'ip4_lookup=2+1+2' names lcore 2 twice"),
    "pattern twice": (["--pin=ip4_lookup=1", "--pin=ip4_*=2", "--pin=ip4_lookup=2"],
                      "--pin: 'ip4_lookup' is pinned twice; its lcores are accepted together, as "
                      "in ip4_lookup=1+2\n"),
    "absent lcore": (["--pin=ip4_lookup=7"], "--pin: lcore 7 is not enabled"),
    "main lcore": (["--pin=ip4_lookup=0"], "--pin: lcore 0 is the main lcore"),
    "receive queue": (["--pin=ethdev_*=2"], "'ethdev_*' matches ethdev_rx-0-0, which runs where "
                      "--config says"),
    "no such node": (["--pin=ip7_lookup=2"], "ip7_lookup"),
    "feature's node": (["--pin=ip4_filter=2", "--feature=ip4_filter@0:proto=6"],
                       "pin of 'ip4_filter': no node that can be pinned matches"),
    "drops": (["--pin=pkt_drop=2"], "pin of 'pkt_drop': no node that can be pinned matches"),
    "event device's": (["--pin=ip4_lookup=2", "--eventq-sched=atomic"], "--eventq-sched: requires --mode=eventdev"),
}


@pytest.mark.parametrize("what", REFUSED, ids=lambda what: what.replace(" ", "-"))
def test_what_cannot_be_is_refused_in_words(rig, what):
    app, words = REFUSED[what]
    run = rig.forward([[plain(1)], SILENT], "--mode=dispatch", *app, tx_queues=2, workers=2)
    assert run.code == 1 and words in run.stderr, run
    assert run.wrote_packets() == []


def test_pins_are_for_dispatch(rig):
    for mode in ([], ["--mode=poll"]):
        run = rig.forward([[plain(1)], SILENT], *mode, "--pin=ip4_lookup=2", tx_queues=2, workers=2)
        said = run.stderr.splitlines()[-1]
        assert (run.code, said) == (1, "l3fwd-graph: --pin: requires --mode=dispatch"), run


def test_port_without_transmit_queues_names_the_pins(rig):
    run = rig.run([*l3fwd.options(1, [(0, 0, 1)]), "--mode=dispatch", "--pin=ip4_lookup=2",
                   "--until-idle=100"], rig.vdevs([SILENT]), workers=2)
    assert run.code == 1, run
    assert "2 transmit queues are needed, one for each worker; the port has 1 " in run.stderr, run
    assert "; name fewer lcores or queues in --config and --pin\n" in run.stderr, run
