/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A ring of objects with their lanes, from one thread to one other. Not rte_ring, whose elements
 * are of one piece: here bursts go in and out as they lie in streams, pointers and each lane by
 * themselves, in at most two pieces each.
 *
 * What a hand-over costs is the wait for cache lines that the other end has. So there are few of
 * them, and most are asked for before they are needed:
 * - Objects are stored as distances of 32 bits from a base: 64 of them fill 4 lines and not 8. An
 *   object that lies further away is stored whole, in an array beside.
 * - Both ends remember where they last saw the other, and look again only when that is not enough.
 *   A line that both ends use has one writer, who writes there once for many objects if it can: the
 *   consumer frees places by the quarter of a ring, or all of them when it knows of no further
 *   object. What an end alone needs is in lines of its own.
 * - Places start on a line, so that a burst has as few as possible, and no part of one in which the
 *   producer would write while the consumer reads.
 * - The producer claims the lines of bursts to come, and the consumer fetches those of the next
 *   burst. Both claim the line by which they tell the other, shortly before they write there.
 */
#pragma once

#include <stdalign.h>

#include <hy_graph_worker.h>

/* Two lines: CPUs that fetch lines in pairs would have both ends share one. */
#define HY_RING_APART (2 * RTE_CACHE_LINE_SIZE)

struct hy_ring {
	/* The producer's. */
	alignas(HY_RING_APART) uint32_t put; /* objects ever put, modulo 2^32 */
	uint32_t head_seen;
	bool strayed; /* an object was stored whole since the base was chosen, or there is none yet */
	/* From the producer to the consumer. */
	alignas(HY_RING_APART) uint32_t tail; /* objects that may be read */
	uint64_t base;                        /* changes only while the ring is empty */
	/* The consumer's. */
	alignas(HY_RING_APART) uint32_t taken; /* objects read so far */
	uint32_t tail_seen;
	uint64_t base_seen; /* of the objects up to there */
	/* From the consumer to the producer. */
	alignas(HY_RING_APART) uint32_t head; /* objects whose places are free again */
	/* Never written again. */
	alignas(HY_RING_APART) uint32_t size; /* a power of two */
	uint32_t nb_lanes;                    /* of 32 bits, which come first */
	uint32_t nb_all;                      /* with the wide ones */
	void **whole;                         /* objects too far from the base */
	uint8_t *lanes[HY_LANES_MAX + HY_WIDE_MAX];
	uint16_t bytes[HY_LANES_MAX + HY_WIDE_MAX]; /* an object; a power of two */
	alignas(HY_RING_APART) uint32_t near[];     /* distances from the base; 0: stored whole */
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
	if (ring->size - (ring->put - ring->head_seen) < wanted)
		ring->head_seen = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	return ring->size - (ring->put - ring->head_seen);
}

/*
 * The consumer: objects that wait, for all it knows; looks at the other end if it knows of none.
 * Not for a few more: each look takes the line from the producer, who is about to write there.
 */
static inline uint32_t
hy_ring_count(struct hy_ring *ring)
{
	if (ring->tail_seen == ring->taken) {
		ring->tail_seen = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
		if (ring->tail_seen != ring->taken) /* else the producer may be changing it */
			ring->base_seen = ring->base;
	}
	return ring->tail_seen - ring->taken;
}

/*
 * Anybody: objects in the ring at some moment of the call, if neither end moves meanwhile. Those
 * whose places are not free yet count; there are none when the consumer has taken all.
 */
static inline uint32_t
hy_ring_look(const struct hy_ring *ring, uint32_t *tail)
{
	*tail = __atomic_load_n(&ring->tail, __ATOMIC_ACQUIRE);
	return *tail - __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
}

/*
 * The producer, before it writes a burst: chooses another base if that may help. The objects that
 * can be stored as distances then lie 2 GiB around this one.
 */
static inline void
hy_ring_aim(struct hy_ring *ring, const void *obj)
{
	if (likely(!ring->strayed) || ring->put != ring->head_seen)
		return;
	ring->base = (uint64_t)(uintptr_t)obj - (UINT64_C(1) << 31);
	ring->strayed = false;
}

/* The producer: writes one object to the n-th place behind those put. */
static inline void
hy_ring_write(struct hy_ring *ring, uint32_t n, void *obj)
{
	const uint32_t at = (ring->put + n) & (ring->size - 1);
	const uint64_t distance = (uintptr_t)obj - ring->base;
	const bool fits = distance != 0 && distance <= UINT32_MAX;

	ring->near[at] = fits ? (uint32_t)distance : 0;
	if (unlikely(!fits)) {
		ring->whole[at] = obj;
		ring->strayed = true;
	}
}

/* The consumer: the object at an index that it has seen. */
static inline void *
hy_ring_read(const struct hy_ring *ring, uint32_t index)
{
	const uint32_t at = index & (ring->size - 1);

	return ring->near[at] == 0 ? ring->whole[at]
				   : (void *)(uintptr_t)(ring->base_seen + ring->near[at]);
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
