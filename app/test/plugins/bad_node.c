/* SPDX-License-Identifier: BSD-3-Clause */
/* A node that the registry refuses, for its name has a space in it. */

#include <hy_graph.h>

static uint16_t
never(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	RTE_SET_USED(objs);
	return n;
}

static const struct hy_node_desc bad_node = { .name = "bad node", .impl.process = never };
static const struct hy_node_desc good_node = { .name = "good_node", .impl.process = never };

HY_NODE_REGISTER(good_node)
HY_NODE_REGISTER(bad_node)
