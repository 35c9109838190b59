/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dispatch benchmark's contenders from the system DPDK. To run to completion, each lcore has a
 * graph. To hand bursts over, librte_graph's model "mcore dispatch" has a clone of a graph on each
 * lcore. A walk that reaches a node with an affinity to another lcore copies its burst into an entry
 * of a pool and passes that through a ring. When the pool is empty, it runs the node itself, on the
 * wrong lcore. A paced source waits for an entry, as an application must if it relies on its
 * affinities.
 */

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_mempool.h>
#include <rte_version.h>
#include "lib/graph/internal/dpdk.h"

#include "graphs.h"
#include "handover.h"

struct rte_team {
	struct team team; /* the first member */
	/* With clones, the first one is only their original. */
	rte_graph_t ids[1 + LANES];
	unsigned int nb_ids;
	struct rte_graph *graphs[LANES];
};

/* rte_graph passes no argument to init(): graphs are created one at a time, and nodes read this. */
static struct chain_ctx creating;

static int
init(const struct rte_graph *graph __rte_unused, struct rte_node *node)
{
	static_assert(sizeof(creating) <= sizeof(node->ctx), "rte_graph's context has 16 bytes");
	memcpy(node->ctx, &creating, sizeof(creating));
	return 0;
}

static inline const struct chain_ctx *
ctx_of(const struct rte_node *node)
{
	return (const struct chain_ctx *)(uintptr_t)node->ctx;
}

static uint16_t
source(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t n)
{
	n = lane_make(ctx_of(node), objs, RTE_GRAPH_BURST_SIZE);
	if (n == 0)
		return 0;
	node->idx = n;
	rte_node_next_stream_move(graph, node, 0);
	return n;
}

static uint16_t
paced_source(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t n)
{
	if (rte_mempool_avail_count(ctx_of(node)->lane->room) == 0)
		return 0;
	return source(graph, node, objs, n);
}

static uint16_t
between(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t n)
{
	lane_work(ctx_of(node), objs, n);
	rte_node_next_stream_move(graph, node, 0);
	return n;
}

static uint16_t
sink(struct rte_graph *graph __rte_unused, struct rte_node *node, void **objs, uint16_t n)
{
	lane_see(ctx_of(node), objs, n);
	return n;
}

/* Nodes of rte_graph 22.11 cannot be removed, so every team uses new names. */
static int
nodes_register(const struct team *team, bool paced)
{
	const unsigned int last = team->chain->nb_nodes - 1;
	int rc = 0;

	for (unsigned int i = 0; i <= last && rc == 0; i++) {
		const struct graph_node node = { team->prefix, i, i == 0, i < last,
			&(unsigned int){ i + 1 } };
		const rte_node_process_t first = paced ? paced_source : source;

		rc = graph_node_rte(&node, i == 0 ? first : i < last ? between : sink, init);
	}
	return rc;
}

/* Records a lane's graph; fails if it was not created. */
static int
entered(struct rte_team *rt, unsigned int lane, rte_graph_t id)
{
	if (id == RTE_GRAPH_ID_INVALID)
		return bench_cannot("librte_graph: %s", rte_strerror(abs(rte_errno)));
	rt->ids[rt->nb_ids++] = id;
	rt->graphs[lane] = rte_graph_lookup(rte_graph_id_to_name(id));
	return rt->graphs[lane] == NULL ? -1 : 0;
}

static int
graph_create(struct rte_team *rt, unsigned int lane)
{
	char name[GRAPH_PREFIX_SIZE + 8], pattern[sizeof(name)];

	snprintf(name, sizeof(name), "%s-%u", rt->team.prefix, rt->nb_ids);
	snprintf(pattern, sizeof(pattern), "%s_*", rt->team.prefix);
	creating = (struct chain_ctx){ rt->team.chain, &rt->team.lanes[lane] };
	return entered(rt, lane, graph_rte(name, pattern));
}

static void
walk(struct team *team, unsigned int lane)
{
	rte_graph_walk_rtc(((struct rte_team *)team)->graphs[lane]);
}

static int
completion_create(struct rte_team *rt)
{
	int rc = 0;

	rt->team.walk = walk;
	for (unsigned int l = 0; l < LANES && rc == 0; l++)
		rc = graph_create(rt, l);
	return rc;
}

#if HY_DPDK_GRAPH_DISPATCH
static int
pin(const struct team *team, unsigned int index, unsigned int lcore)
{
	char name[RTE_NODE_NAMESIZE];

	snprintf(name, sizeof(name), "%s_%u", team->prefix, index);
	return rte_graph_model_mcore_dispatch_node_lcore_affinity_set(name, lcore);
}

static int
clone_create(struct rte_team *rt, unsigned int lane, unsigned int lcore)
{
	struct rte_graph_param params = { .socket_id = SOCKET_ID_ANY };
	char name[8];

	snprintf(name, sizeof(name), "%u", lane);
	creating = (struct chain_ctx){ rt->team.chain, &rt->team.lanes[lane] };
	if (entered(rt, lane, rte_graph_clone(rt->ids[0], name, &params)) < 0)
		return -1;
	return rte_graph_model_mcore_dispatch_core_bind(rt->ids[1 + lane], (int)lcore);
}

static void
mcore_walk(struct team *team, unsigned int lane)
{
	rte_graph_walk_mcore_dispatch(((struct rte_team *)team)->graphs[lane]);
}

static int
mcore_create(struct rte_team *rt)
{
	const unsigned int lcores[] = { rte_get_main_lcore(), rte_get_next_lcore(-1, 1, 0) };
	int rc = 0;

	rt->team.walk = mcore_walk;
	/*
	 * A source without an affinity never runs; nodes after a pinned one run where it does. The
	 * model applies to all graphs; the other contenders call their own walk function.
	 */
	if (pin(&rt->team, 0, lcores[0]) < 0 ||
		pin(&rt->team, rt->team.chain->pinned, lcores[1]) < 0 || graph_create(rt, 0) < 0 ||
		rte_graph_worker_model_set(RTE_GRAPH_MODEL_MCORE_DISPATCH) < 0)
		return -1;
	for (unsigned int l = 0; l < LANES && rc >= 0; l++)
		rc = clone_create(rt, l, lcores[l]);
	if (rc >= 0)
		rt->team.lanes[0].room = rt->graphs[1]->dispatch.mp;
	return rc;
}
#else
static int
mcore_create(struct rte_team *rt __rte_unused)
{
	return bench_cannot("%s has no such model; DPDK 23.07 and later have", rte_version());
}
#endif

struct team *
dispatch_rte_create(const struct chain *chain, const char *name, enum team_way way)
{
	struct rte_team *rt = bench_alloc(1, sizeof(*rt));
	int rc;

	team_init(&rt->team, chain, name, way != COMPLETION);
	rt->team.all_pinned = way == PACED;
	rc = nodes_register(&rt->team, way == PACED);
	if (rc == 0)
		rc = way == COMPLETION ? completion_create(rt) : mcore_create(rt);
	if (rc >= 0)
		return &rt->team;
	bench_cannot("librte_graph: %s", rte_strerror(abs(rte_errno)));
	dispatch_rte_destroy(rt);
	return NULL;
}

void
dispatch_rte_destroy(void *team)
{
	struct rte_team *rt = team;

	/* Clones go before their original. */
	while (rt->nb_ids > 0)
		rte_graph_destroy(rt->ids[--rt->nb_ids]);
	free(rt);
}
