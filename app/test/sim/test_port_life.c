/* SPDX-License-Identifier: BSD-3-Clause */
/* What ports have lost, over resets, recoveries and their removal, of simulated NICs. */

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <rte_bus_vdev.h>
#include <rte_ethdev.h>

#include <hy_hal_live.h>
#include <hy_ports.h>

#include "unit.h"

#include "app/sim/simnic.h"

static struct hy_hal *hal;
static uint16_t port;
static char error[HY_HAL_ERROR_SIZE];

static int
teardown(void **state)
{
	RTE_SET_USED(state);
	hy_ports_stop(NULL, NULL);
	hy_hal_destroy(hal);
	hal = NULL;
	rte_vdev_uninit("sim_nic70");
	return 0;
}

static void
port_begin(const char *args)
{
	struct hy_port_params one = { .nb_rx_queues = 1, .nb_tx_queues = 1 };
	const struct hy_ports_params params = { .ports = &one, .nb_ports = 1, .nb_workers = 1 };

	assert_int_equal(rte_vdev_init("sim_nic70", args), 0);
	assert_int_equal(hy_port_find("sim_nic70", &port), 0);
	assert_int_equal(hy_hal_create(&hal), 0);
	assert_int_equal(hy_hal_watch(hal), 0);
	one.port = port;
	/* What the NIC has missed before is not the program's. */
	simnic_miss(port, 1000);
	assert_int_equal(hy_hal_plan(hal, error), 0);
	assert_int_equal(hy_ports_start(hal, &params, error), 0);
}

static void
poll(enum hy_port_state state)
{
	for (int i = 0; i < 8; i++)
		if (hy_ports_poll(NULL, 0, NULL, error) < 0)
			fail_msg("%s", error);
	assert_int_equal(hy_hal_port_state(hal, port), state);
}

static uint64_t
missed(void)
{
	struct hy_port_status status;

	hy_ports_count();
	hy_port_status_read(port, &status);
	return status.missed;
}

static uint64_t
asked(void)
{
	struct simnic_offences offences;

	simnic_offences(port, &offences);
	return offences.stats_unanswered;
}

/* More is missed after each reset than before it, and than when the driver was asked last. */
static void
frames_missed_are_counted_over_resets(const char *args)
{
	uint64_t all = 0;

	port_begin(args);
	for (uint64_t n = 5; n < 500; n *= 3) {
		assert_int_equal(missed(), all);
		simnic_miss(port, n);
		all += n;
		assert_int_equal(missed(), all);
		simnic_break(port);
		poll(HY_PORT_UP);
		simnic_miss(port, 2 * n);
		all += 2 * n;
	}
	assert_int_equal(missed(), all);
	assert_int_equal(all, 3 * (5 + 15 + 45 + 135 + 405));
	assert_int_equal(asked(), 0);
}

static void
counts_begin_anew_where_a_reset_clears_them(void **state)
{
	RTE_SET_USED(state);
	frames_missed_are_counted_over_resets("clears=1");
}

static void
counts_begin_anew_where_a_start_clears_them(void **state)
{
	RTE_SET_USED(state);
	frames_missed_are_counted_over_resets("clears=2");
}

static void
counts_go_on_where_a_driver_keeps_them(void **state)
{
	RTE_SET_USED(state);
	frames_missed_are_counted_over_resets("");
}

static void
counts_of_a_driver_that_has_none_while_stopped_count_once(void **state)
{
	RTE_SET_USED(state);
	frames_missed_are_counted_over_resets("clears=4");
}

static void
a_driver_that_recovers_is_not_asked(void **state)
{
	struct hy_port_status status;

	RTE_SET_USED(state);
	port_begin("");
	simnic_miss(port, 3);
	poll(HY_PORT_UP);
	assert_int_equal(missed(), 3);
	simnic_recovers(port, true);
	poll(HY_PORT_DOWN);
	assert_int_equal(missed(), 3);
	hy_port_status_read(port, &status);
	assert_false(status.link_known);
	assert_false(status.link_up);
	assert_int_equal(asked(), 0);
	simnic_miss(port, 4);
	simnic_recovers(port, false);
	poll(HY_PORT_UP);
	assert_int_equal(missed(), 7);
	assert_int_equal(asked(), 0);
}

static void
a_nic_that_was_pulled_out_is_not_asked(void **state)
{
	RTE_SET_USED(state);
	port_begin("");
	simnic_miss(port, 3);
	assert_int_equal(missed(), 3);
	simnic_remove(port);
	poll(HY_PORT_GONE);
	assert_int_equal(missed(), 3);
}

static uint16_t
look(uint16_t p __rte_unused, uint16_t queue __rte_unused, struct rte_mbuf **packets __rte_unused,
	uint16_t n, uint16_t most __rte_unused, void *looks)
{
	++*(unsigned int *)looks;
	return n;
}

static int
refuse(uint16_t p __rte_unused, char *reason, size_t size, void *arg __rte_unused)
{
	snprintf(reason, size, "not now");
	return -EBUSY;
}

/* Stops the ports. Returns how often the NIC was asked for packets meanwhile. */
static unsigned int
stop_looks(void)
{
	static unsigned int looks;

	looks = 0;
	assert_non_null(rte_eth_add_rx_callback(port, 0, look, &looks));
	hy_ports_stop(NULL, NULL);
	return looks;
}

static void
a_port_that_runs_is_drained_at_the_end(void **state)
{
	RTE_SET_USED(state);
	port_begin("");
	poll(HY_PORT_UP);
	assert_true(stop_looks() > 0);
}

static void
a_port_whose_reset_is_refused_is_not_drained(void **state)
{
	char expected[64];
	int rc = 0;

	RTE_SET_USED(state);
	port_begin("");
	assert_int_equal(hy_hal_port_guard(hal, refuse, NULL), 0);
	simnic_break(port);
	for (int i = 0; i < 8 && rc == 0; i++)
		rc = hy_ports_poll(NULL, 0, NULL, error);
	assert_int_equal(rc, -EBUSY);
	snprintf(expected, sizeof(expected), "port %u stays down: not now", port);
	assert_string_equal(error, expected);
	poll(HY_PORT_DOWN);
	assert_int_equal(stop_looks(), 0);
}

static void
a_port_that_its_driver_recovers_is_not_drained(void **state)
{
	RTE_SET_USED(state);
	port_begin("");
	simnic_recovers(port, true);
	poll(HY_PORT_DOWN);
	assert_int_equal(stop_looks(), 0);
}

#define LIFE_TEST(f) cmocka_unit_test_setup_teardown(f, NULL, teardown)

static const struct CMUnitTest port_life[] = {
	LIFE_TEST(counts_begin_anew_where_a_reset_clears_them),
	LIFE_TEST(counts_begin_anew_where_a_start_clears_them),
	LIFE_TEST(counts_go_on_where_a_driver_keeps_them),
	LIFE_TEST(counts_of_a_driver_that_has_none_while_stopped_count_once),
	LIFE_TEST(a_driver_that_recovers_is_not_asked),
	LIFE_TEST(a_nic_that_was_pulled_out_is_not_asked),
	LIFE_TEST(a_port_that_runs_is_drained_at_the_end),
	LIFE_TEST(a_port_whose_reset_is_refused_is_not_drained),
	LIFE_TEST(a_port_that_its_driver_recovers_is_not_drained),
};

UNIT_SUITE(port_life)
