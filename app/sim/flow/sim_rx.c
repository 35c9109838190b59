/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets through a simulated flow engine: marked, counted, dropped, spread over queues. */

#include <errno.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ether.h>
#include <rte_mbuf.h>
#include <rte_random.h>

#include "sim_engine.h"

#define JUMPS_MAX 8

/* What the rules do with one packet. */
struct verdict {
	bool mark, flag, drop, missed, filtered;
	uint32_t id;
	uint16_t queue;
};

enum fault { MARK_TRUE, MARK_WRONG, MARK_NONE };

/* What the faults do to the mark of a packet. */
static enum fault
fault_of(struct hy_flow_sim *sim)
{
	const struct hy_flow_sim_faults *are = &sim->faults;

	if (are->no_marks != 0 || (are->mark_every > 0 && rte_rand_max(are->mark_every) != 0))
		return MARK_NONE;
	if (are->mark_until > 0 &&
		__atomic_fetch_add(&sim->marks, 1, __ATOMIC_RELAXED) >= are->mark_until)
		return MARK_NONE;
	return are->lie_every > 0 && rte_rand_max(are->lie_every) == 0 ? MARK_WRONG : MARK_TRUE;
}

/* A wrong mark: that of another rule if possible, since readers would accept it. */
static uint32_t
another_mark(const struct hy_flow_sim *sim, uint32_t id)
{
	const uint32_t from = (uint32_t)rte_rand_max(sim->nb_rules);

	for (uint32_t i = 0; i < sim->nb_rules; i++) {
		const struct hy_sim_wish *wish = &sim->rules[(from + i) % sim->nb_rules]->wish;

		if (wish->mark && wish->mark_id != id)
			return wish->mark_id;
	}
	return id ^ 1;
}

/* roc_npc_parse.c, npc_process_ipv6_item(): such packets match, and the key has none of their header. */
static void
zeros_find(struct hy_sim_key *key)
{
	memset(key->src6, 0, sizeof(key->src6));
	memset(key->dst6, 0, sizeof(key->dst6));
	key->vtc = 0;
	key->proto = key->ttl = 0;
}

static struct verdict
judge_packet(struct hy_flow_sim *sim, const struct rte_mbuf *pkt, bool counts)
{
	const struct hy_sim_rss *fate = NULL;
	struct verdict verdict = { 0 };
	struct hy_sim_key key;
	uint32_t group = 0;

	hy_sim_parse(rte_pktmbuf_mtod(pkt, const uint8_t *), rte_pktmbuf_data_len(pkt), &key);
	if (sim->profile->zeros_ip6 && (key.layers & HY_SIM_EXT) != 0)
		zeros_find(&key);
	verdict.filtered = sim->filters && (key.dst_mac[0] & RTE_ETHER_GROUP_ADDR) == 0 &&
		memcmp(key.dst_mac, &sim->mac, sizeof(sim->mac)) != 0;
	if (verdict.filtered && !sim->profile->rules_first)
		return verdict;
	for (int jumps = 0; jumps < JUMPS_MAX; jumps++) {
		struct rule *rule = hy_sim_match(sim, &key, group);

		if (rule == NULL) {
			verdict.missed = group > 0 && sim->profile->misses_drop;
			break;
		}
		verdict.filtered = false;
		if (rule->wish.count && counts) {
			__atomic_fetch_add(&rule->hits, 1, __ATOMIC_RELAXED);
			__atomic_fetch_add(&rule->bytes, rte_pktmbuf_pkt_len(pkt),
				__ATOMIC_RELAXED);
		}
		if (rule->wish.mark) {
			verdict.mark = true;
			verdict.id = rule->wish.mark_id;
		}
		if (rule->wish.fate.nb_queues > 0)
			fate = &rule->wish.fate;
		verdict.flag |= rule->wish.flag;
		verdict.drop |= rule->wish.drop;
		group = rule->wish.jump;
		if (group == 0)
			break;
	}
	verdict.queue = hy_sim_rss_queue(sim->profile, &sim->rss, fate, &key);
	return verdict;
}

