/* SPDX-License-Identifier: BSD-3-Clause */
/* Changing registered nodes: edges, clones, configuration, implementation. */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "graph_fixture.h"
#include "lib/graph/registry/registry.h"

#define NAME63 "n23456789.123456789_123456789-123456789.123456789_123456789-123"

static void
assert_edges(hy_node_id id, const char *const *targets, unsigned int n)
{
	char target[HY_NAME_SIZE];

	assert_int_equal(hy_registry_get(id)->nb_edges, n);
	for (unsigned int e = 0; e < n; e++) {
		assert_int_equal(hy_node_edge_target(id, (uint16_t)e, target, sizeof(target)), 0);
		assert_string_equal(target, targets[e]);
	}
}
#define ASSERT_EDGES(id, ...) \
	assert_edges(id, (const char *const[]){ __VA_ARGS__ }, \
		RTE_DIM(((const char *const[]){ __VA_ARGS__ })))

static void
an_added_edge_has_the_next_index(void **state)
{
	const hy_node_id id = pass_add(NULL, "x", "a");
	uint16_t edge = 9;

	RTE_SET_USED(state);
	assert_int_equal(hy_node_edge_add(id, "b", &edge), 0);
	assert_int_equal(edge, 1);
	assert_int_equal(hy_node_edge_add(id, "c", NULL), 0);
	assert_int_equal(hy_node_edge_add(id, NAME63, &edge), 0);
	assert_int_equal(edge, 3);
	ASSERT_EDGES(id, "a", "b", "c", NAME63);
}

/* Two edges to one node: speculation once lost or duplicated packets on them. */
static void
an_edge_that_is_there_is_found_and_not_added(void **state)
{
	const hy_node_id id = NODE(NULL, .name = "x", .impl.process = probe_sink,
		.edges = { "a", "b", "c" });
	uint16_t edge = 9;

	RTE_SET_USED(state);
	assert_int_equal(hy_node_edge_add(id, "b", &edge), 0);
	assert_int_equal(edge, 1);
	assert_int_equal(hy_node_edge_add(id, "a", &edge), 0);
	assert_int_equal(edge, 0);
	ASSERT_EDGES(id, "a", "b", "c");
}

static void
a_bad_edge_is_refused_and_changes_nothing(void **state)
{
	static const char *const bad[] = { NULL, "", "a b", "x", NAME63 "x" };
	const hy_node_id id = NODE(NULL, .name = "x", .impl.process = probe_sink,
		.edges = { "a", "b" });
	uint16_t edge = 9;
	unsigned int refused = 0;

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(bad); i++) {
		unit_log_clear();
		assert_int_equal(hy_node_edge_add(id, bad[i], &edge), -EINVAL);
		assert_int_equal(unit_log_lines(), 1);
		assert_int_equal(hy_node_edge_set(id, 0, bad[i]), -EINVAL);
		assert_int_equal(unit_log_lines(), 2);
		ASSERT_EDGES(id, "a", "b");
		refused++;
	}
	assert_int_equal(refused, 5);
	assert_int_equal(hy_node_edge_add(id + 1, "c", &edge), -ENOENT);
	assert_int_equal(hy_node_edge_set(id + 1, 0, "c"), -ENOENT);
	assert_int_equal(hy_node_edge_set(id, 2, "c"), -ENOENT);
	unit_log_clear();
	assert_int_equal(hy_node_edge_set(id, 0, "b"), -EEXIST);
	assert_int_equal(unit_log_lines(), 1);
	assert_int_equal(edge, 9);
	ASSERT_EDGES(id, "a", "b");
}

static void
an_edge_can_be_led_elsewhere(void **state)
{
	const hy_node_id id = NODE(NULL, .name = "x", .impl.process = probe_sink,
		.edges = { "a", "b" });

	RTE_SET_USED(state);
	assert_int_equal(hy_node_edge_set(id, 0, "c"), 0);
	ASSERT_EDGES(id, "c", "b");
	assert_int_equal(hy_node_edge_set(id, 1, "a"), 0);
	ASSERT_EDGES(id, "c", "a");
	assert_int_equal(hy_node_edge_set(id, 1, "a"), 0);
	ASSERT_EDGES(id, "c", "a");
	assert_int_equal(unit_log_lines(), 0);
}

