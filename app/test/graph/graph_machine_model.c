/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine's model: which nodes make a graph, what a live change does, what must be counted. */

#include <string.h>

#include <rte_common.h>

#include "graph_machine_model.h"

/* Nodes in the order in which they were found. */
struct found {
	struct machine_image *image;
	unsigned int nodes[MACHINE_NODES];
};

static void
take_in(struct found *found, unsigned int node)
{
	const struct machine_node *m = &machine.nodes[node];
	struct machine_image *image = found->image;

	if (image->in[node])
		return;
	image->in[node] = true;
	found->nodes[image->nb_nodes++] = node;
	image->nb_sources += m->source;
	image->can_drop[node] = m->can_drop;
	image->nb_edges[node] = m->nb_edges;
	memcpy(image->edges[node], m->edges, sizeof(m->edges));
	image->impl[node] = m->impl;
	image->revision[node] = m->revision;
	image->serial[node] = m->serial;
	image->replicating |= m->replicates > 1;
}

static unsigned int
lead_to(struct found *found, unsigned int target)
{
	if (!machine.nodes[target].registered)
		return ANY_NOENT;
	if (machine.nodes[target].source)
		return ANY_INVAL;
	take_in(found, target);
	return 0;
}

static unsigned int
follow(struct found *found, unsigned int node)
{
	const struct machine_node *m = &machine.nodes[node];
	const struct machine_image *image = found->image;
	unsigned int errors = 0;

	for (unsigned int e = 0; e < m->nb_edges; e++)
		errors |= lead_to(found, m->edges[e]);
	if (m->can_drop && (image->drop < 0 || image->drop == (int)node))
		errors |= ANY_INVAL;
	else if (m->can_drop)
		errors |= lead_to(found, (unsigned int)image->drop);
	for (unsigned int l = 0; l < m->nb_lanes; l++)
		if (!image->lane[m->lanes[l]])
			errors |= ANY_INVAL;
	return errors;
}

/* Depth first from a node; a way back into one that is open closes a cycle. */
static void
visit(struct machine_image *image, unsigned int node, uint8_t state[])
{
	const unsigned int n = image->nb_edges[node] + image->can_drop[node];

	state[node] = 1;
	for (unsigned int e = 0; e < n; e++) {
		const unsigned int to = e < image->nb_edges[node] ? image->edges[node][e]
								  : (unsigned int)image->drop;

		if (state[to] == 0)
			visit(image, to, state);
		image->cyclic |= state[to] == 1;
	}
	state[node] = 2;
}

unsigned int
model_compile(const struct machine_params *params, struct machine_image *image)
{
	struct found found = { .image = image };
	uint8_t state[MACHINE_NODES] = { 0 };
	unsigned int errors = 0;

	memset(image, 0, sizeof(*image));
	image->drop = params->drop;
	image->burst = params->burst == 0 ? HY_BURST_DEFAULT : params->burst;
	for (unsigned int l = 0; l < params->nb_lanes; l++)
		image->lane[params->lanes[l]] = true;
	for (unsigned int i = 0; params->all && i < machine.setup.nb_nodes; i++)
		if (machine.nodes[i].registered)
			take_in(&found, i);
	if (params->all && image->nb_nodes == 0)
		errors |= ANY_NOENT;
	for (unsigned int i = 0; i < params->nb; i++) {
		if (machine.nodes[params->nodes[i]].registered)
			take_in(&found, params->nodes[i]);
		else
			errors |= ANY_NOENT;
	}
	for (unsigned int i = 0; i < image->nb_nodes; i++)
		errors |= follow(&found, found.nodes[i]);
	if (image->nb_sources == 0)
		errors |= ANY_INVAL;
	if (errors != 0)
		return errors;
	for (unsigned int i = 0; i < machine.setup.nb_nodes; i++)
		if (image->in[i] && machine.nodes[i].source)
			visit(image, i, state);
	for (unsigned int i = 0; i < machine.setup.nb_nodes; i++)
		if (image->in[i] && state[i] == 0)
			errors |= ANY_INVAL; /* no source reaches it */
	return errors;
}

void
model_wants_inits(struct machine_graph *g, const struct machine_image *before,
	const struct machine_image *image)
{
	for (unsigned int i = 0; i < machine.setup.nb_nodes; i++)
		g->inits_wanted[i] += image->in[i] &&
			(before == NULL || !before->in[i] ||
				before->revision[i] != image->revision[i]);
}

/* From now on statistics tell of what an image has, for ever. */
void
model_note(struct machine_graph *g, const struct machine_image *image)
{
	for (unsigned int i = 0; i < machine.setup.nb_nodes; i++) {
		if (!image->in[i])
			continue;
		g->was[i] = true;
		g->was_drop[i] |= image->can_drop[i];
		for (unsigned int e = 0; e < image->nb_edges[i]; e++)
			g->was_edge[i][image->edges[i][e]] = true;
	}
}

