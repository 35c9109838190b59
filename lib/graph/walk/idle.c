/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker's rest: polls, pauses, sleeps, as the number of empty walks grows. */

#include <rte_cycles.h>
#include <rte_pause.h>

#include <hy_idle.h>

#include "lib/graph/update/control.h"
#include "lib/graph/update/qsbr.h"

#define REFUSED UINT32_MAX /* idle->empty: nobody could wake the worker, so that it only pauses */

const struct hy_idle_params hy_idle_defaults = {
	.polls = 256,
	.pauses = 32,
	.pause_most = 64,
	.wait_us = 10000,
};

void
hy_idle_init(struct hy_idle *idle, const struct hy_idle_params *params)
{
	*idle = (struct hy_idle){ .params = params == NULL ? hy_idle_defaults : *params };
}

/* The nth pause in a row, from 0 on. */
static void
pause_cpu(struct hy_idle *idle, uint32_t nth)
{
	const uint32_t most = idle->params.pause_most;
	const uint32_t n = nth < 31 ? RTE_MIN(UINT32_C(1) << nth, most) : most;

	for (uint32_t i = 0; i < n; i++)
		rte_pause();
	hy_count(&idle->stats.pauses, n > 0);
}

/* Sleeps between arming and disarming, unless an object has arrived. */
static void
wait_armed(struct hy_idle *idle, struct hy_graph *graph)
{
	const uint32_t made = hy_graph_walk(graph);
	const struct hy_graph *outer;
	uint64_t start;
	bool woken;

	hy_count(&idle->stats.idle_walks, made == 0);
	/* A walk that switches to another image disarms: it may have other sources. */
	if (made > 0 || hy_graph_holds(graph) || !graph->armed) {
		hy_count(&idle->stats.called_off, 1);
		idle->empty = 0;
		return;
	}
	hy_graph_rest(graph);
	start = rte_rdtsc();
	outer = hy_graph_enter(graph);
	woken = graph->plan.ops->wait(graph, idle->params.wait_us) > 0;
	hy_graph_inside = outer;
	hy_count(&idle->stats.waited_cycles, rte_rdtsc() - start);
	hy_count(&idle->stats.waits, 1);
	hy_count(&idle->stats.wakeups, woken);
	if (woken)
		idle->empty = 0;
}

/* Asks the devices to wake this thread. Returns whether all of them do. */
static bool
arm(const struct hy_idle *idle, struct hy_graph *graph)
{
	const struct hy_graph *outer = hy_graph_enter(graph);

	graph->armed = idle->empty != REFUSED && idle->params.wait_us > 0 &&
		graph->plan.ops->wait != NULL && graph->plan.ops->arm(graph, true) == 0;
	hy_graph_inside = outer;
	return graph->armed;
}

void
hy_graph_disarm(struct hy_graph *graph)
{
	const struct hy_graph *outer = hy_graph_enter(graph);

	if (graph->armed)
		graph->plan.ops->arm(graph, false);
	hy_graph_inside = outer;
	graph->armed = false;
}

void
hy_idle_rest(struct hy_idle *idle, struct hy_graph *graph)
{
	const struct hy_idle_params *params = &idle->params;
	const uint64_t awake = (uint64_t)params->polls + params->pauses;
	const uint32_t n = idle->empty;

	hy_count(&idle->stats.idle_walks, 1);
	/* Objects that wait in a cycle need the next walk: no device wakes the worker for them. */
	if (unlikely(hy_graph_holds(graph))) {
		idle->empty = 0;
	} else if (n < params->polls) {
		idle->empty = n + 1;
	} else if (n < awake) {
		idle->empty = n + 1;
		pause_cpu(idle, n - params->polls);
	} else if (arm(idle, graph)) {
		wait_armed(idle, graph);
		hy_graph_disarm(graph);
	} else {
		/* Asked again after the next object: by then the graph may have other sources. */
		idle->empty = REFUSED;
		pause_cpu(idle, UINT32_MAX);
	}
}

void
hy_idle_read(const struct hy_idle *idle, struct hy_idle_stats *stats)
{
	stats->idle_walks = hy_count_read(&idle->stats.idle_walks);
	stats->pauses = hy_count_read(&idle->stats.pauses);
	stats->waits = hy_count_read(&idle->stats.waits);
	stats->wakeups = hy_count_read(&idle->stats.wakeups);
	stats->called_off = hy_count_read(&idle->stats.called_off);
	stats->waited_cycles = hy_count_read(&idle->stats.waited_cycles);
}
