/* SPDX-License-Identifier: BSD-3-Clause */
/* A bridge for the suites of its nodes: eight ports of all kinds, four VLANs, entries that change. */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_malloc.h>
#include <rte_random.h>
#include <rte_ring_elem.h>

#include "suite_l2.h"

#define TAG_AT (2 * RTE_ETHER_ADDR_LEN)
#define TAGGED (RTE_ETHER_HDR_LEN + 4)
#define RING 65536 /* sources, so that none is lost between two changes */

const uint16_t suite_l2_vids[SUITE_L2_VLANS] = { 1, 2, 2048, 4094 };

/* In every state and with every property; port 0 is plain. */
static void
ports_set_up(struct hy_l2_setup *setup)
{
	static const uint8_t admits[] = { HY_L2_ADMIT_ALL, HY_L2_ADMIT_TAGGED,
		HY_L2_ADMIT_UNTAGGED };

	memset(setup->number, HY_L2_NO_PORT, sizeof(setup->number));
	for (unsigned int p = 0; p < SUITE_L2_PORTS; p++) {
		setup->number[p] = (uint8_t)p;
		setup->port[p] = (struct hy_l2_port){ .pvid = p == 6 ? 0 : suite_l2_vids[p % 4],
			.state = p == 4  ? HY_L2_BLOCKING
				: p == 5 ? HY_L2_LEARNING
					 : HY_L2_FORWARDING,
			.admit = admits[p % 3],
			.learn = p != 3,
			.filter = p != 2 };
	}
	setup->forwarding = 0xff & ~(1u << 4 | 1u << 5);
	for (unsigned int p = 0; p < SUITE_L2_PORTS; p++)
		setup->reach[p] = setup->forwarding & ~(UINT64_C(1) << p);
	setup->reach[6] &= ~(UINT64_C(1) << 7); /* a group */
	setup->reach[7] &= ~(UINT64_C(1) << 6);
}

/* A meter that never gets tokens: clocks of two sides differ. */
static void
storms_set_up(struct hy_l2_setup *setup)
{
	for (unsigned int s = 0; s < HY_L2_STORMS; s++) {
		setup->limited[s] = UINT64_C(1) << (1 + s);
		setup->storm[1 + s][s] = (struct rte_meter_srtcm_profile){ .cir_period = UINT64_MAX,
			.cbs = 1 };
	}
}

static struct hy_l2_setup *
setup_make(void)
{
	struct hy_l2_setup *setup = calloc(1, sizeof(*setup));

	if (setup == NULL)
		return NULL;
	setup->tag_type = RTE_ETHER_TYPE_VLAN;
	ports_set_up(setup);
	for (unsigned int v = 0; v < SUITE_L2_VLANS; v++)
		setup->vlan[suite_l2_vids[v]] = (struct hy_l2_vlan){
			.members = 0xff & ~(1u << (v + 1)), .untagged = 0x55u >> v
		};
	storms_set_up(setup);
	return setup;
}

static struct hy_l2_worker *
worker_make(const struct hy_suite_side *side, unsigned int number)
{
	struct hy_l2_worker *worker = calloc(1, sizeof(*worker));
	char name[RTE_RING_NAMESIZE];

	if (worker == NULL)
		return NULL;
	snprintf(name, sizeof(name), "suite_l2-%s-%u", side->name, number);
	worker->learn = rte_ring_create_elem(name, sizeof(struct hy_l2_source), RING, SOCKET_ID_ANY,
		RING_F_SP_ENQ | RING_F_SC_DEQ);
	if (worker->learn == NULL) {
		free(worker);
		return NULL;
	}
	return worker;
}

void
suite_l2_teardown(void *state)
{
	struct suite_l2 *s = state;

	for (unsigned int w = 0; w < HY_SUITE_WORKERS; w++)
		if (s->workers[w] != NULL) {
			rte_ring_free(s->workers[w]->learn);
			free(s->workers[w]);
		}
	hy_l2_table_destroy(s->table);
	free(s->setup);
	free(s);
}

int
suite_l2_setup(const struct hy_suite_side *side, void **state)
{
	const struct hy_l2_table_params params = { .max_entries = 1024,
		.nb_ports = HY_L2_TABLE_PORTS,
		.socket = SOCKET_ID_ANY,
		.qsbr = side->qsbr,
		.seed = 1 };
	struct suite_l2 *s = calloc(1, sizeof(*s));
	int rc = s == NULL ? -ENOMEM : hy_l2_table_create(&params, &s->table);

	if (rc < 0) {
		free(s);
		return rc;
	}
	s->qsbr = side->qsbr;
	s->setup = setup_make();
	for (unsigned int w = 0; w < HY_SUITE_WORKERS; w++)
		s->workers[w] = worker_make(side, w);
	if (s->setup == NULL || s->workers[0] == NULL || s->workers[1] == NULL ||
		s->workers[2] == NULL) {
		suite_l2_teardown(s);
		return -ENOMEM;
	}
	*state = s;
	return suite_l2_change(s, 0);
}

