# SPDX-License-Identifier: BSD-3-Clause
"""vswitch-graph from outside: each bad value of its options, files that it reads and writes, reloads,
dumps, telemetry, a tunnel between two of them. What rules say of any packet is for test_vswitch_rules.py."""

import re
import signal

import pytest

import l3fwd
import live
import test_book
from l3fwd import SILENT
from test_cli import assert_refused
from test_files_read import KINDS, placed
from test_l2fwd import mask

RULES = """# Two ports
priority=90,in_port=1,ip,nw_dst=198.18.1.0/24 actions=output:2
priority=1 actions=drop
"""
TUNNEL = "vx,port=10,uplink=2,local=192.0.2.1,remote=192.0.2.2,dst-mac=02:00:00:00:00:02"
FORM = "NAME,port=N,uplink=N,local=IP,remote=IP,dst-mac=MAC"
CACHES = "none, emc, emc+smc, dfc, smc, lines, frames, auto"


@pytest.fixture(name="rig")
def vswitch_rig(rig):
    """A rig that runs vswitch-graph."""
    rig.program = l3fwd.VSWITCH
    return rig


def frame(dst, size=60):
    """A frame of UDP over IPv4 to an address of 198.18.0.0/16, given by its last two bytes."""
    ip = bytes.fromhex("4500") + (size - 14).to_bytes(2, "big") + bytes.fromhex(
        "00000000401100000a000001c612") + dst.to_bytes(2, "big")
    udp = bytes.fromhex("04d20035") + (size - 34).to_bytes(2, "big") + bytes(2)
    return bytes.fromhex("0200000000020200000000010800") + ip + udp + bytes(size - 42)


GOOD, BAD = frame(0x0101), frame(0x0201)  # by RULES


def switch(rig, ports, *app, rules=RULES):
    """Forwards all that arrives on these ports, by rules."""
    flows = [] if rules is None else [f"--flows={rig.write('flows', rules)}"]
    return rig.run([*mask(len(ports)), *flows, *rig.until_idle(), *app], rig.vdevs(ports))


def counted(text):
    """The packets of each rule of a dump, by its actions."""
    found = re.findall(r"(?m)^.*n_packets=(\d+),.* actions=(.*)$", text)
    assert len(found) == len(text.splitlines()) > 0, text
    return {actions: int(n) for n, actions in found}


def test_rules_forward_drop_and_count(rig):
    dump = rig.folder / "counts"
    run = switch(rig, [[[GOOD] * 30 + [BAD] * 12], SILENT], f"--dump-flows={dump}")
    assert l3fwd.assert_same_frames([GOOD] * 30, run.sent(1), "port 1") == 30
    assert run.stats["totals"] == {"rx": 42, "copied": 0, "tx": 30, "dropped": 12}, run
    assert run.stats["drops"]["no_output"] == 12, run
    assert counted(dump.read_text()) == {"output:2": 30, "drop": 12}
    flows = run.stats["flows"]
    assert (flows["rules"], flows["megaflows"], flows["lists"], flows["caches"]) == (2, 2, 2, "auto")
    assert flows["workers"][0]["packets"] == 42 and flows["workers"][0]["lost"] == 0
    # A dump is a file of rules.
    again = switch(rig, [[[GOOD, BAD]], SILENT], "--dump-flows=-", rules=dump.read_text())
    assert again.sent(1) == [GOOD], again
    lines = [line for line in again.stdout.splitlines() if line.startswith("duration=")]
    assert counted("\n".join(lines)) == {"output:2": 1, "drop": 1}, again


def test_without_rules_packets_are_dropped(rig):
    run = switch(rig, [[[GOOD]], SILENT], rules=None)
    assert run.stats["drops"]["no_output"] == 1 == run.stats["totals"]["dropped"], run


def tunnel(**change):
    """A tunnel with one field changed; None: left out."""
    fields = dict(word.split("=") for word in TUNNEL.split(",")[1:])
    fields.update({name.replace("_", "-"): value for name, value in change.items()})
    return "--tunnel=vx," + ",".join(f"{n}={v}" for n, v in fields.items() if v is not None)


