# SPDX-License-Identifier: BSD-3-Clause
"""Links that go down and up, by interrupt and by polling, and what drivers could not send: told when
it happens, in the final lines, in the JSON and by telemetry."""

import os
import re
import signal
import socket
import subprocess

import pytest

import frames
import l3fwd
import live
from test_tap import await_up, tap_refusal

TAP = pytest.mark.skipif(tap_refusal() is not None, reason=str(tap_refusal()))
ROUTES = "0.0.0.0/0 port 1 mac 02:00:00:00:00:01\n"


def ip(*words):
    """Changes a network interface."""
    subprocess.run(["ip", *words], check=True, capture_output=True)


def link(program, port):
    """What telemetry says of a port's link."""
    return program.ask(f"/l3fwd/port,{port}")


class Taps(live.Live):
    """l3fwd-graph between two interfaces of the kernel."""

    def __init__(self, rig):
        self.names = [f"hl{os.getpid()}-{n}" for n in (0, 1)]
        taps = [word for n in (0, 1) for word in ("--vdev", f"net_tap{n},iface={self.names[n]}")]
        # The frames are to no port's address, and since v26.03 net_tap looks at that.
        super().__init__(rig, ROUTES, ["-P", *l3fwd.options(2, [(0, 0, 1), (1, 0, 1)])], taps,
                         telemetry=True)
        await_up(self.process, self.names)
        self.into = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        self.into.bind((self.names[0], 0))

    def send(self, n=1):
        """Has frames arrive at port 0."""
        for record in frames.traffic("198.18.0.1", n):
            self.into.send(record)

    def stop(self):
        self.into.close()
        return super().stop()


@TAP
def test_a_link_that_interrupts_is_told_of_when_it_goes_and_comes(rig):
    program = Taps(rig)
    program.send()
    program.wait(lambda: link(program, 1)["link"] == "up", "the link")
    for changes in (1, 3):
        ip("link", "set", program.names[1], "down")
        program.wait(lambda: program.stdout().count("port 1: link down\n") == (changes + 1) / 2,
                     "the link to go")
        program.wait(lambda: link(program, 1)["link_changes"] == changes, "telemetry")
        assert link(program, 1)["link"] == "down" and link(program, 0)["link"] == "up"
        ip("link", "set", program.names[1], "up")
        program.wait(lambda: len(re.findall(r"(?m)^port 1: link up, \d+ Mbit/s$",
                                            program.stdout())) == (changes + 1) / 2,
                     "the link to come")
    ip("link", "set", program.names[1], "down")
    program.wait(lambda: program.stdout().count("port 1: link down\n") == 3, "the link to go")
    run = program.stop()
    ports = {port["port"]: port for port in run.stats["ports"]}
    assert (ports[0]["link"], ports[0]["link_changes"]) == ("up", 0), run
    assert (ports[1]["link"], ports[1]["link_changes"]) == ("down", 5), run
    assert "port 0: link" not in run.stdout, run
    assert re.search(r"(?m)^port 1  net_tap .*  link down$", run.stdout), run


@TAP
def test_packets_that_a_driver_cannot_send_are_shown(rig):
    """The kernel refuses frames of an interface that is down."""
    program = Taps(rig)
    program.send()
    program.wait(lambda: "link" in link(program, 1), "telemetry")
    ip("link", "set", program.names[1], "down")
    program.wait(lambda: "port 1: link down\n" in program.stdout(), "the link to go")
    program.send(20)
    program.wait(lambda: link(program, 1)["tx_errors"] >= 20, "errors")
    assert link(program, 0)["tx_errors"] == 0
    run = program.stop()
    (port,) = [port for port in run.stats["ports"] if port["port"] == 1]
    assert port["tx_errors"] >= 20, run
    assert re.search(rf"(?m)^port 1  net_tap .*  tx errors {port['tx_errors']}\b", run.stdout), run
    assert "tx errors: the driver's count of packets that it did not send" in run.stdout, run


@pytest.mark.skipif(os.geteuid() != 0, reason="only root makes a network namespace")
def test_packets_that_a_driver_took_and_lost_are_shown(rig):
    """net_af_packet takes them, and the kernel refuses what it is handed: they count as sent."""
    unshare = ["unshare", "-n", "sh", "-c", "ip link add hyv type veth peer name hyw && "
               "exec \"$@\"", "sh"]  # and leave it down
    records = frames.traffic("198.18.0.1", 500)
    eal = [*rig.vdevs([[records]], more=",infinite_rx=1", tx_queues=0),
           "--vdev=net_af_packet1,iface=hyv"]
    program = live.Live(rig, ROUTES, l3fwd.options(2, [(0, 0, 1), (1, 0, 1)]), eal,
                        telemetry=True, under=unshare)
    program.wait(lambda: link(program, 1)["tx_errors"] > 0, "errors")
    run = program.stop()
    (port,) = [port for port in run.stats["ports"] if port["port"] == 1]
    assert port["tx_errors"] > 0, run
    assert re.search(r"(?m)^port 1  net_af_packet .*  tx errors \d+", run.stdout), run


def memif(rig, role, file):
    """A port of net_memif, which has no link interrupt."""
    return ["--vdev", f"net_memif0,role={role},socket={rig.folder}/memif.sock,"
            f"socket-abstract=no,id=0,secret=none", "--file-prefix", file]


def test_a_link_without_interrupts_is_polled(rig, tmp_path):
    """That of net_memif is up while another program is connected. No worker polls its queue: when
    the other program ends, the driver unmaps the ring that a worker may be reading."""
    app = l3fwd.options(1, [(0, 0, 1)])
    try:
        program = live.Live(rig, "0.0.0.0/0 port 1 mac 02:00:00:00:00:01\n",
                            l3fwd.options(2, [(1, 0, 1)]),
                            [*memif(rig, "server", "a"), "--vdev", "net_null0,no-rx=1"])
    except AssertionError as error:
        if "cannot attach the device (net_memif0)" in str(error):
            pytest.skip("this DPDK has no net_memif")
        raise
    program.wait(lambda: "port 0: link down\n" in program.stdout(), "the first look")
    other = l3fwd.Rig(tmp_path)
    client = other.start([*app, "--duration=60"], memif(rig, "client", "b"),
                         stdout=subprocess.DEVNULL)
    try:
        program.wait(lambda: "port 0: link up" in program.stdout(), "the link to come")
    finally:
        client.send_signal(signal.SIGTERM)
        client.wait(live.WAIT)
    program.wait(lambda: program.stdout().count("port 0: link down\n") == 2, "the link to go")
    program.process.send_signal(signal.SIGTERM)
    run = rig.finish(program.process)
    (port,) = [port for port in run.stats["ports"] if port["port"] == 0]
    assert (port["link"], port["link_changes"]) == ("down", 2), run
