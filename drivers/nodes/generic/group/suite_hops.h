/* SPDX-License-Identifier: BSD-3-Clause */
/* Next hops and groups of them for the suites of rewriting nodes. */
#pragma once

#include <hy_conform.h>
#include <hy_ip4_rewrite.h>

#define SUITE_PORTS 4

/* A table of next hops on SUITE_PORTS ports, and of groups of these. Returns 0 or a negative errno. */
int suite_hops_create(const struct hy_suite_side *side, struct hy_ip4_fib **fib);
/* Changes a next hop and a group, and maybe a link. */
int suite_hops_change(struct hy_ip4_fib *fib, uint32_t number);
/* The node's edge to each port. */
void suite_hops_edges(uint16_t edge[HY_IP4_PORTS]);
/* A packet's route: a next hop, or maybe a group. */
uint32_t suite_hops_route(enum hy_suite_kind kind);
