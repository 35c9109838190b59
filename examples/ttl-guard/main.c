/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ttl-guard: passes IPv4 packets from port 0 on to port 1, but for those whose time to live is
 * below a minimum. A program outside Halyard's tree, with a node of its own.
 *
 *     ethdev_rx → pkt_cls → ttl_guard → ethdev_tx
 *
 * usage: ttl-guard [EAL options] -- MIN_TTL [FAMILY=VARIANT]...
 * Ends when nothing has arrived for 100 ms.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_ethdev.h>

#include <hy_about.h>
#include <hy_ethdev.h>
#include <hy_file.h>
#include <hy_hal.h>
#include <hy_stats.h>

#include "ttl_guard.h"

#define NB_PORTS 2
#define PORT_IN 0
#define PORT_OUT 1
#define IDLE_MS 100

static const char usage[] = "usage: ttl-guard [EAL options] -- MIN_TTL [FAMILY=VARIANT]...\n"
			    "MIN_TTL is a number from 0 to 255\n";

static int
refuse(const char *what, int rc)
{
	fprintf(stderr, "ttl-guard: %s: %s\n", what, strerror(-rc));
	return -1;
}

static int
options_read(int argc, char **argv, struct ttl_guard_config *guard, struct hy_hal *hal)
{
	char error[HY_HAL_ERROR_SIZE] = "out of memory";
	char *end = NULL;
	const long min_ttl = argc > 1 ? strtol(argv[1], &end, 10) : -1;

	if (min_ttl < 0 || min_ttl > UINT8_MAX || end == argv[1] || *end != '\0') {
		fputs(usage, stderr);
		return -1;
	}
	guard->min_ttl = (uint8_t)min_ttl;
	for (int i = 2; i < argc; i++) {
		if (hy_hal_force(hal, argv[i], error) < 0) {
			fprintf(stderr, "ttl-guard: %s\n", error);
			return -1;
		}
	}
	return 0;
}

static int
ports_start(void)
{
	const struct rte_eth_conf conf = { 0 };
	struct rte_mempool *pool;

	if (rte_eth_dev_count_avail() != NB_PORTS)
		return refuse("two ports are needed, see EAL's --vdev and -a", -ENODEV);
	pool = rte_pktmbuf_pool_create("packets", 8191, 256, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
		SOCKET_ID_ANY);
	if (pool == NULL)
		return refuse("no memory for packets, see EAL's -m", -ENOMEM);
	for (uint16_t port = 0; port < NB_PORTS; port++) {
		int rc = rte_eth_dev_configure(port, 1, 1, &conf);

		if (rc == 0)
			rc = rte_eth_rx_queue_setup(port, 0, 1024, SOCKET_ID_ANY, NULL, pool);
		if (rc == 0)
			rc = rte_eth_tx_queue_setup(port, 0, 1024, SOCKET_ID_ANY, NULL);
		if (rc == 0)
			rc = rte_eth_dev_start(port);
		if (rc < 0)
			return refuse("a port cannot be started", rc);
	}
	return 0;
}

/* Leads an edge of one node to another node. */
static int
join(hy_node_id from, uint16_t edge, hy_node_id to)
{
	char name[HY_NAME_SIZE];
	const int rc = hy_node_name(to, name, sizeof(name));

	return rc < 0 ? rc : hy_node_edge_set(from, edge, name);
}

/* Takes the nodes that the HAL selected, configures them, and joins them in a row. */
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

/* The graph: its source, and all that edges lead to. */
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

/* Walks until nothing has arrived for a while. */
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

/* The program's course: options, ports, selection, graph. */
static int
guard_packets(int argc, char **argv, struct hy_hal *hal)
{
	char error[HY_HAL_ERROR_SIZE] = "out of memory";
	struct ttl_guard_config guard;
	struct hy_graph *graph;

	if (options_read(argc, argv, &guard, hal) < 0 || ports_start() < 0)
		return -1;
	hy_hal_probe(hal);
	if (hy_hal_select(hal, error) < 0) {
		fprintf(stderr, "ttl-guard: %s\n", error);
		return -1;
	}
	if (nodes_join(hal, &guard) < 0)
		return -1;
	graph = graph_create();
	if (graph == NULL)
		return -1;
	walk_until_idle(graph);
	report();
	hy_graph_destroy(graph);
	return 0;
}

/* EAL around it. */
int
main(int argc, char **argv)
{
	struct hy_hal *hal = NULL;
	uint16_t port;
	int rc = hy_file_prepare();

	if (rc < 0)
		return EXIT_FAILURE;
	if (hy_about(argc, argv, "ttl-guard", usage))
		return hy_output_end("ttl-guard");
	rc = rte_eal_init(argc, argv);
	if (rc < 0)
		return EXIT_FAILURE;
	argc -= rc;
	argv += rc;
	rc = hy_hal_create(&hal);
	if (rc == 0)
		rc = guard_packets(argc, argv, hal);
	hy_hal_destroy(hal);
	RTE_ETH_FOREACH_DEV(port) {
		rte_eth_dev_stop(port);
		rte_eth_dev_close(port);
	}
	rte_eal_cleanup();
	return rc < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
