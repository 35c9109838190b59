/* SPDX-License-Identifier: BSD-3-Clause */
/* A bridge's table for tests, whose worker is played by the test. */
#pragma once

#include <hy_l2_table.h>

#include "unit.h"
#include "unit_worker.h"

/* The table of a test; it is freed after the test, and then all memory must be free. */
extern struct hy_l2_table *table;
extern const struct hy_l2_view *view;

/* Creates the table, with ports 0 to 15 and the same seed each time. */
void table_new(uint32_t max_entries, struct rte_rcu_qsbr *qsbr);

/* The nth of different keys, of locally administered addresses; a VLAN of 0 to 4095. */
uint64_t key_of(uint32_t n, uint16_t vid);
/* Writes n keys of different addresses and VLANs, all of one bucket. */
void keys_of_bucket(uint32_t bucket, uint64_t keys[], uint32_t n);

enum hy_l2_outcome learn(uint64_t key, uint16_t port);
/* The port of a key as a worker finds it, or HY_L2_MISS. */
uint16_t port_of(uint64_t key);
enum hy_l2_verdict verdict_of(uint64_t key, uint16_t port);
struct hy_l2_stats stats(void);

/* A random number. */
uint32_t l2_random(uint64_t *seed);

int l2_setup(void **state);
int l2_teardown(void **state);

#define L2_TEST(name) cmocka_unit_test_setup_teardown(name, l2_setup, l2_teardown)
