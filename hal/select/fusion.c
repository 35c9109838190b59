/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fusions as constructors and plugins declare them, and those that a HAL offers to graphs. The core
 * fuses a chain where a graph has it: what is chosen, and stands between, is its nodes.
 */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "hal/internal/hal.h"
#include "hal/internal/list.h"
#include "lib/graph/internal/log.h"
#include "lib/graph/internal/plugin_notes.h"

/* Sorted by name, so link order does not matter. */
static struct {
	pthread_mutex_t lock;
	const struct hy_fusion **fusions;
	unsigned int n;
} declared = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int
by_name(const void *a, const void *b)
{
	return strcmp((*(const struct hy_fusion *const *)a)->fuse,
		(*(const struct hy_fusion *const *)b)->fuse);
}

static bool
fusion_busy(uintptr_t what __rte_unused, char *error)
{
	if (hy_hal_exists())
		snprintf(error, HY_PLUGIN_ERROR_SIZE,
			"it has fusions, and a HAL exists; destroy that first");
	return hy_hal_exists();
}

static void
fusion_undo(uintptr_t what)
{
	pthread_mutex_lock(&declared.lock);
	hy_list_forget(declared.fusions, &declared.n, (const void *)what);
	pthread_mutex_unlock(&declared.lock);
}

static const struct hy_plugin_kind fusion_kind = { fusion_busy, fusion_undo };

/* The length of a chain; 0 if it has a gap or a malformed name. */
static unsigned int
chain_length(const struct hy_fusion *fusion)
{
	unsigned int n = 0;

	while (n < HY_FUSE_MAX && fusion->chain[n].family != NULL) {
		if (!hy_name_valid(fusion->chain[n].family) ||
			!hy_name_valid(fusion->chain[n].variant))
			return 0;
		n++;
	}
	for (unsigned int i = n; i < HY_FUSE_MAX; i++)
		if (fusion->chain[i].family != NULL)
			return 0;
	return n;
}

int
hy_fusion_register(const struct hy_fusion *fusion)
{
	const struct hy_fusion **added;
	int rc = 0;

	if (!hy_name_valid(fusion->name) || !hy_name_valid(fusion->variant) ||
		!hy_name_valid(fusion->fuse) || chain_length(fusion) < 2 || fusion->run == NULL)
		return -EINVAL;
	/* By its name the user could deny only one of the two, and would not see which. */
	if (hy_family_find(fusion->name) != NULL)
		return HY_REFUSE(-EEXIST, "fusion '%s': '%s' is the name of a family", fusion->fuse,
			fusion->name);
	pthread_mutex_lock(&declared.lock);
	added = hy_list_room(&declared.fusions, declared.n, sizeof(*added));
	if (added == NULL)
		rc = -ENOMEM;
	else if (hy_fusion_find(fusion->fuse) != NULL)
		rc = -EEXIST;
	if (rc == 0) {
		*added = fusion;
		qsort(declared.fusions, ++declared.n, sizeof(*added), by_name);
	}
	pthread_mutex_unlock(&declared.lock);
	if (rc == 0)
		hy_plugin_registered(&fusion_kind, (uintptr_t)fusion);
	return rc;
}

const struct hy_fusion *
hy_fusion_find(const char *fuse)
{
	for (unsigned int i = 0; i < declared.n; i++)
		if (strcmp(declared.fusions[i]->fuse, fuse) == 0)
			return declared.fusions[i];
	return NULL;
}

const struct hy_fusion *
hy_fusion_named(const char *name)
{
	for (unsigned int i = 0; i < declared.n; i++)
		if (strcmp(declared.fusions[i]->name, name) == 0)
			return declared.fusions[i];
	return NULL;
}

unsigned int
hy_fusions(const struct hy_fusion *const **fusions)
{
	*fusions = declared.fusions;
	return declared.n;
}

/* A fusion that was offered. Allocated one by one: graphs point to them. */
struct hy_offer {
	const struct hy_fusion *fusion;
	struct hy_fuse fuse;
	bool offered;
	bool before; /* whether it was, when the selection under way began */
};

