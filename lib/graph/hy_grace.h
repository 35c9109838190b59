/* SPDX-License-Identifier: BSD-3-Clause */
/**
 * @file
 * Grace periods of RCU (QSBR), for code that publishes data to workers.
 */
#pragma once

#include <rte_atomic.h>
#include <rte_cycles.h>
#include <rte_pause.h>
#include <rte_rcu_qsbr.h>

#include <hy_api.h>

HY_API_BEGIN

/**
 * Starts a grace period like rte_rcu_qsbr_start(), ordered after all earlier writes of this thread.
 *
 * A worker that rte_rcu_qsbr_check() finds offline must see, when it comes back online, what was
 * published before. rte_rcu_qsbr_thread_online() has a full fence between its store and the loads
 * that follow; this is the counterpart. rte_rcu_qsbr_start() alone (DPDK 22.11 to 26.07) lets an
 * Arm CPU with RCpc loads (LDAPR) read the worker's state before its own stores are visible.
 *
 * Any thread may call this.
 *
 * @return The token for hy_grace_over().
 */
static inline uint64_t
hy_grace_start(struct rte_rcu_qsbr *qsbr)
{
	rte_smp_mb(); /* gcc warns of a C11 fence under ThreadSanitizer */
	return rte_rcu_qsbr_start(qsbr);
}

/**
 * Whether all workers that were online have reported to @p qsbr since @p token. If so, whatever they
 * read and wrote before they reported happened before this returns.
 *
 * rte_rcu_qsbr_check() alone (DPDK 22.11 to 26.07) does not order that if another thread has checked the
 * token, or a later one: it then reads the result of that check, by a plain load, and no report.
 *
 * Any thread may call this.
 */
static inline bool
hy_grace_over(struct rte_rcu_qsbr *qsbr, uint64_t token)
{
	if (rte_rcu_qsbr_check(qsbr, token, false) != 1)
		return false;
	rte_smp_rmb(); /* the reports that the other thread has read, or later ones */
	for (uint32_t id = 0; id < qsbr->max_threads; id++)
		(void)__atomic_load_n(&qsbr->qsbr_cnt[id].cnt, __ATOMIC_ACQUIRE);
	return true;
}

/**
 * Waits until all workers that were online have reported to @p qsbr since @p token, for a second at
 * most. Blocks: a worker must not call this.
 *
 * @return Whether they have.
 */
static inline bool
hy_grace_wait(struct rte_rcu_qsbr *qsbr, uint64_t token)
{
	const uint64_t start = rte_get_timer_cycles(), hz = rte_get_timer_hz();

	while (!hy_grace_over(qsbr, token)) {
		const uint64_t waited = rte_get_timer_cycles() - start;

		if (waited > hz)
			return false;
		/* A walk takes microseconds; a longer one may be waiting for this CPU. */
		if (waited < hz / 10000)
			rte_pause();
		else
			rte_delay_us_sleep(20);
	}
	return true;
}

HY_API_END
