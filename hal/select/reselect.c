/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Selection while graphs run. It changes the registry, compiles all graphs from that, and publishes
 * them only when all are compiled. Until then everything can be undone without memory: a selection
 * in progress changes nothing, and restoring implementations and edges cannot fail.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hal/internal/hal.h"
#include "hal/internal/list.h"

/* The nodes and edges before a change. */
struct undo {
	struct hy_hal_node *nodes;
	unsigned int nb_nodes;
	char (*targets)[HY_NAME_SIZE]; /* by lead */
	bool changed;
};

int
hy_hal_node_config(struct hy_hal *hal, const char *family, const void *config, size_t size)
{
	const struct hy_family *of = hy_family_find(family);
	struct hy_hal_config *config_of = hy_list_room(&hal->configs, hal->nb_configs,
		sizeof(*config_of));
	void *copy = malloc(RTE_MAX(size, (size_t)1));
	unsigned int c = 0;
	int rc = 0;

	if (of == NULL || config_of == NULL || copy == NULL) {
		free(copy);
		return of == NULL ? -ENOENT : -ENOMEM;
	}
	memcpy(copy, config, size);
	for (unsigned int i = 0; i < hal->nb_nodes && rc == 0; i++)
		if (hal->nodes[i]->shared && hal->nodes[i]->family == of)
			rc = hy_node_config(hal->nodes[i]->id, copy, size);
	if (rc < 0) {
		free(copy);
		return rc;
	}
	while (c < hal->nb_configs && hal->configs[c].family != of)
		c++;
	hal->nb_configs += c == hal->nb_configs;
	config_of = &hal->configs[c];
	free(config_of->data);
	*config_of = (struct hy_hal_config){ .family = of, .data = copy, .size = size };
	return 0;
}

int
hy_hal_lead(struct hy_hal *hal, hy_node_id node, uint16_t edge, const char *family, uint16_t port)
{
	struct hy_lead *lead = hy_list_room(&hal->leads, hal->nb_leads, sizeof(*lead));
	struct hy_lead *const end = lead;
	char name[HY_NAME_SIZE];
	hy_node_id to;
	int rc;

	if (lead == NULL)
		return -ENOMEM;
	lead = hal->leads;
	while (lead < end && (lead->node != node || lead->edge != edge)) {
		if (lead->node == node && strcmp(lead->family->node.name, family) == 0)
			return -EEXIST;
		lead++;
	}
	rc = hy_hal_node(hal, family, port, &to);
	if (rc == 0)
		rc = hy_node_name(to, name, sizeof(name));
	if (rc == 0)
		rc = hy_node_edge_set(node, edge, name);
	if (rc < 0)
		return rc;
	hal->nb_leads += lead == end;
	*lead = (struct hy_lead){ .node = node,
		.edge = edge,
		.family = hy_family_find(family),
		.target = { HY_TARGET_PORT, port } };
	return 0;
}

/* Sets an edge to the node that its family and port have now. */
static int
lead_again(const struct hy_hal *hal, const struct hy_lead *lead, bool *changed)
{
	const struct hy_hal_node *to = hy_place_find(hal, lead->family, lead->target);
	char target[HY_NAME_SIZE];
	int rc = hy_node_edge_target(lead->node, lead->edge, target, sizeof(target));

	if (rc < 0 || to == NULL || strcmp(target, to->placement.node) == 0)
		return rc;
	*changed = true;
	return hy_node_edge_set(lead->node, lead->edge, to->placement.node);
}

static int
undo_make(const struct hy_hal *hal, struct undo *undo)
{
	int rc = 0;

	*undo = (struct undo){ .nb_nodes = hal->nb_nodes,
		.nodes = calloc(hal->nb_nodes + 1, sizeof(*undo->nodes)),
		.targets = calloc(hal->nb_leads + 1, sizeof(*undo->targets)) };
	if (undo->nodes == NULL || undo->targets == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < hal->nb_nodes; i++)
		undo->nodes[i] = *hal->nodes[i];
	for (unsigned int l = 0; l < hal->nb_leads && rc == 0; l++)
		rc = hy_node_edge_target(hal->leads[l].node, hal->leads[l].edge, undo->targets[l],
			sizeof(undo->targets[l]));
	return rc;
}

static bool
runs_the_same(const struct hy_hal_node *a, const struct hy_hal_node *b)
{
	return a->variant == b->variant &&
		(a->variant->on == HY_TARGET_PROCESS ||
			hy_target_same(a->placement.on, b->placement.on));
}

/* Restores nodes and edges, and removes nodes created since. */
static void
undo_do(struct hy_hal *hal, const struct undo *undo)
{
	for (unsigned int l = 0; l < hal->nb_leads; l++)
		hy_node_edge_set(hal->leads[l].node, hal->leads[l].edge, undo->targets[l]);
	for (unsigned int i = 0; i < undo->nb_nodes; i++) {
		const bool same = runs_the_same(hal->nodes[i], &undo->nodes[i]);

		*hal->nodes[i] = undo->nodes[i];
		if (!same)
			hy_place_impl(hal->nodes[i]);
	}
	while (hal->nb_nodes > undo->nb_nodes) {
		struct hy_hal_node *node = hal->nodes[--hal->nb_nodes];

		hy_place_remove(node);
		free(node);
	}
}

static void
undo_free(struct undo *undo)
{
	free(undo->nodes);
	free(undo->targets);
}

/* The graphs of a call. */
struct graphs {
	struct hy_graph *const *all;
	unsigned int n;
};

/* Changes nodes, edges and graphs; on an error, nothing. */
static int
apply(struct hy_hal *hal, const struct hy_slate *slate, void *arg, char *error)
{
	const struct graphs *graphs = arg;
	struct undo undo;
	int rc = undo_make(hal, &undo);

	if (rc < 0) {
		undo_free(&undo);
		return hy_no_memory(error);
	}
	rc = hy_place_again(hal, slate);
	undo.changed = hal->nb_nodes > undo.nb_nodes;
	for (unsigned int i = 0; i < undo.nb_nodes; i++)
		undo.changed |= !runs_the_same(hal->nodes[i], &undo.nodes[i]);
	for (unsigned int l = 0; l < hal->nb_leads && rc == 0; l++)
		rc = lead_again(hal, &hal->leads[l], &undo.changed);
	if (rc == 0 && (undo.changed || hal->fusions_due))
		rc = hy_graph_update_all(graphs->all, graphs->n);
	if (rc < 0) {
		undo_do(hal, &undo);
		snprintf(error, HY_HAL_ERROR_SIZE,
			"the graphs cannot be updated and stay as they are: %s", strerror(-rc));
	}
	undo_free(&undo);
	return rc;
}

int
hy_hal_reselect(struct hy_hal *hal, struct hy_graph *const *graphs, unsigned int n, char *error)
{
	struct graphs all = { graphs, n };

	hy_hal_probe(hal);
	return hy_slate_select(hal, error, apply, &all);
}

bool
hy_hal_settle(struct hy_hal *hal, struct hy_graph *const *graphs, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++)
		if (hy_graph_updating(graphs[i]))
			return false;
	hy_bindings_release(hal);
	return true;
}
