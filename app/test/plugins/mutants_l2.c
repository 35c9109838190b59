/* SPDX-License-Identifier: BSD-3-Clause */
/* More variants of the pack of mutants.c, of frames with tags. */

#define HY_PACK "mutants"

#include <string.h>

#include <rte_ether.h>

#include <hy_mbuf.h>
#include <hy_node.h>
#include <hy_vlan.h>

#define ADDRESSES (2 * RTE_ETHER_ADDR_LEN)

/* Adds a tag for which there is room, in front or behind. */
static void
push(struct rte_mbuf *m, const uint8_t tag[HY_VLAN_TAG], bool in_front)
{
	uint8_t copy[HY_VLAN_TAG + ADDRESSES];
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	const uint8_t *addresses;

	if (in_front)
		m->data_off -= HY_VLAN_TAG;
	else
		memmove(frame + HY_VLAN_TAG, frame, m->data_len);
	m->data_len += HY_VLAN_TAG;
	m->pkt_len += HY_VLAN_TAG;
	addresses = rte_pktmbuf_read(m, HY_VLAN_TAG, ADDRESSES, copy);
	memmove(copy, addresses, ADDRESSES);
	memcpy(copy + ADDRESSES, tag, HY_VLAN_TAG);
	hy_mbuf_poke(m, copy, sizeof(copy));
}

static void
push_burst(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n, bool moves)
{
	const struct hy_vlan_push_ctx *ctx = node->ctx;
	uint16_t next[HY_BURST_MAX];

	for (uint16_t i = 0; i < n; i++) {
		struct rte_mbuf *m = objs[i];
		const bool in_front = m->data_off >= HY_VLAN_TAG;

		next[i] = in_front || moves ? (uint16_t)HY_VLAN_PUSH_NEXT_FRAME
					    : HY_DROP(HY_VLAN_PUSH_NO_ROOM);
		if (in_front || moves)
			push(m, ctx->tag, in_front);
	}
	hy_enqueue_next(graph, node, next, objs, n);
}

static uint16_t
overruns_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	push_burst(graph, node, objs, n, true);
	return n;
}

HY_NODE_VARIANT(vlan_push, overruns,
	.text = "Does not look whether a buffer has room behind the frame",
	.impl.process = overruns_process);

static uint16_t
only_in_front_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	push_burst(graph, node, objs, n, false);
	return n;
}

HY_NODE_VARIANT(vlan_push, only_in_front,
	.text = "Drops frames that have room behind them only",
	.impl.process = only_in_front_process);
