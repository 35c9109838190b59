/* SPDX-License-Identifier: BSD-3-Clause */
/* The context of a bridge's nodes. */

#include <string.h>

#include "l2_node.h"

int
l2_node_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	const struct hy_l2_config *l2 = config;
	const uint16_t worker = hy_graph_worker(graph);
	struct hy_l2_ctx *ctx = node->ctx;

	if (l2 == NULL)
		return hy_node_refuse(graph, node, "needs a struct hy_l2_config");
	if (worker >= l2->nb_workers)
		return hy_node_refuse(graph, node,
			"the bridge has %u workers, and none is number %u", l2->nb_workers, worker);
	if (l2->qsbr != NULL && hy_graph_qsbr(graph) != l2->qsbr)
		return hy_node_refuse(graph, node,
			"the graph does not report to the bridge's QSBR variable");
	ctx->table = l2->table;
	ctx->setup = l2->setup;
	ctx->worker = l2->workers[worker];
	memcpy(ctx->edge, l2->edge, sizeof(ctx->edge));
	return 0;
}
