/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the worker and the control plane do at the same moment. init() runs in the middle of a
 * change: a walk in there is a worker that wakes just then. release() and arm() run while a worker
 * takes a change up: an update in there is a control plane that meets it half way.
 */

#include <errno.h>
#include <string.h>

#include "share_fixture.h"

#define SRC ((const char *[]){ "src" })

static struct hy_graph *woken; /* walked by the next init() of a node of waking_add(), or NULL */
static int waking_rc;          /* what those init() return */
static uint16_t burst_told;    /* to the last of them */
static uint32_t capacity_told;

static int
waking_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	*(struct probe **)node->ctx = *(struct probe *const *)config;
	burst_told = hy_graph_burst(graph);
	capacity_told = hy_graph_stream_capacity(graph);
	if (woken != NULL)
		hy_graph_walk(woken);
	woken = NULL;
	if (waking_rc == 0)
		probe_of(node)->inits++;
	return waking_rc;
}

static hy_node_id
waking_add(struct probe *probe, const char *name, const char *to)
{
	return NODE(probe, .name = name, .impl = { .process = probe_pass, .init = waking_init },
		.edges = { to });
}

static void
update(struct hy_graph *graph)
{
	unit_log_clear();
	if (hy_graph_update(graph, NULL) != 0)
		fail_msg("the update is refused: %s", unit_log());
}

static uint64_t
objs_of(const char *node)
{
	struct hy_stats *stats;
	uint64_t n = UINT64_MAX;

	assert_int_equal(hy_stats_read("g", &stats), 0);
	for (unsigned int i = 0; i < stats->nb_nodes; i++)
		if (strcmp(stats->nodes[i].name, node) == 0)
			n = stats->nodes[i].objs;
	hy_stats_free(stats);
	return n;
}

/* src, first, sink: published beside src, sink. Then another node is led to, whose init() wakes. */
struct two_changes {
	struct probe src, sink, first, second;
	struct hy_graph *graph;
	hy_node_id id;
};

static void
two_changes(struct two_changes *t)
{
	*t = (struct two_changes){ .src.budget = UINT32_MAX };
	woken = NULL;
	waking_rc = 0;
	t->id = source_add(&t->src, "src", "sink");
	sink_add(&t->sink, "sink");
	t->graph = GRAPH("g", .patterns = SRC, .nb_patterns = 1, .burst = 8);
	assert_int_equal(hy_graph_walk(t->graph), 8);
	pass_add(&t->first, "first", "sink");
	assert_int_equal(hy_node_edge_set(t->id, 0, "first"), 0);
	update(t->graph);
	assert_int_equal(hy_graph_source_budget(t->graph, "src", 3), 0);
	assert_int_equal(hy_node_edge_set(t->id, 0, "second"), 0);
	waking_add(&t->second, "second", "first");
}

static void
a_worker_that_wakes_amid_a_change_walks_what_was_published(void **state)
{
	struct two_changes t;

	RTE_SET_USED(state);
	two_changes(&t);
	woken = t.graph;
	update(t.graph);
	assert_null(woken);
	assert_int_equal(t.first.objs, 3); /* in the walk that init() made, with its budget */
	assert_int_equal(t.second.objs, 0);
	assert_true(hy_graph_updating(t.graph));
	assert_int_equal(objs_of("first"), 3);
	assert_int_equal(hy_graph_walk(t.graph), 3);
	assert_false(hy_graph_updating(t.graph));
	assert_int_equal(t.second.objs, 3);
	assert_int_equal(objs_of("first"), 6);
	assert_int_equal(objs_of("sink"), 14);
	/* One context each, from the first to the last. */
	assert_int_equal(t.src.inits, 1);
	assert_int_equal(t.sink.inits, 1);
	assert_int_equal(t.first.inits, 1);
	assert_int_equal(t.second.inits, 1);
	assert_int_equal(t.src.finis + t.sink.finis + t.first.finis, 0);
}

static void
a_worker_that_wakes_amid_a_change_that_fails_has_what_was_published(void **state)
{
	struct two_changes t;

	RTE_SET_USED(state);
	two_changes(&t);
	woken = t.graph;
	waking_rc = -EPERM;
	assert_int_equal(hy_graph_update(t.graph, NULL), -EPERM);
	assert_null(woken);
	assert_int_equal(t.first.objs, 3);
	assert_false(hy_graph_updating(t.graph));
	assert_int_equal(hy_graph_walk(t.graph), 3);
	assert_int_equal(objs_of("first"), 6);
	assert_int_equal(t.first.inits, 1);
	assert_int_equal(t.first.finis, 0);
	waking_rc = 0;
	update(t.graph);
	assert_int_equal(hy_graph_walk(t.graph), 3);
	assert_int_equal(t.second.objs, 3);
}

