/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One side of a comparison: a node of the family that runs one variant, between two sources (so
 * that it is also called with parts of its stream) and a sink on each edge. Sinks record the fates
 * of packets; the object operations record packets that a node releases.
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
		(size_t)i * side->family->node.wide[l].bytes);
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
				side->family->node.wide[l].bytes);
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

		for (unsigned int l = 0; l < helper->side->nb_lanes; l++)
			fate->lanes[l] = hy_lane(graph, node, l)[i];
		for (unsigned int l = 0; l < helper->side->nb_wide; l++)
			memcpy(fate->wide[l], wide_value(helper->side, graph, node, l, i),
				helper->side->family->node.wide[l].bytes);
	}
	return n;
}

const char *
conform_out_text(const struct conform_side *side, uint16_t out, char *text, size_t size)
{
	if (out == CONFORM_NO_OUT)
		snprintf(text, size, "nothing");
	else if (out == CONFORM_DROP)
		snprintf(text, size, "a drop");
	else if (out == CONFORM_RELEASED)
		snprintf(text, size, "a release");
	else if (out == CONFORM_TAKEN)
		snprintf(text, size, "sent out");
	else if (side->family->node.edges[RTE_MIN(out, HY_DESC_EDGES - 1)] != NULL)
		snprintf(text, size, "edge %u (%s)", out, side->family->node.edges[out]);
	else
		snprintf(text, size, "edge %u", out);
	return text;
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
	desc.edges[0] = source ? side->name : NULL;
	memcpy(desc.lanes, side->family->node.lanes, sizeof(desc.lanes));
	memcpy(desc.wide, side->family->node.wide, sizeof(desc.wide));
	rc = hy_node_register(&desc, &id);
	if (rc < 0)
		return rc;
	side->helpers[side->nb_helpers++] = id;
	return hy_node_config(id, &config, sizeof(config));
}

static bool
is_source(const struct conform_side *side)
{
	return (side->family->node.flags & HY_NODE_SOURCE) != 0;
}

/* Creates the node under test: a clone of the family's node, with its edges leading to sinks. */
static int
node_create(struct conform_side *side)
{
	const struct hy_node_impl impl = hy_variant_impl(side->family, side->variant);
	hy_node_id base;
	char name[HY_NAME_SIZE];
	int rc = hy_node_lookup(side->family->node.name, &base);

	if (rc == 0)
		rc = hy_node_clone(base, side->is.name, &side->node);
	if (rc < 0)
		return rc;
	side->helpers[side->nb_helpers++] = side->node;
	rc = hy_node_impl_set(side->node, &impl);
	if (rc == 0) /* remove edges that a program has added to the family's own node */
		rc = hy_node_edge_shrink(side->node, side->nb_edges - side->suite->nb_edges);
	for (uint16_t e = 0; rc == 0 && e < side->nb_edges; e++) {
		rc = helper_add(side, "edge", e, false, name);
		if (rc == 0)
			rc = e < side->nb_edges - side->suite->nb_edges
				? hy_node_edge_set(side->node, e, name)
				: hy_node_edge_add(side->node, name, NULL);
	}
	if (rc == 0 && side->suite->configure != NULL)
		rc = side->suite->configure(side->state, side->node);
	return rc;
}

static int
graphs_create(struct conform_side *side, const uint16_t bursts[CONFORM_GRAPHS])
{
	char names[2][HY_NAME_SIZE], drop[HY_NAME_SIZE], name[HY_NAME_SIZE];
	const char *const patterns[] = { names[0], names[1] };
	struct hy_graph_params params = {
		.patterns = patterns,
		.nb_patterns = is_source(side) ? 1 : 2,
		.ops = &conform_ops,
		.drop_node = drop,
		.sample_every = 1,
		.socket = SOCKET_ID_ANY,
	};
	int rc = helper_add(side, "drop", CONFORM_DROP, false, drop);

	memcpy(params.lanes, side->family->node.lanes, sizeof(params.lanes));
	params.wide = side->family->node.wide;
	params.nb_wide = side->nb_wide;
	if (is_source(side))
		strcpy(names[0], side->name);
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

/* Counts what the family declares. */
static void
contract_read(struct conform_side *side)
{
	const struct hy_node_desc *node = &side->family->node;

	snprintf(side->name, sizeof(side->name), "%s-%s", node->name, side->is.name);
	while (side->nb_edges < HY_DESC_EDGES && node->edges[side->nb_edges] != NULL)
		side->nb_edges++;
	while (side->nb_drops < HY_DESC_DROPS && node->drops[side->nb_drops].name != NULL)
		side->nb_drops++;
	while (side->nb_counters < HY_DESC_COUNTERS &&
		node->counters[side->nb_counters].name != NULL)
		side->nb_counters++;
	while (side->nb_lanes < HY_LANES_MAX && node->lanes[side->nb_lanes] != NULL)
		side->nb_lanes++;
	while (side->nb_wide < HY_WIDE_MAX && node->wide[side->nb_wide].bytes != 0)
		side->nb_wide++;
	side->nb_edges += side->suite->nb_edges;
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

	contract_read(side);
	if (rc == 0 && side->suite->setup != NULL)
		rc = side->suite->setup(&side->is, &side->state);
	side->made = rc == 0;
	if (rc == 0)
		rc = node_create(side);
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

unsigned int
conform_counts(const struct conform_side *side)
{
	return side->nb_edges + HY_CORE_DROPS + side->nb_drops + side->nb_counters + 1;
}

const char *
conform_count_text(const struct conform_side *side, unsigned int k, char *text, size_t size)
{
	const struct hy_node_desc *node = &side->family->node;

	if (k < side->nb_edges)
		snprintf(text, size, "edge %u", k);
	else if ((k -= side->nb_edges) < HY_CORE_DROPS)
		snprintf(text, size, "the core's drop %u", k);
	else if ((k -= HY_CORE_DROPS) < side->nb_drops)
		snprintf(text, size, "drop %s", node->drops[k].name);
	else if ((k -= side->nb_drops) < side->nb_counters)
		snprintf(text, size, "counter %s", node->counters[k].name);
	else
		snprintf(text, size, "packets taken");
	return text;
}

void
conform_counts_read(const struct conform_side *side, unsigned int graph, uint64_t *values)
{
	const struct hy_node *node = NULL;
	struct hy_node *found;

	if (hy_graph_node(side->graphs[graph], side->name, &found) == 0)
		node = found;
	for (int e = 0; e < side->nb_edges; e++)
		*values++ = node->edges[e].objs;
	for (int d = 0; d < HY_CORE_DROPS + side->nb_drops; d++)
		*values++ = node->edges[-1 - d].objs;
	for (int c = 0; c < side->nb_counters; c++)
		*values++ = node->edges[HY_COUNTER_SLOT(c)].objs;
	*values = node->objs;
}
