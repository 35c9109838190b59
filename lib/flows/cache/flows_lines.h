/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An index of cache lines. The first half of a line is sixteen words of 16 bits: a signature for each
 * way, the generation of the line in two words, and with ten ways the start of the numbers. The rest is
 * the numbers of megaflows. A line of another generation is empty, so that all are forgotten at once.
 *
 * One comparison of the first half tells the ways and whether the generation is right.
 *
 * Few flows in many lines would take a line of memory each. So an index begins with few lines, and uses
 * more, empty ones, once entries are often replaced for want of room. After many more packets than it
 * takes to get there, it begins with few lines again, for there may be fewer flows by then.
 */
#pragma once

#include <rte_common.h>

#define LINES_LANES 16
#define LINES_WAYS16 14
#define LINES_WAYS32 10

struct flows_lines;

/* Writes which ways have the signatures of hashes, as bits. Pure. */
typedef void flows_ways_t(const struct flows_lines *lines, const uint32_t hash[], uint16_t way[],
	uint32_t n);

struct flows_lines {
	flows_ways_t *kernel;
	uint32_t mask; /* of lines in use */
	uint32_t most; /* of all lines */
	uint32_t ways;
	uint32_t replaced; /* entries, since the last time that they were judged */
	uint64_t looked;   /* packets, since it began with few lines */
	uint64_t judged;   /* of these, when it was last judged whether there are enough lines */
	uint32_t generation;
	uint32_t random;
	/* What the first half of a line is compared with: the signature where these bits are set. */
	alignas(32) uint16_t signature[LINES_LANES];
	uint16_t expected[LINES_LANES]; /* and this: the generation in its place */
	alignas(RTE_CACHE_LINE_SIZE) uint16_t line[][2 * LINES_LANES];
};

flows_ways_t flows_ways_scalar;
#ifdef RTE_ARCH_X86_64
flows_ways_t flows_ways_avx2, flows_ways_avx512;
#elif defined(RTE_ARCH_ARM64)
flows_ways_t flows_ways_neon;
#endif

/* The widest that this CPU can run and EAL allows. */
flows_ways_t *flows_ways_best(void);

static __rte_always_inline uint16_t
lines_signature(uint32_t hash)
{
	return (uint16_t)(hash >> 16 | (hash >> 16 == 0)); /* 0 is an empty way */
}

/* Out of the lanes that are as expected, the ways, if the generation is right. */
static __rte_always_inline uint16_t
lines_ways(const uint32_t ways, uint32_t lanes)
{
	return (lanes >> ways & 3) == 3 ? (uint16_t)(lanes & ((1u << ways) - 1)) : 0;
}
