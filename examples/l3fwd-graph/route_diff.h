/* SPDX-License-Identifier: BSD-3-Clause */
/* The changes that make one set of routes out of another. */
#ifndef L3FWD_ROUTE_DIFF_H
#define L3FWD_ROUTE_DIFF_H

#include <hy_ip4.h>

/* By prefix, then depth; no prefix is there twice. */
struct route_set {
	struct hy_ip4_route *routes;
	uint32_t n;
};

struct route_diff {
	struct hy_ip4_change *changes;
	uint32_t n;
	uint32_t added, replaced, deleted, unchanged;
	/* Of both sets together, as a table counts them: it adds before it deletes. */
	uint32_t routes, tbl8s;
};

/* Finds the changes, by prefix. Returns 0 or -ENOMEM; route_diff_free() cleans up either way. */
int route_diff(const struct route_set *from, const struct route_set *to, struct route_diff *diff);
void route_diff_free(struct route_diff *diff);

/*
 * Puts the changes into an order in which a table goes from one set to the other with each address
 * led as the one has it or as the other has it, at any time.
 */
void route_diff_order(struct route_diff *diff);

#endif
