/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * That each outcome of each family is reached by its suite, and that a variant which gets that
 * outcome wrong, and nothing else, is found: of each family a variant that does as the reference
 * does, but takes one edge or drop for another.
 */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_ethdev.h>

#include <hy_node.h>

#include "app/test/unit.h"
#include "drivers/nodes/generic/ethdev/ethdev_rx.h"
#include "hal/conform/conform.h"

/* What is exchanged: places in node->edges; the same one twice: nothing. Or the last is forgotten. */
static int exchanged[2];
static bool forgets;
static const struct hy_family *family;

/* Of ethdev_rx, the one source with a single outcome. */
static uint16_t
receives_and_forgets(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct ethdev_rx_ctx *ctx = node->ctx;

	n = rte_eth_rx_burst(ctx->rx.port, ctx->rx.queue, (struct rte_mbuf **)objs, n);
	hy_stream_move(graph, node, 0, (uint16_t)(n - (n > 0)));
	return n;
}

static uint16_t
mutant_process(const char *name, struct hy_graph *graph, struct hy_node *node, void **objs,
	uint16_t n)
{
	const struct hy_family *of = hy_family_find(name);
	hy_node_process_t *const process = of->node.impl.process;
	struct hy_edge *const a = &node->edges[exchanged[0]], *const b = &node->edges[exchanged[1]];
	uint16_t did;

	if (forgets && (of->node.flags & HY_NODE_SOURCE) != 0)
		return receives_and_forgets(graph, node, objs, n);
	if (forgets && n > 0)
		return (uint16_t)(process(graph, node, objs, (uint16_t)(n - 1)) + 1);
	RTE_SWAP(*a, *b);
	did = process(graph, node, objs, n);
	RTE_SWAP(*a, *b);
	return did;
}

