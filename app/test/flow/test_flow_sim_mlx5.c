/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated flow engine as ConnectX: groups, and a guest's rules. */

#include <errno.h>

#include <rte_ethdev.h>

#include <hy_flow_sim.h>

#include "sim_fixture.h"

static struct hy_flow_sim *
engine(const char *profile)
{
	const struct hy_flow_sim_params params = { .profile = profile };
	struct hy_flow_sim *sim = NULL;

	assert_int_equal(hy_flow_sim_create(&params, &sim), 0);
	hy_flow_sim_start(sim);
	return sim;
}

static void
mlx5_drops_what_no_rule_of_a_group_matches(void **state)
{
	static const struct rte_flow_action_jump jump = { .group = 1 };
	static const struct rte_flow_item all[] = { { .type = RTE_FLOW_ITEM_TYPE_ETH },
		{ .type = RTE_FLOW_ITEM_TYPE_END } };
	static const struct rte_flow_action_queue first;
	const struct rte_flow_action actions[] = { { RTE_FLOW_ACTION_TYPE_JUMP, &jump },
		{ RTE_FLOW_ACTION_TYPE_END, NULL } };
	const struct rte_flow_action deliver[] = { { RTE_FLOW_ACTION_TYPE_QUEUE, &first },
		{ RTE_FLOW_ACTION_TYPE_END, NULL } };
	const struct rte_flow_attr root = { .ingress = 1 };
	struct rte_flow_attr in_group;
	struct hy_flow_sim *sim = engine("mlx5");
	struct hy_flow_sim_stats stats;
	struct sim_match flow;
	void *handle;

	RTE_SET_USED(state);
	sim_match(&flow, &(struct sim_packet){ .dst = 1 }, 7, true, true);
	flow.attr.group = 1;
	assert_int_equal(hy_flow_sim_add(sim, &flow.attr, flow.items, flow.actions, &handle, NULL),
		0);
	assert_int_equal(sim_marked(sim, &(struct sim_packet){ .dst = 1 }), -1);
	assert_int_equal(hy_flow_sim_add(sim, &root, all, actions, &handle, NULL), 0);
	assert_int_equal(sim_marked(sim, &(struct sim_packet){ .dst = 1 }), 7);
	assert_int_equal(sim_marked(sim, &(struct sim_packet){ .dst = 2 }), -2);
	hy_flow_sim_stats(sim, &stats);
	assert_int_equal(stats.missed, 1);
	assert_int_equal(stats.dropped, 0);
	in_group = (struct rte_flow_attr){ .ingress = 1, .group = 1, .priority = 8 };
	assert_int_equal(hy_flow_sim_add(sim, &in_group, all, deliver, &handle, NULL), 0);
	assert_int_equal(sim_marked(sim, &(struct sim_packet){ .dst = 1 }), 7);
	assert_int_equal(sim_marked(sim, &(struct sim_packet){ .dst = 2 }), -1);
	hy_flow_sim_destroy(sim);
}

/* The driver validates it, and rdma-core refuses to create it. */
static void
mlx5_creates_no_jump_to_a_group_that_is_not_behind(void **state)
{
	static const struct rte_flow_item all[] = { { .type = RTE_FLOW_ITEM_TYPE_ETH },
		{ .type = RTE_FLOW_ITEM_TYPE_END } };
	const struct rte_flow_attr in_group = { .ingress = 1, .group = 2 };
	static const int results[] = { [1] = -EINVAL, [2] = -EINVAL, [3] = 0 };
	struct hy_flow_sim *sim = engine("mlx5");
	void *handle;

	RTE_SET_USED(state);
	for (uint32_t to = 1; to < RTE_DIM(results); to++) {
		const struct rte_flow_action_jump jump = { .group = to };
		const struct rte_flow_action actions[] = { { RTE_FLOW_ACTION_TYPE_JUMP, &jump },
			{ RTE_FLOW_ACTION_TYPE_END, NULL } };

		assert_int_equal(hy_flow_sim_check(sim, &in_group, all, actions, NULL), 0);
		assert_int_equal(hy_flow_sim_add(sim, &in_group, all, actions, &handle, NULL),
			results[to]);
	}
	hy_flow_sim_destroy(sim);
}

/* net/mlx5/mlx5_flow_dv.c, flow_dv_validate_item_vlan() */
static void
mlx5_in_a_guest_takes_vlan_ids_only(void **state)
{
	static const struct {
		const char *profile;
		rte_be16_t mask;
		int result;
	} cases[] = { { "mlx5", RTE_BE16(0x0fff), 0 }, { "mlx5", RTE_BE16(0xffff), 0 },
		{ "mlx5_guest", RTE_BE16(0x0fff), 0 }, { "mlx5_guest", RTE_BE16(0xffff), -EINVAL },
		{ "mlx5_guest", RTE_BE16(0x00ff), -EINVAL } };
	static const struct rte_flow_item_vlan tag = { .hdr.vlan_tci = RTE_BE16(7) };
	static const struct rte_flow_action_queue queue;
	static const struct rte_flow_action actions[] = { { RTE_FLOW_ACTION_TYPE_QUEUE, &queue },
		{ RTE_FLOW_ACTION_TYPE_END, NULL } };
	const struct rte_flow_attr attr = { .ingress = 1, .group = 1 };

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		const struct rte_flow_item_vlan mask = { .hdr.vlan_tci = cases[i].mask };
		const struct rte_flow_item items[] = { { .type = RTE_FLOW_ITEM_TYPE_ETH },
			{ .type = RTE_FLOW_ITEM_TYPE_VLAN, .spec = &tag, .mask = &mask },
			{ .type = RTE_FLOW_ITEM_TYPE_END } };
		struct hy_flow_sim *sim = engine(cases[i].profile);

		assert_int_equal(hy_flow_sim_check(sim, &attr, items, actions, NULL),
			cases[i].result);
		hy_flow_sim_destroy(sim);
	}
}

static const struct CMUnitTest flow_sim_mlx5[] = {
	SIM_TEST(mlx5_drops_what_no_rule_of_a_group_matches),
	SIM_TEST(mlx5_creates_no_jump_to_a_group_that_is_not_behind),
	SIM_TEST(mlx5_in_a_guest_takes_vlan_ids_only),
};

UNIT_SUITE(flow_sim_mlx5)
