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
#include "lib/graph/registry/reg_node.h"
#include "topology.h"

#define NODES_MAX UINT16_MAX

/* What is being built, before the nodes have ranks: indexes are in order of discovery. */
struct build {
	const char *graph;
	const struct hy_graph_params *params;
	struct hy_topology *topo;
	unsigned int room;        /* for nodes */
	unsigned int *first_edge; /* of each node, in targets; one more at the end */
	unsigned int *targets;    /* index of each edge's target, node after node */
	unsigned int edge_room;   /* for targets */
	unsigned int drop;   /* index of the node that drops go to; valid if any node can drop */
	unsigned int *order; /* nodes in reverse postorder */
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
	if (topo->nb_nodes == NODES_MAX) {
		HY_LOG(ERR, "graph '%s': more than %d nodes", b->graph, NODES_MAX);
		return -E2BIG;
	}
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
	if (matched == 0) {
		HY_LOG(ERR, "graph '%s': pattern '%s' matches no node", b->graph, pattern);
		return -ENOENT;
	}
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
target_add(struct build *b, const struct hy_reg_node *from, struct hy_reg_node *to,
	const char *name, unsigned int *index)
{
	int rc;

	if (to == NULL) {
		HY_LOG(ERR, "graph '%s': node '%s' leads to '%s', which is not registered",
			b->graph, from->name, name);
		return -ENOENT;
	}
	if ((to->flags & HY_NODE_SOURCE) != 0) {
		HY_LOG(ERR, "graph '%s': edge from '%s' into the source '%s'", b->graph, from->name,
			name);
		return -EINVAL;
	}
	rc = node_add(b, to);
	*index = to->mark - 1;
	return rc;
}

static int
drop_target_add(struct build *b, const struct hy_reg_node *from)
{
	if (b->params->drop_node == NULL) {
		HY_LOG(ERR, "graph '%s': node '%s' can drop, but the graph names no drop_node",
			b->graph, from->name);
		return -EINVAL;
	}
	if (strcmp(from->name, b->params->drop_node) == 0) {
		HY_LOG(ERR, "graph '%s': its drop_node '%s' declares drop reasons itself", b->graph,
			from->name);
		return -EINVAL;
	}
	return target_add(b, from, hy_registry_find(b->params->drop_node), b->params->drop_node,
		&b->drop);
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
		HY_LOG(ERR, "graph '%s': detour from '%s' to '%s', which is not registered",
			b->graph, d->target, b->detours[i].target == NULL ? d->target : d->instead);
		return -ENOENT;
	}
	return 0;
}

/* Where an edge from a node to another leads in this graph; to may be NULL. */
static struct hy_reg_node *
detour(const struct build *b, const struct hy_reg_node *from, struct hy_reg_node *to)
{
	struct hy_reg_node *end = to;

	/* What is on an arc has come by the detour before it: it is not to go round. */
	if (to == NULL || hy_arc_leaves(from, to))
		return to;
	for (unsigned int i = 0; i < b->params->nb_detours; i++) {
		if (b->detours[i].instead == from)
			return to;
		if (b->detours[i].target == to)
			end = b->detours[i].instead;
	}
	return end;
}

/* Takes in what a node's edges lead to. */
static int
node_follow(struct build *b, const struct hy_reg_node *node)
{
	int rc = 0;

	for (unsigned int e = 0; e < node->nb_edges && rc == 0; e++) {
		struct hy_reg_edge *edge = &node->edges[e];
		struct hy_reg_node *target = hy_registry_target(edge);
		struct hy_reg_node *end = detour(b, node, target);
		unsigned int to;

		/* An arc is where its end runs: detours come first. */
		rc = target_add(b, node, hy_arc_detour(node, end), edge->target, &to);
		if (rc == 0)
			rc = edge_add(b, to);
	}
	if (rc == 0 && node->nb_drops > 0)
		rc = drop_target_add(b, node);
	return rc;
}

/* Takes in all that edges lead to. */
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
	if (topo->nb_sources == 0) {
		HY_LOG(ERR, "graph '%s': none of its %u nodes is a source", b->graph,
			topo->nb_nodes);
		return -EINVAL;
	}
	return 0;
}

#define EDGE_TEXT (4 * HY_NAME_SIZE)

/* How an edge leads to its target: "edge 0 to 'a' (by a detour to 'b', by arc 'c')". */
static void
edge_describe(const struct build *b, const struct hy_reg_node *node, unsigned int e,
	char text[EDGE_TEXT])
{
	struct hy_reg_node *target = hy_registry_target(&node->edges[e]);
	struct hy_reg_node *end = detour(b, node, target);
	struct hy_reg_node *to = hy_arc_detour(node, end);
	int used = snprintf(text, EDGE_TEXT, "edge %u to '%s'", e, target->name);

	if (end != target)
		used += snprintf(text + used, (size_t)(EDGE_TEXT - used), " (by a detour to '%s'%s",
			end->name, to == end ? ")" : ", ");
	if (to != end)
		snprintf(text + used, (size_t)(EDGE_TEXT - used), "%sby arc '%s')",
			end == target ? " (" : "", to->name);
}

/* Where detours and arcs have led edges, they must be different nodes still. */
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
	HY_LOG(ERR,
		"graph '%s': node '%s': %s and %s both lead to '%s'; edges of a node must lead to "
		"different nodes",
		b->graph, node->name, first, second, b->topo->nodes[to]->name);
	return -EINVAL;
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
			HY_LOG(ERR, "graph '%s': node '%s' uses lane '%s', which is not declared",
				b->graph, node->name, node->lanes[l]);
			return -EINVAL;
		}
	}
	return 0;
}

