/* SPDX-License-Identifier: BSD-3-Clause */
/* Gives a packet a first buffer of its own. */

#include "drivers/nodes/generic/mbuf/mbuf_describe.h"
#include "flow_edit.h"

/* References to a packet's buffers without its first bytes, of which there are more. */
static struct rte_mbuf *
rest_of(struct rte_mbuf *m, uint32_t skip, uint16_t *segments)
{
	struct rte_mbuf *rest = rte_pktmbuf_clone(m, m->pool);

	if (rest == NULL)
		return NULL;
	*segments = rest->nb_segs;
	while (skip >= rest->data_len) {
		struct rte_mbuf *next = rest->next;

		skip -= rest->data_len;
		rte_pktmbuf_free_seg(rest);
		rest = next;
		(*segments)--;
	}
	rest->data_off += (uint16_t)skip;
	rest->data_len -= (uint16_t)skip;
	return rest;
}

bool
flow_own(struct flow_packet *p)
{
	struct rte_mbuf *m = p->m, *head = rte_pktmbuf_alloc(m->pool), *rest = NULL;
	const uint32_t n = flow_window(p);
	uint16_t segments = 0;
	const void *bytes;

	if (head == NULL)
		return flow_fail(p, HY_FLOW_APPLY_NO_ROOM);
	if (rte_pktmbuf_tailroom(head) >= n && n < m->pkt_len)
		rest = rest_of(m, n, &segments);
	if (rte_pktmbuf_tailroom(head) < n || (n < m->pkt_len && rest == NULL)) {
		rte_pktmbuf_free(head);
		return flow_fail(p, HY_FLOW_APPLY_NO_ROOM);
	}
	p->head = (uint8_t *)rte_pktmbuf_append(head, (uint16_t)n);
	bytes = rte_pktmbuf_read(m, 0, n, p->head);
	if (bytes != p->head)
		memcpy(p->head, bytes, n);
	mbuf_describe(head, m);
	head->next = rest;
	head->nb_segs = (uint16_t)(1 + segments);
	head->pkt_len = m->pkt_len;
	rte_pktmbuf_free(m);
	p->m = head;
	p->len = n;
	p->own = p->copied = true;
	return true;
}

bool
flow_reach_more(struct flow_packet *p, uint32_t n)
{
	if (n > flow_window(p))
		return flow_fail(p, HY_FLOW_APPLY_NO_HEADER);
	return flow_own(p);
}

bool
flow_room(struct flow_packet *p, uint32_t n)
{
	if (likely(p->own && rte_pktmbuf_headroom(p->m) >= n))
		return true;
	if (!flow_own(p))
		return false;
	return rte_pktmbuf_headroom(p->m) >= n || flow_fail(p, HY_FLOW_APPLY_NO_ROOM);
}
