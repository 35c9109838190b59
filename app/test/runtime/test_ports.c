/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports of net_null: found by name, started in several calls, refused, stopped. */

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_ethdev.h>
#include <rte_mbuf.h>

#include <hy_ports.h>

#include "unit.h"

#define PORTS 3

static const char *const names[PORTS] = { "net_null70", "net_null71", "net_null72" };
static struct hy_hal *hal;
static uint16_t ids[PORTS];
static char error[HY_HAL_ERROR_SIZE];

static int
setup(void **state)
{
	RTE_SET_USED(state);
	for (unsigned int i = 0; i < PORTS; i++) {
		assert_int_equal(rte_vdev_init(names[i], ""), 0);
		assert_int_equal(hy_port_find(names[i], &ids[i]), 0);
	}
	assert_int_equal(hy_hal_create(&hal), 0);
	assert_int_equal(hy_hal_plan(hal, error), 0);
	error[0] = '\0';
	return 0;
}

static int
teardown(void **state)
{
	RTE_SET_USED(state);
	hy_ports_stop(NULL, NULL);
	hy_hal_destroy(hal);
	for (unsigned int i = 0; i < PORTS; i++)
		rte_vdev_uninit(names[i]);
	return 0;
}

static int
start(const struct hy_port_params *ports, unsigned int n)
{
	const struct hy_ports_params params = { .ports = ports, .nb_ports = n, .nb_workers = 1 };

	return hy_ports_start(hal, &params, error);
}

static struct hy_port_params
port_params(unsigned int i)
{
	return (struct hy_port_params){ .port = ids[i], .nb_rx_queues = 1, .nb_tx_queues = 1 };
}

static void
a_port_is_found_by_number_and_by_name(void **state)
{
	char number[8];
	uint16_t port = UINT16_MAX;

	RTE_SET_USED(state);
	snprintf(number, sizeof(number), "%u", ids[1]);
	assert_int_equal(hy_port_find(number, &port), 0);
	assert_int_equal(port, ids[1]);
	assert_int_equal(hy_port_find(names[2], &port), 0);
	assert_int_equal(port, ids[2]);
	assert_int_equal(hy_port_find("", &port), -ENODEV);
	assert_int_equal(hy_port_find("31", &port), -ENODEV);
	assert_int_equal(hy_port_find("65536", &port), -ENODEV);
	assert_int_equal(hy_port_find("0x0", &port), -ENODEV);
	assert_int_equal(hy_port_find("0000:3b:00.0", &port), -ENODEV);
	assert_int_equal(port, ids[2]);
}

static void
ports_that_come_later_get_a_pool_of_their_own(void **state)
{
	const struct hy_port_params first[] = { port_params(0), port_params(1) };
	const struct hy_port_params later = port_params(2);
	unsigned int in_use = UINT_MAX, one_pool, two_pools;

	RTE_SET_USED(state);
	assert_int_equal(start(first, 2), 0);
	hy_ports_stop(&in_use, &one_pool);
	assert_int_equal(in_use, 0);
	assert_true(one_pool >= 4 * HY_PORT_DESCRIPTORS);
	teardown(NULL);
	setup(NULL);
	assert_int_equal(start(first, 2), 0);
	assert_int_equal(start(&later, 1), 0);
	hy_ports_stop(&in_use, &two_pools);
	assert_int_equal(in_use, 0);
	assert_true(two_pools > one_pool);
}

static void
what_cannot_be_started_is_refused_by_name(void **state)
{
	struct hy_port_params port = port_params(0);
	char expected[64];

	RTE_SET_USED(state);
	port.port = RTE_MAX_ETHPORTS;
	assert_int_equal(start(&port, 1), -ENODEV);
	assert_string_equal(error, "there is no port " RTE_STR(RTE_MAX_ETHPORTS));
	port = port_params(0);
	port.nb_rx_queues = UINT16_MAX;
	assert_int_equal(start(&port, 1), -ENOSPC);
	snprintf(expected, sizeof(expected), "port %u (%s): 65535 receive queues are needed",
		ids[0], names[0]);
	assert_memory_equal(error, expected, strlen(expected));
	port = port_params(0);
	port.max_len = 10;
	assert_int_equal(start(&port, 1), -ERANGE);
	hy_ports_stop(NULL, NULL);
}

static void
a_port_is_started_once(void **state)
{
	const struct hy_port_params port = port_params(0);

	RTE_SET_USED(state);
	assert_int_equal(start(&port, 1), 0);
	assert_int_equal(start(&port, 1), -EEXIST);
}

