/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cluster statistics: calls and objects as the shadows count them, cycles as the core measures
 * them, summed over the graphs that have a node.
 */

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include <hy_stats.h>

#include "compat.h"
#include "lib/graph/internal/log.h"

struct counts {
	uint64_t calls, objs, cycles;
	uint64_t *own; /* of the counters that the node has registered */
};

/* A node of one graph, and its last counts. */
struct cell {
	rte_graph_t graph_index; /* in the cluster */
	rte_node_t node_index;   /* likewise */
	struct counts counts;
};

struct cluster_node {
	struct rte_graph_cluster_node_stats stat; /* its xstat arrays are the cluster's */
	struct counts base;                       /* counts at the last reset() */
};

struct rte_graph_cluster_stats {
	rte_graph_cluster_stats_cb_t fn;
	void *cookie;
	rte_graph_t nb_graphs;
	char (*graphs)[RTE_GRAPH_NAMESIZE];
	rte_node_t nb_nodes;
	struct cluster_node *nodes;
	size_t nb_cells;
	struct cell *cells; /* graph by graph */
};

#define RULE \
	"+--------------------------------+----------------+----------------+------------+" \
	"----------------+----------------+\n"

static void
row_print(FILE *f, const struct rte_graph_cluster_node_stats *s)
{
	const double calls = (double)(s->calls - s->prev_calls);
	const double objs = (double)(s->objs - s->prev_objs);
	const double cycles = (double)(s->cycles - s->prev_cycles);
	const double seconds = s->prev_ts == 0 ? 0 : (double)(s->ts - s->prev_ts) / (double)s->hz;

	fprintf(f, "|%-32s|%16" PRIu64 "|%16" PRIu64 "|%12.3f|%16.6f|%16.4f|\n", s->name, s->calls,
		s->objs, calls > 0 ? objs / calls : 0, seconds > 0 ? objs / seconds / 1e6 : 0,
		calls > 0 ? cycles / calls : 0);
	for (uint8_t i = 0; i < s->xstat_cntrs; i++)
		fprintf(f, "|  %-30s|%16s|%16" PRIu64 "|%12s|%16s|%16s|\n", s->xstat_desc[i], "",
			s->xstat_count[i], "", "", "");
}

/* Prints the table when the program has no callback. */
static int
table_print(bool is_first, bool is_last, void *cookie,
	const struct rte_graph_cluster_node_stats *stats)
{
	FILE *f = cookie;

	if (is_first)
		fprintf(f, RULE "|%-32s|%16s|%16s|%12s|%16s|%16s|\n" RULE, "Node", "calls", "objs",
			"objs/call", "objs/sec(10E6)", "cycles/call");
	if (stats->objs > 0)
		row_print(f, stats);
	if (is_last)
		fputs(RULE, f);
	return 0;
}

/* Fills a new node of the cluster. Returns 0 or -ENOMEM. */
static int
node_fill(struct cluster_node *to, const struct rte_node *node)
{
	const struct compat_node *from = ((const struct shadow *)node)->from;
	const size_t n = from->nb_xstats;

	to->stat.id = node->id;
	to->stat.hz = rte_get_timer_hz();
	strcpy(to->stat.name, node->name);
	if (n == 0)
		return 0;
	to->stat.xstat_desc = calloc(n, sizeof(*to->stat.xstat_desc));
	to->stat.xstat_count = calloc(n, sizeof(uint64_t));
	to->base.own = calloc(n, sizeof(uint64_t));
	if (to->stat.xstat_desc == NULL || to->stat.xstat_count == NULL || to->base.own == NULL)
		return -ENOMEM;
	to->stat.xstat_cntrs = (uint8_t)n;
	memcpy(to->stat.xstat_desc, from->xstat_desc, n * sizeof(*from->xstat_desc));
	return 0;
}

/* Adds a node of a graph, for which there is room. Returns 0 or -ENOMEM. */
static int
cell_add(struct rte_graph_cluster_stats *cluster, const struct rte_node *node)
{
	struct cell *cell = &cluster->cells[cluster->nb_cells++];
	rte_node_t i = 0;

	while (i < cluster->nb_nodes && cluster->nodes[i].stat.id != node->id)
		i++;
	cell->graph_index = cluster->nb_graphs;
	cell->node_index = i;
	if (node->nb_xstats > 0) {
		cell->counts.own = calloc(node->nb_xstats, sizeof(uint64_t));
		if (cell->counts.own == NULL)
			return -ENOMEM;
	}
	return i < cluster->nb_nodes ? 0 : node_fill(&cluster->nodes[cluster->nb_nodes++], node);
}

static bool
matches(const struct rte_graph_cluster_stats_param *prm, const char *name)
{
	for (uint16_t p = 0; p < prm->nb_graph_patterns; p++)
		if (fnmatch(prm->graph_patterns[p], name, 0) == 0)
			return true;
	return false;
}

