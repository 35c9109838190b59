/* SPDX-License-Identifier: BSD-3-Clause */
/* Variants that run on another kind of device than their family is selected for, and capabilities
 * that packs add. */

#include <errno.h>
#include <string.h>

#include <rte_cryptodev.h>
#include <rte_eventdev.h>

#include <hy_graph_worker.h>
#include <hy_hal_live.h>
#include <hy_node.h>

#include "hal/internal/hal.h"
#include "hal_fixture.h"

static unsigned int nb_probed, nb_bound, nb_inits;
static struct hy_target bound, init_on;

static void
turbo_probe(struct hy_target target, struct hy_capability *cap)
{
	nb_probed++;
	*cap = (struct hy_capability){ .level = target.id == 1 ? HY_LEVEL_YES : HY_LEVEL_NO,
		.value = 7,
		.reason = "as its manual says" };
}

HY_CAPABILITY(test_turbo, .kind = HY_TARGET_CRYPTO, .text = "For tests", .probe = turbo_probe)
HY_CAPABILITY(test_port, .kind = HY_TARGET_PORT)

static int
on_bind(const struct hy_hal *of, struct hy_target target, char *reason, size_t size)
{
	RTE_SET_USED(of);
	RTE_SET_USED(reason);
	RTE_SET_USED(size);
	nb_bound++;
	bound = target;
	return 0;
}

static int
on_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	RTE_SET_USED(config);
	nb_inits++;
	return hy_hal_node_target(hy_graph_node_name(graph, node), &init_on);
}

static void
release(void **objs, unsigned int n)
{
	RTE_SET_USED(objs);
	RTE_SET_USED(n);
}

static const struct hy_object_ops ops = { .release = release };

static const struct hy_family source = { .target = HY_TARGET_PROCESS,
	.score = 10,
	.node = { .name = "on_crypto",
		.flags = HY_NODE_SOURCE,
		.impl = { .variant = "plain", .process = hal_process } } };

/* A family for the process, with a variant for each crypto device that has turbo. */
static void
families_add(void)
{
	static bool is_there;

	nb_probed = nb_bound = nb_inits = 0;
	if (is_there)
		return;
	is_there = true;
	assert_int_equal(family_try(&source), 0);
	VARIANT("on_crypto", "turbo", .on = HY_TARGET_CRYPTO,
		.needs = { { .key = "test_turbo", .at_least = 7 } }, .bind = on_bind,
		.impl.init = on_init, .score = 20);
	family_add("on_pair", HY_TARGET_PORT, 10);
	VARIANT("on_pair", "adapter", .on = HY_TARGET_EVENT_PORT,
		.needs = { { .cap = HY_CAP_EVENT_NO_SERVICE }, { .cap = HY_CAP_RX_QUEUES } },
		.score = 20);
}

static const struct hy_candidate *
candidate_on(const char *family, uint16_t port, enum hy_target_kind kind, uint16_t id)
{
	const struct hy_selection *s = hy_hal_selection(hal, family, port);

	assert_non_null(s);
	for (unsigned int i = 0; i < s->nb_candidates; i++)
		if (s->candidates[i].on.kind == kind && s->candidates[i].on.id == id)
			return &s->candidates[i];
	fail_msg("%s has no candidate on kind %d, %u", family, kind, id);
	return NULL;
}

static void
crypto_add(void)
{
	device_add("crypto_null0");
	device_add("crypto_null1");
	assert_int_equal(rte_cryptodev_get_dev_id("crypto_null1"), 1);
	assert_int_equal(hy_hal_probe(hal), 0);
}

