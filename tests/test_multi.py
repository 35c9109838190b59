# SPDX-License-Identifier: BSD-3-Clause
"""More than one worker, burst sizes, ways to stop, and what l3fwd-graph says about itself."""

import json
import re
import shutil
import signal
import subprocess
import time
from collections import Counter

import pytest

import frames
import l3fwd
import oracle
from frames import traffic
from l3fwd import SILENT
from live import await_work

MADE = 6000  # frames for each input where there are several


def inputs(count):
    """Generated frames for some inputs, no frame in two of them."""
    made = [f.data for f in frames.generate(11)]
    unique = list(dict.fromkeys(made))
    assert len(unique) >= count * MADE
    return [unique[i * MADE : (i + 1) * MADE] for i in range(count)]


# Ports as lists of their queues' inputs, config, transmit queues a port, workers.
LAYOUTS = {
    "a worker a port": ([1, 1, 0], [(0, 0, 1), (1, 0, 2), (2, 0, 1)], 2, 2),
    "two queues of a port": ([2, 0, 0], [(0, 0, 1), (0, 1, 2), (1, 0, 1), (2, 0, 2)], 2, 2),
    "one worker for two queues": ([2, 1, 0], [(0, 0, 1), (0, 1, 1), (1, 0, 1), (2, 0, 1)], 1, 1),
    "two workers, three inputs": ([2, 1, 0], [(0, 0, 1), (0, 1, 2), (1, 0, 1), (2, 0, 2)], 2, 2),
}


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda name: name.replace(" ", "-"))
def test_workers_and_queues_together_do_what_the_oracle_says(rig, layout):
    queues, config, tx_queues, workers = LAYOUTS[layout]
    sources = inputs(sum(queues))
    left = iter(sources)
    ports = [[next(left) for _ in range(n)] or SILENT for n in queues]
    run = rig.forward(ports, rig.routes(frames.ROUTES), config=config, tx_queues=tx_queues,
                      workers=workers)
    results = [oracle.forward(source, frames.ROUTES, run.macs) for source in sources]

    compared = 0
    for port in range(len(ports)):
        queue_out = [run.sent(port, queue) for queue in range(tx_queues)]
        wanted = Counter(frame for result in results for frame in result.out[port])
        got = Counter(frame for out in queue_out for frame in out)
        assert got == wanted, (
            f"port {port}: {(got - wanted).total()} too many, {(wanted - got).total()} missing"
        )
        compared += got.total()
        # One worker serves an input, so that its frames leave through one queue, in order.
        for n, result in enumerate(results):
            mine = set(result.out[port])
            orders = [[frame for frame in out if frame in mine] for out in queue_out]
            assert sorted(map(len, orders))[:-1] == [0] * (tx_queues - 1), f"input {n} was split"
            l3fwd.assert_same_frames(result.out[port], max(orders, key=len),
                                     f"input {n}, port {port}")
    for reason in oracle.REASONS:
        assert run.stats["drops"][reason] == sum(r.drops[reason] for r in results), reason
    assert compared + run.stats["totals"]["dropped"] == sum(queues) * MADE


@pytest.mark.parametrize("burst", [1, 7, 32, 255, 256])
def test_burst_size_changes_nothing_that_is_sent(rig, burst):
    (records,) = inputs(1)
    run = rig.forward([[records], SILENT, SILENT], f"--burst={burst}", rig.routes(frames.ROUTES))
    expected = oracle.forward(records, frames.ROUTES, run.macs)
    assert run.assert_agrees(expected) == MADE
    lookup = run.node("ip4_lookup")
    assert 0 < lookup["objs"] <= burst * lookup["calls"], lookup


def endless(rig, *app):
    """Starts a run whose input never ends; its output goes nowhere."""
    # net_pcap repeats no frame that does not fit into one mbuf.
    records = [f.data for f in frames.generate(5) if len(f.data) < 2000][:500]
    routes = [r._replace(port=0) for r in frames.ROUTES]
    return rig.start([*l3fwd.options(1, [(0, 0, 1)]), rig.routes(routes), *app,
                      f"--json={rig.folder}/stats.json"],
                     rig.vdevs([[records]], tx_queues=0, more=",infinite_rx=1"))


