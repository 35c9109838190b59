/* SPDX-License-Identifier: BSD-3-Clause */
/* SIGHUP: the route file is read again. */
#ifndef L3FWD_RELOAD_H
#define L3FWD_RELOAD_H

#include <stdio.h>

#include "tables.h"

/* Brings all tables to what the file says, or says on standard error why they stay as they are. */
void routes_reload(const struct options *options, const struct tables *tables, FILE *out);

#endif
