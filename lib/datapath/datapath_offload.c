/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Megaflows in the hardware of ports. Each port has an access list (hy_policy.h) whose rules are those of
 * its megaflows that packets use most and that a rule can say (datapath_match.c). Of megaflows that
 * forward, hardware marks packets, and flow_lookup reads off the mark which megaflow it is; what that one
 * says is read anew for each packet, so a change of rules needs no change in hardware. Those without an
 * output, hardware drops and counts: when rules change, such a rule leaves hardware before the change is
 * done, unless its megaflow still says so.
 *
 * A rule's class names its megaflow. It is not used again before workers have left the marks that had it.
 */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <hy_flow_lookup.h>
#include <hy_grace.h>
#include <hy_hal_live.h>
#include <hy_policy_view.h>

#include "datapath_offload.h"
#include "lib/graph/internal/log.h"

#define BATCH 256       /* megaflows that are read at once, */
#define BATCHES 4       /* and such reads of a poll */
#define SCAN_MS 200     /* between two looks at all megaflows */
#define READ_MS 200     /* between two looks at counters */
#define PACKETS_LEAST 8 /* of a megaflow that hardware gets */
#define RECENT_MS 5000  /* it was used so lately; a rule that was not goes */

/* A megaflow displaces another if it is used more than twice as often, plus this many packets a second. */
#define HOTTER 8

static bool
is_staged_or_in(const struct datapath_rule *rule)
{
	return rule->state == DATAPATH_RULE_COMES || rule->state == DATAPATH_RULE_IN ||
		rule->state == DATAPATH_RULE_LEAVES;
}

/* The class of a megaflow that has a rule, or one staged; 0: it has none. */
static uint16_t
class_of(const struct datapath_offload *o, const struct datapath_port *port,
	const struct hy_flows_ref *ref)
{
	const uint16_t class_id = ref->slot < o->nb_slots ? o->by_slot[ref->slot].class_id : 0;
	const struct hy_flows_ref *named = &port->of_class[class_id].ref;

	return class_id <= port->classes && is_staged_or_in(&port->rules[class_id]) &&
			named->slot == ref->slot && named->tag == ref->tag
		? class_id
		: 0;
}

static bool
slots_reserve(struct datapath_offload *o, uint32_t slot)
{
	const uint32_t n = RTE_MAX(slot + 1, 2 * o->nb_slots);
	struct datapath_use *more;

	if (slot < o->nb_slots)
		return true;
	more = realloc(o->by_slot, n * sizeof(*more));
	if (more == NULL)
		return false;
	memset(more + o->nb_slots, 0, (n - o->nb_slots) * sizeof(*more));
	o->by_slot = more;
	o->nb_slots = n;
	return true;
}

static uint32_t
per_second(uint64_t packets, uint64_t ms)
{
	return (uint32_t)RTE_MIN(packets * 1000 / RTE_MAX(ms, UINT64_C(1)), (uint64_t)UINT32_MAX);
}

/* Packets a second of a megaflow of late: a quarter is what came since the last look at it. */
static uint32_t
rate_of(struct datapath_offload *o, const struct hy_flows_entry *entry, uint32_t now_ms)
{
	const uint32_t life = (uint32_t)(entry->ref.tag >> 16);
	struct datapath_use *use;
	uint32_t rate;

	if (!slots_reserve(o, entry->ref.slot))
		return 0;
	use = &o->by_slot[entry->ref.slot];
	if (use->life == life && use->packets <= entry->packets) {
		rate = per_second(entry->packets - use->packets, now_ms - use->at_ms);
		use->rate += rate / 4 - use->rate / 4;
	} else {
		use->rate = per_second(entry->packets, RTE_MAX(entry->age, 1000u));
	}
	use->life = life;
	use->packets = entry->packets;
	use->at_ms = now_ms;
	return use->rate;
}

static void
rule_leave(struct datapath_port *port, uint16_t class_id)
{
	const bool unknown = port->rules[class_id].state == DATAPATH_RULE_COMES;

	if (hy_policy_remove(port->policy, class_id) < 0)
		return;
	port->rules[class_id].state = unknown ? DATAPATH_RULE_NONE : DATAPATH_RULE_LEAVES;
	port->nb_in--;
	port->changed = true;
}

/* A class that no worker knows any more; 0: none. */
static uint16_t
class_find(struct datapath_port *port)
{
	for (uint32_t n = 0; n < port->classes; n++) {
		const uint16_t class_id = (uint16_t)(port->next++ % port->classes + 1);
		struct datapath_rule *rule = &port->rules[class_id];

		if (rule->state == DATAPATH_RULE_LEFT && hy_grace_over(port->qsbr, rule->token))
			rule->state = DATAPATH_RULE_NONE;
		if (rule->state == DATAPATH_RULE_NONE)
			return class_id;
	}
	return 0;
}

