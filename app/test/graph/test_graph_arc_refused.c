/* SPDX-License-Identifier: BSD-3-Clause */
/* What arcs refuse, and that nothing has changed then. */

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>

#include "arc_fixture.h"

static void
assert_logged(const char *why)
{
	if (strstr(unit_log(), why) == NULL)
		fail_msg("\"%s\" does not say \"%s\"", unit_log(), why);
	assert_int_equal(unit_log_lines(), 1);
	unit_log_clear();
}

static void
features_that_make_no_sense_are_refused(void **state)
{
	struct hy_arc_feature f = { .arc = "arc", .node = "x" };

	RTE_SET_USED(state);
	feature_add("a", 1, NULL, NULL);
	unit_log_clear();
	f.node = "a";
	assert_int_equal(hy_arc_feature_register(&f), -EEXIST);
	assert_logged("feature 'a': is one of arc 'arc' already");
	f.node = "no spaces";
	assert_int_equal(hy_arc_feature_register(&f), -EINVAL);
	assert_logged("feature 'no spaces'");
	f.node = "x";
	f.arc = NULL;
	assert_int_equal(hy_arc_feature_register(&f), -EINVAL);
	assert_logged("arc '(null)'");
	f.arc = "arc";
	f.after[0] = "x";
	assert_int_equal(hy_arc_feature_register(&f), -EINVAL);
	assert_logged("feature 'x': would come before or after itself");
	f.after[0] = "a";
	f.before[0] = "";
	assert_int_equal(hy_arc_feature_register(&f), -EINVAL);
	assert_logged("feature ''");
	assert_int_equal(hy_arc_feature_unregister("x"), -ENOENT);
	assert_logged("feature 'x': there is none");
	arc_add(NULL);
	assert_int_equal(hy_arc_feature_unregister("a"), -EBUSY);
	assert_logged("feature 'a': is on arc 'arc'; destroy that first");
}

static void
arcs_that_make_no_sense_are_refused(void **state)
{
	const struct hy_arc_params good = { .end = "other", .index = index_from };
	struct hy_arc_params params = good;
	struct hy_arc *wrong = NULL;

	RTE_SET_USED(state);
	feature_add("a", 1, NULL, NULL);
	arc_add(NULL);
	unit_log_clear();
	assert_int_equal(hy_arc_create("no arc", &params, &wrong), -EINVAL);
	assert_logged("arc 'no arc'");
	params.end = "";
	assert_int_equal(hy_arc_create("second", &params, &wrong), -EINVAL);
	assert_logged("end of an arc ''");
	params = good;
	params.index_lane = "port";
	assert_int_equal(hy_arc_create("second", &params, &wrong), -EINVAL);
	assert_logged("both index and index_lane; one of them is accepted");
	params.index = NULL;
	params.index_lane = NULL;
	assert_int_equal(hy_arc_create("second", &params, &wrong), -EINVAL);
	assert_logged("neither index and index_lane; one of them is accepted");
	params.index_lane = "a lane";
	assert_int_equal(hy_arc_create("second", &params, &wrong), -EINVAL);
	assert_logged("lane 'a lane'");
	params = good;
	params.end = "end";
	assert_int_equal(hy_arc_create("second", &params, &wrong), -EEXIST);
	assert_logged("arc 'second': arc 'arc' ends at 'end' already");
	params.end = "a";
	assert_int_equal(hy_arc_create("second", &params, &wrong), -EINVAL);
	assert_logged("'a' is the end of one arc and a feature of another, 'arc'");
	params = good;
	assert_int_equal(hy_arc_create("src", &params, &wrong), -EEXIST);
	assert_logged("node 'src': the name is taken");
	assert_null(wrong);
	assert_int_equal(hy_arc_lookup("second", &wrong), -ENOENT);
}

