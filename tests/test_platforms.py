# SPDX-License-Identifier: BSD-3-Clause
"""tools/platforms.py: what it takes for a vendor's variant to be called simulated, and that tables
which claim something else are refused. Packs are compiled and run here, with gcc's counters."""

import csv
import functools
import json
import os
import re
import subprocess

import pytest

import l3fwd

pytestmark = pytest.mark.slow

TOOL = l3fwd.ROOT / "tools" / "platforms.py"
# Ten lines of code, of which run(N) executes N and one more.
VARIANT = """/* rte_comment() is none */
#include <rte_byteorder.h>
#include <rte_cpuflags.h>
#define HIDDEN rte_cpu_is_supported
int run(int n);
int run(int n)
{
%s	return n + HIDDEN() + (int)rte_bswap32(1);
}
HY_NODE_VARIANT(ethdev_rx, fast,
	.score = 1);
""" % "".join(f"\tif (n == {i}) return {i};\n" for i in range(1, 9))
HELPER = "int help(int n);\nint help(int n)\n{\n\treturn n;\n}\n"
MAIN = """#include <stdlib.h>
int run(int), help(int);
int main(int n, char **v) { (void)n; run(atoi(v[1])); if (v[2][0] == 'h') help(1); return 0; }
"""


@functools.cache
def flags():
    """What DPDK's headers want."""
    return subprocess.run(["pkg-config", "--cflags", "libdpdk"], capture_output=True, text=True,
                          check=True).stdout.split()


