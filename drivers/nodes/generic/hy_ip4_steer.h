/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Configuration of ip4_steer, the node that sends packets of a class to the next hop that is the
 * class's own, in place of the route that a lookup would find.
 *
 * It stands where ip4_lookup does, between a pkt_cls of its own and ip4_rewrite, so that all checks
 * of RFC 1812 are those of any packet; only the search for a route is left out. flow_cls leads
 * classes to it by an edge (struct hy_flow_way) to that pkt_cls.
 *
 * The contract, for variants: one lane carries the class in, the other one the id of the next hop out;
 * of a packet that is dropped, UINT32_MAX. The node touches no packet.
 */
#ifndef HY_IP4_STEER_H
#define HY_IP4_STEER_H

#include <hy_graph_worker.h>
#include <hy_ip4.h>
#include <hy_plugin.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Edges. */
enum hy_ip4_steer_next { HY_IP4_STEER_NEXT_REWRITE };
/** Drop reasons: "no_next_hop". */
enum hy_ip4_steer_drop { HY_IP4_STEER_NO_NEXT_HOP };
/** Lanes: "ip4_route" and HY_FLOW_CLASS_LANE. */
enum hy_ip4_steer_lane { HY_IP4_STEER_LANE_ROUTE, HY_IP4_STEER_LANE_CLASS };

#define HY_IP4_STEER_NO_ID UINT32_MAX /**< Instead of a next hop's id: the class has none. */

/** Context of variants without init, fini and ctx_size, which are given the family's. */
struct hy_ip4_steer_ctx {
	struct hy_ip4_fib *fib; /**< The table that holds the next hops. */
	uint32_t *id;           /**< Ids of next hops, by class, or HY_IP4_STEER_NO_ID. */
	uint32_t nb_classes;    /**< Entries of id; classes beyond have no next hop. */
};

#pragma GCC visibility push(default)

/** The family's init, for a context that begins with struct hy_ip4_steer_ctx. */
int hy_ip4_steer_init(const struct hy_graph *graph, struct hy_node *node, const void *config);
/** The family's fini, likewise. */
void hy_ip4_steer_fini(const struct hy_graph *graph, struct hy_node *node);

#pragma GCC visibility pop

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

/** @cond What packs have of this header: see HY_PLUGIN_NUMBERS(). */
#define HY_IP4_STEER_NUMBERS \
	HY_PLUGIN_SIZE(struct hy_ip4_steer_ctx), HY_PLUGIN_OFFSET(hy_ip4_steer_ctx, id)

HY_PLUGIN_NUMBERS(ip4_steer, HY_IP4_STEER_NUMBERS);
/** @endcond */

#ifdef __cplusplus
}
#endif

#endif
