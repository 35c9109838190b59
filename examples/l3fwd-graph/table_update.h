/* SPDX-License-Identifier: BSD-3-Clause */
/* One table, and the routes that it is to have. */
#ifndef L3FWD_TABLE_UPDATE_H
#define L3FWD_TABLE_UPDATE_H

#include "route_diff.h"
#include "tables.h"

struct table_update {
	struct hy_ip4_fib *fib;
	struct route_set old, new;
	struct route_diff there, back; /* by prefix */
};

/*
 * Finds out what is to be changed, and whether there is room for it; adds the next hops. Returns 0,
 * or -1 with the reason in error. table_update_end() follows either way.
 */
int table_update_begin(const struct tables *tables, struct hy_ip4_fib *fib,
	const struct routes *routes, struct table_update *update, char *error);

/*
 * Frees what it needed; deletes the next hops that no route of the table leads to, if nothing that
 * is under way can have their ids.
 */
void table_update_end(struct table_update *update, bool sweep);

/* Says in error why a table refuses changes, for what it returns. Returns -1. */
int table_update_refused(int rc, char *error);

/* One of all tables, in the order of tables.config. The first shows how routes change. */
struct tables_update {
	const struct tables *tables;
	struct table_update of[RTE_MAX_NUMA_NODES];
};

/*
 * Finds out what other routes change, and adds next hops. tables_update_end() follows either way.
 * Returns 0; or -1, with the reason in error: ROUTES_ERROR_SIZE bytes, as below.
 */
int tables_update_begin(const struct tables *tables, const struct routes *routes,
	struct tables_update *update, char *error);
/* Puts the routes into all tables, or into none, while workers read them. Likewise. */
int tables_update_apply(struct tables_update *update, char *error);
/* Puts those of before back. */
void tables_update_undo(struct tables_update *update);
/* Frees what it needed; next hops without routes go. */
void tables_update_end(struct tables_update *update);

#endif
