/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The routes of a program: read from a file, loaded into forwarding tables (hy_ip4.h), one for each
 * NUMA node, and replaced by those of a changed file while packets flow.
 *
 * Use, in this order: hy_routes_create(), before ports are started, so that a bad file is refused at
 * once; hy_routes_declare(); hy_hal_select(); hy_routes_load(), before graphs are created. While
 * packets flow, hy_routes_part() in a hy_reload(). After all graphs are destroyed, and before the
 * workers' QSBR variable is, hy_routes_destroy().
 *
 * A file has a route on each line, "PREFIX port N mac MM:MM:MM:MM:MM:MM", or "PREFIX group MEMBER, MEMBER
 * ..." of 1 to 64 members "port N mac MM:MM:MM:MM:MM:MM [weight W]" (hy_ip4_group.h). A prefix with a
 * colon before its slash is IPv6's (hy_ip6.h), another one IPv4's. N is a port, or a VLAN interface,
 * "PORT.VID". '#' starts a comment. No prefix may occur twice. IPv6 is forwarded while there is an IPv6
 * prefix. Routes to the same members share a group, also of different families, but one that a reload adds
 * may get its own. While packets flow, call
 * hy_routes_poll(): members on a port whose link is down leave their groups, and come back with it.
 *
 * One control thread calls these functions, except where they say otherwise. They return 0 or a
 * negative errno. Those that take @p error write the reason there, in HY_ROUTES_ERROR_SIZE bytes;
 * a fault in a file is "FILE:LINE: FIELD: REASON". Reasons name limits by the options that set them:
 * --max-routes, --max-tbl8s and --max-next-hops.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <hy_assembly.h>
#include <hy_hal.h>
#include <hy_ip4_group.h>
#include <hy_ip6.h>
#include <hy_reload.h>
#include <hy_workers.h>

HY_API_BEGIN

#define HY_ROUTES_ERROR_SIZE HY_RELOAD_ERROR_SIZE /**< Bytes of a reason, with its NUL. */

struct hy_routes;

/** A member of a group. */
struct hy_route_member {
	struct hy_ip4_next_hop next_hop; /**< Where its packets go; each occurs once in a group. */
	uint32_t weight;                 /**< 1 to HY_IP4_GROUP_WEIGHT. */
};

/** Next hops that share a route's flows. */
struct hy_route_group {
	unsigned int n;                                       /**< Entries of members. */
	struct hy_route_member members[HY_IP4_GROUP_MEMBERS]; /**< Sorted by next hop. */
};

/** A route with its next hop or its group. */
struct hy_route {
	uint32_t prefix;               /**< IPv4's, in host byte order; bits beyond depth are 0. */
	uint8_t prefix6[HY_IP6_BYTES]; /**< IPv6's, as on the wire; likewise. */
	bool is_ip6;                   /**< Which of the two it is. */
	uint8_t depth;                 /**< 0 to 32, or to 128. */
	struct hy_ip4_next_hop next_hop;    /**< Where it leads, unless to a group. */
	const struct hy_route_group *group; /**< Where it leads; copied. NULL: to the next hop. */
	unsigned int line;                  /**< Of the file; 0 if it is from none. */
};

/** Where routes come from, and limits of their tables. */
struct hy_routes_params {
	const char *path;             /**< The file; outlives the routes. NULL: there is none. */
	const struct hy_route *given; /**< Without a file: IPv4 routes, by prefix. Copied. */
	unsigned int nb_given;        /**< Entries of given. */
	const uint16_t *ports;        /**< Ports that routes may lead to. Copied. */
	unsigned int nb_ports;        /**< Entries of ports. */
	/**
	 * VLAN interfaces of these ports, likewise; outlive the routes. Their numbers in tables and in
	 * struct hy_route are those of HY_VLAN_PORT(). At most HY_IP4_PORTS - HY_VLAN_PORT(0).
	 */
	const struct hy_vlan *vlans;
	unsigned int nb_vlans; /**< Entries of vlans. */
	uint32_t max_len;      /**< Longest frame that they send, as in struct hy_ip4_port. */
	/** @name As in struct hy_ip4_fib_params; 0: a quarter more than needed, or the number given.
	 * @{ */
	uint32_t max_routes;    /**< At least 1,024. */
	uint32_t max_tbl8s;     /**< At least 256. */
	uint32_t max_next_hops; /**< At least 32,767. */
				/** @} */
	uint32_t group_seed;    /**< As in struct hy_ip4_fib_params. */
};

