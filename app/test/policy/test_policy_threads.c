/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules that change without a pause under workers that classify, count, and look twice. */

#include <pthread.h>
#include <stdatomic.h>

#include <rte_cycles.h>
#include <rte_rcu_qsbr.h>

#include "policy_fixture.h"

#define WORKERS 2
#define PORTS 32
#define BURST 64
#define COMMITS 300
#define COMMITS_MOST 10000

static union {
	struct rte_rcu_qsbr v;
	uint8_t room[8192];
} qsbr;

static atomic_bool stop;

static struct worker {
	unsigned int id;
	uint64_t bursts, faults, versions;
	uint64_t hits[4]; /* by class */
	pthread_t thread;
} workers[WORKERS];

/*
 * All rules of a version have its class, 1 to 3 in turn: what a burst finds is of one version, found
 * by the linear scan too.
 */
static void
classify_burst(struct worker *worker, const struct hy_flow_key keys[])
{
	const struct hy_policy_view *view = hy_policy_view(policy);
	const uint16_t class_id = (uint16_t)(1 + view->version % 3);
	struct hy_policy_counts *counters = hy_policy_counters(policy, worker->id);
	uint32_t rank[BURST];

	hy_policy_classify_compiled(view, keys, rank, BURST);
	for (unsigned int i = 0; i < BURST; i++) {
		const struct hy_policy_rule *rule = &view->rules[rank[i]];

		if (rank[i] >= view->nb_rules || rule->rule.class_id != class_id ||
			rank[i] != hy_policy_classify(view, &keys[i])) {
			worker->faults++;
			continue;
		}
		worker->hits[class_id]++;
		hy_policy_hit(counters, rule->index);
	}
}

static void *
classify(void *arg)
{
	struct worker *worker = arg;
	struct hy_flow_key keys[BURST];
	uint64_t version = 0;

	for (unsigned int i = 0; i < BURST; i++)
		keys[i] = (struct hy_flow_key){ .has = HY_FLOW_ETHER_TYPE | HY_FLOW_IPV4 |
				HY_FLOW_IP4 | HY_FLOW_PORTS,
			.ether_type = 0x0800,
			.proto = 17,
			.dport = (uint16_t)(i % PORTS) };
	rte_rcu_qsbr_thread_online(&qsbr.v, worker->id);
	while (!atomic_load(&stop)) {
		const uint64_t now = hy_policy_view(policy)->version;

		__atomic_fetch_add(&worker->versions, now != version, __ATOMIC_RELAXED);
		version = now;
		classify_burst(worker, keys);
		worker->bursts++;
		rte_rcu_qsbr_quiescent(&qsbr.v, worker->id);
	}
	rte_rcu_qsbr_thread_offline(&qsbr.v, worker->id);
	return NULL;
}

/* Rules for all ports in the class of the next version: half replaced, half under another id. */
static void
rules_turn(unsigned int version)
{
	const uint16_t class_id = (uint16_t)(1 + version % 3);

	for (uint16_t port = 0; port < PORTS; port++) {
		struct hy_flow_rule rule = { .id = port,
			.class_id = class_id,
			.match = { .fields = HY_FLOW_DPORT, .dport = { port, port } } };

		if (port % 2 == 1) {
			hy_policy_remove(policy, port + 1000 * (version - 1));
			rule.id += 1000 * version;
		}
		if (port % 2 == 1 || version == 1)
			assert_int_equal(hy_policy_add(policy, &rule), 0);
		else
			assert_int_equal(hy_policy_replace(policy, &rule), 0);
	}
	commit();
	assert_int_equal(hy_policy_view(policy)->version, version);
}

/* How many versions a worker sees is the scheduler's choice. */
static bool
is_enough(void)
{
	for (unsigned int w = 0; w < WORKERS; w++)
		if (__atomic_load_n(&workers[w].versions, __ATOMIC_RELAXED) <= COMMITS / 10)
			return false;
	return true;
}

static void
every_burst_sees_one_version_and_no_hit_is_lost(void **state)
{
	uint64_t hits[4] = { 0 };
	unsigned int version = 1;

	RTE_SET_USED(state);
	assert_true(rte_rcu_qsbr_get_memsize(WORKERS) <= sizeof(qsbr));
	assert_int_equal(rte_rcu_qsbr_init(&qsbr.v, WORKERS), 0);
	policy_new(PORTS, WORKERS, &qsbr.v);
	rules_turn(version);
	atomic_store(&stop, false);
	for (unsigned int w = 0; w < WORKERS; w++) {
		workers[w] = (struct worker){ .id = w };
		assert_int_equal(rte_rcu_qsbr_thread_register(&qsbr.v, w), 0);
		assert_int_equal(pthread_create(&workers[w].thread, NULL, classify, &workers[w]),
			0);
	}
	while (version < COMMITS || (version < COMMITS_MOST && !is_enough())) {
		rules_turn(++version);
		rte_delay_us_sleep(200); /* or a worker without a CPU of its own sees few */
	}
	atomic_store(&stop, true);
	assert_true(is_enough());
	for (unsigned int w = 0; w < WORKERS; w++) {
		pthread_join(workers[w].thread, NULL);
		assert_int_equal(workers[w].faults, 0);
		for (unsigned int c = 1; c < 4; c++)
			hits[c] += workers[w].hits[c];
	}
	for (uint16_t c = 1; c < 4; c++) {
		assert_true(hits[c] > 1000);
		assert_int_equal(hy_policy_class_hits(policy, c), hits[c]);
	}
	print_message("%ju bursts\n", (uintmax_t)(workers[0].bursts + workers[1].bursts));
}

static const struct CMUnitTest tests[] = {
	POLICY_TEST(every_burst_sees_one_version_and_no_hit_is_lost),
};
UNIT_SUITE(tests)
