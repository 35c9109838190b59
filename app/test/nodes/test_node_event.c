/* SPDX-License-Identifier: BSD-3-Clause */
/* Feeds of DPDK's event_sw, and event_rx behind them: what is refused, and where packets go. */

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_eventdev.h>
#include <rte_malloc.h>

#include <hy_event.h>
#include <hy_hal_live.h>
#include <hy_mbuf.h>

#include "node_fixture.h"

#define DEVICE "event_sw_test"

static uint8_t device;
static char reason[HY_REASON_SIZE];
static struct rte_mbuf *packets[KEEP_MAX];
static struct hy_graph *graphs[2]; /* by worker */

/* Parameters of a feed by queue 0 of a port. The queue is kept here. */
static struct hy_event_params
params_of(const struct port *port, uint16_t nb_workers)
{
	static struct hy_ethdev_rx_config queue;

	queue = (struct hy_ethdev_rx_config){ .port = port->id };
	return (struct hy_event_params){ .device = device,
		.sched_type = RTE_SCHED_TYPE_ATOMIC,
		.nb_workers = nb_workers,
		.queues = &queue,
		.nb_queues = 1,
		.socket = SOCKET_ID_ANY };
}

static void
feed_make(const struct port *port, uint16_t nb_workers)
{
	const struct hy_event_params params = params_of(port, nb_workers);

	if (hy_event_create(&params, reason, sizeof(reason)) != 0 ||
		hy_event_attach(device, HY_EVENT_SINGLE, reason, sizeof(reason)) != 0)
		fail_msg("%s", reason);
}

static int
event_teardown(void **state)
{
	for (unsigned int w = 0; w < RTE_DIM(graphs); w++) {
		hy_graph_destroy(graphs[w]);
		graphs[w] = NULL;
	}
	hy_event_destroy(device);
	return node_teardown(state);
}

/* DPDK keeps some memory for ever of its first event device and adapter: not ours to count. */
static int
event_setup(void **state)
{
	static bool made;

	if (made)
		return node_setup(state);
	made = true;
	if (node_setup(state) != 0 || rte_eal_hotplug_add("vdev", DEVICE, "") != 0)
		return -1;
	device = (uint8_t)rte_event_dev_get_dev_id(DEVICE);
	feed_make(port_open(1, 1, 16), 1);
	hy_event_destroy(device);
	ports_close();
	return node_setup(state);
}

/* Puts n packets into a port, of one flow each, as the port's. */
static void
feed(struct port *port, unsigned int n)
{
	uint8_t frame[FRAME_MAX];

	for (unsigned int i = 0; i < n; i++) {
		const uint32_t len = FRAME(frame, .dst = IP4(198, 18, 0, i), .id = (uint16_t)i);

		packets[i] = packet(frame, len);
		packets[i]->port = port->id;
	}
	port_feed(port, 0, packets, n);
}

/* Configures "event_rx-rig", which leads packets of a port to "rig_out-0". */
static void
node_make(uint16_t port)
{
	struct hy_event_rx_config config = { .device = device };
	hy_node_id id;

	for (unsigned int p = 0; p < RTE_MAX_ETHPORTS; p++)
		config.edge[p] = p == port ? 0 : HY_EVENT_NO_EDGE;
	rig_nodes("rig_out-1");
	id = rig_clone("event_rx", "single", NULL);
	assert_int_equal(hy_node_edge_add(id, "rig_out-0", NULL), 0);
	assert_int_equal(hy_node_config(id, &config, sizeof(config)), 0);
}

static int
graph_try(uint16_t worker, uint16_t burst)
{
	static const char *const patterns[] = { "event_rx-rig" };
	const struct hy_graph_params params = { .patterns = patterns,
		.nb_patterns = 1,
		.ops = &hy_mbuf_ops,
		.drop_node = "rig_out-2",
		.lanes = { rig_lane },
		.burst = burst,
		.worker = worker,
		.socket = SOCKET_ID_ANY };

	unit_log_clear();
	return hy_graph_create(worker == 0 ? "first" : "second", &params, &graphs[worker > 0]);
}

static struct hy_graph *
graph_make(uint16_t worker, uint16_t burst)
{
	if (graph_try(worker, burst) != 0)
		fail_msg("%s", unit_log());
	return graphs[worker];
}

