/* SPDX-License-Identifier: BSD-3-Clause */
/* From a topology to the memory that a worker walks. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "image.h"
#include "lib/graph/common/memory.h"
#include "lib/graph/share/share.h"
#include "lib/graph/walk/enqueue.h"

/* Bytes of one stream: pointers, then lanes, each with slack. Also sets the lanes' offsets. */
static size_t
stream_layout(struct hy_image *image)
{
	struct hy_plan *plan = &image->plan;
	const size_t room = plan->stream_cap + HY_STREAM_SLACK;
	size_t size = RTE_ALIGN(room * sizeof(void *), RTE_CACHE_LINE_SIZE);

	for (unsigned int l = 0; l < plan->nb_lanes; l++) {
		plan->lane_offset[l] = (uint32_t)size;
		size += RTE_ALIGN(room * sizeof(uint32_t), RTE_CACHE_LINE_SIZE);
	}
	size = hy_wide_layout(image->wide, size, room);
	/* An odd number of lines: the streams' first lines do not all fall into one cache set. */
	return size | RTE_CACHE_LINE_SIZE;
}

/* Bytes of each part of an image, in the order in which they lie. */
struct layout {
	size_t hot, pending, budgets, edges, nodes, wide;
};

static size_t
image_layout(const struct hy_graph_params *params, const struct hy_topology *topo,
	unsigned int nb_words, struct layout *layout)
{
	size_t edges = topo->nb_edges * sizeof(struct hy_edge);

	for (unsigned int r = 0; r < topo->nb_nodes; r++)
		edges += hy_image_slots_before(topo->nodes[r]) * sizeof(struct hy_edge);
	layout->hot = sizeof(struct hy_image) + (topo->nb_nodes + 1) * sizeof(struct hy_node);
	layout->pending = RTE_ALIGN(nb_words * sizeof(uint64_t), RTE_CACHE_LINE_SIZE);
	layout->budgets = RTE_ALIGN(topo->nb_sources * sizeof(uint16_t), RTE_CACHE_LINE_SIZE);
	layout->edges = RTE_ALIGN(edges, RTE_CACHE_LINE_SIZE);
	layout->nodes = topo->nb_nodes * sizeof(struct hy_image_node);
	layout->wide = hy_wide_size(params, topo->nb_nodes);
	return layout->hot + layout->pending + layout->budgets + layout->edges + layout->nodes +
		layout->wide;
}

/* Zeroed memory of an image for display only. */
static struct hy_image *
outline_alloc(size_t size)
{
	void *memory = calloc(1, size + RTE_CACHE_LINE_SIZE);
	struct hy_image *image = RTE_PTR_ALIGN_CEIL(memory, RTE_CACHE_LINE_SIZE);

	if (memory == NULL)
		return NULL;
	image->outline = memory;
	return image;
}

/* The image and all its tables in one piece of zeroed memory: hot lines, bitmap, edges, the rest. */
static struct hy_image *
image_alloc(const struct hy_graph_params *params, const struct hy_topology *topo,
	unsigned int nb_words, bool outline)
{
	struct layout layout;
	const size_t size = image_layout(params, topo, nb_words, &layout);
	struct hy_image *image = outline ? outline_alloc(size)
					 : hy_memory_zalloc("hy_image", size, params->socket);

	if (image == NULL)
		return NULL;
	image->size = size;
	image->plan.nodes = image->hot;
	image->plan.pending = RTE_PTR_ADD(image, layout.hot);
	image->plan.budgets = RTE_PTR_ADD(image->plan.pending, layout.pending);
	image->edges = RTE_PTR_ADD(image->plan.budgets, layout.budgets);
	image->nodes = RTE_PTR_ADD(image->edges, layout.edges);
	if (layout.wide > 0)
		image->wide = RTE_PTR_ADD(image->nodes, layout.nodes);
	return image;
}

static unsigned int
lane_index(const struct hy_image *image, const char *lane)
{
	unsigned int index = 0;

	while (strcmp(image->lanes[index], lane) != 0)
		index++;
	return index;
}

