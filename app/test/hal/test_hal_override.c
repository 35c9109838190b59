/* SPDX-License-Identifier: BSD-3-Clause */
/* What the user says of capabilities: what it changes, how long, and what is refused. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hal/internal/hal.h"
#include "hal_fixture.h"

#define PROCESS ((struct hy_target){ .kind = HY_TARGET_PROCESS })
#define PORT(p) ((struct hy_target){ .kind = HY_TARGET_PORT, .id = (p) })

static const struct hy_capability *
cap_of(struct hy_target target, enum hy_cap cap)
{
	return hy_hal_capability(hal, target, cap);
}

static void
assert_overridden(struct hy_target target, enum hy_cap cap, enum hy_level level, uint64_t value,
	const char *spec)
{
	const struct hy_capability *is = cap_of(target, cap);
	char reason[HY_TEXT_SIZE];

	snprintf(reason, sizeof(reason), "the user says %s", spec);
	assert_string_equal(is->reason, reason);
	assert_int_equal(is->level, level);
	assert_int_equal(is->value, value);
	assert_int_equal(is->origin, HY_ORIGIN_OVERRIDDEN);
}

static void
override(const char *spec)
{
	const int rc = hy_hal_override(hal, spec, error);

	if (rc < 0)
		fail_msg("%s: %s", strerror(-rc), error);
}

static void
an_override_holds_over_probes_and_what_is_set(void **state)
{
	const uint16_t port = port_add("net_null_0");

	RTE_SET_USED(state);
	override("port0.flow_mark=yes:0xffff"); /* of a port that the HAL has not seen yet */
	assert_int_equal(cap_of(PORT(port), HY_CAP_FLOW_MARK)->level, HY_LEVEL_NO);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(hy_hal_probe(hal), 0);
		assert_overridden(PORT(port), HY_CAP_FLOW_MARK, HY_LEVEL_YES, 0xffff,
			"port0.flow_mark=yes:0xffff");
		assert_int_equal(hy_hal_capability_set(hal, PORT(port), HY_CAP_FLOW_MARK,
					 HY_LEVEL_NO, HY_ORIGIN_OBSERVED, 0, "it lies"),
			0);
		assert_overridden(PORT(port), HY_CAP_FLOW_MARK, HY_LEVEL_YES, 0xffff,
			"port0.flow_mark=yes:0xffff");
	}
	assert_int_equal(cap_of(PORT(port), HY_CAP_FLOW_PRIORITY)->level, HY_LEVEL_UNKNOWN);
}

static void
a_value_that_is_not_said_stays_but_for_what_there_is_not(void **state)
{
	const uint16_t port = port_add_rings("ovr_ring", 3, 2);

	RTE_SET_USED(state);
	assert_int_equal(hy_hal_probe(hal), 0);
	override("port0.rx_queues=yes");
	assert_overridden(PORT(port), HY_CAP_RX_QUEUES, HY_LEVEL_YES, 3, "port0.rx_queues=yes");
	override("port0.rx_queues=unknown");
	assert_overridden(PORT(port), HY_CAP_RX_QUEUES, HY_LEVEL_UNKNOWN, 0,
		"port0.rx_queues=unknown");
	override("port0.tx_queues=no:2");
	assert_overridden(PORT(port), HY_CAP_TX_QUEUES, HY_LEVEL_NO, 2, "port0.tx_queues=no:2");
}

