/* SPDX-License-Identifier: BSD-3-Clause */
/* What the user says: variants forced and denied, for all targets or for one port. */

#include <errno.h>
#include <string.h>

#include <rte_ethdev.h>

#include "hal_fixture.h"

/* A family for ports with the variants fast (20) and plain (10); two ports, 0 and 1. */
static void
two_ports(const char *family)
{
	assert_int_equal(port_add("net_null_0"), 0);
	assert_int_equal(port_add("net_null_1"), 1);
	family_add(family, HY_TARGET_PORT, 10);
	VARIANT(family, "fast", .score = 20);
	assert_int_equal(hy_hal_probe(hal), 0);
}

static void
force(const char *spec)
{
	if (hy_hal_force(hal, spec, error) != 0)
		fail_msg("%s", error);
}

static void
deny(const char *spec)
{
	if (hy_hal_deny(hal, spec, error) != 0)
		fail_msg("%s", error);
}

static void
denied_variant_is_out_for_all_targets(void **state)
{
	RTE_SET_USED(state);
	two_ports("rule_deny");
	deny("rule_deny=fast");
	select_all();
	for (uint16_t port = 0; port < 2; port++) {
		assert_string_equal(chosen("rule_deny", port), "plain");
		assert_fate("rule_deny", port, "fast", HY_FATE_DENIED, 20, "denied by the user");
	}
}

static void
denied_variant_is_out_for_one_port(void **state)
{
	RTE_SET_USED(state);
	two_ports("rule_deny_port");
	deny("rule_deny_port@1=fast");
	select_all();
	assert_string_equal(chosen("rule_deny_port", 0), "fast");
	assert_string_equal(chosen("rule_deny_port", 1), "plain");
	assert_fate("rule_deny_port", 1, "fast", HY_FATE_DENIED, 20, "denied by the user");
}

static void
denying_twice_is_denying_once(void **state)
{
	RTE_SET_USED(state);
	two_ports("rule_deny_twice");
	deny("rule_deny_twice=fast");
	deny("rule_deny_twice=fast");
	deny("rule_deny_twice@0=fast");
	select_all();
	assert_string_equal(chosen("rule_deny_twice", 0), "plain");
}

static void
forced_variant_beats_the_score(void **state)
{
	RTE_SET_USED(state);
	two_ports("rule_force");
	force("rule_force=plain");
	select_all();
	for (uint16_t port = 0; port < 2; port++) {
		assert_true(selected("rule_force", port)->forced);
		assert_string_equal(chosen("rule_force", port), "plain");
		assert_string_equal(
			selected("rule_force", port)->candidates[0].variant->impl.variant, "plain");
		assert_fate("rule_force", port, "plain", HY_FATE_CHOSEN, 10, "forced by the user");
		assert_fate("rule_force", port, "fast", HY_FATE_OUTSCORED, 20, "plain was forced");
	}
	assert_false(selected("ip4_rewrite", 0)->forced);
}

static void
forced_for_a_port_has_precedence_in_any_order(void **state)
{
	RTE_SET_USED(state);
	two_ports("rule_both_1");
	family_add("rule_both_2", HY_TARGET_PORT, 10);
	VARIANT("rule_both_2", "fast", .score = 20);
	VARIANT("rule_both_2", "third", .score = 5);
	force("rule_both_1=plain");
	force("rule_both_1@1=fast");
	force("rule_both_2@0=third");
	force("rule_both_2=plain");
	select_all();
	assert_string_equal(chosen("rule_both_1", 0), "plain");
	assert_string_equal(chosen("rule_both_1", 1), "fast");
	assert_string_equal(chosen("rule_both_2", 0), "third");
	assert_string_equal(chosen("rule_both_2", 1), "plain");
}

static void
forcing_a_port_leaves_the_others_free(void **state)
{
	RTE_SET_USED(state);
	two_ports("rule_one");
	force("rule_one@1=plain");
	select_all();
	assert_string_equal(chosen("rule_one", 0), "fast");
	assert_false(selected("rule_one", 0)->forced);
	assert_string_equal(chosen("rule_one", 1), "plain");
	assert_true(selected("rule_one", 1)->forced);
}

