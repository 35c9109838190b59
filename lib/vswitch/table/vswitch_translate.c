/* SPDX-License-Identifier: BSD-3-Clause */
/* Takes one packet through the tables. */

#include <netinet/in.h>
#include <string.h>

#include <rte_common.h>
#include <rte_ether.h>

#include "vswitch_translate.h"

void
vswitch_look(struct vswitch_flow *flow, const struct hy_flows_key *bits)
{
	struct hy_flows_key now;
	rte_be16_t outer, inner;

	for (uint32_t w = 0; w < HY_FLOWS_WORDS; w++)
		now.words[w] = bits->words[w] & flow->fresh.words[w];
	outer = now.vlan;
	inner = now.vlan2;
	now.vlan = (flow->outer == VSWITCH_OUTER ? outer : 0) |
		(flow->inner == VSWITCH_OUTER ? inner : 0);
	now.vlan2 = (flow->outer == VSWITCH_INNER ? outer : 0) |
		(flow->inner == VSWITCH_INNER ? inner : 0);
	if (flow->ttl_counted && now.ttl != 0)
		now.ttl = UINT8_MAX;
	for (uint32_t w = 0; w < HY_FLOWS_WORDS; w++)
		flow->mask.words[w] |= now.words[w];
}

/* Rules see a fragment by a bit of its own; what was not read to its end is one with an offset. */
uint8_t
vswitch_kind_of(uint8_t kind)
{
	const uint8_t later = HY_FLOWS_LATER_FRAGMENT | HY_FLOWS_UNKNOWN_FRAGMENT;
	const uint8_t rest = kind & (uint8_t) ~(later | HY_FLOWS_FIRST_FRAGMENT);

	if ((kind & later) != 0)
		return rest | HY_FLOWS_FIRST_FRAGMENT | HY_FLOWS_LATER_FRAGMENT;
	return rest | (kind & HY_FLOWS_FIRST_FRAGMENT);
}

/* The bits of a packet's kind of which these are made. */
static uint8_t
kind_mask(uint8_t kind)
{
	if ((kind & (HY_FLOWS_FIRST_FRAGMENT | HY_FLOWS_LATER_FRAGMENT)) != 0)
		kind |= HY_FLOWS_LATER_FRAGMENT | HY_FLOWS_UNKNOWN_FRAGMENT;
	return kind;
}

/* Where ovs-fields(7) has another protocol than the header: 44 of later fragments of IPv6. */
static void
proto_put(struct hy_flows_key *key)
{
	if (key->type == RTE_BE16(RTE_ETHER_TYPE_IPV6) &&
		(key->kind & HY_FLOWS_LATER_FRAGMENT) != 0)
		key->proto = IPPROTO_FRAGMENT;
}

/* The bits of which proto_put() makes a protocol that was looked at. */
static void
proto_mask(struct hy_flows_key *mask, const struct hy_flows_key *key)
{
	if (mask->proto == 0)
		return;
	mask->type = UINT16_MAX;
	if (key->type == RTE_BE16(RTE_ETHER_TYPE_IPV6))
		mask->kind |= HY_FLOWS_LATER_FRAGMENT;
}

static void
finish(struct vswitch_flow *flow, const struct hy_flows_key *key)
{
	struct hy_vswitch_answer *answer = flow->answer;

	proto_mask(&flow->mask, key);
	answer->mask = flow->mask;
	answer->mask.kind = kind_mask(flow->mask.kind) | HY_FLOWS_TUNNELLED;
	answer->mask.port = 0;
	if ((key->kind & HY_FLOWS_TUNNELLED) == 0) {
		answer->mask.port = UINT16_MAX;
	} else {
		answer->mask.tunnel_src = answer->mask.tunnel_dst = UINT32_MAX;
		memset(answer->mask.tunnel_src6, 0xff, sizeof(answer->mask.tunnel_src6));
		memset(answer->mask.tunnel_dst6, 0xff, sizeof(answer->mask.tunnel_dst6));
	}
	if (answer->outcome != HY_VSWITCH_DONE)
		answer->nb_ops = 0;
	while (answer->nb_ops > 0 && answer->ops[answer->nb_ops - 1].type != HY_FLOW_OP_OUTPUT)
		answer->nb_ops--;
}

/* Remembers that a table is asked about the packet as it is now, and what it said. */
static void
leave_trail(struct vswitch_flow *flow, uint8_t table, const struct vswitch_entry *entry)
{
	struct hy_vswitch_trail *trail = &flow->answer->trail;
	const uint64_t bit = UINT64_C(1) << table % 64;

	trail->tables[table / 64] |= bit;
	if (entry == NULL)
		trail->missed[table / 64] |= bit;
	else
		trail->lowest = RTE_MIN(trail->lowest, entry->priority);
	for (uint32_t w = 0; w < HY_FLOWS_WORDS; w++)
		trail->own.words[w] &= flow->fresh.words[w];
	if (flow->key.port != flow->input->number)
		trail->own.port = 0;
	if (flow->outer != VSWITCH_OUTER)
		trail->own.vlan = 0;
	if (flow->inner != VSWITCH_INNER)
		trail->own.vlan2 = 0;
	if (flow->ttl_counted)
		trail->own.ttl = 0;
}