NAMES = "1 to 15 letters, digits, '.', '_' and '-', a letter first, and no word of an action"


def missing(field):
    """What is said of a tunnel without a field."""
    return f"--tunnel: {field} is missing; the form is {FORM}"


BAD_VALUES = {
    "--cache=fast": f"--cache: 'fast' is none of {CACHES}",
    "--cache=": f"--cache: '' is none of {CACHES}",
    "--max-flows=0": "--max-flows: '0' is not a number from 1 to 16777216",
    "--max-flows=16777217": "--max-flows: '16777217' is not a number from 1 to 16777216",
    "--max-flows=many": "--max-flows: 'many' is not a number from 1 to 16777216",
    "--no-flood=0": "--no-flood: '0' is not a number from 1 to 65279",
    "--no-flood=65280": "--no-flood: '65280' is not a number from 1 to 65279",
    "--no-flood=dpdk0": "--no-flood: 'dpdk0' is not a number from 1 to 65279",
    "--no-flood=3": "--no-flood: 3 is the OpenFlow number of no port of -p, and of no tunnel",
    "--mode=eventdev": "--mode: only poll is possible: flows belong to the worker that receives them",
    "--mode=dispatch --pin=flow_apply=1":
        "--mode: only poll is possible: flows belong to the worker that receives them",
    "--tunnel=,port=10": f"--tunnel: name: '' is not {NAMES}",
    "--tunnel=sixteen_letters_,port=10": f"--tunnel: name: 'sixteen_letters_' is not {NAMES}",
    "--tunnel=vx,port": f"--tunnel: 'port' is not FIELD=VALUE; the form is {FORM}",
    "--tunnel=vx,key=5": "--tunnel: 'key' is no field; there are port, uplink, local, remote, "
                         "dst-mac and src-mac",
    "--tunnel=vx,port=10,port=10": "--tunnel: port is given twice",
    tunnel(port=None): missing("port"),
    tunnel(uplink=None): missing("uplink"),
    tunnel(local=None): missing("local"),
    tunnel(remote=None): missing("remote"),
    tunnel(dst_mac=None): missing("dst-mac"),
    tunnel(port=0): "--tunnel: '0' is not a number from 1 to 65279",
    tunnel(port=65280): "--tunnel: '65280' is not a number from 1 to 65279",
    tunnel(uplink="x"): "--tunnel: 'x' is not a number from 1 to 65279",
    tunnel(uplink=3): "--tunnel: uplink: 3 is the OpenFlow number of no port of -p",
    tunnel(uplink=1000): "--tunnel: uplink: 1000 is the OpenFlow number of no port of -p",
    tunnel(local="192.0.2"): "--tunnel: local: '192.0.2' is no address of IPv4 or IPv6",
    tunnel(local="flow"): "--tunnel: local: 'flow' is no address of IPv4 or IPv6",
    tunnel(remote="1::2::3"): "--tunnel: remote: '1::2::3' is no address of IPv4 or IPv6",
    tunnel(remote="2001:db8::1"):
        "--tunnel: remote: '2001:db8::1' is of another version of IP than the other address",
    tunnel(dst_mac="02:00"): "--tunnel: '02:00' is not a MAC address, MM:MM:MM:MM:MM:MM",
    tunnel(src_mac="x"): "--tunnel: 'x' is not a MAC address, MM:MM:MM:MM:MM:MM",
}


@pytest.mark.parametrize("words", BAD_VALUES)
def test_bad_value_is_refused(rig, words):
    run = switch(rig, [[[GOOD]], SILENT], *words.split())
    assert_refused(run, [])
    assert run.stderr.splitlines()[-1] == f"vswitch-graph: {BAD_VALUES[words]}", run


@pytest.mark.parametrize("words, why", [
    ([tunnel(port=1)], "port 'vx' of the switch: another one has its number, name or addresses"),
    ([tunnel(), tunnel(port=11, local="192.0.2.9")],
     "port 'vx' of the switch: another one has its number, name or addresses"),
    ([tunnel(), "--tunnel=vy," + TUNNEL.partition(",")[2].replace("=10", "=11")],
     "port 'vy' of the switch: another one has its number, name or addresses"),
], ids=["number", "name", "addresses"])
def test_tunnel_that_is_another_port_is_refused(rig, words, why):
    run = switch(rig, [[[GOOD]], SILENT], *words)
    assert_refused(run, [why])


