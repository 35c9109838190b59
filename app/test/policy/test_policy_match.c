/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rules can be, which packets they match, and which of them overlap. */

#include <errno.h>
#include <string.h>

#include <netinet/in.h>

#include "policy_fixture.h"

#define NO_FRAGMENT \
	"fragment: no such packet has the rule's other fields; fragments have no ports, TCP flags " \
	"or ICMP types, and unknown is IPv6 without a protocol"

static void
rules_that_no_packet_can_match_are_refused_with_the_reason(void **state)
{
	static const struct {
		struct hy_flow_match match;
		const char *why;
	} bad[] = {
		{ { .fields = 0x20000 }, "fields: 0x20000 has bits that are no field" },
		{ { .src = 1 }, "src: set, but not named" },
		{ { .dst_len = 1 }, "dst: set, but not named" },
		{ { .sport = { 0, 1 } }, "sport: set, but not named" },
		{ { .dport = { 1, 1 } }, "dport: set, but not named" },
		{ { .proto = 6 }, "proto: set, but not named" },
		{ { .vlan = 1 }, "vlan: set, but not named" },
		{ { .dscp = 1 }, "dscp: set, but not named" },
		{ { .tunnel = 1 }, "tunnel: set, but not named" },
		{ { .ether_type = 0x800 }, "type: set, but not named" },
		{ { .fields = HY_FLOW_ETHER_TYPE, .ether_type = 0x5ff },
			"type: 1535; 1536 to 65535 are accepted" },
		{ { .fields = HY_FLOW_VLAN }, "vlan: 0; 1 to 4094 are accepted" },
		{ { .fields = HY_FLOW_VLAN, .vlan = 4095 }, "vlan: 4095; 1 to 4094 are accepted" },
		{ { .fields = HY_FLOW_SRC }, "src: length 0; 1 to 32 are accepted" },
		{ { .fields = HY_FLOW_SRC, .src_len = 33 },
			"src: length 33; 1 to 32 are accepted" },
		{ { .fields = HY_FLOW_DST, .dst = 0x0a000001, .dst_len = 31 },
			"dst: bits beyond its length of 31 are not 0" },
		{ { .fields = HY_FLOW_SPORT, .sport = { 2, 1 } },
			"sport: 2-1 is empty; the first one comes first" },
		{ { .fields = HY_FLOW_DSCP, .dscp = 64 }, "dscp: 64; 0 to 63 are accepted" },
		{ { .fields = HY_FLOW_TUNNEL, .tunnel = 1 << 24 },
			"tunnel: 16777216; 0 to 16777215 are accepted" },
		{ { .fields = HY_FLOW_ETHER_TYPE | HY_FLOW_DSCP, .ether_type = 0x86dd },
			"type: 0x86dd has no IPv4 fields; those go with 0x0800, or no type at all" },
		{ { .fields = HY_FLOW_ETHER_TYPE | HY_FLOW_IPV6, .ether_type = 0x800 },
			"type: 0x0800 has no IPv6 fields; those go with 0x86dd, or no type at all" },
		{ { .src6 = { 0, 0, 0, 1 } }, "src: set, but not named" },
		{ { .fields = HY_FLOW_DST, .dst6 = { 1, 0, 0, 1 }, .dst_len = 32 },
			"dst: bits beyond its length of 32 are not 0" },
		{ { .fields = HY_FLOW_SRC | HY_FLOW_IPV6, .src_len = 129 },
			"src: length 129; 1 to 128 are accepted" },
		{ { .fields = HY_FLOW_SRC | HY_FLOW_IPV6, .src6 = { 1, 2, 3 }, .src_len = 95 },
			"src: bits beyond its length of 95 are not 0" },
		{ { .fields = HY_FLOW_SRC_MAC },
			"smac: mask 0x0; 1 to 0xffffffffffff are accepted" },
		{ { .fields = HY_FLOW_DST_MAC, .dst_mac = 2, .dst_mac_mask = 1 },
			"dmac: bits beside its mask are not 0" },
		{ { .dst_mac_mask = 1 }, "dmac: set, but not named" },
		{ { .fields = HY_FLOW_DST_MAC, .dst_mac_mask = UINT64_C(1) << 48 },
			"dmac: mask 0x1000000000000; 1 to 0xffffffffffff are accepted" },
		{ { .tcp_mask = 1 }, "flags: set, but not named" },
		{ { .fields = HY_FLOW_TCP_FLAGS }, "flags: no flag is checked" },
		{ { .fields = HY_FLOW_TCP_FLAGS, .tcp_flags = 3, .tcp_mask = 1 },
			"flags: flags that are not checked are set" },
		{ { .fields = HY_FLOW_TCP_FLAGS | HY_FLOW_ESTABLISHED,
			  .tcp_flags = 2,
			  .tcp_mask = 0x16 },
			"established: needs A or R, and flags excludes both" },
		{ { .fields = HY_FLOW_ESTABLISHED | HY_FLOW_PROTO, .proto = 17 },
			"proto: 17 has no TCP flags; only tcp has" },
		{ { .icmp_type = { 0, 1 } }, "icmp: set, but not named" },
		{ { .icmp_code = { 1, 1 } }, "code: set, but not named" },
		{ { .fields = HY_FLOW_ICMP_TYPE, .icmp_type = { 9, 8 } },
			"icmp: 9-8 is empty; the first one comes first" },
		{ { .fields = HY_FLOW_ICMP_TYPE | HY_FLOW_PROTO, .proto = 58 },
			"proto: 58 has no type and code; ICMP has, which is 1" },
		{ { .fields = HY_FLOW_ICMP_CODE | HY_FLOW_PROTO | HY_FLOW_IPV6, .proto = 1 },
			"proto: 1 has no type and code; ICMP has, which is 58" },
		{ { .fields = HY_FLOW_ICMP_CODE | HY_FLOW_SPORT },
			"icmp, code: ICMP has no ports, TCP flags or tunnels" },
		{ { .fragments = 1 }, "fragment: set, but not named" },
		{ { .fields = HY_FLOW_FRAGMENT }, "fragment: 0; 1 to 15 are accepted" },
		{ { .fields = HY_FLOW_FRAGMENT, .fragments = 16 },
			"fragment: 16; 1 to 15 are accepted" },
		{ { .fields = HY_FLOW_FRAGMENT | HY_FLOW_DPORT, .fragments = 6 }, NO_FRAGMENT },
		{ { .fields = HY_FLOW_FRAGMENT, .fragments = 8 }, NO_FRAGMENT },
		{ { .fields = HY_FLOW_FRAGMENT | HY_FLOW_PROTO | HY_FLOW_IPV6, .fragments = 8 },
			NO_FRAGMENT },
		{ { .reserved = 1 }, "reserved: set, but not named" },
		{ { .fields = HY_FLOW_TUNNEL | HY_FLOW_IPV6 },
			"tunnel: VXLAN is over udp, to port 4789, in IPv4 here" },
		{ { .fields = HY_FLOW_PROTO | HY_FLOW_SPORT, .proto = 1 },
			"proto: 1 has no ports; tcp, udp and sctp have" },
		{ { .fields = HY_FLOW_PROTO | HY_FLOW_TUNNEL, .proto = 6 },
			"tunnel: VXLAN is over udp, to port 4789" },
		{ { .fields = HY_FLOW_DPORT | HY_FLOW_TUNNEL, .dport = { 4790, 5000 } },
			"tunnel: VXLAN is over udp, to port 4789" },
	};
	char error[HY_POLICY_ERROR_SIZE];
	struct hy_flow_rule rule = { .id = 1 };

	RTE_SET_USED(state);
	policy_new(4, 1, NULL);
	for (unsigned int i = 0; i < RTE_DIM(bad); i++) {
		rule.class_id = 1;
		rule.match = bad[i].match;
		assert_int_equal(hy_flow_rule_check(&rule, error), -EINVAL);
		assert_string_equal(error, bad[i].why);
		assert_int_equal(hy_policy_add(policy, &rule), -EINVAL);
	}
	rule = (struct hy_flow_rule){ .id = 1 };
	assert_int_equal(hy_policy_add(policy, &rule), -EINVAL);
	assert_int_equal(hy_flow_rule_check(&rule, error), -EINVAL);
	assert_string_equal(error, "class: 0 is of packets that no rule matches; 1 to 65535");
	commit();
	assert_int_equal(hy_policy_rules_get(policy, NULL, 0), 0);
}

