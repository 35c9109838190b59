/* SPDX-License-Identifier: BSD-3-Clause */
/* Marked packets, and what software has to say of them. */
#ifndef FLOW_CLS_MARK_H
#define FLOW_CLS_MARK_H

#include <netinet/in.h>

#include <rte_ether.h>
#include <rte_ip.h>

#include <hy_mark.h>

#include <hy_flow_cls_node.h>

/* Of a packet whose mark is to be read. */
#define FLOW_CLS_MARKED (RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID)

/* What became of packets that a port with marks received. */
struct mark_tally {
	uint32_t marked, stale, fragments, residue, sampled, mismatches;
	uint32_t misses; /* of mismatches, those that no rule matches */
};

/* Whether a packet has ports in software; of one that is not plain, slowly. */
bool flow_cls_has_ports(const struct rte_mbuf *m);

/* Whether a packet matches the rule of its mark in software. */
bool flow_cls_matches(const struct hy_mark_table *table, const struct hy_mark_slot *slot,
	const struct rte_mbuf *m);

/* Whether a packet that hardware has found ports in is no fragment, and has them itself. */
static __rte_always_inline bool
flow_cls_is_whole(const struct rte_mbuf *m)
{
	const struct rte_ether_hdr *ether = rte_pktmbuf_mtod(m, const void *);
	const struct rte_ipv4_hdr *ip = (const void *)(ether + 1);

	if (unlikely(m->data_len < sizeof(*ether) + sizeof(*ip) ||
		    ether->ether_type != RTE_BE16(RTE_ETHER_TYPE_IPV4)))
		return flow_cls_has_ports(m);
	if (unlikely(ip->next_proto_id != IPPROTO_TCP && ip->next_proto_id != IPPROTO_UDP &&
		    ip->next_proto_id != IPPROTO_SCTP))
		return false;
	return (ip->fragment_offset & RTE_BE16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK)) ==
		0;
}

/*
 * Of a marked packet: the answer of the first rule of the slot's residue that it matches, or else of
 * the mark's own rule; and if the worker's gap has come to its end, that of all rules, by software.
 */
struct hy_flow_cls_answer flow_cls_checked(const struct hy_mark_table *table,
	const struct hy_mark_slot *slot, struct hy_mark_worker *worker, const struct rte_mbuf *m,
	struct mark_tally *t);

/*
 * Looks at packets of a port that came without a valid mark, as many as the worker still may: those
 * at these places of a burst. Counts the ones that hardware should have marked.
 */
void flow_cls_look(const struct hy_mark_table *table, struct hy_mark_worker *worker, void **objs,
	const uint32_t places[], uint32_t n);

#endif
