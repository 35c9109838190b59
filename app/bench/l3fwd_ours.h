/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ways with Halyard's nodes share: the selection and the tables. */
#pragma once

#include <hy_assembly.h>
#include <hy_hal.h>
#include <hy_ip4.h>
#include <hy_ip6.h>

#include "l3fwd.h"

/* Exits with an error if rc is negative. */
void ours_must(int rc, const char *what);

/* The HAL's selection for the rig's ports. */
const struct hy_selection *ours_selection(const char *family);

/* The implementation of a variant, completed as the HAL does; see struct hy_variant. */
struct hy_node_impl ours_impl(const struct hy_variant *variant);

/* Sets the variant of a node for graphs created later. */
void ours_variant_set(const char *family, const char *variant, hy_node_id node);

/* The graph of a way of ours_create(). */
struct hy_graph *ours_graph(const struct l3fwd_way *way);

/*
 * Configures the nodes with the work's table and with the edges of rewrite by port. Returns 0 or
 * -1.
 */
int ours_table_set(hy_node_id lookup, hy_node_id rewrite, const uint16_t edge[static HY_IP4_PORTS]);

/* IPv6 (l3fwd_ours6.c). */

/* Creates its nodes, after those that transmit, and leads the classifier to them. */
void ours6_nodes(const struct hy_ends *ends, hy_node_id classifier);
/* Creates a table with a work's routes. Next hops are by number. Returns 0 or a negative errno. */
int ours6_fib_create(struct hy_ip4_fib *next_hops, const struct l3fwd_table *table,
	const uint32_t id[HOPS], struct hy_ip6_fib **fib);
/* Configures the nodes with a table, for graphs created later. */
void ours6_fib_set(struct hy_hal *hal, struct hy_ip6_fib *fib);
