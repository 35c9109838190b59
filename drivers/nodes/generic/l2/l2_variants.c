/* SPDX-License-Identifier: BSD-3-Clause */
/* The variants of l2_learn and l2_lookup, by the kernels of the forwarding table. */

#include "drivers/nodes/generic/l2_table/l2_find.h"

#include "l2_learn.h"
#include "l2_lookup.h"

/* The process functions of an ISA, whose kernel is hy_l2_find_ISA. */
#define PROCESS(isa_) \
	static uint16_t learn_##isa_(struct hy_graph *graph, struct hy_node *node, void **objs, \
		uint16_t n) \
	{ \
		return l2_learn_process(graph, node, objs, n, hy_l2_find_##isa_); \
	} \
\
	static uint16_t lookup_##isa_(struct hy_graph *graph, struct hy_node *node, void **objs, \
		uint16_t n) \
	{ \
		return l2_lookup_process(graph, node, objs, n, hy_l2_find_##isa_); \
	}

#ifdef RTE_ARCH_X86_64

PROCESS(avx2)
PROCESS(avx512)

HY_NODE_VARIANT(l2_learn, avx2,
	.text = "Compares four words of the forwarding table at a time",
	.impl.process = learn_avx2,
	.needs = { { .cap = HY_CAP_AVX2 }, { .cap = HY_CAP_SIMD_BITS, .at_least = 256 } },
	.score = 20);

HY_NODE_VARIANT(l2_lookup, avx2,
	.text = "Compares four words of the forwarding table at a time",
	.impl.process = lookup_avx2,
	.needs = { { .cap = HY_CAP_AVX2 }, { .cap = HY_CAP_SIMD_BITS, .at_least = 256 } },
	.score = 20);

HY_NODE_VARIANT(l2_learn, avx512,
	.text = "Compares eight words of the forwarding table at a time",
	.impl.process = learn_avx512,
	.needs = { { .cap = HY_CAP_AVX512 }, { .cap = HY_CAP_SIMD_BITS, .at_least = 512 } },
	.score = 30);

HY_NODE_VARIANT(l2_lookup, avx512,
	.text = "Compares eight words of the forwarding table at a time",
	.impl.process = lookup_avx512,
	.needs = { { .cap = HY_CAP_AVX512 }, { .cap = HY_CAP_SIMD_BITS, .at_least = 512 } },
	.score = 30);

#elif defined(RTE_ARCH_ARM64)

PROCESS(neon)

HY_NODE_VARIANT(l2_learn, neon,
	.text = "Compares two words of the forwarding table at a time",
	.impl.process = learn_neon,
	.needs = { { .cap = HY_CAP_NEON }, { .cap = HY_CAP_SIMD_BITS, .at_least = 128 } },
	.score = 20);

HY_NODE_VARIANT(l2_lookup, neon,
	.text = "Compares two words of the forwarding table at a time",
	.impl.process = lookup_neon,
	.needs = { { .cap = HY_CAP_NEON }, { .cap = HY_CAP_SIMD_BITS, .at_least = 128 } },
	.score = 20);

#endif
