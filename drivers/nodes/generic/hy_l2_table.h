/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Forwarding table of a bridge: MAC address and VLAN to port.
 *
 * Workers look up bursts of keys without a lock, as hy_l2_view.h says. Other threads change the table
 * and read it with the functions that take a struct hy_l2_table; these take a mutex. Between two of
 * them, one thread may run others: no call but hy_l2_add() waits for workers. The table has no clock of
 * its own: hy_l2_age() tells it the time, in seconds, and entries are stamped with the last time told.
 *
 * All memory is reserved at creation (hy_l2_table_bytes()). An entry whose bucket is full goes to an
 * rte_hash. So once workers have left the slots of deleted entries, no key is refused before the table
 * has as many entries as it was created for, unless its port has as many as its limit.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <hy_api.h>
#include <hy_l2_view.h>

HY_API_BEGIN

struct rte_rcu_qsbr;

struct hy_l2_table;

#define HY_L2_ENTRIES_MAX (1u << 24) /**< Most entries that a table can be created for. */
#define HY_L2_PORTS 4096             /**< Most ports. */
#define HY_L2_ANY UINT16_MAX         /**< In place of a port or VLAN: all of them. */

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

/** @return Entries of a port that hy_l2_age() has deleted; 0: no such port. */
uint64_t hy_l2_port_aged(struct hy_l2_table *table, uint16_t port);

/** @return Entries of a VLAN that hy_l2_age() has deleted; 0: no such VLAN. */
uint64_t hy_l2_vlan_aged(struct hy_l2_table *table, uint16_t vid);

HY_API_END
