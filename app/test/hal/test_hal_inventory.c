/* SPDX-License-Identifier: BSD-3-Clause */
/* The inventory: the process and its vector width, virtual ports, and the reasons given. */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <rte_cpuflags.h>
#include <rte_ethdev.h>
#include <rte_vect.h>

#include "hal_fixture.h"

static const struct hy_capability *
of_process(enum hy_cap cap)
{
	return hy_hal_capability(hal, (struct hy_target){ HY_TARGET_PROCESS, 0 }, cap);
}

static const struct hy_capability *
of_port(uint16_t port, enum hy_cap cap)
{
	return hy_hal_capability(hal, (struct hy_target){ HY_TARGET_PORT, port }, cap);
}

static void
assert_cap(const struct hy_capability *cap, enum hy_level level, uint64_t value, const char *reason)
{
	assert_non_null(cap);
	assert_int_equal(cap->level, level);
	assert_int_equal(cap->origin, HY_ORIGIN_DECLARED);
	assert_int_equal(cap->value, value);
	assert_string_equal(cap->reason, reason);
}

static void
process_has_what_the_cpu_has(void **state)
{
	RTE_SET_USED(state);
#ifdef RTE_ARCH_X86_64
	const bool has2 = rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) > 0;
	const bool has512 = rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512F) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512BW) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512DQ) > 0 &&
		rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX512VL) > 0;

	assert_cap(of_process(HY_CAP_AVX2), has2 ? HY_LEVEL_YES : HY_LEVEL_NO, 0,
		has2 ? "the CPU has it" : "the CPU lacks AVX2");
	assert_int_equal(of_process(HY_CAP_AVX512)->level, has512 ? HY_LEVEL_YES : HY_LEVEL_NO);
	assert_cap(of_process(HY_CAP_SIMD_BITS), HY_LEVEL_YES,
		has512         ? 512
			: has2 ? 256
			       : 128,
		"the widest that the CPU has");
	assert_cap(of_process(HY_CAP_NEON), HY_LEVEL_NO, 0, "not on this CPU architecture");
#else
	assert_cap(of_process(HY_CAP_AVX2), HY_LEVEL_NO, 0, "not on this CPU architecture");
	assert_cap(of_process(HY_CAP_AVX512), HY_LEVEL_NO, 0, "not on this CPU architecture");
#endif
#ifdef RTE_ARCH_ARM64
	assert_cap(of_process(HY_CAP_NEON), HY_LEVEL_YES, 0, "the CPU has it");
	assert_cap(of_process(HY_CAP_SIMD_BITS), HY_LEVEL_YES, RTE_VECT_SIMD_MAX, "no limit");
#endif
	assert_int_equal(rte_vect_get_max_simd_bitwidth(), of_process(HY_CAP_SIMD_BITS)->value);
}

static void
creating_a_hal_raises_the_vector_width(void **state)
{
	const uint16_t widest = rte_vect_get_max_simd_bitwidth();

	RTE_SET_USED(state);
	hy_hal_destroy(hal);
	assert_int_equal(rte_vect_set_max_simd_bitwidth(RTE_VECT_SIMD_128), 0);
	assert_int_equal(hy_hal_create(&hal), 0);
	assert_int_equal(rte_vect_get_max_simd_bitwidth(), widest);
	assert_int_equal(of_process(HY_CAP_SIMD_BITS)->value, widest);
}

static void
port_capabilities_are_none_of_the_process(void **state)
{
	RTE_SET_USED(state);
	for (int cap = HY_CAP_RX_QUEUES; cap <= HY_CAP_RUNNING; cap++)
		assert_cap(of_process(cap), HY_LEVEL_NO, 0,
			"a capability of ports, not of the process");
}

static void
port_that_is_not_there_has_no_capability(void **state)
{
	static const uint16_t ports[] = { 0, RTE_MAX_ETHPORTS - 1, RTE_MAX_ETHPORTS, UINT16_MAX };

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(ports); i++)
		for (int cap = HY_CAP_RX_QUEUES; cap <= HY_CAP_RUNNING; cap++)
			assert_cap(of_port(ports[i], cap), HY_LEVEL_NO, 0, "no such port");
	assert_int_equal(of_port(UINT16_MAX, HY_CAP_SIMD_BITS)->level, HY_LEVEL_YES);
}