static void
a_change_that_replaces_another_keeps_the_contexts_of_that(void **state)
{
	struct two_changes t;

	RTE_SET_USED(state);
	two_changes(&t);
	assert_int_equal(t.first.inits, 1);
	update(t.graph); /* in place of the one that brought "first" */
	assert_int_equal(t.first.inits, 1);
	assert_int_equal(hy_graph_walk(t.graph), 3);
	assert_int_equal(t.first.objs, 3);
	assert_int_equal(t.second.objs, 3);
	assert_int_equal(objs_of("sink"), 11);
	/* And one that does without. */
	assert_int_equal(hy_node_edge_set(t.id, 0, "sink"), 0);
	update(t.graph);
	assert_int_equal(hy_graph_walk(t.graph), 3);
	assert_false(hy_graph_updating(t.graph));
	assert_int_equal(t.first.inits, 1);
	assert_int_equal(t.first.finis, 1);
}

/* The second graph is refused when the first has been compiled. */
static void
a_change_that_fails_elsewhere_leaves_burst_and_capacity_alone(void **state)
{
	struct probe src[2] = { { .budget = UINT32_MAX }, { .budget = UINT32_MAX } }, mid = { 0 };
	struct hy_graph_params params[2];
	struct hy_graph *graphs[2];
	hy_node_id id;

	RTE_SET_USED(state);
	woken = NULL;
	waking_rc = 0;
	source_add(&src[0], "src", "mid");
	id = source_add(&src[1], "late", "sink");
	waking_add(&mid, "mid", "sink");
	sink_add(NULL, "sink");
	graphs[0] = GRAPH("g", .patterns = SRC, .nb_patterns = 1);
	graphs[1] = GRAPH("h", .patterns = (const char *[]){ "late" }, .nb_patterns = 1);
	assert_int_equal(burst_told, HY_BURST_DEFAULT);
	assert_int_equal(hy_node_edge_add(id, "nowhere", NULL), 0);
	for (unsigned int pending = 0; pending < 2; pending++) {
		const uint32_t capacity = hy_graph_stream_capacity(graphs[0]);
		const uint16_t burst = hy_graph_burst(graphs[0]);
		struct probe *again = &mid;
		hy_node_id mid_id;

		/* So that init() is called, and can ask. */
		assert_int_equal(hy_node_lookup("mid", &mid_id), 0);
		assert_int_equal(hy_node_config(mid_id, &again, sizeof(again)), 0);
		for (unsigned int g = 0; g < 2; g++) {
			hy_graph_params_get(graphs[g], &params[g]);
			params[g].burst = 8;
		}
		assert_int_equal(hy_graph_update_each(graphs, params, 2), -ENOENT);
		assert_int_equal(burst_told, 8);
		assert_int_equal(capacity_told, 8);
		assert_int_equal(hy_graph_burst(graphs[0]), burst);
		assert_int_equal(hy_graph_stream_capacity(graphs[0]), capacity);
		assert_int_equal(hy_graph_walk(graphs[0]), burst);
		/* Once more, in place of a change that is pending. */
		params[0].burst = 16;
		assert_int_equal(hy_graph_update(graphs[0], &params[0]), 0);
		assert_int_equal(burst_told, 16);
		assert_int_equal(hy_graph_burst(graphs[0]), 16);
	}
}

static void
a_graph_that_is_given_twice_is_refused(void **state)
{
	struct probe src = { .budget = 8 }, sink = { 0 };
	struct hy_graph *graphs[3];

	RTE_SET_USED(state);
	source_add(&src, "src", "sink");
	sink_add(&sink, "sink");
	graphs[0] = graphs[2] = GRAPH("g", .patterns = SRC, .nb_patterns = 1, .burst = 8);
	graphs[1] = GRAPH("h", .patterns = SRC, .nb_patterns = 1, .burst = 8);
	unit_log_clear();
	assert_int_equal(hy_graph_update_all(graphs, 3), -EINVAL);
	assert_non_null(strstr(unit_log(), "graph 'g': given twice for one change"));
	assert_int_equal(unit_log_lines(), 1);
	assert_false(hy_graph_updating(graphs[0]));
	assert_false(hy_graph_updating(graphs[1]));
	assert_int_equal(hy_graph_update_all(graphs, 2), 0);
	assert_true(hy_graph_updating(graphs[0]));
	assert_int_equal(hy_graph_walk(graphs[0]), 8);
	assert_int_equal(sink.objs, 8);
}

/* An update from within what a worker calls while it takes another up. */
static struct hy_graph *halfway;
static int halfway_rc;
static bool halfway_updating;
static unsigned int halfway_calls;

