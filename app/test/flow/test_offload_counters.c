/* SPDX-License-Identifier: BSD-3-Clause */
/* Counters of rules that drop packets: they run out, wrap, go back, or tell nothing. */

#include <errno.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_flow.h>

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

#define DENIES 20
#define COUNTERS 8

/* Whole flows of TCP, which all drivers match that count. */
static void
denies_commit(void)
{
	for (uint32_t id = 1; id <= DENIES; id++) {
		struct hy_flow_rule rule = access_source(id, HY_RULE_DENY, HOST(id), 32);

		rule.match.fields = HY_FLOW_5_TUPLE;
		rule.match.dst = HOST(200);
		rule.match.dst_len = 32;
		rule.match.proto = 6;
		rule.match.sport[0] = rule.match.sport[1] = 53;
		rule.match.dport[0] = rule.match.dport[1] = 80;
		access_rule_set(&rule);
	}
	assert_int_equal(hy_policy_commit(A.policy), 0);
}

/* The denies in hardware; `full`: those that wait for a place. Removes the first `remove`. */
static unsigned int
denies_in(unsigned int *full, unsigned int remove)
{
	unsigned int in = 0;

	*full = 0;
	for (uint32_t id = 1; id <= DENIES; id++) {
		const char *why = hy_offload_reason(A.offload, id);

		*full += why != NULL && strcmp(why, "the port has no room") == 0;
		in += why == NULL;
		if (why == NULL && in <= remove)
			assert_int_equal(hy_policy_remove(A.policy, id), 0);
	}
	return in;
}

/* A port without a counter was taken for one that refuses the rule, which was never tried again. */
static void
counters_that_ran_out_stayed_idle_when_they_were_free(void **state)
{
	static const struct {
		const char *profile, *driver;
	} nics[] = { { "cnxk_wide", "net_cn10k" }, { "ice", "net_ice" }, { "mlx5", "mlx5_pci" } };

	RTE_SET_USED(state);
	for (size_t i = 0; i < RTE_DIM(nics); i++) {
		const struct hy_flow_sim_params sim = { .profile = nics[i].profile,
			.counters = COUNTERS };
		unsigned int full;

		access_open_as(nics[i].driver, &sim);
		denies_commit();
		access_settle();
		assert_int_equal(denies_in(&full, COUNTERS / 2), COUNTERS);
		assert_int_equal(full, DENIES - COUNTERS);
		assert_int_equal(hy_policy_commit(A.policy), 0);
		A.offload->params.age_us = 1000;
		for (int k = 0; k < 60; k++) {
			rte_delay_us_sleep(1500);
			hy_offload_poll(A.offload);
		}
		/* Those that were removed tell no reason either. */
		assert_int_equal(access_stats().drop_rules, COUNTERS);
		assert_int_equal(denies_in(&full, 0), COUNTERS + COUNTERS / 2);
		assert_int_equal(full, DENIES - COUNTERS - COUNTERS / 2);
		access_close();
	}
}

/* ice_ethdev.h, ICE_FDIR_COUNTERS_PER_BLOCK */
static void
a_simulated_e810_has_256_counters(void **state)
{
	const struct rte_flow_attr attr = { .ingress = 1 };
	const struct rte_flow_action_count one = { .id = 0 };
	const struct rte_flow_action actions[] = { { RTE_FLOW_ACTION_TYPE_DROP, NULL },
		{ RTE_FLOW_ACTION_TYPE_COUNT, &one }, { RTE_FLOW_ACTION_TYPE_END, NULL } };
	struct rte_flow_item_ipv4 ip = { 0 }, mask = { .hdr.src_addr = UINT32_MAX };
	const struct rte_flow_item items[] = { { .type = RTE_FLOW_ITEM_TYPE_ETH },
		{ .type = RTE_FLOW_ITEM_TYPE_IPV4, .spec = &ip, .mask = &mask },
		{ .type = RTE_FLOW_ITEM_TYPE_END } };
	const struct hy_flow_sim_params params = { .profile = "ice" };
	struct rte_flow_error error = { 0 };
	struct hy_flow_sim *sim;
	void *flow[257];

	RTE_SET_USED(state);
	assert_int_equal(hy_flow_sim_create(&params, &sim), 0);
	for (uint32_t i = 0; i < RTE_DIM(flow); i++) {
		ip.hdr.src_addr = rte_cpu_to_be_32(i + 1);
		assert_int_equal(hy_flow_sim_add(sim, &attr, items, actions, &flow[i], &error),
			i < 256 ? 0 : -EINVAL);
	}
	assert_string_equal(error.message, "Failed to alloc FDIR counter.");
	assert_int_equal(hy_flow_sim_remove(sim, flow[7], NULL), 0);
	assert_int_equal(hy_flow_sim_add(sim, &attr, items, actions, &flow[7], NULL), 0);
	hy_flow_sim_destroy(sim);
}

static const struct CMUnitTest offload_counter_tests[] = {
	ACCESS_TEST(a_counter_that_went_back_hid_that_a_port_leaked),
	ACCESS_TEST(a_counter_that_told_nothing_was_read),
	ACCESS_TEST(a_counter_that_wraps_counts_on),
	ACCESS_TEST(counters_that_ran_out_stayed_idle_when_they_were_free),
	ACCESS_TEST(a_simulated_e810_has_256_counters),
};

UNIT_SUITE(offload_counter_tests)
