/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engines of policies against each other and against rte_acl alone, over generated access lists:
 * clocks a packet, and what the tables cost. Each rule is drawn equally often, and packets that it
 * matches are looked up.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_acl.h>
#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_cycles.h>
#include <rte_rcu_qsbr.h>

#include "app/hy-policy/generate.h"
#include "lib/policy/policy.h"

#include "acl.h"
#include "bench.h"

#define KEYS 16384
#define BURST 64

struct set {
	const char *name;
	uint32_t n;
	struct hy_flow_rule *rules;
	struct hy_flow_key *keys;
	uint64_t expected; /* sum of the keys' ranks */
};

/* A contender: a policy, or rte_acl alone. */
struct rig {
	const struct set *set;
	struct hy_policy *policy;
	struct acl_raw *raw;
	struct hy_policy_engine_info info;
	uint64_t sum;
};

static uint64_t
run_policy(void *arg)
{
	struct rig *rig = arg;
	const struct hy_policy_view *view = hy_policy_view(rig->policy);
	uint32_t rank[BURST];

	rig->sum = 0;
	for (unsigned int i = 0; i < KEYS; i += BURST) {
		hy_policy_classify_compiled(view, rig->set->keys + i, rank, BURST);
		for (unsigned int j = 0; j < BURST; j++)
			rig->sum += rank[j];
	}
	return KEYS;
}

static uint64_t
run_raw(void *arg)
{
	struct rig *rig = arg;

	rig->sum = acl_raw_run(rig->raw, KEYS);
	return KEYS;
}

static bool
check(void *arg)
{
	const struct rig *rig = arg;

	return rig->sum == rig->set->expected;
}

static double
build_us(void *arg)
{
	return (double)((const struct rig *)arg)->info.build_us;
}

static double
memory_mib(void *arg)
{
	return (double)((const struct rig *)arg)->info.bytes / (1 << 20);
}

static uint32_t
address_in(uint32_t prefix, uint8_t len)
{
	return len == 32 ? prefix : len == 0 ? bench_random() : prefix | bench_random() >> len;
}

static uint16_t
port_in(bool named, const uint16_t range[2])
{
	const uint32_t r = bench_random();

	return (uint16_t)(named ? range[0] + r % (range[1] - range[0] + 1u) : r);
}

/* The key of a packet that a rule matches. */
static struct hy_flow_key
key_of(const struct hy_flow_match *m)
{
	const uint8_t proto = m->fields & HY_FLOW_PROTO ? m->proto : 6;
	struct hy_flow_key key = {
		.has = HY_FLOW_IPV4 | HY_FLOW_ETHER_TYPE | HY_FLOW_IP | HY_FLOW_SRC_MAC |
			HY_FLOW_DST_MAC,
		.ether_type = 0x0800,
		.src = address_in(m->src, m->src_len),
		.dst = address_in(m->dst, m->dst_len),
		.proto = proto,
		.fragment = HY_FLOW_NO_FRAGMENT,
	};

	if (proto == 6 || proto == 17) {
		key.has |= HY_FLOW_PORTS;
		key.sport = port_in(m->fields & HY_FLOW_SPORT, m->sport);
		key.dport = port_in(m->fields & HY_FLOW_DPORT, m->dport);
	}
	return key;
}

static struct set
set_make(const char *name, enum generate_kind kind, uint32_t n)
{
	struct set set = { .name = name, .n = n };

	set.rules = bench_alloc(n, sizeof(*set.rules));
	set.keys = bench_alloc(KEYS, sizeof(*set.keys));
	if (policy_generate(kind, false, 1, n, set.rules) < 0)
		bench_fail("%u rules cannot be generated", n);
	for (uint32_t i = 0; i < n; i++)
		set.rules[i].precedence = i;
	for (unsigned int i = 0; i < KEYS; i++) {
		struct hy_flow_key *key = &set.keys[i];
		uint32_t rank = 0;

		*key = key_of(&set.rules[bench_random() % n].match);
		while (!hy_flow_matches(&set.rules[rank].match, key))
			rank++;
		set.expected += rank;
	}
	return set;
}

static void
set_free(struct set *set)
{
	free(set->rules);
	free(set->keys);
}

