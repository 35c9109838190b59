/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One side of a comparison: a node of the family that runs one variant, or a chain of nodes, between two
 * sources (so that it is also called with parts of its stream) and a sink on each edge. Sinks record
 * the fates of packets; the object operations record packets that a node releases.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_malloc.h>

#include "conform.h"

/* A helper node's configuration, and its context. */
struct helper {
	struct conform_side *side;
	uint16_t which; /* of the sources, or of the outs */
};

static struct conform_fate *
note(void *packet, uint16_t out)
{
	struct conform_tag *tag = conform_tag(packet);
	struct conform_fate *fate = &tag->side->fate[tag->index];

	fate->out = out;
	fate->times++;
	fate->order = tag->side->sent[out]++;
	return fate;
}

/* Set while a graph is destroyed: after a fault, its streams may contain invalid pointers. */
static _Thread_local bool forgets;

static void
note_released(void **objs, unsigned int n)
{
	for (unsigned int i = 0; i < n && !forgets; i++)
		note(objs[i], CONFORM_RELEASED);
}

/* The engine owns all packets: it frees them after it has compared them. */
static const struct hy_object_ops conform_ops = { .release = note_released };

static int
helper_init(const struct hy_graph *graph __rte_unused, struct hy_node *node, const void *config)
{
	memcpy(node->ctx, config, sizeof(struct helper));
	return 0;
}

static void *
wide_value(const struct conform_side *side, const struct hy_graph *graph,
	const struct hy_node *node, unsigned int l, unsigned int i)
{
	return RTE_PTR_ADD(hy_lane_wide(graph, node, l),
		(size_t)i * side->nodes[0].family->node.wide[l].bytes);
}

static uint16_t
source_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct helper *helper = node->ctx;
	struct conform_side *side = helper->side;

	n = RTE_MIN(n, side->limit[helper->which]);
	n = (uint16_t)RTE_MIN((uint32_t)n, side->end - side->in);
	for (uint16_t i = 0; i < n; i++) {
		objs[i] = side->packets[side->in + i];
		for (unsigned int l = 0; l < side->nb_lanes; l++)
			hy_lane(graph, node, l)[i] = side->lanes[side->in + i][l];
		for (unsigned int l = 0; l < side->nb_wide; l++)
			memcpy(wide_value(side, graph, node, l, i), side->wide[side->in + i][l],
				side->nodes[0].family->node.wide[l].bytes);
	}
	side->in += n;
	hy_stream_move(graph, node, 0, n);
	return n;
}

static uint16_t
sink_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct helper *helper = node->ctx;

	for (uint16_t i = 0; i < n; i++) {
		struct conform_fate *fate = note(objs[i], helper->which);

		if (helper->side->nb_nodes > 1)
			continue; /* a fusion writes no lanes */
		for (unsigned int l = 0; l < helper->side->nb_lanes; l++)
			fate->lanes[l] = hy_lane(graph, node, l)[i];
		for (unsigned int l = 0; l < helper->side->nb_wide; l++)
			memcpy(fate->wide[l], wide_value(helper->side, graph, node, l, i),
				helper->side->nodes[0].family->node.wide[l].bytes);
	}
	return n;
}

/* Registers a source or a sink. */
static int
helper_add(struct conform_side *side, const char *kind, uint16_t which, bool source, char *name)
{
	const struct helper config = { side, which };
	struct hy_node_desc desc = {
		.name = name,
		.flags = source ? HY_NODE_SOURCE : 0,
		.impl = { .process = source ? source_process : sink_process,
			.init = helper_init,
			.ctx_size = sizeof(struct helper) },
	};
	hy_node_id id;
	int rc;

	snprintf(name, HY_NAME_SIZE, "conform-%s-%s-%u", side->is.name, kind, which);
	desc.edges[0] = source ? side->nodes[0].name : NULL;
	if (source || side->nb_nodes == 1) { /* a chain that leads to lanes is not fused */
		memcpy(desc.lanes, side->nodes[0].family->node.lanes, sizeof(desc.lanes));
		memcpy(desc.wide, side->nodes[0].family->node.wide, sizeof(desc.wide));
	}
	rc = hy_node_register(&desc, &id);
	if (rc < 0)
		return rc;
	side->helpers[side->nb_helpers++] = id;
	return hy_node_config(id, &config, sizeof(config));
}

static bool
is_source(const struct conform_side *side)
{
	return (side->nodes[0].family->node.flags & HY_NODE_SOURCE) != 0;
}

/* The sink of an edge. */
static int
sink_add(struct conform_side *side, uint16_t out, char *name)
{
	return helper_add(side, "edge", out, false, name);
}

