/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The variants of flow_cls against each other, with policies of several sizes: the basis of their
 * scores. Every rule is hit equally often, so that the linear scan visits half of the rules.
 */

#include <string.h>

#include <netinet/in.h>

#include <hy_policy_view.h>

#include "bench.h"

#define KEYS 1024
#define BURST 64

struct rig {
	const struct hy_policy_view *view;
	const struct hy_flow_key *keys;
	hy_policy_classify_t *classify;
	uint64_t sum, expected; /* of ranks */
};

static uint64_t
run(void *arg)
{
	struct rig *rig = arg;
	uint32_t rank[BURST];

	rig->sum = 0;
	for (unsigned int i = 0; i < KEYS; i += BURST) {
		rig->classify(rig->view, rig->keys + i, rank, BURST);
		for (unsigned int j = 0; j < BURST; j++)
			rig->sum += rank[j];
	}
	return KEYS;
}

static bool
check(void *arg)
{
	const struct rig *rig = arg;

	return rig->sum == rig->expected;
}

/* A typical rule: from a network to a service of a host or network. */
static struct hy_flow_rule
rule_of(uint32_t id)
{
	static const uint16_t services[] = { 22, 53, 80, 123, 443, 1521, 3306, 8080 };
	const uint32_t r = bench_random();
	struct hy_flow_rule rule = { .id = id, .precedence = id, .class_id = (uint16_t)(1 + id) };
	struct hy_flow_match *m = &rule.match;

	m->fields = HY_FLOW_SRC | HY_FLOW_DST | HY_FLOW_PROTO | HY_FLOW_DPORT;
	m->src_len = (uint8_t)(16 + r % 17);
	m->src = (0x0a000000 | (bench_random() & 0xffffff)) & UINT32_MAX << (32 - m->src_len);
	m->dst_len = r % 4 == 0 ? 24 : 32;
	m->dst = (0xc0a80000 | (bench_random() & 0xffff)) & UINT32_MAX << (32 - m->dst_len);
	m->proto = r % 3 == 0 ? IPPROTO_UDP : IPPROTO_TCP;
	m->dport[0] = m->dport[1] = services[r / 64 % 8];
	if (r / 512 % 8 == 0) {
		m->dport[0] = 1024;
		m->dport[1] = UINT16_MAX;
	}
	return rule;
}

/* The key of a packet that matches. */
static struct hy_flow_key
key_of(const struct hy_flow_match *m)
{
	const uint32_t r = bench_random();

	return (struct hy_flow_key){
		.has = HY_FLOW_ETHER_TYPE | HY_FLOW_IPV4 | HY_FLOW_IP4 | HY_FLOW_PORTS,
		.ether_type = 0x0800,
		.src = m->src_len == 32 ? m->src : m->src | r >> m->src_len,
		.dst = m->dst_len == 32 ? m->dst : m->dst | r >> m->dst_len,
		.proto = m->proto,
		.sport = (uint16_t)r,
		.dport = (uint16_t)(m->dport[0] + r % (m->dport[1] - m->dport[0] + 1u)),
	};
}

static void
work(const char *name, uint32_t nb_rules)
{
	static struct hy_flow_key keys[KEYS];
	struct hy_policy *policy = bench_policy(nb_rules, rule_of, NULL);
	const struct hy_policy_view *view = policy == NULL ? NULL : hy_policy_view(policy);
	struct rig linear = { view, keys, hy_policy_classify_linear, 0, 0 }, acl = linear;
	struct contender contenders[] = {
		{ .name = "linear",
			.arg = &linear,
			.run = run,
			.check = check,
			.against = "linear" },
		{ .name = "acl", .arg = &acl, .run = run, .check = check, .subject = true },
	};

	if (policy == NULL) {
		bench_skip(name, NULL);
		return;
	}
	for (unsigned int i = 0; i < KEYS; i++)
		keys[i] = key_of(&view->rules[bench_random() % nb_rules].rule.match);
	for (unsigned int i = 0; i < KEYS; i++)
		linear.expected += hy_policy_classify(view, &keys[i]);
	acl.expected = linear.expected;
	acl.classify = hy_policy_classify_compiled;
	bench_work(name, CYCLES_PACKET, contenders, 2);
	hy_policy_destroy(policy);
}

void
bench_classify(void)
{
	static const struct {
		const char *name;
		uint32_t nb_rules;
	} sizes[] = { { "r4", 4 }, { "r10", 10 }, { "r20", 20 }, { "r40", 40 }, { "r100", 100 },
		{ "r1k", 1000 }, { "r10k", 10000 } };

	for (unsigned int s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++)
		if (bench_wanted(sizes[s].name))
			work(sizes[s].name, sizes[s].nb_rules);
}
