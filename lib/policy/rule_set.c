/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rules in order of precedence, found by id too. A set is made from the one before: rules that did not
 * change keep their order and their counters, so that a small change of many rules costs little more
 * than their copy.
 */

#include <errno.h>
#include <stdlib.h>

#include <rte_malloc.h>

#include "compiled.h"

/* A rule that the set before has not, or not so. */
struct change {
	uint64_t order; /* by precedence, and then by place, which is the order of ids */
	uint32_t index; /* the counter that it keeps, or POLICY_NO_COUNTER */
};

/* How two sets differ. */
struct merge {
	const struct policy_list *list;
	const struct policy_rules *before;
	struct change *changes;
	uint32_t nb_changes;
	uint32_t *place_of; /* by rank in the set before: in the list, or GONE */
};

#define GONE UINT32_MAX

static uint64_t
order_of(const struct hy_flow_rule *rule, uint32_t place)
{
	return (uint64_t)rule->precedence << 32 | place;
}

static int
by_order(const void *a, const void *b)
{
	const uint64_t oa = ((const struct change *)a)->order;
	const uint64_t ob = ((const struct change *)b)->order;

	return oa < ob ? -1 : oa > ob;
}

/* A place of the list whose rule is new; old: the rule that had its id; NULL: none. */
static void
change_add(struct merge *m, uint32_t place, const struct hy_policy_rule *old)
{
	const struct hy_flow_rule *rule = &m->list->rules[place];
	const bool keeps = old != NULL && old->rule.action == rule->action &&
		old->rule.class_id == rule->class_id;

	m->changes[m->nb_changes++] = (struct change){ order_of(rule, place),
		keeps ? old->index : POLICY_NO_COUNTER };
}

static void
changes_sort(struct merge *m)
{
	bool sorted = true;

	for (uint32_t i = 1; i < m->nb_changes; i++)
		sorted &= m->changes[i].order > m->changes[i - 1].order;
	if (!sorted)
		qsort(m->changes, m->nb_changes, sizeof(*m->changes), by_order);
}

/* Compares the places, of which each set has a rule's stamp. */
static void
changes_find(struct merge *m, struct policy_rules *to)
{
	const struct policy_rules *from = m->before;
	uint32_t i = 0, j = 0;

	while (i < from->n || j < m->list->n) {
		const struct policy_place *a = i < from->n ? &from->by_id[i] : NULL;
		const struct policy_place *b = j < m->list->n ? &m->list->places[j] : NULL;
		const bool has_a = a != NULL && (b == NULL || a->id <= b->id);
		const bool has_b = b != NULL && (a == NULL || b->id <= a->id);
		const bool is_same = has_a && has_b && a->stamp == b->stamp;

		if (has_a)
			m->place_of[a->rank] = is_same ? j : GONE;
		if (has_b && !is_same)
			change_add(m, j, has_a ? &from->rules[a->rank] : NULL);
		if (has_a && !is_same &&
			(!has_b || m->changes[m->nb_changes - 1].index == POLICY_NO_COUNTER))
			to->left[to->nb_left++] = from->rules[a->rank].index;
		i += has_a;
		j += has_b;
	}
	changes_sort(m);
}

static void
rank_put(struct policy_rules *to, const struct merge *m, uint32_t rank, uint32_t place)
{
	to->by_id[place] = m->list->places[place];
	to->by_id[place].rank = rank;
}

/* Puts the changes before an order into the next ranks. Returns how many these are. */
static uint32_t
changes_put(struct policy_rules *to, const struct merge *m, uint32_t next, uint32_t rank,
	uint64_t before)
{
	uint32_t n = 0;

	for (; next + n < m->nb_changes && m->changes[next + n].order < before; n++) {
		const struct change *change = &m->changes[next + n];
		const uint32_t place = (uint32_t)change->order;

		to->rules[rank + n] = (struct hy_policy_rule){ m->list->rules[place],
			change->index };
		rank_put(to, m, rank + n, place);
		if (change->index == POLICY_NO_COUNTER)
			to->fresh[to->nb_fresh++] = rank + n;
	}
	return n;
}

/* The old order, with the changes where they belong. */
static void
ranks_fill(struct policy_rules *to, const struct merge *m)
{
	uint32_t rank = 0, next = 0;

	for (uint32_t old = 0; old < m->before->n; old++) {
		const struct hy_policy_rule *rule = &m->before->rules[old];
		const uint32_t place = m->place_of[old];
		uint32_t n;

		if (place == GONE)
			continue;
		n = changes_put(to, m, next, rank, order_of(&rule->rule, place));
		next += n;
		rank += n;
		to->rules[rank] = *rule;
		rank_put(to, m, rank++, place);
	}
	changes_put(to, m, next, rank, UINT64_MAX);
}

static int
rules_fill(struct policy_rules *to, const struct policy_list *list,
	const struct policy_rules *before)
{
	struct merge m = { .list = list,
		.before = before,
		.changes = malloc((list->n + 1) * sizeof(*m.changes)),
		.place_of = malloc((before->n + 1) * sizeof(*m.place_of)) };
	int rc = -ENOMEM;

	to->left = malloc((before->n + 1) * sizeof(*to->left));
	if (m.changes != NULL && m.place_of != NULL && to->left != NULL) {
		changes_find(&m, to);
		to->fresh = malloc((m.nb_changes + 1) * sizeof(*to->fresh));
		if (to->fresh != NULL) {
			ranks_fill(to, &m);
			rc = 0;
		}
	}
	free(m.changes);
	free(m.place_of);
	return rc;
}

int
policy_rules_create(const struct policy_list *list, const struct policy_rules *before, int socket,
	struct policy_rules **out)
{
	static const struct policy_rules none;
	struct policy_rules *to = calloc(1, sizeof(*to));
	int rc = -ENOMEM;

	if (to == NULL)
		return rc;
	to->holders = 1;
	to->n = list->n;
	to->rules = rte_malloc_socket("hy_policy_rules", (list->n + 1) * sizeof(*to->rules),
		RTE_CACHE_LINE_SIZE, socket);
	to->by_id = malloc((list->n + 1) * sizeof(*to->by_id));
	if (to->rules != NULL && to->by_id != NULL)
		rc = rules_fill(to, list, before == NULL ? &none : before);
	if (rc < 0)
		policy_rules_drop(to);
	else
		*out = to;
	return rc;
}

void
policy_rules_hold(struct policy_rules *rules)
{
	__atomic_add_fetch(&rules->holders, 1, __ATOMIC_RELAXED);
}

void
policy_rules_drop(struct policy_rules *rules)
{
	if (rules == NULL || __atomic_sub_fetch(&rules->holders, 1, __ATOMIC_ACQ_REL) > 0)
		return;
	rte_free(rules->rules);
	free(rules->by_id);
	free(rules->fresh);
	free(rules->left);
	free(rules);
}
