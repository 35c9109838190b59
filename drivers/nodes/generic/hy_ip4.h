/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * IPv4 forwarding table: ports, next hops and routes, and the configuration of the nodes that read
 * it, ip4_lookup and ip4_rewrite.
 *
 * Any thread may change or read a table by the functions below: they take its mutex, and none of
 * them is for workers. Workers read it, by the nodes, without a lock, while it changes: a packet
 * sees each route, and each next hop, as it was before a change or as it is after it. What a change
 * frees is used again only when all graphs that use the table have finished the walk that they were
 * in, which they report to the table's QSBR variable.
 *
 * Addresses are in host byte order. Functions return 0 or a negative errno. Three of them mean the
 * same everywhere, and that nothing was changed:
 *
 * - -EBUSY: a graph uses the table, which has no QSBR variable, and a worker may be reading what
 *   would be freed;
 * - -ETIMEDOUT: something that was freed before is needed, and a worker has not finished its walk
 *   within a second;
 * - -ENOMEM.
 */
#ifndef HY_IP4_H
#define HY_IP4_H

#include <stdint.h>

#include <rte_ether.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

struct hy_ip4_fib;
struct rte_rcu_qsbr;

/** The library that finds routes, and its lookup. */
enum hy_ip4_engine {
	HY_IP4_LPM,        /**< rte_lpm: 64 MB, changed in place. */
	HY_IP4_FIB,        /**< rte_fib (DIR24_8), with its scalar lookup. */
	HY_IP4_FIB_AVX512, /**< rte_fib (DIR24_8), with its AVX-512 lookup. */
};

/**
 * @param variant Name of a variant of ip4_lookup, as the HAL chose it.
 * @return The engine of the tables that it reads (hy_variant.engine); HY_IP4_LPM if it names none, or is
 * no variant. One that names an engine that does not exist is refused when a graph is created.
 */
enum hy_ip4_engine hy_ip4_engine_of(const char *variant);

/** Sizes of a table. 0 takes the default in brackets. */
struct hy_ip4_fib_params {
	enum hy_ip4_engine engine; /**< The library; see hy_ip4_engine_of(). */
	/** Without the default route [262,144]. Each takes about 420 bytes, used or not. */
	uint32_t max_routes;
	/** Tables of at most 1 KB for prefixes longer than /24, one for each /24 with any [4,096]. */
	uint32_t max_tbl8s;
	/**
	 * Up to which the next-hop table grows; at most 2^24 [32,767]. With more than 32,767, or
	 * about as many tbl8s, rte_fib needs entries of 4 bytes in place of 2: 64 MB, not 32.
	 */
	uint32_t max_next_hops;
	int socket; /**< NUMA node, or SOCKET_ID_ANY. */
	/**
	 * The variable that all graphs of the table report to (struct hy_graph_params); it must
	 * outlive the table. NULL: while a graph uses the table, next hops can only be added, and
	 * routes too, one at a time and with rte_lpm only.
	 *
	 * rte_fib does not change under readers: from its first change under readers on, such a
	 * table is kept twice, in twice the memory, and each set of changes shows the other copy.
	 */
	struct rte_rcu_qsbr *qsbr;
};

/**
 * Creates a table without routes.
 *
 * @param name 1 to 16 bytes, unique among the process's tables.
 * @return 0; -EINVAL; -EEXIST; -ENOMEM; -ENOTSUP the engine's lookup is not available: the CPU or
 * EAL's vector width does not allow it.
 */
int hy_ip4_fib_create(const char *name, const struct hy_ip4_fib_params *params,
	struct hy_ip4_fib **fib);

/**
 * Frees a table. No graph may use it any more. NULL is allowed.
 *
 * Waits up to a second for all that report to its QSBR variable. If one of them does not, rte_lpm
 * may lose the memory that it has deferred the reuse of, and then no table of rte_lpm can have this
 * name again.
 */
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

/** Where packets are sent to. */
struct hy_ip4_next_hop {
	uint16_t port;             /**< A port of the table. */
	struct rte_ether_addr mac; /**< Destination address of the frames. */
};

/**
 * Adds a next hop, or finds it: the same port and address are the same next hop.
 *
 * @param[out] id For routes. Ids are small and dense.
 * @return 0; -ENODEV no such port was added; -ENOSPC; -EBUSY; -ETIMEDOUT; -ENOMEM.
 */
int hy_ip4_next_hop_add(struct hy_ip4_fib *fib, const struct hy_ip4_next_hop *next_hop,
	uint32_t *id);

/**
 * Changes where a next hop leads, for all its routes at once: a neighbour has got another address,
 * or is behind another port.
 *
 * @return 0; -ENOENT no such next hop; -ENODEV no such port was added; -EEXIST another id leads
 * there; -EBUSY; -ETIMEDOUT; -ENOMEM.
 */
