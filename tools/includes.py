#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks the rooms of the tree.

A room is a folder of ROOMS. Headers named hy_*.h at its top are public; headers in internal/ are for
the rooms above it in this tree; all others are private to the room. A header of another folder is
included by its path from the root. Findings go to standard output, one per line; the exit status is
non-zero if there are any.
"""

import argparse
import collections
import os
import re
import sys

# Room -> the rooms below it that it may use.
ROOMS = {
    "lib/file": (),
    "lib/graph": ("lib/file",),
    "lib/dispatch": ("lib/file", "lib/graph"),
    "lib/policy": ("lib/file", "lib/graph"),
    "lib/flows": ("lib/file", "lib/graph"),
    "lib/vswitch": ("lib/file", "lib/graph", "lib/flows"),
    "lib/rte_graph_compat": ("lib/file", "lib/graph"),
    "hal": ("lib/file", "lib/graph", "lib/dispatch", "lib/policy"),
    "drivers/nodes": ("lib/file", "lib/graph", "lib/dispatch", "lib/policy", "lib/flows", "hal"),
    "lib/runtime": ("lib/file", "lib/graph", "lib/dispatch", "lib/policy", "lib/flows", "hal",
                    "drivers/nodes"),
    "lib/routes": ("lib/file", "lib/graph", "lib/dispatch", "lib/policy", "lib/flows", "hal",
                   "drivers/nodes", "lib/runtime"),
    "lib/acl": ("lib/file", "lib/graph", "lib/dispatch", "lib/policy", "lib/flows", "hal",
                "drivers/nodes", "lib/runtime"),
    "lib/bridge": ("lib/file", "lib/graph", "lib/dispatch", "lib/policy", "lib/flows", "hal",
                   "drivers/nodes", "lib/runtime"),
    "lib/datapath": ("lib/file", "lib/graph", "lib/dispatch", "lib/policy", "lib/flows",
                     "lib/vswitch", "hal", "drivers/nodes", "lib/runtime"),
}
PACKETS = r"rte_(ethdev|ether|flow|mbuf|mempool)\.h"
# What a room does not know of DPDK. Feature arcs of DPDK's API have mbufs in them.
UNKNOWN = {"lib/file": r"rte_.*", "lib/graph": PACKETS, "lib/dispatch": PACKETS}
FOLDER_MAX, FILE_MAX, NODE_MAX = 30, 600, 250
INCLUDE = re.compile(r'^\s*#\s*include\s+(<|")([^>"]+)[>"]')


def room_of(path):
    return next((room for room in ROOMS if path.startswith(room + "/")), None)


def public_headers(files):
    return {os.path.basename(path): room_of(path) for path in files
            if room_of(path) and os.path.basename(path).startswith("hy_")}


def check_include(path, quoted, name, public):
    """What is wrong with one include of a file, or None."""
    room, folder = room_of(path), os.path.dirname(path)
    if not quoted:
        if re.fullmatch(UNKNOWN.get(room, "(?!)"), name):
            return f"{room} does not use {name}"
        other = public.get(name)
        if room and other and other not in (room, *ROOMS[room]):
            return f"{room} lies below {other}"
        return None
    if os.path.exists(os.path.join(folder, name)):
        return None if "/" not in name else "a header of another folder is named from the root"
    if not os.path.exists(name):
        return None  # a header from outside
    other = room_of(name)
    if room is None or other is None or other == room:
        return None
    if other not in ROOMS[room]:
        return f"{room} lies below {other}"
    if not name.startswith(f"{other}/internal/"):
        return f"{name} belongs to {other}"
    return None


def check_file(path, public):
    with open(path, encoding="utf-8") as source:
        lines = source.read().splitlines()
    for number, line in enumerate(lines, 1):
        found = INCLUDE.match(line)
        wrong = found and check_include(path, found.group(1) == '"', found.group(2), public)
        if wrong:
            yield f"{path}:{number}: {wrong}"
    most = NODE_MAX if path.startswith("drivers/nodes/") and any("HY_NODE" in x for x in lines) \
        else FILE_MAX
    if len(lines) > most:
        yield f"{path}: {len(lines)} lines; at most {most}"


def check_folders(files):
    names, folders = collections.defaultdict(list), collections.Counter()
    for path in files:
        if room_of(path):
            names[os.path.basename(path)].append(path)
            folders[os.path.dirname(path)] += 1
    for paths in names.values():
        if len(paths) > 1:
            yield f"{', '.join(paths)}: one name in one library"
    for folder, count in folders.items():
        if count > FOLDER_MAX:
            yield f"{folder}: {count} files; at most {FOLDER_MAX}"


def main(files):
    public = public_headers(files)
    if not set(ROOMS) <= {room_of(path) for path in files}:
        sys.exit("tools/includes.py: not all rooms are there")
    found = [finding for path in files for finding in check_file(path, public)]
    found += check_folders(files)
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("files", nargs="+")
    sys.exit(main(parser.parse_args().files))
