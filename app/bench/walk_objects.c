/* SPDX-License-Identifier: BSD-3-Clause */
/* The objects that the walk benchmark's graphs pass around. */

#include "walk.h"

void *walk_objects[OBJECTS + WALK_BURST_MAX];
uint64_t walk_sums[OBJECTS + WALK_BURST_MAX + 1];

void
walk_objects_make(void)
{
	for (unsigned int i = 0; i < OBJECTS + WALK_BURST_MAX; i++) {
		walk_objects[i] = (void *)(uintptr_t)(i % OBJECTS);
		walk_sums[i + 1] = walk_sums[i] + i % OBJECTS;
	}
}
