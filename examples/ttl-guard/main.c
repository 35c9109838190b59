/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ttl-guard: forwards IPv4 packets from port 0 to port 1, and drops those with a time to live
 * below a minimum. A program outside Halyard's tree, with its own node.
 *
 *     ethdev_rx → pkt_cls → ttl_guard → ethdev_tx
 *
 * usage: ttl-guard [EAL options] -- MIN_TTL [FAMILY=VARIANT]...
 * Exits when no packet has arrived for 100 ms.
 */

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include <hy_assembly.h>
#include <hy_ethdev.h>
#include <hy_program.h>
#include <hy_stats.h>
#include <hy_terminal.h>

#include "ttl_guard.h"

#define PORT_IN 0
#define PORT_OUT 1
#define IDLE_MS 100

static const struct hy_program program = { .name = "ttl-guard",
	.usage = "ttl-guard [EAL options] -- MIN_TTL [FAMILY=VARIANT]..." };

static int
refuse(const char *what, int rc)
{
	return hy_terminal_refuse(rc, "%s: %s", what, strerror(-rc));
}

static int
options_read(int argc, char **argv, struct ttl_guard_config *guard, struct hy_hal *hal)
{
	char error[HY_HAL_ERROR_SIZE] = "out of memory";
	unsigned int min_ttl = 0;

	if (argc < 2)
		return hy_option_refuse("usage", "%s", program.usage);
	if (hy_option_number("MIN_TTL", argv[1], 0, UINT8_MAX, &min_ttl) < 0)
		return -EINVAL;
	guard->min_ttl = (uint8_t)min_ttl;
	for (int i = 2; i < argc; i++)
		if (hy_hal_force(hal, argv[i], error) < 0)
			return hy_option_refuse(argv[i], "%s", error);
	return 0;
}

/* Starts two ports, one of which receives, and has the HAL select variants for them. */
static int
ports_start(struct hy_hal *hal)
{
	static const uint16_t ports[] = { PORT_IN, PORT_OUT };
	static const struct hy_rx_queue queue = { .port = PORT_IN };
	const struct hy_ends ends = { .hal = hal,
		.ports = ports,
		.nb_ports = RTE_DIM(ports),
		.queues = &queue,
		.nb_queues = 1,
		.nb_workers = 1 };
	const struct hy_port_params each = { 0 };
	char error[HY_HAL_ERROR_SIZE] = "out of memory";
	int rc;

	if (rte_eth_dev_count_avail() != RTE_DIM(ports))
		return refuse("two ports are needed, see EAL's --vdev and -a", -ENODEV);
	rc = hy_ends_up(&ends, &each, error);
	return rc < 0 ? hy_terminal_refuse(rc, "%s", error) : 0;
}

/* Connects an edge of one node to another node. */
static int
join(hy_node_id from, uint16_t edge, hy_node_id to)
{
	char name[HY_NAME_SIZE];
	const int rc = hy_node_name(to, name, sizeof(name));

	return rc < 0 ? rc : hy_node_edge_set(from, edge, name);
}

/* Takes the nodes that the HAL selected, configures them, and connects them in a row. */
static int
nodes_join(struct hy_hal *hal, const struct ttl_guard_config *guard)
{
	const struct hy_ethdev_rx_config rx = { .port = PORT_IN };
	const struct hy_ethdev_tx_config tx = { .port = PORT_OUT, .nb_queues = 1 };
	hy_node_id rx_id, cls_id, guard_id, tx_id;
	int rc = hy_hal_node_clone(hal, "ethdev_rx", PORT_IN, "in", &rx_id);

	if (rc == 0)
		rc = hy_hal_node(hal, "pkt_cls", PORT_IN, &cls_id);
	if (rc == 0)
		rc = hy_hal_node(hal, "ttl_guard", 0, &guard_id);
	if (rc == 0)
		rc = hy_hal_node_clone(hal, "ethdev_tx", PORT_OUT, "out", &tx_id);
	if (rc == 0)
		rc = hy_node_config(rx_id, &rx, sizeof(rx));
	if (rc == 0)
		rc = hy_node_config(guard_id, guard, sizeof(*guard));
	if (rc == 0)
		rc = hy_node_config(tx_id, &tx, sizeof(tx));
	if (rc == 0)
		rc = join(rx_id, 0, cls_id);
	if (rc == 0)
		rc = join(cls_id, 0, guard_id);
	if (rc == 0)
		rc = join(guard_id, TTL_GUARD_NEXT_PASS, tx_id);
	return rc < 0 ? refuse("nodes", rc) : 0;
}

/* Creates the graph of the source and all nodes that its edges reach. */
static struct hy_graph *
graph_create(void)
{
	static const char *const patterns[] = { "ethdev_rx-in" };
	const struct hy_graph_params params = {
		.patterns = patterns,
		.nb_patterns = RTE_DIM(patterns),
		.ops = &hy_mbuf_ops,
		.drop_node = "pkt_drop",
		.lanes = { "ip4_route" }, /* pkt_cls writes it */
		.socket = SOCKET_ID_ANY,
	};
	struct hy_graph *graph = NULL;
	const int rc = hy_graph_create("guard", &params, &graph);

	if (rc < 0)
		refuse("graph", rc);
	return graph;
}

/* Walks the graph until no packet has arrived for a while. */
static void
walk_until_idle(struct hy_graph *graph)
{
	const uint64_t patience = IDLE_MS * rte_get_tsc_hz() / 1000;
	uint64_t seen = 0, since = rte_rdtsc();
	struct hy_node *rx;

	if (hy_graph_node(graph, "ethdev_rx-in", &rx) < 0)
		return;
	while (rte_rdtsc() - since < patience) {
		hy_graph_walk(graph);
		if (rx->objs == seen)
			continue;
		seen = rx->objs;
		since = rte_rdtsc();
	}
	hy_graph_rest(graph);
}

/* Prints what each node did. */
static void
report(void)
{
	struct hy_stats *stats;

	if (hy_stats_read("guard", &stats) < 0)
		return;
	for (unsigned int i = 0; i < stats->nb_nodes; i++) {
		const struct hy_node_stats *node = &stats->nodes[i];

		printf("%-14s %-10s %6" PRIu64 " packets\n", node->name, node->variant, node->objs);
		for (unsigned int d = 0; d < node->nb_drops; d++)
			if (node->drops[d].objs > 0)
				printf("    dropped %6" PRIu64 "  %s: %s\n", node->drops[d].objs,
					node->drops[d].name, node->drops[d].text);
	}
	hy_stats_free(stats);
}

/* Runs the program: options, ports and selection, nodes, graph. */
static int
guard_packets(int argc, char **argv, struct hy_hal *hal)
{
	struct ttl_guard_config guard;
	struct hy_graph *graph;
	int rc = options_read(argc, argv, &guard, hal);

	if (rc == 0)
		rc = ports_start(hal);
	if (rc == 0)
		rc = nodes_join(hal, &guard);
	if (rc < 0)
		return rc;
	graph = graph_create();
	if (graph == NULL)
		return -EINVAL;
	walk_until_idle(graph);
	report();
	hy_graph_destroy(graph);
	return 0;
}

/* Initializes EAL and the HAL around it. */
int
main(int argc, char **argv)
{
	struct hy_hal *hal = NULL;
	int rc = hy_program_begin(&program, &argc, &argv);

	if (rc == 0)
		rc = hy_hal_create(&hal);
	if (rc == 0)
		rc = guard_packets(argc, argv, hal);
	hy_ports_stop(NULL, NULL);
	hy_hal_destroy(hal);
	return hy_program_end(rc);
}
