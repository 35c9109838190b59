/* SPDX-License-Identifier: BSD-3-Clause */
/* Generated rule sets: repeatable, without doubles, and hard where real ones are. */

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <rte_acl.h>

#include "app/hy-policy/generate.h"
#include "policy_fixture.h"

#define MANY 10000

static struct hy_flow_rule rules[MANY];

static void
generate(enum generate_kind kind, bool ip6, uint64_t seed, uint32_t n)
{
	memset(rules, 0xa5, sizeof(rules));
	assert_int_equal(policy_generate(kind, ip6, seed, n, rules), 0);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(rules[i].id, i + 1);
}

/* Adds bytes of a number, whatever the machine's byte order, to an FNV-1a hash. */
static void
hash_add(uint64_t *hash, uint64_t number, unsigned int bytes)
{
	for (unsigned int i = 0; i < bytes; i++) {
		*hash = (*hash ^ (number & 255)) * UINT64_C(0x100000001b3);
		number >>= 8;
	}
}

static uint64_t
hash_of(uint32_t n)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (const struct hy_flow_rule *r = rules; r < rules + n; r++) {
		const struct hy_flow_match *m = &r->match;

		hash_add(&hash, r->action, 1);
		hash_add(&hash, m->fields, 4);
		for (unsigned int w = 0; w < 4; w++) {
			hash_add(&hash, m->src6[w], 4);
			hash_add(&hash, m->dst6[w], 4);
		}
		hash_add(&hash, m->src_len, 1);
		hash_add(&hash, m->dst_len, 1);
		hash_add(&hash, m->proto, 1);
		hash_add(&hash, m->sport[0], 2);
		hash_add(&hash, m->sport[1], 2);
		hash_add(&hash, m->dport[0], 2);
		hash_add(&hash, m->dport[1], 2);
	}
	return hash;
}

static void
a_seed_gives_the_same_rules_on_every_machine(void **state)
{
	static const uint64_t expected[GENERATE_KINDS][2] = {
		{ UINT64_C(0xf72b4646183d2b4e), UINT64_C(0x6dfdc56c1a363340) },
		{ UINT64_C(0x28fff56278dae7cd), UINT64_C(0x73b471e04027f271) },
		{ UINT64_C(0xf291dac827351deb), UINT64_C(0x4887b903891a6163) },
	};
	uint64_t hash;

	RTE_SET_USED(state);
	for (int kind = 0; kind < GENERATE_KINDS; kind++) {
		for (int ip6 = 0; ip6 < 2; ip6++) {
			generate(kind, ip6, 7, 1000);
			hash = hash_of(1000);
			if (hash != expected[kind][ip6])
				print_error("%s, IPv6 %d: %#" PRIx64 "\n", generate_names[kind],
					ip6, hash);
			assert_true(hash == expected[kind][ip6]);
			generate(kind, ip6, 8, 1000);
			assert_true(hash_of(1000) != hash);
		}
	}
}

static int
compare_matches(const void *a, const void *b)
{
	return memcmp(&((const struct hy_flow_rule *)a)->match,
		&((const struct hy_flow_rule *)b)->match, sizeof(struct hy_flow_match));
}

static void
all_generated_rules_are_good_and_different(void **state)
{
	RTE_SET_USED(state);
	for (int i = 0; i < GENERATE_KINDS * 2; i++) {
		uint32_t denied = 0;

		generate(i / 2, i % 2 != 0, 3, MANY);
		for (uint32_t r = 0; r < MANY; r++)
			denied += rules[r].action == HY_RULE_DENY;
		assert_in_range(denied, MANY * 45 / 100, MANY * 55 / 100);
		qsort(rules, MANY, sizeof(rules[0]), compare_matches);
		for (uint32_t r = 1; r < MANY; r++)
			assert_int_not_equal(compare_matches(&rules[r - 1], &rules[r]), 0);
	}
}

/* The kind of a range of ports. */
static uint8_t
port_kind(bool named, const uint16_t range[2])
{
	if (!named)
		return 0;
	if (range[1] == UINT16_MAX && range[0] == 1024)
		return 1;
	if (range[0] == 0 && range[1] == 1023)
		return 2;
	return range[0] == range[1] ? 3 : 4;
}

struct tuple {
	uint8_t src_len, dst_len, sport, dport, proto;
};

static int
compare_tuples(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct tuple));
}

static uint32_t
tuples_of(uint32_t n)
{
	static struct tuple tuples[MANY];
	uint32_t different = 1;

	for (uint32_t i = 0; i < n; i++) {
		const struct hy_flow_match *m = &rules[i].match;

		tuples[i] = (struct tuple){ m->src_len, m->dst_len,
			port_kind(m->fields & HY_FLOW_SPORT, m->sport),
			port_kind(m->fields & HY_FLOW_DPORT, m->dport),
			(m->fields & HY_FLOW_PROTO) != 0 };
	}
	qsort(tuples, n, sizeof(tuples[0]), compare_tuples);
	for (uint32_t i = 1; i < n; i++)
		different += compare_tuples(&tuples[i - 1], &tuples[i]) != 0;
	return different;
}

static void
ten_thousand_rules_have_100_to_300_mask_tuples(void **state)
{
	RTE_SET_USED(state);
	for (int i = 0; i < GENERATE_KINDS * 2; i++) {
		for (uint64_t seed = 1; seed <= 5; seed++) {
			generate(i / 2, i % 2 != 0, seed, MANY);
			assert_in_range(tuples_of(MANY), 100, 300);
		}
	}
}