#define MAC UINT64_C(0xffffffffffff)
#define MULTI UINT64_C(0xffffff800000)

/* Each field alone, at its limits, against packets within, without, and beside. */
static void
each_field_matches_what_it_names_alone(void **state)
{
	static const struct hy_flow_key key = { .has = (HY_FLOW_EVERY & ~HY_FLOW_IPV6) |
			HY_FLOW_IPV4,
		.ether_type = 0x0800,
		.vlan = 7,
		.src = 0x0a010203,
		.dst = 0xc0000201,
		.proto = 17,
		.dscp = 46,
		.sport = 1000,
		.dport = 4789,
		.tunnel = 5000,
		.src_mac = 0x020000000001,
		.dst_mac = 0x01005e7f0001,
		.tcp_flags = 0x12,
		.icmp_type = 8,
		.icmp_code = 3,
		.fragment = HY_FLOW_FIRST_FRAGMENT };
	static const struct {
		struct hy_flow_match match;
		bool matches;
	} cases[] = {
		{ { .fields = HY_FLOW_SRC_MAC, .src_mac = 0x020000000001, .src_mac_mask = MAC },
			true },
		{ { .fields = HY_FLOW_SRC_MAC, .src_mac = 0x020000000000, .src_mac_mask = MAC },
			false },
		{ { .fields = HY_FLOW_SRC_MAC, .src_mac_mask = 0xfffffffffe }, true },
		{ { .fields = HY_FLOW_DST_MAC, .dst_mac = 0x01005e000000, .dst_mac_mask = MULTI },
			true },
		{ { .fields = HY_FLOW_DST_MAC, .dst_mac = 0x01005e800000, .dst_mac_mask = MULTI },
			false },
		{ { .fields = HY_FLOW_DST_MAC, .dst_mac_mask = 0x010000000000 }, false },
		{ { .fields = HY_FLOW_TCP_FLAGS, .tcp_flags = 0x12, .tcp_mask = 0xff }, true },
		{ { .fields = HY_FLOW_TCP_FLAGS, .tcp_flags = 0x02, .tcp_mask = 0x06 }, true },
		{ { .fields = HY_FLOW_TCP_FLAGS, .tcp_flags = 0x02, .tcp_mask = 0x12 }, false },
		{ { .fields = HY_FLOW_TCP_FLAGS, .tcp_mask = 0x04 }, true },
		{ { .fields = HY_FLOW_ESTABLISHED }, true },
		{ { .fields = HY_FLOW_ICMP_TYPE, .icmp_type = { 8, 8 } }, true },
		{ { .fields = HY_FLOW_ICMP_TYPE, .icmp_type = { 0, 7 } }, false },
		{ { .fields = HY_FLOW_ICMP_TYPE, .icmp_type = { 9, 255 } }, false },
		{ { .fields = HY_FLOW_ICMP_CODE, .icmp_code = { 0, 3 } }, true },
		{ { .fields = HY_FLOW_ICMP_CODE, .icmp_code = { 4, 4 } }, false },
		{ { .fields = HY_FLOW_FRAGMENT, .fragments = HY_FLOW_FIRST_FRAGMENT }, true },
		{ { .fields = HY_FLOW_FRAGMENT, .fragments = 0xf }, true },
		{ { .fields = HY_FLOW_FRAGMENT, .fragments = 0xd }, false },
		{ { 0 }, true },
		{ { .fields = HY_FLOW_ETHER_TYPE, .ether_type = 0x0800 }, true },
		{ { .fields = HY_FLOW_ETHER_TYPE, .ether_type = 0x0806 }, false },
		{ { .fields = HY_FLOW_VLAN, .vlan = 7 }, true },
		{ { .fields = HY_FLOW_VLAN, .vlan = 8 }, false },
		{ { .fields = HY_FLOW_SRC, .src = 0x0a010203, .src_len = 32 }, true },
		{ { .fields = HY_FLOW_SRC, .src = 0x0a010202, .src_len = 31 }, true },
		{ { .fields = HY_FLOW_SRC, .src = 0x0a010202, .src_len = 32 }, false },
		{ { .fields = HY_FLOW_SRC, .src = 0, .src_len = 1 }, true },
		{ { .fields = HY_FLOW_SRC, .src = 0x80000000, .src_len = 1 }, false },
		{ { .fields = HY_FLOW_DST, .dst = 0xc0000200, .dst_len = 24 }, true },
		{ { .fields = HY_FLOW_DST, .dst = 0xc0000300, .dst_len = 24 }, false },
		{ { .fields = HY_FLOW_PROTO, .proto = 17 }, true },
		{ { .fields = HY_FLOW_PROTO, .proto = 0 }, false },
		{ { .fields = HY_FLOW_DSCP, .dscp = 46 }, true },
		{ { .fields = HY_FLOW_DSCP, .dscp = 47 }, false },
		{ { .fields = HY_FLOW_SPORT, .sport = { 0, 1000 } }, true },
		{ { .fields = HY_FLOW_SPORT, .sport = { 1000, 65535 } }, true },
		{ { .fields = HY_FLOW_SPORT, .sport = { 0, 999 } }, false },
		{ { .fields = HY_FLOW_DPORT, .dport = { 4790, 65535 } }, false },
		{ { .fields = HY_FLOW_DPORT, .dport = { 0, 65535 } }, true },
		{ { .fields = HY_FLOW_TUNNEL, .tunnel = 5000 }, true },
		{ { .fields = HY_FLOW_TUNNEL, .tunnel = 5001 }, false },
	};

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(cases); i++) {
		const uint32_t fields = cases[i].match.fields;
		struct hy_flow_key lacking = key;

		if (hy_flow_matches(&cases[i].match, &key) != cases[i].matches)
			fail_msg("case %u: not %d", i, cases[i].matches);
		/* A packet without the field is not one whose field is 0. */
		lacking.has &= ~fields;
		assert_int_equal(hy_flow_matches(&cases[i].match, &lacking), fields == 0);
	}
}

