#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures vswitch-graph against Open vSwitch with DPDK, one after the other in turns, with the same rules
and the same load.

Both load halyard-replay.so, whose ports give packets of generated flows as fast as they are taken, and
count what is sent: rates are read there. After packets that make megaflows, the next ones are
compared by port with what the rules say; of the others, none may be lost."""

import argparse
import json
import os
import re
import signal
import statistics
import sys
import tempfile
import time
from pathlib import Path

from ovs_switches import (MASK, MODES, OURS, RULES, Failure, OpenVSwitch, Ours, Ports, check_shares,
                          expected, run)

VSWITCHD = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"
FLOWS = [1, 100, 1000, 10_000, 100_000, 1_000_000]
CHECKED = 50_000  # packets
COLD = 3008  # packets, given slowly, until none of as many is lost
PATIENCE = 3  # seconds without a packet
HUGE = Path("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages")


def make_megaflows(switch, ports):
    """Gives packets slowly, until all are sent; returns how many were lost before: a switch that makes
    megaflows on another CPU may lose some."""
    lost = None
    for _ in range(20):
        before = lost
        for _ in range(COLD // 32):
            ports.give(32, switch.alive)
            time.sleep(0.001)
        lost = ports.lost(switch.alive, 0.5)
        if lost == (before or 0) and sum(ports.sent()) > 0:
            return lost
    raise Failure(f"of {ports.given()} packets that came slowly, {lost} were lost, some of the last {COLD} too")


def one(setup, side, flows, seconds):
    """One run: a row of figures, or Failure."""
    with tempfile.TemporaryDirectory(prefix="bench-ovs-") as folder:
        ports = Ports(folder, flows)
        switch = Ours(setup, folder) if side == OURS else OpenVSwitch(setup, folder, side)
        try:
            switch.start(ports)
            cold = make_megaflows(switch, ports)
            want, before = expected(flows, CHECKED, ports.given()), ports.sent()
            ports.give(CHECKED, switch.alive)
            lost = ports.lost(switch.alive, PATIENCE) - cold
            got = [now - then for now, then in zip(ports.sent(), before)]
            if lost != 0 or got != want:
                raise Failure(f"of {CHECKED} packets, ports sent {got}; by the rules it is {want}")
            ports.limit(MASK)
            end = time.monotonic() + 1 + 3 * flows / 1e6
            switch.wait(lambda: time.monotonic() > end)
            switch.measured()
            began, sent, cpu = time.monotonic(), sum(ports.sent()), switch.cpu_time()
            switch.wait(lambda: time.monotonic() > began + seconds)
            sent, took = sum(ports.sent()) - sent, time.monotonic() - began
            cpu = max(had - cpu.get(task, 0) for task, had in switch.cpu_time().items())
            details = switch.details()
            ports.limit(0)
            lost = ports.lost(switch.alive, PATIENCE) - cold
            if lost != 0:
                raise Failure(f"of {ports.given()} packets, {lost} were lost")
            check_shares(ports.sent(), want, side)
            return {"side": side, "flows": flows, "mpps": sent / cpu / 1e6, "seconds": took, "cpu": cpu,
                    "given": ports.given(), "sent": ports.sent(), "lost_cold": cold, **details}
        finally:
            switch.stop()


def table(rows):
    """Lines with medians of all sides, and the ratio of ours to Open vSwitch's best mode by pairs."""
    lines = [f"{'flows':>9} {OURS:>9} " + " ".join(f"{mode:>9}" for mode in MODES)
             + "  best mode  ratio  least to most"]
    for flows in sorted({row["flows"] for row in rows}):
        figures = {side: {row["pair"]: row["mpps"] for row in rows
                          if (row["flows"], row["side"]) == (flows, side)} for side in (OURS, *MODES)}
        medians = {side: statistics.median(of.values()) for side, of in figures.items() if of}
        line = f"{flows:>9} " + " ".join(f"{medians[side]:9.2f}" if side in medians else f"{'-':>9}"
                                         for side in figures)
        modes = [side for side in medians if side != OURS]
        if modes:
            best = max(modes, key=medians.get)
            ratios = [mpps / figures[best][pair] for pair, mpps in figures[OURS].items()
                      if pair in figures[best]]
            line += f"  {best:<9}"
            if ratios:
                line += (f" {statistics.median(ratios):6.2f}  {min(ratios):.2f} to {max(ratios):.2f}, "
                         f"{len(ratios)} pairs")
        lines.append(line.rstrip())
    return lines