/* Edges of a node, with one more for all its drops. */
static unsigned int
successors(const struct hy_reg_node *node)
{
	return node->nb_edges + (node->nb_drops > 0);
}

static unsigned int
successor(const struct build *b, unsigned int node, unsigned int e)
{
	return e < b->topo->nodes[node]->nb_edges ? b->targets[b->first_edge[node] + e] : b->drop;
}

/*
 * Depth-first search from one source. Writes finished nodes to b->order from its end towards its
 * start: reverse postorder, in which every edge but those into an open node leads forward.
 */
struct visit {
	unsigned int node;
	unsigned int left; /* successors to look at; the last one first, so that it ranks last */
};
enum { UNSEEN, OPEN, FINISHED };

static void
search_from(struct build *b, unsigned int root, struct visit *stack, uint8_t *state,
	unsigned int *slot)
{
	unsigned int depth = 1;

	stack[0] = (struct visit){ .node = root, .left = successors(b->topo->nodes[root]) };
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
		to = successor(b, top->node, --top->left);
		if (state[to] == OPEN)
			b->topo->cyclic = true;
		if (state[to] != UNSEEN)
			continue;
		state[to] = OPEN;
		stack[depth++] = (struct visit){ .node = to,
			.left = successors(b->topo->nodes[to]) };
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
		if (state[i] == UNSEEN) {
			HY_LOG(ERR, "graph '%s': no source reaches node '%s'", b->graph,
				b->topo->nodes[i]->name);
			rc = -EINVAL;
		}
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

/* The rank that successor e of the node of rank r has. */
static unsigned int
successor_rank(const struct hy_topology *topo, unsigned int r, unsigned int e)
{
	return e < topo->nodes[r]->nb_edges ? topo->targets[topo->first_edge[r] + e]
					    : topo->drop_rank;
}

/* The most sources that lead to one node: each brings at most a burst to it in one walk. */
static int
converging_sources(const struct hy_topology *topo, uint64_t *most)
{
	const unsigned int words = (topo->nb_sources + 63) / 64;
	uint64_t *reach = calloc((size_t)topo->nb_nodes * words, sizeof(*reach));

	if (reach == NULL)
		return -ENOMEM;
	*most = 1;
	for (unsigned int r = 0; r < topo->nb_nodes; r++) {
		uint64_t *own = &reach[(size_t)r * words], count = 0;

		if (r < topo->nb_sources)
			own[r / 64] |= UINT64_C(1) << (r % 64);
		for (unsigned int w = 0; w < words; w++)
			count += (unsigned int)__builtin_popcountll(own[w]);
		*most = RTE_MAX(*most, count);
		for (unsigned int e = 0; e < successors(topo->nodes[r]); e++) {
			uint64_t *to = &reach[(size_t)successor_rank(topo, r, e) * words];

			for (unsigned int w = 0; w < words; w++)
				to[w] |= own[w];
		}
	}
	free(reach);
	return 0;
}

/*
 * Objects that can come of one object of each source, summed over sources: the product of declared
 * replication along the worst path. Capped at HY_STREAM_MAX, back edges left out.
 */
static int
replicated_objects(const struct hy_topology *topo, uint64_t *objects)
{
	uint64_t *grown = calloc(topo->nb_nodes, sizeof(*grown));

	if (grown == NULL)
		return -ENOMEM;
	*objects = 0;
	for (unsigned int r = topo->nb_nodes; r-- > 0;) {
		const unsigned int n = successors(topo->nodes[r]);

		grown[r] = 1;
		for (unsigned int e = 0; e < n; e++) {
			const unsigned int to = successor_rank(topo, r, e);

			if (to > r)
				grown[r] = RTE_MAX(grown[r], grown[to]);
		}
		if (n > 0 && r >= topo->nb_sources)
			grown[r] *= topo->nodes[r]->replicates;
		grown[r] = RTE_MIN(grown[r], (uint64_t)HY_STREAM_MAX);
		if (r < topo->nb_sources)
			*objects += grown[r];
	}
	free(grown);
	return 0;
}

/*
 * Fixes the streams' capacity. Without replication a node never holds more than a burst of each
 * source that reaches it; in a cycle, than all that is under way, which the walk bounds by what it
 * lets sources make. With replication and a cycle, or beyond HY_STREAM_MAX, no capacity is enough,
 * and the walk has to give nodes only as much as their targets have room for.
 */
static int
streams_size(struct build *b)
{
	struct hy_topology *topo = b->topo;
	bool replicating = false;
	uint64_t bursts;
	int rc = 0;

	for (unsigned int r = topo->nb_sources; r < topo->nb_nodes; r++)
		replicating |= topo->nodes[r]->replicates > 1;
	if (replicating)
		rc = replicated_objects(topo, &bursts);
	else if (topo->cyclic)
		bursts = topo->nb_sources;
	else
		rc = converging_sources(topo, &bursts);
	if (rc < 0)
		return rc;
	bursts *= b->params->burst;
	topo->throttled = (replicating && topo->cyclic) || bursts > HY_STREAM_MAX;
	topo->stream_cap = (uint32_t)RTE_MIN(bursts, (uint64_t)HY_STREAM_MAX);
	return 0;
}

int
hy_topology_build(const char *graph, const struct hy_graph_params *params, struct hy_topology *topo)
{
	struct build b = { .graph = graph, .params = params, .topo = topo };
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
		rc = streams_size(&b);
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
