# SPDX-License-Identifier: BSD-3-Clause
"""Plugins: the pack in examples/ is built as by its author and forwards; whatever is wrong with a
plugin is refused with a sentence that names the file and the reason, and nothing is forwarded."""

import os
import shutil
import struct
import subprocess
import tempfile
from pathlib import Path

import pytest

import frames
import l3fwd
import oracle
import pcapfile
import test_book
import test_install
from frames import traffic
from l3fwd import SILENT

EXAMPLE = l3fwd.ROOT / "examples" / "out-of-tree-pack"
KEPT_MAX, KEPT_BYTES = 1024, 128  # as pkt_drop_keep.c has them

pytestmark = pytest.mark.xdist_group("plugin")
installed = test_install.installed


def private(path):
    """Whether nobody but root and we can change what is in a folder."""
    found = [folder.stat() for folder in (path, *path.parents)]
    return all(not st.st_mode & 0o002 and st.st_uid in (0, os.geteuid()) for st in found)


@pytest.fixture(scope="module")
def folder():
    """A folder that plugins may be loaded from. pytest's own are below /tmp."""
    parents = [l3fwd.BUILD, l3fwd.ROOT, Path.home(), Path("/var/lib")]
    parent = next(p for p in map(Path.resolve, parents) if private(p) and os.access(p, os.W_OK))
    path = Path(tempfile.mkdtemp(prefix="hy-test-", dir=parent))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


def flags():
    return " ".join(["-O2 -g -Wall -Wextra -Werror", *test_install.sanitizer()])


@pytest.fixture(scope="module")
def pack(installed, folder):
    """The example, built by its own Makefile from a copy."""
    source = folder / "out-of-tree-pack"
    shutil.copytree(EXAMPLE, source, ignore=shutil.ignore_patterns("*.o", "*.so"))
    search = os.pathsep.join(filter(None, [str(installed), os.environ.get("PKG_CONFIG_PATH")]))
    test_install.run("make", "-C", source, f"CFLAGS={flags()}", PKG_CONFIG_PATH=search)
    return source / "example-pack.so"


@pytest.fixture
def changed(pack, folder):
    """Makes a copy of the pack with other bytes."""
    path = folder / "changed.so"

    def change(edit=lambda data: data):
        data = bytearray(pack.read_bytes())
        path.write_bytes(edit(data) or data)
        path.chmod(0o755)
        return path

    yield change
    path.unlink(missing_ok=True)


def assert_refused(rig, path, sentence, *before):
    """Asserts that l3fwd-graph refuses a plugin with this sentence and nothing else, and forwards
    nothing."""
    run = rig.forward([[traffic("198.18.1.1")], SILENT], *before, f"--pack={path}")
    said = [line for line in run.stderr.splitlines() if not line.startswith("EAL: ")]
    assert said[-1:] == [f"l3fwd-graph: --pack: '{Path(path).resolve()}': {sentence}"], run
    assert run.code == 1, run
    assert run.stdout == "", run
    assert run.wrote_packets() == [], run
    return said[:-1]


def keep(rig, pack, records, monkeypatch):
    """Forwards with the pack's pkt_drop. Returns the run, and what it wrote of dropped packets."""
    monkeypatch.setenv("DROPS_DIR", str(rig.folder))
    run = rig.forward([[records], SILENT, SILENT], f"--pack={pack}", "--node=pkt_drop=keep",
                      rig.routes(frames.ROUTES))
    assert run.node("pkt_drop")["variant"] == "keep", run
    expected = oracle.forward(records, frames.ROUTES, run.macs)
    assert run.assert_agrees(expected) == len(records)
    dropped = [frame[:KEPT_BYTES] for frame, what in zip(records, expected.verdicts, strict=True)
               if not isinstance(what, oracle.Forwarded)]
    kept = pcapfile.read(rig.folder / "drops-worker-1.pcap")
    assert run.node("pkt_drop")["objs"] == len(dropped), run
    return dropped, kept


def test_variant_of_a_plugin_keeps_what_is_dropped(rig, pack, monkeypatch):
    made = [f.data for f in frames.generate(7)]
    records = made[:1000]
    dropped, kept = keep(rig, pack, records, monkeypatch)
    # Within a burst, those come first that an earlier node dropped.
    assert sorted(kept) == sorted(dropped)
    assert 300 < len(kept) <= KEPT_MAX


