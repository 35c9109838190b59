/* SPDX-License-Identifier: BSD-3-Clause */
/* The bodies of hy_enqueue_next(), for several mixes of edges, with and without a lane. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/graph/walk/enqueue.h"

#include "bench.h"
#include "graphs.h"

#define EDGES 16
#define BURSTS 64 /* different ones, so that no branch predictor learns them */

/* What all bodies of a work share. */
static struct {
	struct hy_graph *graph;
	struct hy_node *node;
	uint32_t burst;
	uint16_t next[BURSTS][HY_BURST_MAX];
	uint64_t expected[EDGES]; /* objects to each edge in one run */
} rig;

struct scatterer {
	hy_scatter_t *scatter;
	uint64_t arrived[EDGES], runs;
};

/* A source, node 0, and a sink for each of its edges. */
static int
nodes_register(void)
{
	const struct hy_node_impl impl = { .process = graph_nothing };
	unsigned int sinks[EDGES];
	int rc = 0;

	for (unsigned int i = 0; i < EDGES && rc == 0; i++) {
		sinks[i] = i + 1;
		rc = graph_node_ours(&(const struct graph_node){ "bench", i + 1 }, &impl, NULL, 0);
	}
	return rc < 0
		? rc
		: graph_node_ours(&(const struct graph_node){ "bench", 0, true, EDGES, sinks },
			  &impl, NULL, 0);
}

static uint64_t
run(void *arg)
{
	struct scatterer *s = arg;
	struct hy_node *node = rig.node;

	for (unsigned int b = 0; b < BURSTS; b++) {
		s->scatter(rig.graph, node, rig.next[b], node->stream, rig.burst);
		for (unsigned int e = 0; e < EDGES; e++) {
			s->arrived[e] += node->edges[e].to->waiting;
			node->edges[e].to->waiting = 0;
		}
	}
	s->runs++;
	return (uint64_t)BURSTS * rig.burst;
}

static bool
check(void *arg)
{
	const struct scatterer *s = arg;

	for (unsigned int e = 0; e < EDGES; e++)
		if (s->arrived[e] != s->runs * rig.expected[e])
			return false;
	return true;
}

/*
 * Fills next[] so that `first` percent of the objects take edge 0, the others a random other one.
 */
static void
mix(unsigned int edges, unsigned int first)
{
	memset(rig.expected, 0, sizeof(rig.expected));
	for (unsigned int b = 0; b < BURSTS; b++) {
		for (unsigned int i = 0; i < rig.burst; i++) {
			rig.next[b][i] = edges == 1 || bench_random() % 100 < first
				? 0
				: (uint16_t)(1 + bench_random() % (edges - 1));
			rig.expected[rig.next[b][i]]++;
		}
	}
}

static void
work(const char *name, unsigned int edges, unsigned int first, unsigned int burst,
	unsigned int lanes)
{
	struct hy_graph_params params = { .burst = HY_BURST_MAX };
	char full[64];
	struct field f = { .work = full };
	int rc;

	snprintf(full, sizeof(full), "%s_%u%s", name, burst, lanes > 0 ? "_lane" : "");
	if (!bench_wanted(full))
		return;
	for (unsigned int l = 0; l < lanes; l++)
		params.lanes[l] = "lane";
	rc = graph_ours("bench", "bench_0", params, &rig.graph);
	if (rc < 0) {
		bench_cannot("%s", strerror(-rc));
		bench_skip(full, NULL);
		return;
	}
	rig.node = &rig.graph->plan.nodes[0];
	rig.graph->part = true; /* a copy, not an exchange */
	rig.burst = burst;
	mix(edges, first);
	for (unsigned int i = hy_scatter_nb_bodies; i-- > 0;) {
		const struct hy_scatter_body *body = &hy_scatter_bodies[i];
		const bool best = body->scatter == hy_scatter_best();
		struct scatterer *s = NULL;

		if (bench_simd(body->cpu_can(), body->simd_bits)) {
			s = bench_alloc(1, sizeof(*s));
			s->scatter = body->scatter;
		}
		field_enter(&f,
			&(const struct contender){ .name = body->name,
				.arg = s,
				.run = run,
				.check = check,
				.against = best ? NULL : body->name,
				.subject = best },
			free);
	}
	field_measure(&f, CYCLES_OBJECT);
	hy_graph_destroy(rig.graph);
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
