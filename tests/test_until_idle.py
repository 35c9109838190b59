# SPDX-License-Identifier: BSD-3-Clause
"""--until-idle on a busy machine: nothing that could still be received is left behind."""

import os

import pytest

import frames
import l3fwd
from l3fwd import SILENT

HELD = l3fwd.BUILD / "app" / "test" / "hy-test-held-workers.so"
PACKETS = 3000

MODES = {"poll": (1, []), "dispatch": (2, ["--mode=dispatch", "--pin=ip4_*=2"])}


@pytest.mark.parametrize("mode", MODES)
def test_workers_that_hardly_run_still_receive_all(rig, mode):
    """They run only while the main thread is away, between its look at what they did and what it
    makes of that; every second time not at all, for longer than the option's time."""
    workers, options = MODES[mode]
    assert HELD.exists()
    asan = f"verify_asan_link_order=0:{os.environ.get('ASAN_OPTIONS', '')}"
    rig.env = {"LD_PRELOAD": str(HELD), "ASAN_OPTIONS": asan}
    run = rig.run([*l3fwd.options(2, [(0, 0, 1), (1, 0, 1)]), *options, "--until-idle=10",
                   f"--json={rig.folder}/stats.json"],
                  rig.vdevs([[frames.traffic("198.18.1.1", PACKETS)], SILENT], workers), workers)
    assert run.stats["totals"] == {"rx": PACKETS, "copied": 0, "tx": PACKETS, "dropped": 0}, run
    assert len(run.sent(1, workers - 1)) == PACKETS
