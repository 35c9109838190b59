/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a description begins with. A reader whose own differ is of another version: it would look for
 * counters in the wrong places.
 */
#pragma once

#include <hy_plugin.h>

#include "lib/graph/observe/trace.h"
#include "share.h"

static const uint64_t hy_share_layout[] = {
	HY_SHARE_MAGIC,
	HY_ABI,
	sizeof(struct hy_graph),
	offsetof(struct hy_graph, walks),
	offsetof(struct hy_graph, image),
	sizeof(struct hy_image),
	offsetof(struct hy_image, serial),
	sizeof(struct hy_image_node),
	offsetof(struct hy_image_node, bursts),
	sizeof(struct hy_node),
	offsetof(struct hy_node, calls),
	sizeof(struct hy_edge),
	HY_CORE_DROPS,
	HY_DESC_DROPS,
	HY_WIDE_MAX,
	HY_BURST_BUCKETS,
	sizeof(struct hy_trace),
	offsetof(struct hy_trace, serial),
	offsetof(struct hy_trace, head),
	offsetof(struct hy_trace, tail),
	sizeof(struct hy_trace_record),
};
