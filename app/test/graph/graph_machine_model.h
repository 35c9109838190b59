/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the machine share: the state of its model. See graph_machine.h. */
#pragma once

#include <hy_stats.h>

#include "graph_machine.h"

enum { LANE_VALUE, LANE_X, LANE_Y, LANE_WIDE, LANE_WIDEST, LANES }; /* two wide ones */
enum { ANY_INVAL = 1, ANY_NOENT = 2 }; /* errors that a refusal may have */

/* How a node sends objects on; the result is the same. */
enum machine_style { BY_NEXT, ONE_BY_ONE, BY_RUNS, RESERVED, TOGETHER, STYLES };

struct machine_node {
	bool registered, source, can_drop;
	hy_node_id id;
	uint16_t replicates;
	unsigned int nb_lanes, lanes[LANES];
	uint8_t lanes_set; /* bits of those that it sets first, as in its descriptor */
	enum machine_style style;
	unsigned int impl;     /* which of the two */
	unsigned int revision; /* of what makes a context stale */
	uint32_t serial;       /* of the configuration */
	unsigned int nb_edges;
	uint16_t edges[MACHINE_EDGES];
};

/* A graph as it was compiled at one time. */
struct machine_image {
	unsigned int nb_nodes, nb_sources;
	bool in[MACHINE_NODES], can_drop[MACHINE_NODES];
	unsigned int nb_edges[MACHINE_NODES];
	uint16_t edges[MACHINE_NODES][MACHINE_EDGES];
	unsigned int impl[MACHINE_NODES], revision[MACHINE_NODES];
	uint32_t serial[MACHINE_NODES];
	int drop;
	bool lane[LANES];
	uint16_t burst;
	bool cyclic, replicating;
};

struct machine_params {
	unsigned int nb, nodes[8];
	bool all; /* "*" */
	int drop; /* -1: none */
	unsigned int nb_lanes, lanes[LANES];
	uint16_t burst, source_budget, sample_every, max_sweeps;
};

struct machine_graph {
	struct hy_graph *graph; /* NULL: there is none */
	struct machine_params params;
	struct machine_image now, next;
	bool pending;  /* next is published */
	bool may_lose; /* with replication in cycles no stream is long enough */
	uint64_t waiting;
	/* Of the worker, by node, since the graph was created. */
	bool was[MACHINE_NODES], was_edge[MACHINE_NODES][MACHINE_NODES], was_drop[MACHINE_NODES];
	uint64_t calls[MACHINE_NODES], objs[MACHINE_NODES];
	uint64_t by_edge[MACHINE_NODES][MACHINE_NODES];
	uint64_t by_drop[MACHINE_NODES][MACHINE_DROPS];
	uint64_t removed[MACHINE_NODES], full[MACHINE_NODES];
	int live[MACHINE_NODES]; /* contexts: calls of init() less those of fini() */
	uint64_t inits[MACHINE_NODES], inits_wanted[MACHINE_NODES];
};

enum machine_state { UNMADE, WAITING, EXPECTED, DONE };

struct machine_obj {
	uint32_t id;
	enum machine_state state;
	unsigned int graph, at, from, slot, hops;
	uint64_t seq; /* when it was sent, for the order on an edge */
	uint32_t lane[LANES];
	bool known[LANES]; /* whether the lane's value is defined */
};

struct machine {
	struct machine_setup setup;
	size_t drawn; /* bytes */
	struct machine_node nodes[MACHINE_NODES];
	struct machine_graph graphs[MACHINE_GRAPHS];
	uint32_t nb_objs;
	uint64_t expected; /* objects that must be released now */
	bool destroying;
	unsigned int init_fail; /* the nth init() from now fails; 0: none */
	unsigned int wake;      /* the worker wakes in the nth, likewise */
	bool woken;
	uint32_t serial;
	unsigned int heap_before;
	int64_t live_before;
	char fault[512];
};

