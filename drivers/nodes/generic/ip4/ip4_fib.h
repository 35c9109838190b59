/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The IPv4 forwarding table, for the files that implement it:
 *
 * ip4_fib.c        creation and destruction, ports, users, grace periods
 * ip4_next_hop.c   next hops, as users change them; ip4_next_hop_table.c stores them
 * ip4_route.c      changes of routes, all or none; the same for all engines
 * ip4_route_read.c listing routes, and finding the route of an address
 * ip4_engine_*.c   the library that workers look addresses up in, and how it changes under them;
 *                  ip4_rte_fib.c is one rte_fib
 */
#pragma once

#include <assert.h>
#include <pthread.h>
#include <stdalign.h>

#include <rte_atomic.h>
#include <rte_fib.h>
#include <rte_hash.h>
#include <rte_lpm.h>
#include <rte_rcu_qsbr.h>
#include <rte_rib.h>

#include <hy_ip4_view.h>

#define IP4_FIB_NAME_MAX \
	16 /* DPDK's names have 26 bytes, including the prefixes of rings and pools */
#define IP4_FIB_NO_ROUTE UINT32_MAX

/* A next hop, for the control plane. */
struct ip4_next_hop {
	uint32_t routes; /* routes that use it */
	uint32_t held;   /* holds of IPv6 routes and groups, and of nodes without a route */
	uint32_t next;   /* in the list of deleted ids */
	uint64_t token;  /* of a deleted id: once it passes, no worker holds the id */
	bool used;
	struct ip4_group *group; /* NULL: it is no group; of a deleted id, what is to be freed */
};

/* A library that looks routes up. Called under the table's mutex. */
struct ip4_engine {
	int (*create)(struct hy_ip4_fib *fib);
	void (*destroy)(struct hy_ip4_fib *fib);
	/* Prepares for n changes. Changes nothing if it fails. */
	int (*begin)(struct hy_ip4_fib *fib, uint32_t n);
	/* Sets the next hop of a prefix of depth 1 to 32, or deletes it; updates fib->rib. */
	int (*change)(struct hy_ip4_fib *fib, uint32_t prefix, uint8_t depth, uint32_t id);
	/* Sets the default route: an LPM entry, or 0 to delete it. */
	int (*change_default)(struct hy_ip4_fib *fib, uint32_t entry);
	/* Publishes the changes; may be NULL. n is 0 if changes failed and were undone. */
	void (*commit)(struct hy_ip4_fib *fib, const struct hy_ip4_change *changes, uint32_t n);
};

extern const struct ip4_engine ip4_engine_lpm, ip4_engine_fib;

/* State of the two copies of an rte_fib: workers read one, changes go into the other. */
struct ip4_fib_copies {
	struct hy_ip4_copy *changing; /* takes changes: the hidden one while workers read */
	struct hy_ip4_copy *hidden;   /* has no rte_fib until routes change under readers */
	struct hy_ip4_change *log;    /* the changes that it lacks */
	uint32_t nb_log, log_room;
	uint64_t token; /* once it passes, no worker reads it */
};

struct hy_ip4_fib {
	/*
	 * What workers read. Routes and next hops change it: a few words once a set of changes. What
	 * the control plane keeps for itself shares no cache line with it.
	 */
	struct hy_ip4_view view;
	alignas(RTE_CACHE_LINE_SIZE) struct hy_ip4_copy copy[2]; /* view.copy is one of them */

	alignas(RTE_CACHE_LINE_SIZE) pthread_mutex_t lock;
	struct hy_ip4_fib_params params; /* defaults filled in */
	char name[IP4_FIB_NAME_MAX + 1];
	unsigned int nb_users; /* nodes of graphs; with users, ports are fixed */
	bool undoing;          /* waits have no limit */

