# SPDX-License-Identifier: BSD-3-Clause
"""vswitch-graph --offload: megaflows in the flow engine of a port. What leaves, and what rules count, is
as without; and a change of rules ends what hardware drops before it is answered.

The engines are simulators behind net_pcap ports: what they refuse is what those drivers refuse. A capture is
brought over and over, so that each rule's counts are those of one pass times the passes."""

import collections
import json

import pytest

import l3fwd
import live
import pcapfile
import vswitch_frames
from l3fwd import SILENT
from test_cli import assert_refused
from test_policy import replay

VSWITCH = l3fwd.BUILD / "examples" / "vswitch-graph" / "vswitch-graph"
CONFIG = ["-p", "3", "--config", "(0,0,1),(1,0,1)"]
# Drivers that drop and count, and those that only mark.
DROPS, OTHERS = ("mlx5", "cnxk", "ice"), ("i40e", "iavf", "generic")
# By whole flows, which each of these drivers matches, and by what only some match.
RULES = """\
cookie=1,priority=9,tcp,nw_src=192.0.2.7,nw_dst=10.0.0.1,tp_src=1000,tp_dst=22 actions=output:2
cookie=2,priority=9,tcp,nw_src=192.0.2.7,nw_dst=10.0.0.2,tp_src=1000,tp_dst=22 actions=drop
cookie=3,priority=8,ip,nw_dst=10.0.0.4/30 actions=drop
cookie=4,priority=7,udp,nw_dst=10.0.0.1 actions=dec_ttl,output:2
cookie=5,priority=6,dl_type=0x88cc actions=drop
cookie=6,priority=1 actions=output:2
"""


@pytest.fixture(name="rig")
def vswitch_rig(rig):
    """A rig that runs vswitch-graph."""
    rig.program = VSWITCH
    return rig


class Switch(live.Live):
    """A running switch."""

    WHAT = "flows"

    def offload(self):
        """How the offload of port 0 stands."""
        return self.ask("/halyard/offload,0")


def frames():
    """One or more frames for each rule."""
    sent = []
    for host in (1, 2, 4, 5, 6, 9):
        for proto, port in ((6, 22), (6, 23), (17, 53)):
            payload = (1000).to_bytes(2, "big") + port.to_bytes(2, "big") + bytes(8) + b"\x50" + bytes(27)
            if proto == 17:
                payload = payload[:4] + len(payload).to_bytes(2, "big") + payload[6:]
            packet = {"frag": 0, "nw_tos": 0, "nw_ttl": 64, "nw_proto": proto, "nw_src": 0xC0000207,
                      "nw_dst": 0x0A000000 + host}
            sent.append(b"\x02\0\0\0\0\1\x02\0\0\0\0\2\x08\0" + vswitch_frames.ip4(packet, payload))
    return [*sent, b"\x01\x80\xc2\0\0\x0e\x02\0\0\0\0\2\x88\xcc" + bytes(50)]


def rule_of(frame):
    """The cookie of a frame's rule, by brute force."""
    if frame[12:14] == b"\x88\xcc":
        return 5
    proto, host, port = frame[23], frame[33], int.from_bytes(frame[36:38], "big")
    if proto == 6 and port == 22 and host in (1, 2):
        return host
    if host in (4, 5, 6, 7):
        return 3
    return 4 if proto == 17 and host == 1 else 6


def running(rig, how, rules=RULES, sent=None):
    return Switch(rig, rules, [*CONFIG, f"--offload=sim:{how},settle_us=2000", f"--dump-flows={rig.folder}/dump"],
                  replay(rig, sent or frames()), telemetry=True)


def counts_of(dump):
    """Packets by cookie."""
    return {cookie: packets for cookie, (packets, _) in vswitch_frames.counts_of(dump).items()}


def assert_shares(run, counts, lost):
    """Each rule counted its share of whole passes, but for what was lost before a rule was asked."""
    each, everything = collections.Counter(map(rule_of, frames())), sum(counts.values()) + lost
    for cookie, n in each.items():
        due = n * everything // len(frames())
        assert due - lost - n <= counts[cookie] <= due + lost + n, (cookie, n, counts, everything, run)


@pytest.mark.parametrize("profile", DROPS + OTHERS)
def test_rules_count_what_hardware_marks_and_drops_as_software_does(rig, profile):
    switch = running(rig, profile)
    switch.wait(lambda: switch.offload()["marked"] > 5000, "marks")
    if profile in DROPS:
        switch.wait(lambda: switch.offload()["dropped"] > 1000, "drops in hardware")
    run = switch.stop()
    stood, = (o for o in run.stats["offloads"] if o["port"] == 0)
    totals, drops = run.stats["totals"], run.stats["drops"]
    counts = counts_of((rig.folder / "dump").read_text())
    lost = drops.get("upcall_full", 0)
    assert totals["rx"] + totals["copied"] == totals["tx"] + totals["dropped"], run
    assert sum(counts.values()) + lost == totals["rx"] + stood["dropped"], (counts, stood, run)
    assert counts[1] + counts[4] + counts[6] == totals["tx"], run
    assert_shares(run, counts, lost)
    assert stood["state"] == "up" and stood["leaked"] == stood["mismatches"] == stood["missing"] == 0, stood
    assert (stood["dropped"] > 0) == (profile in DROPS), stood
    assert stood["hw_rules"] > 0 and stood["marked"] > 5000, stood
    variants = {node["name"]: node["variant"] for node in run.stats["nodes"]}
    assert variants["flow_lookup-0"] == "mark", variants


