# SPDX-License-Identifier: BSD-3-Clause
"""hy-hal: what it finds and picks, as text and as JSON, on the devices that can be had without
hardware; what users override; and what it refuses."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import l3fwd
import test_plugin

HY_HAL = l3fwd.BUILD / "app" / "hy-hal" / "hy-hal"
EAL = ["--no-huge", "-m", "512", "--no-pci", "--no-shconf", "--no-telemetry"]
VDEVS = ["net_null0", "net_null1", "event_sw0", "event_dsw0", "crypto_openssl0", "crypto_null0"]
L3FWD = {"ethdev_rx", "pkt_cls", "ip4_lookup", "ip4_rewrite", "ethdev_tx", "pkt_drop"}

pytestmark = pytest.mark.xdist_group("hy_hal")
installed = test_plugin.installed
folder = test_plugin.folder
pack = test_plugin.pack


def hal(*words, vdevs=None, **options):
    """Runs hy-hal to its end, on virtual devices if there is a list of them."""
    if not os.access(HY_HAL, os.X_OK):
        pytest.fail(f"{HY_HAL} is not there: build first, or set HALYARD_BUILD", pytrace=False)
    eal = [] if vdevs is None else [*EAL, *(f"--vdev={name}" for name in vdevs), "--"]
    return subprocess.run([*l3fwd.UNDER, HY_HAL, *eal, *map(str, words)], capture_output=True,
                          text=True, check=False, timeout=l3fwd.TIMEOUT, stdin=subprocess.DEVNULL,
                          **options)


def passes(*words, **options):
    """What it prints; it must succeed."""
    done = hal(*words, **options)
    assert done.returncode == 0, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def inventory(*words, vdevs):
    return json.loads(passes("inventory", "--json", *words, vdevs=vdevs))["inventory"]


def cap_names(target):
    """The capabilities of a kind of target, as a refusal lists them."""
    done = hal("inventory", f"--cap={target}.nosuch=no")
    assert done.returncode == 1, done
    return done.stderr.partition("accepted: ")[2].strip().split(", ")


@pytest.fixture(scope="module")
def found():
    return inventory(vdevs=VDEVS)


def test_without_a_word_for_eal_it_shows_the_process():
    text = passes("inventory")
    assert text.startswith("process\n    simd_bits       yes")
    assert passes("explain", "--graph", "l3fwd").startswith("ip4_lookup for process: ")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to become somebody else")
def test_a_normal_user_needs_no_set_up():
    done = hal("inventory", user=65534, group=65534, extra_groups=[],
               env={"PATH": os.environ["PATH"]})
    assert done.returncode == 0, done
    assert done.stdout.startswith("process\n")
    assert "hy-hal: there is no port: " in done.stderr
    assert len(done.stderr.splitlines()) == 1, done


def test_it_runs_beside_another():
    runs = [subprocess.Popen([HY_HAL, "inventory"], stdout=subprocess.PIPE) for _ in range(3)]
    outputs = [run.communicate(timeout=l3fwd.TIMEOUT)[0] for run in runs]
    assert [run.returncode for run in runs] == [0, 0, 0]
    assert len(set(outputs)) == 1


@pytest.fixture
def free_mb():
    """MB of free hugepages of 2 MB: enough for one hy-hal, at least."""
    pool = Path("/proc/sys/vm/nr_hugepages")
    free = Path("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages")
    if l3fwd.UNDER or not free.exists():
        pytest.skip("hugepages of 2 MB are this CPU's")
    before = int(pool.read_text())
    short = 256 - int(free.read_text())
    if short > 0:
        if os.geteuid() != 0:
            pytest.skip("hugepages are reserved by root only")
        pool.write_text(str(before + short))
    found = int(free.read_text())
    yield 2 * found
    if short > 0:
        pool.write_text(str(before))


def test_several_that_start_at_once_do_not_count_on_the_same_hugepages(free_mb):
    """Each saw as many free hugepages as it needs, but only the first ones got them, in each round.
    Other programs of this machine may take some at the wrong moment, without the lock."""
    if free_mb < 512:
        pytest.skip("512 MB of hugepages cannot be reserved")
    failed = []
    for _ in range(5):
        runs = [subprocess.Popen([HY_HAL, "inventory"], stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE) for _ in range(free_mb // 512 + 2)]
        said = [run.communicate(timeout=l3fwd.TIMEOUT)[1] for run in runs]
        if any(run.returncode for run in runs):
            failed.append(said)
    assert len(failed) < 2, failed


def test_all_devices_and_pairs_are_found(found):
    assert set(found) == {"process", "declared", "ports", "devices"}
    assert [(p["port"], p["name"], p["driver"]) for p in found["ports"]] == [
        (0, "net_null0", "net_null"), (1, "net_null1", "net_null")]
    devices = [(d["kind"], d["id"], d.get("peer"), d["driver"]) for d in found["devices"]]
    assert devices == [
        ("event", 0, None, "event_sw"), ("event", 1, None, "event_dsw"),
        ("crypto", 0, None, "crypto_openssl"), ("crypto", 1, None, "crypto_null"),
        *((kind, event, peer, driver)
          for event, driver in enumerate(["event_sw", "event_dsw"])
          for kind in ("event:port", "event:crypto") for peer in (0, 1))]


@pytest.mark.parametrize("kind", ["event", "crypto", "event:port", "event:crypto"])
def test_devices_have_the_capabilities_of_their_kind(found, kind):
    target = ":".join(f"{name}0" for name in kind.split(":"))
    some = [d["capabilities"] for d in found["devices"] if d["kind"] == kind]
    assert len(some) >= 2
    for capabilities in some:
        assert list(capabilities) == cap_names(target)
        for cap in capabilities.values():
            assert set(cap) == {"level", "origin", "value", "reason"}
            assert cap["level"] in ("no", "unknown", "yes")
            assert cap["origin"] in ("declared", "probed") and cap["reason"]


def test_ports_and_process_have_theirs(found):
    assert list(found["process"]) == cap_names("process")
    for port in found["ports"]:
        assert list(port["capabilities"]) == cap_names("port0")


def test_text_says_what_json_says(found):
    text = passes("inventory", vdevs=VDEVS)
    told = [line.split()[0] for line in text.splitlines() if line.startswith("    ")]
    parts = [found["process"], *(d["capabilities"] for d in found["ports"] + found["devices"])]
    assert told == [name for part in parts for name in part]
    assert len(told) > 100
    assert "\nevent device 1 with crypto device 0: event_dsw0, driver event_dsw\n" in text


def test_explain_json_has_inventory_and_selections_of_the_graph():
    explained = json.loads(passes("explain", "--graph=l3fwd", "--json", vdevs=VDEVS))
    assert list(explained) == ["inventory", "selections", "fusions"]
    assert {s["family"] for s in explained["selections"]} == L3FWD
    everything = json.loads(passes("explain", "--json", vdevs=VDEVS))
    assert {s["family"] for s in everything["selections"]} > L3FWD
    assert [s for s in everything["selections"] if s["family"] in L3FWD] == \
        explained["selections"]
    assert [s["target"] for s in explained["selections"] if s["family"] == "pkt_cls"] == [
        "port 0", "port 1"]
    assert explained["fusions"] == [f for f in everything["fusions"] if f["fusion"] != "l2_forward"]
    assert len(explained["fusions"]) < len(everything["fusions"])


def test_fusion_is_explained_by_what_its_chain_runs():
    variant = ["--node=pkt_cls=scalar", "--node=ip4_lookup=scalar", "--node=ip4_rewrite=scalar"]

    def fates(*words):
        explained = json.loads(passes("explain", "--json", *words, vdevs=VDEVS))
        return {f["variant"]: (f["fate"], f["reason"]) for f in explained["fusions"]
                if f["fusion"] == "ip4_forward"}

    found = fates(*variant)
    assert found.pop("scalar") == ("chosen", "where nothing stands between its nodes")
    for other, (fate, reason) in found.items():
        assert fate == "needs_unmet" and reason == f"needs pkt_cls/{other}, which was not chosen"
    assert fates(*variant, "--deny=ip4_forward")["scalar"] == ("denied", "denied by the user")
    assert "    scalar     denied                 denied by the user\n" in passes(
        "explain", *variant, "--deny=ip4_forward=scalar", vdevs=VDEVS)
    assert fates(*variant[:2], "--deny=ip4_rewrite=scalar")["scalar"] == (
        "needs_unmet", "needs ip4_rewrite/scalar, which was not chosen")


def test_forced_and_denied_variants_are_explained():
    explained = json.loads(passes("explain", "--json", "--node=ip4_lookup=scalar",
                                  "--node=pkt_cls@1=scalar", "--deny=pkt_cls@0=scalar",
                                  vdevs=VDEVS))
    picked = {(s["family"], s["target"]): s for s in explained["selections"]}
    assert picked["ip4_lookup", "process"]["variant"] == "scalar"
    assert picked["pkt_cls", "port 1"]["variant"] == "scalar"
    (denied,) = [c for c in picked["pkt_cls", "port 0"]["candidates"] if c["variant"] == "scalar"]
    assert denied["fate"] == "denied"


def test_explain_believes_what_the_user_overrides(tmp_path):
    caps = tmp_path / "caps"
    caps.write_text("# as seen in the lab\nnet_null.rx_ptype_ip4=yes\nprocess.avx512=no\n"
                    "process.avx2=no\n")
    explained = json.loads(passes("explain", "--json", "--graph=l3fwd", f"--cap-file={caps}",
                                  "--cap=port1.rx_ptype_ip4=no", vdevs=VDEVS))
    picked = {s["target"]: s["variant"] for s in explained["selections"]
              if s["family"] == "pkt_cls"}
    assert picked == {"port 0": "ptype", "port 1": "scalar"}
    ports = explained["inventory"]["ports"]
    told = [(p["capabilities"]["rx_ptype_ip4"]["origin"],
             p["capabilities"]["rx_ptype_ip4"]["reason"]) for p in ports]
    assert told == [("overridden", "the user says net_null.rx_ptype_ip4=yes"),
                    ("overridden", "the user says port1.rx_ptype_ip4=no")]


def test_l3fwd_graph_takes_overrides_too(rig):
    explained = l3fwd.explain(rig.folder, "--cap=process.avx512=no", "--cap=process.avx2=no")
    assert l3fwd.selection(explained, "ip4_lookup")["variant"] == "x4"
    assert explained["inventory"]["process"]["avx2"]["origin"] == "overridden"


def test_a_pack_is_loaded_before_anything_is_selected(pack):
    explained = json.loads(passes("explain", "--json", f"--pack={pack}", "--node=pkt_drop=keep",
                                  vdevs=[]))
    (chosen,) = [s for s in explained["selections"] if s["family"] == "pkt_drop"]
    assert chosen["variant"] == "keep"


def packs(*words):
    """What each pack brought, by the pack's name."""
    listed = json.loads(passes("packs", "--json", *words, vdevs=[]))["packs"]
    assert [p["pack"] for p in listed] == sorted({p["pack"] for p in listed})
    return {p["pack"]: p["variants"] + p["flow_drivers"] for p in listed}


