/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * IPv6 forwarding table: routes to the next hops of an IPv4 table (hy_ip4.h), and the configuration of
 * the nodes that read it, ip6_lookup and ip6_rewrite, and pkt_cls.
 *
 * Both families share ports, next hops, and groups of these (hy_ip4_group.h): an id of
 * hy_ip4_next_hop_add() or hy_ip4_group_create() is valid in routes of both. Neither can be deleted
 * while an IPv6 route uses it, and until no worker can find it by a route any more.
 *
 * IPv6 is *on* while the table has a route. Until then it takes no memory beside its own structure,
 * and pkt_cls drops IPv6 frames as "not_ip4".
 *
 * Routes are replaced as a whole: hy_ip6_routes_prepare() builds what workers read beside the routes
 * in use, and hy_ip6_routes_exchange() shows it to workers by one store, so that a packet is looked up
 * in the old routes or in the new ones. A program with several tables prepares all, and then exchanges
 * all, since only preparing can fail.
 *
 * One control thread changes a table; any thread but a worker may read it with the functions below,
 * which take a mutex. Addresses are in network byte order. Functions return 0 or a negative errno.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hy_ip4.h>

HY_API_BEGIN

#define HY_IP6_BYTES 16 /**< Bytes of an address. */

struct hy_ip6_fib;
struct hy_ip6_set;

/** A route. */
struct hy_ip6_route {
	uint8_t prefix[HY_IP6_BYTES]; /**< As on the wire; bits beyond depth must be 0. */
	uint8_t depth;                /**< 0 to 128. */
	uint32_t next_hop;            /**< Id of its next hop, or of a group of them. */
};

/**
 * Orders routes by prefix, then depth, for qsort(3).
 *
 * @param a A struct hy_ip6_route.
 * @param b Another one.
 */
int hy_ip6_route_order(const void *a, const void *b);

/**
 * Creates a table without routes, on the NUMA node of the next hops.
 *
 * @param next_hops The table that has its ports and next hops, and whose QSBR variable its workers
 * report to. It must outlive this one.
 * @return 0; -ENOMEM.
 */
int hy_ip6_fib_create(struct hy_ip4_fib *next_hops, struct hy_ip6_fib **fib);

/**
 * Frees a table and its routes. No graph may use it. NULL is allowed.
 *
 * Waits up to a second until every thread has reported to the QSBR variable.
 */
void hy_ip6_fib_destroy(struct hy_ip6_fib *fib);

/** @return The table of its next hops. */
struct hy_ip4_fib *hy_ip6_fib_next_hops(const struct hy_ip6_fib *fib);

/**
 * Builds a set of routes, which no worker sees yet. Memory of earlier sets that workers have left is
 * freed first.
 *
 * @param routes In any order. Copied.
 * @param n 0: a set that turns IPv6 off.
 * @param[out] set To be exchanged or discarded.
 * @param[out] at Index of the route that is refused, @p n if the error concerns none in particular.
 * NULL is allowed.
 * @return 0; -EINVAL a depth above 128 or bits beyond it; -ENOENT no such next hop or group; -EEXIST the
 * prefix occurs twice; -EBUSY a graph uses the table, which has no QSBR variable; -ENOSPC more routes
 * than 2^26; -ENOMEM.
 */
int hy_ip6_routes_prepare(struct hy_ip6_fib *fib, const struct hy_ip6_route *routes, uint32_t n,
	struct hy_ip6_set **set, uint32_t *at);

/**
 * Shows a set to workers. Cannot fail.
 *
 * @param[in,out] set A set of this table; then the one that it replaces, which may be exchanged back,
 * and is to be discarded otherwise.
 */
void hy_ip6_routes_exchange(struct hy_ip6_fib *fib, struct hy_ip6_set **set);

/**
 * Frees a set that is not shown. If workers may still read it, the table frees it later: in
 * hy_ip6_routes_reap(), or when another set is prepared or discarded. NULL is allowed.
 */
void hy_ip6_routes_discard(struct hy_ip6_fib *fib, struct hy_ip6_set *set);

/**
 * Waits up to a second until workers have left discarded sets, and frees these, so that their memory
 * and next hops do not wait for another change.
 *
 * @return Whether all are freed.
 */
bool hy_ip6_routes_reap(struct hy_ip6_fib *fib);

/** Prepares, exchanges and discards. @return As hy_ip6_routes_prepare(). */
int hy_ip6_routes_set(struct hy_ip6_fib *fib, const struct hy_ip6_route *routes, uint32_t n,
	uint32_t *at);

/**
 * Copies the routes that are shown, in their order.
 *
 * @param[out] routes Room for @p n. Nothing is written if the table has more routes.
 * @return Number of routes in the table.
 */
uint32_t hy_ip6_routes_get(struct hy_ip6_fib *fib, struct hy_ip6_route *routes, uint32_t n);

/** @return Bytes that workers' form of the routes takes; 0: IPv6 is off. */
size_t hy_ip6_routes_bytes(struct hy_ip6_fib *fib);

/**
 * Looks an address up as the nodes do.
 *
 * @param[out] next_hop Id of its next hop or group.
 * @return 0; -ENOENT no route.
 */
int hy_ip6_lookup(struct hy_ip6_fib *fib, const uint8_t dst[HY_IP6_BYTES], uint32_t *next_hop);

/**
 * Finds the route of an address together with its next hop.
 *
 * @param[out] next_hop Of a route to a group, one whose port is HY_IP4_PORTS, and no address.
 * @return 0; -ENOENT no route.
 */
int hy_ip6_route_lookup(struct hy_ip6_fib *fib, const uint8_t dst[HY_IP6_BYTES],
	struct hy_ip6_route *route, struct hy_ip4_next_hop *next_hop);

/** Name for hy_hal_declare(), for the selection of a variant of ip6_lookup. */
#define HY_IP6_ROUTES "ip6_routes" /**< Value: expected number of routes. */

/**
 * Configuration of ip6_lookup, for hy_node_config(). A graph uses the table of its NUMA node, or else
 * the first one. Tables must outlive the graphs.
 */
struct hy_ip6_lookup_config {
	struct hy_ip6_fib *fibs[RTE_MAX_NUMA_NODES]; /**< At most one per NUMA node. */
	unsigned int nb_fibs;                        /**< At least 1. */
};

/** Configuration of ip6_rewrite. The tables are those of ip6_lookup. */
struct hy_ip6_rewrite_config {
	struct hy_ip6_lookup_config tables; /**< As for ip6_lookup. */
	/** The node's edge to the node that sends on each port, or HY_IP4_NO_EDGE. */
	uint16_t edge[HY_IP4_PORTS];
};

HY_API_END