/* The rule whose megaflow is used least, if that is less than a rate; 0: none. */
static uint16_t
colder_find(const struct datapath_port *port, uint32_t rate)
{
	uint16_t coldest = 0;

	for (uint32_t c = 1; c <= port->classes; c++)
		if (port->rules[c].state == DATAPATH_RULE_IN &&
			(coldest == 0 || port->rules[c].rate < port->rules[coldest].rate))
			coldest = (uint16_t)c;
	return coldest != 0 && rate > 2 * (uint64_t)port->rules[coldest].rate + HOTTER ? coldest
										       : 0;
}

/* Adds a rule for a megaflow. */
static void
rule_add(struct datapath_offload *o, struct datapath_port *port, const struct hy_flows_entry *entry,
	const struct hy_flow_match *match, uint32_t rate, bool wider, bool drop)
{
	const uint16_t class_id = class_find(port);
	const struct hy_flow_rule rule = { .id = class_id,
		.class_id = drop ? HY_FLOW_NO_CLASS : class_id,
		.action = drop ? HY_RULE_DENY : HY_RULE_CLASSIFY,
		.match = *match };

	if (class_id == 0 || !slots_reserve(o, entry->ref.slot) ||
		hy_policy_add(port->policy, &rule) < 0)
		return;
	port->of_class[class_id] = (struct hy_flow_named){ .ref = entry->ref, .wider = wider };
	o->by_slot[entry->ref.slot].class_id = class_id;
	port->rules[class_id] = (struct datapath_rule){ .state = DATAPATH_RULE_COMES,
		.drop = drop,
		.action = entry->flow.action,
		.rate = rate };
	port->nb_in++;
	port->changed = true;
}

/* One megaflow: notes how much it is used, or offers it to hardware. */
static void
consider(struct hy_datapath *datapath, const struct hy_flows_entry *entry)
{
	struct datapath_offload *o = datapath->offload;
	const uint16_t id = entry->flow.key.port;
	struct datapath_port *port = id < RTE_MAX_ETHPORTS ? o->port[id] : NULL;
	const uint16_t edge = (uint16_t)entry->flow.action;
	enum datapath_match said;
	struct hy_flow_match match;
	uint16_t class_id;
	uint32_t rate;
	bool drop;

	if (port == NULL || edge == HY_FLOW_ACTION_DENY)
		return;
	rate = rate_of(o, entry, (uint32_t)datapath->now_ms);
	class_id = class_of(o, port, &entry->ref);
	if (class_id != 0) {
		port->rules[class_id].rate = rate;
		if (entry->unused > RECENT_MS && port->rules[class_id].state == DATAPATH_RULE_IN)
			rule_leave(port, class_id);
		return;
	}
	if (entry->packets < PACKETS_LEAST || entry->unused > RECENT_MS)
		return;
	said = datapath_match(&entry->flow.key, &entry->flow.mask, o->tunnels, &match);
	drop = datapath_list_drops(&datapath->lists, (uint16_t)(entry->flow.action >> 16));
	if (said == DATAPATH_MATCH_NONE || (drop && said != DATAPATH_MATCH_SAME))
		return;
	if (port->nb_in == port->most) {
		class_id = colder_find(port, rate);
		if (class_id == 0)
			return;
		rule_leave(port, class_id);
	}
	rule_add(o, port, entry, &match, rate, said == DATAPATH_MATCH_WIDER, drop);
}

/* Has the megaflow and its rules count what hardware dropped. */
static void
drops_count(struct hy_datapath *datapath, struct datapath_port *port, uint16_t class_id)
{
	struct datapath_rule *rule = &port->rules[class_id];
	struct hy_policy_counts now;
	uint64_t packets, bytes;

	hy_policy_hardware_counts(port->policy, rule->index, &now);
	packets = now.packets - rule->packets;
	bytes = now.bytes - rule->bytes;
	if (packets == 0 && bytes == 0)
		return;
	rule->packets = now.packets;
	rule->bytes = now.bytes;
	hy_flows_credit(hy_flow_table_flows(datapath->table), &port->of_class[class_id].ref,
		packets, bytes);
	datapath_list_credit(&datapath->lists, datapath->rules, (uint16_t)(rule->action >> 16),
		packets, bytes, datapath_now());
}

/* Rules that were committed. */
static void
settle(struct hy_datapath *datapath, struct datapath_port *port)
{
	const struct hy_policy_view *view = hy_policy_view_hold(port->policy);
	const uint64_t token = hy_grace_start(port->qsbr);

	port->nb_in = 0;
	for (uint32_t c = 1; c <= port->classes; c++) {
		struct datapath_rule *rule = &port->rules[c];

		if (rule->state == DATAPATH_RULE_COMES) {
			struct hy_policy_counts base;

			rule->index = hy_policy_view_find(view, c)->index;
			hy_policy_hardware_counts(port->policy, rule->index, &base);
			rule->packets = base.packets;
			rule->bytes = base.bytes;
			rule->state = DATAPATH_RULE_IN;
		} else if (rule->state == DATAPATH_RULE_LEAVES) {
			if (rule->drop)
				drops_count(datapath, port, (uint16_t)c);
			rule->token = token;
			rule->state = DATAPATH_RULE_LEFT;
		}
		port->nb_in += rule->state == DATAPATH_RULE_IN;
	}
	hy_policy_view_release(port->policy, view);
}

