# SPDX-License-Identifier: BSD-3-Clause
"""l3fwd-graph --steer: a class goes to a next hop of its own, past the routes and past no check,
whoever found the class: software, or the hardware's marks."""

import pytest

import frames
import frames6
import oracle
import pcapfile
from l3fwd import SILENT
from test_policy import packets, rules

MAC = "02:00:00:00:00:77"
STEER = f"--steer=7=2,{MAC}"
WAY = oracle.route("0.0.0.0/0", 2, MAC)
OFFLOADS = {"software": [], "marks": ["--offload=sim:mlx5,settle_us=2000,sample_every=16"]}


def forward(rig, records, offload, *app):
    """Runs over three ports; nothing but steered packets goes to port 2."""
    run = rig.forward([[records], SILENT, SILENT], *app, STEER, *OFFLOADS[offload])
    assert run.stats["drops"].pop("denied", 0) == 0
    assert run.stats["drops"].pop("no_next_hop") == 0
    return run


@pytest.mark.parametrize("offload", OFFLOADS)
def test_steered_packets_pass_all_checks_but_the_route(rig, offload):
    """Frames that visit the rules of forwarding, all of the class: as by one route for all."""
    records = [frame.data for frame in frames.generate(5)]
    run = forward(rig, records, offload, rig.routes([]), rules(rig, "rule 1 class 7"))
    expected = oracle.forward(records, [WAY], run.macs)
    assert run.assert_agrees(expected) == len(records) > 20000
    reasons = {reason for reason, n in expected.drops.items() if n > 100}
    assert reasons >= {"truncated", "bad_header", "bad_checksum", "martian_dst", "ttl_expired",
                       "not_ip4", "vlan_unknown"}, expected.drops
    assert expected.drops["no_route"] == 0 and len(expected.out[2]) > 1000


@pytest.mark.parametrize("offload", OFFLOADS)
def test_classes_go_their_way_and_others_by_routes(rig, offload, captures):
    """Real captures: UDP is steered, the rest takes its route."""
    records = [frame for path in captures for frame in pcapfile.read(path)
               if 38 <= len(frame) <= 1514 and frame[12:15] == b"\x08\x00\x45"]
    routes = [oracle.route("0.0.0.0/0", 1, "02:00:00:00:00:01")]
    run = forward(rig, records, offload, rig.routes(routes),
                  rules(rig, "rule 1 class 7 proto udp", "rule 2 class 8 proto tcp"))
    udp = oracle.forward([frame for frame in records if frame[23] == 17], [WAY], run.macs)
    rest = oracle.forward([frame for frame in records if frame[23] != 17], routes, run.macs)
    assert run.stats["totals"]["rx"] == len(records)
    assert run.sent(2) == udp.out[2] and len(udp.out[2]) > 300
    assert run.sent(1) == rest.out[1] and len(rest.out[1]) > 300
    both = {reason: n + rest.drops[reason] for reason, n in udp.drops.items()}
    assert {reason: run.stats["drops"][reason] for reason in both} == both
    if offload == "marks":
        assert run.stats["offloads"][0]["marked"] > 300, run


def test_packets_without_a_class_can_be_steered(rig):
    sent = packets(["10.0.0.1", "192.0.2.1"], 50)
    run = rig.forward([[sent], SILENT, SILENT], rig.routes([oracle.route("0.0.0.0/0", 1, MAC)]),
                      f"--steer=0=2,{MAC}", rules(rig, "rule 1 class 1 dst 10.0.0.0/8"))
    assert len(run.sent(1)) == len(run.sent(2)) == 50, run


BAD = {
    "7": "'7' is not CLASS=PORT,MAC, as in 7=1,02:00:00:00:00:01",
    "7=2": "'7=2' is not CLASS=PORT,MAC",
    "7=2,02:00": "--steer: '02:00' is not a MAC address, MM:MM:MM:MM:MM:MM",
    f"65536=2,{MAC}": "--steer: class: '65536' is not a number from 0 to 65535",
    f"x=2,{MAC}": "--steer: class: 'x' is not a number",
    f"7=32,{MAC}": "--steer: port: '32' is not a number from 0 to 31",
    f"7=9,{MAC}": "--steer: port 9 is not one of -p",
    f"9=1,{MAC}": "--steer: class 9 is one of --drop-class",
    f"8=1,{MAC}": "--steer: class 8 is given twice",
}


@pytest.mark.parametrize("value", BAD)
def test_bad_value_is_refused(rig, value):
    run = rig.forward([SILENT, SILENT], rules(rig, "rule 1 class 7"), "--drop-class=9",
                      f"--steer=8=0,{MAC}", f"--steer={value}")
    assert run.code > 0 and BAD[value] in run.stderr, run


def test_steering_without_a_policy_is_refused(rig):
    run = rig.forward([SILENT, SILENT], STEER)
    assert run.code > 0
    assert "--steer: requires --policy or --acl-list: its rules give classes" in run.stderr, run


@pytest.mark.parametrize("mode", [(), ("--mode=eventdev",)], ids=["poll", "eventdev"])
@pytest.mark.parametrize("rule, app", [("rule 1 class 7 type 0x86dd", ()), ("rule 1 class 7", ()),
                                       ("rule 1 class 8", (f"--steer=8=0,{MAC}",)),
                                       ("rule 1 class 8 dst 192.0.2.1", (f"--steer=0=0,{MAC}",))],
                         ids=["type", "any", "another", "none"])
@pytest.mark.parametrize("offload", OFFLOADS)
def test_ip6_packets_of_a_steered_class_take_their_route(rig, offload, rule, app, mode):
    """They were dropped as not_ip4."""
    records = [frame.data for frame in frames6.generate(5, plain=1000)]
    routes = [r._replace(port=1) for r in frames6.ROUTES]
    eal = ("--vdev=event_sw0",) if mode else ()
    run = rig.forward([[records], SILENT, SILENT], *app, STEER, *OFFLOADS[offload], *mode,
                      rig.routes(routes), rules(rig, rule), eal=eal)
    expected = oracle.forward(records, routes, run.macs)
    assert run.assert_agrees(expected) == len(records) > 5000
    assert len(expected.out[1]) > 1000 and run.sent(0) == run.sent(2) == []
