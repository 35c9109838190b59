# SPDX-License-Identifier: BSD-3-Clause
"""Fixtures: a folder to run l3fwd-graph in, the real captures, and the variants of families.

HALYARD_BUILD names the build folder (default: build), HALYARD_DATA the folder of real captures;
without HALYARD_DATA, tests over captures are skipped.
"""

import os
import shutil
from pathlib import Path

import pytest

import l3fwd

DATA = os.environ.get("HALYARD_DATA")
CAPTURES = sorted(Path(DATA).glob("pcap/*.pcap")) if DATA else []


def pytest_generate_tests(metafunc):
    """One test a capture, and one a variant of ip4_lookup, or of pkt_cls, that can run here."""
    if "capture" in metafunc.fixturenames:
        no_data = pytest.mark.skip(reason="HALYARD_DATA is not set: no real captures")
        metafunc.parametrize(
            "capture",
            CAPTURES if DATA else [pytest.param(None, marks=no_data)],
            ids=[path.stem for path in CAPTURES] if DATA else ["none"],
        )
    if "variant" in metafunc.fixturenames:
        metafunc.parametrize("variant", [_variant(c) for c in l3fwd.lookup_candidates()])
    if "classifier" in metafunc.fixturenames:
        metafunc.parametrize("classifier", [_variant(c) for c in l3fwd.candidates("pkt_cls")])


def _variant(candidate):
    unmet = candidate["fate"] == "needs_unmet"
    skip = [pytest.mark.skip(reason=f"{candidate['variant']}: {candidate['reason']}")]
    return pytest.param(candidate["variant"], marks=skip if unmet else [])


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """Notes on the test item whether its body failed, for the rig."""
    report = (yield).get_result()
    if call.when == "call":
        item.failed = report.failed


@pytest.fixture
def rig(request, tmp_path):
    """A folder to run l3fwd-graph in. It stays behind only if the test fails: a full run writes
    gigabytes."""
    l3fwd.binary()
    used = l3fwd.Rig(tmp_path)
    yield used
    used.clean_up()
    if not getattr(request.node, "failed", True):
        shutil.rmtree(tmp_path)


@pytest.fixture
def captures():
    """All real captures."""
    if not DATA:
        pytest.skip("HALYARD_DATA is not set: no real captures")
    return CAPTURES
