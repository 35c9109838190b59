/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * How a node reads a bridge's forwarding table (hy_l2_table.h) without a lock while it changes.
 *
 * A kernel (hy_l2_find_scalar() or a faster one) finds the slots of a burst's keys, and hy_l2_ports() or
 * hy_l2_sources() reads what the slots hold. Slots are valid until the end of the walk, when the graph
 * reports to the table's QSBR variable. A slot is used for another key only after that, so a worker never
 * pairs a key with another key's port. All functions are for workers.
 */
#pragma once

#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_prefetch.h>

#include <hy_api.h>
#include <hy_plugin.h>

HY_API_BEGIN

struct rte_hash;

#define HY_L2_VIDS 4096   /**< Numbers of VLANs, all of them allowed here. */
#define HY_L2_MISS 0x7fff /**< In place of a port: no entry. */

/** Bit that each key has, so that none is 0. */
#define HY_L2_KEY (UINT64_C(1) << 63)
/** Bits of a key that are the MAC address: its first byte is the lowest. */
#define HY_L2_KEY_MAC ((UINT64_C(1) << 48) - 1)
/** Number of the lowest bit of a key's VLAN, which has 12. */
#define HY_L2_KEY_VID 48

/**
 * Makes a key from a frame.
 *
 * @param mac A MAC address as on the wire, with two more readable bytes behind it: in an Ethernet
 * header, either address.
 * @param vid VLAN, 0 to 4095.
 */
static inline uint64_t
hy_l2_key_load(const void *mac, uint16_t vid)
{
	uint64_t word;

	memcpy(&word, mac, sizeof(word));
	return (rte_le_to_cpu_64(word) & HY_L2_KEY_MAC) | (uint64_t)vid << HY_L2_KEY_VID |
		HY_L2_KEY;
}

/** As hy_l2_key_load(), of an address of 6 bytes. */
static inline uint64_t
hy_l2_key(const uint8_t mac[6], uint16_t vid)
{
	uint8_t bytes[8] = { 0 };

	memcpy(bytes, mac, 6);
	return hy_l2_key_load(bytes, vid);
}

/** Writes the MAC address of a key, as on the wire. @return Its VLAN. */
static inline uint16_t
hy_l2_key_split(uint64_t key, uint8_t mac[6])
{
	const uint64_t word = rte_cpu_to_le_64(key);

	memcpy(mac, &word, 6);
	return (uint16_t)(key >> HY_L2_KEY_VID & (HY_L2_VIDS - 1));
}

#define HY_L2_WAYS 8            /**< Slots of a bucket, whose keys fill a cache line. */
#define HY_L2_STATIC (1u << 15) /**< Bit of a value: the entry is static. */

/**
 * What workers read of a table. Its members never change after creation, but what they point to and
 * the clock do. Workers read these with the functions below.
 */
struct hy_l2_view {
	/**
	 * Buckets of HY_L2_WAYS words: keys, or words without HY_L2_KEY, in no order. A bucket whose
	 * last word is 0 has no entries in the overflow. Each word is loaded at once.
	 */
	const uint64_t *words;
	/** By slot: the port, and HY_L2_STATIC. Slot HY_L2_WAYS * b + i is word i of bucket b. */
	const uint16_t *values;
	uint32_t *seen;                  /**< By slot: the clock when it was used last. */
	uint64_t seed[2];                /**< Of hy_l2_bucket(). */
	uint32_t mask;                   /**< The first slot of the last bucket. */
	uint32_t none;                   /**< The slot of a key that has none. */
	uint32_t overflow_base;          /**< Slot of position 0 of the overflow. */
	uint32_t clock;                  /**< In seconds. */
	const struct rte_hash *overflow; /**< Keys whose buckets were full. */
};

/**
 * One multiplication would spread keys in a row evenly with most seeds, and leave most buckets empty
 * with some. VLANs in a row differ only in bits that a product has in its highest, so these are folded
 * onto others first.
 *
 * @return The first slot of a key's bucket.
 */
static __rte_always_inline uint32_t
hy_l2_bucket(const struct hy_l2_view *view, uint64_t key)
{
	const uint64_t mixed = key ^ view->seed[0];
	const uint64_t hash = (mixed ^ mixed >> 32) * view->seed[1];

	return (uint32_t)((hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15) >> 36) & view->mask;
}

