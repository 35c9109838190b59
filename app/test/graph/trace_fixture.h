/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs to trace, and what is expected of their traces. */
#pragma once

#include <hy_trace.h>

#include "graph_fixture.h"

#define START(graph, ...) hy_trace_start(graph, &(const struct hy_trace_params){ __VA_ARGS__ })

/*
 * Takes all records and checks them. A line each: the object's number, the node, its place in the
 * burst, the reason if it was dropped, and a full stop if it left the graph.
 */
void expect_records(struct hy_graph *graph, const char *expected);

void expect_status(struct hy_graph *graph, struct hy_trace_state expected);
#define STATUS(graph, ...) expect_status(graph, (struct hy_trace_state){ __VA_ARGS__ })

/*
 * "src" to "in" to "turn", which sends an object back to "in" so many times, 3 by default, then on
 * to "sink". Two passes a walk. Takes other sources whose names begin with an s as well.
 */
extern uint32_t laps;
struct hy_graph *cycle_add(struct probe *src, uint16_t burst);
