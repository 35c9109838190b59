/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs shared with readers, which here are in the same process, at other addresses. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <hy_share.h>

#include "share.h"
#include "trace_fixture.h"

static char folder[] = "/tmp/hy-share-XXXXXX";
static struct hy_share *reader;

static int
share_setup(void **state)
{
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	reader = NULL;
	return mkdtemp(folder) == NULL ? -1 : graph_setup(state);
}

static int
share_teardown(void **state)
{
	DIR *files;

	unit_alloc_fail(0);
	hy_share_detach(reader);
	hy_share_stop();
	files = opendir(folder);
	for (struct dirent *d; files != NULL && (d = readdir(files)) != NULL;)
		unlinkat(dirfd(files), d->d_name, 0);
	closedir(files);
	rmdir(folder);
	return graph_teardown(state);
}

#define SHARE_TEST(f) cmocka_unit_test_setup_teardown(f, share_setup, share_teardown)

static void
share(void)
{
	assert_int_equal(hy_share_start(folder), 0);
	assert_int_equal(hy_share_attach(folder, NULL, &reader), 0);
}

/* As tests know it: objects by their ids, to a, b, c and two reasons, in tenths. */
static uint16_t
tenths(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	static const uint16_t ways[10] = { 0, 1, 1, 2, 2, 2, HY_DROP(0), HY_DROP(2), HY_DROP(2),
		HY_DROP(2) };
	uint16_t next[HY_BURST_MAX];

	probe_hit(node, n);
	for (uint16_t i = 0; i < n; i++) {
		hy_lane(graph, node, 0)[i] = i;
		next[i] = ways[((struct obj *)objs[i])->id % 10];
	}
	hy_counter_add(node, 0, n);
	hy_counter_add(node, 1, 3u * n);
	hy_enqueue_next(graph, node, next, objs, n);
	return n;
}

static struct hy_graph *
tenths_graph(struct probe *src, struct probe *split)
{
	NODE(src, .name = "src", .flags = HY_NODE_SOURCE | HY_NODE_WAKES,
		.impl.process = probe_source, .edges = { "split" });
	NODE(split, .name = "split", .impl = { "plain", tenths }, .edges = { "a", "b", "c" },
		.lanes = { "side" },
		.drops = { { "first", HY_SEV_INFO, "The \"first\" reason." },
			{ "never", HY_SEV_WARN, "Nobody comes here." }, { "third", HY_SEV_ERROR } },
		.counters = {
			{ "hits", NULL, HY_SEV_INFO, "All." }, { "bytes", "bytes", HY_SEV_WARN } });
	sink_add(NULL, "a");
	NODE(NULL, .name = "b", .impl.process = probe_sink, .lanes = { "side" });
	sink_add(NULL, "c");
	sink_add(NULL, "drop");
	return GRAPH("g", .burst = 70, .source_budget = 60, .drop_node = "drop", .worker = 3,
		.lanes = { "other", "side" }, .sample_every = 1);
}

static char *
text_of(int (*write)(const struct hy_graph *graph, FILE *out), const struct hy_graph *graph)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	assert_int_equal(write(graph, out), 0);
	fclose(out);
	return text;
}

static void
assert_same_text(int (*write)(const struct hy_graph *graph, FILE *out),
	const struct hy_graph *graph, const struct hy_graph *copy)
{
	char *expected = text_of(write, graph), *got = text_of(write, copy);

	assert_true(strlen(expected) > 100);
	assert_string_equal(got, expected);
	free(expected);
	free(got);
}

/* Looks through the reader first: the program that looks may find something to tidy up. */
static void
assert_same_pictures(struct hy_graph *graph)
{
	struct hy_graph *copy;

	assert_int_equal(hy_share_graph(reader, hy_graph_name(graph), &copy), 0);
	assert_same_text(hy_graph_export_json, graph, copy);
	assert_same_text(hy_graph_export_dot, graph, copy);
	hy_share_free(copy);
}

