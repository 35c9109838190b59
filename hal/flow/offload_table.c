/* SPDX-License-Identifier: BSD-3-Clause */
/* Mark tables: built from a plan, published to workers, freed when workers have left them. */

#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>
#include <rte_malloc.h>

#include <hy_grace.h>

#include "offload.h"

/*
 * Whether hardware decides between two overlapping rules as the policy does. It may choose either
 * of two rules at the same priority. Until the upper rule has settled, packets that were marked
 * before it was in hardware may still wait in a queue.
 */
static bool
left_to_hardware(const struct hy_offload *o, const struct plan *plan, uint32_t upper,
	const struct hy_flow_match *lower, uint32_t priority)
{
	const uint32_t slot = plan->rules[upper].slot;
	const struct flow *flow;

	if (slot == NO_SLOT)
		return false;
	flow = &o->flows[slot];
	return flow->settled && flow->priority < priority &&
		hy_flow_sees_all_of(o->params.driver, &o->limits, &flow->match, lower);
}

uint32_t
hy_offload_residue(const struct hy_offload *o, struct plan *plan, uint32_t rank, uint32_t priority,
	uint32_t *ranks, uint32_t max)
{
	const struct hy_flow_match *match = &plan->view->rules[rank].rule.match;
	uint32_t n = 0, at = 0, r;

	while (n <= max && (r = hy_offload_before(plan, rank, &at)) != NO_SLOT) {
		if (left_to_hardware(o, plan, r, match, priority))
			continue;
		if (ranks != NULL && n < max)
			ranks[n] = r;
		n++;
	}
	return n;
}

/*
 * The packets that a rule in hardware must match. Software may match more: a NIC may use another
 * port for tunnels, compares the outermost ether type, may apply a rule on the VLAN alone only to
 * packets that are not IP, and may compare the priority in a tag.
 */
static uint8_t
due_of(const struct hy_offload *o, const struct flow *flow)
{
	const uint32_t fields = flow->match.fields;

	if (!flow->settled || (fields & HY_FLOW_TUNNEL) != 0 ||
		(fields != 0 && (fields & ~(HY_FLOW_VLAN | HY_FLOW_MACS)) == 0) ||
		(o->limits.whole_tags && (fields & HY_FLOW_VLAN) != 0))
		return 0;
	return (fields & (HY_FLOW_ETHER_TYPE | HY_FLOW_VLAN)) == HY_FLOW_ETHER_TYPE
		? HY_MARK_DUE
		: HY_MARK_DUE | HY_MARK_DUE_TAGGED;
}

static void
rule_return(struct plan *plan, uint32_t rank, enum reason reason)
{
	plan->rules[rank].slot = NO_SLOT;
	plan->rules[rank].reason = (uint8_t)reason;
}

/*
 * Fills in slots, residues and due packets. A rule whose residue is too long returns to software; so
 * does one that drops packets and has any.
 */
static uint32_t
fill(struct hy_offload *o, struct plan *plan, struct marks *marks, uint32_t *residues, uint8_t *due,
	uint32_t *needers)
{
	const uint32_t nb_needers = hy_offload_needers(o, plan, needers);
	const uint64_t again = plan->again;
	uint64_t left = HY_OFFLOAD_PAIRS;
	uint32_t used = 0;

	for (uint32_t r = 0; r < plan->view->nb_rules; r++) {
		const uint32_t slot = plan->rules[r].slot;
		struct hy_mark_slot *s;
		uint32_t n;

		if (slot == NO_SLOT)
			continue;
		n = hy_offload_residue(o, plan, r, o->flows[slot].priority, &residues[used],
			o->params.max_residue);
		if (o->flows[slot].drop) {
			if (n > 0)
				rule_return(plan, r, REASON_UNTRIED);
			else if (due_of(o, &o->flows[slot]) != 0)
				due[r] = due_of(o, &o->flows[slot]) | HY_MARK_DROPS;
			continue; /* no packet comes with a mark of it */
		}
		if (n > o->params.max_residue ||
			!hy_offload_is_needed(o, plan, r, needers, nb_needers, &left)) {
			rule_return(plan, r,
				n > o->params.max_residue ? REASON_RESIDUE : REASON_SPARE);
			continue;
		}
		due[r] = due_of(o, &o->flows[slot]);
		s = &marks->table.slots[slot];
		n = o->safety.residue ? n : 0;
		s->checks = o->safety.fragments ? o->flows[slot].checks : 0;
		s->mark = flow_mark(o, slot);
		s->index = plan->view->rules[r].index;
		s->class_id = plan->view->rules[r].rule.class_id;
		s->checks |= (uint16_t)n;
		s->residue = used;
		used += n;
		residues[used++] = r;
		marks->table.checked |= s->checks != 0;
	}
	marks->again = plan->again - again;
	marks->unsure = left == 0;
	return used;
}

