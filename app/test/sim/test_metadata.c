/* SPDX-License-Identifier: BSD-3-Clause */
/* What ports are asked to hand on with packets, on a NIC that hands on what it was asked for last. */

#include <rte_ethdev.h>

#include <hy_hal_live.h>
#include <hy_node.h>

#include "simnic_fixture.h"

static struct hy_hal *hal;
static bool asks; /* other tests are left alone */

static uint16_t
tunnel_process(struct hy_graph *graph, struct hy_node *node, void **objs, uint16_t n)
{
	hy_stream_move(graph, node, 0, n);
	RTE_SET_USED(objs);
	return n;
}

static int
tunnel_prepare(const struct hy_hal *of, struct hy_target target, struct hy_port_plan *plan,
	char *reason, size_t size)
{
	RTE_SET_USED(of);
	RTE_SET_USED(target);
	RTE_SET_USED(reason);
	RTE_SET_USED(size);
	plan->rx_metadata |= asks ? RTE_ETH_RX_METADATA_TUNNEL_ID : 0;
	return 0;
}

/* A node that wants tunnels to be told, and says nothing of marks. */
HY_NODE_FAMILY(tunnel_reader,
	.text = "Asks for nothing",
	.target = HY_TARGET_PORT,
	.score = 10,
	.node = {
		.name = "tunnel_reader",
		.impl = { .variant = "any", .process = tunnel_process },
		.edges = { "pkt_drop" },
	});

HY_NODE_VARIANT(tunnel_reader, asking,
	.text = "Asks for tunnels",
	.impl.process = tunnel_process,
	.prepare = tunnel_prepare,
	.score = 20);

static void
configure(uint16_t port)
{
	struct rte_eth_conf conf = { 0 };

	assert_int_equal(hy_hal_port_conf(hal, port, &conf), 0);
	assert_int_equal(hy_hal_port_plan(hal, port)->rx_granted, RTE_ETH_RX_METADATA_USER_MARK);
	nic_up(port);
}

/* A plan that asks for something else takes no marks away; a second configuration neither. */
static void
marks_that_a_port_agreed_to_stay_whatever_else_is_asked_for(void **state)
{
	const struct sim_packet packet = { .dst = 1 };
	const uint16_t port = nic_probe("sim_cn10k0", NULL);
	char error[HY_HAL_ERROR_SIZE];

	RTE_SET_USED(state);
	asks = true;
	assert_int_equal(hy_hal_create(&hal), 0);
	assert_int_equal(hy_hal_plan(hal, error), 0);
	assert_int_equal(hy_hal_port_plan(hal, port)->rx_metadata, RTE_ETH_RX_METADATA_TUNNEL_ID);
	configure(port);
	assert_non_null(nic_rule(port, &packet, 7));
	assert_int_equal(nic_marked(port, &packet), 7);
	assert_int_equal(rte_eth_dev_stop(port), 0);
	configure(port);
	assert_int_equal(nic_marked(port, &packet), 7);
	hy_hal_destroy(hal);
	asks = false;
}

static const struct CMUnitTest metadata[] = {
	SIMNIC_TEST(marks_that_a_port_agreed_to_stay_whatever_else_is_asked_for),
};

UNIT_SUITE(metadata)
