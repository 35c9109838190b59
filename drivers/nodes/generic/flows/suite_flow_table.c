/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules that look at few bits of a packet, so that flows are few; and packets that match them. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_random.h>

#include "suite_flow_named.h"

#define PADDED (RTE_ETHER_MIN_LEN - RTE_ETHER_CRC_LEN)

/* Of a connection whose packets differ in their TTL. */
static const uint8_t frame[] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x00, 0x45, 0, 0, 28, 0,
	0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 1, 0, 9, 0, 9, 0, 8, 0, 0 };

/* Looks at the ether type; of IPv4 and IPv6 at bits of the protocol, the TTL, and the IPv4 destination. */
static int
rules(void *arg, const struct hy_flows_key *key, struct hy_flows_flow *answer)
{
	static const uint16_t edges[] = { 0, 1, 0, 1, SUITE_FLOWS_EDGES, HY_FLOW_ACTION_DENY,
		SUITE_FLOWS_EDGES + 40 };
	const struct suite_flows *s = arg;
	uint32_t choice;

	answer->mask.kind = HY_FLOWS_IP;
	answer->mask.type = RTE_BE16(0x0003);
	answer->idle = SUITE_FLOWS_WAITS;
	if ((key->kind & HY_FLOWS_IP) != 0) {
		answer->mask.proto = 0x0f;
		answer->mask.ttl = 0x01;
		answer->mask.dst = RTE_BE32(0x00000007);
	}
	choice = (key->type & answer->mask.type) + (key->proto & answer->mask.proto) +
		(key->ttl & answer->mask.ttl) + rte_be_to_cpu_32(key->dst & answer->mask.dst) +
		s->version;
	answer->action = hy_flow_action(edges[choice % RTE_DIM(edges)], (uint16_t)choice);
	return choice % 16 == 5;
}

void
suite_flows_teardown(void *state)
{
	struct suite_flows *s = state;

	suite_named_destroy(s->named);
	hy_flow_table_destroy(s->table);
	free(s);
}

int
suite_flows_make(const struct hy_suite_side *side, const char *family,
	const struct hy_flows_caches *caches, uint32_t room, void **state)
{
	struct suite_flows *s = calloc(1, sizeof(*s));
	char name[HY_NAME_SIZE];
	const struct hy_flow_table_params params = { .name = name,
		.flows = { .max_flows = 8192,
			.max_masks = 64,
			.max_port_masks = 16,
			.pressed_idle = SUITE_FLOWS_WAITS,
			.workers = HY_SUITE_WORKERS,
			.socket = SOCKET_ID_ANY,
			.qsbr = side->qsbr,
			.seed = 1 },
		.caches = *caches,
		.upcalls = { .rules = rules, .arg = s, .room = room } };
	int rc;

	if (s == NULL)
		return -ENOMEM;
	s->caches = *caches;
	snprintf(name, sizeof(name), "suite_%s-%s", family, side->name);
	rc = hy_flow_table_create(&params, &s->table);
	if (rc < 0) {
		free(s);
		return rc;
	}
	*state = s;
	return 0;
}

int
suite_flows_add(const struct suite_flows *s)
{
	int rc = 0;

	for (uint16_t port = 0; port < SUITE_FLOWS_PORTS; port++)
		for (uint8_t ttl = 0; ttl < 2 && rc == 0; ttl++) {
			struct hy_flows_flow flow = { 0 };

			hy_flows_key(frame, sizeof(frame), port, HY_FLOWS_PARSE_ALL, &flow.key);
			flow.key.ttl = ttl;
			rules((void *)(uintptr_t)s, &flow.key, &flow);
			rc = hy_flows_add(hy_flow_table_flows(s->table), &flow);
		}
	return rc;
}

void
suite_flows_delete(const struct suite_flows *s, struct rte_mbuf *packet)
{
	struct hy_flows *flows = hy_flow_table_flows(s->table);
	struct hy_flows_flow flow = { 0 };
	uint16_t value;

	hy_flows_keys(&packet, HY_FLOWS_PARSE_ALL, &flow.key, 1);
	rules((void *)(uintptr_t)s, &flow.key, &flow);
	value = (uint16_t)(flow.action >> 16);
	if (value % 3 == 0 || hy_flows_delete(flows, &flow.key, &flow.mask) < 0 || value % 3 == 1)
		return;
	flow.action = hy_flow_action(value % SUITE_FLOWS_EDGES, (uint16_t)(value + 1));
	hy_flows_add(flows, &flow);
}

int
suite_flows_configure(void *state, hy_node_id id)
{
	const struct suite_flows *s = state;
	const struct hy_flow_lookup_config config = { .table = s->table,
		.rss = { true },
		.marks = s->named == NULL ? NULL : suite_named_marks(s->named) };

	return hy_node_config(id, &config, sizeof(config));
}

void
suite_flows_shape(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	RTE_SET_USED(state);
	packet->port = (uint16_t)rte_rand_max(SUITE_FLOWS_PORTS);
	packet->lanes[0] = (uint32_t)rte_rand();
	if (kind != HY_SUITE_TYPICAL && rte_rand_max(64) == 0)
		packet->port = RTE_MBUF_PORT_INVALID;
	if (kind != HY_SUITE_TYPICAL && rte_rand_max(4) != 0)
		return;
	memcpy(packet->bytes, frame, sizeof(frame));
	packet->bytes[RTE_ETHER_HDR_LEN + 8] = (uint8_t)rte_rand_max(256); /* TTL */
	packet->len = sizeof(frame);
	if (rte_rand_max(2) == 0) { /* as Ethernet pads it */
		memset(&packet->bytes[sizeof(frame)], 0, PADDED - sizeof(frame));
		packet->len = PADDED;
	}
}
