/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/graph/common/memory.h"
#include "share_fixture.h"

char folder[] = "/tmp/hy-share-XXXXXX";
struct hy_share *reader;

int
share_setup(void **state)
{
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	reader = NULL;
	return mkdtemp(folder) == NULL ? -1 : graph_setup(state);
}

int
share_teardown(void **state)
{
	DIR *files;

	unit_alloc_fail(0);
	hy_share_detach(reader);
	hy_share_stop();
	hy_memory_keep(false); /* the only reader is gone: what is left now is lost */
	files = opendir(folder);
	for (struct dirent *d; files != NULL && (d = readdir(files)) != NULL;)
		unlinkat(dirfd(files), d->d_name, 0);
	closedir(files);
	rmdir(folder);
	return graph_teardown(state);
}

void
share(void)
{
	assert_int_equal(hy_share_start(folder), 0);
	assert_int_equal(hy_share_attach(folder, NULL, &reader), 0);
}

size_t
share_description(const char *name, char **bytes)
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

void
share_describe_as(const char *name, const char *bytes, size_t size)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof(path), "%s/" HY_SHARE_PREFIX "%s", folder, name);
	fd = open(path, O_WRONLY | O_TRUNC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
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

struct hy_graph *
tenths_graph(struct probe *src, struct probe *split)
{
	NODE(src, .name = "src", .flags = HY_NODE_SOURCE | HY_NODE_WAKES,
		.impl.process = probe_source, .edges = { "split" });
	NODE(split, .name = "split", .impl = { "plain", tenths }, .edges = { "a", "b", "c" },
		.lanes = { "side" }, .wide = { { "key", 64 } },
		.drops = { { "first", HY_SEV_INFO, "The \"first\" reason." },
			{ "never", HY_SEV_WARN, "Nobody comes here." }, { "third", HY_SEV_ERROR } },
		.counters = {
			{ "hits", NULL, HY_SEV_INFO, "All." }, { "bytes", "bytes", HY_SEV_WARN } });
	sink_add(NULL, "a");
	NODE(NULL, .name = "b", .impl.process = probe_sink, .lanes = { "side" },
		.wide = { { "ip6", 16 }, { "key", 64 } });
	sink_add(NULL, "c");
	sink_add(NULL, "drop");
	return GRAPH("g", .burst = 70, .source_budget = 60, .drop_node = "drop", .worker = 3,
		.lanes = { "other", "side" },
		.wide = (const struct hy_wide_lane[]){ { "key", 64 }, { "ip6", 16 } }, .nb_wide = 2,
		.sample_every = 1);
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
void
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
	assert_int_equal(a->replicates, b->replicates);
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
unsigned int
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
