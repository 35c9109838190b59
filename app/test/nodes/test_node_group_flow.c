/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What belongs to a flow, and the kernels that find its member: each finds the member that the scalar one
 * finds, of any frame, and reads nothing behind it.
 */

#include <stdlib.h>
#include <string.h>

#include <rte_cpuflags.h>

#include "drivers/nodes/generic/group/ip4_group.h"
#include "group_fixture.h"

#define FRAMES 200000
#define BURST_MOST 100
#define IP RTE_ETHER_HDR_LEN

static const uint32_t seed_of_hash[2] = { 1, 2 };

/* Of a UDP frame of 60 bytes, with one byte changed. */
static uint32_t
hash_with(unsigned int at, uint8_t value, uint32_t len)
{
	uint8_t frame[FRAME_MAX];

	FRAME(frame, .payload = 26);
	frame[IP + 9] = IPPROTO_UDP;
	frame[at] = value;
	return hy_ip4_flow_hash(seed_of_hash, frame, len);
}

static void
addresses_protocol_and_ports_make_a_flow(void **state)
{
	const uint32_t hash = hash_with(0, 0, 60);
	unsigned int differ = 0;

	RTE_SET_USED(state);
	for (unsigned int at = 0; at < 60; at++) {
		/* Not total length, fragment, and header length, which say whether there are ports. */
		const bool of_flow = at >= IP + 12 && at < IP + 24;

		if ((at >= IP + 2 && at < IP + 4) || at == IP || at == IP + 6 || at == IP + 7 ||
			at == IP + 9)
			continue;
		for (unsigned int value = 0; value < 256; value++) {
			const bool other = hash_with(at, (uint8_t)value, 60) != hash;

			if (other && !of_flow)
				fail_msg("byte %u is none of a flow's", at);
			differ += other;
		}
	}
	assert_int_equal(differ, 12 * 255); /* one value of each byte is the same */
	assert_int_not_equal(hash_with(IP + 9, IPPROTO_TCP, 60), hash);
}

/* Whether ports count, of frames that differ in them. */
static bool
has_ports(unsigned int at, uint8_t value, uint32_t len)
{
	uint8_t a[FRAME_MAX], b[FRAME_MAX];

	FRAME(a, .payload = 26);
	a[IP + 9] = IPPROTO_UDP;
	a[at] = value;
	memcpy(b, a, sizeof(b));
	b[IP + 4 * (a[IP] & 15) + 1] ^= 1;
	assert_int_equal(hy_ip4_flow_ports(a, len) == 0, hy_ip4_flow_ports(b, len) == 0);
	return hy_ip4_flow_hash(seed_of_hash, a, len) != hy_ip4_flow_hash(seed_of_hash, b, len);
}

static void
fragments_and_others_have_no_ports(void **state)
{
	RTE_SET_USED(state);
	for (unsigned int proto = 0; proto < 256; proto++)
		assert_int_equal(has_ports(IP + 9, (uint8_t)proto, 60),
			proto == IPPROTO_TCP || proto == IPPROTO_UDP || proto == IPPROTO_SCTP);
	for (unsigned int bits = 0; bits < 256; bits++) {
		assert_int_equal(has_ports(IP + 6, (uint8_t)bits, 60), (bits & 0x3f) == 0);
		assert_int_equal(has_ports(IP + 7, (uint8_t)bits, 60), bits == 0);
		assert_int_equal(has_ports(IP + 3, (uint8_t)bits, 60), bits >= 24);
	}
	for (uint32_t len = 34; len <= 60; len++)
		assert_int_equal(has_ports(0, 0, len), len >= 38);
	for (uint8_t ihl = 5; ihl < 16; ihl++)
		for (uint8_t total = 20; total < 68; total++)
			if (total == 46)
				assert_int_equal(has_ports(IP, (uint8_t)(0x40 | ihl), 78),
					4 * ihl + 4 <= total);
}

static void
a_flow_is_where_it_was_with_another_build(void **state)
{
	RTE_SET_USED(state);
	/* Neighbours in a row of routers may be of other versions. */
	assert_int_equal(hy_flow_hash((const uint32_t[]){ 0, 0 }, 0, 0, 0, 0), 0);
	assert_int_equal(hy_flow_hash((const uint32_t[]){ 1, 2 }, 17, 3, 4, 5), 0x4d001b9);
}