def test_variant_of_a_plugin_keeps_the_last_packets_only(rig, pack, monkeypatch):
    # Dropped by one node, so that they stay in order: each has an address of its own.
    records = []
    for i in range(3000):
        frame = bytearray(traffic("198.18.1.1", 1)[0])
        frame[6:12] = i.to_bytes(6, "big")
        frame[12:14] = b"\x86\xdd"
        records.append(bytes(frame))
    dropped, kept = keep(rig, pack, records, monkeypatch)
    assert len(dropped) == 3000
    assert l3fwd.assert_same_frames(dropped[-KEPT_MAX:], kept, "kept") == KEPT_MAX


def test_init_of_a_plugins_node_can_refuse(rig, pack, monkeypatch):
    monkeypatch.setenv("DROPS_DIR", "/nonexistent")
    run = rig.forward([[traffic("198.18.1.1")], SILENT], f"--pack={pack}",
                      "--node=pkt_drop=keep")
    assert run.code == 1, run
    assert "node 'pkt_drop'" in run.stderr, run
    assert "/nonexistent/drops-worker-1.pcap: No such file or directory" in run.stderr, run
    assert run.wrote_packets() == []


def test_variant_of_a_plugin_with_a_low_score_is_not_chosen(rig, pack):
    run = rig.forward([[traffic("198.18.1.1")], SILENT], f"--pack={pack}")
    assert run.node("pkt_drop")["variant"] == "scalar", run
    assert run.stats["totals"] == {"rx": 100, "copied": 0, "tx": 100, "dropped": 0}


def test_explain_says_what_the_book_says(rig, pack):
    command = [*l3fwd.options(1, [(0, 0, 1)]), f"--pack={pack}", "--node=pkt_drop=keep"]
    run = rig.run([*command, "--explain"], rig.vdevs([SILENT]))
    assert run.code == 0, run
    expected = test_book.block(test_book.page("plugins"), "pack example")
    assert len(expected) == 3
    for line in expected:
        assert line.replace("/opt/packs/example-pack.so", str(pack)) in run.stdout.splitlines()
    explained = l3fwd.explain(rig.folder, f"--pack={pack}", "--node=pkt_drop=keep")
    chosen = l3fwd.selection(explained, "pkt_drop")["candidates"][0]
    assert (chosen["variant"], chosen["pack"]) == ("keep", "example")


def test_symbolic_link_is_resolved(rig, pack, tmp_path):
    link = tmp_path / "pack.so"
    link.symlink_to(pack)
    run = rig.forward([[traffic("198.18.1.1")], SILENT], f"--pack={link}")
    assert run.stats["totals"] == {"rx": 100, "copied": 0, "tx": 100, "dropped": 0}


def note(data):
    """Where the descriptor is."""
    return data.index(b"\1\0\0\0Halyard\0") + 12


def put(at, value, size=4):
    """Writes a number; at may be a function of the file."""

    def edit(data):
        offset = at(data) if callable(at) else at
        data[offset : offset + size] = value.to_bytes(size, "little")

    return edit


def dpdk(data):
    """The release that the pack was built for: year and month."""
    at = note(data)
    return data[at + 7], data[at + 6]


NOT_ELF = "it is no ELF file, or is cut off in its header"

# What is wrong: how a good plugin is changed.
DAMAGED = {
    "nothing in it": (lambda data: data.clear(), NOT_ELF),
    "a text": (lambda data: bytearray(b"#!/bin/sh\n"), NOT_ELF),
    "four bytes": (lambda data: data[:4], NOT_ELF),
    "half a header": (lambda data: data[:40], NOT_ELF),
    "half its program headers": (lambda data: data[:100], "it is cut off in its program headers"),
    "another ABI": (put(note, 7), "it was built for ABI 7 of Halyard; accepted: 1"),
    "no HY_PLUGIN()": (lambda data: data.replace(b"Halyard\0", b"Halyarx\0"),
                       "it is no plugin: it has no HY_PLUGIN()"),
    "a program": (put(16, 2, 2), "it is no shared object; build it with -shared -fPIC"),
}


@pytest.mark.parametrize("case", DAMAGED, ids=lambda name: name.replace(" ", "-"))
def test_damaged_plugin_is_refused(rig, changed, case):
    edit, sentence = DAMAGED[case]
    said = assert_refused(rig, changed(edit), sentence)
    assert said == []


@pytest.mark.parametrize("at, size, value", [(4, 1, 1), (5, 1, 2), (18, 2, 40)],
                         ids=["32-bit", "big-endian", "32-bit-arm"])