/* Enters a table: what it says comes next. */
static void
enter(struct vswitch_flow *flow, uint32_t *frames, uint8_t table, uint16_t port, bool deeper)
{
	struct hy_vswitch_answer *answer = flow->answer;
	struct hy_flows_key looked = { 0 };
	const struct vswitch_entry *entry;
	const uint16_t input = flow->key.port;

	flow->key.port = port;
	entry = vswitch_find(&flow->vswitch->set->table[table], &flow->key, &looked);
	leave_trail(flow, table, entry);
	flow->key.port = input;
	looked.port = 0;
	vswitch_look(flow, &looked);
	if (unlikely(flow->trace != NULL)) {
		flow->trace->level = *frames;
		vswitch_trace_rule(flow, table, entry);
	}
	if (entry == NULL)
		return;
	answer->rules[answer->nb_rules++] = entry->id;
	flow->vswitch->stack[(*frames)++] = (struct vswitch_frame){ entry, 0, deeper };
	flow->depth += deeper;
}

static void
resubmit(struct vswitch_flow *flow, uint32_t *frames, const struct hy_vswitch_action *action)
{
	const struct vswitch_frame *frame = &flow->vswitch->stack[*frames - 1];
	const bool same = action->type == HY_VSWITCH_GOTO || action->port == HY_VSWITCH_IN_PORT;

	if (flow->depth >= HY_VSWITCH_DEPTH)
		flow->answer->outcome = HY_VSWITCH_TOO_DEEP;
	else if (flow->resubmits++ == HY_VSWITCH_RESUBMITS)
		flow->answer->outcome = HY_VSWITCH_TOO_MANY;
	else
		enter(flow, frames, action->table, same ? flow->input->number : action->port,
			action->table <= frame->entry->table);
}

/* The actions of the rules that were met, the latest first. */
static void
run(struct vswitch_flow *flow)
{
	uint32_t frames = 0;

	enter(flow, &frames, 0, flow->input->number, false);
	while (frames > 0 && flow->answer->outcome == HY_VSWITCH_DONE) {
		struct vswitch_frame *frame = &flow->vswitch->stack[frames - 1];
		const struct vswitch_actions *actions = frame->entry->actions;
		const struct hy_vswitch_action *action = &actions->action[frame->next];

		if (frame->next == actions->n) {
			flow->depth -= frame->deeper;
			frames--;
			continue;
		}
		frame->next++;
		if (unlikely(flow->trace != NULL)) {
			flow->trace->level = frames;
			vswitch_trace_action(flow, action);
		}
		if (action->type == HY_VSWITCH_RESUBMIT || action->type == HY_VSWITCH_GOTO)
			resubmit(flow, &frames, action);
		else if (!vswitch_do(flow, action))
			frame->next = (uint16_t)actions->n;
	}
	if (unlikely(flow->trace != NULL))
		vswitch_trace_end(flow);
}

void
vswitch_translate(struct hy_vswitch *vswitch, const struct hy_flows_key *key,
	struct hy_vswitch_answer *answer, struct vswitch_trace *trace, struct vswitch_flow *flow)
{
	static const struct hy_flow_op decap = { .type = HY_FLOW_OP_DECAP };

	memset(flow, 0, sizeof(*flow));
	flow->vswitch = vswitch;
	flow->answer = answer;
	flow->trace = trace;
	flow->key = *key;
	flow->outer = VSWITCH_OUTER;
	flow->inner = VSWITCH_INNER;
	answer->outcome = HY_VSWITCH_DONE;
	answer->nb_ops = 0;
	answer->nb_rules = 0;
	memset(&flow->fresh, 0xff, sizeof(flow->fresh));
	answer->trail = (struct hy_vswitch_trail){ .own = flow->fresh, .lowest = UINT16_MAX };
	pthread_mutex_lock(&vswitch->lock);
	flow->input = vswitch_input(vswitch, key);
	flow->key.kind = vswitch_kind_of(key->kind);
	proto_put(&flow->key);
	if (flow->input == NULL)
		answer->outcome = HY_VSWITCH_NO_INPUT;
	else
		flow->key.port = flow->input->number;
	if (unlikely(trace != NULL))
		vswitch_trace_begin(flow);
	if (flow->input != NULL) {
		if (flow->input->is_tunnel)
			vswitch_op(flow, &decap);
		run(flow);
	}
	pthread_mutex_unlock(&vswitch->lock);
	finish(flow, key);
}

void
hy_vswitch_translate(struct hy_vswitch *vswitch, const struct hy_flows_key *key,
	struct hy_vswitch_answer *answer)
{
	struct vswitch_flow flow;

	vswitch_translate(vswitch, key, answer, NULL, &flow);
}
