/* SPDX-License-Identifier: BSD-3-Clause */
/* From patterns to a checked, ranked set of nodes. */

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "lib/graph/arc/arc.h"
#include "lib/graph/internal/log.h"
#include "lib/graph/registry/params.h"
#include "topology.h"

#define NODES_MAX UINT16_MAX

/* A topology under construction. Nodes have no ranks yet: indexes are in order of discovery. */
struct build {
	const char *graph;
	const struct hy_graph_params *params;
	struct hy_topology *topo;
	bool direct;              /* edges lead to their targets: there are no detours, no arcs */
	unsigned int room;        /* for nodes */
	unsigned int *first_edge; /* of each node, in targets; one more at the end */
	unsigned int *targets;    /* index of each edge's target, node after node */
	unsigned int edge_room;   /* for targets */
	unsigned int drop;        /* index of the drop node; valid if any node can drop */
	unsigned int *order;      /* nodes in reverse postorder */
	struct detour {
		const struct hy_reg_node *target;
		struct hy_reg_node *instead;
	} * detours; /* as many as params has */
};

/* A table with room for one more entry than are used, or NULL without memory. */
static void *
table_grow(void *table, unsigned int *room, unsigned int used, size_t size)
{
	const unsigned int more = *room == 0 ? 16 : 2 * *room;

	if (used < *room)
		return table;
	table = realloc(table, more * size);
	if (table != NULL)
		*room = more;
	return table;
}

/* Adds a node once; node->mark is its index + 1. */
static int
node_add(struct build *b, struct hy_reg_node *node)
{
	struct hy_topology *topo = b->topo;
	struct hy_reg_node **nodes;

	if (node->mark != 0)
		return 0;
	if (topo->nb_nodes == NODES_MAX)
		return HY_REFUSE(-E2BIG, "graph '%s': more than %d nodes", b->graph, NODES_MAX);
	nodes = table_grow(topo->nodes, &b->room, topo->nb_nodes, sizeof(struct hy_reg_node *));
	if (nodes == NULL)
		return -ENOMEM;
	topo->nodes = nodes;
	nodes[topo->nb_nodes++] = node;
	node->mark = topo->nb_nodes;
	return 0;
}

static int
pattern_add(struct build *b, const char *pattern)
{
	struct hy_reg_node *node = hy_registry_find(pattern);
	unsigned int matched = 0;

	if (node != NULL) /* a name matches itself only: no need to look at all nodes */
		return node_add(b, node);
	for (node = hy_registry_next(0); node != NULL; node = hy_registry_next(node->id + 1)) {
		int rc;

		if (fnmatch(pattern, node->name, 0) != 0)
			continue;
		matched++;
		rc = node_add(b, node);
		if (rc < 0)
			return rc;
	}
	if (matched == 0)
		return HY_REFUSE(-ENOENT, "graph '%s': pattern '%s' matches no node", b->graph,
			pattern);
	return 0;
}

static int
patterns_add(struct build *b)
{
	int rc = 0;

	for (unsigned int p = 0; p < b->params->nb_patterns && rc == 0; p++)
		rc = pattern_add(b, b->params->patterns[p]);
	return rc;
}

static int
target_add(struct build *b, const struct hy_reg_node *from, bool own, struct hy_reg_node *to,
	const char *name, unsigned int *index)
{
	const struct hy_arc *arc;
	int rc;

	if (to == NULL)
		return HY_REFUSE(-ENOENT,
			"graph '%s': node '%s' leads to '%s', which is not registered", b->graph,
			from->name, name);
	arc = b->direct ? NULL : hy_arc_bars(from, own, to);
	if (arc != NULL)
		return HY_REFUSE(-EINVAL,
			"graph '%s': node '%s' leads to '%s', a feature of arc '%s'; only that arc "
			"may lead there",
			b->graph, from->name, name, arc->name);
	if ((to->flags & HY_NODE_SOURCE) != 0)
		return HY_REFUSE(-EINVAL, "graph '%s': edge from '%s' into the source '%s'",
			b->graph, from->name, name);
	rc = to->mark != 0 ? 0 : node_add(b, to);
	*index = to->mark - 1;
	return rc;
}