def test_plugin_for_another_machine_is_refused(rig, changed, pack, at, size, value):
    native = pack.read_bytes()
    ours = [native[4], native[5], int.from_bytes(native[18:20], "little")]
    field = {4: 0, 5: 1, 18: 2}[at]
    theirs = [*ours]
    theirs[field] = value
    if at == 5:
        theirs[2] = int.from_bytes(native[18:20], "big")
    assert_refused(rig, changed(put(at, value, size)),
                   "it is for another machine: ELF class {}, data {}, machine {}; "
                   "accepted: {}, {}, {}".format(*theirs, *ours))


@pytest.mark.parametrize("years, months", [(1, 0), (-1, 0), (0, 1)])
def test_plugin_for_another_release_of_dpdk_is_refused(rig, changed, pack, years, months):
    year, month = dpdk(pack.read_bytes())

    def edit(data):
        data[note(data) + 7], data[note(data) + 6] = year + years, month + months

    assert_refused(rig, changed(edit),
                   f"it was built for DPDK {year + years:02}.{month + months:02}; "
                   f"accepted: {year:02}.{month:02}")


def test_cut_off_plugin_is_refused(rig, changed):
    path = changed(lambda data: data[: note(data) + 300])
    run = rig.forward([[traffic("198.18.1.1")], SILENT], f"--pack={path}")
    assert run.code == 1, run
    assert f"'{path}': it is cut off: segment " in run.stderr, run
    assert f"the file ends at byte {path.stat().st_size}\n" in run.stderr, run


NOTE, DYNAMIC, LOAD = 4, 2, 1
HUGE = 3 << 30


def grown(*types):
    """Makes segments of a 64-bit plugin huge: the last one of each of these types."""

    def edit(data):
        (start,), (n,) = struct.unpack_from("=Q", data, 32), struct.unpack_from("=H", data, 56)
        at = {data[start + 56 * i]: start + 56 * i for i in range(n)}
        for kind in types:
            struct.pack_into("=Q", data, at[kind] + 32, HUGE >> (kind == DYNAMIC))

    return edit


@pytest.mark.parametrize("types, sentence", [
    ([NOTE], f"it has {HUGE} bytes of notes; accepted: at most {1 << 20}"),
    ([LOAD, DYNAMIC], "what it or a library of it has for the dynamic linker is damaged"),
], ids=["notes", "tags"])
def test_plugin_is_not_read_into_memory_as_a_whole(rig, changed, types, sentence):
    """A damaged header in a large file: gigabytes were read, and SIGTERM had to wait."""
    path = changed(grown(*types))
    os.truncate(path, 2 * HUGE)
    said = assert_refused(rig, path, sentence)
    assert said == []


def test_file_that_everyone_may_write_is_refused(rig, changed):
    path = changed()
    path.chmod(0o757)
    assert_refused(rig, path, f"'{path}' can be written by everyone; neither the file nor a folder "
                              "above it may be")
    path.chmod(0o775)  # a group is somebody's decision
    run = rig.forward([[traffic("198.18.1.1")], SILENT], f"--pack={path}")
    assert run.stats["totals"]["tx"] == 100


@pytest.mark.parametrize("mode", [0o777, 0o1777], ids=["open", "sticky"])
def test_folder_that_everyone_may_write_is_refused(rig, pack, folder, mode):
    wide = folder / f"wide-{mode:o}"
    inner = wide / "inner"
    inner.mkdir(parents=True)
    wide.chmod(mode)
    path = shutil.copy(pack, inner / "pack.so")
    assert_refused(rig, path, f"'{wide}' can be written by everyone; neither the file nor a folder "
                              "above it may be")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize("what", ["file", "folder"])
def test_what_belongs_to_somebody_else_is_refused(rig, pack, folder, what):
    other = folder / f"other-{what}"
    other.mkdir()
    path = Path(shutil.copy(pack, other / "pack.so"))
    theirs = path if what == "file" else other
    os.chown(theirs, 12345, -1)
    assert_refused(rig, path, f"'{theirs}' belongs to user 12345; accepted: root and user 0, who "
                              "runs this")


def test_folder_and_missing_file_are_refused(rig, folder):
    assert_refused(rig, folder, "it is no regular file")
    assert_refused(rig, folder / "nosuch.so", "No such file or directory")


def test_plugin_that_is_named_twice_is_refused(rig, pack, changed):
    assert_refused(rig, pack, "it is loaded already", f"--pack={pack}")
    assert_refused(rig, changed(), f"a plugin 'example' is loaded already, from '{pack}'",
                   f"--pack={pack}")


