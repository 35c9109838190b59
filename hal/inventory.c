/* SPDX-License-Identifier: BSD-3-Clause */
/* The inventory: what the process and each port can do, how that is known, and why. */

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <rte_cpuflags.h>
#include <rte_vect.h>

#include "hal.h"

static const char *const cap_names[HY_CAPS] = {
	[HY_CAP_NONE] = "none",
	[HY_CAP_SIMD_BITS] = "simd_bits",
	[HY_CAP_AVX2] = "avx2",
	[HY_CAP_AVX512] = "avx512",
	[HY_CAP_NEON] = "neon",
	[HY_CAP_RX_QUEUES] = "rx_queues",
	[HY_CAP_TX_QUEUES] = "tx_queues",
	[HY_CAP_RX_PTYPE_IP4] = "rx_ptype_ip4",
};

const char *
hy_cap_name(enum hy_cap cap)
{
	return cap_names[cap];
}

const char *
hy_level_name(enum hy_level level)
{
	static const char *const names[] = { "no", "unknown", "yes", "preferred" };

	return names[level];
}

const char *
hy_origin_name(enum hy_origin origin)
{
	static const char *const names[] = { "declared", "probed", "observed", "overridden" };

	return names[origin];
}

const char *
hy_target_text(struct hy_target target, char *text, size_t size)
{
	if (target.kind == HY_TARGET_PORT)
		snprintf(text, size, "port %u", target.id);
	else
		snprintf(text, size, "process");
	return text;
}

static void __rte_format_printf(4, 5) cap_set(struct hy_capability *cap, enum hy_level level,
	uint64_t value, const char *reason, ...)
{
	va_list ap;

	cap->level = level;
	cap->origin = HY_ORIGIN_DECLARED;
	cap->value = value;
	va_start(ap, reason);
	vsnprintf(cap->reason, sizeof(cap->reason), reason, ap);
	va_end(ap);
}

/* Sets a capability that the CPU has if it has all of some flags. */
static void
cap_from_flags(struct hy_capability *cap, const enum rte_cpu_flag_t flags[], unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if (rte_cpu_get_flag_enabled(flags[i]) <= 0) {
			cap_set(cap, HY_LEVEL_NO, 0, "the CPU lacks %s",
				rte_cpu_get_flag_name(flags[i]));
			return;
		}
	}
	cap_set(cap, HY_LEVEL_YES, 0, "the CPU has it");
}

/* Raises EAL's vector width to the widest that the CPU has. EAL refuses where the user set it. */
static void
simd_width_raise(struct hy_capability *cap, uint16_t widest)
{
	const int rc = rte_vect_set_max_simd_bitwidth(widest);
	const uint16_t bits = rte_vect_get_max_simd_bitwidth();

	if (rc == -EPERM)
		cap_set(cap, HY_LEVEL_YES, bits, "limited by --force-max-simd-bitwidth=%u", bits);
	else if (rc < 0)
		cap_set(cap, HY_LEVEL_YES, bits, "EAL refuses %u bits: %s", widest, strerror(-rc));
	else
		cap_set(cap, HY_LEVEL_YES, bits, "the widest that the CPU has");
}

void
hy_hal_probe_process(struct hy_hal *hal)
{
	struct hy_capability *caps = hal->process;
	uint16_t widest = RTE_VECT_SIMD_128;

	for (int c = 0; c < HY_CAPS; c++)
		cap_set(&caps[c], HY_LEVEL_NO, 0,
			c < HY_CAP_RX_QUEUES ? "not on this CPU architecture"
					     : "a capability of ports, not of the process");
#if defined(RTE_ARCH_X86_64)
	static const enum rte_cpu_flag_t avx2[] = { RTE_CPUFLAG_AVX2 };
	static const enum rte_cpu_flag_t avx512[] = { RTE_CPUFLAG_AVX512F, RTE_CPUFLAG_AVX512BW,
		RTE_CPUFLAG_AVX512DQ, RTE_CPUFLAG_AVX512VL };

	cap_from_flags(&caps[HY_CAP_AVX2], avx2, RTE_DIM(avx2));
	cap_from_flags(&caps[HY_CAP_AVX512], avx512, RTE_DIM(avx512));
	if (caps[HY_CAP_AVX2].level == HY_LEVEL_YES)
		widest = RTE_VECT_SIMD_256;
	if (caps[HY_CAP_AVX512].level == HY_LEVEL_YES)
		widest = RTE_VECT_SIMD_512;
#elif defined(RTE_ARCH_ARM64)
	static const enum rte_cpu_flag_t neon[] = { RTE_CPUFLAG_NEON };

	cap_from_flags(&caps[HY_CAP_NEON], neon, RTE_DIM(neon));
	widest = rte_vect_get_max_simd_bitwidth();
#endif
	simd_width_raise(&caps[HY_CAP_SIMD_BITS], widest);
}

