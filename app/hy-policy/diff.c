/* SPDX-License-Identifier: BSD-3-Clause */
/* hy-policy diff: rules that differ, by their ids, and a packet for which that makes a difference. */

#include <errno.h>
#include <stdlib.h>

#include <rte_common.h>

#include "command.h"
#include "list.h"
#include "packet.h"
#include "text.h"

enum { OLD, NEW, LISTS };

/* The search for a packet that a rule of one list decides, and the other list decides otherwise. */
struct search {
	struct list *of, *other;
	uint32_t rank; /* of the rule; HY_POLICY_NONE: the default */
	bool found, whole;
	uint32_t other_rank;
	struct box packet;
	int rc; /* of walking the other list */
};

struct difference {
	struct list lists[LISTS];
	uint32_t *by_id[LISTS]; /* ranks */
	uint32_t added, removed, changed, felt, undecided;
};

/* What happens to packets: counting and logging do not change that. */
static bool
same_fate(const struct search *s, uint32_t other_rank)
{
	const struct list *lists[] = { s->of, s->other };
	const uint32_t ranks[] = { s->rank, other_rank };
	uint32_t fate[2];

	for (int i = 0; i < 2; i++) {
		const struct hy_flow_rule *rule = ranks[i] == HY_POLICY_NONE
			? NULL
			: list_rule(lists[i], ranks[i]);

		fate[i] = rule == NULL || rule->action == HY_RULE_COUNT
			? lists[i]->file.default_action.action
			: (uint32_t)rule->action + ((uint32_t)rule->class_id << 8) +
				((uint32_t)rule->port << 8);
	}
	return fate[0] == fate[1];
}

/* Whether the rules of one of the lists see no truncated packets. */
static bool
denies_truncated(const struct search *s)
{
	return s->of->file.truncated.action == HY_RULE_DENY ||
		s->other->file.truncated.action == HY_RULE_DENY;
}

static bool
visit_other(void *arg, uint32_t rank, const struct box *part)
{
	struct search *s = arg;
	struct box whole;

	if (same_fate(s, rank))
		return true;
	s->whole = packet_whole(part, &whole);
	/* What the setting changes is said of the setting. */
	if (!s->whole && denies_truncated(s))
		return true;
	if (s->whole || !s->found) {
		packet_pick(part, &s->packet);
		s->other_rank = rank;
		s->found = true;
	}
	return !s->whole;
}

static bool
visit_of(void *arg, uint32_t rank, const struct box *part)
{
	struct search *s = arg;
	const struct ranks all = { 0, s->other->n, HY_POLICY_NONE };

	if (rank != s->rank)
		return true;
	s->rc = list_walk(s->other, &all, part, visit_other, s);
	return s->rc == 0;
}

/* Returns 0; -E2BIG: the search was cut short, and may have missed a packet; -ENOMEM. */
static int
search_run(struct search *s)
{
	const struct ranks all = { 0, s->rank == HY_POLICY_NONE ? s->of->n : s->rank + 1,
		HY_POLICY_NONE };
	struct box box;
	int rc;

	box_all(&box);
	if (s->rank != HY_POLICY_NONE)
		box = s->of->boxes[s->rank];
	rc = list_walk_shapes(s->of, &all, &box, visit_of, s);
	if (s->rc < 0)
		rc = s->rc;
	return rc < 0 && (rc != -E2BIG || !s->found) ? rc : 0;
}

/* Prints a packet that a rule decides and the other list decides otherwise, if there is one. */
static int
print_example(struct difference *d, int which, uint32_t rank, bool *felt)
{
	struct search s = { .of = &d->lists[which], .other = &d->lists[1 - which], .rank = rank };
	int rc = search_run(&s);

	if (rc == -ENOMEM)
		return rc;
	if (rc == -E2BIG) {
		printf("    undecided: too many rules share its packets\n");
		d->undecided++;
		return 0;
	}
	if (!s.found)
		return 0;
	*felt = true;
	printf("   ");
	packet_print(&s.packet);
	printf(": ");
	text_rule(which == OLD ? s.of : s.other, which == OLD ? s.rank : s.other_rank);
	printf(" becomes ");
	text_rule(which == OLD ? s.other : s.of, which == OLD ? s.other_rank : s.rank);
	putchar('\n');
	return 0;
}

/* Prints a rule that only one list has (the other rank is HY_POLICY_NONE), or that differs. */
static int
print_rule(struct difference *d, uint32_t old, uint32_t new)
{
	const char *sign = old == HY_POLICY_NONE ? "+" : new == HY_POLICY_NONE ? "-" : "~";
	const uint32_t ranks[] = { old, new };
	const int shown = new == HY_POLICY_NONE ? OLD : NEW;
	const uint32_t undecided = d->undecided;
	char text[HY_FLOW_TEXT_SIZE];
	bool felt = false;
	int rc = 0;

	hy_flow_rule_format(list_rule(&d->lists[shown], ranks[shown]), text, sizeof(text));
	printf("%s %s:%u: %s\n", sign, d->lists[shown].path,
		list_line(&d->lists[shown], ranks[shown]), text);
	for (int which = OLD; which < LISTS && rc == 0; which++)
		if (ranks[which] != HY_POLICY_NONE)
			rc = print_example(d, which, ranks[which], &felt);
	if (rc == 0 && !felt && d->undecided == undecided)
		printf("    no packet is treated differently\n");
	d->felt += felt;
	return rc;
}

