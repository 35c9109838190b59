/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames for the suite of ip4_forward: to destinations at the limits of routes, as long as ports allow
 * and a byte longer, with checksums near a carry; those that pass the chain, and any others.
 */

#include <string.h>

#include <rte_random.h>

#include <hy_ip4_rewrite.h>
#include <hy_pkt_cls.h>

#include "suite_ip4_forward.h"

#define TRIES 32   /* destinations, until one has a route */
#define TYPICAL 64 /* destinations for benchmarks: few enough for the caches */
#define HEADERS HY_IP4_REWRITE_HEADERS

const uint32_t suite_ip4_max_len[SUITE_IP4_PORTS] = { 1514, 60, 1500, 600, 2000 };

static struct rte_ipv4_hdr *
ip4(struct hy_suite_packet *packet)
{
	return (struct rte_ipv4_hdr *)(packet->bytes + RTE_ETHER_HDR_LEN);
}

/* Anywhere, or at the limits of a route. */
static uint32_t
destination(const struct suite_ip4 *t, enum hy_suite_kind kind)
{
	const uint32_t r = (uint32_t)rte_rand_max(kind == HY_SUITE_TYPICAL ? TYPICAL
									   : t->nb_routes);
	const struct hy_ip4_route *route = &t->routes[r];
	const uint32_t size = route->depth == 32 ? 1 : 1u << (32 - route->depth);
	const uint32_t addresses[] = { route->prefix, route->prefix - 1, route->prefix + size,
		route->prefix + size - 1, route->prefix + (uint32_t)rte_rand_max(size) };

	if (kind == HY_SUITE_TYPICAL)
		return route->prefix + r * 2654435761u % size;
	if (rte_rand_max(4) == 0)
		return (uint32_t)rte_rand();
	return addresses[rte_rand_max(RTE_DIM(addresses))];
}

/* The longest frame that is sent to a destination, by any member of a group; 0: it has no route. */
static uint32_t
limit_of(const struct suite_ip4 *t, uint32_t dst)
{
	struct hy_ip4_next_hop hop;
	struct hy_ip4_route route;

	if (hy_ip4_route_lookup(t->fib, dst, &route, &hop) < 0)
		return 0;
	return suite_ip4_max_len[hop.port < SUITE_IP4_PORTS ? hop.port : SUITE_IP4_SHORTEST];
}

/* Sets the identification so that the header sums to what it did, or to a right checksum. */
static void
sum_keep(struct rte_ipv4_hdr *ip, uint32_t header, uint16_t sum)
{
	uint32_t rest;

	ip->packet_id = 0;
	rest = rte_raw_cksum(ip, header);
	rest = sum + (uint32_t)(uint16_t)~rest;
	ip->packet_id = (uint16_t)((rest & 0xffff) + (rest >> 16));
}

/* Of all kinds of flows: with ports and without, whole and in fragments. */
static void
flow_set(struct rte_ipv4_hdr *ip)
{
	static const uint8_t protos[] = { IPPROTO_TCP, IPPROTO_UDP, IPPROTO_SCTP, IPPROTO_ICMP };
	static const uint16_t parts[] = { 0, 0, RTE_BE16(RTE_IPV4_HDR_DF_FLAG),
		RTE_BE16(RTE_IPV4_HDR_MF_FLAG), RTE_BE16(1), RTE_BE16(0x1f00) };

	ip->next_proto_id = protos[rte_rand_max(RTE_DIM(protos))];
	ip->fragment_offset = parts[rte_rand_max(RTE_DIM(parts))];
}

/* Makes a frame that passes the chain: all but its payload is chosen here. */
static void
pass(const struct suite_ip4 *t, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	static const uint8_t type[] = { RTE_ETHER_TYPE_IPV4 >> 8, RTE_ETHER_TYPE_IPV4 & 0xff };
	static const uint8_t ttls[] = { 2, 3, 127, 128, 254, 255 };
	static const uint16_t sums[] = { 0x0000, 0x0001, 0x00ff, 0x0100, 0xfeff, 0xff00, 0xfffe,
		0xfefe, 0xffff };
	struct rte_ipv4_hdr *ip = ip4(packet);
	uint32_t dst = 0, limit = 0, spare;

	for (unsigned int i = 0; i < TRIES; i++) {
		dst = destination(t, kind);
		limit = limit_of(t, dst);
		if (limit != 0 && !hy_pkt_cls_is_martian(dst))
			break;
	}
	limit = RTE_MAX(limit,
		suite_ip4_max_len[SUITE_IP4_SHORTEST]); /* no table has no routes at all */
	if (packet->len > limit || (kind != HY_SUITE_TYPICAL && rte_rand_max(4) == 0))
		packet->len = limit - (uint32_t)rte_rand_max(3); /* as long as the port allows */
	else if (kind != HY_SUITE_TYPICAL && rte_rand_max(8) == 0)
		packet->len = HEADERS + (uint32_t)rte_rand_max(4);
	spare = rte_rand_max(8) == 0 ? (uint32_t)rte_rand_max(packet->len - HEADERS + 1) : 0;
	packet->bytes[0] &= (uint8_t)~RTE_ETHER_GROUP_ADDR;
	memcpy(packet->bytes + offsetof(struct rte_ether_hdr, ether_type), type, sizeof(type));
	ip->version_ihl = RTE_IPV4_VHL_DEF; /* vector kernels leave options to the nodes */
	ip->total_length = rte_cpu_to_be_16((uint16_t)(packet->len - RTE_ETHER_HDR_LEN - spare));
	ip->dst_addr = rte_cpu_to_be_32(dst);
	if (kind != HY_SUITE_TYPICAL)
		flow_set(ip);
	ip->time_to_live = rte_rand_max(4) == 0 ? ttls[rte_rand_max(RTE_DIM(ttls))]
						: (uint8_t)(2 + rte_rand_max(254));
	ip->hdr_checksum = rte_rand_max(2) == 0
		? rte_cpu_to_be_16(sums[rte_rand_max(RTE_DIM(sums))])
		: (uint16_t)rte_rand();
	sum_keep(ip, sizeof(*ip), UINT16_MAX);
}

/*
 * Any frame, but with a destination that the table mostly has, the checksum as right or wrong as it was,
 * and often about as long as a port allows.
 */
static void
direct(const struct suite_ip4 *t, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	struct rte_ipv4_hdr *ip = ip4(packet);
	uint32_t header, limit, len;
	uint16_t sum;

	if (packet->len < HEADERS || rte_rand_max(4) == 0)
		return;
	header = RTE_MAX(rte_ipv4_hdr_len(ip), (uint8_t)sizeof(*ip));
	sum = rte_raw_cksum(ip, header);
	ip->dst_addr = rte_cpu_to_be_32(destination(t, kind));
	limit = limit_of(t, rte_be_to_cpu_32(ip->dst_addr));
	if (kind != HY_SUITE_CAPTURED && limit != 0 && rte_rand_max(4) == 0) {
		len = limit - 1 + (uint32_t)rte_rand_max(4);
		if (len >= RTE_ETHER_HDR_LEN + header) {
			packet->len = len;
			ip->total_length = rte_cpu_to_be_16((uint16_t)(len - RTE_ETHER_HDR_LEN));
		}
	}
	sum_keep(ip, header, sum);
}

void
suite_ip4_shape(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	const struct hy_suite *first = hy_suite_find("pkt_cls");

	if (kind == HY_SUITE_TYPICAL || kind == HY_SUITE_PASSING)
		pass(state, kind, packet);
	else
		direct(state, kind, packet);
	first->shape(NULL, kind, packet); /* packet types */
}
