/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether packets have stopped coming: time alone says little on a busy machine, where a worker may
 * not run for as long. Nor do walks: a source is not called while what it makes would have no room.
 * So each source must have been called several times, and have had nothing, since the last packet.
 */

#include <string.h>

#include <rte_cycles.h>

#include "workers.h"

/*
 * Calls of each source in a round: the first may be under way when the round begins, and the last
 * when it is counted. An event device in software holds packets back for some 100 calls, and may then
 * hand them to a worker that was through with its calls: hence several rounds of more.
 */
#define CALLS 3
#define ROUNDS 1
#define EVENT_CALLS 256
#define EVENT_ROUNDS 4

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
		then = hy_stats_find(from, i, now->name);
		if (then == NULL || !then->is_source || then->objs != now->objs)
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

/* Of all workers: something arrived at one, or each has called all of its sources. */
static enum change
compare_all(const struct hy_quiet *quiet, struct hy_stats *const *now, unsigned int n,
	unsigned int calls)
{
	enum change change = CALLED;

	for (unsigned int w = 0; w < n && change != ARRIVED; w++) {
		const enum change one = quiet->from[w] == NULL
			? ARRIVED
			: compare(quiet->from[w], now[w], calls);

		if (one != CALLED)
			change = one;
	}
	return change;
}

bool
hy_workers_quiet(const struct hy_workers *workers, struct hy_quiet *quiet)
{
	const bool events = hy_worker_has_events(workers->graphs[0]);
	struct hy_stats *now[RTE_MAX_LCORE] = { NULL };
	const uint64_t before = rte_rdtsc();
	enum change change = SAME;
	int rc = 0;

	for (unsigned int w = 0; w < workers->nb && rc == 0; w++)
		rc = hy_stats_read(hy_graph_name(workers->graphs[w]), &now[w]);
	if (rc == 0)
		change = compare_all(quiet, now, workers->nb, events ? EVENT_CALLS : CALLS);
	if (change == SAME) {
		stats_free(now, workers->nb);
	} else {
		stats_free(quiet->from, workers->nb);
		memcpy(quiet->from, now, sizeof(now));
		quiet->rounds = change == ARRIVED ? 0 : quiet->rounds + 1;
	}
	if (change == ARRIVED)
		quiet->since = rte_rdtsc();
	return quiet->rounds >= (events ? EVENT_ROUNDS : ROUNDS) &&
		before - quiet->since > quiet->ms * rte_get_tsc_hz() / 1000;
}

void
hy_quiet_free(struct hy_quiet *quiet)
{
	stats_free(quiet->from, RTE_DIM(quiet->from));
}
