/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes and features for those who ask through DPDK's telemetry socket. */
#ifndef L3FWD_TELEMETRY_H
#define L3FWD_TELEMETRY_H

#include <hy_arc.h>
#include <hy_telemetry.h>

#include "tables.h"

/* Registers the program's commands, before EAL runs. Returns 0 or a negative errno. */
int telemetry_begin(void);

/*
 * Answers /l3fwd/routes and /l3fwd/route from now on, out of tables that stay where they are, and
 * /l3fwd/feature, if there is an arc, or NULL.
 */
void telemetry_show(const struct tables *tables, struct hy_arc *arc);

/* Returns when nobody uses the tables and the arc any more. */
void telemetry_hide(void);

#endif
