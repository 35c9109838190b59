/* SPDX-License-Identifier: BSD-3-Clause */
/* ethdev_rx and ethdev_tx over ports made of rings: order, queues, and what a full port refuses. */

#include <errno.h>
#include <string.h>

#include <hy_ethdev.h>
#include <hy_mbuf.h>

#include "node_fixture.h"

static struct rte_mbuf *packets[KEEP_MAX], *taken[KEEP_MAX];

static void
packets_make(unsigned int n)
{
	uint8_t frame[FRAME_MAX];

	for (unsigned int i = 0; i < n; i++) {
		const uint32_t len = FRAME(frame, .payload = 20, .id = (uint16_t)i);

		packets[i] = packet(frame, len);
	}
}

/* A graph that receives on a queue of one port and sends on another port. */
static struct hy_graph *
wire(const struct port *from, uint16_t queue, const struct port *to, uint16_t worker,
	uint16_t burst)
{
	static const char *const patterns[] = { "ethdev_rx-rig" };
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 1,
		.ops = &hy_mbuf_ops,
		.drop_node = "pkt_drop",
		.burst = burst,
		.worker = worker,
		.socket = SOCKET_ID_ANY };
	const struct hy_ethdev_rx_config rx = { .port = from->id, .queue = queue };
	const struct hy_ethdev_tx_config tx = { .port = to->id, .nb_queues = to->nb_tx };
	struct hy_graph *graph;
	int rc;

	assert_int_equal(hy_node_config(rig_clone("ethdev_tx", "own_queue", NULL), &tx, sizeof(tx)),
		0);
	assert_int_equal(hy_node_config(rig_clone("ethdev_rx", "poll", "ethdev_tx-rig"), &rx,
				 sizeof(rx)),
		0);
	rc = hy_graph_create("wire", &params, &graph);
	if (rc != 0)
		fail_msg("the graph is refused: %d: %s", rc, unit_log());
	return graph;
}

static uint64_t
objs(const char *node)
{
	uint64_t n = UINT64_MAX;
	struct hy_stats *stats;

	assert_int_equal(hy_stats_read("wire", &stats), 0);
	for (unsigned int i = 0; i < stats->nb_nodes; i++)
		if (strcmp(stats->nodes[i].name, node) == 0)
			n = stats->nodes[i].objs;
	hy_stats_free(stats);
	return n;
}

static void
what_comes_in_goes_out_in_order_at_every_burst(void **state)
{
	static const uint16_t bursts[] = { 1, 3, 32, 64, 255, 256 };
	const unsigned int n = 1000, all = rte_mempool_avail_count(pool);
	struct port *from = port_open(1, 1, 16), *to = port_open(1, 1, 1024);

	RTE_SET_USED(state);
	for (size_t b = 0; b < RTE_DIM(bursts); b++) {
		struct hy_graph *graph = wire(from, 0, to, 0, bursts[b]);
		const unsigned int walks = (n + bursts[b] - 1) / bursts[b];

		packets_make(n);
		port_feed(from, 0, packets, n);
		for (unsigned int w = 0; w < walks; w++)
			hy_graph_walk(graph);
		assert_int_equal(port_take(to, 0, taken, KEEP_MAX), n);
		assert_memory_equal(taken, packets, n * sizeof(*taken));
		hy_graph_walk(graph); /* finds nothing */
		assert_int_equal(port_take(to, 0, taken + n, 1), 0);
		assert_int_equal(objs("ethdev_rx-rig"), n);
		assert_int_equal(objs("ethdev_tx-rig"), n);
		assert_int_equal(dropped("wire", "ethdev_tx-rig", "tx_full"), 0);
		rte_pktmbuf_free_bulk(taken, n);
		assert_int_equal(rte_mempool_avail_count(pool), all);
		hy_graph_destroy(graph);
		rig_clear();
	}
}