static void
variant_for_a_device_is_a_candidate_once_for_each(void **state)
{
	const struct hy_selection *s;

	RTE_SET_USED(state);
	families_add();
	select_all();
	assert_string_equal(chosen("on_crypto", 0), "plain");
	assert_string_equal(candidate_on("on_crypto", 0, HY_TARGET_CRYPTO, HY_NO_DEVICE)->reason,
		"there is none of the crypto devices that it runs on");
	crypto_add();
	assert_int_equal(nb_probed, 2);
	select_all();
	s = hy_hal_selection(hal, "on_crypto", 0);
	assert_int_equal(s->nb_candidates, 3);
	assert_string_equal(s->chosen->impl.variant, "turbo");
	assert_int_equal(s->on.kind, HY_TARGET_CRYPTO);
	assert_int_equal(s->on.id, 1);
	assert_int_equal(nb_bound, 1);
	assert_true(hy_target_same(bound, s->on));
	assert_string_equal(candidate_on("on_crypto", 0, HY_TARGET_CRYPTO, 0)->reason,
		"needs test_turbo: no (as its manual says)");
	assert_non_null(strstr(printed(hy_hal_explain), "on crypto device 1: best score"));
	assert_true(json_valid(printed(hy_hal_explain_json)));
	assert_non_null(strstr(printed(hy_hal_explain_json), "\"on\": \"crypto device 1\""));
	assert_int_equal(hy_hal_force(hal, "on_crypto=turbo", error), 0);
	select_all();
	assert_int_equal(hy_hal_selection(hal, "on_crypto", 0)->on.id, 1);
	assert_int_equal(nb_bound, 1);
}

static void
variant_on_a_pair_is_for_the_port_in_it(void **state)
{
	uint16_t port, dsw;

	RTE_SET_USED(state);
	families_add();
	device_add("event_sw0");
	device_add("event_dsw0");
	port_add("net_null_a");
	port = port_add("net_null_b");
	dsw = (uint16_t)rte_event_dev_get_dev_id("event_dsw0");
	assert_int_equal(hy_hal_probe(hal), 0);
	select_all();
	for (uint16_t p = 0; p <= port; p++) {
		const struct hy_selection *s = hy_hal_selection(hal, "on_pair", p);

		assert_int_equal(s->nb_candidates, 3); /* plain, and a pair with each device */
		assert_string_equal(s->chosen->impl.variant, "adapter");
		assert_int_equal(s->on.kind, HY_TARGET_EVENT_PORT);
		assert_int_equal(s->on.id, dsw);
		assert_int_equal(s->on.peer, p);
	}
	assert_int_equal(hy_hal_capability_set(hal,
				 (struct hy_target){ .kind = HY_TARGET_EVENT, .id = dsw },
				 HY_CAP_EVENT_NO_SERVICE, HY_LEVEL_NO, HY_ORIGIN_OBSERVED, 0, "x"),
		0);
	select_all();
	assert_string_equal(chosen("on_pair", 0), "plain");
}

static void
node_that_moves_to_another_device_gets_a_new_context(void **state)
{
	static const char *const patterns[] = { "on_crypto" };
	const struct hy_target first = { .kind = HY_TARGET_CRYPTO, .id = 0 },
			       second = { .kind = HY_TARGET_CRYPTO, .id = 1 };
	const enum hy_cap turbo = hy_cap_find("test_turbo");
	struct hy_graph *graph;
	hy_node_id id;

	RTE_SET_USED(state);
	families_add();
	crypto_add();
	assert_int_equal(hy_hal_node_target("on_crypto", &init_on), -ENOENT);
	select_all();
	assert_int_equal(hy_hal_node(hal, "on_crypto", 0, &id), 0);
	assert_int_equal(hy_graph_create("on",
				 &(const struct hy_graph_params){ .patterns = patterns,
					 .nb_patterns = RTE_DIM(patterns),
					 .ops = &ops },
				 &graph),
		0);
	assert_int_equal(nb_inits, 1);
	assert_true(hy_target_same(init_on, second));
	assert_int_equal(hy_hal_capability_set(hal, first, turbo, HY_LEVEL_YES, HY_ORIGIN_PROBED, 9,
				 "found"),
		0);
	assert_int_equal(hy_hal_capability_set(hal, second, turbo, HY_LEVEL_NO, HY_ORIGIN_PROBED, 0,
				 "lost"),
		0);
	assert_int_equal(hy_hal_reselect(hal, &graph, 1, error), 0);
	assert_int_equal(nb_inits, 2);
	assert_true(hy_target_same(init_on, first));
	assert_true(hy_target_same(hy_hal_placement(hal, "on_crypto")->on, first));
	hy_graph_walk(graph);
	assert_true(hy_hal_settle(hal, &graph, 1));
	hy_graph_destroy(graph);
}

