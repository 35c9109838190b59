/* SPDX-License-Identifier: BSD-3-Clause */
/* Fusions of variants: when graphs are offered one, what the user says of them, and explanations. */

#include <errno.h>
#include <string.h>

#include <hy_hal_live.h>

#include "hal/internal/hal.h"
#include "hal_fixture.h"

#define MADE 8 /* objects a walk */

static uint64_t made, ended, fused;

static uint16_t
source(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	static int object;

	n = RTE_MIN(n, (uint16_t)MADE);
	for (uint16_t i = 0; i < n; i++)
		objs[i] = &object;
	made += n;
	hy_stream_move(graph, node, 0, n);
	return n;
}

static uint16_t
pass(struct hy_graph *graph, struct hy_node *node, void **objs __rte_unused, uint16_t n)
{
	hy_stream_move(graph, node, 0, n);
	return n;
}

static uint16_t
pass_fast(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return pass(graph, node, objs, n);
}

static uint16_t
last_fast(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return pass(graph, node, objs, n);
}

static uint16_t
sink(struct hy_graph *graph, struct hy_node *node __rte_unused, void **objs, uint16_t n)
{
	ended += n;
	hy_release(graph, objs, n);
	return n;
}

static uint16_t
run(struct hy_graph *graph __rte_unused, struct hy_node *const nodes[] __rte_unused,
	void **objs __rte_unused, uint16_t n, uint16_t next[])
{
	memset(next, 0, n * sizeof(*next));
	fused += n;
	return n;
}

static void
release(void **objs __rte_unused, unsigned int n __rte_unused)
{
}

static const struct hy_object_ops ops = { .release = release };

#define CHAIN(first_, last_) .chain = { { "fus_first", first_ }, { "fus_last", last_ } }
#define FUSION(variant_, ...) \
	{ \
		.name = "fus", .variant = (variant_), .fuse = "fus-" variant_, .pack = "test", \
		.run = run, __VA_ARGS__ \
	}

static const struct hy_fusion fast = FUSION("fast", .text = "Is fast", CHAIN("fast", "fast"));
static const struct hy_fusion plain = FUSION("plain", CHAIN("plain", "plain"));
static const struct hy_fusion lost = FUSION("lost", CHAIN("fast", "missing"));

static const struct hy_node_desc nodes[] = {
	{ .name = "fus_src",
		.impl.process = source,
		.flags = HY_NODE_SOURCE,
		.edges = { "fus_first" } },
	{ .name = "fus_sink", .impl.process = sink },
};

/* The families and fusions of all tests here, once. */
static void
declare(void)
{
	static bool declared;

	made = ended = fused = 0;
	if (declared)
		return;
	declared = true;
	assert_int_equal(family_try(&(const struct hy_family){ .score = 10,
				 .node = { .name = "fus_first",
					 .impl = { .variant = "plain", .process = pass },
					 .edges = { "fus_last" } } }),
		0);
	assert_int_equal(family_try(&(const struct hy_family){ .score = 10,
				 .node = { .name = "fus_last",
					 .impl = { .variant = "plain", .process = pass },
					 .edges = { "fus_sink" } } }),
		0);
	VARIANT("fus_first", "fast", .impl.process = pass_fast, .score = 20);
	VARIANT("fus_last", "fast", .impl.process = last_fast, .score = 20);
	assert_int_equal(hy_fusion_register(&fast), 0);
	assert_int_equal(hy_fusion_register(&plain), 0);
	assert_int_equal(hy_fusion_register(&lost), 0);
}

static const char *const patterns[] = { "fus_src" };
static const struct hy_graph_params params = {
	.patterns = patterns, .nb_patterns = 1, .ops = &ops, .socket = SOCKET_ID_ANY
};

static struct hy_graph *
graph_make(void)
{
	struct hy_graph *graph;
	hy_node_id id;

	for (unsigned int i = 0; i < RTE_DIM(nodes); i++)
		assert_int_equal(hy_node_register(&nodes[i], NULL), 0);
	select_all();
	assert_int_equal(hy_hal_node(hal, "fus_first", 0, &id), 0);
	assert_int_equal(hy_hal_node(hal, "fus_last", 0, &id), 0);
	assert_int_equal(hy_graph_create("fus", &params, &graph), 0);
	return graph;
}

static void
graph_end(struct hy_graph *graph)
{
	hy_node_id id;

	hy_graph_destroy(graph);
	for (unsigned int i = 0; i < RTE_DIM(nodes); i++) {
		assert_int_equal(hy_node_lookup(nodes[i].name, &id), 0);
		assert_int_equal(hy_node_unregister(id), 0);
	}
}

