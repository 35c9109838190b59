/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Routes and their tables.
 *
 * route_file.c        the file, line by line
 * route_group.c       groups, of the file and in tables
 * route_links.c       groups follow the links of ports
 * route_size.c        how large tables must be for it
 * route_update.c      one table: what is to change in it, and in which order
 * route6.c            one table of IPv6: its next set of routes
 * routes.c            all tables
 * routes_dump.c       a table as a file
 * routes_telemetry.c  commands
 */
#pragma once

#include <hy_routes.h>

#include "lib/graph/internal/log.h"

/* A group that routes of a list lead to. */
struct route_group {
	struct hy_route_group
		is; /* first: of this, struct hy_route has the address. Members in order */
	struct route_group *next; /* with the same hash */
	/*
	 * Its ids in the table that is being updated: for each id that routes to it had before, the one
	 * that has the flows of that.
	 */
	struct route_group_id {
		uint32_t before, id;
	} * ids;
	unsigned int nb_ids;
};

#define GROUP_CHAINS 1024

/* Those that the routes of both families lead to, each once. */
struct route_groups {
	struct route_group **chains; /* by hash of the members; NULL: there is none */
};

/* Routes of one family by prefix, then depth; each prefix occurs once. */
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
	struct hy_ip6_fib *fib6; /* and its next set of routes, then its last one */
	struct hy_ip6_set *set6;
};

struct hy_routes {
	const char *path;
	uint16_t ports[RTE_MAX_ETHPORTS];
	unsigned int nb_ports;
	const struct hy_vlan *vlans;
	unsigned int nb_vlans;
	uint32_t max_len;
	struct hy_ip4_fib_params fib; /* of all tables, except for the NUMA node */
	struct hy_ip4_lookup_config tables;
	struct hy_ip6_lookup_config tables6;
	const struct hy_workers *workers;
	const struct hy_hal *hal;         /* knows of ports that are reset or gone */
	bool port_down[RTE_MAX_ETHPORTS]; /* as tables were told */
	struct route_list list, list6;    /* read, and not yet loaded: of IPv4, of IPv6 */
	struct route_groups groups;       /* of these */
	struct route_update updates[RTE_MAX_NUMA_NODES];
};

/* The VLAN interface that a port's number stands for; NULL: none. */
const struct hy_vlan *route_vlan(const struct hy_routes *routes, uint16_t port);
/* A port's number as in files: "1", or "1.100" of a VLAN interface. */
#define ROUTE_PORT_SIZE sizeof("65535.65535")
void route_port_text(const struct hy_routes *routes, uint16_t port, char text[ROUTE_PORT_SIZE]);
/* Writes a next hop as in files, after a space. */
void route_hop_write(const struct hy_routes *routes, const struct hy_ip4_next_hop *hop, FILE *file);
/* Reads the file, of which error then names the line. The list is empty after an error. */
int route_file_read(struct hy_routes *routes, char *error);
/* Adds a route to the list of its family. */
int route_append(struct hy_routes *routes, const struct hy_route *route, char *error);
/* Empties the lists. */
void route_lists_free(struct hy_routes *routes);

/* The copy of a group, the same for all that have the same members; NULL: out of memory. */
const struct hy_route_group *route_group_copy(struct route_groups *groups,
	const struct hy_route_group *group);
void route_groups_free(struct route_groups *groups);
/* For each group. */
void route_groups_each(const struct route_groups *groups,
	void (*each)(struct route_group *group, void *arg), void *arg);
/*
 * Gives a route the id of its next hop or group in a table. There are two turns over the routes of a
 * family, since prefixes that led nowhere before come last: they share groups with others.
 *
 * On entry, *id is what the prefix of a route to a group led to before, or HY_IP4_NO_ID. Flows of that
 * stay where they can. In the other turn, *id stays. Returns what functions of hy_ip4.h and
 * hy_ip4_group.h return, or -EINTR: the program is told to stop.
 */
int route_id(struct hy_ip4_fib *fib, const struct hy_route *route, unsigned int turn, uint32_t *id);
#define ROUTE_TURNS 2
/* Before another table: its ids are others. */
void route_groups_forget(const struct route_groups *groups);
/* Writes a group's members as in a file. */
void route_group_write(const struct hy_routes *routes, struct hy_ip4_fib *fib, uint32_t id,
	FILE *file);

/* Adds an entry of a list sorted by prefix to the counts. last: the latest /24, at first UINT32_MAX. */
void route_count(uint32_t prefix, uint8_t depth, uint32_t *routes, uint32_t *tbl8s, uint32_t *last);
/* Fills in the limits of tables that are 0. */
void route_size(struct hy_routes *routes);

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
/* The same of what gave a next hop or a group no id. */
int route_id_refused(const struct hy_routes *routes, int rc, char *error);
/* With sweep, also deletes the table's next hops without routes: no worker may be using their ids. */
void route_update_end(struct route_update *update, bool sweep);

/*
 * Prepares the routes of list6 for the table of IPv6, and counts what changes, beside that of IPv4.
 * Those have their groups already. route6_end() follows either way.
 */
int route6_begin(const struct hy_routes *routes, struct hy_ip6_fib *fib,
	struct route_update *update, char *error);
/* Shows them, or again what was there before. */
void route6_exchange(struct route_update *update);
/* Frees those that are not shown, once no worker reads them. */
void route6_end(struct route_update *update);

/* Telemetry's commands answer for these routes, as of now, or no more. */
void routes_show(const struct hy_routes *routes);
void routes_hide(const struct hy_routes *routes);