def test_as_many_tunnels_and_ports_as_an_option_has_room_for(rig):
    made = [f"--tunnel=v{n},port={n},uplink=2,local=192.0.2.{n},remote=flow,"
            "dst-mac=02:00:00:00:00:02" for n in range(10, 75)]
    spared = [f"--no-flood={n}" for n in range(10, 74)] + ["--no-flood=2"]
    run = switch(rig, [[[GOOD]], SILENT], *made[:64], *spared[:64])
    assert run.stats["totals"]["tx"] == 1, run
    assert_refused(switch(rig, [[[GOOD]], SILENT], *made), ["--tunnel"])
    assert_refused(switch(rig, [[[GOOD]], SILENT], *made[:64], *spared), ["--no-flood"])


def test_flood_leaves_out_ports_and_tunnels_that_are_named(rig):
    rules = "actions=flood\n"
    run = switch(rig, [[[GOOD]], SILENT, SILENT], TUNNEL_OPTION, rules=rules)
    assert [len(run.sent(p)) for p in range(3)] == [0, 2, 1], run  # port 1 is the uplink, too
    run = switch(rig, [[[GOOD]], SILENT, SILENT], TUNNEL_OPTION, "--no-flood=10", rules=rules)
    assert [run.sent(p) for p in range(3)] == [[], [GOOD], [GOOD]], run
    run = switch(rig, [[[GOOD]], SILENT, SILENT], "--no-flood=3", rules=rules)
    assert [run.sent(p) for p in range(3)] == [[], [GOOD], []], run


TUNNEL_OPTION = f"--tunnel={TUNNEL}"

BAD_RULES = {
    "a field that is none": ("priority=5,colour=3 actions=drop", "colour: not supported in a match"),
    "a number too high": ("priority=70000 actions=drop", "priority: "),
    "no actions": ("in_port=1", "actions: missing"),
    "a field without what it needs": ("nw_dst=10.0.0.0/8 actions=drop",
                                      "nw_dst: the line must say ip or arp, too"),
    "a port that is none": ("actions=output:vx", "output: 'vx' is not a port"),
    "an action that is none": ("actions=teleport", "actions: action teleport is not supported"),
}


@pytest.mark.parametrize("case", BAD_RULES, ids=lambda name: name.replace(" ", "-"))
def test_bad_rule_is_refused_by_file_line_and_field(rig, case):
    line, named = BAD_RULES[case]
    run = switch(rig, [[[GOOD]], SILENT], rules=RULES + line + "\n")
    assert_refused(run, [f"vswitch-graph: --flows: {rig.folder}/flows:4: {named}"])


def test_files_that_cannot_be_read_or_written_are_refused(rig):
    nowhere, named = rig.folder / "no" / "file", "No such file or directory"
    for option in ("--flows", "--dump-flows", "--bridge"):
        run = switch(rig, [[[GOOD]], SILENT], f"{option}={nowhere}",
                     rules=None if option == "--flows" else RULES)
        assert_refused(run, [f"vswitch-graph: {option}: {nowhere}: {named}\n"])


@pytest.mark.parametrize("kind", KINDS)
def test_rules_in_no_regular_file_are_refused(rig, kind):
    with placed(rig.folder / "input", kind) as path:
        run = switch(rig, [[[GOOD]], SILENT], f"--flows={path}", rules=None)
    assert run.code == 1 and f"vswitch-graph: --flows: {path}: {KINDS[kind]}" in run.stderr, run


@pytest.mark.parametrize("kind", ["FIFO", "directory", "socket"])
def test_dump_into_no_regular_file_is_refused(rig, kind):
    with placed(rig.folder / "output", kind) as path:
        run = switch(rig, [[[GOOD]], SILENT], f"--dump-flows={path}")
    assert_refused(run, [f"vswitch-graph: --dump-flows: {path}: is not a regular file\n"])


