#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the book's tables of platforms: node families by platform, DPDK functions by node file.

Compares the results with the tables in doc/platforms/ and fails if they differ; with --write, writes
them. Entries that this machine cannot determine (a variant that its CPU cannot run, a platform without
a record) are kept.
"""

import argparse
import csv
import difflib
import fnmatch
import functools
import io
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent

# The simulated devices (app/sim/simnic.h) of a vendor's pack.
DEVICES = {"octeontx2": ("sim_cn10k",), "mlx5": ("sim_mlx5",),
           "intel": ("sim_ice", "sim_i40e", "sim_iavf")}
NATIVE, CROSS = "x86-64", "aarch64"
RAN, CROSS_RAN, SIMULATED, COMPILED = "native run", "cross-run", "simulated", "compiled only"
GENERIC = "generic"  # a state too: a vendor's simulated device was served by the generic pack
FLOW_RULES = "*flow rules*"  # no node: how a pack's NICs want rules
ENOUGH = 0.8  # of a vendor's file executed, for what it brings to count as simulated

REGISTERED = re.compile(r"^HY_(NODE_FAMILY|NODE_VARIANT|FLOW_DRIVER)\((\w+),(.*?)\);$", re.M | re.S)


class Brought(NamedTuple):
    """A variant, or what stands in FLOW_RULES for one, and the file that brings it."""

    pack: str
    path: Path
    family: str
    variant: str
    driver: str = ""  # a flow driver's pattern


# ---- The sources

def code(path):
    """A C file without its comments."""
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", path.read_text(), flags=re.S)


def sources(nodes):
    """The files of all packs, by pack and path, but for those that only test nodes."""
    return [(path.relative_to(nodes).parts[0], path) for path in sorted(nodes.rglob("*.c"))
            if not path.name.startswith("suite_")]


def brought(nodes):
    """All that the packs bring."""
    for pack, path in sources(nodes):
        for kind, name, rest in REGISTERED.findall(code(path)):
            if kind == "NODE_FAMILY":
                yield Brought(pack, path, name, re.search(r'\.variant = "(\w+)"', rest)[1])
            elif kind == "NODE_VARIANT":
                yield Brought(pack, path, name, re.match(r"\s*(\w+)", rest)[1])
            else:
                driver = re.search(r'\.driver = "([^"]*)"', rest)[1]
                yield Brought(pack, path, FLOW_RULES, name, driver)


# ---- The build folder

def compiled(build, pack, path):
    """A node file's object; without .o, for the compiler's notes on coverage lie beside it."""
    parts = path.parts[len(path.parts) - path.parts[::-1].index(pack) - 1:]
    return build / "drivers" / "nodes" / f"libhy_nodes_{pack}.a.p" / "_".join(parts)


@functools.cache
def dpdk_functions():
    """All that DPDK's libraries have."""
    folder = subprocess.run(["pkg-config", "--variable=libdir", "libdpdk"], capture_output=True,
                            text=True, check=True).stdout.strip()
    symbols = subprocess.run(["nm", "-D", "--defined-only", *Path(folder).glob("librte_*.so")],
                             capture_output=True, text=True, check=True)
    return set(re.findall(r" T (rte_\w+)", symbols.stdout))


def calls(build, pack, path):
    """The DPDK functions that a file calls, inline ones included. A file that is not built for this
    CPU has those that it names."""
    named = set(re.findall(r"\b(rte_[a-z0-9_]+)\s*\(", code(path)))
    built = Path(f"{compiled(build, pack, path)}.o")
    if not built.exists():
        return named
    symbols = subprocess.run(["nm", "-u", built], capture_output=True, text=True, check=True)
    return named | set(re.findall(r" U (rte_\w+)", symbols.stdout)) & dpdk_functions()


# ---- The runs

