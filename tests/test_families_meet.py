# SPDX-License-Identifier: BSD-3-Clause
"""IPv6, VLAN interfaces and groups of next hops together: each works beside the others."""

import functools
import random
from collections import Counter

import pytest

import frames6
import l3fwd
import oracle
from l3fwd import SILENT
from live import Live
from test_ip6 import mixed, packets
from test_routes_live import dump, replay, to_nowhere
from test_trace import ways
from test_vlan import INTERFACES, STACKED, VLANS, Expected, assert_counted, options

ROUTES = [r._replace(port=INTERFACES[i % len(INTERFACES)]) for i, r in enumerate(frames6.BOTH)]


@functools.cache
def tagged():
    """Frames of both families, with tags of all kinds and without."""
    rng = random.Random(6)
    made = []
    for frame in (f.data for f in mixed(1518)):
        vid = rng.choice((None, None, 0, 1, 100, 4094, 4095, 5))
        if vid is not None and len(frame) >= 14:
            tci = rng.randrange(16) << 12 | vid
            frame = frame[:12] + b"\x81\x00" + tci.to_bytes(2, "big") + frame[12:]
            if rng.randrange(50) == 0:
                frame = frame[:12] + b"\x88\xa8\x00\x01" + frame[12:]
        made.append(frame)
    return made


def check(run, records, queues=1):
    """Compares what was sent and dropped, in any order, with the oracle."""
    expected = Expected(records, ROUTES, run.macs)
    want = Counter((to, f) for (_, to, _), made in expected.out.items() for f in made)
    got = Counter((p, f) for p in range(3) for q in range(queues) for f in run.sent(p, q))
    assert want == got, (list((want - got).items())[:2], list((got - want).items())[:2], run)
    drops = Counter({reason: n for reason, n in run.stats["drops"].items() if n > 0})
    assert drops == expected.drops, run
    assert want.total() + drops.total() == len(records)
    return expected


@pytest.mark.parametrize("more", [[], ["--deny=ip4_forward"], ["--node=pkt_cls=scalar"]],
                         ids=["picked", "apart", "scalar"])
def test_both_families_with_tags_go_as_the_oracle_says(rig, more):
    records = tagged()
    run = rig.forward([[records], SILENT, SILENT], *options(), rig.routes(ROUTES), *more)
    expected = check(run, records)
    assert_counted(run, expected)
    assert set(expected.drops) == {*oracle.REASONS, "martian_src", STACKED} - {"tx_full"}
    six = Counter(left for (_, _, left), made in expected.out.items() for f in made
                  if b"\x86\xdd" in (f[12:14], f[16:18]))
    assert set(six) == set(INTERFACES) and min(six.values()) > 100, six


@pytest.mark.parametrize("app, eal", [
    (["--mode=dispatch", "--pin=ip4_lookup=2", "--pin=vlan_p*=1"], []),
    (["--mode=dispatch", "--pin=ip6_rewrite=2", "--pin=ip6_lookup=1"], []),
    (["--mode=eventdev"], ["--vdev=event_sw0"]),
], ids=["dispatch", "dispatch6", "eventdev"])
def test_other_modes_do_the_same(rig, app, eal):
    records = tagged()[:6000]
    run = rig.forward([[records], SILENT, SILENT], *app, *options(), rig.routes(ROUTES),
                      config=[(0, 0, 1), (1, 0, 2), (2, 0, 2)], tx_queues=2, workers=2, eal=eal)
    assert len(check(run, records, queues=2).drops) > 9


GROUP = " group port 0 mac 02:00:00:00:00:02, port 0.100 mac 02:00:00:00:00:01 weight 2\n"
LINES = f"""198.18.1.0/24{GROUP}198.19.0.0/16 port 0.100 mac 02:00:00:00:00:01
::/0 port 1.100 mac 02:00:00:00:00:03
::ffff:1.2.3.4/128 port 0 mac 02:00:00:00:00:02
2001:db8::/32 port 0.100 mac 02:00:00:00:00:01
2001:db8:ffff::/48{GROUP}"""


