/* SPDX-License-Identifier: BSD-3-Clause */
/* The inventory of devices that are no ports, and of pairs: on those that run without hardware. */

#define ALLOW_INTERNAL_API /* for a regex device of the test's own: no driver runs without hardware */

#include <errno.h>
#include <string.h>

#include <rte_cryptodev.h>
#include <rte_eventdev.h>
#include <rte_regexdev.h>
#include <rte_regexdev_driver.h>

#include "hal/internal/hal.h"
#include "hal_fixture.h"

static const struct hy_capability *
cap_of(enum hy_target_kind kind, uint16_t id, uint16_t peer, enum hy_cap cap)
{
	return hy_hal_capability(hal, (struct hy_target){ kind, id, peer }, cap);
}

static void
assert_cap(const struct hy_capability *cap, enum hy_level level, uint64_t value, const char *reason)
{
	assert_int_equal(cap->level, level);
	assert_int_equal(cap->value, value);
	assert_string_equal(cap->reason, reason);
}

static uint16_t
event_id(const char *name)
{
	const int id = rte_event_dev_get_dev_id(name);

	assert_true(id >= 0);
	return (uint16_t)id;
}

static uint16_t
crypto_id(const char *name)
{
	const int id = rte_cryptodev_get_dev_id(name);

	assert_true(id >= 0);
	return (uint16_t)id;
}

static void
probe(void)
{
	assert_int_equal(hy_hal_probe(hal), 0);
}

static void
event_devices_say_what_they_schedule(void **state)
{
	uint16_t sw, dsw;

	RTE_SET_USED(state);
	device_add("event_sw0");
	device_add("event_dsw0");
	probe();
	sw = event_id("event_sw0");
	dsw = event_id("event_dsw0");
	assert_int_equal(hal->list.n, 2);
	assert_cap(cap_of(HY_TARGET_EVENT, sw, 0, HY_CAP_EVENT_PORTS), HY_LEVEL_YES, 64,
		"the driver's limit");
	assert_cap(cap_of(HY_TARGET_EVENT, dsw, 0, HY_CAP_EVENT_QUEUES), HY_LEVEL_YES, 16,
		"the driver's limit");
	assert_cap(cap_of(HY_TARGET_EVENT, sw, 0, HY_CAP_EVENT_FLOW_ID), HY_LEVEL_YES, 0,
		"the driver reports CARRY_FLOW_ID");
	assert_cap(cap_of(HY_TARGET_EVENT, sw, 0, HY_CAP_EVENT_NO_SERVICE), HY_LEVEL_NO, 0,
		"the driver does not report DISTRIBUTED_SCHED");
	assert_cap(cap_of(HY_TARGET_EVENT, dsw, 0, HY_CAP_EVENT_NO_SERVICE), HY_LEVEL_YES, 0,
		"the driver reports DISTRIBUTED_SCHED");
	assert_int_equal(cap_of(HY_TARGET_EVENT, sw, 0, HY_CAP_EVENT_ORDERED)->level, HY_LEVEL_YES);
	assert_int_equal(cap_of(HY_TARGET_EVENT, dsw, 0, HY_CAP_EVENT_ORDERED)->level, HY_LEVEL_NO);
	assert_int_equal(cap_of(HY_TARGET_EVENT, dsw, 0, HY_CAP_EVENT_ATOMIC)->level, HY_LEVEL_YES);
	assert_int_equal(cap_of(HY_TARGET_EVENT, sw, 0, HY_CAP_EVENT_RECONFIGURE)->level,
		HY_LEVEL_YES);
	assert_cap(cap_of(HY_TARGET_EVENT, dsw, 0, HY_CAP_EVENT_RECONFIGURE), HY_LEVEL_NO, 0,
		"quirk of event_dsw: set up again, its ports fail: dsw_port_setup(), dsw_evdev.c, 22.11");
}

