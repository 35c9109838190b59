# SPDX-License-Identifier: BSD-3-Clause
"""A walk model from outside: examples/walk-model, built against the installed library, walks one
graph in the core's order and in its own."""

import os
import shutil

import pytest

import l3fwd
import test_install

EXAMPLE = l3fwd.ROOT / "examples" / "walk-model"
WALKS = 1000
BURST = 32

pytestmark = pytest.mark.xdist_group("walk_model")
installed = test_install.installed


@pytest.fixture(scope="module", name="program")
def program_built(installed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("example") / "walk-model"
    shutil.copytree(EXAMPLE, folder, ignore=shutil.ignore_patterns("*.o", "walk-model"))
    flags = " ".join(["-O2 -g -Wall -Wextra -Werror", *test_install.sanitizer()])
    search = os.pathsep.join(filter(None, [str(installed), os.environ.get("PKG_CONFIG_PATH")]))
    test_install.run("make", "-C", folder, f"CFLAGS={flags}", PKG_CONFIG_PATH=search)
    yield folder / "walk-model"
    shutil.rmtree(folder)


@pytest.mark.parametrize("words", [["--help"], ["-h"], ["--", "-h"], ["--version"]])
def test_help_and_version_are_answered(program, installed, words):
    (libdir,) = test_install.pkg_config(installed, "--variable=libdir")
    answer = test_install.run(program, *words, LD_LIBRARY_PATH=libdir)
    assert ("walk-model: Halyard " if words == ["--version"] else
            "usage: walk-model [EAL options] -- WALKS\n") in answer


def test_a_model_from_outside_gives_the_same_totals_in_its_own_order(program, installed,
                                                                     tmp_path):
    (libdir,) = test_install.pkg_config(installed, "--variable=libdir")
    printed = test_install.run(program, *test_install.EAL, "--", str(WALKS),
                               LD_LIBRARY_PATH=libdir, RUNTIME_DIRECTORY=str(tmp_path))
    lines = [line.split() for line in printed.splitlines()]
    done = {(line[0], line[1]): (int(line[2]), int(line[3])) for line in lines if len(line) == 4}
    names = {"numbers", "by_three", "a", "b", "c", "join"}
    assert set(done) == {(graph, name) for graph in ("ranked", "fifo") for name in names}
    # The array has 1024 numbers, of which every third goes by way of a.
    made = [i % 1024 for i in range(WALKS * BURST)]
    to_a = sum(number % 3 == 0 for number in made)
    total = len(made)
    for graph in ("ranked", "fifo"):
        objs = {name: done[graph, name][0] for name in names}
        assert objs == {"numbers": total, "by_three": total, "a": to_a, "b": total - to_a,
                        "c": total - to_a, "join": total}
    # First in, first out: join runs for what a sends before c, and then again for what c sends.
    assert done["ranked", "join"][1] == WALKS
    assert done["fifo", "join"][1] == 2 * WALKS
    assert ["longest", "2"] in lines
