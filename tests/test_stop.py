# SPDX-License-Identifier: BSD-3-Clause
"""Ends that are not quiet ones: under load, while starting, and when something fails on the way.
Each is named after the fault that it once showed."""

import errno
import json
import signal
import time

import pytest

import frames
import l3fwd
import live
import oracle
from live import await_handlers
from test_acl import acl, ip4
from test_output_lost import failing, injected
from test_policy import replay, rules

EVERYWHERE = [oracle.route(f"{half}.0.0.0/1", 1, "02:00:00:00:00:01") for half in (0, 128)]


@pytest.mark.parametrize("config", ["(0,0,1),(1,0,1)", "(0,0,1)"], ids=["polled", "not_polled"])
def test_packets_left_in_a_port_when_stopped_are_no_leak(rig, config):
    """A net_ring port hands back what was sent to it; workers stop with its ring full."""
    records = [f.data for f in frames.generate(6) if len(f.data) < 2000][:500]
    run = rig.run(
        ["-p", "0x3", f"--config={config}", rig.routes(EVERYWHERE), "--duration=1",
         f"--json={rig.folder}/stats.json"],
        [*rig.vdevs([[records]], tx_queues=0, more=",infinite_rx=1"), "--vdev", "net_ring0"])
    ring = run.stats["ports"][1]
    assert ring["driver"] == "net_ring" and ring["tx"] >= 1000, run
    assert run.stats["drops"]["tx_full"] > 0, run


def test_stop_while_routes_are_loaded_does_not_wait_for_the_last(rig):
    lines = "".join(f"{10 + (i >> 16)}.{i >> 8 & 255}.{i & 255}.1/32 port 0 mac 02:00:00:00:00:01\n"
                    for i in range(80000))
    path = rig.write("many", lines)
    for delay in (1, 2, 4, 8, 16):  # seconds until routes are loaded, on a busy machine
        process = rig.start([*l3fwd.options(1, [(0, 0, 1)]), f"--routes={path}",
                             "--node=ip4_lookup=scalar"],  # over rte_lpm, which takes long
                            rig.vdevs([l3fwd.SILENT]))
        await_handlers(process, signal.SIGTERM)
        time.sleep(delay)
        assert process.poll() is None, "the machine is too fast for this test: give it more routes"
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        run = rig.finish(process)
        assert run.code == 0, run
        assert time.monotonic() - began < 30, run  # loading all of them takes longer than that
        if "stopped while routes were loaded" in run.stderr:
            return
        assert "stopped while it started" in run.stderr, run
    pytest.fail(f"no routes were loaded after {delay} s")


def test_stop_while_groups_are_made_does_not_wait_for_the_last(rig):
    """Neither a stop nor the state of a link was looked at until each route had its group. These take
    milliseconds each, and the last one finds no room."""
    def group(i):
        return ", ".join(f"port 0 mac 02:00:00:{i >> 8:02x}:{i & 255:02x}:{k:02x} "
                         f"weight {255 if k else 1}" for k in range(64))

    path = rig.write("groups", "".join(f"10.{i >> 8}.{i & 255}.0/24 group {group(i)}\n"
                                       for i in range(800)))
    stopped = 0
    for delay in range(1, 40):  # ever later, until groups are being made
        process = rig.start([*l3fwd.options(1, [(0, 0, 1)]), f"--routes={path}",
                             f"--max-next-hops={800 * 65 - 1}"],
                            [*rig.vdevs([l3fwd.SILENT]), "-m", "640"])
        await_handlers(process, signal.SIGTERM)
        time.sleep(delay * 0.25)
        assert process.poll() is None, "the machine is too fast for this test: give it more groups"
        process.send_signal(signal.SIGTERM)
        run = rig.finish(process)
        assert run.code == 0 and "stopped while " in run.stderr, run
        stopped += "stopped while routes were loaded" in run.stderr
        if stopped == 2:
            return
    pytest.fail("no group was being made")


@pytest.mark.parametrize("sig", [signal.SIGTERM, signal.SIGINT])
def test_stop_at_any_moment_of_the_start_is_a_clean_end(rig, sig):
    """Ever later, from the first moment on at which it can be one, until packets could flow."""
    lines = "".join(f"10.{i >> 8}.{i & 255}.0/24 port 0 mac 02:00:00:00:00:01\n"
                    for i in range(20000))
    rules = "".join(f"rule {i} class 1 dport {i + 1}\n" for i in range(1000))
    app = [*l3fwd.options(1, [(0, 0, 1)]), f"--routes={rig.write('routes', lines)}",
           f"--policy={rig.write('policy', rules)}"]
    early = late = 0
    while late < 2 and early < 100:
        process = rig.start(app, rig.vdevs([l3fwd.SILENT]))
        await_handlers(process, sig)
        time.sleep(early * 0.04)
        process.send_signal(sig)
        run = rig.finish(process)
        assert run.code == 0, run
        stopped = "l3fwd-graph: stopped while it started" in run.stderr
        assert stopped != ("HAL picked" in run.stdout), run
        early, late = early + stopped, late + (not stopped)
    assert early > 3 and late == 2, (early, late)


