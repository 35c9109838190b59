/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine's nodes and objects: every arrival is compared, every departure told to the model. */

#include <errno.h>
#include <string.h>

#include <rte_common.h>

#include "graph_machine_model.h"

#define MAGIC 0x600d600du
#define HOPS_MAX 24 /* after which an object is released where it is */
#define SLOT_DROP(r) (MACHINE_EDGES + (r))

struct machine_obj machine_objs[MACHINE_OBJS];

#define WAYS 3 /* edge 0, edge 1, all others */

/*
 * Order: when what came last on an edge was sent; if there are fusions that pick, of what then goes the
 * same way. seq never starts anew, so nothing here must.
 */
static uint64_t last[WAYS][MACHINE_GRAPHS][MACHINE_NODES][MACHINE_SLOTS][MACHINE_NODES];
static uint64_t seq;
bool machine_picks;

static void
objs_release(void **objs, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		struct machine_obj *o = objs[i];

		if (o < machine_objs || o >= machine_objs + machine.nb_objs) {
			machine_wrong("what is released is no object: %p", objs[i]);
			continue;
		}
		CHECK(o->state == WAITING || o->state == EXPECTED,
			"object %u is released twice, at node %u", o->id, o->at);
		if (o->state == EXPECTED) {
			machine.expected--;
		} else if (o->state == WAITING) {
			struct machine_graph *g = &machine.graphs[o->graph];

			g->waiting--;
			if (!machine.destroying) { /* it found no room at its target */
				CHECK(g->may_lose, "object %u found no room at node %u", o->id,
					o->at);
				g->full[o->from]++;
				machine_counts.overflown++;
				if (o->slot < MACHINE_EDGES)
					g->by_edge[o->from][o->at]--;
				else
					g->by_drop[o->from][o->slot - MACHINE_EDGES]--;
			}
		}
		o->state = DONE;
	}
}

const struct hy_object_ops machine_ops = { .release = objs_release };

int
machine_init(const struct hy_graph *graph, struct hy_node *node, const void *config)
{
	struct machine_ctx *ctx = node->ctx;

	CHECK(config != NULL, "init() without configuration");
	CHECK(ctx->magic == 0, "init() of a context that is not new");
	if (machine.init_fail > 0 && --machine.init_fail == 0)
		return -EIO;
	*ctx = *(const struct machine_ctx *)config;
	ctx->graph = (uint32_t)(hy_graph_name(graph)[1] - '0');
	ctx->magic = MAGIC;
	machine.graphs[ctx->graph].live[ctx->node]++;
	machine.graphs[ctx->graph].inits[ctx->node]++;
	if (machine.wake > 0 && --machine.wake == 0) {
		machine.woken = machine.graphs[ctx->graph].pending;
		machine_counts.woken += machine.woken;
		machine_walk(ctx->graph);
	}
	return 0;
}

void
machine_fini(const struct hy_graph *graph, struct hy_node *node)
{
	struct machine_ctx *ctx = node->ctx;

	RTE_SET_USED(graph);
	if (ctx == NULL || ctx->magic != MAGIC) {
		machine_wrong("fini() of a context that is none");
		return;
	}
	machine.graphs[ctx->graph].live[ctx->node]--;
	ctx->magic = 0;
}

static struct machine_obj *
obj_make(unsigned int graph, unsigned int at)
{
	struct machine_obj *o;

	if (machine.nb_objs == machine.setup.nb_objs)
		return NULL;
	o = &machine_objs[machine.nb_objs];
	memset(o, 0, sizeof(*o));
	o->id = machine.nb_objs++;
	o->state = WAITING;
	o->graph = graph;
	o->at = at;
	machine.graphs[graph].waiting++;
	machine_counts.objs++;
	return o;
}

/* Where an object goes; TOGETHER, all of a burst go where its first one does. */
unsigned int
machine_way(const struct machine_ctx *ctx, const struct machine_obj *o, bool may_release)
{
	const struct machine_image *image = &machine.graphs[ctx->graph].now;
	const unsigned int nb_edges = image->nb_edges[ctx->node];
	const unsigned int ways = nb_edges + (image->can_drop[ctx->node] ? MACHINE_DROPS : 0);
	const uint32_t r = machine_mix(o->id, ctx->node, o->hops);
	unsigned int w;

	if (may_release && (o->hops >= HOPS_MAX || ways == 0 || r % 61 == 0))
		return MACHINE_RELEASE;
	w = r / 64 % ways;
	return w < nb_edges ? w : SLOT_DROP(w - nb_edges);
}

