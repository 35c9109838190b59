/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Contract of the node family ip4_lookup, for its variants: destination address to next hop, by
 * longest prefix match.
 *
 * Every packet leaves by the edge to ip4_rewrite or is dropped. On entry, the one lane holds the
 * destination address in host byte order; on exit, the id of the next hop, or 0 for a dropped packet.
 * The node touches no packet. Its configuration is struct hy_ip4_lookup_config (hy_ip4.h);
 * hy_ip4_view.h says how to read the table.
 *
 * A variant reads tables of one engine, which hy_variant.engine names: one of the HY_IP4_ENGINE_ names
 * below. The program creates its tables with that engine (hy_ip4_engine_of()). A variant without
 * init, fini and ctx_size inherits the family's: its context is a struct hy_ip4_lookup_ctx, and graph
 * creation refuses tables of other engines. A variant with more state places this struct first in its
 * context, and calls hy_ip4_lookup_init() and hy_ip4_lookup_fini().
 */
#pragma once

#include <hy_ip4_view.h>
#include <hy_node.h>

HY_API_BEGIN

/** Edges. */
enum hy_ip4_lookup_next { HY_IP4_LOOKUP_NEXT_REWRITE };
/** Drop reasons: "no_route". */
enum hy_ip4_lookup_drop { HY_IP4_LOOKUP_NO_ROUTE };
/** Lanes: "ip4_route". */
enum hy_ip4_lookup_lane { HY_IP4_LOOKUP_LANE_ROUTE };

/** @name Engines, for hy_variant.engine. A variant that names none reads rte_lpm.
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

/** The family's init. The context must begin with a struct hy_ip4_lookup_ctx. */
int hy_ip4_lookup_init(const struct hy_graph *graph, struct hy_node *node, const void *config);
/** The family's fini, for the same contexts. */
void hy_ip4_lookup_fini(const struct hy_graph *graph, struct hy_node *node);

/**
 * A kernel: looks up a burst. It uses no graph and no packet.
 *
 * @param[in,out] route On entry, @p n destination addresses in host byte order; on exit, ids of next
 * hops, 0 for an address without a route.
 * @param[out] next HY_IP4_LOOKUP_NEXT_REWRITE or HY_DROP(HY_IP4_LOOKUP_NO_ROUTE) for each address.
 * @param n 0 to HY_BURST_MAX.
 */
typedef void(hy_ip4_lookup_kernel_t)(const struct hy_ip4_view *view, uint32_t route[],
	uint16_t next[], uint32_t n);

/** The reference kernel, one address at a time in rte_lpm. Other kernels use it for their tails. */
hy_ip4_lookup_kernel_t hy_ip4_lookup_scalar;

/** Process function of a variant with struct hy_ip4_lookup_ctx and kernel @p kernel. */
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

/** @cond What plugins compile from this header: see HY_PLUGIN_NUMBERS(). */
#define HY_IP4_LOOKUP_NUMBERS \
	HY_PLUGIN_SIZE(struct hy_ip4_lookup_ctx), HY_PLUGIN_OFFSET(hy_ip4_lookup_ctx, view)

HY_PLUGIN_NUMBERS(ip4_lookup, HY_IP4_LOOKUP_NUMBERS);
/** @endcond */

HY_API_END
