/* SPDX-License-Identifier: BSD-3-Clause */
/* A bridge with its nodes in a graph, between ports that are rings; and links that go down. */

#include <stdio.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_cycles.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_rcu_qsbr.h>
#include <rte_ring.h>

#include <hy_graph_worker.h>
#include <hy_l2_lane.h>
#include <hy_mbuf.h>

#include "bridge_fixture.h"
#include "lib/bridge/bridge.h"

#define RING 64
#define LEN 60
#define LINK_S 5 /* in which a link that goes down is seen */

static struct rte_ring *in[PORTS], *out[PORTS];
static uint16_t ids[PORTS]; /* of the ports, by number */
static struct rte_mempool *pool;
static struct hy_hal *hal;
static struct hy_graph *graph;

static void
port_make(unsigned int i)
{
	char name[16];
	int port;

	snprintf(name, sizeof(name), "br_in%u", i);
	in[i] = rte_ring_create(name, RING, SOCKET_ID_ANY, 0);
	snprintf(name, sizeof(name), "br_out%u", i);
	out[i] = rte_ring_create(name, RING, SOCKET_ID_ANY, 0);
	assert_true(in[i] != NULL && out[i] != NULL);
	snprintf(name, sizeof(name), "br%u", i);
	port = rte_eth_from_rings(name, &in[i], 1, &out[i], 1, 0);
	assert_true(port >= 0);
	ids[i] = (uint16_t)port;
}

/* beside: a router has made the ports' senders. */
static void
graph_make(const char *path, bool beside)
{
	static const char *const patterns[] = { "ethdev_rx-*" };
	struct hy_rx_queue queues[PORTS] = { 0 };
	struct hy_ends ends = { .ports = ids,
		.nb_ports = PORTS,
		.queues = queues,
		.nb_queues = PORTS,
		.nb_workers = 1 };
	const struct hy_port_params each = { .nb_rxd = RING, .nb_txd = RING };
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 1,
		.ops = &hy_mbuf_ops,
		.drop_node = "pkt_drop",
		.lanes = { HY_L2_LANE },
		.qsbr = workers.qsbr,
		.socket = SOCKET_ID_ANY };
	char why[HY_HAL_ERROR_SIZE], name[HY_NAME_SIZE];

	for (unsigned int i = 0; i < PORTS; i++)
		queues[i].port = ids[i];
	assert_int_equal(hy_hal_create(&hal), 0);
	ends.hal = hal;
	if (hy_bridge_create(path, ids, PORTS, &bridge, error) < 0 ||
		hy_bridge_start(bridge, &workers, NULL, error) < 0)
		fail_msg("%s", error);
	if (hy_ends_up(&ends, &each, why) < 0)
		fail_msg("%s", why);
	for (unsigned int i = 0; i < PORTS && beside; i++)
		assert_int_equal(hy_tx_node(&ends, ids[i], name), 0);
	assert_int_equal(hy_bridge_nodes(bridge, &ends, NULL), 0);
	assert_string_equal(ends.next, "l2_input");
	assert_int_equal(hy_rx_nodes(&ends), 0);
	unit_log_clear();
	if (hy_graph_create("bridge", &params, &graph) != 0)
		fail_msg("the graph is refused: %s", unit_log());
}

static void
file_make(char text[256], const char *more)
{
	snprintf(text, 256,
		"age 10\nport %u access 10\nport %u trunk 10,20\nport %u trunk 20 native 10\n%s",
		ids[0], ids[1], ids[2], more);
}

static int
setup(void **state)
{
	if (bridge_setup(state) < 0)
		return -1;
	/* The graph is the variable's reader. */
	rte_rcu_qsbr_thread_unregister(workers.qsbr, 0);
	for (unsigned int i = 0; i < PORTS; i++)
		port_make(i);
	pool = rte_pktmbuf_pool_create("bridge", 255, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
		SOCKET_ID_ANY);
	return pool == NULL ? -1 : 0;
}

static int
teardown(void **state)
{
	RTE_SET_USED(state);
	hy_graph_destroy(graph);
	graph = NULL;
	hy_bridge_destroy(bridge);
	bridge = NULL;
	hy_ports_stop(NULL, NULL);
	hy_hal_destroy(hal);
	for (unsigned int i = 0; i < PORTS; i++) {
		char name[24];

		snprintf(name, sizeof(name), "net_ring_br%u", i);
		rte_vdev_uninit(name);
		rte_ring_free(in[i]);
		rte_ring_free(out[i]);
	}
	assert_int_equal(rte_mempool_avail_count(pool), 255);
	rte_mempool_free(pool);
	return bridge_done(); /* DPDK keeps memory of the first port for ever */
}