static void
drivers_are_patterns_and_the_last_word_counts(void **state)
{
	const uint16_t null = port_add("net_null_0"), ring = port_add_rings("ovr_last", 1, 1);

	RTE_SET_USED(state);
	assert_int_equal(hy_hal_probe(hal), 0);
	override("net_*.flow_priority=yes");
	assert_overridden(PORT(null), HY_CAP_FLOW_PRIORITY, HY_LEVEL_YES, 0,
		"net_*.flow_priority=yes");
	assert_overridden(PORT(ring), HY_CAP_FLOW_PRIORITY, HY_LEVEL_YES, 0,
		"net_*.flow_priority=yes");
	override("net_ring.flow_priority=no");
	assert_overridden(PORT(null), HY_CAP_FLOW_PRIORITY, HY_LEVEL_YES, 0,
		"net_*.flow_priority=yes");
	assert_overridden(PORT(ring), HY_CAP_FLOW_PRIORITY, HY_LEVEL_NO, 0,
		"net_ring.flow_priority=no");
	override("port0.flow_priority=yes:7");
	assert_overridden(PORT(null), HY_CAP_FLOW_PRIORITY, HY_LEVEL_YES, 7,
		"port0.flow_priority=yes:7");
	override("net_null.flow_priority=unknown");
	assert_int_equal(hy_hal_probe(hal), 0);
	assert_overridden(PORT(null), HY_CAP_FLOW_PRIORITY, HY_LEVEL_UNKNOWN, 0,
		"net_null.flow_priority=unknown");
	assert_overridden(PORT(ring), HY_CAP_FLOW_PRIORITY, HY_LEVEL_NO, 0,
		"net_ring.flow_priority=no");
}

static void
devices_and_pairs_are_targets_too(void **state)
{
	RTE_SET_USED(state);
	port_add("net_null_0");
	port_add("net_null_1");
	device_add("event_dsw0");
	device_add("crypto_null0");
	assert_int_equal(hy_hal_probe(hal), 0);
	override("event0.ordered=yes");
	override("crypto0.aes_gcm=yes:128");
	override("event0:port0.rx_vector=yes:64");
	override("event0:crypto0.crypto_forward=yes");
	override("event_dsw.crypto_vector=yes");
	assert_overridden((struct hy_target){ .kind = HY_TARGET_EVENT }, HY_CAP_EVENT_ORDERED,
		HY_LEVEL_YES, 0, "event0.ordered=yes");
	assert_overridden((struct hy_target){ .kind = HY_TARGET_CRYPTO }, HY_CAP_CRYPTO_AES_GCM,
		HY_LEVEL_YES, 128, "crypto0.aes_gcm=yes:128");
	assert_overridden((struct hy_target){ .kind = HY_TARGET_EVENT_PORT },
		HY_CAP_EVENT_RX_VECTOR, HY_LEVEL_YES, 64, "event0:port0.rx_vector=yes:64");
	assert_overridden((struct hy_target){ .kind = HY_TARGET_EVENT_CRYPTO },
		HY_CAP_EVENT_CRYPTO_FWD, HY_LEVEL_YES, 0, "event0:crypto0.crypto_forward=yes");
	assert_overridden((struct hy_target){ .kind = HY_TARGET_EVENT_CRYPTO },
		HY_CAP_EVENT_CRYPTO_VECTOR, HY_LEVEL_YES, 0, "event_dsw.crypto_vector=yes");
	/* The pair with the other port is another one. */
	assert_int_equal(cap_of((struct hy_target){ .kind = HY_TARGET_EVENT_PORT, .peer = 1 },
				 HY_CAP_EVENT_RX_VECTOR)
				 ->level,
		HY_LEVEL_NO);
}

static void
a_selection_believes_an_override(void **state)
{
	RTE_SET_USED(state);
	port_add("net_null_0");
	assert_int_equal(hy_hal_probe(hal), 0);
	family_add("ovr_family", HY_TARGET_PORT, 10);
	VARIANT("ovr_family", "marked", .score = 20,
		.needs = { { .cap = HY_CAP_FLOW_MARK, .at_least = 1000 } });
	select_all();
	assert_string_equal(chosen("ovr_family", 0), "plain");
	assert_fate("ovr_family", 0, "marked", HY_FATE_NEEDS_UNMET, 20,
		"needs flow_mark: unknown (not tried: it needs a port that is started)");
	override("port0.flow_mark=yes:999");
	select_all();
	assert_fate("ovr_family", 0, "marked", HY_FATE_NEEDS_UNMET, 20,
		"needs flow_mark of 1000: it is 999, the user says port0.flow_mark=yes:999");
	override("port0.flow_mark=yes:1000");
	select_all();
	assert_string_equal(chosen("ovr_family", 0), "marked");
}

