/* SPDX-License-Identifier: BSD-3-Clause */
/* From selections to nodes of the graph registry: shared ones, and ones of a port's own. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hal/internal/hal.h"
#include "lib/graph/internal/owner.h"

/* Of clones: programs configure them and lead their edges, as those of other nodes. */
static const struct hy_reg_owner owner = { .name = "a HAL", .lends = true };

bool
hy_place_suits(const struct hy_hal_node *node, const struct hy_selection *s)
{
	return node->variant == s->chosen &&
		(s->chosen->on == HY_TARGET_PROCESS || hy_target_same(node->placement.on, s->on));
}

int
hy_place_impl(const struct hy_hal_node *node)
{
	const struct hy_node_impl impl = hy_variant_impl(node->family, node->variant);

	return hy_node_impl_set(node->id, &impl);
}

/* The node runs what a selection chose from the next update of a graph on. */
static int
variant_set(struct hy_hal_node *node, const struct hy_selection *s)
{
	const bool moves = node->variant == s->chosen && !hy_place_suits(node, s);

	node->variant = s->chosen;
	node->placement.variant = s->chosen->impl.variant;
	node->placement.on = s->on;
	if (moves) /* its context is of the device before */
		hy_registry_renew(node->id);
	return hy_place_impl(node);
}

/* "process", "port 0,2", "event device 0 with port 1,3": of a family's kind, the i-th target. */
static struct hy_target
target_at(const struct hy_hal_node *node, unsigned int i)
{
	struct hy_target target = { .kind = node->family->target, .id = (uint16_t)i };

	if (hy_target_peer(target).kind != HY_TARGET_PROCESS) {
		target.id = (uint16_t)(i / HY_PEERS_MAX);
		target.peer = (uint16_t)(i % HY_PEERS_MAX);
	}
	return target;
}

/* All targets, in order. Those that find no room are "...", never a part of a number. */
static void
target_write(struct hy_hal_node *node)
{
	char *text = node->placement.target, whole[HY_NAME_SIZE], last[HY_NAME_SIZE] = "";
	const size_t size = sizeof(node->placement.target);
	size_t used = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < HY_TARGETS_MAX; i++) {
		size_t same = 0;

		if (!node->at[i])
			continue;
		hy_target_text(target_at(node, i), whole, sizeof(whole));
		/* What differs only in its last number is told by that. */
		if (strrchr(whole, ' ') != NULL)
			same = (size_t)(strrchr(whole, ' ') + 1 - whole);
		if (strncmp(whole, last, same) != 0 || last[0] == '\0')
			same = 0;
		if (used + RTE_MAX(strlen(whole + same), strlen("65535")) + sizeof(",,...") >
			size) {
			snprintf(text + used, size - used, ",...");
			return;
		}
		used += snprintf(text + used, size - used, "%s%s", used > 0 ? "," : "",
			whole + same);
		strcpy(last, whole);
	}
}

/* Notes that a node is for a target. */
static void
target_add(struct hy_hal_node *node, struct hy_target target)
{
	node->at[hy_target_index(target)] = true;
	target_write(node);
}

/* Makes a record of a node that is handed out, and gives it the selected variant. */
static int
node_note(struct hy_hal *hal, const struct hy_selection *s, hy_node_id id, bool made, bool shared)
{
	struct hy_hal_node **nodes = realloc(hal->nodes, (hal->nb_nodes + 1) * sizeof(*nodes));
	struct hy_hal_node *node = calloc(1, sizeof(*node));
	int rc = -ENOMEM;

	if (nodes != NULL)
		hal->nodes = nodes;
	if (nodes != NULL && node != NULL) {
		node->id = id;
		node->made = made;
		node->shared = shared;
		node->family = s->family;
		node->placement.family = s->family->node.name;
		hy_node_name(id, node->placement.node, sizeof(node->placement.node));
		rc = variant_set(node, s);
	}
	if (rc < 0) {
		free(node);
		return rc;
	}
	nodes[hal->nb_nodes++] = node;
	target_add(node, s->target);
	return 0;
}

