/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * walk-model: walks one graph in the core's order and in its own order, and prints what each node did:
 * the same objects, in different calls. A program outside Halyard's tree.
 *
 *     numbers → by_three → { a, b → c } → join
 *
 * usage: walk-model [EAL options] -- WALKS
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_eal.h>

#include <hy_about.h>
#include <hy_file.h>
#include <hy_stats.h>

#include "fifo.h"

#define BURST 32

static const char usage[] =
	"usage: walk-model [EAL options] -- WALKS\n"
	"Walks a graph that many times in each of two orders, and counts what each node did.\n";

enum { NEXT_A, NEXT_B };

/* Objects are numbers: pointers into an array, which need not be freed. */
static uint8_t numbers[1 << 10];

static void
nothing_to_release(void **objs, unsigned int n)
{
	(void)objs;
	(void)n;
}

static const struct hy_object_ops ops = { .release = nothing_to_release };

static uint16_t
numbers_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	for (uint16_t i = 0; i < n; i++)
		objs[i] = &numbers[(node->objs + i) % sizeof(numbers)];
	hy_stream_move(graph, node, 0, n);
	return n;
}

static uint16_t
by_three_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint16_t next[HY_BURST_MAX];

	for (uint16_t i = 0; i < n; i++)
		next[i] = ((uint8_t *)objs[i] - numbers) % 3 == 0 ? NEXT_A : NEXT_B;
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static uint16_t
pass_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	(void)objs;
	hy_stream_move(graph, node, 0, n);
	return n;
}

static uint16_t
join_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	(void)node;
	hy_release(graph, objs, n);
	return n;
}

static const struct hy_node_desc nodes[] = {
	{ .name = "numbers",
		.flags = HY_NODE_SOURCE,
		.impl.process = numbers_process,
		.edges = { "by_three" } },
	{ .name = "by_three",
		.impl.process = by_three_process,
		.edges = { [NEXT_A] = "a", [NEXT_B] = "b" } },
	{ .name = "a", .impl.process = pass_process, .edges = { "join" } },
	{ .name = "b", .impl.process = pass_process, .edges = { "c" } },
	{ .name = "c", .impl.process = pass_process, .edges = { "join" } },
	{ .name = "join", .impl.process = join_process },
};

/* Walks a graph and prints one line per node: graph, node, objects, calls. */
static int
run(const char *name, hy_walk_model_t *model, void *ctx, unsigned long walks)
{
	static const char *const first[] = { "numbers" };
	const struct hy_graph_params params = { .patterns = first,
		.nb_patterns = 1,
		.ops = &ops,
		.burst = BURST,
		.walk = model,
		.walk_ctx = ctx };
	struct hy_stats *stats = NULL;
	struct hy_graph *graph;
	int rc = hy_graph_create(name, &params, &graph);

	if (rc < 0)
		return rc;
	for (unsigned long i = 0; i < walks; i++)
		hy_graph_walk(graph);
	rc = hy_stats_read(name, &stats);
	for (unsigned int i = 0; rc == 0 && i < stats->nb_nodes; i++)
		printf("%s %s %" PRIu64 " %" PRIu64 "\n", name, stats->nodes[i].name,
			stats->nodes[i].objs, stats->nodes[i].calls);
	hy_stats_free(stats);
	hy_graph_destroy(graph);
	return rc;
}

int
main(int argc, char **argv)
{
	struct fifo fifo = { 0 };
	unsigned long walks;
	int eal, rc = 0;

	if (hy_file_prepare() < 0)
		return EXIT_FAILURE;
	if (hy_about(argc, argv, "walk-model", usage))
		return hy_output_end("walk-model");
	eal = rte_eal_init(argc, argv);
	if (eal < 0)
		return EXIT_FAILURE;
	walks = eal + 1 < argc ? strtoul(argv[eal + 1], NULL, 10) : 0;
	if (walks == 0) {
		fputs(usage, stderr);
		return EXIT_FAILURE;
	}
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]) && rc == 0; i++)
		rc = hy_node_register(&nodes[i], NULL);
	if (rc == 0)
		rc = run("ranked", NULL, NULL, walks);
	if (rc == 0)
		rc = run("fifo", fifo_walk, &fifo, walks);
	if (rc < 0)
		fprintf(stderr, "walk-model: %s\n", strerror(-rc));
	else
		printf("longest %" PRIu64 "\n", fifo.longest);
	rte_eal_cleanup();
	return rc < 0 ? EXIT_FAILURE : hy_output_end("walk-model");
}