static void
the_cpu_can_lose_what_it_has_and_get_it_back_but_no_more(void **state)
{
#ifdef RTE_ARCH_X86_64
	const enum hy_cap foreign = HY_CAP_NEON;
#else
	const enum hy_cap foreign = HY_CAP_AVX2;
#endif
	const struct hy_capability bits = *cap_of(PROCESS, HY_CAP_SIMD_BITS);
	char spec[HY_NAME_SIZE], wanted[HY_HAL_ERROR_SIZE];

	RTE_SET_USED(state);
	override("process.simd_bits=yes:64");
	assert_overridden(PROCESS, HY_CAP_SIMD_BITS, HY_LEVEL_YES, 64, "process.simd_bits=yes:64");
	assert_int_equal(hy_hal_probe(hal), 0);
	assert_overridden(PROCESS, HY_CAP_SIMD_BITS, HY_LEVEL_YES, 64, "process.simd_bits=yes:64");
	snprintf(spec, sizeof(spec), "process.simd_bits=yes:%u", (unsigned int)bits.value);
	override(spec);
	assert_overridden(PROCESS, HY_CAP_SIMD_BITS, HY_LEVEL_YES, bits.value, spec);
	snprintf(spec, sizeof(spec), "process.simd_bits=yes:%u", (unsigned int)bits.value + 1);
	assert_int_equal(hy_hal_override(hal, spec, error), -ENOTSUP);
	snprintf(wanted, sizeof(wanted),
		"'%s': an override cannot add what the CPU lacks; found: simd_bits yes, up to %u (%s)",
		spec, (unsigned int)bits.value, bits.reason);
	assert_string_equal(error, wanted);
	snprintf(spec, sizeof(spec), "process.%s=yes", hy_cap_name(foreign));
	assert_int_equal(hy_hal_override(hal, spec, error), -ENOTSUP);
	snprintf(wanted, sizeof(wanted),
		"'%s': an override cannot add what the CPU lacks; found: %s no, up to 0 "
		"(not on this CPU architecture)",
		spec, hy_cap_name(foreign));
	assert_string_equal(error, wanted);
	assert_int_equal(cap_of(PROCESS, foreign)->level, HY_LEVEL_NO);
	snprintf(spec, sizeof(spec), "process.%s=no", hy_cap_name(foreign));
	override(spec);
	assert_int_equal(cap_of(PROCESS, HY_CAP_SIMD_BITS)->value, bits.value);
}

static void
nobody_can_say_that_a_port_runs(void **state)
{
	static const char *const specs[] = { "port0.running=yes", "net_*.running=yes" };

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(specs); i++) {
		assert_int_equal(hy_hal_override(hal, specs[i], error), -ENOTSUP);
		assert_non_null(strstr(error, "an override cannot make a port run"));
		assert_non_null(strstr(error, specs[i]));
	}
	override("port0.running=no");
}