/* What the inventory says of a schedule type is what a queue of that type comes to. */
static void
schedule_types_are_those_that_queues_take(void **state)
{
	static const struct {
		enum hy_cap cap;
		uint8_t type;
	} types[] = { { HY_CAP_EVENT_ATOMIC, RTE_SCHED_TYPE_ATOMIC },
		{ HY_CAP_EVENT_ORDERED, RTE_SCHED_TYPE_ORDERED },
		{ HY_CAP_EVENT_PARALLEL, RTE_SCHED_TYPE_PARALLEL } };
	static const char *const names[] = { "event_sw0", "event_dsw0" };

	RTE_SET_USED(state);
	for (size_t d = 0; d < RTE_DIM(names); d++) {
		struct rte_event_dev_info info;
		struct rte_event_dev_config config = { .nb_event_queues = RTE_DIM(types),
			.nb_event_ports = 1,
			.nb_events_limit = 1024,
			.nb_event_queue_flows = 1024,
			.nb_event_port_dequeue_depth = 8,
			.nb_event_port_enqueue_depth = 8 };
		uint8_t id;

		device_add(names[d]);
		probe();
		id = (uint8_t)event_id(names[d]);
		assert_int_equal(rte_event_dev_info_get(id, &info), 0);
		config.nb_events_limit = info.max_num_events;
		assert_int_equal(rte_event_dev_configure(id, &config), 0);
		for (size_t t = 0; t < RTE_DIM(types); t++) {
			struct rte_event_queue_conf queue;
			int rc;

			assert_int_equal(rte_event_queue_default_conf_get(id, (uint8_t)t, &queue),
				0);
			queue.schedule_type = types[t].type;
			queue.nb_atomic_flows = config.nb_event_queue_flows;
			queue.nb_atomic_order_sequences = config.nb_event_queue_flows;
			rc = rte_event_queue_setup(id, (uint8_t)t, &queue);
			assert_int_equal(cap_of(HY_TARGET_EVENT, id, 0, types[t].cap)->level,
				rc == 0 ? HY_LEVEL_YES : HY_LEVEL_NO);
		}
	}
}

static void
crypto_devices_list_what_ipsec_asks_for(void **state)
{
	uint16_t openssl, null, mb;

	RTE_SET_USED(state);
	device_add("crypto_openssl0");
	device_add("crypto_null0");
	probe();
	openssl = crypto_id("crypto_openssl0");
	null = crypto_id("crypto_null0");
	assert_cap(cap_of(HY_TARGET_CRYPTO, openssl, 0, HY_CAP_CRYPTO_AES_GCM), HY_LEVEL_YES, 256,
		"the driver lists it");
	assert_cap(cap_of(HY_TARGET_CRYPTO, openssl, 0, HY_CAP_CRYPTO_SHA1_HMAC), HY_LEVEL_YES, 160,
		"the driver lists it");
	assert_cap(cap_of(HY_TARGET_CRYPTO, openssl, 0, HY_CAP_CRYPTO_SHA256_HMAC), HY_LEVEL_YES,
		256, "the driver lists it");
	assert_cap(cap_of(HY_TARGET_CRYPTO, openssl, 0, HY_CAP_CRYPTO_ASYM), HY_LEVEL_YES, 0,
		"the driver reports ASYMMETRIC_CRYPTO");
	assert_cap(cap_of(HY_TARGET_CRYPTO, openssl, 0, HY_CAP_CRYPTO_IPSEC), HY_LEVEL_NO, 0,
		"the driver has no rte_security context");
	assert_cap(cap_of(HY_TARGET_CRYPTO, null, 0, HY_CAP_CRYPTO_AES_GCM), HY_LEVEL_NO, 0,
		"the driver does not list it");
	assert_cap(cap_of(HY_TARGET_CRYPTO, null, 0, HY_CAP_CRYPTO_ASYM), HY_LEVEL_NO, 0,
		"the driver does not report ASYMMETRIC_CRYPTO");
	if (device_try("crypto_aesni_mb0", "") < 0)
		return;
	probe();
	mb = crypto_id("crypto_aesni_mb0");
	assert_int_equal(hal->list.n, 3);
	assert_cap(cap_of(HY_TARGET_CRYPTO, mb, 0, HY_CAP_CRYPTO_CHACHA20), HY_LEVEL_YES, 256,
		"the driver lists it");
	assert_cap(cap_of(HY_TARGET_CRYPTO, mb, 0, HY_CAP_CRYPTO_IPSEC), HY_LEVEL_NO, 0,
		"the driver has rte_security for other protocols");
}

