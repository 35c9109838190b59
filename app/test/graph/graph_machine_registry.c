/* SPDX-License-Identifier: BSD-3-Clause */
/* What the machine does to the registry: each thing to the library, and to the model. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_common.h>

#include "graph_machine_model.h"

static bool
is_source(unsigned int node)
{
	return node % (machine.setup.nb_nodes / 2) < machine.setup.nb_sources;
}

static hy_node_id
id_of(unsigned int node)
{
	return machine.nodes[node].registered ? machine.nodes[node].id : UINT32_MAX;
}

static int
edge_to(const struct machine_node *m, unsigned int target)
{
	for (unsigned int e = 0; e < m->nb_edges; e++)
		if (m->edges[e] == target)
			return (int)e;
	return -1;
}

void
machine_configure(unsigned int node)
{
	struct machine_node *m = &machine.nodes[node];
	const struct machine_ctx config = { .node = node, .serial = ++machine.serial };
	const int rc = hy_node_config(id_of(node), &config, sizeof(config));

	CHECK(rc == (m->registered ? 0 : -ENOENT), "config of node %u: %d", node, rc);
	m->serial = machine.serial;
	m->revision++;
}

static struct hy_node_impl
impl_of(unsigned int impl)
{
	return (struct hy_node_impl){ .variant = impl == 0 ? "a" : "b",
		.process = impl == 0 ? machine_process_a : machine_process_b,
		.init = machine_init,
		.fini = machine_fini,
		.ctx_size = sizeof(struct machine_ctx) };
}

static void
draw_edges(unsigned int node, struct machine_node *m)
{
	/* At least one way on, if chains are wanted. */
	const unsigned int n = machine.setup.bare ? 1 + machine_draw(3)
						  : machine_draw(is_source(node) ? 8 : 5);

	for (unsigned int i = 0; i < n; i++) {
		const unsigned int near = node + 1 + machine_draw(16);
		const unsigned int to = near < machine.setup.nb_nodes ? near : machine_draw_node();

		/* Mostly forward: else nearly every graph of some size had cycles. */
		if (to == node || edge_to(m, to) >= 0 || (to < node && machine_draw(32) != 0))
			continue;
		if (!is_source(to) || machine_draw(64) == 0)
			m->edges[m->nb_edges++] = (uint16_t)to;
	}
}

void
machine_register(unsigned int node)
{
	struct machine_node *m = &machine.nodes[node], made = { 0 };
	char name[HY_NAME_SIZE], targets[MACHINE_EDGES][HY_NAME_SIZE];
	struct hy_node_desc desc = { .name = name };
	const unsigned int odds = machine.setup.nb_nodes < 40 && !machine.setup.bare ? 8 : 40;
	int rc;

	machine_name(node, name);
	made.source = is_source(node);
	made.can_drop = machine_draw(4) == 0;
	made.replicates = !made.source && machine_draw(odds) == 0 ? (uint16_t)(2 + machine_draw(3))
								  : 1;
	made.style = (enum machine_style)machine_draw(STYLES);
	if (machine_draw(40) == 0)
		made.lanes[made.nb_lanes++] = 1 + machine_draw(LANES - 1);
	made.lanes[made.nb_lanes++] = LANE_VALUE;
	if (node % 4 == 0)
		made.lanes_set = 1; /* if it has one of 32 bits, its first is */
	if (machine.setup.bare)
		made.nb_lanes = made.lanes_set = 0;
	draw_edges(node, &made);
	desc.flags = made.source ? HY_NODE_SOURCE : 0;
	desc.impl = impl_of(0);
	desc.replicates = made.replicates;
	desc.lanes_set = made.lanes_set;
	for (unsigned int e = 0; e < made.nb_edges; e++) {
		machine_name(made.edges[e], targets[e]);
		desc.edges[e] = targets[e];
	}
	for (unsigned int d = 0; made.can_drop && d < MACHINE_DROPS; d++)
		desc.drops[d].name = d == 0 ? "d0" : "d1";
	for (unsigned int l = 0, narrow = 0, wide = 0; l < made.nb_lanes; l++) {
		const unsigned int lane = made.lanes[l];

		if (lane < LANE_WIDE) {
			desc.lanes[narrow++] = machine_lane_names[lane];
			continue;
		}
		strcpy(desc.wide[wide].name, machine_lane_names[lane]);
		desc.wide[wide++].bytes = machine_lane_bytes[lane];
	}
	rc = hy_node_register(&desc, &made.id);
	CHECK(rc == (m->registered ? -EEXIST : 0), "register node %u: %d", node, rc);
	if (rc != 0)
		return;
	made.registered = true;
	*m = made;
	machine_configure(node);
}

