/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The dispatch model of rte_graph: the model of graphs, the lcores of nodes, and the lcore that
 * walks a graph. Bursts are not handed from lcore to lcore, and graphs that need that are refused.
 */

#include <errno.h>

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

	if (!rte_graph_model_is_valid(model))
		return HY_REFUSE(-EINVAL, "rte_graph: there is no model %u: they are %u and %u",
			model, RTE_GRAPH_MODEL_RTC, RTE_GRAPH_MODEL_MCORE_DISPATCH);
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

	if (lcore_id >= RTE_MAX_LCORE)
		return HY_REFUSE(-EINVAL, "rte_graph: there is no lcore %u: they are below %u",
			lcore_id, RTE_MAX_LCORE);
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
	if (lcore < 0 || rte_eal_lcore_role((unsigned int)lcore) == ROLE_OFF)
		return HY_REFUSE(-ENOLINK,
			"rte_graph: graph '%s': lcore %d is not one of the program's",
			graph->pub.name, lcore);
	if (graph->pub.model != RTE_GRAPH_MODEL_MCORE_DISPATCH)
		return HY_REFUSE(-EPERM,
			"rte_graph: graph '%s' cannot be bound: its model is not dispatch",
			graph->pub.name);
	for (rte_node_t i = 0; i < graph->pub.nb_nodes; i++) {
		const struct rte_node *node = graph->pub.nodes[i];

		if (node->dispatch.lcore_id == RTE_MAX_LCORE ||
			node->dispatch.lcore_id == (unsigned int)lcore)
			continue;
		return HY_REFUSE(-ENOTSUP,
			"rte_graph: graph '%s' cannot be bound to lcore %d: its node '%s' runs on "
			"lcore %u, and bursts are handed from lcore to lcore by hy_dispatch.h only",
			graph->pub.name, lcore, node->name, node->dispatch.lcore_id);
	}
	return 0;
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
	if (rc == 0)
		graph->pub.dispatch.lcore_id = (unsigned int)lcore;
	return hy_compat_end(rc);
}

void
rte_graph_model_mcore_dispatch_core_unbind(rte_graph_t id)
{
	struct compat_graph *graph;

	hy_compat_lock();
	graph = hy_compat_graph_of_id(id);
	if (graph != NULL)
		graph->pub.dispatch.lcore_id = RTE_MAX_LCORE;
	hy_compat_unlock();
}
