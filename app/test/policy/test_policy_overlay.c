/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Overlays: few changes of many rules are published at once, and tables are built behind them while
 * workers classify.
 */

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_rcu_qsbr.h>

#include "any_fixture.h"
#include "app/hy-policy/generate.h"
#include "lib/policy/engine/acl_tables.h"
#include "lib/policy/policy.h"

#define RULES 400
#define ROUNDS 300
#define BURST 64

static union {
	struct rte_rcu_qsbr v;
	uint8_t room[8192];
} qsbr;

static void
qsbr_new(unsigned int threads)
{
	assert_true(rte_rcu_qsbr_get_memsize(threads) <= sizeof(qsbr));
	assert_int_equal(rte_rcu_qsbr_init(&qsbr.v, threads), 0);
	for (unsigned int t = 0; t < threads; t++)
		assert_int_equal(rte_rcu_qsbr_thread_register(&qsbr.v, t), 0);
}

static struct hy_flow_rule
rule_of(uint32_t id, uint64_t *seed)
{
	struct hy_flow_rule rule = any_rule(true, seed);

	rule.id = id;
	rule.precedence = rnd(seed) % 100;
	return rule;
}

static void
many_rules(uint64_t *seed)
{
	for (uint32_t id = 0; id < RULES; id++) {
		const struct hy_flow_rule rule = rule_of(2 * id, seed);

		assert_int_equal(hy_policy_add(policy, &rule), 0);
	}
	commit();
}

/* Adds, replaces or removes a few rules by chance, and publishes that. */
static void
change(uint64_t *seed)
{
	for (uint32_t n = 1 + rnd(seed) % 4; n > 0; n--) {
		struct hy_flow_rule rule = rule_of(rnd(seed) % (2 * RULES), seed);

		if (hy_policy_replace(policy, &rule) == -ENOENT)
			assert_int_equal(hy_policy_add(policy, &rule), 0);
		else if (rnd(seed) % 2 == 0)
			assert_int_equal(hy_policy_remove(policy, rule.id), 0);
	}
	commit();
}

static uint64_t
compare(uint64_t *seed)
{
	const struct hy_policy_view *view = hy_policy_view(policy);
	struct hy_flow_key keys[BURST];
	uint32_t rank[BURST];
	uint64_t hits = 0;

	for (unsigned int i = 0; i < BURST; i++)
		keys[i] = any_key(&view->rules[rnd(seed) % view->nb_rules].rule.match, seed);
	hy_policy_classify_compiled(view, keys, rank, BURST);
	for (unsigned int i = 0; i < BURST; i++) {
		if (rank[i] != hy_policy_classify(view, &keys[i]))
			fail_msg("rank %u, not %u", rank[i], hy_policy_classify(view, &keys[i]));
		hits += rank[i] != HY_POLICY_NONE;
	}
	return hits;
}

/* The thread's tables land whenever it is done; this thread is one of the readers. */
static void
changes_are_found_before_and_after_tables_are_built(void **state)
{
	uint64_t seed = 20, hits = 0;
	unsigned int with = 0, without = 0, removed = 0;

	RTE_SET_USED(state);
	qsbr_new(1);
	policy_new(2 * RULES, 1, &qsbr.v);
	policy->params.access = true;
	policy->only = "tuple"; /* rte_acl takes minutes for rules of all fields */
	many_rules(&seed);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct hy_policy_engine_info info;

		change(&seed);
		rte_rcu_qsbr_thread_online(&qsbr.v, 0);
		for (unsigned int burst = 0; burst < 4; burst++) {
			hits += compare(&seed);
			rte_rcu_qsbr_quiescent(&qsbr.v, 0);
		}
		rte_rcu_qsbr_thread_offline(&qsbr.v, 0);
		info = info_now();
		with += info.overlay_rules + info.removed > 0;
		removed += info.removed > 0;
		if (round % 8 == 0)
			for (unsigned int i = 0; i < 2000 && info.overlay_rules + info.removed > 0;
				i++) {
				rte_delay_us_sleep(1000);
				info = info_now();
			}
		without += info.overlay_rules + info.removed == 0;
	}
	print_message("%u rounds: %u with an overlay, %u without at the end\n", ROUNDS, with,
		without);
	assert_true(hits > ROUNDS * 4 * BURST / 8);
	assert_true(with > ROUNDS / 4 && removed > ROUNDS / 8 && without >= ROUNDS / 10);
}