def test_a_change_ends_drops_in_hardware_before_it_is_answered(rig):
    switch = running(rig, "mlx5")
    switch.wait(lambda: switch.offload()["dropped"] > 1000, "drops in hardware")
    changed = switch.ask("/halyard/flows/modify,ip,nw_dst=10.0.0.4/30 actions=output:2")
    assert changed["changed"] == 1, changed
    switch.ask("/halyard/flows/modify,tcp,nw_dst=10.0.0.2 actions=output:2")
    switch.ask("/halyard/flows/modify,dl_type=0x88cc actions=output:2")
    before = switch.offload()
    assert before["drop_rules"] == 0, before
    switch.wait(lambda: switch.offload()["marked"] > before["marked"] + 5000, "more marks")
    after = switch.offload()
    assert after["dropped"] == before["dropped"], (before, after)
    switch.ask("/halyard/flows/modify,ip,nw_dst=10.0.0.4/30 actions=drop")
    switch.wait(lambda: switch.offload()["dropped"] > after["dropped"] + 1000, "drops again")
    run = switch.stop()
    totals = run.stats["totals"]
    assert totals["rx"] + totals["copied"] == totals["tx"] + totals["dropped"], run


@pytest.mark.parametrize("fault, why", [("leak_every=1", "rules drop packets in hardware, but of their packets"),
                                        ("lie_every=2", "of its marks were found wrong"),
                                        ("no_marks=1", "came with a mark")])
def test_a_port_that_lies_is_demoted_and_software_looks_up(rig, fault, why):
    switch = running(rig, f"mlx5,sample_every=8,{fault}")
    switch.wait(lambda: switch.offload()["state"] == "demoted", "a demotion")
    before = switch.ask("/halyard/flows/stats")["packets"]
    switch.wait(lambda: switch.ask("/halyard/flows/stats")["packets"] > before + 20000, "lookups")
    run = switch.stop()
    stood, = (o for o in run.stats["offloads"] if o["port"] == 0)
    assert why in stood["demoted"] and stood["hw_rules"] == 0, stood
    variants = {node["name"]: node["variant"] for node in run.stats["nodes"]}
    assert variants["flow_lookup-0"] == "megaflow", variants
    totals = run.stats["totals"]
    assert totals["rx"] + totals["copied"] == totals["tx"] + totals["dropped"], run


def test_an_engine_that_is_full_keeps_as_many_as_it_has_room_for(rig):
    """There are more megaflows than places."""
    rules = "".join(f"priority=9,tcp,nw_dst=10.0.0.{host},tp_dst={port} actions=output:2\n"
                    for host in (1, 2, 4, 5, 6, 9) for port in (22, 23)) + "priority=1 actions=output:2\n"
    switch = running(rig, "generic,max_rules=2", rules)
    switch.wait(lambda: switch.offload()["marked"] > 1000, "marks")
    run = switch.stop()
    stood, = (o for o in run.stats["offloads"] if o["port"] == 0)
    assert stood["hw_rules"] == 2 == stood["room"], stood


def test_a_megaflow_that_is_used_more_displaces_another(rig):
    """The one that comes first has one packet in ten, and hardware has one place."""
    rules = "".join(f"priority=9,tcp,nw_dst=10.0.0.{host} actions=output:2\n" for host in (1, 9))
    rare, often = frames()[15], frames()[0]
    assert (rare[33], often[33]) == (9, 1)
    switch = running(rig, "generic,max_rules=1", rules, [rare] + 9 * [often])
    switch.wait(lambda: switch.offload()["marked"] > 0, "a mark")

    def share():
        before, begin = switch.offload(), switch.ask("/halyard/flows/rules")
        switch.wait(lambda: switch.ask("/halyard/flows/rules") != begin, "packets")
        after = switch.offload()
        marked = after["marked"] - before["marked"]
        return marked > after["unmarked"] - before["unmarked"]

    switch.wait(share, "marks of most packets")
    run = switch.stop()
    stood, = (o for o in run.stats["offloads"] if o["port"] == 0)
    assert stood["hw_rules"] == 1 and stood["installed"] >= 2, stood


def test_explain_says_what_ports_take(rig):
    run = rig.run([*CONFIG, "--explain", "--offload=sim:ice"], rig.vdevs([SILENT, SILENT]))
    assert run.code == 0 and "port 0: offload up, rules as of net_ice by simulator" in run.stdout, run


@pytest.mark.parametrize("how, words", [("sim:none", ["--offload", "'sim:none' is not rte_flow"]),
                                        ("sim:ice,rules=1", ["--offload", "'rules' is not a setting"]),
                                        ("rte_flow,no_marks=1", ["--offload", "no_marks is of simulators"])])
def test_a_wrong_value_is_refused(rig, how, words):
    assert_refused(rig.run([*CONFIG, f"--offload={how}"], rig.vdevs([SILENT, SILENT])), words)


def test_a_port_without_a_flow_engine_is_looked_up_in_software(rig):
    capture = pcapfile.write(rig.folder / "in.pcap", frames())
    run = rig.run([*CONFIG, "--offload=rte_flow", f"--flows={rig.write('flows', RULES)}", "--until-idle=500",
                   f"--json={rig.folder}/stats.json"], rig.vdevs([[capture], SILENT]))
    assert run.code == 0 and "port 0 is not offloaded to: " in run.stderr, run
    assert run.stats["totals"]["rx"] == len(frames()) and run.stats["offloads"][0]["state"] == "refused", run
    assert json.loads((rig.folder / "stats.json").read_text())["flows"]["rules"] == 6
