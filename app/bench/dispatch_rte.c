/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dispatch benchmark's contender of the system DPDK that hands nothing over, and what it has in
 * common with the one that does (dispatch_mcore.c).
 */

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_errno.h>
#include <rte_mempool.h>
#include "hal/internal/dpdk.h"

#include "dispatch_rte.h"

/* rte_graph hands init() nothing: one graph is made at a time, and its nodes find it by this. */
static struct chain_ctx creating;

static int
init(const struct rte_graph *graph, struct rte_node *node)
{
	RTE_SET_USED(graph);
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
sink(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(graph);
	lane_see(ctx_of(node), objs, n);
	return n;
}

static int
node_register(const struct chain *chain, unsigned int index, const char *prefix, bool paced)
{
	const bool first = index == 0, last = index + 1 == chain->nb_nodes;
	struct rte_node_register *reg = calloc(1, sizeof(*reg) + sizeof(char *));
	char next[RTE_NODE_NAMESIZE];
	rte_node_t id;

	if (reg == NULL)
		return -1;
	snprintf(reg->name, sizeof(reg->name), "%s_%u", prefix, index);
	snprintf(next, sizeof(next), "%s_%u", prefix, index + 1);
	reg->flags = first ? RTE_NODE_SOURCE_F : 0;
	reg->init = init;
	reg->process = last ? sink : !first ? between : paced ? paced_source : source;
	reg->nb_edges = last ? 0 : 1;
	reg->next_nodes[0] = next;
	id = __rte_node_register(reg);
	free(reg);
	return id == RTE_NODE_ID_INVALID ? -1 : 0;
}

/* Nodes of rte_graph 22.11 cannot be removed, so every team has names of its own. */
struct rte_team *
rte_team_create(const struct chain *chain, const char *name, bool hands_over, bool paced,
	char prefix[16])
{
	static unsigned int count;
	struct rte_team *rt = aligned_alloc(alignof(struct rte_team), sizeof(*rt));

	if (rt == NULL)
		return NULL;
	team_init(&rt->team, chain, name, hands_over);
	rt->nb_ids = 0;
	snprintf(prefix, 16, "d%u", count++);
	for (unsigned int i = 0; i < chain->nb_nodes; i++)
		if (node_register(chain, i, prefix, paced) < 0) {
			(void)rte_team_failed(rt);
			return NULL;
		}
	return rt;
}

struct team *
rte_team_failed(struct rte_team *rt)
{
	bench_cannot("librte_graph: %s", rte_strerror(abs(rte_errno)));
	dispatch_rte_destroy(rt);
	return NULL;
}

/* Notes a graph that was made, or not. */
static int
entered(struct rte_team *rt, unsigned int lane, rte_graph_t id)
{
	if (id == RTE_GRAPH_ID_INVALID)
		return -1;
	rt->ids[rt->nb_ids++] = id;
	rt->graphs[lane] = rte_graph_lookup(rte_graph_id_to_name(id));
	return rt->graphs[lane] == NULL ? -1 : 0;
}

int
rte_team_graph(struct rte_team *rt, const char *prefix, unsigned int lane)
{
	char name[24], pattern[24];
	const char *patterns[] = { pattern };
	struct rte_graph_param params = {
		.socket_id = SOCKET_ID_ANY, .nb_node_patterns = 1, .node_patterns = patterns
	};

	snprintf(name, sizeof(name), "%s-%u", prefix, rt->nb_ids);
	snprintf(pattern, sizeof(pattern), "%s_*", prefix);
	creating = (struct chain_ctx){ rt->team.chain, &rt->team.lanes[lane] };
	return entered(rt, lane, rte_graph_create(name, &params));
}

static void
walk(struct team *team, unsigned int lane)
{
	rte_graph_walk_rtc(((struct rte_team *)team)->graphs[lane]);
}

struct team *
dispatch_rte_create(const struct chain *chain, const char *name)
{
	char prefix[16];
	struct rte_team *rt = rte_team_create(chain, name, false, false, prefix);

	if (rt == NULL)
		return NULL;
	rt->team.walk = walk;
	for (unsigned int l = 0; l < LANES; l++)
		if (rte_team_graph(rt, prefix, l) < 0)
			return rte_team_failed(rt);
	return &rt->team;
}

void
dispatch_rte_destroy(void *team)
{
	struct rte_team *rt = team;

	/* Clones before what they are clones of. */
	while (rt->nb_ids > 0)
		rte_graph_destroy(rt->ids[--rt->nb_ids]);
	free(rt);
}

#if HY_DPDK_GRAPH_DISPATCH
int
rte_team_clone(struct rte_team *rt, unsigned int lane)
{
	struct rte_graph_param params = { .socket_id = SOCKET_ID_ANY };
	char name[8];

	snprintf(name, sizeof(name), "%u", lane);
	creating = (struct chain_ctx){ rt->team.chain, &rt->team.lanes[lane] };
	return entered(rt, lane, rte_graph_clone(rt->ids[0], name, &params));
}
#endif
