/* SPDX-License-Identifier: BSD-3-Clause */
/* What the HAL prints: for people, and as JSON. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hal_fixture.h"

static void
family_with_all_fates(const char *family)
{
	char spec[HY_NAME_SIZE];

	family_add(family, HY_TARGET_PROCESS, 10);
	VARIANT(family, "fast", .score = 20);
	VARIANT(family, "ports", .score = 30, .needs = { { .cap = HY_CAP_TX_QUEUES } });
	VARIANT(family, "unloved", .score = 40);
	snprintf(spec, sizeof(spec), "%s=unloved", family);
	assert_int_equal(hy_hal_deny(hal, spec, error), 0);
}

/* A part of a text, which must be there exactly once. */
static const char *
only(const char *text, const char *part)
{
	const char *at = strstr(text, part);

	if (at == NULL)
		fail_msg("not printed: %s\n%s", part, text);
	else if (strstr(at + 1, part) != NULL)
		fail_msg("printed twice: %s\n%s", part, text);
	return at;
}

static void
text_has_every_candidate_with_its_fate(void **state)
{
	RTE_SET_USED(state);
	family_with_all_fates("expl_text");
	select_all();
	only(printed(hy_hal_explain),
		"expl_text for process: fast\n"
		"    fast       chosen      score  20  best score of what fits\n"
		"    plain      outscored   score  10  fast scores 20\n"
		"               to be chosen: the user must force it; fast scores 20, and it at most 10\n"
		"    unloved    denied      score  40  denied by the user\n"
		"               to be chosen: the user must not deny it\n"
		"    ports      needs_unmet score  30  needs tx_queues: no (a capability of "
		"ports, not of the process)\n"
		"               to be chosen: tx_queues must be yes; it is no (a capability of ports, not "
		"of the process)\n");
}

static void
text_says_what_was_forced(void **state)
{
	RTE_SET_USED(state);
	family_with_all_fates("expl_forced");
	assert_int_equal(hy_hal_force(hal, "expl_forced=plain", error), 0);
	select_all();
	only(printed(hy_hal_explain),
		"expl_forced for process: plain (forced)\n"
		"    plain      chosen      score  10  forced by the user\n"
		"    fast       outscored   score  20  plain was forced\n"
		"               to be chosen: the user must not force plain\n");
}

/* Each line is done as it says, and then the variant is chosen. */
static void
what_would_have_to_change_is_enough(void **state)
{
	static const struct hy_need needy[] = { { .declared = "expl_rules", .at_least = 5 },
		{ .declared = "expl_more", .at_least = 2, .bonus = 30 },
		{ .declared = "expl_much", .bonus = 40 } };
	struct hy_variant variant = { .family = "expl_change",
		.impl = { .variant = "needy", .process = hal_process_b },
		.score = 5 };

	RTE_SET_USED(state);
	family_add("expl_change", HY_TARGET_PROCESS, 10);
	memcpy(variant.needs, needy, sizeof(needy));
	assert_int_equal(variant_try(&variant), 0);
	VARIANT("expl_change", "slow", .score = 20,
		.needs = { { .declared = "expl_live", .bonus = -15 } });
	assert_int_equal(hy_hal_declare(hal, "expl_live", 1, "a test"), 0);
	assert_int_equal(hy_hal_declare(hal, "expl_more", 1, "a test"), 0);
	select_all();
	assert_string_equal(chosen("expl_change", 0), "plain");
	assert_string_equal(candidate("expl_change", 0, "plain")->change, "");
	assert_string_equal(candidate("expl_change", 0, "needy")->change,
		"expl_rules must be 5 or more; it is no (the program has not declared it)\n"
		"expl_more must be 2 or more, for +30; it is 1 (a test)");
	assert_string_equal(candidate("expl_change", 0, "slow")->change,
		"expl_live must be absent: it costs 15");
	assert_int_equal(hy_hal_declare(hal, "expl_live", 0, "a test"), 0);
	select_all();
	assert_string_equal(chosen("expl_change", 0), "slow");
	assert_int_equal(hy_hal_declare(hal, "expl_rules", 5, "a test"), 0);
	select_all();
	assert_string_equal(candidate("expl_change", 0, "needy")->change,
		"expl_more must be 2 or more, for +30; it is 1 (a test)");
	assert_int_equal(hy_hal_declare(hal, "expl_more", 2, "a test"), 0);
	select_all();
	assert_string_equal(chosen("expl_change", 0), "needy");
	assert_int_equal(hy_hal_deny(hal, "expl_change=needy", error), 0);
	assert_int_equal(hy_hal_force(hal, "expl_change=plain", error), 0);
	select_all();
	assert_string_equal(candidate("expl_change", 0, "needy")->change,
		"the user must not deny it\nthe user must not force plain");
}