/*
 * Hardware follows. If that cannot be now, it must not go on dropping what the rules may forward: it gets
 * no rules until it can.
 */
static void
commit(struct hy_datapath *datapath, struct datapath_port *port)
{
	struct hy_offload *offload = hy_offload_of(port->port);
	struct datapath_offload *o = datapath->offload;
	int rc = -ETIMEDOUT;

	if (!port->changed)
		return;
	if (!o->late || hy_grace_over(port->qsbr, o->token)) {
		rc = hy_policy_commit(port->policy); /* waits for up to a second */
		o->late = rc == -ETIMEDOUT;
		if (o->late)
			o->token = hy_grace_start(port->qsbr);
	}
	if (rc == 0) {
		settle(datapath, port);
		port->changed = false;
	}
	if (rc < 0 && !port->stopped && offload != NULL) {
		HY_LOG(WARNING, "port %u: megaflows are in software for now: %s", port->port,
			strerror(-rc));
		hy_offload_down(offload, true);
		port->stopped = true;
	} else if (rc == 0 && port->stopped) {
		port->stopped = false;
		if (offload != NULL &&
			hy_hal_port_state(datapath->offload->hal, port->port) == HY_PORT_UP)
			hy_offload_up(offload);
	}
}

/* Whether the megaflow of a rule is gone, or says something else now of packets that hardware drops. */
static bool
is_outdated(struct hy_datapath *datapath, const struct datapath_port *port, uint32_t class_id)
{
	const struct datapath_rule *rule = &port->rules[class_id];
	uint32_t action;

	if (hy_flows_action(hy_flow_table_flows(datapath->table), &port->of_class[class_id].ref,
		    &action) < 0)
		return true;
	return action != rule->action &&
		(rule->drop || datapath_list_drops(&datapath->lists, (uint16_t)(action >> 16)));
}

/* Takes back what is outdated, in hardware or staged. */
static void
outdated_leave(struct hy_datapath *datapath, struct datapath_port *port)
{
	for (uint32_t c = 1; c <= port->classes; c++) {
		const struct datapath_rule *rule = &port->rules[c];

		if ((rule->state == DATAPATH_RULE_IN || rule->state == DATAPATH_RULE_COMES) &&
			is_outdated(datapath, port, c))
			rule_leave(port, (uint16_t)c);
	}
}

/* Looks at some megaflows. */
static void
scan(struct hy_datapath *datapath)
{
	struct datapath_offload *o = datapath->offload;
	struct hy_flows_entry entries[BATCH];

	for (unsigned int b = 0; b < BATCHES && o->cursor != HY_FLOWS_END; b++) {
		const uint32_t n = hy_flows_dump(hy_flow_table_flows(datapath->table), &o->cursor,
			entries, BATCH);

		for (uint32_t i = 0; i < n; i++)
			consider(datapath, &entries[i]);
	}
}

void
datapath_offload_follow(struct hy_datapath *datapath)
{
	struct datapath_offload *o = datapath->offload;

	for (unsigned int i = 0; o != NULL && i < o->nb_ports; i++) {
		outdated_leave(datapath, &o->ports[i]);
		commit(datapath, &o->ports[i]);
	}
}

void
datapath_offload_poll(struct hy_datapath *datapath)
{
	struct datapath_offload *o = datapath->offload;
	const uint64_t now_ms = datapath->now_ms;

	if (o == NULL)
		return;
	/* A port may come back meanwhile: it installs nothing as long as it is stopped. */
	for (unsigned int i = 0; i < o->nb_ports; i++)
		if (!o->ports[i].stopped)
			hy_offloads_poll(o->ports[i].offloads);
	if (now_ms - o->read_ms >= READ_MS) {
		o->read_ms = now_ms;
		datapath_offload_count(datapath);
	}
	if (o->cursor != HY_FLOWS_END) {
		scan(datapath);
		if (o->cursor == HY_FLOWS_END)
			datapath_offload_follow(datapath);
	} else if (now_ms - o->scan_ms >= SCAN_MS) {
		o->scan_ms = now_ms;
		o->cursor = 0;
	}
}

void
datapath_offload_count(struct hy_datapath *datapath)
{
	struct datapath_offload *o = datapath->offload;

	for (unsigned int i = 0; o != NULL && i < o->nb_ports; i++) {
		struct datapath_port *port = &o->ports[i];

		for (uint32_t c = 1; c <= port->classes; c++)
			if (port->rules[c].state == DATAPATH_RULE_IN && port->rules[c].drop)
				drops_count(datapath, port, (uint16_t)c);
	}
}

void
datapath_offload_mark(struct hy_datapath *datapath)
{
	struct datapath_offload *o = datapath->offload;

	for (unsigned int i = 0; o != NULL && i < o->nb_ports; i++)
		for (uint32_t c = 1; c <= o->ports[i].classes; c++) {
			const struct datapath_rule *rule = &o->ports[i].rules[c];

			if (rule->drop && is_staged_or_in(rule))
				datapath_list_mark(&datapath->lists,
					(uint16_t)(rule->action >> 16));
		}
}
