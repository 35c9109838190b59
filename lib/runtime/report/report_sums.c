/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over the nodes of a snapshot. */

#include <stdio.h>
#include <string.h>

#include <hy_graph_worker.h>
#include <hy_report.h>

unsigned int
hy_report_drops(const struct hy_report *report, const struct hy_stats *stats,
	struct hy_reason reasons[HY_REASONS_MAX])
{
	unsigned int n = 0;

	if (report->under_way > 0)
		reasons[n++] = (struct hy_reason){ .name = "under_way",
			.text = "was on its way to another worker when they stopped",
			.objs = report->under_way };

	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		for (unsigned int d = 0; d < stats->nodes[i].nb_drops; d++) {
			const struct hy_edge_stats *drop = &stats->nodes[i].drops[d];
			unsigned int r = 0;

			/* The core's own reasons are news only if they happen. */
			if (d < HY_CORE_DROPS && drop->objs == 0)
				continue;
			while (r < n && strcmp(reasons[r].name, drop->name) != 0)
				r++;
			if (r == HY_REASONS_MAX)
				continue;
			if (r == n)
				reasons[n++] = (struct hy_reason){ .name = drop->name,
					.text = drop->text };
			reasons[r].objs += drop->objs;
		}
	}
	return n;
}

static uint64_t
dropped_by(const struct hy_node_stats *node)
{
	uint64_t n = 0;

	for (unsigned int d = 0; d < node->nb_drops; d++)
		n += node->drops[d].objs;
	return n;
}

static uint64_t
sum_port(const struct hy_report *report, const struct hy_stats *stats, uint16_t port,
	const char *family)
{
	const bool sends = strcmp(family, "ethdev_tx") == 0;
	char target[HY_NAME_SIZE];
	uint64_t n = 0;

	snprintf(target, sizeof(target), "port %u", port);
	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		const struct hy_node_stats *node = &stats->nodes[i];
		const struct hy_placement *place = hy_hal_placement(report->hal, node->name);

		if (place == NULL || strcmp(place->family, family) != 0 ||
			strcmp(place->target, target) != 0)
			continue;
		n += node->objs - (sends ? dropped_by(node) : 0);
	}
	return n;
}

/* What sources shared by several ports led to a port's node. */
static uint64_t
sum_fed(const struct hy_stats *stats, const char *name)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		const struct hy_node_stats *node = &stats->nodes[i];

		for (unsigned int e = 0; node->is_source && e < node->nb_edges; e++)
			if (strcmp(node->edges[e].name, name) == 0)
				n += node->edges[e].objs;
	}
	return n;
}

uint64_t
hy_report_rx(const struct hy_report *report, const struct hy_stats *stats,
	const struct hy_report_port *port)
{
	return port->fed[0] != '\0' ? sum_fed(stats, port->fed)
				    : sum_port(report, stats, port->port, "ethdev_rx");
}

uint64_t
hy_report_tx(const struct hy_report *report, const struct hy_stats *stats,
	const struct hy_report_port *port)
{
	return sum_port(report, stats, port->port, "ethdev_tx");
}
