/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * flow_lookup and flow_reinject, the nodes of a table of flows (hy_flow_table.h): configuration, and
 * contract for variants.
 *
 * flow_lookup finds the megaflow of each packet in the worker's caches or the tables of masks, or by a mark
 * of the port's hardware, writes its
 * action to the lane HY_FLOW_ACTION_LANE, and sends the packet along the edge that the lower 16 bits of
 * the action name. The upper 16 bits are the program's. A packet that no megaflow matches goes to the
 * thread that asks the program's rules; so do later packets of its flow, until it has come back. Where
 * the worker has no room for it, it is dropped as "upcall_full".
 *
 * flow_reinject is a source. It sends packets that have come back along the edge of their action, so the
 * program gives both nodes the same edges in the same order, and each graph that has flow_lookup also
 * has flow_reinject. Values of other lanes are lost on the way. Behind an edge, packets of a flow are in
 * the order in which flow_lookup got them.
 *
 * Once a megaflow is deleted and each graph has reported, neither node sends a packet by its action.
 * Packets that it had answered, and that are still on the way back, go by another megaflow that matches
 * them, or are dropped as "flow_deleted". What the rules answered without a megaflow is sent as they said,
 * even if they have changed since: at the latest when as many packets were taken as had been sent
 * (hy_flows_upcall_stats()).
 *
 * A graph's worker number is the worker's of the table. Packets that are on the way when a graph ends
 * stay with the table; the next graph of that worker takes them. A worker of a graph with flow_reinject
 * does not sleep (hy_idle.h).
 */
#pragma once

#include <hy_flow_table.h>
#include <hy_node.h>

HY_API_BEGIN

#define HY_FLOW_LOOKUP_NODE "flow_lookup"     /**< Name of the family. */
#define HY_FLOW_REINJECT_NODE "flow_reinject" /**< Likewise. */

#define HY_FLOW_ACTION_LANE "flow_action" /**< The action of a packet's megaflow. */
#define HY_FLOW_ACTION_DENY UINT16_MAX    /**< In place of an edge: drop, counted as "denied". */

/** Drop reasons of flow_lookup; flow_reinject has the first two, and one of its own. */
enum hy_flow_lookup_drop {
	HY_FLOW_LOOKUP_DENIED,      /**< "denied" */
	HY_FLOW_LOOKUP_NO_EDGE,     /**< "no_edge": the node has no edge of the action's number. */
	HY_FLOW_LOOKUP_UPCALL_FULL, /**< "upcall_full" */
};

/** The drop reason that flow_reinject alone has. */
enum hy_flow_reinject_drop {
	/** "flow_deleted": HY_FLOWS_GONE. */
	HY_FLOW_REINJECT_DELETED = HY_FLOW_LOOKUP_NO_EDGE + 1,
};

/** Lanes of both nodes. */
enum hy_flow_lookup_lane { HY_FLOW_LOOKUP_LANE_ACTION };

/** Counters of flow_lookup, in packets: the first five and HY_FLOW_LOOKUP_MARKED add up to its packets. */
enum hy_flow_lookup_counter {
	HY_FLOW_LOOKUP_FRAMES,     /**< Found in the cache of frames. */
	HY_FLOW_LOOKUP_EXACT,      /**< Found in the exact cache. */
	HY_FLOW_LOOKUP_INDEX,      /**< Found in the index. */
	HY_FLOW_LOOKUP_MASKS,      /**< Found in the tables of masks. */
	HY_FLOW_LOOKUP_MISSES,     /**< Not found. */
	HY_FLOW_LOOKUP_SENT,       /**< Sent to the rules' thread: they leave by flow_reinject. */
	HY_FLOW_LOOKUP_BEHIND,     /**< Of these, found, and sent after others of their flow. */
	HY_FLOW_LOOKUP_MARKED,     /**< Found by the mark of the hardware. */
	HY_FLOW_LOOKUP_STALE,      /**< Looked up, as the mark is of no megaflow. */
	HY_FLOW_LOOKUP_SAMPLED,    /**< Marked, and compared with the megaflow. */
	HY_FLOW_LOOKUP_MISMATCHES, /**< Sampled and looked up, as the mark was wrong. */
};

