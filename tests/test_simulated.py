# SPDX-License-Identifier: BSD-3-Clause
"""l3fwd-graph on simulated NICs: it takes them for the vendor's, and what it sends, drops and
classifies there over the real captures is what the oracle says."""

import functools
import re
import subprocess

import pytest

import frames
import l3fwd
import oracle
import pcapfile
import test_forward
from l3fwd import SILENT
from test_offload import assert_counted, offload_of, rules_for
from test_policy import rules

pytestmark = pytest.mark.simulated

# Those that simnic.h lists under a vendor's name: {vdev: driver}.
DRIVERS = dict(re.findall(r"(?m)^ \*\t(sim_(?!event|nic)\w+)\.{3}\s+(\w+) +\w+$",
                          (l3fwd.ROOT / "app" / "sim" / "simnic.h").read_text()))
assert len(DRIVERS) >= 4
PORTS = test_forward.PORTS
OFFLOAD = "--offload=rte_flow,settle_us=2000,sample_every=16"


@pytest.fixture(params=DRIVERS)
def nic(request, rig):
    """The ports of the rig are simulated NICs; gives the name of their driver."""
    require(rig, request.param)
    return DRIVERS[request.param]


def require(rig, *devices):
    """Has the rig simulate NICs, where those could be built."""
    if not l3fwd.SIMNIC.exists():
        headers = subprocess.run([l3fwd.ROOT / "tools" / "dpdk-headers", "--cached"],
                                 capture_output=True, text=True, check=False)
        pytest.skip(headers.stderr.strip() or f"{l3fwd.SIMNIC} was not built")
    rig.simulate(*devices)


@functools.cache
def captured(paths):
    """The frames of all captures, and routes for them."""
    records = [frame for path in paths for frame in pcapfile.read(path)]
    assert len(records) > 4000 and max(map(len, records)) > 9600
    return records, test_forward.routes_for(records)


def check(run, records, routes, *drivers, max_pkt_len=1518):
    """Asserts that a run over some frames did with each what the oracle says, on such NICs."""
    assert {port["driver"] for port in run.stats["ports"]} == set(drivers), run
    expected = oracle.forward(records, routes, run.macs, max_pkt_len)
    compared = run.assert_agrees(expected)
    assert compared == len(records), f"{compared} of {len(records)} frames compared"
    return expected


def test_captures_are_forwarded_as_the_oracle_says(rig, nic, captures):
    records, routes = captured(tuple(captures))
    run = rig.forward([[records], SILENT, SILENT], rig.routes(routes))
    expected = check(run, records, routes, nic)
    assert sum(map(len, expected.out.values())) > 1000, run


def test_frames_of_several_segments_are_forwarded_as_the_oracle_says(rig, nic):
    records = [frame.data for frame in test_forward.generated(9600)]
    assert sum(len(frame) > 4096 for frame in records) > 100
    run = rig.forward([[records], SILENT, SILENT], rig.routes(frames.ROUTES), "--max-pkt-len=9600")
    check(run, records, frames.ROUTES, nic, max_pkt_len=9600)


def test_captures_are_classified_by_marks_as_by_software(rig, nic, captures):
    """Hardware finds the class of some packets, and that changes no class and no packet's way."""
    records, routes = captured(tuple(captures))
    words = rig.routes(routes), rules(rig, *rules_for(records, 200))
    ports = [[records], SILENT, SILENT]
    classes = rig.forward(ports, *words).stats["classes"]
    assert sum(classes.values()) > 3000 and len(classes) > 100
    run = rig.forward(ports, *words, OFFLOAD)
    check(run, records, routes, nic)
    assert run.stats["classes"] == classes, run
    assert_counted(run, len(records))
    stood = offload_of(run)
    assert stood["hw_rules"] > 100 and stood["marked"] > 500, run


@pytest.mark.parametrize("first", DRIVERS)
def test_ports_of_three_vendors_share_a_graph(rig, captures, first):
    """What is best for one of them is not forced on the others."""
    devices = [first, *[device for device in DRIVERS if device != first][:PORTS - 1]]
    require(rig, *devices)
    records, routes = captured(tuple(captures))
    run = rig.forward([[records], SILENT, SILENT], rig.routes(routes),
                      rules(rig, *rules_for(records, 200)), OFFLOAD)
    check(run, records, routes, *[DRIVERS[device] for device in devices])
    assert [port["driver"] for port in run.stats["ports"]] == [DRIVERS[d] for d in devices]
    assert_counted(run, len(records))
    assert [offload_of(run, port)["state"] for port in range(PORTS)] == ["up"] * PORTS, run


def test_each_receive_queue_has_a_capture_of_its_own(rig):
    """Two queues on two workers: what arrives by each leaves through the worker's own queue."""
    require(rig, "sim_cn10k")
    queues = [[frames.traffic("198.18.1.9", 200)[i] + bytes([q]) for i in range(200)]
              for q in range(2)]
    run = rig.forward([queues, SILENT], config=[(0, 0, 1), (0, 1, 2), (1, 0, 1)], tx_queues=2,
                      workers=2)
    routes = oracle.default_routes(range(2))
    for q, records in enumerate(queues):
        expected = oracle.forward(records, routes, run.macs)
        assert l3fwd.assert_same_frames(expected.out[1], run.sent(1, q), f"queue {q}") == 200


def test_truncated_capture_ends_at_its_last_whole_frame(rig):
    require(rig, "sim_nic")
    records = frames.traffic("198.18.1.9", 50)
    path = pcapfile.write(rig.folder / "cut.pcap", records)
    path.write_bytes(path.read_bytes()[:-1])
    run = rig.forward([[path], SILENT])
    assert run.stats["totals"]["rx"] == 49 and len(run.sent(1)) == 49, run


REFUSED = {
    "rx_pcap=/nowhere": "simnic: rx_pcap=/nowhere: /nowhere: No such file or directory",
    "tx_pcap=/nowhere/out": "simnic: tx_pcap=/nowhere/out: /nowhere/out: No such file or directory",
    "rx_pcap={folder}/text": "simnic: rx_pcap={folder}/text: unknown file format",
    "rx_pcap={folder}/raw": "simnic: rx_pcap={folder}/raw: link type 12 is not Ethernet",
    "rx_pcap={folder}/long": "simnic: rx_pcap={folder}/long: a frame of 65536 bytes, at most 65535",
    ",".join(["tx_pcap=/dev/null"] * 17): "simnic: tx_pcap is given more often than the 16 queues",
}


@pytest.mark.parametrize("args, message", REFUSED.items(), ids=range(len(REFUSED)))
def test_captures_that_are_none_are_refused(rig, args, message):
    require(rig, "sim_nic")
    rig.write("text", "no capture, but longer than the header of one would be")
    raw = bytearray(pcapfile.write(rig.folder / "raw", []).read_bytes())
    raw[20] = 12
    (rig.folder / "raw").write_bytes(raw)
    pcapfile.write(rig.folder / "long", [bytes(65536)])
    run = rig.run(l3fwd.options(1, [(0, 0, 1)]),
                  ["--vdev", f"sim_nic0,{args.format(folder=rig.folder)}"])
    assert run.code > 0 and message.format(folder=rig.folder) in run.stderr, run
