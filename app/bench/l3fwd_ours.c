/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Halyard's contender of the l3fwd benchmark: the nodes of l3fwd-graph, as the HAL selects them, or
 * with another variant of one family.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <hy_arc.h>
#include <hy_assembly.h>
#include <hy_flow_cls.h>
#include <hy_graph_worker.h>
#include <hy_hal.h>
#include <hy_ip4_group.h>
#include <hy_mbuf.h>
#include <hy_stats.h>

#include "l3fwd.h"
#include "l3fwd_ours.h"

#define ENGINES (HY_IP4_FIB_AVX512 + 1)

struct ours {
	const struct l3fwd_rig *rig;
	struct hy_graph *graph;
};

static struct {
	struct hy_hal *hal;
	hy_node_id lookup, rewrite;
	uint16_t edge[HY_IP4_PORTS];
	const struct l3fwd_table *table;
	bool loop;
	/* With groups or without; created when a variant needs it. */
	struct hy_ip4_fib *fib[2][ENGINES];
	struct hy_ip6_fib *fib6[2][ENGINES]; /* with the next hops of that */
} shared;

const struct hy_selection *
ours_selection(const char *family)
{
	return hy_hal_selection(shared.hal, family, rig_port(USERS_ALL, 0));
}

void
ours_must(int rc, const char *what)
{
	if (rc < 0)
		bench_fail("l3fwd: %s: %s", what, strerror(-rc));
}

/* Selects variants for the work's table. */
static int
hal_select(void)
{
	char error[HY_HAL_ERROR_SIZE];

	if (shared.hal == NULL) {
		ours_must(hy_hal_create(&shared.hal), "the HAL");
		for (unsigned int p = 0; p <= RIG_LOOP; p++)
			hy_hal_port_ignore(shared.hal, rig_port(USERS_LIBRTE_NODE, p));
	}
	ours_must(hy_hal_declare(shared.hal, HY_IP4_ROUTES, shared.table->n, "the work's table"),
		"the HAL");
	ours_must(hy_hal_declare(shared.hal, HY_IP6_ROUTES, shared.table->n6, "the work's table"),
		"the HAL");
	if (hy_hal_select(shared.hal, error) < 0)
		return bench_cannot("the HAL: %s", error);
	ours_must(hy_hal_node(shared.hal, "ip4_lookup", 0, &shared.lookup), "ip4_lookup");
	return 0;
}

/*
 * Creates the other nodes, once for all works: a transmitting node per port and a receiving one per
 * queue.
 */
static void
nodes_create(void)
{
	static bool created;
	uint16_t ports[RIG_LOOP + 1];
	struct hy_rx_queue queues[RTE_DIM(ports) * L3FWD_LANES];
	struct hy_ends ends = { .hal = shared.hal,
		.ports = ports,
		.nb_ports = RTE_DIM(ports),
		.queues = queues,
		.nb_workers = rig_lanes() };
	hy_node_id drop, classifier;

	if (created)
		return;
	created = true;
	ours_must(hy_hal_node(shared.hal, "ip4_rewrite", 0, &shared.rewrite), "ip4_rewrite");
	ours_must(hy_hal_node(shared.hal, "pkt_drop", 0, &drop), "pkt_drop");
	ours_must(hy_hal_node(shared.hal, "pkt_cls", rig_port(USERS_ALL, 0), &classifier),
		"pkt_cls");
	for (unsigned int p = 0; p <= RIG_LOOP; p++) {
		ports[p] = rig_port(USERS_ALL, p);
		for (unsigned int q = 0; q < rig_lanes(); q++)
			queues[ends.nb_queues++] = (struct hy_rx_queue){ ports[p], (uint16_t)q };
	}
	ours_must(hy_tx_nodes(&ends, shared.rewrite, shared.edge), "ethdev_tx");
	ours6_nodes(&ends, classifier);
	ours_must(hy_rx_nodes(&ends), "ethdev_rx");
}