static int
compare_sources(const void *a, const void *b)
{
	const struct hy_flow_match *x = &((const struct hy_flow_rule *)a)->match;
	const struct hy_flow_match *y = &((const struct hy_flow_rule *)b)->match;

	if (x->src != y->src)
		return x->src < y->src ? -1 : 1;
	return (int)x->src_len - (int)y->src_len;
}

/* Of different source prefixes: how many are inside the one before them, by address. */
static void
prefixes_are_shared_and_nest(void **state)
{
	RTE_SET_USED(state);
	for (int kind = 0; kind < GENERATE_KINDS; kind++) {
		uint32_t shared = 0, nested = 0, named = 0;

		generate(kind, false, 1, MANY);
		qsort(rules, MANY, sizeof(rules[0]), compare_sources);
		for (uint32_t i = 1; i < MANY; i++) {
			const struct hy_flow_match *a = &rules[i - 1].match, *b = &rules[i].match;

			if (a->src_len == 0)
				continue;
			named++;
			if (a->src == b->src && a->src_len == b->src_len)
				shared++;
			else if (a->src_len < b->src_len &&
				(a->src ^ b->src) >> (32 - a->src_len) == 0)
				nested++;
		}
		assert_in_range(shared, named / 10, named * 9 / 10);
		assert_in_range(nested, named / 100, named / 2);
	}
}

#ifndef SANITIZED
enum { FIELD_PROTO, FIELD_SRC, FIELD_DST, FIELD_SPORT, FIELD_DPORT, FIELDS };

RTE_ACL_RULE_DEF(acl_rule, FIELDS);

static void
acl_rule_of(const struct hy_flow_rule *rule, struct acl_rule *to)
{
	const struct hy_flow_match *m = &rule->match;
	const bool sport = (m->fields & HY_FLOW_SPORT) != 0;
	const bool dport = (m->fields & HY_FLOW_DPORT) != 0;

	to->data = (struct rte_acl_rule_data){
		.category_mask = 1, .priority = (int32_t)(MANY - rule->id + 1), .userdata = rule->id
	};
	to->field[FIELD_PROTO].value.u8 = m->proto;
	to->field[FIELD_PROTO].mask_range.u8 = (m->fields & HY_FLOW_PROTO) != 0 ? UINT8_MAX : 0;
	to->field[FIELD_SRC].value.u32 = m->src;
	to->field[FIELD_SRC].mask_range.u32 = m->src_len;
	to->field[FIELD_DST].value.u32 = m->dst;
	to->field[FIELD_DST].mask_range.u32 = m->dst_len;
	to->field[FIELD_SPORT].value.u16 = m->sport[0];
	to->field[FIELD_SPORT].mask_range.u16 = sport ? m->sport[1] : UINT16_MAX;
	to->field[FIELD_DPORT].value.u16 = m->dport[0];
	to->field[FIELD_DPORT].mask_range.u16 = dport ? m->dport[1] : UINT16_MAX;
}

/* The bytes of rte_acl's tables for the rules, as l3fwd-acl lays out IPv4's five fields. */
static size_t
acl_bytes(void)
{
	static const struct rte_acl_config config = {
		.num_categories = 1,
		.num_fields = FIELDS,
		.defs = {
			{ RTE_ACL_FIELD_TYPE_BITMASK, 1, FIELD_PROTO, 0, 0 },
			{ RTE_ACL_FIELD_TYPE_MASK, 4, FIELD_SRC, 1, 4 },
			{ RTE_ACL_FIELD_TYPE_MASK, 4, FIELD_DST, 2, 8 },
			{ RTE_ACL_FIELD_TYPE_RANGE, 2, FIELD_SPORT, 3, 12 },
			{ RTE_ACL_FIELD_TYPE_RANGE, 2, FIELD_DPORT, 3, 14 },
		},
	};
	const struct rte_acl_param params = { "generated", SOCKET_ID_ANY, RTE_ACL_RULE_SZ(FIELDS),
		MANY };
	struct acl_rule *acl_rules = calloc(MANY, sizeof(*acl_rules));
	struct rte_acl_ctx *acl = rte_acl_create(&params);
	size_t before, taken;

	assert_non_null(acl_rules);
	assert_non_null(acl);
	for (uint32_t i = 0; i < MANY; i++)
		acl_rule_of(&rules[i], &acl_rules[i]);
	assert_int_equal(rte_acl_add_rules(acl, (struct rte_acl_rule *)acl_rules, MANY), 0);
	before = unit_heap_bytes();
	assert_int_equal(rte_acl_build(acl, &config), 0);
	taken = unit_heap_bytes() - before;
	rte_acl_free(acl);
	free(acl_rules);
	return taken;
}

static void
rte_acl_needs_100_mib_for_a_firewall_and_less_for_others(void **state)
{
	RTE_SET_USED(state);
	generate(GENERATE_FW, false, 1, MANY);
	assert_in_range(acl_bytes(), 100u << 20, 200u << 20);
	generate(GENERATE_ACL, false, 1, MANY);
	assert_in_range(acl_bytes(), 5u << 20, 50u << 20);
}
#endif

static const struct CMUnitTest generate_tests[] = {
	cmocka_unit_test(a_seed_gives_the_same_rules_on_every_machine),
	cmocka_unit_test(all_generated_rules_are_good_and_different),
	cmocka_unit_test(ten_thousand_rules_have_100_to_300_mask_tuples),
	cmocka_unit_test(prefixes_are_shared_and_nest),
#ifndef SANITIZED
	cmocka_unit_test(rte_acl_needs_100_mib_for_a_firewall_and_less_for_others),
#endif
};

UNIT_SUITE(generate_tests)
