/* SPDX-License-Identifier: BSD-3-Clause */
/* A choice of packets by their IPv4 header. */

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>

#include <hy_ip4_filter.h>
#include <hy_mbuf.h>

#define HEADERS (RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr))

static bool
within(rte_be32_t address, const struct hy_ip4_prefix *prefix)
{
	/* A shift by 32 is none at all. */
	return prefix->depth == 0 ||
		(rte_be_to_cpu_32(address) ^ prefix->address) >> (32 - prefix->depth) == 0;
}

bool
hy_ip4_filter_match(const void *obj, void *arg)
{
	const struct hy_ip4_filter *filter = arg;
	const struct rte_mbuf *m = obj;
	uint8_t bounce[HEADERS];
	const uint8_t *frame;
	struct rte_ipv4_hdr ip;
	rte_be16_t type;

	if (m->pkt_len < HEADERS)
		return false;
	frame = hy_mbuf_peek(m, HEADERS, bounce);
	/* Frames may start at odd addresses. */
	memcpy(&type, frame + offsetof(struct rte_ether_hdr, ether_type), sizeof(type));
	memcpy(&ip, frame + RTE_ETHER_HDR_LEN, sizeof(ip));
	return type == RTE_BE16(RTE_ETHER_TYPE_IPV4) && within(ip.src_addr, &filter->src) &&
		within(ip.dst_addr, &filter->dst) &&
		(!filter->has_proto || ip.next_proto_id == filter->proto);
}
