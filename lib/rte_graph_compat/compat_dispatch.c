/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Graphs that are bound to lcores, and what they hand to each other. Who is bound where changes only
 * while nobody walks; what a graph holds back belongs to its worker.
 */

#include <errno.h>
#include <string.h>

#include <rte_lcore.h>

#include "compat.h"
#include "lib/graph/internal/log.h"

bool
rte_graph_model_is_valid(uint8_t model)
{
	return model == RTE_GRAPH_MODEL_RTC || model == RTE_GRAPH_MODEL_MCORE_DISPATCH;
}

int
rte_graph_worker_model_set(uint8_t model)
{
	struct compat_graph *graph = NULL;

	if (!rte_graph_model_is_valid(model)) {
		HY_LOG(ERR, "rte_graph: there is no model %u: they are %u and %u", model,
			RTE_GRAPH_MODEL_RTC, RTE_GRAPH_MODEL_MCORE_DISPATCH);
		return -EINVAL;
	}
	hy_compat_lock();
	while ((graph = hy_compat_graph_next(graph)) != NULL)
		__atomic_store_n(&graph->pub.model, model, __ATOMIC_RELAXED);
	hy_compat_unlock();
	return 0;
}

uint8_t
rte_graph_worker_model_get(struct rte_graph *graph)
{
	return rte_graph_worker_model_no_check_get(graph);
}

int
rte_graph_model_mcore_dispatch_node_lcore_affinity_set(const char *name, unsigned int lcore_id)
{
	struct compat_node *node;

	if (lcore_id >= RTE_MAX_LCORE) {
		HY_LOG(ERR, "rte_graph: there is no lcore %u: they are below %u", lcore_id,
			RTE_MAX_LCORE);
		return -EINVAL;
	}
	hy_compat_lock();
	node = name == NULL ? NULL : hy_compat_node_find(name);
	if (node != NULL)
		node->lcore_id = lcore_id;
	else
		HY_LOG(ERR, "rte_graph: there is no node '%s'", name == NULL ? "(null)" : name);
	hy_compat_unlock();
	return node == NULL ? -EINVAL : 0;
}

/* Whether a graph may be bound. Returns 0 or a negative errno (logged). */
static int
bind_check(const struct compat_graph *graph, int lcore)
{
	if (lcore < 0 || rte_eal_lcore_role((unsigned int)lcore) == ROLE_OFF) {
		HY_LOG(ERR, "rte_graph: graph '%s': lcore %d is not one of the program's",
			graph->pub.name, lcore);
		return -ENOLINK;
	}
	if (graph->pub.model != RTE_GRAPH_MODEL_MCORE_DISPATCH) {
		HY_LOG(ERR, "rte_graph: graph '%s' cannot be bound: its model is not dispatch",
			graph->pub.name);
		return -EPERM;
	}
	if (graph->family->bound[lcore] != NULL && graph->family->bound[lcore] != graph) {
		HY_LOG(ERR, "rte_graph: graph '%s': lcore %d has '%s' already", graph->pub.name,
			lcore, graph->family->bound[lcore]->pub.name);
		return -EEXIST;
	}
	return 0;
}

/* Gives a graph a queue, and the core's node that empties it. */
static int
queue_add(struct compat_graph *graph)
{
	int rc = hy_compat_queue_new(graph);

	if (rc == -ENOMEM)
		HY_LOG(ERR, "rte_graph: graph '%s': not enough memory for its queue",
			graph->pub.name);
	if (rc < 0)
		return rc;
	rc = hy_compat_graph_compile(graph, NULL, graph);
	if (rc < 0)
		hy_compat_queue_free(graph);
	return rc;
}

int
rte_graph_model_mcore_dispatch_core_bind(rte_graph_t id, int lcore)
{
	struct compat_graph *graph;
	int rc;

	hy_compat_lock();
	graph = hy_compat_graph_of_id(id);
	if (graph == NULL)
		HY_LOG(ERR, "rte_graph: there is no graph of id %u", id);
	rc = graph == NULL ? -ENOENT : bind_check(graph, lcore);
	if (rc == 0 && graph->queue == NULL)
		rc = queue_add(graph);
	if (rc == 0) {
		hy_compat_graph_unbind(graph);
		graph->pub.dispatch.lcore_id = (unsigned int)lcore;
		graph->family->bound[lcore] = graph;
	}
	hy_compat_unlock();
	if (rc < 0)
		hy_compat_errno(rc);
	return rc;
}

