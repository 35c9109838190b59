# SPDX-License-Identifier: BSD-3-Clause
"""What a bridge that knows VLANs makes of frames: a model from the rules of IEEE 802.1Q, which
shares nothing with the C code, and a parser of its own for the bridge's file (hy_bridge.h).

A frame is judged in three steps, so that a caller may decide what the forwarding table knew at the
time: classify() says which VLAN it belongs to or why it may not enter, Bridge.learn() learns its
source, deliver() says what leaves by which ports."""

from dataclasses import dataclass, field
from typing import NamedTuple

TYPES = (0x8100, 0x88A8)
VIDS = range(1, 4095)
LOCAL = "local"  # in place of a port: the router itself
BROADCAST = b"\xff" * 6
RESERVED = bytes.fromhex("0180c20000")  # with a last byte of 0 to 15 (table 8-1 of the standard)
HEADER, TAG = 14, 4

INPUT_DROPS = ("truncated", "reserved_dst", "port_blocked", "bad_src", "vlan_invalid",
               "not_admitted", "vlan_filtered")
DROPS = {
    "l2_input": INPUT_DROPS,
    "l2_learn": ("port_learning",),
    "l2_lookup": ("storm_broadcast", "storm_multicast", "storm_unknown"),
    "l2_flood": ("nowhere",),
    "l2_output": ("same_port", "port_blocked", "split_horizon", "no_member"),
}


class BadFile(Exception):
    """A line of a file is no statement, or contradicts another one."""


@dataclass
class Port:
    """A port of a bridge."""

    members: set = field(default_factory=set)  # VIDs
    untagged: set = field(default_factory=set)  # of these: sent without a tag
    pvid: int = 0  # 0: frames without a VLAN are not admitted
    admit: str = "all"
    state: str = "forwarding"
    learn: bool = True
    filter: bool = True
    group: int = 0
    entries: int = 0
    storm: dict = field(default_factory=dict)  # kind: frames a second


@dataclass
class Setup:
    """A bridge as its file says."""

    tag: int = 0x8100
    age: int = 300
    entries: int = 65536
    ports: dict = field(default_factory=dict)  # number: Port
    statics: dict = field(default_factory=dict)  # (MAC, VID): port or LOCAL


def _vid(word):
    vid = int(word)
    if vid not in VIDS:
        raise ValueError(f"{vid} is no VLAN")
    return vid


def _vids(word):
    if word == "all":
        return set(VIDS)
    found = set()
    for part in word.split(","):
        first, _, last = part.partition("-")
        found |= set(range(_vid(first), _vid(last or first) + 1))
    return found


def _port(words):
    port, admit = Port(), None
    kind, vlans, *rest = words
    if kind == "access":
        port.pvid = _vid(vlans)
        port.members = port.untagged = {port.pvid}
    elif kind == "trunk":
        port.members = _vids(vlans)
    else:
        raise ValueError(f"{kind} is no kind of port")
    rest = iter(rest)
    for word in rest:
        value = next(rest)
        if word == "native" and kind == "trunk":
            port.pvid = _vid(value)
            port.members, port.untagged = port.members | {port.pvid}, {port.pvid}
        elif word in ("entries", "group"):
            setattr(port, word, int(value))
        elif word == "storm":
            port.storm[value] = int(next(rest))
        elif word in ("learn", "filter"):
            setattr(port, word, {"on": True, "off": False}[value])
        elif word == "state":
            port.state = value
        elif word == "admit":
            admit = value
        else:
            raise ValueError(f"{word} is no word of a port")
    default = "untagged" if kind == "access" else "all" if port.pvid else "tagged"
    port.admit = admit or default
    return port


def parse(text):
    """Reads a bridge's file, which is a good one."""
    setup = Setup()
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].split()
        try:
            match words:
                case []:
                    pass
                case ["tag", kind]:
                    setup.tag = int(kind, 0)
                case [("age" | "entries") as name, value]:
                    setattr(setup, name, int(value))
                case ["port", port, *rest]:
                    setup.ports[int(port)] = _port(rest)
                case ["static", mac, "vlan", vid, "port", port]:
                    setup.statics[_mac(mac), _vid(vid)] = int(port)
                case ["static", mac, "vlan", vid, "local"]:
                    setup.statics[_mac(mac), _vid(vid)] = LOCAL
                case _:
                    raise ValueError("no statement")
        except (ValueError, KeyError, StopIteration) as error:
            raise BadFile(f"{number}: {line}: {error}") from error
    return setup


def _mac(text):
    mac = bytes.fromhex(text.replace(":", ""))
    if len(mac) != 6:
        raise ValueError(f"{text} is no MAC address")
    return mac


class Classified(NamedTuple):
    """A frame that may enter the bridge."""

    port: int  # that received it
    vid: int
    tci: int  # the priority and DEI that it has, in their places; 0 without a tag
    tag: str  # what it has: "none", "vid" or "zero"
    addresses: bytes
    rest: bytes  # from the ether type behind the tag on

    @property
    def source(self):
        """The key of its source."""
        return self.addresses[6:], self.vid

    @property
    def destination(self):
        """The key of its destination."""
        return self.addresses[:6], self.vid