static void
text_has_a_section_for_each_port_in_order(void **state)
{
	const char *text, *first, *second;

	RTE_SET_USED(state);
	port_add("net_null_0");
	port_add("net_null_1");
	assert_int_equal(hy_hal_probe(hal), 0);
	select_all();
	text = printed(hy_hal_explain);
	first = only(text, "ethdev_tx for port 0: own_queue\n");
	second = only(text, "ethdev_tx for port 1: own_queue\n");
	assert_true(first < second);
	assert_true(second < only(text, "ip4_lookup for process: "));
	assert_true(second < only(text, "pkt_drop for process: scalar\n"));
}

static void
nothing_selected_prints_nothing(void **state)
{
	RTE_SET_USED(state);
	assert_string_equal(printed(hy_hal_explain), "");
	assert_true(json_valid(printed(hy_hal_explain_json)));
	assert_non_null(strstr(printed(hy_hal_explain_json), "\"selections\": [\n  ]"));
}

static void
json_is_well_formed_and_says_the_same(void **state)
{
	const char *json;

	RTE_SET_USED(state);
	port_add("net_null_0");
	port_add_rings("expl_ring", 2, 1);
	assert_int_equal(hy_hal_probe(hal), 0);
	family_with_all_fates("expl_json");
	assert_int_equal(hy_hal_force(hal, "expl_json=plain", error), 0);
	select_all();
	json = printed(hy_hal_explain_json);
	assert_true(json_valid(json));
	only(json,
		"{\"family\": \"expl_json\", \"target\": \"process\", \"variant\": \"plain\", "
		"\"forced\": true, \"candidates\": [\n"
		"      {\"variant\": \"plain\", \"pack\": \"test\", \"text\": \"A family of the tests\",\n"
		"       \"fate\": \"chosen\", "
		"\"score\": 10, \"reason\": \"forced by the user\",\n"
		"       \"change\": []},\n"
		"      {\"variant\": \"fast\", \"pack\": \"test\", \"text\": \"A variant of the tests\",\n"
		"       \"fate\": \"outscored\", "
		"\"score\": 20, \"reason\": \"plain was forced\",\n"
		"       \"change\": [\"the user must not force plain\"]},\n"
		"      {\"variant\": \"unloved\", \"pack\": \"test\", \"text\": \"A variant of the tests\",\n"
		"       \"fate\": \"denied\", "
		"\"score\": 40, \"reason\": \"denied by the user\",\n"
		"       \"change\": [\"the user must not deny it\", "
		"\"the user must not force plain\"]},\n"
		"      {\"variant\": \"ports\", \"pack\": \"test\", \"text\": \"A variant of the tests\",\n"
		"       \"fate\": \"needs_unmet\", ");
	only(json,
		"{\"family\": \"ethdev_tx\", \"target\": \"port 1\", \"variant\": \"own_queue\", "
		"\"forced\": false, ");
	only(json, "{\"port\": 0, \"name\": \"net_null_0\", \"driver\": \"net_null\", ");
	only(json, "{\"port\": 1, \"name\": \"net_ring_expl_ring\", \"driver\": \"net_ring\", ");
	only(json,
		"\"rx_queues\": {\"level\": \"yes\", \"origin\": \"declared\", \"value\": 2, "
		"\"reason\": \"the driver's limit\"}");
}

