/* SPDX-License-Identifier: BSD-3-Clause */
/* What goes through all megaflows: timing out, flushing, dumping. */

#include <rte_bitops.h>
#include <rte_common.h>

#include "lib/flows/flows.h"

#define SECOND 1000

static bool
has_flow(const struct hy_flows *f, uint32_t slot)
{
	return FLOWS_TABLE(f->records[slot].tag) != 0;
}

static bool
is_pressed(const struct hy_flows *f)
{
	return f->stats.flows >= f->params.max_flows - f->params.max_flows / 8;
}

/*
 * Whether so much time has passed since what a stamp is of. A stamp is older than that by up to the time
 * until the next poll, which is at most the longest one between two polls since then.
 */
static bool
has_passed(const struct hy_flows *f, uint32_t stamp, uint32_t time)
{
	const uint32_t since = f->clock - stamp;

	if (since < time)
		return false;
	for (uint32_t k = RTE_DIM(f->gaps); k-- > 0;)
		if (f->gaps[k].length != 0 && f->clock - f->gaps[k].begin <= since)
			return since - RTE_MIN(since, f->gaps[k].length) >= time;
	return false;
}

/* Remembers how long it was until this poll. */
static void
tell(struct hy_flows *f, uint32_t clock)
{
	const uint32_t length = clock - f->clock;
	struct flows_gap *gap;

	if (length == 0)
		return;
	gap = &f->gaps[rte_fls_u32(length) - 1];
	gap->begin = f->clock;
	gap->length = RTE_MAX(gap->length, length);
	__atomic_store_n(&f->clock, clock, __ATOMIC_RELAXED);
}

/* Whether a megaflow's time is up, which is counted. */
static bool
is_over(struct hy_flows *f, uint32_t slot)
{
	const struct flows_slot *s = &f->slots[slot];
	const uint32_t last = (uint32_t)flows_slot_counts(f, slot).last;
	uint64_t *counter = NULL;

	if (s->hard != 0 && has_passed(f, s->created, s->hard))
		counter = &f->stats.ended;
	else if (s->idle != 0 && has_passed(f, last, s->idle))
		counter = &f->stats.idled;
	else if (s->idle != 0 && is_pressed(f) && has_passed(f, last, f->params.pressed_idle))
		counter = &f->stats.evicted;
	if (counter == NULL)
		return false;
	++*counter;
	return true;
}

static uint32_t
sweep(struct hy_flows *f, uint32_t most)
{
	uint32_t deleted = 0;

	for (uint32_t n = RTE_MIN(most, f->nb_slots); n > 0; n--) {
		const uint32_t slot = f->sweep;

		f->sweep = slot + 1 == f->nb_slots ? 0 : slot + 1;
		if (!has_flow(f, slot) || !is_over(f, slot))
			continue;
		flows_delete(f, slot);
		deleted++;
	}
	if (deleted > 0)
		flows_order_clean(f);
	return deleted;
}

uint32_t
hy_flows_poll(struct hy_flows *f, uint32_t now, uint32_t most)
{
	uint32_t deleted;

	pthread_mutex_lock(&f->lock);
	if (!f->told) {
		f->told = true;
		f->start = now;
	}
	tell(f, now - f->start);
	deleted = sweep(f, most);
	if (f->clock - f->sorted >= SECOND) {
		f->sorted = f->clock;
		flows_order_sort(f);
	}
	flows_reap(f);
	pthread_mutex_unlock(&f->lock);
	return deleted;
}

uint32_t
hy_flows_flush(struct hy_flows *f, uint16_t port)
{
	uint32_t flushed = 0;

	pthread_mutex_lock(&f->lock);
	for (uint32_t slot = 0; slot < f->nb_slots && f->stats.flows > 0; slot++) {
		if (!has_flow(f, slot) ||
			(port != HY_FLOWS_ANY &&
				f->tables[FLOWS_TABLE(f->records[slot].tag)]->port != port))
			continue;
		flows_delete(f, slot);
		flushed++;
	}
	flows_order_clean(f);
	f->stats.deleted += flushed;
	pthread_mutex_unlock(&f->lock);
	return flushed;
}

uint32_t
hy_flows_dump(struct hy_flows *f, uint32_t *cursor, struct hy_flows_entry *entries, uint32_t n)
{
	uint32_t slot = *cursor, found = 0;

	pthread_mutex_lock(&f->lock);
	for (; slot < f->nb_slots && found < n; slot++)
		if (has_flow(f, slot))
			entries[found++] = flows_entry(f, slot);
	pthread_mutex_unlock(&f->lock);
	*cursor = slot < f->nb_slots ? slot : HY_FLOWS_END;
	return found;
}
