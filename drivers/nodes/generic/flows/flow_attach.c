/* SPDX-License-Identifier: BSD-3-Clause */
/* flow_lookup and flow_reinject are attached to their table. */

#include <errno.h>
#include <string.h>

#include <hy_flow_lookup.h>

int
hy_flow_lookup_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	const struct hy_flow_lookup_config *lookup = config;
	const uint16_t worker = hy_graph_worker(graph);
	struct hy_flow_lookup_ctx *ctx = node->ctx;
	int rc;

	if (lookup == NULL || lookup->table == NULL)
		return hy_node_refuse(graph, node,
			"needs a struct hy_flow_lookup_config with a table");
	rc = hy_flow_table_use(lookup->table, worker, hy_graph_qsbr(graph));
	if (rc == -EINVAL)
		return hy_node_refuse(graph, node,
			"belongs to worker %u; table of flows '%s' has %u workers, of its QSBR "
			"variable",
			worker, hy_flow_table_name(lookup->table),
			hy_flow_table_workers(lookup->table));
	if (rc < 0)
		return rc;
	ctx->table = lookup->table;
	ctx->flows = hy_flow_table_flows(lookup->table);
	ctx->upcalls = hy_flow_table_upcalls(lookup->table);
	ctx->worker = worker;
	ctx->marks = lookup->marks;
	memcpy(ctx->rss.promised, lookup->rss, sizeof(lookup->rss));
	return 0;
}

void
hy_flow_lookup_fini(const struct hy_graph *graph __rte_unused, struct hy_node *node)
{
	const struct hy_flow_lookup_ctx *ctx = node->ctx;

	hy_flow_table_unuse(ctx->table, ctx->worker);
}
