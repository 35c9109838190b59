/* SPDX-License-Identifier: BSD-3-Clause */
/* Plugins: loaded whole or not at all, unloaded when nothing uses them. */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hy_arc.h>
#include <hy_dispatch.h>
#include <hy_node.h>
#include <hy_walk.h>

#include "graph_fixture.h"
#include "lib/graph/plugin/plugin.h"
#include "lib/graph/registry/registry.h"
#include "plugin_fixture.h"

static void
a_plugin_says_what_it_is_and_its_nodes_carry_objects(void **state)
{
	const struct plugin_file file = plugin_copy("hy-test-plugin.so", "plugin.so");
	struct hy_plugin *plugin = plugin_load(file.path);
	const struct hy_plugin_info *info = hy_plugin_describe(plugin);
	struct probe source = { .budget = 1000 }, sink = { 0 };
	struct hy_graph *graph;

	RTE_SET_USED(state);
	assert_string_equal(info->path, file.path);
	assert_string_equal(info->name, "test");
	assert_string_equal(info->version, "2.5-rc1");
	assert_string_equal(info->text, "Passes objects on");
	assert_int_equal(info->abi, HY_ABI);
	assert_int_equal(info->dpdk, RTE_VERSION);
	assert_ptr_equal(hy_plugin_next(NULL), plugin);
	assert_null(hy_plugin_next(plugin));

	source_add(&source, "src", "plugin_pass");
	sink_add(&sink, "sink");
	graph = GRAPH("g", .patterns = (const char *const[]){ "src" }, .nb_patterns = 1);
	while (sink.objs < 1000)
		hy_graph_walk(graph);
	assert_int_equal(graph_node(graph, "plugin_pass")->objs, 1000);
	hy_graph_destroy(graph);
	plugin_unload(plugin);
	assert_null(hy_plugin_next(NULL));
	assert_int_equal(hy_node_lookup("plugin_pass", NULL), -ENOENT);
}

/* Not -ENOEXEC for ever after, as when a program or a plain dlopen() brings a bad node. */
static void
a_registration_that_fails_fails_the_load_and_nothing_else(void **state)
{
	const struct plugin_file bad = plugin_copy("hy-test-plugin-bad.so", "bad.so");
	const struct plugin_file good = plugin_copy("hy-test-plugin.so", "good.so");
	struct hy_graph *graph;

	RTE_SET_USED(state);
	source_add(NULL, "src", "sink");
	sink_add(NULL, "sink");
	assert_plugin_refused(bad.path, -EINVAL,
		"registration of 'bad node' failed: its declaration is malformed; nothing of the "
		"plugin was kept");
	assert_null(hy_registry_failed());
	graph = GRAPH("after", .burst = 1);
	plugin_unload(plugin_load(good.path));
	hy_graph_destroy(graph);
}

static void
a_node_whose_name_is_taken_fails_the_load(void **state)
{
	const struct plugin_file file = plugin_copy("hy-test-plugin.so", "plugin.so");
	hy_node_id id;

	RTE_SET_USED(state);
	id = sink_add(NULL, "plugin_family");
	assert_int_equal(hy_plugin_load(file.path, NULL, plugin_error), -EEXIST);
	assert_non_null(strstr(plugin_error,
		": registration of 'plugin_family' failed: the name is taken;"));
	assert_int_equal(hy_node_lookup("plugin_pass", NULL), -ENOENT);
	assert_int_equal(hy_node_unregister(id), 0); /* the one that was there first stayed */
	plugin_unload(plugin_load(file.path));
}

static void
a_plugin_that_registers_nothing_is_refused(void **state)
{
	const struct plugin_file file = plugin_copy("hy-test-plugin-empty.so", "empty.so");

	RTE_SET_USED(state);
	assert_plugin_refused(file.path, -ENODATA, "it registers no node, family or variant");
}

