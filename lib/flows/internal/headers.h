/* SPDX-License-Identifier: BSD-3-Clause */
/* Headers of frames, for keys of flows and for changes of packets. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <netinet/in.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_vxlan.h>

#define FLOW_VXLAN_PORT RTE_BE16(RTE_VXLAN_DEFAULT_PORT)
#define FLOW_VXLAN_HAS_VNI 0x08 /* the flag I of RFC 7348 */

/* Most extension headers of IPv6 that are walked, and bytes of them. */
#define FLOW_EXTENSIONS 8
#define FLOW_EXTENSION_BYTES 128u
#define FLOW_EXTENSION_SIZE 8

static inline rte_be16_t
flow_load16(const uint8_t *at)
{
	rte_be16_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* In memory order. */
static inline uint64_t
flow_load64(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return value;
}

/* 0x8100, 0x88a8, and 0x9100 from before 802.1ad. */
static inline bool
flow_is_tag(rte_be16_t type)
{
	return type == RTE_BE16(RTE_ETHER_TYPE_VLAN) || type == RTE_BE16(RTE_ETHER_TYPE_QINQ) ||
		type == RTE_BE16(RTE_ETHER_TYPE_QINQ1);
}

/* Headers between IPv6 and what it carries (RFC 8200, section 4; RFC 4302). */
static inline bool
flow_is_extension(uint8_t next)
{
	return next == IPPROTO_HOPOPTS || next == IPPROTO_ROUTING || next == IPPROTO_FRAGMENT ||
		next == IPPROTO_AH || next == IPPROTO_DSTOPTS;
}

/* Bytes of such a header, by its second byte. */
static inline uint32_t
flow_extension_size(uint8_t type, uint8_t units)
{
	if (type == IPPROTO_FRAGMENT)
		return FLOW_EXTENSION_SIZE;
	return type == IPPROTO_AH ? (units + 2u) * 4 : (units + 1u) * 8;
}
