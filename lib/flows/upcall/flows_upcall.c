/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The worker's side of upcalls. Packets that are on the way are counted by 16 bits of a hash of their
 * key without TOS, TTL and TCP flags; a packet whose count is not 0 goes after them. While none are and
 * none was missed, keys are not looked at. There are never more on the way than there is room, so
 * answers always find a place.
 *
 * A flow whose packets arrive faster than they are answered would go that way forever, since some of them
 * always are on it. So once half of the room is taken, an order is closed: packets that a megaflow matches are
 * dropped until the last one before them has come back. Flows that always miss may keep it from coming:
 * one of their packets opens the order once less than half of the room is taken.
 */

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include <rte_errno.h>
#include <rte_malloc.h>
#include <rte_mbuf.h>

#include "lib/graph/internal/log.h"

#include "flows_upcall.h"

#define CLOSED 0x8000 /* in a count of packets that are on the way */

static struct rte_ring *
ring_create(const struct hy_flows_upcalls *u, size_t size)
{
	static unsigned int created;
	char name[RTE_RING_NAMESIZE];

	snprintf(name, sizeof(name), "hy_fl_%d_%u", (int)getpid(),
		__atomic_add_fetch(&created, 1, __ATOMIC_RELAXED));
	return rte_ring_create_elem(name, (unsigned int)size, u->params.room,
		u->flows->params.socket, RING_F_SP_ENQ | RING_F_SC_DEQ | RING_F_EXACT_SZ);
}

static int
worker_create(const struct hy_flows_upcalls *u, struct flows_upcall_worker *w)
{
	w->misses = ring_create(u, sizeof(struct flows_miss));
	w->answers = ring_create(u, sizeof(struct flows_answer));
	w->on_the_way = flows_alloc(u->flows,
		(size_t)FLOWS_ORDERS(u->params.room) * sizeof(*w->on_the_way));
	return w->misses == NULL || w->answers == NULL || w->on_the_way == NULL ? -ENOMEM : 0;
}

int
hy_flows_upcalls_create(struct hy_flows *f, const struct hy_flows_upcall_params *params,
	struct hy_flows_upcalls **out)
{
	const unsigned int workers = f->params.workers;
	struct hy_flows_upcalls *u;
	int rc = 0;

	*out = NULL;
	if (params->rules == NULL || params->room < 2 || params->room > HY_FLOWS_UPCALLS_MOST ||
		!rte_is_power_of_2(params->room))
		return HY_REFUSE(-EINVAL,
			"upcalls of a flow cache: room for %u packets, rules%s given: a power of "
			"two from 2 to %u, and rules, are needed",
			params->room, params->rules == NULL ? " not" : "", HY_FLOWS_UPCALLS_MOST);
	u = flows_alloc(f, sizeof(*u) + workers * sizeof(u->workers[0]));
	if (u == NULL)
		return -ENOMEM;
	u->flows = f;
	u->params = *params;
	pthread_mutex_init(&u->turn.lock, NULL);
	pthread_cond_init(&u->turn.next, NULL);
	for (unsigned int w = 0; w < workers && rc == 0; w++)
		rc = worker_create(u, &u->workers[w]);
	if (rc < 0) {
		hy_flows_upcalls_destroy(u);
		return rc;
	}
	*out = u;
	return 0;
}

void
hy_flows_upcalls_destroy(struct hy_flows_upcalls *u)
{
	if (u == NULL)
		return;
	for (unsigned int w = 0; w < u->flows->params.workers; w++) {
		struct flows_upcall_worker *worker = &u->workers[w];
		struct flows_miss miss;
		struct flows_answer answer;

		while (worker->misses != NULL &&
			rte_ring_sc_dequeue_elem(worker->misses, &miss, sizeof(miss)) == 0)
			rte_pktmbuf_free(miss.mbuf);
		while (worker->answers != NULL &&
			rte_ring_sc_dequeue_elem(worker->answers, &answer, sizeof(answer)) == 0)
			rte_pktmbuf_free(answer.mbuf);
		rte_ring_free(worker->misses);
		rte_ring_free(worker->answers);
		rte_free(worker->on_the_way);
	}
	pthread_cond_destroy(&u->turn.next);
	pthread_mutex_destroy(&u->turn.lock);
	rte_free(u);
}

static uint32_t
parse_all(const struct hy_flows_upcalls *u)
{
	return HY_FLOWS_PARSE_ALL | (u->flows->params.tunnels ? HY_FLOWS_PARSE_TUNNEL : 0);
}

/* Of what the packets of a connection have in common. */
static uint32_t
order_of(const struct hy_flows_upcalls *u, const struct hy_flows_key *key)
{
	struct hy_flows_key same = *key;
	uint64_t sum = 0;

	same.tos = 0;
	same.ttl = 0;
	same.tcp_flags = 0;
	for (uint32_t w = 0; w < HY_FLOWS_WORDS; w++)
		sum += flows_hash_word(&u->flows->secret, w, same.words[w]);
	return flows_hash_end(sum) & (FLOWS_ORDERS(u->params.room) - 1);
}

