/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Control functions called by code that a graph runs: by init(), fini() and release() in the middle
 * of a change, and by arm(), wait(), release() and notify() on a worker. What each call returns is
 * the table below, which hy_graph.h sums up.
 */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <hy_capture.h>
#include <hy_dispatch.h>
#include <hy_idle.h>
#include <hy_share.h>

#include "arc_fixture.h"
#include "lib/graph/common/memory.h"

/* Who calls. The first ones run on the thread that changes the graph, the others on its worker. */
enum caller {
	INIT_IN_CREATE,
	INIT_IN_UPDATE,
	FINI_OF_LEFT,
	FINI_IN_DESTROY,
	RELEASE_IN_DESTROY,
	RELEASE_IN_WALK,
	CALLED_BY_ARM,
	CALLED_BY_WAIT,
	CALLED_BY_NOTIFY,
	CALLERS
};

static const char *const callers[CALLERS] = { "init() in hy_graph_create()",
	"init() in hy_graph_update()", "fini() of what the worker has left",
	"fini() in hy_graph_destroy()", "release() in hy_graph_destroy()", "release() in a walk",
	"arm()", "wait()", "notify()" };

/* The call that is to be made, once, by the code of graph "g". */
static struct {
	int (*call)(struct hy_graph *graph);
	bool other; /* about graph "h", not about the one whose code calls */
	unsigned int made;
	int rc;
} now;

static struct hy_graph *g, *h;
static struct hy_dispatch *dispatch, *dispatch_made;
static struct hy_arc *arc_made;
static struct hy_idle idle;
static hy_node_id spare;
static bool circling; /* mid sends objects round and round */

static void
call(const struct hy_graph *graph)
{
	int (*make)(struct hy_graph * graph) = now.call;

	if (make == NULL || graph == h)
		return;
	now.call = NULL;
	now.made++;
	unit_log_clear();
	now.rc = make(now.other ? h : (struct hy_graph *)(uintptr_t)graph);
	if (now.rc < 0 && now.rc != -ENOENT && unit_log_lines() == 0)
		obj_faults++; /* refused without a word */
}

/* --- The world: "g" and "h" of src -> mid -> end, an arc to end, and a dispatch of two workers. --- */

static enum caller caller;

static int
mid_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	RTE_SET_USED(node);
	RTE_SET_USED(config);
	if (caller == INIT_IN_CREATE || caller == INIT_IN_UPDATE)
		call(graph);
	return 0;
}

static void
mid_fini(const struct hy_graph *graph, struct hy_node *node)
{
	RTE_SET_USED(node);
	if (caller == FINI_OF_LEFT || caller == FINI_IN_DESTROY)
		call(graph);
}

static uint16_t
mid_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	hy_enqueue(graph, node, circling, objs, n);
	return n;
}

static void
world_release(void **objs, unsigned int n)
{
	obj_release(objs, n);
	if (caller == RELEASE_IN_DESTROY || caller == RELEASE_IN_WALK)
		call(g);
}

static int
world_arm(struct hy_graph *graph, bool on)
{
	if (caller == CALLED_BY_ARM && on)
		call(graph);
	return 0;
}

static void *
other_worker(void *arg)
{
	RTE_SET_USED(arg);
	hy_graph_walk(hy_dispatch_graph(dispatch, 0));
	return NULL;
}

static int
world_wait(struct hy_graph *graph, unsigned int usec)
{
	pthread_t thread;

	RTE_SET_USED(usec);
	if (caller == CALLED_BY_WAIT)
		call(graph);
	/* The thread counts faults, too. */
	if (caller == CALLED_BY_NOTIFY &&
		(pthread_create(&thread, NULL, other_worker, NULL) != 0 ||
			pthread_join(thread, NULL) != 0))
		obj_faults++;
	return 1;
}

static void
world_notify(uint16_t worker, void *arg)
{
	RTE_SET_USED(arg);
	if (caller == CALLED_BY_NOTIFY && worker == 1)
		call(hy_dispatch_graph(dispatch, 0));
}

static size_t
world_copy(const void *obj, struct hy_capture_record *record, size_t size)
{
	RTE_SET_USED(obj);
	RTE_SET_USED(record);
	RTE_SET_USED(size);
	return 0;
}

