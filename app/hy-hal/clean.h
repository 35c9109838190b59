/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes from text what identifies the machine and its users. */
#pragma once

#include <regex.h>
#include <stdbool.h>

#define CLEAN_PATTERNS 7
#define CLEAN_NAMES 64

/* All members are private. */
struct cleaner {
	regex_t patterns[CLEAN_PATTERNS];
	char *names
		[CLEAN_NAMES]; /* of this host and its users, and its ports' MAC addresses in hex */
	unsigned int nb_names;
};

/* Collects the names of this machine. 0 or -ENOMEM; call clean_free() in both cases. */
int clean_init(struct cleaner *cleaner);
void clean_free(struct cleaner *cleaner);

/*
 * Returns a copy in which MAC and IP addresses, UUIDs, other long hexadecimal numbers, absolute
 * paths, and names of the host and its users are replaced by placeholders such as "<ip>". It keeps
 * PCI addresses, four numbers with dots in a version, and a name of digits where it may be a
 * number. The caller frees it; NULL: no memory.
 */
char *clean_text(const struct cleaner *cleaner, const char *text, bool version);
/* Likewise for JSON: only strings are cleaned, and no names of members, so that it stays JSON. */
char *clean_json(const struct cleaner *cleaner, const char *json);
