/* SPDX-License-Identifier: BSD-3-Clause */
/* How software checks marked packets. */
#pragma once

#include <netinet/in.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_ip.h>

#include <hy_mark.h>

#include <hy_flow_cls_node.h>

/* Flags of a packet with a mark. */
#define FLOW_CLS_MARKED (RTE_MBUF_F_RX_FDIR | RTE_MBUF_F_RX_FDIR_ID)

/* Counts of the packets that a port with marks received. */
struct mark_tally {
	uint32_t marked, stale, fragments, residue, sampled, mismatches;
	uint32_t misses; /* mismatches that no rule matches */
};

/*
 * The slot that a packet's mark names; NULL: none. marked: whether it has a mark at all. Mark 0 is that of a
 * free slot.
 */
static __rte_always_inline const struct hy_mark_slot *
mark_slot(const struct hy_mark_table *table, const struct rte_mbuf *m, bool *marked)
{
	const uint32_t mark = m->hash.fdir.hi;
	const struct hy_mark_slot *slot = &table->slots[mark & table->slot_mask];

	*marked = (m->ol_flags & FLOW_CLS_MARKED) == FLOW_CLS_MARKED;
	return likely(*marked && slot->mark == mark && mark != 0) ? slot : NULL;
}

/* Adds to a counter of this worker that other threads read. */
static inline void
mark_count(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

/* Whether software finds ports in a packet. Slow: for packets that are not plain. */
bool flow_cls_has_ports(const struct rte_mbuf *m);

/* Whether a packet matches the rule of its mark, by software. */
bool flow_cls_matches(const struct hy_mark_table *table, const struct hy_mark_slot *slot,
	const struct rte_mbuf *m);

/* Whether a packet in which hardware found ports is not a fragment and has these ports itself. */
static __rte_always_inline bool
flow_cls_is_whole(const struct rte_mbuf *m)
{
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *); /* at any address */
	struct rte_ipv4_hdr ip;
	rte_be16_t type;

	if (unlikely(m->data_len < RTE_ETHER_HDR_LEN + sizeof(ip)))
		return flow_cls_has_ports(m);
	memcpy(&type, frame + RTE_ETHER_HDR_LEN - sizeof(type), sizeof(type));
	memcpy(&ip, frame + RTE_ETHER_HDR_LEN, sizeof(ip));
	if (unlikely(type != RTE_BE16(RTE_ETHER_TYPE_IPV4)))
		return flow_cls_has_ports(m);
	if (unlikely(ip.next_proto_id != IPPROTO_TCP && ip.next_proto_id != IPPROTO_UDP &&
		    ip.next_proto_id != IPPROTO_SCTP))
		return false;
	return (ip.fragment_offset & RTE_BE16(RTE_IPV4_HDR_MF_FLAG | RTE_IPV4_HDR_OFFSET_MASK)) ==
		0;
}

/*
 * Classifies a marked packet: by the first rule of the slot's residue that it matches, or else by the
 * mark's own rule; if the worker's gap is used up, by all rules in software.
 */
struct hy_flow_cls_answer flow_cls_checked(const struct hy_mark_table *table,
	const struct hy_mark_slot *slot, struct hy_mark_worker *worker, const struct rte_mbuf *m,
	struct mark_tally *t);

/* Records a packet that hardware and software classify differently; sw NULL: no rule matches. */
void flow_cls_mismatch(struct hy_mark_worker *worker, const struct rte_mbuf *m,
	const struct hy_policy_rule *hw, const struct hy_policy_rule *sw);

/*
 * The HY_MARK_DUE bit of a rule that applies to a plain packet; 0: hardware may see less of it than
 * software does.
 */
uint8_t flow_cls_kind(const struct rte_mbuf *m, const uint8_t *frame,
	const struct hy_flow_key *key);

/* Whether the port leads a packet to its rules. */
static inline bool
flow_cls_reaches(const struct hy_mark_table *table, const uint8_t *frame)
{
	return !table->own || memcmp(frame, &table->address, sizeof(table->address)) == 0;
}

/* Whether a mark of no rule is that of one that the port did not remove. */
bool flow_cls_is_left_over(const struct hy_mark_table *table, uint32_t mark);

/*
 * Inspects packets of a port without a valid mark, at the given indexes of a burst and as many as the
 * worker still may. Counts those that hardware should have marked or dropped.
 */
void flow_cls_look(const struct hy_mark_table *table, struct hy_mark_worker *worker, void **objs,
	const uint32_t places[], uint32_t n);
