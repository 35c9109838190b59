/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A choice of packets by their IPv4 header, for a trace (hy_trace.h).
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

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