static int
drop_target_add(struct build *b, const struct hy_reg_node *from)
{
	if (b->params->drop_node == NULL)
		return HY_REFUSE(-EINVAL,
			"graph '%s': node '%s' can drop, but the graph names no drop_node",
			b->graph, from->name);
	if (strcmp(from->name, b->params->drop_node) == 0)
		return HY_REFUSE(-EINVAL,
			"graph '%s': its drop_node '%s' declares drop reasons itself", b->graph,
			from->name);
	return target_add(b, from, true, hy_registry_find(b->params->drop_node),
		b->params->drop_node, &b->drop);
}

static int
edge_add(struct build *b, unsigned int to)
{
	unsigned int *targets = table_grow(b->targets, &b->edge_room, b->topo->nb_edges,
		sizeof(*targets));

	if (targets == NULL)
		return -ENOMEM;
	b->targets = targets;
	targets[b->topo->nb_edges++] = to;
	return 0;
}

static int
detours_find(struct build *b)
{
	const struct hy_graph_params *params = b->params;

	b->detours = calloc(params->nb_detours + 1, sizeof(*b->detours));
	if (b->detours == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < params->nb_detours; i++) {
		const struct hy_detour *d = &params->detours[i];

		b->detours[i].target = hy_registry_find(d->target);
		b->detours[i].instead = hy_registry_find(d->instead);
		if (b->detours[i].target != NULL && b->detours[i].instead != NULL)
			continue;
		return HY_REFUSE(-ENOENT,
			"graph '%s': detour from '%s' to '%s', which is not registered", b->graph,
			d->target, b->detours[i].target == NULL ? d->target : d->instead);
	}
	return 0;
}

/*
 * The target of an edge in this graph, with detours; to may be NULL. own: no arc added the edge.
 * Edges that one added, or that leave it, lead where its chains say.
 */
static struct hy_reg_node *
detour(const struct build *b, const struct hy_reg_node *from, bool own, struct hy_reg_node *to)
{
	struct hy_reg_node *end = to;

	/* Objects on an arc came by the detour before it, and must not take it again. */
	if (to == NULL || !own || hy_arc_leaves(from, to))
		return to;
	for (unsigned int i = 0; i < b->params->nb_detours; i++) {
		if (b->detours[i].instead == from)
			return to;
		if (b->detours[i].target == to)
			end = b->detours[i].instead;
	}
	return end;
}

/* Adds the targets of a node's edges. */
static int
node_follow(struct build *b, const struct hy_reg_node *node)
{
	const unsigned int nb_own = b->direct ? node->nb_edges : hy_arc_edges_own(node);
	int rc = 0;

	for (unsigned int e = 0; e < node->nb_edges && rc == 0; e++) {
		struct hy_reg_edge *edge = &node->edges[e];
		struct hy_reg_node *target = hy_registry_target(edge);
		unsigned int to;

		/* An arc runs where its end runs, so detours come first. */
		if (!b->direct)
			target = hy_arc_detour(node, detour(b, node, e < nb_own, target));
		rc = target_add(b, node, e < nb_own, target, edge->target, &to);
		if (rc == 0)
			rc = edge_add(b, to);
	}
	if (rc == 0 && node->nb_drops > 0)
		rc = drop_target_add(b, node);
	return rc;
}

/* Adds the targets of all edges. */
static int
edges_follow(struct build *b)
{
	struct hy_topology *topo = b->topo;
	unsigned int room = 0;

	for (unsigned int i = 0; i < topo->nb_nodes; i++) {
		unsigned int *first = table_grow(b->first_edge, &room, i + 1, sizeof(*first));
		int rc;

		if (first == NULL)
			return -ENOMEM;
		b->first_edge = first;
		first[i] = topo->nb_edges;
		rc = node_follow(b, topo->nodes[i]);
		if (rc < 0)
			return rc;
		first[i + 1] = topo->nb_edges;
		topo->nb_sources += (topo->nodes[i]->flags & HY_NODE_SOURCE) != 0;
	}
	if (topo->nb_sources == 0)
		return HY_REFUSE(-EINVAL, "graph '%s': none of its %u nodes is a source", b->graph,
			topo->nb_nodes);
	return 0;
}

