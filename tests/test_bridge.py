# SPDX-License-Identifier: BSD-3-Clause
"""The bridge, end to end: what l2fwd-graph sends and drops with --bridge is what the model of
bridge_oracle.py says, byte for byte and in the order of each flow, for real captures, for generated
frames that meet every rule, and for random set-ups."""

import json
import random
import re
from collections import Counter, defaultdict

import pytest

import bridge_frames
import bridge_oracle
import l3fwd
import pcapfile
from bridge_frames import GROUP, RULES, VIDS, mac, station
from bridge_runs import (Expected, Live, assert_balance, assert_exact, drops_of, forward)

PORTS = 8
LOOKUPS = ("l2_learn", "l2_lookup")


def quiet(text):
    """A set-up whose ports do not learn."""
    lines = text.replace(" learn off", "").splitlines()
    return "".join(f"{line} learn off\n" if line.startswith("port") else f"{line}\n"
                   for line in lines)


def made(count, seed=0):
    """Frames for each port."""
    return [bridge_frames.Maker(seed + port, port).frames(count) for port in range(PORTS)]


def ends_of(counted):
    """Those of the model's drops that did not occur."""
    return {(node, reason) for node, reasons in bridge_oracle.DROPS.items() for reason in reasons
            if not counted[node, reason]}


STORMS = {("l2_lookup", reason) for reason in bridge_oracle.DROPS["l2_lookup"]}
TRUNCATED = ("l2_input", "truncated")
NO_MEMBER = ("l2_output", "no_member")  # an entry was learned where frames are not filtered


@pytest.mark.parametrize("tag", ["0x8100", "0x88a8"])
@pytest.mark.parametrize("workers", [1, 2])
def test_frames_meet_every_rule_and_go_as_the_model_says(rig, tag, workers):
    text = f"tag {tag}\n" + quiet(bridge_frames.with_statics(RULES, random.Random(1)))
    arrivals = made(3000)
    arrivals[3] += [bridge_frames.Maker(9, 9).frame(station(1), b"\xff" * 6, bytes.fromhex(
        tag[2:]) + b"\x0f\xfd") for _ in range(8)]  # of a VLAN that only its group is in
    expected = Expected(text, arrivals)
    run = forward(rig, text, arrivals, workers=workers)
    sent = assert_exact(run, expected, arrivals, workers)
    assert expected.frames >= 24000 and sent >= 10000, (expected.frames, sent)
    assert ends_of(expected.drops) == {*STORMS, NO_MEMBER, TRUNCATED}, expected.drops
    assert expected.drops["l2_local", "no_router"] >= 100, expected.drops
    assert set(expected.changes) == set(bridge_oracle.CHANGES), expected.changes
    assert min(expected.changes.values()) >= 50 and expected.copied > 1000, expected.changes


def test_frames_cut_at_each_byte_go_as_the_model_says(rig):
    for tag in bridge_oracle.TYPES:
        text = quiet(f"tag {tag:#x}\nport 0 trunk all native 10\nport 1 access 10\n"
                     "port 2 trunk all\n"
                     f"static {mac(station(0))} vlan 10 port 2\n")
        arrivals = [bridge_frames.Maker(3).short(), [], []]
        expected = Expected(text, arrivals)
        run = forward(rig, text, arrivals)
        sent = assert_exact(run, expected, arrivals)
        assert expected.drops[TRUNCATED] >= 200 and sent >= 150, (expected.drops, sent)
        assert min(map(len, run.sent(1))) == 14 and min(map(len, run.sent(2))) == 18
        assert expected.drops["l2_input", "reserved_dst"] and expected.flooded


