/* SPDX-License-Identifier: BSD-3-Clause */
/* Selection: scores, names, needs, predicates; what it depends on, and what it says. */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <rte_ethdev.h>

#include "hal_fixture.h"

static void
highest_score_is_chosen(void **state)
{
	RTE_SET_USED(state);
	family_add("sel_score", HY_TARGET_PROCESS, 10);
	VARIANT("sel_score", "low", .score = 9);
	VARIANT("sel_score", "high", .score = 30);
	VARIANT("sel_score", "negative", .score = -5);
	select_all();
	assert_fate("sel_score", 0, "high", HY_FATE_CHOSEN, 30, "best score of what fits");
	assert_fate("sel_score", 0, "plain", HY_FATE_OUTSCORED, 10, "high scores 30");
	assert_fate("sel_score", 0, "low", HY_FATE_OUTSCORED, 9, "high scores 30");
	assert_fate("sel_score", 0, "negative", HY_FATE_OUTSCORED, -5, "high scores 30");
	assert_false(selected("sel_score", 0)->forced);
}

static void
only_variant_is_chosen_as_such(void **state)
{
	RTE_SET_USED(state);
	family_add("sel_only", HY_TARGET_PROCESS, -1000);
	select_all();
	assert_int_equal(selected("sel_only", 0)->nb_candidates, 1);
	assert_fate("sel_only", 0, "plain", HY_FATE_CHOSEN, -1000, "the only one");
}

/* Names in order of their rank below. */
static const struct {
	const char *name;
	int score;
	enum hy_cap needs;
} ranked[] = {
	{ "best", 40, HY_CAP_NONE },
	{ "draw_a", 20, HY_CAP_NONE },
	{ "draw_b", 20, HY_CAP_NONE },
	{ "draw_c", 20, HY_CAP_NONE },
	{ "plain", 10, HY_CAP_NONE },
	{ "unfit_a", 90, HY_CAP_RX_QUEUES },
	{ "unfit_b", 90, HY_CAP_RX_QUEUES },
};

/* Registers in the order of a permutation: the k-th of n! of all but the family's own. */
static void
register_permuted(const char *family, unsigned int k)
{
	unsigned int left[] = { 0, 1, 2, 3, 5, 6 };

	for (unsigned int n = RTE_DIM(left); n > 0; n--) {
		const unsigned int i = k % n, pick = left[i];

		k /= n;
		memmove(&left[i], &left[i + 1], (n - i - 1) * sizeof(left[0]));
		VARIANT(family, ranked[pick].name, .score = ranked[pick].score,
			.needs = { { .cap = ranked[pick].needs } });
	}
}

static void
order_does_not_depend_on_the_order_of_registration(void **state)
{
	static char names[24][16];
	unsigned int compared = 0;

	RTE_SET_USED(state);
	for (unsigned int f = 0; f < RTE_DIM(names); f++) {
		snprintf(names[f], sizeof(names[f]), "sel_order_%u", f);
		if (f % 2 == 0)
			family_add(names[f], HY_TARGET_PROCESS, 10);
		register_permuted(names[f], f * 31); /* 30 is a multiple of 2, 3, 5 and 6 */
		if (f % 2 == 1)
			family_add(names[f], HY_TARGET_PROCESS, 10);
	}
	select_all();
	for (unsigned int f = 0; f < RTE_DIM(names); f++) {
		const struct hy_selection *s = selected(names[f], 0);

		assert_int_equal(s->nb_candidates, RTE_DIM(ranked));
		for (unsigned int c = 0; c < RTE_DIM(ranked); c++, compared++)
			assert_string_equal(s->candidates[c].variant->impl.variant, ranked[c].name);
		assert_ptr_equal(s->chosen, s->candidates[0].variant);
	}
	assert_int_equal(compared, 24 * 7);
}

/* Chooses again after the program has said how many routes there are, and that they change. */
static void
assert_declared(uint64_t routes, uint64_t live, const char *variant, const char *reason)
{
	assert_int_equal(hy_hal_declare(hal, "ip4_routes", routes, "the test's routes"), 0);
	assert_int_equal(hy_hal_declare(hal, "ip4_live_routes", live, "the test"), 0);
	select_all();
	assert_string_equal(chosen("sel_declared", 0), variant);
	assert_string_equal(candidate("sel_declared", 0, "large")->reason, reason);
}

