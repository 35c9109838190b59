/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conformance of ip4_rewrite: packets that pkt_cls passes, to next hops on several ports, and to groups of
 * these, which change between bursts.
 */

#include <string.h>

#include <rte_random.h>

#include <hy_ip4_rewrite.h>
#include <hy_pkt_cls.h>

#include "drivers/nodes/generic/group/suite_hops.h"

static int
setup(const struct hy_suite_side *side, void **state)
{
	struct hy_ip4_fib *fib;
	const int rc = suite_hops_create(side, &fib);

	*state = fib;
	return rc;
}

static void
teardown(void *state)
{
	hy_ip4_fib_destroy(state);
}

static int
configure(void *state, hy_node_id id)
{
	struct hy_ip4_rewrite_config config = { .tables = { .fibs = { state }, .nb_fibs = 1 } };

	suite_hops_edges(config.edge);
	return hy_node_config(id, &config, sizeof(config));
}

static int
change(void *state, uint32_t number)
{
	return suite_hops_change(state, number);
}

/* Repairs the header, except for its TTL. */
static void
mend(struct hy_suite_packet *packet)
{
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(packet->bytes + RTE_ETHER_HDR_LEN);
	const uint8_t type[] = { RTE_ETHER_TYPE_IPV4 >> 8, RTE_ETHER_TYPE_IPV4 & 0xff };

	packet->len = RTE_MAX(packet->len, (uint32_t)HY_IP4_REWRITE_HEADERS);
	packet->bytes[0] &= (uint8_t)~RTE_ETHER_GROUP_ADDR;
	memcpy(packet->bytes + offsetof(struct rte_ether_hdr, ether_type), type, sizeof(type));
	ip->version_ihl = RTE_IPV4_VHL_DEF;
	ip->total_length = rte_cpu_to_be_16((uint16_t)(packet->len - RTE_ETHER_HDR_LEN));
	ip->dst_addr = rte_cpu_to_be_32(RTE_IPV4(10, 1, 2, 3));
	ip->hdr_checksum = 0;
	ip->hdr_checksum = ~rte_raw_cksum(ip, sizeof(*ip));
}

/* Of all kinds of flows: with ports and without, whole and in fragments, and followed by padding. */
static void
flow_set(struct hy_suite_packet *packet)
{
	static const uint8_t protos[] = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP, IPPROTO_ICMP };
	static const uint16_t parts[] = { 0, 0, RTE_BE16(RTE_IPV4_HDR_DF_FLAG),
		RTE_BE16(RTE_IPV4_HDR_MF_FLAG), RTE_BE16(1), RTE_BE16(0x1f00) };
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(packet->bytes + RTE_ETHER_HDR_LEN);

	mend(packet);
	ip->next_proto_id = protos[rte_rand_max(RTE_DIM(protos))];
	ip->fragment_offset = parts[rte_rand_max(RTE_DIM(parts))];
	if (rte_rand_max(4) == 0)
		ip->total_length = rte_cpu_to_be_16((uint16_t)(sizeof(*ip) +
			rte_rand_max(RTE_MIN(packet->len - HY_IP4_REWRITE_HEADERS, 8u) + 1)));
	ip->hdr_checksum = 0;
	ip->hdr_checksum = ~rte_raw_cksum(ip, sizeof(*ip));
}

static void
shape(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	uint32_t dst;

	RTE_SET_USED(state);
	if (hy_pkt_cls_one(packet->bytes, packet->len, false, &dst) != HY_PKT_CLS_NEXT_IP4_LOOKUP)
		mend(packet);
	if ((kind != HY_SUITE_TYPICAL && kind != HY_SUITE_CAPTURED) && rte_rand_max(2) == 0)
		flow_set(packet);
	packet->lanes[HY_IP4_REWRITE_LANE_ROUTE] = suite_hops_route(kind);
}

HY_SUITE(ip4_rewrite, .nb_edges = SUITE_PORTS, .setup = setup, .teardown = teardown,
	.configure = configure, .shape = shape, .change = change);
