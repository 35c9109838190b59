/* SPDX-License-Identifier: BSD-3-Clause */
/* Bursts into a ring and out of it. */

#include <rte_malloc.h>
#include <rte_prefetch.h>

#include "dispatch.h"
#include "ring.h"

/* How far ahead of its tail the producer claims lines, as a part of the ring. */
#define CLAIM_PART 8
/* How many places the consumer frees at once, likewise. */
#define FREE_PART 4

struct hy_ring *
hy_ring_new(const struct hy_dispatch *dispatch, int socket)
{
	const uint32_t size = rte_align32pow2(dispatch->ring_objs);
	const size_t whole = RTE_ALIGN(sizeof(struct hy_ring) + size * sizeof(uint32_t),
		RTE_CACHE_LINE_SIZE);
	size_t bytes = RTE_ALIGN(whole + size * sizeof(void *), RTE_CACHE_LINE_SIZE);
	struct hy_ring shape = { .size = size,
		.nb_lanes = dispatch->nb_lanes,
		.nb_all = dispatch->nb_lanes + dispatch->nb_wide };
	struct hy_ring *ring;
	size_t at = bytes;

	for (unsigned int l = 0; l < shape.nb_all; l++) {
		shape.bytes[l] = l < shape.nb_lanes ? sizeof(uint32_t)
						    : dispatch->wide[l - shape.nb_lanes].bytes;
		bytes += (size_t)size * shape.bytes[l];
	}
	ring = rte_zmalloc_socket("hy_ring", bytes, HY_RING_APART, socket);
	if (ring == NULL)
		return NULL;
	*ring = shape;
	ring->whole = RTE_PTR_ADD(ring, whole);
	ring->strayed = true;
	for (unsigned int l = 0; l < ring->nb_all; l++) {
		ring->lanes[l] = RTE_PTR_ADD(ring, at);
		at += (size_t)size * ring->bytes[l];
	}
	return ring;
}

/* Both parts of a piece of the ring: n of them from a place on, of which the first may be all. */
static inline uint32_t
before_wrap(const struct hy_ring *ring, uint32_t at, uint32_t n)
{
	return RTE_MIN(n, ring->size - at);
}

/* Prefetches a line for reading or writing. */
static __rte_always_inline void
line_fetch(const void *line, bool to_write)
{
	if (!to_write) {
		rte_prefetch0(line);
		return;
	}
#ifdef RTE_ARCH_X86_64
	/*
	 * Compilers know of it only with -mprfchw, and take a prefetch for reading instead, which is
	 * of no use. Every 64-bit CPU has it, if only as an instruction that does nothing.
	 */
	asm volatile("prefetchw %0" : : "m"(*(const char *)line));
#else
	__builtin_prefetch(line, 1);
#endif
}

/* Asks for the lines of n objects and of their lanes. */
static __rte_always_inline void
lines_fetch(const struct hy_ring *ring, uint32_t from, uint32_t n, bool to_write)
{
	const uint32_t mask = ring->size - 1;

	for (uint32_t i = 0; i < n; i += RTE_CACHE_LINE_SIZE / sizeof(ring->near[0]))
		line_fetch(&ring->near[(from + i) & mask], to_write);
	for (unsigned int l = 0; l < ring->nb_all; l++)
		for (uint32_t at = 0; at < n * ring->bytes[l]; at += RTE_CACHE_LINE_SIZE)
			line_fetch(ring->lanes[l] +
					((from * ring->bytes[l] + at) &
						(ring->size * ring->bytes[l] - 1)),
				to_write);
}

void
hy_ring_publish(struct hy_ring *ring, uint32_t n)
{
	const uint32_t tail = ring->put + n, ahead = tail + ring->size / CLAIM_PART;

	ring->put = tail;
	__atomic_store_n(&ring->tail, tail, __ATOMIC_RELEASE);
	/* Not lines that the consumer may still read. */
	if (ahead + n - ring->head_seen <= ring->size)
		lines_fetch(ring, ahead, n, true);
}

