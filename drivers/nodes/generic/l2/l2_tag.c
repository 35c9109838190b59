/* SPDX-License-Identifier: BSD-3-Clause */
/* Tags that differ from that of the frame received: named in place, or in a frame of its own. */

#include "drivers/nodes/generic/mbuf/mbuf_describe.h"
#include "l2_tag.h"

#define TAGGED (VLAN_TAG_AT + HY_VLAN_TAG) /* addresses and tag */
#define VID_MASK 0x0fff

/* Of addresses and a tag. */
static void
name_in(uint8_t *head, uint16_t vid)
{
	rte_be16_t tci;

	memcpy(&tci, head + TAGGED - sizeof(tci), sizeof(tci));
	tci = (tci & ~RTE_BE16(VID_MASK)) | rte_cpu_to_be_16(vid);
	memcpy(head + TAGGED - sizeof(tci), &tci, sizeof(tci));
}

void
l2_tag_name(struct rte_mbuf *m, uint16_t vid)
{
	uint8_t copy[TAGGED];

	if (likely(m->data_len >= TAGGED)) {
		name_in(rte_pktmbuf_mtod(m, uint8_t *), vid);
		return;
	}
	memmove(copy, rte_pktmbuf_read(m, 0, sizeof(copy), copy), sizeof(copy));
	name_in(copy, vid);
	hy_mbuf_poke(m, copy, sizeof(copy));
}

/* Writes the first bytes of the copy. Returns how many. */
static uint16_t
head_make(uint8_t *head, const struct rte_mbuf *m, const struct hy_l2_setup *setup, uint32_t lane,
	bool untagged)
{
	uint8_t bounce[TAGGED];
	const bool kept = !untagged && hy_l2_lane_tag(lane) == HY_L2_TAG_ZERO;

	memcpy(head, hy_mbuf_peek(m, TAGGED, bounce), kept ? TAGGED : VLAN_TAG_AT);
	if (untagged)
		return VLAN_TAG_AT;
	if (kept)
		name_in(head, hy_l2_lane_vid(lane));
	else
		l2_tag_make(setup, lane, head + VLAN_TAG_AT);
	return TAGGED;
}

/* Puts a buffer in front of a frame, and frees the frame if there is none. */
static struct rte_mbuf *
head_put(struct rte_mbuf *rest, const uint8_t *bytes, uint16_t n)
{
	struct rte_mbuf *head = rte_pktmbuf_alloc(rest->pool);

	if (head == NULL || rte_pktmbuf_tailroom(head) < n) {
		rte_pktmbuf_free(head);
		rte_pktmbuf_free(rest);
		return NULL;
	}
	memcpy(rte_pktmbuf_append(head, n), bytes, n);
	mbuf_describe(head, rest);
	head->next = rest;
	head->nb_segs = (uint16_t)(rest->nb_segs + 1);
	head->pkt_len = n + rest->pkt_len;
	return head;
}

struct rte_mbuf *
l2_tag_copy(struct rte_mbuf *m, const struct hy_l2_setup *setup, uint32_t lane, bool untagged)
{
	const uint16_t skip = hy_l2_lane_tag(lane) == HY_L2_TAG_NONE ? VLAN_TAG_AT : TAGGED;
	uint8_t head[TAGGED];
	const uint16_t n = head_make(head, m, setup, lane, untagged);
	/* Without its first bytes, of which a frame in small pieces would leave empty segments. */
	struct rte_mbuf *rest = likely(m->data_len > skip)
		? rte_pktmbuf_clone(m, m->pool)
		: rte_pktmbuf_copy(m, m->pool, skip, UINT32_MAX);

	if (rest == NULL)
		return NULL;
	if (likely(m->data_len > skip))
		rte_pktmbuf_adj(rest, skip);
	return head_put(rest, head, n);
}
