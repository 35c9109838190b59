/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of traces share; see trace_fixture.h. */

#include <stdio.h>
#include <string.h>

#include "trace_fixture.h"

void
expect_records(struct hy_graph *graph, const char *expected)
{
	static struct hy_trace_record records[512];
	const unsigned int n = hy_trace_read(graph, records, RTE_DIM(records));
	static char text[8192];
	size_t at = 0;

	text[0] = '\0';
	for (unsigned int i = 0; i < n && at < sizeof(text); i++) {
		const struct hy_trace_record *r = &records[i];

		at += (size_t)snprintf(text + at, sizeof(text) - at, "%u %s %u/%u%s%s%s\n",
			r->serial, r->name, r->index, r->burst, r->drop[0] == '\0' ? "" : " ",
			r->drop, r->last ? "." : "");
	}
	assert_string_equal(text, expected);
}

void
expect_status(struct hy_graph *graph, struct hy_trace_state expected)
{
	struct hy_trace_state status;

	assert_int_equal(hy_trace_status(graph, &status), 0);
	assert_int_equal(status.running, expected.running);
	assert_int_equal(status.marked, expected.marked);
	assert_int_equal(status.unmarked, expected.unmarked);
	assert_int_equal(status.recorded, expected.recorded);
	assert_int_equal(status.lost, expected.lost);
}

uint32_t laps;

static uint16_t
turn(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	uint16_t next[HY_BURST_MAX];

	for (uint16_t i = 0; i < n; i++)
		next[i] = ((struct obj *)objs[i])->hops++ < laps ? 0 : 1;
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

struct hy_graph *
cycle_add(struct probe *src, uint16_t burst)
{
	source_add(src, "src", "in");
	pass_add(NULL, "in", "turn");
	NODE(NULL, .name = "turn", .impl.process = turn, .edges = { "in", "sink" });
	sink_add(NULL, "sink");
	laps = 3;
	return GRAPH("g", .burst = burst, .max_sweeps = 2, .patterns = (const char *[]){ "s*" },
		.nb_patterns = 1);
}
