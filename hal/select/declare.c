/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program declares that it is going to do, by names that packs define. */

#include <errno.h>
#include <string.h>

#include "hal/internal/hal.h"
#include "hal/internal/list.h"

static struct hy_declaration *
find(const struct hy_hal *hal, const char *name)
{
	for (unsigned int i = 0; i < hal->nb_declared; i++)
		if (strcmp(hal->declared[i].name, name) == 0)
			return &hal->declared[i];
	return NULL;
}

int
hy_hal_declare(struct hy_hal *hal, const char *name, uint64_t value, const char *why)
{
	struct hy_declaration *declared;

	if (!hy_name_valid(name))
		return -EINVAL;
	declared = find(hal, name);
	if (declared == NULL) {
		declared = hy_list_room(&hal->declared, hal->nb_declared, sizeof(*declared));
		if (declared == NULL)
			return -ENOMEM;
		hal->nb_declared++;
		strcpy(declared->name, name);
	}
	declared->cap = (struct hy_capability){ .level = value > 0 ? HY_LEVEL_YES : HY_LEVEL_NO,
		.origin = HY_ORIGIN_DECLARED,
		.value = value };
	snprintf(declared->cap.reason, sizeof(declared->cap.reason), "%s", why);
	return 0;
}

const struct hy_capability *
hy_hal_declared(const struct hy_hal *hal, const char *name)
{
	static const struct hy_capability none = { .reason = "the program has not declared it" };
	const struct hy_declaration *declared = find(hal, name);

	return declared == NULL ? &none : &declared->cap;
}