uint16_t
machine_edge_of(unsigned int slot)
{
	return slot < MACHINE_EDGES ? (uint16_t)slot : HY_DROP((slot - MACHINE_EDGES));
}

/* The model moves one object, and counts it. */
void
machine_move(const struct machine_ctx *ctx, struct machine_obj *o, unsigned int slot)
{
	struct machine_graph *g = &machine.graphs[ctx->graph];

	o->from = ctx->node;
	o->slot = slot;
	o->seq = ++seq;
	if (slot < MACHINE_EDGES) {
		o->at = g->now.edges[ctx->node][slot];
		g->by_edge[ctx->node][o->at]++;
	} else {
		o->at = (unsigned int)g->now.drop;
		g->by_drop[ctx->node][slot - MACHINE_EDGES]++;
	}
}

/* Which of the node's lanes of its kind, 32 bits or wide, its l-th lane is. */
static unsigned int
lane_index(const struct machine_node *m, unsigned int l)
{
	unsigned int index = 0;

	for (unsigned int i = 0; i < l; i++)
		index += (m->lanes[i] < LANE_WIDE) == (m->lanes[l] < LANE_WIDE);
	return index;
}

/* The value that stands beside the i-th object in the node's l-th lane, in as many words as it has. */
static uint32_t *
lane_value(const struct hy_graph *graph, const struct hy_node *node, unsigned int l, size_t i)
{
	const struct machine_node *m =
		&machine.nodes[((const struct machine_ctx *)node->ctx)->node];
	const unsigned int lane = m->lanes[l], index = lane_index(m, l);

	return lane < LANE_WIDE
		? hy_lane(graph, node, index) + i
		: (uint32_t *)hy_lane_wide(graph, node, index) + i * machine_lane_bytes[lane] / 4;
}

/* The words of a value are odd multiples of it: a wide one that is 0 is 0 all over. */
static void
value_write(uint32_t *words, unsigned int lane, uint32_t value)
{
	for (uint32_t w = 0; w < machine_lane_bytes[lane] / 4u; w++)
		words[w] = value * (2 * w + 1);
}

static bool
value_is(const uint32_t *words, unsigned int lane, uint32_t value)
{
	bool same = (uintptr_t)words % machine_lane_bytes[lane] == 0;

	for (uint32_t w = 0; w < machine_lane_bytes[lane] / 4u; w++)
		same = same && words[w] == value * (2 * w + 1);
	machine_counts.wide_values += lane >= LANE_WIDE;
	return same;
}

/* All that go the way of the first are written in place, the others are sent meanwhile. */
static void
send_reserved(struct hy_graph *graph, struct hy_node *node, const uint16_t *next, void **objs,
	uint16_t n)
{
	const struct machine_ctx *ctx = node->ctx;
	const struct machine_node *m = &machine.nodes[ctx->node];
	uint16_t room = 0, used = 0;
	uint32_t *lanes[LANES];
	void **to;

	for (uint16_t i = 0; i < n; i++)
		room += next[i] == next[0];
	to = hy_stream_get(graph, node, next[0], &room);
	for (unsigned int l = 0; l < m->nb_lanes; l++)
		lanes[l] = m->lanes[l] < LANE_WIDE
			? hy_stream_get_lane(graph, node, next[0], lane_index(m, l))
			: hy_stream_get_wide(graph, node, next[0], lane_index(m, l));
	for (uint16_t i = 0; i < n; i++) {
		struct machine_obj *o = objs[i];

		if (next[i] != next[0] || used == room) {
			hy_enqueue_x1(graph, node, next[i], &objs[i]);
			continue;
		}
		memset(o->lane, 0, sizeof(o->lane)); /* but for those that the node knows */
		memset(o->known, true, sizeof(o->known));
		for (unsigned int l = 0; l < m->nb_lanes; l++) {
			const unsigned int lane = m->lanes[l];
			const uint32_t value = *lane_value(graph, node, l,
				(size_t)(objs + i - node->stream - graph->cursor));

			value_write(lanes[l] + used * machine_lane_bytes[lane] / 4, lane, value);
			o->lane[lane] = value;
		}
		to[used++] = o;
	}
	hy_stream_put(graph, node, next[0], used);
}

