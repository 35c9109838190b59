/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One group's buckets. Each belongs to a member, its home. While that one's port is down, another stands
 * in. So a member that returns gets the flows back that it had, and nobody else's move.
 *
 * Workers read an array of ids, which changes in place, a word at a time. Only more buckets need another
 * array: bucket b of n becomes buckets b and b + n, so that no flow moves by that.
 */

#include <stdlib.h>
#include <string.h>

#include <rte_common.h>
#include <rte_malloc.h>

#include "drivers/nodes/generic/ip4/ip4_fib.h"
#include "ip4_group.h"

/* Buckets of the member of the lowest weight: shares are right to 1 %, of few members to half of that. */
#define LEAST(n) ((n) <= 8 ? 256u : 128u)

uint32_t
ip4_group_size(const struct hy_ip4_member *members, unsigned int n)
{
	uint32_t sum = 0, lowest = UINT32_MAX;

	for (unsigned int i = 0; i < n; i++) {
		sum += members[i].weight;
		lowest = RTE_MIN(lowest, members[i].weight);
	}
	/* The sum is at most 64 * 255. */
	return RTE_MIN(rte_align32pow2((LEAST(n) * sum + lowest - 1) / lowest),
		HY_IP4_GROUP_BUCKETS);
}

/* Both words depend on the whole seed, so that alike seeds make unlike hashes. */
static void
seed_write(uint32_t seed[2], uint32_t number)
{
	static const uint32_t zero[2];

	seed[0] = hy_flow_hash(zero, 1, number, 0, 0);
	seed[1] = hy_flow_hash(zero, 2, number, 0, 0);
}

/* The first n members, as bits. */
static uint64_t
first_members(unsigned int n)
{
	return n < HY_IP4_GROUP_MEMBERS ? (UINT64_C(1) << n) - 1 : IP4_ALL;
}

struct ip4_group *
ip4_group_new(const struct hy_ip4_fib *fib, const struct hy_ip4_member *members, unsigned int n,
	const struct ip4_group *like)
{
	const uint32_t size = ip4_group_size(members, n);
	const uint32_t nb = like == NULL ? size : RTE_MAX(size, like->nb_buckets);
	struct ip4_group *group = calloc(1, sizeof(*group) + 2 * (size_t)nb);

	if (group == NULL)
		return NULL;
	group->buckets = rte_zmalloc_socket("hy_ip4_buckets",
		sizeof(*group->buckets) + nb * sizeof(group->buckets->member[0]),
		RTE_CACHE_LINE_SIZE, fib->params.socket);
	if (group->buckets == NULL) {
		free(group);
		return NULL;
	}
	group->nb_buckets = nb;
	group->home = (uint8_t *)(group + 1);
	group->stands = group->home + nb;
	group->n = n;
	group->up = first_members(n);
	memcpy(group->members, members, n * sizeof(*members));
	memset(group->home, IP4_NOBODY, 2 * (size_t)nb);
	group->buckets->mask = nb - 1;
	seed_write(group->buckets->seed, fib->params.group_seed);
	return group;
}

void
ip4_group_free(struct ip4_group *group)
{
	if (group != NULL)
		rte_free(group->buckets);
	free(group);
}

/* What became of an old member: its index, or IP4_NOBODY. */
static uint8_t
now_of(const struct ip4_group *group, const struct ip4_group *old, uint8_t before)
{
	for (unsigned int i = 0; before != IP4_NOBODY && i < group->n; i++)
		if (group->members[i].next_hop == old->members[before].next_hop)
			return (uint8_t)i;
	return IP4_NOBODY;
}

/* Takes over who has what. Returns the members that were none before; all, if other weights changed. */
static uint64_t
inherit(struct ip4_group *group, const struct ip4_group *old)
{
	uint64_t new = IP4_ALL;
	uint8_t now[UINT8_MAX + 1];
	bool alike = true;

	memset(now, IP4_NOBODY, sizeof(now));
	for (uint8_t i = 0; i < old->n; i++) {
		const uint8_t at = now[i] = now_of(group, old, i);

		if (at == IP4_NOBODY)
			continue;
		new &= ~(UINT64_C(1) << at);
		alike &= old->members[i].weight == group->members[at].weight;
	}
	for (uint32_t b = 0; b < group->nb_buckets; b++) {
		group->home[b] = now[old->home[b & (old->nb_buckets - 1)]];
		group->stands[b] = now[old->stands[b & (old->nb_buckets - 1)]];
	}
	return alike ? new : IP4_ALL;
}

void
ip4_group_deal(struct ip4_group *group, const struct ip4_group *old)
{
	struct ip4_deal deal = {
		.owner = group->home, .nb_buckets = group->nb_buckets, .n = group->n
	};

	if (old != NULL)
		deal.takers = inherit(group, old);
	for (unsigned int i = 0; i < group->n; i++)
		deal.weight[i] = group->members[i].weight;
	ip4_deal(&deal);
}

/* Members whose ports are up; all, if none is. */
static uint64_t
ups(const struct hy_ip4_fib *fib, const struct ip4_group *group)
{
	uint64_t up = 0;

	for (unsigned int i = 0; i < group->n; i++) {
		const uint16_t port = fib->view.adjacencies[group->members[i].next_hop].port;

		up |= (uint64_t)!fib->port_down[port] << i;
	}
	return up != 0 ? up : first_members(group->n);
}

bool
ip4_group_differs(const struct hy_ip4_fib *fib, const struct ip4_group *group)
{
	return ups(fib, group) != group->up;
}

static void
show(struct ip4_group *group)
{
	for (uint32_t b = 0; b < group->nb_buckets; b++) {
		const uint32_t id = group->members[group->stands[b]].next_hop;
		uint32_t *shown = &group->buckets->member[b];

		if (*shown != id) /* release: its adjacency is there, or it would be no member */
			__atomic_store_n(shown, id, __ATOMIC_RELEASE);
	}
}

void
ip4_group_stand(const struct hy_ip4_fib *fib, struct ip4_group *group, bool anew)
{
	struct ip4_deal deal = { .owner = group->stands,
		.kept = group->home,
		.nb_buckets = group->nb_buckets,
		.n = group->n };
	const uint64_t up = ups(fib, group);

	/* Who is up again, or new, is due a part of what others stand in for. */
	deal.takers = anew || (up & ~group->up) != 0 ? IP4_ALL : 0;
	group->up = up;
	for (unsigned int i = 0; i < group->n; i++)
		deal.weight[i] = (up >> i & 1) != 0 ? group->members[i].weight : 0;
	for (uint32_t b = 0; b < group->nb_buckets; b++)
		if (deal.weight[group->home[b]] > 0)
			group->stands[b] = group->home[b];
	ip4_deal(&deal);
	show(group);
}
