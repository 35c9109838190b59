/* SPDX-License-Identifier: BSD-3-Clause */
/* A graph as a picture, be it there or not; in dot and in JSON. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "graph_fixture.h"

static char text[1 << 16];

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
	assert_int_equal(hy_graph_export_dot(graph, full), -ENOSPC);
	fclose(full);
}

static void
json_text(const struct hy_graph *graph)
{
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	assert_int_equal(hy_graph_export_json(graph, out), 0);
	fclose(out);
}

/* Lets Python read text as JSON, and say what an expression of the object g is. */
static void
assert_json(const char *expression, const char *expected)
{
	char path[] = P_tmpdir "/hy-test-XXXXXX", command[512], said[1024] = "";
	const int fd = mkstemp(path);
	FILE *file;

	assert_true(fd >= 0);
	file = fdopen(fd, "w");
	assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
	fclose(file);
	snprintf(command, sizeof(command),
		"/usr/bin/python3 -c \"import json; g = json.load(open('%s', encoding='utf-8')); "
		"n = {x['name']: x for x in g['nodes']}; print(%s, end='')\" 2>&1",
		path, expression);
	file = popen(command, "r");
	assert_non_null(file);
	said[fread(said, 1, sizeof(said) - 1, file)] = '\0';
	if (pclose(file) != 0 || strcmp(said, expected) != 0)
		fail_msg("%s is\n%s\ninstead of\n%s\nin %s", expression, said, expected, text);
	unlink(path);
}

static uint16_t
count_drop(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	hy_counter_add(node, 0, n / 2);
	hy_enqueue(graph, node, HY_DROP(0), objs, n);
	return n;
}

/* Nodes whose authors wrote whatever they liked in what is free text. */
static struct hy_graph *
strange_add(struct probe *src)
{
	source_add(src, "src", "a");
	NODE(NULL, .name = "a", .impl = { "v.1", count_drop }, .edges = { "b" },
		.drops = { { "d", HY_SEV_WARN, "\"quoted\" \\ \n\t\x01\x7f, caf\303\251" },
			{ "e", (enum hy_severity)99, "cut: \303" } },
		.counters = { { "c", "half-objects", HY_SEV_ERROR, "\355\240\200 \300\257" } },
		.lanes = { "l2" });
	sink_add(NULL, "b");
	sink_add(NULL, "drop");
	return GRAPH("g", .burst = 8, .drop_node = "drop", .lanes = { "l1", "l2" }, .worker = 3,
		.sample_every = 1);
}

static void
json_tells_all_of_a_graph(void **state)
{
	struct probe src = { .budget = 20 };
	struct hy_graph *graph = strange_add(&src);

	RTE_SET_USED(state);
	for (unsigned int walk = 0; walk < 4; walk++)
		hy_graph_walk(graph);
	json_text(graph);
	assert_json("{k: v for k, v in g.items() if k != 'nodes'}",
		"{'graph': 'g', 'live': True, 'worker': 3, 'socket': 0, 'burst': 8, "
		"'stream_capacity': 8, 'sample_every': 1, 'max_sweeps': 8, 'cyclic': False, "
		"'throttled': False, 'drop_node': 'drop', 'lanes': ['l1', 'l2'], 'walks': 4}");
	assert_json("[(x['name'], x['rank'], x['source']) for x in g['nodes']]",
		"[('src', 0, True), ('a', 1, False), ('b', 2, False), ('drop', 3, False)]");
	assert_json("n['a']['variant'], n['a']['replicates'], n['a']['lanes']", "v.1 1 ['l2']");
	assert_json("n['src']['calls'], n['src']['objs'], n['src']['sampled']['bursts']",
		"4 20 [1, 0, 0, 1, 2, 0, 0, 0, 0, 0]");
	assert_json("[n['src']['sampled'][k] for k in ('calls', 'objs')]", "[4, 20]");
	if (clock_is_fine())
		assert_json("[n['src']['sampled'][k] > 0 for k in ('cycles', 'idle_cycles')]",
			"[True, True]");
	assert_json("n['src']['edges'], n['a']['edges'], n['drop']['edges']",
		"[{'to': 'a', 'objs': 20}] [{'to': 'b', 'objs': 0}] []");
	assert_json("[(d['name'], d['severity'], d['objs']) for d in n['a']['drops']]",
		"[('stream_full', 'error', 0), ('node_removed', 'info', 0), ('d', 'warn', 20), "
		"('e', 'unknown', 0)]");
	assert_json("[ascii(d['text']) for d in n['a']['drops'][2:]]",
		"['\\'\"quoted\" \\\\\\\\ \\\\n\\\\t\\\\x01\\\\x7f, caf\\\\xe9\\'', "
		"\"'cut: \\\\ufffd'\"]");
	assert_json("ascii(n['a']['counters'])",
		"[{'name': 'c', 'unit': 'half-objects', 'severity': 'error', "
		"'text': '\\ufffd\\ufffd\\ufffd \\ufffd\\ufffd', 'value': 10}]");
	assert_json("len(n), sorted(set(map(len, g['nodes'])))", "4 [12]");
}

