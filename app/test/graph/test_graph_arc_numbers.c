/* SPDX-License-Identifier: BSD-3-Clause */
/* Chains name edges by number: no object may carry a number to an image that lacks the edge. */

#include <errno.h>
#include <string.h>

#include "arc_fixture.h"

static hy_node_id
id_of(const char *name)
{
	hy_node_id id = UINT32_MAX;

	assert_int_equal(hy_node_lookup(name, &id), 0);
	return id;
}

static void
chain_set(uint32_t index, const char *const names[], unsigned int n)
{
	struct hy_arc_setting settings[4];

	assert_true(n <= RTE_DIM(settings));
	for (unsigned int i = 0; i < n; i++)
		settings[i] = (struct hy_arc_setting){ names[i], 10 + i };
	assert_int_equal(hy_arc_set(arc, index, settings, n), 0);
}

static const char *const abc[] = { "a", "b", "c" };

/* A feature of its own code, without a trail. */
static int
own_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	RTE_SET_USED(config);
	return hy_arc_join(graph, node, 0, node->ctx);
}

static void
own_feature_add(const char *name, hy_node_process_t *process, uint16_t replicates)
{
	const struct hy_arc_feature feature = { .arc = "arc", .node = name };

	NODE(NULL, .name = name, .replicates = replicates, .lanes = { HY_ARC_LANE },
		.impl = { .process = process,
			.init = own_init,
			.ctx_size = sizeof(struct hy_arc_place) });
	assert_int_equal(hy_arc_feature_register(&feature), 0);
}

/* Unregisters that feature, which is "a". */
static int
own_teardown(void **state)
{
	struct hy_graph *graph;

	if (hy_graph_lookup("g", &graph) == 0)
		hy_graph_destroy(graph);
	return hy_arc_destroy(arc) | hy_arc_feature_unregister("a") | arc_teardown(state);
}

static struct obj *born; /* last, by copier */

/* Sends each object on, and a new one behind it. */
static uint16_t
copier(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	struct hy_arc_hop hop[HY_BURST_MAX];

	hy_arc_hops(graph, node, node->ctx, hop, n);
	for (uint16_t i = 0; i < n; i++) {
		void *obj = born = obj_new();

		hy_enqueue_x1(graph, node, hop[i].edge, &objs[i]);
		hy_enqueue_x1(graph, node, hop[i].edge, &obj);
	}
	return n;
}

/* Their lane values are 0, which once was the chain of index 0. */
static void
new_objects_of_a_feature_take_an_edge_that_exists(void **state)
{
	struct hy_graph *graph;

	RTE_SET_USED(state);
	own_feature_add("a", copier, 2);
	feature_add("b", 2, AFTER("a"), NULL);
	feature_add("c", 3, AFTER("b"), NULL);
	arc_add(NULL);
	graph = arc_graph("g", 0, NULL);
	chain_set(0, abc, 3);
	chain_set(0, abc, 3); /* in either place */
	chain_set(0, abc, 0);
	chain_set(5, abc, 2); /* "b" leads to the end alone */
	arc_indexes[0] = 5;
	arc_src.budget = 1;
	hy_graph_walk(graph);
	assert_int_equal(arc_end.objs, 2);
	assert_int_equal(born->mark, trail(0, 2, 0));
	/* Nor does it see what is enabled for index 0. */
	for (unsigned int i = 0; i < 2; i++) {
		chain_set(0, abc, 3);
		arc_src.budget = 1;
		hy_graph_walk(graph);
		assert_int_equal(arc_end.objs, 4 + 2 * i);
		assert_int_equal(born->mark, trail(0, 2, 0));
	}
}

static uint16_t
follow(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	hy_arc_next(graph, node, node->ctx, objs, n);
	return n;
}

/* Of an arc without a QSBR variable, which is changed between walks. */
static void
a_chain_of_objects_that_wait_between_walks_stays(void **state)
{
	struct hy_graph *graph;

	RTE_SET_USED(state);
	own_feature_add("a", follow, UINT16_MAX); /* there is hardly ever room for so many */
	feature_add("b", 2, AFTER("a"), NULL);
	arc_add(NULL);
	graph = GRAPH("g", .patterns = (const char *[]){ "src" }, .nb_patterns = 1,
		.lanes = { HY_ARC_LANE }, .burst = 8, .max_sweeps = 1);
	chain_set(1, abc, 2);
	for (unsigned int i = 0; i < 8; i++)
		arc_indexes[i] = 1;
	arc_src.budget = 8;
	hy_graph_walk(graph);
	assert_in_range(waiting(graph), 1, 7);
	unit_log_clear();
	assert_int_equal(hy_arc_set(arc, 1, NULL, 0), -EBUSY);
	assert_non_null(strstr(unit_log(), "arc 'arc': objects wait in graph 'g'"));
	assert_int_equal(hy_arc_get(arc, "b", 1, NULL), 0);
	/* The table grows twice: no walk reads the first one. */
	chain_set(100, abc, 2);
	chain_set(1000, abc, 2);
	while (waiting(graph) > 0)
		hy_graph_walk(graph);
	chain_set(100, abc, 0);
	chain_set(1000, abc, 0);
	assert_int_equal(arc_end.objs, 8);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(obj_all[i].mark, trail(0, 2, 11));
	chain_set(1, abc, 0);
	chain_set(0, abc, 1); /* "a" leads to the end alone */
	arc_src.budget = 8;
	do
		hy_graph_walk(graph);
	while (waiting(graph) > 0);
	assert_int_equal(arc_end.objs, 16);
	assert_false(arc_has(graph, "b"));
}

