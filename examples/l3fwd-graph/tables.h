/* SPDX-License-Identifier: BSD-3-Clause */
/* The forwarding tables: one for each NUMA node that workers run on, all with the same routes. */
#ifndef L3FWD_TABLES_H
#define L3FWD_TABLES_H

#include "routes.h"

struct tables {
	struct hy_ip4_lookup_config config; /* of the nodes that read them */
	struct hy_ip4_fib_params params;    /* of each, but for its NUMA node */
	struct hy_dispatch *dispatch;       /* in whose rings next hops' ids may lie, or NULL */
};

/* Chooses the sizes; engine and QSBR variable are set. */
void tables_size(const struct options *options, const struct routes *routes, struct tables *tables);

/*
 * Makes a table with all ports and routes, before there are workers. Returns 0, or -1 after saying
 * what is wrong. Takes seconds for 100,000s of routes with rte_lpm.
 */
int tables_add(const struct options *options, const struct routes *routes, int socket,
	struct tables *tables);
void tables_destroy(struct tables *tables);

/* Next hops that some route leads to. */
uint32_t tables_next_hops(const struct tables *tables);

#endif
