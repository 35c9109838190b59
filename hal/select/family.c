/* SPDX-License-Identifier: BSD-3-Clause */
/* Families and variants as constructors and plugins declare them. */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <hy_node.h>

#include "hal/internal/hal.h"
#include "hal/internal/list.h"
#include "lib/graph/internal/log.h"
#include "lib/graph/internal/plugin_notes.h"

/* Both lists are kept sorted by name, so link order does not matter. */
static struct {
	pthread_mutex_t lock;
	const struct hy_family **families;
	unsigned int nb_families;
	const struct hy_variant **variants;
	unsigned int nb_variants;
} declared = { .lock = PTHREAD_MUTEX_INITIALIZER };

static int
family_order(const void *a, const void *b)
{
	return strcmp((*(const struct hy_family *const *)a)->node.name,
		(*(const struct hy_family *const *)b)->node.name);
}

static int
variant_order(const void *a, const void *b)
{
	const struct hy_variant *va = *(const struct hy_variant *const *)a;
	const struct hy_variant *vb = *(const struct hy_variant *const *)b;
	const int by_family = strcmp(va->family, vb->family);

	return by_family != 0 ? by_family : strcmp(va->impl.variant, vb->impl.variant);
}

static int
variant_add(const struct hy_variant *variant)
{
	const struct hy_variant **added;

	for (unsigned int i = 0; i < declared.nb_variants; i++)
		if (variant_order(&declared.variants[i], &variant) == 0)
			return -EEXIST;
	added = hy_list_room(&declared.variants, declared.nb_variants, sizeof(*added));
	if (added == NULL)
		return -ENOMEM;
	*added = variant;
	qsort(declared.variants, ++declared.nb_variants, sizeof(*added), variant_order);
	return 0;
}

static void
variant_undo(uintptr_t what)
{
	pthread_mutex_lock(&declared.lock);
	hy_list_forget(declared.variants, &declared.nb_variants, (const void *)what);
	pthread_mutex_unlock(&declared.lock);
}

/* A HAL may have judged, chosen or forced any variant. */
static bool
declared_busy(uintptr_t what __rte_unused, char *error)
{
	if (hy_hal_exists())
		snprintf(error, HY_PLUGIN_ERROR_SIZE,
			"it has families or variants, and a HAL exists; destroy that first");
	return hy_hal_exists();
}

static const struct hy_plugin_number numbers[] = { HY_HAL_NUMBERS };

RTE_INIT(numbers_add)
{
	hy_plugin_numbers_add(numbers, RTE_DIM(numbers));
}

static bool
has_own_state(const struct hy_node_impl *impl)
{
	return impl->init != NULL || impl->fini != NULL || impl->ctx_size != 0;
}

/* A need names at most one of a capability, a key and a declaration. */
static bool
need_is_valid(const struct hy_need *need)
{
	const unsigned int named = (need->cap != HY_CAP_NONE) + (need->key != NULL) +
		(need->declared != NULL);

	return (unsigned int)need->cap < HY_CAPS && named <= 1 &&
		(need->key == NULL || hy_name_valid(need->key)) &&
		(need->declared == NULL || hy_name_valid(need->declared));
}

struct hy_node_impl
hy_variant_impl(const struct hy_family *family, const struct hy_variant *variant)
{
	const char *const name = variant->impl.variant;
	struct hy_node_impl impl = variant->impl;

	if (!has_own_state(&impl)) {
		impl = family->node.impl;
		impl.variant = name;
		if (variant->impl.process != NULL)
			impl.process = variant->impl.process;
	}
	return impl;
}

static const struct hy_plugin_kind variant_kind = { declared_busy, variant_undo };

int
hy_variant_register(const struct hy_variant *variant)
{
	int rc;

	if (!hy_name_valid(variant->family) || !hy_name_valid(variant->impl.variant) ||
		(variant->impl.process == NULL &&
			(has_own_state(&variant->impl) ||
				(variant->prepare == NULL && variant->bind == NULL))))
		return -EINVAL;
	for (unsigned int i = 0; i < HY_NEEDS_MAX; i++) {
		const struct hy_need *need = &variant->needs[i];

		if (!need_is_valid(need))
			return -EINVAL;
		/* A need after a gap would be ignored. */
		if (i > 0 && hy_need_asks(need) && !hy_need_asks(need - 1))
			return -EINVAL;
	}
	for (unsigned int i = 0; i < HY_WITH_MAX; i++) {
		const struct hy_with *with = &variant->with[i];

		if ((with->family != NULL || with->variant != NULL) &&
			(!hy_name_valid(with->family) || !hy_name_valid(with->variant) ||
				(i > 0 && with[-1].family == NULL)))
			return -EINVAL;
	}
	if ((unsigned int)variant->on >= HY_TARGET_KINDS)
		return -EINVAL;
	/* A parked variant touches no device, so it has nothing to bind. */
	if (variant->parked &&
		(variant->on != HY_TARGET_PROCESS || variant->prepare != NULL ||
			variant->bind != NULL || variant->unbind != NULL))
		return -EINVAL;
	pthread_mutex_lock(&declared.lock);
	rc = variant_add(variant);
	pthread_mutex_unlock(&declared.lock);
	if (rc == 0)
		hy_plugin_registered(&variant_kind, (uintptr_t)variant);
	return rc;
}

