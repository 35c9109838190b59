/* SPDX-License-Identifier: BSD-3-Clause */
/* The works of the walk benchmark, and who contends for them. */

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
		const char *name, *alone; /* where there is only one way */
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
		/* What counts nothing is no peer: it is shown, and not compared. */
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
	enter(&f, plain, walk_plain_destroy);
	field_measure(&f, t->unit);
}

/* How often the node where a diamond's arms meet is called in a walk. */
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

static void
chains(struct topology *t)
{
	static const unsigned int lengths[] = { 1, 2, 4, 8, 16 }, bursts[] = { 256, 32 };
	char name[sizeof(t->name)];

	topo_chain(t, "home_run_64", 4, 64);
	work(t);
	topo_chain(t, "home_run_32", 4, 32);
	work(t);
	topo_chain(t, "home_run_8", 4, 8);
	work(t);
	for (unsigned int b = 0; b < RTE_DIM(bursts); b++) {
		for (unsigned int l = 0; l < RTE_DIM(lengths); l++) {
			snprintf(name, sizeof(name), "chain%u_%u", lengths[l], bursts[b]);
			topo_chain(t, name, lengths[l], bursts[b]);
			work(t);
		}
	}
	/* What a walk costs that has nothing, or next to nothing, to do. */
	topo_chain(t, "idle", 4, 0);
	t->unit = CYCLES_WALK;
	work(t);
	topo_chain(t, "single", 4, 1);
	t->unit = CYCLES_WALK;
	work(t);
}

static void
mixes(struct topology *t)
{
	static const unsigned int bursts[] = { 256, 64, 32, 8, 1 };
	static const unsigned int edges[][2] = { { 1, 100 }, { 2, 50 }, { 2, 90 }, { 2, 99 },
		{ 4, 25 }, { 8, 12 }, { 16, 6 } };

	for (unsigned int e = 0; e < RTE_DIM(edges); e++) {
		for (unsigned int b = 0; b < RTE_DIM(bursts); b++) {
			topo_mix(t, bursts[b], edges[e][0], edges[e][1]);
			work(t);
		}
	}
}

static void
diamonds(struct topology *t)
{
	static const unsigned int depths[][4] = { { 0, 1 }, { 1, 8 }, { 0, 1, 2, 4 } };
	static const char *const names[] = { "diamond_0_1", "diamond_1_8", "diamond_0_1_2_4" };
	static const unsigned int arms[] = { 2, 2, 4 };
	char name[sizeof(t->name)];

	for (unsigned int d = 0; d < RTE_DIM(depths); d++) {
		snprintf(name, sizeof(name), "%s_256", names[d]);
		topo_diamond(t, name, 1, 256, depths[d], arms[d]);
		work(t);
		calls(t);
	}
	/* More than a burst meets: 300 objects, which separate visits would not take in two calls. */
	topo_diamond(t, "diamond_0_1_2_4_3x100", 3, 100, depths[2], arms[2]);
	work(t);
	calls(t);
}

/* The study of ByteDance's: ways to hand a batch on, and batches that split and split again. */
static void
batches(struct topology *t)
{
	static const char *const names[] = { [MOVE_SWAP] = "move_swap",
		[MOVE_COPY] = "move_memcpy",
		[MOVE_ASSIGN] = "move_assign" };
	static const unsigned int bursts[] = { 8, 32, 64, 128, 256 };
	char name[sizeof(t->name)];

	for (unsigned int m = 0; m < RTE_DIM(names); m++) {
		for (unsigned int b = 0; b < RTE_DIM(bursts); b++) {
			snprintf(name, sizeof(name), "%s_%u", names[m], bursts[b]);
			topo_chain(t, name, 4, bursts[b]);
			t->move = m;
			t->plain_moves = 4;
			work(t);
		}
	}
	for (unsigned int b = 0; b < RTE_DIM(bursts); b++) {
		topo_halves(t, bursts[b]);
		work(t);
	}
}

void
bench_walk(void)
{
	struct topology *t = aligned_alloc(alignof(struct topology), sizeof(*t));

	if (t == NULL) {
		bench_cannot("no memory");
		bench_skip("*", NULL);
		return;
	}
	bench_create(); /* while there are few other nodes: librte_graph's registry only grows */
	for (unsigned int i = 0; topo_upstream(t, i); i++)
		work(t);
	chains(t);
	mixes(t);
	diamonds(t);
	batches(t);
	free(t);
}
