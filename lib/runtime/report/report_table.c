/* SPDX-License-Identifier: BSD-3-Clause */
/* The report for people. */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>

#include <hy_report.h>

/* One of the chains that a node begins, if it is fused. */
static void
chain_print(struct hy_graph *graph, const struct hy_node *node, unsigned int which, FILE *out)
{
	const char *fuse = hy_graph_node_fused(graph, node, which);
	const struct hy_fusion *fusion = fuse == NULL ? NULL : hy_fusion_find(fuse);

	if (fusion == NULL)
		return;
	fprintf(out, "  %-16s %-10s fuses %s", fusion->name, fusion->variant,
		hy_graph_node_name(graph, node));
	for (unsigned int i = 1; i < HY_FUSE_MAX && fusion->chain[i].family != NULL; i++)
		fprintf(out, ", %s", fusion->chain[i].family);
	fprintf(out, "\n");
}

/* The chains that a graph has fused. */
static void
fused_print(struct hy_graph *graph, FILE *out)
{
	struct hy_node *node;

	for (unsigned int r = 0; hy_graph_node_at(graph, r, &node) == 0; r++)
		for (unsigned int which = 0; which < HY_FUSE_CHAINS; which++)
			chain_print(graph, node, which, out);
}

void
hy_report_picks(const struct hy_report *report, FILE *out)
{
	fprintf(out, "The HAL picked (--explain says why):\n");
	for (unsigned int i = 0; i < report->stats->nb_nodes; i++) {
		const struct hy_node_stats *node = &report->stats->nodes[i];
		const struct hy_placement *place = hy_hal_placement(report->hal, node->name);

		if (place != NULL)
			fprintf(out, "  %-16s %-10s %s\n", node->name, place->variant,
				place->target);
	}
	fused_print(report->all->graphs[0], out);
}

/* Of the longest name; of those that usually are, if they are shorter. */
static int
name_width(const struct hy_stats *stats)
{
	size_t width = 18;

	for (unsigned int i = 0; i < stats->nb_nodes; i++)
		width = RTE_MAX(width, strlen(stats->nodes[i].name));
	return (int)width;
}

static double
rate(uint64_t n, double seconds)
{
	return seconds > 0 ? (double)n / seconds : 0;
}

/* Rates of a number that counts packets, since the table before and since the start. */
static void
rates_print(const struct hy_report *report, uint64_t now, uint64_t before, FILE *out)
{
	fprintf(out, " %12.0f %12.0f", rate(now - before, report->interval),
		rate(now, report->seconds));
}

/* What a node had handled when the table before was printed. */
static void
node_line(const struct hy_report *report, const struct hy_node_stats *node, int width, FILE *out)
{
	const struct hy_node_stats *before = NULL;
	const double calls = node->calls > 0 ? (double)node->calls : 1;

	fprintf(out, "%-*s %-10s %12" PRIu64 " %12" PRIu64 " %10.1f", width, node->name,
		node->variant[0] == '\0' ? "-" : node->variant, node->calls, node->objs,
		(double)node->objs / calls);
	if (node->objs > 0)
		fprintf(out, " %12.1f", (double)node->cycles / (double)node->objs);
	else
		fprintf(out, " %12s", "-");
	if (report->before != NULL)
		before = hy_stats_find(report->before, 0, node->name);
	if (report->seconds > 0)
		rates_print(report, node->objs, before == NULL ? 0 : before->objs, out);
	fprintf(out, "\n");
}

/* What the driver of a port says that it lost. */
static void
losses_print(const struct hy_port_status *status, FILE *out)
{
	const struct {
		const char *name;
		uint64_t n;
	} losses[] = {
		{ "missed", status->missed },
		{ "no mbuf", status->no_mbuf },
		{ "rx errors", status->rx_errors },
		{ "tx errors", status->tx_errors },
	};

	for (unsigned int i = 0; i < RTE_DIM(losses); i++)
		if (losses[i].n > 0)
			fprintf(out, "  %s %" PRIu64, losses[i].name, losses[i].n);
}

/* Ports while packets flow: what went through them, and what they lost. */
static void
ports_table(const struct hy_report *report, FILE *out)
{
	const struct hy_stats *before = report->before;

	fprintf(out, "\n%-8s %-8s %12s %12s %12s %12s %12s %12s\n", "port", "link", "rx",
		"rx/s now", "rx/s mean", "tx", "tx/s now", "tx/s mean");
	for (unsigned int i = 0; i < report->nb_ports; i++) {
		const struct hy_report_port *p = &report->ports[i];
		const uint64_t rx = hy_report_rx(report, report->stats, p);
		const uint64_t tx = hy_report_tx(report, report->stats, p);

		fprintf(out, "%-8u %-8s %12" PRIu64, p->port, hy_port_link(&p->status), rx);
		rates_print(report, rx, before != NULL ? hy_report_rx(report, before, p) : 0, out);
		fprintf(out, " %12" PRIu64, tx);
		rates_print(report, tx, before != NULL ? hy_report_tx(report, before, p) : 0, out);
		losses_print(&p->status, out);
		fprintf(out, "\n");
	}
}

/* What nodes counted besides packets and drops. */
static void
counters_table(const struct hy_stats *stats, FILE *out)
{
	bool first = true;

	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		const struct hy_node_stats *node = &stats->nodes[i];

		for (unsigned int c = 0; c < node->nb_counters; c++) {
			if (node->counters[c].value == 0)
				continue;
			fprintf(out, "%s%-*s %-18s %12" PRIu64 "\n", first ? "\ncounters\n" : "",
				name_width(stats), node->name, node->counters[c].name,
				node->counters[c].value);
			first = false;
		}
	}
}

