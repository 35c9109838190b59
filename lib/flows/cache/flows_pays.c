/* SPDX-License-Identifier: BSD-3-Clause */
/* Which caches pay. Depends on nothing but the clocks and counts that it is given. */

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "flows_pays.h"

#define FIRST 1024u        /* bursts until the first pair */
#define SELDOM 64u         /* the share of the time that trials take, at most */
#define INTERVAL_LEAST 16u /* bursts */
#define INTERVAL_MOST 16384u
#define PACKETS 16 /* clocks are of so many */
#define BETTER 32u /* one part in so many, or more, must be saved */
#define FILLED 16u /* one packet in so many fills an empty entry: the cache is being filled */

/* Each set of levels, in turn. */
static uint32_t
next_trial(const struct flows_pays *pays)
{
	uint32_t tried = pays->tried;

	do
		tried = tried == 0 ? pays->all : tried - 1;
	while (tried == 0 || (tried & ~pays->all) != 0);
	return tried;
}

void
flows_pays_init(struct flows_pays *pays, const struct hy_flows_caches *kinds)
{
	*pays = (struct flows_pays){ .wait = UINT32_MAX, .often = kinds->exact_one_in };
	if (kinds->exact != HY_FLOWS_EXACT_NONE)
		pays->all |= PAYS_BIT(PAYS_EXACT);
	if (kinds->index != HY_FLOWS_INDEX_NONE)
		pays->all |= PAYS_BIT(PAYS_INDEX);
	if (kinds->frames)
		pays->all |= PAYS_BIT(PAYS_FRAMES);
	pays->levels = pays->all;
	for (uint32_t tried = 0; tried < RTE_DIM(pays->interval); tried++)
		pays->interval[tried] = INTERVAL_LEAST;
	for (uint32_t level = 0; level < PAYS_LEVELS; level++)
		pays->view[level].present = (pays->all & PAYS_BIT(level)) != 0;
	pays->automatic = kinds->automatic && pays->all != 0;
	if (!pays->automatic)
		return;
	pays->wait = FIRST;
	pays->tried = next_trial(pays);
}

uint32_t
flows_pays_try(struct flows_pays *pays)
{
	if (!pays->automatic) {
		pays->wait = UINT32_MAX;
		return pays->levels;
	}
	pays->step++;
	return pays->step == 1 ? pays->levels : pays->levels ^ pays->tried;
}

static int
by_size(const void *a, const void *b)
{
	const uint32_t *one = a, *other = b;

	return (*one > *other) - (*one < *other);
}

static uint32_t
median(uint32_t clocks[PAYS_PAIRS])
{
	qsort(clocks, PAYS_PAIRS, sizeof(*clocks), by_size);
	return clocks[PAYS_PAIRS / 2];
}

/* Whether one of the levels that were tried fills. */
static bool
is_filling(const struct flows_pays *pays)
{
	bool filling = false;

	for (uint32_t level = 0; level < PAYS_LEVELS; level++) {
		const uint64_t filled = (uint64_t)pays->filled[level] *
			(level == PAYS_EXACT ? pays->often : 1);

		filling |= (pays->tried & PAYS_BIT(level)) != 0 &&
			filled * FILLED > pays->asked[level];
	}
	return filling;
}

/* Bursts between trials that differ so much from what is usual. */
static uint32_t
interval_for(uint32_t usual, uint32_t otherwise)
{
	const uint64_t differ = usual < otherwise ? otherwise - usual : usual - otherwise;
	const uint64_t interval = SELDOM * differ / RTE_MAX(usual, 1u);

	return (uint32_t)RTE_MIN(RTE_MAX(interval, INTERVAL_LEAST), INTERVAL_MOST);
}

static void
show(uint32_t *field, uint64_t value)
{
	__atomic_store_n(field, (uint32_t)RTE_MIN(value, UINT32_MAX), __ATOMIC_RELAXED);
}

/* Tells what a level was judged by. */
static void
show_level(struct flows_pays *pays, uint32_t level, uint32_t usual, uint32_t otherwise)
{
	const bool in_use = (pays->levels & PAYS_BIT(level)) != 0;
	struct hy_flows_level *view = &pays->view[level];

	show(&view->with, (in_use ? usual : otherwise) * UINT64_C(100) / PACKETS);
	show(&view->without, (in_use ? otherwise : usual) * UINT64_C(100) / PACKETS);
	show(&view->found, UINT64_C(1000) * pays->found[level] / RTE_MAX(pays->asked[level], 1u));
}

/* Takes up what was tried. */
static void
change(struct flows_pays *pays)
{
	pays->levels ^= pays->tried;
	for (uint32_t level = 0; level < PAYS_LEVELS; level++) {
		struct hy_flows_level *view = &pays->view[level];

		if ((pays->tried & PAYS_BIT(level)) == 0)
			continue;
		__atomic_store_n(&view->skipped, (pays->levels & PAYS_BIT(level)) == 0,
			__ATOMIC_RELAXED);
		show(&view->changes, view->changes + UINT64_C(1));
	}
}

/* All pairs are there. */
static void
judge(struct flows_pays *pays)
{
	const uint32_t usual = median(pays->clocks[0]), otherwise = median(pays->clocks[1]);

	pays->interval[pays->tried] = interval_for(usual, otherwise);
	for (uint32_t level = 0; level < PAYS_LEVELS; level++)
		if (pays->tried == PAYS_BIT(level))
			show_level(pays, level, usual, otherwise);
	if (otherwise < usual - usual / BETTER && !is_filling(pays))
		change(pays);
	pays->pairs = 0;
	pays->tried = next_trial(pays);
	if (pays->tried != pays->all)
		return;
	/* All trials were made. */
	memset(pays->asked, 0, sizeof(pays->asked));
	memset(pays->found, 0, sizeof(pays->found));
	memset(pays->filled, 0, sizeof(pays->filled));
}

void
flows_pays_take(struct flows_pays *pays, uint64_t clocks, uint32_t n)
{
	const uint64_t each = clocks * PACKETS / RTE_MAX(n, 1u);

	if (pays->step == 0)
		return;
	if (n == 0) { /* the next burst is taken instead */
		pays->step--;
		return;
	}
	pays->clocks[pays->step - 1][pays->pairs] = (uint32_t)RTE_MIN(each, UINT32_MAX);
	if (pays->step == 1)
		return;
	pays->step = 0;
	pays->wait = pays->interval[pays->tried];
	if (++pays->pairs == PAYS_PAIRS)
		judge(pays);
}