static void
addresses_of_ip6_match_by_every_length(void **state)
{
	const struct hy_flow_key key = { .has = HY_FLOW_IPV6 | HY_FLOW_ETHER_TYPE | HY_FLOW_IP,
		.ether_type = 0x86dd,
		.src6 = { 0x20010db8, 0x89abcdef, 0x01234567, 0xfedcba98 },
		.dst6 = { 0xfe800000, 0, 0xffffffff, 1 } };

	RTE_SET_USED(state);
	for (unsigned int len = 1; len <= 128; len++) {
		for (unsigned int bit = 0; bit <= 128; bit++) {
			struct hy_flow_match src = { .fields = HY_FLOW_SRC | HY_FLOW_IPV6,
				.src_len = (uint8_t)len },
					     dst = { .fields = HY_FLOW_DST | HY_FLOW_IPV6,
						     .dst_len = (uint8_t)len };
			struct hy_flow_key other = key;

			if (bit < 128) { /* else it is the same address */
				other.src6[bit / 32] ^= RTE_BIT32(31 - bit % 32);
				other.dst6[bit / 32] ^= RTE_BIT32(31 - bit % 32);
			}
			for (unsigned int w = 0; w < 4; w++) {
				const uint32_t mask = len >= 32 * w + 32 ? UINT32_MAX
					: len <= 32 * w                  ? 0
							: UINT32_MAX << (32 - len % 32);

				src.src6[w] = key.src6[w] & mask;
				dst.dst6[w] = key.dst6[w] & mask;
			}
			assert_int_equal(hy_flow_matches(&src, &other), bit >= len);
			assert_int_equal(hy_flow_matches(&dst, &other), bit >= len);
		}
	}
}

