# SPDX-License-Identifier: BSD-3-Clause
"""Families are open: a variant of each is written outside the tree, with the installed headers, and
the conformance suites of the families find it equal."""

import os
from pathlib import Path

import pytest

import l3fwd
import test_install
import test_plugin
import test_selftest

SOURCE = Path(__file__).parent / "outside" / "families.c"

pytestmark = pytest.mark.xdist_group("install")
installed = test_install.installed
folder = test_plugin.folder


@pytest.fixture(scope="module")
def families(installed, folder):
    """The pack, built with nothing but pkg-config's flags."""
    path = folder / "families.so"
    test_install.run(os.environ.get("CC", "cc"), "-std=gnu11", *test_plugin.flags().split(), "-fPIC",
                     "-shared", '-DHY_PACK="families"', *test_install.pkg_config(installed, "--cflags"),
                     SOURCE, "-o", path)
    return path


def test_variant_of_every_family_conforms(rig, families):
    tried = test_selftest.variants(f"--pack={families}")
    ours = {family for family, variant in tried if variant == "outside"}
    nodes = {family for (family, _), v in tried.items() if not v["fusion"]}
    assert ours == nodes and len(ours) >= 10
    assert ours >= {s["family"] for s in l3fwd.explain(rig.folder)["selections"]}
    for (family, variant), v in tried.items():
        if variant == "outside":
            assert v["outcome"] == "passed", (family, v)
            assert v["pack"] == "families" and v["cases"] >= test_selftest.CASES, v
