/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The walk: sources, then pending nodes in rank order. In a graph without cycles one pass empties
 * all streams. With cycles, passes ("sweeps") repeat up to a budget, and sources may make fewer
 * objects in the next walk by those that are left, so no stream can overflow.
 */

#include <rte_cycles.h>

#include <hy_walk.h>

#include "enqueue.h"
#include "lib/graph/compile/fuse.h"
#include "lib/graph/observe/capture.h"
#include "lib/graph/observe/trace.h"
#include "lib/graph/stats/moment.h"
#include "lib/graph/update/control.h"
#include "lib/graph/update/qsbr.h"
#include "wide.h"

/*
 * A timed walk reads the clock once for each call: the end of one is the start of the next. A
 * traced walk records the objects before and after each call. Other walks pass neither tsc nor
 * trace.
 */
static __rte_always_inline uint16_t
run(struct hy_graph *graph, struct hy_node *node, uint32_t from, uint16_t n, uint64_t *tsc,
	struct hy_trace *trace)
{
	uint16_t done;

	if (trace != NULL)
		hy_trace_before(trace, graph, node, n);
	done = node->process(graph, node, node->stream + from, n);
	if (trace != NULL)
		hy_trace_after(trace, graph, node, done);
	hy_count(&node->calls, 1);
	hy_count(&node->objs, done);
	if (tsc != NULL) {
		struct hy_image_node *cold = hy_image_node(node);
		const uint64_t now = rte_rdtsc();

		hy_count(&cold->bursts[hy_burst_bucket(done)], 1);
		hy_count(&cold->sampled_objs, done);
		hy_count(done > 0 ? &cold->sampled_cycles : &cold->sampled_idle, now - *tsc);
		*tsc = now;
	}
	return done;
}

/* Runs a node on a part of its stream, which must not be swapped meanwhile. */
static void
run_part(struct hy_graph *graph, struct hy_node *node, uint8_t part, uint32_t from, uint32_t n,
	uint64_t *tsc, struct hy_trace *trace)
{
	graph->part = part;
	graph->cursor = from;
	run(graph, node, from, (uint16_t)n, tsc, trace);
	graph->part = 0;
	graph->cursor = 0;
}

/* Runs a node on all of its waiting objects, in bursts. */
static __rte_always_inline void
drain(struct hy_graph *graph, struct hy_node *node, uint64_t *tsc, struct hy_trace *trace)
{
	const uint32_t n = node->waiting;

	if (trace != NULL)
		trace->end = n;
	if (likely(n <= graph->plan.burst)) {
		run(graph, node, 0, (uint16_t)n, tsc, trace);
	} else {
		/* A trace looks for the objects at their targets after each part. */
		const uint8_t part = trace == NULL ? HY_PART_KEPT : HY_PART_COPIED;

		for (uint32_t from = 0; from < n; from += graph->plan.burst)
			run_part(graph, node, part, from, RTE_MIN(n - from, graph->plan.burst), tsc,
				trace);
		hy_stream_end(graph, node);
	}
	node->waiting = 0;
}

/* Room left in the fullest target of a node. */
static uint32_t
room(const struct hy_graph *graph, const struct hy_node *node)
{
	const struct hy_image_node *cold = hy_image_node(node);
	uint32_t least = graph->plan.stream_cap;

	for (unsigned int e = 0; e < cold->nb_edges; e++)
		least = RTE_MIN(least, graph->plan.stream_cap - node->edges[e].to->waiting);
	if (cold->nb_drops > HY_CORE_DROPS) {
		const struct hy_node *drop = node->edges[(int16_t)HY_DROP(0)].to;

		least = RTE_MIN(least, graph->plan.stream_cap - drop->waiting);
	}
	return least;
}

