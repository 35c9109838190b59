/* SPDX-License-Identifier: BSD-3-Clause */
/* What rules say of packets, and what of them they look at. */

#include <netinet/in.h>
#include <string.h>
#include <time.h>

#include <rte_ether.h>

#include "vswitch_fixture.h"

#define RULES 100000u

static uint32_t
bits_of(const struct hy_flows_key *mask)
{
	uint32_t bits = 0;

	for (uint32_t w = 0; w < HY_FLOWS_WORDS; w++)
		bits += (uint32_t)__builtin_popcountll(mask->words[w]);
	return bits;
}

static void
the_highest_priority_counts_and_then_the_oldest(void **state)
{
	const struct hy_flows_key key = tcp_key();

	RTE_SET_USED(state);
	add_rules(
		"priority=5,tcp actions=2\npriority=6,ip actions=3\npriority=6,tcp,tp_dst=80 actions=2");
	assert_edges(&key, 23, -1);
	assert_int_equal(answer.nb_rules, 1);
	add_rule("priority=6,ip actions=2,3"); /* takes its place */
	assert_edges(&key, 22, 23);
	add_rule("priority=7,udp actions=1");
	assert_edges(&key, 22, 23);
}

static void
packets_of_other_ports_are_dropped(void **state)
{
	struct hy_flows_key key = tcp_key();

	RTE_SET_USED(state);
	add_rule("actions=2");
	key.port = 14;
	assert_edges(&key, -1, -1);
	assert_int_equal(answer.outcome, HY_VSWITCH_NO_INPUT);
	assert_int_equal(answer.nb_rules, 0);
	assert_int_equal(answer.mask.port, UINT16_MAX);
	key.port = 11;
	key.kind |= HY_FLOWS_TUNNELLED; /* and there is no tunnel */
	assert_edges(&key, -1, -1);
	assert_int_equal(answer.outcome, HY_VSWITCH_NO_INPUT);
}

static void
flood_leaves_out_where_it_came_from_and_some(void **state)
{
	struct hy_flows_key key = tcp_key();

	RTE_SET_USED(state);
	add_rules("tcp actions=flood\nudp actions=all\narp actions=normal,in_port");
	assert_edges(&key, 22, -1);
	key.proto = IPPROTO_UDP;
	assert_edges(&key, 22, 23);
	key.type = RTE_BE16(RTE_ETHER_TYPE_ARP);
	assert_edges(&key, 9, 21);
}

static void
a_miss_is_told_by_few_bits(void **state)
{
	const struct hy_flows_key key = tcp_key();
	struct hy_flows_key fixed = { .port = UINT16_MAX, .kind = HY_FLOWS_TUNNELLED };

	RTE_SET_USED(state);
	add_rule("priority=0 actions=2");
	assert_edges(&key, 22, -1);
	assert_memory_equal(&answer.mask, &fixed, sizeof(fixed));
	add_rule("priority=9,dl_src=02:00:00:00:00:01,ipv6,ipv6_dst=2001:db8::1 actions=1");
	assert_edges(&key, 22, -1);
	assert_int_equal(bits_of(&answer.mask), bits_of(&fixed) + 1);
	for (uint32_t i = 0; i < 256; i++) {
		char text[64];

		snprintf(text, sizeof(text), "priority=8,dl_dst=02:00:00:00:00:%02x actions=1", i);
		add_rule(text);
	}
	assert_edges(&key, 22, -1);
	assert_int_equal(bits_of(&answer.mask), bits_of(&fixed) + 2);
}

static void
what_was_written_is_not_looked_at(void **state)
{
	const struct hy_flows_key key = tcp_key();

	RTE_SET_USED(state);
	add_rules("actions=mod_nw_dst:10.9.9.9,mod_tp_dst:99,resubmit(,1)\n"
		  "table=1,tcp,nw_dst=10.9.9.9,tp_dst=99 actions=2\ntable=1,priority=1 actions=3");
	assert_edges(&key, 22, -1);
	assert_int_equal(answer.nb_rules, 2);
	assert_int_equal(answer.mask.dst, 0);
	assert_int_equal(answer.mask.dport, 0);
	assert_int_equal(answer.mask.proto, UINT8_MAX);
	assert_int_equal(answer.mask.type, UINT16_MAX);
}

