/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The walk of a worker: each source gets room for no more objects than the rings that it can reach
 * have. These rings, and how many objects one can become on the way, are found once for each set of
 * pins.
 */

#include <errno.h>
#include <stdlib.h>

#include <rte_atomic.h>

#include "lib/graph/internal/log.h"

#include "dispatch.h"

/* Objects that a source may make. If none, *lack is the ring without room. */
static uint32_t
credit(const struct hy_view *view, const struct hy_feeder *feeder, const struct hy_out **lack)
{
	uint32_t n = UINT32_MAX;

	for (unsigned int i = 0; i < feeder->nb_reach; i++) {
		const struct hy_reach *reach = &feeder->reach[i];
		const struct hy_out *out = &view->outs[reach->out];
		uint32_t room = out->left - RTE_MIN(out->left, out->kept);

		if (reach->factor > 1)
			room /= reach->factor;
		if (room == 0)
			*lack = out;
		n = RTE_MIN(n, room);
	}
	return n;
}

static void
spend(const struct hy_view *view, const struct hy_feeder *feeder, uint32_t made)
{
	for (unsigned int i = 0; i < feeder->nb_reach; i++) {
		const struct hy_reach *reach = &feeder->reach[i];
		struct hy_out *out = &view->outs[reach->out];

		out->left -= RTE_MIN(out->left, made * reach->factor);
	}
}

/* Objects that wait in the graph between two walks. */
static uint32_t
waiting_now(const struct hy_graph *graph)
{
	return graph->plan.cyclic || graph->plan.throttled ? hy_walk_waiting(graph) : 0;
}

/* Reads the room of each ring, and how much of it is reserved for objects that wait in the graph. */
static void
rooms_look(const struct hy_graph *graph, const struct hy_view *view)
{
	const uint64_t waiting = waiting_now(graph);

	for (unsigned int o = 0; o < view->nb_outs; o++) {
		struct hy_out *out = &view->outs[o];

		out->kept = (uint32_t)RTE_MIN(waiting * out->factor, out->reserve);
		out->left = hy_ring_room(out->ring,
			RTE_MIN(out->wanted + out->kept, out->ring->size));
	}
}

static bool
rings_wait(const struct hy_dispatch *dispatch, const struct hy_feeder *feeder)
{
	for (unsigned int from = 0; from < dispatch->nb_workers; from++) {
		struct hy_ring *ring = __atomic_load_n(
			&feeder->stage->rings[from * dispatch->nb_workers + feeder->worker],
			__ATOMIC_ACQUIRE);

		if (ring != NULL && hy_ring_count(ring) > 0)
			return true;
	}
	return false;
}

/* Runs a source within its credit. Returns false if it was not called but may have objects. */
static bool
source_run(struct hy_graph *graph, struct hy_walk *walk, const struct hy_view *view, unsigned int s,
	bool hold)
{
	const struct hy_feeder *feeder = &view->plan->feeders[view->first + s];
	const struct hy_out *lack = NULL;
	uint32_t n;

	if (hold && feeder->stage == NULL)
		return false;
	n = credit(view, feeder, &lack);
	if (n == 0) {
		if (feeder->stage != NULL && !rings_wait(view->dispatch, feeder))
			return true;
		hy_handoff_held(graph, lack->stage);
		return false;
	}
	spend(view, feeder, hy_walk_source(graph, walk, s, n));
	return true;
}

/* Wakes sleeping workers for which this walk put objects into rings. */
static void
bells_ring(const struct hy_view *view)
{
	struct hy_dispatch *dispatch = view->dispatch;
	uint64_t put = 0;

	for (unsigned int o = 0; o < view->nb_outs; o++) {
		struct hy_out *out = &view->outs[o];

		if (out->ring->put != out->rung)
			put |= UINT64_C(1) << out->to;
		out->rung = out->ring->put;
	}
	if (put == 0)
		return;
	/* Orders the objects before the read of asleep; its counterpart is in dispatch_arm(). */
	rte_smp_mb();
	for (; put != 0; put &= put - 1) {
		const uint16_t to = (uint16_t)__builtin_ctzll(put);
		uint32_t *asleep = &dispatch->workers[to].asleep;

		if (__atomic_load_n(asleep, __ATOMIC_RELAXED) != 0 &&
			__atomic_exchange_n(asleep, 0, __ATOMIC_ACQ_REL) != 0)
			hy_dispatch_notify(dispatch, to);
	}
}