/* Configures a shared node like the others of its family. */
static int
config_apply(const struct hy_hal *hal, const struct hy_family *family, hy_node_id id)
{
	for (unsigned int i = 0; i < hal->nb_configs; i++)
		if (hal->configs[i].family == family)
			return hy_node_config(id, hal->configs[i].data, hal->configs[i].size);
	return 0;
}

static int
clone_make(struct hy_hal *hal, const struct hy_selection *s, const char *suffix, bool shared,
	hy_node_id *id)
{
	hy_node_id base;
	int rc = hy_node_lookup(s->family->node.name, &base);

	if (rc == 0)
		rc = hy_node_clone(base, suffix, id);
	if (rc < 0)
		return rc;
	if (shared)
		rc = config_apply(hal, s->family, *id);
	if (rc == 0)
		rc = node_note(hal, s, *id, true, shared);
	if (rc < 0)
		hy_node_unregister(*id);
	else
		hy_registry_own(*id, &owner);
	return rc;
}

void
hy_place_remove(const struct hy_hal_node *node)
{
	hy_registry_own(node->id, NULL);
	hy_node_unregister(node->id);
}

int
hy_hal_node_clone_for(struct hy_hal *hal, const char *family, struct hy_target target,
	const char *suffix, hy_node_id *id)
{
	const struct hy_selection *s = hy_hal_selection_for(hal, family, target);

	return s == NULL ? -ENOENT : clone_make(hal, s, suffix, false, id);
}

int
hy_hal_node_clone(struct hy_hal *hal, const char *family, uint16_t port, const char *suffix,
	hy_node_id *id)
{
	const struct hy_target target = { HY_TARGET_PORT, port };

	return hy_hal_node_clone_for(hal, family, target, suffix, id);
}

/* The shared node that runs a selection's variant already. */
static struct hy_hal_node *
shared_find(const struct hy_hal *hal, const struct hy_selection *s)
{
	for (unsigned int i = 0; i < hal->nb_nodes; i++) {
		struct hy_hal_node *node = hal->nodes[i];

		if (node->shared && node->family == s->family && hy_place_suits(node, s))
			return node;
	}
	return NULL;
}

/* Takes a target from the shared node that an earlier selection gave it, if it was another. */
static void
shared_leave(struct hy_hal *hal, const struct hy_selection *s)
{
	for (unsigned int i = 0; i < hal->nb_nodes; i++) {
		struct hy_hal_node *node = hal->nodes[i];

		if (!node->shared || node->family != s->family || hy_place_suits(node, s))
			continue;
		node->at[hy_target_index(s->target)] = false;
		target_write(node);
	}
}

/* The record of the family's own node, or NULL. */
static struct hy_hal_node *
base_find(const struct hy_hal *hal, const struct hy_family *family)
{
	for (unsigned int i = 0; i < hal->nb_nodes; i++)
		if (!hal->nodes[i]->made && hal->nodes[i]->family == family)
			return hal->nodes[i];
	return NULL;
}

static int
base_note(struct hy_hal *hal, const struct hy_selection *s, hy_node_id *id)
{
	int rc = hy_node_lookup(s->family->node.name, id);

	if (rc == 0)
		rc = config_apply(hal, s->family, *id);
	return rc < 0 ? rc : node_note(hal, s, *id, false, true);
}

/* What a shared node is called behind its family's name: the variant, and its device if it names one. */
static const char *
clone_suffix(const struct hy_selection *s, char suffix[HY_NAME_SIZE])
{
	const char *const name = s->chosen->impl.variant;

	if (s->chosen->on == HY_TARGET_PROCESS)
		return name;
	if (hy_target_peer(s->on).kind == HY_TARGET_PROCESS)
		snprintf(suffix, HY_NAME_SIZE, "%.40s-%u", name, s->on.id);
	else
		snprintf(suffix, HY_NAME_SIZE, "%.40s-%u-%u", name, s->on.id, s->on.peer);
	return suffix;
}

