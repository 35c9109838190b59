/* SPDX-License-Identifier: BSD-3-Clause */
/* The works of the walk benchmark, and their contenders. */

#include <stdio.h>
#include <stdlib.h>

#include <rte_common.h>

#include "walk.h"

static const char ours[] = "halyard", peer[] = "librte_graph";

static void
enter(struct field *f, struct contender contender, void (*destroy)(void *walker))
{
	if (contender.check == NULL)
		contender.check = walk_check;
	field_enter(f, &contender, destroy);
}

static void
enter_rte(struct field *f, const struct topology *t)
{
	const struct {
		const char *name, *alone; /* name if there is only one way */
		enum rte_way way;
		bool stats;
	} ways[] = {
		{ "librte_graph_x4", peer, RTE_X4, true },
		{ "librte_graph_next", peer, RTE_NEXT, true },
		{ "nostats_x4", "librte_graph_nostats", RTE_X4, false },
		{ "nostats_next", "librte_graph_nostats", RTE_NEXT, false },
	};
	const bool chooses = topo_chooses(t);

	for (unsigned int i = 0; i < RTE_DIM(ways); i++) {
		/* A contender without statistics is shown, but not compared. */
		struct contender c = { .name = chooses ? ways[i].name : ways[i].alone,
			.against = ways[i].stats ? peer : NULL,
			.run = walk_rte_run,
			.arg = NULL };

		if (!chooses && ways[i].way != RTE_X4)
			continue;
		c.arg = walk_rte_create(t, ways[i].way, ways[i].stats);
		enter(f, c, walk_rte_destroy);
	}
}

static void
enter_ours(struct field *f, const struct topology *t, const char *name, uint16_t sample_every)
{
	const struct contender c = { .name = name,
		.arg = walk_ours_create(t, sample_every),
		.run = walk_ours_run,
		.subject = name == ours };

	enter(f, c, walk_ours_destroy);
}

static void
work(const struct topology *t)
{
	struct contender plain = { .name = t->plain_moves > 0 ? "plain" : "work_only",
		.run = walk_plain_run };
	struct field f = { .work = t->name };

	if (!bench_wanted(t->name))
		return;
	enter_rte(&f, t);
	enter_ours(&f, t, ours, 16);
	enter_ours(&f, t, "halyard_k1", 1);
	plain.arg = walk_plain_create(t);
	enter(&f, plain, free);
	field_measure(&f, t->unit);
}

/* Calls per walk of the node where a diamond's arms meet. */
static void
calls(const struct topology *t)
{
	char name[sizeof(t->name) + 8];
	struct field f = { .work = name };

	snprintf(name, sizeof(name), "%s_calls", t->name);
	if (!bench_wanted(name))
		return;
	enter(&f,
		(struct contender){ .name = peer,
			.arg = walk_rte_create(t, RTE_X4, true),
			.figure = walk_rte_calls,
			.against = peer },
		walk_rte_destroy);
	enter(&f,
		(struct contender){ .name = ours,
			.arg = walk_ours_create(t, 16),
			.figure = walk_ours_calls,
			.check = walk_ours_joined,
			.subject = true },
		walk_ours_destroy);
	field_measure(&f, CALLS_WALK);
}

#define ASSIGN .move = MOVE_ASSIGN
#define COPY(n) .move = MOVE_COPY, .group = (n)
#define BATCHES_BURST 256

