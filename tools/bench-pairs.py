#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares this tree's benchmarks with another revision's: tools/bench-pairs.py BASE [BENCH...]

Both are built with the same compiler, flags and DPDK, in folders with paths of equal length. Their
programs run in pairs, alternately this tree's and the base's first. The figure of a row is the ratio of
this tree's figure to the base's; below 1, this tree is faster. It is the Hodges-Lehmann estimate over
the pairs, on a logarithmic scale, with the exact 95 % interval of Wilcoxon's signed-rank test, which
assumes no normal distribution and is not widened by an outlier. If nothing differs, expect one in
twenty intervals to exclude 1."""

import argparse
import io
import json
import math
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tarfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BENCHES = ["acl", "arc", "classify", "dispatch", "enqueue", "flows", "idle", "l2", "l3fwd", "lookup",
           "offload", "routes", "walk"]
SHORT = 3  # rows of a benchmark without -v
PAIRS, PAIRS_QUICK = 16, 6  # fewer than 6 have no interval of 95 %
BASE, TREE = "base", "tree"


def fail(message):
    """Ends the program."""
    sys.exit(f"bench-pairs: {message}")


def git(*arguments):
    """What git prints."""
    done = subprocess.run(["git", "-C", ROOT, *arguments], capture_output=True, check=False)
    if done.returncode != 0:
        fail(f"git {' '.join(arguments)}: {done.stderr.decode(errors='replace').strip()}")
    return done.stdout


def wilcoxon_rank(n, alpha=0.05):
    """The largest k for which so many of the lowest, and of the highest, of the n(n+1)/2 averages of
    two can be left out; -1 if there is none. Exact: counts all 2^n ways to give signs to ranks."""
    ways = [1] + [0] * (n * (n + 1) // 2)
    for rank in range(1, n + 1):
        for total in range(len(ways) - 1, rank - 1, -1):
            ways[total] += ways[total - rank]
    below, k = 0, -1
    while 2 * (below + ways[k + 1]) <= alpha * 2 ** n:
        below += ways[k + 1]
        k += 1
    return k


def paired_ratio(ratios):
    """Estimate, lower and upper end of the ratio's interval; the ends are None with few pairs."""
    logs = [math.log(ratio) for ratio in ratios]
    averages = sorted((a + b) / 2 for i, a in enumerate(logs) for b in logs[i:])
    middle = len(averages)
    estimate = math.exp((averages[(middle - 1) // 2] + averages[middle // 2]) / 2)
    k = wilcoxon_rank(len(logs))
    if k < 0:
        return estimate, None, None
    return estimate, math.exp(averages[k]), math.exp(averages[-1 - k])


def put_sources(folder, files):
    """Makes a folder hold files, a dict of bytes and modes by path, and nothing else; a file that has
    not changed keeps its time, so that it is not compiled again."""
    old = {path.relative_to(folder) for path in folder.rglob("*") if not path.is_dir()}
    for name in old - {Path(name) for name in files}:
        (folder / name).unlink()
    for name, (content, mode) in files.items():
        path = folder / name
        if path.is_file() and path.read_bytes() == content and path.stat().st_mode & 0o777 == mode:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        path.chmod(mode)


def tree_files():
    """The files of this tree as it is: those that git knows or would add."""
    names = git("ls-files", "-z", "-co", "--exclude-standard").decode().split("\0")
    paths = {name: ROOT / name for name in names if name}
    return {name: (path.read_bytes(), 0o755 if os.access(path, os.X_OK) else 0o644)
            for name, path in paths.items() if path.is_file()}


def revision_files(revision):
    """The files of a revision."""
    with tarfile.open(fileobj=io.BytesIO(git("archive", "--format=tar", revision))) as tar:
        return {entry.name: (tar.extractfile(entry).read(), 0o755 if entry.mode & 0o100 else 0o644)
                for entry in tar if entry.isfile()}


def build(folder, what):
    """Builds hy-bench of the sources in a folder; returns the program. What another compiler, other
    flags or another DPDK made is built anew."""
    source, out, log, made_with = (folder / name for name in ("src", "out", "log", "made-with"))
    now = "".join(f"{name}={os.environ.get(name)}\n" for name in (
        "CC", "CFLAGS", "LDFLAGS", "PKG_CONFIG_PATH"))
    print(f"Building {what}", flush=True)
    with open(log, "w", encoding="utf-8") as to:
        steps = [["ninja", "-C", out, "app/bench/hy-bench"]]
        if not (out / "build.ninja").exists() or made_with.read_text() != now:
            shutil.rmtree(out, ignore_errors=True)
            made_with.write_text(now)
            steps.insert(0, ["meson", "setup", out, source, "-Dtests=false"])
        for step in steps:
            if subprocess.run(step, stdout=to, stderr=to, check=False).returncode != 0:
                to.flush()
                fail(f"cannot build {what}; see {log}:\n"
                     + "".join(log.read_text(errors="replace").splitlines(True)[-15:]))
    return out / "app" / "bench" / "hy-bench"


class Benchmark:
    """One benchmark of both revisions: its figures, and what went wrong."""

    def __init__(self, name, programs, options, folder, by=None):
        self.name, self.programs, self.options, self.folder = name, programs, options, folder
        self.by = by
        self.figures = {BASE: [], TREE: []}  # of each run: a dict of medians by work and contender
        self.skipped = {BASE: {}, TREE: {}}  # reasons by work and contender
        self.broken = None
        self.seconds = 0

    def run(self, side):
        """One run. Notes its figures, or why there are none."""
        path = self.folder / f"{side}.json"
        path.unlink(missing_ok=True)
        began = time.monotonic()
        done = subprocess.run([self.programs[side], self.name, *self.options, "--json", path],
                              cwd=self.folder, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False)
        self.seconds = max(self.seconds, time.monotonic() - began)
        try:
            data = json.loads(path.read_text())
        except (OSError, ValueError):
            data = None
        if done.returncode != 0 or data is None or data.get("wrong"):
            lines = (done.stderr or done.stdout).strip().splitlines() or ["it wrote no figures"]
            self.broken = f"{side}: {lines[-1]}"
            return
        self.figures[side].append({(row["work"], row["contender"]): row["median"]
                                   for row in data["rows"]})
        self.skipped[side].update({(o["work"], o["contender"]): o["reason"]
                                   for o in data.get("skipped", [])})

    def pair(self, number):
        """A run of each, this tree's first in every other pair."""
        for side in (BASE, TREE) if number % 2 == 0 else (TREE, BASE):
            if self.broken is None:
                self.run(side)

    def relative(self, run):
        """The figures of a run, divided by those of the contender `by` for the same work."""
        if self.by is None:
            return run
        return {(work, contender): figure / run[work, self.by]
                for (work, contender), figure in run.items() if (work, self.by) in run}

    def rows(self):
        """Paired ratios of all rows that both have, and rows that one of them lacks."""
        named = list(zip(self.figures[BASE], self.figures[TREE]))
        runs = [tuple(map(self.relative, pair)) for pair in named]
        both, lacking = [], []
        for key in dict.fromkeys(key for pair in named for run in pair for key in run):
            ratios = [tree[key] / base[key] for base, tree in runs if key in base and key in tree]
            if len(ratios) == len(runs):
                estimate, low, high = paired_ratio(ratios)
                both.append({"work": key[0], "contender": key[1], "ratio": estimate, "low": low,
                             "high": high, "pairs": len(ratios), "ratios": ratios})
                continue
            side = BASE if any(key not in base for base, _ in runs) else TREE
            reason = self.skipped[side].get(key) or self.skipped[side].get((key[0], None)) or \
                self.skipped[side].get(("*", None)) or \
                ("it has no such row" if self.by is None else
                 f"it has no such row, or none of {self.by}")
            lacking.append({"work": key[0], "contender": key[1], "side": side, "reason": reason})
        return both, lacking


def verdict(row):
    """What an interval says."""
    if row["low"] is None:
        return "too few pairs for an interval"
    if row["low"] > 1:
        return "slower"
    return "faster" if row["high"] < 1 else ""


def print_row(row):
    """Prints the line of a row."""
    interval = "" if row["low"] is None else f"{row['low']:.3f} to {row['high']:.3f}"
    print(f"{row['work']:<24}{row['contender']:<22}{row['ratio']:7.3f}  {interval:<16}  "
          f"{verdict(row)}".rstrip())


def print_short(benchmark, both, lacking):
    """Prints a line for the benchmark, and the rows that differ, those that are slower most first."""
    counts = [sum(verdict(row) == what for row in both) for what in ("slower", "faster")]
    print(f"{benchmark.name:<24}{f'{len(both)} rows':<22}"
          + (f"{statistics.median(row['ratio'] for row in both):7.3f}  is their median; "
             f"{counts[0]} slower, {counts[1]} faster" if both else "")
          + (f"; {len(lacking)} skipped: {lacking[0]['side']}: {lacking[0]['reason']}"
             if lacking else ""))
    differ = [row for row in both if verdict(row) in ("slower", "faster")]
    for row in sorted(differ, key=lambda row: -row["ratio"])[:SHORT]:
        print_row(row)


def report(benchmark, details):
    """Prints a benchmark's rows, or the short form; returns all rows for the JSON file."""
    both, lacking = benchmark.rows()
    if details:
        print(f"\n{benchmark.name:<24}{'contender':<22}{'ratio':>7}  95 % interval")
        for row in both:
            print_row(row)
        for row in lacking:
            print(f"{row['work']:<24}{row['contender']:<22}skipped: {row['side']}: {row['reason']}")
    else:
        print_short(benchmark, both, lacking)
    if benchmark.broken is not None:
        print(f"{benchmark.name} ended after {both[0]['pairs'] if both else 0} pairs: "
              f"{benchmark.broken}")
    sys.stdout.flush()
    return {"bench": benchmark.name, "rows": both, "skipped": lacking, "broken": benchmark.broken}


def measure(benchmarks, pairs):
    """Runs all pairs; yields each benchmark when it is done, or interrupted. First one pair that does
    not count: it tells how long the rest takes, and what cannot be compared."""
    for benchmark in benchmarks:
        benchmark.pair(0)
        benchmark.figures = {BASE: [], TREE: []}
    total = sum(2 * pairs * b.seconds for b in benchmarks if b.broken is None)
    print(f"{pairs} pairs of runs of {len(benchmarks)} benchmarks: some {total / 60:.0f} minutes "
          f"from now, until {time.strftime('%H:%M', time.localtime(time.time() + total))}",
          flush=True)
    for benchmark in benchmarks:
        try:
            for number in range(pairs):
                benchmark.pair(number)
        except KeyboardInterrupt:
            benchmark.broken = "interrupted"
            yield benchmark
            return
        yield benchmark


def parse():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0],
                                     epilog="For what they share, see hy-bench --help.")
    parser.add_argument("base", help="revision to compare with")
    parser.add_argument("benches", nargs="*", metavar="BENCH", help=f"of {' '.join(BENCHES)}")
    parser.add_argument("--pairs", type=int, help=f"pairs of runs [{PAIRS}; {PAIRS_QUICK} with "
                                                  "--quick]; even, so that orders are balanced")
    parser.add_argument("--quick", action="store_true", help=f"{PAIRS_QUICK} pairs")
    parser.add_argument("--work", help="only works of that pattern")
    parser.add_argument("--by", metavar="CONTENDER", help="divide figures by this contender's of "
                                                          "the same run and work")
    parser.add_argument("--rounds", help="of each run; without it hy-bench's --quick is given")
    parser.add_argument("--prefixes", help="as hy-bench has it")
    parser.add_argument("-v", dest="details", action="store_true", help="print every row")
    parser.add_argument("--folder", type=Path, default=ROOT / "build-bench")
    parser.add_argument("--json", type=Path, help="file for all ratios [FOLDER/pairs.json]")
    args = parser.parse_args()
    args.folder = args.folder.resolve()
    args.pairs = args.pairs or (PAIRS_QUICK if args.quick else PAIRS)
    if args.pairs < 2 or args.pairs % 2:
        parser.error("--pairs is an even number, 2 at least")
    for bench in args.benches:
        if bench not in BENCHES:
            parser.error(f"'{bench}' is no benchmark; there are {' '.join(BENCHES)}")
    return args


def describe(args):
    """Says what is compared; returns the names of both."""
    base = git("rev-parse", "--verify", f"{args.base}^{{commit}}").decode().strip()
    head = git("rev-parse", "HEAD").decode().strip()
    dirty = git("status", "--porcelain").decode().splitlines()
    names = {BASE: f"base: {args.base}, {base[:12]}", TREE: f"tree: {head[:12]}"}
    if dirty:
        names[TREE] += f" with changes that are not committed, in {len(dirty)} files"
    return base, names


def main():
    """Returns the exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # pairs that are done are reported
    args = parse()
    base, names = describe(args)
    programs = {}
    for side, files in ((BASE, revision_files(base)), (TREE, tree_files())):
        folder = args.folder / side
        put_sources(folder / "src", files)
        programs[side] = build(folder, names[side])
    if programs[BASE].read_bytes() == programs[TREE].read_bytes():
        print("The two programs are the same, byte for byte")
    options = ["--quick"] if args.rounds is None else ["--rounds", args.rounds]
    if args.work is not None:
        options += ["--work", args.work]
    if args.prefixes is not None:
        options += ["--prefixes", os.path.abspath(args.prefixes)]
    benchmarks = [Benchmark(name, programs, options, args.folder, args.by)
                  for name in args.benches or BENCHES]
    results, path = [], args.json or args.folder / "pairs.json"
    for benchmark in measure(benchmarks, args.pairs):
        results.append(report(benchmark, args.details))
        path.write_text(json.dumps({"base": names[BASE], "tree": names[TREE], "pairs": args.pairs,
                                    "benches": results}, indent=1))
    rows = [row for result in results for row in result["rows"]]
    counts = [sum(verdict(row) == what for row in rows) for what in ("", "slower", "faster")]
    print(f"\n{len(rows)} rows: {counts[0]} intervals with 1 in them, {counts[1]} slower, "
          f"{counts[2]} faster; all in {path}")
    return 0 if rows else 1


if __name__ == "__main__":
    sys.exit(main())
