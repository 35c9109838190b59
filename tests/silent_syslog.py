# SPDX-License-Identifier: BSD-3-Clause
"""A daemon of syslog that has stopped reading: `silent_syslog.py FOLDER COMMAND...` becomes COMMAND in a
mount namespace of its own, where /dev, mounted on FOLDER first, has a log that nobody reads."""

import os
import socket
import sys

from stalling import libc_call

DEVICES = ["null", "zero", "full", "random", "urandom"]
BIND, REC = 4096, 16384


def main(folder, *command):
    """As the module says."""
    libc_call("unshare", 0x20000)  # CLONE_NEWNS
    libc_call("mount", b"none", b"/", None, 0x44000, None)  # MS_REC | MS_PRIVATE
    libc_call("mount", b"tmpfs", folder.encode(), b"tmpfs", 0, b"")
    for name in DEVICES:
        with open(f"{folder}/{name}", "w", encoding="ascii"):
            pass
        libc_call("mount", f"/dev/{name}".encode(), f"{folder}/{name}".encode(), None, BIND, None)
    os.mkdir(f"{folder}/shm")
    libc_call("mount", folder.encode(), b"/dev", None, BIND | REC, None)
    log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    log.bind("/dev/log")
    log.set_inheritable(True)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
