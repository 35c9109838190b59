# SPDX-License-Identifier: BSD-3-Clause
"""What telemetry answers of any program's graphs while packets flow."""

from collections import Counter

import pytest

import frames
import live
import pcapfile
from l3fwd import SILENT, options
from test_capture import ROUTES

WAY = ["ethdev_rx-0-0", "pkt_cls", "ip4_lookup", "ip4_rewrite", "ethdev_tx-0"]


@pytest.fixture
def running(rig):
    records = frames.traffic("198.18.0.1", 64)
    vdevs = rig.vdevs([[pcapfile.write(rig.folder / "in.pcap", records)]], more=",infinite_rx=1")
    program = live.Live(rig, ROUTES[:1], options(1, [(0, 0, 1)]), vdevs, telemetry=True)
    yield program
    run = program.stop()
    assert run.code == 0, run


def entries(answer):
    """The entries of an answer, in order."""
    return [answer[str(n)] for n in range(len(answer))]


def test_traces_start_and_are_read_while_packets_flow(running):
    nothing = {"running": 0, "packets": 0, "records": 0, "lost": 0}
    assert running.ask("/l3fwd/trace") == nothing
    assert running.ask("/l3fwd/trace_read") == {}
    assert "no parameter" in running.ask("/l3fwd/trace_start")["error"]
    assert running.ask("/l3fwd/trace_start,1001") == {
        "error": "'1001' is not a number from 1 to 1000"}
    assert running.ask("/l3fwd/trace_start,3:proto=256") == {
        "error": "'256' is not a number from 0 to 255"}
    assert running.ask("/l3fwd/trace") == nothing

    # Nothing matches, so that it runs until it is stopped.
    assert running.ask("/l3fwd/trace_start,3:src=203.0.113.9")["running"] == 1
    assert "is running" in running.ask("/l3fwd/trace_start,3")["error"]
    assert running.ask("/l3fwd/trace_stop") == nothing

    assert "error" not in running.ask("/l3fwd/trace_start,7:dst=198.18.0.0/16")
    running.wait(lambda: not running.ask("/l3fwd/trace")["running"], "seven packets")
    assert running.ask("/l3fwd/trace") == {"running": 0, "packets": 7, "records": 7 * len(WAY),
                                           "lost": 0}
    records = []
    while answer := running.ask("/l3fwd/trace_read"):
        records += entries(answer)
    assert len(records) == 7 * len(WAY)
    assert Counter(record["packet"] for record in records) == {n: len(WAY) for n in range(1, 8)}
    for packet in range(1, 8):
        steps = [record for record in records if record["packet"] == packet]
        assert [step["node"] for step in steps] == WAY, steps
        assert [step["ns"] for step in steps] == sorted(step["ns"] for step in steps)
        assert all(step["graph"] == "worker-1" and step["drop"] == "" for step in steps), steps
        assert "198.18." in steps[1]["text"], steps


@pytest.fixture
def counted(rig):
    """A running program that has forwarded all of a known traffic, on ports 0 to 2."""
    good = frames.traffic("198.18.1.1", 60)
    lost = frames.traffic("203.0.113.1", 7)  # no route
    vdevs = rig.vdevs([[pcapfile.write(rig.folder / "in.pcap", good + lost)], SILENT, SILENT])
    program = live.Live(rig, ROUTES, options(3, [(0, 0, 1)]), vdevs, telemetry=True)
    program.wait(lambda: "error" not in program.ask("/halyard/nodes"), "answers")
    program.wait(lambda: sum(port["tx"] for port in entries(program.ask("/halyard/ports"))) == 60
                 and entries(program.ask("/halyard/drops,no_route"))[0]["packets"] == 7,
                 "all packets")
    yield program


def test_halyards_commands_count_right(counted):
    """The numbers while it runs are those of the report at the end, and of the traffic."""
    nodes = {entry.pop("node"): entry for entry in entries(counted.ask("/halyard/nodes"))}
    hal = {entry["node"]: entry for entry in entries(counted.ask("/halyard/hal"))}
    ports = {entry["port"]: entry for entry in entries(counted.ask("/halyard/ports"))}
    drops = {entry["reason"]: entry for entry in entries(counted.ask("/halyard/drops"))}
    graphs = entries(counted.ask("/halyard/graph"))
    one = entries(counted.ask("/halyard/ports,1"))
    assert counted.ask("/halyard/nodes,nosuch*") == {} == counted.ask("/halyard/hal,nosuch")
    run = counted.stop()
    assert run.code == 0, run

    assert set(nodes) == {node["name"] for node in run.stats["nodes"]} and len(nodes) >= 7
    for node in run.stats["nodes"]:
        assert nodes[node["name"]]["packets"] == node["objs"], node
        assert nodes[node["name"]]["dropped"] == sum(node["drops"].values()), node
        if node["family"]:
            assert hal[node["name"]] == {
                "node": node["name"], "family": node["family"], "variant": node["variant"],
                "target": node["target"]}
    assert len(hal) == sum(node["family"] != "" for node in run.stats["nodes"]) > 5
    assert [(port["port"], port["rx"], port["tx"]) for port in run.stats["ports"]] == [
        (number, port["rx"], port["tx"]) for number, port in sorted(ports.items())] == [
            (0, 67, 0), (1, 0, 60), (2, 0, 0)]
    assert one == [ports[1]] and {port["state"] for port in ports.values()} == {"up"}
    assert {name: entry["packets"] for name, entry in drops.items()} == run.stats["drops"]
    assert drops["no_route"]["packets"] == 7 and drops["no_route"]["text"] != ""
    assert [graph["graph"] for graph in graphs] == ["worker-1"]
    assert 0 < graphs[0]["idle_walks"] < graphs[0]["walks"] <= run.stats["workers"][0]["walks"]


def test_answers_leave_out_what_does_not_fit_and_say_so(rig):
    """More nodes than one answer holds: the rest is asked for by a pattern."""
    queues = [(port, queue, 1) for port in range(10) for queue in range(3)]
    vdevs = rig.vdevs([[[], [], []]] * 10)
    program = live.Live(rig, ROUTES[:1], options(10, queues), vdevs, telemetry=True)
    program.wait(lambda: "error" not in program.ask("/halyard/nodes"), "answers")
    found = [entries(program.ask(f"/halyard/nodes,{pattern}"))
             for pattern in ("ethdev_rx-*", "ethdev_tx-*", "[!e]*")]
    assert [len(part) for part in found[:2]] == [30, 10] and len(found[2]) >= 3
    names = {entry["node"] for part in found for entry in part}
    answer = program.ask("/halyard/nodes")
    assert answer.pop("left_out") == len(names) - 40 > 0
    assert len({entry["node"] for entry in entries(answer)} & names) == 40 == len(answer)
    listed = program.ask("/")
    for command in ("nodes", "drops", "ports", "graph", "hal"):
        assert f"/halyard/{command}" in listed and "0" in program.ask(f"/halyard/{command}")
    program.process.terminate()
    assert rig.finish(program.process).code == 0