extern struct machine machine;
extern struct machine_obj machine_objs[MACHINE_OBJS];
extern const char *const machine_lane_names[LANES];
extern const uint16_t machine_lane_bytes[LANES];
extern const struct hy_object_ops machine_ops;

/* Notes what is wrong, if it is the first. */
void machine_wrong(const char *format, ...) __rte_format_printf(1, 2);
#define CHECK(condition, ...) \
	do { \
		if (!(condition)) \
			machine_wrong(__VA_ARGS__); \
	} while (0)

/* 0 to n - 1. */
uint32_t machine_draw(uint32_t n);
/* A number that depends on nothing but these. */
uint32_t machine_mix(uint32_t a, uint32_t b, uint32_t c);
unsigned int machine_draw_node(void);
/* Mostly a node that is registered. */
unsigned int machine_draw_registered(void);
void machine_name(unsigned int node, char name[HY_NAME_SIZE]);

/* Offers a fusion, or withdraws it: graph_machine_fuse.c. */
void machine_fuse(void);
void machine_fuse_none(void);

/* Node code: graph_machine_nodes.c. */
hy_node_process_t machine_process_a, machine_process_b;
hy_node_init_t machine_init;
hy_node_fini_t machine_fini;
struct machine_ctx {
	uint32_t node, serial, graph, magic;
};

#define MACHINE_SLOTS (MACHINE_EDGES + MACHINE_DROPS)
#define MACHINE_RELEASE MACHINE_SLOTS /* in place of a slot: the object goes nowhere */

/* What fusions do of it. The slot that an object takes from a node: an edge, or a drop behind all edges. */
unsigned int machine_way(const struct machine_ctx *ctx, const struct machine_obj *o,
	bool may_release);
uint16_t machine_edge_of(unsigned int slot);
/* The model moves one object, and counts it. */
void machine_move(const struct machine_ctx *ctx, struct machine_obj *o, unsigned int slot);
/* Compares an object that comes, the i-th of its burst, with what the model says of it. */
void machine_arrive(const struct hy_graph *graph, const struct hy_node *node, void *obj,
	unsigned int i);
/* Whether a node may run in a graph with that many objects; its context can be used. */
bool machine_runs_rightly(const struct hy_graph *graph, const struct hy_node *node, uint16_t n,
	unsigned int impl);
extern bool machine_picks; /* a fusion that picks has been offered to this machine's graphs */

/* The model: graph_machine_model.c. */
/* Compiles; returns what errors a refusal may have, 0 when it must be accepted. */
unsigned int model_compile(const struct machine_params *params, struct machine_image *image);
/* The contexts that hy_graph_create() (from NULL) or hy_graph_update() makes anew. */
void model_wants_inits(struct machine_graph *g, const struct machine_image *before,
	const struct machine_image *image);
/* The next walk takes up what is pending: expects what waits on nodes that go to be released. */
void model_take_up(unsigned int graph);
void model_note(struct machine_graph *g, const struct machine_image *image);
/* Compares a graph's statistics and contexts with the model; nothing is pending. */
void model_compare(unsigned int graph);

/* What a step does: graph_machine_registry.c. */
void machine_register(unsigned int node);
void machine_unregister(unsigned int node);
void machine_clone(unsigned int node);
void machine_configure(unsigned int node);
void machine_impl_set(unsigned int node);
void machine_edge_add(unsigned int node, unsigned int target);
void machine_edge_set(unsigned int node, unsigned int target);
void machine_edge_shrink(unsigned int node);

/* Likewise, to graphs: graph_machine_graphs.c. */
struct machine_params machine_draw_params(void);
/* Creates or updates a graph; with memory or an init() that fails, if that is drawn. */
void machine_compile(unsigned int graph, const struct machine_params *params, bool keep_params);
void machine_graph_clone(unsigned int graph);
void machine_walk(unsigned int graph);
void machine_compare(unsigned int graph);
void machine_export(unsigned int graph);
void machine_destroy(unsigned int graph);
