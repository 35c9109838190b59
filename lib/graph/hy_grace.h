/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * The start of a grace period by RCU (QSBR), for whoever publishes what workers read.
 */
#ifndef HY_GRACE_H
#define HY_GRACE_H

#include <rte_atomic.h>
#include <rte_rcu_qsbr.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Starts a grace period, as rte_rcu_qsbr_start(), and orders it behind all that this thread has
 * written.
 *
 * A worker that rte_rcu_qsbr_check() finds offline must see, when it comes back online, what was
 * published before. rte_rcu_qsbr_thread_online() has a full fence between its store and the loads
 * that follow; this is the counterpart. rte_rcu_qsbr_start() alone (DPDK 22.11 to 26.07) lets an Arm
 * CPU with RCpc loads (LDAPR) read the worker's state before its own stores are visible.
 *
 * Any thread may call this.
 *
 * @return The token for rte_rcu_qsbr_check().
 */
static inline uint64_t
hy_grace_start(struct rte_rcu_qsbr *qsbr)
{
	rte_smp_mb(); /* gcc warns of a C11 fence under ThreadSanitizer */
	return rte_rcu_qsbr_start(qsbr);
}

#ifdef __cplusplus
}
#endif

#endif