@pytest.mark.parametrize("option", ["--flows", "--bridge", "--cap-file"])
@pytest.mark.parametrize("output", ["--dump-flows=%s", "--json=%s", "--export-dot=%s",
                                    "--capture=%s,at=flow_lookup"])
def test_no_output_is_written_over_an_input(rig, option, output):
    text = {"--flows": RULES, "--bridge": "port 0 access 1\nport 1 access 1\n",
            "--cap-file": "port0.rx_mark=no\n"}[option]
    path = rig.write("input", text)
    # --json would come twice.
    run = rig.run([*mask(2), f"{option}={path}", "--until-idle=100", output % path],
                  rig.vdevs([[[GOOD]], SILENT]))
    assert_refused(run, [f"{output.split('=')[0]}: {path}: is the file of {option}, which"])
    assert path.read_text() == text


class Live(live.Live):
    """A running vswitch-graph."""

    WHAT = "flows"
    CHANGED = re.compile(r"^flows: (\d+) rules, before (\d+), in (\d+) ms$", re.M)
    UNCHANGED = re.compile(r"^vswitch-graph: flows unchanged: (.*)$", re.M)

    def reload(self, routes=None):
        """How many rules there are, and were."""
        return super().reload(routes)[:2]

    def more(self, port, n=500):
        """Waits until a port has sent so many more packets."""
        def sent():
            return self.ask("/halyard/ports")[str(port)]["tx"]
        before = sent()
        self.wait(lambda: sent() >= before + n, f"{n} packets of port {port}")


def running(rig, rules=RULES, *app, telemetry=True):
    """The frames of both kinds for ever, from port 0."""
    eal = [*rig.vdevs([[[GOOD, BAD]]], tx_queues=0, more=",infinite_rx=1"),
           "--vdev", "net_null1,no-rx=1", "--vdev", "net_null2,no-rx=1"]
    return Live(rig, rules, [*mask(3), *app], eal, telemetry=telemetry)


def sent(run):
    """Packets that left, by port."""
    return [port["tx"] for port in run.ask("/halyard/ports").values()]


def test_reload_changes_where_packets_go_and_a_bad_one_does_not(rig):
    run = running(rig)
    run.more(1)
    assert run.reload(RULES.replace("output:2", "output:3") + "priority=2,arp actions=drop\n") == (
        3, 2)
    live.await_work(run.process)
    before = sent(run)
    run.more(2)
    assert sent(run)[:2] == before[:2], "port 1 still sends"
    for line, named in BAD_RULES.values():
        why = run.reload_bad(RULES + line + "\n")
        assert why.startswith(f"{rig.folder}/flows:4: ") and named in why, why
    run.path.unlink()
    assert run.reload_bad() == f"{rig.folder}/flows: No such file or directory"
    run.more(2)
    assert sent(run)[:2] == before[:2], "a bad file changed something"
    assert run.ask("/halyard/flows/stats")["rules"] == 3
    assert run.reload(RULES) == (2, 3)
    run.more(1)
    run.stop()


def test_sighup_without_files_says_what_it_needs(rig):
    process = rig.start([*mask(1), f"--json={rig.folder}/stats.json"],
                        rig.vdevs([[[GOOD]]], tx_queues=0, more=",infinite_rx=1"))
    live.await_handlers(process, signal.SIGHUP)
    live.until(lambda: live.workers(process), "a worker", process)
    live.await_work(process)
    process.send_signal(signal.SIGHUP)
    live.await_ticks(process)
    process.send_signal(signal.SIGTERM)
    run = rig.finish(process)
    assert ("vswitch-graph: nothing changed: SIGHUP reads files again, which requires --flows or "
            "--bridge\n") in run.stderr, run
    assert run.stats["totals"]["rx"] > 0


def test_sigusr1_writes_a_dump_that_is_rules(rig):
    dump = rig.folder / "counts"
    run = running(rig, RULES, f"--dump-flows={dump}")
    run.more(1)
    run.process.send_signal(signal.SIGUSR1)
    run.wait(lambda: dump.exists() and dump.read_text().count("\n") == 2, "a dump")
    first = counted(dump.read_text())
    assert min(first.values()) > 0 and set(first) == {"output:2", "drop"}, first
    assert run.reload(dump.read_text()) == (2, 2)
    run.more(1)
    ended = run.stop()
    last = counted(dump.read_text())
    # Rules that stay keep their counts.
    assert first["output:2"] < last["output:2"] <= ended.stats["totals"]["tx"], (first, last)


