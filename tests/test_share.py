# SPDX-License-Identifier: BSD-3-Clause
"""Graphs of a running program seen from other processes: hy-graph, a reader, an EAL secondary
process; on hugepages and without; and what happens when one of them is killed."""

import json
import os
import random
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

import frames
import l3fwd
import live
import pcapfile

HY_GRAPH = l3fwd.BUILD / "app" / "hy-graph" / "hy-graph"
HY_SHARE = l3fwd.BUILD / "app" / "test" / "hy-test-share"
PAGES = 64  # of 2 MB
KILLS = 30
NOBODY = "no program shares its graphs there"
ENDED = "the program has ended"


def run(*words, **env):
    """Runs a program to its end."""
    return subprocess.run([*l3fwd.UNDER, *map(str, words)], capture_output=True, text=True,
                          check=False, timeout=l3fwd.TIMEOUT, stdin=subprocess.DEVNULL,
                          env=dict(os.environ, **env))


def graph(command, folder, *words):
    """What hy-graph prints of what is shared in a folder."""
    done = run(HY_GRAPH, command, f"--folder={folder}", *words)
    assert done.returncode == 0, done
    return done.stdout


@pytest.fixture(scope="module")
def huge(tmp_path_factory):
    """A folder of hugepages that are there for these tests."""
    pool = Path("/proc/sys/vm/nr_hugepages")
    free = Path("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages")
    if os.geteuid() != 0:
        pytest.skip(f"{PAGES} hugepages of 2 MB are reserved by root only")
    if l3fwd.UNDER:
        pytest.skip("hugepages are this CPU's, and the programs another's")
    before = int(pool.read_text())
    folder = tmp_path_factory.mktemp("huge")
    try:
        pool.write_text(str(before + PAGES))
        if not free.exists() or int(free.read_text()) < PAGES:
            pytest.skip(f"{PAGES} hugepages of 2 MB cannot be reserved")
        mounted = run("mount", "-t", "hugetlbfs", "-o",
                      f"pagesize=2M,size={2 * PAGES}M", "none", folder)
        if mounted.returncode != 0:
            pytest.skip(f"hugepages cannot be mounted: {mounted.stderr.strip()}")
        yield folder
        run("umount", folder)
    finally:
        pool.write_text(str(max(int(pool.read_text()) - PAGES, 0)))


# EAL's ways of having memory. All but the first are on hugepages.
KINDS = {"small": ["--no-huge", "-m", "64", "--no-shconf"], "huge": ["-m", "32"],
         "legacy": ["-m", "32", "--legacy-mem"], "one-file": ["-m", "32", "--single-file-segments"],
         "in-memory": ["-m", "32", "--in-memory"]}


def memory(request, kind):
    """EAL's options for memory of a kind."""
    if kind == "small":
        return KINDS[kind]
    return ["--huge-dir", request.getfixturevalue("huge"), *KINDS[kind]]


def kinds(*names):
    """A test for each of these kinds."""
    hugepages = pytest.mark.xdist_group("hugepages")
    return pytest.mark.parametrize("kind", [
        pytest.param(name, marks=[] if name == "small" else hugepages) for name in names])


class Primary:
    """hy-test-share, whose graph changes all the time."""

    def __init__(self, folder, options):
        self.folder, self.shared = folder, folder / "shared"
        self.err = open(folder / "primary.err", "w", encoding="utf-8")
        self.out = folder / "primary.out"
        env = dict(os.environ, RUNTIME_DIRECTORY=str(folder))
        with open(self.out, "w", encoding="utf-8") as out:
            self.process = subprocess.Popen(
                [*l3fwd.UNDER, str(HY_SHARE), "primary", str(self.shared), "--no-pci",
                 "--no-telemetry", *map(str, options)], stdout=out, stderr=self.err, env=env)
        self.changes(1)

    def changes(self, n):
        """Waits for so many more changes of its graph."""
        def told():
            return self.out.read_text().count("\n")
        goal = told() + n
        live.until(lambda: told() >= goal, "changes", self.process)

    def stop(self):
        """Ends it. It checks then that it has lost nothing."""
        self.process.send_signal(signal.SIGTERM)
        assert self.process.wait(live.WAIT) == 0, (self.folder / "primary.err").read_text()
        self.err.close()

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.err.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()  # where a test has failed