static void
forced_otherwise_already_is_refused(void **state)
{
	RTE_SET_USED(state);
	two_ports("rule_again");
	force("rule_again=plain");
	force("rule_again=plain");
	assert_int_equal(hy_hal_force(hal, "rule_again=fast", error), -EEXIST);
	assert_string_equal(error, "'rule_again=fast': rule_again is forced to 'plain' already");
	force("rule_again@0=fast");
	assert_int_equal(hy_hal_force(hal, "rule_again@0=plain", error), -EEXIST);
	force("rule_again@1=plain");
	select_all();
	assert_string_equal(chosen("rule_again", 0), "fast");
	assert_string_equal(chosen("rule_again", 1), "plain");
}

static void
force_that_cannot_be_met_fails_says_why_and_selections_stand(void **state)
{
	const struct hy_selection *before;

	RTE_SET_USED(state);
	family_add("rule_cannot", HY_TARGET_PROCESS, 10);
	VARIANT("rule_cannot", "giant", .score = 90, .needs = { { .cap = HY_CAP_RX_PTYPE_IP4 } });
	VARIANT("rule_cannot", "good", .score = 20);
	select_all();
	before = selected("rule_cannot", 0);
	force("rule_cannot=giant");
	assert_int_equal(hy_hal_select(hal, error), -ENOTSUP);
	assert_string_equal(error,
		"rule_cannot=giant cannot be used for process: needs rx_ptype_ip4: no "
		"(a capability of ports, not of the process)");
	assert_ptr_equal(selected("rule_cannot", 0), before);
	assert_string_equal(chosen("rule_cannot", 0), "good");
	assert_false(before->forced);
	assert_string_equal(chosen("null", 0), "scalar");
}

static void
force_that_one_port_cannot_meet_fails_and_names_the_port(void **state)
{
	RTE_SET_USED(state);
	port_add_rings("rule_r0", 2, 2);
	port_add_rings("rule_r1", 1, 1);
	family_add("rule_port", HY_TARGET_PORT, 10);
	VARIANT("rule_port", "two", .score = 5,
		.needs = { { .cap = HY_CAP_TX_QUEUES, .at_least = 2 } });
	assert_int_equal(hy_hal_probe(hal), 0);
	force("rule_port=two");
	assert_int_equal(hy_hal_select(hal, error), -ENOTSUP);
	assert_string_equal(error,
		"rule_port=two cannot be used for port 1: needs tx_queues of 2: it is 1, "
		"the driver's limit");
	assert_null(hy_hal_selection(hal, "rule_port", 0));
	force("rule_port@1=plain");
	select_all();
	assert_string_equal(chosen("rule_port", 0), "two");
	assert_string_equal(chosen("rule_port", 1), "plain");
}

static void
forced_and_denied_fails(void **state)
{
	RTE_SET_USED(state);
	family_add("rule_clash", HY_TARGET_PROCESS, 10);
	force("rule_clash=plain");
	deny("rule_clash=plain");
	assert_int_equal(hy_hal_select(hal, error), -ENOTSUP);
	assert_string_equal(error,
		"rule_clash=plain cannot be used for process: denied by the user");
}

static void
all_denied_fails_and_selections_stand(void **state)
{
	RTE_SET_USED(state);
	two_ports("rule_none");
	select_all();
	deny("rule_none=fast");
	deny("rule_none@1=plain");
	assert_int_equal(hy_hal_select(hal, error), -ENOTSUP);
	assert_string_equal(error,
		"no variant of rule_none is left for port 1: fast: denied by the user");
	assert_string_equal(chosen("rule_none", 0), "fast");
	assert_string_equal(chosen("rule_none", 1), "fast");
}

static void
rules_of_one_hal_are_not_those_of_the_next(void **state)
{
	RTE_SET_USED(state);
	family_add("rule_next", HY_TARGET_PROCESS, 10);
	VARIANT("rule_next", "fast", .score = 20);
	force("rule_next=plain");
	select_all();
	assert_string_equal(chosen("rule_next", 0), "plain");
	hy_hal_destroy(hal);
	assert_int_equal(hy_hal_create(&hal), 0);
	select_all();
	assert_string_equal(chosen("rule_next", 0), "fast");
	assert_false(selected("rule_next", 0)->forced);
}

