#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Asks a running program by its telemetry socket, and prints the answer.

FOLDER is what the program got as RUNTIME_DIRECTORY. The exit code is not 0 if the program refuses the
command, or does not answer.
"""

import argparse
import json
import pathlib
import signal
import socket
import sys

MOST = 16384  # bytes of an answer
WAIT = 10  # seconds


def main(folder, command):
    """Prints a text as it is, and anything else as JSON."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    path = next(pathlib.Path(folder).glob("**/dpdk_telemetry.v2"), None)
    if path is None:
        sys.exit(f"{folder}: no program has a telemetry socket there")
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as sock:
        sock.settimeout(WAIT)
        try:
            sock.connect(str(path))
            sock.recv(MOST)  # who it is
            sock.send(command.encode())
            (answer,) = json.loads(sock.recv(MOST)).values()
        except (OSError, ValueError) as error:
            sys.exit(f"{path}: {error}")
    if isinstance(answer, dict) and "error" in answer:
        sys.exit(f"{command}: {answer['error']}")
    print(answer.rstrip("\n") if isinstance(answer, str) else json.dumps(answer))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder")
    parser.add_argument("command")
    main(**vars(parser.parse_args()))
