/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules in hardware: the most hit ones are installed. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#include <hy_grace.h>

#include "many.h"
#include "offload.h"
#include "probe.h"

/* A rule displaces another if it is hit more than twice as often, plus this number of packets. */
#define EVICT_FACTOR 2
#define EVICT_MORE 8

/* Pairs that are compared for each table, after which rules that add to them are not installed. */
#define AGAIN_MOST (HY_OFFLOAD_PAIRS / HY_OFFLOAD_PAIR)

#define STAGE_PAIRS \
	(8 * HY_OFFLOAD_PAIR) /* as long takes what is done for each rule that is tried */

/* The next slot whose marks cannot occur any more: freed slots are in quarantine first. */
static uint32_t
slot_find(const struct hy_offload *o, uint32_t from)
{
	const uint64_t now = hy_offload_now();

	for (uint32_t i = from; i < o->nb_slots; i++) {
		const struct flow *flow = &o->flows[i];

		if (flow->state != FLOW_FREE)
			continue;
		if (now - flow->since >= o->params.settle_us && hy_grace_over(o->qsbr, flow->token))
			return i;
	}
	return NO_SLOT;
}

/*
 * Finds a priority between those of the overlapping rules, so that hardware decides as the policy
 * does; in the middle, to leave room for later rules. If there is none, the residue decides.
 * Without priorities, no two rules in hardware may overlap.
 */
static bool
priority_find(const struct hy_offload *o, uint32_t rank, uint32_t *priority)
{
	const struct hy_flow_match *match = &o->plan->view->rules[rank].rule.match;
	uint32_t low = 0, high = o->limits.priorities;

	for (uint32_t i = 0; i < o->nb_in; i++) {
		const uint32_t r = o->in[i], slot = o->plan->rules[r].slot;

		if (slot == NO_SLOT || !hy_offload_overlap(o->plan, r, rank))
			continue;
		if (o->limits.priorities == 1)
			return false;
		if (r < rank)
			low = RTE_MAX(low, o->flows[slot].priority + 1);
		else
			high = RTE_MIN(high, o->flows[slot].priority);
	}
	*priority = RTE_MIN(low < high ? low + (high - low) / 2 : low, o->limits.priorities - 1);
	for (uint32_t i = 0; i < o->nb_slots && o->limits.priorities == 1 && o->leaving > 0; i++) {
		if (o->flows[i].state != FLOW_LEAVING)
			continue;
		o->plan->compared += HY_OFFLOAD_PAIR;
		if (hy_flow_overlap(&o->flows[i].match, match))
			return false;
	}
	return true;
}

/* Records the driver's message, or its errno, as a reason. */
uint8_t
hy_offload_refusal(struct hy_offload *o, int rc, const struct rte_flow_error *error)
{
	char text[sizeof(o->reasons[0])];

	snprintf(text, sizeof(text), "the port refuses it: %s",
		error->message != NULL ? error->message : strerror(-rc));
	return hy_offload_reason_of(o, text);
}

/*
 * A rule in hardware whose values can be changed, preferably in the table that this rule would use.
 * It cannot be tried unchanged: it would be refused as a duplicate. NULL: there is none.
 */
static const struct hy_flow_match *
in_hardware_like(const struct hy_offload *o, const struct hy_flow_match *match)
{
	const struct hy_flow_match *like = NULL;

	for (uint32_t i = 0; i < o->nb_slots; i++) {
		const struct flow *flow = &o->flows[i];

		if (flow->state == FLOW_FREE || !hy_flow_can_be_nobodys(&flow->match))
			continue;
		like = &flow->match;
		if (like->fields == match->fields && like->proto == match->proto)
			break;
	}
	return like;
}

/*
 * If the error is ambiguous, tries a rule that the port can only refuse for lack of room, or of a
 * counter: only rules that drop packets have one.
 */
static bool
means_full(const struct hy_offload *o, int rc, const struct hy_flow_match *match, bool drop)
{
	if (rc == -ENOSPC || rc == -ENOMEM || rc == -ENOBUFS || rc == -EAGAIN || rc == -EBUSY)
		return true;
	return rc != 0 && rc == -o->params.driver->full &&
		!hy_flow_has_room(o->port, o->params.provider, o->params.driver, &o->limits,
			in_hardware_like(o, match), drop);
}

