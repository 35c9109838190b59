# SPDX-License-Identifier: BSD-3-Clause
"""hy-hal selftest: every variant of this machine conforms and is measured; each mutant is found and
named; the pack from outside the tree wins its selection and conforms."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import l3fwd
import test_plugin
from frames import traffic
from l3fwd import SILENT

HY_HAL = l3fwd.BUILD / "app" / "hy-hal" / "hy-hal"
MUTANTS = l3fwd.BUILD / "app" / "test" / "hy-test-mutants.so"
EAL = ["--no-huge", "-m", "512", "--no-pci", "--no-shconf", "--no-telemetry"]
CASES = 10000
TIMEOUT = 2400  # all variants, as another CPU, on a busy machine

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("selftest")]
installed = test_plugin.installed
folder = test_plugin.folder
pack = test_plugin.pack


def selftest(*words, eal=(), **env):
    """Runs the selftest; with EAL arguments too, if there are any."""
    before = [*EAL, *eal, "--"] if eal else []
    return subprocess.run([*l3fwd.UNDER, HY_HAL, *before, "selftest", *map(str, words)],
                          capture_output=True, text=True, check=False, timeout=TIMEOUT,
                          env={**os.environ, **{k: str(v) for k, v in env.items()}})


def variants(*words, code=0, **options):
    """What it says of each variant, by (family, variant)."""
    done = selftest("--json", *words, **options)
    assert done.returncode == code, f"{done.stdout}\n{done.stderr}"  # whole: pytest cuts the rest
    said = json.loads(done.stdout)
    assert said["passed"] == (code == 0)
    found = {(v["family"], v["variant"]): v for v in said["variants"]}
    assert len(found) == len(said["variants"]) > 0
    return found


def tx_variants(run):
    """The variants of all ethdev_tx nodes that l3fwd-graph ran."""
    return {node["variant"] for node in run.stats["nodes"] if node["family"] == "ethdev_tx"}


@pytest.fixture(scope="module")
def mutants(folder):
    return shutil.copy(MUTANTS, folder / "mutants.so")


@pytest.fixture(scope="module")
def all_variants():
    """All that it says; also left in the file that HALYARD_SELFTEST names."""
    found = variants()
    if "HALYARD_SELFTEST" in os.environ:
        said = {"variants": list(found.values())}
        Path(os.environ["HALYARD_SELFTEST"]).write_text(json.dumps(said, indent=1))
    return found


def test_every_family_is_tried_with_enough_cases(rig, all_variants):
    explained = l3fwd.explain(rig.folder)
    families = {s["family"] for s in explained["selections"]}
    assert {family for family, _ in all_variants} >= families >= {"ethdev_rx", "ethdev_tx",
                                                                  "ip4_lookup", "pkt_cls"}
    for selection in explained["selections"]:
        for candidate in selection["candidates"]:
            tried = all_variants[selection["family"], candidate["variant"]]
            assert tried["outcome"] in ("passed", "skipped"), tried
    ran = [v for v in all_variants.values() if v["outcome"] == "passed"]
    assert len(ran) >= 9
    for v in ran:
        assert v["cases"] >= CASES and v["frames"] > 400_000 and v["text"] == "", v
    for v in all_variants.values():
        assert v["outcome"] == "passed" or (v["cases"] == 0 and v["text"]), v


def test_every_variant_is_measured_beside_its_reference(all_variants):
    ran = [v for v in all_variants.values() if v["outcome"] == "passed"]
    for v in ran:
        assert v["packets"] == v["rounds"] * 24 * 64 > 40_000, v
        assert v["clocks"] > 0 and v["reference_clocks"] > 0, v
        assert 0 < v["ratio"] < 100, v
    assert sum(v["selected_for"] == "process" for v in ran) >= 2


def test_text_and_exit_code_say_the_same(all_variants):
    done = selftest("--family", "null")
    assert done.returncode == 0, done
    assert re.search(r"^null +scalar +generic +10000 +\d+  passed$", done.stdout, re.M), done
    assert "\n1 variants: 1 passed, 0 skipped, 0 failed\n" in done.stdout
    assert all_variants["null", "scalar"]["outcome"] == "passed"


def test_what_the_cpu_lacks_is_skipped_with_its_reason():
    tried = variants("--family=pkt_cls", "--family=ip4_lookup",
                     eal=["--force-max-simd-bitwidth=64"])
    for (family, variant), v in tried.items():
        if "avx" in variant or variant == "neon":
            assert v["outcome"] == "skipped" and v["text"].startswith("needs "), v
        else:
            assert v["outcome"] == "passed", (family, v)
    assert sum(v["outcome"] == "skipped" for v in tried.values()) >= 1


FREED = (r"burst \d+ .*, packet \d+ .*: was freed; a node hands packets on, or calls "
         r"hy_release\(\)")
LATE = ("pkt_cls", "late")  # wrong only in its 100,000th burst

# Mutant: what must be said of it.
MUTATIONS = {
    ("ip4_rewrite", "no_carry"): r"burst \d+ .*, packet \d+ .*: byte 2[45] is 0x\w\w, expected "
                                 r"0x\w\w",
    ("ip4_rewrite", "swapped"): r"burst 18 \(17 packets\), packet \d+ \(.*\): got edge [01], "
                                r"expected edge [01]",
    ("pkt_cls", "one_past"): r"burst \d+ .*, packet \d+ \(60 bytes, 1 segment\): touched byte 1 "
                             r"past the end of its frame",
    ("pkt_cls", "one_short"): r"burst \d+ \(\d+ packets?\): drop truncated counted -?\d+, "
                              r"expected \d+",
    ("pkt_cls", "other_reason"): r"burst \d+ .*: drop bad_(header|checksum) counted \d+, "
                                 r"expected \d+",
    ("pkt_cls", "frees"): FREED,
    ("pkt_cls", "frees_and_sends"): FREED,
    ("pkt_cls", "puts"): r"burst \d+ .*: \d+ put directly into the pool, without a free or "
                         r"a release",
    ("pkt_cls", "holds"): r"burst \d+ \(30 packets\), packet 15 .*: is held by another reference "
                          r"after the burst",
    ("pkt_cls", "keeps"): r"burst \d+ \(40 packets\), packet 39 .*: got nothing, expected .*",
    ("pkt_cls", "reorders"): r"burst \d+ .*: came as number \d+ to edge 0 \(ip4_lookup\), expected "
                             r"as number \d+",
    ("pkt_cls", "beyond"): r"burst \d+ .*, packet \d+ .*: wrote to byte 1 behind its segment 0",
    ("ip4_lookup", "forwards"): r"burst \d+ .*, packet \d+ .*: got edge 0 \(ip4_rewrite\), expected "
                                r"a drop",
    ("ip4_lookup", "cached"): r"burst \d+ .*, packet \d+ .*: (got .*, expected .*|lane ip4_route is "
                              r"0x\w+, expected 0x\w+)",
    ("ip4_lookup", "edits"): r"burst \d+ .*, packet \d+ .*: byte 22 is 0x\w\w, expected 0x\w\w",
    ("ip4_forward", "masked"): r"burst \d+ .*, packet \d+ .*: (the fusion gave it ip4_rewrite: edge "
                               r"\d, expected ip4_rewrite: edge \d|the fusion handled \d+ of \d+ "
                               r"packets, and .*: expected .*|byte \d+ is 0x\w\w, expected 0x\w\w)",
    ("ip4_forward", "greedy"): r"burst \d+ .*, packet \d+ .*: the fusion handled \d+ of \d+ packets, "
                               r"and this one, which gets a drop, with them: expected no more than "
                               r"\d+",
    ("ip4_forward", "resting"): r"never ran: the fusion handled none of \d+ packets that pass: it "
                                r"rests",
    ("ip6_lookup", "uncounted"): r"burst \d+ \(33 packets\): counter hop_by_hop counted \d+, "
                                 r"expected \d+",
    ("ip6_lookup", "half"): r"burst \d+ .*, packet \d+ .*: (got .*, expected .*|lane ip4_route is "
                            r"0x\w+, expected 0x\w+)",
    ("ip6_rewrite", "as_ip4"): r"burst \d+ .*, packet \d+ .*: byte 1[23] is 0x\w\w, expected "
                               r"0x\w\w",
    ("ip6_rewrite", "parts_fragments"): r"burst \d+ .*, packet \d+ .*: (got edge \d.*, expected .*|got "
                                        r"a drop, expected .*|byte \d+ is 0x\w\w, expected 0x\w\w)",
    ("pkt_cls", "only_ip4"): r"burst \d+ .*, packet \d+ .*: got a drop, expected edge 1",
    ("pkt_cls", "always_on"): r"burst \d+ .*: got edge 1.*, expected a drop",
    ("vlan_push", "overruns"): r"burst \d+ .*, packet \d+ .*: (got edge 0.*, expected a drop|touched "
                               r"byte \d+ past the end of its (frame|segment))",
    ("vlan_push", "only_in_front"): r"burst \d+ .*, packet \d+ .*: got a drop, expected edge 0.*",
    ("pkt_cls", "stray"): r"burst \d+ .*: Segmentation fault at address 0x\w+, in no packet's guard "
                          r"page",
}


# Their other variants are tried by all_variants.
MUTANT_VARIANTS = [f"--variant={family}/{name}" for family, name in MUTATIONS]
SCALAR = [f"--variant={family}/scalar" for family in sorted({family for family, _ in MUTATIONS})]


def test_each_mutant_is_found_and_named_and_nothing_else(mutants):
    tried = variants(*MUTANT_VARIANTS, *SCALAR, f"--pack={mutants}", code=1)
    assert len(tried) == len(MUTATIONS) + 7
    assert {key for key, v in tried.items() if v["outcome"] == "failed"} == set(MUTATIONS)
    for key, sentence in MUTATIONS.items():
        assert re.fullmatch(sentence, tried[key]["text"]), tried[key]
        assert tried[key]["pack"] == "mutants"
        assert "clocks" not in tried[key]
        assert (tried[key]["frame"] == "") == (
            key[1] in ("one_short", "other_reason", "puts", "resting", "stray", "uncounted")), tried[key]
    for key, v in tried.items():
        assert key in MUTATIONS or v["cases"] >= CASES or v["outcome"] == "skipped", v


def test_fault_at_the_100000th_call_is_found_by_a_long_run(mutants):
    """A run of usual length does not get there."""
    short = variants("--variant=pkt_cls/late", f"--pack={mutants}")
    assert list(short) == [LATE] and short[LATE]["outcome"] == "passed", short
    long = variants("--variant=pkt_cls/late", "--packets=6000000", f"--pack={mutants}", code=1)
    assert re.fullmatch(r"burst \d{5,} .*: got .*, expected .*", long[LATE]["text"]), long
    assert 1_000_000 < long[LATE]["frames"] < 6_000_000, long


def test_packets_are_at_least_as_many_as_asked_for():
    tried = variants("--variant", "null/scalar", "--variant=ip4_lookup/scalar", "--packets=900000")
    assert {key for key in tried} == {("null", "scalar"), ("ip4_lookup", "scalar")}
    for v in tried.values():
        assert 900_000 <= v["frames"] < 901_000 and v["cases"] > CASES, v


def test_every_outcome_of_every_family_is_reached_and_counted(all_variants):
    for v in all_variants.values():
        if v["outcome"] == "skipped":
            continue
        excused = {e["outcome"] for e in v["excused"]}
        assert v["outcomes"] and excused <= set(v["outcomes"]), v
        for outcome, packets in v["outcomes"].items():
            assert (packets == 0) == (outcome in excused), (outcome, v)
        assert sum(v["outcomes"].values()) == v["frames"], v
        tables = v["family"] in ("flow_cls", "flow_lookup", "ip4_forward", "ip4_lookup",
                                 "ip4_rewrite", "ip6_forward", "ip6_lookup", "ip6_rewrite",
                                 "l2_forward", "l2_learn", "l2_lookup", "pkt_cls")
        assert (v["changes"] > 15) == tables, v
    assert all(e["reason"] for v in all_variants.values() for e in v["excused"])
    assert all_variants["ip4_lookup", "scalar"]["outcomes"]["drop no_route"] > 100_000


def test_fusions_are_tried_and_measured_or_say_what_the_cpu_lacks(all_variants):
    """l2_forward takes every frame; the others leave some to the nodes that they stand for."""
    fusions = {key: v for key, v in all_variants.items() if v["fusion"]}
    assert {family for family, _ in fusions} == {"ip4_forward", "ip6_forward", "l2_forward"}
    assert fusions["ip4_forward", "scalar"]["outcome"] == "passed"
    assert fusions["ip6_forward", "scalar"]["outcome"] == "passed"
    assert fusions["ip6_forward", "batch"]["outcome"] == "passed"
    for (family, variant), v in fusions.items():
        if v["outcome"] == "skipped":
            assert re.match(f"needs (simd_bits|{variant})[ :]", v["text"]), v
            continue
        fused = v["fused"]
        assert v["outcome"] == "passed" and v["clocks"] > 0 and not v["reference"], v
        assert fused["passing"] >= fused["handled"] > v["frames"] / 4, v
        assert min(fused["whole"], fused["stopped"]) > 100, v
        if family == "l2_forward":
            assert fused["handled"] == fused["passing"] and not fused["fewer"] + len(fused["why"])
        else:
            assert fused["fewer"] > 100 and fused["why"], v
        excused = {e["outcome"] for e in v["excused"]}
        assert all(n > 100 for o, n in v["outcomes"].items() if o not in excused), v
    assert not any("fused" in v for v in all_variants.values() if not v["fusion"])


def test_one_fusion_is_named_like_a_variant():
    done = selftest("--variant=ip4_forward/scalar")
    assert done.returncode == 0, done
    assert re.search(r"^ip4_forward +scalar +generic +10000 +\d+  passed$", done.stdout, re.M), done
    assert re.search(r"^ +fused \d+ of \d+ packets that pass: in \d+ calls all, in \d+ those before "
                     r"one that does not pass, in \d+ fewer, as when a packet has several segments$",
                     done.stdout, re.M), done
    assert "\n1 variants: 1 passed, 0 skipped, 0 failed\n" in done.stdout


def test_text_tells_the_outcomes():
    done = selftest("--variant=ethdev_tx/own_queue")
    assert re.search(r"^ +drop tx_full: \d+, drop port_down: 0 \(only the variant .*\), "
                     r"sent out: \d+$", done.stdout, re.M), done


@pytest.mark.parametrize("words, message", {
    ("--variant=pkt_cls",): "no variant 'pkt_cls'; there are: ethdev_rx/",
    ("--variant=pkt_cls/nosuch",): "no variant 'pkt_cls/nosuch'; there are: ",
    ("--packets=0",): "--packets: '0' is not a number from 1 to 100000000000",
    ("--packets=1k",): "--packets: '1k' is not a number from 1 to 100000000000",
}.items())
def test_bad_options_are_refused_by_name(words, message):
    done = selftest(*words)
    assert done.returncode == 1 and message in done.stderr and done.stdout == "", done


@pytest.mark.parametrize("seed", [2, 3, 4])
def test_mutants_are_found_whatever_the_seed(mutants, seed):
    done = selftest(*MUTANT_VARIANTS, f"--seed={seed}", HALYARD_PACKS=mutants)
    assert done.returncode == 1, done
    named = re.findall(r"^hy-hal: selftest: (\w+)/(\w+) of pack mutants: (?:burst|never ran)",
                       done.stderr, re.M)
    assert set(named) == set(MUTATIONS), done


def test_captures_are_sent_too(captures):
    assert captures
    tried = variants("--family=pkt_cls", f"--pcap={captures[0].parent}")
    for v in tried.values():
        if v["outcome"] == "passed":
            assert v["captured"] > v["frames"] / 6, v


REFUSED = {
    ("--family=nosuch",): "hy-hal: --family: no family 'nosuch'; there are: ethdev_rx, ethdev_tx, "
                          "event_rx, flow_cls, flow_lookup, flow_reinject, ip4_lookup, ip4_rewrite, "
                          "ip4_steer, ip6_lookup, ip6_rewrite, l2_input, l2_learn, l2_lookup, l2_output, l2_patch, null, "
                          "pkt_cls, pkt_drop, vlan_input, vlan_pop, vlan_push, ip4_forward, "
                          "ip6_forward, l2_forward",
    ("--pcap=/nonexistent",): "hy-hal: --pcap: there is no /nonexistent/*.pcap",
    ("--seed=-1",): "hy-hal: --seed: '-1' is not a number from 0 to 18446744073709551615",
    ("--graph=l3fwd",): "hy-hal: --graph: not an option of selftest",
}


@pytest.mark.parametrize("words", REFUSED, ids=lambda words: words[0][2:])
def test_bad_options_are_refused(words):
    done = selftest(*words)
    assert done.returncode == 1 and done.stdout == "", done
    assert done.stderr.splitlines()[-1] == REFUSED[words], done


def test_pack_from_outside_the_tree_wins_and_conforms(rig, pack):
    tried = variants("--family=ethdev_tx", f"--pack={pack}", eal=["--vdev=net_null0"])
    assert tried["ethdev_tx", "retry"]["outcome"] == "passed"
    assert tried["ethdev_tx", "retry"]["selected_for"] == "port 0"
    assert tried["ethdev_tx", "own_queue"]["selected_for"] == ""
    run = rig.forward([[traffic("198.18.1.1")], SILENT], f"--pack={pack}")
    assert tx_variants(run) == {"retry"}, run
    assert run.stats["totals"] == {"rx": 100, "copied": 0, "tx": 100, "dropped": 0}


def test_environment_names_packs(rig, pack, monkeypatch, folder):
    monkeypatch.setenv("HALYARD_PACKS", f":{pack}:")
    run = rig.forward([[traffic("198.18.1.1")], SILENT])
    assert tx_variants(run) == {"retry"}, run
    monkeypatch.setenv("HALYARD_PACKS", f"{pack}:{folder}/nosuch.so")
    run = rig.forward([[traffic("198.18.1.1")], SILENT])
    assert run.code == 1 and run.wrote_packets() == [], run
    assert (f"l3fwd-graph: HALYARD_PACKS: '{folder}/nosuch.so': No such file or directory"
            in run.stderr.splitlines()), run
    done = selftest("--family=ethdev_tx")
    assert done.returncode == 1 and done.stdout == "", done
    assert (f"hy-hal: HALYARD_PACKS: '{folder}/nosuch.so': No such file or directory"
            in done.stderr.splitlines()), done
