/* SPDX-License-Identifier: BSD-3-Clause */
/* --dump-routes: the routes as they are, in the format in which they are read. */
#ifndef L3FWD_DUMP_H
#define L3FWD_DUMP_H

#include "outputs.h"
#include "tables.h"

/*
 * Writes them if SIGUSR1 has asked for it, in place of those that were written before. Waits for no
 * file: calls after that see to the rest.
 */
void dump_poll(const struct tables *tables, struct outputs *out);

/* At the end: likewise, if it was asked for. Returns 0, or -1 after saying what is wrong. */
int dump_last(const struct tables *tables, struct outputs *out);

#endif
