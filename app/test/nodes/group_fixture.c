/* SPDX-License-Identifier: BSD-3-Clause */
/* A table for the tests of groups. */

#include <math.h>

#include "drivers/nodes/generic/ip4/ip4_fib.h"
#include "group_fixture.h"

struct hy_ip4_fib *group_fib;

void
group_table(struct rte_rcu_qsbr *qsbr, uint32_t max_next_hops)
{
	const struct hy_ip4_fib_params params = { .max_routes = 64,
		.max_tbl8s = 1,
		.max_next_hops = max_next_hops,
		.socket = SOCKET_ID_ANY,
		.qsbr = qsbr,
		.group_seed = 7 };

	assert_int_equal(hy_ip4_fib_create("groups", &params, &group_fib), 0);
	for (uint16_t p = 0; p < GROUP_PORTS; p++) {
		const struct hy_ip4_port port = { .port = p, .max_len = 1514 };

		assert_int_equal(hy_ip4_port_add(group_fib, &port), 0);
	}
	for (uint32_t i = 0; i < GROUP_HOPS; i++) {
		const struct hy_ip4_next_hop hop = { .port = (uint16_t)(i % GROUP_PORTS),
			.mac = { { 6, 0, 0, 0, 0, (uint8_t)i } } };
		uint32_t id;

		assert_int_equal(hy_ip4_next_hop_add(group_fib, &hop, &id), 0);
		assert_int_equal(id, i);
	}
}

void
group_members(struct hy_ip4_member *members, unsigned int n, uint32_t first, uint32_t most,
	uint64_t *seed)
{
	for (unsigned int i = 0; i < n; i++)
		members[i] = (struct hy_ip4_member){ .next_hop = first + i,
			.weight = most <= 1 ? 1 : 1 + rnd(seed) % most };
}

uint32_t
group_create(const struct hy_ip4_member *members, unsigned int n, uint32_t like)
{
	uint32_t id;

	assert_int_equal(hy_ip4_group_create(group_fib, members, n, like, &id), 0);
	return id;
}

void
group_see(uint32_t id, struct group_seen *seen)
{
	const struct hy_ip4_adjacency *adjacency =
		&hy_ip4_adjacencies(hy_ip4_fib_view(group_fib))[id];
	const struct hy_ip4_buckets *buckets = hy_ip4_group_buckets(adjacency);

	assert_true(hy_ip4_is_group(adjacency));
	seen->n = buckets->mask + 1;
	assert_true(seen->n <= HY_IP4_GROUP_BUCKETS && rte_is_power_of_2(seen->n));
	for (uint32_t b = 0; b < seen->n; b++)
		seen->member[b] = hy_ip4_group_member(buckets, b);
}

uint32_t
group_count(const struct group_seen *seen, uint32_t next_hop)
{
	uint32_t n = 0;

	for (uint32_t b = 0; b < seen->n; b++)
		n += seen->member[b] == next_hop;
	return n;
}

uint32_t
group_at(const struct group_seen *seen, uint32_t hash)
{
	return seen->member[hash & (seen->n - 1)];
}

void
group_assert_shares(const struct group_seen *seen, const struct hy_ip4_member *members,
	unsigned int n, double error)
{
	uint32_t sum = 0, all = 0;

	for (unsigned int i = 0; i < n; i++)
		sum += members[i].weight;
	for (unsigned int i = 0; i < n; i++) {
		const uint32_t has = group_count(seen, members[i].next_hop);
		const double due = (double)members[i].weight * seen->n / sum;

		all += has;
		if (fabs(has - due) >= error)
			fail_msg("member %u of %u, weight %u of %u: %u buckets of %u, due %.2f", i,
				n, members[i].weight, sum, has, seen->n, due);
	}
	assert_int_equal(all, seen->n); /* and none has any other */
}

int
group_teardown(void **state)
{
	rig_clear();
	hy_ip4_fib_destroy(group_fib);
	group_fib = NULL;
	return node_teardown(state);
}
