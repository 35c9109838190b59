/* SPDX-License-Identifier: BSD-3-Clause */
/* Wide lanes, compiled: who uses which, and where they lie. */

#include <string.h>

#include "image.h"
#include "lib/graph/walk/enqueue.h"

size_t
hy_wide_size(const struct hy_graph_params *params, unsigned int nb_nodes)
{
	return params->nb_wide == 0
		? 0
		: sizeof(struct hy_wide) + nb_nodes * sizeof(struct hy_wide_node);
}

/* Targets are filled already, or `all` is set. */
static void
node_fill(const struct hy_image *image, unsigned int rank, bool all)
{
	const struct hy_wide *wide = image->wide;
	const struct hy_image_node *cold = &image->nodes[rank];
	const struct hy_node *hot = &image->hot[rank];
	struct hy_wide_node *node = &image->wide->nodes[rank];

	for (unsigned int l = 0; l < cold->reg->nb_wide; l++) {
		while (strcmp(wide->lanes[node->lane[l]].name, cold->reg->wide[l].name) != 0)
			node->lane[l]++;
		node->in |= (uint8_t)(1u << node->lane[l]);
	}
	node->out = (cold->reg->flags & HY_NODE_SOURCE) != 0 ? node->in : UINT8_MAX;
	for (int e = -cold->nb_drops; e < cold->nb_edges; e++)
		if (hot->edges[e].to != NULL)
			node->next |= wide->nodes[hot->edges[e].to->rank].in;
	if (all)
		node->next = (uint8_t)((1u << wide->nb_lanes) - 1);
	node->in |= node->next;
}

void
hy_wide_fill(struct hy_image *image, const struct hy_graph_params *params, bool all)
{
	struct hy_wide *wide = image->wide;

	if (wide == NULL)
		return;
	wide->nb_lanes = params->nb_wide;
	memcpy(wide->lanes, params->wide, params->nb_wide * sizeof(wide->lanes[0]));
	wide->scatter = image->plan.scatter;
	image->plan.scatter = hy_scatter_wide;
	for (unsigned int r = image->plan.nb_nodes; r-- > 0;)
		node_fill(image, r, all);
}

size_t
hy_wide_layout(struct hy_wide *wide, size_t size, size_t room)
{
	for (unsigned int l = 0; wide != NULL && l < wide->nb_lanes; l++) {
		wide->offset[l] = (uint32_t)size;
		size += RTE_ALIGN(room * wide->lanes[l].bytes, RTE_CACHE_LINE_SIZE);
	}
	return size;
}