class Simulated:
    """What runs on the simulated devices of a vendor left behind: a folder a device, with the
    statistics of each run and what the compiler's counters say of all."""

    def __init__(self, build, evidence, vendor, nodes):
        self.folders = [evidence / device for device in DEVICES[vendor]]
        self.runs = [json.loads(path.read_text()) for folder in self.folders
                     for path in sorted(folder.glob("*.json"))]
        self.shares = {path: self.share(path, compiled(build, pack, path))
                       for pack, path in sources(nodes) if pack == vendor}

    def share(self, path, built):
        """How much of a file's lines was executed."""
        counts = {}
        notes = Path(f"{built}.gcno")
        for folder in self.folders:
            data = folder / notes.relative_to("/").with_suffix(".gcda")
            if data.exists():
                shutil.copy(notes, data.with_suffix(".gcno"))
                for number, count in lines(data, path):
                    counts[number] = counts.get(number, 0) + count
        return sum(count > 0 for count in counts.values()) / len(counts) if counts else 0

    def used(self, what):
        """Whether packets went through a node of a variant, or were marked by a port's rules."""
        if what.family != FLOW_RULES:
            return any(node["objs"] > 0 and node["target"] != "process" for run in self.runs
                       for node in run["nodes"]
                       if (node["family"], node["variant"]) == (what.family, what.variant))
        return any(offload["marked"] > 0 and fnmatch.fnmatchcase(port["driver"], what.driver)
                   for run in self.runs for offload in run["offloads"]
                   for port in run["ports"] if port["port"] == offload["port"])


def lines(data, path):
    """The lines of a source file with how often each was executed, from the compiler's counters."""
    gcov = subprocess.run(["gcov", "--json-format", "--stdout", data], capture_output=True,
                          text=True, check=False)
    if gcov.returncode != 0:
        sys.exit(f"tools/platforms.py: the runs were not of this build: {gcov.stderr.strip()}")
    for file in json.loads(gcov.stdout)["files"]:
        if Path(file["file"]).parts[-3:] == path.parts[-3:]:
            for line in file["lines"]:
                yield line["line_number"], line["count"]


def simulated(runs, vendor, packs):
    """What is known of a vendor's platform: {(family, platform): {variant: state}}."""
    found = {}
    of_cpus = {what.family for what in packs if "_kernel_" in what.path.name}
    bring = {what.path for what in packs}
    helped = all(share >= ENOUGH for path, share in runs.shares.items() if path not in bring)
    for what in packs:
        cell = found.setdefault((what.family, vendor), {})
        if what.pack == vendor:
            whole = helped and runs.shares[what.path] >= ENOUGH
            cell[what.variant] = SIMULATED if whole and runs.used(what) else COMPILED
        elif what.pack == GENERIC and what.family not in of_cpus and runs.used(what):
            cell[what.variant] = GENERIC
    return found


def selftested(records, platform, state):
    """What `hy-hal selftest --json` says of the generic pack. A variant that it skipped has no
    state: another machine may be able to run it. What stands in while a port is down is none, nor is
    a fusion, which follows the variants of its chain."""
    states = {"passed": state, "failed": COMPILED, "skipped": None}
    found = {}
    for path in records:
        for one in json.loads(path.read_text())["variants"]:
            if one["pack"] == GENERIC and "stands in" not in one["text"] and not one.get("fusion"):
                cell = found.setdefault((one["family"], platform), {})
                variant = one["variant"]
                cell[variant] = states[one["outcome"]] or cell.get(variant)
    return found


# ---- The tables

HEADER = ("Family", NATIVE, CROSS, *DEVICES)


def cell_text(states):
    """A cell: the variants of each state."""
    groups = {}
    for variant, state in sorted(states.items()):
        groups.setdefault(state, []).append(variant)
    return "; ".join(f"{state}: {', '.join(groups[state])}" for state in sorted(groups))


def cell_states(text):
    """What cell_text() was made of."""
    groups = [group.split(": ") for group in text.split("; ") if group]
    return {variant: state for state, names in groups for variant in names.split(", ")}


