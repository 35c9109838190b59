/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of IP and what it carries, with their checksums. */

#include <rte_tcp.h>
#include <rte_udp.h>

#include "flow_edit.h"

#define IP4(field) offsetof(struct rte_ipv4_hdr, field)
#define IP6(field) offsetof(struct rte_ipv6_hdr, field)
#define IP6_VERSION 6

bool
flow_find_ip(struct flow_packet *p)
{
	uint32_t at = RTE_ETHER_HDR_LEN, size = sizeof(struct rte_ipv6_hdr);
	rte_be16_t type;
	uint8_t first;

	if (!flow_reach(p, at))
		return false;
	for (;;) {
		type = flow_load16(p->head + at - sizeof(type));
		if (likely(!flow_is_tag(type)))
			break;
		at += sizeof(struct rte_vlan_hdr);
		if (!flow_reach(p, at))
			return false;
	}
	if (!flow_reach(p, at + 1))
		return false;
	first = p->head[at];
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV4) && first >> 4 == IPVERSION)
		size = (first & RTE_IPV4_HDR_IHL_MASK) * RTE_IPV4_IHL_MULTIPLIER;
	else if (type != RTE_BE16(RTE_ETHER_TYPE_IPV6) || first >> 4 != IP6_VERSION)
		return flow_fail(p, HY_FLOW_APPLY_NO_HEADER);
	if (size < sizeof(struct rte_ipv4_hdr))
		return flow_fail(p, HY_FLOW_APPLY_NO_HEADER);
	if (!flow_reach(p, at + size))
		return false;
	p->l3 = (uint16_t)at;
	p->ip = first >> 4;
	return true;
}

bool
flow_set_tos(struct flow_packet *p, uint8_t value, uint8_t mask)
{
	uint16_t was, is, bits;
	uint8_t *ip;

	if (!flow_ip(p))
		return false;
	ip = p->head + p->l3;
	was = rte_be_to_cpu_16(flow_load16(ip));
	bits = p->ip == IPVERSION ? mask : (uint16_t)(mask << 4);
	is = p->ip == IPVERSION ? value : (uint16_t)(value << 4);
	is = rte_cpu_to_be_16((was & (uint16_t)~bits) | (is & bits));
	memcpy(ip, &is, sizeof(is));
	if (p->ip == IPVERSION)
		flow_sum_change(ip + IP4(hdr_checksum), (uint16_t)~rte_cpu_to_be_16(was) + is);
	return true;
}

static inline void
ttl_write(struct flow_packet *p, uint8_t value)
{
	uint8_t *ip = p->head + p->l3;
	uint16_t was;

	if (unlikely(p->ip != IPVERSION)) {
		ip[IP6(hop_limits)] = value;
		return;
	}
	was = flow_load16(ip + IP4(time_to_live));
	ip[IP4(time_to_live)] = value;
	flow_sum_change(ip + IP4(hdr_checksum),
		(uint16_t)~was + flow_load16(ip + IP4(time_to_live)));
}

bool
flow_set_ttl(struct flow_packet *p, uint8_t value)
{
	if (!flow_ip(p))
		return false;
	ttl_write(p, value);
	return true;
}

bool
flow_dec_ttl(struct flow_packet *p)
{
	uint8_t ttl;

	if (!flow_ip(p))
		return false;
	ttl = p->head[p->l3 + (p->ip == IPVERSION ? IP4(time_to_live) : IP6(hop_limits))];
	if (unlikely(ttl <= 1))
		return flow_fail(p, HY_FLOW_APPLY_TTL_EXPIRED);
	ttl_write(p, ttl - 1);
	return true;
}

/* Sums ~m + m' of n bytes, an even number, and writes them. */
static inline uint32_t
words_write(uint8_t *at, const uint8_t *bytes, uint32_t n)
{
	uint32_t change = 0;

	for (uint32_t i = 0; i < n; i += sizeof(uint16_t))
		change += (uint16_t)~flow_load16(at + i) + flow_load16(bytes + i);
	memcpy(at, bytes, n);
	return change;
}

/* The checksum of what IP carries. A UDP packet may have none. */
static void
l4_sum_change(struct flow_packet *p, uint32_t change)
{
	uint8_t *at = p->head + p->sum;

	if (p->l4_is < FLOW_L4_TCP || (p->l4_is == FLOW_L4_UDP && flow_load16(at) == 0))
		return;
	flow_sum_change(at, change);
	if (p->l4_is == FLOW_L4_UDP && flow_load16(at) == 0)
		memset(at, UINT8_MAX, sizeof(uint16_t));
}

bool
flow_set_address(struct flow_packet *p, const struct flow_step *step)
{
	const bool ip4 = step->type == HY_FLOW_OP_IP4_SRC || step->type == HY_FLOW_OP_IP4_DST;
	const bool dst = step->type == HY_FLOW_OP_IP4_DST || step->type == HY_FLOW_OP_IP6_DST;
	uint32_t change;
	uint8_t *ip;

	if (!flow_ip(p))
		return false;
	if (p->ip != (ip4 ? IPVERSION : IP6_VERSION))
		return flow_fail(p, HY_FLOW_APPLY_NO_HEADER);
	if (!flow_l4(p))
		return false;
	if (p->l4_is == FLOW_L4_DEEP)
		return flow_fail(p, HY_FLOW_APPLY_NO_HEADER);
	ip = p->head + p->l3;
	if (ip4) {
		change = words_write(ip + (dst ? IP4(dst_addr) : IP4(src_addr)), step->address,
			sizeof(rte_be32_t));
		flow_sum_change(ip + IP4(hdr_checksum), change);
	} else {
		change = words_write(ip + (dst ? IP6(dst_addr) : IP6(src_addr)), step->address,
			sizeof(step->address));
	}
	if (!dst || !p->routed)
		l4_sum_change(p, change);
	return true;
}

bool
flow_set_port(struct flow_packet *p, const struct flow_step *step)
{
	uint8_t port[sizeof(step->l4)];
	uint32_t at;

	if (!flow_ip(p) || !flow_l4(p))
		return false;
	if (p->l4_is == FLOW_L4_LATER)
		return true;
	if (p->l4_is != FLOW_L4_TCP && p->l4_is != FLOW_L4_UDP)
		return flow_fail(p, HY_FLOW_APPLY_NO_HEADER);
	memcpy(port, &step->l4, sizeof(port));
	at = p->l4 + (step->type == HY_FLOW_OP_L4_DST ? offsetof(struct rte_udp_hdr, dst_port) : 0);
	l4_sum_change(p, words_write(p->head + at, port, sizeof(port)));
	return true;
}
