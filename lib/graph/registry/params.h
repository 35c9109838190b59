/* SPDX-License-Identifier: BSD-3-Clause */
/* What graphs are made of: checked, defaults filled in, and copied, strings and all. */
#ifndef HY_GRAPH_PARAMS_H
#define HY_GRAPH_PARAMS_H

#include <hy_graph.h>

/* Checks the parameters of a graph. Returns 0, or -EINVAL with the reason logged. */
int hy_params_check(const char *graph, const struct hy_graph_params *params);

/* Copies checked parameters, defaults in place of zeros. Returns 0 or -ENOMEM. */
int hy_params_copy(struct hy_graph_params *copy, const struct hy_graph_params *params);
void hy_params_free(struct hy_graph_params *copy);

#endif
