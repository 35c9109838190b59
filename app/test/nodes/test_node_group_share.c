/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shares of members over a million flows and more: random ones, and ones as alike as those of a real
 * network; overall, and of the flows that each worker gets from a NIC that spreads them by RSS.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <rte_thash.h>

#include <hy_ip6_group_view.h>

#include "group_fixture.h"

#define FLOWS 1000000u
#define WORKERS 4
#define RETA 128

/* As drivers have it, and one by which both directions of a flow have one hash. */
static const uint8_t usual_key[40] = { 0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67,
	0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0, 0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77,
	0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42, 0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa };
static uint8_t both_ways_key[40];

/* A flow, in network byte order. Of IPv6, these are words of its addresses; others are the same. */
struct flow {
	uint32_t src, dst, ports;
	uint32_t net; /* of IPv6: a word of the source's prefix */
};

/* Flow number i of a kind. */
enum kind { RANDOM, ONE_PAIR, NEIGHBOURS, KINDS, LABELS = KINDS, NETWORKS, KINDS6 };

static struct flow
flow_of(enum kind kind, uint32_t i, uint64_t *seed)
{
	switch (kind) {
	case RANDOM:
		return (struct flow){ rnd(seed), rnd(seed), rnd(seed) };
	case ONE_PAIR: /* of hosts, with ports in a row */
		return (struct flow){ rte_cpu_to_be_32(IP4(192, 0, 2, 1)),
			rte_cpu_to_be_32(IP4(198, 18, 0, 1)),
			rte_cpu_to_be_32((1024 + i % 32768) << 16 | i / 32768) };
	case LABELS: /* in a row, of one pair */
		return (struct flow){ rte_cpu_to_be_32(1), rte_cpu_to_be_32(2),
			rte_cpu_to_be_32(i % (1 << 20)) };
	case NETWORKS: /* a client in each, and one service */
		return (struct flow){ rte_cpu_to_be_32(1), rte_cpu_to_be_32(2),
			rte_cpu_to_be_32(443), rte_cpu_to_be_32(i << 8) };
	default: /* clients and servers with addresses in a row, always the same service */
		return (struct flow){ rte_cpu_to_be_32(IP4(10, 0, 0, 0) + i % 4096),
			rte_cpu_to_be_32(IP4(198, 18, 0, 0) + i / 4096), rte_cpu_to_be_32(443) };
	}
}

/* The hash of an IPv4 flow, and of an IPv6 flow with such words. */
typedef uint32_t(hash_t)(const uint32_t seed[2], enum kind kind, const struct flow *flow);

static uint32_t
hash4(const uint32_t seed[2], enum kind kind, const struct flow *flow)
{
	RTE_SET_USED(kind);
	return hy_flow_hash(seed, IPPROTO_TCP, flow->src, flow->dst, flow->ports);
}

static uint32_t
hash6(const uint32_t seed[2], enum kind kind, const struct flow *flow)
{
	struct rte_ipv6_hdr ip = { .vtc_flow = RTE_BE32(0x60000000),
		.payload_len = RTE_BE16(20),
		.proto = kind == LABELS ? IPPROTO_ESP : IPPROTO_TCP };
	const uint32_t src[4] = { RTE_BE32(0x20010db8), flow->net, 0, flow->src };
	const uint32_t dst[4] = { RTE_BE32(0x2a001234), 0, flow->dst, RTE_BE32(1) };
	uint8_t frame[HY_IP6_FLOW_BYTES];

	if (kind == LABELS)
		ip.vtc_flow |= flow->ports;
	memcpy(&ip.src_addr, src, sizeof(src));
	memcpy(&ip.dst_addr, dst, sizeof(dst));
	memcpy(frame + RTE_ETHER_HDR_LEN, &ip, sizeof(ip));
	memcpy(frame + RTE_ETHER_HDR_LEN + sizeof(ip), &flow->ports, sizeof(flow->ports));
	return hy_ip6_flow_hash(seed, frame, sizeof(frame));
}

