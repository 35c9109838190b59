/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * A cache of flows: megaflows, each a key under a mask with an action, in a hash table for each port
 * and mask. Workers look packets up without a lock (hy_flows_worker.h); one may change flows meanwhile.
 *
 * A megaflow stands for what rules say of all packets that are the same in the bits of its mask. Two
 * megaflows that match the same packet must have the same action: which of them is found is not
 * defined.
 *
 * Any thread except workers may call the functions below, which take the cache's mutex. Times are in
 * milliseconds of the program's clock, which may wrap around. Functions return 0 or a negative errno,
 * and on an error have changed nothing.
 */
#pragma once

#include <stddef.h>

#include <hy_flows_key.h>

HY_API_BEGIN

struct hy_flows;
struct rte_rcu_qsbr;

#define HY_FLOWS_MOST (1u << 24)   /**< Most megaflows of a cache. */
#define HY_FLOWS_MASKS_MOST 16384u /**< Most masks, counted once for each port. */
#define HY_FLOWS_ANY UINT16_MAX    /**< In place of a port: all. */
#define HY_FLOWS_END UINT32_MAX    /**< Cursor of hy_flows_dump() after the last megaflow. */

/** Parameters of a cache. */
struct hy_flows_params {
	uint32_t max_flows;      /**< Megaflows, 1 to HY_FLOWS_MOST. */
	uint32_t max_masks;      /**< Masks of all ports, 1 to HY_FLOWS_MASKS_MOST. */
	uint32_t max_port_masks; /**< Masks of one port, at least 1. */
	/**
	 * From seven eighths of max_flows on, megaflows that have an idle time and were not used for so
	 * long are deleted: milliseconds, at least 1.
	 */
	uint32_t pressed_idle;
	unsigned int workers; /**< Workers have lower numbers; at least 1. */
	int socket;           /**< NUMA node, or SOCKET_ID_ANY. */
	bool tunnels;         /**< Keys are made with HY_FLOWS_PARSE_TUNNEL. */
	/**
	 * Workers have caches only from hy_flows_worker_begin() to hy_flows_worker_end(); otherwise all
	 * always have.
	 */
	bool workers_begin;
	/**
	 * The QSBR variable to which all workers report. Must outlive the cache. NULL: workers and
	 * changes are on one thread.
	 */
	struct rte_rcu_qsbr *qsbr;
	uint64_t seed; /**< Of the hashes, for tests; 0: random. */
};

/** A megaflow. */
struct hy_flows_flow {
	struct hy_flows_key key;  /**< Bits that are not in the mask are ignored. */
	struct hy_flows_key mask; /**< All bits of the port are taken to be in it. */
	uint32_t action;          /**< The program's, not interpreted. */
	uint32_t idle;            /**< Deleted when not used for so long; 0: never. */
	uint32_t hard;            /**< Deleted after so long; 0: never. */
};

/**
 * Identifies an installed megaflow. It is never reused: when the megaflow is deleted, it identifies nothing.
 * It allows megaflows to be remembered elsewhere, for example by marks of a NIC.
 */
struct hy_flows_ref {
	uint64_t tag;  /**< Which one, of all that were in that place; 0: none. */
	uint32_t slot; /**< Its place. */
};

/** A megaflow that is installed. */
struct hy_flows_entry {
	struct hy_flows_ref ref;   /**< Its name. */
	struct hy_flows_flow flow; /**< The key is 0 where the mask is. */
	uint64_t packets;          /**< That hy_flows_count() counted since it was added. */
	uint64_t bytes;            /**< Likewise. */
	uint32_t age;              /**< Time since it was added. */
	uint32_t unused;           /**< Time since it was used last, or added. */
};

