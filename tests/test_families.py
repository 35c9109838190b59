# SPDX-License-Identifier: BSD-3-Clause
"""Families are open: a variant of each is written outside the tree, with the installed headers, and
the conformance suites of the families find it equal."""

import os
import re
from pathlib import Path

import pytest

import l3fwd
import test_install
import test_plugin
import test_selftest

SOURCES = sorted((Path(__file__).parent / "outside").glob("families*.c"))

pytestmark = pytest.mark.xdist_group("families")
installed = test_install.installed
folder = test_plugin.folder


@pytest.fixture(scope="module")
def families(installed, folder):
    """The pack, built with nothing but pkg-config's flags."""
    path = folder / "families.so"
    test_install.run(os.environ.get("CC", "cc"), "-std=gnu11", *test_plugin.flags().split(), "-fPIC",
                     "-shared", '-DHY_PACK="families"', *test_install.pkg_config(installed, "--cflags"),
                     *SOURCES, "-o", path)
    return path


def test_variant_of_every_family_conforms(rig, families):
    """Only these are tried: test_selftest tries the others."""
    explained = l3fwd.explain(rig.folder)
    refused = test_selftest.selftest("--variant=none", f"--pack={families}").stderr
    listed = re.findall(r"(\w+)/(\w+)", refused.partition("; there are: ")[2])
    nodes = {family for family, _ in listed} - {f["fusion"] for f in explained["fusions"]}
    ours = {family for family, variant in listed if variant == "outside"}
    assert ours == nodes and len(ours) >= 10
    assert ours >= {s["family"] for s in explained["selections"]}
    tried = test_selftest.variants(*(f"--variant={family}/outside" for family in sorted(ours)),
                                   f"--pack={families}")
    assert set(tried) == {(family, "outside") for family in ours}
    for v in tried.values():
        assert v["outcome"] == "passed" and v["pack"] == "families", v
        assert v["cases"] >= test_selftest.CASES, v
