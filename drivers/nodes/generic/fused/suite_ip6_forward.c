/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conformance of fusions ip6_forward: bursts of IPv6 that passes, and of both families, with every fault.
 * Routes and next hops change between bursts; at times IPv6 is off.
 */

#include <errno.h>

#include <hy_ip6_rewrite.h>
#include <hy_pkt_cls.h>

#include "drivers/nodes/generic/ip6/suite_ip6_frame.h"
#include "drivers/nodes/generic/ip6/suite_ip6_routes.h"
#include "ip6_forward.h"

#define TRIES 32 /* destinations, until one has a route */

static const uint32_t max_len[] = { 1514, 60, 1500, 600, 2000 };
#define PORTS RTE_DIM(max_len)
#define SHORTEST 1 /* the port with the shortest frames */

static int
setup(const struct hy_suite_side *side, void **state)
{
	return suite_ip6_setup(side, max_len, PORTS, state);
}

static int
configure(void *state, unsigned int at, hy_node_id id)
{
	const struct suite_ip6 *t = state;
	struct hy_ip6_rewrite_config config = { .tables = { .fibs = { t->fib }, .nb_fibs = 1 } };
	const struct hy_pkt_cls_config cls = { .ip6 = config.tables, .ip6_edge = IP6_FORWARD_EDGE };

	for (uint16_t p = 0; p < HY_IP4_PORTS; p++) /* edges are not in the order of ports */
		config.edge[p] = p < PORTS ? (uint16_t)((p + 2) % PORTS) : HY_IP4_NO_EDGE;
	if (at == 0)
		return hy_node_config(id, &cls, sizeof(cls));
	if (at == 1)
		return hy_node_config(id, &config.tables, sizeof(config.tables));
	return hy_node_config(id, &config, sizeof(config));
}

static int
change(void *state, uint32_t number)
{
	const struct suite_ip6 *t = state;
	const uint32_t id = number * 11 % SUITE_IP6_NEXT_HOPS;
	const struct hy_ip4_next_hop hop = suite_ip6_hop(t, id, number);
	const int rc = hy_ip4_next_hop_set(t->next_hops, id, &hop);

	return rc == 0 ? suite_ip6_change(state, number) : rc;
}

/* The longest frame that is sent to a destination; 0: it has no route. */
static uint32_t
limit_of(const struct suite_ip6 *t, const uint8_t *dst)
{
	struct hy_ip4_next_hop hop;
	struct hy_ip6_route route;

	return hy_ip6_route_lookup(t->fib, dst, &route, &hop) < 0 ? 0 : max_len[hop.port];
}

/* Makes it an IPv6 frame to a destination of the table, of a length that its port allows. */
static void
pass(const struct suite_ip6 *t, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	static const uint8_t hops[] = { 2, 3, 64, 128, 254, 255 };
	uint8_t *dst = suite_ip6_at(packet, offsetof(struct rte_ipv6_hdr, dst_addr));
	uint32_t limit = 0;

	for (unsigned int i = 0; i < TRIES && limit == 0; i++) {
		suite_ip6_choose(t, kind, dst);
		limit = limit_of(t, dst);
	}
	limit = RTE_MAX(limit, max_len[SHORTEST]); /* no table has no routes at all */
	if (packet->len > limit || (kind != HY_SUITE_TYPICAL && rte_rand_max(4) == 0))
		packet->len = limit - (uint32_t)rte_rand_max(3); /* as long as the port allows */
	else if (kind != HY_SUITE_TYPICAL && rte_rand_max(8) == 0)
		packet->len = (uint32_t)HY_IP6_LOOKUP_HEADERS + (uint32_t)rte_rand_max(4);
	suite_ip6_mend(packet);
	*suite_ip6_at(packet,
		offsetof(struct rte_ipv6_hdr, hop_limits)) = hops[rte_rand_max(RTE_DIM(hops))];
}

/* Any frame, or one that nearly passes: mostly to a destination of the table, and often faulty. */
static void
direct(const struct suite_ip6 *t, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	if (rte_rand_max(3) == 0)
		return;
	if (kind == HY_SUITE_CAPTURED) {
		if (packet->len >= HY_IP6_LOOKUP_HEADERS && hy_pkt_cls_says_ip6(packet->bytes))
			suite_ip6_choose(t, kind,
				suite_ip6_at(packet, offsetof(struct rte_ipv6_hdr, dst_addr)));
		return;
	}
	pass(t, kind, packet);
	if (rte_rand_max(8) == 0)
		packet->bytes[0] |= RTE_ETHER_GROUP_ADDR;
	if (rte_rand_max(4) == 0)
		packet->len += (uint32_t)rte_rand_max(4); /* padding */
	if (rte_rand_max(4) == 0)
		*suite_ip6_at(packet,
			offsetof(struct rte_ipv6_hdr, hop_limits)) = (uint8_t)rte_rand_max(3);
	if (rte_rand_max(2) == 0)
		suite_ip6_twist(packet);
}

static void
shape(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	const struct hy_suite *first = hy_suite_find("pkt_cls");

	if (kind == HY_SUITE_TYPICAL || kind == HY_SUITE_PASSING)
		pass(state, kind, packet);
	else
		direct(state, kind, packet);
	first->shape(NULL, kind, packet); /* packet types */
}

HY_SUITE(ip6_forward, .nb_edges = PORTS, .nb_setups = 2, .setup = setup,
	.teardown = suite_ip6_teardown, .configure_chain = configure, .shape = shape,
	.change = change, .change_every = 32);
