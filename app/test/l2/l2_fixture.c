/* SPDX-License-Identifier: BSD-3-Clause */
/* A bridge's table for tests; see l2_fixture.h. */

#include <string.h>

#include <rte_memory.h>

#include "l2_fixture.h"

struct hy_l2_table *table;
const struct hy_l2_view *view;

static unsigned int heap_before;
static int64_t live_before;

void
table_new(uint32_t max_entries, struct rte_rcu_qsbr *with)
{
	const struct hy_l2_table_params params = { .max_entries = max_entries,
		.nb_ports = 16,
		.socket = SOCKET_ID_ANY,
		.qsbr = with,
		.seed = 1 };

	assert_null(table);
	assert_int_equal(hy_l2_table_create(&params, &table), 0);
	view = hy_l2_table_view(table);
	assert_ptr_equal(hy_l2_table_qsbr(table), with);
}

uint64_t
key_of(uint32_t n, uint16_t vid)
{
	const uint8_t mac[6] = { 0x02, 0x00, (uint8_t)(n >> 24), (uint8_t)(n >> 16),
		(uint8_t)(n >> 8), (uint8_t)n };

	return hy_l2_key(mac, vid);
}

void
keys_of_bucket(uint32_t bucket, uint64_t keys[], uint32_t n)
{
	for (uint32_t i = 0, tried = 0; i < n; tried++) {
		keys[i] = key_of(tried, (uint16_t)(tried * 7 % HY_L2_VIDS));
		i += hy_l2_bucket(view, keys[i]) == bucket * HY_L2_WAYS;
	}
}

enum hy_l2_outcome
learn(uint64_t key, uint16_t port)
{
	const struct hy_l2_source source = { .key = key, .port = port };
	uint8_t outcome = HY_L2_OUTCOMES;

	hy_l2_learn(table, &source, &outcome, 1);
	assert_true(outcome < HY_L2_OUTCOMES);
	return (enum hy_l2_outcome)outcome;
}

uint16_t
port_of(uint64_t key)
{
	uint32_t slot;
	uint16_t port;

	hy_l2_find_scalar(view, &key, &slot, 1);
	hy_l2_ports(view, &slot, &port, 1);
	return port;
}

enum hy_l2_verdict
verdict_of(uint64_t key, uint16_t port)
{
	uint32_t slot, unknown;
	uint8_t verdict;

	hy_l2_find_scalar(view, &key, &slot, 1);
	unknown = hy_l2_sources(view, &slot, &port, &verdict, 1);
	assert_int_equal(unknown, verdict != HY_L2_SOURCE_KNOWN);
	return (enum hy_l2_verdict)verdict;
}

struct hy_l2_stats
stats(void)
{
	struct hy_l2_stats s;

	hy_l2_stats(table, &s);
	assert_int_equal(s.entries, s.learn[HY_L2_LEARNED] + s.added - s.aged - s.deleted);
	return s;
}

uint32_t
l2_random(uint64_t *seed)
{
	/* splitmix64 */
	uint64_t z = (*seed += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((z ^ (z >> 31)) >> 32);
}

int
l2_setup(void **state)
{
	RTE_SET_USED(state);
	unit_alloc_fail(0);
	unit_log_clear();
	heap_before = unit_heap_live();
	live_before = unit_alloc_live();
	return 0;
}

int
l2_teardown(void **state)
{
	RTE_SET_USED(state);
	hy_l2_table_destroy(table);
	table = NULL;
	assert_int_equal(unit_heap_live(), heap_before);
	assert_int_equal(unit_alloc_live(), live_before);
	return 0;
}
