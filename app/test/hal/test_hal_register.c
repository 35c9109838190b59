/* SPDX-License-Identifier: BSD-3-Clause */
/* Registration of families and variants: what is refused, and that families are nodes. */

#include <errno.h>
#include <string.h>

#include <hy_node.h>

#include "hal/internal/hal.h"
#include "hal_fixture.h"

#define LONG_64 "a123456789b123456789c123456789d123456789e123456789f123456789g123"

static uint16_t
one_source(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	static int object;

	RTE_SET_USED(n);
	objs[0] = &object;
	hy_stream_move(graph, node, 0, 1);
	return 1;
}

HY_NODE_FAMILY(reg_macro,
	.text = "Declared by macro",
	.target = HY_TARGET_PROCESS,
	.score = 7,
	.node = {
		.name = "reg_macro",
		.flags = HY_NODE_SOURCE,
		.impl = { .variant = "one", .process = one_source },
		.edges = { "reg_sink" },
	});

HY_NODE_VARIANT(reg_macro, two, .text = "Declared by macro too", .impl.process = one_source,
	.score = 9);

static unsigned int released;

static void
release(void **objs, unsigned int n)
{
	RTE_SET_USED(objs);
	released += n;
}

static const struct hy_object_ops ops = { .release = release };

static void
malformed_family_is_refused_and_leaves_no_node(void **state)
{
	static const struct hy_family bad[] = {
		{ .node = { .name = NULL, .impl = { "plain", hal_process, .ctx_size = 0 } } },
		{ .node = { .name = "", .impl = { "plain", hal_process, .ctx_size = 0 } } },
		{ .node = { .name = "reg bad", .impl = { "plain", hal_process, .ctx_size = 0 } } },
		{ .node = { .name = LONG_64, .impl = { "plain", hal_process, .ctx_size = 0 } } },
		{ .node = { .name = "reg_bad", .impl = { NULL, hal_process, .ctx_size = 0 } } },
		{ .node = { .name = "reg_bad", .impl = { "", hal_process, .ctx_size = 0 } } },
		{ .node = { .name = "reg_bad", .impl = { "a b", hal_process, .ctx_size = 0 } } },
		{ .node = { .name = "reg_bad", .impl = { LONG_64, hal_process, .ctx_size = 0 } } },
		{ .node = { .name = "reg_bad", .impl = { "plain", NULL, .ctx_size = 0 } } },
		{ .node = { .name = "reg_bad",
			  .flags = 0x80,
			  .impl = { "plain", hal_process, .ctx_size = 0 } } },
		{ .node = { .name = "reg_bad",
			  .edges = { "reg_bad" },
			  .impl = { "plain", hal_process, .ctx_size = 0 } } },
		{ .target = (enum hy_target_kind)7,
			.node = { .name = "reg_bad",
				.impl = { "plain", hal_process, .ctx_size = 0 } } },
	};
	hy_node_id id;

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(bad); i++) {
		const int rc = family_try(&bad[i]);

		if (rc != -EINVAL)
			fail_msg("family %zu: %d, not -EINVAL", i, rc);
		if (bad[i].node.name == NULL)
			continue;
		assert_int_equal(hy_node_lookup(bad[i].node.name, &id), -ENOENT);
		assert_null(hy_family_find(bad[i].node.name));
	}
}

static int
bind_nothing(const struct hy_hal *of, struct hy_target target, char *reason, size_t size)
{
	RTE_SET_USED(of);
	RTE_SET_USED(target);
	RTE_SET_USED(reason);
	RTE_SET_USED(size);
	return 0;
}

static void
a_variant_that_only_binds_runs_the_code_of_its_family(void **state)
{
	const struct hy_variant with_state = {
		.family = "reg_b", .impl = { .variant = "v", .ctx_size = 1 }, .bind = bind_nothing
	};
	const struct hy_family *family;
	struct hy_node_impl impl;

	RTE_SET_USED(state);
	family_add("reg_b", HY_TARGET_PROCESS, 10);
	family = hy_family_find("reg_b");
	assert_int_equal(hy_variant_register(&with_state), -EINVAL);
	assert_null(hy_variant_find("reg_b", "binds"));
	assert_int_equal(variant_try(&(const struct hy_variant){ .family = "reg_b",
				 .impl.variant = "binds",
				 .bind = bind_nothing }),
		0);
	impl = hy_variant_impl(family, hy_variant_find("reg_b", "binds"));
	assert_ptr_equal(impl.process, family->node.impl.process);
	assert_string_equal(impl.variant, "binds");
	assert_int_equal(hy_hal_force(hal, "reg_b=binds", error), 0);
	select_all();
	assert_string_equal(chosen("reg_b", 0), "binds");
	assert_null(hy_variant_find("reg_b", "nothing"));
	assert_null(hy_variant_find("reg_b", NULL));
}

