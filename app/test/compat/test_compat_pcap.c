/* SPDX-License-Identifier: BSD-3-Clause */
/* rte_graph's API: pcap_enable. That tshark takes the files is tested in tests/test_compat.py. */

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_mbuf.h>
#include "lib/rte_graph_compat/compat.h"

#include "compat_fixture.h"

#define PACKET_MAX 200
#define RECORDS_MAX 4000

static struct rte_mempool *pool;
static char folder[] = "/tmp/hy-test-pcap-XXXXXX";

/* What the nodes of these tests do. */
static uint32_t made, ended;
static uint16_t per_walk, copies, most_late;

static uint32_t
length_of(uint32_t id)
{
	return 40 + id % 100;
}

static void
packet_fill(uint8_t *bytes, uint32_t id)
{
	for (uint32_t i = 0; i < length_of(id); i++)
		bytes[i] = (uint8_t)(id * 7 + i);
	memcpy(bytes, &id, sizeof(id));
}

static PROCESS(packets_make)
{
	RTE_SET_USED(objs);
	RTE_SET_USED(n);
	for (node->idx = 0; node->idx < per_walk; node->idx++) {
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

		if (m == NULL) {
			obj_faults++;
			break;
		}
		packet_fill((uint8_t *)rte_pktmbuf_append(m, (uint16_t)length_of(made)), made);
		made++;
		node->objs[node->idx] = m;
	}
	rte_node_next_stream_move(graph, node, 0);
	return node->idx;
}

static PROCESS(packets_copy)
{
	for (uint16_t c = 0; c < copies; c++) {
		for (uint16_t i = 0; i < n; i++)
			rte_mbuf_refcnt_update(objs[i], 1);
		rte_node_enqueue(graph, node, 0, objs, n);
	}
	rte_pktmbuf_free_bulk((struct rte_mbuf **)objs, n);
	return n;
}

static PROCESS(packets_end)
{
	RTE_SET_USED(graph);
	most_late = RTE_MAX(most_late, node->nb_late);
	ended += n;
	for (uint16_t i = 0; i < n; i++) /* what is written is as it was before the call */
		if (rte_mbuf_refcnt_read(objs[i]) == 1)
			memset(rte_pktmbuf_mtod((struct rte_mbuf *)objs[i], void *), 0xff, 40);
	rte_pktmbuf_free_bulk((struct rte_mbuf **)objs, n);
	return n;
}

/* Source "src", node "copy", sink "end", named after the test. */
static void
nodes_add(const char *test, uint16_t a_walk, uint16_t nb_copies)
{
	const char *const copy[] = { name_of(test, "copy"), NULL };
	const char *const end[] = { name_of(test, "end"), NULL };
	const char *const none[] = { NULL };
	struct rte_node_register *src = calloc(1, sizeof(*src) + sizeof(char *));

	made = ended = 0;
	most_late = 0;
	per_walk = a_walk;
	copies = nb_copies;
	assert_non_null(src);
	snprintf(src->name, sizeof(src->name), "%s", name_of(test, "src"));
	src->flags = RTE_NODE_SOURCE_F;
	src->process = packets_make;
	src->parent_id = RTE_NODE_ID_INVALID;
	src->nb_edges = 1;
	src->next_nodes[0] = copy[0];
	assert_int_not_equal(__rte_node_register(src), RTE_NODE_ID_INVALID);
	free(src);
	node_add(NULL, copy[0], packets_copy, end);
	node_add(NULL, end[0], packets_end, none);
}

/* Creates graph "g" of a test, which writes so many packets. Before 23.03 no parameter says so. */
static struct rte_graph *
graph_of(const char *test, const char *file, uint64_t packets)
{
	const char *pattern = name_of(test, "src");
	struct rte_graph *graph;
	char name[64];

	snprintf(name, sizeof(name), "%s/%s", folder, file);
#ifdef HY_COMPAT_PCAP
	struct rte_graph_param prm = {
		.socket_id = SOCKET_ID_ANY,
		.nb_node_patterns = 1,
		.node_patterns = &pattern,
		.pcap_enable = true,
		.num_pkt_to_capture = packets,
		.pcap_filename = name,
	};
	if (rte_graph_create("g", &prm) == RTE_GRAPH_ID_INVALID)
		fail_msg("%s", unit_log());
	graph = rte_graph_lookup("g");
#else
	assert_int_not_equal(graph_try("g", pattern), RTE_GRAPH_ID_INVALID);
	graph = rte_graph_lookup("g");
	assert_int_equal(hy_compat_pcap_open((struct compat_graph *)graph, name, packets), 0);
#endif
	return graph;
}

