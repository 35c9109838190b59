/* SPDX-License-Identifier: BSD-3-Clause */
/* Two-phase bring-up: plans, and what is bound and unbound; every step fails once. */

#include <errno.h>
#include <string.h>

#include <rte_ethdev.h>

#include "hal/internal/hal.h"
#include "hal_fixture.h"

/* What the hooks of the variants below have seen, by port. */
static struct {
	bool on; /* a test of this file runs: families stay */
	unsigned int prepares, binds, unbinds;
	int bound[RTE_MAX_ETHPORTS];
	unsigned int fail_prepare, fail_bind; /* the call that fails, from 1; 0: none */
	uint64_t rx_offloads;
	const char *pool;
} seen;

static int
prepare(const struct hy_hal *of, struct hy_target target, struct hy_port_plan *plan, char *reason,
	size_t size)
{
	assert_ptr_equal(of, hal);
	assert_int_equal(target.kind, HY_TARGET_PORT);
	plan->rx_offloads |= seen.rx_offloads;
	if (seen.pool != NULL)
		strcpy(plan->mempool_ops, seen.pool);
	if (++seen.prepares != seen.fail_prepare)
		return 0;
	snprintf(reason, size, "no adapter for port %u", target.id);
	return -EIO;
}

static int
bind_hook(const struct hy_hal *of, struct hy_target target, char *reason, size_t size)
{
	if (!seen.on)
		return 0;
	assert_ptr_equal(of, hal);
	if (++seen.binds == seen.fail_bind) {
		snprintf(reason, size, "no flow table for port %u", target.id);
		return -EIO;
	}
	assert_int_equal(seen.bound[target.id]++, 0);
	return 0;
}

static int
bind_silent(const struct hy_hal *of, struct hy_target target, char *reason, size_t size)
{
	RTE_SET_USED(of);
	RTE_SET_USED(target);
	RTE_SET_USED(reason);
	RTE_SET_USED(size);
	return -ENOSPC;
}

static void
unbind_hook(const struct hy_hal *of, struct hy_target target)
{
	if (!seen.on)
		return;
	assert_int_equal(target.kind, HY_TARGET_PORT);
	assert_int_equal(hy_hal_port_state(of, target.id), HY_PORT_UP);
	seen.unbinds++;
	assert_int_equal(--seen.bound[target.id], 0);
}

/* Families stay: those of earlier tests are kept from the hooks. */
static const char *used[32];
static unsigned int nb_used;

static void
hooked(const char *spec)
{
	for (unsigned int i = 0; i < nb_used; i++)
		assert_int_equal(hy_hal_deny(hal, used[i], error), 0);
	assert_true(nb_used < RTE_DIM(used));
	used[nb_used++] = spec;
}

static void
ports_and_family(unsigned int nb_ports, const char *family)
{
	char name[32];

	memset(&seen, 0, sizeof(seen));
	seen.on = true;
	for (unsigned int p = 0; p < nb_ports; p++) {
		snprintf(name, sizeof(name), "net_null_%u", p);
		port_add(name);
	}
	assert_int_equal(hy_hal_probe(hal), 0);
	family_add(family, HY_TARGET_PORT, 10);
}

static void
what_is_chosen_is_bound_once_for_each_target(void **state)
{
	RTE_SET_USED(state);
	ports_and_family(2, "bind_once");
	hooked("bind_once=hw");
	VARIANT("bind_once", "hw", .score = 20, .bind = bind_hook, .unbind = unbind_hook);
	select_all();
	assert_int_equal(seen.binds, 2);
	select_all();
	select_all();
	assert_int_equal(seen.binds, 2);
	assert_int_equal(seen.unbinds, 0);
	assert_int_equal(hy_hal_deny(hal, "bind_once@1=hw", error), 0);
	select_all();
	assert_int_equal(seen.binds, 2);
	assert_int_equal(seen.unbinds, 1);
	assert_int_equal(seen.bound[0], 1);
	assert_int_equal(seen.bound[1], 0);
	hy_hal_destroy(hal);
	hal = NULL;
	assert_int_equal(seen.unbinds, 2);
}

