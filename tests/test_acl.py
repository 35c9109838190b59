# SPDX-License-Identifier: BSD-3-Clause
"""l3fwd-graph --acl: access lists permit, drop and redirect what ports receive and send, change while
packets flow, count and log; and what is wrong with an option or a file is said."""

import re
import signal

import pytest

import l3fwd
import oracle
from l3fwd import SILENT
from live import Live, await_work
from test_forward import fusions
from test_routes_live import replay, to_nowhere

MAC = "02:00:00:00:00:01"
ROUTES = [oracle.route("0.0.0.0/0", 1, MAC)]
ARP = b"\xff" * 6 + bytes.fromhex("020000000009") + b"\x08\x06" + bytes(46)


def ip4(number, proto=17, dport=53, flags=2, dst=(10, 0, 0, 1), tag=b""):
    """A sound frame, different for each number: of UDP, TCP with these flags, or ICMP of type 8."""
    ports = (1000 + number % 60000).to_bytes(2, "big") + dport.to_bytes(2, "big")
    l4 = {17: ports + bytes(4), 6: ports + bytes(8) + bytes([0x50, flags]) + bytes(6),
          1: bytes([8, 0]) + bytes(6)}[proto] + number.to_bytes(4, "big")
    header = bytes([0x45, 0, 0, 20 + len(l4), 0, 0, 0, 0, 64, proto, 0, 0, 192, 0, 2, 7, *dst])
    header = header[:10] + oracle.checksum(header).to_bytes(2, "big") + header[12:]
    return bytes.fromhex("020000000005020000000006") + tag + b"\x08\x00" + header + l4


def mixed(n=100):
    """As many frames of each kind, in turn."""
    kinds = [{"dport": 53}, {"dport": 80}, {"proto": 6, "dport": 22, "flags": 2},
             {"proto": 6, "dport": 22, "flags": 0x10}, {"proto": 1}]
    return [ip4(i * len(kinds) + k, **kind) for i in range(n) for k, kind in enumerate(kinds)]


def acl(rig, name, *lines):
    """The option that names a list of these lines."""
    path = rig.write(f"{name}.acl", "".join(line + "\n" for line in lines))
    return f"--acl-list={name}={path}"


def counts(run, name):
    """What a list did: permitted, denied, redirected."""
    found = run.stats["acl"][name]
    return found["permitted"], found["denied"], found["redirected"]


def rule(run, name, number):
    """The packets and bytes of a rule."""
    found = next(r for r in run.stats["acl"][name]["rules"] if r["rule"] == number)
    assert (found["last_seconds"] is None) == (found["packets"] == 0), found
    return found["packets"], found["bytes"]


def forwarded(run, frames, port=1):
    """Those frames as they leave."""
    result = oracle.forward(frames, ROUTES, run.macs)
    assert len(result.out[port]) == len(frames)
    return result.out[port]


DENIES = ["rule 1 deny proto udp dport 53", "rule 2 deny proto tcp dport 22 flags S/SA",
          "rule 3 permit proto icmp", "rule 4 count proto tcp"]


@pytest.mark.parametrize("place", ["in:0", "out:1"])
def test_a_list_permits_and_denies_on_both_ways(rig, place):
    sent = mixed()
    run = rig.forward([[sent], SILENT], rig.routes(ROUTES), acl(rig, "edge", *DENIES),
                      f"--acl={place}=edge")
    passed = [f for i, f in enumerate(sent) if i % 5 in (1, 3, 4)]
    assert run.sent(1) == forwarded(run, passed), run
    assert run.stats["drops"]["acl_denied"] == 200
    assert counts(run, "edge") == (300, 200, 0)
    assert run.stats["acl"]["edge"]["unmatched"] == 100
    assert run.stats["acl"]["edge"]["bound"] == [place]
    assert rule(run, "edge", 1) == (100, 100 * len(sent[0]))
    assert rule(run, "edge", 2) == (100, 100 * len(sent[2]))
    assert rule(run, "edge", 3) == (100, 100 * len(sent[4]))
    assert rule(run, "edge", 4) == (100, 100 * len(sent[3]))
    table = run.stdout.partition("\naccess list")[2].splitlines()
    assert table[1].split() == ["edge", "300", "200", "0", "100", "0", "0"], run


