# SPDX-License-Identifier: BSD-3-Clause
"""The Linux bridge as a peer: set up as a bridge's file says and fed with frames, which leave it by
ports. Here() is that of the kernel that runs, in a network namespace; Uml() is one of a user-mode
Linux, which knows VLANs where this kernel does not."""

import contextlib
import ctypes
import json
import os
import shutil
import select
import socket
import struct
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import bridge_oracle
from bridge_frames import mac, station

WAIT = 20  # seconds for what takes milliseconds
BOOT = 60
MTU = 1600  # with two tags, of which Linux counts none
ROOM = 4096  # bytes of a frame at most
OWN = "02:ff:00:00:00:"  # addresses of the bridge and its ports
_CLONE_NEWNET = 0x40000000
_ETH_P_ALL = 3
_SOL_PACKET, _PACKET_AUXDATA = 263, 8
_TAGGED, _TYPED = 1 << 4, 1 << 6  # TP_STATUS_VLAN_VALID, TP_STATUS_VLAN_TPID_VALID
# Not its state 4, blocking: without a spanning tree protocol, it makes that forwarding by itself.
_STATES = {"learning": 2, "forwarding": 3, "blocking": 0}


class Absent(Exception):
    """There is no such peer on this machine."""


class Uml:
    """A user-mode Linux with ports that are sockets of this process. It needs no rights."""

    vlans = True
    device = "vec%u"

    def __init__(self, ports):
        if not shutil.which("linux.uml"):
            raise Absent("there is no user-mode Linux (Debian's user-mode-linux)")
        # Of this kind, as others drop frames that a reader does not take soon.
        pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET) for _ in range(ports)]
        self.sockets = [ours for ours, _ in pairs]
        theirs = [pair[1].fileno() for pair in pairs]
        for number in theirs:
            os.set_blocking(number, False)
        self.folder = tempfile.TemporaryDirectory()
        init = Path(__file__).with_name("uml_init.py")
        self.process = subprocess.Popen(
            ["linux.uml", "mem=128M", "root=/dev/root", "rootfstype=hostfs", "rootflags=/", "ro",
             f"init={init}", f"uml_dir={self.folder.name}", "con=null", "con0=fd:0,fd:1",
             "quiet",
             *(f"vec{i}:transport=fd,fd={number},mac={OWN}{i:02x},mtu={MTU}"
               for i, number in enumerate(theirs))],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            pass_fds=theirs, start_new_session=True)
        for _, pair in pairs:
            pair.close()
        self.said = b""
        try:
            self.release = self._answer(BOOT)
        except BaseException:
            self.end()
            raise

    def _answer(self, seconds):
        """Waits for a line of uml_init.py."""
        deadline = time.monotonic() + seconds
        out, text = self.process.stdout, b""
        while b"\n" not in text.partition(b"\n@{")[2]:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([out], [], [], left)[0]:
                raise AssertionError(f"user-mode Linux said nothing for {seconds} s:\n"
                                     f"{(self.said + text).decode(errors='replace')}")
            got = os.read(out.fileno(), 65536)
            text += got.replace(b"\r", b"")
            if not got:
                raise Absent(f"user-mode Linux ended:\n{text.decode(errors='replace')}")
        self.said = text
        found = json.loads(b"{" + text.partition(b"\n@{")[2].partition(b"\n")[0])
        assert found["code"] == 0, found["text"]
        return found["text"]

    def shell(self, text):
        """Runs commands in it. Returns what they print."""
        # It reads our files, and of a line of the console no more than 4096 bytes.
        with tempfile.NamedTemporaryFile("w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            self.process.stdin.write(f"{file.name}\n".encode())
            self.process.stdin.flush()
            return self._answer(WAIT)

    def receive(self, port):
        """A frame that a port sent, which is there."""
        return self.sockets[port].recv(ROOM)

    def end(self):
        """Ends it, and what it has started."""
        with contextlib.suppress(OSError):
            self.process.stdin.write(b"\n")
            self.process.stdin.flush()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, 9)
            self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.folder.cleanup()
        for sock in self.sockets:
            sock.close()


