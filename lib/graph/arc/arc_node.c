/* SPDX-License-Identifier: BSD-3-Clause */
/* The node of an arc, which selects the features of objects, and joining its features. */

#include <string.h>

#include "arc.h"
#include "lib/graph/compile/image.h"

enum lane { LANE_CHAIN, LANE_INDEX };

struct ctx {
	struct hy_arc_view *const *view;
	hy_arc_index_t *index;
	const uint32_t *changes;
	uint64_t walk; /* the graph's number of the walk that read it */
	uint64_t adopted;
};

static const struct hy_reg_owner owner = { .name = "an arc" };

/*
 * The highest entry that this walk goes by, in all of its bursts. Otherwise an object that comes after
 * a feature was disabled would overtake those of its index that were sent to that feature before.
 */
static __rte_always_inline uint64_t
adopted(const struct hy_graph *graph, struct ctx *ctx)
{
	if (ctx->walk != graph->walks) {
		ctx->walk = graph->walks;
		/* Acquired: what it selects was complete before, and is in the view of now. */
		ctx->adopted = (((uint64_t)__atomic_load_n(ctx->changes, __ATOMIC_ACQUIRE) + 1)
				       << HY_ARC_ENTRY_SINCE) -
			1;
	}
	return ctx->adopted;
}

/* The entry of before a change of which this walk knows nothing. */
static __rte_noinline uint64_t
entry_before(const struct hy_arc_view *view, uint32_t index)
{
	/* Acquired: the word behind all entries is at least as new as this one. It is not changed again
	 * before the walk has ended. */
	__atomic_load_n(&view->entries[index], __ATOMIC_ACQUIRE);
	return __atomic_load_n(&view->entries[view->nb_indexes + (size_t)index], __ATOMIC_RELAXED);
}

static __rte_always_inline uint16_t
tell(struct hy_graph *graph, struct hy_node *node, void **objs, const uint32_t index[], uint16_t n)
{
	struct ctx *ctx = node->ctx;
	const uint64_t most = adopted(graph, ctx);
	const struct hy_arc_view *view = __atomic_load_n(ctx->view, __ATOMIC_ACQUIRE);
	uint32_t *chain = hy_lane(graph, node, LANE_CHAIN);
	uint16_t next[HY_BURST_MAX];

	for (uint16_t i = 0; i < n; i++) {
		/* 0 leads to the end. */
		uint64_t entry = likely(index[i] < view->nb_indexes)
			? __atomic_load_n(&view->entries[index[i]], __ATOMIC_RELAXED)
			: 0;

		if (unlikely(entry > most))
			entry = entry_before(view, index[i]);
		chain[i] = (uint32_t)entry;
		next[i] = (uint16_t)(entry >> HY_ARC_EDGE_SHIFT);
	}
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static uint16_t
by_object(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct ctx *ctx = node->ctx;
	uint32_t index[HY_BURST_MAX];

	ctx->index(objs, index, n);
	return tell(graph, node, objs, index, n);
}

static uint16_t
by_lane(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return tell(graph, node, objs, hy_lane(graph, node, LANE_INDEX), n);
}

static int
qsbr_check(const struct hy_graph *graph, const struct hy_node *node, const struct hy_arc *arc)
{
	if (arc->params.qsbr == NULL || hy_graph_qsbr(graph) == arc->params.qsbr)
		return 0;
	return hy_node_refuse(graph, node,
		"is on arc '%s', and its graph does not report to that arc's QSBR variable",
		arc->name);
}

static int
node_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	const struct hy_arc *arc = *(struct hy_arc *const *)config;
	struct ctx *ctx = node->ctx;

	ctx->view = &arc->view;
	ctx->index = arc->params.index;
	ctx->changes = &arc->changes;
	ctx->walk = UINT64_MAX; /* none yet */
	return qsbr_check(graph, node, arc);
}

int
hy_arc_node_register(struct hy_arc *arc)
{
	const bool in_lane = arc->params.index == NULL;
	const struct hy_node_desc desc = {
		.name = arc->name,
		.impl = { .process = in_lane ? by_lane : by_object,
			.init = node_init,
			.ctx_size = sizeof(struct ctx) },
		.edges = { arc->end },
		.lanes = { [LANE_CHAIN] = HY_ARC_LANE,
			[LANE_INDEX] = in_lane ? arc->index_lane : NULL },
		.lanes_set = 1u << LANE_CHAIN,
	};
	int rc = hy_node_register(&desc, &arc->node);

	if (rc < 0)
		return rc;
	rc = hy_node_config(arc->node, &arc, sizeof(arc));
	if (rc < 0)
		hy_node_unregister(arc->node);
	else
		hy_registry_own(arc->node, &owner);
	return rc;
}

int
hy_arc_node_unregister(const struct hy_arc *arc)
{
	return hy_registry_unregister(arc->node, &owner);
}

int
hy_arc_join(const struct hy_graph *graph, const struct hy_node *node, unsigned int lane,
	struct hy_arc_place *place)
{
	const struct hy_reg_node *reg = hy_image_node(node)->reg;
	struct hy_arc *arc = NULL;
	int position = -1;

	while (position < 0 && (arc = hy_arc_next_of(arc)) != NULL)
		position = hy_arc_position(arc, reg->name);
	if (arc == NULL)
		return hy_node_refuse(graph, node, "is a feature of no arc that exists");
	if (lane >= reg->nb_lanes || strcmp(reg->lanes[lane], HY_ARC_LANE) != 0)
		return hy_node_refuse(graph, node, "has not '" HY_ARC_LANE "' as its lane %u",
			lane);
	*place = (struct hy_arc_place){
		.view = &arc->view, .position = (uint32_t)position, .lane = lane
	};
	return qsbr_check(graph, node, arc);
}
