/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random graphs against a slow model. What a node does with an object depends on nothing but the
 * object, the node and how many nodes the object saw, so the model follows each object on its own,
 * knows where it ends, and what every counter must say then. The model knows no bursts, streams,
 * ranks or sweeps.
 */

#include <stdlib.h>
#include <string.h>

#include <hy_trace.h>

#include "graph_fixture.h"
#include "lib/graph/compile/image.h"
#include "lib/graph/walk/enqueue.h"

#define NODES_MAX 200
#define EDGES_MAX 12
#define SOURCES_MAX 8
#define DROPS 2
#define HOPS_MAX 40 /* after which an object takes forward edges only */

/* How a node sends its objects on; the result is the same. */
enum style { BY_NEXT, ONE_BY_ONE, BY_RUNS, RESERVED, STYLES };

struct model_node {
	struct probe probe;
	unsigned int index;
	unsigned int nb_edges; /* 0: a sink */
	unsigned int edges[EDGES_MAX];
	bool can_drop;
	enum style style;
	/* What must come of it. */
	uint64_t objs, calls;
	uint64_t by_edge[EDGES_MAX], by_drop[DROPS];
	uint32_t in_walk; /* objects that it sees in the walk under way, without cycles */
};

static struct {
	uint64_t seed;
	bool cyclic;
	unsigned int nb_nodes, nb_sources; /* sources are the first; the drop node is the last */
	struct model_node nodes[NODES_MAX];
} model;

static uint32_t
mix(uint32_t a, uint32_t b, uint32_t c)
{
	uint64_t seed = ((uint64_t)a << 32 | b) ^ ((uint64_t)c << 20) ^ model.seed;

	return rnd(&seed);
}

/* Where an object goes from a node: the edge to take, or HY_DROP(). Forward edges come first. */
static uint16_t
decide(const struct model_node *node, uint32_t id, uint32_t hops)
{
	const uint32_t r = mix(id, node->index, hops);
	unsigned int forward = 0;

	if (node->can_drop && r % 8 == 0)
		return HY_DROP(r / 8 % DROPS);
	while (forward < node->nb_edges && node->edges[forward] > node->index)
		forward++;
	return (uint16_t)(r / 64 % (hops < HOPS_MAX ? node->nb_edges : forward));
}

/* The value that travels beside an object. */
static uint32_t
lane_value(uint32_t id, uint32_t hops)
{
	return id * 2654435761u + hops;
}

static struct model_node *
node_of(const struct hy_node *node)
{
	return probe_of(node)->arg;
}

static void
send(struct hy_graph *graph, struct hy_node *node, const uint16_t *next, void **objs, uint16_t n)
{
	switch (node_of(node)->style) {
	case ONE_BY_ONE:
		for (uint16_t i = 0; i < n; i++)
			hy_enqueue_x1(graph, node, next[i], &objs[i]);
		break;
	case BY_RUNS:
		for (uint16_t i = 0, run; i < n; i += run) {
			for (run = 1; i + run < n && next[i + run] == next[i];)
				run++;
			if (run == n && objs == node->stream + graph->cursor)
				hy_stream_move(graph, node, next[i], n);
			else if (run == 4)
				hy_enqueue_x4(graph, node, next[i], &objs[i]);
			else if (run == 2)
				hy_enqueue_x2(graph, node, next[i], &objs[i]);
			else
				hy_enqueue(graph, node, next[i], &objs[i], run);
		}
		break;
	case RESERVED: {
		/* Exactly what goes the way of the first, written in place, the others meanwhile */
		uint16_t room = 0, used = 0;
		uint32_t *lane;
		void **to;

		for (uint16_t i = 0; i < n; i++)
			room += next[i] == next[0];
		to = hy_stream_get(graph, node, next[0], &room);
		lane = hy_stream_get_lane(graph, node, next[0], 0);
		for (uint16_t i = 0; i < n; i++) {
			if (next[i] != next[0]) {
				hy_enqueue_x1(graph, node, next[i], &objs[i]);
				continue;
			}
			to[used] = objs[i];
			lane[used++] = hy_lane(graph, node, 0)[i];
		}
		hy_stream_put(graph, node, next[0], used);
		break;
	}
	default:
		hy_enqueue_next(graph, node, next, objs, n);
	}
}