static void
one_edge_more_than_a_node_can_have_is_enospc(void **state)
{
	const hy_node_id id = sink_add(NULL, "x");
	char target[HY_NAME_SIZE];
	uint16_t edge = 9, count;

	RTE_SET_USED(state);
	for (unsigned int e = 0; e < HY_EDGES_MAX - 1; e++) {
		snprintf(target, sizeof(target), "t%u", e);
		assert_int_equal(hy_node_edge_add(id, target, NULL), 0);
	}
	assert_int_equal(hy_node_edge_add(id, "last", &edge), 0);
	assert_int_equal(edge, HY_EDGES_MAX - 1);
	unit_log_clear();
	assert_int_equal(hy_node_edge_add(id, "more", &edge), -ENOSPC);
	assert_non_null(strstr(unit_log(), "'x'"));
	assert_int_equal(hy_node_edge_add(id, "t77", &edge), 0);
	assert_int_equal(edge, 77);
	assert_int_equal(hy_node_edge_count(id, &count), 0);
	assert_int_equal(count, HY_EDGES_MAX);
	assert_int_equal(hy_node_edge_target(id, HY_EDGES_MAX - 1, target, sizeof(target)), 0);
	assert_string_equal(target, "last");
}

static void
a_clone_is_a_copy_with_edges_of_its_own(void **state)
{
	const hy_node_id id = NODE(NULL, .name = "x", .replicates = 5,
		.impl = { "fast", probe_source, .ctx_size = 24 }, .edges = { "a", "b" },
		.drops = { { "d", HY_SEV_WARN, "Why." }, { "e", HY_SEV_ERROR } },
		.counters = { { "c", "unit", HY_SEV_ERROR, "What." }, { "bare" } },
		.lanes = { "l", "m" });
	char name[HY_NAME_SIZE];
	const struct hy_reg_node *reg;
	hy_node_id clone = id, found = id;

	RTE_SET_USED(state);
	assert_int_equal(hy_node_clone(id, "1", &clone), 0);
	assert_int_not_equal(clone, id);
	assert_int_equal(hy_node_name(clone, name, sizeof(name)), 0);
	assert_string_equal(name, "x-1");
	assert_int_equal(hy_node_lookup("x-1", &found), 0);
	assert_int_equal(found, clone);

	assert_int_equal(hy_node_edge_add(clone, "c", NULL), 0);
	assert_int_equal(hy_node_edge_set(clone, 0, "z"), 0);
	assert_int_equal(hy_node_edge_set(id, 1, "y"), 0);
	ASSERT_EDGES(id, "a", "y");
	ASSERT_EDGES(clone, "z", "b", "c");

	assert_int_equal(hy_node_unregister(id), 0); /* the clone needs nothing of it */
	reg = hy_registry_get(clone);
	assert_string_equal(reg->variant, "fast");
	assert_ptr_equal(reg->impl.process, probe_source);
	assert_int_equal(reg->impl.ctx_size, 24);
	assert_int_equal(reg->flags, 0);
	assert_int_equal(reg->replicates, 5);
	assert_int_equal(reg->nb_drops, 2);
	assert_string_equal(reg->drops[0].name, "d");
	assert_string_equal(reg->drops[0].text, "Why.");
	assert_int_equal(reg->drops[0].severity, HY_SEV_WARN);
	assert_string_equal(reg->drops[1].name, "e");
	assert_string_equal(reg->drops[1].text, "");
	assert_int_equal(reg->nb_counters, 2);
	assert_string_equal(reg->counters[0].name, "c");
	assert_string_equal(reg->counters[0].unit, "unit");
	assert_string_equal(reg->counters[0].text, "What.");
	assert_int_equal(reg->counters[0].severity, HY_SEV_ERROR);
	assert_string_equal(reg->counters[1].unit, "");
	assert_int_equal(reg->nb_lanes, 2);
	assert_string_equal(reg->lanes[1], "m");
}

static void
a_clone_has_no_configuration_yet(void **state)
{
	const hy_node_id id = sink_add(NULL, "x");
	hy_node_id clone;

	RTE_SET_USED(state);
	assert_int_equal(hy_node_config(id, "abc", 4), 0);
	assert_int_equal(hy_node_clone(id, "1", &clone), 0);
	assert_null(hy_registry_get(clone)->config);
	assert_string_equal(hy_registry_get(id)->config, "abc");
}

