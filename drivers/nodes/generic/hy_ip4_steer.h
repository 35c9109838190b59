/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Configuration of ip4_steer, the node that sends packets of a class to the next hop that is the
 * class's own, in place of the route that a lookup would find.
 *
 * It stands where ip4_lookup does, between a pkt_cls of its own and ip4_rewrite, so that all checks
 * of RFC 1812 are those of any packet; only the search for a route is left out. flow_cls leads
 * classes to it by an edge (struct hy_flow_way) to that pkt_cls.
 */
#ifndef HY_IP4_STEER_H
#define HY_IP4_STEER_H

#include <hy_ip4.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Where packets of a class go. */
struct hy_ip4_steer {
	uint16_t class_id;               /**< Of hy_flow_cls.h; each at most once. */
	struct hy_ip4_next_hop next_hop; /**< Behind a port of the tables. */
};

/** Configuration of ip4_steer, for hy_node_config(). */
struct hy_ip4_steer_config {
	/** Those of ip4_rewrite. They keep these next hops, which nobody can delete meanwhile. */
	struct hy_ip4_lookup_config tables;
	const struct hy_ip4_steer *steers; /**< Must outlive the graphs. */
	unsigned int nb_steers;            /**< Entries; packets of other classes are dropped. */
};

#ifdef __cplusplus
}
#endif

#endif
