/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of a trace as text, object by object. */
#pragma once

#include <hy_trace.h>

struct hy_trace_style {
	const char *object; /* "packet" */
	const char *unit;   /* of time */
	double cycles;      /* in a unit */
	int decimals;
};

/* Prints records of a graph's trace, in the order of recording. Returns 0 or -ENOMEM. */
int hy_trace_print(const struct hy_graph *graph, const struct hy_trace_record *records,
	unsigned int n, const struct hy_trace_style *style, FILE *out);