def table_text(rows):
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def platforms_rows(found):
    families = sorted({family for family, _ in found}, key=lambda f: (f == FLOW_RULES, f))
    return [HEADER, *((family, *(cell_text(found.get((family, platform), {}))
                                 for platform in HEADER[1:])) for family in families)]


def platforms_claimed(path):
    """The table as it is: {(family, platform): {variant: state}}."""
    if not path.exists():
        return {}
    with open(path, newline="", encoding="utf-8") as file:
        return {(row["Family"], platform): cell_states(row[platform])
                for row in csv.DictReader(file) for platform in HEADER[1:]}


def settle(found, claimed, judged):
    """Fills in from the table what cannot be known here; COMPILED where that says nothing."""
    for (family, platform), states in claimed.items():
        if platform not in judged and states:
            found[family, platform] = states
    for key, states in found.items():
        for variant, state in states.items():
            states[variant] = state or claimed.get(key, {}).get(variant, COMPILED)
    return found


def differences(found, claimed):
    """Sentences on what the table says and what was found."""
    for key in sorted(found.keys() | claimed.keys()):
        have, want = claimed.get(key, {}), found.get(key, {})
        for variant in sorted(have.keys() | want.keys()):
            if have.get(variant) != want.get(variant):
                yield (f"{key[0]} {variant} on {key[1]}: the table says "
                       f"{have.get(variant, 'nothing')}, found: {want.get(variant, 'nothing')}")


def calls_rows(build, nodes, packs):
    rows = [("File", "Brings", "DPDK functions")]
    for pack, path in sources(nodes):
        brings = [f"{w.family.strip('*')} {w.variant}" for w in packs if w.path == path]
        used = sorted(calls(build, pack, path))
        if brings or used:
            rows.append((str(path.relative_to(nodes)), ", ".join(brings), " ".join(used)))
    return rows


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--build", type=Path, required=True, help="a folder with -Db_coverage=true")
    parser.add_argument("--evidence", type=Path, required=True, help="HALYARD_EVIDENCE of the runs")
    parser.add_argument("--native", type=Path, nargs="*", default=[], help="hy-hal selftest --json")
    parser.add_argument("--cross", type=Path, nargs="*", default=[], help="the same, of aarch64")
    parser.add_argument("--tables", type=Path, default=ROOT / "doc" / "platforms")
    parser.add_argument("--nodes", type=Path, default=ROOT / "drivers" / "nodes")
    parser.add_argument("--write", action="store_true", help="write the tables")
    return parser.parse_args()


def main():
    args = arguments()
    build, nodes = args.build.resolve(), args.nodes.resolve()
    packs = list(brought(nodes))
    judged = {*([NATIVE] if args.native else []), *([CROSS] if args.cross else [])}
    found = {**selftested(args.native, NATIVE, RAN), **selftested(args.cross, CROSS, CROSS_RAN)}
    for vendor in DEVICES:
        runs = Simulated(build, args.evidence.resolve(), vendor, nodes)
        for path, share in runs.shares.items():
            print(f"{vendor}/{path.name}: {share:.0%} of the lines executed")
        if runs.runs:
            judged.add(vendor)
            found.update(simulated(runs, vendor, packs))
    claimed = platforms_claimed(args.tables / "nodes.csv")
    found = {key: states for key, states in settle(found, claimed, judged).items() if states}
    platforms = table_text(platforms_rows(found))
    functions = table_text(calls_rows(build, nodes, packs))
    if args.write:
        args.tables.mkdir(exist_ok=True)
        (args.tables / "nodes.csv").write_text(platforms)
        (args.tables / "calls.csv").write_text(functions)
        return
    wrong = list(differences(found, {key: states for key, states in claimed.items() if states}))
    listed = (args.tables / "calls.csv").read_text().splitlines()
    wrong += difflib.unified_diff(listed, functions.splitlines(), "calls.csv", "found", n=0,
                                  lineterm="")
    if wrong:
        sys.exit("\n".join(["tools/platforms.py: doc/platforms is not what was found; "
                            "`make platforms` writes it anew", *wrong]))


if __name__ == "__main__":
    main()
