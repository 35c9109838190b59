/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Configuration of flow_cls, the node that classifies packets by the rules of a policy
 * (hy_policy.h).
 *
 * Its place is between ethdev_rx and pkt_cls: it sees every frame, also those that are not IPv4. Later
 * nodes read a packet's class from the lane HY_FLOW_CLASS_LANE, which the graph must have. Class 0
 * means that no rule matches.
 */
#pragma once

#include <stdint.h>

#include <hy_api.h>

HY_API_BEGIN

struct hy_policy;

/** For hy_hal_declare(), for the selection of a variant of flow_cls. Value: most rules. */
#define HY_FLOW_RULES "flow_rules"

#define HY_FLOW_CLASS_LANE "flow_class" /**< The class of a packet. */

#define HY_FLOW_DENY UINT16_MAX /**< In place of an edge: drop, counted as "denied". */

/** The edge of a class. */
struct hy_flow_way {
	uint16_t class_id; /**< HY_FLOW_NO_CLASS stands for packets that no rule matches. */
	uint16_t edge;     /**< An edge of the node, or HY_FLOW_DENY. */
};

/** Configuration of flow_cls, for hy_node_config(). */
struct hy_flow_cls_config {
	struct hy_policy
		*policy; /**< Must outlive the graphs, which must report to its QSBR variable. */
	const struct hy_flow_way *ways; /**< For classes that do not take edge 0, to pkt_cls. */
	unsigned int nb_ways;           /**< Entries of ways, which must outlive the graphs. */
};

HY_API_END