/* Every node that is no source. */
static uint16_t
step(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct model_node *m = node_of(node);
	uint32_t *lane = hy_lane(graph, node, 0);
	uint16_t next[HY_BURST_MAX];

	probe_hit(node, n);
	for (uint16_t i = 0; i < n; i++) {
		struct obj *obj = objs[i];

		obj_faults += lane[i] != lane_value(obj->id, obj->hops);
		if (m->nb_edges == 0) {
			obj->mark = 1 + m->index;
			continue;
		}
		next[i] = decide(m, obj->id, obj->hops);
		lane[i] = lane_value(obj->id, ++obj->hops);
	}
	if (m->nb_edges == 0)
		hy_release(graph, objs, n);
	else
		send(graph, node, next, objs, n);
	return n;
}

static uint16_t
make(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct model_node *m = node_of(node);
	const uint16_t made = probe_make(probe_of(node), objs, n);
	uint16_t next[HY_BURST_MAX];

	probe_hit(node, made);
	for (uint16_t i = 0; i < made; i++) {
		struct obj *obj = objs[i];

		obj->from = m->index;
		next[i] = decide(m, obj->id, 0);
		obj->hops = 1;
		hy_lane(graph, node, 0)[i] = lane_value(obj->id, 1);
	}
	if (made > 0)
		send(graph, node, next, objs, made);
	return made;
}

/* Follows one object from its source. Returns the sink. */
static unsigned int
follow(uint32_t id, unsigned int at, uint32_t *hops)
{
	*hops = 0;
	model.nodes[at].objs++;
	while (model.nodes[at].nb_edges > 0) {
		struct model_node *node = &model.nodes[at];
		const uint16_t next = decide(node, id, (*hops)++);

		if (next < EDGES_MAX) {
			node->by_edge[next]++;
			at = node->edges[next];
		} else {
			node->by_drop[(uint16_t)(HY_DROP(0) - next)]++;
			at = model.nb_nodes - 1;
		}
		model.nodes[at].objs++;
		model.nodes[at].in_walk++;
	}
	return at;
}

static void
node_name(unsigned int i, char name[HY_NAME_SIZE])
{
	snprintf(name, HY_NAME_SIZE, "n%u", i);
}

/* A trace takes of an object which one it is, and where it stands. */
static size_t
snapshot(const struct hy_node *node, const void *obj, const uint32_t *lanes, void *data,
	size_t size)
{
	const struct obj *o = obj;
	/* After the call of a source, before that of others. */
	const uint32_t hops = o->hops - (node->rank < model.nb_sources ? 1 : 0);
	const uint32_t seen[] = { o->id, o->from, hops };

	obj_faults += size < sizeof(seen) || lanes[0] != lane_value(o->id, o->hops);
	memcpy(data, seen, sizeof(seen));
	return sizeof(seen);
}

/* Where an object is after so many nodes; next is what it does there. */
static unsigned int
place(uint32_t id, unsigned int at, uint32_t hops, uint16_t *next)
{
	for (uint32_t h = 0;; h++) {
		const struct model_node *node = &model.nodes[at];

		*next = node->nb_edges > 0 ? decide(node, id, h) : 0;
		if (h == hops)
			return at;
		at = *next < EDGES_MAX ? node->edges[*next] : model.nb_nodes - 1;
	}
}

/* What was traced so far of one graph, by number. */
static struct {
	uint32_t id, hops;
} traced[HY_BURST_MAX * SOURCES_MAX * 3 + 1];

