/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conformance of pkt_cls: any frame, with a correct packet type or none. First while IPv6 is on, where
 * between bursts it is turned off and on again, and then in a node that has no IPv6.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_random.h>

#include <hy_conform.h>

#include "drivers/nodes/generic/ip6/suite_ip6_frame.h"
#include "pkt_cls_kernels.h"

struct tables {
	struct hy_ip4_fib *next_hops; /* NULL: no IPv6 */
	struct hy_ip6_fib *fib;
	uint32_t quarters; /* of the next packets are IPv6: bursts have one family or both */
};

static int
fill(struct tables *tables)
{
	const struct hy_ip4_port port = { .port = 0, .max_len = RTE_ETHER_MAX_LEN };
	const struct hy_ip4_next_hop hop = { .port = 0 };
	struct hy_ip6_route route = { .depth = 0 };
	int rc = hy_ip4_port_add(tables->next_hops, &port);

	if (rc == 0)
		rc = hy_ip4_next_hop_add(tables->next_hops, &hop, &route.next_hop);
	if (rc == 0)
		rc = hy_ip6_fib_create(tables->next_hops, &tables->fib);
	return rc == 0 ? hy_ip6_routes_set(tables->fib, &route, 1, NULL) : rc;
}

static void
teardown(void *state)
{
	struct tables *tables = state;

	hy_ip6_fib_destroy(tables->fib);
	hy_ip4_fib_destroy(tables->next_hops);
	free(tables);
}

static int
setup(const struct hy_suite_side *side, void **state)
{
	const struct hy_ip4_fib_params params = { .max_routes = 1,
		.max_next_hops = 1,
		.max_tbl8s = 1,
		.socket = SOCKET_ID_ANY,
		.qsbr = side->qsbr };
	struct tables *tables = calloc(1, sizeof(*tables));
	char name[32];
	int rc = 0;

	if (tables == NULL)
		return -ENOMEM;
	snprintf(name, sizeof(name), "suite-%s", side->name);
	if (side->setup == 0)
		rc = hy_ip4_fib_create(name, &params, &tables->next_hops);
	if (rc == 0 && tables->next_hops != NULL)
		rc = fill(tables);
	*state = tables;
	if (rc < 0)
		teardown(tables);
	return rc;
}

static int
configure(void *state, hy_node_id id)
{
	const struct tables *tables = state;
	const struct hy_pkt_cls_config config = { .ip6 = { .fibs = { tables->fib }, .nb_fibs = 1 },
		.ip6_edge = HY_PKT_CLS_NEXT_IP4_LOOKUP + 1 };

	return tables->fib == NULL ? 0 : hy_node_config(id, &config, sizeof(config));
}

static int
change(void *state, uint32_t number)
{
	const struct hy_ip6_route route = { .depth = 0 };
	const struct tables *tables = state;

	return tables->fib == NULL ? 0
				   : hy_ip6_routes_set(tables->fib, &route, number % 4 != 0, NULL);
}

/* The type that a NIC would report. */
static uint32_t
packet_type(const uint8_t *frame)
{
	switch (frame[12] << 8 | frame[13]) {
	case RTE_ETHER_TYPE_IPV4:
		return RTE_PTYPE_L2_ETHER |
			(rte_rand_max(2) ? RTE_PTYPE_L3_IPV4 : RTE_PTYPE_L3_IPV4_EXT_UNKNOWN);
	case RTE_ETHER_TYPE_VLAN:
		return RTE_PTYPE_L2_ETHER_VLAN | RTE_PTYPE_L3_IPV4;
	case RTE_ETHER_TYPE_QINQ:
	case HY_PKT_CLS_ETHER_TYPE_QINQ_OLD:
		return RTE_PTYPE_L2_ETHER_QINQ | RTE_PTYPE_L3_IPV4;
	case RTE_ETHER_TYPE_IPV6:
		return RTE_PTYPE_L2_ETHER | RTE_PTYPE_L3_IPV6;
	default:
		return RTE_PTYPE_L2_ETHER;
	}
}

static void
shape(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	struct tables *tables = state;

	if (kind == HY_SUITE_TYPICAL) {
		packet->packet_type = packet_type(packet->bytes);
		return;
	}
	/* ip4_forward's suite has no tables of this one. */
	if (tables != NULL && rte_rand_max(32) == 0)
		tables->quarters = (uint32_t)rte_rand_max(5);
	if (tables != NULL && rte_rand_max(4) < tables->quarters) {
		suite_ip6_mend(packet);
		for (uint32_t i = (uint32_t)rte_rand_max(4); i > 1; i--)
			suite_ip6_twist(packet);
	}
	if (packet->len >= RTE_ETHER_HDR_LEN + sizeof(struct rte_ipv4_hdr) && rte_rand_max(4) != 0)
		packet->packet_type = packet_type(packet->bytes);
}

HY_SUITE(pkt_cls, .nb_edges = 1, .nb_setups = 2, .setup = setup, .teardown = teardown,
	.configure = configure, .shape = shape, .change = change);
