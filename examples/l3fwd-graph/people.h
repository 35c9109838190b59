/* SPDX-License-Identifier: BSD-3-Clause */
/* Standard output and error, which may be pipes whose reader has stopped: that holds up nobody. */
#ifndef L3FWD_PEOPLE_H
#define L3FWD_PEOPLE_H

#include <stdbool.h>

/* From now on, stdout and stderr wait for their readers as below. Returns 0 or a negative errno. */
int people_begin(void);

/*
 * How long they wait: while packets flow, one second, and then not at all until the reader goes on;
 * otherwise as long as it takes. Ten seconds once the program is to stop. What is not taken by then
 * is lost. Any thread that writes waits for the one that writes to the same stream.
 */
void people_hurry(bool hurry);

/* Writes what is left. Returns 0, or -1 after saying why something was lost. */
int people_end(void);

#endif
