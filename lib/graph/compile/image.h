/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An image: a topology compiled into the memory that one worker walks. The walk reads its plan. The
 * nodes' hot lines are at its end; in between is the data that only the control plane and timed
 * walks use. Every counter starts at 0 in every image (see control.h for the history).
 */
#pragma once

#include "topology.h"
#include "wide_table.h"

#include <hy_fuse.h>
#include <hy_graph_worker.h>
#include <hy_stats.h>

#define HY_NO_RANK UINT32_MAX

/* A node of a graph, by rank: the cold side of struct hy_node. */
struct hy_image_node {
	struct hy_reg_node *reg;
	struct hy_node_impl impl; /* at creation; impl.variant points to variant */
	char variant[HY_NAME_SIZE];
	unsigned int revision; /* of reg's implementation and configuration, at creation */
	uint32_t was[2];       /* rank in images that the worker may come from: hy_image_was() */
	bool inherits;         /* its context is still the image's before this one */
	bool initialised;      /* it has a context of its own, and init() succeeded */
	uint16_t nb_edges;
	uint16_t nb_drops; /* the core's own included */
	/* Of timed walks: calls by the size of their burst, see hy_burst_bucket(). */
	uint64_t bursts[HY_BURST_BUCKETS];
	uint64_t sampled_objs;
	uint64_t sampled_cycles; /* of calls that had objects */
	uint64_t sampled_idle;   /* of those that had none */
	uint32_t reserved_at;    /* hy_stream_get(): where in the stream, and how many */
	uint32_t reserved;
	uint32_t handed; /* objects of the parts so far, which take one edge; see stream.c */
	uint16_t handed_edge;
	/* Of the chains that it begins, see hy_graph_node_fused(); NULL: of none. */
	const struct hy_fuse *fuse[HY_FUSE_CHAINS];
	const struct hy_fuse *now; /* the worker's: which to try first; NULL: pick() */
};

struct hy_image {
	struct hy_plan plan;
	bool holds;   /* objects may wait in it between walks */
	bool fused;   /* some node begins a chain with a fusion */
	bool carries; /* objects of earlier images may wait in it; assumed until the worker knows */
	uint32_t stream_cap;   /* its own need; the plan's may be more while it carries */
	hy_walk_model_t *walk; /* of params, and what it is handed */
	void *walk_ctx;
	size_t size;                   /* of the image and its tables, which lie behind it */
	uint64_t serial;               /* while it is shared: unique in the process; see share.h */
	void *outline;                 /* of an image for display only: its memory */
	const struct hy_image *before; /* published last when this one was compiled; may be freed */
	struct hy_image *successor;    /* published after this one, or NULL; the control plane's */
	char lanes[HY_LANES_MAX][HY_NAME_SIZE];
	struct hy_image_node *nodes;
	struct hy_edge *edges; /* of all nodes; counters and drops first in each */
	void *streams;
	struct hy_wide *wide; /* NULL: no wide lanes */
	struct hy_node hot[]; /* by rank, and one more that never has objects */
};

/*
 * Compiles all but the streams, in memory of malloc(3), for display only; works without EAL.
 * Returns 0 or -ENOMEM.
 */
int hy_image_outline(const struct hy_graph_params *params, const struct hy_topology *topo,
	uint32_t stream_cap, struct hy_image **image);
/*
 * Compiles, with streams of at least stream_cap objects. Nodes are not initialised yet. Returns 0
 * or -ENOMEM.
 */
int hy_image_build(const struct hy_graph_params *params, const struct hy_topology *topo,
	uint32_t stream_cap, struct hy_image **image);
void hy_image_free(struct hy_image *image);

/*
 * Finds the nodes of an image in its possible predecessors: the one published before it, or, if it
 * replaces that one, the one before that (NULL: none). A node of `before` keeps its context, unless
 * its implementation or configuration has changed.
 */
void hy_image_follow(struct hy_image *image, const struct hy_image *before,
	const struct hy_image *earlier);

/* Hands over the contexts that an image owns and the next one inherits. */
void hy_image_bequeath(struct hy_image *image, struct hy_image *next);

/* Copies the budgets of sources from another image, which may never have been walked. */
void hy_image_budgets(struct hy_image *image, const struct hy_image *before);

static_assert(HY_BURST_MAX >> (HY_BURST_BUCKETS - 2) == 1, "the last bucket is a full burst's");

/* Where in bursts[] a call counts that handled n objects. */
static inline unsigned int
hy_burst_bucket(uint32_t n)
{
	const unsigned int bucket = n == 0 ? 0 : 32 - (unsigned int)__builtin_clz(n);

	return RTE_MIN(bucket, HY_BURST_BUCKETS - 1u); /* nodes may return too much */
}

/* The rank that a node had in an image that this one may follow, or HY_NO_RANK. */
static inline uint32_t
hy_image_was(const struct hy_image *image, unsigned int rank, const struct hy_image *from)
{
	return image->nodes[rank].was[from != image->before];
}

/* Reads a counter beside the worker that writes it with hy_count(). */
static inline uint64_t
hy_count_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* A source's budget, which any thread may set at any time. */
static inline uint16_t
hy_budget_read(const struct hy_plan *plan, unsigned int source)
{
	return __atomic_load_n(&plan->budgets[source], __ATOMIC_RELAXED);
}

/* Slots before the edges of a node: drops, or, with room for all of these, counters too. */
static inline unsigned int
hy_image_slots_before(const struct hy_reg_node *reg)
{
	return HY_CORE_DROPS +
		(reg->nb_counters > 0 ? HY_DESC_DROPS + reg->nb_counters : reg->nb_drops);
}

/* A node's drop reason: the core's, then its own. */
static inline const struct hy_counter *
hy_image_drop(const struct hy_image_node *cold, unsigned int d)
{
	return d < HY_CORE_DROPS ? &hy_core_drops[d] : &cold->reg->drops[d - HY_CORE_DROPS];
}

static inline struct hy_image_node *
hy_image_node(const struct hy_node *node)
{
	const struct hy_node *first = node - node->rank;
	const struct hy_image *image = RTE_PTR_SUB(first, offsetof(struct hy_image, hot));

	return &image->nodes[node->rank];
}
