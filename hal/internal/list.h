/* SPDX-License-Identifier: BSD-3-Clause */
/* Arrays that grow by an element at a time, and lists of names in messages. */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Makes room for one more element of an array, and zeroes it. The pointer at @p array and the array
 * may move. The caller increments n. NULL: no memory, and nothing changed.
 */
static inline void *
hy_list_room(void *array, unsigned int n, size_t size)
{
	char *old, *grown;

	memcpy(&old, array, sizeof(old));
	grown = realloc(old, (n + 1) * size);
	if (grown == NULL)
		return NULL;
	memcpy(array, &grown, sizeof(grown));
	return memset(grown + n * size, 0, size);
}

/* Removes element i of n, and decrements n. */
static inline void
hy_list_remove(void *array, unsigned int *n, unsigned int i, size_t size)
{
	char *const at = (char *)array + i * size;

	memmove(at, at + size, (--*n - i) * size);
}

/* Removes a pointer from an array of n pointers, if it is there, and decrements n. */
static inline void
hy_list_forget(void *array, unsigned int *n, const void *pointer)
{
	for (unsigned int i = 0; i < *n; i++)
		if (memcmp((char *)array + i * sizeof(pointer), &pointer, sizeof(pointer)) == 0) {
			hy_list_remove(array, n, i, sizeof(pointer));
			return;
		}
}

/* Appends to "a, b, c", as far as there is room. */
static inline void
hy_names_append(char *names, size_t size, const char *name)
{
	const size_t used = strlen(names);

	snprintf(names + used, size - used, "%s%s", used > 0 ? ", " : "", name);
}
