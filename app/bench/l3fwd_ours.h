/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ways with Halyard's nodes share: the selection and the tables. */
#pragma once

#include <hy_hal.h>

/* Exits with an error if rc is negative. */
void ours_must(int rc, const char *what);

/* The HAL's selection for the rig's ports. */
const struct hy_selection *ours_selection(const char *family);

/* The implementation of a variant, completed as the HAL does; see struct hy_variant. */
struct hy_node_impl ours_impl(const struct hy_variant *variant);

/* Sets the variant of a node for graphs created later. */
void ours_variant_set(const char *family, const char *variant, hy_node_id node);

/*
 * Configures the nodes with the work's table and with the edges of rewrite by port. Returns 0 or
 * -1.
 */
int ours_table_set(hy_node_id lookup, hy_node_id rewrite, const uint16_t edge[]);
