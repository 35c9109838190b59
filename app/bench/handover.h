/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dispatch benchmark: a chain of nodes on two lcores. Either the first lcore hands bursts over
 * to the second, to which the rest of the chain is pinned, or each runs the whole chain to
 * completion. Objects are not pointers but numbers: 1, 2 and so on in every lap.
 */
#pragma once

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

#include "bench.h"
#include "lanes.h"

#define RING_BURSTS 32 /* between lcores; librte_graph has as many for the shorter chains */
#define LAP_OBJECTS 32768
#define LAPS_QUICK 1 /* a round, with --quick; else LAPS_MAX */

struct chain {
	const char *name;
	unsigned int burst;
	unsigned int nb_nodes; /* a source, nodes that pass all objects on, a sink */
	unsigned int pinned;   /* the first node that is pinned to the second lcore */
	unsigned int rounds;   /* of work on each object in every node between; 0: none */
	/* Percentage of the objects for the first lcore when each runs the whole chain. */
	unsigned int first_percent;
};

/* What an lcore makes and sees in a lap. No other thread writes it during the lap. */
struct lane {
	alignas(2 * RTE_CACHE_LINE_SIZE) uint64_t next,
		end;              /* its source: next object, last plus 1 */
	uint64_t seen, sum, last; /* its sink: how many, their sum, the latest */
	uint64_t worked;          /* its inner nodes: the sum of their results */
	bool strict;              /* the sink checks every object, not only the ends of bursts */
	bool disorder;            /* an object arrived before one with a lower number */
	const void *room;         /* the pool that a paced source checks */
};

/* How a contender uses two lcores. */
enum team_way {
	COMPLETION, /* each runs the whole chain */
	HANDOVER,   /* the first hands bursts over to the second */
	PACED,      /* the same, at the pace of the second */
};

/* A contender; the first member of each contender's own structure. */
struct team {
	const struct chain *chain;
	const char *name;
	char prefix[16]; /* of its nodes' names */
	/* Walks a lane's graph once. */
	void (*walk)(struct team *team, unsigned int lane);
	bool hands_over; /* all objects start on the first lane */
	bool all_pinned; /* and all must reach the second */
	bool wrong;      /* an error was found and reported */
	uint64_t worked; /* expected sum of the results of all nodes for all objects of a lap */
	struct lane lanes[LANES];
	/* Objects that the second lane must see; UINT64_MAX until the first lane knows. */
	alignas(2 * RTE_CACHE_LINE_SIZE) atomic_ullong left;
	struct laps laps; /* of this round */
};

/* The context of a node. */
struct chain_ctx {
	const struct chain *chain;
	struct lane *lane;
};

/* Prepares a team, all zero so far, under a new prefix. */
void team_init(struct team *team, const struct chain *chain, const char *name, bool hands_over);
/* Begins a lap: divides its objects among the lanes. */
void team_begin(struct team *team);
/* Ends a lap: reports what is wrong with it. */
void team_check(struct team *team);

/* Create a team, or return NULL. librte_graph has the dispatch model since DPDK 23.07. */
struct team *dispatch_ours_create(const struct chain *chain, const char *name, enum team_way way);
struct team *dispatch_rte_create(const struct chain *chain, const char *name, enum team_way way);
void dispatch_ours_destroy(void *team);
void dispatch_rte_destroy(void *team);

/* The common work of all contenders. */

/* Makes a burst of at most `most` objects, or what remains of the lap. */
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

/* Works on each object, in one place for all contenders: where a loop lies in memory can cost 15 %. */
void lane_work(const struct chain_ctx *ctx, void *const *objs, unsigned int n);

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