static enum hy_flows_fate
send(const struct hy_flows_upcalls *u, struct flows_upcall_worker *w, struct rte_mbuf *mbuf,
	const struct hy_flows_key *key, bool missed)
{
	const uint64_t taken = w->sent.sent - w->sent.taken;
	const uint32_t order = order_of(u, key);
	struct flows_miss miss;

	if (!missed && w->on_the_way[order] == 0)
		return HY_FLOWS_STAYS;
	if (missed && taken < u->params.room / 2)
		w->on_the_way[order] &= (uint16_t)~CLOSED;
	if (!missed && taken >= u->params.room / 2)
		w->on_the_way[order] |= CLOSED;
	if (taken == u->params.room || (!missed && (w->on_the_way[order] & CLOSED) != 0)) {
		flows_add(&w->sent.full, 1);
		return HY_FLOWS_FULL;
	}
	miss = (struct flows_miss){ .mbuf = mbuf, .order = order, .key = *key };
	/* First: a packet that is answered counts as sent, for whoever waits until all are taken. */
	flows_add(&w->sent.sent, 1);
	rte_ring_sp_enqueue_elem(w->misses, &miss, sizeof(miss)); /* there is room */
	w->on_the_way[order]++;
	flows_add(&w->sent.behind, !missed);
	return HY_FLOWS_SENT;
}

/* Some were missed, or are on the way. */
static uint32_t
upcall_some(const struct hy_flows_upcalls *u, struct flows_upcall_worker *w,
	struct rte_mbuf *const mbufs[], const uint32_t flow[], uint8_t fate[], uint32_t n)
{
	struct hy_flows_key key[FLOWS_BURST];
	uint32_t gone = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (i % FLOWS_BURST == 0)
			hy_flows_keys(mbufs + i, parse_all(u), key,
				RTE_MIN(n - i, (uint32_t)FLOWS_BURST));
		fate[i] = (uint8_t)send(u, w, mbufs[i], &key[i % FLOWS_BURST],
			flow[i] == HY_FLOWS_MISS);
		gone += fate[i] != HY_FLOWS_STAYS;
	}
	return gone;
}

uint32_t
hy_flows_upcall(struct hy_flows_upcalls *u, unsigned int worker, struct rte_mbuf *const mbufs[],
	const uint32_t flow[], uint8_t fate[], uint32_t n)
{
	struct flows_upcall_worker *w = &u->workers[worker];
	bool some = w->sent.sent != w->sent.taken;

	for (uint32_t i = 0; i < n; i++) {
		some |= flow[i] == HY_FLOWS_MISS;
		fate[i] = HY_FLOWS_STAYS;
	}
	return some ? upcall_some(u, w, mbufs, flow, fate, n) : 0;
}

/*
 * The action of a packet that comes back: of the megaflow that answered it, or, if that was deleted, of
 * one that matches it now. The worker has not reported since it compared the tag, so the slot stays.
 */
static enum hy_flows_fate
action_of(const struct hy_flows_upcalls *u, struct rte_mbuf *mbuf, const struct flows_found *by,
	uint32_t *action)
{
	const struct flows_record *records = u->flows->records;
	uint32_t slot = by->slot;
	struct hy_flows_key key;

	*action = by->action;
	if (slot == HY_FLOWS_MISS) /* the rules' own */
		return HY_FLOWS_STAYS;
	if (unlikely(FLOWS_LOAD(records[slot].tag) != by->tag)) {
		hy_flows_keys(&mbuf, parse_all(u), &key, 1);
		slot = flows_search(u->flows, &key);
		*action = 0;
	}
	if (unlikely(slot == HY_FLOWS_MISS))
		return HY_FLOWS_GONE;
	*action = FLOWS_LOAD(records[slot].action);
	return HY_FLOWS_STAYS;
}

uint32_t
hy_flows_answers(struct hy_flows_upcalls *u, unsigned int worker, struct rte_mbuf *mbufs[],
	uint32_t action[], uint8_t fate[], uint32_t n)
{
	struct flows_upcall_worker *w = &u->workers[worker];
	struct flows_answer answer;
	uint32_t taken = 0;

	while (taken < n && rte_ring_sc_dequeue_elem(w->answers, &answer, sizeof(answer)) == 0) {
		mbufs[taken] = answer.mbuf;
		fate[taken] = (uint8_t)action_of(u, answer.mbuf, &answer.by, &action[taken]);
		taken++;
		w->on_the_way[answer.order]--;
		if (w->on_the_way[answer.order] == CLOSED)
			w->on_the_way[answer.order] = 0;
	}
	flows_add(&w->sent.taken, taken);
	return taken;
}
