# SPDX-License-Identifier: BSD-3-Clause
"""--help, -h and --version of every program: answered without hugepages, devices or ports."""

import re
import subprocess

import pytest

import l3fwd

TOOLS = {"hy-hal": l3fwd.BUILD / "app" / "hy-hal" / "hy-hal",
         "hy-graph": l3fwd.BUILD / "app" / "hy-graph" / "hy-graph",
         "hy-policy": l3fwd.BUILD / "app" / "hy-policy" / "hy-policy",
         "hy-bench": l3fwd.BUILD / "app" / "bench" / "hy-bench",
         "l2fwd-graph": l3fwd.L2FWD,
         "l3fwd-graph": l3fwd.L3FWD,
         "vswitch-graph": l3fwd.VSWITCH}
OWN = {"hy-hal": "usage: hy-hal [EAL options --] COMMAND [options]",
       "hy-graph": "usage: hy-graph [options] COMMAND",
       "hy-policy": "usage: hy-policy COMMAND [options] [arguments]",
       "hy-bench": "usage: hy-bench [EAL options --] BENCH [options]",
       "l2fwd-graph": "usage: l2fwd-graph [EAL options] -- -p PORTMASK [options]",
       "l3fwd-graph": "usage: l3fwd-graph [EAL options] -- -p MASK [options]",
       "vswitch-graph": "usage: vswitch-graph [EAL options] -- -p PORTMASK [options]"}
VERSION = re.search(r"version: '([\d.]+)'", (l3fwd.ROOT / "meson.build").read_text())[1]


def ask(path, *words):
    """What a program answers."""
    done = subprocess.run([*l3fwd.UNDER, path, *words], capture_output=True, text=True, check=False,
                          timeout=l3fwd.TIMEOUT, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done
    return done


@pytest.mark.parametrize("program", TOOLS)
def test_version_is_told(program):
    told = ask(TOOLS[program], "--version")
    assert re.fullmatch(rf"{program}: Halyard {re.escape(VERSION)}, DPDK \d\d\.\d\d\.\S*\n",
                        told.stdout), told
    assert told.stderr == "", told


@pytest.mark.parametrize("option", ["--help", "-h"])
@pytest.mark.parametrize("program", TOOLS)
def test_help_is_given(program, option):
    told = ask(TOOLS[program], option)
    lines = told.stdout.splitlines()
    assert OWN[program] in lines, told
    for listed in ("--help, -h", "--version"):
        assert re.search(rf"(?m)^  {listed} +print", told.stdout), told


def test_help_among_eals_words_lists_eals_options_too():
    """And behind them alone the program's own."""
    both = ask(l3fwd.L3FWD, "--help").stdout
    own = ask(l3fwd.L3FWD, "--", "--help")
    assert own.stderr == "" and own.stdout.startswith(OWN["l3fwd-graph"]), own
    assert both.endswith(own.stdout) and "--file-prefix" in both and "--vdev" in both
    assert "--vdev" not in own.stdout
    assert ask(l3fwd.L3FWD, "-l", "0,1", "--", "-p", "1", "-h").stdout == own.stdout
    assert ask(l3fwd.L3FWD, "-l", "0", "--", "--version").stdout.startswith("l3fwd-graph: ")
