/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The walk benchmark without a graph: the common work, which is the lower bound, and, for works
 * that move batches, the same moves between plain arrays.
 */

#include <rte_common.h>

#include "walk.h"

#define MOVES_MAX 4
#define PARTS_MAX 4

struct walker {
	struct walked walked; /* the first member */
	struct walk_ctx sources[TOPO_NODES_MAX];
	struct walk_node *sinks[TOPO_NODES_MAX];
	unsigned int nb_sources, nb_sinks;
	unsigned int made;                       /* objects per walk and source */
	unsigned int parts;                      /* arrays that the last move fills, equally */
	void **arrays[MOVES_MAX + 1][PARTS_MAX]; /* in room; MOVE_SWAP exchanges them */
	alignas(64) void *room[MOVES_MAX + 1][PARTS_MAX][WALK_BURST_MAX];
};

static void
copy_group_by_group(void **to, void **from, unsigned int n, unsigned int group)
{
	for (unsigned int at = 0; at < n; at += group)
		memcpy(&to[at], &from[at], RTE_MIN(group, n - at) * sizeof(*to));
}

/* Moves n objects, in equal runs to the arrays of the last move. */
static void
move_batch(struct walker *w, unsigned int move, unsigned int n)
{
	const struct topology *t = w->walked.topology;
	void ***from = &w->arrays[move][0], ***to = w->arrays[move + 1];
	const unsigned int parts = move + 1 < t->plain_moves ? 1 : w->parts, run = n / parts;
	void **other = *to;

	if (t->move == MOVE_SWAP) {
		*to = *from;
		*from = other;
		return;
	}
	for (unsigned int p = 0; p < parts; p++)
		if (t->move == MOVE_COPY)
			copy_group_by_group(to[p], *from + p * run, run, t->group);
		else
			assign_objects(to[p], *from + p * run, run);
}

/* Splits 2^move arrays of n objects each in halves. */
static void
halve(struct walker *w, unsigned int move, unsigned int n)
{
	for (unsigned int part = 0; part < 1u << move; part++) {
		void **from = w->arrays[move][part];

		memcpy(w->arrays[move + 1][2 * part], from, n / 2 * sizeof(*from));
		memcpy(w->arrays[move + 1][2 * part + 1], from + n / 2,
			(n - n / 2) * sizeof(*from));
	}
}

uint64_t
walk_plain_run(void *arg)
{
	struct walker *w = arg;
	const struct topology *t = w->walked.topology;
	const unsigned int made = w->made;

	for (unsigned int walk = 0; walk < WALKS; walk++) {
		for (unsigned int s = 0; s < w->nb_sources && made > 0; s++) {
			make_objects(&w->sources[s], w->arrays[0][0], made);
			for (unsigned int m = 0; m < t->plain_moves; m++) {
				if (t->plain_halves)
					halve(w, m, made >> m);
				else
					move_batch(w, m, made);
			}
			for (unsigned int p = 0; p < w->parts; p++)
				see_objects(w->sinks[p], w->arrays[t->plain_moves][p],
					made / w->parts);
		}
	}
	return walked_done(&w->walked, WALKS);
}

void *
walk_plain_create(const struct topology *t)
{
	struct walker *w = bench_alloc(1, sizeof(*w));

	walked_init(&w->walked, t);
	w->walked.totals = true; /* all objects go to the first sinks */
	for (unsigned int i = 0; i < t->nb_nodes; i++) {
		struct walk_node *node = &w->walked.nodes[i];

		if (t->nodes[i].role == SOURCE)
			w->sources[w->nb_sources++] = (struct walk_ctx){ t, node };
		if (t->nodes[i].role == SINK)
			w->sinks[w->nb_sinks++] = node;
	}
	w->made = topo_made(t) / w->nb_sources;
	w->parts = RTE_MAX(t->plain_parts, 1u);
	for (unsigned int m = 0; m <= MOVES_MAX; m++)
		for (unsigned int p = 0; p < PARTS_MAX; p++)
			w->arrays[m][p] = w->room[m][p];
	return w;
}
