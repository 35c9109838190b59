/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine's fusions: of chains of its nodes, some of which pick. */

#include <rte_common.h>

#include <hy_fuse.h>

#include "graph_machine_model.h"

/* The ways of an object through a chain. Returns whether it takes the chain's edges to the end. */
static bool
passes(const struct hy_fuse *fuse, struct hy_node *const nodes[], const struct machine_obj *o,
	unsigned int slots[])
{
	struct machine_obj at = *o;

	for (unsigned int i = 0; i < fuse->nb_nodes; i++) {
		at.hops++;
		slots[i] = machine_way(nodes[i]->ctx, &at, true);
		if (slots[i] == MACHINE_RELEASE ||
			(i < fuse->nb_nodes - 1 && slots[i] != fuse->edge[i]))
			return false;
	}
	return true;
}

/* Where one object of a node goes may depend on others: no fusion knows that. */
static bool
chain_is_usual(const struct hy_fuse *fuse, const struct hy_graph *graph,
	struct hy_node *const nodes[], uint16_t n)
{
	bool usual = true;

	for (unsigned int i = 0; i < fuse->nb_nodes; i++) {
		const struct machine_ctx *ctx = nodes[i]->ctx;

		if (!machine_runs_rightly(graph, nodes[i], n,
			    fuse->process[i] == machine_process_b))
			return false;
		usual = usual && machine.nodes[ctx->node].style != TOGETHER;
		CHECK(!machine.graphs[ctx->graph].now.cyclic, "a graph with cycles is fused");
		CHECK(nodes[i]->replicates == 1, "node %u is fused, which replicates", ctx->node);
	}
	return usual;
}

static uint16_t burst_left; /* of the burst at hand, objects that no fusion has handled */

/* Whether objects are a burst from its start on, and not what was left or picked of one. */
static bool
begins_burst(const struct hy_graph *graph, const struct hy_node *node, void *const objs[])
{
	return objs == node->stream + graph->cursor;
}

/* Objects that passed a chain. What is left of a burst is another call of its first node alone. */
static void
fused_count(const struct hy_fuse *fuse, struct hy_node *const nodes[], uint16_t done, uint16_t n)
{
	burst_left = (uint16_t)(burst_left - done);
	for (unsigned int i = 0; i < fuse->nb_nodes && done > 0; i++) {
		const struct machine_ctx *ctx = nodes[i]->ctx;
		struct machine_graph *g = &machine.graphs[ctx->graph];

		g->calls[ctx->node] += i > 0 || burst_left == 0;
		g->objs[ctx->node] += done;
	}
	machine_counts.fused_whole += done == n;
	machine_counts.fused_part += done > 0 && done < n;
	machine_counts.fused_objs += done;
}

static uint16_t
run_fused(const struct hy_fuse *fuse, struct hy_graph *graph, struct hy_node *const nodes[],
	void **objs, uint16_t n, uint16_t next[])
{
	unsigned int slots[HY_FUSE_MAX];
	uint16_t done = 0;

	if (!chain_is_usual(fuse, graph, nodes, n))
		return 0;
	if (begins_burst(graph, nodes[0], objs))
		burst_left = n;
	for (; done < n && passes(fuse, nodes, objs[done], slots); done++) {
		for (unsigned int i = 0; i < fuse->nb_nodes; i++) {
			machine_arrive(graph, nodes[i], objs[done], 0);
			machine_move(nodes[i]->ctx, objs[done], slots[i]);
		}
		next[done] = machine_edge_of(slots[fuse->nb_nodes - 1]);
	}
	fused_count(fuse, nodes, done, n);
	machine_counts.fused_picked += fuse->pick != NULL && done > 0 && burst_left > 0;
	return done;
}

static void
pick_fused(const struct hy_fuse *fuse, struct hy_node *const nodes[], void *const objs[],
	uint16_t n, uint64_t mine[HY_FUSE_WORDS])
{
	const struct machine_ctx *ctx = nodes[0]->ctx;

	if (begins_burst(machine.graphs[ctx->graph].graph, nodes[0], objs))
		burst_left = n;
	for (uint16_t i = 0; i < n; i++) {
		struct machine_obj at = *(struct machine_obj *)objs[i];
		uint64_t bit;

		at.hops++;
		bit = machine.nodes[ctx->node].style != TOGETHER &&
			machine_way(ctx, &at, true) == fuse->edge[0];
		mine[i / 64] = (i % 64 == 0 ? 0 : mine[i / 64]) | bit << i % 64;
	}
}

#define FUSES 9
static const struct hy_fuse fuses[FUSES];

/* For a semicolon, it ends with a declaration. */
#define RUN(i) \
	static uint16_t run_##i(struct hy_graph *graph, struct hy_node *const nodes[], \
		void **objs, uint16_t n, uint16_t next[]) \
	{ \
		return run_fused(&fuses[i], graph, nodes, objs, n, next); \
	} \
	struct hy_fuse
RUN(0);
RUN(1);
RUN(2);
RUN(3);
RUN(4);
RUN(5);
RUN(6);
RUN(7);
RUN(8);

#define PICK(i) \
	static void pick_##i(struct hy_node *const nodes[], void *const objs[], uint16_t n, \
		uint64_t mine[HY_FUSE_WORDS]) \
	{ \
		pick_fused(&fuses[i], nodes, objs, n, mine); \
	} \
	struct hy_fuse
PICK(6);
PICK(7);
PICK(8);

#define A machine_process_a
#define B machine_process_b
static const struct hy_fuse fuses[FUSES] = {
	{ "aa0", 2, { A, A }, { 0 }, run_0, NULL },
	{ "aa1", 2, { A, A }, { 1 }, run_1, NULL },
	{ "ab0", 2, { A, B }, { 0 }, run_2, NULL },
	{ "ba0", 2, { B, A }, { 0 }, run_3, NULL },
	{ "aaa00", 3, { A, A, A }, { 0, 0 }, run_4, NULL },
	{ "aaaa010", 4, { A, A, A, A }, { 0, 1, 0 }, run_5, NULL },
	{ "aa1-picks", 2, { A, A }, { 1 }, run_6, pick_6 },
	{ "ab1-picks", 2, { A, B }, { 1 }, run_7, pick_7 },
	{ "aa0-picks", 2, { A, A }, { 0 }, run_8, pick_8 },
};
#undef A
#undef B

static bool offered[RTE_DIM(fuses)];

void
machine_fuse(void)
{
	const unsigned int i = machine_draw(RTE_DIM(fuses));
	const int rc = offered[i] ? hy_fuse_withdraw(&fuses[i]) : hy_fuse_offer(&fuses[i]);

	CHECK(rc == 0, "fusion '%s': %d", fuses[i].name, rc);
	offered[i] = !offered[i];
	machine_counts.offers += offered[i];
	machine_picks |= fuses[i].pick != NULL;
}

void
machine_fuse_none(void)
{
	for (unsigned int i = 0; i < RTE_DIM(fuses); i++) {
		hy_fuse_withdraw(&fuses[i]);
		offered[i] = false;
	}
	machine_picks = false;
}
