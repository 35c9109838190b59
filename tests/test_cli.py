# SPDX-License-Identifier: BSD-3-Clause
"""Bad command lines: each is refused before anything is forwarded, with a message that names the
option and what is accepted."""

import pytest

import l3fwd
from frames import traffic
from l3fwd import SILENT

MASK, CONFIG = "-p 0x3", "--config=(0,0,1),(1,0,1)"

# What is wrong: (command line, what the message must name). Words of one command line are parted
# by spaces.
BAD = {
    # -p
    "mask missing": (CONFIG, ["-p"]),
    "mask empty": (f"-p 0 {CONFIG}", ["-p"]),
    "mask is no number": (f"-p zz {CONFIG}", ["-p", "zz"]),
    "mask with trailing junk": (f"-p 0x3g {CONFIG}", ["-p", "0x3g"]),
    "mask with an absent port": (f"-p 0x13 {CONFIG}", ["-p", "port 4"]),
    # --config
    "config empty": (f"{MASK} --config=", ["--config"]),
    "config without parentheses": (f"{MASK} --config=0,0,1", ["--config", "(port,queue,lcore)"]),
    "config of two fields": (f"{MASK} --config=(0,0)", ["--config", "(port,queue,lcore)"]),
    "config of four fields": (f"{MASK} --config=(0,0,1,1)", ["--config", "(port,queue,lcore)"]),
    "config not closed": (f"{MASK} --config=(0,0,1", ["--config", "(port,queue,lcore)"]),
    "config not a number": (f"{MASK} --config=(0,a,1)", ["--config", "(port,queue,lcore)"]),
    "config number negative": (f"{MASK} --config=(0,-1,1)", ["--config", "(port,queue,lcore)"]),
    "config number too large": (f"{MASK} --config=(0,4294967296,1)", ["--config"]),
    "config with trailing junk": (f"{MASK} --config=(0,0,1)x", ["--config"]),
    "config names a queue twice": (f"{MASK} --config=(0,0,1),(0,0,1)",
                                   ["--config", "queue 0 of port 0"]),
    "config of a port not enabled": (f"-p 0x1 {CONFIG}", ["--config", "port 1", "-p"]),
    "config of an absent port": (f"{MASK} --config=(0,0,1),(9,0,1)", ["--config", "port 9"]),
    "config leaves a queue out": (f"{MASK} --config=(0,1,1),(1,0,1)", ["--config", "queue"]),
    "config of more queues than there are": (f"{MASK} --config=(0,0,1),(0,1,1)",
                                             ["--config", "port 0", "queue"]),
    "config on the main lcore": (f"{MASK} --config=(0,0,0)", ["--config", "lcore 0", "main"]),
    "config on an absent lcore": (f"{MASK} --config=(0,0,7)", ["--config", "lcore 7"]),
    # --eth-dest
    "eth-dest without MAC": ("--eth-dest=1", ["--eth-dest", "MM:MM:MM:MM:MM:MM"]),
    "eth-dest of a bad MAC": ("--eth-dest=1,02:00:00:00:00", ["--eth-dest", "MM:MM:MM:MM:MM:MM"]),
    "eth-dest with junk": ("--eth-dest=1,02:00:00:00:00:01x", ["--eth-dest", "MM:MM:MM:MM:MM:MM"]),
    "eth-dest of no port": ("--eth-dest=a,02:00:00:00:00:01", ["--eth-dest", "'a'", "31"]),
    "eth-dest of an absent port": ("--eth-dest=9,02:00:00:00:00:01", ["--eth-dest", "-p 0x3"]),
    "eth-dest beside routes": ("--eth-dest=1,02:00:00:00:00:01 --routes=/dev/null",
                               ["--eth-dest", "--routes"]),
    # numbers
    "max-pkt-len is no number": ("--max-pkt-len=big", ["--max-pkt-len", "big"]),
    "max-pkt-len too small": ("--max-pkt-len=10", ["--max-pkt-len", "10", "64"]),
    "max-pkt-len too large": ("--max-pkt-len=70000", ["--max-pkt-len", "70000"]),
    "burst of 0": ("--burst=0", ["--burst", "256"]),
    "burst of 257": ("--burst=257", ["--burst", "257", "256"]),
    "burst negative": ("--burst=-1", ["--burst", "256"]),
    "burst is no number": ("--burst=x", ["--burst", "x", "256"]),
    "burst with junk": ("--burst=32k", ["--burst", "32k", "256"]),
    "stats is no number": ("--stats=often", ["--stats", "often"]),
    "stats negative": ("--stats=-1", ["--stats", "-1"]),
    "stats of 0": ("--stats=0", ["--stats", "'0'", "1"]),
    "duration is no number": ("--duration=1h", ["--duration", "1h"]),
    "duration negative": ("--duration=-1", ["--duration", "-1"]),
    "until-idle is no number": ("--until-idle=soon", ["--until-idle", "soon"]),
    "until-idle negative": ("--until-idle=-5", ["--until-idle", "-5"]),
    # rest and budgets
    "idle of no mode": ("--idle=sleep", ["--idle", "sleep", "poll", "pause", "interrupt:USEC"]),
    "idle empty": ("--idle=", ["--idle", "poll", "pause", "interrupt:USEC"]),
    "idle of half a mode": ("--idle=inter", ["--idle", "inter", "interrupt:USEC"]),
    "idle microseconds without sleep": ("--idle=pause:5", ["--idle", "pause:5", "interrupt"]),
    "idle of no microseconds": ("--idle=interrupt:0", ["--idle", "'0'", "1 to 1000000"]),
    "idle for too long": ("--idle=interrupt:1000001", ["--idle", "1000001", "1000000"]),
    "idle with junk": ("--idle=interrupt:5ms", ["--idle", "5ms", "1 to 1000000"]),
    "rx-budget without packets": ("--rx-budget=0", ["--rx-budget", "'0'", "PORT=PACKETS"]),
    "rx-budget of 0": ("--rx-budget=0=0", ["--rx-budget", "'0'", "1 to 256"]),
    "rx-budget with junk": ("--rx-budget=0=8x", ["--rx-budget", "8x", "1 to 256"]),
    "rx-budget of no port": ("--rx-budget=x=8", ["--rx-budget", "'x'", "31"]),
    "rx-budget of an absent port": ("--rx-budget=9=8", ["--rx-budget", "port 9", "-p 0x3"]),
    "rx-budget of a port that nobody polls": ("-p 0x3 --config=(0,0,1) --rx-budget=1=8",
                                              ["--rx-budget", "port 1", "--config"]),
    "rx-budget above the default burst": ("--rx-budget=0=65", ["--rx-budget", "65", "1 to 64"]),
    "rx-budget above the burst": ("--burst=16 --rx-budget=0=17", ["--rx-budget", "17", "1 to 16"]),
    "trace of 0": ("--trace=0", ["--trace", "'0'", "1 to 1000"]),
    "trace is no number": ("--trace=x", ["--trace", "'x'", "1000"]),
    "trace of an empty filter": ("--trace=3:", ["--trace", "src=PREFIX"]),
    "trace of no filter": ("--trace=3:port=1", ["--trace", "port=1", "src=PREFIX"]),
    "trace of a bad address": ("--trace=3:dst=1.2.3", ["--trace", "'1.2.3'", "A.B.C.D"]),
    "trace of a bad length": ("--trace=3:dst=1.2.3.4/33", ["--trace", "'33'", "0 to 32"]),
    "trace of a prefix with more bits": ("--trace=3:src=1.2.3.4/8", ["--trace", "1.2.3.4/8"]),
    "trace of a bad protocol": ("--trace=3:proto=256", ["--trace", "'256'", "255"]),
    "trace of two protocols": ("--trace=3:proto=6,proto=17", ["--trace", "'proto=17'", "once"]),
    "trace of an empty condition": ("--trace=3:proto=6,", ["--trace", "''", "proto=NUMBER"]),
    "trace of what is only explained": ("--trace=3 --explain", ["--explain", "--trace"]),
    "trace of a dry run": ("--trace=3 --dry-run", ["--dry-run", "--trace"]),
    # the HAL
    "node without variant": ("--node=ip4_lookup", ["--node", "FAMILY[@PORT]=VARIANT"]),
    "node of no family": ("--node=nosuch=scalar", ["--node", "nosuch", "ip4_lookup"]),
    "node of no variant": ("--node=ip4_lookup=nosuch", ["--node", "nosuch", "scalar"]),
    "node of an empty variant": ("--node=ip4_lookup=", ["--node", "scalar"]),
    "node on a bad port": ("--node=pkt_cls@x=scalar", ["--node", "pkt_cls@x"]),
    "node on an absent port": ("--node=pkt_cls@9=scalar", ["--node", "9"]),
    "node on a port but of the process": ("--node=ip4_lookup@0=scalar", ["--node", "process"]),
    "deny without variant": ("--deny=ip4_lookup", ["--deny", "FAMILY[@PORT]=VARIANT"]),
    "deny of no family": ("--deny=nosuch=scalar", ["--deny", "nosuch", "ip4_lookup"]),
    "deny of no variant": ("--deny=ip4_lookup=nosuch", ["--deny", "nosuch", "scalar"]),
    "a variant forced and denied": ("--node=ip4_lookup=scalar --deny=ip4_lookup=scalar",
                                    ["--node", "scalar", "denied"]),
    "every variant denied": ("--deny=pkt_drop=scalar", ["pkt_drop", "denied"]),
    "two variants forced": ("--node=ip4_lookup=scalar --node=ip4_lookup=avx2",
                            ["--node", "ip4_lookup"]),
    "an override of no target": ("--cap=prt0.running=no", ["--cap", "'prt0'", "portN"]),
    "an override of no capability": ("--cap=port0.runing=no", ["--cap", "'runing'", "running"]),
    # files
    "overrides of no file": ("--cap-file=/nonexistent/caps", ["--cap-file", "/nonexistent/caps"]),
    "plugin of no file": ("--pack=/nonexistent/pack.so",
                          ["--pack: '/nonexistent/pack.so': No such file or directory"]),
    "explain in no known form": ("--explain=xml", ["--explain", "xml", "json"]),
    "routes of no file": ("--routes=/nonexistent/routes", ["--routes", "/nonexistent/routes"]),
    "routes of a folder": ("--routes=/", ["--routes", "/"]),
    "json to nowhere": ("--json=/nonexistent/stats", ["--json", "/nonexistent/stats"]),
    "dot to nowhere": ("--export-dot=/nonexistent/dot", ["--export-dot", "/nonexistent/dot"]),
    "graph json to nowhere": ("--export-json=/nonexistent/graph",
                              ["--export-json", "/nonexistent/graph"]),
    "statistics of a dry run": ("--dry-run --json=/dev/null", ["--dry-run", "--json"]),
    "graph json of an explanation": ("--explain --export-json=/dev/null",
                                     ["--explain", "--export-json"]),
    # everything else
    "an unknown option": ("--frobnicate", ["--frobnicate"]),
    "an unknown letter": ("-Z", ["Z"]),
    "an option without its value": ("--burst", ["--burst"]),
    "a word that is no option": ("onward", ["onward"]),
}


