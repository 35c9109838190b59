/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A program outside the tree, built against the installed library only: own nodes, registered at
 * run time, in a graph of its own, with one of them picked by the HAL. Exits with 0 if every
 * object is accounted for.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_memory.h>

#include <hy_graph.h>
#include <hy_graph_worker.h>
#include <hy_hal.h>
#include <hy_stats.h>

#define TOTAL 1000 /* Objects to make; every third is dropped. */

enum { NEXT_SINK };
enum { DROP_UNLUCKY };

static int objects[TOTAL];
static unsigned int made, released;

static void
count_released(void **objs, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		++*(int *)objs[i];
	released += n;
}

static uint16_t
source_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint16_t next[HY_BURST_MAX];

	n = RTE_MIN(n, TOTAL - made);
	for (uint16_t i = 0; i < n; i++, made++) {
		objs[i] = &objects[made];
		next[i] = made % 3 == 2 ? HY_DROP(DROP_UNLUCKY) : NEXT_SINK;
	}
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static uint16_t
sink_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	(void)node;
	hy_release(graph, objs, n);
	return n;
}

static uint16_t
slow_sink_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	(void)node;
	for (uint16_t i = 0; i < n; i++)
		hy_release(graph, &objs[i], 1);
	return n;
}

static const struct hy_node_desc source = {
	.name = "outside_source",
	.flags = HY_NODE_SOURCE,
	.impl = { .process = source_process },
	.edges = { [NEXT_SINK] = "outside_sink" },
	.drops = { [DROP_UNLUCKY] = { "unlucky", HY_SEV_INFO, "Every third object." } },
};

static const struct hy_node_desc trash = {
	.name = "outside_trash",
	.impl = { .process = sink_process },
};

static const struct hy_family sink = {
	.text = "Ends the way of every object.",
	.pack = "outside",
	.target = HY_TARGET_PROCESS,
	.node = {
		.name = "outside_sink",
		.impl = { .variant = "slow", .process = slow_sink_process },
	},
	.score = 10,
};

static const struct hy_variant fast_sink = {
	.family = "outside_sink",
	.text = "Releases whole bursts.",
	.pack = "outside",
	.impl = { .variant = "fast", .process = sink_process },
	.score = 20,
};

/* Prints a count and the one expected; returns whether they differ. */
static int
differs(const char *what, uint64_t count, uint64_t expected)
{
	printf("%s: %" PRIu64 " (expected %" PRIu64 ")\n", what, count, expected);
	return count != expected;
}

/* Checks the statistics of the graph's nodes; returns the number of wrong counts. */
static int
check_stats(void)
{
	struct hy_stats *stats;
	int wrong = 0;

	if (hy_stats_read("outside", &stats) != 0)
		return 1;
	wrong += differs("nodes", stats->nb_nodes, 3);
	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		const struct hy_node_stats *node = &stats->nodes[i];

		if (strcmp(node->name, "outside_source") == 0) {
			wrong += differs("source objects", node->objs, TOTAL);
			wrong += differs("source edge", node->edges[NEXT_SINK].objs, 667);
			/* The core's own reason comes first. */
			wrong += differs("unlucky", node->drops[HY_CORE_DROPS + DROP_UNLUCKY].objs,
				333);
		} else if (strcmp(node->name, "outside_sink") == 0) {
			wrong += differs("sink objects", node->objs, 667);
			wrong += differs("sink is fast", strcmp(node->variant, "fast") == 0, 1);
		} else {
			wrong += differs("trash objects", node->objs, 333);
		}
	}
	hy_stats_free(stats);
	return wrong;
}

/* Registers the nodes and lets the HAL choose the sink. */
static int
set_up(struct hy_hal **hal)
{
	char error[HY_HAL_ERROR_SIZE] = "";
	hy_node_id id;

	if (hy_node_register(&source, NULL) != 0 || hy_node_register(&trash, NULL) != 0 ||
		hy_family_register(&sink) != 0 || hy_variant_register(&fast_sink) != 0)
		return -1;
	if (hy_hal_create(hal) != 0)
		return -1;
	if (hy_hal_select(*hal, error) != 0) {
		fprintf(stderr, "%s\n", error);
		return -1;
	}
	return hy_hal_node(*hal, "outside_sink", 0, &id);
}

int
main(int argc, char **argv)
{
	static const struct hy_object_ops ops = { .release = count_released };
	const char *const patterns[] = { "outside_source" };
	const struct hy_graph_params params = {
		.patterns = patterns,
		.nb_patterns = RTE_DIM(patterns),
		.ops = &ops,
		.drop_node = "outside_trash",
		.burst = 32,
		.socket = SOCKET_ID_ANY,
	};
	struct hy_graph *graph = NULL;
	struct hy_hal *hal = NULL;
	int wrong = 0;

	if (rte_eal_init(argc, argv) < 0 || set_up(&hal) != 0 ||
		hy_graph_create("outside", &params, &graph) != 0) {
		fprintf(stderr, "could not set up\n");
		return EXIT_FAILURE;
	}
	for (int walks = 0; walks < TOTAL && made < TOTAL; walks++)
		hy_graph_walk(graph);

	wrong += differs("made", made, TOTAL);
	wrong += differs("released", released, TOTAL);
	for (int i = 0; i < TOTAL; i++)
		wrong += objects[i] != 1;
	wrong += check_stats();

	hy_graph_destroy(graph);
	hy_hal_destroy(hal);
	rte_eal_cleanup();
	printf("%s\n", wrong == 0 ? "outside: ok" : "outside: WRONG");
	return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