void
hy_credit_walk(struct hy_graph *graph, struct hy_walk *walk, void *ctx)
{
	struct hy_view *view = ctx;
	struct hy_dispatch *dispatch = view->dispatch;
	struct hy_dispatch_worker *me = &dispatch->workers[view->worker];
	/* Sequentially consistent with the bit that hy_graph_resting() reads. */
	const uint32_t order = __atomic_load_n(&dispatch->order, __ATOMIC_SEQ_CST);
	const bool hold = (order & HY_ORDER_HOLD) != 0;
	/* Other workers may have new graphs, which do not read the rings that this one may fill. */
	const bool late = __atomic_load_n(&dispatch->plan, __ATOMIC_RELAXED) != view->plan;
	/* Room may not suffice for all sources, so each walk starts with another one. */
	unsigned int s = me->turn < view->nb_feeders ? me->turn : 0;
	bool held = late;

	me->turn = s + 1;
	rooms_look(graph, view);
	for (unsigned int i = 0; i < view->nb_feeders && !late; i++) {
		held |= !source_run(graph, walk, view, s, hold);
		s = s + 1 < view->nb_feeders ? s + 1 : 0;
	}
	hy_walk_nodes(graph, walk);
	me->held = held;
	if (dispatch->notify != NULL)
		bells_ring(view);
	__atomic_store_n(&me->waiting, waiting_now(graph), __ATOMIC_RELAXED);
	/* A thread that reads it sees all effects of this walk, and that later walks follow this order. */
	__atomic_store_n(&me->followed, order, __ATOMIC_RELEASE);
}

/* --- Found once for each set of pins. --- */

/* The stages that a worker hands objects to. */
struct leaving {
	struct hy_dispatch *dispatch;
	struct hy_dispatch_plan *plan;
	unsigned int worker;
	unsigned int nb_places;
	uint32_t *
		factors; /* [place * nb_places + target]: objects from one, at the stage before target */
};

/* Updates the most objects that a node can bring to each stage. Returns whether one has changed. */
static bool
factors_add(struct leaving *l, unsigned int p)
{
	const struct hy_place *places = l->plan->placement.places, *place = &places[p];
	const uint32_t most = rte_align32pow2(l->dispatch->ring_objs);
	uint32_t *own = &l->factors[(size_t)p * l->nb_places];
	bool news = false;

	for (unsigned int e = 0; e < place->nb_edges; e++) {
		const unsigned int to = place->edges[e];
		const bool leaves = hy_place_leaves(&places[to], l->worker);
		const bool stays = !leaves || (places[to].workers >> l->worker & 1) != 0;

		for (unsigned int t = 0; t < l->nb_places; t++) {
			const uint32_t behind = stays ? l->factors[(size_t)to * l->nb_places + t]
						      : 0;
			const uint32_t here = leaves && t == to ? RTE_MAX(behind, 1u) : behind;
			const uint32_t all = (uint32_t)RTE_MIN((uint64_t)here * place->replicates,
				most);

			news |= all > own[t];
			own[t] = RTE_MAX(own[t], all);
		}
	}
	return news;
}

static void
factors_find(struct leaving *l)
{
	bool news = true;

	while (news) {
		news = false;
		for (unsigned int p = l->nb_places; p-- > 0;)
			if ((l->plan->placement.places[p].workers >> l->worker & 1) != 0)
				news |= factors_add(l, p);
	}
}

/* The index of a worker's source that reads rings to a node; it exists. */
static unsigned int
feeder_behind(const struct hy_dispatch_plan *plan, const struct hy_stage *stage,
	unsigned int worker)
{
	unsigned int f = plan->views[worker].first;

	while (plan->feeders[f].stage != stage)
		f++;
	return f;
}

/* Lists the rings that objects of a source can reach; they start at place. */
static int
reach_fill(struct leaving *l, struct hy_feeder *feeder, unsigned int place)
{
	const struct hy_view *view = &l->plan->views[l->worker];
	const uint32_t *factors = &l->factors[(size_t)place * l->nb_places];

	feeder->reach = calloc(view->nb_outs + 1, sizeof(*feeder->reach));
	if (feeder->reach == NULL)
		return -ENOMEM;
	for (unsigned int o = 0; o < view->nb_outs; o++) {
		const struct hy_out *out = &view->outs[o];
		unsigned int t = 0;

		while (strcmp(l->plan->placement.places[t].name, out->stage->target) != 0)
			t++;
		if (factors[t] == 0)
			continue;
		feeder->reach[feeder->nb_reach++] = (struct hy_reach){ .out = o,
			.feeder = feeder_behind(l->plan, out->stage, out->to),
			.factor = factors[t] };
	}
	return 0;
}

