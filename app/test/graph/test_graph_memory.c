/* SPDX-License-Identifier: BSD-3-Clause */
/* Allocation that fails, at every place where one is made: nothing leaks, nothing has changed. */

#include <errno.h>
#include <string.h>

#include <rte_malloc.h>

#include "graph_fixture.h"
#include "lib/graph/registry/registry.h"

static const struct hy_node_desc full = {
	.name = "full",
	.impl = { "variant", probe_sink },
	.edges = { "a", "b", "c" },
	.drops = { { "d", HY_SEV_INFO, "Text." }, { "e" } },
	.counters = { { "c", "unit", HY_SEV_INFO, "Text." }, { "d" } },
	.lanes = { "l" },
};

static void
registering_fails_clean_at_every_allocation(void **state)
{
	const int64_t live = unit_alloc_live();
	unsigned int failed = 0;
	hy_node_id id = 12345;
	int rc;

	RTE_SET_USED(state);
	do {
		unit_alloc_fail(failed + 1);
		rc = hy_node_register(&full, &id);
		if (rc == 0)
			break;
		failed++;
		assert_int_equal(rc, -ENOMEM);
		assert_int_equal(unit_alloc_live(), live);
		assert_int_equal(hy_node_lookup("full", NULL), -ENOENT);
		assert_int_equal(id, 12345);
	} while (failed < 100);
	/* Node, room for 1, 2 and 4 edges and their index, drops, their strings, counters
	 * likewise; at times the ids. */
	assert_in_range(failed, 20, 21);
	assert_int_equal(unit_alloc_count(), failed);
	assert_int_equal(hy_node_lookup("full", NULL), 0);
}

static void
cloning_fails_clean_at_every_allocation(void **state)
{
	const hy_node_id id = node_add(NULL, &full);
	const int64_t live = unit_alloc_live();
	unsigned int failed = 0;
	hy_node_id clone = 12345;
	int rc;

	RTE_SET_USED(state);
	do {
		unit_alloc_fail(failed + 1);
		rc = hy_node_clone(id, "1", &clone);
		if (rc == 0)
			break;
		failed++;
		assert_int_equal(rc, -ENOMEM);
		assert_int_equal(unit_alloc_live(), live);
		assert_int_equal(hy_node_lookup("full-1", NULL), -ENOENT);
		assert_int_equal(clone, 12345);
	} while (failed < 100);
	assert_in_range(failed, 20, 21);
	assert_int_equal(hy_registry_get(clone)->nb_edges, 3);
}

/* The count of edges went up although there was no memory for one. */
static void
an_edge_that_has_no_memory_is_not_counted(void **state)
{
	const hy_node_id id = node_add(NULL, &full);
	uint16_t edge = 9;

	RTE_SET_USED(state);
	assert_int_equal(hy_node_edge_add(id, "y", NULL), 0); /* the fourth fills the room */
	for (unsigned int nth = 1; nth <= 2; nth++) {
		unit_alloc_fail(nth);
		assert_int_equal(hy_node_edge_add(id, "z", &edge), -ENOMEM);
		assert_int_equal(edge, 9);
		assert_int_equal(hy_registry_get(id)->nb_edges, 4);
	}
	unit_alloc_fail(1);
	assert_int_equal(hy_node_edge_add(id, "b", &edge), 0); /* it is there: none is needed */
	assert_int_equal(edge, 1);
	unit_alloc_fail(0);
	assert_int_equal(hy_node_edge_add(id, "z", &edge), 0);
	assert_int_equal(edge, 4);
}

static void
configuration_that_has_no_memory_leaves_the_old_one(void **state)
{
	const hy_node_id id = node_add(NULL, &full);

	RTE_SET_USED(state);
	assert_int_equal(hy_node_config(id, "old", 4), 0);
	unit_alloc_fail(1);
	assert_int_equal(hy_node_config(id, "new", 4), -ENOMEM);
	assert_string_equal(hy_registry_get(id)->config, "old");
	unit_alloc_fail(1);
	assert_int_equal(hy_node_config(id, NULL, 0), 0);
	assert_null(hy_registry_get(id)->config);
}