def test_plugin_is_not_written_over_while_it_is_loaded(rig, changed):
    path = changed()
    before = path.read_bytes()
    run = rig.forward([[traffic("198.18.1.1")], SILENT], f"--pack={path}", f"--export-dot={path}")
    assert (run.code, path.read_bytes() == before) == (1, True), run
    assert run.stderr.splitlines()[-1] == (
        f"l3fwd-graph: --export-dot: {path}: is the file of --pack, which is read"), run


@pytest.mark.parametrize("output", ["--json={}", "--dump-routes={}", "--capture={},at=pkt_cls"])
def test_plugin_of_the_environment_is_not_written_over_while_it_is_loaded(rig, changed, output):
    """It was emptied under the program, which died of SIGBUS."""
    path = changed()
    before = path.read_bytes()
    rig.env = {"HALYARD_PACKS": str(path)}
    run = rig.run([*l3fwd.options(1, [(0, 0, 1)]), "--until-idle=50", output.format(path)],
                  rig.vdevs([SILENT]))
    assert (run.code, path.read_bytes() == before) == (1, True), run
    assert "is the file of a loaded library, which is read\n" in run.stderr, run


def test_plugin_of_the_environment_is_not_written_over_by_hy_hal(changed):
    path = changed()
    before = path.read_bytes()
    done = subprocess.run([l3fwd.BUILD / "app" / "hy-hal" / "hy-hal", "report", "--quick", path],
                          capture_output=True, text=True, check=False, timeout=l3fwd.TIMEOUT,
                          env=dict(os.environ, HALYARD_PACKS=str(path)))
    assert (done.returncode, path.read_bytes() == before) == (1, True), done
    assert "is the file of a loaded library, which is read\n" in done.stderr, done


def shared(installed, path, code, *link):
    """Builds a shared object of this code."""
    source = path.with_suffix(".c")
    source.write_text(code)
    test_install.run(os.environ.get("CC", "cc"), "-std=gnu11", "-fPIC", "-shared", *flags().split(),
                     *test_install.pkg_config(installed, "--cflags"), source, "-o", path, *link)
    return path


NODE = """
#include <hy_node.h>
#include <hy_plugin.h>

HY_PLUGIN("faulty", "1", "For a test");

static uint16_t
take(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(node);
	hy_release(graph, objs, n);
	return n;
}

static const struct hy_node_desc fine = { .name = "fine", .impl.process = take };
HY_NODE_REGISTER(fine)
"""

KEPT = "nothing of the plugin was kept"

# What else the plugin does: (code, the loader's sentence, what a node's refusal logs before).
FAULTY = {
    "a symbol that is nowhere": (
        "void nosuch(void); RTE_INIT(call) { nosuch(); }", "undefined symbol: nosuch", None),
    "a node whose name is taken": (
        'static const struct hy_node_desc d = { .name = "pkt_drop", .impl.process = take };'
        "HY_NODE_REGISTER(d)",
        f"registration of 'pkt_drop' failed: the name is taken; {KEPT}",
        "halyard: node 'pkt_drop': the name is taken"),
    "a node without a name": (
        "static const struct hy_node_desc d = { .impl.process = take }; HY_NODE_REGISTER(d)",
        f"registration of '(null)' failed: its declaration is malformed; {KEPT}",
        "halyard: node '(null)': a name is 1 to 63 of A-Z a-z 0-9 _ . -"),
    "a family that there is": (
        'HY_NODE_FAMILY(mine, .node = { .name = "ip4_lookup",'
        '.impl = { .variant = "mine", .process = take } });',
        f"registration of 'mine' failed: the name is taken; {KEPT}",
        "halyard: node 'ip4_lookup': the name is taken"),
    "a variant that there is": (
        "HY_NODE_VARIANT(ip4_lookup, scalar, .impl.process = take);",
        f"registration of 'ip4_lookup/scalar' failed: the name is taken; {KEPT}", None),
    "a variant that does nothing": (
        "HY_NODE_VARIANT(ip4_lookup, idle, .score = 1);",
        f"registration of 'ip4_lookup/idle' failed: its declaration is malformed; {KEPT}", None),
}


@pytest.mark.parametrize("case", FAULTY, ids=lambda name: name.replace(" ", "-"))
def test_plugin_that_cannot_be_registered_whole_is_refused(rig, installed, folder, case):
    code, sentence, logged = FAULTY[case]
    source, path = folder / "faulty.c", folder / "faulty.so"
    source.write_text(NODE + code)
    test_install.run(os.environ.get("CC", "cc"), "-std=gnu11", "-fPIC", "-shared", *flags().split(),
                     *test_install.pkg_config(installed, "--cflags"), source, "-o", path)
    said = assert_refused(rig, path, sentence)
    assert said == ([logged] if logged else [])


