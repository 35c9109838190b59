/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Configuration of flow_cls, the node that gives packets the classes of a policy (hy_policy.h).
 *
 * It stands between ethdev_rx and pkt_cls, and sees every frame, whatever is in it. Nodes behind it
 * find a packet's class in the lane HY_FLOW_CLASS_LANE, which the graph must have; 0 is that of
 * packets that no rule matches.
 */
#ifndef HY_FLOW_CLS_H
#define HY_FLOW_CLS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct hy_policy;

/** For hy_hal_declare(), by which variants of flow_cls are chosen. Value: rules there may be. */
#define HY_FLOW_RULES "flow_rules"

#define HY_FLOW_CLASS_LANE "flow_class" /**< Of the class that a packet got. */

#define HY_FLOW_DENY UINT16_MAX /**< Instead of an edge: drop, counted as "denied". */

/** Where packets of a class go. */
struct hy_flow_way {
	uint16_t class_id; /**< HY_FLOW_NO_CLASS: packets that no rule matches. */
	uint16_t edge;     /**< An edge that the node has, or HY_FLOW_DENY. */
};

/** Configuration of flow_cls, for hy_node_config(). */
struct hy_flow_cls_config {
	struct hy_policy
		*policy; /**< Must outlive the graphs, which report to its QSBR variable. */
	const struct hy_flow_way *ways; /**< Of classes that do not take edge 0, to pkt_cls. */
	unsigned int nb_ways;           /**< Entries of ways, which must outlive the graphs too. */
};

#ifdef __cplusplus
}
#endif

#endif
