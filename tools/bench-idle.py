#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures what --idle costs and saves, for each mode: the latency of a packet through l3fwd-graph
between two kernel interfaces (net_tap) after a pause, and the worker's CPU time.

The kernel timestamps a packet on both interfaces, so that the speed of this program does not count.
Modes take turns, round after round; only ratios within one run are meaningful. Needs root and two CPUs.
A packet that does not arrive is an error."""

import argparse
import json
import os
import random
import select
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

MODES = ["poll", "pause", "interrupt"]
ETH_P_ALL = 3
SO_TIMESTAMPNS = 35
TAG = b"halyard-idle"
TIMEOUT = 10  # seconds


def checksum(header):
    """The IPv4 header checksum of a header whose own is 0."""
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF


def frame(number):
    """A UDP packet to 198.18.1.1, which is port 1's, with its number in the payload."""
    payload = TAG + struct.pack("!I", number)
    udp = struct.pack("!4H", 9, 9, 8 + len(payload), 0)
    parts = [0x45, 0, 20 + len(udp) + len(payload), number & 0xFFFF, 0, 64, 17, 0,
             socket.inet_aton("10.0.0.1"), socket.inet_aton("198.18.1.1")]
    parts[7] = checksum(struct.pack("!BBHHHBBH4s4s", *parts))
    ip = struct.pack("!BBHHHBBH4s4s", *parts)
    return bytes.fromhex("020000000001020000000002") + b"\x08\x00" + ip + udp + payload


def listen(interface):
    """A socket that sees all frames of an interface, with the kernel's time stamps."""
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    sock.bind((interface, 0))
    return sock


def stamp(sock, number):
    """Waits for the packet of a number; returns the kernel's time of it, in ns."""
    end = time.monotonic() + TIMEOUT
    while select.select([sock], [], [], max(0, end - time.monotonic()))[0]:
        data, control, _, _ = sock.recvmsg(2048, 256)
        at = data.find(TAG)
        if at < 0 or struct.unpack_from("!I", data, at + len(TAG))[0] != number:
            continue
        (when,) = [c for level, kind, c in control if (level, kind) == (socket.SOL_SOCKET,
                                                                        SO_TIMESTAMPNS)]
        seconds, ns = struct.unpack("qq", when)
        return seconds * 1_000_000_000 + ns
    sys.exit(f"bench-idle: packet {number} did not arrive within {TIMEOUT} s")


def cpu_time(process):
    """Seconds of CPU time that the worker thread of l3fwd-graph has had."""
    times = []
    for task in os.scandir(f"/proc/{process.pid}/task"):
        with open(f"{task.path}/stat", encoding="ascii") as file:
            name, _, rest = file.read().partition("(")[2].rpartition(") ")
        if "worker" in name:
            fields = rest.split()
            times.append(int(fields[11]) + int(fields[12]))
    (ticks,) = times
    return ticks / os.sysconf("SC_CLK_TCK")


class Forwarder:
    """l3fwd-graph between two interfaces, in one mode."""

    def __init__(self, build, mode, folder):
        cpus = sorted(os.sched_getaffinity(0))
        self.names = [f"hyb{n}-{os.getpid()}"[:15] for n in (0, 1)]
        taps = [w for n in (0, 1) for w in ("--vdev", f"net_tap{n},iface={self.names[n]}")]
        self.log = open(f"{folder}/log", "w+", encoding="utf-8")
        self.process = subprocess.Popen(
            [f"{build}/examples/l3fwd-graph/l3fwd-graph", "--no-huge", "-m", "256", "--no-pci",
             "--no-shconf", "--no-telemetry", "--log-level=error",
             "--lcores", f"0@{cpus[0]},1@{cpus[-1]}", *taps, "--",
             "-p", "0x3", "-P", "--config=(0,0,1),(1,0,1)", f"--idle={mode}", f"--json={folder}/json"],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            env=dict(os.environ, RUNTIME_DIRECTORY=folder))
        self.json = f"{folder}/json"

    def ready(self):
        """Waits until the interfaces are up and the kernel has said what it says then."""
        end = time.monotonic() + TIMEOUT
        while not all(os.path.exists(f"/sys/class/net/{name}") for name in self.names):
            if self.process.poll() is not None or time.monotonic() > end:
                self.log.seek(0)
                sys.exit(f"bench-idle: l3fwd-graph does not run:\n{self.log.read()}")
            time.sleep(0.05)
        time.sleep(1)

    def stop(self):
        """Stops it; returns its statistics."""
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(TIMEOUT)
        self.log.seek(0)
        if code != 0:
            sys.exit(f"bench-idle: l3fwd-graph ended with code {code}:\n{self.log.read()}")
        self.log.close()
        with open(self.json, encoding="utf-8") as file:
            return json.load(file)


