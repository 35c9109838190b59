/* SPDX-License-Identifier: BSD-3-Clause */
/* What the dispatch benchmark's contenders of librte_graph have in common. */
#ifndef HY_BENCH_DISPATCH_RTE_H
#define HY_BENCH_DISPATCH_RTE_H

#include <rte_graph.h>
#include <rte_graph_worker.h>

#include "handover.h"

struct rte_team {
	struct team team; /* the first member */
	/* The first one is only there to be cloned, if there are clones. */
	rte_graph_t ids[1 + LANES];
	unsigned int nb_ids;
	struct rte_graph *graphs[LANES];
};

/*
 * Registers the nodes of a chain, as PREFIX_0 and so on. Returns a team without graphs, or NULL. A
 * paced source makes nothing while the pool is empty that its lane has as room.
 */
struct rte_team *rte_team_create(const struct chain *chain, const char *name, bool hands_over,
	bool paced, char prefix[16]);
/* Says why there will be no team, and destroys it. Returns NULL. */
struct team *rte_team_failed(struct rte_team *rt);
/* Creates a graph of those nodes for a lane, or a clone of the first graph. Returns 0 or -1. */
int rte_team_graph(struct rte_team *rt, const char *prefix, unsigned int lane);
int rte_team_clone(struct rte_team *rt, unsigned int lane);

#endif
