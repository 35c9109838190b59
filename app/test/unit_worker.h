/* SPDX-License-Identifier: BSD-3-Clause */
/* A QSBR variable, and a worker that is played by the test. */
#pragma once

#include <stdint.h>

struct rte_rcu_qsbr;

/* A variable for so many threads. Thread 0 is registered and, after worker_begins(), in a walk. */
struct rte_rcu_qsbr *qsbr_new(uint32_t threads);
void worker_begins(void);
void worker_reports(void);
void worker_rests(void);