/* Fills in a worker's feeders, which hy_pin_plan() listed by their places. */
static int
worker_fill(struct leaving *l)
{
	const struct hy_view *view = &l->plan->views[l->worker];
	int rc = 0;

	l->factors = calloc((size_t)l->nb_places * l->nb_places, sizeof(*l->factors));
	if (l->factors == NULL)
		return -ENOMEM;
	factors_find(l);
	for (unsigned int i = 0; i < view->nb_feeders && rc == 0; i++) {
		struct hy_feeder *feeder = &l->plan->feeders[view->first + i];

		rc = feeder->place < l->nb_places ? reach_fill(l, feeder, feeder->place) : 0;
	}
	free(l->factors);
	return rc;
}

/* Whether a source leads only to rings whose sources end. */
static bool
ends_behind(const struct hy_dispatch_plan *plan, const struct hy_feeder *feeder)
{
	for (unsigned int i = 0; i < feeder->nb_reach; i++)
		if (!plan->feeders[feeder->reach[i].feeder].ends)
			return false;
	return true;
}

/* The reader of the first ring that a source leads to and that never ends. */
static unsigned int
endless_behind(const struct hy_dispatch_plan *plan, unsigned int feeder)
{
	const struct hy_reach *reach = plan->feeders[feeder].reach;

	while (plan->feeders[reach->feeder].ends)
		reach++;
	return reach->feeder;
}

/* Refuses rings in a circle: full ones would wait for one another. Logs what it returns. */
static int
circle_check(const struct hy_dispatch *dispatch, struct hy_dispatch_plan *plan)
{
	unsigned int f = 0;
	bool news = true;

	while (news) {
		news = false;
		for (unsigned int i = 0; i < plan->nb_feeders; i++) {
			struct hy_feeder *feeder = &plan->feeders[i];

			if (!feeder->ends && ends_behind(plan, feeder))
				news = feeder->ends = true;
		}
	}
	while (f < plan->nb_feeders && plan->feeders[f].ends)
		f++;
	if (f == plan->nb_feeders)
		return 0;
	for (unsigned int i = 0; i < plan->nb_feeders; i++) /* into the circle, if it leads there */
		f = endless_behind(plan, f);
	return HY_REFUSE(-EINVAL,
		"dispatch '%s': the graph has a cycle by '%s' that crosses workers; the nodes of a "
		"cycle must be pinned to one worker",
		dispatch->name, plan->feeders[f].stage->target);
}

/* Fills in how much room a worker wants in its rings. */
static void
rooms_plan(struct hy_dispatch_plan *plan)
{
	for (unsigned int f = 0; f < plan->nb_feeders; f++) {
		const struct hy_feeder *feeder = &plan->feeders[f];

		for (unsigned int i = 0; i < feeder->nb_reach; i++) {
			const uint32_t factor = feeder->reach[i].factor;
			struct hy_out *out =
				&plan->views[feeder->worker].outs[feeder->reach[i].out];
			const uint32_t size = out->ring->size;

			out->factor = RTE_MAX(out->factor, factor);
			/* Never all of it: objects that circulate for ever would block it for ever. */
			out->reserve = RTE_MIN(out->reserve, RTE_MIN(size / 2, size - factor));
			out->wanted = RTE_MAX(out->wanted, RTE_MAX(factor, size / 2));
		}
	}
}

int
hy_credit_plan(struct hy_dispatch *dispatch, struct hy_dispatch_plan *plan)
{
	struct leaving l = {
		.dispatch = dispatch, .plan = plan, .nb_places = plan->placement.nb_places
	};
	int rc = 0;

	for (l.worker = 0; l.worker < dispatch->nb_workers && rc == 0; l.worker++)
		rc = worker_fill(&l);
	if (rc < 0)
		hy_dispatch_no_memory(dispatch);
	if (rc == 0)
		rc = circle_check(dispatch, plan);
	if (rc == 0)
		rooms_plan(plan);
	return rc;
}
