/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A capture of a graph of rte_graph's API: "PROGRAM EAL-ARGUMENTS -- FILE PACKETS" lets 100 packets,
 * of 60 bytes upwards, go from "source" by "hop" to "end", and writes the first so many that "hop"
 * and "end" are called with to a file.
 */

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_eal.h>
#include <rte_graph.h>
#include <rte_graph_worker.h>
#include <rte_mbuf.h>

#include <hy_capture.h>
#include <hy_mbuf.h>
#include <hy_pcapng.h>

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

/* In the core, nodes of rte_graph's are called "rte." and their name. */
static const struct hy_capture_point points[] = { { .node = "rte.hop" }, { .node = "rte.end" } };

static void
capture_start(struct rte_graph *graph, const char *packets)
{
	const struct hy_capture_params params = {
		.points = points, .nb_points = 2, .max_objs = strtoull(packets, NULL, 10)
	};

	hy_compat_graph_objects(graph, &hy_mbuf_ops);
	check(hy_capture_start(graph->core, &params) == 0, "the capture");
}

static void
capture_write(struct rte_graph *graph, const char *path)
{
	static alignas(8) uint8_t room[HY_CAPTURE_RECORD_MAX];
	struct hy_pcapng *file = NULL;
	const int fd = open(path, O_CREAT | O_WRONLY, 0600);
	size_t size;

	hy_capture_stop(graph->core);
	check(hy_pcapng_open(fd, "capture", HY_CAPTURE_SNAP_MAX, &file) == 0, "the file");
	while ((size = hy_capture_read(graph->core, room, sizeof(room))) > 0) {
		const struct hy_capture_record *record = (const struct hy_capture_record *)room;

		for (; (const uint8_t *)record < room + size; record = hy_capture_next(record)) {
			const struct hy_pcapng_point point = {
				.comment = points[record->point].node, .port = HY_PCAPNG_OWN_PORT
			};

			check(hy_pcapng_write(file, record, &point) == 0, "writing");
		}
	}
	check(hy_pcapng_close(file) == 0, "the file's end");
}

int
main(int argc, char **argv)
{
	const int eal = rte_eal_init(argc, argv);
	const char *pattern = "source";
	struct rte_graph_param prm = {
		.socket_id = SOCKET_ID_ANY,
		.nb_node_patterns = 1,
		.node_patterns = &pattern,
	};
	struct rte_graph *graph;
	rte_graph_t id;

	check(eal >= 0 && argc == eal + 3, "EAL");
	pool = rte_pktmbuf_pool_create("packets", 511, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
		SOCKET_ID_ANY);
	check(pool != NULL, "the pool");
	id = rte_graph_create("worker", &prm);
	check(id != RTE_GRAPH_ID_INVALID, "the graph");
	graph = rte_graph_lookup("worker");
	capture_start(graph, argv[eal + 2]);
	while (ended < FRAMES)
		rte_graph_walk(graph);
	capture_write(graph, argv[eal + 1]);
	check(rte_graph_destroy(id) == 0, "its end");
	printf("packets: %u, in use: %u\n", ended, rte_mempool_in_use_count(pool));
	rte_eal_cleanup();
	return EXIT_SUCCESS;
}
