/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Readers of statistics over several graphs. A mark is what a graph had counted at some time. A
 * graph is known by its serial: one of the same name that comes after it is another.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>

#include "lib/graph/internal/log.h"
#include "lib/graph/update/control.h"
#include "stats.h"

struct mark {
	uint64_t serial;
	struct hy_stats *stats;
};

struct marks {
	unsigned int n;
	struct mark *of; /* in order of the list of graphs */
};

struct hy_cluster {
	struct hy_patterns graphs;
	struct hy_patterns nodes;
	struct marks zero;
	struct marks visited;
	uint64_t visited_at; /* TSC */
};

static void
marks_free(struct marks *marks)
{
	for (unsigned int i = 0; i < marks->n; i++)
		hy_stats_free(marks->of[i].stats);
	free(marks->of);
	*marks = (struct marks){ 0 };
}

static int
mark_add(struct marks *marks, const struct hy_graph *graph)
{
	struct mark *of = realloc(marks->of, (marks->n + 1) * sizeof(*of));
	int rc;

	if (of == NULL)
		return -ENOMEM;
	marks->of = of;
	rc = hy_stats_of(graph, &of[marks->n].stats);
	if (rc < 0)
		return rc;
	of[marks->n++].serial = graph->control->serial;
	return 0;
}

/* Marks the present of all graphs that match. Wants the registry's lock. */
static int
marks_take(const struct hy_patterns *graphs, struct marks *marks)
{
	int rc = 0;

	*marks = (struct marks){ 0 };
	for (struct hy_graph *g = hy_graph_next(NULL); g != NULL && rc == 0; g = hy_graph_next(g))
		if (hy_patterns_match(graphs, g->control->name))
			rc = mark_add(marks, g);
	if (rc < 0)
		marks_free(marks);
	return rc;
}

static int
present(const struct hy_patterns *graphs, struct marks *now)
{
	int rc;

	hy_registry_lock();
	rc = marks_take(graphs, now);
	hy_registry_unlock();
	return rc == 0 && now->n == 0 ? -ENOENT : rc;
}

/* What a graph had counted then; NULL if it was not there. */
static const struct hy_stats *
marked(const struct marks *marks, uint64_t serial)
{
	for (unsigned int i = 0; i < marks->n; i++)
		if (marks->of[i].serial == serial)
			return marks->of[i].stats;
	return NULL;
}

/* Sums over graphs what each has counted from one time to another. */
static int
sum(const struct hy_cluster *cluster, const struct marks *from, const struct marks *to,
	struct hy_stats **out)
{
	int rc = hy_stats_new(out);

	for (unsigned int i = 0; i < to->n && rc == 0; i++)
		rc = hy_stats_merge(*out, to->of[i].stats, marked(from, to->of[i].serial),
			&cluster->nodes);
	if (rc < 0) {
		hy_stats_free(*out);
		*out = NULL;
		return rc;
	}
	(*out)->nb_graphs = to->n;
	return 0;
}

int
hy_cluster_read(struct hy_cluster *cluster, struct hy_stats **out)
{
	struct hy_stats *stats = NULL;
	struct marks now;
	int rc = present(&cluster->graphs, &now);

	if (rc < 0)
		return rc;
	rc = sum(cluster, &cluster->zero, &now, &stats);
	marks_free(&now);
	if (rc == 0)
		*out = stats;
	return rc;
}

int
hy_stats_read(const char *pattern, struct hy_stats **stats)
{
	struct hy_cluster all = { .graphs = { &pattern, 1 } };

	return hy_cluster_read(&all, stats);
}

int
hy_cluster_reset(struct hy_cluster *cluster)
{
	struct marks zero, visited;
	int rc;

	hy_registry_lock();
	rc = marks_take(&cluster->graphs, &zero);
	if (rc == 0) {
		rc = marks_take(&cluster->graphs, &visited);
		if (rc < 0)
			marks_free(&zero);
	}
	hy_registry_unlock();
	if (rc < 0)
		return rc;
	marks_free(&cluster->zero);
	marks_free(&cluster->visited);
	cluster->zero = zero;
	cluster->visited = visited;
	cluster->visited_at = rte_rdtsc();
	return 0;
}

/* Tells of one node; recent is what it did in so many seconds. */
static struct hy_visit
visit_of(const struct hy_node_stats *node, const struct hy_node_stats *recent, double seconds)
{
	const double calls = (double)recent->calls, objs = (double)recent->objs;

	return (struct hy_visit){
		.node = node,
		.recent = recent,
		.seconds = seconds,
		.calls_per_s = calls / seconds,
		.objs_per_s = objs / seconds,
		.objs_per_call = recent->calls > 0 ? objs / calls : 0,
		.cycles_per_obj = recent->sampled_objs > 0
			? (double)recent->sampled_cycles / (double)recent->sampled_objs
			: 0,
	};
}

