/* SPDX-License-Identifier: BSD-3-Clause */
/* --dump-routes: the routes as they are, in the format in which they are read. */
#ifndef L3FWD_ROUTE_DUMP_H
#define L3FWD_ROUTE_DUMP_H

#include <stdio.h>

/* Writes the routes of tables: for struct hy_dump. Returns 0 or a negative errno. */
int route_dump(const void *tables, FILE *file);

#endif
