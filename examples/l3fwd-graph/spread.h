/* SPDX-License-Identifier: BSD-3-Clause */
/* --mode=dispatch: one graph over all workers, its nodes pinned to them. */
#ifndef L3FWD_SPREAD_H
#define L3FWD_SPREAD_H

#include <hy_stats.h>

#include "pipeline.h"

/* Most packets that can be on their way between workers, for which there must be buffers. */
unsigned int spread_held(const struct options *options, unsigned int nb_workers);

/*
 * Makes the graphs of all workers out of one, by the pins of the command line. Returns 0, or -1 after
 * saying what is wrong.
 */
int spread_create(const struct options *options, const struct hy_graph_params *graph,
	struct pipeline *pipeline);

/* Whether other workers hand packets to the worker of a graph. */
bool spread_takes(struct hy_graph *graph);

/* What workers handed over to a node that others run. */
struct spread_way {
	const char *node;
	uint64_t packets;
	uint64_t held_back; /* walks in which a source was not called, as a ring to it was full */
};

/* Sums it up where entry i is the first that tells of such a node; else returns false. */
bool spread_way_read(const struct hy_stats *stats, unsigned int i, struct spread_way *way);

#endif
