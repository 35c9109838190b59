/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Access lists in hardware: rules that drop packets.
 *
 * Software sees nothing of a packet that hardware drops, so it cannot set right what hardware does
 * wrong. A deny is therefore in hardware only while all rules before it that it overlaps are there, too,
 * have settled, and precede it by their priority. Those that permit packets mark them. Software decides
 * about each packet that arrives, and compares its mark; or it reads the class off the mark, if the
 * caller says so (hy_offload_params.classes). When such a rule must go, or the policy changes, the denies
 * that need it go first.
 */

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include <rte_cycles.h>

#include "lib/graph/internal/log.h"
#include "offload.h"

#define READ_US 250000 /* for a look at all counters */
#define UPPER_MOST 64  /* rules that one deny may need before it */
#define GUARDS_MOST 64 /* denies that stay and that each rule before them is compared with */

bool
hy_offload_is_drop(const struct hy_offload *o, const struct hy_flow_rule *rule)
{
	return o->access && rule->action == HY_RULE_DENY;
}

bool
hy_offload_is_read(const struct hy_offload *o, const struct hy_flow_rule *rule)
{
	return !o->access || (o->params.classes && rule->action == HY_RULE_CLASSIFY);
}

uint8_t
hy_offload_reason_first(const struct hy_offload *o, const struct hy_policy_view *view,
	const struct hy_flow_rule *rule)
{
	if (o->access && view->deny_truncated)
		return REASON_CUT;
	if (hy_offload_is_read(o, rule))
		return REASON_UNTRIED;
	if (rule->action != HY_RULE_DENY)
		return REASON_SPARE;
	return rule->log ? REASON_LOG : REASON_UNTRIED;
}

uint32_t
hy_offload_nb_drops(const struct hy_offload *o, enum flow_state state)
{
	uint32_t n = 0;

	for (uint32_t i = 0; o->access && i < o->nb_slots; i++)
		n += o->flows[i].drop && o->flows[i].state == state;
	return n;
}

/* Whether a rule can be in hardware, as far as is known. Tries to lower those that permit packets. */
static bool
can_follow(struct hy_offload *o, uint32_t rank)
{
	static const struct hy_flow_spread one = { .nb_queues = 1 };
	struct rule_state *state = &o->plan->rules[rank];
	struct hy_flow_lowered lowered;
	const char *why;

	if (state->reason == REASON_SPARE &&
		hy_flow_lower(o->params.driver, &o->limits, &o->plan->view->rules[rank].rule.match,
			1, 0, &one, &lowered, &why) != 0)
		state->reason = hy_offload_reason_of(o, why);
	return state->reason != REASON_CROWD && state->reason != REASON_LOG &&
		state->reason != REASON_SHADE && state->reason != REASON_BLIND &&
		state->reason != REASON_DEPTH && state->reason < REASON_OTHER;
}

uint8_t
hy_offload_drop_reason(struct hy_offload *o, uint32_t rank, uint32_t priority)
{
	const struct hy_policy_rule *rules = o->plan->view->rules;
	const uint32_t most = RTE_MIN(o->params.max_residue, (uint32_t)UPPER_MOST);
	uint32_t upper[UPPER_MOST];
	const uint32_t n = hy_offload_residue(o, o->plan, rank, priority, upper, most);
	struct hy_flow_lowered lowered;
	const char *why;
	uint32_t slot;

	if (n > most)
		return REASON_RESIDUE;
	/* What hardware cannot drop asks for no other rules. */
	if (hy_flow_lower_drop(o->params.driver, &o->limits, &rules[rank].rule.match, priority,
		    &lowered, &why) != 0)
		return hy_offload_reason_of(o, why);
	if (n > 0 && o->limits.priorities == 1)
		return REASON_SHADE; /* not both of them */
	for (uint32_t i = 0; i < n; i++) {
		if (!hy_flow_sees_all_of(o->params.driver, &o->limits, &rules[upper[i]].rule.match,
			    &rules[rank].rule.match))
			return REASON_BLIND;
		slot = o->plan->rules[upper[i]].slot;
		if (slot == NO_SLOT && o->plan->rules[upper[i]].reason == REASON_CROWD)
			return REASON_CROWD; /* which may change, other than what follows */
		if (slot == NO_SLOT && !can_follow(o, upper[i]))
			return REASON_SHADE;
		/* Only the lowest priority does not come after those of all rules before it. */
		if (slot != NO_SLOT && o->flows[slot].priority >= priority)
			return REASON_DEPTH;
	}
	for (uint32_t i = 0; i < n; i++)
		if (o->plan->rules[upper[i]].reason == REASON_SPARE)
			o->plan->rules[upper[i]].reason = REASON_UNTRIED;
	return n == 0 ? REASON_NONE : REASON_ORDER;
}

