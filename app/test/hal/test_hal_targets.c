/* SPDX-License-Identifier: BSD-3-Clause */
/* Selection for devices that are no ports, and for pairs of devices. */

#include <errno.h>
#include <string.h>

#include <rte_eventdev.h>

#include "hal/internal/hal.h"
#include "hal_fixture.h"

static uint16_t sw, dsw; /* event devices: only sw keeps order, only dsw needs no service core */

static struct hy_target
event(uint16_t id)
{
	return (struct hy_target){ .kind = HY_TARGET_EVENT, .id = id };
}

static struct hy_target
pair(uint16_t id, uint16_t port)
{
	return (struct hy_target){ .kind = HY_TARGET_EVENT_PORT, .id = id, .peer = port };
}

static void
devices_add(void)
{
	device_add("event_sw0");
	device_add("event_dsw0");
	device_add("crypto_null0");
	sw = (uint16_t)rte_event_dev_get_dev_id("event_sw0");
	dsw = (uint16_t)rte_event_dev_get_dev_id("event_dsw0");
	assert_int_not_equal(sw, dsw);
}

/* Registers what a test wants, once: families stay. */
static void
families_add(void)
{
	static bool added;

	if (added)
		return;
	added = true;
	family_add("tgt_event", HY_TARGET_EVENT, 10);
	VARIANT("tgt_event", "ordered", .needs = { { .cap = HY_CAP_EVENT_ORDERED } }, .score = 20);
	family_add("tgt_pair", HY_TARGET_EVENT_PORT, 10);
	VARIANT("tgt_pair", "alone", .needs = { { .cap = HY_CAP_EVENT_NO_SERVICE } }, .score = 20);
	family_add("tgt_crypto", HY_TARGET_CRYPTO, 10);
	family_add("tgt_regex", HY_TARGET_REGEX, 10);
}

static const char *
chosen_for(const char *family, struct hy_target target)
{
	const struct hy_selection *s = hy_hal_selection_for(hal, family, target);

	assert_non_null(s);
	assert_int_equal(hy_target_index(s->target), hy_target_index(target));
	return s->chosen->impl.variant;
}

static unsigned int
selections_of(const char *family)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < hal->selected.n; i++)
		n += strcmp(hal->selected.selections[i].family->node.name, family) == 0;
	return n;
}

static void
each_device_and_each_pair_has_its_variant(void **state)
{
	RTE_SET_USED(state);
	families_add();
	devices_add();
	port_add("net_null_a");
	port_add("net_null_b");
	assert_int_equal(hy_hal_probe(hal), 0);
	select_all();
	assert_int_equal(selections_of("tgt_event"), 2);
	assert_int_equal(selections_of("tgt_pair"), 4);
	assert_int_equal(selections_of("tgt_crypto"), 1);
	assert_int_equal(selections_of("tgt_regex"), 0);
	assert_string_equal(chosen_for("tgt_event", event(sw)), "ordered");
	assert_string_equal(chosen_for("tgt_event", event(dsw)), "plain");
	for (uint16_t port = 0; port < 2; port++) {
		assert_string_equal(chosen_for("tgt_pair", pair(sw, port)), "plain");
		assert_string_equal(chosen_for("tgt_pair", pair(dsw, port)), "alone");
	}
	/* Asked for as ports, they are not there; nor are others. */
	assert_null(hy_hal_selection(hal, "tgt_event", 0));
	assert_null(hy_hal_selection(hal, "tgt_pair", 0));
	assert_null(hy_hal_selection_for(hal, "tgt_pair", pair(sw, 2)));
	assert_null(hy_hal_selection_for(hal, "tgt_event", pair(sw, 0)));
}

