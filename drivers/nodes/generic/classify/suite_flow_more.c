/* SPDX-License-Identifier: BSD-3-Clause */
/* Matches by chance of fields that only software has, and what frames need to match them. */

#include <netinet/in.h>

#include <rte_common.h>
#include <rte_random.h>

#include <hy_flow_cls_node.h>

#include "suite_flow_match.h"

#define L4_SIZE 20 /* of TCP, the longest */
#define MAC_MAX ((UINT64_C(1) << 48) - 1)
#define ACK 0x10
#define RST 0x04

static void
mac_draw(uint32_t *x, uint64_t *mac, uint64_t *mask)
{
	static const uint64_t masks[] = { 0x010000000000, 0x030000000000, 0x7, 0xf00000000001 };

	*mask = masks[hy_suite_flow_number(x) % RTE_DIM(masks)];
	*mac = ((uint64_t)hy_suite_flow_number(x) << 24 | hy_suite_flow_number(x)) & *mask;
}

/* Few bits, so that random packets match too. */
static void
prefix6_draw(uint32_t *x, uint32_t prefix[4], uint8_t *len)
{
	*len = (uint8_t)(1 +
		hy_suite_flow_number(x) % (hy_suite_flow_number(x) % 3 == 0 ? 128 : 6));
	for (uint32_t w = 0; w < 4 && *len > 32 * w; w++) {
		const uint32_t bits = *len - 32 * w;

		prefix[w] = (hy_suite_flow_number(x) << 16 ^ hy_suite_flow_number(x)) &
			(bits >= 32 ? UINT32_MAX : UINT32_MAX << (32 - bits));
	}
}

static void
octets_draw(uint32_t *x, uint8_t range[2])
{
	range[0] = (uint8_t)(hy_suite_flow_number(x) % 200);
	range[1] = (uint8_t)(range[0] + hy_suite_flow_number(x) % (256u - range[0]));
}

static void
flags_draw(uint32_t *x, struct hy_flow_match *m)
{
	m->fields |= hy_suite_flow_number(x) % 2 ? HY_FLOW_TCP_FLAGS : HY_FLOW_ESTABLISHED;
	if ((m->fields & HY_FLOW_TCP_FLAGS) == 0)
		return;
	m->tcp_mask = (uint8_t)(1 << hy_suite_flow_number(x) % 8 | 2);
	m->tcp_flags = (uint8_t)hy_suite_flow_number(x) & m->tcp_mask;
}

static void
icmp_draw(uint32_t *x, struct hy_flow_match *m)
{
	m->fields |= hy_suite_flow_number(x) % 2 ? HY_FLOW_ICMP_TYPE : HY_FLOW_ICMP;
	octets_draw(x, m->icmp_type);
	if ((m->fields & HY_FLOW_ICMP_CODE) != 0)
		octets_draw(x, m->icmp_code);
}

struct hy_flow_match
hy_suite_flow_more(uint32_t *x)
{
	struct hy_flow_match m = { .fields = hy_suite_flow_number(x) % 2 ? HY_FLOW_IPV6 : 0 };

	switch (hy_suite_flow_number(x) % 5) {
	case 0:
		m.fields = hy_suite_flow_number(x) % 4 ? HY_FLOW_DST_MAC : HY_FLOW_SRC_MAC;
		if ((m.fields & HY_FLOW_SRC_MAC) != 0)
			mac_draw(x, &m.src_mac, &m.src_mac_mask);
		else
			mac_draw(x, &m.dst_mac, &m.dst_mac_mask);
		return m;
	case 1:
		flags_draw(x, &m);
		return m;
	case 2:
		icmp_draw(x, &m);
		return m;
	case 3:
		m.fields |= HY_FLOW_FRAGMENT;
		m.fragments = (uint8_t)(1 + hy_suite_flow_number(x) % 7);
		return m;
	default:
		m.fields = HY_FLOW_IPV6 | HY_FLOW_DST |
			(hy_suite_flow_number(x) & (HY_FLOW_SRC | HY_FLOW_PROTO));
		prefix6_draw(x, m.dst6, &m.dst_len);
		if ((m.fields & HY_FLOW_SRC) != 0)
			prefix6_draw(x, m.src6, &m.src_len);
		m.proto = (m.fields & HY_FLOW_PROTO) != 0 ? IPPROTO_UDP : 0;
		return m;
	}
}

static void
mac_write(uint8_t *at, uint64_t mac, uint64_t mask)
{
	const uint64_t value = mac | (rte_rand() & MAC_MAX & ~mask);

	for (unsigned int i = 0; i < 6; i++)
		at[i] = (uint8_t)(value >> 8 * (5 - i));
}

