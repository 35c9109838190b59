/* SPDX-License-Identifier: BSD-3-Clause */
/* Families and variants of a plugin: they come, take part in selections, and go. */

#include <errno.h>
#include <limits.h>
#include <string.h>

#include <hy_plugin.h>

#include "app/test/unit_plugin.h"
#include "hal_fixture.h"

/* A HAL without what it selected before. */
static void
hal_renew(void)
{
	hy_hal_destroy(hal);
	hal = NULL;
	assert_int_equal(hy_hal_create(&hal), 0);
}

static void
a_plugins_families_and_variants_are_selected_and_go_with_it(void **state)
{
	char path[PATH_MAX], words[HY_PLUGIN_ERROR_SIZE];
	struct hy_plugin *plugin = NULL;
	unsigned int nb_before;
	hy_node_id id;

	RTE_SET_USED(state);
	family_add("plugged", HY_TARGET_PROCESS, 10);
	select_all();
	assert_string_equal(chosen("plugged", 0), "plain");
	nb_before = hy_hal_selection(hal, "plugged", 0)->nb_candidates;
	assert_int_equal(nb_before, 1);

	strcpy(path, unit_plugin("hy-test-plugin.so", "plugin.so"));
	if (hy_plugin_load(path, &plugin, words) != 0)
		fail_msg("%s", words);
	select_all();
	assert_string_equal(chosen("plugged", 0), "foreign");
	assert_string_equal(chosen("plugin_family", 0), "early");
	assert_fate("plugin_family", 0, "reference", HY_FATE_OUTSCORED, 10, "early scores 20");
	assert_int_equal(hy_hal_node(hal, "plugged", 0, &id), 0);
	assert_non_null(strstr(printed(hy_hal_explain),
		"    foreign    chosen      score  30  best score of what fits [pack out-of-tree]\n"));

	/* The node runs it, and selections point at it: the HAL goes first. */
	assert_int_equal(hy_plugin_unload(plugin, words), -EBUSY);
	hy_hal_destroy(hal);
	hal = NULL;
	if (hy_plugin_unload(plugin, words) != 0)
		fail_msg("%s", words);

	hal_renew();
	select_all();
	assert_string_equal(chosen("plugged", 0), "plain");
	assert_int_equal(hy_hal_selection(hal, "plugged", 0)->nb_candidates, nb_before);
	assert_null(hy_hal_selection(hal, "plugin_family", 0));
	assert_int_equal(hy_node_lookup("plugin_family", NULL), -ENOENT);
	assert_int_equal(hy_hal_force(hal, "plugged=foreign", error), -EINVAL);
}

static void
a_bad_plugin_leaves_no_variant(void **state)
{
	char path[PATH_MAX], words[HY_PLUGIN_ERROR_SIZE];

	RTE_SET_USED(state);
	if (hy_hal_selection(hal, "plugged", 0) == NULL)
		family_try(&(const struct hy_family){ .target = HY_TARGET_PROCESS,
			.score = 10,
			.node = { .name = "plugged", .impl.variant = "plain" } });
	strcpy(path, unit_plugin("hy-test-plugin-bad.so", "bad.so"));
	assert_int_equal(hy_plugin_load(path, NULL, words), -EINVAL);
	assert_non_null(strstr(words, "registration of 'bad node' failed"));
	select_all();
	assert_string_equal(chosen("plugged", 0), "plain");
	assert_null(hy_hal_selection(hal, "plugin_family", 0));
}

/* Loaded while a HAL exists, offered by it, and gone without a trace. */
static void
a_plugins_fusion_is_offered_and_goes_with_it(void **state)
{
	char path[PATH_MAX], words[HY_PLUGIN_ERROR_SIZE];
	struct hy_plugin *plugin = NULL;

	RTE_SET_USED(state);
	if (hy_variant_find("plugged", "plain") == NULL)
		family_add("plugged", HY_TARGET_PROCESS, 10);
	strcpy(path, unit_plugin("hy-test-plugin.so", "plugin.so"));
	if (hy_plugin_load(path, &plugin, words) != 0)
		fail_msg("%s", words);
	assert_non_null(hy_fusion_find("plugin_fusion-early"));
	/* Before and after a selection offers it, the HAL is what has to go. */
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(hy_plugin_unload(plugin, words), -EBUSY);
		if (strstr(words, "and a HAL exists; destroy that first") == NULL)
			fail_msg("%s", words);
		select_all();
	}
	assert_non_null(strstr(printed(hy_hal_explain),
		"\n    early      chosen                 where nothing stands between its nodes\n"));
	hy_hal_destroy(hal);
	hal = NULL;
	if (hy_plugin_unload(plugin, words) != 0)
		fail_msg("%s", words);
	assert_null(hy_fusion_find("plugin_fusion-early"));
	hal_renew();
	select_all();
	assert_null(strstr(printed(hy_hal_explain), "plugin_fusion"));
	assert_int_equal(hy_hal_deny(hal, "plugin_fusion", error), -EINVAL);
}

static const struct CMUnitTest tests[] = {
	HAL_TEST(a_plugins_families_and_variants_are_selected_and_go_with_it),
	HAL_TEST(a_bad_plugin_leaves_no_variant),
	HAL_TEST(a_plugins_fusion_is_offered_and_goes_with_it),
};

UNIT_SUITE(tests)
