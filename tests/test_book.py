# SPDX-License-Identifier: BSD-3-Clause
"""The book tells the truth: its worked example builds and runs, its options and drop reasons are
the program's, and the output that it shows is what the programs print."""

import functools
import gzip
import json
import os
import random
import re
import shutil
import subprocess

import pytest

import l3fwd
import pcapfile
import test_install
from frames import Spec
from l3fwd import SILENT

BOOK = l3fwd.ROOT / "doc"
EXAMPLE = l3fwd.ROOT / "examples" / "ttl-guard"
LENGTHS = [1, 15, 16, 17, 31, 64, 300]  # of captures: whole vectors of the kernel, and tails

pytestmark = pytest.mark.xdist_group("book")
installed = test_install.installed


@functools.cache
def page(name):
    """A page of the book, as text."""
    return (BOOK / f"{name}.rst").read_text()


def block(text, first):
    """The lines of a page's literal block from the one that starts with some words on."""
    (at,) = [m.start() for m in re.finditer(rf"(?m)^   {re.escape(first)}", text)]
    lines = text[at:].split("\n\n", maxsplit=1)[0].rstrip().split("\n")
    return [line.removeprefix("   ") for line in lines]


def test_every_option_is_in_the_book_and_in_the_help(rig):
    usage = rig.run(["--help"], rig.vdevs([SILENT])).stdout
    in_book = re.findall(r"(?m)^\.\. option:: +(--?[A-Za-z][A-Za-z-]*)(.*)$", page("l3fwd-graph"))
    in_help = re.findall(r"(?m)^  (--?[A-Za-z][A-Za-z-]*)(, -h|\S*(?: [A-Z]\S*)?)", usage)
    assert len(in_help) > 10
    assert len(in_book) == len({name for name, _ in in_book})
    # With their arguments, and in the same order.
    assert [n + a.rstrip() for n, a in in_book] == [n + a.rstrip() for n, a in in_help]


def test_drop_reasons_in_the_book_are_those_that_the_program_lists(rig):
    run = rig.forward([SILENT])
    section = page("l3fwd-routes").partition(".. _semantics:")[2].partition("One more reason")[0]
    both, ip6 = (re.findall(r"(?m)^   \* - (\d+)\n     - ``(\w+)``$", part)
                 for part in section.split("For IPv6, these replace the steps 5 to 13:"))
    assert [int(step) for step, _ in both] == list(range(1, len(both) + 1))
    assert [int(step) for step, _ in ip6] == list(range(5, 5 + len(ip6))) != []
    assert {reason for _, reason in both + ip6} == set(run.stats["drops"])
    assert len(set(run.stats["drops"])) > 10


def test_json_keys_in_the_book_are_those_that_the_program_writes(rig):
    policy = f"--policy={rig.write('policy', 'rule 1 class 1')}"
    runs = [rig.forward([SILENT], policy, f"--offload={how}").stats
            for how in ("sim:cnxk,settle_us=1000", "rte_flow")]
    runs.append(rig.forward([SILENT], "--mode=eventdev", eal=["--vdev", "event_sw0"]).stats)
    runs.append(rig.forward([SILENT], "--vlan=0:1").stats)
    runs.append(rig.forward([SILENT], f"--acl-list=a={rig.write('acl', '')}", "--acl=in:0=a",
                            "--acl-offload=sim:cnxk,settle_us=1000").stats)
    runs.append(rig.forward([SILENT], "--mode=dispatch", "--pin=ip4_lookup=2", tx_queues=2,
                            workers=2).stats)
    named = set()
    for row in re.findall(r"(?m)^   \* - (``.*)$", page("l3fwd-json")):
        named |= set(re.findall(r"``([^`]+)``", row))
    written = set()
    for key, value in [item for stats in runs for item in stats.items() if item[1] is not None]:
        several = isinstance(value, list)
        inner = set().union(*value) if several else set(value)
        if key == "dispatch":  # by node
            written.add(key)
            inner = {f"NODE.{k}" for way in value.values() for k in way}
        if key == "acl":  # by list
            inner = {f"LIST.{k}" for made in value.values() for k in made}
        prefix = f"{key}[]" if several else key
        # The keys in drops are reasons, of which another test knows; those in classes are numbers.
        written |= {prefix} if key in ("drops", "classes") else {f"{prefix}.{k}" for k in inner}
        written |= {prefix} if several else set()
    assert named == written


def keys(value, path=""):
    """The paths of all keys in a JSON value: a.b, and a[].b where a holds objects."""
    if isinstance(value, list):
        return set().union(*(keys(item, path) for item in value))
    found = set()
    for key, inner in value.items():
        name = f"{path}.{key}" if path else key
        if isinstance(inner, list) and any(isinstance(item, dict) for item in inner):
            name += "[]"
        found.add(name)
        if isinstance(inner, dict) or name.endswith("[]"):
            found |= keys(inner, name)
    # An empty list may be one of objects elsewhere.
    return {name for name in found if name + "[]" not in found}


