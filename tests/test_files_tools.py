# SPDX-License-Identifier: BSD-3-Clause
"""Files that hy-hal and hy-bench read and write: nothing is waited for, overwritten, or passed on to
a terminal."""

import json
import os
import shutil
import stat
import subprocess

import pytest

import l3fwd
import pcapfile
from frames import traffic
from l3fwd import BUILD, L3FWD, UNDER
from test_files_written import place

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


def test_folder_of_captures_may_have_any_name(tmp_path):
    """It was taken for a pattern, and said not to be there."""
    folder = tmp_path / "[a]*?\\b"
    folder.mkdir()
    path = pcapfile.write(folder / "cut.pcap", traffic("198.18.1.1", 5))
    os.truncate(path, path.stat().st_size - 1)
    done = selftest(folder)
    assert f"hy-hal: --pcap: {path}: truncated dump file" in done.stderr, done
    done = selftest(tmp_path / ("x" * 5000))
    assert done.returncode == 1 and "x: File name too long\n" in done.stderr, done


def test_fifo_among_captures_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "a.pcap")
    done = selftest(tmp_path)
    assert done.returncode == 1, done
    assert f"hy-hal: --pcap: {tmp_path}/a.pcap: is not a regular file" in done.stderr, done


def test_captures_take_a_bounded_amount_of_memory(tmp_path):
    """One of empty packets took 2.7 times its size."""
    path = pcapfile.write(tmp_path / "a.pcap", [])
    os.truncate(path, 1 << 28)  # packets of no bytes, whose headers take 16
    done = selftest(tmp_path)
    assert done.returncode == 1, done
    said = f"hy-hal: --pcap: {path}: with this file, the captures take more than 256 MiB\n"
    assert said in done.stderr, done


def test_name_of_a_capture_does_not_reach_the_terminal(tmp_path):
    (tmp_path / "\x1b[2Jq\x9b1m\u00fc.pcap").write_text("no capture")
    done = selftest(tmp_path)
    assert done.returncode == 1 and "/?[2Jq??1m\u00fc.pcap: " in done.stderr, done
    assert not [c for c in done.stderr if not c.isprintable() and c != "\n"], repr(done.stderr)


@pytest.mark.parametrize("kind, said", [
    ("/dev/zero", ": is not a regular file"), ("fifo", ": is not a regular file"),
    ("long", ":2: longer than 4094 bytes")])
def test_hy_bench_reads_regular_files_only(tmp_path, kind, said):
    path = tmp_path / "prefixes"
    if kind == "fifo":
        os.mkfifo(path)
    elif kind == "long":
        path.write_text("198.18.0.0/24\n" + "1" * 4095)
    else:
        path = kind
    done = run(HY_BENCH, "lookup", "--quick", "--work=table*", f"--prefixes={path}")
    assert done.returncode == 1 and f"hy-bench: --prefixes {path}{said}" in done.stderr, done


@pytest.mark.parametrize("command", [
    (HY_HAL, "packs"), (HY_HAL, "packs", "--json"), (HY_BENCH, "enqueue", "--quick",
                                                     "--work=mix4_8_lane"),
    *((program, word) for program in (HY_HAL, HY_BENCH, BUILD / "app/hy-graph/hy-graph", L3FWD)
      for word in ("--help", "--version"))],
                         ids=lambda command: f"{command[0].name}-{'-'.join(command[1:])}")
def test_standard_output_that_is_full_fails(command):
    if not command[0].exists():
        pytest.skip(f"{command[0].name} is not built")
    with open("/dev/full", "w", encoding="ascii") as full:
        words = (["--"] if command[0] == L3FWD else []) + [*command[1:]]
        done = subprocess.run([*UNDER, *map(str, [command[0], *words])], stdout=full, stderr=subprocess.PIPE,
                              text=True, check=False, timeout=l3fwd.TIMEOUT)
    assert done.returncode == 1 and "No space left on device" in done.stderr, done


def bench_json(path):
    """A short benchmark with its results in a file."""
    return run(HY_BENCH, "enqueue", "--quick", "--work=mix4_8_lane", f"--json={path}")


