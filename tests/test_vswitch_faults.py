# SPDX-License-Identifier: BSD-3-Clause
"""Faults that vswitch-graph had, each by a test that failed before it was mended; and odd questions to it."""

import pytest

import l3fwd
import live
from l3fwd import SILENT
from test_cli import assert_refused
from test_vswitch_cli import NAMES

VSWITCH = l3fwd.BUILD / "examples" / "vswitch-graph" / "vswitch-graph"
TUNNEL = "--tunnel=vx,port=9,uplink=1,{},dst-mac=02:00:00:00:00:09"
CONFIG = ["-p", "3", "--config", "(0,0,1),(1,0,1)"]


@pytest.fixture(name="rig")
def vswitch_rig(rig):
    """A rig that runs vswitch-graph."""
    rig.program = VSWITCH
    return rig


class Switch(live.Live):
    """A running switch."""

    WHAT = "flows"


def running(rig, rules, *app):
    return Switch(rig, rules, [*CONFIG, *app], rig.vdevs([[[bytes(60)]], SILENT]), telemetry=True)


def switch(rig, *app):
    return rig.run([*CONFIG, *rig.until_idle(), *app], rig.vdevs([SILENT, SILENT]))


@pytest.mark.parametrize("remote", ["flow", "fe80::2"])
def test_addresses_of_a_tunnel_come_in_any_order(rig, remote):
    for words in (f"local=fe80::1,remote={remote}", f"remote={remote},local=fe80::1"):
        run = switch(rig, TUNNEL.format(words))
        assert run.code == 0 and "tunnel 9(vx) by 1(dpdk0)" in run.stdout, run


@pytest.mark.parametrize("words", ["local=10.0.0.1,remote=fe80::2", "remote=fe80::2,local=10.0.0.1"])
def test_addresses_of_a_tunnel_are_of_one_version(rig, words):
    assert_refused(switch(rig, TUNNEL.format(words)), ["--tunnel", "another version of IP"])


@pytest.mark.parametrize("words", ["local=10.0.0.1,remote=0.0.0.0", "local=fe80::1,remote=::", "local=::,remote=flow"])
def test_an_address_of_0_is_no_word_for_flow(rig, words):
    assert_refused(switch(rig, TUNNEL.format(words)), ["--tunnel", "is not the address of a host"])


def test_a_tunnel_with_a_ports_number_is_refused_by_its_option(rig):
    run = switch(rig, f"--flows={rig.write('flows', '')}",
                 TUNNEL.format("local=10.0.0.1,remote=flow").replace("port=9", "port=2"))
    assert_refused(run, ["--tunnel: port 'vx' of the switch", "another one has its number"])
    assert "--flows:" not in run.stderr, run


@pytest.mark.parametrize("rules", [None, ""], ids=["no file", "good file"])
@pytest.mark.parametrize("name", ["7up", "in_port", "7", "a\"\\b", "a\x1bb"],
                         ids=["digit first", "action", "number", "marks", "escape"])
def test_a_tunnel_that_rules_cannot_name_is_refused_by_its_option(rig, name, rules):
    """--flows, whose file was good, was blamed: Invalid argument."""
    flows = [] if rules is None else [f"--flows={rig.write('flows', rules)}"]
    run = switch(rig, *flows, TUNNEL.format("local=10.0.0.1,remote=flow").replace("=vx,", f"={name},"))
    assert_refused(run, [])
    assert run.stderr.splitlines()[-1] == (f"vswitch-graph: --tunnel: name: '{name}' is not {NAMES}"
                                           .replace("\x1b", "?")), run


def test_a_name_with_all_that_is_accepted_is_a_tunnels(rig):
    run = switch(rig, TUNNEL.format("local=10.0.0.1,remote=flow").replace("=vx,", "=Up-7.of_fifteen,"))
    assert run.code == 0 and "tunnel 9(Up-7.of_fifteen) by 1(dpdk0)" in run.stdout, run


def test_too_little_memory_for_graphs_names_the_option_that_sets_it(rig):
    """It ended with "graphs: Cannot allocate memory" alone. How little reaches graphs depends on DPDK's version."""
    said = {}
    for megabytes in range(40, 136, 8):
        run = rig.run([*CONFIG, *rig.until_idle()], ["-m", str(megabytes), *rig.vdevs([SILENT, SILENT])])
        if run.code == 0:
            break
        line = run.stderr.splitlines()[-1]
        assert run.code == 1 and line.count("EAL's -m") <= 1, run
        said[line.split(": ")[1]] = line
    assert run.code == 0, run
    assert said["graphs"] == "vswitch-graph: graphs: Cannot allocate memory; see EAL's -m for memory", said


def whole(run, command, parameter):
    """All lines of an answer in pieces, and in how many it came."""
    lines, pieces, skip = [], 0, "0"
    while skip is not None:
        text = run.ask(f"{command},{skip} {parameter}")
        assert isinstance(text, str), text
        pieces += 1
        lines += text.splitlines()
        assert text.endswith("\n")
        skip = lines.pop().removeprefix("more: ") if lines[-1].startswith("more: ") else None
        assert skip is None or int(skip) == len(lines), skip
    return lines, pieces


def test_a_long_trace_can_be_read_to_its_end(rig):
    rules = [f"table={table} actions=" + ",".join(f"set_field:{n + 1}->tun_id" for n in range(60))
             + f",goto_table:{table + 1}" for table in range(10)] + ["table=10 actions=2"]
    run = running(rig, "\n".join(rules) + "\n")
    lines, pieces = whole(run, "/halyard/flows/trace", "in_port=1")
    assert pieces > 1 and len(lines) > 600
    assert lines[-1] == "Operations: output:1", lines[-3:]
    run.stop()


@pytest.mark.parametrize("question", ["rules,99999999999", "rules,5x", "dump,99999999999", "dump,x", "dump,1 2",
                                      "trace", "trace,7", "trace,in_port=1\"\\\x01", "add,", "add,\"\\\x01\x7f actions=1",
                                      "add,actions=" + "1," * 490, "caches,\"\\%s%n"])
def test_odd_questions_are_answered(rig, question):
    run = running(rig, "actions=2\n")
    answer = run.ask(f"/halyard/flows/{question}")
    assert isinstance(answer, dict) and "error" in answer, answer
    assert run.ask("/halyard/flows/rules,7") == "" == run.ask("/halyard/flows/dump,4294967294")
    assert run.ask("/halyard/flows/dump,4294967295") == ""
    run.stop()