#define EDGE_TEXT (4 * HY_NAME_SIZE)

/* How an edge leads to its target: "edge 0 to 'a' (by a detour to 'b', by arc 'c')". */
static void
edge_describe(const struct build *b, const struct hy_reg_node *node, unsigned int e,
	char text[EDGE_TEXT])
{
	struct hy_reg_node *target = hy_registry_target(&node->edges[e]);
	struct hy_reg_node *end = detour(b, node, e < hy_arc_edges_own(node), target);
	struct hy_reg_node *to = hy_arc_detour(node, end);
	int used = snprintf(text, EDGE_TEXT, "edge %u to '%s'", e, target->name);

	if (end != target)
		used += snprintf(text + used, (size_t)(EDGE_TEXT - used), " (by a detour to '%s'%s",
			end->name, to == end ? ")" : ", ");
	if (to != end)
		snprintf(text + used, (size_t)(EDGE_TEXT - used), "%sby arc '%s')",
			end == target ? " (" : "", to->name);
}

/* Edges of a node must lead to different nodes, even after detours and arcs. */
static int
edges_check(const struct build *b)
{
	char first[EDGE_TEXT], second[EDGE_TEXT];
	const struct hy_reg_node *node;
	unsigned int to;
	struct hy_twins twins;
	int rc = hy_edges_distinct(b->topo->nb_nodes, b->first_edge, b->targets, &twins);

	if (rc != -EEXIST)
		return rc;
	node = b->topo->nodes[twins.node];
	to = b->targets[b->first_edge[twins.node] + twins.first];
	edge_describe(b, node, twins.first, first);
	edge_describe(b, node, twins.second, second);
	return HY_REFUSE(-EINVAL,
		"graph '%s': node '%s': %s and %s both lead to '%s'; edges of a node must lead to "
		"different nodes",
		b->graph, node->name, first, second, b->topo->nodes[to]->name);
}

static bool
lane_declared(const struct hy_graph_params *params, const char *lane)
{
	for (unsigned int i = 0; i < HY_LANES_MAX; i++)
		if (params->lanes[i] != NULL && strcmp(params->lanes[i], lane) == 0)
			return true;
	return false;
}

static int
lanes_check(const struct build *b)
{
	for (unsigned int i = 0; i < b->topo->nb_nodes; i++) {
		const struct hy_reg_node *node = b->topo->nodes[i];

		for (unsigned int l = 0; l < node->nb_lanes; l++) {
			if (lane_declared(b->params, node->lanes[l]))
				continue;
			return HY_REFUSE(-EINVAL,
				"graph '%s': node '%s' uses lane '%s', which is not declared",
				b->graph, node->name, node->lanes[l]);
		}
		for (unsigned int l = 0; l < node->nb_wide; l++)
			if (hy_wide_declared(b->graph, b->params, node->name, &node->wide[l]) < 0)
				return -EINVAL;
	}
	return 0;
}

/*
 * Depth-first search from one source. Writes finished nodes to b->order from its end towards its
 * start: reverse postorder, in which every edge but those into an open node leads forward.
 */
struct visit {
	unsigned int node;
	unsigned int left; /* successors to visit; the last one first, so that it ranks last */
};
enum { UNSEEN, OPEN, FINISHED };

static void
search_from(struct build *b, unsigned int root, struct visit *stack, uint8_t *state,
	unsigned int *slot)
{
	unsigned int depth = 1;

	stack[0] = (struct visit){ .node = root, .left = hy_successors(b->topo->nodes[root]) };
	state[root] = OPEN;
	while (depth > 0) {
		struct visit *top = &stack[depth - 1];
		unsigned int to;

		if (top->left == 0) {
			state[top->node] = FINISHED;
			b->order[--*slot] = top->node;
			depth--;
			continue;
		}
		top->left--;
		to = top->left < b->topo->nodes[top->node]->nb_edges
			? b->targets[b->first_edge[top->node] + top->left]
			: b->drop;
		if (state[to] == OPEN)
			b->topo->cyclic = true;
		if (state[to] != UNSEEN)
			continue;
		state[to] = OPEN;
		stack[depth++] = (struct visit){ .node = to,
			.left = hy_successors(b->topo->nodes[to]) };
	}
}