def test_packs_are_those_that_were_built():
    options = json.loads(subprocess.run(
        ["meson", "introspect", "--buildoptions", l3fwd.BUILD], capture_output=True, text=True,
        check=True).stdout)
    (wanted,) = [set(o["value"]) for o in options if o["name"] == "nodes"]
    folders = {path.parent.name for path in l3fwd.ROOT.glob("drivers/nodes/*/meson.build")}
    assert len(folders) >= 4
    found = packs()
    assert set(found) == (folders if "all" in wanted else wanted | {"generic"})
    for pack, brought in found.items():
        sources = "".join(path.read_text() for path in
                          (l3fwd.ROOT / "drivers" / "nodes" / pack).rglob("*.c"))
        declared = re.findall(r"HY_(?:NODE_(?:FAMILY|VARIANT)|FLOW_DRIVER)\((\w+)", sources)
        # Some are for another CPU architecture.
        assert 1 <= len(brought) <= len(declared), (brought, declared)


def test_pack_of_a_plugin_is_listed_with_what_it_brought(pack):
    before, found = packs(), packs(f"--pack={pack}")
    assert found.pop("example") == ["ethdev_rx/fill", "ethdev_tx/retry", "ip4_lookup/once",
                                    "pkt_drop/keep", "net_pcap*"]
    assert found == before


