/* SPDX-License-Identifier: BSD-3-Clause */
/* Registering nodes: what is accepted, what is refused and leaves no trace, ids and names. */

#include <assert.h>
#include <errno.h>
#include <string.h>

#include "graph_fixture.h"
#include "lib/graph/registry/registry.h"

#define NAME63 "n23456789.123456789_123456789-123456789.123456789_123456789-123"
#define TEXT127 \
	"A sentence of 127 bytes is the longest that a drop reason can have, since its copy h" \
	"as room for 128 with the NUL that ends it.."
#define OK \
	{ \
		.process = probe_sink \
	}

static_assert(sizeof(NAME63) == HY_NAME_SIZE, "the longest name");
static_assert(sizeof(TEXT127) == HY_TEXT_SIZE, "the longest text");

/* Nodes in the registry. */
static unsigned int
count(void)
{
	unsigned int n = 0;

	for (struct hy_reg_node *r = hy_registry_next(0); r != NULL;
		r = hy_registry_next(r->id + 1))
		n++;
	return n;
}

static void
every_legal_character_is_accepted_in_a_name(void **state)
{
	static const char *const names[] = {
		"ABCDEFGHIJKLMNOPQRSTUVWXYZ",
		"abcdefghijklmnopqrstuvwxyz",
		"0123456789_.-",
		"-",
		".",
		"_",
		"0",
		NAME63,
	};
	unsigned int compared = 0;

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(names); i++) {
		char name[HY_NAME_SIZE];
		hy_node_id id = UINT32_MAX, found = UINT32_MAX;

		assert_int_equal(hy_node_register(&(struct hy_node_desc){ .name = names[i],
							  .impl = OK },
					 &id),
			0);
		assert_int_equal(hy_node_lookup(names[i], &found), 0);
		assert_int_equal(found, id);
		assert_int_equal(hy_node_name(id, name, sizeof(name)), 0);
		assert_string_equal(name, names[i]);
		compared++;
	}
	assert_int_equal(compared, 8);
	assert_int_equal(count(), 8);
}