static void
bind_that_fails_falls_to_the_next_candidate(void **state)
{
	RTE_SET_USED(state);
	ports_and_family(3, "bind_fail");
	hooked("bind_fail=hw");
	VARIANT("bind_fail", "hw", .score = 30, .bind = bind_hook, .unbind = unbind_hook);
	VARIANT("bind_fail", "mute", .score = 20, .bind = bind_silent);
	seen.fail_bind = 2;
	select_all();
	assert_string_equal(chosen("bind_fail", 0), "hw");
	assert_string_equal(chosen("bind_fail", 2), "hw");
	assert_fate("bind_fail", 1, "plain", HY_FATE_CHOSEN, 10, "best score of what fits");
	assert_fate("bind_fail", 1, "hw", HY_FATE_BIND_FAILED, 30,
		"cannot be bound: no flow table for port 1");
	assert_fate("bind_fail", 1, "mute", HY_FATE_BIND_FAILED, 20,
		"cannot be bound: No space left on device");
	assert_int_equal(seen.binds, 3);
	assert_int_equal(seen.unbinds, 0);
	/* The next selection tries again. */
	select_all();
	assert_string_equal(chosen("bind_fail", 1), "hw");
	assert_int_equal(seen.binds, 4);
	assert_non_null(strstr(printed(hy_hal_explain), "mute       outscored"));
}

static void
forced_variant_that_cannot_be_bound_is_an_error(void **state)
{
	RTE_SET_USED(state);
	ports_and_family(2, "bind_force");
	hooked("bind_force=hw");
	VARIANT("bind_force", "hw", .score = 5, .bind = bind_hook, .unbind = unbind_hook);
	select_all();
	assert_int_equal(hy_hal_force(hal, "bind_force=hw", error), 0);
	seen.fail_bind = 2;
	assert_int_equal(hy_hal_select(hal, error), -ENOTSUP);
	assert_string_equal(error,
		"bind_force=hw cannot be used for port 1: cannot be bound: no "
		"flow table for port 1");
	/* Port 0's, which had been bound, is not any more; the selection before stands. */
	assert_int_equal(seen.unbinds, 1);
	assert_int_equal(seen.bound[0], 0);
	assert_string_equal(chosen("bind_force", 0), "plain");
	select_all();
	assert_string_equal(chosen("bind_force", 0), "hw");
	assert_string_equal(chosen("bind_force", 1), "hw");
}

/* tx is bound first; when rx, which tx=event requires, cannot be bound, both go, tx unbound. */
static void
what_a_failed_bind_constrains_is_unbound(void **state)
{
	RTE_SET_USED(state);
	ports_and_family(1, "bind_a_tx");
	hooked("bind_a_tx=event");
	family_add("bind_b_rx", HY_TARGET_PORT, 10);
	VARIANT("bind_a_tx", "event", .score = 20, .bind = bind_hook, .unbind = unbind_hook,
		.with = { { .family = "bind_b_rx", .variant = "event" } });
	VARIANT("bind_b_rx", "event", .score = 20, .bind = bind_silent);
	select_all();
	assert_fate("bind_a_tx", 0, "event", HY_FATE_CONSTRAINED, 20,
		"requires bind_b_rx=event: for port 0 it is plain");
	assert_string_equal(chosen("bind_a_tx", 0), "plain");
	assert_int_equal(seen.binds, 1);
	assert_int_equal(seen.unbinds, 1);
}

/* "shy" gives way to rx=event; when that cannot be bound, there is nothing to give way to. */
static void
what_gave_way_to_a_failed_bind_is_chosen_after_all(void **state)
{
	RTE_SET_USED(state);
	ports_and_family(1, "bind_c_rx");
	hooked("bind_c_rx=event");
	family_add("bind_d_cls", HY_TARGET_PORT, 10);
	VARIANT("bind_c_rx", "event", .score = 20, .bind = bind_silent);
	VARIANT("bind_d_cls", "shy", .score = 20,
		.with = { { .family = "bind_c_rx", .variant = "event", .excludes = true } });
	select_all();
	assert_string_equal(chosen("bind_c_rx", 0), "plain");
	assert_fate("bind_d_cls", 0, "shy", HY_FATE_CHOSEN, 20, "best score of what fits");
	assert_fate("bind_d_cls", 0, "plain", HY_FATE_OUTSCORED, 10, "shy scores 20");
}

