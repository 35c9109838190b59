/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * IPv4 forwarding table: ports, next hops and routes, and the configuration of the nodes that read
 * it, ip4_lookup and ip4_rewrite.
 *
 * Any thread may change or read a table with the functions below. They take its mutex, and workers
 * must not call them. Workers read the table through the nodes, without a lock, while it changes: a
 * packet sees each route and each next hop either as before a change or as after it. Memory that a
 * change frees is reused only after every graph that uses the table has finished its current walk and
 * reported that to the table's QSBR variable.
 *
 * Addresses are in host byte order. Functions return 0 or a negative errno. Three errors have the same
 * meaning everywhere, and leave the table unchanged:
 *
 * - -EBUSY: a graph uses the table, the table has no QSBR variable, and a worker may be reading what
 *   the change would free;
 * - -ETIMEDOUT: the change needs memory that was freed earlier, and a worker did not finish its walk
 *   within a second;
 * - -ENOMEM: out of memory.
 */
#pragma once

#include <stdint.h>

#include <rte_ether.h>

#include <hy_api.h>

HY_API_BEGIN

struct hy_ip4_fib;
struct rte_rcu_qsbr;

/** The library that looks routes up, and its lookup function. */
enum hy_ip4_engine {
	HY_IP4_LPM,        /**< rte_lpm: 64 MB, changes in place. */
	HY_IP4_FIB,        /**< rte_fib (DIR24_8), with its scalar lookup. */
	HY_IP4_FIB_AVX512, /**< rte_fib (DIR24_8), with its AVX-512 lookup. */
};

/**
 * Finds the engine whose tables a variant reads (hy_variant.engine). Graph creation refuses a variant
 * that names an unknown engine.
 *
 * @param variant Name of a variant of ip4_lookup, as selected by the HAL.
 * @return The engine; HY_IP4_LPM if the variant names none or does not exist.
 */
enum hy_ip4_engine hy_ip4_engine_of(const char *variant);

/** Parameters of a table. A size of 0 selects the default in brackets. */
struct hy_ip4_fib_params {
	enum hy_ip4_engine engine; /**< The library; see hy_ip4_engine_of(). */
	/** Most routes, not counting the default route [262,144]. Each takes about 420 bytes, used or not. */
	uint32_t max_routes;
	/** Most tbl8s: tables of up to 1 KB, one for each /24 with longer prefixes [4,096]. */
	uint32_t max_tbl8s;
	/**
	 * Most next hops and groups of them, at most 2^24 [32,767]. Their array grows on demand. With
	 * more than 32,767, or about as many tbl8s, rte_fib needs entries of 4 bytes instead of 2: 64 MB
	 * instead of 32.
	 */
	uint32_t max_next_hops;
	int socket; /**< NUMA node, or SOCKET_ID_ANY. */
	/**
	 * The variable that all graphs of the table report to (struct hy_graph_params). It must
	 * outlive the table. With NULL, a table in use by a graph accepts new next hops and, with
	 * rte_lpm only, new routes one at a time, but no other change.
	 *
	 * An rte_fib cannot change under readers. From the first change under readers on, such a table
	 * has two copies and takes twice the memory, and each set of changes publishes the other copy.
	 */
	struct rte_rcu_qsbr *qsbr;
	uint32_t group_seed; /**< Of the flow hashes of groups (hy_ip4_group.h). Any value. */
};

/**
 * Creates a table without routes.
 *
 * @param name 1 to 16 bytes, unique among the process's tables.
 * @return 0; -EINVAL; -EEXIST; -ENOMEM; -ENOTSUP the CPU or EAL's vector width does not support the
 * engine's lookup function.
 */
int hy_ip4_fib_create(const char *name, const struct hy_ip4_fib_params *params,
	struct hy_ip4_fib **fib);

/**
 * Frees a table. No graph may use it. NULL is allowed.
 *
 * Waits up to a second until every thread has reported to the QSBR variable. If one does not, rte_lpm
 * may leak the memory whose reuse it deferred, and no table of rte_lpm can have this name again.
 */
void hy_ip4_fib_destroy(struct hy_ip4_fib *fib);

/** @return The NUMA node of the table, as in its parameters. */
int hy_ip4_fib_socket(const struct hy_ip4_fib *fib);

/**
 * Ports have numbers less than this: those of ethdev, and above them any that a program gives, such as
 * to VLAN interfaces.
 */
#define HY_IP4_PORTS (RTE_MAX_ETHPORTS + 256)

/** A port that next hops can use. */
struct hy_ip4_port {
	uint16_t port;             /**< Less than HY_IP4_PORTS. */
	struct rte_ether_addr mac; /**< Source address of the frames that it sends. */
	uint32_t max_len;          /**< Longest frame that it sends, in bytes without CRC. */
};

/** Adds a port. @return 0; -EINVAL; -EEXIST; -EBUSY a graph already uses the table. */
int hy_ip4_port_add(struct hy_ip4_fib *fib, const struct hy_ip4_port *port);

/** A next hop: where to send packets. */
struct hy_ip4_next_hop {
	uint16_t port;             /**< A port of the table. */
	struct rte_ether_addr mac; /**< Destination address of the frames. */
};

/**
 * Adds a next hop, or finds the existing one with the same port and address.
 *
 * @param[out] id Its id, for routes. Ids are small and dense.
 * @return 0; -ENODEV the table does not have the port; -ENOSPC max_next_hops is reached; -EBUSY;
 * -ETIMEDOUT; -ENOMEM.
 */
int hy_ip4_next_hop_add(struct hy_ip4_fib *fib, const struct hy_ip4_next_hop *next_hop,
	uint32_t *id);