/* Makes the rule for a slot's hardware. REASON_NONE, or why it is not for hardware. */
static uint8_t
lower(struct hy_offload *o, uint32_t rank, uint32_t slot, uint32_t priority,
	struct hy_flow_lowered *out)
{
	struct flow *flow = &o->flows[slot];
	const char *why;
	int rc;

	/* Each new table would take longer. */
	if (o->again > AGAIN_MOST && hy_offload_is_crowded(o->plan, rank))
		return REASON_CROWD;
	if (flow->drop) {
		const uint8_t reason = hy_offload_drop_reason(o, rank, priority);

		if (reason != REASON_NONE)
			return reason;
		rc = hy_flow_lower_drop(o->params.driver, &o->limits, &flow->match, priority, out,
			&why);
	} else if (hy_offload_residue(o, o->plan, rank, priority, NULL, o->params.max_residue) >
		o->params.max_residue) {
		return REASON_RESIDUE;
	} else {
		rc = hy_flow_lower(o->params.driver, &o->limits, &flow->match, flow_mark(o, slot),
			priority, &o->spread, out, &why);
	}
	return rc == 0 ? REASON_NONE : hy_offload_reason_of(o, why);
}

/* Puts a rule into the batch, as if it were in hardware already, or records why not. */
static void
stage(struct hy_offload *o, uint32_t rank, uint32_t slot)
{
	const struct hy_policy_rule *rule = &o->plan->view->rules[rank];
	struct rule_state *state = &o->plan->rules[rank];
	struct flow *flow = &o->flows[slot];
	struct staged *staged = &o->batch->rules[o->batch->n];
	struct hy_flow_lowered *lowered = &staged->lowered;
	uint32_t priority;

	o->plan->compared += STAGE_PAIRS;
	flow->match = rule->rule.match;
	flow->drop = hy_offload_is_drop(o, &rule->rule);
	flow->index = rule->index;
	flow->hits = flow->bytes = 0;
	if (!priority_find(o, rank, &priority)) {
		state->reason = REASON_OVERLAP;
		return;
	}
	state->reason = lower(o, rank, slot, priority, lowered);
	if (state->reason != REASON_NONE)
		return;
	staged->rank = rank;
	staged->slot = slot;
	o->batch->requests[o->batch->n++] = (struct hy_flow_request){
		.attr = &lowered->attr, .items = lowered->items, .actions = lowered->actions
	};
	flow->state = FLOW_LIVE;
	flow->priority = priority;
	flow->checks = (lowered->fragments ? HY_MARK_FRAGMENTS : 0) |
		(lowered->wider ? HY_MARK_RULE : 0);
	state->slot = slot;
	o->in[o->nb_in++] = rank;
	o->live++;
	o->live_drops += flow->drop;
}

/* Whether a slot's rule is in hardware and has the same pattern. */
static bool
is_twin(const struct hy_offload *o, uint32_t slot, const struct hy_flow_match *match)
{
	const struct flow *flow = &o->flows[slot];

	return flow->state != FLOW_FREE && hy_flow_same(&flow->match, match);
}

/*
 * The slot of another rule in hardware with the same pattern as the rule in this slot, or NO_SLOT.
 */
static uint32_t
twin_find(struct hy_offload *o, uint32_t slot)
{
	o->plan->compared += (uint64_t)HY_OFFLOAD_PAIR * (o->live + o->leaving + o->stuck);
	for (uint32_t i = 0; i < o->nb_slots; i++)
		if (i != slot && is_twin(o, i, &o->flows[slot].match))
			return i;
	return NO_SLOT;
}

/*
 * Undoes stage() for a rule that the port refused, and records why. The rule may have been active
 * for a moment: net/cnxk writes a rule before it looks for a group of queues (roc_npc.c,
 * roc_npc_flow_create()). So the slot is treated like that of a removed rule.
 */
static void
unstage(struct hy_offload *o, const struct staged *staged, const struct hy_flow_request *request)
{
	struct rule_state *state = &o->plan->rules[staged->rank];
	struct flow *flow = &o->flows[staged->slot];
	const bool was_full = o->full;
	bool full;

	o->live_drops -= flow->drop;
	if (request->rc == -ETIMEDOUT) { /* it may exist: no other rule may use its mark */
		flow->state = FLOW_STUCK;
		o->live--;
		o->stuck++;
		o->failed++;
		o->dirty = true;
		o->watch.left = hy_offload_now();
	} else {
		hy_offload_flow_free(o, flow);
	}
	full = means_full(o, request->rc, &flow->match, flow->drop);
	o->full = was_full || full;
	state->twin = twin_find(o, staged->slot);
	if (full)
		state->reason = REASON_FULL;
	else if (state->twin != NO_SLOT) /* messages of drivers differ */
		state->reason = REASON_TWIN;
	else
		state->reason = hy_offload_refusal(o, request->rc, &request->error);
	state->slot = NO_SLOT;
	o->retry = true; /* others may have been refused because of it */
}

