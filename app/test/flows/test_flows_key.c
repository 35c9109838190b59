/* SPDX-License-Identifier: BSD-3-Clause */
/* Keys of frames: as another reader reads them, as the policy's are, and as far as masks look. */

#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_mbuf.h>

#include <hy_policy_view.h>

#include "flows_frames.h"

#define FRAMES 300000

/* A frame whose last byte is the last one of readable memory. */
static uint8_t *
at_the_end(const uint8_t *frame, uint32_t len)
{
	static uint8_t *end;

	if (end == NULL) {
		const size_t page = (size_t)sysconf(_SC_PAGESIZE);
		uint8_t *pages = mmap(NULL, 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			0);

		assert_ptr_not_equal(pages, MAP_FAILED);
		assert_int_equal(mprotect(pages, page, PROT_READ | PROT_WRITE), 0);
		end = pages + page;
	}
	len = RTE_MIN(len, (uint32_t)HY_FLOWS_HEADERS);
	return memcpy(end - len, frame, len);
}

static void
assert_same(const struct hy_flows_key *got, const struct hy_flows_key *want, const uint8_t *frame,
	uint32_t len)
{
	if (memcmp(got, want, sizeof(*got)) == 0)
		return;
	for (uint32_t i = 0; i < HY_FLOWS_WORDS; i++)
		print_error("  word %u: %016jx, expected %016jx\n", i, (uintmax_t)got->words[i],
			(uintmax_t)want->words[i]);
	for (uint32_t i = 0; i < len; i++)
		print_error("%02x%s", frame[i], i % 16 == 15 ? "\n" : " ");
	fail_msg("a frame of %u bytes has another key", len);
}

/* How often keys had a property, which each has to have now and then. */
struct census {
	uint32_t kinds[8], plain[3], tagged, twice, ports, flags, inner6, outer6, arp, arp_inside;
};

static void
census_take(struct census *c, const struct hy_flows_key *key)
{
	for (uint32_t bit = 0; bit < 8; bit++)
		c->kinds[bit] += key->kind >> bit & 1;
	c->plain[key->type == RTE_BE16(0x0800) ? 0 : key->type == RTE_BE16(0x86dd) ? 1 : 2]++;
	c->tagged += key->vlan != 0;
	c->twice += key->vlan2 != 0;
	c->ports += key->sport != 0 && key->dport != 0;
	c->flags += key->tcp_flags != 0;
	c->inner6 += (key->kind & HY_FLOWS_TUNNELLED) != 0 && key->src6[0] != 0;
	c->outer6 += key->tunnel_src6[0] != 0;
	c->arp += key->type == RTE_BE16(0x0806) && key->proto != 0 && key->dst != 0;
	c->arp_inside += key->type == RTE_BE16(0x0806) && key->proto != 0 &&
		(key->kind & HY_FLOWS_TUNNELLED) != 0;
}

static void
keys_are_those_that_are_read_byte_by_byte(void **state)
{
	uint8_t frame[FLOWS_FRAME_ROOM];
	struct census c = { 0 };
	uint64_t seed = 1;

	RTE_SET_USED(state);
	for (uint32_t i = 0; i < FRAMES; i++) {
		const uint32_t len = flows_frame(frame, &seed);
		const bool tunnels = i % 2 == 0;
		const struct hy_flows_key want = flows_key_slowly(frame, len, (uint16_t)i, tunnels);
		struct hy_flows_key key;

		memset(&key, 0xa5, sizeof(key));
		hy_flows_key(at_the_end(frame, len), len, (uint16_t)i,
			HY_FLOWS_PARSE_ALL | (tunnels ? HY_FLOWS_PARSE_TUNNEL : 0), &key);
		assert_same(&key, &want, frame, len);
		assert_true(tunnels || (key.kind & HY_FLOWS_TUNNELLED) == 0);
		census_take(&c, &key);
	}
	for (uint32_t bit = 0; bit < 6; bit++)
		assert_true(c.kinds[bit] > FRAMES / 200);
	assert_int_equal(c.kinds[6] + c.kinds[7], 0);
	assert_true(c.plain[0] > FRAMES / 20 && c.plain[1] > FRAMES / 20 &&
		c.plain[2] > FRAMES / 20);
	assert_true(c.tagged > FRAMES / 20 && c.twice > FRAMES / 20);
	assert_true(c.ports > FRAMES / 20 && c.flags > FRAMES / 100);
	assert_true(c.inner6 > FRAMES / 200 && c.outer6 > FRAMES / 200);
	assert_true(c.arp > FRAMES / 50 && c.arp_inside > FRAMES / 1000);
}

