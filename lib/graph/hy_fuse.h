/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Fusion: one function that does the work of a chain of nodes, for objects that pass all of it.
 *
 * A fusion names the process functions of a chain, and the edges by which its nodes follow one
 * another. hy_graph_create() and hy_graph_update() fuse each chain of a graph that has just these
 * functions and edges: when the first node has objects, the core calls the fusion instead. It
 * handles objects from the first on, as far as they pass the whole chain, and says how many these
 * are. The nodes handle the rest one after another, as they do without a fusion. So a fusion knows
 * the usual case only, and all that is rare has one implementation.
 *
 * A node may begin two chains, with different edges, if one of their fusions can pick its objects out
 * of a burst. In a burst that has objects for both, each fusion gets its own, and the nodes handle
 * what both leave.
 *
 * Both ways are alike to an observer. Nodes, edges, statistics, drops, traces and captures are those
 * of the chain; objects that take the same edges keep their order; a fusion counts as a call of each
 * node. Only cycles differ: those of a fused call all count for the first node, and the objects cost
 * the others none.
 *
 * The nodes of a chain run one after another, though fused, in walks that are traced or captured,
 * and while objects wait on one of the later nodes. Not fused are graphs that are to stay apart
 * (struct hy_graph_params), that are cyclic, whose streams have no room for all objects that their
 * nodes may send, that have wide lanes, or that a model walks; nor is a chain whose last node leads to
 * one that values of a lane must be brought to (lanes_set of struct hy_node_desc), since a fusion writes
 * none. In a graph that takes over objects of a cyclic one, that is every node until its next update. A
 * feature, a detour or another implementation of a node parts a chain at the graph's next update, and
 * its removal joins it.
 */
#pragma once

#include <assert.h>

#include <hy_graph_worker.h>
#include <hy_plugin.h>

HY_API_BEGIN

#define HY_FUSE_CHAINS 2                  /**< Most chains that a node begins. */
#define HY_FUSE_MAX 4                     /**< Most nodes of a chain. */
#define HY_FUSE_WORDS (HY_BURST_MAX / 64) /**< Words with a bit for each object of a burst. */

static_assert(HY_BURST_MAX % 64 == 0, "each word has 64 objects");

/**
 * Does the work of a chain's nodes for the first objects of a burst: all that they would do to
 * objects that take each edge of the chain, but to send them on.
 *
 * @param nodes Those of the chain, in order, for their contexts, which it only reads.
 * @param n Objects at @p objs, 1 to HY_BURST_MAX.
 * @param[out] next For each object handled, the edge of the last node that it takes.
 * @return How many it handled, 0 to @p n: no more than the objects before the first one that does not
 * pass the chain, because it takes an edge that the chain does not have, or is dropped. It may stop
 * earlier, where going on does not pay. It has changed no other.
 */
typedef uint16_t(hy_fused_t)(struct hy_graph *graph, struct hy_node *const nodes[], void **objs,
	uint16_t n, uint16_t next[]);

/**
 * Picks out of a burst the objects that may pass a chain: all that take its first edge, and none that
 * takes another edge of the first node. What that node drops may be picked or not.
 *
 * @param nodes As for the fusion.
 * @param n Objects at @p objs, 1 to HY_BURST_MAX.
 * @param[out] mine Bit i % 64 of word i / 64: object i is picked. Words that have no object need not be
 * written; bits beyond the last object are 0.
 */
typedef void(hy_fuse_pick_t)(struct hy_node *const nodes[], void *const objs[], uint16_t n,
	uint64_t mine[HY_FUSE_WORDS]);

/** A fusion. It must outlive the graphs that are compiled while it is offered. */
struct hy_fuse {
	const char *name;                        /**< A name, for hy_graph_node_fused(). */
	unsigned int nb_nodes;                   /**< Nodes of the chain, 2 to HY_FUSE_MAX. */
	hy_node_process_t *process[HY_FUSE_MAX]; /**< Their process functions, in order. */
	uint16_t edge[HY_FUSE_MAX - 1];          /**< Of each but the last, the edge to the next. */
	hy_fused_t *run;                         /**< Does their work. */
	hy_fuse_pick_t *pick;                    /**< Picks its objects; NULL: it cannot. */
};

/**
 * Offers a fusion to graphs created or updated from now on. Of those without pick() that fit a node,
 * the one offered first is taken; and likewise of those with pick() that begin with another edge. No
 * plugin with its code is unloaded while it is offered, or a graph uses it.
 *
 * @return 0; -EINVAL no name, too few or too many nodes, or a function is missing; -EEXIST one of
 * that name is offered; -ENOMEM.
 */
int hy_fuse_offer(const struct hy_fuse *fuse);

/**
 * Withdraws a fusion. Graphs part its chains at their next update.
 *
 * @return 0; -ENOENT it is not offered (not logged).
 */
int hy_fuse_withdraw(const struct hy_fuse *fuse);

/**
 * Reads whether a node begins a chain that its graph has fused. Of node code, and of the control
 * plane as long as the graph does not change.
 *
 * @param which 0: the chain of a fusion without pick(). 1: that of one with pick().
 * @return The fusion's name; NULL: it does not.
 */
const char *hy_graph_node_fused(const struct hy_graph *graph, const struct hy_node *node,
	unsigned int which);

/** @cond What plugins compile from this header: see HY_PLUGIN_NUMBERS(). */
#define HY_FUSE_NUMBERS \
	HY_PLUGIN_SIZE(struct hy_fuse), HY_PLUGIN_OFFSET(hy_fuse, run), \
		HY_PLUGIN_OFFSET(hy_fuse, pick)

HY_PLUGIN_NUMBERS(fuse, HY_FUSE_NUMBERS);
/** @endcond */

HY_API_END