class Box:
    """A tree with a pack of mlx5's, built, and what its runs left."""

    def __init__(self, folder):
        self.folder = folder
        self.nodes, self.build = folder / "drivers" / "nodes", folder / "build"
        self.tables, self.evidence = folder / "tables", folder / "evidence"
        self.objects = self.build / "drivers" / "nodes" / "libhy_nodes_mlx5.a.p"
        for path in (self.nodes / "mlx5", self.objects, self.evidence / "sim_mlx5"):
            path.mkdir(parents=True)
        self.source("fast", VARIANT)
        self.source("help", HELPER)
        (folder / "main.c").write_text(MAIN)
        self.records = []

    def source(self, name, text):
        """Writes and compiles a file of the pack."""
        path = self.nodes / "mlx5" / f"{name}.c"
        path.write_text(text)
        subprocess.run(["gcc", *flags(), "--coverage", "-DHY_NODE_VARIANT(...)=", "-c", path,
                        "-o", self.objects / f"mlx5_{name}.c.o"], check=True, cwd=self.folder)

    def run(self, lines, helped=True, variant="fast", objs=1):
        """Runs the pack's code, and says that packets went through a node."""
        program = self.folder / "program"
        subprocess.run(["gcc", self.folder / "main.c", *self.objects.glob("*.o"), "--coverage",
                        "-o", program, "-lrte_eal"], check=True, cwd=self.folder)
        subprocess.run([program, str(lines), "h" if helped else "-"], check=True,
                       env={**os.environ, "GCOV_PREFIX": str(self.evidence / "sim_mlx5")})
        node = {"family": "ethdev_rx", "variant": variant, "objs": objs, "target": "port 0"}
        (self.evidence / "sim_mlx5" / "run.json").write_text(json.dumps(
            {"nodes": [node], "offloads": [], "ports": []}))

    def selftest(self, platform, **outcomes):
        """A record of `hy-hal selftest` on a platform."""
        path = self.folder / f"{platform}.json"
        path.write_text(json.dumps({"variants": [
            {"family": "ip4_lookup", "variant": name, "pack": "generic", "outcome": outcome,
             "text": "needs a CPU"} for name, outcome in outcomes.items()]}))
        self.records = [f"--{platform}", path]

    def tool(self, *words):
        done = subprocess.run([TOOL, "--build", self.build, "--evidence", self.evidence,
                               "--nodes", self.nodes, "--tables", self.tables, *self.records,
                               *words], capture_output=True, text=True, check=False)
        assert "Traceback" not in done.stderr, done
        return done

    def written(self, name="nodes"):
        """The table, written anew, by its first column."""
        assert self.tool("--write").returncode == 0
        assert self.tool().returncode == 0  # it agrees with itself
        with open(self.tables / f"{name}.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        return {next(iter(row.values())): row for row in rows}


@pytest.fixture
def box(tmp_path):
    return Box(tmp_path)


@pytest.mark.parametrize("run, state", [
    ({"lines": 9}, "simulated"),
    ({"lines": 7}, "simulated"),
    ({"lines": 6}, "compiled only"),
    ({"lines": 9, "helped": False}, "compiled only"),
    ({"lines": 9, "variant": "poll"}, "compiled only"),
    ({"lines": 9, "objs": 0}, "compiled only"),
])
def test_simulated_is_what_forwarded_and_was_executed_with_all_its_pack_needs(box, run, state):
    box.run(**run)
    assert box.written()["ethdev_rx"]["mlx5"] == f"{state}: fast"
    share = re.search(r"mlx5/fast.c: (\d+)%", box.tool().stdout)[1]
    assert int(share) == 10 * (run["lines"] + 1), share


def test_table_that_claims_more_than_ran_is_refused_and_told_how_to_mend(box):
    box.run(9)
    box.written()
    for path in box.evidence.rglob("*.gcda"):
        path.unlink()
    box.run(2)
    done = box.tool()
    assert done.returncode == 1 and "`make platforms` writes it anew" in done.stderr, done
    assert ("ethdev_rx fast on mlx5: the table says simulated, found: compiled only"
            in done.stderr), done


def test_table_that_lacks_a_variant_is_refused(box):
    box.run(9)
    box.written()
    box.source("other", VARIANT.replace("fast", "other").replace("run(", "run2("))
    box.run(9)
    done = box.tool()
    assert done.returncode == 1, done
    assert "ethdev_rx other on mlx5: the table says nothing, found: compiled only" in done.stderr


def test_what_this_machine_cannot_run_stays_as_an_abler_one_wrote_it(box):
    box.selftest("native", scalar="passed", avx512="passed")
    assert box.written()["ip4_lookup"]["x86-64"] == "native run: avx512, scalar"
    box.selftest("native", scalar="passed", avx512="skipped")
    assert box.tool().returncode == 0
    assert box.written()["ip4_lookup"]["x86-64"] == "native run: avx512, scalar"
    box.selftest("native", scalar="failed", avx512="skipped")
    done = box.tool()
    assert done.returncode == 1 and "scalar on x86-64: the table says native run" in done.stderr


def test_skipped_variant_without_an_earlier_run_is_compiled_only(box):
    box.selftest("cross", neon="passed", sve="skipped")
    assert box.written()["ip4_lookup"]["aarch64"] == "compiled only: sve; cross-run: neon"


def test_platforms_without_a_record_stay_as_they_were(box):
    box.run(9)
    box.selftest("cross", neon="passed")
    before = box.written()
    box.records = []
    for path in (box.evidence / "sim_mlx5").glob("*.json"):
        path.unlink()
    assert box.tool().returncode == 0
    assert box.written() == before


def test_dpdk_functions_are_those_linked_and_those_inline(box):
    box.run(9)
    row = box.written("calls")["mlx5/fast.c"]
    assert row["Brings"] == "ethdev_rx fast"
    assert row["DPDK functions"].split() == ["rte_bswap32", "rte_cpu_is_supported"]
    more = HELPER.replace("return n", "return n + rte_cpu_is_supported()")
    box.source("help", f"#include <rte_cpuflags.h>\n{more}")
    done = box.tool()
    assert done.returncode == 1 and "the runs were not of this build" in done.stderr, done
    for path in box.evidence.rglob("*.gcda"):
        path.unlink()
    box.run(9)
    done = box.tool()
    assert done.returncode == 1 and "--- calls.csv\n+++ found\n" in done.stderr, done.stderr
    assert "\n+mlx5/help.c,,rte_cpu_is_supported\n" in f"{done.stderr}\n", done.stderr
