/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conformance of flow_cls: policies with no, few and many rules on every field of a match, and frames
 * of which every other one is made to match a rule or to miss it by a bit. Rules change between
 * bursts. Packets have marks, as a NIC would set them. The hits of each rule are compared too.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_random.h>

#include <hy_conform.h>

#include <hy_flow_cls_node.h>

#include "suite_flow_marks.h"
#include "suite_flow_match.h"

#define RULES_MAX SUITE_MARKS_RULES
#define FEW 25
#define CHANGES 6 /* rules per change */
#define CLASSES 9 /* 3 and 7 are denied, 5 takes another edge */

static const uint32_t rules_of[] = { 0, FEW + 15, RULES_MAX }; /* by set-up */

static const struct hy_flow_way ways[] = {
	{ .class_id = 3, .edge = HY_FLOW_DENY },
	{ .class_id = 5, .edge = 1 },
	{ .class_id = 7, .edge = HY_FLOW_DENY },
};

struct policy {
	struct hy_policy *policy;
	struct suite_marks *marks;
	struct hy_flow_rule rules[RULES_MAX];
	bool there[RULES_MAX]; /* currently in the policy */
	uint32_t nb_rules;
};

/* In the small policy, the rules from FEW on are of fields that only software matches. */
static int
fill(struct policy *p, uint32_t n)
{
	uint32_t x = 1;
	int rc = 0;

	while (rc == 0 && p->nb_rules < n) {
		const bool more = n != RULES_MAX && p->nb_rules >= FEW;
		const struct hy_flow_rule rule = { .id = SUITE_MARKS_ID + p->nb_rules,
			.precedence = hy_suite_flow_number(&x) % 50,
			.class_id = (uint16_t)(1 + hy_suite_flow_number(&x) % CLASSES),
			.match = more ? hy_suite_flow_more(&x)
				      : hy_suite_flow_match(&x, n == RULES_MAX) };

		rc = hy_policy_add(p->policy, &rule);
		p->there[p->nb_rules] = true;
		p->rules[p->nb_rules++] = rule;
	}
	return rc == 0 ? hy_policy_commit(p->policy) : rc;
}

static void
teardown(void *state)
{
	struct policy *p = state;

	suite_marks_destroy(p->marks);
	hy_policy_destroy(p->policy);
	free(p);
}

static int
setup(const struct hy_suite_side *side, void **state)
{
	const struct hy_policy_params params = { .max_rules = RULES_MAX,
		.workers = HY_SUITE_WORKERS,
		.socket = SOCKET_ID_ANY,
		.qsbr = side->qsbr };
	struct policy *p = calloc(1, sizeof(*p));
	char name[17];
	int rc;

	if (p == NULL)
		return -ENOMEM;
	snprintf(name, sizeof(name), "suite-%.9s", side->name);
	rc = hy_policy_create(name, &params, &p->policy);
	if (rc == 0)
		rc = fill(p, rules_of[side->setup]);
	if (rc == 0)
		rc = suite_marks_create(name, p->policy, rules_of[side->setup] == RULES_MAX,
			&p->marks);
	if (rc == 0)
		rc = suite_marks_publish(p->marks);
	*state = p;
	if (rc < 0)
		teardown(p);
	return rc;
}

static int
configure(void *state, hy_node_id id)
{
	const struct policy *p = state;
	const struct hy_flow_cls_config config = {
		.policy = p->policy, .ways = ways, .nb_ways = RTE_DIM(ways)
	};

	return hy_node_config(id, &config, sizeof(config));
}

/* Removes some rules, and adds removed ones again with another class. */
static int
change(void *state, uint32_t number)
{
	struct policy *p = state;
	uint32_t x = number;
	int rc = 0;

	suite_marks_turn(p->marks);
	if (p->nb_rules == RULES_MAX && number % 8 != 0) /* compiling these takes long */
		return 0;
	suite_marks_withdraw(p->marks);
	for (unsigned int i = 0; i < CHANGES && p->nb_rules > 0 && rc == 0; i++) {
		const uint32_t r = hy_suite_flow_number(&x) % p->nb_rules;

		if (p->there[r]) {
			rc = hy_policy_remove(p->policy, p->rules[r].id);
		} else {
			p->rules[r].class_id = (uint16_t)(1 + hy_suite_flow_number(&x) % CLASSES);
			rc = hy_policy_add(p->policy, &p->rules[r]);
			suite_marks_renew(p->marks, p->rules[r].id);
		}
		p->there[r] = !p->there[r];
	}
	rc = rc == 0 ? hy_policy_commit(p->policy) : rc;
	return rc == 0 ? suite_marks_publish(p->marks) : rc;
}

/* Makes most frames match a rule. */
static void
frame_shape(const struct policy *p, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	const bool typical = kind == HY_SUITE_TYPICAL;
	const struct hy_flow_match *match;

	if (p->nb_rules == 0 || packet->len < 60 || (!typical && rte_rand_max(2) == 0) ||
		kind == HY_SUITE_CAPTURED) /* keep the frame */
		return;
	match = &p->rules[rte_rand_max(p->nb_rules)].match;
	if (typical || rte_rand_max(4) != 0)
		hy_suite_flow_write(match, packet);
	else
		hy_suite_flow_miss(match, packet);
}

static void
shape(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	const struct policy *p = state;

	frame_shape(p, kind, packet);
	suite_marks_draw(p->marks, packet);
}

static bool
agree(void *reference, void *variant, char *text)
{
	const struct policy *ref = reference, *cand = variant;
	uint64_t unjust;

	for (uint32_t i = 0; i < ref->nb_rules; i++) {
		const uint32_t id = ref->rules[i].id;
		const uint64_t expected = hy_policy_hits(ref->policy, id);
		const uint64_t got = hy_policy_hits(cand->policy, id);

		if (got == expected)
			continue;
		snprintf(text, HY_CONFORM_TEXT_SIZE,
			"rule %u of %u has %" PRIu64 " hits, expected %" PRIu64, id, ref->nb_rules,
			got, expected);
		return false;
	}
	unjust = suite_marks_unjust(cand->marks);
	if (unjust > 0) {
		snprintf(text, HY_CONFORM_TEXT_SIZE,
			"%u rules: %" PRIu64 " right marks were called wrong", cand->nb_rules,
			unjust);
		return false;
	}
	return true;
}

static const char *
unreached(void *reference, void *variant)
{
	const struct policy *cand = variant;

	RTE_SET_USED(reference);
	return suite_marks_unreached(cand->marks);
}

HY_SUITE(flow_cls, .nb_edges = 1, .nb_setups = RTE_DIM(rules_of), .setup = setup,
	.teardown = teardown, .configure = configure, .shape = shape, .change = change,
	.change_every = 256, .agree = agree, .unreached = unreached,
	.summed_counters = 1u << HY_FLOW_CLS_SW_HITS | 1u << HY_FLOW_CLS_HW_HITS,
	.own_counters = 1u << HY_FLOW_CLS_HW_STALE | 1u << HY_FLOW_CLS_RESIDUE_CHECKS |
		1u << HY_FLOW_CLS_SAMPLED | 1u << HY_FLOW_CLS_MISMATCHES);
