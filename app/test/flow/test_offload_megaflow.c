/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Megaflows as rules: each frame that a rule matches, which is called the same, is one of its megaflow. Masks
 * and frames are random, and meet often.
 */

#include <string.h>

#include <hy_policy_view.h>

#include "app/test/flows/flows_frames.h"
#include "lib/datapath/datapath.h"

#define MEGAFLOWS 200000
#define FRAMES 96 /* of a round */
#define ROUND 100 /* megaflows that are held against them */
#define PORT 3

static struct frame {
	uint8_t bytes[FLOWS_FRAME_ROOM];
	uint32_t len;
	struct hy_flow_key key;
	struct hy_flows_key inside, outside; /* read with tunnels, and without */
} frames[FRAMES];

static struct met {
	uint64_t said[3]; /* by enum datapath_match */
	uint64_t same;    /* frames that such a rule matches, of these: */
	uint64_t ip6, tagged, arp, fragments, truncated, icmp, ports;
	uint64_t beyond;  /* frames that only the wider rule matches */
	uint64_t rounded; /* rules there are only of rounded masks */
} met;

static uint64_t seed;

static bool
one_of(uint32_t n)
{
	return flows_random(&seed) % n == 0;
}

/* A frame like another one, but for a few bytes, or its end. */
static void
frame_alter(struct frame *frame, const struct frame *of)
{
	memcpy(frame->bytes, of->bytes, sizeof(frame->bytes));
	frame->len = of->len;
	for (uint32_t n = flows_random(&seed) % 3; n > 0 && frame->len > 0; n--)
		frame->bytes[flows_random(&seed) % RTE_MIN(frame->len, 80u)] ^= (uint8_t)(1u
			<< flows_random(&seed) % 8);
	if (one_of(4))
		frame->len = flows_random(&seed) % (frame->len + 1);
}

static void
frames_make(void)
{
	for (uint32_t i = 0; i < FRAMES; i++) {
		struct frame *frame = &frames[i];

		if (i % 3 == 0)
			frame->len = flows_frame(frame->bytes, &seed);
		else
			frame_alter(frame, &frames[i - 1]);
		hy_flow_key(frame->bytes, frame->len, &frame->key);
		hy_flows_key(frame->bytes, frame->len, PORT, HY_FLOWS_PARSE_ALL, &frame->outside);
		hy_flows_key(frame->bytes, frame->len, PORT,
			HY_FLOWS_PARSE_ALL | HY_FLOWS_PARSE_TUNNEL, &frame->inside);
	}
}

/* None of a field, all of it, a prefix, or any bits. */
static void
field_make(void *mask, uint32_t size, uint32_t often)
{
	uint8_t *byte = mask;
	const uint32_t len = flows_random(&seed) % (8 * size + 1);

	if (!one_of(often))
		return;
	for (uint32_t i = 0; i < size; i++)
		byte[i] = one_of(8) ? (uint8_t)flows_random(&seed) : UINT8_MAX;
	if (!one_of(4) || one_of(2)) {
		memset(mask, 0xff, size);
		return;
	}
	memset(mask, 0, size);
	for (uint32_t bit = 0; bit < len; bit++)
		byte[bit / 8] |= (uint8_t)(0x80 >> bit % 8);
}

static void
mask_make(struct hy_flows_key *mask)
{
	static const uint8_t kinds[] = { 0, HY_FLOWS_IP,
		HY_FLOWS_LATER_FRAGMENT | HY_FLOWS_UNKNOWN_FRAGMENT,
		HY_FLOWS_IP | HY_FLOWS_LATER_FRAGMENT | HY_FLOWS_UNKNOWN_FRAGMENT,
		HY_FLOWS_FIRST_FRAGMENT | HY_FLOWS_LATER_FRAGMENT | HY_FLOWS_UNKNOWN_FRAGMENT,
		HY_FLOWS_LATER_FRAGMENT, HY_FLOWS_TRUNCATED, HY_FLOWS_IP };

	*mask = (struct hy_flows_key){ .port = UINT16_MAX };
	mask->kind = kinds[flows_random(&seed) % RTE_DIM(kinds)] | HY_FLOWS_TUNNELLED;
	mask->type = one_of(8) ? 0 : UINT16_MAX;
	field_make(&mask->proto, sizeof(mask->proto), 2);
	field_make(&mask->tos, sizeof(mask->tos), 6);
	field_make(&mask->ttl, sizeof(mask->ttl), 16);
	field_make(&mask->sport, sizeof(mask->sport), 4);
	field_make(&mask->dport, sizeof(mask->dport), 3);
	field_make(&mask->tcp_flags, sizeof(mask->tcp_flags), 8);
	field_make(&mask->src_mac, sizeof(mask->src_mac), 8);
	field_make(&mask->dst_mac, sizeof(mask->dst_mac), 8);
	if (one_of(4))
		mask->vlan = HY_FLOWS_TAGGED | RTE_BE16(0xfff);
	field_make(&mask->vlan2, sizeof(mask->vlan2), 32);
	if (one_of(8)) { /* of both kinds of addresses: of one of them, the key has none */
		field_make(&mask->src, sizeof(mask->src), 4);
		field_make(mask->src6, sizeof(mask->src6), 4);
		field_make(&mask->dst, sizeof(mask->dst), 4);
	} else if (one_of(2)) {
		field_make(&mask->src, sizeof(mask->src), 3);
		field_make(&mask->dst, sizeof(mask->dst), 3);
	} else {
		field_make(mask->src6, sizeof(mask->src6), 3);
		field_make(mask->dst6, sizeof(mask->dst6), 3);
	}
}

