/* SPDX-License-Identifier: BSD-3-Clause */
/* Snapshots of statistics: graphs that match a pattern, summed by node name. */

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "graph.h"
#include "image.h"

/* What was measured on a part, for the whole. */
static uint64_t
scale(uint64_t measured, uint64_t whole, uint64_t part)
{
	return part == 0 ? 0 : (uint64_t)((double)measured * (double)whole / (double)part);
}

/* Adds objects under a name, which gets an entry when it comes for the first time. */
static int
edge_add(struct hy_edge_stats **edges, unsigned int *n, unsigned int hint, const char *name,
	const struct hy_drop *drop, uint64_t objs)
{
	struct hy_edge_stats *e;
	unsigned int i = hint;

	if (i >= *n || strcmp((*edges)[i].name, name) != 0)
		for (i = 0; i < *n && strcmp((*edges)[i].name, name) != 0; i++)
			;
	if (i == *n) {
		e = realloc(*edges, (*n + 1) * sizeof(*e));
		if (e == NULL)
			return -ENOMEM;
		*edges = e;
		e = &e[(*n)++];
		memset(e, 0, sizeof(*e));
		strcpy(e->name, name);
		if (drop != NULL) {
			e->severity = drop->severity;
			strcpy(e->text, drop->text);
		}
	}
	(*edges)[i].objs += objs;
	return 0;
}

static struct hy_node_stats *
node_entry(struct hy_stats *stats, unsigned int hint, const struct hy_image_node *cold)
{
	const bool is_source = (cold->reg->flags & HY_NODE_SOURCE) != 0;
	struct hy_node_stats *out;
	unsigned int i = hint;

	if (i >= stats->nb_nodes || strcmp(stats->nodes[i].name, cold->reg->name) != 0)
		for (i = 0; i < stats->nb_nodes; i++)
			if (strcmp(stats->nodes[i].name, cold->reg->name) == 0)
				break;
	if (i < stats->nb_nodes) {
		if (strcmp(stats->nodes[i].variant, cold->variant) != 0)
			strcpy(stats->nodes[i].variant, "mixed");
		return &stats->nodes[i];
	}
	out = realloc(stats->nodes, (stats->nb_nodes + 1) * sizeof(*out));
	if (out == NULL)
		return NULL;
	stats->nodes = out;
	/* A source goes behind the sources of the graphs before. */
	for (i = is_source ? 0 : stats->nb_nodes; i < stats->nb_nodes && out[i].is_source; i++)
		;
	out += i;
	memmove(out + 1, out, (stats->nb_nodes++ - i) * sizeof(*out));
	memset(out, 0, sizeof(*out));
	strcpy(out->name, cold->reg->name);
	strcpy(out->variant, cold->variant);
	out->is_source = is_source;
	return out;
}

static int
node_add(struct hy_stats *stats, const struct hy_graph *graph, const struct hy_node *node)
{
	const struct hy_image_node *cold = hy_image_node(graph, node);
	struct hy_node_stats *out = node_entry(stats, node->rank, cold);
	const uint64_t calls = hy_count_read(&node->calls), objs = hy_count_read(&node->objs);
	const uint64_t sampled = hy_count_read(&cold->sampled_calls);
	int rc = 0;

	if (out == NULL)
		return -ENOMEM;
	out->calls += calls;
	out->objs += objs;
	out->sampled_calls += sampled;
	out->cycles += scale(hy_count_read(&cold->sampled_cycles), objs,
		hy_count_read(&cold->sampled_objs));
	out->idle_cycles += scale(hy_count_read(&cold->sampled_idle), calls, sampled);
	for (unsigned int e = 0; e < cold->nb_edges && rc == 0; e++)
		rc = edge_add(&out->edges, &out->nb_edges, e,
			hy_graph_node_name(graph, node->edges[e].to), NULL,
			hy_count_read(&node->edges[e].objs));
	for (unsigned int d = 0; d < cold->nb_drops && rc == 0; d++) {
		const struct hy_drop *drop = d < HY_CORE_DROPS
			? &hy_core_drops[d]
			: &cold->reg->drops[d - HY_CORE_DROPS];

		rc = edge_add(&out->drops, &out->nb_drops, d, drop->name, drop,
			hy_count_read(&node->edges[-1 - (int)d].objs));
	}
	return rc;
}

int
hy_stats_read(const char *pattern, struct hy_stats **out)
{
	struct hy_stats *stats = calloc(1, sizeof(*stats));
	int rc = 0;

	if (stats == NULL)
		return -ENOMEM;
	hy_registry_lock();
	for (struct hy_graph *g = hy_graph_next(NULL); g != NULL && rc == 0; g = hy_graph_next(g)) {
		if (fnmatch(pattern, g->image->name, 0) != 0)
			continue;
		stats->nb_graphs++;
		for (unsigned int r = 0; r < g->nb_nodes && rc == 0; r++)
			rc = node_add(stats, g, &g->nodes[r]);
	}
	hy_registry_unlock();
	if (rc == 0 && stats->nb_graphs == 0)
		rc = -ENOENT;
	if (rc < 0) {
		hy_stats_free(stats);
		return rc;
	}
	*out = stats;
	return 0;
}

void
hy_stats_free(struct hy_stats *stats)
{
	if (stats == NULL)
		return;
	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		free(stats->nodes[i].edges);
		free(stats->nodes[i].drops);
	}
	free(stats->nodes);
	free(stats);
}
