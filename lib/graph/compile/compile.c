/* SPDX-License-Identifier: BSD-3-Clause */
/* From the registry to an image whose nodes are initialised, and back. */

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include "fuse.h"
#include "lib/graph/internal/log.h"
#include "lib/graph/update/control.h"

/* Calls fini() of the nodes whose contexts are the image's own, last first, and frees these. */
static void
nodes_fini(const struct hy_graph *graph, struct hy_image *image)
{
	for (unsigned int r = image->plan.nb_nodes; r-- > 0;) {
		struct hy_image_node *cold = &image->nodes[r];

		if (cold->initialised && cold->impl.fini != NULL)
			cold->impl.fini(graph, &image->hot[r]);
	}
	for (unsigned int r = 0; r < image->plan.nb_nodes; r++)
		if (!image->nodes[r].inherits)
			rte_free(image->hot[r].ctx);
}

/* Of this thread: init() sees the new properties of its graph. */
struct scope {
	const struct hy_graph *graph;
	const struct hy_image *image;
};
static _Thread_local struct scope compiling;

const struct hy_image *
hy_graph_compiling(const struct hy_graph *graph)
{
	return compiling.graph == graph ? compiling.image : NULL;
}

void
hy_graph_announce(const struct hy_graph *graph, const struct hy_image *image)
{
	struct hy_control *control = graph->control;

	__atomic_store_n(&control->burst, image->plan.burst, __ATOMIC_RELAXED);
	__atomic_store_n(&control->stream_cap, image->plan.stream_cap, __ATOMIC_RELAXED);
}

static int
node_init(const struct hy_graph *graph, struct hy_image *image, unsigned int rank)
{
	struct hy_image_node *cold = &image->nodes[rank];
	struct hy_node *node = &image->hot[rank];
	int rc = 0;

	if (cold->impl.ctx_size > 0) {
		node->ctx = rte_zmalloc_socket("hy_ctx", cold->impl.ctx_size, RTE_CACHE_LINE_SIZE,
			graph->control->socket);
		if (node->ctx == NULL)
			rc = -ENOMEM;
	}
	if (rc == 0 && cold->impl.init != NULL)
		rc = cold->impl.init(graph, node, cold->reg->config);
	if (rc < 0)
		HY_LOG(ERR, "graph '%s': node '%s' could not be initialised: %s",
			graph->control->name, cold->reg->name, strerror(-rc));
	else
		cold->initialised = true;
	return rc;
}

static int
nodes_init(const struct hy_graph *graph, struct hy_image *image)
{
	const struct scope outer = compiling; /* an init() may create graphs */
	int rc = 0;

	compiling = (struct scope){ graph, image };
	for (unsigned int r = 0; r < image->plan.nb_nodes && rc == 0; r++)
		if (!image->nodes[r].inherits)
			rc = node_init(graph, image, r);
	if (rc < 0)
		nodes_fini(graph, image);
	compiling = outer;
	return rc;
}

/* Room that an image needs for all objects that may wait in its predecessor. */
static uint32_t
room_wanted(const struct hy_image *before)
{
	if (before == NULL)
		return 0;
	if (__atomic_load_n(&before->carries, __ATOMIC_RELAXED))
		return before->plan.stream_cap;
	return before->holds ? before->stream_cap : 0;
}

/* Builds a topology, unless a node that may belong to it failed to register. */
static int
topology_build(const char *name, const struct hy_graph_params *params, struct hy_topology *topo)
{
	if (hy_registry_failed() != NULL)
		return HY_REFUSE(-ENOEXEC,
			"graph '%s': refused, since '%s' failed to register at load", name,
			hy_registry_failed());
	return hy_topology_build(name, params, topo);
}

static int
memory_checked(const char *name, const struct hy_graph_params *params, int rc)
{
	if (rc == -ENOMEM)
		HY_LOG(ERR, "graph '%s': not enough memory on socket %d", name, params->socket);
	return rc;
}

int
hy_graph_outline(const char *name, const struct hy_graph_params *params, struct hy_image **image)
{
	struct hy_topology topo;
	int rc = topology_build(name, params, &topo);

	if (rc == 0) {
		rc = hy_image_outline(params, &topo, 0, image);
		hy_topology_free(&topo);
	}
	return memory_checked(name, params, rc);
}

static void
image_release(struct hy_image *image)
{
	for (unsigned int r = 0; r < image->plan.nb_nodes; r++)
		image->nodes[r].reg->refs--;
	hy_image_free(image);
}

int
hy_graph_compile(const struct hy_graph *graph, const struct hy_graph_params *params,
	struct hy_image **out)
{
	const struct hy_control *control = graph->control;
	const struct hy_image *earlier = hy_graph_before_published(graph);
	const struct hy_image *before = earlier == NULL ? control->current : control->published;
	struct hy_image *image = NULL;
	struct hy_topology topo;
	int rc;

	rc = topology_build(control->name, params, &topo);
	if (rc == 0) {
		rc = hy_image_build(params, &topo,
			RTE_MAX(room_wanted(before), room_wanted(earlier)), &image);
		hy_topology_free(&topo);
	}
	if (memory_checked(control->name, params, rc) < 0)
		return rc;
	if (before != NULL) {
		hy_image_follow(image, before, earlier);
		hy_image_budgets(image, before);
	}
	for (unsigned int r = 0; r < image->plan.nb_nodes; r++)
		image->nodes[r].reg->refs++; /* before an init() can unregister one */
	rc = nodes_init(graph, image);
	if (rc < 0) {
		image_release(image);
		return rc;
	}
	if (!params->apart)
		hy_image_fuse(image);
	*out = image;
	return 0;
}

void
hy_graph_discard(const struct hy_graph *graph, struct hy_image *image)
{
	nodes_fini(graph, image);
	image_release(image);
}
