/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs: creating, finding, destroying them, and what can be asked of one. */

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include <rte_eal.h>
#include <rte_malloc.h>

#include "control.h"
#include "lib/graph/common/memory.h"
#include "lib/graph/internal/log.h"
#include "lib/graph/observe/trace.h"
#include "lib/graph/registry/params.h"
#include "lib/graph/share/share.h"
#include "qsbr.h"

/* Under the registry's lock. */
static struct hy_graph *graphs;

struct hy_graph *
hy_graph_next(const struct hy_graph *graph)
{
	return graph == NULL ? graphs : graph->control->next;
}

static struct hy_graph *
graph_find(const char *name)
{
	struct hy_graph *graph = graphs;

	while (graph != NULL && strcmp(graph->control->name, name) != 0)
		graph = graph->control->next;
	return graph;
}

static void
graph_free(struct hy_graph *graph)
{
	hy_stats_free(graph->control->history);
	hy_trace_free(graph->control->trace);
	rte_free(graph->control->capture);
	hy_params_free(&graph->control->params);
	rte_free(graph->control);
	hy_memory_free("hy_graph", graph);
}

static struct hy_graph *
graph_alloc(const char *name, const struct hy_graph_params *params)
{
	struct hy_graph *graph = hy_memory_zalloc("hy_graph", sizeof(*graph), params->socket);
	struct hy_control *control = rte_zmalloc_socket("hy_control", sizeof(*control), 0,
		params->socket);

	if (graph == NULL || control == NULL || hy_params_copy(&control->params, params) < 0) {
		hy_memory_free("hy_graph", graph);
		rte_free(control);
		return NULL;
	}
	strcpy(control->name, name);
	control->changing = true;
	control->worker = params->worker;
	control->socket = params->socket;
	graph->control = control;
	return graph;
}

/* Whether another graph has the name, or reports to the QSBR variable as the same reader. */
static int
taken_check(const char *name, const struct hy_graph_params *params)
{
	if (graph_find(name) == NULL)
		return hy_qsbr_check(name, params);
	return HY_REFUSE(-EEXIST, "graph '%s': the name is taken", name);
}

static int
graph_create_locked(const struct hy_reg_owner *owner, const char *name,
	const struct hy_graph_params *params, struct hy_graph **out)
{
	struct hy_graph *graph, **link = &graphs;
	struct hy_control *control;
	int rc = taken_check(name, params);

	if (rc < 0)
		return rc;
	graph = graph_alloc(name, params);
	if (graph == NULL)
		return HY_REFUSE(-ENOMEM, "graph '%s': not enough memory on socket %d", name,
			params->socket);
	control = graph->control;
	control->owner = owner;
	rc = hy_graph_compile(graph, &control->params, &control->current);
	if (rc == 0) {
		rc = taken_check(name, params); /* an init() may have created graphs */
		if (rc < 0)
			hy_graph_discard(graph, control->current);
	}
	if (rc < 0) {
		graph_free(graph);
		return rc;
	}
	hy_graph_announce(graph, control->current);
	graph->image = control->current;
	graph->plan = graph->image->plan;
	hy_graph_append_cap(graph);
	graph->sample_left = 1; /* the first walk is timed, so that no figure is ever a guess */
	hy_qsbr_join(graph);
	while (*link != NULL)
		link = &(*link)->control->next;
	*link = graph;
	control->changing = false;
	hy_share_publish(graph);
	*out = graph;
	return 0;
}

int
hy_graph_create_as(const struct hy_reg_owner *owner, const char *name,
	const struct hy_graph_params *params, struct hy_graph **graph)
{
	int rc;

	if (!hy_name_valid(name))
		return hy_name_refused("graph", name);
	if (rte_eal_process_type() == RTE_PROC_SECONDARY)
		return HY_REFUSE(-EPERM,
			"graph '%s': refused in a secondary process, which may only look at the "
			"primary's (hy_share.h)",
			name);
	rc = hy_params_check(name, params);
	if (rc < 0)
		return rc;
	hy_registry_lock();
	rc = graph_create_locked(owner, name, params, graph);
	hy_registry_unlock();
	return rc;
}