/* Fails the test unless the graph is fused by that name, or, for NULL, is not; walks it. */
static void
assert_fused(struct hy_graph *graph, const char *name)
{
	const uint64_t before = fused;
	struct hy_node *node;
	const char *found;

	hy_graph_walk(graph); /* takes up a change */
	assert_int_equal(hy_graph_node(graph, "fus_first", &node), 0);
	found = hy_graph_node_fused(graph, node, 0);
	assert_int_equal(found == NULL, name == NULL);
	if (name != NULL)
		assert_string_equal(found, name);
	assert_int_equal(hy_graph_walk(graph), MADE);
	assert_int_equal(fused > before, name != NULL);
	assert_int_equal(ended, made);
}

static void
deny(const char *spec)
{
	if (hy_hal_deny(hal, spec, error) != 0)
		fail_msg("%s", error);
}

static void
chain_of_chosen_variants_is_fused(void **state)
{
	struct hy_graph *graph;

	RTE_SET_USED(state);
	declare();
	graph = graph_make();
	assert_fused(graph, "fus-fast");
	graph_end(graph);
	assert_ptr_equal(hy_fusion_find("fus-fast"), &fast);
	assert_null(hy_fusion_find("fus"));
}

static void
other_choice_is_fused_otherwise_or_not_at_all(void **state)
{
	struct hy_graph *graph;

	RTE_SET_USED(state);
	declare();
	deny("fus_last=fast");
	graph = graph_make();
	assert_fused(graph, NULL);
	deny("fus_first=fast");
	assert_int_equal(hy_hal_reselect(hal, &graph, 1, error), 0);
	assert_fused(graph, "fus-plain");
	graph_end(graph);
}

static void
denied_fusion_parts_the_chain_live(void **state)
{
	struct hy_graph *graph;

	RTE_SET_USED(state);
	declare();
	graph = graph_make();
	assert_fused(graph, "fus-fast");
	deny("fus");
	assert_fused(graph, "fus-fast"); /* until the next selection */
	assert_int_equal(hy_hal_reselect(hal, &graph, 1, error), 0);
	assert_true(hy_graph_updating(graph));
	assert_fused(graph, NULL);
	/* Nothing has changed. */
	assert_int_equal(hy_hal_reselect(hal, &graph, 1, error), 0);
	assert_false(hy_graph_updating(graph));
	graph_end(graph);
}

static void
graph_that_is_to_stay_apart_is_not_fused(void **state)
{
	struct hy_graph_params apart = params;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	declare();
	graph = graph_make();
	apart.apart = true;
	assert_int_equal(hy_graph_update(graph, &apart), 0);
	assert_fused(graph, NULL);
	assert_int_equal(hy_graph_update(graph, NULL), 0);
	assert_fused(graph, NULL);
	assert_int_equal(hy_graph_update(graph, &params), 0);
	assert_fused(graph, "fus-fast");
	graph_end(graph);
}

static void
one_fusion_is_denied_by_its_variant(void **state)
{
	struct hy_graph *graph;

	RTE_SET_USED(state);
	declare();
	deny("fus=plain");
	graph = graph_make();
	assert_fused(graph, "fus-fast");
	graph_end(graph);
	deny("fus=fast");
	graph = graph_make();
	assert_fused(graph, NULL);
	graph_end(graph);
}

static void
fusion_ends_with_its_hal(void **state)
{
	struct hy_graph *graph;

	RTE_SET_USED(state);
	declare();
	graph = graph_make();
	graph_end(graph);
	hy_hal_destroy(hal);
	assert_int_equal(hy_hal_create(&hal), 0);
	deny("fus");
	graph = graph_make();
	assert_fused(graph, NULL);
	graph_end(graph);
}

static void
what_is_said_wrongly_of_a_fusion_is_refused(void **state)
{
	RTE_SET_USED(state);
	declare();
	assert_int_equal(hy_hal_deny(hal, "fus=slow", error), -EINVAL);
	assert_string_equal(error,
		"'fus=slow': this fusion has no variant 'slow'; it has: fast, lost, plain");
	assert_int_equal(hy_hal_force(hal, "fus=fast", error), -EINVAL);
	assert_non_null(strstr(error, "'fus=fast': a fusion cannot be forced, only denied"));
}