/**
 * Changes the port or address of a next hop, for all its routes at once: a neighbour's address has
 * changed, or it has moved to another port.
 *
 * @return 0; -ENOENT no such next hop; -ENODEV the table does not have the port; -EEXIST another id
 * has this port and address; -EBUSY; -ETIMEDOUT; -ENOMEM.
 */
int hy_ip4_next_hop_set(struct hy_ip4_fib *fib, uint32_t id,
	const struct hy_ip4_next_hop *next_hop);

/**
 * Reads a next hop.
 *
 * @param[out] routes Number of routes that use it. NULL is allowed.
 * @return 0; -ENOENT.
 */
int hy_ip4_next_hop_get(struct hy_ip4_fib *fib, uint32_t id, struct hy_ip4_next_hop *next_hop,
	uint32_t *routes);

/**
 * Deletes a next hop. Its id is reused once no worker can hold it any more.
 *
 * @return 0; -ENOENT; -EBUSY, also while routes, groups or a node of hy_ip4_steer.h use it.
 */
int hy_ip4_next_hop_delete(struct hy_ip4_fib *fib, uint32_t id);

/** @return An upper bound: all ids of next hops and groups are less. Some below it may be free. */
uint32_t hy_ip4_next_hops(struct hy_ip4_fib *fib);

/** A route. */
struct hy_ip4_route {
	uint32_t prefix;   /**< Bits beyond depth must be 0. */
	uint8_t depth;     /**< 0 to 32. */
	uint32_t next_hop; /**< Id of its next hop, or of a group of them (hy_ip4_group.h). */
};

/** What to do with a route. */
enum hy_ip4_verb {
	HY_IP4_ADD,     /**< Adds it. The prefix must not have a route. */
	HY_IP4_REPLACE, /**< Adds it, or changes the next hop of the prefix's route. */
	HY_IP4_DELETE,  /**< Deletes the prefix's route. next_hop is ignored. */
};

/** One change. */
struct hy_ip4_change {
	enum hy_ip4_verb verb;     /**< What to do. */
	struct hy_ip4_route route; /**< The route. */
};

/**
 * Applies changes in the order of the array, all or none. Also the fastest way to load many routes.
 * Workers may see the changes one by one, and for a while the changes of a call that fails.
 *
 * @param[out] at Index of the change that failed, @p n if the error concerns none in particular. NULL
 * is allowed.
 * @return 0; -EINVAL wrong verb, depth, or bits beyond the depth; -ENOENT no such next hop, or no route
 * to delete; -EEXIST the prefix has a route; -ENOSPC max_routes or max_tbl8s is reached; -EBUSY;
 * -ETIMEDOUT; -ENOMEM. When it undoes changes after an error, it waits for workers without a limit.
 */
int hy_ip4_routes_change(struct hy_ip4_fib *fib, const struct hy_ip4_change *changes, uint32_t n,
	uint32_t *at);

/**
 * @name Single changes. They return the values of hy_ip4_routes_change().
 * @{
 */
/** Adds a route to a prefix that has none. */
int hy_ip4_route_add(struct hy_ip4_fib *fib, const struct hy_ip4_route *route);
/** Adds a route, or changes the next hop of the prefix's route. */
int hy_ip4_route_replace(struct hy_ip4_fib *fib, const struct hy_ip4_route *route);
/** Deletes the route of a prefix. */
int hy_ip4_route_delete(struct hy_ip4_fib *fib, uint32_t prefix, uint8_t depth);
/** @} */

/**
 * Copies a consistent snapshot of all routes, sorted by prefix, then depth.
 *
 * @param[out] routes Room for @p n. Nothing is written if the table has more routes.
 * @return Number of routes in the table.
 */
uint32_t hy_ip4_routes_get(struct hy_ip4_fib *fib, struct hy_ip4_route *routes, uint32_t n);

/**
 * Looks an address up as the nodes do.
 *
 * @param[out] next_hop Id of its next hop.
 * @return 0; -ENOENT no route.
 */
int hy_ip4_lookup(struct hy_ip4_fib *fib, uint32_t dst, uint32_t *next_hop);

/**
 * Finds the route of an address together with its next hop.
 *
 * @param[out] next_hop Of a route to a group, one whose port is HY_IP4_PORTS, and no address.
 * @return 0; -ENOENT no route.
 */
int hy_ip4_route_lookup(struct hy_ip4_fib *fib, uint32_t dst, struct hy_ip4_route *route,
	struct hy_ip4_next_hop *next_hop);

/** Names for hy_hal_declare(), for the selection of a variant of ip4_lookup. */
#define HY_IP4_ROUTES "ip4_routes"           /**< Value: expected number of routes. */
#define HY_IP4_LIVE_ROUTES "ip4_live_routes" /**< Routes change while packets flow. */

/**
 * Configuration of ip4_lookup, for hy_node_config(). A graph uses the table of its NUMA node, or else
 * the first one. Tables must outlive the graphs.
 */
struct hy_ip4_lookup_config {
	struct hy_ip4_fib *fibs[RTE_MAX_NUMA_NODES]; /**< At most one per NUMA node. */
	unsigned int nb_fibs;                        /**< At least 1. */
};
#define HY_IP4_NO_EDGE UINT16_MAX /**< In place of an edge: the table does not have the port. */

/** Configuration of ip4_rewrite. The tables are those of ip4_lookup. */
struct hy_ip4_rewrite_config {
	struct hy_ip4_lookup_config tables; /**< As for ip4_lookup. */
	/** The node's edge to the node that sends on each port, or HY_IP4_NO_EDGE. */
	uint16_t edge[HY_IP4_PORTS];
};

HY_API_END