/* Whether every pattern matches a graph; logs one that does not. */
static bool
patterns_match(const struct rte_graph_cluster_stats_param *prm)
{
	for (uint16_t p = 0; p < prm->nb_graph_patterns; p++) {
		const struct compat_graph *graph = hy_compat_graph_next(NULL);

		while (graph != NULL && fnmatch(prm->graph_patterns[p], graph->pub.name, 0) != 0)
			graph = hy_compat_graph_next(graph);
		if (graph == NULL)
			return HY_REFUSE(false,
				"rte_graph: statistics: pattern '%s' matches no graph",
				prm->graph_patterns[p]);
	}
	return true;
}

/* Adds all matching graphs, for which there is room. Returns 0 or -ENOMEM. */
static int
cluster_fill(struct rte_graph_cluster_stats *cluster,
	const struct rte_graph_cluster_stats_param *prm)
{
	const struct compat_graph *graph = NULL;

	while ((graph = hy_compat_graph_next(graph)) != NULL) {
		if (!matches(prm, graph->pub.name))
			continue;
		strcpy(cluster->graphs[cluster->nb_graphs], graph->pub.name);
		for (rte_node_t i = 0; i < graph->pub.nb_nodes; i++)
			if (cell_add(cluster, graph->pub.nodes[i]) < 0)
				return -ENOMEM;
		cluster->nb_graphs++;
	}
	return 0;
}

static int
cluster_build(struct rte_graph_cluster_stats *cluster,
	const struct rte_graph_cluster_stats_param *prm)
{
	const struct compat_graph *graph = NULL;
	size_t nb_graphs = 0, nb_cells = 0;

	if (!patterns_match(prm))
		return -EFAULT;
	while ((graph = hy_compat_graph_next(graph)) != NULL) {
		nb_graphs++;
		nb_cells += graph->pub.nb_nodes;
	}
	cluster->graphs = calloc(nb_graphs, sizeof(*cluster->graphs));
	cluster->cells = calloc(nb_cells, sizeof(*cluster->cells));
	cluster->nodes = calloc(hy_compat_nodes_count(), sizeof(*cluster->nodes));
	if (cluster->graphs == NULL || cluster->cells == NULL || cluster->nodes == NULL)
		return -ENOMEM;
	return cluster_fill(cluster, prm);
}

struct rte_graph_cluster_stats *
rte_graph_cluster_stats_create(const struct rte_graph_cluster_stats_param *prm)
{
	struct rte_graph_cluster_stats *cluster;
	int rc = -ENOMEM;

	if (prm == NULL || prm->graph_patterns == NULL || prm->nb_graph_patterns == 0) {
		HY_LOG(ERR, "rte_graph: statistics: no pattern is given");
		rte_errno = EINVAL;
		return NULL;
	}
	cluster = calloc(1, sizeof(*cluster));
	if (cluster != NULL) {
		cluster->fn = prm->fn == NULL ? table_print : prm->fn;
		cluster->cookie = prm->cookie;
		hy_compat_lock();
		rc = cluster_build(cluster, prm);
		hy_compat_unlock();
	}
	if (rc == -ENOMEM)
		HY_LOG(ERR, "rte_graph: statistics: not enough memory");
	if (rc < 0) {
		rte_graph_cluster_stats_destroy(cluster);
		rte_errno = -rc;
		return NULL;
	}
	return cluster;
}

void
rte_graph_cluster_stats_destroy(struct rte_graph_cluster_stats *stat)
{
	if (stat == NULL)
		return;
	for (size_t c = 0; c < stat->nb_cells; c++)
		free(stat->cells[c].counts.own);
	for (rte_node_t n = 0; n < stat->nb_nodes; n++) {
		free(stat->nodes[n].stat.xstat_desc);
		free(stat->nodes[n].stat.xstat_count);
		free(stat->nodes[n].base.own);
	}
	free(stat->graphs);
	free(stat->cells);
	free(stat->nodes);
	free(stat);
}

/* Cycles of a node: the core's nodes are tried from where the last one was found. */
static uint64_t
cycles_of(const struct hy_stats *core, const struct rte_node *node, unsigned int *at)
{
	const struct hy_node_stats *found;
	char name[HY_NAME_SIZE];

	hy_compat_core_name(name, node->name, node->id);
	found = hy_stats_find(core, *at, name);
	if (found == NULL)
		return 0;
	*at = (unsigned int)(found - core->nodes) + 1;
	return found->cycles + found->idle_cycles;
}

