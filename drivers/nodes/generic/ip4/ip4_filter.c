/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selects packets by their IPv4 header. ip4_filter is the feature that drops the packets which a list
 * of such filters matches.
 */

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>

#include <hy_arc.h>
#include <hy_ip4_filter.h>
#include <hy_mbuf.h>

#define HEADERS (RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr))

enum drop { FILTERED, NO_LIST };
enum lane { LANE_ARC };

struct ctx {
	struct hy_arc_place place;
	struct hy_ip4_filter_config config;
};

static bool
within(rte_be32_t address, const struct hy_ip4_prefix *prefix)
{
	/* C does not define a shift by 32. */
	return prefix->depth == 0 ||
		(rte_be_to_cpu_32(address) ^ prefix->address) >> (32 - prefix->depth) == 0;
}

bool
hy_ip4_filter_match(const void *obj, void *arg)
{
	const struct hy_ip4_filter *filter = arg;
	const struct rte_mbuf *m = obj;
	uint8_t bounce[HEADERS];
	const uint8_t *frame;
	struct rte_ipv4_hdr ip;
	rte_be16_t type;

	if (m->pkt_len < HEADERS)
		return false;
	frame = hy_mbuf_peek(m, HEADERS, bounce);
	/* Frames may start at odd addresses. */
	memcpy(&type, frame + offsetof(struct rte_ether_hdr, ether_type), sizeof(type));
	memcpy(&ip, frame + RTE_ETHER_HDR_LEN, sizeof(ip));
	return type == RTE_BE16(RTE_ETHER_TYPE_IPV4) && within(ip.src_addr, &filter->src) &&
		within(ip.dst_addr, &filter->dst) &&
		(!filter->has_proto || ip.next_proto_id == filter->proto);
}

static inline bool
matches(const struct hy_ip4_filter_list *list, const void *packet)
{
	for (unsigned int f = 0; f < list->nb_filters; f++)
		if (hy_ip4_filter_match(packet, (void *)(uintptr_t)&list->filters[f]))
			return true;
	return false;
}

static uint16_t
filter_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct ctx *ctx = node->ctx;
	struct hy_arc_hop hop[HY_BURST_MAX];
	uint16_t next[HY_BURST_MAX];

	hy_arc_hops(graph, node, &ctx->place, hop, n);
	for (uint16_t i = 0; i < n; i++) {
		if (unlikely(hop[i].cookie >= ctx->config.nb_lists))
			next[i] = HY_DROP(NO_LIST);
		else if (matches(&ctx->config.lists[hop[i].cookie], objs[i]))
			next[i] = HY_DROP(FILTERED);
		else
			next[i] = hop[i].edge;
	}
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static int
filter_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	struct ctx *ctx = node->ctx;

	if (config == NULL)
		return hy_node_refuse(graph, node, "needs a struct hy_ip4_filter_config");
	ctx->config = *(const struct hy_ip4_filter_config *)config;
	return hy_arc_join(graph, node, LANE_ARC, &ctx->place);
}

static const struct hy_node_desc ip4_filter = {
	.name = HY_IP4_FILTER_NODE,
	.impl = {
		.variant = "scalar",
		.process = filter_process,
		.init = filter_init,
		.ctx_size = sizeof(struct ctx),
	},
	.lanes = { [LANE_ARC] = HY_ARC_LANE },
	.drops = {
		[FILTERED] = { "filtered", HY_SEV_INFO,
			"The packet matches a filter of the feature's list" },
		[NO_LIST] = { "no_list", HY_SEV_ERROR,
			"The feature was enabled with a list number that does not exist" },
	},
};

static const struct hy_arc_feature on_ip4_input = {
	.arc = HY_IP4_INPUT_ARC,
	.node = HY_IP4_FILTER_NODE,
};

HY_NODE_REGISTER(ip4_filter)
HY_ARC_FEATURE_REGISTER(on_ip4_input)
