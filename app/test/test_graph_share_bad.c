/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptions whose numbers lie, and memory that holds something else than they say. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "share_fixture.h"
#include "trace.h"

/* The numbers of a place in a description, in their order. */
enum place_field { ADDRESS, SIZE, PAGE, START, EXTENTS, LENGTH, FD, OFFSET, DEVICE, INODE };

static struct {
	struct probe src, split;
	struct hy_graph *graph;
	char *bytes; /* its description */
	size_t size;
	struct hy_share_description d; /* what that says */
} told;

/* A graph with a trace, and its description. */
static void
describe(void)
{
	memset(&told, 0, sizeof(told));
	told.src.budget = UINT32_MAX;
	told.graph = tenths_graph(&told.src, &told.split);
	share();
	assert_int_equal(START(told.graph, .nb_objs = 4, .nb_records = 16), 0);
	hy_graph_walk(told.graph);
	told.size = share_description("g", &told.bytes);
	assert_int_equal(hy_share_parse("g", told.bytes, told.size, NULL, &told.d), 0);
}

static void
forget(void)
{
	hy_share_description_free(&told.d);
	free(told.bytes);
}

/* Where a place stands in the description. */
static char *
place_at(const struct hy_share_place *place)
{
	const uint64_t key[] = { place->address, place->size, place->page, place->start };
	char *at = memmem(told.bytes, told.size, key, sizeof(key));

	assert_non_null(at);
	return at;
}

/* What the reader says of the description with one number of a place changed. */
static int
parse_with(const struct hy_share_place *place, enum place_field field, uint64_t number,
	struct hy_share_description *d)
{
	char *at = place_at(place) + field * sizeof(number);
	uint64_t before;
	int rc;

	memcpy(&before, at, sizeof(before));
	assert_true(before != number);
	memcpy(at, &number, sizeof(number));
	rc = hy_share_parse("g", told.bytes, told.size, NULL, d);
	memcpy(at, &before, sizeof(before));
	return rc;
}

static void
a_place_that_does_not_lie_in_its_extents_is_refused(void **state)
{
	const struct hy_share_place *places[3];
	struct hy_share_description d;
	unsigned int refused = 0;

	RTE_SET_USED(state);
	describe();
	places[0] = &told.d.graph;
	places[1] = &told.d.trace;
	places[2] = &told.d.images[0].place;
	for (size_t i = 0; i < RTE_DIM(places); i++) {
		const struct hy_share_place *p = places[i];
		const uint64_t length = p->extents[0].length;
		const struct {
			enum place_field field;
			uint64_t number;
		} lies[] = {
			{ SIZE, length - p->start + 1 },
			{ SIZE, UINT64_MAX },
			{ PAGE, 0 },
			{ PAGE, 3 * p->page },
			{ START, length + RTE_CACHE_LINE_SIZE },
			{ START, p->start + p->page }, /* in a later page */
			{ START, UINT64_MAX },
			{ START, length - p->size + 64 },
			{ START, p->start + 8 }, /* no block begins there */
			{ EXTENTS, 0 },
			{ EXTENTS, 2 },
			{ EXTENTS, HY_SHARE_EXTENTS_MAX + 1 },
			{ LENGTH, p->start + p->size - 1 },
			{ LENGTH, (UINT64_C(1) << 46) + p->page },
			{ LENGTH, length + 1 }, /* no whole pages */
			{ FD, (uint64_t)INT32_MAX + 1 },
			{ OFFSET, (uint64_t)INT64_MAX + 1 },
			{ OFFSET, p->extents[0].offset + 1 },
		};

		assert_int_equal(p->nb_extents, 1);
		for (size_t l = 0; l < RTE_DIM(lies); l++, refused++)
			if (parse_with(p, lies[l].field, lies[l].number, &d) != -EPROTO)
				fail_msg("place %zu, lie %zu is taken", i, l);
	}
	assert_int_equal(refused, 3 * 18);
	forget();
}