static void
overlay_counts_added_and_removed_rules(void **state)
{
	uint64_t seed = 21;
	struct hy_flow_rule rule = { .id = 1, .class_id = 1 };
	const struct policy_base *base;

	RTE_SET_USED(state);
	qsbr_new(1);
	policy_new(2 * RULES, 1, &qsbr.v);
	policy->params.access = true;
	policy->only = "tuple"; /* rte_acl takes minutes for rules of all fields */
	many_rules(&seed);
	base = hy_policy_view(policy)->compiled->base;
	pthread_mutex_lock(&policy->lock); /* the thread waits */
	assert_int_equal(hy_policy_add(policy, &rule), 0);
	commit();
	assert_ptr_equal(hy_policy_view(policy)->compiled->base, base);
	assert_int_equal(info_now().overlay_rules, 1);
	assert_int_equal(info_now().removed, 0);
	assert_int_equal(hy_policy_remove(policy, 0), 0);
	rule.id = 2;
	assert_int_equal(hy_policy_replace(policy, &rule), 0);
	commit();
	assert_int_equal(info_now().overlay_rules, 2);
	assert_int_equal(info_now().removed, 2);
	/* What a rule does is not compiled. */
	rule.class_id = 7;
	assert_int_equal(hy_policy_replace(policy, &rule), 0);
	commit();
	assert_int_equal(info_now().overlay_rules, 2);
	compare(&seed);
	/* Too many changes are compiled at once. */
	for (uint32_t id = 10; id < 10 + 2 * POLICY_OVERLAY_CHANGES; id += 2)
		assert_int_equal(hy_policy_remove(policy, id), 0);
	commit();
	assert_int_equal(info_now().overlay_rules + info_now().removed, 0);
	assert_int_equal(info_now().base_rules, RULES - POLICY_OVERLAY_CHANGES);
	compare(&seed);
	pthread_mutex_unlock(&policy->lock);
}

/* Rules for ports of their own, from an id on. */
static void
add_ports(uint32_t id, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		add_dport(id + i, 1, 1, (uint16_t)(id + i));
	commit();
}

/* A thread has begun to build tables for the present view, and the caller has the lock. */
static void
wait_for_build(void)
{
	for (unsigned int i = 0; i < 10000; i++) {
		pthread_mutex_lock(&policy->lock);
		if (policy->rebuild.builds)
			return;
		pthread_mutex_unlock(&policy->lock);
		rte_delay_us_sleep(100);
	}
	fail_msg("no thread builds");
}

/* The commit that overtakes a build has built tables of its own, for all that changed. */
static void
tables_of_an_overtaken_build_replace_no_better_ones(void **state)
{
	const struct policy_base *base, *now;

	RTE_SET_USED(state);
	qsbr_new(1);
	policy_new(8000, 1, &qsbr.v);
	policy->only = "rte_acl"; /* it takes long enough */
	add_ports(0, 4000);
	add_ports(10000, POLICY_OVERLAY_CHANGES / 2 + 1);
	assert_int_equal(info_now().overlay_rules, POLICY_OVERLAY_CHANGES / 2 + 1);
	wait_for_build();
	add_ports(20000, POLICY_OVERLAY_CHANGES / 2 + 1);
	assert_int_equal(info_now().overlay_rules, 0);
	base = hy_policy_view(policy)->compiled->base;
	policy_base_hold((struct policy_base *)(uintptr_t)base);
	pthread_mutex_unlock(&policy->lock);
	now = base;
	for (unsigned int i = 0; i < 1000 && now == base; i++) {
		rte_delay_us_sleep(1000);
		pthread_mutex_lock(&policy->lock);
		now = hy_policy_view(policy)->compiled->base;
		pthread_mutex_unlock(&policy->lock);
	}
	policy_base_drop((struct policy_base *)(uintptr_t)base);
	assert_ptr_equal(now, base);
}

