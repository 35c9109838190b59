/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ring of objects with their lanes, from one thread to one other. Not rte_ring, whose elements
 * are of one piece: here bursts go in and out as they lie in streams, pointers and each lane by
 * themselves, in at most two memcpy() each.
 *
 * What a hand-over costs is the wait for cache lines that the other end has. So there are few of
 * them, and most are asked for before they are needed:
 * - Both ends remember where they last saw the other, and look again only when that is not enough:
 *   as long as the ring is neither full nor empty, the line of an index moves once in many bursts.
 * - Places start on a line: a burst of 64 pointers has 8 of them and no part of a ninth, in which
 *   the producer would write while the consumer reads.
 * - The producer claims the lines of bursts to come, and the consumer fetches those of the next
 *   burst.
 */
#pragma once

#include <stdalign.h>

#include <hy_graph_worker.h>

/* Two lines: CPUs that fetch lines in pairs would have both ends share one. */
#define HY_RING_APART (2 * RTE_CACHE_LINE_SIZE)

struct hy_ring {
	alignas(HY_RING_APART) uint32_t tail; /* objects ever put, modulo 2^32 */
	uint32_t head_seen;
	alignas(HY_RING_APART) uint32_t head; /* objects read so far */
	uint32_t tail_seen;
	alignas(HY_RING_APART) uint32_t size; /* a power of two */
	uint32_t nb_lanes;                    /* of 32 bits, which come first */
	uint32_t nb_all;                      /* with the wide ones */
	uint8_t *lanes[HY_LANES_MAX + HY_WIDE_MAX];
	uint16_t bytes[HY_LANES_MAX + HY_WIDE_MAX]; /* an object; a power of two */
	alignas(HY_RING_APART) void *objs[];
};

struct hy_dispatch;

/* Makes a ring for the objects and lanes of a dispatch; NULL without memory. */
struct hy_ring *hy_ring_new(const struct hy_dispatch *dispatch, int socket);

static inline uint32_t *
hy_ring_lane(const struct hy_ring *ring, unsigned int lane)
{
	return (uint32_t *)(void *)ring->lanes[lane];
}

/* The producer's: room in objects; reads the other index if it knows of less. */
static inline uint32_t
hy_ring_room(struct hy_ring *ring, uint32_t wanted)
{
	if (ring->size - (ring->tail - ring->head_seen) < wanted)
		ring->head_seen = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	return ring->size - (ring->tail - ring->head_seen);
}

/*
 * The consumer: objects that wait, for all it knows; looks at the other end if it knows of none.
 * Not for a few more: each look takes the line from the producer, who is about to write there.
 */
static inline uint32_t
hy_ring_count(struct hy_ring *ring)
{
	if (ring->tail_seen == ring->head)
		ring->tail_seen = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
	return ring->tail_seen - ring->head;
}

/* Anybody: objects in the ring at some moment of the call, if neither end moves meanwhile. */
static inline uint32_t
hy_ring_look(const struct hy_ring *ring, uint32_t *tail)
{
	*tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
	return *tail - __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
}

/* The producer: shows n more objects, which it has written, and claims lines for others. */
void hy_ring_publish(struct hy_ring *ring, uint32_t n);

/* Puts n objects of the node's burst with all of the node's lanes; there must be room. */
void hy_ring_put(struct hy_ring *ring, const struct hy_graph *graph, const struct hy_node *node,
	void **objs, uint32_t n);

/* Takes at most n objects to a source's room, from the given one on, with its lanes. */
uint32_t hy_ring_take(struct hy_ring *ring, const struct hy_graph *graph,
	const struct hy_node *source, void **objs, uint32_t from, uint32_t n);

/* Removes all objects; neither end may be in use. Returns how many there were. */
uint32_t hy_ring_release(struct hy_ring *ring, const struct hy_object_ops *ops);
