/* SPDX-License-Identifier: BSD-3-Clause */
/* What a switch counts, as text and as JSON. */

#include <inttypes.h>

#include <hy_stats.h>

#include "datapath.h"

struct datapath_work
datapath_work(const struct hy_worker *worker)
{
	struct datapath_work work = { 0 };
	struct hy_totals totals;
	struct hy_stats *stats;

	if (worker->graph == NULL || hy_stats_read(hy_graph_name(worker->graph), &stats) < 0)
		return work;
	for (unsigned int i = 0; i < stats->nb_nodes; i++)
		work.cycles += stats->nodes[i].cycles;
	hy_totals_read(stats, 0, &totals);
	work.received = totals.rx;
	hy_stats_free(stats);
	return work;
}

int
hy_datapath_rules_print(struct hy_datapath *datapath, const struct hy_vswitch_rule *select,
	FILE *out)
{
	const uint64_t now = datapath_now();

	if (datapath->table != NULL) {
		datapath_offload_read(datapath);
		datapath_lists_count(&datapath->lists, datapath->rules, now);
	}
	return hy_vswitch_print(datapath->rules, select, now, out);
}

uint64_t
hy_datapath_waiting(const struct hy_datapath *datapath)
{
	uint64_t waiting = 0;

	if (datapath == NULL || datapath->table == NULL)
		return 0;
	for (unsigned int w = 0; w < datapath->workers->nb; w++) {
		struct hy_flows_upcall_stats u;

		hy_flows_upcall_stats(hy_flow_table_upcalls(datapath->table), w, &u);
		waiting += u.sent - u.taken;
	}
	return waiting;
}

void
hy_datapath_print(struct hy_datapath *datapath, FILE *out)
{
	struct hy_flows *flows = hy_flow_table_flows(datapath->table);
	const struct datapath_counts counts = datapath_lists_counts(&datapath->lists);
	struct hy_flows_stats stats;

	datapath_offload_read(datapath);
	hy_flows_stats(flows, &stats);
	fprintf(out,
		"flows: %u rules; %u of %u megaflows by %u masks: %" PRIu64 " added, %" PRIu64
		" deleted, %" PRIu64 " idle; %u lists, revalidated %" PRIu64 " times\n",
		hy_vswitch_rules(datapath->rules), stats.flows, datapath->max_flows, stats.masks,
		stats.added, stats.deleted, stats.idled + stats.evicted, counts.lists,
		datapath->revalidations);
	if (counts.uncounted > 0)
		fprintf(out,
			"  %" PRIu64
			" megaflows have no list of their own: rules do not count them\n",
			counts.uncounted);
	if (counts.refused > 0)
		fprintf(out, "  %" PRIu64 " packets found no list, and were dropped\n",
			counts.refused);
	hy_flows_print(flows, out);
	for (unsigned int w = 0; w < datapath->workers->nb; w++) {
		const struct datapath_work work = datapath_work(&datapath->workers->worker[w]);
		struct hy_flows_upcall_stats u;

		fprintf(out, "  worker %u: %" PRIu64 " packets were received, %.1f cycles each\n",
			w, work.received,
			work.received == 0 ? 0 : (double)work.cycles / (double)work.received);
		hy_flows_upcall_stats(hy_flow_table_upcalls(datapath->table), w, &u);
		fprintf(out,
			"  worker %u: %" PRIu64 " packets waited for the rules (%" PRIu64
			" behind others): %" PRIu64 " megaflows were made, %" PRIu64
			" refused; %" PRIu64 " packets lost for lack of room\n",
			w, u.sent, u.behind, u.added, u.refused, u.full);
	}
}

static void
worker_json(const struct hy_datapath *datapath, unsigned int w, FILE *out)
{
	const struct datapath_work work = datapath_work(&datapath->workers->worker[w]);
	struct hy_flows_upcall_stats u;
	struct hy_flows_lookups l;

	hy_flows_upcall_stats(hy_flow_table_upcalls(datapath->table), w, &u);
	hy_flows_lookups(hy_flow_table_flows(datapath->table), w, &l);
	fprintf(out,
		"{\"lcore\": %u, \"received\": %" PRIu64 ", \"cycles\": %" PRIu64
		", \"packets\": %" PRIu64 ", \"frames\": %" PRIu64 ", \"exact\": %" PRIu64
		", \"index\": %" PRIu64 ", \"masks\": %" PRIu64 ", \"misses\": %" PRIu64
		", \"tables\": %" PRIu64 ", \"sent\": %" PRIu64 ", \"behind\": %" PRIu64
		", \"known\": %" PRIu64 ", \"added\": %" PRIu64 ", \"refused\": %" PRIu64
		", \"single\": %" PRIu64 ", \"lost\": %" PRIu64 "}",
		datapath->workers->worker[w].lcore, work.received, work.cycles, l.packets, l.frames,
		l.exact, l.index, l.masks, l.misses, l.tables, u.sent, u.behind, u.known, u.added,
		u.refused, u.single, u.full);
}

void
hy_datapath_json(struct hy_datapath *datapath, FILE *out)
{
	const struct datapath_counts counts = datapath_lists_counts(&datapath->lists);
	struct hy_flows_stats stats;

	hy_flows_stats(hy_flow_table_flows(datapath->table), &stats);
	fprintf(out,
		"\"flows\": {\"rules\": %u, \"caches\": \"%s\", \"megaflows\": %u, \"masks\": %u, "
		"\"added\": %" PRIu64 ", \"modified\": %" PRIu64 ", \"deleted\": %" PRIu64
		", \"idled\": %" PRIu64 ", \"evicted\": %" PRIu64 ", \"lists\": %u, "
		"\"uncounted\": %" PRIu64 ", \"without_list\": %" PRIu64
		", \"revalidations\": %" PRIu64 ", \"kept\": %" PRIu64 ", \"asked\": %" PRIu64
		", \"workers\": [",
		hy_vswitch_rules(datapath->rules), datapath_caches_name(&datapath->caches),
		stats.flows, stats.masks, stats.added, stats.modified, stats.deleted, stats.idled,
		stats.evicted, counts.lists, counts.uncounted, counts.refused,
		datapath->revalidations, datapath->kept, datapath->asked);
	for (unsigned int w = 0; w < datapath->workers->nb; w++) {
		fprintf(out, "%s", w == 0 ? "" : ", ");
		worker_json(datapath, w, out);
	}
	fprintf(out, "]},\n");
}
