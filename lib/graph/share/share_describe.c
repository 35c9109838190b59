/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the description of a graph: numbers of 64 bits, NUL-terminated texts. */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "lib/graph/observe/trace.h"
#include "share_layout.h"

static void
put(FILE *out, uint64_t number)
{
	fwrite(&number, sizeof(number), 1, out);
}

static void
put_text(FILE *out, const char *text)
{
	fwrite(text, strlen(text) + 1, 1, out);
}

/* 0 if the memory is not in files. */
static int
put_place(FILE *out, const void *block, size_t size)
{
	struct hy_share_place place;
	const int rc = hy_share_locate(block, size, &place);

	if (rc < 0)
		return rc;
	put(out, place.address);
	put(out, place.size);
	put(out, place.start);
	put(out, place.nb_extents);
	for (unsigned int i = 0; i < place.nb_extents; i++) {
		put(out, place.extents[i].length);
		put(out, place.extents[i].fd);
		put(out, place.extents[i].offset);
		put(out, place.extents[i].device);
		put(out, place.extents[i].inode);
	}
	hy_share_place_free(&place);
	return 0;
}

static void
put_entries(FILE *out, const struct hy_edge_stats *entries, unsigned int n)
{
	put(out, n);
	for (unsigned int i = 0; i < n; i++) {
		put_text(out, entries[i].name);
		put_text(out, entries[i].unit);
		put_text(out, entries[i].text);
		put(out, entries[i].severity);
		put(out, entries[i].objs);
		put(out, entries[i].value);
		put(out, entries[i].gone);
	}
}

/* The counters of earlier images; NULL if there was none. */
static void
put_history(FILE *out, const struct hy_stats *history)
{
	const unsigned int n = history == NULL ? 0 : history->nb_nodes;

	put(out, n);
	for (unsigned int i = 0; i < n; i++) {
		const struct hy_node_stats *node = &history->nodes[i];

		put_text(out, node->name);
		put_text(out, node->variant);
		put(out, node->is_source);
		put(out, node->replicates);
		put(out, node->gone);
		put(out, node->calls);
		put(out, node->objs);
		put(out, node->sampled_calls);
		put(out, node->sampled_objs);
		put(out, node->sampled_cycles);
		put(out, node->sampled_idle_cycles);
		for (unsigned int b = 0; b < HY_BURST_BUCKETS; b++)
			put(out, node->bursts[b]);
		put_entries(out, node->edges, node->nb_edges);
		put_entries(out, node->drops, node->nb_drops);
		put_entries(out, node->counters, node->nb_counters);
	}
}

static void
put_wide(FILE *out, const struct hy_wide_lane *wide, unsigned int n)
{
	put(out, n);
	for (unsigned int l = 0; l < n; l++) {
		put_text(out, wide[l].name);
		put(out, wide[l].bytes);
	}
}

static void
put_node(FILE *out, const struct hy_image *image, unsigned int rank)
{
	const struct hy_image_node *cold = &image->nodes[rank];
	const struct hy_node *node = &image->hot[rank];
	const struct hy_reg_node *reg = cold->reg;

	put_text(out, reg->name);
	put_text(out, cold->variant);
	put(out, reg->flags);
	put(out, reg->trace.snapshot != NULL);
	put(out, node->replicates);
	put(out, reg->nb_lanes);
	for (unsigned int l = 0; l < reg->nb_lanes; l++)
		put_text(out, reg->lanes[l]);
	put_wide(out, reg->wide, reg->nb_wide);
	put(out, reg->nb_drops);
	for (unsigned int d = 0; d < reg->nb_drops; d++) {
		put_text(out, reg->drops[d].name);
		put_text(out, reg->drops[d].text);
		put(out, reg->drops[d].severity);
	}
	put(out, reg->nb_counters);
	for (unsigned int c = 0; c < reg->nb_counters; c++) {
		put_text(out, reg->counters[c].name);
		put_text(out, reg->counters[c].unit);
		put_text(out, reg->counters[c].text);
		put(out, reg->counters[c].severity);
	}
	/* The registry's edges may be others by now. */
	put(out, cold->nb_edges);
	for (unsigned int e = 0; e < cold->nb_edges; e++)
		put(out, node->edges[e].to->rank);
}

/* The rank of the node that drops go to; 0 if no node can drop. */
static unsigned int
drop_rank(const struct hy_image *image)
{
	for (unsigned int r = 0; r < image->plan.nb_nodes; r++)
		if (image->nodes[r].nb_drops > HY_CORE_DROPS)
			return image->hot[r].edges[(int16_t)HY_DROP(0)].to->rank;
	return 0;
}

static int
put_image(FILE *out, struct hy_image *image)
{
	const struct hy_plan *plan = &image->plan;

	if (image->serial == 0)
		image->serial = hy_share_serial();
	put(out, image->serial);
	put(out, plan->burst);
	put(out, plan->source_budget);
	put(out, plan->sample_every);
	put(out, plan->max_sweeps);
	for (unsigned int l = 0; l < HY_LANES_MAX; l++)
		put_text(out, image->lanes[l]);
	if (image->wide != NULL)
		put_wide(out, image->wide->lanes, image->wide->nb_lanes);
	else
		put(out, 0);
	put(out, plan->stream_cap);
	put(out, plan->cyclic);
	put(out, plan->throttled);
	put(out, plan->nb_sources);
	put(out, drop_rank(image));
	put(out, plan->nb_nodes);
	for (unsigned int r = 0; r < plan->nb_nodes; r++)
		put_node(out, image, r);
	return put_place(out, image, image->size);
}

static int
put_trace(FILE *out, struct hy_trace *trace)
{
	if (trace == NULL) {
		put(out, 0);
		return 0;
	}
	if (trace->serial == 0)
		trace->serial = hy_share_serial();
	put(out, trace->serial);
	return put_place(out, trace, sizeof(*trace) + trace->nb_records * sizeof(trace->ring[0]));
}

int
hy_share_describe(const struct hy_graph *graph, FILE *out)
{
	const struct hy_control *control = graph->control;
	const char *drop_node = control->params.drop_node;
	unsigned int nb_images = 0;
	int rc;

	for (unsigned int i = 0; i < RTE_DIM(hy_share_layout); i++)
		put(out, hy_share_layout[i]);
	put_text(out, control->name);
	put(out, (uint64_t)getpid());
	put(out, control->worker);
	put(out, (uint64_t)(int64_t)control->socket);
	put_text(out, drop_node == NULL ? "" : drop_node);
	put_history(out, control->history);
	rc = put_place(out, graph, sizeof(*graph));
	if (rc == 0)
		rc = put_trace(out, control->trace);
	for (const struct hy_image *image = control->current; image != NULL;
		image = image->successor)
		nb_images++;
	if (nb_images > HY_SHARE_IMAGES) /* those that were left wait for memory */
		return -ENOMEM;
	put(out, nb_images);
	for (struct hy_image *i = control->current; i != NULL && rc == 0; i = i->successor)
		rc = put_image(out, i);
	return rc;
}
