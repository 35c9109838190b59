/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selects packets by their IPv4 or IPv6 header. ip4_filter and ip6_filter are the features that drop the
 * packets which a list of such filters matches.
 */

#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>

#include <hy_arc.h>
#include <hy_ip_filter.h>
#include <hy_mbuf.h>

#define HEADERS (RTE_ETHER_HDR_LEN + sizeof(struct rte_vlan_hdr) + sizeof(struct rte_ipv6_hdr))

enum drop { FILTERED, NO_LIST };
enum lane { LANE_ARC };

struct ctx {
	struct hy_arc_place place;
	struct hy_ip_filter_config config;
};

/* What filters look at. */
struct header {
	enum hy_ip_family family;
	const uint8_t *src, *dst;
	uint8_t proto;
};

/* Finds the header behind an ether type. Returns false if it is another one's, or cut. */
static bool
header_find(const uint8_t *ip, uint32_t len, rte_be16_t type, struct header *header)
{
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV4) && len >= sizeof(struct rte_ipv4_hdr)) {
		*header = (struct header){ HY_IP_V4, ip + offsetof(struct rte_ipv4_hdr, src_addr),
			ip + offsetof(struct rte_ipv4_hdr, dst_addr),
			ip[offsetof(struct rte_ipv4_hdr, next_proto_id)] };
		return true;
	}
	if (type == RTE_BE16(RTE_ETHER_TYPE_IPV6) && len >= sizeof(struct rte_ipv6_hdr)) {
		*header = (struct header){ HY_IP_V6, ip + offsetof(struct rte_ipv6_hdr, src_addr),
			ip + offsetof(struct rte_ipv6_hdr, dst_addr),
			ip[offsetof(struct rte_ipv6_hdr, proto)] };
		return true;
	}
	return false;
}

static bool
within(enum hy_ip_family family, const uint8_t *address, const struct hy_ip_prefix *prefix)
{
	const unsigned int bytes = prefix->depth / 8, bits = prefix->depth % 8;

	if (prefix->family == HY_IP_ANY)
		return true;
	return prefix->family == family && memcmp(address, prefix->address, bytes) == 0 &&
		(bits == 0 || (address[bytes] ^ prefix->address[bytes]) >> (8 - bits) == 0);
}

bool
hy_ip_filter_match(const void *obj, void *arg)
{
	const struct hy_ip_filter *filter = arg;
	const struct rte_mbuf *m = obj;
	uint8_t bounce[HEADERS];
	const uint8_t *frame = hy_mbuf_peek(m, HEADERS, bounce);
	uint32_t at = RTE_ETHER_HDR_LEN; /* behind the ether type */
	struct header header;
	rte_be16_t type;

	if (m->pkt_len < at)
		return false;
	/* Frames may start at odd addresses. */
	memcpy(&type, frame + at - sizeof(type), sizeof(type));
	if (type == RTE_BE16(RTE_ETHER_TYPE_VLAN)) {
		at += sizeof(struct rte_vlan_hdr);
		if (m->pkt_len < at)
			return false;
		memcpy(&type, frame + at - sizeof(type), sizeof(type));
	}
	return header_find(frame + at, m->pkt_len - at, type, &header) &&
		within(header.family, header.src, &filter->src) &&
		within(header.family, header.dst, &filter->dst) &&
		(!filter->has_proto || header.proto == filter->proto);
}

static inline bool
matches(const struct hy_ip_filter_list *list, const void *packet)
{
	for (unsigned int f = 0; f < list->nb_filters; f++)
		if (hy_ip_filter_match(packet, (void *)(uintptr_t)&list->filters[f]))
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
		return hy_node_refuse(graph, node, "needs a struct hy_ip_filter_config");
	ctx->config = *(const struct hy_ip_filter_config *)config;
	return hy_arc_join(graph, node, LANE_ARC, &ctx->place);
}

#define FILTER(name_) \
	{ \
		.name = (name_), \
		.impl = { \
			.variant = "scalar", \
			.process = filter_process, \
			.init = filter_init, \
			.ctx_size = sizeof(struct ctx), \
		}, \
		.lanes = { [LANE_ARC] = HY_ARC_LANE }, \
		.drops = { \
			[FILTERED] = { "filtered", HY_SEV_INFO, \
				"The packet matches a filter of the feature's list" }, \
			[NO_LIST] = { "no_list", HY_SEV_ERROR, \
				"The feature was enabled with a list number that does not exist" }, \
		}, \
	}

static const struct hy_node_desc ip4_filter = FILTER(HY_IP4_FILTER_NODE);
static const struct hy_node_desc ip6_filter = FILTER(HY_IP6_FILTER_NODE);

static const struct hy_arc_feature on_ip4_input = {
	.arc = HY_IP4_INPUT_ARC,
	.node = HY_IP4_FILTER_NODE,
};
static const struct hy_arc_feature on_ip6_input = {
	.arc = HY_IP6_INPUT_ARC,
	.node = HY_IP6_FILTER_NODE,
};

HY_NODE_REGISTER(ip4_filter)
HY_NODE_REGISTER(ip6_filter)
HY_ARC_FEATURE_REGISTER(on_ip4_input)
HY_ARC_FEATURE_REGISTER(on_ip6_input)