@pytest.mark.parametrize("case", BAD, ids=lambda name: name.replace(" ", "-"))
def test_bad_command_line_is_refused(rig, case):
    words, named = BAD[case]
    words = words.split()
    if not any(word in ("-p", MASK) or word.startswith("--config") for word in words):
        words = [*MASK.split(), CONFIG, *words]
    ends = [] if "--until-idle" in " ".join(words) else ["--until-idle=100"]
    run = rig.run([*ends, *words], rig.vdevs([[traffic("198.18.1.1")], SILENT]))
    assert_refused(run, named)


READ = {
    "--routes": "198.18.1.0/24 port 1 mac 02:00:00:00:01:01\n",
    "--policy": "rule 1 class 7 proto udp\n",
    "--cap-file": "port0.rx_mark=no\n",
}
WRITTEN = ["--json=%s", "--export-dot=%s", "--export-json=%s", "--dump-routes=%s",
           "--capture=%s,at=pkt_cls"]


@pytest.mark.parametrize("output", WRITTEN, ids=lambda option: option.split("=")[0])
@pytest.mark.parametrize("option", READ)
def test_no_output_is_written_over_a_file_that_is_read(rig, tmp_path, option, output):
    path, link = tmp_path / "read", tmp_path / "link"
    path.write_text(READ[option])
    link.symlink_to(path)
    run = rig.run([*MASK.split(), CONFIG, "--until-idle=100", f"{option}={path}", output % link],
                  rig.vdevs([[traffic("198.18.1.1")], SILENT]))
    assert_refused(run, [f"{output.split('=')[0]}: {link}: is the file of {option}, which"])
    assert path.read_text() == READ[option]


