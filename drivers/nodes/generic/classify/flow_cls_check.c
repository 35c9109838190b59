/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of marks: rules that only software has and that precede the rule of a mark; and a random
 * sample of marked packets, which software classifies again.
 */

#include <rte_ring_elem.h>

#include "flow_cls_mark.h"

static void
key_of(const struct rte_mbuf *m, struct hy_flow_key *key)
{
	uint8_t bounce[HY_FLOW_HEADERS];

	hy_flow_key(hy_mbuf_peek(m, HY_FLOW_HEADERS, bounce), m->pkt_len, key);
}

bool
flow_cls_has_ports(const struct rte_mbuf *m)
{
	struct hy_flow_key key;

	key_of(m, &key);
	return (key.has & HY_FLOW_PORTS) == HY_FLOW_PORTS;
}

bool
flow_cls_matches(const struct hy_mark_table *table, const struct hy_mark_slot *slot,
	const struct rte_mbuf *m)
{
	const uint32_t own = slot->residue + (slot->checks & HY_MARK_RESIDUES);
	struct hy_flow_key key;

	key_of(m, &key);
	return hy_flow_matches(&table->view->rules[table->residues[own]].rule.match, &key);
}

/* The first matching rule that only software has, or else the mark's rule. */
static const struct hy_policy_rule *
residue_check(const struct hy_mark_table *table, const struct hy_mark_slot *slot,
	const struct rte_mbuf *m)
{
	const struct hy_policy_rule *rules = table->view->rules;
	const uint32_t *ranks = &table->residues[slot->residue];
	const uint32_t n = slot->checks & HY_MARK_RESIDUES;
	struct hy_flow_key key;
	uint32_t i = 0;

	if (n > 0)
		key_of(m, &key);
	while (i < n && !hy_flow_matches(&rules[ranks[i]].rule.match, &key))
		i++;
	return &rules[ranks[i]];
}

void
flow_cls_mismatch(struct hy_mark_worker *worker, const struct rte_mbuf *m,
	const struct hy_policy_rule *hw, const struct hy_policy_rule *sw)
{
	struct hy_mark_mismatch record = {
		.mark = m->hash.fdir.hi,
		.hw_rule = hw->rule.id,
		.hw_class = hw->rule.class_id,
		.sw_rule = sw == NULL ? 0 : sw->rule.id,
		.sw_class = sw == NULL ? HY_FLOW_NO_CLASS : sw->rule.class_id,
		.len = m->pkt_len,
	};

	memcpy(record.frame, rte_pktmbuf_mtod(m, const void *),
		RTE_MIN(m->data_len, HY_MISMATCH_FRAME));
	/* The ring keeps the first records that fit; the counter counts all. */
	(void)rte_ring_sp_enqueue_elem(worker->records, &record, sizeof(record));
}

/* Classifies a marked packet again. Software's result wins. */
static const struct hy_policy_rule *
sample(const struct hy_mark_table *table, struct hy_mark_worker *worker, const struct rte_mbuf *m,
	const struct hy_policy_rule *hw, struct mark_tally *t)
{
	const struct hy_policy_rule *sw;
	struct hy_flow_key key;
	uint32_t rank;

	worker->gap = hy_mark_gap(worker);
	key_of(m, &key);
	hy_policy_classify_compiled(table->view, &key, &rank, 1);
	sw = rank == HY_POLICY_NONE ? NULL : &table->view->rules[rank];
	t->sampled++;
	if (unlikely(sw != hw)) {
		flow_cls_mismatch(worker, m, hw, sw);
		t->mismatches++;
		t->misses += sw == NULL;
	}
	return sw;
}

struct hy_flow_cls_answer
flow_cls_checked(const struct hy_mark_table *table, const struct hy_mark_slot *slot,
	struct hy_mark_worker *worker, const struct rte_mbuf *m, struct mark_tally *t)
{
	const struct hy_policy_rule *rule = residue_check(table, slot, m);

	t->residue += (slot->checks & HY_MARK_RESIDUES) != 0;
	if (worker->gap == 0)
		rule = sample(table, worker, m, rule, t);
	return hy_flow_cls_answer(rule);
}