static void
node_fill(struct hy_image *image, struct hy_reg_node *reg, unsigned int rank)
{
	struct hy_image_node *cold = &image->nodes[rank];
	struct hy_node *node = &image->hot[rank];

	node->process = reg->impl.process;
	node->rank = (uint16_t)rank;
	node->replicates = reg->replicates;
	for (unsigned int l = 0; l < reg->nb_lanes; l++) {
		node->lane[l] = (uint8_t)lane_index(image, reg->lanes[l]);
		node->lanes_in |= (uint8_t)(1u << node->lane[l]);
	}
	/* Lanes that a source does not use have no values yet. */
	node->lanes_out = (reg->flags & HY_NODE_SOURCE) != 0 ? node->lanes_in : UINT8_MAX;

	cold->reg = reg;
	cold->impl = reg->impl;
	strcpy(cold->variant, reg->variant);
	cold->impl.variant = reg->variant[0] == '\0' ? NULL : cold->variant;
	cold->revision = reg->revision;
	cold->was[0] = cold->was[1] = HY_NO_RANK;
	cold->nb_edges = (uint16_t)reg->nb_edges;
	cold->nb_drops = (uint16_t)(HY_CORE_DROPS + reg->nb_drops);
}

/* Joins the nodes. Drop reasons and counters have negative indexes: they precede node->edges. */
static void
edges_fill(struct hy_image *image, const struct hy_topology *topo)
{
	struct hy_edge *edge = image->edges;

	for (unsigned int r = 0; r < topo->nb_nodes; r++) {
		const struct hy_image_node *cold = &image->nodes[r];
		struct hy_node *node = &image->hot[r];

		node->edges = edge + hy_image_slots_before(cold->reg);
		for (int d = HY_CORE_DROPS; d < cold->nb_drops; d++)
			node->edges[-1 - d].to = &image->hot[topo->drop_rank];
		for (unsigned int e = 0; e < cold->nb_edges; e++)
			node->edges[e].to = &image->hot[topo->targets[topo->first_edge[r] + e]];
		edge = node->edges + cold->nb_edges;
	}
}

/* The lanes of the graph whose values need not be brought to a node, as it sets them. */
static uint8_t
lanes_set(const struct hy_node *node, const struct hy_reg_node *reg)
{
	uint8_t set = 0;

	for (unsigned int bits = reg->lanes_set; bits != 0; bits &= bits - 1)
		set |= (uint8_t)(1u << node->lane[__builtin_ctz(bits)]);
	return set;
}

/*
 * Propagates the lanes that nodes use to all nodes before them: values that no later node reads
 * need not be copied. Objects that wait in a graph may reach another image, with other readers, and
 * so may objects of an earlier image in one without cycles.
 */
static void
lanes_fill(struct hy_image *image, bool takes_over)
{
	for (unsigned int r = image->plan.nb_nodes; r-- > 0;) {
		const struct hy_image_node *cold = &image->nodes[r];
		struct hy_node *node = &image->hot[r];

		for (int e = -cold->nb_drops; e < cold->nb_edges; e++)
			if (node->edges[e].to != NULL)
				node->lanes_in |= node->edges[e].to->lanes_in;
		node->lanes_in &= (uint8_t)~lanes_set(node, cold->reg);
		if (image->holds || takes_over)
			node->lanes_in = (uint8_t)((1u << image->plan.nb_lanes) - 1);
	}
}

static void
plan_fill(struct hy_image *image, const struct hy_graph_params *params,
	const struct hy_topology *topo, uint32_t stream_cap)
{
	struct hy_plan *plan = &image->plan;

	plan->scatter = hy_scatter_best();
	plan->ops = params->ops;
	plan->stream_cap = RTE_MAX(topo->stream_cap, stream_cap);
	image->stream_cap = topo->stream_cap;
	plan->nb_nodes = (uint16_t)topo->nb_nodes;
	plan->nb_sources = (uint16_t)topo->nb_sources;
	plan->burst = params->burst;
	plan->source_budget = params->source_budget > 0 ? params->source_budget : params->burst;
	plan->max_sweeps = params->max_sweeps;
	plan->sample_every = params->sample_every;
	plan->cyclic = topo->cyclic;
	plan->throttled = topo->throttled;
	plan->modelled = params->walk != NULL;
	image->walk = params->walk;
	image->walk_ctx = params->walk_ctx;
	image->holds = topo->cyclic || topo->throttled;
	image->carries = stream_cap > 0;
	for (unsigned int l = 0; l < HY_LANES_MAX; l++)
		if (params->lanes[l] != NULL)
			strcpy(image->lanes[plan->nb_lanes++], params->lanes[l]);
}

