/* SPDX-License-Identifier: BSD-3-Clause */
/* A bridge for tests, whose workers and QSBR variable are played by the test. */
#pragma once

#include <hy_bridge.h>

#include "unit.h"
#include "unit_worker.h"

#define WORKERS 2
#define PORTS 3

/* Numbers of ethdevs are others than those of the bridge. */
extern const uint16_t ports[PORTS];

/* The bridge of a test; it is destroyed after the test, and then all memory must be free. */
extern struct hy_bridge *bridge;
extern struct hy_workers workers;
extern char error[HY_BRIDGE_ERROR_SIZE];

/* Writes the file, and returns its path. */
const char *file_write(const char *text);
/* Creates the bridge of a file with this text. Returns what hy_bridge_create() does. */
int bridge_create(const char *text);
/* Creates and starts it. Worker 0 reports to the variable, and rests. */
void bridge_new(const char *text);

/* The set-up as a worker loads it. */
const struct hy_l2_setup *setup_now(void);
/* Number of a port of the bridge, by its ethdev. */
uint16_t number_of(uint16_t port);

/* The nth of different addresses. */
uint64_t key_of(uint32_t n, uint16_t vid);
/* Hands a source over, as l2_learn does. Returns false if the ring is full. */
bool find(unsigned int worker, uint64_t key, uint16_t number);
/* The port of a key, or HY_L2_MISS. */
uint16_t port_of(uint64_t key);

/* A random number. */
uint32_t bridge_random(uint64_t *seed);

/* What the bridge prints, until the next call. */
const char *printed(void (*print)(struct hy_bridge *bridge, FILE *out));

/* Destroys the bridge and removes the file. */
int bridge_done(void);

int bridge_setup(void **state);
/* Likewise, and checks that all memory is free. */
int bridge_teardown(void **state);

#define BRIDGE_TEST(name) cmocka_unit_test_setup_teardown(name, bridge_setup, bridge_teardown)
