/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of a graph over several workers share: a chain, its dispatch, and what it counts. */
#pragma once

#include <hy_dispatch.h>

#include "app/test/graph/graph_fixture.h"

#define BURST 8

#define WORKERS(...) \
	.workers = (const uint16_t[]){ __VA_ARGS__ }, \
	.nb_workers = RTE_DIM(((const uint16_t[]){ __VA_ARGS__ }))

#define PINS(...) \
	.pins = (const struct hy_dispatch_pin[]){ __VA_ARGS__ }, \
	.nb_pins = RTE_DIM(((const struct hy_dispatch_pin[]){ __VA_ARGS__ }))

#define CHAIN_PARAMS(...) \
	(&(const struct hy_graph_params){ .patterns = src_only, \
		.nb_patterns = 1, \
		.drop_node = "gone", \
		.burst = BURST, \
		__VA_ARGS__ })

#define DISPATCH(...) dispatch_add(&(const struct hy_dispatch_params){ __VA_ARGS__ })

#define DISPATCH_TEST(f) cmocka_unit_test_setup_teardown(f, graph_setup, dispatch_teardown)

/* src -> work -> sink, and "gone", where drops go: it is reached by drops alone. */
struct dispatch_rig {
	struct probe src, work, sink, gone;
};

extern struct hy_dispatch *dispatch; /* the test's; destroyed after it */
extern struct dispatch_rig rig;
extern const struct hy_object_ops flow_ops; /* 13 flows, by the objects' ids */
extern const char *const src_only[];        /* all sources */

/* Registers the chain; its source makes what it may. */
void chain_add(void);
/* Creates the dispatch "d". Fails the test if that is refused. */
void dispatch_add(const struct hy_dispatch_params *params);
uint32_t walk(uint16_t worker);
/* A counter or a drop of a node, by name; over all graphs. */
uint64_t counted(const char *node, const char *what);

int dispatch_teardown(void **state);