/* The file that was begun last, as the log says. */
static const char *
file_named(void)
{
	static char path[256];
	const char *line = unit_log(), *next = line;

	while ((next = strstr(next, "are written to '")) != NULL)
		line = next++;
	assert_int_equal(sscanf(line, "are written to '%255[^']'", path), 1);
	return path;
}

/* A packet in a file. */
struct record {
	uint32_t id;
	char comment[160];
};

static struct record records[RECORDS_MAX];

/* Takes the packet of a block that is not one of a section or an interface. */
static void
block_read(struct record *record, const uint8_t *block, uint32_t size)
{
	uint8_t want[PACKET_MAX];
	uint32_t captured, length;
	uint16_t option[2];
	const uint8_t *at;

	memcpy(&captured, block + 20, sizeof(captured));
	memcpy(&length, block + 24, sizeof(length));
	memcpy(&record->id, block + 28, sizeof(record->id));
	assert_true(captured >= 40 && captured <= size - 32);
	assert_int_equal(captured, length_of(record->id));
	assert_int_equal(length, captured);
	packet_fill(want, record->id);
	assert_memory_equal(block + 28, want, captured);
	at = block + 28 + RTE_ALIGN(captured, 4u);
	memcpy(option, at, sizeof(option));
	assert_int_equal(option[0], 1); /* a comment */
	assert_true(option[1] < sizeof(record->comment));
	memcpy(record->comment, at + sizeof(option), option[1]);
	record->comment[option[1]] = '\0';
}

/* Reads a file, whose packets must be whole, into records. Returns how many they are. */
static unsigned int
file_read(const char *path)
{
	static uint8_t bytes[RECORDS_MAX * 512];
	FILE *f = fopen(path, "rb");
	unsigned int n = 0;
	size_t size;

	assert_non_null(f);
	size = fread(bytes, 1, sizeof(bytes), f);
	assert_true(size > 0 && size < sizeof(bytes));
	fclose(f);
	for (uint32_t at = 0, head[2]; at < size; at += head[1]) {
		memcpy(head, bytes + at, sizeof(head));
		assert_true(head[1] >= 12 && head[1] <= size - at);
		if (head[0] != 6)
			continue;
		assert_true(n < RECORDS_MAX);
		block_read(&records[n++], bytes + at, head[1]);
	}
	return n;
}

static void
expect_records(unsigned int from, unsigned int n, uint32_t id, const char *test, const char *node)
{
	char comment[160];

	snprintf(comment, sizeof(comment), "g: %s", name_of(test, node));
	for (unsigned int i = 0; i < n; i++) {
		assert_int_equal(records[from + i].id, id + i);
		assert_string_equal(records[from + i].comment, comment);
	}
}

static void
what_nodes_are_called_with_is_written_in_order(void **state)
{
	struct rte_graph *graph;

	RTE_SET_USED(state);
	nodes_add(__func__, 100, 1);
	graph = graph_of(__func__, "all", 0);
	rte_graph_walk(graph);
	rte_graph_walk(graph);
	assert_int_equal(rte_graph_destroy(graph->id), 0);
	assert_int_equal(ended, 200);
	assert_int_equal(file_read(file_named()), 400);
	for (unsigned int walk = 0; walk < 2; walk++) {
		expect_records(200 * walk, 100, 100 * walk, __func__, "copy");
		expect_records(200 * walk + 100, 100, 100 * walk, __func__, "end");
	}
}

static void
no_more_are_written_than_asked_for_and_the_file_is_then_whole(void **state)
{
	struct rte_graph *graph;

	RTE_SET_USED(state);
	nodes_add(__func__, 100, 1);
	graph = graph_of(__func__, "some", 130);
	rte_graph_walk(graph);
	assert_int_equal(file_read(file_named()), 130);
	expect_records(0, 100, 0, __func__, "copy");
	expect_records(100, 30, 0, __func__, "end");
	rte_graph_walk(graph);
	assert_int_equal(rte_graph_destroy(graph->id), 0);
	assert_int_equal(ended, 200);
	assert_int_equal(file_read(file_named()), 130);

	graph = graph_of(__func__, "default", 0);
	for (unsigned int walk = 0; walk < 10; walk++)
		rte_graph_walk(graph);
	assert_int_equal(ended, 1200);
	assert_int_equal(file_read(file_named()), 1024);
	assert_int_equal(rte_graph_destroy(graph->id), 0);
}

