/* SPDX-License-Identifier: BSD-3-Clause */
/* Snapshots of statistics: graphs that match a pattern, summed by node name. */

#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "stats.h"

/* What was measured on a part, for the whole. */
static uint64_t
scale(uint64_t measured, uint64_t whole, uint64_t part)
{
	return part == 0 ? 0 : (uint64_t)((double)measured * (double)whole / (double)part);
}

/* The entry of a name, made if there is none; NULL without memory. */
static struct hy_edge_stats *
edge_entry(struct hy_edge_stats **edges, unsigned int *n, unsigned int hint, const char *name)
{
	struct hy_edge_stats *e;
	unsigned int i = hint;

	if (i >= *n || strcmp((*edges)[i].name, name) != 0)
		for (i = 0; i < *n && strcmp((*edges)[i].name, name) != 0; i++)
			;
	if (i < *n)
		return &(*edges)[i];
	e = realloc(*edges, (*n + 1) * sizeof(*e));
	if (e == NULL)
		return NULL;
	*edges = e;
	e = &e[(*n)++];
	memset(e, 0, sizeof(*e));
	strcpy(e->name, name);
	return e;
}

/* The entry of a node, at the hint or anywhere behind or before it; NULL if there is none. */
static struct hy_node_stats *
node_find(const struct hy_stats *stats, unsigned int hint, const char *name)
{
	for (unsigned int n = 0, i = hint; n < stats->nb_nodes; n++, i++) {
		if (i >= stats->nb_nodes)
			i = 0;
		if (strcmp(stats->nodes[i].name, name) == 0)
			return &stats->nodes[i];
	}
	return NULL;
}

/* Makes an entry: a source behind the other sources, anything else at the end. */
static struct hy_node_stats *
node_new(struct hy_stats *stats, const char *name, bool is_source)
{
	struct hy_node_stats *out = realloc(stats->nodes, (stats->nb_nodes + 1) * sizeof(*out));
	unsigned int i = is_source ? 0 : stats->nb_nodes;

	if (out == NULL)
		return NULL;
	stats->nodes = out;
	while (i < stats->nb_nodes && out[i].is_source)
		i++;
	out += i;
	memmove(out + 1, out, (stats->nb_nodes++ - i) * sizeof(*out));
	memset(out, 0, sizeof(*out));
	strcpy(out->name, name);
	out->is_source = is_source;
	return out;
}

static int
edges_add(struct hy_node_stats *out, const struct hy_node *node, bool count)
{
	const struct hy_image_node *cold = hy_image_node(node);

	for (unsigned int i = 0; i < cold->nb_edges; i++) {
		const struct hy_edge *edge = &node->edges[i];
		struct hy_edge_stats *e = edge_entry(&out->edges, &out->nb_edges, i,
			hy_image_node(edge->to)->reg->name);

		if (e == NULL)
			return -ENOMEM;
		if (count)
			e->objs += hy_count_read(&edge->objs);
	}
	return 0;
}

static int
drops_add(struct hy_node_stats *out, const struct hy_node *node, bool count)
{
	const struct hy_image_node *cold = hy_image_node(node);

	for (unsigned int i = 0; i < cold->nb_drops; i++) {
		const struct hy_drop *drop = i < HY_CORE_DROPS
			? &hy_core_drops[i]
			: &cold->reg->drops[i - HY_CORE_DROPS];
		struct hy_edge_stats *e = edge_entry(&out->drops, &out->nb_drops, i, drop->name);

		if (e == NULL)
			return -ENOMEM;
		e->severity = drop->severity;
		strcpy(e->text, drop->text);
		if (count)
			e->objs += hy_count_read(&node->edges[-1 - (int)i].objs);
	}
	return 0;
}

static void
counters_add(struct hy_node_stats *out, const struct hy_node *node)
{
	const struct hy_image_node *cold = hy_image_node(node);
	const uint64_t calls = hy_count_read(&node->calls), objs = hy_count_read(&node->objs);
	const uint64_t sampled = hy_count_read(&cold->sampled_calls);

	out->calls += calls;
	out->objs += objs;
	out->sampled_calls += sampled;
	out->cycles += scale(hy_count_read(&cold->sampled_cycles), objs,
		hy_count_read(&cold->sampled_objs));
	out->idle_cycles += scale(hy_count_read(&cold->sampled_idle), calls, sampled);
}

