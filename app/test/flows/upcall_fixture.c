/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker with upcalls; see upcall_fixture.h. */

#include <netinet/in.h>
#include <string.h>

#include "upcall_fixture.h"

uint32_t sim_version;
void (*sim_rules_wait)(void);

struct frame {
	uint8_t ether[14], ip[20], tcp[20];
	uint32_t number, sequence;
	uint8_t rest[2];
} __attribute__((packed));

uint32_t
sim_action_of(uint32_t number)
{
	return number * 16 + __atomic_load_n(&sim_version, __ATOMIC_RELAXED);
}

int
sim_rules(void *arg, const struct hy_flows_key *key, struct hy_flows_flow *answer)
{
	const uint32_t number = rte_be_to_cpu_32(key->dst);

	RTE_SET_USED(arg);
	answer->mask.dst = UINT32_MAX;
	answer->action = sim_action_of(number);
	if (number % 16 == 1) /* as if there were a rule for a source of these */
		answer->mask.src = rte_cpu_to_be_32(UINT32_MAX << number / 16 % 8);
	if (number % 16 == 2)
		answer->mask.sport = UINT16_MAX;
	answer->idle = 1000;
	if (sim_rules_wait != NULL)
		sim_rules_wait();
	return number % 64 == 3 ? 1 : 0;
}

static struct rte_mbuf *
packet(struct sim *s, uint32_t number)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(s->pool);
	struct frame *f;

	assert_non_null(m);
	f = (struct frame *)rte_pktmbuf_append(m, sizeof(*f));
	memset(f, 0, sizeof(*f));
	f->ether[12] = 8;
	f->ip[0] = 0x45;
	f->ip[9] = IPPROTO_TCP;
	f->ip[16] = (uint8_t)(number >> 24);
	f->ip[17] = (uint8_t)(number >> 16);
	f->ip[18] = (uint8_t)(number >> 8);
	f->ip[19] = (uint8_t)number;
	f->number = number;
	f->sequence = s->next[number % SIM_FLOWS]++;
	if (s->differ != 0 && f->sequence % 4 == 3)
		((uint8_t *)f)[s->differ] = SIM_DIFFERS;
	m->port = (uint16_t)(number % 16 == 1);
	s->sent++;
	return m;
}

/* A packet leaves, with what was said of it. */
static void
leave(struct sim *s, struct rte_mbuf *m, uint32_t action)
{
	const struct frame *f = rte_pktmbuf_mtod(m, const struct frame *);
	const uint32_t flow = f->number % SIM_FLOWS;

	s->wrong += action / 16 != f->number;
	s->disordered += f->sequence < s->due[flow];
	s->due[flow] = f->sequence + 1;
	s->out++;
	s->out_of[flow]++;
	s->action[flow] = action;
	rte_pktmbuf_free(m);
}

void
sim_answers(struct sim *s)
{
	struct rte_mbuf *mbufs[SIM_BURST];
	uint32_t action[SIM_BURST], n;
	uint8_t fate[SIM_BURST];

	do {
		n = hy_flows_answers(s->upcalls, s->worker, mbufs, action, fate, SIM_BURST);
		for (uint32_t i = 0; i < n; i++) {
			if (fate[i] == HY_FLOWS_STAYS) {
				leave(s, mbufs[i], action[i]);
				continue;
			}
			assert_int_equal(fate[i], HY_FLOWS_GONE);
			rte_pktmbuf_free(mbufs[i]);
			s->gone++;
		}
	} while (n == SIM_BURST);
}

static void
drop(struct sim *s, struct rte_mbuf *m)
{
	s->full_of[rte_pktmbuf_mtod(m, const struct frame *)->number % SIM_FLOWS]++;
	s->full++;
	rte_pktmbuf_free(m);
}

void
sim_burst(struct sim *s, const uint32_t number[], uint32_t n)
{
	uint32_t hash[SIM_BURST], flow[SIM_BURST], action[SIM_BURST], bytes[SIM_BURST];
	const uint32_t parse = hy_flows_parse(flows);
	struct hy_flows_key key[SIM_BURST];
	struct rte_mbuf *mbufs[SIM_BURST];
	uint8_t fate[SIM_BURST];

	sim_answers(s);
	for (uint32_t i = 0; i < n; i++) {
		mbufs[i] = packet(s, number[i]);
		bytes[i] = rte_pktmbuf_pkt_len(mbufs[i]);
		hash[i] = 7;
	}
	hy_flows_keys(mbufs, parse, key, n);
	if (!s->same_hash)
		hy_flows_hashes(flows, key, hash, n);
	hy_flows_lookup(flows, s->worker, parse, key, hash, flow, n);
	hy_flows_actions(flows, flow, action, n);
	hy_flows_count(flows, s->worker, flow, bytes, n);
	hy_flows_upcall(s->upcalls, s->worker, mbufs, flow, fate, n);
	for (uint32_t i = 0; i < n; i++) {
		if (fate[i] == HY_FLOWS_STAYS)
			leave(s, mbufs[i], action[i]);
		else if (fate[i] == HY_FLOWS_FULL)
			drop(s, mbufs[i]);
	}
}

void
sim_open(struct sim *s, uint32_t room)
{
	const struct hy_flows_upcall_params params = { .rules = sim_rules, .room = room };

	memset(s, 0, sizeof(*s));
	sim_version = 0;
	s->pool = rte_pktmbuf_pool_create("sim", RTE_MAX(4095u, room + 1024), 0, 0, 256,
		SOCKET_ID_ANY);
	assert_non_null(s->pool);
	assert_int_equal(hy_flows_upcalls_create(flows, &params, &s->upcalls), 0);
}

void
sim_close(struct sim *s)
{
	struct hy_flows_upcall_stats stats;

	hy_flows_upcall_stats(s->upcalls, s->worker, &stats);
	assert_int_equal(s->wrong, 0);
	assert_int_equal(s->disordered, 0);
	assert_int_equal(s->full, stats.full);
	assert_int_equal(s->sent, s->out + s->full + s->gone + (stats.sent - stats.taken));
	assert_int_equal(stats.asked, stats.added + stats.refused + stats.single);
	assert_true(stats.known + stats.asked >= stats.taken);
	hy_flows_upcalls_destroy(s->upcalls);
	assert_int_equal(rte_mempool_in_use_count(s->pool), 0);
	rte_mempool_free(s->pool);
}