def test_reload_keeps_counts_of_rules_that_stay(rig):
    """What was counted since the last half second was lost: most of these packets. What comes while
    the file is read still is."""
    dump = rig.folder / "counts"
    run = running(rig, RULES, f"--dump-flows={dump}")
    for n in range(8):
        live.await_work(run.process, 0.2)
        more = f"priority={n + 10},arp actions=drop\n"
        assert run.reload(RULES + more)[0] == 3
    stats = run.stop().stats
    counts = counted(dump.read_text().replace("arp actions=drop", "arp actions=none"))
    assert set(counts) == {"output:2", "drop", "none"}, counts
    forwarded, dropped = stats["totals"]["tx"], stats["drops"]["no_output"]
    assert forwarded * 3 / 4 < counts["output:2"] <= forwarded > 1000, (counts, stats)
    assert dropped * 3 / 4 < counts["drop"] <= dropped > 1000, (counts, stats)


def text_of(run, command):
    """All lines of a text, in as many answers as it takes; and how many these were."""
    lines, answers, cursor = [], 0, "0"
    while cursor is not None:
        part = run.ask(f"{command},{cursor}").splitlines()
        cursor = None
        if part and part[-1].startswith("more: "):
            cursor = part.pop().removeprefix("more: ")
        lines += part
        answers += 1
    return lines, answers


def test_telemetry_shows_counts_rules_and_megaflows(rig):
    run = running(rig)
    run.more(1)
    stats = run.ask("/halyard/flows/stats")
    assert (stats["rules"], stats["megaflows"], stats["lists"]) == (2, 2, 2), stats
    assert stats["packets"] == sum(stats[k] for k in ("frames", "exact", "index", "searched", "misses"))
    assert stats["packets"] > 500 and stats["added"] == 2, stats
    assert stats["received"] >= stats["packets"] and stats["cycles"] > stats["received"], stats
    rules = run.ask("/halyard/flows/rules")
    assert min(counted(rules).values()) > 0, rules
    assert set(counted(run.ask("/halyard/flows/rules,1"))) == {"drop"}
    assert set(counted(run.ask("/halyard/flows/rules,in_port=1"))) == {"output:2"}
    assert run.ask("/halyard/flows/rules,1 in_port=1") == ""
    assert run.ask("/halyard/flows/rules,2") == "" == run.ask("/halyard/flows/rules,4294967295")
    dump, answers = text_of(run, "/halyard/flows/dump")
    found = [re.fullmatch(r"(.*), packets:(\d+), bytes:(\d+), age:\d+\.\d{3}s, used:\d+\.\d{3}s, "
                          r"actions:(.*)", line) for line in dump]
    assert answers == 1 and sorted(m[4] for m in found) == ["drop", "output:1"], dump
    assert all(int(m[3]) == 60 * int(m[2]) > 0 for m in found), dump
    trace = run.ask("/halyard/flows/trace,in_port=1,udp,nw_dst=198.18.1.1")
    assert trace.startswith("Flow: udp,in_port=1,") and trace.endswith("\nOperations: output:1\n")
    run.stop()


def test_telemetry_gives_many_rules_in_parts(rig):
    many = RULES + "".join(f"priority={n},in_port=1,udp,tp_dst={n} actions=drop\n"
                           for n in range(100, 500))
    run = running(rig, many)
    lines, answers = text_of(run, "/halyard/flows/rules")
    assert len(lines) == 402 and answers > 4, (len(lines), answers)
    assert len({re.sub(r"^.*table=", "", line) for line in lines}) == 402
    run.stop()