/* The two kinds of keys, of which the policy's says what is there and what is 0. */
static void
assert_alike(const struct hy_flows_key *key, const struct hy_flow_key *theirs)
{
	const uint32_t fragments[] = { [HY_FLOW_NO_FRAGMENT] = 0,
		[HY_FLOW_FIRST_FRAGMENT] = HY_FLOWS_FIRST_FRAGMENT,
		[HY_FLOW_LATER_FRAGMENT] = HY_FLOWS_LATER_FRAGMENT,
		[HY_FLOW_UNKNOWN_FRAGMENT] = HY_FLOWS_UNKNOWN_FRAGMENT };
	const uint32_t kind = fragments[theirs->fragment] |
		((theirs->has & HY_FLOW_TRUNCATED) != 0 ? HY_FLOWS_TRUNCATED : 0) |
		((theirs->has & HY_FLOW_FRAGMENT) != 0 ? HY_FLOWS_IP : 0);
	const bool icmp = (theirs->has & HY_FLOW_ICMP) != 0;

	assert_int_equal(key->kind, kind);
	assert_int_equal(rte_be_to_cpu_16(key->type), theirs->ether_type);
	assert_int_equal(rte_be_to_cpu_16(key->vlan) & 0xfff, theirs->vlan);
	assert_int_equal(key->vlan != 0, (theirs->has & HY_FLOW_VLAN) != 0);
	if (key->type != RTE_BE16(0x0806)) /* of which the policy's has nothing */
		assert_int_equal(key->proto, theirs->proto);
	assert_int_equal(key->tos >> 2, theirs->dscp);
	assert_int_equal(key->tcp_flags, theirs->tcp_flags);
	assert_int_equal(rte_be_to_cpu_16(key->sport), icmp ? theirs->icmp_type : theirs->sport);
	assert_int_equal(rte_be_to_cpu_16(key->dport), icmp ? theirs->icmp_code : theirs->dport);
	if ((theirs->has & HY_FLOW_IPV4) != 0) {
		assert_int_equal(rte_be_to_cpu_32(key->src), theirs->src);
		assert_int_equal(rte_be_to_cpu_32(key->dst), theirs->dst);
	}
	for (uint32_t w = 0; w < 4 && (theirs->has & HY_FLOW_IPV6) != 0; w++) {
		uint32_t src, dst;

		memcpy(&src, key->src6 + 4 * w, 4);
		memcpy(&dst, key->dst6 + 4 * w, 4);
		assert_int_equal(rte_be_to_cpu_32(src), theirs->src6[w]);
		assert_int_equal(rte_be_to_cpu_32(dst), theirs->dst6[w]);
	}
}

static void
keys_say_of_a_frame_what_the_policy_says(void **state)
{
	uint8_t frame[FLOWS_FRAME_ROOM];
	uint32_t truncated = 0, icmp = 0, ip6 = 0;
	uint64_t seed = 2;

	RTE_SET_USED(state);
	for (uint32_t i = 0; i < FRAMES / 3; i++) {
		const uint32_t len = flows_frame(frame, &seed);
		struct hy_flow_key theirs;
		struct hy_flows_key key;

		hy_flow_key(frame, len, &theirs);
		hy_flows_key(frame, len, 7, HY_FLOWS_PARSE_ALL, &key);
		assert_alike(&key, &theirs);
		truncated += (theirs.has & HY_FLOW_TRUNCATED) != 0;
		icmp += (theirs.has & HY_FLOW_ICMP) != 0;
		ip6 += (theirs.has & HY_FLOW_IPV6) != 0;
	}
	assert_true(truncated > 1000 && icmp > 1000 && ip6 > 1000);
}

/* Few bits in few words, as masks have them. */
static struct hy_flows_key
any_mask(uint64_t *seed)
{
	struct hy_flows_key mask = { 0 };

	for (uint32_t n = flows_random(seed) % 4; n > 0; n--)
		mask.words[flows_random(seed) % HY_FLOWS_WORDS] |= flows_random(seed) % 2
			? UINT64_C(0xff) << flows_random(seed) % 8 * 8
			: UINT64_C(1) << flows_random(seed) % 64;
	return mask;
}

static void
what_a_mask_looks_at_is_parsed(void **state)
{
	static const struct hy_flows_key none;
	uint32_t parses[16] = { 0 }, shorter = 0;
	uint8_t frame[FLOWS_FRAME_ROOM];
	uint64_t seed = 3;

	RTE_SET_USED(state);
	for (uint32_t i = 0; i < FRAMES; i++) {
		const uint32_t len = flows_frame(frame, &seed);
		const struct hy_flows_key mask = any_mask(&seed);
		const uint32_t parse = hy_flows_parse_of(&mask),
			       tunnel = i % 2 == 0 ? HY_FLOWS_PARSE_TUNNEL : 0;
		struct hy_flows_key all, some;

		hy_flows_key(frame, len, 1, HY_FLOWS_PARSE_ALL | tunnel, &all);
		hy_flows_key(frame, len, 1, parse | tunnel, &some);
		if (!hy_flows_equal(&all, &some, &mask))
			fail_msg("parse %x is not enough for its mask", parse);
		parses[parse]++;
		shorter += memcmp(&all, &some, sizeof(all)) != 0;
	}
	assert_int_equal(hy_flows_parse_of(&none), 0);
	for (uint32_t parse = 0; parse < 16; parse++) /* bits; L4 comes with IP */
		if (parse < 8 && ((parse & 4) == 0 || (parse & 2) != 0))
			assert_true(parses[parse] > FRAMES / 200);
		else
			assert_int_equal(parses[parse], 0);
	assert_true(shorter > FRAMES / 4);
}

