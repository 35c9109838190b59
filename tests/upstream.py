# SPDX-License-Identifier: BSD-3-Clause
"""DPDK's own sources, never stored in the project: those in the folder that HALYARD_DPDK_SOURCE
names, as tools/matrix sets it, or else Debian's source package, fetched once a build folder. Where
they cannot be had, tests skip and say why."""

import functools
import os
import shutil
import subprocess
from pathlib import Path

import pytest

import l3fwd
import pcapfile

VERSION = "22.11"
FOLDER = l3fwd.BUILD / "dpdk-src"
SUITE = "bookworm"
# All that the tests need of it: 4 MB instead of 100.
PARTS = ["app/test", "examples/common", "examples/l3fwd", "lib/eal/include", "lib/node"]


def _failed(*command, cwd):
    """Runs a command; returns what it said when it failed, or None."""
    try:
        done = subprocess.run([str(word) for word in command], cwd=cwd, capture_output=True,
                              text=True, check=False, timeout=300)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return None if done.returncode == 0 else (done.stderr or done.stdout).strip()[-500:]


def _fetch(folder):
    """Downloads and unpacks. Returns why that is not possible, or None."""
    error = _failed("env", f"SUITE={SUITE}", l3fwd.ROOT / "tools" / "source", folder, "dpdk",
                    cwd=folder)
    if error:
        return error
    archives = list(folder.glob(f"dpdk_{VERSION}*.orig.tar.xz"))
    if len(archives) != 1:
        return f"apt-get source dpdk: there is no DPDK {VERSION} among {os.listdir(folder)}"
    members = [f"*/{part}" for part in PARTS]
    return _failed("tar", "-xf", archives[0], "--strip-components=1", "--wildcards", *members,
                   cwd=folder)


def version():
    """Of the DPDK that Halyard is built with: year and month."""
    told = subprocess.run(["pkg-config", "--modversion", "libdpdk"], capture_output=True, text=True,
                          check=True).stdout
    return ".".join(told.strip().split(".")[:2])


@functools.cache
def _fetched():
    """The folder with what Debian's source package has; skips the test without."""
    if version() != VERSION:
        pytest.skip(f"the sources that can be fetched are DPDK {VERSION}'s, not {version()}'s: "
                    "HALYARD_DPDK_SOURCE is not set")
    if not FOLDER.exists():
        if shutil.which("apt-get") is None:
            pytest.skip("DPDK's sources come with apt-get source, and there is no apt-get here")
        partial = FOLDER.with_name(f"dpdk-src.{os.getpid()}")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        error = _fetch(partial)
        if error is None:
            for archive in partial.glob("dpdk_*"):
                archive.unlink()
            partial.rename(FOLDER)
        else:
            shutil.rmtree(partial)
            pytest.skip(error)
    return FOLDER


def source(*parts):
    """The folder with DPDK's sources; skips the test if it lacks a part that is asked for."""
    named = os.environ.get("HALYARD_DPDK_SOURCE")
    folder = Path(named) if named else _fetched()
    if not folder.is_dir():
        pytest.fail(f"HALYARD_DPDK_SOURCE: there is no folder {folder}", pytrace=False)
    lacks = [part for part in parts if not (folder / part).exists()]
    if lacks:
        pytest.skip(f"{folder} has no {', '.join(lacks)}")
    return folder


def pcap_port(port, folder, frames):
    """EAL's argument for a net_pcap port that receives frames, and where what it sends goes."""
    received, sent = folder / f"in{port}.pcap", folder / f"out{port}.pcap"
    pcapfile.write(received, frames)
    return f"--vdev=net_pcap{port},rx_pcap={received},tx_pcap={sent}", sent
