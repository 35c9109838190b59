/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A worker that wakes while the graph that it was promised is being replaced. init() of a node runs
 * in the middle of a change, so a walk in there stands for a worker that wakes at that moment.
 */

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include "arc_fixture.h"

static struct rte_rcu_qsbr *qsbr;
static struct hy_graph *sleeper;       /* walked by each init() of "wake", if it is not NULL */
static uint32_t woken_trail;           /* of the object that this walk made */
static unsigned int wakes, wake_fails; /* init() calls that walked; those that are to fail */

static int
wake_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	RTE_SET_USED(config);
	if (sleeper != NULL) {
		woken_trail = arc_trail(sleeper, 1);
		wakes++;
	}
	if (wake_fails > 0) {
		wake_fails--;
		return -EPERM;
	}
	return 0;
}

/* The last feature of the arc. It is never enabled for the index that objects have. */
static void
wake_add(void)
{
	const struct hy_arc_feature feature = {
		.arc = "arc", .node = "wake", .after = { "a", "b", "c" }
	};

	NODE(NULL, .name = "wake", .impl = { .process = probe_pass, .init = wake_init },
		.edges = { "end" });
	assert_int_equal(hy_arc_feature_register(&feature), 0);
}

static int
wake_setup(void **state)
{
	sleeper = NULL;
	wakes = wake_fails = 0;
	if (arc_setup(state) != 0)
		return -1;
	qsbr = rte_zmalloc(NULL, rte_rcu_qsbr_get_memsize(1), RTE_CACHE_LINE_SIZE);
	return qsbr == NULL ? -1 : rte_rcu_qsbr_init(qsbr, 1);
}

static int
wake_teardown(void **state)
{
	int rc;

	sleeper = NULL;
	if (hy_graph_lookup("g", &sleeper) == 0)
		hy_graph_destroy(sleeper);
	rc = hy_arc_destroy(arc);
	rc |= hy_arc_feature_unregister("wake");
	rte_free(qsbr);
	return arc_teardown(state) | rc;
}

/* Features a, b and c, of which the worker has taken a up, while b and perhaps c wait for it. */
static struct hy_graph *
three_features(void)
{
	struct hy_graph *graph;

	feature_add("a", 1, NULL, NULL);
	feature_add("b", 2, AFTER("a"), NULL);
	feature_add("c", 3, AFTER("b"), NULL);
	wake_add();
	arc_add(qsbr);
	graph = arc_graph("g", 0, qsbr);
	assert_int_equal(hy_arc_enable(arc, "a", 1, 10), 0);
	assert_int_equal(arc_trail(graph, 1), trail(0, 1, 10));
	/* It rests: what has been published is as good as taken up, and chains name its edges. */
	assert_int_equal(hy_arc_enable(arc, "b", 1, 20), 0);
	assert_int_equal(hy_arc_enable(arc, "c", 1, 30), 0);
	assert_true(hy_graph_updating(graph));
	return graph;
}

static void
a_worker_that_wakes_while_a_feature_is_compiled_has_all_edges_that_chains_name(void **state)
{
	const uint32_t all = trail(trail(trail(0, 1, 10), 2, 20), 3, 30);
	struct hy_graph *graph = three_features();

	RTE_SET_USED(state);
	sleeper = graph;
	assert_int_equal(hy_arc_enable(arc, "wake", 0, 0), 0);
	assert_int_equal(wakes, 1);
	assert_int_equal(woken_trail, all);
	assert_true(hy_graph_updating(graph)); /* the last change is still to come */
	assert_false(arc_has(graph, "wake"));
	assert_int_equal(arc_trail(graph, 1), all);
	assert_false(hy_graph_updating(graph));
	assert_true(arc_has(graph, "wake"));
}

static void
a_worker_that_wakes_while_a_feature_is_refused_has_all_edges_that_chains_name(void **state)
{
	const uint32_t all = trail(trail(trail(0, 1, 10), 2, 20), 3, 30);
	struct hy_graph *graph = three_features();

	RTE_SET_USED(state);
	sleeper = graph;
	wake_fails = 1;
	assert_int_equal(hy_arc_enable(arc, "wake", 0, 0), -EPERM);
	assert_int_equal(wakes, 1);
	assert_int_equal(woken_trail, all);
	assert_false(hy_graph_updating(graph));
	assert_int_equal(arc_trail(graph, 1), all);
	assert_false(arc_has(graph, "wake"));
	sleeper = NULL;
	assert_int_equal(hy_arc_enable(arc, "wake", 0, 0), 0);
	assert_int_equal(arc_trail(graph, 1), all);
	assert_true(arc_has(graph, "wake"));
}

