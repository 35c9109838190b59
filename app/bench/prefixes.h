/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of prefixes, for the files that read those of a family. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The prefixes of a family that are read. */
struct prefix_list {
	void *all;
	size_t size; /* of one */
	unsigned int n;
	unsigned int others; /* lines of the other family */
	bool ip6;
	/* Makes one of an address and a length; returns false if they are no prefix. */
	bool (*parse)(void *one, const char *address, unsigned long depth);
};

/* Appends a prefix to those of a list. */
void prefix_append(struct prefix_list *list, const void *one);

/*
 * Reads a family's prefixes of a file; exits if it cannot be read, or has neither family's. A family of
 * which it has none has n 0.
 */
void prefix_read(struct prefix_list *list, const char *path);

/* Sorts a list and removes duplicates. */
void prefix_sort(struct prefix_list *list, int (*order)(const void *a, const void *b));
