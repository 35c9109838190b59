/* SPDX-License-Identifier: BSD-3-Clause */
/* What belongs to an IPv6 flow, of which all packets take one member of a group. */

#include <stdlib.h>
#include <string.h>

#include <hy_ip6_group_view.h>

#include "app/test/unit.h"

#define IP RTE_ETHER_HDR_LEN
#define LEN (IP + 40 + 6)

static const uint32_t seed_of_hash[2] = { 1, 2 };

static void
frame_make(uint8_t frame[LEN], uint8_t next)
{
	memset(frame, 0, LEN);
	frame[IP] = 0x60;
	frame[IP + 5] = LEN - IP - 40;
	frame[IP + 6] = next;
	frame[IP + 7] = 64;
}

/* The hash of the first bytes, in memory of their own, so that tools see what is read behind them. */
static uint32_t
hash_of(const uint8_t frame[LEN], uint32_t len)
{
	uint8_t *copy = malloc(len);
	uint32_t hash;

	assert_non_null(copy);
	memcpy(copy, frame, len);
	hash = hy_ip6_flow_hash(seed_of_hash, copy, len);
	free(copy);
	return hash;
}

static uint32_t
hash_with(uint8_t next, unsigned int at, uint8_t value)
{
	uint8_t frame[LEN];

	frame_make(frame, next);
	frame[at] ^= value;
	return hash_of(frame, LEN);
}

static void
addresses_and_one_more_word_make_a_flow(void **state)
{
	static const struct {
		uint8_t next;
		bool ports, label;
	} kinds[] = {
		{ IPPROTO_UDP, true, false },
		{ IPPROTO_ESP, false, true },
		{ IPPROTO_FRAGMENT, false, false },
	};
	unsigned int differ[RTE_DIM(kinds)] = { 0 };

	RTE_SET_USED(state);
	for (unsigned int k = 0; k < RTE_DIM(kinds); k++) {
		const uint32_t hash = hash_with(kinds[k].next, 0, 0);

		for (unsigned int at = 0; at < LEN * 256; at++) {
			const unsigned int byte = at / 256;
			const uint8_t value = (uint8_t)at;
			bool counts = byte >= IP + 8 && byte < IP + 40;

			/* Not what says whether there are ports: length and next header. */
			if (value == 0 || (byte >= IP + 4 && byte <= IP + 6))
				continue;
			counts |= kinds[k].ports && byte >= IP + 40 && byte < IP + 44;
			counts |= kinds[k].label &&
				((byte == IP + 1 && (value & 0xf) != 0) || byte == IP + 2 ||
					byte == IP + 3);
			if ((hash_with(kinds[k].next, byte, value) != hash) != counts)
				fail_msg("next header %u: byte %u ^ %u counts wrongly",
					kinds[k].next, byte, value);
			differ[k] += counts;
		}
		for (unsigned int other = 0; other < k; other++)
			assert_int_not_equal(hash, hash_with(kinds[other].next, 0, 0));
	}
	assert_int_equal(differ[0], 36 * 255);
	assert_int_equal(differ[1], 34 * 255 + 240);
	assert_int_equal(differ[2], 32 * 255);
}

/* Fails unless ports count, or the flow label, or neither, of a frame of so many bytes. */
static void
expect(const uint8_t frame[LEN], uint32_t len, bool ports, bool label)
{
	const uint32_t hash = hash_of(frame, len);
	uint8_t other[LEN];

	memcpy(other, frame, LEN);
	other[IP + 41] ^= 1;
	assert_int_equal(hash_of(other, len) != hash, ports);
	memcpy(other, frame, LEN);
	other[IP + 3] ^= 1;
	assert_int_equal(hash_of(other, len) != hash, label);
}

static void
without_ports_the_flow_label_counts(void **state)
{
	uint8_t frame[LEN];

	RTE_SET_USED(state);
	for (unsigned int next = 0; next < 256; next++) {
		const bool ported = next == IPPROTO_TCP || next == IPPROTO_UDP ||
			next == IPPROTO_SCTP;

		frame_make(frame, (uint8_t)next);
		expect(frame, LEN, ported, !ported && next != IPPROTO_FRAGMENT);
	}
	frame_make(frame, IPPROTO_TCP);
	for (uint32_t len = IP + 42; len <= LEN; len++)
		expect(frame, len, len >= IP + 44, len < IP + 44);
	for (uint8_t payload = 0; payload <= LEN - IP - 40; payload++) {
		frame[IP + 5] = payload;
		expect(frame, LEN, payload >= 4, payload < 4);
	}
	frame[IP + 4] = 1; /* 256 and more */
	expect(frame, LEN, true, false);
}

/* The first has ports and no offset; all differ in labels, if a router has set those of some. */
static void
fragments_of_a_datagram_have_one_hash(void **state)
{
	uint32_t hashes[4];

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(hashes); i++) {
		uint8_t frame[LEN];

		frame_make(frame, IPPROTO_FRAGMENT);
		frame[IP + 3] = (uint8_t)(i * 3);
		frame[IP + 40] = i == 0 ? IPPROTO_UDP : (uint8_t)(i * 5);
		frame[IP + 42] = (uint8_t)(i * 7);
		frame[IP + 43] = i < 3;
		frame[IP + 5] = (uint8_t)(6 - i);
		hashes[i] = hash_of(frame, LEN - i);
		assert_int_equal(hashes[i], hashes[0]);
	}
}

static void
an_ip6_flow_is_where_it_was_with_another_build(void **state)
{
	static const uint8_t packet[] = { 0x6a, 0xb1, 0x23, 0x45, 0, 4, IPPROTO_UDP, 64, 0x20, 1,
		0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0x20, 1, 0x0d, 0xb8, 0, 1, 0, 2, 0,
		0, 0, 0, 0, 0, 0, 2, 0x12, 0x34, 0, 53 };
	uint8_t frame[LEN] = { 0 };

	RTE_SET_USED(state);
	/* Neighbours in a row of routers may be of other versions. */
	memcpy(frame + IP, packet, sizeof(packet));
	assert_int_equal(hash_of(frame, IP + sizeof(packet)), 0xd40734dd);
	frame[IP + 6] = IPPROTO_ESP;
	assert_int_equal(hash_of(frame, IP + sizeof(packet)), 0xe23da521);
	frame[IP + 6] = IPPROTO_FRAGMENT;
	assert_int_equal(hash_of(frame, IP + sizeof(packet)), 0x66a9ca2f);
}

static const struct CMUnitTest ip6_group_tests[] = {
	cmocka_unit_test(addresses_and_one_more_word_make_a_flow),
	cmocka_unit_test(without_ports_the_flow_label_counts),
	cmocka_unit_test(fragments_of_a_datagram_have_one_hash),
	cmocka_unit_test(an_ip6_flow_is_where_it_was_with_another_build),
};

UNIT_SUITE(ip6_group_tests)
