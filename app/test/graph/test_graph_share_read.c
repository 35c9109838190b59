/* SPDX-License-Identifier: BSD-3-Clause */
/* Traces of shared graphs, and what is wrong: descriptions, memory that is gone, none left. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "share_fixture.h"

static void
records_are_read_and_left(void **state)
{
	struct hy_trace_record seen[64], own[64];
	struct hy_trace_state a, b;
	struct probe src = { .budget = 16 };
	struct hy_graph *graph = graph_chain(&src, NULL), *copy;
	char text[256], of_copy[256];
	int n;

	RTE_SET_USED(state);
	share();
	assert_int_equal(hy_share_trace(reader, "none", &a, seen, 64), -ENOENT);
	assert_int_equal(hy_share_trace(reader, hy_graph_name(graph), &a, seen, 64), -ENOENT);
	assert_int_equal(START(graph, .nb_objs = 4, .nb_records = 8), 0);
	assert_int_equal(hy_share_trace(reader, hy_graph_name(graph), &a, seen, 64), 0);
	assert_true(a.running);
	hy_graph_walk(graph);
	assert_int_equal(hy_share_graph(reader, hy_graph_name(graph), &copy), 0);
	n = hy_share_trace(reader, hy_graph_name(graph), &a, seen, 64);
	assert_int_equal(n, 8);
	assert_int_equal(hy_share_trace(reader, hy_graph_name(graph), NULL, seen, 3), 3);
	assert_int_equal(hy_share_trace(reader, hy_graph_name(graph), NULL, NULL, 0), 0);
	assert_int_equal(hy_trace_status(graph, &b), 0);
	assert_int_equal(a.running, b.running);
	assert_int_equal(a.marked, 4);
	assert_int_equal(a.recorded, 8);
	assert_int_equal(a.lost, b.lost);
	assert_int_equal(a.lost, 4);
	assert_int_equal(hy_trace_read(graph, own, 64), 8);
	for (int i = 0; i < n; i++) {
		assert_memory_equal(&seen[i], &own[i], sizeof(own[i]));
		hy_trace_format(graph, &own[i], text, sizeof(text));
		hy_trace_format(copy, &seen[i], of_copy, sizeof(of_copy));
		assert_string_equal(of_copy, text);
	}
	assert_int_equal(hy_share_trace(reader, hy_graph_name(graph), NULL, seen, 64), 0);
	hy_share_free(copy);
	/* The next one is another, in the memory of the first. */
	assert_int_equal(START(graph, .nb_objs = 1, .nb_records = 8), 0);
	assert_int_equal(hy_share_trace(reader, hy_graph_name(graph), &a, seen, 64), 0);
	assert_int_equal(a.recorded, 0);
}

static size_t
take_id(const void *obj, void *data, size_t size)
{
	assert_true(size >= sizeof(uint32_t));
	memcpy(data, &((const struct obj *)obj)->id, sizeof(uint32_t));
	return sizeof(uint32_t);
}

static int
say_id(const struct hy_trace_record *record, char *text, size_t size)
{
	uint32_t id;

	memcpy(&id, record->data, sizeof(id));
	return snprintf(text, size, "object %u", id);
}

static size_t
take_own(const struct hy_node *node, const void *obj, const uint32_t *lanes, void *data,
	size_t size)
{
	RTE_SET_USED(node);
	RTE_SET_USED(obj);
	RTE_SET_USED(lanes);
	assert_true(size > 0);
	*(uint8_t *)data = 0xab;
	return 1;
}

static int
say_own(const struct hy_trace_record *record, char *text, size_t size)
{
	return snprintf(text, size, "its own %02x", record->data[0]);
}

