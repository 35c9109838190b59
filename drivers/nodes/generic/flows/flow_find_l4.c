/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds what IP carries. */

#include <rte_tcp.h>
#include <rte_udp.h>

#include "flow_edit.h"

#define ICMP6_SIZE 4 /* up to the end of the checksum */
#define ICMP6_SUM 2

/* Notes a header that starts at a byte. Returns where it ends, or 0: not in the bytes at hand. */
static uint32_t
note(struct flow_packet *p, uint8_t proto, uint32_t at)
{
	uint32_t size, sum;

	switch (proto) {
	case IPPROTO_TCP:
		p->l4_is = FLOW_L4_TCP;
		size = sizeof(struct rte_tcp_hdr);
		sum = offsetof(struct rte_tcp_hdr, cksum);
		break;
	case IPPROTO_UDP:
		p->l4_is = FLOW_L4_UDP;
		size = sizeof(struct rte_udp_hdr);
		sum = offsetof(struct rte_udp_hdr, dgram_cksum);
		break;
	case IPPROTO_ICMPV6:
		p->l4_is = p->ip == 4 ? FLOW_L4_OTHER : FLOW_L4_ICMP6;
		size = ICMP6_SIZE;
		sum = ICMP6_SUM;
		break;
	default:
		p->l4_is = FLOW_L4_OTHER;
		return at;
	}
	p->l4 = (uint16_t)at;
	p->sum = (uint16_t)(at + sum);
	return p->l4_is == FLOW_L4_OTHER ? at : at + size <= p->len ? at + size : 0;
}

static uint32_t
walk_ip4(struct flow_packet *p)
{
	const uint8_t *ip = p->head + p->l3;
	const rte_be16_t part = flow_load16(ip + offsetof(struct rte_ipv4_hdr, fragment_offset));

	if ((part & RTE_BE16(RTE_IPV4_HDR_OFFSET_MASK)) != 0) {
		p->l4_is = FLOW_L4_LATER;
		return p->l3;
	}
	p->parted = (part & RTE_BE16(RTE_IPV4_HDR_MF_FLAG)) != 0;
	return note(p, ip[offsetof(struct rte_ipv4_hdr, next_proto_id)],
		p->l3 + (ip[0] & RTE_IPV4_HDR_IHL_MASK) * RTE_IPV4_IHL_MULTIPLIER);
}

/* Notes what an extension header says. Returns false if nothing behind it is of this packet's kind. */
static bool
note_extension(struct flow_packet *p, uint8_t type, const uint8_t *header)
{
	const uint16_t part = rte_be_to_cpu_16(flow_load16(header + 2));

	if (type == IPPROTO_ROUTING)
		p->routed |= header[3] > 0; /* segments left */
	if (type != IPPROTO_FRAGMENT)
		return true;
	if ((part & RTE_IPV6_EHDR_FO_MASK) != 0) {
		p->l4_is = FLOW_L4_LATER;
		return false;
	}
	p->parted |= (part & RTE_IPV6_EHDR_MF_MASK) != 0;
	return true;
}

static uint32_t
walk_ip6(struct flow_packet *p)
{
	const uint8_t *ip = p->head + p->l3;
	uint32_t at = p->l3 + (uint32_t)sizeof(struct rte_ipv6_hdr);
	const uint32_t end = at + FLOW_EXTENSION_BYTES;
	uint8_t next = ip[offsetof(struct rte_ipv6_hdr, proto)];

	for (unsigned int n = 0; flow_is_extension(next); n++) {
		const uint8_t type = next;
		uint32_t size;

		if (n < FLOW_EXTENSIONS && at + FLOW_EXTENSION_SIZE > p->len)
			return 0;
		size = n < FLOW_EXTENSIONS ? flow_extension_size(type, p->head[at + 1])
					   : FLOW_EXTENSION_BYTES + 1;
		if (at + size > end) {
			p->l4_is = FLOW_L4_DEEP;
			return at;
		}
		if (at + size > p->len)
			return 0;
		if (!note_extension(p, type, p->head + at))
			return at;
		next = p->head[at];
		at += size;
	}
	return note(p, next, at);
}

bool
flow_l4(struct flow_packet *p)
{
	uint32_t end = 0;

	if (p->l4_is != FLOW_L4_UNREAD)
		return p->l4_is < FLOW_L4_TCP || flow_reach(p, p->sum + sizeof(uint16_t));
	for (;;) {
		end = p->ip == 4 ? walk_ip4(p) : walk_ip6(p);
		if (likely(end != 0))
			return true;
		if (p->len >= flow_window(p))
			break;
		if (!flow_own(p))
			return false;
	}
	/* At the end of the packet, or of what is looked at. */
	p->l4_is = p->m->pkt_len > p->len ? FLOW_L4_DEEP : FLOW_L4_OTHER;
	return true;
}
