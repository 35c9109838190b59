/* SPDX-License-Identifier: BSD-3-Clause */
/* Quirks: each concerns the drivers and releases that it is for, and no others. */

#include <string.h>

#include <rte_version.h>

#include "hal/inventory/quirk.h"
#include "hal_fixture.h"

#define DPDK(year, month) RTE_VERSION_NUM(year, month, 0, 0)
#define UPDATE(year, month, minor) RTE_VERSION_NUM(year, month, minor, 99)
#define CANDIDATE(year, month, rc) RTE_VERSION_NUM(year, month, 0, rc)

/* A device of a driver in a release, and what is known of a capability after its quirks. */
struct corrected {
	const char *driver;
	enum hy_target_kind kind;
	uint32_t version;
	enum hy_cap cap;
	enum hy_level level;
	uint64_t value; /* 0: what the level says */
};

/* Every device is found with these, before its quirks. */
#define LEVEL_FOUND HY_LEVEL_UNKNOWN /* which no quirk gives */
#define VALUE_FOUND 77

static const struct corrected corrected[] = {
	{ "mlx5_pci", HY_TARGET_PORT, DPDK(22, 11), HY_CAP_RX_METADATA_MARK, HY_LEVEL_YES },
	{ "mlx5_auxiliary", HY_TARGET_PORT, UPDATE(22, 11, 11), HY_CAP_RX_METADATA_MARK,
		HY_LEVEL_YES },
	{ "mlx5_pci", HY_TARGET_PORT, DPDK(23, 7), HY_CAP_RX_METADATA_MARK, LEVEL_FOUND },
	{ "mlx5_pci", HY_TARGET_PORT, CANDIDATE(23, 7, 1), HY_CAP_RX_METADATA_MARK, LEVEL_FOUND },
	{ "mlx5_regex", HY_TARGET_PORT, DPDK(22, 11), HY_CAP_RX_METADATA_MARK, LEVEL_FOUND },
	{ "net_cn10k", HY_TARGET_PORT, DPDK(23, 3), HY_CAP_RX_METADATA_MARK, HY_LEVEL_YES },
	{ "net_cn9k", HY_TARGET_PORT, UPDATE(25, 11, 4), HY_CAP_RX_METADATA_MARK, HY_LEVEL_YES },
	{ "net_cn20k", HY_TARGET_PORT, DPDK(25, 7), HY_CAP_RX_METADATA_MARK, HY_LEVEL_YES },
	{ "net_cn10k", HY_TARGET_PORT, UPDATE(22, 11, 11), HY_CAP_RX_METADATA_MARK, LEVEL_FOUND },
	{ "net_cnx", HY_TARGET_PORT, DPDK(23, 3), HY_CAP_RX_METADATA_MARK, LEVEL_FOUND },
	{ "net_i40e", HY_TARGET_PORT, DPDK(22, 11), HY_CAP_RX_METADATA_MARK, HY_LEVEL_YES },
	{ "net_i40e_vf", HY_TARGET_PORT, DPDK(22, 11), HY_CAP_RX_METADATA_MARK, LEVEL_FOUND },
	{ "net_ice", HY_TARGET_PORT, DPDK(26, 7), HY_CAP_RX_METADATA_MARK, HY_LEVEL_YES },
	{ "net_iavf", HY_TARGET_PORT, DPDK(22, 11), HY_CAP_RX_METADATA_MARK, HY_LEVEL_YES },
	{ "net_ice_dcf", HY_TARGET_PORT, DPDK(26, 7), HY_CAP_RX_METADATA_MARK, LEVEL_FOUND },
	{ "net_iavf", HY_TARGET_PORT, UPDATE(22, 11, 11), HY_CAP_RX_QUEUES, HY_LEVEL_YES, 16 },
	{ "net_iavf", HY_TARGET_PORT, DPDK(25, 11), HY_CAP_TX_QUEUES, HY_LEVEL_YES, 16 },
	{ "net_iavf", HY_TARGET_PORT, DPDK(26, 3), HY_CAP_RX_QUEUES, LEVEL_FOUND },
	{ "net_ice", HY_TARGET_PORT, DPDK(22, 11), HY_CAP_TX_QUEUES, LEVEL_FOUND },

	{ "event_sw", HY_TARGET_EVENT, UPDATE(22, 11, 11), HY_CAP_EVENT_ATOMIC, HY_LEVEL_YES },
	{ "event_dsw", HY_TARGET_EVENT, DPDK(23, 11), HY_CAP_EVENT_ATOMIC, HY_LEVEL_YES },
	{ "event_cn10k", HY_TARGET_EVENT, DPDK(23, 11), HY_CAP_EVENT_PARALLEL, HY_LEVEL_YES },
	{ "event_dlb2_pf", HY_TARGET_EVENT, DPDK(23, 11), HY_CAP_EVENT_ORDERED, HY_LEVEL_YES },
	{ "event_dlb2_5_pf", HY_TARGET_EVENT, DPDK(22, 11), HY_CAP_EVENT_ATOMIC, HY_LEVEL_YES },
	{ "event_sw", HY_TARGET_EVENT, DPDK(24, 3), HY_CAP_EVENT_ATOMIC, LEVEL_FOUND },
	{ "event_sw", HY_TARGET_EVENT, DPDK(24, 3), HY_CAP_EVENT_PARALLEL, LEVEL_FOUND },
	{ "event_sw", HY_TARGET_EVENT, DPDK(24, 3), HY_CAP_EVENT_ORDERED, LEVEL_FOUND },
	{ "event_opdl", HY_TARGET_EVENT, DPDK(23, 11), HY_CAP_EVENT_ORDERED, LEVEL_FOUND },
	{ "event_dsw", HY_TARGET_EVENT, DPDK(22, 11), HY_CAP_EVENT_ORDERED, HY_LEVEL_NO },
	{ "event_dsw", HY_TARGET_EVENT, DPDK(24, 3), HY_CAP_EVENT_ORDERED, LEVEL_FOUND },
	{ "event_dsw", HY_TARGET_EVENT, DPDK(22, 11), HY_CAP_EVENT_RECONFIGURE, HY_LEVEL_NO },
	{ "event_dsw", HY_TARGET_EVENT, DPDK(26, 11), HY_CAP_EVENT_RECONFIGURE, HY_LEVEL_NO },
	{ "event_sw", HY_TARGET_EVENT, DPDK(22, 11), HY_CAP_EVENT_RECONFIGURE, LEVEL_FOUND },

	{ "event_dsw", HY_TARGET_EVENT_PORT, DPDK(22, 11), HY_CAP_EVENT_RX_VECTOR, HY_LEVEL_NO },
	{ "event_cn10k", HY_TARGET_EVENT_PORT, DPDK(26, 7), HY_CAP_EVENT_RX_VECTOR, HY_LEVEL_NO },
	{ "event_sw", HY_TARGET_EVENT_PORT, DPDK(22, 11), HY_CAP_EVENT_TX_VECTOR, LEVEL_FOUND },
};