def test_forcing_more_than_the_users_own_simd_width_is_refused(rig):
    if "avx512" not in {c["variant"] for c in l3fwd.lookup_candidates()
                        if c["fate"] != "needs_unmet"}:
        pytest.skip("this CPU cannot run the AVX-512 variant")
    run = rig.run([*MASK.split(), CONFIG, "--until-idle=100", "--node=ip4_lookup=avx512"],
                  [*rig.vdevs([[traffic("198.18.1.1")], SILENT]),
                   "--force-max-simd-bitwidth=256"])
    assert_refused(run, ["--node", "ip4_lookup=avx512", "--force-max-simd-bitwidth"])


def test_forcing_what_the_cpu_lacks_is_refused(rig):
    lacking = [c for c in l3fwd.lookup_candidates() if c["fate"] == "needs_unmet"]
    if not lacking:
        pytest.skip("this CPU can run every variant")
    for candidate in lacking:
        run = rig.run([*MASK.split(), CONFIG, f"--node=ip4_lookup={candidate['variant']}"],
                      rig.vdevs([[traffic("198.18.1.1")], SILENT]))
        assert_refused(run, ["--node", candidate["variant"], candidate["reason"]])


def test_without_config_and_without_workers_is_refused(rig):
    """There is a default for --config, but it needs a worker."""
    run = rig.run([*MASK.split(), "--until-idle=100"],
                  rig.vdevs([[traffic("198.18.1.1")], SILENT]), workers=0)
    assert_refused(run, ["--config", "worker", "lcore"])