static unsigned int
assert_same_entries(const struct hy_edge_stats *a, unsigned int n, const struct hy_edge_stats *b,
	unsigned int m)
{
	assert_int_equal(n, m);
	for (unsigned int i = 0; i < n; i++) {
		assert_string_equal(a[i].name, b[i].name);
		assert_string_equal(a[i].unit, b[i].unit);
		assert_string_equal(a[i].text, b[i].text);
		assert_int_equal(a[i].severity, b[i].severity);
		assert_int_equal(a[i].objs, b[i].objs);
		assert_int_equal(a[i].value, b[i].value);
		assert_int_equal(a[i].gone, b[i].gone);
	}
	return n;
}

/* Returns how many entries it compared. */
static unsigned int
assert_same_node(const struct hy_node_stats *a, const struct hy_node_stats *b)
{
	assert_string_equal(a->name, b->name);
	assert_string_equal(a->variant, b->variant);
	assert_int_equal(a->is_source, b->is_source);
	assert_int_equal(a->gone, b->gone);
	assert_int_equal(a->budget, b->budget);
	assert_int_equal(a->calls, b->calls);
	assert_int_equal(a->objs, b->objs);
	assert_int_equal(a->cycles, b->cycles);
	assert_int_equal(a->idle_cycles, b->idle_cycles);
	assert_int_equal(a->sampled_calls, b->sampled_calls);
	assert_int_equal(a->sampled_objs, b->sampled_objs);
	assert_int_equal(a->sampled_cycles, b->sampled_cycles);
	assert_int_equal(a->sampled_idle_cycles, b->sampled_idle_cycles);
	assert_memory_equal(a->bursts, b->bursts, sizeof(a->bursts));
	return assert_same_entries(a->edges, a->nb_edges, b->edges, b->nb_edges) +
		assert_same_entries(a->drops, a->nb_drops, b->drops, b->nb_drops) +
		assert_same_entries(a->counters, a->nb_counters, b->counters, b->nb_counters);
}

/* Likewise the reader first. Returns how many entries of how many nodes it compared. */
static unsigned int
assert_same_stats(const char *pattern, unsigned int nb_nodes)
{
	struct hy_stats *own, *shared;
	unsigned int compared = 0;

	assert_int_equal(hy_share_stats(reader, pattern, &shared), 0);
	assert_int_equal(hy_stats_read(pattern, &own), 0);
	assert_int_equal(shared->nb_graphs, own->nb_graphs);
	assert_int_equal(shared->nb_nodes, own->nb_nodes);
	assert_int_equal(shared->nb_nodes, nb_nodes);
	for (unsigned int i = 0; i < own->nb_nodes; i++)
		compared += assert_same_node(&shared->nodes[i], &own->nodes[i]);
	hy_stats_free(own);
	hy_stats_free(shared);
	return compared;
}

static void
a_copy_tells_what_the_graph_tells(void **state)
{
	struct probe src = { .budget = 700 }, split = { 0 };
	struct hy_graph *graph, *copy;

	RTE_SET_USED(state);
	graph = tenths_graph(&src, &split);
	share();
	for (unsigned int walk = 0; walk < 14; walk++) {
		assert_same_pictures(graph);
		/* 4 edges, 2 core drops a node and 3 more, 2 counters. */
		assert_int_equal(assert_same_stats("*", 6), 4 + 12 + 3 + 2);
		assert_int_equal(hy_graph_walk(graph),
			walk < 6             ? 60
				: walk < 12  ? 50
				: walk == 12 ? 40
					     : 0);
		if (walk == 5)
			assert_int_equal(hy_graph_source_budget(graph, "src", 50), 0);
	}
	assert_int_equal(hy_share_graph(reader, "g", &copy), 0);
	assert_string_equal(hy_graph_name(copy), "g");
	assert_int_equal(hy_graph_worker(copy), 3);
	assert_int_equal(hy_graph_burst(copy), 70);
	assert_int_equal(hy_graph_stream_capacity(copy), hy_graph_stream_capacity(graph));
	assert_int_equal(hy_graph_nodes(copy), 6);
	/* Its own for good. */
	hy_graph_destroy(graph);
	assert_int_equal(hy_graph_nodes(copy), 6);
	assert_int_equal(hy_share_graph(reader, "g", &graph), -ENOENT);
	hy_share_free(copy);
}