def assert_table(run):
    """Asserts that the table of nodes and the drop reasons that occurred were printed."""
    for node in run.stats["nodes"]:
        assert node["name"] in run.stdout, f"{node['name']} is not in the table\n{run}"
    for reason, n in run.stats["drops"].items():
        assert n == 0 or reason in run.stdout, f"{reason} is not in the table\n{run}"


@pytest.mark.parametrize("sig", [signal.SIGINT, signal.SIGTERM], ids=lambda s: s.name)
def test_signal_stops_cleanly(rig, sig):
    process = endless(rig)
    await_work(process)
    process.send_signal(sig)
    run = rig.finish(process)
    totals = run.stats["totals"]
    assert totals["rx"] >= 500 and totals["tx"] > 0 and totals["dropped"] > 0, run
    assert_table(run)


def test_duration_stops_by_itself(rig):
    began = time.monotonic()
    run = rig.finish(endless(rig, "--duration=1"))
    assert time.monotonic() - began >= 1
    assert run.stats["totals"]["rx"] >= 500, run
    assert_table(run)


def test_stats_prints_a_table_while_running(rig):
    def mentions(*app):
        run = rig.finish(endless(rig, *app))
        assert run.stats["totals"]["rx"] >= 500
        return len(re.findall(r"\bip4_lookup\b", run.stdout))

    assert mentions("--duration=4", "--stats=1") >= mentions("--duration=1") + 2


def test_port_that_only_sends_needs_no_receive_queue(rig):
    run = rig.forward([[traffic("198.18.1.1")], []], config=[(0, 0, 1)])
    assert run.stats["totals"] == {"rx": 100, "copied": 0, "tx": 100, "dropped": 0}
    assert len(run.sent(1)) == 100


def test_until_idle_ends_without_any_traffic(rig):
    run = rig.forward([SILENT, SILENT])
    stats = run.stats
    assert stats["totals"] == {"rx": 0, "copied": 0, "tx": 0, "dropped": 0}
    assert stats["drops"] == dict.fromkeys(stats["drops"], 0)
    assert [(p["port"], p["rx"], p["tx"]) for p in stats["ports"]] == [(0, 0, 0), (1, 0, 0)]
    assert [run.sent(port) for port in (0, 1)] == [[], []]
    assert_table(run)


def test_statistics_have_every_field(rig):
    (records,) = inputs(1)
    run = rig.forward([[records], SILENT, SILENT], rig.routes(frames.ROUTES))
    for port in run.stats["ports"]:
        assert set(port) >= {"port", "driver", "mac", "rx", "tx"}
        assert port["driver"] == "net_pcap"
        assert re.fullmatch(r"([0-9a-f]{2}:){5}[0-9a-f]{2}", port["mac"].lower()), port
    by_node = Counter()
    for node in run.stats["nodes"]:
        assert set(node) >= {"name", "family", "variant", "target", "calls", "objs", "cycles",
                             "edges", "drops"}, node
        by_node.update(node["drops"])
    assert len({node["name"] for node in run.stats["nodes"]}) == len(run.stats["nodes"]) >= 6
    families = {node["family"] for node in run.stats["nodes"]}
    assert families >= {"ethdev_rx", "pkt_cls", "ip4_lookup", "ip4_rewrite", "ethdev_tx",
                        "pkt_drop"}
    # Drops are counted where they happen: the nodes' counts add up to the program's.
    dropped = run.stats["drops"]
    assert {r: by_node[r] for r in dropped} == dropped
    assert sum(dropped.values()) == run.stats["totals"]["dropped"] > 0
    assert run.node("ip4_lookup")["objs"] > 0 and run.node("ip4_lookup")["cycles"] > 0


def test_fewer_transmit_queues_than_workers_is_refused(rig):
    vdevs = rig.vdevs([[[]], [[]]], tx_queues=1)
    run = rig.run([*l3fwd.options(2, [(0, 0, 1), (1, 0, 2)]), *rig.until_idle()], vdevs, workers=2)
    assert run.code != 0, run
    assert re.search(r"port 0\b.*\b1\b.*queue.*\b2\b.*worker|port 0\b.*\b2\b.*worker.*\b1\b.*queue",
                     run.stderr), run
    assert run.wrote_packets() == []


