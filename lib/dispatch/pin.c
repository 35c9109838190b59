/* SPDX-License-Identifier: BSD-3-Clause */
/* From pins to a plan, and from one plan to another while workers walk. */

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include <rte_cycles.h>
#include <rte_malloc.h>

#include "lib/graph/internal/log.h"

#include "dispatch.h"

static bool
runs_on(const struct hy_place *place, unsigned int worker)
{
	return (place->workers >> worker & 1) != 0;
}

/* Whether a worker has a source for objects that others hand over to a node. */
static bool
fed_on(const struct hy_place *place, unsigned int worker)
{
	return runs_on(place, worker) && (place->from & ~(UINT64_C(1) << worker)) != 0;
}

/* Finds which workers hand objects over to each node. */
static void
crossings_find(struct hy_placement *placement, unsigned int nb_workers)
{
	for (unsigned int i = 0; i < placement->nb_places; i++) {
		const struct hy_place *place = &placement->places[i];

		for (unsigned int e = 0; e < place->nb_edges; e++) {
			struct hy_place *to = &placement->places[place->edges[e]];

			for (unsigned int w = 0; w < nb_workers; w++)
				if (runs_on(place, w) && hy_place_leaves(to, w))
					to->from |= UINT64_C(1) << w;
		}
	}
}

/* Creates the stage and the rings to a node. */
static int
rings_make(struct hy_dispatch *dispatch, const struct hy_place *place)
{
	struct hy_stage *stage;
	int rc = 0;

	if (place->from == 0)
		return 0;
	stage = hy_stage_get(dispatch, place->name, &rc);
	for (unsigned int from = 0; from < dispatch->nb_workers; from++)
		for (unsigned int to = 0; to < dispatch->nb_workers && rc == 0; to++)
			if ((place->from >> from & 1) != 0 && runs_on(place, to) && to != from)
				rc = hy_stage_ring(dispatch, stage, from, to);
	return rc;
}

/* Lists the rings that a worker writes to. */
static int
outs_list(const struct hy_dispatch *dispatch, const struct hy_placement *placement,
	struct hy_view *view)
{
	const unsigned int room = placement->nb_places * dispatch->nb_workers;

	view->outs = rte_zmalloc_socket("hy_outs", (room + 1) * sizeof(*view->outs),
		RTE_CACHE_LINE_SIZE, dispatch->sockets[view->worker]);
	if (view->outs == NULL)
		return -ENOMEM;
	for (unsigned int i = 0; i < placement->nb_places; i++) {
		const struct hy_place *place = &placement->places[i];
		const struct hy_stage *stage = hy_stage_find(dispatch, place->name);

		for (uint16_t to = 0; to < dispatch->nb_workers; to++)
			if ((place->from >> view->worker & 1) != 0 && runs_on(place, to) &&
				to != view->worker)
				view->outs[view->nb_outs++] = (struct hy_out){ .stage = stage,
					.to = to,
					.reserve = UINT32_MAX,
					.ring = stage->rings[view->worker * dispatch->nb_workers +
						to] };
	}
	return 0;
}

static void
feeder_add(struct hy_dispatch_plan *plan, struct hy_view *view, const struct hy_stage *stage,
	unsigned int place)
{
	plan->feeders[plan->nb_feeders++] = (struct hy_feeder){
		.stage = stage, .worker = view->worker, .place = place
	};
	view->nb_feeders++;
}

/* Lists a worker's sources in the order of its graph's patterns, which is that of their ranks. */
static void
feeders_list(const struct hy_dispatch *dispatch, struct hy_dispatch_plan *plan,
	struct hy_view *view)
{
	const struct hy_placement *placement = &plan->placement;

	view->first = plan->nb_feeders;
	for (unsigned int i = 0; i < placement->nb_places; i++)
		if ((placement->places[i].flags & HY_NODE_SOURCE) != 0 &&
			runs_on(&placement->places[i], view->worker))
			feeder_add(plan, view, NULL, i);
	for (unsigned int i = 0; i < placement->nb_places; i++)
		if (fed_on(&placement->places[i], view->worker))
			feeder_add(plan, view, hy_stage_find(dispatch, placement->places[i].name),
				i);
	if (view->nb_feeders == 0)
		feeder_add(plan, view, NULL, placement->nb_places);
}

