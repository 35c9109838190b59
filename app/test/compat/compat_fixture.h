/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of the adapter for rte_graph share. Nodes cannot be unregistered there: each test
 * names its nodes after itself, by N(), so that none meets another's.
 *
 * Node code must not leave a walk by a failing assertion, so it counts into obj_faults instead,
 * which must be 0 when a test ends.
 */
#pragma once

#include <rte_graph_worker.h>

#include "app/test/unit.h"

#define OBJS_MAX 100000
#define BURST RTE_GRAPH_BURST_SIZE

struct obj {
	uint32_t id;   /* in order of making, from 0 */
	uint32_t seen; /* by sinks */
	uint32_t released;
};

extern struct obj objs_all[OBJS_MAX];
extern uint32_t objs_made, objs_released;
extern unsigned int obj_faults;

/* Names of one test's nodes: "<function>.<name>". The result stays valid. */
#define N(name) name_of(__func__, name)
const char *name_of(const char *test, const char *name);

/* A node's record, and what it shall do. */
struct probe {
	uint64_t calls, objs;
	uint16_t most;      /* objects in one call */
	uint32_t budget;    /* of a source: objects that it may still make */
	uint16_t per_call;  /* of a source: most that it makes in one call; 0: a burst */
	uint16_t copies;    /* that probe_copy() sends of each object */
	uint32_t last;      /* of a sink: id of the last object + 1 */
	uint32_t backwards; /* of a sink: objects whose id is not above the last one's */
	unsigned int inits, finis;
	int init_rc;                                    /* what init() returns */
	void (*in_init)(const struct rte_graph *graph); /* called by init(), or NULL */
	rte_node_process_t process; /* that init() puts in place; NULL: the registered one */
	struct rte_node *node;      /* that init() was called for last */
	void **array;               /* node->objs in the last call */
};

static inline struct probe *
probe_of(const struct rte_node *node)
{
	return *(struct probe *const *)node->ctx;
}

struct probe *probe_hit(struct rte_node *node, void **objs, uint16_t n);

#define PROCESS(name) \
	uint16_t name(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t n)
PROCESS(probe_source); /* makes objects in its own array, moves them to edge 0 */
PROCESS(probe_pass);   /* moves all to edge 0 */
PROCESS(probe_spread); /* object i to edge i % nb_edges, one at a time */
PROCESS(probe_copy);   /* sends all copies times to edge 0 */
PROCESS(probe_sink);   /* ends all */

/* Registers a node; the last arguments are its targets, or NULL. */
rte_node_t node_add(struct probe *probe, const char *name, rte_node_process_t process,
	const char *const *targets);
#define NODE(probe, name, process, ...) \
	node_add(probe, name, process, (const char *const[]){ __VA_ARGS__, NULL })

/* Creates a graph from one pattern. Without the _TRY, checks that it succeeds. */
rte_graph_t graph_try(const char *name, const char *pattern);
struct rte_graph *graph_add(const char *name, const char *pattern);
int graph_update(struct rte_graph *graph, const char *pattern);

/* What a function printed to a FILE, to be freed. */
char *printed(void (*print)(FILE *f, void *arg), void *arg);

int compat_setup(void **state);
int compat_teardown(void **state);
#define COMPAT_TEST(f) cmocka_unit_test_setup_teardown(f, compat_setup, compat_teardown)
