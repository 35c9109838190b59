/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A choice of packets by their IPv4 header, for a trace (hy_trace.h) or a capture (hy_capture.h); and
 * a feature (hy_arc.h) that drops those of a list of such choices.
 */
#ifndef HY_IP4_FILTER_H
#define HY_IP4_FILTER_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

/** A range of addresses. */
struct hy_ip4_prefix {
	uint32_t address; /**< Host byte order; bits beyond depth do not count. */
	uint8_t depth;    /**< 0 to 32; 0 is every address. */
};

/** A choice of packets; zeroes are no condition. */
struct hy_ip4_filter {
	struct hy_ip4_prefix src; /**< Where they come from. */
	struct hy_ip4_prefix dst; /**< Where they are to go. */
	bool has_proto;           /**< Whether proto counts. */
	uint8_t proto;            /**< The protocol field of the header. */
};

/**
 * Whether a packet is Ethernet, untagged, with an IPv4 header that a filter lets pass. A
 * hy_trace_match_t for graphs of packets.
 *
 * @param obj A struct rte_mbuf.
 * @param filter A struct hy_ip4_filter. It must not change while it is in use.
 */
bool hy_ip4_filter_match(const void *obj, void *filter);

/** The arc for IPv4 packets that were checked, and whose route is still to be looked up. */
#define HY_IP4_INPUT_ARC "ip4_input"

/** The feature of HY_IP4_INPUT_ARC, and its node. Its cookie is the number of a list. */
#define HY_IP4_FILTER_NODE "ip4_filter"

/** Filters of which one that matches is enough. */
struct hy_ip4_filter_list {
	const struct hy_ip4_filter *filters; /**< Must outlive the graphs. */
	unsigned int nb_filters;             /**< Entries; without any, nothing matches. */
};

/**
 * Configuration of HY_IP4_FILTER_NODE, for hy_node_config(). Packets that match the list of their
 * index's cookie are dropped as "filtered"; with a cookie beyond the lists all are, as "no_list".
 */
struct hy_ip4_filter_config {
	const struct hy_ip4_filter_list *lists; /**< Must outlive the graphs. */
	unsigned int nb_lists;                  /**< Entries. */
};

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
