# SPDX-License-Identifier: BSD-3-Clause
"""What l3fwd-graph must do with a frame when access lists are bound to its ports: oracle.py's
verdict between those of acl_oracle.py. The lists' own counts come with it."""

from collections import Counter
from typing import NamedTuple

import acl_oracle as acl
import oracle

DROPS = ("acl_denied", "acl_truncated", "no_port", "denied", "no_list")  # of the lists' own nodes


class Setup(NamedTuple):
    """Lists, where they are bound, and what happens to classes."""

    lists: dict  # name: acl_oracle.List
    bound: dict  # "in:0": name
    drop_classes: tuple = ()
    steer: dict = {}  # class: oracle.Route

    def options(self, rig, texts):
        """l3fwd-graph's options for it, with the text of each list."""
        made = [f"--acl-list={name}={rig.write(name, text)}" for name, text in texts.items()]
        made += [f"--acl={place}={name}" for place, name in self.bound.items()]
        made += [f"--drop-class={number}" for number in self.drop_classes]
        return made + [f"--steer={number}={way.port},{way.mac.hex(':')}"
                       for number, way in self.steer.items()]


class Counts:
    """What a list did: as l3fwd-graph's statistics have it."""

    def __init__(self, rules):
        self.sums = Counter()
        self.rules = {rule.id: [rule.action, 0, 0] for rule in rules}

    def note(self, frame, packet, verdict, rule):
        """Counts a packet."""
        self.sums[verdict] += 1
        self.sums["truncated"] += packet.truncated
        self.sums["unknown"] += packet.fields.get("fragment") == acl.UNKNOWN
        if rule:
            self.rules[rule.id][1] += 1
            self.rules[rule.id][2] += len(frame)

    def json(self):
        """The same in the form of stats["acl"], without times and places."""
        names = ("permitted", "denied", "redirected", "unmatched", "truncated", "hardware",
                 "unknown")
        return {**{name: self.sums[name] for name in names}, "rules": self.rules}


def of_stats(stats):
    """stats["acl"] in the form of Counts.json()."""
    return {name: {**{k: v for k, v in counts.items() if k not in ("bound", "rules")},
                   "rules": {r["rule"]: [r["action"], r["packets"], r["bytes"]]
                             for r in counts["rules"]}} for name, counts in stats.items()}


class Router:
    """A run of l3fwd-graph: out, drops and counts grow with each frame."""

    def __init__(self, setup, routes, macs, max_pkt_len=1518):
        self.setup, self.macs, self.max_pkt_len = setup, macs, max_pkt_len
        self.table = oracle.Table(routes)
        self.ways = {number: oracle.Table([way]) for number, way in setup.steer.items()}
        self.out = {port: [] for port in macs}
        self.drops = Counter()
        self.counts = {name: Counts(of.rules) for name, of in setup.lists.items()}
        self.outcomes = Counter()

    def receive(self, port, frame):
        """A frame that arrives on a port."""
        what, argument = self.judge(f"in:{port}", frame)
        if what == "drop":
            self.drops[argument] += 1
        elif what == "port":
            self.send(argument, frame)
        else:
            self.route(frame, argument)

    def route(self, frame, number):
        """A frame that the list of its port let pass, with a class."""
        ip6 = frame[12:14] == b"\x86\xdd"  # steered only in IPv4
        table = self.table if ip6 else self.ways.get(number, self.table)
        result = oracle.verdict(frame, table, self.macs, self.max_pkt_len)
        if isinstance(result, oracle.Forwarded):
            self.send(result.port, result.frame)
        else:
            self.drops[result] += 1

    def send(self, port, frame):
        """A frame that is to leave by a port: one that its list redirects leaves unseen."""
        what, argument = self.judge(f"out:{port}", frame)
        if what == "drop":
            self.drops[argument] += 1
        else:
            self.out[argument if what == "port" else port].append(frame)

    def judge(self, place, frame):
        """What the list of a place does: ("drop", reason), ("port", number), ("pass", class)."""
        name = self.setup.bound.get(place)
        if name is None:
            return "pass", 0
        rules, packet = self.setup.lists[name], acl.parse(frame)
        (action, argument), rule = rules.verdict(packet)
        cut = packet.truncated and rules.truncated == "deny"
        done, counted = self.act(action, argument, cut)
        self.counts[name].note(frame, packet, counted, rule)
        self.counts[name].sums["unmatched"] += rule is None and not cut
        self.outcomes[place.split(":")[0], rule.action if rule else "none", counted] += 1
        return done

    def act(self, action, argument, cut):
        """What is done with a packet, and as what the list counts it."""
        if cut:
            return ("drop", "acl_truncated"), "denied"
        if action == "deny":
            return ("drop", "acl_denied"), "denied"
        if action == "port":
            missing = argument not in self.macs
            return ("drop", "no_port") if missing else ("port", argument), "redirected"
        number = argument if action == "class" else 0
        if number in self.setup.drop_classes:
            return ("drop", "denied"), "denied"
        return ("pass", number), "permitted"
