/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of ip4_lookup other than the scalar one. */
#pragma once

#include <hy_ip4_lookup.h>

hy_ip4_lookup_kernel_t hy_ip4_lookup_x4;  /* rte_lpm */
hy_ip4_lookup_kernel_t hy_ip4_lookup_fib; /* rte_fib */
#ifdef RTE_ARCH_X86_64
hy_ip4_lookup_kernel_t hy_ip4_lookup_avx2, hy_ip4_lookup_avx512; /* rte_lpm */
hy_ip4_lookup_kernel_t hy_ip4_lookup_fib_avx512;                 /* rte_fib */
#elif defined(RTE_ARCH_ARM64)
hy_ip4_lookup_kernel_t hy_ip4_lookup_neon; /* rte_lpm */
#endif

/* A kernel that returns 0 if no address was without a route. */
typedef uint32_t(ip4_lookup_missing_t)(const struct hy_ip4_view *view, uint32_t route[],
	uint16_t next[], uint32_t n);

/* hy_ip4_lookup_scalar(), for the last addresses of a burst. */
ip4_lookup_missing_t ip4_lookup_singly;

/* Process function of a variant: hands the stream on whole if nothing missed. */
static __rte_always_inline uint16_t
ip4_lookup_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n,
	ip4_lookup_missing_t *kernel)
{
	const struct hy_ip4_lookup_ctx *ctx = node->ctx;
	uint16_t next[HY_BURST_MAX];

	if (likely(kernel(ctx->view, hy_lane(graph, node, HY_IP4_LOOKUP_LANE_ROUTE), next, n) == 0))
		hy_stream_move(graph, node, HY_IP4_LOOKUP_NEXT_REWRITE, n);
	else
		hy_enqueue_next(graph, node, next, objs, n);
	return n;
}