/* Edges get other numbers: chains written for those must meet no image with the numbers before. */
static void
a_worker_that_wakes_after_edges_were_renumbered_has_the_new_numbers(void **state)
{
	struct hy_graph *graph = three_features();

	RTE_SET_USED(state);
	assert_int_equal(arc_trail(graph, 1), trail(trail(trail(0, 1, 10), 2, 20), 3, 30));
	for (unsigned int round = 0; round < 3; round++) {
		assert_int_equal(hy_arc_set(arc, 1, NULL, 0), 0);
		assert_int_equal(hy_arc_enable(arc, "c", 1, 31), 0);
		assert_int_equal(hy_arc_enable(arc, "a", 1, 11), 0);
		sleeper = round == 1 ? NULL : graph;
		assert_int_equal(hy_arc_enable(arc, "wake", 0, 0), 0);
		if (sleeper != NULL)
			assert_int_equal(woken_trail, trail(trail(0, 1, 11), 3, 31));
		sleeper = NULL;
		assert_int_equal(hy_arc_enable(arc, "b", 1, 21), 0);
		assert_int_equal(arc_trail(graph, 1), trail(trail(trail(0, 1, 11), 2, 21), 3, 31));
		assert_int_equal(hy_arc_disable(arc, "wake", 0), 0);
	}
	assert_int_equal(wakes, 2);
}

static struct hy_graph *created;  /* by create_init() */
static unsigned int create_fails; /* its calls that are to fail after they have created a graph */

/* Creates a graph, which has the arc and this feature too, and then fails, or the test says so. */
static int
create_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	const struct hy_graph_params params = { .patterns = (const char *[]){ "src" },
		.nb_patterns = 1,
		.ops = &obj_ops,
		.lanes = { HY_ARC_LANE },
		.worker = 7,
		.socket = SOCKET_ID_ANY };

	RTE_SET_USED(node);
	RTE_SET_USED(config);
	if (strcmp(hy_graph_name(graph), "h") == 0 || create_fails == 0)
		return 0;
	create_fails--;
	if (created == NULL)
		obj_faults += hy_graph_create("h", &params, &created) != 0;
	return -EPERM;
}

/* A feature that is refused, in all graphs, also in those that are created meanwhile. */
static void
graph_created_while_a_feature_is_refused(bool another)
{
	const struct hy_arc_feature feature = { .arc = "arc", .node = "create", .after = { "a" } };
	const uint32_t mark = another ? trail(0, 1, 10) : 0;
	struct hy_graph *graph;

	created = NULL;
	create_fails = 1;
	feature_add("a", 1, NULL, NULL);
	NODE(NULL, .name = "create", .impl = { .process = probe_pass, .init = create_init },
		.edges = { "end" });
	assert_int_equal(hy_arc_feature_register(&feature), 0);
	arc_add(NULL);
	graph = arc_graph("g", 0, NULL);
	if (another)
		assert_int_equal(hy_arc_enable(arc, "a", 1, 10), 0);
	assert_int_equal(arc_trail(graph, 1), mark);
	assert_int_equal(hy_arc_enable(arc, "create", 1, 5), -EPERM);
	assert_non_null(created);
	assert_int_equal(arc_trail(created, 1), mark);
	assert_int_equal(arc_trail(graph, 1), mark);
	assert_int_equal(arc_has(created, "arc"), another);
	assert_false(arc_has(created, "create"));
	assert_int_equal(hy_graph_node_count(created), hy_graph_node_count(graph));
	if (!another)
		assert_int_equal(hy_arc_destroy(arc), 0);
}

static void
a_graph_that_an_init_creates_keeps_no_arc_whose_first_feature_is_refused(void **state)
{
	RTE_SET_USED(state);
	graph_created_while_a_feature_is_refused(false);
	assert_int_equal(hy_arc_feature_unregister("create"), 0);
}

static void
a_graph_that_an_init_creates_keeps_no_further_feature_that_is_refused(void **state)
{
	RTE_SET_USED(state);
	graph_created_while_a_feature_is_refused(true);
	assert_int_equal(hy_arc_disable(arc, "a", 1), 0);
	hy_graph_destroy(created);
	assert_int_equal(hy_graph_lookup("g", &created), 0);
	hy_graph_destroy(created);
	assert_int_equal(hy_arc_destroy(arc), 0);
	assert_int_equal(hy_arc_feature_unregister("create"), 0);
}

#define WAKE_TEST(f) cmocka_unit_test_setup_teardown(f, wake_setup, wake_teardown)

static const struct CMUnitTest tests[] = {
	WAKE_TEST(a_worker_that_wakes_while_a_feature_is_compiled_has_all_edges_that_chains_name),
	WAKE_TEST(a_worker_that_wakes_while_a_feature_is_refused_has_all_edges_that_chains_name),
	WAKE_TEST(a_worker_that_wakes_after_edges_were_renumbered_has_the_new_numbers),
	ARC_TEST(a_graph_that_an_init_creates_keeps_no_arc_whose_first_feature_is_refused),
	ARC_TEST(a_graph_that_an_init_creates_keeps_no_further_feature_that_is_refused),
};

UNIT_SUITE(tests)
