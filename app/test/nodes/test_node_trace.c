/* SPDX-License-Identifier: BSD-3-Clause */
/* What a trace shows of packets, and the choice of packets for it; in any segmentation. */

#include <string.h>

#include <hy_ip_filter.h>
#include <hy_mbuf.h>
#include <hy_trace.h>

#include "node_fixture.h"

/* A packet as a trace of a node without a formatter shows it. */
static void
expect_words(struct rte_mbuf *m, const char *expected)
{
	struct hy_trace_record record = { 0 };
	char text[HY_TEXT_SIZE];

	memset(record.data, 0xa5, sizeof(record.data));
	record.size = (uint16_t)hy_mbuf_ops.snapshot(m, record.data, HY_TRACE_DATA);
	assert_in_range(record.size, 4, HY_TRACE_DATA);
	hy_mbuf_ops.format(&record, text, sizeof(text));
	assert_string_equal(text, expected);
	rte_pktmbuf_free(m);
}

static void
a_frame_is_shown_by_its_headers_whatever_its_segments(void **state)
{
	uint8_t frame[FRAME_MAX];
	const uint32_t len = FRAME(frame, .dst = IP4(198, 18, 1, 7), .ttl = 9, .payload = 200);
	const struct rte_ipv4_hdr *ip = (const struct rte_ipv4_hdr *)(frame + RTE_ETHER_HDR_LEN);
	const uint8_t *src = (const uint8_t *)&ip->src_addr;
	char mac[RTE_ETHER_ADDR_FMT_SIZE], expected[HY_TEXT_SIZE];

	RTE_SET_USED(state);
	rte_ether_format_addr(mac, sizeof(mac), (const struct rte_ether_addr *)frame);
	snprintf(expected, sizeof(expected), "%u B to %s, %u.%u.%u.%u > 198.18.1.7 proto %u ttl 9",
		len, mac, src[0], src[1], src[2], src[3], ip->next_proto_id);
	expect_words(packet(frame, len), expected);
	for (uint32_t cut = 1; cut < 40; cut++)
		expect_words(packet_cut(frame, len, cut), expected);
	expect_words(packet_pieces(frame, len, 1), expected);

	frame[12] = 0x08;
	frame[13] = 0x06;
	snprintf(expected, sizeof(expected), "%u B to %s, type 0x0806", len, mac);
	expect_words(packet(frame, len), expected);
	snprintf(expected, sizeof(expected), "14 B to %s, type 0x0806", mac);
	expect_words(packet(frame, 14), expected);
	expect_words(packet(frame, 13), "13 B");
}

static void
a_frame_of_ip6_is_shown_by_its_headers(void **state)
{
	static const uint8_t header[] = { 0x86, 0xdd, 0x60, 0, 0, 0, 0, 8, 17, 64, 0x20, 0x01, 0x0d,
		0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xfd };
	uint8_t frame[FRAME_MAX] = { 2, 0, 0, 0, 0, 7 };

	RTE_SET_USED(state);
	memcpy(frame + 12, header, sizeof(header));
	frame[53] = 9;
	expect_words(packet_pieces(frame, 62, 7),
		"62 B to 02:00:00:00:00:07, 2001:db8::1 > fd00::9 proto 17 ttl 64");
	expect_words(packet(frame, 54),
		"54 B to 02:00:00:00:00:07, 2001:db8::1 > fd00::9 proto 17 ttl 64");
	expect_words(packet(frame, 53), "53 B to 02:00:00:00:00:07, type 0x86dd");
	memset(frame + 20, 0xff, 34); /* a byte more than there is room for */
	expect_words(packet(frame, 1000),
		"1000 B, ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff > "
		"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff proto 255 ttl 255");
	expect_words(packet(frame, 999),
		"999 B to 02:00:00:00:00:07, ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff > "
		"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff proto 255 ttl 255");
}

/* Whether a filter takes a packet, in one segment and in pieces. */
static void
expect_match(const uint8_t *frame, uint32_t len, const struct hy_ip_filter *filter, bool expected)
{
	struct hy_ip_filter copy = *filter;
	struct rte_mbuf *m[] = { packet(frame, len), packet_pieces(frame, len, 3) };

	for (unsigned int i = 0; i < RTE_DIM(m); i++) {
		assert_int_equal(hy_ip_filter_match(m[i], &copy), expected);
		rte_pktmbuf_free(m[i]);
	}
}

/* A prefix of the first bits of an address, of which one is flipped; a bit beyond the last is none. */
static struct hy_ip_prefix
prefix(enum hy_ip_family family, const uint8_t *address, uint8_t depth, unsigned int flipped)
{
	struct hy_ip_prefix made = { .family = family, .depth = depth };
	const unsigned int bytes = family == HY_IP_V4 ? 4 : 16;

	memcpy(made.address, address, bytes);
	if (flipped < 8 * bytes)
		made.address[flipped / 8] ^= (uint8_t)(0x80 >> flipped % 8);
	return made;
}