def test_plugin_built_with_other_headers_is_refused_before_its_code_runs(rig, installed, folder):
    """Its nodes would take their streams for their contexts: of the same size, in another order."""
    include = Path(test_install.pkg_config(installed, "--variable=includedir")[0])
    marker = folder / "constructor-ran"
    source, path = folder / "layout.c", folder / "layout.so"
    source.write_text(NODE + f'''
#include <stdio.h>
RTE_INIT(run) {{ fclose(fopen("{marker}", "w")); }}
''')
    changed = folder / "include"
    shutil.copytree(next(p.parent for p in include.rglob("hy_graph_worker.h")), changed)
    build = [os.environ.get("CC", "cc"), "-std=gnu11", "-fPIC", "-shared", *flags().split(),
             f"-I{changed}", *test_install.pkg_config(installed, "--cflags"), source, "-o", path]
    test_install.run(*build)
    run = rig.forward([[traffic("198.18.1.1")], SILENT], f"--pack={path}")
    assert (run.stats["totals"]["tx"], marker.exists()) == (100, True), run
    marker.unlink()
    header = changed / "hy_graph_inline.h"
    text = header.read_text()
    lines = text.splitlines(keepends=True)
    at = next(i for i, line in enumerate(lines) if line.startswith("\tvoid *ctx;"))
    assert lines[at + 1].startswith("\tvoid **stream;")
    lines[at], lines[at + 1] = lines[at + 1], lines[at]
    header.write_text("".join(lines))
    test_install.run(*build)
    assert_refused(rig, path, "it was built with other headers of Halyard: hy_node.ctx is 16 "
                              "there; accepted: 8")
    assert not marker.exists()


def test_plugin_built_with_another_contract_of_a_family_is_refused(rig, installed, folder):
    """A variant reads what the family's init has filled in: here, the view of a table."""
    include = Path(test_install.pkg_config(installed, "--variable=includedir")[0])
    source, path, changed = folder / "view.c", folder / "view.so", folder / "view-include"
    source.write_text(NODE + "#include <hy_ip4_lookup.h>\n")
    shutil.copytree(next(p.parent for p in include.rglob("hy_graph_worker.h")), changed)
    build = [os.environ.get("CC", "cc"), "-std=gnu11", "-fPIC", "-shared", *flags().split(),
             f"-I{changed}", *test_install.pkg_config(installed, "--cflags"), source, "-o", path]
    test_install.run(*build)
    run = rig.forward([[traffic("198.18.1.1")], SILENT], f"--pack={path}")
    assert run.stats["totals"]["tx"] == 100, run
    header = changed / "hy_ip4_view.h"
    text = header.read_text()
    member = "\tstruct hy_ip4_copy *copy;\n"
    assert text.count(member) == 1
    header.write_text(text.replace(member, member + "\tvoid *more;\n"))
    test_install.run(*build)
    assert_refused(rig, path, "it was built with other headers of Halyard: struct hy_ip4_view is "
                              "48 there; accepted: 40")


def test_variant_with_an_unknown_engine_is_refused(rig, installed, folder):
    source, path = folder / "engine.c", folder / "engine.so"
    source.write_text(NODE + 'HY_NODE_VARIANT(ip4_lookup, typo, .impl.process = take,'
                             '.engine = "rte_fob");')
    test_install.run(os.environ.get("CC", "cc"), "-std=gnu11", "-fPIC", "-shared", *flags().split(),
                     *test_install.pkg_config(installed, "--cflags"), source, "-o", path)
    run = rig.forward([[traffic("198.18.1.1")], SILENT], f"--pack={path}",
                      "--node=ip4_lookup=typo")
    assert run.code == 1, run
    assert ("reads tables of engine 'rte_fob'; accepted: rte_lpm, rte_fib, "
            "rte_fib_avx512") in run.stderr, run
    assert run.wrote_packets() == []


def test_plugin_without_a_node_is_refused(rig, installed, folder):
    source, path = folder / "empty.c", folder / "empty.so"
    source.write_text(NODE.partition("static")[0])
    test_install.run(os.environ.get("CC", "cc"), "-std=gnu11", "-fPIC", "-shared", *flags().split(),
                     *test_install.pkg_config(installed, "--cflags"), source, "-o", path)
    assert_refused(rig, path, "it registers no node, family or variant")