@pytest.mark.parametrize("text", [
    "port 0 trunk all native 1\nport 1 access 1\nport 2 trunk all\n"
    "port 3 trunk all native 1 group 1\nport 4 access 1 group 1\n",
    "tag 0x88a8\nport 0 access 7\nport 1 trunk 7\nport 2 access 7\n",
], ids=["customer", "service"])
def test_captures_go_as_the_model_says(rig, captures, text):
    """All of them, at one port and then at another, with static entries for a third of their
    destinations."""
    records = [record for path in captures for record in pcapfile.read(path)
               if len(record) <= 16000]  # of which net_pcap writes no more
    assert len(captures) >= 100 and len(records) > 10 * len(captures)
    setup = bridge_oracle.parse(text)
    keys = sorted({c.destination for r in records
                   if not isinstance(c := bridge_oracle.classify(setup, 0, r), str)
                   and c.destination[0] not in (bytes(6), bridge_oracle.BROADCAST)})
    for i, (address, vid) in enumerate(keys[::3]):
        ports = [n for n, port in setup.ports.items() if vid in port.members]
        text += f"static {mac(address)} vlan {vid} port {ports[i % len(ports)]}\n"
    text = quiet(text)
    arrivals = [records if port == 0 else [] for port in setup.ports]
    expected = Expected(text, arrivals)
    run = forward(rig, text, arrivals)
    sent = assert_exact(run, expected, arrivals)
    assert expected.frames == len(records) and sent > len(records), (sent, len(records))
    assert min(expected.flooded, sent - expected.copied - expected.flooded) > 500, expected.flooded
    assert expected.drops["l2_output", "same_port"] > 10, expected.drops


def assert_random_set_up(rig, rng, ports, count, seed):
    """One set-up, with frames for it. Returns what the model expects."""
    text = quiet(bridge_frames.with_statics(bridge_frames.set_up(rng, ports), rng, rng.random()))
    arrivals = [bridge_frames.Maker(seed + port, port).frames(count) for port in range(ports)]
    expected = Expected(text, arrivals)
    compared = assert_exact(forward(rig, text, arrivals), expected, arrivals)
    assert compared + expected.drops.total() == expected.frames + expected.copied
    return expected


@pytest.mark.parametrize("set_ups", [6, pytest.param(60, marks=pytest.mark.slow)])
def test_frames_of_random_set_ups_go_as_the_model_says(rig, set_ups):
    rng = random.Random(set_ups)
    drops, changes, frames = Counter(), Counter(), 0
    for i in range(set_ups):
        expected = assert_random_set_up(rig, rng, rng.randint(2, 6), 1500, 1000 * i)
        drops, changes = drops + expected.drops, changes + expected.changes
        frames += expected.frames
    assert frames >= 3000 * set_ups
    assert set(changes) == set(bridge_oracle.CHANGES), changes
    assert ends_of(drops) <= {*STORMS, NO_MEMBER, TRUNCATED,
                              ("l2_flood", "nowhere"), ("l2_output", "split_horizon")}, drops


@pytest.mark.parametrize("more", [[], ["--deny=l2_forward"]], ids=["fused", "apart"])
@pytest.mark.parametrize("kernel", ["scalar", "avx2", "avx512", "neon"])
def test_kernels_go_as_the_model_says(rig, kernel, more):
    rig.program = l3fwd.L2FWD
    found = {c["variant"]: c["fate"] for c in _candidates(rig)}
    if found.get(kernel) not in ("chosen", "outscored"):
        pytest.skip(f"no {kernel} here: {found}")
    text = quiet(bridge_frames.with_statics(RULES, random.Random(4)))
    arrivals = made(1000, 50)
    # Bursts in which all frames pass occur, and bursts in which some do not.
    for frames in arrivals:
        frames.sort(key=lambda frame: frame[:6])
    expected = Expected(text, arrivals)
    run = forward(rig, text, arrivals, *more, *(f"--node={of}={kernel}" for of in LOOKUPS))
    assert assert_exact(run, expected, arrivals) > 3000
    assert {run.node(family)["variant"] for family in LOOKUPS} == {kernel}, run
    assert bool(re.search(f"l2_forward +{kernel} +fuses ", run.stdout)) == (not more), run


def _candidates(rig):
    text = rig.write("bridge", "port 0 access 1\n")
    run = rig.run(["-p", "1", "--bridge", text, "--explain=json"], rig.vdevs([l3fwd.SILENT]))
    return l3fwd.selection(json.loads(run.stdout), "l2_lookup")["candidates"]


