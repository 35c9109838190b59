/* SPDX-License-Identifier: BSD-3-Clause */
/* --user: the rights that the program gives up once its ports are open. */
#ifndef L3FWD_PRIVILEGES_H
#define L3FWD_PRIVILEGES_H

#include <unistd.h>

#include "options.h"

/*
 * No program that this one or its libraries may execute gains rights, with --user or without. Called
 * first: threads inherit it. Returns 0, or -1 after saying what is wrong.
 */
int privileges_begin(void);

/*
 * Makes all threads those of the user of --user, without other groups and without capabilities, and
 * checks that they are. Returns 0, or -1 after saying what is wrong, upon which the program must
 * end. Without --user there is nothing to do.
 */
int privileges_drop(const struct options *options);

/*
 * What to add to a message about a file: " (as user N of --user)" if the program gave its rights up
 * and may not access it now; "" otherwise. access: R_OK or W_OK, as for access(2).
 */
const char *privileges_note(const char *path, int access);

#endif