def test_telemetry_changes_rules(rig):
    run = running(rig)
    run.more(1)
    steps = [("add,priority=95,in_port=1,udp,nw_dst=198.18.2.0/24 actions=output:3", (0, 3), 2),
             ("modify,in_port=1,ip,nw_dst=198.18.1.0/24 actions=3", (1, 3), 2),
             ("modify_strict,priority=90,in_port=1,ip,nw_dst=198.18.1.0/24 actions=2", (1, 3), 1),
             ("delete_strict,priority=94,in_port=1,udp,nw_dst=198.18.2.0/24", (0, 3), 2),
             ("delete_strict,priority=95,in_port=1,udp,nw_dst=198.18.2.0/24", (1, 2), 1),
             ("modify,in_port=2 actions=drop", (0, 3), 1)]
    for command, (changed, rules), port in steps:
        assert run.ask(f"/halyard/flows/{command}") == {"changed": changed, "rules": rules}, command
        run.more(port)
    assert run.ask("/halyard/flows/delete") == {"changed": 3, "rules": 0}
    live.await_work(run.process)
    before = sent(run)
    live.await_work(run.process)
    assert sent(run) == before, "packets leave by rules that were deleted"
    assert run.ask("/halyard/flows/rules") == ""
    run.stop()


def test_telemetry_changes_several_rules_at_once(rig):
    run = running(rig)
    run.more(1)
    many = ";".join(f"priority={n},in_port=1,udp,tp_dst={n} actions=drop" for n in range(100, 115))
    assert run.ask(f"/halyard/flows/add,{many}") == {"changed": 0, "rules": 17}
    both = "priority=95,in_port=1,ip,nw_dst=198.18.1.0/24 actions=3; priority=99,in_port=1,ip,nw_dst=198.18.2.0/24 actions=3"
    assert run.ask(f"/halyard/flows/add,{both}") == {"changed": 0, "rules": 19}
    run.more(2)
    stats = run.ask("/halyard/flows/stats")
    assert stats["revalidations"] == 2 and stats["kept"] + stats["asked"] > 0, stats
    wrong = {"priority=1 actions=1;priority=2,nw_dst=1.2.3.4 actions=1":
                 "rule 2 of 2: nw_dst: the line must say ip or arp, too",
             "priority=1 actions=1;": "rule 2 of 2: there is none before or after a ';'",
             " ;priority=1 actions=1": "rule 1 of 2: there is none before or after a ';'"}
    for text, why in wrong.items():
        assert run.ask(f"/halyard/flows/add,{text}") == {"error": why}, text
    assert run.ask("/halyard/flows/delete,in_port=1;") == {"error": "rule 2 of 2: there is none before or after a ';'"}
    stats = run.ask("/halyard/flows/stats")
    assert (stats["rules"], stats["revalidations"]) == (19, 2), "a fault in one rule changes nothing"
    strict = ";".join(f"priority={n},in_port=1,udp,tp_dst={n}" for n in range(100, 115))
    assert run.ask(f"/halyard/flows/delete_strict,{strict}") == {"changed": 15, "rules": 4}
    ended = run.stop()
    flows = ended.stats["flows"]
    assert flows["revalidations"] == 3 and flows["kept"] + flows["asked"] > 0, flows


def test_telemetry_switches_caches(rig):
    run = running(rig, RULES, "--cache=none")
    for mode in CACHES.split(", "):
        assert run.ask(f"/halyard/flows/caches,{mode}")["caches"] == mode
        run.more(1)
        assert run.ask("/halyard/flows/stats")["caches"] == mode
    run.ask("/halyard/flows/caches,smc")
    found = run.ask("/halyard/flows/stats")["index"]
    run.wait(lambda: run.ask("/halyard/flows/stats")["index"] > found + 500, "hits of the index")
    ended = run.stop()
    assert ended.stats["flows"]["caches"] == "smc", ended