static void
nothing_of_the_process_is_in_a_copy(void **state)
{
	struct probe src = { .budget = 7 }, split = { 0 };
	struct hy_graph *graph, *copy;
	struct hy_node *node, *of;

	RTE_SET_USED(state);
	graph = tenths_graph(&src, &split);
	share();
	hy_graph_walk(graph);
	assert_int_equal(hy_share_graph(reader, "g", &copy), 0);
	for (unsigned int r = 0; r < 6; r++) {
		assert_int_equal(hy_graph_node_at(copy, r, &node), 0);
		assert_int_equal(hy_graph_node_at(graph, r, &of), 0);
		assert_int_equal(node->objs, of->objs);
		assert_ptr_not_equal(node->process, of->process);
		assert_null(node->ctx);
		assert_null(node->stream);
		assert_ptr_not_equal(hy_graph_node_name(copy, node), hy_graph_node_name(graph, of));
		assert_string_equal(hy_graph_node_name(copy, node), hy_graph_node_name(graph, of));
	}
	hy_share_free(copy);
}

/* Whichever of the images the worker walks, and whatever the program has noticed of that. */
static void
statistics_go_on_over_updates(void **state)
{
	struct probe src = { .budget = UINT32_MAX }, split = { 0 };
	struct hy_graph_params params;
	struct hy_graph *graph;
	struct hy_stats *stats;
	hy_node_id id;

	RTE_SET_USED(state);
	graph = tenths_graph(&src, &split);
	share();
	hy_graph_walk(graph);
	/* "c" goes, "d" comes. */
	sink_add(NULL, "d");
	assert_int_equal(hy_node_lookup("split", &id), 0);
	assert_int_equal(hy_node_edge_set(id, 2, "d"), 0);
	hy_graph_params_get(graph, &params);
	params.patterns = (const char *[]){ "src" };
	params.nb_patterns = 1;
	params.burst = 64;
	params.source_budget = 0;
	params.lanes[0] = "side";
	params.lanes[1] = "new";
	assert_int_equal(hy_graph_update(graph, &params), 0);
	assert_int_equal(assert_same_stats("g", 6), 4 + 12 + 3 + 2); /* nothing has changed yet */
	assert_int_equal(hy_graph_walk(graph), 64);
	/* The worker has taken it up, and the program has not looked. */
	assert_int_equal(hy_share_stats(reader, "g", &stats), 0);
	assert_int_equal(stats->nodes[0].objs, 60 + 64);
	assert_int_equal(stats->nb_nodes, 7);
	assert_string_equal(stats->nodes[6].name, "c");
	assert_true(stats->nodes[6].gone);
	assert_int_equal(stats->nodes[6].objs, 18);
	hy_stats_free(stats);
	assert_int_equal(assert_same_stats("g", 7), 5 + 14 + 3 + 2);
	assert_same_pictures(graph);
	/* One that the worker never comes to, and the one in its place. */
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_int_equal(assert_same_stats("g", 7), 5 + 14 + 3 + 2);
	hy_graph_walk(graph);
	assert_false(hy_graph_updating(graph));
	assert_int_equal(assert_same_stats("g", 7), 5 + 14 + 3 + 2);
	assert_same_pictures(graph);
	/* An update that fails leaves all as it was. */
	assert_int_equal(hy_node_edge_set(id, 2, "nobody"), 0);
	assert_int_equal(hy_graph_update(graph, NULL), -ENOENT);
	hy_graph_walk(graph);
	assert_int_equal(assert_same_stats("g", 7), 5 + 14 + 3 + 2);
}

static void
assert_names(const char *expected)
{
	char names[256] = "", name[HY_NAME_SIZE] = "";

	while (hy_share_next(reader, name, name) == 0)
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s ", name);
	assert_string_equal(names, expected);
}