void
hy_compat_graph_unbind(struct compat_graph *graph)
{
	const unsigned int lcore = graph->pub.dispatch.lcore_id;

	if (lcore != RTE_MAX_LCORE)
		graph->family->bound[lcore] = NULL;
	graph->pub.dispatch.lcore_id = RTE_MAX_LCORE;
}

void
rte_graph_model_mcore_dispatch_core_unbind(rte_graph_t id)
{
	struct compat_graph *graph;

	hy_compat_lock();
	graph = hy_compat_graph_of_id(id);
	if (graph != NULL)
		hy_compat_graph_unbind(graph);
	hy_compat_unlock();
}

static struct compat_graph *
graph_of(const struct shadow *shadow)
{
	return (struct compat_graph *)shadow->pub.graph;
}

/* Queues a burst where its node runs. Returns false if there is no room. */
static bool
send(struct shadow *shadow, struct compat_graph *to, void **objs, uint16_t n)
{
	if (!hy_compat_queue_put(to, shadow->pub.id, objs, n))
		return false;
	if (to == graph_of(shadow))
		return true;
	hy_count(&shadow->pub.dispatch.total_sched_objs, n);
	if (to->notify != NULL)
		to->notify(&to->pub, to->notify_arg);
	return true;
}

/* Keeps objects behind what is held already. */
static void
hold(struct shadow *shadow, struct hy_node *core, void **objs, uint16_t n)
{
	struct compat_graph *graph = graph_of(shadow);
	const uint32_t kept = RTE_MIN((uint32_t)n, UINT16_MAX - shadow->nb_held);

	if (shadow->nb_held == 0) {
		shadow->next_holding = graph->holding;
		graph->holding = shadow;
	}
	memcpy(shadow->held + shadow->nb_held, objs, kept * sizeof(*objs));
	shadow->nb_held += kept;
	hy_count(&shadow->pub.dispatch.total_sched_fail, n);
	if (unlikely(kept < n)) {
		hy_count(&core->edges[-1 - HY_CORE_DROP_STREAM_FULL].objs, n - kept);
		graph->ops.release(objs + kept, n - kept);
	}
}

bool
hy_compat_hand_over(struct shadow *shadow, struct hy_node *core, void **objs, uint16_t n)
{
	struct compat_graph *to = graph_of(shadow)->family->bound[shadow->pub.dispatch.lcore_id];

	if (to == NULL)
		return false;
	if (shadow->nb_held > 0 || !send(shadow, to, objs, n))
		hold(shadow, core, objs, n);
	return true;
}

/* Sends what a node holds, as far as there is room. What is to run here, after all, goes through
 * the graph's own queue. */
static void
shadow_send(struct shadow *shadow)
{
	struct compat_graph *to = hy_compat_elsewhere(&shadow->pub)
		? graph_of(shadow)->family->bound[shadow->pub.dispatch.lcore_id]
		: NULL;
	uint32_t sent = 0, n;

	if (to == NULL)
		to = graph_of(shadow);
	for (; sent < shadow->nb_held; sent += n) {
		n = RTE_MIN(shadow->nb_held - sent, (uint32_t)RTE_GRAPH_BURST_SIZE);
		if (!send(shadow, to, shadow->held + sent, (uint16_t)n))
			break;
	}
	shadow->nb_held -= sent;
	if (sent > 0)
		memmove(shadow->held, shadow->held + sent, shadow->nb_held * sizeof(void *));
}

void
hy_compat_held_send(struct compat_graph *graph)
{
	struct shadow **link = &graph->holding;

	while (*link != NULL) {
		struct shadow *shadow = *link;

		shadow_send(shadow);
		if (shadow->nb_held == 0)
			*link = shadow->next_holding;
		else
			link = &shadow->next_holding;
	}
}

uint64_t
hy_compat_held(const struct compat_graph *graph)
{
	uint64_t held = 0;

	for (const struct shadow *shadow = graph->holding; shadow != NULL;
		shadow = shadow->next_holding)
		held += shadow->nb_held;
	return held;
}

void
hy_compat_held_release(struct compat_graph *graph)
{
	for (; graph->holding != NULL; graph->holding = graph->holding->next_holding)
		graph->ops.release(graph->holding->held, graph->holding->nb_held);
}