def test_json_to_stdout_is_all_of_stdout(rig):
    records = traffic("198.18.1.1")
    run = rig.run([*l3fwd.options(2, [(0, 0, 1), (1, 0, 1)]), f"--until-idle={l3fwd.IDLE_MS}",
                   "--json=-", "--stats=1"], rig.vdevs([[records], SILENT]))
    assert run.code == 0, run
    assert json.loads(run.stdout)["totals"] == {"rx": 100, "copied": 0, "tx": 100, "dropped": 0}, run


def test_exported_graph_can_be_drawn(rig):
    dot, svg = rig.folder / "graph.dot", rig.folder / "graph.svg"
    run = rig.forward([[traffic("198.18.1.1")], SILENT], f"--export-dot={dot}")
    assert shutil.which("dot"), "graphviz is not installed"
    drawn = subprocess.run(["dot", "-Tsvg", "-o", svg, dot], capture_output=True, text=True,
                           check=False)
    assert (drawn.returncode, drawn.stderr) == (0, ""), drawn
    picture = svg.read_text()
    for node in run.stats["nodes"]:
        assert node["name"] in picture.replace("&#45;", "-"), f"{node['name']} is not drawn"


def test_exported_json_adds_up_with_the_statistics(rig):
    path = rig.folder / "graph.json"
    run = rig.forward([[traffic("198.18.1.1")], SILENT], f"--export-json={path}")
    graph = json.loads(path.read_text())
    assert graph["live"] is True and graph["walks"] > 0
    nodes = {node["name"]: node for node in graph["nodes"]}
    assert [n["name"] for n in run.stats["nodes"]] == list(nodes)
    for stats in run.stats["nodes"]:
        node = nodes[stats["name"]]
        assert (node["variant"], node["objs"]) == (stats["variant"], stats["objs"])
        assert {e["to"]: e["objs"] for e in node["edges"]} == stats["edges"]
        assert {d["name"]: d["objs"] for d in node["drops"]} == stats["drops"]
        assert sum(node["sampled"]["bursts"]) == node["sampled"]["calls"] <= node["calls"]
    assert nodes["ip4_lookup"]["objs"] == 100


def test_dry_run_draws_the_graph_that_would_run_and_forwards_nothing(rig):
    dot, path = rig.folder / "plan.dot", rig.folder / "plan.json"
    ports = rig.vdevs([[traffic("198.18.1.1")], SILENT])
    run = rig.run([*l3fwd.options(2, [(0, 0, 1), (1, 0, 1)]), "--dry-run", f"--export-dot={dot}",
                   f"--export-json={path}"], ports)
    assert run.code == 0, run
    assert run.wrote_packets() == []
    plan = json.loads(path.read_text())
    assert plan["live"] is False and "walks" not in plan
    ran = rig.folder / "ran.json"
    rig.forward([[traffic("198.18.1.1")], SILENT], f"--export-json={ran}")
    graph = json.loads(ran.read_text())
    assert plan["graph"] == graph["graph"] and plan["burst"] == graph["burst"]
    assert [n["name"] for n in plan["nodes"]] == [n["name"] for n in graph["nodes"]]
    for planned, node in zip(plan["nodes"], graph["nodes"], strict=True):
        assert "objs" not in planned
        assert [e["to"] for e in planned["edges"]] == [e["to"] for e in node["edges"]]
        assert all("objs" not in e for e in planned["edges"])
        assert f'"{planned["name"]}" [shape=' in dot.read_text()
    assert len(plan["nodes"]) >= 7


def test_config_defaults_to_queue_0_of_every_port_over_all_workers(rig):
    records = traffic("198.18.2.1")
    run = rig.run(["-p", "0x7", *rig.until_idle()],
                  rig.vdevs([[records], [records], SILENT], tx_queues=2), workers=2)
    assert run.stats["totals"] == {"rx": 200, "copied": 0, "tx": 200, "dropped": 0}
    assert [len(run.sent(2, queue)) for queue in (0, 1)] == [100, 100], "a worker each"


def test_default_routes_lead_to_the_first_eight_ports(rig):
    assert_default_routes(rig, range(9), oracle.default_routes(range(9)))


def test_default_routes_leave_out_ports_that_are_not_enabled(rig):
    assert_default_routes(rig, [0, 2], oracle.default_routes([0, 2]))


