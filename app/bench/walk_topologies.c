/* SPDX-License-Identifier: BSD-3-Clause */
/* The topologies of the walk benchmark. */

#include <stdio.h>

#include <rte_common.h>

#include "walk.h"

static void
start(struct topology *t, const char *name, unsigned int burst)
{
	memset(t, 0, sizeof(*t));
	snprintf(t->name, sizeof(t->name), "%s", name);
	t->burst = burst;
}

static unsigned int
add(struct topology *t, enum role role)
{
	t->nodes[t->nb_nodes].role = role;
	return t->nb_nodes++;
}

static void
join(struct topology *t, unsigned int from, unsigned int to, unsigned int percent)
{
	struct topo_node *node = &t->nodes[from];

	node->percent[node->nb_edges] = percent;
	node->edges[node->nb_edges++] = to;
}

/* Makes objects: the edge of each in the low bits, and a random number above. */
static void
objects(struct topology *t, unsigned int edges, unsigned int first)
{
	t->nb_objects = edges > 1 ? OBJECTS_MANY : OBJECTS_FEW;
	for (unsigned int i = 0; i < t->nb_objects; i++) {
		const unsigned int edge = edges == 1 || bench_random() % 100 < first
			? 0
			: 1 + bench_random() % (edges - 1);

		t->objects[i] = (void *)(((uintptr_t)bench_random() << 16) | edge);
	}
	memcpy(&t->objects[t->nb_objects], t->objects, WALK_BURST_MAX * sizeof(t->objects[0]));
}

/* source → nodes that pass all on → sink */
void
topo_chain(struct topology *t, const char *name, unsigned int nodes, unsigned int burst)
{
	unsigned int last;

	start(t, name, burst);
	last = add(t, SOURCE);
	for (unsigned int i = 0; i <= nodes; i++) {
		const unsigned int node = add(t, i < nodes ? PASS : SINK);

		join(t, last, node, 100);
		last = node;
	}
	objects(t, 1, 100);
}

/* source → one node → sinks; of 100 objects `first` to the first one, the others at random */
void
topo_mix(struct topology *t, const char *name, unsigned int burst, unsigned int edges,
	unsigned int first)
{
	unsigned int source, node;

	start(t, name, burst);
	source = add(t, SOURCE);
	node = add(t, SPREAD);
	join(t, source, node, 100);
	for (unsigned int e = 0; e < edges; e++)
		join(t, node, add(t, SINK), 0);
	objects(t, edges, first);
}

/* sources → spread at random over arms of so many nodes each → where they meet → sink */
void
topo_diamond(struct topology *t, const char *name, unsigned int sources, unsigned int burst,
	const unsigned int depths[], unsigned int arms)
{
	unsigned int ends[TOPO_EDGES_MAX], spread;

	start(t, name, burst);
	for (unsigned int s = 0; s < sources; s++)
		add(t, SOURCE);
	spread = add(t, SPREAD);
	for (unsigned int s = 0; s < sources; s++)
		join(t, s, spread, 100);
	for (unsigned int a = 0; a < arms; a++) {
		ends[a] = spread;
		for (unsigned int d = 0; d < depths[a]; d++) {
			const unsigned int node = add(t, PASS);

			join(t, ends[a], node, 100);
			ends[a] = node;
		}
	}
	t->join = add(t, PASS);
	for (unsigned int a = 0; a < arms; a++)
		join(t, ends[a], t->join, 100);
	join(t, t->join, add(t, SINK), 100);
	objects(t, arms, 100 / RTE_MAX(arms, 1u));
}

/* source → one node → two nodes → four sinks, by halves */
void
topo_halves(struct topology *t, const char *name, unsigned int burst)
{
	unsigned int top, half[2];

	start(t, name, burst);
	t->plain_moves = 2;
	t->plain_halves = true;
	t->plain_parts = 4;
	add(t, SOURCE);
	top = add(t, SPLIT);
	join(t, 0, top, 100);
	half[0] = add(t, SPLIT);
	half[1] = add(t, SPLIT);
	for (unsigned int h = 0; h < 2; h++) {
		join(t, top, half[h], 50);
		join(t, half[h], add(t, SINK), 50);
		join(t, half[h], add(t, SINK), 50);
	}
	objects(t, 1, 100);
}

