/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A graph with pcap_enable: "PROGRAM EAL-ARGUMENTS -- NAME PACKETS" lets 100 packets, of 60 bytes
 * upwards, go from "source" by "hop" to "end", and asks for so many of them in a file of that name.
 */

#include <stdio.h>
#include <stdlib.h>

#include <rte_eal.h>
#include <rte_graph.h>
#include <rte_graph_worker.h>
#include <rte_mbuf.h>

#define FRAMES 100

static struct rte_mempool *pool;
static unsigned int made, ended;

static void
check(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "capture: %s failed: %s\n", what, rte_strerror(rte_errno));
	exit(EXIT_FAILURE);
}

static uint16_t
source(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(objs);
	RTE_SET_USED(n);
	for (node->idx = 0; node->idx < 32 && made < FRAMES; node->idx++, made++) {
		const uint16_t length = (uint16_t)(60 + made);
		struct rte_mbuf *m = rte_pktmbuf_alloc(pool);

		check(m != NULL, "a packet");
		memset(rte_pktmbuf_append(m, length), (int)made, length);
		node->objs[node->idx] = m;
	}
	rte_node_next_stream_move(graph, node, 0);
	return node->idx;
}

static uint16_t
hop(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(objs);
	rte_node_next_stream_move(graph, node, 0);
	return n;
}

static uint16_t
end(struct rte_graph *graph, struct rte_node *node, void **objs, uint16_t n)
{
	RTE_SET_USED(graph);
	RTE_SET_USED(node);
	rte_pktmbuf_free_bulk((struct rte_mbuf **)objs, n);
	ended += n;
	return n;
}

static struct rte_node_register source_node = {
	.name = "source",
	.flags = RTE_NODE_SOURCE_F,
	.process = source,
	.nb_edges = 1,
	.next_nodes = { "hop" },
};
RTE_NODE_REGISTER(source_node)

static struct rte_node_register hop_node = {
	.name = "hop",
	.process = hop,
	.nb_edges = 1,
	.next_nodes = { "end" },
};
RTE_NODE_REGISTER(hop_node)

static struct rte_node_register end_node = { .name = "end", .process = end };
RTE_NODE_REGISTER(end_node)

int
main(int argc, char **argv)
{
	const int eal = rte_eal_init(argc, argv);
	const char *pattern = "source";
	struct rte_graph_param prm = {
		.socket_id = SOCKET_ID_ANY,
		.nb_node_patterns = 1,
		.node_patterns = &pattern,
		.pcap_enable = true,
	};
	rte_graph_t graph;

	check(eal >= 0 && argc == eal + 3, "EAL");
	prm.pcap_filename = argv[eal + 1];
	prm.num_pkt_to_capture = strtoull(argv[eal + 2], NULL, 10);
	pool = rte_pktmbuf_pool_create("packets", 511, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
		SOCKET_ID_ANY);
	check(pool != NULL, "the pool");
	graph = rte_graph_create("worker", &prm);
	check(graph != RTE_GRAPH_ID_INVALID, "the graph");
	while (ended < FRAMES)
		rte_graph_walk(rte_graph_lookup("worker"));
	check(rte_graph_destroy(graph) == 0, "its end");
	printf("packets: %u, in use: %u\n", ended, rte_mempool_in_use_count(pool));
	rte_eal_cleanup();
	return EXIT_SUCCESS;
}