static void
malformed_variant_is_refused(void **state)
{
	static const struct hy_variant bad[] = {
		{ .family = NULL, .impl = { .variant = "v", .process = hal_process } },
		{ .family = "", .impl = { .variant = "v", .process = hal_process } },
		{ .family = "a=b", .impl = { .variant = "v", .process = hal_process } },
		{ .family = "reg_v", .impl = { .variant = NULL, .process = hal_process } },
		{ .family = "reg_v", .impl = { .variant = "", .process = hal_process } },
		{ .family = "reg_v", .impl = { .variant = "a b", .process = hal_process } },
		{ .family = "reg_v", .impl = { .variant = "a\"b", .process = hal_process } },
		{ .family = "reg_v", .impl = { .variant = LONG_64, .process = hal_process } },
		{ .family = "reg_v", .impl = { .variant = "v", .process = NULL } },
		{ .family = "reg_v",
			.impl = { .variant = "v", .process = hal_process },
			.needs = { { .cap = HY_CAPS } } },
		{ .family = "reg_v",
			.impl = { .variant = "v", .process = hal_process },
			.needs = { { .cap = HY_CAP_SIMD_BITS }, { .cap = (enum hy_cap) - 1 } } },
		/* a need behind a hole would never be asked for */
		{ .family = "reg_v",
			.impl = { .variant = "v", .process = hal_process },
			.needs = { [1] = { .cap = HY_CAP_SIMD_BITS } } },
	};
	const struct hy_variant *const *variants;

	RTE_SET_USED(state);
	family_add("reg_v", HY_TARGET_PROCESS, 10);
	for (size_t i = 0; i < RTE_DIM(bad); i++) {
		const int rc = variant_try(&bad[i]);

		if (rc != -EINVAL)
			fail_msg("variant %zu: %d, not -EINVAL", i, rc);
	}
	assert_int_equal(hy_variants(hy_family_find("reg_v"), &variants), 1);
}

static void
second_family_of_a_name_is_refused_and_the_first_stands(void **state)
{
	static const struct hy_family again = {
		.score = 99,
		.node = { .name = "reg_twice",
			.impl = { .variant = "other", .process = hal_process_b } },
	};

	RTE_SET_USED(state);
	family_add("reg_twice", HY_TARGET_PROCESS, 10);
	assert_int_equal(family_try(&again), -EEXIST);
	select_all();
	assert_int_equal(selected("reg_twice", 0)->nb_candidates, 1);
	assert_string_equal(chosen("reg_twice", 0), "plain");
	assert_int_equal(selected("reg_twice", 0)->family->score, 10);
}

static void
family_with_the_name_of_a_node_is_refused(void **state)
{
	static const struct hy_node_desc node = { .name = "reg_node", .impl.process = hal_process };
	static const struct hy_family family = {
		.node = { .name = "reg_node",
			.impl = { .variant = "plain", .process = hal_process } },
	};
	hy_node_id id, found;

	RTE_SET_USED(state);
	assert_int_equal(hy_node_register(&node, &id), 0);
	assert_int_equal(family_try(&family), -EEXIST);
	assert_int_equal(hy_node_lookup("reg_node", &found), 0);
	assert_int_equal(found, id);
	assert_null(hy_family_find("reg_node"));
	assert_int_equal(hy_node_unregister(id), 0);
}

static void
second_variant_of_a_name_is_refused(void **state)
{
	static const struct hy_variant fast = { .family = "reg_dup",
		.impl = { .variant = "fast", .process = hal_process } };
	static const struct hy_variant plain = { .family = "reg_dup",
		.impl = { .variant = "plain", .process = hal_process } };
	static const struct hy_variant elsewhere = { .family = "reg_dup_b",
		.impl = { .variant = "fast", .process = hal_process } };
	const struct hy_variant *const *variants;

	RTE_SET_USED(state);
	family_add("reg_dup", HY_TARGET_PROCESS, 10);
	family_add("reg_dup_b", HY_TARGET_PROCESS, 10);
	assert_int_equal(variant_try(&fast), 0);
	assert_int_equal(variant_try(&fast), -EEXIST);
	assert_int_equal(variant_try(&plain), -EEXIST);
	assert_int_equal(variant_try(&elsewhere), 0);
	assert_int_equal(hy_variants(hy_family_find("reg_dup"), &variants), 2);
	assert_int_equal(hy_variants(hy_family_find("reg_dup_b"), &variants), 2);
}

static void
variant_may_come_before_its_family(void **state)
{
	RTE_SET_USED(state);
	VARIANT("reg_early", "fast", .score = 20);
	unit_log_clear();
	select_all();
	assert_non_null(strstr(unit_log(), "'reg_early'")); /* a misspelt family is not silent */
	assert_null(hy_hal_selection(hal, "reg_early", 0));
	family_add("reg_early", HY_TARGET_PROCESS, 10);
	select_all();
	assert_string_equal(chosen("reg_early", 0), "fast");
	assert_int_equal(selected("reg_early", 0)->nb_candidates, 2);
}