/* Sends a frame to a port, from a station to another one, and walks. tag: 0: none. */
static void
receive(unsigned int number, uint8_t from, uint8_t to, uint16_t tag)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	uint8_t *frame;

	assert_non_null(m);
	m->data_len = LEN;
	m->pkt_len = LEN;
	frame = rte_pktmbuf_mtod(m, uint8_t *);
	memset(frame, 0, LEN);
	frame[0] = frame[6] = 0x02;
	frame[5] = to;
	frame[11] = from;
	if (tag != 0) {
		frame[12] = 0x81;
		frame[14] = (uint8_t)(tag >> 8);
		frame[15] = (uint8_t)tag;
	}
	m->port = ids[number];
	assert_int_equal(rte_ring_enqueue(in[number], m), 0);
	hy_graph_walk(graph);
	hy_graph_rest(graph);
}

/* Takes what a port has sent. Returns its VLAN, 0 without a tag; or -1: nothing. */
static int
sent(unsigned int number)
{
	struct rte_mbuf *m;
	const uint8_t *frame;
	int vid = 0;

	if (rte_ring_dequeue(out[number], (void **)&m) < 0)
		return -1;
	frame = rte_pktmbuf_mtod(m, const uint8_t *);
	if (frame[12] == 0x81 && frame[13] == 0)
		vid = (frame[14] & 15) << 8 | frame[15];
	rte_pktmbuf_free(m);
	assert_int_equal(rte_ring_count(out[number]), 0);
	return vid;
}

/* What all ports have sent. */
static void
assert_sent(int first, int second, int third)
{
	assert_int_equal(sent(0), first);
	assert_int_equal(sent(1), second);
	assert_int_equal(sent(2), third);
}

static void
frames_flood_until_their_destination_is_learned(void **state)
{
	char text[256];

	RTE_SET_USED(state);
	file_make(text, "static 02:00:00:00:00:09 vlan 10 local\n");
	graph_make(file_write(text), false);
	receive(0, 1, 2, 0);
	assert_sent(-1, 10, 0);
	hy_bridge_poll(bridge, 1);
	assert_int_equal(port_of(hy_l2_key((const uint8_t[]){ 2, 0, 0, 0, 0, 1 }, 10)), 0);
	receive(1, 2, 1, 10);
	assert_sent(0, -1, -1);
	hy_bridge_poll(bridge, 1);
	receive(0, 1, 2, 0);
	assert_sent(-1, 10, -1);
	receive(2, 3, 7, 20);
	assert_sent(-1, 20, -1);
	receive(0, 1, 9, 0); /* to the router itself, which is no node here */
	assert_sent(-1, -1, -1);
	hy_bridge_poll(bridge, 1);
	assert_int_equal(bridge_counts(bridge).flooded, 2);
	assert_int_equal(bridge_port_counts(bridge, 2).flooded, 1);
	assert_int_equal(bridge_counts(bridge).learned, 3);
}

static void
ports_change_while_the_graph_runs(void **state)
{
	struct hy_reload_part part;
	char text[256];

	RTE_SET_USED(state);
	file_make(text, "");
	graph_make(file_write(text), true);
	assert_int_equal(hy_bridge_state(bridge, ids[1], HY_L2_BLOCKING), 0);
	receive(0, 1, 2, 0);
	assert_sent(-1, -1, 0);
	receive(1, 2, 1, 10);
	assert_sent(-1, -1, -1);
	assert_int_equal(hy_bridge_state(bridge, ids[1], HY_L2_FORWARDING), 0);
	snprintf(text, sizeof(text), "port %u access 20\nport %u trunk 10,20\nport %u trunk 20\n",
		ids[0], ids[1], ids[2]);
	file_write(text);
	part = hy_bridge_part(bridge);
	assert_int_equal(part.read(part.arg, part.path, error), 0);
	assert_int_equal(part.apply(part.arg, error), 0);
	part.end(part.arg);
	receive(0, 1, 2, 0);
	assert_sent(-1, 20, 20);
}