/* Each field of IP, of one version, against a packet of the other. */
static void
rules_match_only_the_ip_that_they_are_for(void **state)
{
	static const uint32_t fields[] = { HY_FLOW_SRC, HY_FLOW_DST, HY_FLOW_PROTO, HY_FLOW_DSCP,
		HY_FLOW_FRAGMENT, HY_FLOW_SPORT, HY_FLOW_DPORT, HY_FLOW_TCP_FLAGS,
		HY_FLOW_ESTABLISHED, HY_FLOW_ICMP_TYPE, HY_FLOW_ICMP_CODE, HY_FLOW_TUNNEL };
	const uint32_t has = HY_FLOW_EVERY & ~HY_FLOW_IPV6;
	const struct hy_flow_key ip4 = { .has = has | HY_FLOW_IPV4, .fragment = 1 };
	const struct hy_flow_key ip6 = { .has = has | HY_FLOW_IPV6, .fragment = 1 };
	struct hy_flow_match m = { .fields = HY_FLOW_IPV6 };

	RTE_SET_USED(state);
	assert_true(hy_flow_matches(&m, &ip6));
	assert_false(hy_flow_matches(&m, &ip4));
	for (unsigned int i = 0; i < RTE_DIM(fields); i++) {
		m = (struct hy_flow_match){
			.fields = fields[i], .fragments = 1, .src_len = 1, .dst_len = 1
		};
		assert_true(hy_flow_matches(&m, &ip4));
		assert_false(hy_flow_matches(&m, &ip6));
		m.fields |= HY_FLOW_IPV6;
		assert_false(hy_flow_matches(&m, &ip4));
		assert_true(hy_flow_matches(&m, &ip6));
	}
	m = (struct hy_flow_match){ .fields = HY_FLOW_SRC_MAC, .src_mac_mask = 1 };
	assert_true(hy_flow_matches(&m, &ip4) && hy_flow_matches(&m, &ip6));
}