REFUSALS = {
    "caches,fast": f"caches: 'fast' is none of {CACHES}",
    "caches": f"caches: '' is none of {CACHES}",
    "rules,nw_dst=10.0.0.1": "nw_dst: the line must say ip or arp, too",
    "rules,4294967296": "lines to skip: '4294967296' is no number of 0 to 4294967295",
    "rules,1x": "lines to skip: '1x' is no number of 0 to 4294967295",
    "dump,x": "cursor: 'x' is no number of 0 to 4294967295",
    "dump,4294967296": "cursor: '4294967296' is no number of 0 to 4294967295",
    "dump,0 x": "'x': a cursor is the only parameter",
    "trace": "in_port: missing; a packet comes from a port of the switch",
    "trace,in_port=1,nw_frag=yes": "nw_frag: 'yes' is not one value, as a packet has",
    "add": "actions: missing; a rule is MATCH,... actions=ACTION,...",
    "add,in_port=1": "actions: missing; a rule is MATCH,... actions=ACTION,...",
    "modify,in_port=1": "actions: missing; a rule is MATCH,... actions=ACTION,...",
    "modify_strict,in_port=1": "actions: missing; a rule is MATCH,... actions=ACTION,...",
    "delete,nw_dst=10.0.0.1": "nw_dst: the line must say ip or arp, too",
    "delete_strict,nw_dst=10.0.0.1": "nw_dst: the line must say ip or arp, too",
}


def test_telemetry_refuses_what_is_wrong_and_changes_nothing(rig):
    run = running(rig)
    for command, why in REFUSALS.items():
        assert run.ask(f"/halyard/flows/{command}") == {"error": why}, command
    stats = run.ask("/halyard/flows/stats")
    assert (stats["rules"], stats["caches"], stats["revalidations"]) == (2, "auto", 0), stats
    run.more(1)
    run.stop()


def test_two_switches_and_a_tunnel_carry_frames_unchanged(rig):
    rules = "in_port=1 actions=set_tunnel:100,output:vx\nin_port=vx,tun_id=100 actions=output:1\n"
    frames = [frame(0x0101, 60 + n) for n in range(300)]  # one flow: in order
    macs = "src-mac=02:00:00:00:00:01"
    run = switch(rig, [[frames], SILENT], f"{TUNNEL_OPTION},{macs}", rules=rules)
    outer = run.sent(1)
    assert len(outer) == 300 == run.stats["totals"]["tx"], run
    for inner, whole in zip(frames, outer, strict=True):
        assert whole[:12].hex() == "020000000002020000000001" and whole[50:] == inner
        assert whole[26:34].hex() == "c0000201c0000202" and whole[46:49] == b"\x00\x00\x64"
    back = f"--tunnel=vx,port=10,uplink=2,local=192.0.2.2,remote=192.0.2.1,dst-mac={'02:' * 5}02"
    run = switch(rig, [SILENT, [outer]], back, rules=rules)
    assert l3fwd.assert_same_frames(frames, run.sent(0), "behind the tunnel") == 300
    wrong = switch(rig, [SILENT, [outer]], back, rules=rules.replace("tun_id=100", "tun_id=101"))
    assert wrong.stats["drops"]["no_output"] == 300 and wrong.sent(0) == [], wrong


def test_normal_needs_a_bridge(rig):
    rules = "actions=normal\n"
    run = switch(rig, [[[GOOD]], SILENT, SILENT], rules=rules)
    assert run.stats["drops"]["no_edge"] == 1, run
    bridge = rig.write("bridge", "".join(f"port {p} access 1\n" for p in range(3)))
    run = switch(rig, [[[GOOD]], SILENT, SILENT], f"--bridge={bridge}", rules=rules)
    assert [run.sent(p) for p in range(3)] == [[], [GOOD], [GOOD]], run
    assert run.stats["bridge"]["flooded"] == 1, run


def test_cycles_a_packet_are_of_the_worker_that_received_it(rig):
    eal = rig.vdevs([[[GOOD] * 3000], SILENT], tx_queues=2)
    run = rig.run([*mask(2), f"--flows={rig.write('flows', RULES)}", "--config=(0,0,1),(1,0,2)",
                   *rig.until_idle()], eal, 2)
    one, two = run.stats["flows"]["workers"]
    assert (one["received"], two["received"]) == (3000, 0) == (run.stats["totals"]["rx"], two["cycles"])
    assert one["cycles"] == sum(node["cycles"] for node in run.stats["nodes"]) > 3000 * 10, run
    assert f"worker 0: 3000 packets were received, {one['cycles'] / 3000:.1f} cycles each" in run.stdout, run
    assert "worker 1: 0 packets were received, 0.0 cycles each" in run.stdout, run


