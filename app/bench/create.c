/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time to create and destroy a graph: a source, and nodes with two edges each, to the next node
 * and to a random later one, so that all are reached.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "graphs.h"
#include "walk.h"

#define EDGES 2

struct rig {
	char prefix[8], pattern[16];
	unsigned int nodes;
	bool failed;
	unsigned int (*edges)[EDGES]; /* to the next node and a random later one */
};

static uint16_t
rte_process(struct rte_graph *graph __rte_unused, struct rte_node *node __rte_unused,
	void **objs __rte_unused, uint16_t n __rte_unused)
{
	return 0;
}

static uint64_t
ours_once(struct rig *rig, const char *pattern)
{
	const struct hy_graph_params params = { .nb_patterns = 0 };
	struct hy_graph *graph;

	rig->failed |= graph_ours("create", pattern, params, &graph) < 0;
	if (!rig->failed)
		hy_graph_destroy(graph);
	return 1;
}

static uint64_t
ours_by_pattern(void *arg)
{
	struct rig *rig = arg;

	return ours_once(rig, rig->pattern);
}

static uint64_t
ours_by_source(void *arg)
{
	struct rig *rig = arg;
	char source[16];

	snprintf(source, sizeof(source), "%s_0", rig->prefix);
	return ours_once(rig, source);
}

static uint64_t
rte_by_pattern(void *arg)
{
	struct rig *rig = arg;
	const rte_graph_t id = graph_rte("create", rig->pattern);

	rig->failed |= id == RTE_GRAPH_ID_INVALID;
	if (!rig->failed)
		rig->failed |= rte_graph_destroy(id) < 0;
	return 1;
}

static bool
check(void *arg)
{
	return !((struct rig *)arg)->failed;
}

static bool
prepare(struct rig *rig, unsigned int nodes, bool rte)
{
	const struct hy_node_impl ours = { .process = graph_nothing };
	bool right = true;

	rig->nodes = nodes;
	rig->failed = false;
	snprintf(rig->prefix, sizeof(rig->prefix), "c%u", nodes);
	snprintf(rig->pattern, sizeof(rig->pattern), "%s_*", rig->prefix);
	rig->edges = bench_alloc(nodes, sizeof(*rig->edges));
	for (unsigned int i = 0; i + 2 < nodes; i++) {
		rig->edges[i][0] = i + 1;
		rig->edges[i][1] = i + 2 + bench_random() % (nodes - i - 2);
	}
	rig->edges[nodes - 2][0] = nodes - 1;
	for (unsigned int i = 0; i < nodes && right; i++) {
		const struct graph_node node = { rig->prefix, i, i == 0,
			RTE_MIN(EDGES, nodes - 1 - i), rig->edges[i] };

		right = graph_node_ours(&node, &ours, NULL, 0) == 0 &&
			(!rte || graph_node_rte(&node, rte_process, NULL) == 0);
	}
	return right;
}

static void
work(unsigned int nodes, bool rte)
{
	struct rig rig;
	const struct contender all[] = {
		{ .name = "halyard",
			.arg = &rig,
			.run = ours_by_pattern,
			.check = check,
			.subject = true },
		{ .name = "halyard_by_source", .arg = &rig, .run = ours_by_source, .check = check },
		{ .name = "librte_graph",
			.arg = &rig,
			.run = rte_by_pattern,
			.check = check,
			.against = "librte_graph" },
	};
	char name[32];

	snprintf(name, sizeof(name), "create_destroy_%u", nodes);
	if (!bench_wanted(name))
		return;
	if (prepare(&rig, nodes, rte)) {
		bench_work(name, MICROSECONDS, all, RTE_DIM(all) - !rte);
	} else {
		bench_cannot("nodes could not be registered");
		bench_skip(name, NULL);
	}
	graph_nodes_strike(rig.prefix);
	free(rig.edges);
}

/* The growth of n log n from one number of nodes to another. */
static double
n_log_n(double nodes, double than)
{
	return nodes * log(nodes) / (than * log(than));
}

void
bench_create(void)
{
	work(10, true);
	work(100, true);
	work(1000, true);
	work(10000, false);
	bench_growth("create_destroy_10000", "create_destroy_1000", "halyard", n_log_n(10000, 1000),
		"n_log_n");
	bench_growth("create_destroy_1000", "create_destroy_100", "halyard", n_log_n(1000, 100),
		"n_log_n");
}