static int
visit_all(const struct hy_stats *total, const struct hy_stats *recent, double seconds,
	hy_visit_t *call, void *arg)
{
	int rc = 0;

	/* Both are sums of the same graphs: the nodes are the same, in the same order. */
	for (unsigned int i = 0; i < total->nb_nodes && rc == 0; i++) {
		struct hy_visit visit = visit_of(&total->nodes[i], &recent->nodes[i], seconds);

		visit.first = i == 0;
		visit.last = i + 1 == total->nb_nodes;
		rc = call(&visit, arg);
	}
	return rc;
}

int
hy_cluster_visit(struct hy_cluster *cluster, hy_visit_t *call, void *arg)
{
	struct hy_stats *total = NULL, *recent = NULL;
	struct marks now;
	uint64_t at, ticks;
	int rc = present(&cluster->graphs, &now);

	if (rc < 0)
		return rc;
	at = rte_rdtsc();
	rc = sum(cluster, &cluster->zero, &now, &total);
	if (rc == 0)
		rc = sum(cluster, &cluster->visited, &now, &recent);
	if (rc < 0) {
		marks_free(&now);
		hy_stats_free(total);
		return rc;
	}
	ticks = RTE_MAX(at - cluster->visited_at, UINT64_C(1));
	marks_free(&cluster->visited);
	cluster->visited = now;
	cluster->visited_at = at;
	rc = visit_all(total, recent, (double)ticks / (double)rte_get_tsc_hz(), call, arg);
	hy_stats_free(total);
	hy_stats_free(recent);
	return rc;
}

static int
patterns_copy(struct hy_patterns *copy, const char *const *patterns, unsigned int n)
{
	const char **own = calloc(RTE_MAX(n, 1u), sizeof(*own));

	copy->patterns = own;
	if (own == NULL)
		return -ENOMEM;
	for (; copy->n < n; copy->n++) {
		own[copy->n] = strdup(patterns[copy->n]);
		if (own[copy->n] == NULL)
			return -ENOMEM;
	}
	return 0;
}

static void
patterns_free(struct hy_patterns *patterns)
{
	for (unsigned int i = 0; i < patterns->n; i++)
		free((char *)(uintptr_t)patterns->patterns[i]);
	free((void *)(uintptr_t)patterns->patterns);
}

static int
patterns_check(const char *what, const char *const *patterns, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if (patterns == NULL || patterns[i] == NULL) {
			HY_LOG(ERR, "cluster: pattern %u of %u for %s is missing", i, n, what);
			return -EINVAL;
		}
	}
	return 0;
}

static int
params_check(const struct hy_cluster_params *params)
{
	int rc;

	if (params == NULL || params->nb_graphs == 0) {
		HY_LOG(ERR, "cluster: at least one pattern for graphs is required");
		return -EINVAL;
	}
	rc = patterns_check("graphs", params->graphs, params->nb_graphs);
	return rc < 0 ? rc : patterns_check("nodes", params->nodes, params->nb_nodes);
}

int
hy_cluster_create(const struct hy_cluster_params *params, struct hy_cluster **out)
{
	struct hy_cluster *cluster;
	int rc = params_check(params);

	if (rc < 0)
		return rc;
	cluster = calloc(1, sizeof(*cluster));
	rc = cluster == NULL ? -ENOMEM : 0;
	if (rc == 0)
		rc = patterns_copy(&cluster->graphs, params->graphs, params->nb_graphs);
	if (rc == 0)
		rc = patterns_copy(&cluster->nodes, params->nodes, params->nb_nodes);
	if (rc == 0) {
		rc = present(&cluster->graphs, &cluster->visited);
		rc = rc == -ENOENT ? 0 : rc;
	}
	if (rc < 0) {
		HY_LOG(ERR, "cluster: not enough memory");
		hy_cluster_destroy(cluster);
		return rc;
	}
	cluster->visited_at = rte_rdtsc();
	*out = cluster;
	return 0;
}

void
hy_cluster_destroy(struct hy_cluster *cluster)
{
	if (cluster == NULL)
		return;
	patterns_free(&cluster->graphs);
	patterns_free(&cluster->nodes);
	marks_free(&cluster->zero);
	marks_free(&cluster->visited);
	free(cluster);
}