int
hy_graph_create(const char *name, const struct hy_graph_params *params, struct hy_graph **graph)
{
	return hy_graph_create_as(NULL, name, params, graph);
}

int
hy_graph_owner_check(const struct hy_graph *graph, const char *what)
{
	const struct hy_reg_owner *owner = graph->control->owner;

	if (owner == NULL)
		return 0;
	return HY_REFUSE(-EPERM, "graph '%s': %s refused: the graph belongs to %s",
		graph->control->name, what, owner->name);
}

int
hy_graph_busy_check(const struct hy_graph *graph, const char *what)
{
	if (!graph->control->changing)
		return 0;
	return HY_REFUSE(-EBUSY,
		"graph '%s': %s refused: called in the middle of a change of the graph, such as by "
		"a node's init() or fini()",
		graph->control->name, what);
}

int
hy_graph_destroy_check(const struct hy_graph *graph)
{
	const char *what = "hy_graph_destroy()";

	return hy_graph_inside == graph ? hy_graph_inside_check(what)
					: hy_graph_busy_check(graph, what);
}

int
hy_graph_clone(const struct hy_graph *graph, const char *name, uint16_t worker, int socket,
	struct hy_graph **clone)
{
	struct hy_graph_params params;
	int rc;

	hy_registry_lock();
	rc = hy_graph_owner_check(graph, "hy_graph_clone()");
	params = graph->control->params;
	params.worker = worker;
	params.socket = socket;
	if (rc == 0)
		rc = hy_graph_create(name, &params, clone);
	hy_registry_unlock();
	return rc;
}

void
hy_graph_params_get(const struct hy_graph *graph, struct hy_graph_params *params)
{
	hy_registry_lock();
	*params = graph->control->params;
	hy_registry_unlock();
}

static void
destroy_locked(struct hy_graph *graph)
{
	struct hy_graph **link = &graphs;
	struct hy_image *image;

	graph->control->changing = graph->control->leaving = true;
	while (*link != graph)
		link = &(*link)->control->next;
	*link = graph->control->next;
	/* Before any fini(): it may take a lock that a writer holds while it waits for this graph, and
	 * create another graph of this one's name, which is free now. */
	hy_qsbr_leave(graph);
	hy_share_forget(graph);
	hy_graph_catch_up(graph);
	image = graph->image;
	if (graph->next != NULL)
		hy_graph_discard(graph, graph->next);
	for (unsigned int r = 0; r < image->plan.nb_nodes; r++) {
		const struct hy_node *node = &image->hot[r];

		if (node->waiting > 0)
			image->plan.ops->release(node->stream, node->waiting);
	}
	hy_graph_discard(graph, image);
	graph_free(graph);
}

int
hy_graph_destroy_as(const struct hy_reg_owner *owner, struct hy_graph *graph)
{
	int rc = 0;

	if (graph == NULL)
		return 0;
	hy_registry_lock();
	if (graph->control->owner != owner)
		rc = hy_graph_owner_check(graph, "hy_graph_destroy()");
	if (rc == 0)
		rc = hy_graph_destroy_check(graph);
	if (rc == 0)
		destroy_locked(graph);
	hy_registry_unlock();
	return rc;
}

int
hy_graph_destroy(struct hy_graph *graph)
{
	return hy_graph_destroy_as(NULL, graph);
}

int
hy_node_refuse(const struct hy_graph *graph, const struct hy_node *node, const char *format, ...)
{
	char why[HY_TEXT_SIZE];
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, sizeof(why), format, ap);
	va_end(ap);
	return HY_REFUSE(-EINVAL, "graph '%s': node '%s': %s", hy_graph_name(graph),
		hy_graph_node_name(graph, node), why);
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
	return graph->control->name;
}

uint16_t
hy_graph_worker(const struct hy_graph *graph)
{
	return graph->control->worker;
}

int
hy_graph_socket(const struct hy_graph *graph)
{
	return graph->control->socket;
}

uint16_t
hy_graph_burst(const struct hy_graph *graph)
{
	const struct hy_image *image = hy_graph_compiling(graph);

	return image != NULL ? image->plan.burst
			     : __atomic_load_n(&graph->control->burst, __ATOMIC_RELAXED);
}

