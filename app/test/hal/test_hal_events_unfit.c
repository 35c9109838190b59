/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports whose variant fits no more while another port comes or goes. */

#include <errno.h>

#include <rte_ethdev.h>

#include "hal/internal/hal.h"
#include "hal_events_fixture.h"

/* A family of ports with a variant that needs marks, which port 0 has, and which is in use there. */
static void
marks_begin(const char *family, const char *rule, bool force)
{
	events_begin();
	family_add(family, HY_TARGET_PORT, 10);
	VARIANT(family, "marked", .score = 30, .needs = { { .cap = HY_CAP_FLOW_MARK } });
	assert_int_equal(hy_hal_capability_set(hal, (struct hy_target){ HY_TARGET_PORT, 0 },
				 HY_CAP_FLOW_MARK, HY_LEVEL_YES, HY_ORIGIN_PROBED, 1, "tried"),
		0);
	assert_int_equal(force ? hy_hal_force(hal, rule, error) : hy_hal_deny(hal, rule, error), 0);
	live_reselect();
	live_walk();
	assert_string_equal(chosen(family, 0), "marked");
}

static void
marks_end(void)
{
	assert_int_equal(hy_hal_capability_set(hal, (struct hy_target){ HY_TARGET_PORT, 0 },
				 HY_CAP_FLOW_MARK, HY_LEVEL_NO, HY_ORIGIN_OBSERVED, 0, "they lie"),
		0);
}

static void
forced_variant_that_fits_no_more_holds_up_no_other_port(void **state)
{
	RTE_SET_USED(state);
	marks_begin("unfit_forced", "unfit_forced@0=marked", true);
	marks_end();
	assert_int_equal(events_poll_out(), -ENOTSUP);
	assert_string_equal(error,
		"unfit_forced=marked cannot be used for port 0: needs flow_mark: no (they lie)");
	assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_INTR_RESET), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_string_equal(events_story, "down1 reset1 up1 ");
	assert_string_equal(chosen("live_rx", 1), "plain");
	assert_string_equal(chosen("unfit_forced", 0), "marked");
	assert_string_equal(chosen("unfit_forced", 1), "plain");
	assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_INTR_RMV), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_string_equal(events_story, "down1 reset1 up1 gone1 close1 ");
}

/* Both at once: the port leaves, and the error is reported. */
static void
forced_variant_that_fits_no_more_is_reported_while_another_port_leaves(void **state)
{
	RTE_SET_USED(state);
	marks_begin("unfit_both", "unfit_both@0=marked", true);
	marks_end();
	assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_INTR_RESET), 0);
	assert_int_equal(events_poll_out(), -ENOTSUP);
	assert_string_equal(error,
		"unfit_both=marked cannot be used for port 0: needs flow_mark: no (they lie)");
	assert_string_equal(events_story, "down1 reset1 up1 ");
	/* Its own port: it is selected for anew, and does not fit. */
	assert_int_equal(port_event_raise(0, RTE_ETH_EVENT_INTR_RESET), 0);
	assert_int_equal(events_poll_out(), -ENOTSUP);
	assert_string_equal(events_story, "down1 reset1 up1 down0 reset0 up0 down0 ");
	assert_string_equal(chosen("live_rx", 0), "parked");
	assert_string_equal(chosen("unfit_both", 0), "plain");
}

static void
family_of_which_the_user_left_nothing_holds_up_no_other_port(void **state)
{
	RTE_SET_USED(state);
	marks_begin("unfit_denied", "unfit_denied@0=plain", false);
	marks_end();
	assert_int_equal(events_poll_out(), -ENOTSUP);
	assert_int_equal(port_event_raise(1, RTE_ETH_EVENT_INTR_RESET), 0);
	assert_int_equal(events_poll_out(), 0);
	assert_string_equal(events_story, "down1 reset1 up1 ");
	assert_string_equal(chosen("unfit_denied", 0), "marked");
	assert_string_equal(chosen("live_rx", 1), "plain");
}

static const struct CMUnitTest hal_event_unfit_tests[] = {
	LIVE_TEST(forced_variant_that_fits_no_more_holds_up_no_other_port),
	LIVE_TEST(forced_variant_that_fits_no_more_is_reported_while_another_port_leaves),
	LIVE_TEST(family_of_which_the_user_left_nothing_holds_up_no_other_port),
};

UNIT_SUITE(hal_event_unfit_tests)