/* Every fifth packet that comes, as another port's or nobody's. Drivers say that it is theirs. */
static uint16_t
every_fifth_is_anothers(uint16_t port __rte_unused, uint16_t queue __rte_unused,
	struct rte_mbuf **pkts, uint16_t n, uint16_t room __rte_unused, void *arg)
{
	static unsigned int seen;
	const struct port *other = arg;

	for (uint16_t i = 0; i < n; i++, seen++)
		if (seen % 5 == 0)
			pkts[i]->port = seen % 2 == 0 ? other->id : RTE_MBUF_PORT_INVALID;
	return n;
}

static void
packets_come_in_order_and_each_to_its_port(void **state)
{
	static const uint16_t bursts[] = { 1, 7, 64, 256 };
	struct port *port = port_open(1, 1, 16), *other = port_open(1, 1, 16);
	const struct rte_eth_rxtx_callback *callback = rte_eth_add_rx_callback(port->id, 0,
		every_fifth_is_anothers, other);

	RTE_SET_USED(state);
	assert_non_null(callback);
	feed_make(port, 1);
	node_make(port->id);
	for (size_t b = 0; b < RTE_DIM(bursts); b++) {
		struct hy_graph *graph = graph_make(0, bursts[b]);
		const unsigned int n = 700;

		feed(port, n);
		while (hy_graph_walk(graph) > 0)
			;
		assert_int_equal(out[RIG_DROP].n, n / 5);
		assert_int_equal(dropped("first", "event_rx-rig", "port_unknown"), n / 5);
		assert_int_equal(out[0].n, n - n / 5);
		for (unsigned int i = 0, kept = 0; i < n; i++)
			assert_ptr_equal(packets[i],
				i % 5 == 0 ? out[RIG_DROP].packets[i / 5] : out[0].packets[kept++]);
		rig_free();
		hy_graph_destroy(graph);
		graphs[0] = NULL;
	}
	assert_int_equal(rte_eth_remove_rx_callback(port->id, 0, callback), 0);
	rte_free((void *)(uintptr_t)callback); /* DPDK keeps it */
}

/* The walks of one worker fill their bursts, although a device in software brings less at a time. */
static void
one_worker_gathers_whole_bursts(void **state)
{
	struct port *port = port_open(1, 1, 16);
	struct hy_graph *graph;

	RTE_SET_USED(state);
	feed_make(port, 1);
	node_make(port->id);
	graph = graph_make(0, 256);
	feed(port, 512);
	for (unsigned int left = 512; left > 0; left -= 256)
		assert_int_equal(hy_graph_walk(graph), 256);
	rig_free();
}

/* Packets of one flow, taken by one worker: the other gets none before that one takes again. */
static void
flow_stays_with_its_worker_until_that_takes_again(void **state)
{
	struct port *port = port_open(1, 1, 16);
	uint8_t frame[FRAME_MAX];

	RTE_SET_USED(state);
	feed_make(port, 2);
	node_make(port->id);
	graph_make(0, 64);
	graph_make(1, 64);
	for (unsigned int round = 0; round < 200; round++) {
		const uint32_t len = FRAME(frame, .dst = IP4(198, 18, 0, 1));
		unsigned int holder = 0;

		for (unsigned int i = 0; i < 2; i++) {
			struct rte_mbuf *m = packet(frame, len);

			m->port = port->id;
			port_feed(port, 0, &m, 1);
			while (i == 0 && hy_graph_walk(graphs[holder]) == 0)
				holder ^= 1;
		}
		for (unsigned int i = 0; i < 10; i++)
			assert_int_equal(hy_graph_walk(graphs[!holder]), 0);
		assert_int_equal(out[0].n, 1);
		while (out[0].n == 1)
			hy_graph_walk(graphs[holder]);
		rig_free();
		hy_graph_walk(graphs[holder]); /* gives it up */
	}
}

