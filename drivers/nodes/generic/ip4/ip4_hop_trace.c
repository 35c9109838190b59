/* SPDX-License-Identifier: BSD-3-Clause */
/* What a trace shows of a rewrite, of either family: the next hop, and of which group it is a member. */

#include <stdio.h>
#include <string.h>

#include <hy_ip4_group_view.h>
#include <hy_trace.h>

#include "ip4_rewrite_one.h"

struct hop_traced {
	struct hy_ip4_adjacency adjacency;
	uint32_t id;
};

size_t
ip4_hop_snapshot(const struct hy_ip4_view *view, uint32_t id, const struct rte_mbuf *m,
	uint32_t (*member_of)(const struct hy_ip4_adjacency *group, const struct rte_mbuf *m),
	void *data)
{
	struct hop_traced traced = { .adjacency = hy_ip4_adjacencies(view)[id], .id = id };

	if (hy_ip4_is_group(&traced.adjacency)) {
		traced.id = member_of(&traced.adjacency, m);
		traced.adjacency = hy_ip4_adjacencies(view)[traced.id];
	}
	memcpy(data, &traced, sizeof(traced));
	return sizeof(traced);
}

int
ip4_hop_format(const struct hy_trace_record *record, uint32_t route, char *text, size_t size)
{
	char mac[RTE_ETHER_ADDR_FMT_SIZE], group[sizeof("group 16777215, ")] = "";
	struct hop_traced traced;

	memcpy(&traced, record->data, sizeof(traced));
	rte_ether_format_addr(mac, sizeof(mac), &traced.adjacency.l2.dst_addr);
	if (traced.id != route)
		snprintf(group, sizeof(group), "group %u, ", route & HY_IP4_ID_MASK);
	return snprintf(text, size, "%snext hop %u, port %u, %s", group, traced.id,
		traced.adjacency.port, mac);
}