/* Adds the lanes of all nodes to those of a graph, each once. */
static void
lanes_add(const struct conform_side *side, const char *lanes[HY_LANES_MAX])
{
	unsigned int n = 0, l;

	for (unsigned int k = 0; k < side->nb_nodes; k++) {
		const char *const *of = side->nodes[k].family->node.lanes;

		for (unsigned int i = 0; i < HY_LANES_MAX && of[i] != NULL; i++) {
			for (l = 0; l < n && strcmp(lanes[l], of[i]) != 0; l++)
				;
			if (l == n && n < HY_LANES_MAX)
				lanes[n++] = of[i];
		}
	}
}

static int
graphs_create(struct conform_side *side, const uint16_t bursts[CONFORM_GRAPHS])
{
	char names[2][2 * HY_NAME_SIZE], drop[HY_NAME_SIZE], name[HY_NAME_SIZE];
	const char *const patterns[] = { names[0], names[1] };
	struct hy_graph_params params = {
		.patterns = patterns,
		.nb_patterns = is_source(side) ? 1 : 2,
		.ops = &conform_ops,
		.drop_node = drop,
		.sample_every = 1,
		.apart = !side->fused,
		.socket = SOCKET_ID_ANY,
	};
	int rc = helper_add(side, "drop", CONFORM_DROP, false, drop);

	lanes_add(side, params.lanes);
	params.wide = side->nodes[0].family->node.wide;
	params.nb_wide = side->nb_wide;
	if (is_source(side))
		strcpy(names[0], side->nodes[0].name);
	for (uint16_t s = 0; rc == 0 && s < 2 && !is_source(side); s++)
		rc = helper_add(side, "source", s, true, names[s]);
	for (unsigned int g = 0; rc == 0 && g < CONFORM_GRAPHS && bursts[g] > 0; g++) {
		snprintf(name, sizeof(name), "conform-%s-%u", side->is.name, g);
		params.burst = bursts[g];
		params.qsbr = side->is.qsbr;
		params.worker = side->is.qsbr == NULL ? 0 : (uint16_t)g;
		rc = hy_graph_create(name, &params, &side->graphs[g]);
	}
	return rc;
}

/* The QSBR variable of tables that change. */
static int
qsbr_create(struct conform_side *side)
{
	if (side->suite->change == NULL)
		return 0;
	side->is.qsbr = rte_zmalloc("conform", rte_rcu_qsbr_get_memsize(CONFORM_GRAPHS),
		RTE_CACHE_LINE_SIZE);
	return side->is.qsbr == NULL ? -ENOMEM : rte_rcu_qsbr_init(side->is.qsbr, CONFORM_GRAPHS);
}

int
conform_side_create(struct conform_side *side, const uint16_t bursts[CONFORM_GRAPHS])
{
	int rc = qsbr_create(side);

	conform_nodes_read(side);
	if (rc == 0 && side->suite->setup != NULL)
		rc = side->suite->setup(&side->is, &side->state);
	side->made = rc == 0;
	if (rc == 0)
		rc = conform_nodes_create(side, sink_add);
	if (rc == 0)
		rc = graphs_create(side, bursts);
	if (rc < 0)
		conform_side_destroy(side);
	return rc;
}

void
conform_side_destroy(struct conform_side *side)
{
	forgets = true;
	for (unsigned int g = 0; g < CONFORM_GRAPHS; g++) {
		hy_graph_destroy(side->graphs[g]);
		side->graphs[g] = NULL;
	}
	forgets = false;
	while (side->nb_helpers > 0)
		hy_node_unregister(side->helpers[--side->nb_helpers]);
	if (side->made && side->suite->teardown != NULL)
		side->suite->teardown(side->state);
	side->made = false;
	rte_free(side->is.qsbr);
	side->is.qsbr = NULL;
}

void
conform_side_begin(struct conform_side *side, uint32_t n)
{
	for (unsigned int out = 0; out < CONFORM_OUTS; out++) {
		side->sent_in_all[out] += side->sent[out];
		side->sent[out] = 0;
	}
	for (uint32_t i = 0; i < n; i++)
		side->fate[i] = (struct conform_fate){ .out = CONFORM_NO_OUT };
}

int
conform_side_send(struct conform_side *side, unsigned int graph, uint32_t first, uint32_t n)
{
	int rc;

	side->in = first;
	side->end = first + n;
	if (is_source(side)) {
		rc = side->suite->feed(side->state, side->packets + first, (uint16_t)n);
		if (rc < 0)
			return rc;
		/* watch.c stops a source that never ends. */
		while (hy_graph_walk(side->graphs[graph]) > 0)
			;
	} else {
		do { /* at least once: an empty burst is an empty walk */
			hy_graph_walk(side->graphs[graph]);
		} while (side->in < side->end);
	}
	hy_graph_rest(side->graphs[graph]);
	return 0;
}

void
conform_side_end(struct conform_side *side)
{
	struct rte_mbuf *taken[HY_BURST_MAX];
	uint16_t n;

	if (side->suite->take == NULL)
		return;
	while ((n = side->suite->take(side->state, taken, HY_BURST_MAX)) > 0)
		for (uint16_t i = 0; i < n; i++)
			note(taken[i], CONFORM_TAKEN);
}
