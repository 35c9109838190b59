/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs: creating, finding, destroying them, and what can be asked of one. */

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include <rte_malloc.h>

#include "graph.h"
#include "image.h"
#include "log.h"

static struct hy_graph *graphs; /* under the registry's lock */

struct hy_graph *
hy_graph_next(const struct hy_graph *graph)
{
	return graph == NULL ? graphs : graph->image->next;
}

static struct hy_graph *
graph_find(const char *name)
{
	struct hy_graph *graph = graphs;

	while (graph != NULL && strcmp(graph->image->name, name) != 0)
		graph = graph->image->next;
	return graph;
}

static int
params_check(const char *name, const struct hy_graph_params *given, struct hy_graph_params *params)
{
	if (!hy_name_valid(name))
		return hy_name_refused("graph", name);
	if (given == NULL || given->nb_patterns == 0 || given->ops == NULL ||
		given->ops->release == NULL) {
		HY_LOG(ERR, "graph '%s': patterns and ops->release are required", name);
		return -EINVAL;
	}
	if (given->burst > HY_BURST_MAX) {
		HY_LOG(ERR, "graph '%s': burst is %u; 1 to %d are accepted, 0 for the default",
			name, given->burst, HY_BURST_MAX);
		return -EINVAL;
	}
	for (unsigned int i = 0; i < given->nb_patterns; i++) {
		if (given->patterns == NULL || given->patterns[i] == NULL) {
			HY_LOG(ERR, "graph '%s': pattern %u of %u is missing", name, i,
				given->nb_patterns);
			return -EINVAL;
		}
	}
	for (unsigned int i = 0; i < HY_LANES_MAX; i++) {
		if (given->lanes[i] != NULL && !hy_name_valid(given->lanes[i]))
			return hy_name_refused("lane", given->lanes[i]);
		for (unsigned int j = 0; j < i; j++) {
			if (given->lanes[i] == NULL || given->lanes[j] == NULL ||
				strcmp(given->lanes[i], given->lanes[j]) != 0)
				continue;
			HY_LOG(ERR, "graph '%s': lane '%s' twice", name, given->lanes[i]);
			return -EINVAL;
		}
	}
	*params = *given;
	if (params->burst == 0)
		params->burst = HY_BURST_DEFAULT;
	if (params->sample_every == 0)
		params->sample_every = 16;
	if (params->max_sweeps == 0)
		params->max_sweeps = 8;
	return 0;
}

/* Calls fini() of the nodes that were initialised, last first, and frees all contexts. */
static void
nodes_fini(struct hy_graph *graph)
{
	struct hy_image *image = graph->image;

	while (image->nb_initialised > 0) {
		const unsigned int r = --image->nb_initialised;

		if (image->nodes[r].impl.fini != NULL)
			image->nodes[r].impl.fini(graph, &graph->nodes[r]);
	}
	for (unsigned int r = 0; r < graph->nb_nodes; r++)
		rte_free(graph->nodes[r].ctx);
}

static int
nodes_init(struct hy_graph *graph)
{
	struct hy_image *image = graph->image;

	for (unsigned int r = 0; r < graph->nb_nodes; r++) {
		const struct hy_image_node *cold = &image->nodes[r];
		struct hy_node *node = &graph->nodes[r];
		int rc = 0;

		if (cold->impl.ctx_size > 0) {
			node->ctx = rte_zmalloc_socket("hy_ctx", cold->impl.ctx_size,
				RTE_CACHE_LINE_SIZE, image->socket);
			if (node->ctx == NULL)
				rc = -ENOMEM;
		}
		if (rc == 0 && cold->impl.init != NULL)
			rc = cold->impl.init(graph, node, cold->reg->config);
		if (rc < 0) {
			HY_LOG(ERR, "graph '%s': node '%s' could not be initialised: %s",
				image->name, cold->reg->name, strerror(-rc));
			nodes_fini(graph);
			return rc;
		}
		image->nb_initialised = r + 1;
	}
	return 0;
}

