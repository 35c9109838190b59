/* SPDX-License-Identifier: BSD-3-Clause */
/* The forwarding graph of one port with an access list, for hy-bench acl. */
#pragma once

#include <hy_acl.h>

#include "acl.h"
#include "l3fwd.h"

/* Where the list is bound. */
enum acl_at { ACL_NOWHERE, ACL_AT_IN, ACL_AT_OUT };

struct acl_graph {
	struct l3fwd_table *table; /* leads everywhere */
	struct l3fwd_rig rig;
	struct rte_rcu_qsbr *qsbr;
	struct hy_acl *acl;
	struct hy_policy *policy; /* of the list */
	struct l3fwd_way way;
};

/* Creates the rig's ports, once for all works. Returns false after bench_cannot(). */
bool acl_graph_ports(void);

/*
 * Packets of the first keys of a set that routers may forward, n at most; they have 5-tuples of
 * IPv4. Freed with free(3). Their number may be 0.
 */
struct l3fwd_traffic *acl_graph_traffic(const struct l3fwd_table *table,
	struct acl_set *const sets[], unsigned int nb_sets, uint32_t n);

/* Whether a set's rules permit packet i; no rule: yes. */
bool acl_graph_permits(const struct acl_set *set, const struct l3fwd_traffic *traffic, uint32_t i);

/*
 * Makes the graph, with an empty list that is bound nowhere, and room for max_rules. It takes over
 * the table and the traffic. acl_graph_free() must be called even after false (bench_cannot()).
 */
bool acl_graph_make(struct acl_graph *g, struct l3fwd_table *table, struct l3fwd_traffic *traffic,
	uint32_t max_rules);
void acl_graph_free(struct acl_graph *g);

/* Replaces the list's rules. Returns 0 or a negative errno. */
int acl_graph_rules(struct acl_graph *g, const struct acl_set *set);

/* Binds the list. The graph rests, and walks once. Returns 0 or a negative errno. */
int acl_graph_bind(struct acl_graph *g, enum acl_at at);
