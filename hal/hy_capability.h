/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What the box can do: targets, and the capabilities that the HAL finds in them.
 */
#ifndef HY_CAPABILITY_H
#define HY_CAPABILITY_H

#include <stdint.h>

#include <hy_graph.h>

/** What a variant runs for. */
enum hy_target_kind {
	HY_TARGET_PROCESS, /**< The CPU and the libraries. */
	HY_TARGET_PORT,    /**< One ethdev port. */
};

/** One target. */
struct hy_target {
	enum hy_target_kind kind; /**< Process or port. */
	uint16_t id;              /**< ethdev port id; 0 for the process. */
};

/** What a target may be able to do. The first group belongs to the process, the second to ports. */
enum hy_cap {
	HY_CAP_NONE,
	HY_CAP_SIMD_BITS, /**< Vector width that EAL lets libraries use, in bits. */
	HY_CAP_AVX2,
	HY_CAP_AVX512, /**< F, BW, DQ and VL. */
	HY_CAP_NEON,

	HY_CAP_RX_QUEUES, /**< Value: receive queues that the port can have. */
	HY_CAP_TX_QUEUES, /**< Value: transmit queues that the port can have. */
	/** The port's packet_type tells IPv4 from IPv4 behind a VLAN tag. */
	HY_CAP_RX_PTYPE_IP4,
	HY_CAPS
};

/** How sure it is. In order: a need is met from HY_LEVEL_YES on. */
enum hy_level { HY_LEVEL_NO, HY_LEVEL_UNKNOWN, HY_LEVEL_YES, HY_LEVEL_PREFERRED };

/** How it is known. */
enum hy_origin {
	HY_ORIGIN_DECLARED,   /**< The driver, the CPU or the program says so. */
	HY_ORIGIN_PROBED,     /**< It was tried. */
	HY_ORIGIN_OBSERVED,   /**< Traffic showed it. */
	HY_ORIGIN_OVERRIDDEN, /**< The user says so. */
};

/** A capability of a target. */
struct hy_capability {
	enum hy_level level;       /**< Whether the target has it. */
	enum hy_origin origin;     /**< Who says so. */
	uint64_t value;            /**< A limit, where the capability has one. */
	char reason[HY_TEXT_SIZE]; /**< Why, in words. */
};

#endif
