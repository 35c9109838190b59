# SPDX-License-Identifier: BSD-3-Clause
"""examples/reflect, the book's program on lib/runtime: built by meson, and outside of the tree against
the installed library. Its frames come back swapped and counted, none is lost, no buffer leaks."""

import os
import re
import shutil
import signal
import subprocess

import pytest

import l3fwd
import live
import pcapfile
import test_files_stalled
import test_install

EXAMPLE = l3fwd.ROOT / "examples" / "reflect"
BUILT = l3fwd.BUILD / "examples" / "reflect" / "reflect"
IDLE_MS = 200
SHORT = b"\x02" * 13

pytestmark = pytest.mark.xdist_group("reflect")
installed = test_install.installed


def frame(number, ether_type):
    """A frame of which no other has the addresses."""
    dst, src = (bytes([2, kind, 0, 0, number >> 8, number & 255]) for kind in (0, 1))
    return dst + src + ether_type.to_bytes(2, "big") + bytes([number & 255] * (46 + number % 1000))


def swapped(sent):
    """A frame as it is to come back."""
    return sent[6:12] + sent[:6] + sent[12:]


def run(rig, program, ports, *words, tx_queues=1, lcores=2, stdout=subprocess.PIPE, **env):
    """Runs the program over captures; returns its exit code and what it printed."""
    cpu = min(os.sched_getaffinity(0))
    command = [*l3fwd.UNDER, str(program), "--no-huge", "--no-pci", "--no-shconf", "--no-telemetry",
               "-m", "256", "--lcores", ",".join(f"{n}@{cpu}" for n in range(lcores)),
               *rig.vdevs(ports, tx_queues), "--", *words]
    done = subprocess.run(command, stdout=stdout, stderr=subprocess.PIPE, text=True, check=False,
                          timeout=l3fwd.TIMEOUT,
                          env={**os.environ, "RUNTIME_DIRECTORY": str(rig.folder), **env})
    assert not l3fwd.has_sanitizer_report(done.stderr), done.stderr
    return done


def sent(rig, port, tx_queues):
    """What came back on a port, by any of its queues."""
    return [found for q in range(tx_queues)
            for found in pcapfile.read(rig.folder / f"out{port}.{q}.pcap")]


def reported(done):
    """Packets of the node, what it counted and why it dropped, by name; and the totals."""
    line = re.search(r"(?m)^reflect +scalar +\d+ +(\d+) ", done.stdout)
    totals = re.search(r"(?m)^total   rx (\d+) = tx (\d+) \+ dropped (\d+)$", done.stdout)
    assert line and totals, (done.stdout, done.stderr)
    counts = re.findall(r"(?m)^(?:reflect +(ip4|ip6|other)|(too_short)) +(\d+)", done.stdout)
    return (int(line[1]), {one or other: int(n) for one, other, n in counts},
            tuple(map(int, totals.groups())))


@pytest.mark.parametrize("workers", [1, 2])
def test_each_frame_comes_back_swapped_and_is_counted_by_its_type(rig, workers):
    types = [0x0800, 0x86DD, 0x0806, 0x0800, 0x88CC]
    inputs = [[frame(1000 * port + n, types[n % 5]) for n in range(700)] for port in (0, 1)]
    inputs[1].insert(3, SHORT)
    done = run(rig, BUILT, [[queue] for queue in inputs], str(IDLE_MS), "net_pcap0", "1",
               tx_queues=workers,
               lcores=workers + 1)
    assert done.returncode == 0, (done.stdout, done.stderr)
    for port in (0, 1):
        want = [swapped(one) for one in inputs[port] if one != SHORT]
        assert len(want) == 700
        l3fwd.assert_same_frames(want, sent(rig, port, workers), f"port {port}")
    seen, counts, totals = reported(done)
    assert seen == 1401
    assert counts == {"too_short": 1, "ip4": 560, "ip6": 280, "other": 560}
    assert totals == (1401, 1400, 1)
    assert re.search(r"(?m)^mbufs   0 of \d+ in use, none leaked$", done.stdout), done.stdout


@pytest.mark.parametrize("names, error", [
    (["2"], "'2' is no port; a number, a PCI address or a device's name is accepted"),
    (["3b:00.0"], "'3b:00.0' is no port; a number, a PCI address or a device's name is accepted"),
    (["0", "net_pcap0"], "'net_pcap0' is a port that was named before"),
    (["65536"], "'65536' is no port; a number, a PCI address or a device's name is accepted"),
    ([], "usage: reflect"),
    (["idle", "0"], "usage: reflect"),
])
def test_ports_that_are_not_there_are_refused_by_name(rig, names, error):
    first = [str(IDLE_MS)] if names[:1] != ["idle"] else []
    done = run(rig, BUILT, [[[frame(1, 0x0800)]]], *first, *names)
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert error in done.stderr, done.stderr


