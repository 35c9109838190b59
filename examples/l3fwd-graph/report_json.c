/* SPDX-License-Identifier: BSD-3-Clause */
/* The JSON for programs. Names of nodes, variants and drivers need no escapes. */

#include <inttypes.h>
#include <stdio.h>

#include "sums.h"

static void
ports_json(const struct report *report, FILE *out)
{
	const char *comma = "";

	fprintf(out, "  \"ports\": [");
	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++) {
		const struct hy_port_status *status = &report->ports[p].status;
		char mac[RTE_ETHER_ADDR_FMT_SIZE];

		if (!port_enabled(report->options, p))
			continue;
		rte_ether_format_addr(mac, sizeof(mac), &report->ports[p].mac);
		fprintf(out,
			"%s\n    {\"port\": %u, \"driver\": \"%s\", \"mac\": \"%s\", "
			"\"state\": \"%s\", \"resets\": %u, \"link\": \"%s\", "
			"\"link_mbps\": %" PRIu32 ", \"link_changes\": %u,\n     "
			"\"rx\": %" PRIu64 ", \"tx\": %" PRIu64 ", \"missed\": %" PRIu64
			", \"no_mbuf\": %" PRIu64 ", \"rx_errors\": %" PRIu64
			", \"tx_errors\": %" PRIu64 "}",
			comma, p, report->ports[p].driver, mac, report->ports[p].state,
			status->resets, hy_port_link(status), status->link_mbps,
			status->link_changes, sum_rx(report, p), sum_tx(report, p), status->missed,
			status->no_mbuf, status->rx_errors, status->tx_errors);
		comma = ",";
	}
	fprintf(out, "],\n");
}

/* {"name": objects, …} */
static void
edges_json(const char *key, const struct hy_edge_stats *edges, unsigned int n, FILE *out)
{
	fprintf(out, "\"%s\": {", key);
	for (unsigned int e = 0; e < n; e++)
		fprintf(out, "%s\"%s\": %" PRIu64, e > 0 ? ", " : "", edges[e].name, edges[e].objs);
	fprintf(out, "}");
}

/* {"name": value, …} */
static void
counters_json(const struct hy_node_stats *node, FILE *out)
{
	fprintf(out, "\"counters\": {");
	for (unsigned int c = 0; c < node->nb_counters; c++)
		fprintf(out, "%s\"%s\": %" PRIu64, c > 0 ? ", " : "", node->counters[c].name,
			node->counters[c].value);
	fprintf(out, "}");
}

/* {"class": packets, …} */
static void
classes_json(const struct report *report, FILE *out)
{
	fprintf(out, "  \"classes\": {");
	for (unsigned int i = 0; i < report->nb_classes; i++)
		fprintf(out, "%s\"%u\": %" PRIu64, i > 0 ? ", " : "", report->classes[i].class_id,
			report->classes[i].hits);
	fprintf(out, "},\n");
}

static void
nodes_json(const struct report *report, FILE *out)
{
	fprintf(out, "  \"nodes\": [");
	for (unsigned int i = 0; i < report->stats->nb_nodes; i++) {
		const struct hy_node_stats *node = &report->stats->nodes[i];
		const struct hy_placement *place = hy_hal_placement(report->hal, node->name);

		fprintf(out,
			"%s\n    {\"name\": \"%s\", \"family\": \"%s\", \"variant\": \"%s\", "
			"\"target\": \"%s\",\n     \"calls\": %" PRIu64 ", \"objs\": %" PRIu64
			", \"cycles\": %" PRIu64 ", \"budget\": %u,\n     ",
			i > 0 ? "," : "", node->name, place == NULL ? "" : place->family,
			node->variant, place == NULL ? "" : place->target, node->calls, node->objs,
			node->cycles, node->budget);
		edges_json("edges", node->edges, node->nb_edges, out);
		fprintf(out, ", ");
		edges_json("drops", node->drops, node->nb_drops, out);
		fprintf(out, ", ");
		counters_json(node, out);
		fprintf(out, "}");
	}
	fprintf(out, "],\n");
}

static void
workers_json(const struct report *report, FILE *out)
{
	fprintf(out, "  \"workers\": [");
	for (unsigned int w = 0; w < report->nb_workers; w++) {
		const struct report_worker *worker = &report->workers[w];
		const struct hy_idle_stats *idle = &worker->idle;

		fprintf(out,
			"%s\n    {\"lcore\": %u, \"walks\": %" PRIu64 ", \"idle_walks\": %" PRIu64
			", \"pauses\": %" PRIu64 ",\n     \"waits\": %" PRIu64
			", \"wakeups\": %" PRIu64 ", \"called_off\": %" PRIu64
			", \"waited_us\": %" PRIu64 "}",
			w > 0 ? "," : "", worker->lcore, worker->walks, idle->idle_walks,
			idle->pauses, idle->waits, idle->wakeups, idle->called_off,
			report_waited_us(worker));
	}
	fprintf(out, "],\n");
}

/* Or null, with --mode=poll. */
static void
event_json(const struct report *report, FILE *out)
{
	const struct event_options *e = &report->options->event;

	if (!e->on)
		fprintf(out, "  \"event\": null,\n");
	else
		fprintf(out,
			"  \"event\": {\"device\": %u, \"sched\": \"%s\", \"freed\": %" PRIu64
			"},\n",
			e->device, option_sched_name(report->options), report->events_freed);
}

/* {"node": {…}, …}, or null with other modes. */
static void
spread_json(const struct report *report, FILE *out)
{
	const char *comma = "";
	struct hy_handover way;

	if (!report->options->dispatch.on) {
		fprintf(out, "  \"dispatch\": null,\n");
		return;
	}
	fprintf(out, "  \"dispatch\": {");
	for (unsigned int i = 0; i < report->stats->nb_nodes; i++) {
		if (!hy_handover_read(report->stats, i, &way))
			continue;
		fprintf(out,
			"%s\n    \"%s\": {\"packets\": %" PRIu64 ", \"held_back\": %" PRIu64 "}",
			comma, way.node, way.packets, way.held_back);
		comma = ",";
	}
	fprintf(out, "},\n");
}

void
report_json(const struct report *report, FILE *out)
{
	struct reason reasons[REASONS_MAX];
	const unsigned int n = sum_drops(report, reasons);
	struct hy_totals t;

	fprintf(out, "{\n");
	ports_json(report, out);
	nodes_json(report, out);
	workers_json(report, out);
	event_json(report, out);
	spread_json(report, out);
	classes_json(report, out);
	fprintf(out, "  \"offloads\": [%s],\n",
		report->offloads_json == NULL ? "" : report->offloads_json);
	fprintf(out, "  \"drops\": {");
	for (unsigned int i = 0; i < n; i++)
		fprintf(out, "%s\"%s\": %" PRIu64, i > 0 ? ", " : "", reasons[i].name,
			reasons[i].objs);
	hy_totals_read(report->stats, report->under_way, &t);
	fprintf(out,
		"},\n  \"totals\": {\"rx\": %" PRIu64 ", \"tx\": %" PRIu64 ", \"dropped\": %" PRIu64
		"},\n  \"mbufs\": {\"in_use\": %u, \"total\": %u}\n}\n",
		t.rx, t.tx, t.dropped, report->mbufs_in_use, report->mbufs_total);
}
