/* SPDX-License-Identifier: BSD-3-Clause */
/* Families and variants as constructors and plugins declare them. */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <hy_node.h>

#include "hal/internal/hal.h"
#include "lib/graph/internal/plugin_notes.h"

/* Lists grow and are sorted as they do; they are read by name, so link order leaves no trace. */
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
	const struct hy_variant **variants;

	for (unsigned int i = 0; i < declared.nb_variants; i++)
		if (variant_order(&declared.variants[i], &variant) == 0)
			return -EEXIST;
	variants = realloc(declared.variants, (declared.nb_variants + 1) * sizeof(*variants));
	if (variants == NULL)
		return -ENOMEM;
	declared.variants = variants;
	variants[declared.nb_variants++] = variant;
	qsort(variants, declared.nb_variants, sizeof(*variants), variant_order);
	return 0;
}

/* Takes a variant out of the list. */
static void
variant_remove(const struct hy_variant *variant)
{
	unsigned int i = 0;

	while (i < declared.nb_variants && declared.variants[i] != variant)
		i++;
	if (i == declared.nb_variants)
		return;
	declared.nb_variants--;
	memmove(&declared.variants[i], &declared.variants[i + 1],
		(declared.nb_variants - i) * sizeof(*declared.variants));
}

static void
variant_undo(uintptr_t what)
{
	pthread_mutex_lock(&declared.lock);
	variant_remove((const struct hy_variant *)what);
	pthread_mutex_unlock(&declared.lock);
}

/* A HAL may have judged, chosen or forced any variant. */
static bool
declared_busy(uintptr_t what, char *error)
{
	RTE_SET_USED(what);
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

/* A need is one of a capability, a key and a declaration, or none of them. */
static bool
need_is_valid(const struct hy_need *need)
{
	const unsigned int named = (need->cap != HY_CAP_NONE) + (need->key != NULL) +
		(need->declared != NULL);

	return (unsigned int)need->cap < HY_CAPS && named <= 1 &&
		(need->key == NULL || hy_name_valid(need->key)) &&
		(need->declared == NULL || hy_name_valid(need->declared));
}

/* Whether a variant runs its family's code, on a target that it prepares. */
static bool
prepares_only(const struct hy_variant *variant)
{
	return !has_own_state(&variant->impl) &&
		(variant->prepare != NULL || variant->bind != NULL);
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
		(variant->impl.process == NULL && !prepares_only(variant)))
		return -EINVAL;
	for (unsigned int i = 0; i < HY_NEEDS_MAX; i++) {
		const struct hy_need *need = &variant->needs[i];

		if (!need_is_valid(need))
			return -EINVAL;
		/* Behind a hole it would not be asked for. */
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
	/* What stands in for a device has nothing to bind. */
	if ((unsigned int)variant->on >= HY_TARGET_KINDS)
		return -EINVAL;
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

/* A family goes with its reference variant; its node leaves by itself. */
static void
family_undo(uintptr_t what)
{
	const struct hy_family *family = (const struct hy_family *)what;
	unsigned int i = 0;

	pthread_mutex_lock(&declared.lock);
	while (i < declared.nb_families && declared.families[i] != family)
		i++;
	if (i < declared.nb_families) {
		declared.nb_families--;
		memmove(&declared.families[i], &declared.families[i + 1],
			(declared.nb_families - i) * sizeof(*declared.families));
	}
	for (i = 0; i < declared.nb_variants; i++) {
		const struct hy_variant *variant = declared.variants[i];

		if (strcmp(variant->family, family->node.name) != 0 ||
			strcmp(variant->impl.variant, family->node.impl.variant) != 0)
			continue;
		variant_remove(variant);
		free((void *)(uintptr_t)variant);
		break;
	}
	pthread_mutex_unlock(&declared.lock);
}

static const struct hy_plugin_kind family_kind = { declared_busy, family_undo };

int
hy_family_register(const struct hy_family *family)
{
	const struct hy_family **families;
	struct hy_variant *reference;
	hy_node_id id;
	int rc;

	if (family->node.impl.variant == NULL || family->target >= HY_TARGET_KINDS)
		return -EINVAL;
	rc = hy_node_register(&family->node, &id);
	if (rc < 0)
		return rc;
	reference = reference_of(family);
	pthread_mutex_lock(&declared.lock);
	families = realloc(declared.families, (declared.nb_families + 1) * sizeof(*families));
	if (families != NULL)
		declared.families = families;
	rc = families == NULL || reference == NULL ? -ENOMEM : variant_add(reference);
	if (rc == 0) {
		families[declared.nb_families++] = family;
		qsort(families, declared.nb_families, sizeof(*families), family_order);
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
