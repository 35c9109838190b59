/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects that a trace follows. */

#include "marks.h"

static uint32_t
home(const void *obj)
{
	return (uint32_t)((uintptr_t)obj * UINT64_C(0x9e3779b97f4a7c15) >> (64 - MARKS_BITS));
}

struct hy_mark *
hy_marks_find(struct hy_marks *marks, const void *obj)
{
	uint32_t i = home(obj);

	while (marks->slots[i].obj != NULL && marks->slots[i].obj != obj)
		i = (i + 1) % MARKS_SLOTS;
	return marks->slots[i].obj == NULL ? NULL : &marks->slots[i];
}

struct hy_mark *
hy_marks_add(struct hy_marks *marks, const void *obj)
{
	uint32_t i = home(obj);

	while (marks->slots[i].obj != NULL)
		i = (i + 1) % MARKS_SLOTS;
	marks->slots[i] = (struct hy_mark){ .obj = obj };
	return &marks->slots[i];
}

/* Moves later marks up, as far as a search from their home still finds them. */
void
hy_marks_remove(struct hy_marks *marks, struct hy_mark *mark)
{
	uint32_t hole = (uint32_t)(mark - marks->slots), i = hole;

	for (;;) {
		uint32_t from_home, from_hole;

		i = (i + 1) % MARKS_SLOTS;
		if (marks->slots[i].obj == NULL)
			break;
		from_home = (i - home(marks->slots[i].obj)) % MARKS_SLOTS;
		from_hole = (i - hole) % MARKS_SLOTS;
		if (from_home < from_hole)
			continue;
		marks->slots[hole] = marks->slots[i];
		hole = i;
	}
	marks->slots[hole].obj = NULL;
}