/* Writes objects as distances. Returns whether all could be. Without a branch, for vectors. */
static bool
near_write(uint32_t *near, void *const *objs, uint64_t base, uint32_t n)
{
	uint32_t least = UINT32_MAX;
	uint64_t all = 0;

	for (uint32_t i = 0; i < n; i++) {
		const uint64_t distance = (uintptr_t)objs[i] - base;

		near[i] = (uint32_t)distance;
		all |= distance;
		least = RTE_MIN(least, (uint32_t)distance);
	}
	return all <= UINT32_MAX && least > 0;
}

/* Likewise reads objects, and returns whether all were distances. */
static bool
near_read(void **objs, const uint32_t *near, uint64_t base, uint32_t n)
{
	uint32_t least = UINT32_MAX;

	for (uint32_t i = 0; i < n; i++) {
		objs[i] = (void *)(uintptr_t)(base + near[i]);
		least = RTE_MIN(least, near[i]);
	}
	return least > 0;
}

/* A lane of a node that uses all lanes. */
static inline uint8_t *
lane_of(const struct hy_ring *ring, const struct hy_graph *graph, const struct hy_node *node,
	unsigned int l)
{
	return l < ring->nb_lanes ? (uint8_t *)hy_lane(graph, node, l)
				  : hy_lane_wide(graph, node, l - ring->nb_lanes);
}

void
hy_ring_put(struct hy_ring *ring, const struct hy_graph *graph, const struct hy_node *node,
	void **objs, uint32_t n)
{
	const uint32_t at = ring->put & (ring->size - 1);
	const uint32_t first = before_wrap(ring, at, n);

	line_fetch(&ring->tail, true);
	hy_ring_aim(ring, objs[0]);
	if (!near_write(&ring->near[at], objs, ring->base, first) ||
		!near_write(ring->near, objs + first, ring->base, n - first))
		for (uint32_t i = 0; i < n; i++)
			hy_ring_write(ring, i, objs[i]);
	for (unsigned int l = 0; l < ring->nb_all; l++) {
		const uint8_t *lane = lane_of(ring, graph, node, l);
		const size_t bytes = ring->bytes[l];

		memcpy(ring->lanes[l] + at * bytes, lane, first * bytes);
		memcpy(ring->lanes[l], lane + first * bytes, (n - first) * bytes);
	}
	hy_ring_publish(ring, n);
}

/* Frees places after n objects were taken, so many at once that the producer rarely loses the line. */
static void
places_free(struct hy_ring *ring, uint32_t n)
{
	const uint32_t taken = ring->taken - ring->head, many = ring->size / FREE_PART;

	if (taken >= many || ring->taken == ring->tail_seen)
		__atomic_store_n(&ring->head, ring->taken, __ATOMIC_RELEASE);
	else if (taken + n >= many) /* next time */
		line_fetch(&ring->head, true);
}

uint32_t
hy_ring_take(struct hy_ring *ring, const struct hy_graph *graph, const struct hy_node *source,
	void **objs, uint32_t from, uint32_t n)
{
	const uint32_t at = ring->taken & (ring->size - 1);
	uint32_t first;

	n = RTE_MIN(n, hy_ring_count(ring));
	if (n == 0)
		return 0;
	first = before_wrap(ring, at, n);
	if (!near_read(objs + from, &ring->near[at], ring->base_seen, first) ||
		!near_read(objs + from + first, ring->near, ring->base_seen, n - first))
		for (uint32_t i = 0; i < n; i++)
			objs[from + i] = hy_ring_read(ring, ring->taken + i);
	for (unsigned int l = 0; l < ring->nb_all; l++) {
		const size_t bytes = ring->bytes[l];
		uint8_t *lane = lane_of(ring, graph, source, l) + from * bytes;

		memcpy(lane, ring->lanes[l] + at * bytes, first * bytes);
		memcpy(lane + first * bytes, ring->lanes[l], (n - first) * bytes);
	}
	ring->taken += n;
	places_free(ring, n);
	lines_fetch(ring, ring->taken, RTE_MIN(n, ring->tail_seen - ring->taken), false);
	return n;
}

uint32_t
hy_ring_release(struct hy_ring *ring, const struct hy_object_ops *ops)
{
	const uint32_t n = ring->put - ring->taken;

	ring->base_seen = ring->base;
	for (; ring->taken != ring->put; ring->taken++) {
		void *obj = hy_ring_read(ring, ring->taken);

		ops->release(&obj, 1);
	}
	return n;
}
