# SPDX-License-Identifier: BSD-3-Clause
"""l3fwd-graph --acl, end to end: what leaves each port, byte for byte, what is dropped and why, and
what each rule counted are what the oracles say, for generated frames and real captures."""

import functools
import random
from collections import Counter

import pytest

import acl_frames
import acl_oracle as acl
import acl_traffic
import frames
import frames6
import oracle
import pcapfile
from l3fwd import SILENT

MAC = "02:00:00:00:0a:0a"
WAY = oracle.route("0.0.0.0/0", 2, MAC)
PORTS = 3
ACTIONS = ("permit", "deny", "deny", "count", "class 7", "class 8", "port 0", "port 1", "port 2")


@functools.cache
def generated(seed):
    """Frames that the routes send on, of both families, and that they do not, and frames of every
    field that lists know."""
    rng = random.Random(seed)
    made = [frame.data for frame in rng.sample(frames.generate(seed), 5000)]
    made += [frame.data for frame in rng.sample(frames6.generate(seed, plain=1000), 4000)]
    made += [acl_frames.anything(rng) for _ in range(3000)]
    made = [frame for frame in made if 0 < len(frame) <= 1514]
    rng.shuffle(made)
    return made


def spread():
    """Rules, tried last, by which each action gets a part of both families, and a part gets none."""
    for i, action in enumerate(ACTIONS):
        for family in (4, 6):
            rule = f"{action} precedence 20" + " ip6" * (family == 6)
            ports = f"sport {i * 6000}-{i * 6000 + 5999}"
            for n, part in enumerate((ports, f"dscp {i}", f"dscp {20 + i}", f"dscp {40 + i}")):
                yield f"rule {1000 + 100 * i + 10 * family + n} {rule} {part}"


def lists(rng, records, names, count=40, more=()):
    """The text of some lists with rules for what is in records."""
    lines = [*more, *spread()]
    return {name: acl_frames.RuleMaker(rng, "mixed", records).file(count, ACTIONS, lines)
            for name in names}


def check(rig, setup, texts, received, *app, routes=frames6.BOTH, workers=1):
    """Runs l3fwd-graph over what each port receives, and compares all. Returns the oracle's router
    and how many frames were compared."""
    ports = [[records] if records else SILENT for records in received]
    config = [(port, 0, 1 + port % workers) for port in range(len(ports))]
    run = rig.forward(ports, rig.routes(routes), *setup.options(rig, texts), *app, config=config,
                      workers=workers, tx_queues=workers)
    router = acl_traffic.Router(setup, routes, run.macs)
    for port, records in enumerate(received):
        for frame in records:
            router.receive(port, frame)
    sent = {port: [frame for queue in range(workers) for frame in run.sent(port, queue)]
            for port in router.out}
    for port in router.out:
        got, expected = Counter(sent[port]), Counter(router.out[port])
        more, less = got - expected, expected - got
        assert not more and not less, (
            f"port {port}: sent {sum(more.values())} too many, such as {min(more, default=b'').hex()}"
            f"\nnot {sum(less.values())} expected, such as {min(less, default=b'').hex()}\n{texts}")
    drops = {reason: n for reason, n in run.stats["drops"].items() if n}
    assert drops == dict(router.drops), run
    assert acl_traffic.of_stats(run.stats["acl"]) == {
        name: counts.json() for name, counts in router.counts.items()}, run
    total = sum(map(len, received))
    assert run.stats["totals"]["rx"] == total == sum(map(len, sent.values())) + sum(drops.values())
    return router, total


def setup_of(texts, bound, **more):
    return acl_traffic.Setup({name: acl.read(text) for name, text in texts.items()}, bound, **more)


SETUPS = {
    "in": {"in:0": "a"},
    "out": {"out:0": "a", "out:1": "b", "out:2": "a"},
    "two_ports": {"in:0": "a", "in:1": "b", "out:2": "c"},
    "shared": {"in:0": "a", "in:1": "a", "out:0": "a", "out:1": "a", "out:2": "a"},
    "every_place": {f"{way}:{port}": f"{way}{port}"
                    for way in ("in", "out") for port in range(PORTS)},
}


@pytest.mark.parametrize("bound", SETUPS)
def test_lists_of_all_fields_and_actions_do_as_the_oracle_says(rig, bound):
    """Mixed lists of IPv4, IPv6 and layer 2, by port and direction; one list, which nobody binds."""
    rng = random.Random(bound)
    received = [generated(1), generated(2), []]
    texts = lists(rng, received[0], sorted({*SETUPS[bound].values(), "unbound"}))
    setup = setup_of(texts, SETUPS[bound], drop_classes=(8,), steer={7: WAY})
    router, total = check(rig, setup, texts, received)
    assert total > 20000
    ways = {place.split(":")[0] for place in SETUPS[bound]}
    for way in {"in"} if bound == "shared" else ways:  # what "out" would drop does not get there
        seen = {(action, counted) for of, action, counted in router.outcomes if of == way}
        assert seen >= {("permit", "permitted"), ("deny", "denied"), ("port", "redirected"),
                        ("class", "permitted"), ("count", "permitted"), ("none", "permitted")}, seen
        assert ("class", "denied") in seen or bound == "two_ports", seen
    assert sum(router.counts["unbound"].sums.values()) == 0