def test_the_same_run_without_a_fault_forwards(rig):
    """What the table above adds its faults to is a good command line."""
    records = traffic("198.18.1.1")
    run = rig.run([*MASK.split(), CONFIG, *rig.until_idle()], rig.vdevs([[records], SILENT]))
    assert run.stats["totals"] == {"rx": 100, "copied": 0, "tx": 100, "dropped": 0}
    assert run.wrote_packets() == ["out1.0.pcap"]


def test_polling_asks_for_no_event_device(rig):
    run = rig.run([*MASK.split(), CONFIG, *rig.until_idle()],
                  rig.vdevs([[traffic("198.18.1.1")], SILENT]))
    assert run.code == 0, run
    assert "EVENTDEV:" not in run.stderr + run.stdout, run


def test_help_names_every_option(rig):
    run = rig.run(["--help"], rig.vdevs([SILENT]))
    assert run.code == 0, run
    for option in ("-p", "-P", "--config", "--eth-dest", "--max-pkt-len", "--no-numa",
                   "--per-port-pool", "--routes", "--burst", "--rx-budget", "--idle", "--stats",
                   "--duration", "--until-idle", "--node", "--deny", "--cap", "--cap-file",
                   "--pack", "--explain",
                   "--export-dot", "--export-json", "--dry-run", "--json"):
        assert option in run.stdout, f"{option}\n{run}"


def assert_refused(run, named):
    """Asserts a non-zero exit by itself, a message that names all that it should, and that
    nothing was sent."""
    assert run.code > 0, f"not refused, or ended by a signal\n{run}"
    missing = [word for word in named if word not in run.stderr]
    assert not missing, f"the message does not name {missing}\n{run}"
    assert run.wrote_packets() == [], run
