/* SPDX-License-Identifier: BSD-3-Clause */
/* vlan_pop: removes the VLAN tag of each frame. */

#include <hy_node.h>

#include "vlan_tag.h"

/* Some segments may become empty. */
void
vlan_tag_pop_in_pieces(struct rte_mbuf *m)
{
	uint8_t copy[VLAN_TAG_AT + HY_VLAN_TAG];
	const uint8_t *head = rte_pktmbuf_read(m, 0, sizeof(copy), copy);

	memmove(copy + HY_VLAN_TAG, head, VLAN_TAG_AT);
	hy_mbuf_poke(m, copy, sizeof(copy)); /* of which the first bytes go */
	m->pkt_len -= HY_VLAN_TAG;
	for (uint16_t left = HY_VLAN_TAG; left > 0; m = m->next) {
		const uint16_t n = RTE_MIN(left, m->data_len);

		m->data_off += n;
		m->data_len -= n;
		left -= n;
	}
}

static uint16_t
vlan_pop_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	for (uint32_t i = 0; i < n; i++)
		vlan_tag_pop(objs[i]);
	hy_stream_move(graph, node, HY_VLAN_POP_NEXT_FRAME, n);
	return n;
}

HY_NODE_FAMILY(vlan_pop,
	.text = "Removes VLAN tags in software",
	.target = HY_TARGET_PORT,
	.score = 10,
	.node = {
		.name = "vlan_pop",
		.impl = { .variant = "scalar", .process = vlan_pop_process },
		.edges = { [HY_VLAN_POP_NEXT_FRAME] = "pkt_cls" },
	});
