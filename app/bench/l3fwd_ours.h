/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ways with our nodes share: the selection, and the tables. */
#ifndef HY_BENCH_L3FWD_OURS_H
#define HY_BENCH_L3FWD_OURS_H

#include <hy_hal.h>

/* Ends the program if something of ours could not be made that every work needs. */
void ours_must(int rc, const char *what);

/* What the HAL has chosen for the rig's ports. */
const struct hy_selection *ours_selection(const char *family);

/* A variant as the HAL would run it; see struct hy_variant. */
struct hy_node_impl ours_impl(const struct hy_family *family, const struct hy_variant *variant);

/* Lets a node of a family run a variant, in graphs to come. */
void ours_variant_set(const char *family, const char *variant, hy_node_id node);

/* Gives nodes the work's table, and the edges that lead from rewrite to the ports; or -1. */
int ours_table_set(hy_node_id lookup, hy_node_id rewrite, const uint16_t edge[]);

#endif
