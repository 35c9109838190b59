/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conformance of ip4_rewrite: packets that pkt_cls passes, to next hops on several ports. Between
 * bursts, next hops change their addresses and ports.
 */

#include <stdio.h>
#include <string.h>

#include <rte_random.h>

#include <hy_conform.h>
#include <hy_ip4_rewrite.h>
#include <hy_pkt_cls.h>

#include "ip4_fib.h"

#define PORTS 4
#define NEXT_HOPS 32

static int
fill(struct hy_ip4_fib *fib)
{
	static const uint32_t max_len[PORTS] = { 1514, 60, 1500, 600 };
	int rc = 0;

	for (uint16_t p = 0; p < PORTS && rc == 0; p++) {
		const struct hy_ip4_port port = {
			.port = p, .mac = { { 2, 0, 0, 0, 1, (uint8_t)p } }, .max_len = max_len[p]
		};

		rc = hy_ip4_port_add(fib, &port);
	}
	for (uint32_t h = 0; h < NEXT_HOPS && rc == 0; h++) {
		const struct hy_ip4_next_hop hop = { .port = (uint16_t)(h % PORTS),
			.mac = { { 6, (uint8_t)(h * 7), 1, 2, 3, (uint8_t)h } } };
		uint32_t id;

		rc = hy_ip4_next_hop_add(fib, &hop, &id);
	}
	return rc;
}

static int
setup(const struct hy_suite_side *side, void **state)
{
	const struct hy_ip4_fib_params params = { .max_routes = 1,
		.max_next_hops = NEXT_HOPS,
		.max_tbl8s = 1,
		.socket = SOCKET_ID_ANY,
		.qsbr = side->qsbr };
	char name[IP4_FIB_NAME_MAX + 1];
	struct hy_ip4_fib *fib = NULL;
	int rc;

	snprintf(name, sizeof(name), "suite-%s", side->name);
	rc = hy_ip4_fib_create(name, &params, &fib);
	if (rc == 0)
		rc = fill(fib);
	if (rc < 0)
		hy_ip4_fib_destroy(fib);
	*state = fib;
	return rc;
}

static void
teardown(void *state)
{
	hy_ip4_fib_destroy(state);
}

static int
configure(void *state, hy_node_id id)
{
	struct hy_ip4_rewrite_config config = { .tables = { .fibs = { state }, .nb_fibs = 1 } };

	for (uint16_t p = 0; p < RTE_MAX_ETHPORTS; p++)
		config.edge[p] = p < PORTS ? p : HY_IP4_NO_EDGE;
	return hy_node_config(id, &config, sizeof(config));
}

/*
 * Changes a next hop. Typical packets use the next hops of port 0, whose ids are multiples of PORTS:
 * these stay on port 0.
 */
static int
change(void *state, uint32_t number)
{
	const uint32_t id = number % NEXT_HOPS;
	const struct hy_ip4_next_hop hop = {
		.port = (uint16_t)(id % PORTS == 0 ? 0 : (number / NEXT_HOPS + id) % PORTS),
		.mac = { { 6, (uint8_t)(number >> 8), (uint8_t)number, 4, 5, (uint8_t)id } }
	};

	return hy_ip4_next_hop_set(state, id, &hop);
}

/* Repairs the header, except for its TTL. */
static void
mend(struct hy_suite_packet *packet)
{
	struct rte_ipv4_hdr *ip = (struct rte_ipv4_hdr *)(packet->bytes + RTE_ETHER_HDR_LEN);
	const uint8_t type[] = { RTE_ETHER_TYPE_IPV4 >> 8, RTE_ETHER_TYPE_IPV4 & 0xff };

	packet->len = RTE_MAX(packet->len, (uint32_t)HY_IP4_REWRITE_HEADERS);
	packet->bytes[0] &= (uint8_t)~RTE_ETHER_GROUP_ADDR;
	memcpy(packet->bytes + offsetof(struct rte_ether_hdr, ether_type), type, sizeof(type));
	ip->version_ihl = RTE_IPV4_VHL_DEF;
	ip->total_length = rte_cpu_to_be_16((uint16_t)(packet->len - RTE_ETHER_HDR_LEN));
	ip->dst_addr = rte_cpu_to_be_32(RTE_IPV4(10, 1, 2, 3));
	ip->hdr_checksum = 0;
	ip->hdr_checksum = ~rte_raw_cksum(ip, sizeof(*ip));
}

static void
shape(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	uint32_t dst;

	RTE_SET_USED(state);
	if (hy_pkt_cls_one(packet->bytes, packet->len, false, &dst) != HY_PKT_CLS_NEXT_IP4_LOOKUP)
		mend(packet);
	/* Typical packets use a port that accepts them: else the reference would drop some early. */
	packet->lanes[HY_IP4_REWRITE_LANE_ROUTE] = kind == HY_SUITE_TYPICAL
		? PORTS * (uint32_t)rte_rand_max(NEXT_HOPS / PORTS)
		: (uint32_t)rte_rand_max(NEXT_HOPS);
}

HY_SUITE(ip4_rewrite, .nb_edges = PORTS, .setup = setup, .teardown = teardown,
	.configure = configure, .shape = shape, .change = change);