/* A frame in memory of its own, so that tools see what is read behind it. */
static uint8_t *
frame_make(uint32_t *len, uint64_t *seed)
{
	static const uint8_t protos[] = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP, IPPROTO_ICMP };
	const bool odd = rnd(seed) % 64 == 0;
	uint8_t *frame;

	*len = odd ? 34 + rnd(seed) % 8 : 38 + rnd(seed) % 60;
	frame = malloc(*len);
	assert_non_null(frame);
	for (uint32_t i = 0; i < *len; i++)
		frame[i] = (uint8_t)rnd(seed);
	frame[IP] = rnd(seed) % 64 == 0 ? (uint8_t)(0x45 + rnd(seed) % 11) : 0x45;
	frame[IP + 2] = 0;
	frame[IP + 3] = rnd(seed) % 16 == 0 ? (uint8_t)(20 + rnd(seed) % 8) : (uint8_t)(*len - IP);
	frame[IP + 6] = rnd(seed) % 8 == 0 ? (uint8_t)rnd(seed) : rnd(seed) % 2 == 0 ? 0x40 : 0;
	frame[IP + 7] = rnd(seed) % 16 == 0 ? (uint8_t)rnd(seed) : 0;
	frame[IP + 9] = protos[rnd(seed) % 4];
	return frame;
}

static void
kernel_run(const char *name, ip4_members_t *kernel)
{
	const struct hy_ip4_adjacency *adjacencies = hy_ip4_adjacencies(hy_ip4_fib_view(group_fib));
	unsigned int ports = 0, none = 0, plain = 0, members_seen = 0;
	const uint32_t nb_ids = hy_ip4_next_hops(group_fib);
	bool seen[GROUP_HOPS] = { false };
	uint64_t seed = 1;

	for (unsigned int done = 0; done < FRAMES;) {
		const uint32_t n = 1 + rnd(&seed) % BURST_MOST;
		uint32_t len[BURST_MOST], id[BURST_MOST], want[BURST_MOST];
		uint8_t *frame[BURST_MOST];

		for (uint32_t i = 0; i < n; i++) {
			frame[i] = frame_make(&len[i], &seed);
			id[i] = want[i] = i == 0 || rnd(&seed) % 4 != 0
				? GROUP_HOPS + rnd(&seed) % (nb_ids - GROUP_HOPS)
				: rnd(&seed) % GROUP_HOPS;
			plain += id[i] < GROUP_HOPS;
			*(hy_ip4_flow_ports(frame[i], len[i]) != 0 ? &ports : &none) += 1;
		}
		kernel(adjacencies, (const uint8_t *const *)frame, len, id, n);
		ip4_members_singly(adjacencies, (const uint8_t *const *)frame, len, want, n);
		for (uint32_t i = 0; i < n; i++) {
			if (id[i] != want[i])
				fail_msg("%s: frame %u of %u: %u, not %u", name, i, n, id[i],
					want[i]);
			members_seen += !seen[id[i]];
			seen[id[i]] = true;
			free(frame[i]);
		}
		done += n;
	}
	print_message("%s: %u frames with ports, %u without, %u to next hops\n", name, ports, none,
		plain);
	assert_true(ports > FRAMES / 4 && none > FRAMES / 8 && plain > FRAMES / 8);
	assert_int_equal(members_seen, GROUP_HOPS);
}

static void
each_kernel_finds_the_same_member(void **state)
{
	struct hy_ip4_member members[HY_IP4_GROUP_MEMBERS];
	uint64_t seed = 2;

	RTE_SET_USED(state);
	group_table(NULL, 1024);
	for (unsigned int n = 1; n <= HY_IP4_GROUP_MEMBERS; n *= 2) {
		group_members(members, n, n % 7, 3, &seed);
		group_create(members, n, HY_IP4_NO_ID);
	}
	group_members(members, 10, GROUP_HOPS - 10, 1, &seed);
	group_create(members, 10, HY_IP4_NO_ID);
	kernel_run("scalar", ip4_members_singly);
#ifdef RTE_ARCH_X86_64
	if (rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) > 0)
		kernel_run("avx2", ip4_members_avx2);
	if (rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512F) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512VL) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512BW) > 0)
		kernel_run("avx512", ip4_members_avx512);
#elif defined(RTE_ARCH_ARM64)
	kernel_run("neon", ip4_members_neon);
#endif
}

static const struct CMUnitTest node_group_flow_tests[] = {
	cmocka_unit_test(addresses_protocol_and_ports_make_a_flow),
	cmocka_unit_test(fragments_and_others_have_no_ports),
	cmocka_unit_test(a_flow_is_where_it_was_with_another_build),
	GROUP_TEST(each_kernel_finds_the_same_member),
};

UNIT_SUITE(node_group_flow_tests)
