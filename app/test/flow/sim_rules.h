/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules by which the simulator's profiles refuse flows, each with the flow that it refuses and
 * the nearest one that it takes: fed to the engine itself, and to NICs through rte_flow.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <rte_flow.h>

#include "lib/graph/internal/dpdk.h"

struct sim_flow {
	struct rte_flow_attr attr;
	struct rte_flow_item items[7];
	struct rte_flow_action actions[9];
};

struct sim_rule {
	const char *profile;
	const char *source; /* in DPDK v22.11, below drivers/ */
	const char *why;    /* what the error says */
	struct sim_flow refused, taken;
	bool without_rss; /* refused by a port without RSS, the same flow taken by one with it */
};

extern const struct sim_rule sim_rules[];
extern const size_t sim_rules_count;

/* How many there are: a rule that is lost is noticed. Those beside the 116 are of later DPDKs. */
#define SIM_RULES \
	(116 + HY_DPDK_I40E_WHOLE_TAGS + HY_DPDK_ICE_NO_RANGES + 2 * HY_DPDK_ICE_FRAGMENTS + \
		3 * HY_DPDK_INTEL_RSS)
#define SIM_RULES_WITHOUT_RSS 1

/* Queues of the port that the rules are for. */
#define SIM_RULES_QUEUES 4
