/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports are reset, and removed, while two workers receive on two of them and send on a third. No
 * worker touches a port while the program has it, and every packet is accounted for.
 */

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>

#include <hy_ethdev.h>
#include <hy_hal_live.h>
#include <hy_mbuf.h>

#include "app/test/hal/port_event.h"
#include "node_fixture.h"

#define WORKERS 2
#define OUT WORKERS /* index of the port that both send on */
#define PORTS (WORKERS + 1)
#define RESETS 100
#define RESETS_MOST 1000
#define IN_FLIGHT 512 /* packets in a receive ring, at most */

static struct {
	struct hy_hal *hal;
	struct port *ports[PORTS];
	struct hy_graph *graphs[WORKERS];
	atomic_bool stop, stop_feeding;
	atomic_bool closed[PORTS]; /* the program has the port */
	atomic_uint touched;       /* times that a worker came to a port that was closed */
	atomic_uint calls;         /* and times that workers came to any */
	unsigned int resets, failures;
	unsigned int fail_every; /* reset of so many */
	bool gone[PORTS];
	const struct rte_eth_rxtx_callback *rx[WORKERS], *tx[WORKERS];
	atomic_ullong fed;
	uint64_t taken; /* the feeder's, and main's when that one has ended */
} t;

/*
 * A worker comes to a port. What rings hand from thread to thread, ThreadSanitizer does not see in
 * drivers; that a burst is received after it was fed, `calls` tells it.
 */
static void
touch(void *arg)
{
	const size_t port = (size_t)arg;

	atomic_fetch_add(&t.calls, 1);
	if (atomic_load(&t.closed[port]))
		atomic_fetch_add(&t.touched, 1);
}

static uint16_t
rx_seen(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n, uint16_t max, void *arg)
{
	RTE_SET_USED(port);
	RTE_SET_USED(queue);
	RTE_SET_USED(pkts);
	RTE_SET_USED(max);
	touch(arg);
	return n;
}

static uint16_t
tx_seen(uint16_t port, uint16_t queue, struct rte_mbuf **pkts, uint16_t n, void *arg)
{
	RTE_SET_USED(port);
	RTE_SET_USED(queue);
	RTE_SET_USED(pkts);
	touch(arg);
	return n;
}

static unsigned int
index_of(uint16_t port)
{
	unsigned int i = 0;

	while (t.ports[i]->id != port)
		assert_true(++i < PORTS);
	return i;
}

