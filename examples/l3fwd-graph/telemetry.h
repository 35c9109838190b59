/* SPDX-License-Identifier: BSD-3-Clause */
/* Routes and features for those who ask through DPDK's telemetry socket. */
#ifndef L3FWD_TELEMETRY_H
#define L3FWD_TELEMETRY_H

#include <rte_telemetry.h>

#include <hy_arc.h>

#include "tables.h"

/*
 * Answers /l3fwd/routes and /l3fwd/route from now on, out of tables that stay where they are, and
 * /l3fwd/feature, if there is an arc, or NULL.
 */
void telemetry_show(const struct tables *tables, struct hy_arc *arc);

/* Returns when nobody uses the tables and the arc any more. */
void telemetry_hide(void);

/*
 * Answers with what is wrong: "error", and if that is too long for one string of telemetry's, its
 * other parts in the array "more". Joined by blanks they are the text.
 */
int telemetry_error(const char *error, struct rte_tel_data *data);

#endif
