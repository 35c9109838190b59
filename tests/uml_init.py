#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Process 1 of a user-mode Linux whose root is the host's, read-only: loads the bridge, then runs
what linux_bridge.py names on the console, a script of the shell a line, and answers with a line
of JSON. An empty line ends it."""

import ctypes
import json
import os
import subprocess
import sys

FINIT_MODULE = 313  # of x86-64
POWER_OFF = 0x4321FEDC
MODULES = f"/usr/lib/uml/modules/{os.uname().release}"
LIBC = ctypes.CDLL(None, use_errno=True)


def check(result, what):
    """Raises what a function of the C library says."""
    if result != 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")


def load(module):
    """Loads a module, after those that it needs: there need not be a modprobe(8)."""
    with open(f"{MODULES}/modules.dep", encoding="ascii") as file:
        needs = dict(line.split(":") for line in file)
    for name in [*reversed(needs[module].split()), module]:
        with open(f"{MODULES}/{name}", "rb") as file:
            check(LIBC.syscall(FINIT_MODULE, file.fileno(), b"", 0), name)


def answer(**members):
    """Writes a line that nothing of the kernel's looks like."""
    print(f"\n@{json.dumps(members)}", flush=True)


def serve():
    """Runs commands."""
    for kind, folder in ((b"proc", b"/proc"), (b"sysfs", b"/sys")):
        check(LIBC.mount(kind, folder, kind, 0, None), folder.decode())
    load("kernel/net/bridge/bridge.ko")
    os.environ["PATH"] = "/usr/sbin:/usr/bin:/sbin:/bin"
    answer(code=0, text=os.uname().release)
    for line in iter(sys.stdin.readline, "\n"):
        done = subprocess.run(["/bin/sh", line.strip()], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False)
        answer(code=done.returncode, text=done.stdout)


try:
    serve()
except (OSError, ValueError) as error:
    answer(code=1, text=str(error))
LIBC.reboot(POWER_OFF)
