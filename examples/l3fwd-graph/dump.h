/* SPDX-License-Identifier: BSD-3-Clause */
/* --dump-routes: the routes as they are, in the format in which they are read. */
#ifndef L3FWD_DUMP_H
#define L3FWD_DUMP_H

#include "outputs.h"
#include "tables.h"

/* At SIGUSR1: writes them, in place of those that were written before. */
void dump_now(const struct options *options, const struct tables *tables, struct outputs *out);

/* At the end: likewise, if it was asked for. Returns 0, or -1 after saying what is wrong. */
int dump_last(const struct options *options, const struct tables *tables, struct outputs *out);

#endif
