/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults that access lists in hardware once had. */

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include <rte_cycles.h>
#include <rte_ethdev.h>

#include <hy_mark.h>

#include "access_fixture.h"
#include "drivers/nodes/generic/acl/acl_node.h"

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

static unsigned int calls;

static int
no_call(uint16_t port, void *handle, struct rte_flow_error *error)
{
	calls++;
	return hy_flow_simulator.destroy(port, handle, error);
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

/* Which rules are left, such a driver does not say. None was asked for that the port refused. */
static void
a_port_that_recovered_was_said_not_to_have_removed_a_rule(void **state)
{
	RTE_SET_USED(state);
	access_open("cnxk", "net_cn10k");
	access_source_set(20, HY_RULE_DENY, HOST(1), 32);
	access_settle();
	assert_int_equal(access_stats().drop_rules, 1);
	A.provider.destroy = destroy_watched;
	destroyed_drops = 0;
	hy_offload_recovers(A.offload);
	assert_int_equal(hy_offload_up(A.offload), 0);
	assert_int_equal(destroyed_drops, 0);
	access_settle();
	A.provider.destroy = hy_flow_simulator.destroy;
	assert_int_equal(access_stats().state, HY_OFFLOAD_DEMOTED);
	assert_string_equal(access_stats().demoted, "it may have kept a rule that drops packets");
	assert_string_equal(hy_offload_reason(A.offload, 20),
		"the port may have kept a rule that drops packets");
	assert_null(strstr(unit_log(), "not removed"));
}

#define LATE_DENIES 60

/* It answers so late that a poll does not remove all its denies; then its driver recovers it. */
static void
demoted_late_port_recovers(void)
{
	struct hy_flow_sim_faults faults = { .slow_us = 4000 };

	access_open("cnxk", "net_cn10k");
	for (uint32_t id = 1; id <= LATE_DENIES; id++) {
		const struct hy_flow_rule rule = access_source(id, HY_RULE_DENY, HOST(id), 32);

		access_rule_set(&rule);
	}
	assert_int_equal(hy_policy_commit(A.policy), 0);
	access_settle();
	assert_int_equal(access_stats().drop_rules, LATE_DENIES);
	hy_flow_sim_fault(A.sim, &faults);
	A.offload->params.demote_after = 1;
	A.offload->worker[0].mismatches = 1;
	hy_offload_poll(A.offload);
	assert_int_equal(access_stats().state, HY_OFFLOAD_DEMOTED);
	assert_in_range(access_stats().leaving, 1, LATE_DENIES);
	faults.slow_us = 0;
	hy_flow_sim_fault(A.sim, &faults);
	hy_offload_recovers(A.offload);
	hy_offload_down(A.offload, true);
}

static uint32_t
rules_in_the_port(void)
{
	struct hy_flow_sim_stats stats;

	hy_flow_sim_stats(A.sim, &stats);
	return stats.rules;
}

static void
denies_of_a_demoted_port_that_recovered_were_never_removed(void **state)
{
	RTE_SET_USED(state);
	demoted_late_port_recovers();
	up_again();
	assert_true(destroyed_drops > 0);
	assert_int_equal(rules_in_the_port(), 0);
	for (uint32_t id = 1; id <= LATE_DENIES; id++)
		assert_int_equal(hy_policy_remove(A.policy, id), 0);
	assert_int_equal(hy_policy_commit(A.policy), 0);
	for (uint32_t id = 1; id <= LATE_DENIES; id++)
		assert_true(access_arrives(HOST(id)));
	assert_int_equal(A.wrong, 0);
	assert_null(strstr(unit_log(), "may have kept"));
}

/* It does not say that it has kept them. */
static void
denies_that_a_demoted_port_may_have_kept_were_not_reported(void **state)
{
	RTE_SET_USED(state);
	demoted_late_port_recovers();
	assert_int_equal(hy_offload_up(A.offload), 0);
	assert_true(rules_in_the_port() > 0);
	assert_non_null(strstr(unit_log(), "rules that drop packets"));
}

/* Of a port that keeps its rules: the one that keeps it marking, too. */
static void
each_recovery_left_a_rule_in_the_port(void **state)
{
	uint32_t before;

	RTE_SET_USED(state);
	access_open("cnxk", "net_cn10k");
	access_source_set(20, HY_RULE_DENY, HOST(1), 32);
	access_settle();
	before = rules_in_the_port();
	assert_int_equal(before, 2);
	for (int i = 0; i < 3; i++) {
		hy_offload_recovers(A.offload);
		hy_offload_down(A.offload, true); /* it takes no calls, and has its rules */
		up_again();
		access_settle();
		assert_int_equal(access_stats().drop_rules, 1);
		assert_int_equal(rules_in_the_port(), before);
	}
}

/* And in a port that takes no calls, none is removed. */
static void
an_offload_that_ended_amid_a_recovery_called_the_port(void **state)
{
	RTE_SET_USED(state);
	access_open("cnxk", "net_cn10k");
	access_source_set(20, HY_RULE_DENY, HOST(1), 32);
	access_settle();
	hy_offload_recovers(A.offload);
	A.provider.destroy = no_call;
	calls = 0;
	hy_offload_destroy(A.offload);
	A.offload = NULL;
	A.provider.destroy = hy_flow_simulator.destroy;
	assert_int_equal(calls, 0);
	assert_non_null(strstr(unit_log(), "keeps a flow rule"));
}

#define FLOODERS 100 /* hosts, of which each is denied */

static unsigned int arrived_late; /* of packets that workers expect hardware to drop */

/* A worker meets packets of all hosts: some arrive. */
static void
flood(void)
{
	const struct hy_mark_table *table = hy_policy_marks(A.policy, A.port->id);
	static uint8_t frame[FRAME_MAX];
	const uint32_t len = FRAME(frame, .payload = 40);

	memcpy(frame, &A.mac, sizeof(A.mac));
	for (uint32_t host = 1; table != NULL && host <= FLOODERS; host++) {
		const rte_be32_t address = rte_cpu_to_be_32(HOST(host));
		struct hy_flow_key key;
		struct rte_mbuf *m;
		uint16_t mine = 0;
		uint32_t rank;
		void *object;

		memcpy(frame + 26, &address, sizeof(address));
		frame_sum(frame);
		m = packet(frame, len);
		m->port = A.port->id;
		if (hy_flow_sim_rx(A.sim, &m, 1) == 0)
			continue;
		object = m;
		hy_flow_key(frame, len, &key);
		rank = hy_policy_classify(table->view, &key);
		arrived_late += rank != HY_POLICY_NONE && (table->due[rank] & HY_MARK_DROPS) != 0;
		acl_verify(table, &table->workers[0], &object, &mine, &key, &rank, 1);
		rte_pktmbuf_free(m);
	}
}

static int
destroy_under_flood(uint16_t port, void *flow, struct rte_flow_error *error)
{
	const int rc = hy_flow_simulator.destroy(port, flow, error);

	flood();
	return rc;
}

static int
create_under_flood(uint16_t port, const struct rte_flow_attr *attr,
	const struct rte_flow_item *items, const struct rte_flow_action *actions, void **flow,
	struct rte_flow_error *error)
{
	flood();
	return hy_flow_simulator.create(port, attr, items, actions, flow, error);
}

static void
watched_again(void)
{
	rte_delay_us_sleep(150000);
	hy_offload_poll(A.offload);
}

/* All hosts are denied, in hardware; then all denies but one are to be removed. */
static void
flooders_open(void)
{
	access_open("mlx5", "mlx5_pci");
	for (uint32_t id = 1; id <= FLOODERS; id++) {
		const struct hy_flow_rule rule = access_source(id, HY_RULE_DENY, HOST(id), 32);

		access_rule_set(&rule);
	}
	assert_int_equal(hy_policy_commit(A.policy), 0);
	access_settle();
	watched_again();
	assert_int_equal(access_stats().drop_rules, FLOODERS);
	arrived_late = 0;
	A.provider.destroy = destroy_under_flood;
	for (uint32_t id = 1; id < FLOODERS; id++)
		assert_int_equal(hy_policy_remove(A.policy, id), 0);
}

static void
a_removal_of_flooded_denies_demoted_an_honest_port(void **state)
{
	RTE_SET_USED(state);
	flooders_open();
	assert_int_equal(hy_policy_commit(A.policy), 0);
	A.provider.destroy = hy_flow_simulator.destroy;
	assert_true(arrived_late > 100);
	assert_true(access_stats().leaked > 32);
	for (int i = 0; i < 3; i++)
		watched_again();
	assert_int_equal(access_stats().state, HY_OFFLOAD_UP);
	assert_int_equal(access_stats().drop_rules, 1);
}

/* The port has the denies no more, and workers learn that only at the next poll. */
static void
a_cancelled_removal_of_flooded_denies_demoted_an_honest_port(void **state)
{
	const struct hy_policy_listener listener = { .prepare = access_refuse };
	unsigned int before;

	RTE_SET_USED(state);
	flooders_open();
	assert_int_equal(hy_policy_listen(A.policy, &listener), 0);
	assert_int_equal(hy_policy_commit(A.policy), -EPERM);
	hy_policy_unlisten(A.policy, &listener);
	hy_policy_abort(A.policy);
	A.provider.destroy = hy_flow_simulator.destroy;
	assert_true(arrived_late > 100);
	A.provider.create = create_under_flood;
	before = arrived_late;
	watched_again(); /* judges, and puts the denies back, while packets arrive */
	assert_true(arrived_late > before + 100);
	A.provider.create = hy_flow_simulator.create;
	for (int i = 0; i < 3; i++)
		watched_again();
	assert_true(access_stats().leaked > 64);
	assert_int_equal(access_stats().state, HY_OFFLOAD_UP);
	assert_int_equal(access_stats().drop_rules, FLOODERS);
}

/* What software counts of a deny that is not in hardware. */
static void
counted_by_software(uint32_t id, uint64_t packets)
{
	const struct hy_policy_view *view;

	if (hy_offload_reason(A.offload, id) == NULL)
		return;
	view = hy_policy_view_hold(A.policy);
	hy_policy_hardware_add(A.policy, hy_policy_view_find(view, id)->index, packets, 0,
		rte_rdtsc());
	hy_policy_view_release(A.policy, view);
}

/* Rule 20 is hit most, and needs rule 10; there are places for these and one of two others. */
static void
a_cold_permit_was_evicted_with_its_hot_deny(void **state)
{
	unsigned int in = 0;

	RTE_SET_USED(state);
	access_open_sized("mlx5", "mlx5_pci", 2 + 3);
	access_source_set(10, HY_RULE_PERMIT, HOST(1), 32);
	access_source_set(20, HY_RULE_DENY, HOST(0), 24);
	access_source_set(30, HY_RULE_DENY, IP4(10, 1, 0, 1), 32);
	access_settle();
	assert_int_equal(access_stats().drop_rules, 2);
	access_source_set(40, HY_RULE_DENY, IP4(10, 2, 0, 1), 32);
	A.offload->params.age_us = 5000;
	for (int i = 0; i < 100; i++) {
		for (int k = 0; k < 200; k++)
			access_arrives(HOST(2));
		for (int k = 0; k < 30; k++)
			access_arrives(IP4(10, 1, 0, 1));
		counted_by_software(20, 200);
		counted_by_software(40, 20);
		rte_delay_us_sleep(1200);
		hy_offload_poll(A.offload);
		in += hy_offload_reason(A.offload, 20) == NULL;
	}
	print_message("the hot deny was in hardware in %u of 100 polls; %ju were evicted\n", in,
		(uintmax_t)access_stats().evicted);
	assert_true(A.dropped > 1000);
	assert_true(in >= 95);
	assert_string_not_equal(hy_offload_reason(A.offload, 40), "not tried yet");
	assert_int_equal(A.wrong, 0);
}

#define LATE_US 100000

/* mlx5's driver reads the counters of its port once a second. */
static void
counters_that_are_read_late_are_right_in_the_end(void **state)
{
	const struct hy_flow_sim_faults late = { .counts_every_us = LATE_US };
	struct hy_policy_counts counts;
	unsigned int behind = 0;

	RTE_SET_USED(state);
	access_open("mlx5", "mlx5_pci");
	hy_flow_sim_fault(A.sim, &late);
	access_source_set(10, HY_RULE_PERMIT, HOST(1), 32);
	access_source_set(20, HY_RULE_DENY, HOST(0), 24);
	access_settle();
	for (int i = 0; i < 400; i++) {
		for (int k = 0; k < 5; k++)
			assert_false(access_arrives(HOST(2)));
		assert_true(access_arrives(HOST(1)));
		hy_offload_poll(A.offload);
		assert_int_equal(hy_policy_counts(A.policy, 20, &counts), 0);
		assert_true(counts.packets <= A.by_rule[20]);
		behind += counts.packets < A.by_rule[20];
		rte_delay_us_sleep(1000);
	}
	assert_true(behind > 100);
	assert_int_equal(access_stats().state, HY_OFFLOAD_UP);
	assert_null(hy_offload_reason(A.offload, 20));
	rte_delay_us_sleep(LATE_US);
	access_assert_counted();
	access_assert_counted(); /* once */
	for (int k = 0; k < 3; k++)
		assert_false(access_arrives(HOST(2)));
	assert_int_equal(hy_policy_remove(A.policy, 20), 0);
	assert_int_equal(hy_policy_commit(A.policy), 0);
	access_settle();
	assert_in_range(hy_policy_hardware(A.policy, HY_POLICY_ALL), A.dropped - 3, A.dropped);
	assert_int_equal(access_stats().state, HY_OFFLOAD_UP);
	assert_int_equal(A.wrong, 0);
}

static const struct CMUnitTest offload_access_fault_tests[] = {
	ACCESS_TEST(counters_that_are_read_late_are_right_in_the_end),
	ACCESS_TEST(an_end_removed_the_permits_before_a_deny_that_the_port_kept),
	ACCESS_TEST(after_a_recovery_permits_went_before_their_denies),
	ACCESS_TEST(a_port_that_recovered_was_said_not_to_have_removed_a_rule),
	ACCESS_TEST(denies_of_a_demoted_port_that_recovered_were_never_removed),
	ACCESS_TEST(denies_that_a_demoted_port_may_have_kept_were_not_reported),
	ACCESS_TEST(each_recovery_left_a_rule_in_the_port),
	ACCESS_TEST(an_offload_that_ended_amid_a_recovery_called_the_port),
	ACCESS_TEST(a_removal_of_flooded_denies_demoted_an_honest_port),
	ACCESS_TEST(a_cancelled_removal_of_flooded_denies_demoted_an_honest_port),
	ACCESS_TEST(a_cold_permit_was_evicted_with_its_hot_deny),
};

UNIT_SUITE(offload_access_fault_tests)
