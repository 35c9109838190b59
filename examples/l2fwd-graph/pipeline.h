/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The packet graph: ethdev_rx → l2_patch → ethdev_tx, a chain for each port that receives. With
 * --mode=eventdev, event_rx in place of ethdev_rx. With --bridge, the nodes of hy_l2.h in place of all
 * l2_patch: ethdev_rx → l2_input → l2_learn → l2_lookup → l2_flood → l2_output → ethdev_tx.
 */
#pragma once

#include <hy_bridge.h>

#include "options.h"

struct pipeline {
	const struct options *options;
	struct hy_bridge *bridge; /* of --bridge; or NULL */
	struct hy_ends ends;
	struct hy_workers workers;
};

/*
 * Reads the file of --bridge, before ports are started. Returns 0, also without one; -EINTR; or another
 * negative errno, after saying what is wrong.
 */
int bridge_create(const struct options *options, struct hy_bridge **bridge);

/*
 * Makes nodes as the HAL selects them, and graphs. Returns 0, or a negative errno after saying what is
 * wrong. pipeline_destroy() cleans up either way, any number of times, and returns how many packets
 * were on their way from worker to worker.
 */
int pipeline_create(const struct options *options, struct hy_hal *hal, struct pipeline *pipeline);
uint64_t pipeline_destroy(struct pipeline *pipeline);
