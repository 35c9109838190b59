/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptions whose numbers lie, and memory that holds something else than they say. */

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/graph/observe/trace.h"
#include "share_fixture.h"

/* The numbers of a place in a description, in their order. */
enum place_field { ADDRESS, SIZE, START, EXTENTS, LENGTH, FD, OFFSET, DEVICE, INODE };

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
	const uint64_t key[] = { place->address, place->size, place->start };
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
			{ START, length + RTE_CACHE_LINE_SIZE },
			{ START, length }, /* in a later extent */
			{ START, UINT64_MAX },
			{ START, length - p->size + 64 },
			{ START, p->start + 8 }, /* no block begins there */
			{ EXTENTS, 0 },
			{ EXTENTS, 2 },
			{ EXTENTS, HY_SHARE_EXTENTS_MAX + 1 },
			{ LENGTH, p->start + p->size - 1 },
			{ LENGTH, (UINT64_C(1) << 46) + 1 },
			{ LENGTH, 0 },
			{ FD, (uint64_t)INT32_MAX + 1 },
			{ OFFSET, (uint64_t)INT64_MAX + 1 },
			{ OFFSET, (uint64_t)INT64_MAX - length + 1 },
		};

		assert_int_equal(p->nb_extents, 1);
		for (size_t l = 0; l < RTE_DIM(lies); l++, refused++)
			if (parse_with(p, lies[l].field, lies[l].number, &d) != -EPROTO)
				fail_msg("place %zu, lie %zu is taken", i, l);
	}
	assert_int_equal(refused, 3 * 16);
	forget();
}

