#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints, as CSV, which kinds of flow rules each vendor's driver accepts, according to the programs of
BUILD that run the driver's own flow code. Fails if such a program was not
built or contradicts itself."""

import argparse
import csv
import json
import subprocess
import sys
from pathlib import Path

DPDK = "DPDK 22.11"  # as the book says

# Driver of tests/driver_oracle and profile → the column.
COLUMNS = {
    ("cnxk", "cn10k-default"): "CN10K",
    ("cnxk", "cn9k-default"): "OcteonTX2",
    ("mlx5", "connectx5"): "ConnectX-5",
    ("i40e", "xl710"): "XL710",
    ("ice", "os-default"): "E810",
    ("iavf", "e810-vf"): "E810, virtual function",
}


def ask(build, driver, profile, command):
    """What a program says."""
    program = build / "tests" / "driver_oracle" / f"hy-oracle-{driver}"
    if not program.exists():
        sys.exit(f"tools/flow-kinds.py: {program} was not built; meson says why")
    done = subprocess.run([program, f"--profile={profile}", command], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120, check=True)
    said = json.loads(done.stdout)
    if not said["dpdk"].startswith(DPDK):
        sys.exit(f"tools/flow-kinds.py: the table is that of {DPDK}, not of {said['dpdk']}")
    return said


def cell(kind):
    """What a driver makes of a kind of rules."""
    if not kind["taken"]:
        return "–"
    return "checked" if kind["checked"] else "yes"


def main():
    """Asks all of them, and prints a row per kind."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    build = parser.parse_args().build
    rows = {}
    taken, shapes = ["*kinds taken*"], ["*shapes taken*"]
    for driver, profile in COLUMNS:
        said = ask(build, driver, profile, "kinds")
        if said["notes"]:
            sys.exit(f"{driver}, {profile}: {said['notes']}")
        for kind in said["kinds"]:
            rows.setdefault(kind["name"], [kind["name"]]).append(cell(kind))
        taken.append(f"{sum(kind['taken'] for kind in said['kinds'])} of {len(said['kinds'])}")
        said = ask(build, driver, profile, "shapes")
        shapes.append(f"{said['taken']} of {said['asked']}")
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["Kind of rule", *COLUMNS.values()])
    out.writerows([*rows.values(), taken, shapes])


if __name__ == "__main__":
    main()