static void
one_bit_says_that_a_ttl_is_not_spent(void **state)
{
	struct hy_flows_key key = tcp_key();
	static const uint8_t ttl[] = { 0, 1, 2, 3, 64, 127, 255 };
	static const uint8_t once[] = { 0xfe, 0xfe, 2, 2, 64, 64, 128 };

	RTE_SET_USED(state);
	add_rules("tcp actions=dec_ttl,2\nudp actions=dec_ttl,dec_ttl,2\n"
		  "sctp actions=mod_nw_ttl:2,dec_ttl,dec_ttl,2");
	for (uint32_t i = 0; i < RTE_DIM(ttl); i++) {
		key.ttl = ttl[i];
		key.proto = IPPROTO_TCP;
		assert_edges(&key, ttl[i] >= 2 ? 22 : -1, -1);
		assert_int_equal(answer.mask.ttl, once[i]);
		key.proto = IPPROTO_UDP;
		assert_edges(&key, ttl[i] >= 3 ? 22 : -1, -1);
		assert_int_equal(answer.mask.ttl, ttl[i] < 2 ? 0xfe : 0xff);
		key.proto = IPPROTO_SCTP;
		assert_edges(&key, -1, -1);
		assert_int_equal(answer.mask.ttl, 0);
	}
}

static void
a_spent_ttl_ends_the_rule_and_not_its_caller(void **state)
{
	struct hy_flows_key key = tcp_key();

	RTE_SET_USED(state);
	add_rules("actions=resubmit(,1),3\ntable=1 actions=dec_ttl,2");
	assert_edges(&key, 22, 23);
	key.ttl = 1;
	assert_edges(&key, 23, -1);
}

static void
resubmits_are_bounded(void **state)
{
	const struct hy_flows_key key = tcp_key();

	RTE_SET_USED(state);
	add_rule("actions=resubmit(,0)");
	assert_edges(&key, -1, -1);
	assert_int_equal(answer.outcome, HY_VSWITCH_TOO_DEEP);
	assert_int_equal(answer.nb_rules, HY_VSWITCH_DEPTH + 1);
	add_rule("actions=dec_ttl,resubmit(,1),resubmit(,1)");
	add_rule("table=14 actions=drop");
	for (uint32_t table = 1; table < 14; table++) {
		char text[128];

		snprintf(text, sizeof(text), "table=%u actions=resubmit(,%u),resubmit(,%u)", table,
			table + 1, table + 1);
		add_rule(text);
	}
	assert_edges(&key, -1, -1);
	assert_int_equal(answer.outcome, HY_VSWITCH_TOO_MANY);
	assert_int_equal(answer.nb_rules, HY_VSWITCH_RESUBMITS + 1);
	add_rule("table=7 actions=2");
	add_rule("actions=dec_ttl,resubmit(,1)"); /* 1 + 64 operations */
	hy_vswitch_translate(vswitch, &key, &answer);
	assert_int_equal(answer.outcome, HY_VSWITCH_TOO_LONG);
	assert_int_equal(answer.nb_ops, 0);
	add_rule("actions=resubmit(,1)");
	hy_vswitch_translate(vswitch, &key, &answer);
	assert_int_equal(answer.outcome, HY_VSWITCH_DONE);
	assert_int_equal(answer.nb_ops, HY_FLOW_OPS_LIST);
}

/* One packet took 0.7 s: 62 times 62 times 62 resubmits, of which all but 62 times 63 find no rule. */
static void
resubmits_that_find_no_rule_were_not_counted(void **state)
{
	const struct hy_flows_key key = tcp_key();
	char text[1200];

	RTE_SET_USED(state);
	for (uint32_t table = 0; table < 3; table++) {
		int at = snprintf(text, sizeof(text), "table=%u actions=1", table);

		for (uint32_t i = 0; i < 62; i++)
			at += snprintf(text + at, sizeof(text) - (size_t)at, ",resubmit(,%u)",
				table + 1);
		add_rule(text);
	}
	hy_vswitch_translate(vswitch, &key, &answer);
	assert_int_equal(answer.outcome, HY_VSWITCH_TOO_MANY);
	assert_int_equal(answer.nb_ops, 0);
	assert_true(answer.nb_rules < 100);
}

static void
tables_after_one_another_are_not_deep(void **state)
{
	const struct hy_flows_key key = tcp_key();
	char text[64];

	RTE_SET_USED(state);
	for (uint32_t table = 0; table < HY_VSWITCH_TABLES - 1; table++) {
		snprintf(text, sizeof(text), "table=%u actions=%s(,%u)", table, "resubmit",
			table + 1);
		add_rule(text);
	}
	add_rule("table=254 actions=3");
	assert_edges(&key, 23, -1);
	assert_int_equal(answer.nb_rules, HY_VSWITCH_TABLES);
}

static void
tags_are_kept_beyond_those_of_a_key(void **state)
{
	struct hy_flows_key key = tcp_key();

	RTE_SET_USED(state);
	key.vlan = RTE_BE16(0x1005);
	key.vlan2 = RTE_BE16(0x1006);
	add_rules("actions=push_vlan:0x8100,push_vlan:0x8100,pop_vlan,pop_vlan,resubmit(,1)\n"
		  "table=1,dl_vlan=5 actions=pop_vlan,resubmit(,2)\n"
		  "table=2,dl_vlan=6 actions=pop_vlan,resubmit(,3)\n"
		  "table=3,dl_vlan=0xffff actions=2\n");
	assert_edges(&key, 22, -1);
	assert_int_equal(answer.nb_rules, 4);
	assert_int_equal(answer.mask.vlan, RTE_BE16(0x1fff));
	assert_int_equal(answer.mask.vlan2, RTE_BE16(0x1fff));
}