static const char *const from_source[] = { "rx-0" };
static const struct hy_graph_params planned = {
	.patterns = from_source, .nb_patterns = 1, .ops = &obj_ops, .drop_node = "drop", .burst = 30
};

/* Upstream's export went by the number of edges that the registry has by now. */
static void
export_after_an_edge_update_of_a_live_graph_shows_the_edges_that_it_has(void **state)
{
	struct probe src = { .budget = 1000 }, spread = { .nb_edges = 2 };
	struct hy_graph *graph = picture_add(&src, &spread);
	char name[HY_NAME_SIZE];
	hy_node_id id = 0;

	RTE_SET_USED(state);
	assert_int_equal(hy_node_lookup("spread", &id), 0);
	for (unsigned int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "new%u", i);
		sink_add(NULL, name);
		assert_int_equal(hy_node_edge_add(id, name, NULL), 0);
	}
	json_text(graph);
	assert_json("n['spread']['edges'], len(n)",
		"[{'to': 'a', 'objs': 30}, {'to': 'b', 'objs': 30}] 5");
	/* Compiled, but not taken up: the picture is of what runs. */
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	json_text(graph);
	assert_json("len(n['spread']['edges']), len(n)", "2 5");
	export_text(graph);
	assert_null(strstr(text, "new0"));

	spread.nb_edges = 102;
	src.budget = 30;
	hy_graph_walk(graph);
	json_text(graph);
	assert_json("[e['objs'] for e in n['spread']['edges']][:4], len(n['spread']['edges']), "
		    "n['spread']['objs'], len(n)",
		"[31, 31, 1, 1] 102 90 105");
	export_text(graph);
	assert_non_null(strstr(text, "\t\"spread\" -> \"new27\" [label=\"1\"];\n"));
	assert_non_null(strstr(text, "\t\"spread\" -> \"new28\" [label=\"0\"];\n"));

	/* Fewer edges than before, too. */
	assert_int_equal(hy_node_edge_shrink(id, 1), 0);
	spread.nb_edges = 1;
	assert_int_equal(hy_graph_update(graph, &planned), 0);
	hy_graph_walk(graph);
	json_text(graph);
	assert_json("n['spread']['edges']", "[{'to': 'a', 'objs': 31}]");
}

static void
topology_text(int (*export)(const char *, const struct hy_graph_params *, FILE *))
{
	FILE *out = fmemopen(text, sizeof(text), "w");

	assert_non_null(out);
	assert_int_equal(export("plan", &planned, out), 0);
	fclose(out);
}

static void
a_graph_that_is_not_there_has_the_same_picture_without_counters(void **state)
{
	struct probe src = { .budget = 1000 }, spread = { .nb_edges = 2 };
	struct hy_graph *graph = picture_add(&src, &spread), *found;
	static char live[sizeof(text)];
	const unsigned int inits = src.inits;
	const char *from = live;
	char *to = live;

	RTE_SET_USED(state);
	topology_text(hy_topology_export_json);
	assert_json("g['graph'], g['live'], g['burst'], len(n), 'walks' in g",
		"plan False 30 5 False");
	assert_json("n['spread']['edges'], n['spread']['variant']",
		"[{'to': 'a'}, {'to': 'b'}] avx9");
	assert_json("[sorted(d) for d in n['a']['drops'][1:3]], 'calls' in n['a']",
		"[['name', 'severity', 'text'], ['name', 'severity', 'text']] False");
	assert_json("[x['rank'] for x in g['nodes']]", "[0, 1, 2, 3, 4]");

	/* In dot: the live picture, but for its name and numbers. */
	export_text(graph);
	strcpy(live, text);
	topology_text(hy_topology_export_dot);
	assert_non_null(strstr(text, "\t\"rx-0\" [shape=house, label=\"rx-0\"];\n"));
	assert_non_null(strstr(text, "\t\"spread\" -> \"a\";\n"));
	assert_non_null(strstr(text, "\t\"a\" -> \"drop\" [style=dashed, color=gray50];\n"));
	while (*from != '\0') {
		static const char *const numbers[] = { "\\n60", "\\n30", " [label=\"60\"]",
			" [label=\"30\"]", ", label=\"30\"" };
		size_t skip = 0;

		for (size_t i = 0; i < RTE_DIM(numbers) && skip == 0; i++)
			if (strncmp(from, numbers[i], strlen(numbers[i])) == 0)
				skip = strlen(numbers[i]);
		from += skip;
		if (skip == 0)
			*to++ = *from++;
	}
	*to = '\0';
	assert_string_equal(strchr(live, '\n'), strchr(text, '\n'));
	/* Nothing was made for it. */
	assert_int_equal(hy_graph_lookup("plan", &found), -ENOENT);
	assert_int_equal(src.inits, inits);
	assert_int_equal(src.finis, 0);
}

