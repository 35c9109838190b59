# SPDX-License-Identifier: BSD-3-Clause
"""A disk that can be made to stall: a file system in user space, with files in one folder.

As a program, `stalling.py FOLDER STALL COMMAND...` mounts it in a mount namespace of its own, and
becomes COMMAND there. While the file STALL exists, the disk answers nothing; if STALL.written
exists when something is written, it becomes STALL. It ends with COMMAND."""

import ctypes
import os
import select
import signal
import stat
import struct
import sys
import time

ROOT = 1
LOOKUP, FORGET, GETATTR, SETATTR, OPEN, READ, WRITE = 1, 2, 3, 4, 14, 15, 16
RELEASE, FLUSH, INIT, CREATE, INTERRUPT, BATCH_FORGET = 18, 25, 26, 35, 36, 42
UNANSWERED = {FORGET, INTERRUPT, BATCH_FORGET}
SET_SIZE, SET_MODE = 1 << 3, 1 << 0
BUFFER = 1 << 17


class Disk:
    """What is on it, and answers to the kernel's requests: see <linux/fuse.h>."""

    def __init__(self):
        self.files = {}  # by node: [name, mode, content]

    def attr(self, node):
        _, mode, data = self.files.get(node, ("", stat.S_IFDIR | 0o755, b""))
        return struct.pack("=QQQQQQIIIIIIIIII", node, len(data), 0, 0, 0, 0, 0, 0, 0, mode, 1,
                           os.geteuid(), os.getegid(), 0, 4096, 0)

    def entry(self, node):
        return struct.pack("=QQQQII", node, 0, 0, 0, 0, 0) + self.attr(node)

    def find(self, name):
        return next((node for node, file in self.files.items() if file[0] == name), None)

    def on_init(self, _node, _body):
        return struct.pack("=IIIIHHIIHHI28x", 7, 31, 0, 0, 0, 0, BUFFER // 2, 1, 0, 0, 0)

    def on_lookup(self, _node, body):
        node = self.find(body.rstrip(b"\0"))
        return -2 if node is None else self.entry(node)

    def on_getattr(self, node, _body):
        return struct.pack("=QII", 0, 0, 0) + self.attr(node)

    def on_setattr(self, node, body):
        valid, _, _, size = struct.unpack_from("=IIQQ", body)
        file = self.files[node]
        if valid & SET_SIZE:
            file[2] = bytearray(file[2][:size].ljust(size, b"\0"))
        if valid & SET_MODE:
            file[1] = stat.S_IFREG | struct.unpack_from("=I", body, 68)[0] & 0o7777
        return self.on_getattr(node, body)

    def on_open(self, _node, _body):
        return struct.pack("=QII", 0, 0, 0)

    def on_create(self, _node, body):
        node = max(self.files, default=ROOT) + 1
        mode = struct.unpack_from("=II", body)[1]
        self.files[node] = [body[16:].rstrip(b"\0"), mode, bytearray()]
        return self.entry(node) + self.on_open(node, body)

    def on_read(self, node, body):
        _, offset, size = struct.unpack_from("=QQI", body)
        return bytes(self.files[node][2][offset:offset + size])

    def on_write(self, node, body):
        _, offset, size = struct.unpack_from("=QQI", body)
        data = self.files[node][2]
        data.extend(bytes(max(0, offset - len(data))))
        data[offset:offset + size] = body[40:40 + size]
        return struct.pack("=II", size, 0)

    def on_release(self, _node, _body):
        return b""

    on_flush = on_release

    def answer(self, request):
        """The answer to a request; None: there is none."""
        _, opcode, unique, node, *_ = struct.unpack_from("=IIQQIII", request)
        if opcode in UNANSWERED:
            return None
        known = {LOOKUP: self.on_lookup, GETATTR: self.on_getattr, SETATTR: self.on_setattr,
                 OPEN: self.on_open, READ: self.on_read, WRITE: self.on_write,
                 RELEASE: self.on_release, FLUSH: self.on_flush, INIT: self.on_init,
                 CREATE: self.on_create}
        done = known[opcode](node, request[40:]) if opcode in known else -38  # ENOSYS
        error, data = (done, b"") if isinstance(done, int) else (0, done)
        return struct.pack("=IiQ", 16 + len(data), error, unique) + data

    def serve(self, device, stall):
        """Answers until there is no more to answer. What is not read can be interrupted."""
        while True:
            if os.path.exists(stall):
                time.sleep(0.001)
                continue
            if not select.select([device], [], [], 0.001)[0]:
                continue
            request = os.read(device, BUFFER)
            written = struct.unpack_from("=II", request)[1] == WRITE
            if written and os.path.exists(stall + ".written"):
                os.rename(stall + ".written", stall)
            answer = self.answer(request)
            if answer is not None:
                os.write(device, answer)


def libc_call(name, *arguments):
    """Calls a function of libc; a failure is an exception."""
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments) < 0:
        raise OSError(ctypes.get_errno(), name)


def main(folder, stall, *command):
    """As the module says."""
    libc_call("unshare", 0x20000)  # CLONE_NEWNS
    libc_call("mount", b"none", b"/", None, 0x44000, None)  # MS_REC | MS_PRIVATE
    device = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    how = f"fd={device},rootmode=40000,user_id={os.geteuid()},group_id={os.getegid()}"
    libc_call("mount", b"stalling", folder.encode(), b"fuse.stalling", 0, how.encode())
    program = os.getpid()
    if os.fork() == 0:
        libc_call("prctl", 1, signal.SIGKILL)  # PR_SET_PDEATHSIG
        if os.getppid() == program:
            for fd in (0, 1, 2):
                os.close(fd)
            Disk().serve(device, stall)
        os._exit(0)
    os.close(device)
    os.execvp(command[0], command)


if __name__ == "__main__":
    main(*sys.argv[1:])