static void
settings_that_make_no_sense_change_nothing(void **state)
{
	const struct hy_arc_setting twice[] = { { "a", 1 }, { "b", 2 }, { "a", 3 } };
	const struct hy_arc_setting unknown[] = { { "b", 1 }, { "c", 2 } };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	feature_add("a", 1, NULL, NULL);
	feature_add("b", 2, NULL, NULL);
	arc_add(NULL);
	graph = arc_graph("g", 0, NULL);
	assert_int_equal(hy_arc_enable(arc, "a", 0, 9), 0);
	unit_log_clear();
	assert_int_equal(hy_arc_set(arc, 0, twice, 3), -EINVAL);
	assert_logged("arc 'arc': feature 'a' is given twice");
	assert_int_equal(hy_arc_set(arc, 0, unknown, 2), -ENOENT);
	assert_logged("arc 'arc': has no feature 'c'; accepted: a, b");
	assert_int_equal(hy_arc_set(arc, HY_ARC_INDEXES, unknown, 1), -EINVAL);
	assert_logged("index is 16777216");
	assert_int_equal(arc_trail(graph, 0), trail(0, 1, 9));
	assert_false(arc_has(graph, "b"));
}

static void
enabling_what_a_graph_cannot_have_changes_nothing(void **state)
{
	struct hy_graph *graph;
	hy_node_id id;

	RTE_SET_USED(state);
	feature_add("a", 1, NULL, NULL);
	feature_add("gone", 2, NULL, NULL);
	arc_add(NULL);
	graph = GRAPH("g", .patterns = (const char *[]){ "src" }, .nb_patterns = 1);
	unit_log_clear();
	assert_int_equal(hy_arc_enable(arc, "a", 0, 9), -EINVAL);
	assert_logged("node 'arc' uses lane 'arc', which is not declared");
	assert_int_equal(arc_trail(graph, 0), 0);
	assert_int_equal(hy_arc_get(arc, "a", 0, NULL), -ENODATA);
	hy_graph_destroy(graph);

	graph = arc_graph("g", 0, NULL);
	assert_int_equal(hy_arc_enable(arc, "a", 0, 9), 0);
	assert_int_equal(hy_node_lookup("gone", &id), 0);
	assert_int_equal(hy_node_unregister(id), 0);
	unit_log_clear();
	assert_int_equal(hy_arc_enable(arc, "gone", 0, 1), -ENOENT);
	assert_logged("the node of feature 'gone' is not registered");
	assert_int_equal(hy_graph_update(graph, NULL), 0); /* no edge to it is left */
	assert_int_equal(arc_trail(graph, 0), trail(0, 1, 9));
	assert_int_equal(hy_arc_disable(arc, "a", 0), 0);
	assert_int_equal(arc_trail(graph, 0), 0);
	assert_int_equal(hy_graph_node_count(graph), 2);
}

static void
a_feature_of_no_arc_is_refused(void **state)
{
	struct hy_graph *graph;

	RTE_SET_USED(state);
	feature_add("f", 1, NULL, NULL);
	source_add(NULL, "src", "f");
	unit_log_clear();
	assert_int_equal(GRAPH_TRY("g", &graph, .lanes = { HY_ARC_LANE }), -EINVAL);
	assert_non_null(strstr(unit_log(), "node 'f': is a feature of no arc that exists"));
}

static void
an_arc_that_a_graph_has_is_not_destroyed(void **state)
{
	struct hy_graph *graph;
	hy_node_id id;
	uint16_t n;

	RTE_SET_USED(state);
	feature_add("f", 1, NULL, NULL);
	arc_add(NULL);
	graph = arc_graph("g", 0, NULL);
	assert_int_equal(hy_arc_enable(arc, "f", 0, 1), 0);
	unit_log_clear();
	assert_int_equal(hy_arc_destroy(arc), -EBUSY);
	assert_logged("node 'arc'");
	assert_int_equal(arc_trail(graph, 0), trail(0, 1, 1));
	hy_graph_destroy(graph);
	assert_int_equal(hy_arc_destroy(arc), 0); /* though it is enabled */
	assert_int_equal(hy_arc_lookup("arc", &arc), -ENOENT);
	assert_int_equal(hy_arc_destroy(NULL), 0);
	/* Its edges are gone with it. */
	graph = GRAPH("g", .patterns = (const char *[]){ "src" }, .nb_patterns = 1);
	assert_int_equal(hy_graph_node_count(graph), 2);
	assert_int_equal(hy_node_lookup("f", &id), 0);
	assert_int_equal(hy_node_edge_count(id, &n), 0);
	assert_int_equal(n, 0);
}