static int
explain_one(const struct hy_hal *of, FILE *out)
{
	static const char *const families[] = { "expl_one", "nosuch", NULL };

	return hy_hal_explain_families(of, families, out);
}

static int
explain_one_json(const struct hy_hal *of, FILE *out)
{
	static const char *const families[] = { "expl_one", "nosuch", NULL };

	return hy_hal_explain_families_json(of, families, out);
}

static void
families_that_are_asked_for_are_explained_and_no_others(void **state)
{
	const char *json;

	RTE_SET_USED(state);
	family_add("expl_one", HY_TARGET_PROCESS, 10);
	family_add("expl_two", HY_TARGET_PROCESS, 10);
	select_all();
	assert_string_equal(printed(explain_one),
		"expl_one for process: plain\n"
		"    plain      chosen      score  10  the only one\n");
	json = printed(explain_one_json);
	assert_true(json_valid(json));
	only(json, "\"family\": ");
	only(json, "{\"family\": \"expl_one\", ");
	only(json, "\"inventory\": {");
	only(printed(hy_hal_explain), "expl_two for process: plain\n");
}

static bool
fits_quoting(const struct hy_hal *of, struct hy_target target, char *reason, size_t size)
{
	RTE_SET_USED(of);
	RTE_SET_USED(target);
	snprintf(reason, size, "a \"quote\", a \\, a\ttab, a\nline, \x01");
	return false;
}

static void
json_escapes_what_a_reason_holds(void **state)
{
	const char *json;

	RTE_SET_USED(state);
	family_add("expl_escape", HY_TARGET_PROCESS, 10);
	VARIANT("expl_escape", "quoting", .fits = fits_quoting);
	select_all();
	json = printed(hy_hal_explain_json);
	assert_true(json_valid(json));
	only(json, "\"a \\\"quote\\\", a \\\\, a\\u0009tab, a\\u000aline, \\u0001\"");
}

static void
json_check_itself_tells_good_from_bad(void **state)
{
	static const char *const good[] = { "{}", "[]", " [1, -2] ", "{\"a\": [true, null]}",
		"\"\\u0001\"" };
	static const char *const bad[] = { "", "{", "[1,]", "{\"a\"}", "{\"a\": 1,}", "[1] 2",
		"\"a\nb\"", "\"\\x\"", "[nul]", "{a: 1}" };

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(good); i++)
		if (!json_valid(good[i]))
			fail_msg("refused: %s", good[i]);
	for (size_t i = 0; i < RTE_DIM(bad); i++)
		if (json_valid(bad[i]))
			fail_msg("taken: %s", bad[i]);
}

static void
failing_output_is_told(void **state)
{
	static int (*const print[])(const struct hy_hal *, FILE *) = { hy_hal_explain,
		hy_hal_explain_json, hy_hal_inventory_print, hy_hal_inventory_json };

	RTE_SET_USED(state);
	select_all();
	for (size_t i = 0; i < RTE_DIM(print); i++) {
		FILE *full = fopen("/dev/full", "w");

		assert_non_null(full);
		setvbuf(full, NULL, _IONBF, 0);
		/* Only the process's own output remembers what its first error was. */
		assert_int_equal(print[i](hal, full), -EIO);
		fclose(full);
	}
}

static const struct CMUnitTest hal_explain_tests[] = {
	HAL_TEST(text_has_every_candidate_with_its_fate),
	HAL_TEST(text_says_what_was_forced),
	HAL_TEST(what_would_have_to_change_is_enough),
	HAL_TEST(text_has_a_section_for_each_port_in_order),
	HAL_TEST(nothing_selected_prints_nothing),
	HAL_TEST(json_is_well_formed_and_says_the_same),
	HAL_TEST(families_that_are_asked_for_are_explained_and_no_others),
	HAL_TEST(json_escapes_what_a_reason_holds),
	HAL_TEST(json_check_itself_tells_good_from_bad),
	HAL_TEST(failing_output_is_told),
};

UNIT_SUITE(hal_explain_tests)