def test_lists_of_both_ways_and_of_two_ports(rig):
    sent = mixed()
    run = rig.forward([[sent], [sent]], rig.routes(ROUTES), acl(rig, "a", "rule 1 deny proto udp"),
                      acl(rig, "b", "rule 1 deny proto icmp", "rule 2 permit", "default deny"),
                      "--acl=in:0=a", "--acl=out:1=b")
    assert counts(run, "a") == (300, 200, 0) and counts(run, "b") == (600, 200, 0), run
    assert run.stats["totals"]["tx"] == 600
    assert rule(run, "b", 2)[0] == 600 and run.stats["acl"]["b"]["unmatched"] == 0
    one = forwarded(run, [f for i, f in enumerate(sent) if i % 5 in (2, 3)])
    two = forwarded(run, [f for i, f in enumerate(sent) if i % 5 < 4])
    assert sorted(run.sent(1)) == sorted(one + two)


def test_what_is_in_no_list_passes_untouched(rig):
    """Lists that are not bound, and ports without one."""
    sent = mixed()
    run = rig.forward([SILENT, [sent]], rig.routes(ROUTES), acl(rig, "a", "rule 1 deny"),
                      "--acl=in:0=a", acl(rig, "b", "rule 1 deny"))
    assert run.sent(1) == forwarded(run, sent), run
    assert counts(run, "a") == counts(run, "b") == (0, 0, 0)
    assert run.stats["acl"]["b"]["bound"] == []
    names = {node["name"] for node in run.stats["nodes"]}
    assert names & {"acl_in-0", "acl_in-1", "acl_out-0", "acl_out-1"} == {"acl_in-0"}


def test_in_sees_arp_and_sends_it_unchanged(rig):
    """Frames that forwarding drops. What is redirected keeps its addresses and its TTL."""
    udp = [ip4(i) for i in range(50)]
    sent = [frame for pair in zip([ARP] * 50, udp) for frame in pair]
    run = rig.forward([[sent], SILENT, SILENT], rig.routes(ROUTES),
                      acl(rig, "a", "rule 1 port 2 type 0x0806", "rule 2 port 9 dmac "
                          "02:00:00:00:00:05 dport 80 proto udp"), "--acl=in:0=a")
    assert run.sent(2) == [ARP] * 50 and run.sent(1) == forwarded(run, udp), run
    assert counts(run, "a") == (50, 0, 50) and run.stats["drops"]["not_ip4"] == 0
    run = rig.forward([[sent], SILENT], rig.routes(ROUTES),
                      acl(rig, "a", "rule 1 deny type 0x0806"), "--acl=in:0=a")
    assert run.stats["drops"]["acl_denied"] == 50 and run.sent(1) == forwarded(run, udp), run
    run = rig.forward([[sent], SILENT], rig.routes(ROUTES),
                      acl(rig, "a", "rule 1 permit dmac 02:00:00:00:00:00/ff:ff:ff:00:00:00"),
                      "--acl-no-match=deny", "--acl=in:0=a")
    assert counts(run, "a") == (50, 50, 0) and run.sent(1) == forwarded(run, udp), run


def test_out_sees_frames_as_they_leave(rig):
    """The next hop's address, and not the one that came; a redirected frame is the rewritten one."""
    sent = mixed()
    run = rig.forward([[sent], SILENT, SILENT], rig.routes(ROUTES),
                      acl(rig, "a", f"rule 1 port 2 dmac {MAC} proto icmp",
                          "rule 2 deny dmac 02:00:00:00:00:05"), "--acl=out:1=a")
    whole = forwarded(run, sent)
    assert run.sent(2) == whole[4::5] and len(run.sent(2)) == 100, run
    assert run.sent(1) == [f for i, f in enumerate(whole) if i % 5 < 4]
    assert rule(run, "a", 2) == (0, 0) and counts(run, "a") == (400, 0, 100)