/* source → one node → sinks, a run of equal length to each */
void
topo_batches(struct topology *t, const char *name, unsigned int burst, unsigned int batches)
{
	unsigned int source, node;

	start(t, name, burst);
	t->plain_parts = batches;
	source = add(t, SOURCE);
	node = add(t, PASS);
	join(t, source, node, 100);
	for (unsigned int b = 0; b < batches; b++)
		join(t, node, add(t, SINK), 100 / batches);
	objects(t, 1, 100);
}

#define WIDTH 4 /* the widest stage of upstream's graphs */

/* Stages of widths[]; each node splits over all nodes of the next stage by its percentages. */
static void
stages(struct topology *t, const unsigned int widths[], const unsigned int percent[][WIDTH],
	unsigned int n)
{
	for (unsigned int s = 0, below = 0; s < n; s++) {
		const unsigned int first = t->nb_nodes;

		for (unsigned int i = 0; i < widths[s]; i++)
			add(t, s == 0 ? SOURCE : s + 1 == n ? SINK : PASS);
		for (unsigned int from = below; s > 0 && from < first; from++)
			for (unsigned int i = 0; i < widths[s]; i++)
				if (percent[s][i] > 0)
					join(t, from, first + i, percent[s][i]);
				else if (from - below == i)
					join(t, from, first + i, 100);
		below = first;
	}
	for (unsigned int i = 0; i < t->nb_nodes; i++)
		if (t->nodes[i].role == PASS && t->nodes[i].nb_edges > 1)
			t->nodes[i].role = SPLIT;
	objects(t, 1, 100);
}

bool
topo_upstream(struct topology *t, unsigned int i)
{
	/* A stage without percentages has as many nodes as the one before, and straight edges. */
	static const struct {
		const char *name;
		unsigned int burst, nb_stages, widths[7], percent[7][WIDTH];
	} graphs[] = {
		{ "home_run_256", 256, 6, { 1, 1, 1, 1, 1, 1 },
			{ { 0 }, { 100 }, { 100 }, { 100 }, { 100 }, { 100 } } },
		{ "home_run_1", 1, 6, { 1, 1, 1, 1, 1, 1 },
			{ { 0 }, { 100 }, { 100 }, { 100 }, { 100 }, { 100 } } },
		{ "home_run_2_sources", 256, 6, { 2, 1, 1, 1, 1, 1 },
			{ { 0 }, { 100 }, { 100 }, { 100 }, { 100 }, { 100 } } },
		{ "home_run_2_sinks", 256, 6, { 1, 1, 1, 1, 1, 2 },
			{ { 0 }, { 100 }, { 100 }, { 100 }, { 100 }, { 50, 50 } } },
		{ "tree", 256, 6, { 1, 1, 2, 3, 4, 4 },
			{ { 0 }, { 100 }, { 50, 50 }, { 33, 34, 33 }, { 25, 25, 25, 25 } } },
		{ "reverse_tree", 256, 5, { 1, 4, 3, 2, 1 },
			{ { 0 }, { 25, 25, 25, 25 }, { 33, 33, 34 }, { 50, 50 }, { 100 } } },
		{ "parallel_tree", 256, 7, { 4, 4, 4, 4, 4, 4, 4 }, { { 0 } } },
	};

	if (i >= sizeof(graphs) / sizeof(graphs[0]))
		return false;
	start(t, graphs[i].name, graphs[i].burst);
	stages(t, graphs[i].widths, graphs[i].percent, graphs[i].nb_stages);
	return true;
}

bool
topo_chooses(const struct topology *t)
{
	for (unsigned int i = 0; i < t->nb_nodes; i++)
		if (t->nodes[i].role == SPREAD || t->nodes[i].role == SPLIT)
			return true;
	return false;
}
