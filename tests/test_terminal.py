# SPDX-License-Identifier: BSD-3-Clause
"""Words of the command line and of telemetry in messages: none reaches a terminal as a command, and in
l3fwd-graph's own messages none begins a line."""

import os
import shutil
import signal
import subprocess

import pytest

import l3fwd
import live
import oracle
import pcapfile
import test_plugin
from frames import traffic
from l3fwd import BUILD, SILENT, UNDER, options

folder = test_plugin.folder
EVIL = "\x1b[2J\x07\x9b31m\u0085\x7f"
FORGED = EVIL + "\nl3fwd-graph: forged"
OWN = ["--eth-dest=0,{}", "--max-pkt-len={}", "--config={}", "--routes={}", "--policy={}",
       "--feature={}", "--offload={}", "--rx-budget={}", "--mode={}", "--pin={}", "--idle={}",
       "--node={}", "--deny={}", "--cap={}", "--cap-file={}", "--pack={}", "--user={}",
       "--explain={}", "--stats={}", "--trace={}", "--trace=1:{}", "--capture={}",
       "--capture=F,at={}", "--capture=absent/{},at=pkt_cls", "--json=absent/{}",
       "--export-dot=absent/{}", "--export-json=absent/{}", "--dump-routes=absent/{}", "{}"]
GETOPT = ["--{}", "-{}"]


def assert_harmless(text, quoted="[2J"):
    assert quoted in text, text
    assert not [c for c in text if not c.isprintable() and c != "\n"], repr(text)


@pytest.mark.parametrize("word", OWN + GETOPT)
def test_words_that_l3fwd_graph_refuses_are_harmless(rig, word):
    process = rig.start([*options(1, [(0, 0, 1)]), "--until-idle=50", word.format(FORGED)],
                        rig.vdevs([SILENT]))
    run = rig.finish(process)
    assert run.code == 1, run
    assert_harmless(run.stderr, "option" if word in GETOPT else "[2J")
    assert word in GETOPT or "\nl3fwd-graph: forged" not in run.stderr, run


TOOLS = {
    "hy-hal": ["{}", "packs --{}", "packs {}", "inventory --pack={}", "inventory --cap={}",
               "inventory --cap-file={}", "explain --graph={}", "explain --node={}",
               "selftest --family={}", "selftest --variant={}", "selftest --pcap={}",
               "selftest --packets={}"],
    "hy-graph": ["{}", "list --{}", "list {}", "list --folder={}", "list --file-prefix={}"],
    "hy-bench": ["{}", "walk --{}", "walk {}", "walk --rounds={}", "walk --json=absent/{}",
                 "lookup --prefixes={}"],
}


@pytest.mark.parametrize("tool, words", [(tool, words) for tool, all_ in TOOLS.items()
                                         for words in all_])
def test_words_that_tools_refuse_are_harmless(tmp_path, tool, words):
    folder = BUILD / "app" / {"hy-bench": "bench"}.get(tool, tool)
    if not (folder / tool).exists():
        pytest.skip(f"{tool} is not built")
    done = subprocess.run([*UNDER, folder / tool, *(w.format(EVIL) for w in words.split())],
                          capture_output=True, text=True, errors="backslashreplace", check=False,
                          timeout=l3fwd.TIMEOUT, cwd=tmp_path)
    assert done.returncode == 1, done
    assert_harmless(done.stderr)


NO_HUGE = ["--no-huge", "--no-pci", "--no-shconf", "--no-telemetry", "-m", "256", "--lcores=0,1"]


@pytest.mark.parametrize("command", ["hy-hal inventory", "hy-hal explain", "l3fwd-graph --explain",
                                     "l3fwd-graph --duration=1", "hy-hal inventory --json",
                                     "hy-hal explain --json", "l3fwd-graph --explain=json",
                                     "l3fwd-graph --duration=1 --json=-"])
def test_names_of_devices_are_harmless_on_standard_output(tmp_path, command):
    """The inventory had them as they are on EAL's command line; JSON had DEL and C1's controls."""
    program, *words = command.split()
    path = l3fwd.L3FWD if program == "l3fwd-graph" else BUILD / "app" / program / program
    app = ["-p", "1", "--config=(0,0,1)", *words] if program == "l3fwd-graph" else words
    done = subprocess.run([*UNDER, path, *NO_HUGE, f"--vdev=net_null0{EVIL}", "--", *app],
                          capture_output=True, text=True, errors="backslashreplace", check=False,
                          timeout=l3fwd.TIMEOUT, cwd=tmp_path,
                          env=dict(os.environ, RUNTIME_DIRECTORY=str(tmp_path)))
    assert done.returncode == 0 and len(done.stdout) > 200, done
    shown = words[0] in ("inventory", "--explain", "--explain=json") or "--json" in words
    assert_harmless(done.stdout, "[2J" if shown else "")
    assert_harmless(done.stderr, "")


