/* SPDX-License-Identifier: BSD-3-Clause */
/* What the process can do: the CPU, and the vector width that EAL lets libraries use. */

#include <errno.h>
#include <string.h>

#include <rte_cpuflags.h>
#include <rte_vect.h>

#include "hal/internal/hal.h"

/* Sets a capability that the CPU has if it has all of the flags. */
static void
cap_from_flags(struct hy_capability *cap, const enum rte_cpu_flag_t flags[], unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if (rte_cpu_get_flag_enabled(flags[i]) <= 0) {
			hy_cap_fill(cap, HY_LEVEL_NO, 0, "the CPU lacks %s",
				rte_cpu_get_flag_name(flags[i]));
			return;
		}
	}
	hy_cap_fill(cap, HY_LEVEL_YES, 0, "the CPU has it");
}

/* Raises EAL's vector width to the widest of the CPU. EAL refuses if the user has set it. */
static void
simd_width_raise(struct hy_capability *cap, uint16_t widest)
{
	const int rc = rte_vect_set_max_simd_bitwidth(widest);
	const uint16_t bits = rte_vect_get_max_simd_bitwidth();

	if (rc == -EPERM)
		hy_cap_fill(cap, HY_LEVEL_YES, bits, "limited by --force-max-simd-bitwidth=%u",
			bits);
	else if (rc < 0)
		hy_cap_fill(cap, HY_LEVEL_YES, bits, "EAL refuses %u bits: %s", widest,
			strerror(-rc));
	else
		hy_cap_fill(cap, HY_LEVEL_YES, bits,
			bits == RTE_VECT_SIMD_MAX ? "no limit" : "the widest that the CPU has");
}

void
hy_probe_process(struct hy_hal *hal)
{
	const struct hy_target process = { .kind = HY_TARGET_PROCESS };
	struct hy_capability *caps = hal->process.caps;
	uint16_t widest = RTE_VECT_SIMD_128;

	hy_device_blank(&hal->process, process);
	for (int c = HY_CAP_NONE + 1; c < HY_CAPS; c++)
		if (hy_cap_concerns(HY_TARGET_PROCESS, c))
			hy_cap_fill(&caps[c], HY_LEVEL_NO, 0, "not on this CPU architecture");
#if defined(RTE_ARCH_X86_64)
	static const enum rte_cpu_flag_t avx2[] = { RTE_CPUFLAG_AVX2 };
	static const enum rte_cpu_flag_t avx512[] = { RTE_CPUFLAG_AVX512F, RTE_CPUFLAG_AVX512BW,
		RTE_CPUFLAG_AVX512DQ, RTE_CPUFLAG_AVX512VL };

	cap_from_flags(&caps[HY_CAP_AVX2], avx2, RTE_DIM(avx2));
	cap_from_flags(&caps[HY_CAP_AVX512], avx512, RTE_DIM(avx512));
	if (caps[HY_CAP_AVX2].level == HY_LEVEL_YES)
		widest = RTE_VECT_SIMD_256;
	if (caps[HY_CAP_AVX512].level == HY_LEVEL_YES)
		widest = RTE_VECT_SIMD_512;
#elif defined(RTE_ARCH_ARM64)
	static const enum rte_cpu_flag_t neon[] = { RTE_CPUFLAG_NEON };

	cap_from_flags(&caps[HY_CAP_NEON], neon, RTE_DIM(neon));
	widest = RTE_VECT_SIMD_MAX; /* EAL's default here: the width of SVE depends on the CPU */
#endif
	simd_width_raise(&caps[HY_CAP_SIMD_BITS], widest);
	memcpy(hal->cpu, caps, sizeof(hal->cpu));
}
