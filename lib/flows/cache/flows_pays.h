/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which of a worker's caches pay. At times two bursts in a row are timed, the second with one cache more
 * or less than the first, or with one in place of the other. Once there are PAYS_PAIRS of them, that
 * becomes usual if their medians say so. What the other way costs decides how seldom it is tried, so that all
 * trials take about 1/64 of the time. A cache that is still being filled is not judged.
 */
#pragma once

#include <hy_flows_cache.h>

enum { PAYS_EXACT, PAYS_INDEX, PAYS_FRAMES, PAYS_LEVELS };

#define PAYS_PAIRS 32
#define PAYS_BIT(level) (1u << (level))

struct flows_pays {
	uint32_t levels; /* to be looked at, as bits */
	uint32_t wait;   /* bursts, until a pair */
	bool automatic;  /* otherwise they are all looked at */
	uint32_t all;    /* levels that exist, as bits */
	uint32_t step;   /* 0: none; 1, 2: the burst of the pair that is timed */
	uint32_t tried;  /* the levels in which the second burst differs, as bits */
	uint32_t pairs;  /* timed so far */
	uint32_t often;  /* packets for one that is entered in the exact cache */
	uint32_t interval[1u << PAYS_LEVELS]; /* by what is tried */
	uint32_t asked[PAYS_LEVELS];          /* packets, since it was judged last */
	uint32_t found[PAYS_LEVELS];
	uint32_t filled[PAYS_LEVELS];   /* entries that were empty */
	uint32_t clocks[2][PAYS_PAIRS]; /* of some packets, as it is and otherwise */
	struct hy_flows_level view[PAYS_LEVELS];
};

void flows_pays_init(struct flows_pays *pays, const struct hy_flows_caches *kinds);
/* Begins or goes on with a pair, when there is nothing to wait for. Returns levels as below. */
uint32_t flows_pays_try(struct flows_pays *pays);
/* Takes the clocks of a burst of n packets, if it was one of a pair. */
void flows_pays_take(struct flows_pays *pays, uint64_t clocks, uint32_t n);

/* The levels that the next burst is to look at. If pays->step is not 0 then, it is to be timed. */
static __rte_always_inline uint32_t
flows_pays_next(struct flows_pays *pays)
{
	if (pays->wait == 0)
		return flows_pays_try(pays);
	pays->wait--;
	return pays->levels;
}

static __rte_always_inline void
flows_pays_count(struct flows_pays *pays, uint32_t level, uint32_t asked, uint32_t found)
{
	pays->asked[level] += asked;
	pays->found[level] += found;
}