class Learned:
    """What may become of frames while sources are learned: a frame leaves for the port of its
    destination, if that was a source before, or is flooded."""

    def __init__(self, text, arrivals):
        self.setup = bridge_oracle.parse(text)
        self.bridge = bridge_oracle.Bridge(self.setup)
        self.arrivals = arrivals
        self.classified = [[bridge_oracle.classify(self.setup, port, f) for f in frames]
                           for port, frames in enumerate(arrivals)]
        self.ports = defaultdict(set)  # by key, ports that it was learned from
        for of_port in self.classified:
            for c in of_port:
                if not isinstance(c, str) and self.bridge.may_learn(c):
                    self.ports[c.source].add(c.port)

    def outcomes(self, c):
        """All that may become of a frame."""
        if isinstance(c, str):
            return [bridge_oracle.dropped("l2_input", c)]
        static = self.setup.statics.get(c.destination)
        wheres = [static] if static is not None else [None, *self.ports[c.destination]]
        return [bridge_oracle.deliver(self.setup, c, where) for where in wheres]


def number_of(frame, tag):
    """The number that a Maker gave to a frame."""
    at = 12
    while frame[at:at + 2] in (b"\x81\x00", b"\x88\xa8", b"\x91\x00"):
        at += 4
    return frame[at + 2:at + 8], tag


def test_sources_are_learned_while_frames_flow(rig):
    """Each frame is flooded, or goes where its destination was seen; and both happen."""
    text = bridge_frames.with_statics(RULES, random.Random(5), 0.1, local=False)
    arrivals = made(1500, 200)
    learned = Learned(text, arrivals)
    run = forward(rig, text, arrivals)
    assert_balance(run, arrivals)
    got = defaultdict(dict)
    for port in range(PORTS):
        for frame in run.sent(port):
            number, _ = number_of(frame, port)
            assert port not in got[number], f"port {port} sent twice: {frame[:64].hex(' ')}"
            got[number][port] = frame
    how, dropped, least = Counter(), 0, Counter()
    for port, frames in enumerate(arrivals):
        for frame, c in zip(frames, learned.classified[port]):
            number, _ = number_of(frame, port)
            right = learned.outcomes(c)
            fits = [o for o in right if o.out == got[number]]
            assert fits, f"{frame[:64].hex(' ')} at port {port}: {right}, sent {got[number]}"
            how["flooded" if fits[0].flooded else "dropped" if fits[0].node else "forwarded"] += 1
            dropped += not fits[0].out
            if len({(o.node, o.reason) for o in fits}) == 1 and fits[0].node:
                least[fits[0].node, fits[0].reason] += 1
    assert run.stats["totals"]["dropped"] == dropped, run
    counted = drops_of(run)
    assert all(counted[key] >= n for key, n in least.items()), (least, counted)
    assert all(counted["l2_input", r] == least["l2_input", r] for r in bridge_oracle.INPUT_DROPS)
    assert min(how[kind] for kind in ("flooded", "dropped", "forwarded")) > 100, how  # how many were learned in time
    keys = {key for key, ports in learned.ports.items() if ports}
    entries = run.stats["bridge"]["entries"]
    assert entries == len(keys) + len(learned.setup.statics), run
    assert run.stats["bridge"]["learned"] == len(keys) and run.stats["bridge"]["moved"] > 0, run
    _assert_learn_counters(run)


def _assert_learn_counters(run):
    """All that workers handed over has become something."""
    bridge, counters = run.stats["bridge"], run.node("l2_learn")["counters"]
    assert counters["ring_full"] == 0, run
    assert counters["unknown"] == sum(bridge[what] for what in (
        "learned", "moved", "refreshed", "refused")), run


def rounds_of(rng, live, stations, count):
    """Frames of one round: from one half of the stations, each at one port, to the other half."""
    rng.shuffle(stations)
    half = len(stations) // 2
    makers = []
    for port in range(live.ports):
        maker = live.makers[port]
        maker.source = lambda of=stations[:half][port::live.ports]: rng.choice(of)
        maker.to = stations[half:]
        makers.append(maker)
    return [[maker.frame(destination=rng.choice(maker.to) if rng.random() < 0.8 else None)
             for _ in range(rng.randrange(count))] for maker in makers]


@pytest.fixture(name="bridge")
def live_bridge(rig, request):
    """A bridge that takes frames in rounds."""
    running = Live(rig, request.param)
    running.makers = [bridge_frames.Maker(70 + port, port) for port in range(running.ports)]
    for maker in running.makers:
        maker.address = lambda rng=maker.rng: rng.choice(
            (b"\xff" * 6, GROUP, station(5000 + rng.randrange(50)), b"\x33\x33" + rng.randbytes(4)))
    return running