static void
port_that_is_ignored_is_none_until_another_hal(void **state)
{
	const uint16_t port = port_add("net_null_ign");

	RTE_SET_USED(state);
	assert_int_equal(hy_hal_port_ignore(hal, RTE_MAX_ETHPORTS), -EINVAL);
	assert_int_equal(hy_hal_port_ignore(hal, port), 0);
	assert_int_equal(hy_hal_probe(hal), 0);
	assert_cap(of_port(port, HY_CAP_RX_QUEUES), HY_LEVEL_NO, 0, "no such port");
	select_all();
	assert_null(hy_hal_selection(hal, "pkt_cls", port));
	assert_int_equal(hy_hal_force(hal, "pkt_cls@0=ptype", error), -EINVAL);
}

static void
null_port_names_no_packet_types(void **state)
{
	const uint16_t port = port_add("net_null_inv");
	struct rte_eth_dev_info info;

	RTE_SET_USED(state);
	assert_int_equal(hy_hal_probe(hal), 0);
	assert_int_equal(rte_eth_dev_info_get(port, &info), 0);
	assert_true(info.max_rx_queues > 0 && info.max_tx_queues > 0);
	assert_cap(of_port(port, HY_CAP_RX_QUEUES), HY_LEVEL_YES, info.max_rx_queues,
		"the driver's limit");
	assert_cap(of_port(port, HY_CAP_TX_QUEUES), HY_LEVEL_YES, info.max_tx_queues,
		"the driver's limit");
	assert_cap(of_port(port, HY_CAP_RX_PTYPE_IP4), HY_LEVEL_UNKNOWN, 0,
		"the driver names no packet types");
	assert_ptr_equal(of_port(port, HY_CAP_SIMD_BITS), of_process(HY_CAP_SIMD_BITS));
}

static void
marks_are_asked_for_before_the_port_is_configured_and_once(void **state)
{
	static const char cannot[] = "the driver cannot be asked: Operation not supported";
	static const char late[] = "too late to ask: the port is configured";
	const struct rte_eth_conf conf = { 0 };
	const uint16_t early = port_add("net_null_early"), after = port_add("net_null_after");

	RTE_SET_USED(state);
	assert_int_equal(rte_eth_dev_configure(after, 1, 1, &conf), 0);
	assert_int_equal(hy_hal_probe(hal), 0);
	assert_int_equal(rte_eth_dev_configure(early, 1, 1, &conf), 0);
	for (int i = 0; i < 2; i++) {
		const struct hy_capability *mark = of_port(early, HY_CAP_RX_METADATA_MARK);

		assert_int_equal(mark->level, HY_LEVEL_UNKNOWN);
		assert_int_equal(mark->origin, HY_ORIGIN_PROBED);
		assert_string_equal(mark->reason, cannot);
		assert_string_equal(of_port(after, HY_CAP_RX_METADATA_MARK)->reason, late);
		assert_int_equal(hy_hal_probe(hal), 0);
	}
}

