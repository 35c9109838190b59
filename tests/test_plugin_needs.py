# SPDX-License-Identifier: BSD-3-Clause
"""Plugins that need libraries: the code of none that somebody else could put there runs."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

import l3fwd
import test_install
import test_plugin
from frames import traffic
from l3fwd import SILENT
from test_plugin import assert_refused, shared

pytestmark = pytest.mark.xdist_group("plugin_needs")
installed = test_install.installed
folder = test_plugin.folder


def shown(text):
    """As much of what a plugin's file says as a refusal shows."""
    return str(text)[:80]


class Needs:
    """Plugins that need libraries, each of which leaves its name in a file when its code runs."""

    def __init__(self, installed, folder):
        self.installed, self.folder = installed, folder
        self.ran = folder / "ran"
        self.open = folder / "open"
        self.open.mkdir()
        self.open.chmod(0o777)

    def code(self, name):
        return (f"#include <stdio.h>\n__attribute__((constructor)) static void run_{name}(void)\n"
                f'{{ FILE *f = fopen("{self.ran}", "a"); fputs("{name} ", f); fclose(f); }}\n')

    def library(self, folder, name, *link, soname=None):
        """A library with a function of its name, in a new folder if need be."""
        folder.mkdir(exist_ok=True)
        return shared(self.installed, folder / f"lib{name}.so",
                      self.code(name) + f"int {name}(void); int {name}(void) {{ return 1; }}\n",
                      f"-Wl,-soname,{soname or f'lib{name}.so'}", *link)

    def plugin(self, *link):
        """A plugin that is linked with libraries, whether it uses them or not."""
        code = test_plugin.NODE + self.code("plugin")
        return shared(self.installed, self.folder / "needs.so", code, "-Wl,--no-as-needed", *link)

    def which(self):
        """Whose code ran, in order."""
        return self.ran.read_text().split() if self.ran.exists() else []


@pytest.fixture
def needs(installed, folder):
    inside = Path(tempfile.mkdtemp(prefix="needs-", dir=folder))
    inside.chmod(0o755)
    yield Needs(installed, inside)
    shutil.rmtree(inside)


@pytest.mark.parametrize("tags, what", [
    (["-Wl,--enable-new-dtags", "-Wl,-rpath,{open}"], "a RUNPATH, '{open}'"),
    (["-Wl,--disable-new-dtags", "-Wl,-rpath,{open}"], "an RPATH, '{open}'"),
    (["-Wl,--enable-new-dtags", "-Wl,-rpath,$ORIGIN/open"], "a RUNPATH, '$ORIGIN/open'"),
    (["-Wl,-rpath,{private}"], "a RUNPATH, '{private}'"),
    (["-Wl,-f,libevil.so"], "an auxiliary library, 'libevil.so'"),
    (["-Wl,-F,libevil.so"], "a filtered library, 'libevil.so'"),
    (["-Wl,--depaudit,libevil.so"], "an auditing library, 'libevil.so'"),
], ids=["runpath", "rpath", "origin", "private", "auxiliary", "filter", "audit"])
def test_plugin_that_leads_the_dynamic_linker_elsewhere_is_refused(rig, needs, tags, what):
    library = needs.library(needs.open, "evil")
    names = {"open": needs.open, "private": needs.folder}
    path = needs.plugin(*[tag.format(**names) for tag in tags], library)
    names = {name: shown(folder) for name, folder in names.items()}
    assert_refused(rig, path, f"it has {what.format(**names)}; accepted: none, so that libraries "
                              "come from the system's folders or LD_LIBRARY_PATH")
    assert needs.which() == []


def test_library_of_a_plugin_that_is_named_with_its_folder_is_refused(rig, needs):
    library = needs.library(needs.folder / "lib", "evil", soname=needs.open / "libevil.so")
    shutil.move(library, needs.open / "libevil.so")
    path = needs.plugin(needs.open / "libevil.so")
    assert_refused(rig, path, f"it needs '{shown(needs.open / 'libevil.so')}'; accepted: a name "
                              "without a folder")
    assert needs.which() == []


