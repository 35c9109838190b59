/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The queue of a graph that is bound to an lcore. Bursts lie in memory of their own and go round
 * between two rings: many threads take an empty one, fill it and queue it; the worker empties them,
 * one a walk, as a source of the core would make objects.
 */

/* Rings by the compiler's atomics, whose order ThreadSanitizer knows. */
#define RTE_USE_C11_MEM_MODEL

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_ring.h>

#include "compat.h"
#include "lib/graph/internal/log.h"

struct burst {
	rte_node_t node;
	uint16_t n;
	void *objs[RTE_GRAPH_BURST_SIZE];
};

/* The core's edge to each node of one image, by id; NO_EDGE to those that it does not have. */
struct map {
	unsigned int refs; /* under no lock: atomic */
	rte_node_t n;
	uint16_t edges[];
};

#define NO_EDGE UINT16_MAX

struct queue {
	char name[HY_NAME_SIZE]; /* of the core's node that empties it */
	hy_node_id node;
	struct map *map; /* of the image that was compiled last */
	struct rte_ring *full, *empty;
	struct burst *bursts;
	struct burst *next; /* of the worker: found no room in the last walk */
};

/* Configuration and context of that node. */
struct handoff {
	struct compat_graph *graph;
	struct map *map;
};

static void
map_unref(struct map *map)
{
	if (map != NULL && __atomic_sub_fetch(&map->refs, 1, __ATOMIC_ACQ_REL) == 0)
		free(map);
}

static int
handoff_init(const struct hy_graph *core, struct hy_node *node, const void *config)
{
	struct handoff *handoff = node->ctx;

	if (!hy_compat_compiling)
		return hy_node_refuse(core, node, "belongs to a graph of rte_graph's");
	memcpy(handoff, config, sizeof(*handoff));
	__atomic_fetch_add(&handoff->map->refs, 1, __ATOMIC_RELAXED);
	return 0;
}

static void
handoff_fini(const struct hy_graph *core, struct hy_node *node)
{
	RTE_SET_USED(core);
	map_unref(((struct handoff *)node->ctx)->map);
}

/* Sends a burst into the graph. Returns false if there is no room for it now. */
static bool
burst_send(struct hy_graph *core, struct hy_node *node, void **objs, const struct burst *burst)
{
	const struct handoff *handoff = node->ctx;
	const struct map *map = handoff->map;
	const uint16_t edge = burst->node < map->n ? map->edges[burst->node] : NO_EDGE;

	memcpy(objs, burst->objs, burst->n * sizeof(*objs));
	if (unlikely(edge == NO_EDGE)) {
		hy_count(&node->edges[-1 - HY_CORE_DROP_NODE_REMOVED].objs, burst->n);
		handoff->graph->ops.release(objs, burst->n);
		return true;
	}
	if (unlikely(burst->n > core->plan.stream_cap - node->edges[edge].to->waiting))
		return false;
	hy_stream_move(core, node, edge, burst->n);
	return true;
}

/* Before it takes what others sent, sends what its own graph could not. */
static uint16_t
handoff_process(struct hy_graph *core, struct hy_node *node, void **objs, uint16_t n)
{
	struct compat_graph *graph = ((struct handoff *)node->ctx)->graph;
	struct queue *queue = graph->queue;
	uint16_t made;

	hy_compat_held_send(graph);
	if (n < RTE_GRAPH_BURST_SIZE)
		return 0;
	if (queue->next == NULL && rte_ring_sc_dequeue(queue->full, (void **)&queue->next) != 0)
		return 0;
	made = queue->next->n;
	if (!burst_send(core, node, objs, queue->next))
		return 0;
	rte_ring_sp_enqueue(queue->empty, queue->next);
	queue->next = NULL;
	return made;
}

bool
hy_compat_queue_put(struct compat_graph *to, rte_node_t node, void **objs, uint16_t n)
{
	struct burst *burst;

	if (rte_ring_mc_dequeue(to->queue->empty, (void **)&burst) != 0)
		return false;
	burst->node = node;
	burst->n = n;
	memcpy(burst->objs, objs, n * sizeof(*objs));
	rte_ring_mp_enqueue(to->queue->full, burst);
	return true;
}

static struct rte_ring *
ring_new(uint32_t n, int socket)
{
	const ssize_t size = rte_ring_get_memsize(n);
	struct rte_ring *ring = size < 0
		? NULL
		: rte_zmalloc_socket("hy_compat", (size_t)size, RTE_CACHE_LINE_SIZE, socket);

	if (ring != NULL)
		rte_ring_init(ring, "hy_compat", n, 0);
	return ring;
}

