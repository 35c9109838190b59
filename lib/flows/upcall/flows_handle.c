/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The handler's side of upcalls: asks the rules, and installs what they say. Nobody changes a megaflow
 * between an answer of the rules and its installation, so that revalidation, which waits for that, finds
 * all answers of earlier rules.
 */

#include "flows_upcall.h"

void
flows_turn_take(struct flows_turn *turn)
{
	uint64_t mine;

	pthread_mutex_lock(&turn->lock);
	mine = turn->asked++;
	while (turn->served != mine)
		pthread_cond_wait(&turn->next, &turn->lock);
	pthread_mutex_unlock(&turn->lock);
}

void
flows_turn_give(struct flows_turn *turn)
{
	pthread_mutex_lock(&turn->lock);
	turn->served++;
	pthread_cond_broadcast(&turn->next);
	pthread_mutex_unlock(&turn->lock);
}

/* Answers one packet. In its turn. */
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

/* Answers up to `most` packets, in one turn. */
static uint32_t
answer_some(struct hy_flows_upcalls *u, struct flows_upcall_worker *w, uint32_t most)
{
	struct flows_miss miss;
	uint32_t handled = 0;

	flows_turn_take(&u->turn);
	while (handled < most && rte_ring_sc_dequeue_elem(w->misses, &miss, sizeof(miss)) == 0) {
		struct flows_answer back = {
			.mbuf = miss.mbuf, .order = miss.order, .by = answer(u, w, &miss.key)
		};

		rte_ring_sp_enqueue_elem(w->answers, &back, sizeof(back)); /* there is room */
		handled++;
	}
	flows_turn_give(&u->turn);
	return handled;
}

uint32_t
hy_flows_handle(struct hy_flows_upcalls *u, unsigned int worker, uint32_t most)
{
	struct flows_upcall_worker *w = &u->workers[worker];
	uint32_t handled = 0;

	while (handled < most && rte_ring_empty(w->misses) == 0)
		handled += answer_some(u, w, RTE_MIN(most - handled, (uint32_t)FLOWS_TURN));
	return handled;
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
