/* SPDX-License-Identifier: BSD-3-Clause */
/* A worker that is played by the test; see unit_worker.h. */

#include <stdalign.h>

#include <rte_rcu_qsbr.h>

#include "unit.h"
#include "unit_worker.h"

static union {
	struct rte_rcu_qsbr v;
	alignas(RTE_CACHE_LINE_SIZE) uint8_t room[4096];
} qsbr;

struct rte_rcu_qsbr *
qsbr_new(uint32_t threads)
{
	assert_true(rte_rcu_qsbr_get_memsize(threads) <= sizeof(qsbr));
	assert_int_equal(rte_rcu_qsbr_init(&qsbr.v, threads), 0);
	assert_int_equal(rte_rcu_qsbr_thread_register(&qsbr.v, 0), 0);
	return &qsbr.v;
}

void
worker_begins(void)
{
	rte_rcu_qsbr_thread_online(&qsbr.v, 0);
}

void
worker_reports(void)
{
	rte_rcu_qsbr_quiescent(&qsbr.v, 0);
}

void
worker_rests(void)
{
	rte_rcu_qsbr_thread_offline(&qsbr.v, 0);
}
