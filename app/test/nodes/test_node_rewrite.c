/* SPDX-License-Identifier: BSD-3-Clause */
/* ip4_rewrite: one header at a time, against headers that are summed anew. */

#include <string.h>

#include <hy_ip4_rewrite.h>
#include "node_fixture.h"

static const struct hy_ip4_adjacency adjacency = {
	.l2 = { .dst_addr = { { 0x06, 1, 2, 3, 4, 5 } },
		.src_addr = { { 0x02, 6, 7, 8, 9, 10 } },
		.ether_type = RTE_BE16(RTE_ETHER_TYPE_IPV4) },
	.port = 3,
};
static const struct hy_ip4_rewrite_port port = { .max_len = 1514, .edge = 5 };

/* Makes the header's right checksum this, by its identification. */
static void
sum_wanted(uint8_t *frame, uint16_t wanted)
{
	uint32_t rest, id;

	frame[18] = frame[19] = 0;
	rest = (uint16_t)~frame_checksum(frame);
	/* The sum of all words but the checksum is to be ~wanted; 0xffff where that is 0. */
	id = (uint16_t)~wanted + 0xffffu - rest;
	id = (id & 0xffff) + (id >> 16);
	frame[18] = (uint8_t)(id >> 8);
	frame[19] = (uint8_t)id;
	frame[24] = (uint8_t)(wanted >> 8);
	frame[25] = (uint8_t)wanted;
}

/* 0xffff too: another way to write 0, which some sender may use. */
static void
every_checksum_is_updated_as_if_summed_anew(void **state)
{
	static const uint8_t ttls[] = { 2, 3, 64, 128, 255 };
	uint8_t frame[FRAME_MAX], expected[FRAME_MAX];
	unsigned int compared = 0;

	RTE_SET_USED(state);
	for (size_t t = 0; t < RTE_DIM(ttls); t++) {
		for (uint32_t sum = 0; sum <= 0xffff; sum++, compared++) {
			const uint32_t len = FRAME(frame, .ttl = ttls[t], .payload = 8);

			sum_wanted(frame, (uint16_t)sum);
			if (frame_checksum(frame) % 0xffff != sum % 0xffff)
				fail_msg("the test made 0x%04x, not 0x%04x", frame_checksum(frame),
					sum);
			memcpy(expected, frame, len);
			frame_forward(expected, &adjacency.l2.dst_addr, &adjacency.l2.src_addr);
			assert_int_equal(hy_ip4_rewrite_one(frame, len, &adjacency, &port), 5);
			if (memcmp(frame, expected, len) != 0)
				fail_msg("checksum 0x%04x, TTL %u: 0x%02x%02x, not 0x%02x%02x", sum,
					ttls[t], frame[24], frame[25], expected[24], expected[25]);
		}
	}
	assert_int_equal(compared, 5 * 65536);
}

static void
checksum_edges_of_rfc_1624(void **state)
{
	static const uint16_t edges[][2] = { { 0xfeff, 0x0000 }, { 0xffff, 0x0100 },
		{ 0x0000, 0x0100 }, { 0xfefe, 0xfffe }, { 0xff00, 0x0001 }, { 0xfffe, 0x00ff } };
	uint8_t frame[FRAME_MAX];

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(edges); i++) {
		const uint32_t len = FRAME(frame, .payload = 8);

		sum_wanted(frame, edges[i][0]);
		assert_int_equal(hy_ip4_rewrite_one(frame, len, &adjacency, &port), 5);
		assert_int_equal(frame[24] * 256 + frame[25], edges[i][1]);
		assert_int_equal(frame_checksum(frame), edges[i][1]);
	}
}

static void
ttl_of_0_and_1_expires_and_nothing_is_written(void **state)
{
	uint8_t frame[FRAME_MAX], before[FRAME_MAX];
	unsigned int expired = 0;

	RTE_SET_USED(state);
	for (unsigned int ttl = 0; ttl <= 255; ttl++) {
		const uint32_t len = FRAME(frame, .payload = 8);
		uint16_t next;

		frame[22] = (uint8_t)ttl;
		frame_sum(frame);
		memcpy(before, frame, len);
		next = hy_ip4_rewrite_one(frame, len, &adjacency, &port);
		if (ttl <= 1) {
			assert_int_equal(next, HY_DROP(HY_IP4_REWRITE_TTL_EXPIRED));
			assert_memory_equal(frame, before, len);
			expired++;
		} else {
			assert_int_equal(next, 5);
			assert_int_equal(frame[22], ttl - 1);
		}
	}
	assert_int_equal(expired, 2);
}

static void
frame_longer_than_the_port_sends_is_dropped_and_nothing_is_written(void **state)
{
	static const struct {
		uint32_t len;
		uint16_t next;
	} cases[] = { { 34, 5 }, { 1513, 5 }, { 1514, 5 },
		{ 1515, HY_DROP(HY_IP4_REWRITE_MTU_EXCEEDED) },
		{ 65549, HY_DROP(HY_IP4_REWRITE_MTU_EXCEEDED) },
		{ UINT32_MAX, HY_DROP(HY_IP4_REWRITE_MTU_EXCEEDED) } };
	uint8_t frame[FRAME_MAX], before[FRAME_MAX];

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		FRAME(frame, .payload = 8);
		memcpy(before, frame, sizeof(frame));
		assert_int_equal(hy_ip4_rewrite_one(frame, cases[i].len, &adjacency, &port),
			cases[i].next);
		if (cases[i].next != 5)
			assert_memory_equal(frame, before, 60);
		else
			assert_memory_not_equal(frame, before, 60);
	}
}

static void
expired_ttl_comes_before_length(void **state)
{
	uint8_t frame[FRAME_MAX];

	RTE_SET_USED(state);
	FRAME(frame, .ttl = 1);
	assert_int_equal(hy_ip4_rewrite_one(frame, 1515, &adjacency, &port),
		HY_DROP(HY_IP4_REWRITE_TTL_EXPIRED));
}

static void
only_addresses_ttl_and_checksum_are_written(void **state)
{
	uint8_t frame[FRAME_MAX], before[FRAME_MAX];
	const uint32_t len = FRAME(frame, .ihl = 15, .payload = 40, .padding = 9, .id = 0x1234);

	RTE_SET_USED(state);
	memcpy(before, frame, len);
	assert_int_equal(hy_ip4_rewrite_one(frame, len, &adjacency, &port), 5);
	assert_memory_equal(frame, &adjacency.l2.dst_addr, 6);
	assert_memory_equal(frame + 6, &adjacency.l2.src_addr, 6);
	assert_memory_equal(frame + 12, before + 12, 10);
	assert_int_equal(frame[22], 63);
	assert_int_equal(frame[23], before[23]);
	assert_int_equal(frame_checksum(frame), frame[24] * 256 + frame[25]);
	assert_memory_equal(frame + 26, before + 26, len - 26);
}

static const struct CMUnitTest node_rewrite_tests[] = {
	NODE_TEST(every_checksum_is_updated_as_if_summed_anew),
	NODE_TEST(checksum_edges_of_rfc_1624),
	NODE_TEST(ttl_of_0_and_1_expires_and_nothing_is_written),
	NODE_TEST(frame_longer_than_the_port_sends_is_dropped_and_nothing_is_written),
	NODE_TEST(expired_ttl_comes_before_length),
	NODE_TEST(only_addresses_ttl_and_checksum_are_written),
};

UNIT_SUITE(node_rewrite_tests)
