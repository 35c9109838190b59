/* SPDX-License-Identifier: BSD-3-Clause */
/* Bursts into a ring and out of it. */

#include <rte_malloc.h>

#include "ring.h"

struct hy_ring *
hy_ring_new(uint32_t objs, unsigned int nb_lanes, int socket)
{
	const uint32_t size = rte_align32pow2(objs);
	const size_t pointers = RTE_ALIGN(sizeof(struct hy_ring) + size * sizeof(void *),
		RTE_CACHE_LINE_SIZE);
	struct hy_ring *ring = rte_zmalloc_socket("hy_ring",
		pointers + (size_t)nb_lanes * size * sizeof(uint32_t), HY_RING_APART, socket);

	if (ring == NULL)
		return NULL;
	ring->size = size;
	ring->nb_lanes = nb_lanes;
	ring->lanes = RTE_PTR_ADD(ring, pointers);
	return ring;
}

/* Both parts of a piece of the ring: n of them from a place on, of which the first may be all. */
static inline uint32_t
before_wrap(const struct hy_ring *ring, uint32_t at, uint32_t n)
{
	return RTE_MIN(n, ring->size - at);
}

void
hy_ring_put(struct hy_ring *ring, const struct hy_graph *graph, const struct hy_node *node,
	void **objs, uint32_t n)
{
	const uint32_t at = ring->tail & (ring->size - 1);
	const uint32_t first = before_wrap(ring, at, n);

	memcpy(&ring->objs[at], objs, first * sizeof(*objs));
	memcpy(ring->objs, objs + first, (n - first) * sizeof(*objs));
	for (unsigned int l = 0; l < ring->nb_lanes; l++) {
		const uint32_t *lane = hy_lane(graph, node, l);

		memcpy(hy_ring_lane(ring, l) + at, lane, first * sizeof(*lane));
		memcpy(hy_ring_lane(ring, l), lane + first, (n - first) * sizeof(*lane));
	}
	hy_ring_publish(ring, n);
}

uint32_t
hy_ring_take(struct hy_ring *ring, const struct hy_graph *graph, const struct hy_node *source,
	void **objs, uint32_t from, uint32_t n)
{
	const uint32_t at = ring->head & (ring->size - 1);
	uint32_t first;

	n = RTE_MIN(n, hy_ring_count(ring, n));
	if (n == 0)
		return 0;
	first = before_wrap(ring, at, n);
	memcpy(objs + from, &ring->objs[at], first * sizeof(*objs));
	memcpy(objs + from + first, ring->objs, (n - first) * sizeof(*objs));
	for (unsigned int l = 0; l < ring->nb_lanes; l++) {
		uint32_t *lane = hy_lane(graph, source, l) + from;

		memcpy(lane, hy_ring_lane(ring, l) + at, first * sizeof(*lane));
		memcpy(lane + first, hy_ring_lane(ring, l), (n - first) * sizeof(*lane));
	}
	__atomic_store_n(&ring->head, ring->head + n, __ATOMIC_RELEASE);
	return n;
}

uint32_t
hy_ring_release(struct hy_ring *ring, const struct hy_object_ops *ops)
{
	const uint32_t n = ring->tail - ring->head;

	for (; ring->head != ring->tail; ring->head++)
		ops->release(&ring->objs[ring->head & (ring->size - 1)], 1);
	return n;
}
