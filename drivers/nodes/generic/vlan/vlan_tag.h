/* SPDX-License-Identifier: BSD-3-Clause */
/* The place of a tag in a frame, and its removal. */
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