static int
views_list(struct hy_dispatch *dispatch, struct hy_dispatch_plan *plan)
{
	const unsigned int most = (plan->placement.nb_places + 1) * dispatch->nb_workers;

	plan->views = calloc(dispatch->nb_workers, sizeof(*plan->views));
	plan->feeders = calloc(most, sizeof(*plan->feeders));
	if (plan->views == NULL || plan->feeders == NULL)
		return -ENOMEM;
	for (uint16_t w = 0; w < dispatch->nb_workers; w++) {
		struct hy_view *view = &plan->views[w];

		view->dispatch = dispatch;
		view->plan = plan;
		view->worker = w;
		if (outs_list(dispatch, &plan->placement, view) < 0)
			return -ENOMEM;
		feeders_list(dispatch, plan, view);
	}
	return 0;
}

void
hy_pin_plan_free(struct hy_dispatch *dispatch, struct hy_dispatch_plan *plan)
{
	if (plan == NULL)
		return;
	for (unsigned int f = 0; f < plan->nb_feeders; f++)
		free(plan->feeders[f].reach);
	for (unsigned int w = 0; plan->views != NULL && w < dispatch->nb_workers; w++)
		rte_free(plan->views[w].outs);
	free(plan->feeders);
	free(plan->views);
	hy_placement_free(&plan->placement);
	free(plan);
}

int
hy_pin_plan(struct hy_dispatch *dispatch, const struct hy_dispatch_pin *pins, unsigned int nb_pins,
	struct hy_dispatch_plan **out)
{
	struct hy_dispatch_plan *plan = calloc(1, sizeof(*plan));
	int rc;

	if (plan == NULL)
		return hy_dispatch_no_memory(dispatch);
	rc = hy_placement_make(dispatch, pins, nb_pins, &plan->placement);
	if (rc == 0)
		crossings_find(&plan->placement, dispatch->nb_workers);
	for (unsigned int i = 0; i < plan->placement.nb_places && rc == 0; i++)
		rc = rings_make(dispatch, &plan->placement.places[i]);
	if (rc == 0 && views_list(dispatch, plan) < 0)
		rc = hy_dispatch_no_memory(dispatch);
	if (rc == 0)
		rc = hy_credit_plan(dispatch, plan);
	if (rc < 0)
		hy_pin_plan_free(dispatch, plan);
	else
		*out = plan;
	return rc;
}

int
hy_pin_stages(struct hy_dispatch *dispatch, const struct hy_dispatch_plan *plan)
{
	int rc = 0;

	for (struct hy_stage *stage = dispatch->stages; stage != NULL; stage = stage->next) {
		stage->workers = 0;
		for (unsigned int i = 0; i < plan->placement.nb_places; i++)
			if (strcmp(plan->placement.places[i].name, stage->target) == 0)
				stage->workers = plan->placement.places[i].workers;
		/* The same again, but anew: their contexts are made of what the stage says now. */
		for (unsigned int n = 0; n < STAGE_NODES && rc == 0; n++)
			rc = hy_stage_config(stage, n);
	}
	return rc;
}

void
hy_pin_params_free(struct hy_graph_params *params)
{
	free((void *)(uintptr_t)params->patterns);
	free((void *)(uintptr_t)params->detours);
}

int
hy_pin_params(struct hy_dispatch *dispatch, const struct hy_dispatch_plan *plan,
	unsigned int worker, struct hy_graph_params *params)
{
	const struct hy_view *view = &plan->views[worker];
	const struct hy_place *places = plan->placement.places;
	const char **patterns = calloc(view->nb_feeders, sizeof(*patterns));
	struct hy_detour *detours = calloc(2u * plan->placement.nb_places + 1, sizeof(*detours));

	params->patterns = patterns;
	params->nb_patterns = view->nb_feeders;
	params->detours = detours;
	params->nb_detours = 0;
	params->worker = (uint16_t)worker;
	params->socket = dispatch->sockets[worker];
	params->ops = &dispatch->ops;
	params->walk = hy_credit_walk;
	params->walk_ctx = &plan->views[worker];
	if (patterns == NULL || detours == NULL) {
		hy_pin_params_free(params);
		return hy_dispatch_no_memory(dispatch);
	}
	for (unsigned int i = 0; i < view->nb_feeders; i++) {
		const struct hy_feeder *feeder = &plan->feeders[view->first + i];

		patterns[i] = feeder->stage != NULL ? feeder->stage->nodes[STAGE_IN].name
			: feeder->place < plan->placement.nb_places ? places[feeder->place].name
								    : dispatch->idle_name;
	}
	for (unsigned int i = 0; i < plan->placement.nb_places; i++) {
		const struct hy_stage *stage = hy_stage_find(dispatch, places[i].name);

		if ((places[i].from >> worker & 1) == 0)
			continue;
		detours[params->nb_detours++] = (struct hy_detour){ places[i].name,
			stage->nodes[runs_on(&places[i], worker) ? STAGE_SPLIT : STAGE_OUT].name };
		/* Objects from a ring are on the right worker: nodes of a detour take none. */
		if (fed_on(&places[i], worker))
			detours[params->nb_detours++] = (struct hy_detour){
				stage->nodes[STAGE_SPLIT].name, stage->nodes[STAGE_IN].name
			};
	}
	return 0;
}

