/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of rules that drop packets: they run out, wrap, go back, or tell nothing. */

#include <errno.h>
#include <string.h>

#include <rte_cycles.h>

#include "access_fixture.h"

/* What the port's counters show instead of what they count. */
static struct {
	uint64_t added, mask;
	bool untold;
} shown;

static int
query_shown(uint16_t port, void *flow, struct rte_flow_query_count *count,
	struct rte_flow_error *error)
{
	const int rc = hy_flow_simulator.query(port, flow, count, error);

	count->hits = (count->hits + shown.added) & shown.mask;
	count->hits_set &= !shown.untold;
	return rc;
}

/* A deny in hardware that has dropped so many packets, all of which are counted. */
static void
deny_open(const char *profile, const char *driver, unsigned int packets)
{
	shown.added = 0;
	shown.mask = UINT64_MAX;
	shown.untold = false;
	access_open(profile, driver);
	A.provider.query = query_shown;
	access_source_set(1, HY_RULE_DENY, HOST(1), 32);
	access_settle();
	assert_int_equal(access_stats().drop_rules, 1);
	for (unsigned int i = 0; i < packets; i++)
		assert_false(access_arrives(HOST(1)));
	access_assert_counted();
	assert_int_equal(access_stats().dropped, packets);
}

static void
in_software_because(const char *why, unsigned int packets)
{
	access_settle();
	assert_non_null(hy_offload_reason(A.offload, 1));
	assert_string_equal(hy_offload_reason(A.offload, 1), why);
	assert_int_equal(access_stats().drop_rules, 0);
	assert_true(access_arrives(HOST(1)));
	assert_int_equal(access_stats().dropped, packets);
	access_assert_counted();
}

/* The packets of a window then were close to 2^64, of which no leak is a large part. */
static void
a_counter_that_went_back_hid_that_a_port_leaked(void **state)
{
	RTE_SET_USED(state);
	deny_open("mlx5", "mlx5_pci", 100);
	shown.added = (uint64_t)-1;
	in_software_because("its counter in hardware went back", 100);
}

static void
a_counter_that_told_nothing_was_read(void **state)
{
	RTE_SET_USED(state);
	deny_open("cnxk", "net_cn10k", 100);
	shown.untold = true;
	shown.added = 1000;
	in_software_because("hardware does not tell what it counts", 100);
}

/* A NIC adds to 40 bits (E810) or 48 (OcteonTX2), and its driver passes these on. */
static void
a_counter_that_wraps_counts_on(void **state)
{
	static const struct {
		const char *profile, *driver,
			*counts_like; /* ice takes no rule on a source alone */
		unsigned int bits;
	} nics[] = { { "cnxk", "net_cn10k", "net_cn10k", 48 },
		{ "cnxk", "net_cn10k", "net_ice", 40 }, { "mlx5", "mlx5_pci", "mlx5_pci", 64 } };

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(nics); i++) {
		struct hy_flow_driver driver = *hy_flow_driver_of(nics[i].driver);

		driver.count_bits = hy_flow_driver_of(nics[i].counts_like)->count_bits;
		assert_int_equal(driver.count_bits, nics[i].bits % 64); /* 0: 64 */
		deny_open(nics[i].profile, nics[i].driver, 100);
		A.offload->params.driver = &driver;
		shown.mask = UINT64_MAX >> (64 - nics[i].bits);
		shown.added = (uint64_t)-150; /* it shows 50 less than a power of two */
		for (uint32_t f = 0; f < A.offload->nb_slots; f++)
			if (A.offload->flows[f].drop)
				A.offload->flows[f].hits = (100 + shown.added) & shown.mask;
		for (int k = 0; k < 200; k++) {
			assert_false(access_arrives(HOST(1)));
			hy_offload_poll(A.offload);
		}
		access_assert_counted();
		assert_int_equal(access_stats().dropped, 300);
		assert_int_equal(access_stats().drop_rules, 1);
		shown.added -= 1;
		in_software_because("its counter in hardware went back", 300);
		access_close();
	}
}

static const struct CMUnitTest offload_counter_tests[] = {
	ACCESS_TEST(a_counter_that_went_back_hid_that_a_port_leaked),
	ACCESS_TEST(a_counter_that_told_nothing_was_read),
	ACCESS_TEST(a_counter_that_wraps_counts_on),
};

UNIT_SUITE(offload_counter_tests)