static void
capabilities_of_packs_are_like_others(void **state)
{
	static const struct hy_cap_desc bad[] = {
		{ .key = NULL, .kind = HY_TARGET_PORT },
		{ .key = "a b", .kind = HY_TARGET_PORT },
		{ .key = "fine", .kind = HY_TARGET_KINDS },
	};
	static const struct hy_cap_desc taken[] = {
		{ .key = "test_port", .kind = HY_TARGET_CRYPTO },
		{ .key = "rx_queues", .kind = HY_TARGET_CRYPTO },
	};
	const enum hy_cap cap = hy_cap_find("test_port");
	const struct hy_target port = { .kind = HY_TARGET_PORT, .id = port_add("net_null_a") };

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(bad); i++)
		assert_int_equal(hy_cap_register(&bad[i]), -EINVAL);
	for (size_t i = 0; i < RTE_DIM(taken); i++)
		assert_int_equal(hy_cap_register(&taken[i]), -EEXIST);
	assert_int_equal(hy_cap_find("nothing"), HY_CAP_NONE);
	assert_int_equal(hy_cap_find("rx_queues"), HY_CAP_RX_QUEUES);
	assert_true(cap >= HY_CAPS && hy_cap_concerns(HY_TARGET_PORT, cap));
	assert_false(hy_cap_concerns(HY_TARGET_PROCESS, cap));
	assert_string_equal(hy_cap_name(cap), "test_port");
	assert_int_equal(hy_hal_probe(hal), 0);
	assert_int_equal(hy_hal_capability(hal, port, cap)->level, HY_LEVEL_UNKNOWN);
	assert_int_equal(hy_hal_override(hal, "port0.test_port=yes:3", error), 0);
	assert_int_equal(hy_hal_capability(hal, port, cap)->value, 3);
	assert_int_equal(hy_hal_override(hal, "net_null.test_port=no", error), 0);
	assert_int_equal(hy_hal_capability(hal, port, cap)->level, HY_LEVEL_NO);
	assert_int_equal(hy_hal_override(hal, "process.test_port=yes", error), -EINVAL);
	assert_non_null(strstr(printed(hy_hal_inventory_print), "\n    test_port       no"));
	assert_non_null(strstr(printed(hy_hal_inventory_json),
		"\"test_port\": {\"level\": \"no\""));
}

static enum hy_level licence;

static void
licence_probe(struct hy_target target, struct hy_capability *cap)
{
	assert_int_equal(target.kind, HY_TARGET_PROCESS);
	assert_int_equal(cap->level, HY_LEVEL_UNKNOWN);
	cap->level = licence;
}