static void
release_halfway(void **objs, unsigned int n)
{
	obj_release(objs, n);
	if (halfway == NULL)
		return;
	halfway_rc = hy_graph_update(halfway, NULL);
	halfway_updating = hy_graph_updating(halfway);
	halfway_calls++;
	halfway = NULL;
}

static const struct hy_object_ops halfway_ops = { .release = release_halfway };

/* Objects go round between two nodes for ever. */
static uint16_t
wait_here(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	probe_hit(node, n);
	hy_stream_move(graph, node, 0, n);
	RTE_SET_USED(objs);
	return n;
}

static void
a_change_beside_a_worker_that_takes_one_up_waits_for_nothing(void **state)
{
	struct probe src = { .budget = 5 }, mid = { 0 }, new = { 0 };
	struct hy_graph *graph;
	struct hy_stats *stats;
	hy_node_id id;

	RTE_SET_USED(state);
	id = source_add(&src, "src", "there");
	NODE(NULL, .name = "there", .impl.process = wait_here, .edges = { "back" });
	NODE(NULL, .name = "back", .impl.process = wait_here, .edges = { "there" });
	graph = GRAPH("g", .patterns = SRC, .nb_patterns = 1, .burst = 8, .ops = &halfway_ops,
		.max_sweeps = 1);
	share();
	assert_int_equal(hy_graph_walk(graph), 5);
	assert_int_equal(waiting(graph), 5);
	pass_add(&mid, "mid", "sink");
	sink_add(NULL, "sink");
	assert_int_equal(hy_node_edge_set(id, 0, "mid"), 0);
	update(graph);
	pass_add(&new, "new", "mid");
	assert_int_equal(hy_node_edge_set(id, 0, "new"), 0);
	halfway = graph;
	halfway_calls = 0;
	src.budget = 4;
	assert_int_equal(hy_graph_walk(graph), 4); /* took "mid" up; what waited was released */
	assert_int_equal(halfway_calls, 1);
	assert_int_equal(halfway_rc, 0);
	assert_true(halfway_updating);
	assert_int_equal(mid.objs, 4);
	assert_int_equal(new.objs, 0);
	/* Three images, of which the worker has left one: a reader sums them up by itself. */
	assert_int_equal(hy_share_stats(reader, "g", &stats), 0);
	assert_string_equal(stats->nodes[0].name, "src");
	assert_int_equal(stats->nodes[0].objs, 9);
	assert_string_equal(stats->nodes[1].name, "mid");
	assert_int_equal(stats->nodes[1].objs, 4);
	hy_stats_free(stats);
	assert_true(hy_graph_updating(graph));
	src.budget = 3;
	assert_int_equal(hy_graph_walk(graph), 3);
	assert_false(hy_graph_updating(graph));
	assert_int_equal(new.objs, 3);
	assert_int_equal(mid.objs, 7);
	assert_int_equal(mid.inits, 1);
	assert_int_equal(objs_of("mid"), 7);
	assert_int_equal(objs_of("src"), 12);
	assert_int_equal(obj_under_way, 0);
}

/* What was left to be taken up when the graph goes, with another in between. */
static void
a_graph_is_destroyed_with_all_its_images(void **state)
{
	struct probe src = { .budget = 5 }, mid = { 0 }, new = { 0 };
	struct hy_graph *graph;
	hy_node_id id;

	RTE_SET_USED(state);
	id = source_add(&src, "src", "there");
	NODE(NULL, .name = "there", .impl.process = wait_here, .edges = { "back" });
	NODE(NULL, .name = "back", .impl.process = wait_here, .edges = { "there" });
	graph = GRAPH("g", .patterns = SRC, .nb_patterns = 1, .burst = 8, .ops = &halfway_ops,
		.max_sweeps = 1);
	assert_int_equal(hy_graph_walk(graph), 5);
	pass_add(&mid, "mid", "sink");
	sink_add(NULL, "sink");
	assert_int_equal(hy_node_edge_set(id, 0, "mid"), 0);
	update(graph);
	pass_add(&new, "new", "mid");
	assert_int_equal(hy_node_edge_set(id, 0, "new"), 0);
	halfway = graph;
	halfway_calls = 0;
	hy_graph_walk(graph);
	assert_int_equal(halfway_calls, 1);
	hy_graph_destroy(graph);
	assert_int_equal(mid.inits, 1);
	assert_int_equal(mid.finis, 1);
	assert_int_equal(new.inits, 1);
	assert_int_equal(new.finis, 1);
	assert_int_equal(obj_under_way, 0);
}

static struct hy_graph *changed[2]; /* in the next init() or fini() of nested_add(); or NULL */
static int nested_rc[2];            /* what that returned */

