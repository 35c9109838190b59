/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes out of text what tells whose machine it comes from. */
#ifndef HY_HAL_CLEAN_H
#define HY_HAL_CLEAN_H

#include <regex.h>
#include <stdbool.h>

#define CLEAN_PATTERNS 7
#define CLEAN_NAMES 64

/* All members are private. */
struct cleaner {
	regex_t patterns[CLEAN_PATTERNS];
	char *names[CLEAN_NAMES]; /* of this host and user, and its ports' MAC addresses in hex */
	unsigned int nb_names;
};

/* Collects what this machine is called. 0, or -ENOMEM; clean_free() either way. */
int clean_init(struct cleaner *cleaner);
void clean_free(struct cleaner *cleaner);

/*
 * A copy in which MAC and IP addresses, UUIDs, other long hexadecimal numbers, absolute paths, and the
 * names of host and users are replaced by what they were: "<ip>". PCI addresses stay. In a version,
 * four numbers with points between stay, too. So does a name of digits where it may be a number: text
 * that is JSON is JSON afterwards. The caller frees it; NULL: no memory.
 */
char *clean_text(const struct cleaner *cleaner, const char *text, bool version);

#endif
