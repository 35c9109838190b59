/* SPDX-License-Identifier: BSD-3-Clause */
/* Dispatches: made, taken apart, and put to sleep. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_atomic.h>
#include <rte_malloc.h>

#include "lib/graph/internal/log.h"

#include "dispatch.h"

#define RING_BURSTS 16
#define RING_BURSTS_MAX 1024
#define PATIENCE_MS 1000

static int
refused(const char *name, const char *why)
{
	return HY_REFUSE(-EINVAL, "dispatch '%s': %s", name, why);
}

static int
params_check(const char *name, const struct hy_dispatch_params *params)
{
	const struct hy_graph_params *graph = params->graph;

	if (!hy_name_valid(name) || strlen(name) >= HY_DISPATCH_NAME_SIZE)
		return refused(name == NULL ? "" : name,
			"names of up to 15 of [A-Za-z0-9_.-] are accepted");
	if (graph == NULL || graph->patterns == NULL || graph->nb_patterns == 0 ||
		graph->ops == NULL || graph->ops->release == NULL)
		return refused(name, "a graph with patterns and ops->release is required");
	if (graph->drop_node == NULL || strlen(graph->drop_node) >= HY_NAME_SIZE)
		return refused(name, "a drop_node is required: a full ring drops");
	if (params->nb_workers == 0 || params->nb_workers > HY_DISPATCH_WORKERS_MAX)
		return HY_REFUSE(-EINVAL, "dispatch '%s': %u workers; 1 to %d are accepted", name,
			params->nb_workers, HY_DISPATCH_WORKERS_MAX);
	if (params->ring_bursts > RING_BURSTS_MAX)
		return HY_REFUSE(-EINVAL,
			"dispatch '%s': rings of %u bursts; 1 to %d are accepted, 0 for %d", name,
			params->ring_bursts, RING_BURSTS_MAX, RING_BURSTS);
	if (graph->burst > HY_BURST_MAX)
		return refused(name, "the graph's burst is more than HY_BURST_MAX");
	if (params->nb_pins > 0 && params->pins == NULL)
		return refused(name, "pins are announced, but there are none");
	for (unsigned int i = 0; i < graph->nb_patterns; i++)
		if (graph->patterns[i] == NULL)
			return refused(name, "a pattern of the graph is missing");
	for (unsigned int i = 0; i < HY_LANES_MAX; i++)
		if (graph->lanes[i] != NULL && !hy_name_valid(graph->lanes[i]))
			return refused(name, "a lane of the graph has no valid name");
	if (graph->nb_wide > HY_WIDE_MAX || (graph->nb_wide > 0 && graph->wide == NULL))
		return refused(name, "more wide lanes are announced than there can be, or are");
	return 0;
}

/* Before a worker sleeps: from here on, others wake it. The core walks once more after this. */
static int
dispatch_arm(struct hy_graph *graph, bool on)
{
	const struct hy_view *view = hy_walk_context(graph);
	struct hy_dispatch *dispatch = view->dispatch;
	struct hy_dispatch_worker *me = &dispatch->workers[view->worker];
	int rc;

	if (!on) {
		__atomic_store_n(&me->asleep, 0, __ATOMIC_RELAXED);
		return dispatch->user_ops->arm(graph, false);
	}
	if (dispatch->notify == NULL)
		return -ENOTSUP;
	rc = dispatch->user_ops->arm(graph, true);
	if (rc < 0)
		return rc;
	__atomic_store_n(&me->asleep, 1, __ATOMIC_RELAXED);
	rte_smp_mb(); /* see bells_ring() */
	return 0;
}

static int
dispatch_wait(struct hy_graph *graph, unsigned int usec)
{
	const struct hy_view *view = hy_walk_context(graph);
	const struct hy_dispatch_worker *me = &view->dispatch->workers[view->worker];

	/* No device wakes a worker for sources held back, or for objects that came after its last walk. */
	if (me->held || __atomic_load_n(&me->asleep, __ATOMIC_RELAXED) == 0)
		return 1;
	return view->dispatch->user_ops->wait(graph, usec);
}

static uint16_t
idle_process(struct hy_graph *graph __rte_unused, struct hy_node *node __rte_unused,
	void **objs __rte_unused, uint16_t n __rte_unused)
{
	return 0;
}

static int
idle_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	return hy_handoff_graph_check(graph, node, *(struct hy_dispatch *const *)config);
}