static void
pairs_are_of_each_event_device_with_each_other(void **state)
{
	static const enum hy_target_kind kinds[] = { HY_TARGET_EVENT, HY_TARGET_CRYPTO,
		HY_TARGET_EVENT_PORT, HY_TARGET_EVENT_PORT, HY_TARGET_EVENT_CRYPTO };
	const uint16_t first = port_add("net_null_0"), second = port_add("net_null_1");
	uint16_t event, crypto;

	RTE_SET_USED(state);
	device_add("event_dsw0");
	device_add("crypto_null0");
	probe();
	event = event_id("event_dsw0");
	crypto = crypto_id("crypto_null0");
	assert_int_equal(hal->list.n, RTE_DIM(kinds));
	for (size_t i = 0; i < RTE_DIM(kinds); i++)
		assert_int_equal(hal->list.devices[i].target.kind, kinds[i]);
	assert_int_equal(hal->list.devices[2].target.peer, first);
	assert_int_equal(hal->list.devices[3].target.peer, second);
	assert_cap(cap_of(HY_TARGET_EVENT_PORT, event, second, HY_CAP_EVENT_RX_INTERNAL),
		HY_LEVEL_NO, 0, "the driver does not report INTERNAL_PORT");
	assert_cap(cap_of(HY_TARGET_EVENT_PORT, event, second, HY_CAP_EVENT_RX_FLOW_ID),
		HY_LEVEL_YES, 0, "the driver reports OVERRIDE_FLOW_ID");
	assert_cap(cap_of(HY_TARGET_EVENT_PORT, event, first, HY_CAP_EVENT_TX_VECTOR), HY_LEVEL_YES,
		0, "the driver reports EVENT_VECTOR");
	assert_int_equal(cap_of(HY_TARGET_EVENT_PORT, event, first, HY_CAP_EVENT_RX_VECTOR)->level,
		HY_LEVEL_NO);
	assert_cap(cap_of(HY_TARGET_EVENT_CRYPTO, event, crypto, HY_CAP_EVENT_CRYPTO_FWD),
		HY_LEVEL_NO, 0, "the driver does not report INTERNAL_PORT_OP_FWD");
	/* A port that is left out leaves its pair. */
	assert_int_equal(hy_hal_port_ignore(hal, first), 0);
	assert_int_equal(hal->list.n, RTE_DIM(kinds) - 1);
	assert_cap(cap_of(HY_TARGET_EVENT_PORT, event, first, HY_CAP_EVENT_RX_FLOW_ID), HY_LEVEL_NO,
		0, "no such pair of devices");
}

static void
a_pair_has_what_its_devices_and_the_process_have(void **state)
{
	const uint16_t port = port_add("net_null_0");
	uint16_t event, crypto;

	RTE_SET_USED(state);
	device_add("event_sw0");
	device_add("crypto_openssl0");
	probe();
	event = event_id("event_sw0");
	crypto = crypto_id("crypto_openssl0");
	assert_ptr_equal(cap_of(HY_TARGET_EVENT_PORT, event, port, HY_CAP_EVENT_PORTS),
		cap_of(HY_TARGET_EVENT, event, 0, HY_CAP_EVENT_PORTS));
	assert_ptr_equal(cap_of(HY_TARGET_EVENT_PORT, event, port, HY_CAP_RX_QUEUES),
		cap_of(HY_TARGET_PORT, port, 0, HY_CAP_RX_QUEUES));
	assert_ptr_equal(cap_of(HY_TARGET_EVENT_CRYPTO, event, crypto, HY_CAP_CRYPTO_AES_GCM),
		cap_of(HY_TARGET_CRYPTO, crypto, 0, HY_CAP_CRYPTO_AES_GCM));
	assert_ptr_equal(cap_of(HY_TARGET_EVENT_CRYPTO, event, crypto, HY_CAP_SIMD_BITS),
		cap_of(HY_TARGET_PROCESS, 0, 0, HY_CAP_SIMD_BITS));
	assert_cap(cap_of(HY_TARGET_EVENT_CRYPTO, event, crypto, HY_CAP_RX_QUEUES), HY_LEVEL_NO, 0,
		"a capability of ports, not of event devices with crypto devices");
	assert_cap(cap_of(HY_TARGET_EVENT, event, 0, HY_CAP_CRYPTO_SYM), HY_LEVEL_NO, 0,
		"a capability of crypto devices, not of event devices");
	assert_cap(cap_of(HY_TARGET_REGEX, 0, 0, HY_CAP_REGEX_QPS), HY_LEVEL_NO, 0,
		"no such regex device");
}

static void
devices_that_vanish_are_forgotten_and_come_back(void **state)
{
	RTE_SET_USED(state);
	for (int round = 0; round < 3; round++) {
		port_add("net_null_0");
		device_add("event_dsw0");
		device_add("crypto_null0");
		probe();
		assert_int_equal(hal->list.n, 4);
		ports_remove();
		probe();
		assert_int_equal(hal->list.n, 0);
		assert_false(hal->ports[0].present);
	}
}

