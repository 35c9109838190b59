# SPDX-License-Identifier: BSD-3-Clause
"""The vendors' own flow code, which runs without hardware, held against what Halyard makes of
rules: doc/driver-oracle.rst."""

import errno
import functools
import json
import re
import subprocess
from pathlib import Path

import pytest

import l3fwd

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
FOLDER = ROOT / "tests" / "driver_oracle"
DRIVERS = sorted(path.stem[len("fix_"):] for path in FOLDER.glob("fix_*.c"))
PROFILES_OF = [(driver, re.findall(
    r'\.name = "([\w-]+)"', (FOLDER / f"fix_{driver}.c").read_text().split("profiles[] = {")[1]))
    for driver in DRIVERS]
PROFILES = [(driver, name) for driver, names in PROFILES_OF for name in names]


def program(driver):
    """The program of a driver; a test is skipped where it was not built, with the reason."""
    path = l3fwd.BUILD / "tests" / "driver_oracle" / f"hy-oracle-{driver}"
    if not path.exists():
        log = (l3fwd.BUILD / "meson-logs" / "meson-log.txt").read_text()
        said = re.findall(rf"Message: ((?:hy-oracle-{driver}|tests/driver_oracle) is not built.*)",
                          log)
        pytest.skip(said[-1] if said else f"{path} was not built")
    return path