/* ip4_forward and ip6_forward are what the program itself has. */
static void
denial_of_what_is_unknown_says_which_fusions_there_are(void **state)
{
	static const char *const unknown[] = { "fusion", "fusion=fast", "ip4_for", "fus@0=fast" };

	RTE_SET_USED(state);
	declare();
	for (unsigned int i = 0; i < RTE_DIM(unknown); i++) {
		assert_int_equal(hy_hal_deny(hal, unknown[i], error), -EINVAL);
		if (strstr(error, "; fusions that can be denied: fus, ip4_forward, ip6_forward") ==
			NULL)
			fail_msg("%s", error);
		assert_int_equal(hy_hal_force(hal, unknown[i], error), -EINVAL);
		assert_null(strstr(error, "ip4_forward"));
	}
	assert_int_equal(hy_hal_deny(hal, "fus_first=slow", error), -EINVAL);
	assert_null(strstr(error, "ip4_forward"));
}

/* "--deny NAME" could mean either. */
static void
fusion_and_family_of_one_name_are_refused_whichever_comes_first(void **state)
{
	static const struct hy_fusion shadow = { .name = "fus_first",
		.variant = "fast",
		.fuse = "fus_first-fast",
		.run = run,
		CHAIN("fast", "fast") };

	RTE_SET_USED(state);
	declare();
	unit_log_clear();
	assert_int_equal(hy_fusion_register(&shadow), -EEXIST);
	assert_non_null(strstr(unit_log(),
		"fusion 'fus_first-fast': 'fus_first' is the name of a family"));
	assert_null(hy_fusion_find("fus_first-fast"));
	unit_log_clear();
	assert_int_equal(family_try(&(const struct hy_family){ .score = 10,
				 .node = { .name = "fus",
					 .impl = { .variant = "plain", .process = pass } } }),
		-EEXIST);
	assert_non_null(strstr(unit_log(), "family 'fus': is the name of fusion 'fus-fast'"));
	assert_null(hy_family_find("fus"));
}

static void
explanations_say_what_became_of_each_fusion(void **state)
{
	const char *said;

	RTE_SET_USED(state);
	declare();
	select_all();
	said = printed(hy_hal_explain);
	assert_non_null(strstr(said, "\nfus fuses fus_first, fus_last\n"));
	assert_non_null(strstr(said,
		"\n    fast       chosen                 where nothing stands between its nodes\n"));
	assert_non_null(strstr(said,
		"\n    lost       needs_unmet            needs fus_last/missing, "
		"which was not chosen\n"));
	assert_non_null(strstr(said,
		"\n    plain      needs_unmet            needs fus_first/plain, "
		"which was not chosen\n"));
	deny("fus=fast");
	select_all();
	assert_non_null(strstr(printed(hy_hal_explain),
		"\n    fast       denied                 denied by the user\n"));
	said = printed(hy_hal_explain_json);
	assert_true(json_valid(said));
	assert_non_null(strstr(said,
		"{\"fusion\": \"fus\", \"variant\": \"fast\", \"pack\": \"test\", \"text\": \"Is fast\",\n"
		"     \"chain\": [\"fus_first/fast\", \"fus_last/fast\"], \"fate\": \"denied\", "
		"\"reason\": \"denied by the user\"}"));
}

static void
malformed_fusion_is_refused(void **state)
{
	static const struct hy_fusion wrong[] = {
		FUSION("bad name", CHAIN("fast", "fast")),
		FUSION("short", .chain = { { "fus_first", "fast" } }),
		FUSION("gap", .chain = { { "fus_first", "fast" }, [2] = { "fus_last", "fast" } }),
		FUSION("blank", CHAIN("fast", "")),
		{ .name = "fus", .variant = "idle", .fuse = "fus-idle", CHAIN("fast", "fast") },
	};

	RTE_SET_USED(state);
	declare();
	for (unsigned int i = 0; i < RTE_DIM(wrong); i++) {
		assert_int_equal(hy_fusion_register(&wrong[i]), -EINVAL);
		assert_null(hy_fusion_find(wrong[i].fuse));
	}
	assert_int_equal(hy_fusion_register(&fast), -EEXIST);
}

/* Neither does it deny some of them. */
static void
denial_that_finds_no_memory_denies_nothing(void **state)
{
	const char *said;

	RTE_SET_USED(state);
	declare();
	for (unsigned int nth = 1; nth <= 3; nth++) { /* one rule for each variant */
		strcpy(error, "untouched");
		unit_alloc_fail(nth);
		assert_int_equal(hy_hal_deny(hal, "fus", error), -ENOMEM);
		unit_alloc_fail(0);
		assert_string_equal(error, "'fus': out of memory");
		select_all();
		said = printed(hy_hal_explain);
		assert_null(strstr(said, "denied by the user"));
	}
}