/* Works of one shape, named NAME_B for each burst B. A further row is a line. */
static const struct works {
	const char *name;
	enum { CHAIN, MIX, DIAMOND, HALVES, BATCHES } shape;
	unsigned int bursts[6]; /* the first one counts even if it is 0 */
	/* Of CHAIN, between source and sink; of DIAMOND: arms; of BATCHES: sinks. */
	unsigned int nodes;
	unsigned int edges, first;    /* of MIX, and the percentage along the first */
	const unsigned int depths[4]; /* of the arms of DIAMOND */
	unsigned int sources;         /* of DIAMOND, if several: they are part of the name */
	enum move move;
	unsigned int group; /* of MOVE_COPY */
	unsigned int plain_moves;
	bool by_walk; /* cycles are those of a walk, and the name is the work's */
} all[] = {
	{ "home_run", CHAIN, { 64, 32, 8 }, 4 },
	{ "chain1", CHAIN, { 256 }, 1 },
	{ "chain2", CHAIN, { 256 }, 2 },
	{ "chain4", CHAIN, { 256 }, 4 },
	{ "chain8", CHAIN, { 256 }, 8 },
	{ "chain16", CHAIN, { 256 }, 16 },
	{ "chain1", CHAIN, { 32 }, 1 },
	{ "chain2", CHAIN, { 32 }, 2 },
	{ "chain4", CHAIN, { 32 }, 4 },
	{ "chain8", CHAIN, { 32 }, 8 },
	{ "chain16", CHAIN, { 32 }, 16 },
	/* The cost of a walk with no object or a single one. */
	{ "idle", CHAIN, { 0 }, 4, .by_walk = true },
	{ "single", CHAIN, { 1 }, 4, .by_walk = true },
	{ "one_edge", MIX, { 256, 64, 32, 8, 1 }, .edges = 1, .first = 100 },
	{ "mix2", MIX, { 256, 64, 32, 8, 1 }, .edges = 2, .first = 50 },
	{ "mix2_90_10", MIX, { 256, 64, 32, 8, 1 }, .edges = 2, .first = 90 },
	{ "mix2_99_1", MIX, { 256, 64, 32, 8, 1 }, .edges = 2, .first = 99 },
	{ "mix4", MIX, { 256, 64, 32, 8, 1 }, .edges = 4, .first = 25 },
	{ "mix8", MIX, { 256, 64, 32, 8, 1 }, .edges = 8, .first = 12 },
	{ "mix16", MIX, { 256, 64, 32, 8, 1 }, .edges = 16, .first = 6 },
	{ "mix64", MIX, { 256 }, .edges = 64, .first = 2 },
	{ "diamond_0_1", DIAMOND, { 256 }, 2, .depths = { 0, 1 } },
	{ "diamond_1_8", DIAMOND, { 256 }, 2, .depths = { 1, 8 } },
	{ "diamond_0_1_2_4", DIAMOND, { 256 }, 4, .depths = { 0, 1, 2, 4 } },
	/* More than a burst meets: 300 objects, which take two calls in one visit, and more in several. */
	{ "diamond_0_1_2_4", DIAMOND, { 100 }, 4, .depths = { 0, 1, 2, 4 }, .sources = 3 },
	/* As in ByteDance's study: ways to pass a burst on, and bursts that are split. */
	{ "pass_swap", CHAIN, { 8, 32, 64, 128, 256 }, 4, .plain_moves = 4 },
	{ "pass_assign", CHAIN, { 8, 32, 64, 128, 256 }, 4, ASSIGN, .plain_moves = 4 },
	{ "pass_memcpy1", CHAIN, { 32, 64, 128, 256 }, 4, COPY(1), .plain_moves = 4 },
	{ "pass_memcpy2", CHAIN, { 32, 64, 128, 256 }, 4, COPY(2), .plain_moves = 4 },
	{ "pass_memcpy4", CHAIN, { 32, 64, 128, 256 }, 4, COPY(4), .plain_moves = 4 },
	{ "pass_memcpy8", CHAIN, { 8, 32, 64, 128, 256 }, 4, COPY(8), .plain_moves = 4 },
	{ "pass_memcpy16", CHAIN, { 32, 64, 128, 256 }, 4, COPY(16), .plain_moves = 4 },
	{ "pass_memcpy32", CHAIN, { 32, 64, 128, 256 }, 4, COPY(32), .plain_moves = 4 },
	{ "pass_memcpy64", CHAIN, { 64, 128, 256 }, 4, COPY(64), .plain_moves = 4 },
	{ "pass_memcpy128", CHAIN, { 128, 256 }, 4, COPY(128), .plain_moves = 4 },
	{ "pass_memcpy256", CHAIN, { 256 }, 4, COPY(256), .plain_moves = 4 },
	{ "batches_1_assign", BATCHES, { BATCHES_BURST }, 1, ASSIGN, .plain_moves = 1 },
	{ "batches_2_assign", BATCHES, { BATCHES_BURST }, 2, ASSIGN, .plain_moves = 1 },
	{ "batches_4_assign", BATCHES, { BATCHES_BURST }, 4, ASSIGN, .plain_moves = 1 },
	{ "batches_1_memcpy8", BATCHES, { BATCHES_BURST }, 1, COPY(8), .plain_moves = 1 },
	{ "batches_2_memcpy8", BATCHES, { BATCHES_BURST }, 2, COPY(8), .plain_moves = 1 },
	{ "batches_4_memcpy8", BATCHES, { BATCHES_BURST }, 4, COPY(8), .plain_moves = 1 },
	{ "split_1_2_4", HALVES, { 8, 32, 64, 128, 256 } },
};

static void
build(struct topology *t, const struct works *w, unsigned int burst)
{
	char name[sizeof(t->name)];

	if (w->by_walk)
		snprintf(name, sizeof(name), "%s", w->name);
	else if (w->sources > 1)
		snprintf(name, sizeof(name), "%s_%ux%u", w->name, w->sources, burst);
	else
		snprintf(name, sizeof(name), "%s_%u", w->name, burst);
	if (w->shape == MIX)
		topo_mix(t, name, burst, w->edges, w->first);
	else if (w->shape == DIAMOND)
		topo_diamond(t, name, RTE_MAX(w->sources, 1u), burst, w->depths, w->nodes);
	else if (w->shape == HALVES)
		topo_halves(t, name, burst);
	else if (w->shape == BATCHES)
		topo_batches(t, name, burst, w->nodes);
	else
		topo_chain(t, name, w->nodes, burst);
	t->unit = w->by_walk ? CYCLES_WALK : CYCLES_OBJECT;
	t->move = w->move;
	t->group = w->group;
	t->plain_moves += w->plain_moves;
}

/* What it costs to send a burst to twice as many nodes. */
static void
doublings(void)
{
	static const char *const ways[] = { "assign", "memcpy8" };

	for (unsigned int i = 0; i < RTE_DIM(ways); i++)
		for (unsigned int batches = 1; batches < 4; batches *= 2) {
			char from[sizeof(((struct topology *)0)->name)], to[sizeof(from)];

			snprintf(from, sizeof(from), "batches_%u_%s_%u", batches, ways[i],
				BATCHES_BURST);
			snprintf(to, sizeof(to), "batches_%u_%s_%u", 2 * batches, ways[i],
				BATCHES_BURST);
			bench_loss(to, from);
		}
}

void
bench_walk(void)
{
	struct topology *t = bench_alloc(1, sizeof(*t));

	bench_create(); /* first, since librte_graph's registry only grows */
	for (unsigned int i = 0; topo_upstream(t, i); i++)
		work(t);
	for (unsigned int i = 0; i < RTE_DIM(all); i++) {
		for (unsigned int b = 0; b == 0 || all[i].bursts[b] > 0; b++) {
			build(t, &all[i], all[i].bursts[b]);
			work(t);
			if (all[i].shape == DIAMOND)
				calls(t);
		}
	}
	doublings();
	free(t);
}