static void
every_other_character_is_refused_in_a_name(void **state)
{
	static const char legal[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-";
	unsigned int refused = 0, accepted = 0;

	RTE_SET_USED(state);
	for (int c = 1; c < 256; c++) {
		const char name[] = { 'a', (char)c, 'b', '\0' };
		const struct hy_node_desc desc = { .name = name, .impl = OK };
		const int rc = hy_node_register(&desc, NULL);

		assert_int_equal(rc, strchr(legal, c) != NULL ? 0 : -EINVAL);
		refused += rc != 0;
		accepted += rc == 0;
	}
	assert_int_equal(accepted, 65);
	assert_int_equal(refused, 190);
	assert_int_equal(count(), 65);
}

struct refusal {
	const char *log; /* what the log line must name */
	int rc;
	struct hy_node_desc desc;
};

static void
a_bad_descriptor_is_refused_and_changes_nothing(void **state)
{
	static const struct refusal cases[] = {
		{ "(null)", -EINVAL, { .impl = OK } },
		{ "''", -EINVAL, { .name = "", .impl = OK } },
		{ NAME63 "x", -EINVAL, { .name = NAME63 "x", .impl = OK } },
		{ "'a b'", -EINVAL, { .name = "a b", .impl = OK } },
		{ "'taken'", -EEXIST, { .name = "taken", .impl = OK } },
		{ "process", -EINVAL, { .name = "x" } },
		{ "'a/b'", -EINVAL,
			{ .name = "x", .impl = { .process = probe_sink, .variant = "a/b" } } },
		{ "''", -EINVAL,
			{ .name = "x", .impl = { .process = probe_sink, .variant = "" } } },
		{ "0x2", -EINVAL, { .name = "x", .impl = OK, .flags = 0x2 } },
		{ "0x80000001", -EINVAL,
			{ .name = "x", .impl = OK, .flags = 0x80000000 | HY_NODE_SOURCE } },
		{ "edges[0]", -EINVAL, { .name = "x", .impl = OK, .edges = { [1] = "a" } } },
		{ "edges[1]", -EINVAL, { .name = "x", .impl = OK, .edges = { "a", NULL, "b" } } },
		{ "edges[1]", -EINVAL, { .name = "x", .impl = OK, .edges = { "a", [15] = "b" } } },
		{ "two edges to 'a'", -EINVAL,
			{ .name = "x", .impl = OK, .edges = { "a", "b", "a" } } },
		{ "itself", -EINVAL, { .name = "x", .impl = OK, .edges = { "a", "x" } } },
		{ "'a b'", -EINVAL, { .name = "x", .impl = OK, .edges = { "a b" } } },
		{ "''", -EINVAL, { .name = "x", .impl = OK, .edges = { "" } } },
		{ "drops[0]", -EINVAL, { .name = "x", .impl = OK, .drops = { [1] = { "d" } } } },
		{ "drops[1]", -EINVAL,
			{ .name = "x", .impl = OK, .drops = { { "d" }, [15] = { "e" } } } },
		{ "'d' twice", -EINVAL,
			{ .name = "x", .impl = OK, .drops = { { "d" }, { "e" }, { "d" } } } },
		{ "'d e'", -EINVAL, { .name = "x", .impl = OK, .drops = { { "d e" } } } },
		{ "''", -EINVAL, { .name = "x", .impl = OK, .drops = { { "" } } } },
		{ "text of drop reason 'd'", -EINVAL,
			{ .name = "x",
				.impl = OK,
				.drops = { { "d", HY_SEV_INFO, TEXT127 "." } } } },
		{ "stream_full", -EINVAL,
			{ .name = "x", .impl = OK, .drops = { { "stream_full" } } } },
		{ "counters[0]", -EINVAL,
			{ .name = "x", .impl = OK, .counters = { [1] = { "c" } } } },
		{ "counters[1]", -EINVAL,
			{ .name = "x", .impl = OK, .counters = { { "c" }, [15] = { "d" } } } },
		{ "counter 'c' twice", -EINVAL,
			{ .name = "x", .impl = OK, .counters = { { "c" }, { "d" }, { "c" } } } },
		{ "counter 'c d'", -EINVAL,
			{ .name = "x", .impl = OK, .counters = { { "c d" } } } },
		{ "unit 'B/s'", -EINVAL,
			{ .name = "x", .impl = OK, .counters = { { "c", "B/s" } } } },
		{ "unit ''", -EINVAL, { .name = "x", .impl = OK, .counters = { { "c", "" } } } },
		{ "text of counter 'c'", -EINVAL,
			{ .name = "x",
				.impl = OK,
				.counters = { { "c", "B", HY_SEV_INFO, TEXT127 "." } } } },
		{ "lanes[0]", -EINVAL, { .name = "x", .impl = OK, .lanes = { NULL, "l" } } },
		{ "lanes[2]", -EINVAL,
			{ .name = "x", .impl = OK, .lanes = { "l", "m", NULL, "n" } } },
		{ "'l m'", -EINVAL, { .name = "x", .impl = OK, .lanes = { "l m" } } },
		{ "'l' twice", -EINVAL, { .name = "x", .impl = OK, .lanes = { "l", "m", "l" } } },
		{ "0x5", -EINVAL,
			{ .name = "x", .impl = OK, .lanes = { "l", "m" }, .lanes_set = 0x5 } },
		{ "0x7", -EINVAL, { .name = "x", .impl = OK, .flags = 0x7 } },
		{ "replicate", -EINVAL,
			{ .name = "x", .impl = OK, .flags = HY_NODE_SOURCE, .replicates = 2 } },
	};
	const int64_t live = (NODE(NULL, .name = "taken", .impl = OK), unit_alloc_live());
	unsigned int refused = 0;

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		hy_node_id id = 12345;

		unit_log_clear();
		if (hy_node_register(&cases[i].desc, &id) != cases[i].rc)
			fail_msg("case %zu (%s) is not refused as it should", i, cases[i].log);
		if (unit_log_lines() != 1 || strstr(unit_log(), cases[i].log) == NULL)
			fail_msg("case %zu: '%s' is not in the log: %s", i, cases[i].log,
				unit_log());
		assert_int_equal(id, 12345);
		assert_int_equal(count(), 1);
		assert_int_equal(unit_alloc_live(), live);
		assert_int_equal(hy_node_lookup("x", &id), -ENOENT);
		refused++;
	}
	assert_int_equal(refused, 38);
	assert_int_equal(hy_node_register(NULL, NULL), -EINVAL);
}

