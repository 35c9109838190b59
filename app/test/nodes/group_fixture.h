/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of groups share: a table with ports and next hops, and buckets as workers see them. */
#pragma once

#include <hy_ip4_group.h>
#include <hy_ip4_group_view.h>

#include "node_fixture.h"

#define GROUP_PORTS 8
#define GROUP_HOPS 80 /* hop i has id i, on port i % GROUP_PORTS */

/* The table, from group_table() to group_teardown(). */
extern struct hy_ip4_fib *group_fib;

/* A group's buckets, as workers see them at one time. */
struct group_seen {
	uint32_t n;
	uint32_t member[HY_IP4_GROUP_BUCKETS];
};

void group_table(struct rte_rcu_qsbr *qsbr, uint32_t max_next_hops);
/* Members with ids first and so on; weights 1, or from 1 to most. */
void group_members(struct hy_ip4_member *members, unsigned int n, uint32_t first, uint32_t most,
	uint64_t *seed);
/* Creates a group like an id; returns its id. */
uint32_t group_create(const struct hy_ip4_member *members, unsigned int n, uint32_t like);
void group_see(uint32_t id, struct group_seen *seen);
/* Buckets of a next hop. */
uint32_t group_count(const struct group_seen *seen, uint32_t next_hop);
/* What a hash meant before and after, of so many hashes as the larger table has buckets. */
uint32_t group_at(const struct group_seen *seen, uint32_t hash);
/* Fails unless each member's buckets are its share, but for an error, in buckets, of less than this. */
void group_assert_shares(const struct group_seen *seen, const struct hy_ip4_member *members,
	unsigned int n, double error);

int group_teardown(void **state);
#define GROUP_TEST(f) cmocka_unit_test_setup_teardown(f, node_setup, group_teardown)