static void
a_plugin_is_loaded_once_and_so_is_its_name(void **state)
{
	const struct plugin_file file = plugin_copy("hy-test-plugin.so", "plugin.so");
	const struct plugin_file other = plugin_copy("hy-test-plugin.so", "other.so");
	struct hy_plugin *plugin = plugin_load(file.path);
	char sentence[HY_PLUGIN_ERROR_SIZE];

	RTE_SET_USED(state);
	assert_int_equal(hy_plugin_load(file.path, NULL, plugin_error), -EEXIST);
	snprintf(sentence, sizeof(sentence), "'%.300s': it is loaded already", file.path);
	assert_string_equal(plugin_error, sentence);
	assert_int_equal(hy_plugin_load(other.path, NULL, plugin_error), -EEXIST);
	snprintf(sentence, sizeof(sentence),
		"'%.300s': a plugin 'test' is loaded already, from '%.300s'", other.path,
		file.path);
	assert_string_equal(plugin_error, sentence);
	assert_int_equal(hy_node_lookup("plugin_pass", NULL), 0);
	plugin_unload(plugin);
	plugin_unload(plugin_load(other.path));
}

static void
assert_busy(struct hy_plugin *plugin, const char *why)
{
	assert_int_equal(hy_plugin_unload(plugin, plugin_error), -EBUSY);
	if (strstr(plugin_error, why) == NULL)
		fail_msg("'%s' instead of '%s'", plugin_error, why);
	assert_ptr_equal(hy_plugin_next(NULL), plugin);
	assert_int_equal(hy_node_lookup("plugin_pass", NULL), 0);
}

static void
what_is_in_use_is_not_unloaded(void **state)
{
	const struct plugin_file file = plugin_copy("hy-test-plugin.so", "plugin.so");
	struct hy_plugin *plugin = plugin_load(file.path);
	const struct hy_node_impl own = { NULL, probe_pass };
	struct hy_hal *hal = NULL;
	struct hy_graph *graph;
	hy_node_id id, clone;

	RTE_SET_USED(state);
	source_add(NULL, "src", "plugin_pass");
	sink_add(NULL, "sink");
	graph = GRAPH("g", .patterns = (const char *const[]){ "src" }, .nb_patterns = 1);
	assert_busy(plugin,
		": its node 'plugin_pass' is in a graph, or in one that waits to be "
		"taken up");
	hy_graph_destroy(graph);

	assert_int_equal(hy_node_lookup("plugin_pass", &id), 0);
	assert_int_equal(hy_node_clone(id, "1", &clone), 0);
	assert_busy(plugin, ": node 'plugin_pass-1' is traced by its code; unregister it");
	assert_int_equal(hy_node_impl_set(clone, &own), 0);
	assert_busy(plugin, ": node 'plugin_pass-1' is traced by its code; unregister it");
	assert_int_equal(hy_node_unregister(clone), 0);
	assert_int_equal(hy_node_lookup("plugin_family", &id), 0);
	assert_int_equal(hy_node_clone(id, "1", &clone), 0);
	assert_busy(plugin, ": node 'plugin_family-1' runs its code; ");
	assert_int_equal(hy_node_unregister(clone), 0);

	assert_int_equal(hy_hal_create(&hal), 0);
	assert_busy(plugin, ": it has families or variants, and a HAL exists; ");
	hy_hal_destroy(hal);
	plugin_unload(plugin);
}

/* The registry had another implementation already, but the graph had not. */
static void
a_graph_that_still_runs_its_code_is_in_use(void **state)
{
	const struct plugin_file file = plugin_copy("hy-test-plugin.so", "plugin.so");
	struct hy_plugin *plugin = plugin_load(file.path);
	struct hy_node_impl own = { NULL, probe_sink };
	const struct hy_reg_node *reg;
	struct hy_graph *graph;
	hy_node_id id, sink;

	RTE_SET_USED(state);
	source_add(NULL, "src", "end");
	sink = sink_add(NULL, "end");
	assert_int_equal(hy_node_lookup("plugin_pass", &id), 0);
	reg = hy_registry_get(id);
	assert_int_equal(hy_node_impl_set(sink, &reg->impl), 0);
	graph = GRAPH("g", .patterns = (const char *const[]){ "src" }, .nb_patterns = 1);
	assert_int_equal(hy_node_impl_set(sink, &own), 0);
	assert_busy(plugin,
		": node 'end' of graph 'g' runs its code; update the graph, or destroy it");
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_busy(plugin,
		": node 'end' of graph 'g' runs its code; update the graph, or destroy it");
	hy_graph_walk(graph);
	plugin_unload(plugin);
}

static hy_arc_index_t *an_index;
static hy_walk_model_t *a_walk;

/* The plugin's code under the type of another function; nobody calls it. */
static void
code_borrow(void)
{
	hy_node_id id;

	assert_int_equal(hy_node_lookup("plugin_pass", &id), 0);
	an_index = (hy_arc_index_t *)(void *)(uintptr_t)hy_registry_get(id)->impl.process;
	a_walk = (hy_walk_model_t *)(void *)(uintptr_t)hy_registry_get(id)->impl.process;
}

