/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums of counters, by the names of nodes and of their counters. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/graph/update/control.h"
#include "stats.h"

/* Extrapolates a measurement of a part to the whole. */
static uint64_t
scale(uint64_t measured, uint64_t whole, uint64_t part)
{
	return part == 0 ? 0 : (uint64_t)((double)measured * (double)whole / (double)part);
}

/* The index of a name, searched from the hint on; n if not found. */
static unsigned int
entry_find(const struct hy_edge_stats *entries, unsigned int n, unsigned int hint, const char *name)
{
	unsigned int i = hint;

	if (i < n && strcmp(entries[i].name, name) == 0)
		return i;
	for (i = 0; i < n && strcmp(entries[i].name, name) != 0; i++)
		;
	return i;
}

/* The entry of a name, created if missing; NULL without memory. */
static struct hy_edge_stats *
entry_get(struct hy_edge_stats **entries, unsigned int *n, unsigned int hint, const char *name)
{
	const unsigned int i = entry_find(*entries, *n, hint, name);
	struct hy_edge_stats *e;

	if (i < *n)
		return &(*entries)[i];
	e = realloc(*entries, (*n + 1) * sizeof(*e));
	if (e == NULL)
		return NULL;
	*entries = e;
	e = &e[(*n)++];
	memset(e, 0, sizeof(*e));
	strcpy(e->name, name);
	return e;
}

struct hy_node_stats *
hy_stats_find(const struct hy_stats *stats, unsigned int hint, const char *name)
{
	for (unsigned int n = 0, i = hint; n < stats->nb_nodes; n++, i++) {
		if (i >= stats->nb_nodes)
			i = 0;
		if (strcmp(stats->nodes[i].name, name) == 0)
			return &stats->nodes[i];
	}
	return NULL;
}

/* Creates an entry: a source after the other sources, any other node at the end. */
static struct hy_node_stats *
node_new(struct hy_stats *stats, const char *name, bool is_source, bool replicates)
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
	out->replicates = replicates;
	return out;
}

static int
edges_add(struct hy_node_stats *out, const struct hy_node *node, bool count)
{
	const struct hy_image_node *cold = hy_image_node(node);

	for (unsigned int i = 0; i < cold->nb_edges; i++) {
		const struct hy_edge *edge = &node->edges[i];
		struct hy_edge_stats *e = entry_get(&out->edges, &out->nb_edges, i,
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
		const struct hy_counter *drop = hy_image_drop(cold, i);
		struct hy_edge_stats *e = entry_get(&out->drops, &out->nb_drops, i, drop->name);

		if (e == NULL)
			return -ENOMEM;
		e->severity = drop->severity;
		strcpy(e->text, drop->text);
		if (count)
			e->objs += hy_count_read(&node->edges[-1 - (int)i].objs);
	}
	return 0;
}

static int
counters_add(struct hy_node_stats *out, const struct hy_node *node, bool count)
{
	const struct hy_image_node *cold = hy_image_node(node);

	for (unsigned int i = 0; i < cold->reg->nb_counters; i++) {
		const struct hy_counter *counter = &cold->reg->counters[i];
		struct hy_edge_stats *e = entry_get(&out->counters, &out->nb_counters, i,
			counter->name);

		if (e == NULL)
			return -ENOMEM;
		e->severity = counter->severity;
		strcpy(e->unit, counter->unit);
		strcpy(e->text, counter->text);
		if (count)
			e->value += hy_count_read(&node->edges[HY_COUNTER_SLOT(i)].objs);
	}
	return 0;
}

static void
calls_add(struct hy_node_stats *out, const struct hy_node *node)
{
	const struct hy_image_node *cold = hy_image_node(node);

	for (unsigned int b = 0; b < HY_BURST_BUCKETS; b++) {
		const uint64_t calls = hy_count_read(&cold->bursts[b]);

		out->bursts[b] += calls;
		out->sampled_calls += calls;
	}
	out->sampled_objs += hy_count_read(&cold->sampled_objs);
	out->sampled_cycles += hy_count_read(&cold->sampled_cycles);
	out->sampled_idle_cycles += hy_count_read(&cold->sampled_idle);
	out->calls += hy_count_read(&node->calls);
	out->objs += hy_count_read(&node->objs);
}

static int
node_add(struct hy_stats *stats, const struct hy_node *node, bool count)
{
	const struct hy_image_node *cold = hy_image_node(node);
	struct hy_node_stats *out = hy_stats_find(stats, node->rank, cold->reg->name);
	int rc;

	if (out == NULL) {
		out = node_new(stats, cold->reg->name, (cold->reg->flags & HY_NODE_SOURCE) != 0,
			node->replicates > 1);
		if (out == NULL)
			return -ENOMEM;
		strcpy(out->variant, cold->variant);
	} else if (strcmp(out->variant, cold->variant) != 0) {
		strcpy(out->variant, "mixed");
	}
	if (count)
		calls_add(out, node);
	rc = edges_add(out, node, count);
	if (rc == 0)
		rc = drops_add(out, node, count);
	return rc < 0 ? rc : counters_add(out, node, count);
}

int
hy_stats_add(struct hy_stats *stats, const struct hy_image *image, enum hy_stats_what what)
{
	int rc = 0;

	for (unsigned int r = 0; r < image->plan.nb_nodes && rc == 0; r++)
		rc = node_add(stats, &image->hot[r], what == HY_STATS_COUNTERS);
	return rc;
}

static void
entries_bury(struct hy_edge_stats *entries, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		entries[i].gone = true;
}

void
hy_stats_bury(struct hy_stats *stats)
{
	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		struct hy_node_stats *node = &stats->nodes[i];

		node->gone = true;
		entries_bury(node->edges, node->nb_edges);
		entries_bury(node->drops, node->nb_drops);
		entries_bury(node->counters, node->nb_counters);
	}
}

