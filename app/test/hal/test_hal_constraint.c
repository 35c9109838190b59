/* SPDX-License-Identifier: BSD-3-Clause */
/* Constraints across families: who gives way, for which targets, and that it is always the same. */

#include <errno.h>
#include <string.h>

#include "hal_fixture.h"

/* Two families of ports; in both "event" beats the reference "plain". What they ask comes after. */
#define EVENT(family_, with_family, with_variant, ...) \
	VARIANT(family_, "event", .score = 20, \
		.with = { { .family = (with_family), .variant = (with_variant), __VA_ARGS__ } })

static void
ports_and_families(unsigned int nb_ports, const char *a, const char *b)
{
	char name[32];

	for (unsigned int p = 0; p < nb_ports; p++) {
		snprintf(name, sizeof(name), "net_null_%u", p);
		port_add(name);
	}
	assert_int_equal(hy_hal_probe(hal), 0);
	family_add(a, HY_TARGET_PORT, 10);
	family_add(b, HY_TARGET_PORT, 10);
}

static void
constraint_that_holds_changes_nothing(void **state)
{
	RTE_SET_USED(state);
	ports_and_families(1, "con_a1", "con_b1");
	EVENT("con_a1", "con_b1", "event");
	EVENT("con_b1", "con_a1", "event");
	select_all();
	assert_fate("con_a1", 0, "event", HY_FATE_CHOSEN, 20, "best score of what fits");
	assert_fate("con_b1", 0, "event", HY_FATE_CHOSEN, 20, "best score of what fits");
}

static void
who_requires_what_cannot_be_had_gives_way(void **state)
{
	RTE_SET_USED(state);
	ports_and_families(1, "con_a2", "con_b2");
	EVENT("con_a2", "con_b2", "event", .why = "packets leave as they came");
	VARIANT("con_b2", "event", .score = 20,
		.needs = { { .cap = HY_CAP_RX_QUEUES, .at_least = UINT64_MAX } });
	select_all();
	assert_fate("con_b2", 0, "plain", HY_FATE_CHOSEN, 10, "best score of what fits");
	assert_fate("con_a2", 0, "plain", HY_FATE_CHOSEN, 10, "best score of what fits");
	assert_fate("con_a2", 0, "event", HY_FATE_CONSTRAINED, 20,
		"requires con_b2=event: for port 0 it is plain: packets leave as they came");
}

/* a=event falls, since b=event cannot be; so c=event, which requires a=event, falls too. */
static void
constraints_follow_from_each_other(void **state)
{
	RTE_SET_USED(state);
	ports_and_families(1, "con_a3", "con_b3");
	family_add("con_c3", HY_TARGET_PORT, 10);
	EVENT("con_c3", "con_a3", "event");
	EVENT("con_a3", "con_b3", "event");
	VARIANT("con_b3", "event", .score = 5);
	select_all();
	assert_string_equal(chosen("con_b3", 0), "plain");
	assert_string_equal(chosen("con_a3", 0), "plain");
	assert_fate("con_c3", 0, "event", HY_FATE_CONSTRAINED, 20,
		"requires con_a3=event: for port 0 it is plain");
}

static void
who_excludes_what_is_chosen_gives_way(void **state)
{
	RTE_SET_USED(state);
	ports_and_families(1, "con_a4", "con_b4");
	EVENT("con_a4", "con_b4", "event", .excludes = true);
	VARIANT("con_b4", "event", .score = 20);
	select_all();
	assert_string_equal(chosen("con_b4", 0), "event");
	assert_fate("con_a4", 0, "event", HY_FATE_CONSTRAINED, 20,
		"excludes con_b4=event: for port 0 it is event");
	assert_int_equal(hy_hal_deny(hal, "con_b4=event", error), 0);
	select_all();
	assert_fate("con_a4", 0, "event", HY_FATE_CHOSEN, 20, "best score of what fits");
}

static void
constraints_hold_for_each_port_by_itself(void **state)
{
	RTE_SET_USED(state);
	ports_and_families(3, "con_a5", "con_b5");
	EVENT("con_a5", "con_b5", "event");
	VARIANT("con_b5", "event", .score = 20);
	assert_int_equal(hy_hal_deny(hal, "con_b5@1=event", error), 0);
	select_all();
	assert_string_equal(chosen("con_a5", 0), "event");
	assert_fate("con_a5", 1, "event", HY_FATE_CONSTRAINED, 20,
		"requires con_b5=event: for port 1 it is plain");
	assert_string_equal(chosen("con_a5", 2), "event");
}

static void
what_a_variant_of_the_process_asks_is_asked_of_all_ports(void **state)
{
	RTE_SET_USED(state);
	ports_and_families(2, "con_a6", "con_b6");
	family_add("con_p6", HY_TARGET_PROCESS, 10);
	VARIANT("con_p6", "fast", .score = 20,
		.with = { { .family = "con_a6", .variant = "event" } });
	VARIANT("con_a6", "event", .score = 20);
	EVENT("con_b6", "con_p6", "fast");
	select_all();
	assert_string_equal(chosen("con_p6", 0), "fast");
	assert_string_equal(chosen("con_b6", 1), "event");
	assert_int_equal(hy_hal_deny(hal, "con_a6@1=event", error), 0);
	select_all();
	assert_fate("con_p6", 0, "fast", HY_FATE_CONSTRAINED, 20,
		"requires con_a6=event: for port 1 it is plain");
	assert_fate("con_b6", 0, "event", HY_FATE_CONSTRAINED, 20,
		"requires con_p6=fast: for process it is plain");
}