def test_keys_of_an_exported_graph_in_the_book_are_those_that_are_written(rig):
    section = page("statistics").partition(".. _graph-json:")[2].partition("All numbers are")[0]
    rows = re.findall(r"(?m)^   \* - (``.*?)( \*)?$", section)
    named = {key for row, _ in rows for key in re.findall(r"``([^`]+)``", row)}
    counted = {key for row, star in rows if star for key in re.findall(r"``([^`]+)``", row)}
    # Rows of two keys, of which only the second is counted.
    counted -= {"nodes[].edges[].to"}
    written = {}
    for words in (["--dry-run"], rig.until_idle()):
        path = rig.folder / "graph.json"
        run = rig.run([*l3fwd.options(1, [(0, 0, 1)]), f"--export-json={path}", *words],
                      rig.vdevs([SILENT]))
        assert run.code == 0, run
        graph = json.loads(path.read_text())
        written[graph["live"]] = keys(graph)
    # No node of this program has wide lanes: what they hold is tested in C.
    assert len({key for key in named if key.startswith("nodes[].counters[]")}) == 6
    wide = {key for key in named if key.endswith("wide_lanes")}
    assert len(wide) == 2
    assert named - wide == written[True] - {"nodes[].counters"}
    assert written[True] - written[False] == counted


def demo_capture(folder):
    """The capture that `make demo` makes: always the same one."""
    path = folder / "in.pcap"
    test_install.run("/usr/bin/python3", l3fwd.ROOT / "tools" / "demo-capture.py", path)
    return path


@pytest.mark.parametrize("name", ["in.pcap.gz", "a'b.pcap"])
def test_demo_takes_any_name_but_no_compressed_capture(tmp_path, name):
    """scapy, which checks it, reads compressed captures; libpcap does not."""
    data, path = demo_capture(tmp_path).read_bytes(), tmp_path / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    done = subprocess.run(["make", "-C", l3fwd.ROOT, "demo", f"BUILD={l3fwd.BUILD}",
                           f"PCAP={path}"], env={**os.environ, "HALYARD_SETUP": "no"},
                          capture_output=True, text=True, check=False, timeout=l3fwd.TIMEOUT)
    if name.endswith(".gz"):
        assert done.returncode != 0, done
        assert f"{path}: is compressed; gunzip it first\n" in done.stderr, done
    else:
        assert done.returncode == 0 and f"\nin     {path}\n" in done.stdout, done


def test_output_in_the_first_chapter_is_what_the_program_prints(rig):
    text = page("start")
    routes = rig.write("demo-routes", "\n".join(block(text, "198.18.1.0/24 port 1")) + "\n")
    silent = "net_pcap{0},tx_pcap={1}/out{0}.pcap"
    vdevs = [f"net_pcap0,rx_pcap={demo_capture(rig.folder)},tx_pcap={rig.folder}/out0.pcap",
             silent.format(1, rig.folder), silent.format(2, rig.folder)]
    run = rig.run(["-p", "0x7", "--config=(0,0,1)", f"--routes={routes}", *rig.until_idle()],
                  [word for vdev in vdevs for word in ("--vdev", vdev)])
    printed = run.stdout.splitlines()
    for first in ("drop reason ", "port 0  net_pcap"):
        expected = block(text, first)
        at = printed.index(expected[0])
        assert printed[at : at + len(expected)] == expected, run
    # Of the nodes, what depends neither on the CPU nor on time: name and packets.
    table = block(text, "node               variant")
    at = printed.index(table[0])
    assert [counts(line) for line in printed[at + 1 : at + len(table)]] == \
           [counts(line) for line in table[1:]], run


def counts(line):
    """Name and packets, of a line of the table of nodes."""
    words = line.split()
    return words[0], words[3]


@pytest.fixture(scope="module")
def example(installed, tmp_path_factory):
    """The worked example, built from a copy as by someone who knows but pkg-config and make."""
    folder = tmp_path_factory.mktemp("example") / "ttl-guard"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("*.o", "ttl-guard"))
    flags = " ".join(["-O2 -g -Wall -Wextra -Werror", *test_install.sanitizer()])
    search = os.pathsep.join(filter(None, [str(installed), os.environ.get("PKG_CONFIG_PATH")]))
    test_install.run("make", "-C", folder, f"CFLAGS={flags}", PKG_CONFIG_PATH=search)
    (libdir,) = test_install.pkg_config(installed, "--variable=libdir")
    yield functools.partial(guard, folder / "ttl-guard", libdir)
    shutil.rmtree(folder)


def packets(ttls):
    """Good IPv4 packets with these times to live."""
    made = []
    for i, ttl in enumerate(ttls):
        spec = Spec(random.Random(i))
        spec.ttl = ttl
        made.append(spec.frame())
    return made