NOT_REPLACED = {
    "symlink": "is a symbolic link, which is not followed",
    "dangling": "is a symbolic link, which is not followed",
    "FIFO": "is not a regular file",
    "directory": "is not a regular file",
    "foreign": "belongs to another user",
    "/dev/full": "is not a regular file",
    "/dev/stderr": "is a symbolic link, which is not followed",
}


@pytest.mark.parametrize("kind", NOT_REPLACED, ids=lambda kind: kind.replace("/", "_"))
def test_hy_bench_writes_regular_files_of_its_user_only(tmp_path, kind):
    """It followed links, waited for readers of FIFOs, and replaced files of others."""
    path = place(tmp_path / "figures", kind)
    done = bench_json(path)
    assert done.returncode == 1, done
    assert f"hy-bench: --json {path}: {NOT_REPLACED[kind]}\n" in done.stderr, done
    assert "mix4_8_lane" not in done.stdout, done  # refused before anything was measured
    assert (tmp_path / "precious").read_text() == "precious"
    assert not (tmp_path / "absent").exists()


@pytest.mark.parametrize("suffix", ["", ".part"])
@pytest.mark.parametrize("option", ["--prefixes", "--contender", "a loaded library"])
def test_hy_bench_replaces_no_file_that_it_reads(tmp_path, monkeypatch, option, suffix):
    """The prefixes were gone after the first work."""
    path = tmp_path / f"read{suffix}"
    words = [f"{option}={path}"] if option.startswith("--") else []
    if words:
        path.write_text("198.18.0.0/24\n")
    else:
        shutil.copy(l3fwd.SIMNIC, path)
        monkeypatch.setenv("LD_PRELOAD", str(path))
    before = path.read_bytes()
    done = run(HY_BENCH, "enqueue", "--quick", "--work=mix4_8_lane", *words,
               f"--json={tmp_path}/read")
    assert path.read_bytes() == before
    assert done.returncode == 1, done
    said = "with .part added, it " if suffix else ""
    assert f": {said}is the file of {option}, which is read\n" in done.stderr, done
    assert "mix4_8_lane" not in done.stdout, done
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_hy_bench_follows_no_link_in_place_of_its_part(tmp_path):
    place(tmp_path / "figures.part", "symlink")
    done = bench_json(tmp_path / "figures")
    assert done.returncode == 1, done
    assert f"hy-bench: --json {tmp_path}/figures: is a symbolic link" in done.stderr, done
    assert (tmp_path / "precious").read_text() == "precious"


def test_hy_bench_creates_files_for_their_owner_and_keeps_the_mode_of_old_ones(tmp_path):
    path = tmp_path / "figures"
    for mode in (0o600, 0o640):
        assert bench_json(path).returncode == 0
        assert stat.S_IMODE(path.stat().st_mode) == mode
        assert json.loads(path.read_text())["complete"] is True
        path.chmod(0o640)
    assert [file.name for file in tmp_path.iterdir()] == ["figures"]


def test_hy_bench_writes_to_dev_null():
    assert bench_json("/dev/null").returncode == 0
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


@pytest.mark.parametrize("program, words", [(L3FWD, ["-p", "1"]), (HY_HAL, ["inventory"])])
def test_start_that_eal_refuses_without_a_reason_is_no_success(tmp_path, monkeypatch, program,
                                                               words):
    """EAL's files did not fit into the limit, and the message ended with ": Success"."""
    monkeypatch.setenv("RUNTIME_DIRECTORY", str(tmp_path))
    ended = subprocess.run(["sh", "-c", 'ulimit -f 1; exec "$@"', "sh", *UNDER, str(program),
                            "--no-huge", "-m", "64", "--no-pci", "--no-telemetry", "--", *words],
                           capture_output=True, text=True, check=False, timeout=l3fwd.TIMEOUT)
    assert ended.returncode == 1 and ended.stdout == "", ended
    said = f"{program.name}: EAL could not be initialised: its log says why\n"
    assert ended.stderr.endswith(said), ended.stderr