/* What is no received packet is none of ours: counted, and otherwise left alone. */
static void
foreign_events_are_counted_and_passed_over(void **state)
{
	const struct rte_event event = { .op = RTE_EVENT_OP_NEW,
		.event_type = RTE_EVENT_TYPE_CPU,
		.sched_type = RTE_SCHED_TYPE_ATOMIC,
		.u64 = 0x12345 };
	struct hy_event_params params = params_of(port_open(1, 1, 16), 1);
	struct hy_node *node;
	struct hy_graph *graph;

	RTE_SET_USED(state);
	params.nb_queues = 0; /* the port behind the worker's is ours */
	assert_int_equal(hy_event_create(&params, reason, sizeof(reason)), 0);
	assert_int_equal(hy_event_attach(device, HY_EVENT_SINGLE, reason, sizeof(reason)), 0);
	node_make(0);
	graph = graph_make(0, 64);
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(rte_event_enqueue_new_burst(device, 1, &event, 1), 1);
	assert_int_equal(hy_graph_walk(graph), 0);
	assert_int_equal(hy_graph_node(graph, "event_rx-rig", &node), 0);
	assert_int_equal(node->edges[HY_COUNTER_SLOT(0)].objs, 5);
	assert_int_equal(node->objs, 0);
}

static void
destroying_frees_what_no_worker_took(void **state)
{
	struct port *port = port_open(1, 1, 16);
	struct hy_graph *graph;

	RTE_SET_USED(state);
	feed_make(port, 2);
	node_make(port->id);
	graph = graph_make(0, 1);
	feed(port, 600);
	assert_int_equal(hy_graph_walk(graph), 1); /* brings more into the device than it takes */
	assert_int_equal(out[0].n, 1);
	rig_free();
	hy_graph_destroy(graph);
	graphs[0] = NULL;
	/* All that came is in the device, in the adapter, or freed there, as none was to come. */
	assert_int_equal(hy_event_destroy(device), 599 - rte_ring_count(port->rx[0]));
	assert_null(hy_event_of(device));
	assert_int_equal(hy_event_destroy(device), 0);
	port_drain(port, 0);
}

static void
refused(const struct hy_event_params *params, int rc, const char *words)
{
	assert_int_equal(hy_event_create(params, reason, sizeof(reason)), rc);
	if (strstr(reason, words) == NULL)
		fail_msg("'%s' is not in '%s'", words, reason);
	if (rc != -EEXIST)
		assert_null(hy_event_of(params->device));
}

#define REFUSED(rc, words, field) \
	do { \
		struct hy_event_params changed = good; \
		changed.field; \
		refused(&changed, rc, words); \
	} while (0)

static void
feed_that_cannot_be_is_refused_in_words(void **state)
{
	const struct port *port = port_open(1, 1, 16);
	const struct hy_event_params good = params_of(port, 1);
	const struct hy_ethdev_rx_config twice[] = { { port->id, 0 }, { port->id, 0 } };
	const struct hy_ethdev_rx_config beyond = { port->id, 3 }, nowhere = { 31, 0 };

	RTE_SET_USED(state);
	REFUSED(-ENODEV, "there is no event device 9", device = 9);
	REFUSED(-EINVAL, "3 is no schedule type", sched_type = 3);
	REFUSED(-EINVAL, "0 workers; 1 to 254", nb_workers = 0);
	REFUSED(-ENOTSUP, "(event_sw) has 64 event ports; 64 workers and an adapter",
		nb_workers = 64);
	REFUSED(-EINVAL, "receive queues, and no queue 3", queues = &beyond);
	REFUSED(-EINVAL, "there is no port 31", queues = &nowhere);
	REFUSED(-ENOTSUP, "use atomic", sched_type = RTE_SCHED_TYPE_ORDERED);
	refused(&(struct hy_event_params){ .device = device,
			.sched_type = RTE_SCHED_TYPE_ATOMIC,
			.nb_workers = 1,
			.queues = twice,
			.nb_queues = 2 },
		-EINVAL, "queue 0 of port");
	assert_int_equal(hy_event_create(&good, reason, sizeof(reason)), 0);
	refused(&good, -EEXIST, "has a feed already");
	assert_ptr_equal(hy_event_of_port(port->id), hy_event_of(device));
	assert_int_equal(hy_event_of(device)->queues[0].port, port->id);
	assert_null(hy_event_of_port(port->id + 1));
}

static bool links_gone; /* the device's, as of one whose links other ports have */

