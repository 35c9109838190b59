# SPDX-License-Identifier: BSD-3-Clause
"""More rules that packets meet than vswitch-graph has lists for: all forward, and as many as there are lists count."""

import collections
import os
import re
import struct
import threading
import time

import pytest

import l3fwd
import pcapfile

pytestmark = pytest.mark.slow

LISTS = 61_440  # see the book's Limits
RULES = LISTS + 1000
AT_ONCE = 256  # frames; fewer than may wait for the rules
PASSES = 2


@pytest.fixture(name="rig")
def vswitch_rig(rig):
    """A rig that runs vswitch-graph."""
    rig.program = l3fwd.BUILD / "examples" / "vswitch-graph" / "vswitch-graph"
    return rig


def address(number):
    return f"10.{number >> 16}.{number >> 8 & 255}.{number & 255}"


def frame(number):
    """UDP to the address of that number, in 60 bytes."""
    header = struct.pack("!BBHHHBBHLL", 0x45, 0, 46, 0, 0, 64, 17, 0, 0xC0000201, 0x0A000000 + number)
    return bytes.fromhex("0200000000010200000000020800") + header + struct.pack("!HHHH", 1, 2, 26, 0) + bytes(18)


def feed(fifo, path):
    """Sends the frames of a capture, a few at a time, so that the rules can keep up."""
    data = path.read_bytes()
    head, records = data[:24], data[24:]
    size = AT_ONCE * (len(records) // RULES)
    with open(fifo, "wb", buffering=0) as to:
        to.write(head)
        for _ in range(PASSES):
            for at in range(0, len(records), size):
                to.write(records[at:at + size])
                time.sleep(0.004)


def test_rules_without_a_list_forward_and_do_not_count(rig):
    rules = rig.write("flows", "".join(f"priority=9,ip,nw_dst={address(n)} actions=output:2\n" for n in range(RULES)))
    path = pcapfile.write(rig.folder / "all.pcap", map(frame, range(RULES)))
    fifo = rig.folder / "fifo"
    os.mkfifo(fifo)
    feeder = threading.Thread(target=feed, args=(fifo, path), daemon=True)
    feeder.start()
    run = rig.run(["-p", "3", "--config=(0,0,1),(1,0,1)", f"--flows={rules}", f"--dump-flows={rig.folder}/counts",
                   "--max-flows=100000", *rig.until_idle()], [*rig.vdevs([[fifo], l3fwd.SILENT]), "-m", "512"])
    assert run.code == 0, run
    feeder.join()
    flows, totals = run.stats["flows"], run.stats["totals"]
    assert totals["rx"] == RULES * PASSES == totals["tx"] + totals["dropped"], run
    assert totals["dropped"] == run.stats["drops"]["upcall_full"] < RULES // 10, run
    assert (flows["megaflows"], flows["uncounted"], flows["without_list"]) == (RULES, RULES - LISTS, 0), run
    sent = collections.Counter(data[30:34] for data in pcapfile.read(rig.folder / "out1.0.pcap"))
    assert len(sent) == RULES and sum(sent.values()) == totals["tx"], run
    counted = {line.group(2): int(line.group(1)) for line in re.finditer(
        r"n_packets=(\d+),.*nw_dst=([\d.]+) ", (rig.folder / "counts").read_text())}
    assert len(counted) == RULES
    right = sum(n == sent[bytes(map(int, dst.split(".")))] for dst, n in counted.items())
    assert right == LISTS == sum(n > 0 for n in counted.values()), run
