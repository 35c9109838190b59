/* SPDX-License-Identifier: BSD-3-Clause */
/* The IPv6 part of librte_node's contender (l3fwd_librte6.c). */
#pragma once

#include "l3fwd.h"

#define LIBRTE_ROUTES 1024 /* capacity of either lookup node's own table */
#define LIBRTE_TBL8S 256

struct rte_lpm6;

/*
 * Sets up the table, which all graphs share, and next hops. Returns 0, or -1 after bench_cannot().
 *
 * graph: the name of one. first: the work's first graph. large: the table instead of librte_node's own,
 * for rte_lpm6_free(), unless NULL.
 */
int librte6_set_up(const char *graph, const struct l3fwd_table *table, bool loop, bool first,
	struct rte_lpm6 **large);
