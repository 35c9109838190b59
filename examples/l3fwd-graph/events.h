/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports that are reset, or go, while packets flow. */
#ifndef L3FWD_EVENTS_H
#define L3FWD_EVENTS_H

#include "pipeline.h"

struct events {
	const struct options *options;
	struct hy_hal *hal;
	const struct pipeline *pipeline;
	FILE *people;
	unsigned int resets[RTE_MAX_ETHPORTS]; /* of each port, that went well */
	char said[HY_HAL_ERROR_SIZE]; /* the last error: not said a thousand times a second */
};

/*
 * Listens from now on: before ports run, since a port that asks for a reset asks once. Returns 0, or
 * -1 after saying what is wrong.
 */
int events_listen(struct hy_hal *hal);

/* Begins to tell of them. Returns likewise. */
int events_watch(struct events *events);

/* Sees to what has happened since; to be called now and then. */
void events_poll(struct events *events);

/* No more of them. */
void events_end(struct events *events);

#endif
