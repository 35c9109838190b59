/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The set-up that nodes read, made of the file and the ports' states, and its exchange. Workers load
 * its pointer once in each call of a node, so the one before is freed after a grace period.
 */

#include <errno.h>

#include <rte_cycles.h>
#include <rte_malloc.h>

#include <hy_grace.h>

#include "bridge.h"

#define BURST_MIN 32  /* frames that may come at once, however low the limit */
#define BURST_PART 10 /* or what comes in a tenth of a second */

static uint64_t
bit(unsigned int number)
{
	return UINT64_C(1) << number;
}

static void
vlans_make(struct hy_l2_setup *s, const struct bridge_port *port, unsigned int number)
{
	for (uint16_t vid = 1; vid <= BRIDGE_VID_MAX; vid++)
		if (bridge_is_member(port, vid))
			s->vlan[vid].members |= bit(number);
	if (port->rules.pvid != 0)
		s->vlan[port->rules.pvid].untagged |= bit(number);
}

/* Each of the workers that share a limit has its part of it, one frame a second at least. */
static void
storms_make(struct hy_l2_setup *s, const struct bridge_port *port, unsigned int number,
	uint16_t share)
{
	for (unsigned int kind = 0; kind < HY_L2_STORMS; kind++) {
		const uint64_t rate = RTE_MAX(port->storm[kind] / RTE_MAX(share, 1u), 1u);
		struct rte_meter_srtcm_params params = { .cir = rate,
			.cbs = RTE_MAX(rate / BURST_PART, (uint64_t)BURST_MIN) };

		if (port->storm[kind] == 0)
			continue;
		s->limited[kind] |= bit(number);
		rte_meter_srtcm_profile_config(&s->storm[number][kind], &params);
	}
}

/* Ports that send frames of a port: those that forward, but for itself and its group. */
static uint64_t
reach_of(const struct hy_bridge *bridge, const struct bridge_file *file, uint64_t forwarding,
	unsigned int number)
{
	const uint8_t group = file->port[number].group;
	uint64_t reach = forwarding & ~bit(number);

	for (unsigned int i = 0; i < bridge->nb_ports && group != 0; i++)
		if (file->port[i].group == group)
			reach &= ~bit(i);
	return reach;
}

struct bridge_setup *
bridge_setup_make(const struct hy_bridge *bridge, const struct bridge_file *file,
	const uint8_t state[])
{
	struct bridge_setup *setup = rte_zmalloc_socket("hy_bridge", sizeof(*setup),
		RTE_CACHE_LINE_SIZE, SOCKET_ID_ANY);
	struct hy_l2_setup *s;

	if (setup == NULL)
		return NULL;
	s = &setup->nodes;
	s->tag_type = file->tag_type;
	for (unsigned int port = 0; port < RTE_MAX_ETHPORTS; port++)
		s->number[port] = HY_L2_NO_PORT;
	for (unsigned int i = 0; i < bridge->nb_ports; i++) {
		const bool gone = (bridge->gone & bit(i)) != 0;

		s->number[bridge->ports[i]] = (uint8_t)i;
		s->port[i] = file->port[i].rules;
		s->port[i].state = gone ? HY_L2_BLOCKING : state[i];
		if (s->port[i].state == HY_L2_FORWARDING)
			s->forwarding |= bit(i);
		vlans_make(s, &file->port[i], i);
		storms_make(s, &file->port[i], i, bridge->shares[i]);
	}
	for (unsigned int i = 0; i < bridge->nb_ports; i++)
		s->reach[i] = reach_of(bridge, file, s->forwarding, i);
	return setup;
}

void
bridge_setup_free(struct bridge_setup *setup)
{
	rte_free(setup);
}

struct bridge_setup *
bridge_setup_exchange(struct hy_bridge *bridge, struct bridge_setup *setup)
{
	struct bridge_setup *before = bridge->current;

	bridge->current = setup;
	__atomic_store_n(&bridge->setup, &setup->nodes, __ATOMIC_RELEASE);
	return before;
}

void
bridge_setup_retire(struct hy_bridge *bridge, struct bridge_setup *setup)
{
	if (setup == NULL)
		return;
	setup->token = hy_grace_start(bridge->workers->qsbr);
	setup->next = bridge->retired;
	bridge->retired = setup;
}

bool
bridge_setup_settle(struct hy_bridge *bridge, bool wait)
{
	struct bridge_setup **at = &bridge->retired;

	if (wait && *at != NULL) /* the latest, so all of them */
		hy_grace_wait(bridge->workers->qsbr, (*at)->token);
	while (*at != NULL && !hy_grace_over(bridge->workers->qsbr, (*at)->token))
		at = &(*at)->next;
	while (*at != NULL) {
		struct bridge_setup *setup = *at;

		*at = setup->next;
		bridge_setup_free(setup);
	}
	return bridge->retired == NULL;
}

int
bridge_setup_renew(struct hy_bridge *bridge)
{
	struct bridge_setup *setup = bridge_setup_make(bridge, bridge->file, bridge->state);

	if (setup == NULL)
		return -ENOMEM;
	bridge_setup_retire(bridge, bridge_setup_exchange(bridge, setup));
	return 0;
}

bool
bridge_learns(const struct hy_bridge *bridge, uint16_t port, uint16_t vid)
{
	const struct hy_l2_setup *s = &bridge->current->nodes;
	const struct hy_l2_port *rules = &s->port[port];

	return rules->learn && rules->state != HY_L2_BLOCKING && vid <= BRIDGE_VID_MAX &&
		(!rules->filter || (s->vlan[vid].members & bit(port)) != 0);
}
