/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over the nodes of a snapshot. */

#include <stdio.h>
#include <string.h>

#include <hy_graph_worker.h>

#include "sums.h"

unsigned int
sum_drops(const struct hy_stats *stats, struct reason reasons[REASONS_MAX])
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		for (unsigned int d = 0; d < stats->nodes[i].nb_drops; d++) {
			const struct hy_edge_stats *drop = &stats->nodes[i].drops[d];
			unsigned int r = 0;

			/* The core's own reasons are news only if they happen. */
			if (d < HY_CORE_DROPS && drop->objs == 0)
				continue;
			while (r < n && strcmp(reasons[r].name, drop->name) != 0)
				r++;
			if (r == REASONS_MAX)
				continue;
			if (r == n)
				reasons[n++] = (struct reason){ .name = drop->name,
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

uint64_t
sum_port(const struct report *report, uint16_t port, const char *family)
{
	const bool sends = strcmp(family, "ethdev_tx") == 0;
	char target[HY_NAME_SIZE];
	uint64_t n = 0;

	snprintf(target, sizeof(target), "port %u", port);
	for (unsigned int i = 0; i < report->stats->nb_nodes; i++) {
		const struct hy_node_stats *node = &report->stats->nodes[i];
		const struct hy_placement *place = hy_hal_placement(report->hal, node->name);

		if (place == NULL || strcmp(place->family, family) != 0 ||
			strcmp(place->target, target) != 0)
			continue;
		n += node->objs - (sends ? dropped_by(node) : 0);
	}
	return n;
}

void
sum_totals(const struct report *report, struct totals *totals)
{
	*totals = (struct totals){ 0 };
	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++) {
		totals->rx += sum_port(report, p, "ethdev_rx");
		totals->tx += sum_port(report, p, "ethdev_tx");
	}
	for (unsigned int i = 0; i < report->stats->nb_nodes; i++)
		totals->dropped += dropped_by(&report->stats->nodes[i]);
}
