/* SPDX-License-Identifier: BSD-3-Clause */
/* The ways of single packets through the graphs: --trace. */
#ifndef L3FWD_WAYS_H
#define L3FWD_WAYS_H

#include <stdio.h>

#include "pipeline.h"

/* Starts a trace on each worker, if one is asked for. Returns 0, or -1 after saying why not. */
int ways_start(const struct options *options, const struct pipeline *pipeline);
/* Prints what was traced, once the workers have stopped: a line for each node that a packet saw. */
int ways_print(const struct pipeline *pipeline, FILE *out);

#endif