/* Chains tell objects of its edges by number, also in graphs to come. */
static void
the_node_of_an_enabled_feature_stays_with_its_edges(void **state)
{
	struct hy_graph *graph;
	hy_node_id id;

	RTE_SET_USED(state);
	feature_add("a", 1, NULL, NULL);
	feature_add("b", 2, NULL, NULL);
	arc_add(NULL);
	assert_int_equal(hy_node_lookup("a", &id), 0);
	assert_int_equal(hy_arc_enable(arc, "a", 0, 9), 0);
	unit_log_clear();
	assert_int_equal(hy_node_unregister(id), -EBUSY);
	assert_logged("node 'a' is a feature of arc 'arc'; disable all features of that first");
	assert_int_equal(hy_node_edge_shrink(id, 0), -EBUSY);
	assert_logged("node 'a' is a feature of arc 'arc'; disable all features of that first");
	graph = arc_graph("g", 0, NULL);
	assert_int_equal(arc_trail(graph, 0), trail(0, 1, 9));
	assert_int_equal(hy_arc_disable(arc, "a", 0), 0);
	assert_int_equal(arc_trail(graph, 0), 0);
	assert_int_equal(hy_node_edge_shrink(id, 0), 0);
	assert_int_equal(hy_node_unregister(id), 0);
	assert_int_equal(hy_node_lookup("b", &id), 0); /* was never enabled */
	assert_int_equal(hy_node_unregister(id), 0);
}

/* It would be taken away again together with those that the arc gives. */
static void
an_enabled_feature_is_given_no_edge_of_its_own(void **state)
{
	char target[HY_NAME_SIZE];
	struct hy_graph *graph;
	uint16_t edge, n;
	hy_node_id id;

	RTE_SET_USED(state);
	feature_add("a", 1, NULL, NULL);
	arc_add(NULL);
	sink_add(NULL, "other");
	graph = arc_graph("g", 0, NULL);
	assert_int_equal(hy_node_lookup("a", &id), 0);
	assert_int_equal(hy_arc_enable(arc, "a", 0, 9), 0);
	unit_log_clear();
	assert_int_equal(hy_node_edge_add(id, "other", NULL), -EBUSY);
	assert_logged("node 'a' is a feature of arc 'arc'; disable all features of that first");
	assert_int_equal(hy_node_edge_count(id, &n), 0);
	assert_int_equal(n, 1);
	assert_int_equal(hy_node_edge_add(id, "end", &edge), 0); /* which is there */
	assert_int_equal(edge, 0);
	assert_int_equal(hy_arc_disable(arc, "a", 0), 0);
	assert_int_equal(arc_trail(graph, 0), 0);
	assert_int_equal(hy_node_edge_add(id, "other", &edge), 0);
	assert_int_equal(edge, 0);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(hy_arc_enable(arc, "a", 0, 9), 0);
		assert_int_equal(arc_trail(graph, 0), trail(0, 1, 9));
		assert_int_equal(hy_arc_disable(arc, "a", 0), 0);
		assert_int_equal(arc_trail(graph, 0), 0);
		assert_int_equal(hy_node_edge_target(id, 0, target, sizeof(target)), 0);
		assert_string_equal(target, "other");
	}
	assert_int_equal(hy_node_edge_count(id, &n), 0);
	assert_int_equal(n, 1);
}

static const struct hy_arc_params end_params = { .end = "end", .index = index_from };

