/* SPDX-License-Identifier: BSD-3-Clause */
/* ttl_guard: drops packets whose time to live is below a minimum, as in RFC 5082. */

#include "ttl_guard.h"

void
ttl_guard_scalar(uint8_t min_ttl, const uint8_t ttl[], uint16_t next[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		next[i] = ttl[i] >= min_ttl ? TTL_GUARD_NEXT_PASS : HY_DROP(TTL_GUARD_TTL_TOO_LOW);
}

static uint16_t
scalar_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return ttl_guard_process(graph, node, objs, n, ttl_guard_scalar);
}

static int
ttl_guard_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	if (config == NULL)
		return hy_node_refuse(graph, node, "needs a struct ttl_guard_config");
	*(struct ttl_guard_config *)node->ctx = *(const struct ttl_guard_config *)config;
	return 0;
}

HY_NODE_FAMILY(ttl_guard,
	.text = "Compares one time to live at a time",
	.target = HY_TARGET_PROCESS,
	.score = 10,
	.node = {
		.name = "ttl_guard",
		.impl = {
			.variant = "scalar",
			.process = scalar_process,
			.init = ttl_guard_init,
			.ctx_size = sizeof(struct ttl_guard_config),
		},
		.edges = { [TTL_GUARD_NEXT_PASS] = "ip4_lookup" },
		.drops = {
			[TTL_GUARD_TTL_TOO_LOW] = { "ttl_too_low", HY_SEV_INFO,
				"TTL was below the configured minimum (RFC 5082)" },
		},
	});