def classify(setup, number, frame):
    """What a frame is to a port that receives it: Classified, or the reason to drop it. The reason
    is the first one that applies."""
    port = setup.ports[number]
    tagged = frame[12:14] == setup.tag.to_bytes(2, "big")
    if len(frame) < HEADER + (TAG if tagged else 0):
        return "truncated"
    if frame[:5] == RESERVED and frame[5] < 16:
        return "reserved_dst"
    if port.state == "blocking":
        return "port_blocked"
    if frame[6] & 1 or not any(frame[6:12]):
        return "bad_src"
    tci = int.from_bytes(frame[14:16], "big") if tagged else 0
    vid, kind = tci & 4095, "none" if not tagged else "vid"
    if vid == 4095:
        return "vlan_invalid"
    if vid == 0:  # no VLAN is named: 6.9.1
        vid, kind = port.pvid, "zero" if tagged else "none"
    if vid == 0 or (port.admit == "tagged" and kind != "vid") or (
            port.admit == "untagged" and kind == "vid"):
        return "not_admitted"
    if port.filter and vid not in port.members:
        return "vlan_filtered"
    return Classified(number, vid, tci & 0xF000, kind, frame[:12], frame[12 + TAG * tagged:])


def sent(setup, classified, number):
    """The bytes in which a port sends a frame, and what became of its tag."""
    if classified.vid in setup.ports[number].untagged:
        change = {"none": "kept_none", "vid": "popped", "zero": "popped_zero"}[classified.tag]
        return classified.addresses + classified.rest, change
    tag = setup.tag << 16 | classified.tci | classified.vid
    change = {"none": "pushed", "vid": "kept", "zero": "named"}[classified.tag]
    return classified.addresses + tag.to_bytes(4, "big") + classified.rest, change


CHANGES = ("kept_none", "popped", "popped_zero", "pushed", "kept", "named")


def refusal(setup, classified, number):
    """Why a port does not send a frame, or None. The first reason counts."""
    came, port = setup.ports[classified.port], setup.ports[number]
    if number == classified.port:
        return "same_port"
    if port.state != "forwarding":
        return "port_blocked"
    if port.group and port.group == came.group:
        return "split_horizon"
    if classified.vid not in port.members:
        return "no_member"
    return None


class Outcome(NamedTuple):
    """What became of a frame."""

    node: str  # that dropped it, or None
    reason: str  # to drop it, LOCAL, or None
    out: dict  # by port, the bytes that it sent
    changes: tuple = ()  # of CHANGES
    flooded: bool = False


def dropped(node, reason):
    """An outcome without frames."""
    return Outcome(node, reason, {})


def deliver(setup, classified, where):
    """What becomes of a frame, apart from limits, whose destination the table has at a port, at
    LOCAL or, None, not."""
    if setup.ports[classified.port].state == "learning":
        return dropped("l2_learn", "port_learning")
    if where == LOCAL:
        return Outcome(None, LOCAL, {})
    if where is not None:
        reason = refusal(setup, classified, where)
        if reason:
            return dropped("l2_output", reason)
        data, change = sent(setup, classified, where)
        return Outcome(None, None, {where: data}, (change,))
    out, changes = {}, []
    for number in setup.ports:
        if not refusal(setup, classified, number):
            out[number], change = sent(setup, classified, number)
            changes.append(change)
    if not out:
        return dropped("l2_flood", "nowhere")
    return Outcome(None, None, out, tuple(changes), True)


class Bridge:
    """A bridge that has learned each source before the next frame comes. It does not age: there is
    no time."""

    def __init__(self, setup):
        self.setup = setup
        self.learned = {}  # (MAC, VID): port
        self.moved = 0

    def where(self, key):
        """The port of a key, LOCAL or None."""
        return self.setup.statics.get(key, self.learned.get(key))

    def may_learn(self, classified):
        """Whether the source of a frame is one that its port learns."""
        return (self.setup.ports[classified.port].learn
                and classified.source not in self.setup.statics)

    def learn(self, classified):
        """Learns the source of a frame, unless a limit of entries forbids it."""
        if not self.may_learn(classified):
            return
        key, port = classified.source, classified.port
        old = self.learned.get(key)
        if old == port:
            return
        limit = self.setup.ports[port].entries
        if limit and sum(at == port for at in self.learned.values()) >= limit:
            return
        if old is None and len(self.learned) + len(self.setup.statics) >= self.setup.entries:
            return
        self.moved += old is not None
        self.learned[key] = port

    def flush(self, port=None, vid=None):
        """Forgets what was learned from a port, in a VLAN or both. Returns how much."""
        gone = [key for key, at in self.learned.items()
                if port in (None, at) and vid in (None, key[1])]
        for key in gone:
            del self.learned[key]
        return len(gone)

    def receive(self, number, frame):
        """What becomes of a frame, once its source has been learned."""
        classified = classify(self.setup, number, frame)
        if isinstance(classified, str):
            return dropped("l2_input", classified)
        self.learn(classified)
        return deliver(self.setup, classified, self.where(classified.destination))

    def dump(self):
        """All entries: (MAC, VID): (port, static)."""
        return {**{key: (port, False) for key, port in self.learned.items()},
                **{key: (port, True) for key, port in self.setup.statics.items()}}