static void
note(const struct frame *frame)
{
	const uint8_t fragments = HY_FLOWS_FIRST_FRAGMENT | HY_FLOWS_LATER_FRAGMENT |
		HY_FLOWS_UNKNOWN_FRAGMENT;

	met.same++;
	met.ip6 += (frame->key.has & HY_FLOW_IPV6) != 0;
	met.tagged += (frame->key.has & HY_FLOW_VLAN) != 0;
	met.arp += frame->outside.type == RTE_BE16(0x0806);
	met.fragments += (frame->outside.kind & fragments) != 0;
	met.truncated += (frame->key.has & HY_FLOW_TRUNCATED) != 0;
	met.icmp += (frame->key.has & HY_FLOW_ICMP) != 0;
	met.ports += (frame->key.has & HY_FLOW_PORTS) != 0;
}

/* Rounding takes no bit away, and is done once. */
static void
mask_round(struct hy_flows_key *mask)
{
	const struct hy_flows_key before = *mask;
	struct hy_flows_key again;

	datapath_mask_round(mask);
	for (uint32_t w = 0; w < HY_FLOWS_WORDS; w++)
		assert_int_equal(before.words[w] & ~mask->words[w], 0);
	again = *mask;
	datapath_mask_round(&again);
	assert_memory_equal(&again, mask, sizeof(again));
}

static void
megaflow_hold(const struct frame *of, bool tunnels)
{
	const struct hy_flows_key *own = tunnels ? &of->inside : &of->outside;
	struct hy_flows_key key, mask;
	struct hy_flow_match match;
	enum datapath_match said;

	mask_make(&mask);
	for (uint32_t w = 0; w < HY_FLOWS_WORDS; w++)
		key.words[w] = own->words[w] & mask.words[w];
	said = datapath_match(&key, &mask, tunnels, &match);
	if (said == DATAPATH_MATCH_NONE) {
		mask_round(&mask);
		for (uint32_t w = 0; w < HY_FLOWS_WORDS; w++)
			key.words[w] = own->words[w] & mask.words[w];
		said = datapath_match(&key, &mask, tunnels, &match);
		met.rounded += said != DATAPATH_MATCH_NONE;
	}
	met.said[said]++;
	for (uint32_t i = 0; i < FRAMES && said != DATAPATH_MATCH_NONE; i++) {
		const struct hy_flows_key *with = tunnels ? &frames[i].inside : &frames[i].outside;

		if (!hy_flow_matches(&match, &frames[i].key))
			continue;
		if (hy_flows_equal(with, &key, &mask)) {
			if (said == DATAPATH_MATCH_SAME)
				note(&frames[i]);
			continue;
		}
		if (said == DATAPATH_MATCH_SAME)
			fail_msg("%s tunnels, fields 0x%x, kind 0x%x of 0x%x: a frame of %u bytes, "
				 "type 0x%x, kind 0x%x, is not of the megaflow",
				tunnels ? "with" : "without", match.fields, key.kind, mask.kind,
				frames[i].len, rte_be_to_cpu_16(with->type), with->kind);
		met.beyond++;
	}
}

static void
frames_that_the_same_rule_matches_are_of_the_megaflow(void **state)
{
	RTE_SET_USED(state);
	seed = 4711;
	met = (struct met){ 0 };
	for (uint32_t i = 0; i < MEGAFLOWS; i++) {
		if (i % ROUND == 0)
			frames_make();
		megaflow_hold(&frames[flows_random(&seed) % FRAMES], i % 2 == 0);
	}
	print_message(
		"%ju rules are the same, %ju wider, %ju are none; %ju of rounded masks alone; "
		"%ju frames of the same: %ju of IPv6, %ju tagged, %ju of ARP, %ju fragments, "
		"%ju cut, %ju of ICMP, %ju with ports; %ju of wider ones beyond the megaflow\n",
		(uintmax_t)met.said[DATAPATH_MATCH_SAME], (uintmax_t)met.said[DATAPATH_MATCH_WIDER],
		(uintmax_t)met.said[DATAPATH_MATCH_NONE], (uintmax_t)met.rounded,
		(uintmax_t)met.same, (uintmax_t)met.ip6, (uintmax_t)met.tagged, (uintmax_t)met.arp,
		(uintmax_t)met.fragments, (uintmax_t)met.truncated, (uintmax_t)met.icmp,
		(uintmax_t)met.ports, (uintmax_t)met.beyond);
	for (unsigned int i = 0; i < RTE_DIM(met.said); i++)
		assert_true(met.said[i] > MEGAFLOWS / 20);
	assert_true(met.same > 40000 && met.ip6 > 4000 && met.tagged > 4000 && met.arp > 1000);
	assert_true(met.fragments > 1000 && met.truncated > 1000 && met.icmp > 1000);
	assert_true(met.ports > 4000 && met.beyond > 10000 && met.rounded > 1000);
}

static const struct CMUnitTest offload_megaflow_tests[] = {
	cmocka_unit_test(frames_that_the_same_rule_matches_are_of_the_megaflow),
};

UNIT_SUITE(offload_megaflow_tests)
