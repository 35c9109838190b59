/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups of next hops, for the files that implement them:
 *
 * ip4_group.c        what users change and read; under the table's mutex
 * ip4_group_table.c  one group's buckets: their memory, who has them, and what workers see of it
 * ip4_group_link.c   members whose port is down
 * ip4_group_share.c  how buckets are dealt out
 * ip4_group_flow.c   the scalar kernel that finds members; ip4_group_kernel_*.c are the others
 */
#pragma once

#include <hy_ip4_group.h>
#include <hy_ip4_group_view.h>

#define IP4_NOBODY UINT8_MAX /* in place of a member's index: a bucket has none */
#define IP4_ALL UINT64_MAX   /* all members, as bits */

/* Who has each bucket, by index of the member. */
struct ip4_deal {
	uint8_t *owner;
	const uint8_t *kept; /* nobody is taken a bucket that it also has here; NULL: any */
	uint32_t nb_buckets;
	unsigned int n;                        /* members */
	uint32_t weight[HY_IP4_GROUP_MEMBERS]; /* 0: gets none */
	uint64_t takers; /* bits: members that take from those with more than their share */
};

/*
 * Gives the buckets that have nobody to those furthest below their share. Then takers take from those
 * furthest above: some, no more than their share; all, until shares are as right as they can be.
 */
void ip4_deal(struct ip4_deal *deal);

struct ip4_group {
	struct hy_ip4_buckets *buckets; /* what workers read */
	uint32_t nb_buckets;
	uint8_t *home;   /* by bucket, the member to which it belongs */
	uint8_t *stands; /* the one that has it now: another, while the port of that is down */
	unsigned int n;
	struct hy_ip4_member members[HY_IP4_GROUP_MEMBERS];
	uint64_t up; /* bits: members, as of the last ip4_group_stand() */
};

/* Buckets for members of these weights: a power of two. */
uint32_t ip4_group_size(const struct hy_ip4_member *members, unsigned int n);
/*
 * A group of these members, of which no bucket is dealt out and no worker knows; as many buckets as like
 * has, or more, which may be NULL. Returns NULL if there is no memory.
 */
struct ip4_group *ip4_group_new(const struct hy_ip4_fib *fib, const struct hy_ip4_member *members,
	unsigned int n, const struct ip4_group *like);
void ip4_group_free(struct ip4_group *group);
/* Deals buckets out, to begin with as they are in old, of which next hops are members, or NULL. */
void ip4_group_deal(struct ip4_group *group, const struct ip4_group *old);
/*
 * Makes those stand in whose ports are up, and shows workers. Only flows that are not with their own
 * member move a second time, and only if members are back, or there are others (anew).
 */
void ip4_group_stand(const struct hy_ip4_fib *fib, struct ip4_group *group, bool anew);

/* Whether others of its members are up than at the last ip4_group_stand(). */
bool ip4_group_differs(const struct hy_ip4_fib *fib, const struct ip4_group *group);

/* After a port or a next hop changed: members leave and return. */
void ip4_groups_follow(struct hy_ip4_fib *fib);

/*
 * A kernel: makes ids of groups those of the members that frames take; others stay. At least the first
 * frame's is a group's.
 *
 * @param frame The bytes that hy_ip4_flow_hash() reads are contiguous in each.
 * @param len Their lengths in bytes, at least those of Ethernet and IPv4 headers.
 */
typedef void(ip4_members_t)(const struct hy_ip4_adjacency *adjacencies,
	const uint8_t *const frame[], const uint32_t len[], uint32_t id[], uint32_t n);

/* One after another. */
ip4_members_t ip4_members_singly;

#ifdef RTE_ARCH_X86_64
ip4_members_t ip4_members_avx2, ip4_members_avx512;
#elif defined(RTE_ARCH_ARM64)
ip4_members_t ip4_members_neon;
#endif

/* Of packets in any segments: writes to id[] what the kernel makes of route[]. */
void ip4_members_find(const struct hy_ip4_adjacency *adjacencies, void **objs,
	const uint32_t route[], uint32_t id[], uint32_t n, ip4_members_t *kernel);
/* Of one packet; adjacency is that of its group. */
uint32_t ip4_member_of(const struct hy_ip4_adjacency *adjacency, const struct rte_mbuf *m);
