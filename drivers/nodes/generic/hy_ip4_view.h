/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * How a node reads a forwarding table (hy_ip4.h) while it changes, without a lock. For variants of
 * ip4_lookup, ip4_rewrite and ip4_steer, and for nodes that read routes on their own.
 *
 * A node's init() takes the table and announces that it reads it: hy_ip4_fib_for(), hy_ip4_fib_use(),
 * hy_ip4_fib_view(). Its fini() ends that: hy_ip4_fib_unuse(). In between, the worker may read the
 * view. What it has read is valid until the end of the walk, in which the graph reports to the
 * table's QSBR variable: a node keeps no entry, and no pointer of a view, from walk to walk. The view
 * itself stays where it is.
 *
 * The members of a view change under the worker. It loads each at most once a burst, as their
 * comments say, and reads next hops after routes.
 */
#ifndef HY_IP4_VIEW_H
#define HY_IP4_VIEW_H

#include <assert.h>
#include <stdint.h>

#include <rte_atomic.h>
#include <rte_ether.h>

#include <hy_graph_worker.h>
#include <hy_ip4.h>
#include <hy_plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct rte_fib;
struct rte_lpm;

/** Where a next hop leads: the L2 header of its frames, and the port behind which it is. */
struct hy_ip4_adjacency {
	struct rte_ether_hdr l2; /**< As it is on the wire. */
	uint16_t port;           /**< A port of the table. */
};

static_assert(sizeof(struct hy_ip4_adjacency) == 16, "an adjacency is one 16-byte load");

/** The id of a next hop in an entry of rte_lpm, or of a default route. */
#define HY_IP4_ID_MASK 0x00ffffff

/** A table of rte_fib, and the default route that belongs to it. */
struct hy_ip4_copy {
	struct rte_fib *rte_fib; /**< For rte_fib_lookup_bulk(); complete when the copy is shown. */
	/** Route of what rte_fib does not find, as @ref hy_ip4_view.default_entry. Load-acquire. */
	uint32_t default_entry;
};

/** What workers read of a table. */
struct hy_ip4_view {
	/** Tables of engine HY_IP4_LPM: changed in place, entry by entry; else NULL. Never replaced. */
	struct rte_lpm *lpm;
	/** Tables of rte_fib: the copy that is shown; else NULL. Load-acquire, once a burst. */
	struct hy_ip4_copy *copy;
	/** What rte_fib answers where it has no route. Never changes. */
	uint32_t rte_fib_none;
	/** Next hops by id. Read by hy_ip4_adjacencies() only. */
	struct hy_ip4_adjacency *adjacencies;
	/**
	 * The route 0.0.0.0/0, which no engine holds: RTE_LPM_LOOKUP_SUCCESS and the next hop's id;
	 * 0: there is none. Load-acquire, once a burst and before the first lookup.
	 */
	uint32_t default_entry;
};

/**
 * @return The table of a configuration that a graph reads: that of its NUMA node, or else the first;
 * NULL: @p config is NULL or has none. For init().
 */
struct hy_ip4_fib *hy_ip4_fib_for(const struct hy_graph *graph,
	const struct hy_ip4_lookup_config *config);

/**
 * Announces that a node reads a table, for init(). Ports of the table are fixed from then on.
 *
 * @return 0; -EINVAL (logged as hy_node_refuse() does): the graph does not report to the table's
 * QSBR variable, and workers would read what has been freed.
 */
int hy_ip4_fib_use(const struct hy_graph *graph, struct hy_node *node, struct hy_ip4_fib *fib);

/** Ends what hy_ip4_fib_use() began, for fini(). */
void hy_ip4_fib_unuse(struct hy_ip4_fib *fib);

/** @return The view of a table. Valid while the table is. Any thread. */
const struct hy_ip4_view *hy_ip4_fib_view(const struct hy_ip4_fib *fib);

/**
 * The next hops, by id, for one burst whose routes were looked up before: in the other order, a CPU
 * with weak ordering could find an array that is older than an id. Worker only.
 *
 * @return Valid until the end of the walk.
 */
static inline const struct hy_ip4_adjacency *
hy_ip4_adjacencies(const struct hy_ip4_view *view)
{
	rte_smp_rmb();
	return __atomic_load_n(&view->adjacencies, __ATOMIC_ACQUIRE);
}

/** @cond What packs have of this header: see HY_PLUGIN_NUMBERS(). */
#define HY_IP4_VIEW_NUMBERS \
	HY_PLUGIN_SIZE(struct hy_ip4_view), HY_PLUGIN_SIZE(struct hy_ip4_copy), \
		HY_PLUGIN_OFFSET(hy_ip4_view, copy), HY_PLUGIN_OFFSET(hy_ip4_view, rte_fib_none), \
		HY_PLUGIN_OFFSET(hy_ip4_view, adjacencies), \
		HY_PLUGIN_OFFSET(hy_ip4_view, default_entry), \
		HY_PLUGIN_OFFSET(hy_ip4_copy, default_entry)

HY_PLUGIN_NUMBERS(ip4_view, HY_IP4_VIEW_NUMBERS);
/** @endcond */

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