/* The reference variant is the family's own implementation. */
static struct hy_variant *
reference_of(const struct hy_family *family)
{
	struct hy_variant *variant = calloc(1, sizeof(*variant));

	if (variant != NULL) {
		variant->family = family->node.name;
		variant->text = family->text;
		variant->pack = family->pack;
		variant->impl = family->node.impl;
		variant->score = family->score;
		variant->bind = family->bind;
		variant->unbind = family->unbind;
	}
	return variant;
}

/* Removes a family and its reference variant. Its node is unregistered separately. */
static void
family_undo(uintptr_t what)
{
	const struct hy_family *family = (const struct hy_family *)what;
	const struct hy_variant *reference;

	pthread_mutex_lock(&declared.lock);
	hy_list_forget(declared.families, &declared.nb_families, family);
	reference = hy_variant_find(family->node.name, family->node.impl.variant);
	hy_list_forget(declared.variants, &declared.nb_variants, reference);
	free((void *)(uintptr_t)reference);
	pthread_mutex_unlock(&declared.lock);
}

static const struct hy_plugin_kind family_kind = { declared_busy, family_undo };

int
hy_family_register(const struct hy_family *family)
{
	const struct hy_family **added;
	const struct hy_fusion *fusion;
	struct hy_variant *reference;
	hy_node_id id;
	int rc;

	if (family->node.impl.variant == NULL || family->target >= HY_TARGET_KINDS)
		return -EINVAL;
	fusion = family->node.name == NULL ? NULL : hy_fusion_named(family->node.name);
	if (fusion != NULL)
		return HY_REFUSE(-EEXIST, "family '%s': is the name of fusion '%s'",
			family->node.name, fusion->fuse);
	rc = hy_node_register(&family->node, &id);
	if (rc < 0)
		return rc;
	reference = reference_of(family);
	pthread_mutex_lock(&declared.lock);
	added = hy_list_room(&declared.families, declared.nb_families, sizeof(*added));
	rc = added == NULL || reference == NULL ? -ENOMEM : variant_add(reference);
	if (rc == 0) {
		*added = family;
		qsort(declared.families, ++declared.nb_families, sizeof(*added), family_order);
	}
	pthread_mutex_unlock(&declared.lock);
	if (rc < 0) {
		free(reference);
		hy_node_unregister(id);
	} else {
		hy_plugin_registered(&family_kind, (uintptr_t)family);
	}
	return rc;
}

const struct hy_variant *
hy_variant_orphan(void)
{
	for (unsigned int i = 0; i < declared.nb_variants; i++)
		if (hy_family_find(declared.variants[i]->family) == NULL)
			return declared.variants[i];
	return NULL;
}

unsigned int
hy_families(const struct hy_family *const **families)
{
	*families = declared.families;
	return declared.nb_families;
}

const struct hy_family *
hy_family_find(const char *name)
{
	for (unsigned int i = 0; i < declared.nb_families; i++)
		if (strcmp(declared.families[i]->node.name, name) == 0)
			return declared.families[i];
	return NULL;
}

unsigned int
hy_variants(const struct hy_family *family, const struct hy_variant *const **variants)
{
	unsigned int first = 0, n = 0;

	while (first < declared.nb_variants &&
		strcmp(declared.variants[first]->family, family->node.name) != 0)
		first++;
	while (first + n < declared.nb_variants &&
		strcmp(declared.variants[first + n]->family, family->node.name) == 0)
		n++;
	*variants = declared.variants + first;
	return n;
}

const struct hy_variant *
hy_variant_find(const char *family, const char *name)
{
	for (unsigned int i = 0; i < declared.nb_variants && name != NULL; i++) {
		const struct hy_variant *variant = declared.variants[i];

		if (strcmp(variant->family, family) == 0 &&
			strcmp(variant->impl.variant, name) == 0)
			return variant;
	}
	return NULL;
}
