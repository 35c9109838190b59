/* SPDX-License-Identifier: BSD-3-Clause */
/* Workers that are listed, launched and joined; what is refused. */

#include <errno.h>

#include <rte_cycles.h>
#include <rte_launch.h>
#include <rte_lcore.h>

#include <hy_workers.h>

#include "unit.h"

#define BUSY_MS 3000 /* so that the test ends where the launch waits for the lcore */

static struct hy_workers workers;
static bool release, left;

static int
teardown(void **state)
{
	RTE_SET_USED(state);
	hy_workers_destroy(&workers);
	return 0;
}

static void
require_worker(void)
{
	if (rte_lcore_count() < 2)
		skip();
}

static int
busy_main(void *arg)
{
	RTE_SET_USED(arg);
	for (unsigned int ms = 0; ms < BUSY_MS && !__atomic_load_n(&release, __ATOMIC_ACQUIRE);
		ms++)
		rte_delay_us_sleep(1000);
	__atomic_store_n(&left, true, __ATOMIC_RELEASE);
	return 0;
}

static void
a_launch_does_not_wait_for_an_lcore_that_is_busy(void **state)
{
	const unsigned int lcore = rte_get_next_lcore(-1, 1, 0);

	RTE_SET_USED(state);
	require_worker();
	assert_int_equal(hy_workers_init(&workers, &lcore, 1, false), 0);
	assert_int_equal(rte_eal_remote_launch(busy_main, NULL, lcore), 0);
	assert_int_equal(hy_workers_launch(&workers), -EBUSY);
	assert_false(__atomic_load_n(&left, __ATOMIC_ACQUIRE));
	__atomic_store_n(&release, true, __ATOMIC_RELEASE);
	rte_eal_wait_lcore(lcore);
	assert_true(left);
}

static void
workers_that_were_never_launched_are_joined_at_once(void **state)
{
	RTE_SET_USED(state);
	require_worker();
	assert_int_equal(hy_workers_init(&workers, NULL, RTE_MAX_LCORE, false), 0);
	assert_int_equal(workers.nb, rte_lcore_count() - 1);
	hy_workers_join(&workers);
}

static void
an_lcore_that_is_no_worker_is_refused(void **state)
{
	const unsigned int main_lcore = rte_get_main_lcore(), none = RTE_MAX_LCORE;

	RTE_SET_USED(state);
	assert_int_equal(hy_workers_init(&workers, &main_lcore, 1, false), -EINVAL);
	assert_int_equal(hy_workers_init(&workers, &none, 1, false), -EINVAL);
	assert_int_equal(hy_workers_init(&workers, NULL, 0, false), -EINVAL);
}

/* 10 received, of which a node made 20 and dropped 2; 3 were not sent. */
static void
copies_count_where_a_node_declares_to_replicate(void **state)
{
	struct hy_edge_stats made[] = { { .name = "flood", .objs = 10 } };
	struct hy_edge_stats sent[] = { { .name = "ethdev_tx-0", .objs = 13 },
		{ .name = "ethdev_tx-1", .objs = 7 } };
	struct hy_edge_stats nowhere[] = { { .name = "nowhere", .objs = 2 } };
	struct hy_edge_stats full[] = { { .name = "tx_full", .objs = 3 } };
	struct hy_node_stats nodes[] = {
		{ .name = "ethdev_rx-0-0",
			.is_source = true,
			.objs = 10,
			.nb_edges = 1,
			.edges = made },
		{ .name = "flood",
			.replicates = true,
			.objs = 10,
			.nb_edges = 2,
			.edges = sent,
			.nb_drops = 1,
			.drops = nowhere },
		{ .name = "ethdev_tx-0", .objs = 13, .nb_drops = 1, .drops = full },
		{ .name = "ethdev_tx-1", .objs = 7 },
	};
	const struct hy_stats stats = { .nb_nodes = RTE_DIM(nodes), .nodes = nodes };
	struct hy_totals t;

	RTE_SET_USED(state);
	hy_totals_read(&stats, 0, &t);
	assert_int_equal(t.rx, 10);
	assert_int_equal(t.copied, 12);
	assert_int_equal(t.tx, 17);
	assert_int_equal(t.dropped, 5);
	assert_int_equal(t.rx + t.copied, t.tx + t.dropped);
	/* A node that took a burst has not sent it on yet: no copies, and not fewer than none. */
	nodes[1].objs = 100;
	hy_totals_read(&stats, 0, &t);
	assert_int_equal(t.copied, 0);
	/* One that sends more than it received, and does not declare so, is a fault that shows. */
	nodes[1].objs = 10;
	nodes[1].replicates = false;
	hy_totals_read(&stats, 4, &t);
	assert_int_equal(t.copied, 0);
	assert_int_equal(t.dropped, 9);
}

static const struct CMUnitTest tests[] = {
	cmocka_unit_test(copies_count_where_a_node_declares_to_replicate),
	cmocka_unit_test_teardown(a_launch_does_not_wait_for_an_lcore_that_is_busy, teardown),
	cmocka_unit_test_teardown(workers_that_were_never_launched_are_joined_at_once, teardown),
	cmocka_unit_test_teardown(an_lcore_that_is_no_worker_is_refused, teardown),
};

UNIT_SUITE(tests)
