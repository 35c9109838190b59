# SPDX-License-Identifier: BSD-3-Clause
"""Set-ups of bridges and frames for them, from a seed: same seed, same bytes."""

import random

import bridge_oracle

# VLANs of set-ups, at both edges and between.
VIDS = (1, 2, 10, 20, 30, 4093, 4094)
GROUP = bytes.fromhex("01005e000102")  # a multicast address with a static entry
STATIONS = 24  # that frames mostly come from and go to
LIMIT = 1514  # without a tag of the bridge's


def station(n):
    """The address of a station."""
    return b"\x02\x0b" + n.to_bytes(4, "big")


ROUTER = station(99)


def mac(address):
    """An address as text."""
    return address.hex(":")


# Every rule in one set-up: access and trunk, with a native VLAN and without, one that is not
# filtered, one in each state, one group, ports that admit what others do not.
RULES = """
port 0 trunk 1,10-20,4094 native 1
port 1 access 10
port 2 trunk 1-4000
port 3 trunk 10,20 native 30 filter off group 1
port 4 trunk all native 20 admit tagged group 1
port 5 access 10 admit all
port 6 trunk all state blocking
port 7 trunk all native 10 state learning
"""


def with_statics(text, rng, share=0.6, groups=True, local=True):
    """A set-up with static entries for stations, in VLANs that their ports are in; groups: also for
    a group address; local: and for the router itself."""
    setup = bridge_oracle.parse(text)
    members = {vid: [n for n, port in setup.ports.items() if vid in port.members] for vid in VIDS}
    lines = []
    for vid, ports in members.items():
        known = [station(n) for n in range(STATIONS) if rng.random() < share]
        known += [GROUP] if groups and rng.random() < 0.7 else []
        lines += [f"static {mac(address)} vlan {vid} port {rng.choice(ports)}"
                  for address in known if ports]
        lines += [f"static {mac(ROUTER)} vlan {vid} local"] if local and ports else []
    return text + "\n".join(lines) + "\n"


def _port(rng, linux):
    """What a port's line says of VLANs."""
    some = sorted(rng.sample(VIDS, rng.randint(1, len(VIDS))))
    access, native = rng.random() < 0.35, rng.random() < 0.6
    if access:
        words, admits = f"access {rng.choice(VIDS)}", ["all", "all", "untagged", "tagged"]
    else:
        words = f"trunk {rng.choice(('all', ','.join(map(str, some)), '1-30,4093-4094'))}"
        words += f" native {rng.choice(VIDS)}" if native else ""
        admits = ["all", "tagged", "untagged"] if native else ["all", "tagged"]
    if linux:  # which accepts tagged frames on all ports
        admits = [admit for admit in admits if admit != "untagged"]
    said = rng.random() < 0.4 or (linux and access)
    return f"{words} admit {rng.choice(admits)}" if said else words


def set_up(rng, ports, learn=None, linux=False):
    """A random set-up, as a file, without static entries. learn: all ports do, or none does. linux:
    it has only what the Linux bridge has, too."""
    lines = [f"tag {rng.choice(('0x8100', '0x8100', '0x88a8'))}"]
    for port in range(ports):
        words = [f"port {port} {_port(rng, linux)}"]
        if rng.random() < 0.3 and not linux:
            words.append("filter off")
        if rng.random() < 0.3:
            words.append(f"group {1 if linux else rng.randint(1, 2)}")
        if rng.random() < 0.2:
            words.append(f"state {rng.choice(('blocking', 'learning', 'forwarding'))}")
        if learn is not None:
            words.append(f"learn {'on' if learn else 'off'}")
        elif rng.random() < 0.2:
            words.append("learn off")
        lines.append(" ".join(words))
    return "\n".join(lines) + "\n"


class Maker:
    """Makes frames, each with a number of its own behind its header, where it has room."""

    def __init__(self, seed, origin=0):
        self.rng = random.Random(seed)
        self.origin, self.made = origin, 0

    def address(self):
        """A station that a table may have, one that it has not, or a group."""
        rng, kind = self.rng, self.rng.random()
        if kind < 0.55:
            return station(rng.randrange(STATIONS))
        if kind < 0.58:
            return ROUTER
        if kind < 0.7:
            return station(1000 + rng.randrange(1000))
        if kind < 0.8:
            return b"\xff" * 6
        if kind < 0.87:
            return GROUP
        if kind < 0.95:
            return b"\x33\x33" + rng.randbytes(4)
        # the last addresses that are reserved, and the first that are not
        return bridge_oracle.RESERVED + bytes([rng.choice((0, 1, 2, 3, 10, 14, 15, 16, 17, 255))])

    def source(self):
        """A station; rarely what none is."""
        rng, kind = self.rng, self.rng.random()
        if kind < 0.04:
            return rng.choice((b"\xff" * 6, bytes(6), GROUP, b"\x03" + rng.randbytes(5)))
        if kind < 0.1:
            return rng.choice((b"\x00\x00\x00\x00\x00\x01", b"\x04" + bytes(5), ROUTER))
        return station(rng.randrange(STATIONS))

    def tags(self):
        """Tags of both types, none, one or two, or what only looks like one."""
        rng = self.rng
        vid = rng.choice((0, 0, *VIDS, *VIDS, 3, 15, 4095, rng.randrange(4096)))
        tci = (rng.choice((0, rng.randrange(16))) << 12 | vid).to_bytes(2, "big")
        outer = rng.choice((b"", b"\x81\x00", b"\x81\x00", b"\x88\xa8", b"\x91\x00"))
        types = (b"\x81\x00", b"\x88\xa8")
        inner = rng.choice((b"", b"", *(of + rng.randbytes(2) for of in types)))
        return (outer + tci if outer else b"") + inner

    def frame(self, source=None, destination=None, tags=None, size=None):
        """A frame. size: without tags."""
        rng = self.rng
        size = size or rng.choice((60, 60, rng.randrange(60, 200), rng.randrange(60, LIMIT + 1)))
        number = bytes([self.origin]) + self.made.to_bytes(5, "big")
        self.made += 1
        payload = (number + rng.randbytes(4) + bytes(size))[:size - 14]
        return ((destination or self.address()) + (source or self.source())
                + (self.tags() if tags is None else tags) + b"\x08\x00" + payload)

    def frames(self, n):
        """So many of them."""
        return [self.frame() for _ in range(n)]

    def short(self):
        """Frames cut to each length up to that of the longest header, for each start of one."""
        made = []
        for destination in (station(0), b"\xff" * 6, bytes.fromhex("0180c2000000")):
            for tags in (b"", b"\x81\x00\x00\x0a", b"\x88\xa8\x00\x0a", b"\x81\x00\x00\x00",
                         b"\x81\x00\x0f\xff", b"\x81\x00\x00\x0a\x81\x00\x00\x14"):
                whole = self.frame(station(1), destination, tags, 60)
                made += [whole[:length] for length in range(1, 27)]
        return made
