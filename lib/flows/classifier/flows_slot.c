/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slots of megaflows. One that is given up waits until workers have left it, since they may compare its
 * record or count for it; more slots than megaflows are possible, so that some can wait.
 *
 * Only a worker writes its counts. So those of earlier megaflows stay in them, and are subtracted.
 */

#include "lib/flows/flows.h"

struct flows_counts
flows_slot_counts(const struct hy_flows *f, uint32_t slot)
{
	const struct flows_slot *s = &f->slots[slot];
	struct flows_counts sum = {
		.packets = -s->packets, .bytes = -s->bytes, .last = s->credited
	};

	for (unsigned int w = 0; w < f->params.workers; w++) {
		const struct flows_counts *c = &f->workers[w].counts[slot];
		const uint32_t last = (uint32_t)__atomic_load_n(&c->last, __ATOMIC_RELAXED);

		sum.packets += __atomic_load_n(&c->packets, __ATOMIC_RELAXED);
		sum.bytes += __atomic_load_n(&c->bytes, __ATOMIC_RELAXED);
		/* The later one, of times that wrap around; a worker that never counted has none. */
		if (__atomic_load_n(&c->packets, __ATOMIC_RELAXED) != 0 &&
			f->clock - last < f->clock - (uint32_t)sum.last)
			sum.last = last;
	}
	return sum;
}

/* Frees slots that workers have left. */
static void
free_waiting(struct hy_flows *f)
{
	while (f->waiting != FLOWS_NOWHERE && flows_passed(f, f->slots[f->waiting].token)) {
		const uint32_t slot = f->waiting;

		f->waiting = f->slots[slot].next;
		f->slots[slot].next = f->free;
		f->free = slot;
	}
}

uint32_t
flows_slot_take(struct hy_flows *f)
{
	struct flows_counts counts;
	uint32_t slot;

	if (f->free == FLOWS_NOWHERE)
		free_waiting(f);
	slot = f->free;
	if (slot == FLOWS_NOWHERE)
		return slot;
	f->free = f->slots[slot].next;
	counts = flows_slot_counts(f, slot);
	f->slots[slot].packets += counts.packets;
	f->slots[slot].bytes += counts.bytes;
	return slot;
}

void
flows_slot_give_up(struct hy_flows *f, uint32_t slot)
{
	f->slots[slot].token = flows_token(f);
	f->slots[slot].next = FLOWS_NOWHERE;
	if (f->waiting == FLOWS_NOWHERE)
		f->waiting = slot;
	else
		f->slots[f->waiting_last].next = slot;
	f->waiting_last = slot;
}