@pytest.mark.parametrize("workers, config", [
    (1, "(0,0,1),(1,0,1)"), (2, "(0,0,1),(0,1,2),(1,0,1)")], ids=["one", "two"])
def test_storm_limit_is_a_ports_whichever_workers_receive_its_frames(rig, workers, config):
    """As l2fwd-graph's: two workers that the limit is not divided among would let twice as many pass."""
    bridge = rig.write("bridge", "port 0 access 1 storm broadcast 10000\nport 1 access 1\n")
    broadcast = b"\xff" * 6 + GOOD[6:]
    eal = rig.vdevs([[[broadcast] * 1500] * workers, SILENT], tx_queues=workers)
    run = rig.run([*mask(2), f"--flows={rig.write('flows', 'actions=normal')}", f"--bridge={bridge}",
                   f"--config={config}", *rig.until_idle()], eal, workers)
    passed, dropped = run.stats["totals"]["tx"], run.stats["drops"]["storm_broadcast"]
    assert passed + dropped == 1500 * workers == run.stats["totals"]["rx"], run
    assert 1000 <= passed < 1500, run


def test_own_options_are_in_the_book_and_in_the_help(rig):
    usage = rig.run(["--help"], rig.vdevs([SILENT])).stdout
    own = usage.partition("\nSwitching:\n")[2].partition("\n\n")[0]
    page = (l3fwd.ROOT / "doc" / "vswitch-graph.rst").read_text()
    in_help = re.findall(r"(?m)^  (--?[A-Za-z][A-Za-z-]*\S*(?: [A-Z]\S*)?)", own)
    in_book = re.findall(r"(?m)^\.\. option:: +(.*)$", page)
    assert in_help == in_book and len(in_book) == 8


def test_drop_reasons_and_keys_are_in_the_book(rig):
    page = (l3fwd.ROOT / "doc" / "vswitch-graph.rst").read_text()
    section = page.partition("\nDrops\n")[2].partition("``tx_full``")[0]
    named = set(re.findall(r"(?m)^   \* - ``(\w+)``$", section))
    stats = switch(rig, [SILENT]).stats
    assert set(stats["drops"]) - named == {"port_down", "tx_full"} and named <= set(stats["drops"])
    table = page.partition("\nStatistics\n")[2].partition("Counts of Open vSwitch's")[0]
    rows = [row for row in re.findall(r"``([\w\[\]]+)``", table)]
    keys = set(stats["flows"]) | set(stats["flows"]["workers"][0])
    assert keys - {row.removesuffix("[]") for row in rows} == set() and len(keys) == 31
    commands = set(re.findall(r"(?m)^   \* - ``/halyard/flows/(\w+)", page))
    assert len(commands) == 10


def test_example_in_the_book_does_what_the_book_says(rig):
    page = test_book.page("vswitch-graph")
    rules = "\n".join(test_book.block(page, "# What comes from the network")) + "\n"
    dump = rig.folder / "counts"
    run = switch(rig, [[test_book.demo_capture(rig.folder)], SILENT, SILENT],
                 f"--dump-flows={dump}", rules=rules)
    printed, compared = run.stdout.splitlines(), 0
    for first in ("drop reason ", "port 0  net_pcap"):
        expected = test_book.block(page, first)
        at = printed.index(expected[0])
        assert printed[at:at + len(expected)] == expected, run
        compared += len(expected)
    assert compared == 7
    times = re.compile(r"duration=[\d.]+,|idle_age=\d+,")
    expected = test_book.block(page, "duration=0.266,n_packets=11,")
    assert [times.sub("", line) for line in dump.read_text().splitlines()] == [
        times.sub("", line) for line in expected] and len(expected) == 5
    assert run.stats["flows"]["megaflows"] == 11 == run.stats["flows"]["masks"], run


def test_complaint_of_a_reload_in_the_book_is_what_the_program_says(rig):
    (line,) = re.findall(r"(?m)^   vswitch-graph: flows unchanged: rules:(.*)$",
                         test_book.page("vswitch-graph"))
    run = running(rig)
    run.more(1)
    assert run.reload_bad("\n\npriority=70000 actions=drop\n") == f"{run.path}:{line}"
    run.stop()