static int
hops_add(struct hy_ip4_fib *fib, uint32_t id[HOPS])
{
	int rc = 0;

	for (unsigned int p = 0; p <= RIG_LOOP && rc == 0; p++) {
		const struct hy_ip4_port port = { .port = rig_port(USERS_ALL, p),
			.mac = l3fwd_port_mac(p == RIG_LOOP ? 0 : p),
			.max_len = L3FWD_MTU };

		rc = hy_ip4_port_add(fib, &port);
	}
	for (unsigned int hop = 0; hop < HOPS && rc == 0; hop++) {
		const struct hy_ip4_next_hop next_hop = {
			.port = rig_port(USERS_ALL, shared.loop ? RIG_LOOP : hop_port(hop)),
			.mac = l3fwd_hop_mac(hop)
		};

		rc = hy_ip4_next_hop_add(fib, &next_hop, &id[hop]);
	}
	return rc;
}

/* A group of eight next hops. */
static int
group_add(struct hy_ip4_fib *fib, const uint32_t id[HOPS], uint32_t *group)
{
	struct hy_ip4_member members[TABLE_EIGHT];

	for (unsigned int i = 0; i < TABLE_EIGHT; i++)
		members[i] = (struct hy_ip4_member){
			.next_hop = id[table_eight_hop(i, shared.table->nb_ports)], .weight = 1
		};
	return hy_ip4_group_create(fib, members, TABLE_EIGHT, HY_IP4_NO_ID, group);
}

/* Adds the work's routes to a table, and those of IPv6 to one beside it. */
static int
routes_add(struct hy_ip4_fib *fib, struct hy_ip6_fib **fib6, bool grouped)
{
	const struct l3fwd_table *table = shared.table;
	struct hy_ip4_change *changes = bench_alloc(table->n, sizeof(*changes));
	uint32_t id[HOPS], group = 0;
	int rc = hops_add(fib, id);

	if (rc == 0 && grouped)
		rc = group_add(fib, id, &group);
	for (uint32_t i = 0; i < table->n && rc == 0; i++) {
		const struct bench_route *route = &table->routes[i];

		changes[i] = (struct hy_ip4_change){ HY_IP4_ADD,
			{ route->prefix, route->depth, grouped ? group : id[route->hop] } };
	}
	if (rc == 0)
		rc = hy_ip4_routes_change(fib, changes, table->n, NULL);
	free(changes);
	return rc == 0 ? ours6_fib_create(fib, table, id, fib6) : rc;
}

/* Returns the table, with the work's routes, that a lookup variant reads; NULL on failure. */
static struct hy_ip4_fib *
table_for(const char *lookup, bool grouped)
{
	const enum hy_ip4_engine engine = hy_ip4_engine_of(lookup);
	const struct hy_ip4_fib_params params = { .engine = engine,
		.max_routes = shared.table->n,
		.max_next_hops = HOPS + 1,
		.max_tbl8s = RTE_MAX(shared.table->tbl8s, 1u),
		.socket = SOCKET_ID_ANY };
	struct hy_ip4_fib *fib = shared.fib[grouped][engine];
	struct hy_ip6_fib *fib6 = NULL;
	char name[16];
	int rc;

	if (fib != NULL)
		return fib;
	snprintf(name, sizeof(name), "l3fwd_ours_%d%s", engine, grouped ? "g" : "");
	rc = hy_ip4_fib_create(name, &params, &fib);
	if (rc == 0)
		rc = routes_add(fib, &fib6, grouped);
	if (rc < 0) {
		bench_cannot("the table of %u routes: %s", shared.table->n + shared.table->n6,
			strerror(-rc));
		hy_ip6_fib_destroy(fib6);
		hy_ip4_fib_destroy(fib);
		return NULL;
	}
	shared.fib[grouped][engine] = fib;
	shared.fib6[grouped][engine] = fib6;
	return fib;
}

/* Sets the table that a variant of ip4_lookup reads, for graphs created later with these nodes. */
static int
table_set(const char *variant, bool grouped, hy_node_id lookup, hy_node_id rewrite,
	const uint16_t edge[static HY_IP4_PORTS])
{
	struct hy_ip4_rewrite_config config = { .tables.fibs = { table_for(variant, grouped) },
		.tables.nb_fibs = 1 };

	if (config.tables.fibs[0] == NULL)
		return -1;
	memcpy(config.edge, edge, sizeof(config.edge));
	ours_must(hy_node_config(lookup, &config.tables, sizeof(config.tables)), "ip4_lookup");
	ours_must(hy_node_config(rewrite, &config, sizeof(config)), "ip4_rewrite");
	ours6_fib_set(shared.hal, shared.fib6[grouped][hy_ip4_engine_of(variant)]);
	return 0;
}

