/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rules of all fields overlap, and which are the same. */

#include <netinet/in.h>
#include <string.h>

#include "any_fixture.h"

/* What the packets that could match both of two rules can differ in. */
#define VERSIONS 3
#define KINDS 4
#define PROTOS 5
#define FLAGS 3
#define PORTS 2
#define TYPES 2
#define WITNESSES (VERSIONS * KINDS * PROTOS * FLAGS * PORTS * TYPES * 2)

static uint64_t
mac_of_both(uint64_t a, uint64_t b)
{
	return a | b; /* bits that are not in a mask are 0 */
}

/* The longer prefix. */
static void
address_of_both(uint32_t address[4], const uint32_t a[4], uint8_t a_len, const uint32_t b[4],
	uint8_t b_len)
{
	memcpy(address, a_len > b_len ? a : b, 4 * sizeof(*address));
}

/*
 * One of a number of packets such that, if any packet matches both rules, one of these does: fields
 * that do not depend on others have a value that both accept, if there is one.
 */
static struct hy_flow_key
witness(const struct hy_flow_match *a, const struct hy_flow_match *b, unsigned int i)
{
	static const unsigned int versions[VERSIONS] = { 0, 4, 6 };
	static const uint8_t protos[PROTOS] = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMP,
		IPPROTO_ICMPV6, 0 };
	static const uint8_t flags[FLAGS] = { 0, 0x10, 0x04 };
	const unsigned int version = versions[i % VERSIONS];
	const bool tagged = ((a->fields | b->fields) & HY_FLOW_VLAN) != 0;
	struct hy_flow_key key = {
		.src_mac = mac_of_both(a->src_mac, b->src_mac),
		.dst_mac = mac_of_both(a->dst_mac, b->dst_mac),
		.vlan = RTE_MAX(a->vlan, b->vlan),
		.dscp = RTE_MAX(a->dscp, b->dscp),
		.sport = RTE_MAX(a->sport[0], b->sport[0]),
		.dport = RTE_MAX(a->dport[0], b->dport[0]),
		.tunnel = RTE_MAX(a->tunnel, b->tunnel),
		.icmp_type = RTE_MAX(a->icmp_type[0], b->icmp_type[0]),
		.icmp_code = RTE_MAX(a->icmp_code[0], b->icmp_code[0]),
		.tcp_flags = a->tcp_flags | b->tcp_flags,
	};

	i /= VERSIONS;
	key.fragment = (uint8_t)(1 << i % KINDS);
	i /= KINDS;
	key.proto = protos[i % PROTOS];
	if (key.proto == 0)
		key.proto = (a->fields & HY_FLOW_PROTO) != 0 ? a->proto : b->proto;
	i /= PROTOS;
	key.tcp_flags |= flags[i % FLAGS] & (uint8_t) ~(a->tcp_mask | b->tcp_mask);
	i /= FLAGS;
	key.dport = i % PORTS == 0 ? key.dport : HY_FLOW_VXLAN_PORT;
	i /= PORTS;
	key.ether_type = i % TYPES == 0 ? a->ether_type : b->ether_type;
	address_of_both(key.src6, a->src6, a->src_len, b->src6, b->src_len);
	address_of_both(key.dst6, a->dst6, a->dst_len, b->dst6, b->dst_len);
	any_key_finish(&key, version, tagged);
	return key;
}

static bool
has_witness(const struct hy_flow_match *a, const struct hy_flow_match *b)
{
	for (unsigned int i = 0; i < WITNESSES; i++) {
		const struct hy_flow_key key = witness(a, b, i);

		if (hy_flow_matches(a, &key) && hy_flow_matches(b, &key))
			return true;
	}
	return false;
}

static void
rules_of_all_fields_overlap_exactly_if_a_packet_matches_both(void **state)
{
	unsigned int overlapping = 0, apart = 0, by_bit[17] = { 0 };
	uint64_t seed = 21;

	RTE_SET_USED(state);
	for (unsigned int round = 0; round < 60000; round++) {
		const struct hy_flow_match a = any_rule(true, &seed).match,
					   b = any_rule(true, &seed).match;
		const bool both = has_witness(&a, &b);

		if (hy_flow_overlap(&a, &b) != both || hy_flow_overlap(&b, &a) != both)
			fail_msg("round %u: fields %x and %x: %d, not %d", round, a.fields,
				b.fields, hy_flow_overlap(&a, &b), both);
		overlapping += both;
		apart += !both;
		for (unsigned int bit = 0; both && bit < RTE_DIM(by_bit); bit++)
			by_bit[bit] += (a.fields & b.fields) >> bit & 1;
	}
	print_message("%u overlap, %u do not\n", overlapping, apart);
	assert_true(overlapping > 2000 && apart > 2000);
	for (unsigned int bit = 0; bit < RTE_DIM(by_bit); bit++)
		if (by_bit[bit] < 20) /* pairs that overlap and both have the field */
			fail_msg("field %x: %u", 1u << bit, by_bit[bit]);
}

