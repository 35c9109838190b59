/* SPDX-License-Identifier: BSD-3-Clause */
/* The wait of hy_mbuf_ops: on interfaces of the kernel (net_tap), and ports that cannot wake. */

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <rte_bus_vdev.h>
#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_ethdev.h>

#include <hy_ethdev.h>
#include <hy_idle.h>
#include <hy_mbuf.h>

#include "node_fixture.h"

#define LONG_US 5000000 /* a wait that nobody sits out */

static uint16_t taps[2];
static unsigned int nb_taps;
static struct hy_graph *graph;
static hy_node_id clones[3];
static unsigned int nb_clones;

static void
tap_iface(unsigned int n, char name[IFNAMSIZ])
{
	snprintf(name, IFNAMSIZ, "hyw%u-%u", n, (unsigned int)getpid());
}

static void
tap_vdev(unsigned int n, char name[RTE_ETH_NAME_MAX_LEN])
{
	snprintf(name, RTE_ETH_NAME_MAX_LEN, "net_tap%u", n);
}

/* Opens ports on two interfaces of the kernel; skips the test where that is not possible. */
static void
taps_open(uint16_t rxq)
{
	const struct rte_eth_conf conf = { .intr_conf.rxq = rxq };

	if (geteuid() != 0 || access("/dev/net/tun", R_OK | W_OK) != 0) {
		print_message("# skipped: net_tap needs root and /dev/net/tun\n");
		skip();
	}
	while (nb_taps < RTE_DIM(taps)) {
		char vdev[RTE_ETH_NAME_MAX_LEN], iface[IFNAMSIZ], args[64];
		uint16_t *id = &taps[nb_taps];

		tap_vdev(nb_taps, vdev);
		tap_iface(nb_taps, iface);
		snprintf(args, sizeof(args), "iface=%s", iface);
		assert_int_equal(rte_eal_hotplug_add("vdev", vdev, args), 0);
		nb_taps++;
		assert_int_equal(rte_eth_dev_get_port_by_name(vdev, id), 0);
		assert_int_equal(rte_eth_dev_configure(*id, 1, 1, &conf), 0);
		assert_int_equal(rte_eth_rx_queue_setup(*id, 0, 64, 0, NULL, pool), 0);
		assert_int_equal(rte_eth_tx_queue_setup(*id, 0, 64, 0, NULL), 0);
		assert_int_equal(rte_eth_dev_start(*id), 0);
		/* Since 26.07 the driver wakes for frames to any address and drops those to others'. */
		assert_int_equal(rte_eth_promiscuous_enable(*id), 0);
	}
}

static void
taps_close(void)
{
	while (nb_taps > 0) {
		char vdev[RTE_ETH_NAME_MAX_LEN];

		tap_vdev(--nb_taps, vdev);
		rte_eth_dev_stop(taps[nb_taps]);
		rte_vdev_uninit(vdev);
	}
}

static void
clear(void)
{
	hy_graph_destroy(graph);
	graph = NULL;
	while (nb_clones > 0)
		hy_node_unregister(clones[--nb_clones]);
}

/* Makes the graph: it receives on ports, and drops. */
static void
sink_graph(const uint16_t *ports, unsigned int n)
{
	static const char *const patterns[] = { "ethdev_rx-*" };
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 1,
		.ops = &hy_mbuf_ops,
		.drop_node = "pkt_drop",
		.socket = SOCKET_ID_ANY };
	hy_node_id base;

	clear();
	assert_int_equal(hy_node_lookup("ethdev_rx", &base), 0);
	for (unsigned int i = 0; i < n; i++) {
		const struct hy_ethdev_rx_config rx = { .port = ports[i] };
		char suffix[8];

		snprintf(suffix, sizeof(suffix), "%u", i);
		assert_int_equal(hy_node_clone(base, suffix, &clones[nb_clones]), 0);
		nb_clones++;
		assert_int_equal(hy_node_edge_set(clones[i], 0, "pkt_drop"), 0);
		assert_int_equal(hy_node_config(clones[i], &rx, sizeof(rx)), 0);
	}
	if (hy_graph_create("sink", &params, &graph) != 0)
		fail_msg("the graph is refused: %s", unit_log());
}

/* Sends frames into a port, as the kernel would. */
static void
tap_send(unsigned int n, unsigned int frames)
{
	const int fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL));
	struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_halen = ETH_ALEN };
	char iface[IFNAMSIZ];
	uint8_t frame[FRAME_MAX];
	const uint32_t len = FRAME(frame, .payload = 30);

	tap_iface(n, iface);
	to.sll_ifindex = (int)if_nametoindex(iface);
	assert_true(fd >= 0 && to.sll_ifindex > 0);
	for (unsigned int i = 0; i < frames; i++)
		assert_int_equal(sendto(fd, frame, len, 0, (struct sockaddr *)&to, sizeof(to)),
			len);
	close(fd);
}

/* Walks until the kernel's own packets, which an interface begins with, are through. */
static void
settle(void)
{
	const uint64_t hz = rte_get_tsc_hz();
	uint64_t last = rte_rdtsc();

	while (rte_rdtsc() - last < hz / 5)
		if (hy_graph_walk(graph) > 0)
			last = rte_rdtsc();
}

