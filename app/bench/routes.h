/* SPDX-License-Identifier: BSD-3-Clause */
/* The routes benchmark's parts by family. */
#pragma once

struct rte_rcu_qsbr;

/* The works of IPv6 (routes6.c). */
void bench_routes6(struct rte_rcu_qsbr *without_readers);
