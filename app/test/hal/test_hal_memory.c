/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that runs out: every allocation of every call fails once. Teardown sees what leaks. */

#include <errno.h>
#include <string.h>

#include "hal/internal/hal.h"
#include "hal_fixture.h"

static void
every_allocation_of_create_can_fail(void **state)
{
	struct hy_hal *other;
	unsigned int failed = 0;
	int rc;

	RTE_SET_USED(state);
	do {
		unit_alloc_fail(failed + 1);
		rc = hy_hal_create(&other);
		unit_alloc_fail(0);
	} while (rc == -ENOMEM && ++failed < 100);
	assert_int_equal(rc, 0);
	assert_int_equal(failed, 1);
	hy_hal_destroy(other);
}

static void
every_allocation_of_registration_can_fail(void **state)
{
	static const struct hy_family family = {
		.text = "t",
		.pack = "test",
		.node = { .name = "mem_family",
			.edges = { "null" },
			.impl = { .variant = "plain", .process = hal_process } },
	};
	static const struct hy_variant variant = {
		.family = "mem_family",
		.impl = { .variant = "fast", .process = hal_process_b },
	};
	const struct hy_variant *const *variants;
	unsigned int failed = 0;
	hy_node_id id;
	int rc;

	RTE_SET_USED(state);
	do {
		const int64_t live = unit_alloc_live();

		unit_alloc_fail(failed + 1);
		rc = hy_family_register(&family);
		unit_alloc_fail(0);
		if (rc == -ENOMEM) {
			assert_int_equal(unit_alloc_live(), live);
			assert_int_equal(hy_node_lookup("mem_family", &id), -ENOENT);
			assert_null(hy_family_find("mem_family"));
		}
	} while (rc == -ENOMEM && ++failed < 100);
	assert_int_equal(rc, 0);
	assert_true(failed >= 4); /* the node, its edges, the reference variant, the two lists */
	unit_alloc_fail(1);
	assert_int_equal(hy_variant_register(&variant), -ENOMEM);
	unit_alloc_fail(0);
	assert_int_equal(hy_variant_register(&variant), 0);
	assert_int_equal(hy_variants(hy_family_find("mem_family"), &variants), 2);
}

static void
every_allocation_of_rules_can_fail_and_is_told(void **state)
{
	RTE_SET_USED(state);
	for (int i = 0; i < 2; i++) {
		strcpy(error, "untouched");
		unit_alloc_fail(1);
		assert_int_equal((i == 0 ? hy_hal_force : hy_hal_deny)(hal, "null=scalar", error),
			-ENOMEM);
		unit_alloc_fail(0);
		assert_string_equal(error, "'null=scalar': out of memory");
	}
	select_all();
	assert_false(selected("null", 0)->forced);
}

static void
a_declaration_that_finds_no_memory_changes_nothing(void **state)
{
	RTE_SET_USED(state);
	unit_alloc_fail(1);
	assert_int_equal(hy_hal_declare(hal, "rules", 1, "the rule file"), -ENOMEM);
	unit_alloc_fail(0);
	assert_int_equal(hy_hal_declared(hal, "rules")->level, HY_LEVEL_NO);
	assert_int_equal(hy_hal_declare(hal, "rules", 1, "the rule file"), 0);
	assert_int_equal(hy_hal_declared(hal, "rules")->level, HY_LEVEL_YES);
}

static void
every_allocation_of_select_can_fail_and_selections_stand(void **state)
{
	const struct hy_selection *before;
	unsigned int failed = 0;
	int rc;

	RTE_SET_USED(state);
	port_add("net_null_0");
	assert_int_equal(hy_hal_probe(hal), 0);
	select_all();
	before = selected("ip4_lookup", 0);
	for (;; failed++) {
		strcpy(error, "untouched");
		unit_alloc_fail(failed + 1);
		rc = hy_hal_select(hal, error);
		unit_alloc_fail(0);
		if (rc == 0)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_string_equal(error, "out of memory");
		assert_ptr_equal(selected("ip4_lookup", 0), before);
		assert_true(failed < 10000);
	}
	assert_true(failed >= 8); /* the selections, and the candidates of each family */
}

static void
every_allocation_of_a_node_can_fail(void **state)
{
	unsigned int failed[3] = { 0 };
	hy_node_id id, found;

	RTE_SET_USED(state);
	port_add("net_null_0");
	port_add("net_null_1");
	assert_int_equal(hy_hal_probe(hal), 0);
	family_add("mem_node", HY_TARGET_PORT, 10);
	VARIANT("mem_node", "fast", .score = 20);
	assert_int_equal(hy_hal_force(hal, "mem_node@1=plain", error), 0);
	select_all();
	assert_int_equal(hy_hal_node(hal, "mem_node", 1, &id), 0); /* the family's own */
	for (unsigned int kind = 0; kind < RTE_DIM(failed); kind++) {
		int rc;

		do {
			unit_alloc_fail(failed[kind] + 1);
			rc = kind == 0      ? hy_hal_node(hal, "null", 0, &id)
				: kind == 1 ? hy_hal_node(hal, "mem_node", 0, &id)
					    : hy_hal_node_clone(hal, "mem_node", 0, "own", &id);
			unit_alloc_fail(0);
			if (rc == -ENOMEM && kind > 0)
				assert_int_equal(hy_node_lookup(kind == 1 ? "mem_node-fast"
									  : "mem_node-own",
							 &found),
					-ENOENT);
		} while (rc == -ENOMEM && ++failed[kind] < 100);
		assert_int_equal(rc, 0);
		assert_true(failed[kind] >= 2);
	}
	assert_non_null(hy_hal_placement(hal, "null"));
	assert_non_null(hy_hal_placement(hal, "mem_node-fast"));
	assert_non_null(hy_hal_placement(hal, "mem_node-own"));
}

static const struct CMUnitTest hal_memory_tests[] = {
	HAL_TEST(every_allocation_of_create_can_fail),
	HAL_TEST(every_allocation_of_rules_can_fail_and_is_told),
	HAL_TEST(a_declaration_that_finds_no_memory_changes_nothing),
	HAL_TEST(every_allocation_of_select_can_fail_and_selections_stand),
	HAL_TEST(every_allocation_of_a_node_can_fail),
	/* Last: it declares without the fixture's account of what stays. */
	cmocka_unit_test(every_allocation_of_registration_can_fail),
};

UNIT_SUITE(hal_memory_tests)
