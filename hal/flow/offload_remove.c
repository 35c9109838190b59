/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules in hardware that leave: destroyed when workers have left them, forgotten, or abandoned. */

#include <rte_ethdev.h>

#include <hy_grace.h>

#include "lib/graph/internal/log.h"
#include "many.h"
#include "offload.h"

void
hy_offload_flow_free(struct hy_offload *o, struct flow *flow)
{
	if (flow->state == FLOW_LIVE)
		o->live--;
	else if (flow->state == FLOW_LEAVING)
		o->leaving--;
	else if (flow->state == FLOW_STUCK)
		o->stuck--;
	flow->state = FLOW_FREE;
	flow->handle = NULL;
	flow->several = false;
	flow->settled = false;
	flow->since = hy_offload_now();
	if (o->safety.generation)
		flow->generation = flow->generation % o->generations + 1;
	o->retry = true;
	o->full = false;
}

/* Requests go out few at a time until the port is known to answer in time. */
void
hy_offload_pace(struct hy_offload *o, uint64_t begin, uint32_t n)
{
	const uint64_t took = hy_offload_took(o, begin);

	if (took > HY_OFFLOAD_TURN_US)
		o->pace = RTE_MAX(n / 2, 1u);
	else if (n >= o->pace && took < HY_OFFLOAD_TURN_US / 4)
		o->pace = RTE_MIN(2 * o->pace, (uint32_t)BATCH);
}

/* Destroys the rules in the batch. */
static void
batch_destroy(struct hy_offload *o)
{
	const uint64_t begin = hy_offload_now();
	struct batch *b = o->batch;

	hy_flow_destroy_many(o->params.provider, o->port, b->requests, b->n);
	hy_offload_pace(o, begin, b->n);
	for (uint32_t i = 0; i < b->n; i++) {
		struct flow *flow = &o->flows[b->rules[i].slot];

		if (b->requests[i].rc == 0) {
			hy_offload_flow_free(o, flow);
			continue;
		}
		flow->state = FLOW_STUCK;
		flow->handle = NULL; /* it may be invalid now */
		o->leaving--;
		o->stuck++;
		o->failed++;
		o->dirty = true; /* workers are told its mark */
		o->watch.left = hy_offload_now();
	}
	b->n = 0;
}

/* No mark of these arrives, so no grace period is awaited. */
static uint32_t
drops_destroy_left(struct hy_offload *o, bool now)
{
	uint32_t done = 0;

	for (uint32_t i = 0; o->access && i < o->nb_slots && o->leaving > 0; i++) {
		if (o->flows[i].state != FLOW_LEAVING || !o->flows[i].drop)
			continue;
		hy_offload_drop_end(o, &o->flows[i], !now);
		done++;
		if (hy_offload_late(o))
			break;
	}
	return done;
}

uint32_t
hy_offload_destroy_left(struct hy_offload *o, bool now)
{
	struct batch *b = o->batch;
	uint32_t done = drops_destroy_left(o, now);
	const bool guarded = hy_offload_guards_find(o) > 0;

	for (uint32_t i = 0; i < o->nb_slots && o->leaving > b->n; i++) {
		const struct flow *flow = &o->flows[i];

		if (done > b->n && hy_offload_late(o))
			break;
		if (flow->state != FLOW_LEAVING || flow->drop ||
			(guarded && hy_offload_must_stay(o, flow)) ||
			(!now && !hy_grace_over(o->qsbr, flow->token)))
			continue;
		b->requests[b->n] = (struct hy_flow_request){ .flow = flow->handle };
		b->rules[b->n++].slot = i;
		done++;
		if (b->n >= o->pace)
			batch_destroy(o);
	}
	batch_destroy(o);
	return done;
}

/* Lets all rules leave. Marked packets that wait in queues match no table. */
static void
withdraw(struct hy_offload *o)
{
	for (uint32_t r = 0; r < o->plan->view->nb_rules; r++) {
		o->plan->rules[r].slot = NO_SLOT;
		o->plan->rules[r].reason = hy_offload_reason_first(o, o->plan->view,
			&o->plan->view->rules[r].rule);
	}
	hy_offload_marks_publish(o, NULL, o->plan);
	o->lost += o->leaving;
}

/*
 * Called when the port is about to stop or to be reset, or was removed. If it answers, removes all
 * rules: a port may keep rules over a stop, and it would be unknown which handles are still valid.
 * Otherwise forgets them, since a reset deletes them.
 */
void
hy_offload_forget(struct hy_offload *o, bool answers)
{
	o->mute = !answers;
	withdraw(o);
	o->mute = false;
	if (answers) {
		hy_offload_jump_remove(o);
		hy_offload_destroy_left(o, true);
		hy_offload_port_rules_remove(o);
		return;
	}
	for (uint32_t i = 0; i < o->nb_slots; i++)
		if (o->flows[i].state != FLOW_FREE)
			hy_offload_flow_free(o, &o->flows[i]);
	hy_offload_kept_forget(o->port);
	hy_offload_port_rules_forget(o);
}

void
hy_offload_abandon(struct hy_offload *o)
{
	o->mute = true;
	withdraw(o);
	for (uint32_t i = 0; i < o->nb_slots; i++)
		if (o->flows[i].state == FLOW_LEAVING)
			o->flows[i].state = FLOW_STUCK;
	o->stuck += o->leaving;
	o->leaving = 0;
}

/* Destroys the stuck rules with a handle that drop packets, or those that do not. */
static void
kept_destroy(struct hy_offload *o, bool drop)
{
	for (uint32_t i = 0; i < o->nb_slots; i++) {
		struct flow *flow = &o->flows[i];

		if (flow->state != FLOW_STUCK || flow->handle == NULL || flow->drop != drop)
			continue;
		flow->state = FLOW_LEAVING;
		o->stuck--;
		o->leaving++;
	}
	hy_offload_destroy_left(o, true);
}

/*
 * Other ports may restore rules, too (net/hns3, hns3_ethdev.c, hns3_restore_conf()), but do not say
 * whether the handles are valid.
 */
void
hy_offload_recovered(struct hy_offload *o)
{
	struct rte_eth_dev_info info;

	if (rte_eth_dev_info_get(o->port, &info) != 0)
		return; /* it does not answer yet */
	o->mute = false;
	if ((info.dev_capa & RTE_ETH_DEV_CAPA_FLOW_RULE_KEEP) == 0) {
		hy_offload_port_rules_forget(o);
	} else {
		hy_offload_port_rules_remove(o);
		kept_destroy(o, true); /* before rules go that they must come after */
		kept_destroy(o, false);
	}
	if (o->state == HY_OFFLOAD_DEMOTED && hy_offload_nb_drops(o, FLOW_STUCK) > 0)
		HY_LOG(ERR, "port %u may have kept %u rules that drop packets", o->port,
			hy_offload_nb_drops(o, FLOW_STUCK));
}

void
hy_offload_closing(struct hy_offload *o)
{
	pthread_mutex_lock(&o->mutex);
	o->closing = true;
	pthread_mutex_unlock(&o->mutex);
}