@pytest.mark.parametrize("text", [" 5", "+5", "5ms", "4294967296"])
def test_time_that_is_not_a_number_is_refused(rig, text):
    done = run(rig, BUILT, [[[frame(1, 0x0800)]]], text, "0")
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert "usage: reflect" in done.stderr, done.stderr


def test_report_that_is_lost_is_an_error(rig):
    with open("/dev/full", "w", encoding="ascii") as full:
        done = run(rig, BUILT, [[[frame(1, 0x0800)]]], str(IDLE_MS), "0", stdout=full)
    assert done.returncode == 1, done.stderr
    assert "reflect: standard output: No space left on device\n" in done.stderr, done.stderr
    l3fwd.assert_same_frames([swapped(frame(1, 0x0800))], sent(rig, 0, 1), "port 0")


def test_port_with_too_few_queues_is_refused(rig):
    done = run(rig, BUILT, [l3fwd.SILENT, l3fwd.SILENT], "0", "0", "1", tx_queues=1, lcores=3)
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert "reflect: port 0 (net_pcap0): 2 transmit queues are needed, one for each worker; the " \
        "port has 1 " in done.stderr, done.stderr


def test_port_that_is_not_named_is_left_alone(rig):
    inputs = [[frame(n, 0x0800) for n in range(10)] for _ in (0, 1)]
    done = run(rig, BUILT, [[queue] for queue in inputs], str(IDLE_MS), "net_pcap1")
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert reported(done)[2] == (10, 10, 0)
    l3fwd.assert_same_frames([swapped(one) for one in inputs[1]], sent(rig, 1, 1), "port 1")


def test_it_is_built_outside_of_the_tree_and_ends_upon_a_signal(rig, installed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("example") / "reflect"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("*.o", "reflect"))
    flags = " ".join(["-O2 -g -Wall -Wextra -Werror", *test_install.sanitizer()])
    search = os.pathsep.join(filter(None, [str(installed), os.environ.get("PKG_CONFIG_PATH")]))
    test_install.run("make", "-C", folder, f"CFLAGS={flags}", PKG_CONFIG_PATH=search)
    (libdir,) = test_install.pkg_config(installed, "--variable=libdir")
    inputs = [frame(n, 0x0800) for n in range(300)]
    done = run(rig, folder / "reflect", [[inputs]], str(IDLE_MS), "0", LD_LIBRARY_PATH=libdir)
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert reported(done) == (300, {"ip4": 300}, (300, 300, 0))
    process = subprocess.Popen(
        [folder / "reflect", "--no-huge", "--no-pci", "--no-shconf", "--no-telemetry", "-m", "256",
         "--lcores", f"0@{min(os.sched_getaffinity(0))},1@{min(os.sched_getaffinity(0))}",
         "--vdev=net_null0", "--", "0", "net_null0"], stdout=subprocess.PIPE, text=True,
        env={**os.environ, "RUNTIME_DIRECTORY": str(rig.folder), "LD_LIBRARY_PATH": libdir})
    rig.processes.append(process)
    for _ in range(600):  # until a worker takes frames: it uses its CPU
        with open(f"/proc/{process.pid}/stat", encoding="ascii") as stat:
            if sum(map(int, stat.read().rsplit(")", 1)[1].split()[11:13])) > 100:
                break
        signal.sigtimedwait([], 0.1)
    process.send_signal(signal.SIGTERM)
    printed, _ = process.communicate(timeout=l3fwd.TIMEOUT)
    assert process.returncode == 0, printed
    total = re.search(r"(?m)^total   rx (\d+) = tx (\d+) \+ dropped 0$", printed)
    assert total and int(total[1]) == int(total[2]) > 0, printed


def test_standard_output_whose_reader_stops_does_not_keep_it_from_ending(rig):
    """It waited for the reader of its report, deaf to signals."""
    reader, writer = os.pipe()
    cpu = min(os.sched_getaffinity(0))
    test_files_stalled.fill(writer)
    process = subprocess.Popen(
        [*l3fwd.UNDER, BUILT, "--no-huge", "--no-pci", "--no-shconf", "--no-telemetry", "-m", "256",
         f"--lcores=0@{cpu},1@{cpu}", "--vdev=net_null0", "--", "0", "net_null0"], stdout=writer,
        stderr=subprocess.PIPE, text=True,
        env={**os.environ, "RUNTIME_DIRECTORY": str(rig.folder)})
    rig.processes.append(process)
    live.until(lambda: live.workers(process), "a worker", process)
    live.await_ticks(process)
    process.send_signal(signal.SIGTERM)
    _, stderr = process.communicate(timeout=l3fwd.TIMEOUT)
    os.close(writer)
    os.close(reader)
    assert process.returncode == 1
    assert "reflect: standard output: its reader took nothing, and output was lost\n" in stderr