/* The transmit ring holds so many; the rest is dropped, freed, and counted, the first ones sent. */
static void
full_port_drops_what_it_refuses_and_counts_it(void **state)
{
	static const unsigned int rooms[] = { 1, 15, 63, 64, 100, 128, 299 };
	const unsigned int n = 300, all = rte_mempool_avail_count(pool);

	RTE_SET_USED(state);
	for (size_t r = 0; r < RTE_DIM(rooms); r++) {
		struct port *from = port_open(1, 1, 16), *to = port_open(1, 1, rooms[r]);
		struct hy_graph *graph = wire(from, 0, to, 0, 64);

		packets_make(n);
		port_feed(from, 0, packets, n);
		for (unsigned int w = 0; w < 5; w++)
			hy_graph_walk(graph);
		assert_int_equal(dropped("wire", "ethdev_tx-rig", "tx_full"), n - rooms[r]);
		assert_int_equal(objs("pkt_drop"), n - rooms[r]);
		assert_int_equal(objs("ethdev_tx-rig"), n);
		assert_int_equal(rte_mempool_avail_count(pool), all - rooms[r]);
		assert_int_equal(port_take(to, 0, taken, KEEP_MAX), rooms[r]);
		assert_memory_equal(taken, packets, rooms[r] * sizeof(*taken));
		rte_pktmbuf_free_bulk(taken, rooms[r]);
		hy_graph_destroy(graph);
		rig_clear();
		ports_close();
	}
}

static void
port_that_was_full_sends_again_when_it_is_drained(void **state)
{
	struct port *from = port_open(1, 1, 16), *to = port_open(1, 1, 40);
	struct hy_graph *graph = wire(from, 0, to, 0, 64);
	uint64_t sent = 0;

	RTE_SET_USED(state);
	for (unsigned int round = 0; round < 10; round++) {
		packets_make(50);
		port_feed(from, 0, packets, 50);
		hy_graph_walk(graph);
		assert_int_equal(port_take(to, 0, taken, KEEP_MAX), 40);
		assert_memory_equal(taken, packets, 40 * sizeof(*taken));
		rte_pktmbuf_free_bulk(taken, 40);
		sent += 40;
	}
	assert_int_equal(dropped("wire", "ethdev_tx-rig", "tx_full"), 100);
	assert_int_equal(objs("ethdev_rx-rig"), sent + 100);
	hy_graph_destroy(graph);
}

static void
each_worker_polls_its_queue_and_sends_on_its_own(void **state)
{
	struct port *from = port_open(3, 1, 16), *to = port_open(1, 3, 64);

	RTE_SET_USED(state);
	for (uint16_t worker = 0; worker < 3; worker++) {
		/* Worker w polls queue 2 - w, and has transmit queue w. */
		const uint16_t queue = 2 - worker;
		struct hy_graph *graph = wire(from, queue, to, worker, 32);

		packets_make(30);
		for (uint16_t q = 0; q < 3; q++)
			port_feed(from, q, packets + 10 * q, 10);
		hy_graph_walk(graph);
		for (uint16_t q = 0; q < 3; q++)
			assert_int_equal(port_take(to, q, taken + 10 * q, 10),
				q == worker ? 10 : 0);
		assert_memory_equal(taken + 10 * worker, packets + 10 * queue, 10 * sizeof(*taken));
		rte_pktmbuf_free_bulk(packets + 10 * queue, 10);
		for (uint16_t q = 0; q < 3; q++)
			if (q != queue)
				port_drain(from, q);
		hy_graph_destroy(graph);
		rig_clear();
	}
}

static const struct CMUnitTest node_ethdev_tests[] = {
	NODE_TEST(what_comes_in_goes_out_in_order_at_every_burst),
	NODE_TEST(full_port_drops_what_it_refuses_and_counts_it),
	NODE_TEST(port_that_was_full_sends_again_when_it_is_drained),
	NODE_TEST(each_worker_polls_its_queue_and_sends_on_its_own),
};

UNIT_SUITE(node_ethdev_tests)