def test_redirected_frames_pass_the_list_of_their_port_if_they_came_in(rig):
    """From `in` through the port's list of `out`; from `out` past it, or two lists could send a
    frame to and fro."""
    sent = mixed()
    lists = [acl(rig, "to2", "rule 1 port 2 proto udp dport 53"),
             acl(rig, "to0", "rule 1 port 0 proto udp"),
             acl(rig, "to1", "rule 1 port 1", "default deny")]
    run = rig.forward([[sent], SILENT, SILENT], rig.routes(ROUTES), *lists, "--acl=in:0=to2",
                      "--acl=out:2=to0", "--acl=out:0=to1", "--acl=out:1=to0")
    assert counts(run, "to2") == (400, 0, 100) and counts(run, "to1") == (0, 0, 0), run
    assert run.sent(2) == [] and run.stats["drops"]["acl_denied"] == 0
    assert counts(run, "to0") == (300, 0, 200)
    assert sorted(run.sent(0)) == sorted(sent[0::5] + forwarded(run, sent[1::5]))


def test_a_port_that_is_not_there_is_a_reason_to_drop(rig):
    run = rig.forward([[mixed()], SILENT], rig.routes(ROUTES),
                      acl(rig, "a", "rule 1 port 7 proto udp", "rule 2 permit"), "--acl=in:0=a")
    assert run.stats["drops"]["no_port"] == 200 and counts(run, "a") == (300, 0, 200), run


@pytest.mark.parametrize("policy", [False, True], ids=["alone", "policy"])
def test_classes_are_dropped_steered_or_go_on(rig, policy):
    """A class of the list takes its way past the policy; others are classified again behind it."""
    sent = mixed()
    more = [f"--policy={rig.write('policy', 'rule 1 class 3' + chr(10))}"] if policy else []
    run = rig.forward([[sent], SILENT, SILENT], rig.routes(ROUTES),
                      acl(rig, "a", "rule 1 class 7 proto udp dport 53", "rule 2 class 8 proto icmp",
                          "rule 3 class 9 proto tcp"), "--acl=in:0=a", *more,
                      "--steer=7=2,02:00:00:00:00:77", "--drop-class=8")
    way = [oracle.route("0.0.0.0/0", 2, "02:00:00:00:00:77")]
    assert run.sent(2) == oracle.forward(sent[0::5], way, run.macs).out[2], run
    assert run.sent(1) == forwarded(run, [f for i, f in enumerate(sent) if i % 5 in (1, 2, 3)])
    assert run.stats["drops"]["denied"] == 100 and counts(run, "a") == (400, 100, 0)
    assert run.stats["classes"] == ({"3": 300} if policy else {})


def test_what_no_rule_matches(rig):
    """--acl-no-match is for lists that do not say it themselves."""
    for option, line, passed in (("permit", [], 500), ("deny", [], 100), ("deny", ["default permit"],
                                 500), ("permit", ["default deny"], 100)):
        run = rig.forward([[mixed()], SILENT], rig.routes(ROUTES), "--acl=in:0=a",
                          acl(rig, "a", "rule 1 permit proto icmp", *line),
                          f"--acl-no-match={option}")
        assert counts(run, "a") == (passed, 500 - passed, 0), (option, line)
        assert len(run.sent(1)) == passed and run.stats["acl"]["a"]["unmatched"] == 400


def test_cut_packets_obey_the_line_truncated(rig):
    cut = [ip4(i)[:14 + 20 + 3] for i in range(60)]
    for line, dropped in ((["truncated deny"], 60), (["truncated permit"], 0), ([], 0)):
        run = rig.forward([[cut + [ip4(1)]], SILENT], rig.routes(ROUTES), "--acl=in:0=a",
                          acl(rig, "a", *line))
        assert run.stats["drops"]["acl_truncated"] == dropped, run
        assert run.stats["acl"]["a"]["truncated"] == 60
        assert len(run.sent(1)) == 1 and run.stats["totals"]["dropped"] == 60


def test_vlan_interfaces_have_their_lists_outside(rig):
    """`in` sees the tag before it is removed, `out` after it was pushed."""
    tagged = [ip4(i, tag=bytes([0x81, 0, 0, vid])) for i in range(40) for vid in (100, 101)]
    routes = rig.write("routes", "0.0.0.0/0 port 1.7 mac 02:00:00:00:00:01\n")
    run = rig.forward([[tagged], SILENT], f"--routes={routes}", "--vlan=0:100", "--vlan=0:101",
                      "--vlan=1:7", acl(rig, "a", "rule 1 deny vlan 101"),
                      acl(rig, "b", "rule 1 count vlan 7 proto udp", "rule 2 deny vlan 100"),
                      "--acl=in:0=a", "--acl=out:1=b")
    assert counts(run, "a") == (40, 40, 0) and counts(run, "b") == (40, 0, 0), run
    assert rule(run, "b", 1)[0] == 40 and len(run.sent(1)) == 40


