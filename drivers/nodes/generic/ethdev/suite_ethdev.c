/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Conformance of ethdev_rx and ethdev_tx: a port of DPDK's net_ring, whose only ring is both its
 * receive and its transmit queue.
 */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <rte_dev.h>
#include <rte_errno.h>
#include <rte_ethdev.h>
#include <rte_malloc.h>
#include <rte_ring.h>

#include <hy_conform.h>
#include <hy_ethdev.h>

#define TX_ROOM 96 /* less than the longest burst, so that packets drop */

struct loop {
	char name[16];
	uint16_t port;
	struct rte_ring *ring;
	const struct rte_eth_rxtx_callback *forget; /* of what the driver says of the port */
	unsigned int stuffing;                      /* entries that only take up room */
};

/* Newer drivers write the port to packets, and each side has its own: only what variants do counts. */
static uint16_t
forget_port(uint16_t port __rte_unused, uint16_t queue __rte_unused, struct rte_mbuf *packets[],
	uint16_t n, uint16_t max __rte_unused, void *arg __rte_unused)
{
	for (uint16_t i = 0; i < n; i++)
		packets[i]->port = 0;
	return n;
}

/* Sets up all queues and uses one: the driver frees the rings of configured queues only. */
static int
port_start(struct loop *loop, struct rte_mempool *pool)
{
	const struct rte_eth_conf conf = { 0 };
	struct rte_eth_dev_info info;
	int rc = rte_eth_dev_info_get(loop->port, &info);

	if (rc == 0)
		rc = rte_eth_dev_configure(loop->port, info.max_rx_queues, info.max_tx_queues,
			&conf);
	for (uint16_t q = 0; rc == 0 && q < info.max_rx_queues; q++)
		rc = rte_eth_rx_queue_setup(loop->port, q, HY_BURST_MAX, 0, NULL, pool);
	for (uint16_t q = 0; rc == 0 && q < info.max_tx_queues; q++)
		rc = rte_eth_tx_queue_setup(loop->port, q, HY_BURST_MAX, 0, NULL);
	if (rc < 0)
		return rc;
	loop->forget = rte_eth_add_rx_callback(loop->port, 0, forget_port, NULL);
	return loop->forget == NULL ? -rte_errno : rte_eth_dev_start(loop->port);
}

static void
teardown(void *state)
{
	struct loop *loop = state;

	if (loop->ring != NULL)
		rte_ring_reset(loop->ring); /* whoever made its packets frees them */
	rte_eth_dev_stop(loop->port);
	if (loop->forget != NULL && rte_eth_remove_rx_callback(loop->port, 0, loop->forget) == 0)
		rte_free((void *)(uintptr_t)loop->forget); /* no other thread receives here */
	rte_eal_hotplug_remove("vdev", loop->name);
	free(loop);
}

static int
loop_open(const struct hy_suite_side *side, void **state)
{
	struct loop *loop = calloc(1, sizeof(*loop));
	char ring[RTE_RING_NAMESIZE];
	int rc;

	if (loop == NULL)
		return -ENOMEM;
	snprintf(loop->name, sizeof(loop->name), "net_ring_%s", side->name);
	snprintf(ring, sizeof(ring), "ETH_RXTX0_%s", loop->name); /* as the driver names it */
	rc = rte_eal_hotplug_add("vdev", loop->name, "");
	if (rc < 0) {
		free(loop);
		return rc;
	}
	loop->ring = rte_ring_lookup(ring);
	rc = rte_eth_dev_get_port_by_name(loop->name, &loop->port);
	if (rc == 0)
		rc = loop->ring == NULL ? -ENOTSUP : port_start(loop, side->pool);
	if (rc < 0)
		teardown(loop);
	*state = loop;
	return rc;
}

static int
rx_configure(void *state, hy_node_id id)
{
	const struct loop *loop = state;
	const struct hy_ethdev_rx_config config = { .port = loop->port, .queue = 0 };

	return hy_node_config(id, &config, sizeof(config));
}

static int
rx_feed(void *state, struct rte_mbuf **packets, uint16_t n)
{
	const struct loop *loop = state;

	return rte_ring_enqueue_bulk(loop->ring, (void **)packets, n, NULL) == n ? 0 : -ENOBUFS;
}

HY_SUITE(ethdev_rx, .setup = loop_open, .teardown = teardown, .configure = rx_configure,
	.feed = rx_feed);

/* Fills the ring with entries that are no packets, except for TX_ROOM. */
static void
tx_stuff(struct loop *loop)
{
	void *const nobody = loop;

	while (rte_ring_free_count(loop->ring) > TX_ROOM)
		loop->stuffing += rte_ring_enqueue(loop->ring, nobody) == 0;
}

static int
tx_setup(const struct hy_suite_side *side, void **state)
{
	const int rc = loop_open(side, state);

	if (rc == 0)
		tx_stuff(*state);
	return rc;
}

static int
tx_configure(void *state, hy_node_id id)
{
	const struct loop *loop = state;
	const struct hy_ethdev_tx_config config = { .port = loop->port, .nb_queues = 1 };

	return hy_node_config(id, &config, sizeof(config));
}

static uint16_t
tx_take(void *state, struct rte_mbuf **packets, uint16_t n)
{
	struct loop *loop = state;
	void *nobody;

	for (; loop->stuffing > 0; loop->stuffing--)
		rte_ring_dequeue(loop->ring, &nobody);
	n = (uint16_t)rte_ring_dequeue_burst(loop->ring, (void **)packets, n, NULL);
	if (n == 0)
		tx_stuff(loop);
	return n;
}

HY_SUITE(ethdev_tx, .setup = tx_setup, .teardown = teardown, .configure = tx_configure,
	.take = tx_take,
	.excused = { { "drop port_down", "only the variant for stopped ports drops so" } });