static void
every_allocation_of_offers_can_fail(void **state)
{
	struct hy_graph *graph;
	unsigned int failed = 0;
	int rc;

	RTE_SET_USED(state);
	declare();
	for (;; failed++) {
		strcpy(error, "untouched");
		unit_alloc_fail(failed + 1);
		rc = hy_hal_select(hal, error);
		unit_alloc_fail(0);
		if (rc == 0)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_string_equal(error, "out of memory");
		assert_true(failed < 10000);
	}
	assert_true(failed >= 8);
	graph = graph_make();
	assert_fused(graph, "fus-fast");
	graph_end(graph);
}

static void
registration_that_finds_no_memory_changes_nothing(void **state)
{
	static const struct hy_fusion late = FUSION("late", CHAIN("late", "late"));

	RTE_SET_USED(state);
	declare();
	unit_alloc_fail(1);
	assert_int_equal(hy_fusion_register(&late), -ENOMEM);
	unit_alloc_fail(0);
	assert_null(hy_fusion_find("fus-late"));
	assert_ptr_equal(hy_fusion_find("fus-fast"), &fast);
}

/* The program's own stays; what the HAL then says names it. */
static void
name_that_the_program_has_offered_is_refused(void **state)
{
	const struct hy_fuse own = {
		.name = "fus-fast", .nb_nodes = 2, .process = { pass_fast, last_fast }, .run = run
	};
	struct hy_graph *graph;

	RTE_SET_USED(state);
	declare();
	assert_int_equal(hy_fuse_offer(&own), 0);
	strcpy(error, "untouched");
	assert_int_equal(hy_hal_select(hal, error), -EEXIST);
	assert_string_equal(error,
		"fusion 'fus-fast': the program offers one of that name (hy_fuse_offer())");
	assert_int_equal(hy_fuse_withdraw(&own), 0);
	graph = graph_make();
	assert_fused(graph, "fus-fast");
	graph_end(graph);
}

/* Like that of a variant, which stays chosen until then. */
static void
denial_is_explained_once_it_takes_effect(void **state)
{
	RTE_SET_USED(state);
	declare();
	select_all();
	deny("fus=fast");
	assert_non_null(strstr(printed(hy_hal_explain),
		"\n    fast       chosen                 where nothing stands between its nodes\n"));
	select_all();
	assert_non_null(strstr(printed(hy_hal_explain),
		"\n    fast       denied                 denied by the user\n"));
}

/* A later update of the graph finds what was offered before. */
static void
failed_reselection_leaves_fusions_as_they_are(void **state)
{
	struct hy_graph *graph;
	unsigned int failed = 0;
	int rc;

	RTE_SET_USED(state);
	declare();
	graph = graph_make();
	deny("fus");
	for (;; failed++) {
		unit_alloc_fail(failed + 1);
		rc = hy_hal_reselect(hal, &graph, 1, error);
		unit_alloc_fail(0);
		if (rc == 0)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_int_equal(hy_graph_update(graph, NULL), 0);
		assert_fused(graph, "fus-fast");
	}
	assert_true(failed >= 10);
	assert_fused(graph, NULL);
	graph_end(graph);
}

static const struct CMUnitTest hal_fusion_tests[] = {
	HAL_TEST(chain_of_chosen_variants_is_fused),
	HAL_TEST(other_choice_is_fused_otherwise_or_not_at_all),
	HAL_TEST(denied_fusion_parts_the_chain_live),
	HAL_TEST(graph_that_is_to_stay_apart_is_not_fused),
	HAL_TEST(one_fusion_is_denied_by_its_variant),
	HAL_TEST(fusion_ends_with_its_hal),
	HAL_TEST(what_is_said_wrongly_of_a_fusion_is_refused),
	HAL_TEST(denial_of_what_is_unknown_says_which_fusions_there_are),
	HAL_TEST(fusion_and_family_of_one_name_are_refused_whichever_comes_first),
	HAL_TEST(explanations_say_what_became_of_each_fusion),
	HAL_TEST(malformed_fusion_is_refused),
	HAL_TEST(denial_that_finds_no_memory_denies_nothing),
	HAL_TEST(every_allocation_of_offers_can_fail),
	HAL_TEST(registration_that_finds_no_memory_changes_nothing),
	HAL_TEST(name_that_the_program_has_offered_is_refused),
	HAL_TEST(denial_is_explained_once_it_takes_effect),
	HAL_TEST(failed_reselection_leaves_fusions_as_they_are),
};

UNIT_SUITE(hal_fusion_tests)
