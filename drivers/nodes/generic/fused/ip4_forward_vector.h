/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The body that the vector kernels of ip4_forward share. WIDTH at a time, all headers are checked, then
 * all destinations looked up; then the frames are rewritten one by one.
 *
 * A file defines these before it includes this one, besides what pkt_cls_checks.h needs:
 * CHECK: the name of its ip4_check_t;
 * entries(lpm, ip, none): rte_lpm's entries of WIDTH addresses; where it has none, none;
 * write_l2(frame, l2): writes 14 bytes to the frame, of 16 that can be read at l2; it may read and
 * write the frame's next two bytes, too, but not change them;
 * MEMBERS: the ip4_members_t of the instruction set;
 * FEWER, if there is one: the ip4_check_t for fewer than WIDTH frames.
 */
#pragma once

#include <stdalign.h>
#include <string.h>

#include "drivers/nodes/generic/classify/pkt_cls_checks.h"
#include "drivers/nodes/generic/group/ip4_group.h"
#include "drivers/nodes/generic/ip4/ip4_rewrite_one.h"
#include "ip4_forward.h"

#define TOO_FEW 4 /* frames: fewer do not pay for a vector */

/* A vector in memory. A fortified memcpy() to a part of an array is a call. */
typedef uint32_t words __attribute__((vector_size(4 * WIDTH), aligned(4), may_alias));

/* What is found of frames that pass. There is room for a vector more. */
struct found {
	alignas(RTE_CACHE_LINE_SIZE)
		uint32_t id[HY_BURST_MAX + WIDTH]; /* the destination, then the next hop's */
	alignas(RTE_CACHE_LINE_SIZE)
		uint32_t word[HY_BURST_MAX + WIDTH]; /* TTL to checksum, to be written */
};

/*
 * Checks WIDTH frames. Returns how many pass before the first that does not; 0 if one is short. Writes
 * their destinations to id[].
 */
VECTOR static __rte_always_inline uint32_t
check_vector(const uint8_t *const frame[], const uint32_t len[], uint32_t id[], uint32_t word[])
{
	lanes lengths, dst, ttl;
	uint32_t stop;
	uint8_t byte0; /* rewrite() tests it */

	memcpy(&lengths, len, sizeof(lengths));
	if (unlikely(true_lanes(below(ALL_MARKS, lengths, (lanes){ 0 } + SHORTEST)) != 0))
		return 0;
	stop = wrong_ones(frame, lengths, &dst, &ttl, &byte0);
	stop |= ~true_lanes(below(ALL_MARKS, (lanes){ 0 } + 1, ttl & 0xff));
	ttl += 0xffff + ((lanes)(ttl >= 0xfffe0000) & 0x10000); /* see hy_ip4_rewrite_one() */
	*(words *)id = dst;
	*(words *)word = ttl;
	return (uint32_t)__builtin_ctzll(stop | UINT64_C(1) << WIDTH);
}

/* Looks up WIDTH destinations at id[]. Returns how many have a route before the first without. */
VECTOR static __rte_always_inline uint32_t
look_up_vector(const struct ip4_forward *forward, uint32_t id[])
{
	words *const places = (words *)id;
	const lanes entry = entries(forward->lpm, *places, forward->none);
	const uint32_t stop = ~true_lanes(below(ALL_MARKS, (lanes){ 0 }, entry));

	*places = entry & HY_IP4_ID_MASK;
	return (uint32_t)__builtin_ctzll(stop | UINT64_C(1) << WIDTH);
}

#ifndef FEWER
#define FEWER check_few

/* Checks fewer than WIDTH frames; copies of the first one fill the vector. */
VECTOR static __rte_noinline uint32_t
check_few(const uint8_t *const frame[], const uint32_t len[], uint32_t id[], uint32_t word[],
	uint32_t n)
{
	const uint8_t *frames[WIDTH];
	uint32_t lens[WIDTH], passed;

	for (uint32_t i = 0; i < WIDTH; i++) {
		frames[i] = frame[i < n ? i : 0];
		lens[i] = len[i < n ? i : 0];
	}
	passed = check_vector(frames, lens, id, word);
	return RTE_MIN(passed, n);
}
#endif

