/* SPDX-License-Identifier: BSD-3-Clause */
/* From selections to nodes of the graph registry: shared nodes, and a port's own nodes. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "hal/internal/hal.h"
#include "hal/internal/list.h"
#include "lib/graph/internal/guard.h"

/* Owner of clones. Programs may configure them and set their edges, as with other nodes. */
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

/* Gives a node the chosen variant, which it runs from the next update of its graph on. */
static int
variant_set(struct hy_hal_node *node, const struct hy_selection *s)
{
	const bool moves = node->variant == s->chosen && !hy_place_suits(node, s);

	node->variant = s->chosen;
	node->placement.variant = s->chosen->impl.variant;
	node->placement.on = s->on;
	if (moves) /* its context belongs to the previous device */
		hy_registry_renew(node->id);
	return hy_place_impl(node);
}

/* The target with index i, of the kind of the node's family. */
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

/*
 * Lists all targets in order: "process", "port 0,2", "event device 0 with port 1,3". Targets that
 * do not fit become "...", and no number is cut.
 */
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
		/* If only the last number differs from the previous target, write only that. */
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

static void
target_add(struct hy_hal_node *node, struct hy_target target)
{
	node->at[hy_target_index(target)] = true;
	target_write(node);
}

/* Records a node that is handed out, and gives it the chosen variant. */
static int
node_note(struct hy_hal *hal, const struct hy_selection *s, hy_node_id id, bool made, bool shared)
{
	struct hy_hal_node **added = hy_list_room(&hal->nodes, hal->nb_nodes, sizeof(*added));
	struct hy_hal_node *node = calloc(1, sizeof(*node));
	int rc = -ENOMEM;

	if (added != NULL && node != NULL) {
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
	*added = node;
	hal->nb_nodes++;
	target_add(node, s->target);
	return 0;
}

/* Gives a shared node the configuration of its family. */
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
	hy_registry_unregister(node->id, &owner);
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

/* The shared node that already runs the chosen variant, or NULL. */
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

/* Removes a target from the shared node of an earlier selection, if that does not suit any more. */
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

/* The suffix of a shared node's name: the variant, and its device if the variant names a kind. */
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

/* Finds the shared node of a target: one that runs the variant, the family's own, or a new one. */
static int
shared_place(struct hy_hal *hal, const struct hy_selection *s, hy_node_id *id)
{
	struct hy_hal_node *node = shared_find(hal, s), *base = base_find(hal, s->family);
	char suffix[HY_NAME_SIZE];
	int rc = 0;

	if (node == NULL && base == NULL)
		return base_note(hal, s, id);
	/* The family's own node runs another variant, but has no targets any more: reuse it. */
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

/*
 * Whether a node in use runs a variant that names a kind of device, on that port or a pair with it.
 */
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

/* Gives a target's own nodes the chosen variant. */
static int
clones_place(const struct hy_hal *hal, const struct hy_selection *s)
{
	int rc = 0;

	for (unsigned int i = 0; i < hal->nb_nodes && rc == 0; i++) {
		struct hy_hal_node *node = hal->nodes[i];

		if (!node->shared && node->family == s->family &&
			node->at[hy_target_index(s->target)] && !hy_place_suits(node, s))
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

	/* Remove all targets first: nodes that lose their last target can then be reused. */
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