int
ours_table_set(hy_node_id lookup, hy_node_id rewrite, const uint16_t edge[static HY_IP4_PORTS])
{
	return table_set(ours_selection("ip4_lookup")->chosen->impl.variant, false, lookup, rewrite,
		edge);
}

int
ours_table_create(const struct l3fwd_table *table, bool loop)
{
	shared.table = table;
	shared.loop = loop;
	if (hal_select() < 0)
		return -1;
	nodes_create();
	return 0;
}

void
ours_table_destroy(void)
{
	for (unsigned int e = 0; e < 2 * ENGINES; e++) {
		struct hy_ip4_fib **fib = &shared.fib[e / ENGINES][e % ENGINES];
		struct hy_ip6_fib **fib6 = &shared.fib6[e / ENGINES][e % ENGINES];

		hy_ip6_fib_destroy(*fib6);
		hy_ip4_fib_destroy(*fib);
		*fib6 = NULL;
		*fib = NULL;
	}
}

static void
ours_run(void *arg, uint64_t turns)
{
	const struct ours *w = arg;

	while (turns-- > 0 && rig_pending(w->rig))
		(void)hy_graph_walk(w->graph);
}

static uint64_t
ours_drops(void *arg)
{
	const struct ours *w = arg;
	struct hy_stats *stats;
	uint64_t sum = 0;

	ours_must(hy_stats_read(hy_graph_name(w->graph), &stats), "statistics");
	for (unsigned int n = 0; n < stats->nb_nodes; n++)
		sum += hy_stats_dropped(&stats->nodes[n]);
	hy_stats_free(stats);
	return sum;
}

static unsigned int
ours_nodes(void *arg, struct l3fwd_node nodes[NODES_MAX])
{
	const struct ours *w = arg;
	struct hy_stats *stats;
	unsigned int n = 0;

	ours_must(hy_stats_read(hy_graph_name(w->graph), &stats), "statistics");
	for (unsigned int i = 0; i < stats->nb_nodes; i++)
		n = l3fwd_node_add(nodes, n, stats->nodes[i].name,
			stats->nodes[i].cycles + stats->nodes[i].idle_cycles);
	hy_stats_free(stats);
	return n;
}

static void
ours_destroy(void *arg)
{
	struct ours *w = arg;

	hy_graph_destroy(w->graph);
	free(w);
}

struct hy_node_impl
ours_impl(const struct hy_variant *variant)
{
	const struct hy_node_impl *family = &ours_selection(variant->family)->family->node.impl;
	struct hy_node_impl impl = variant->impl;

	if (impl.init == NULL && impl.fini == NULL && impl.ctx_size == 0) {
		impl.init = family->init;
		impl.fini = family->fini;
		impl.ctx_size = family->ctx_size;
	}
	return impl;
}

/* Sets a family's implementation for graphs created later. */
static void
variant_set(const struct hy_variant *variant)
{
	const struct hy_node_impl impl = ours_impl(variant);
	hy_node_id id;

	ours_must(hy_node_lookup(variant->family, &id), variant->family);
	ours_must(hy_node_impl_set(id, &impl), variant->family);
}

void
ours_variant_set(const char *family, const char *variant, hy_node_id node)
{
	const struct hy_selection *s = ours_selection(family);

	for (unsigned int c = 0; s != NULL && c < s->nb_candidates; c++) {
		const struct hy_node_impl impl = ours_impl(s->candidates[c].variant);

		if (strcmp(impl.variant, variant) != 0)
			continue;
		ours_must(hy_node_impl_set(node, &impl), variant);
		return;
	}
	bench_fail("l3fwd: %s has no variant %s", family, variant);
}

unsigned int
ours_variants(const struct hy_variant *variants[], unsigned int most)
{
	static const char *const families[] = { "pkt_cls", "ip4_lookup", "ip4_rewrite" };
	unsigned int n = 0;

	for (unsigned int f = 0; f < RTE_DIM(families); f++) {
		const struct hy_selection *s = ours_selection(families[f]);

		for (unsigned int c = 0; s != NULL && c < s->nb_candidates && n < most; c++)
			if (s->candidates[c].fate == HY_FATE_OUTSCORED)
				variants[n++] = s->candidates[c].variant;
	}
	return n;
}

/* Packets that a turn receives from one port; nodes get more if several ports receive. */
static uint16_t
budget_of(const struct ours_params *ours)
{
	return ours->burst > 0 ? ours->burst : HY_BURST_DEFAULT;
}