static const struct hy_object_ops world_ops = {
	.release = world_release, .arm = world_arm, .wait = world_wait, .copy = world_copy
};
static const char *const src[] = { "src" };
static const struct hy_graph_params world_params = { .patterns = src,
	.nb_patterns = 1,
	.ops = &world_ops,
	.drop_node = "gone",
	.lanes = { HY_ARC_LANE },
	.burst = 8,
	.max_sweeps = 1 };
static const struct hy_dispatch_params world_dispatch = { .graph = &world_params,
	.nb_workers = 2,
	.pins = &(const struct hy_dispatch_pin){ .pattern = "end",
		.workers = (const uint16_t[]){ 1 },
		.nb_workers = 1 },
	.nb_pins = 1,
	.notify = world_notify,
	.patience_ms = 10 };

static void
index_zero(void *const objs[], uint32_t index[], uint16_t n)
{
	RTE_SET_USED(objs);
	memset(index, 0, n * sizeof(*index));
}

static uint16_t
feature_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	hy_arc_next(graph, node, node->ctx, objs, n);
	return n;
}

static int
feature_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	RTE_SET_USED(config);
	return hy_arc_join(graph, node, 0, node->ctx);
}

static const struct hy_arc_feature feature = { .arc = "arc", .node = "feature" };
static const struct hy_arc_params arc_params = { .end = "end", .index = index_zero };
static struct probe source;

static void
world_make(void)
{
	source = (struct probe){ 0 };
	circling = false;
	hy_idle_init(&idle, &(const struct hy_idle_params){ .wait_us = 1 });
	NODE(&source, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = probe_source,
		.edges = { "mid" });
	NODE(NULL, .name = "mid", .edges = { "end", "back" },
		.impl = { .process = mid_process, .init = mid_init, .fini = mid_fini });
	pass_add(NULL, "back", "mid");
	sink_add(NULL, "end");
	sink_add(NULL, "gone");
	spare = pass_add(NULL, "spare", "end");
	NODE(NULL, .name = "feature", .lanes = { HY_ARC_LANE },
		.impl = { .process = feature_process,
			.init = feature_init,
			.ctx_size = sizeof(struct hy_arc_place) });
	assert_int_equal(hy_arc_feature_register(&feature), 0);
	assert_int_equal(hy_arc_create("arc", &arc_params, &arc), 0);
	assert_int_equal(hy_graph_create("h", &world_params, &h), 0);
	assert_int_equal(hy_dispatch_create("d", &world_dispatch, &dispatch), 0);
	if (caller != INIT_IN_CREATE)
		assert_int_equal(hy_graph_create("g", &world_params, &g), 0);
}

static void
world_destroy(void)
{
	unit_log_clear();
	hy_memory_keep(false); /* nobody reads what was shared */
	hy_dispatch_destroy(dispatch);
	hy_dispatch_destroy(dispatch_made);
	dispatch = dispatch_made = NULL;
	while (hy_graph_lookup("g", &g) == 0 || hy_graph_lookup("h", &g) == 0 ||
		hy_graph_lookup("made", &g) == 0)
		hy_graph_destroy(g);
	g = h = NULL;
	assert_int_equal(hy_arc_destroy(arc_made), 0);
	arc_made = NULL;
	if (hy_arc_lookup("arc", &arc) == 0)
		assert_int_equal(hy_arc_destroy(arc), 0);
	assert_int_equal(hy_arc_feature_unregister("feature"), 0);
	hy_arc_feature_unregister("made");
	registry_clear();
}

/* --- The functions. --- */

/* A function of one call. */
#define CALL(name, call_) \
	static int name(struct hy_graph *graph) \
	{ \
		RTE_SET_USED(graph); \
		return call_; \
	}

CALL(node_register,
	hy_node_register(
		(&(const struct hy_node_desc){ .name = "made", .impl.process = probe_sink }), NULL))
CALL(node_unregister, hy_node_unregister(spare))
CALL(node_clone, hy_node_clone(spare, "twin", NULL))
CALL(node_config, hy_node_config(spare, "", 1))
CALL(node_impl_set, hy_node_impl_set(spare, &(const struct hy_node_impl){ .process = probe_sink }))
CALL(graph_create, hy_graph_create("made", &world_params, &graph))
CALL(graph_clone, hy_graph_clone(graph, "made", 0, SOCKET_ID_ANY, &graph))
CALL(graph_update, hy_graph_update(graph, NULL))
CALL(graph_update_all, hy_graph_update_all(&graph, 1))
CALL(graph_destroy, hy_graph_destroy(graph))
CALL(graph_lookup, hy_graph_lookup("h", &graph))
CALL(source_budget, hy_graph_source_budget(graph, "src", 1))
CALL(feature_register,
	hy_arc_feature_register(&(const struct hy_arc_feature){ .arc = "none", .node = "made" }))
