/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of the graph core share: objects that know whether they were lost, nodes that
 * record how they were called, and a clean registry around every test.
 *
 * Node code must not leave a walk by a failing assertion, so it counts into obj_faults instead,
 * which must be 0 when a test ends.
 */
#pragma once

#include <rte_cycles.h>
#include <rte_memory.h>

#include <hy_graph_worker.h>
#include <hy_stats.h>

#include "app/test/unit.h"

#define OBJS_MAX (1u << 20) /* objects that one test can make */

struct obj {
	uint32_t id;   /* in order of making, from 0 */
	int32_t refs;  /* 1; a node that replicates adds one a copy; 0 when released */
	uint32_t hops; /* for the test */
	uint32_t mark; /* for the test; 0 when made */
	uint32_t from; /* for the test */
};

extern const struct hy_object_ops obj_ops;
extern struct obj obj_all[OBJS_MAX];
extern uint32_t obj_made;      /* objects */
extern uint64_t obj_under_way; /* references */
extern unsigned int obj_faults;

struct obj *obj_new(void);
void obj_release(void **objs, unsigned int n);
/* One more reference to each of n objects, for a node that sends them on again. */
void obj_ref(void **objs, unsigned int n);

/* Whether each call takes time that can be told: a tick of an Arm CPU's clock can be 40 ns. */
static inline bool
clock_is_fine(void)
{
	return rte_get_tsc_hz() >= UINT64_C(500000000);
}

/* A node's record, and what it shall do. It is the node's configuration and context. */
struct probe {
	uint64_t calls, objs;
	uint16_t most;      /* objects in one call */
	uint16_t least;     /* likewise; 0 before the first call */
	uint32_t budget;    /* of a source: objects that it may still make */
	uint16_t per_call;  /* of a source: most that it makes in one call, 0: what it is offered */
	uint16_t nb_edges;  /* that probe_spread() deals to */
	uint16_t copies;    /* that probe_replicate() sends of each object */
	unsigned int order; /* of the last call, among the calls of all probes; from 1 */
	unsigned int inits, finis;
	void *arg;
};

/* Of a node that was registered without a probe. */
extern struct probe probe_nobody;

static inline struct probe *
probe_of(const struct hy_node *node)
{
	return node->ctx == NULL ? &probe_nobody : *(struct probe **)node->ctx;
}

/* Before graphs are destroyed whose probes lay on the stack of a test that has returned. */
void probes_forget(void);

/* Records a call; what every process function below does first. */
struct probe *probe_hit(const struct hy_node *node, uint16_t n);

hy_node_process_t probe_source;    /* makes objects, moves them to edge 0 */
hy_node_process_t probe_pass;      /* moves all to edge 0 */
hy_node_process_t probe_spread;    /* object i of a call to edge i % nb_edges */
hy_node_process_t probe_drop;      /* drops all for its reason 0 */
hy_node_process_t probe_sink;      /* releases all */
hy_node_process_t probe_replicate; /* sends every object copies times, to edges 0, 1, ... */

/* Makes n objects at objs, within the budget. Returns how many. */
uint16_t probe_make(struct probe *probe, void **objs, uint16_t n);

/* Registers a node; with a probe, if it is not NULL. Fails the test if that is refused. */
hy_node_id node_add(struct probe *probe, const struct hy_node_desc *desc);
#define NODE(probe, ...) node_add(probe, &(const struct hy_node_desc){ __VA_ARGS__ })

/* A source, a node with one way on, and a sink: the common cases of NODE(). */
hy_node_id source_add(struct probe *probe, const char *name, const char *to);
hy_node_id pass_add(struct probe *probe, const char *name, const char *to);
hy_node_id sink_add(struct probe *probe, const char *name);

/* Creates a graph, of all nodes there are if no pattern is given. Checks the result. */
int graph_try(const char *name, const struct hy_graph_params *params, struct hy_graph **graph);
struct hy_graph *graph_add(const char *name, const struct hy_graph_params *params);
#define GRAPH(name, ...) graph_add(name, &(const struct hy_graph_params){ __VA_ARGS__ })
#define GRAPH_TRY(name, graph, ...) \
	graph_try(name, &(const struct hy_graph_params){ __VA_ARGS__ }, graph)

/* "src" to "pass" to "sink", in bursts of 8. */
struct hy_graph *graph_chain(struct probe *src, const struct hy_object_ops *ops);

struct hy_node *graph_node(struct hy_graph *graph, const char *name);
/* Objects that took an edge of a graph's node; HY_DROP() too. */
uint64_t edge_objs(struct hy_graph *graph, const char *name, uint16_t edge);
/* Objects that a graph's nodes lost to full streams. */
uint64_t stream_full(const struct hy_graph *graph);
/* Objects that wait in a graph. */
uint64_t waiting(const struct hy_graph *graph);

/*
 * A thread that walks a graph until it is stopped, at the end of the test at the latest. Each walk
 * numbers its objects from 0.
 */
void walker_start(struct hy_graph *graph);
void walker_stop(void);

/* A pseudo-random number; its sequence depends on nothing but the seed. */
uint32_t rnd(uint64_t *seed);

/* Destroys all graphs and unregisters all nodes, for a test that goes through several sets. */
void registry_clear(void);

/* Before and after each test. */
int graph_setup(void **state);
int graph_teardown(void **state);
#define GRAPH_TEST(f) cmocka_unit_test_setup_teardown(f, graph_setup, graph_teardown)
