/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of rules, read from files. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "command.h"
#include "list.h"

/* qsort() passes no argument. */
static const struct hy_flow_rule *sorted;

static int
by_precedence(const void *a, const void *b)
{
	const struct hy_flow_rule *x = &sorted[*(const uint32_t *)a];
	const struct hy_flow_rule *y = &sorted[*(const uint32_t *)b];

	if (x->precedence != y->precedence)
		return x->precedence < y->precedence ? -1 : 1;
	return x->id < y->id ? -1 : x->id > y->id;
}

static void
outline_of(const struct box *box, struct outline *outline)
{
	for (int side = 0; side < SIDES; side++)
		for (int end = 0; end < 2; end++)
			outline->address[side][end] = (uint64_t)(box->address[side][end] >> 64);
	outline->dport[0] = (uint16_t)box->range[RANGE_DPORT][0];
	outline->dport[1] = (uint16_t)box->range[RANGE_DPORT][1];
	outline->shapes = box->shapes;
}

/* Returns false: out of memory. */
static bool
list_index(struct list *list)
{
	const size_t n = list->file.nb_rules + 1;

	list->order = calloc(n, sizeof(*list->order));
	list->near = calloc(n, sizeof(*list->near));
	list->boxes = calloc(n, sizeof(*list->boxes));
	list->outlines = calloc(n, sizeof(*list->outlines));
	if (list->order == NULL || list->near == NULL || list->boxes == NULL ||
		list->outlines == NULL)
		return false;
	list->n = list->file.nb_rules;
	for (uint32_t i = 0; i < list->n; i++)
		list->order[i] = i;
	sorted = list->file.rules;
	qsort(list->order, list->n, sizeof(*list->order), by_precedence);
	for (uint32_t rank = 0; rank < list->n; rank++) {
		box_of(&list_rule(list, rank)->match, &list->boxes[rank]);
		outline_of(&list->boxes[rank], &list->outlines[rank]);
	}
	return true;
}

int
list_read(const char *path, enum hy_policy_format format, struct list *list)
{
	char error[HY_POLICY_ERROR_SIZE];

	*list = (struct list){ .path = path };
	if (hy_policy_read(path, format, RULES_MAX, &list->file, error) < 0)
		return refuse("%s", error);
	if (!list_index(list))
		return out_of_memory();
	if (list->file.nb_flags > 0)
		fprintf(stderr,
			"%s: TCP flags of %u lines are beyond the eight that rules have, "
			"and ignored\n",
			path, list->file.nb_flags);
	return 0;
}

void
list_free(struct list *list)
{
	free(list->order);
	free(list->near);
	free(list->boxes);
	free(list->outlines);
	free(list->stack);
	free(list->stack_at);
	hy_policy_file_free(&list->file);
}
