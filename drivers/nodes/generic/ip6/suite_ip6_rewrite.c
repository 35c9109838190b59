/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conformance of ip6_rewrite: packets that pkt_cls passes, to next hops on several ports, and to groups of
 * these, which change between bursts.
 */

#include <errno.h>
#include <stdlib.h>

#include <hy_ip6_rewrite.h>

#include "drivers/nodes/generic/group/suite_hops.h"
#include "suite_ip6_frame.h"

struct tables {
	struct hy_ip4_fib *next_hops;
	struct hy_ip6_fib *fib;
};

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
	struct tables *tables = calloc(1, sizeof(*tables));
	int rc;

	if (tables == NULL)
		return -ENOMEM;
	rc = suite_hops_create(side, &tables->next_hops);
	if (rc == 0)
		rc = hy_ip6_fib_create(tables->next_hops, &tables->fib);
	*state = tables;
	if (rc < 0)
		teardown(tables);
	return rc;
}

static int
configure(void *state, hy_node_id id)
{
	const struct tables *tables = state;
	struct hy_ip6_rewrite_config config = { .tables = {
							.fibs = { tables->fib }, .nb_fibs = 1 } };

	suite_hops_edges(config.edge);
	return hy_node_config(id, &config, sizeof(config));
}

static int
change(void *state, uint32_t number)
{
	const struct tables *tables = state;

	return suite_hops_change(tables->next_hops, number);
}

static void
shape(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	RTE_SET_USED(state);
	suite_ip6_mend(packet);
	if (kind == HY_SUITE_TYPICAL)
		*suite_ip6_at(packet, offsetof(struct rte_ipv6_hdr, hop_limits)) |= 0x40;
	packet->lanes[HY_IP6_REWRITE_LANE_ROUTE] = suite_hops_route(kind);
}

HY_SUITE(ip6_rewrite, .nb_edges = SUITE_PORTS, .setup = setup, .teardown = teardown,
	.configure = configure, .shape = shape, .change = change);
