/* SPDX-License-Identifier: BSD-3-Clause */
/* The bodies of hy_enqueue_next(), over mixes of edges, with and without a lane. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_vect.h>

#include "lib/graph/walk/enqueue.h"

#include "bench.h"

#define EDGES 16
#define BURSTS 64 /* different ones, so that no branch predictor learns them */

struct rig {
	struct hy_graph *graph;
	struct hy_node *node;
	hy_scatter_t *scatter;
	uint32_t burst;
	uint16_t next[BURSTS][HY_BURST_MAX];
	void *objs[HY_BURST_MAX];
	uint64_t expected[EDGES]; /* objects to each edge in one run */
	uint64_t arrived[EDGES], runs;
};

static uint16_t
nothing(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	(void)graph, (void)node, (void)objs, (void)n;
	return 0;
}

static void
release(void **objs, unsigned int n)
{
	(void)objs, (void)n;
}

static const struct hy_object_ops ops = { .release = release };

static int
nodes_register(void)
{
	struct hy_node_desc source = {
		.name = "bench_source", .flags = HY_NODE_SOURCE, .impl = { .process = nothing }
	};
	struct hy_node_desc sink = { .impl = { .process = nothing } };
	char names[EDGES][HY_NAME_SIZE];
	int rc = 0;

	for (unsigned int i = 0; i < EDGES; i++) {
		snprintf(names[i], sizeof(names[i]), "bench_sink%u", i);
		sink.name = source.edges[i] = names[i];
		if (rc == 0)
			rc = hy_node_register(&sink, NULL);
	}
	return rc == 0 ? hy_node_register(&source, NULL) : rc;
}

static uint64_t
run(void *arg)
{
	struct rig *rig = arg;
	struct hy_node *node = rig->node;

	for (unsigned int b = 0; b < BURSTS; b++) {
		rig->scatter(rig->graph, node, rig->next[b], node->stream, rig->burst);
		for (unsigned int e = 0; e < EDGES; e++) {
			rig->arrived[e] += node->edges[e].to->waiting;
			node->edges[e].to->waiting = 0;
		}
	}
	rig->runs++;
	return (uint64_t)BURSTS * rig->burst;
}

static bool
check(void *arg)
{
	struct rig *rig = arg;

	for (unsigned int e = 0; e < EDGES; e++)
		if (rig->arrived[e] != rig->runs * rig->expected[e])
			return false;
	return true;
}

/* Fills next[] so that of 100 objects `first` take edge 0 and the others one of the rest. */
static void
mix(struct rig *rig, unsigned int edges, unsigned int first, unsigned int burst)
{
	for (unsigned int b = 0; b < BURSTS; b++) {
		for (unsigned int i = 0; i < burst; i++) {
			rig->next[b][i] = edges == 1 || bench_random() % 100 < first
				? 0
				: (uint16_t)(1 + bench_random() % (edges - 1));
			rig->expected[rig->next[b][i]]++;
		}
	}
}

static void
rig_close(void *arg)
{
	struct rig *rig = arg;

	hy_graph_destroy(rig->graph);
	free(rig);
}

/* A graph for a body, with the objects of another one's; NULL if it cannot run here. */
static struct rig *
rig_open(const struct hy_scatter_body *body, const struct rig *like,
	const struct hy_graph_params *params)
{
	struct rig *rig = calloc(1, sizeof(*rig));
	char name[HY_NAME_SIZE];
	int rc = -ENOMEM;

	if (!body->cpu_can())
		bench_cannot("the CPU lacks its instructions");
	else if (body->simd_bits > rte_vect_get_max_simd_bitwidth())
		bench_cannot("it needs vectors of %u bits, %u are allowed", body->simd_bits,
			rte_vect_get_max_simd_bitwidth());
	else if (rig != NULL) {
		*rig = *like;
		rig->scatter = body->scatter;
		snprintf(name, sizeof(name), "bench-%s", body->name);
		rc = hy_graph_create(name, params, &rig->graph);
	}
	if (rc < 0) {
		bench_cannot("%s", strerror(-rc));
		free(rig);
		return NULL;
	}
	rig->node = &rig->graph->plan.nodes[0];
	rig->graph->part = true; /* a copy, not an exchange */
	return rig;
}

static void
work(const char *name, unsigned int edges, unsigned int first, unsigned int burst,
	unsigned int lanes)
{
	const char *const patterns[] = { "bench_source" };
	struct hy_graph_params params = {
		.patterns = patterns, .nb_patterns = 1, .ops = &ops, .burst = HY_BURST_MAX
	};
	char full[64];
	struct field f = { .work = full };
	struct rig *objects;

	snprintf(full, sizeof(full), "%s_%u%s", name, burst, lanes > 0 ? "_lane" : "");
	if (!bench_wanted(full))
		return;
	objects = calloc(1, sizeof(*objects));
	if (objects == NULL) {
		bench_cannot("no memory for objects");
		bench_skip(full, NULL);
		return;
	}
	mix(objects, edges, first, burst);
	objects->burst = burst;
	for (unsigned int l = 0; l < lanes; l++)
		params.lanes[l] = "lane";
	for (unsigned int i = hy_scatter_nb_bodies; i-- > 0;) {
		const struct hy_scatter_body *body = &hy_scatter_bodies[i];
		const bool best = body->scatter == hy_scatter_best();
		const struct contender c = { .name = body->name,
			.arg = rig_open(body, objects, &params),
			.run = run,
			.check = check,
			.against = best ? NULL : body->name,
			.subject = best };

		field_enter(&f, &c, rig_close);
	}
	field_measure(&f, CYCLES_OBJECT);
	free(objects);
}

void
bench_enqueue(void)
{
	static const unsigned int bursts[] = { 256, 64, 8 };

	const int rc = nodes_register();

	if (rc < 0) {
		bench_cannot("the nodes: %s", strerror(-rc));
		bench_skip("*", NULL);
		return;
	}
	for (unsigned int lanes = 0; lanes < 2; lanes++) {
		for (unsigned int b = 0; b < RTE_DIM(bursts); b++) {
			work("one_edge", 1, 100, bursts[b], lanes);
			work("mix2", 2, 50, bursts[b], lanes);
			work("mix2_90_10", 2, 90, bursts[b], lanes);
			work("mix2_99_1", 2, 99, bursts[b], lanes);
			work("mix4", 4, 25, bursts[b], lanes);
			work("mix8", 8, 12, bursts[b], lanes);
			work("mix16", 16, 6, bursts[b], lanes);
		}
	}
}
