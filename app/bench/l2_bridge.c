/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A whole bridge as a graph: VLAN, learning, lookup, tags and ports, against the loop of DPDK's
 * l2fwd, which does none of it. All sources are known and all destinations have an entry, as in a
 * bridge at work.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ring_elem.h>

#include <hy_assembly.h>
#include <hy_graph_worker.h>
#include <hy_hal.h>
#include <hy_l2.h>
#include <hy_l2_lane.h>
#include <hy_mbuf.h>
#include <hy_stats.h>

#include "l2_rig.h"

#define RING_SIZE 1024 /* of sources to be learned */
#define NODES_MAX 12

/* Bridge ports have the numbers that they have in the table of l2_table_create(), from 1. */
#define BRIDGE_PORT(port) ((port) + 1u)

static struct {
	struct hy_hal *hal;
	hy_node_id input, learn, lookup, flood, output;
	uint16_t edge[RTE_MAX_ETHPORTS];
} nodes;

struct bridge {
	const struct l2_rig *rig;
	struct hy_l2_setup setup;
	const struct hy_l2_setup *published;
	struct hy_l2_worker worker, *workers[1];
	struct hy_graph *graph;
};

/* What graphs differ in. */
struct choice {
	const char *name;
	bool no_learning; /* ports do not learn: sources are not looked up */
	bool apart;       /* no chain is fused */
	bool timed;       /* every walk */
};

/* A work: what frames are, and how many addresses there are. */
struct work {
	const char *name;
	uint32_t macs;
	struct l2_form form;
	const char *by_node; /* name of the work that measures its nodes; NULL: none */
};

static const struct work works[] = {
	{ "bridge_all_in", 1024, { .sources = true }, "bridge_all_in_nodes" },
	{ "bridge_trunk", 1024, { .sources = true, .tagged_in = true, .tagged_out = true } },
	{ "bridge_access_to_trunk", 1024, { .sources = true, .tagged_out = true } },
};

static void
must(int rc, const char *what)
{
	if (rc < 0)
		bench_fail("l2: %s: %s", what, strerror(-rc));
}

static void
node_make(const char *family, hy_node_id *id)
{
	must(hy_hal_node(nodes.hal, family, 0, id), family);
}

/* Makes the nodes, once for all works. Returns 0, or -1 after bench_cannot(). */
static int
nodes_make(const struct l2_rig *rig)
{
	struct hy_rx_queue queues[L2_PORTS];
	struct hy_ends ends = { .ports = rig->port,
		.nb_ports = L2_PORTS,
		.queues = queues,
		.nb_queues = L2_PORTS,
		.nb_workers = 1,
		.next = "l2_input" };
	char error[HY_HAL_ERROR_SIZE];
	hy_node_id drop;

	if (nodes.hal != NULL)
		return 0;
	must(hy_hal_create(&nodes.hal), "the HAL");
	if (hy_hal_select(nodes.hal, error) < 0)
		return bench_cannot("the HAL: %s", error);
	ends.hal = nodes.hal;
	node_make("l2_input", &nodes.input);
	node_make("l2_learn", &nodes.learn);
	node_make("l2_lookup", &nodes.lookup);
	must(hy_node_lookup("l2_flood", &nodes.flood), "l2_flood");
	node_make("l2_output", &nodes.output);
	node_make("pkt_drop", &drop);
	for (unsigned int p = 0; p < L2_PORTS; p++)
		queues[p] = (struct hy_rx_queue){ .port = rig->port[p] };
	must(hy_tx_nodes(&ends, nodes.output, nodes.edge), "ethdev_tx");
	must(hy_rx_nodes(&ends), "ethdev_rx");
	/* There is no router here. */
	must(hy_node_edge_set(nodes.lookup, HY_L2_LOOKUP_NEXT_LOCAL, "pkt_drop"), "pkt_drop");
	return 0;
}

/* Two ports of one VLAN, which send frames with its tag or without. */
static void
setup_make(struct bridge *b, const struct l2_form *form, bool learning)
{
	struct hy_l2_setup *setup = &b->setup;

	setup->tag_type = 0x8100;
	memset(setup->number, HY_L2_NO_PORT, sizeof(setup->number));
	for (unsigned int p = 0; p < L2_PORTS; p++) {
		const unsigned int number = BRIDGE_PORT(p);

		setup->number[b->rig->port[p]] = (uint8_t)number;
		setup->port[number] = (struct hy_l2_port){ .pvid = form->tagged_in ? 0 : L2_VID,
			.state = HY_L2_FORWARDING,
			.learn = learning,
			.filter = true };
		setup->reach[number] = UINT64_C(1) << BRIDGE_PORT(1 - p);
		setup->forwarding |= UINT64_C(1) << number;
	}
	setup->vlan[L2_VID].members = setup->forwarding;
	setup->vlan[L2_VID].untagged = form->tagged_out ? 0 : setup->forwarding;
	b->published = setup;
}

