/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes of many rules, for hy-bench acl: lookups while changes are pending, and how long one rule takes
 * to be in effect.
 */

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_rcu_qsbr.h>

#include "acl.h"
#include "lib/policy/policy.h"

#define RULES 10000
#define PATIENCE_MS 60000 /* for tables that a thread builds */

struct rig {
	const struct acl_set *set;
	struct rte_rcu_qsbr *qsbr;
	struct hy_policy *policy;
	uint64_t sum, expected;
	bool failed;
};

static bool
rig_make(struct rig *rig, const struct acl_set *set)
{
	*rig = (struct rig){ .set = set, .expected = set->expected };
	rig->qsbr = bench_alloc(1, rte_rcu_qsbr_get_memsize(1));
	rte_rcu_qsbr_init(rig->qsbr, 1);
	rig->policy = acl_policy(set, NULL, rig->qsbr);
	return rig->policy != NULL;
}

static void
rig_free(struct rig *rig)
{
	hy_policy_destroy(rig->policy);
	free(rig->qsbr);
}

static uint64_t
run(void *arg)
{
	struct rig *rig = arg;
	const struct hy_policy_view *view = hy_policy_view(rig->policy);
	uint32_t rank[ACL_BURST];

	rig->sum = 0;
	for (unsigned int i = 0; i < ACL_PACKETS; i += ACL_BURST) {
		hy_policy_classify_compiled(view, rig->set->keys + i, rank, ACL_BURST);
		for (unsigned int j = 0; j < ACL_BURST; j++)
			rig->sum += rank[j];
	}
	return ACL_PACKETS;
}

static bool
check(void *arg)
{
	const struct rig *rig = arg;

	return !rig->failed && rig->sum == rig->expected;
}

/* A rule that few packets match, first of all. */
static struct hy_flow_rule
rule_new(uint32_t id)
{
	return (struct hy_flow_rule){ .id = id,
		.action = HY_RULE_DENY,
		.match = { .fields = HY_FLOW_SRC | HY_FLOW_PROTO | HY_FLOW_DPORT,
			.src = 0xc6120000 | id << 8, /* of 198.18.0.0/15, for benchmarks */
			.src_len = 24,
			.proto = 17,
			.dport = { 9, 9 } } };
}

/* Half of the changes that an overlay takes are new rules, the others remove some. */
static int
overlay_make(struct rig *rig)
{
	const uint32_t n = POLICY_OVERLAY_CHANGES / 2;
	int rc = 0;

	for (uint32_t i = 0; i < n && rc == 0; i++) {
		const struct hy_flow_rule rule = rule_new(RULES + 1 + i);

		rc = hy_policy_add(rig->policy, &rule);
		if (rc == 0)
			rc = hy_policy_remove(rig->policy, 1 + i * (RULES / n));
	}
	return rc == 0 ? hy_policy_commit(rig->policy) : rc;
}

static void
overlay(const struct acl_set *set, const char *work)
{
	struct rig without, with;
	struct field f = { .work = work };
	const struct contender contenders[] = { { .name = "tables",
							.arg = &without,
							.run = run,
							.check = check,
							.against = "tables" },
		{ .name = "overlay", .arg = &with, .run = run, .check = check, .subject = true } };
	bool made = rig_make(&without, set);

	made = rig_make(&with, set) && made;
	if (made)
		pthread_mutex_lock(&with.policy->lock); /* so that no tables replace the overlay */
	if (made && overlay_make(&with) < 0)
		made = bench_cannot("the rules cannot be changed") == 0;
	with.expected = 0;
	for (unsigned int i = 0; i < ACL_PACKETS && made; i++)
		with.expected += hy_policy_classify(hy_policy_view(with.policy), &set->keys[i]);
	for (unsigned int c = 0; c < RTE_DIM(contenders) && made; c++)
		field_enter(&f, &contenders[c], field_keep);
	if (made)
		field_measure(&f, CYCLES_PACKET);
	else
		bench_skip(work, NULL);
	if (with.policy != NULL && without.policy != NULL)
		pthread_mutex_unlock(&with.policy->lock);
	rig_free(&with);
	rig_free(&without);
}

static double
rebuild_us(void *arg)
{
	struct rig *rig = arg;
	const uint64_t start = rte_get_timer_cycles();
	struct policy_base *base = NULL;

	rig->failed |= policy_build(rig->policy, rig->policy->view, NULL, &base) < 0;
	policy_base_drop(base);
	return (double)(rte_get_timer_cycles() - start) * 1e6 / (double)rte_get_timer_hz();
}

/* Until the policy's thread has built tables for all changes. */
static void
settle(struct rig *rig)
{
	struct hy_policy_engine_info info;

	for (unsigned int ms = 0; ms < PATIENCE_MS; ms++) {
		hy_policy_engine(rig->policy, &info);
		if (info.overlay_rules + info.removed == 0)
			return;
		rte_delay_us_sleep(1000);
	}
	rig->failed = true;
}

static double
add_us(void *arg)
{
	struct rig *rig = arg;
	const struct hy_flow_rule rule = rule_new(RULES + 1);
	uint64_t start;
	int rc;

	settle(rig);
	start = rte_get_timer_cycles();
	rc = hy_policy_add(rig->policy, &rule);
	if (rc == 0)
		rc = hy_policy_commit(rig->policy);
	start = rte_get_timer_cycles() - start;
	if (rc == 0)
		rc = hy_policy_remove(rig->policy, rule.id);
	if (rc == 0)
		rc = hy_policy_commit(rig->policy);
	rig->failed |= rc < 0;
	return (double)start * 1e6 / (double)rte_get_timer_hz();
}

static void
add(const struct acl_set *set, const char *work)
{
	struct rig rig;
	struct field f = { .work = work };
	const struct contender contenders[] = { { .name = "rebuild",
							.arg = &rig,
							.figure = rebuild_us,
							.check = check,
							.against = "rebuild" },
		{ .name = "add", .arg = &rig, .figure = add_us, .check = check, .subject = true } };
	const bool made = rig_make(&rig, set);

	if (made)
		run(&rig);
	for (unsigned int c = 0; c < RTE_DIM(contenders) && made; c++)
		field_enter(&f, &contenders[c], field_keep);
	if (made)
		field_measure(&f, MICROSECONDS);
	else
		bench_skip(work, NULL);
	rig_free(&rig);
}

void
acl_changes(void)
{
	static const char *const kinds[] = { "fw", "acl", "ipc" };
	static const struct {
		const char *suffix;
		void (*work)(const struct acl_set *set, const char *work);
	} parts[] = { { "overlay", overlay }, { "add", add } };
	const struct bench_settings *s = bench_settings();

	for (unsigned int k = 0; k < RTE_DIM(kinds); k++) {
		struct acl_set *set = NULL;

		if (k > 0 && s->quick && strcmp(s->works, "*") == 0)
			break;
		for (unsigned int p = 0; p < RTE_DIM(parts); p++) {
			char work[48];

			snprintf(work, sizeof(work), "%s_10k_%s", kinds[k], parts[p].suffix);
			if (!bench_wanted(work))
				continue;
			if (set == NULL)
				set = acl_set_make(work, kinds[k], ACL_IP4, ACL_SEED, RULES, false);
			parts[p].work(set, work);
		}
		if (set != NULL)
			acl_set_free(set);
	}
}