/** A megaflow that hardware may name. */
struct hy_flow_named {
	struct hy_flows_ref ref; /**< Which one. */
	bool wider; /**< Hardware marks other packets, too: each is compared with the megaflow. */
};

/**
 * Megaflows that the hardware of a port may name: those of an access policy that is offloaded to it
 * (hy_offload_params.classes), each by the class of its rule.
 */
struct hy_flow_marks {
	struct hy_policy *policy;             /**< NULL: none. */
	const struct hy_flow_named *of_class; /**< 65,536 entries; those of no rule are not read. */
};

/** Configuration of both nodes, for hy_node_config(). */
struct hy_flow_lookup_config {
	struct hy_flow_table *table; /**< Cannot be destroyed while a graph has the node. */
	/** Ports whose NIC's hash is used: they deliver one (RTE_ETH_RX_OFFLOAD_RSS_HASH). */
	bool rss[RTE_MAX_ETHPORTS];
	/** Of each port, RTE_MAX_ETHPORTS entries, which outlive the graphs; NULL: there are none. */
	const struct hy_flow_marks *marks;
};

/** Context of variants that inherit init, fini and ctx_size from one of the families. */
struct hy_flow_lookup_ctx {
	struct hy_flow_table *table;       /**< The table. */
	struct hy_flows *flows;            /**< Its megaflows. */
	struct hy_flows_upcalls *upcalls;  /**< Its upcalls. */
	unsigned int worker;               /**< The worker's number. */
	struct hy_flows_rss rss;           /**< What is known of hashes. */
	const struct hy_flow_marks *marks; /**< As configured. */
};

/** The families' init. The context must begin with a struct hy_flow_lookup_ctx. */
hy_node_init_t hy_flow_lookup_init;
/** The families' fini, for the same contexts. */
hy_node_fini_t hy_flow_lookup_fini;

/** @return An action. @param edge An edge of the nodes, or HY_FLOW_ACTION_DENY. */
static inline uint32_t
hy_flow_action(uint16_t edge, uint16_t value)
{
	return (uint32_t)value << 16 | edge;
}

/** @return Where a packet goes by its action. @param nb_edges Of the node: hy_graph_edge_count(). */
static __rte_always_inline uint16_t
hy_flow_action_next(uint32_t action, uint16_t nb_edges)
{
	const uint16_t edge = (uint16_t)action;

	if (likely(edge < nb_edges))
		return edge;
	return edge == HY_FLOW_ACTION_DENY ? HY_DROP(HY_FLOW_LOOKUP_DENIED)
					   : HY_DROP(HY_FLOW_LOOKUP_NO_EDGE);
}

/** @cond What plugins compile from this header: see HY_PLUGIN_NUMBERS(). */
#define HY_FLOW_LOOKUP_NUMBERS \
	HY_PLUGIN_SIZE(struct hy_flow_lookup_ctx), HY_PLUGIN_OFFSET(hy_flow_lookup_ctx, flows), \
		HY_PLUGIN_OFFSET(hy_flow_lookup_ctx, upcalls), \
		HY_PLUGIN_OFFSET(hy_flow_lookup_ctx, worker), \
		HY_PLUGIN_OFFSET(hy_flow_lookup_ctx, rss), HY_PLUGIN_SIZE(struct hy_flows_key), \
		HY_PLUGIN_COUNT(HY_FLOWS_WORDS), HY_PLUGIN_COUNT(HY_FLOWS_GONE), \
		HY_PLUGIN_SIZE(struct hy_flows_lookups), \
		HY_PLUGIN_COUNT(HY_FLOW_LOOKUP_MISMATCHES)

HY_PLUGIN_NUMBERS(flow_lookup, HY_FLOW_LOOKUP_NUMBERS);
/** @endcond */

HY_API_END