static void
a_clone_of_a_node_in_a_graph_is_in_no_graph(void **state)
{
	const hy_node_id id = sink_add(NULL, "sink");
	hy_node_id clone;

	RTE_SET_USED(state);
	source_add(NULL, "src", "sink");
	GRAPH("g");
	assert_int_equal(hy_node_clone(id, "1", &clone), 0);
	assert_int_equal(hy_node_unregister(clone), 0);
	assert_int_equal(hy_node_unregister(id), -EBUSY);
}

static void
a_bad_clone_is_refused_and_changes_nothing(void **state)
{
	const hy_node_id id = sink_add(NULL, "x"), max = sink_add(NULL, NAME63);
	const int64_t live = unit_alloc_live();
	hy_node_id clone = 12345;

	RTE_SET_USED(state);
	assert_int_equal(hy_node_clone(id, NULL, &clone), -EINVAL);
	assert_int_equal(hy_node_clone(id, "", &clone), -EINVAL);
	assert_int_equal(hy_node_clone(id, "a b", &clone), -EINVAL);
	assert_int_equal(hy_node_clone(id, NAME63, &clone), -EINVAL); /* x- is too much */
	assert_int_equal(hy_node_clone(max, "1", &clone), -EINVAL);
	assert_int_equal(unit_log_lines(), 5);
	assert_int_equal(hy_node_clone(max + 1, "1", &clone), -ENOENT);
	assert_int_equal(clone, 12345);
	assert_int_equal(unit_alloc_live(), live);
	assert_int_equal(hy_node_clone(id, &NAME63[2], &clone), 0); /* 63 characters */
	clone = 12345;
	assert_int_equal(hy_node_clone(id, &NAME63[2], &clone), -EEXIST);
	assert_int_equal(clone, 12345);
}

/* The original may lead to a name that nobody has yet; the clone would be that node. */
static void
a_clone_with_an_edge_to_itself_is_refused(void **state)
{
	const hy_node_id id = pass_add(NULL, "x", "x-1");
	hy_node_id clone = 12345;

	RTE_SET_USED(state);
	assert_int_equal(hy_node_clone(id, "1", &clone), -EINVAL);
	assert_non_null(strstr(unit_log(), "itself"));
	assert_int_equal(hy_node_lookup("x-1", NULL), -ENOENT);
	assert_int_equal(clone, 12345);
	assert_int_equal(hy_node_clone(id, "2", &clone), 0);
}

static const void *config_seen;

static int
keep_config(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	config_seen = config;
	return 0;
}

static void
configuration_is_copied_and_handed_to_init(void **state)
{
	const hy_node_id id = NODE(NULL, .name = "src", .flags = HY_NODE_SOURCE,
		.impl = { .process = probe_source, .init = keep_config });
	char config[] = "first";

	RTE_SET_USED(state);
	config_seen = config;
	hy_graph_destroy(GRAPH("g"));
	assert_null(config_seen);

	assert_int_equal(hy_node_config(id, config, sizeof(config)), 0);
	strcpy(config, "xxxxx");
	hy_graph_destroy(GRAPH("g"));
	assert_string_equal(config_seen, "first");

	assert_int_equal(hy_node_config(id, "second, longer", 15), 0);
	hy_graph_destroy(GRAPH("g"));
	assert_string_equal(config_seen, "second, longer");

	assert_int_equal(hy_node_config(id, config, 0), 0);
	hy_graph_destroy(GRAPH("g"));
	assert_non_null(config_seen);

	assert_int_equal(hy_node_config(id, NULL, 0), 0);
	hy_graph_destroy(GRAPH("g"));
	assert_null(config_seen);
	assert_int_equal(hy_node_config(id + 1, config, sizeof(config)), -ENOENT);
	assert_int_equal(hy_node_config(id + 1, NULL, 0), -ENOENT);
}

