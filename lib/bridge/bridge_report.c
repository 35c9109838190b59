/* SPDX-License-Identifier: BSD-3-Clause */
/* What a bridge counts, as tables for people and as JSON. */

#include <inttypes.h>

#include "bridge.h"

static struct bridge_counts
counts_of(const struct bridge_learned *learned)
{
	struct bridge_counts c = { .learned = learned->n[HY_L2_LEARNED],
		.moved = learned->n[HY_L2_MOVED],
		.refreshed = learned->n[HY_L2_REFRESHED],
		.refused = learned->n[BRIDGE_OUTDATED] };

	for (unsigned int i = HY_L2_REFUSED_LIMIT; i < HY_L2_OUTCOMES; i++)
		c.refused += learned->n[i];
	return c;
}

/* Workers add to these meanwhile. */
static uint64_t
load(const uint64_t *count)
{
	return __atomic_load_n(count, __ATOMIC_RELAXED);
}

struct bridge_counts
bridge_port_counts(const struct hy_bridge *bridge, uint16_t number)
{
	struct bridge_counts c = counts_of(&bridge->by_port[number]);

	c.entries = hy_l2_port_entries(bridge->table, number);
	c.aged = hy_l2_port_aged(bridge->table, number);
	for (unsigned int w = 0; w < bridge->workers->nb; w++)
		c.flooded += load(&bridge->worker[w]->flooded_by_port[number]);
	return c;
}

bool
bridge_vlan_counts(const struct hy_bridge *bridge, uint16_t vid, struct bridge_counts *c)
{
	*c = counts_of(&bridge->by_vlan[vid]);
	c->entries = hy_l2_vlan_entries(bridge->table, vid);
	c->aged = hy_l2_vlan_aged(bridge->table, vid);
	for (unsigned int w = 0; w < bridge->workers->nb; w++)
		c->flooded += load(&bridge->worker[w]->flooded_by_vlan[vid]);
	return c->entries + c->learned + c->moved + c->refreshed + c->refused + c->flooded != 0;
}

unsigned int
bridge_members(const struct hy_bridge *bridge, uint16_t vid)
{
	return (unsigned int)__builtin_popcountll(bridge->current->nodes.vlan[vid].members);
}

struct bridge_counts
bridge_counts(const struct hy_bridge *bridge)
{
	struct bridge_counts all = { 0 };
	struct hy_l2_stats stats;

	for (unsigned int i = 0; i < bridge->nb_ports; i++) {
		const struct bridge_counts c = bridge_port_counts(bridge, (uint16_t)i);

		all.learned += c.learned;
		all.moved += c.moved;
		all.refreshed += c.refreshed;
		all.refused += c.refused;
		all.flooded += c.flooded;
	}
	hy_l2_stats(bridge->table, &stats);
	all.entries = stats.entries;
	all.aged = stats.aged;
	return all;
}

static void
counts_print(const struct bridge_counts *c, FILE *out)
{
	fprintf(out, " %8u %10" PRIu64 " %8" PRIu64 " %10" PRIu64 " %8" PRIu64 " %12" PRIu64 "\n",
		c->entries, c->learned, c->moved, c->aged, c->refused, c->flooded);
}

#define COUNTS "  entries    learned    moved       aged  refused      flooded\n"

void
hy_bridge_print(struct hy_bridge *bridge, FILE *out)
{
	const struct bridge_counts all = bridge_counts(bridge);
	struct hy_l2_stats stats;

	hy_l2_stats(bridge->table, &stats);
	fprintf(out,
		"bridge: %u of %u entries, %u of them static; %" PRIu64 " learned, %" PRIu64
		" moved, %" PRIu64 " of them within a second, %" PRIu64 " aged, %" PRIu64
		" refused, %" PRIu64 " frames flooded\n",
		all.entries, bridge->file->entries, stats.static_entries, all.learned, all.moved,
		stats.flapped, all.aged, all.refused, all.flooded);
	fprintf(out, "port state     " COUNTS);
	for (unsigned int i = 0; i < bridge->nb_ports; i++) {
		const struct bridge_counts c = bridge_port_counts(bridge, (uint16_t)i);

		fprintf(out, "%4u %-10s", bridge->ports[i],
			bridge_states[bridge->current->nodes.port[i].state]);
		counts_print(&c, out);
	}
	fprintf(out, "vlan ports     " COUNTS);
	for (uint16_t vid = 0; vid < HY_L2_VIDS; vid++) {
		struct bridge_counts c;

		if (!bridge_vlan_counts(bridge, vid, &c))
			continue;
		fprintf(out, "%4u %-10u", vid, bridge_members(bridge, vid));
		counts_print(&c, out);
	}
}

static void
counts_json(const struct bridge_counts *c, FILE *out)
{
	fprintf(out,
		"\"entries\": %u, \"learned\": %" PRIu64 ", \"moved\": %" PRIu64
		", \"refreshed\": %" PRIu64 ", \"aged\": %" PRIu64 ", \"refused\": %" PRIu64
		", \"flooded\": %" PRIu64,
		c->entries, c->learned, c->moved, c->refreshed, c->aged, c->refused, c->flooded);
}

void
hy_bridge_json(struct hy_bridge *bridge, FILE *out)
{
	const struct bridge_counts all = bridge_counts(bridge);
	const char *comma = "";
	struct hy_l2_stats stats;

	hy_l2_stats(bridge->table, &stats);
	fprintf(out, "\"bridge\": {\"max_entries\": %u, \"static\": %u, \"flapped\": %" PRIu64 ", ",
		bridge->file->entries, stats.static_entries, stats.flapped);
	counts_json(&all, out);
	fprintf(out, ", \"ports\": [");
	for (unsigned int i = 0; i < bridge->nb_ports; i++) {
		const struct bridge_counts c = bridge_port_counts(bridge, (uint16_t)i);

		fprintf(out, "%s{\"port\": %u, \"state\": \"%s\", ", i == 0 ? "" : ", ",
			bridge->ports[i], bridge_states[bridge->current->nodes.port[i].state]);
		counts_json(&c, out);
		fprintf(out, "}");
	}
	fprintf(out, "], \"vlans\": [");
	for (uint16_t vid = 0; vid < HY_L2_VIDS; vid++) {
		struct bridge_counts c;

		if (!bridge_vlan_counts(bridge, vid, &c))
			continue;
		fprintf(out, "%s{\"vlan\": %u, \"ports\": %u, ", comma, vid,
			bridge_members(bridge, vid));
		counts_json(&c, out);
		fprintf(out, "}");
		comma = ", ";
	}
	fprintf(out, "]},\n");
}