/* Packs may come, and what they ask for may change, while a HAL exists. */
static void
capability_of_the_process_is_probed_again(void **state)
{
	static const struct hy_cap_desc desc = {
		.key = "test_licence", .kind = HY_TARGET_PROCESS, .probe = licence_probe
	};
	const struct hy_target process = { .kind = HY_TARGET_PROCESS };
	const struct hy_capability *cap;
	struct hy_capability simd;

	RTE_SET_USED(state);
	simd = *hy_hal_capability(hal, process, HY_CAP_SIMD_BITS);
	licence = HY_LEVEL_YES;
	assert_int_equal(hy_cap_register(&desc), 0);
	assert_int_equal(hy_hal_probe(hal), 0);
	cap = hy_hal_capability(hal, process, hy_cap_find("test_licence"));
	assert_int_equal(cap->level, HY_LEVEL_YES);
	licence = HY_LEVEL_NO;
	assert_int_equal(hy_hal_probe(hal), 0);
	assert_int_equal(cap->level, HY_LEVEL_NO);
	assert_int_equal(hy_hal_override(hal, "process.test_licence=yes", error), 0);
	assert_int_equal(hy_hal_probe(hal), 0);
	assert_int_equal(cap->level, HY_LEVEL_YES);
	assert_memory_equal(hy_hal_capability(hal, process, HY_CAP_SIMD_BITS), &simd, sizeof(simd));
}

/* A device is the HAL's choice: what keeps one of a variant's candidates out is another of them. */
static void
change_to_another_device_of_the_chosen_variant(void **state)
{
	const enum hy_cap turbo = hy_cap_find("test_turbo");

	RTE_SET_USED(state);
	families_add();
	crypto_add();
	assert_int_equal(hy_hal_capability_set(hal,
				 (struct hy_target){ .kind = HY_TARGET_CRYPTO, .id = 0 }, turbo,
				 HY_LEVEL_YES, HY_ORIGIN_PROBED, 9, "found"),
		0);
	for (unsigned int forced = 0; forced < 2; forced++) {
		select_all();
		assert_int_equal(hy_hal_selection(hal, "on_crypto", 0)->on.id, 0);
		assert_string_equal(candidate_on("on_crypto", 0, HY_TARGET_CRYPTO, 1)->change,
			"its variant must not fit crypto device 0, where it scores 20");
		assert_int_equal(hy_hal_force(hal, "on_crypto=turbo", error), 0);
	}
}

/* Polls until there is nothing left to do. */
static void
poll_out(void)
{
	int rc = 1;

	for (unsigned int i = 0; i < 10 && rc > 0; i++)
		rc = hy_hal_poll(hal, NULL, 0, NULL, error);
	if (rc != 0)
		fail_msg("%d: %s", rc, error);
}

/* Also one that the user forces: workers would stay on a device that is gone. */
static void
port_that_a_forced_variant_runs_on_can_leave(void **state)
{
	const uint16_t port = port_add("net_null_a");
	hy_node_id id;

	RTE_SET_USED(state);
	nb_bound = 0;
	family_add("on_port", HY_TARGET_PROCESS, 10);
	VARIANT("on_port", "nic", .on = HY_TARGET_PORT, .bind = on_bind, .score = 20);
	assert_int_equal(hy_hal_force(hal, "on_port=nic", error), 0);
	assert_int_equal(hy_hal_probe(hal), 0);
	select_all();
	assert_string_equal(chosen("on_port", 0), "nic");
	assert_int_equal(hy_hal_node(hal, "on_port", 0, &id), 0);
	assert_int_equal(hy_hal_port_stop(hal, port), 0);
	poll_out();
	assert_int_equal(hy_hal_port_state(hal, port), HY_PORT_DOWN);
	assert_string_equal(chosen("on_port", 0), "plain");
	assert_int_equal(hy_hal_port_start(hal, port), 0);
	poll_out();
	assert_string_equal(chosen("on_port", 0), "nic");
	assert_int_equal(nb_bound, 2);
	/* Nobody watches: found out by the next look. */
	port_remove("net_null_a");
	assert_int_equal(hy_hal_probe(hal), 0);
	poll_out();
	assert_int_equal(hy_hal_port_state(hal, port), HY_PORT_GONE);
	assert_string_equal(chosen("on_port", 0), "plain");
}

