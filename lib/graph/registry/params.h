/* SPDX-License-Identifier: BSD-3-Clause */
/* Parameters of graphs: checked, completed with defaults, and copied with all strings. */
#pragma once

#include <hy_graph.h>

/* Checks the parameters of a graph. Returns 0, or -EINVAL with the reason logged. */
int hy_params_check(const char *graph, const struct hy_graph_params *params);

/*
 * Checks wide lanes, beside the other lanes, which have been checked; `of` is "node" or "graph".
 * Returns 0, or -EINVAL with the reason logged.
 */
int hy_wide_check(const char *of, const char *name, const char *const lanes[HY_LANES_MAX],
	const struct hy_wide_lane *wide, unsigned int n);
/* Checks that a graph declares a wide lane of a node, with its width. Returns as hy_wide_check(). */
int hy_wide_declared(const char *graph, const struct hy_graph_params *params, const char *node,
	const struct hy_wide_lane *lane);

/* Copies checked parameters, defaults in place of zeros. Returns 0 or -ENOMEM. */
int hy_params_copy(struct hy_graph_params *copy, const struct hy_graph_params *params);
void hy_params_free(struct hy_graph_params *copy);