/* Each allocation fails once, in turn. */
static void
creating_an_arc_fails_clean_at_every_allocation_and_says_so(void **state)
{
	unsigned int heap, failed = 0;
	int64_t live;

	RTE_SET_USED(state);
	feature_add("a", 1, NULL, NULL);
	feature_add("b", 2, NULL, NULL);
	arc_add(NULL);
	assert_int_equal(hy_arc_destroy(arc), 0);
	heap = unit_heap_live();
	live = unit_alloc_live();
	for (;; failed++) {
		int rc;

		unit_log_clear();
		unit_alloc_fail(failed + 1);
		rc = hy_arc_create("arc", &end_params, &arc);
		unit_alloc_fail(0);
		if (rc == 0)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_int_not_equal(unit_log_lines(), 0);
		assert_int_equal(unit_heap_live(), heap);
		assert_int_equal(unit_alloc_live(), live);
	}
	assert_true(failed > 5);
}

static void
registering_a_feature_says_that_memory_is_short(void **state)
{
	const struct hy_arc_feature feature = { .arc = "arc", .node = "a" };

	RTE_SET_USED(state);
	unit_alloc_fail(1);
	assert_int_equal(hy_arc_feature_register(&feature), -ENOMEM);
	unit_alloc_fail(0);
	assert_int_not_equal(unit_log_lines(), 0);
}

static void
enabling_fails_clean_at_every_allocation_and_says_so(void **state)
{
	const struct hy_arc_setting two[] = { { "a", 1 }, { "b", 2 } };
	struct hy_graph *graph;
	unsigned int failed = 0;

	RTE_SET_USED(state);
	feature_add("a", 1, NULL, NULL);
	feature_add("b", 2, NULL, NULL);
	arc_add(NULL);
	graph = arc_graph("g", 0, NULL);
	for (;; failed++) {
		int rc;

		unit_log_clear();
		unit_alloc_fail(failed + 1);
		rc = hy_arc_set(arc, 100, two, 2);
		unit_alloc_fail(0);
		if (rc == 0)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_int_not_equal(unit_log_lines(), 0);
		assert_int_equal(arc_trail(graph, 100), 0);
		assert_int_equal(hy_graph_node_count(graph), 2);
		assert_int_equal(hy_arc_get(arc, "a", 100, NULL), -ENODATA);
	}
	assert_true(failed > 10);
	assert_int_equal(arc_trail(graph, 100), trail(trail(0, 1, 1), 2, 2));
}

static void
an_arc_that_cannot_leave_for_want_of_memory_leaves_later(void **state)
{
	struct hy_graph *graph;

	RTE_SET_USED(state);
	feature_add("a", 1, NULL, NULL);
	arc_add(NULL);
	graph = arc_graph("g", 0, NULL);
	assert_int_equal(hy_arc_enable(arc, "a", 100, 1), 0);
	unit_alloc_fail(1);
	assert_int_equal(hy_arc_disable(arc, "a", 100), 0);
	unit_alloc_fail(0);
	assert_int_equal(arc_trail(graph, 100), 0);
	assert_true(arc_has(graph, "arc"));
	assert_int_equal(hy_arc_disable(arc, "a", 100), 0);
	assert_int_equal(arc_trail(graph, 100), 0);
	assert_int_equal(hy_graph_node_count(graph), 2);
}

static struct rte_rcu_qsbr *
qsbr_new(void)
{
	struct rte_rcu_qsbr *qsbr = rte_zmalloc(NULL, rte_rcu_qsbr_get_memsize(2),
		RTE_CACHE_LINE_SIZE);

	assert_non_null(qsbr);
	assert_int_equal(rte_rcu_qsbr_init(qsbr, 2), 0);
	return qsbr;
}