static unsigned int
worker_of(const struct flow *flow, const uint8_t *key)
{
	uint32_t tuple[3] = { rte_be_to_cpu_32(flow->src), rte_be_to_cpu_32(flow->dst),
		rte_be_to_cpu_32(flow->ports) };

	return rte_softrss(tuple, 3, key) % RETA % WORKERS;
}

/* Fails unless each member's share of n flows is its weight's, but for a relative error. */
static void
assert_share(const uint32_t *got, uint32_t n, const struct hy_ip4_member *members,
	unsigned int nb_members, const char *what)
{
	const double most = nb_members <= 8 ? 0.02 : 0.05;
	uint32_t sum = 0;

	for (unsigned int i = 0; i < nb_members; i++)
		sum += members[i].weight;
	for (unsigned int i = 0; i < nb_members; i++) {
		const double due = (double)members[i].weight * n / sum;

		if (fabs(got[i] - due) > most * due)
			fail_msg("%s: member %u of %u, weight %u of %u: %u flows of %u, due %.0f: "
				 "%+.2f %%",
				what, i, nb_members, members[i].weight, sum, got[i], n, due,
				100 * (got[i] - due) / due);
	}
}

static void
all_flows(hash_t *hash, enum kind kind, const struct hy_ip4_member *members, unsigned int n,
	uint32_t id)
{
	const struct hy_ip4_buckets *buckets =
		hy_ip4_group_buckets(&hy_ip4_adjacencies(hy_ip4_fib_view(group_fib))[id]);
	uint32_t got[HY_IP4_GROUP_MEMBERS] = { 0 };
	uint64_t seed = 11;

	for (uint32_t i = 0; i < FLOWS; i++) {
		const struct flow f = flow_of(kind, i, &seed);

		got[hy_ip4_group_member(buckets, hash(buckets->seed, kind, &f))]++;
	}
	assert_share(got, FLOWS, members, n, "all workers");
}

static void
shares_follow_weights(void **state)
{
	unsigned int groups = 0;
	uint64_t seed = 1;

	RTE_SET_USED(state);
	group_table(NULL, 1024);
	for (unsigned int n = 1; n <= HY_IP4_GROUP_MEMBERS; n += n < 8 ? 1 : 7) {
		for (unsigned int kind = 0; kind < KINDS; kind++) {
			struct hy_ip4_member members[HY_IP4_GROUP_MEMBERS];

			group_members(members, n, 0, 1 + kind, &seed);
			all_flows(hash4, kind, members, n, group_create(members, n, HY_IP4_NO_ID));
			groups++;
		}
	}
	assert_int_equal(groups, KINDS * 16);
}

static void
shares_of_ip6_flows_follow_weights(void **state)
{
	static const unsigned int sizes[] = { 3, 8, 64 };
	unsigned int groups = 0;
	uint64_t seed = 4;

	RTE_SET_USED(state);
	group_table(NULL, 1024);
	for (unsigned int s = 0; s < RTE_DIM(sizes); s++) {
		for (unsigned int kind = 0; kind < KINDS6; kind++) {
			struct hy_ip4_member members[HY_IP4_GROUP_MEMBERS];

			group_members(members, sizes[s], 0, 1 + kind % 3, &seed);
			all_flows(hash6, kind, members, sizes[s],
				group_create(members, sizes[s], HY_IP4_NO_ID));
			groups++;
		}
	}
	assert_int_equal(groups, KINDS6 * RTE_DIM(sizes));
}

/* Until each worker had a million. */
static void
workers_flows(hash_t *hash, enum kind kind, const uint8_t *key, const struct hy_ip4_member *members,
	unsigned int n, uint32_t id)
{
	const struct hy_ip4_buckets *buckets =
		hy_ip4_group_buckets(&hy_ip4_adjacencies(hy_ip4_fib_view(group_fib))[id]);
	uint32_t got[WORKERS][HY_IP4_GROUP_MEMBERS] = { { 0 } }, flows[WORKERS] = { 0 };
	uint64_t seed = 12;
	unsigned int full = 0;

	for (uint32_t i = 0; full < WORKERS && i < 5 * FLOWS; i++) {
		const struct flow f = flow_of(kind, i, &seed);
		const unsigned int w = worker_of(&f, key);

		if (flows[w] == FLOWS)
			continue;
		got[w][hy_ip4_group_member(buckets, hash(buckets->seed, kind, &f))]++;
		full += ++flows[w] == FLOWS;
	}
	for (unsigned int w = 0; w < WORKERS; w++) {
		assert_true(flows[w] > FLOWS * 9 / 10);
		assert_share(got[w], flows[w], members, n, "one worker");
	}
}

