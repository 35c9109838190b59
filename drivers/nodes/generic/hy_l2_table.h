/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Forwarding table of a bridge: MAC address and VLAN to port.
 *
 * Workers look up bursts of keys without a lock: a kernel (hy_l2_find_scalar() or a faster one) finds
 * the slots of the keys, and hy_l2_ports() or hy_l2_sources() reads what the slots hold. Slots are valid
 * until the end of the walk, when the graph reports to the table's QSBR variable. A slot is used for
 * another key only after that, so a worker never pairs a key with another key's port.
 *
 * Other threads than workers change the table and read it with the functions that take a struct
 * hy_l2_table; these take a mutex. Between two of them, one thread may run others: no call but
 * hy_l2_add() waits for workers. The table has no clock of its own: hy_l2_age() tells it the time, in
 * seconds, and entries are stamped with the last time told.
 *
 * All memory is reserved at creation (hy_l2_table_bytes()). An entry whose bucket is full goes to an
 * rte_hash. So once workers have left the slots of deleted entries, no key is refused before the table
 * has as many entries as it was created for, unless its port has as many as its limit.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_common.h>
#include <rte_prefetch.h>

#include <hy_api.h>
#include <hy_plugin.h>

HY_API_BEGIN

struct rte_hash;
struct rte_rcu_qsbr;

struct hy_l2_table;

#define HY_L2_ENTRIES_MAX (1u << 24) /**< Most entries that a table can be created for. */
#define HY_L2_PORTS 4096             /**< Most ports. */
#define HY_L2_VIDS 4096              /**< Numbers of VLANs, all of them allowed here. */
#define HY_L2_ANY UINT16_MAX         /**< In place of a port or VLAN: all of them. */
#define HY_L2_MISS 0x7fff            /**< In place of a port: no entry. */

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

/* What workers read. */

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
 * @return How many are HY_L2_SOURCE_NEW or HY_L2_SOURCE_MOVED.
 */
static inline uint32_t
hy_l2_sources(const struct hy_l2_view *view, const uint32_t slot[], const uint16_t port[],
	uint8_t verdict[], uint32_t n)
{
	const uint32_t clock = __atomic_load_n(&view->clock, __ATOMIC_RELAXED);
	uint32_t to_learn = 0;

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
		to_learn += verdict[i] != HY_L2_SOURCE_FIXED;
	}
	return to_learn;
}

/* What other threads do. */

/** Parameters of a table. */
struct hy_l2_table_params {
	uint32_t max_entries;  /**< 1 to HY_L2_ENTRIES_MAX. */
	uint32_t max_per_port; /**< Learned entries of a port; 0: no limit of its own. */
	uint16_t nb_ports;     /**< 1 to HY_L2_PORTS: ports are numbered from 0. */
	int socket;            /**< NUMA node, or SOCKET_ID_ANY. */
	struct rte_rcu_qsbr
		*qsbr; /**< That workers report to; NULL: none reads while it changes. */
	uint64_t seed; /**< Of the hash; 0: a random one. Senders should not know it. */
};

/**
 * Creates an empty table, whose clock is 0. Control thread.
 *
 * @param[out] table Freed by hy_l2_table_destroy().
 * @return 0; -EINVAL (logged) a parameter is out of range; -ENOMEM.
 */
int hy_l2_table_create(const struct hy_l2_table_params *params, struct hy_l2_table **table);

/** Frees a table. No worker may use it any more. NULL is allowed. */
void hy_l2_table_destroy(struct hy_l2_table *table);

/** @return Bytes that a table takes, its rte_hash included; 0: wrong parameters. Any thread. */
size_t hy_l2_table_bytes(const struct hy_l2_table_params *params);

/** @return What workers read, valid as long as the table. Any thread. */
const struct hy_l2_view *hy_l2_table_view(const struct hy_l2_table *table);

/** @return The variable that graphs with the table must report to, or NULL. Any thread. */
struct rte_rcu_qsbr *hy_l2_table_qsbr(const struct hy_l2_table *table);

/**
 * Limits the learned entries of a port. Entries above a lower limit stay.
 *
 * @param max 0: no limit of its own.
 * @return 0; -EINVAL no such port.
 */
int hy_l2_port_limit(struct hy_l2_table *table, uint16_t port, uint32_t max);

/** A source to be learned. 16 bytes, for rings of such elements. */
struct hy_l2_source {
	uint64_t key;  /**< Of hy_l2_key_load() or hy_l2_key(). */
	uint16_t port; /**< From which the frame came. */
};

/** What became of a source. */
enum hy_l2_outcome {
	HY_L2_LEARNED,         /**< It has an entry now. */
	HY_L2_REFRESHED,       /**< It had an entry of this port, which is now stamped. */
	HY_L2_MOVED,           /**< Its entry has this port now. */
	HY_L2_REFUSED_LIMIT,   /**< The table has max_entries. */
	HY_L2_REFUSED_PORT,    /**< The port has as many as its limit. The entry does not move. */
	HY_L2_REFUSED_STATIC,  /**< It has a static entry of another port. */
	HY_L2_REFUSED_ROOM,    /**< Free slots, or what they need, wait until workers leave them. */
	HY_L2_REFUSED_INVALID, /**< No such port, a group address, or no key. */
	HY_L2_OUTCOMES,        /**< Their number. */
};