/* Creates the rules in the batch. Returns how many the port took. */
static uint32_t
batch_create(struct hy_offload *o)
{
	const uint64_t begin = hy_offload_now();
	struct batch *b = o->batch;
	uint32_t done = 0;

	hy_flow_create_many(o->params.provider, o->port, b->requests, b->n);
	for (uint32_t i = 0; i < b->n; i++) {
		struct flow *flow = &o->flows[b->rules[i].slot];

		if (b->requests[i].rc != 0) {
			unstage(o, &b->rules[i], &b->requests[i]);
			continue;
		}
		flow->handle = b->requests[i].flow;
		flow->since = hy_offload_now();
		done++;
	}
	hy_offload_pace(o, begin, b->n); /* unstage() may have called the port, too */
	b->n = 0;
	o->installed += done;
	o->dirty |= done > 0;
	return done;
}

/* Sorts by hits, least first; then by rank, last first. */
static int
colder(const void *a, const void *b, void *arg)
{
	const struct rule_state *rules = arg;
	const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	if (rules[x].rate != rules[y].rate)
		return rules[x].rate < rules[y].rate ? -1 : 1;
	return (x < y) - (x > y);
}

/* The ranks of rules in hardware, or of candidates for hardware, sorted by colder(). */
static uint32_t *
ranks_sorted(const struct hy_offload *o, bool hardware, uint32_t *n)
{
	uint32_t *ranks = malloc(((size_t)o->plan->view->nb_rules + 1) * sizeof(*ranks));

	*n = 0;
	if (ranks == NULL)
		return NULL;
	for (uint32_t r = 0; r < o->plan->view->nb_rules; r++) {
		const struct rule_state *state = &o->plan->rules[r];

		if (hardware ? state->slot != NO_SLOT
			     : state->reason >= REASON_UNTRIED && state->reason <= REASON_COLD)
			ranks[(*n)++] = r;
	}
	qsort_r(ranks, *n, sizeof(*ranks), colder, o->plan->rules);
	return ranks;
}

/*
 * Rules that were refused only because of others can be tried again when one of those was removed
 * or has settled. A twin is compared only with the slot that kept it out, since there may be many
 * of both.
 */
static void
retry_neighbours(struct hy_offload *o)
{
	for (uint32_t r = 0; r < o->plan->view->nb_rules; r++) {
		struct rule_state *state = &o->plan->rules[r];

		if (state->reason == REASON_OVERLAP || state->reason == REASON_RESIDUE ||
			state->reason == REASON_ORDER ||
			(state->reason == REASON_CROWD && o->again <= AGAIN_MOST) ||
			(state->reason == REASON_TWIN &&
				!is_twin(o, state->twin, &o->plan->view->rules[r].rule.match)))
			state->reason = REASON_UNTRIED;
	}
	o->retry = false;
}

/*
 * How many more rules the port may get. If rules take a group of queues, stuck ones still have
 * theirs, and asking for one too many may corrupt the driver (net/cnxk, v22.11).
 */
static uint32_t
room_left(const struct hy_offload *o, bool drop)
{
	const bool grouped = !drop && o->params.driver->spread_rules > 0 && o->spread.nb_queues > 1;
	const uint32_t room = drop ? o->params.max_rules : o->room;
	uint32_t taken = o->live + o->leaving + (grouped ? o->stuck : 0);

	if (grouped) /* rules that drop need no queues */
		taken -= o->live_drops;
	return taken < room ? room - taken : 0;
}

static bool
has_room(const struct hy_offload *o, uint32_t rank)
{
	return room_left(o, hy_offload_is_drop(o, &o->plan->view->rules[rank].rule)) > 0;
}

