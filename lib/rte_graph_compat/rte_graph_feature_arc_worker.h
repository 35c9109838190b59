/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The fast path of DPDK's feature arcs: how the nodes of an arc find where an object goes next. See
 * rte_graph_feature_arc.h.
 *
 * What a feature is told on an index (its edge to the next one that is enabled, its cookie, and
 * that one's data) is one 64-bit word, which is loaded and stored whole: no edge goes with another
 * change's data.
 */
#pragma once

#ifdef _RTE_GRAPH_FEATURE_ARC_WORKER_H_
#error "DPDK's rte_graph_feature_arc_worker.h was included before Halyard's"
#endif
/** Keeps DPDK's header of this name empty, should a header beside it include it. */
#define _RTE_GRAPH_FEATURE_ARC_WORKER_H_

#include <rte_mbuf.h>

#include "rte_graph_feature_arc.h"
#include "rte_graph_worker.h"

HY_API_BEGIN

/** @cond names Names of our own behind DPDK's. */
#define rte_graph_feature_arc_get hy_compat_feature_arc_get
/** @endcond */

/** What a node of an arc is told on one index. */
__extension__ union rte_graph_feature_word {
	uint64_t whole; /**< All of it, as it is loaded and stored. */
	struct {
		rte_edge_t next_edge; /**< To the next feature that is enabled. */
		uint16_t app_cookie;  /**< The feature's own; UINT16_MAX: none. */
		rte_graph_feature_data_t next_feature_data; /**< That of the next one. */
	};
};

/** An arc, as node code sees it. */
struct rte_graph_feature_arc {
	char feature_arc_name[RTE_GRAPH_FEATURE_ARC_NAMELEN]; /**< Its name. */
	struct rte_node_register *start_node;                 /**< As it was registered. */
	union rte_graph_feature_word *words; /**< By index: of the start, of each feature. */
	uint64_t fp_feature_enable_bitmask;  /**< Bit f: feature f is enabled on some index. */
	rte_graph_feature_arc_t feature_arc_index; /**< Its number. */
	uint16_t max_features;                     /**< Most features, with the end. */
	uint16_t num_added_features;               /**< Features, with the end. */
	uint16_t max_indexes;                      /**< Indexes. */
	int mbuf_dyn_offset;                       /**< Of the field in an mbuf. */
};

/** What an mbuf carries through an arc. */
struct rte_graph_feature_arc_mbuf_dynfields {
	rte_graph_feature_data_t feature_data; /**< Of the feature that it goes to. */
};

/** @return An arc, valid until it is destroyed, or NULL. */
struct rte_graph_feature_arc *rte_graph_feature_arc_get(rte_graph_feature_arc_t arc);

/** @return What an mbuf carries through the arc of this mbuf_dyn_offset. */
static __rte_always_inline struct rte_graph_feature_arc_mbuf_dynfields *
rte_graph_feature_arc_mbuf_dynfields_get(struct rte_mbuf *mbuf, const int dyn_offset)
{
	return RTE_MBUF_DYNFIELD(mbuf, dyn_offset, struct rte_graph_feature_arc_mbuf_dynfields *);
}

/** @return Whether @p feature may be one. */
static __rte_always_inline int
rte_graph_feature_is_valid(rte_graph_feature_t feature)
{
	return feature != RTE_GRAPH_FEATURE_INVALID;
}

/** @return Whether @p feature_data may be some. */
static __rte_always_inline int
rte_graph_feature_data_is_valid(rte_graph_feature_data_t feature_data)
{
	return feature_data != RTE_GRAPH_FEATURE_DATA_INVALID;
}

/** @cond adapter Not for node code. */
static __rte_always_inline union rte_graph_feature_word
hy_compat_feature_word(const struct rte_graph_feature_arc *arc, rte_graph_feature_data_t fdata)
{
	return (union rte_graph_feature_word){
		.whole = __atomic_load_n(&arc->words[fdata].whole, __ATOMIC_ACQUIRE),
	};
}
/** @endcond */

/** @return The cookie with which a feature was enabled on an index. */
static __rte_always_inline uint16_t
rte_graph_feature_data_app_cookie_get(struct rte_graph_feature_arc *arc,
	rte_graph_feature_data_t fdata)
{
	return hy_compat_feature_word(arc, fdata).app_cookie;
}

/**
 * Where a feature sends an object on.
 *
 * @param[in,out] fdata The feature's own; that of the next one.
 * @param[out] next_edge To that.
 * @return 1; 0 the feature is the arc's end.
 */
static __rte_always_inline int
rte_graph_feature_data_next_feature_get(struct rte_graph_feature_arc *arc,
	rte_graph_feature_data_t *fdata, rte_edge_t *next_edge)
{
	const union rte_graph_feature_word word = hy_compat_feature_word(arc, *fdata);

	*fdata = word.next_feature_data;
	*next_edge = word.next_edge;
	return rte_graph_feature_data_is_valid(word.next_feature_data);
}

/**
 * Where the arc's start node sends an object: to the first feature that is enabled on an index, or
 * to the end.
 *
 * @param[out] fdata That feature's.
 * @param[out] edge To it.
 * @return 1; 0 there is no such index.
 */
static __rte_always_inline int
rte_graph_feature_data_first_feature_get(struct rte_graph_feature_arc *arc, uint32_t index,
	rte_graph_feature_data_t *fdata, rte_edge_t *edge)
{
	if (unlikely(index >= arc->max_indexes))
		return 0;
	*fdata = index;
	return rte_graph_feature_data_next_feature_get(arc, fdata, edge);
}

/** @return Bit f: feature f is enabled on some index. */
static __rte_always_inline uint64_t
rte_graph_feature_arc_is_any_feature_enabled(struct rte_graph_feature_arc *arc)
{
	return arc == NULL ? 0 : __atomic_load_n(&arc->fp_feature_enable_bitmask, __ATOMIC_RELAXED);
}

/** Prefetches what nodes look at of an arc. */
static __rte_always_inline void
rte_graph_feature_arc_prefetch(struct rte_graph_feature_arc *arc)
{
	rte_prefetch0(&arc->words);
}

/** Prefetches what a feature is told on an index. */
static __rte_always_inline void
rte_graph_feature_arc_feature_data_prefetch(struct rte_graph_feature_arc *arc,
	rte_graph_feature_data_t fdata)
{
	rte_prefetch0(&arc->words[fdata]);
}

HY_API_END
