/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the members that packets to groups take: the scalar kernel, and packets for any kernel. */

#include <rte_mbuf.h>

#include <hy_mbuf.h>

#include "ip4_group.h"

void
ip4_members_singly(const struct hy_ip4_adjacency *adjacencies, const uint8_t *const frame[],
	const uint32_t len[], uint32_t id[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct hy_ip4_adjacency *adjacency = &adjacencies[id[i]];
		const struct hy_ip4_buckets *buckets;

		if (!hy_ip4_is_group(adjacency))
			continue;
		buckets = hy_ip4_group_buckets(adjacency);
		id[i] = hy_ip4_group_member(buckets,
			hy_ip4_flow_hash(buckets->seed, frame[i], len[i]));
	}
}

void
ip4_members_find(const struct hy_ip4_adjacency *adjacencies, void **objs, const uint32_t route[],
	uint32_t id[], uint32_t n, ip4_members_t *kernel)
{
	uint8_t bounce[HY_BURST_MAX][HY_IP4_FLOW_BYTES];
	const uint8_t *frame[HY_BURST_MAX];
	uint32_t len[HY_BURST_MAX];

	for (uint32_t i = 0; i < n; i++) {
		const struct rte_mbuf *m = objs[i];

		frame[i] = hy_mbuf_peek(m, HY_IP4_FLOW_BYTES, bounce[i]);
		len[i] = m->pkt_len;
		id[i] = route[i];
	}
	kernel(adjacencies, frame, len, id, n);
}

uint32_t
ip4_member_of(const struct hy_ip4_adjacency *adjacency, const struct rte_mbuf *m)
{
	const struct hy_ip4_buckets *buckets = hy_ip4_group_buckets(adjacency);
	uint8_t bounce[HY_IP4_FLOW_BYTES];

	return hy_ip4_group_member(buckets,
		hy_ip4_flow_hash(buckets->seed, hy_mbuf_peek(m, HY_IP4_FLOW_BYTES, bounce),
			m->pkt_len));
}