static int
node_add(struct hy_stats *stats, const struct hy_image *image, unsigned int rank, bool count)
{
	const struct hy_node *node = &image->hot[rank];
	const struct hy_image_node *cold = hy_image_node(node);
	struct hy_node_stats *out = node_find(stats, node->rank, cold->reg->name);
	int rc;

	if (out == NULL) {
		out = node_new(stats, cold->reg->name, (cold->reg->flags & HY_NODE_SOURCE) != 0);
		if (out == NULL)
			return -ENOMEM;
		strcpy(out->variant, cold->variant);
	} else if (strcmp(out->variant, cold->variant) != 0) {
		strcpy(out->variant, "mixed");
	}
	if (count)
		counters_add(out, node);
	if (count && out->is_source)
		out->budget += hy_budget_read(&image->plan, rank);
	rc = edges_add(out, node, count);
	return rc < 0 ? rc : drops_add(out, node, count);
}

int
hy_stats_add(struct hy_stats *stats, const struct hy_image *image, enum hy_stats_what what)
{
	int rc = 0;

	for (unsigned int r = 0; r < image->plan.nb_nodes && rc == 0; r++)
		rc = node_add(stats, image, r, what == HY_STATS_COUNTERS);
	return rc;
}

/* Adds entries of edges or drops; those that are new are of what the node once had. */
static int
edges_add_history(struct hy_edge_stats **edges, unsigned int *n, const struct hy_edge_stats *old,
	unsigned int nb_old)
{
	for (unsigned int i = 0; i < nb_old; i++) {
		const unsigned int before = *n;
		struct hy_edge_stats *e = edge_entry(edges, n, i, old[i].name);

		if (e == NULL)
			return -ENOMEM;
		if (*n > before) {
			*e = old[i];
			e->gone = true;
		} else {
			e->objs += old[i].objs;
		}
	}
	return 0;
}

int
hy_stats_add_history(struct hy_stats *stats, const struct hy_stats *history)
{
	for (unsigned int i = 0; i < history->nb_nodes; i++) {
		const struct hy_node_stats *old = &history->nodes[i];
		struct hy_node_stats *out = node_find(stats, i, old->name);
		int rc;

		if (out == NULL) {
			out = node_new(stats, old->name, old->is_source);
			if (out == NULL)
				return -ENOMEM;
			strcpy(out->variant, old->variant);
			out->gone = true;
		}
		out->calls += old->calls;
		out->objs += old->objs;
		out->sampled_calls += old->sampled_calls;
		out->cycles += old->cycles;
		out->idle_cycles += old->idle_cycles;
		rc = edges_add_history(&out->edges, &out->nb_edges, old->edges, old->nb_edges);
		if (rc == 0)
			rc = edges_add_history(&out->drops, &out->nb_drops, old->drops,
				old->nb_drops);
		if (rc < 0)
			return rc;
	}
	return 0;
}

int
hy_stats_new(struct hy_stats **stats)
{
	*stats = calloc(1, sizeof(**stats));
	return *stats == NULL ? -ENOMEM : 0;
}

/* What graphs have now comes first: a node of history that none of them has is gone. */
static int
read_locked(const char *pattern, struct hy_stats *stats)
{
	int rc = 0;

	for (struct hy_graph *g = hy_graph_next(NULL); g != NULL && rc == 0; g = hy_graph_next(g)) {
		if (fnmatch(pattern, g->control->name, 0) != 0)
			continue;
		stats->nb_graphs++;
		rc = hy_stats_add(stats, hy_graph_image(g), HY_STATS_COUNTERS);
	}
	for (struct hy_graph *g = hy_graph_next(NULL); g != NULL && rc == 0; g = hy_graph_next(g))
		if (g->control->history != NULL && fnmatch(pattern, g->control->name, 0) == 0)
			rc = hy_stats_add_history(stats, g->control->history);
	return rc == 0 && stats->nb_graphs == 0 ? -ENOENT : rc;
}

int
hy_stats_read(const char *pattern, struct hy_stats **out)
{
	struct hy_stats *stats;
	int rc = hy_stats_new(&stats);

	if (rc < 0)
		return rc;
	hy_registry_lock();
	rc = read_locked(pattern, stats);
	hy_registry_unlock();
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
