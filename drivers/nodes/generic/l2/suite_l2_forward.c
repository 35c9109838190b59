/* SPDX-License-Identifier: BSD-3-Clause */
/* Conformance of fusions l2_forward: frames that pass, and any others between them. */

#include <string.h>

#include <rte_random.h>

#include "l2_input.h"
#include "suite_l2.h"

#define TRIES 1000 /* ways through the bridge, until one is open */

/* A way through the bridge. */
struct way {
	uint8_t in, station;
	enum hy_l2_tag tag;
	uint16_t vid;
};

static bool
is_open(const struct suite_l2 *s, const struct way *way)
{
	const uint8_t mac[] = { 0x02, 0, 0, 0, 0, way->station };
	const struct hy_l2_vlan *vlan = &s->setup->vlan[way->vid];
	const struct hy_l2_port *port = &s->setup->port[way->in];
	struct hy_l2_entry entry;

	return way->vid != 0 && port->state == HY_L2_FORWARDING && l2_admits(port, way->tag) &&
		(!port->filter || (vlan->members >> way->in & 1) != 0) &&
		hy_l2_get(s->table, hy_l2_key(mac, way->vid), &entry) == 0 &&
		entry.port < HY_L2_BRIDGE_PORTS &&
		((s->setup->reach[way->in] & vlan->members) >> entry.port & 1) != 0;
}

static struct way
way_draw(const struct suite_l2 *s)
{
	struct way way;
	unsigned int tries = 0;

	do {
		way.in = (uint8_t)rte_rand_max(SUITE_L2_PORTS);
		way.station = (uint8_t)rte_rand_max(SUITE_L2_STATIONS);
		way.tag = (enum hy_l2_tag)rte_rand_max(3);
		way.vid = way.tag == HY_L2_TAG_VID ? suite_l2_vids[rte_rand_max(SUITE_L2_VLANS)]
						   : s->setup->port[way.in].pvid;
	} while (!is_open(s, &way) && ++tries < TRIES);
	return way;
}

static void
pass(const struct suite_l2 *s, struct hy_suite_packet *packet)
{
	const struct way way = way_draw(s);
	const uint16_t tci = (uint16_t)(rte_rand_max(16) << 12 |
		(way.tag == HY_L2_TAG_VID ? way.vid : 0));
	const uint8_t tag[] = { 0x81, 0x00, (uint8_t)(tci >> 8), (uint8_t)tci };
	const uint8_t to[] = { 0x02, 0, 0, 0, 0, way.station };
	const uint8_t from[] = { 0x02, 0, 0, 0, 0, (uint8_t)rte_rand_max(SUITE_L2_STATIONS + 8) };

	packet->port = way.in;
	memcpy(packet->bytes, to, sizeof(to));
	memcpy(packet->bytes + RTE_ETHER_ADDR_LEN, from, sizeof(from));
	memset(packet->bytes + L2_TAG_AT, 0x08, 2);
	if (way.tag != HY_L2_TAG_NONE)
		memcpy(packet->bytes + L2_TAG_AT, tag, sizeof(tag));
	packet->len = RTE_MAX(packet->len,
		(uint32_t)(way.tag == HY_L2_TAG_NONE ? RTE_ETHER_HDR_LEN : L2_HEADERS));
}

static void
shape(void *state, enum hy_suite_kind kind, struct hy_suite_packet *packet)
{
	if (kind == HY_SUITE_PASSING || kind == HY_SUITE_TYPICAL)
		pass(state, packet);
	else
		suite_l2_shape_input(state, kind, packet);
	packet->tight = kind != HY_SUITE_TYPICAL && rte_rand_max(16) == 0;
}

static int
configure(void *state, unsigned int at, hy_node_id id)
{
	RTE_SET_USED(at);
	return suite_l2_configure(state, id);
}

HY_SUITE(l2_forward, .nb_edges = SUITE_L2_EDGES, .setup = suite_l2_setup,
	.teardown = suite_l2_teardown, .configure_chain = configure, .shape = shape,
	.change = suite_l2_change, .agree = suite_l2_agree, .unreached = suite_l2_unreached,
	.excused = { { "l2_output: drop outdated", "no frame comes from l2_flood" } });