static void
family_whose_reference_name_a_variant_took_is_refused_and_leaves_no_node(void **state)
{
	static const struct hy_family family = {
		.node = { .name = "reg_took",
			.impl = { .variant = "plain", .process = hal_process } },
	};
	hy_node_id id;

	RTE_SET_USED(state);
	VARIANT("reg_took", "plain", .score = 20);
	assert_int_equal(family_try(&family), -EEXIST);
	assert_int_equal(hy_node_lookup("reg_took", &id), -ENOENT);
	assert_null(hy_family_find("reg_took"));
}

static void
families_are_nodes_that_a_graph_can_have_without_a_hal(void **state)
{
	static const char *const patterns[] = { "reg_macro" };
	const struct hy_graph_params params = {
		.patterns = patterns, .nb_patterns = 1, .ops = &ops
	};
	struct hy_graph *graph;
	struct hy_stats *stats;
	hy_node_id id;

	RTE_SET_USED(state);
	hy_hal_destroy(hal);
	hal = NULL;
	if (hy_node_lookup("reg_sink", &id) < 0)
		family_add("reg_sink", HY_TARGET_PROCESS, 10);
	assert_int_equal(hy_graph_create("reg", &params, &graph), 0);
	released = 0;
	for (int i = 0; i < 5; i++)
		hy_graph_walk(graph);
	assert_int_equal(released, 5);
	assert_int_equal(hy_stats_read("reg", &stats), 0);
	assert_int_equal(stats->nb_nodes, 2);
	assert_string_equal(stats->nodes[0].name, "reg_macro");
	assert_string_equal(stats->nodes[0].variant, "one");
	assert_string_equal(stats->nodes[1].name, "reg_sink");
	assert_string_equal(stats->nodes[1].variant, "plain");
	assert_int_equal(stats->nodes[1].objs, 5);
	hy_stats_free(stats);
	hy_graph_destroy(graph);
}

static void
macros_fill_in_names_and_pack(void **state)
{
	const struct hy_variant *two;

	RTE_SET_USED(state);
	select_all();
	assert_string_equal(chosen("reg_macro", 0), "two");
	two = selected("reg_macro", 0)->chosen;
	assert_string_equal(two->family, "reg_macro");
	assert_string_equal(two->pack, "out-of-tree");
	assert_string_equal(two->text, "Declared by macro too");
	assert_string_equal(selected("reg_macro", 0)->family->pack, "out-of-tree");
	assert_string_equal(candidate("reg_macro", 0, "one")->variant->pack, "out-of-tree");
	assert_string_equal(candidate("reg_macro", 0, "one")->variant->text, "Declared by macro");
}

static void
generic_pack_has_its_families_in_order_of_name(void **state)
{
	static const char *const names[][2] = { { "ethdev_rx", "poll" },
		{ "ethdev_tx", "own_queue" }, { "event_rx", "single" }, { "flow_cls", "linear" },
		{ "flow_lookup", "megaflow" }, { "flow_reinject", "ring" },
		{ "ip4_lookup", "scalar" }, { "ip4_rewrite", "scalar" }, { "ip4_steer", "scalar" },
		{ "ip6_lookup", "scalar" }, { "ip6_rewrite", "scalar" }, { "l2_input", "scalar" },
		{ "l2_learn", "scalar" }, { "l2_lookup", "scalar" }, { "l2_output", "scalar" },
		{ "l2_patch", "scalar" }, { "null", "scalar" }, { "pkt_cls", "scalar" },
		{ "pkt_drop", "scalar" }, { "vlan_input", "scalar" }, { "vlan_pop", "scalar" },
		{ "vlan_push", "scalar" } };
	const struct hy_family *const *families;
	const unsigned int n = hy_families(&families);
	unsigned int found = 0;

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < n; i++) {
		if (i > 0)
			assert_true(strcmp(families[i - 1]->node.name, families[i]->node.name) < 0);
		if (strcmp(families[i]->pack, "generic") != 0)
			continue;
		assert_true(found < RTE_DIM(names));
		assert_string_equal(families[i]->node.name, names[found][0]);
		assert_string_equal(families[i]->node.impl.variant, names[found][1]);
		assert_non_null(families[i]->text);
		found++;
	}
	assert_int_equal(found, RTE_DIM(names));
}

static const struct CMUnitTest hal_register_tests[] = {
	HAL_TEST(malformed_family_is_refused_and_leaves_no_node),
	HAL_TEST(a_variant_that_only_binds_runs_the_code_of_its_family),
	HAL_TEST(malformed_variant_is_refused),
	HAL_TEST(second_family_of_a_name_is_refused_and_the_first_stands),
	HAL_TEST(family_with_the_name_of_a_node_is_refused),
	HAL_TEST(second_variant_of_a_name_is_refused),
	HAL_TEST(variant_may_come_before_its_family),
	HAL_TEST(family_whose_reference_name_a_variant_took_is_refused_and_leaves_no_node),
	HAL_TEST(families_are_nodes_that_a_graph_can_have_without_a_hal),
	HAL_TEST(macros_fill_in_names_and_pack),
	HAL_TEST(generic_pack_has_its_families_in_order_of_name),
};

UNIT_SUITE(hal_register_tests)
