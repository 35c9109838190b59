/* SPDX-License-Identifier: BSD-3-Clause */
/* What a bridge does all the time: it learns, forgets, and follows the links of its ports. */

#include <rte_ring.h>

#include <hy_hal_live.h>
#include <hy_ports.h>

#include "bridge.h"

#define BATCH 256 /* sources that are learned, and entries that are read, at once */
#define SWEEP_S 8 /* seconds in which ageing looks at the whole table */

static void
count(struct hy_bridge *bridge, const struct hy_l2_source *source, unsigned int outcome)
{
	if (source->port < BRIDGE_PORTS)
		bridge->by_port[source->port].n[outcome]++;
	bridge->by_vlan[source->key >> HY_L2_KEY_VID & (HY_L2_VIDS - 1)].n[outcome]++;
}

/* Learns sources, without those that a worker found by a set-up that has changed since. */
static void
learn(struct hy_bridge *bridge, struct hy_l2_source source[], unsigned int n)
{
	uint8_t outcome[BATCH];
	unsigned int kept = 0;

	for (unsigned int i = 0; i < n; i++) {
		const uint16_t vid = source[i].key >> HY_L2_KEY_VID & (HY_L2_VIDS - 1);

		if (source[i].port < bridge->nb_ports && bridge_learns(bridge, source[i].port, vid))
			source[kept++] = source[i];
		else
			count(bridge, &source[i], BRIDGE_OUTDATED);
	}
	hy_l2_learn(bridge->table, source, outcome, kept);
	for (unsigned int i = 0; i < kept; i++)
		count(bridge, &source[i], outcome[i]);
}

/* Takes no more than the ring holds: a worker that always finds more holds up nobody. */
static void
drain(struct hy_bridge *bridge, struct rte_ring *ring)
{
	struct hy_l2_source source[BATCH];
	unsigned int n, taken = 0;

	do {
		n = rte_ring_sc_dequeue_burst_elem(ring, source, sizeof(*source), BATCH, NULL);
		learn(bridge, source, n);
		taken += n;
	} while (n == BATCH && taken < BRIDGE_RING);
}

static void
age(struct hy_bridge *bridge, uint32_t now)
{
	const uint32_t buckets = (hy_l2_buckets(bridge->table) + SWEEP_S - 1) / SWEEP_S;

	if (bridge->told && bridge->now == now)
		return;
	bridge->told = true;
	bridge->now = now;
	hy_l2_age(bridge->table, now, bridge->file->age, buckets);
}

/* Forgets what was learned from a port whose link goes down, or that was removed. */
static void
follow(struct hy_bridge *bridge, unsigned int number)
{
	const uint64_t bit = UINT64_C(1) << number;
	const uint16_t port = bridge->ports[number];
	const bool gone = bridge->hal != NULL &&
		hy_hal_port_state(bridge->hal, port) == HY_PORT_GONE;
	struct hy_port_status status;
	bool down = gone;

	hy_port_status_read(port, &status);
	down |= status.link_known && !status.link_up;
	if (gone && (bridge->gone & bit) == 0) {
		bridge->gone |= bit;
		if (bridge_setup_renew(bridge) < 0)
			bridge->gone &= ~bit; /* again in the next round */
	}
	if (down && (bridge->down & bit) == 0)
		hy_l2_flush(bridge->table, (uint16_t)number, HY_L2_ANY, false);
	bridge->down = down ? bridge->down | bit : bridge->down & ~bit;
}

void
hy_bridge_poll(struct hy_bridge *bridge, uint32_t now)
{
	age(bridge, now);
	for (unsigned int w = 0; w < bridge->workers->nb; w++)
		drain(bridge, bridge->worker[w]->learn);
	for (unsigned int i = 0; i < bridge->nb_ports; i++)
		follow(bridge, i);
	if (bridge->retired != NULL)
		bridge_setup_settle(bridge, false);
	bridge_answer(bridge);
}

void
bridge_sweep(struct hy_bridge *bridge)
{
	struct hy_l2_entry entries[BATCH];
	uint32_t cursor = 0;

	while (cursor != HY_L2_END) {
		const uint32_t n = hy_l2_dump(bridge->table, &cursor, entries, BATCH);

		for (uint32_t i = 0; i < n; i++) {
			const struct hy_l2_entry *e = &entries[i];
			const uint16_t vid = e->key >> HY_L2_KEY_VID & (HY_L2_VIDS - 1);

			if (!e->is_static && !bridge_learns(bridge, e->port, vid))
				hy_l2_delete(bridge->table, e->key);
		}
	}
}
