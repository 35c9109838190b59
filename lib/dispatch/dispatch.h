/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of a dispatch. A *stage* is a node that receives objects from other workers, with the
 * nodes and rings that hand them over. It stays until the dispatch is destroyed; rings that no pin
 * needs are empty. A *plan* follows from one set of pins and never changes. Workers read it in each
 * walk, and switch to another one together with the image of their graph.
 */
#pragma once

#include <hy_dispatch.h>
#include <hy_walk.h>

#include "lib/graph/internal/guard.h"
#include "lib/graph/internal/plugin_notes.h"

#include "ring.h"

/* placement.c: which nodes the graph has, and where each runs. */

struct hy_place {
	char name[HY_NAME_SIZE];
	hy_node_id id;
	uint32_t flags;
	uint16_t replicates;
	bool pinned, reached;
	bool feature;     /* of an arc: runs where the arc's end runs */
	uint64_t workers; /* bit w: runs on worker w */
	unsigned int nb_edges;
	unsigned int *edges; /* places of their targets */
	uint64_t from;       /* workers that hand objects over to it; see hy_pin_plan() */
};

struct hy_placement {
	unsigned int nb_places;
	struct hy_place *places; /* in order of discovery */
};

/* Whether an edge to a node, on a worker that runs it or not, leads to another worker at times. */
static inline bool
hy_place_leaves(const struct hy_place *place, unsigned int worker)
{
	return place->pinned && place->workers != UINT64_C(1) << worker;
}

int hy_placement_make(const struct hy_dispatch *dispatch, const struct hy_dispatch_pin *pins,
	unsigned int nb_pins, struct hy_placement *placement);
void hy_placement_free(struct hy_placement *placement);

/* stage.c: the nodes and rings to a pinned node. */

/* Nodes that only a dispatch may change. */
extern const struct hy_reg_owner hy_dispatch_owner;

enum hy_stage_node { STAGE_OUT, STAGE_SPLIT, STAGE_IN, STAGE_NODES };

struct hy_stage {
	struct hy_stage *next;
	const struct hy_dispatch *dispatch;
	char target[HY_NAME_SIZE];
	struct {
		char name[HY_NAME_SIZE];
		hy_node_id id;
	} nodes[STAGE_NODES];
	uint16_t nb_workers; /* of the dispatch */
	uint64_t workers;    /* that objects are handed to in graphs compiled from now on */
	/* From worker f to worker t: rings[f * nb_workers + t]; NULL as long as no pin wanted it. */
	struct hy_ring *rings[];
};

/* The stage of a node, created if missing; NULL with the reason logged. */
struct hy_stage *hy_stage_get(struct hy_dispatch *dispatch, const char *target, int *rc);
/* Makes a stage's node read it again in later images. */
int hy_stage_config(struct hy_stage *stage, enum hy_stage_node which);
struct hy_stage *hy_stage_find(const struct hy_dispatch *dispatch, const char *target);
/* Creates a ring if missing. Returns 0 or -ENOMEM, logged. */
int hy_stage_ring(struct hy_dispatch *dispatch, struct hy_stage *stage, unsigned int from,
	unsigned int to);
/* Whether a node of the registry is one of the dispatch's own. */
bool hy_stage_owns(const struct hy_dispatch *dispatch, hy_node_id id);
/* Unregisters and frees all; no graph has them. Returns how many objects were in rings. */
uint64_t hy_stages_free(struct hy_dispatch *dispatch);

/* handoff.c */

extern const struct hy_node_desc hy_handoff_nodes[STAGE_NODES];
/*
 * Refuses a node of a dispatch in any graph but its own, clones among them: a ring has two ends, of
 * one worker each, and the dispatch could not unregister the node when it is destroyed.
 */
int hy_handoff_graph_check(const struct hy_graph *graph, const struct hy_node *node,
	const struct hy_dispatch *dispatch);
/* Counts a walk in which a source was not called, at the node of a graph before a stage. */
void hy_handoff_held(struct hy_graph *graph, const struct hy_stage *stage);

/* credit.c: how many objects a source may make. */

/* A ring that objects of a source may come to, on the worker where the source runs. */
struct hy_reach {
	unsigned int out;    /* among those of the worker's view */
	unsigned int feeder; /* the source that reads the ring */
	uint32_t factor;     /* objects that one may become on the way there */
};

struct hy_feeder {
	const struct hy_stage *stage; /* whose rings it empties; NULL: a source of the program */
	uint16_t worker;
	unsigned int place; /* where its objects start: its own, or the stage's; nb_places: none */
	bool ends;          /* no ring leads back to a ring before it */
	unsigned int nb_reach;
	struct hy_reach *reach;
};

