/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes that follow one another, fail, or are never taken up; contexts, statistics over them. */

#include <errno.h>
#include <string.h>

#include "graph_fixture.h"
#include "lib/graph/update/control.h"

#define SRC ((const char *[]){ "src" })

static void
config_set(hy_node_id id, struct probe *probe)
{
	assert_int_equal(hy_node_config(id, &probe, sizeof(struct probe *)), 0);
}

static void
update(struct hy_graph *graph)
{
	unit_log_clear();
	if (hy_graph_update(graph, NULL) != 0)
		fail_msg("the update is refused: %s", unit_log());
}

static uint64_t
objs_of(const char *node, bool *gone)
{
	struct hy_stats *stats;
	uint64_t objs = UINT64_MAX;

	assert_int_equal(hy_stats_read("*", &stats), 0);
	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		if (strcmp(stats->nodes[i].name, node) != 0)
			continue;
		objs = stats->nodes[i].objs;
		*gone = stats->nodes[i].gone;
	}
	hy_stats_free(stats);
	return objs;
}

static void
a_context_is_kept_until_its_node_is_configured_anew(void **state)
{
	struct probe src = { .budget = UINT32_MAX }, a = { 0 }, b = { 0 }, kept = { 0 };
	struct hy_graph *graph;
	hy_node_id sink;
	void *ctx;

	RTE_SET_USED(state);
	source_add(&src, "src", "mid");
	pass_add(&kept, "mid", "sink");
	sink = sink_add(&a, "sink");
	graph = GRAPH("g", .burst = 4);
	ctx = graph_node(graph, "mid")->ctx;
	hy_graph_walk(graph);
	for (unsigned int i = 0; i < 3; i++) {
		update(graph);
		hy_graph_walk(graph);
		assert_false(hy_graph_updating(graph));
		assert_ptr_equal(graph_node(graph, "mid")->ctx, ctx);
	}
	assert_int_equal(kept.inits, 1);
	assert_int_equal(a.inits, 1);
	assert_int_equal(a.finis, 0);

	config_set(sink, &b);
	hy_graph_walk(graph);
	assert_int_equal(b.inits, 0); /* not without an update */
	update(graph);
	assert_int_equal(b.inits, 1);
	assert_int_equal(a.finis, 0); /* the worker may be in it */
	hy_graph_walk(graph);
	assert_false(hy_graph_updating(graph));
	assert_int_equal(a.finis, 1);
	assert_int_equal(b.finis, 0);
	assert_int_equal(a.objs, 20);
	assert_int_equal(b.objs, 4);
	hy_graph_destroy(graph);
	assert_int_equal(a.finis, 1);
	assert_int_equal(b.finis, 1);
	assert_int_equal(kept.inits, 1);
	assert_int_equal(kept.finis, 1);
}

static void
another_implementation_starts_with_a_new_context_and_the_same_does_not(void **state)
{
	struct probe src = { .budget = UINT32_MAX }, sink = { 0 };
	struct hy_graph *graph;
	struct hy_reg_node *reg;
	struct hy_stats *stats;
	struct hy_node_impl impl;
	hy_node_id id;

	RTE_SET_USED(state);
	source_add(&src, "src", "sink");
	id = NODE(&sink, .name = "sink", .impl = { "one", probe_sink });
	graph = GRAPH("g", .burst = 4);
	hy_graph_walk(graph);
	reg = hy_registry_get(id);
	impl = reg->impl;
	impl.variant = "one";
	assert_int_equal(hy_node_impl_set(id, &impl), 0);
	update(graph);
	hy_graph_walk(graph);
	assert_int_equal(sink.inits, 1);
	impl.variant = "two";
	impl.process = probe_drop; /* anything else; it is not run */
	assert_int_equal(hy_node_impl_set(id, &impl), 0);
	update(graph);
	assert_int_equal(sink.inits, 2);
	impl.process = probe_sink;
	impl.ctx_size += 64;
	assert_int_equal(hy_node_impl_set(id, &impl), 0);
	update(graph); /* replaces the one before */
	assert_int_equal(sink.inits, 3);
	assert_int_equal(sink.finis, 1); /* of the context that nobody ran with */
	hy_graph_walk(graph);
	assert_int_equal(hy_stats_read("g", &stats), 0);
	assert_string_equal(stats->nodes[1].name, "sink");
	assert_string_equal(stats->nodes[1].variant, "two");
	assert_int_equal(stats->nodes[1].objs, 12);
	hy_stats_free(stats);
	assert_int_equal(sink.finis, 2);
}

