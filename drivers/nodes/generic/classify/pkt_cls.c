/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pkt_cls: parses Ethernet and passes IPv4 packets that RFC 1812 allows to forward. Later nodes read
 * the destination from the lane instead of the packet.
 */

#include "pkt_cls_kernels.h"

void
hy_pkt_cls_scalar(const uint8_t *const frame[], const uint32_t len[], uint16_t next[],
	uint32_t dst[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		next[i] = hy_pkt_cls_one(frame[i], len[i], false, &dst[i]);
}

static inline bool
says_ip4(uint32_t ptype)
{
	return (ptype & RTE_PTYPE_L2_MASK) == RTE_PTYPE_L2_ETHER && RTE_ETH_IS_IPV4_HDR(ptype);
}

void
hy_pkt_cls_ptype(const uint8_t *const frame[], const uint32_t len[], const uint32_t ptype[],
	uint16_t next[], uint32_t dst[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		next[i] = hy_pkt_cls_one(frame[i], len[i], says_ip4(ptype[i]), &dst[i]);
}

static uint16_t
scalar_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return hy_pkt_cls_process(graph, node, objs, n, hy_pkt_cls_scalar);
}

static uint16_t
ptype_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint8_t bounce[HY_BURST_MAX][HY_PKT_CLS_HEADERS];
	const uint8_t *frame[HY_BURST_MAX];
	uint32_t len[HY_BURST_MAX], ptype[HY_BURST_MAX];
	uint16_t next[HY_BURST_MAX];
	uint32_t *dst = hy_lane(graph, node, HY_PKT_CLS_LANE_ROUTE), i = 0;

	hy_pkt_cls_frames(objs, n, bounce, frame, len);
	do { /* n is at least 1 */
		ptype[i] = ((const struct rte_mbuf *)objs[i])->packet_type;
	} while (++i < n);
	hy_pkt_cls_ptype(frame, len, ptype, next, dst, n);
	if (hy_pkt_cls_ip6_on(node))
		hy_pkt_cls_ip6_rest(node, frame, len, next, dst, n);
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

HY_NODE_FAMILY(pkt_cls,
	.text = "Parses Ethernet and checks IP headers in software",
	.target = HY_TARGET_PORT,
	.score = 10,
	.node = {
		.name = "pkt_cls",
		.impl = {
			.variant = "scalar",
			.process = scalar_process,
			.init = hy_pkt_cls_init,
			.fini = hy_pkt_cls_fini,
			.ctx_size = sizeof(struct hy_pkt_cls_ctx),
		},
		.edges = { [HY_PKT_CLS_NEXT_IP4_LOOKUP] = "ip4_lookup" },
		.lanes = { [HY_PKT_CLS_LANE_ROUTE] = "ip4_route" },
		.drops = {
			[HY_PKT_CLS_TRUNCATED] = { "truncated", HY_SEV_WARN,
				"The frame ends before its headers or its IP length do" },
			[HY_PKT_CLS_L2_NOT_UNICAST] = { "l2_not_unicast", HY_SEV_INFO,
				"Sent to a group of stations (RFC 1812 5.3.4)" },
			[HY_PKT_CLS_VLAN_UNKNOWN] = { "vlan_unknown", HY_SEV_INFO,
				"Has a VLAN tag of no interface here" },
			[HY_PKT_CLS_NOT_IP4] = { "not_ip4", HY_SEV_INFO,
				"The ether type is not IPv4" },
			[HY_PKT_CLS_BAD_HEADER] = { "bad_header", HY_SEV_WARN,
				"IP version, IHL or length is wrong (RFC 1812 5.2.2, RFC 8200 3)" },
			[HY_PKT_CLS_BAD_CHECKSUM] = { "bad_checksum", HY_SEV_WARN,
				"The IPv4 header checksum is wrong (RFC 1812 5.2.2)" },
			[HY_PKT_CLS_MARTIAN_DST] = { "martian_dst", HY_SEV_WARN,
				"A destination not to forward to (RFC 1812 5.3.7, RFC 4291 2.5)" },
			[HY_PKT_CLS_MARTIAN_SRC] = { "martian_src", HY_SEV_WARN,
				"An IPv6 source not to forward from (RFC 4291 2.5)" },
		},
	});

HY_NODE_VARIANT(pkt_cls, ptype,
	.text = "Trusts the NIC's packet type if it says IPv4",
	.impl.process = ptype_process,
	.needs = { { .cap = HY_CAP_RX_PTYPE_IP4 } },
	.score = 20);
