/* SPDX-License-Identifier: BSD-3-Clause */
/* The walk benchmark's own parts: it must notice a contender that does not do the work. */

#include <stdlib.h>

#include "app/bench/walk.h"

#include "app/test/unit.h"

static struct topology topology;
static struct walked walked;

/* Walks a mix without a graph. In the last walk object `odd` goes to sink + by, if that is one. */
static void
walk_mix(unsigned int walks, unsigned int odd, unsigned int by)
{
	const struct topo_node *spread = &topology.nodes[1];
	const struct walk_ctx source = { &topology, &walked.nodes[0] };

	walked_init(&walked, &topology);
	for (unsigned int w = 0; w < walks; w++) {
		void *objs[WALK_BURST_MAX];

		make_objects(&source, objs, topology.burst);
		for (unsigned int i = 0; i < topology.burst; i++) {
			unsigned int e = edge_of(objs[i]);

			if (w + 1 == walks && i == odd)
				e += by;
			if (e < spread->nb_edges)
				see_objects(&walked.nodes[spread->edges[e]], &objs[i], 1);
		}
	}
	walked.walks = walks;
}

static void
right_contender_is_right(void **state)
{
	static const unsigned int bursts[] = { 1, 8, 100, 256 };
	static const unsigned int walks[] = { 0, 1, 255, 256, 257, 1000 };
	unsigned int checked = 0;

	RTE_SET_USED(state);
	for (unsigned int b = 0; b < RTE_DIM(bursts); b++) {
		topo_mix(&topology, "mix", bursts[b], 4, 25);
		for (unsigned int w = 0; w < RTE_DIM(walks); w++, checked++) {
			walk_mix(walks[w], 0, 0);
			assert_true(walk_check(&walked));
		}
	}
	assert_int_equal(checked, 24);
}

static void
lost_object_is_noticed(void **state)
{
	RTE_SET_USED(state);
	topo_mix(&topology, "mix", 64, 4, 25);
	walk_mix(2000, 63, 4);
	assert_false(walk_check(&walked));
}

static void
object_at_the_wrong_sink_is_noticed(void **state)
{
	unsigned int odd = 0;

	RTE_SET_USED(state);
	topo_mix(&topology, "mix", 64, 2, 50);
	while (edge_of(topology.objects[odd]) != 0)
		odd++;
	assert_true(odd < 64);
	walk_mix(1, odd, 1);
	assert_false(walk_check(&walked));
}

static void
object_seen_instead_of_another_is_noticed(void **state)
{
	RTE_SET_USED(state);
	topo_mix(&topology, "mix", 64, 4, 25);
	walk_mix(10, 0, 0);
	assert_true(walk_check(&walked));
	walked.nodes[2].sum += 1 << 16; /* as many, but not the same */
	assert_false(walk_check(&walked));
}

static void
total_of_a_split_is_checked(void **state)
{
	void *plain;
	struct walked *w;

	RTE_SET_USED(state);
	topo_halves(&topology, "halves", 64);
	plain = walk_plain_create(&topology);
	assert_non_null(plain);
	assert_int_equal(walk_plain_run(plain), 64 * WALKS);
	assert_true(walk_check(plain));
	w = plain;
	for (unsigned int i = 0; i < topology.nb_nodes; i++)
		w->nodes[i].sum += topology.nodes[i].role == SINK;
	assert_false(walk_check(plain));
	free(plain);
}

static void
run_at_the_wrong_sink_is_noticed(void **state)
{
	struct walked *plain;
	struct walk_node sink;

	RTE_SET_USED(state);
	topo_batches(&topology, "batches", 64, 4);
	topology.move = MOVE_COPY;
	topology.group = 3; /* a run of 16 is no multiple of it */
	topology.plain_moves = 1;
	plain = walk_plain_create(&topology);
	assert_non_null(plain);
	plain->totals = false;
	assert_int_equal(walk_plain_run(plain), 64 * WALKS);
	assert_true(walk_check(plain));
	sink = plain->nodes[2];
	plain->nodes[2] = plain->nodes[3];
	plain->nodes[3] = sink;
	assert_false(walk_check(plain));
	free(plain);
}

static void
objects_are_made_in_turn_and_summed(void **state)
{
	unsigned int next = 0;

	RTE_SET_USED(state);
	topo_chain(&topology, "chain", 1, 256);
	walked_init(&walked, &topology);
	for (unsigned int n = 0; n <= WALK_BURST_MAX; n++) {
		const struct walk_ctx source = { &topology, &walked.nodes[0] };
		struct walk_node sink = { .count = 0 };
		void *objs[WALK_BURST_MAX];
		uint64_t sum = 0;

		make_objects(&source, objs, n);
		for (unsigned int i = 0; i < n; i++) {
			assert_ptr_equal(objs[i], topology.objects[next]);
			sum += (uintptr_t)objs[i];
			next = (next + 1) % topology.nb_objects;
		}
		see_objects(&sink, objs, n);
		assert_int_equal(sink.count, n);
		assert_int_equal(sink.sum, sum);
	}
	assert_int_equal(next, 256 * 257 / 2 % topology.nb_objects);
}

static void
upstream_topologies_are_upstreams(void **state)
{
	static const struct {
		const char *name;
		unsigned int nodes, edges, made;
	} want[] = {
		{ "home_run_256", 6, 5, 256 },
		{ "home_run_1", 6, 5, 1 },
		{ "home_run_2_sources", 7, 6, 512 },
		{ "home_run_2_sinks", 7, 6, 256 },
		{ "tree", 15, 1 + 2 + 6 + 12 + 4, 256 },
		{ "reverse_tree", 11, 4 + 12 + 6 + 2, 256 },
		{ "parallel_tree", 28, 24, 1024 },
	};

	RTE_SET_USED(state);
	for (unsigned int i = 0; i < RTE_DIM(want); i++) {
		unsigned int edges = 0;

		assert_true(topo_upstream(&topology, i));
		assert_string_equal(topology.name, want[i].name);
		assert_int_equal(topology.nb_nodes, want[i].nodes);
		for (unsigned int n = 0; n < topology.nb_nodes; n++) {
			const struct topo_node *node = &topology.nodes[n];
			unsigned int percent = 0;

			for (unsigned int e = 0; e < node->nb_edges; e++, edges++) {
				assert_true(node->edges[e] > n);
				percent += node->percent[e];
			}
			assert_int_equal(percent, node->role == SINK ? 0 : 100);
		}
		assert_int_equal(edges, want[i].edges);
		assert_int_equal(topo_made(&topology), want[i].made);
	}
	assert_false(topo_upstream(&topology, RTE_DIM(want)));
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(right_contender_is_right),
	cmocka_unit_test(lost_object_is_noticed),
	cmocka_unit_test(object_at_the_wrong_sink_is_noticed),
	cmocka_unit_test(object_seen_instead_of_another_is_noticed),
	cmocka_unit_test(total_of_a_split_is_checked),
	cmocka_unit_test(run_at_the_wrong_sink_is_noticed),
	cmocka_unit_test(objects_are_made_in_turn_and_summed),
	cmocka_unit_test(upstream_topologies_are_upstreams),
};
UNIT_SUITE(tests)
