/* SPDX-License-Identifier: BSD-3-Clause */
/* From selections to nodes of the graph registry: shared ones, and ones of a port's own. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hal.h"

/* A variant's implementation, with what it leaves to its family. */
static struct hy_node_impl
impl_of(const struct hy_selection *s)
{
	struct hy_node_impl impl = s->chosen->impl;

	if (impl.init == NULL && impl.fini == NULL && impl.ctx_size == 0) {
		impl.init = s->family->node.impl.init;
		impl.fini = s->family->node.impl.fini;
		impl.ctx_size = s->family->node.impl.ctx_size;
	}
	return impl;
}

/* "port 0,2", in order. Ports that find no room are "...", never a part of a number. */
static void
target_write(struct hy_hal_node *node)
{
	char *text = node->placement.target;
	const size_t size = sizeof(node->placement.target);
	size_t used = 0;

	text[0] = '\0';
	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++) {
		if (!node->ports[p])
			continue;
		if (used + sizeof(",65535,...") > size) {
			snprintf(text + used, size - used, ",...");
			return;
		}
		used += snprintf(text + used, size - used, "%s%u", used > 0 ? "," : "port ", p);
	}
}

/* Notes that a node is for a target. */
static void
target_add(struct hy_hal_node *node, struct hy_target target)
{
	if (target.kind == HY_TARGET_PORT) {
		node->ports[target.id] = true;
		target_write(node);
	} else {
		hy_target_text(target, node->placement.target, sizeof(node->placement.target));
	}
}

static int
node_note(struct hy_hal *hal, const struct hy_selection *s, hy_node_id id, bool made)
{
	struct hy_hal_node **nodes = realloc(hal->nodes, (hal->nb_nodes + 1) * sizeof(*nodes));
	struct hy_hal_node *node = calloc(1, sizeof(*node));

	if (nodes != NULL)
		hal->nodes = nodes;
	if (nodes == NULL || node == NULL) {
		free(node);
		return -ENOMEM;
	}
	node->id = id;
	node->made = made;
	node->shared = !made;
	node->family = s->family;
	node->variant = s->chosen;
	node->placement.family = s->family->node.name;
	node->placement.variant = s->chosen->impl.variant;
	hy_node_name(id, node->placement.node, sizeof(node->placement.node));
	nodes[hal->nb_nodes++] = node;
	target_add(node, s->target);
	return 0;
}

int
hy_hal_node_clone(struct hy_hal *hal, const char *family, uint16_t port, const char *suffix,
	hy_node_id *id)
{
	const struct hy_selection *s = hy_hal_selection(hal, family, port);
	struct hy_node_impl impl;
	hy_node_id base;
	int rc;

	if (s == NULL || hy_node_lookup(family, &base) < 0)
		return -ENOENT;
	rc = hy_node_clone(base, suffix, id);
	if (rc < 0)
		return rc;
	impl = impl_of(s);
	rc = hy_node_impl_set(*id, &impl);
	if (rc == 0)
		rc = node_note(hal, s, *id, true);
	if (rc < 0)
		hy_node_unregister(*id);
	return rc;
}

/* The node that another port with the same selection was given. */
static struct hy_hal_node *
shared_find(const struct hy_hal *hal, const struct hy_selection *s)
{
	for (unsigned int i = 0; i < hal->nb_nodes; i++) {
		struct hy_hal_node *node = hal->nodes[i];

		if (node->shared && node->family == s->family && node->variant == s->chosen)
			return node;
	}
	return NULL;
}

/*
 * Takes a target from the shared node that an earlier selection gave it, if it was another. The
 * family's own node, if it then has no target, is to be given another variant.
 */
static void
shared_leave(struct hy_hal *hal, const struct hy_selection *s)
{
	for (unsigned int i = 0; i < hal->nb_nodes; i++) {
		struct hy_hal_node *node = hal->nodes[i];

		if (!node->shared || node->family != s->family || node->variant == s->chosen)
			continue;
		node->ports[s->target.id] = false;
		target_write(node);
		if (!node->made && node->placement.target[0] == '\0') {
			free(node);
			hal->nodes[i] = hal->nodes[--hal->nb_nodes];
			return;
		}
	}
}

/* Whether the family's own node runs another variant for other targets. */
static bool
base_taken(const struct hy_hal *hal, const struct hy_selection *s)
{
	for (unsigned int i = 0; i < hal->nb_nodes; i++)
		if (!hal->nodes[i]->made && hal->nodes[i]->family == s->family)
			return true;
	return false;
}

/* The family's own node, with the selected variant. */
static int
base_node(struct hy_hal *hal, const struct hy_selection *s, hy_node_id *id)
{
	const struct hy_node_impl impl = impl_of(s);
	int rc = hy_node_lookup(s->family->node.name, id);

	if (rc == 0)
		rc = hy_node_impl_set(*id, &impl);
	return rc < 0 ? rc : node_note(hal, s, *id, false);
}

int
hy_hal_node(struct hy_hal *hal, const char *family, uint16_t port, hy_node_id *id)
{
	const struct hy_selection *s = hy_hal_selection(hal, family, port);
	struct hy_hal_node *node;
	int rc;

	if (s == NULL)
		return -ENOENT;
	shared_leave(hal, s);
	node = shared_find(hal, s);
	if (node != NULL) {
		target_add(node, s->target);
		*id = node->id;
		return 0;
	}
	if (!base_taken(hal, s))
		return base_node(hal, s, id);
	rc = hy_hal_node_clone(hal, family, port, s->chosen->impl.variant, id);
	if (rc == 0)
		hal->nodes[hal->nb_nodes - 1]->shared = true;
	return rc;
}

const struct hy_placement *
hy_hal_placement(const struct hy_hal *hal, const char *node)
{
	for (unsigned int i = 0; i < hal->nb_nodes; i++)
		if (strcmp(hal->nodes[i]->placement.node, node) == 0)
			return &hal->nodes[i]->placement;
	return NULL;
}
