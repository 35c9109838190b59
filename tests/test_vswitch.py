# SPDX-License-Identifier: BSD-3-Clause
"""vswitch-graph over captures: what leaves each port, drops, and the counts of each rule, beside brute force."""

import collections
import random
import re

import pytest

import apply_oracle
import l3fwd
import pcapfile
import vswitch_frames
import vswitch_oracle as oracle

VSWITCH = l3fwd.BUILD / "examples" / "vswitch-graph" / "vswitch-graph"
MODES = ("none", "emc", "emc+smc", "dfc", "smc", "lines", "frames", "auto")
# Of each mode. All packets may wait for rules at once, and none is lost: half of the room is 2,048.
FILES, PACKETS = 6, 2000


@pytest.fixture(autouse=True)
def edges(monkeypatch):
    """The oracle of operations has as many edges as the switch has ports."""
    monkeypatch.setattr(apply_oracle, "EDGES", vswitch_frames.PORTS)


@pytest.fixture(name="rig")
def vswitch_rig(rig):
    """A rig that runs vswitch-graph."""
    rig.program = VSWITCH
    return rig


def switch(rig, lines, frames, *app):
    """Runs the switch by rules over the frames of each port."""
    path = rig.write("flows", re.sub(r"eth([1-4])", lambda m: f"dpdk{int(m[1]) - 1}", "\n".join(lines)) + "\n")
    return rig.run([*vswitch_frames.OPTIONS, f"--flows={path}", f"--json={rig.folder}/stats.json",
                    f"--dump-flows={rig.folder}/dump", "--until-idle=500", *app], rig.vdevs([[f] for f in frames]))


def without_source_port(frame):
    """A tunnel's UDP source port is a hash: 49152 and up."""
    if not vswitch_frames.is_ours(frame):
        return frame
    assert frame[34] >= 0xC0
    return frame[:34] + bytes(2) + frame[36:]


@pytest.mark.parametrize("mode", MODES)
def test_switch_does_what_brute_force_says(rig, mode):
    chance = random.Random(mode)
    seen, sent = collections.Counter(), 0
    for _ in range(FILES):
        rules, lines = oracle.random_rules(chance, 60)
        expected, frames = vswitch_frames.Expected(rules), [[] for _ in range(vswitch_frames.PORTS)]
        distinct = [oracle.random_packet(chance) for _ in range(PACKETS // 4)]
        made = [(packet, vswitch_frames.frame_of(chance, packet)) for packet in distinct if packet["port"] < 15]
        for _ in range(PACKETS):
            packet, frame = chance.choice(made)
            frames[packet["port"] - vswitch_frames.FIRST].append(frame)
            expected.add(packet, frame)
        run = switch(rig, lines, frames, f"--cache={mode}")
        assert run.stats["totals"]["rx"] == PACKETS, run
        for port, out in enumerate(expected.out):
            got = sorted(without_source_port(frame) for frame in run.sent(port))
            sent += l3fwd.assert_same_frames(sorted(out), got, f"port {port}")
        drops = {reason: n for reason, n in run.stats["drops"].items() if n}
        assert drops == {reason: n for reason, n in expected.drops.items() if n}, run
        assert run.stats["totals"]["rx"] == PACKETS and run.stats["totals"]["copied"] == expected.copies, run
        assert vswitch_frames.counts_of((rig.folder / "dump").read_text()) == expected.rules, run
        seen.update(expected.done)
        seen.update(drops)
        flows = run.stats["flows"]
        assert flows["uncounted"] == flows["without_list"] == 0 and flows["caches"] == mode
        seen["hits"] += sum(w["frames"] + w["exact"] + w["index"] for w in flows["workers"])
    assert sent > FILES * PACKETS // 20
    assert (seen["hits"] > 0) == (mode != "none"), seen
    for what in ("output", "no_output"):
        assert seen[what] > 0, seen


def test_modes_together_did_each_operation():
    """The random rules of the test above, without the program."""
    seen = collections.Counter()
    for mode in MODES:
        chance = random.Random(mode)
        for _ in range(FILES):
            rules, _ = oracle.random_rules(chance, 60)
            expected = vswitch_frames.Expected(rules)
            for _ in range(PACKETS // 4):
                packet = oracle.random_packet(chance)
                expected.add(packet, vswitch_frames.frame_of(chance, packet))
            seen.update(expected.done)
    for op in apply_oracle.OPS:
        assert seen[op] > 0 or op.startswith("ip6"), (op, seen)


MINE, OTHER = "10.9.0.1", "10.9.0.2"
FIRST = 10  # frames of each capture


def tunnel(rig, name, local, remote, rules, frames):
    """A switch of two ports and a tunnel by the second one."""
    rig.folder = rig.folder / name
    rig.folder.mkdir()
    path = rig.write("flows", rules)
    run = rig.run(["-p", "3", "--config", "(0,0,1),(1,0,1)", f"--flows={path}", "--until-idle=500",
                   f"--json={rig.folder}/stats.json",
                   f"--tunnel=vx0,port=9,uplink=2,local={local},remote={remote},dst-mac=02:00:00:00:00:09"],
                  rig.vdevs([[part] for part in frames]))
    rig.folder = rig.folder.parent
    return run


def test_frames_of_captures_cross_a_tunnel_between_two_switches(rig, captures):
    """In by port 1 of one, over VXLAN, and out by port 1 of the other as they were."""
    frames = [frame for path in captures for frame in pcapfile.read(path)[:FIRST]
              if 14 <= len(frame) <= 1400 and frame[36:38] != b"\x12\xb5"]
    compared = 0
    for at in range(0, len(frames), PACKETS):
        part = frames[at:at + PACKETS]
        one = tunnel(rig, f"{at}-in", MINE, OTHER, "in_port=1 actions=set_tunnel:7,output:9", [part, []])
        across = one.sent(1)
        assert one.stats["totals"] == {"rx": len(part), "copied": 0, "tx": len(part), "dropped": 0}, one
        assert all(frame[46:49] == b"\0\0\7" for frame in across)
        two = tunnel(rig, f"{at}-out", OTHER, MINE, "in_port=9,tun_id=7 actions=output:1", [[], across])
        compared += l3fwd.assert_same_frames(sorted(part), sorted(two.sent(0)), "the other side")
        assert two.stats["totals"]["dropped"] == 0, two
    assert compared == len(frames) > len(captures) > 100
