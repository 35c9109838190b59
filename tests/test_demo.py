# SPDX-License-Identifier: BSD-3-Clause
"""tools/demo with a capture of the user's: what is refused leaves all files as they are. And
tools/demo-live."""

import os
import re
import resource
import shutil
import struct
import subprocess

import pytest

import l3fwd
import pcapfile
from frames import traffic
from test_terminal import EVIL, assert_harmless

pytestmark = [
    pytest.mark.skipif(bool(l3fwd.UNDER), reason="the demo runs programs of this CPU"),
    pytest.mark.skipif(shutil.which("dot") is None, reason="graphviz is not installed"),
]


@pytest.fixture(name="build")
def build_folder(tmp_path):
    """A build folder of its own, so that results of others stay."""
    l3fwd.binary()
    folder = tmp_path / "build"
    folder.mkdir()
    (folder / "examples").symlink_to(l3fwd.BUILD / "examples")
    return folder


def demo(build, *capture, cwd=None, **how):
    """Runs the demo."""
    return subprocess.run([l3fwd.ROOT / "tools" / "demo", build, *capture], capture_output=True,
                          text=True, check=False, timeout=l3fwd.TIMEOUT, cwd=cwd, **how)


def results(build):
    """What the demo has left, with the content."""
    return {path.name: path.read_bytes() for path in (build / "demo").iterdir()}


def pcapng(frames):
    """The bytes of a pcapng file."""
    def block(kind, body):
        size = len(body) + 12
        return struct.pack("<II", kind, size) + body + struct.pack("<I", size)

    packets = [block(6, struct.pack("<5I", 0, 0, 0, len(f), len(f)) + f + bytes(-len(f) % 4))
               for f in frames]
    return (block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
            + block(1, struct.pack("<HHI", 1, 0, 65535)) + b"".join(packets))


def test_capture_among_the_results_is_refused_and_stays(build):
    capture = pcapfile.write(build / "in.pcap", traffic("10.1.2.3"))
    assert demo(build, capture).returncode == 0
    before = results(build)
    assert {"out1.pcap", "out2.pcap", "graph.svg"} <= set(before)
    link = build / "link.pcap"
    link.symlink_to(build / "demo" / "out1.pcap")
    for path in (build / "demo" / "out1.pcap", link):
        done = demo(build, path)
        assert done.returncode == 1 and "out1.pcap: is in the folder" in done.stderr, done
        assert results(build) == before


def test_capture_that_is_refused_leaves_earlier_results(build):
    assert demo(build, pcapfile.write(build / "in.pcap", traffic("10.1.2.3"))).returncode == 0
    (build / "demo" / "notes").write_text("mine")
    before = results(build)
    text, empty, folder = build / "text", build / "empty", build / "folder"
    text.write_text("no capture")
    empty.touch()
    folder.mkdir()
    for path in (text, empty, folder, build / "absent", "/dev/zero"):
        done = demo(build, path)
        assert done.returncode != 0 and str(path) in done.stderr, done
        assert results(build) == before, path
    assert demo(build).returncode == 0
    assert results(build)["notes"] == b"mine"


@pytest.mark.parametrize("form", ["pcap", "pcapng"])
def test_capture_that_is_cut_is_told_and_whole_packets_are_forwarded(build, form):
    frames = traffic("10.1.2.3", 5)
    path = build / f"cut.{form}"
    if form == "pcap":
        data, head = pcapfile.write(path, frames).read_bytes(), 16
    else:
        data, head = pcapng(frames), 12
    last = len(data) - head - len(frames[-1]) - (16 if form == "pcapng" else 0)
    for left in (len(data) - 1, last + head + 1, last + 5):
        path.write_bytes(data[:left])
        done = demo(build, path)
        assert done.returncode == 0, done
        assert f"{path}: is cut inside packet 5; the 4 before it are forwarded" in done.stderr, done
        assert len(pcapfile.read(build / "demo" / "out1.pcap")) == 4, done
    first = data.index(frames[0]) + 7
    path.write_bytes(data[:first])
    done = demo(build, path)
    assert done.returncode == 1 and "is cut inside its first packet" in done.stderr, done
    path.write_bytes(data)
    done = demo(build, path)
    assert done.returncode == 0 and "is cut" not in done.stderr, done
    assert len(pcapfile.read(build / "demo" / "out1.pcap")) == 5, done


def test_name_of_a_capture_does_not_reach_the_terminal(build):
    name = f"in{EVIL}.pcap"
    pcapfile.write(build / name, traffic("10.1.2.3"))
    done = demo(build, name, cwd=build)
    assert done.returncode == 0 and len(done.stdout) > 200, done
    assert_harmless(done.stdout.replace("\t", " "))
    shutil.copy(build / name, build / "demo" / name)
    done = demo(build, build / "demo" / name)
    assert done.returncode == 1 and "is in the folder of the demo's results" in done.stderr, done
    assert_harmless(done.stderr)