/* A policy with the rules of a set. engine: NULL: what is chosen. */
static bool
policy_make(struct rig *rig, const char *engine, struct rte_rcu_qsbr *qsbr)
{
	const struct hy_policy_params params = { .max_rules = rig->set->n + 1,
		.workers = 1,
		.socket = SOCKET_ID_ANY,
		.qsbr = qsbr,
		.access = true };
	const struct policy_staged staged = {
		.rules = rig->set->rules, .n = rig->set->n, .default_action = HY_RULE_PERMIT
	};
	int rc = hy_policy_create("bench", &params, &rig->policy);

	if (rc == 0) {
		rig->policy->only = engine;
		rc = policy_stage_all(rig->policy, &staged);
	}
	if (rc == 0)
		rc = hy_policy_commit(rig->policy);
	if (rc == 0)
		return hy_policy_engine(rig->policy, &rig->info) == 0;
	bench_cannot("%u rules: %s", rig->set->n, strerror(-rc));
	hy_policy_destroy(rig->policy);
	rig->policy = NULL;
	return false;
}

enum { CHOSEN, LINEAR, ACL, TUPLE, RAW, RIGS };

static const char *const names[RIGS] = { "chosen", "linear", "rte_acl", "tuple", "raw" };

static void
rigs_make(struct rig rigs[RIGS], const struct set *set)
{
	for (unsigned int i = 0; i < RIGS; i++) {
		rigs[i] = (struct rig){ .set = set };
		if (i == RAW)
			rigs[i].raw = acl_raw_create(set->rules, set->n, set->keys, KEYS,
				&rigs[i].info.bytes, &rigs[i].info.build_us);
		else if (i != LINEAR || set->n <= 1000)
			policy_make(&rigs[i], i == CHOSEN ? NULL : names[i], NULL);
		else
			bench_cannot("a scan of %u rules is no contender", set->n);
		if (rigs[i].raw != NULL)
			run_raw(&rigs[i]);
		else if (rigs[i].policy != NULL)
			run_policy(&rigs[i]);
	}
}

/* figure: NULL for the time of lookups. */
static void
measure(struct rig rigs[RIGS], const char *suffix, enum unit unit, double (*figure)(void *arg))
{
	char work[48];
	struct field f = { .work = work };

	snprintf(work, sizeof(work), "%s%s", rigs[0].set->name, suffix);
	if (!bench_wanted(work))
		return;
	for (unsigned int i = 0; i < RIGS; i++) {
		struct contender c = { .name = names[i],
			.arg = rigs[i].policy != NULL || rigs[i].raw != NULL ? &rigs[i] : NULL,
			.run = i == RAW ? run_raw : run_policy,
			.check = check,
			.against = i == CHOSEN ? NULL : names[i],
			.subject = i == CHOSEN };

		if (figure != NULL) {
			c.run = NULL;
			c.figure = figure;
		}
		if (i == LINEAR && (figure != NULL || c.arg == NULL))
			continue;
		field_enter(&f, &c, field_keep);
	}
	field_measure(&f, unit);
}

static void
works(const char *name, enum generate_kind kind, uint32_t n)
{
	struct rig rigs[RIGS];
	struct set set;
	char build[48], memory[48];

	snprintf(build, sizeof(build), "%s_build", name);
	snprintf(memory, sizeof(memory), "%s_memory", name);
	if (!bench_wanted(name) && !bench_wanted(build) && !bench_wanted(memory))
		return;
	set = set_make(name, kind, n);
	rigs_make(rigs, &set);
	printf("%s: %s (%s), %.2f ms\n", name, rigs[CHOSEN].info.name, rigs[CHOSEN].info.why,
		(double)rigs[CHOSEN].info.build_us / 1000);
	measure(rigs, "", CYCLES_PACKET, NULL);
	if (rigs[CHOSEN].info.build_us > 0) { /* a scan has nothing to build, and ratios none */
		measure(rigs, "_build", MICROSECONDS, build_us);
		measure(rigs, "_memory", MEBIBYTES, memory_mib);
	}
	for (unsigned int i = 0; i < RIGS; i++) {
		hy_policy_destroy(rigs[i].policy);
		acl_raw_free(rigs[i].raw);
	}
	set_free(&set);
}

void
bench_acl(void)
{
	static const struct {
		const char *name;
		enum generate_kind kind;
		uint32_t n;
	} sets[] = { { "acl_4", GENERATE_ACL, 4 }, { "acl_100", GENERATE_ACL, 100 },
		{ "acl_1k", GENERATE_ACL, 1000 }, { "fw_1k", GENERATE_FW, 1000 },
		{ "ipc_1k", GENERATE_IPC, 1000 }, { "acl_10k", GENERATE_ACL, 10000 },
		{ "fw_10k", GENERATE_FW, 10000 }, { "ipc_10k", GENERATE_IPC, 10000 } };

	for (unsigned int s = 0; s < RTE_DIM(sets); s++)
		works(sets[s].name, sets[s].kind, sets[s].n);
}