/* A device that has everything but rx_internal. */
static struct hy_hal_device
found(const char *driver, enum hy_target_kind kind)
{
	struct hy_hal_device dev;

	hy_device_blank(&dev, (struct hy_target){ .kind = kind });
	snprintf(dev.driver, sizeof(dev.driver), "%s", driver);
	for (int c = 0; c < HY_CAPS; c++)
		if (hy_cap_concerns(kind, c) && c != HY_CAP_EVENT_RX_INTERNAL)
			hy_cap_fill(&dev.caps[c], LEVEL_FOUND, VALUE_FOUND, "found so");
	return dev;
}

static void
quirks_correct_their_drivers_and_releases_and_no_others(void **state)
{
	unsigned int nb_hit = 0;

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(corrected); i++) {
		const struct corrected *c = &corrected[i];
		struct hy_hal_device dev = found(c->driver, c->kind);
		const struct hy_capability *cap = &dev.caps[c->cap];
		char start[HY_NAME_SIZE];

		hy_quirks_apply(&dev, c->version);
		if (cap->level != c->level)
			fail_msg("%s of %s in %u.%02u: %s, wanted %s", hy_cap_name(c->cap),
				c->driver, c->version >> 24, c->version >> 16 & 0xff,
				hy_level_name(cap->level), hy_level_name(c->level));
		if (c->value != 0)
			assert_int_equal(cap->value, c->value);
		else
			assert_int_equal(cap->value, c->level == HY_LEVEL_NO ? 0 : VALUE_FOUND);
		assert_int_equal(cap->origin, HY_ORIGIN_DECLARED);
		if (c->level == LEVEL_FOUND) {
			assert_string_equal(cap->reason, "found so");
			continue;
		}
		nb_hit++;
		snprintf(start, sizeof(start), "quirk of %s: ", c->driver);
		if (strncmp(cap->reason, start, strlen(start)) != 0)
			fail_msg("reason: %s", cap->reason);
	}
	assert_int_equal(nb_hit, 20);
}