void
hy_sim_counters_read(struct hy_flow_sim *sim)
{
	const uint64_t now = rte_rdtsc(), every = sim->faults.counts_every_us;
	uint64_t next = __atomic_load_n(&sim->read_next, __ATOMIC_RELAXED);

	if (now < next ||
		!__atomic_compare_exchange_n(&sim->read_next, &next,
			now + every * rte_get_tsc_hz() / US_PER_S, false, __ATOMIC_RELAXED,
			__ATOMIC_RELAXED))
		return;
	for (uint32_t i = 0; i < sim->nb_rules; i++) {
		struct rule *rule = sim->rules[i];

		__atomic_store_n(&rule->read_hits, __atomic_load_n(&rule->hits, __ATOMIC_RELAXED),
			__ATOMIC_RELAXED);
		__atomic_store_n(&rule->read_bytes, __atomic_load_n(&rule->bytes, __ATOMIC_RELAXED),
			__ATOMIC_RELAXED);
	}
}

static bool
is_freed(const struct verdict *verdict)
{
	return verdict->drop || verdict->missed || verdict->filtered;
}

int
hy_flow_sim_queue(struct hy_flow_sim *sim, const struct rte_mbuf *pkt)
{
	struct verdict verdict;

	rte_rwlock_read_lock(&sim->lock);
	verdict = judge_packet(sim, pkt, false);
	rte_rwlock_read_unlock(&sim->lock);
	return is_freed(&verdict) ? -ENOENT : verdict.queue;
}

static void
deliver(struct hy_flow_sim *sim, const struct verdict *verdict, struct rte_mbuf *pkt,
	struct hy_flow_sim_stats *burst)
{
	enum fault fault = MARK_TRUE;

	pkt->port = (uint16_t)(pkt->port + sim->faults.port_add);
	if (!sim->deliver || (!verdict->mark && !verdict->flag))
		return;
	if (verdict->mark)
		fault = fault_of(sim);
	if (fault == MARK_NONE) {
		burst->withheld++;
		return;
	}
	pkt->ol_flags |= RTE_MBUF_F_RX_FDIR;
	if (!verdict->mark)
		return;
	pkt->ol_flags |= RTE_MBUF_F_RX_FDIR_ID;
	pkt->hash.fdir.hi = fault == MARK_TRUE ? verdict->id : another_mark(sim, verdict->id);
	burst->lied += fault == MARK_WRONG;
	burst->marked++;
}

uint16_t
hy_flow_sim_rx(struct hy_flow_sim *sim, struct rte_mbuf **pkts, uint16_t n)
{
	struct hy_flow_sim_stats burst = { .packets = n };
	uint16_t kept = 0;

	if (n == 0)
		return 0;
	rte_rwlock_read_lock(&sim->lock);
	if (sim->faults.counts_every_us > 0)
		hy_sim_counters_read(sim);
	for (uint16_t i = 0; i < n; i++) {
		struct verdict verdict = judge_packet(sim, pkts[i], true);

		if (verdict.drop && sim->faults.leak_every > 0 &&
			rte_rand_max(sim->faults.leak_every) == 0) {
			burst.leaked++;
			verdict.drop = false;
		}
		if (is_freed(&verdict)) {
			rte_pktmbuf_free(pkts[i]);
			burst.dropped += verdict.drop;
			burst.missed += verdict.missed;
			burst.filtered += verdict.filtered;
			continue;
		}
		deliver(sim, &verdict, pkts[i], &burst);
		pkts[kept++] = pkts[i];
	}
	__atomic_fetch_add(&sim->stats.packets, burst.packets, __ATOMIC_RELAXED);
	__atomic_fetch_add(&sim->stats.marked, burst.marked, __ATOMIC_RELAXED);
	__atomic_fetch_add(&sim->stats.dropped, burst.dropped, __ATOMIC_RELAXED);
	__atomic_fetch_add(&sim->stats.missed, burst.missed, __ATOMIC_RELAXED);
	__atomic_fetch_add(&sim->stats.filtered, burst.filtered, __ATOMIC_RELAXED);
	__atomic_fetch_add(&sim->stats.leaked, burst.leaked, __ATOMIC_RELAXED);
	__atomic_fetch_add(&sim->stats.lied, burst.lied, __ATOMIC_RELAXED);
	__atomic_fetch_add(&sim->stats.withheld, burst.withheld, __ATOMIC_RELAXED);
	rte_rwlock_read_unlock(&sim->lock);
	return kept;
}
