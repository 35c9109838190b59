/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What the machine can do: targets, and the capabilities that the HAL finds in them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <hy_graph.h>

HY_API_BEGIN

/** What a variant runs for. */
enum hy_target_kind {
	HY_TARGET_PROCESS,    /**< The CPU and the libraries. */
	HY_TARGET_PORT,       /**< One ethdev port. */
	HY_TARGET_EVENT,      /**< One event device. */
	HY_TARGET_CRYPTO,     /**< One crypto device. */
	HY_TARGET_REGEX,      /**< One regex device. */
	HY_TARGET_EVENT_PORT, /**< An event device and a port, as eth rx and tx adapters pair them. */
	HY_TARGET_EVENT_CRYPTO, /**< An event device and a crypto device, as crypto adapters do. */
	HY_TARGET_KINDS
};

/** One target. */
struct hy_target {
	enum hy_target_kind kind; /**< What it is. */
	uint16_t id;   /**< DPDK's device id; of a pair, its event device's; 0 for the process. */
	uint16_t peer; /**< Of a pair: id of the port or crypto device. Else 0. */
};

/**
 * The capabilities, by kind of target. A target also has the capabilities of the process, and a
 * pair those of both its devices.
 */
enum hy_cap {
	HY_CAP_NONE,

	/* The process. */
	HY_CAP_SIMD_BITS, /**< Value: vector width that EAL lets libraries use, in bits. */
	HY_CAP_AVX2,
	HY_CAP_AVX512, /**< F, BW, DQ and VL. */
	HY_CAP_NEON,

	/* A port. */
	HY_CAP_RX_QUEUES, /**< Value: receive queues that the port can have. */
	HY_CAP_TX_QUEUES, /**< Value: transmit queues that the port can have. */
	/** The port's packet_type distinguishes IPv4 from IPv4 after a VLAN tag. */
	HY_CAP_RX_PTYPE_IP4,
	HY_CAP_RX_CHECKSUM_IP4, /**< It can check IPv4 header checksums. */
	HY_CAP_RX_SCATTER,      /**< It can spread a frame over several buffers. */
	HY_CAP_TX_CHECKSUM_IP4, /**< It can fill in IPv4 header checksums. */
	HY_CAP_TX_SEGMENTS,     /**< It can send frames of several buffers. */
	/** It can free buffers of a single pool, with one reference each, without reading them. */
	HY_CAP_TX_FAST_FREE,
	HY_CAP_ANY_POOL,         /**< It takes buffers from pools with EAL's best mempool ops. */
	HY_CAP_RX_METADATA_MARK, /**< It delivers marks of flow rules with packets. */
	HY_CAP_FLOW_MARK,        /**< Flow rules can mark packets. Value: largest mark. */
	HY_CAP_FLOW_PRIORITY,    /**< Flow rules can have priorities. Value: their number. */
	HY_CAP_RUNNING,          /**< No event was seen that stops it: see hy_hal_live.h. */

	/* An event device. */
	HY_CAP_EVENT_QUEUES,      /**< Value: queues that it can have. */
	HY_CAP_EVENT_PORTS,       /**< Value: ports that it can have. */
	HY_CAP_EVENT_ATOMIC,      /**< Its queues can schedule atomic flows. */
	HY_CAP_EVENT_ORDERED,     /**< Its queues can restore the order of flows. */
	HY_CAP_EVENT_PARALLEL,    /**< Its queues can schedule without order. */
	HY_CAP_EVENT_ALL_TYPES,   /**< One queue takes events of all schedule types. */
	HY_CAP_EVENT_FLOW_ID,     /**< Dequeued events keep their flow id. */
	HY_CAP_EVENT_NO_SERVICE,  /**< It schedules without a service core. */
	HY_CAP_EVENT_RECONFIGURE, /**< It can be configured more than once. */

	/* An event device with a port. */
	HY_CAP_EVENT_RX_INTERNAL, /**< Packets reach the event device without a service core. */
	HY_CAP_EVENT_RX_VECTOR,   /**< They can arrive as vectors. Value: the longest. */
	HY_CAP_EVENT_RX_FLOW_ID,  /**< The program can set their flow id. */
	HY_CAP_EVENT_TX_INTERNAL, /**< Packets are sent without a service core. */
	HY_CAP_EVENT_TX_VECTOR,   /**< They can be sent as vectors. */

