# SPDX-License-Identifier: BSD-3-Clause
"""Open vSwitch in a folder of its own: its user-space datapath with dummy ports. No service, no kernel module."""

import contextlib
import json
import os
import re
import shutil
import socket
import struct
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

PROGRAMS = ("ovsdb-tool", "ovsdb-server", "ovs-vswitchd", "ovs-vsctl", "ovs-ofctl")
SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
PORTS, NO_FLOOD, LOCAL = (1, 2, 3, 4), 3, 100
PATH = os.environ.get("PATH", "") + os.pathsep + "/usr/sbin"
WAIT = 20  # seconds
QUEUE = 100  # frames that a dummy port queues; more are lost
# Why ovs-ofctl refuses lines that are right: their version of OpenFlow; some masks of IPv6 it cannot read.
REFUSED = re.compile("OFPBAC_MATCH_INCONSISTENT|OFPBMC_BAD_PREREQ|usable (flow format|protocol)|network prefix bits"
                     "|invalid IPv6 address")


def require():
    """Skips where it is not installed."""
    missing = [name for name in PROGRAMS if not shutil.which(name, path=PATH)]
    if missing or not os.path.exists(SCHEMA):
        pytest.skip(f"Open vSwitch is not installed ({', '.join(missing) or SCHEMA}); tools/setup ovs does it")


class Socket:
    """A daemon's control socket: JSON-RPC, as ovs-appctl speaks it."""

    def __init__(self, path):
        self.socket, self.rest = socket.socket(socket.AF_UNIX), ""
        self.socket.settimeout(WAIT)
        self.socket.connect(str(path))
        self.number = 0

    def ask(self, calls):
        """Answers of (method, arguments...), many under way at once."""
        answers, batch = [], 32
        for at in range(0, len(calls), batch):
            some, text = calls[at:at + batch], ""
            for method, *params in some:
                self.number += 1
                text += json.dumps({"id": self.number, "method": method, "params": params})
            self.socket.sendall(text.encode())
            for call in some:
                answer = self._read()
                assert answer["error"] is None, (call, answer)
                answers.append(answer["result"])
        return answers

    def _read(self):
        while True:
            try:
                answer, end = json.JSONDecoder().raw_decode(self.rest)
                self.rest = self.rest[end:].lstrip()
                return answer
            except json.JSONDecodeError:
                data = self.socket.recv(1 << 16)
                assert data, "ovs-vswitchd has ended"
                self.rest += data.decode()


