/* SPDX-License-Identifier: BSD-3-Clause */
/* An offload that follows the HAL: what it finds out is selected for while packets flow. */

#include <errno.h>
#include <string.h>

#include <rte_cycles.h>

#include <hy_acl.h>
#include <hy_flow_cls.h>
#include <hy_hal_live.h>

#include "app/test/hal/port_event.h"
#include "flow_fixture.h"

#define RULES 20

static char error[HY_HAL_ERROR_SIZE];

static unsigned int calls; /* of the provider below */

static int
counted_validate(uint16_t port, const struct rte_flow_attr *attr, const struct rte_flow_item *items,
	const struct rte_flow_action *actions, struct rte_flow_error *e)
{
	calls++;
	return hy_flow_simulator.validate(port, attr, items, actions, e);
}

static int
counted_create(uint16_t port, const struct rte_flow_attr *attr, const struct rte_flow_item *items,
	const struct rte_flow_action *actions, void **flow, struct rte_flow_error *e)
{
	calls++;
	return hy_flow_simulator.create(port, attr, items, actions, flow, e);
}

static int
counted_destroy(uint16_t port, void *flow, struct rte_flow_error *e)
{
	calls++;
	return hy_flow_simulator.destroy(port, flow, e);
}

static const struct hy_flow_provider counted = {
	.name = "simulator",
	.validate = counted_validate,
	.create = counted_create,
	.destroy = counted_destroy,
};

static const char *
variant(void)
{
	return hy_hal_placement(R->hal, "flow_cls-rig")->variant;
}

static const struct hy_capability *
flow_mark_cap(void)
{
	const struct hy_target target = { .kind = HY_TARGET_PORT, .id = R->port->id };

	return hy_hal_capability(R->hal, target, HY_CAP_FLOW_MARK);
}

/* Polls the HAL, with walks in between, until nothing is left to do. Returns its first error. */
static int
live(const struct hy_port_ops *ops)
{
	int rc, failed = 0;

	do {
		rc = hy_hal_poll(R->hal, &R->graph, 1, ops, error);
		failed = failed == 0 && rc < 0 ? rc : failed;
		hy_graph_walk(R->graph);
		hy_graph_rest(R->graph);
	} while (rc > 0);
	return failed;
}

/* Packets that meet rules, received from the port, marked as it does, and then classified. */
static void
matching_traffic(unsigned int n)
{
	static uint8_t frame[FRAME_MAX];
	struct rte_mbuf *packets[RULES];

	for (unsigned int done = 0; done < n; done += RULES) {
		for (uint32_t id = 0; id < RULES; id++)
			assert_int_equal(flow_hold(&packets[id], frame, flow_exact_frame(frame, id),
						 1),
				1);
		flow_send(packets, RULES);
	}
}

/* A rig whose hardware has all rules, and is believed. */
static void
open_believed(struct hy_flow_sim_params sim, struct hy_offload_params params)
{
	flow_open_followed(&flow_profiles[0], sim, params);
	assert_string_equal(variant(), "linear"); /* selected before there was an offload */
	assert_int_equal(live(NULL), 0);
	assert_string_equal(variant(), "mark");
	flow_exact_rules(0, RULES);
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, RULES);
}

/* Lies, and is caught. Returns how many packets it got wrong until then. */
static uint64_t
lie_until_demoted(void)
{
	uint64_t wrong;

	hy_flow_sim_fault(R->sim, &(struct hy_flow_sim_faults){ .lie_every = 2 });
	for (int i = 0; i < 100 && flow_stats().state == HY_OFFLOAD_UP; i++) {
		matching_traffic(RULES);
		hy_offload_poll(R->offload);
	}
	assert_int_equal(flow_stats().state, HY_OFFLOAD_DEMOTED);
	assert_true(flow_stats().mismatches >= 8);
	assert_true(R->compared < 2000);
	wrong = R->wrong;
	assert_true(wrong > 0); /* some were not sampled: it was worth to catch it */
	return wrong;
}

static void
liar_is_demoted_and_software_selected_live(const char *software)
{
	uint64_t wrong;

	open_believed((struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ .sample_every = 4 });
	assert_int_equal(hy_hal_declare(R->hal, HY_FLOW_RULES,
				 strcmp(software, "acl") == 0 ? 50 : 0, "the test"),
		0);
	wrong = lie_until_demoted();
	assert_string_equal(variant(), "mark"); /* which finds no marks any more */
	assert_int_equal(flow_mark_cap()->level, HY_LEVEL_NO);
	assert_int_equal(flow_mark_cap()->origin, HY_ORIGIN_OBSERVED);
	assert_non_null(strstr(flow_mark_cap()->reason, "marks were found wrong"));
	matching_traffic(100);
	assert_int_equal(live(NULL), 0);
	assert_string_equal(variant(), software);
	matching_traffic(1000);
	flow_traffic(1000);
	assert_int_equal(R->wrong, wrong);
	assert_int_equal(R->compared, R->packets);
	assert_true(R->compared >= 2100);
	/* A port that was reset is not believed again. */
	hy_offload_down(R->offload, true);
	assert_int_equal(hy_offload_up(R->offload), 0);
	assert_int_equal(live(NULL), 0);
	assert_string_equal(variant(), software);
}