/* Polls until the link was seen. */
static void
links_poll(uint16_t port, bool up)
{
	const uint64_t end = rte_get_timer_cycles() + LINK_S * rte_get_timer_hz();
	struct hy_port_status status;
	char why[HY_HAL_ERROR_SIZE];

	do {
		assert_int_equal(hy_ports_poll(&graph, 1, NULL, why), 0);
		hy_port_status_read(port, &status);
		rte_delay_us_sleep(1000);
	} while ((!status.link_known || status.link_up != up) && rte_get_timer_cycles() < end);
	assert_int_equal(status.link_up, up);
	hy_bridge_poll(bridge, 1);
}

static void
what_was_learned_from_a_port_goes_with_its_link(void **state)
{
	char text[256], fixed[64];

	RTE_SET_USED(state);
	snprintf(fixed, sizeof(fixed), "static 02:00:00:00:00:09 vlan 10 port %u\n", ids[0]);
	file_make(text, fixed);
	graph_make(file_write(text), false);
	links_poll(ids[0], true);
	find(0, key_of(1, 10), 0);
	find(0, key_of(2, 10), 1);
	find(0, key_of(3, 20), 2);
	hy_bridge_poll(bridge, 1);
	assert_int_equal(bridge_counts(bridge).entries, 4);
	assert_int_equal(rte_eth_dev_set_link_down(ids[0]), 0);
	links_poll(ids[0], false);
	assert_int_equal(port_of(key_of(1, 10)), HY_L2_MISS);
	assert_int_equal(port_of(key_of(2, 10)), 1);
	assert_int_equal(port_of(key_of(9, 10)), 0); /* static */
	assert_int_equal(bridge_counts(bridge).entries, 3);
	/* Once only: what comes while the link comes back stays. */
	find(0, key_of(1, 10), 0);
	hy_bridge_poll(bridge, 1);
	hy_bridge_poll(bridge, 1);
	assert_int_equal(port_of(key_of(1, 10)), 0);
	assert_int_equal(rte_eth_dev_set_link_up(ids[0]), 0);
	links_poll(ids[0], true);
	assert_int_equal(port_of(key_of(1, 10)), 0);
	assert_int_equal(rte_eth_dev_set_link_down(ids[0]), 0);
	links_poll(ids[0], false);
	assert_int_equal(port_of(key_of(1, 10)), HY_L2_MISS);
}

/* A port that was removed neither forwards nor learns, and nothing is flooded to it. */
static void
port_that_was_removed_is_blocked(void **state)
{
	char text[256], why[HY_HAL_ERROR_SIZE];

	RTE_SET_USED(state);
	file_make(text, "");
	graph_make(file_write(text), false);
	find(0, key_of(1, 10), 1);
	find(0, key_of(2, 10), 2);
	hy_bridge_poll(bridge, 1);
	assert_int_equal(rte_vdev_uninit("net_ring_br1"), 0);
	for (unsigned int i = 0; i < 2000 && hy_hal_port_state(hal, ids[1]) != HY_PORT_GONE; i++) {
		hy_ports_poll(&graph, 1, NULL, why);
		hy_graph_walk(graph);
		hy_graph_rest(graph);
		rte_delay_us_sleep(1000);
	}
	assert_int_equal(hy_hal_port_state(hal, ids[1]), HY_PORT_GONE);
	hy_bridge_poll(bridge, 1);
	assert_int_equal(setup_now()->port[1].state, HY_L2_BLOCKING);
	assert_int_equal(setup_now()->forwarding, 5);
	assert_int_equal(setup_now()->reach[0], 4);
	assert_int_equal(port_of(key_of(1, 10)), HY_L2_MISS);
	assert_int_equal(port_of(key_of(2, 10)), 2);
	/* A command does not bring it back. */
	assert_int_equal(hy_bridge_state(bridge, ids[1], HY_L2_FORWARDING), 0);
	assert_int_equal(setup_now()->forwarding, 5);
	receive(0, 3, 4, 0);
	assert_sent(-1, -1, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static const struct CMUnitTest tests[] = {
	TEST(frames_flood_until_their_destination_is_learned),
	TEST(ports_change_while_the_graph_runs),
	TEST(what_was_learned_from_a_port_goes_with_its_link),
	TEST(port_that_was_removed_is_blocked),
};
UNIT_SUITE(tests)
