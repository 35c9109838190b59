/* SPDX-License-Identifier: BSD-3-Clause */
/* A bridge for the suites of its nodes. */
#pragma once

#include <hy_conform.h>
#include <hy_l2.h>
#include <hy_l2_lane.h>
#include <hy_l2_table.h>

#define SUITE_L2_PORTS 8     /* of the bridge; ethdevs have the same numbers */
#define SUITE_L2_EDGES 6     /* of l2_output: to ports that forward */
#define SUITE_L2_STATIONS 48 /* addresses in use, of which some have entries */
#define SUITE_L2_VLANS 4

extern const uint16_t suite_l2_vids[SUITE_L2_VLANS];

/* The state of suites. */
struct suite_l2 {
	struct hy_l2_table *table;
	struct hy_l2_setup *setup;
	struct hy_l2_worker *workers[HY_SUITE_WORKERS];
	struct rte_rcu_qsbr *qsbr;
	uint64_t nb_handed_over; /* sources that workers have handed over, */
	uint64_t handed_over;    /* and a sum of them */
};

/* As suites' functions. */
int suite_l2_setup(const struct hy_suite_side *side, void **state);
void suite_l2_teardown(void *state);
int suite_l2_configure(void *state, hy_node_id id);
int suite_l2_change(void *state, uint32_t number);
/* Whether workers have handed over the same sources. */
bool suite_l2_agree(void *reference, void *variant, char *text);
const char *suite_l2_unreached(void *reference, void *variant);

void suite_l2_shape_input(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet);

/* Gives a frame a tag, or none, and a lane that says so. Returns the lane. */
uint32_t suite_l2_tag(struct hy_suite_packet *packet);
/* Writes an address: mostly one that is in use. at: of the address in the frame. */
void suite_l2_address(struct hy_suite_packet *packet, unsigned int at);