	const struct ip4_engine *engine;
	struct rte_rib *rib; /* all routes except the default one; tables are built from it */
	uint64_t highest;    /* the highest prefix and depth ever added */
	uint32_t nb_routes;
	uint32_t nb_tbl8s; /* /24s with longer prefixes */
	struct ip4_fib_copies copies;

	struct ip4_next_hop *next_hops;
	struct rte_hash *next_hop_ids; /* by struct hy_ip4_next_hop */
	uint32_t nb_next_hops;         /* ids ever used */
	uint32_t next_hop_room;
	uint32_t deleted_first, deleted_last; /* ids, oldest first; first is UINT32_MAX if empty */
	struct hy_ip4_adjacency *retired;     /* the previous array; workers may still read it */
	struct hy_ip4_buckets *retired_buckets; /* of a group in it; or NULL */
	uint64_t retired_token;

	bool has_port[HY_IP4_PORTS], port_down[HY_IP4_PORTS];
	struct hy_ip4_port ports[HY_IP4_PORTS];
};

/* Whether the table accepts additions only. */
static inline bool
ip4_fib_frozen(const struct hy_ip4_fib *fib)
{
	return fib->nb_users > 0 && fib->params.qsbr == NULL;
}

/*
 * Grace periods. Take a token after unpublishing something: once the token passes, no worker reads it
 * any more. Tables without a QSBR variable free nothing while they are in use.
 */
uint64_t ip4_fib_token(struct hy_ip4_fib *fib);
bool ip4_fib_passed(struct hy_ip4_fib *fib, uint64_t token);
/* Waits until it passes. Returns 0, or -ETIMEDOUT. */
int ip4_fib_wait(struct hy_ip4_fib *fib, uint64_t token);

/* ip4_route_read.c */
/* Iterates over the routes of a tree, starting from NULL. Returns false at the end. */
bool ip4_rib_next(struct rte_rib *rib, struct rte_rib_node **node, struct hy_ip4_route *route);
/* The next hop of a prefix's route, and of the default route; IP4_FIB_NO_ROUTE without one. */
uint32_t ip4_rib_find(struct rte_rib *rib, uint32_t prefix, uint8_t depth);
uint32_t ip4_default_find(const struct hy_ip4_fib *fib);

/* ip4_route.c */
/* The next hop after a change; IP4_FIB_NO_ROUTE after a deletion. */
uint32_t ip4_change_to(const struct hy_ip4_change *change);

/* ip4_rte_fib.c */
/*
 * The highest value of an entry, for "no route"; one bit of it is rte_fib's. Entries hold numbers of
 * tbl8s too, so the count of these also decides whether entries take 2 bytes or 4.
 */
uint32_t ip4_rte_fib_none(const struct hy_ip4_fib *fib);
int ip4_rte_fib_create(const struct hy_ip4_fib *fib, char suffix, struct rte_fib **made);
/* As ip4_engine.change(), of depth 1 to 32. Nobody may be reading. */
int ip4_rte_fib_change(struct rte_fib *to, uint32_t prefix, uint8_t depth, uint32_t id);

/* ip4_next_hop_table.c */
int ip4_next_hops_create(struct hy_ip4_fib *fib);
void ip4_next_hops_destroy(struct hy_ip4_fib *fib);
struct hy_ip4_next_hop ip4_adjacency_read(const struct hy_ip4_adjacency *adjacency);

/* ip4_next_hop.c */
/* Adds a next hop, or finds it, and holds it: nobody can delete it until each hold is released. */
int ip4_next_hop_hold(struct hy_ip4_fib *fib, const struct hy_ip4_next_hop *next_hop, uint32_t *id);
/* Holds a next hop or a group by its id. Returns 0; -ENOENT there is neither. */
int ip4_id_keep(struct hy_ip4_fib *fib, uint32_t id);
void ip4_id_release(struct hy_ip4_fib *fib, uint32_t id);
/* What ip4_adjacency_read() makes of an id that is held. */
struct hy_ip4_next_hop ip4_id_read(struct hy_ip4_fib *fib, uint32_t id);
