/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Groups of next hops: a route that leads to a group shares its flows among the group's members, by
 * weight. A group has an id of its own among those of the table's next hops (hy_ip4.h). Whatever takes
 * the id of a next hop to look packets up, such as a route of either family, takes that of a group.
 *
 * **Flows.** The member is chosen by a hash of the packet's flow: its addresses and protocol, and the
 * ports of TCP, UDP and SCTP. All fragments of a datagram have the hash of addresses and protocol, the
 * first one too, since later ones have no ports; so have IPv4 packets that end before their ports. Of IPv6
 * packets without ports behind the fixed header, the flow label counts (hy_ip6_group_view.h). The hash
 * depends on a seed (struct hy_ip4_fib_params). Routers in a row need different seeds: else the second
 * one sees only flows for which the first one's hash was alike. The hash is none that NICs compute, so
 * that the share of a member is the same for each queue that a NIC spreads flows over.
 *
 * **Shares.** A group has 2^k buckets: for the member of the lowest weight at least 256, or 128 in groups
 * of more than eight members, but 65,536 at most in all. A flow belongs to a bucket, and a bucket to a
 * member. Members have buckets in proportion to their weights, with an error of a bucket or two.
 *
 * **Resilience.** A flow moves to another member only if it must. If a member goes, only the buckets
 * that it had are given to others. A new member takes no more than its share. If the port of a member
 * is down (hy_ip4_port_link()), others stand in for it, and it gets its own flows back once the port
 * is up; flows of others stay where they are. While the ports of all members are down, packets go to
 * their own member, as those of a route with one next hop do.
 *
 * Threads, grace periods and the errors -EBUSY, -ETIMEDOUT and -ENOMEM are those of hy_ip4.h. Buckets
 * change one by one: during a change, a flow is with its old or its new member.
 */
#pragma once

#include <stdbool.h>

#include <hy_ip4.h>

HY_API_BEGIN

#define HY_IP4_GROUP_MEMBERS 64         /**< Most members of a group. */
#define HY_IP4_GROUP_WEIGHT 255         /**< Highest weight of a member. */
#define HY_IP4_GROUP_BUCKETS (1u << 16) /**< Most buckets of a group. */
#define HY_IP4_NO_ID UINT32_MAX         /**< In place of an id: none. */

/** A member of a group. */
struct hy_ip4_member {
	uint32_t next_hop; /**< Id of a next hop, not of a group. */
	uint32_t weight;   /**< 1 to HY_IP4_GROUP_WEIGHT. */
};

/** A group, and the state of its members. */
struct hy_ip4_group {
	unsigned int nb_members; /**< Entries of the arrays. */
	uint32_t nb_buckets;     /**< Of all members. */
	uint32_t routes;         /**< IPv4 routes that lead to the group. */
	/** IPv6 routes that do, of all sets (hy_ip6.h) that are not freed yet. */
	uint32_t ip6_routes;
	struct hy_ip4_member
		members[HY_IP4_GROUP_MEMBERS];  /**< In the order in which they were given. */
	uint32_t buckets[HY_IP4_GROUP_MEMBERS]; /**< That each has now. */
	bool up[HY_IP4_GROUP_MEMBERS];          /**< Its port is not known to be down. */
};

/**
 * Creates a group.
 *
 * @param n Entries of @p members, 1 to HY_IP4_GROUP_MEMBERS, no next hop twice.
 * @param like Id of a group or a next hop, or HY_IP4_NO_ID. The flows start with the members that they
 * have there, and move only as hy_ip4_group_set() moves them. For a route that is to lead from there
 * to the new group.
 * @param[out] id The group's id, for routes.
 * @return 0; -EINVAL wrong number of members or weight, or a next hop twice; -ENOENT no such next hop;
 * -ENOSPC max_next_hops is reached, which counts groups, too; -EBUSY; -ETIMEDOUT; -ENOMEM.
 */
int hy_ip4_group_create(struct hy_ip4_fib *fib, const struct hy_ip4_member *members, unsigned int n,
	uint32_t like, uint32_t *id);

/**
 * Replaces the members of a group. Next hops that are members before and after keep their flows, but
 * for those that new members, or other weights, take from them.
 *
 * @return 0; -ENOENT no such group or next hop; else as hy_ip4_group_create().
 */
int hy_ip4_group_set(struct hy_ip4_fib *fib, uint32_t id, const struct hy_ip4_member *members,
	unsigned int n);

/** Reads a group. @return 0; -ENOENT no such group. */
int hy_ip4_group_get(struct hy_ip4_fib *fib, uint32_t id, struct hy_ip4_group *group);

/**
 * Deletes a group. Its id is reused once no worker can hold it any more.
 *
 * @return 0; -ENOENT no such group; -EBUSY, also while routes lead to it, or a worker may still read an
 * IPv6 route that did.
 */
int hy_ip4_group_delete(struct hy_ip4_fib *fib, uint32_t id);

/**
 * Says whether a port can send. Members on a port that cannot leave their groups, and return with it.
 * Ports are up until this says otherwise. Other routes are not affected.
 *
 * @return 0; -ENODEV the table does not have the port.
 */
int hy_ip4_port_link(struct hy_ip4_fib *fib, uint16_t port, bool up);

HY_API_END
