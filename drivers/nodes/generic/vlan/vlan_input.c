/* SPDX-License-Identifier: BSD-3-Clause */
/* vlan_input: sorts the frames of a port by VLAN. */

#include <rte_byteorder.h>
#include <rte_prefetch.h>

#include <hy_node.h>
#include <hy_pkt_cls.h>

#include "vlan_tag.h"

#define HEADERS (VLAN_TAG_AT + HY_VLAN_TAG + sizeof(uint16_t)) /* to the type behind a tag */

/* Frames may start at odd addresses. */
static inline uint16_t
word_at(const uint8_t *frame, unsigned int at)
{
	rte_be16_t word;

	memcpy(&word, frame + at, sizeof(word));
	return rte_be_to_cpu_16(word);
}

static inline bool
is_tag(uint16_t type)
{
	return type == RTE_ETHER_TYPE_VLAN || type == RTE_ETHER_TYPE_QINQ ||
		type == HY_PKT_CLS_ETHER_TYPE_QINQ_OLD;
}

static inline uint16_t
next_of(const struct hy_vlan_input_config *ctx, struct rte_mbuf *m)
{
	uint8_t bounce[HEADERS];
	const uint8_t *frame = hy_mbuf_peek(m, HEADERS, bounce);
	uint16_t type, vid;

	if (unlikely(m->pkt_len < HEADERS))
		return HY_VLAN_INPUT_NEXT_FRAME;
	type = word_at(frame, VLAN_TAG_AT);
	if (!is_tag(type))
		return HY_VLAN_INPUT_NEXT_FRAME;
	if (unlikely(is_tag(word_at(frame, VLAN_TAG_AT + HY_VLAN_TAG))))
		return HY_DROP(HY_VLAN_INPUT_STACKED);
	if (unlikely(type != RTE_ETHER_TYPE_VLAN))
		return HY_VLAN_INPUT_NEXT_FRAME;
	vid = word_at(frame, VLAN_TAG_AT + sizeof(type)) % HY_VLAN_VIDS;
	/* With the other frames of the port, and so in their order. */
	if (vid == 0)
		vlan_tag_pop(m);
	return ctx->edge[vid];
}

static uint16_t
vlan_input_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint16_t next[HY_BURST_MAX];

	for (uint32_t i = 0; i < n; i++)
		rte_prefetch0(rte_pktmbuf_mtod((const struct rte_mbuf *)objs[i], const void *));
	for (uint32_t i = 0; i < n; i++)
		next[i] = next_of(node->ctx, objs[i]);
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static int
vlan_input_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	const uint16_t nb_edges = hy_graph_edge_count(graph, node);
	struct hy_vlan_input_config *ctx = node->ctx;

	if (config == NULL)
		return hy_node_refuse(graph, node, "needs a struct hy_vlan_input_config");
	memcpy(ctx, config, sizeof(*ctx));
	for (unsigned int vid = 0; vid < HY_VLAN_VIDS; vid++)
		if (ctx->edge[vid] >= nb_edges)
			return hy_node_refuse(graph, node,
				"VLAN %u: no edge %u; 0 to %u are accepted", vid, ctx->edge[vid],
				nb_edges - 1);
	if (ctx->edge[0] != HY_VLAN_INPUT_NEXT_FRAME ||
		ctx->edge[HY_VLAN_VID_MAX + 1] != HY_VLAN_INPUT_NEXT_FRAME)
		return hy_node_refuse(graph, node, "VLANs 1 to %d are accepted", HY_VLAN_VID_MAX);
	return 0;
}

HY_NODE_FAMILY(vlan_input,
	.text = "Sorts a port's frames by VLAN",
	.target = HY_TARGET_PORT,
	.score = 10,
	.node = {
		.name = "vlan_input",
		.impl = {
			.variant = "scalar",
			.process = vlan_input_process,
			.init = vlan_input_init,
			.ctx_size = sizeof(struct hy_vlan_input_config),
		},
		.edges = { [HY_VLAN_INPUT_NEXT_FRAME] = "pkt_cls" },
		.drops = {
			[HY_VLAN_INPUT_STACKED] = { "vlan_stacked", HY_SEV_INFO,
				"Has two VLAN tags" },
		},
	});