def one_round(build, mode, packets, gap_ms):
    """Latencies in us, CPU time per second, and the worker's statistics."""
    latencies = []
    with tempfile.TemporaryDirectory() as folder:
        forwarder = Forwarder(build, mode, folder)
        try:
            forwarder.ready()
            with listen(forwarder.names[0]) as sender, listen(forwarder.names[0]) as out, \
                    listen(forwarder.names[1]) as back:
                began, cpu = time.monotonic(), cpu_time(forwarder.process)
                for number in range(packets):
                    time.sleep(random.uniform(0.5, 1.5) * gap_ms / 1000)
                    sender.send(frame(number))
                    latencies.append((stamp(back, number) - stamp(out, number)) / 1000)
                cpu = (cpu_time(forwarder.process) - cpu) / (time.monotonic() - began)
            (worker,) = forwarder.stop()["workers"]
        finally:
            if forwarder.process.poll() is None:
                forwarder.process.kill()
                forwarder.process.wait()
    return latencies, cpu, worker


def main():
    """Runs the rounds, prints a line a mode."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build", help="build folder")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--packets", type=int, default=200, help="of a round and mode")
    parser.add_argument("--gap", type=float, default=5, help="ms between packets, on average")
    parser.add_argument("--quick", action="store_true", help="two rounds")
    parser.add_argument("--json", help="file for the figures")
    args = parser.parse_args()
    if args.rounds < 1 or args.packets < 1 or args.gap <= 0:
        parser.error("--rounds, --packets and --gap are numbers above 0")
    if not os.access(f"{args.build}/examples/l3fwd-graph/l3fwd-graph", os.X_OK):
        parser.error(f"'{args.build}' is no build folder: it has no l3fwd-graph")
    if os.geteuid() != 0 or not os.path.exists("/dev/net/tun"):
        print("idle: skipped: it needs root and /dev/net/tun")
        return
    rounds = 2 if args.quick else args.rounds
    latencies = {mode: [] for mode in MODES}
    cpu = {mode: [] for mode in MODES}
    workers = {mode: [] for mode in MODES}
    for _ in range(rounds):
        for mode in MODES:
            some, used, worker = one_round(args.build, mode, args.packets, args.gap)
            latencies[mode] += some
            cpu[mode].append(used)
            workers[mode].append(worker)
    print(f"us through net_tap, l3fwd-graph and net_tap, {rounds * args.packets} packets a mode, "
          f"{args.gap:g} ms apart")
    rows = []
    for mode in MODES:
        ordered = sorted(latencies[mode])
        row = {"mode": mode, "packets": len(ordered), "median_us": statistics.median(ordered),
               "p99_us": ordered[len(ordered) * 99 // 100], "max_us": ordered[-1],
               "cpu": statistics.median(cpu[mode]),
               "wakeups": sum(worker["wakeups"] for worker in workers[mode])}
        rows.append(row)
        print("{mode:<10} median {median_us:7.1f}  p99 {p99_us:7.1f}  max {max_us:8.1f}  "
              "CPU {cpu:6.1%}  wake-ups {wakeups}".format(**row))
    if args.json:
        with open(args.json, "w", encoding="utf-8") as file:
            json.dump({"bench": "idle", "rows": rows}, file, indent=1)


if __name__ == "__main__":
    main()
