/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * acl_in on a port whose hardware drops packets of the list: what arrives is held against what hardware
 * should have done. The verdict is software's.
 */

#include "drivers/nodes/generic/classify/flow_cls_mark.h"

#include "acl_node.h"

/* Whether the rule of a rank may have the mark: its own, or an earlier one that only software has. */
static bool
is_right(const struct hy_mark_table *table, const struct hy_mark_slot *slot, uint32_t rank)
{
	const uint32_t n = slot->checks & HY_MARK_RESIDUES;

	if ((slot->checks & (HY_MARK_FRAGMENTS | HY_MARK_RULE)) != 0)
		return true; /* hardware may match more than the rule */
	for (uint32_t i = 0; i <= n; i++)
		if (table->residues[slot->residue + i] == rank)
			return true;
	return false;
}

/* A packet with a valid mark. */
static void
marked_check(const struct hy_mark_table *table, struct hy_mark_worker *worker,
	const struct rte_mbuf *m, uint32_t rank, struct mark_tally *t)
{
	const struct hy_mark_slot *slot = &table->slots[m->hash.fdir.hi & table->slot_mask];
	const struct hy_policy_rule *rules = table->view->rules;
	const uint32_t own = slot->residue + (slot->checks & HY_MARK_RESIDUES);

	t->marked++;
	if (likely(is_right(table, slot, rank)))
		return;
	t->mismatches++;
	flow_cls_mismatch(worker, m, &rules[table->residues[own]],
		rank == HY_POLICY_NONE ? NULL : &rules[rank]);
}

/* A packet without one: what was due to it. */
static void
unmarked_check(const struct hy_mark_table *table, struct hy_mark_worker *worker,
	const struct rte_mbuf *m, const struct hy_flow_key *key, uint32_t rank)
{
	const bool marked = (m->ol_flags & FLOW_CLS_MARKED) == FLOW_CLS_MARKED;
	const uint8_t due = rank == HY_POLICY_NONE ? 0 : table->due[rank];
	uint8_t bounce[HY_FLOW_HEADERS];
	const uint8_t *frame;

	mark_count(&worker->looked, 1);
	if (due == 0)
		return;
	frame = hy_mbuf_peek(m, HY_FLOW_HEADERS, bounce);
	if ((due & flow_cls_kind(m, frame, key)) == 0 || !flow_cls_reaches(table, frame))
		return;
	if ((due & HY_MARK_DROPS) != 0)
		mark_count(&worker->leaked, !marked);
	else if (!marked)
		mark_count(&worker->missing, 1);
	else
		mark_count(&worker->garbled, !flow_cls_is_left_over(table, m->hash.fdir.hi));
}

void
acl_verify(const struct hy_mark_table *table, struct hy_mark_worker *worker, void *const objs[],
	const uint16_t mine[], const struct hy_flow_key key[], const uint32_t rank[], uint16_t n)
{
	uint64_t looks = hy_mark_looks(worker);
	struct mark_tally t = { 0 };

	for (uint16_t k = 0; k < n; k++) {
		const struct rte_mbuf *m = objs[mine[k]];
		const uint32_t mark = m->hash.fdir.hi;
		const bool marked = (m->ol_flags & FLOW_CLS_MARKED) == FLOW_CLS_MARKED;

		if (marked && mark != 0 && table->slots[mark & table->slot_mask].mark == mark) {
			marked_check(table, worker, m, rank[k], &t);
			continue;
		}
		t.stale += marked;
		if (looks == 0)
			continue;
		looks--;
		unmarked_check(table, worker, m, &key[k], rank[k]);
	}
	mark_count(&worker->marked, t.marked);
	mark_count(&worker->sampled, t.marked);
	mark_count(&worker->stale, t.stale);
	mark_count(&worker->unmarked, n - t.marked - t.stale);
	mark_count(&worker->mismatches, t.mismatches);
}