/* Runs a node on as many objects as its targets have room for. Returns how many. */
static uint32_t
drain_throttled(struct hy_graph *graph, struct hy_node *node, uint64_t *tsc, struct hy_trace *trace)
{
	const uint32_t n = node->waiting;
	uint32_t done = 0, left;

	if (trace != NULL)
		trace->end = n;
	while (done < n) {
		uint32_t k = RTE_MIN(n - done, room(graph, node) / node->replicates);

		k = RTE_MIN(k, graph->plan.burst);
		if (k == 0)
			break;
		if (k == n)
			run(graph, node, 0, (uint16_t)n, tsc, trace);
		else
			run_part(graph, node, HY_PART_COPIED, done, k, tsc, trace);
		done += k;
	}
	left = n - done;
	node->waiting = left;
	if (left > 0) {
		hy_stream_shift(graph, node, 0, done, left);
		hy_pending_set(graph, node);
	}
	return done;
}

/* Runs a source that may make n objects. Returns how many it made. */
static __rte_always_inline uint32_t
run_source(struct hy_graph *graph, struct hy_node *node, uint32_t n, uint64_t *tsc,
	struct hy_trace *trace)
{
	node->waiting = n;
	n = run(graph, node, 0, (uint16_t)n, tsc, trace);
	node->waiting = 0;
	return n;
}

/* Runs sources in turn, from the given one on, while there is credit. */
static uint32_t
run_sources(struct hy_graph *graph, unsigned int first, uint32_t credit, uint64_t *tsc,
	struct hy_trace *trace)
{
	const struct hy_plan *plan = &graph->plan;
	uint32_t made = 0;

	for (unsigned int i = 0, s = first; i < plan->nb_sources; i++, s++) {
		struct hy_node *node =
			&plan->nodes[s < plan->nb_sources ? s : s - plan->nb_sources];
		uint32_t n = RTE_MIN((uint32_t)hy_budget_read(plan, node->rank), credit - made);

		if (plan->throttled)
			n = RTE_MIN(n, room(graph, node));
		if (n > 0)
			made += run_source(graph, node, n, tsc, trace);
	}
	return made;
}

/* The pending node of lowest rank, from the given one on; NULL if there is none. */
static __rte_always_inline struct hy_node *
next_pending(const struct hy_plan *plan, unsigned int rank)
{
	unsigned int w = rank / 64;
	uint64_t bits = plan->pending[w] & UINT64_MAX << rank % 64;

	while (bits == 0) {
		if (++w == plan->nb_words)
			return NULL;
		bits = plan->pending[w];
	}
	return &plan->nodes[64 * w + (unsigned int)__builtin_ctzll(bits)];
}

/*
 * All edges lead forward: one pass in rank order empties the graph. A node mostly feeds the next
 * one in rank, so that is tested before the bitmap. A predicted branch waits for nothing, while an
 * address computed from the bitmap waits for all stores of the previous node to it.
 */
static __rte_always_inline void
drain_forward(struct hy_graph *graph, uint64_t *tsc, struct hy_trace *trace)
{
	const struct hy_plan *plan = &graph->plan;
	struct hy_node *node = plan->nodes + plan->nb_sources;

	for (;; node++) {
		if (node->waiting == 0) {
			node = next_pending(plan, node->rank);
			if (node == NULL)
				break;
		}
		drain(graph, node, tsc, trace);
	}
	if (likely(plan->nb_words == 1))
		plan->pending[0] = 0;
	else
		memset(plan->pending, 0, plan->nb_words * sizeof(*plan->pending));
}

static __rte_always_inline uint32_t
walk_acyclic(struct hy_graph *graph, uint64_t *tsc, struct hy_trace *trace)
{
	const struct hy_plan *plan = &graph->plan;
	struct hy_node *node = plan->nodes;
	uint32_t made = 0;

	for (unsigned int s = 0; s < plan->nb_sources; s++)
		made += run_source(graph, node++, hy_budget_read(plan, s), tsc, trace);
	drain_forward(graph, tsc, trace);
	return made;
}

/* Runs a pending node on as many objects as possible. Returns how many. */
static uint32_t
run_pending(struct hy_graph *graph, struct hy_node *node, uint64_t *tsc, struct hy_trace *trace)
{
	const uint32_t n = node->waiting;

	graph->plan.pending[node->rank / 64] &= ~(UINT64_C(1) << node->rank % 64);
	if (graph->plan.throttled)
		return drain_throttled(graph, node, tsc, trace);
	drain(graph, node, tsc, trace);
	return n;
}

