/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists that nothing names any more are deleted, in rounds. A list that is asked for in a round is needed.
 * An answer that was given before may still be on its way, so first all packets that were sent come
 * back: then it is a megaflow's, or was taken. Next, megaflows say which lists they name. What is not
 * needed by then, a worker may still do to the packets in its hands, until it has reported.
 */

#include <hy_flow_lookup.h>
#include <hy_grace.h>

#include "datapath.h"

#define EVERY_MS 5000
#define SOON_MS 100 /* when there are too few lists */
#define BATCH 256   /* megaflows that are read at once, */
#define BATCHES 16  /* and such reads of a step */

static void
begin(struct hy_datapath *datapath)
{
	struct datapath_collection *c = &datapath->collection;

	pthread_mutex_lock(&datapath->lists.lock);
	datapath->lists.round++;
	pthread_mutex_unlock(&datapath->lists.lock);
	for (unsigned int w = 0; w < datapath->workers->nb; w++) {
		struct hy_flows_upcall_stats stats;

		hy_flows_upcall_stats(hy_flow_table_upcalls(datapath->table), w, &stats);
		c->sent[w] = stats.sent;
	}
	c->stage = DATAPATH_DRAINS;
}

static bool
is_drained(const struct hy_datapath *datapath)
{
	for (unsigned int w = 0; w < datapath->workers->nb; w++) {
		struct hy_flows_upcall_stats stats;

		hy_flows_upcall_stats(hy_flow_table_upcalls(datapath->table), w, &stats);
		if (stats.taken < datapath->collection.sent[w])
			return false;
	}
	return true;
}

/* Returns whether all megaflows were read. */
static bool
mark(struct hy_datapath *datapath)
{
	struct hy_flows *flows = hy_flow_table_flows(datapath->table);
	struct datapath_collection *c = &datapath->collection;
	struct hy_flows_entry entries[BATCH];

	for (unsigned int b = 0; b < BATCHES && c->cursor != HY_FLOWS_END; b++) {
		const uint32_t n = hy_flows_dump(flows, &c->cursor, entries, BATCH);

		for (uint32_t i = 0; i < n; i++)
			if ((uint16_t)entries[i].flow.action != HY_FLOW_ACTION_DENY)
				datapath_list_mark(&datapath->lists,
					(uint16_t)(entries[i].flow.action >> 16));
	}
	return c->cursor == HY_FLOWS_END;
}

static void
end(struct hy_datapath *datapath)
{
	struct datapath_collection *c = &datapath->collection;
	struct datapath_lists *lists = &datapath->lists;
	const uint32_t dropped = datapath_lists_sweep(lists, datapath->rules, datapath->now_ms);
	bool wanting;

	pthread_mutex_lock(&lists->lock);
	wanting = lists->wanting;
	lists->wanting = wanting && dropped == 0;
	pthread_mutex_unlock(&lists->lock);
	c->next_ms = datapath->now_ms + (wanting ? SOON_MS : EVERY_MS);
	c->stage = DATAPATH_IDLE;
	if (wanting && dropped > 0)
		datapath_revalidate(datapath); /* rules that could not count can now */
}

void
datapath_collect(struct hy_datapath *datapath)
{
	struct datapath_collection *c = &datapath->collection;
	struct rte_rcu_qsbr *qsbr = datapath->workers->qsbr;

	switch (c->stage) {
	case DATAPATH_IDLE:
		if (datapath->now_ms >= c->next_ms)
			begin(datapath);
		break;
	case DATAPATH_DRAINS:
		if (!is_drained(datapath))
			break;
		datapath_offload_mark(datapath);
		c->cursor = 0;
		c->stage = DATAPATH_MARKS;
		break;
	case DATAPATH_MARKS:
		if (!mark(datapath))
			break;
		c->token = hy_grace_start(qsbr);
		c->stage = DATAPATH_LEAVES;
		break;
	case DATAPATH_LEAVES:
		if (hy_grace_over(qsbr, c->token))
			end(datapath);
		break;
	}
}