static void
nodes_configure(struct bridge *b, const struct hy_l2_table *table)
{
	const hy_node_id all[] = { nodes.input, nodes.learn, nodes.lookup, nodes.flood,
		nodes.output };
	struct hy_l2_config config = { .table = hy_l2_table_view(table),
		.setup = &b->published,
		.workers = b->workers,
		.nb_workers = 1 };

	b->workers[0] = &b->worker;
	for (unsigned int p = 0; p < HY_L2_BRIDGE_PORTS; p++)
		config.edge[p] = HY_L2_NO_EDGE;
	for (unsigned int p = 0; p < L2_PORTS; p++)
		config.edge[BRIDGE_PORT(p)] = nodes.edge[b->rig->port[p]];
	for (unsigned int i = 0; i < RTE_DIM(all); i++)
		must(hy_node_config(all[i], &config, sizeof(config)), "a node of the bridge");
}

static int
graph_make(struct bridge *b, const struct choice *choice)
{
	char sources[L2_PORTS][HY_NAME_SIZE], name[HY_NAME_SIZE];
	const char *patterns[L2_PORTS];
	static unsigned int count;
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = L2_PORTS,
		.ops = &hy_mbuf_ops,
		.drop_node = "pkt_drop",
		.lanes = { HY_L2_LANE },
		.burst = RTE_MIN(2 * HY_BURST_DEFAULT, HY_BURST_MAX), /* as l2fwd-graph does */
		.source_budget = HY_BURST_DEFAULT,
		.sample_every = choice->timed ? 1 : 0,
		.apart = choice->apart,
		.socket = SOCKET_ID_ANY };
	int rc;

	for (unsigned int p = 0; p < L2_PORTS; p++) {
		const struct hy_rx_queue queue = { .port = b->rig->port[p] };

		hy_rx_node_name(&queue, sources[p]);
		patterns[p] = sources[p];
	}
	snprintf(name, sizeof(name), "l2-%u", count++);
	rc = hy_graph_create(name, &params, &b->graph);
	return rc < 0 ? bench_cannot("the graph: %s", strerror(-rc)) : 0;
}

static void
bridge_free(void *arg)
{
	struct bridge *b = arg;

	hy_graph_destroy(b->graph);
	rte_ring_free(b->worker.learn);
	free(b);
}

static void
bridge_run(void *arg)
{
	const struct bridge *b = arg;

	while (l2_rig_pending(b->rig->rx))
		(void)hy_graph_walk(b->graph);
}

static struct l2_way
bridge_create(const struct l2_rig *rig, const struct hy_l2_table *table, const struct l2_form *form,
	const struct choice *choice)
{
	static unsigned int count;
	struct l2_way way = {
		.name = choice->name, .form = *form, .run = bridge_run, .free = bridge_free
	};
	struct bridge *b;
	char name[RTE_RING_NAMESIZE];

	if (table == NULL || nodes_make(rig) < 0)
		return way;
	b = bench_alloc(1, sizeof(*b));
	b->rig = rig;
	setup_make(b, form, !choice->no_learning);
	snprintf(name, sizeof(name), "l2_learn_%u", count++);
	b->worker.learn = rte_ring_create_elem(name, sizeof(struct hy_l2_source), RING_SIZE,
		SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	nodes_configure(b, table);
	if (b->worker.learn == NULL)
		bench_cannot("no memory for a ring of %u sources", RING_SIZE);
	if (b->worker.learn == NULL || graph_make(b, choice) < 0) {
		bridge_free(b);
		return way;
	}
	way.arg = b;
	return way;
}

/* What the nodes of a kind took, as the contenders of a work; the first one measures all. */
struct parts {
	struct l2_entrant entrant; /* the first member */
	unsigned int n;
	struct {
		char name[HY_NAME_SIZE];
		uint64_t cycles;
		double figure;
	} nodes[NODES_MAX];
	uint64_t frames;
};

/* Reads cycles of nodes, those that had any. Returns how many there are. */
static unsigned int
parts_read(struct parts *parts, uint64_t cycles[NODES_MAX])
{
	const struct bridge *b = parts->entrant.way.arg;
	struct hy_stats *stats;
	unsigned int n = 0;

	must(hy_stats_read(hy_graph_name(b->graph), &stats), "statistics");
	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		const struct hy_node_stats *node = &stats->nodes[i];
		const size_t len = strcspn(node->name, "-"); /* without the port */
		unsigned int k = 0;

		if (node->cycles == 0)
			continue;
		while (k < n &&
			(strlen(parts->nodes[k].name) != len ||
				memcmp(parts->nodes[k].name, node->name, len) != 0))
			k++;
		if (k == NODES_MAX)
			bench_fail("l2: more than %d kinds of nodes", NODES_MAX);
		if (k == n) {
			snprintf(parts->nodes[k].name, HY_NAME_SIZE, "%.*s", (int)len, node->name);
			cycles[n++] = 0;
		}
		cycles[k] += node->cycles + node->idle_cycles;
	}
	hy_stats_free(stats);
	return n;
}