/* tx=event is prepared first; it falls with rx=event, and leaves no trace in the plan. */
static void
plan_has_no_traces_of_what_fell(void **state)
{
	RTE_SET_USED(state);
	ports_and_family(1, "plan_a_tx");
	hooked("plan_a_tx=event");
	family_add("plan_b_rx", HY_TARGET_PORT, 10);
	VARIANT("plan_a_tx", "event", .score = 20, .prepare = prepare,
		.with = { { .family = "plan_b_rx", .variant = "event" } });
	VARIANT("plan_b_rx", "event", .score = 20, .prepare = prepare);
	seen.pool = "stack";
	used[nb_used++] = "plan_b_rx=event";
	seen.fail_prepare = 2;
	assert_int_equal(hy_hal_plan(hal, error), 0);
	assert_string_equal(hy_hal_port_plan(hal, 0)->mempool_ops, "");
	select_all();
	assert_string_equal(chosen("plan_a_tx", 0), "plain");
	assert_fate("plan_b_rx", 0, "event", HY_FATE_BIND_FAILED, 20,
		"cannot be prepared: no adapter for port 0");
	assert_int_equal(hy_hal_plan(hal, error), 0);
	assert_string_equal(hy_hal_port_plan(hal, 0)->mempool_ops, "stack");
	select_all();
	assert_string_equal(chosen("plan_a_tx", 0), "event");
}

static void
plan_gathers_what_the_chosen_variants_want(void **state)
{
	const struct hy_port_plan *plan;
	struct rte_eth_conf conf = { .txmode.offloads = RTE_ETH_TX_OFFLOAD_MULTI_SEGS };
	struct rte_eth_dev_info info;

	RTE_SET_USED(state);
	ports_and_family(2, "plan_all");
	hooked("plan_all=hw");
	VARIANT("plan_all", "hw", .score = 20, .prepare = prepare);
	assert_int_equal(rte_eth_dev_info_get(0, &info), 0);
	seen.rx_offloads = info.rx_offload_capa;
	seen.pool = "ring_mp_mc";
	assert_int_equal(hy_hal_deny(hal, "plan_all@1=hw", error), 0);
	assert_int_equal(hy_hal_plan(hal, error), 0);
	plan = hy_hal_port_plan(hal, 0);
	assert_int_equal(plan->rx_offloads, info.rx_offload_capa);
	assert_string_equal(plan->mempool_ops, "ring_mp_mc");
	assert_string_equal(hy_hal_port_plan(hal, 1)->mempool_ops, "");
	assert_int_equal(hy_hal_port_plan(hal, UINT16_MAX)->rx_offloads, 0);
	assert_int_equal(hy_hal_port_conf(hal, 0, &conf), 0);
	assert_int_equal(conf.rxmode.offloads, info.rx_offload_capa);
	assert_int_equal(conf.txmode.offloads, RTE_ETH_TX_OFFLOAD_MULTI_SEGS);
	assert_int_equal(hy_hal_port_conf(hal, RTE_MAX_ETHPORTS, &conf), -EINVAL);
	select_all();
	assert_string_equal(chosen("plan_all", 0), "hw");
}

static void
variant_of_the_process_prepares_every_port(void **state)
{
	RTE_SET_USED(state);
	ports_and_family(2, "plan_port");
	hooked("plan_process=hw");
	family_add("plan_process", HY_TARGET_PROCESS, 10);
	VARIANT("plan_process", "hw", .score = 20, .prepare = prepare);
	select_all();
	assert_fate("plan_process", 0, "hw", HY_FATE_BIND_FAILED, 20,
		"port 0 was configured without asking it");
	seen.pool = "stack";
	assert_int_equal(hy_hal_plan(hal, error), 0);
	assert_int_equal(seen.prepares, 2);
	assert_string_equal(hy_hal_port_plan(hal, 0)->mempool_ops, "stack");
	assert_string_equal(hy_hal_port_plan(hal, 1)->mempool_ops, "stack");
	select_all();
	assert_string_equal(chosen("plan_process", 0), "hw");
	/* One port that cannot be prepared is enough, and the other is left as it was. */
	seen.fail_prepare = 4;
	assert_int_equal(hy_hal_plan(hal, error), 0);
	assert_string_equal(hy_hal_port_plan(hal, 0)->mempool_ops, "");
	select_all();
	assert_fate("plan_process", 0, "hw", HY_FATE_BIND_FAILED, 20,
		"cannot be prepared: port 1: no adapter for port 1");
}