static void
shares_follow_weights_on_each_worker(void **state)
{
	static const unsigned int sizes[] = { 2, 8, 64 };
	struct hy_ip4_member first[8];
	uint64_t seed = 2;

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < sizeof(both_ways_key); i++)
		both_ways_key[i] = i % 2 == 0 ? 0x6d : 0x5a;
	group_table(NULL, 1024);
	for (unsigned int s = 0; s < RTE_DIM(sizes); s++) {
		for (unsigned int kind = 0; kind < KINDS; kind++) {
			struct hy_ip4_member members[HY_IP4_GROUP_MEMBERS];
			uint32_t id;

			group_members(members, sizes[s], 0, 1 + s % 2, &seed);
			id = group_create(members, sizes[s], HY_IP4_NO_ID);
			workers_flows(hash4, kind, s == 1 ? both_ways_key : usual_key, members,
				sizes[s], id);
		}
	}
	/* IPv6 flows, of which RSS hashes the words in which they differ. */
	group_members(first, RTE_DIM(first), 0, 1, &seed);
	workers_flows(hash6, NEIGHBOURS, usual_key, first, RTE_DIM(first),
		group_create(first, RTE_DIM(first), HY_IP4_NO_ID));
}

/* Routers in a row, with seeds that differ in one bit: the second one uses all of its members. */
static void
a_second_router_has_another_hash(void **state)
{
	const struct hy_ip4_fib_params params = {
		.max_routes = 1, .max_tbl8s = 1, .socket = SOCKET_ID_ANY, .group_seed = 6
	};
	const struct hy_ip4_buckets *first, *second;
	struct hy_ip4_member members[8];
	struct hy_ip4_fib *one = NULL;
	uint32_t got[8] = { 0 }, n = 0, id;
	uint64_t seed = 3;

	RTE_SET_USED(state);
	group_table(NULL, 1024);
	assert_int_equal(hy_ip4_fib_create("second", &params, &one), 0);
	assert_int_equal(hy_ip4_port_add(one, &(struct hy_ip4_port){ .max_len = 1514 }), 0);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(hy_ip4_next_hop_add(one,
					 &(struct hy_ip4_next_hop){ .mac = { { (uint8_t)i } } },
					 &id),
			0);
	group_members(members, 8, 0, 1, &seed);
	assert_int_equal(hy_ip4_group_create(one, members, 8, HY_IP4_NO_ID, &id), 0);
	second = hy_ip4_group_buckets(&hy_ip4_adjacencies(hy_ip4_fib_view(one))[id]);
	first = hy_ip4_group_buckets(&hy_ip4_adjacencies(
		hy_ip4_fib_view(group_fib))[group_create(members, 8, HY_IP4_NO_ID)]);
	for (uint32_t i = 0; i < 8 * FLOWS; i++) {
		const struct flow f = flow_of(NEIGHBOURS, i, &seed);

		if (hy_ip4_group_member(first, hash4(first->seed, NEIGHBOURS, &f)) != 3)
			continue;
		got[hy_ip4_group_member(second, hash4(second->seed, NEIGHBOURS, &f))]++;
		n++;
	}
	hy_ip4_fib_destroy(one);
	assert_true(n > FLOWS * 9 / 10);
	assert_share(got, n, members, 8, "the second router");
}

static const struct CMUnitTest node_group_share_tests[] = {
	GROUP_TEST(shares_follow_weights),
	GROUP_TEST(shares_of_ip6_flows_follow_weights),
	GROUP_TEST(shares_follow_weights_on_each_worker),
	GROUP_TEST(a_second_router_has_another_hash),
};

UNIT_SUITE(node_group_share_tests)