/*
 * Whether packet_type can be trusted to mean "IPv4 right behind the Ethernet header". A driver that
 * knows IPv4 but not VLAN may say IPv4 of a tagged frame, so both are asked for.
 */
static void
probe_ptypes(uint16_t port, struct hy_capability *cap)
{
	uint32_t ptypes[64];
	bool ip4 = false, vlan = false;
	const int n = rte_eth_dev_get_supported_ptypes(port, RTE_PTYPE_L2_MASK | RTE_PTYPE_L3_MASK,
		ptypes, RTE_DIM(ptypes));

	for (int i = 0; i < RTE_MIN(n, (int)RTE_DIM(ptypes)); i++) {
		ip4 |= RTE_ETH_IS_IPV4_HDR(ptypes[i]) != 0;
		vlan |= (ptypes[i] & RTE_PTYPE_L2_MASK) == RTE_PTYPE_L2_ETHER_VLAN;
	}
	if (n <= 0)
		cap_set(cap, HY_LEVEL_UNKNOWN, 0, "the driver names no packet types");
	else if (!ip4)
		cap_set(cap, HY_LEVEL_NO, 0, "the driver's packet types do not have IPv4");
	else if (!vlan)
		cap_set(cap, HY_LEVEL_NO, 0, "the driver's packet types do not tell VLAN tags");
	else
		cap_set(cap, HY_LEVEL_YES, 0, "the driver's packet types tell IPv4 and VLAN tags");
}

static void
probe_port(struct hy_hal_port *port, uint16_t id)
{
	struct rte_eth_dev_info info;

	const bool ignored = port->ignored;

	memset(port, 0, sizeof(*port));
	port->ignored = ignored;
	for (int c = 0; c < HY_CAPS; c++)
		cap_set(&port->caps[c], HY_LEVEL_NO, 0, "there is no such port");
	/* What another device owns (bonding, failsafe) is that device's. */
	if (ignored || rte_eth_find_next_owned_by(id, RTE_ETH_DEV_NO_OWNER) != id ||
		rte_eth_dev_info_get(id, &info) != 0)
		return;
	port->present = true;
	rte_eth_dev_get_name_by_port(id, port->name);
	snprintf(port->driver, sizeof(port->driver), "%s",
		info.driver_name == NULL ? "?" : info.driver_name);
	cap_set(&port->caps[HY_CAP_RX_QUEUES], HY_LEVEL_YES, info.max_rx_queues,
		"the driver's limit");
	cap_set(&port->caps[HY_CAP_TX_QUEUES], HY_LEVEL_YES, info.max_tx_queues,
		"the driver's limit");
	probe_ptypes(id, &port->caps[HY_CAP_RX_PTYPE_IP4]);
}

int
hy_hal_probe(struct hy_hal *hal)
{
	for (uint16_t id = 0; id < RTE_MAX_ETHPORTS; id++)
		probe_port(&hal->ports[id], id);
	return 0;
}

int
hy_hal_port_ignore(struct hy_hal *hal, uint16_t port)
{
	if (port >= RTE_MAX_ETHPORTS)
		return -EINVAL;
	hal->ports[port].ignored = true;
	probe_port(&hal->ports[port], port);
	return 0;
}

const struct hy_capability *
hy_hal_capability(const struct hy_hal *hal, struct hy_target target, enum hy_cap cap)
{
	static const struct hy_capability beyond = { .reason = "there is no such port" };

	if (target.kind != HY_TARGET_PORT || cap < HY_CAP_RX_QUEUES)
		return &hal->process[cap];
	return target.id < RTE_MAX_ETHPORTS ? &hal->ports[target.id].caps[cap] : &beyond;
}