/* What does not win a plan is not asked, and nothing has failed. */
static void
change_of_what_was_not_asked_is_what_makes_it_win(void **state)
{
	RTE_SET_USED(state);
	ports_and_family(2, "plan_unasked");
	hooked("plan_unasked=hw");
	VARIANT("plan_unasked", "hw", .score = 5, .prepare = prepare,
		.needs = { { .declared = "plan_much", .bonus = 50 } });
	assert_int_equal(hy_hal_plan(hal, error), 0);
	select_all();
	assert_fate("plan_unasked", 0, "hw", HY_FATE_BIND_FAILED, 5,
		"the port was configured without asking it");
	assert_string_equal(candidate("plan_unasked", 0, "hw")->change,
		"plan_much must be yes, for +50; it is no (the program has not declared it)");
	assert_int_equal(hy_hal_declare(hal, "plan_much", 1, "a test"), 0);
	assert_int_equal(hy_hal_plan(hal, error), 0);
	select_all();
	assert_string_equal(chosen("plan_unasked", 0), "hw");
}

static void
what_cannot_be_prepared_is_not_chosen_in_phase_two(void **state)
{
	RTE_SET_USED(state);
	ports_and_family(2, "plan_fail");
	hooked("plan_fail=hw");
	VARIANT("plan_fail", "hw", .score = 20, .prepare = prepare);
	select_all();
	assert_fate("plan_fail", 0, "hw", HY_FATE_BIND_FAILED, 20,
		"the port was configured without asking it");
	assert_string_equal(candidate("plan_fail", 0, "hw")->change,
		"its ports must be planned and configured again");
	seen.fail_prepare = 1;
	seen.pool = "stack";
	assert_int_equal(hy_hal_plan(hal, error), 0);
	/* Nothing of the failed attempt is left in the plan. */
	assert_string_equal(hy_hal_port_plan(hal, 0)->mempool_ops, "");
	assert_string_equal(hy_hal_port_plan(hal, 1)->mempool_ops, "stack");
	select_all();
	assert_fate("plan_fail", 0, "hw", HY_FATE_BIND_FAILED, 20,
		"cannot be prepared: no adapter for port 0");
	assert_string_equal(candidate("plan_fail", 0, "hw")->change,
		"the step that failed at bring-up must succeed");
	assert_string_equal(chosen("plan_fail", 1), "hw");
	assert_int_equal(hy_hal_force(hal, "plan_fail=hw", error), 0);
	assert_int_equal(hy_hal_select(hal, error), -ENOTSUP);
	assert_string_equal(error,
		"plan_fail=hw cannot be used for port 0: cannot be prepared: no "
		"adapter for port 0");
}

static void
plan_refuses_an_offload_that_the_port_lacks(void **state)
{
	struct rte_eth_dev_info info;

	RTE_SET_USED(state);
	ports_and_family(1, "plan_no_a");
	hooked("plan_no_a=hw");
	VARIANT("plan_no_a", "hw", .score = 20, .prepare = prepare);
	assert_int_equal(rte_eth_dev_info_get(0, &info), 0);
	assert_int_equal(info.rx_offload_capa & RTE_ETH_RX_OFFLOAD_MACSEC_STRIP, 0);
	seen.rx_offloads = RTE_ETH_RX_OFFLOAD_MACSEC_STRIP;
	assert_int_equal(hy_hal_plan(hal, error), 0);
	select_all();
	assert_fate("plan_no_a", 0, "hw", HY_FATE_BIND_FAILED, 20,
		"cannot be prepared: the port lacks the receive offload MACSEC_STRIP");
	assert_int_equal(hy_hal_port_plan(hal, 0)->rx_offloads, 0);
}

