/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports of simulated NICs for tests; see simnic_fixture.h. */

#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_ethdev.h>
#include <rte_eventdev.h>
#include <rte_ring.h>

#include <hy_flow_sim.h>

#include "simnic_fixture.h"

static char names[MAX_PORTS][32];
static unsigned int nb_names;

void
nic_up(uint16_t port)
{
	const struct rte_eth_conf conf = { .intr_conf.rmv = 1,
		.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS,
		.rx_adv_conf.rss_conf.rss_hf = RTE_ETH_RSS_IP };

	assert_int_equal(rte_eth_dev_configure(port, SIM_RULES_QUEUES, SIM_RULES_QUEUES, &conf), 0);
	for (uint16_t q = 0; q < SIM_RULES_QUEUES; q++) {
		assert_int_equal(rte_eth_rx_queue_setup(port, q, 64, SOCKET_ID_ANY, NULL, sim_pool),
			0);
		assert_int_equal(rte_eth_tx_queue_setup(port, q, 64, SOCKET_ID_ANY, NULL), 0);
	}
	assert_int_equal(rte_eth_dev_start(port), 0);
}

uint16_t
nic_probe(const char *name, const char *args)
{
	uint16_t port;

	assert_int_equal(rte_vdev_init(name, args), 0);
	strcpy(names[nb_names++], name);
	assert_int_equal(rte_eth_dev_get_port_by_name(name, &port), 0);
	return port;
}

uint16_t
nic_add(const char *name, const char *args)
{
	const uint16_t port = nic_probe(name, args);
	uint64_t features = RTE_ETH_RX_METADATA_USER_MARK;

	rte_eth_rx_metadata_negotiate(port, &features);
	nic_up(port);
	return port;
}

const char *
nic_profile(uint16_t port)
{
	return hy_flow_sim_profile(simnic_engine(port));
}

int64_t
nic_marked(uint16_t port, const struct sim_packet *packet)
{
	struct rte_mbuf *pkt = sim_mbuf(packet), *got[2];
	uint16_t n;
	int64_t mark;

	assert_int_equal(rte_ring_enqueue(simnic_rx_wire(port, 0), pkt), 0);
	n = rte_eth_rx_burst(port, 0, got, RTE_DIM(got));
	if (n == 0)
		return -2;
	assert_int_equal(n, 1);
	assert_ptr_equal(got[0], pkt);
	assert_int_equal(pkt->port, port);
	mark = sim_mark_of(pkt);
	rte_pktmbuf_free(pkt);
	return mark;
}

struct rte_flow *
nic_rule(uint16_t port, const struct sim_packet *packet, uint32_t mark)
{
	const bool mlx5 = strcmp(nic_profile(port), "mlx5") == 0;
	struct sim_match flow;

	sim_match(&flow, packet, mark, sim_counts(nic_profile(port)), mlx5);
	return rte_flow_create(port, &flow.attr, flow.items, flow.actions, NULL);
}

static uint8_t flushed[32];

static void
flushed_note(uint8_t device, struct rte_event event, void *arg)
{
	RTE_SET_USED(device);
	RTE_SET_USED(arg);
	flushed[event.u64 % RTE_DIM(flushed)]++;
}

void
flushed_expect(uint8_t device, unsigned int n)
{
	memset(flushed, 0, sizeof(flushed));
	assert_int_equal(rte_event_dev_stop_flush_callback_register(device, flushed_note, NULL), 0);
	rte_event_dev_stop(device);
	assert_int_equal(rte_event_dev_stop_flush_callback_register(device, NULL, NULL), 0);
	for (unsigned int i = 0; i < RTE_DIM(flushed); i++)
		assert_int_equal(flushed[i], i < n);
}

int
simnic_setup(void **state)
{
	nb_names = 0;
	return simnic_pool_init() == 0 ? sim_setup(state) : -1;
}

int
simnic_teardown(void **state)
{
	uint16_t port;

	RTE_ETH_FOREACH_DEV(port)
		rte_eth_dev_stop(port);
	while (nb_names > 0)
		if (rte_vdev_uninit(names[--nb_names]) != 0)
			return -1;
	return sim_teardown(state);
}