/* One of all packets of a small world; false beyond the last. */
static bool
world_key(unsigned int i, struct hy_flow_key *key)
{
	static const uint32_t addresses[] = { 0x0a010001, 0x0a020001, 0x0b000001 };
	static const uint8_t protos[] = { 1, 6, 17 };
	static const uint16_t dports[] = { 80, 4789 };
	unsigned int kind;

	*key = (struct hy_flow_key){ .has = HY_FLOW_ETHER_TYPE, .ether_type = 0x0806 };
	key->vlan = (uint16_t)(i % 3);
	key->has |= i % 3 > 0 ? HY_FLOW_VLAN : 0;
	i /= 3;
	if (i == 0)
		return true;
	i--;
	key->ether_type = 0x0800;
	key->has |= HY_FLOW_IP4;
	key->src = addresses[i % 3];
	key->dst = addresses[i / 3 % 3];
	key->dscp = (uint8_t)(i / 9 % 2);
	key->proto = protos[i / 18 % 3];
	kind = i / 54; /* 0: a fragment; 1, 2: source port; by 2: destination port; by 3: tunnel */
	if (kind > 0 && key->proto != 1) {
		kind--;
		key->has |= HY_FLOW_PORTS;
		key->sport = (uint16_t)(5 + kind % 2);
		key->dport = dports[kind / 2 % 2];
		if (kind / 4 % 3 > 0 && key->dport == 4789 && key->proto == 17) {
			key->has |= HY_FLOW_TUNNEL;
			key->tunnel = 6 + kind / 4 % 3;
		}
	}
	return i < 54 * 13;
}