static void
send_by_runs(struct hy_graph *graph, struct hy_node *node, const uint16_t *next, void **objs,
	uint16_t n)
{
	for (uint16_t i = 0, run; i < n; i += run) {
		for (run = 1; i + run < n && next[i + run] == next[i];)
			run++;
		if (run == 4)
			hy_enqueue_x4(graph, node, next[i], &objs[i]);
		else if (run == 2)
			hy_enqueue_x2(graph, node, next[i], &objs[i]);
		else
			hy_enqueue(graph, node, next[i], &objs[i], run);
	}
}

/* Sends objects that lie in the node's stream; slots[] are changed when all must go together. */
static void
send(struct hy_graph *graph, struct hy_node *node, unsigned int *slots, void **objs, uint16_t n,
	bool whole)
{
	const struct machine_ctx *ctx = node->ctx;
	const enum machine_style style = machine.nodes[ctx->node].style;
	uint16_t next[HY_BURST_MAX];
	uint16_t i = 0;

	do { /* n is at least 1 */
		if (style == TOGETHER && whole)
			slots[i] = slots[0];
		next[i] = machine_edge_of(slots[i]);
		machine_move(ctx, objs[i], slots[i]);
	} while (++i < n);
	if (style == TOGETHER && whole && objs == node->stream + graph->cursor)
		hy_stream_move(graph, node, next[0], n);
	else if (style == RESERVED)
		send_reserved(graph, node, next, objs, n);
	else if (style == BY_RUNS)
		send_by_runs(graph, node, next, objs, n);
	else if (style == ONE_BY_ONE)
		for (i = 0; i < n; i++)
			hy_enqueue_x1(graph, node, next[i], &objs[i]);
	else
		hy_enqueue_next(graph, node, next, objs, n);
}

/* New objects for those taken, as many as the node declares: from elsewhere, so lanes are 0. */
static void
replicate(struct hy_graph *graph, struct hy_node *node, unsigned int n)
{
	const struct machine_ctx *ctx = node->ctx;
	const unsigned int wanted = n * (machine.nodes[ctx->node].replicates - 1u);
	void *objs[3 * HY_BURST_MAX];
	uint16_t next[3 * HY_BURST_MAX], made = 0;

	if (machine.graphs[ctx->graph].now.nb_edges[ctx->node] == 0)
		return;
	while (made < wanted) {
		struct machine_obj *o = obj_make(ctx->graph, ctx->node);
		unsigned int slot;

		if (o == NULL)
			break;
		memset(o->known, true, sizeof(o->known));
		o->hops = 2 * HOPS_MAX / 3; /* they shall not flood a graph with cycles */
		slot = machine_way(ctx, o, false);
		machine_move(ctx, o, slot);
		objs[made] = o;
		next[made++] = machine_edge_of(slot);
	}
	hy_enqueue_next(graph, node, next, objs, made);
	machine_counts.replicas += made;
}

static unsigned int
order_class(const struct machine_ctx *ctx, const struct machine_obj *o)
{
	struct machine_obj at = *o;

	at.hops++;
	return machine_picks ? RTE_MIN(machine_way(ctx, &at, true), WAYS - 1u) : 0;
}

/* Compares an object that comes with what the model says of it. */
void
machine_arrive(const struct hy_graph *graph, const struct hy_node *node, void *obj, unsigned int i)
{
	const struct machine_ctx *ctx = node->ctx;
	const struct machine_node *m = &machine.nodes[ctx->node];
	struct machine_obj *o = obj;
	uint64_t *before;

	if (o < machine_objs || o >= machine_objs + machine.nb_objs) {
		machine_wrong("node %u is handed no object: %p", ctx->node, obj);
		return;
	}
	CHECK(o->state == WAITING && o->graph == ctx->graph && o->at == ctx->node,
		"object %u (state %d) comes to node %u of graph %u, expected at %u of %u", o->id,
		(int)o->state, ctx->node, ctx->graph, o->at, o->graph);
	before = &last[order_class(ctx, o)][ctx->graph][o->from][o->slot][ctx->node];
	CHECK(*before < o->seq, "object %u comes out of order on edge %u of node %u", o->id,
		o->slot, o->from);
	*before = o->seq;
	for (unsigned int l = 0; l < m->nb_lanes; l++) {
		uint32_t *value = lane_value(graph, node, l, i);
		const unsigned int lane = m->lanes[l];
		const bool is_set = lane < LANE_WIDE && lane_index(m, l) == 0 && m->lanes_set != 0;

		if (is_set)
			machine_counts.not_brought += o->known[lane] && *value != o->lane[lane];
		CHECK(is_set || !o->known[lane] || value_is(value, lane, o->lane[lane]),
			"object %u has %u in lane %u at node %u, expected %u", o->id, *value, lane,
			ctx->node, o->lane[lane]);
		o->lane[lane] = machine_mix(o->id, lane, o->hops);
		value_write(value, lane, o->lane[lane]);
		o->known[lane] = true;
	}
	o->hops++;
	machine_counts.arrivals++;
}

