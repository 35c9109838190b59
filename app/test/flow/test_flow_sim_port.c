/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulated flow engine behind a port that has none: by receive callbacks. */

#include <errno.h>

#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_ring.h>

#include <hy_flow.h>
#include <hy_flow_sim.h>

#include "sim_fixture.h"

static struct rte_ring *ring;
static uint16_t port;

static void
port_make(void)
{
	const struct rte_eth_conf conf = { 0 };

	ring = rte_ring_create("sim", 1024, SOCKET_ID_ANY, 0);
	assert_non_null(ring);
	port = (uint16_t)rte_eth_from_ring(ring);
	assert_int_equal(rte_eth_dev_configure(port, 1, 1, &conf), 0);
	assert_int_equal(rte_eth_rx_queue_setup(port, 0, 64, SOCKET_ID_ANY, NULL, sim_pool), 0);
	assert_int_equal(rte_eth_tx_queue_setup(port, 0, 64, SOCKET_ID_ANY, NULL), 0);
	assert_int_equal(rte_eth_dev_start(port), 0);
}

static void
port_drop(void)
{
	assert_int_equal(rte_eth_dev_stop(port), 0);
	assert_int_equal(rte_eth_dev_close(port), 0);
	rte_ring_free(ring);
}

static void
receive_callbacks_put_an_engine_behind_any_port(void **state)
{
	const struct hy_flow_sim_params params = { .profile = "mlx5" }, bad = { .profile = "x" };
	struct rte_mbuf *pkt = sim_mbuf(&(struct sim_packet){ .dst = 1 });
	struct rte_flow_query_count count = { 0 };
	struct sim_match flow;
	void *handle;

	RTE_SET_USED(state);
	port_make();
	sim_match(&flow, &(struct sim_packet){ .dst = 1 }, 7, true, true);
	assert_int_equal(hy_flow_simulator.create(port, &flow.attr, flow.items, flow.actions,
				 &handle, NULL),
		-ENODEV);
	assert_int_equal(hy_flow_sim_attach(RTE_MAX_ETHPORTS, &params), -ENODEV);
	assert_int_equal(hy_flow_sim_attach(port, &bad), -EINVAL);
	assert_int_equal(hy_flow_sim_attach(port, &params), 0);
	assert_int_equal(hy_flow_sim_attach(port, &params), -EEXIST);
	assert_int_equal(hy_flow_simulator.validate(port, &flow.attr, flow.items, flow.actions,
				 NULL),
		0);
	assert_int_equal(hy_flow_simulator.create(port, &flow.attr, flow.items, flow.actions,
				 &handle, NULL),
		0);
	assert_int_equal(rte_eth_tx_burst(port, 0, &pkt, 1), 1);
	assert_int_equal(rte_eth_rx_burst(port, 0, &pkt, 1), 1);
	assert_int_equal(sim_mark_of(pkt), 7);
	assert_int_equal(hy_flow_sim_count(hy_flow_sim_of(port), handle, &count, NULL), 0);
	assert_int_equal(count.hits, 1);
	assert_int_equal(hy_flow_simulator.destroy(port, handle, NULL), 0);
	pkt->ol_flags = 0;
	assert_int_equal(rte_eth_tx_burst(port, 0, &pkt, 1), 1);
	assert_int_equal(rte_eth_rx_burst(port, 0, &pkt, 1), 1);
	assert_int_equal(sim_mark_of(pkt), -1);
	hy_flow_sim_flush(hy_flow_sim_of(port));
	hy_flow_sim_detach(port);
	assert_null(hy_flow_sim_of(port));
	rte_pktmbuf_free(pkt);
	port_drop();
}

static const struct CMUnitTest flow_sim_port[] = {
	SIM_TEST(receive_callbacks_put_an_engine_behind_any_port),
};

UNIT_SUITE(flow_sim_port)