static void
what_the_program_declares_changes_the_choice(void **state)
{
	RTE_SET_USED(state);
	family_add("sel_declared", HY_TARGET_PROCESS, 10);
	VARIANT("sel_declared", "large", .score = 5,
		.needs = { { .declared = "ip4_routes", .at_least = 1000, .bonus = 8 },
			{ .declared = "ip4_live_routes", .bonus = -4, .why = "it is slow" } });
	assert_string_equal(hy_hal_declared(hal, "ip4_routes")->reason,
		"the program has not declared it");
	select_all();
	assert_fate("sel_declared", 0, "large", HY_FATE_OUTSCORED, 5, "plain scores 10");
	assert_declared(999, 0, "plain", "plain scores 10");
	assert_declared(1000, 0, "large",
		"best score of what fits (its own: 5, +8 for ip4_routes of 1000 or more)");
	assert_string_equal(hy_hal_declared(hal, "ip4_routes")->reason, "the test's routes");
	assert_declared(1000, 1, "plain",
		"plain scores 10 (its own: 5, +8 for ip4_routes of 1000 or more, "
		"-4 for ip4_live_routes: it is slow)");
	assert_declared(1000, 0, "large",
		"best score of what fits (its own: 5, +8 for ip4_routes of 1000 or more)");
	/* Another look at the ports leaves it. */
	assert_int_equal(hy_hal_probe(hal), 0);
	assert_int_equal(hy_hal_declared(hal, "ip4_routes")->value, 1000);
}

static void
need_of_a_declaration_without_a_bonus_must_be_met(void **state)
{
	RTE_SET_USED(state);
	family_add("sel_asked", HY_TARGET_PROCESS, 10);
	VARIANT("sel_asked", "asks", .score = 20,
		.needs = { { .declared = "rules", .at_least = 3 } });
	select_all();
	assert_fate("sel_asked", 0, "asks", HY_FATE_NEEDS_UNMET, 20,
		"needs rules: no (the program has not declared it)");
	assert_int_equal(hy_hal_declare(hal, "rules", 2, "the rule file"), 0);
	select_all();
	assert_fate("sel_asked", 0, "asks", HY_FATE_NEEDS_UNMET, 20,
		"needs rules of 3: it is 2, the rule file");
	assert_int_equal(hy_hal_declare(hal, "rules", 3, "the rule file"), 0);
	select_all();
	assert_string_equal(chosen("sel_asked", 0), "asks");
}

static void
malformed_declarations_are_refused(void **state)
{
	static const char *const names[] = { NULL, "", "two words" };
	static const struct hy_need needs[] = { { .cap = HY_CAP_AVX2, .declared = "both" },
		{ .declared = "two words" } };

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(names); i++)
		assert_int_equal(hy_hal_declare(hal, names[i], 1, "no"), -EINVAL);
	for (size_t i = 0; i < RTE_DIM(needs); i++)
		assert_int_equal(variant_try(&(const struct hy_variant){ .family = "sel_malformed",
					 .impl = { .variant = "v", .process = hal_process },
					 .needs = { needs[i] } }),
			-EINVAL);
}

static void
equal_scores_go_by_name(void **state)
{
	RTE_SET_USED(state);
	VARIANT("sel_draw_1", "zebra", .score = 20);
	VARIANT("sel_draw_1", "ant", .score = 20);
	family_add("sel_draw_1", HY_TARGET_PROCESS, 20);
	family_add("sel_draw_2", HY_TARGET_PROCESS, 20);
	VARIANT("sel_draw_2", "ant", .score = 20);
	VARIANT("sel_draw_2", "zebra", .score = 20);
	select_all();
	assert_string_equal(chosen("sel_draw_1", 0), "ant");
	assert_string_equal(chosen("sel_draw_2", 0), "ant");
	assert_fate("sel_draw_1", 0, "plain", HY_FATE_OUTSCORED, 20,
		"ant scores 20 too, and comes first by name");
	assert_fate("sel_draw_2", 0, "zebra", HY_FATE_OUTSCORED, 20,
		"ant scores 20 too, and comes first by name");
}

