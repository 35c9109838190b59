# SPDX-License-Identifier: BSD-3-Clause
"""The Linux bridge makes of frames what the model of bridge_oracle.py does: the same frames leave
by the same ports, in the same order, tags included, for random set-ups that both have. The
bridge of the kernel that runs knows no VLANs everywhere, so those are a user-mode Linux's.

Left out is what differs on purpose: 01:80:C2:00:00:00, which Linux floods if it runs no spanning
tree protocol, and of the reserved addresses those that it floods in service VLANs, as IEEE 802.1Q's
table 8-2 has them; static entries of groups, which it has in another table; tagged frames shorter
than 20 bytes, which it drops, and no Ethernet carries."""

import random
import sys
from collections import Counter

import pytest

import bridge_frames
import bridge_oracle
import l3fwd
import linux_bridge

pytestmark = pytest.mark.skipif(bool(l3fwd.UNDER), reason="needs this CPU's kernel")

FLOODED = [bridge_oracle.RESERVED + bytes([last]) for last in (0x00, 0x0B, 0x0C, 0x0D, 0x0F)]
PORTS = 5


@pytest.fixture(name="peer")
def linux_peer(request):
    """A peer, or the reason for which there is none here."""
    if sys.platform != "linux":
        pytest.skip("needs Linux")
    try:
        peer = request.param(PORTS)
    except linux_bridge.Absent as absent:
        pytest.skip(str(absent))
    yield peer
    peer.end()


def feed(compared, rng, maker, count):
    """Feeds frames in runs, each of one port."""
    end = compared.frames + count
    while compared.frames < end:
        made = maker.frames(rng.randint(1, 24))
        compared.feed(rng.randrange(PORTS), [f for f in made if f[:6] not in FLOODED])
    compared.finish()


def reasons(outcomes):
    """How often each end of frames occurred, and each change of tags."""
    return Counter((o.node, o.reason) for o in outcomes), Counter(
        change for o in outcomes for change in o.changes)


@pytest.mark.parametrize("peer", [linux_bridge.Here], indirect=True)
def test_bridge_of_this_kernel_does_as_the_model(peer):
    """All frames are of one VLAN if the bridge's tags are not the frames'."""
    rules = ("", "group 1", "group 1", "learn off", "state learning")
    text = "tag 0x88a8\n" + "".join(f"port {i} access 1 admit all {more}\n"
                                    for i, more in enumerate(rules))
    compared = linux_bridge.Compared(peer, bridge_oracle.parse(text))
    rng, maker = random.Random(1), bridge_frames.Maker(2)
    of_others = [b"", b"\x81\x00\x00\x0a", b"\x81\x00\xef\xff", b"\x81\x00\x20\x00\x88\xa8\x00\x01"]
    maker.tags = lambda: rng.choice(of_others)
    feed(compared, rng, maker, 4000)
    ends, changes = reasons(compared.outcomes)
    assert compared.frames >= 4000 and compared.sent >= 4000, (compared.frames, compared.sent)
    assert compared.model.moved > 100
    assert set(ends) == {(None, None), ("l2_input", "reserved_dst"), ("l2_input", "bad_src"),
                         ("l2_learn", "port_learning"), ("l2_output", "same_port"),
                         ("l2_output", "split_horizon"), ("l2_output", "port_blocked")}, ends
    assert set(changes) == {"kept_none"}, changes


@pytest.mark.slow
@pytest.mark.parametrize("peer", [linux_bridge.Uml], indirect=True)
def test_bridge_with_vlans_does_as_the_model(peer):
    rng, maker = random.Random(7), bridge_frames.Maker(7)
    outcomes, sent, moved, tags = [], 0, 0, Counter()
    for _ in range(30):
        text = bridge_frames.set_up(rng, PORTS, linux=True)
        setup = bridge_oracle.parse(bridge_frames.with_statics(
            text, rng, rng.choice((0, 0.3)), groups=False, local=False))
        compared = linux_bridge.Compared(peer, setup)
        feed(compared, rng, maker, 500)
        outcomes += compared.outcomes
        sent, moved = sent + compared.sent, moved + compared.model.moved
        tags[setup.tag] += compared.frames
    ends, changes = reasons(outcomes)
    assert len(outcomes) >= 15000 and sent >= 10000 and moved >= 500, (len(outcomes), sent, moved)
    assert set(tags) == {0x8100, 0x88A8}, tags
    unseen = {(node, reason) for node, found in bridge_oracle.DROPS.items() for reason in found
              if (node, reason) not in ends}
    assert unseen == {("l2_input", "truncated"), *(("l2_lookup", reason) for reason in
                                                   bridge_oracle.DROPS["l2_lookup"])} | (
        {("l2_output", "no_member")} & unseen), unseen
    assert set(changes) == set(bridge_oracle.CHANGES), changes