/* What stands in for a port is no rival of what runs on it, and the others are again. */
static void
change_of_what_waits_for_its_port_has_the_rivals_of_then(void **state)
{
	const uint16_t port = port_add("net_null_a");

	RTE_SET_USED(state);
	family_add("on_down", HY_TARGET_PORT, 10);
	VARIANT("on_down", "fast", .score = 20, .needs = { { .cap = HY_CAP_RUNNING } });
	VARIANT("on_down", "lacks", .score = 90, .needs = { { .declared = "on_more" } });
	VARIANT("on_down", "parked", .score = 50, .parked = true, .impl.process = hal_process);
	assert_int_equal(hy_hal_probe(hal), 0);
	select_all();
	assert_string_equal(chosen("on_down", port), "fast");
	assert_int_equal(hy_hal_port_stop(hal, port), 0);
	poll_out();
	assert_string_equal(chosen("on_down", port), "parked");
	assert_string_equal(candidate("on_down", port, "fast")->change, "the port must run");
	assert_string_equal(candidate("on_down", port, "plain")->change,
		"the port must run\n"
		"the user must force it; fast scores 20, and it at most 10");
	assert_string_equal(candidate("on_down", port, "lacks")->change,
		"the port must run\n"
		"on_more must be yes; it is no (the program has not declared it)");
}

static void
capability_that_comes_while_a_port_is_down_is_unknown(void **state)
{
	static const struct hy_cap_desc desc = { .key = "test_late", .kind = HY_TARGET_PORT };
	const struct hy_target port = { .kind = HY_TARGET_PORT, .id = port_add("net_null_a") };

	RTE_SET_USED(state);
	assert_int_equal(hy_hal_probe(hal), 0);
	select_all();
	assert_int_equal(hy_hal_port_stop(hal, port.id), 0);
	poll_out();
	assert_int_equal(hy_hal_port_state(hal, port.id), HY_PORT_DOWN);
	assert_int_equal(hy_cap_register(&desc), 0);
	assert_int_equal(hy_hal_probe(hal), 0);
	assert_int_equal(hy_hal_capability(hal, port, hy_cap_find("test_late"))->level,
		HY_LEVEL_UNKNOWN);
}

static void
as_many_needs_as_there_is_room_for_are_asked(void **state)
{
	struct hy_variant variant = { .family = "on_needs",
		.impl = { .variant = "picky", .process = hal_process },
		.score = 20 };

	RTE_SET_USED(state);
	family_add("on_needs", HY_TARGET_PROCESS, 10);
	for (unsigned int i = 0; i < HY_NEEDS_MAX; i++)
		variant.needs[i] = (struct hy_need){ .cap = HY_CAP_SIMD_BITS };
	variant.needs[0].declared = "both";
	assert_int_equal(variant_try(&variant), -EINVAL);
	variant.needs[0].declared = NULL;
	variant.needs[HY_NEEDS_MAX - 1] = (struct hy_need){ .key = "nobody_has_this" };
	assert_int_equal(variant_try(&variant), 0);
	select_all();
	assert_fate("on_needs", 0, "picky", HY_FATE_NEEDS_UNMET, 20,
		"needs nobody_has_this: no (no pack has registered it)");
}

static const struct CMUnitTest hal_on_tests[] = {
	HAL_TEST(variant_for_a_device_is_a_candidate_once_for_each),
	HAL_TEST(variant_on_a_pair_is_for_the_port_in_it),
	HAL_TEST(node_that_moves_to_another_device_gets_a_new_context),
	HAL_TEST(capabilities_of_packs_are_like_others),
	HAL_TEST(capability_of_the_process_is_probed_again),
	HAL_TEST(change_to_another_device_of_the_chosen_variant),
	HAL_TEST(port_that_a_forced_variant_runs_on_can_leave),
	HAL_TEST(change_of_what_waits_for_its_port_has_the_rivals_of_then),
	HAL_TEST(capability_that_comes_while_a_port_is_down_is_unknown),
	HAL_TEST(as_many_needs_as_there_is_room_for_are_asked),
};

UNIT_SUITE(hal_on_tests)