/* One pass over the pending nodes in rank order; a back edge's target waits for the next pass. */
static uint32_t
sweep(struct hy_graph *graph, uint64_t *tsc, struct hy_trace *trace)
{
	const struct hy_plan *plan = &graph->plan;
	struct hy_node *node = next_pending(plan, 0);
	uint32_t done = 0;

	for (; node != NULL; node = next_pending(plan, node->rank + 1u))
		done += run_pending(graph, node, tsc, trace);
	return done;
}

/* Objects that wait in the graph; *last is the pending node of highest rank. */
static uint32_t
under_way(const struct hy_graph *graph, struct hy_node **last)
{
	uint32_t n = 0;

	*last = NULL;
	for (unsigned int w = 0; w < graph->plan.nb_words; w++) {
		for (uint64_t bits = graph->plan.pending[w]; bits != 0; bits &= bits - 1) {
			*last = &graph->plan.nodes[64 * w + (unsigned int)__builtin_ctzll(bits)];
			n += (*last)->waiting;
		}
	}
	return n;
}

/*
 * Full streams in a circle block one another. One node runs regardless of room; objects that do not
 * fit are released and counted as stream_full.
 */
static void
break_deadlock(struct hy_graph *graph, struct hy_node *node, uint64_t *tsc, struct hy_trace *trace)
{
	graph->plan.pending[node->rank / 64] &= ~(UINT64_C(1) << (node->rank % 64));
	drain(graph, node, tsc, trace);
}

/*
 * Called after a pass over a cyclic graph in which nodes handled so many objects. Returns whether
 * another pass is useful.
 */
static bool
pass_end(struct hy_graph *graph, uint32_t done, uint64_t *tsc, struct hy_trace *trace)
{
	struct hy_node *last;
	const uint32_t left = under_way(graph, &last);

	if (unlikely(graph->image->carries))
		hy_graph_settle(graph, left);
	if (left > 0 && done == 0)
		break_deadlock(graph, last, tsc, trace);
	return left > 0;
}

/* Objects that sources may make in a cyclic graph, less those that already wait. */
static uint32_t
credit_now(const struct hy_graph *graph)
{
	const uint32_t most = (uint32_t)graph->plan.nb_sources * graph->plan.burst;
	const uint32_t left = hy_walk_waiting(graph);

	return most > left ? most - left : 0;
}

static void
sweeps(struct hy_graph *graph, uint64_t *tsc, struct hy_trace *trace)
{
	for (unsigned int i = 0; i < graph->plan.max_sweeps; i++)
		if (!pass_end(graph, sweep(graph, tsc, trace), tsc, trace))
			break;
}

/* Not inlined, to keep walks of graphs without cycles short in the instruction cache. */
static __rte_noinline uint32_t
walk_looping(struct hy_graph *graph, uint64_t *tsc, struct hy_trace *trace)
{
	/* Credit may not suffice for all sources, so each walk starts with another one. */
	const unsigned int first = (unsigned int)(graph->walks % graph->plan.nb_sources);
	const uint32_t made = run_sources(graph, first, credit_now(graph), tsc, trace);

	sweeps(graph, tsc, trace);
	return made;
}

static bool
loops(const struct hy_plan *plan)
{
	return plan->cyclic || plan->throttled;
}

/* A walk that a model makes. */
struct hy_walk {
	uint64_t *tsc;
	struct hy_trace *trace;
	uint32_t credit; /* objects that sources may still make */
	uint32_t made;
	uint32_t done; /* objects that nodes handled */
};

void *
hy_walk_context(const struct hy_graph *graph)
{
	return graph->image->walk_ctx;
}

hy_node_process_t *
hy_walk_process(const struct hy_node *node)
{
	return hy_image_node(node)->impl.process;
}

uint32_t
hy_walk_budget(const struct hy_graph *graph, unsigned int source)
{
	return hy_budget_read(&graph->plan, source);
}

uint32_t
hy_walk_source(struct hy_graph *graph, struct hy_walk *walk, unsigned int source, uint32_t most)
{
	struct hy_node *node = &graph->plan.nodes[source];
	uint32_t n = RTE_MIN(most, RTE_MIN(hy_walk_budget(graph, source), walk->credit));

	if (graph->plan.throttled)
		n = RTE_MIN(n, room(graph, node));
	if (n == 0)
		return 0;
	n = run_source(graph, node, n, walk->tsc, walk->trace);
	walk->made += n;
	walk->credit -= n;
	return n;
}