void
machine_unregister(unsigned int node)
{
	struct machine_node *m = &machine.nodes[node];
	int rc = hy_node_unregister(id_of(node)), wanted = m->registered ? 0 : -ENOENT;

	for (unsigned int i = 0; i < MACHINE_GRAPHS && m->registered; i++) {
		const struct machine_graph *g = &machine.graphs[i];

		if (g->graph != NULL && (g->now.in[node] || (g->pending && g->next.in[node])))
			wanted = -EBUSY;
	}
	CHECK(rc == wanted, "unregister node %u: %d, expected %d", node, rc, wanted);
	if (rc == 0)
		m->registered = false;
}

void
machine_clone(unsigned int node)
{
	const unsigned int half = machine.setup.nb_nodes / 2;
	const struct machine_node *m = &machine.nodes[node];
	struct machine_node *copy;
	hy_node_id id = 0;
	int rc, wanted;

	if (node >= half)
		return;
	copy = &machine.nodes[node + half];
	rc = hy_node_clone(id_of(node), "c", &id);
	wanted = !m->registered                ? -ENOENT
		: edge_to(m, node + half) >= 0 ? -EINVAL
		: copy->registered             ? -EEXIST
					       : 0;
	CHECK(rc == wanted, "clone node %u: %d, expected %d", node, rc, wanted);
	if (rc != 0)
		return;
	*copy = *m;
	copy->id = id;
	machine_configure(node + half);
}

static void
check_edges(unsigned int node)
{
	const struct machine_node *m = &machine.nodes[node];
	char target[HY_NAME_SIZE], wanted[HY_NAME_SIZE];
	uint16_t n = 0, found = 0;

	if (!m->registered)
		return;
	CHECK(hy_node_edge_count(m->id, &n) == 0 && n == m->nb_edges,
		"node %u has %u edges, expected %u", node, n, m->nb_edges);
	for (uint16_t e = 0; e < m->nb_edges; e++) {
		machine_name(m->edges[e], wanted);
		CHECK(hy_node_edge_target(m->id, e, target, sizeof(target)) == 0 &&
				strcmp(target, wanted) == 0,
			"node %u: edge %u leads to %s, expected %s", node, e, target, wanted);
		/* Adding it again finds it: the index by name is right. */
		CHECK(hy_node_edge_add(m->id, wanted, &found) == 0 && found == e,
			"node %u: edge %u to %s is found as %u", node, e, wanted, found);
	}
}

void
machine_edge_add(unsigned int node, unsigned int target)
{
	struct machine_node *m = &machine.nodes[node];
	const int known = edge_to(m, target);
	const int wanted = !m->registered ? -ENOENT : target == node ? -EINVAL : 0;
	char name[HY_NAME_SIZE];
	uint16_t edge = 0;
	int rc;

	if (known < 0 && m->nb_edges == MACHINE_EDGES)
		return;
	machine_name(target, name);
	rc = hy_node_edge_add(id_of(node), name, &edge);
	CHECK(rc == wanted, "edge from %u to %u: %d, expected %d", node, target, rc, wanted);
	if (rc != 0)
		return;
	CHECK(edge == (known < 0 ? m->nb_edges : (unsigned int)known), "edge to %u is %u", target,
		edge);
	if (known < 0)
		m->edges[m->nb_edges++] = (uint16_t)target;
	check_edges(node);
}

void
machine_edge_set(unsigned int node, unsigned int target)
{
	struct machine_node *m = &machine.nodes[node];
	const unsigned int edge = machine_draw(m->nb_edges + 1);
	const int known = edge_to(m, target);
	char name[HY_NAME_SIZE];
	int rc, wanted = 0;

	machine_name(target, name);
	rc = hy_node_edge_set(id_of(node), (uint16_t)edge, name);
	if (!m->registered || edge >= m->nb_edges)
		wanted = -ENOENT;
	else if (target == node)
		wanted = -EINVAL;
	else if (known >= 0 && known != (int)edge)
		wanted = -EEXIST;
	CHECK(rc == wanted, "edge %u of %u to %u: %d, expected %d", edge, node, target, rc, wanted);
	if (rc == 0)
		m->edges[edge] = (uint16_t)target;
	check_edges(node);
}

void
machine_edge_shrink(unsigned int node)
{
	struct machine_node *m = &machine.nodes[node];
	const unsigned int n = machine_draw(m->nb_edges + 2);
	const int rc = hy_node_edge_shrink(id_of(node), (uint16_t)n);
	const int wanted = !m->registered ? -ENOENT : n > m->nb_edges ? -EINVAL : 0;

	CHECK(rc == wanted, "node %u to %u edges: %d, expected %d", node, n, rc, wanted);
	if (rc == 0)
		m->nb_edges = n;
	check_edges(node);
}

void
machine_impl_set(unsigned int node)
{
	struct machine_node *m = &machine.nodes[node];
	const unsigned int which = machine_draw(2);
	const struct hy_node_impl impl = impl_of(which);
	const int rc = hy_node_impl_set(id_of(node), &impl);

	CHECK(rc == (m->registered ? 0 : -ENOENT), "implementation of node %u: %d", node, rc);
	if (rc == 0 && m->impl != which) {
		m->impl = which;
		m->revision++;
	}
}