static int init_errors; /* calls of init() that shall fail */

static int
init_fails(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	RTE_SET_USED(graph);
	*(struct probe **)node->ctx = *(struct probe *const *)config;
	if (init_errors > 0) {
		init_errors--;
		return -EPERM;
	}
	probe_of(node)->inits++;
	return 0;
}

static void
a_change_whose_init_fails_puts_back_the_one_it_replaced(void **state)
{
	struct probe src = { .budget = UINT32_MAX }, one = { 0 }, two = { 0 }, old = { 0 };
	struct hy_graph *graph;
	hy_node_id id, mid;

	RTE_SET_USED(state);
	id = source_add(&src, "src", "old");
	sink_add(&old, "old");
	graph = GRAPH("g", .patterns = SRC, .nb_patterns = 1, .burst = 5);
	hy_graph_walk(graph);

	mid = pass_add(&one, "one", "old");
	assert_int_equal(hy_node_edge_set(id, 0, "one"), 0);
	update(graph);
	NODE(&two, .name = "two", .impl = { .process = probe_pass, .init = init_fails },
		.edges = { "one" });
	assert_int_equal(hy_node_edge_set(id, 0, "two"), 0);
	config_set(mid, &one);
	init_errors = 1;
	assert_int_equal(hy_graph_update(graph, NULL), -EPERM);
	assert_true(hy_graph_updating(graph));
	assert_int_equal(one.inits - one.finis, 1);
	assert_int_equal(two.inits, 0);
	hy_graph_walk(graph);
	assert_false(hy_graph_updating(graph));
	assert_int_equal(one.objs, 5);
	assert_int_equal(two.objs, 0);
	assert_int_equal(old.objs, 10);
	assert_int_equal(old.inits, 1);
	update(graph);
	hy_graph_walk(graph);
	assert_int_equal(two.objs, 5);
	assert_int_equal(old.objs, 15);
}

static void
a_change_that_fails_leaves_a_graph_that_had_none_pending(void **state)
{
	struct probe src = { .budget = UINT32_MAX }, sink = { 0 };
	struct hy_graph_params params;
	struct hy_graph *graph;
	hy_node_id id;

	RTE_SET_USED(state);
	id = source_add(&src, "src", "sink");
	sink_add(&sink, "sink");
	graph = GRAPH("g", .burst = 5);
	assert_int_equal(hy_node_edge_add(id, "nowhere", NULL), 0);
	assert_int_equal(hy_graph_update(graph, NULL), -ENOENT);
	assert_non_null(strstr(unit_log(), "'nowhere', which is not registered"));
	assert_false(hy_graph_updating(graph));
	hy_graph_params_get(graph, &params);
	params.burst = HY_BURST_MAX + 1;
	assert_int_equal(hy_graph_update(graph, &params), -EINVAL);
	params.burst = 5;
	params.worker++;
	assert_int_equal(hy_graph_update(graph, &params), -EINVAL);
	assert_non_null(strstr(unit_log(), "ops, worker, socket and qsbr cannot change"));
	hy_graph_walk(graph);
	assert_int_equal(sink.objs, 5);
	assert_int_equal(hy_graph_burst(graph), 5);
	assert_int_equal(src.inits, 1);
	assert_int_equal(src.finis, 0);
}

static void
the_last_of_two_changes_is_taken_up(void **state)
{
	struct probe src = { .budget = UINT32_MAX }, first = { 0 }, second = { 0 }, old = { 0 };
	struct hy_graph *graph;
	hy_node_id id, one;

	RTE_SET_USED(state);
	id = source_add(&src, "src", "old");
	sink_add(&old, "old");
	one = sink_add(&first, "first");
	sink_add(&second, "second");
	graph = GRAPH("g", .patterns = SRC, .nb_patterns = 1, .burst = 5);
	assert_int_equal(hy_node_edge_set(id, 0, "first"), 0);
	update(graph);
	assert_int_equal(first.inits, 1);
	assert_int_equal(hy_node_unregister(one), -EBUSY);
	assert_int_equal(hy_node_edge_set(id, 0, "second"), 0);
	update(graph);
	assert_int_equal(first.finis, 1);
	assert_int_equal(hy_node_unregister(one), 0); /* no graph has it now */
	hy_graph_walk(graph);
	assert_int_equal(first.objs, 0);
	assert_int_equal(second.objs, 5);
	assert_int_equal(src.inits, 1);
	assert_int_equal(old.finis, 0);
	assert_false(hy_graph_updating(graph));
	assert_int_equal(old.finis, 1);
}