SLOW_US = 50000  # of a port, for each rule


@pytest.mark.parametrize("what", ["policy", "acl"])
def test_stop_does_not_wait_for_each_rule_of_a_late_port(rig, what):
    """One poll installed 256 rules however late the port answered, and the end removed each."""
    flow = "src 192.0.2.7 dst 10.{}.{}.1 proto tcp sport 1000 dport 22"
    flows = [flow.format(i >> 8, i & 255) for i in range(600)]
    app = {"policy": [rules(rig, *(f"rule {i} class {i + 1} {of}" for i, of in enumerate(flows))),
                      f"--offload=sim:mlx5,settle_us=2000,slow_us={SLOW_US}"],
           "acl": [acl(rig, "edge", *(f"rule {i + 1} deny {of}" for i, of in enumerate(flows))),
                   "--acl=in:0=edge",
                   f"--acl-offload=sim:mlx5,settle_us=2000,slow_us={SLOW_US}"]}[what]
    sent = [ip4(0, proto=6, dport=dport, dst=(10, i >> 8, i & 255, 1))
            for i in range(600) for dport in (22, 80)]
    run_now = live.Live(rig, EVERYWHERE, [*l3fwd.options(2, [(0, 0, 1)]), *app], replay(rig, sent))
    time.sleep(5)  # rules go into hardware one by one
    began = time.monotonic()
    run = run_now.stop()
    took = time.monotonic() - began
    stood = run.stats["offloads"][0] if what == "policy" else run.stats["acl_offloads"][0]["offload"]
    assert 20 < stood["hw_rules"] < 256 and stood["state"] == "up", run
    assert took < 256 * SLOW_US / 1e6, (took, run)
    assert "port 0 answers late: " in run.stderr, run
    totals = run.stats["totals"]
    assert totals["rx"] == totals["tx"] + totals["dropped"] and totals["rx"] > 10000, run
    if what == "policy":
        assert stood["marked"] > 0 and stood["mismatches"] == 0, run
    else:
        counted = sum(rule["packets"] for rule in run.stats["acl"]["edge"]["rules"])
        assert counted == run.stats["drops"]["acl_denied"] + stood["dropped"], run
        assert stood["dropped"] > 0 and stood["leaked"] == 0, run


def test_failed_start_leaves_output_files_as_they_were(rig):
    kept = rig.write("stats.json", "precious")
    run = rig.run([*l3fwd.options(1, [(0, 0, 1)]), f"--json={kept}"],
                  [*rig.vdevs([l3fwd.SILENT]), "-m", "64"])  # a table takes 64 MB by itself
    assert run.code != 0 and "table" in run.stderr, run
    assert kept.read_text() == "precious"


REFUSED = {
    "folder": ["--capture={}/absent/capture,at=pkt_cls"],
    "point": ["--capture={}/capture,at=absent"],
    "second_output": ["--dump-routes=/dev/full"],
}


@pytest.mark.parametrize("why", REFUSED)
def test_start_that_is_refused_late_leaves_output_files_as_they_were(rig, why):
    """Files were emptied before a capture could be refused."""
    outputs = {option: rig.write(option, "precious")
               for option in ("export-dot", "export-json", "json", "dump-routes")
               if option not in REFUSED[why][0]}
    run = rig.run([*l3fwd.options(1, [(0, 0, 1)]), "--until-idle=100",
                   *(f"--{option}={path}" for option, path in outputs.items()),
                   *(word.format(rig.folder) for word in REFUSED[why])],
                  rig.vdevs([l3fwd.SILENT]))
    assert run.code == 1 and f"{REFUSED[why][0].split('=')[0]}: " in run.stderr, run
    assert len(outputs) >= 3
    assert {path.read_text() for path in outputs.values()} == {"precious"}


OUTPUTS = {"--export-dot": "digraph", "--export-json": "{", "--json": "{", "--dump-routes": "# "}


@pytest.mark.parametrize("call, option, value", [
    ("ftruncate", "--json", "{}"), ("ftruncate", "--dump-routes", "{}"),
    ("write", "--capture", "{},at=pkt_cls")])
