# SPDX-License-Identifier: BSD-3-Clause
"""The programs of tools/ in Python: whatever the argument, they say what is wrong, and write nothing."""

import re
import subprocess

import pytest

import l3fwd

LISTED = subprocess.run(["git", "-c", f"safe.directory={l3fwd.ROOT}", "ls-files", "-s", "tools/*.py"],
                        cwd=l3fwd.ROOT, capture_output=True, text=True, check=True).stdout.split("\n")[:-1]
TOOLS = [line.split("\t")[1] for line in LISTED if line.startswith("100755")]
# Given before a file, lest they do what they are for: measure a switch that is there, write the capture.
BEFORE_FILE = {"tools/bench-ovs.py": ["--vswitchd=/nonexistent"], "tools/demo-capture.py": ["--check"]}
ARGUMENTS = [[], ["--help"], ["--bogus"], ["/nonexistent/a b"], ["/dev/null"], ["empty"], ["binary"]]


def test_all_tools_are_run():
    """What is no program is a module of one."""
    assert len(TOOLS) >= 12
    assert {line.split("\t")[1] for line in LISTED} - set(TOOLS) == {"tools/ovs_switches.py"}


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=lambda words: "".join(words) or "none")
@pytest.mark.parametrize("tool", TOOLS)
def test_odd_argument_is_answered(tmp_path, tool, arguments):
    (tmp_path / "empty").touch()
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    before = BEFORE_FILE.get(tool, []) if arguments and not arguments[0].startswith("--") else []
    done = subprocess.run([l3fwd.ROOT / tool, *before, *arguments], cwd=tmp_path, capture_output=True, text=True,
                          errors="replace", timeout=60, check=False)
    said = done.stdout + done.stderr
    assert said.strip() and "Traceback" not in said, done
    assert {path.name for path in tmp_path.iterdir()} == {"empty", "binary"}, done
    if arguments == ["--help"]:
        assert done.returncode == 0 and re.match("usage: ", done.stdout), done
    if arguments == ["--bogus"]:
        assert done.returncode == 2 and "usage: " in done.stderr, done
