/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of a packet, of which the first bytes may be shared, or in segments. */
#pragma once

#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_mbuf.h>

#include <hy_flow_apply.h>

#include "lib/flows/internal/flow_list.h"
#include "lib/flows/internal/headers.h"

/* What follows IP. */
enum flow_l4 {
	FLOW_L4_UNREAD,
	FLOW_L4_OTHER, /* without ports, and without a checksum that covers addresses; or not whole */
	FLOW_L4_LATER, /* a fragment but the first */
	FLOW_L4_DEEP,  /* not found in as many bytes as are looked at */
	FLOW_L4_TCP,
	FLOW_L4_UDP,
	FLOW_L4_ICMP6,
};

struct flow_packet {
	struct rte_mbuf *m;
	uint8_t *head;        /* its first bytes */
	uint32_t len;         /* of them may be written; 0 while they are shared */
	bool own;             /* the first buffer and its bytes are this packet's alone */
	bool parted;          /* the first fragment */
	bool routed;          /* the IPv6 destination is a hop on the way */
	bool copied;          /* into a buffer of its own */
	uint8_t ip;           /* 4 or 6: there is such a header; 0: not read yet */
	uint8_t l4_is;        /* enum flow_l4 */
	uint16_t l3, l4, sum; /* where headers are; and the checksum of the last */
	uint16_t why;         /* it is dropped: enum hy_flow_apply_drop */
};

static inline bool
flow_fail(struct flow_packet *p, enum hy_flow_apply_drop why)
{
	p->why = why;
	return false;
}

/* Looks at a packet anew, such as after a change of the headers before IP. */
static inline void
flow_packet_begin(struct flow_packet *p)
{
	const struct rte_mbuf *m = p->m;

	p->own = rte_mbuf_refcnt_read(m) == 1;
	if (unlikely((m->ol_flags & (RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL)) != 0))
		p->own = p->own && (m->ol_flags & RTE_MBUF_F_INDIRECT) == 0 &&
			rte_mbuf_ext_refcnt_read(m->shinfo) == 1;
	p->head = rte_pktmbuf_mtod(m, uint8_t *);
	p->len = p->own ? RTE_MIN((uint32_t)m->data_len, (uint32_t)HY_FLOW_OPS_HEADERS) : 0;
	p->ip = 0;
	p->l4_is = FLOW_L4_UNREAD;
	p->parted = p->routed = false;
}

/* Bytes of a packet in which headers are looked for. */
static inline uint32_t
flow_window(const struct flow_packet *p)
{
	return RTE_MIN(p->m->pkt_len, (uint32_t)HY_FLOW_OPS_HEADERS);
}

/*
 * Copies the window into a buffer, with headroom, that becomes the first one. Offsets stay right. Returns
 * false, and has changed nothing, if there are no buffers.
 */
bool flow_own(struct flow_packet *p);
/* flow_reach() of more bytes than can be written. */
bool flow_reach_more(struct flow_packet *p, uint32_t n);

/* Makes the first n bytes writable, in one piece. */
static inline bool
flow_reach(struct flow_packet *p, uint32_t n)
{
	return likely(n <= p->len) || flow_reach_more(p, n);
}

/* Makes headroom. */
bool flow_room(struct flow_packet *p, uint32_t n);

/*
 * Updates a checksum by RFC 1624, eqn. 3; change is the sum of ~m + m' of the words that changed, in
 * memory order, as one's complement sums do not depend on it.
 */
static inline void
flow_sum_change(uint8_t *at, uint32_t change)
{
	uint32_t sum = (uint16_t)~flow_load16(at) + change;
	uint16_t result;

	sum = (sum & 0xffff) + (sum >> 16);
	sum = (sum & 0xffff) + (sum >> 16);
	result = (uint16_t)~sum;
	memcpy(at, &result, sizeof(result));
}

/*
 * Routes a packet of IPv4 without tags and options, in bytes of its own. Returns false, and has changed
 * nothing, if it is another one.
 */
static inline bool
flow_route(struct rte_mbuf *m, const uint8_t mac[2 * RTE_ETHER_ADDR_LEN])
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	uint8_t *ip = frame + RTE_ETHER_HDR_LEN;
	uint16_t was;

	if (unlikely(rte_mbuf_refcnt_read(m) != 1 ||
		    m->data_len < RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr) ||
		    (m->ol_flags & (RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL)) != 0))
		return false;
	was = flow_load16(ip + offsetof(struct rte_ipv4_hdr, time_to_live));
	if (unlikely(flow_load16(ip - sizeof(uint16_t)) != RTE_BE16(RTE_ETHER_TYPE_IPV4) ||
		    ip[0] != RTE_IPV4_VHL_DEF ||
		    ip[offsetof(struct rte_ipv4_hdr, time_to_live)] <= 1))
		return false;
	memcpy(frame, mac, 2 * RTE_ETHER_ADDR_LEN);
	ip[offsetof(struct rte_ipv4_hdr, time_to_live)]--;
	flow_sum_change(ip + offsetof(struct rte_ipv4_hdr, hdr_checksum),
		(uint16_t)~was +
			(uint32_t)(was - RTE_BE16(0x0100))); /* TTL is above the protocol */
	return true;
}

/* Finds IPv4 or IPv6, and makes its header writable. */
bool flow_find_ip(struct flow_packet *p);

static inline bool
flow_ip(struct flow_packet *p)
{
	if (p->ip == 0)
		return flow_find_ip(p);
	return flow_reach(p,
		p->l3 + (p->ip == 4 ? sizeof(struct rte_ipv4_hdr) : sizeof(struct rte_ipv6_hdr)));
}

/* Finds what is behind IP, and makes its header writable too. */
bool flow_l4(struct flow_packet *p);

/* Changes; each returns false, with a reason, if the packet is to be dropped. */
bool flow_set_tos(struct flow_packet *p, uint8_t value, uint8_t mask);
bool flow_set_ttl(struct flow_packet *p, uint8_t value);
bool flow_dec_ttl(struct flow_packet *p);
bool flow_set_address(struct flow_packet *p, const struct flow_step *step);
bool flow_set_port(struct flow_packet *p, const struct flow_step *step);
bool flow_encap(struct flow_packet *p, const struct flow_outer *outer);
bool flow_decap(struct flow_packet *p);

/* Does a step that is no output. */
bool flow_edit(struct flow_packet *p, const struct flow_step *step);