static void
liar_gives_way_to_acl_where_rules_are_many(void **state)
{
	RTE_SET_USED(state);
	liar_is_demoted_and_software_selected_live("acl");
}

static void
liar_gives_way_to_linear_where_rules_are_few(void **state)
{
	RTE_SET_USED(state);
	liar_is_demoted_and_software_selected_live("linear");
}

/* The user wants the variant: told once that it does not fit, and right nevertheless. */
static void
forced_mark_outlives_a_demotion_and_is_told_of_once(void **state)
{
	uint64_t wrong;

	RTE_SET_USED(state);
	open_believed((struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ .sample_every = 4 });
	assert_int_equal(hy_hal_force(R->hal, "flow_cls=mark", error), 0);
	wrong = lie_until_demoted();
	assert_int_equal(live(NULL), -ENOTSUP);
	assert_non_null(strstr(error, "mark"));
	assert_int_equal(live(NULL), 0);
	assert_string_equal(variant(), "mark");
	matching_traffic(500);
	assert_int_equal(R->wrong, wrong);
}

/* What the user overrides has not changed, whatever the offload found: nothing is selected anew. */
static void
demotion_changes_nothing_for_who_overrides_the_capability(void **state)
{
	RTE_SET_USED(state);
	open_believed((struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ .sample_every = 4 });
	assert_int_equal(hy_hal_override(R->hal, "net_*.flow_mark=yes:1", error), 0);
	assert_int_equal(hy_hal_override(R->hal, "net_*.flow_priority=yes:1", error), 0);
	assert_int_equal(live(NULL), 0);
	/* A selection would show. */
	assert_int_equal(hy_hal_deny(R->hal, "flow_cls=mark", error), 0);
	lie_until_demoted();
	assert_int_equal(live(NULL), 0);
	assert_int_equal(flow_mark_cap()->origin, HY_ORIGIN_OVERRIDDEN);
	assert_string_equal(variant(), "mark");
}

static unsigned int resets;

static int
sim_restart(uint16_t port, void *arg)
{
	RTE_SET_USED(arg);
	resets++;
	assert_ptr_equal(hy_offload_of(port), R->offload);
	/* Workers have left it, and the offload has let go of it. */
	assert_int_equal(flow_stats().state, HY_OFFLOAD_DOWN);
	hy_flow_sim_stop(R->sim);
	hy_flow_sim_start(R->sim);
	return 0;
}

/* Another engine, whose marks are fewer than those that were given out. */
static int
sim_replace(uint16_t port, void *arg)
{
	const struct hy_flow_sim_params few = { .mark_max = 1000 };

	RTE_SET_USED(arg);
	resets++;
	hy_flow_sim_detach(port);
	assert_int_equal(hy_flow_sim_attach(port, &few), 0);
	R->sim = hy_flow_sim_of(port);
	return 0;
}

static void
reset_port_gets_its_rules_back_by_the_hal(void **state)
{
	const struct hy_port_ops ops = { .reset = sim_restart };
	struct rte_mbuf *packets[32];
	static uint8_t frame[FRAME_MAX];
	struct hy_offload_stats before;

	RTE_SET_USED(state);
	resets = 0;
	open_believed((struct hy_flow_sim_params){ .lose_rules = true },
		(struct hy_offload_params){ 0 });
	matching_traffic(500);
	assert_int_equal(flow_hold(packets, frame, flow_exact_frame(frame, 3), 32), 32);
	before = flow_stats();
	assert_true(before.marked >= 500);
	assert_int_equal(port_event_raise(R->port->id, RTE_ETH_EVENT_INTR_RESET), 0);
	assert_int_equal(live(&ops), 0);
	assert_int_equal(resets, 1);
	assert_int_equal(flow_stats().lost, RULES);
	flow_send(packets, 32); /* marked before, classified after */
	flow_settle();
	assert_int_equal(flow_stats().hw_rules, RULES);
	assert_int_equal(flow_stats().stale - before.stale, 0); /* there was no table to miss */
	assert_string_equal(variant(), "mark");
	before = flow_stats();
	matching_traffic(500);
	flow_traffic(500);
	assert_true(flow_stats().marked - before.marked >= 500);
	assert_int_equal(R->wrong, 0);
	assert_int_equal(R->compared, 1532);
	flow_assert_counted();
}

static void
port_that_comes_back_with_other_limits_is_selected_for_anew(void **state)
{
	const struct hy_port_ops ops = { .reset = sim_replace };

	RTE_SET_USED(state);
	resets = 0;
	open_believed((struct hy_flow_sim_params){ 0 }, (struct hy_offload_params){ 0 });
	matching_traffic(100);
	assert_int_equal(port_event_raise(R->port->id, RTE_ETH_EVENT_INTR_RESET), 0);
	assert_int_equal(live(&ops), 0);
	assert_int_equal(resets, 1);
	assert_int_equal(flow_mark_cap()->level, HY_LEVEL_NO);
	assert_string_equal(flow_mark_cap()->reason, "marks up to 1000 are fewer than before");
	assert_string_equal(variant(), "linear");
	flow_settle();
	matching_traffic(500);
	flow_traffic(500);
	assert_int_equal(flow_stats().hw_rules, 0);
	assert_int_equal(R->wrong, 0);
	assert_int_equal(R->compared, 1100);
	flow_assert_counted();
}

