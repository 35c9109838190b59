/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of policies share: rules and keys that meet often, and a policy for each test. */
#pragma once

#include <hy_policy_view.h>

#include "app/test/unit.h"

uint32_t rnd(uint64_t *seed);

/* A good rule of few, wide or common values, so that many overlap. */
struct hy_flow_rule rule_random(uint32_t id, uint64_t *seed);
/* The key of a packet that a rule matches, or misses by one field; possible as a packet's. */
struct hy_flow_key key_near(const struct hy_flow_rule *rule, uint64_t *seed);

/* A policy for so many rules and workers; freed behind the test. */
extern struct hy_policy *policy;
void policy_new(uint32_t max_rules, unsigned int workers, struct rte_rcu_qsbr *qsbr);
void policy_new_access(uint32_t max_rules, unsigned int workers);
/* Adds a rule that every packet of a destination port matches; fails the test if it cannot. */
void add_dport(uint32_t id, uint32_t precedence, uint16_t class_id, uint16_t dport);
void commit(void);
struct hy_policy_engine_info info_now(void);
/* The class that the policy gives to a UDP packet to a port, linear and acl alike. */
uint16_t class_of(uint16_t dport);

int policy_setup(void **state);
int policy_teardown(void **state);
#define POLICY_TEST(f) cmocka_unit_test_setup_teardown(f, policy_setup, policy_teardown)
