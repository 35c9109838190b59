/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The packet graph: ethdev_rx → pkt_cls → ip4_lookup → ip4_rewrite → ethdev_tx, one a worker. With
 * --policy, flow_cls stands before pkt_cls; with --feature, ip4_input and features before ip4_lookup;
 * with --mode=eventdev, event_rx in place of ethdev_rx. With --mode=dispatch it is one graph, and each
 * worker has the part of it that is pinned there.
 */
#ifndef L3FWD_PIPELINE_H
#define L3FWD_PIPELINE_H

#include <hy_hal_live.h>
#include <hy_workers.h>

#include "feature.h"
#include "offloads.h"
#include "options.h"
#include "policy_file.h"
#include "tables.h"

struct pipeline {
	struct tables tables;
	struct classes classes;   /* of --policy */
	struct offloads offloads; /* of those, by --offload */
	struct features features; /* of --feature */
	struct hy_workers workers;
};

/*
 * Lists the lcores of --config and --pin as workers, in order (with --mode=eventdev, all that EAL
 * has), and makes what they report to. Returns 0, or -1 after saying what is wrong.
 */
int pipeline_workers(const struct options *options, struct pipeline *pipeline);

/*
 * Makes tables, nodes as the HAL selects them, and graphs; gives up once hy_stopping(). Returns 0,
 * or -EINTR then, or else -1, after saying what is wrong; pipeline_destroy() cleans up either way, any number of times, and
 * returns how many packets were on their way from worker to worker.
 */
int pipeline_create(const struct options *options, const struct routes *routes, struct hy_hal *hal,
	struct pipeline *pipeline);
uint64_t pipeline_destroy(struct pipeline *pipeline);

#endif
