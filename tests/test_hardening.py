# SPDX-License-Identifier: BSD-3-Clause
"""What the linker and the compiler left in programs, the library and test plugins to make faults
harder to exploit; and that -Dhardening=false leaves it out."""

import json
import os
import re
import subprocess

import pytest

import l3fwd

PROGRAMS = ("examples/l3fwd-graph/l3fwd-graph", "app/hy-graph/hy-graph", "app/hy-hal/hy-hal",
            "app/hy-policy/hy-policy", "examples/vswitch-graph/vswitch-graph")
LIBRARY = "libhalyard.so"
PLUGIN = "app/test/hy-test-plugin.so"


def build_options():
    listing = l3fwd.BUILD / "meson-info/intro-buildoptions.json"
    return {option["name"]: option["value"] for option in json.loads(listing.read_text())}


def hardened():
    """Whether meson.build hardens this build."""
    options = build_options()
    return options["hardening"] and options["b_sanitize"] == "none" and not options["fuzz"]


needs_hardening = pytest.mark.skipif(
    not hardened(), reason="this build has a sanitizer, or -Dhardening=false")


def readelf(path, *options):
    done = subprocess.run(["readelf", "--wide", *options, path], capture_output=True, text=True,
                          timeout=60, check=False, env={**os.environ, "LC_ALL": "C"})
    assert done.returncode == 0, done.stderr
    return done.stdout


def segments(path):
    """Type and flags of each program header."""
    found = re.findall(r"^  ([A-Z_]+) +(?:0x[0-9a-f]+ +){5}([RWE ]{3}) ",
                       readelf(path, "--program-headers"), re.M)
    assert len(found) > 5
    return found


def undefined(path):
    """The functions that a file takes from elsewhere, without their versions."""
    found = re.findall(r"\bUND ([A-Za-z_0-9]+)", readelf(path, "--dyn-syms"))
    assert len(found) > 5
    return set(found)


@needs_hardening
@pytest.mark.parametrize("name", [*PROGRAMS, LIBRARY, PLUGIN])
def test_nothing_is_writable_that_need_not_be(name):
    """Full RELRO: the linker's tables are read-only once all symbols are bound, at the start; no
    segment can be both written and executed, the stack neither."""
    path = l3fwd.BUILD / name
    parts = segments(path)
    assert "GNU_RELRO" in dict(parts)
    assert dict(parts)["GNU_STACK"].strip() == "RW"
    assert [flags for kind, flags in parts if "W" in flags and "E" in flags] == []
    dynamic = readelf(path, "--dynamic")
    assert re.search(r"\(FLAGS\) +BIND_NOW|\(BIND_NOW\)", dynamic), dynamic
    assert re.search(r"\(FLAGS_1\) +Flags: .*NOW", dynamic), dynamic
    assert "TEXTREL" not in dynamic


@needs_hardening
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_are_position_independent(name):
    assert re.search(r"Type: +DYN ", readelf(l3fwd.BUILD / name, "--file-header"))
    assert re.search(r"\(FLAGS_1\) +Flags: .*PIE", readelf(l3fwd.BUILD / name, "--dynamic"))


@needs_hardening
@pytest.mark.parametrize("name", [*PROGRAMS, LIBRARY])
def test_stacks_are_protected_and_calls_of_libc_checked(name):
    taken = undefined(l3fwd.BUILD / name)
    assert "__stack_chk_fail" in taken
    checked = {symbol for symbol in taken if re.fullmatch(r"__\w+_chk", symbol)}
    if build_options()["optimization"] in ("plain", "0", "g"):
        assert checked == set()
    else:
        assert "__snprintf_chk" in checked or "__fprintf_chk" in checked


@needs_hardening
@pytest.mark.parametrize("name", [PROGRAMS[0], LIBRARY])
def test_our_code_is_marked_for_control_flow_protection(name):
    """By its functions: the linker keeps the file's mark only if all parts of it have it."""
    code = subprocess.run(["objdump", "--disassemble", "--no-show-raw-insn", l3fwd.BUILD / name],
                          capture_output=True, text=True, timeout=120, check=False)
    if code.returncode != 0:
        pytest.skip(f"objdump does not know this machine: {code.stderr}")
    marks = {"x86-64": r"\bendbr64\b", "aarch64": r"\b(?:bti|paciasp)\b"}
    kind = next((k for k in marks if k in code.stdout[:400]), None)
    assert kind is not None, code.stdout[:400]
    assert len(re.findall(marks[kind], code.stdout)) > 20


def test_a_build_can_do_without(tmp_path):
    """The flags are what differs."""
    build = tmp_path / "build"
    done = subprocess.run(["meson", "setup", build, l3fwd.ROOT, "-Dhardening=false",
                           "-Dtests=false", "-Dbench=false"], capture_output=True, text=True,
                          timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    commands = json.loads((build / "compile_commands.json").read_text())
    assert len(commands) > 50
    assert [c["file"] for c in commands
            if re.search(r"stack-protector|FORTIFY|fcf-protection|clash", c["command"])] == []