static void
creating_fails_clean_at_every_allocation(void **state)
{
	struct probe probes[40] = { { .budget = 1000 } };
	const char *names[40];
	char text[40][HY_NAME_SIZE];
	struct hy_graph *graph = NULL, *found;
	unsigned int heap, failed = 0;
	int64_t live;
	int rc;

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < 40; i++) {
		snprintf(text[i], HY_NAME_SIZE, "n%u", i);
		names[i] = text[i];
	}
	source_add(&probes[0], "src", names[1]);
	for (unsigned int i = 1; i < 39; i++)
		NODE(&probes[i], .name = names[i], .impl.process = probe_pass,
			.edges = { names[i + 1] }, .drops = { { "d" } });
	sink_add(&probes[39], names[39]);

	heap = unit_heap_live();
	live = unit_alloc_live();
	do {
		unsigned int inits = 0, finis = 0;

		unit_alloc_fail(failed + 1);
		rc = GRAPH_TRY("g", &graph, .drop_node = "n39", .lanes = { "l" });
		if (rc == 0)
			break;
		failed++;
		assert_int_equal(rc, -ENOMEM);
		assert_int_equal(unit_heap_live(), heap);
		assert_int_equal(unit_alloc_live(), live);
		assert_null(graph);
		assert_int_equal(hy_graph_lookup("g", &found), -ENOENT);
		for (unsigned int i = 0; i < 40; i++) {
			inits += probes[i].inits;
			finis += probes[i].finis;
		}
		assert_int_equal(inits, finis);
	} while (failed < 1000);
	/* At least a context a node, and the image's seven blocks. */
	assert_in_range(failed, 47, 100);
	assert_int_equal(unit_alloc_count(), failed);
	hy_graph_walk(graph);
	assert_int_equal(probes[39].objs, 64);
}

/* One line in the log for each allocation that fails, as for every error. */
static void
creating_without_memory_says_so(void **state)
{
	struct hy_graph *graph = NULL;
	unsigned int failed = 0;

	RTE_SET_USED(state);
	source_add(NULL, "src", "sink");
	NODE(NULL, .name = "sink", .impl = { .process = probe_sink, .ctx_size = 8 });
	for (; failed < 1000; failed++) {
		int rc;

		unit_log_clear();
		unit_alloc_fail(failed + 1);
		rc = GRAPH_TRY("g", &graph, .burst = 4);
		unit_alloc_fail(0);
		if (rc == 0)
			break;
		if (unit_log_lines() != 1 || strstr(unit_log(), "'g'") == NULL)
			fail_msg("allocation %u: the log says '%s'", failed + 1, unit_log());
	}
	assert_in_range(failed, 8, 30);
}

static void
a_graph_larger_than_the_heap_is_enomem_and_its_name_is_free(void **state)
{
	struct probe src = { .budget = 10 }, sink = { 0 };
	struct hy_graph *graph = NULL, *found;
	void *blocks[64];
	unsigned int n = 0, heap;

	RTE_SET_USED(state);
	source_add(&src, "src", "sink");
	sink_add(&sink, "sink");
	/* Takes what is left of the heap, in ever smaller blocks. */
	for (size_t size = 256u << 20; size >= 8 << 10 && n < RTE_DIM(blocks);) {
		blocks[n] = rte_malloc(NULL, size, 0);
		if (blocks[n] == NULL)
			size /= 2;
		else
			n++;
	}
	assert_in_range(n, 1, RTE_DIM(blocks) - 1);
	heap = unit_heap_live();
	unit_log_clear();
	assert_int_equal(GRAPH_TRY("g", &graph, .burst = 256, .lanes = { "a", "b" }), -ENOMEM);
	assert_non_null(strstr(unit_log(), "not enough memory"));
	assert_int_equal(hy_graph_lookup("g", &found), -ENOENT);
	assert_null(graph);
	assert_int_equal(src.inits, 0);
	assert_int_equal(unit_heap_live(), heap);
	while (n > 0)
		rte_free(blocks[--n]);
	graph = GRAPH("g", .burst = 256, .lanes = { "a", "b" });
	hy_graph_walk(graph);
	assert_int_equal(sink.objs, 10);
}

