/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The contract of the family ip4_lookup, for its variants: destination address to next hop, by
 * longest prefix match.
 *
 * Every packet leaves by the edge to ip4_rewrite or is dropped. The one lane carries the destination
 * address in, in host byte order, and the id of the next hop out; of a packet that is dropped, 0.
 * The node touches no packet. Its configuration is struct hy_ip4_lookup_config (hy_ip4.h), its table
 * is read as hy_ip4_view.h says.
 *
 * A variant reads tables of one engine, which it names by hy_variant.engine, one of the HY_IP4_ENGINE_
 * names below. The program makes its tables with that engine (hy_ip4_engine_of()). A variant without
 * init, fini and ctx_size is given the family's: the context is then a struct hy_ip4_lookup_ctx, and
 * tables of other engines are refused when a graph is created. A variant with more state
 * has that first in its context, and calls hy_ip4_lookup_init() and hy_ip4_lookup_fini().
 */
#ifndef HY_IP4_LOOKUP_H
#define HY_IP4_LOOKUP_H

#include <hy_ip4_view.h>
#include <hy_node.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** Edges. */
enum hy_ip4_lookup_next { HY_IP4_LOOKUP_NEXT_REWRITE };
/** Drop reasons: "no_route". */
enum hy_ip4_lookup_drop { HY_IP4_LOOKUP_NO_ROUTE };
/** Lanes: "ip4_route". */
enum hy_ip4_lookup_lane { HY_IP4_LOOKUP_LANE_ROUTE };

/** @name Engines, for hy_variant.engine; without a name a variant reads rte_lpm.
 * @{ */
#define HY_IP4_ENGINE_LPM "rte_lpm"               /**< HY_IP4_LPM. */
#define HY_IP4_ENGINE_FIB "rte_fib"               /**< HY_IP4_FIB. */
#define HY_IP4_ENGINE_FIB_AVX512 "rte_fib_avx512" /**< HY_IP4_FIB_AVX512. */
/** @} */

/** Context of variants that use the family's init. */
struct hy_ip4_lookup_ctx {
	const struct hy_ip4_view *view; /**< What the worker reads. */
	struct hy_ip4_fib *fib;         /**< The table, for fini. */
};

/** The family's init, for a context that begins with struct hy_ip4_lookup_ctx. */
int hy_ip4_lookup_init(const struct hy_graph *graph, struct hy_node *node, const void *config);
/** The family's fini, likewise. */
void hy_ip4_lookup_fini(const struct hy_graph *graph, struct hy_node *node);

/**
 * A kernel: looks up a burst. Pure: neither graph nor packet.
 *
 * @param[in,out] route @p n destination addresses in host byte order; then ids of next hops, 0 where
 * there is no route.
 * @param[out] next HY_IP4_LOOKUP_NEXT_REWRITE or HY_DROP(HY_IP4_LOOKUP_NO_ROUTE) of each.
 * @param n 0 to HY_BURST_MAX.
 */
typedef void(hy_ip4_lookup_kernel_t)(const struct hy_ip4_view *view, uint32_t route[],
	uint16_t next[], uint32_t n);

/** The reference variant's kernel, one address at a time in rte_lpm: for the tail of others. */
hy_ip4_lookup_kernel_t hy_ip4_lookup_scalar;

/** The process function of a variant with struct hy_ip4_lookup_ctx, but for its kernel. */
static __rte_always_inline uint16_t
hy_ip4_lookup_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n,
	hy_ip4_lookup_kernel_t *kernel)
{
	const struct hy_ip4_lookup_ctx *ctx = (const struct hy_ip4_lookup_ctx *)node->ctx;
	uint16_t next[HY_BURST_MAX];

	kernel(ctx->view, hy_lane(graph, node, HY_IP4_LOOKUP_LANE_ROUTE), next, n);
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

/** @cond What packs have of this header: see HY_PLUGIN_NUMBERS(). */
#define HY_IP4_LOOKUP_NUMBERS \
	HY_PLUGIN_SIZE(struct hy_ip4_lookup_ctx), HY_PLUGIN_OFFSET(hy_ip4_lookup_ctx, view)

HY_PLUGIN_NUMBERS(ip4_lookup, HY_IP4_LOOKUP_NUMBERS);
/** @endcond */

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
