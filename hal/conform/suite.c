/* SPDX-License-Identifier: BSD-3-Clause */
/* The suites, as constructors and plugins register them. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "conform.h"
#include "lib/graph/internal/plugin_notes.h"

/* Registered while objects are loaded, by one thread. */
static const struct hy_suite **suites;
static unsigned int nb_suites;

static void
suite_undo(uintptr_t what)
{
	for (unsigned int i = 0; i < nb_suites; i++)
		if (suites[i] == (const struct hy_suite *)what) {
			suites[i] = suites[--nb_suites];
			return;
		}
}

/* Used only during calls of the thread that loads and unloads. */
static bool
suite_busy(uintptr_t what, char *error)
{
	RTE_SET_USED(what);
	RTE_SET_USED(error);
	return false;
}

static const struct hy_plugin_kind suite_kind = { suite_busy, suite_undo };

int
hy_suite_register(const struct hy_suite *suite)
{
	const struct hy_suite **all;

	/* With all edges and drops of a descriptor, and what is sent out or released. */
	if (!hy_name_valid(suite->family) ||
		suite->nb_edges > HY_CONFORM_COUNTS - HY_DESC_EDGES - HY_DESC_DROPS - 2)
		return -EINVAL;
	if (hy_suite_find(suite->family) != NULL)
		return -EEXIST;
	all = realloc(suites, (nb_suites + 1) * sizeof(*all));
	if (all == NULL)
		return -ENOMEM;
	suites = all;
	all[nb_suites++] = suite;
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
	return false;
}
