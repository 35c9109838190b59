/* SPDX-License-Identifier: BSD-3-Clause */
/* Which rule decides which packets: a set of packets, cut by one rule after the other. */

#include <errno.h>
#include <stdlib.h>

#include <rte_common.h>

#include "list.h"

/* Most boxes that wait for their turn, and rules that are looked at, before a walk gives up. */
#define STACK_MAX (1u << 16)
#define WORK_MAX (1u << 20)

static bool
may_meet(const struct outline *a, const struct outline *b)
{
	return (a->shapes & b->shapes) != 0 && a->address[SRC][0] <= b->address[SRC][1] &&
		b->address[SRC][0] <= a->address[SRC][1] &&
		a->address[DST][0] <= b->address[DST][1] &&
		b->address[DST][0] <= a->address[DST][1] && a->dport[0] <= b->dport[1] &&
		b->dport[0] <= a->dport[1];
}

/* Fills the list's near: of the ranks, those that meet a part. Returns their number. */
static uint32_t
near_fill(struct list *list, const struct ranks *ranks, const struct box *part)
{
	const struct outline outline = {
		.address = {
			{ (uint64_t)(part->address[SRC][0] >> 64),
				(uint64_t)(part->address[SRC][1] >> 64) },
			{ (uint64_t)(part->address[DST][0] >> 64),
				(uint64_t)(part->address[DST][1] >> 64) },
		},
		.dport = { (uint16_t)part->range[RANGE_DPORT][0],
			(uint16_t)part->range[RANGE_DPORT][1] },
		.shapes = part->shapes,
	};
	uint32_t n = 0;

	for (uint32_t rank = ranks->first; rank < ranks->end; rank++)
		if (may_meet(&outline, &list->outlines[rank]) && rank != ranks->but &&
			box_meets(part, &list->boxes[rank]))
			list->near[n++] = rank;
	return n;
}

/* Makes room for the boxes that one more rule leaves. */
static int
stack_room(struct list *list, uint32_t used)
{
	const uint32_t size = RTE_MAX(2 * list->stack_size, 2u * BOX_RESTS);
	void *grown;

	if (used + BOX_RESTS <= list->stack_size)
		return 0;
	if (size > STACK_MAX)
		return -E2BIG;
	grown = realloc(list->stack, size * sizeof(*list->stack));
	if (grown == NULL)
		return -ENOMEM;
	list->stack = grown;
	grown = realloc(list->stack_at, size * sizeof(*list->stack_at));
	if (grown == NULL)
		return -ENOMEM;
	list->stack_at = grown;
	list->stack_size = size;
	return 0;
}

/*
 * Puts what a rule leaves of a part on the stack, the first box on top: it is the widest, so that it
 * meets few of the rules that follow. Returns the number of boxes.
 */
static uint32_t
stack_push(struct list *list, const struct box *part, uint32_t used, uint32_t at)
{
	const struct box *rule = &list->boxes[list->near[at]];
	struct box rests[BOX_RESTS];
	const uint32_t n = box_without(part, rule, rests);

	for (uint32_t i = 0; i < n; i++) {
		list->stack[used + i] = rests[n - 1 - i];
		list->stack_at[used + i] = at + 1;
	}
	return n;
}

/* Depth first: packets that no rule matches are found soon, if there are any. */
int
list_walk(struct list *list, const struct ranks *ranks, const struct box *start,
	list_visit_t *visit, void *arg)
{
	const uint32_t nb_near = near_fill(list, ranks, start);
	uint32_t used = 0, work = 0;
	struct box part, common;
	int rc = stack_room(list, used);

	if (rc < 0)
		return rc;
	list->stack[used] = *start;
	list->stack_at[used++] = 0;
	while (used > 0) {
		uint32_t at = list->stack_at[--used];

		part = list->stack[used];
		for (; at < nb_near && !box_meets(&part, &list->boxes[list->near[at]]); at++)
			work++;
		if (at == nb_near) {
			if (!visit(arg, HY_POLICY_NONE, &part))
				return 1;
			continue;
		}
		box_common(&part, &list->boxes[list->near[at]], &common);
		if (!visit(arg, list->near[at], &common))
			return 1;
		rc = ++work > WORK_MAX ? -E2BIG : stack_room(list, used);
		if (rc < 0)
			return rc;
		used += stack_push(list, &part, used, at);
	}
	return 0;
}

int
list_walk_shapes(struct list *list, const struct ranks *ranks, const struct box *box,
	list_visit_t *visit, void *arg)
{
	struct box part;
	int rc = 0;

	for (enum shape shape = SHAPE_CUT; shape < SHAPES && rc == 0; shape++)
		if (box_part(box, shape, &part))
			rc = list_walk(list, ranks, &part, visit, arg);
	return rc;
}