/* The table above holds for each quirk a driver in a release that it is for, and one that not. */
static void
every_quirk_has_been_met_and_missed(void **state)
{
	unsigned int n, nb_met = 0;
	const struct hy_quirk *quirks = hy_quirks(&n);

	RTE_SET_USED(state);
	for (unsigned int q = 0; q < n; q++) {
		bool met = false, missed = false;

		for (size_t i = 0; i < RTE_DIM(corrected); i++) {
			const struct corrected *c = &corrected[i];

			if (c->cap != quirks[q].cap)
				continue;
			if (hy_quirk_matches(&quirks[q], c->driver, c->version))
				met = true;
			else
				missed = true;
		}
		/* The one that concerns all drivers is missed for another reason: see below. */
		missed |= quirks[q].unless != HY_CAP_NONE;
		if (!met || !missed)
			fail_msg("quirk %u, %s: met %d, missed %d", q, hy_cap_name(quirks[q].cap),
				met, missed);
		nb_met++;
	}
	assert_int_equal(nb_met, 13);
}

static void
vectors_of_an_internal_port_are_left_alone(void **state)
{
	struct hy_hal_device dev = found("event_cn10k", HY_TARGET_EVENT_PORT);

	RTE_SET_USED(state);
	hy_cap_fill(&dev.caps[HY_CAP_EVENT_RX_INTERNAL], HY_LEVEL_YES, 0, "it has one");
	hy_quirks_apply(&dev, DPDK(22, 11));
	assert_int_equal(dev.caps[HY_CAP_EVENT_RX_VECTOR].level, LEVEL_FOUND);
	assert_int_equal(dev.caps[HY_CAP_EVENT_RX_VECTOR].value, VALUE_FOUND);
}

/* A driver that says less than the limit knows better. */
static void
limits_are_lowered_and_never_raised(void **state)
{
	RTE_SET_USED(state);
	for (uint64_t value = 15; value <= 17; value++) {
		struct hy_hal_device dev = found("net_iavf", HY_TARGET_PORT);
		struct hy_capability *cap = &dev.caps[HY_CAP_RX_QUEUES];

		cap->value = value;
		hy_quirks_apply(&dev, DPDK(22, 11));
		assert_int_equal(cap->value, RTE_MIN(value, UINT64_C(16)));
		assert_int_equal(cap->level, value > 16 ? HY_LEVEL_YES : LEVEL_FOUND);
	}
}

static void
quirks_of_devices_leave_the_process_and_other_kinds_alone(void **state)
{
	static const enum hy_target_kind kinds[] = { HY_TARGET_PROCESS, HY_TARGET_CRYPTO,
		HY_TARGET_REGEX, HY_TARGET_EVENT_CRYPTO };

	RTE_SET_USED(state);
	for (size_t k = 0; k < RTE_DIM(kinds); k++) {
		struct hy_hal_device dev = found("event_dsw", kinds[k]);
		const struct hy_hal_device before = dev;

		hy_quirks_apply(&dev, DPDK(22, 11));
		assert_memory_equal(&dev, &before, sizeof(dev));
	}
}

static const struct CMUnitTest hal_quirk_tests[] = {
	cmocka_unit_test(quirks_correct_their_drivers_and_releases_and_no_others),
	cmocka_unit_test(every_quirk_has_been_met_and_missed),
	cmocka_unit_test(vectors_of_an_internal_port_are_left_alone),
	cmocka_unit_test(limits_are_lowered_and_never_raised),
	cmocka_unit_test(quirks_of_devices_leave_the_process_and_other_kinds_alone),
};

UNIT_SUITE(hal_quirk_tests)
