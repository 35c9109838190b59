/* SPDX-License-Identifier: BSD-3-Clause */
/* What all contenders of the walk benchmark share, and the simulation of what they must see. */

#include <stdio.h>
#include <stdlib.h>

#include "walk.h"

void
walked_init(struct walked *w, const struct topology *t)
{
	*w = (struct walked){ .topology = t };
	for (unsigned int i = 0; i < t->nb_nodes; i++) {
		w->nodes[i].topo = &t->nodes[i];
		/* Sources make different objects, so that sinks can tell them apart. */
		w->nodes[i].at = i * WALK_BURST_MAX % t->nb_objects;
	}
}

/* Objects that a node makes per walk: 0 unless it is a source. */
static unsigned int
made_by(const struct topology *t, const struct topo_node *node)
{
	unsigned int n = 0;

	for (unsigned int e = 0; node->role == SOURCE && e < node->nb_edges; e++)
		n += node->percent[e] * t->burst / 100;
	return n;
}

unsigned int
topo_made(const struct topology *t)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < t->nb_nodes; i++)
		n += made_by(t, &t->nodes[i]);
	return n;
}

struct stream {
	unsigned int n;
	void *objs[WALK_STREAM_MAX];
};

static void
append(struct stream *to, void *const *objs, unsigned int n)
{
	if (to->n + n > WALK_STREAM_MAX)
		bench_fail("more than %d objects wait at a node", WALK_STREAM_MAX);
	memcpy(&to->objs[to->n], objs, n * sizeof(*objs));
	to->n += n;
}

/* Passes on a stream's objects, in the simplest way. */
static void
forward(const struct topo_node *node, struct stream *streams, const struct stream *from)
{
	unsigned int at = 0;

	for (unsigned int e = 0; e < node->nb_edges; e++) {
		struct stream *to = &streams[node->edges[e]];
		const unsigned int n = topo_part(node, e, from->n, at);

		for (unsigned int i = 0; node->role == SPREAD && i < from->n; i++)
			if (edge_of(from->objs[i]) == e)
				append(to, &from->objs[i], 1);
		if (node->role != SPREAD)
			append(to, &from->objs[at], n);
		at += n;
	}
}

/* Simulates walks; adds what nodes see to w. */
static void
expect(struct walked *w, uint64_t walks, struct stream *streams)
{
	const struct topology *t = w->topology;

	for (uint64_t walk = 0; walk < walks * t->nb_nodes; walk++) {
		const unsigned int i = walk % t->nb_nodes;
		const struct topo_node *node = &t->nodes[i];
		const struct walk_ctx ctx = { t, &w->nodes[i] };

		for (unsigned int e = 0; node->role == SOURCE && e < node->nb_edges; e++) {
			void *objs[WALK_BURST_MAX];
			const unsigned int n = node->percent[e] * t->burst / 100;

			make_objects(&ctx, objs, n);
			append(&streams[node->edges[e]], objs, n);
		}
		if (node->role == SINK)
			see_objects(ctx.node, streams[i].objs, streams[i].n);
		else if (node->role != SOURCE)
			forward(node, streams, &streams[i]);
		streams[i].n = 0;
	}
}

static bool
equal(const struct walked *got, const struct walked *want)
{
	const struct topology *t = got->topology;
	uint64_t difference = 0, miscounted = 0;
	bool totals = got->totals;

	/* The order in which nodes run decides which objects a split sends where. */
	for (unsigned int i = 0; i < t->nb_nodes; i++)
		totals |= t->nodes[i].role == SPLIT;
	for (unsigned int i = 0; i < t->nb_nodes; i++) {
		const struct walk_node *g = &got->nodes[i], *w = &want->nodes[i];

		difference += w->sum - g->sum;
		miscounted += w->count - g->count;
		if ((got->totals || g->count == w->count) && (totals || g->sum == w->sum))
			continue;
		fprintf(stderr,
			"hy-bench: %s: sink %u saw %lu objects of sum %lu, not %lu of sum %lu\n",
			t->name, i, (unsigned long)g->count, (unsigned long)g->sum,
			(unsigned long)w->count, (unsigned long)w->sum);
		return false;
	}
	if (difference != 0 || miscounted != 0)
		fprintf(stderr, "hy-bench: %s: sinks missed %ld objects, of sum %ld\n", t->name,
			(long)miscounted, (long)difference);
	return difference == 0 && miscounted == 0;
}

bool
walk_check(void *walker)
{
	const struct walked *got = walker;
	const struct topology *t = got->topology;
	struct stream *streams = bench_alloc(t->nb_nodes, sizeof(*streams));
	uint64_t period = 1; /* number of walks after which objects repeat */
	struct walked want;

	for (unsigned int i = 0; i < t->nb_nodes; i++)
		while (period * made_by(t, &t->nodes[i]) % t->nb_objects != 0)
			period *= 2;
	walked_init(&want, t);
	if (got->walks > period) {
		expect(&want, period, streams);
		for (unsigned int i = 0; i < t->nb_nodes; i++) {
			want.nodes[i].count *= got->walks / period;
			want.nodes[i].sum *= got->walks / period;
		}
	}
	expect(&want, got->walks > period ? got->walks % period : got->walks, streams);
	free(streams);
	return equal(got, &want);
}