@pytest.mark.parametrize("chain", ["scalar", "avx2"])
@pytest.mark.parametrize("place", ["in:0", "out:1"])
def test_fused_forwarding_and_lists(rig, chain, place):
    """What is forwarded beside a list is what is forwarded without one, in the same order, by the
    same fused chain."""
    fusion = [f for f in fusions() if f["variant"] == chain and f["fusion"] == "ip4_forward"]
    if not fusion:
        pytest.skip(f"this CPU has no {chain}")
    nodes = [f"--node={of.replace('/', '=')}" for of in fusion[0]["chain"]]
    sent = mixed(2000)
    run = rig.forward([[sent], SILENT], rig.routes(ROUTES), *nodes,
                      acl(rig, "a", "rule 1 deny proto udp dport 80"), f"--acl={place}=a")
    assert "ip4_forward" in run.stdout, run
    passed = [f for i, f in enumerate(sent) if i % 5 != 1]
    assert run.sent(1) == forwarded(run, passed) and len(passed) == 8000


@pytest.mark.parametrize("chain", ["scalar", "avx2"])
def test_a_chain_stays_fused_while_lists_are_bound_and_unbound(rig, chain):
    fusion = [f for f in fusions() if f["variant"] == chain and f["fusion"] == "ip4_forward"]
    if not fusion:
        pytest.skip(f"this CPU has no {chain}")
    live = AclLive(rig, a="rule 1 count\n", b="rule 1 count\n",
                   more=[f"--node={of.replace('/', '=')}" for of in fusion[0]["chain"]])
    for _ in range(20):
        for place in ("out:1", "in:0"):
            assert live.acl(f"bind,{place}=b")["list"] == "b"
            await_work(live.process, 0.005)
            assert live.acl(f"unbind,{place}")["list"] == ""
        await_work(live.process, 0.005)
    run = live.stop()
    assert "ip4_forward" in run.stdout and run.stats["totals"]["dropped"] == 0, run
    assert run.stats["acl"]["b"]["permitted"] > 1000


def test_packets_of_an_event_device_are_accounted_for(rig):
    sent = mixed()
    run = rig.forward([[sent], SILENT], rig.routes(ROUTES), "--mode=eventdev", "--acl=in:0=a",
                      "--acl=out:1=b", acl(rig, "a", "rule 1 deny proto udp"),
                      acl(rig, "b", "rule 1 deny proto icmp"), eal=["--vdev", "event_sw0"])
    assert counts(run, "a") == (300, 200, 0) and counts(run, "b") == (200, 100, 0), run
    assert [port["rx"] for port in run.stats["ports"]] == [500, 0]
    assert len(run.sent(1)) == 200


def test_a_graph_of_two_workers(rig):
    sent = mixed()
    run = rig.forward([[sent], SILENT], rig.routes(ROUTES), "--mode=dispatch",
                      "--pin=ip4_lookup=2", "--acl=in:0=a", "--acl=out:1=b",
                      acl(rig, "a", "rule 1 deny proto udp"),
                      acl(rig, "b", "rule 1 deny proto icmp"), tx_queues=2, workers=2)
    assert counts(run, "a") == (300, 200, 0) and counts(run, "b") == (200, 100, 0), run
    assert len(run.sent(1, 0)) + len(run.sent(1, 1)) == 200


def test_rules_are_logged_one_packet_at_a_time_and_summed_up(rig):
    sent = mixed()
    run = rig.forward([[sent], SILENT], rig.routes(ROUTES), "--acl=in:0=edge",
                      acl(rig, "edge", "rule 7 deny proto tcp dport 22 flags S/SA log",
                          "rule 8 permit proto icmp log", "rule 9 deny proto udp"))
    log = [line for line in run.stderr.splitlines() if ": acl edge rule" in line]
    first = next(line for line in log if " rule 7 deny: " in line)
    source = re.search(r":(\d+) >", first).group(1)
    assert first == (f"l3fwd-graph: acl edge rule 7 deny: port 0 tcp 192.0.2.7:{source} > "
                     f"10.0.0.1:22 flags S, {len(sent[2])} bytes")
    assert any("rule 8 permit: port 0 icmp 192.0.2.7 > 10.0.0.1 type 8 code 0, " in line
               for line in log), run
    for number in (7, 8):
        alone = sum(f" rule {number} " in line for line in log)
        more = sum(int(n) for line in log
                   for n in re.findall(rf"rule {number}: (\d+) more packets?$", line))
        assert alone >= 1 and more > 0 and alone + more == 100, log
    assert not [line for line in log if "rule 9" in line]


