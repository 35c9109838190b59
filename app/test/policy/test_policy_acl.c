/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rte_acl against the linear oracle: random rules, real ones, keys of real captures, any burst, in
 * every vector width that the CPU has.
 */

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_vect.h>

#include <hy_file.h>

#include "lib/policy/engine/acl_tables.h"
#include "lib/policy/policy.h"
#include "policy_fixture.h"

#define KEYS 2000

struct compared {
	uint64_t keys, hits;
};

static void
assert_same(const struct hy_flow_key keys[], uint32_t n, struct compared *compared)
{
	const struct hy_policy_view *view = hy_policy_view(policy);
	uint32_t acl[KEYS], linear[KEYS];

	memset(acl, 0xa5, sizeof(acl));
	memset(linear, 0xa5, sizeof(linear));
	hy_policy_classify_compiled(view, keys, acl, n);
	hy_policy_classify_linear(view, keys, linear, n);
	for (uint32_t i = 0; i < n; i++) {
		if (acl[i] != linear[i])
			fail_msg("key %u of %u among %u rules: rank %u, not %u", i, n,
				view->nb_rules, acl[i], linear[i]);
		compared->hits += linear[i] != HY_POLICY_NONE;
	}
	for (uint32_t i = n; i < KEYS; i++)
		if (acl[i] != 0xa5a5a5a5)
			fail_msg("rank %u of a burst of %u was written", i, n);
	compared->keys += n;
}

/* Keys near the rules of the policy, in bursts of 0 to 256 and at once. */
static void
compare_near(uint64_t *seed, struct compared *compared)
{
	const struct hy_policy_view *view = hy_policy_view(policy);
	static struct hy_flow_key keys[KEYS];

	for (unsigned int i = 0; i < KEYS; i++)
		keys[i] = key_near(&view->rules[rnd(seed) % view->nb_rules].rule, seed);
	assert_same(keys, KEYS, compared);
	for (uint32_t burst = 0; burst <= 256; burst++)
		assert_same(keys + rnd(seed) % (KEYS - 256), burst, compared);
}

static void
random_policy(uint32_t nb_rules, uint64_t *seed)
{
	for (uint32_t id = 0; id < nb_rules; id++) {
		const struct hy_flow_rule rule = rule_random(id * 7, seed);

		assert_int_equal(hy_policy_add(policy, &rule), 0);
	}
	commit();
}

/* Contexts of rte_acl for IPv4. */
static uint32_t
nb_parts(void)
{
	const struct hy_policy_compiled *compiled = hy_policy_view(policy)->compiled;

	assert_ptr_equal(compiled->base->tables.engine, &policy_engine_acl);
	return ((const struct acl *)compiled->tables)->family[ACL_IPV4].nb_parts;
}

/* A policy that no other engine may compile. */
static void
policy_new_acl(uint32_t max_rules)
{
	policy_new(max_rules, 1, NULL);
	policy->only = "rte_acl";
}

static void
width_run(uint16_t width)
{
	static const uint32_t sizes[] = { 1, 2, 3, 8, 32, 64, 100 };
	struct compared compared = { 0 };
	uint64_t seed = width;

	assert_int_equal(rte_vect_set_max_simd_bitwidth(width), 0);
	for (unsigned int round = 0; round < 28; round++) {
		policy_new_acl(1000);
		random_policy(sizes[round % RTE_DIM(sizes)], &seed);
		compare_near(&seed, &compared);
		hy_policy_destroy(policy);
		policy = NULL;
	}
	print_message("%u bits: %ju keys, %ju hits\n", width, (uintmax_t)compared.keys,
		(uintmax_t)compared.hits);
	assert_int_equal(compared.keys, 28 * (KEYS + 256 * 257 / 2));
	assert_true(compared.hits > compared.keys / 4 && compared.hits < compared.keys);
}

static void
acl_finds_what_linear_finds_in_every_width(void **state)
{
	const uint16_t before = rte_vect_get_max_simd_bitwidth();

	RTE_SET_USED(state);
	width_run(RTE_VECT_SIMD_DISABLED); /* scalar */
	width_run(RTE_VECT_SIMD_128);
	width_run(RTE_VECT_SIMD_256);
	width_run(RTE_VECT_SIMD_512);
	assert_int_equal(rte_vect_set_max_simd_bitwidth(before), 0);
}

static void
no_rules_match_nothing(void **state)
{
	const struct hy_flow_key keys[3] = { 0 };
	struct compared compared = { 0 };

	RTE_SET_USED(state);
	policy_new(1, 1, NULL);
	assert_same(keys, 3, &compared);
	assert_int_equal(compared.hits, 0);
	assert_null(hy_policy_view(policy)->compiled);
}