static void
offloads_are_those_that_the_driver_offers(void **state)
{
	static const struct {
		enum hy_cap cap;
		bool rx;
		uint64_t flag;
	} offloads[] = { { HY_CAP_RX_CHECKSUM_IP4, true, RTE_ETH_RX_OFFLOAD_IPV4_CKSUM },
		{ HY_CAP_RX_SCATTER, true, RTE_ETH_RX_OFFLOAD_SCATTER },
		{ HY_CAP_TX_CHECKSUM_IP4, false, RTE_ETH_TX_OFFLOAD_IPV4_CKSUM },
		{ HY_CAP_TX_SEGMENTS, false, RTE_ETH_TX_OFFLOAD_MULTI_SEGS },
		{ HY_CAP_TX_FAST_FREE, false, RTE_ETH_TX_OFFLOAD_MBUF_FAST_FREE } };
	unsigned int nb_yes = 0;

	RTE_SET_USED(state);
	port_add("net_null_off");
	port_add_rings("inv_off", 1, 1);
	assert_int_equal(hy_hal_probe(hal), 0);
	for (uint16_t p = 0; p < 2; p++) {
		struct rte_eth_dev_info info;

		assert_int_equal(rte_eth_dev_info_get(p, &info), 0);
		for (size_t i = 0; i < RTE_DIM(offloads); i++) {
			const uint64_t has = offloads[i].rx ? info.rx_offload_capa
							    : info.tx_offload_capa;
			const bool yes = (has & offloads[i].flag) != 0;

			assert_int_equal(of_port(p, offloads[i].cap)->level,
				yes ? HY_LEVEL_YES : HY_LEVEL_NO);
			nb_yes += yes;
		}
		assert_cap(of_port(p, HY_CAP_RUNNING), HY_LEVEL_YES, 0,
			"no reset or removal was seen");
	}
	assert_in_range(nb_yes, 1, 9); /* drivers differ, or nothing was compared */
}

static void
ring_port_has_the_queues_that_it_was_given(void **state)
{
	const uint16_t port = port_add_rings("inv_ring", 3, 2);

	RTE_SET_USED(state);
	assert_int_equal(hy_hal_probe(hal), 0);
	assert_cap(of_port(port, HY_CAP_RX_QUEUES), HY_LEVEL_YES, 3, "the driver's limit");
	assert_cap(of_port(port, HY_CAP_TX_QUEUES), HY_LEVEL_YES, 2, "the driver's limit");
	assert_cap(of_port(port, HY_CAP_RX_PTYPE_IP4), HY_LEVEL_UNKNOWN, 0,
		"the driver names no packet types");
}

static void
tap_port_tells_ip4_so_pkt_cls_believes_it(void **state)
{
	int port;

	RTE_SET_USED(state);
	if (geteuid() != 0 || access("/dev/net/tun", R_OK | W_OK) != 0)
		skip();
	port = port_try("net_tap_inv", "iface=hyinv0");
	if (port < 0)
		skip();
	assert_int_equal(hy_hal_probe(hal), 0);
	assert_cap(of_port((uint16_t)port, HY_CAP_RX_PTYPE_IP4), HY_LEVEL_YES, 0,
		"the driver's packet types distinguish IPv4 and VLAN tags");
	/* What the CPU can do is not asked here. */
#if defined(RTE_ARCH_X86_64)
	assert_int_equal(hy_hal_deny(hal, "pkt_cls=avx512", error), 0);
	assert_int_equal(hy_hal_deny(hal, "pkt_cls=avx2", error), 0);
#elif defined(RTE_ARCH_ARM64)
	assert_int_equal(hy_hal_deny(hal, "pkt_cls=neon", error), 0);
#endif
	select_all();
	assert_string_equal(chosen("pkt_cls", (uint16_t)port), "ptype");
	assert_fate("pkt_cls", (uint16_t)port, "scalar", HY_FATE_OUTSCORED, 10, "ptype scores 20");
	assert_non_null(strstr(printed(hy_hal_inventory_print), ": net_tap_inv, driver net_tap\n"));
}

static void
inventory_prints_process_and_ports(void **state)
{
	const char *text, *process, *null, *ring;

	RTE_SET_USED(state);
	port_add("net_null_inv");
	port_add_rings("inv_ring", 1, 4);
	assert_int_equal(hy_hal_probe(hal), 0);
	text = printed(hy_hal_inventory_print);
	process = strstr(text, "process\n    simd_bits       yes");
	null = strstr(text, "port 0: net_null_inv, driver net_null\n    rx_queues ");
	ring = strstr(text,
		"port 1: net_ring_inv_ring, driver net_ring\n"
		"    rx_queues       yes            1  declared: the driver's limit\n"
		"    tx_queues       yes            4  declared: the driver's limit\n"
		"    rx_ptype_ip4    unknown           declared: the driver names no packet "
		"types\n");
	assert_ptr_equal(process, text);
	assert_non_null(null);
	assert_non_null(ring);
	assert_true(null < ring);
	assert_null(strstr(text, "port 2"));
}

