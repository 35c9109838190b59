/* SPDX-License-Identifier: BSD-3-Clause */
/* A graph as a reader of a QSBR variable: see qsbr.h. */

#include <errno.h>

#include "control.h"
#include "lib/graph/internal/log.h"
#include "qsbr.h"

int
hy_qsbr_check(const char *name, const struct hy_graph_params *params)
{
	const struct hy_graph *graph = NULL;

	if (params->qsbr == NULL)
		return 0;
	while ((graph = hy_graph_next(graph)) != NULL) {
		if (graph->qsbr != params->qsbr || graph->reader != params->worker)
			continue;
		return HY_REFUSE(-EBUSY,
			"graph '%s': graph '%s' reports to the QSBR variable as worker %u already; "
			"each graph wants a number of its own",
			name, graph->control->name, params->worker);
	}
	return 0;
}

void
hy_qsbr_join(struct hy_graph *graph)
{
	const struct hy_control *control = graph->control;

	graph->qsbr = control->params.qsbr;
	graph->reader = control->worker;
	graph->attention = HY_ATTEND_OFFLINE;
	if (graph->qsbr != NULL)
		rte_rcu_qsbr_thread_register(graph->qsbr, graph->reader);
}

void
hy_qsbr_leave(struct hy_graph *graph)
{
	if (graph->qsbr == NULL)
		return;
	/* First: a writer that waits already need not look again whether this one is registered. */
	rte_rcu_qsbr_thread_offline(graph->qsbr, graph->reader);
	rte_rcu_qsbr_thread_unregister(graph->qsbr, graph->reader);
}

void
hy_qsbr_wake(struct hy_graph *graph)
{
	if ((__atomic_load_n(&graph->attention, __ATOMIC_RELAXED) & HY_ATTEND_OFFLINE) == 0)
		return;
	/* The bit is the worker's own: only the word is shared, with those who set the others. Whoever
	 * still sees it is heard by what this walk loads: see hy_graph_resting(). */
	__atomic_and_fetch(&graph->attention, ~HY_ATTEND_OFFLINE, __ATOMIC_SEQ_CST);
	if (graph->qsbr != NULL)
		rte_rcu_qsbr_thread_online(graph->qsbr, graph->reader);
}

void
hy_graph_rest(struct hy_graph *graph)
{
	if (hy_graph_holds(graph))
		return;
	__atomic_or_fetch(&graph->attention, HY_ATTEND_OFFLINE, __ATOMIC_RELEASE);
	if (graph->qsbr != NULL)
		rte_rcu_qsbr_thread_offline(graph->qsbr, graph->reader);
}

bool
hy_graph_resting(const struct hy_graph *graph)
{
	return (__atomic_load_n(&graph->attention, __ATOMIC_SEQ_CST) & HY_ATTEND_OFFLINE) != 0;
}

struct rte_rcu_qsbr *
hy_graph_qsbr(const struct hy_graph *graph)
{
	return graph->control->params.qsbr;
}
