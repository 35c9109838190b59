# SPDX-License-Identifier: BSD-3-Clause
"""A program with a table of flows, end to end: the packets of captures and generated ones, through every
mode of its caches, each held against the rules where it leaves."""

import functools
import os
import random
import struct
import subprocess

import pytest

import l3fwd
import pcapfile

PROGRAM = l3fwd.BUILD / "app" / "test" / "hy-test-flow-program"
PACKETS = 60_000  # of each source, at least
# Whether there is a cache of frames; exact cache and index, as numbers of their enums.
MODES = [(0, 0, 0), (0, 1, 0), (0, 2, 1), (0, 0, 2), (0, 1, 3), (0, 0, 3), (0, 0, 4), (0, 2, 4), (1, 0, 0), (1, 1, 4)]


def ip4(rng, flow):
    """A frame of a flow: UDP or TCP, from networks that rules name and others, at times a fragment."""
    rnd = random.Random(flow)
    proto = rnd.choice((6, 17, 17, 47))
    src = rnd.choice((0x0A000000, 0xC0A80000)) | rnd.randrange(1 << 16)
    fragment = rng.choice((0,) * 30 + (0x2000, 0x00B9))
    ports = struct.pack("!HH", rnd.randrange(1024, 65536), rnd.choice((53, 80, 443)))
    rest = struct.pack("!LLBBHHH", 1, 0, 0x50, rng.choice((0x02, 0x10, 0x12)), 8192, 0, 0)
    header = struct.pack("!BBHHHBBHLL", 0x45, 0, 20 + len(ports + rest), 0, fragment, 64, proto, 0,
                         src, 0xC6120001 + flow)
    return bytes.fromhex("020000000001020000000002") + b"\x08\x00" + header + ports + rest


def generated():
    """Frames of a thousand flows, and some that are random bytes."""
    rng = random.Random(21)
    return [ip4(rng, int(rng.paretovariate(0.5)) % 1000) if rng.random() < 0.99
            else rng.randbytes(rng.randrange(14, 200)) for _ in range(PACKETS)]


@functools.cache
def repeated(paths):
    """All frames of captures, again and again."""
    frames = []
    for path in paths:
        try:
            frames += pcapfile.read(path)
        except pcapfile.PcapError:
            continue  # another link type
    assert len(frames) > 1000
    return [frame for frame in frames if frame] * (PACKETS // len(frames) + 1)


def run(mode, *files):
    """What the program printed, after checks that hold for all of its runs."""
    vdevs = [f"--vdev=net_pcap{i},rx_pcap={file}" for i, file in enumerate(files)]
    done = subprocess.run(
        [*l3fwd.UNDER, PROGRAM, "--no-huge", "-m", "512", "--no-pci", "--no-telemetry",
         "--log-level=warning", f"--file-prefix=flow-{os.getpid()}", "-l", "0", *vdevs, "--",
         *map(str, mode)], capture_output=True, text=True, timeout=l3fwd.TIMEOUT, check=False)
    assert done.returncode == 0, done
    said = {name: int(value) for name, value in map(str.split, done.stdout.splitlines())}
    lookup = {name.partition(".")[2]: value for name, value in said.items()
              if name.startswith("flow_lookup-0.")}
    again = sum(said[f"flow_reinject-0.{drop}"] for drop in ("denied", "no_edge", "flow_deleted"))
    assert said["wrong"] == 0 and said["in_use"] == 0, said
    assert said["received"] == said["main"] + said["side"] + said["drop"], said
    assert said["drop"] == lookup["denied"] + lookup["upcall_full"] + again, said
    assert said["unasked"] <= lookup["upcall_full"], said
    hits = [lookup[f"{level}_hits"] for level in ("frame", "exact", "index", "mask")]
    assert sum(hits) + lookup["misses"] == said["received"], said
    assert lookup["upcalls"] + lookup["upcall_full"] >= lookup["misses"] > 0, said
    return said, hits


@pytest.fixture(scope="module")
def file_of_generated(tmp_path_factory):
    return pcapfile.write(tmp_path_factory.mktemp("flows") / "generated.pcap", generated())


def levels_are_those_of(mode, hits):
    *levels, masks = hits
    assert [level > 0 for level in levels] == [choice != 0 for choice in mode], (mode, hits)
    assert masks > 0, (mode, hits)


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: "-".join(map(str, mode)))
def test_generated_packets_go_where_the_rules_say(file_of_generated, mode):
    said, hits = run(mode, file_of_generated)
    assert said["received"] == PACKETS, said
    assert min(said["main"], said["side"], said["drop"]) > 500, said
    levels_are_those_of(mode, hits)


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: "-".join(map(str, mode)))
def test_captured_packets_go_where_the_rules_say(tmp_path, captures, file_of_generated, mode):
    """Beside generated ones from another port."""
    frames = repeated(tuple(captures))
    file = pcapfile.write(tmp_path / "captured.pcap", frames)
    said, hits = run(mode, file, file_of_generated)
    assert said["received"] == PACKETS + len(frames), said
    levels_are_those_of(mode, hits)