static void
what_is_malformed_is_refused_and_says_what_is_accepted(void **state)
{
	static const char targets[] =
		"is not a target; accepted: process, portN, eventN, cryptoN, regexN, eventN:portN, "
		"eventN:cryptoN, or a driver's name, such as net_ice or net_cn*";
	static const struct {
		const char *spec, *message;
	} bad[] = {
		{ "", "'': not TARGET.CAPABILITY=LEVEL[:VALUE]" },
		{ "port0.rx_queues", "'port0.rx_queues': not TARGET.CAPABILITY=LEVEL[:VALUE]" },
		{ "port0=yes", "'port0=yes': not TARGET.CAPABILITY=LEVEL[:VALUE]" },
		{ "prt0.rx_queues=no", targets },
		{ ".rx_queues=no", targets },
		{ "port.rx_queues=no", targets },
		{ "port-1.rx_queues=no", targets },
		{ "port65536.rx_queues=no", targets },
		{ "port0x.rx_queues=no", targets },
		{ "port0:event0.rx_vector=no", targets },
		{ "event0:event1.rx_vector=no", targets },
		{ "event0:port.rx_vector=no", targets },
		{ "event0:port1x.rx_vector=no", targets },
		{ "port0.avx2=no",
			"'port0.avx2=no': 'avx2' is not a capability of ports; accepted: rx_queues, "
			"tx_queues, rx_ptype_ip4, " },
		{ "process.rx_queues=no",
			"'process.rx_queues=no': 'rx_queues' is not a capability of the process; "
			"accepted: simd_bits, avx2, avx512, neon" },
		{ "event0:port0.ordered=no",
			"'ordered' is not a capability of event devices with ports; accepted: "
			"rx_internal, rx_vector, rx_flow_id, tx_internal, tx_vector" },
		{ "net_ice.avx2=no",
			"'avx2' is not a capability of devices; hy-hal inventory lists them" },
		{ "port0.=no", "'' is not a capability of ports" },
		{ "port0.none=no", "'none' is not a capability of ports" },
		{ "port0.rx_queues=maybe", "'maybe' is not a level; accepted: no, unknown, yes" },
		{ "port0.rx_queues=", "'' is not a level" },
		{ "port0.rx_queues=yes:",
			"'' is not a value; accepted: a number, such as 65535 or 0xffff" },
		{ "port0.rx_queues=yes:-1", "'-1' is not a value" },
		{ "port0.rx_queues=yes:1x", "'1x' is not a value" },
		{ "port0.rx_queues=yes:99999999999999999999", "is not a value" },
		{ "net_a_driver_with_a_name_that_is_too_long_to_be_that_of_any.rx_queues=no",
			"longer than 63 characters" },
	};

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(bad); i++) {
		strcpy(error, "untouched");
		if (hy_hal_override(hal, bad[i].spec, error) != -EINVAL ||
			strstr(error, bad[i].message) == NULL)
			fail_msg("%s: %s", bad[i].spec, error);
	}
	assert_int_equal(hal->nb_overrides, 0);
}

/* Writes a file and has it read. */
static int
file_read(const char *text, size_t len, char *path)
{
	FILE *out;
	int rc;

	sprintf(path, "/tmp/hy-cap-XXXXXX");
	out = fdopen(mkstemp(path), "w");
	assert_non_null(out);
	assert_int_equal(fwrite(text, 1, len, out), len);
	assert_int_equal(fclose(out), 0);
	rc = hy_hal_override_file(hal, path, error);
	unlink(path);
	return rc;
}

static void
a_file_has_one_a_line_and_comments(void **state)
{
	static const char text[] =
		"# what the lab found\n\n  net_null.flow_mark=yes:10 # not 11\r\n"
		"\tport0.rx_scatter=no\t\nport0.flow_priority=no"; /* no newline */
	char path[32];

	RTE_SET_USED(state);
	port_add("net_null_0");
	assert_int_equal(hy_hal_probe(hal), 0);
	assert_int_equal(file_read(text, sizeof(text) - 1, path), 0);
	assert_int_equal(hal->nb_overrides, 3);
	assert_overridden(PORT(0), HY_CAP_FLOW_MARK, HY_LEVEL_YES, 10, "net_null.flow_mark=yes:10");
	assert_overridden(PORT(0), HY_CAP_RX_SCATTER, HY_LEVEL_NO, 0, "port0.rx_scatter=no");
	assert_overridden(PORT(0), HY_CAP_FLOW_PRIORITY, HY_LEVEL_NO, 0, "port0.flow_priority=no");
	assert_int_equal(file_read("", 0, path), 0);
	assert_int_equal(file_read("#\n", 2, path), 0);
	assert_int_equal(hal->nb_overrides, 3);
}

