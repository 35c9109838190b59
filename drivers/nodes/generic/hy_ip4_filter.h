/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Filters that select packets by their IPv4 header, for a trace (hy_trace.h) or a capture
 * (hy_capture.h); and a feature (hy_arc.h) that drops the packets which a list of filters matches.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <hy_api.h>

HY_API_BEGIN

/** A range of addresses. */
struct hy_ip4_prefix {
	uint32_t address; /**< Host byte order. Bits beyond depth are ignored. */
	uint8_t depth;    /**< 0 to 32. 0 matches every address. */
};

/** A filter. A member that is zero sets no condition. */
struct hy_ip4_filter {
	struct hy_ip4_prefix src; /**< Source address. */
	struct hy_ip4_prefix dst; /**< Destination address. */
	bool has_proto;           /**< proto must match. */
	uint8_t proto;            /**< Protocol field of the header. */
};

/**
 * Whether a packet is an untagged Ethernet frame with an IPv4 header that a filter matches. A
 * hy_trace_match_t for graphs of packets.
 *
 * @param obj A struct rte_mbuf.
 * @param filter A struct hy_ip4_filter. It must not change while it is in use.
 */
bool hy_ip4_filter_match(const void *obj, void *filter);

/** The arc of IPv4 packets between their checks and their route lookup. */
#define HY_IP4_INPUT_ARC "ip4_input"

/** A feature of HY_IP4_INPUT_ARC, and its node. Its cookie is the index of a list. */
#define HY_IP4_FILTER_NODE "ip4_filter"

/** A list of filters. It matches a packet if one of them does. */
struct hy_ip4_filter_list {
	const struct hy_ip4_filter *filters; /**< Must outlive the graphs. */
	unsigned int nb_filters;             /**< Entries. An empty list matches nothing. */
};

/**
 * Configuration of HY_IP4_FILTER_NODE, for hy_node_config(). The cookie of a packet's index selects
 * the list. Packets that the list matches are dropped as "filtered"; with a cookie beyond the lists,
 * all packets are dropped as "no_list".
 */
struct hy_ip4_filter_config {
	const struct hy_ip4_filter_list *lists; /**< Must outlive the graphs. */
	unsigned int nb_lists;                  /**< Entries. */
};

HY_API_END