def test_explain_names_lists_and_where_they_are_bound(rig):
    run = rig.run([*l3fwd.options(2, [(0, 0, 1)]), "--explain", rig.routes(ROUTES),
                   acl(rig, "edge", "rule 1 deny", "default deny"), acl(rig, "core"),
                   "--acl=in:0=edge", "--acl=out:1=edge"], rig.vdevs([SILENT, SILENT]))
    assert run.code == 0, run
    _, edge, core = re.split("Access list ", run.stdout)
    assert edge.startswith("edge: 1 rules, default deny")
    assert re.search(r"^  Engine: linear, 1 KiB, built in \d+ ms: \d+ clocks a packet expected; "
                     r"tuple: \d+ at least; rte_acl: \d+ at least$", edge, re.M), edge
    assert core.startswith("core: 0 rules, default permit")
    assert "  Engine: none, 0 KiB, built in 0 ms: there are no rules\n" in core
    assert "Frames that port 0 receives pass access list edge.\n" in run.stdout
    assert "Frames that port 1 sends pass access list edge.\n" in run.stdout


class AclLive(Live):
    """A run with the lists "a", bound to what port 0 receives, and "b"."""

    def __init__(self, rig, a="rule 1 deny proto udp\n", b="rule 1 permit\n", more=()):
        self.a, self.b = rig.write("a.acl", a), rig.write("b.acl", b)
        super().__init__(rig, ROUTES, [*l3fwd.options(2, [(0, 0, 1), (1, 0, 1)]),
                                       f"--acl-list=a={self.a}", f"--acl-list=b={self.b}",
                                       "--acl=in:0=a", *more],
                         replay(rig, 2, {0: mixed(20)}, to_nowhere, (0,)), telemetry=True)
        await_work(self.process, 0.02)

    def acl(self, command):
        """What /halyard/acl answers."""
        return self.ask(f"/halyard/acl/{command}")


def test_lists_are_read_again_with_routes_all_or_none(rig):
    live = AclLive(rig)
    assert live.acl("stats,a")["rules"] == 1
    live.a.write_text("rule 1 deny proto udp\nrule 2 permit proto icmp\n")
    live.b.write_text("rule 1 deny\nrule 2 deny\nrule 3 deny\n")
    live.reload([*ROUTES, oracle.route("192.0.2.0/24", 1, MAC)])
    live.wait(lambda: "acl b: 3 rules, in " in live.stdout(), "the lists")
    assert "acl a: 2 rules, in " in live.stdout()
    before = live.acl("rules,a")
    live.a.write_text("rule 5 deny proto udp\n")
    live.b.write_text("rule 1 deny\nrule 2 deny dport x\n")
    assert live.reload_bad(ROUTES) == "the reload of acl b failed"
    live.wait(lambda: "acl b unchanged: " in live.stderr(), "the reason")
    assert f"acl b unchanged: {live.b}:2: dport: " in live.stderr()
    assert "acl a unchanged: the reload of acl b failed" in live.stderr()
    after = live.acl("rules,a")
    assert set(after) == set(before) == {"1", "2"}
    assert after["1"]["packets"] >= before["1"]["packets"] > 0
    assert live.ask("/l3fwd/route,192.0.2.1")["prefix"] == "192.0.2.0/24"
    run = live.stop()
    assert counts(run, "a")[1] == run.stats["drops"]["acl_denied"] > 0
    assert sum(counts(run, "a")) == run.stats["ports"][0]["rx"]


