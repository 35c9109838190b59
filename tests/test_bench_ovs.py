# SPDX-License-Identifier: BSD-3-Clause
"""tools/bench-ovs.py: what it reads of Open vSwitch, its table, what a failed side costs; the ports of
halyard-replay.so; and a short run of all, where Open vSwitch with DPDK is installed."""

import importlib.util
import json
import os
import re
import subprocess
import sys

import pytest

import l3fwd

TOOLS = l3fwd.ROOT / "tools"
TOOL = TOOLS / "bench-ovs.py"
REPLAY = l3fwd.BUILD / "app" / "replay" / "halyard-replay.so"
VSWITCHD = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"
PERF = """\
  Rx packets:              3000000  (1181 Kpps, 537 cycles/pkt)
  - PHWOL hits:                  0  (  0.0 %)
  - Simple Match hits:           0  (  0.0 %)
  - EMC hits:              2000000  ( 66.7 %)
  - SMC hits:               900000  ( 30.0 %)
  - Megaflow hits:           99990  (  3.3 %, 2.75 subtbl lookups/hit)
  - Upcalls:                    10  (  0.0 %, 0.0 us/upcall)
  - Lost upcalls:                0  (  0.0 %)
"""
SHOW = "netdev@ovs-netdev:\n  lookups: hit:2999990 missed:10 lost:0\n  flows: 10\n  port 0: ovs-netdev (tap)\n"


@pytest.fixture(name="tool", scope="module")
def load_tool():
    sys.path.insert(0, str(TOOLS))
    try:
        spec = importlib.util.spec_from_file_location("bench_ovs", TOOL)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        import ovs_switches
        module.switches = ovs_switches
        yield module
    finally:
        sys.path.remove(str(TOOLS))


def test_outputs_of_open_vswitch_are_read(tool):
    assert tool.switches.parse_perf(PERF) == {"emc": 2 / 3, "smc": 0.3, "megaflow": 0.03333,
                                              "upcalls": 10 / 3000000}
    assert tool.switches.parse_megaflows(SHOW) == 10
    with pytest.raises(tool.Failure, match="counts no packets"):
        tool.switches.parse_perf(re.sub(r"\d+  \(", "0  (", PERF))
    with pytest.raises(tool.Failure, match="no number of flows"):
        tool.switches.parse_megaflows("netdev@ovs-netdev:\n")


def test_shares_of_ports_are_held_to_the_rules(tool):
    want = tool.expected(1000, 50_000)
    assert sum(want) == 50_000 and want[0] == 0
    assert all(count > 4000 for count in want[1:]), want
    tool.check_shares([7 * count for count in want], want, "x")
    with pytest.raises(tool.Failure, match=r"x: port 2 sent .* by the rules it is"):
        tool.check_shares([0, want[1] - 800, want[2] + 800, want[3]], want, "x")
    assert sorted(tool.expected(1, 100))[-2:] == [0, 100]


def test_table_takes_medians_and_compares_with_the_best_mode_of_the_pair(tool):
    rows = [{"side": side, "flows": flows, "pair": pair, "mpps": mpps}
            for side, flows, figures in (("halyard", 100, [4, 9, 6]), ("emc", 100, [2, 3, 4]),
                                         ("no_cache", 100, [1, 8, 1]), ("emc", 1, [5]),
                                         ("halyard", 7, [1]))
            for pair, mpps in enumerate(figures)]
    head, *lines = [line.split() for line in tool.table(rows)]
    assert head[:5] == ["flows", "halyard", "emc", "emc+smc", "no_cache"]
    assert lines == [["1", "-", "5.00", "-", "-", "emc"], ["7", "1.00", "-", "-", "-"],
                     ["100", "6.00", "3.00", "-", "1.00", "emc", "2.00", "1.50", "to", "3.00,", "3", "pairs"]]


def run(*options, env=None):
    return subprocess.run([sys.executable, TOOL, *options], env=env, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=600, check=False)


needs_root = pytest.mark.skipif(os.geteuid() != 0 or len(os.sched_getaffinity(0)) < 2,
                                reason="it needs root and two CPUs")


@needs_root
def test_machine_without_open_vswitch_is_skipped(tmp_path):
    done = run(tmp_path, "--vswitchd", tmp_path / "none")
    assert done.returncode == 0
    assert done.stdout.startswith("ovs: skipped: there is no ") and "openvswitch-switch-dpdk" in done.stdout
    done = run(tmp_path, "--vswitchd", "/bin/true")
    assert (done.returncode, done.stdout[:24]) == (0, "ovs: skipped: there is n") and "app/replay" in done.stdout