static void
a_buffer_that_is_not_given_back_is_counted(void **state)
{
	const struct hy_port_params port = port_params(0);
	struct rte_mempool *pool = NULL;
	struct rte_mbuf *packet;
	unsigned int in_use, all;

	RTE_SET_USED(state);
	assert_int_equal(start(&port, 1), 0);
	assert_int_equal(rte_eth_rx_burst(ids[0], 0, &packet, 1), 1);
	pool = packet->pool;
	hy_ports_stop(&in_use, &all);
	assert_int_equal(in_use, 1);
	assert_int_equal(all, pool->size);
	rte_pktmbuf_free(packet);
	hy_ports_stop(&in_use, &all);
	assert_int_equal(in_use, 0);
}

static void
polling_without_ports_does_nothing(void **state)
{
	const struct hy_port_params port = port_params(0);

	RTE_SET_USED(state);
	assert_int_equal(hy_ports_poll(NULL, 0, NULL, error), 0);
	assert_int_equal(start(&port, 1), 0);
	assert_int_equal(hy_ports_poll(NULL, 0, NULL, error), 0);
	hy_ports_stop(NULL, NULL);
	assert_int_equal(hy_ports_poll(NULL, 0, NULL, error), 0);
}

static void
a_port_that_was_removed_is_not_drained(void **state)
{
	const struct hy_port_params ports[] = { port_params(0), port_params(1) };
	unsigned int in_use = UINT_MAX, all = 0;

	RTE_SET_USED(state);
	assert_int_equal(start(ports, 2), 0);
	assert_int_equal(rte_vdev_uninit(names[0]), 0); /* nobody has polled since */
	assert_false(rte_eth_dev_is_valid_port(ids[0]));
	unit_log_clear();
	hy_ports_stop(&in_use, &all);
	assert_null(strstr(unit_log(), "not ready port"));
	assert_null(strstr(unit_log(), "Invalid port_id"));
	assert_int_equal(in_use, 0);
	assert_true(all > 0);
	assert_false(rte_eth_dev_is_valid_port(ids[1]));
}

static void
a_port_has_no_status_of_the_one_that_had_its_number_before(void **state)
{
	const struct hy_port_params port = port_params(0);
	const uint16_t number = ids[0];
	struct hy_port_status status;

	RTE_SET_USED(state);
	assert_int_equal(start(&port, 1), 0);
	assert_int_equal(hy_ports_poll(NULL, 0, NULL, error), 0);
	hy_port_status_read(number, &status);
	assert_true(status.link_known);
	assert_true(status.link_up);
	teardown(NULL);
	setup(NULL);
	assert_int_equal(ids[0], number);
	assert_int_equal(start(&port, 1), 0);
	hy_port_status_read(number, &status);
	assert_false(status.link_known);
	assert_false(status.link_up);
}

static void
a_pool_that_is_left_over_is_not_taken_if_it_is_too_small(void **state)
{
	struct hy_port_params port = port_params(0);
	struct rte_mbuf *packet;
	unsigned int in_use, small, large;

	RTE_SET_USED(state);
	port.own_pool = true;
	assert_int_equal(start(&port, 1), 0);
	assert_int_equal(rte_eth_rx_burst(ids[0], 0, &packet, 1), 1);
	hy_ports_stop(&in_use, &small);
	assert_int_equal(in_use, 1);
	teardown(NULL);
	setup(NULL);
	port.nb_rxd = UINT16_MAX / 2;
	assert_true(port.nb_rxd > small);
	assert_int_equal(start(&port, 1), -EBUSY);
	assert_non_null(strstr(error, "packets of the device that had this number before"));
	hy_ports_stop(NULL, NULL);
	rte_pktmbuf_free(packet);
	teardown(NULL);
	setup(NULL);
	assert_int_equal(start(&port, 1), 0);
	hy_ports_stop(&in_use, &large);
	assert_int_equal(in_use, 0);
	assert_true(large > port.nb_rxd);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test_setup_teardown(a_port_is_found_by_number_and_by_name, setup, teardown),
	cmocka_unit_test_setup_teardown(ports_that_come_later_get_a_pool_of_their_own, setup,
		teardown),
	cmocka_unit_test_setup_teardown(what_cannot_be_started_is_refused_by_name, setup, teardown),
	cmocka_unit_test_setup_teardown(a_port_is_started_once, setup, teardown),
	cmocka_unit_test_setup_teardown(a_buffer_that_is_not_given_back_is_counted, setup,
		teardown),
	cmocka_unit_test_setup_teardown(polling_without_ports_does_nothing, setup, teardown),
	cmocka_unit_test_setup_teardown(a_port_that_was_removed_is_not_drained, setup, teardown),
	cmocka_unit_test_setup_teardown(a_pool_that_is_left_over_is_not_taken_if_it_is_too_small,
		setup, teardown),
	cmocka_unit_test_setup_teardown(a_port_has_no_status_of_the_one_that_had_its_number_before,
		setup, teardown),
};

UNIT_SUITE(tests)