/* A description with so many extents in the place of the graph's one, each like that. */
static int
parse_with_extents(uint64_t n)
{
	const size_t one = 5 * sizeof(uint64_t), head = 5 * sizeof(uint64_t);
	const size_t before = (size_t)(place_at(&told.d.graph) - told.bytes) + head;
	const size_t size = told.size + (n - 1) * one;
	struct hy_share_description d;
	char *bytes = calloc(1, size);
	int rc;

	assert_non_null(bytes);
	memcpy(bytes, told.bytes, before);
	memcpy(bytes + before - sizeof(n), &n, sizeof(n));
	for (uint64_t i = 0; i < n; i++)
		memcpy(bytes + before + i * one, told.bytes + before, one);
	memcpy(bytes + before + n * one, told.bytes + before + one, told.size - before - one);
	rc = hy_share_parse("g", bytes, size, NULL, &d);
	if (rc == 0) {
		assert_int_equal(d.graph.nb_extents, n);
		hy_share_description_free(&d);
	}
	free(bytes);
	return rc;
}

static void
extents_are_bounded(void **state)
{
	RTE_SET_USED(state);
	describe();
	assert_int_equal(parse_with_extents(1), 0);
	assert_int_equal(parse_with_extents(2), 0);
	assert_int_equal(parse_with_extents(HY_SHARE_EXTENTS_MAX), 0);
	assert_int_equal(parse_with_extents(HY_SHARE_EXTENTS_MAX + 1), -EPROTO);
	forget();
}

static void
an_image_of_another_size_is_refused(void **state)
{
	struct hy_share_description d;
	const struct hy_share_place *image, *graph, *trace;

	RTE_SET_USED(state);
	describe();
	image = &told.d.images[0].place;
	graph = &told.d.graph;
	trace = &told.d.trace;
	assert_int_equal(parse_with(image, SIZE, image->size - 8, &d), -EPROTO);
	assert_int_equal(parse_with(image, SIZE, image->size + 8, &d), -EPROTO);
	assert_int_equal(parse_with(graph, SIZE, graph->size - 8, &d), -EPROTO);
	assert_int_equal(parse_with(graph, SIZE, graph->size + 8, &d), -EPROTO);
	/* Half the records of a ring is a ring; one less is none, nor is a part of one. */
	assert_int_equal(parse_with(trace, SIZE, trace->size - 8, &d), -EPROTO);
	assert_int_equal(parse_with(trace, SIZE, trace->size + 8, &d), -EPROTO);
	assert_int_equal(parse_with(trace, SIZE, trace->size - sizeof(struct hy_trace_record), &d),
		-EPROTO);
	assert_int_equal(parse_with(trace, SIZE, sizeof(struct hy_trace), &d), -EPROTO);
	forget();
}

/* Numbers of files are used again: what a file is, its device and inode say. */
static void
another_file_under_the_number_of_the_one_described_is_not_mapped(void **state)
{
	static const enum place_field fields[] = { DEVICE, INODE };
	struct hy_share_description d;
	struct hy_share_view view;

	RTE_SET_USED(state);
	describe();
	assert_int_equal(hy_share_map(getpid(), &told.d.graph, &view), 0);
	hy_share_unmap(&view);
	for (size_t i = 0; i < RTE_DIM(fields); i++) {
		const uint64_t is = fields[i] == DEVICE ? told.d.graph.extents[0].device
							: told.d.graph.extents[0].inode;

		assert_int_equal(parse_with(&told.d.graph, fields[i], is + 1, &d), 0);
		assert_int_equal(hy_share_map(getpid(), &d.graph, &view), -EAGAIN);
		hy_share_description_free(&d);
	}
	forget();
}

