/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The index of cache lines by one width of numbers. A file defines LANES_WAYS, the ways of a line;
 * NUMBER, the type of numbers; NUMBER_MOST, the first that is not remembered; LINES_LOG; OPS and NAME.
 */

#include <string.h>

#include <rte_branch_prediction.h>

#include "flows_cache.h"
#include "flows_lines.h"

#define NUMBERS_AT (LANES_WAYS + 2) /* lanes before the numbers */

#define FEW 63u       /* mask of few lines */
#define REPLACED 256u /* entries, after which the lines are judged */
#define OFTEN 256     /* one in so many packets, or more */
#define AGAIN 4096    /* packets for each entry, until it begins with few lines again */

static __rte_always_inline NUMBER *
numbers_of(uint16_t *line)
{
	return (NUMBER *)(void *)(line + NUMBERS_AT);
}

static __rte_always_inline void
fetch(const struct flows_lines *index, uint32_t hash)
{
	__builtin_prefetch(index->line[hash & index->mask]);
}

static __rte_always_inline void
ways(struct flows_lines *index, const uint32_t hash[], uint16_t way[], uint32_t n)
{
	index->looked += n;
	index->kernel(index, hash, way, n);
}

static __rte_always_inline uint32_t
slot_of(const struct hy_flows *f, struct flows_lines *index, uint32_t hash, uint32_t way)
{
	RTE_SET_USED(f);
	return numbers_of(index->line[hash & index->mask])[way];
}

#define FIND lines_find
#define FIND_BODY lines_find_body
#define OTHERS lines_others
#define INDEX struct flows_lines
#include "flows_index_find.h"

static uint32_t
lines_log(const struct hy_flows_caches *caches)
{
	return caches->lines_log != 0 ? caches->lines_log : LINES_LOG;
}

static size_t
lines_bytes(const struct hy_flows_caches *caches)
{
	return sizeof(struct flows_lines) +
		((size_t)1 << lines_log(caches)) * 2 * LINES_LANES * sizeof(uint16_t);
}

/* Lines that were zeroed are of generation 0, which is never the present one. */
static void
generation_set(struct flows_lines *index, uint32_t generation)
{
	index->generation = generation;
	index->expected[LANES_WAYS] = (uint16_t)generation;
	index->expected[LANES_WAYS + 1] = (uint16_t)(generation >> 16);
}

static void
lines_init(void *memory, const struct hy_flows_caches *caches)
{
	struct flows_lines *index = memory;

	index->kernel = flows_ways_best();
	index->most = (1u << lines_log(caches)) - 1;
	index->mask = RTE_MIN(index->most, FEW);
	index->ways = LANES_WAYS;
	for (uint32_t w = 0; w < LANES_WAYS; w++)
		index->signature[w] = UINT16_MAX;
	generation_set(index, 1);
}

static void
lines_forget(void *memory)
{
	struct flows_lines *index = memory;

	if (index->generation == UINT32_MAX) {
		memset(index->line, 0, ((size_t)index->most + 1) * sizeof(index->line[0]));
		index->generation = 0;
	}
	generation_set(index, index->generation + 1);
}

/* The way for a hash: its own, that of a dead megaflow with its signature, a free one, or any. */
static uint32_t
way_for(const struct hy_flows *f, struct flows_lines *index, uint16_t *line, uint16_t signature,
	uint32_t slot)
{
	const NUMBER *number = numbers_of(line);
	uint32_t way = flows_random_next(&index->random) % LANES_WAYS;

	for (uint32_t w = LANES_WAYS; w-- > 0;) {
		if (line[w] == 0)
			way = w;
		if (line[w] == signature &&
			(number[w] == slot ||
				FLOWS_TABLE(FLOWS_LOAD(f->records[number[w]].tag)) == 0))
			return w;
	}
	return way;
}

/* An entry was replaced. If that is often, two or four times as many lines are used, all of them empty. */
static void
lines_grow(struct flows_lines *index)
{
	const uint32_t mask = index->mask;

	if (++index->replaced < REPLACED)
		return;
	for (uint64_t packets = index->looked - index->judged;
		packets < OFTEN * REPLACED && index->mask != index->most; packets *= 16)
		index->mask = 2 * index->mask + 1;
	index->judged = index->looked;
	index->replaced = 0;
	if (index->mask != mask)
		lines_forget(index);
}

/* Begins with few lines again, if finding out how many are needed costs little by now. */
static void
lines_sweep(const struct hy_flows *f, void *memory)
{
	struct flows_lines *index = memory;

	RTE_SET_USED(f);
	if (likely(index->looked < (uint64_t)AGAIN * (index->mask + 1) * LANES_WAYS))
		return;
	lines_forget(index);
	index->mask = RTE_MIN(index->most, FEW);
	index->looked = 0;
	index->judged = 0;
	index->replaced = 0;
}

static bool
lines_enter(const struct hy_flows *f, void *memory, uint32_t hash, uint32_t slot)
{
	struct flows_lines *index = memory;
	uint16_t *line = index->line[hash & index->mask];
	const uint16_t signature = lines_signature(hash);
	uint32_t way;
	bool empty;

	if (slot >= NUMBER_MOST)
		return false;
	if (memcmp(&line[LANES_WAYS], &index->expected[LANES_WAYS], 2 * sizeof(*line)) != 0) {
		memset(line, 0, LANES_WAYS * sizeof(*line));
		memcpy(&line[LANES_WAYS], &index->expected[LANES_WAYS], 2 * sizeof(*line));
	}
	way = way_for(f, index, line, signature, slot);
	empty = line[way] == 0;
	if (!empty && line[way] != signature)
		lines_grow(index);
	line[way] = signature;
	numbers_of(line)[way] = (NUMBER)slot;
	return empty;
}

const struct flows_index_ops OPS = {
	.name = NAME,
	.bytes = lines_bytes,
	.init = lines_init,
	.find = lines_find,
	.enter = lines_enter,
	.sweep = lines_sweep,
	.forget = lines_forget,
};