static void
drops_table(const struct hy_report *report, FILE *out)
{
	struct hy_reason reason;
	bool first = true;

	for (unsigned int at = 0; hy_report_drop(report, report->stats, &at, &reason);) {
		if (reason.objs == 0)
			continue;
		if (first)
			fprintf(out, "\n%-18s %12s\n", "drop reason", "packets");
		first = false;
		fprintf(out, "%-18s %12" PRIu64 "  %s\n", reason.name, reason.objs, reason.text);
	}
}

/* What workers handed to others, by the node that it was for. */
static void
handovers_table(const struct hy_stats *stats, FILE *out)
{
	struct hy_handover way;
	bool first = true;

	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		if (!hy_handover_read(stats, i, &way))
			continue;
		if (first)
			fprintf(out, "\n%-18s %12s %12s\n", "handed over to", "packets",
				"held back");
		first = false;
		fprintf(out, "%-18s %12" PRIu64 " %12" PRIu64 "\n", way.node, way.packets,
			way.held_back);
	}
}

void
hy_report_table(const struct hy_report *report, FILE *out)
{
	const struct hy_stats *stats = report->stats;
	const int width = name_width(stats);

	if (report->seconds > 0)
		fprintf(out, "after %.3f s, %.3f s since the last table\n", report->seconds,
			report->interval);
	fprintf(out, "%-*s %-10s %12s %12s %10s %12s", width, "node", "variant", "calls", "packets",
		"pkts/call", "cycles/pkt");
	if (report->seconds > 0)
		fprintf(out, " %12s %12s", "pkts/s now", "pkts/s mean");
	fprintf(out, "\n");
	for (unsigned int i = 0; i < stats->nb_nodes; i++)
		node_line(report, &stats->nodes[i], width, out);
	if (report->seconds > 0)
		ports_table(report, out);
	counters_table(stats, out);
	drops_table(report, out);
	handovers_table(stats, out);
}

void
hy_report_rest(const struct hy_report *report, FILE *out)
{
	if (report->mode == NULL || report->mode->ports->idle == HY_IDLE_POLL)
		return;
	fprintf(out, "\n%-8s %14s %14s %12s %10s %10s %12s\n", "worker", "walks", "idle", "pauses",
		"waits", "wake-ups", "seconds");
	for (unsigned int w = 0; w < report->nb_workers; w++) {
		const struct hy_report_worker *worker = &report->workers[w];

		fprintf(out,
			"lcore %-2u %14" PRIu64 " %14" PRIu64 " %12" PRIu64 " %10" PRIu64
			" %10" PRIu64 " %12.3f\n",
			worker->lcore, worker->walks, worker->rest.idle_walks, worker->rest.pauses,
			worker->rest.waits, worker->rest.wakeups,
			(double)worker->rest.waited_cycles / (double)rte_get_tsc_hz());
	}
}

bool
hy_report_balance(const struct hy_report *report, FILE *out)
{
	uint64_t tx_errors = 0;
	struct hy_totals t;
	bool balanced;

	if (report->events_freed > 0)
		fprintf(out, "%" PRIu64 " packets were still in the event device, and are freed\n",
			report->events_freed);

	for (unsigned int i = 0; i < report->nb_ports; i++) {
		const struct hy_report_port *p = &report->ports[i];
		char mac[RTE_ETHER_ADDR_FMT_SIZE];

		rte_ether_format_addr(mac, sizeof(mac), &p->mac);
		fprintf(out, "port %u  %-14s %s  rx %" PRIu64 "  tx %" PRIu64, p->port, p->driver,
			mac, hy_report_rx(report, report->stats, p),
			hy_report_tx(report, report->stats, p));
		losses_print(&p->status, out);
		if (p->status.resets > 0)
			fprintf(out, "  resets %u", p->status.resets);
		if (strcmp(p->state, "up") != 0)
			fprintf(out, "  %s", p->state);
		else if (p->status.link_known && !p->status.link_up)
			fprintf(out, "  link down");
		fprintf(out, "\n");
		tx_errors += p->status.tx_errors;
	}
	for (unsigned int i = 0; i < report->nb_vlans; i++)
		fprintf(out, "VLAN %u.%u  rx %" PRIu64 "  tx %" PRIu64 "\n", report->vlans[i].port,
			report->vlans[i].vid,
			hy_report_vlan(report->stats, "vlan_pop", &report->vlans[i]),
			hy_report_vlan(report->stats, "vlan_push", &report->vlans[i]));
	if (tx_errors > 0)
		fprintf(out,
			"tx errors: the driver's count of packets that it did not send; they are "
			"in tx, or dropped as tx_full\n");
	hy_totals_read(report->stats, report->under_way, &t);
	balanced = t.rx + t.copied == t.tx + t.dropped;
	fprintf(out, "total   rx %" PRIu64, t.rx);
	if (t.copied > 0)
		fprintf(out, " + copied %" PRIu64, t.copied);
	fprintf(out,
		" = tx %" PRIu64 " + dropped %" PRIu64 "%s\n"
		"mbufs   %u of %u in use%s\n",
		t.tx, t.dropped, balanced ? "" : "  DO NOT ADD UP", report->mbufs_in_use,
		report->mbufs_total, report->mbufs_in_use > 0 ? "  LEAKED" : ", none leaked");
	return balanced && report->mbufs_in_use == 0;
}
