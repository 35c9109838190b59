/* SPDX-License-Identifier: BSD-3-Clause */
/* ip4_forward: one packet at a time. */

#include "ip4_forward.h"

uint32_t
ip4_forward_singly(const struct ip4_forward *forward, uint8_t *const frame[], const uint32_t len[],
	uint16_t next[], uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		const struct hy_ip4_adjacency *adjacency;
		uint32_t dst, entry;

		if (hy_pkt_cls_one(frame[i], len[i], false, &dst) != HY_PKT_CLS_NEXT_IP4_LOOKUP)
			break;
		if (rte_lpm_lookup(forward->lpm, dst, &entry) != 0) {
			entry = forward->none;
			if (entry == 0)
				break;
		}
		adjacency = &hy_ip4_adjacencies(forward->hops)[entry & HY_IP4_ID_MASK];
		next[i] = hy_ip4_rewrite_one(frame[i], len[i], adjacency,
			&forward->ports[adjacency->port]);
		if ((int16_t)next[i] < 0)
			break;
	}
	return i;
}

static uint16_t
run(struct hy_graph *graph __rte_unused, struct hy_node *const nodes[], void **objs, uint16_t n,
	uint16_t next[])
{
	return ip4_forward_run(nodes, objs, n, next, ip4_forward_singly);
}

HY_NODE_FUSION(ip4_forward, scalar, .text = "Reads each header once", .run = run,
	IP4_FORWARD_CHAIN("scalar"));