static bool
is_denied(const struct hy_hal *hal, const struct hy_fusion *fusion)
{
	for (unsigned int i = 0; i < hal->nb_rules; i++)
		if (hal->rules[i].fusion == fusion)
			return true;
	return false;
}

bool
hy_fusion_withheld(const struct hy_hal *hal, const struct hy_fusion *fusion)
{
	for (unsigned int i = 0; i < hal->nb_offers; i++)
		if (hal->offers[i]->fusion == fusion && hal->offers[i]->offered)
			return false;
	return is_denied(hal, fusion);
}

/* Fills in the functions of a chain. False: this program lacks one of its variants. */
static bool
fuse_fill(struct hy_fuse *fuse, const struct hy_fusion *fusion)
{
	*fuse = (struct hy_fuse){ .name = fusion->fuse,
		.nb_nodes = chain_length(fusion),
		.run = fusion->run,
		.pick = fusion->pick };
	memcpy(fuse->edge, fusion->edge, sizeof(fuse->edge));
	for (unsigned int i = 0; i < fuse->nb_nodes; i++) {
		const struct hy_family *family = hy_family_find(fusion->chain[i].family);
		const struct hy_variant *variant = hy_variant_find(fusion->chain[i].family,
			fusion->chain[i].variant);

		if (family == NULL || variant == NULL)
			return false;
		fuse->process[i] = hy_variant_impl(family, variant).process;
	}
	return true;
}

/* What this HAL makes of a fusion; NULL: there is no memory. */
static struct hy_offer *
offer_get(struct hy_hal *hal, const struct hy_fusion *fusion)
{
	struct hy_offer **room, *offer;

	for (unsigned int i = 0; i < hal->nb_offers; i++)
		if (hal->offers[i]->fusion == fusion)
			return hal->offers[i];
	room = hy_list_room(&hal->offers, hal->nb_offers, sizeof(*room));
	offer = room == NULL ? NULL : calloc(1, sizeof(*offer));
	if (offer == NULL)
		return NULL;
	offer->fusion = fusion;
	hal->offers[hal->nb_offers++] = offer;
	return offer;
}

static int
offer_set(struct hy_offer *offer, bool offered)
{
	const int rc = offered ? hy_fuse_offer(&offer->fuse) : hy_fuse_withdraw(&offer->fuse);

	if (rc == 0)
		offer->offered = offered;
	return rc;
}

int
hy_fusions_offer(struct hy_hal *hal, char *error)
{
	for (unsigned int i = 0; i < hal->nb_offers; i++)
		hal->offers[i]->before = hal->offers[i]->offered;
	for (unsigned int i = 0; i < declared.n; i++) {
		struct hy_offer *offer = offer_get(hal, declared.fusions[i]);
		bool wanted;
		int rc;

		if (offer == NULL)
			return hy_no_memory(error);
		if (offer->fuse.name == NULL && !fuse_fill(&offer->fuse, offer->fusion)) {
			offer->fuse.name = NULL; /* a plugin may bring what is missing */
			continue;
		}
		wanted = !is_denied(hal, offer->fusion);
		if (wanted == offer->offered)
			continue;
		rc = offer_set(offer, wanted);
		if (rc == -EEXIST)
			return HY_REASON(rc, error, HY_HAL_ERROR_SIZE,
				"fusion '%s': the program offers one of that name (hy_fuse_offer())",
				offer->fuse.name);
		if (rc < 0)
			return hy_no_memory(error);
		hal->fusions_due = true;
	}
	return 0;
}

void
hy_fusions_undo(struct hy_hal *hal)
{
	for (unsigned int i = 0; i < hal->nb_offers; i++) {
		struct hy_offer *offer = hal->offers[i];

		if (offer->offered != offer->before)
			offer_set(offer, offer->before); /* without memory it stays withdrawn */
	}
}

void
hy_fusions_end(struct hy_hal *hal)
{
	for (unsigned int i = 0; i < hal->nb_offers; i++) {
		if (hal->offers[i]->offered)
			hy_fuse_withdraw(&hal->offers[i]->fuse);
		free(hal->offers[i]);
	}
	free(hal->offers);
}
