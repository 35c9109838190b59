/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of offload share: rules and frames of few values, so that they meet; and a rig, a
 * port of rings with a simulated flow engine behind it, whose packets go through flow_cls by marks.
 */
#pragma once

#include <hy_flow_sim.h>
#include <hy_offload.h>
#include <hy_policy_view.h>

#include "app/test/nodes/node_fixture.h"

/* A rule of few values. Some have every field that NICs with exact matching want. */
struct hy_flow_rule flow_rule(uint32_t id, uint64_t *seed);
/* A frame of the same values: tags, fragments, options, tunnels, other ether types among them. */
uint32_t flow_frame(uint8_t *frame, uint64_t *seed);

/* The profiles that there are, with the driver names that go with them. */
struct flow_profile {
	const char *name, *driver;
};
#define FLOW_PROFILES 6
extern const struct flow_profile flow_profiles[FLOW_PROFILES];

struct flow_rig {
	struct port *port;
	struct hy_policy *policy;
	struct hy_offload *offload;
	struct hy_graph *graph;
	struct hy_flow_sim *sim;
	struct hy_hal *hal; /* NULL: none */
	uint64_t seed;
	uint64_t packets, compared;    /* sent, and held against the oracle */
	uint64_t wrong;                /* of those */
	uint64_t hits[UINT16_MAX + 1]; /* by class, as the oracle says */
};
extern struct flow_rig rig_of_flow;
#define R (&rig_of_flow)

/* What is 0 in the parameters is short here: settle_us is 1,000, age_us 1. */
void flow_open(const struct flow_profile *profile, struct hy_flow_sim_params sim,
	struct hy_offload_params params);
/* The same with a HAL, which the offload follows and which selects the variants. */
void flow_open_followed(const struct flow_profile *profile, struct hy_flow_sim_params sim,
	struct hy_offload_params params);
/* Stages and commits n random rules with ids from `first`. */
void flow_rules_add(uint32_t first, uint32_t n);
void flow_commit(void);
/* Commits rules that name every field and do not overlap, and makes the frame that one is for. */
void flow_exact_rules(uint32_t first, uint32_t n);
uint32_t flow_exact_frame(uint8_t *frame, uint32_t id);
/* Polls until nothing is left to do, quarantines included. */
void flow_settle(void);
/* Sends random packets through the port, and holds each one's class against the oracle. */
void flow_traffic(unsigned int n);
/* Receives packets as the port has marked them, without sending them on. */
unsigned int flow_hold(struct rte_mbuf **packets, const uint8_t *frame, uint32_t len,
	unsigned int n);
/* Sends packets into the graph as they are, and holds them against the oracle. */
void flow_send(struct rte_mbuf **packets, unsigned int n);
/* Sum of a counter of the node that classifies. */
uint64_t flow_counter(const char *counter);
/* Every packet was counted once, where it belongs: rules' hits, and the node's counters. */
void flow_assert_counted(void);
struct hy_offload_stats flow_stats(void);

int flow_setup(void **state);
int flow_teardown(void **state);
#define FLOW_TEST(f) cmocka_unit_test_setup_teardown(f, flow_setup, flow_teardown)