static void
unmet_need_puts_a_variant_out_and_says_why(void **state)
{
#ifdef RTE_ARCH_X86_64
	const enum hy_cap foreign = HY_CAP_NEON;
	const char *const reason = "needs neon: no (not on this CPU architecture)";
#else
	const enum hy_cap foreign = HY_CAP_AVX2;
	const char *const reason = "needs avx2: no (not on this CPU architecture)";
#endif

	RTE_SET_USED(state);
	family_add("sel_need", HY_TARGET_PROCESS, 10);
	VARIANT("sel_need", "foreign", .score = 50, .needs = { { .cap = foreign } });
	VARIANT("sel_need", "second", .score = 60,
		.needs = { { .cap = HY_CAP_SIMD_BITS }, { .cap = foreign } });
	VARIANT("sel_need", "portish", .score = 40, .needs = { { .cap = HY_CAP_TX_QUEUES } });
	select_all();
	assert_string_equal(chosen("sel_need", 0), "plain");
	assert_fate("sel_need", 0, "foreign", HY_FATE_NEEDS_UNMET, 50, reason);
	assert_fate("sel_need", 0, "second", HY_FATE_NEEDS_UNMET, 60, reason);
	assert_fate("sel_need", 0, "portish", HY_FATE_NEEDS_UNMET, 40,
		"needs tx_queues: no (a capability of ports, not of the process)");
}

static void
value_must_be_at_least_what_is_needed(void **state)
{
	const struct hy_capability *bits = hy_hal_capability(hal,
		(struct hy_target){ HY_TARGET_PROCESS, 0 }, HY_CAP_SIMD_BITS);
	char reason[HY_REASON_SIZE];

	RTE_SET_USED(state);
	family_add("sel_least", HY_TARGET_PROCESS, 10);
	VARIANT("sel_least", "equal", .score = 20,
		.needs = { { .cap = HY_CAP_SIMD_BITS, .at_least = bits->value } });
	VARIANT("sel_least", "above", .score = 30,
		.needs = { { .cap = HY_CAP_SIMD_BITS, .at_least = bits->value + 1 } });
	select_all();
	assert_string_equal(chosen("sel_least", 0), "equal");
	snprintf(reason, sizeof(reason), "needs simd_bits of %" PRIu64 ": it is %" PRIu64 ", %s",
		bits->value + 1, bits->value, bits->reason);
	assert_fate("sel_least", 0, "above", HY_FATE_NEEDS_UNMET, 30, reason);
}

static void
scored_need_adds_its_bonus_only_if_met(void **state)
{
#define MET \
	{ \
		.cap = HY_CAP_SIMD_BITS, .at_least = 64
#define UNMET \
	{ \
		.cap = HY_CAP_SIMD_BITS, .at_least = 1 << 20
	RTE_SET_USED(state);
	family_add("sel_bonus", HY_TARGET_PROCESS, 10);
	VARIANT("sel_bonus", "met", .score = 5, .needs = {
		MET, .bonus = 10 }
});
	VARIANT("sel_bonus", "unmet", .score = 6, .needs = {
	UNMET, .bonus = 10 }
	});
	VARIANT("sel_bonus", "both", .score = 1,
		.needs = { MET, .bonus = 6 }, UNMET, .bonus = 100
	}
	, MET, .bonus = 9
	}
	, MET
	}
	});
	VARIANT("sel_bonus", "worse", .score = 20, .needs = {
	MET, .bonus = -15 }
	});
	select_all();
	assert_fate("sel_bonus", 0, "both", HY_FATE_CHOSEN, 16,
		"best score of what fits (its own: 1, +6 for simd_bits of 64 or more, "
		"+9 for simd_bits of 64 or more)");
	assert_fate("sel_bonus", 0, "met", HY_FATE_OUTSCORED, 15,
		"both scores 16 (its own: 5, +10 for simd_bits of 64 or more)");
	assert_fate("sel_bonus", 0, "unmet", HY_FATE_OUTSCORED, 6, "both scores 16");
	assert_fate("sel_bonus", 0, "worse", HY_FATE_OUTSCORED, 5,
		"both scores 16 (its own: 20, -15 for simd_bits of 64 or more)");
