/* SPDX-License-Identifier: BSD-3-Clause */
/* What is known of a packet besides its bytes. */
#pragma once

#include <rte_mbuf.h>

/* Gives a buffer that becomes the first one of a packet what its first one said of it. */
static inline void
mbuf_describe(struct rte_mbuf *head, const struct rte_mbuf *first)
{
	head->port = first->port;
	head->vlan_tci = first->vlan_tci;
	head->vlan_tci_outer = first->vlan_tci_outer;
	head->tx_offload = first->tx_offload;
	head->packet_type = first->packet_type;
	head->hash = first->hash;
	rte_mbuf_dynfield_copy(head, first);
	head->ol_flags |= first->ol_flags & ~(RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL);
}