/* src → full → a, b, c; drops to drop. */
static struct hy_graph *
full_graph_add(void)
{
	source_add(NULL, "src", "full");
	node_add(NULL, &full);
	sink_add(NULL, "a");
	sink_add(NULL, "b");
	sink_add(NULL, "c");
	sink_add(NULL, "drop");
	return GRAPH("g", .drop_node = "drop", .lanes = { "l" });
}

static void
a_snapshot_of_statistics_fails_clean_at_every_allocation(void **state)
{
	struct hy_stats *stats = NULL;
	unsigned int failed = 0;
	int64_t live;
	int rc;

	RTE_SET_USED(state);
	full_graph_add();
	live = unit_alloc_live();
	do {
		unit_alloc_fail(failed + 1);
		rc = hy_stats_read("g", &stats);
		if (rc == 0)
			break;
		failed++;
		assert_int_equal(rc, -ENOMEM);
		assert_int_equal(unit_alloc_live(), live);
		assert_null(stats);
	} while (failed < 1000);
	/* The snapshot, 6 nodes, 4 edges, the core's drop reasons 6 times, 2 others, 2 counters:
	 * for the one graph, and for the sum. */
	assert_int_equal(failed, 2 * (1 + 6 + 4 + 6 * HY_CORE_DROPS + 2 + 2));
	assert_int_equal(stats->nb_nodes, 6);
	hy_stats_free(stats);
	assert_int_equal(unit_alloc_live(), live);
}

static void
a_picture_without_memory_is_not_begun_and_says_so(void **state)
{
	const char *const patterns[] = { "src" };
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 1,
		.ops = &obj_ops,
		.drop_node = "drop",
		.lanes = { "l" } };
	struct hy_graph *graph = full_graph_add();
	unsigned int failures[4] = { 0 };
	char text[1 << 14];

	RTE_SET_USED(state);
	for (unsigned int way = 0; way < 4; way++) {
		const unsigned int heap = unit_heap_live();
		int rc = -1;

		for (; rc != 0; failures[way]++) {
			const int64_t live = unit_alloc_live();
			FILE *out = fmemopen(text, sizeof(text), "w");

			unit_log_clear();
			unit_alloc_fail(failures[way] + 1);
			rc = way == 0      ? hy_graph_export_dot(graph, out)
				: way == 1 ? hy_graph_export_json(graph, out)
				: way == 2 ? hy_topology_export_dot("new", &params, out)
					   : hy_topology_export_json("new", &params, out);
			unit_alloc_fail(0);
			assert_int_equal(unit_alloc_live(), live);
			assert_int_equal(unit_heap_live(), heap);
			if (rc < 0) {
				assert_int_equal(rc, -ENOMEM);
				assert_int_equal(ftell(out), 0);
				assert_int_equal(unit_log_lines(), 1);
				assert_non_null(strstr(unit_log(), way < 2 ? "'g'" : "'new'"));
			}
			fclose(out);
			assert_true(failures[way] < 1000);
		}
		failures[way]--;
	}
	/* The text, and what a snapshot of statistics takes. */
	assert_int_equal(failures[0], 1 + 1 + 6 + 4 + 6 * HY_CORE_DROPS + 2 + 2);
	assert_int_equal(failures[1], failures[0]);
	/* The parameters' strings and the topology's tables; one image. */
	assert_in_range(failures[2], 10, 30);
	assert_int_equal(failures[3], failures[2]);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(registering_fails_clean_at_every_allocation),
	GRAPH_TEST(cloning_fails_clean_at_every_allocation),
	GRAPH_TEST(an_edge_that_has_no_memory_is_not_counted),
	GRAPH_TEST(configuration_that_has_no_memory_leaves_the_old_one),
	GRAPH_TEST(creating_fails_clean_at_every_allocation),
	GRAPH_TEST(creating_without_memory_says_so),
	GRAPH_TEST(a_graph_larger_than_the_heap_is_enomem_and_its_name_is_free),
	GRAPH_TEST(a_snapshot_of_statistics_fails_clean_at_every_allocation),
	GRAPH_TEST(a_picture_without_memory_is_not_begun_and_says_so),
};

UNIT_SUITE(tests)
