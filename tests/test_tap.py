# SPDX-License-Identifier: BSD-3-Clause
"""Forwarding between two kernel interfaces (net_tap), whose driver tells packet types: the HAL lets
the variant of pkt_cls run that believes them, and the result is what the oracle says."""

import os
import signal
import socket

import pytest

import frames
import oracle
from live import WAIT, until

ETH_P_ALL = 3
IFF_UP = 1
NOISE = bytes.fromhex("86dd")  # the kernel's own IPv6 on an interface that comes up
BATCH = 64  # frames sent at a time: the interface's queue is short, and drops without a word


def tap_refusal():
    """Why there can be no net_tap here, or None."""
    if os.geteuid() != 0:
        return "net_tap makes network interfaces: needs root"
    if not os.path.exists("/dev/net/tun"):
        return "there is no /dev/net/tun"
    return None


def listen(interface):
    """A socket that sees all frames of an interface."""
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 20)
    sock.bind((interface, 0))
    return sock


def await_up(process, names):
    """Waits until interfaces are there, and up."""
    def is_up(name):
        try:
            with open(f"/sys/class/net/{name}/flags", encoding="ascii") as file:
                return int(file.read(), 16) & IFF_UP
        except OSError:  # it is not there, or not all of it
            return False

    until(lambda: all(map(is_up, names)), "interfaces", process)


def received(sock, count, grace=0.1, noise=NOISE):
    """What the interface has received, which is what the port has sent: so many frames, and those
    that come within some seconds after them. Noise is of an ether type that does not count."""
    got = []
    try:
        while True:
            sock.settimeout(WAIT if len(got) < count else grace)
            data, address = sock.recvfrom(2048)
            if address[2] != socket.PACKET_OUTGOING and data[12:14] != noise:
                got.append(data)
    except TimeoutError:
        return got


def forwarded(records, routes):
    """How many of some frames leave through a port, whatever the ports' addresses are."""
    verdicts = oracle.forward(records, routes, {0: bytes(6), 1: bytes(6)}).verdicts
    return sum(isinstance(verdict, oracle.Forwarded) for verdict in verdicts)


@pytest.mark.skipif(tap_refusal() is not None, reason=str(tap_refusal()))
@pytest.mark.parametrize("pkt_cls", ["ptype", "scalar"])
def test_kernel_interfaces_are_forwarded_between(rig, pkt_cls):
    # The kernel sends no frame without a payload; its IPv6 is told from ours by leaving ours out.
    records = [f.data for f in frames.generate(7)
               if 15 <= len(f.data) <= 1514 and f.data[12:14] != NOISE][:4000]
    routes = [r._replace(port=1) for r in frames.ROUTES]
    names = [f"hy{os.getpid()}-{n}" for n in (0, 1)]
    taps = [word for n in (0, 1) for word in ("--vdev", f"net_tap{n},iface={names[n]}")]
    force = [f"--node=pkt_cls={pkt_cls}"]  # ptype is refused where packet types tell too little
    process = rig.start(["-p", "0x3", "-P", "--config=(0,0,1),(1,0,1)", rig.routes(routes), *force,
                         f"--json={rig.folder}/stats.json"], taps)
    await_up(process, names)
    with listen(names[0]) as into, listen(names[1]) as out:
        got = []
        for i in range(0, len(records), BATCH):
            batch = records[i : i + BATCH]
            for record in batch:
                into.send(record)
            got += received(out, forwarded(batch, routes))
    process.send_signal(signal.SIGTERM)
    run = rig.finish(process)

    expected = oracle.forward(records, routes, run.macs)
    assert len(got) >= 500
    assert got == expected.out[1], f"{len(got)} frames, not {len(expected.out[1])}\n{run}"
    assert run.node("pkt_cls")["variant"] == pkt_cls, run
    assert "Rx trigger signal" not in run.stderr, run  # the driver needs one that is not ignored
    quiet = [reason for reason in oracle.REASONS  # of those, the kernel's noise may add some
             if reason not in ("not_ip4", "l2_not_unicast")]
    assert {r: run.stats["drops"][r] for r in quiet} == {r: expected.drops[r] for r in quiet}
    assert expected.drops["vlan_unknown"] > 0 and expected.drops["bad_checksum"] > 0
