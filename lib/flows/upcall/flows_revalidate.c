/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Megaflows follow the rules after a change. An answer of the rules as they were is installed in the turn in
 * which it was given, so when the first turn after the change begins, all such answers are megaflows;
 * later ones are of the new rules. So others may have their turn between any two megaflows: what is
 * added behind the cursor needs no asking.
 */

#include "flows_upcall.h"

#define SLOTS 1024 /* looked at in a turn, at most */
#define MOST 64    /* megaflows that are copied at once */

/* Megaflows that a change may touch. */
struct batch {
	uint32_t n, kept;      /* these, and others that were seen */
	uint32_t before[MOST]; /* of the others, those that were seen before */
	uint32_t slot[MOST];
	enum hy_flows_touch touch[MOST];
	struct hy_flows_flow flow[MOST];
};

/* Whether a mask has all bits of another. */
static bool
has_all(const struct hy_flows_key *mask, const struct hy_flows_key *other)
{
	uint64_t more = 0;

	for (uint32_t w = 0; w < HY_FLOWS_WORDS; w++)
		more |= other->words[w] & ~mask->words[w];
	return more == 0;
}

/* Asks the rules about one megaflow. Returns whether it had to change. */
static bool
revalidate(struct hy_flows_upcalls *u, struct hy_flows_flow *flow)
{
	struct hy_flows_flow now = { .key = flow->key };

	/* Bits outside the mask are not known; they are 0 in the key, and must not be looked at. */
	if (u->params.rules(u->params.arg, &flow->key, &now) != 0 ||
		!has_all(&flow->mask, &now.mask))
		return hy_flows_delete(u->flows, &flow->key, &flow->mask) == 0;
	if (now.action == flow->action && now.idle == flow->idle && now.hard == flow->hard)
		return false;
	flow->action = now.action;
	flow->idle = now.idle;
	flow->hard = now.hard;
	return hy_flows_modify(u->flows, flow) == 0;
}

static void
flow_copy(const struct hy_flows *f, uint32_t slot, struct hy_flows_flow *flow)
{
	const struct flows_record *record = &f->records[slot];
	const struct flows_table *table = f->tables[FLOWS_TABLE(record->tag)];

	*flow = (struct hy_flows_flow){ .mask = table->full,
		.action = record->action,
		.idle = f->slots[slot].idle,
		.hard = f->slots[slot].hard };
	for (uint32_t i = 0; i < table->nb_words; i++)
		flow->key.words[table->word[i]] = record->words[i];
}

/* Copies what a change may touch, of the slots of a word from one on. Returns the slot where it ended. */
static uint32_t
copy_word(const struct hy_flows *f, uint32_t slot, const struct hy_flows_touched *touched,
	struct batch *b)
{
	const uint32_t first = slot / 64 * 64;
	uint64_t left = f->used[slot / 64] & UINT64_MAX << slot % 64;

	for (uint64_t ahead = left; ahead != 0; ahead &= ahead - 1)
		__builtin_prefetch(&f->records[first + (uint32_t)__builtin_ctzll(ahead)]);
	for (; left != 0; left &= left - 1) {
		enum hy_flows_touch touch = HY_FLOWS_ASK;

		slot = first + (uint32_t)__builtin_ctzll(left);
		if (b->n == MOST)
			return slot;
		if (touched != NULL)
			touch = touched->by_action(touched->arg, f->records[slot].action);
		if (touch == HY_FLOWS_KEEP) {
			b->kept++;
			continue;
		}
		b->before[b->n] = b->kept;
		b->slot[b->n] = slot;
		b->touch[b->n] = touch;
		flow_copy(f, slot, &b->flow[b->n++]);
	}
	return first + 64;
}

/* Looks at some slots from one on. Returns the next one. */
static uint32_t
copy(struct hy_flows *f, uint32_t slot, const struct hy_flows_touched *touched, struct batch *b)
{
	const uint32_t end = RTE_MIN(slot + SLOTS, f->nb_slots);

	b->n = b->kept = 0;
	pthread_mutex_lock(&f->lock);
	while (slot < end && b->n < MOST)
		slot = copy_word(f, slot, touched, b);
	pthread_mutex_unlock(&f->lock);
	return slot;
}

/* One turn. Returns the slot where the next one begins. */
static uint32_t
take_turn(struct hy_flows_upcalls *u, uint32_t slot, const struct hy_flows_touched *touched,
	struct batch *b, struct hy_flows_revalidated *done)
{
	uint32_t asked = 0;

	slot = copy(u->flows, slot, touched, b);
	for (uint32_t i = 0; i < b->n; i++) {
		if (b->touch[i] == HY_FLOWS_LOOK && !touched->by_key(touched->arg, &b->flow[i])) {
			done->kept++;
			continue;
		}
		if (asked == FLOWS_TURN) {
			done->kept += b->before[i];
			return b->slot[i];
		}
		done->changed += revalidate(u, &b->flow[i]);
		done->asked++;
		asked++;
	}
	done->kept += b->kept;
	return slot;
}

void
hy_flows_revalidate_some(struct hy_flows_upcalls *u, const struct hy_flows_touched *touched,
	struct hy_flows_revalidated *done)
{
	struct hy_flows_revalidated all = { 0 };
	struct batch batch;
	uint32_t slot = 0;

	while (slot < u->flows->nb_slots) {
		flows_turn_take(&u->turn);
		slot = take_turn(u, slot, touched, &batch, &all);
		flows_turn_give(&u->turn);
	}
	if (done != NULL)
		*done = all;
}

uint32_t
hy_flows_revalidate(struct hy_flows_upcalls *u)
{
	struct hy_flows_revalidated done;

	hy_flows_revalidate_some(u, NULL, &done);
	return done.changed;
}