static int
idle_register(struct hy_dispatch *dispatch)
{
	const struct hy_node_desc desc = { .name = dispatch->idle_name,
		.flags = HY_NODE_SOURCE | HY_NODE_WAKES,
		.impl = { .process = idle_process, .init = idle_init } };
	int rc;

	snprintf(dispatch->idle_name, sizeof(dispatch->idle_name), "%s-idle", dispatch->name);
	hy_registry_lock(); /* nobody's graph has it before it knows its dispatch */
	rc = hy_node_register(&desc, &dispatch->idle);
	if (rc == 0) {
		rc = hy_node_config(dispatch->idle, &dispatch, sizeof(dispatch));
		if (rc < 0)
			hy_node_unregister(dispatch->idle);
		else
			hy_registry_own(dispatch->idle, &hy_dispatch_owner);
	}
	hy_registry_unlock();
	return rc;
}

int
hy_dispatch_no_memory(const struct hy_dispatch *dispatch)
{
	return HY_REFUSE(-ENOMEM, "dispatch '%s': not enough memory", dispatch->name);
}

void
hy_dispatch_notify(const struct hy_dispatch *dispatch, uint16_t worker)
{
	const struct hy_graph *outer = hy_graph_enter(dispatch->workers[worker].graph);

	dispatch->notify(worker, dispatch->arg);
	hy_graph_inside = outer;
}

static void
ops_wrap(struct hy_dispatch *dispatch, const struct hy_object_ops *ops)
{
	dispatch->user_ops = ops;
	dispatch->ops = *ops;
	if (ops->arm == NULL || ops->wait == NULL)
		return;
	dispatch->ops.arm = dispatch_arm;
	dispatch->ops.wait = dispatch_wait;
}

/* Keeps the code by which the dispatch sleeps and wakes loaded while it exists. */
static void
code_hold(struct hy_dispatch *dispatch)
{
	const struct hy_object_ops *ops = dispatch->user_ops;

	dispatch->user = (struct hy_plugin_user){ .what = "dispatch",
		.name = dispatch->name,
		.code = { (uintptr_t)ops, (uintptr_t)ops->arm, (uintptr_t)ops->wait,
			(uintptr_t)dispatch->notify } };
	hy_plugin_user_add(&dispatch->user);
}

/* Copies parameters. dispatch_free() frees what this allocated, also after an error. */
static int
params_copy(struct hy_dispatch *dispatch, const struct hy_dispatch_params *params)
{
	const struct hy_graph_params *graph = params->graph;
	const uint32_t burst = graph->burst == 0 ? HY_BURST_DEFAULT : graph->burst;
	const uint32_t bursts = params->ring_bursts == 0 ? RING_BURSTS : params->ring_bursts;

	dispatch->nb_workers = params->nb_workers;
	dispatch->ring_objs = bursts * burst;
	dispatch->patience_ms = params->patience_ms == 0 ? PATIENCE_MS : params->patience_ms;
	dispatch->notify = params->notify;
	dispatch->arg = params->arg;
	ops_wrap(dispatch, graph->ops);
	code_hold(dispatch);
	strcpy(dispatch->drop_node, graph->drop_node);
	for (unsigned int i = 0; i < HY_LANES_MAX; i++)
		if (graph->lanes[i] != NULL)
			strcpy(dispatch->lanes[dispatch->nb_lanes++], graph->lanes[i]);
	while (dispatch->nb_wide < graph->nb_wide) {
		dispatch->wide[dispatch->nb_wide] = graph->wide[dispatch->nb_wide];
		dispatch->nb_wide++;
	}
	dispatch->workers = rte_zmalloc("hy_dispatch",
		params->nb_workers * sizeof(*dispatch->workers), HY_RING_APART);
	dispatch->sockets = calloc(params->nb_workers, sizeof(*dispatch->sockets));
	dispatch->patterns = calloc(graph->nb_patterns, sizeof(*dispatch->patterns));
	if (dispatch->workers == NULL || dispatch->sockets == NULL || dispatch->patterns == NULL)
		return -ENOMEM;
	for (unsigned int w = 0; w < params->nb_workers; w++)
		dispatch->sockets[w] = params->sockets == NULL ? SOCKET_ID_ANY : params->sockets[w];
	for (unsigned int i = 0; i < graph->nb_patterns; i++) {
		dispatch->patterns[i] = strdup(graph->patterns[i]);
		if (dispatch->patterns[i] == NULL)
			return -ENOMEM;
		dispatch->nb_patterns++;
	}
	return 0;
}

static void
dispatch_free(struct hy_dispatch *dispatch)
{
	hy_plugin_user_remove(&dispatch->user);
	for (unsigned int i = 0; i < dispatch->nb_patterns; i++)
		free(dispatch->patterns[i]);
	free(dispatch->patterns);
	free(dispatch->sockets);
	rte_free(dispatch->workers);
	free(dispatch);
}