def test_eth_dest_replaces_a_default_next_hop(rig):
    routes = oracle.default_routes(range(3))
    routes[1] = oracle.route("198.18.1.0/24", 1, "02:12:34:56:78:9a")
    routes[2] = oracle.route("198.18.2.0/24", 2, "02:ab:cd:ef:00:01")
    assert_default_routes(rig, range(3), routes, "--eth-dest=1,02:12:34:56:78:9a",
                          "--eth-dest=2,02:ab:cd:ef:00:01")


@pytest.mark.parametrize("option", ["-P", "--no-numa", "--per-port-pool"])
def test_options_of_dpdks_own_application_are_taken(rig, option):
    assert_default_routes(rig, range(3), oracle.default_routes(range(3)), option)


def assert_default_routes(rig, enabled, routes, *app):
    """Sends 10 frames to 198.18.0.0/24, 11 to the next and so on, and checks what comes out of
    the enabled ports."""
    records = [f for n in range(10) for f in traffic(f"198.18.{n}.77", 10 + n)]
    mask = sum(1 << port for port in enabled)
    config = ",".join(f"({port},0,1)" for port in enabled)
    run = rig.run(["-p", hex(mask), f"--config={config}", *rig.until_idle(), *app],
                  rig.vdevs([[records], *[SILENT] * max(enabled)]))
    macs = {port: run.macs[port] for port in enabled}
    expected = oracle.forward(records, routes, macs)
    assert run.assert_agrees(expected) == len(records) == 145
    sent = {port: len(out) for port, out in expected.out.items()}
    assert sent == {port: 10 + port if port < 8 else 0 for port in enabled}


def test_explain_says_why_each_variant_was_taken_or_not(rig):
    """The text of --explain holds every reason that its JSON has, AVX-512's with the others."""
    run = rig.run([*l3fwd.options(1, [(0, 0, 1)]), "--explain"], rig.vdevs([SILENT]))
    assert run.code == 0, run
    candidates = l3fwd.lookup_candidates()
    for candidate in candidates:
        assert candidate["fate"] in ("chosen", "outscored", "denied", "needs_unmet", "rejected")
        assert candidate["reason"], candidate
        lines = [line for line in run.stdout.splitlines() if candidate["variant"] in line]
        assert any(candidate["reason"] in line for line in lines), f"{candidate}\n{run}"
    assert [c["fate"] for c in candidates].count("chosen") == 1


def test_explain_forwards_nothing(rig):
    run = rig.run([*l3fwd.options(2, [(0, 0, 1), (1, 0, 1)]), "--explain"],
                  rig.vdevs([[traffic("198.18.1.1")], SILENT]))
    assert run.code == 0, run
    assert run.wrote_packets() == []


def fates(explained):
    """The fate of each variant of ip4_lookup."""
    found = l3fwd.selection(explained, "ip4_lookup")
    return {c["variant"]: c["fate"] for c in found["candidates"]}


def test_denied_variant_is_not_chosen(rig):
    free = fates(l3fwd.explain(rig.folder))
    (best,) = [variant for variant, fate in free.items() if fate == "chosen"]
    rest = [variant for variant, fate in free.items() if fate == "outscored"]
    if not rest:
        pytest.skip(f"this CPU can run {best} only")
    denied = fates(l3fwd.explain(rig.folder, f"--deny=ip4_lookup={best}"))
    (second,) = [variant for variant, fate in denied.items() if fate == "chosen"]
    assert (denied[best], second in rest) == ("denied", True), denied

    records = traffic("198.18.1.1")
    run = rig.forward([[records], SILENT], f"--deny=ip4_lookup={best}")
    assert run.node("ip4_lookup")["variant"] == second
    assert len(run.sent(1)) == len(records) == 100


def test_capped_simd_width_keeps_avx512_out(rig):
    if fates(l3fwd.explain(rig.folder)).get("avx512") not in ("chosen", "outscored"):
        pytest.skip("this CPU cannot run the AVX-512 variant")
    explained = l3fwd.explain(rig.folder, eal=["--force-max-simd-bitwidth=256"])
    (avx512,) = [c for c in l3fwd.selection(explained, "ip4_lookup")["candidates"]
                 if c["variant"] == "avx512"]
    assert avx512["fate"] not in ("chosen", "outscored"), avx512
    assert "256" in avx512["reason"] and "512" in avx512["reason"], avx512