/* A packet that matches both is a proof, wherever it comes from. */
static void
rules_that_a_random_packet_matches_overlap(void **state)
{
	unsigned int met = 0, rules = 0;
	uint64_t seed = 22;

	RTE_SET_USED(state);
	for (unsigned int round = 0; round < 100000; round++) {
		const bool few = round % 2 == 0;
		const struct hy_flow_match a = any_rule(few, &seed).match,
					   b = any_rule(few, &seed).match;

		for (unsigned int i = 0; i < 8; i++) {
			const struct hy_flow_key key = any_key(i % 2 ? &a : &b, &seed);
			const bool both = hy_flow_matches(&a, &key) && hy_flow_matches(&b, &key);

			if (both && (!hy_flow_overlap(&a, &b) || !hy_flow_overlap(&b, &a)))
				fail_msg("round %u: fields %x and %x do not overlap", round,
					a.fields, b.fields);
			met += both;
			rules += hy_flow_matches(i % 2 ? &a : &b, &key);
		}
	}
	print_message("%u packets of a rule, %u of both\n", rules, met);
	assert_true(met > 10000 && rules > 300000);
}

/* The same match in the other's words: with all that it implies. */
static struct hy_flow_match
in_full(const struct hy_flow_match *m, uint64_t *seed)
{
	const uint32_t ip = HY_FLOW_IP | HY_FLOW_PORTS | HY_FLOW_TUNNEL | HY_FLOW_TCP |
		HY_FLOW_ICMP;
	struct hy_flow_match full = *m;
	const bool ip6 = (m->fields & HY_FLOW_IPV6) != 0;

	if ((m->fields & HY_FLOW_TCP) != 0 && rnd(seed) % 2) {
		full.fields |= HY_FLOW_PROTO;
		full.proto = IPPROTO_TCP;
	}
	if ((m->fields & HY_FLOW_ICMP) != 0 && rnd(seed) % 2) {
		full.fields |= HY_FLOW_PROTO;
		full.proto = ip6 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
	}
	if ((m->fields & (ip | HY_FLOW_IPV6)) != 0 && rnd(seed) % 2) {
		full.fields |= HY_FLOW_ETHER_TYPE;
		full.ether_type = ip6 ? 0x86dd : 0x0800;
	}
	if ((m->fields & (HY_FLOW_PORTS | HY_FLOW_TCP | HY_FLOW_ICMP)) != 0 && rnd(seed) % 2) {
		full.fields |= HY_FLOW_FRAGMENT;
		full.fragments = HY_FLOW_NO_FRAGMENT;
	}
	return full;
}

static void
rules_with_what_they_imply_are_the_same_and_match_the_same(void **state)
{
	unsigned int same = 0, written = 0, met = 0;
	uint64_t seed = 23;

	RTE_SET_USED(state);
	for (unsigned int round = 0; round < 20000; round++) {
		const struct hy_flow_match a = any_rule(true, &seed).match, b = in_full(&a, &seed),
					   c = any_rule(true, &seed).match;

		assert_true(hy_flow_same(&a, &b) && hy_flow_same(&b, &a));
		written += a.fields != b.fields;
		same += hy_flow_same(&a, &c);
		for (unsigned int i = 0; i < 16; i++) {
			const struct hy_flow_key key = any_key(&a, &seed);

			if (hy_flow_matches(&a, &key) != hy_flow_matches(&b, &key))
				fail_msg("round %u: fields %x and %x", round, a.fields, b.fields);
			met += hy_flow_matches(&a, &key);
			if (hy_flow_same(&a, &c) &&
				hy_flow_matches(&a, &key) != hy_flow_matches(&c, &key))
				fail_msg("round %u: the same: %x and %x", round, a.fields,
					c.fields);
		}
	}
	print_message("%u written in full, %u others the same, %u packets\n", written, same, met);
	assert_true(written > 5000 && same < 5000 && met > 100000);
}

static const struct CMUnitTest tests[] = {
	POLICY_TEST(rules_of_all_fields_overlap_exactly_if_a_packet_matches_both),
	POLICY_TEST(rules_that_a_random_packet_matches_overlap),
	POLICY_TEST(rules_with_what_they_imply_are_the_same_and_match_the_same),
};
UNIT_SUITE(tests)