class Here:
    """The bridge of this kernel, without VLANs, in a namespace that nothing but this has: it is
    gone with the sockets."""

    vlans = False
    device = "port%u"

    def __init__(self, ports):
        self.sockets, self.error, self.namespace = [], None, None
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.cpus = os.sched_getaffinity(0)
        thread = threading.Thread(target=self._begin, args=(ports,))
        thread.start()
        thread.join()
        if self.error:
            self.end()
            raise self.error
        # Frames that are sent on one CPU stay in order.
        os.sched_setaffinity(0, {min(self.cpus)})

    def _begin(self, ports):
        """Runs in a thread of its own, which takes a namespace and ends."""
        try:
            if self.libc.unshare(_CLONE_NEWNET) != 0:
                raise Absent(f"no network namespace: {os.strerror(ctypes.get_errno())}")
            self.run("ip link add probe type bridge && ip link del probe")
            for i in range(ports):
                self.run(f"ip link add port{i} address {OWN}{i:02x} mtu {MTU} type veth "
                         f"peer name end{i} mtu {MTU} && ip link set end{i} arp off up")
                self._quiet(f"end{i}")
                self._quiet(f"port{i}")
                sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
                sock.setsockopt(_SOL_PACKET, _PACKET_AUXDATA, 1)
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
                sock.bind((f"end{i}", _ETH_P_ALL))
                self.sockets.append(sock)
            self.namespace = os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        except (Absent, OSError) as error:
            self.error = error

    @staticmethod
    def _quiet(device):
        path = Path(f"/proc/sys/net/ipv6/conf/{device}/disable_ipv6")
        if path.exists():
            path.write_text("1", encoding="ascii")

    @staticmethod
    def run(text):
        """Runs commands in the namespace of the thread."""
        done = subprocess.run(["/bin/sh", "-c", text], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        if done.returncode != 0:
            raise Absent(f"{text}: {done.stdout}")
        return done.stdout

    def shell(self, text):
        """Runs commands in the namespace of the bridge."""
        said = []

        def inside():
            assert self.libc.setns(self.namespace, _CLONE_NEWNET) == 0, ctypes.get_errno()
            try:
                said.append(self.run(text))
            except Absent as error:
                said.append(error)

        thread = threading.Thread(target=inside)
        thread.start()
        thread.join()
        assert said and isinstance(said[0], str), said
        return said[0]

    def receive(self, port):
        """A frame that a port sent, which is there; its tag comes beside it."""
        data, more, _, _ = self.sockets[port].recvmsg(ROOM, 256)
        for level, kind, value in more:
            if level == _SOL_PACKET and kind == _PACKET_AUXDATA:
                status, _, _, _, _, tci, kind = struct.unpack_from("=IIIHHHH", value)
                if status & _TAGGED:
                    kind = kind if status & _TYPED else 0x8100
                    data = data[:12] + struct.pack("!HH", kind, tci) + data[12:]
        return data

    def end(self):
        """Leaves nothing."""
        os.sched_setaffinity(0, self.cpus)
        for sock in self.sockets:
            sock.close()
        if self.namespace is not None:
            os.close(self.namespace)


def _port_lines(peer, number, port, statics):
    device = peer.device % number
    links = [f"link set dev {device} state {_STATES[port.state]} "
             f"learning {'on' if port.learn else 'off'} isolated {'on' if port.group else 'off'}"]
    if peer.vlans:
        for vid in sorted(port.members):
            flags = ("untagged " if vid in port.untagged else "") + (
                "pvid" if vid == port.pvid and port.admit != "tagged" else "")
            links.append(f"vlan add dev {device} vid {vid} {flags}")
    for (address, vid), to in statics.items():
        if to == number:
            vlan = f"vlan {vid}" if peer.vlans else ""
            links.append(f"fdb add {mac(address)} dev {device} master static sticky {vlan}")
    return links


def _ranges(lines):
    """Joins VLANs in a row: 4094 commands take a minute."""
    joined = []
    for line in lines:
        words = line.split()
        if words[:2] == ["vlan", "add"] and joined:
            before = joined[-1]
            if before[:4] == words[:4] and before[6:] == words[6:] and (
                    int(words[5]) == int(before[5].split("-")[-1]) + 1) and "pvid" not in words:
                before[5] = f"{before[5].split('-')[0]}-{words[5]}"
                continue
        joined.append(words)
    return [" ".join(words) for words in joined]


def supports(setup):
    """Asserts that Linux has what a set-up says."""
    for port in setup.ports.values():
        assert port.filter and port.admit in ("all", "tagged") and not port.entries, port
        assert port.group in (0, 1) and not port.storm, port
    for (address, vid), to in setup.statics.items():
        assert to in setup.ports and vid in setup.ports[to].members and not address[0] & 1


def set_up(peer, setup):
    """Makes the bridge anew."""
    supports(setup)
    kind = "802.1Q" if setup.tag == 0x8100 else "802.1ad"
    vlans = f"vlan_filtering 1 vlan_protocol {kind} vlan_default_pvid 0" if peer.vlans else ""
    links = [f"link add br0 address {OWN}ff type bridge stp_state 0 forward_delay 0 "
             f"no_linklocal_learn 1 mcast_snooping 0 {vlans}"]
    for number in setup.ports:
        device = peer.device % number
        links += [f"link set {device} master br0",
                  f"link set {device} multicast off arp off up"]
    links.append("link set br0 multicast off arp off up")
    lines = []
    for number, port in setup.ports.items():
        lines += _ranges(_port_lines(peer, number, port, setup.statics))
    # Linux has no address, and no filter that judges what is in frames.
    off = "".join(f"[ ! -e {path} ] || echo {value} > {path}\n" for path, value in (
        *((f"/proc/sys/net/ipv6/conf/{scope}/disable_ipv6", 1) for scope in ("default", "all")),
        *((f"/proc/sys/net/bridge/bridge-nf-call-{of}tables", 0) for of in ("ip", "ip6", "arp"))))
    # The states of ports are theirs once the link has been seen.
    script = (f"ip link del br0 2>/dev/null\n{off}"
              "ip -batch - <<'END' || exit 1\n" + "\n".join(links) + "\nEND\n"
              "n=0; until [ $(bridge link | grep -c 'master br0 state forwarding') = "
              f"{len(setup.ports)} ] || [ $n = 100 ]; do n=$((n + 1)); sleep 0.1; done\n"
              "bridge link\n"
              "bridge -batch - <<'END'\n" + "\n".join(lines) + "\nEND\n")
    said = peer.shell(script)
    assert said.count("state forwarding") >= len(setup.ports), said


def fences(setup, number):
    """Tags for broadcast frames that, together, leave by each port which anything from a port can
    leave by; and these ports."""
    found, reached = [], set()
    kind = setup.tag.to_bytes(2, "big")
    vids = sorted(setup.ports[number].members)
    for tags in [b"", *(kind + vid.to_bytes(2, "big") for vid in vids)]:
        frame = b"\xff" * 6 + station(0x700000 + number) + tags + b"\x08\x00" + bytes(46)
        classified = bridge_oracle.classify(setup, number, frame)
        if not isinstance(classified, str):
            out = set(bridge_oracle.deliver(setup, classified, None).out)
            if out - reached:
                found.append(tags)
                reached |= out
    return found


class Compared:
    """Feeds a peer and the model with the same frames, and compares what leaves both."""

    def __init__(self, peer, setup):
        set_up(peer, setup)
        self.peer, self.setup = peer, setup
        self.model = bridge_oracle.Bridge(setup)
        self.fences = {number: fences(setup, number) for number in setup.ports}
        self.frames = self.sent = self.dropped = self.fenced = 0
        self.outcomes = []

    def _expect(self, number, frame, expected):
        outcome = self.model.receive(number, frame)
        for port, data in outcome.out.items():
            expected.setdefault(port, []).append(data)
        return outcome

    def feed(self, number, frames):
        """Sends frames to a port, and a fence behind them: what left before is all that they were
        made."""
        expected = {}
        self.outcomes += [self._expect(number, frame, expected) for frame in frames]
        self.frames += len(frames)
        ends = []
        for tags in self.fences[number]:
            self.fenced += 1
            ends.append(b"\xff" * 6 + station(0x700000 + number) + tags + b"\x08\x00"
                        + self.fenced.to_bytes(8, "big") + bytes(38))
            self._expect(number, ends[-1], expected)
        for frame in [*frames, *ends]:
            assert self.peer.sockets[number].send(frame) == len(frame)
        for port, right in expected.items():
            for i, data in enumerate(right):
                got = self._take(port)
                assert got == data, self._differ(port, i, data, got, number, frames)
            self.sent += len(right)

    def _take(self, port):
        """A frame that a port sent; not one of Linux's own."""
        while select.select([self.peer.sockets[port]], [], [], WAIT)[0]:
            frame = self.peer.receive(port)
            if not frame[6:12].startswith(bytes.fromhex(OWN.replace(":", ""))):
                return frame
        return None

    def _differ(self, port, i, right, got, number, frames):
        """What to say of a frame that is not the right one."""
        def show(frame):
            return frame and frame[:80].hex(" ")

        return (f"from port {number} to port {port}, frame {i}: the model sends\n{show(right)}\n"
                f"Linux\n{show(got)}\n{self.setup.ports}\n" + "\n".join(
                    f"{show(frame)} {outcome.node} {outcome.reason} {sorted(outcome.out)}"
                    for frame, outcome in zip(frames, self.outcomes[-len(frames):])))

    def finish(self):
        """Asserts that nothing more has left."""
        time.sleep(0.2)
        own = bytes.fromhex(OWN.replace(":", ""))
        for port, sock in enumerate(self.peer.sockets):
            while select.select([sock], [], [], 0)[0]:
                frame = self.peer.receive(port)
                assert frame[6:12].startswith(own), f"port {port} sent more: {frame.hex(' ')[:240]}"
