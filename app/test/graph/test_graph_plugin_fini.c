/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes to use a plugin while that is unloaded. */

#include <errno.h>
#include <string.h>

#include "graph_fixture.h"
#include "plugin_fixture.h"

static bool clones; /* the next fini() of "gone" clones the plugin's node */

static void
gone_fini(const struct hy_graph *graph, struct hy_node *node)
{
	hy_node_id id;

	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	if (clones)
		obj_faults += hy_node_lookup("plugin_pass", &id) != 0 ||
			hy_node_clone(id, "1", NULL) != 0;
	clones = false;
}

/* To look whether graphs run its code reads them, and with that runs what their workers have left. */
static void
a_node_that_comes_to_run_its_code_while_it_is_unloaded_keeps_a_plugin(void **state)
{
	const struct plugin_file file = plugin_copy("hy-test-plugin.so", "plugin.so");
	struct hy_plugin *plugin = plugin_load(file.path);
	struct hy_graph *graph;
	hy_node_id id;

	RTE_SET_USED(state);
	source_add(NULL, "src", "gone");
	id = NODE(NULL, .name = "gone", .impl = { .process = probe_sink, .fini = gone_fini });
	graph = GRAPH("g", .patterns = (const char *const[]){ "src" }, .nb_patterns = 1);
	assert_int_equal(hy_node_config(id, "", 1), 0);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	hy_graph_walk(graph);
	clones = true;
	assert_int_equal(hy_plugin_unload(plugin, plugin_error), -EBUSY);
	assert_non_null(strstr(plugin_error,
		": node 'plugin_pass-1' is traced by its code; unregister it"));
	assert_false(clones);
	assert_int_equal(hy_node_lookup("plugin_pass-1", &id), 0);
	assert_int_equal(hy_node_unregister(id), 0);
	plugin_unload(plugin);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(a_node_that_comes_to_run_its_code_while_it_is_unloaded_keeps_a_plugin),
};

UNIT_SUITE(tests)