/* Chains tell objects of edges that the node would not have when the plugin is loaded again. */
static void
a_live_feature_keeps_its_plugin(void **state)
{
	const struct plugin_file file = plugin_copy("hy-test-plugin.so", "plugin.so");
	const struct hy_arc_feature feature = { .arc = "arc", .node = "plugin_pass" };
	const struct hy_arc_params params = { .end = "end", .index_lane = "index" };
	struct hy_plugin *plugin = plugin_load(file.path);
	struct hy_graph *graph;
	struct hy_arc *arc;

	RTE_SET_USED(state);
	source_add(NULL, "src", "end");
	sink_add(NULL, "end");
	sink_add(NULL, "sink");
	assert_int_equal(hy_arc_feature_register(&feature), 0);
	assert_int_equal(hy_arc_create("arc", &params, &arc), 0);
	graph = GRAPH("g", .patterns = (const char *const[]){ "src" }, .nb_patterns = 1,
		.lanes = { "index", HY_ARC_LANE });
	assert_int_equal(hy_arc_enable(arc, "plugin_pass", 0, 1), 0);
	assert_busy(plugin,
		": its node 'plugin_pass' is in a graph, or in one that waits to be "
		"taken up");
	hy_graph_destroy(graph);
	assert_busy(plugin,
		": its node 'plugin_pass' is a feature of arc 'arc'; disable all "
		"features of that first");
	assert_int_equal(hy_arc_disable(arc, "plugin_pass", 0), 0);
	plugin_unload(plugin);
	plugin = plugin_load(file.path);
	assert_int_equal(hy_arc_enable(arc, "plugin_pass", 0, 1), 0);
	graph = GRAPH("g", .patterns = (const char *const[]){ "src" }, .nb_patterns = 1,
		.lanes = { "index", HY_ARC_LANE });
	hy_graph_walk(graph);
	hy_graph_destroy(graph);
	assert_int_equal(hy_arc_destroy(arc), 0);
	plugin_unload(plugin);
	assert_int_equal(hy_arc_feature_unregister("plugin_pass"), 0);
}

/* A load that fails takes it back; a plugin that is loaded has it destroyed first. */
static void
an_arc_that_a_plugin_creates_goes_before_it(void **state)
{
	const struct plugin_file good = plugin_copy("hy-test-plugin-arc.so", "arc.so");
	const struct plugin_file bad = plugin_copy("hy-test-plugin-arc-bad.so", "bad.so");
	struct hy_plugin *plugin;
	struct hy_arc *arc;

	RTE_SET_USED(state);
	assert_plugin_refused(bad.path, -EINVAL,
		"registration of 'bad node' failed: its declaration is malformed; nothing of the "
		"plugin was kept");
	assert_int_equal(hy_arc_lookup("plugin_arc", &arc), -ENOENT);
	assert_int_equal(hy_node_lookup("plugin_arc", NULL), -ENOENT);
	plugin = plugin_load(good.path);
	assert_int_equal(hy_plugin_unload(plugin, plugin_error), -EBUSY);
	assert_non_null(strstr(plugin_error, "'plugin_arc'"));
	assert_int_equal(hy_arc_lookup("plugin_arc", &arc), 0);
	assert_int_equal(hy_arc_destroy(arc), 0);
	plugin_unload(plugin);
}

static void
an_arc_that_asks_its_code_for_indexes_keeps_a_plugin(void **state)
{
	const struct plugin_file file = plugin_copy("hy-test-plugin.so", "plugin.so");
	struct hy_plugin *plugin = plugin_load(file.path);
	struct hy_arc_params params = { .end = "end" };
	struct hy_arc *arc;

	RTE_SET_USED(state);
	code_borrow();
	params.index = an_index;
	assert_int_equal(hy_arc_create("arc", &params, &arc), 0);
	assert_busy(plugin, ": arc 'arc' asks its code for indexes; destroy that first");
	assert_int_equal(hy_arc_destroy(arc), 0);
	plugin_unload(plugin);
}

static int
no_arm(struct hy_graph *graph, bool on)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(on);
	return -ENOTSUP;
}

static int
no_wait(struct hy_graph *graph, unsigned int usec)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(usec);
	return 0;
}