def guard(program, libdir, folder, capture, *options):
    """Runs the example on a capture. Returns what it printed, and the frames that it passed."""
    vdevs = [f"--vdev=net_pcap0,rx_pcap={capture},tx_pcap={folder}/back.pcap",
             f"--vdev=net_pcap1,tx_pcap={folder}/passed.pcap"]
    eal = ["256" if word == "64" else word for word in test_install.EAL]  # -m, in MB
    printed = test_install.run(program, *eal, *vdevs, "--log-level=warning", "--", *options,
                               LD_LIBRARY_PATH=libdir, RUNTIME_DIRECTORY=str(folder))
    return printed, pcapfile.read(folder / "passed.pcap")


def lookup(printed, pattern):
    """The number in a line of the example's output; 0 without such a line."""
    found = re.findall(rf"(?m)^{pattern}$", printed)
    return int(found[0]) if found else 0


@pytest.mark.parametrize("chosen", ["scalar", "avx2"])
def test_example_drops_what_the_minimum_says(example, tmp_path, chosen):
    if chosen == "avx2" and "avx2" in {c["variant"] for c in l3fwd.lookup_candidates()
                                       if c["fate"] == "needs_unmet"}:
        pytest.skip("this CPU cannot run the AVX2 variant")
    compared = 0
    for length, min_ttl in zip(LENGTHS, [128, 0, 255, 64, 2, 1, 129], strict=True):
        ttls = [(i * 5 + min_ttl - 1) % 256 for i in range(length)]  # 5 and 256: every value
        records = packets(ttls)
        capture = pcapfile.write(tmp_path / "in.pcap", records)
        expected = [r for r, ttl in zip(records, ttls, strict=True) if ttl >= min_ttl]
        printed, passed = example(tmp_path, capture, min_ttl, f"ttl_guard={chosen}")
        l3fwd.assert_same_frames(expected, passed, f"{length} frames, minimum {min_ttl}")
        assert lookup(printed, rf"ttl_guard +{chosen} +(\d+) packets") == length, printed
        assert lookup(printed, r" +dropped +(\d+)  ttl_too_low: .*") == length - len(expected)
        compared += length
    assert compared == sum(LENGTHS)


def test_output_of_the_example_in_the_book_is_what_it_prints(example, tmp_path):
    printed, _ = example(tmp_path, demo_capture(tmp_path), 64)
    expected = block(page("writing-a-node"), "ethdev_rx-in ")
    lines = printed.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("ethdev_rx-in"))
    # But for the variant, which depends on the CPU.
    variant = re.compile(r"^((?:pkt_cls|ttl_guard) +)\w+ +")
    assert [variant.sub(r"\1", line) for line in lines[at:]] == \
           [variant.sub(r"\1", line) for line in expected], printed


@pytest.mark.parametrize("words, named", [
    ([], "MIN_TTL"),
    (["256"], "0 to 255"),
    (["64x"], "0 to 255"),
    (["64", "ttl_guard=nosuch"], "scalar"),
    (["64", "nosuch=scalar"], "ttl_guard"),
])
def test_example_refuses_a_bad_command_line(example, tmp_path, words, named):
    capture = pcapfile.write(tmp_path / "in.pcap", packets([64]))
    with pytest.raises(AssertionError, match=re.escape(named)):
        example(tmp_path, capture, *words)
    assert pcapfile.read(tmp_path / "passed.pcap") == []


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["--", "-h"], ["--version"]])
def test_example_answers_help_and_version(example, words):
    program, libdir = example.args
    answer = test_install.run(program, *words, LD_LIBRARY_PATH=libdir)
    assert ("ttl-guard: Halyard " if words == ["--version"] else
            "usage: ttl-guard [EAL options] -- MIN_TTL [FAMILY=VARIANT]...\n") in answer


def test_what_the_book_has_users_type_is_what_the_shell_passes_on():
    """An interactive shell expands ! followed by a word, unless it is in single quotes."""
    typed = 0
    for path in [*BOOK.rglob("*.rst"), l3fwd.ROOT / "README.md"]:
        for number, line in enumerate(path.read_text().splitlines(), 1):
            bare = re.sub(r"'[^']*'", "", line)
            typed += len(re.findall(r"(?<![\w-])--?[a-z][\w-]*[ =]", line))
            assert not re.search(r"--[a-z].*\w![\w]", bare), f"{path}:{number}: {line}"
            assert not re.search(r"at=[\w-]+!", bare), f"{path}:{number}: {line}"
    assert typed > 200


def test_pages_name_no_file_that_is_not_there():
    """Paths of the repository that the book names, in double backquotes."""
    named = set()
    for path in BOOK.rglob("*.rst"):
        named |= set(re.findall(r"``((?:app|doc|drivers|examples|hal|lib|tests|tools)/[^`]*)``",
                                path.read_text()))
    assert named
    missing = sorted(name for name in named if not (l3fwd.ROOT / name).exists())
    assert not missing
