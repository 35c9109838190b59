/* SPDX-License-Identifier: BSD-3-Clause */
/* Shadows in a walk: runs a node on a burst, and keeps objects that its targets have no room for. */

#include <string.h>

#include "compat.h"

static_assert(RTE_GRAPH_BURST_SIZE <= HY_BURST_MAX, "a node is handed a whole burst in one call");

static __rte_always_inline uint16_t
run(const struct binding *binding, struct hy_node *core, uint16_t n)
{
	struct rte_node *node = &binding->shadow->pub;
	uint16_t done;

	hy_compat_table_use(node, binding->table);
	node->core = core;
	node->idx = n;
	done = node->process(node->graph, node, node->objs, n);
	node->idx = 0;
	hy_count(&node->total_calls, 1);
	hy_count(&node->total_objs, done);
	return done;
}

/* Whether late objects are next: after those of the stream, which was full. */
static bool
late_is_due(const struct hy_graph *graph, uint16_t n)
{
	return graph->plan.throttled || graph->cursor + n == graph->plan.stream_cap;
}

static __rte_always_inline uint16_t
run_burst(const struct binding *binding, struct hy_node *core, void **objs, uint16_t n)
{
	struct rte_node *node = &binding->shadow->pub;

	rte_memcpy(node->objs, objs, n * sizeof(*objs));
	return run(binding, core, n);
}

/* Counts its objects itself: with the previous burst, they may exceed what a call can return. */
static __rte_noinline void
run_late(const struct binding *binding, struct hy_node *core)
{
	struct shadow *shadow = binding->shadow;
	const uint32_t late = shadow->pub.nb_late;

	for (uint32_t i = 0, n; i < late; i += n) {
		n = RTE_MIN(late - i, (uint32_t)RTE_GRAPH_BURST_SIZE);
		hy_count(&core->objs, run_burst(binding, core, shadow->late + i, (uint16_t)n));
	}
	shadow->pub.nb_late = 0;
}

uint16_t
hy_compat_process(struct hy_graph *graph, struct hy_node *core, void **objs, uint16_t n)
{
	const struct binding *binding = core->ctx;
	struct rte_node *node = &binding->shadow->pub;
	uint16_t done;

	done = run_burst(binding, core, objs, n);
	if (unlikely(node->nb_late > 0) && late_is_due(graph, n))
		run_late(binding, core);
	return done;
}

/*
 * A source is not told how many objects there is room for, and makes a whole burst: it has to wait
 * until there is room for one. What it claims beyond that is not for the core, which takes it off
 * the room that is left. A trace looks for what a source has made in the core's stream.
 */
uint16_t
hy_compat_process_source(struct hy_graph *graph, struct hy_node *core, void **objs, uint16_t n)
{
	const struct binding *binding = core->ctx;
	uint16_t done;

	if (n < RTE_GRAPH_BURST_SIZE)
		return 0;
	done = RTE_MIN(run(binding, core, 0), n);
	if (unlikely((__atomic_load_n(&graph->attention, __ATOMIC_RELAXED) & HY_ATTEND_TRACE) != 0))
		memcpy(objs, binding->shadow->pub.objs, done * sizeof(*objs));
	return done;
}

void
hy_compat_send_late(struct rte_graph *graph, struct rte_node *node, rte_edge_t next, void **objs,
	uint32_t n)
{
	const uint16_t edge = node->edges[next].core;
	struct shadow *to = (struct shadow *)node->nodes[next];
	const uint32_t room = graph->core->plan.stream_cap - node->core->edges[edge].to->waiting;
	const uint32_t late = RTE_MIN(n - room, (uint32_t)(UINT16_MAX - to->pub.nb_late));

	hy_enqueue(graph->core, node->core, edge, objs, (uint16_t)room);
	memcpy(to->late + to->pub.nb_late, objs + room, late * sizeof(*objs));
	to->pub.nb_late = (uint16_t)(to->pub.nb_late + late);
	hy_count(&node->core->edges[edge].objs, late);
	hy_enqueue(graph->core, node->core, edge, objs + room + late, (uint16_t)(n - room - late));
}