/* --- From one plan to another. --- */

static bool
late(uint64_t deadline)
{
	usleep(20);
	return rte_get_tsc_cycles() > deadline;
}

static void
order_give(struct hy_dispatch *dispatch, uint32_t hold)
{
	/* In one order with the bit that hy_graph_resting() reads. */
	__atomic_store_n(&dispatch->order,
		((dispatch->order + HY_ORDER_STEP) & ~HY_ORDER_HOLD) | hold, __ATOMIC_SEQ_CST);
}

/*
 * Waits until each worker has made a walk that began after now, or rests. The order that it
 * publishes at the end of a walk, a new one each time, shows that. A count of walks would not, as a
 * CPU may load for a walk before others see that earlier walks are over.
 */
static bool
all_pass(struct hy_dispatch *dispatch, uint64_t deadline)
{
	order_give(dispatch, dispatch->order & HY_ORDER_HOLD);
	for (unsigned int w = 0; w < dispatch->nb_workers; w++) {
		const struct hy_dispatch_worker *worker = &dispatch->workers[w];

		while (!hy_graph_resting(worker->graph) &&
			__atomic_load_n(&worker->followed, __ATOMIC_ACQUIRE) != dispatch->order)
			if (late(deadline))
				return false;
	}
	return true;
}

/* Objects in rings and in graphs. *tails becomes the sum of the rings' tails. */
static uint64_t
under_way(const struct hy_dispatch *dispatch, uint64_t *tails)
{
	const unsigned int pairs = dispatch->nb_workers * dispatch->nb_workers;
	uint64_t n = 0;

	*tails = 0;
	for (const struct hy_stage *s = dispatch->stages; s != NULL; s = s->next) {
		for (unsigned int i = 0; i < pairs; i++) {
			uint32_t tail = 0;

			n += s->rings[i] == NULL ? 0 : hy_ring_look(s->rings[i], &tail);
			*tails += tail;
		}
	}
	for (unsigned int w = 0; w < dispatch->nb_workers; w++)
		n += __atomic_load_n(&dispatch->workers[w].waiting, __ATOMIC_RELAXED);
	return n;
}

static void
sleepers_wake(struct hy_dispatch *dispatch)
{
	for (uint16_t w = 0; w < dispatch->nb_workers && dispatch->notify != NULL; w++)
		if (__atomic_exchange_n(&dispatch->workers[w].asleep, 0, __ATOMIC_ACQ_REL) != 0)
			hy_dispatch_notify(dispatch, w);
}

/*
 * Waits until no objects are left. Objects in the hands of a walk are in no ring, so rings must be
 * empty before and after a walk of each worker, with nothing put into them in between.
 */
static bool
all_drained(struct hy_dispatch *dispatch, uint64_t deadline)
{
	uint64_t before, after;

	do {
		if (!all_pass(dispatch, deadline))
			return false;
		sleepers_wake(dispatch);
		if (under_way(dispatch, &before) != 0)
			continue;
		if (!all_pass(dispatch, deadline))
			return false;
		if (under_way(dispatch, &after) == 0 && before == after)
			return true;
	} while (!late(deadline));
	return false;
}

static int
graphs_update(struct hy_dispatch *dispatch, const struct hy_dispatch_plan *plan)
{
	struct hy_graph_params params[HY_DISPATCH_WORKERS_MAX] = { 0 };
	struct hy_graph *graphs[HY_DISPATCH_WORKERS_MAX] = { NULL };
	unsigned int n = 0;
	int rc = 0;

	for (; n < dispatch->nb_workers && rc == 0; n++) {
		graphs[n] = dispatch->workers[n].graph;
		hy_graph_params_get(graphs[n], &params[n]);
		rc = hy_pin_params(dispatch, plan, n, &params[n]);
	}
	if (rc < 0)
		n--;
	else
		rc = hy_graph_update_as(&hy_dispatch_owner, graphs, params, n);
	while (n-- > 0)
		hy_pin_params_free(&params[n]);
	return rc;
}

