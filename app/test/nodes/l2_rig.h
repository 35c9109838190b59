/* SPDX-License-Identifier: BSD-3-Clause */
/* A bridge for tests of its nodes one by one, in the rig of node_fixture.h. */
#pragma once

#include <hy_l2.h>
#include <hy_l2_lane.h>
#include <hy_l2_table.h>

#include "node_fixture.h"

#define L2_RING 64 /* sources that a worker can hand over: one less */

extern struct hy_l2_setup l2_setup; /* of ports 0 to 3, which forward and learn; VLANs by tests */
extern struct hy_l2_worker l2_worker;
extern struct hy_l2_table *l2_table;

/* The bridge; a node of it behind the rig's source, with its first edge to rig_out-0. */
hy_node_id l2_rig(const char *node, const char *variant);
/* Configures such a node. edges: of l2_output, to ports 0 and 1. */
void l2_rig_config(hy_node_id id, const struct hy_l2_config *config);
struct hy_l2_config l2_rig_defaults(void);
/* Ends the rig's graph, and the bridge. */
void l2_rig_end(void);

/* A frame of Ethernet with other bytes behind it; tag: a type and TCI behind the addresses, or 0. */
uint32_t l2_frame(uint8_t *frame, const uint8_t dst[6], const uint8_t src[6], uint32_t tag,
	uint32_t len);
/* What a counter of a node of the rig says. */
uint64_t l2_counter(const char *node, const char *name);
