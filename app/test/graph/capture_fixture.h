/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects that can be captured, and what is expected of captures. */
#pragma once

#include <hy_capture.h>

#include "graph_fixture.h"

/* An object is OBJ_BYTES long, each byte its number, and comes from that number plus 100. */
#define OBJ_BYTES 44
extern const struct hy_object_ops capture_ops;

/* In parentheses, so that it is one argument of another macro. */
#define POINTS(...) ((const struct hy_capture_point[]){ __VA_ARGS__ })

/* Starts a capture at an array of points. */
#define CAPTURE_TRY(graph, at, ...) \
	hy_capture_start(graph, \
		&(const struct hy_capture_params){ \
			.points = at, .nb_points = sizeof(at) / sizeof((at)[0]), __VA_ARGS__ })
#define CAPTURE(graph, ...) assert_int_equal(CAPTURE_TRY(graph, __VA_ARGS__), 0)

/* Takes all records, checks their bytes, and what they are of: "POINT:NUMBER " each. */
void expect_taken(struct hy_graph *graph, const char *expected);

void expect_capture(struct hy_graph *graph, struct hy_capture_state expected);

/* A source: of four objects it sends to edge 0, to edge 1, to edge 2 and drops. */
hy_node_process_t spread_source;
