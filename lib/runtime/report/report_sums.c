/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over the nodes of a snapshot. */

#include <stdio.h>
#include <string.h>

#include <hy_graph_worker.h>
#include <hy_report.h>

/* Sums up a reason over all nodes. Returns whether the drop is the first that has it. */
static bool
sum_reason(const struct hy_stats *stats, const struct hy_edge_stats *drop, uint64_t *objs)
{
	bool met = false;

	*objs = 0;
	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		const struct hy_node_stats *node = &stats->nodes[i];

		for (unsigned int d = 0; d < node->nb_drops; d++) {
			/* The core's own reasons are news only if they occur. */
			if ((d < HY_CORE_DROPS && node->drops[d].objs == 0) ||
				strcmp(node->drops[d].name, drop->name) != 0)
				continue;
			if (!met && &node->drops[d] != drop)
				return false;
			met = true;
			*objs += node->drops[d].objs;
		}
	}
	return met;
}

bool
hy_report_drop(const struct hy_report *report, const struct hy_stats *stats, unsigned int *at,
	struct hy_reason *reason)
{
	unsigned int from = (*at)++, passed = 1;

	*reason = (struct hy_reason){ .name = "under_way",
		.text = "was on its way to another worker when they stopped",
		.objs = report->under_way };
	if (from == 0 && report->under_way > 0)
		return true;
	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		const struct hy_node_stats *node = &stats->nodes[i];

		for (unsigned int d = 0; d < node->nb_drops; d++) {
			if (passed++ < from || !sum_reason(stats, &node->drops[d], &reason->objs))
				continue;
			*at = passed;
			reason->name = node->drops[d].name;
			reason->text = node->drops[d].text;
			return true;
		}
	}
	return false;
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
		n += node->objs - (sends ? hy_stats_dropped(node) : 0);
	}
	return n;
}

/* What sources shared by several ports led to a port's node, or to the arc before it. */
static uint64_t
sum_fed(const struct hy_stats *stats, const struct hy_report_port *port)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		const struct hy_node_stats *node = &stats->nodes[i];

		for (unsigned int e = 0; node->is_source && e < node->nb_edges; e++)
			if (strcmp(node->edges[e].name, port->fed) == 0 ||
				strcmp(node->edges[e].name, port->arc) == 0)
				n += node->edges[e].objs;
	}
	return n;
}

uint64_t
hy_report_rx(const struct hy_report *report, const struct hy_stats *stats,
	const struct hy_report_port *port)
{
	return port->fed[0] != '\0' ? sum_fed(stats, port)
				    : sum_port(report, stats, port->port, "ethdev_rx");
}

uint64_t
hy_report_tx(const struct hy_report *report, const struct hy_stats *stats,
	const struct hy_report_port *port)
{
	return sum_port(report, stats, port->port, "ethdev_tx");
}

uint64_t
hy_report_vlan(const struct hy_stats *stats, const char *family, const struct hy_vlan *vlan)
{
	char name[HY_NAME_SIZE];
	uint64_t n = 0;

	snprintf(name, sizeof(name), "%s-%u.%u", family, vlan->port, vlan->vid);
	for (unsigned int i = 0; i < stats->nb_nodes; i++)
		if (strcmp(stats->nodes[i].name, name) == 0)
			n += stats->nodes[i].objs - hy_stats_dropped(&stats->nodes[i]);
	return n;
}
