/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The handler's side of upcalls: asks the rules, and installs what they say. Nobody changes a megaflow
 * between an answer of the rules and its installation, so that revalidation, which waits for that, finds
 * all answers of earlier rules.
 */

#include "flows_upcall.h"

/* Answers one packet. With the lock. */
static struct flows_found
answer(struct hy_flows_upcalls *u, struct flows_upcall_worker *w, const struct hy_flows_key *key)
{
	struct hy_flows_flow flow = { .key = *key };
	struct flows_found found = flows_find_key(u->flows, key);

	if (found.slot != HY_FLOWS_MISS) {
		flows_add(&w->handled.known, 1);
		return found;
	}
	flows_add(&w->handled.asked, 1);
	if (u->params.rules(u->params.arg, key, &flow) != 0) {
		flows_add(&w->handled.single, 1);
	} else {
		flow.key = *key;
		if (flows_add_found(u->flows, &flow, &found) == 0)
			flows_add(&w->handled.added, 1);
		else
			flows_add(&w->handled.refused, 1);
	}
	found.action = flow.action;
	return found;
}

uint32_t
hy_flows_handle(struct hy_flows_upcalls *u, unsigned int worker, uint32_t most)
{
	struct flows_upcall_worker *w = &u->workers[worker];
	struct flows_miss miss;
	uint32_t handled = 0;

	while (handled < most && rte_ring_sc_dequeue_elem(w->misses, &miss, sizeof(miss)) == 0) {
		struct flows_answer back = { .mbuf = miss.mbuf, .order = miss.order };

		pthread_mutex_lock(&u->lock);
		back.by = answer(u, w, &miss.key);
		pthread_mutex_unlock(&u->lock);
		rte_ring_sp_enqueue_elem(w->answers, &back, sizeof(back)); /* there is room */
		handled++;
	}
	return handled;
}

/* Whether a mask has all bits of another. */
static bool
has_all(const struct hy_flows_key *mask, const struct hy_flows_key *other)
{
	uint64_t more = 0;

	for (uint32_t w = 0; w < HY_FLOWS_WORDS; w++)
		more |= other->words[w] & ~mask->words[w];
	return more == 0;
}

/* Asks the rules about one megaflow. Returns whether it had to change. With the lock. */
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

uint32_t
hy_flows_revalidate(struct hy_flows_upcalls *u)
{
	struct hy_flows_entry entries[32];
	uint32_t cursor = 0, changed = 0;

	pthread_mutex_lock(&u->lock);
	while (cursor != HY_FLOWS_END) {
		const uint32_t n = hy_flows_dump(u->flows, &cursor, entries, RTE_DIM(entries));

		for (uint32_t i = 0; i < n; i++)
			changed += revalidate(u, &entries[i].flow);
	}
	pthread_mutex_unlock(&u->lock);
	return changed;
}

static uint64_t
read_counter(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

void
hy_flows_upcall_stats(const struct hy_flows_upcalls *u, unsigned int worker,
	struct hy_flows_upcall_stats *stats)
{
	const struct flows_upcall_worker *w = &u->workers[worker];

	*stats = (struct hy_flows_upcall_stats){
		.sent = read_counter(&w->sent.sent),
		.behind = read_counter(&w->sent.behind),
		.full = read_counter(&w->sent.full),
		.taken = read_counter(&w->sent.taken),
		.known = read_counter(&w->handled.known),
		.asked = read_counter(&w->handled.asked),
		.added = read_counter(&w->handled.added),
		.refused = read_counter(&w->handled.refused),
		.single = read_counter(&w->handled.single),
	};
}
