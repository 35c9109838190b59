/* SPDX-License-Identifier: BSD-3-Clause */
/* What a trace shows of packets, and the choice of packets for it; in any segmentation. */

#include <string.h>

#include <hy_ip4_filter.h>
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

/* Whether a filter takes a packet, in one segment and in pieces. */
static void
expect_match(const uint8_t *frame, uint32_t len, const struct hy_ip4_filter *filter, bool expected)
{
	struct hy_ip4_filter copy = *filter;
	struct rte_mbuf *m[] = { packet(frame, len), packet_pieces(frame, len, 3) };

	for (unsigned int i = 0; i < RTE_DIM(m); i++) {
		assert_int_equal(hy_ip4_filter_match(m[i], &copy), expected);
		rte_pktmbuf_free(m[i]);
	}
}

static void
a_filter_takes_what_meets_all_its_conditions(void **state)
{
	const uint32_t dst = IP4(198, 18, 1, 128);
	uint8_t frame[FRAME_MAX];
	const uint32_t len = FRAME(frame, .dst = dst, .payload = 10);
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(frame + RTE_ETHER_HDR_LEN);
	const uint32_t src = rte_be_to_cpu_32(ip->src_addr);
	const uint8_t proto = ip->next_proto_id;
	const struct {
		struct hy_ip4_filter filter;
		bool expected;
	} cases[] = {
		{ { .has_proto = false }, true },
		{ { .dst = { dst, 32 } }, true },
		{ { .dst = { dst ^ 1, 31 } }, true },
		{ { .dst = { dst ^ 1, 32 } }, false },
		{ { .dst = { dst ^ 0x80000000, 1 } }, false },
		{ { .dst = { dst ^ 0x40000000, 1 } }, true },
		{ { .dst = { ~dst, 0 } }, true },
		{ { .src = { src, 32 } }, true },
		{ { .src = { ~src, 32 } }, false },
		{ { .src = { src, 24 }, .dst = { dst, 24 } }, true },
		{ { .src = { src, 24 }, .dst = { ~dst, 24 } }, false },
		{ { .has_proto = true, .proto = proto }, true },
		{ { .has_proto = true, .proto = (uint8_t)(proto + 1) }, false },
		{ { .dst = { dst, 32 }, .has_proto = true, .proto = (uint8_t)~proto }, false },
	};

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(cases); i++)
		expect_match(frame, len, &cases[i].filter, cases[i].expected);
	expect_match(frame, 34, &cases[0].filter, true);
	expect_match(frame, 33, &cases[0].filter, false);
	frame[13] = 1;
	expect_match(frame, len, &cases[0].filter, false);
}

static const struct CMUnitTest node_trace_tests[] = {
	NODE_TEST(a_frame_is_shown_by_its_headers_whatever_its_segments),
	NODE_TEST(a_filter_takes_what_meets_all_its_conditions),
};

UNIT_SUITE(node_trace_tests)
