/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Filters that select packets by their IPv4 or IPv6 header, for a trace (hy_trace.h) or a capture
 * (hy_capture.h); and features (hy_arc.h) that drop the packets which a list of filters matches.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <hy_api.h>

HY_API_BEGIN

/** The addresses that a prefix is about. */
enum hy_ip_family {
	HY_IP_ANY, /**< No condition: every address of both versions. */
	HY_IP_V4,  /**< IPv4. */
	HY_IP_V6,  /**< IPv6. */
};

/** A range of addresses. */
struct hy_ip_prefix {
	enum hy_ip_family family; /**< Which packets it matches. */
	uint8_t depth;            /**< 0 to 32 or 128. 0 matches every address of the family. */
	uint8_t address
		[16]; /**< Network byte order; 4 bytes of IPv4. Bits beyond depth are ignored. */
};

/** A filter. A member that is zero sets no condition. */
struct hy_ip_filter {
	struct hy_ip_prefix src; /**< Source address. */
	struct hy_ip_prefix dst; /**< Destination address. */
	bool has_proto;          /**< proto must match. */
	uint8_t proto; /**< The protocol field of IPv4, or the first next header of IPv6. */
};

/**
 * Whether a packet is an Ethernet frame, with one VLAN tag (0x8100) or none, and an IPv4 or IPv6
 * header that a filter matches. A hy_trace_match_t for graphs of packets.
 *
 * @param obj A struct rte_mbuf.
 * @param filter A struct hy_ip_filter. It must not change while it is in use.
 */
bool hy_ip_filter_match(const void *obj, void *filter);

/** The arc of IPv4 packets between their checks and their route lookup. */
#define HY_IP4_INPUT_ARC "ip4_input"
/** The same of IPv6 packets. */
#define HY_IP6_INPUT_ARC "ip6_input"

/** A feature of HY_IP4_INPUT_ARC, and its node. Its cookie is the index of a list. */
#define HY_IP4_FILTER_NODE "ip4_filter"
/** The same of HY_IP6_INPUT_ARC. */
#define HY_IP6_FILTER_NODE "ip6_filter"

/** A list of filters. It matches a packet if one of them does. */
struct hy_ip_filter_list {
	const struct hy_ip_filter *filters; /**< Must outlive the graphs. */
	unsigned int nb_filters;            /**< Entries. An empty list matches nothing. */
};

/**
 * Configuration of HY_IP4_FILTER_NODE and HY_IP6_FILTER_NODE, for hy_node_config(). The cookie of a
 * packet's index selects the list. Packets that the list matches are dropped as "filtered"; with a
 * cookie beyond the lists, all packets are dropped as "no_list".
 */
struct hy_ip_filter_config {
	const struct hy_ip_filter_list *lists; /**< Must outlive the graphs. */
	unsigned int nb_lists;                 /**< Entries. */
};

HY_API_END