	/* A crypto device. */
	HY_CAP_CRYPTO_QPS,         /**< Value: queue pairs that it can have. */
	HY_CAP_CRYPTO_SYM,         /**< It has symmetric operations. */
	HY_CAP_CRYPTO_ASYM,        /**< It has asymmetric operations. */
	HY_CAP_CRYPTO_CHAIN,       /**< It can encrypt and authenticate in one operation. */
	HY_CAP_CRYPTO_SEGMENTS,    /**< It works in place on frames of several buffers. */
	HY_CAP_CRYPTO_IPSEC,       /**< It can process IPsec ESP by itself (rte_security). */
	HY_CAP_CRYPTO_AES_GCM,     /**< Value: longest key, in bits. */
	HY_CAP_CRYPTO_AES_CBC,     /**< Value: longest key, in bits. */
	HY_CAP_CRYPTO_AES_CTR,     /**< Value: longest key, in bits. */
	HY_CAP_CRYPTO_CHACHA20,    /**< ChaCha20-Poly1305. Value: longest key, in bits. */
	HY_CAP_CRYPTO_SHA1_HMAC,   /**< Value: longest digest, in bits. */
	HY_CAP_CRYPTO_SHA256_HMAC, /**< Value: longest digest, in bits. */

	/* An event device with a crypto device. */
	HY_CAP_EVENT_CRYPTO_NEW, /**< Results become new events without a service core. */
	HY_CAP_EVENT_CRYPTO_FWD, /**< Events become operations, and results events, without one. */
	HY_CAP_EVENT_CRYPTO_VECTOR, /**< Results can arrive as vectors. */

	/* A regex device. */
	HY_CAP_REGEX_QPS,     /**< Value: queue pairs that it can have. */
	HY_CAP_REGEX_PAYLOAD, /**< Value: bytes that it can scan at a time. */
	HY_CAP_REGEX_MATCHES, /**< Value: matches that it can report for a scan. */
	HY_CAP_REGEX_GROUPS,  /**< Value: groups of rules that it can have. */
	HY_CAP_REGEX_RULES,   /**< Value: rules that a group can have. */
	HY_CAPS
};

#define HY_CAPS_ADDED 32                      /**< Most capabilities that packs add. */
#define HY_CAPS_MAX (HY_CAPS + HY_CAPS_ADDED) /**< Limit of ids. */

/** Whether a target has a capability. In order: only HY_LEVEL_YES meets a need. */
enum hy_level { HY_LEVEL_NO, HY_LEVEL_UNKNOWN, HY_LEVEL_YES };

/** How a capability is known. */
enum hy_origin {
	HY_ORIGIN_DECLARED,   /**< From the driver, the CPU or the program. */
	HY_ORIGIN_PROBED,     /**< From a trial. */
	HY_ORIGIN_OBSERVED,   /**< From traffic. */
	HY_ORIGIN_OVERRIDDEN, /**< From the user. */
};

/** A capability of a target. */
struct hy_capability {
	enum hy_level level;       /**< Whether the target has it. */
	enum hy_origin origin;     /**< How this is known. */
	uint64_t value;            /**< A limit, if the capability has one. */
	char reason[HY_TEXT_SIZE]; /**< The reason, as text. */
};

/** A capability that a pack adds to those of enum hy_cap, by its key. */
struct hy_cap_desc {
	/** Its unique name, for needs (struct hy_need.key), inventory and overrides. */
	const char *key;
	enum hy_target_kind kind; /**< The kind of target that can have it. */
	const char *text;         /**< Its meaning, in one sentence; may be NULL. */
	/**
	 * Finds out whether a target has it. NULL: it is unknown until hy_hal_capability_set() or
	 * the user sets it. The control thread calls this for each target of the kind that
	 * hy_hal_create() or hy_hal_probe() finds, except ports that do not run.
	 *
	 * @param[in,out] cap Initially unknown, with origin HY_ORIGIN_DECLARED; set level, value and
	 * reason, and the origin if it is another one.
	 */
	void (*probe)(struct hy_target target, struct hy_capability *cap);
};

/**
 * Registers a capability. Called by HY_CAPABILITY (hy_node.h). An existing HAL probes it in its
 * next hy_hal_probe().
 *
 * @param desc Must stay valid while the process lives or its plugin is loaded.
 * @return 0; -EINVAL malformed key or kind; -EEXIST a capability has that name; -ENOSPC.
 */
int hy_cap_register(const struct hy_cap_desc *desc);

/**
 * @return The id of a capability; HY_CAP_NONE: no such name. Ids of capabilities that packs add are
 * valid until a plugin is loaded or unloaded.
 */
enum hy_cap hy_cap_find(const char *name);

/** @return The name of a capability, as in the inventory and in overrides. Never NULL. */
const char *hy_cap_name(enum hy_cap cap);

/** @return Whether a capability is one of this kind of target itself. */
bool hy_cap_concerns(enum hy_target_kind kind, enum hy_cap cap);

HY_API_END
