# SPDX-License-Identifier: BSD-3-Clause
"""Files that hy-hal and hy-bench read and write: nothing is waited for, overwritten, or passed on to
a terminal."""

import os
import subprocess

import pytest

import l3fwd
import pcapfile
from frames import traffic
from l3fwd import BUILD, UNDER

HY_HAL = BUILD / "app" / "hy-hal" / "hy-hal"
HY_BENCH = BUILD / "app" / "bench" / "hy-bench"


def run(*command):
    """Runs a program to its end."""
    if not command[0].exists():
        pytest.skip(f"{command[0].name} is not built")
    return subprocess.run([*UNDER, *map(str, command)], capture_output=True, text=True,
                          errors="backslashreplace", check=False, timeout=l3fwd.TIMEOUT)


def selftest(folder):
    """hy-hal's selftest over the captures of a folder."""
    return run(HY_HAL, "selftest", "--family=pkt_cls", f"--pcap={folder}")


def test_capture_that_is_cut_is_refused_by_hy_hal(tmp_path):
    path = pcapfile.write(tmp_path / "cut.pcap", traffic("198.18.1.1", 5))
    path.write_bytes(path.read_bytes()[:-1])
    done = selftest(tmp_path)
    assert done.returncode == 1, done
    assert f"hy-hal: --pcap: {path}: truncated dump file" in done.stderr, done


def test_fifo_among_captures_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.pcap")
    done = selftest(tmp_path)
    assert done.returncode == 1, done
    assert f"hy-hal: --pcap: {tmp_path}/a.pcap: is not a regular file" in done.stderr, done


def test_name_of_a_capture_does_not_reach_the_terminal(tmp_path):
    (tmp_path / "\x1b[2Jq\x9b1m\u00fc.pcap").write_text("no capture")
    done = selftest(tmp_path)
    assert done.returncode == 1 and "/?[2Jq??1m\u00fc.pcap: " in done.stderr, done
    assert not [c for c in done.stderr if not c.isprintable() and c != "\n"], repr(done.stderr)


@pytest.mark.parametrize("kind, said", [
    ("/dev/zero", ": is not a regular file"), ("fifo", ": is not a regular file"),
    ("long", ":2: longer than 1022 bytes")])
def test_hy_bench_reads_regular_files_only(tmp_path, kind, said):
    path = tmp_path / "prefixes"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "long":
        path.write_text("198.18.0.0/24\n" + "1" * 1023)
    else:
        path = kind
    done = run(HY_BENCH, "lookup", "--quick", "--work=table*", f"--prefixes={path}")
    assert done.returncode == 1 and f"hy-bench: --prefixes {path}{said}" in done.stderr, done


@pytest.mark.parametrize("command", [
    (HY_HAL, "packs"), (HY_HAL, "packs", "--json"), (HY_BENCH, "enqueue", "--quick",
                                                     "--work=mix4_8_lane")],
                         ids=["packs", "json", "bench"])
def test_standard_output_that_is_full_fails(command):
    if not command[0].exists():
        pytest.skip(f"{command[0].name} is not built")
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([*UNDER, *map(str, command)], stdout=full, stderr=subprocess.PIPE,
                              text=True, check=False, timeout=l3fwd.TIMEOUT)
    assert done.returncode == 1 and "No space left on device" in done.stderr, done