LIVE = bridge_frames.with_statics(
    RULES.replace("port 5 access 10", "port 5 access 10 entries 4"), random.Random(8), 0.1)


def random_command(bridge, rng):
    """Gives one command to the bridge and to the model."""
    model, setup = bridge.model, bridge.setup
    what, port, vid = rng.randrange(5), rng.randrange(bridge.ports), rng.choice(VIDS)
    if what == 0:
        answer = bridge.order(True, f"/halyard/l2/flush,port {port}")
        assert answer == {"flushed": model.flush(port=port)}
    elif what == 1:
        answer = bridge.order(True, f"/halyard/l2/flush,port {port} vlan {vid}")
        assert answer == {"flushed": model.flush(port, vid)}
    elif what == 2:
        key = station(rng.randrange(40)), vid
        good = vid in setup.ports[port].members
        bridge.order(good, f"/halyard/l2/add,{mac(key[0])} vlan {vid} port {port}")
        if good:
            model.learned.pop(key, None)
            setup.statics[key] = port
    elif what == 3:
        key = rng.choice([*model.dump()])
        bridge.order(True, f"/halyard/l2/del,{mac(key[0])} vlan {key[1]}")
        model.learned.pop(key, None)
        setup.statics.pop(key, None)
    else:
        state = rng.choice(("forwarding", "forwarding", "learning", "blocking"))
        bridge.order_awake(f"/halyard/l2/state,{port} {state}")
        setup.ports[port].state = state
        if state == "blocking":
            model.flush(port=port)
    return ("flush_port", "flush_both", "add", "del", "state")[what]


@pytest.mark.parametrize("bridge", [LIVE], indirect=True, ids=["rules"])
def test_rounds_of_frames_and_commands_go_as_the_model_says(bridge):
    rng = random.Random(11)
    stations = [station(n) for n in range(40)]
    done = Counter()
    for _ in range(40):
        bridge.round(rounds_of(rng, bridge, stations, 150))
        bridge.await_table()
        done[random_command(bridge, rng)] += 1
        assert bridge.dump() == bridge.model.dump()
    run = bridge.stop()
    sent = bridge.assert_rounds(run)
    outcomes = [o for r in bridge.rounds for of_port in r for o in of_port]
    assert len(outcomes) >= 20000 and sent >= 5000, (len(outcomes), sent)
    assert len(done) == 5, done
    drops = Counter((o.node, o.reason) for o in outcomes if o.node)
    assert ends_of(drops) <= {*STORMS, TRUNCATED, ("l2_input", "bad_src"),
                              ("l2_flood", "nowhere")}, drops
    assert run.stats["bridge"]["moved"] == bridge.model.moved > 100, run
    assert run.stats["bridge"]["refused"] > 0, run
    _assert_learn_counters(run)


@pytest.mark.parametrize("kind", ["broadcast", "multicast", "unknown"])
def test_storms_are_limited_and_nothing_else_is(rig, kind):
    text = quiet(f"port 0 access 1 storm {kind} 50\nport 1 access 1\nport 2 access 1\n"
                 f"static {mac(GROUP)} vlan 1 port 1\nstatic {mac(station(1))} vlan 1 port 2\n")
    maker, to = bridge_frames.Maker(6), {"broadcast": b"\xff" * 6, "multicast": b"\x33" * 6,
                                         "unknown": station(500)}
    mixed = [maker.frame(station(2), to.get(what, what), b"") for _ in range(2000)
             for what in (*to, GROUP, station(1))]
    arrivals = [mixed, [f for f in mixed if f[:6] == to[kind]][:500], []]
    run = forward(rig, text, arrivals)
    assert_balance(run, arrivals)
    drops = drops_of(run)
    assert set(drops) == {("l2_lookup", f"storm_{kind}")}, run
    through = 2000 - drops["l2_lookup", f"storm_{kind}"]
    assert 1 <= through < 1000, run
    # Port 1 has no limit; port 2 gets what is flooded from both, port 0 what is from port 1.
    expected = Counter({to[other]: 2000 for other in to if other != kind})
    expected.update({to[kind]: through + 500, station(1): 2000})
    assert Counter(frame[:6] for frame in run.sent(2)) == expected, run
    assert Counter(frame[:6] for frame in run.sent(0)) == {to[kind]: 500}, run
    assert Counter(f[:6] for f in run.sent(1))[GROUP] == 2000, run
