/* SPDX-License-Identifier: BSD-3-Clause */
/* What goes through all entries of a bridge's table: ageing, flushing, dumping. */

#include "l2_table.h"

/* Slots that hold entries: all but view.none, the last one. */
static uint32_t
nb_slots(const struct hy_l2_table *t)
{
	return t->view.none;
}

static bool
has_entry(const struct hy_l2_table *t, uint32_t slot)
{
	return slot < nb_slots(t) && (l2_word(t, slot) & HY_L2_KEY) != 0;
}

uint32_t
hy_l2_buckets(const struct hy_l2_table *t)
{
	return (nb_slots(t) + HY_L2_WAYS - 1) / HY_L2_WAYS;
}

/* A stamp is older than the use by up to the time until the next one was told. */
static bool
is_unused(const struct hy_l2_table *t, uint32_t slot, uint32_t age)
{
	const uint32_t seen = __atomic_load_n(&t->view.seen[slot], __ATOMIC_RELAXED);

	return seen != t->view.clock && t->before - seen >= age;
}

static uint32_t
age_bucket(struct hy_l2_table *t, uint32_t bucket, uint32_t age)
{
	uint32_t aged = 0;

	for (uint32_t slot = bucket * HY_L2_WAYS; slot < (bucket + 1) * HY_L2_WAYS; slot++) {
		if (!has_entry(t, slot) || (t->values[slot] & HY_L2_STATIC) != 0 ||
			!is_unused(t, slot, age))
			continue;
		t->ports[t->values[slot]].aged++;
		t->aged[l2_vid(l2_word(t, slot))]++;
		l2_entry_delete(t, slot);
		aged++;
	}
	return aged;
}

uint32_t
hy_l2_age(struct hy_l2_table *t, uint32_t now, uint32_t age, uint32_t buckets)
{
	uint32_t aged = 0;

	pthread_mutex_lock(&t->lock);
	if (t->view.clock != now) {
		t->before = t->view.clock;
		__atomic_store_n(&t->view.clock, now, __ATOMIC_RELAXED);
	}
	buckets = RTE_MIN(buckets, hy_l2_buckets(t));
	for (uint32_t i = 0; i < buckets && age > 0; i++) {
		aged += age_bucket(t, t->sweep, age);
		t->sweep++;
		/* The overflow is behind the buckets, and most often empty. */
		if (t->sweep == hy_l2_buckets(t) ||
			(t->sweep >= t->nb_buckets && t->stats.overflowed == 0))
			t->sweep = 0;
	}
	t->stats.aged += aged;
	pthread_mutex_unlock(&t->lock);
	return aged;
}

uint32_t
hy_l2_flush(struct hy_l2_table *t, uint16_t port, uint16_t vid, bool also_static)
{
	uint32_t flushed = 0;

	pthread_mutex_lock(&t->lock);
	for (uint32_t slot = 0; slot < nb_slots(t) && t->stats.entries > 0; slot++) {
		const uint16_t value = t->values[slot];

		if (!has_entry(t, slot) || ((value & HY_L2_STATIC) != 0 && !also_static))
			continue;
		if (port != HY_L2_ANY && (value & HY_L2_MISS) != port)
			continue;
		if (vid != HY_L2_ANY && l2_vid(l2_word(t, slot)) != vid)
			continue;
		l2_entry_delete(t, slot);
		flushed++;
	}
	t->stats.deleted += flushed;
	pthread_mutex_unlock(&t->lock);
	return flushed;
}

uint32_t
hy_l2_dump(struct hy_l2_table *t, uint32_t *cursor, struct hy_l2_entry *entries, uint32_t n)
{
	uint32_t slot = *cursor, found = 0;

	pthread_mutex_lock(&t->lock);
	for (; slot < nb_slots(t) && found < n; slot++)
		if (has_entry(t, slot))
			entries[found++] = l2_entry_read(t, slot);
	pthread_mutex_unlock(&t->lock);
	*cursor = slot < nb_slots(t) ? slot : HY_L2_END;
	return found;
}