/* Fills in the marks of rules that the port did not remove. Of these, packets may come for ever. */
static void
stays_fill(const struct hy_offload *o, struct marks *marks)
{
	for (uint32_t i = 0; i < o->nb_slots && o->stuck > 0; i++) {
		const struct flow *flow = &o->flows[i];

		if (flow->state != FLOW_STUCK)
			continue;
		marks->table.slots[i].checks = HY_MARK_STAYS;
		marks->table.slots[i].index = flow->several ? 0 : flow_mark(o, i);
	}
}

/* The most residues that there can be: for each rule, all rules before it, and itself. */
static size_t
residues_most(const struct plan *plan, uint32_t max)
{
	size_t n = 1; /* never an empty array */

	for (uint32_t r = 0; r < plan->view->nb_rules; r++)
		if (plan->rules[r].slot != NO_SLOT)
			n += RTE_MIN(r, max) + (size_t)1;
	return n;
}

struct marks *
hy_offload_marks_make(struct hy_offload *o, struct plan *plan)
{
	const int socket = rte_eth_dev_socket_id(o->port);
	struct marks *marks = rte_zmalloc_socket("hy_marks",
		sizeof(*marks) + o->nb_slots * sizeof(marks->table.slots[0]), RTE_CACHE_LINE_SIZE,
		socket);
	uint32_t *residues = malloc(residues_most(plan, o->params.max_residue) * sizeof(*residues));
	uint8_t *due = rte_zmalloc_socket("hy_due", (size_t)plan->view->nb_rules + 1,
		RTE_CACHE_LINE_SIZE, socket);
	uint32_t *needers = malloc(((o->access ? (size_t)plan->view->nb_rules : 0) + 1) *
		sizeof(*needers));
	uint32_t *kept;
	uint32_t used;

	if (marks == NULL || residues == NULL || due == NULL || needers == NULL)
		goto fail;
	used = fill(o, plan, marks, residues, due, needers);
	stays_fill(o, marks);
	kept = rte_malloc_socket("hy_residues", (used + 1) * sizeof(*kept), RTE_CACHE_LINE_SIZE,
		socket);
	if (kept == NULL)
		goto fail;
	memcpy(kept, residues, used * sizeof(*kept));
	free(residues);
	free(needers);
	marks->table.view = plan->view;
	marks->table.residues = kept;
	marks->table.due = due;
	marks->table.slot_mask = o->nb_slots - 1;
	marks->table.workers = o->worker;
	marks->table.own = o->reach.own;
	marks->table.address = o->reach.address;
	return marks;
fail:
	rte_free(due);
	free(residues);
	free(needers);
	rte_free(marks);
	return NULL;
}

void
hy_offload_marks_free(struct marks *marks)
{
	if (marks == NULL)
		return;
	rte_free((void *)(uintptr_t)marks->table.residues);
	rte_free((void *)(uintptr_t)marks->table.due);
	rte_free(marks);
}

/* Flows that are not in the plan any more leave when workers have left the tables with them. */
static void
flows_leave(struct hy_offload *o, uint64_t token)
{
	for (uint32_t i = 0; i < o->nb_slots; i++)
		o->flows[i].planned = false;
	for (uint32_t r = 0; r < o->plan->view->nb_rules; r++)
		if (o->plan->rules[r].slot != NO_SLOT)
			o->flows[o->plan->rules[r].slot].planned = true;
	for (uint32_t i = 0; i < o->nb_slots; i++) {
		struct flow *flow = &o->flows[i];

		if (flow->state != FLOW_LIVE || flow->planned)
			continue;
		flow->state = FLOW_LEAVING;
		flow->token = token;
		o->watch.left = hy_offload_now();
		o->live--;
		o->leaving++;
	}
}

void
hy_offload_marks_publish(struct hy_offload *o, struct marks *marks, struct plan *plan)
{
	struct marks *old = o->marks;
	struct plan *old_plan = o->plan;
	uint64_t token;

	hy_offload_drops_end(o, plan); /* before rules go that they must come after */
	hy_policy_marks_set(o->policy, o->port, marks == NULL ? NULL : &marks->table);
	token = hy_grace_start(o->qsbr);
	if (o->watch.ended)
		o->watch.left = hy_offload_now();
	o->watch.ended = false;
	o->marks = marks;
	o->again = marks == NULL ? 0 : marks->again;
	o->plan = plan;
	if (old != NULL) {
		old->token = token;
		old->next = o->garbage;
		o->garbage = old;
	}
	/* No worker reads it; its view may be gone by the time that they have left the table. */
	if (old_plan != NULL && old_plan != plan)
		hy_offload_plan_free(o, old_plan);
	flows_leave(o, token);
}

void
hy_offload_collect(struct hy_offload *o)
{
	for (struct marks **at = &o->garbage; *at != NULL;) {
		struct marks *marks = *at;

		if (!hy_grace_over(o->qsbr, marks->token)) {
			at = &marks->next;
			continue;
		}
		*at = marks->next;
		hy_offload_marks_free(marks);
	}
}