/* What init() of "hook" does, once; it fails then. */
static void (*at_init)(void);

static int
hook_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	void (*call)(void) = at_init;

	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	RTE_SET_USED(config);
	at_init = NULL;
	if (call == NULL)
		return 0;
	call();
	return -EPERM;
}

/* The features a, b, c; "hook" comes between src and the end. */
static struct hy_graph *
hooked(void)
{
	for (unsigned int i = 0; i < RTE_DIM(abc); i++)
		feature_add(abc[i], i + 1, NULL, NULL);
	arc_add(NULL);
	sink_add(NULL, "other");
	NODE(NULL, .name = "hook", .impl = { .process = probe_pass, .init = hook_init },
		.edges = { "end" });
	assert_int_equal(hy_node_edge_set(id_of("src"), 0, "hook"), 0);
	return arc_graph("g", 0, NULL);
}

/* Disables all, which fails to take the arc away, since call() runs in the middle of it. */
static void
leave_in_vain(struct hy_graph *graph, void (*call)(void))
{
	at_init = call;
	assert_int_equal(hy_node_config(id_of("hook"), "", 1), 0);
	chain_set(0, abc, 0);
	assert_null(at_init);
	assert_int_equal(arc_trail(graph, 0), 0);
	assert_true(arc_has(graph, "c"));
}

static int edge_rc[4];

static void
edges_change(void)
{
	const hy_node_id a = id_of("a");

	edge_rc[0] = hy_node_edge_add(a, "other", NULL);
	edge_rc[1] = hy_node_edge_set(a, 0, "other");
	edge_rc[2] = hy_node_edge_set(a, 1, "other");
	edge_rc[3] = hy_node_edge_shrink(a, 0);
}

static void
a_feature_keeps_its_edges_while_its_arc_leaves(void **state)
{
	const uint32_t all = trail(trail(trail(0, 1, 10), 2, 11), 3, 12);
	struct hy_graph *graph = hooked();

	RTE_SET_USED(state);
	chain_set(0, abc, 3);
	assert_int_equal(arc_trail(graph, 0), all);
	leave_in_vain(graph, edges_change);
	for (unsigned int i = 0; i < RTE_DIM(edge_rc); i++)
		assert_int_equal(edge_rc[i], -EBUSY);
	chain_set(0, abc, 3);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_int_equal(arc_trail(graph, 0), all);
}

static struct hy_graph *late;

static void
late_create(void)
{
	late = arc_graph("h", 0, NULL);
}

static void
a_graph_that_comes_while_an_arc_leaves_in_vain_has_what_is_enabled_next(void **state)
{
	struct hy_graph *graph = hooked();

	RTE_SET_USED(state);
	chain_set(0, abc, 3);
	assert_int_equal(arc_trail(graph, 0), trail(trail(trail(0, 1, 10), 2, 11), 3, 12));
	leave_in_vain(graph, late_create);
	assert_int_equal(arc_trail(late, 0), 0);
	chain_set(0, abc, 2);
	assert_int_equal(arc_trail(graph, 0), trail(trail(0, 1, 10), 2, 11));
	assert_int_equal(arc_trail(late, 0), trail(trail(0, 1, 10), 2, 11));
}

/* Objects on the arc would reach a feature that is not live: no chain tells it of an edge. */
static void
a_detour_leads_no_object_from_feature_to_feature(void **state)
{
	static const struct hy_detour detours[] = { { "a", "c" }, { "other", "end" } };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(abc); i++)
		feature_add(abc[i], i + 1, NULL, NULL);
	arc_add(NULL);
	sink_add(NULL, "other");
	assert_int_equal(hy_node_edge_set(id_of("src"), 0, "other"), 0);
	graph = GRAPH("g", .patterns = (const char *[]){ "src" }, .nb_patterns = 1,
		.lanes = { HY_ARC_LANE }, .detours = detours, .nb_detours = RTE_DIM(detours));
	chain_set(0, abc, 2);
	assert_int_equal(arc_trail(graph, 0), trail(trail(0, 1, 10), 2, 11));
	chain_set(0, abc + 1, 1);
	assert_int_equal(arc_trail(graph, 0), trail(0, 2, 10));
	chain_set(0, abc, 3);
	assert_int_equal(arc_trail(graph, 0), trail(trail(trail(0, 1, 10), 2, 11), 3, 12));
}

#define OWN_TEST(f) cmocka_unit_test_setup_teardown(f, arc_setup, own_teardown)

static const struct CMUnitTest tests[] = {
	OWN_TEST(new_objects_of_a_feature_take_an_edge_that_exists),
	OWN_TEST(a_chain_of_objects_that_wait_between_walks_stays),
	ARC_TEST(a_feature_keeps_its_edges_while_its_arc_leaves),
	ARC_TEST(a_detour_leads_no_object_from_feature_to_feature),
	ARC_TEST(a_graph_that_comes_while_an_arc_leaves_in_vain_has_what_is_enabled_next),
};

UNIT_SUITE(tests)
