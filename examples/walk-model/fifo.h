/* SPDX-License-Identifier: BSD-3-Clause */
/* A walk model: nodes run in the order in which they first received objects, as in rte_graph. */
#pragma once

#include <hy_walk.h>

#define FIFO_NODES 64 /* most nodes of a graph that this model can walk */

/* The context of one graph's walks, initially all 0. */
struct fifo {
	uint16_t queue[FIFO_NODES]; /* ranks, from first on; each at most once */
	unsigned int first, n;
	uint64_t queued;  /* bit r: rank r is in the queue */
	uint64_t longest; /* highest number of queued nodes */
};

hy_walk_model_t fifo_walk;
