/* SPDX-License-Identifier: BSD-3-Clause */
/* Which packets hy_mbuf_ops takes for one flow. */

#include <netinet/in.h>
#include <string.h>

#include <hy_mbuf.h>

#include "node_fixture.h"

#define LEN 96
#define TYPE 12 /* offset of the Ethernet type */

static uint32_t
hash_of(struct rte_mbuf *m)
{
	uint32_t hash = 0;

	hy_mbuf_ops.flow_hash((void *const *)&m, &hash, 1);
	rte_pktmbuf_free(m);
	return hash;
}

/* The hash of a frame in one piece; the same is asked of it in many. */
static uint32_t
hash(const uint8_t *frame, uint32_t len)
{
	const uint32_t one = hash_of(packet(frame, len));

	assert_int_equal(hash_of(packet_pieces(frame, len, 3)), one);
	assert_int_equal(hash_of(packet_cut(frame, len, len / 2)), one);
	return one;
}

/* A frame of UDP with ports, at frame + tags * 4. */
static void
frame_fill(uint8_t *frame, uint16_t type, unsigned int tags)
{
	uint8_t *at = frame + TYPE;

	for (unsigned int i = 0; i < LEN; i++)
		frame[i] = (uint8_t)(i * 7);
	for (unsigned int t = 0; t < tags; t++, at += 4) {
		at[0] = 0x81;
		at[1] = 0x00;
	}
	at[0] = (uint8_t)(type >> 8);
	at[1] = (uint8_t)type;
	if (type == RTE_ETHER_TYPE_IPV4) {
		at[2] = 0x45;
		at[2 + 6] = at[2 + 7] = 0;
		at[2 + 9] = IPPROTO_UDP;
	} else {
		at[2 + 6] = IPPROTO_UDP;
	}
}

static void
packets_of_one_flow_have_one_hash(void **state)
{
	static const struct {
		uint16_t type;
		unsigned int tags;
		unsigned int same[4], other[5]; /* offsets from the type on; 0 ends */
	} cases[] = {
		/* Length, TTL, checksum, payload; addresses, protocol, ports. */
		{ RTE_ETHER_TYPE_IPV4, 0, { 4, 10, 12, 28 }, { 14, 21, 22, 25, 11 } },
		{ RTE_ETHER_TYPE_IPV4, 2, { 4, 10, 12, 28 }, { 14, 21, 22, 25, 11 } },
		/* Flow label, length, hop limit, payload; the first and last of all that counts. */
		{ RTE_ETHER_TYPE_IPV6, 0, { 5, 6, 9, 48 }, { 10, 25, 41, 42, 45 } },
		{ RTE_ETHER_TYPE_IPV6, 1, { 5, 6, 9, 48 }, { 10, 25, 41, 42, 45 } },
	};
	unsigned int compared = 0;

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		const unsigned int base = TYPE + 4 * cases[i].tags;
		uint8_t frame[LEN];
		uint32_t before;

		frame_fill(frame, cases[i].type, cases[i].tags);
		before = hash(frame, LEN);
		for (unsigned int s = 0; s < 4; s++, compared++) {
			frame[base + cases[i].same[s]] ^= 0x55;
			assert_int_equal(hash(frame, LEN), before);
		}
		for (unsigned int o = 0; o < 5; o++, compared++) {
			frame[base + cases[i].other[o]] ^= 0x55;
			assert_int_not_equal(hash(frame, LEN), before);
			frame[base + cases[i].other[o]] ^= 0x55;
		}
	}
	assert_int_equal(compared, 36);
}

static void
fragments_are_one_flow_whatever_their_first_bytes(void **state)
{
	static const uint8_t parts[][2] = { { 0x20, 0 }, { 0x20, 9 }, { 0, 9 } };
	uint32_t hashes[3];

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < 3; i++) {
		uint8_t frame[LEN];

		frame_fill(frame, RTE_ETHER_TYPE_IPV4, 0);
		frame[TYPE + 2 + 6] = parts[i][0];
		frame[TYPE + 2 + 7] = parts[i][1];
		frame[TYPE + 2 + 20] = (uint8_t)i; /* where ports would stand */
		hashes[i] = hash(frame, LEN);
		assert_int_equal(hashes[i], hashes[0]);
	}
}

static void
what_a_nic_has_hashed_is_taken(void **state)
{
	uint8_t frame[LEN] = { 0 };
	struct rte_mbuf *m = packet(frame, LEN);

	RTE_SET_USED(state);
	m->ol_flags |= RTE_MBUF_F_RX_RSS_HASH;
	m->hash.rss = 0xdeadbeef;
	assert_int_equal(hash_of(m), 0xdeadbeef);
}

static void
a_short_frame_has_a_hash_of_what_is_there(void **state)
{
	uint8_t frame[LEN];
	unsigned int lengths = 0;

	RTE_SET_USED(state);
	/* Bytes behind the end do not count, wherever it is. */
	for (uint32_t len = 1; len < LEN; len++, lengths++) {
		uint32_t before;

		frame_fill(frame, len % 2 ? RTE_ETHER_TYPE_IPV4 : RTE_ETHER_TYPE_IPV6, len % 3);
		before = hash(frame, len);
		memset(frame + len, 0xff, LEN - len);
		assert_int_equal(hash(frame, len), before);
	}
	assert_int_equal(lengths, LEN - 1);
}

static const struct CMUnitTest tests[] = {
	NODE_TEST(packets_of_one_flow_have_one_hash),
	NODE_TEST(fragments_are_one_flow_whatever_their_first_bytes),
	NODE_TEST(what_a_nic_has_hashed_is_taken),
	NODE_TEST(a_short_frame_has_a_hash_of_what_is_there),
};

UNIT_SUITE(tests)
