/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums of counters by node name. The statistics of one graph are those of its image and of the
 * images before it, its history; those of several graphs are merged from such. Only in what is
 * merged are cycles and idle_cycles meant to be read: they are estimated graph by graph.
 */
#pragma once

#include "lib/graph/compile/image.h"

enum hy_stats_what {
	HY_STATS_COUNTERS, /* entries, and what was counted */
	HY_STATS_NAMES,    /* entries only: adding their counters later cannot fail */
};

/* Makes empty statistics. Returns 0 or -ENOMEM. */
int hy_stats_new(struct hy_stats **stats);

/* Adds the nodes of an image. Returns 0 or -ENOMEM, upon which some of them may have been added. */
int hy_stats_add(struct hy_stats *stats, const struct hy_image *image, enum hy_stats_what what);

/* Marks all entries as gone; merging keeps that for entries that current statistics lack. */
void hy_stats_bury(struct hy_stats *stats);

/* Adds what other statistics count. Returns as hy_stats_add(). */
int hy_stats_merge(struct hy_stats *stats, const struct hy_stats *from);

/* Reads one graph, under the registry's lock. Returns 0 or -ENOMEM. */
int hy_stats_of(const struct hy_graph *graph, struct hy_stats **stats);

/* Likewise, of that image and the graph's history. */
int hy_stats_of_image(const struct hy_graph *graph, const struct hy_image *image,
	struct hy_stats **stats);