/* Searches from all sources, and refuses a node that none of them reaches. */
static int
order_find(struct build *b)
{
	const unsigned int n = b->topo->nb_nodes;
	struct visit *stack = calloc(n, sizeof(*stack));
	uint8_t *state = calloc(n, sizeof(*state));
	unsigned int slot = n;
	int rc = 0;

	b->order = calloc(n, sizeof(*b->order));
	if (stack == NULL || state == NULL || b->order == NULL) {
		rc = -ENOMEM;
		goto out;
	}
	for (unsigned int i = n; i-- > 0;)
		if ((b->topo->nodes[i]->flags & HY_NODE_SOURCE) != 0)
			search_from(b, i, stack, state, &slot);
	for (unsigned int i = 0; i < n && rc == 0; i++) {
		if (state[i] == UNSEEN)
			rc = HY_REFUSE(-EINVAL, "graph '%s': no source reaches node '%s'", b->graph,
				b->topo->nodes[i]->name);
	}
out:
	free(stack);
	free(state);
	return rc;
}

/* Puts nodes and their edges in rank order, sources first. */
static int
rank(struct build *b)
{
	struct hy_topology *topo = b->topo;
	const unsigned int n = topo->nb_nodes;
	struct hy_reg_node **ranked = calloc(n, sizeof(struct hy_reg_node *));
	unsigned int *rank_of = calloc(n, sizeof(*rank_of));
	unsigned int source = 0, other = topo->nb_sources, at = 0;
	int rc = -ENOMEM;

	topo->first_edge = calloc(n + 1, sizeof(*topo->first_edge));
	topo->targets = calloc(topo->nb_edges + 1, sizeof(*topo->targets));
	if (ranked == NULL || rank_of == NULL || topo->first_edge == NULL || topo->targets == NULL)
		goto out;
	for (unsigned int i = 0; i < n; i++) {
		struct hy_reg_node *node = topo->nodes[b->order[i]];
		const unsigned int r = (node->flags & HY_NODE_SOURCE) != 0 ? source++ : other++;

		ranked[r] = node;
		rank_of[b->order[i]] = r;
	}
	for (unsigned int r = 0; r < n; r++) {
		const unsigned int i = ranked[r]->mark - 1;

		topo->first_edge[r] = at;
		for (unsigned int e = b->first_edge[i]; e < b->first_edge[i + 1]; e++)
			topo->targets[at++] = rank_of[b->targets[e]];
		if (ranked[r]->nb_drops > 0)
			topo->drop_rank = rank_of[b->drop];
	}
	topo->first_edge[n] = at;
	RTE_SWAP(topo->nodes, ranked);
	rc = 0;
out:
	free(ranked);
	free(rank_of);
	return rc;
}

int
hy_topology_build(const char *graph, const struct hy_graph_params *params, struct hy_topology *topo)
{
	struct build b = { .graph = graph,
		.params = params,
		.topo = topo,
		.direct = params->nb_detours == 0 && hy_arc_next_of(NULL) == NULL };
	int rc;

	memset(topo, 0, sizeof(*topo));
	rc = detours_find(&b);
	if (rc == 0)
		rc = patterns_add(&b);
	if (rc == 0)
		rc = edges_follow(&b);
	if (rc == 0)
		rc = edges_check(&b);
	if (rc == 0)
		rc = lanes_check(&b);
	if (rc == 0)
		rc = order_find(&b);
	if (rc == 0)
		rc = rank(&b);
	if (rc == 0)
		rc = hy_topology_streams(topo, params->burst);
	for (unsigned int i = 0; i < topo->nb_nodes; i++)
		topo->nodes[i]->mark = 0;
	free(b.detours);
	free(b.first_edge);
	free(b.targets);
	free(b.order);
	if (rc < 0)
		hy_topology_free(topo);
	return rc;
}

void
hy_topology_free(struct hy_topology *topo)
{
	free(topo->nodes);
	free(topo->first_edge);
	free(topo->targets);
	memset(topo, 0, sizeof(*topo));
}