/**
 * Reads and checks the routes.
 *
 * @param[out] routes Belongs to the caller, until hy_routes_destroy(). NULL after an error.
 * @return 0; -EINVAL a line is no route, or a prefix occurs twice; -EINTR reading was stopped, see
 * hy_file_stop_when(); what else hy_file_read() returns; -ENOMEM.
 */
int hy_routes_create(const struct hy_routes_params *params, struct hy_routes **routes, char *error);

/** Frees the routes and their tables. NULL is allowed. */
void hy_routes_destroy(struct hy_routes *routes);

/**
 * Declares HY_IP4_ROUTES, how many IPv4 routes there are, and, if they are from a file,
 * HY_IP4_LIVE_ROUTES: variants of ip4_lookup are chosen by them. Likewise HY_IP6_ROUTES, if there are
 * any.
 *
 * @return What hy_hal_declare() returns.
 */
int hy_routes_declare(const struct hy_routes *routes, struct hy_hal *hal);

/**
 * Creates the tables, with the engine of the variant of ip4_lookup that @p hal has chosen, and loads
 * the routes. Takes seconds for 100,000s of routes with rte_lpm.
 *
 * @param workers Get a table for each of their NUMA nodes, and report to its QSBR variable. Outlive
 * the routes.
 * @param one One table serves all, as graphs that are spread over workers require: the id of a next
 * hop, which one worker may hand to another, belongs to one table.
 * @return 0; -EINTR the program is to stop (hy_stopping()); what rte_eth_macaddr_get() and functions of
 * hy_ip4.h return.
 */
int hy_routes_load(struct hy_routes *routes, const struct hy_hal *hal,
	const struct hy_workers *workers, bool one, char *error);

/** @return The tables, for nodes that read them; valid until hy_routes_destroy(). */
const struct hy_ip4_lookup_config *hy_routes_tables(const struct hy_routes *routes);
/** @return The tables of IPv6, one beside each of these; valid as long. */
const struct hy_ip6_lookup_config *hy_routes_tables6(const struct hy_routes *routes);

/**
 * The routes as a part of a reload: their file is read again, and each table changed where the new
 * routes differ. At any time, a packet takes the route that its address had before the reload, or the
 * one that it has after it.
 */
struct hy_reload_part hy_routes_part(struct hy_routes *routes);

/**
 * Takes members out of their groups while their port's link is down or the port is being reset or
 * removed, and puts them back afterwards. Cheap if no link has changed. Call it about every millisecond,
 * after hy_ports_poll().
 */
void hy_routes_poll(struct hy_routes *routes);

/**
 * Writes the routes of the first table as a file that hy_routes_create() reads. For struct hy_dump.
 *
 * @param routes A struct hy_routes, loaded.
 * @return 0; -ENOMEM.
 */
int hy_routes_dump(const void *routes, FILE *file);

/**
 * Registers telemetry commands: PREFIX/routes counts routes and next hops, beside the tables and their
 * limits; PREFIX/route finds the route that an address of either family takes; PREFIX/group shows a
 * group's members, and lists all groups. They answer for the routes that were
 * loaded last, until these are destroyed. Main thread, before rte_eal_init().
 *
 * @return As hy_telemetry_register().
 */
int hy_routes_telemetry(const char *prefix);

HY_API_END
