# SPDX-License-Identifier: BSD-3-Clause
"""One binary on older x86 CPUs: under qemu it picks what such a CPU has, forwards as the oracle
says, and never faults on an instruction of a newer one."""

import json
import os
import platform
import shutil
import subprocess

import pytest

import frames
import l3fwd
import oracle
import pcapfile
import test_install
from l3fwd import SILENT
from test_selftest import CASES, EAL, HY_HAL

pytestmark = pytest.mark.slow

QEMU = "qemu-x86_64-static"
# CPU: the variants that l3fwd-graph picks there, and those that it must not touch.
CPUS = {
    "Nehalem": ({"ip4_lookup": "x4", "pkt_cls": "scalar"}, ("avx2", "avx512")),
    "Haswell": ({"ip4_lookup": "avx2", "pkt_cls": "avx2"}, ("avx512",)),
}
LACKS = {"avx2": "the CPU lacks AVX2", "avx512": "the CPU lacks AVX512F"}


@pytest.fixture(autouse=True)
def machine():
    if platform.machine() != "x86_64" or l3fwd.UNDER:
        pytest.skip("these are programs of another CPU")
    if not shutil.which(QEMU):
        pytest.skip(f"there is no {QEMU}")
    if test_install.sanitizer():
        pytest.skip("sanitizers do not run under qemu")


@pytest.fixture(params=CPUS)
def cpu(request):
    return request.param


def under(cpu):
    return [QEMU, "-cpu", cpu]


def forward(rig, cpu, records, *app):
    """Forwards frames of one port on a CPU."""
    return rig.finish(rig.start(
        [*l3fwd.options(3, [(port, 0, 1) for port in range(3)]), *rig.until_idle(), *app],
        rig.vdevs([[records], SILENT, SILENT]), under=under(cpu)))


def selftest(cpu, family):
    """What hy-hal says of the variants of a family, on a CPU. On a newer CPU than the oldest,
    only of those that the oldest lacks."""
    oldest, *_ = CPUS
    words = [f"--variant={family}/{c['variant']}" for c in l3fwd.candidates(family)
             if cpu == oldest or c["variant"].endswith(CPUS[oldest][1])]
    done = subprocess.run([*under(cpu), HY_HAL, *EAL, "--", "selftest", "--json", *words],
                          capture_output=True, text=True, check=False, timeout=600)
    assert done.returncode == 0, done
    return {v["variant"]: v for v in json.loads(done.stdout)["variants"]}


def test_cpu_picks_what_it_has_and_forwards_as_the_oracle_says(rig, cpu):
    picks, _ = CPUS[cpu]
    records = [frame.data for frame in frames.generate(11)][:2000]
    run = forward(rig, cpu, records, rig.routes(frames.ROUTES))
    expected = oracle.forward(records, frames.ROUTES, run.macs)
    assert run.assert_agrees(expected) == len(records) == 2000
    for family, variant in picks.items():
        assert {n["variant"] for n in run.stats["nodes"] if n["family"] == family} == {variant}


def test_cpu_forwards_captures_as_the_oracle_says(rig, cpu, captures):
    """The three longest of those that a run takes a moment for."""
    few = sorted((path for path in captures if path.stat().st_size < 200_000),
                 key=lambda path: path.stat().st_size)[-3:]
    records = [record for path in few for record in pcapfile.read(path)]
    run = forward(rig, cpu, records, rig.routes(frames.ROUTES), "--max-pkt-len=9600")
    expected = oracle.forward(records, frames.ROUTES, run.macs, 9600)
    assert run.assert_agrees(expected) == len(records) > 100


@pytest.mark.parametrize("family", ["ip4_lookup", "pkt_cls"])
def test_variants_that_a_cpu_has_conform_and_others_say_what_it_lacks(cpu, family):
    tried = selftest(cpu, family)
    picks, absent = CPUS[cpu]
    assert tried[picks[family]]["outcome"] == "passed"
    for variant, v in tried.items():
        lacks = [name for name in absent if variant.endswith(name)]
        if lacks:
            text = f"needs {lacks[0]}: {LACKS[lacks[0]]}"
            assert (v["outcome"], v["text"]) == ("skipped", text), v
        else:
            assert v["outcome"] == "passed" and v["cases"] >= CASES, v


def test_variant_that_a_cpu_lacks_is_refused_when_it_is_forced(rig, cpu):
    for variant in CPUS[cpu][1]:
        run = forward(rig, cpu, [], f"--node=ip4_lookup={variant}")
        assert run.code == 1 and run.wrote_packets() == [], run
        assert (f"ip4_lookup={variant} cannot be used for process: needs {variant}: no "
                f"({LACKS[variant]})") in run.stderr, run


def test_a_cpu_that_lacks_an_instruction_faults_on_it(tmp_path):
    """The control: without this, the tests above would prove nothing."""
    source = tmp_path / "avx2.c"
    source.write_text("#include <immintrin.h>\n"
                      "int main(int argc, char **argv)\n{\n(void)argv;\n"
                      "__m256i v = _mm256_add_epi32(_mm256_set1_epi32(argc), "
                      "_mm256_set1_epi32(1));\n"
                      "return _mm256_extract_epi32(v, 3) - 2;\n}\n")
    program = tmp_path / "avx2"
    subprocess.run([os.environ.get("CC", "cc"), "-mavx2", source, "-o", program], check=True)
    assert subprocess.run([*under("Haswell"), program], check=False).returncode == 0
    assert subprocess.run([*under("Nehalem"), program], check=False).returncode == -4  # SIGILL
