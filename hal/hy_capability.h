/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * What the box can do: targets, and the capabilities that the HAL finds in them.
 */
#ifndef HY_CAPABILITY_H
#define HY_CAPABILITY_H

#include <stdbool.h>
#include <stdint.h>

#include <hy_graph.h>

#ifdef __cplusplus
extern "C" {
#endif

#pragma GCC visibility push(default)

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
 * What a target may be able to do, kind by kind. A target has the process's capabilities too, and
 * a pair those of both its devices.
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
	/** The port's packet_type tells IPv4 from IPv4 behind a VLAN tag. */
	HY_CAP_RX_PTYPE_IP4,
	HY_CAP_RX_CHECKSUM_IP4, /**< It can check IPv4 header checksums. */
	HY_CAP_RX_SCATTER,      /**< It can spread a frame over several buffers. */
	HY_CAP_TX_CHECKSUM_IP4, /**< It can fill in IPv4 header checksums. */
	HY_CAP_TX_SEGMENTS,     /**< It can send frames of several buffers. */
	/** It can free buffers of one pool, with one reference each, without looking at them. */
	HY_CAP_TX_FAST_FREE,
	HY_CAP_ANY_POOL,         /**< It takes buffers from pools with EAL's best mempool ops. */
	HY_CAP_RX_METADATA_MARK, /**< It hands on marks of flow rules with its packets. */
	HY_CAP_FLOW_MARK,        /**< Flow rules can mark packets. Value: largest mark. */
	HY_CAP_FLOW_PRIORITY,    /**< Flow rules can have priorities. Value: how many. */
	HY_CAP_RUNNING, /**< Nothing was heard that keeps it from running: see hy_hal_live.h. */

	/* An event device. */
	HY_CAP_EVENT_QUEUES,      /**< Value: queues that it can have. */
	HY_CAP_EVENT_PORTS,       /**< Value: ports that it can have. */
	HY_CAP_EVENT_ATOMIC,      /**< Its queues can schedule atomic flows. */
	HY_CAP_EVENT_ORDERED,     /**< Its queues can put flows back in order. */
	HY_CAP_EVENT_PARALLEL,    /**< Its queues can schedule without order. */
	HY_CAP_EVENT_ALL_TYPES,   /**< One queue takes events of all schedule types. */
	HY_CAP_EVENT_FLOW_ID,     /**< What it hands out has the flow id that it was given. */
	HY_CAP_EVENT_NO_SERVICE,  /**< It schedules without a service core. */
	HY_CAP_EVENT_RECONFIGURE, /**< It can be configured more than once. */

	/* An event device with a port. */
	HY_CAP_EVENT_RX_INTERNAL, /**< Packets reach the event device without a service core. */
	HY_CAP_EVENT_RX_VECTOR,   /**< They can come as vectors. Value: the longest. */
	HY_CAP_EVENT_RX_FLOW_ID,  /**< They can be given a flow id of the program's. */
	HY_CAP_EVENT_TX_INTERNAL, /**< Packets are sent without a service core. */
	HY_CAP_EVENT_TX_VECTOR,   /**< They can be sent as vectors. */

	/* A crypto device. */
	HY_CAP_CRYPTO_QPS,         /**< Value: queue pairs that it can have. */
	HY_CAP_CRYPTO_SYM,         /**< It has symmetric operations. */
	HY_CAP_CRYPTO_ASYM,        /**< It has asymmetric operations. */
	HY_CAP_CRYPTO_CHAIN,       /**< It can encrypt and authenticate in one operation. */
	HY_CAP_CRYPTO_SEGMENTS,    /**< It works in place on frames of several buffers. */
	HY_CAP_CRYPTO_IPSEC,       /**< It can do IPsec's ESP by itself (rte_security). */
	HY_CAP_CRYPTO_AES_GCM,     /**< Value: longest key, in bits. */
	HY_CAP_CRYPTO_AES_CBC,     /**< Value: longest key, in bits. */
	HY_CAP_CRYPTO_AES_CTR,     /**< Value: longest key, in bits. */
	HY_CAP_CRYPTO_CHACHA20,    /**< ChaCha20-Poly1305. Value: longest key, in bits. */
	HY_CAP_CRYPTO_SHA1_HMAC,   /**< Value: longest digest, in bits. */
	HY_CAP_CRYPTO_SHA256_HMAC, /**< Value: longest digest, in bits. */

	/* An event device with a crypto device. */
	HY_CAP_EVENT_CRYPTO_NEW,    /**< Results become new events without a service core. */
	HY_CAP_EVENT_CRYPTO_FWD,    /**< Events become operations, and events, without one. */
	HY_CAP_EVENT_CRYPTO_VECTOR, /**< Results can come as vectors. */

	/* A regex device. */
	HY_CAP_REGEX_QPS,     /**< Value: queue pairs that it can have. */
	HY_CAP_REGEX_PAYLOAD, /**< Value: bytes that it can scan at a time. */
	HY_CAP_REGEX_MATCHES, /**< Value: matches that it can report for a scan. */
	HY_CAP_REGEX_GROUPS,  /**< Value: groups of rules that it can have. */
	HY_CAP_REGEX_RULES,   /**< Value: rules that a group can have. */
	HY_CAPS
};

#define HY_CAPS_ADDED 32                      /**< Most capabilities that packs add. */
#define HY_CAPS_MAX (HY_CAPS + HY_CAPS_ADDED) /**< Ids are less. */

/** How sure it is. In order: a need is met by HY_LEVEL_YES. */
enum hy_level { HY_LEVEL_NO, HY_LEVEL_UNKNOWN, HY_LEVEL_YES };

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

/** A capability that a pack adds to those of enum hy_cap, by its key. */
struct hy_cap_desc {
	/** Its name, as needs (struct hy_need.key), inventory and overrides have it; unique. */
	const char *key;
	enum hy_target_kind kind; /**< Of which targets it is one. */
	const char *text;         /**< What it means, in a sentence; may be NULL. */
	/**
	 * Finds out whether a target has it; may be NULL: then it is unknown, until
	 * hy_hal_capability_set() or the user says more. Called by the control thread, for each
	 * target of the kind that hy_hal_create() or hy_hal_probe() finds, but for ports that do not
	 * run.
	 *
	 * @param[in,out] cap Unknown; to be filled in with level, value and reason.
	 */
	void (*probe)(struct hy_target target, struct hy_capability *cap);
};

/**
 * Registers a capability. Called by HY_CAPABILITY (hy_node.h). A HAL that exists takes it up at its
 * next hy_hal_probe().
 *
 * @param desc Must stay valid while the process lives or its plugin is loaded.
 * @return 0; -EINVAL malformed key or kind; -EEXIST a capability has that name; -ENOSPC.
 */
int hy_cap_register(const struct hy_cap_desc *desc);

/** @return The id of a capability by its name; HY_CAP_NONE: there is none. Ids of those that packs
 * add are valid until a plugin is loaded or unloaded. */
enum hy_cap hy_cap_find(const char *name);

/** @return Its name, as inventory and needs print it and overrides take it. Never NULL. */
const char *hy_cap_name(enum hy_cap cap);

/** @return Whether a capability is one of that kind of target itself. */
bool hy_cap_concerns(enum hy_target_kind kind, enum hy_cap cap);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