static void
a_graph_that_does_not_report_to_the_arc_is_refused(void **state)
{
	struct rte_rcu_qsbr *qsbr = qsbr_new();
	struct hy_graph *graph;

	RTE_SET_USED(state);
	feature_add("f", 1, NULL, NULL);
	arc_add(qsbr);
	graph = arc_graph("g", 0, NULL);
	unit_log_clear();
	assert_int_equal(hy_arc_enable(arc, "f", 0, 1), -EINVAL);
	assert_non_null(strstr(unit_log(),
		"its graph does not report to that arc's QSBR variable"));
	assert_int_equal(arc_trail(graph, 0), 0);
	assert_int_equal(hy_graph_node_count(graph), 2);
	hy_graph_destroy(graph);
	graph = arc_graph("g", 0, qsbr);
	assert_int_equal(hy_arc_enable(arc, "f", 0, 1), 0);
	assert_int_equal(arc_trail(graph, 0), trail(0, 1, 1));
	hy_graph_destroy(graph);
	assert_int_equal(hy_arc_destroy(arc), 0);
	rte_free(qsbr);
}

/* A graph that was walked and does not rest: its worker may be in the middle of anything. */
static void
a_worker_that_hangs_is_not_waited_for_for_ever(void **state)
{
	struct rte_rcu_qsbr *qsbr = qsbr_new();
	struct hy_graph *graph;

	RTE_SET_USED(state);
	feature_add("f", 1, NULL, NULL);
	arc_add(qsbr);
	graph = arc_graph("g", 0, qsbr);
	hy_graph_walk(graph);
	unit_log_clear();
	assert_int_equal(hy_arc_enable(arc, "f", 0, 1), -ETIMEDOUT);
	assert_logged("arc 'arc': a worker has not reported for a second");
	assert_int_equal(hy_arc_get(arc, "f", 0, NULL), -ENODATA);
	assert_int_equal(hy_arc_enable(arc, "f", 0, 1),
		-ETIMEDOUT); /* it has not the feature yet */
	assert_int_equal(arc_trail(graph, 0), 0);
	assert_int_equal(hy_arc_disable(arc, "f", 0), 0); /* and takes the arc out */
	assert_int_equal(arc_trail(graph, 0), 0);
	assert_int_equal(hy_graph_node_count(graph), 2);
	assert_int_equal(hy_arc_enable(arc, "f", 0, 1), 0);
	assert_int_equal(arc_trail(graph, 0), trail(0, 1, 1));
	hy_graph_destroy(graph);
	assert_int_equal(hy_arc_destroy(arc), 0);
	rte_free(qsbr);
}

/* What is asked of an arc while an object is at its first feature. */
static void
change_twice(unsigned int id)
{
	const struct hy_arc_setting first[] = { { "a", 11 }, { "b", 12 } };
	const struct hy_arc_setting second[] = { { "a", 21 }, { "b", 22 } };

	if (id != 1)
		return;
	assert_int_equal(hy_arc_set(arc, 0, first, 2), 0);
	assert_int_equal(hy_arc_set(arc, 0, second, 2), -ETIMEDOUT);
}

static void
grow_twice(unsigned int id)
{
	if (id != 1)
		return;
	assert_int_equal(hy_arc_enable(arc, "a", 1000, 1), 0);
	assert_int_equal(hy_arc_enable(arc, "a", 100000, 1), -ETIMEDOUT);
}

static void
what_an_object_under_way_may_read_is_neither_written_to_nor_freed(void **state)
{
	const struct hy_arc_setting settings[] = { { "a", 1 }, { "b", 2 } };
	struct rte_rcu_qsbr *qsbr = qsbr_new();
	struct hy_graph *graph;

	RTE_SET_USED(state);
	feature_add("a", 1, NULL, NULL);
	feature_add("b", 2, NULL, NULL);
	arc_add(qsbr);
	graph = arc_graph("g", 0, qsbr);
	assert_int_equal(hy_arc_set(arc, 0, settings, 2), 0);
	feature_hook = change_twice;
	assert_int_equal(arc_trail(graph, 0), trail(trail(0, 1, 1), 2, 2));
	feature_hook = grow_twice;
	assert_int_equal(arc_trail(graph, 0), trail(trail(0, 1, 11), 2, 12));
	feature_hook = NULL;
	assert_int_equal(hy_arc_set(arc, 0, settings, 2), 0);
	assert_int_equal(hy_arc_enable(arc, "a", 100000, 5), 0);
	assert_int_equal(arc_trail(graph, 0), trail(trail(0, 1, 1), 2, 2));
	assert_int_equal(arc_trail(graph, 1000), trail(0, 1, 1));
	assert_int_equal(arc_trail(graph, 100000), trail(0, 1, 5));
	hy_graph_destroy(graph);
	assert_int_equal(hy_arc_destroy(arc), 0);
	rte_free(qsbr);
}