@pytest.mark.parametrize("name", ["-dash.pcap", "a b.pcap", "a,b.pcap", "a\nb.pcap", "'$(x).pcap"])
def test_capture_may_have_any_name(build, name):
    """One that began with a dash was taken for an option."""
    pcapfile.write(build / name, traffic("10.1.2.3"))
    done = demo(build, name, cwd=build)
    assert done.returncode == 0, done
    assert len(pcapfile.read(build / "demo" / "out1.pcap")) == 100, done


# Bytes that a file may have, of what it would have.
NO_ROOM = {"out1.pcap": (20000, 54000), "graph.svg": (4096, 6000), "in.pcap": (65536, 90000)}


@pytest.mark.parametrize("name", NO_ROOM)
def test_result_that_finds_no_room_is_named(build, name):
    """net_pcap and dot lose what they cannot write, and the demo was called a success."""
    most, whole = NO_ROOM[name]
    frames = traffic("10.1.2.3", 1000 if name == "out1.pcap" else 10)
    capture = [] if name == "in.pcap" else [pcapfile.write(build / "in.pcap", frames)]

    def limit():  # a write beyond it fails, as Python ignores SIGXFSZ
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    done = demo(build, *capture, preexec_fn=limit, restore_signals=False)
    assert done.returncode == 1, done
    assert done.stderr.splitlines()[-1].startswith(f"{build}/demo/{name}: "), done
    assert "Traceback" not in done.stderr, done
    assert (build / "demo" / name).stat().st_size <= most
    done = demo(build, *capture)
    assert done.returncode == 0 and (build / "demo" / name).stat().st_size > whole, done


def namespaces():
    """Network namespaces that have names."""
    return set(os.listdir("/run/netns")) if os.path.isdir("/run/netns") else set()


def assert_switches(text):
    """What the demo of two switches says: a rule that drops ping was met by all of it, and by none later."""
    said = text.partition("A rule that drops ping\n")[2]
    dropped, _, passed = said.partition("Without the rule\n")
    assert "5 packets transmitted, 0 received, 100% packet loss" in dropped, text
    assert "\n  Operations: drop\n" in dropped and ">> to tunnel 10 (vx)" not in dropped, text
    counts = re.findall(r"n_packets=(\d+),.* actions=(\S+)$", dropped, re.M)
    assert [actions for _, actions in counts] == ["drop", "set_tunnel:0x64,output:10", "output:1"], text
    assert counts[0][0] == "5" and min(int(n) for n, _ in counts[1:]) > 100, text
    assert ">> to tunnel 10 (vx)" in passed and "Operations: drop" not in passed, text
    ends = re.findall(r"n_packets=(\d+),.* actions=\S+$", passed, re.M)
    assert len(ends) == 4 and min(map(int, ends)) > 200, text
    assert re.search(r"^no_output +5 ", passed, re.M) and "drop reason" in passed, text
    sums = re.findall(r"^total +rx (\d+) = tx (\d+) \+ dropped (\d+)$", passed, re.M)
    assert len(sums) == 2 and [lost for *_, lost in sums] == ["5", "0"], text


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make network namespaces")
@pytest.mark.skipif(None in map(shutil.which, ("ip", "ethtool", "iperf3", "ping", "nsenter")),
                    reason="iproute2, ethtool, iperf3, iputils-ping or util-linux is not installed")
def test_live_demo_routes_bridges_and_switches_and_leaves_nothing_behind():
    if subprocess.run(["unshare", "--net", "true"], check=False).returncode != 0:
        pytest.skip("network namespaces cannot be made here")
    for program in (l3fwd.L2FWD, l3fwd.VSWITCH):
        l3fwd.binary(program)
    before = namespaces()
    done = subprocess.run([l3fwd.ROOT / "tools" / "demo-live", l3fwd.BUILD], capture_output=True,
                          text=True, check=False, timeout=l3fwd.TIMEOUT)
    assert done.returncode == 0, done
    assert done.stdout.count("100 packets transmitted, 100 received, 0% packet loss") == 5, done
    tagged = re.search(r"^  (\d+) frames came, each with the tag of VLAN 10$", done.stdout, re.M)
    assert tagged and int(tagged[1]) > 100, done
    sums = [tuple(map(int, found)) for found in re.findall(
        r"^total +rx (\d+)(?: \+ copied (\d+))? = tx (\d+) \+ dropped (\d+)$",
        done.stdout, re.M) if found[1]]
    assert len(sums) == 1 and sums[0][1] >= 2, done
    assert "bridge: 3 of 65536 entries" in done.stdout and done.stdout.count("none leaked") == 4, done
    assert_switches(done.stdout)
    assert namespaces() - before == set(), "namespaces are left"