/* Else the first look beyond its end would be a SIGBUS. */
static void
a_file_that_is_shorter_than_described_is_not_mapped(void **state)
{
	struct hy_share_description d;
	struct hy_share_extent *e;
	struct hy_share_view view;
	int fd;

	RTE_SET_USED(state);
	describe();
	fd = memfd_create("short", MFD_CLOEXEC);
	assert_true(fd >= 0);
	e = &told.d.graph.extents[0];
	/* A whole number of pages beyond what there is. */
	assert_int_equal(parse_with(&told.d.graph, OFFSET, e->offset + (UINT64_C(1) << 40), &d), 0);
	assert_int_equal(hy_share_map(getpid(), &d.graph, &view), -EAGAIN);
	hy_share_description_free(&d);
	assert_int_equal(parse_with(&told.d.graph, FD, (uint64_t)fd, &d), 0);
	assert_int_equal(hy_share_map(getpid(), &d.graph, &view), -EAGAIN);
	hy_share_description_free(&d);
	close(fd);
	forget();
}

/* Of larger pages, the kernel would map whole ones, over what lies behind the reader's room. */
static void
an_extent_is_not_mapped_in_pages_larger_than_described(void **state)
{
	const int fd = memfd_create("huge", MFD_HUGETLB | MFD_CLOEXEC);
	struct hy_share_extent extent = { .fd = (uint64_t)fd };
	struct hy_share_place place = { .nb_extents = 1, .extents = &extent };
	struct hy_share_view view;
	struct statfs fs;
	struct stat st;

	RTE_SET_USED(state);
	if (fd < 0)
		skip(); /* a kernel without huge pages */
	assert_int_equal(fstatfs(fd, &fs), 0);
	assert_int_equal(ftruncate(fd, fs.f_bsize), 0);
	assert_int_equal(fstat(fd, &st), 0);
	extent.device = st.st_dev;
	extent.inode = st.st_ino;
	extent.length = place.page = (uint64_t)fs.f_bsize / 2;
	assert_int_equal(hy_share_map(getpid(), &place, &view), -EAGAIN);
	extent.length = place.page = (uint64_t)fs.f_bsize;
	assert_int_equal(hy_share_map(getpid(), &place, &view), 0);
	hy_share_unmap(&view);
	close(fd);
}

/* The reader of what is described as "g" refuses it, and so does what shows all graphs. */
static void
assert_damaged(const char *bytes, size_t size)
{
	struct hy_share_description d;
	struct hy_graph *copy = NULL;
	struct hy_stats *stats = NULL;

	assert_int_equal(hy_share_parse("g", bytes, size, NULL, &d), -EPROTO);
	share_describe_as("g", bytes, size);
	assert_int_equal(hy_share_graph(reader, "g", &copy), -EPROTO);
	assert_int_equal(hy_share_stats(reader, "g", &stats), -EPROTO);
	assert_null(copy);
	assert_null(stats);
}

/* Statistics find nodes by their names. */
static void
nodes_of_one_name_are_refused(void **state)
{
	struct probe src = { .budget = UINT32_MAX };
	struct hy_share_description d;
	char *bytes, *at;
	size_t size;

	RTE_SET_USED(state);
	source_add(&src, "src1", "sink");
	source_add(&src, "src2", "sink");
	source_add(&src, "src3", "sink");
	sink_add(NULL, "sink");
	GRAPH("g", .burst = 64, .source_budget = 10);
	share();
	size = share_description("g", &bytes);
	at = memmem(bytes, size, "src3", 5);
	assert_non_null(at);
	at[3] = '4';
	assert_int_equal(hy_share_parse("g", bytes, size, NULL, &d), 0);
	hy_share_description_free(&d);
	at[3] = '1';
	assert_damaged(bytes, size);
	free(bytes);
}