static int
graph_create_locked(const char *name, const struct hy_graph_params *params, struct hy_graph **out)
{
	struct hy_graph *graph = NULL, **link = &graphs;
	struct hy_topology topo;
	int rc;

	if (hy_registry_failed() != NULL) {
		HY_LOG(ERR, "graph '%s': refused, since '%s' failed to register at load", name,
			hy_registry_failed());
		return -ENOEXEC;
	}
	if (graph_find(name) != NULL) {
		HY_LOG(ERR, "graph '%s': the name is taken", name);
		return -EEXIST;
	}
	rc = hy_topology_build(name, params, &topo);
	if (rc == -ENOMEM)
		HY_LOG(ERR, "graph '%s': not enough memory", name);
	if (rc < 0)
		return rc;
	rc = hy_image_build(name, params, &topo, &graph);
	hy_topology_free(&topo);
	if (rc < 0) {
		HY_LOG(ERR, "graph '%s': not enough memory on socket %d", name, params->socket);
		return rc;
	}
	rc = nodes_init(graph);
	if (rc < 0) {
		hy_image_free(graph);
		return rc;
	}
	for (unsigned int r = 0; r < graph->nb_nodes; r++)
		graph->image->nodes[r].reg->refs++;
	while (*link != NULL)
		link = &(*link)->image->next;
	*link = graph;
	*out = graph;
	return 0;
}

int
hy_graph_create(const char *name, const struct hy_graph_params *given, struct hy_graph **graph)
{
	struct hy_graph_params params;
	int rc = params_check(name, given, &params);

	if (rc < 0)
		return rc;
	hy_registry_lock();
	rc = graph_create_locked(name, &params, graph);
	hy_registry_unlock();
	return rc;
}

void
hy_graph_destroy(struct hy_graph *graph)
{
	struct hy_graph **link = &graphs;

	if (graph == NULL)
		return;
	hy_registry_lock();
	while (*link != graph)
		link = &(*link)->image->next;
	*link = graph->image->next;
	for (unsigned int r = 0; r < graph->nb_nodes; r++) {
		const struct hy_node *node = &graph->nodes[r];

		if (node->waiting > 0)
			graph->ops->release(node->stream, node->waiting);
		graph->image->nodes[r].reg->refs--;
	}
	nodes_fini(graph);
	hy_image_free(graph);
	hy_registry_unlock();
}

int
hy_node_refuse(const struct hy_graph *graph, const struct hy_node *node, const char *format, ...)
{
	char why[HY_TEXT_SIZE];
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, sizeof(why), format, ap);
	va_end(ap);
	HY_LOG(ERR, "graph '%s': node '%s': %s", hy_graph_name(graph),
		hy_graph_node_name(graph, node), why);
	return -EINVAL;
}

int
hy_graph_lookup(const char *name, struct hy_graph **graph)
{
	struct hy_graph *found;

	hy_registry_lock();
	found = graph_find(name);
	hy_registry_unlock();
	if (found == NULL)
		return -ENOENT;
	*graph = found;
	return 0;
}

const char *
hy_graph_name(const struct hy_graph *graph)
{
	return graph->image->name;
}

uint16_t
hy_graph_worker(const struct hy_graph *graph)
{
	return graph->image->worker;
}

int
hy_graph_socket(const struct hy_graph *graph)
{
	return graph->image->socket;
}

uint16_t
hy_graph_burst(const struct hy_graph *graph)
{
	return graph->burst;
}

uint32_t
hy_graph_stream_capacity(const struct hy_graph *graph)
{
	return graph->stream_cap;
}

int
hy_graph_node(struct hy_graph *graph, const char *name, struct hy_node **node)
{
	for (unsigned int r = 0; r < graph->nb_nodes; r++) {
		if (strcmp(graph->image->nodes[r].reg->name, name) == 0) {
			*node = &graph->nodes[r];
			return 0;
		}
	}
	return -ENOENT;
}

const char *
hy_graph_node_name(const struct hy_graph *graph, const struct hy_node *node)
{
	return hy_image_node(graph, node)->reg->name;
}
