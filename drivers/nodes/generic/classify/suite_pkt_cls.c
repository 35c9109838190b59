/* SPDX-License-Identifier: BSD-3-Clause */
/* Conformance of pkt_cls: any frame, with a correct packet type or none. */

#include <rte_random.h>

#include <hy_conform.h>

#include "pkt_cls_kernels.h"

/* The type that a NIC would report. */
static uint32_t
packet_type(const uint8_t *frame)
{
	switch (frame[12] << 8 | frame[13]) {
	case RTE_ETHER_TYPE_IPV4:
		return RTE_PTYPE_L2_ETHER |
			(rte_rand_max(2) ? RTE_PTYPE_L3_IPV4 : RTE_PTYPE_L3_IPV4_EXT_UNKNOWN);
	case RTE_ETHER_TYPE_VLAN:
		return RTE_PTYPE_L2_ETHER_VLAN | RTE_PTYPE_L3_IPV4;
	case RTE_ETHER_TYPE_QINQ:
	case HY_PKT_CLS_ETHER_TYPE_QINQ_OLD:
		return RTE_PTYPE_L2_ETHER_QINQ | RTE_PTYPE_L3_IPV4;
	case RTE_ETHER_TYPE_IPV6:
		return RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV6;
	default:
		return RTE_PTYPE_L2_ETHER;
	}
}

static void
shape(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	RTE_SET_USED(state);
	if (packet->len >= RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr) &&
		(kind == HY_SUITE_TYPICAL || rte_rand_max(4) != 0))
		packet->packet_type = packet_type(packet->bytes);
}

HY_SUITE(pkt_cls, .shape = shape);