/* And edges by their targets: a picture would look for more of them than statistics have. */
static void
two_edges_of_a_node_to_one_node_are_refused(void **state)
{
	struct probe src = { .budget = UINT32_MAX }, split = { .nb_edges = 3 };
	struct hy_share_description d;
	uint64_t key[4] = { 3 };
	unsigned int refused = 0;
	struct hy_graph *graph;
	char *bytes, *at;
	size_t size;

	RTE_SET_USED(state);
	source_add(&src, "src", "split");
	NODE(&split, .name = "split", .impl.process = probe_spread, .edges = { "a", "b", "c" });
	sink_add(NULL, "a");
	sink_add(NULL, "b");
	sink_add(NULL, "c");
	graph = GRAPH("g", .patterns = (const char *const[]){ "src" }, .nb_patterns = 1);
	share();
	size = share_description("g", &bytes);
	for (unsigned int e = 0; e < 3; e++)
		key[1 + e] = graph_node(graph, "split")->edges[e].to->rank;
	at = memmem(bytes, size, key, sizeof(key));
	assert_non_null(at);
	for (unsigned int e = 0; e < 3; e++) {
		for (unsigned int other = 0; other < 3; other++) {
			uint64_t changed[4];

			memcpy(changed, key, sizeof(key));
			changed[1 + e] = key[1 + other];
			memcpy(at, changed, sizeof(changed));
			if (e == other)
				continue;
			assert_damaged(bytes, size);
			refused++;
		}
		memcpy(at, key, sizeof(key));
	}
	assert_int_equal(refused, 6);
	assert_int_equal(hy_share_parse("g", bytes, size, NULL, &d), 0);
	hy_share_description_free(&d);
	free(bytes);
}

/* Drop reasons and counters of a node, likewise; and its own drops are none of the core's. */
static void
drops_and_counters_of_one_name_are_refused(void **state)
{
	static const struct {
		const char *name, *as; /* of one length */
		int rc;
	} cases[] = {
		{ "drop2______", "drop1______", -EPROTO },
		{ "drop2______", "stream_full", -EPROTO },
		{ "drop2______", "drop3______", 0 },
		{ "count2", "count1", -EPROTO },
		{ "count2", "count3", 0 },
	};
	struct probe src = { .budget = UINT32_MAX };
	unsigned int refused = 0;
	char *bytes;
	size_t size;

	RTE_SET_USED(state);
	source_add(&src, "src", "node");
	NODE(NULL, .name = "node", .impl.process = probe_sink,
		.drops = { { "drop1______" }, { "drop2______" } },
		.counters = { { "count1" }, { "count2" } });
	sink_add(NULL, "dropped");
	GRAPH("g", .drop_node = "dropped");
	share();
	size = share_description("g", &bytes);
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		const size_t length = strlen(cases[i].name);
		char *at = memmem(bytes, size, cases[i].name, length);
		struct hy_share_description d;

		assert_non_null(at);
		memcpy(at, cases[i].as, length);
		assert_int_equal(hy_share_parse("g", bytes, size, NULL, &d), cases[i].rc);
		if (cases[i].rc == 0)
			hy_share_description_free(&d);
		else
			refused++;
		memcpy(at, cases[i].name, length);
	}
	assert_int_equal(refused, 3);
	free(bytes);
}

static void
more_sources_than_nodes_are_refused(void **state)
{
	const struct hy_plan *plan;
	struct hy_share_description d;
	uint64_t key[6] = { 0 }; /* as share_describe.c writes them */
	char *bytes, *at;
	size_t size;

	RTE_SET_USED(state);
	NODE(NULL, .name = "src", .flags = HY_NODE_SOURCE, .impl.process = probe_source);
	plan = &GRAPH("g")->plan;
	share();
	size = share_description("g", &bytes);
	key[0] = plan->stream_cap;
	key[3] = plan->nb_sources;
	key[5] = plan->nb_nodes;
	assert_int_equal(key[3], 1);
	assert_int_equal(key[5], 1);
	at = memmem(bytes, size, key, sizeof(key));
	assert_non_null(at);
	key[3] = 2;
	memcpy(at, key, sizeof(key));
	assert_int_equal(hy_share_parse("g", bytes, size, NULL, &d), -EPROTO);
	free(bytes);
}

