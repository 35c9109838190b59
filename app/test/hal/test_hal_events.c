/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports that are reset, removed, stopped and started while graphs run. */

#include <errno.h>
#include <string.h>

#include <rte_ethdev.h>

#include <hy_graph_worker.h>

#include "hal/internal/hal.h"
#include "hal_events_fixture.h"

static void
reset_parks_the_port_resets_it_and_goes_on(void **state)
{
	RTE_SET_USED(state);
	events_begin();
	live_walk();
	assert_int_equal(events_poll(), 0);
	assert_int_equal(events_running(1)->level, HY_LEVEL_YES);
	assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_INTR_RESET), 0);
	assert_int_equal(hy_hal_port_state(hal, 1), HY_PORT_UP); /* until it is polled */
	assert_int_equal(events_poll(), 1);
	assert_int_equal(hy_hal_port_state(hal, 1), HY_PORT_LEAVING);
	assert_int_equal(events_running(1)->level, HY_LEVEL_NO);
	assert_int_equal(events_running(1)->origin, HY_ORIGIN_OBSERVED);
	assert_string_equal(events_running(1)->reason, "it asks for a reset");
	/* The worker of port 0 is through, that of port 1 is not. */
	hy_graph_walk(live_graphs[0]);
	assert_int_equal(events_poll(), 1);
	assert_string_equal(events_story, "");
	assert_int_equal(live.unbinds, 0);
	live.made = 0;
	hy_graph_walk(live_graphs[1]);
	assert_int_equal(live.made, 0);
	assert_fate("live_rx", 1, "plain", HY_FATE_NEEDS_UNMET, 10,
		"needs running: no (it asks for a reset)");
	assert_fate("live_cls", 1, "fast", HY_FATE_NEEDS_UNMET, 20,
		"needs running: no (it asks for a reset)");
	assert_int_equal(events_poll(), 1);
	assert_string_equal(events_story, "down1 reset1 up1 ");
	assert_int_equal(live.unbinds, 1);
	assert_int_equal(events_poll(), 1);
	assert_int_equal(live.binds, 3);
	live_walk();
	assert_int_equal(events_poll(), 0);
	assert_string_equal(chosen("live_rx", 1), "plain");
	assert_fate("live_rx", 1, "parked", HY_FATE_NEEDS_UNMET, 0,
		"stands in while the port does not run");
	live_assert_variant("live_cls", "fast", "port 0,1");
	assert_int_equal(live_objs("live_rx-1"), 16);
	assert_string_equal(events_story, "down1 reset1 up1 ");
}

static void
destroyed_hal_hears_nothing_any_more(void **state)
{
	const unsigned int heap = unit_heap_live();

	RTE_SET_USED(state);
	events_begin();
	for (unsigned int p = 0; p < PORTS; p++) {
		hy_graph_destroy(live_graphs[p]);
		live_graphs[p] = NULL;
	}
	ports_remove();
	assert_true(unit_heap_live() > heap); /* DPDK's lists of callbacks */
	hy_hal_destroy(hal);
	hal = NULL;
	assert_int_equal(unit_heap_live(), heap);
	assert_int_equal(live.binds, live.unbinds);
}

static void
reset_that_fails_leaves_the_port_parked_until_it_is_started(void **state)
{
	RTE_SET_USED(state);
	events_begin();
	events_reset_result = -EIO;
	assert_int_equal(port_event_raise(0, RTE_ETH_EVENT_INTR_RESET), 0);
	assert_int_equal(events_poll_out(), -EIO);
	assert_string_equal(error, "port 0 stays down: its reset failed: Input/output error");
	assert_int_equal(hy_hal_port_state(hal, 0), HY_PORT_DOWN);
	assert_string_equal(events_running(0)->reason, "its reset failed: Input/output error");
	assert_string_equal(chosen("live_rx", 0), "parked");
	assert_string_equal(chosen("live_rx", 1), "plain");
	/* Another event is another try. */
	assert_int_equal(port_event_raise(0, RTE_ETH_EVENT_INTR_RESET), 0);
	assert_int_equal(events_poll_out(), -EIO);
	assert_int_equal(hy_hal_port_start(hal, 0), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_string_equal(events_story, "down0 reset0 reset0 up0 ");
	assert_string_equal(chosen("live_rx", 0), "plain");
	assert_string_equal(chosen("live_cls", 0), "fast");
}

static void
removed_port_stays_parked_and_its_numbers_stay(void **state)
{
	RTE_SET_USED(state);
	events_begin();
	live_walk();
	assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_INTR_RMV), 0);
	assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_INTR_RESET), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_string_equal(events_story, "gone1 close1 ");
	assert_int_equal(hy_hal_port_state(hal, 1), HY_PORT_GONE);
	assert_int_equal(live.unbinds, 1);
	live_assert_variant("live_rx-1", "parked", "port 1");
	assert_int_equal(live_objs("live_rx-1"), 8);
	/* No more of it, whatever is heard. */
	assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_INTR_RMV), 0);
	assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_INTR_RESET), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_string_equal(events_story, "gone1 close1 ");
	/* It is looked at no more: what is known of it is what was. */
	assert_int_equal(hy_hal_probe(hal), 0);
	assert_string_equal(events_running(1)->reason, "it was removed");
	assert_non_null(strstr(printed(hy_hal_inventory_print), "observed: it was removed\n"));
}

