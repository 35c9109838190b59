/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Most frames are plain: Ethernet without tags, IPv4 without options that is not a fragment, and a whole
 * TCP or UDP header. Their fields are at the same places, and are read as whole words, without a branch a
 * field.
 */
#pragma once

#include <assert.h>

#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_tcp.h>

#include "lib/flows/internal/headers.h"

#define FLOWS_PLAIN_LEN \
	(RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr) + sizeof(struct rte_tcp_hdr))
#define FLOWS_PLAIN_START 0x450008u /* the ether type, and the first byte of the IPv4 header */
#define FLOWS_PLAIN_PROTOS (1u << IPPROTO_TCP | 1u << IPPROTO_UDP)
#define FLOWS_FRAGMENT 0xff3fu /* in the word that says where in its packet a fragment belongs */

static_assert(RTE_BYTE_ORDER == RTE_LITTLE_ENDIAN, "fields are told by their shift in words");

/* Whether a frame of FLOWS_PLAIN_LEN bytes or more is plain. */
static __rte_always_inline bool
flows_is_plain(const uint8_t *frame)
{
	const uint64_t start = flow_load64(frame + 12), ip = flow_load64(frame + 16);
	const uint64_t proto = ip >> 56;

	return ((start ^ FLOWS_PLAIN_START) & 0xffffff) == 0 &&
		(ip & (uint64_t)FLOWS_FRAGMENT << 32) == 0 && proto <= 31 &&
		(FLOWS_PLAIN_PROTOS >> proto & 1) != 0;
}
