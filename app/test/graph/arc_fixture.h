/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of arcs share: features that leave their marks on objects. */
#pragma once

#include <hy_arc.h>

#include "graph_fixture.h"

/*
 * Registers the node of a feature, which adds its id and its cookie to an object's trail, and the
 * feature, on the arc "arc". Lists of names end with NULL.
 */
void feature_add(const char *name, unsigned int id, const char *const after[],
	const char *const before[]);
#define AFTER(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define BEFORE(...) ((const char *const[]){ __VA_ARGS__, NULL })

/* What an object's mark becomes at a feature. */
static inline uint32_t
trail(uint32_t mark, unsigned int id, uint32_t cookie)
{
	return (mark * 31 + id) * 1000003 + cookie;
}

/* Called by each feature for each burst, if it is not NULL. */
extern void (*feature_hook)(unsigned int id);

/* Objects' index is what the test wrote in obj->from. */
hy_arc_index_t index_from;

/* The nodes "src" and "end", and the arc "arc" that ends there; arc_src makes objects of these. */
extern struct probe arc_src, arc_end;
extern uint32_t arc_indexes[HY_BURST_MAX];
extern struct hy_arc *arc;
void arc_add(struct rte_rcu_qsbr *qsbr);
/* Unregisters those nodes again. */
void arc_nodes_remove(void);
/* A graph of those. */
struct hy_graph *arc_graph(const char *name, uint16_t worker, struct rte_rcu_qsbr *qsbr);
/* Sends an object of each index through a graph; their trails. */
void arc_send(struct hy_graph *graph, const uint32_t indexes[], uint32_t trails[], unsigned int n);
/* The trail of one object. */
uint32_t arc_trail(struct hy_graph *graph, uint32_t index);
/* Whether a graph has a node of that name. */
bool arc_has(struct hy_graph *graph, const char *node);

/* Before and after each test. */
int arc_setup(void **state);
int arc_teardown(void **state);
#define ARC_TEST(f) cmocka_unit_test_setup_teardown(f, arc_setup, arc_teardown)
