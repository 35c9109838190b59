# SPDX-License-Identifier: BSD-3-Clause
"""l3fwd-graph fed by a simulated event device through internal ports, as on cn10k: packet by packet
and in vectors, by one worker and two. What it sends and drops over the real captures is what the
oracle says, each flow in order."""

import subprocess

import pytest

import oracle
import test_eventdev
import test_events
from frames import traffic
from l3fwd import SILENT
from test_forward import PORTS
from test_offload import assert_counted, rules_for
from test_policy import rules
from test_simulated import OFFLOAD, captured, require

folder = test_events.folder
LINK = 1  # RTE_ETH_EVENT_INTR_LSC
pytestmark = pytest.mark.simulated

# The options for how packets come, and the variants of event_rx and ethdev_tx that follow from it.
SINGLE = ["--node=ethdev_tx=sso"], ("single", "sso")
VECTORS = ["--event-vector", "--event-vector-tmo=50000"], ("sso_vector", "sso_vector")


@pytest.fixture
def cn10k(rig):
    require(rig, "sim_cn10k")
    return rig


def forward(rig, workers, records, routes, how, *app, sched="atomic"):
    """Forwards frames by way of the event device; asserts which variants did it."""
    words, variants = how
    run = test_eventdev.forward(rig, "sim_event_cn10k0", workers, [[records], SILENT, SILENT],
                                rig.routes(routes), f"--eventq-sched={sched}", *words, *app,
                                eal=["-m", "512"])  # each port has a pool of its own
    assert {port["driver"] for port in run.stats["ports"]} == {"net_cn10k"}, run
    assert run.stats["event"]["sched"] == sched, run
    for family, variant in zip(("event_rx", "ethdev_tx"), variants):
        used = {n["variant"] for n in run.stats["nodes"] if n["family"] == family}
        assert used == {variant}, f"{family}: {used}\n{run}"
    return run


@pytest.mark.parametrize("sched", ["atomic", "ordered"])
@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize("how", [SINGLE, VECTORS], ids=["single", "vectors"])
def test_captures_are_forwarded_as_the_oracle_says(cn10k, captures, how, workers, sched):
    records, routes = captured(tuple(captures))
    run = forward(cn10k, workers, records, routes, how, sched=sched)
    expected = oracle.forward(records, routes, run.macs)
    assert test_eventdev.assert_flows(run, expected, 1) == len(records)
    if workers == 1:
        assert run.assert_agrees(expected) == len(records)
    assert len(run.macs) == PORTS


def test_vectors_wait_as_long_as_the_device_can_unless_told(cn10k):
    records = test_eventdev.plain(300)
    how = ["--event-vector"], VECTORS[1]
    run = forward(cn10k, 1, records, oracle.default_routes(range(PORTS)), how)
    assert ("Packets come by event device 0, atomic, in vectors of at most 64 that wait for "
            "51100 ns.") in run.stdout, run
    assert run.stats["totals"] == {"rx": 300, "copied": 0, "tx": 300, "dropped": 0}


@pytest.mark.parametrize("words", ["--event-vector-tmo=1000000", "--event-vector-size=5"])
def test_vectors_that_are_not_to_be_had_are_reported(cn10k, words):
    run = test_eventdev.forward(cn10k, "sim_event_cn10k0", 1, [[traffic("198.18.1.1")], SILENT],
                                "--event-vector", words, eal=["-m", "512"])
    assert run.node("event_rx")["variant"] == "single", run
    assert "There are no event vectors here (--explain says why).\n" in run.stdout, run
    assert run.stats["totals"] == {"rx": 100, "copied": 0, "tx": 100, "dropped": 0}


@pytest.mark.parametrize("how", [SINGLE, VECTORS], ids=["single", "vectors"])
def test_captures_are_classified_by_marks_as_by_software(cn10k, captures, how):
    """Marks come through the event device, and are gone when it is told what to send where."""
    records, routes = captured(tuple(captures))
    policy = rules(cn10k, *rules_for(records, 200))
    classes = forward(cn10k, 1, records, routes, how, policy).stats["classes"]
    assert len(classes) > 100
    run = forward(cn10k, 1, records, routes, how, policy, OFFLOAD)
    assert run.assert_agrees(oracle.forward(records, routes, run.macs)) == len(records)
    assert run.stats["classes"] == classes, run
    assert_counted(run, len(records))


def begun(rig, folder, monkeypatch, *more):
    """A running l3fwd-graph, whose ports 0 to 2 feed the event device."""
    return test_events.Events(
        rig, folder, monkeypatch, "--mode=eventdev", *more,
        ports=rig.vdevs([[traffic("198.18.1.1")], SILENT, SILENT]),
        config="(0,0,1),(1,0,1),(2,0,1)", eal=["--vdev", "sim_event_cn10k0", "-m", "512"],
        stderr=subprocess.STDOUT)


FEEDS = "it feeds event device 0, and event_cn10k can change no queues while workers dequeue\n"


def test_recovery_by_the_driver_puts_no_queue_back_under_workers(cn10k, folder, monkeypatch):
    """The port stays out, as after a reset: the simulated device ends a program that does otherwise."""
    events = begun(cn10k, folder, monkeypatch)
    events.event(1, test_events.RECOVERING, "port 1 is down: its driver recovers")
    events.event(1, test_events.RECOVERED, f"port 1 stays down: {FEEDS}")
    events.event(0, test_events.RECOVERING, "port 0 is down: its driver recovers")
    events.event(0, test_events.RECOVERED, f"port 0 stays down: {FEEDS}")
    run = events.finish()
    assert [(p["state"], p["resets"]) for p in run.stats["ports"]] == [
        ("down", 0), ("down", 0), ("up", 0)], run
    assert run.stats["totals"]["rx"] == 100, run


def test_reset_under_workers_is_refused(cn10k, folder, monkeypatch):
    """The driver would restart the event device under the workers. The program goes on."""
    events = begun(cn10k, folder, monkeypatch)
    for port in (1, 0):
        events.event(port, test_events.RESET,
                     f"port {port} stays down: {FEEDS}")
    run = events.finish()
    assert [(p["state"], p["resets"]) for p in run.stats["ports"]] == [
        ("down", 0), ("down", 0), ("up", 0)], run
    assert run.stats["totals"]["rx"] == 100, run


def test_order_that_is_lost_by_another_selection_is_told_of(cn10k, folder, monkeypatch):
    """When port 2 leaves, port 1 gets a variant that sends past the event device."""
    monkeypatch.setenv("HY_TEST_EVENTS_LATE", "1")
    events = begun(cn10k, folder, monkeypatch, "--eventq-sched=ordered")
    said = ("l3fwd-graph: ordered needs event device 0 to transmit packets and put them in order; "
            "ethdev_tx of port 1 has no variant for that, or another one was selected: use "
            "atomic\n")
    assert "ordered needs" not in events.text()
    print(1, LINK, file=events.commands)
    events.event(2, test_events.RESET, said)
    run = events.finish()
    variants = {n["name"]: n["variant"] for n in run.stats["nodes"]}
    assert (variants["ethdev_tx-0"], variants["ethdev_tx-1"]) == ("sso_vector", "late"), run
    assert events.text().count("ordered needs") == 1, events.text()
