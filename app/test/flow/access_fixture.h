/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of access lists in hardware share: a list, a port with a simulated flow engine, and
 * packets whose fate is held against software.
 */
#pragma once

#include <rte_ether.h>
#include <rte_rcu_qsbr.h>

#include <hy_flow_sim.h>
#include <hy_policy_view.h>

#include "app/test/nodes/node_fixture.h"
#include "flow_fixture.h"
#include "hal/flow/offload.h"

#define IDS 24
#define HOST(n) IP4(10, 0, 0, n)

struct access_rig {
	struct rte_rcu_qsbr *qsbr;
	struct port *port;
	struct hy_policy *policy;
	struct hy_offload *offload;
	struct hy_flow_sim *sim;
	struct rte_ether_addr mac;
	struct hy_flow_provider provider; /* the simulator's, which tests change */
	bool by_ports; /* rules of whole flows, as NICs with exact matching want */
	uint64_t seed;
	uint64_t dropped, arrived, marked; /* packets */
	uint64_t by_rule[IDS];             /* dropped, by the rule that software finds */
	uint64_t wrong;                    /* dropped, and software does not deny them */
};
extern struct access_rig access_rig;
#define A access_rig

void access_open(const char *profile, const char *driver);
/* The port has so many places for rules; 0: the profile's number. */
void access_open_sized(const char *profile, const char *driver, uint32_t table_size);
/* So are the parameters of the simulator. */
void access_open_as(const char *driver, const struct hy_flow_sim_params *sim);
/* The list may have so many rules; else 256. */
void access_open_long(const char *driver, const struct hy_flow_sim_params *sim, uint32_t max_rules);
void access_close(void);
/* Polls until nothing is left to do. */
void access_settle(void);
/* Passes a frame through the port's hardware, and holds what becomes of it against software. */
bool access_pass(const uint8_t *frame, uint32_t len);
/* By a view that is held. */
bool access_pass_by(const struct hy_policy_view *view, const uint8_t *frame, uint32_t len);
/* Stages a rule; the second makes one by its source; the third makes and commits one. */
void access_rule_set(const struct hy_flow_rule *rule);
struct hy_flow_rule access_source(uint32_t id, enum hy_rule_action action, uint32_t src,
	uint8_t len);
void access_source_set(uint32_t id, enum hy_rule_action action, uint32_t src, uint8_t len);
/* Whether a packet from a source arrives. */
bool access_arrives(uint32_t src);
/* Software classified nothing here: all that rules have was counted by hardware. */
void access_assert_counted(void);
struct hy_offload_stats access_stats(void);

int access_teardown(void **state);
#define ACCESS_TEST(f) cmocka_unit_test_setup_teardown(f, flow_setup, access_teardown)

/* A listener's prepare(), by which a commit fails. */
int access_refuse(void *arg, const struct hy_policy_view *next);