def test_lines_of_all_kinds_are_read_as_they_are_written_and_no_id_leaks(rig):
    """By reloads of which each third fails for want of ids, and each third by its last line."""
    live = Live(rig, LINES, [*l3fwd.options(2, [(0, 0, 1)]), *options(VLANS[:4]),
                             f"--dump-routes={rig.folder}/dump", "--max-next-hops=8"],
                replay(rig, 2, {0: packets(["2001:db8::5"])}, to_nowhere), telemetry=True)
    assert dump(live) == "# 6 routes\n" + LINES
    assert live.reload(dump(live)) == (0, 0, 0, 6)
    start = live.ask("/l3fwd/routes")
    assert (start["next_hops"], start["groups"], start["ip6_routes"]) == (3, 1, 4)

    def settled():
        live.wait(lambda: live.ask("/l3fwd/routes") == start, "the sweep")

    for i in range(20):
        now = LINES.replace("02:00:00:00:00:01", f"02:00:00:00:01:{i:02x}")
        assert live.reload(now) == (0, 4, 0, 2)
        settled()
        many = LINES + "".join(f"2001:db8:{n:x}::/48 port 0 mac 02:00:00:00:02:{n:02x}\n"
                               for n in range(20))
        assert "--max-next-hops 8 is too few" in live.reload_bad(many)
        settled()
        assert "duplicate" in live.reload_bad(LINES + LINES.splitlines()[-1] + "\n")
        settled()
        assert dump(live) == "# 6 routes\n" + now
        told = live.ask("/l3fwd/route,2001:db8::1")
        assert (told["port"], told["vlan"], told["mac"][-2:]) == (0, 100, f"{i:02X}")
    run = live.stop()
    assert run.stats["totals"]["dropped"] == 0, run


def test_a_group_of_64_members_behind_vlans_is_told_and_written(rig):
    ports = ("0", "0.100", "0.4094", "1.100")
    members = ", ".join(f"port {ports[i // 16]} mac 02:00:00:00:03:{i:02x} weight {255 - i}"
                        for i in range(64))
    lines = f"198.18.1.0/24 group {members}\n2001:db8::/32 port 0.4094 mac 02:00:00:00:03:20\n"
    live = Live(rig, lines, [*l3fwd.options(2, [(0, 0, 1)]), *options(VLANS[:4]),
                             f"--dump-routes={rig.folder}/dump"],
                replay(rig, 2, {0: packets(["2001:db8::5"])}, to_nowhere), telemetry=True)
    (group,) = live.ask("/l3fwd/group")
    told = live.ask(f"/l3fwd/group,{group}")
    assert told["vlan"] == [vid for vid in (0, 100, 4094, 100) for _ in range(16)]
    assert told["weight"] == [255 - i for i in range(64)]
    assert dump(live) == "# 2 routes\n" + lines
    assert live.reload(dump(live)) == (0, 0, 0, 2)
    live.stop()


def test_a_trace_names_the_nodes_of_both(rig):
    record = packets(["2001:db8::5"])[0]
    record = record[:12] + b"\x81\x00\x00\x64" + record[12:]
    routes = rig.write("routes", "2001:db8::/32 port 1.100 mac 02:00:00:00:00:01\n")
    run = rig.forward([[[record]], SILENT], "--trace=1", *options(VLANS[:4]), f"--routes={routes}")
    (way,) = ways(run)["worker-1"]
    assert [step[0] for step in way] == ["ethdev_rx-0-0", "vlan_input-0", "vlan_pop-0.100",
                                         "pkt_cls", "ip6_lookup", "ip6_rewrite", "vlan_push-1.100",
                                         "ethdev_tx-1"]
    assert way[4][1] == "2001:db8::5" and way[5][1].endswith("02:00:00:00:00:01")
