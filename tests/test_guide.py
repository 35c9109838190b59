# SPDX-License-Identifier: BSD-3-Clause
"""The book's page on writing a vendor variant, done as it says: its files are written, its commands
run in their order, and what it says that they print is what they print."""

import os
import platform
import re
import shutil
import subprocess
from typing import NamedTuple

import pytest

import l3fwd
import test_book
import test_install
import test_plugin

TIMEOUT = 600  # for one block of commands: the last one builds Halyard
BLOCK = re.compile(r"(?m)^\.\. code-block:: (\w+)\n((?:   :\w+: .*\n)*)\n((?:(?:   .*)?\n)+)")

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("guide"),
    pytest.mark.skipif(platform.machine() != "x86_64" or "HALYARD_UNDER" in os.environ,
                       reason="the page names the folders of an x86-64 machine"),
]
installed = test_install.installed
folder = test_plugin.folder


class Block(NamedTuple):
    """A block of code on the page."""

    language: str
    options: dict
    lines: list


def blocks(text):
    """All blocks of code of a page, in order, as a browser shows them: it has no tabs."""
    assert "\t" not in text
    found = []
    for language, options, body in BLOCK.findall(text):
        lines = [line.removeprefix("   ") for line in body.rstrip().split("\n")]
        found.append(Block(language, dict(re.findall(r":(\w+): (.*)", options)), lines))
    assert len(found) == text.count(".. code-block::")
    return found


def commands(block):
    """The commands of a console block; a line without "$" goes on with the one before."""
    return "\n".join(line.removeprefix("$ ") for line in block.lines)


def said(line):
    """A line without what may differ: its layout, and how many frames there are to a seed."""
    return re.sub(r"\b\d{5,}\b", "#", " ".join(line.split()))


class Reader:
    """Somebody who does what the page says, in a home of their own."""

    def __init__(self, home, **env):
        self.env = {**os.environ, "HOME": str(home), "RUNTIME_DIRECTORY": str(home), **env}
        self.where = home
        self.exports = ""
        self.printed = None
        self.compared = 0

    def follow(self, block):
        """Writes a file, runs commands, or compares what the last ones printed."""
        if "caption" in block.options:
            (self.where / block.options["caption"]).write_text("\n".join(block.lines) + "\n")
        elif block.language == "console":
            self.run(commands(block), fails=block.options.get("class") == "fails")
        else:
            assert block.language == "none", block
            self.compare(block.lines)

    def run(self, script, fails):
        """Runs commands, where the last ones have left off."""
        end = self.where / ".end"
        done = subprocess.run(["bash", "-euc", f"{self.exports}{script}\npwd >{end}"],
                              cwd=self.where, env=self.env, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              timeout=TIMEOUT)
        assert (done.returncode != 0) == fails, f"{script}\n{done.stdout}"
        self.printed = done.stdout
        self.exports += "".join(f"{line}\n" for line in script.split("\n")
                                if line.startswith(("export ", "unset ")))
        if not fails:
            self.where = type(end)(end.read_text().strip())
            end.unlink()

    def compare(self, expected):
        """Asserts that the lines of the page are printed, in this order, others between them; what
        is printed may go on to the right."""
        lines = iter(map(said, self.printed.split("\n")))
        for line in expected:
            assert any(found.startswith(said(line)) for found in lines), \
                f"not printed, or not in this order: {line}\n{self.printed}"
            self.compared += 1


@pytest.fixture(scope="module")
def reader(installed, folder):
    """With Halyard installed, and its sources."""
    (prefix,) = test_install.pkg_config(installed, "--variable=prefix")
    (folder / "halyard").symlink_to(prefix)
    shutil.copytree(l3fwd.ROOT, folder / "halyard-src", symlinks=True,
                    ignore=shutil.ignore_patterns(".git", "build*", "hy-test-*", "__pycache__"))
    return Reader(folder, CFLAGS=test_plugin.flags())


def test_page_is_followed_from_an_empty_folder_to_the_tree(reader, folder):
    page = blocks(test_book.page("writing-a-variant"))
    (tree,) = [i for i, block in enumerate(page) if "cd ~/halyard-src" in commands(block)]
    captures = [i for i, block in enumerate(page) if "in.pcap" in commands(block)]
    for i, block in enumerate(page[:tree]):
        if i in captures:
            test_book.demo_capture(folder / "acme")
        reader.follow(block)
    assert len(captures) == 3
    assert reader.compared == 27
    if test_install.sanitizer():
        return  # where Halyard is built once more, it is by whoever runs this without them
    reader.env["CFLAGS"] = "-O0"  # takes less time
    for block in page[tree:]:
        reader.follow(block)
    assert reader.compared == 29


def test_code_on_the_page_is_that_of_the_example():
    pack = l3fwd.ROOT / "examples" / "out-of-tree-pack"
    found = 0
    for block in blocks(test_book.page("writing-a-variant")):
        path = pack / block.options.get("caption", "")
        if block.language == "c" and path.name != "pack.c":
            assert path.read_text().expandtabs(8) == "\n".join(block.lines) + "\n", path.name
            found += 1
    assert found == 3