/* Whether a record says what the model does. */
static bool
record_right(const struct hy_trace_record *record)
{
	const char *drop = "";
	char name[HY_NAME_SIZE];
	uint32_t seen[3];
	unsigned int at;
	uint16_t next;
	bool unsure;

	if (record->serial >= RTE_DIM(traced))
		return false;
	memcpy(seen, record->data, sizeof(seen));
	if (seen[2] == 0)
		traced[record->serial].id = seen[0];
	if (traced[record->serial].id != seen[0] || traced[record->serial].hops++ != seen[2])
		return false;
	at = place(seen[0], seen[1], seen[2], &next);
	node_name(at, name);
	if (next >= EDGES_MAX)
		drop = next == HY_DROP(0) ? "d0" : "d1";
	/* Nodes that do not say beforehand where objects go may leave a doubt, if one is dropped. */
	unsure = strcmp(record->drop, HY_TRACE_UNSURE) == 0 && model.nodes[at].style != BY_NEXT &&
		(next >= EDGES_MAX || model.nodes[at].edges[next] == model.nb_nodes - 1);
	return strcmp(record->name, name) == 0 && record->size == sizeof(seen) &&
		record->last == (model.nodes[at].nb_edges == 0) &&
		(unsure || strcmp(record->drop, drop) == 0);
}

/* Compares what was traced in one walk. Counts records, and reasons that are sure and unsure. */
static void
compare_trace(uint64_t seed, struct hy_graph *graph, uint64_t counts[3])
{
	struct hy_trace_record record;

	while (hy_trace_read(graph, &record, 1) == 1) {
		if (!record_right(&record))
			fail_msg("seed %ju: trace of object %u at %s: dropped '%s'%s",
				(uintmax_t)seed, record.serial, record.name, record.drop,
				record.last ? ", last" : "");
		counts[0]++;
		if (record.drop[0] != '\0')
			counts[record.drop[0] == '?' ? 2 : 1]++;
	}
}

/* Every object was traced to its end, or could not be marked. */
static void
compare_trace_end(uint64_t seed, struct hy_graph *graph, uint32_t budget)
{
	struct hy_trace_state state;

	assert_int_equal(hy_trace_status(graph, &state), 0);
	if (state.marked + state.unmarked != budget || state.lost != 0 ||
		state.running != (state.unmarked > 0))
		fail_msg("seed %ju: of %u objects, %u marked, %ju not; %ju lost%s", (uintmax_t)seed,
			budget, state.marked, (uintmax_t)state.unmarked, (uintmax_t)state.lost,
			state.running ? ", running" : "");
	for (uint32_t serial = 1; serial <= state.marked; serial++) {
		const uint32_t id = traced[serial].id;
		uint16_t next;

		if (model.nodes[place(id, obj_all[id].from, traced[serial].hops - 1, &next)]
				.nb_edges > 0)
			fail_msg("seed %ju: the trace of object %u does not end", (uintmax_t)seed,
				serial);
	}
}

/* Draws nodes and edges. Every node has a way in from an earlier one, and ends in sinks. */
static void
draw(uint64_t seed)
{
	const unsigned int span = 3 + rnd(&seed) % (NODES_MAX - 3 + 1);

	memset(&model, 0, sizeof(model));
	model.cyclic = rnd(&seed) % 2 != 0;
	model.nb_sources = 1 + rnd(&seed) % RTE_MIN(SOURCES_MAX, span - 2);
	model.nb_nodes = span;
	model.seed = seed;
	for (unsigned int i = 0; i < span; i++) {
		struct model_node *node = &model.nodes[i];

		node->index = i;
		node->probe.arg = node;
		node->can_drop = rnd(&seed) % 3 == 0 && i >= model.nb_sources && i < span - 1;
		node->style = (enum style)(rnd(&seed) % STYLES);
	}
	/* A parent for each node that is no source; then edges forward at random. */
	for (unsigned int i = model.nb_sources; i < span; i++) {
		for (unsigned int p = rnd(&seed) % i, tries = 0; tries < i;
			tries++, p = (p + 1) % i) {
			struct model_node *parent = &model.nodes[p];

			if (parent->nb_edges == EDGES_MAX / 2)
				continue;
			parent->edges[parent->nb_edges++] = i;
			break;
		}
	}
	for (unsigned int i = 0; i < span - 1; i++) {
		struct model_node *node = &model.nodes[i];
		const unsigned int more = rnd(&seed) % 4;

		for (unsigned int e = 0; e < more || (i < model.nb_sources && node->nb_edges == 0);
			e++) {
			const unsigned int first = RTE_MAX(i + 1, model.nb_sources);
			const unsigned int to = first + rnd(&seed) % (span - first);
			bool known = false;

			for (unsigned int k = 0; k < node->nb_edges; k++)
				known |= node->edges[k] == to;
			/* What drops must have another way too, and sinks stay sinks. */
			if (!known &&
				(node->nb_edges > 0 || i < model.nb_sources || node->can_drop) &&
				node->nb_edges < EDGES_MAX - 2)
				node->edges[node->nb_edges++] = to;
		}
		if (node->nb_edges == 0)
			node->can_drop = false;
		/* Back edges come last. */
		for (unsigned int e = 0; model.cyclic && node->nb_edges > 0 && e < 2; e++) {
			const unsigned int to = model.nb_sources +
				rnd(&seed) % (span - model.nb_sources);

			if (to < i && (e == 0 || node->edges[node->nb_edges - 1] != to) &&
				rnd(&seed) % 4 == 0)
				node->edges[node->nb_edges++] = to;
		}
	}
}