#ifdef RTE_ARCH_X86_64
#define PKT_CLS_VARIANTS "avx2, avx512, "
#elif defined(RTE_ARCH_ARM64)
#define PKT_CLS_VARIANTS "neon, "
#else
#define PKT_CLS_VARIANTS ""
#endif

/* What each is refused with, after "'SPEC'". */
static const struct {
	const char *spec, *error;
} malformed[] = {
	{ "", " is not FAMILY[@PORT]=VARIANT" },
	{ "pkt_cls", " is not FAMILY[@PORT]=VARIANT" },
	{ "pkt_cls@0", " is not FAMILY[@PORT]=VARIANT" },
	{ "pkt_cls:scalar", " is not FAMILY[@PORT]=VARIANT" },
	{ "=", ": no family ''; there are: " },
	{ "=scalar", ": no family ''; there are: " },
	{ "@0=scalar", ": no family ''; there are: " },
	{ " pkt_cls=scalar", ": no family ' pkt_cls'; there are: " },
	{ "pkt_cls =scalar", ": no family 'pkt_cls '; there are: " },
	{ "PKT_CLS=scalar", ": no family 'PKT_CLS'; there are: " },
	{ "pkt_c=scalar", ": no family 'pkt_c'; there are: " },
	{ "pkt_cls=", ": pkt_cls has no variant ''; it has: " PKT_CLS_VARIANTS "ptype, scalar" },
	{ "pkt_cls=scala",
		": pkt_cls has no variant 'scala'; it has: " PKT_CLS_VARIANTS "ptype, scalar" },
	{ "pkt_cls=scalar ",
		": pkt_cls has no variant 'scalar '; it has: " PKT_CLS_VARIANTS "ptype, scalar" },
	{ "pkt_cls==scalar",
		": pkt_cls has no variant '=scalar'; it has: " PKT_CLS_VARIANTS "ptype, scalar" },
	{ "pkt_cls=scalar@0",
		": pkt_cls has no variant 'scalar@0'; it has: " PKT_CLS_VARIANTS "ptype, scalar" },
	{ "pkt_cls@0=avx3",
		": pkt_cls has no variant 'avx3'; it has: " PKT_CLS_VARIANTS "ptype, scalar" },
	{ "pkt_cls@=scalar", ": there is no port ''; there are: 0, 1" },
	{ "pkt_cls@2=scalar", ": there is no port '2'; there are: 0, 1" },
	{ "pkt_cls@32=scalar", ": there is no port '32'; there are: 0, 1" },
	{ "pkt_cls@65536=scalar", ": there is no port '65536'; there are: 0, 1" },
	{ "pkt_cls@4294967296=scalar", ": there is no port '4294967296'; there are: 0, 1" },
	{ "pkt_cls@99999999999999999999=scalar",
		": there is no port '9999999999999999'; there are: 0, 1" },
	{ "pkt_cls@-0=scalar", ": there is no port '-0'; there are: 0, 1" },
	{ "pkt_cls@+0=scalar", ": there is no port '+0'; there are: 0, 1" },
	{ "pkt_cls@ 0=scalar", ": there is no port ' 0'; there are: 0, 1" },
	{ "pkt_cls@0 =scalar", ": there is no port '0 '; there are: 0, 1" },
	{ "pkt_cls@0x0=scalar", ": there is no port '0x0'; there are: 0, 1" },
	{ "pkt_cls@0,1=scalar", ": there is no port '0,1'; there are: 0, 1" },
	{ "pkt_cls@0@1=scalar", ": there is no port '0@1'; there are: 0, 1" },
	{ "pkt_cls@*=scalar", ": there is no port '*'; there are: 0, 1" },
	{ "ip4_lookup@0=scalar",
		": ip4_lookup is chosen for the process, not a port; say ip4_lookup=VARIANT" },
};

