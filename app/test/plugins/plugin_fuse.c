/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin for the tests: offers a fusion while it is loaded. */

#include <hy_fuse.h>
#include <hy_plugin.h>

HY_PLUGIN("fuse", "1", "Offers a fusion");

static uint16_t
pass(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(objs);
	hy_stream_move(graph, node, 0, n);
	return n;
}

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

static const struct hy_fuse plugin_fuse = {
	.name = "plugin_fuse", .nb_nodes = 2, .process = { pass, pass }, .run = run_none
};

RTE_INIT(plugin_fuse_offer)
{
	hy_registration_check("plugin_fuse", hy_fuse_offer(&plugin_fuse));
}