class Setup:
    """What runs have in common."""

    def __init__(self, args, folder):
        self.build, self.vswitchd = Path(args.build).resolve(), args.vswitchd
        self.driver = str(self.build / "app/replay/halyard-replay.so")
        self.ours = self.build / "examples/vswitch-graph/vswitch-graph"
        self.rules = f"{folder}/rules"
        Path(self.rules).write_text(RULES, encoding="utf-8")
        self.cpus = sorted(os.sched_getaffinity(0))[:2]
        free = int(HUGE.read_text()) if HUGE.exists() else 0
        self.memory = ["-m", "500"] if free >= 256 else ["--no-huge", "-m", "1024"]

    def lacking(self):
        """Why nothing can be measured, or None."""
        if os.geteuid() != 0:
            return "it needs root"
        if len(self.cpus) < 2:
            return "it takes two CPUs, and there is one"
        if not os.access(self.vswitchd, os.X_OK):
            return f"there is no {self.vswitchd}; Debian's package openvswitch-switch-dpdk has it"
        if not os.path.exists(self.driver):
            return f"there is no {self.driver}: see what meson said of app/replay"
        return None

    def describe(self):
        """The machine and versions."""
        cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
        version = run([self.vswitchd, "--version"]).replace("\n", ", ").strip(", ")
        return (f"{cpu[1] if cpu else os.uname().machine}, kernel {os.uname().release}; {version}; "
                f"EAL {' '.join(self.memory)}; control on CPU {self.cpus[0]}, packets on {self.cpus[1]}")


def measure(setup, args, sides, rows, failures):
    """All runs, in turns; rows and failures grow, so that an interrupted run loses nothing."""
    for flows in args.flows:
        for pair in range(args.pairs):
            turn = pair % len(sides)
            for side in sides[turn:] + sides[:turn]:
                if sum(f["side"] == side for f in failures) >= 3:
                    continue
                try:
                    rows.append(dict(one(setup, side, flows, args.seconds), pair=pair))
                except Failure as why:
                    failures.append({"side": side, "flows": flows, "pair": pair, "why": str(why)})
                    print(f"{side}, {flows} flows, pair {pair}: {why}", file=sys.stderr, flush=True)
                if args.json:
                    args.json.with_suffix(".new").write_text(
                        json.dumps({"rows": rows, "failures": failures}, indent=1), encoding="utf-8")
                    args.json.with_suffix(".new").rename(args.json)


def parse(argv):
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("build", help="build folder")
    parser.add_argument("--flows", type=lambda text: [int(n) for n in text.split(",")], default=FLOWS,
                        help="numbers of flows, with commas between")
    parser.add_argument("--pairs", type=int, default=5, help="runs of each side [5]")
    parser.add_argument("--seconds", type=float, default=3, help="that a run is measured [3]")
    parser.add_argument("--json", type=Path, help="file for all figures, written after each run")
    parser.add_argument("--vswitchd", default=VSWITCHD, help=f"[{VSWITCHD}]")
    args = parser.parse_args(argv)
    if args.pairs < 1 or args.seconds <= 0 or min(args.flows) < 1 or max(args.flows) >= 1 << 32:
        parser.error("--pairs, --seconds and --flows are numbers above 0, flows below 2^32")
    return args


def main(argv=None):
    """Returns the exit code: 1 if a run failed."""
    args, rows, failures = parse(argv), [], []
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    with tempfile.TemporaryDirectory(prefix="bench-ovs-") as folder:
        setup = Setup(args, folder)
        why = setup.lacking()
        if why is not None:
            print(f"ovs: skipped: {why}")
            return 0
        sides = [OURS, *MODES]
        if not os.access(setup.ours, os.X_OK):
            print(f"{OURS}: skipped: there is no {setup.ours}")
            sides.remove(OURS)
        try:
            print(setup.describe(), flush=True)
            measure(setup, args, sides, rows, failures)
        except KeyboardInterrupt:
            print("interrupted: what was measured follows")
        except Failure as wrong:
            failures.append({"why": str(wrong)})
    print(f"Million packets per second of CPU time of the thread that forwards: medians of up to {args.pairs} "
          f"runs of {args.seconds:g} s; ratios of runs of the same pair")
    if rows:
        for side in sorted({row["side"] for row in rows if row["lost_cold"]}):
            print(f"{side} lost {max(row['lost_cold'] for row in rows if row['side'] == side)} packets of a run "
                  "at most, before there were megaflows for them")
        print(f"That thread had its CPU for {min(row['cpu'] / row['seconds'] for row in rows):.0%} of a run "
              "at least")
    print("\n".join(table(rows)))
    if failures:
        print(f"{len(failures)} runs gave no figure, such as: {failures[0]['why']}")
    return 1 if failures or not rows else 0


if __name__ == "__main__":
    sys.exit(main())