static void
graphs_come_and_go(void **state)
{
	struct probe src = { .budget = UINT32_MAX };
	struct hy_graph *first, *second, *copy;
	struct hy_stats *stats;

	RTE_SET_USED(state);
	source_add(&src, "src", "sink");
	sink_add(NULL, "sink");
	first = GRAPH("..", .burst = 10); /* a name as any other */
	share();
	assert_names(".. ");
	second = GRAPH("b", .burst = 20);
	GRAPH("a", .burst = 30);
	assert_names(".. a b ");
	hy_graph_walk(first);
	hy_graph_walk(second);
	assert_same_stats("*", 2);
	assert_same_stats("b", 2);
	assert_int_equal(hy_share_stats(reader, "c*", &stats), -ENOENT);
	/* Whose last change nobody has looked at since its worker took it up. */
	assert_int_equal(hy_graph_update(first, NULL), 0);
	hy_graph_walk(first);
	hy_graph_destroy(first);
	assert_names("a b ");
	assert_same_stats("*", 2);
	/* As the registry is, so is a graph of the name of one that was. */
	hy_graph_destroy(second);
	second = GRAPH("b", .burst = 5);
	hy_graph_walk(second);
	assert_same_stats("b", 2);
	assert_int_equal(hy_share_graph(reader, "..", &copy), -ENOENT);
	assert_int_equal(hy_share_graph(reader, "../a", &copy), -ENOENT);
	assert_int_equal(unit_log_lines(), 0);
	hy_share_stop();
	assert_int_equal(hy_share_graph(reader, "a", &copy), -ESRCH);
	assert_int_equal(hy_share_stats(reader, "*", &stats), -ESRCH);
	assert_int_equal(hy_share_next(reader, NULL, (char[HY_NAME_SIZE]){ 0 }), -ESRCH);
	assert_non_null(strstr(unit_log(), "the program has ended"));
	/* Attached to whoever comes next. */
	assert_int_equal(hy_share_start(folder), 0);
	assert_same_stats("*", 2);
}

/* Takes a folder's lock as another program would. */
static int
lock_elsewhere(void)
{
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/" HY_SHARE_LOCK, folder);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_OFD_SETLK, &lock), 0);
	return fd;
}

static void
a_folder_is_of_one_program(void **state)
{
	struct probe src = { 0 };
	char path[PATH_MAX], deep[PATH_MAX];
	int fd;

	RTE_SET_USED(state);
	source_add(&src, "src", "sink");
	sink_add(NULL, "sink");
	GRAPH("g", .burst = 10);
	assert_int_equal(hy_share_attach(folder, NULL, &reader), -ESRCH);
	assert_non_null(strstr(unit_log(), "no program shares its graphs there"));
	fd = lock_elsewhere();
	assert_int_equal(hy_share_start(folder), -EBUSY);
	assert_non_null(strstr(unit_log(), "another program shares its graphs there"));
	close(fd);
	/* One was killed, and left its graphs behind. */
	snprintf(path, sizeof(path), "%s/" HY_SHARE_PREFIX "old", folder);
	close(open(path, O_WRONLY | O_CREAT, 0600));
	assert_int_equal(hy_share_attach(folder, NULL, &reader), -ESRCH);
	share();
	assert_names("g ");
	assert_int_equal(hy_share_start(folder), -EALREADY);
	hy_share_stop();
	snprintf(deep, sizeof(deep), "%s/no/such", folder);
	assert_int_equal(hy_share_start(deep), -ENOENT);
	assert_int_equal(hy_share_start(""), -EINVAL);
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	assert_int_equal(hy_share_start(path), -ENAMETOOLONG);
	hy_share_stop();
}

static void
what_cannot_be_described_is_not_shared_and_works(void **state)
{
	struct probe src = { .budget = UINT32_MAX };
	struct hy_graph *graph, *copy;
	char path[PATH_MAX];

	RTE_SET_USED(state);
	source_add(&src, "src", "sink");
	sink_add(NULL, "sink");
	share();
	snprintf(path, sizeof(path), "%s/new", folder);
	assert_int_equal(mkdir(path, 0700), 0);
	graph = GRAPH("g", .burst = 10);
	assert_non_null(strstr(unit_log(), "not shared until its next change"));
	assert_int_equal(hy_graph_walk(graph), 10);
	assert_int_equal(hy_share_graph(reader, "g", &copy), -ENOENT);
	rmdir(path);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_same_stats("g", 2);
	/* Nor is what it was before. */
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_int_equal(hy_share_graph(reader, "g", &copy), -ENOENT);
	rmdir(path);
}