static void
a_file_is_taken_whole_or_not_at_all_and_says_where_it_is_wrong(void **state)
{
	static const struct {
		const char *text, *message;
		unsigned int line;
		int rc;
	} bad[] = {
		{ "port0.flow_priority=no\n\nport0.flow_priority=non\n",
			"'port0.flow_priority=non': 'non' is not a level; accepted: no, unknown, yes",
			3, -EINVAL },
		{ "port0.flow_priority=no port0.flow_mark=no\n",
			"'port0.flow_priority=no port0.flow_mark=no': 'no port0.flow_mark=no' is not a level; "
			"accepted: no, unknown, yes",
			1, -EINVAL },
		{ "port0.flow_priority=no\nprocess.simd_bits=yes:65535",
			"'process.simd_bits=yes:65535': an override cannot add what the CPU lacks",
			2, -ENOTSUP },
		{ "port0.flow_priority=no\nport0.fl\0ow_priority=no\n", "has a NUL byte", 2,
			-EINVAL },
	};
	static const size_t lengths[] = { 48, 42, 50, 47 };
	char path[32], wanted[HY_HAL_ERROR_SIZE];

	RTE_SET_USED(state);
	port_add("net_null_0");
	assert_int_equal(hy_hal_probe(hal), 0);
	for (size_t i = 0; i < RTE_DIM(bad); i++) {
		assert_int_equal(file_read(bad[i].text, lengths[i], path), bad[i].rc);
		snprintf(wanted, sizeof(wanted), "%s:%u: %s", path, bad[i].line, bad[i].message);
		if (strncmp(error, wanted, strlen(wanted)) != 0)
			fail_msg("%s\nwanted: %s", error, wanted);
		assert_int_equal(hal->nb_overrides, 0);
		assert_int_equal(cap_of(PORT(0), HY_CAP_FLOW_PRIORITY)->origin, HY_ORIGIN_DECLARED);
	}
	assert_int_equal(hy_hal_override_file(hal, "/nowhere/caps", error), -ENOENT);
	assert_string_equal(error, "/nowhere/caps: No such file or directory");
	assert_int_equal(hy_hal_override_file(hal, "/tmp", error), -EISDIR);
	assert_string_equal(error, "/tmp: Is a directory");
	assert_int_equal(hy_hal_override_file(hal, "/dev/zero", error), -EINVAL);
	assert_string_equal(error, "/dev/zero: is not a regular file");
}

static void
every_allocation_of_overrides_can_fail_and_nothing_changes(void **state)
{
	static const char text[] = "port0.flow_priority=no\nport0.flow_mark=no\n";
	unsigned int failed = 0;
	char path[32];
	int rc;

	RTE_SET_USED(state);
	port_add("net_null_0");
	assert_int_equal(hy_hal_probe(hal), 0);
	unit_alloc_fail(1);
	assert_int_equal(hy_hal_override(hal, "port0.flow_priority=no", error), -ENOMEM);
	unit_alloc_fail(0);
	assert_string_equal(error, "out of memory for overrides");
	sprintf(path, "/tmp/hy-cap-XXXXXX");
	rc = mkstemp(path);
	assert_true(rc >= 0);
	assert_int_equal(write(rc, text, sizeof(text) - 1), sizeof(text) - 1);
	close(rc);
	do {
		assert_int_equal(hal->nb_overrides, 0);
		unit_alloc_fail(failed + 1);
		rc = hy_hal_override_file(hal, path, error);
		unit_alloc_fail(0);
	} while (rc == -ENOMEM && ++failed < 100);
	unlink(path);
	assert_int_equal(rc, 0);
	/* The request to read with its path, the text, and two lines. */
	assert_int_equal(failed, 4);
	assert_int_equal(hal->nb_overrides, 2);
}

static const struct CMUnitTest hal_override_tests[] = {
	HAL_TEST(an_override_holds_over_probes_and_what_is_set),
	HAL_TEST(a_value_that_is_not_said_stays_but_for_what_there_is_not),
	HAL_TEST(drivers_are_patterns_and_the_last_word_counts),
	HAL_TEST(devices_and_pairs_are_targets_too),
	HAL_TEST(a_selection_believes_an_override),
	HAL_TEST(the_cpu_can_lose_what_it_has_and_get_it_back_but_no_more),
	HAL_TEST(nobody_can_say_that_a_port_runs),
	HAL_TEST(what_is_malformed_is_refused_and_says_what_is_accepted),
	HAL_TEST(a_file_has_one_a_line_and_comments),
	HAL_TEST(a_file_is_taken_whole_or_not_at_all_and_says_where_it_is_wrong),
	HAL_TEST(every_allocation_of_overrides_can_fail_and_nothing_changes),
};

UNIT_SUITE(hal_override_tests)
