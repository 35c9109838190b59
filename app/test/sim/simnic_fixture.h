/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports of simulated NICs for tests. */
#pragma once

#include "app/sim/simnic.h"

#include "app/test/flow/sim_fixture.h"

#define MAX_PORTS 8

/* A port that is not configured. */
uint16_t nic_probe(const char *name, const char *args);
/* Configures a port with SIM_RULES_QUEUES queues and RSS, and starts it. */
void nic_up(uint16_t port);
/* Both, with marks negotiated in between where the NIC does that. */
uint16_t nic_add(const char *name, const char *args);
/* Sends a packet in by queue 0 and takes it out again; its mark, -1: none, -2: nothing came. */
int64_t nic_marked(uint16_t port, const struct sim_packet *packet);
/* Creates a rule that marks what a packet says, and counts where the NIC can. */
struct rte_flow *nic_rule(uint16_t port, const struct sim_packet *packet, uint32_t mark);
/* The profile of its flow engine. */
const char *nic_profile(uint16_t port);

/* Stops an event device: the program is to be given events 0 to n - 1, by their u64, each once. */
void flushed_expect(uint8_t device, unsigned int n);

/* sim_setup() and sim_teardown(), which removes the ports before the pool. */
int simnic_setup(void **state);
int simnic_teardown(void **state);
#define SIMNIC_TEST(f) cmocka_unit_test_setup_teardown(f, simnic_setup, simnic_teardown)