static void
the_fullest_descriptor_is_taken_and_copied(void **state)
{
	char name[HY_NAME_SIZE] = NAME63, text[HY_TEXT_SIZE] = TEXT127;
	char edges[HY_DESC_EDGES][HY_NAME_SIZE], drops[HY_DESC_DROPS][HY_NAME_SIZE];
	char lanes[HY_LANES_MAX][HY_NAME_SIZE], counters[HY_DESC_COUNTERS][HY_NAME_SIZE];
	char units[HY_DESC_COUNTERS][HY_NAME_SIZE];
	struct hy_node_desc desc = { .name = name, .impl = { name, probe_sink }, .replicates = 7 };
	struct hy_reg_node *reg;
	hy_node_id id;

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < HY_DESC_EDGES; i++) {
		snprintf(edges[i], HY_NAME_SIZE, "%.60s%02u", NAME63, i);
		desc.edges[i] = edges[i];
	}
	for (unsigned int i = 0; i < HY_DESC_DROPS; i++) {
		snprintf(drops[i], HY_NAME_SIZE, "%.61s%02u", NAME63, i);
		desc.drops[i] = (struct hy_drop){ drops[i], i % 3, text };
	}
	for (unsigned int i = 0; i < HY_DESC_COUNTERS; i++) {
		snprintf(counters[i], HY_NAME_SIZE, "%.61s%02u", NAME63, i);
		snprintf(units[i], HY_NAME_SIZE, "%.60su%02u", NAME63, i);
		desc.counters[i] = (struct hy_counter){ counters[i], units[i], i % 3, text };
	}
	for (unsigned int i = 0; i < HY_LANES_MAX; i++) {
		snprintf(lanes[i], HY_NAME_SIZE, "%.62s%u", NAME63, i);
		desc.lanes[i] = lanes[i];
	}
	assert_int_equal(hy_node_register(&desc, &id), 0);
	memset(name, 'X', sizeof(name));
	memset(text, 'X', sizeof(text));
	memset(edges, 'X', sizeof(edges));
	memset(drops, 'X', sizeof(drops));
	memset(counters, 'X', sizeof(counters));
	memset(units, 'X', sizeof(units));
	memset(lanes, 'X', sizeof(lanes));

	reg = hy_registry_get(id);
	assert_string_equal(reg->name, NAME63);
	assert_string_equal(reg->variant, NAME63);
	assert_int_equal(reg->replicates, 7);
	assert_int_equal(reg->nb_edges, HY_DESC_EDGES);
	assert_int_equal(reg->nb_drops, HY_DESC_DROPS);
	assert_int_equal(reg->nb_lanes, HY_LANES_MAX);
	assert_int_equal(reg->nb_counters, HY_DESC_COUNTERS);
	for (unsigned int i = 0; i < HY_DESC_COUNTERS; i++) {
		char counter[HY_NAME_SIZE], unit[HY_NAME_SIZE];

		snprintf(counter, HY_NAME_SIZE, "%.61s%02u", NAME63, i);
		snprintf(unit, HY_NAME_SIZE, "%.60su%02u", NAME63, i);
		assert_string_equal(reg->counters[i].name, counter);
		assert_string_equal(reg->counters[i].unit, unit);
		assert_string_equal(reg->counters[i].text, TEXT127);
		assert_int_equal(reg->counters[i].severity, i % 3);
	}
	for (unsigned int i = 0; i < HY_DESC_EDGES; i++) {
		char target[HY_NAME_SIZE], expected[HY_NAME_SIZE];

		snprintf(expected, HY_NAME_SIZE, "%.60s%02u", NAME63, i);
		assert_int_equal(hy_node_edge_target(id, (uint16_t)i, target, sizeof(target)), 0);
		assert_string_equal(target, expected);
	}
	for (unsigned int i = 0; i < HY_DESC_DROPS; i++) {
		char expected[HY_NAME_SIZE];

		snprintf(expected, HY_NAME_SIZE, "%.61s%02u", NAME63, i);
		assert_string_equal(reg->drops[i].name, expected);
		assert_string_equal(reg->drops[i].text, TEXT127);
		assert_int_equal(reg->drops[i].severity, i % 3);
	}
	for (unsigned int i = 0; i < HY_LANES_MAX; i++) {
		char expected[HY_NAME_SIZE];

		snprintf(expected, HY_NAME_SIZE, "%.62s%u", NAME63, i);
		assert_string_equal(reg->lanes[i], expected);
	}
}

static void
replicates_of_nothing_said_is_one(void **state)
{
	RTE_SET_USED(state);
	assert_int_equal(hy_registry_get(sink_add(NULL, "a"))->replicates, 1);
}

/* A prefix once matched: "f10" was found for "f1". */
static void
lookup_compares_whole_names(void **state)
{
	const hy_node_id f1 = sink_add(NULL, "f1"), f10 = sink_add(NULL, "f10");
	hy_node_id id = 0;

	RTE_SET_USED(state);
	assert_int_equal(hy_node_lookup("f1", &id), 0);
	assert_int_equal(id, f1);
	assert_int_equal(hy_node_lookup("f10", &id), 0);
	assert_int_equal(id, f10);
	id = 12345;
	assert_int_equal(hy_node_lookup("f", &id), -ENOENT);
	assert_int_equal(hy_node_lookup("f100", &id), -ENOENT);
	assert_int_equal(hy_node_lookup("F1", &id), -ENOENT);
	assert_int_equal(hy_node_lookup("f1 ", &id), -ENOENT);
	assert_int_equal(hy_node_lookup("", &id), -ENOENT);
	assert_int_equal(hy_node_lookup(NULL, &id), -ENOENT);
	assert_int_equal(id, 12345);
	assert_int_equal(hy_node_lookup("f1", NULL), 0);
	assert_int_equal(unit_log_lines(), 0);
}

