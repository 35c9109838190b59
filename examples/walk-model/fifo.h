/* SPDX-License-Identifier: BSD-3-Clause */
/* A walk model: nodes run in the order in which they first got objects, as in DPDK's rte_graph. */
#ifndef FIFO_H
#define FIFO_H

#include <hy_walk.h>

#define FIFO_NODES 64 /* most nodes of a graph that can be walked so */

/* The context of one graph's walks, all 0 at first. */
struct fifo {
	uint16_t queue[FIFO_NODES]; /* ranks, from first on; each at most once */
	unsigned int first, n;
	uint64_t queued;  /* bit r: rank r is in there */
	uint64_t longest; /* most nodes that ever were in there */
};

hy_walk_model_t fifo_walk;

#endif