#undef MET
#undef UNMET
	}

	/* Predicates of one test each: families stay, and later tests select for them too. */
	static unsigned int asked_never, asked_always, asked_out, asked_port;
	static struct hy_target asked_target;

	static bool
	fits_never(const struct hy_hal *of, struct hy_target target, char *reason, size_t size)
	{
		asked_never += of == hal && target.kind == HY_TARGET_PROCESS &&
			size == HY_REASON_SIZE;
		snprintf(reason, size, "its moon is not full");
		return false;
	}

	static bool
	fits_silent(const struct hy_hal *of, struct hy_target target, char *reason, size_t size)
	{
		RTE_SET_USED(of);
		RTE_SET_USED(target);
		RTE_SET_USED(reason);
		RTE_SET_USED(size);
		return false;
	}

	static bool
	fits_always(const struct hy_hal *of, struct hy_target target, char *reason, size_t size)
	{
		RTE_SET_USED(of);
		RTE_SET_USED(target);
		snprintf(reason, size, "a remark");
		asked_always++;
		return true;
	}

	static bool
	fits_out(const struct hy_hal *of, struct hy_target target, char *reason, size_t size)
	{
		RTE_SET_USED(reason);
		RTE_SET_USED(size);
		RTE_SET_USED(of);
		RTE_SET_USED(target);
		asked_out++;
		return true;
	}

	static bool
	fits_port(const struct hy_hal *of, struct hy_target target, char *reason, size_t size)
	{
		RTE_SET_USED(of);
		asked_port++;
		asked_target = target;
		snprintf(reason, size, "port %u is not prime", target.id);
		return false;
	}

	static void
	predicate_has_the_last_word_with_its_reason(void **state)
	{
		RTE_SET_USED(state);
		family_add("sel_fits", HY_TARGET_PROCESS, 10);
		VARIANT("sel_fits", "never", .score = 50, .fits = fits_never);
		VARIANT("sel_fits", "silent", .score = 45, .fits = fits_silent);
		VARIANT("sel_fits", "always", .score = 40, .fits = fits_always);
		select_all();
		assert_int_equal(asked_never, 1);
		assert_int_equal(asked_always, 1);
		assert_fate("sel_fits", 0, "always", HY_FATE_CHOSEN, 40, "best score of what fits");
		assert_fate("sel_fits", 0, "never", HY_FATE_REJECTED, 50, "its moon is not full");
		assert_fate("sel_fits", 0, "silent", HY_FATE_REJECTED, 45, "its predicate says no");
	}

	static void
	predicate_is_not_asked_of_what_is_out_already(void **state)
	{
		RTE_SET_USED(state);
		family_add("sel_unasked", HY_TARGET_PROCESS, 10);
		VARIANT("sel_unasked", "denied", .score = 50, .fits = fits_out);
		VARIANT("sel_unasked", "unmet", .score = 40, .fits = fits_out,
			.needs = { { .cap = HY_CAP_SIMD_BITS, .at_least = 1 << 20 } });
		assert_int_equal(hy_hal_deny(hal, "sel_unasked=denied", error), 0);
		select_all();
		assert_string_equal(chosen("sel_unasked", 0), "plain");
		assert_int_equal(asked_out, 0);
	}

	static void
	ports_are_selected_for_one_by_one(void **state)
	{
		const uint16_t a = port_add_rings("sel_a", 1, 1), b = port_add_rings("sel_b", 3, 1);

		RTE_SET_USED(state);
		family_add("sel_port", HY_TARGET_PORT, 10);
		VARIANT("sel_port", "three", .score = 20,
			.needs = { { .cap = HY_CAP_RX_QUEUES, .at_least = 3 } });
		VARIANT("sel_port", "prime", .score = 30, .fits = fits_port);
		assert_int_equal(hy_hal_probe(hal), 0);
		select_all();
		assert_string_equal(chosen("sel_port", a), "plain");
		assert_fate("sel_port", a, "three", HY_FATE_NEEDS_UNMET, 20,
			"needs rx_queues of 3: it is 1, the driver's limit");
		assert_string_equal(chosen("sel_port", b), "three");
		assert_int_equal(selected("sel_port", b)->target.id, b);
		assert_null(hy_hal_selection(hal, "sel_port", 31));
		assert_int_equal(asked_port, 2);
		assert_int_equal(asked_target.kind, HY_TARGET_PORT);
		assert_int_equal(asked_target.id, b);
		assert_fate("sel_port", a, "prime", HY_FATE_REJECTED, 30, "port 0 is not prime");
		assert_fate("sel_port", b, "prime", HY_FATE_REJECTED, 30, "port 1 is not prime");
	}

	static void
	port_has_the_capabilities_of_the_process_too(void **state)
	{
		const uint16_t port = port_add("net_null_sel");

		RTE_SET_USED(state);
		family_add("sel_both", HY_TARGET_PORT, 10);
		VARIANT("sel_both", "wide", .score = 20,
			.needs = { { .cap = HY_CAP_SIMD_BITS, .at_least = 64 },
				{ .cap = HY_CAP_RX_QUEUES, .at_least = 1 } });
		assert_int_equal(hy_hal_probe(hal), 0);
		select_all();
		assert_string_equal(chosen("sel_both", port), "wide");
	}

	static void
	unknown_is_not_enough_for_a_need(void **state)
	{
		const uint16_t port = port_add("net_null_unk");

		RTE_SET_USED(state);
		assert_int_equal(hy_hal_probe(hal), 0);
		select_all();
		assert_string_not_equal(chosen("pkt_cls", port), "ptype");
		assert_fate("pkt_cls", port, "ptype", HY_FATE_NEEDS_UNMET, 20,
			"needs rx_ptype_ip4: unknown (the driver names no packet types)");
	}

	static void
	probe_and_select_follow_ports_that_come_and_go(void **state)
	{
		uint16_t port;

		RTE_SET_USED(state);
		select_all();
		assert_null(hy_hal_selection(hal, "pkt_cls", 0));
		port = port_add("net_null_go");
		select_all();
		assert_null(hy_hal_selection(hal, "pkt_cls", port));
		assert_int_equal(hy_hal_probe(hal), 0);
		select_all();
		assert_non_null(hy_hal_selection(hal, "pkt_cls", port));
		ports_remove();
		assert_int_equal(hy_hal_probe(hal), 0);
		select_all();
		assert_null(hy_hal_selection(hal, "pkt_cls", port));
	}

	static void
	nothing_is_selected_before_the_first_selection(void **state)
	{
		hy_node_id id;

		RTE_SET_USED(state);
		assert_null(hy_hal_selection(hal, "ip4_lookup", 0));
		assert_int_equal(hy_hal_node(hal, "ip4_lookup", 0, &id), -ENOENT);
		assert_int_equal(hy_hal_node_clone(hal, "ip4_lookup", 0, "x", &id), -ENOENT);
		select_all();
		assert_non_null(hy_hal_selection(hal, "ip4_lookup", 0));
		assert_null(hy_hal_selection(hal, "ip4_look", 0));
		assert_ptr_equal(hy_hal_selection(hal, "ip4_lookup", 0),
			hy_hal_selection(hal, "ip4_lookup", 9));
	}

	static const struct CMUnitTest hal_select_tests[] = {
		HAL_TEST(highest_score_is_chosen),
		HAL_TEST(only_variant_is_chosen_as_such),
		HAL_TEST(order_does_not_depend_on_the_order_of_registration),
		HAL_TEST(what_the_program_declares_changes_the_choice),
		HAL_TEST(need_of_a_declaration_without_a_bonus_must_be_met),
		HAL_TEST(malformed_declarations_are_refused),
		HAL_TEST(equal_scores_go_by_name),
		HAL_TEST(unmet_need_puts_a_variant_out_and_says_why),
		HAL_TEST(value_must_be_at_least_what_is_needed),
		HAL_TEST(scored_need_adds_its_bonus_only_if_met),
		HAL_TEST(predicate_has_the_last_word_with_its_reason),
		HAL_TEST(predicate_is_not_asked_of_what_is_out_already),
		HAL_TEST(ports_are_selected_for_one_by_one),
		HAL_TEST(port_has_the_capabilities_of_the_process_too),
		HAL_TEST(unknown_is_not_enough_for_a_need),
		HAL_TEST(probe_and_select_follow_ports_that_come_and_go),
		HAL_TEST(nothing_is_selected_before_the_first_selection),
	};

	UNIT_SUITE(hal_select_tests)