/* What hal_width.c prints for a width forced by the user and a variant forced then. */
static void
run_with_width(const char *bits, const char *variant, char *out, size_t size)
{
	char command[PATH_MAX + 128];
	FILE *pipe;
	size_t n;

	snprintf(command, sizeof(command), "$HALYARD_UNDER '%s' %s %s", unit_beside("hal-width"),
		bits, variant);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	n = fread(out, 1, size - 1, pipe);
	out[n] = '\0';
	assert_int_equal(pclose(pipe), 0);
}

#ifdef RTE_ARCH_X86_64
static void
width_that_the_user_forced_holds_and_is_told(void **state)
{
	static char out[1 << 14];

	RTE_SET_USED(state);
	run_with_width("128", "avx2", out, sizeof(out));
	assert_non_null(strstr(out,
		"    simd_bits       yes          128  declared: limited by "
		"--force-max-simd-bitwidth=128\n"));
	assert_non_null(strstr(out, "\nselect: 0 none\n"));
	assert_non_null(strstr(out, "\nip4_lookup for process: x4\n"));
	if (rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) > 0)
		assert_non_null(strstr(out,
			"\nforced: -95 ip4_lookup=avx2 cannot be used for process: needs simd_bits "
			"of 256: it is 128, limited by --force-max-simd-bitwidth=128\n"));
	else
		assert_non_null(strstr(out, "needs avx2: no (the CPU lacks AVX2)\n"));
}

static void
width_between_takes_what_fits_it(void **state)
{
	static char out[1 << 14];

	RTE_SET_USED(state);
	if (rte_cpu_get_flag_enabled(RTE_CPUFLAG_AVX2) <= 0)
		skip();
	run_with_width("256", "avx512", out, sizeof(out));
	assert_non_null(strstr(out, "\nip4_lookup for process: avx2\n"));
	assert_non_null(strstr(out,
		"\nforced: -95 ip4_lookup=avx512 cannot be used for process: "));
	run_with_width("256", "scalar", out, sizeof(out));
	assert_non_null(strstr(out, "\nforced: 0 none\n"));
}
#else
static void
width_that_the_user_forced_holds_and_is_told(void **state)
{
	static char out[1 << 14];

	RTE_SET_USED(state);
	run_with_width("64", "scalar", out, sizeof(out));
	assert_non_null(strstr(out,
		"    simd_bits       yes           64  declared: limited by "
		"--force-max-simd-bitwidth=64\n"));
	assert_non_null(strstr(out, "\nselect: 0 none\n"));
	assert_non_null(strstr(out, "\nforced: 0 none\n"));
}
#endif

static const struct CMUnitTest hal_inventory_tests[] = {
	HAL_TEST(process_has_what_the_cpu_has),
	HAL_TEST(creating_a_hal_raises_the_vector_width),
	HAL_TEST(port_capabilities_are_none_of_the_process),
	HAL_TEST(port_that_is_not_there_has_no_capability),
	HAL_TEST(port_that_is_ignored_is_none_until_another_hal),
	HAL_TEST(null_port_names_no_packet_types),
	HAL_TEST(marks_are_asked_for_before_the_port_is_configured_and_once),
	HAL_TEST(offloads_are_those_that_the_driver_offers),
	HAL_TEST(ring_port_has_the_queues_that_it_was_given),
	HAL_TEST(tap_port_tells_ip4_so_pkt_cls_believes_it),
	HAL_TEST(inventory_prints_process_and_ports),
	HAL_TEST(width_that_the_user_forced_holds_and_is_told),
#ifdef RTE_ARCH_X86_64
	HAL_TEST(width_between_takes_what_fits_it),
#endif
};

UNIT_SUITE(hal_inventory_tests)
