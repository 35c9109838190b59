/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --until-idle: time alone says little on a busy machine, where a worker may not run for as long.
 * Nor do walks: a source is not called while what it makes would have no room. So each source must
 * have been called several times, and have had nothing, since the last packet was seen.
 */

#include <string.h>

#include <rte_cycles.h>

#include "until_idle.h"

/*
 * Calls of each source in a round: the first may be under way when the round begins, and the last
 * when it is counted. An event device in software holds packets back for some 100 calls, and may then
 * hand them to a worker that was through with its calls: hence several rounds of more.
 */
static unsigned int
calls_wanted(const struct options *options)
{
	return options->event.on ? 256 : 3;
}

static unsigned int
rounds_wanted(const struct options *options)
{
	return options->event.on ? 4 : 1;
}

static const struct hy_node_stats *
source_of(const struct hy_stats *stats, const char *name)
{
	for (unsigned int i = 0; i < stats->nb_nodes; i++)
		if (stats->nodes[i].is_source && strcmp(stats->nodes[i].name, name) == 0)
			return &stats->nodes[i];
	return NULL;
}

enum change { SAME, CALLED, ARRIVED };

/* What has become of a worker's sources between two looks: of the one least called. */
static enum change
compare(const struct hy_stats *from, const struct hy_stats *to, unsigned int calls)
{
	enum change change = CALLED;

	for (unsigned int i = 0; i < to->nb_nodes; i++) {
		const struct hy_node_stats *now = &to->nodes[i], *then;

		if (!now->is_source || now->gone)
			continue;
		then = source_of(from, now->name);
		if (then == NULL || then->objs != now->objs)
			return ARRIVED;
		if (now->calls < then->calls + calls)
			change = SAME;
	}
	return change;
}

static void
stats_free(struct hy_stats **stats, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		hy_stats_free(stats[i]);
		stats[i] = NULL;
	}
}

static int
stats_read(const struct pipeline *pipeline, struct hy_stats **stats)
{
	int rc = 0;

	for (unsigned int w = 0; w < pipeline->nb_workers && rc == 0; w++)
		rc = hy_stats_read(hy_graph_name(pipeline->graphs[w]), &stats[w]);
	return rc;
}

/* Of all workers: something arrived at one, or each has called all of its sources. */
static enum change
compare_all(const struct until_idle *idle, struct hy_stats *const *now, unsigned int n,
	unsigned int calls)
{
	enum change change = CALLED;

	for (unsigned int w = 0; w < n && change != ARRIVED; w++) {
		const enum change one = idle->from[w] == NULL
			? ARRIVED
			: compare(idle->from[w], now[w], calls);

		if (one != CALLED)
			change = one;
	}
	return change;
}

bool
until_idle(struct until_idle *idle, const struct options *options, const struct pipeline *pipeline)
{
	struct hy_stats *now[RTE_MAX_LCORE] = { NULL };
	const unsigned int n = pipeline->nb_workers;
	const uint64_t before = rte_rdtsc();
	enum change change = SAME;

	if (stats_read(pipeline, now) == 0)
		change = compare_all(idle, now, n, calls_wanted(options));
	if (change == SAME) {
		stats_free(now, n);
	} else {
		stats_free(idle->from, n);
		memcpy(idle->from, now, sizeof(now));
		idle->rounds = change == ARRIVED ? 0 : idle->rounds + 1;
	}
	if (change == ARRIVED)
		idle->since = rte_rdtsc();
	return idle->rounds >= rounds_wanted(options) &&
		before - idle->since > options->until_idle_ms * rte_get_tsc_hz() / 1000;
}

void
until_idle_free(struct until_idle *idle)
{
	stats_free(idle->from, RTE_DIM(idle->from));
}