/* Sends on what is not released, in segments: lanes go along with parts of the burst only. */
static void
forward(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	unsigned int slots[HY_BURST_MAX];
	uint16_t from = 0;

	for (uint16_t i = 0; i < n; i++)
		slots[i] = machine_way(node->ctx, objs[i], true);
	for (uint16_t i = 0; i <= n; i++) {
		if (i < n && slots[i] != MACHINE_RELEASE)
			continue;
		if (i > from)
			send(graph, node, slots + from, objs + from, (uint16_t)(i - from),
				i - from == n);
		if (i < n) {
			struct machine_obj *o = objs[i];

			machine.graphs[o->graph].waiting--;
			o->state = EXPECTED;
			machine.expected++;
			machine_counts.released++;
			hy_release(graph, &objs[i], 1);
		}
		from = (uint16_t)(i + 1);
	}
}

/* A source makes less than it is offered at times, and nothing when it leads nowhere. */
static uint16_t
make(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	const struct machine_ctx *ctx = node->ctx;
	const struct machine_graph *g = &machine.graphs[ctx->graph];
	const struct machine_node *m = &machine.nodes[ctx->node];
	const uint32_t r = machine_mix((uint32_t)g->calls[ctx->node], ctx->node, machine.nb_objs);
	const uint16_t wanted = r % 4 == 0 ? (uint16_t)(r / 4 % (n + 1u)) : n;
	unsigned int slots[HY_BURST_MAX];
	uint16_t made = 0;

	if (g->now.nb_edges[ctx->node] == 0 && !g->now.can_drop[ctx->node])
		return 0;
	while (made < wanted) {
		struct machine_obj *o = obj_make(ctx->graph, ctx->node);

		if (o == NULL)
			break;
		objs[made] = o;
		for (unsigned int l = 0; l < m->nb_lanes; l++) {
			const uint32_t value = machine_mix(o->id, m->lanes[l], 1000);

			value_write(lane_value(graph, node, l, made), m->lanes[l], value);
			o->lane[m->lanes[l]] = value;
			o->known[m->lanes[l]] = true;
		}
		slots[made++] = machine_way(ctx, o, false);
	}
	if (made > 0)
		send(graph, node, slots, objs, made, true);
	return made;
}

/* Whether a node may run in a graph with that many objects; its context can be used. */
bool
machine_runs_rightly(const struct hy_graph *graph, const struct hy_node *node, uint16_t n,
	unsigned int impl)
{
	const struct machine_ctx *ctx = node->ctx;
	const struct machine_image *image;
	struct machine_graph *g;

	if (ctx == NULL || ctx->magic != MAGIC) {
		machine_wrong("a node runs with a context that is none");
		return false;
	}
	g = &machine.graphs[ctx->graph];
	image = &g->now;
	CHECK(g->graph == graph, "node %u runs in another graph", ctx->node);
	CHECK(image->in[ctx->node], "node %u runs, which is not in the graph", ctx->node);
	CHECK(image->impl[ctx->node] == impl, "node %u runs another implementation", ctx->node);
	CHECK(image->serial[ctx->node] == ctx->serial, "node %u has configuration %u, not %u",
		ctx->node, ctx->serial, image->serial[ctx->node]);
	CHECK(n >= 1 && n <= image->burst, "node %u is handed %u objects, burst %u", ctx->node, n,
		image->burst);
	return true;
}

static uint16_t
process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n, unsigned int impl)
{
	const struct machine_ctx *ctx = node->ctx;
	struct machine_graph *g;

	if (!machine_runs_rightly(graph, node, n, impl))
		return n;
	g = &machine.graphs[ctx->graph];
	g->calls[ctx->node]++;
	if (machine.nodes[ctx->node].source) {
		n = make(graph, node, objs, n);
	} else {
		for (uint16_t i = 0; i < n; i++)
			machine_arrive(graph, node, objs[i], i);
		forward(graph, node, objs, n);
		if (machine.nodes[ctx->node].replicates > 1)
			replicate(graph, node, n);
	}
	g->objs[ctx->node] += n;
	return n;
}

uint16_t
machine_process_a(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return process(graph, node, objs, n, 0);
}

uint16_t
machine_process_b(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	return process(graph, node, objs, n, 1);
}