/* As many bursts as librte_graph has, which are eight a node, unless the program wants fewer. */
static uint32_t
bursts_wanted(const struct compat_graph *graph)
{
	const uint32_t n = rte_align32pow2(8 * graph->pub.nb_nodes + 1);

	return graph->queue_max > 0 ? RTE_MIN(n, graph->queue_max) : n;
}

static int
queue_fill(struct compat_graph *graph, struct queue *queue)
{
	const struct hy_node_desc desc = {
		.name = queue->name,
		.impl = {
			.process = handoff_process,
			.init = handoff_init,
			.fini = handoff_fini,
			.ctx_size = sizeof(struct handoff),
		},
		.flags = HY_NODE_SOURCE,
	};
	const uint32_t n = bursts_wanted(graph);
	const int socket = graph->pub.socket;

	queue->full = ring_new(rte_align32pow2(n + 1), socket);
	queue->empty = ring_new(rte_align32pow2(n + 1), socket);
	queue->bursts = rte_zmalloc_socket("hy_compat", n * sizeof(*queue->bursts),
		RTE_CACHE_LINE_SIZE, socket);
	if (queue->full == NULL || queue->empty == NULL || queue->bursts == NULL)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		rte_ring_sp_enqueue(queue->empty, &queue->bursts[i]);
	return hy_node_register(&desc, &queue->node);
}

static void
queue_free(struct queue *queue)
{
	rte_free(queue->full);
	rte_free(queue->empty);
	rte_free(queue->bursts);
	map_unref(queue->map);
	free(queue);
}

int
hy_compat_queue_new(struct compat_graph *graph)
{
	struct queue *queue = calloc(1, sizeof(*queue));
	int rc;

	if (queue == NULL)
		return -ENOMEM;
	snprintf(queue->name, sizeof(queue->name), "rte-queue-%u", graph->pub.id);
	rc = queue_fill(graph, queue);
	if (rc < 0) {
		queue_free(queue);
		return rc;
	}
	hy_registry_own(queue->node, &hy_compat_owner);
	graph->queue = queue;
	return 0;
}

int
hy_compat_queue_lead(struct compat_graph *graph, const struct node_set *set)
{
	struct queue *queue = graph->queue;
	const rte_node_t n = hy_compat_nodes_count();
	struct map *map = malloc(sizeof(*map) + n * sizeof(*map->edges));
	const struct handoff handoff = { graph, map };
	int rc;

	if (map == NULL)
		return -ENOMEM;
	map->refs = 1;
	map->n = n;
	memset(map->edges, 0xff, n * sizeof(*map->edges));
	hy_registry_lock();
	hy_registry_own(queue->node, NULL);
	rc = hy_node_edge_shrink(queue->node, 0);
	for (rte_node_t i = 0; i < set->n && rc == 0; i++) {
		const struct compat_node *to = set->nodes[i];
		char name[HY_NAME_SIZE];

		if ((to->flags & RTE_NODE_SOURCE_F) != 0)
			continue;
		rc = hy_node_name(to->core, name, sizeof(name));
		if (rc == 0)
			rc = hy_node_edge_add(queue->node, name, &map->edges[to->id]);
	}
	if (rc == 0)
		rc = hy_node_config(queue->node, &handoff, sizeof(handoff));
	hy_registry_own(queue->node, &hy_compat_owner);
	hy_registry_unlock();
	if (rc < 0) {
		map_unref(map);
		return rc;
	}
	map_unref(queue->map);
	queue->map = map;
	return 0;
}

const char *
hy_compat_queue_node(const struct compat_graph *graph)
{
	return graph->queue->name;
}

uint64_t
hy_compat_queue_waiting(const struct compat_graph *graph)
{
	const struct queue *queue = graph->queue;
	struct burst *burst = NULL;
	uint64_t waiting;

	if (queue == NULL)
		return 0;
	waiting = queue->next == NULL ? 0 : queue->next->n;
	/* Nobody walks: each burst goes round once. */
	for (unsigned int left = rte_ring_count(queue->full); left > 0; left--) {
		rte_ring_sc_dequeue(queue->full, (void **)&burst);
		waiting += burst->n;
		rte_ring_mp_enqueue(queue->full, burst);
	}
	return waiting;
}

void
hy_compat_queue_free(struct compat_graph *graph)
{
	struct queue *queue = graph->queue;
	struct burst *burst = NULL;

	if (queue == NULL)
		return;
	if (queue->next != NULL)
		graph->ops.release(queue->next->objs, queue->next->n);
	while (rte_ring_sc_dequeue(queue->full, (void **)&burst) == 0)
		graph->ops.release(burst->objs, burst->n);
	hy_registry_own(queue->node, NULL);
	hy_node_unregister(queue->node);
	queue_free(queue);
	graph->queue = NULL;
}
