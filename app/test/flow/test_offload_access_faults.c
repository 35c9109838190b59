/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults that access lists in hardware once had. */

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include <hy_mark.h>

#include "access_fixture.h"

static const void *kept; /* a rule that the port does not remove */

static int
keep_one(uint16_t port, void *flow, struct rte_flow_error *error)
{
	if (flow == kept)
		return rte_flow_error_set(error, EIO, RTE_FLOW_ERROR_TYPE_HANDLE, NULL, "busy");
	return hy_flow_simulator.destroy(port, flow, error);
}

/* On this port no jump leads to the rules: what stays there takes effect. */
static void
guarded_deny_open(void)
{
	access_open("cnxk", "net_cn10k");
	access_source_set(10, HY_RULE_PERMIT, HOST(1), 32);
	access_source_set(20, HY_RULE_DENY, HOST(0), 24);
	access_settle();
	assert_int_equal(access_stats().drop_rules, 1);
	assert_int_equal(access_stats().hw_rules, 2);
	kept = NULL;
	for (uint32_t i = 0; i < A.offload->nb_slots; i++)
		if (A.offload->flows[i].state == FLOW_LIVE && A.offload->flows[i].drop)
			kept = A.offload->flows[i].handle;
	assert_non_null(kept);
	assert_true(access_arrives(HOST(1)));
	assert_false(access_arrives(HOST(2)));
	A.provider.destroy = keep_one;
}

static void
an_end_removed_the_permits_before_a_deny_that_the_port_kept(void **state)
{
	RTE_SET_USED(state);
	guarded_deny_open();
	hy_offload_destroy(A.offload);
	A.offload = NULL;
	assert_false(access_arrives(HOST(2))); /* the port has kept it */
	assert_true(access_arrives(HOST(1)));
	assert_int_equal(A.wrong, 0);
}

static unsigned int wrong_order, destroyed_drops, destroyed_marks;

/* Counts the rules that mark and are removed while one that drops is still there. */
static int
destroy_watched(uint16_t port, void *handle, struct rte_flow_error *error)
{
	const struct flow *of = NULL;
	bool drops = false;

	for (uint32_t i = 0; i < A.offload->nb_slots; i++) {
		const struct flow *flow = &A.offload->flows[i];

		if (flow->state == FLOW_FREE || flow->handle == NULL)
			continue;
		drops |= flow->drop;
		of = flow->handle == handle ? flow : of;
	}
	destroyed_drops += of != NULL && of->drop;
	destroyed_marks += of != NULL && !of->drop;
	wrong_order += of != NULL && !of->drop && drops;
	return hy_flow_simulator.destroy(port, handle, error);
}

static bool keeps_rules;

/* Before ethdev's: what the driver of a port says that keeps its rules over a stop. */
int
rte_eth_dev_info_get(uint16_t port, struct rte_eth_dev_info *info)
{
	static int (*real)(uint16_t port, struct rte_eth_dev_info * info);
	int rc;

	if (real == NULL)
		*(void **)&real = dlsym(RTLD_NEXT, "rte_eth_dev_info_get");
	rc = real(port, info);
	if (keeps_rules)
		info->dev_capa |= RTE_ETH_DEV_CAPA_FLOW_RULE_KEEP;
	return rc;
}

static void
up_again(void)
{
	keeps_rules = true;
	A.provider.destroy = destroy_watched;
	wrong_order = destroyed_drops = destroyed_marks = 0;
	assert_int_equal(hy_offload_up(A.offload), 0);
	A.provider.destroy = hy_flow_simulator.destroy;
	keeps_rules = false;
}

/* The driver recovers the port, and keeps the rules: they go when it is up again. */
static void
after_a_recovery_permits_went_before_their_denies(void **state)
{
	RTE_SET_USED(state);
	for (int late = 0; late < 2; late++) { /* in either order of slots */
		access_open("cnxk", "net_cn10k");
		access_source_set(10, HY_RULE_PERMIT, HOST(1), 32);
		access_source_set(20, HY_RULE_DENY, HOST(0), 24);
		access_settle();
		if (late) {
			access_source_set(5, HY_RULE_PERMIT, HOST(3), 32);
			access_settle();
		}
		assert_int_equal(access_stats().drop_rules, 1);
		hy_offload_recovers(A.offload);
		up_again();
		assert_int_equal(destroyed_drops, 1);
		assert_int_equal(destroyed_marks, 1 + late);
		assert_int_equal(wrong_order, 0);
		access_settle();
		assert_true(access_arrives(HOST(1)));
		assert_false(access_arrives(HOST(2)));
		assert_int_equal(A.wrong, 0);
		access_close();
	}
}

static const struct CMUnitTest offload_access_fault_tests[] = {
	ACCESS_TEST(an_end_removed_the_permits_before_a_deny_that_the_port_kept),
	ACCESS_TEST(after_a_recovery_permits_went_before_their_denies),
};

UNIT_SUITE(offload_access_fault_tests)