/* Gives a target its shared node: one that runs the variant, or the family's own, or a new one. */
static int
shared_place(struct hy_hal *hal, const struct hy_selection *s, hy_node_id *id)
{
	struct hy_hal_node *node = shared_find(hal, s), *base = base_find(hal, s->family);
	char suffix[HY_NAME_SIZE];
	int rc = 0;

	if (node == NULL && base == NULL)
		return base_note(hal, s, id);
	/* The family's own node has another variant; nobody uses it any more. */
	if (node == NULL && base->placement.target[0] == '\0') {
		node = base;
		rc = variant_set(node, s);
	}
	if (node == NULL)
		return clone_make(hal, s, clone_suffix(s, suffix), true, id);
	target_add(node, s->target);
	*id = node->id;
	return rc;
}

int
hy_hal_node_for(struct hy_hal *hal, const char *family, struct hy_target target, hy_node_id *id)
{
	const struct hy_selection *s = hy_hal_selection_for(hal, family, target);

	if (s == NULL)
		return -ENOENT;
	shared_leave(hal, s);
	return shared_place(hal, s, id);
}

int
hy_hal_node(struct hy_hal *hal, const char *family, uint16_t port, hy_node_id *id)
{
	return hy_hal_node_for(hal, family, (struct hy_target){ HY_TARGET_PORT, port }, id);
}

/* Whether a node was handed out for a selection's target. */
static bool
is_for(const struct hy_hal_node *node, const struct hy_selection *s)
{
	return node->family == s->family && node->at[hy_target_index(s->target)];
}

struct hy_hal_node *
hy_place_find(const struct hy_hal *hal, const struct hy_family *family, struct hy_target target)
{
	const unsigned int at = family->target == HY_TARGET_PROCESS ? 0 : hy_target_index(target);

	for (unsigned int i = 0; i < hal->nb_nodes; i++) {
		struct hy_hal_node *node = hal->nodes[i];

		if (node->shared && node->family == family && node->at[at])
			return node;
	}
	return NULL;
}

/* Whether the variant of a node that is in use names a kind of device, and runs on that port. */
static bool
runs_on_port(const struct hy_hal_node *node, uint16_t port)
{
	const struct hy_target on = node->placement.on, peer = hy_target_peer(on);

	return node->variant->on != HY_TARGET_PROCESS && node->placement.target[0] != '\0' &&
		((on.kind == HY_TARGET_PORT && on.id == port) ||
			(peer.kind == HY_TARGET_PORT && peer.id == port));
}

bool
hy_place_has_port(const struct hy_hal *hal, uint16_t port)
{
	bool has = false;

	for (unsigned int i = 0; i < hal->nb_nodes; i++) {
		const struct hy_hal_node *node = hal->nodes[i];
		struct hy_target pair = { .kind = HY_TARGET_EVENT_PORT, .peer = port };

		has |= runs_on_port(node, port);
		if (node->family->target == HY_TARGET_PORT)
			has |= node->at[port];
		if (node->family->target != HY_TARGET_EVENT_PORT)
			continue;
		for (pair.id = 0; pair.id < RTE_EVENT_MAX_DEVS; pair.id++)
			has |= node->at[hy_target_index(pair)];
	}
	return has;
}

/* Gives the nodes of a target's own its variant. */
static int
clones_place(const struct hy_hal *hal, const struct hy_selection *s)
{
	int rc = 0;

	for (unsigned int i = 0; i < hal->nb_nodes && rc == 0; i++) {
		struct hy_hal_node *node = hal->nodes[i];

		if (!node->shared && is_for(node, s) && !hy_place_suits(node, s))
			rc = variant_set(node, s);
	}
	return rc;
}

int
hy_place_again(struct hy_hal *hal, const struct hy_slate *slate)
{
	bool moves[slate->n + 1];
	hy_node_id id;
	int rc = 0;

	/* All leave before one is placed: a node that becomes free can then be used. */
	for (unsigned int i = 0; i < slate->n; i++) {
		const struct hy_selection *s = &slate->selections[i];
		const struct hy_hal_node *node = hy_place_find(hal, s->family, s->target);

		moves[i] = node != NULL && !hy_place_suits(node, s);
		if (moves[i])
			shared_leave(hal, s);
	}
	for (unsigned int i = 0; i < slate->n && rc == 0; i++) {
		rc = clones_place(hal, &slate->selections[i]);
		if (rc == 0 && moves[i])
			rc = shared_place(hal, &slate->selections[i], &id);
	}
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