static double
parts_figure(void *arg)
{
	struct parts *parts = arg;
	const uint64_t before = parts->entrant.laps;
	uint64_t cycles[NODES_MAX] = { 0 };

	(void)l2_laps(&parts->entrant);
	if (parts->entrant.wrong)
		return 1;
	parts->entrant.wrong = parts_read(parts, cycles) != parts->n;
	if (parts->entrant.wrong)
		return 1;
	for (unsigned int k = 0; k < parts->n; k++) {
		parts->nodes[k].figure = (double)(cycles[k] - parts->nodes[k].cycles) /
			(double)((parts->entrant.laps - before) * L2_FRAMES);
		parts->nodes[k].cycles = cycles[k];
	}
	return parts->nodes[0].figure;
}

static bool
parts_right(void *arg)
{
	const struct parts *parts = arg;

	return parts->entrant.laps > 0 && !parts->entrant.wrong;
}

/* Measures what each kind of node takes, unfused, with every walk timed. */
static void
nodes_work(const char *name, struct l2_rig *rig, const struct hy_l2_table *table,
	const struct l2_form *form)
{
	static const struct choice choice = { .name = "nodes", .apart = true, .timed = true };
	const struct l2_way way = bridge_create(rig, table, form, &choice);
	struct parts parts = { .entrant = { .rig = rig, .way = way } };
	struct contender all[NODES_MAX];
	uint64_t cycles[NODES_MAX];

	if (way.arg == NULL) {
		bench_skip(name, NULL);
		return;
	}
	(void)l2_laps(&parts.entrant);
	parts.n = parts_read(&parts, cycles); /* those that are used */
	for (unsigned int k = 0; k < parts.n; k++) {
		parts.nodes[k].cycles = cycles[k];
		all[k] = (struct contender){ .name = parts.nodes[k].name,
			.also = &parts.nodes[k].figure };
	}
	all[0] = (struct contender){ .name = parts.nodes[0].name,
		.arg = &parts,
		.figure = parts_figure,
		.check = parts_right };
	if (parts.n > 0)
		bench_work(name, CYCLES_PACKET, all, parts.n);
	else
		results_wrong(name, way.name, "no node had anything to do in the first lap");
	way.free(way.arg);
}

static void
compare(const char *name, struct l2_rig *rig, const struct hy_l2_table *table,
	const struct l2_form *form)
{
	static const struct choice choices[] = { { .name = "apart", .apart = true },
		{ .name = "no_learning", .no_learning = true }, { .name = "halyard" } };
	const struct l2_way l2fwd = l2_static_create(rig, form);
	struct field f = { .work = name };

	l2_enter(&f, rig, &l2fwd, L2_PEER);
	if (!form->tagged_in && !form->tagged_out) {
		const struct l2_way by_hand = l2_by_hand_create(rig, table, form);

		l2_enter(&f, rig, &by_hand, L2_SHOWN);
	}
	for (unsigned int c = 0; c < RTE_DIM(choices); c++) {
		const struct l2_way way = bridge_create(rig, table, form, &choices[c]);

		l2_enter(&f, rig, &way, c + 1 == RTE_DIM(choices) ? L2_SUBJECT : L2_SHOWN);
	}
	field_measure(&f, CYCLES_PACKET);
}

static void
measure(const struct work *work)
{
	const bool by_node = work->by_node != NULL && bench_wanted(work->by_node);
	const bool wanted = bench_wanted(work->name);
	struct hy_l2_table *table;
	struct l2_macs macs;
	struct l2_rig *rig;

	if (!wanted && !by_node)
		return;
	l2_macs_create(&macs, work->macs);
	table = l2_table_create(&macs);
	rig = l2_rig_open(&macs);
	if (rig == NULL)
		bench_skip(work->name, NULL);
	if (rig != NULL && wanted)
		compare(work->name, rig, table, &work->form);
	if (rig != NULL && by_node)
		nodes_work(work->by_node, rig, table, &work->form);
	l2_rig_close(rig);
	hy_l2_table_destroy(table);
	l2_macs_free(&macs);
}

void
bench_l2_bridge(void)
{
	for (unsigned int w = 0; w < RTE_DIM(works); w++)
		measure(&works[w]);
}
