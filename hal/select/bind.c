/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bound variants, by target. A selection in progress binds its new choices in addition to the
 * existing bindings. Committing it marks the bindings that it does not choose as leaving; rolling
 * it back unbinds the new ones.
 */

#include <stdlib.h>
#include <string.h>

#include "hal/internal/hal.h"
#include "hal/internal/list.h"

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

/* Binds a selection's choice. 1: it could not be bound, and was struck. */
static int
bind_one(struct hy_hal *hal, struct hy_selection *s, char *error)
{
	struct hy_binding *b = hy_list_room(&hal->bindings, hal->nb_bindings, sizeof(*b));
	char reason[HY_REASON_SIZE] = "";
	int rc = 0;

	if (b == NULL)
		return hy_no_memory(error);
	if (s->chosen->bind != NULL)
		rc = s->chosen->bind(hal, s->on, reason, sizeof(reason));
	if (rc < 0) {
		hy_candidate_decide(hy_candidate_chosen(s), HY_FATE_BIND_FAILED,
			"cannot be bound: %.160s", reason[0] != '\0' ? reason : strerror(-rc));
		return 1;
	}
	*b = (struct hy_binding){ .variant = s->chosen, .target = s->on, .fresh = true };
	hal->nb_bindings++;
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

			if ((s->chosen->bind != NULL || s->chosen->unbind != NULL) &&
				!hy_is_bound(hal, s->chosen, s->on))
				struck = bind_one(hal, s, error);
		}
	} while (struck > 0);
	return struck;
}

/* Callers unbind in reverse order. */
static void
unbind(struct hy_hal *hal, unsigned int i)
{
	const struct hy_binding b = hal->bindings[i];

	hy_list_remove(hal->bindings, &hal->nb_bindings, i, sizeof(b));
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
		const struct hy_selection *s = &slate->selections[i];
		struct hy_binding *b = binding_of(hal, s->chosen, s->on);

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