static void
a_name_needs_room_for_its_nul(void **state)
{
	const hy_node_id id = pass_add(NULL, "abcde", "fghi");
	char name[8] = "untouch";

	RTE_SET_USED(state);
	assert_int_equal(hy_node_name(id, name, 5), -ENAMETOOLONG);
	assert_int_equal(hy_node_name(id, name, 0), -ENAMETOOLONG);
	assert_int_equal(hy_node_edge_target(id, 0, name, 4), -ENAMETOOLONG);
	assert_int_equal(hy_node_edge_target(id, 1, name, sizeof(name)), -ENOENT);
	assert_int_equal(hy_node_edge_target(id, UINT16_MAX, name, sizeof(name)), -ENOENT);
	assert_int_equal(hy_node_name(id + 1, name, sizeof(name)), -ENOENT);
	assert_string_equal(name, "untouch");
	assert_int_equal(hy_node_name(id, name, 6), 0);
	assert_string_equal(name, "abcde");
	assert_int_equal(hy_node_edge_target(id, 0, name, 5), 0);
	assert_string_equal(name, "fghi");
}

static void
an_id_is_never_reused(void **state)
{
	const hy_node_id first = sink_add(NULL, "a");
	char name[HY_NAME_SIZE];
	hy_node_id id = first;

	RTE_SET_USED(state);
	for (unsigned int i = 1; i <= 1000; i++) {
		assert_int_equal(hy_node_unregister(id), 0);
		assert_int_equal(hy_node_unregister(id), -ENOENT);
		assert_int_equal(hy_node_name(id, name, sizeof(name)), -ENOENT);
		assert_int_equal(hy_node_lookup("a", NULL), -ENOENT);
		id = sink_add(NULL, "a");
		assert_int_equal(id, first + i);
	}
	assert_int_equal(count(), 1);
}

static void
a_node_that_a_graph_has_cannot_be_unregistered(void **state)
{
	const hy_node_id src = source_add(NULL, "src", "sink"), sink = sink_add(NULL, "sink");
	const hy_node_id other = sink_add(NULL, "other");
	static const char *const patterns[] = { "src" };
	struct hy_graph *a, *b;

	RTE_SET_USED(state);
	a = GRAPH("a", .patterns = patterns, .nb_patterns = 1);
	b = GRAPH("b", .patterns = patterns, .nb_patterns = 1);
	unit_log_clear();
	assert_int_equal(hy_node_unregister(sink), -EBUSY);
	assert_non_null(strstr(unit_log(), "'sink' is in a graph"));
	assert_int_equal(hy_node_unregister(other), 0);
	hy_graph_destroy(a);
	assert_int_equal(hy_node_unregister(sink), -EBUSY);
	assert_int_equal(hy_node_unregister(src), -EBUSY);
	assert_int_equal(hy_node_lookup("sink", NULL), 0);
	hy_graph_destroy(b);
	assert_int_equal(hy_node_unregister(sink), 0);
	assert_int_equal(hy_node_unregister(src), 0);
	assert_int_equal(count(), 0);
}

static void
many_nodes_are_all_found(void **state)
{
	enum { N = 3000 };
	hy_node_id ids[N], id = 0;
	unsigned int found = 0;
	char name[HY_NAME_SIZE];

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "node-%u", i * 7919 % N);
		ids[i * 7919 % N] = sink_add(NULL, name);
	}
	for (unsigned int i = 0; i < N; i += 2)
		assert_int_equal(hy_node_unregister(ids[i]), 0);
	for (unsigned int i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "node-%u", i);
		assert_int_equal(hy_node_lookup(name, &id), i % 2 == 0 ? -ENOENT : 0);
		if (i % 2 != 0) {
			assert_int_equal(id, ids[i]);
			found++;
		}
	}
	assert_int_equal(found, N / 2);
	assert_int_equal(count(), N / 2);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(every_legal_character_is_accepted_in_a_name),
	GRAPH_TEST(every_other_character_is_refused_in_a_name),
	GRAPH_TEST(a_bad_descriptor_is_refused_and_changes_nothing),
	GRAPH_TEST(the_fullest_descriptor_is_taken_and_copied),
	GRAPH_TEST(replicates_of_nothing_said_is_one),
	GRAPH_TEST(lookup_compares_whole_names),
	GRAPH_TEST(a_name_needs_room_for_its_nul),
	GRAPH_TEST(an_id_is_never_reused),
	GRAPH_TEST(a_node_that_a_graph_has_cannot_be_unregistered),
	GRAPH_TEST(many_nodes_are_all_found),
};

UNIT_SUITE(tests)