/* Compiles all but the streams. */
static int
image_compile(const struct hy_graph_params *params, const struct hy_topology *topo,
	uint32_t stream_cap, bool outline, struct hy_image **out)
{
	const unsigned int nb_words = topo->nb_nodes / 64 + 1; /* a bit for the one behind, too */
	struct hy_image *image = image_alloc(params, topo, nb_words, outline);

	if (image == NULL)
		return -ENOMEM;
	plan_fill(image, params, topo, stream_cap);
	image->plan.nb_words = (uint16_t)nb_words;
	for (unsigned int r = 0; r < topo->nb_nodes; r++)
		node_fill(image, topo->nodes[r], r);
	for (unsigned int s = 0; s < topo->nb_sources; s++)
		image->plan.budgets[s] = image->plan.source_budget;
	image->hot[topo->nb_nodes].rank = (uint16_t)topo->nb_nodes;
	edges_fill(image, topo);
	lanes_fill(image, stream_cap > 0); /* objects may wait in the previous image */
	hy_wide_fill(image, params, image->holds || stream_cap > 0);
	*out = image;
	return 0;
}

int
hy_image_outline(const struct hy_graph_params *params, const struct hy_topology *topo,
	uint32_t stream_cap, struct hy_image **image)
{
	return image_compile(params, topo, stream_cap, true, image);
}

int
hy_image_build(const struct hy_graph_params *params, const struct hy_topology *topo,
	uint32_t stream_cap, struct hy_image **out)
{
	struct hy_image *image = NULL;
	size_t stream_size;
	int rc = image_compile(params, topo, stream_cap, false, &image);

	if (rc < 0)
		return rc;
	stream_size = stream_layout(image);
	image->streams = rte_malloc_socket("hy_streams", topo->nb_nodes * stream_size,
		RTE_CACHE_LINE_SIZE, params->socket);
	if (image->streams == NULL) {
		hy_image_free(image);
		return -ENOMEM;
	}
	for (unsigned int r = 0; r < topo->nb_nodes; r++)
		image->hot[r].stream = RTE_PTR_ADD(image->streams, r * stream_size);
	*out = image;
	return 0;
}

void
hy_image_budgets(struct hy_image *image, const struct hy_image *before)
{
	for (unsigned int s = 0; s < image->plan.nb_sources; s++)
		image->nodes[s].reg->mark = s + 1;
	for (unsigned int s = 0; s < before->plan.nb_sources; s++) {
		const uint16_t budget = hy_budget_read(&before->plan, s);
		const uint32_t mark = before->nodes[s].reg->mark;

		/* A source with the graph's default budget gets the new default. */
		if (mark != 0 && budget != before->plan.source_budget)
			image->plan.budgets[mark - 1] = RTE_MIN(budget, image->plan.burst);
	}
	for (unsigned int s = 0; s < image->plan.nb_sources; s++)
		image->nodes[s].reg->mark = 0;
}

/* Notes which rank the nodes of an image have in another one, under one of the two. */
static void
ranks_note(struct hy_image *image, const struct hy_image *from, unsigned int which)
{
	const unsigned int nb_from = from == NULL ? 0 : from->plan.nb_nodes;

	for (unsigned int r = 0; r < nb_from; r++)
		from->nodes[r].reg->mark = r + 1;
	/* 0 less one is HY_NO_RANK. */
	for (unsigned int r = 0; r < image->plan.nb_nodes; r++)
		image->nodes[r].was[which] = image->nodes[r].reg->mark - 1;
	for (unsigned int r = 0; r < nb_from; r++)
		from->nodes[r].reg->mark = 0;
}

void
hy_image_follow(struct hy_image *image, const struct hy_image *before,
	const struct hy_image *earlier)
{
	image->before = before;
	ranks_note(image, before, 0);
	ranks_note(image, earlier, 1);
	for (unsigned int r = 0; r < image->plan.nb_nodes; r++) {
		struct hy_image_node *node = &image->nodes[r];
		const uint32_t was = node->was[0];

		if (was == HY_NO_RANK || before->nodes[was].revision != node->revision)
			continue;
		node->inherits = true;
		image->hot[r].ctx = before->hot[was].ctx;
	}
}

void
hy_image_bequeath(struct hy_image *image, struct hy_image *next)
{
	for (unsigned int r = 0; r < next->plan.nb_nodes; r++) {
		const uint32_t was = hy_image_was(next, r, image);
		struct hy_image_node *heir = &next->nodes[r];

		/* A context that the image itself inherits is not its own to give. */
		if (!heir->inherits || was == HY_NO_RANK || !image->nodes[was].initialised)
			continue;
		heir->inherits = false;
		heir->initialised = true;
		image->nodes[was].initialised = false;
		image->hot[was].ctx = NULL;
	}
}

void
hy_image_free(struct hy_image *image)
{
	rte_free(image->streams);
	if (image->outline != NULL) {
		free(image->outline);
		return;
	}
	hy_share_void(&image->serial);
	hy_memory_free("hy_image", image);
}