int
suite_l2_configure(void *state, hy_node_id id)
{
	struct suite_l2 *s = state;
	struct hy_l2_config config = { .table = hy_l2_table_view(s->table),
		.setup = (const struct hy_l2_setup *const *)&s->setup,
		.workers = s->workers,
		.nb_workers = HY_SUITE_WORKERS,
		.qsbr = s->qsbr };
	uint16_t edge = 0;

	for (unsigned int p = 0; p < HY_L2_BRIDGE_PORTS; p++)
		config.edge[p] = HY_L2_NO_EDGE;
	for (uint64_t left = s->setup->forwarding; left != 0; left &= left - 1)
		config.edge[__builtin_ctzll(left)] = edge++;
	return hy_node_config(id, &config, sizeof(config));
}

/* Workers of the two sides take turns in other ways: sums do not depend on that. */
static void
handed_over_take(struct suite_l2 *s)
{
	struct hy_l2_source source;

	for (unsigned int w = 0; w < HY_SUITE_WORKERS; w++)
		while (rte_ring_sc_dequeue_elem(s->workers[w]->learn, &source, sizeof(source)) ==
			0) {
			s->nb_handed_over++;
			s->handed_over += (source.key ^ source.port) * UINT64_C(0x9e3779b97f4a7c15);
		}
}

/* A third of the stations get another entry, or none. */
int
suite_l2_change(void *state, uint32_t number)
{
	struct suite_l2 *s = state;

	handed_over_take(s);
	for (uint32_t station = number % 3; station < SUITE_L2_STATIONS; station += 3)
		for (unsigned int v = 0; v < SUITE_L2_VLANS; v++) {
			const uint8_t mac[] = { 0x02, 0, 0, 0, 0, (uint8_t)station };
			const uint64_t key = hy_l2_key(mac, suite_l2_vids[v]);
			const uint32_t choice = station + v + number;
			const struct hy_l2_source source = { .key = key,
				.port = (uint16_t)(choice % SUITE_L2_PORTS) };
			uint8_t outcome;
			int rc = 0;

			hy_l2_delete(s->table, key);
			if (choice % 5 == 0)
				rc = hy_l2_add(s->table, key,
					choice % 2 == 0 ? HY_L2_LOCAL : source.port);
			else if (choice % 5 != 1)
				hy_l2_learn(s->table, &source, &outcome, 1);
			if (rc < 0)
				return rc;
		}
	return 0;
}

bool
suite_l2_agree(void *reference, void *variant, char *text)
{
	struct suite_l2 *ref = reference, *cand = variant;

	handed_over_take(ref);
	handed_over_take(cand);
	if (ref->nb_handed_over == cand->nb_handed_over && ref->handed_over == cand->handed_over)
		return true;
	snprintf(text, HY_CONFORM_TEXT_SIZE,
		"%" PRIu64 " sources handed over, expected other %" PRIu64, cand->nb_handed_over,
		ref->nb_handed_over);
	return false;
}

const char *
suite_l2_unreached(void *reference, void *variant)
{
	const struct suite_l2 *ref = reference;

	RTE_SET_USED(variant);
	return ref->nb_handed_over > 0 ? NULL : "a source that is handed over";
}

uint32_t
suite_l2_tag(struct hy_suite_packet *packet)
{
	const uint16_t vid = suite_l2_vids[rte_rand_max(SUITE_L2_VLANS)];
	const enum hy_l2_tag tag = (enum hy_l2_tag)rte_rand_max(3);
	const uint16_t tci = (uint16_t)(rte_rand_max(16) << 12) | (tag == HY_L2_TAG_VID ? vid : 0);
	const uint8_t bytes[] = { 0x81, 0x00, (uint8_t)(tci >> 8), (uint8_t)tci };

	packet->len = RTE_MAX(packet->len,
		(uint32_t)(tag == HY_L2_TAG_NONE ? RTE_ETHER_HDR_LEN : TAGGED));
	if (tag != HY_L2_TAG_NONE)
		memcpy(packet->bytes + TAG_AT, bytes, sizeof(bytes));
	return hy_l2_lane(vid, (uint8_t)rte_rand_max(SUITE_L2_PORTS), tag);
}

void
suite_l2_address(struct hy_suite_packet *packet, unsigned int at)
{
	const uint8_t mac[] = { 0x02, 0, 0, 0, 0, (uint8_t)rte_rand_max(SUITE_L2_STATIONS + 8) };

	if (rte_rand_max(8) != 0)
		memcpy(packet->bytes + at, mac, sizeof(mac));
	else if (at == 0 && rte_rand_max(2) == 0)
		memset(packet->bytes, 0xff, sizeof(mac));
}