void
model_take_up(unsigned int graph)
{
	struct machine_graph *g = &machine.graphs[graph];

	g->pending = false;
	g->may_lose = (g->may_lose && g->waiting > 0) || (g->next.cyclic && g->next.replicating);
	for (uint32_t i = 0; i < machine.nb_objs && g->waiting > 0; i++) {
		struct machine_obj *o = &machine_objs[i];

		if (o->state != WAITING || o->graph != graph)
			continue;
		if (!g->next.in[o->at]) {
			o->state = EXPECTED;
			machine.expected++;
			g->waiting--;
			g->removed[o->at]++;
			machine_counts.removed++;
			continue;
		}
		machine_counts.carried++;
		for (unsigned int l = 0; l < LANES; l++) {
			if (g->next.lane[l] && g->now.lane[l])
				continue;
			o->lane[l] = 0;
			o->known[l] = true;
		}
	}
	g->now = g->next;
	model_note(g, &g->now);
}

static void
compare_count(const char *what, unsigned int node, unsigned int to, uint64_t got, uint64_t wanted)
{
	machine_counts.counters++;
	CHECK(got == wanted, "statistics: node %u: %s %u: %ju, expected %ju", node, what, to,
		(uintmax_t)got, (uintmax_t)wanted);
}

static const struct hy_edge_stats *
entry(const struct hy_edge_stats *edges, unsigned int n, const char *name)
{
	static const struct hy_edge_stats none;
	const struct hy_edge_stats *found = &none;

	for (unsigned int i = 0; i < n; i++) {
		if (strcmp(edges[i].name, name) != 0)
			continue;
		CHECK(found == &none, "statistics: '%s' twice", name);
		found = &edges[i];
	}
	return found;
}

static void
compare_edges(const struct machine_graph *g, unsigned int node, const struct hy_node_stats *s)
{
	unsigned int nb_edges = 0;

	for (unsigned int to = 0; to < machine.setup.nb_nodes; to++) {
		const struct hy_edge_stats *e;
		bool has = false;
		char name[HY_NAME_SIZE];

		if (!g->was_edge[node][to])
			continue;
		nb_edges++;
		machine_name(to, name);
		e = entry(s->edges, s->nb_edges, name);
		for (unsigned int i = 0; g->now.in[node] && i < g->now.nb_edges[node]; i++)
			has |= g->now.edges[node][i] == to;
		CHECK(strcmp(e->name, name) == 0, "statistics: no edge from %u to %u", node, to);
		CHECK(e->gone == !has, "statistics: edge from %u to %u: gone is %d", node, to,
			e->gone);
		compare_count("objects on the edge to", node, to, e->objs, g->by_edge[node][to]);
	}
	CHECK(s->nb_edges == nb_edges, "statistics: node %u has %u edges, expected %u", node,
		s->nb_edges, nb_edges);
}

static void
compare_node(const struct machine_graph *g, unsigned int node, const struct hy_node_stats *s)
{
	static const char *const drops[MACHINE_DROPS] = { "d0", "d1" };
	const char *variant = g->now.impl[node] == 0 ? "a" : "b";

	CHECK(s->gone == !g->now.in[node], "statistics: node %u: gone is %d", node, s->gone);
	CHECK(s->gone || strcmp(s->variant, variant) == 0,
		"statistics: node %u: variant is %s, expected %s", node, s->variant, variant);
	compare_count("calls of", node, node, s->calls, g->calls[node]);
	compare_count("objects at", node, node, s->objs, g->objs[node]);
	compare_count("stream_full of", node, node,
		entry(s->drops, s->nb_drops, "stream_full")->objs, g->full[node]);
	compare_count("node_removed of", node, node,
		entry(s->drops, s->nb_drops, "node_removed")->objs, g->removed[node]);
	for (unsigned int d = 0; d < MACHINE_DROPS; d++)
		compare_count("drops", node, d, entry(s->drops, s->nb_drops, drops[d])->objs,
			g->by_drop[node][d]);
	CHECK(s->nb_drops == (g->was_drop[node] ? HY_CORE_DROPS + MACHINE_DROPS : HY_CORE_DROPS),
		"statistics: node %u has %u drop reasons", node, s->nb_drops);
	compare_edges(g, node, s);
}

void
model_compare(unsigned int graph)
{
	const struct machine_graph *g = &machine.graphs[graph];
	const char name[] = { 'g', (char)('0' + graph), '\0' };
	struct hy_stats *stats = NULL;
	unsigned int nb_nodes = 0;

	if (hy_stats_read(name, &stats) != 0) {
		machine_wrong("no statistics of graph %s", name);
		return;
	}
	for (unsigned int i = 0; i < machine.setup.nb_nodes; i++) {
		const struct hy_node_stats *s = NULL;
		char node[HY_NAME_SIZE];

		CHECK(g->live[i] == g->now.in[i], "node %u: %d contexts, expected %d", i,
			g->live[i], g->now.in[i]);
		CHECK(g->inits[i] == g->inits_wanted[i], "node %u: %ju init(), expected %ju", i,
			(uintmax_t)g->inits[i], (uintmax_t)g->inits_wanted[i]);
		if (!g->was[i])
			continue;
		nb_nodes++;
		machine_name(i, node);
		for (unsigned int k = 0; k < stats->nb_nodes && s == NULL; k++)
			if (strcmp(stats->nodes[k].name, node) == 0)
				s = &stats->nodes[k];
		if (s == NULL)
			machine_wrong("no statistics of node %s", node);
		else
			compare_node(g, i, s);
	}
	CHECK(stats->nb_nodes == nb_nodes, "statistics of %u nodes, expected %u", stats->nb_nodes,
		nb_nodes);
	hy_stats_free(stats);
}
