/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program with bad_node.c in it. Prints what hy_graph_create() says of a graph that is otherwise
 * in order; its log and what the constructors said go to stderr.
 */

#include <stdio.h>

#include <rte_eal.h>

#include <hy_graph.h>

static uint16_t
idle(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	RTE_SET_USED(objs);
	RTE_SET_USED(n);
	return 0;
}

static void
release(void **objs, unsigned int n)
{
	RTE_SET_USED(objs);
	RTE_SET_USED(n);
}

int
main(int argc, char **argv)
{
	char args[][20] = { "--no-huge", "-m", "32", "--no-pci", "--no-shconf", "--no-telemetry" };
	char *eal[RTE_DIM(args) + 1] = { argv[0] };
	static const struct hy_object_ops ops = { release };
	static const char *const patterns[] = { "source" };
	const struct hy_graph_params params = {
		.patterns = patterns, .nb_patterns = 1, .ops = &ops
	};
	const struct hy_node_desc source = {
		.name = "source", .flags = HY_NODE_SOURCE, .impl.process = idle
	};
	struct hy_graph *graph;
	hy_node_id id;
	int rc;

	RTE_SET_USED(argc);
	for (size_t i = 0; i < RTE_DIM(args); i++)
		eal[i + 1] = args[i];
	if (rte_eal_init(RTE_DIM(args) + 1, eal) < 0)
		return 2;
	rc = hy_node_register(&source, NULL);
	if (rc == 0)
		rc = hy_graph_create("graph", &params, &graph);
	printf("%d %d\n", rc, hy_node_lookup("good_node", &id));
	return 0;
}