/* Whatever stands there: records are copied from within the ring, or none. */
static void
a_trace_whose_ends_are_nonsense_is_not_told(void **state)
{
	static const struct {
		uint32_t head, tail;
		int rc;
	} cases[] = {
		{ 1000, 1016, 16 },
		{ UINT32_MAX - 7, 8, 16 },
		{ 1000, 1017, -EAGAIN },
		{ 1000, 999, -EAGAIN },
	};
	struct hy_trace_record records[65], mark;
	struct hy_trace *trace;

	RTE_SET_USED(state);
	describe();
	trace = told.graph->control->trace;
	assert_int_equal(trace->nb_records, 16);
	assert_int_equal(trace->tail, 12);
	for (size_t r = 12; r < 16; r++) /* full of records */
		trace->ring[r] = trace->ring[0];
	memset(&mark, 0x5a, sizeof(mark));
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		for (size_t r = 0; r < RTE_DIM(records); r++)
			records[r] = mark;
		__atomic_store_n(&trace->head, cases[i].head, __ATOMIC_RELAXED);
		__atomic_store_n(&trace->tail, cases[i].tail, __ATOMIC_RELAXED);
		assert_int_equal(hy_share_trace(reader, "g", NULL, records, 64), cases[i].rc);
		for (size_t r = cases[i].rc < 0 ? 0 : 16; r < RTE_DIM(records); r++)
			assert_memory_equal(&records[r], &mark, sizeof(mark));
	}
	forget();
}

/* Whoever puts a record in words goes by what it says of itself. */
static void
a_trace_record_that_says_more_than_it_holds_is_refused(void **state)
{
	struct hy_trace_record *at, first, lies[6], records[16];

	RTE_SET_USED(state);
	describe();
	at = &told.graph->control->trace->ring[0];
	first = *at;
	for (size_t i = 0; i < RTE_DIM(lies); i++)
		lies[i] = first;
	lies[0].size = HY_TRACE_DATA + 1;
	lies[1].nb_lanes = HY_LANES_MAX + 1;
	memset(lies[2].name, 'x', sizeof(lies[2].name));
	strcpy(lies[3].name, "\033[2J");
	memset(lies[4].drop, 'x', sizeof(lies[4].drop));
	strcpy(lies[5].drop, "\033[2J");
	for (size_t i = 0; i < RTE_DIM(lies); i++) {
		*at = lies[i];
		if (hy_share_trace(reader, "g", NULL, records, 16) != -EPROTO)
			fail_msg("lie %zu is taken", i);
	}
	*at = first;
	at->size = HY_TRACE_DATA;
	at->nb_lanes = HY_LANES_MAX;
	strcpy(at->drop, HY_TRACE_UNSURE);
	assert_int_equal(hy_share_trace(reader, "g", NULL, records, 16), 12);
	assert_memory_equal(&records[0], at, sizeof(*at));
	forget();
}

static const struct CMUnitTest share_bad_tests[] = {
	SHARE_TEST(a_place_that_does_not_lie_in_its_extents_is_refused),
	SHARE_TEST(extents_are_bounded),
	SHARE_TEST(an_image_of_another_size_is_refused),
	SHARE_TEST(another_file_under_the_number_of_the_one_described_is_not_mapped),
	SHARE_TEST(a_file_that_is_shorter_than_described_is_not_mapped),
	SHARE_TEST(an_extent_is_not_mapped_in_pages_larger_than_described),
	SHARE_TEST(nodes_of_one_name_are_refused),
	SHARE_TEST(two_edges_of_a_node_to_one_node_are_refused),
	SHARE_TEST(drops_and_counters_of_one_name_are_refused),
	SHARE_TEST(more_sources_than_nodes_are_refused),
	SHARE_TEST(a_trace_whose_ends_are_nonsense_is_not_told),
	SHARE_TEST(a_trace_record_that_says_more_than_it_holds_is_refused),
};

UNIT_SUITE(share_bad_tests)
