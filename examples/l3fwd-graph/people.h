/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard output, which may be a pipe whose reader has stopped: that holds up nobody. */
#ifndef L3FWD_PEOPLE_H
#define L3FWD_PEOPLE_H

#include <stdbool.h>

/* From now on, stdout waits for its reader as said below. Returns 0 or a negative errno. */
int people_begin(void);

/*
 * How long it waits: a second and then not at all until the reader goes on, while packets flow; else
 * as long as it takes. Ten seconds once the program is to stop. What is not taken then is lost.
 */
void people_hurry(bool hurry);

/* Writes what is left. Returns 0, or -1 after saying why something was lost. */
int people_end(void);

#endif
