/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The packet graph: ethdev_rx → pkt_cls → ip4_lookup → ip4_rewrite → ethdev_tx, one a worker, and for
 * IPv6 ip6_lookup → ip6_rewrite in the place of those of IPv4. With
 * --policy, flow_cls stands before pkt_cls; with --feature, ip4_input and features before ip4_lookup;
 * with --vlan, vlan_input and vlan_pop before pkt_cls, and vlan_push before ethdev_tx; with
 * --mode=eventdev, event_rx in place of ethdev_rx. With --acl, port_in-P and acl_in-P stand before the
 * first node behind ethdev_rx, and port_out-P and acl_out-P before ethdev_tx. With --mode=dispatch it is one graph, and each
 * worker has the part of it that is pinned there.
 */
#pragma once

#include "feature.h"
#include "files.h"
#include "lists.h"
#include "offloads.h"

struct pipeline {
	const struct options *options;
	struct hy_routes *routes;     /* from routes_create() */
	struct classes classes;       /* of --policy */
	struct hy_offloads *offloads; /* of those, by --offload; or NULL */
	struct features features;     /* of --feature */
	struct lists lists;           /* of --acl-list, from lists_create() */
	struct hy_ends ends;
	struct hy_workers workers;
};

/*
 * Makes tables, nodes as the HAL selects them, and graphs. Returns 0; -EINTR once hy_stopping(); or
 * another negative errno, after saying what is wrong. pipeline_destroy() cleans up either way, any
 * number of times, and returns how many packets were on their way from worker to worker.
 */
int pipeline_create(const struct options *options, struct hy_hal *hal, struct pipeline *pipeline);
uint64_t pipeline_destroy(struct pipeline *pipeline);
