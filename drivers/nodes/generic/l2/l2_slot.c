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
	return t->params.qsbr == NULL || rte_rcu_qsbr_check(t->params.qsbr, token, false) == 1;
}

/* Slots of a bucket without a key that no worker reads, as bits. */
static uint32_t
free_slots(struct hy_l2_table *t, uint32_t number)
{
	struct l2_bucket *bucket = &t->buckets[number];
	const uint64_t *words = &t->words[number * HY_L2_WAYS];
	uint32_t free = 0;

	for (uint32_t i = 0; i < HY_L2_WAYS; i++)
		free |= (uint32_t)((words[i] & HY_L2_KEY) == 0) << i;
	if (free != 0 && (free & ~bucket->waiting) == 0 && l2_passed(t, bucket->token))
		bucket->waiting = 0;
	return free & ~bucket->waiting;
}

int
l2_slot_take(struct hy_l2_table *t, uint64_t key, uint16_t value, uint32_t *slot)
{
	const uint32_t number = hy_l2_bucket(&t->view, key);
	const uint32_t free = free_slots(t, number);
	uint64_t *last = &t->words[number * HY_L2_WAYS + L2_LAST];
	int rc;

	if (free != 0) {
		*slot = number * HY_L2_WAYS + rte_bsf32(free);
		__atomic_store_n(&t->values[*slot], value, __ATOMIC_RELAXED);
		__atomic_store_n(&t->view.seen[*slot], t->view.clock, __ATOMIC_RELAXED);
		__atomic_store_n(&t->words[*slot], key, __ATOMIC_RELEASE);
		return 0;
	}
	if (*last == 0)
		__atomic_store_n(last, L2_TOMBSTONE, __ATOMIC_RELEASE);
	t->buckets[number].overflowed++;
	rc = l2_overflow_take(t, key, value, slot);
	if (rc < 0)
		t->buckets[number].overflowed--;
	if (t->buckets[number].overflowed == 0 && *last == L2_TOMBSTONE)
		__atomic_store_n(last, 0, __ATOMIC_RELAXED);
	return rc;
}

void
l2_slot_give_up(struct hy_l2_table *t, uint32_t slot)
{
	const bool outside = slot >= t->view.overflow_base;
	const uint32_t number = outside ? hy_l2_bucket(&t->view, l2_word(t, slot))
					: slot / HY_L2_WAYS;
	const uint32_t way = slot % HY_L2_WAYS;
	struct l2_bucket *bucket = &t->buckets[number];
	uint64_t *last = &t->words[number * HY_L2_WAYS + L2_LAST];

	if (!outside) {
		const bool mark = way == L2_LAST && bucket->overflowed > 0;

		__atomic_store_n(&t->words[slot], mark ? L2_TOMBSTONE : 0, __ATOMIC_RELAXED);
		bucket->waiting |= (uint8_t)(1u << way);
		bucket->token = l2_token(t);
		return;
	}
	l2_overflow_give_up(t, slot - t->view.overflow_base);
	bucket->overflowed--;
	if (bucket->overflowed == 0 && *last == L2_TOMBSTONE)
		__atomic_store_n(last, 0, __ATOMIC_RELAXED);
}
