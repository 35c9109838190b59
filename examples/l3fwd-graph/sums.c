/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums over the nodes of a snapshot. */

#include <stdio.h>
#include <string.h>

#include <hy_graph_worker.h>

#include "feed.h"
#include "sums.h"

unsigned int
sum_drops(const struct report *report, struct reason reasons[REASONS_MAX])
{
	const struct hy_stats *stats = report->stats;
	unsigned int n = 0;

	if (report->under_way > 0)
		reasons[n++] = (struct reason){ .name = "under_way",
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

static uint64_t
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

/* What event_rx has led to a port's classifier. */
static uint64_t
sum_fed(const struct report *report, uint16_t port)
{
	char name[HY_NAME_SIZE];
	uint64_t n = 0;

	feed_classifier(report->options, port, name);
	for (unsigned int i = 0; i < report->stats->nb_nodes; i++) {
		const struct hy_node_stats *node = &report->stats->nodes[i];

		for (unsigned int e = 0; node->is_source && e < node->nb_edges; e++)
			if (strcmp(node->edges[e].name, name) == 0)
				n += node->edges[e].objs;
	}
	return n;
}

uint64_t
sum_rx(const struct report *report, uint16_t port)
{
	return report->options->event.on ? sum_fed(report, port)
					 : sum_port(report, port, "ethdev_rx");
}

uint64_t
sum_tx(const struct report *report, uint16_t port)
{
	return sum_port(report, port, "ethdev_tx");
}