static void
targets_that_choose_alike_share_a_node(void **state)
{
	char text[HY_NAME_SIZE];
	hy_node_id id, other;

	RTE_SET_USED(state);
	families_add();
	devices_add();
	port_add("net_null_a");
	port_add("net_null_b");
	assert_int_equal(hy_hal_probe(hal), 0);
	select_all();
	assert_int_equal(hy_hal_node_for(hal, "tgt_pair", pair(dsw, 0), &id), 0);
	assert_int_equal(hy_hal_node_for(hal, "tgt_pair", pair(dsw, 1), &other), 0);
	assert_int_equal(id, other);
	snprintf(text, sizeof(text), "event device %u with port 0,1", dsw);
	assert_string_equal(hy_hal_placement(hal, "tgt_pair")->target, text);
	assert_true(hy_place_has_port(hal, 0));
	assert_true(hy_place_has_port(hal, 1));
	assert_false(hy_place_has_port(hal, 2));
	assert_int_equal(hy_hal_node_for(hal, "tgt_pair", pair(sw, 1), &other), 0);
	assert_int_not_equal(id, other);
	snprintf(text, sizeof(text), "event device %u with port 1", sw);
	assert_string_equal(hy_hal_placement(hal, "tgt_pair-plain")->target, text);
	assert_int_equal(hy_hal_node_clone_for(hal, "tgt_event", event(sw), "x", &id), 0);
	snprintf(text, sizeof(text), "event device %u", sw);
	assert_string_equal(hy_hal_placement(hal, "tgt_event-x")->target, text);
	assert_string_equal(hy_hal_placement(hal, "tgt_event-x")->variant, "ordered");
	assert_int_equal(hy_hal_node_for(hal, "tgt_event", pair(sw, 0), &id), -ENOENT);
	assert_int_equal(hy_hal_node(hal, "tgt_event", 0, &id), -ENOENT);
}

static void
variant_is_forced_for_a_device_or_a_pair(void **state)
{
	char spec[64];

	RTE_SET_USED(state);
	families_add();
	devices_add();
	port_add("net_null_a");
	assert_int_equal(hy_hal_probe(hal), 0);
	snprintf(spec, sizeof(spec), "tgt_event@event%u=plain", sw);
	assert_int_equal(hy_hal_force(hal, spec, error), 0);
	snprintf(spec, sizeof(spec), "tgt_pair@event%u:port0=alone", dsw);
	assert_int_equal(hy_hal_deny(hal, spec, error), 0);
	select_all();
	assert_string_equal(chosen_for("tgt_event", event(sw)), "plain");
	assert_true(hy_hal_selection_for(hal, "tgt_event", event(sw))->forced);
	assert_false(hy_hal_selection_for(hal, "tgt_event", event(dsw))->forced);
	assert_string_equal(chosen_for("tgt_pair", pair(dsw, 0)), "plain");
}

static void
what_is_no_such_target_is_refused(void **state)
{
	static const char *const specs[] = { "tgt_event@0=ordered", "tgt_event@port0=ordered",
		"tgt_event@event9=ordered", "tgt_event@event0:port0=ordered",
		"tgt_crypto@event0=plain", "tgt_regex@regex0=plain" };

	RTE_SET_USED(state);
	families_add();
	devices_add();
	port_add("net_null_a");
	assert_int_equal(hy_hal_probe(hal), 0);
	for (unsigned int i = 0; i < RTE_DIM(specs); i++)
		assert_int_equal(hy_hal_force(hal, specs[i], error), -EINVAL);
	assert_string_equal(error,
		"'tgt_regex@regex0=plain': 'regex0' is not one of the regex devices; "
		"accepted: event0, crypto0, regex0, event0:port0, event0:crypto0 and the like");
	assert_int_equal(hal->nb_rules, 0);
}

/* A pair asks its own port, and no other. */
static void
pair_is_constrained_by_its_port(void **state)
{
	static bool added;

	RTE_SET_USED(state);
	if (!added) {
		family_add("tgt_tx", HY_TARGET_PORT, 10);
		VARIANT("tgt_tx", "adapter", .score = 5);
		family_add("tgt_rx", HY_TARGET_EVENT_PORT, 10);
		VARIANT("tgt_rx", "adapter", .score = 20,
			.with = { { .family = "tgt_tx", .variant = "adapter" } });
	}
	added = true;
	devices_add();
	port_add("net_null_a");
	port_add("net_null_b");
	assert_int_equal(hy_hal_probe(hal), 0);
	assert_int_equal(hy_hal_force(hal, "tgt_tx@1=adapter", error), 0);
	select_all();
	assert_string_equal(chosen_for("tgt_rx", pair(sw, 0)), "plain");
	assert_string_equal(chosen_for("tgt_rx", pair(sw, 1)), "adapter");
	assert_string_equal(chosen_for("tgt_rx", pair(dsw, 1)), "adapter");
}

static const struct CMUnitTest hal_target_tests[] = {
	HAL_TEST(each_device_and_each_pair_has_its_variant),
	HAL_TEST(targets_that_choose_alike_share_a_node),
	HAL_TEST(variant_is_forced_for_a_device_or_a_pair),
	HAL_TEST(what_is_no_such_target_is_refused),
	HAL_TEST(pair_is_constrained_by_its_port),
};

UNIT_SUITE(hal_target_tests)
