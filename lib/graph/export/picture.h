/* SPDX-License-Identifier: BSD-3-Clause */
/* The input of a picture of a graph, existing or not. */
#pragma once

#include "lib/graph/stats/stats.h"

struct hy_picture {
	const char *name;
	const struct hy_graph_params *params; /* defaults filled in */
	const struct hy_image *image;
	/*
	 * NULL for a graph that is not there. Its first nodes are the image's by rank; what each has
	 * of edges, drops and counters now comes before what it once had.
	 */
	const struct hy_stats *stats;
	uint64_t walks;
};

static inline const struct hy_node_stats *
hy_picture_stats(const struct hy_picture *picture, const struct hy_node *node)
{
	return picture->stats == NULL
		? NULL
		: hy_stats_find(picture->stats, node->rank, hy_image_node(node)->reg->name);
}

typedef void(hy_picture_write_t)(const struct hy_picture *picture, FILE *out);

hy_picture_write_t hy_picture_write_dot;
hy_picture_write_t hy_picture_write_json;