static void
port_that_vanishes_without_a_word_is_gone(void **state)
{
	RTE_SET_USED(state);
	live_make();
	events_story[0] = '\0';
	assert_int_equal(hy_hal_port_observe(hal, events_observe, events_story), 0);
	live_walk();
	/* Nobody watches: found out by the next look. */
	port_remove("net_ring_live1");
	assert_int_equal(hy_hal_probe(hal), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_string_equal(events_story, "gone1 close1 ");
	assert_string_equal(chosen("live_rx", 1), "parked");
	assert_int_equal(hy_hal_port_start(hal, 1), 0);
	assert_int_equal(events_poll_out(), -ENODEV);
	assert_string_equal(error, "port 1 cannot be started: no such device");
	/* Another device in its place. */
	assert_int_equal(port_add("net_null_9"), 1);
	assert_int_equal(hy_hal_port_start(hal, 1), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_string_equal(chosen("live_rx", 1), "plain");
	assert_string_equal(hal->ports[1].dev.driver, "net_null");
	assert_string_equal(events_story, "gone1 close1 up1 ");
}

static void
program_stops_and_starts_a_port(void **state)
{
	RTE_SET_USED(state);
	events_begin();
	assert_int_equal(hy_hal_port_stop(hal, RTE_MAX_ETHPORTS), -EINVAL);
	assert_int_equal(hy_hal_port_start(hal, RTE_MAX_ETHPORTS), -EINVAL);
	assert_int_equal(hy_hal_port_state(hal, RTE_MAX_ETHPORTS), HY_PORT_GONE);
	assert_int_equal(hy_hal_port_start(hal, 0), 0); /* it is up */
	assert_int_equal(events_poll_out(), 0);
	assert_int_equal(hy_hal_port_stop(hal, 0), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_string_equal(events_story, "down0 ");
	assert_string_equal(events_running(0)->reason, "the program stops it");
	/* The program has it: no reset is asked for. */
	assert_int_equal(port_event_raise(0, RTE_ETH_EVENT_INTR_RESET), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_int_equal(hy_hal_port_start(hal, 0), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_string_equal(events_story, "down0 up0 ");
	assert_int_equal(live.binds, 3);
	assert_int_equal(live.unbinds, 1);
}

static void
last_of_start_and_stop_counts(void **state)
{
	RTE_SET_USED(state);
	events_begin();
	assert_int_equal(hy_hal_port_stop(hal, 0), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_int_equal(hy_hal_port_start(hal, 0), 0);
	assert_int_equal(hy_hal_port_stop(hal, 0), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_string_equal(events_story, "down0 ");
	assert_int_equal(hy_hal_port_state(hal, 0), HY_PORT_DOWN);
	/* It is up and told so; then it asks for a reset, which is not forgotten. */
	assert_int_equal(hy_hal_port_start(hal, 1), 0);
	assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_INTR_RESET), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_string_equal(events_story, "down0 down1 reset1 up1 ");
	assert_int_equal(hy_hal_port_stop(hal, 0), 0);
	assert_int_equal(hy_hal_port_start(hal, 0), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_string_equal(events_story, "down0 down1 reset1 up1 up0 ");
}

static void
driver_that_recovers_has_the_port_for_itself(void **state)
{
	RTE_SET_USED(state);
	events_begin();
	assert_int_equal(port_event_raise(0, RTE_ETH_EVENT_ERR_RECOVERING), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_string_equal(events_running(0)->reason, "its driver recovers");
	assert_int_equal(port_event_raise(0, RTE_ETH_EVENT_RECOVERY_SUCCESS), 0);
	assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_ERR_RECOVERING), 0);
	assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_RECOVERY_FAILED), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_string_equal(events_story, "down0 up0 gone1 close1 ");
	/* Over before it was looked at: bound anew all the same, since rules may be lost. */
	assert_int_equal(live.binds, 3);
	assert_int_equal(port_event_raise(0, RTE_ETH_EVENT_ERR_RECOVERING), 0);
	assert_int_equal(port_event_raise(0, RTE_ETH_EVENT_RECOVERY_SUCCESS), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_int_equal(live.binds, 4);
	assert_string_equal(events_story, "down0 up0 gone1 close1 down0 up0 ");
}

static unsigned int guarded;

static int
refuse(uint16_t port, char *reason, size_t size, void *arg)
{
	guarded++;
	if (port != *(const uint16_t *)arg)
		return 0;
	snprintf(reason, size, "it must not");
	return -EBUSY;
}

/* Whatever would bring it back. Port 1 comes up. */
static void
port_that_a_guard_refuses_stays_down(void **state)
{
	uint16_t which = 0;

	RTE_SET_USED(state);
	events_begin();
	guarded = 0;
	assert_int_equal(hy_hal_port_guard(hal, refuse, &which), 0);
	for (uint16_t p = 0; p < PORTS; p++)
		assert_int_equal(port_event_raise(p, RTE_ETH_EVENT_INTR_RESET), 0);
	assert_int_equal(events_poll_out(), -EBUSY);
	assert_string_equal(error, "port 0 stays down: it must not");
	assert_string_equal(events_running(0)->reason, "it must not");
	assert_int_equal(port_event_raise(0, RTE_ETH_EVENT_ERR_RECOVERING), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_int_equal(port_event_raise(0, RTE_ETH_EVENT_RECOVERY_SUCCESS), 0);
	assert_int_equal(events_poll_out(), -EBUSY);
	assert_int_equal(hy_hal_port_start(hal, 0), 0);
	assert_int_equal(events_poll_out(), -EBUSY);
	assert_int_equal(hy_hal_port_state(hal, 0), HY_PORT_DOWN);
	assert_string_equal(events_story, "down0 down1 reset1 up1 ");
	assert_int_equal(guarded, 4);
	assert_int_equal(hy_hal_port_unguard(hal, refuse, NULL), -ENOENT);
	assert_int_equal(hy_hal_port_unguard(hal, refuse, &which), 0);
	assert_int_equal(hy_hal_port_start(hal, 0), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_string_equal(events_story, "down0 down1 reset1 up1 up0 ");
	assert_int_equal(guarded, 4);
}

/* Both between two polls. It stayed down, and nothing could bring it back but the program. */
static void
reset_asked_for_after_a_recovery_is_not_forgotten(void **state)
{
	RTE_SET_USED(state);
	events_begin();
	assert_int_equal(port_event_raise(0, RTE_ETH_EVENT_ERR_RECOVERING), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_ERR_RECOVERING), 0);
	for (uint16_t p = 0; p < PORTS; p++) {
		assert_int_equal(port_event_raise(p, RTE_ETH_EVENT_RECOVERY_SUCCESS), 0);
		assert_int_equal(port_event_raise(p, RTE_ETH_EVENT_INTR_RESET), 0);
	}
	assert_int_equal(events_poll_out(), 0);
	assert_string_equal(events_story, "down0 up0 down1 up1 down0 reset0 up0 down1 reset1 up1 ");
	/* Of a port that the program has stopped, it is. */
	assert_int_equal(hy_hal_port_stop(hal, 0), 0);
	assert_int_equal(port_event_raise(0, RTE_ETH_EVENT_ERR_RECOVERING), 0);
	assert_int_equal(port_event_raise(0, RTE_ETH_EVENT_RECOVERY_SUCCESS), 0);
	assert_int_equal(port_event_raise(0, RTE_ETH_EVENT_INTR_RESET), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_string_equal(events_story,
		"down0 up0 down1 up1 down0 reset0 up0 down1 reset1 up1 down0 ");
}

static void
recovery_starts_no_port_that_the_program_stopped(void **state)
{
	RTE_SET_USED(state);
	events_begin();
	assert_int_equal(hy_hal_port_stop(hal, 0), 0);
	assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_ERR_RECOVERING), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_string_equal(events_story, "down0 down1 ");
	assert_true(hy_hal_port_answers(hal, 0));
	/* One begins to recover when it is stopped, one is stopped when it recovers. */
	assert_int_equal(port_event_raise(0, RTE_ETH_EVENT_ERR_RECOVERING), 0);
	assert_int_equal(hy_hal_port_stop(hal, 1), 0);
	assert_int_equal(events_poll_out(), 0);
	for (uint16_t p = 0; p < PORTS; p++) {
		assert_false(hy_hal_port_answers(hal, p));
		assert_true(hy_hal_port_recovers(hal, p));
		assert_int_equal(port_event_raise(p, RTE_ETH_EVENT_RECOVERY_SUCCESS), 0);
	}
	assert_int_equal(events_poll_out(), 0);
	assert_string_equal(events_story, "down0 down1 ");
	for (uint16_t p = 0; p < PORTS; p++) {
		assert_int_equal(hy_hal_port_state(hal, p), HY_PORT_DOWN);
		assert_true(hy_hal_port_answers(hal, p));
		assert_false(hy_hal_port_recovers(hal, p));
		assert_int_equal(hy_hal_port_start(hal, p), 0);
	}
	assert_int_equal(events_poll_out(), 0);
	assert_string_equal(events_story, "down0 down1 up0 up1 ");
	/* All at once. */
	assert_int_equal(port_event_raise(0, RTE_ETH_EVENT_ERR_RECOVERING), 0);
	assert_int_equal(hy_hal_port_stop(hal, 0), 0);
	assert_int_equal(port_event_raise(0, RTE_ETH_EVENT_RECOVERY_SUCCESS), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_string_equal(events_story, "down0 down1 up0 up1 down0 ");
	/* Once it was started, it comes back by itself. */
	assert_int_equal(hy_hal_port_start(hal, 0), 0);
	assert_int_equal(port_event_raise(0, RTE_ETH_EVENT_ERR_RECOVERING), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_int_equal(port_event_raise(0, RTE_ETH_EVENT_RECOVERY_SUCCESS), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_int_equal(hy_hal_port_state(hal, 0), HY_PORT_UP);
}

static void
forced_variant_comes_back_with_its_port(void **state)
{
	RTE_SET_USED(state);
	events_begin();
	assert_int_equal(hy_hal_force(hal, "live_rx=plain", error), 0);
	assert_int_equal(hy_hal_force(hal, "live_cls=fast", error), 0);
	live_reselect();
	assert_true(selected("live_rx", 0)->forced);
	assert_int_equal(hy_hal_port_stop(hal, 0), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_string_equal(chosen("live_rx", 0), "parked");
	assert_false(selected("live_rx", 0)->forced);
	assert_true(selected("live_rx", 1)->forced);
	assert_int_equal(hy_hal_port_start(hal, 0), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_fate("live_rx", 0, "plain", HY_FATE_CHOSEN, 10, "forced by the user");
}

static void
port_that_comes_back_unfit_stays_down_and_holds_up_no_other(void **state)
{
	RTE_SET_USED(state);
	events_begin();
	assert_int_equal(hy_hal_force(hal, "live_cls@1=fast", error), 0);
	live_reselect();
	live_walk();
	live.fail_bind = 3;
	assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_INTR_RESET), 0);
	assert_int_equal(events_poll_out(), -ENOTSUP);
	assert_string_equal(events_story, "down1 reset1 up1 down1 ");
	assert_int_equal(hy_hal_port_state(hal, 1), HY_PORT_DOWN);
	assert_string_equal(chosen("live_rx", 1), "parked");
	assert_string_equal(events_running(1)->reason,
		"live_cls=fast cannot be used for port 1: cannot be bound: port 1 is busy");
	/* The other port lives on, and this one is as good as new once it is started. */
	assert_int_equal(port_event_raise(0, RTE_ETH_EVENT_INTR_RESET), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_string_equal(events_story, "down1 reset1 up1 down1 down0 reset0 up0 ");
	assert_int_equal(hy_hal_port_start(hal, 1), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_fate("live_cls", 1, "fast", HY_FATE_CHOSEN, 20, "forced by the user");
}

/* Observers left its rules in it, as in one that its driver still recovers, and then forgot them. */
static void
port_that_comes_back_unfit_from_a_recovery_answers(void **state)
{
	RTE_SET_USED(state);
	events_begin();
	assert_int_equal(hy_hal_force(hal, "live_cls@1=fast", error), 0);
	live_reselect();
	live_walk();
	live.fail_bind = 3;
	assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_ERR_RECOVERING), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_true(hy_hal_port_recovers(hal, 1));
	assert_false(hy_hal_port_answers(hal, 1));
	assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_RECOVERY_SUCCESS), 0);
	assert_int_equal(events_poll_out(), -ENOTSUP);
	assert_string_equal(events_story, "down1 up1 down1 ");
	assert_true(hy_hal_port_answers(hal, 1));
	assert_false(hy_hal_port_recovers(hal, 1));
}

static void
bind_that_fails_after_a_reset_falls_to_the_next(void **state)
{
	RTE_SET_USED(state);
	events_begin();
	live_walk();
	live.fail_bind = 3;
	assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_INTR_RESET), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_fate("live_cls", 1, "fast", HY_FATE_BIND_FAILED, 20,
		"cannot be bound: port 1 is busy");
	live_assert_variant("live_cls", "fast", "port 0");
	live_assert_variant("live_cls-plain", "plain", "port 1");
	assert_string_equal(chosen("live_rx", 1), "plain");
}

static void
every_allocation_of_an_event_can_fail_and_is_tried_again(void **state)
{
	RTE_SET_USED(state);
	for (unsigned int nth = 1, done = 0; !done; nth++) {
		unsigned int errors = 0;
		int rc;

		if (nth == 1)
			events_begin();
		events_story[0] = '\0';
		live.made = live.seen[0] = live.seen[1] = 0;
		assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_INTR_RESET), 0);
		unit_alloc_fail(nth);
		for (unsigned int i = 0; i < 20; i++) {
			rc = events_poll();
			errors += rc < 0;
			if (rc < 0)
				assert_int_equal(rc, -ENOMEM);
			live_walk();
			if (rc == 0)
				break;
		}
		done = errors == 0;
		unit_alloc_fail(0);
		assert_int_equal(rc, 0);
		assert_true(errors <= 1);
		assert_string_equal(events_story, "down1 reset1 up1 ");
		assert_string_equal(chosen("live_rx", 1), "plain");
		assert_string_equal(chosen("live_cls", 1), "fast");
		assert_int_equal(live.binds - live.unbinds, 2);
		assert_int_equal(live.made, live.seen[0] + live.seen[1]);
		if (done)
			assert_true(nth > 60); /* two selections, and two updates */
	}
}

static const struct CMUnitTest hal_event_tests[] = {
	LIVE_TEST(reset_parks_the_port_resets_it_and_goes_on),
	LIVE_TEST(destroyed_hal_hears_nothing_any_more),
	LIVE_TEST(reset_that_fails_leaves_the_port_parked_until_it_is_started),
	LIVE_TEST(removed_port_stays_parked_and_its_numbers_stay),
	LIVE_TEST(port_that_vanishes_without_a_word_is_gone),
	LIVE_TEST(program_stops_and_starts_a_port),
	LIVE_TEST(last_of_start_and_stop_counts),
	LIVE_TEST(driver_that_recovers_has_the_port_for_itself),
	LIVE_TEST(port_that_a_guard_refuses_stays_down),
	LIVE_TEST(reset_asked_for_after_a_recovery_is_not_forgotten),
	LIVE_TEST(recovery_starts_no_port_that_the_program_stopped),
	LIVE_TEST(forced_variant_comes_back_with_its_port),
	LIVE_TEST(port_that_comes_back_unfit_stays_down_and_holds_up_no_other),
	LIVE_TEST(port_that_comes_back_unfit_from_a_recovery_answers),
	LIVE_TEST(bind_that_fails_after_a_reset_falls_to_the_next),
	LIVE_TEST(every_allocation_of_an_event_can_fail_and_is_tried_again),
};

UNIT_SUITE(hal_event_tests)
