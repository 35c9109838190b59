/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What hy_idle_step() adds to a walk with many objects, with one and with none, while the worker
 * polls. The harness's objects are walks here. tools/bench-idle.py measures what follows polling.
 */

#include <stdio.h>
#include <stdlib.h>

#include <hy_idle.h>

#include "walk.h"

static struct hy_idle idle; /* of the work's walker that steps */

static uint64_t
step_run(void *walker)
{
	struct hy_graph *graph = walk_ours_graph(walker);

	for (unsigned int i = 0; i < WALKS; i++)
		hy_idle_step(&idle, graph, hy_graph_walk(graph));
	return walked_done(walker, WALKS);
}

static bool
step_check(void *walker)
{
	const struct walked *w = walker;
	struct hy_idle_stats stats;

	hy_idle_read(&idle, &stats);
	return walk_check(walker) && stats.idle_walks == (w->topology->burst == 0 ? w->walks : 0);
}

/* A source and a sink, walked with steps and without. */
static void
work(struct topology *t, unsigned int objects)
{
	const struct hy_idle_params polls = { .polls = UINT32_MAX };
	char name[sizeof(t->name)];
	struct field f = { .work = name };
	struct contender step = {
		.name = "step", .run = step_run, .check = step_check, .subject = true
	};
	struct contender walk = {
		.name = "walk", .run = walk_ours_run, .check = walk_check, .against = "walk"
	};

	snprintf(name, sizeof(name), "walk of %u objects", objects);
	if (!bench_wanted(name))
		return;
	topo_chain(t, name, 0, objects);
	t->unit = CYCLES_WALK;
	hy_idle_init(&idle, &polls);
	step.arg = walk_ours_create(t, 16);
	field_enter(&f, &step, walk_ours_destroy);
	walk.arg = walk_ours_create(t, 16);
	field_enter(&f, &walk, walk_ours_destroy);
	field_measure(&f, t->unit);
}

void
bench_idle(void)
{
	struct topology *t = bench_alloc(1, sizeof(*t));

	work(t, 64);
	work(t, 1);
	work(t, 0);
	free(t);
}
