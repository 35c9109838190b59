#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""A station whose frames have the tag of a VLAN, where the kernel has no VLAN devices: answers ARP and
ping by a raw socket, until SIGTERM.

Every frame that arrives must have the tag; one that has not is an error. On success, says how many
frames there were.
"""

import argparse
import ipaddress
import signal
import socket
import struct
import sys

ETH_P_ALL, SOL_PACKET, PACKET_AUXDATA = 3, 263, 8
VLAN_VALID = 1 << 4  # in the status of auxiliary data
AUX = struct.Struct("@IIIHHHH")  # status, length, captured, mac, net, TCI, tag type
TYPE_VLAN, TYPE_IP4, TYPE_ARP = 0x8100, 0x0800, 0x0806


def checksum(data):
    """The internet checksum of an even number of bytes."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return struct.pack("!H", total ^ 0xFFFF)


def receive(sock):
    """A frame that arrived, without its tag, and the VLAN that the tag named or None. The kernel takes
    a tag out of the frame and hands it over beside it."""
    frame, more, _, (_, _, kind, *_) = sock.recvmsg(65536, socket.CMSG_SPACE(AUX.size))
    vlan = None
    for level, which, data in more:
        if (level, which) == (SOL_PACKET, PACKET_AUXDATA):
            status, *_, tci, _ = AUX.unpack(data[:AUX.size])
            vlan = tci & 0xFFF if status & VLAN_VALID else None
    if frame[12:14] == struct.pack("!H", TYPE_VLAN):
        vlan, frame = struct.unpack("!H", frame[14:16])[0] & 0xFFF, frame[:12] + frame[16:]
    return (None, None) if kind == socket.PACKET_OUTGOING else (frame, vlan)


def answer(frame, mac, address):
    """What is behind the addresses of an answer to a frame; None: it asks nothing of us."""
    kind, packet = struct.unpack("!H", frame[12:14])[0], frame[14:]
    if kind == TYPE_ARP and packet[6:8] == b"\0\1" and packet[24:28] == address:
        return frame[12:14] + packet[:7] + b"\2" + mac + address + packet[8:18]
    if kind != TYPE_IP4 or packet[0] != 0x45 or packet[9] != 1 or packet[16:20] != address:
        return None
    echo = packet[20:struct.unpack("!H", packet[2:4])[0]]
    if echo[0] != 8:
        return None
    echo = b"\0\0\0\0" + echo[4:]
    echo = echo[:2] + checksum(echo + b"\0" * (len(echo) % 2)) + echo[4:]
    return frame[12:14] + packet[:12] + address + packet[12:16] + echo


def main(interface, address, vlan):
    """Answers until SIGTERM."""
    tag = struct.pack("!HH", TYPE_VLAN, vlan)
    seen = 0

    def end(*_):
        print(f"{seen} frames came, each with the tag of VLAN {vlan}")
        sys.exit(0 if seen > 0 else 1)

    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sock:
        sock.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
        try:
            sock.bind((interface, ETH_P_ALL))
        except OSError as error:
            sys.exit(f"tools/demo-tagged.py: {interface}: {error.strerror}")
        mac = sock.getsockname()[4]
        signal.signal(signal.SIGTERM, end)
        while True:
            frame, got = receive(sock)
            if frame is None:
                continue
            if got != vlan:
                sys.exit(f"a frame came with the tag of VLAN {got}: {frame[:40].hex(' ')}")
            seen += 1
            told = answer(frame, mac, address.packed)
            if told is not None:
                sock.send(frame[6:12] + mac + tag + told)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("interface")
    parser.add_argument("address", type=ipaddress.IPv4Address)
    parser.add_argument("vlan", type=int)
    args = parser.parse_args()
    if not 1 <= args.vlan <= 4094:
        parser.error("vlan is a number from 1 to 4094")
    try:
        main(**vars(args))
    except PermissionError as error:
        sys.exit(f"tools/demo-tagged.py: a raw socket: {error.strerror}")
