/* SPDX-License-Identifier: BSD-3-Clause */
/* A graph as a picture. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph_fixture.h"

static char text[1 << 14];

/* Writes the picture of a graph to text. */
static void
export_text(const struct hy_graph *graph)
{
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	assert_int_equal(hy_graph_export_dot(graph, out), 0);
	fclose(out);
}

static struct hy_graph *
picture_add(struct probe *src, struct probe *spread)
{
	struct hy_graph *graph;

	source_add(src, "rx-0", "spread");
	NODE(spread, .name = "spread", .impl = { "avx9", probe_spread }, .edges = { "a", "b" });
	NODE(NULL, .name = "a", .impl.process = probe_drop, .drops = { { "d" }, { "e" }, { "f" } });
	sink_add(NULL, "b");
	sink_add(NULL, "drop");
	graph = GRAPH("pic-1.x", .burst = 30, .drop_node = "drop");
	hy_graph_walk(graph);
	hy_graph_walk(graph);
	return graph;
}

static void
a_picture_has_every_node_and_edge_with_its_count(void **state)
{
	static const char *const lines[] = {
		"digraph \"pic-1.x\" {\n",
		"\t\"rx-0\" [shape=house, label=\"rx-0\\n60\"];\n",
		"\t\"spread\" [shape=box, label=\"spread\\n(avx9)\\n60\"];\n",
		"\t\"a\" [shape=box, label=\"a\\n30\"];\n",
		"\t\"b\" [shape=box, label=\"b\\n30\"];\n",
		"\t\"drop\" [shape=box, label=\"drop\\n30\"];\n",
		"\t\"rx-0\" -> \"spread\" [label=\"60\"];\n",
		"\t\"spread\" -> \"a\" [label=\"30\"];\n",
		"\t\"spread\" -> \"b\" [label=\"30\"];\n",
		"\t\"a\" -> \"drop\" [style=dashed, color=gray50, label=\"30\"];\n",
	};
	struct probe src = { .budget = 1000 }, spread = { .nb_edges = 2 };
	unsigned int found = 0, arrows = 0;

	RTE_SET_USED(state);
	export_text(picture_add(&src, &spread));
	for (size_t i = 0; i < RTE_DIM(lines); i++) {
		if (strstr(text, lines[i]) == NULL)
			fail_msg("no line '%s' in:\n%s", lines[i], text);
		found++;
	}
	for (const char *at = text; (at = strstr(at, " -> ")) != NULL; at++)
		arrows++;
	assert_int_equal(found, 10);
	assert_int_equal(arrows, 4);
	assert_string_equal(text + strlen(text) - 2, "}\n");
}

static void
a_picture_shows_budgets_that_are_less_than_a_burst(void **state)
{
	struct probe src = { .budget = 1000 }, spread = { .nb_edges = 2 };
	struct hy_graph *graph = picture_add(&src, &spread);

	RTE_SET_USED(state);
	assert_int_equal(hy_graph_source_budget(graph, "rx-0", 29), 0);
	export_text(graph);
	if (strstr(text,
		    "\t\"rx-0\" [shape=house, label=\"rx-0\\n60\\n(at most 29 a walk)\"];\n") ==
		NULL)
		fail_msg("no budget in:\n%s", text);
	assert_int_equal(hy_graph_source_budget(graph, "rx-0", 30), 0);
	export_text(graph);
	assert_null(strstr(text, "at most"));
}

static void
dot_reads_a_picture(void **state)
{
	struct probe src = { .budget = 1000 }, spread = { .nb_edges = 2 };
	char path[] = P_tmpdir "/hy-test-XXXXXX", command[64];
	unsigned int edges = 0, nodes = 0;
	char line[512];
	FILE *out;
	int fd;

	RTE_SET_USED(state);
	if (system("command -v dot >/dev/null 2>&1") != 0) {
		print_message("# skipped: no dot(1)\n");
		skip();
	}
	fd = mkstemp(path);
	assert_true(fd >= 0);
	out = fdopen(fd, "w");
	assert_int_equal(hy_graph_export_dot(picture_add(&src, &spread), out), 0);
	fclose(out);
	snprintf(command, sizeof(command), "dot -Tplain %s 2>&1", path);
	out = popen(command, "r");
	assert_non_null(out);
	while (fgets(line, sizeof(line), out) != NULL) {
		nodes += strncmp(line, "node ", 5) == 0;
		edges += strncmp(line, "edge ", 5) == 0;
	}
	assert_int_equal(pclose(out), 0);
	unlink(path);
	assert_int_equal(nodes, 5);
	assert_int_equal(edges, 4);
}

static void
a_picture_that_cannot_be_written_is_eio(void **state)
{
	struct probe src = { .budget = 1000 }, spread = { .nb_edges = 2 };
	const struct hy_graph *graph = picture_add(&src, &spread);
	FILE *full = fopen("/dev/full", "w");

	RTE_SET_USED(state);
	assert_non_null(full);
	/* The text is shorter than what stdio keeps back. */
	assert_int_equal(hy_graph_export_dot(graph, full), -EIO);
	fclose(full);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(a_picture_has_every_node_and_edge_with_its_count),
	GRAPH_TEST(a_picture_shows_budgets_that_are_less_than_a_burst),
	GRAPH_TEST(dot_reads_a_picture),
	GRAPH_TEST(a_picture_that_cannot_be_written_is_eio),
};

UNIT_SUITE(tests)