static int
prepare_other_pool(const struct hy_hal *of, struct hy_target target, struct hy_port_plan *plan,
	char *reason, size_t size)
{
	RTE_SET_USED(of);
	RTE_SET_USED(target);
	RTE_SET_USED(reason);
	RTE_SET_USED(size);
	strcpy(plan->mempool_ops, "cn10k");
	return 0;
}

static void
two_pools_for_one_port_are_refused(void **state)
{
	RTE_SET_USED(state);
	ports_and_family(1, "plan_pool_a");
	hooked("plan_pool_a=hw");
	family_add("plan_pool_b", HY_TARGET_PORT, 10);
	VARIANT("plan_pool_a", "hw", .score = 20, .prepare = prepare);
	VARIANT("plan_pool_b", "hw", .score = 20, .prepare = prepare_other_pool);
	seen.pool = "stack";
	assert_int_equal(hy_hal_plan(hal, error), 0);
	used[nb_used++] = "plan_pool_b=hw";
	select_all();
	assert_string_equal(hy_hal_port_plan(hal, 0)->mempool_ops, "stack");
	assert_string_equal(chosen("plan_pool_a", 0), "hw");
	assert_fate("plan_pool_b", 0, "hw", HY_FATE_BIND_FAILED, 20,
		"cannot be prepared: needs a packet pool with operations 'cn10k', but another "
		"variant needs 'stack'");
}

static void
every_allocation_of_plan_and_select_can_fail(void **state)
{
	unsigned int failed[2] = { 0 };

	RTE_SET_USED(state);
	ports_and_family(2, "bind_mem");
	hooked("bind_mem=hw");
	VARIANT("bind_mem", "hw", .score = 20, .prepare = prepare, .bind = bind_hook,
		.unbind = unbind_hook);
	for (unsigned int step = 0; step < RTE_DIM(failed); step++) {
		int rc;

		do {
			strcpy(error, "untouched");
			unit_alloc_fail(failed[step] + 1);
			rc = (step == 0 ? hy_hal_plan : hy_hal_select)(hal, error);
			unit_alloc_fail(0);
			if (rc == 0)
				break;
			assert_int_equal(rc, -ENOMEM);
			assert_string_equal(error, "out of memory");
			assert_int_equal(seen.binds, seen.unbinds);
		} while (++failed[step] < 10000);
		assert_int_equal(rc, 0);
	}
	assert_true(failed[0] >= 10); /* candidates of each family, and two trials */
	assert_true(failed[1] >= 10);
	assert_string_equal(chosen("bind_mem", 1), "hw");
	assert_int_equal(seen.binds - seen.unbinds, 2);
}

static int
bind_teardown(void **state)
{
	const int rc = hal_teardown(state);

	seen.on = false;
	return rc;
}

#define BIND_TEST(f) cmocka_unit_test_setup_teardown(f, hal_setup, bind_teardown)

static const struct CMUnitTest hal_bind_tests[] = {
	BIND_TEST(what_is_chosen_is_bound_once_for_each_target),
	BIND_TEST(bind_that_fails_falls_to_the_next_candidate),
	BIND_TEST(forced_variant_that_cannot_be_bound_is_an_error),
	BIND_TEST(what_a_failed_bind_constrains_is_unbound),
	BIND_TEST(what_gave_way_to_a_failed_bind_is_chosen_after_all),
	BIND_TEST(plan_has_no_traces_of_what_fell),
	BIND_TEST(plan_gathers_what_the_chosen_variants_want),
	BIND_TEST(variant_of_the_process_prepares_every_port),
	BIND_TEST(change_of_what_was_not_asked_is_what_makes_it_win),
	BIND_TEST(what_cannot_be_prepared_is_not_chosen_in_phase_two),
	BIND_TEST(plan_refuses_an_offload_that_the_port_lacks),
	BIND_TEST(two_pools_for_one_port_are_refused),
	BIND_TEST(every_allocation_of_plan_and_select_can_fail),
};

UNIT_SUITE(hal_bind_tests)
