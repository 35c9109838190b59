/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shadows: what node code sees of a node of the core, and how the two are bound to each other. A
 * shadow belongs to the adapter, and stays where it is when the core's image of the graph is
 * replaced. What differs between images, where edges lead, is in a table, which the node's context
 * in the core brings along.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <rte_malloc.h>

#include "compat.h"

/*
 * The room of a shadow's array. A node is handed a burst at most, but may ask for room for as many
 * objects as a uint16_t counts. Memory that nobody touches is only addresses: what is not asked for
 * costs nothing, and what is asked for need not be allocated while the graph is walked.
 */
#define STREAM_SIZE ((UINT16_MAX + 1) * sizeof(void *))

_Thread_local const struct compat_graph *hy_compat_compiling;

static void **
stream_new(void)
{
	void *stream = mmap(NULL, STREAM_SIZE, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return stream == MAP_FAILED ? NULL : stream;
}

static void
table_unref(struct table *table)
{
	if (table == NULL || __atomic_sub_fetch(&table->refs, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	for (rte_edge_t e = 0; e < table->nb_edges; e++)
		if (table->edges[e].own && table->edges[e].stream != NULL)
			munmap(table->edges[e].stream, STREAM_SIZE);
	free(table);
}

/*
 * Leads the edges of a node to shadows. The first edge to a target writes into the target's own
 * array, which is idle while another node runs; one more edge to it gets an array of its own, so
 * that a node can fill both at once.
 */
static struct table *
table_new(const struct compat_node *from)
{
	const rte_edge_t n = from->nb_edges;
	struct table *table = calloc(1,
		sizeof(*table) + n * (sizeof(*table->edges) + sizeof(struct rte_node *)));

	if (table == NULL)
		return NULL;
	table->refs = 1;
	table->nb_edges = n;
	table->edges = (struct hy_compat_edge *)(table + 1);
	table->nodes = (struct rte_node **)(table->edges + n);
	for (rte_edge_t e = 0; e < n; e++) {
		struct hy_compat_edge *edge = &table->edges[e];

		table->nodes[e] = &hy_compat_node_find(from->edges[e])->shadow->pub;
		edge->core = from->core_edges[e];
		for (rte_edge_t before = 0; before < e && !edge->own; before++)
			edge->own = table->edges[before].core == edge->core;
		edge->stream = edge->own ? stream_new() : table->nodes[e]->objs;
		if (edge->stream == NULL) {
			table_unref(table);
			return NULL;
		}
	}
	return table;
}

static void
shadow_free(struct shadow *shadow)
{
	table_unref(shadow->current);
	table_unref(shadow->staged);
	if (shadow->pub.objs != NULL)
		munmap(shadow->pub.objs, STREAM_SIZE);
	if (shadow->late != NULL)
		munmap(shadow->late, STREAM_SIZE);
	free(shadow->pub.xstats);
	rte_free(shadow);
}

/* The shadow of a node in a graph: that which it had before, if any. */
static struct shadow *
shadow_get(struct compat_graph *graph, const struct compat_node *from)
{
	const struct compat_node *parent = hy_compat_node(from->parent_id);
	struct shadow *shadow = graph->shadows;

	while (shadow != NULL && shadow->from != from)
		shadow = shadow->next;
	if (shadow != NULL)
		return shadow;
	shadow = rte_zmalloc_socket("hy_compat", sizeof(*shadow), RTE_CACHE_LINE_SIZE,
		graph->pub.socket);
	if (shadow == NULL)
		return NULL;
	shadow->from = from;
	shadow->pub.fence = RTE_GRAPH_FENCE;
	shadow->pub.id = from->id;
	shadow->pub.parent_id = from->parent_id;
	strcpy(shadow->pub.name, from->name);
	if (parent != NULL)
		strcpy(shadow->pub.parent, parent->name);
	shadow->pub.graph = &graph->pub;
	shadow->pub.size = RTE_GRAPH_BURST_SIZE;
	shadow->pub.process = from->arc_process == NULL ? from->process : from->arc_process;
	shadow->pub.dispatch.lcore_id = from->lcore_id;
	shadow->pub.objs = stream_new();
	shadow->late = stream_new();
	shadow->pub.nb_xstats = from->nb_xstats;
	shadow->pub.xstats = calloc(from->nb_xstats + 1u, sizeof(uint64_t));
	if (shadow->pub.objs == NULL || shadow->late == NULL || shadow->pub.xstats == NULL) {
		shadow_free(shadow);
		return NULL;
	}
	shadow->next = graph->shadows;
	graph->shadows = shadow;
	return shadow;
}

int
hy_compat_shadows_stage(struct compat_graph *graph, const struct node_set *set)
{
	for (rte_node_t i = 0; i < set->n; i++) {
		set->nodes[i]->shadow = shadow_get(graph, set->nodes[i]);
		if (set->nodes[i]->shadow == NULL)
			return -ENOMEM;
	}
	for (rte_node_t i = 0; i < set->n; i++) {
		set->nodes[i]->shadow->staged = table_new(set->nodes[i]);
		if (set->nodes[i]->shadow->staged == NULL)
			return -ENOMEM;
	}
	return 0;
}

void
hy_compat_shadows_withdraw(struct compat_graph *graph)
{
	for (struct shadow *shadow = graph->shadows; shadow != NULL; shadow = shadow->next) {
		table_unref(shadow->staged);
		shadow->staged = NULL;
	}
}

void
hy_compat_shadows_commit(struct compat_graph *graph)
{
	for (struct shadow *shadow = graph->shadows; shadow != NULL; shadow = shadow->next) {
		table_unref(shadow->current);
		shadow->current = shadow->staged;
		shadow->staged = NULL;
	}
}

void
hy_compat_shadows_free(struct compat_graph *graph)
{
	while (graph->shadows != NULL) {
		struct shadow *shadow = graph->shadows;

		graph->shadows = shadow->next;
		shadow_free(shadow);
	}
}

/* Whether the core compiles the adapter's graph, and not another one that an init() of it makes. */
static bool
is_compiled(const struct hy_graph *core)
{
	const struct compat_graph *graph = hy_compat_compiling;
	struct hy_graph_params params;
	char name[HY_NAME_SIZE];

	if (graph == NULL)
		return false;
	hy_compat_core_name(name, graph->pub.name, graph->pub.id);
	hy_graph_params_get(core, &params);
	/* The name of a graph in creation is free, and any graph may have the operations of one that
	 * exists. */
	return params.ops == &graph->ops && strcmp(name, hy_graph_name(core)) == 0;
}

/*
 * Binds a node of the core to its shadow. If the shadow runs already, in an image of the graph that
 * this one is to replace, its init() has been called, and the worker must not notice.
 */
int
hy_compat_bind(const struct hy_graph *core, struct hy_node *node, const void *config)
{
	struct binding *binding = node->ctx;
	const struct compat_node *from;
	struct shadow *shadow;

	if (!is_compiled(core))
		return hy_node_refuse(core, node,
			"is one of rte_graph's, and runs only in graphs of rte_graph_create()");
	from = *(struct compat_node *const *)config;
	shadow = from->shadow;
	if (shadow->bound == 0) {
		int rc;

		hy_compat_table_use(&shadow->pub, shadow->staged);
		rc = from->init == NULL ? 0 : from->init(shadow->pub.graph, &shadow->pub);
		if (rc != 0)
			return rc > 0 ? -rc : rc;
	}
	shadow->bound++;
	binding->shadow = shadow;
	__atomic_fetch_add(&shadow->staged->refs, 1, __ATOMIC_RELAXED);
	binding->table = shadow->staged;
	return 0;
}

void
hy_compat_unbind(const struct hy_graph *core __rte_unused, struct hy_node *node)
{
	const struct binding *binding = node->ctx;
	struct shadow *shadow = binding->shadow;
	const struct compat_graph *graph = (const struct compat_graph *)shadow->pub.graph;

	if (--shadow->bound == 0) {
		/* What is behind the stream goes as that does: the core knows nothing of it. */
		if (shadow->pub.nb_late > 0)
			graph->ops.release(shadow->late, shadow->pub.nb_late);
		shadow->pub.nb_late = 0;
		if (shadow->from->fini != NULL)
			shadow->from->fini(shadow->pub.graph, &shadow->pub);
	}
	table_unref(binding->table);
}

static bool
has_node(const struct compat_graph *graph, const struct compat_node *node)
{
	for (const struct shadow *s = graph->shadows; s != NULL; s = s->next)
		if (s->from == node)
			return true;
	return false;
}

bool
hy_compat_node_used(const struct compat_node *node)
{
	const struct compat_graph *graph = NULL;
	bool used = hy_compat_compiling != NULL && has_node(hy_compat_compiling, node);

	while (!used && (graph = hy_compat_graph_next(graph)) != NULL)
		used = has_node(graph, node);
	return used;
}

uint64_t
hy_compat_shadows_late(const struct compat_graph *graph)
{
	uint64_t late = 0;

	for (const struct shadow *s = graph->shadows; s != NULL; s = s->next)
		late += s->pub.nb_late;
	return late;
}