/* What most frames are, which bursts have a shorter way for. */
static bool
is_plain(const uint8_t *frame, uint32_t len, const struct hy_flows_key *all)
{
	return len >= 54 && frame[12] == 0x08 && frame[13] == 0x00 && frame[14] == 0x45 &&
		all->kind == HY_FLOWS_IP &&
		(all->proto == IPPROTO_TCP || all->proto == IPPROTO_UDP);
}

static void
bursts_have_the_keys_of_single_frames(void **state)
{
	uint32_t plain[16][2] = { 0 }, others[16] = { 0 };
	uint8_t frame[FLOWS_FRAME_ROOM];
	uint64_t seed = 5;

	RTE_SET_USED(state);
	for (uint32_t i = 0; i < FRAMES; i++) {
		const uint32_t len = flows_frame(frame, &seed), parse = i % 16;
		struct rte_mbuf packet = { .buf_addr = at_the_end(frame, len),
			.data_len = (uint16_t)RTE_MIN(len, (uint32_t)HY_FLOWS_HEADERS),
			.pkt_len = len,
			.port = (uint16_t)i,
			.nb_segs = 1 };
		struct rte_mbuf *const mbuf = &packet;
		struct hy_flows_key all, want, key;

		hy_flows_key(frame, len, 0, HY_FLOWS_PARSE_ALL, &all);
		hy_flows_key(frame, len, (uint16_t)i, parse, &want);
		memset(&key, 0xa5, sizeof(key));
		hy_flows_keys(&mbuf, parse, &key, 1);
		assert_same(&key, &want, frame, len);
		if (is_plain(frame, len, &all))
			plain[parse][all.proto == IPPROTO_TCP]++;
		else
			others[parse]++;
	}
	for (uint32_t parse = 0; parse < 16; parse++) {
		assert_true(plain[parse][0] > FRAMES / 16 / 200);
		assert_true(plain[parse][1] > FRAMES / 16 / 200);
		assert_true(others[parse] > FRAMES / 16 / 2);
	}
}

#define BURST 64

/* Writes a frame into an mbuf, in segments of random lengths. */
static struct rte_mbuf *
segments_of(struct rte_mempool *pool, const uint8_t *frame, uint32_t len, uint64_t *seed)
{
	struct rte_mbuf *first = NULL;

	for (uint32_t at = 0; at < len || first == NULL;) {
		const uint32_t most = flows_random(seed) % 2 ? len : 1 + flows_random(seed) % 40;
		const uint16_t n = (uint16_t)RTE_MIN(most, len - at);
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

		assert_non_null(m);
		memcpy(rte_pktmbuf_append(m, n), frame + at, n);
		at += n;
		if (first == NULL)
			first = m;
		else
			assert_int_equal(rte_pktmbuf_chain(first, m), 0);
	}
	return first;
}

static void
segmented_frames_have_the_same_keys(void **state)
{
	struct rte_mempool *pool = rte_pktmbuf_pool_create("flows", 4095, 0, 0, 2048,
		SOCKET_ID_ANY);
	uint8_t frames[BURST][FLOWS_FRAME_ROOM];
	struct hy_flows_key key[BURST + 1];
	uint32_t len[BURST], segmented = 0;
	struct rte_mbuf *mbufs[BURST];
	uint64_t seed = 4;

	RTE_SET_USED(state);
	assert_non_null(pool);
	for (uint32_t round = 0; round < 300; round++) {
		for (uint32_t i = 0; i < BURST; i++) {
			len[i] = flows_frame(frames[i], &seed);
			mbufs[i] = segments_of(pool, frames[i], len[i], &seed);
			mbufs[i]->port = (uint16_t)(i + round);
			segmented += mbufs[i]->nb_segs > 1;
		}
		memset(key, 0xa5, sizeof(key));
		hy_flows_keys(mbufs, HY_FLOWS_PARSE_ALL | HY_FLOWS_PARSE_TUNNEL, key, BURST);
		for (uint32_t i = 0; i < BURST; i++) {
			const struct hy_flows_key want = flows_key_slowly(frames[i], len[i],
				(uint16_t)(i + round), true);

			assert_same(&key[i], &want, frames[i], len[i]);
		}
		assert_int_equal(key[BURST].words[0], UINT64_C(0xa5a5a5a5a5a5a5a5));
		rte_pktmbuf_free_bulk(mbufs, BURST);
	}
	assert_true(segmented > 300 * BURST / 4);
	rte_mempool_free(pool);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(keys_are_those_that_are_read_byte_by_byte),
	cmocka_unit_test(keys_say_of_a_frame_what_the_policy_says),
	cmocka_unit_test(what_a_mask_looks_at_is_parsed),
	cmocka_unit_test(bursts_have_the_keys_of_single_frames),
	cmocka_unit_test(segmented_frames_have_the_same_keys),
};
UNIT_SUITE(tests)
