/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds slots in scalar code: the kernel that others are tested against, and what is rare in all. */

#include <rte_hash.h>

#include "l2_find.h"

static __rte_always_inline uint64_t
word_load(const struct hy_l2_view *view, uint32_t slot)
{
	return __atomic_load_n(&view->words[slot], __ATOMIC_ACQUIRE);
}

/* Where a key is that is not in its bucket. */
static uint32_t
find_outside(const struct hy_l2_view *view, uint64_t key, uint32_t first)
{
	int32_t position;

	if (word_load(view, first + HY_L2_WAYS - 1) == 0)
		return view->none;
	position = rte_hash_lookup(view->overflow, &key);
	return position < 0 ? view->none : view->overflow_base + (uint32_t)position;
}

static uint32_t
find_one(const struct hy_l2_view *view, uint64_t key, uint32_t first)
{
	for (uint32_t i = 0; i < HY_L2_WAYS; i++)
		if (word_load(view, first + i) == key)
			return first + i;
	return find_outside(view, key, first);
}

void
hy_l2_find_scalar(const struct hy_l2_view *view, const uint64_t key[], uint32_t slot[], uint32_t n)
{
	l2_find_fetch(view, key, slot, n);
	for (uint32_t i = 0; i < n; i++)
		slot[i] = find_one(view, key[i], slot[i]);
}

void
l2_find_rest(const struct hy_l2_view *view, const uint64_t key[], uint32_t slot[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t first;

		/* Most keys are where they were found. Of one that was removed since, the slot stays. */
		if (likely(__atomic_load_n(&view->words[slot[i]], __ATOMIC_RELAXED) == key[i]))
			continue;
		first = hy_l2_bucket(view, key[i]);
		if (slot[i] == first + L2_ABSENT)
			slot[i] = find_outside(view, key[i], first);
	}
}