/* Registers the nodes in an order that has nothing to do with that of the graph. */
static void
register_all(void)
{
	unsigned int step_by = 1 + (unsigned int)(model.seed % model.nb_nodes);

	while (step_by > 1 && model.nb_nodes % step_by == 0)
		step_by--;
	for (unsigned int k = 0, i = 0; k < model.nb_nodes; k++) {
		struct model_node *node = &model.nodes[i];
		char names[EDGES_MAX][HY_NAME_SIZE], own[HY_NAME_SIZE];
		struct hy_node_desc desc = { .name = own, .lanes = { "value" } };

		node_name(i, own);
		for (unsigned int e = 0; e < node->nb_edges; e++) {
			node_name(node->edges[e], names[e]);
			desc.edges[e] = names[e];
		}
		desc.trace.snapshot = snapshot;
		desc.flags = i < model.nb_sources ? HY_NODE_SOURCE : 0;
		desc.impl.process = i < model.nb_sources ? make : step;
		for (unsigned int d = 0; d < DROPS && node->can_drop; d++)
			desc.drops[d].name = d == 0 ? "d0" : "d1";
		node_add(&node->probe, &desc);
		for (i = (i + step_by) % model.nb_nodes; k + 1 < model.nb_nodes; i++) {
			hy_node_id id;
			char name[HY_NAME_SIZE];

			i %= model.nb_nodes;
			node_name(i, name);
			if (hy_node_lookup(name, &id) != 0)
				break;
		}
	}
}

/* Follows all objects that were made since the last time, and compares where they ended. */
static void
compare_objects(uint64_t seed, uint32_t from)
{
	for (uint32_t id = from; id < obj_made; id++) {
		const struct obj *obj = &obj_all[id];
		uint32_t hops;
		const unsigned int sink = follow(id, obj->from, &hops);

		if (obj->refs != 0 || obj->mark != 1 + sink || obj->hops != hops)
			fail_msg("seed %ju: object %u ended at %u after %u, expected %u after %u; "
				 "references: %d",
				(uintmax_t)seed, id, obj->mark - 1, obj->hops, sink, hops,
				obj->refs);
	}
}

static void
compare_counters(uint64_t seed, struct hy_graph *graph)
{
	for (unsigned int i = 0; i < model.nb_nodes; i++) {
		const struct model_node *m = &model.nodes[i];
		const struct hy_node *node;
		char name[HY_NAME_SIZE];
		bool same;

		node_name(i, name);
		node = graph_node(graph, name);
		same = node->objs == m->objs && m->probe.objs == m->objs;
		if (!model.cyclic)
			same = same && node->calls == m->calls;
		for (unsigned int e = 0; e < m->nb_edges; e++)
			same = same && node->edges[e].objs == m->by_edge[e];
		for (int d = 0; d < DROPS && m->can_drop; d++)
			same = same && node->edges[(int16_t)HY_DROP(d)].objs == m->by_drop[d];
		if (!same)
			fail_msg("seed %ju: node %u: %ju objects in %ju calls, expected %ju in %ju",
				(uintmax_t)seed, i, (uintmax_t)node->objs, (uintmax_t)node->calls,
				(uintmax_t)m->objs, (uintmax_t)m->calls);
	}
}

