/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Quiescence: a graph that has a QSBR variable tells its writers when it holds nothing of what it
 * has looked up. It is a reader of the variable from creation to destruction, and online from the
 * start of a walk until hy_graph_rest(); in between it reports at the end of each walk. So a graph
 * that nobody walks keeps no writer waiting.
 */
#pragma once

#include <rte_rcu_qsbr.h>

#include <hy_graph_worker.h>

/* Refuses an id under which another graph reports already: -EBUSY. Wants the registry's lock. */
int hy_qsbr_check(const char *name, const struct hy_graph_params *params);
/* Make a graph a reader of its variable, offline, and no reader any more. Both do so if it has one. */
void hy_qsbr_join(struct hy_graph *graph);
void hy_qsbr_leave(struct hy_graph *graph);

/* The worker's part, before a walk: goes online, if it rested. */
void hy_qsbr_wake(struct hy_graph *graph);

/* Whether objects wait in a graph between two walks: in a cycle, or for room. */
static inline bool
hy_graph_holds(const struct hy_graph *graph)
{
	uint64_t pending = 0;

	for (unsigned int w = 0; w < graph->plan.nb_words; w++)
		pending |= graph->plan.pending[w];
	return pending != 0;
}

/* The worker's part, at the end of a walk. Waiting objects hold references. */
static __rte_always_inline void
hy_qsbr_report(struct hy_graph *graph)
{
	if (graph->qsbr != NULL && !hy_graph_holds(graph))
		rte_rcu_qsbr_quiescent(graph->qsbr, graph->reader);
}
