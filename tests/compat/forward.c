/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Forwards packets through the nodes of DPDK's lib/node, in the way of its example l3fwd-graph:
 * "PROGRAM EAL-ARGUMENTS -- PACKETS" receives that many on all ports together, sends them on, and
 * prints the objects of each node. 10.0.P.0/24 leads to port P.
 */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_eal.h>
#include <rte_ethdev.h>
#include <rte_graph.h>
#include <rte_graph_worker.h>
#include <rte_ip.h>
#include <rte_mbuf.h>

#include "rte_node_eth_api.h"
#include "rte_node_ip4_api.h"

#define PORTS_MAX 4
#define WALKS_MAX 1000000

static struct rte_mempool *pool;

static void
check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "forward: %s failed: %s\n", what, rte_strerror(rte_errno));
	exit(EXIT_FAILURE);
}

static void
port_start(uint16_t port)
{
	const struct rte_eth_conf conf = { 0 };

	check(rte_eth_dev_configure(port, 1, 1, &conf) == 0, "rte_eth_dev_configure()");
	check(rte_eth_rx_queue_setup(port, 0, 512, 0, NULL, pool) == 0, "rx_queue_setup()");
	check(rte_eth_tx_queue_setup(port, 0, 512, 0, NULL) == 0, "tx_queue_setup()");
}

static rte_graph_t
graph_create(uint16_t nb_ports)
{
	struct rte_node_ethdev_config conf[PORTS_MAX];
	static const char *patterns[] = { "ip4*", "ethdev_tx-*", "ethdev_rx-*", "pkt_cls",
		"pkt_drop" };
	struct rte_graph_param prm = { .socket_id = SOCKET_ID_ANY,
		.nb_node_patterns = RTE_DIM(patterns),
		.node_patterns = patterns };
	rte_graph_t id;

	for (uint16_t p = 0; p < nb_ports; p++)
		conf[p] = (struct rte_node_ethdev_config){ .port_id = p,
			.num_rx_queues = 1,
			.num_tx_queues = 1,
			.mp = &pool,
			.mp_count = 1 };
	check(rte_node_eth_config(conf, nb_ports, 1) == 0, "rte_node_eth_config()");
	id = rte_graph_create("forward", &prm);
	check(id != RTE_GRAPH_ID_INVALID, "rte_graph_create()");
	return id;
}

static void
route_add(uint16_t port)
{
	uint8_t macs[] = { 2, 0, 0, 0, 0, (uint8_t)port, 2, 0, 0, 0, 1, (uint8_t)port };

	check(rte_node_ip4_route_add(RTE_IPV4(10, 0, port, 0), 24, port,
		      RTE_NODE_IP4_LOOKUP_NEXT_REWRITE) == 0,
		"rte_node_ip4_route_add()");
	check(rte_node_ip4_rewrite_add(port, macs, sizeof(macs), port) == 0,
		"rte_node_ip4_rewrite_add()");
}

static int
node_print(bool is_first, bool is_last, void *cookie,
	const struct rte_graph_cluster_node_stats *stats)
{
	RTE_SET_USED(is_first);
	RTE_SET_USED(is_last);
	RTE_SET_USED(cookie);
	printf("%s %" PRIu64 "\n", stats->name, stats->objs);
	return 0;
}

static uint64_t
received(uint16_t nb_ports)
{
	uint64_t sum = 0;

	for (uint16_t p = 0; p < nb_ports; p++) {
		char name[RTE_NODE_NAMESIZE];

		snprintf(name, sizeof(name), "ethdev_rx-%u-0", p);
		sum += rte_graph_node_get_by_name("forward", name)->total_objs;
	}
	return sum;
}

int
main(int argc, char **argv)
{
	const int eal = rte_eal_init(argc, argv);
	const uint64_t wanted = eal > 0 && eal + 1 < argc ? strtoull(argv[eal + 1], NULL, 10) : 0;
	const char *pattern = "forward";
	const struct rte_graph_cluster_stats_param prm = {
		.fn = node_print, .nb_graph_patterns = 1, .graph_patterns = &pattern
	};
	struct rte_graph_cluster_stats *stats;
	const uint16_t nb_ports = rte_eth_dev_count_avail();
	rte_graph_t id;

	check(eal >= 0 && wanted > 0 && nb_ports > 0 && nb_ports <= PORTS_MAX, "start");
	pool = rte_pktmbuf_pool_create("pool", 4095, 0, 64, RTE_MBUF_DEFAULT_BUF_SIZE, 0);
	check(pool != NULL, "rte_pktmbuf_pool_create()");
	for (uint16_t p = 0; p < nb_ports; p++)
		port_start(p);
	id = graph_create(nb_ports);
	for (uint16_t p = 0; p < nb_ports; p++) {
		route_add(p);
		check(rte_eth_dev_start(p) == 0, "rte_eth_dev_start()");
	}
	for (unsigned int w = 0; w < WALKS_MAX && received(nb_ports) < wanted; w++)
		rte_graph_walk(rte_graph_lookup("forward"));
	stats = rte_graph_cluster_stats_create(&prm);
	check(stats != NULL, "rte_graph_cluster_stats_create()");
	rte_graph_cluster_stats_get(stats, false);
	rte_graph_cluster_stats_destroy(stats);
	check(rte_graph_destroy(id) == 0, "rte_graph_destroy()");
	for (uint16_t p = 0; p < nb_ports; p++) {
		rte_eth_dev_stop(p);
		rte_eth_dev_close(p);
	}
	printf("mbufs in use: %u\n", rte_mempool_in_use_count(pool));
	rte_eal_cleanup();
	return EXIT_SUCCESS;
}
