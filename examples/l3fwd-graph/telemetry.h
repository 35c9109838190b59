/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes for those who ask through DPDK's telemetry socket. */
#ifndef L3FWD_TELEMETRY_H
#define L3FWD_TELEMETRY_H

#include "tables.h"

/* Answers /l3fwd/routes and /l3fwd/route from now on, out of tables that stay where they are. */
void telemetry_show(const struct tables *tables);

/* Returns when nobody reads the tables any more. */
void telemetry_hide(void);

#endif