def test_lists_are_bound_and_changed_by_command_while_packets_flow(rig):
    live = AclLive(rig)
    told = {"rules": 1, "default": "permit"}
    assert live.acl("lists") == {
        "0": {"list": "a", **told, "file": str(live.a), "bound": ["in:0"]},
        "1": {"list": "b", **told, "file": str(live.b), "bound": []}}
    assert live.acl("bind,out:1=b") == {"way": "out", "port": 1, "list": "b"}
    live.wait(lambda: live.acl("stats,b")["permitted"] > 1000, "packets that leave")
    assert live.acl("add,b,rule 9 deny proto icmp precedence 0 log")["rules"] == 2
    assert live.acl("del,b,1")["rules"] == 1
    live.wait(lambda: live.acl("rules,b")["9"]["packets"] > 100, "icmp")
    told = live.acl("rules,b")["9"]
    assert told["text"] == "rule 9 deny log precedence 0 proto icmp" and told["last_seconds"] == 0
    assert told["bytes"] == told["packets"] * len(ip4(0, proto=1))
    live.wait(lambda: live.acl("log")["more"] > 0, "a sum")
    assert live.acl("log")["logged"] > 0 and live.acl("log")["lost"] == 0
    live.b.write_text("rule 2 permit\n")
    assert live.acl("replace,b")["rules"] == 1 and set(live.acl("rules,b")) == {"2"}
    other = rig.write("other.acl", "rule 3 permit\nrule 4 count\n")
    assert live.acl(f"replace,b,{other}")["rules"] == 2
    assert live.acl("clear,a")["denied"] < live.acl("stats,a")["denied"] + 1
    for _ in range(20):
        assert live.acl("unbind,in:0")["list"] == ""
        assert live.acl("bind,in:0=b")["list"] == "b"
        assert live.acl("bind,in:0=a")["list"] == "a"
    assert live.acl("unbind,out:1")["list"] == ""
    assert live.acl("lists")["1"]["bound"] == []
    run = live.stop()
    drops = {reason for reason, n in run.stats["drops"].items() if n > 0}
    assert drops == {"acl_denied"}, drops


def test_lists_of_any_name_are_told_of(rig):
    """Telemetry drops what has a key with a '-' or a '.'."""
    path = rig.write("c.acl", "default deny\n")
    names = ["a", "b", "edge-1", "v1.0", "in_2", "Sixteen-letters."]
    live = AclLive(rig, more=[f"--acl-list={name}={path}" for name in names[2:]])
    assert [told["list"] for told in live.acl("lists").values()] == names
    assert live.acl("bind,out:1=v1.0")["list"] == "v1.0"
    assert live.acl("lists")["3"] == {"list": "v1.0", "rules": 0, "default": "deny",
                                    "file": str(path), "bound": ["out:1"]}
    assert live.acl("stats,edge-1")["denied"] == 0
    live.stop()


def test_a_long_list_is_told_in_parts(rig):
    live = AclLive(rig, a="".join(f"rule {n} count dport {n} proto udp\n" for n in range(1, 101)))
    first = live.acl("rules,a")
    second = live.acl(f"rules,a,{first['next']}")
    third = live.acl(f"rules,a,{second['next']}")
    assert "next" not in third
    found = [key for part in (first, second, third) for key in part if key != "next"]
    assert found == [str(n) for n in range(1, 101)]
    live.wait(lambda: live.acl("rules,a,40")["53"]["packets"] > 0, "packets")
    live.stop()


WRONG = {
    "stats,c": "there is no list 'c'", "stats": "there is no list ''",
    "rules,a,x": "'x' is not a place in the list, from 0", "lists,x": "'x' is not accepted",
    "bind,in:0=c": "there is no list 'c'", "bind,in:0": "there is no list ''",
    "bind,up:0=a": "'up:0' is not in:PORT or out:PORT, with a port from 0 to 31",
    "bind,in:9=a": "port 9 has no access lists", "unbind,in:9": "port 9 has no access lists",
    "unbind,in:0=a": "'in:0=a' is not in:PORT or out:PORT, with a port from 0 to 31",
    "add,a,rule 1 deny": "the list has a rule of that id", "del,a,7": "list 'a' has no rule 7",
    "del,a,x": "'x' is not the id of a rule, from 0 to 4294967295",
    "clear,a,b": "'b' is not accepted",
}