@needs_root
def test_side_that_fails_is_named_and_loses_nothing_of_others(tmp_path, tool, monkeypatch, capsys):
    """A switch of Open vSwitch that ends at once; another side gives its figures."""
    programs = {"ovsdb-tool": "", "ovs-vsctl": "echo false", "ovs-appctl": "", "ovs-ofctl": "",
                "ovsdb-server": "for o; do case $o in --remote=punix:*) "
                                "touch \"${o#--remote=punix:}\";; esac; done; exec sleep 60",
                "vswitchd": "[ \"$1\" != --version ] || { echo fake 1; exit; }; "
                            "echo 'EAL|ERR|Cannot get hugepage information'; exit 3"}
    for name, text in programs.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    build = tmp_path / "build"
    for name in ("app/replay/halyard-replay.so", "examples/vswitch-graph/vswitch-graph"):
        (build / name).parent.mkdir(parents=True)
        (build / name).write_text("")
        (build / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    real = tool.one

    def one(setup, side, flows, seconds):
        if side == "halyard":
            return {"side": side, "flows": flows, "mpps": 5, "cpu": 1, "seconds": 1, "lost_cold": 2}
        return real(setup, side, flows, seconds)

    monkeypatch.setattr(tool, "one", one)
    code = tool.main([str(build), "--flows", "10", "--pairs", "4", "--json", str(tmp_path / "json"),
                      "--vswitchd", str(tmp_path / "vswitchd")])
    out, err = capsys.readouterr()
    figures = json.loads((tmp_path / "json").read_text())
    assert code == 1
    assert [row["pair"] for row in figures["rows"]] == [0, 1, 2, 3]
    assert len(figures["failures"]) == 9  # three of each mode, which is not tried again then
    assert all("vswitchd ended with code 3: EAL|ERR|Cannot get hugepage" in f["why"]
               for f in figures["failures"]), figures
    assert err.count("ended with code 3") == 9
    assert "5.00" in out and "9 runs gave no figure" in out and "halyard lost 2 packets" in out


@pytest.mark.parametrize("arguments, says", [
    ("file={0},size=63", "size=63: 64 to 1518 are accepted"),
    ("file={0},size=1519", "size=1519: 64 to 1518 are accepted"),
    ("file={0},flows=-1", "flows=-1: 0 to 4294967295 are accepted"),
    ("file={0},flows=4294967296", "flows=4294967296: 0 to 4294967295 are accepted"),
    ("file={0},seed=1x", "seed=1x: 0 to 4294967295 are accepted"),
    ("flows=1", "file=FILE is needed, once"),
    ("file={0},colour=1", "file, flows, seed and size are accepted"),
    ("file={0}/none", "none: Not a directory"),
])
def test_port_that_cannot_be_made_says_why(tmp_path, arguments, says):
    if not REPLAY.exists():
        pytest.skip("app/replay is not built: there are no headers of drivers")
    file = tmp_path / "meter"
    file.write_text("")
    done = subprocess.run([l3fwd.binary(), "--no-huge", "-m", "64", "--no-pci", "--no-telemetry", "--no-shconf",
                           "-d", REPLAY, "--vdev", "net_replay0," + arguments.format(file), "--", "-p", "1"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=l3fwd.TIMEOUT, check=False,
                          env=dict(os.environ, RUNTIME_DIRECTORY=str(tmp_path)))
    assert done.returncode != 0
    assert "net_replay: " in done.stdout and says in done.stdout, done.stdout


@pytest.mark.slow
@needs_root
@pytest.mark.skipif(not os.access(VSWITCHD, os.X_OK), reason="there is no Open vSwitch with DPDK")
def test_short_run_measures_each_side_that_is_there(tmp_path):
    if not REPLAY.exists():
        pytest.skip("app/replay is not built: there are no headers of drivers")
    before = set(os.listdir("/sys/class/net"))
    done = run(l3fwd.BUILD, "--flows", "1,1000", "--pairs", "1", "--seconds", "0.3", "--json", tmp_path / "json")
    assert done.returncode == 0, (done.stdout, done.stderr)
    figures = json.loads((tmp_path / "json").read_text())
    sides = {"emc", "emc+smc", "no_cache"} | (set() if "halyard: skipped" in done.stdout else {"halyard"})
    assert figures["failures"] == []
    assert not {name for name in set(os.listdir("/sys/class/net")) - before if name.startswith("hyb")}
    assert {(row["side"], row["flows"]) for row in figures["rows"]} == {(s, n) for s in sides for n in (1, 1000)}
    for row in figures["rows"]:
        assert sum(row["sent"]) == row["given"] > 50_000 and row["mpps"] > 0
        if row["side"] != "halyard":
            assert row["found"]["upcalls"] < 0.01 and row["megaflows"] == (1 if row["flows"] == 1 else 10)