#define NONE 255

/* Filters of a frame whose addresses and protocol are given, and those of another family. */
static void
filters_check(const uint8_t *frame, uint32_t len, enum hy_ip_family family, const uint8_t *src,
	const uint8_t *dst, uint8_t proto)
{
	const enum hy_ip_family other = family == HY_IP_V4 ? HY_IP_V6 : HY_IP_V4;
	const uint8_t bits = family == HY_IP_V4 ? 32 : 128;
	const uint8_t zeroes[16] = { 0 };
	const struct {
		struct hy_ip_filter filter;
		bool expected;
	} cases[] = {
		{ { .has_proto = false }, true },
		{ { .dst = prefix(other, zeroes, 0, NONE) }, false },
		{ { .src = prefix(other, zeroes, 0, NONE) }, false },
		{ { .dst = prefix(family, zeroes, 0, NONE) }, true },
		{ { .src = prefix(family, src, bits, NONE),
			  .dst = prefix(family, dst, bits, NONE) },
			true },
		{ { .src = prefix(family, src, bits, NONE), .dst = prefix(family, dst, bits, 1) },
			false },
		{ { .src = prefix(family, dst, bits, NONE) }, false },
		{ { .has_proto = true, .proto = proto }, true },
		{ { .has_proto = true, .proto = (uint8_t)(proto + 1) }, false },
		{ { .dst = prefix(family, dst, bits, NONE),
			  .has_proto = true,
			  .proto = (uint8_t)~proto },
			false },
	};

	for (unsigned int i = 0; i < RTE_DIM(cases); i++)
		expect_match(frame, len, &cases[i].filter, cases[i].expected);
	for (uint8_t depth = 0; depth <= bits; depth++)
		for (unsigned int flipped = 0; flipped < bits; flipped++) {
			const struct hy_ip_filter at_dst = { .dst = prefix(family, dst, depth,
								     flipped) };
			const struct hy_ip_filter at_src = { .src = prefix(family, src, depth,
								     flipped) };

			expect_match(frame, len, &at_dst, flipped >= depth);
			expect_match(frame, len, &at_src, flipped >= depth);
		}
}

static void
a_filter_takes_what_meets_all_its_conditions(void **state)
{
	const struct hy_ip_filter any = { .has_proto = false };
	uint8_t frame[FRAME_MAX];
	uint32_t len = FRAME(frame, .dst = IP4(198, 18, 1, 128), .payload = 40);

	RTE_SET_USED(state);
	filters_check(frame, len, HY_IP_V4, frame + 26, frame + 30, frame[23]);
	expect_match(frame, 34, &any, true);
	expect_match(frame, 33, &any, false);
	frame[13] = 1;
	expect_match(frame, len, &any, false);
	memcpy(frame + 12, (const uint8_t[]){ 0x86, 0xdd }, 2);
	for (unsigned int i = 14; i < 54; i++) /* a filter looks at no version */
		frame[i] = (uint8_t)(i * 37);
	filters_check(frame, len, HY_IP_V6, frame + 22, frame + 38, frame[20]);
	expect_match(frame, 54, &any, true);
	for (uint32_t cut = 0; cut < 54; cut++)
		expect_match(frame, cut, &any, false);
}

static void
a_filter_looks_behind_one_vlan_tag(void **state)
{
	static const uint8_t tag[] = { 0x81, 0x00, 0xe0, 0x64 };
	const struct hy_ip_filter filter = { .dst = { HY_IP_V4, 32, { 198, 18, 1, 128 } } };
	uint8_t frame[FRAME_MAX];
	uint32_t len = FRAME(frame, .dst = IP4(198, 18, 1, 128), .payload = 10);

	RTE_SET_USED(state);
	for (unsigned int tags = 1; tags <= 2; tags++) {
		memmove(frame + 12 + sizeof(tag), frame + 12, len - 12);
		memcpy(frame + 12, tag, sizeof(tag));
		len += sizeof(tag);
		expect_match(frame, len, &filter, tags == 1);
		expect_match(frame, 38, &filter, tags == 1);
		expect_match(frame, 37, &filter, false);
	}
}

static const struct CMUnitTest node_trace_tests[] = {
	NODE_TEST(a_frame_is_shown_by_its_headers_whatever_its_segments),
	NODE_TEST(a_frame_of_ip6_is_shown_by_its_headers),
	NODE_TEST(a_filter_takes_what_meets_all_its_conditions),
	NODE_TEST(a_filter_looks_behind_one_vlan_tag),
};

UNIT_SUITE(node_trace_tests)
