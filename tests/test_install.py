# SPDX-License-Identifier: BSD-3-Clause
"""The installed library: a program outside the tree compiles, links and runs against it, with the
shared library and with the static one, knowing nothing but pkg-config's name `halyard`."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import l3fwd

SOURCE = Path(__file__).parent / "outside" / "main.c"
EXAMPLE = Path(__file__).parent / "outside" / "example.c"
EAL = ["--no-huge", "-m", "64", "--no-pci", "--no-shconf", "--no-telemetry", "-l",
       str(min(os.sched_getaffinity(0)))]

pytestmark = pytest.mark.xdist_group("install")


def run(*command, **env):
    """Runs a command; returns what it printed. An exit code other than 0 fails the test."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False, timeout=l3fwd.TIMEOUT, env={**os.environ, **env})
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """The folder of halyard.pc in a fresh installation."""
    if l3fwd.UNDER:
        pytest.skip("this machine's compiler builds nothing for programs of another CPU")
    if not (l3fwd.BUILD / "build.ninja").exists():
        pytest.fail(f"{l3fwd.BUILD} is no build folder: build first, or set HALYARD_BUILD",
                    pytrace=False)
    destination = tmp_path_factory.mktemp("installed")
    run("meson", "install", "-C", l3fwd.BUILD, "--no-rebuild", "--destdir", destination)
    (pc,) = destination.rglob("halyard.pc")
    # Where the files are now. PKG_CONFIG_SYSROOT_DIR would say that of DPDK's files too.
    text, prefixes = re.subn(r"(?m)^prefix=(?=/)", f"prefix={destination}", pc.read_text())
    assert prefixes == 1, text
    pc.write_text(text)
    yield pc.parent
    shutil.rmtree(destination)


def pkg_config(installed, *options):
    """The words that pkg-config gives for halyard."""
    search = os.pathsep.join(filter(None, [str(installed), os.environ.get("PKG_CONFIG_PATH")]))
    return run("pkg-config", *options, "halyard", PKG_CONFIG_PATH=search).split()


def sanitizer():
    """What the library was built with, the program must be built with."""
    found = json.loads(run("meson", "introspect", "--buildoptions", l3fwd.BUILD))
    value = next(option["value"] for option in found if option["name"] == "b_sanitize")
    return [] if value == "none" else [f"-fsanitize={value}"]


def build(installed, program, libraries):
    """Compiles main.c. Warnings in our headers are errors for whoever builds with -Werror."""
    run(os.environ.get("CC", "cc"), "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror",
        *sanitizer(), *pkg_config(installed, "--cflags"), SOURCE, "-o", program, *libraries)


def assert_runs(program, **env):
    """Runs the program, which checks itself, and looks at what it printed."""
    printed = run(program, *EAL, RUNTIME_DIRECTORY=str(program.parent), **env)
    assert "outside: ok" in printed, printed
    assert "released: 1000 (expected 1000)" in printed, printed


def test_headers_are_installed(installed):
    includes = [Path(word[2:]) for word in pkg_config(installed, "--cflags-only-I")]
    (folder,) = [path for path in includes if path.name == "halyard"]
    there = {path.name for path in folder.glob("*.h")}
    assert {"hy_graph.h", "hy_graph_worker.h", "hy_capability.h", "hy_hal.h", "hy_node.h"} <= there


@pytest.mark.parametrize("compiler", [
    (os.environ.get("CC", "cc"), "-xc", "-std=gnu11", "-Wextra"),
    (os.environ.get("CXX", "c++"), "-xc++", "-std=gnu++17"),
], ids=["c", "cxx"])
def test_each_header_compiles_by_itself(installed, tmp_path, compiler):
    flags = pkg_config(installed, "--cflags")
    (folder,) = [Path(word[2:]) for word in flags if word.endswith("include/halyard")]
    names = sorted(path.name for path in folder.glob("*.h"))
    assert len(names) >= 20
    for name in names:
        source = tmp_path / f"{name}.c"
        source.write_text(f"#include <{name}>\n")
        run(*compiler, "-fsyntax-only", "-Wall", "-Werror", *flags, source)


def test_example_in_hy_graph_worker_runs(installed, tmp_path):
    (folder,) = [Path(word[2:]) for word in pkg_config(installed, "--cflags-only-I")
                 if word.endswith("halyard")]
    header = (folder / "hy_graph_worker.h").read_text()
    (example,) = re.findall(r"(?ms)^ \* @code\n(.*?)^ \* @endcode", header)
    lines = [line.removeprefix(" *").removeprefix(" ") for line in example.splitlines()]
    assert 10 < len([line for line in lines if line]) <= 16
    node, program = tmp_path / "node.c", tmp_path / "example"
    node.write_text("\n".join(["#include <hy_graph_worker.h>", *lines, ""]))
    run(os.environ.get("CC", "cc"), "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror",
        *sanitizer(), *pkg_config(installed, "--cflags"), node, EXAMPLE, "-o", program,
        *pkg_config(installed, "--libs"))
    libdir = pkg_config(installed, "--variable=libdir")[0]
    printed = run(program, *EAL, RUNTIME_DIRECTORY=str(tmp_path), LD_LIBRARY_PATH=libdir)
    assert "count: 100 objects, seen 100; sink: 100\n" in printed


def test_hy_hal_is_installed_and_runs(installed):
    prefix = pkg_config(installed, "--variable=prefix")[0]
    libdir = pkg_config(installed, "--variable=libdir")[0]
    printed = run(f"{prefix}/bin/hy-hal", "inventory", LD_LIBRARY_PATH=libdir)
    assert printed.startswith("process\n    simd_bits "), printed


def test_program_outside_the_tree_runs_with_the_shared_library(installed, tmp_path):
    program = tmp_path / "outside"
    build(installed, program, pkg_config(installed, "--libs"))
    libdir = pkg_config(installed, "--variable=libdir")[0]
    assert f"{libdir}/libhalyard.so" in run("ldd", program, LD_LIBRARY_PATH=libdir)
    assert_runs(program, LD_LIBRARY_PATH=libdir)


def test_program_outside_the_tree_runs_with_the_static_library(installed, tmp_path):
    program = tmp_path / "outside"
    # By its file name, since the linker prefers the shared library beside it. DPDK stays shared:
    # what its static archives need is more than Debian's libdpdk-dev brings.
    words = pkg_config(installed, "--libs")
    assert "-lhalyard" in words
    build(installed, program, ["-l:libhalyard.a" if w == "-lhalyard" else w for w in words])
    assert "libhalyard" not in run("ldd", program)
    assert_runs(program)


def test_library_exports_what_public_headers_declare_and_nothing_else(installed):
    libdir = pkg_config(installed, "--variable=libdir")[0]
    listing = run("nm", "-D", "--defined-only", f"{libdir}/libhalyard.so")
    exported = {line.split()[-1] for line in listing.splitlines()}
    (folder,) = [Path(word[2:]) for word in pkg_config(installed, "--cflags-only-I")
                 if word.endswith("halyard")]
    declared = set(re.findall(r"\bhy_\w+", "".join(p.read_text() for p in folder.rglob("*.h"))))
    ours = {name for name in exported if not name.startswith("__")}  # sanitizers add theirs
    assert len(ours) >= 40
    assert ours <= declared, ours - declared