/* Whether a rule drops packets in hardware, or is to. */
static bool
may_need(const struct hy_offload *o, const struct plan *plan, uint32_t rank)
{
	const struct rule_state *state = &plan->rules[rank];

	return hy_offload_is_drop(o, &plan->view->rules[rank].rule) &&
		(state->reason <= REASON_COLD || state->reason == REASON_ORDER);
}

uint32_t
hy_offload_needers(const struct hy_offload *o, const struct plan *plan, uint32_t ranks[])
{
	uint32_t n = 0;

	for (uint32_t r = 0; o->access && r < plan->view->nb_rules; r++)
		if (may_need(o, plan, r))
			ranks[n++] = r;
	return n;
}

bool
hy_offload_is_needed(const struct hy_offload *o, struct plan *plan, uint32_t rank,
	const uint32_t needers[], uint32_t n, uint64_t *left)
{
	struct rule_state *state = &plan->rules[rank];
	uint32_t r;

	if (hy_offload_is_read(o, &plan->view->rules[rank].rule))
		return true;
	r = hy_offload_plan_find(plan, state->needer); /* else there may be many to compare */
	if (r != NO_SLOT && r > rank && may_need(o, plan, r) && hy_offload_overlap(plan, rank, r))
		return true;
	for (uint32_t i = n; i > 0 && needers[i - 1] > rank; i--) {
		const uint64_t before = plan->compared;

		r = needers[i - 1];
		if (*left == 0)
			return true;
		if (hy_offload_overlap(plan, rank, r)) {
			state->needer = plan->view->rules[r].rule.id;
			return true;
		}
		*left -= RTE_MIN(*left, plan->compared - before);
	}
	return false;
}

uint32_t
hy_offload_guards_find(struct hy_offload *o)
{
	o->nb_guards = 0;
	o->guards = NO_SLOT;
	for (uint32_t i = 0; o->access && i < o->nb_slots; i++) {
		struct flow *flow = &o->flows[i];

		if (!flow->drop || (flow->state != FLOW_STUCK && flow->state != FLOW_LEAVING))
			continue;
		flow->next_guard = o->guards;
		o->guards = i;
		o->nb_guards++;
	}
	return o->nb_guards;
}

bool
hy_offload_must_stay(const struct hy_offload *o, const struct flow *flow)
{
	if (!o->access || flow->drop)
		return false;
	if (o->nb_guards > GUARDS_MOST)
		return true;
	for (uint32_t i = o->guards, n = 0; n < o->nb_guards; i = o->flows[i].next_guard, n++)
		if (o->flows[i].state != FLOW_FREE &&
			hy_flow_overlap(&o->flows[i].match, &flow->match))
			return true;
	return false;
}

/*
 * What a counter has counted since it showed `last`; -ERANGE: it went back. It wraps, but does not count
 * half of its range between two looks.
 */
static int
counted(uint64_t last, uint64_t now, unsigned int bits, uint64_t *n)
{
	*n = (now - last) & (UINT64_MAX >> (64 - bits));
	return *n >> (bits - 1) == 0 ? 0 : -ERANGE;
}

/*
 * Adds what a rule has dropped since the last time to the counts of the policy. 0, -ENODATA, -ERANGE, or
 * what query() returns.
 */
static int
flow_read(struct hy_offload *o, struct flow *flow, struct rte_flow_error *error)
{
	const unsigned int bits = o->params.driver->count_bits;
	const uint64_t begin = hy_offload_now();
	struct rte_flow_query_count count;
	int rc = o->params.provider->query(o->port, flow->handle, &count, error);
	uint64_t hits = 0, bytes = 0;

	hy_offload_took(o, begin);
	if (rc == 0 && !count.hits_set)
		rc = -ENODATA;
	if (rc == 0)
		rc = counted(flow->hits, count.hits, bits == 0 ? 64 : bits, &hits);
	if (rc == 0 && count.bytes_set)
		rc = counted(flow->bytes, count.bytes, 64, &bytes);
	if (rc != 0 || hits == 0)
		return rc;
	hy_policy_hardware_add(o->policy, flow->index, hits, bytes, rte_rdtsc());
	o->dropped += hits;
	flow->hits = count.hits;
	flow->bytes += bytes;
	return 0;
}