void
hy_suite_flow_macs_write(const struct hy_flow_match *m, uint8_t *frame)
{
	if ((m->fields & HY_FLOW_DST_MAC) != 0)
		mac_write(frame, m->dst_mac, m->dst_mac_mask);
	if ((m->fields & HY_FLOW_SRC_MAC) != 0)
		mac_write(frame + 6, m->src_mac, m->src_mac_mask);
}

uint8_t
hy_suite_flow_proto(const struct hy_flow_match *m)
{
	if ((m->fields & HY_FLOW_PROTO) != 0)
		return m->proto;
	if ((m->fields & HY_FLOW_TCP) != 0)
		return IPPROTO_TCP;
	if ((m->fields & HY_FLOW_ICMP) != 0)
		return (m->fields & HY_FLOW_IPV6) != 0 ? IPPROTO_ICMPV6 : IPPROTO_ICMP;
	return (m->fields & HY_FLOW_TUNNEL) != 0 ? IPPROTO_UDP : 0;
}

void
hy_suite_flow_l4_write(const struct hy_flow_match *m, uint8_t *l4, struct hy_suite_packet *packet)
{
	const uint8_t ack = (m->tcp_mask & ACK) == 0 ? ACK : RST;
	const unsigned int last = (unsigned int)rte_rand_max(2);

	packet->len = RTE_MAX(packet->len, (uint32_t)(l4 - packet->bytes) + L4_SIZE);
	if ((m->fields & HY_FLOW_TCP_FLAGS) != 0)
		l4[13] = (uint8_t)((l4[13] & ~m->tcp_mask) | m->tcp_flags);
	if ((m->fields & HY_FLOW_ESTABLISHED) != 0)
		l4[13] |= ack;
	if ((m->fields & HY_FLOW_ICMP_TYPE) != 0)
		l4[0] = m->icmp_type[last];
	if ((m->fields & HY_FLOW_ICMP_CODE) != 0)
		l4[1] = m->icmp_code[last];
}

uint8_t
hy_suite_flow_fragment(const struct hy_flow_match *m)
{
	uint8_t kind;

	if ((m->fields & HY_FLOW_FRAGMENT) == 0)
		return HY_FLOW_NO_FRAGMENT;
	do {
		kind = (uint8_t)(1 << rte_rand_max(4));
	} while ((m->fragments & kind) == 0);
	return kind;
}

static void
words_write(uint8_t *at, const uint32_t prefix[4], uint8_t len)
{
	for (uint32_t w = 0; w < 4; w++) {
		const uint32_t any = (uint32_t)rte_rand() &
			(len >= 32 * w + 32             ? 0
					: len <= 32 * w ? UINT32_MAX
							: UINT32_MAX >> len % 32);

		for (unsigned int i = 0; i < 4; i++)
			at[4 * w + i] = (uint8_t)((prefix[w] | any) >> 8 * (3 - i));
	}
}

/* Appends a header of 8 bytes. `next` is where its type goes; returns where that of the next goes. */
static uint8_t *
extension_write(uint8_t *next, uint8_t **end, uint8_t type, uint8_t offset)
{
	uint8_t *at = *end;

	*next = type;
	at[1] = 0;
	at[2] = 0;
	at[3] = offset;
	*end += 8;
	return at;
}

/* One header in two is not needed: options, or the fragment header of a whole packet. */
uint8_t *
hy_suite_flow_ip6_write(const struct hy_flow_match *m, uint8_t *ip)
{
	const uint8_t kind = hy_suite_flow_fragment(m);
	uint8_t *end = ip + 40, *next = ip + 6;

	ip[0] = (uint8_t)(0x60 | m->dscp >> 2);
	ip[1] = (uint8_t)(m->dscp << 6);
	if ((m->fields & HY_FLOW_SRC) != 0)
		words_write(ip + 8, m->src6, m->src_len);
	if ((m->fields & HY_FLOW_DST) != 0)
		words_write(ip + 24, m->dst6, m->dst_len);
	if (rte_rand_max(2) == 0)
		next = extension_write(next, &end, IPPROTO_DSTOPTS, 0);
	if (kind != HY_FLOW_NO_FRAGMENT || rte_rand_max(4) == 0)
		next = extension_write(next, &end, IPPROTO_FRAGMENT,
			kind == HY_FLOW_FIRST_FRAGMENT           ? 1
				: kind == HY_FLOW_LATER_FRAGMENT ? 8
								 : 0);
	*next = hy_suite_flow_proto(m);
	return end;
}