/* The widest rules, side by side with the narrowest, in both orders of precedence. */
static void
rules_that_nest_are_found_by_precedence(void **state)
{
	struct compared compared = { 0 };
	uint64_t seed = 5;

	RTE_SET_USED(state);
	for (unsigned int narrow_first = 0; narrow_first < 2; narrow_first++) {
		policy_new_acl(128);
		for (uint32_t len = 1; len <= 32; len++) {
			const struct hy_flow_rule rule = { .id = len,
				.precedence = narrow_first ? 32 - len : len,
				.class_id = (uint16_t)len,
				.match = { .fields = HY_FLOW_SRC,
					.src = 0xaaaaaaaa &
						(uint32_t)(UINT64_C(0xffffffff00000000) >> len),
					.src_len = (uint8_t)len } };
			const struct hy_flow_rule range = { .id = 100 + len,
				.precedence = rule.precedence,
				.class_id = 1,
				.match = { .fields = HY_FLOW_DPORT,
					.dport = { (uint16_t)(1000 - len),
						(uint16_t)(1000 + len) } } };

			assert_int_equal(hy_policy_add(policy, &rule), 0);
			assert_int_equal(hy_policy_add(policy, &range), 0);
		}
		commit();
		compare_near(&seed, &compared);
		hy_policy_destroy(policy);
		policy = NULL;
	}
	assert_true(compared.hits > compared.keys / 2);
}

/* A line of ClassBench: @SRC/LEN DST/LEN FIRST : LAST FIRST : LAST PROTO/MASK. */
static bool
classbench_read(const char *line, struct hy_flow_rule *rule)
{
	unsigned int s[5], d[5], sp[2], dp[2], proto, mask;
	struct hy_flow_match *m = &rule->match;

	if (sscanf(line, "@%u.%u.%u.%u/%u %u.%u.%u.%u/%u %u : %u %u : %u %x/%x", &s[0], &s[1],
		    &s[2], &s[3], &s[4], &d[0], &d[1], &d[2], &d[3], &d[4], &sp[0], &sp[1], &dp[0],
		    &dp[1], &proto, &mask) != 16)
		return false;
	*m = (struct hy_flow_match){ .src_len = (uint8_t)s[4], .dst_len = (uint8_t)d[4] };
	m->fields = (s[4] > 0 ? HY_FLOW_SRC : 0) | (d[4] > 0 ? HY_FLOW_DST : 0) |
		(mask == 0xff ? HY_FLOW_PROTO : 0);
	m->src = s[4] > 0 ? s[0] << 24 | s[1] << 16 | s[2] << 8 | s[3] : 0;
	m->dst = d[4] > 0 ? d[0] << 24 | d[1] << 16 | d[2] << 8 | d[3] : 0;
	m->proto = mask == 0xff ? (uint8_t)proto : 0;
	if (sp[0] != 0 || sp[1] != UINT16_MAX) {
		m->fields |= HY_FLOW_SPORT;
		m->sport[0] = (uint16_t)sp[0];
		m->sport[1] = (uint16_t)sp[1];
	}
	if (dp[0] != 0 || dp[1] != UINT16_MAX) {
		m->fields |= HY_FLOW_DPORT;
		m->dport[0] = (uint16_t)dp[0];
		m->dport[1] = (uint16_t)dp[1];
	}
	return true;
}

static const char *
data_folder(void)
{
	const char *data = getenv("HALYARD_DATA");

	if (data == NULL) {
		print_message("HALYARD_DATA is not set: no real rules, no real captures\n");
		skip();
	}
	return data;
}

static void
acl_finds_what_linear_finds_among_real_rules(void **state)
{
	struct compared compared = { 0 };
	char command[512], line[256];
	uint64_t seed = 941;
	uint32_t n = 0;
	FILE *in;

	RTE_SET_USED(state);
	snprintf(command, sizeof(command), "xz -dc '%s/rules/acl1_941.rules.xz'", data_folder());
	in = popen(command, "r"); /* NOLINT(cert-env33-c) */
	assert_non_null(in);
	policy_new_acl(1000);
	while (fgets(line, sizeof(line), in) != NULL) {
		struct hy_flow_rule rule = { .id = n, .class_id = (uint16_t)(n + 1) };

		assert_true(classbench_read(line, &rule));
		assert_int_equal(hy_policy_add(policy, &rule), 0);
		n++;
	}
	assert_int_equal(pclose(in), 0);
	assert_int_equal(n, 941);
	commit();
	for (unsigned int round = 0; round < 8; round++)
		compare_near(&seed, &compared);
	assert_true(compared.hits > compared.keys / 2);
}

