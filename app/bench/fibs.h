/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of hy_ip4.h with next hops, for benchmarks that look up or change routes. */
#pragma once

#include <hy_ip4.h>

#define FIB_NEXT_HOPS 256 /* numbered from 0 */

/* Creates a table with FIB_NEXT_HOPS next hops and applies n changes. NULL after bench_cannot(). */
struct hy_ip4_fib *fib_create(const char *name, const struct hy_ip4_fib_params *params,
	const struct hy_ip4_change *changes, uint32_t n);
/* The next hop for prefix number i; they vary with i. */
uint32_t fib_hop(uint32_t i);
/* A route for prefix number i. */
struct hy_ip4_route fib_route(uint32_t prefix, uint8_t depth, uint32_t i);