static void
nested_change(void)
{
	for (unsigned int g = 0; g < RTE_DIM(changed); g++) {
		struct hy_graph *graph = changed[g];

		changed[g] = NULL;
		if (graph == NULL)
			continue;
		nested_rc[g] = hy_graph_update(graph, NULL);
		hy_graph_walk(graph);
	}
}

static int
nested_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	RTE_SET_USED(graph);
	*(struct probe **)node->ctx = *(struct probe *const *)config;
	nested_change();
	return 0;
}

/* It would compile and publish between the two: what is published then follows another image. */
static void
a_change_within_a_change_of_the_same_graph_is_refused(void **state)
{
	struct probe src = { .budget = UINT32_MAX }, sink = { 0 }, nested = { 0 };
	struct hy_graph *graph, *other;
	hy_node_id id;

	RTE_SET_USED(state);
	id = source_add(&src, "src", "sink");
	sink_add(&sink, "sink");
	graph = GRAPH("g", .patterns = SRC, .nb_patterns = 1, .burst = 8);
	other = GRAPH("h", .patterns = SRC, .nb_patterns = 1, .burst = 8);
	NODE(&nested, .name = "nested", .impl = { .process = probe_pass, .init = nested_init },
		.edges = { "sink" });
	assert_int_equal(hy_node_edge_set(id, 0, "nested"), 0);
	changed[0] = graph; /* under way; the other one is not */
	changed[1] = other;
	unit_log_clear();
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_int_equal(nested_rc[0], -EBUSY);
	assert_int_equal(nested_rc[1], 0);
	assert_string_equal(unit_log(),
		"halyard: graph 'g': hy_graph_update() refused: called in the middle of a change "
		"of the graph, such as by a node's init() or fini()\n");
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(hy_graph_walk(graph), 8);
		assert_int_equal(hy_graph_walk(other), 8);
		assert_false(hy_graph_updating(graph));
		update(graph);
	}
	assert_int_equal(nested.objs, 2 * 3 * 8 + 8); /* of the other one, in init() too */
	/* Contexts have gone from image to image. */
	assert_int_equal(src.inits, 2);
	assert_int_equal(src.finis, 0);
	assert_int_equal(sink.finis, 0);
	hy_graph_destroy(graph);
	hy_graph_destroy(other);
	assert_int_equal(src.finis, 2);
	assert_int_equal(sink.finis, 2);
}

static const char *created_name; /* of a graph that the next init() creates; or NULL */

static int
creating_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	const char *name = created_name;

	RTE_SET_USED(graph);
	*(struct probe **)node->ctx = *(struct probe *const *)config;
	created_name = NULL;
	if (name != NULL)
		GRAPH(name, .patterns = SRC, .nb_patterns = 1);
	return 0;
}

/* Of the same name, or the same reader of a QSBR variable: two are one too many. */
static void
a_graph_that_init_creates_is_there_when_the_one_that_it_is_of_comes(void **state)
{
	struct probe src = { 0 };
	struct hy_graph *graph = NULL;

	RTE_SET_USED(state);
	source_add(NULL, "src", "sink");
	source_add(NULL, "src2", "creating");
	sink_add(NULL, "sink");
	NODE(&src, .name = "creating", .impl = { .process = probe_pass, .init = creating_init },
		.edges = { "sink" });
	created_name = "g";
	unit_log_clear();
	assert_int_equal(GRAPH_TRY("g", &graph, .patterns = (const char *[]){ "src2" },
				 .nb_patterns = 1),
		-EEXIST);
	assert_null(graph);
	assert_string_equal(unit_log(), "halyard: graph 'g': the name is taken\n");
	assert_int_equal(hy_graph_lookup("g", &graph), 0);
	assert_int_equal(hy_graph_node_count(graph), 2);
	hy_graph_destroy(graph);
	assert_int_equal(hy_graph_lookup("g", &graph), -ENOENT);
	assert_int_equal(src.finis, 1);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(a_worker_that_wakes_amid_a_change_walks_what_was_published),
	GRAPH_TEST(a_worker_that_wakes_amid_a_change_that_fails_has_what_was_published),
	GRAPH_TEST(a_change_that_replaces_another_keeps_the_contexts_of_that),
	GRAPH_TEST(a_change_that_fails_elsewhere_leaves_burst_and_capacity_alone),
	GRAPH_TEST(a_graph_that_is_given_twice_is_refused),
	SHARE_TEST(a_change_beside_a_worker_that_takes_one_up_waits_for_nothing),
	GRAPH_TEST(a_graph_is_destroyed_with_all_its_images),
	GRAPH_TEST(a_change_within_a_change_of_the_same_graph_is_refused),
	GRAPH_TEST(a_graph_that_init_creates_is_there_when_the_one_that_it_is_of_comes),
};

UNIT_SUITE(tests)