static unsigned int
open_files(void)
{
	DIR *files = opendir("/proc/self/fd");
	unsigned int n = 0;

	assert_non_null(files);
	while (readdir(files) != NULL)
		n++;
	closedir(files);
	return n;
}

/* Reuses what it keeps: blocks of DPDK's heap do not grow in number. */
static void
memory_is_kept_for_the_next_image(void **state)
{
	struct probe src = { .budget = UINT32_MAX }, split = { 0 };
	struct hy_graph *graph;
	unsigned int blocks = 0, files;
	const unsigned int before = unit_heap_live();

	RTE_SET_USED(state);
	share();
	graph = tenths_graph(&src, &split);
	files = open_files();
	for (unsigned int i = 0; i < 50; i++) {
		assert_int_equal(hy_graph_update(graph, NULL), 0);
		hy_graph_walk(graph);
		assert_false(hy_graph_updating(graph));
		if (i == 2)
			blocks = unit_heap_live();
		assert_true(i < 2 || unit_heap_live() == blocks);
	}
	assert_int_equal(open_files(), files); /* one for its description */
	hy_graph_destroy(graph);
	assert_int_equal(open_files(), files - 1);
	/* Two images and the graph itself. */
	assert_int_equal(unit_heap_live(), before + 3);
	hy_share_stop();
	assert_int_equal(unit_heap_live(), before);
}

static void
records_are_read_and_left(void **state)
{
	struct hy_trace_record seen[64], own[64];
	struct hy_trace_state a, b;
	struct probe src = { .budget = 16 };
	struct hy_graph *graph = chain_add(&src), *copy;
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

/* Reads the description of a graph. */
static size_t
description(const char *name, char **bytes)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/" HY_SHARE_PREFIX "%s", folder, name);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	*bytes = malloc((size_t)st.st_size);
	assert_non_null(*bytes);
	assert_int_equal(read(fd, *bytes, (size_t)st.st_size), st.st_size);
	close(fd);
	return (size_t)st.st_size;
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
	size = description("g", &bytes);
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
	char path[PATH_MAX];
	char *bytes;
	size_t size;
	int fd;

	RTE_SET_USED(state);
	graph = tenths_graph(&src, &split);
	share();
	hy_graph_walk(graph);
	size = description("g", &bytes);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(hy_graph_update(graph, NULL), 0);
		hy_graph_walk(graph);
		assert_false(hy_graph_updating(graph));
	}
	snprintf(path, sizeof(path), "%s/" HY_SHARE_PREFIX "g", folder);
	fd = open(path, O_WRONLY | O_TRUNC);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
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
	assert_int_equal(told, 2); /* the graph's place, and its image's */
	assert_int_equal(hy_graph_walk(graph), 10);
}

static const struct CMUnitTest share_tests[] = {
	SHARE_TEST(a_copy_tells_what_the_graph_tells),
	SHARE_TEST(nothing_of_the_process_is_in_a_copy),
	SHARE_TEST(statistics_go_on_over_updates),
	SHARE_TEST(graphs_come_and_go),
	SHARE_TEST(a_folder_is_of_one_program),
	SHARE_TEST(what_cannot_be_described_is_not_shared_and_works),
	SHARE_TEST(memory_is_kept_for_the_next_image),
	SHARE_TEST(records_are_read_and_left),
	SHARE_TEST(records_are_worded_by_what_the_reader_knows),
	SHARE_TEST(bad_descriptions_are_refused),
	SHARE_TEST(an_image_that_was_freed_is_not_read),
	SHARE_TEST(a_reader_without_memory_says_so),
	SHARE_TEST(a_program_without_memory_goes_on),
};
UNIT_SUITE(share_tests)
