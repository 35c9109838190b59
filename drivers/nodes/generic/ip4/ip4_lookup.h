/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The contract of the family ip4_lookup, and the body that its variants share: they differ in the
 * kernel only. Lane: destination address in, next-hop id out. The node never touches a packet.
 */
#ifndef HY_IP4_LOOKUP_H
#define HY_IP4_LOOKUP_H

#include <hy_node.h>

#include "ip4_fib.h"

enum ip4_lookup_next { IP4_LOOKUP_NEXT_REWRITE };
enum ip4_lookup_drop { IP4_LOOKUP_NO_ROUTE };
enum ip4_lookup_lane { IP4_LOOKUP_LANE_ROUTE };

/* An LPM entry's next hop. */
#define IP4_LOOKUP_ID_MASK 0x00ffffff

struct ip4_lookup_ctx {
	struct hy_ip4_fib *fib;
};

/* init() for variants that read tables of an engine, and fini() for all. */
int ip4_lookup_init_for(const struct hy_graph *graph, struct hy_node *node, const void *config,
	enum hy_ip4_engine engine);
void ip4_lookup_fini(const struct hy_graph *graph, struct hy_node *node);

/*
 * A kernel. Pure: no graph, no packet.
 *
 * route: n destination addresses in host byte order in, next-hop ids out; 0 without a route.
 * next: IP4_LOOKUP_NEXT_REWRITE or HY_DROP(IP4_LOOKUP_NO_ROUTE) each.
 */
typedef void(ip4_lookup_kernel)(const struct hy_ip4_fib *fib, uint32_t route[], uint16_t next[],
	uint32_t n);

/* The first and second read rte_lpm, as those below do; the third reads rte_fib. */
ip4_lookup_kernel hy_ip4_lookup_scalar, hy_ip4_lookup_x4, hy_ip4_lookup_fib;
#ifdef RTE_ARCH_X86_64
ip4_lookup_kernel hy_ip4_lookup_avx2;
ip4_lookup_kernel hy_ip4_lookup_avx512;
ip4_lookup_kernel hy_ip4_lookup_fib_avx512; /* rte_fib */
#endif

static __rte_always_inline uint16_t
ip4_lookup_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n,
	ip4_lookup_kernel *kernel)
{
	const struct ip4_lookup_ctx *ctx = node->ctx;
	uint16_t next[HY_BURST_MAX];

	kernel(ctx->fib, hy_lane(graph, node, IP4_LOOKUP_LANE_ROUTE), next, n);
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

#endif
