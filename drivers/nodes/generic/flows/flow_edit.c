/* SPDX-License-Identifier: BSD-3-Clause */
/* Steps of lists: Ethernet addresses, tags and marks here, the others elsewhere. */

#include "flow_edit.h"

#define TAG_AT (2 * RTE_ETHER_ADDR_LEN)
#define TAG_SIZE sizeof(struct rte_vlan_hdr)

/* Whether a frame has a tag, whole with what it is followed by. Makes it writable. */
static bool
tag_reach(struct flow_packet *p)
{
	if (!flow_reach(p, RTE_ETHER_HDR_LEN + TAG_SIZE))
		return false;
	return flow_is_tag(flow_load16(p->head + TAG_AT)) || flow_fail(p, HY_FLOW_APPLY_NO_HEADER);
}

static bool
tag_push(struct flow_packet *p, const struct flow_step *step)
{
	const rte_be16_t tag[] = { step->type16, step->tci };

	if (!flow_reach(p, RTE_ETHER_HDR_LEN) || !flow_room(p, sizeof(tag)))
		return false;
	rte_pktmbuf_prepend(p->m, sizeof(tag));
	memmove(p->head - sizeof(tag), p->head, TAG_AT);
	memcpy(p->head - sizeof(tag) + TAG_AT, tag, sizeof(tag));
	flow_packet_begin(p);
	return true;
}

static bool
tag_pop(struct flow_packet *p)
{
	if (!tag_reach(p))
		return false;
	memmove(p->head + TAG_SIZE, p->head, TAG_AT);
	rte_pktmbuf_adj(p->m, TAG_SIZE);
	flow_packet_begin(p);
	return true;
}

static bool
tag_change(struct flow_packet *p, const struct flow_step *step)
{
	rte_be16_t tci;

	if (!tag_reach(p))
		return false;
	tci = flow_load16(p->head + RTE_ETHER_HDR_LEN);
	tci = (tci & (rte_be16_t)~step->mask16) | (step->tci & step->mask16);
	memcpy(p->head + RTE_ETHER_HDR_LEN, &tci, sizeof(tci));
	return true;
}

static inline bool
address_write(struct flow_packet *p, const uint8_t *mac, uint32_t at, uint32_t n)
{
	if (!flow_reach(p, RTE_ETHER_HDR_LEN))
		return false;
	memcpy(p->head + at, mac, n);
	return true;
}

static bool
mark(struct flow_packet *p, uint32_t value)
{
	if (!p->own && !flow_own(p))
		return false;
	p->m->hash.fdir.hi = value;
	p->m->ol_flags |= RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID;
	return true;
}

bool
flow_edit(struct flow_packet *p, const struct flow_step *step)
{
	switch (step->type) {
	case FLOW_STEP_MACS:
		return address_write(p, step->mac, 0, 2 * RTE_ETHER_ADDR_LEN);
	case HY_FLOW_OP_DEC_TTL:
		return flow_dec_ttl(p);
	case HY_FLOW_OP_DST_MAC:
		return address_write(p, step->mac, 0, RTE_ETHER_ADDR_LEN);
	case HY_FLOW_OP_SRC_MAC:
		return address_write(p, step->mac, RTE_ETHER_ADDR_LEN, RTE_ETHER_ADDR_LEN);
	case HY_FLOW_OP_PUSH_VLAN:
		return tag_push(p, step);
	case HY_FLOW_OP_POP_VLAN:
		return tag_pop(p);
	case HY_FLOW_OP_VLAN_TCI:
		return tag_change(p, step);
	case HY_FLOW_OP_TOS:
		return flow_set_tos(p, step->value8, step->mask8);
	case HY_FLOW_OP_TTL:
		return flow_set_ttl(p, step->value8);
	case HY_FLOW_OP_L4_SRC:
	case HY_FLOW_OP_L4_DST:
		return flow_set_port(p, step);
	case HY_FLOW_OP_MARK:
		return mark(p, step->mark);
	case HY_FLOW_OP_DECAP:
		return flow_decap(p);
	case HY_FLOW_OP_OWN:
		return p->own || flow_own(p);
	case HY_FLOW_OP_ENCAP:
		return flow_encap(p, step->outer);
	default: /* HY_FLOW_OP_IP4_SRC to HY_FLOW_OP_IP6_DST */
		return flow_set_address(p, step);
	}
}