int hy_ip4_next_hop_set(struct hy_ip4_fib *fib, uint32_t id,
	const struct hy_ip4_next_hop *next_hop);

/**
 * Reads a next hop.
 *
 * @param[out] routes How many routes lead there; NULL is allowed.
 * @return 0; -ENOENT.
 */
int hy_ip4_next_hop_get(struct hy_ip4_fib *fib, uint32_t id, struct hy_ip4_next_hop *next_hop,
	uint32_t *routes);

/**
 * Deletes a next hop. Its id is given out again when no worker can have it in hand any more.
 *
 * @return 0; -ENOENT; -EBUSY also while routes lead there, or a node of hy_ip4_steer.h sends there.
 */
int hy_ip4_next_hop_delete(struct hy_ip4_fib *fib, uint32_t id);

/** @return A bound: ids of next hops are less. Some below may be free. */
uint32_t hy_ip4_next_hops(struct hy_ip4_fib *fib);

/** A route. */
struct hy_ip4_route {
	uint32_t prefix;   /**< Bits beyond depth are 0. */
	uint8_t depth;     /**< 0 to 32. */
	uint32_t next_hop; /**< Id. */
};

/** What to do with a route. */
enum hy_ip4_verb {
	HY_IP4_ADD,     /**< Adds it; the prefix has none. */
	HY_IP4_REPLACE, /**< Adds it, or leads the prefix's route to another next hop. */
	HY_IP4_DELETE,  /**< Deletes the prefix's route; next_hop does not count. */
};

/** One change. */
struct hy_ip4_change {
	enum hy_ip4_verb verb;     /**< What to do. */
	struct hy_ip4_route route; /**< With which route. */
};

/**
 * Changes routes, in the order of the array: all or none. Also the way to load many. Workers may
 * see the changes one by one, and for a while those of a call that fails.
 *
 * @param[out] at Which change an error is about, @p n if none in particular; NULL is allowed.
 * @return 0; -EINVAL verb, depth, or bits beyond it; -ENOENT no such next hop, or no route to
 * delete; -EEXIST the prefix has a route; -ENOSPC max_routes or max_tbl8s; -EBUSY; -ETIMEDOUT;
 * -ENOMEM. To undo what was done before an error, it waits for workers as long as they take.
 */
int hy_ip4_routes_change(struct hy_ip4_fib *fib, const struct hy_ip4_change *changes, uint32_t n,
	uint32_t *at);

/**
 * @name One change. They return what hy_ip4_routes_change() does.
 * @{
 */
/** Adds a route to a prefix that has none. */
int hy_ip4_route_add(struct hy_ip4_fib *fib, const struct hy_ip4_route *route);
/** Adds a route, or leads the prefix's to another next hop. */
int hy_ip4_route_replace(struct hy_ip4_fib *fib, const struct hy_ip4_route *route);
/** Deletes the route to a prefix. */
int hy_ip4_route_delete(struct hy_ip4_fib *fib, uint32_t prefix, uint8_t depth);
/** @} */

/**
 * Copies all routes as they are at one moment, by prefix, then depth.
 *
 * @param[out] routes Room for @p n; nothing is written if there are more.
 * @return How many routes there are.
 */
uint32_t hy_ip4_routes_get(struct hy_ip4_fib *fib, struct hy_ip4_route *routes, uint32_t n);

/**
 * Looks an address up, as the nodes do.
 *
 * @param[out] next_hop Its id.
 * @return 0; -ENOENT no route.
 */
int hy_ip4_lookup(struct hy_ip4_fib *fib, uint32_t dst, uint32_t *next_hop);

/**
 * Finds the route that an address takes, and where it leads, at one moment.
 *
 * @return 0; -ENOENT no route.
 */
int hy_ip4_route_lookup(struct hy_ip4_fib *fib, uint32_t dst, struct hy_ip4_route *route,
	struct hy_ip4_next_hop *next_hop);

/** Names for hy_hal_declare(), by which variants of ip4_lookup are chosen. */
#define HY_IP4_ROUTES "ip4_routes"           /**< Value: routes that the table will hold. */
#define HY_IP4_LIVE_ROUTES "ip4_live_routes" /**< They change while packets flow. */

/**
 * Configuration of ip4_lookup, for hy_node_config(). A graph takes the table of its NUMA node, or
 * the first one if there is none. Tables must outlive the graphs.
 */
struct hy_ip4_lookup_config {
	struct hy_ip4_fib *fibs[RTE_MAX_NUMA_NODES]; /**< At most one a NUMA node. */
	unsigned int nb_fibs;                        /**< At least 1. */
};

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