/* The CPUs of the thread of this process that has a name. Returns whether there is one. */
static bool
cpus_of(const char *name, cpu_set_t *cpus)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *task;
	bool found = false;

	assert_non_null(tasks);
	while (!found && (task = readdir(tasks)) != NULL) {
		char path[300], comm[17] = "";
		FILE *in;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task->d_name);
		in = fopen(path, "r");
		if (in != NULL && fscanf(in, "%16s", comm) == 1 && strcmp(comm, name) == 0)
			found = sched_getaffinity(atoi(task->d_name), sizeof(*cpus), cpus) == 0;
		if (in != NULL)
			fclose(in);
	}
	closedir(tasks);
	return found;
}

/* The committer may be bound to the CPU of a worker. */
static void
tables_are_not_built_on_the_cpu_of_who_commits(void **state)
{
	cpu_set_t before, one, of_thread, of_control;
	bool bound = false;

	RTE_SET_USED(state);
	qsbr_new(1);
	policy_new(8000, 1, &qsbr.v);
	policy->only = "tuple";
	add_ports(0, 3000);
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	assert_true(cpus_of("eal-intr-thread", &of_control) || cpus_of("dpdk-intr", &of_control));
	for (int cpu = 0; cpu < CPU_SETSIZE && !bound; cpu++) {
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		bound = !CPU_ISSET(cpu, &of_control) &&
			sched_setaffinity(0, sizeof(one), &one) == 0;
	}
	add_ports(10000, 1);
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	assert_true(cpus_of("hy-policy", &of_thread));
	assert_true(CPU_EQUAL(&of_thread, &of_control));
	if (!bound)
		skip(); /* control threads have every CPU */
}

/* Workers would try all of these for each packet of the removed rule. */
static void
removal_of_a_rule_above_too_many_others_is_compiled_at_once(void **state)
{
	const struct hy_flow_rule all = { .id = UINT32_MAX, .class_id = 9 };
	struct hy_policy_engine_info without, later;

	RTE_SET_USED(state);
	qsbr_new(1);
	policy_new(8000, 1, &qsbr.v);
	policy->only = "tuple";
	assert_int_equal(hy_policy_add(policy, &all), 0);
	add_ports(0, 3000);
	assert_int_equal(class_of(7), 9);
	pthread_mutex_lock(&policy->lock); /* the thread waits */
	assert_int_equal(hy_policy_remove(policy, all.id), 0);
	commit();
	without = info_now();
	assert_int_equal(class_of(7), 1);
	assert_int_equal(hy_policy_remove(policy, 7), 0);
	commit();
	later = info_now();
	pthread_mutex_unlock(&policy->lock);
	assert_int_equal(without.removed, 0);
	assert_int_equal(without.base_rules, 3000);
	assert_int_equal(later.removed, 1);
	assert_int_equal(class_of(7), HY_FLOW_NO_CLASS);
}

static void
fw_rules(uint32_t n)
{
	struct hy_flow_rule *rules = calloc(n, sizeof(*rules));
	const struct policy_staged staged = { .rules = rules, .n = n };

	assert_non_null(rules);
	assert_int_equal(policy_generate(GENERATE_FW, false, 7, n, rules), 0);
	for (uint32_t i = 0; i < n; i++)
		rules[i].id = i;
	assert_int_equal(policy_stage_all(policy, &staged), 0);
	free(rules);
	commit();
}