static int
regex_info_get(struct rte_regexdev *dev, struct rte_regexdev_info *info)
{
	info->driver_name = dev->data->dev_private;
	info->max_queue_pairs = 64;
	info->max_payload_size = 16384;
	info->max_matches = 254;
	info->max_groups = 1;
	return 0;
}

static void
regex_devices_are_found_by_id_and_one_without_a_name_is_mlx5(void **state)
{
	static const struct rte_regexdev_ops ops = { .dev_info_get = regex_info_get };
	static char cn9k[] = "regex_cn9k";
	struct rte_regexdev *devs[] = { rte_regexdev_register("regex_test0"),
		rte_regexdev_register("regex_test1") };

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(devs); i++) {
		assert_non_null(devs[i]);
		devs[i]->dev_ops = &ops;
		devs[i]->data->dev_private = i == 0 ? cn9k : NULL;
		devs[i]->state = RTE_REGEXDEV_READY;
	}
	probe();
	assert_int_equal(hal->list.n, 2);
	assert_string_equal(hal->list.devices[0].driver, "regex_cn9k");
	assert_string_equal(hal->list.devices[1].driver, "regex_mlx5");
	assert_cap(cap_of(HY_TARGET_REGEX, 1, 0, HY_CAP_REGEX_PAYLOAD), HY_LEVEL_YES, 16384,
		"the driver's limit");
	assert_cap(cap_of(HY_TARGET_REGEX, 0, 0, HY_CAP_REGEX_MATCHES), HY_LEVEL_YES, 254,
		"the driver's limit");
	assert_cap(cap_of(HY_TARGET_REGEX, 0, 0, HY_CAP_REGEX_RULES), HY_LEVEL_NO, 0,
		"the driver's limit");
	devs[0]->state = RTE_REGEXDEV_REGISTERED; /* as while it is set up */
	probe();
	assert_int_equal(hal->list.n, 1);
	assert_int_equal(hal->list.devices[0].target.id, 1);
	for (size_t i = 0; i < RTE_DIM(devs); i++)
		rte_regexdev_unregister(devs[i]);
	probe();
	assert_int_equal(hal->list.n, 0);
}

static void
what_is_set_outlives_a_probe_but_not_the_device(void **state)
{
	const struct hy_target port = { .kind = HY_TARGET_PORT, .id = port_add("net_null_0") };
	struct hy_target event = { .kind = HY_TARGET_EVENT };

	RTE_SET_USED(state);
	device_add("event_dsw0");
	probe();
	event.id = event_id("event_dsw0");
	assert_int_equal(hy_hal_capability_set(hal, port, HY_CAP_FLOW_MARK, HY_LEVEL_YES,
				 HY_ORIGIN_PROBED, 0xfffd, "bisected"),
		0);
	assert_int_equal(hy_hal_capability_set(hal, event, HY_CAP_EVENT_ALL_TYPES, HY_LEVEL_YES,
				 HY_ORIGIN_OBSERVED, 0, "seen"),
		0);
	for (int i = 0; i < 2; i++) {
		assert_cap(hy_hal_capability(hal, port, HY_CAP_FLOW_MARK), HY_LEVEL_YES, 0xfffd,
			"bisected");
		assert_int_equal(hy_hal_capability(hal, port, HY_CAP_FLOW_MARK)->origin,
			HY_ORIGIN_PROBED);
		assert_cap(hy_hal_capability(hal, event, HY_CAP_EVENT_ALL_TYPES), HY_LEVEL_YES, 0,
			"seen");
		assert_int_equal(hy_hal_capability(hal, event, HY_CAP_EVENT_ALL_TYPES)->origin,
			HY_ORIGIN_OBSERVED);
		probe();
	}
	ports_remove();
	port_add("net_null_0");
	probe(); /* it was gone unseen: the same name is the same device */
	assert_int_equal(hy_hal_capability(hal, port, HY_CAP_FLOW_MARK)->level, HY_LEVEL_YES);
	ports_remove();
	port_add("net_null_1");
	probe();
	assert_cap(hy_hal_capability(hal, port, HY_CAP_FLOW_MARK), HY_LEVEL_UNKNOWN, 0,
		"not tried: it needs a port that is started");
}