@kinds(*KINDS)
def test_readers_agree_with_themselves_while_the_graph_changes(request, tmp_path, kind):
    with Primary(tmp_path, memory(request, kind)) as primary:
        for _ in range(3):
            done = run(HY_SHARE, "reader", primary.shared, 200)
            assert done.returncode == 0, done
            assert done.stdout.startswith("200 reads, "), done
        primary.changes(5)
        primary.stop()


@kinds("small", "huge")
def test_readers_that_are_killed_hurt_nobody(request, tmp_path, kind):
    rng = random.Random(7)
    with Primary(tmp_path, memory(request, kind)) as primary:
        for _ in range(KILLS):
            reader = subprocess.Popen([*l3fwd.UNDER, str(HY_SHARE), "reader", str(primary.shared),
                                       "200"], stdout=subprocess.DEVNULL)
            time.sleep(rng.uniform(0, 0.04))  # from before main() to beyond its end
            reader.kill()
            assert reader.wait() in (0, -signal.SIGKILL)
            primary.changes(2)  # whatever it wants a lock or memory for
        assert json.loads(graph("json", primary.shared))[0]["graph"] == "g"
        primary.stop()


@kinds("small", "huge")
def test_a_program_that_is_killed_hurts_no_reader_nor_the_next_program(request, tmp_path, kind):
    rng = random.Random(8)
    for _ in range(KILLS // 3):
        with Primary(tmp_path, memory(request, kind)) as primary:
            reader = subprocess.Popen([*l3fwd.UNDER, str(HY_SHARE), "reader", str(primary.shared),
                                       "1000000000"], stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True)
            time.sleep(rng.uniform(0, 0.04))
        _, err = reader.communicate(timeout=live.WAIT)
        assert reader.returncode == 1, (reader.returncode, err)
        assert NOBODY in err or ENDED in err, err
        done = run(HY_GRAPH, "stats", f"--folder={primary.shared}")
        assert done.returncode == 1 and NOBODY in done.stderr, done
    with Primary(tmp_path, memory(request, kind)) as primary:
        assert graph("list", primary.shared).split() == ["g"]
        primary.stop()


def test_texts_of_a_program_say_nothing_to_a_terminal(tmp_path):
    with Primary(tmp_path, KINDS["small"]) as primary:
        def shown():  # while the node is in the graph: it comes and goes
            table = graph("stats", primary.shared)
            assert "\033" not in table, table
            return re.search(r"(?m)^    counter objs +\d+  That \?\[2J passed$", table)
        live.until(shown, "the node with the text", primary.process)
        primary.stop()


class Forwarding(live.Live):
    """l3fwd-graph that has forwarded all that came, and waits."""

    def __init__(self, rig):
        arrive = frames.traffic("198.18.0.1") + frames.traffic("203.0.113.9", 7)
        options = [*l3fwd.options(1, [(0, 0, 1)]), "--trace=3",
                   f"--export-json={rig.folder}/graph.json"]
        super().__init__(rig, "198.18.0.0/24 port 0 mac 02:00:00:00:00:01\n", options,
                         rig.vdevs([[arrive]]))
        self.folder = rig.folder / "dpdk" / "rte" / "halyard"
        self.wait(lambda: ended(self.graphs()[0]) == 107, "all packets")

    def graphs(self):
        """What hy-graph sees."""
        return json.loads(graph("json", self.folder))


def ended(shown):
    """How many packets are at the end of their way."""
    return sum(node["objs"] for node in shown["nodes"] if not node["edges"])


def steady(shown):
    """A graph without what goes on while no packet comes."""
    del shown["walks"]
    for node in shown["nodes"]:
        if node["source"]:
            del node["sampled"], node["calls"]
    return shown


def test_hy_graph_tells_what_the_program_tells(rig):
    program = Forwarding(rig)
    (seen,) = program.graphs()
    table = graph("stats", program.folder, "--graph=worker-*")
    dot = graph("dot", program.folder)
    trace = graph("trace", program.folder)
    assert graph("list", program.folder) == f"{seen['graph']}\n"
    again = graph("trace", program.folder)
    run_ = program.stop()
    own = json.loads((rig.folder / "graph.json").read_text())
    assert steady(seen) == steady(own)
    assert len(own["nodes"]) == 8
    for node in own["nodes"]:
        line = re.search(rf"(?m)^{re.escape(node['name'])} +(\S+) +(\d+) +(\d+) ", table)
        assert line.group(1) == (node["variant"] or "-"), table
        assert int(line.group(3)) == node["objs"], table
        assert f'"{node["name"]}" [shape=' in dot
        assert f'\\n{node["objs"]}"]' in dot
    assert re.search(r"(?m)^    drop    no_route +7  ", table), table
    # Its own trace has the same words, behind times of another unit.
    words = [re.sub(r" +[\d.]+ (us|cycles)  ", "  ", line) for line in trace.splitlines()]
    own_words = [re.sub(r" +[\d.]+ (us|cycles)  ", "  ", line).replace("packet ", "object ")
                 for line in run_.stdout.splitlines()]
    records = [line for line in words if line.startswith("  ")]
    assert len(records) >= 3 * 5
    assert [line for line in own_words if line in words and line.startswith("  ")] == records
    assert again == trace  # and were left to the program


def test_nobody_is_told_of_a_program_that_has_ended(rig):
    program = Forwarding(rig)
    folder = program.folder
    program.stop()
    for command in ("stats", "json", "dot", "trace", "list"):
        done = run(HY_GRAPH, command, f"--folder={folder}")
        assert done.returncode == 1 and NOBODY in done.stderr, done
        assert done.stdout == ""


def test_the_folder_is_found_by_the_file_prefix(rig):
    program = Forwarding(rig)
    done = run(HY_GRAPH, "list", RUNTIME_DIRECTORY=str(rig.folder))
    assert done.stdout == graph("list", program.folder) != ""
    other = run(HY_GRAPH, "list", "--file-prefix=other", RUNTIME_DIRECTORY=str(rig.folder))
    assert other.returncode == 1
    assert f"{rig.folder}/dpdk/other/halyard: {NOBODY}" in other.stderr
    program.stop()


@pytest.mark.xdist_group("hugepages")
def test_a_secondary_process_reads_its_primary_and_has_no_graph_of_its_own(huge, tmp_path):
    """As hy-graph does, which is no process of EAL's: from other addresses."""
    pcap = frames_file(tmp_path)
    env = dict(os.environ, RUNTIME_DIRECTORY=str(tmp_path))
    eal = ["--huge-dir", str(huge), "--no-pci", "--no-telemetry", "--file-prefix=mp"]
    shared = tmp_path / "dpdk" / "mp" / "halyard"
    with open(tmp_path / "out", "w", encoding="utf-8") as out:
        primary = subprocess.Popen(
            [l3fwd.binary(), *eal, "-l", "0,1", f"--vdev=net_pcap0,rx_pcap={pcap}", "--",
             *l3fwd.options(1, [(0, 0, 1)])], env=env, stdout=out, stderr=subprocess.STDOUT)
    try:
        def graphs():
            done = run(HY_GRAPH, "json", f"--folder={shared}")
            return json.loads(done.stdout) if done.returncode == 0 else []
        (seen,) = live.until(lambda: [g for g in graphs() if ended(g) == 50],
                             "the primary", primary)
        for _ in range(20):
            done = run(HY_SHARE, "secondary", *eal, "--proc-type=secondary", "-l", "0",
                       RUNTIME_DIRECTORY=str(tmp_path))
            # Address space layout randomization may have put something at the primary's addresses.
            if "Cannot preallocate VA space" not in done.stderr:
                break
        assert done.returncode == 0, done
        assert steady(json.loads(done.stdout)) == steady(seen)
        assert "refused in a secondary process" in done.stderr
    finally:
        primary.send_signal(signal.SIGTERM)
        primary.wait(live.WAIT)
    assert primary.returncode == 0, (tmp_path / "out").read_text()


def frames_file(folder):
    """A capture of 50 packets."""
    return pcapfile.write(folder / "in.pcap", frames.traffic("198.18.0.1", 50))


def test_the_command_stands_before_between_or_behind_options(rig):
    program = Forwarding(rig)
    folder, pattern = f"--folder={program.folder}", ("--graph", "worker-*")
    for words in (("list", folder, *pattern), (folder, "list", *pattern),
                  (*pattern, folder, "list"), (folder, *pattern, "--", "list")):
        done = run(HY_GRAPH, *words)
        assert (done.returncode, done.stdout) == (0, "worker-1\n"), done
    done = run(HY_GRAPH, "--file-prefix", "rte", "list", RUNTIME_DIRECTORY=str(rig.folder))
    assert done.stdout == "worker-1\n", done
    program.stop()


REFUSED = {
    (): "hy-graph: a command is required: stats, json, dot, trace, list",
    ("show",): "hy-graph: 'show' is not a command; the commands are: stats, json, dot, trace, list",
    ("stats", "worker-1"): "hy-graph: 'worker-1': stats takes options only",
    ("stats", "--nosuch"): "hy-graph: hy-graph --help lists what is accepted",
    ("list", "--folder=/nonexistent"): f"/nonexistent: {NOBODY}",
    ("list", "--folder="): "the path of the folder has 0 bytes; 1 to 4095 are accepted",
    ("list", f"--folder={'x' * 5000}"): "hy-graph: --folder: the path is too long",
}


@pytest.mark.parametrize("words", REFUSED)
def test_what_is_refused(words):
    done = run(HY_GRAPH, *words)
    assert done.returncode == 1
    assert REFUSED[words] in done.stderr
    assert done.stdout == ""


def test_a_graph_that_is_not_there_is_named(rig):
    program = Forwarding(rig)
    done = run(HY_GRAPH, "dot", f"--folder={program.folder}", "--graph=no-*")
    assert done.returncode == 1
    assert "hy-graph: no graph matches 'no-*'" in done.stderr
    with open("/dev/full", "w", encoding="ascii") as full:
        unwritten = subprocess.run([*l3fwd.UNDER, HY_GRAPH, "stats",
                                    f"--folder={program.folder}"], stdout=full,
                                   stderr=subprocess.PIPE, text=True, check=False)
    assert unwritten.returncode == 1
    assert "hy-graph: standard output: No space left on device" in unwritten.stderr
    program.stop()


def test_options_in_the_book_are_those_of_the_help():
    page = (l3fwd.ROOT / "doc" / "statistics.rst").read_text().partition("What is counted\n")[0]
    done = run(HY_GRAPH, "--help")
    in_book = re.findall(r"(?m)^\.\. option:: +(--?[A-Za-z][A-Za-z-]*.*?) *$", page)
    in_help = re.findall(r"(?m)^  (--?[A-Za-z][A-Za-z-]*(?: [A-Z]+|, -h)?)", done.stdout)
    assert in_book == in_help
    assert len(in_help) == 5
    commands = re.findall(r"(?m)^  ([a-z]+) +\w", done.stdout)
    assert commands == re.findall(r"(?m)^   \* - ``([a-z]+)``$", page)
    assert len(commands) == 5