/* Sleeps once; returns whether it was woken, and the time it took. */
static bool
sleep_once(unsigned int usec, uint64_t *us)
{
	const uint64_t start = rte_rdtsc();
	const int rc = hy_mbuf_ops.wait(graph, usec);

	*us = (rte_rdtsc() - start) * 1000000 / rte_get_tsc_hz();
	assert_in_range(rc, 0, 1);
	return rc == 1;
}

/* Walks until so many objects came, for a few seconds at most: the driver's signal may be late. */
static uint64_t
walk_for(uint64_t want)
{
	const uint64_t start = rte_rdtsc();
	uint64_t made = 0;

	while (made < want && rte_rdtsc() - start < 5 * rte_get_tsc_hz())
		made += hy_graph_walk(graph);
	return made;
}

static void
ports_without_interrupts_wake_nobody(void **state)
{
	struct port *ring = port_open(1, 1, 16);
	RTE_SET_USED(state);
	unit_log_clear();
	sink_graph(&ring->id, 1);
	assert_int_equal(hy_mbuf_ops.arm(graph, true), -ENOTSUP);
	assert_string_equal(unit_log(), "");
}

static void
an_interface_that_was_not_asked_to_interrupt_wakes_nobody(void **state)
{
	RTE_SET_USED(state);
	taps_open(0);
	unit_log_clear();
	sink_graph(taps, 2);
	assert_int_equal(hy_mbuf_ops.arm(graph, true), -ENOTSUP);
	assert_string_equal(unit_log(), "");
}

static void
a_packet_on_any_queue_ends_the_wait(void **state)
{
	uint64_t us;

	RTE_SET_USED(state);
	taps_open(1);
	sink_graph(taps, 2);
	settle();
	for (unsigned int round = 0; round < 6; round++) {
		assert_int_equal(hy_mbuf_ops.arm(graph, true), 0);
		tap_send(round % 2, 1 + round);
		assert_true(sleep_once(LONG_US, &us));
		assert_true(us < LONG_US);
		assert_int_equal(hy_mbuf_ops.arm(graph, false), 0);
		assert_in_range(walk_for(1 + round), 1 + round, 1 + round + 20);
	}
}

/* What is there when a queue is armed must wake: a driver may show it to the walk only later. */
static void
a_packet_that_came_before_arming_ends_the_wait(void **state)
{
	uint64_t us;

	RTE_SET_USED(state);
	taps_open(1);
	sink_graph(taps, 2);
	settle();
	for (unsigned int round = 0; round < 4; round++) {
		tap_send(round % 2, 1);
		for (unsigned int again = 0; again < 3; again++) {
			assert_int_equal(hy_mbuf_ops.arm(graph, true), 0);
			assert_true(sleep_once(LONG_US, &us));
			assert_true(us < LONG_US);
			assert_int_equal(hy_mbuf_ops.arm(graph, false), 0);
		}
		assert_in_range(walk_for(1), 1, 20);
	}
}

static void
a_wait_without_packets_ends_when_time_is_up(void **state)
{
	unsigned int in_time = 0;
	uint64_t us;

	RTE_SET_USED(state);
	taps_open(1);
	sink_graph(taps, 2);
	settle();
	for (unsigned int round = 0; round < 20; round++) {
		assert_int_equal(hy_mbuf_ops.arm(graph, true), 0);
		/* The kernel may speak up at any time; it has long silences. */
		if (!sleep_once(20001, &us)) {
			assert_in_range(us, 20000, LONG_US);
			in_time++;
		}
		assert_int_equal(hy_mbuf_ops.arm(graph, false), 0);
		hy_graph_walk(graph);
	}
	assert_in_range(in_time, 10, 20);
}

/* All or none: a queue that cannot wake leaves none of the others armed. */
static void
one_queue_that_cannot_wake_keeps_all_from_being_armed(void **state)
{
	struct port *ring = port_open(1, 1, 16);
	uint16_t ports[3];

	RTE_SET_USED(state);
	taps_open(1);
	ports[0] = taps[0];
	ports[1] = ring->id;
	ports[2] = taps[1];
	sink_graph(ports, 3);
	assert_int_equal(hy_mbuf_ops.arm(graph, true), -ENOTSUP);
	sink_graph(taps, 2);
	unit_log_clear();
	assert_int_equal(hy_mbuf_ops.arm(graph, true), 0);
	/* Armed twice is refused by EAL, in the log: a queue that was left armed would show. */
	assert_string_equal(unit_log(), "");
	assert_int_equal(hy_mbuf_ops.arm(graph, false), 0);
	assert_string_equal(unit_log(), "");
}

static int
wait_teardown(void **state)
{
	clear();
	taps_close();
	return node_teardown(state);
}
#define WAIT_TEST(f) cmocka_unit_test_setup_teardown(f, node_setup, wait_teardown)

static const struct CMUnitTest node_wait_tests[] = {
	WAIT_TEST(ports_without_interrupts_wake_nobody),
	WAIT_TEST(an_interface_that_was_not_asked_to_interrupt_wakes_nobody),
	WAIT_TEST(a_packet_on_any_queue_ends_the_wait),
	WAIT_TEST(a_packet_that_came_before_arming_ends_the_wait),
	WAIT_TEST(a_wait_without_packets_ends_when_time_is_up),
	WAIT_TEST(one_queue_that_cannot_wake_keeps_all_from_being_armed),
};

UNIT_SUITE(node_wait_tests)
