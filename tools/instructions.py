#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Counts the instructions per packet of pkt_cls, ip4_lookup and ip4_rewrite on Arm, under qemu.

BUILD is the folder of `make build-arm64`. hy-bench runs a work of its benchmark l3fwd, by default
dst256_8_variants, which has each variant in turn. A debugger steps through a call of each variant's
process function, from its first instruction to its return. Instructions are not time: a count says
how much a CPU has to do, not how fast it does it.
"""

import argparse
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

NODES = ("pkt_cls", "ip4_lookup", "ip4_rewrite")  # how their files' names begin
LOADED_AT = 0x5500000000  # by qemu: a position-independent program
PACKETS = 32  # at least, in a call that is counted
ARG3, LINK, PC = 3, 30, 32  # registers, by GDB's numbers


class Debugger:
    """A stopped program, by GDB's remote protocol."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        for _ in range(600):  # until qemu listens
            with contextlib.suppress(OSError):
                self.socket.connect(path)
                break
            time.sleep(0.1)
        self.replies = self.socket.makefile("rb")
        self.ask("qXfer:features:read:target.xml:0,fff")  # from now on it takes "p"

    def ask(self, command):
        """The reply to a command; "" at the program's end: read() then returns b"", which is in
        any bytes."""
        self.socket.sendall(b"+$%s#%02x" % (command.encode(), sum(command.encode()) % 256))
        while self.replies.read(1) not in b"$":
            pass
        reply = b""
        while (byte := self.replies.read(1)) not in b"#":
            reply += byte
        self.replies.read(2)
        return reply.decode()

    def register(self, number):
        return int.from_bytes(bytes.fromhex(self.ask(f"p{number:x}")), "little")

    def count_to_return(self):
        """Runs until the function that begins here returns. Returns its instructions."""
        back, n = self.register(LINK), 0
        while self.register(PC) != back:
            self.ask("s")
            n += 1
        return n


def process_functions(program):
    """Their names, by address."""
    found, file = {}, ""
    table = subprocess.run(["readelf", "-sW", program], capture_output=True, text=True, check=True)
    for line in table.stdout.splitlines():
        _, address, _, kind, *_, name = [*line.split(), *[""] * 8][:8]
        if kind == "FILE":
            file = name
        elif kind == "FUNC" and file.startswith(NODES) and name.endswith("process"):
            found[LOADED_AT + int(address, 16)] = f"{file} {name}"
    return found


def count(debugger, functions):
    """Prints the instructions per packet of each function in its second call: the first one binds
    symbols."""
    called = set()
    for address in functions:
        debugger.ask(f"Z0,{address:x},4")
    while debugger.ask("c").startswith("T05"):
        address, packets = debugger.register(PC), debugger.register(ARG3) & 0xffff
        if packets < PACKETS or address not in called:
            called |= {address} if packets >= PACKETS else set()
            debugger.ask("s")
            continue
        debugger.ask(f"z0,{address:x},4")
        per_packet = debugger.count_to_return() / packets
        print(f"{functions[address]:44}{per_packet:6.1f} instructions per packet, of {packets}",
              flush=True)


def main(build, work):
    program = f"{build}/app/bench/hy-bench"
    if not os.access(program, os.X_OK):
        sys.exit(f"tools/instructions.py: {build}: it has no app/bench/hy-bench")
    if shutil.which("qemu-aarch64-static") is None:
        sys.exit("tools/instructions.py: there is no qemu-aarch64-static: install qemu-user-static")
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as output:
        with subprocess.Popen(["qemu-aarch64-static", "-g", f"{folder}/gdb", "-cpu", "max", "-L",
                               f"{build}/sysroot", program, "--no-huge", "-m", "256", "--no-pci",
                               "--no-shconf", "--", "l3fwd", "--quick", f"--work={work}"],
                              stdout=output, stderr=output) as bench:
            try:
                count(Debugger(f"{folder}/gdb"), process_functions(program))
            except BaseException:
                bench.kill()
                raise
        if bench.returncode != 0:
            output.seek(0)
            sys.exit(output.read().decode())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("build")
    parser.add_argument("work", nargs="?", default="dst256_8_variants")
    main(**vars(parser.parse_args()))