/* By the node's formatter if the reader has the node too; else by what the objects are. */
static void
records_are_worded_by_what_the_reader_knows(void **state)
{
	static const struct hy_object_ops ops = { obj_release, .snapshot = take_id,
		.format = say_id };
	static const char *const here[] = { "object 0", "its own ab", "object 0" };
	static const char *const elsewhere[] = { "object 0", "ab", "object 0" };
	struct hy_trace_record records[3];
	struct probe src = { .budget = 1 };
	struct hy_graph *graph, *copy;
	char text[HY_TEXT_SIZE];
	hy_node_id id;

	RTE_SET_USED(state);
	source_add(&src, "src", "own");
	NODE(NULL, .name = "own", .impl.process = probe_pass, .edges = { "sink" },
		.trace = { take_own, say_own });
	sink_add(NULL, "sink");
	graph = GRAPH("g", .ops = &ops);
	assert_int_equal(hy_share_start(folder), 0);
	assert_int_equal(hy_share_attach(folder, &ops, &reader), 0);
	assert_int_equal(START(graph, .nb_objs = 1), 0);
	hy_graph_walk(graph);
	assert_int_equal(hy_share_trace(reader, "g", NULL, records, 3), 3);
	assert_int_equal(hy_share_graph(reader, "g", &copy), 0);
	for (unsigned int i = 0; i < 3; i++) {
		hy_trace_format(copy, &records[i], text, sizeof(text));
		assert_string_equal(text, here[i]);
	}
	hy_graph_destroy(graph);
	assert_int_equal(hy_node_lookup("own", &id), 0);
	assert_int_equal(hy_node_unregister(id), 0);
	for (unsigned int i = 0; i < 3; i++) {
		hy_trace_format(copy, &records[i], text, sizeof(text));
		assert_string_equal(text, elsewhere[i]);
	}
	hy_share_free(copy);
}