/* A rule of values such that two of them that overlap do so in the small world. */
static struct hy_flow_match
world_match(uint64_t *seed)
{
	static const struct {
		uint32_t prefix;
		uint8_t len;
	} prefixes[] = { { 0x0a000000, 8 }, { 0x0a010000, 16 }, { 0x0a010001, 32 },
		{ 0x0b000000, 8 }, { 0x0a000000, 7 } };
	static const uint16_t sports[][2] = { { 5, 5 }, { 6, 6 }, { 5, 6 } };
	static const uint16_t dports[][2] = { { 80, 80 }, { 4789, 4789 }, { 80, 5000 },
		{ 4000, 4789 } };
	static const uint8_t protos[] = { 1, 6, 17 };
	struct hy_flow_rule rule = { .class_id = 1 };
	struct hy_flow_match *m = &rule.match;

	do {
		const uint32_t f = rnd(seed) & rnd(seed) & 0x1ff, s = rnd(seed) % 5,
			       d = rnd(seed) % 5, sp = rnd(seed) % 3, dp = rnd(seed) % 4;

		*m = (struct hy_flow_match){ .fields = f };
		m->ether_type = f & HY_FLOW_ETHER_TYPE ? rnd(seed) % 2 ? 0x0800 : 0x0806 : 0;
		m->vlan = f & HY_FLOW_VLAN ? (uint16_t)(1 + rnd(seed) % 2) : 0;
		m->src = f & HY_FLOW_SRC ? prefixes[s].prefix : 0;
		m->src_len = f & HY_FLOW_SRC ? prefixes[s].len : 0;
		m->dst = f & HY_FLOW_DST ? prefixes[d].prefix : 0;
		m->dst_len = f & HY_FLOW_DST ? prefixes[d].len : 0;
		m->proto = f & HY_FLOW_PROTO ? protos[rnd(seed) % 3] : 0;
		m->dscp = f & HY_FLOW_DSCP ? (uint8_t)(rnd(seed) % 2) : 0;
		if (f & HY_FLOW_SPORT)
			memcpy(m->sport, sports[sp], sizeof(m->sport));
		if (f & HY_FLOW_DPORT)
			memcpy(m->dport, dports[dp], sizeof(m->dport));
		m->tunnel = f & HY_FLOW_TUNNEL ? 7 + rnd(seed) % 2 : 0;
	} while (hy_flow_rule_check(&rule, NULL) < 0);
	return *m;
}

static void
rules_overlap_exactly_if_a_packet_matches_both(void **state)
{
	unsigned int overlapping = 0, apart = 0;
	uint64_t seed = 11;

	RTE_SET_USED(state);
	for (unsigned int round = 0; round < 20000; round++) {
		const struct hy_flow_match a = world_match(&seed), b = world_match(&seed);
		struct hy_flow_key key;
		bool both = false;

		for (unsigned int i = 0; !both && world_key(i, &key); i++)
			both = hy_flow_matches(&a, &key) && hy_flow_matches(&b, &key);
		if (hy_flow_overlap(&a, &b) != both || hy_flow_overlap(&b, &a) != both)
			fail_msg("round %u: fields %x and %x: %d, not %d", round, a.fields,
				b.fields, hy_flow_overlap(&a, &b), both);
		overlapping += both;
		apart += !both;
	}
	assert_true(overlapping > 4000 && apart > 4000);
}

static void
rules_that_ask_for_the_same_match_the_same_packets(void **state)
{
	unsigned int same = 0, met = 0;
	uint64_t seed = 12;

	RTE_SET_USED(state);
	for (unsigned int round = 0; round < 300000; round++) {
		const struct hy_flow_match a = world_match(&seed), b = world_match(&seed);
		struct hy_flow_key key;

		if (a.fields == b.fields || !hy_flow_same(&a, &b))
			continue;
		same++;
		for (unsigned int i = 0; world_key(i, &key); i++) {
			if (hy_flow_matches(&a, &key) != hy_flow_matches(&b, &key))
				fail_msg("round %u: fields %x and %x, packet %u", round, a.fields,
					b.fields, i);
			met += hy_flow_matches(&a, &key);
		}
	}
	print_message("%u pairs, %u packets\n", same, met);
	assert_true(same > 100 && met > 100);
}

static const struct CMUnitTest tests[] = {
	POLICY_TEST(rules_that_no_packet_can_match_are_refused_with_the_reason),
	POLICY_TEST(each_field_matches_what_it_names_alone),
	POLICY_TEST(addresses_of_ip6_match_by_every_length),
	POLICY_TEST(rules_match_only_the_ip_that_they_are_for),
	POLICY_TEST(rules_overlap_exactly_if_a_packet_matches_both),
	POLICY_TEST(rules_that_ask_for_the_same_match_the_same_packets),
};
UNIT_SUITE(tests)
