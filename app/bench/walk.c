/* SPDX-License-Identifier: BSD-3-Clause */
/* Walks of our graph against librte_graph's, over the same topologies. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_common.h>

#include "bench.h"
#include "walk.h"

static unsigned int
add(struct topology *t, enum role role)
{
	t->nodes[t->nb_nodes].role = role;
	return t->nb_nodes++;
}

static void
join(struct topology *t, unsigned int from, unsigned int to)
{
	struct topo_node *node = &t->nodes[from];

	node->edges[node->nb_edges++] = to;
	if (node->nb_edges > 1)
		node->role = SPREAD;
}

static void
spread_at_random(struct topology *t, unsigned int edges, unsigned int first)
{
	for (unsigned int i = 0; i < OBJECTS; i++)
		t->spread[i] = bench_random() % 100 < first || edges == 1
			? 0
			: (uint8_t)(1 + bench_random() % (edges - 1));
}

static void
work(struct topology *t)
{
	struct walker *walkers[3] = { walk_rte_create(t, RTE_SPECULATE),
		walk_rte_create(t, RTE_ENQUEUE_NEXT), walk_ours_create(t, 16) };
	const struct contender contenders[] = {
		{ "rte_graph_x4", walkers[0], walk_rte_run, walk_rte_check },
		{ "rte_graph_next", walkers[1], walk_rte_run, walk_rte_check },
		{ "halyard", walkers[2], walk_ours_run, walk_ours_check },
	};

	if (walkers[0] == NULL || walkers[1] == NULL || walkers[2] == NULL) {
		fprintf(stderr, "hy-bench: %s: a graph could not be created\n", t->name);
		exit(EXIT_FAILURE);
	}
	bench_work(t->name, contenders, RTE_DIM(contenders));
	walk_rte_destroy(walkers[0]);
	walk_rte_destroy(walkers[1]);
	walk_ours_destroy(walkers[2]);
}

/* source → 4 nodes that pass all on → sink */
static void
chain(const char *name, unsigned int burst)
{
	struct topology t = { .name = name, .burst = burst };
	unsigned int last = add(&t, SOURCE);

	for (unsigned int i = 0; i < 5; i++) {
		const unsigned int node = add(&t, i < 4 ? PASS : SINK);

		join(&t, last, node);
		last = node;
	}
	work(&t);
}

/* source → one node → sinks, of 100 objects `first` to the first one */
static void
mix(const char *name, unsigned int burst, unsigned int edges, unsigned int first)
{
	struct topology t = { .name = name, .burst = burst };
	const unsigned int source = add(&t, SOURCE), node = add(&t, PASS);

	join(&t, source, node);
	for (unsigned int e = 0; e < edges; e++)
		join(&t, node, add(&t, SINK));
	spread_at_random(&t, edges, first);
	work(&t);
}

/* Layers of widths[]: every node of a layer leads to every one of the next. */
static void
layers(const char *name, const unsigned int widths[], unsigned int n)
{
	struct topology t = { .name = name, .burst = 256 };
	unsigned int edges = 1;

	for (unsigned int layer = 0, below = 0; layer < n; layer++) {
		const unsigned int first = t.nb_nodes;

		for (unsigned int i = 0; i < widths[layer]; i++)
			add(&t, layer == 0 ? SOURCE : layer + 1 == n ? SINK : PASS);
		for (unsigned int from = below; layer > 0 && from < first; from++)
			for (unsigned int to = first; to < t.nb_nodes; to++)
				if (layer > 1 || (from - below) % widths[layer] == to - first)
					join(&t, from, to);
		if (layer > 1)
			edges = RTE_MAX(edges, widths[layer]);
		below = first;
	}
	spread_at_random(&t, edges, 100 / edges);
	work(&t);
}

void
bench_walk(void)
{
	static const unsigned int tree[] = { 1, 1, 2, 4, 4 }, reverse[] = { 4, 4, 2, 1, 1 };
	static const unsigned int parallel[] = { 4, 4, 4, 4 };

	walk_objects_make();
	chain("home_run_256", 256);
	chain("home_run_64", 64);
	chain("home_run_32", 32);
	chain("single", 1);
	mix("mix2_256", 256, 2, 50);
	mix("mix2_90_10_256", 256, 2, 90);
	mix("mix2_99_1_256", 256, 2, 99);
	mix("mix4_256", 256, 4, 25);
	mix("mix8_256", 256, 8, 12);
	mix("mix16_256", 256, 16, 6);
	mix("mix2_32", 32, 2, 50);
	mix("mix4_32", 32, 4, 25);
	layers("tree", tree, RTE_DIM(tree));
	layers("reverse_tree", reverse, RTE_DIM(reverse));
	layers("parallel_tree", parallel, RTE_DIM(parallel));
}
