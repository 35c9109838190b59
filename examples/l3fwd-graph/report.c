/* SPDX-License-Identifier: BSD-3-Clause */
/* The table for people. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "feature.h"
#include "feed.h"
#include "sums.h"

void
report_ports(struct report *report)
{
	struct rte_eth_dev_info info;
	uint16_t port;

	RTE_ETH_FOREACH_DEV(port) {
		struct report_port *p = &report->ports[port];

		if (!port_enabled(report->options, port))
			continue;
		if (rte_eth_dev_info_get(port, &info) == 0 && info.driver_name != NULL)
			snprintf(p->driver, sizeof(p->driver), "%s", info.driver_name);
		rte_eth_macaddr_get(port, &p->mac);
	}
}

void
report_events(struct report *report)
{
	static const char *const states[] = { [HY_PORT_UP] = "up",
		[HY_PORT_LEAVING] = "down",
		[HY_PORT_DOWN] = "down",
		[HY_PORT_GONE] = "gone" };

	hy_ports_count();
	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++) {
		report->ports[p].state = states[hy_hal_port_state(report->hal, p)];
		hy_port_status_read(p, &report->ports[p].status);
	}
}

void
report_workers(struct report *report, const struct pipeline *pipeline)
{
	report->nb_workers = pipeline->workers.nb;
	for (unsigned int w = 0; w < pipeline->workers.nb; w++) {
		const struct hy_worker *worker = &pipeline->workers.worker[w];
		struct report_worker *to = &report->workers[w];

		to->lcore = worker->lcore;
		hy_idle_read(&worker->idle, &to->idle);
		/* Read last, so that no more walks are idle than there are. */
		to->walks = __atomic_load_n(&worker->graph->walks, __ATOMIC_ACQUIRE);
	}
}

void
report_classes(struct report *report, const struct pipeline *pipeline)
{
	free(report->classes);
	report->classes = NULL;
	report->nb_classes = 0;
	if (pipeline->classes.policy != NULL &&
		hy_policy_classes(pipeline->classes.policy, &report->classes, &report->nb_classes) <
			0)
		fprintf(stderr, "l3fwd-graph: classes: out of memory\n");
}

static char *
told(const struct offloads *offloads, void (*tell)(const struct offloads *offloads, FILE *out))
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (out == NULL)
		return NULL;
	tell(offloads, out);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

void
report_offloads(struct report *report, const struct pipeline *pipeline)
{
	free(report->offloads);
	free(report->offloads_json);
	report->offloads = told(&pipeline->offloads, offloads_print);
	report->offloads_json = told(&pipeline->offloads, offloads_json);
	if (report->offloads == NULL || report->offloads_json == NULL)
		fprintf(stderr, "l3fwd-graph: offloads: out of memory\n");
}

uint64_t
report_waited_us(const struct report_worker *worker)
{
	return (uint64_t)((double)worker->idle.waited_cycles * 1e6 / (double)rte_get_tsc_hz());
}