static void
what_found_a_stream_full_is_written_too(void **state)
{
	struct rte_graph *graph;
	unsigned int at_end = 0;

	RTE_SET_USED(state);
	nodes_add(__func__, BURST, 12);
	graph = graph_of(__func__, "late", RECORDS_MAX);
	rte_graph_walk(graph);
	assert_int_equal(rte_graph_destroy(graph->id), 0);
	assert_true(most_late > 0);
	assert_int_equal(ended, 12 * BURST);
	assert_int_equal(file_read(file_named()), 13 * BURST);
	expect_records(0, BURST, 0, __func__, "copy");
	for (unsigned int c = 0; c < 12; c++, at_end += BURST)
		expect_records(BURST + at_end, BURST, 0, __func__, "end");
}

static void
a_clone_writes_to_a_file_of_its_own(void **state)
{
	struct rte_graph_param prm = { 0 };
	struct rte_graph *graph;
	char first[256];
	rte_graph_t clone;

	RTE_SET_USED(state);
	nodes_add(__func__, 10, 1);
	graph = graph_of(__func__, "family", 15);
	strcpy(first, file_named());
	clone = rte_graph_clone(graph->id, "two", &prm);
	assert_int_not_equal(clone, RTE_GRAPH_ID_INVALID);
	assert_string_not_equal(file_named(), first);
	rte_graph_walk(rte_graph_lookup("g-two"));
	assert_int_equal(file_read(file_named()), 15);
	assert_string_equal(records[14].comment, "g-two: a_clone_writes_to_a_file_of_its_own.end");
	assert_int_equal(rte_graph_destroy(clone), 0);
	assert_int_equal(rte_graph_destroy(graph->id), 0);
	assert_int_equal(file_read(first), 0);
}

static unsigned int
files_count(void)
{
	DIR *d = opendir(folder);
	unsigned int n = 0;

	assert_non_null(d);
	for (const struct dirent *e = readdir(d); e != NULL; e = readdir(d))
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

static void
a_graph_that_is_refused_leaves_no_file(void **state)
{
#ifdef HY_COMPAT_PCAP
	const char *patterns[] = { N("src"), "no such node" };
	const unsigned int files = files_count();
	char path[64];
	struct rte_graph_param prm = {
		.socket_id = SOCKET_ID_ANY,
		.nb_node_patterns = 2,
		.node_patterns = patterns,
		.pcap_enable = true,
		.pcap_filename = path,
	};

	RTE_SET_USED(state);
	nodes_add(__func__, 1, 1);
	snprintf(path, sizeof(path), "%s/refused", folder);
	assert_int_equal(rte_graph_create("g", &prm), RTE_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, EFAULT);
	assert_non_null(strstr(unit_log(), path));
	assert_int_equal(files_count(), files);

	snprintf(path, sizeof(path), "%s/nowhere/file", folder);
	prm.nb_node_patterns = 1;
	assert_int_equal(rte_graph_create("g", &prm), RTE_GRAPH_ID_INVALID);
	assert_int_equal(rte_errno, ENOENT);
	assert_non_null(strstr(unit_log(), "nowhere/file_"));
	assert_null(rte_graph_lookup("g"));
#else
	RTE_SET_USED(state);
	assert_true(files_count() > 0);
	skip(); /* pcap_enable came with DPDK 23.03 */
#endif
}

/* The pool is there before what is on the heap is counted. */
static int
pcap_setup(void **state)
{
	if (pool == NULL) {
		pool = rte_pktmbuf_pool_create("compat_pcap", 1023, 0, 0,
			RTE_PKTMBUF_HEADROOM + PACKET_MAX, SOCKET_ID_ANY);
		if (pool == NULL || mkdtemp(folder) == NULL)
			return -1;
	}
	return compat_setup(state);
}

static int
pcap_teardown(void **state)
{
	const int rc = compat_teardown(state);

	return rte_mempool_in_use_count(pool) == 0 ? rc : -1;
}

/* Of the last test. */
static int
pcap_end(void **state)
{
	char path[512];
	DIR *d = opendir(folder);

	for (const struct dirent *e = d == NULL ? NULL : readdir(d); e != NULL; e = readdir(d)) {
		snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
		unlink(path);
	}
	if (d != NULL)
		closedir(d);
	rmdir(folder);
	return pcap_teardown(state);
}

#define PCAP_TEST(f) cmocka_unit_test_setup_teardown(f, pcap_setup, pcap_teardown)

static const struct CMUnitTest compat_pcap[] = {
	PCAP_TEST(what_nodes_are_called_with_is_written_in_order),
	PCAP_TEST(no_more_are_written_than_asked_for_and_the_file_is_then_whole),
	PCAP_TEST(what_found_a_stream_full_is_written_too),
	PCAP_TEST(a_clone_writes_to_a_file_of_its_own),
	cmocka_unit_test_setup_teardown(a_graph_that_is_refused_leaves_no_file, pcap_setup,
		pcap_end),
};
UNIT_SUITE(compat_pcap)