static void
a_graph_is_destroyed_whatever_the_worker_has_taken_up(void **state)
{
	struct probe src = { .budget = UINT32_MAX }, first = { 0 }, second = { 0 };

	RTE_SET_USED(state);
	for (unsigned int walks = 0; walks < 3; walks++) {
		struct hy_graph *graph;
		hy_node_id id, sink;

		memset(&first, 0, sizeof(first));
		memset(&second, 0, sizeof(second));
		id = source_add(&src, "src", "first");
		sink = sink_add(&first, "first");
		sink_add(&second, "second");
		graph = GRAPH("g", .patterns = SRC, .nb_patterns = 1);
		assert_int_equal(hy_node_edge_set(id, 0, "second"), 0);
		if (walks == 2) {
			hy_graph_walk(graph);
			update(graph);
			hy_graph_walk(graph);
		} else {
			update(graph);
			for (unsigned int i = 0; i < walks; i++)
				hy_graph_walk(graph);
		}
		hy_graph_destroy(graph);
		assert_int_equal(first.inits, 1);
		assert_int_equal(first.finis, 1);
		assert_int_equal(second.inits, 1);
		assert_int_equal(second.finis, 1);
		assert_int_equal(hy_node_unregister(sink), 0);
		registry_clear();
	}
}

static void
a_clone_takes_the_parameters_of_the_last_change(void **state)
{
	struct probe src = { .budget = UINT32_MAX }, sink = { 0 };
	struct hy_graph_params params;
	struct hy_graph *graph, *clone = NULL;

	RTE_SET_USED(state);
	source_add(&src, "src", "sink");
	NODE(&sink, .name = "sink", .impl.process = probe_sink, .lanes = { "l" });
	graph = GRAPH("g", .burst = 5, .lanes = { "l" });
	hy_graph_params_get(graph, &params);
	params.burst = 9;
	params.sample_every = 3;
	params.lanes[1] = "more";
	assert_int_equal(hy_graph_update(graph, &params), 0);
	assert_int_equal(hy_graph_clone(graph, "g", 7, SOCKET_ID_ANY, &clone), -EEXIST);
	assert_int_equal(hy_graph_clone(graph, "no name", 7, SOCKET_ID_ANY, &clone), -EINVAL);
	assert_null(clone);
	assert_int_equal(hy_graph_clone(graph, "clone", 7, SOCKET_ID_ANY, &clone), 0);
	hy_graph_destroy(graph); /* it shares nothing with its clone */
	assert_int_equal(hy_graph_worker(clone), 7);
	assert_int_equal(hy_graph_socket(clone), SOCKET_ID_ANY);
	assert_int_equal(hy_graph_burst(clone), 9);
	hy_graph_params_get(clone, &params);
	assert_int_equal(params.sample_every, 3);
	assert_int_equal(params.nb_patterns, 1);
	assert_string_equal(params.patterns[0], "*");
	assert_string_equal(params.lanes[0], "l");
	assert_string_equal(params.lanes[1], "more");
	assert_null(params.lanes[2]);
	hy_graph_walk(clone);
	assert_int_equal(sink.objs, 9);
}

static void
sources_and_the_drop_node_change(void **state)
{
	struct probe a = { .budget = UINT32_MAX }, b = { .budget = UINT32_MAX }, mid = { 0 };
	struct probe drop = { 0 }, drop2 = { 0 };
	struct hy_graph_params params;
	struct hy_graph *graph;
	bool gone = false;

	RTE_SET_USED(state);
	source_add(&a, "a", "mid");
	source_add(&b, "b", "mid");
	NODE(&mid, .name = "mid", .impl.process = probe_drop, .drops = { { "d" } });
	sink_add(&drop, "drop");
	sink_add(&drop2, "drop2");
	graph = GRAPH("g", .patterns = (const char *[]){ "a" }, .nb_patterns = 1, .burst = 5,
		.drop_node = "drop");
	hy_graph_walk(graph);
	hy_graph_params_get(graph, &params);
	params.patterns = (const char *[]){ "b", "a" };
	params.nb_patterns = 2;
	params.drop_node = "drop2";
	assert_int_equal(hy_graph_update(graph, &params), 0);
	hy_graph_walk(graph);
	assert_int_equal(drop.objs, 5);
	assert_int_equal(drop2.objs, 10);
	hy_graph_params_get(graph, &params);
	params.patterns = (const char *[]){ "b" };
	params.nb_patterns = 1;
	assert_int_equal(hy_graph_update(graph, &params), 0);
	hy_graph_walk(graph);
	assert_int_equal(drop2.objs, 15);
	assert_int_equal(objs_of("a", &gone), 10);
	assert_true(gone);
	assert_int_equal(objs_of("b", &gone), 10);
	assert_false(gone);
	assert_int_equal(objs_of("mid", &gone), 20);
	assert_false(gone);
	assert_int_equal(objs_of("drop", &gone), 5);
	assert_true(gone);
	assert_int_equal(a.finis, 1);
}

