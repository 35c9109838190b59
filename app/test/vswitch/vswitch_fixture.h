/* SPDX-License-Identifier: BSD-3-Clause */
/* A switch for tests, with ports 1 to 3 (DPDK's 11 to 13, edges 21 to 23; 3 is no-flood), and NORMAL on 9. */
#pragma once

#include <hy_vswitch.h>

#include "unit.h"

extern struct hy_vswitch *vswitch;
extern struct hy_vswitch_rule rule; /* what was read last */
extern struct hy_vswitch_answer answer;
extern char error[HY_VSWITCH_ERROR_SIZE];

/* Creates and destroys it. Then all memory must be free. */
int vswitch_setup(void **state);
int vswitch_teardown(void **state);

/* Reads a rule that is good, into `rule`. */
void read_rule(const char *text);
/* Reads and adds one, at a time of 0. */
void add_rule(const char *text);
/* Adds rules, a line each. */
void add_rules(const char *lines);
/* Asserts what a packet gets: the edges it goes to, in their order; none: -1. */
void assert_edges(const struct hy_flows_key *key, int first, int second);
/* A packet of TCP over IPv4 from 10.0.0.1 to 10.0.0.2, ports 1000 and 80, TTL 64, DPDK's port 11. */
struct hy_flows_key tcp_key(void);
/* Writes a file, and returns its path. */
const char *rules_file(const char *text);
