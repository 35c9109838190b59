/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * IPv4 forwarding table: ports, next hops and routes, and the configuration of the nodes that read
 * it, ip4_lookup and ip4_rewrite.
 *
 * One control thread writes; any number of workers read while it does. Ports are fixed before the
 * first graph is created; next hops and routes can be added at any time. Addresses are in host
 * byte order.
 */
#ifndef HY_IP4_H
#define HY_IP4_H

#include <stdbool.h>

#include <rte_ether.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct hy_ip4_fib;

/** Sizes of a table. 0 takes the default in brackets. */
struct hy_ip4_fib_params {
	uint32_t max_routes;    /**< [1,048,576] */
	uint32_t max_tbl8s;     /**< Tables for prefixes longer than /24, 1 KB each [4,096]. */
	uint32_t max_next_hops; /**< At most 2^24 [65,536]. */
	int socket;             /**< NUMA node, or SOCKET_ID_ANY. */
};

/**
 * Creates a table without routes. It takes 64 MB for the first 24 bits of an address.
 *
 * @param name At most 24 bytes, unique among the process's LPM tables.
 * @return 0; -EINVAL; -EEXIST; -ENOMEM.
 */
int hy_ip4_fib_create(const char *name, const struct hy_ip4_fib_params *params,
	struct hy_ip4_fib **fib);

/** Frees a table. No graph may use it any more. NULL is allowed. */
void hy_ip4_fib_destroy(struct hy_ip4_fib *fib);

/** @return The NUMA node that the table was created for. */
int hy_ip4_fib_socket(const struct hy_ip4_fib *fib);

/** A port that next hops can be behind. */
struct hy_ip4_port {
	uint16_t port;             /**< Less than RTE_MAX_ETHPORTS. */
	struct rte_ether_addr mac; /**< Source address of what it sends. */
	uint32_t max_len;          /**< Longest frame that it sends, in bytes, without CRC. */
};

/** Adds a port. @return 0; -EINVAL; -EEXIST; -EBUSY a graph uses the table already. */
int hy_ip4_port_add(struct hy_ip4_fib *fib, const struct hy_ip4_port *port);

/**
 * Adds a next hop.
 *
 * @param mac Its address, the destination of what is sent to it.
 * @param[out] id For hy_ip4_route_add().
 * @return 0; -ENODEV no such port was added; -ENOSPC.
 */
int hy_ip4_next_hop_add(struct hy_ip4_fib *fib, uint16_t port, const struct rte_ether_addr *mac,
	uint32_t *id);

/**
 * Adds a route.
 *
 * @param prefix Bits beyond @p depth are 0.
 * @param depth 0 to 32.
 * @return 0; -EINVAL depth, or bits beyond it; -ENOENT no such next hop; -EEXIST the prefix has a
 * route; -ENOSPC.
 */
int hy_ip4_route_add(struct hy_ip4_fib *fib, uint32_t prefix, uint8_t depth, uint32_t next_hop);

/**
 * Looks an address up, as the nodes do.
 *
 * @param[out] next_hop Its id.
 * @return 0; -ENOENT no route.
 */
int hy_ip4_lookup(const struct hy_ip4_fib *fib, uint32_t dst, uint32_t *next_hop);

/**
 * Configuration of ip4_lookup, for hy_node_config(). A graph takes the table of its NUMA node, or
 * the first one if there is none. Tables must outlive the graphs.
 */
struct hy_ip4_lookup_config {
	struct hy_ip4_fib *fibs[RTE_MAX_NUMA_NODES]; /**< At most one a NUMA node. */
	unsigned int nb_fibs;                        /**< At least 1. */
};

/** A range of addresses. */
struct hy_ip4_prefix {
	uint32_t address; /**< Host byte order; bits beyond depth do not count. */
	uint8_t depth;    /**< 0 to 32; 0 is every address. */
};

/** A choice of packets; zeroes are no condition. */
struct hy_ip4_filter {
	struct hy_ip4_prefix src; /**< Where they come from. */
	struct hy_ip4_prefix dst; /**< Where they are to go. */
	bool has_proto;           /**< Whether proto counts. */
	uint8_t proto;            /**< The protocol field of the header. */
};

/**
 * Whether a packet is Ethernet, untagged, with an IPv4 header that a filter lets pass. A
 * hy_trace_match_t for graphs of packets.
 *
 * @param obj A struct rte_mbuf.
 * @param filter A struct hy_ip4_filter. It must not change while it is in use.
 */
bool hy_ip4_filter_match(const void *obj, void *filter);

#define HY_IP4_NO_EDGE UINT16_MAX /**< Of a port that the table does not have. */

/** Configuration of ip4_rewrite. The tables are those of ip4_lookup. */
struct hy_ip4_rewrite_config {
	struct hy_ip4_lookup_config tables; /**< As for ip4_lookup. */
	/** The node's edge to the ethdev_tx node of each port; HY_IP4_NO_EDGE without one. */
	uint16_t edge[RTE_MAX_ETHPORTS];
};

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