/**
 * Learns sources. Waits for other calls that hold the mutex, but not for workers. The longest of these is
 * hy_l2_flush(), which reads the whole table.
 *
 * @param source @p n sources; later ones are judged by what became of earlier ones.
 * @param[out] outcome By source, an enum hy_l2_outcome.
 */
void hy_l2_learn(struct hy_l2_table *table, const struct hy_l2_source source[], uint8_t outcome[],
	uint32_t n);

/**
 * Adds a static entry, which neither moves nor ages. A learned one becomes static, a static one gets
 * this port. The address may be that of a group.
 *
 * Waits up to a second in all for workers, if all free slots wait for them.
 *
 * @return 0; -EINVAL no such port, or no key; -ENOSPC the table has max_entries; -ETIMEDOUT no slot was
 * free within this second, most likely because a worker did not report.
 */
int hy_l2_add(struct hy_l2_table *table, uint64_t key, uint16_t port);

/** Deletes an entry of either kind. @return 0; -ENOENT no such entry. */
int hy_l2_delete(struct hy_l2_table *table, uint64_t key);

/**
 * Sets the clock, and deletes learned entries that were not used for long. A sweep goes through the
 * table bucket by bucket, and each call continues it.
 *
 * A stamp is the time told last before the use. So that no entry is deleted too early, age is what lay
 * between the stamp and the time told before @p now. If it is told at regular intervals, entries are
 * deleted that were not used for age seconds, and at the latest once they were not for age and an interval.
 * A use within a longer interval than the last one counts as one at its beginning.
 *
 * @param now Seconds since any moment; never lower than before. The clock may wrap.
 * @param age Seconds without use after which entries are deleted, up to INT32_MAX; 0: none is.
 * @param buckets Number of buckets to look at; hy_l2_buckets() or more: a whole sweep.
 * @return Number of deleted entries.
 */
uint32_t hy_l2_age(struct hy_l2_table *table, uint32_t now, uint32_t age, uint32_t buckets);

/** @return Buckets that hy_l2_age() looks at in a whole sweep. */
uint32_t hy_l2_buckets(const struct hy_l2_table *table);

/**
 * Deletes the entries of a port, a VLAN or both: in one call, which reads the whole table.
 *
 * @param port HY_L2_ANY: of all ports.
 * @param vid HY_L2_ANY: of all VLANs.
 * @param also_static Static entries too.
 * @return Number of deleted entries.
 */
uint32_t hy_l2_flush(struct hy_l2_table *table, uint16_t port, uint16_t vid, bool also_static);

/** An entry. */
struct hy_l2_entry {
	uint64_t key;   /**< See hy_l2_key_split(). */
	uint32_t idle;  /**< Seconds from the time told before its last use to that told last. */
	uint16_t port;  /**< Where its frames go. */
	bool is_static; /**< It was added, not learned. */
};

/** Reads an entry. @return 0; -ENOENT no such entry. */
int hy_l2_get(struct hy_l2_table *table, uint64_t key, struct hy_l2_entry *entry);

#define HY_L2_END UINT32_MAX /**< A cursor behind the last entry. */

/**
 * Reads entries, in no order. The table may change between calls: an entry that is there from the first
 * call to the last is read once; others are read once or not at all, unless they are deleted and
 * learned again.
 *
 * @param[in,out] cursor 0 in the first call; HY_L2_END after the last entry.
 * @param[out] entries Room for @p n.
 * @return Number of entries read, fewer than @p n only at the end.
 */
uint32_t hy_l2_dump(struct hy_l2_table *table, uint32_t *cursor, struct hy_l2_entry *entries,
	uint32_t n);

/** Counts of a table. entries = learned + added - aged - deleted. */
struct hy_l2_stats {
	uint32_t entries;        /**< Now. */
	uint32_t static_entries; /**< Of them. */
	uint32_t overflowed;     /**< Of entries: those in the overflow. */
	uint64_t added;          /**< By hy_l2_add(), without those that were learned before. */
	uint64_t aged;           /**< Deleted by hy_l2_age(). */
	uint64_t deleted;        /**< By hy_l2_delete() and hy_l2_flush(). */
	uint64_t flapped; /**< Moves at most one second of the clock after the move before. */
	uint64_t learn[HY_L2_OUTCOMES]; /**< By outcome of hy_l2_learn(). */
};

/** Reads the counts of a table. */
void hy_l2_stats(struct hy_l2_table *table, struct hy_l2_stats *stats);

/** @return Entries of a port, static ones included; 0: no such port. */
uint32_t hy_l2_port_entries(struct hy_l2_table *table, uint16_t port);

/** @return Entries of a VLAN; 0: no such VLAN. */
uint32_t hy_l2_vlan_entries(struct hy_l2_table *table, uint16_t vid);

/** @cond What plugins compile from this header: see HY_PLUGIN_NUMBERS(). */
#define HY_L2_TABLE_NUMBERS \
	HY_PLUGIN_SIZE(struct hy_l2_view), HY_PLUGIN_OFFSET(hy_l2_view, values), \
		HY_PLUGIN_OFFSET(hy_l2_view, seen), HY_PLUGIN_OFFSET(hy_l2_view, seed), \
		HY_PLUGIN_OFFSET(hy_l2_view, mask), HY_PLUGIN_OFFSET(hy_l2_view, none), \
		HY_PLUGIN_OFFSET(hy_l2_view, clock), HY_PLUGIN_COUNT(HY_L2_WAYS)

HY_PLUGIN_NUMBERS(l2_table, HY_L2_TABLE_NUMBERS);
/** @endcond */

HY_API_END
