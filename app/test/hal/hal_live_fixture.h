/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of selection under traffic share: two ports of rings, and a graph for each. */
#pragma once

#include "hal_fixture.h"

#define PORTS 2

/* The families, of ports: live_rx → live_cls → live_sink (of the process). */
struct live {
	unsigned int binds, unbinds, inits, finis;
	unsigned int fail_bind; /* the call that fails, from 1 */
	bool fail_init;
	uint64_t seen[2]; /* objects that "plain" and "fast" of live_cls had */
	uint64_t made, released;
};

extern struct live live;
extern struct hy_graph *live_graphs[PORTS];

/* A graph for each port: live_rx-P leads to its port's live_cls. */
void live_make(void);
void live_walk(void);
void live_reselect(void);
/* Objects that a node of that name has had in all graphs. */
uint64_t live_objs(const char *node);
void live_assert_variant(const char *node, const char *variant, const char *target);

int live_setup(void **state);
int live_teardown(void **state);

#define LIVE_TEST(f) cmocka_unit_test_setup_teardown(f, live_setup, live_teardown)