/* What a program does: stops, sets up, starts; and looks whether it has the port for itself. */
static int
op_reset(uint16_t port, void *arg)
{
	const unsigned int i = index_of(port);
	const struct rte_eth_conf conf = { 0 };
	const struct port *p = t.ports[i];

	RTE_SET_USED(arg);
	atomic_store(&t.closed[i], true);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	rte_delay_us_block(20);
	assert_int_equal(rte_eth_dev_configure(port, p->nb_rx, p->nb_tx, &conf), 0);
	for (uint16_t q = 0; q < p->nb_rx; q++)
		assert_int_equal(rte_eth_rx_queue_setup(port, q, 64, 0, NULL, pool), 0);
	for (uint16_t q = 0; q < p->nb_tx; q++)
		assert_int_equal(rte_eth_tx_queue_setup(port, q, 64, 0, NULL), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
	if (t.fail_every > 0 && ++t.resets % t.fail_every == 0) {
		t.failures++;
		return -EIO;
	}
	atomic_store(&t.closed[i], false);
	return 0;
}

static void
op_gone(uint16_t port, void *arg)
{
	const unsigned int i = index_of(port);

	RTE_SET_USED(arg);
	atomic_store(&t.closed[i], true);
	rte_delay_us_block(100);
	t.gone[i] = true;
}

static const struct hy_port_ops ops = { .reset = op_reset, .gone = op_gone };

static void *
work(void *arg)
{
	while (!atomic_load_explicit(&t.stop, memory_order_relaxed))
		hy_graph_walk(arg);
	return NULL;
}

/* Takes what went out. */
static unsigned int
take(void)
{
	struct rte_mbuf *packets[64];
	unsigned int n = 0;

	for (uint16_t q = 0; q < WORKERS; q++) {
		const unsigned int got = port_take(t.ports[OUT], q, packets, RTE_DIM(packets));

		rte_pktmbuf_free_bulk(packets, got);
		n += got;
	}
	t.taken += n;
	return n;
}

/* Keeps packets coming in, and takes what goes out, until told and the last one is received. */
static void *
feed(void *arg)
{
	struct rte_mbuf *packets[32];
	bool stop = false;

	RTE_SET_USED(arg);
	while (!stop || rte_ring_count(t.ports[0]->rx[0]) > 0) {
		stop = atomic_load(&t.stop_feeding);
		for (unsigned int w = 0; w < WORKERS && !stop; w++) {
			if (rte_ring_count(t.ports[w]->rx[0]) + 32 > IN_FLIGHT ||
				rte_pktmbuf_alloc_bulk(pool, packets, 32) != 0)
				continue;
			atomic_fetch_add(&t.calls, 0);
			rte_ring_enqueue_bulk(t.ports[w]->rx[0], (void **)packets, 32, NULL);
			atomic_fetch_add(&t.fed, 32);
		}
		if (take() == 0)
			sched_yield();
	}
	return NULL;
}

static hy_node_id
clone_add(const char *family, unsigned int port, const void *config, size_t size)
{
	char name[16];
	hy_node_id id;

	snprintf(name, sizeof(name), "%u", port);
	assert_int_equal(hy_hal_node_clone(t.hal, family, t.ports[port]->id, name, &id), 0);
	assert_int_equal(hy_node_config(id, config, size), 0);
	return id;
}

/* The callbacks that see workers come. DPDK keeps what it allocates for them. */
static void
callbacks_add(void)
{
	for (size_t w = 0; w < WORKERS; w++) {
		t.rx[w] = rte_eth_add_rx_callback(t.ports[w]->id, 0, rx_seen, (void *)w);
		t.tx[w] = rte_eth_add_tx_callback(t.ports[OUT]->id, (uint16_t)w, tx_seen,
			(void *)(size_t)OUT);
		assert_true(t.rx[w] != NULL && t.tx[w] != NULL);
	}
}

static void
callbacks_remove(void)
{
	for (uint16_t w = 0; w < WORKERS; w++) {
		assert_int_equal(rte_eth_remove_rx_callback(t.ports[w]->id, 0, t.rx[w]), 0);
		assert_int_equal(rte_eth_remove_tx_callback(t.ports[OUT]->id, w, t.tx[w]), 0);
		rte_free((void *)(uintptr_t)t.rx[w]);
		rte_free((void *)(uintptr_t)t.tx[w]);
	}
}

static void
rig_make(unsigned int fail_every)
{
	struct hy_ethdev_tx_config tx = { .nb_queues = WORKERS };
	char error[HY_HAL_ERROR_SIZE];

	memset(&t, 0, sizeof(t));
	t.fail_every = fail_every;
	for (unsigned int p = 0; p < PORTS; p++)
		t.ports[p] = port_open(1, p == OUT ? WORKERS : 1, 1024);
	assert_int_equal(hy_hal_create(&t.hal), 0);
	assert_int_equal(hy_hal_select(t.hal, error), 0);
	assert_int_equal(hy_hal_watch(t.hal), 0);
	tx.port = t.ports[OUT]->id;
	clone_add("ethdev_tx", OUT, &tx, sizeof(tx));
	for (unsigned int w = 0; w < WORKERS; w++) {
		const struct hy_ethdev_rx_config rx = { .port = t.ports[w]->id };
		const hy_node_id id = clone_add("ethdev_rx", w, &rx, sizeof(rx));
		char name[16];

		snprintf(name, sizeof(name), "ethdev_tx-%u", OUT);
		assert_int_equal(hy_node_edge_set(id, 0, name), 0);
		snprintf(name, sizeof(name), "ethdev_rx-%u", w);
		assert_int_equal(hy_graph_create(w == 0 ? "life-0" : "life-1",
					 &(const struct hy_graph_params){
						 .patterns = (const char *[]){ name },
						 .nb_patterns = 1,
						 .ops = &hy_mbuf_ops,
						 .drop_node = "pkt_drop",
						 .burst = 32,
						 .worker = (uint16_t)w,
						 .socket = SOCKET_ID_ANY },
					 &t.graphs[w]),
			0);
	}
	callbacks_add();
}

/* Polls as a control thread does, until nothing is left to do; counts errors. */
static unsigned int
poll_out(void)
{
	char error[HY_HAL_ERROR_SIZE] = "";
	unsigned int errors = 0;
	int rc;

	do {
		rc = hy_hal_poll(t.hal, t.graphs, WORKERS, &ops, error);
		errors += rc < 0;
		if (rc < 0)
			assert_non_null(strstr(error, "its reset failed: Input/output error"));
		rte_delay_us_sleep(20);
	} while (rc != 0);
	return errors;
}

static uint64_t
drops(const char *reason)
{
	return dropped("life-0", "ethdev_tx-2", reason) + dropped("life-1", "ethdev_tx-2", reason);
}

/* What passes beside the resets is the scheduler's choice. */
static bool
is_enough(void)
{
	return atomic_load(&t.fed) > 10000 && atomic_load(&t.calls) > 1000 &&
		drops("port_down") > 0;
}

/* All that was fed was taken, dropped for a reason, or is still where no worker goes any more. */
static void
assert_accounted(void)
{
	const uint64_t fed = atomic_load(&t.fed);
	uint64_t left = 0;

	for (unsigned int w = 0; w < WORKERS; w++)
		left += rte_ring_count(t.ports[w]->rx[0]);
	print_message("%ju packets: %ju taken, %ju port_down, %ju tx_full, %ju left; %u resets, "
		      "%u failed; %u calls of bursts\n",
		(uintmax_t)fed, (uintmax_t)t.taken, (uintmax_t)drops("port_down"),
		(uintmax_t)drops("tx_full"), (uintmax_t)left, t.resets, t.failures,
		atomic_load(&t.calls));
	assert_int_equal(fed, t.taken + drops("port_down") + drops("tx_full") + left);
	assert_int_equal(atomic_load(&t.touched), 0);
	assert_true(is_enough());
}

static void
ports_are_reset_and_removed_under_load(void **state)
{
	pthread_t workers[WORKERS], feeder;
	unsigned int failures = 0;
	uint64_t seed = 5, fed;

	RTE_SET_USED(state);
	rig_make(7);
	for (unsigned int w = 0; w < WORKERS; w++)
		assert_int_equal(pthread_create(&workers[w], NULL, work, t.graphs[w]), 0);
	assert_int_equal(pthread_create(&feeder, NULL, feed, NULL), 0);
	for (unsigned int i = 0; i < RESETS || (i < RESETS_MOST && !is_enough()); i++) {
		const unsigned int p = rnd(&seed) % PORTS;
		const uint16_t id = t.ports[p]->id;

		assert_int_equal(port_event_raise(id, RTE_ETH_EVENT_INTR_RESET), 0);
		if (rnd(&seed) % 4 == 0) /* two at once */
			assert_int_equal(port_event_raise(t.ports[(p + 1) % PORTS]->id,
						 RTE_ETH_EVENT_INTR_RESET),
				0);
		failures += poll_out();
		for (unsigned int f = 0; f < PORTS; f++) {
			if (hy_hal_port_state(t.hal, t.ports[f]->id) == HY_PORT_UP)
				continue;
			rte_delay_us_block(50);
			atomic_store(&t.closed[f], false);
			assert_int_equal(hy_hal_port_start(t.hal, t.ports[f]->id), 0);
		}
		assert_int_equal(poll_out(), 0);
		rte_delay_us_block(rnd(&seed) % 200);
	}
	assert_true(t.resets >= RESETS);
	assert_int_equal(failures, t.failures);
	assert_true(t.failures >= RESETS / 7);
	/* One of the two that receive goes for good; the other's packets go on. */
	assert_int_equal(port_event_raise(t.ports[1]->id, RTE_ETH_EVENT_INTR_RMV), 0);
	assert_int_equal(poll_out(), 0);
	assert_true(t.gone[1]);
	assert_int_equal(hy_hal_port_state(t.hal, t.ports[1]->id), HY_PORT_GONE);
	fed = atomic_load(&t.fed);
	while (rte_ring_count(t.ports[1]->rx[0]) == 0 || atomic_load(&t.fed) < fed + 1000)
		rte_delay_us_sleep(100);
	atomic_store(&t.stop_feeding, true);
	pthread_join(feeder, NULL);
	atomic_store(&t.stop, true);
	for (unsigned int w = 0; w < WORKERS; w++)
		pthread_join(workers[w], NULL);
	while (take() > 0)
		continue;
	assert_accounted();
	callbacks_remove();
	/* A worker may sleep over a port that is parked, for as long as it likes. */
	assert_int_equal(hy_mbuf_ops.arm(t.graphs[1], true), 0);
	assert_int_equal(hy_mbuf_ops.arm(t.graphs[1], false), 0);
	assert_int_equal(hy_mbuf_ops.arm(t.graphs[0], true), -ENOTSUP);
	assert_true(rte_ring_count(t.ports[1]->rx[0]) > 0); /* what nobody took any more */
	assert_int_equal(rte_ring_count(t.ports[0]->rx[0]), 0);
}

static int
life_teardown(void **state)
{
	for (unsigned int w = 0; w < WORKERS; w++)
		hy_graph_destroy(t.graphs[w]);
	hy_hal_destroy(t.hal);
	return node_teardown(state);
}

static const struct CMUnitTest node_life_tests[] = {
	cmocka_unit_test_setup_teardown(ports_are_reset_and_removed_under_load, node_setup,
		life_teardown),
};

UNIT_SUITE(node_life_tests)