/* Found before DPDK's own, which it calls. */
int
rte_event_port_link(uint8_t dev, uint8_t port, const uint8_t queues[], const uint8_t priorities[],
	uint16_t n)
{
	int (*link)(uint8_t, uint8_t, const uint8_t *, const uint8_t *, uint16_t);

	*(void **)&link = dlsym(RTLD_NEXT, "rte_event_port_link");
	return links_gone ? 0 : link(dev, port, queues, priorities, n);
}

/* Whatever error another call has left. */
static void
port_that_a_driver_links_no_queue_to_is_refused_though_it_says_no_error(void **state)
{
	static const int left[] = { 0, EINVAL };
	const struct hy_event_params params = params_of(port_open(1, 1, 16), 1);

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(left); i++) {
		links_gone = true;
		rte_errno = left[i];
		refused(&params, -ENOSPC, "its port 0: the device linked no queue to it");
		links_gone = false;
		assert_null(hy_event_of(device));
	}
	assert_int_equal(hy_event_create(&params, reason, sizeof(reason)), 0);
}

static void
feed_without_memory_is_refused_and_leaves_nothing(void **state)
{
	const struct hy_event_params params = params_of(port_open(1, 1, 16), 1);
	unsigned int nth = 0;
	int rc;

	RTE_SET_USED(state);
	do {
		unit_alloc_fail(++nth);
		rc = hy_event_create(&params, reason, sizeof(reason));
		unit_alloc_fail(0);
		assert_true(rc == 0 || rc == -ENOMEM);
		assert_true((hy_event_of(device) != NULL) == (rc == 0));
	} while (rc != 0);
	assert_int_equal(nth, 3); /* the feed, its queues, and none left to fail */
}

static void
attaching_counts_and_keeps_its_form(void **state)
{
	struct port *port = port_open(1, 1, 16);
	struct hy_event_params params = params_of(port, 1);

	RTE_SET_USED(state);
	/* Nothing feeds it: whoever wants the device for himself is not kept from it. */
	assert_int_equal(hy_event_attach(device, HY_EVENT_VECTOR, reason, sizeof(reason)), 0);
	hy_event_detach(device);
	assert_int_equal(hy_event_check(device, reason, sizeof(reason)), -ENODEV);

	assert_int_equal(hy_event_create(&params, reason, sizeof(reason)), 0);
	assert_int_equal(hy_event_attach(device, HY_EVENT_VECTOR, reason, sizeof(reason)),
		-ENOTSUP);
	assert_string_equal(reason, "event vectors were not asked for");
	hy_event_destroy(device);
	params.vector_size = 32;
	params.vector_timeout_ns = 1000;
	assert_int_equal(hy_event_create(&params, reason, sizeof(reason)), 0);
	assert_int_equal(hy_event_attach(device, HY_EVENT_VECTOR, reason, sizeof(reason)),
		-ENOTSUP);
	assert_non_null(strstr(reason,
		"by an adapter in software, whose event vectors are broken"));

	for (unsigned int i = 0; i < 2; i++)
		assert_int_equal(hy_event_attach(device, HY_EVENT_SINGLE, reason, sizeof(reason)),
			0);
	assert_int_equal(hy_event_attach(device, HY_EVENT_VECTOR, reason, sizeof(reason)), -EBUSY);
	assert_non_null(strstr(reason, "is started with single events"));
	assert_int_equal(hy_event_check(device, reason, sizeof(reason)), 0);
	hy_event_detach(device);
	node_make(port->id);
	graph_make(0, 64);
	feed(port, 10);
	assert_int_equal(hy_graph_walk(graphs[0]), 10);
	rig_free();
	hy_graph_destroy(graphs[0]);
	graphs[0] = NULL;
	hy_event_detach(device);
	assert_int_equal(graph_try(0, 64), -EINVAL);
	assert_non_null(strstr(unit_log(), "is not attached"));
	hy_event_detach(device); /* once too often */
	assert_int_equal(hy_event_attach(device, HY_EVENT_SINGLE, reason, sizeof(reason)), 0);
	graph_make(0, 64);
	feed(port, 10);
	assert_int_equal(hy_graph_walk(graphs[0]), 10);
	rig_free();
}

