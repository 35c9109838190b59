/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slots of buckets.
 *
 * A slot's value is stored before its key, which is stored with release order. So a worker that finds
 * the key reads its value, or a later one. The word of a slot that is given up becomes 0. Its value stays
 * until the grace period has passed, for workers that have found the key.
 *
 * The last word of a bucket with entries in the overflow is never 0: workers look there only if a key
 * is not in such a bucket. An entry stays where it is until it is deleted, so that none can be missed.
 */

#include <errno.h>

#include <hy_grace.h>

#include "l2_table.h"

uint64_t
l2_token(const struct hy_l2_table *t)
{
	return t->params.qsbr == NULL ? 0 : hy_grace_start(t->params.qsbr);
}

bool
l2_passed(const struct hy_l2_table *t, uint64_t token)
{
	return t->params.qsbr == NULL || hy_grace_over(t->params.qsbr, token);
}

/* Slots of a bucket without a key that no worker reads, as bits. */
static uint32_t
free_slots(struct hy_l2_table *t, uint32_t first)
{
	struct l2_bucket *bucket = &t->buckets[first / HY_L2_WAYS];
	uint32_t free = 0;

	for (uint32_t i = 0; i < HY_L2_WAYS; i++)
		free |= (uint32_t)((t->words[first + i] & HY_L2_KEY) == 0) << i;
	if (free != 0 && (free & ~bucket->waiting) == 0 && l2_passed(t, bucket->token))
		bucket->waiting = 0;
	return free & ~bucket->waiting;
}

/* Counts an entry of a bucket in the overflow, whose last word must not be 0 while it has some. */
static void
overflow_count(struct hy_l2_table *t, uint32_t first, uint32_t by)
{
	uint64_t *last = &t->words[first + L2_LAST];
	struct l2_bucket *bucket = &t->buckets[first / HY_L2_WAYS];

	bucket->overflowed += by;
	if (bucket->overflowed > 0 && *last == 0)
		__atomic_store_n(last, L2_TOMBSTONE, __ATOMIC_RELEASE);
	if (bucket->overflowed == 0 && *last == L2_TOMBSTONE)
		__atomic_store_n(last, 0, __ATOMIC_RELAXED);
}

int
l2_slot_take(struct hy_l2_table *t, uint64_t key, uint16_t value, uint32_t *slot)
{
	const uint32_t first = hy_l2_bucket(&t->view, key);
	const uint32_t free = free_slots(t, first);
	int rc;

	if (free != 0) {
		*slot = first + rte_bsf32(free);
		__atomic_store_n(&t->values[*slot], value, __ATOMIC_RELAXED);
		__atomic_store_n(&t->view.seen[*slot], t->view.clock, __ATOMIC_RELAXED);
		__atomic_store_n(&t->words[*slot], key, __ATOMIC_RELEASE);
		return 0;
	}
	overflow_count(t, first, 1);
	rc = l2_overflow_take(t, key, value, slot);
	if (rc < 0)
		overflow_count(t, first, UINT32_MAX);
	return rc;
}

void
l2_slot_give_up(struct hy_l2_table *t, uint32_t slot)
{
	const uint32_t first = hy_l2_bucket(&t->view, l2_word(t, slot));
	struct l2_bucket *bucket = &t->buckets[first / HY_L2_WAYS];

	if (slot >= t->view.overflow_base) {
		l2_overflow_give_up(t, slot - t->view.overflow_base);
		overflow_count(t, first, UINT32_MAX);
		return;
	}
	__atomic_store_n(&t->words[slot],
		slot == first + L2_LAST && bucket->overflowed > 0 ? L2_TOMBSTONE : 0,
		__ATOMIC_RELAXED);
	bucket->waiting |= (uint8_t)(1u << (slot - first));
	bucket->token = l2_token(t);
}