static void
malformed_specification_is_refused_and_says_what_exists(void **state)
{
	static int (*const tell[])(struct hy_hal *, const char *, char *) = { hy_hal_force,
		hy_hal_deny };
	char expected[HY_HAL_ERROR_SIZE];
	unsigned int refused = 0;

	RTE_SET_USED(state);
	port_add("net_null_0");
	port_add("net_null_1");
	assert_int_equal(hy_hal_probe(hal), 0);
	for (size_t t = 0; t < RTE_DIM(tell); t++) {
		for (size_t i = 0; i < RTE_DIM(malformed); i++, refused++) {
			error[0] = '\0';
			assert_int_equal(tell[t](hal, malformed[i].spec, error), -EINVAL);
			snprintf(expected, sizeof(expected), "'%s'%s", malformed[i].spec,
				malformed[i].error);
			if (strncmp(error, expected, strlen(expected)) != 0)
				fail_msg("%s: not %s", error, expected);
		}
	}
	assert_int_equal(refused, 2 * RTE_DIM(malformed));
	select_all();
	assert_false(selected("pkt_cls", 0)->forced);
	assert_int_not_equal(candidate("pkt_cls", 0, "scalar")->fate, HY_FATE_DENIED);
}

static void
unknown_family_lists_families_in_order(void **state)
{
	const char *rx, *tx, *lookup;

	RTE_SET_USED(state);
	assert_int_equal(hy_hal_force(hal, "nope=scalar", error), -EINVAL);
	rx = strstr(error, "there are: ethdev_rx, ");
	tx = strstr(error, ", ethdev_tx, ");
	lookup = strstr(error, ", ip4_lookup, ");
	assert_non_null(rx);
	assert_non_null(tx);
	assert_non_null(lookup);
	assert_true(rx < tx && tx < lookup);
}

static void
port_is_refused_when_there_is_none_at_all(void **state)
{
	RTE_SET_USED(state);
	assert_int_equal(hy_hal_force(hal, "pkt_cls@0=scalar", error), -EINVAL);
	assert_string_equal(error, "'pkt_cls@0=scalar': there is no port '0'; there are: none");
}

static void
overlong_specification_is_refused_within_the_room_for_errors(void **state)
{
	char spec[1024];
	char room[HY_HAL_ERROR_SIZE + 64];
	unsigned int refused = 0;

	RTE_SET_USED(state);
	for (size_t len = 60; len < sizeof(spec); len++) {
		for (int form = 0; form < 3; form++, refused++) {
			memset(spec, 'x', len);
			spec[len] = '\0';
			if (form == 1)
				memcpy(spec, "pkt_cls=", 8);
			else if (form == 2)
				spec[len - 1] = '=';
			memset(room, '#', sizeof(room));
			assert_int_equal(hy_hal_force(hal, spec, room), -EINVAL);
			assert_true(strnlen(room, sizeof(room)) < HY_HAL_ERROR_SIZE);
			for (size_t i = HY_HAL_ERROR_SIZE; i < sizeof(room); i++)
				assert_int_equal(room[i], '#');
		}
	}
	assert_int_equal(refused, 3 * (1024 - 60));
}

static const struct CMUnitTest hal_rules_tests[] = {
	HAL_TEST(denied_variant_is_out_for_all_targets),
	HAL_TEST(denied_variant_is_out_for_one_port),
	HAL_TEST(denying_twice_is_denying_once),
	HAL_TEST(forced_variant_beats_the_score),
	HAL_TEST(forced_for_a_port_has_precedence_in_any_order),
	HAL_TEST(forcing_a_port_leaves_the_others_free),
	HAL_TEST(forced_otherwise_already_is_refused),
	HAL_TEST(force_that_cannot_be_met_fails_says_why_and_selections_stand),
	HAL_TEST(force_that_one_port_cannot_meet_fails_and_names_the_port),
	HAL_TEST(forced_and_denied_fails),
	HAL_TEST(all_denied_fails_and_selections_stand),
	HAL_TEST(rules_of_one_hal_are_not_those_of_the_next),
	HAL_TEST(malformed_specification_is_refused_and_says_what_exists),
	HAL_TEST(unknown_family_lists_families_in_order),
	HAL_TEST(port_is_refused_when_there_is_none_at_all),
	HAL_TEST(overlong_specification_is_refused_within_the_room_for_errors),
};

UNIT_SUITE(hal_rules_tests)
