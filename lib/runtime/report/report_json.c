/* SPDX-License-Identifier: BSD-3-Clause */
/* The report for programs. Names of nodes, variants and drivers need no escapes. */

#include <inttypes.h>
#include <stdio.h>

#include <rte_cycles.h>

#include <hy_report.h>

static void
ports_json(const struct hy_report *report, FILE *out)
{
	fprintf(out, "  \"ports\": [");
	for (unsigned int i = 0; i < report->nb_ports; i++) {
		const struct hy_report_port *p = &report->ports[i];
		const struct hy_port_status *status = &p->status;
		char mac[RTE_ETHER_ADDR_FMT_SIZE];

		rte_ether_format_addr(mac, sizeof(mac), &p->mac);
		fprintf(out,
			"%s\n    {\"port\": %u, \"driver\": \"%s\", \"mac\": \"%s\", "
			"\"state\": \"%s\", \"resets\": %u, \"link\": \"%s\", "
			"\"link_mbps\": %" PRIu32 ", \"link_changes\": %u,\n     "
			"\"rx\": %" PRIu64 ", \"tx\": %" PRIu64 ", \"missed\": %" PRIu64
			", \"no_mbuf\": %" PRIu64 ", \"rx_errors\": %" PRIu64
			", \"tx_errors\": %" PRIu64 "}",
			i > 0 ? "," : "", p->port, p->driver, mac, p->state, status->resets,
			hy_port_link(status), status->link_mbps, status->link_changes,
			hy_report_rx(report, report->stats, p),
			hy_report_tx(report, report->stats, p), status->missed, status->no_mbuf,
			status->rx_errors, status->tx_errors);
	}
	fprintf(out, "],\n");
}

static void
vlans_json(const struct hy_report *report, FILE *out)
{
	fprintf(out, "  \"vlans\": [");
	for (unsigned int i = 0; i < report->nb_vlans; i++)
		fprintf(out,
			"%s\n    {\"port\": %u, \"vid\": %u, \"rx\": %" PRIu64 ", \"tx\": %" PRIu64
			"}",
			i > 0 ? "," : "", report->vlans[i].port, report->vlans[i].vid,
			hy_report_vlan(report->stats, "vlan_pop", &report->vlans[i]),
			hy_report_vlan(report->stats, "vlan_push", &report->vlans[i]));
	fprintf(out, "],\n");
}

/* {"name": objects or value, …} */
static void
counts_json(const char *key, const struct hy_edge_stats *counts, unsigned int n, FILE *out)
{
	fprintf(out, "\"%s\": {", key);
	for (unsigned int i = 0; i < n;
		i++) /* edges and drops have no value, counters no objects */
		fprintf(out, "%s\"%s\": %" PRIu64, i > 0 ? ", " : "", counts[i].name,
			counts[i].objs + counts[i].value);
	fprintf(out, "}");
}

static void
nodes_json(const struct hy_report *report, FILE *out)
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
		counts_json("edges", node->edges, node->nb_edges, out);
		fprintf(out, ", ");
		counts_json("drops", node->drops, node->nb_drops, out);
		fprintf(out, ", ");
		counts_json("counters", node->counters, node->nb_counters, out);
		fprintf(out, "}");
	}
	fprintf(out, "],\n");
}

static void
workers_json(const struct hy_report *report, FILE *out)
{
	fprintf(out, "  \"workers\": [");
	for (unsigned int w = 0; w < report->nb_workers; w++) {
		const struct hy_report_worker *worker = &report->workers[w];
		const struct hy_idle_stats *idle = &worker->rest;

		fprintf(out,
			"%s\n    {\"lcore\": %u, \"walks\": %" PRIu64 ", \"idle_walks\": %" PRIu64
			", \"pauses\": %" PRIu64 ",\n     \"waits\": %" PRIu64
			", \"wakeups\": %" PRIu64 ", \"called_off\": %" PRIu64
			", \"waited_us\": %" PRIu64 "}",
			w > 0 ? "," : "", worker->lcore, worker->walks, idle->idle_walks,
			idle->pauses, idle->waits, idle->wakeups, idle->called_off,
			(uint64_t)((double)idle->waited_cycles * 1e6 / (double)rte_get_tsc_hz()));
	}
	fprintf(out, "],\n");
}

/* Or null, if packets come another way. */
static void
event_json(const struct hy_report *report, FILE *out)
{
	const struct hy_mode_options *mode = report->mode;

	if (mode == NULL || mode->mode != HY_MODE_EVENTDEV)
		fprintf(out, "  \"event\": null,\n");
	else
		fprintf(out,
			"  \"event\": {\"device\": %u, \"sched\": \"%s\", \"freed\": %" PRIu64
			"},\n",
			mode->device, hy_mode_sched_name(mode), report->events_freed);
}

/* {"node": {…}, …}, or null if no graph is spread over workers. */
static void
dispatch_json(const struct hy_report *report, FILE *out)
{
	const bool spread = report->mode != NULL && report->mode->mode == HY_MODE_DISPATCH;
	const char *comma = "";
	struct hy_handover way;

	fprintf(out, "  \"dispatch\": %s", spread ? "{" : "null");
	for (unsigned int i = 0; spread && i < report->stats->nb_nodes; i++) {
		if (!hy_handover_read(report->stats, i, &way))
			continue;
		fprintf(out,
			"%s\n    \"%s\": {\"packets\": %" PRIu64 ", \"held_back\": %" PRIu64 "}",
			comma, way.node, way.packets, way.held_back);
		comma = ",";
	}
	fprintf(out, "%s,\n", spread ? "}" : "");
}

static void
drops_json(const struct hy_report *report, FILE *out)
{
	const char *comma = "";
	struct hy_reason reason;

	fprintf(out, "  \"drops\": {");
	for (unsigned int at = 0; hy_report_drop(report, report->stats, &at, &reason);) {
		fprintf(out, "%s\"%s\": %" PRIu64, comma, reason.name, reason.objs);
		comma = ", ";
	}
	fprintf(out, "},\n");
}

void
hy_report_json(const struct hy_report *report, void (*more)(const void *arg, FILE *out),
	const void *arg, FILE *out)
{
	struct hy_totals t;

	fprintf(out, "{\n");
	ports_json(report, out);
	vlans_json(report, out);
	nodes_json(report, out);
	workers_json(report, out);
	event_json(report, out);
	dispatch_json(report, out);
	if (more != NULL)
		more(arg, out);
	drops_json(report, out);
	hy_totals_read(report->stats, report->under_way, &t);
	fprintf(out,
		"  \"totals\": {\"rx\": %" PRIu64 ", \"copied\": %" PRIu64 ", \"tx\": %" PRIu64
		", \"dropped\": %" PRIu64 "},\n  \"mbufs\": {\"in_use\": %u, \"total\": %u}\n}\n",
		t.rx, t.copied, t.tx, t.dropped, report->mbufs_in_use, report->mbufs_total);
}