void
hy_dispatch_graph_name(const struct hy_dispatch *dispatch, unsigned int worker,
	char name[HY_NAME_SIZE])
{
	snprintf(name, HY_NAME_SIZE, "%s-%u", dispatch->name, worker);
}

static int
graphs_create(struct hy_dispatch *dispatch, const struct hy_graph_params *graph)
{
	int rc = 0;

	for (unsigned int w = 0; w < dispatch->nb_workers && rc == 0; w++) {
		struct hy_graph_params params = *graph;
		char name[HY_NAME_SIZE];

		hy_dispatch_graph_name(dispatch, w, name);
		rc = hy_pin_params(dispatch, dispatch->plan, w, &params);
		if (rc < 0)
			break;
		rc = hy_graph_create_as(&hy_dispatch_owner, name, &params,
			&dispatch->workers[w].graph);
		hy_pin_params_free(&params);
	}
	return rc;
}

int
hy_dispatch_create(const char *name, const struct hy_dispatch_params *params,
	struct hy_dispatch **out)
{
	int rc = params_check(name, params);
	struct hy_dispatch *dispatch;

	if (rc < 0)
		return rc;
	dispatch = calloc(1, sizeof(*dispatch));
	if (dispatch != NULL) {
		strcpy(dispatch->name, name);
		rc = params_copy(dispatch, params);
	}
	if (dispatch == NULL || rc < 0) {
		HY_LOG(ERR, "dispatch '%s': not enough memory", name);
		if (dispatch != NULL)
			dispatch_free(dispatch);
		return -ENOMEM;
	}
	rc = idle_register(dispatch);
	if (rc < 0) {
		dispatch_free(dispatch);
		return rc;
	}
	hy_registry_lock(); /* plan and compile from the same nodes */
	rc = hy_pin_plan(dispatch, params->pins, params->nb_pins, &dispatch->plan);
	if (rc == 0)
		rc = hy_pin_stages(dispatch, dispatch->plan);
	if (rc == 0)
		rc = graphs_create(dispatch, params->graph);
	hy_registry_unlock();
	if (rc < 0)
		hy_dispatch_destroy(dispatch);
	else
		*out = dispatch;
	return rc;
}

struct hy_graph *
hy_dispatch_graph(const struct hy_dispatch *dispatch, uint16_t worker)
{
	return worker < dispatch->nb_workers ? dispatch->workers[worker].graph : NULL;
}

/* Refuses, in the log, to destroy a dispatch from within one of its graphs or its destruction. */
static int
destroy_check(const struct hy_dispatch *dispatch)
{
	int rc = 0;

	if (dispatch->leaving)
		return HY_REFUSE(-EBUSY,
			"dispatch '%s': hy_dispatch_destroy() refused: called by itself",
			dispatch->name);
	for (unsigned int w = 0; w < dispatch->nb_workers && rc == 0; w++)
		if (dispatch->workers[w].graph != NULL)
			rc = hy_graph_destroy_check(dispatch->workers[w].graph);
	return rc;
}

/* Destroys the graphs. Each stays the dispatch's while a fini() of its own or another's nodes runs. */
static void
graphs_destroy(struct hy_dispatch *dispatch)
{
	for (unsigned int w = 0; w < dispatch->nb_workers; w++) {
		struct hy_graph *graph = dispatch->workers[w].graph;

		if (graph == NULL)
			continue;
		hy_graph_destroy_as(&hy_dispatch_owner, graph);
		dispatch->workers[w].graph = NULL;
	}
}

static uint64_t
destroy_locked(struct hy_dispatch *dispatch)
{
	uint64_t released;

	dispatch->leaving = true;
	graphs_destroy(dispatch);
	released = hy_stages_free(dispatch);
	while (dispatch->plan != NULL) {
		struct hy_dispatch_plan *plan = dispatch->plan;

		dispatch->plan = plan->next;
		hy_pin_plan_free(dispatch, plan);
	}
	hy_registry_unregister(dispatch->idle, &hy_dispatch_owner);
	dispatch_free(dispatch);
	return released;
}

uint64_t
hy_dispatch_destroy(struct hy_dispatch *dispatch)
{
	uint64_t released = 0;

	if (dispatch == NULL)
		return 0;
	hy_registry_lock(); /* what runs now may not change or wait for the dispatch */
	if (destroy_check(dispatch) == 0)
		released = destroy_locked(dispatch);
	hy_registry_unlock();
	return released;
}