/** What a cache has counted since it was created. */
struct hy_flows_stats {
	uint32_t flows;         /**< Megaflows at present. */
	uint32_t masks;         /**< Masks at present, once for each port. */
	uint64_t added;         /**< Megaflows. */
	uint64_t modified;      /**< Times that an action was replaced. */
	uint64_t deleted;       /**< By hy_flows_delete() and hy_flows_flush(). */
	uint64_t idled;         /**< Deleted after their idle time. */
	uint64_t evicted;       /**< Deleted after pressed_idle. */
	uint64_t ended;         /**< Deleted after their hard time. */
	uint64_t refused_flows; /**< Not added: max_flows, or all freed ones may still be in use. */
	uint64_t refused_masks; /**< Not added: max_masks or max_port_masks. */
};

/**
 * Creates a cache without megaflows.
 *
 * @return 0; -EINVAL (logged); -ENOMEM.
 */
int hy_flows_create(const struct hy_flows_params *params, struct hy_flows **flows);

/** Frees a cache. No worker may use it any more. NULL is allowed. */
void hy_flows_destroy(struct hy_flows *flows);

/**
 * @return Bytes that hy_flows_create() takes; 0: the parameters are wrong. Besides, a mask takes up
 * to 1.25 KiB, and a megaflow up to 80 bytes in its mask's table.
 */
size_t hy_flows_bytes(const struct hy_flows_params *params);

/**
 * Adds a megaflow. Workers find it from their next burst.
 *
 * @return 0; -EINVAL its port is not less than RTE_MAX_ETHPORTS; -EEXIST there is one with its key and
 * mask; -ENOSPC one more would exceed max_flows, max_masks or max_port_masks; -EAGAIN workers have not
 * yet left deleted ones; -ENOMEM.
 */
int hy_flows_add(struct hy_flows *flows, const struct hy_flows_flow *flow);

/**
 * Replaces the action and the times of a megaflow; it keeps its counts and its age. A packet meets the
 * old action or the new one; with the new one, what the caller has written before. @return 0; -ENOENT.
 */
int hy_flows_modify(struct hy_flows *flows, const struct hy_flows_flow *flow);

/**
 * Deletes the megaflow with a key and mask. Workers that have reported since do not use it.
 *
 * @return 0; -ENOENT.
 */
int hy_flows_delete(struct hy_flows *flows, const struct hy_flows_key *key,
	const struct hy_flows_key *mask);

/** Deletes all megaflows of a port, or of all (HY_FLOWS_ANY). @return Their number. */
uint32_t hy_flows_flush(struct hy_flows *flows, uint16_t port);

/** Reads a megaflow. @return 0; -ENOENT. */
int hy_flows_get(struct hy_flows *flows, const struct hy_flows_key *key,
	const struct hy_flows_key *mask, struct hy_flows_entry *entry);

/** Reads the action of a megaflow. @return 0; -ENOENT it is gone. */
int hy_flows_action(struct hy_flows *flows, const struct hy_flows_ref *ref, uint32_t *action);

/**
 * Counts packets of a megaflow that no worker saw, such as those that a NIC dropped: it was used now.
 *
 * @return 0; -ENOENT it is gone.
 */
int hy_flows_credit(struct hy_flows *flows, const struct hy_flows_ref *ref, uint64_t packets,
	uint64_t bytes);

/**
 * Reads up to @p n megaflows. Between calls, others may be added and deleted: those that stay are each
 * read once.
 *
 * @param[in,out] cursor 0 at first; HY_FLOWS_END after the last.
 * @return How many were read.
 */
uint32_t hy_flows_dump(struct hy_flows *flows, uint32_t *cursor, struct hy_flows_entry *entries,
	uint32_t n);

/**
 * Tells the time, deletes megaflows whose time is up, frees what workers have left, and each second
 * sorts the masks of each port by their hits. To be called every 10 to 1000 ms: by twice the longest
 * such time can megaflows be deleted late; they are not early. The counts of those that it deletes can
 * no longer be read. The times of megaflows that were added before the first call begin with it.
 *
 * @param most Megaflows to look at, beginning where the last call ended; UINT32_MAX: all.
 * @return Megaflows that were deleted.
 */
uint32_t hy_flows_poll(struct hy_flows *flows, uint32_t now, uint32_t most);

/** Reads what was counted. */
void hy_flows_stats(struct hy_flows *cache, struct hy_flows_stats *stats);

HY_API_END
