/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The packet graph: ethdev_rx and flow_reinject → flow_lookup → flow_apply → ethdev_tx, and with --bridge
 * from flow_apply to the nodes of hy_l2.h.
 */
#pragma once

#include <hy_bridge.h>
#include <hy_datapath.h>

#include "options.h"

struct pipeline {
	const struct options *options;
	struct hy_datapath *datapath;
	struct hy_bridge *bridge; /* of --bridge; or NULL */
	struct hy_ends ends;
	struct hy_workers workers;
};

/*
 * Reads the files, before ports are started. Returns 0; -EINTR; or another negative errno, after saying
 * what is wrong.
 */
int files_read(const struct options *options, struct pipeline *pipeline);

/* --offload: before a selection, when the ports run. Returns likewise. */
int offload(const struct options *options, struct hy_hal *hal, struct pipeline *pipeline);

/*
 * Makes nodes as the HAL selects them, and graphs. Returns 0, or a negative errno after saying what is
 * wrong. pipeline_destroy() cleans up either way, any number of times, and returns how many packets
 * were on their way from worker to worker, or waited for rules.
 */
int pipeline_create(const struct options *options, struct hy_hal *hal, struct pipeline *pipeline);
uint64_t pipeline_destroy(struct pipeline *pipeline);
