/* SPDX-License-Identifier: BSD-3-Clause */
/* Fusions as they are offered, and the chains of an image that they fit. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fuse.h"
#include "lib/graph/internal/log.h"
#include "lib/graph/internal/plugin_notes.h"

static const struct hy_plugin_number numbers[] = { HY_FUSE_NUMBERS };

RTE_INIT(numbers_add)
{
	hy_plugin_numbers_add(numbers, RTE_DIM(numbers));
}

struct offer {
	const struct hy_fuse *fuse;
	struct hy_plugin_user user;
	uintptr_t serial;   /* for the notes of a plugin that offers it while it is loaded */
	struct offer *next; /* in the order offered */
};

static struct offer *offers; /* under the registry's lock */

/* The link to the offer of a name, or to the end. */
static struct offer **
offer_link(const char *name)
{
	struct offer **link = &offers;

	while (*link != NULL && strcmp((*link)->fuse->name, name) != 0)
		link = &(*link)->next;
	return link;
}

/* Takes an offer out of the list, if there is one at the link. */
static bool
offer_remove(struct offer **link)
{
	struct offer *offer = *link;

	if (offer == NULL)
		return false;
	*link = offer->next;
	hy_plugin_user_remove(&offer->user);
	free(offer);
	return true;
}

/* While it is offered, it is a user of the plugin's code. */
static bool
note_busy(uintptr_t serial, char *error)
{
	RTE_SET_USED(serial);
	RTE_SET_USED(error);
	return false;
}

/* Of a plugin that is not loaded after all. */
static void
note_undo(uintptr_t serial)
{
	struct offer **link = &offers;

	hy_registry_lock();
	while (*link != NULL && (*link)->serial != serial)
		link = &(*link)->next;
	offer_remove(link);
	hy_registry_unlock();
}

static const struct hy_plugin_kind note_kind = { note_busy, note_undo };

/* With the registry's lock, which whoever unloads a plugin takes to look for its users. */
static int
offer_add(struct offer *offer)
{
	static uintptr_t serial;
	struct offer **link = offer_link(offer->fuse->name);

	if (*link != NULL)
		return -EEXIST;
	*link = offer;
	offer->serial = ++serial;
	hy_plugin_user_add(&offer->user);
	hy_plugin_registered(&note_kind, offer->serial);
	return 0;
}

static bool
is_complete(const struct hy_fuse *fuse)
{
	if (!hy_name_valid(fuse->name) || fuse->nb_nodes < 2 || fuse->nb_nodes > HY_FUSE_MAX ||
		fuse->run == NULL)
		return false;
	for (unsigned int i = 0; i < fuse->nb_nodes; i++)
		if (fuse->process[i] == NULL)
			return false;
	return true;
}

int
hy_fuse_offer(const struct hy_fuse *fuse)
{
	struct offer *offer;
	int rc;

	if (!is_complete(fuse))
		return HY_REFUSE(-EINVAL,
			"fusion '%.64s': needs a name, 2 to %d process functions, and one to run",
			fuse->name == NULL ? "" : fuse->name, HY_FUSE_MAX);
	offer = calloc(1, sizeof(*offer));
	if (offer == NULL)
		return HY_REFUSE(-ENOMEM, "fusion '%s': not enough memory", fuse->name);
	offer->fuse = fuse;
	offer->user = (struct hy_plugin_user){ .what = "fusion",
		.name = fuse->name,
		.code = { (uintptr_t)fuse, (uintptr_t)fuse->run, (uintptr_t)fuse->pick } };
	hy_registry_lock();
	rc = offer_add(offer);
	hy_registry_unlock();
	if (rc < 0) {
		free(offer);
		return HY_REFUSE(rc, "fusion '%s': one of that name is offered", fuse->name);
	}
	return 0;
}

int
hy_fuse_withdraw(const struct hy_fuse *fuse)
{
	struct offer **link = &offers;
	bool was;

	hy_registry_lock();
	while (*link != NULL && (*link)->fuse != fuse)
		link = &(*link)->next;
	was = offer_remove(link);
	hy_registry_unlock();
	return was ? 0 : -ENOENT;
}

/* Whether objects that leave a node need no lane: a fusion has none for them. */
static bool
leads_to_no_lane(const struct hy_image *image, const struct hy_node *node)
{
	const struct hy_image_node *cold = &image->nodes[node->rank];

	for (int e = -cold->nb_drops; e < cold->nb_edges; e++)
		if (node->edges[e].to != NULL && node->edges[e].to->lanes_in != 0)
			return false;
	return true;
}

/* Whether the chain that begins with a node has a fusion's functions and edges. */
static bool
fits(const struct hy_fuse *fuse, const struct hy_image *image, const struct hy_node *node)
{
	for (unsigned int i = 0;; i++) {
		const struct hy_image_node *cold = &image->nodes[node->rank];

		if (cold->impl.process != fuse->process[i] || node->replicates > 1)
			return false;
		if (i == fuse->nb_nodes - 1)
			return leads_to_no_lane(image, node);
		if (fuse->edge[i] >= cold->nb_edges)
			return false;
		node = node->edges[fuse->edge[i]].to;
	}
}

/* The first fusion offered that fits a node, and can pick or cannot; not of this edge. */
static const struct hy_fuse *
find(const struct hy_image *image, const struct hy_node *node, bool picks,
	const struct hy_fuse *first)
{
	for (const struct offer *o = offers; o != NULL; o = o->next)
		if ((o->fuse->pick != NULL) == picks &&
			(first == NULL || o->fuse->edge[0] != first->edge[0]) &&
			fits(o->fuse, image, node))
			return o->fuse;
	return NULL;
}

void
hy_image_fuse(struct hy_image *image)
{
	const struct hy_plan *plan = &image->plan;

	if (image->holds || plan->modelled || image->wide != NULL)
		return;
	for (unsigned int r = plan->nb_sources; r < plan->nb_nodes; r++) {
		struct hy_image_node *cold = &image->nodes[r];

		cold->fuse[0] = find(image, &image->hot[r], false, NULL);
		cold->fuse[1] = find(image, &image->hot[r], true, cold->fuse[0]);
		cold->now = cold->fuse[0] != NULL ? cold->fuse[0] : cold->fuse[1];
		image->fused |= cold->now != NULL;
	}
	hy_image_join(image);
}

void
hy_image_part(struct hy_image *image)
{
	for (unsigned int r = 0; image->fused && r < image->plan.nb_nodes; r++)
		if (image->hot[r].process == hy_fused_process) /* not replaced for a capture */
			image->hot[r].process = image->nodes[r].impl.process;
}

void
hy_image_join(struct hy_image *image)
{
	for (unsigned int r = 0; image->fused && r < image->plan.nb_nodes; r++)
		if (image->nodes[r].fuse[0] != NULL || image->nodes[r].fuse[1] != NULL)
			image->hot[r].process = hy_fused_process;
}

const char *
hy_graph_node_fused(const struct hy_graph *graph __rte_unused, const struct hy_node *node,
	unsigned int which)
{
	const struct hy_fuse *fuse = which < HY_FUSE_CHAINS ? hy_image_node(node)->fuse[which]
							    : NULL;

	return fuse == NULL ? NULL : fuse->name;
}