static uint8_t
unread_reason(struct hy_offload *o, int rc, const struct rte_flow_error *error)
{
	if (rc == -ERANGE)
		return hy_offload_reason_of(o, "its counter in hardware went back");
	if (rc == -ENODATA)
		return hy_offload_reason_of(o, "hardware does not tell what it counts");
	return hy_offload_refusal(o, rc, error);
}

/* Returns the rules whose counters could not be read to software. */
static void
unread_return(struct hy_offload *o)
{
	for (uint32_t r = 0; r < o->plan->view->nb_rules; r++) {
		struct rule_state *state = &o->plan->rules[r];

		if (state->slot == NO_SLOT || o->flows[state->slot].unread == REASON_NONE)
			continue;
		state->reason = o->flows[state->slot].unread;
		o->flows[state->slot].unread = REASON_NONE;
		state->slot = NO_SLOT;
		o->dirty = true;
	}
}

void
hy_offload_drops_read(struct hy_offload *o, bool all)
{
	struct rte_flow_error error = { 0 };
	uint32_t left = all ? o->nb_slots : o->params.batch;
	bool unread = false;

	if (!o->access || o->state != HY_OFFLOAD_UP)
		return;
	for (uint32_t n = 0; n < o->nb_slots && left > 0; n++) {
		const uint32_t slot = o->read_next++ % o->nb_slots;
		struct flow *flow = &o->flows[slot];
		int rc;

		if (flow->state != FLOW_LIVE || !flow->drop)
			continue;
		rc = flow_read(o, flow, &error);
		if (rc != 0)
			flow->unread = unread_reason(o, rc, &error);
		unread |= rc != 0;
		left--;
		if (hy_offload_late(o))
			break;
	}
	if (unread)
		unread_return(o);
}

void
hy_offload_read(struct hy_offload *o)
{
	pthread_mutex_lock(&o->mutex);
	o->left = READ_US;
	hy_offload_drops_read(o, true);
	o->left = UINT64_MAX;
	pthread_mutex_unlock(&o->mutex);
}

/* Removes a rule that drops packets. What it drops between the last look and its end is not counted. */
void
hy_offload_drop_end(struct hy_offload *o, struct flow *flow, bool read)
{
	struct rte_flow_error error = { 0 };
	uint64_t begin;
	int rc;

	o->watch.left = hy_offload_now();
	o->watch.ended = true;
	if (read)
		flow_read(o, flow, &error); /* or nothing more is counted */
	begin = hy_offload_now();
	rc = o->params.provider->destroy(o->port, flow->handle, &error);
	hy_offload_took(o, begin);
	if (rc == 0) {
		hy_offload_flow_free(o, flow);
		return;
	}
	o->live -= flow->state == FLOW_LIVE;
	o->leaving -= flow->state == FLOW_LEAVING;
	flow->state = FLOW_STUCK;
	flow->handle = NULL;
	o->stuck++;
	o->dirty = true;
	o->failed++;
	HY_LOG(ERR, "port %u: a rule that drops packets was not removed, and may go on: %s",
		o->port, error.message != NULL ? error.message : strerror(-rc));
}

void
hy_offload_drops_end(struct hy_offload *o, const struct plan *plan)
{
	if (!o->access || o->mute)
		return;
	for (uint32_t i = 0; i < o->nb_slots; i++)
		o->flows[i].planned = false;
	for (uint32_t r = 0; r < plan->view->nb_rules; r++)
		if (plan->rules[r].slot != NO_SLOT)
			o->flows[plan->rules[r].slot].planned = true;
	for (uint32_t i = 0; i < o->nb_slots && !hy_offload_late(o); i++) {
		struct flow *flow = &o->flows[i];

		if (flow->drop &&
			((flow->state == FLOW_LIVE && !flow->planned) ||
				flow->state == FLOW_LEAVING))
			hy_offload_drop_end(o, flow, true);
	}
	/* The current plan may go on, if no other one is published. */
	for (uint32_t r = 0; r < o->plan->view->nb_rules; r++) {
		struct rule_state *state = &o->plan->rules[r];

		if (state->slot == NO_SLOT || o->flows[state->slot].state == FLOW_LIVE)
			continue;
		state->slot = NO_SLOT;
		state->reason = REASON_UNTRIED;
		o->dirty = true;
	}
}
