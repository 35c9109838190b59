/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The IPv4 forwarding table: what workers read of it, and what its files share.
 *
 * ip4_fib.c        its life, its ports, and who uses it
 * ip4_next_hop.h   next hops: an array that workers index by id
 * ip4_route.c      changes of routes, all or none; the same for all engines
 * ip4_route_read.c what routes there are, and which of them an address takes
 * ip4_engine_*.c   the library that workers look addresses up in, and how it changes under them
 * ip4_rte_fib.c    one rte_fib, of which the engine of that name has two
 */
#ifndef HY_IP4_FIB_H
#define HY_IP4_FIB_H

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

#define IP4_FIB_NAME_MAX 16 /* DPDK's names have 26 bytes, with what rings and pools put before */
#define IP4_FIB_NO_ROUTE UINT32_MAX

/* What the control plane knows of a next hop. */
struct ip4_next_hop {
	uint32_t routes; /* that lead there */
	uint32_t held;   /* by nodes that send packets there without a route */
	uint32_t next;   /* in the list of those that were deleted */
	uint64_t token;  /* when it passes, no worker has a deleted id in hand any more */
	bool used;
};

/* A library that finds routes. Called under the table's mutex. */
struct ip4_engine {
	int (*create)(struct hy_ip4_fib *fib);
	void (*destroy)(struct hy_ip4_fib *fib);
	/* Makes ready for so many changes; nothing has been changed if it fails. */
	int (*begin)(struct hy_ip4_fib *fib, uint32_t n);
	/* Leads a prefix of depth 1 to 32 somewhere, or nowhere; fib->rib changes with it. */
	int (*change)(struct hy_ip4_fib *fib, uint32_t prefix, uint8_t depth, uint32_t id);
	/* Leads the default route somewhere: an LPM entry, or 0 for nowhere. */
	int (*change_default)(struct hy_ip4_fib *fib, uint32_t entry);
	/* Shows workers what was changed. n is 0 where changes failed and were undone. */
	void (*commit)(struct hy_ip4_fib *fib, const struct hy_ip4_change *changes, uint32_t n);
	/* As workers do, without the default route. Returns an id or IP4_FIB_NO_ROUTE. */
	uint32_t (*lookup)(struct hy_ip4_fib *fib, uint32_t dst);
};

extern const struct ip4_engine ip4_engine_lpm, ip4_engine_fib;

/* Two tables in rte_fib: one is shown to workers, the other is changed. */
struct ip4_fib_copies {
	struct hy_ip4_copy copy[2];
	struct hy_ip4_copy *changing; /* that changes are for: the hidden one while workers read */
	struct hy_ip4_copy *hidden;   /* without a table: nobody read while routes changed */
	struct hy_ip4_change *log;    /* what it lacks */
	uint32_t nb_log, log_room;
	uint64_t token; /* when it passes, no worker reads it any more */
};

struct hy_ip4_fib {
	struct hy_ip4_view view; /* what workers read */

	/* What the control plane writes shares no cache line with what workers read. */
	alignas(RTE_CACHE_LINE_SIZE) pthread_mutex_t lock;
	struct hy_ip4_fib_params params; /* defaults filled in */
	char name[IP4_FIB_NAME_MAX + 1];
	unsigned int nb_users; /* nodes of graphs: while there are any, ports are fixed */
	bool undoing;          /* waits have no limit */

	const struct ip4_engine *engine;
	struct rte_rib *rib; /* all routes but the default one: the truth that tables are made of */
	uint64_t highest;    /* of all prefixes and depths that there ever were; above it is none */
	uint32_t nb_routes;
	uint32_t nb_tbl8s; /* /24s with longer prefixes */
	struct ip4_fib_copies copies;

	struct ip4_next_hop *next_hops;
	struct rte_hash *next_hop_ids; /* by struct hy_ip4_next_hop */
	uint32_t nb_next_hops;         /* ids that were ever given out */
	uint32_t next_hop_room;
	uint32_t deleted_first, deleted_last; /* ids, oldest first; first UINT32_MAX: none */
	struct hy_ip4_adjacency *retired;     /* the array before, which workers may still read */
	uint64_t retired_token;

	bool has_port[RTE_MAX_ETHPORTS];
	struct hy_ip4_port ports[RTE_MAX_ETHPORTS];
};

/* Whether the table must not change but by additions. */
static inline bool
ip4_fib_frozen(const struct hy_ip4_fib *fib)
{
	return fib->nb_users > 0 && fib->params.qsbr == NULL;
}

/*
 * Grace periods. A token that is taken after something was unpublished passes when no worker can
 * be reading it any more. Tables without a QSBR variable free nothing while they are in use.
 */
uint64_t ip4_fib_token(struct hy_ip4_fib *fib);
bool ip4_fib_passed(struct hy_ip4_fib *fib, uint64_t token);
/* Waits until it passes. Returns 0, or -ETIMEDOUT. */
int ip4_fib_wait(struct hy_ip4_fib *fib, uint64_t token);

/* ip4_route_read.c */
/* Goes through the routes of a tree, from NULL on; false: that was all. */
bool ip4_rib_next(struct rte_rib *rib, struct rte_rib_node **node, struct hy_ip4_route *route);
/* The next hop of a prefix's route, and of the default route; IP4_FIB_NO_ROUTE: there is none. */
uint32_t ip4_rib_find(struct rte_rib *rib, uint32_t prefix, uint8_t depth);
uint32_t ip4_default_find(const struct hy_ip4_fib *fib);

/* ip4_route.c */
/* Where a change leads a prefix; IP4_FIB_NO_ROUTE: nowhere. */
uint32_t ip4_change_to(const struct hy_ip4_change *change);

/* ip4_rte_fib.c */
/* One of the two copies, of which each has a suffix of its own. NULL: see rte_errno. */
struct rte_fib *ip4_rte_fib_create(const struct hy_ip4_fib *fib, char suffix);
/*
 * What it finds without a route: the highest value of its entries, one bit of which is taken. As
 * tbl8s are numbered in entries too, their count is part of what makes entries 2 bytes wide or 4.
 */
uint32_t ip4_rte_fib_none(const struct hy_ip4_fib *fib);
/* As struct ip4_engine's change(). Nobody may be reading. */
int ip4_rte_fib_change(struct rte_fib *to, uint32_t prefix, uint8_t depth, uint32_t id);

/* ip4_next_hop_id.c */
int ip4_next_hops_create(struct hy_ip4_fib *fib);
void ip4_next_hops_destroy(struct hy_ip4_fib *fib);

/* ip4_adjacency.c */
struct hy_ip4_next_hop ip4_adjacency_read(const struct hy_ip4_adjacency *adjacency);

#endif
