/* SPDX-License-Identifier: BSD-3-Clause */
/* A plugin for the tests: a feature of the arc "arc". */

#include <hy_arc.h>
#include <hy_plugin.h>

HY_PLUGIN("feature", "1", "Passes objects on along an arc");

static int
init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	RTE_SET_USED(config);
	return hy_arc_join(graph, node, 0, node->ctx);
}

static uint16_t
process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	hy_arc_next(graph, node, node->ctx, objs, n);
	return n;
}

static const struct hy_node_desc plugin_feature = {
	.name = "plugin_feature",
	.impl = { .process = process, .init = init, .ctx_size = sizeof(struct hy_arc_place) },
	.lanes = { HY_ARC_LANE },
};
HY_NODE_REGISTER(plugin_feature)

static const struct hy_arc_feature on_arc = {
	.arc = "arc", .node = "plugin_feature", .after = { "f" }
};
HY_ARC_FEATURE_REGISTER(on_arc)
