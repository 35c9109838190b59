/* SPDX-License-Identifier: BSD-3-Clause */
/* vlan_push: adds the tag of one VLAN to each frame. */

#include <rte_byteorder.h>

#include <hy_node.h>

#include "vlan_tag.h"

/* There is room for the tag in front of the frame. */
void
vlan_tag_push_in_pieces(struct rte_mbuf *m, const uint8_t tag[HY_VLAN_TAG])
{
	uint8_t copy[HY_VLAN_TAG + VLAN_TAG_AT];
	const uint8_t *head = rte_pktmbuf_read(m, 0, sizeof(copy), copy);

	memmove(copy, head + HY_VLAN_TAG, VLAN_TAG_AT);
	memcpy(copy + VLAN_TAG_AT, tag, HY_VLAN_TAG);
	hy_mbuf_poke(m, copy, sizeof(copy));
}

static uint16_t
vlan_push_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_vlan_push_ctx *ctx = node->ctx;
	uint16_t next[HY_BURST_MAX];

	for (uint32_t i = 0; i < n; i++)
		next[i] = likely(vlan_tag_push(objs[i], ctx->tag))
			? (uint16_t)HY_VLAN_PUSH_NEXT_FRAME
			: HY_DROP(HY_VLAN_PUSH_NO_ROOM);
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static int
vlan_push_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	const struct hy_vlan_push_config *push_config = config;
	struct hy_vlan_push_ctx *ctx = node->ctx;
	rte_be16_t words[HY_VLAN_TAG / sizeof(rte_be16_t)];

	if (push_config == NULL)
		return hy_node_refuse(graph, node, "needs a struct hy_vlan_push_config");
	if (push_config->vid == 0 || push_config->vid > HY_VLAN_VID_MAX)
		return hy_node_refuse(graph, node, "VLAN %u: 1 to %d are accepted",
			push_config->vid, HY_VLAN_VID_MAX);
	words[0] = RTE_BE16(RTE_ETHER_TYPE_VLAN);
	words[1] = rte_cpu_to_be_16(push_config->vid);
	memcpy(ctx->tag, words, sizeof(words));
	return 0;
}

HY_NODE_FAMILY(vlan_push,
	.text = "Adds VLAN tags in software",
	.target = HY_TARGET_PORT,
	.score = 10,
	.node = {
		.name = "vlan_push",
		.impl = {
			.variant = "scalar",
			.process = vlan_push_process,
			.init = vlan_push_init,
			.ctx_size = sizeof(struct hy_vlan_push_ctx),
		},
		.edges = { [HY_VLAN_PUSH_NEXT_FRAME] = "ethdev_tx" },
		.drops = {
			[HY_VLAN_PUSH_NO_ROOM] = { "no_room", HY_SEV_ERROR,
				"The first buffer has no room for a tag" },
		},
	});