CALL(feature_unregister, hy_arc_feature_unregister("feature"))
CALL(arc_create,
	hy_arc_create("made", &(const struct hy_arc_params){ .end = "gone", .index = index_zero },
		&arc_made))
CALL(arc_destroy, hy_arc_destroy(arc))
CALL(arc_lookup, hy_arc_lookup("arc", &arc))
CALL(arc_set, hy_arc_set(arc, 0, &(const struct hy_arc_setting){ .feature = "feature" }, 1))
CALL(arc_enable, hy_arc_enable(arc, "feature", 0, 0))
CALL(arc_disable, hy_arc_disable(arc, "feature", 0))
CALL(arc_get, hy_arc_get(arc, "feature", 0, NULL))
CALL(dispatch_create, hy_dispatch_create("made", &world_dispatch, &dispatch_made))
CALL(dispatch_pin, hy_dispatch_pin(dispatch, world_dispatch.pins, 1))
CALL(dispatch_drain, hy_dispatch_drain(dispatch))
CALL(trace_start,
	hy_trace_start(graph, &(const struct hy_trace_params){ .nb_objs = 1, .at = "mid" }))
CALL(capture_start,
	hy_capture_start(graph,
		&(const struct hy_capture_params){
			.points = &(const struct hy_capture_point){ .node = "mid" },
			.nb_points = 1,
			.nb_bytes = HY_CAPTURE_BYTES_MIN }))

static int
node_unregister_own(struct hy_graph *graph)
{
	hy_node_id id;
	int rc = hy_node_lookup("mid", &id);

	RTE_SET_USED(graph);
	return rc < 0 ? rc : hy_node_unregister(id);
}

static int
node_edges(struct hy_graph *graph)
{
	int rc = hy_node_edge_add(spare, "gone", NULL);

	RTE_SET_USED(graph);
	if (rc == 0)
		rc = hy_node_edge_set(spare, 1, "back");
	return rc < 0 ? rc : hy_node_edge_shrink(spare, 0);
}

static int
graph_updating(struct hy_graph *graph)
{
	hy_graph_updating(graph);
	return 0;
}

static int
graph_node_none(struct hy_graph *graph)
{
	struct hy_node *node;

	hy_graph_node_count(graph);
	hy_graph_node_at(graph, 0, &node);
	return hy_graph_node(graph, "none", &node);
}

static int
params_get(struct hy_graph *graph)
{
	struct hy_graph_params params;

	hy_graph_params_get(graph, &params);
	return 0;
}

static int export(struct hy_graph *graph)
{
	char text[16384];
	FILE *out = fmemopen(text, sizeof(text), "w");
	int rc = out == NULL ? -ENOMEM : hy_graph_export_dot(graph, out);

	if (out != NULL)
		fclose(out);
	return rc;
}

static int
stats_read(struct hy_graph *graph)
{
	struct hy_stats *stats = NULL;
	int rc = hy_stats_read("*", &stats);

	RTE_SET_USED(graph);
	hy_stats_free(stats);
	return rc;
}

/* Void functions say in the log alone that they did nothing. */
static int
void_rc(void)
{
	return strstr(unit_log(), "refused") == NULL ? 0 : -EDEADLK;
}

static int
share_start_stop(struct hy_graph *graph)
{
	char path[] = "/tmp/hy-test-calls-XXXXXX", lock[sizeof(path) + 8];
	int rc;

	RTE_SET_USED(graph);
	if (mkdtemp(path) == NULL)
		return -errno;
	rc = hy_share_start(path);
	hy_share_stop();
	snprintf(lock, sizeof(lock), "%s/lock", path);
	return unlink(lock) == 0 && rmdir(path) == 0 ? rc : -errno;
}

static int
trace_stop(struct hy_graph *graph)
{
	hy_trace_stop(graph);
	return void_rc();
}

static int
trace_status(struct hy_graph *graph)
{
	struct hy_trace_record record;
	struct hy_trace_state status;

	return hy_trace_read(graph, &record, 1) == 0 ? hy_trace_status(graph, &status) : 0;
}