def test_text_of_packs_says_what_json_says():
    lines = passes("packs", vdevs=[]).splitlines()
    told = {}
    for line in lines:
        if line.startswith("    "):
            told[list(told)[-1]].append(line.strip().removeprefix("flow rules of "))
        else:
            told[line] = []
    assert told == packs()
    assert len(lines) > 20


REFUSED = {
    "no command": ([], ["a command is required", "inventory", "explain"]),
    "an unknown command": (["inventry"], ["'inventry'", "inventory, explain"]),
    "options before the command": (["--json", "inventory"], ["--json", "before its own options"]),
    "an unknown option": (["inventory", "--frobnicate"], ["--frobnicate", "--help"]),
    "a word behind": (["inventory", "please"], ["'please'", "inventory"]),
    "an option of another command": (["inventory", "--graph=l3fwd"], ["--graph", "inventory"]),
    "an unknown graph": (["explain", "--graph=l2fwd"], ["--graph", "'l2fwd'", "l3fwd"]),
    "a pack of no file": (["explain", "--pack=/nonexistent.so"], ["--pack", "/nonexistent.so"]),
    "a variant of no family": (["explain", "--node=nosuch=x"], ["--node", "nosuch", "ip4_lookup"]),
    "a variant that cannot be": (["explain", "--node=ip4_lookup=x4", "--deny=ip4_lookup=x4"],
                                 ["ip4_lookup=x4", "denied"]),
    "denied by nonsense": (["explain", "--deny=ip4_lookup"], ["--deny", "FAMILY[@PORT]=VARIANT"]),
    "a malformed override": (["inventory", "--cap=port0"], ["--cap", "TARGET.CAPABILITY=LEVEL"]),
    "an override of no level": (["inventory", "--cap=port0.running=maybe"],
                                ["--cap", "'maybe'", "no, unknown, yes"]),
    "an instruction set that there is not": (["inventory", "--cap=process.simd_bits=yes:65536"],
                                             ["--cap", "lacks", "simd_bits"]),
    "overrides of no file": (["inventory", "--cap-file=/nonexistent"],
                             ["--cap-file", "/nonexistent", "No such file"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_wrong_is_named_and_nothing_printed(case):
    words, named = REFUSED[case]
    done = hal(*words)
    assert done.returncode == 1, done
    assert done.stdout == ""
    assert [word for word in named if word not in done.stderr] == [], done


def test_a_bad_line_of_overrides_is_named(tmp_path):
    caps = tmp_path / "caps"
    caps.write_text("port0.flow_mark=yes:10\n\nport0.flow_mrak=no\n")
    done = hal("inventory", f"--cap-file={caps}")
    assert done.returncode == 1
    assert ":3: 'port0.flow_mrak=no': 'flow_mrak' is not a capability of ports; accepted: " in \
        done.stderr


def test_output_that_cannot_be_written_fails():
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([HY_HAL, "inventory"], stdout=full, stderr=subprocess.PIPE,
                              text=True, check=False, timeout=l3fwd.TIMEOUT)
    assert done.returncode == 1
    assert "standard output: " in done.stderr


def test_options_in_the_book_are_those_of_the_help():
    page = (l3fwd.ROOT / "doc" / "hy-hal.rst").read_text()
    in_book = re.findall(r"(?m)^\.\. option:: +(--?[A-Za-z][A-Za-z-]*.*?) *$", page)
    in_help = re.findall(r"(?m)^  (--?[A-Za-z][A-Za-z-]*(?:, -h|\S*(?: [A-Z]\S*)?))", passes("--help"))
    assert in_book == in_help
    assert len(in_help) >= 7


def test_capabilities_in_the_book_are_those_of_the_program():
    page = (l3fwd.ROOT / "doc" / "hy-hal.rst").read_text()
    section = page.partition("\nCapabilities\n---")[2].partition("\nQuirks\n---")[0]
    in_book = re.findall(r"(?m)^   (?:\* -|  -) ``([a-z0-9_]+)``$", section)
    kinds = ["process", "port0", "event0", "event0:port0", "crypto0", "event0:crypto0", "regex0"]
    assert in_book == [name for kind in kinds for name in cap_names(kind)]
    assert len(in_book) == 51


def flows(*words, eal=(), vdevs):
    """Level, value, origin and reason of what each port's flow engine can do."""
    command = [HY_HAL, *EAL, *eal, *(f"--vdev={name}" for name in vdevs), "--", "inventory",
               "--json", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          timeout=l3fwd.TIMEOUT)
    assert done.returncode == 0, done
    ports = json.loads(done.stdout)["inventory"]["ports"]
    assert len(ports) == len(vdevs), ports
    return [[port["capabilities"][name] for name in ("flow_mark", "flow_priority")]
            for port in ports]


def test_flow_rules_are_not_tried_unasked():
    for cap in flows(vdevs=["net_null0"])[0]:
        assert (cap["level"], cap["reason"]) == (
            "unknown", "not tried: it needs a port that is started"), cap


def test_port_without_a_flow_engine_is_tried_and_takes_no_rules():
    mark, priority = flows("--try-flows", vdevs=["net_null0"])[0]
    assert (mark["level"], mark["origin"]) == (priority["level"], "probed") == ("no", "probed")
    assert mark["reason"].startswith("rte_flow takes no rule that marks: "), mark


def simulated_driver(folder):
    """EAL options that load simulated NICs."""
    simulated = l3fwd.BUILD / "app" / "sim" / "halyard-simnic.so"
    if not simulated.exists():
        pytest.skip("simulated devices were not built")
    driver = folder / "simnic.so"  # EAL loads none from below a folder like /tmp
    shutil.copy(simulated, driver)
    return ["-d", str(driver)]


def test_flow_rules_that_ports_take_are_found_by_trying(folder):
    names = ["sim_cn10k0", "sim_mlx5_0", "sim_ice0", "sim_iavf0", "sim_i40e0"]
    found = flows("--try-flows", eal=simulated_driver(folder), vdevs=names)
    assert [mark["level"] for mark, _ in found] == ["yes"] * 5, found
    assert [mark["value"] for mark, _ in found] == [0xfffd, 0xffffef, 2**32 - 2, 2**32 - 2, 2**32 - 1]
    assert [priority["level"] for _, priority in found] == ["yes", "yes", "no", "no", "no"], found


def test_kinds_of_rules_that_ports_take_are_said_in_words(folder):
    command = [HY_HAL, *EAL, *simulated_driver(folder), "--vdev=sim_cn10k0", "--vdev=sim_mlx5_0",
               "--", "inventory", "--try-flows"]
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          timeout=l3fwd.TIMEOUT)
    assert done.returncode == 0, done
    narrow, wide = done.stdout.split("flow rules of port ")[1:]
    assert ("takes 32 of 41 kinds of rules, 13 of them with marks checked in software; 7 rules "
            "at once with several queues\n") in narrow, narrow
    assert ("    the port does not compare VXLAN network identifiers: VXLAN\n") in narrow, narrow
    assert "VXLAN" not in wide and "    a range of ports: UDP, range of ports\n" in wide, wide
    kinds = re.findall(r"takes (\d+) of 41 kinds", wide)
    assert [int(n) for n in kinds] == [41 - wide.count(": ") - wide.count("; ")], wide


def test_port_that_takes_rules_by_templates_only_is_tried_by_them(folder):
    found = flows("--try-flows", eal=simulated_driver(folder), vdevs=["sim_hws0", "sim_mlx50"])
    assert [(mark["level"], mark["value"]) for mark, _ in found] == [("yes", 0xffffef)] * 2, found
    assert [mark["reason"].split(" took ")[0] for mark, _ in found] == [
        "rte_flow templates", "rte_flow"], found


def test_explanation_picks_what_a_program_will_that_plans_its_ports(folder):
    if "octeontx2" not in packs():
        pytest.skip("the pack with ethdev_rx/npa was not built")
    command = [HY_HAL, *EAL, *simulated_driver(folder), "--vdev=sim_cn10k0", "--", "explain",
               "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          timeout=l3fwd.TIMEOUT)
    assert done.returncode == 0, done
    receive = l3fwd.selection(json.loads(done.stdout), "ethdev_rx")
    fates = {c["variant"]: c["fate"] for c in receive["candidates"]}
    assert fates == {"npa": "chosen", "poll": "outscored", "parked": "needs_unmet"}


def test_eal_options_without_a_command_are_told_where_it_goes():
    done = subprocess.run([HY_HAL, "-a", "0000:03:00.0"], capture_output=True, text=True,
                          check=False, timeout=l3fwd.TIMEOUT)
    assert done.returncode == 1, done
    assert done.stderr.startswith("hy-hal: -a: the command comes after EAL's options and --, and "
                                  "before its own options; the commands are: inventory,"), done
