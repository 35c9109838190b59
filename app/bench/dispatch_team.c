/* SPDX-License-Identifier: BSD-3-Clause */
/* A contender of the dispatch benchmark: its task in a lap, and the check that it was done. */

#include <inttypes.h>
#include <stdio.h>

#include "handover.h"

static uint64_t
work_on(uint64_t x, unsigned int rounds)
{
	for (unsigned int r = 0; r < rounds; r++)
		x = (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	return x;
}

void
lane_work(const struct chain_ctx *ctx, void *const *objs, unsigned int n)
{
	uint64_t worked = 0;

	if (ctx->chain->rounds == 0)
		return;
	for (unsigned int i = 0; i < n; i++)
		worked += work_on((uintptr_t)objs[i], ctx->chain->rounds);
	ctx->lane->worked += worked;
}

void
team_init(struct team *team, const struct chain *chain, const char *name, bool hands_over)
{
	static unsigned int count;

	snprintf(team->prefix, sizeof(team->prefix), "d%u", count++);
	team->chain = chain;
	team->name = name;
	team->hands_over = hands_over;
	for (uint64_t i = 1; i <= LAP_OBJECTS && chain->rounds > 0; i++)
		team->worked += (chain->nb_nodes - 2) * work_on(i, chain->rounds);
}

void
team_begin(struct team *t)
{
	const uint64_t first = t->hands_over ? 100 : t->chain->first_percent;
	const uint64_t parts[] = { 1, 1 + LAP_OBJECTS * first / 100, 1 + LAP_OBJECTS };

	for (unsigned int l = 0; l < LANES; l++) {
		struct lane *lane = &t->lanes[l];

		lane->next = parts[l];
		lane->end = parts[l + 1];
		lane->seen = lane->sum = lane->last = lane->worked = 0;
		lane->disorder = false;
	}
	atomic_store(&t->left, UINT64_MAX);
}

void
team_check(struct team *t)
{
	const struct lane *a = &t->lanes[0], *b = &t->lanes[1];
	const uint64_t sum = (uint64_t)LAP_OBJECTS * (LAP_OBJECTS + 1) / 2;

	if (a->seen + b->seen == LAP_OBJECTS && a->sum + b->sum == sum &&
		a->worked + b->worked == t->worked && !a->disorder && !b->disorder &&
		(!t->all_pinned || a->seen == 0))
		return;
	t->wrong = true;
	fprintf(stderr,
		"hy-bench: %s: %s: lcores saw %" PRIu64 " and %" PRIu64 " objects of %d, of sum "
		"%" PRIu64 " instead of %" PRIu64 ", worked to %" PRIx64 " instead of %" PRIx64
		"%s%s\n",
		t->chain->name, t->name, a->seen, b->seen, LAP_OBJECTS, a->sum + b->sum, sum,
		a->worked + b->worked, t->worked,
		a->disorder || b->disorder ? ", out of order" : "",
		t->all_pinned && a->seen > 0 ? ", not all where they are pinned to" : "");
}