static void
others_give_way_to_what_is_forced(void **state)
{
	RTE_SET_USED(state);
	ports_and_families(1, "con_a7", "con_b7");
	EVENT("con_a7", "con_b7", "event");
	VARIANT("con_b7", "event", .score = 5);
	select_all();
	assert_string_equal(chosen("con_a7", 0), "plain");
	assert_int_equal(hy_hal_force(hal, "con_a7=event", error), 0);
	select_all();
	assert_fate("con_a7", 0, "event", HY_FATE_CHOSEN, 20, "forced by the user");
	assert_fate("con_b7", 0, "event", HY_FATE_CHOSEN, 5, "best score of what fits");
	assert_fate("con_b7", 0, "plain", HY_FATE_CONSTRAINED, 10,
		"con_a7=event, which was forced, requires con_b7=event");
}

static void
two_forces_that_exclude_each_other_are_refused(void **state)
{
	RTE_SET_USED(state);
	ports_and_families(1, "con_a8", "con_b8");
	EVENT("con_a8", "con_b8", "event", .why = "one adapter");
	VARIANT("con_b8", "event", .score = 5);
	select_all();
	assert_int_equal(hy_hal_force(hal, "con_a8=event", error), 0);
	assert_int_equal(hy_hal_force(hal, "con_b8=plain", error), 0);
	assert_int_equal(hy_hal_select(hal, error), -ENOTSUP);
	assert_string_equal(error,
		"con_a8=event requires con_b8=event for port 0, where plain is "
		"forced: one adapter");
	assert_string_equal(chosen("con_a8", 0), "plain"); /* the selection before stands */
}

static void
family_that_there_is_not_cannot_be_required(void **state)
{
	RTE_SET_USED(state);
	ports_and_families(1, "con_a9", "con_b9");
	EVENT("con_a9", "con_nobody", "event");
	EVENT("con_b9", "con_nobody", "event", .excludes = true);
	select_all();
	assert_fate("con_a9", 0, "event", HY_FATE_CONSTRAINED, 20,
		"requires con_nobody=event, which does not exist");
	assert_string_equal(chosen("con_b9", 0), "event");
	assert_int_equal(hy_hal_force(hal, "con_a9=event", error), 0);
	assert_int_equal(hy_hal_select(hal, error), -ENOTSUP);
	assert_string_equal(error, "con_a9=event requires con_nobody=event, which does not exist");
}

/* Both want the other to go: the first by name gives way, whichever was declared first. */
static void
order_of_declaration_leaves_no_trace(void **state)
{
	RTE_SET_USED(state);
	ports_and_families(1, "con_ab", "con_ba");
	EVENT("con_ab", "con_ba", "event", .excludes = true);
	EVENT("con_ba", "con_ab", "event", .excludes = true);
	family_add("con_bd", HY_TARGET_PORT, 10);
	family_add("con_ac", HY_TARGET_PORT, 10);
	EVENT("con_bd", "con_ac", "event", .excludes = true);
	EVENT("con_ac", "con_bd", "event", .excludes = true);
	select_all();
	assert_string_equal(chosen("con_ab", 0), "plain");
	assert_string_equal(chosen("con_ba", 0), "event");
	assert_string_equal(chosen("con_ac", 0), "plain");
	assert_string_equal(chosen("con_bd", 0), "event");
}

static void
malformed_constraints_are_refused(void **state)
{
	static const struct hy_with bad[][2] = {
		{ { .family = "con_f" } },
		{ { .variant = "v" } },
		{ { .family = "a b", .variant = "v" } },
		{ { .family = "con_f", .variant = "" } },
		{ { .family = NULL }, { .family = "con_f", .variant = "v" } },
	};

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(bad); i++)
		assert_int_equal(variant_try(&(const struct hy_variant){
					 .family = "con_none",
					 .impl = { .variant = "v", .process = hal_process },
					 .with = { bad[i][0], bad[i][1] },
				 }),
			-EINVAL);
}

static const struct CMUnitTest hal_constraint_tests[] = {
	HAL_TEST(constraint_that_holds_changes_nothing),
	HAL_TEST(who_requires_what_cannot_be_had_gives_way),
	HAL_TEST(constraints_follow_from_each_other),
	HAL_TEST(who_excludes_what_is_chosen_gives_way),
	HAL_TEST(constraints_hold_for_each_port_by_itself),
	HAL_TEST(what_a_variant_of_the_process_asks_is_asked_of_all_ports),
	HAL_TEST(others_give_way_to_what_is_forced),
	HAL_TEST(two_forces_that_exclude_each_other_are_refused),
	HAL_TEST(family_that_there_is_not_cannot_be_required),
	HAL_TEST(order_of_declaration_leaves_no_trace),
	HAL_TEST(malformed_constraints_are_refused),
};

UNIT_SUITE(hal_constraint_tests)