def test_workers_count_together(rig):
    """Two, each with a port that receives, on lists that both use."""
    rng = random.Random(2)
    received = [generated(1), generated(2), []]
    texts = lists(rng, received[0], ["a", "b"])
    bound = {"in:0": "a", "in:1": "a", "out:0": "b", "out:1": "b", "out:2": "b"}
    _, total = check(rig, setup_of(texts, bound), texts, received, workers=2)
    assert total > 20000


@pytest.mark.parametrize("more", [("default deny",), ("truncated deny",),
                                  ("default deny", "truncated deny")], ids=" ".join)
def test_settings_of_lists_do_as_the_oracle_says(rig, more):
    rng = random.Random(str(more))
    received = [generated(3), generated(4), []]  # those of the second port only pass "out"
    texts = lists(rng, received[0], ["in", "out"], 30, more)
    setup = setup_of(texts, {"in:0": "in", "out:0": "out", "out:1": "out"})
    router, _ = check(rig, setup, texts, received)
    assert ("truncated deny" in more) == (router.drops["acl_truncated"] > 50)
    for of in ("in", "out"):
        unmatched = "denied" if "default deny" in more else "permitted"
        assert router.outcomes[of, "none", unmatched] > 20, router.outcomes
        assert router.outcomes[of, "count", unmatched] > 5, router.outcomes
    assert sum(map(len, router.out.values())) > 100


def test_acl_no_match_deny_is_the_default_of_lists_without_one(rig):
    texts = {"a": "rule 1 count proto udp\nrule 2 permit type 0x86dd\n",
             "b": "default permit\nrule 1 deny proto tcp\n"}
    setup = setup_of({"a": "default deny\n" + texts["a"], "b": texts["b"]}, {"in:0": "a", "in:1": "b"})
    router, _ = check(rig, setup, texts, [generated(1), generated(2), []], "--acl-no-match=deny")
    assert router.outcomes["in", "count", "denied"] > 100
    assert router.outcomes["in", "none", "permitted"] > 100


def test_frames_for_a_port_that_is_not_used_are_dropped(rig):
    texts = {"a": "rule 1 port 9 proto udp\n"}
    router, _ = check(rig, setup_of(texts, {"in:0": "a"}), texts, [generated(1), [], []])
    assert router.drops["no_port"] > 100


def test_captures_pass_lists_as_the_oracle_says(rig, captures):
    """All of them, half on each of two ports, by lists for what is in them."""
    records = [frame for path in captures for frame in pcapfile.read(path)
               if 0 < len(frame) <= 1514]
    routes = [oracle.route("0.0.0.0/1", 0, MAC), oracle.route("128.0.0.0/1", 2, MAC),
              oracle.route("::/0", 1, MAC)]
    rng = random.Random(20)
    texts = lists(rng, records, ["a", "b", "c"], 60)
    setup = setup_of(texts, {"in:0": "a", "in:1": "b", "out:0": "c", "out:1": "c", "out:2": "a"},
                     drop_classes=(8,), steer={7: WAY})
    router, total = check(rig, setup, texts, [records[::2], records[1::2], []], routes=routes)
    assert total == len(records) > 3000
    assert min(map(len, router.out.values())) > 20, router.outcomes


def test_order_of_frames_is_kept(rig):
    """One port in, one out: what passes leaves as it came, in each family."""
    records = [frame for frame in generated(1) if frame[12:14] in (b"\x08\x00", b"\x86\xdd")]
    texts = {"a": "rule 1 deny dport 0-30000\nrule 2 deny dport 0-30000 ip6\nrule 3 count\n"}
    routes = [r._replace(port=1) for r in frames6.BOTH]
    setup = setup_of(texts, {"in:0": "a", "out:1": "a"})
    run = rig.forward([[records], SILENT], rig.routes(routes), *setup.options(rig, texts))
    router = acl_traffic.Router(setup, routes, run.macs)
    for frame in records:
        router.receive(0, frame)
    for family in (b"\x08\x00", b"\x86\xdd"):
        expected = [frame for frame in router.out[1] if frame[12:14] == family]
        assert [frame for frame in run.sent(1) if frame[12:14] == family] == expected
        assert len(expected) > 300