/* Connects the receiving nodes of the rig's ports to a node. */
static void
receive_to(const struct l3fwd_rig *rig, const char *to)
{
	for (unsigned int p = 0; p < rig->nb_ports; p++) {
		char name[HY_NAME_SIZE];
		hy_node_id node;

		snprintf(name, sizeof(name), "ethdev_rx-%u-%u", rig->port[USERS_ALL][p], rig->lane);
		ours_must(hy_node_lookup(name, &node), name);
		ours_must(hy_node_edge_set(node, 0, to), to);
	}
}

static int
graph_create(struct ours *w, const struct ours_params *ours)
{
	static unsigned int count;
	const struct l3fwd_rig *rig = w->rig;
	char sources[L3FWD_PORTS][HY_NAME_SIZE], name[HY_NAME_SIZE];
	const char *patterns[L3FWD_PORTS];
	const uint16_t burst = budget_of(ours);
	const bool classes = ours->lists || ours->flow_cls != NULL;
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = rig->nb_ports,
		.ops = &hy_mbuf_ops,
		.drop_node = "pkt_drop",
		.lanes = { "ip4_route", classes ? HY_FLOW_CLASS_LANE : NULL,
			ours->lists ? HY_ARC_LANE : NULL },
		.burst = RTE_MIN(2 * burst, HY_BURST_MAX), /* as l3fwd-graph does */
		.source_budget = burst,
		.sample_every = ours->sample_every,
		.apart = ours->apart,
		.worker = (uint16_t)rig->lane,
		.qsbr = ours->qsbr,
		.socket = SOCKET_ID_ANY };
	int rc;

	for (unsigned int p = 0; p < rig->nb_ports; p++) {
		snprintf(sources[p], HY_NAME_SIZE, "%s-%u-%u",
			ours->source == NULL ? "ethdev_rx" : ours->source, rig->port[USERS_ALL][p],
			rig->lane);
		patterns[p] = sources[p];
	}
	snprintf(name, sizeof(name), "l3fwd-%u", count++);
	if (ours->flow_cls != NULL)
		receive_to(rig, ours->flow_cls);
	rc = hy_graph_create(name, &params, &w->graph);
	if (ours->flow_cls != NULL)
		receive_to(rig, "pkt_cls"); /* all ports have the same one */
	return rc;
}

/* Sets the table for the wanted variant. */
static int
variant_table(const struct ours_params *params)
{
	const struct hy_variant *variant = ours_selection("ip4_lookup")->chosen;

	if (params->variant != NULL && strcmp(params->variant->family, "ip4_lookup") == 0)
		variant = params->variant;
	return table_set(variant->impl.variant, params->group, shared.lookup, shared.rewrite,
		shared.edge);
}

struct l3fwd_way
ours_create(const struct l3fwd_rig *rig, const struct ours_params *params)
{
	struct l3fwd_way way = { .name = "halyard",
		.users = USERS_ALL,
		.rewrites = true,
		.burst = budget_of(params),
		.drops = ours_drops,
		.nodes = ours_nodes,
		.destroy = ours_destroy };
	struct ours *w;
	int rc;

	if (variant_table(params) < 0)
		return way;
	w = bench_alloc(1, sizeof(*w));
	w->rig = rig;
	if (params->variant != NULL)
		variant_set(params->variant);
	rc = graph_create(w, params);
	if (params->variant != NULL)
		variant_set(ours_selection(params->variant->family)->chosen);
	if (rc < 0) {
		bench_cannot("the graph: %s", strerror(-rc));
		free(w);
		return way;
	}
	way.run = ours_run;
	way.arg = w;
	return way;
}

struct hy_graph *
ours_graph(const struct l3fwd_way *way)
{
	return ((const struct ours *)way->arg)->graph;
}

struct l3fwd_way
halyard_create(const struct l3fwd_rig *rig, const struct l3fwd_table *table __rte_unused)
{
	static const struct ours_params selected;

	return ours_create(rig, &selected);
}

struct l3fwd_way
halyard_apart_create(const struct l3fwd_rig *rig, const struct l3fwd_table *table __rte_unused)
{
	static const struct ours_params apart = { .apart = true };
	struct l3fwd_way way = ours_create(rig, &apart);

	way.name = "halyard_apart";
	return way;
}