static void
a_graph_that_it_walks_or_whose_objects_it_handles_keeps_a_plugin(void **state)
{
	const struct plugin_file file = plugin_copy("hy-test-plugin.so", "plugin.so");
	const char *const src[] = { "src" };
	struct hy_plugin *plugin = plugin_load(file.path);
	struct hy_object_ops ops[7];
	struct hy_graph_params params;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	code_borrow();
	source_add(NULL, "src", "end");
	sink_add(NULL, "end");
	graph = GRAPH("g", .patterns = src, .nb_patterns = 1, .walk = a_walk);
	assert_busy(plugin, ": it walks graph 'g'; update the graph, or destroy it");
	hy_graph_params_get(graph, &params);
	params.walk = NULL;
	assert_int_equal(hy_graph_update(graph, &params), 0);
	assert_busy(plugin, ": it walks graph 'g'; "); /* until the worker comes to it */
	hy_graph_destroy(graph);
	for (unsigned int f = 0; f < RTE_DIM(ops); f++) {
		void **function = (void **)&ops[f] + f;

		ops[f] = (struct hy_object_ops){
			.release = obj_release, .arm = no_arm, .wait = no_wait
		};
		*function = *(void **)&a_walk;
		graph = GRAPH("g", .patterns = src, .nb_patterns = 1, .ops = &ops[f]);
		assert_busy(plugin, ": it handles the objects of graph 'g'; destroy that first");
		hy_graph_destroy(graph);
	}
	static_assert(sizeof(ops[0]) == RTE_DIM(ops) * sizeof(void *), "an operation more");
	plugin_unload(plugin);
}

/* Its graphs have the dispatch's own functions in place of these. */
static void
a_dispatch_that_sleeps_or_notifies_by_its_code_keeps_a_plugin(void **state)
{
	const struct plugin_file file = plugin_copy("hy-test-plugin.so", "plugin.so");
	const char *const src[] = { "src" };
	struct hy_plugin *plugin = plugin_load(file.path);

	RTE_SET_USED(state);
	code_borrow();
	source_add(NULL, "src", "end");
	sink_add(NULL, "end");
	sink_add(NULL, "gone");
	for (unsigned int f = 0; f < 3; f++) {
		struct hy_object_ops ops = {
			.release = obj_release, .arm = no_arm, .wait = no_wait
		};
		const struct hy_graph_params graph = {
			.patterns = src, .nb_patterns = 1, .ops = &ops, .drop_node = "gone"
		};
		struct hy_dispatch_params params = { .graph = &graph, .nb_workers = 1 };
		void **const functions[] = { (void **)&ops.arm, (void **)&ops.wait,
			(void **)&params.notify };
		struct hy_dispatch *dispatch;

		*functions[f] = *(void **)&a_walk;
		assert_int_equal(hy_dispatch_create("d", &params, &dispatch), 0);
		assert_busy(plugin, ": dispatch 'd' uses its code; destroy that first");
		hy_dispatch_destroy(dispatch);
	}
	plugin_unload(plugin);
}

static size_t
no_copy(const void *obj, struct hy_capture_record *record, size_t size)
{
	RTE_SET_USED(obj);
	RTE_SET_USED(record);
	RTE_SET_USED(size);
	return 0;
}

/* The graph has no node of the plugin; the worker calls match() all the same. */
static void
a_trace_or_a_capture_that_matches_by_its_code_keeps_a_plugin(void **state)
{
	static const struct hy_object_ops ops = { .release = obj_release, .copy = no_copy };
	const struct plugin_file file = plugin_copy("hy-test-plugin.so", "plugin.so");
	const struct hy_capture_point point = { .node = "end" };
	struct hy_trace_params trace = { .nb_objs = 1 };
	struct hy_capture_params capture = { .points = &point, .nb_points = 1 };
	struct hy_plugin *plugin = plugin_load(file.path);
	struct hy_graph *graph;

	RTE_SET_USED(state);
	code_borrow();
	trace.match = capture.match = (hy_trace_match_t *)(void *)a_walk;
	source_add(NULL, "src", "end");
	sink_add(NULL, "end");
	graph = GRAPH("g", .patterns = (const char *const[]){ "src" }, .nb_patterns = 1,
		.ops = &ops);
	assert_int_equal(hy_trace_start(graph, &trace), 0);
	assert_busy(plugin, ": a trace of graph 'g' matches by its code; stop that first");
	hy_trace_stop(graph);
	assert_int_equal(hy_capture_start(graph, &capture), 0);
	assert_busy(plugin, ": a capture of graph 'g' matches by its code; stop that first");
	hy_capture_stop(graph);
	plugin_unload(plugin);
}

