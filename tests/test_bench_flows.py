# SPDX-License-Identifier: BSD-3-Clause
"""hy-bench flows --full goes on where it was ended, and its columns agree with each other."""

import pytest

from benchrun import PLAIN, bench, lcores

pytestmark = pytest.mark.slow

MODES = ["none", "emc8k", "dfc", "dfc_number", "emc16k_dfc", "smc", "emc8k_smc", "lines", "frames", "auto"]


def full(path, works):
    done = bench(*PLAIN, *lcores(), "--", "flows", "--quick", "--work", works, "--full", path)
    assert done.returncode == 0, done.stderr
    return done.stdout


def rows(path):
    """The columns of each row, of which each is of a work and a choice of caches."""
    return [line.split() for line in path.read_text().splitlines() if not line.startswith("#")]


def test_full_run_goes_on_where_it_was_ended(tmp_path):
    path = tmp_path / "rows"
    assert "measured before" not in full(path, "loop_8*")
    done = path.read_text()
    ended = [line for line in done.splitlines() if line.startswith("# end of ")]
    names = [line.removeprefix("# end of ") for line in ended]
    assert {"loop_8", "loop_8_k4", "loop_8_zipf", "loop_8_vxlan", "loop_8_k4_zipf_vxlan"} <= set(names)
    assert len(names) == len(set(names)) == 8  # 1 and 4 masks, uniform and not, tunnelled and not
    assert [row[:2] for row in rows(path)] == [[name, mode] for name in names for mode in MODES]
    out = full(path, "loop_8*")
    assert out.count("measured before") == 8
    assert path.read_text() == done
    # As if the run had been ended within the last work.
    path.write_text(done.removesuffix(ended[-1] + "\n"))
    assert full(path, "loop_8*").count("measured before") == 7
    assert [line for line in path.read_text().splitlines() if line.startswith("# end")] == ended


def test_columns_of_a_loop_agree(tmp_path):
    path = tmp_path / "rows"
    full(path, "loop_new_mall")
    assert len(rows(path)) == len(MODES)
    for _, mode, mpps, clocks, *shares, tables, upcalls, lost, kib in rows(path):
        assert float(mpps) > 0 and float(clocks) > 0
        # Each packet is missed, and sent.
        assert len(shares) == 4 and sum(map(float, shares)) < 1
        assert float(tables) <= 1
        assert int(upcalls) > 100000 and int(lost) == 0
        assert (int(kib) == 0) == (mode == "none")
    full(path, "loop_10k_k16")
    for _, mode, _, _, frames, exact, index, masks, tables, upcalls, lost, _ in rows(path)[len(MODES):]:
        assert abs(sum(map(float, (frames, exact, index, masks))) - 100) < 0.3
        assert int(upcalls) == int(lost) == 0
        assert mode != "none" or 5 < float(tables) < 12
        assert "emc" not in mode or float(exact) > 5
        assert mode in ("none", "emc8k") or float(frames) + float(index) > 20
        assert mode in ("frames", "auto") or float(frames) == 0


@pytest.mark.parametrize("kind", ["folder", "link", "missing"])
def test_full_refuses_what_is_no_file(tmp_path, kind):
    path = tmp_path / "there"
    if kind == "folder":
        path.mkdir()
    elif kind == "link":
        path.symlink_to(tmp_path / "elsewhere")
    else:
        path = tmp_path / "no" / "where"
    done = bench(*PLAIN, "--", "flows", "--quick", "--work", "loop_8", "--full", path)
    assert done.returncode == 1
    assert f"flows: --full {path}: " in done.stderr
    assert not (tmp_path / "elsewhere").exists()
