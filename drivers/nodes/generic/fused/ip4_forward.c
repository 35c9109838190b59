/* SPDX-License-Identifier: BSD-3-Clause */
/* ip4_forward: one packet at a time, first its route and then its headers. */

#include "ip4_forward.h"

/* Looks up frames before the first that does not pass the checks or has no route. Returns how many. */
static uint32_t
look(const struct ip4_forward *forward, uint8_t *const frame[], const uint32_t len[], uint32_t id[],
	uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++) {
		uint32_t dst, entry;

		if (hy_pkt_cls_one(frame[i], len[i], false, &dst) != HY_PKT_CLS_NEXT_IP4_LOOKUP)
			break;
		if (rte_lpm_lookup(forward->lpm, dst, &entry) != 0) {
			entry = forward->none;
			if (entry == 0)
				break;
		}
		id[i] = entry & HY_IP4_ID_MASK;
	}
	return i;
}

/* Of a frame that the adjacency of its route dropped, because it is a group's. */
static __rte_noinline uint16_t
rewrite_for_member(const struct ip4_forward *forward, uint32_t id, uint8_t *frame, uint32_t len)
{
	const struct hy_ip4_adjacency *adjacency = hy_ip4_adjacency_of(forward->hops, id, frame,
		len);

	return hy_ip4_rewrite_one(frame, len, adjacency, &forward->ports[adjacency->port]);
}

uint32_t
ip4_forward_singly(const struct ip4_forward *forward, uint8_t *const frame[], const uint32_t len[],
	uint16_t next[], uint32_t n)
{
	uint32_t id[HY_BURST_MAX];
	const struct hy_ip4_adjacency *adjacencies;
	uint32_t i;

	n = look(forward, frame, len, id, n);
	/* After all routes, and so once: each time is a barrier on Arm. */
	adjacencies = hy_ip4_adjacencies(forward->hops);
	for (i = 0; i < n; i++) {
		const struct hy_ip4_adjacency *adjacency = &adjacencies[id[i]];

		next[i] = hy_ip4_rewrite_one(frame[i], len[i], adjacency,
			&forward->ports[adjacency->port]);
		if (unlikely((int16_t)next[i] < 0 && hy_ip4_is_group(adjacency)))
			next[i] = rewrite_for_member(forward, id[i], frame[i], len[i]);
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

static uint16_t
stops(void *const objs[], uint16_t n, const char **why)
{
	return ip4_forward_stops(objs, n, 1, why);
}

HY_NODE_FUSION(ip4_forward, scalar, .text = "Looks up a burst, then rewrites it", .run = run,
	.stops = stops, IP4_FORWARD_CHAIN("scalar"));