static bool
same_rule(const struct hy_flow_rule *a, const struct hy_flow_rule *b)
{
	return a->precedence == b->precedence && a->action == b->action &&
		a->class_id == b->class_id && a->port == b->port && a->log == b->log &&
		hy_flow_match_equal(&a->match, &b->match);
}

static int
diff_rules(struct difference *d)
{
	uint32_t at[LISTS] = { 0 };
	int rc = 0;

	while ((at[OLD] < d->lists[OLD].n || at[NEW] < d->lists[NEW].n) && rc == 0) {
		const struct hy_flow_rule *rule[LISTS];
		uint32_t rank[LISTS];
		uint64_t id[LISTS];

		for (int i = OLD; i < LISTS; i++) {
			rank[i] = at[i] < d->lists[i].n ? d->by_id[i][at[i]] : HY_POLICY_NONE;
			rule[i] = rank[i] == HY_POLICY_NONE ? NULL
							    : list_rule(&d->lists[i], rank[i]);
			id[i] = rule[i] == NULL ? UINT64_MAX : rule[i]->id;
		}
		at[OLD] += id[OLD] <= id[NEW];
		at[NEW] += id[NEW] <= id[OLD];
		if (id[OLD] == id[NEW] && same_rule(rule[OLD], rule[NEW]))
			continue;
		d->added += id[NEW] < id[OLD];
		d->removed += id[OLD] < id[NEW];
		d->changed += id[OLD] == id[NEW];
		rc = print_rule(d, id[OLD] <= id[NEW] ? rank[OLD] : HY_POLICY_NONE,
			id[NEW] <= id[OLD] ? rank[NEW] : HY_POLICY_NONE);
	}
	return rc;
}

static const char *
action_name(enum hy_rule_action action)
{
	return action == HY_RULE_DENY ? "deny" : "permit";
}

static int
diff_settings(struct difference *d)
{
	const struct hy_policy_file *old = &d->lists[OLD].file, *new = &d->lists[NEW].file;
	bool felt = false;
	int rc = 0;

	if (old->truncated.action != new->truncated.action) {
		printf("~ truncated %s becomes truncated %s\n", action_name(old->truncated.action),
			action_name(new->truncated.action));
		d->changed++;
		d->felt++;
	}
	if (old->default_action.action == new->default_action.action)
		return 0;
	printf("~ default %s becomes default %s\n", action_name(old->default_action.action),
		action_name(new->default_action.action));
	d->changed++;
	for (int which = OLD; which < LISTS && rc == 0 && !felt; which++)
		rc = print_example(d, which, HY_POLICY_NONE, &felt);
	d->felt += felt;
	return rc;
}

static const struct list *sorted; /* qsort() passes no argument */

static int
by_id(const void *a, const void *b)
{
	const uint32_t x = list_rule(sorted, *(const uint32_t *)a)->id;
	const uint32_t y = list_rule(sorted, *(const uint32_t *)b)->id;

	return x < y ? -1 : x > y;
}

/* Returns 0; TROUBLE, reported. */
static int
read_list(const struct settings *settings, const char *path, struct list *list, uint32_t **ranks)
{
	if (list_read(path, settings->format, list) != 0)
		return TROUBLE;
	*ranks = calloc(list->n + 1, sizeof(**ranks));
	if (*ranks == NULL)
		return out_of_memory();
	for (uint32_t rank = 0; rank < list->n; rank++)
		(*ranks)[rank] = rank;
	sorted = list;
	qsort(*ranks, list->n, sizeof(**ranks), by_id);
	return 0;
}

static int
diff_lists(struct difference *d)
{
	int rc = diff_settings(d);

	if (rc == 0)
		rc = diff_rules(d);
	if (rc < 0)
		return out_of_memory();
	printf("%u added, %u removed, %u changed; %u of them change what happens to packets, "
	       "%u undecided\n",
		d->added, d->removed, d->changed, d->felt, d->undecided);
	return d->added + d->removed + d->changed == 0 ? SAME : FOUND;
}

int
diff(const struct settings *settings)
{
	struct difference d = { 0 };
	int status = read_list(settings, settings->file, &d.lists[OLD], &d.by_id[OLD]);

	if (status == 0)
		status = read_list(settings, settings->other, &d.lists[NEW], &d.by_id[NEW]);
	if (status == 0)
		status = diff_lists(&d);
	for (int i = OLD; i < LISTS; i++) {
		free(d.by_id[i]);
		list_free(&d.lists[i]);
	}
	return status;
}