static uint32_t
le32(const uint8_t *at)
{
	return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* The keys of an Ethernet capture in pcap, little-endian; of others, none. */
static uint32_t
capture_keys(const char *path, struct hy_flow_key keys[], uint32_t most)
{
	static uint8_t bytes[1 << 22];
	FILE *in = fopen(path, "rb");
	size_t size, at = 24;
	uint32_t n = 0;

	assert_non_null(in);
	size = fread(bytes, 1, sizeof(bytes), in);
	fclose(in);
	if (size < at || le32(bytes) != 0xa1b2c3d4 || le32(bytes + 20) != 1)
		return 0;
	while (n < most && at + 16 <= size && at + 16 + le32(bytes + at + 8) <= size) {
		const uint32_t len = le32(bytes + at + 8);

		hy_flow_key(bytes + at + 16, len, &keys[n++]);
		at += 16 + len;
	}
	return n;
}

/* A rule that asks for some of what a packet has. */
static struct hy_flow_rule
rule_like(const struct hy_flow_key *key, uint32_t id, uint64_t *seed)
{
	struct hy_flow_rule rule = {
		.id = id, .precedence = rnd(seed) % 100, .class_id = (uint16_t)(1 + id)
	};
	struct hy_flow_match *m = &rule.match;

	m->fields = key->has & rnd(seed) & HY_FLOW_ALL &
		~(uint32_t)(key->vlan == 0 ? HY_FLOW_VLAN : 0);
	if ((key->has & HY_FLOW_IPV6) != 0)
		m->fields &= HY_FLOW_ETHER_TYPE | HY_FLOW_VLAN;
	if ((key->has & HY_FLOW_ETHER_TYPE) != 0 && key->ether_type < 0x600)
		m->fields &= ~(uint32_t)HY_FLOW_ETHER_TYPE;
	m->ether_type = m->fields & HY_FLOW_ETHER_TYPE ? key->ether_type : 0;
	m->vlan = m->fields & HY_FLOW_VLAN ? key->vlan : 0;
	m->src_len = m->fields & HY_FLOW_SRC ? (uint8_t)(8 + rnd(seed) % 25) : 0;
	m->dst_len = m->fields & HY_FLOW_DST ? (uint8_t)(8 + rnd(seed) % 25) : 0;
	m->src = key->src & (uint32_t)(UINT64_C(0xffffffff00000000) >> m->src_len);
	m->dst = key->dst & (uint32_t)(UINT64_C(0xffffffff00000000) >> m->dst_len);
	m->proto = m->fields & HY_FLOW_PROTO ? key->proto : 0;
	m->dscp = m->fields & HY_FLOW_DSCP ? key->dscp : 0;
	if ((m->fields & HY_FLOW_SPORT) != 0)
		m->sport[0] = m->sport[1] = key->sport;
	if ((m->fields & HY_FLOW_DPORT) != 0) {
		m->dport[0] = key->dport / 2;
		m->dport[1] = key->dport;
	}
	m->tunnel = m->fields & HY_FLOW_TUNNEL ? key->tunnel : 0;
	return rule;
}

static void
acl_finds_what_linear_finds_in_captures(void **state)
{
	enum { MOST = 60000, RULES = 300 };
	const char *data = data_folder(); /* first: it may skip the test */
	struct hy_flow_key *keys = calloc(MOST, sizeof(*keys));
	struct compared compared = { 0 };
	uint64_t seed = 2;
	char pattern[512];
	uint32_t n = 0;
	glob_t found;

	RTE_SET_USED(state);
	snprintf(pattern, sizeof(pattern), "%s/pcap/*.pcap", data);
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		n += capture_keys(found.gl_pathv[i], keys + n, MOST - n);
	globfree(&found);
	policy_new_acl(RULES);
	for (uint32_t id = 0; id < RULES; id++) {
		const struct hy_flow_rule rule = rule_like(&keys[rnd(&seed) % n], id, &seed);

		if (__builtin_popcount(rule.match.fields) > 2) /* fewer match nearly everything */
			assert_int_equal(hy_policy_add(policy, &rule), 0);
	}
	commit();
	for (uint32_t at = 0; at < n; at += KEYS)
		assert_same(keys + at, RTE_MIN(n - at, (uint32_t)KEYS), &compared);
	free(keys);
	print_message("%ju frames, %ju hits\n", (uintmax_t)compared.keys, (uintmax_t)compared.hits);
	assert_int_equal(compared.keys, n);
	assert_true(n > 4000 && compared.hits > n / 10 && compared.hits < n * 9 / 10);
}

/* Rules as an operator has them: pairs of networks, a service each. */
static void
ten_thousand_rules_are_found(void **state)
{
	struct compared compared = { 0 };
	uint64_t seed = 10000;

	RTE_SET_USED(state);
	policy_new_acl(10000);
	for (uint32_t id = 0; id < 10000; id++) {
		const uint16_t port = (uint16_t)(rnd(&seed) % 1024);
		const struct hy_flow_rule rule = { .id = id,
			.precedence = id / 100,
			.class_id = (uint16_t)(1 + id),
			.match = {
				.fields = HY_FLOW_SRC | HY_FLOW_DST | HY_FLOW_PROTO | HY_FLOW_DPORT,
				.src = 0x0a000000 | (rnd(&seed) & 0xffff00),
				.src_len = 24,
				.dst = 0xac100000 | (rnd(&seed) & 0xfffff),
				.dst_len = 32,
				.proto = id % 3 == 0 ? 17 : 6,
				.dport = { port, port } } };

		assert_int_equal(hy_policy_add(policy, &rule), 0);
	}
	commit();
	compare_near(&seed, &compared);
	assert_true(compared.hits > compared.keys / 2);
}

/* Rules that overlap in all fields do not fit into one rte_acl. */
static void
rules_that_rte_acl_takes_in_parts_only_are_found(void **state)
{
	struct compared compared = { 0 };
	uint64_t seed = 4;

	RTE_SET_USED(state);
	policy_new_acl(1000);
	random_policy(500, &seed);
	assert_true(nb_parts() > 1);
	compare_near(&seed, &compared);
	assert_true(compared.hits > compared.keys / 4);
}

static unsigned int asked, stop_from; /* so often; from which time on it is to stop */

static bool
stops_later(void)
{
	return ++asked >= stop_from;
}

/* rte_acl may take minutes for all parts of such rules, and a program be told to stop meanwhile. */
static void
compilation_of_many_parts_is_stopped_between_them(void **state)
{
	uint64_t seed = 4;
	unsigned int tries;

	RTE_SET_USED(state);
	policy_new_acl(1000);
	add_dport(UINT32_MAX, 0, 7, 80);
	commit();
	for (uint32_t id = 0; id < 500; id++) {
		struct hy_flow_rule rule = rule_random(id, &seed);

		rule.precedence = 1 + id;
		assert_int_equal(hy_policy_add(policy, &rule), 0);
	}
	hy_file_stop_when(stops_later);
	for (unsigned int i = 1; i <= 3; i++) {
		asked = 0;
		stop_from = i;
		assert_int_equal(hy_policy_commit(policy), -EINTR);
		assert_int_equal(asked, i);
		assert_int_equal(hy_policy_rules_get(policy, NULL, 0), 1);
		assert_int_equal(class_of(80), 7);
	}
	asked = 0;
	stop_from = UINT32_MAX;
	commit(); /* all was still staged */
	tries = asked;
	hy_file_stop_when(NULL);
	assert_int_equal(hy_policy_rules_get(policy, NULL, 0), 501);
	assert_true(nb_parts() > 1);
	assert_true(tries > nb_parts());
}

/* Far too many of those: a clear refusal, and nothing changes. */
static void
rules_that_rte_acl_does_not_take_are_refused_whole(void **state)
{
	uint64_t seed = 6;

	RTE_SET_USED(state);
	policy_new_acl(6001);
	add_dport(UINT32_MAX, 0, 7, 80);
	commit();
	policy->params.max_memory = 8 << 20; /* rte_acl would find room for them, in gigabytes */
	for (uint32_t id = 0; id < 6000; id++) {
		struct hy_flow_rule rule = rule_random(id, &seed);

		rule.precedence = 1 + id;
		assert_int_equal(hy_policy_add(policy, &rule), 0);
	}
	assert_int_equal(hy_policy_commit(policy), -E2BIG);
	assert_int_equal(hy_policy_rules_get(policy, NULL, 0), 1);
	assert_int_equal(class_of(80), 7);
	for (uint32_t id = 100; id < 6000; id++)
		assert_int_equal(hy_policy_remove(policy, id), 0);
	commit();
	assert_int_equal(hy_policy_rules_get(policy, NULL, 0), 101);
}

static const struct CMUnitTest tests[] = {
	POLICY_TEST(rules_that_rte_acl_takes_in_parts_only_are_found),
	POLICY_TEST(compilation_of_many_parts_is_stopped_between_them),
	POLICY_TEST(rules_that_rte_acl_does_not_take_are_refused_whole),
	POLICY_TEST(acl_finds_what_linear_finds_in_every_width),
	POLICY_TEST(no_rules_match_nothing),
	POLICY_TEST(rules_that_nest_are_found_by_precedence),
	POLICY_TEST(acl_finds_what_linear_finds_among_real_rules),
	POLICY_TEST(acl_finds_what_linear_finds_in_captures),
	POLICY_TEST(ten_thousand_rules_are_found),
};
UNIT_SUITE(tests)
