/* SPDX-License-Identifier: BSD-3-Clause */
/* Graphs shared with readers: what is told of them, as they come, change and go. */

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rte_malloc.h>

#include "lib/graph/common/memory.h"
#include "share_fixture.h"

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
	assert_int_equal(hy_graph_node_count(copy), 6);
	/* Its own for good. */
	hy_graph_destroy(graph);
	assert_int_equal(hy_graph_node_count(copy), 6);
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
	const uint64_t magic = HY_SHARE_MAGIC;
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
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	assert_int_equal(write(fd, &magic, sizeof(magic)), sizeof(magic));
	close(fd);
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
	snprintf(path, sizeof(path), "%s/" HY_SHARE_NEW, folder);
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
	assert_int_equal(open_files(), files);
	hy_graph_destroy(graph);
	assert_int_equal(open_files(), files);
	/* Two images and the graph itself. */
	assert_int_equal(unit_heap_live(), before + 3);
	/* A reader may be copying it when sharing stops: it is kept all the same. */
	hy_share_stop();
	assert_int_equal(unit_heap_live(), before + 3);
	hy_memory_keep(false);
	assert_int_equal(unit_heap_live(), before);
}

/* What lies there must have a serial: anything else could have a word that looks like the right one. */
static void
what_a_reader_looks_at_becomes_nothing_else_when_sharing_stops(void **state)
{
	struct probe src = { .budget = UINT32_MAX }, split = { 0 };
	struct hy_share_place places[2];
	unsigned int foreign = 0;
	struct hy_graph *graph;
	struct hy_image copy;
	void *blocks[64];

	RTE_SET_USED(state);
	graph = tenths_graph(&src, &split);
	share();
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	for (unsigned int p = 0; p < RTE_DIM(places); p++) {
		const struct hy_image *image = p == 0 ? graph->control->current
						      : graph->control->published;

		assert_int_equal(hy_share_locate(image, image->size, &places[p]), 0);
		assert_int_equal(hy_share_read(getpid(), geteuid(), &places[p], 0, &copy,
					 sizeof(copy)),
			0);
		assert_int_equal(copy.serial, image->serial);
		assert_int_not_equal(copy.serial, 0);
	}
	hy_graph_walk(graph); /* one of the images is left before sharing stops, one after that */
	assert_false(hy_graph_updating(graph));
	hy_share_stop();
	hy_graph_destroy(graph);
	/* Others ask the heap for memory next. */
	for (unsigned int b = 0; b < RTE_DIM(blocks); b++) {
		blocks[b] = rte_malloc(NULL, 4096, RTE_CACHE_LINE_SIZE);
		assert_non_null(blocks[b]);
		memset(blocks[b], 0xa5, 4096);
	}
	for (unsigned int p = 0; p < RTE_DIM(places); p++) {
		const uint8_t *bytes = (const uint8_t *)&copy;

		assert_int_equal(hy_share_read(getpid(), geteuid(), &places[p], 0, &copy,
					 sizeof(copy)),
			0);
		assert_int_equal(copy.serial, 0);
		for (unsigned int i = 0; i < sizeof(copy); i++)
			foreign += bytes[i] == 0xa5;
		hy_share_place_free(&places[p]);
	}
	for (unsigned int b = 0; b < RTE_DIM(blocks); b++)
		rte_free(blocks[b]);
	assert_true(foreign < sizeof(copy) / 4);
}

/* A trace's records are of any bytes: they must not lie where an image's serial was. */
static void
memory_is_kept_for_its_own_kind(void **state)
{
	void *first, *second;

	RTE_SET_USED(state);
	share();
	first = hy_memory_zalloc("hy_image", 1024, SOCKET_ID_ANY);
	assert_non_null(first);
	hy_memory_free("hy_image", first);
	second = hy_memory_zalloc("hy_trace", 1024, SOCKET_ID_ANY);
	assert_ptr_not_equal(second, first);
	hy_memory_free("hy_trace", second);
	assert_ptr_equal(hy_memory_zalloc("hy_image", 1024, SOCKET_ID_ANY), first);
	hy_memory_free("hy_image", first);
}

static struct hy_graph *heir, *walked;
static bool bequeaths; /* the next fini() creates the heir */

/* Has the worker of a graph that is changed switch to the change before. */
static int
init_walks(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	RTE_SET_USED(config);
	if (walked != NULL)
		hy_graph_walk(walked);
	return 0;
}

static void
fini_creates(const struct hy_graph *graph, struct hy_node *node)
{
	const struct hy_graph_params params = { .burst = 9 };

	RTE_SET_USED(node);
	if (!bequeaths)
		return;
	bequeaths = false;
	obj_faults += graph_try(hy_graph_name(graph), &params, &heir) < 0;
	obj_faults += hy_graph_node_count(graph) != 3; /* finds the next image left, too */
}

/* The new graph's description was removed with the old graph's, if that had images left behind. */
static void
a_graph_that_a_fini_creates_by_the_name_of_the_destroyed_one_is_shared(void **state)
{
	const struct hy_node_impl impl = {
		.process = probe_pass, .init = init_walks, .fini = fini_creates
	};
	struct probe src = { .budget = 0 };
	struct hy_graph *graph, *copy;
	hy_node_id id;

	RTE_SET_USED(state);
	source_add(&src, "src", "pass");
	id = NODE(NULL, .name = "pass", .impl = impl, .edges = { "sink" });
	sink_add(NULL, "sink");
	share();
	for (unsigned int left = 0; left < 3; left++) { /* images when it is destroyed */
		bequeaths = false;
		graph = GRAPH("g", .burst = 8);
		for (unsigned int i = 0; i < left; i++) {
			assert_int_equal(hy_node_config(id, "", 1), 0);
			walked = i > 0 ? graph : NULL;
			assert_int_equal(hy_graph_update(graph, NULL), 0);
		}
		walked = NULL;
		hy_graph_walk(graph);
		bequeaths = true;
		hy_graph_destroy(graph);
		assert_false(bequeaths);
		assert_int_equal(hy_share_graph(reader, "g", &copy), 0);
		assert_int_equal(hy_graph_burst(copy), 9);
		hy_share_free(copy);
		hy_graph_destroy(heir);
		assert_int_equal(hy_share_graph(reader, "g", &copy), -ENOENT);
	}
}

static const struct CMUnitTest share_tests[] = {
	SHARE_TEST(a_copy_tells_what_the_graph_tells),
	SHARE_TEST(nothing_of_the_process_is_in_a_copy),
	SHARE_TEST(statistics_go_on_over_updates),
	SHARE_TEST(graphs_come_and_go),
	SHARE_TEST(a_graph_that_a_fini_creates_by_the_name_of_the_destroyed_one_is_shared),
	SHARE_TEST(a_folder_is_of_one_program),
	SHARE_TEST(what_cannot_be_described_is_not_shared_and_works),
	SHARE_TEST(memory_is_kept_for_the_next_image),
	SHARE_TEST(what_a_reader_looks_at_becomes_nothing_else_when_sharing_stops),
	SHARE_TEST(memory_is_kept_for_its_own_kind),
};

UNIT_SUITE(share_tests)
