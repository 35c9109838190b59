/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dispatch benchmark: a chain of nodes on two lcores. Either the first lcore hands bursts over to
 * the second, where the rest of the chain is pinned, or each runs the whole chain to completion.
 * Objects are no pointers but numbers: 1, 2 and so on in every lap.
 */
#ifndef HY_BENCH_HANDOVER_H
#define HY_BENCH_HANDOVER_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

#include "bench.h"

#define LANES 2
#define CHAIN_NODES_MAX 8
#define RING_BURSTS 32 /* between lcores; what librte_graph has for the shorter chains */
#define LAP_OBJECTS 32768
#define LAPS 16      /* a round */
#define LAPS_QUICK 1 /* with --quick */

struct chain {
	const char *name;
	unsigned int burst;
	unsigned int nb_nodes; /* a source, nodes that send all on, a sink */
	unsigned int pinned;   /* the first node that is pinned to the second lcore */
	unsigned int rounds;   /* of work on each object in every node between; 0: none */
	/* Percentage of the objects that come to the first lcore where each runs the whole chain. */
	unsigned int first_percent;
};

/* What an lcore makes and sees in a lap; nobody else writes there meanwhile. */
struct lane {
	alignas(2 * RTE_CACHE_LINE_SIZE) uint64_t next,
		end;              /* its source: next object, last plus 1 */
	uint64_t seen, sum, last; /* its sink: how many, their sum, the latest */
	uint64_t worked;          /* its nodes between: the sum of what their work came to */
	bool strict;      /* the sink looks at every object and not only at ends of bursts */
	bool disorder;    /* an object came before one with a lower number */
	const void *room; /* of a source that looks whether there is some */
};

/* A contender, and the first member of each one's own. */
struct team {
	const struct chain *chain;
	const char *name;
	/* Walks a lane's graph once. */
	void (*walk)(struct team *team, unsigned int lane);
	bool hands_over;   /* all objects come to the first lane */
	bool all_pinned;   /* and all must be seen by the second */
	bool wrong;        /* something was, and has been said */
	unsigned int laps; /* of this round */
	uint64_t worked;   /* what the work of all nodes on all objects of a lap comes to */
	struct lane lanes[LANES];
	/* Objects that the second lane is to see, once the first knows. */
	alignas(2 * RTE_CACHE_LINE_SIZE) atomic_ullong left;
	alignas(2 * RTE_CACHE_LINE_SIZE) atomic_uint arrived;
	uint64_t start[LANES][LAPS], stop[LANES][LAPS]; /* TSC */
};

/* What a node is given. */
struct chain_ctx {
	const struct chain *chain;
	struct lane *lane;
};

void team_init(struct team *team, const struct chain *chain, const char *name, bool hands_over);
/* A lap begins: divides its objects among the lanes. */
void team_begin(struct team *team);
/* It has ended: says what is wrong with it. */
void team_check(struct team *team);
/* Of a struct contender whose argument is a team: cycles of the wall clock an object. */
double team_round(void *team);
/* Every object was seen once, in order, by an lcore that may, and worked on by every node. */
bool team_right(void *team);

/* Create a team, or return NULL. Of librte_graph's models, dispatch is in DPDK 23.07 and later. */
struct team *dispatch_ours_create(const struct chain *chain, const char *name, bool hands_over);
struct team *dispatch_rte_create(const struct chain *chain, const char *name);
struct team *dispatch_mcore_create(const struct chain *chain, const char *name, bool paced);
void dispatch_ours_destroy(void *team);
void dispatch_rte_destroy(void *team); /* of both */

/* The common work of all contenders. */

/* Makes a burst where there is room for most objects, or what the lap still wants. */
static inline uint16_t
lane_make(const struct chain_ctx *ctx, void **objs, unsigned int most)
{
	struct lane *lane = ctx->lane;
	const uint64_t first = lane->next, left = lane->end - first;
	const unsigned int n = (unsigned int)RTE_MIN(left, RTE_MIN(most, ctx->chain->burst));

	for (unsigned int i = 0; i < n; i++)
		objs[i] = (void *)(uintptr_t)(first + i);
	lane->next = first + n;
	return (uint16_t)n;
}

static inline uint64_t
work_on(uint64_t x, unsigned int rounds)
{
	for (unsigned int r = 0; r < rounds; r++)
		x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	return x;
}

static inline void
lane_work(const struct chain_ctx *ctx, void *const *objs, unsigned int n)
{
	uint64_t worked = 0;

	if (ctx->chain->rounds == 0)
		return;
	for (unsigned int i = 0; i < n; i++)
		worked += work_on((uintptr_t)objs[i], ctx->chain->rounds);
	ctx->lane->worked += worked;
}

/* Counts and sums; n is not 0. */
static inline void
lane_see(const struct chain_ctx *ctx, void *const *objs, unsigned int n)
{
	struct lane *lane = ctx->lane;
	uint64_t sum = 0;

	lane->disorder |= (uintptr_t)objs[0] <= lane->last || objs[n - 1] < objs[0];
	lane->last = (uintptr_t)objs[n - 1];
	for (unsigned int i = 0; i < n; i++)
		sum += (uintptr_t)objs[i];
	for (unsigned int i = 1; i < n && lane->strict; i++)
		lane->disorder |= objs[i] <= objs[i - 1];
	lane->sum += sum;
	lane->seen += n;
}

#endif
