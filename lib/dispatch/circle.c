/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rings in a circle. Who brings objects into one from outside leaves half of a ring there to those
 * that go round: then there is always a ring with room, and nobody waits for himself. Those that go
 * round leave room to nobody: else they would wait for one another at rings that are not full.
 *
 * Unless nodes make more of what goes round, or circles share a ring: then all rings of one may be
 * full. A source waits for every full ring that its objects may come to, and a full ring for the
 * source behind it. Where that comes back to where it began, nobody will ever move: what is seen is
 * stable, if all of it held at one moment. That it did is known when a second look finds every ring
 * as the first one did, as the ends of rings only ever go forward.
 *
 * Of the sources of a circle the first one by number goes. So each looks only among sources behind
 * itself: the first one of a circle finds it so, another none, or one of its own.
 */

#include "dispatch.h"

/* Whether a ring has no room for what one object may become. Adds where its ends are to a sum. */
static bool
is_full(const struct hy_ring *ring, uint32_t factor, uint32_t *sum)
{
	uint32_t tail;
	const uint32_t n = hy_ring_look(ring, &tail);

	*sum += 2 * tail - n;
	return ring->size - n < factor;
}

/* Whether the search from one source comes back to it. Depth first; each source once. */
static bool
comes_back(const struct hy_view *view, unsigned int feeder, uint32_t *sum)
{
	const struct hy_dispatch_plan *plan = view->plan;
	unsigned int depth = 0;

	memset(view->seen, 0, plan->nb_feeders);
	view->stack[depth++] = feeder;
	while (depth > 0) {
		const struct hy_feeder *f = &plan->feeders[view->stack[--depth]];

		for (unsigned int i = 0; i < f->nb_reach; i++) {
			const struct hy_reach *reach = &f->reach[i];
			const unsigned int to = reach->feeder;

			if (to < feeder ||
				!is_full(plan->views[f->worker].outs[reach->out].ring,
					reach->factor, sum))
				continue;
			if (to == feeder)
				return true;
			if (view->seen[to])
				continue;
			view->seen[to] = 1;
			view->stack[depth++] = to;
		}
	}
	return false;
}

bool
hy_circle_stuck(const struct hy_view *view, unsigned int feeder)
{
	uint32_t before = 0, after = 0;

	return comes_back(view, feeder, &before) && comes_back(view, feeder, &after) &&
		before == after;
}

/* All sources that objects of one may ever come to: the first view's seen. Itself, if they return. */
static const uint8_t *
led_to(const struct hy_dispatch_plan *plan, unsigned int from)
{
	const struct hy_view *scratch = plan->views;
	unsigned int depth = 0;

	memset(scratch->seen, 0, plan->nb_feeders);
	scratch->stack[depth++] = from;
	while (depth > 0) {
		const struct hy_feeder *f = &plan->feeders[scratch->stack[--depth]];

		for (unsigned int i = 0; i < f->nb_reach; i++) {
			const unsigned int next = f->reach[i].feeder;

			if (scratch->seen[next])
				continue;
			scratch->seen[next] = 1;
			if (next != from)
				scratch->stack[depth++] = next;
		}
	}
	return scratch->seen;
}

/* Tells who brings objects to a source of a circle from outside from who is one of those it leads to. */
static void
entries_find(struct hy_dispatch_plan *plan, unsigned int to, const uint8_t *led)
{
	for (unsigned int f = 0; f < plan->nb_feeders; f++) {
		const struct hy_feeder *feeder = &plan->feeders[f];

		for (unsigned int i = 0; i < feeder->nb_reach; i++) {
			struct hy_reach *reach = &feeder->reach[i];
			const struct hy_ring *ring =
				plan->views[feeder->worker].outs[reach->out].ring;

			if (reach->feeder != to)
				continue;
			reach->round = led[f];
			/* Into an empty ring it may always bring one. */
			if (!reach->round)
				reach->spare = RTE_MIN(ring->size / 2, ring->size - reach->factor);
		}
	}
}

void
hy_circle_spare(struct hy_dispatch_plan *plan)
{
	for (unsigned int f = 0; f < plan->nb_feeders; f++) {
		const uint8_t *seen = led_to(plan, f);

		plan->feeders[f].circles = seen[f];
		if (seen[f])
			entries_find(plan, f, seen);
	}
	for (unsigned int f = 0; f < plan->nb_feeders; f++) {
		const struct hy_feeder *feeder = &plan->feeders[f];

		for (unsigned int i = 0; i < feeder->nb_reach; i++) {
			const struct hy_reach *reach = &feeder->reach[i];
			struct hy_out *out = &plan->views[feeder->worker].outs[reach->out];
			const uint32_t size = out->ring->size;

			out->factor = RTE_MAX(out->factor, reach->factor);
			/* Never all of the rest: what goes round for ever would shut it for ever. */
			out->reserve = RTE_MIN(out->reserve,
				RTE_MIN((size - reach->spare) / 2,
					size - reach->spare - reach->factor));
			out->wanted = RTE_MAX(out->wanted,
				reach->spare + RTE_MAX(reach->factor, size / 2));
		}
	}
}
