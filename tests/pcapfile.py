# SPDX-License-Identifier: BSD-3-Clause
"""Reads and writes classic pcap files. Plain struct: scapy takes minutes for what this reads in
a second."""

import struct

_HEADER = "IHHiIII"
_RECORD = "IIII"
_HEADER_SIZE = struct.calcsize("=" + _HEADER)
_ETHERNET = 1
_SNAPLEN = 262144  # what tcpdump writes, and libpcap's own maximum

# Micro- and nanosecond files have magics of their own; which byte order they were written in
# shows by reading them.
_MAGICS = (0xA1B2C3D4, 0xA1B23C4D)


class PcapError(Exception):
    """Not a pcap file of Ethernet frames."""


def read(path):
    """The frames of a file, as libpcap hands them to a reader: cut to the file's snaplen, and
    without a last record that is not whole."""
    return [frame for _, frame in read_timed(path)]


def read_timed(path):
    """The same, each frame behind its time: seconds, and what there is of parts of one."""
    with open(path, "rb") as file:
        data = file.read()
    if len(data) < _HEADER_SIZE:
        raise PcapError(f"{path}: {len(data)} bytes are no pcap header")
    for order in "<>":
        magic, _, _, _, _, snaplen, link = struct.unpack_from(order + _HEADER, data)
        if magic in _MAGICS:
            break
    else:
        raise PcapError(f"{path}: magic {data[:4].hex()} is none of pcap's")
    if link != _ETHERNET:
        raise PcapError(f"{path}: link type {link} is not Ethernet")

    record = struct.Struct(order + _RECORD)
    frames = []
    at = _HEADER_SIZE
    while at + record.size <= len(data):
        seconds, parts, captured, _ = record.unpack_from(data, at)
        at += record.size
        if at + captured > len(data):
            break
        frames.append(((seconds, parts), data[at : at + min(captured, snaplen or _SNAPLEN)]))
        at += captured
    return frames


def write(path, frames, order="<", nanoseconds=False, snaplen=_SNAPLEN):
    """Writes frames one microsecond apart. Same frames, same bytes: there is no clock in it."""
    record = struct.Struct(order + _RECORD)
    step = 1000 if nanoseconds else 1
    with open(path, "wb") as file:
        file.write(
            struct.pack(order + _HEADER, _MAGICS[nanoseconds], 2, 4, 0, 0, snaplen, _ETHERNET)
        )
        for i, frame in enumerate(frames):
            seconds, micro = divmod(i, 1_000_000)
            file.write(record.pack(seconds, micro * step, len(frame), len(frame)))
            file.write(frame)
    return path