/**
 * A kernel: finds the slots of keys.
 *
 * @param key @p n keys, of hy_l2_key_load() or hy_l2_key().
 * @param[out] slot By key: its slot, or hy_l2_view.none.
 * @param n 1 to HY_BURST_MAX.
 */
typedef void(hy_l2_find_t)(const struct hy_l2_view *view, const uint64_t key[], uint32_t slot[],
	uint32_t n);

/** The kernel that runs on every CPU, with which all others agree. */
hy_l2_find_t hy_l2_find_scalar;

/**
 * Reads ports of slots.
 *
 * @param slot @p n slots that a kernel found in this walk.
 * @param[out] port By slot: its port, or HY_L2_MISS.
 */
static inline void
hy_l2_ports(const struct hy_l2_view *view, const uint32_t slot[], uint16_t port[], uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		port[i] = __atomic_load_n(&view->values[slot[i]], __ATOMIC_RELAXED) & HY_L2_MISS;
}

/** What a worker learns of the source of a frame. */
enum hy_l2_verdict {
	HY_L2_SOURCE_KNOWN, /**< The entry has this port. It is stamped with the clock. */
	HY_L2_SOURCE_NEW,   /**< No entry: to be learned. */
	HY_L2_SOURCE_MOVED, /**< The entry has another port: to be learned. */
	HY_L2_SOURCE_FIXED, /**< The entry is static and has another port. */
};

/**
 * Compares the ports of slots with those that frames came from, and stamps entries that are used.
 * A stamp is stored only if it changes, once a second for each entry.
 *
 * @param slot @p n slots that a kernel found in this walk, for keys of source addresses.
 * @param port @p n ports, below the table's number of ports.
 * @param[out] verdict By frame, an enum hy_l2_verdict.
 * @return How many are not HY_L2_SOURCE_KNOWN.
 */
static inline uint32_t
hy_l2_sources(const struct hy_l2_view *view, const uint32_t slot[], const uint16_t port[],
	uint8_t verdict[], uint32_t n)
{
	const uint32_t clock = __atomic_load_n(&view->clock, __ATOMIC_RELAXED);
	uint32_t unknown = 0;

	for (uint32_t i = 0; i < n; i++)
		rte_prefetch0(&view->seen[slot[i]]);
	for (uint32_t i = 0; i < n; i++) {
		const uint16_t value = __atomic_load_n(&view->values[slot[i]], __ATOMIC_RELAXED);
		uint32_t *seen = &view->seen[slot[i]];

		verdict[i] = HY_L2_SOURCE_KNOWN;
		if (likely((value & HY_L2_MISS) == port[i])) {
			if (__atomic_load_n(seen, __ATOMIC_RELAXED) != clock)
				__atomic_store_n(seen, clock, __ATOMIC_RELAXED);
			continue;
		}
		if ((value & HY_L2_MISS) == HY_L2_MISS)
			verdict[i] = HY_L2_SOURCE_NEW;
		else
			verdict[i] = (value & HY_L2_STATIC) != 0 ? HY_L2_SOURCE_FIXED
								 : HY_L2_SOURCE_MOVED;
		unknown++;
	}
	return unknown;
}

/** @cond What plugins compile from this header: see HY_PLUGIN_NUMBERS(). */
#define HY_L2_VIEW_NUMBERS \
	HY_PLUGIN_SIZE(struct hy_l2_view), HY_PLUGIN_OFFSET(hy_l2_view, values), \
		HY_PLUGIN_OFFSET(hy_l2_view, seen), HY_PLUGIN_OFFSET(hy_l2_view, seed), \
		HY_PLUGIN_OFFSET(hy_l2_view, mask), HY_PLUGIN_OFFSET(hy_l2_view, none), \
		HY_PLUGIN_OFFSET(hy_l2_view, clock), HY_PLUGIN_COUNT(HY_L2_WAYS)

HY_PLUGIN_NUMBERS(l2_view, HY_L2_VIEW_NUMBERS);
/** @endcond */

HY_API_END