/* The picture's counters began at 0 again with every change. */
static void
an_exported_graph_counts_from_its_creation_on(void **state)
{
	struct probe src = { .budget = UINT32_MAX };
	struct hy_graph *graph;
	char text[4096];
	FILE *out;

	RTE_SET_USED(state);
	source_add(&src, "src", "mid");
	NODE(NULL, .name = "mid", .impl.process = probe_drop, .drops = { { "d" } });
	sink_add(NULL, "drop");
	graph = GRAPH("g", .burst = 5, .drop_node = "drop");
	for (unsigned int i = 0; i < 3; i++) {
		hy_graph_walk(graph);
		update(graph);
	}
	hy_graph_walk(graph);
	out = fmemopen(text, sizeof(text), "w");
	assert_non_null(out);
	assert_int_equal(hy_graph_export_dot(graph, out), 0);
	fclose(out);
	if (strstr(text, "\"src\" [shape=house, label=\"src\\n20\"]") == NULL ||
		strstr(text, "\"src\" -> \"mid\" [label=\"20\"]") == NULL ||
		strstr(text, "color=gray50, label=\"20\"]") == NULL)
		fail_msg("20 objects went through, but: %s", text);
}

/* Else a graph that changes often would be timed never, or its figures be of one time only. */
static void
the_first_walk_after_a_change_is_timed(void **state)
{
	struct probe src = { .budget = UINT32_MAX };
	struct hy_stats *stats;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(&src, "src", "sink");
	sink_add(NULL, "sink");
	graph = GRAPH("g", .burst = 5, .sample_every = 1000);
	for (unsigned int i = 0; i < 4; i++) {
		hy_graph_walk(graph);
		hy_graph_walk(graph);
		assert_int_equal(hy_stats_read("g", &stats), 0);
		assert_int_equal(stats->nodes[0].sampled_calls, i + 1);
		assert_int_equal(stats->nodes[1].sampled_calls, i + 1);
		assert_int_equal(stats->nodes[1].calls, 2 * (i + 1));
		hy_stats_free(stats);
		update(graph);
	}
}

static int
init_asks(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	struct hy_node *found = NULL;

	RTE_SET_USED(node);
	RTE_SET_USED(config);
	obj_faults += hy_graph_node_count(graph) != 0 && hy_graph_node_count(graph) != 2;
	obj_faults += hy_graph_node((struct hy_graph *)(uintptr_t)graph, "none", &found) != -ENOENT;
	obj_faults += hy_graph_node_at((struct hy_graph *)(uintptr_t)graph, 9, &found) != -ENOENT;
	obj_faults += hy_graph_updating(graph);
	return 0;
}

/* There is no image yet that could answer. */
static void
init_may_look_at_a_graph_that_is_being_created(void **state)
{
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(NULL, "src", "sink");
	NODE(NULL, .name = "sink", .impl = { .process = probe_sink, .init = init_asks });
	graph = GRAPH("g", .burst = 5);
	update(graph);
	assert_int_equal(obj_faults, 0);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(a_context_is_kept_until_its_node_is_configured_anew),
	GRAPH_TEST(another_implementation_starts_with_a_new_context_and_the_same_does_not),
	GRAPH_TEST(a_change_whose_init_fails_puts_back_the_one_it_replaced),
	GRAPH_TEST(a_change_that_fails_leaves_a_graph_that_had_none_pending),
	GRAPH_TEST(the_last_of_two_changes_is_taken_up),
	GRAPH_TEST(a_graph_is_destroyed_whatever_the_worker_has_taken_up),
	GRAPH_TEST(a_clone_takes_the_parameters_of_the_last_change),
	GRAPH_TEST(sources_and_the_drop_node_change),
	GRAPH_TEST(the_first_walk_after_a_change_is_timed),
	GRAPH_TEST(an_exported_graph_counts_from_its_creation_on),
	GRAPH_TEST(init_may_look_at_a_graph_that_is_being_created),
};

UNIT_SUITE(tests)