struct hy_node *
hy_walk_next(const struct hy_graph *graph, unsigned int rank)
{
	return rank < graph->plan.nb_nodes ? next_pending(&graph->plan, rank) : NULL;
}

uint32_t
hy_walk_node(struct hy_graph *graph, struct hy_walk *walk, struct hy_node *node)
{
	const uint32_t n = run_pending(graph, node, walk->tsc, walk->trace);

	walk->done += n;
	return n;
}

uint32_t
hy_walk_waiting(const struct hy_graph *graph)
{
	struct hy_node *last;

	return under_way(graph, &last);
}

void
hy_walk_nodes(struct hy_graph *graph, struct hy_walk *walk)
{
	walk->done = 1; /* blocked nodes are handled here */
	if (loops(&graph->plan))
		sweeps(graph, walk->tsc, walk->trace);
	else
		drain_forward(graph, walk->tsc, walk->trace);
}

/* Likewise not inlined. */
static __rte_noinline uint32_t
walk_model(struct hy_graph *graph, uint64_t *tsc, struct hy_trace *trace)
{
	struct hy_walk walk = { .tsc = tsc, .trace = trace, .credit = UINT32_MAX };
	const bool looping = loops(&graph->plan);

	if (looping)
		walk.credit = credit_now(graph);
	graph->image->walk(graph, &walk, graph->image->walk_ctx);
	if (looping)
		pass_end(graph, walk.done, tsc, trace);
	else if (hy_graph_holds(graph))
		sweep(graph, tsc, trace);
	return walk.made;
}

static __rte_always_inline uint32_t
walk(struct hy_graph *graph, uint64_t *tsc, struct hy_trace *trace)
{
	if (unlikely(graph->plan.modelled))
		return walk_model(graph, tsc, trace);
	return likely(!loops(&graph->plan)) ? walk_acyclic(graph, tsc, trace)
					    : walk_looping(graph, tsc, trace);
}

/* A timed walk. Not inlined, to save other walks' room in the instruction cache. */
static __rte_noinline uint32_t
walk_timed(struct hy_graph *graph)
{
	uint64_t tsc = rte_rdtsc();

	graph->sample_left = graph->plan.sample_every;
	return walk(graph, &tsc, NULL);
}

/*
 * A walk with a task from the control plane, or that is traced or captured. The latter are not
 * timed, since their calls take longer. Likewise not inlined.
 */
static __rte_noinline uint32_t
walk_attended(struct hy_graph *graph)
{
	const struct hy_graph *outer = hy_graph_enter(graph);
	struct hy_capture *capture;
	struct hy_trace *trace;
	uint32_t made;

	hy_qsbr_wake(graph); /* first: everything else may read shared tables */
	hy_moment_take(graph);
	hy_graph_take_up(graph);
	capture = hy_capture_borrow(graph);
	trace = hy_trace_borrow(graph);
	if (capture == NULL && trace == NULL)
		hy_graph_inside = outer; /* nobody waits for the end of this walk */
	else
		hy_image_part(graph->image); /* each node is looked at */
	if (trace != NULL) {
		made = walk(graph, NULL, trace);
		hy_trace_return(trace, graph);
	} else if (capture != NULL || --graph->sample_left > 0) {
		made = walk(graph, NULL, NULL);
	} else {
		made = walk_timed(graph);
	}
	if (capture != NULL)
		hy_capture_return(capture, graph);
	if (capture != NULL || trace != NULL)
		hy_image_join(graph->image);
	hy_graph_inside = outer;
	return made;
}

uint32_t
hy_graph_walk(struct hy_graph *graph)
{
	uint32_t made;

	if (unlikely(__atomic_load_n(&graph->attention, __ATOMIC_RELAXED) != 0))
		made = walk_attended(graph);
	else
		made = likely(--graph->sample_left > 0) ? walk(graph, NULL, NULL)
							: walk_timed(graph);
	hy_count(&graph->walks, 1);
	hy_qsbr_report(graph);
	return made;
}
