/* SPDX-License-Identifier: BSD-3-Clause */
/* IPv6 tables of Halyard and of DPDK's libraries, for benchmarks. Routes are sorted and different. */
#pragma once

#include <rte_fib6.h>
#include <rte_lpm6.h>

#include <hy_ip6.h>

#include "fibs.h"

/* Groups of 256 entries that rte_lpm6 needs for prefixes longer than /24. */
uint32_t fib6_tbl8s(const struct hy_ip6_route *routes, uint32_t n);
/* Those that rte_fib6 may ask for: it reserves them by route, as if no two routes shared one. */
uint32_t fib6_rte_tbl8s(const struct hy_ip6_route *routes, uint32_t n);

/* The next hop of the longest matching prefix, by search, or `none`. */
uint32_t fib6_find(const struct hy_ip6_route *routes, uint32_t n, const uint8_t dst[HY_IP6_BYTES],
	uint32_t none);

/* A random address of a route. */
void fib6_address(const struct hy_ip6_route *route, uint8_t address[HY_IP6_BYTES]);

/* The functions below return NULL after bench_cannot(). n is at least 1. */

/* Empty tables with room for n routes. rte_fib6 finds `none` where it has no route. */
struct rte_fib6 *fib6_rte_create(const char *name, uint32_t n, uint32_t tbl8s, uint32_t none);
struct rte_lpm6 *fib6_lpm_create(const char *name, uint32_t n, uint32_t tbl8s);

/* Tables with routes. */
struct rte_fib6 *fib6_rte(const char *name, const struct hy_ip6_route *routes, uint32_t n,
	uint32_t none);
struct rte_lpm6 *fib6_lpm(const char *name, const struct hy_ip6_route *routes, uint32_t n);

/*
 * A table of Halyard without routes, and that of its next hops, as fib_create() makes them. qsbr: NULL
 * is allowed.
 */
struct hy_ip6_fib *fib6_create(const char *name, struct rte_rcu_qsbr *qsbr);
void fib6_destroy(struct hy_ip6_fib *fib);
