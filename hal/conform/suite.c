/* SPDX-License-Identifier: BSD-3-Clause */
/* The suites that constructors and plugins have registered. */

#include <errno.h>
#include <string.h>

#include "conform.h"
#include "hal/internal/list.h"
#include "lib/graph/internal/plugin_notes.h"

/* Only the thread that loads objects changes these. */
static const struct hy_suite **suites;
static unsigned int nb_suites;

static void
suite_undo(uintptr_t what)
{
	hy_list_forget(suites, &nb_suites, (const void *)what);
}

/* Suites are used only during calls of the thread that loads and unloads. */
static bool
suite_busy(uintptr_t what __rte_unused, char *error __rte_unused)
{
	return false;
}

static const struct hy_plugin_kind suite_kind = { suite_busy, suite_undo };

int
hy_suite_register(const struct hy_suite *suite)
{
	const struct hy_suite **added;

	/* Beside the edges and drops of a descriptor, packets may be sent out or released. */
	if (!hy_name_valid(suite->family) ||
		suite->nb_edges > HY_CONFORM_COUNTS - HY_DESC_EDGES - HY_DESC_DROPS - 2)
		return -EINVAL;
	if (hy_suite_find(suite->family) != NULL)
		return -EEXIST;
	added = hy_list_room(&suites, nb_suites, sizeof(*added));
	if (added == NULL)
		return -ENOMEM;
	*added = suite;
	nb_suites++;
	hy_plugin_registered(&suite_kind, (uintptr_t)suite);
	return 0;
}

const struct hy_suite *
hy_suite_find(const char *family)
{
	for (unsigned int i = 0; i < nb_suites; i++)
		if (strcmp(suites[i]->family, family) == 0)
			return suites[i];
	return NULL;
}

bool
hy_conform_next(struct hy_conform_item *item)
{
	const struct hy_family *const *families;
	const unsigned int nb_families = hy_families(&families);
	const struct hy_fusion *const *fusions;
	const unsigned int nb_fusions = hy_fusions(&fusions);
	unsigned int at = 0;

	for (unsigned int f = 0; f < nb_families; f++) {
		const struct hy_variant *const *variants;
		const unsigned int n = hy_variants(families[f], &variants);

		if (item->at >= at + n) {
			at += n;
			continue;
		}
		item->family = families[f]->node.name;
		item->variant = variants[item->at - at]->impl.variant;
		item->pack = variants[item->at - at]->pack;
		item->reference = strcmp(item->variant, families[f]->node.impl.variant) == 0;
		item->at++;
		return true;
	}
	if (item->at >= at + nb_fusions)
		return false;
	item->family = fusions[item->at - at]->name;
	item->variant = fusions[item->at - at]->variant;
	item->pack = fusions[item->at - at]->pack;
	item->reference = false;
	item->fusion = true;
	item->at++;
	return true;
}