/* A description with so many extents in the place of the graph's one, each like that. */
static int
parse_with_extents(uint64_t n)
{
	const size_t one = 5 * sizeof(uint64_t), head = 4 * sizeof(uint64_t);
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

/* Reads all of a place as the reader does, for a user. */
static int
place_read(const struct hy_share_place *place, uid_t owner)
{
	char *block = malloc(place->size);
	int rc;

	assert_non_null(block);
	rc = hy_share_read(getpid(), owner, place, 0, block, place->size);
	free(block);
	return rc;
}

/* Numbers of files are used again: what a file is, its device and inode say. */
static void
another_file_under_the_number_of_the_one_described_is_not_read(void **state)
{
	static const enum place_field fields[] = { DEVICE, INODE };
	struct hy_share_description d;

	RTE_SET_USED(state);
	describe();
	assert_int_equal(place_read(&told.d.graph, geteuid()), 0);
	assert_int_equal(place_read(&told.d.graph, geteuid() + 1), -EAGAIN);
	for (size_t i = 0; i < RTE_DIM(fields); i++) {
		const uint64_t is = fields[i] == DEVICE ? told.d.graph.extents[0].device
							: told.d.graph.extents[0].inode;

		assert_int_equal(parse_with(&told.d.graph, fields[i], is + 1, &d), 0);
		assert_int_equal(place_read(&d.graph, geteuid()), -EAGAIN);
		hy_share_description_free(&d);
	}
	forget();
}

static void
a_file_that_is_shorter_than_described_is_not_read(void **state)
{
	struct hy_share_description d;
	struct hy_share_extent *e;
	int fd;

	RTE_SET_USED(state);
	describe();
	fd = memfd_create("short", MFD_CLOEXEC);
	assert_true(fd >= 0);
	e = &told.d.graph.extents[0];
	assert_int_equal(parse_with(&told.d.graph, OFFSET, e->offset + (UINT64_C(1) << 40), &d), 0);
	assert_int_equal(place_read(&d.graph, geteuid()), -EAGAIN);
	hy_share_description_free(&d);
	assert_int_equal(parse_with(&told.d.graph, FD, (uint64_t)fd, &d), 0);
	assert_int_equal(place_read(&d.graph, geteuid()), -EAGAIN);
	hy_share_description_free(&d);
	close(fd);
	forget();
}

/* From wherever it begins to wherever it ends, over the borders of extents and within. */
static void
a_block_in_several_extents_is_read_in_order(void **state)
{
	enum { N = 3, BYTES = 64 };
	struct hy_share_extent extents[N];
	struct hy_share_place place = { .nb_extents = N, .extents = extents };
	char written[N * BYTES], got[N * BYTES];
	unsigned int compared = 0;
	struct stat st;

	RTE_SET_USED(state);
	for (int i = 0; i < N * BYTES; i++)
		written[i] = (char)i;
	for (int i = 0; i < N; i++) {
		const int fd = memfd_create("extent", MFD_CLOEXEC);

		assert_int_equal(pwrite(fd, written + (ptrdiff_t)i * BYTES, BYTES, 8), BYTES);
		assert_int_equal(fstat(fd, &st), 0);
		extents[i] = (struct hy_share_extent){ BYTES, (uint64_t)fd, 8, st.st_dev,
			st.st_ino };
	}
	for (size_t from = 0; from < sizeof(written); from += 7)
		for (size_t n = 0; n <= sizeof(written) - from; n += 13, compared++) {
			memset(got, 0x5a, sizeof(got));
			place.start = from % 5;
			assert_int_equal(hy_share_read(getpid(), geteuid(), &place,
						 from - place.start, got, n),
				0);
			assert_memory_equal(got, written + from, n);
		}
	assert_true(compared > 200);
	assert_int_equal(hy_share_read(getpid(), geteuid(), &place, 1, got, sizeof(got)), -EAGAIN);
	for (int i = 0; i < N; i++)
		close((int)extents[i].fd);
}

struct toggled {
	uint64_t *words;
	size_t n;
	bool stop;
};

static void *
toggle(void *arg)
{
	struct toggled *t = arg;

	for (uint64_t v = 0; !__atomic_load_n(&t->stop, __ATOMIC_RELAXED); v = ~v)
		for (size_t i = 0; i < t->n; i++)
			__atomic_store_n(&t->words[i], v, __ATOMIC_RELAXED);
	return NULL;
}

/* The kernel copies counters while the worker counts on. */
static void
numbers_that_are_written_meanwhile_are_read_whole(void **state)
{
	enum { WORDS = 512, ROUNDS = 20000 };
	const int fd = memfd_create("counters", MFD_CLOEXEC);
	struct hy_share_extent extent = { .length = WORDS * 8, .fd = (uint64_t)fd };
	struct hy_share_place place = { .nb_extents = 1, .extents = &extent };
	struct toggled toggled = { .n = WORDS };
	uint64_t got[WORDS], zeros = 0, ones = 0;
	pthread_t thread;
	struct stat st;

	RTE_SET_USED(state);
	assert_int_equal(ftruncate(fd, sizeof(got)), 0);
	assert_int_equal(fstat(fd, &st), 0);
	extent.device = st.st_dev;
	extent.inode = st.st_ino;
	toggled.words = mmap(NULL, sizeof(got), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(toggled.words, MAP_FAILED);
	assert_int_equal(pthread_create(&thread, NULL, toggle, &toggled), 0);
	for (unsigned int r = 0; r < ROUNDS || zeros == 0 || ones == 0; r++) {
		assert_int_equal(hy_share_read(getpid(), geteuid(), &place, 0, got, sizeof(got)),
			0);
		for (size_t i = 0; i < WORDS; i++) {
			zeros += got[i] == 0;
			ones += got[i] == UINT64_MAX;
		}
		assert_int_equal(zeros + ones, (r + 1) * (uint64_t)WORDS);
	}
	__atomic_store_n(&toggled.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	munmap(toggled.words, sizeof(got));
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
	SHARE_TEST(nodes_of_one_name_are_refused),
	SHARE_TEST(two_edges_of_a_node_to_one_node_are_refused),
	SHARE_TEST(drops_and_counters_of_one_name_are_refused),
	SHARE_TEST(another_file_under_the_number_of_the_one_described_is_not_read),
	SHARE_TEST(a_file_that_is_shorter_than_described_is_not_read),
	SHARE_TEST(a_block_in_several_extents_is_read_in_order),
	SHARE_TEST(numbers_that_are_written_meanwhile_are_read_whole),
	SHARE_TEST(more_sources_than_nodes_are_refused),
	SHARE_TEST(a_trace_whose_ends_are_nonsense_is_not_told),
	SHARE_TEST(a_trace_record_that_says_more_than_it_holds_is_refused),
};

UNIT_SUITE(share_bad_tests)
