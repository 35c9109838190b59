#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Prints the short table of a benchmark, or, in one line, how much of several was skipped.

FILE is what hy-bench --json wrote. A line is a work: our median, the noise, and the ratios to the
peers, of more than three the lowest three. There are lines for the works in SHOWN, and one for the
work with the lowest ratio of all. BEFORE is the file whose table was printed before: of the heading,
only what differs from it is printed."""

import argparse
import json
import sys

# What a reader wants to know first. Of another selection (--work), the first works stand instead.
# These and a work with the lowest ratio of each benchmark must fit a screen.
SHOWN = {
    "acl": ["fw_10k"],
    "arc": ["arc_64"],
    "classify": ["r1k"],
    "dispatch": ["handover_64"],
    "enqueue": ["mix4_64"],
    "flows": ["leaf_1M"],
    "idle": ["walk of 64 objects"],
    "l2": ["leaf_65k", "bridge_all_in"],
    "l3fwd": ["one_flow", "dst256_8", "dst64k_8", "table172k"],
    "lookup": ["all_64k"],
    "offload": ["offload_1000"],
    "routes": ["load_lpm"],
    "walk": ["home_run_256", "chain4_256", "create_destroy_1000"],
}
FIRST = 3  # works of another selection
PEERS = 3
COLUMNS = f"{'':<9}{'work':<23}{'ours':>9} {'unit':<14}{'noise':>6} {'core GHz':>9}  ratios to peers"


def clock(machine):
    """GHz of the core."""
    return machine["tsc_hz"] / 1e9 / machine["addition"]


def heading(machine):
    """What figures depend on, apart from the clock, which changes from moment to moment."""
    return [
        f"{machine['cpu']}, TSC {machine['tsc_hz'] / 1e9:.2f} GHz, SIMD {machine['simd_bits']} bits, "
        f"{machine['compiler']}, {machine['flags']}",
        f"{machine['dpdk']}, {machine['dpdk_build']}: {machine['dpdk_library']}",
        "THERE ARE NO HUGEPAGES: misses of the TLB are in all figures" if
        machine["memory"] == "no hugepages" else machine["memory"],
    ]


def print_heading(machine, before):
    """Prints what is not as it was before."""
    for line, old in zip(heading(machine), heading(before) if before else [None] * 3):
        if line != old:
            print(line)
    if before is None:
        print("Medians, less is better; a ratio above 1: ours is faster; noise: the median above "
              f"the lowest tenth\n\n{COLUMNS}")


def choose(data):
    """Names of the works to show, in the order in which they were measured."""
    works = list(dict.fromkeys(ratio["work"] for ratio in data["ratios"]))
    works = works or list(dict.fromkeys(row["work"] for row in data["rows"]))
    chosen = set(SHOWN.get(data["bench"], [])) & set(works) or set(works[:FIRST])
    if data["ratios"]:
        chosen.add(min(data["ratios"], key=lambda ratio: ratio["ratio"])["work"])
    return [work for work in works if work in chosen]


def line_of(data, work):
    """The line of a work."""
    rows = [row for row in data["rows"] if row["work"] == work]
    ratios = [ratio for ratio in data["ratios"] if ratio["work"] == work]
    ours = ratios[0]["contender"] if ratios else rows[-1]["contender"]
    (row,) = [row for row in rows if row["contender"] == ours]
    noise = max(row["median"] / row["p10"] for row in rows) - 1
    lowest = sorted(ratio["ratio"] for ratio in ratios)[:PEERS]
    peers = [f"{ratio['ratio']:.2f}x {ratio['against']}" for ratio in ratios
             if ratio["ratio"] in lowest]
    return (f"{data['bench']:<9}{work:<23}{row['median']:9.2f} {row['unit']:<14}"
            f"{100 * noise:5.1f}% {clock(data['machine']):9.2f}  {'  '.join(peers)}").rstrip()


def remarks(data):
    """What spoiled the run."""
    if not data.get("calibration", {"trusted": True})["trusted"]:
        yield "THIS RUN IS NOT TO BE TRUSTED: the lcores are not steady"
    if not data["complete"]:
        yield "stopped before its end"
    if not data["rows"]:
        yield f"nothing measured: {data['skipped'][0]['reason']}" if data["skipped"] else "nothing measured"
    if data["wrong"]:
        yield f"{len(data['wrong'])} wrong, {data['wrong'][0]['contender']} in " \
              f"{data['wrong'][0]['work']} first"


def read(path):
    """What hy-bench wrote."""
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
        missing = {"bench", "machine", "rows", "ratios", "skipped", "complete", "wrong"} - set(data)
    except (OSError, ValueError, TypeError) as wrong:
        sys.exit(f"tools/bench-table.py: {path}: {getattr(wrong, 'strerror', None) or wrong}")
    if missing:
        sys.exit(f"tools/bench-table.py: {path}: no figures of hy-bench: it lacks {', '.join(sorted(missing))}")
    return data


def skipped(files):
    """How many contenders and works each benchmark could not measure; empty if none."""
    counts = [f"{data['bench']} {len(data['skipped'])}" for data in files if data["skipped"]]
    return f"Skipped, the reasons are in the files: {', '.join(counts)}" if counts else ""


def main(arguments):
    """Returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--skipped", action="store_true", help="how much of the files was skipped")
    parser.add_argument("files", nargs="+", metavar="FILE.json", help="without --skipped: one, and the one before")
    args = parser.parse_args(arguments)
    if args.skipped:
        if line := skipped(map(read, args.files)):
            print(line)
        return 0
    if len(args.files) > 2:
        parser.error("without --skipped, at most two files")
    data = read(args.files[0])
    before = read(args.files[1])["machine"] if args.files[1:] else None
    print_heading(data["machine"], before)
    for work in choose(data):
        print(line_of(data, work))
    for remark in remarks(data):
        print(f"{data['bench']:<9}{remark}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