VECTOR uint32_t
CHECK(const uint8_t *const frame[], const uint32_t len[], uint32_t id[], uint32_t word[],
	uint32_t n)
{
	uint32_t i, passed;

	/* No step's address depends on how many passed in the one before. */
	for (i = 0; i + WIDTH <= n; i += WIDTH) {
		passed = check_vector(frame + i, len + i, id + i, word + i);
		if (unlikely(passed < WIDTH))
			return i + passed;
	}
	if (i < n)
		i += FEWER(frame + i, len + i, id + i, word + i, n - i);
	return i;
}

/*
 * Makes ids of next hops of n destinations, at least one. Returns how many have a route before the
 * first without. By itself: a large table's misses overlap only where little else lies between.
 */
VECTOR static __rte_noinline uint32_t
look_up(const struct ip4_forward *forward, uint32_t id[], uint32_t n)
{
	uint32_t i = 0, found;

	*(words *)(id + n) = (lanes){ 0 } + id[n - 1]; /* the last vector is full */
	do {
		found = look_up_vector(forward, id + i);
	} while (likely(found == WIDTH) && (i += WIDTH) < n);
	return RTE_MIN(i + found, n);
}

/* Rewrites frames. Returns how many are not too long, before the first that is. */
VECTOR static __rte_noinline uint32_t
rewrite(const struct hy_ip4_rewrite_port *ports, const struct hy_ip4_adjacency *adjacencies,
	uint8_t *const frame[], const uint32_t len[], const uint32_t id[], const uint32_t word[],
	uint16_t next[], uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		const struct hy_ip4_adjacency *adjacency = &adjacencies[id[i]];
		uint64_t port;

		memcpy(&port, &ports[adjacency->port], sizeof(port));
		if (unlikely(len[i] > (uint32_t)port || (*frame[i] & RTE_ETHER_GROUP_ADDR) != 0))
			break;
		write_l2(frame[i], &adjacency->l2);
		memcpy(frame[i] + 22, &word[i], sizeof(word[i]));
		next[i] = (uint16_t)(port >> 32);
	}
	return i;
}

/*
 * From a frame at which rewrite() stopped on: if that is to a group, finds its member and those of all
 * frames after it, and rewrites these. Returns how many.
 */
static __rte_noinline uint32_t
rewrite_for_members(const struct ip4_forward *forward, uint8_t *const frame[], const uint32_t len[],
	struct found *found, uint32_t first, uint16_t next[], uint32_t n)
{
	const struct hy_ip4_adjacency *adjacencies = hy_ip4_adjacencies(forward->hops);

	if (!hy_ip4_is_group(&adjacencies[found->id[first]]))
		return 0;
	MEMBERS(adjacencies, (const uint8_t *const *)frame, len, found->id + first, n);
	return rewrite(forward->ports, hy_ip4_adjacencies(forward->hops), frame, len,
		found->id + first, found->word + first, next, n);
}

/* Apart from these, since GCC 12 may forget to clear the upper halves of registers after a call. */
static uint32_t
forward(const struct ip4_forward *forward, uint8_t *const frame[], const uint32_t len[],
	uint16_t next[], uint32_t n)
{
	struct found found;
	uint32_t i;

	if (n < TOO_FEW)
		return ip4_forward_singly(forward, frame, len, next, n);
	n = CHECK((const uint8_t *const *)frame, len, found.id, found.word, n);
	if (unlikely(n == 0))
		return 0;
	n = look_up(forward, found.id, n);
	i = rewrite(forward->ports, hy_ip4_adjacencies(forward->hops), frame, len, found.id,
		found.word, next, n);
	if (unlikely(i < n))
		i += rewrite_for_members(forward, frame + i, len + i, &found, i, next + i, n - i);
	return i;
}

static uint16_t
run(struct hy_graph *graph __rte_unused, struct hy_node *const nodes[], void **objs, uint16_t n,
	uint16_t next[])
{
	return ip4_forward_run(nodes, objs, n, next, forward);
}

static uint16_t
stops(void *const objs[], uint16_t n, const char **why)
{
	return ip4_forward_stops(objs, n, WIDTH, why);
}
