/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dispatch benchmark's contender of the system DPDK that hands over: the model "mcore dispatch" of
 * librte_graph has a clone of a graph on each lcore. A walk that comes to a node with an affinity to
 * another lcore copies its burst into an entry of a pool, and hands that over by a ring. When the pool
 * is empty it runs the node itself, on the wrong lcore. A paced source waits for an entry, which is
 * what an application must do that means its pins.
 */

#include <rte_version.h>
#include "hal/internal/dpdk.h"

#if HY_DPDK_GRAPH_DISPATCH

#include <stdio.h>

#include <rte_lcore.h>

#include "dispatch_rte.h"

static int
pin(const char *prefix, unsigned int index, unsigned int lcore)
{
	char name[RTE_NODE_NAMESIZE];

	snprintf(name, sizeof(name), "%s_%u", prefix, index);
	return rte_graph_model_mcore_dispatch_node_lcore_affinity_set(name, lcore);
}

static void
walk(struct team *team, unsigned int lane)
{
	rte_graph_walk_mcore_dispatch(((struct rte_team *)team)->graphs[lane]);
}

struct team *
dispatch_mcore_create(const struct chain *chain, const char *name, bool paced)
{
	const unsigned int lcores[] = { rte_get_main_lcore(), rte_get_next_lcore(-1, 1, 0) };
	char prefix[16];
	struct rte_team *rt = rte_team_create(chain, name, true, paced, prefix);

	if (rt == NULL)
		return NULL;
	rt->team.walk = walk;
	rt->team.all_pinned = paced;
	/* Without one, a source runs nowhere; the nodes behind a pinned one run where that does. */
	if (pin(prefix, 0, lcores[0]) < 0 || pin(prefix, chain->pinned, lcores[1]) < 0)
		return rte_team_failed(rt);
	/* The model is that of all graphs there are; others are walked by their own function. */
	if (rte_team_graph(rt, prefix, 0) < 0 ||
		rte_graph_worker_model_set(RTE_GRAPH_MODEL_MCORE_DISPATCH) < 0)
		return rte_team_failed(rt);
	for (unsigned int l = 0; l < LANES; l++)
		if (rte_team_clone(rt, l) < 0 ||
			rte_graph_model_mcore_dispatch_core_bind(rt->ids[1 + l], (int)lcores[l]) <
				0)
			return rte_team_failed(rt);
	rt->team.lanes[0].room = rt->graphs[1]->dispatch.mp;
	return &rt->team;
}

#else

#include "handover.h"

struct team *
dispatch_mcore_create(const struct chain *chain, const char *name, bool paced)
{
	RTE_SET_USED(chain), RTE_SET_USED(name), RTE_SET_USED(paced);
	bench_cannot("%s has no such model; DPDK 23.07 and later have", rte_version());
	return NULL;
}

#endif