static void
an_implementation_is_copied_and_used_from_then_on(void **state)
{
	const hy_node_id id = NODE(NULL, .name = "src", .flags = HY_NODE_SOURCE,
		.impl = { "one", probe_source });
	char variant[] = "two";
	const struct hy_node_impl impl = { .variant = variant, .process = probe_sink };
	struct hy_stats *stats;

	RTE_SET_USED(state);
	assert_int_equal(hy_node_impl_set(id, &impl), 0);
	strcpy(variant, "xxx");
	assert_ptr_equal(graph_node(GRAPH("g"), "src")->process, probe_sink);
	assert_int_equal(hy_stats_read("g", &stats), 0);
	assert_string_equal(stats->nodes[0].variant, "two");
	hy_stats_free(stats);
}

static void
a_bad_implementation_is_refused_and_changes_nothing(void **state)
{
	const hy_node_id id = NODE(NULL, .name = "x", .impl = { "one", probe_sink });
	const struct hy_reg_node *reg = hy_registry_get(id);
	const struct hy_node_impl ok = { .process = probe_pass };

	RTE_SET_USED(state);
	assert_int_equal(hy_node_impl_set(id, &(struct hy_node_impl){ .variant = "two" }), -EINVAL);
	assert_int_equal(hy_node_impl_set(id, &(struct hy_node_impl){ "t o", probe_pass }),
		-EINVAL);
	assert_int_equal(hy_node_impl_set(id, &(struct hy_node_impl){ "", probe_pass }), -EINVAL);
	assert_int_equal(unit_log_lines(), 3);
	assert_int_equal(hy_node_impl_set(id + 1, &ok), -ENOENT);
	assert_string_equal(reg->variant, "one");
	assert_ptr_equal(reg->impl.process, probe_sink);
	assert_int_equal(hy_node_impl_set(id, &ok), 0);
	assert_string_equal(reg->variant, "");
}

/* An error is one log line that names what was wrong, unless a function says otherwise. */
static void
an_id_that_no_node_has_is_logged(void **state)
{
	const hy_node_id none = sink_add(NULL, "x") + 1;
	const struct hy_node_impl impl = { .process = probe_sink };
	char name[HY_NAME_SIZE], number[16];
	int rc[8];

	RTE_SET_USED(state);
	snprintf(number, sizeof(number), "%u", none);
	for (unsigned int i = 0; i < RTE_DIM(rc); i++) {
		unit_log_clear();
		switch (i) {
		case 0:
			rc[i] = hy_node_unregister(none);
			break;
		case 1:
			rc[i] = hy_node_clone(none, "1", NULL);
			break;
		case 2:
			rc[i] = hy_node_config(none, "a", 1);
			break;
		case 3:
			rc[i] = hy_node_impl_set(none, &impl);
			break;
		case 4:
			rc[i] = hy_node_name(none, name, sizeof(name));
			break;
		case 5:
			rc[i] = hy_node_edge_add(none, "a", NULL);
			break;
		case 6:
			rc[i] = hy_node_edge_set(none, 0, "a");
			break;
		case 7:
			rc[i] = hy_node_edge_target(none, 0, name, sizeof(name));
			break;
		}
		assert_int_equal(rc[i], -ENOENT);
		if (unit_log_lines() != 1 || strstr(unit_log(), number) == NULL)
			fail_msg("function %u logs: '%s'", i, unit_log());
	}
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(an_added_edge_has_the_next_index),
	GRAPH_TEST(an_edge_that_is_there_is_found_and_not_added),
	GRAPH_TEST(a_bad_edge_is_refused_and_changes_nothing),
	GRAPH_TEST(an_edge_can_be_led_elsewhere),
	GRAPH_TEST(one_edge_more_than_a_node_can_have_is_enospc),
	GRAPH_TEST(a_clone_is_a_copy_with_edges_of_its_own),
	GRAPH_TEST(a_clone_has_no_configuration_yet),
	GRAPH_TEST(a_clone_of_a_node_in_a_graph_is_in_no_graph),
	GRAPH_TEST(a_bad_clone_is_refused_and_changes_nothing),
	GRAPH_TEST(a_clone_with_an_edge_to_itself_is_refused),
	GRAPH_TEST(configuration_is_copied_and_handed_to_init),
	GRAPH_TEST(an_implementation_is_copied_and_used_from_then_on),
	GRAPH_TEST(a_bad_implementation_is_refused_and_changes_nothing),
	GRAPH_TEST(an_id_that_no_node_has_is_logged),
};

UNIT_SUITE(tests)