static struct hy_plugin *to_unload;
static int unload_rc;

static int
unload_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	RTE_SET_USED(config);
	unload_rc = hy_plugin_unload(to_unload, plugin_error);
	return 0;
}

/* No list has a graph whose nodes are being initialised, though it is walked by the plugin's code. */
static void
an_init_of_a_graph_that_it_walks_does_not_unload_a_plugin(void **state)
{
	const struct plugin_file file = plugin_copy("hy-test-plugin.so", "plugin.so");
	struct hy_graph *graph;

	RTE_SET_USED(state);
	to_unload = plugin_load(file.path);
	code_borrow();
	source_add(NULL, "src", "end");
	NODE(NULL, .name = "end", .impl = { .process = probe_sink, .init = unload_init });
	graph = GRAPH("g", .patterns = (const char *const[]){ "src" }, .nb_patterns = 1,
		.walk = a_walk);
	assert_int_equal(unload_rc, -EDEADLK);
	assert_non_null(strstr(plugin_error, ": called by code of a graph"));
	assert_ptr_equal(hy_plugin_next(NULL), to_unload);
	hy_graph_destroy(graph);
	plugin_unload(to_unload);
}

static const char *to_load;
static int load_rc[2];

static int
load_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	struct hy_arc *arc;

	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	RTE_SET_USED(config);
	load_rc[0] = hy_plugin_load(to_load, NULL, plugin_error);
	load_rc[1] = hy_plugin_load_list(to_load, plugin_error);
	return hy_arc_lookup("plugin_arc", &arc) == -ENOENT ? 0 : -EEXIST;
}

/* What it registers could not be undone there: its arc stayed, and its code did not. */
static void
an_init_does_not_load_a_plugin(void **state)
{
	const struct plugin_file file = plugin_copy("hy-test-plugin-arc-bad.so", "bad.so");
	struct hy_graph *graph;

	RTE_SET_USED(state);
	to_load = file.path;
	source_add(NULL, "src", "end");
	NODE(NULL, .name = "end", .impl = { .process = probe_sink, .init = load_init });
	graph = GRAPH("g", .patterns = (const char *const[]){ "src" }, .nb_patterns = 1);
	assert_int_equal(load_rc[0], -EDEADLK);
	assert_int_equal(load_rc[1], -EDEADLK);
	assert_non_null(strstr(plugin_error, ": called by code of a graph"));
	assert_null(hy_plugin_next(NULL));
	hy_graph_destroy(graph);
}

static void
a_node_that_left_by_itself_is_no_obstacle(void **state)
{
	const struct plugin_file file = plugin_copy("hy-test-plugin.so", "plugin.so");
	struct hy_plugin *plugin = plugin_load(file.path);
	hy_node_id id;

	RTE_SET_USED(state);
	assert_int_equal(hy_node_lookup("plugin_pass", &id), 0);
	assert_int_equal(hy_node_unregister(id), 0);
	plugin_unload(plugin);
	assert_string_equal(unit_log(), "");
}

/* What takes its place, and perhaps its memory, is not the plugin's. */
static void
a_feature_or_an_arc_that_left_by_itself_is_no_obstacle(void **state)
{
	const struct plugin_file with_feature = plugin_copy("hy-test-plugin-feature.so", "f.so");
	const struct plugin_file with_arc = plugin_copy("hy-test-plugin-arc.so", "arc.so");
	const struct hy_arc_feature other = { .arc = "other", .node = "other_feature" };
	const struct hy_arc_params params = { .end = "end", .index_lane = "index" };
	struct hy_plugin *plugin = plugin_load(with_feature.path);
	struct hy_arc *arc, *of_plugin;

	RTE_SET_USED(state);
	assert_int_equal(hy_arc_feature_unregister("plugin_feature"), 0);
	assert_int_equal(hy_arc_feature_register(&other), 0);
	assert_int_equal(hy_arc_create("other", &params, &arc), 0);
	plugin_unload(plugin);
	assert_string_equal(hy_arc_feature_at(arc, 0), "other_feature");
	assert_int_equal(hy_arc_destroy(arc), 0);
	assert_int_equal(hy_arc_feature_unregister("other_feature"), 0);

	plugin = plugin_load(with_arc.path);
	assert_int_equal(hy_arc_lookup("plugin_arc", &of_plugin), 0);
	assert_int_equal(hy_arc_destroy(of_plugin), 0);
	assert_int_equal(hy_arc_create("other", &params, &arc), 0);
	plugin_unload(plugin);
	assert_int_equal(hy_arc_lookup("other", &of_plugin), 0);
	assert_int_equal(hy_arc_destroy(arc), 0);
}

