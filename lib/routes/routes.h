/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routes and their tables.
 *
 * route_file.c        the file, line by line
 * route_size.c        how large tables must be for it
 * route_update.c      one table: what is to change in it, and in which order
 * routes.c            all tables
 * routes_telemetry.c  commands
 */
#pragma once

#include <hy_routes.h>

#include "lib/graph/internal/log.h"

/* Routes by prefix, then depth; each prefix occurs once. */
struct route_list {
	struct hy_route *routes;
	unsigned int n;
};

/* What makes the routes of one table those of a list. Zeroed: nothing. */
struct route_update {
	struct hy_ip4_fib *fib;
	struct hy_ip4_change *there, *back; /* by prefix */
	uint32_t n;                         /* entries of both */
	uint32_t done[HY_IP4_DELETE + 1];   /* of those, by verb of there */
	/* Old and new routes together, as the table counts them, which adds before it deletes. */
	uint32_t routes, tbl8s;
	uint32_t unchanged;
};

struct hy_routes {
	const char *path;
	uint16_t ports[RTE_MAX_ETHPORTS];
	unsigned int nb_ports;
	uint32_t max_len;
	struct hy_ip4_fib_params fib; /* of all tables, except for the NUMA node */
	struct hy_ip4_lookup_config tables;
	const struct hy_workers *workers;
	struct route_list list; /* read, and not yet loaded */
	struct route_update updates[RTE_MAX_NUMA_NODES];
};

/* Reads the file, of which error then names the line. The list is empty after an error. */
int route_file_read(struct hy_routes *routes, char *error);
int route_list_append(struct route_list *list, const struct hy_route *route, char *error);
void route_list_free(struct route_list *list);

/* Adds an entry of a list sorted by prefix to the counts. last: the latest /24, at first UINT32_MAX. */
void route_count(uint32_t prefix, uint8_t depth, uint32_t *routes, uint32_t *tbl8s, uint32_t *last);
/* Fills in the limits that are 0. */
void route_size(const struct route_list *list, struct hy_ip4_fib_params *fib);

/*
 * Compares a table with the list, adds the next hops, and refuses if old and new routes do not fit
 * together. route_update_end() follows either way.
 */
int route_update_begin(const struct hy_routes *routes, struct hy_ip4_fib *fib,
	struct route_update *update, char *error);
/*
 * Sorts the changes so that, at any time, the table routes each address as before all of them or as
 * after all of them.
 */
void route_update_sort(struct route_update *update);
/* Writes why a table refuses changes, given what it returned, and returns that. */
int route_update_refused(int rc, char *error);
/* With sweep, also deletes the table's next hops without routes: no worker may be using their ids. */
void route_update_end(struct route_update *update, bool sweep);

/* Telemetry's commands answer for these routes, as of now, or no more. */
void routes_show(const struct hy_routes *routes);
void routes_hide(const struct hy_routes *routes);
