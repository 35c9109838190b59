/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A port of a simulated vendor's NIC with an offload, and no graph: what rules do in hardware, seen by
 * the packets that the port gives out.
 */
#pragma once

#include <hy_flow_sim.h>
#include <hy_offload.h>

#include "hal/flow/offload.h"
#include "simnic_fixture.h"

struct driver_rig {
	uint16_t port, nb_queues;
	struct hy_policy *policy;
	struct hy_offload *offload; /* NULL: none, or not yet */
	struct rte_rcu_qsbr *qsbr;
};
extern struct driver_rig driver_rig;
#define D (&driver_rig)

/* RSS as a port has it that spreads by ports, too. */
#define RIG_RSS (RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP)

/*
 * Starts a port of so many queues and an empty policy. The names are those of simnic.h. Ports that
 * take rules by templates are made ready for that. rss_hf 0: no RSS.
 */
void driver_open(const char *name, const char *args, uint16_t nb_queues, uint64_t rss_hf);
/* The same configuration once more, of a port that is stopped or was reset. */
void driver_start(void);
/* Makes the offload. NULL: the provider that the port is for. */
int driver_offload(const struct hy_flow_provider *provider);
/* Rule i of n, which marks UDP packets to 192.18.0.i, and a packet that meets it. */
void driver_rules(uint32_t n);
struct sim_packet driver_packet(uint32_t i);
/* Polls until nothing is left to do. */
void driver_settle(void);
/* Makes the next poll find that marks were wrong. */
void driver_demote(void);
struct hy_flow_sim_stats driver_sim(void);
struct hy_offload_stats driver_stats(void);

int driver_setup(void **state);
int driver_teardown(void **state);
#define DRIVER_TEST(f) cmocka_unit_test_setup_teardown(f, driver_setup, driver_teardown)