def test_commands_that_are_wrong_say_why_and_change_nothing(rig):
    live = AclLive(rig)
    before = live.acl("lists")
    for command, error in WRONG.items():
        assert live.acl(command) == {"error": error}, command
    assert live.acl("add,a,rule 2 reject")["error"].startswith("reject: "), live.acl(
        "add,a,rule 2 reject")
    assert "No such file" in live.acl("replace,a,/nonexistent")["error"]
    assert live.acl("lists") == before
    live.stop()
    live = Live(rig, ROUTES, l3fwd.options(2, [(0, 0, 1)]),
                replay(rig, 2, {0: mixed(2)}, to_nowhere), telemetry=True)
    assert live.ask("/halyard/acl/lists") == {"error": "there are no access lists"}
    await_work(live.process, 0.02)
    live.stop()


BAD = {
    "--acl-list=a": "--acl-list: 'a' is not NAME=FILE, as in edge=/etc/edge.acl, NAME of up to 16 "
                    "letters, digits, '_', '.' or '-'",
    "--acl-list==x": "--acl-list: '=x' is not NAME=FILE",
    "--acl-list=a b=x": "--acl-list: 'a b=x' is not NAME=FILE",
    "--acl-list=seventeen.letters=x": "--acl-list: 'seventeen.letters=x' is not NAME=FILE",
    "--acl-list=edge=x": "--acl-list: edge is given twice",
    "--acl=in:0": "--acl: 'in:0' is not in:PORT=NAME or out:PORT=NAME, as in in:0=edge",
    "--acl=up:0=edge": "--acl: 'up:0' is not in:PORT or out:PORT, with a port from 0 to 31",
    "--acl=in:9=edge": "--acl: port 9 is not one of -p",
    "--acl=in:0=core": "--acl: core is not the name of an --acl-list",
    "--acl-no-match=drop": "--acl-no-match: 'drop' is not permit or deny",
    "--drop-class=0": "--drop-class: 0 requires --policy: access lists classify only some packets",
    "--steer=0=1,02:00:00:00:00:77": "--steer: class 0 requires --policy",
}


@pytest.mark.parametrize("option", BAD)
def test_bad_options_are_refused(rig, option):
    run = rig.forward([SILENT, SILENT], acl(rig, "edge"), option)
    assert run.code > 0 and BAD[option] in run.stderr, run


def test_options_require_a_list(rig):
    for option in ("--acl=in:0=a", "--acl-no-match=deny"):
        run = rig.forward([SILENT, SILENT], option)
        name = option.partition("=")[0]
        assert run.code > 0, run
        assert f"{name}: requires --acl-list: it names access lists" in run.stderr, run
    run = rig.forward([SILENT, SILENT], acl(rig, "a"), "--acl=in:0=a", "--acl=in:0=a")
    assert run.code > 0 and "--acl: in:0 is given twice" in run.stderr, run


def test_bad_files_are_refused_by_line_and_field(rig):
    for lines, error in ((["rule 1 permit", "rule 2 drop"], "edge.acl:2: "),
                         (["default allow"], "edge.acl:1: default: takes permit or deny"),
                         (["rule 1 deny", "rule 1 permit"], "edge.acl:2: rule: 1 is on line 1")):
        run = rig.forward([SILENT, SILENT], acl(rig, "edge", *lines), "--acl=in:0=edge")
        assert run.code > 0 and "--acl-list: edge: " in run.stderr and error in run.stderr, run
    run = rig.forward([SILENT, SILENT], "--acl-list=edge=/nonexistent")
    assert run.code > 0 and "--acl-list: edge: /nonexistent: No such file" in run.stderr, run


def test_lists_of_rules_alone_are_read_again(rig):
    """Without --routes, too."""
    path = rig.write("a.acl", "rule 1 deny\n")
    app = [*l3fwd.options(2, [(0, 0, 1)]), f"--acl-list=a={path}", f"--json={rig.folder}/stats.json"]
    process = rig.start(app, replay(rig, 2, {0: mixed(2)}, to_nowhere))
    path.write_text("rule 1 permit\nrule 2 permit\n")
    await_work(process, 0.05)
    process.send_signal(signal.SIGHUP)
    await_work(process, 0.05)
    process.send_signal(signal.SIGTERM)
    run = rig.finish(process)
    assert "acl a: 2 rules, in " in run.stdout and len(run.stats["acl"]["a"]["rules"]) == 2, run