static void
removed_port_has_no_call_to_its_provider(void **state)
{
	RTE_SET_USED(state);
	open_believed((struct hy_flow_sim_params){ 0 },
		(struct hy_offload_params){ .provider = &counted });
	assert_true(calls > RULES);
	matching_traffic(500);
	calls = 0;
	assert_int_equal(port_event_raise(R->port->id, RTE_ETH_EVENT_INTR_RMV), 0);
	assert_int_equal(live(NULL), 0);
	assert_int_equal(flow_stats().state, HY_OFFLOAD_GONE);
	matching_traffic(500); /* it has been received before */
	flow_rules_add(1000, 20);
	flow_settle();
	matching_traffic(500);
	hy_offload_destroy(R->offload);
	R->offload = NULL;
	assert_int_equal(live(NULL), 0);
	assert_int_equal(calls, 0);
	assert_int_equal(R->wrong, 0);
	assert_int_equal(R->compared, 1500);
}

static void
destroyed_offload_follows_no_more_and_leaves_software(void **state)
{
	RTE_SET_USED(state);
	open_believed((struct hy_flow_sim_params){ 0 }, (struct hy_offload_params){ 0 });
	assert_int_equal(hy_offload_follow(R->offload, R->hal), -EEXIST);
	matching_traffic(100);
	hy_offload_destroy(R->offload);
	R->offload = NULL;
	assert_string_equal(flow_mark_cap()->reason, "its offload was removed");
	matching_traffic(100);
	assert_int_equal(live(NULL), 0);
	assert_string_equal(variant(), "linear");
	/* Nobody is told who is not there any more. */
	assert_int_equal(hy_hal_port_stop(R->hal, R->port->id), 0);
	assert_int_equal(live(NULL), 0);
	assert_int_equal(hy_hal_port_start(R->hal, R->port->id), 0);
	assert_int_equal(live(NULL), 0);
	matching_traffic(100);
	assert_int_equal(R->wrong, 0);
	assert_int_equal(R->compared, 300);
}

/* Its driver may be in a reset, which would free the rules. */
static void
a_list_bound_to_a_port_that_is_down_called_its_driver(void **state)
{
	const struct hy_offload_params params = { .provider = &hy_flow_simulator,
		.driver = hy_flow_driver_of(flow_profiles[0].driver) };
	const struct hy_port_ops ops = { .reset = sim_restart };
	struct hy_policy *policy;
	struct hy_acl *acl;

	RTE_SET_USED(state);
	open_believed((struct hy_flow_sim_params){ 0 }, (struct hy_offload_params){ 0 });
	hy_offload_destroy(R->offload);
	R->offload = NULL;
	assert_int_equal(hy_acl_create(&(struct hy_acl_params){ .qsbr = hy_policy_qsbr(R->policy),
					       .workers = hy_policy_workers(R->policy),
					       .socket = SOCKET_ID_ANY,
					       .policy.max_rules = 16 },
				 &acl),
		0);
	assert_int_equal(hy_acl_list_create(acl, "edge", NULL, &policy), 0);
	assert_int_equal(hy_acl_offload(acl, R->hal, &params), 0);
	assert_int_equal(hy_hal_port_stop(R->hal, R->port->id), 0);
	assert_int_equal(live(NULL), 0);
	assert_int_equal(hy_hal_port_state(R->hal, R->port->id), HY_PORT_DOWN);
	assert_int_equal(hy_acl_offload_port(acl, R->port->id, "edge"), 0);
	hy_acl_poll(acl);
	assert_null(hy_offload_of(R->port->id));
	assert_int_equal(hy_hal_port_start(R->hal, R->port->id), 0);
	assert_int_equal(live(&ops), 0);
	rte_delay_us_sleep(60000); /* between polls */
	hy_acl_poll(acl);
	assert_non_null(hy_offload_of(R->port->id));
	hy_acl_destroy(acl);
	assert_null(hy_offload_of(R->port->id));
}

static const struct CMUnitTest offload_hal_tests[] = {
	FLOW_TEST(liar_gives_way_to_acl_where_rules_are_many),
	FLOW_TEST(liar_gives_way_to_linear_where_rules_are_few),
	FLOW_TEST(forced_mark_outlives_a_demotion_and_is_told_of_once),
	FLOW_TEST(demotion_changes_nothing_for_who_overrides_the_capability),
	FLOW_TEST(reset_port_gets_its_rules_back_by_the_hal),
	FLOW_TEST(port_that_comes_back_with_other_limits_is_selected_for_anew),
	FLOW_TEST(removed_port_has_no_call_to_its_provider),
	FLOW_TEST(destroyed_offload_follows_no_more_and_leaves_software),
	FLOW_TEST(a_list_bound_to_a_port_that_is_down_called_its_driver),
};

UNIT_SUITE(offload_hal_tests)
