/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random graphs that change at random while they are walked: see graph_machine.h.
 *
 * HALYARD_SEEDS=n runs the seeds from 1 to n instead of the usual ones, HALYARD_SEED=s only one: a
 * failure names it.
 */

#include <stdlib.h>

#include "graph_fixture.h"
#include "graph_machine.h"
#include "lib/graph/walk/enqueue.h"

#define SEEDS 300

static void
one_seed(uint64_t seed, unsigned int nb_nodes, unsigned int nb_sources, unsigned int steps,
	bool bare)
{
	const struct machine_setup setup = { .nb_nodes = nb_nodes,
		.nb_sources = nb_sources,
		.bare = bare,
		.seed = seed * UINT64_C(0x2545f4914f6cdd1d) };

	unit_log_clear();
	machine_start(&setup);
	machine_register_all(seed % 4 == 2);
	for (unsigned int i = 0; i < 3; i++)
		machine_create_some(0);
	for (unsigned int i = 0; i < steps && machine_fault() == NULL; i++) {
		unit_log_clear();
		machine_step();
	}
	if (machine_fault() == NULL)
		machine_stop();
	if (machine_fault() != NULL)
		fail_msg("seed %ju, %u nodes: %s; the log says: %s", (uintmax_t)seed, nb_nodes,
			machine_fault(), unit_log());
}

static uint64_t
number(const char *variable)
{
	const char *text = getenv(variable);

	return text == NULL ? 0 : strtoull(text, NULL, 0);
}

static void
random_changes_do_what_a_model_says(void **state)
{
	const uint64_t only = number("HALYARD_SEED"), more = number("HALYARD_SEEDS");
	const uint64_t seeds = more > 0 ? more : SEEDS;
	const struct machine_counts *c = &machine_counts;

	RTE_SET_USED(state);
	for (uint64_t seed = only > 0 ? only : 1; seed <= (only > 0 ? only : seeds); seed++) {
		const unsigned int nb_nodes = seed % 2 == 0 ? 200 : 6 + 2 * (seed * 7 % 40);

		one_seed(seed, nb_nodes, 1 + (unsigned int)seed * 3 % RTE_MIN(8u, nb_nodes / 4),
			120, false);
	}
	print_message(
		"# %ju seeds: %ju steps, %ju walks (%ju cyclic), %ju graphs, "
		"%ju updates (%ju replaced, %ju taken up too early for that), refused %ju + %ju + "
		"%ju\n",
		(uintmax_t)c->runs, (uintmax_t)c->steps, (uintmax_t)c->walks, (uintmax_t)c->cyclic,
		(uintmax_t)c->creates, (uintmax_t)c->updates, (uintmax_t)c->replaced,
		(uintmax_t)c->woken, (uintmax_t)c->refused, (uintmax_t)c->starved,
		(uintmax_t)c->failed_inits);
	print_message("# %ju objects, %ju arrivals, %ju replicas, released %ju, carried %ju, "
		      "removed %ju, overflown %ju; %ju counters; bursts %u to %u, "
		      "%u nodes, %u sources\n",
		(uintmax_t)c->objs, (uintmax_t)c->arrivals, (uintmax_t)c->replicas,
		(uintmax_t)c->released, (uintmax_t)c->carried, (uintmax_t)c->removed,
		(uintmax_t)c->overflown, (uintmax_t)c->counters, c->least_burst, c->most_burst,
		c->most_nodes, c->most_sources);
	if (only > 0 || seeds < SEEDS)
		return;
	assert_true(c->steps >= 120 * seeds);
	assert_true(c->walks > 30 * seeds && c->cyclic > 10 * seeds);
	assert_true(c->updates > 4 * seeds && c->replaced > seeds / 2);
	assert_true(c->woken > seeds / 10);
	assert_true(c->refused > 0 && c->starved > seeds / 2 && c->failed_inits > seeds / 10);
	assert_true(c->objs > 5000 * seeds && c->arrivals > 10000 * seeds);
	assert_true(c->replicas > 100 * seeds && c->carried > seeds && c->removed > seeds);
	assert_true(c->counters > 1000 * seeds);
	assert_true(c->wide > 10 * seeds && c->walks - c->wide > 5 * seeds);
	assert_true(c->wide_values > 50 * seeds);
	assert_true(c->not_brought > 50 * seeds);
	for (unsigned int b = 0; b < hy_scatter_nb_bodies; b++)
		if (hy_scatter_bodies[b].cpu_can())
			assert_true(c->by_body[b] > 10 * seeds);
	assert_int_equal(c->least_burst, 1);
	assert_int_equal(c->most_burst, HY_BURST_MAX);
	assert_in_range(c->most_nodes, 198, MACHINE_NODES);
	assert_in_range(c->most_sources, 8, 16);
}

/* Graphs of few nodes and few sources, in which chains are more frequent. */
static void
random_fusions_do_what_a_model_says(void **state)
{
	const uint64_t only = number("HALYARD_SEED"), more = number("HALYARD_SEEDS");
	const uint64_t seeds = more > 0 ? more : SEEDS;
	const struct machine_counts *c = &machine_counts;
	const uint64_t walks = c->walks, arrivals = c->arrivals;

	RTE_SET_USED(state);
	for (uint64_t seed = only > 0 ? only : 1; seed <= (only > 0 ? only : seeds); seed++)
		one_seed(seed, 8 + 2 * (unsigned int)(seed * 7 % 20), 1 + seed % 2, 150, true);
	print_message("# %ju seeds: %ju offers, %ju walks, %ju arrivals, %ju objects fused in %ju "
		      "whole bursts and %ju parts; %ju parts of bursts for two chains\n",
		(uintmax_t)seeds, (uintmax_t)c->offers, (uintmax_t)(c->walks - walks),
		(uintmax_t)(c->arrivals - arrivals), (uintmax_t)c->fused_objs,
		(uintmax_t)c->fused_whole, (uintmax_t)c->fused_part, (uintmax_t)c->fused_picked);
	if (only > 0 || seeds < SEEDS)
		return;
	assert_true(c->offers > 10 * seeds && c->walks - walks > 30 * seeds);
	assert_true(c->fused_objs > 10 * seeds && c->fused_whole > seeds && c->fused_part > seeds);
	assert_true(c->fused_picked > seeds);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(random_changes_do_what_a_model_says),
	GRAPH_TEST(random_fusions_do_what_a_model_says),
};

UNIT_SUITE(tests)