static void
a_hundred_thousand_rules_are_quick(void **state)
{
	struct hy_flows_key key = tcp_key();
	struct timespec begin, loaded, end;
	uint32_t hits = 0;
	char text[128];

	RTE_SET_USED(state);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (uint32_t i = 0; i < RULES; i++) {
		snprintf(text, sizeof(text),
			"priority=%u,tcp,nw_dst=10.%u.%u.%u/%u,tp_dst=80 actions=2", i % 5000,
			i % 100, i / 100 % 256, i / 25600 * 64, 26 + i % 7);
		add_rule(text);
	}
	clock_gettime(CLOCK_MONOTONIC, &loaded);
	for (uint32_t i = 0; i < RULES; i++) {
		key.dst = rte_cpu_to_be_32(0x0a000000 | i % 100 << 16 | i * 37 % 65536);
		hy_vswitch_translate(vswitch, &key, &answer);
		hits += answer.nb_ops > 0;
		assert_true(bits_of(&answer.mask) < 100);
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	print_message("%u rules: %.1f us a rule, %.2f us a translation, %u of %u hit\n", RULES,
		((double)(loaded.tv_sec - begin.tv_sec) * 1e6 +
			(double)(loaded.tv_nsec - begin.tv_nsec) / 1e3) /
			RULES,
		((double)(end.tv_sec - loaded.tv_sec) * 1e6 +
			(double)(end.tv_nsec - loaded.tv_nsec) / 1e3) /
			RULES,
		hits, RULES);
	assert_true(hits > RULES / 100 && hits < RULES);
#ifndef SANITIZED
	assert_true(end.tv_sec - begin.tv_sec < 20);
#endif
}

/* Whether revalidation, which knows of a packet only what was looked at, finds the same. */
static bool
is_the_same_of_what_was_seen(const struct hy_flows_key *key)
{
	static struct hy_vswitch_answer again;
	struct hy_flows_key seen;
	bool is_within = true;

	for (uint32_t w = 0; w < HY_FLOWS_WORDS; w++)
		seen.words[w] = key->words[w] & answer.mask.words[w];
	hy_vswitch_translate(vswitch, &seen, &again);
	assert_int_equal(again.nb_ops, answer.nb_ops);
	assert_memory_equal(again.ops, answer.ops, answer.nb_ops * sizeof(answer.ops[0]));
	for (uint32_t w = 0; w < HY_FLOWS_WORDS; w++)
		is_within &= (again.mask.words[w] & ~answer.mask.words[w]) == 0;
	return is_within;
}

/* It deletes megaflows of which the rules look at more. Of rules that did not change, these are very few. */
static void
revalidation_of_unchanged_rules_deleted_half_of_all(void **state)
{
	struct hy_flows_key key = tcp_key();
	uint32_t random = 1, within = 0, hits = 0;
	char text[128];

	RTE_SET_USED(state);
	for (uint32_t i = 0; i < 1000; i++) {
		random = random * 1103515245 + 12345;
		snprintf(text, sizeof(text), "priority=%u,ip,nw_dst=%u.%u.%u.%u/%u actions=%u",
			i % 100, random >> 24, random >> 16 & 255, random >> 8 & 255, random & 255,
			8 + i % 17, 1 + i % 3);
		add_rule(text);
	}
	for (uint32_t i = 0; i < RULES; i++) {
		random = random * 1103515245 + 12345;
		key.dst = rte_cpu_to_be_32(random ^ random >> 13);
		hy_vswitch_translate(vswitch, &key, &answer);
		hits += answer.nb_ops > 0;
		within += is_the_same_of_what_was_seen(&key);
	}
	assert_true(hits > RULES / 20 && hits < RULES);
	assert_true(within > RULES - RULES / 1000);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, vswitch_setup, vswitch_teardown)

static const struct CMUnitTest tests[] = {
	TEST(the_highest_priority_counts_and_then_the_oldest),
	TEST(packets_of_other_ports_are_dropped),
	TEST(flood_leaves_out_where_it_came_from_and_some),
	TEST(a_miss_is_told_by_few_bits),
	TEST(what_was_written_is_not_looked_at),
	TEST(one_bit_says_that_a_ttl_is_not_spent),
	TEST(a_spent_ttl_ends_the_rule_and_not_its_caller),
	TEST(resubmits_are_bounded),
	TEST(resubmits_that_find_no_rule_were_not_counted),
	TEST(tables_after_one_another_are_not_deep),
	TEST(tags_are_kept_beyond_those_of_a_key),
	TEST(a_hundred_thousand_rules_are_quick),
	TEST(revalidation_of_unchanged_rules_deleted_half_of_all),
};
UNIT_SUITE(tests)
