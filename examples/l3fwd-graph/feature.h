/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * --feature: the arcs ip4_input and ip6_input, between the checks of a packet and the lookup of its
 * route, with features that are enabled for ports. A port's number is also that of its list of filters.
 */
#pragma once

#include <stdio.h>

#include <hy_arc.h>
#include <hy_hal.h>

#include "options.h"

struct features {
	struct hy_arc *arc[FAMILIES];             /* NULL: no --feature for it */
	struct hy_ip_filter filters[REPEATS_MAX]; /* family after family, port after port */
	struct hy_ip_filter_list lists[FAMILIES][RTE_MAX_ETHPORTS];
};

/*
 * Makes the arcs, and enables what the options say; before there are graphs, which report to this
 * variable. Returns 0, or -1 after saying what is wrong.
 */
int features_create(const struct options *options, struct hy_hal *hal, struct rte_rcu_qsbr *qsbr,
	struct features *features);
/* A line for each feature, with the ports that it is enabled for, as nodes are listed. */
void features_print(const struct options *options, FILE *out);

/* When there are no graphs any more. */
void features_destroy(struct features *features);