static int
capture_stop(struct hy_graph *graph)
{
	hy_capture_stop(graph);
	return void_rc();
}

static int
capture_status(struct hy_graph *graph)
{
	struct hy_capture_state status;
	uint64_t buffer[8];

	return hy_capture_read(graph, buffer, sizeof(buffer)) == 0
		? hy_capture_status(graph, &status)
		: 0;
}

/* What a call returns: in a change of the graph that it is about, of another; on a worker. */
static const struct {
	const char *name;
	int (*call)(struct hy_graph *graph);
	int own, other;
	int worker_own, worker_other;
} calls[] = {
	{ "hy_node_register", node_register, 0, 0, 0, 0 },
	{ "hy_node_unregister", node_unregister, 0, 0, 0, 0 },
	{ "hy_node_unregister of the graph", node_unregister_own, -EBUSY, -EBUSY, -EBUSY, -EBUSY },
	{ "hy_node_clone", node_clone, 0, 0, 0, 0 },
	{ "hy_node_config", node_config, 0, 0, 0, 0 },
	{ "hy_node_impl_set", node_impl_set, 0, 0, 0, 0 },
	{ "hy_node_edge_add, _set, _shrink", node_edges, 0, 0, 0, 0 },
	{ "hy_graph_create", graph_create, 0, 0, 0, 0 },
	{ "hy_graph_clone", graph_clone, 0, 0, 0, 0 },
	{ "hy_graph_update", graph_update, -EBUSY, 0, 0, 0 },
	{ "hy_graph_update_all", graph_update_all, -EBUSY, 0, 0, 0 },
	{ "hy_graph_updating", graph_updating, 0, 0, 0, 0 },
	{ "hy_graph_destroy", graph_destroy, -EBUSY, 0, -EDEADLK, 0 },
	{ "hy_graph_lookup", graph_lookup, 0, 0, 0, 0 },
	{ "hy_graph_node", graph_node_none, -ENOENT, -ENOENT, -ENOENT, -ENOENT },
	{ "hy_graph_source_budget", source_budget, -EBUSY, 0, 0, 0 },
	{ "hy_graph_params_get", params_get, 0, 0, 0, 0 },
	{ "hy_graph_export_dot", export, 0, 0, 0, 0 },
	{ "hy_stats_read", stats_read, 0, 0, 0, 0 },
	{ "hy_arc_feature_register", feature_register, 0, 0, 0, 0 },
	{ "hy_arc_feature_unregister", feature_unregister, -EBUSY, -EBUSY, -EBUSY, -EBUSY },
	{ "hy_arc_create", arc_create, 0, 0, 0, 0 },
	{ "hy_arc_lookup", arc_lookup, 0, 0, 0, 0 },
	{ "hy_arc_destroy", arc_destroy, -EDEADLK, -EDEADLK, -EDEADLK, -EDEADLK },
	{ "hy_arc_set", arc_set, -EDEADLK, -EDEADLK, -EDEADLK, -EDEADLK },
	{ "hy_arc_enable", arc_enable, -EDEADLK, -EDEADLK, -EDEADLK, -EDEADLK },
	{ "hy_arc_disable", arc_disable, -EDEADLK, -EDEADLK, -EDEADLK, -EDEADLK },
	{ "hy_arc_get", arc_get, -EDEADLK, -EDEADLK, -EDEADLK, -EDEADLK },
	{ "hy_dispatch_create", dispatch_create, 0, 0, 0, 0 },
	{ "hy_dispatch_pin", dispatch_pin, -EDEADLK, -EDEADLK, -EDEADLK, -EDEADLK },
	{ "hy_dispatch_drain", dispatch_drain, -EDEADLK, -EDEADLK, -EDEADLK, -EDEADLK },
	{ "hy_share_start, _stop", share_start_stop, 0, 0, 0, 0 },
	{ "hy_trace_start", trace_start, -EBUSY, 0, -EDEADLK, -EDEADLK },
	{ "hy_trace_stop", trace_stop, 0, 0, -EDEADLK, -EDEADLK },
	{ "hy_trace_status, _read", trace_status, -ENOENT, -ENOENT, -ENOENT, -ENOENT },
	{ "hy_capture_start", capture_start, -EBUSY, 0, -EDEADLK, -EDEADLK },
	{ "hy_capture_stop", capture_stop, 0, 0, -EDEADLK, -EDEADLK },
	{ "hy_capture_status, _read", capture_status, -ENOENT, -ENOENT, -ENOENT, -ENOENT },
};