/* A ring that a worker writes to. */
struct hy_out {
	struct hy_ring *ring;
	const struct hy_stage *stage;
	uint16_t to;
	uint32_t factor;  /* objects that one of the worker's graph may become on the way there */
	uint32_t wanted;  /* with less than this, a source may get no room: read the ring again */
	uint32_t reserve; /* most room to leave for objects that wait in the worker's graph */
	/* The worker's alone, from here on. */
	uint32_t kept; /* room to leave in this walk for objects that wait */
	uint32_t left; /* room not given to a source yet in this walk */
	uint32_t rung; /* the ring's put when the reader was last woken */
};

/* A worker's part of a plan: the context of its walks. */
struct hy_view {
	struct hy_dispatch *dispatch;
	const struct hy_dispatch_plan *plan;
	uint16_t worker;
	unsigned int first, nb_feeders; /* among the plan's, in order of their ranks */
	unsigned int nb_outs;
	struct hy_out *outs;
};

struct hy_dispatch_plan {
	struct hy_dispatch_plan *next; /* older, until no worker has it */
	struct hy_placement placement;
	unsigned int nb_feeders;
	struct hy_feeder *feeders; /* worker after worker */
	struct hy_view *views;     /* one a worker */
};

/* Finds what each feeder may reach; logs what it returns. */
int hy_credit_plan(struct hy_dispatch *dispatch, struct hy_dispatch_plan *plan);
hy_walk_model_t hy_credit_walk;

/* dispatch.c */

/* Logs that memory is short. Returns -ENOMEM. */
int hy_dispatch_no_memory(const struct hy_dispatch *dispatch);

/* Calls the program's notify() for a worker. */
void hy_dispatch_notify(const struct hy_dispatch *dispatch, uint16_t worker);
void hy_dispatch_graph_name(const struct hy_dispatch *dispatch, unsigned int worker,
	char name[HY_NAME_SIZE]);

struct hy_dispatch_worker {
	alignas(HY_RING_APART)
		uint32_t followed; /* the order that the last walk followed, to its end */
	uint32_t waiting;          /* objects that it left in the graph */
	bool held;                 /* a source was not called in it */
	unsigned int turn;         /* the source to begin with next */
	/* From arm(true) to arm(false), or until another thread woke it; others write this. */
	alignas(HY_RING_APART) uint32_t asleep;
	struct hy_graph *graph;
};

#define HY_ORDER_HOLD 1u /* the program's sources are to stop */
#define HY_ORDER_STEP 2u /* from one order to the next */

struct hy_dispatch {
	struct hy_dispatch_worker *workers;
	uint16_t nb_workers;
	uint32_t order; /* what walks are to follow: a number, and HY_ORDER_HOLD or not */
	char name[HY_DISPATCH_NAME_SIZE];
	char **patterns;
	unsigned int nb_patterns;
	char drop_node[HY_NAME_SIZE];
	char lanes[HY_LANES_MAX][HY_NAME_SIZE]; /* without holes */
	unsigned int nb_lanes;
	struct hy_wide_lane wide[HY_WIDE_MAX];
	unsigned int nb_wide;
	uint32_t ring_objs;
	uint32_t patience_ms;
	int *sockets;
	void (*notify)(uint16_t worker, void *arg);
	void *arg;
	const struct hy_object_ops *user_ops;
	struct hy_object_ops ops;   /* the graphs': the user's, but for sleep */
	struct hy_plugin_user user; /* of what these do not show: the user's sleep and notify */
	hy_node_id idle;            /* the source of a worker that has no other: makes nothing */
	char idle_name[HY_NAME_SIZE];
	struct hy_stage *stages;
	struct hy_dispatch_plan *plan; /* the newest */
	bool leaving;                  /* it is being destroyed */
};

/* pin.c */

/* Makes the stages, rings and plan of pins, without publishing anything. */
int hy_pin_plan(struct hy_dispatch *dispatch, const struct hy_dispatch_pin *pins,
	unsigned int nb_pins, struct hy_dispatch_plan **plan);
void hy_pin_plan_free(struct hy_dispatch *dispatch, struct hy_dispatch_plan *plan);
/* Fills in the parameters specific to a worker's graph; hy_pin_params_free() frees them. */
int hy_pin_params(struct hy_dispatch *dispatch, const struct hy_dispatch_plan *plan,
	unsigned int worker, struct hy_graph_params *params);
void hy_pin_params_free(struct hy_graph_params *params);
/* Sets where the nodes of stages run by a plan, for graphs compiled from now on. */
int hy_pin_stages(struct hy_dispatch *dispatch, const struct hy_dispatch_plan *plan);