@functools.cache
def ask(driver, profile, command, rules=""):
    """What a program printed."""
    done = subprocess.run([program(driver), f"--profile={profile}", command], input=rules,
                          capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return json.loads(done.stdout)


@pytest.fixture(params=PROFILES, ids=lambda pair: "-".join(pair))
def oracle(request):
    """Asks a driver under a profile: oracle(command, rules). Nothing is believed of a fixture that
    does not take a good rule and refuse a bad one."""
    driver, profile = request.param
    controls = ask(driver, profile, "controls")
    assert set(controls["good"].values()) == {0}, controls
    assert controls["bad"]["validate"] < 0, controls
    assert controls["bad"]["create"] < 0 or not controls["creates"], controls
    return functools.partial(ask, driver, profile)


def known(oracle, command):
    """The known differences of a profile in a command, each with its reason; and whether they were
    written for the DPDK that is asked: another one may lack some."""
    driver, profile = oracle.args
    path = FOLDER / "known" / f"{driver}.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    fields = [re.split(r" \| ", line) for line in lines if line and not line.startswith("#")]
    assert all(len(f) == 4 and f[0] in dict(PROFILES_OF)[driver] for f in fields), path
    assert len({tuple(f[:3]) for f in fields}) == len(fields), path
    found = {f[2] for f in fields if f[:2] == [profile, command]}
    return found, oracle(command)["dpdk"].startswith("DPDK 22.11")


def findings(said):
    """What a program noted, but for rules that are not lowered."""
    return {note["text"]: note for note in said["notes"]
            if not note["text"].startswith("not lowered: ")}


def check_known(oracle, command):
    """No finding that is not known, and none known that is gone."""
    found = findings(oracle(command))
    expected, exactly = known(oracle, command)
    assert [found[text] for text in sorted(found.keys() - expected)] == []
    assert not exactly or sorted(expected - found.keys()) == [], "gone: remove it from known/"


# Lowered shapes that each driver takes, which may only become more.
LEAST = {"cnxk": 1853, "i40e": 195, "iavf": 95, "ice": 193, "mlx5": 8519}
LEAST_OF_PROFILE = {"cn10k-wide": 5831, "cn10k-ip6": 897}
# Of those, shapes that may drop packets: iavf and i40e do not count them.
LEAST_DROPS = {"cnxk": 845, "ice": 129, "mlx5": 6727}
LEAST_DROPS_OF_PROFILE = {"cn10k-wide": 4039, "cn10k-ip6": 393}


def test_controls(oracle):
    """The fixture takes the good rule and refuses the bad one, which it checks itself."""
    assert oracle("controls")["dpdk"].startswith("DPDK ")
    check_known(oracle, "controls")


def test_every_lowered_shape_is_taken(oracle):
    """Of all shapes of rules that a policy can have, those that are lowered are taken by the driver
    and by the simulator; and no fewer than before."""
    said = oracle("shapes")
    driver, profile = oracle.args
    assert said["asked"] == 11207
    assert said["lowered"] + said["unlowered"] == said["asked"]
    assert said["taken"] == said["lowered"], said["notes"]
    least = LEAST_OF_PROFILE.get(profile, LEAST[driver])
    assert said["taken"] >= least, said["notes"]
    # What is denied is dropped by the same patterns where the driver counts it, but for those that
    # hardware matches more widely.
    least_drops = LEAST_DROPS_OF_PROFILE.get(profile, LEAST_DROPS.get(driver, 0))
    assert said["drops_taken"] == said["drops"] >= least_drops, said["notes"]
    assert (said["drops"] > 0) == (least_drops > 0) and said["drops"] < said["lowered"]
    assert said["unlowered"] == sum(note["count"] for note in said["notes"]
                                    if note["text"].startswith("not lowered: "))
    check_known(oracle, "shapes")


def test_rules_of_a_policy_are_answered_one_by_one(oracle):
    """A rule that every driver takes, one that none does, and one in no words of a policy."""
    said = oracle("rules", "rule 1 class 1 proto udp src 10.0.0.1 dst 10.0.0.2 sport 1 dport 2\n"
                           "rule 2 class 1 sport 7\n")
    assert (said["asked"], said["lowered"], said["taken"], said["alike"]) == (2, 1, 1, 1), said
    bad = subprocess.run([program(oracle.args[0]), "rules"], input="rule 1 class 1 colour red\n",
                         capture_output=True, text=True, timeout=120, check=False)
    assert bad.returncode == 1 and "standard input, rule 1: " in bad.stderr, bad


def test_random_rules_meet_one_answer(oracle):
    """The driver and the simulator say the same of 40,000 rules, many of which are refused."""
    said = oracle("random")
    assert said["asked"] == said["taken"] + said["refused"] == 40000
    assert said["taken"] > 400 and said["refused"] > 400
    assert said["alike"] > 39000
    check_known(oracle, "random")


def test_rules_meet_one_answer_whatever_rules_are_there(oracle):
    """The same pattern twice, tables with one mask, a full table, RSS: errno included."""
    said = oracle("sequences")
    if not said["creates"]:
        pytest.skip("the fixture creates no rules")
    assert said["sequences"] == 4000 and said["taken"] > 4000
    assert said["alike"] == said["taken"] + said["refused"] or known(oracle, "sequences")[0]
    assert said["filled"] == said["room"]
    if oracle.args[0] == "cnxk":
        assert said["room"] > 0 and said["spread"] == 7  # of eight groups, one is the port's
    check_known(oracle, "sequences")


def test_what_is_programmed_matches_nothing_that_the_rule_does_not(oracle):
    """Each lowered rule's entry in hardware, held against frames around the rule."""
    said = oracle("programmed")
    if not said["looks"]:
        pytest.skip("the fixture does not look at what is programmed")
    assert said["rules"] == oracle("shapes")["taken"]
    assert said["both"] > said["rules"] and said["neither"] > said["rules"]
    if oracle.args[0] == "cnxk":  # whether the key has the bits, or software checks them
        assert (said["fragments"] > 0) == (oracle.args[1] != "cn10k-wide"), said
        # Linux's parser profile finds VXLAN even in frames whose flag I is 0.
        assert (said["wider"] > 0) == (oracle.args[1] == "cn10k-wide"), said
    check_known(oracle, "programmed")


def test_of_two_rules_the_one_of_lower_priority_number_wins(oracle):
    """In hardware, whichever was created first, and with a refused rule between them."""
    said = oracle("priorities")
    if said["pairs"] == 0:
        pytest.skip("the fixture does not say which entry wins, or all rules have one priority")
    assert said["pairs"] >= 400
    check_known(oracle, "priorities")


# Profiles of the fixtures that run a whole driver.
WHOLE = [(driver, name) for driver, name in PROFILES
         if "\t.hashed = " in (FOLDER / f"fix_{driver}.c").read_text()]


def device(oracle):
    """What a driver says of its port, of which it takes a plain configuration and refuses one."""
    said = oracle("device")
    assert said["whole"] and said["good"] == 0 and said["bad"] < 0, said
    return said


@pytest.mark.parametrize("oracle", WHOLE, ids="-".join, indirect=True)
def test_a_port_is_configured_as_the_driver_offers(oracle):
    """Queues, offloads, RSS types, descriptors and MTUs that the driver offers are taken, others are
    refused, also those of the HAL's inventory. What RSS hashes is what the device was told. iavf offers more queues than it takes
    before DPDK 26.03."""
    said = device(oracle)
    for tried, taken, refused in (("queues", 32, 2), ("offloads", 20, 10), ("rss", 12, 40),
                                  ("limits", 9, 8)):
        assert said[tried]["taken"] >= taken and said[tried]["refused"] >= refused, (tried, said)
    assert said["queues"]["taken"] == sum(said["most_queues"])
    assert said["hashed"] >= 9
    check_known(oracle, "device")


@pytest.mark.parametrize("oracle", WHOLE, ids="-".join, indirect=True)
def test_the_inventory_claims_no_more_queues_than_the_driver_takes(oracle):
    """Linux grants a virtual function 16. Whether the port marks packets iavf cannot be asked."""
    said = device(oracle)
    assert said["hal_queues"] == said["most_queues"] == [16, 16]
    assert said["hal"]["taken"] + said["hal"]["refused"] == 5 and said["hal"]["taken"] > 0
    assert said["hal_mark"] and said["negotiated"] == -errno.ENOTSUP


def events(driver):
    """What an event device's driver and its simulator say and take, and the DPDK of both."""
    plugin = l3fwd.BUILD / "app" / "sim" / "halyard-simnic.so"
    done = subprocess.run([program(driver), plugin], capture_output=True, text=True, timeout=120,
                          check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    said = json.loads(done.stdout)
    device = said["driver"]
    assert device["rc"] == device["kin"]["rc"] == device["other"]["rc"] == 0, said
    return device, said["simulator"], said["dpdk"]


def test_event_cn10k_says_what_its_simulator_says():
    """Of itself, of a port on the same chip, which has internal ports, and of another one, which has
    none; and the inventory says so. Only changes of a queue's attributes at run time are not
    simulated."""
    driver, simulator, dpdk = events("event_cnxk")
    assert driver["kin"]["hal"] == [True] * 5 and driver["kin"]["vector"] > 0
    assert driver["other"]["hal"] == [False, False, True, False, False]
    lacks = driver.pop("caps") ^ simulator.pop("caps")
    at_run_time = 1 << 11  # RTE_EVENT_DEV_CAP_RUNTIME_QUEUE_ATTR
    assert not dpdk.startswith("DPDK 22.11") or lacks == at_run_time
    assert driver == simulator and len(driver) == 9


def test_dlb2_takes_what_its_simulator_takes_and_the_inventory_says():
    """Queues, ports, schedule types, links, and queues by their numbers to restore an order by: the
    whole driver on registers of memory. The inventory has the types by a quirk, before 24.03."""
    driver, simulator, dpdk = events("event_dlb2")
    assert driver["driver"] == "event_dlb2_pf"
    assert driver["queues"] == [32, 32] and driver["ports"] == [64, 64]  # said, and taken
    assert driver["types"] == [[True, 0]] * 4 and driver["again"] == [True, 0]
    assert driver["linked"] == 1 and driver["started"] == 0
    assert set(driver["ordered"]) >= {0, 2, 32} and driver["links"] == 8
    if not dpdk.startswith("DPDK 22.11"):
        driver.pop("caps"), simulator.pop("caps")
    assert driver == simulator and len(driver) >= 17


def test_table_of_the_book_is_what_the_drivers_take():
    """doc/platforms/rules.csv, which `make platforms` writes."""
    for driver in DRIVERS:
        if not ask(driver, dict(PROFILES_OF)[driver][0], "controls")["dpdk"].startswith(
                "DPDK 22.11"):
            pytest.skip("the table is that of DPDK 22.11")
    done = subprocess.run([ROOT / "tools" / "flow-kinds.py", l3fwd.BUILD], capture_output=True,
                          text=True, timeout=120, check=True)
    table = (ROOT / "doc" / "platforms" / "rules.csv").read_text()
    assert done.stdout == table, "`make platforms` writes it anew"
    assert len(table.splitlines()) == 1 + 41 + 2
    assert all(table.count(f",{cell}") > 10 for cell in ("yes", "checked", "–"))


def test_every_known_difference_is_of_a_driver_and_a_command():
    files = {path.stem for path in (FOLDER / "known").glob("*.txt")}
    assert files <= set(DRIVERS)
    commands = {"controls", "shapes", "random", "sequences", "programmed", "priorities",
                "device"}
    for path in (FOLDER / "known").glob("*.txt"):
        lines = [line for line in path.read_text().splitlines()[1:] if not line.startswith("#")]
        assert {line.split(" | ")[1] for line in lines} <= commands, path


def test_some_fixture_runs_a_whole_driver():
    """Or nothing but flow rules would be asked."""
    assert WHOLE == [("iavf", "e810-vf")]


def test_programs_are_built_where_their_headers_are():
    """Or the build says why not, and the tests above are skipped with that. The fixtures know
    DPDK 22.11."""
    headers = subprocess.run([ROOT / "tools" / "dpdk-source", "--cached"], capture_output=True,
                             text=True, check=False)
    if headers.returncode != 0:
        pytest.skip(headers.stderr.strip())
    log = (l3fwd.BUILD / "meson-logs" / "meson-log.txt").read_text()
    assert not re.search(r"hy-oracle-\w+ is not built: DPDK 22\.11", log)
    for driver in DRIVERS:
        assert program(driver).exists()
