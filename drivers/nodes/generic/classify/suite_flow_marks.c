/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Marks for the suite of flow_cls: of three rules in four, with all earlier rules that overlap as
 * residue.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>
#include <rte_ring_elem.h>

#include <hy_mark.h>
#include <hy_policy_view.h>

#include "suite_flow_marks.h"

#define SAMPLE_EVERY 16

int
suite_marks_create(const char *name, struct hy_policy *policy, bool wider,
	struct suite_marks **marks)
{
	struct suite_marks *m = calloc(1, sizeof(*m));

	*marks = m;
	if (m == NULL)
		return -ENOMEM;
	m->policy = policy;
	m->wider = wider;
	m->records = rte_ring_create_elem(name, sizeof(struct hy_mark_mismatch), 64, SOCKET_ID_ANY,
		0);
	m->workers = rte_zmalloc(NULL, HY_SUITE_WORKERS * sizeof(*m->workers), RTE_CACHE_LINE_SIZE);
	if (m->records == NULL || m->workers == NULL) {
		suite_marks_destroy(m);
		*marks = NULL;
		return -ENOMEM;
	}
	for (unsigned int w = 0; w < HY_SUITE_WORKERS; w++)
		m->workers[w] = (struct hy_mark_worker){ .random = w + 1,
			.gap = 1,
			.every = SAMPLE_EVERY,
			.records = m->records,
			.looks = UINT64_MAX };
	return 0;
}

void
suite_marks_withdraw(struct suite_marks *m)
{
	hy_policy_marks_set(m->policy, SUITE_MARKS_PORT, NULL);
	free(m->table);
	free(m->residues);
	free(m->due);
	m->table = NULL;
	m->residues = NULL;
	m->due = NULL;
}

void
suite_marks_destroy(struct suite_marks *m)
{
	if (m == NULL)
		return;
	suite_marks_withdraw(m);
	rte_free(m->workers);
	rte_ring_free(m->records);
	free(m);
}

/* Fills in a rule's slot. Returns where the next residue starts. */
static uint32_t
slot_fill(struct suite_marks *m, const struct hy_policy_view *view, uint32_t rank, uint32_t at)
{
	const struct hy_policy_rule *rule = &view->rules[rank];
	const uint32_t number = rule->rule.id - SUITE_MARKS_ID;
	struct hy_mark_slot *slot = &m->table->slots[number + 1];

	if (number % 4 == 0)
		return at;
	*slot = (struct hy_mark_slot){ .mark = suite_mark_of(m, number, 1),
		.index = rule->index,
		.class_id = rule->rule.class_id,
		.residue = at };
	for (uint32_t r = 0; r < rank; r++)
		if (hy_flow_overlap(&view->rules[r].rule.match, &rule->rule.match))
			m->residues[at++] = r;
	slot->checks = (uint16_t)(at - slot->residue);
	m->residues[at++] = rank;
	if (number % 2 == 0 && m->wider)
		slot->checks |= HY_MARK_RULE;
	else if (number % 2 == 0 && (rule->rule.match.fields & HY_FLOW_PORTS) != 0)
		slot->checks |= HY_MARK_FRAGMENTS;
	m->table->checked |= slot->checks != 0;
	return at;
}

int
suite_marks_publish(struct suite_marks *m)
{
	const struct hy_policy_view *view = hy_policy_view(m->policy);
	const uint32_t n = view->nb_rules;
	uint32_t at = 0;

	m->table = calloc(1,
		sizeof(*m->table) + (sizeof(m->table->slots[0]) << SUITE_MARKS_SLOT_BITS));
	m->residues = calloc((size_t)n * (n + 1) / 2 + 1, sizeof(*m->residues));
	m->due = malloc((size_t)n + 1);
	if (m->table == NULL || m->residues == NULL || m->due == NULL) {
		suite_marks_withdraw(m);
		return -ENOMEM;
	}
	memset(m->due, HY_MARK_DUE | HY_MARK_DUE_TAGGED, (size_t)n + 1);
	*m->table = (struct hy_mark_table){ .view = view,
		.residues = m->residues,
		.due = m->due,
		.workers = m->workers,
		.slot_mask = (1u << SUITE_MARKS_SLOT_BITS) - 1 };
	for (uint32_t rank = 0; rank < n; rank++)
		at = slot_fill(m, view, rank, at);
	hy_policy_marks_set(m->policy, SUITE_MARKS_PORT, m->table);
	return 0;
}

void
suite_marks_renew(struct suite_marks *m, uint32_t rule_id)
{
	m->generation[rule_id - SUITE_MARKS_ID]++;
}

uint64_t
suite_marks_unjust(struct suite_marks *m)
{
	uint64_t noticed = 0;

	for (unsigned int w = 0; w < HY_SUITE_WORKERS; w++)
		noticed += m->workers[w].mismatches;
	if (!m->lies)
		m->unjust += noticed - m->noticed;
	m->noticed = noticed;
	return m->unjust;
}

void
suite_marks_turn(struct suite_marks *m)
{
	suite_marks_unjust(m);
	m->lies = !m->lies;
	for (unsigned int w = 0; w < HY_SUITE_WORKERS; w++) {
		m->workers[w].every = m->lies ? 1 : SAMPLE_EVERY;
		m->workers[w].gap = 1;
	}
}
