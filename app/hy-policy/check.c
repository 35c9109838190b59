/* SPDX-License-Identifier: BSD-3-Clause */
/* hy-policy check: rules that never apply, and rules without which nothing changes. */

#include <errno.h>
#include <stdlib.h>

#include <rte_common.h>

#include "command.h"
#include "list.h"
#include "text.h"

#define NAMED_MAX 8 /* rules that a message names */

enum finding {
	GOOD,
	REDUNDANT,
	CONTRADICTED,
	SHADOWED,
	NOT_NEEDED,
	NO_PACKET,
	UNDECIDED,
	FINDINGS
};

struct checking {
	struct list *list;
	uint32_t rank;      /* of the rule in question */
	uint32_t *others;   /* ranks of rules that decide its packets */
	bool *seen;         /* by rank: it is one of them */
	uint32_t nb_others; /* and how many of them do the same */
	uint32_t nb_same;
	bool by_default; /* the default action decides some of them */
	bool unneeded;   /* look for rules that are not needed, too */
	uint32_t count[FINDINGS];
};

static bool
same_effect(const struct hy_flow_rule *a, const struct hy_flow_rule *b)
{
	return a->action == b->action && a->class_id == b->class_id && a->port == b->port &&
		a->log == b->log;
}

static void
add_other(struct checking *checking, uint32_t rank)
{
	if (checking->seen[rank])
		return;
	checking->seen[rank] = true;
	checking->others[checking->nb_others++] = rank;
	checking->nb_same += same_effect(list_rule(checking->list, rank),
		list_rule(checking->list, checking->rank));
}

static void
forget_others(struct checking *checking)
{
	for (uint32_t i = 0; i < checking->nb_others; i++)
		checking->seen[checking->others[i]] = false;
	checking->nb_others = checking->nb_same = 0;
	checking->by_default = false;
}

/* Earlier rules match the packet; or the rule does. */
static bool
visit_earlier(void *arg, uint32_t rank, const struct box *part __rte_unused)
{
	if (rank != HY_POLICY_NONE)
		add_other(arg, rank);
	return rank != HY_POLICY_NONE;
}

/* Without the rule, what it decides is decided by later ones or by default: must be the same. */
static bool
visit_later(void *arg, uint32_t rank, const struct box *part __rte_unused)
{
	struct checking *checking = arg;
	const struct hy_flow_rule *rule = list_rule(checking->list, checking->rank);

	if (rank == HY_POLICY_NONE) {
		checking->by_default = true;
		return rule->action == checking->list->file.default_action.action;
	}
	if (rank < checking->rank)
		return true;
	add_other(checking, rank);
	return same_effect(rule, list_rule(checking->list, rank));
}

static bool
has_packets(const struct box *box)
{
	struct box part;

	for (enum shape shape = SHAPE_CUT; shape < SHAPES; shape++)
		if (box_part(box, shape, &part))
			return true;
	return false;
}

/* Returns a finding, or -ENOMEM. */
static int
check_rule(struct checking *checking)
{
	struct list *list = checking->list;
	const struct hy_flow_rule *rule = list_rule(list, checking->rank);
	const struct box *box = &list->boxes[checking->rank];
	const struct ranks earlier = { 0, checking->rank, HY_POLICY_NONE };
	const struct ranks others = { 0, list->n, checking->rank };
	int rc;

	forget_others(checking);
	if (!has_packets(box))
		return NO_PACKET;
	rc = list_walk_shapes(list, &earlier, box, visit_earlier, checking);
	if (rc == 0)
		return checking->nb_same == checking->nb_others ? REDUNDANT
			: checking->nb_same == 0                ? CONTRADICTED
								: SHADOWED;
	if (rc == -E2BIG)
		return UNDECIDED;
	forget_others(checking);
	if (rc == 1 && checking->unneeded && rule->action != HY_RULE_COUNT && !rule->log) {
		rc = list_walk_shapes(list, &others, box, visit_later, checking);
		if (rc == 0)
			return NOT_NEEDED;
	}
	return rc == -E2BIG ? UNDECIDED : rc == 1 ? GOOD : rc;
}

static int
by_rank(const void *a, const void *b)
{
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* "rule 1 (line 1, permit) and rule 2 (line 2, deny)" */
static void
print_others(const struct checking *checking)
{
	const uint32_t n = checking->nb_others;

	qsort(checking->others, n, sizeof(*checking->others), by_rank);
	for (uint32_t i = 0; i < RTE_MIN(n, (uint32_t)NAMED_MAX); i++) {
		printf("%s", i == 0 ? "" : i + 1 == n && !checking->by_default ? " and " : ", ");
		text_rule(checking->list, checking->others[i]);
	}
	if (n > NAMED_MAX)
		printf(" and %u more", n - NAMED_MAX);
	if (checking->by_default)
		printf("%sthe default", n == 0 ? "" : " and ");
}

static void
print_finding(const struct checking *checking, enum finding finding)
{
	static const char *const words[FINDINGS] = {
		[REDUNDANT] = "is redundant: all its packets first match ",
		[CONTRADICTED] = "is contradicted: all its packets first match ",
		[SHADOWED] = "is shadowed: all its packets first match ",
		[NOT_NEEDED] = "is not needed: the same is done without it by ",
		[NO_PACKET] = "matches no packet",
		[UNDECIDED] = "is undecided: too many rules share its packets",
	};
	const struct list *list = checking->list;

	text_place(list, checking->rank);
	printf(" %s", words[finding]);
	if (finding != UNDECIDED && finding != NO_PACKET)
		print_others(checking);
	putchar('\n');
}

static int
check_list(struct checking *checking)
{
	struct list *list = checking->list;
	const uint32_t *count = checking->count;

	for (uint32_t rank = 0; rank < list->n; rank++) {
		int finding;

		checking->rank = rank;
		finding = check_rule(checking);
		if (finding < 0)
			return out_of_memory();
		checking->count[finding]++;
		if (finding != GOOD)
			print_finding(checking, (enum finding)finding);
	}
	printf("%u rules: %u redundant, %u contradicted, %u shadowed, %u not needed, "
	       "%u without packets, %u undecided\n",
		list->n, count[REDUNDANT], count[CONTRADICTED], count[SHADOWED], count[NOT_NEEDED],
		count[NO_PACKET], count[UNDECIDED]);
	return count[GOOD] == list->n ? SAME : FOUND;
}

int
check(const struct settings *settings)
{
	struct checking checking = { 0 };
	struct list list;
	int status = TROUBLE;

	if (list_read(settings->file, settings->format, &list) == 0) {
		checking.list = &list;
		checking.unneeded = settings->unneeded;
		checking.others = calloc(list.n + 1, sizeof(*checking.others));
		checking.seen = calloc(list.n + 1, sizeof(*checking.seen));
		status = checking.others == NULL || checking.seen == NULL ? out_of_memory()
									  : check_list(&checking);
	}
	free(checking.others);
	free(checking.seen);
	list_free(&list);
	return status;
}
