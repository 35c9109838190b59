# SPDX-License-Identifier: BSD-3-Clause
"""The book's page on the first hour on a new board, followed on virtual devices: its commands run in
their order, and what it says that they print is what they print. What needs a board is left out, and
counted."""

import os
import re

import pytest

import l3fwd
import test_book
import test_guide

LOAD = 300  # seconds on the page, one here
CPUS = sorted(os.sched_getaffinity(0))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("bring_up"),
    pytest.mark.skipif(bool(l3fwd.UNDER), reason="the page's commands are those of this CPU"),
    pytest.mark.skipif(len(CPUS) < 2, reason="l3fwd-graph needs two CPUs"),
    pytest.mark.skipif("avx512f" not in open("/proc/cpuinfo", encoding="ascii").read(),
                       reason="the page shows the output of a CPU with AVX-512"),
]


def here(block):
    """The block as this machine and this test can do it."""
    changes = {f"--load {LOAD}": "--load 1", f"seconds: {LOAD}": "seconds: 1",
               "--duration=10": "--duration=1",
               "-l 0-1": f"--lcores=0@{CPUS[0]},1@{CPUS[1]}",
               "report board.txt": "report board.txt --variant=null/scalar"}
    lines = block.lines
    for word, instead in changes.items():
        lines = [line.replace(word, instead) for line in lines]
    return block._replace(lines=lines)


def page():
    """The blocks of the page: those for everybody, and the commands that need a board."""
    blocks = test_guide.blocks(test_book.page("bring-up"))
    hardware = [block for block in blocks if block.options.get("class") == "hardware"]
    return [block for block in blocks if block not in hardware], hardware


def test_page_is_followed_on_virtual_devices(tmp_path):
    (tmp_path / "build").symlink_to(l3fwd.BUILD)
    reader = test_guide.Reader(tmp_path)
    ran = []
    blocks, _ = page()
    for block in blocks:
        reader.follow(here(block))
        if block.language == "console":
            ran += re.findall(r"\$ ([a-z0-9-]+) ?(.*)", "\n".join(block.lines))
            if ran[-1] == ("hy-hal", "selftest"):
                assert re.search(r"\n\d+ variants: \d+ passed, \d+ skipped, 0 failed\n$",
                                 reader.printed), reader.printed
    commands = [words.partition("-- ")[2].split()[0] if "-- " in words else words.split()[0]
                for name, words in ran if name == "hy-hal"]
    assert commands == ["--version", "inventory", "explain", "selftest", "report", "report"]
    assert {name for name, _ in ran} == {"export", "hy-hal", "l3fwd-graph", "ls", "grep"}
    assert [name for name, _ in ran].count("l3fwd-graph") == 2
    assert reader.compared == sum(len(b.lines) for b in blocks
                                  if b.language == "none" and "caption" not in b.options) > 40
    for name in ("board.txt", "board-load.txt"):
        assert "\nselftest:\n" in (tmp_path / name).read_text()


def test_commands_that_need_a_board_are_few_and_known():
    """They install, reserve memory, and bind. Of the project's own there is none but make."""
    _, hardware = page()
    names = {line.split()[1] for block in hardware for line in block.lines}
    assert names == {"git", "cd", "make", "echo", "apt-get", "dpdk-devbind.py", "modprobe", "export"}


def test_lines_of_a_report_that_the_page_explains_are_in_reports():
    """As the program writes them, whatever their values are."""
    table = test_book.page("bring-up").partition("* - Line\n")[2].partition("\nSend it\n")[0]
    rows = re.findall(r"(?m)^   \* - ``([^`]+)``", table)
    assert len(rows) == 7
    sources = "".join((l3fwd.ROOT / "app" / "hy-hal" / name).read_text() for name in
                      ("report.c", "report_port.c", "report_trial.c", "report_flow.c", "selftest.c"))
    for row in rows:
        for word in re.findall(r"\w{4,}", row):
            assert word in sources, (row, word)


def test_messages_that_the_page_explains_are_those_of_the_program():
    table = test_book.page("bring-up").partition("* - What you see\n")[2]
    messages = re.findall(r"(?m)^   \* - ``(?:hy-hal: )?([^`]+)``$", table)
    assert len(messages) == 3
    sources = "".join(path.read_text() for path in (l3fwd.ROOT / "app" / "hy-hal").glob("*.c"))
    for message in messages:
        assert message in sources, message