static void
what_is_no_capability_of_a_target_cannot_be_set(void **state)
{
	const struct hy_target process = { .kind = HY_TARGET_PROCESS };
	const struct hy_target port = { .kind = HY_TARGET_PORT, .id = 0 };

	RTE_SET_USED(state);
	assert_int_equal(hy_hal_capability_set(hal, process, HY_CAP_RX_QUEUES, HY_LEVEL_YES,
				 HY_ORIGIN_PROBED, 1, ""),
		-EINVAL);
	assert_int_equal(hy_hal_capability_set(hal, process, HY_CAP_NONE, HY_LEVEL_YES,
				 HY_ORIGIN_PROBED, 1, ""),
		-EINVAL);
	assert_int_equal(hy_hal_capability_set(hal, port, HY_CAPS, HY_LEVEL_YES, HY_ORIGIN_PROBED,
				 1, ""),
		-EINVAL);
	assert_int_equal(hy_hal_capability_set(hal, port, HY_CAP_RX_QUEUES, HY_LEVEL_YES,
				 HY_ORIGIN_PROBED, 1, ""),
		-ENODEV);
}

static void
capabilities_have_one_kind_and_a_name_of_their_own(void **state)
{
	RTE_SET_USED(state);
	for (int c = HY_CAP_NONE + 1; c < HY_CAPS; c++) {
		unsigned int kinds = 0;

		for (int k = 0; k < HY_TARGET_KINDS; k++)
			kinds += hy_cap_concerns(k, c);
		assert_int_equal(kinds, 1);
		assert_true(strlen(hy_cap_name(c)) <= 15);
		for (int d = HY_CAP_NONE; d < c; d++)
			assert_string_not_equal(hy_cap_name(c), hy_cap_name(d));
	}
}

static void
json_has_devices_and_pairs(void **state)
{
	const char *json;

	RTE_SET_USED(state);
	port_add("net_null_0");
	device_add("event_dsw0");
	device_add("crypto_null0");
	probe();
	json = printed(hy_hal_inventory_json);
	assert_true(json_valid(json));
	assert_non_null(strstr(json,
		"{\"kind\": \"event\", \"id\": 0, \"name\": \"event_dsw0\", "
		"\"driver\": \"event_dsw\", \"capabilities\": {\n      \"queues\": {\"level\": "
		"\"yes\", \"origin\": \"declared\", \"value\": 16, "));
	assert_non_null(strstr(json, "{\"kind\": \"crypto\", \"id\": 0, "));
	assert_non_null(strstr(json, "{\"kind\": \"event:port\", \"id\": 0, \"peer\": 0, "));
	assert_non_null(strstr(json, "{\"kind\": \"event:crypto\", \"id\": 0, \"peer\": 0, "));
	assert_non_null(strstr(printed(hy_hal_inventory_print),
		"event device 0 with crypto device 0: event_dsw0, driver event_dsw\n"
		"    crypto_new      no                declared: the driver does not report "
		"INTERNAL_PORT_OP_NEW\n"));
}

static void
every_allocation_of_a_probe_can_fail_and_devices_stand(void **state)
{
	unsigned int failed = 0;
	int rc;

	RTE_SET_USED(state);
	port_add("net_null_0");
	device_add("event_dsw0");
	device_add("crypto_null0");
	do {
		assert_int_equal(hal->list.n, 0);
		unit_alloc_fail(failed + 1);
		rc = hy_hal_probe(hal);
		unit_alloc_fail(0);
	} while (rc == -ENOMEM && ++failed < 100);
	assert_int_equal(rc, 0);
	assert_int_equal(hal->list.n, 4);
	assert_int_equal(failed, 4);
}

static const struct CMUnitTest hal_devices_tests[] = {
	HAL_TEST(event_devices_say_what_they_schedule),
	HAL_TEST(schedule_types_are_those_that_queues_take),
	HAL_TEST(crypto_devices_list_what_ipsec_asks_for),
	HAL_TEST(pairs_are_of_each_event_device_with_each_other),
	HAL_TEST(a_pair_has_what_its_devices_and_the_process_have),
	HAL_TEST(devices_that_vanish_are_forgotten_and_come_back),
	HAL_TEST(regex_devices_are_found_by_id_and_one_without_a_name_is_mlx5),
	HAL_TEST(what_is_set_outlives_a_probe_but_not_the_device),
	HAL_TEST(what_is_no_capability_of_a_target_cannot_be_set),
	HAL_TEST(capabilities_have_one_kind_and_a_name_of_their_own),
	HAL_TEST(json_has_devices_and_pairs),
	HAL_TEST(every_allocation_of_a_probe_can_fail_and_devices_stand),
};

UNIT_SUITE(hal_devices_tests)
