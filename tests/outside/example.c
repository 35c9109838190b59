/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks 100 objects through the node "count", the example in hy_graph_worker.h. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>

#include <hy_graph_worker.h>
#include <hy_stats.h>

static int objects[100];
static unsigned int released;

static void
objects_release(void **objs, unsigned int n)
{
	(void)objs;
	released += n;
}

static uint16_t
source_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	static unsigned int made;
	uint16_t i = 0;

	for (; i < n && made < RTE_DIM(objects); i++)
		objs[i] = &objects[made++];
	hy_stream_move(graph, node, 0, i);
	return i;
}

static uint16_t
sink_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	(void)node;
	hy_release(graph, objs, n);
	return n;
}

static const struct hy_node_desc source = {
	.name = "source",
	.impl = { .process = source_process },
	.flags = HY_NODE_SOURCE,
	.edges = { "count" },
};
HY_NODE_REGISTER(source)

static const struct hy_node_desc sink = { .name = "sink", .impl = { .process = sink_process } };
HY_NODE_REGISTER(sink)

int
main(int argc, char **argv)
{
	static const struct hy_object_ops ops = { .release = objects_release };
	const char *const patterns[] = { "source" };
	const struct hy_graph_params params = {
		.patterns = patterns, .nb_patterns = 1, .ops = &ops, .drop_node = "sink"
	};
	struct hy_graph *graph;
	struct hy_stats *stats;

	if (rte_eal_init(argc, argv) < 0 || hy_graph_create("example", &params, &graph) < 0)
		return EXIT_FAILURE;
	while (hy_graph_walk(graph) > 0)
		;
	if (hy_stats_read("example", &stats) < 0)
		return EXIT_FAILURE;
	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		const struct hy_node_stats *node = &stats->nodes[i];

		if (strcmp(node->name, "count") == 0)
			printf("count: %" PRIu64 " objects, seen %" PRIu64 "; sink: %u\n",
				node->objs, node->counters[0].value, released);
	}
	hy_stats_free(stats);
	hy_graph_destroy(graph);
	rte_eal_cleanup();
	return EXIT_SUCCESS;
}
