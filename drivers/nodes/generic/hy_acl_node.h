/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The workers' side of access lists: acl_in and acl_out, the nodes that apply them, and what they share
 * with the control plane (hy_acl.h), which makes the nodes of each port and configures them.
 *
 * The nodes are features of an arc (hy_arc.h); a packet's cookie is the number of its list. The first
 * rule of the list that a packet matches decides:
 *
 * | rule      | the packet |
 * |-----------|------------|
 * | permit    | goes on along the arc |
 * | class N   | likewise, with N in the lane HY_FLOW_CLASS_LANE; or by the way of its class |
 * | deny      | is dropped as "acl_denied" |
 * | port N    | goes to the port's edge unchanged, past all that follows; "no_port" without one |
 * | count, or none | is treated by the list's default action |
 *
 * A list can deny what is cut or malformed before any rule is tried; such packets are dropped as
 * "acl_truncated". The rule that decided counts the packet, its bytes and the time. All other packets
 * have class 0 in the lane. The nodes read packets and never write them.
 */
#pragma once

#include <stdalign.h>

#include <rte_config.h>

#include <hy_flow_cls.h>
#include <hy_policy_view.h>

HY_API_BEGIN

struct rte_ring;

#define HY_ACL_IN_NODE "acl_in"   /**< Of frames that were received. */
#define HY_ACL_OUT_NODE "acl_out" /**< Of frames that are to be sent. */

#define HY_ACL_LISTS 64           /**< Numbers of lists are below this. */
#define HY_ACL_NO_EDGE UINT16_MAX /**< In place of an edge: the graph does not have the port. */

/** Drop reasons. */
enum hy_acl_drop {
	HY_ACL_DENIED,    /**< "acl_denied": a rule denied it, or the default action. */
	HY_ACL_TRUNCATED, /**< "acl_truncated": cut or malformed, and the list denies that. */
	HY_ACL_NO_PORT,   /**< "no_port": the graph does not have a rule's port. */
	HY_ACL_CLASS,     /**< "denied": a way denies the class that a rule gave. */
	HY_ACL_NO_LIST,   /**< "no_list": the list was destroyed while the packet was waiting. */
};

/** Lanes. */
enum hy_acl_lane { HY_ACL_LANE_ARC, HY_ACL_LANE_CLASS };

/**
 * What a list did to packets. Each packet counts under one of permitted, denied and redirected. A
 * redirected packet whose port is missing counts as redirected.
 */
struct hy_acl_counts {
	uint64_t permitted;  /**< Went on, or took the way of their class. */
	uint64_t denied;     /**< By a rule, the default action or a way, or as truncated. */
	uint64_t redirected; /**< To a port. */
	uint64_t unmatched;  /**< Of all, those that no rule matched. */
	uint64_t truncated;  /**< Of all, those that are cut or malformed. */
	uint64_t hardware;   /**< Besides, those that hardware dropped: no worker saw them. */
	uint64_t unknown; /**< Of all, IPv6 packets whose headers were not walked to their end. */
};

/** The packet that a worker logged last, of those that count by one index. The worker's alone. */
struct hy_acl_last {
	uint64_t when; /**< TSC clock; 0: none. */
	uint32_t rule; /**< Id of its rule: the index may go to another one. */
};

/** A worker's part of a list. */
struct hy_acl_worker {
	/** Written by the worker alone. */
	alignas(RTE_CACHE_LINE_SIZE) struct hy_acl_counts counts;
	struct hy_acl_last *logged; /**< By the index of a rule's counter. */
};

/** A list as workers see it. */
struct hy_acl_shown {
	struct hy_policy *policy;      /**< Its rules. */
	struct hy_acl_worker *workers; /**< By worker. */
	uint32_t serial;               /**< Of the list: no other one of the process has it. */
};

/** A packet that a rule logged. */
struct hy_acl_record {
	uint32_t serial;  /**< Of the list. */
	uint32_t rule;    /**< Id of the rule. */
	uint32_t index;   /**< Of its counter. */
	uint64_t when;    /**< TSC clock. */
	uint32_t len;     /**< Of the frame, without the checksum. */
	uint16_t port;    /**< That received the frame, or with out, that it was to leave by. */
	uint16_t to;      /**< Port or class of the rule, if it has one. */
	uint8_t action;   /**< enum hy_rule_action, of the rule. */
	bool out;         /**< By acl_out. */
	bool denied;      /**< It was dropped. */
	uint8_t reserved; /**< 0. */
	struct hy_flow_key key; /**< Of the packet. */
};

/** A worker's log. */
struct hy_acl_log {
	/** Of struct hy_acl_record, filled by the worker, emptied by the control plane. */
	alignas(RTE_CACHE_LINE_SIZE) struct rte_ring *records;
	uint64_t lost; /**< Records for which it had no room. Written by the worker alone. */
};

/** All lists. Must outlive the graphs that use it. */
struct hy_acl_table {
	/**
	 * By number; NULL: free. A list that is taken out stays valid for workers of the lists' QSBR
	 * variable until they have reported.
	 */
	const struct hy_acl_shown *lists[HY_ACL_LISTS];
	struct hy_acl_log *logs;   /**< By worker. */
	uint64_t log_interval;     /**< A worker logs a rule once in so many TSC clocks. */
	unsigned int nb_workers;   /**< Graphs that use it have lower worker numbers. */
	struct rte_rcu_qsbr *qsbr; /**< To which they report. */
};

/** Configuration of acl_in and acl_out, for hy_node_config(). */
struct hy_acl_node_config {
	const struct hy_acl_table *table;   /**< The lists. */
	bool out;                           /**< Of acl_out: frames leave by port. */
	uint16_t port;                      /**< Through which frames come or go. */
	uint16_t to_port[RTE_MAX_ETHPORTS]; /**< Edge by port, or HY_ACL_NO_EDGE. */
	const struct hy_flow_way *ways;     /**< Of classes that do not go on along the arc. */
	unsigned int nb_ways;               /**< Entries of ways, which must outlive the graphs. */
};

HY_API_END
