/* SPDX-License-Identifier: BSD-3-Clause */
/* Hashes that NICs deliver: taken from ports that promise them, until they say nothing. */

#include <string.h>

#include <rte_mbuf.h>

#include "flows_fixture.h"

#define BURST 64

static struct rte_mbuf packets[BURST], *mbufs[BURST];
static struct hy_flows_key key[BURST];
static struct hy_flows_rss rss;

/* So many different keys at port 1, and a cache whose masks tell them apart. */
static void
begin(uint32_t keys)
{
	const struct hy_flows_flow flow = { .key = key_of(0), .mask = MASK_DST };

	flows_new(10, 10, 1, NULL);
	assert_int_equal(hy_flows_add(flows, &flow), 0);
	memset(&rss, 0, sizeof(rss));
	for (uint32_t i = 0; i < BURST; i++) {
		packets[i] = (struct rte_mbuf){
			.port = 1, .ol_flags = RTE_MBUF_F_RX_RSS_HASH, .hash.rss = 1000 + i
		};
		mbufs[i] = &packets[i];
		key[i] = key_of(i % keys);
	}
}

/* How many packets have the NIC's hash; the others have ours. */
static uint32_t
nics(void)
{
	uint32_t own[BURST], hash[BURST + 1], n = 0;

	hash[BURST] = 0xa5a5a5a5;
	hy_flows_hashes(flows, key, own, BURST);
	hy_flows_rss_hashes(flows, &rss, mbufs, key, hash, BURST);
	assert_int_equal(hash[BURST], 0xa5a5a5a5);
	for (uint32_t i = 0; i < BURST; i++) {
		n += hash[i] == packets[i].hash.rss;
		assert_true(hash[i] == packets[i].hash.rss || hash[i] == own[i]);
	}
	return n;
}

static void
the_nics_hash_is_taken_if_promised_and_there(void **state)
{
	RTE_SET_USED(state);
	begin(BURST);
	assert_int_equal(nics(), 0);
	rss.promised[1] = true;
	assert_int_equal(nics(), BURST);
	packets[3].ol_flags = 0;
	packets[4].port = 2;
	packets[5].port = UINT16_MAX;
	assert_int_equal(nics(), BURST - 3);
}

static void
a_constant_hash_is_noticed_and_not_taken(void **state)
{
	uint32_t bursts = 0;

	RTE_SET_USED(state);
	begin(BURST);
	rss.promised[1] = true;
	for (uint32_t i = 0; i < BURST; i++)
		packets[i].hash.rss = 7;
	for (; nics() == BURST; bursts++)
		assert_true(bursts < 10000);
	assert_int_equal(bursts, 4 * 64); /* in each 64th, 63 pairs */
	assert_true(rss.constant[1]);
	assert_int_equal(nics(), 0);
}

/* Few keys in a row that differ, and have hashes that differ too. */
static void
a_hash_that_tells_keys_apart_stays(void **state)
{
	static const uint32_t keys[] = { 1, 2, BURST };

	RTE_SET_USED(state);
	for (uint32_t k = 0; k < RTE_DIM(keys); k++) {
		begin(keys[k]);
		rss.promised[1] = true;
		for (uint32_t i = 0; i < BURST; i++)
			packets[i].hash.rss = i % keys[k];
		for (uint32_t bursts = 0; bursts < 2000; bursts++)
			assert_int_equal(nics(), BURST);
		assert_false(rss.constant[1]);
		hy_flows_destroy(flows);
		flows = NULL;
	}
}

static const struct CMUnitTest tests[] = {
	FLOWS_TEST(the_nics_hash_is_taken_if_promised_and_there),
	FLOWS_TEST(a_constant_hash_is_noticed_and_not_taken),
	FLOWS_TEST(a_hash_that_tells_keys_apart_stays),
};
UNIT_SUITE(tests)