void
report_picks(const struct report *report, FILE *out)
{
	feed_print(report->options, out);
	fprintf(out, "The HAL picked (--explain says why):\n");
	for (unsigned int i = 0; i < report->stats->nb_nodes; i++) {
		const struct hy_node_stats *node = &report->stats->nodes[i];
		const struct hy_placement *place = hy_hal_placement(report->hal, node->name);

		if (place != NULL)
			fprintf(out, "  %-16s %-10s %s\n", node->name, place->variant,
				place->target);
	}
	features_print(report->options, out);
	fprintf(out, "\n");
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
rates_print(const struct report *report, uint64_t now, uint64_t before, FILE *out)
{
	fprintf(out, " %12.0f %12.0f", rate(now - before, report->interval),
		rate(now, report->seconds));
}

/* What a node had handled when the table before was printed. */
static uint64_t
objs_before(const struct report *report, const char *node)
{
	const struct hy_stats *before = report->before;

	for (unsigned int i = 0; before != NULL && i < before->nb_nodes; i++)
		if (strcmp(before->nodes[i].name, node) == 0)
			return before->nodes[i].objs;
	return 0;
}

static void
node_line(const struct report *report, const struct hy_node_stats *node, int width, FILE *out)
{
	const double calls = node->calls > 0 ? (double)node->calls : 1;

	fprintf(out, "%-*s %-10s %12" PRIu64 " %12" PRIu64 " %10.1f", width, node->name,
		node->variant[0] == '\0' ? "-" : node->variant, node->calls, node->objs,
		(double)node->objs / calls);
	if (node->objs > 0)
		fprintf(out, " %12.1f", (double)node->cycles / (double)node->objs);
	else
		fprintf(out, " %12s", "-");
	if (report->seconds > 0)
		rates_print(report, node->objs, objs_before(report, node->name), out);
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
ports_table(const struct report *report, FILE *out)
{
	struct report then = *report;

	then.stats = report->before;
	fprintf(out, "\n%-8s %-8s %12s %12s %12s %12s %12s %12s\n", "port", "link", "rx",
		"rx/s now", "rx/s mean", "tx", "tx/s now", "tx/s mean");
	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++) {
		const bool known = report->before != NULL;
		uint64_t rx, tx;

		if (!port_enabled(report->options, p))
			continue;
		rx = sum_rx(report, p);
		tx = sum_tx(report, p);
		fprintf(out, "%-8u %-8s %12" PRIu64, p, hy_port_link(&report->ports[p].status), rx);
		rates_print(report, rx, known ? sum_rx(&then, p) : 0, out);
		fprintf(out, " %12" PRIu64, tx);
		rates_print(report, tx, known ? sum_tx(&then, p) : 0, out);
		losses_print(&report->ports[p].status, out);
		fprintf(out, "\n");
	}
}

static void
workers_table(const struct report *report, FILE *out)
{
	fprintf(out, "\n%-8s %14s %14s %12s %10s %10s %12s\n", "worker", "walks", "idle", "pauses",
		"waits", "wake-ups", "seconds");
	for (unsigned int w = 0; w < report->nb_workers; w++) {
		const struct report_worker *worker = &report->workers[w];

		fprintf(out,
			"lcore %-2u %14" PRIu64 " %14" PRIu64 " %12" PRIu64 " %10" PRIu64
			" %10" PRIu64 " %12.3f\n",
			worker->lcore, worker->walks, worker->idle.idle_walks, worker->idle.pauses,
			worker->idle.waits, worker->idle.wakeups,
			(double)report_waited_us(worker) / 1e6);
	}
}

/* What workers handed to others, by the node that it was for. */
static void
spread_table(const struct hy_stats *stats, FILE *out)
{
	struct hy_handover way;
	bool listed = false;

	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		if (!hy_handover_read(stats, i, &way))
			continue;
		if (!listed)
			fprintf(out, "\n%-18s %12s %12s\n", "handed over to", "packets",
				"held back");
		listed = true;
		fprintf(out, "%-18s %12" PRIu64 " %12" PRIu64 "\n", way.node, way.packets,
			way.held_back);
	}
}

void
report_table(const struct report *report, FILE *out)
{
	const struct hy_stats *stats = report->stats;
	const int width = name_width(stats);
	struct reason reasons[REASONS_MAX];
	unsigned int n;

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
	n = sum_drops(report, reasons);
	for (unsigned int i = 0, listed = 0; i < n; i++) {
		if (reasons[i].objs == 0)
			continue;
		if (listed++ == 0)
			fprintf(out, "\n%-18s %12s\n", "drop reason", "packets");
		fprintf(out, "%-18s %12" PRIu64 "  %s\n", reasons[i].name, reasons[i].objs,
			reasons[i].text);
	}
	for (unsigned int i = 0; i < report->nb_classes; i++)
		fprintf(out, "%s%-18u %12" PRIu64 "\n",
			i == 0 ? "\nclass                   packets\n" : "",
			report->classes[i].class_id, report->classes[i].hits);
	if (report->offloads != NULL && report->offloads[0] != '\0')
		fprintf(out, "\n%s", report->offloads);
	spread_table(stats, out);
	if (report->options->idle != HY_IDLE_POLL)
		workers_table(report, out);
	fprintf(out, "\n");
}

bool
report_result(const struct report *report, FILE *out)
{
	uint64_t tx_errors = 0;
	struct hy_totals t;

	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++) {
		char mac[RTE_ETHER_ADDR_FMT_SIZE];

		if (!port_enabled(report->options, p))
			continue;
		rte_ether_format_addr(mac, sizeof(mac), &report->ports[p].mac);
		fprintf(out, "port %u  %-14s %s  rx %" PRIu64 "  tx %" PRIu64, p,
			report->ports[p].driver, mac, sum_rx(report, p), sum_tx(report, p));
		losses_print(&report->ports[p].status, out);
		if (report->ports[p].status.resets > 0)
			fprintf(out, "  resets %u", report->ports[p].status.resets);
		if (strcmp(report->ports[p].state, "up") != 0)
			fprintf(out, "  %s", report->ports[p].state);
		else if (report->ports[p].status.link_known && !report->ports[p].status.link_up)
			fprintf(out, "  link down");
		fprintf(out, "\n");
	}
	if (report->events_freed > 0)
		fprintf(out, "%" PRIu64 " packets were still in the event device, and are freed\n",
			report->events_freed);
	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++)
		tx_errors += report->ports[p].status.tx_errors;
	if (tx_errors > 0)
		fprintf(out,
			"tx errors: the driver's count of packets that it did not send; they are "
			"in tx, or dropped as tx_full\n");
	hy_totals_read(report->stats, report->under_way, &t);
	return hy_totals_print(&t, report->mbufs_in_use, report->mbufs_total, out);
}
