/* SPDX-License-Identifier: BSD-3-Clause */
/* l2_patch: passes a port's frames to another port, with new MAC addresses if so configured. */

#include <string.h>

#include <rte_prefetch.h>

#include <hy_l2_patch.h>
#include <hy_mbuf.h>
#include <hy_node.h>

#define ADDRESSES (2 * RTE_ETHER_ADDR_LEN)

/* Addresses of a configuration are next to one another as in frames. */
static_assert(offsetof(struct hy_l2_patch_config, src) ==
		offsetof(struct hy_l2_patch_config, dst) + RTE_ETHER_ADDR_LEN,
	"addresses are written at once");

static inline uint16_t
patch(const struct hy_l2_patch_config *ctx, struct rte_mbuf *m)
{
	const uint8_t *addresses = ctx->dst.addr_bytes;

	if (unlikely(m->pkt_len < RTE_ETHER_HDR_LEN))
		return HY_DROP(HY_L2_PATCH_TRUNCATED);
	if (!ctx->update)
		return HY_L2_PATCH_NEXT_FRAME;
	if (likely(m->data_len >= ADDRESSES))
		memcpy(rte_pktmbuf_mtod(m, uint8_t *), addresses, ADDRESSES);
	else
		hy_mbuf_poke(m, addresses, ADDRESSES);
	return HY_L2_PATCH_NEXT_FRAME;
}

static uint16_t
l2_patch_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct hy_l2_patch_config *ctx = node->ctx;
	uint16_t next[HY_BURST_MAX];

	for (uint32_t i = 0; i < n && ctx->update; i++)
		rte_prefetch0(rte_pktmbuf_mtod((const struct rte_mbuf *)objs[i], const void *));
	for (uint32_t i = 0; i < n; i++)
		next[i] = patch(ctx, objs[i]);
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static int
l2_patch_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	if (config == NULL)
		return hy_node_refuse(graph, node, "needs a struct hy_l2_patch_config");
	memcpy(node->ctx, config, sizeof(struct hy_l2_patch_config));
	return 0;
}

HY_NODE_FAMILY(l2_patch,
	.text = "Passes a port's frames to another port",
	.target = HY_TARGET_PORT,
	.score = 10,
	.node = {
		.name = "l2_patch",
		.impl = {
			.variant = "scalar",
			.process = l2_patch_process,
			.init = l2_patch_init,
			.ctx_size = sizeof(struct hy_l2_patch_config),
		},
		.edges = { [HY_L2_PATCH_NEXT_FRAME] = "ethdev_tx" },
		.drops = {
			[HY_L2_PATCH_TRUNCATED] = { "truncated", HY_SEV_WARN,
				"Shorter than its Ethernet header" },
		},
	});