/* Its objects have no chain: the feature read another's, or beyond all chains. */
static void
a_feature_that_a_node_leads_to_by_name_is_refused(void **state)
{
	struct hy_graph *graph = NULL;
	hy_node_id src, drops;

	RTE_SET_USED(state);
	feature_add("a", 1, NULL, BEFORE("b"));
	feature_add("b", 2, NULL, NULL);
	arc_add(NULL);
	assert_int_equal(hy_node_lookup("src", &src), 0);
	assert_int_equal(hy_node_edge_add(src, "b", NULL), 0);
	unit_log_clear();
	for (unsigned int live = 0; live < 2; live++) {
		assert_int_equal(GRAPH_TRY("h", &graph, .patterns = (const char *[]){ "src" },
					 .nb_patterns = 1, .lanes = { "other", HY_ARC_LANE }),
			-EINVAL);
		assert_null(graph);
		assert_logged("graph 'h': node 'src' leads to 'b', a feature of arc 'arc'; only "
			      "that arc may lead there");
		assert_int_equal(hy_node_edge_shrink(src, 1), 0);
		arc_graph("g", 0, NULL);
		assert_int_equal(hy_arc_enable(arc, "a", 7, 1), 0);
		assert_int_equal(hy_arc_enable(arc, "b", 7, 2), 0); /* from one to the other */
		assert_int_equal(hy_graph_lookup("g", &graph), 0);
		assert_int_equal(arc_trail(graph, 7), trail(trail(0, 1, 1), 2, 2));
		assert_int_equal(hy_node_edge_add(src, "b", NULL), 0);
		assert_int_equal(hy_graph_update(graph, NULL), -EINVAL);
		assert_logged("a feature of arc 'arc'");
		assert_int_equal(arc_trail(graph, 7), trail(trail(0, 1, 1), 2, 2));
		hy_graph_destroy(graph);
		graph = NULL;
	}
	/* Likewise what is dropped. */
	drops = NODE(NULL, .name = "drops", .impl.process = probe_drop, .drops = { { "d" } });
	assert_int_equal(hy_node_edge_set(src, 1, "drops"), 0);
	assert_int_equal(GRAPH_TRY("h", &graph, .patterns = (const char *[]){ "src" },
				 .nb_patterns = 1, .lanes = { "other", HY_ARC_LANE },
				 .drop_node = "a"),
		-EINVAL);
	assert_logged("node 'drops' leads to 'a', a feature of arc 'arc'");
	assert_int_equal(hy_node_unregister(drops), 0);
}

/* A feature that has objects take its own edge 0. */
static uint16_t
stray_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	hy_enqueue(graph, node, 0, objs, n);
	return n;
}

static int
stray_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	RTE_SET_USED(config);
	return hy_arc_join(graph, node, 0, node->ctx);
}