static uint64_t
count_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* The shadow of a cell's node; NULL if that was freed, and another has its id. */
static struct shadow *
cell_shadow(const struct rte_graph_cluster_stats *cluster, const struct cell *cell,
	const struct compat_graph *graph)
{
	const struct rte_graph_cluster_node_stats *stat = &cluster->nodes[cell->node_index].stat;
	struct shadow *shadow = hy_compat_shadow(graph, stat->id);

	return shadow != NULL && strcmp(shadow->pub.name, stat->name) == 0 &&
			shadow->pub.nb_xstats == stat->xstat_cntrs
		? shadow
		: NULL;
}

/* Reads the cells of one graph, from *cell on. Of a graph that is gone, they stay as they are. */
static void
graph_read(struct rte_graph_cluster_stats *cluster, rte_graph_t g, size_t *cell)
{
	const struct compat_graph *graph = hy_compat_graph_find(cluster->graphs[g]);
	struct hy_stats *core = NULL;
	unsigned int at = 0;

	if (graph != NULL && hy_stats_read(hy_graph_name(graph->pub.core), &core) != 0)
		core = NULL;
	for (; *cell < cluster->nb_cells && cluster->cells[*cell].graph_index == g; ++*cell) {
		struct cell *c = &cluster->cells[*cell];
		struct shadow *shadow = graph == NULL ? NULL : cell_shadow(cluster, c, graph);
		struct rte_node *node;

		if (shadow == NULL)
			continue;
		node = &shadow->pub;
		if (core != NULL)
			node->total_cycles = cycles_of(core, node, &at);
		c->counts.calls = count_read(&node->total_calls);
		c->counts.objs = count_read(&node->total_objs);
		c->counts.cycles = node->total_cycles;
		for (uint16_t i = 0; i < node->nb_xstats; i++)
			c->counts.own[i] = count_read(&node->xstats[i]);
	}
	hy_stats_free(core);
}

/* Starts a sum, less the counts at the last reset. */
static void
sum_begin(struct cluster_node *node)
{
	struct rte_graph_cluster_node_stats *stat = &node->stat;

	stat->ts = rte_get_timer_cycles();
	stat->calls = -node->base.calls;
	stat->objs = -node->base.objs;
	stat->cycles = -node->base.cycles;
	for (uint8_t i = 0; i < stat->xstat_cntrs; i++)
		stat->xstat_count[i] = -node->base.own[i];
}

static void
sum_add(struct rte_graph_cluster_node_stats *stat, const struct counts *counts)
{
	stat->calls += counts->calls;
	stat->objs += counts->objs;
	stat->cycles += counts->cycles;
	for (uint8_t i = 0; i < stat->xstat_cntrs; i++)
		stat->xstat_count[i] += counts->own[i];
}

/* Reads all counters, and sums them up in the nodes' stat, less their base. */
static void
cluster_read(struct rte_graph_cluster_stats *cluster)
{
	size_t cell = 0;

	hy_compat_lock();
	for (rte_graph_t g = 0; g < cluster->nb_graphs; g++)
		graph_read(cluster, g, &cell);
	hy_compat_unlock();
	for (rte_node_t n = 0; n < cluster->nb_nodes; n++)
		sum_begin(&cluster->nodes[n]);
	for (size_t c = 0; c < cluster->nb_cells; c++)
		sum_add(&cluster->nodes[cluster->cells[c].node_index].stat,
			&cluster->cells[c].counts);
}

void
rte_graph_cluster_stats_get(struct rte_graph_cluster_stats *stat, bool skip_cb)
{
	int rc = 0;

	cluster_read(stat);
	for (rte_node_t n = 0; n < stat->nb_nodes && !skip_cb && rc == 0; n++)
		rc = stat->fn(n == 0, n == stat->nb_nodes - 1, stat->cookie, &stat->nodes[n].stat);
	for (rte_node_t n = 0; n < stat->nb_nodes; n++) {
		struct rte_graph_cluster_node_stats *s = &stat->nodes[n].stat;

		s->prev_ts = s->ts;
		s->prev_calls = s->calls;
		s->prev_objs = s->objs;
		s->prev_cycles = s->cycles;
	}
}

static void
node_reset(struct cluster_node *node)
{
	struct rte_graph_cluster_node_stats *stat = &node->stat;

	node->base.calls += stat->calls;
	node->base.objs += stat->objs;
	node->base.cycles += stat->cycles;
	for (uint8_t i = 0; i < stat->xstat_cntrs; i++)
		node->base.own[i] += stat->xstat_count[i];
	stat->prev_ts = stat->ts;
	stat->prev_calls = stat->prev_objs = stat->prev_cycles = 0;
	sum_begin(node);
	sum_add(stat, &node->base);
}

void
rte_graph_cluster_stats_reset(struct rte_graph_cluster_stats *stat)
{
	cluster_read(stat);
	for (rte_node_t n = 0; n < stat->nb_nodes; n++)
		node_reset(&stat->nodes[n]);
}