uint32_t
hy_offload_install(struct hy_offload *o)
{
	/* One by one, installing stops at the first refusal for lack of room. */
	const uint32_t many = o->params.provider->create_many == NULL ? 1 : BATCH;
	const uint64_t pairs = o->plan->compared + HY_OFFLOAD_PAIRS;
	uint32_t n, staged, slot = 0, done = 0, asked = 0;
	uint32_t *ranks;
	bool more;

	if (o->retry)
		retry_neighbours(o);
	if (o->full)
		return 0;
	o->live_drops = hy_offload_nb_drops(o, FLOW_LIVE);
	o->in = ranks_sorted(o, true, &o->nb_in);
	ranks = ranks_sorted(o, false, &n);
	while (ranks != NULL && o->in != NULL && n > 0 && asked < o->params.batch && !o->full &&
		(asked == 0 || !hy_offload_late(o)) && o->plan->compared < pairs) {
		if (!has_room(o, ranks[n - 1])) {
			if (!o->access) {
				o->full = true;
				break;
			}
			o->plan->rules[ranks[--n]].reason = REASON_FULL;
			continue; /* others may drop packets */
		}
		slot = slot_find(o, slot);
		if (slot == NO_SLOT) /* until quarantines are over */
			break;
		staged = o->batch->n;
		stage(o, ranks[--n], slot);
		asked += o->batch->n - staged; /* not those that the port would not get anyway */
		if (o->batch->n >= RTE_MIN(many, o->pace))
			done += batch_create(o);
	}
	done += batch_create(o);
	more = n > 0 && !o->full && slot != NO_SLOT;
	while (o->full && n > 0)
		o->plan->rules[ranks[--n]].reason = REASON_FULL;
	free(ranks);
	free(o->in);
	o->in = NULL;
	return RTE_MAX(done, (uint32_t)more);
}

/* Evicts the coldest rules in favour of hotter ones. Returns how many leave. */
static uint32_t
evict(struct hy_offload *o)
{
	uint32_t nb_in, nb_out, done = 0;
	uint32_t *in = ranks_sorted(o, true, &nb_in);
	uint32_t *out = ranks_sorted(o, false, &nb_out);
	struct rule_state *rules = o->plan->rules;

	while (in != NULL && out != NULL && done < RTE_MIN(nb_in, nb_out) &&
		done < o->params.batch) {
		struct rule_state *cold = &rules[in[done]];
		const struct rule_state *hot = &rules[out[nb_out - 1 - done]];

		if (hot->rate <= (uint64_t)EVICT_FACTOR * cold->rate + EVICT_MORE)
			break;
		cold->slot = NO_SLOT;
		cold->reason = REASON_COLD;
		done++;
	}
	free(in);
	free(out);
	o->evicted += done;
	o->dirty |= done > 0;
	return done;
}

/* A rule that denies need before them is worth as much as they, and would take them with it. */
static void
rates_lend(struct hy_offload *o)
{
	const struct hy_policy_rule *policy = o->plan->view->rules;
	const uint64_t pairs = o->plan->compared + HY_OFFLOAD_PAIRS;
	struct rule_state *rules = o->plan->rules;

	for (uint32_t r = o->plan->view->nb_rules; r-- > 0 && o->plan->compared < pairs;) {
		if (!hy_offload_is_drop(o, &policy[r].rule) || rules[r].rate == 0 ||
			(rules[r].reason > REASON_COLD && rules[r].reason != REASON_ORDER))
			continue;
		for (uint32_t at = 0, u; (u = hy_offload_before(o->plan, r, &at)) != NO_SLOT;)
			rules[u].rate = RTE_MAX(rules[u].rate, rules[r].rate);
	}
}

uint32_t
hy_offload_age(struct hy_offload *o)
{
	const uint64_t now = hy_offload_now();
	uint32_t done;

	if (now - o->aged < o->params.age_us)
		return 0;
	o->aged = now;
	for (uint32_t r = 0; r < o->plan->view->nb_rules; r++) {
		struct rule_state *state = &o->plan->rules[r];
		const uint64_t hits = hy_offload_hits(o, o->plan->view->rules[r].index);
		const uint64_t rate = state->rate / 2 + (hits - state->hits);

		state->rate = rate > UINT32_MAX ? UINT32_MAX : (uint32_t)rate;
		state->hits = hits;
	}
	if (!o->full)
		return 0;
	if (o->access)
		rates_lend(o);
	done = evict(o);
	/* Others may have made room: try the hottest rule again. */
	o->live_drops = hy_offload_nb_drops(o, FLOW_LIVE);
	if (done == 0 && room_left(o, false) > 0)
		o->full = false;
	return done;
}
