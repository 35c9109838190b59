/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What hy_idle_step() adds to a walk: of a graph with objects, with a single one, and with none,
 * while its worker still polls. What the harness calls an object is a walk here.
 * tools/bench-idle.py measures what comes after polling.
 */

#include <stdio.h>
#include <string.h>

#include <hy_idle.h>

#include "bench.h"

#define WALKS 256 /* a run */

/* A graph of a source and a sink, and a worker's rest. */
struct worker {
	struct hy_graph *graph;
	struct hy_idle idle;
	bool steps;
	uint64_t walks; /* since it was checked last */
	uint64_t made;
	uint64_t idle_walks; /* in all */
};

static uint16_t per_walk; /* objects that the source makes */
static uint64_t object;

static uint16_t
source_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	n = RTE_MIN(n, per_walk);
	for (uint16_t i = 0; i < n; i++)
		objs[i] = &object;
	hy_stream_move(graph, node, 0, n);
	return n;
}

static uint16_t
sink_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	RTE_SET_USED(objs);
	return n;
}

static void
release(void **objs, unsigned int n)
{
	RTE_SET_USED(objs);
	RTE_SET_USED(n);
}

static uint64_t
worker_run(void *arg)
{
	struct worker *w = arg;
	uint64_t made = 0;

	if (w->steps) {
		for (unsigned int i = 0; i < WALKS; i++) {
			const uint32_t n = hy_graph_walk(w->graph);

			hy_idle_step(&w->idle, w->graph, n);
			made += n;
		}
	} else {
		for (unsigned int i = 0; i < WALKS; i++)
			made += hy_graph_walk(w->graph);
	}
	w->walks += WALKS;
	w->made += made;
	return WALKS;
}

static bool
worker_check(void *arg)
{
	struct worker *w = arg;
	struct hy_idle_stats stats;
	bool good = w->made == w->walks * per_walk;

	hy_idle_read(&w->idle, &stats);
	good &= stats.idle_walks - w->idle_walks == (w->steps && per_walk == 0 ? w->walks : 0);
	w->idle_walks = stats.idle_walks;
	w->walks = 0;
	w->made = 0;
	return good;
}

static int
graph_create(struct worker *w, const char *name)
{
	static const char *const patterns[] = { "idle_source" };
	static const struct hy_object_ops ops = { .release = release };
	const struct hy_graph_params params = {
		.patterns = patterns, .nb_patterns = 1, .ops = &ops, .socket = SOCKET_ID_ANY
	};
	const struct hy_idle_params polls = { .polls = UINT32_MAX };

	hy_idle_init(&w->idle, &polls);
	return hy_graph_create(name, &params, &w->graph);
}

void
bench_idle(void)
{
	static const struct hy_node_desc source = { .name = "idle_source",
		.impl.process = source_process,
		.flags = HY_NODE_SOURCE,
		.edges = { "idle_sink" } };
	static const struct hy_node_desc sink = { .name = "idle_sink",
		.impl.process = sink_process };
	static const uint16_t objects[] = { 64, 1, 0 };
	static struct worker without, with = { .steps = true };
	const struct contender contenders[] = {
		{ .name = "step",
			.arg = &with,
			.run = worker_run,
			.check = worker_check,
			.subject = true },
		{ .name = "walk",
			.arg = &without,
			.run = worker_run,
			.check = worker_check,
			.against = "walk" },
	};

	int rc = hy_node_register(&source, NULL);

	if (rc == 0)
		rc = hy_node_register(&sink, NULL);
	if (rc == 0)
		rc = graph_create(&with, "with");
	if (rc == 0)
		rc = graph_create(&without, "without");
	if (rc < 0) {
		bench_cannot("the graphs: %s", strerror(-rc));
		bench_skip("*", NULL);
	}
	for (unsigned int i = 0; i < RTE_DIM(objects) && rc == 0; i++) {
		char work[32];

		per_walk = objects[i];
		snprintf(work, sizeof(work), "walk of %u objects", per_walk);
		if (bench_wanted(work))
			bench_work(work, CYCLES_WALK, contenders, RTE_DIM(contenders));
	}
	hy_graph_destroy(with.graph);
	hy_graph_destroy(without.graph);
}