/* The same, and logs a failure. */
static int
drain(struct hy_dispatch *dispatch, uint64_t deadline)
{
	if (all_drained(dispatch, deadline))
		return 0;
	return HY_REFUSE(-ETIMEDOUT, "dispatch '%s': workers were not through within %u ms",
		dispatch->name, dispatch->patience_ms);
}

/* Waits until each worker has its new graph, or rests: then it switches before its next walk. */
static bool
all_updated(const struct hy_dispatch *dispatch, uint64_t deadline)
{
	for (unsigned int w = 0; w < dispatch->nb_workers; w++) {
		const struct hy_graph *graph = dispatch->workers[w].graph;

		while (hy_graph_updating(graph) && !hy_graph_resting(graph))
			if (late(deadline))
				return false;
	}
	return true;
}

/* Frees all plans but the newest, once every worker has that. */
static void
plans_trim(struct hy_dispatch *dispatch)
{
	for (unsigned int w = 0; w < dispatch->nb_workers; w++)
		if (hy_graph_updating(dispatch->workers[w].graph))
			return;
	while (dispatch->plan->next != NULL) {
		struct hy_dispatch_plan *old = dispatch->plan->next;

		dispatch->plan->next = old->next;
		hy_pin_plan_free(dispatch, old);
	}
}

static uint64_t
deadline_of(const struct hy_dispatch *dispatch)
{
	return rte_get_tsc_cycles() + (uint64_t)dispatch->patience_ms * rte_get_tsc_hz() / 1000;
}

int
hy_dispatch_drain(struct hy_dispatch *dispatch)
{
	int rc = hy_graph_wait_check("hy_dispatch_drain()");

	if (rc < 0)
		return rc;
	order_give(dispatch, HY_ORDER_HOLD);
	rc = drain(dispatch, deadline_of(dispatch));
	order_give(dispatch, 0);
	return rc;
}

/* Plans and compiles all graphs from the same registry: the caller holds the lock. */
static int
switch_over(struct hy_dispatch *dispatch, const struct hy_dispatch_pin *pins, unsigned int nb_pins)
{
	struct hy_dispatch_plan *plan = NULL;
	int rc = hy_pin_plan(dispatch, pins, nb_pins, &plan);

	if (rc < 0)
		return rc;
	rc = hy_pin_stages(dispatch, plan);
	if (rc == 0)
		rc = graphs_update(dispatch, plan);
	if (rc < 0) {
		hy_pin_stages(dispatch, dispatch->plan);
		hy_pin_plan_free(dispatch, plan);
		return rc;
	}
	plan->next = dispatch->plan;
	/* Walks see it with the order to resume, at the latest. */
	__atomic_store_n(&dispatch->plan, plan, __ATOMIC_RELAXED);
	return 0;
}

static int
change(struct hy_dispatch *dispatch, const struct hy_dispatch_pin *pins, unsigned int nb_pins)
{
	const uint64_t deadline = deadline_of(dispatch);
	int rc = drain(dispatch, deadline);

	if (rc < 0)
		return rc;
	hy_registry_lock();
	rc = switch_over(dispatch, pins, nb_pins);
	hy_registry_unlock();
	if (rc < 0)
		return rc;
	sleepers_wake(dispatch); /* for their new sources */
	if (!all_updated(dispatch, deadline))
		HY_LOG(WARNING, "dispatch '%s': a worker has not taken its new graph up yet",
			dispatch->name);
	return 0;
}

int
hy_dispatch_pin(struct hy_dispatch *dispatch, const struct hy_dispatch_pin *pins,
	unsigned int nb_pins)
{
	struct hy_dispatch_plan *plan = NULL;
	int rc = hy_graph_wait_check("hy_dispatch_pin()");

	if (rc < 0)
		return rc;
	plans_trim(dispatch);
	/* Refused pins stop no source. The registry may change until workers are drained. */
	hy_registry_lock();
	rc = hy_pin_plan(dispatch, pins, nb_pins, &plan);
	hy_registry_unlock();
	if (rc < 0)
		return rc;
	hy_pin_plan_free(dispatch, plan);
	order_give(dispatch, HY_ORDER_HOLD);
	rc = change(dispatch, pins, nb_pins);
	order_give(dispatch, 0);
	if (rc == 0)
		plans_trim(dispatch);
	return rc;
}