static void
a_topology_is_refused_as_its_graph_would_be(void **state)
{
	static const struct {
		int rc;
		const char *name, *named;
		const char *pattern, *drop;
		uint16_t burst;
	} cases[] = {
		{ -EINVAL, "a b", "'a b'", "rx-0", "drop", 0 },
		{ -EINVAL, NULL, "(null)", "rx-0", "drop", 0 },
		{ -EINVAL, "p", "burst is 257", "rx-0", "drop", 257 },
		{ -ENOENT, "p", "'none*' matches no node", "none*", "drop", 0 },
		{ -EINVAL, "p", "names no drop_node", "rx-0", NULL, 0 },
		{ -EINVAL, "p", "is a source", "b", "drop", 0 },
	};
	struct probe src = { 0 }, spread = { .nb_edges = 2 };
	struct hy_graph *graph = NULL;
	unsigned int refused = 0;

	RTE_SET_USED(state);
	hy_graph_destroy(picture_add(&src, &spread));
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		const struct hy_graph_params params = { .patterns = &cases[i].pattern,
			.nb_patterns = 1,
			.ops = &obj_ops,
			.drop_node = cases[i].drop,
			.burst = cases[i].burst };

		for (unsigned int way = 0; way < 3; way++) {
			FILE *out = fmemopen(text, sizeof(text), "w");
			int rc;

			unit_log_clear();
			rc = way == 0      ? hy_graph_create(cases[i].name, &params, &graph)
				: way == 1 ? hy_topology_export_dot(cases[i].name, &params, out)
					   : hy_topology_export_json(cases[i].name, &params, out);
			assert_int_equal(rc, cases[i].rc);
			assert_int_equal(unit_log_lines(), 1);
			if (strstr(unit_log(), cases[i].named) == NULL)
				fail_msg("no '%s' in '%s'", cases[i].named, unit_log());
			assert_int_equal(ftell(out), 0);
			fclose(out);
			refused++;
		}
	}
	assert_int_equal(refused, 18);
}

/* A drop node that no node needs is not looked up: its name may be anything. */
static void
json_is_valid_whatever_the_parameters_hold(void **state)
{
	const char *const patterns[] = { "src" };
	const struct hy_graph_params params = {
		.patterns = patterns, .nb_patterns = 1, .ops = &obj_ops, .drop_node = "\"},{\\\n"
	};
	FILE *out = fmemopen(text, sizeof(text), "w");

	RTE_SET_USED(state);
	source_add(NULL, "src", "sink");
	sink_add(NULL, "sink");
	assert_int_equal(hy_topology_export_json("g", &params, out), 0);
	fclose(out);
	assert_json("ascii(g['drop_node']), g['lanes']", "'\"},{\\\\\\n' []");
}

static void
json_that_cannot_be_written_is_eio(void **state)
{
	struct probe src = { .budget = 1000 }, spread = { .nb_edges = 2 };
	const struct hy_graph *graph = picture_add(&src, &spread);
	FILE *full = fopen("/dev/full", "w");

	RTE_SET_USED(state);
	assert_non_null(full);
	assert_int_equal(hy_graph_export_json(graph, full), -ENOSPC);
	assert_int_equal(hy_topology_export_json("plan", &planned, full), -ENOSPC);
	assert_int_equal(hy_topology_export_dot("plan", &planned, full), -ENOSPC);
	fclose(full);
}

static void
json_names_the_drop_node_of_what_is_walked(void **state)
{
	struct hy_graph_params params;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	NODE(NULL, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = probe_source,
		.edges = { "sink" }, .drops = { { "d" } });
	sink_add(NULL, "sink");
	graph = GRAPH("g", .drop_node = "sink");
	sink_add(NULL, "other");
	hy_graph_params_get(graph, &params);
	params.drop_node = "other";
	assert_int_equal(hy_graph_update(graph, &params), 0);
	json_text(graph);
	assert_json("g['drop_node'], 'other' in n", "sink False");
	hy_graph_walk(graph);
	json_text(graph);
	assert_json("g['drop_node'], 'other' in n", "other True");
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(a_picture_has_every_node_and_edge_with_its_count),
	GRAPH_TEST(a_picture_shows_budgets_that_are_less_than_a_burst),
	GRAPH_TEST(dot_reads_a_picture),
	GRAPH_TEST(a_picture_that_cannot_be_written_is_eio),
	GRAPH_TEST(json_tells_all_of_a_graph),
	GRAPH_TEST(export_after_an_edge_update_of_a_live_graph_shows_the_edges_that_it_has),
	GRAPH_TEST(a_graph_that_is_not_there_has_the_same_picture_without_counters),
	GRAPH_TEST(a_topology_is_refused_as_its_graph_would_be),
	GRAPH_TEST(json_is_valid_whatever_the_parameters_hold),
	GRAPH_TEST(json_that_cannot_be_written_is_eio),
	GRAPH_TEST(json_names_the_drop_node_of_what_is_walked),
};

UNIT_SUITE(tests)