/* Its build cannot be stopped, and the policy is left to the thread. */
static void
destroying_a_policy_does_not_wait_for_a_build_of_rte_acl(void **state)
{
	struct hy_policy_engine_info info;
	uint64_t before, start, us, left_us;
	bool builds = false;

	RTE_SET_USED(state);
	qsbr_new(1);
	before = acl_heaps_used();
	policy_new(2000, 1, &qsbr.v);
	policy->params.access = true;
	policy->only = "rte_acl";
	fw_rules(1200);
	info = info_now();
	assert_true(info.build_us > 20000);
	add_dport(UINT32_MAX, 0, 1, 80);
	commit();
	for (unsigned int i = 0; i < 10000 && !builds; i++) {
		pthread_mutex_lock(&policy->lock);
		builds = policy->rebuild.builds;
		pthread_mutex_unlock(&policy->lock);
		rte_delay_us_sleep(100);
	}
	assert_true(builds);
	rte_delay_us_sleep((unsigned int)(info.build_us / 4)); /* estimates could be stopped */
	start = rte_get_timer_cycles();
	hy_policy_destroy(policy);
	policy = NULL;
	us = (rte_get_timer_cycles() - start) * 1000000 / rte_get_timer_hz();
	hy_policy_wait_destroyed();
	left_us = (rte_get_timer_cycles() - start) * 1000000 / rte_get_timer_hz() - us;
	print_message("%ju us, and %ju us for what was left; a build took %ju us\n", (uintmax_t)us,
		(uintmax_t)left_us, (uintmax_t)info.build_us);
	assert_true(us < info.build_us / 4);
	assert_true(left_us > us);
	assert_int_equal(acl_heaps_used(), before);
}

/* Each policy would wait a second for the one worker. */
static void
stalled_worker_delays_a_change_of_many_once(void **state)
{
	struct hy_policy *many[4];
	uint64_t start, ms;

	RTE_SET_USED(state);
	qsbr_new(1);
	for (unsigned int i = 0; i < RTE_DIM(many); i++) {
		policy_new(1000, 1, &qsbr.v);
		add_dport(1, 1, 1, 80);
		commit();
		many[i] = policy;
		add_dport(2, 1, 2, 81);
	}
	rte_rcu_qsbr_thread_online(&qsbr.v, 0);
	start = rte_get_timer_cycles();
	assert_int_equal(hy_policy_commit_together(many, RTE_DIM(many), NULL), 0);
	ms = (rte_get_timer_cycles() - start) * 1000 / rte_get_timer_hz();
	print_message("%ju ms\n", (uintmax_t)ms);
	assert_in_range(ms, 900, 1000 * RTE_DIM(many) - 1);
	for (unsigned int i = 0; i < RTE_DIM(many); i++) {
		assert_int_equal(hy_policy_rules_get(many[i], NULL, 0), 2);
		assert_non_null(many[i]->retired);
	}
	rte_rcu_qsbr_thread_offline(&qsbr.v, 0);
	for (unsigned int i = 0; i < RTE_DIM(many); i++) {
		assert_int_equal(hy_policy_commit(many[i]), 0);
		assert_null(many[i]->retired);
		if (many[i] != policy)
			hy_policy_destroy(many[i]);
	}
}

/* Two sets in turn: rule 0 is for one class or the other, and so is every other packet's. */
#define COMMITS 1000

static atomic_bool stop;

static struct worker {
	unsigned int id;
	uint64_t bursts, faults, versions;
	pthread_t thread;
} workers[2];

static void
dport_rule(struct hy_flow_rule *rule, uint32_t id, uint16_t class_id, uint16_t port)
{
	*rule = (struct hy_flow_rule){ .id = id,
		.class_id = class_id,
		.match = { .fields = HY_FLOW_DPORT, .dport = { port, port } } };
}

static void
burst_check(struct worker *w, uint64_t *version, struct hy_flow_key keys[])
{
	const struct hy_policy_view *view = hy_policy_view(policy);
	uint32_t rank[BURST];

	if (view->version < *version)
		w->faults++;
	w->versions += view->version != *version;
	*version = view->version;
	hy_policy_classify_compiled(view, keys, rank, BURST);
	for (unsigned int i = 0; i < BURST; i++)
		if (rank[i] >= view->nb_rules ||
			view->rules[rank[i]].rule.class_id != 1 + *version % 2)
			w->faults++;
	w->bursts++;
}