class Switch:
    """A bridge with dummy ports eth1 to eth4, of which 3 is no-flood. Frames that leave are in pcap files."""

    def __init__(self, folder):
        self.folder, self.daemons, self.control = folder, [], None
        self.env = dict(os.environ, PATH=PATH, OVS_RUNDIR=str(folder), OVS_LOGDIR=str(folder),
                        OVS_DBDIR=str(folder), OVS_SYSCONFDIR=str(folder))
        self.read = dict.fromkeys(PORTS, 24)  # bytes of each pcap file

    def run(self, *command):
        done = subprocess.run(command, cwd=self.folder, env=self.env, capture_output=True, text=True,
                              timeout=WAIT, check=False)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
        return done.stdout

    def spawn(self, name, *options):
        with open(self.folder / f"{name}.log", "wb") as log:
            self.daemons.append(subprocess.Popen(
                [name, "--no-chdir", f"--unixctl={self.folder}/{name}.ctl", "-vsyslog:off", *options],
                cwd=self.folder, env=self.env, stdout=log, stderr=log))
        end = time.monotonic() + WAIT
        while not (self.folder / f"{name}.ctl").exists():
            if self.daemons[-1].poll() is not None or time.monotonic() > end:
                log = (self.folder / f"{name}.log").read_text().splitlines()
                pytest.skip(f"{name} cannot run here: {log[-1] if log else 'it does not answer'}")
            time.sleep(0.02)

    def start(self):
        db = f"unix:{self.folder}/db.sock"
        self.run("ovsdb-tool", "create", "conf.db", SCHEMA)
        self.spawn("ovsdb-server", "conf.db", f"--remote=p{db}")
        self.run("ovs-vsctl", f"--db={db}", "--no-wait", "init")
        self.spawn("ovs-vswitchd", db, "--enable-dummy=override", "--disable-system")
        ports = []
        for n in PORTS:
            ports += ["--", "add-port", "br0", f"eth{n}", "--", "set", "interface", f"eth{n}", "type=dummy",
                      f"ofport_request={n}", f"options:tx_pcap={self.folder}/tx{n}.pcap"]
        self.run("ovs-vsctl", f"--db={db}", f"--timeout={WAIT}", "set", "open", ".", "other_config:vlan-limit=2",
                 "--", "add-br", "br0", "--", "set", "bridge", "br0", "datapath_type=dummy", "fail_mode=secure",
                 "protocols=OpenFlow10,OpenFlow13,OpenFlow15", "other_config:disable-in-band=true", *ports)
        self.run("ovs-ofctl", "mod-port", "br0", f"eth{NO_FLOOD}", "no-flood")
        self.control = Socket(self.folder / "ovs-vswitchd.ctl")

    def stop(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
            daemon.wait(WAIT)

    def forget(self):
        """Empties the datapath's cache, and lets it hold whole headers only. With megaflows, what becomes of a
        frame depends on those before it: in Open vSwitch 3.1.0, the megaflow of a frame with one tag that rules
        pop also matches frames with two tags, whatever the second is."""
        self.control.ask([("upcall/disable-megaflows",)])

    def load(self, path):
        """Replaces all rules by those of a file, from which lines that ovs-ofctl refuses are taken out: it wants
        a version of OpenFlow that can say all of a line. Returns how many stay, and how many do not."""
        self.run("ovs-ofctl", "del-flows", "br0")
        self.forget()  # revalidators replace what the cache says, but may be too late for the next frame
        kept, lines = [], path.read_text().splitlines()
        for line in lines:
            # OpenFlow 1.0 has no masks of set_field, and 1.5 no mod_vlan: what ovs-ofctl makes of them is another.
            why, versions = "usable protocol", []
            if not re.search(r"set_field:[^,>]*/", line):
                versions.append("OpenFlow10")
            if "mod_vlan" not in line:
                versions.append("OpenFlow15")
            for version in versions:
                done = subprocess.run(["ovs-ofctl", "-O", version, "add-flow", "br0", line], cwd=self.folder,
                                      env=self.env, capture_output=True, text=True, timeout=WAIT, check=False)
                if done.returncode == 0:
                    kept.append(line)
                    break
                why += done.stderr
            else:
                assert REFUSED.search(why), (line, why)
        path.write_text("\n".join(kept) + "\n")
        return len(kept), len(lines) - len(kept)

    def trace(self, packets):
        """The datapath's actions for each (port, frame), as text."""
        answers = self.control.ask([("ofproto/trace", "br0", f"in_port={port}", frame.hex())
                                    for port, frame in packets])
        return [re.search(r"^Datapath actions: (.*)$", answer, re.M).group(1) for answer in answers]

    def explain(self, port, frame):
        """What it does to a frame, rule by rule."""
        return self.control.ask([("ofproto/trace", "br0", f"in_port={port}", frame.hex())])[0]

    def send(self, packets):
        """Sends each (port, frame); returns (port, frame) of all that left, in the order of each port.

        One thread of ovs-vswitchd takes a frame from a port's queue, counts it, sends it on, writes it to a pcap
        file, and answers: as soon as it says that all are counted, all that leave are in the files."""
        for port in PORTS:
            self._captured(port)
        received = self.received()
        for at in range(0, len(packets), QUEUE):
            some = packets[at:at + QUEUE]
            self.control.ask([("netdev-dummy/receive", f"eth{port}", frame.hex()) for port, frame in some])
            received, end = received + len(some), time.monotonic() + WAIT
            while self.received() < received:
                assert time.monotonic() < end, f"the ports received {self.received()} frames, not {received}"
                time.sleep(0.001)
        return [(port, frame) for port in PORTS for frame in self._captured(port)]

    def received(self):
        """How many frames the ports have taken from their queues since the start."""
        text = self.control.ask([("dpctl/show", "-s")])[0]
        counts = re.findall(r"port \d+: eth\d .*\n *RX packets:(\d+)", text)
        assert len(counts) == len(PORTS), text
        return sum(int(count) for count in counts)

    def _captured(self, port):
        with open(self.folder / f"tx{port}.pcap", "rb") as file:
            file.seek(self.read[port])
            data = file.read()
        at, frames = 0, []
        while at + 16 <= len(data):
            size = struct.unpack_from("=L", data, at + 8)[0]
            if at + 16 + size > len(data):
                break
            frames.append(data[at + 16:at + 16 + size])
            at += 16 + size
        self.read[port] += at
        return frames

    def dump(self):
        """Text of all rules with their counts, up to date."""
        self.control.ask([("revalidator/wait",)])
        return self.run("ovs-ofctl", "dump-flows", "br0")


@contextlib.contextmanager
def switch():
    """A switch that runs meanwhile. Its folder has a short path, as sockets need."""
    require()
    with tempfile.TemporaryDirectory(prefix="ovs-") as folder:
        made = Switch(Path(folder))
        try:
            made.start()
            yield made
        finally:
            made.stop()


def split(text):
    """Words of a list of actions or fields: commas in brackets part nothing."""
    words, depth, word = [], 0, ""
    for char in text:
        depth += (char == "(") - (char == ")")
        if char == "," and depth == 0:
            words, word = words + [word], ""
        else:
            word += char
    return [word for word in words + [word] if word]
