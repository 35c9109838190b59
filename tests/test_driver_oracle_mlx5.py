# SPDX-License-Identifier: BSD-3-Clause
"""What mlx5's own flow code says of Halyard's rules, beside the laws for all drivers in
test_driver_oracle.py."""

import re
import subprocess

import pytest

from test_driver_oracle import ROOT, ask

pytestmark = pytest.mark.slow

PROFILES = ["connectx5", "connectx5-guest", "connectx6dx", "connectx7"]
SHAPES = 8519  # that the driver takes
SCTP = 1344    # more that name ports of SCTP, for which it has no item
PRIORITIES = 16


@pytest.mark.parametrize("profile", PROFILES)
def test_ports_of_sctp_are_not_lowered(profile):
    """The driver has no item for SCTP; nothing else is left out for its sake."""
    said = ask("mlx5", profile, "shapes")
    assert said["taken"] == SHAPES
    assert {note["text"]: note["count"] for note in said["notes"]} == {
        "not lowered: the port does not look into headers of this protocol": SCTP,
        "not lowered: ports, and not one of the protocols TCP, UDP and SCTP": SCTP}


@pytest.mark.parametrize("profile", PROFILES)
def test_group_default_rule_and_each_priority(profile):
    """The driver takes the two rules that lead to the group at the lowest priority that it has for users,
    the default rule, and all shapes at each priority that probing found."""
    said = ask("mlx5", profile, "groups")
    assert (said["group"], said["default"], said["jump"]) == (1, True, 3)
    assert said["priorities"] == PRIORITIES
    assert said["asked"] == said["taken"] == said["alike"] == SHAPES * PRIORITIES + 3


@pytest.mark.parametrize("profile", PROFILES)
def test_probing_finds_the_largest_mark(profile):
    """mlx5_flow.h, MLX5_FLOW_MARK_MAX: bisecting meets the driver's own limit."""
    assert ask("mlx5", profile, "controls")["mark_max"] == 0xffffef


def test_a_guest_matches_vlan_ids_in_full_only():
    """The profiles are not one under four names: in a guest the driver refuses other VLAN masks."""
    assert ask("mlx5", "connectx5", "random")["taken"] > ask("mlx5", "connectx5-guest",
                                                             "random")["taken"]


@pytest.fixture
def autoconf(tmp_path):
    """Writes mlx5_autoconf.h for an archive that calls one function of rdma-core; the exit code and
    what was said."""
    source = subprocess.run([ROOT / "tools" / "dpdk-source", "--cached"], capture_output=True,
                            text=True, check=False)
    if source.returncode != 0:
        pytest.skip(source.stderr.strip())
    copy = tmp_path / "drivers" / "common"
    copy.mkdir(parents=True)
    subprocess.run(["cp", "-r", f"{source.stdout.strip()}/drivers/common/mlx5", copy], check=True)
    header = copy / "mlx5" / "mlx5_autoconf.h"
    built = header.read_text() if header.exists() else pytest.skip(f"there is no {header.name}")
    header.unlink()

    def write(archive=None):
        done = subprocess.run([ROOT / "tools" / "mlx5-autoconf", tmp_path] +
                              ([archive] if archive else []), capture_output=True, text=True,
                              timeout=120, check=False)
        assert (done.returncode == 0) == header.exists()
        return done.returncode, done.stderr, header

    write.folder = tmp_path
    write.built = built
    return write


def test_autoconf_is_that_of_the_build(autoconf):
    """The header that decides on the layout of mlx5's structures is, byte for byte, that which the
    fixture was compiled with; of a DPDK that tools/dpdk-build made, DPDK's own build wrote it."""
    code, said, header = autoconf()
    assert code == 0, said
    assert header.read_text() == autoconf.built
    assert re.search(r"^#define HAVE_IBV_FLOW_DV_SUPPORT", autoconf.built, re.M)


def test_autoconf_refuses_an_archive_of_another_rdma_core(autoconf):
    """An archive that does not call what rdma-core has was built with another one, and its
    structures may be others."""
    code = autoconf.folder / "calls.c"
    code.write_text("int mlx5dv_dr_action_create_aso(void);\n"
                    "int calls(void) { return mlx5dv_dr_action_create_aso(); }\n")
    subprocess.run(["cc", "-c", code, "-o", code.with_suffix(".o")], check=True)
    subprocess.run(["ar", "rcs", code.with_suffix(".a"), code.with_suffix(".o")], check=True)
    failed, said, _ = autoconf(code.with_suffix(".a"))
    assert failed == 1
    assert "was built with another rdma-core" in said
