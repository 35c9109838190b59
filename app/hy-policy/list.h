/* SPDX-License-Identifier: BSD-3-Clause */
/* A list of rules in their order, and what they do with sets of packets. */
#pragma once

#include <hy_policy_format.h>

#include "box.h"

/* Of a rule, what most others can be told apart by. */
struct outline {
	uint64_t address[SIDES][2]; /* the highest 64 bits */
	uint16_t dport[2];
	uint16_t shapes;
};

/* Ranks are places in the order of precedence and id. */
struct list {
	const char *path;
	struct hy_policy_file file;
	uint32_t n;
	uint32_t *order; /* by rank: which rule of the file */
	struct box *boxes;
	struct outline *outlines;
	/* Room for a walk: ranks of rules that meet its start, and boxes that it has not visited. */
	uint32_t *near;
	struct box *stack;
	uint32_t *stack_at, stack_size;
};

/* Reads a file. Returns 0, or TROUBLE (reported). list_free() frees it in any case. */
int list_read(const char *path, enum hy_policy_format format, struct list *list);
void list_free(struct list *list);

static inline const struct hy_flow_rule *
list_rule(const struct list *list, uint32_t rank)
{
	return &list->file.rules[list->order[rank]];
}

static inline unsigned int
list_line(const struct list *list, uint32_t rank)
{
	return list->file.lines[list->order[rank]];
}

/* Some ranks of a list. */
struct ranks {
	uint32_t first, end;
	uint32_t but; /* without this one; HY_POLICY_NONE: none is left out */
};

/*
 * Called for packets that the rule of a rank is the first to match; HY_POLICY_NONE: that no rule
 * matches. Returns whether the walk goes on.
 */
typedef bool(list_visit_t)(void *arg, uint32_t rank, const struct box *part);

/*
 * Visits all packets of a part, as boxes, by the rules that are the first to match among some ranks.
 * A visit may walk another list, but not this one.
 *
 * Returns 0 after all packets; 1: a visit ended it; -E2BIG: the rules cut the packets into too many
 * boxes; -ENOMEM.
 */
int list_walk(struct list *list, const struct ranks *ranks, const struct box *part,
	list_visit_t *visit, void *arg);

/* The same for all shapes of a rule's box. */
int list_walk_shapes(struct list *list, const struct ranks *ranks, const struct box *box,
	list_visit_t *visit, void *arg);
