/* SPDX-License-Identifier: BSD-3-Clause */
/* What acl_in and acl_out share with their set-up. */
#pragma once

#include <rte_mbuf.h>

#include <hy_acl_node.h>
#include <hy_arc.h>

#define ACL_ONWARD UINT16_MAX /* in acl_ctx.ways: along the arc */

struct acl_ctx {
	struct hy_arc_place place;
	const struct hy_acl_table *table;
	struct hy_acl_log *log;
	uint16_t *ways; /* edge, drop or ACL_ONWARD by class; NULL: all go on */
	uint16_t worker, port;
	bool out;
	int socket; /* of the graph */
	uint16_t to_port[RTE_MAX_ETHPORTS];
};

/* Records a packet of a rule, unless the worker has done so a short while ago. */
void acl_log(const struct acl_ctx *ctx, const struct hy_acl_shown *list,
	const struct hy_policy_rule *rule, const struct hy_flow_key *key, const struct rte_mbuf *m,
	uint64_t now, bool dropped);

struct hy_mark_table;
struct hy_mark_worker;

/*
 * Holds packets of a port whose hardware has rules of the list against what it should have done with
 * them. Those are objs[mine[k]], with their keys and the ranks of their rules in the table's view.
 */
void acl_verify(const struct hy_mark_table *table, struct hy_mark_worker *worker,
	void *const objs[], const uint16_t mine[], const struct hy_flow_key key[],
	const uint32_t rank[], uint16_t n);

int acl_init(const struct hy_graph *graph, struct hy_node *node, const void *config);
void acl_fini(const struct hy_graph *graph, struct hy_node *node);