static void
loading_fails_clean_at_every_allocation(void **state)
{
	const struct plugin_file file = plugin_copy("hy-test-plugin.so", "plugin.so");
	struct hy_plugin *plugin = NULL;
	unsigned int failed = 0;
	int rc;

	RTE_SET_USED(state);
	do {
		const int64_t live = unit_alloc_live();

		unit_alloc_fail(failed + 1);
		rc = hy_plugin_load(file.path, &plugin, plugin_error);
		unit_alloc_fail(0);
		if (rc == 0)
			break;
		failed++;
		assert_int_equal(rc, -ENOMEM);
		assert_null(plugin);
		assert_int_equal(unit_alloc_live(), live);
		assert_int_equal(hy_node_lookup("plugin_pass", NULL), -ENOENT);
		assert_int_equal(hy_node_lookup("plugin_family", NULL), -ENOENT);
	} while (failed < 100);
	/* The plugin; two nodes with an edge; five notes of what was registered; three lists. */
	assert_in_range(failed, 12, 20);
	plugin_unload(plugin);
}

static void
a_list_of_plugins_is_loaded_whole_or_not_at_all(void **state)
{
	const struct plugin_file file = plugin_copy("hy-test-plugin.so", "plugin.so");
	char list[2 * PATH_MAX];

	RTE_SET_USED(state);
	assert_int_equal(hy_plugin_load_list(NULL, plugin_error), 0);
	assert_int_equal(hy_plugin_load_list("::", plugin_error), 0);
	assert_null(hy_plugin_next(NULL));
	snprintf(list, sizeof(list), "%s:/nonexistent.so", file.path);
	assert_int_equal(hy_plugin_load_list(list, plugin_error), -ENOENT);
	assert_string_equal(plugin_error, "'/nonexistent.so': No such file or directory");
	assert_null(hy_plugin_next(NULL));
	snprintf(list, sizeof(list), ":%s:", file.path);
	assert_int_equal(hy_plugin_load_list(list, plugin_error), 0);
	assert_non_null(hy_plugin_next(NULL));
	plugin_unload(hy_plugin_next(NULL));
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(a_plugin_says_what_it_is_and_its_nodes_carry_objects),
	GRAPH_TEST(a_registration_that_fails_fails_the_load_and_nothing_else),
	GRAPH_TEST(a_node_whose_name_is_taken_fails_the_load),
	GRAPH_TEST(a_list_of_plugins_is_loaded_whole_or_not_at_all),
	GRAPH_TEST(a_plugin_that_registers_nothing_is_refused),
	GRAPH_TEST(a_plugin_is_loaded_once_and_so_is_its_name),
	GRAPH_TEST(what_is_in_use_is_not_unloaded),
	GRAPH_TEST(a_graph_that_still_runs_its_code_is_in_use),
	GRAPH_TEST(a_live_feature_keeps_its_plugin),
	GRAPH_TEST(an_arc_that_a_plugin_creates_goes_before_it),
	GRAPH_TEST(an_arc_that_asks_its_code_for_indexes_keeps_a_plugin),
	GRAPH_TEST(a_graph_that_it_walks_or_whose_objects_it_handles_keeps_a_plugin),
	GRAPH_TEST(a_dispatch_that_sleeps_or_notifies_by_its_code_keeps_a_plugin),
	GRAPH_TEST(a_trace_or_a_capture_that_matches_by_its_code_keeps_a_plugin),
	GRAPH_TEST(an_init_of_a_graph_that_it_walks_does_not_unload_a_plugin),
	GRAPH_TEST(an_init_does_not_load_a_plugin),
	GRAPH_TEST(a_node_that_left_by_itself_is_no_obstacle),
	GRAPH_TEST(a_feature_or_an_arc_that_left_by_itself_is_no_obstacle),
	GRAPH_TEST(loading_fails_clean_at_every_allocation),
};

UNIT_SUITE(tests)
