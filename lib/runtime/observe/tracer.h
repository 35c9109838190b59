/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of the tracer for telemetry. */
#pragma once

#include <hy_trace.h>

struct hy_tracer_line {
	const char *graph;
	struct hy_trace_record record;
	char text[HY_TEXT_SIZE];
};

/* Takes records out, at most so many, and hands each to a function. Returns how many. */
unsigned int hy_tracer_each(unsigned int most,
	void (*call)(const struct hy_tracer_line *line, void *arg), void *arg);
