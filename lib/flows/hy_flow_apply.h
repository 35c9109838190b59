/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * flow_apply, the node that does to packets what lists of operations say (hy_flow_ops.h).
 *
 * It reads the lane HY_FLOW_ACTION_LANE (hy_flow_lookup.h): the upper 16 bits are the number of the packet's
 * list; the lower ones are not looked at. The program gives the node the edges that outputs name. It is
 * a node, and no family: it has one implementation.
 *
 * All outputs of a list but the last send the packet by reference, with its lanes: they are counted as
 * copies, and may be shared (their reference count is above 1, or their segments are indirect). What a
 * list changes afterwards it changes in a buffer of its own, with the first HY_FLOW_OPS_HEADERS bytes; the
 * rest stays shared. Packets may come shared too, and in segments. A node behind flow_apply
 * that writes to packets must do likewise, or be behind edges to which no list with several outputs
 * leads. A port with RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE cannot send them.
 *
 * Packets, and copies, are in the order of their coming behind each edge. What comes, with copies, is
 * what leaves, with drops.
 */
#pragma once

#include <hy_flow_ops.h>

HY_API_BEGIN

#define HY_FLOW_APPLY_NODE "flow_apply" /**< Name of the node. */

/** Drop reasons. */
enum hy_flow_apply_drop {
	HY_FLOW_APPLY_NO_LIST,   /**< "no_list": there is none of that number. */
	HY_FLOW_APPLY_NO_OUTPUT, /**< "no_output": the list has none. */
	HY_FLOW_APPLY_NO_EDGE, /**< "no_edge": an output names an edge that the node does not have. */
	HY_FLOW_APPLY_NO_HEADER, /**< "no_header": an operation needs one that the packet lacks. */
	HY_FLOW_APPLY_NO_ROOM,   /**< "no_room": there are no buffers, or too small ones. */
	HY_FLOW_APPLY_TOO_LONG,  /**< "too_long": for a tunnel. */
	HY_FLOW_APPLY_TTL_EXPIRED, /**< "ttl_expired": TTL or hop limit was 0 or 1. */
};

/** Lanes. */
enum hy_flow_apply_lane { HY_FLOW_APPLY_LANE_ACTION };

/** Counters. */
enum hy_flow_apply_counter {
	HY_FLOW_APPLY_COPIES, /**< Packets sent, or dropped as "no_edge", beyond one for each that came. */
	HY_FLOW_APPLY_HEADS, /**< Packets whose headers were copied to a buffer of their own. */
};

/** Configuration, for hy_node_config(). */
struct hy_flow_apply_config {
	struct hy_flow_ops *ops; /**< Cannot be destroyed while a graph has the node. */
};

HY_API_END
