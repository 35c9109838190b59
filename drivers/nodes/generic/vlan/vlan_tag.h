/* SPDX-License-Identifier: BSD-3-Clause */
/* The place of a tag in a frame; how it is added and removed. */
#pragma once

#include <string.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#include <hy_mbuf.h>
#include <hy_vlan.h>

#define VLAN_TAG_AT (2 * RTE_ETHER_ADDR_LEN) /* behind the addresses */

/* For a frame whose addresses or tag span segments. */
void vlan_tag_pop_in_pieces(struct rte_mbuf *m);

/* Removes the tag that a frame has. */
static inline void
vlan_tag_pop(struct rte_mbuf *m)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);

	if (unlikely(m->data_len < VLAN_TAG_AT + HY_VLAN_TAG)) {
		vlan_tag_pop_in_pieces(m);
		return;
	}
	memmove(frame + HY_VLAN_TAG, frame, VLAN_TAG_AT);
	m->data_off += HY_VLAN_TAG;
	m->data_len -= HY_VLAN_TAG;
	m->pkt_len -= HY_VLAN_TAG;
}

/* Makes room for a tag in front of a frame: in the headroom, or else by moving the first segment. */
static inline bool
vlan_tag_room(struct rte_mbuf *m)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);

	if (likely(m->data_off >= HY_VLAN_TAG))
		m->data_off -= HY_VLAN_TAG;
	else if (rte_pktmbuf_tailroom(m) >= HY_VLAN_TAG)
		memmove(frame + HY_VLAN_TAG, frame, m->data_len);
	else
		return false;
	m->data_len += HY_VLAN_TAG;
	m->pkt_len += HY_VLAN_TAG;
	return true;
}

/* For a frame whose addresses span segments, behind room for the tag. */
void vlan_tag_push_in_pieces(struct rte_mbuf *m, const uint8_t tag[HY_VLAN_TAG]);

/* Adds a tag, as in frames. Returns false, and has changed nothing, if there is no room for it. */
static inline bool
vlan_tag_push(struct rte_mbuf *m, const uint8_t tag[HY_VLAN_TAG])
{
	uint8_t *frame;

	if (unlikely(!vlan_tag_room(m)))
		return false;
	if (unlikely(m->data_len < HY_VLAN_TAG + VLAN_TAG_AT)) {
		vlan_tag_push_in_pieces(m, tag);
		return true;
	}
	frame = rte_pktmbuf_mtod(m, uint8_t *);
	memmove(frame, frame + HY_VLAN_TAG, VLAN_TAG_AT);
	memcpy(frame + VLAN_TAG_AT, tag, HY_VLAN_TAG);
	return true;
}