/* There, the word of a chain is 0 unless it is enabled: objects took an edge 0 that it has not. */
static void
an_own_edge_of_a_feature_into_another_feature_is_refused(void **state)
{
	static const struct hy_arc_feature stray = { .arc = "arc", .node = "stray" };
	static const struct hy_arc_feature drops = { .arc = "arc", .node = "drops" };
	struct hy_graph *graph;
	hy_node_id id;

	RTE_SET_USED(state);
	NODE(NULL, .name = "stray", .edges = { "b" }, .lanes = { HY_ARC_LANE },
		.impl = { .process = stray_process,
			.init = stray_init,
			.ctx_size = sizeof(struct hy_arc_place) });
	assert_int_equal(hy_arc_feature_register(&stray), 0);
	feature_add("b", 2, NULL, NULL);
	NODE(NULL, .name = "drops", .lanes = { HY_ARC_LANE }, .drops = { { "d" } },
		.impl = { .process = probe_drop,
			.init = stray_init,
			.ctx_size = sizeof(struct hy_arc_place) });
	assert_int_equal(hy_arc_feature_register(&drops), 0);
	arc_add(NULL);
	sink_add(NULL, "gone");
	graph = GRAPH("g", .patterns = (const char *[]){ "src" }, .nb_patterns = 1,
		.lanes = { HY_ARC_LANE }, .drop_node = "gone", .burst = HY_BURST_MAX);
	for (unsigned int live = 0; live < 2; live++) {
		unit_log_clear();
		assert_int_equal(hy_arc_enable(arc, "stray", 7, 1), -EINVAL);
		assert_logged("graph 'g': node 'stray' leads to 'b', a feature of arc 'arc'; only "
			      "that arc may lead there");
		assert_int_equal(arc_trail(graph, 7), live == 0 ? 0 : trail(0, 2, 3));
		/* Nor where it is enabled: another index would come to it, too. */
		assert_int_equal(hy_arc_enable(arc, "b", 7, 3), 0);
	}
	/* Likewise what a feature drops. */
	assert_int_equal(hy_node_lookup("stray", &id), 0);
	assert_int_equal(hy_node_edge_shrink(id, 0), 0);
	assert_int_equal(hy_arc_enable(arc, "drops", 7, 1), 0);
	hy_graph_destroy(graph);
	assert_int_equal(GRAPH_TRY("g", &graph, .patterns = (const char *[]){ "src" },
				 .nb_patterns = 1, .lanes = { HY_ARC_LANE }, .drop_node = "b"),
		-EINVAL);
	assert_logged("node 'drops' leads to 'b', a feature of arc 'arc'");
	assert_int_equal(hy_arc_destroy(arc), 0);
	assert_int_equal(hy_arc_feature_unregister("stray"), 0);
	assert_int_equal(hy_arc_feature_unregister("drops"), 0);
}

static const struct CMUnitTest tests[] = {
	ARC_TEST(an_own_edge_of_a_feature_into_another_feature_is_refused),
	ARC_TEST(a_feature_that_a_node_leads_to_by_name_is_refused),
	ARC_TEST(features_that_make_no_sense_are_refused),
	ARC_TEST(arcs_that_make_no_sense_are_refused),
	ARC_TEST(settings_that_make_no_sense_change_nothing),
	ARC_TEST(enabling_what_a_graph_cannot_have_changes_nothing),
	ARC_TEST(a_feature_of_no_arc_is_refused),
	ARC_TEST(an_arc_that_a_graph_has_is_not_destroyed),
	ARC_TEST(the_node_of_an_enabled_feature_stays_with_its_edges),
	ARC_TEST(an_enabled_feature_is_given_no_edge_of_its_own),
	ARC_TEST(creating_an_arc_fails_clean_at_every_allocation_and_says_so),
	ARC_TEST(registering_a_feature_says_that_memory_is_short),
	ARC_TEST(enabling_fails_clean_at_every_allocation_and_says_so),
	ARC_TEST(an_arc_that_cannot_leave_for_want_of_memory_leaves_later),
	ARC_TEST(a_graph_that_does_not_report_to_the_arc_is_refused),
	ARC_TEST(a_worker_that_hangs_is_not_waited_for_for_ever),
	ARC_TEST(what_an_object_under_way_may_read_is_neither_written_to_nor_freed),
};

UNIT_SUITE(tests)
