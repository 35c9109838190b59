/* SPDX-License-Identifier: BSD-3-Clause */
/* The list of graphs, for those who read several: statistics. */
#ifndef HY_GRAPH_GRAPH_H
#define HY_GRAPH_GRAPH_H

#include <hy_graph_worker.h>

/* The graph behind another, or the first behind NULL. Wants the registry's lock held. */
struct hy_graph *hy_graph_next(const struct hy_graph *graph);

#endif
