#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws the ratios of a hy-bench JSON file as bars."""

import argparse
import fnmatch
import json
import sys

import matplotlib

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402  the backend comes first
from matplotlib.lines import Line2D  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator  # noqa: E402

# What Halyard wants to reach, by bench, peer and works; the first pattern that matches counts.
TARGETS = {
    ("walk", "librte_graph"): [
        ("home_run_256", 3.5), ("home_run_32", 3.5), ("chain4_*", 3.5), ("one_edge_*", 3.5),
        ("tree", 1.5), ("reverse_tree", 1.5), ("parallel_tree", 1.5),
        ("mix2_256", 3), ("mix4_256", 2), ("mix8_256", 1.2), ("mix16_256", 1.2),
        ("idle", 3), ("single", 3), ("create_destroy_1000", 10),
    ],
    ("walk", "n_log_n"): [("*", 1)],
    ("dispatch", "librte_mcore"): [("handover_64", 2)],
    ("l3fwd", "librte_node"): [
        ("one_flow", 1.5), ("dst256_8", 1.6), ("dst64k_8", 1.5), ("burst8", 1.3), ("burst1", 1.3),
    ],
    ("l3fwd", "static_checked"): [
        ("one_flow", 1.5), ("dst256_8", 1.5), ("dst64k_8", 1.5), ("table172k", 1.5),
    ],
    ("l3fwd", "static"): [("dst256_8", 0.75)],
    ("l3fwd", "one_lcore"): [("two_lcores_halyard", 1.9)],
}
# By brightness and hatching, so that they can be told apart without colour.
STYLES = [("#333333", ""), ("#ffffff", "////"), ("#bbbbbb", ""), ("#ffffff", "...."),
          ("#777777", "xx"), ("#ffffff", "")]


def target(bench, against, work):
    """The ratio wanted, or None."""
    for pattern, ratio in TARGETS.get((bench, against), []):
        if fnmatch.fnmatchcase(work, pattern):
            return ratio
    return None


def draw(data, out):
    """Works from top to bottom; one bar for each peer; target marks on their bars."""
    ratios = data["ratios"]
    peers = list(dict.fromkeys(r["against"] for r in ratios))
    works = list(dict.fromkeys(r["work"] for r in ratios))
    styles = {peer: STYLES[i % len(STYLES)] for i, peer in enumerate(peers)}
    place, lines = 0.0, []
    height = 1 + 0.13 * len(ratios) + 0.09 * len(works)
    figure, (legend, axes) = pyplot.subplots(
        2, 1, figsize=(9, height + 0.8), layout="constrained",
        gridspec_kw={"height_ratios": [0.8, height]})
    for work in works:
        first = place
        for ratio in (r for r in ratios if r["work"] == work):
            colour, hatch = styles[ratio["against"]]
            axes.barh(place, ratio["ratio"] - 1, left=1, height=0.9, color=colour, hatch=hatch,
                      edgecolor="black", linewidth=0.6)
            wanted = target(data["bench"], ratio["against"], work)
            if wanted:
                axes.plot([wanted], [place], marker="D", color="white", markeredgecolor="black",
                          markersize=4.5, linestyle="none", zorder=3)
            place += 1
        lines.append(((first + place - 1) / 2, work))
        place += 0.7
    axes.axvline(1, color="black", linewidth=1.2)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(LogLocator(base=2))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.grid(axis="x", color="#999999", linewidth=0.4)
    axes.set_axisbelow(True)
    axes.set_yticks([line[0] for line in lines], [line[1] for line in lines], fontsize=7)
    axes.set_ylim(place, -1)
    axes.set_xlabel("the peer's median divided by ours; right of 1: ours is less")
    machine = data["machine"]
    legend.set_axis_off()
    legend.set_title(
        f"hy-bench {data['bench']}\n{machine['cpu']}, {machine['memory']}, "
        f"{machine['compiler']} {machine['flags']}, {machine['dpdk']}", fontsize=8)
    handles = [pyplot.Rectangle((0, 0), 1, 1, facecolor=colour, hatch=hatch, edgecolor="black",
                                label=f"against {peer}")
               for peer, (colour, hatch) in styles.items()]
    handles.append(Line2D([], [], marker="D", color="white", markeredgecolor="black",
                          markersize=4.5, linestyle="none", label="target"))
    legend.legend(handles=handles, loc="center", ncols=min(3, len(handles)), fontsize=8)
    figure.savefig(out, metadata={"Date": None})
    pyplot.close(figure)


def main(arguments):
    """Returns the exit code; what is wrong goes to stderr."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("source", metavar="IN.json")
    parser.add_argument("out", metavar="OUT.svg")
    args = parser.parse_args(arguments)
    source, out = args.source, args.out
    try:
        with open(source, encoding="utf-8") as file:
            data = json.load(file)
        missing = [key for key in ("bench", "machine", "rows", "ratios") if key not in data]
        if missing:
            raise ValueError(f"no figures of hy-bench: it lacks {', '.join(missing)}")
        matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": data["bench"],
                                    "hatch.linewidth": 0.6})
        draw(data, out)
    except (OSError, ValueError, TypeError, KeyError) as wrong:
        print(f"tools/bench-plot.py: {source}: {wrong}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
