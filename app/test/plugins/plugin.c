/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin for the tests: a node, a family, and variants of that and of a test's family. */

#include <stdio.h>

#include <hy_node.h>
#include <hy_plugin.h>
#include <hy_trace.h>

HY_PLUGIN("test", "2.5-rc1", "Passes objects on");

static uint16_t
pass(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(objs);
	hy_stream_move(graph, node, 0, n);
	return n;
}

/* Another function, which the linker must not make one of with the first. */
static uint16_t
pass_too(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	hy_enqueue(graph, node, 0, objs, n);
	return n;
}

static int
pass_format(const struct hy_trace_record *record, char *text, size_t size)
{
	return snprintf(text, size, "passed %u", record->serial);
}

static const struct hy_node_desc plugin_pass = {
	.name = "plugin_pass",
	.impl.process = pass,
	.trace.format = pass_format,
	.edges = { "sink" },
};
HY_NODE_REGISTER(plugin_pass)

/* Before its family, and by a string that the linker may merge with the family's name. */
HY_NODE_VARIANT(plugin_family, early, .text = "Registered before its family",
	.impl.process = pass_too, .score = 20);

HY_NODE_FAMILY(plugin_family,
	.text = "Of a plugin",
	.target = HY_TARGET_PROCESS,
	.score = 10,
	.node = {
		.name = "plugin_family",
		.impl = { .variant = "reference", .process = pass },
		.edges = { "sink" },
	});

HY_NODE_VARIANT(plugged, foreign, .text = "For the test's family", .impl.process = pass_too,
	.score = 30);

static uint16_t
run_none(struct hy_graph *graph, struct hy_node *const nodes[], void **objs, uint16_t n,
	uint16_t next[])
{
	RTE_SET_USED(graph);
	RTE_SET_USED(nodes);
	RTE_SET_USED(objs);
	RTE_SET_USED(n);
	RTE_SET_USED(next);
	return 0;
}

HY_NODE_FUSION(plugin_fusion, early, .text = "Of a plugin", .run = run_none,
	.chain = { { "plugged", "foreign" }, { "plugin_family", "early" } });
