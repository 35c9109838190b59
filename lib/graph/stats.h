/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of counters by node name, from images and from what was summed before. */
#ifndef HY_GRAPH_STATS_H
#define HY_GRAPH_STATS_H

#include "image.h"

enum hy_stats_what {
	HY_STATS_COUNTERS, /* entries, and what was counted */
	HY_STATS_NAMES,    /* entries only: adding their counters later cannot fail */
};

/* Makes empty statistics. Returns 0 or -ENOMEM. */
int hy_stats_new(struct hy_stats **stats);

/* Adds the nodes of an image. Returns 0 or -ENOMEM, upon which some of them may have been added. */
int hy_stats_add(struct hy_stats *stats, const struct hy_image *image, enum hy_stats_what what);

/*
 * Adds other statistics; nodes and edges that were not there before are marked as gone. Returns 0
 * or -ENOMEM, likewise.
 */
int hy_stats_add_history(struct hy_stats *stats, const struct hy_stats *history);

#endif