/* After a walk without cycles: nothing stays, and a node runs once for each burst it saw. */
static void
count_calls(uint16_t burst)
{
	for (unsigned int i = 0; i < model.nb_nodes; i++) {
		struct model_node *node = &model.nodes[i];

		node->calls += i < model.nb_sources ? 1 : (node->in_walk + burst - 1) / burst;
		node->in_walk = 0;
	}
}

/* Walks one random graph until all is delivered. Returns the objects compared. */
static uint32_t
one_graph(uint64_t seed, uint64_t *dropped, uint64_t traces[3])
{
	static const uint16_t bursts[] = { 1, 2, 3, 17, 32, 64, 100, 255, 256 };
	uint64_t draws = seed;
	const uint16_t burst = bursts[rnd(&draws) % RTE_DIM(bursts)];
	const bool trace = seed % 2 != 0;
	uint32_t budget = 0, compared = 0;
	struct hy_graph *graph;
	char drop[HY_NAME_SIZE];

	obj_made = 0;
	draw(rnd(&draws));
	register_all();
	node_name(model.nb_nodes - 1, drop);
	graph = GRAPH("g", .burst = burst, .drop_node = drop, .lanes = { "other", "value" },
		.max_sweeps = (uint16_t)(1 + rnd(&draws) % 10));
	assert_int_equal(graph->plan.nb_nodes, model.nb_nodes);
	if (rnd(&draws) % 2 != 0)
		graph->image->plan.scatter = graph->plan.scatter = hy_scatter_scalar;
	for (unsigned int s = 0; s < model.nb_sources; s++) {
		struct probe *probe = &model.nodes[s].probe;

		probe->budget = 1 + rnd(&draws) % (burst * 3u);
		probe->per_call = (uint16_t)(1 + rnd(&draws) % burst);
		budget += probe->budget;
	}
	memset(traced, 0, sizeof(traced));
	if (trace)
		assert_int_equal(hy_trace_start(graph,
					 &(const struct hy_trace_params){
						 .nb_objs = budget, .nb_records = 1 << 14 }),
			0);
	for (unsigned int walk = 0; compared < budget && walk < 100000; walk++) {
		hy_graph_walk(graph);
		compare_trace(seed, graph, traces);
		if (graph->plan.cyclic && (obj_made < budget || obj_under_way > 0))
			continue;
		compare_objects(seed, compared);
		compared = obj_made;
		count_calls(burst);
	}
	if (compared != budget || obj_under_way != 0 || waiting(graph) != 0 || obj_faults != 0 ||
		stream_full(graph) != 0)
		fail_msg("seed %ju: %u of %u objects, %ju under way, %u faults, %ju lost",
			(uintmax_t)seed, compared, budget, (uintmax_t)obj_under_way, obj_faults,
			(uintmax_t)stream_full(graph));
	compare_counters(seed, graph);
	if (trace)
		compare_trace_end(seed, graph, budget);
	for (unsigned int i = 0; i < model.nb_nodes; i++)
		*dropped += model.nodes[i].by_drop[0] + model.nodes[i].by_drop[1];
	registry_clear();
	return compared;
}

static void
random_graphs_do_what_a_model_says(void **state)
{
	unsigned int graphs = 0, cyclic = 0, large = 0;
	uint64_t objs = 0, dropped = 0, traces[3] = { 0 };

	RTE_SET_USED(state);
	for (uint64_t seed = 1; seed <= 400; seed++) {
		objs += one_graph(seed, &dropped, traces);
		graphs++;
		cyclic += model.cyclic;
		large += model.nb_nodes > 128;
	}
	assert_int_equal(graphs, 400);
	assert_in_range(cyclic, 150, 250);
	assert_in_range(large, 100, 300);
	assert_true(objs > 200000);
	assert_true(dropped > 10000);
	assert_true(traces[0] > 200000);
	assert_true(traces[1] > 3000);
	assert_true(traces[2] > 1000);
}

static const struct CMUnitTest tests[] = {
	GRAPH_TEST(random_graphs_do_what_a_model_says),
};

UNIT_SUITE(tests)
