/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conformance of ip6_lookup: addresses at the limits of routes, in the tables of suite_ip6_routes.h.
 */

#include "suite_ip6_frame.h"
#include "suite_ip6_routes.h"

static int
setup(const struct hy_suite_side *side, void **state)
{
	static const uint32_t max_len = RTE_ETHER_MAX_LEN;

	return suite_ip6_setup(side, &max_len, 1, state);
}

static int
configure(void *state, hy_node_id id)
{
	const struct suite_ip6 *t = state;
	const struct hy_ip6_lookup_config config = { .fibs = { t->fib }, .nb_fibs = 1 };

	return hy_node_config(id, &config, sizeof(config));
}

static void
shape(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	suite_ip6_mend(packet);
	suite_ip6_choose(state, kind,
		suite_ip6_at(packet, offsetof(struct rte_ipv6_hdr, dst_addr)));
}

HY_SUITE(ip6_lookup, .nb_setups = 2, .setup = setup, .teardown = suite_ip6_teardown,
	.configure = configure, .shape = shape, .change = suite_ip6_change);
