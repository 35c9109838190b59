/* SPDX-License-Identifier: BSD-3-Clause */
/* Dumps, for whoever debugs. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "graph_fixture.h"

static char text[1 << 14];

/* Whether text has some lines, in this order, each beginning and ending so. */
static void
assert_lines(const char *const (*wanted)[2], size_t n)
{
	const char *line = text;
	size_t found = 0;

	while (*line != '\0' && found < n) {
		const size_t length = strcspn(line, "\n"), end = strlen(wanted[found][1]);

		if (strncmp(line, wanted[found][0], strlen(wanted[found][0])) == 0 &&
			length >= end && strncmp(line + length - end, wanted[found][1], end) == 0)
			found++;
		line += length + 1;
	}
	if (found < n)
		fail_msg("no line '%s...%s' in its place in:\n%s", wanted[found][0],
			wanted[found][1], text);
}

/* src → hold ⇄ back: objects stay over from walk to walk. */
static struct hy_graph *
ring_add(struct probe *src)
{
	static struct probe hold;

	source_add(src, "src", "hold");
	NODE(&hold, .name = "hold", .impl = { "fast", probe_pass, .ctx_size = 24 },
		.edges = { "back" }, .drops = { { "d", HY_SEV_INFO, "Why." } },
		.counters = { { "c", "bytes", HY_SEV_INFO, "What." }, { "bare" } },
		.lanes = { "l" });
	pass_add(NULL, "back", "hold");
	sink_add(NULL, "drop");
	return GRAPH("ring", .burst = 16, .lanes = { "k", "l" }, .drop_node = "drop",
		.max_sweeps = 2);
}

static void
a_graph_is_dumped_with_what_waits_in_it(void **state)
{
	static const char *const wanted[][2] = {
		{ "graph ring: worker 0, socket 0, 4 nodes, burst 16, streams of 16, walks 1,",
			"cyclic" },
		{ "  lane 1: l", "" },
		{ "      0 src: variant -, source, id ", "" },
		{ "        0 waiting; ", "calls 1, objects 5" },
		{ "        edge 0: hold, rank 1, objects 5", "" },
		{ "      1 hold: variant fast, id ", "" },
		{ "        5 waiting; ", "calls 2, objects 10" },
		{ "        lane 0: l, the graph's 1", "" },
		{ "        edge 0: back, rank 2, objects 10", "" },
		{ "        drop 0: stream_full, objects 0", "" },
		{ "        drop 2: d, objects 0", "" },
		{ "        counter 0: c 0 bytes", "" },
		{ "      2 back: ", "" },
	};
	struct probe src = { .budget = 5 };
	struct hy_graph *graph = ring_add(&src);
	FILE *out = fmemopen(text, sizeof(text), "w");

	RTE_SET_USED(state);
	hy_graph_walk(graph);
	assert_int_equal(hy_graph_dump(graph, out), 0);
	fclose(out);
	assert_lines(wanted, RTE_DIM(wanted));
	assert_non_null(strstr(text, "context 24 B at 0x"));
}

static void
graphs_are_listed_a_line_each(void **state)
{
	static const char *const wanted[][2] = {
		{ "graph ring: ", "an update is waiting" },
		{ "graph two: worker 7, socket 0, 4 nodes, burst 64,", "walks 0, cyclic" },
	};
	struct probe src = { 0 };
	struct hy_graph *graph = ring_add(&src);
	FILE *out = fmemopen(text, sizeof(text), "w");
	unsigned int lines = 0;

	RTE_SET_USED(state);
	GRAPH("two", .drop_node = "drop", .lanes = { "l" }, .worker = 7);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_int_equal(hy_graph_list_dump(out), 0);
	fclose(out);
	assert_lines(wanted, 2);
	for (const char *at = text; *at != '\0'; at++)
		lines += *at == '\n';
	assert_int_equal(lines, 2);
}

static void
the_registry_is_dumped_with_what_leads_nowhere(void **state)
{
	static const char *const wanted[][2] = {
		{ "node ",
			" src: variant -, source, in 1 images, replicates 1, context 8 B, "
			"configured" },
		{ "    edge 0: hold", "" },
		{ "node ",
			" hold: variant fast, in 1 images, replicates 1, context 24 B, configured" },
		{ "    edge 0: back", "" },
		{ "    edge 1: nowhere", ", not registered" },
		{ "    drop 0: d  Why.", "" },
		{ "    counter 0: c, in bytes  What.", "" },
		{ "    counter 1: bare, in -  ", "" },
		{ "    lane 0: l", "" },
		{ "node ", " back: variant -, in 1 images, replicates 1, context 0 B" },
		{ "node ", " drop: variant -, in 1 images, replicates 1, context 0 B" },
	};
	struct probe src = { 0 };
	FILE *out = fmemopen(text, sizeof(text), "w");
	hy_node_id id = 0;

	RTE_SET_USED(state);
	ring_add(&src);
	assert_int_equal(hy_node_lookup("hold", &id), 0);
	assert_int_equal(hy_node_edge_add(id, "nowhere", NULL), 0);
	assert_int_equal(hy_registry_dump(out), 0);
	fclose(out);
	assert_lines(wanted, RTE_DIM(wanted));
}

static void
a_dump_that_cannot_be_written_is_eio(void **state)
{
	struct probe src = { 0 };
	struct hy_graph *graph = ring_add(&src);
	FILE *full = fopen("/dev/full", "w");

	RTE_SET_USED(state);
	assert_non_null(full);
	assert_int_equal(hy_graph_dump(graph, full), -ENOSPC);
	assert_int_equal(hy_graph_list_dump(full), -ENOSPC);
	assert_int_equal(hy_registry_dump(full), -ENOSPC);
	fclose(full);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(a_graph_is_dumped_with_what_waits_in_it),
	GRAPH_TEST(graphs_are_listed_a_line_each),
	GRAPH_TEST(the_registry_is_dumped_with_what_leads_nowhere),
	GRAPH_TEST(a_dump_that_cannot_be_written_is_eio),
};

UNIT_SUITE(tests)
