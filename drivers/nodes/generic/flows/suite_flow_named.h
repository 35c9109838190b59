/* SPDX-License-Identifier: BSD-3-Clause */
/* Marks for the suite of flow_lookup: each names the megaflow of a packet by the few bits that rules look at. */
#pragma once

#include "suite_flow_table.h"

struct suite_named;

/*
 * Creates marks for megaflows of flows without any, on each port.
 *
 * sampled: software compares all marked packets, instead of some.
 */
int suite_named_create(const struct hy_suite_side *side, struct hy_flows *flows, bool sampled,
	struct suite_named **named);
void suite_named_destroy(struct suite_named *named);
/* Gives each present megaflow its mark. */
void suite_named_publish(struct suite_named *named);
/* As configured, for all ports. */
const struct hy_flow_marks *suite_named_marks(const struct suite_named *named);
/* Gives a packet the mark of its megaflow, or another. */
void suite_named_shape(struct hy_suite_packet *packet, bool lies);
/* What of marks did not occur; NULL: all did. */
const char *suite_named_unreached(const struct suite_named *named, bool sampled);
