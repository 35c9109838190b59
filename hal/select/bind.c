/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is bound, by target. A selection under way binds what is new to it beside what is there; as
 * a whole it is committed, and then what it does not choose is to leave, or it is rolled back.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hal/internal/hal.h"

static bool
has_hooks(const struct hy_variant *variant)
{
	return variant->bind != NULL || variant->unbind != NULL;
}

static struct hy_binding *
binding_of(const struct hy_hal *hal, const struct hy_variant *variant, struct hy_target target)
{
	for (unsigned int i = 0; i < hal->nb_bindings; i++) {
		struct hy_binding *b = &hal->bindings[i];

		if (b->variant == variant && b->target.kind == target.kind &&
			hy_target_index(b->target) == hy_target_index(target))
			return b;
	}
	return NULL;
}

bool
hy_is_bound(const struct hy_hal *hal, const struct hy_variant *variant, struct hy_target target)
{
	return binding_of(hal, variant, target) != NULL;
}

static struct hy_binding *
binding_find(const struct hy_hal *hal, const struct hy_selection *s)
{
	return binding_of(hal, s->chosen, s->on);
}

/* Binds a selection's choice; what cannot be bound is struck: 1. */
static int
bind_one(struct hy_hal *hal, struct hy_selection *s, char *error)
{
	struct hy_binding *bindings = realloc(hal->bindings,
		(hal->nb_bindings + 1) * sizeof(*bindings));
	char reason[HY_REASON_SIZE] = "";
	int rc = 0;

	if (bindings == NULL)
		return hy_no_memory(error);
	hal->bindings = bindings;
	if (s->chosen->bind != NULL)
		rc = s->chosen->bind(hal, s->on, reason, sizeof(reason));
	if (rc < 0) {
		hy_candidate_strike(hy_candidate_chosen(s), HY_FATE_BIND_FAILED,
			"cannot be bound: %.160s", reason[0] != '\0' ? reason : strerror(-rc));
		return 1;
	}
	bindings[hal->nb_bindings++] = (struct hy_binding){
		.variant = s->chosen, .target = s->on, .fresh = true
	};
	return 0;
}

int
hy_slate_bind(struct hy_hal *hal, struct hy_slate *slate, char *error)
{
	int struck;

	do {
		struck = hy_slate_resolve(hal, slate, error);
		for (unsigned int i = 0; i < slate->n && struck == 0; i++) {
			struct hy_selection *s = &slate->selections[i];

			if (has_hooks(s->chosen) && binding_find(hal, s) == NULL)
				struck = bind_one(hal, s, error);
		}
	} while (struck > 0);
	return struck;
}

/* Unbinds one, last first where there are several, and forgets it. */
static void
unbind(struct hy_hal *hal, unsigned int i)
{
	const struct hy_binding b = hal->bindings[i];

	hal->nb_bindings--;
	memmove(&hal->bindings[i], &hal->bindings[i + 1],
		(hal->nb_bindings - i) * sizeof(*hal->bindings));
	if (b.variant->unbind != NULL)
		b.variant->unbind(hal, b.target);
}

void
hy_bindings_rollback(struct hy_hal *hal)
{
	for (unsigned int i = hal->nb_bindings; i-- > 0;)
		if (hal->bindings[i].fresh)
			unbind(hal, i);
}

void
hy_bindings_commit(struct hy_hal *hal, const struct hy_slate *slate)
{
	for (unsigned int i = 0; i < hal->nb_bindings; i++) {
		hal->bindings[i].fresh = false;
		hal->bindings[i].leaving = true;
	}
	for (unsigned int i = 0; i < slate->n; i++) {
		struct hy_binding *b = binding_find(hal, &slate->selections[i]);

		if (b != NULL)
			b->leaving = false;
	}
}

void
hy_bindings_release(struct hy_hal *hal)
{
	for (unsigned int i = hal->nb_bindings; i-- > 0;)
		if (hal->bindings[i].leaving)
			unbind(hal, i);
}

void
hy_bindings_end(struct hy_hal *hal)
{
	while (hal->nb_bindings > 0)
		unbind(hal, hal->nb_bindings - 1);
	free(hal->bindings);
	hal->bindings = NULL;
}