/* Each would make a reader wait, or look elsewhere. */
static void
a_lock_that_is_no_file_is_not_waited_for(void **state)
{
	char path[PATH_MAX];

	RTE_SET_USED(state);
	snprintf(path, sizeof(path), "%s/" HY_SHARE_LOCK, folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_int_equal(hy_share_attach(folder, NULL, &reader), -EPERM);
	assert_non_null(strstr(unit_log(), "not a regular file"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/dev/null", path), 0);
	assert_int_equal(hy_share_attach(folder, NULL, &reader), -ELOOP);
	assert_null(reader);
}

/* Each cut of it, each bit of it turned: refused, or something that can be freed. */
static void
bad_descriptions_are_refused(void **state)
{
	struct probe src = { .budget = UINT32_MAX }, split = { 0 };
	struct hy_share_description d;
	unsigned int refused = 0, taken = 0;
	struct hy_graph *graph;
	char *bytes, *cut;
	size_t size;

	RTE_SET_USED(state);
	graph = tenths_graph(&src, &split);
	share();
	assert_int_equal(START(graph, .nb_objs = 4), 0);
	hy_graph_walk(graph);
	hy_graph_update(graph, NULL);
	hy_graph_walk(graph);
	assert_false(hy_graph_updating(graph));
	hy_graph_update(graph, NULL);
	size = share_description("g", &bytes);
	assert_true(size > 4000);
	for (size_t n = 0; n < size; n++) {
		cut = malloc(n + 1); /* so that a sanitizer sees what is read beyond */
		assert_non_null(cut);
		memcpy(cut, bytes, n);
		assert_int_equal(hy_share_parse("g", cut, n, NULL, &d), -EPROTO);
		free(cut);
	}
	for (size_t bit = 0; bit < 8 * size; bit++) {
		int rc;

		bytes[bit / 8] ^= (char)(1 << bit % 8);
		rc = hy_share_parse("g", bytes, size, NULL, &d);
		bytes[bit / 8] ^= (char)(1 << bit % 8);
		refused += rc == -EPROTO;
		taken += rc == 0;
		assert_true(rc == 0 || rc == -EPROTO);
		if (rc == 0)
			hy_share_description_free(&d);
	}
	assert_int_equal(refused + taken, 8 * size);
	assert_true(refused > size && taken > size); /* counters of history may be anything */
	assert_int_equal(hy_share_parse("g", bytes, size, NULL, &d), 0);
	assert_int_equal(hy_share_parse("h", bytes, size, NULL,
				 &(struct hy_share_description){ 0 }),
		-EPROTO);
	assert_int_equal(d.nb_images, 2);
	assert_int_equal(d.pid, getpid());
	hy_share_description_free(&d);
	free(bytes);
}

/* Memory that is another image's by now is never taken for the one that was described. */
static void
an_image_that_was_freed_is_not_read(void **state)
{
	struct probe src = { .budget = UINT32_MAX }, split = { 0 };
	struct hy_graph *graph, *copy;
	char *bytes;
	size_t size;

	RTE_SET_USED(state);
	graph = tenths_graph(&src, &split);
	share();
	hy_graph_walk(graph);
	size = share_description("g", &bytes);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(hy_graph_update(graph, NULL), 0);
		hy_graph_walk(graph);
		assert_false(hy_graph_updating(graph));
	}
	share_describe_as("g", bytes, size);
	free(bytes);
	assert_int_equal(hy_share_graph(reader, "g", &copy), -EAGAIN);
	assert_non_null(strstr(unit_log(), "it changed each of"));
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_int_equal(assert_same_stats("g", 6), 4 + 12 + 3 + 2);
}

static void
a_reader_without_memory_says_so(void **state)
{
	struct probe src = { .budget = UINT32_MAX }, split = { 0 };
	struct hy_graph *graph, *copy;
	unsigned int n, failed = 0;
	struct hy_share *other;
	int rc;

	RTE_SET_USED(state);
	graph = tenths_graph(&src, &split);
	share();
	hy_graph_walk(graph);
	hy_graph_update(graph, NULL);
	hy_graph_walk(graph);
	for (n = 1;; n++) {
		const int64_t live = unit_alloc_live();

		unit_alloc_fail(n);
		rc = hy_share_graph(reader, "g", &copy);
		unit_alloc_fail(0);
		if (rc == 0)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_int_equal(unit_alloc_live(), live);
		failed++;
	}
	assert_true(failed > 50);
	hy_share_free(copy);
	unit_alloc_fail(1);
	assert_int_equal(hy_share_attach(folder, NULL, &other), -ENOMEM);
}

/* The program's own side: a graph is not shared then, or is; it never fails for that. */
static void
a_program_without_memory_goes_on(void **state)
{
	struct probe src = { .budget = UINT32_MAX };
	struct hy_graph *graph, *copy;
	unsigned int n, told = 0;

	RTE_SET_USED(state);
	source_add(&src, "src", "sink");
	sink_add(NULL, "sink");
	graph = GRAPH("g", .burst = 10);
	for (n = 1; n < 10; n++) {
		unit_log_clear();
		unit_alloc_fail(n);
		assert_int_equal(hy_share_start(folder), 0);
		unit_alloc_fail(0);
		assert_int_equal(hy_share_attach(folder, NULL, &reader), 0);
		if (unit_log_lines() > 0) {
			told++;
			assert_int_equal(hy_share_graph(reader, "g", &copy), -ENOENT);
		} else {
			assert_int_equal(hy_share_graph(reader, "g", &copy), 0);
			hy_share_free(copy);
		}
		hy_share_detach(reader);
		reader = NULL;
		hy_share_stop();
	}
	assert_int_equal(told, 3); /* the graph's place, its image's, and the description */
	assert_int_equal(hy_graph_walk(graph), 10);
}

static const struct CMUnitTest share_read_tests[] = {
	SHARE_TEST(records_are_read_and_left),
	SHARE_TEST(records_are_worded_by_what_the_reader_knows),
	SHARE_TEST(a_lock_that_is_no_file_is_not_waited_for),
	SHARE_TEST(bad_descriptions_are_refused),
	SHARE_TEST(an_image_that_was_freed_is_not_read),
	SHARE_TEST(a_reader_without_memory_says_so),
	SHARE_TEST(a_program_without_memory_goes_on),
};

UNIT_SUITE(share_read_tests)
