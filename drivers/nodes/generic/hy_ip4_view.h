/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * How a node reads a forwarding table (hy_ip4.h) without a lock while the table changes. For variants
 * of ip4_lookup, ip4_rewrite and ip4_steer, and for other nodes that read routes.
 *
 * A node's init() finds the table and registers as its user: hy_ip4_fib_for(), hy_ip4_fib_use(),
 * hy_ip4_fib_view(). Its fini() calls hy_ip4_fib_unuse(). In between, the worker may read the view.
 * Values that it reads are valid until the end of the walk, when the graph reports to the table's
 * QSBR variable: a node keeps no entry and no pointer of a view from one walk to the next. The
 * address of the view itself does not change.
 *
 * The members of a view change while the worker runs. It loads each at most once a burst, in the way
 * that the member's comment says, and reads next hops after routes.
 */
#pragma once

#include <assert.h>
#include <stdint.h>

#include <rte_atomic.h>
#include <rte_ether.h>

#include <hy_graph_worker.h>
#include <hy_ip4.h>
#include <hy_plugin.h>

HY_API_BEGIN

struct rte_fib;
struct rte_lpm;

/** In place of a port: the id is that of a group (hy_ip4_group_view.h). */
#define HY_IP4_PORT_GROUP HY_IP4_PORTS

/** What a next hop needs to be reached: the L2 header of its frames, and its port. */
struct hy_ip4_adjacency {
	struct rte_ether_hdr l2; /**< As on the wire. */
	uint16_t port;           /**< A port of the table, or HY_IP4_PORT_GROUP. */
};

static_assert(sizeof(struct hy_ip4_adjacency) == 16, "an adjacency is one 16-byte load");

/** Mask of the next hop's id in an rte_lpm entry or a default entry. */
#define HY_IP4_ID_MASK 0x00ffffff

/** One copy of a table in rte_fib, with its default route. */
struct hy_ip4_copy {
	struct rte_fib
		*rte_fib; /**< For rte_fib_lookup_bulk(). Complete once the copy is published. */
	/** Route of addresses that rte_fib misses, as @ref hy_ip4_view.default_entry. Load-acquire. */
	uint32_t default_entry;
};

/** What workers read of a table. */
struct hy_ip4_view {
	/** Engine HY_IP4_LPM: changes in place, entry by entry, and is never replaced. Else NULL. */
	struct rte_lpm *lpm;
	/** Engines of rte_fib: the published copy. Else NULL. Load-acquire, once a burst. */
	struct hy_ip4_copy *copy;
	/** The value that rte_fib returns for an address without a route. Never changes. */
	uint32_t rte_fib_none;
	/** Next hops by id. Read it with hy_ip4_adjacencies() only. */
	struct hy_ip4_adjacency *adjacencies;
	/**
	 * The route 0.0.0.0/0, which is in no engine: RTE_LPM_LOOKUP_SUCCESS and the next hop's id;
	 * 0: no default route. Load-acquire, once a burst and before the first lookup.
	 */
	uint32_t default_entry;
};

/**
 * Finds the table that a graph reads. For init().
 *
 * @return The table of the graph's NUMA node, or else the first one; NULL if @p config is NULL or has
 * no table.
 */
struct hy_ip4_fib *hy_ip4_fib_for(const struct hy_graph *graph,
	const struct hy_ip4_lookup_config *config);

/**
 * Registers a node as a user of a table. For init(). From then on the table's ports are fixed.
 *
 * @return 0; -EINVAL (logged as by hy_node_refuse()): the graph does not report to the table's QSBR
 * variable, so that workers would read freed memory.
 */
int hy_ip4_fib_use(const struct hy_graph *graph, struct hy_node *node, struct hy_ip4_fib *fib);

/** Undoes hy_ip4_fib_use(). For fini(). */
void hy_ip4_fib_unuse(struct hy_ip4_fib *fib);

/** @return The view of a table. Valid as long as the table. Any thread. */
const struct hy_ip4_view *hy_ip4_fib_view(const struct hy_ip4_fib *fib);

/**
 * The next hops by id, for one burst. Call it after the lookup of the burst's routes: in the other
 * order, a weakly ordered CPU could read an array that is older than an id. Worker only.
 *
 * @return Valid until the end of the walk.
 */
static inline const struct hy_ip4_adjacency *
hy_ip4_adjacencies(const struct hy_ip4_view *view)
{
	rte_smp_rmb();
	return __atomic_load_n(&view->adjacencies, __ATOMIC_ACQUIRE);
}

/** @cond What plugins compile from this header: see HY_PLUGIN_NUMBERS(). */
#define HY_IP4_VIEW_NUMBERS \
	HY_PLUGIN_SIZE(struct hy_ip4_view), HY_PLUGIN_SIZE(struct hy_ip4_copy), \
		HY_PLUGIN_OFFSET(hy_ip4_view, copy), HY_PLUGIN_OFFSET(hy_ip4_view, rte_fib_none), \
		HY_PLUGIN_OFFSET(hy_ip4_view, adjacencies), \
		HY_PLUGIN_OFFSET(hy_ip4_view, default_entry), \
		HY_PLUGIN_OFFSET(hy_ip4_copy, default_entry)

HY_PLUGIN_NUMBERS(ip4_view, HY_IP4_VIEW_NUMBERS);
/** @endcond */

HY_API_END