uint32_t
hy_graph_stream_capacity(const struct hy_graph *graph)
{
	const struct hy_image *image = hy_graph_compiling(graph);

	return image != NULL ? image->plan.stream_cap
			     : __atomic_load_n(&graph->control->stream_cap, __ATOMIC_RELAXED);
}

unsigned int
hy_graph_node_count(const struct hy_graph *graph)
{
	const struct hy_image *image;
	unsigned int n;

	hy_registry_lock();
	image = hy_graph_image(graph);
	n = image == NULL ? 0 : image->plan.nb_nodes; /* none while init() of the first one runs */
	hy_registry_unlock();
	return n;
}

int
hy_graph_node_at(struct hy_graph *graph, unsigned int rank, struct hy_node **node)
{
	struct hy_image *image;
	int rc = -ENOENT;

	hy_registry_lock();
	image = hy_graph_image(graph);
	if (image != NULL && rank < image->plan.nb_nodes) {
		*node = &image->hot[rank];
		rc = 0;
	}
	hy_registry_unlock();
	return rc;
}

int
hy_graph_node(struct hy_graph *graph, const char *name, struct hy_node **node)
{
	struct hy_image *image;
	int rc = -ENOENT;

	hy_registry_lock();
	image = hy_graph_image(graph);
	for (unsigned int r = 0; image != NULL && r < image->plan.nb_nodes && rc < 0; r++) {
		if (strcmp(image->nodes[r].reg->name, name) == 0) {
			*node = &image->hot[r];
			rc = 0;
		}
	}
	hy_registry_unlock();
	return rc;
}

/* Sets a budget in an image, and returns whether it has the source. The burst of the image that is
 * walked may be less than that of the published one. */
static bool
budget_set(struct hy_image *image, const struct hy_reg_node *source, uint16_t objs)
{
	for (unsigned int s = 0; s < image->plan.nb_sources; s++) {
		if (image->nodes[s].reg != source)
			continue;
		__atomic_store_n(&image->plan.budgets[s], RTE_MIN(objs, image->plan.burst),
			__ATOMIC_RELAXED);
		return true;
	}
	return false;
}

int
hy_graph_source_budget(struct hy_graph *graph, const char *source, uint16_t objs)
{
	const struct hy_control *control = graph->control;
	const struct hy_reg_node *node;
	int rc;

	hy_registry_lock();
	node = hy_registry_find(source);
	rc = hy_graph_busy_check(graph, "hy_graph_source_budget()");
	if (rc < 0) {
		/* It would be lost with the current image. */
	} else if (objs == 0 || objs > control->burst) {
		rc = HY_REFUSE(-EINVAL,
			"graph '%s': source '%s': budget is %u; 1 to %u are accepted",
			control->name, source, objs, control->burst);
	} else if (node != NULL && (node->flags & HY_NODE_SOURCE) == 0) {
		rc = HY_REFUSE(-EINVAL,
			"graph '%s': node '%s' is no source; only those have a budget",
			control->name, source);
	} else {
		bool found = false;

		/* In the image that is walked, and in those published. */
		for (struct hy_image *i = hy_graph_image(graph); i != NULL; i = i->successor)
			found |= budget_set(i, node, objs);
		if (!found)
			rc = HY_REFUSE(-ENOENT, "graph '%s': there is no node '%s'", control->name,
				source);
	}
	hy_registry_unlock();
	return rc;
}

const char *
hy_graph_node_name(const struct hy_graph *graph __rte_unused, const struct hy_node *node)
{
	return hy_image_node(node)->reg->name;
}

const char *
hy_graph_node_variant(const struct hy_graph *graph __rte_unused, const struct hy_node *node)
{
	return hy_image_node(node)->impl.variant;
}

uint32_t
hy_graph_node_flags(const struct hy_graph *graph __rte_unused, const struct hy_node *node)
{
	return hy_image_node(node)->reg->flags;
}

uint16_t
hy_graph_edge_count(const struct hy_graph *graph __rte_unused, const struct hy_node *node)
{
	return hy_image_node(node)->nb_edges;
}
