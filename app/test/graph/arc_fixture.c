/* SPDX-License-Identifier: BSD-3-Clause */
/* Features and graphs for the tests of arcs; see arc_fixture.h. */

#include <errno.h>
#include <string.h>

#include "arc_fixture.h"

#define FEATURES_MOST 80

void (*feature_hook)(unsigned int id);
struct probe arc_src, arc_end;
uint32_t arc_indexes[HY_BURST_MAX];
struct hy_arc *arc;

static char added[FEATURES_MOST][HY_NAME_SIZE];
static unsigned int nb_added;

struct ctx {
	struct hy_arc_place place;
	unsigned int id;
};

static int
feature_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	struct ctx *ctx = node->ctx;

	ctx->id = *(const unsigned int *)config;
	return hy_arc_join(graph, node, 0, &ctx->place);
}

static uint16_t
feature_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct ctx *ctx = node->ctx;
	struct hy_arc_hop hop[HY_BURST_MAX];

	if (feature_hook != NULL)
		feature_hook(ctx->id);
	hy_arc_hops(graph, node, &ctx->place, hop, n);
	for (uint16_t i = 0; i < n; i++) {
		struct obj *obj = objs[i];

		obj->mark = trail(obj->mark, ctx->id, hop[i].cookie);
		obj->hops++;
	}
	hy_arc_next(graph, node, &ctx->place, objs, n);
	return n;
}

void
feature_add(const char *name, unsigned int id, const char *const after[],
	const char *const before[])
{
	struct hy_arc_feature feature = { .arc = "arc", .node = name };
	const hy_node_id node = NODE(NULL, .name = name,
		.impl = { .process = feature_process,
			.init = feature_init,
			.ctx_size = sizeof(struct ctx) },
		.lanes = { HY_ARC_LANE });

	for (unsigned int i = 0; after != NULL && after[i] != NULL; i++)
		feature.after[i] = after[i];
	for (unsigned int i = 0; before != NULL && before[i] != NULL; i++)
		feature.before[i] = before[i];
	assert_int_equal(hy_node_config(node, &id, sizeof(id)), 0);
	assert_int_equal(hy_arc_feature_register(&feature), 0);
	assert_true(nb_added < FEATURES_MOST);
	strcpy(added[nb_added++], name);
}

void
index_from(void *const objs[], uint32_t index[], uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		index[i] = ((const struct obj *)objs[i])->from;
}

static uint16_t
source(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	n = probe_make(&arc_src, objs, n);
	for (uint16_t i = 0; i < n; i++)
		((struct obj *)objs[i])->from = arc_indexes[i];
	hy_stream_move(graph, node, 0, n);
	return n;
}

void
arc_add(struct rte_rcu_qsbr *qsbr)
{
	const struct hy_arc_params params = {
		.end = "end", .index = index_from, .qsbr = qsbr, .socket = SOCKET_ID_ANY
	};

	NODE(NULL, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = source,
		.edges = { "end" });
	sink_add(&arc_end, "end");
	assert_int_equal(hy_arc_create("arc", &params, &arc), 0);
}

void
arc_nodes_remove(void)
{
	static const char *const names[] = { "src", "end" };

	for (unsigned int i = 0; i < RTE_DIM(names); i++) {
		hy_node_id id;

		assert_int_equal(hy_node_lookup(names[i], &id), 0);
		assert_int_equal(hy_node_unregister(id), 0);
	}
}

struct hy_graph *
arc_graph(const char *name, uint16_t worker, struct rte_rcu_qsbr *qsbr)
{
	return GRAPH(name, .patterns = (const char *[]){ "src" }, .nb_patterns = 1,
		.lanes = { "other", HY_ARC_LANE }, .worker = worker, .qsbr = qsbr,
		.burst = HY_BURST_MAX);
}

void
arc_send(struct hy_graph *graph, const uint32_t indexes[], uint32_t trails[], unsigned int n)
{
	const uint32_t first = obj_made;
	const uint64_t out = arc_end.objs;

	assert_true(n <= HY_BURST_MAX);
	memcpy(arc_indexes, indexes, n * sizeof(*indexes));
	arc_src.budget = n;
	assert_int_equal(hy_graph_walk(graph), n);
	hy_graph_rest(graph);
	assert_int_equal(arc_end.objs, out + n);
	for (unsigned int i = 0; i < n; i++)
		trails[i] = obj_all[first + i].mark;
}

uint32_t
arc_trail(struct hy_graph *graph, uint32_t index)
{
	uint32_t mark;

	arc_send(graph, &index, &mark, 1);
	return mark;
}

bool
arc_has(struct hy_graph *graph, const char *name)
{
	struct hy_node *node;

	return hy_graph_node(graph, name, &node) == 0;
}

int
arc_setup(void **state)
{
	memset(&arc_src, 0, sizeof(arc_src));
	memset(&arc_end, 0, sizeof(arc_end));
	feature_hook = NULL;
	return graph_setup(state);
}

int
arc_teardown(void **state)
{
	struct hy_graph *graph;
	int rc = 0;

	for (const char *const *name = (const char *const[]){ "g", "h", NULL }; *name != NULL;
		name++)
		if (hy_graph_lookup(*name, &graph) == 0)
			hy_graph_destroy(graph);
	while (hy_arc_lookup("arc", &arc) == 0 && rc == 0)
		rc = hy_arc_destroy(arc);
	while (nb_added > 0)
		rc |= hy_arc_feature_unregister(added[--nb_added]);
	return graph_teardown(state) == 0 ? rc : -1;
}