def test_path_of_a_pack_is_harmless_on_standard_output(tmp_path, folder):
    path = folder / f"pack{EVIL}.so"
    shutil.copy(BUILD / "app" / "test" / "hy-test-plugin.so", path)
    path.chmod(0o755)
    done = subprocess.run([*UNDER, l3fwd.L3FWD, *NO_HUGE, "--vdev=net_null0", "--", "-p", "1",
                           "--config=(0,0,1)", "--explain", f"--pack={path}"],
                          capture_output=True, text=True, errors="backslashreplace", check=False,
                          timeout=l3fwd.TIMEOUT, cwd=tmp_path,
                          env=dict(os.environ, RUNTIME_DIRECTORY=str(tmp_path)))
    assert done.returncode == 0, done
    assert_harmless(done.stdout)


@pytest.mark.parametrize("offset", range(4))
@pytest.mark.parametrize("tool", ["hy-hal/hy-hal", "hy-graph/hy-graph", "l3fwd-graph"])
def test_long_message_keeps_characters_where_it_is_cut(tmp_path, tool, offset):
    """Standard error is written in pieces, and a character that two of them shared became "???"."""
    word = "a" * offset + "\U0001f600" * 1500
    if tool == "l3fwd-graph":  # EAL repeats it; its own messages are shorter
        command = [l3fwd.L3FWD, "--no-huge", "--no-pci", "--no-shconf", "-m", "64", f"--vdev={word}"]
    else:
        command = [BUILD / "app" / tool, word]
    done = subprocess.run([*UNDER, *command], capture_output=True, text=True, check=False,
                          errors="backslashreplace", timeout=l3fwd.TIMEOUT, cwd=tmp_path,
                          env=dict(os.environ, RUNTIME_DIRECTORY=str(tmp_path)))
    assert done.returncode == 1 and done.stderr.count("\U0001f600") >= 1500, done
    assert not [c for c in done.stderr if c in "?\ufffd"], done.stderr


def test_error_of_telemetry_can_be_read_whatever_a_file_is_called(rig):
    """DPDK took the bytes of other characters than ASCII's for indexes: what it sent was no JSON."""
    running = live.Live(rig, [oracle.route("198.18.1.0/24", 0, "02:00:00:00:00:01")],
                        options(1, [(0, 0, 1)]), rig.vdevs([[traffic("198.18.1.1")]]),
                        telemetry=True)
    live.await_work(running.process, 0.01)  # captures can be started then
    for name in ("\u00e9" * 20, "\U0001f600" * 20, "\ufffd" * 20):
        answer = running.ask(f"/l3fwd/capture_start,absent/{name},at=pkt_cls")
        said = "?" * len(name.encode())
        assert answer == {"error": f"absent/{said}: No such file or directory"}, answer
    assert running.stop().code == 0


def test_words_of_telemetry_and_names_of_files_are_harmless(rig):
    vdevs = rig.vdevs([[pcapfile.write(rig.folder / "in.pcap", traffic("198.18.1.1"))]],
                      more=",infinite_rx=1")
    dump = rig.folder / f"dump{EVIL}"
    running = live.Live(rig, [oracle.route("198.18.1.0/24", 0, "02:00:00:00:00:01")],
                        [*options(1, [(0, 0, 1)]), f"--dump-routes={dump}"], vdevs,
                        telemetry=True)
    live.await_work(running.process, 0.01)
    for text in (f"F,at=nowhere,{EVIL}", f"F,{EVIL}", f"F,at={EVIL}", f"absent/{EVIL},at=pkt_cls"):
        assert_harmless(str(running.ask(f"/l3fwd/capture_start,{text}")))
    capture = rig.folder / f"capture{EVIL}"
    assert "error" not in running.ask(f"/l3fwd/capture_start,{capture},at=pkt_cls,max=1")
    running.process.send_signal(signal.SIGUSR1)
    running.wait(lambda: "routes: written to" in running.stdout(), "a dump")
    assert running.stop().code == 0
    assert_harmless(running.stderr())
    assert_harmless(running.stdout())
    assert os.path.exists(dump) and capture.stat().st_size > 0