/* The second worker rests now and then, and once it stalls for longer than a commit waits. */
static void *
work(void *arg)
{
	struct worker *w = arg;
	struct hy_flow_key keys[BURST];
	uint64_t version = 0;

	for (unsigned int i = 0; i < BURST; i++)
		keys[i] = (struct hy_flow_key){ .has = HY_FLOW_ETHER_TYPE | HY_FLOW_IPV4 |
				HY_FLOW_IP4 | HY_FLOW_PORTS,
			.ether_type = 0x0800,
			.proto = 17,
			.dport = (uint16_t)(i % 8) };
	rte_rcu_qsbr_thread_online(&qsbr.v, w->id);
	while (!atomic_load(&stop)) {
		burst_check(w, &version, keys);
		if (w->id == 1 && w->bursts == 100)
			rte_delay_us_sleep(1200000);
		rte_rcu_qsbr_quiescent(&qsbr.v, w->id);
		if (w->id == 1 && w->bursts % 64 == 0) {
			rte_rcu_qsbr_thread_offline(&qsbr.v, w->id);
			rte_delay_us_sleep(300);
			rte_rcu_qsbr_thread_online(&qsbr.v, w->id);
		}
	}
	rte_rcu_qsbr_thread_offline(&qsbr.v, w->id);
	return NULL;
}

/* Ports 0 to 7 have rules of the version's class; the others make the set large. */
static void
turn(unsigned int version)
{
	struct hy_flow_rule rule;

	for (uint32_t port = 0; port < RULES; port++) {
		if (port >= 8 && version > 1)
			break;
		/* Half of them under another id, so that they move. */
		dport_rule(&rule, port, (uint16_t)(1 + version % 2), (uint16_t)port);
		if (port % 2 == 1 && port < 8) {
			hy_policy_remove(policy, port + 1000 * (1 + (version - 1) % 2));
			rule.id += 1000 * (1 + version % 2);
		}
		if (version == 1 || (port % 2 == 1 && port < 8))
			assert_int_equal(hy_policy_add(policy, &rule), 0);
		else
			assert_int_equal(hy_policy_replace(policy, &rule), 0);
	}
	commit();
}

static void
workers_see_one_set_or_the_other_and_memory_does_not_grow(void **state)
{
	unsigned int heap = 0;
	int64_t live = 0;

	RTE_SET_USED(state);
	qsbr_new(2);
	policy_new(2 * RULES, 2, &qsbr.v);
	policy->params.access = true;
	turn(1);
	atomic_store(&stop, false);
	for (unsigned int w = 0; w < 2; w++) {
		workers[w] = (struct worker){ .id = w };
		assert_int_equal(pthread_create(&workers[w].thread, NULL, work, &workers[w]), 0);
	}
	for (unsigned int version = 2; version <= COMMITS; version++) {
		turn(version);
		if (version % 16 == 0)
			rte_delay_us_sleep(2000);
		if (version == 100) {
			heap = unit_heap_live();
			live = unit_alloc_live();
		}
	}
	atomic_store(&stop, true);
	for (unsigned int w = 0; w < 2; w++) {
		pthread_join(workers[w].thread, NULL);
		assert_int_equal(workers[w].faults, 0);
		assert_true(workers[w].versions > 10);
	}
	for (unsigned int i = 0; i < 3000 && info_now().overlay_rules + info_now().removed > 0; i++)
		rte_delay_us_sleep(1000);
	assert_int_equal(info_now().overlay_rules + info_now().removed, 0);
	assert_true(unit_heap_live() <= heap + 16 && unit_alloc_live() <= live + 64);
	print_message("%ju and %ju bursts, %ju and %ju versions\n", (uintmax_t)workers[0].bursts,
		(uintmax_t)workers[1].bursts, (uintmax_t)workers[0].versions,
		(uintmax_t)workers[1].versions);
}

static const struct CMUnitTest tests[] = {
	POLICY_TEST(changes_are_found_before_and_after_tables_are_built),
	POLICY_TEST(overlay_counts_added_and_removed_rules),
	POLICY_TEST(tables_of_an_overtaken_build_replace_no_better_ones),
	POLICY_TEST(removal_of_a_rule_above_too_many_others_is_compiled_at_once),
	POLICY_TEST(tables_are_not_built_on_the_cpu_of_who_commits),
	POLICY_TEST(destroying_a_policy_does_not_wait_for_a_build_of_rte_acl),
	POLICY_TEST(stalled_worker_delays_a_change_of_many_once),
	POLICY_TEST(workers_see_one_set_or_the_other_and_memory_does_not_grow),
};
UNIT_SUITE(tests)