def test_library_of_a_plugin_comes_from_ld_library_path(rig, needs, monkeypatch):
    """And so do those that it needs itself; all of them run before the plugin."""
    inner = needs.library(needs.folder / "lib", "inner")
    outer = needs.library(needs.folder / "lib", "outer", "-Wl,--no-as-needed", inner)
    path = needs.plugin(outer)
    shutil.rmtree(needs.open)
    monkeypatch.setenv("LD_LIBRARY_PATH", f"/nonexistent:{needs.folder / 'lib'}")
    run = rig.forward([[traffic("198.18.1.1")], SILENT], f"--pack={path}")
    assert run.stats["totals"]["tx"] == 100, run
    assert needs.which() == ["inner", "outer", "plugin"]


@pytest.mark.parametrize("how", ["folder", "file", "link", "owner"])
def test_library_of_a_plugin_that_others_can_change_is_refused(rig, needs, monkeypatch, how):
    if how == "owner" and os.geteuid() != 0:
        pytest.skip("only root can give files away")
    found = needs.folder / "lib"
    library = needs.library(needs.open if how in ("folder", "link") else found, "evil")
    path = needs.plugin(library)
    bad, reason = library, "can be written by everyone; neither the file nor a folder above it may be"
    if how == "folder":
        found = bad = needs.open
    elif how == "link":
        found.mkdir()
        (found / "libevil.so").symlink_to(library)
        bad = needs.open
    elif how == "file":
        library.chmod(0o757)
    else:
        os.chown(library, 12345, -1)
        reason = "belongs to user 12345; accepted: root and user 0, who runs this"
    monkeypatch.setenv("LD_LIBRARY_PATH", str(found))
    assert_refused(rig, path, f"its library 'libevil.so': '{bad}' {reason}")
    assert needs.which() == []


def test_library_of_a_library_is_checked_like_that_of_the_plugin(rig, needs, monkeypatch):
    evil = needs.library(needs.open, "evil")
    private = needs.folder / "lib"
    for link, sentence in [
        (["-Wl,--enable-new-dtags", f"-Wl,-rpath,{needs.open}"],
         f"its library '{private}/libouter.so' has a RUNPATH, '{shown(needs.open)}'; accepted: none, so "
         "that libraries come from the system's folders or LD_LIBRARY_PATH"),
        ([], f"its library 'libevil.so': '{needs.open}' can be written by everyone; neither the "
             "file nor a folder above it may be"),
    ]:
        outer = needs.library(private, "outer", "-Wl,--no-as-needed", evil, *link)
        path = needs.plugin(outer, f"-Wl,-rpath-link,{needs.open}")
        monkeypatch.setenv("LD_LIBRARY_PATH", f"{private}:{needs.open}")
        assert_refused(rig, path, sentence)
        assert needs.which() == []


def test_library_of_a_plugin_that_is_nowhere_or_has_another_name_is_refused(rig, needs, monkeypatch):
    library = needs.library(needs.folder / "lib", "good")
    path = needs.plugin(library)
    assert_refused(rig, path, "it needs 'libgood.so', which is neither loaded nor in a folder of "
                              "the dynamic linker")
    needs.library(needs.folder / "lib", "good", soname="libother.so")
    monkeypatch.setenv("LD_LIBRARY_PATH", str(needs.folder / "lib"))
    assert_refused(rig, path, f"its library '{library}' has the SONAME 'libother.so'; accepted: "
                              "'libgood.so'")
    assert needs.which() == []


@pytest.mark.parametrize("output", ["--json={}", "--dump-routes={}", "--capture={},at=pkt_cls"])
def test_library_of_a_plugin_is_not_written_over_while_it_is_loaded(rig, needs, monkeypatch, output):
    library = needs.library(needs.folder / "lib", "inner")
    before = library.read_bytes()
    path = needs.plugin(library)
    monkeypatch.setenv("LD_LIBRARY_PATH", str(needs.folder / "lib"))
    run = rig.run([*l3fwd.options(1, [(0, 0, 1)]), "--until-idle=50", f"--pack={path}",
                   output.format(library)], rig.vdevs([SILENT]))
    assert needs.which() == ["inner", "plugin"]
    assert (run.code, library.read_bytes() == before) == (1, True), run
    assert f"{library}: is the file of a loaded library, which is read\n" in run.stderr, run
