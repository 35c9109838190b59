/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Configuration of ip4_steer, the node that sends the packets of a class to the next hop of that
 * class instead of looking up a route.
 *
 * It takes the place of ip4_lookup, between a pkt_cls of its own and ip4_rewrite, so that its packets
 * pass all checks of RFC 1812; only the route lookup is skipped. flow_cls sends classes to that
 * pkt_cls by an edge (struct hy_flow_way).
 *
 * The contract for variants: one lane holds the class on entry, the other one the id of the next hop
 * on exit, or UINT32_MAX for a dropped packet. The node touches no packet.
 */
#pragma once

#include <hy_graph_worker.h>
#include <hy_ip4.h>
#include <hy_plugin.h>

HY_API_BEGIN

/** Edges. */
enum hy_ip4_steer_next { HY_IP4_STEER_NEXT_REWRITE };
/** Drop reasons: "no_next_hop". */
enum hy_ip4_steer_drop { HY_IP4_STEER_NO_NEXT_HOP };
/** Lanes: "ip4_route" and HY_FLOW_CLASS_LANE. */
enum hy_ip4_steer_lane { HY_IP4_STEER_LANE_ROUTE, HY_IP4_STEER_LANE_CLASS };

#define HY_IP4_STEER_NO_ID UINT32_MAX /**< In place of an id: the class has no next hop. */

/** Context of variants that inherit the family's init, fini and ctx_size. */
struct hy_ip4_steer_ctx {
	struct hy_ip4_fib *fib; /**< The table that holds the next hops. */
	uint32_t *id;           /**< Id of the next hop by class, or HY_IP4_STEER_NO_ID. */
	uint32_t nb_classes;    /**< Entries of id. Higher classes have no next hop. */
};

/** The family's init. The context must begin with a struct hy_ip4_steer_ctx. */
int hy_ip4_steer_init(const struct hy_graph *graph, struct hy_node *node, const void *config);
/** The family's fini, for the same contexts. */
void hy_ip4_steer_fini(const struct hy_graph *graph, struct hy_node *node);

/** The next hop of a class. */
struct hy_ip4_steer {
	uint16_t class_id; /**< A class of flow_cls (hy_flow_cls.h), listed at most once. */
	struct hy_ip4_next_hop next_hop; /**< On a port of the tables. */
};

/** Configuration of ip4_steer, for hy_node_config(). */
struct hy_ip4_steer_config {
	/** The tables of ip4_rewrite. They hold these next hops, which cannot be deleted meanwhile. */
	struct hy_ip4_lookup_config tables;
	const struct hy_ip4_steer *steers; /**< Must outlive the graphs. */
	unsigned int nb_steers;            /**< Entries. Packets of other classes are dropped. */
};

/** @cond What plugins compile from this header: see HY_PLUGIN_NUMBERS(). */
#define HY_IP4_STEER_NUMBERS \
	HY_PLUGIN_SIZE(struct hy_ip4_steer_ctx), HY_PLUGIN_OFFSET(hy_ip4_steer_ctx, id)

HY_PLUGIN_NUMBERS(ip4_steer, HY_IP4_STEER_NUMBERS);
/** @endcond */

HY_API_END
