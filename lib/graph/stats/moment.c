/* SPDX-License-Identifier: BSD-3-Clause */
/* Reading the statistics of graphs as they are, or of one moment: see moment.h. */

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_pause.h>

#include "lib/graph/update/control.h"
#include "moment.h"
#include "stats.h"

#define SPINS 1000 /* before the control plane sleeps: a busy worker answers earlier */
#define SLEEP_US 50

void
hy_moment_take(struct hy_graph *graph)
{
	struct hy_moment *moment;

	if ((__atomic_load_n(&graph->attention, __ATOMIC_ACQUIRE) & HY_ATTEND_MOMENT) == 0)
		return;
	__atomic_and_fetch(&graph->attention, ~HY_ATTEND_MOMENT, __ATOMIC_RELAXED);
	moment = __atomic_exchange_n(&graph->moment, NULL, __ATOMIC_ACQUIRE);
	if (moment == NULL)
		return;
	if (graph->image->size <= moment->size) {
		memcpy(moment->copy, graph->image, graph->image->size);
		moment->of = graph->image;
	}
	__atomic_store_n(&moment->taken, true, __ATOMIC_RELEASE);
}

static bool
is_taken(const struct hy_moment *moment)
{
	return __atomic_load_n(&moment->taken, __ATOMIC_ACQUIRE);
}

/* Asks the worker, and waits for it. Returns whether it has answered. */
static bool
ask(struct hy_graph *graph, struct hy_moment *moment, unsigned int wait_us)
{
	const uint64_t start = rte_rdtsc(), most = rte_get_tsc_hz() / 1000000 * wait_us;

	__atomic_store_n(&graph->moment, moment, __ATOMIC_RELEASE);
	__atomic_or_fetch(&graph->attention, HY_ATTEND_MOMENT, __ATOMIC_RELEASE);
	for (unsigned int i = 0; !is_taken(moment) && rte_rdtsc() - start < most; i++) {
		if (i < SPINS)
			rte_pause();
		else
			usleep(SLEEP_US);
	}
	__atomic_and_fetch(&graph->attention, ~HY_ATTEND_MOMENT, __ATOMIC_RELAXED);
	/* The worker has begun to copy, and ends soon. */
	if (__atomic_exchange_n(&graph->moment, NULL, __ATOMIC_ACQUIRE) == NULL)
		while (!is_taken(moment))
			rte_pause();
	return moment->taken;
}

/* Makes pointers of the copy into the image point into the copy; other pointers stay. */
static void
rebase(struct hy_image *copy, const struct hy_image *of)
{
	const ptrdiff_t by = (char *)copy - (const char *)of;

	copy->nodes = RTE_PTR_ADD(copy->nodes, by);
	for (unsigned int r = 0; r < copy->plan.nb_nodes; r++)
		copy->hot[r].edges = RTE_PTR_ADD(copy->hot[r].edges, by);
}

/* The statistics of a graph between two of its walks; of any moment, if nobody walks it. */
static int
moment_read(struct hy_graph *graph, unsigned int wait_us, struct hy_stats **stats)
{
	const struct hy_image *image;
	struct hy_moment moment;
	void *memory = NULL;
	bool taken;
	int rc;

	do { /* again if the worker switched to another image first; at most two can wait */
		free(memory);
		image = hy_graph_image(graph);
		if (graph->control->behind || hy_graph_resting(graph))
			return hy_stats_of(graph, stats);
		moment = (struct hy_moment){ .size = image->size };
		memory = malloc(moment.size + RTE_CACHE_LINE_SIZE);
		if (memory == NULL)
			return -ENOMEM;
		moment.copy = RTE_PTR_ALIGN_CEIL(memory, RTE_CACHE_LINE_SIZE);
		taken = ask(graph, &moment, wait_us);
	} while (taken && moment.of != image);
	if (taken) {
		rebase(moment.copy, image);
		rc = hy_stats_of_image(graph, moment.copy, stats);
	} else {
		rc = hy_stats_of(graph, stats);
	}
	free(memory);
	return rc;
}

/* Sums over graphs, each of one moment if wait_us is given. With the registry's lock. */
static int
graphs_read(const char *pattern, const unsigned int *wait_us, struct hy_stats *stats)
{
	int rc = 0;

	for (struct hy_graph *g = hy_graph_next(NULL); g != NULL && rc == 0; g = hy_graph_next(g)) {
		struct hy_stats *of = NULL;

		if (fnmatch(pattern, hy_graph_name(g), 0) != 0)
			continue;
		rc = wait_us == NULL ? hy_stats_of(g, &of) : moment_read(g, *wait_us, &of);
		if (rc == 0)
			rc = hy_stats_merge(stats, of);
		hy_stats_free(of);
		stats->nb_graphs++;
	}
	return rc == 0 && stats->nb_graphs == 0 ? -ENOENT : rc;
}

static int
stats_read(const char *pattern, const unsigned int *wait_us, struct hy_stats **out)
{
	struct hy_stats *stats;
	int rc = hy_stats_new(&stats);

	if (rc < 0)
		return rc;
	hy_registry_lock();
	rc = graphs_read(pattern, wait_us, stats);
	hy_registry_unlock();
	if (rc < 0)
		hy_stats_free(stats);
	else
		*out = stats;
	return rc;
}

int
hy_stats_read(const char *pattern, struct hy_stats **stats)
{
	return stats_read(pattern, NULL, stats);
}

int
hy_stats_read_between_walks(const char *pattern, unsigned int wait_us, struct hy_stats **stats)
{
	return stats_read(pattern, &wait_us, stats);
}