#define MUTANT(family_) \
	static uint16_t family_##_mutant(struct hy_graph *graph, struct hy_node *node, \
		void **objs, uint16_t n) \
	{ \
		return mutant_process(#family_, graph, node, objs, n); \
	} \
	HY_NODE_VARIANT(family_, mutant, .text = "For tests", \
		.impl.process = family_##_mutant)

MUTANT(ethdev_rx);
MUTANT(ethdev_tx);
MUTANT(event_rx);
MUTANT(flow_cls);
MUTANT(flow_lookup);
MUTANT(flow_reinject);
MUTANT(ip4_lookup);
MUTANT(ip4_rewrite);
MUTANT(ip4_steer);
MUTANT(ip6_lookup);
MUTANT(ip6_rewrite);
MUTANT(l2_input);
MUTANT(l2_learn);
MUTANT(l2_lookup);
MUTANT(l2_output);
MUTANT(l2_patch);
MUTANT(null);
MUTANT(pkt_cls);
MUTANT(pkt_drop);
MUTANT(vlan_input);
MUTANT(vlan_pop);
MUTANT(vlan_push);

static struct hy_hal *hal;

static int
outcomes_setup(void **state)
{
	RTE_SET_USED(state);
	unit_log_clear();
	forgets = false;
	exchanged[0] = exchanged[1] = 0;
	return hy_hal_create(&hal);
}

static int
outcomes_teardown(void **state)
{
	RTE_SET_USED(state);
	hy_hal_destroy(hal);
	return 0;
}

/* The place of an outcome in node->edges; INT_MAX: it is none there. */
static int
place_of(const char *outcome)
{
	unsigned int e;

	if (sscanf(outcome, "edge %u", &e) == 1)
		return (int)e;
	if (strncmp(outcome, "drop ", 5) != 0)
		return INT_MAX;
	for (int d = 0; d < HY_DESC_DROPS && family->node.drops[d].name != NULL; d++)
		if (strcmp(family->node.drops[d].name, outcome + 5) == 0)
			return (int16_t)HY_DROP(d);
	return INT_MAX;
}

static int
run(struct hy_conform_result *result)
{
	return hy_conform_run(hal, family->node.name, "mutant",
		&(struct hy_conform_params){ .seed = 5 }, result);
}

/* Another outcome than number i that has a place, to be taken for it; INT_MAX: there is none. */
static int
place_beside(const struct hy_conform_result *result, uint32_t i)
{
	for (uint32_t k = 1; k < result->nb_counts; k++) {
		const int place = place_of(result->counts[(i + k) % result->nb_counts].outcome);

		if (place != INT_MAX)
			return place;
	}
	return INT_MAX;
}

/* Returns how many outcomes of the family were got wrong, each of them found. */
static unsigned int
each_outcome_is_got_wrong(void)
{
	struct hy_conform_result right, wrong;
	unsigned int found = 0;

	exchanged[0] = exchanged[1] = 0;
	forgets = false;
	if (run(&right) != 0)
		fail_msg("%s/mutant, which is none yet: %s", family->node.name, right.text);
	assert_true(right.nb_counts > 0);
	for (uint32_t i = 0; i < right.nb_counts; i++) {
		const struct hy_conform_count *c = &right.counts[i];

		if (c->excuse != NULL) {
			assert_int_equal(c->packets, 0);
			continue;
		}
		assert_true(c->packets > 0);
		exchanged[0] = place_of(c->outcome);
		exchanged[1] = place_beside(&right, i);
		forgets = exchanged[0] == INT_MAX || exchanged[1] == INT_MAX;
		if (forgets)
			exchanged[0] = exchanged[1] = 0;
		if (run(&wrong) != -EILSEQ)
			fail_msg("%s: '%s' got wrong is not found: \"%s\"", family->node.name,
				c->outcome, wrong.text);
		assert_string_not_equal(wrong.text, "");
		found++;
	}
	return found;
}

static void
each_outcome_of_each_family_got_wrong_is_found(void **state)
{
	const struct hy_family *const *families;
	const unsigned int n = hy_families(&families);
	unsigned int tried = 0, outcomes = 0;

	RTE_SET_USED(state);
	for (unsigned int f = 0; f < n; f++) {
		unsigned int found;

		family = families[f];
		if (hy_suite_find(family->node.name) == NULL)
			fail_msg("family %s has no suite", family->node.name);
		found = each_outcome_is_got_wrong();
		print_message("%s: %u outcomes got wrong, and found\n", family->node.name, found);
		outcomes += found;
		tried++;
	}
	assert_int_equal(tried, 22);
	assert_int_equal(outcomes, 90);
}

static void
outcome_that_never_occurs_fails_the_suite(void **state)
{
	static const struct hy_suite suite = { .family = "some",
		.excused = { { "drop never", "it cannot" } } };
	static const struct hy_suite stale = { .family = "some",
		.excused = { { "drop gone", "it could not" } } };
	struct hy_conform_result result = { .cases = HY_CONFORM_CASES,
		.nb_counts = 2,
		.counts = { { "edge 0 (next)", 7, NULL }, { "drop never", 0, "it cannot" } } };

	RTE_SET_USED(state);
	assert_int_equal(conform_outcomes_check(&suite, &result), 0);
	assert_string_equal(result.text, "");
	assert_int_equal(conform_outcomes_check(&stale, &result), -ENODATA);
	assert_string_equal(result.text,
		"the suite of some excuses 'drop gone', which is not an outcome");
	result.counts[1].packets = 1;
	assert_int_equal(conform_outcomes_check(&suite, &result), -ENODATA);
	assert_string_equal(result.text,
		"the suite of some excuses outcome 'drop never', which occurs");
	result.counts[1] = (struct hy_conform_count){ "drop never", 0, NULL };
	assert_int_equal(conform_outcomes_check(&suite, &result), -ENODATA);
	assert_string_equal(result.text,
		"the suite of some does not reach outcome 'drop never', which is therefore not "
		"tested");
	assert_int_equal(result.outcome, HY_CONFORM_FAILED);
	/* Of a run too short to say so, nothing is said. */
	result.cases = HY_CONFORM_CASES - 1;
	assert_int_equal(conform_outcomes_check(&suite, &result), 0);
}

static const char *
all_but_one(void *reference, void *variant)
{
	return reference == variant ? NULL : "a frame of gold";
}

static void
what_a_set_up_never_has_fails_long_runs_only(void **state)
{
	static const struct hy_suite suite = { .family = "some", .unreached = all_but_one };
	struct hy_conform_result result = { 0 };
	struct conform_trial *trial = calloc(1, sizeof(*trial));

	RTE_SET_USED(state);
	assert_non_null(trial);
	*trial = (struct conform_trial){ .result = &result, .setup = 3, .ref.suite = &suite };
	assert_int_equal(conform_reached_check(trial), 0);
	trial->cand.state = &result;
	assert_int_equal(conform_reached_check(trial), -ENODATA);
	assert_int_equal(result.outcome, HY_CONFORM_FAILED);
	assert_string_equal(result.text,
		"the suite of some, set-up 3: a frame of gold did not occur, and is therefore not "
		"tested");
	trial->brief = true;
	assert_int_equal(conform_reached_check(trial), 0);
	free(trial);
}

/* Whatever their length and their packets. */
static void
short_runs_do_not_fail_for_what_is_rare(void **state)
{
	static const uint32_t lengths[] = { 1, 30, 200 };
	const struct hy_family *const *families;
	const unsigned int n = hy_families(&families);
	unsigned int runs = 0;

	RTE_SET_USED(state);
	for (unsigned int f = 0; f < n * RTE_DIM(lengths); f++, runs++) {
		const struct hy_family *one = families[f / RTE_DIM(lengths)];
		struct hy_conform_result result;
		struct hy_conform_params params = { .seed = f + 1,
			.cases = lengths[f % RTE_DIM(lengths)] };

		if (hy_conform_run(hal, one->node.name, one->node.impl.variant, &params, &result) !=
			0)
			fail_msg("%s, %u bursts: %s", one->node.name, params.cases, result.text);
	}
	assert_int_equal(runs, 22 * RTE_DIM(lengths));
}

static void
run_goes_on_until_it_has_packets_enough(void **state)
{
	struct hy_conform_result result;

	RTE_SET_USED(state);
	assert_int_equal(hy_conform_run(hal, "ip4_lookup", "scalar",
				 &(struct hy_conform_params){
					 .seed = 1, .cases = 10, .packets = 60000 },
				 &result),
		0);
	assert_in_range(result.frames, 60000, 60000 + 2 * HY_BURST_MAX);
	assert_true(result.cases > 300 && result.changes > 2);
	assert_int_equal(result.nb_counts, 2);
	assert_string_equal(result.counts[0].outcome, "edge 0 (ip4_rewrite)");
	assert_string_equal(result.counts[1].outcome, "drop no_route");
	assert_int_equal(result.counts[0].packets + result.counts[1].packets, result.frames);
}

#define OUTCOMES_TEST(f) cmocka_unit_test_setup_teardown(f, outcomes_setup, outcomes_teardown)

static const struct CMUnitTest conform_outcome_tests[] = {
	OUTCOMES_TEST(each_outcome_of_each_family_got_wrong_is_found),
	OUTCOMES_TEST(outcome_that_never_occurs_fails_the_suite),
	OUTCOMES_TEST(what_a_set_up_never_has_fails_long_runs_only),
	OUTCOMES_TEST(short_runs_do_not_fail_for_what_is_rare),
	OUTCOMES_TEST(run_goes_on_until_it_has_packets_enough),
};

UNIT_SUITE(conform_outcome_tests)