/* Has the code of graph "g", or of the dispatch's, run. */
static void
provoke(void)
{
	hy_node_id id;

	assert_int_equal(hy_node_lookup("mid", &id), 0);
	switch (caller) {
	case INIT_IN_CREATE:
		assert_int_equal(hy_graph_create("g", &world_params, &g), 0);
		break;
	case INIT_IN_UPDATE:
	case FINI_OF_LEFT:
		assert_int_equal(hy_node_config(id, "", 1), 0);
		assert_int_equal(hy_graph_update(g, NULL), 0);
		hy_graph_walk(g);
		hy_graph_updating(g);
		break;
	case RELEASE_IN_DESTROY:
	case RELEASE_IN_WALK:
		source.budget = 3;
		circling = true;
		hy_graph_walk(g);
		assert_true(waiting(g) > 0);
		if (caller == RELEASE_IN_WALK) {
			assert_int_equal(hy_node_lookup("src", &id), 0);
			assert_int_equal(hy_node_edge_set(id, 0, "end"), 0);
			assert_int_equal(hy_graph_update(g, NULL), 0);
			hy_graph_walk(g);
			break;
		} /* fallthrough */
	case FINI_IN_DESTROY:
		assert_int_equal(hy_graph_destroy(g), 0);
		break;
	case CALLED_BY_ARM:
	case CALLED_BY_WAIT:
		hy_idle_rest(&idle, g);
		break;
	default:
		source.budget = 3;
		hy_idle_rest(&idle, hy_dispatch_graph(dispatch, 1));
	}
}

static void
what_code_of_a_graph_may_call(void **state)
{
	unsigned int allowed = 0, busy = 0, deadlk = 0;

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(calls) * CALLERS * 2; i++) {
		const unsigned int c = i / 2 / CALLERS;
		int expected;

		caller = i / 2 % CALLERS;
		now.other = i % 2 != 0;
		if (caller >= RELEASE_IN_WALK)
			expected = now.other ? calls[c].worker_other : calls[c].worker_own;
		else
			expected = now.other ? calls[c].other : calls[c].own;
		/* The dispatch alone may clone, or destroy, what is its own. */
		if (caller == CALLED_BY_NOTIFY && !now.other &&
			(calls[c].call == graph_clone || calls[c].call == graph_destroy))
			expected = -EPERM;
		if (caller == INIT_IN_CREATE && !now.other && calls[c].call == export)
			expected = -EBUSY; /* there is nothing yet */
		world_make();
		now.made = 0;
		now.call = calls[c].call;
		provoke();
		if (now.made != 1 || now.rc != expected)
			fail_msg("%s of %s graph by %s, called %u times: %d, expected %d; %s",
				calls[c].name, now.other ? "another" : "the same", callers[caller],
				now.made, now.rc, expected, unit_log());
		allowed += now.rc == 0;
		busy += now.rc == -EBUSY;
		deadlk += now.rc == -EDEADLK;
		caller = CALLERS;
		world_destroy();
	}
	assert_true(allowed > 300 && busy > 30 && deadlk > 150);
}

static hy_node_id only_here;
static int unregister_rc;

static int
init_unregisters(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	RTE_SET_USED(config);
	unregister_rc = hy_node_unregister(only_here);
	return 0;
}

/* No graph has them before: they were freed under the image that was being compiled. */
static void
an_init_does_not_unregister_nodes_of_its_new_graph(void **state)
{
	struct probe made = { .budget = 5 }, sink = { 0 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	unregister_rc = 0;
	source_add(&made, "src", "mid");
	NODE(NULL, .name = "mid", .edges = { "end" },
		.impl = { .process = probe_pass, .init = init_unregisters });
	only_here = sink_add(&sink, "end");
	graph = GRAPH("g", .burst = 5);
	assert_int_equal(unregister_rc, -EBUSY);
	assert_non_null(strstr(unit_log(), "node 'end' is in a graph"));
	hy_graph_walk(graph);
	assert_int_equal(sink.objs, 5);
	assert_int_equal(hy_graph_destroy(graph), 0);
	assert_int_equal(hy_node_unregister(only_here), 0);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(an_init_does_not_unregister_nodes_of_its_new_graph),
	GRAPH_TEST(what_code_of_a_graph_may_call),
};

UNIT_SUITE(tests)