static void
node_that_nothing_feeds_is_refused_in_words(void **state)
{
	const struct hy_event_rx_config config = { .device = device, .edge = { 4 } };
	struct port *port = port_open(1, 1, 16);
	hy_node_id id;

	RTE_SET_USED(state);
	node_make(port->id);
	assert_int_equal(graph_try(0, 64), -EINVAL);
	assert_non_null(strstr(unit_log(), "nothing feeds event device"));
	feed_make(port, 1);
	assert_int_equal(graph_try(1, 64), -EINVAL);
	assert_non_null(strstr(unit_log(), "worker 1 has no event port, there are 1"));
	assert_int_equal(hy_node_lookup("event_rx-rig", &id), 0);
	assert_int_equal(hy_node_config(id, &config, sizeof(config)), 0);
	assert_int_equal(graph_try(0, 64), -EINVAL);
	assert_non_null(strstr(unit_log(), "port 0: no edge 4, there are 1"));
	assert_int_equal(hy_node_config(id, NULL, 0), 0);
	assert_int_equal(graph_try(0, 64), -EINVAL);
	assert_non_null(strstr(unit_log(), "needs a struct hy_event_rx_config"));
}

/* Lets the HAL see to what it was told of ports. */
static void
poll(struct hy_hal *hal)
{
	char error[HY_HAL_ERROR_SIZE];

	int rc;

	while ((rc = hy_hal_poll(hal, graphs, 1, NULL, error)) > 0)
		hy_graph_walk(graphs[0]);
	if (rc < 0)
		fail_msg("%s", error);
}

static void
port_that_is_down_is_not_polled_and_is_when_it_is_up_again(void **state)
{
	struct port *port = port_open(1, 1, 16);
	struct hy_hal *hal;

	RTE_SET_USED(state);
	assert_int_equal(hy_hal_create(&hal), 0);
	feed_make(port, 1);
	assert_int_equal(hy_event_follow(9, hal, false), -ENODEV);
	assert_int_equal(hy_event_follow(device, hal, false), 0);
	assert_int_equal(hy_event_follow(device, hal, false), -EEXIST);
	node_make(port->id);
	graph_make(0, 64);
	for (unsigned int round = 0; round < 3; round++) {
		feed(port, 20);
		assert_int_equal(hy_graph_walk(graphs[0]), 20);
		rig_free();
		assert_int_equal(hy_hal_port_stop(hal, port->id), 0);
		poll(hal);
		assert_int_equal(hy_hal_port_state(hal, port->id), HY_PORT_DOWN);
		feed(port, 30);
		for (unsigned int i = 0; i < 10; i++)
			assert_int_equal(hy_graph_walk(graphs[0]), 0);
		assert_int_equal(rte_ring_count(port->rx[0]), 30);
		assert_int_equal(hy_hal_port_start(hal, port->id), 0);
		poll(hal);
		hy_graph_walk(graphs[0]);
		assert_int_equal(out[0].n, 30);
		rig_free();
	}
	hy_graph_destroy(graphs[0]);
	graphs[0] = NULL;
	assert_int_equal(hy_event_destroy(device), 0);
	hy_hal_destroy(hal);
}

#define EVENT_TEST(f) cmocka_unit_test_setup_teardown(f, event_setup, event_teardown)

static const struct CMUnitTest node_event_tests[] = {
	EVENT_TEST(packets_come_in_order_and_each_to_its_port),
	EVENT_TEST(one_worker_gathers_whole_bursts),
	EVENT_TEST(flow_stays_with_its_worker_until_that_takes_again),
	EVENT_TEST(foreign_events_are_counted_and_passed_over),
	EVENT_TEST(destroying_frees_what_no_worker_took),
	EVENT_TEST(feed_that_cannot_be_is_refused_in_words),
	EVENT_TEST(port_that_a_driver_links_no_queue_to_is_refused_though_it_says_no_error),
	EVENT_TEST(feed_without_memory_is_refused_and_leaves_nothing),
	EVENT_TEST(attaching_counts_and_keeps_its_form),
	EVENT_TEST(node_that_nothing_feeds_is_refused_in_words),
	EVENT_TEST(port_that_is_down_is_not_polled_and_is_when_it_is_up_again),
};

UNIT_SUITE(node_event_tests)