def test_file_that_fails_once_others_are_empty_refuses_no_start(rig, call, option, value):
    """The start was refused, and what had been in files was lost."""
    outputs = {name: rig.write(name, "precious") for name in OUTPUTS if name != option}
    path = rig.write("failing", "precious")
    rig.env = l3fwd.NO_LEAK_CHECK
    process = rig.start([*l3fwd.options(1, [(0, 0, 1)]), "--until-idle=50",
                         f"{option}={value.format(path)}",
                         *(f"{name}={other}" for name, other in outputs.items())],
                        rig.vdevs([l3fwd.SILENT]), under=failing(call, errno.EIO, path))
    run = rig.finish(process)
    assert injected(path) > 0
    assert run.code == 1, run
    assert run.stderr.count(f"l3fwd-graph: {option}: {path}: Input/output error\n") == 1, run
    assert "none leaked" in run.stdout, run
    for name, other in outputs.items():
        assert other.read_text().startswith(OUTPUTS[name]), name
    assert path.read_text() == ("" if option == "--capture" else "precious")


def test_dump_whose_file_failed_is_refused_for_that_reason(rig):
    path = rig.write("dump", "precious")
    rig.env = l3fwd.NO_LEAK_CHECK
    strace, *fault = failing("ftruncate", errno.EIO, path)
    with open(rig.folder / "stderr", "w", encoding="utf-8") as err:
        process = rig.start([*l3fwd.options(1, [(0, 0, 1)]), f"--dump-routes={path}"],
                            rig.vdevs([l3fwd.SILENT]), stderr=err, under=[strace, "-D", *fault])
    live.until(lambda: live.workers(process), "a worker", process)
    live.await_work(process)
    process.send_signal(signal.SIGUSR1)
    said = "l3fwd-graph: SIGUSR1 writes routes, but the file of --dump-routes has failed\n"
    live.until(lambda: said in (rig.folder / "stderr").read_text(), "an answer", process)
    process.send_signal(signal.SIGTERM)
    assert rig.finish(process).code == 1 and path.read_text() == "precious"


@pytest.mark.parametrize("option", ["--routes", "--policy", "--json", "--export-dot"])
def test_file_whose_server_says_interrupted_is_no_stop(rig, option):
    """It was taken for a signal that had stopped the program, which ended with 0."""
    path = rig.write("file", "" if option == "--policy" else "10.0.0.0/8 port 0 mac "
                     "02:00:00:00:00:01\n")
    rig.env = l3fwd.NO_LEAK_CHECK
    process = rig.start([*l3fwd.options(1, [(0, 0, 1)]), "--until-idle=50", f"{option}={path}"],
                        rig.vdevs([l3fwd.SILENT]), under=failing("openat", errno.EINTR, path))
    run = rig.finish(process)
    assert injected(path) > 0
    assert run.code == 1 and "stopped while it started" not in run.stderr, run
    assert f"l3fwd-graph: {option}: {path}: Interrupted system call\n" in run.stderr, run


@pytest.mark.parametrize("option", ["export-dot", "export-json", "dump-routes", "json"])
def test_export_that_is_interrupted_after_a_stop_is_lost(rig, option):
    path = rig.write("file", "")
    rig.env = l3fwd.NO_LEAK_CHECK
    strace, *fault = failing("close", errno.EINTR, path)
    process = rig.start([*l3fwd.options(1, [(0, 0, 1)]), f"--{option}={path}"],
                        rig.vdevs([[frames.traffic("198.18.0.1")]]),
                        under=[strace, "-D", *fault])  # whose child gets no signal
    await_handlers(process, signal.SIGTERM)
    live.until(lambda: live.workers(process), "a worker", process)
    live.await_work(process)
    process.send_signal(signal.SIGTERM)
    run = rig.finish(process)
    live.until(lambda: injected(path) > 0, "strace's report")
    assert run.code == 1 and "stopped while it started" not in run.stderr, run
    assert f"l3fwd-graph: --{option}: {path}: Interrupted system call\n" in run.stderr, run


@pytest.mark.parametrize("option", ["--explain", "--explain=json"])
def test_explain_that_cannot_be_written_fails(rig, option):
    with open("/dev/full", "w", encoding="ascii") as full:
        process = rig.start([*l3fwd.options(1, [(0, 0, 1)]), option],
                            rig.vdevs([l3fwd.SILENT]), stdout=full)
        run = rig.finish(process)
    assert run.code != 0 and "--explain" in run.stderr, run


def test_port_beyond_the_mask_takes_no_part_in_the_selection(rig):
    eal = rig.vdevs([l3fwd.SILENT, l3fwd.SILENT])
    run = rig.run(["-p", "0x2", "--config=(1,0,1)", "--explain=json"], eal)
    assert run.code == 0, run
    targets = {s["target"] for s in json.loads(run.stdout)["selections"]}
    assert targets == {"process", "port 1"}, run
    run = rig.run(["-p", "0x2", "--config=(1,0,1)", "--node=pkt_cls@0=scalar", "--explain"], eal)
    assert run.code != 0 and "no port '0'; there are: 1" in run.stderr, run