static int
entries_merge(struct hy_edge_stats **entries, unsigned int *n, const struct hy_edge_stats *from,
	unsigned int nb_from)
{
	for (unsigned int i = 0; i < nb_from; i++) {
		const unsigned int before = *n;
		struct hy_edge_stats *e = entry_get(entries, n, i, from[i].name);

		if (e == NULL)
			return -ENOMEM;
		if (*n > before) {
			*e = from[i];
			continue;
		}
		e->gone &= from[i].gone;
		e->objs += from[i].objs;
		e->value += from[i].value;
	}
	return 0;
}

static void
calls_merge(struct hy_node_stats *out, const struct hy_node_stats *from)
{
	out->calls += from->calls;
	out->objs += from->objs;
	out->cycles += scale(from->sampled_cycles, from->objs, from->sampled_objs);
	out->idle_cycles += scale(from->sampled_idle_cycles, from->calls, from->sampled_calls);
	out->sampled_calls += from->sampled_calls;
	out->sampled_objs += from->sampled_objs;
	out->sampled_cycles += from->sampled_cycles;
	out->sampled_idle_cycles += from->sampled_idle_cycles;
	for (unsigned int b = 0; b < HY_BURST_BUCKETS; b++)
		out->bursts[b] += from->bursts[b];
}

static int
node_merge(struct hy_stats *stats, unsigned int hint, const struct hy_node_stats *from)
{
	struct hy_node_stats *out = hy_stats_find(stats, hint, from->name);
	int rc;

	if (out == NULL) {
		out = node_new(stats, from->name, from->is_source, from->replicates);
		if (out == NULL)
			return -ENOMEM;
		strcpy(out->variant, from->variant);
		out->gone = from->gone;
	}
	/* A graph that has the node takes precedence over one that once had it. */
	if (out->gone && !from->gone)
		strcpy(out->variant, from->variant);
	else if (out->gone == from->gone && strcmp(out->variant, from->variant) != 0)
		strcpy(out->variant, "mixed");
	out->gone &= from->gone;
	calls_merge(out, from);
	out->budget += from->budget;
	rc = entries_merge(&out->edges, &out->nb_edges, from->edges, from->nb_edges);
	if (rc == 0)
		rc = entries_merge(&out->drops, &out->nb_drops, from->drops, from->nb_drops);
	if (rc == 0)
		rc = entries_merge(&out->counters, &out->nb_counters, from->counters,
			from->nb_counters);
	return rc;
}

int
hy_stats_merge(struct hy_stats *stats, const struct hy_stats *from)
{
	int rc = 0;

	for (unsigned int i = 0; i < from->nb_nodes && rc == 0; i++)
		rc = node_merge(stats, i, &from->nodes[i]);
	return rc;
}

int
hy_stats_new(struct hy_stats **stats)
{
	*stats = calloc(1, sizeof(**stats));
	return *stats == NULL ? -ENOMEM : 0;
}

int
hy_stats_of(const struct hy_graph *graph, struct hy_stats **out)
{
	/* First: it may add to the history. */
	const struct hy_image *image = hy_graph_image(graph);

	return hy_stats_of_image(graph, image, out);
}

int
hy_stats_of_image(const struct hy_graph *graph, const struct hy_image *image, struct hy_stats **out)
{
	const struct hy_stats *history = graph->control->history;
	struct hy_stats *stats;
	int rc = graph->control->behind ? -ENOMEM : hy_stats_new(&stats);

	if (rc < 0)
		return rc;
	rc = hy_stats_add(stats, image, HY_STATS_COUNTERS);
	/* Current budgets alone: history has none. */
	for (unsigned int s = 0; s < image->plan.nb_sources && rc == 0; s++)
		hy_stats_find(stats, s, image->nodes[s].reg->name)->budget +=
			hy_budget_read(&image->plan, s);
	if (rc == 0 && history != NULL)
		rc = hy_stats_merge(stats, history);
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
		free(stats->nodes[i].counters);
	}
	free(stats->nodes);
	free(stats);
}
